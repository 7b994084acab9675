"""A project's memory against a dictionary: whatever is done, by whom, and wherever a crash falls, nothing is lost."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agent_memory_protocol.change import books, transaction
from agent_memory_protocol.change.books import Books
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import document as documents
from agent_memory_protocol.workspace import Workspace

SHARED = Target(Tier.SHARED)
FIRST_DAY = date(2026, 1, 1)
STEPS = (
    (books, "append"),
    (books, "create"),
    (books, "replace"),
    (transaction, "create"),
    (transaction, "replace"),
)
"""Where a transaction writes: each is a place to crash at, before it or after it."""

WORDS = (
    "pnpm builds the frontend",
    "deploys go out on Tuesdays",
    "Ada knows how billing works",
    "port 8080 is the gateway",
    "never restart the queue by hand",
    "logs are kept for thirty days",
    "the staging data is copied nightly",
    "use UTC in every report",
    "feature flags live in the console",
    "the API is versioned by header",
)
SECTIONS = st.sampled_from([None, "Decisions", "Open questions"])


class Crash(BaseException):
    """The process ends here."""


class Memory(RuleBasedStateMachine):
    """One shared document, with what it was told and what has become of it."""

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(tempfile.mkdtemp(prefix="amp-model-"))
        self.workspace = Workspace.open(self.path, environ={"HOME": str(self.path)})
        self.document = self.path.joinpath(*SHARED.parts)
        self.today = FIRST_DAY
        self.count = 0
        self.live: dict[str, date | None] = {}
        """Each text that was acknowledged and stands, with its date."""
        self.order: list[str] = []
        """The texts that commands have added, in their order."""
        self.gone: set[str] = set()
        """Each text that was taken out by a command or by hand: it is in the ledger and stays away."""
        self.pending: tuple[set[str], set[str]] | None = None
        """What a crashed command was adding and taking out: all of it may have happened, or nothing."""

    def teardown(self) -> None:
        if self.document.exists():
            self.workspace.sync(apply=True)
            self.look(after_sync=True)
        shutil.rmtree(self.path)

    # -- commands ------------------------------------------------------------------------------------------------------

    @initialize()
    def start(self) -> None:
        self.remember_text("the first thing anybody said", None, None)

    @rule(words=st.sampled_from(WORDS), dated=st.sampled_from([None, 0, 30, 100]), section=SECTIONS)
    def remember(self, words: str, dated: int | None, section: str | None) -> None:
        self.count += 1
        text = f"{words} ({self.count})"
        self.remember_text(text, None if dated is None else self.today - timedelta(days=dated), section)

    def remember_text(self, text: str, day: date | None, section: str | None) -> None:
        self.workspace.remember(text, dated=day or False, section=section, today=self.today)
        self.settle()
        self.live[text] = day
        self.order.append(text)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def say_it_again(self, data: st.DataObject) -> None:
        text = data.draw(st.sampled_from(sorted(self.live)))
        day = self.live[text]
        self.workspace.remember(text, dated=False, today=self.today)
        self.settle()
        # It may have been taken out by hand a moment ago; now it was said again.
        self.live.setdefault(text, day)
        self.gone.discard(text)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        text = self.choose(data)
        if text is None:
            return
        self.workspace.forget([self.id_of(text)])
        self.settle()
        self.leave(text)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        text = self.choose(data)
        if text is None:
            return
        self.count += 1
        new, day = f"{text.partition(' (')[0]} ({self.count})", self.live[text]
        self.workspace.edit(self.id_of(text), new)
        self.settle()
        self.live[new] = day
        self.order.append(new)
        self.leave(text)

    @rule()
    def prune(self) -> None:
        self.workspace.sync(apply=True)
        self.settle()
        plans = self.workspace.plan_pruning(today=self.today)
        planned = {one.text for plan in plans for one in plan.removals}
        removed = {one.text for one in self.workspace.apply_pruning(plans, force=True)}
        assert removed == planned
        for text, day in list(self.live.items()):
            if any(f" {text}" in one for one in removed):
                assert day is not None
                assert (self.today - day).days > 90
                self.leave(text)
        assert not [one for plan in self.workspace.plan_pruning(today=self.today) for one in plan.removals]

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        found = self.workspace.restorable()
        if not found:
            return
        one = data.draw(st.sampled_from(found))
        done = self.workspace.restore([one])
        self.settle()
        if done.problems:
            return
        assert [entry.id for entry in done.entries] == [one.archived.taken.id]
        text = self.text_in(done.entries[0].text)
        self.live[text] = done.entries[0].date
        self.order.append(text)
        self.gone.discard(text)

    @rule()
    def sync(self) -> None:
        self.workspace.sync(apply=True)
        self.settle()
        assert not self.workspace.sync(), "a second sync has nothing to do"

    @rule(days=st.sampled_from([1, 40, 100]))
    def time_passes(self, days: int) -> None:
        self.today += timedelta(days=days)

    # -- people --------------------------------------------------------------------------------------------------------

    @rule(words=st.sampled_from(WORDS))
    def somebody_adds_a_line(self, words: str) -> None:
        self.settle()
        self.count += 1
        text = f"by hand, {words} ({self.count})"
        self.rewrite([*self.lines(), f"- {text}"])
        self.live[text] = None

    @rule(words=st.sampled_from(WORDS), section=SECTIONS)
    def an_editor_saves_an_older_copy(self, words: str, section: str | None) -> None:
        self.sync()
        older = self.lines()
        self.remember(words, None, section)
        self.count += 1
        text = f"by hand, saved late ({self.count})"
        self.rewrite([*older, f"- {text}"])
        self.live[text] = None
        # What it has overwritten is missing until the next write or sync.
        self.sync()

    @precondition(lambda self: len(self.live) > 1)
    @rule(data=st.data())
    def somebody_deletes_an_entry(self, data: st.DataObject) -> None:
        self.settle()
        # What was added last comes back once, as what a stale copy lacks; one before it does not.
        there = set(self.texts())
        added = [one for one in self.order if one in there and one in self.live]
        if len(set(added)) < 2:
            return
        text = data.draw(st.sampled_from(added))
        if text == added[-1]:
            return
        self.rewrite([line for line in self.lines() if not line.endswith(text)])
        self.leave(text)

    @rule(data=st.data())
    def somebody_moves_the_entries_about(self, data: st.DataObject) -> None:
        self.settle()
        lines = self.lines()
        places = [number for number, line in enumerate(lines) if line.startswith("- ")]
        moved = data.draw(st.permutations([lines[number] for number in places]))
        for number, line in zip(places, moved, strict=True):
            lines[number] = line
        self.rewrite(lines)

    # -- crashes -------------------------------------------------------------------------------------------------------

    @rule(words=st.sampled_from(WORDS), at=st.integers(1, 4), after=st.booleans())
    def crash_while_remembering(self, words: str, at: int, after: bool) -> None:
        self.settle()
        self.count += 1
        text = f"{words} ({self.count})"
        with crashing(at, after) as crashed:
            self.workspace.remember(text, dated=False, today=self.today)
        self.live[text] = None
        self.order.append(text)
        if crashed:
            del self.live[text]
            self.pending = ({text}, set())

    @precondition(lambda self: self.live)
    @rule(data=st.data(), at=st.integers(1, 5), after=st.booleans())
    def crash_while_editing(self, data: st.DataObject, at: int, after: bool) -> None:
        self.settle()
        text = self.choose(data)
        if text is None:
            return
        self.count += 1
        new = f"{text.partition(' (')[0]} ({self.count})"
        day = self.live[text]
        with crashing(at, after) as crashed:
            self.workspace.edit(self.id_of(text), new)
        if crashed:
            self.pending = ({new}, {text})
            self.order.append(new)
            return
        self.leave(text)
        self.live[new] = day
        self.order.append(new)

    @precondition(lambda self: self.live)
    @rule(data=st.data(), at=st.integers(1, 5), after=st.booleans())
    def crash_while_forgetting(self, data: st.DataObject, at: int, after: bool) -> None:
        self.settle()
        text = self.choose(data)
        if text is None:
            return
        with crashing(at, after) as crashed:
            self.workspace.forget([self.id_of(text)])
        if crashed:
            self.pending = (set(), {text})
        else:
            self.leave(text)

    # -- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def nothing_is_lost(self) -> None:
        if self.document.exists():
            self.look()

    def look(self, *, after_sync: bool = False) -> None:
        data = self.document.read_bytes()
        parsed = documents.parse(data, SHARED)
        assert parsed.data == data
        texts = [self.text_in(parsed.text(entry)) for entry in parsed.outline.entries]
        assert len(texts) == len(set(texts)), "an entry is there twice"
        kept = {self.text_in(one) for one in self.archived()}
        adding, leaving = self.pending or (set(), set())
        if after_sync:
            self.settle(texts)
            adding, leaving = set(), set()
        for text in self.live:
            assert text in texts or text in leaving, f"lost: {text}"
        for text in leaving:
            assert text in texts or text in kept, f"lost while leaving: {text}"
        for text in self.gone:
            assert text not in texts, f"back: {text}"
            if after_sync:
                assert text in kept, f"unknown to the ledger: {text}"
        assert set(texts) <= set(self.live) | adding | leaving, "something unknown stands there"
        if adding and leaving and self.pending:
            assert adding.isdisjoint(texts) or leaving.isdisjoint(texts), "an edit is half done"

    # -- helpers -------------------------------------------------------------------------------------------------------

    def settle(self, texts: list[str] | None = None) -> None:
        """Find out what has become of a command that crashed."""
        if self.pending is None:
            return
        if texts is None:
            # Whatever is next heals first, so what stands then is what has become of it.
            self.workspace.sync(apply=True)
            texts = self.texts()
        adding, leaving = self.pending
        self.pending = None
        for text in adding & set(texts):
            # What was edited keeps its date; nobody knows which by now.
            self.live[text] = date.min if leaving else None
        for text in leaving - set(texts):
            self.leave(text)

    def leave(self, text: str) -> None:
        self.live.pop(text, None)
        self.gone.add(text)

    def choose(self, data: st.DataObject) -> str | None:
        there = sorted(set(self.live) & set(self.texts()))
        return data.draw(st.sampled_from(there)) if there else None

    def texts(self) -> list[str]:
        parsed = documents.parse(self.document.read_bytes(), SHARED)
        return [self.text_in(parsed.text(entry)) for entry in parsed.outline.entries]

    @staticmethod
    def text_in(markdown: str) -> str:
        text = markdown.removeprefix("- ")
        return text.partition("] ")[2] if text.startswith("[") else text

    def id_of(self, text: str) -> str:
        parsed = documents.parse(self.document.read_bytes(), SHARED)
        return next(
            entry_id
            for entry_id, entry in zip(parsed.ids, parsed.outline.entries, strict=True)
            if self.text_in(parsed.text(entry)) == text
        )

    def archived(self) -> list[str]:
        with Root.open(str(self.path)) as root:
            kept = Books(root, SHARED, "shared", datetime.now(UTC))
            parsed = documents.parse(self.document.read_bytes(), SHARED)
            return [one.taken.markdown for one in kept.archived(parsed)]

    def lines(self) -> list[str]:
        return self.document.read_text("utf-8").splitlines()

    def rewrite(self, lines: list[str]) -> None:
        self.document.write_text("\n".join(lines) + "\n", "utf-8")


@contextmanager
def crashing(at: int, after: bool) -> Iterator[list[bool]]:
    """Let the process end at the `at`-th step of a transaction; say afterwards whether it got that far."""
    crashed: list[bool] = []
    count = 0

    def step(real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count != at:
                return real(*args, **options)
            if after:
                real(*args, **options)
            crashed.append(True)
            raise Crash

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        for module, name in STEPS:
            patch.setattr(module, name, step(getattr(module, name)))
        with suppress(Crash):
            yield crashed


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody else is at work here, so nobody's save needs to be waited for.
    monkeypatch.setattr(transaction, "QUIET_SECONDS", 0.0)


def test_whatever_is_done_nothing_is_lost_doubled_or_brought_back(sized: Callable[[int, int, int], int]) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    examples = sized(10, 40, 1_000)
    # Shrinking would take minutes: each step waits for the disk.
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    run_state_machine_as_test(
        Memory, settings=settings(max_examples=examples, stateful_step_count=25, deadline=None, phases=phases)
    )
