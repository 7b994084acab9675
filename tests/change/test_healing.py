"""The journal: it tells what was lost by accident, and goes back, from what was taken out on purpose."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from agent_memory_protocol.change import healing, journal
from agent_memory_protocol.change.healing import Healing
from agent_memory_protocol.change.journal import Add, Done, Line, Version, Write
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import compose, document, edit
from agent_memory_protocol.tiers.add import add
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.remove import remove
from agent_memory_protocol.tiers.taken import Taken, take
from tests.each_row import each_row

SHARED = Target(Tier.SHARED)
NOON = datetime(2026, 6, 15, 12, tzinfo=UTC).timestamp()
START = "# T\n\n- first\n- second\n- third\n- fourth\n"


def parse(text: str) -> Document:
    return document.parse(text.encode(), SHARED)


def texts(taken: Sequence[object]) -> list[str]:
    return [getattr(one, "taken", one).markdown for one in taken]  # type: ignore[attr-defined]


class Told:
    """A document as our writers change it, and the journal that they leave."""

    def __init__(self, text: str = START, at: float = NOON - 3600) -> None:
        self.document = parse(text)
        self.lines: list[Line] = [self.version(at)]

    def version(self, at: float = NOON, recent: tuple[Add, ...] = ()) -> Version:
        data = self.document.data
        return Version(journal.fingerprint(data), data.decode(), at, recent)

    def add(
        self, text: str, at: float = NOON, *, again: bool = False, done: bool = True, reached: bool = True
    ) -> "Told":
        added = add(self.document, compose.compose(text, max_bytes=25_600))
        taken = take(added.document, added.entry_id)
        return self._write(added.document, at, (Add(taken, at, again),), (), done=done, reached=reached)

    def forget(self, word: str, at: float = NOON, *, done: bool = True, reached: bool = True) -> "Told":
        gone = ids_with(self.document, word)
        return self._write(remove(self.document, gone), at, (), tuple(gone), done=done, reached=reached)

    def edit(self, word: str, text: str, at: float = NOON, *, done: bool = True, reached: bool = True) -> "Told":
        (gone,) = ids_with(self.document, word)
        changed, new = edit.replace(self.document, gone, compose.compose(text, max_bytes=25_600))
        add = Add(take(changed, new), at)
        return self._write(changed, at, (add,), (gone,), done=done, reached=reached)

    def _write(
        self, new: Document, at: float, adds: tuple[Add, ...], gone: tuple[str, ...], *, done: bool, reached: bool
    ) -> "Told":
        run = f"run{len(self.lines)}"
        before, after = (journal.fingerprint(one.data) for one in (self.document, new))
        self.lines += [Write(run, before, after, at, adds, gone), *([Done(run)] if done else [])]
        if reached:
            self.document = new
        return self

    @property
    def text(self) -> str:
        return self.document.data.decode()


def ids_with(doc: Document, word: str) -> list[str]:
    return [one for one in doc.ids if word in doc.text(doc.entry(one))]  # type: ignore[arg-type]


def heal(told: Told, current: str | None, changed_at: float = NOON + 1) -> Healing:
    return healing.plan_healing(told.lines, parse(told.text if current is None else current), changed_at)


def without(told: Told, *words: str) -> str:
    """Return the document as it would be if someone had taken lines out of it."""
    return "".join(line for line in told.text.splitlines(keepends=True) if not any(word in line for word in words))


def editor(told: Told, text: str = "- written by an editor\n", before: str = START) -> str:
    """Return what an editor saves that has an older copy open."""
    return before + text


Case = tuple[Callable[[], Told], Callable[[Told], str] | str | None, list[str], list[str], list[str]]

BACK = ["- new one"]

CASES: dict[str, Case] = {
    # name: (the journal, the document now, put back, taken out by hand, edited by hand)
    "nothing has changed": (lambda: Told().add("new one"), None, [], [], []),
    "nothing was ever written": (Told, None, [], [], []),
    "only something else was added": (
        lambda: Told().add("new one"),
        lambda told: told.text + "- by hand\n",
        [],
        [],
        [],
    ),
    "an editor saved an older copy": (lambda: Told().add("new one"), editor, BACK, [], []),
    "an editor saved an older copy over several": (
        lambda: Told().add("new one").add("new two"),
        editor,
        ["- new one", "- new two"],
        [],
        [],
    ),
    "an editor saved a copy that had the first of them": (
        lambda: Told().add("new one").add("new two"),
        lambda told: without(told, "new two") + "- by hand\n",
        ["- new two"],
        [],
        [],
    ),
    "one was taken out, and a later one stands": (
        lambda: Told().add("new one").add("new two"),
        lambda told: without(told, "new one"),
        [],
        BACK,
        [],
    ),
    "one was taken out, and what was added later was too": (
        lambda: Told().add("new one").add("new two").add("new three"),
        lambda told: without(told, "new one", "new two"),
        [],
        ["- new one", "- new two"],
        [],
    ),
    "an old one was taken out by hand": (
        lambda: Told().add("new one"),
        lambda told: without(told, "second"),
        [],
        ["- second"],
        [],
    ),
    "an old one was taken out and the new one overwritten": (
        lambda: Told().add("new one"),
        lambda told: without(told, "second", "new one"),
        BACK,
        ["- second"],
        [],
    ),
    "half of what stood before stands": (
        lambda: Told().add("new one"),
        lambda told: without(told, "first", "second", "new one"),
        BACK,
        ["- first", "- second"],
        [],
    ),
    "less than half of it stands": (
        lambda: Told().add("new one"),
        lambda told: without(told, "first", "second", "third", "new one"),
        [],
        ["- first", "- second", "- third", "- new one"],
        [],
    ),
    "the document was emptied": (
        lambda: Told().add("new one"),
        "# T\n",
        [],
        ["- first", "- second", "- third", "- fourth", "- new one"],
        [],
    ),
    "it was lost before": (lambda: Told().add("new one", again=True), editor, [], BACK, []),
    "it was edited in its place": (
        lambda: Told().add("the queue needs a restart every night"),
        lambda told: told.text.replace("every night", "every morning"),
        [],
        [],
        ["- the queue needs a restart every night"],
    ),
    "an old one was edited in its place": (
        lambda: Told("# T\n\n- the old queue is slow\n- b\n").add("new one"),
        lambda told: told.text.replace("old queue", "new queue"),
        [],
        [],
        ["- the old queue is slow"],
    ),
    "a like text stands in another section": (
        lambda: Told(START + "\n## Other\n\n- x\n").add("the queue needs a restart every night"),
        START + "\n## Other\n\n- x\n- the queue needs a restart every morning\n",
        ["- the queue needs a restart every night"],
        [],
        [],
    ),
    "another text stands in its section": (
        lambda: Told().add("the queue needs a restart every night"),
        START + "- the cache is cleared at noon\n",
        ["- the queue needs a restart every night"],
        [],
        [],
    ),
    "a like text was there before": (
        lambda: Told("# T\n\n- the queue needs a restart every morning\n- b\n").add(
            "the queue needs a restart every night"
        ),
        lambda told: without(told, "every night") + "- by hand\n",
        ["- the queue needs a restart every night"],
        [],
        [],
    ),
    "two were lost, and one like both was written": (
        lambda: Told().add("the queue on host one is slow").add("the queue on host two is slow"),
        START + "- the queue on host one is fast\n",
        ["- the queue on host two is slow"],
        [],
        ["- the queue on host one is slow"],
    ),
    "two were joined into one by hand": (
        lambda: Told().add("the queue is slow").add("the cache is slow too"),
        START + "- the queue is slow and the cache is slow too\n",
        [],
        [],
        ["- the queue is slow", "- the cache is slow too"],
    ),
    "its writer was killed before the document was replaced": (
        lambda: Told().add("new one", done=False, reached=False),
        None,
        BACK,
        [],
        [],
    ),
    "its writer was killed after it": (lambda: Told().add("new one", done=False), None, [], [], []),
    "the version before it was brought back": (
        lambda: Told().add("new one", reached=False),
        None,
        [],
        BACK,
        [],
    ),
    "the writer of an edit was killed before the document was replaced": (
        lambda: Told().edit("second", "other", done=False, reached=False),
        None,
        [],
        [],
        [],
    ),
    "the writer of an edit was killed, then an editor saved": (
        lambda: Told().edit("second", "other", done=False, reached=False),
        START + "- by hand\n",
        [],
        [],
        [],
    ),
    "a removal was killed before the document was replaced": (
        lambda: Told().forget("second", done=False, reached=False),
        None,
        [],
        [],
        [],
    ),
    "an older version was brought back": (
        lambda: Told().add("new one").add("new two"),
        START,
        [],
        ["- new one", "- new two"],
        [],
    ),
    "an editor brought back what had been forgotten": (
        lambda: Told().forget("second").add("new one"),
        editor,
        BACK,
        [],
        [],
    ),
    "it was added, forgotten, and an editor saved": (
        lambda: Told().add("new one").forget("new one"),
        editor,
        [],
        [],
        [],
    ),
    "it was added, forgotten, added again, and an editor saved": (
        lambda: Told().add("new one").forget("new one").add("new one"),
        editor,
        BACK,
        [],
        [],
    ),
    "an edited entry was overwritten": (
        lambda: Told().edit("second", "quite another text"),
        START + "- by hand\n",
        ["- quite another text"],
        [],
        [],
    ),
}


@each_row("case", CASES)
def test_what_is_missing_goes_back_or_goes_to_the_ledger(case):
    make, now, back, removed, edited = CASES[case]
    told = make()
    healing = heal(told, now(told) if callable(now) else now)
    assert texts(healing.put_back) == back
    assert texts(healing.removed) == removed
    assert texts(healing.edited) == edited
    assert healing.has_work is bool(back or removed or edited)
    assert list(healing.successors) == [one.id for one in healing.edited]


@each_row("seconds, back", [(-400 * 86_400, True), (0, True), (599, True), (600, True), (601, False), (86_400, False)])
def test_an_editor_may_have_held_an_older_copy_for_ten_minutes(seconds, back):
    told = Told().add("new one")
    healing = heal(told, editor(told), NOON + seconds)
    assert (texts(healing.put_back), texts(healing.removed)) == ((BACK, []) if back else ([], BACK))


def test_of_several_that_were_lost_each_has_its_own_ten_minutes():
    told = Told().add("new one", NOON - 700).add("new two", NOON)
    healing = heal(told, editor(told), NOON + 10)
    assert (texts(healing.put_back), texts(healing.removed)) == (["- new two"], ["- new one"])


def test_a_document_that_is_as_the_last_write_left_it_needs_no_note():
    assert heal(Told().add("new one"), None).is_known
    assert heal(Told().add("new one", done=False, reached=False), None).is_known
    assert not heal(Told().add("new one"), START + "- x\n").is_known
    assert not healing.plan_healing([], parse(START), NOON).is_known


def test_the_plan_changes_nothing_and_is_the_same_every_time():
    told = Told().add("new one").forget("second").add("new two")
    lines = list(told.lines)
    current = parse(editor(told))
    plans = [healing.plan_healing(told.lines, current, NOON + 1) for _ in range(3)]
    assert plans[0] == plans[1] == plans[2]
    assert told.lines == lines


def test_what_goes_back_is_known_by_the_state_that_was_noted_then():
    told = Told().add("new one")
    told.document = parse(editor(told))
    told.lines.append(told.version())
    told.add("new one", NOON + 5, again=True)
    assert heal(told, None) == Healing(is_known=True)
    assert texts(heal(told, editor(told)).removed) == BACK
    assert heal(told, editor(told)).put_back == ()


# -- what is settled ---------------------------------------------------------------------------------------------------


def settle(told: Told, current: str, *words: str) -> tuple[Healing, list[tuple[list[str], float, bool]]]:
    """Heal where what has one of these words is settled; return the plan, and what was asked."""
    asked: list[tuple[list[str], float, bool]] = []

    def settled(missing: Sequence[Taken], since: float, is_back: bool) -> list[str]:
        asked.append((texts(missing), since, is_back))
        return [one.id for one in missing if any(word in one.markdown for word in words)]

    return healing.plan_healing(told.lines, parse(current), NOON + 1, settled), asked


@pytest.mark.parametrize(
    ("told", "current"),
    [
        (Told().add("new one"), editor(Told())),
        (Told().add("new one"), START),
        (Told().add("the new one is blue"), START + "- the new one is green\n"),
    ],
    ids=["it would go back", "it would be taken out by hand", "it would be edited by hand"],
)
def test_what_is_settled_neither_goes_back_nor_was_taken_out_nor_edited(told, current):
    assert heal(told, current).has_work
    plan, asked = settle(told, current, "new one")
    assert (plan.has_work, plan.is_known, len(plan.settled)) == (False, False, 1)
    assert [(since, is_back) for _, since, is_back in asked] == [(NOON, current == START)]


def test_what_is_not_settled_is_judged_as_if_the_rest_had_never_stood_there():
    told = Told().add("new one").add("new two")
    plan, asked = settle(told, editor(told), "new two")
    assert asked == [(["- new one", "- new two"], NOON, False)]
    assert (texts(plan.put_back), texts(plan.removed)) == (["- new one"], [])
    few = START.replace("- first\n- second\n- third\n", "") + "- by hand\n"
    assert texts(settle(told, few, "new two")[0].put_back) == []
    assert texts(settle(told, few, "new two", "first", "second")[0].put_back) == ["- new one"]


def test_nothing_is_asked_where_nothing_is_missing():
    told = Told().add("new one")
    assert settle(told, told.text)[1] == []
    assert settle(told, told.text + "- by hand\n")[1] == []


# -- beginning again ---------------------------------------------------------------------------------------------------


def test_a_journal_that_is_begun_anew_takes_along_what_was_added_lately():
    told = Told().add("new one", NOON - 601).add("new two", NOON - 500).add("new three", NOON).forget("new three")
    told.add("never written", done=False, reached=False)
    recent = journal.rest_of(told.lines, NOON - 600)
    assert texts(recent) == ["- new two", "- never written"]
    again = Told(told.text)
    again.lines = [again.version(NOON, recent), *journal.decode(b"")]
    again.add("new four")
    assert texts(heal(again, editor(told)).put_back) == ["- new two", "- never written", "- new four"]


def test_what_was_taken_along_once_is_taken_along_again():
    told = Told()
    add = Add(take(parse(START + "- new one\n"), ids_with(parse(START + "- new one\n"), "new one")[0]), NOON)
    told.lines = [told.version(recent=(add,))]
    assert journal.rest_of(told.lines, NOON - 1) == (add,)
    assert journal.rest_of(told.lines, NOON + 1) == ()
