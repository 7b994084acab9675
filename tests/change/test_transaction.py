"""One change of one document: archived, noted, written, in this order, and never over somebody else's save."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_memory_protocol.answers import About
from agent_memory_protocol.change import transaction
from agent_memory_protocol.change.books import Books, lock_name
from agent_memory_protocol.change.transaction import Change, Changed, change_document
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import DamagedFile, InvalidArgument, LimitExceeded, Refused, StorageError
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import compose
from agent_memory_protocol.tiers.add import add
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.remove import remove
from agent_memory_protocol.workspace import Workspace

SHARED = Target(Tier.SHARED)
HEADER = "# Shared Knowledge\n<!-- c -->\n"
PAGE = "# T\n\n- a\n- b\n- c\n"


class Desk:
    """A project with one document, and transactions on it."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.path = Path(root.path, *SHARED.parts)
        self.path.parent.mkdir(parents=True)
        self.ledger = self.path.with_name("ledger.jsonl")
        self.journal = Path(root.path, ".scaffolding", ".amp", "journal", "shared.jsonl")

    def change(
        self,
        change: Callable[[Document], Change],
        *,
        check: Callable[[Document, Document], None] | None = None,
        command: str = "",
    ) -> Changed:
        return change_document(
            self.root,
            SHARED,
            change,
            header=lambda: HEADER,
            check=check or allow,
            now=datetime.now(UTC),
            command=command,
            wait=2,
        )

    def add(self, text: str, **about: object) -> Changed:
        return self.change(lambda current: adding(current, text, About(**about)))  # type: ignore[arg-type]

    def remove(self, *words: str, reason: str = "forgotten") -> Changed:
        return self.change(lambda current: removing(current, *words, reason=reason))

    def archived(self) -> list[tuple[str, str]]:
        """Return the text and the reason of everything that the ledger can bring back."""
        workspace = Workspace.open(self.root.path, environ={})
        return [(one.archived.taken.markdown, one.archived.reason) for one in workspace.restorable()]

    def files(self) -> dict[str, bytes]:
        folder = Path(self.root.path)
        found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Root.open(str(tmp_path)) as root:
        yield Desk(root)


def allow(old: Document, new: Document) -> None:
    """Break no limit."""


def adding(current: Document, text: str, about: About | None = None) -> Change:
    added = add(current, compose.compose(text, max_bytes=25_600))
    return Change(added.document, about={added.entry_id: about or About()})


def removing(current: Document, *words: str, reason: str = "forgotten") -> Change:
    gone = [one for one in current.ids if any(word in current.text(current.entry(one)) for word in words)]  # type: ignore[arg-type]
    return Change(remove(current, gone), reasons=dict.fromkeys(gone, reason))


# -- what a transaction does -------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-65")
@pytest.mark.parametrize("before", [None, b"", b"\n \n\t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_a_document_that_is_missing_or_blank_gets_its_header(desk, before):
    if before is not None:
        desk.path.write_bytes(before)
    desk.add("new")
    bom = b"\xef\xbb\xbf" if before and before.startswith(b"\xef") else b""
    assert desk.path.read_bytes() == bom + HEADER.encode() + b"\n- new\n"


@pytest.mark.parametrize(
    "before",
    [
        *(
            b"- last fact",
            b"# T",
            b"# T\r\n\r\n- a\r\n",
            b"# T\n\n- a\n\n\n\n",
            b"# T\n- a\n\n## B\n- b",
            b"text\n---\n\n- a",
        ),
        *(b"\xef\xbb\xbf# T\n\n- a", b"---\na: b\n---\n# T\n", b"# T\n\n1. one\n2. two", b"- a\r- b\r"),
    ],
)
def test_what_is_added_to_any_end_starts_its_own_line_and_changes_no_other(desk, before):
    desk.path.write_bytes(before)
    desk.add("new fact")
    after = desk.path.read_bytes()
    lines = after.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    assert b"- new fact" in lines
    kept = [line for line in after.splitlines(keepends=True) if b"new fact" not in line and line.strip()]
    assert b"".join(kept).replace(b"\r", b"").replace(b"\n", b"") == before.replace(b"\r", b"").replace(b"\n", b"")
    assert after.count(b"\r") == 0 or b"\r" in before
    assert b"\n\n\n\n\n" not in after


@pytest.mark.requirement("S4-59")
def test_a_change_that_breaks_a_limit_changes_no_file(desk):
    desk.path.write_bytes(PAGE.encode())
    desk.remove("- a")
    before = desk.files()

    def check(old: Document, new: Document) -> None:
        assert (old.line_count, new.line_count) == (4, 5)
        raise LimitExceeded("too long")

    with pytest.raises(LimitExceeded):
        desk.change(lambda current: adding(current, "new"), check=check)
    assert desk.files() == before


def test_a_change_that_changes_nothing_writes_nothing(desk):
    desk.path.write_bytes(PAGE.encode())
    desk.add("new")
    before = desk.files()
    stamp = desk.path.stat()
    assert desk.change(Change).document.data == desk.path.read_bytes()
    assert desk.files() == before
    assert desk.path.stat() == stamp


@pytest.mark.parametrize("error", [Refused("no"), InvalidArgument("no"), StorageError("no"), KeyboardInterrupt()])
def test_a_change_that_refuses_changes_no_file(desk, error):
    desk.path.write_bytes(PAGE.encode())
    desk.add("new")
    before = desk.files()

    def refuse(current: Document) -> Change:
        raise error

    with pytest.raises(type(error)):
        desk.change(refuse)
    assert desk.files() == before


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"# T\n\n<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n", r"KNOWLEDGE\.md:3: unresolved merge conflict"),
        (b"# T\n\n- caf\xe9\n", r"KNOWLEDGE\.md:3: byte 0xE9 is not UTF-8"),
        (b"# T\n\n- a\0b\n", r"KNOWLEDGE\.md:3: holds a NUL character"),
        (b"# T\n" + b"- x\n" * 1_100_000, r"KNOWLEDGE\.md: is too large to be a page of memory"),
    ],
    ids=["conflict", "bytes", "nul", "size"],
)
def test_what_is_no_healthy_document_is_never_rewritten(desk, data, problem):
    desk.path.write_bytes(data)
    for change in (lambda current: adding(current, "new"), Change, lambda current: removing(current, "- a")):
        with pytest.raises(DamagedFile, match=problem):
            desk.change(change)
    assert desk.path.read_bytes() == data


def test_what_leaves_is_in_the_ledger_with_its_reason_and_what_comes_with_what_is_said_of_it(desk):
    desk.path.write_bytes(PAGE.encode())
    desk.remove("- a", reason="no longer true")
    desk.change(lambda current: Change(remove(current, current.ids[:1])))
    assert desk.archived() == [("- a", "no longer true"), ("- b", "removed")]
    desk.add("new", kind="lesson", tags=("x",))
    assert desk.ledger.read_bytes().count(b'"kind":"lesson"') == 1
    desk.add("plain")
    assert b"plain" not in desk.ledger.read_bytes()


def test_what_must_not_be_kept_is_not_archived(desk):
    desk.path.write_bytes(PAGE.encode())

    def change(current: Document) -> Change:
        return Change(remove(current, current.ids[:2]), unarchived=frozenset(current.ids[:1]))

    desk.change(change)
    assert desk.archived() == [("- b", "removed")]


@pytest.mark.parametrize("about", [About(kind="nonsense"), About(tags=("two\nlines",)), About(confidence=7.0)], ids=str)
def test_what_the_ledger_cannot_hold_is_refused_and_does_not_come_true_later(desk, about):
    desk.path.write_bytes(PAGE.encode())
    desk.remove("- c")
    before = desk.files()
    with pytest.raises((Refused, InvalidArgument)):
        desk.change(
            lambda current: Change(
                adding(removing(current, "- a").document, "new", about).document,
                about={add(current, compose.compose("new", max_bytes=25_600)).entry_id: about},
            )
        )
    assert desk.files() == before
    desk.add("next")
    assert "new" not in desk.path.read_text()
    assert "- a" in desk.path.read_text()


def test_of_equal_entries_the_one_that_goes_is_the_one_that_is_kept(desk):
    page = "# T\n\n## A\n\n- [2025-01-01] same\n\n## B\n\n- [2026-01-01] same\n- same\n"
    for index, text in enumerate(["- [2025-01-01] same", "- [2026-01-01] same", "- same"]):
        desk.path.write_bytes(page.encode())
        desk.ledger.unlink(missing_ok=True)
        desk.journal.unlink(missing_ok=True)

        def change(current: Document, index: int = index) -> Change:
            gone = current.ids[index]
            return Change(remove(current, [gone]), reasons={gone: f"number {index}"})

        desk.change(change)
        assert desk.archived() == [(text, f"number {index}")]
        workspace = Workspace.open(desk.root.path, environ={})
        workspace.restore(workspace.restorable())
        assert desk.path.read_text() == page
        assert desk.archived() == []


def test_the_command_is_the_same_in_every_ledger_it_writes(desk):
    desk.path.write_bytes(PAGE.encode())
    assert desk.change(lambda current: removing(current, "- a"), command="c0ffee").run == "c0ffee"
    desk.change(lambda current: removing(current, "- b"), command="c0ffee")
    desk.remove("- c")
    assert [line.count(b'"run":"c0ffee"') for line in desk.ledger.read_bytes().splitlines()] == [0, 0, 1, 0, 1, 0, 0]


def test_a_document_is_found_by_one_lock_name_however_its_owner_is_spelled():
    names = {lock_name(Target(Tier.AGENT, name)) for name in ("Dev", "dev", "DEV")}
    assert len(names) == 1
    long = {lock_name(Target(Tier.CONVERSATION, "日" * 120 + end)) for end in "ab"}
    assert len(long) == 2
    assert all(len(name.encode()) < 200 for name in long)
    assert lock_name(Target(Tier.AGENT, "dev")) != lock_name(Target(Tier.CONVERSATION, "dev"))


# -- somebody else's saves ---------------------------------------------------------------------------------------------

PLACES = ["read_document", "heal", "_begun"]
IN_BOOKS = ["plan_healing", "archive", "note", "begin"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["in place", "by rename"])
@pytest.mark.parametrize("place", [*PLACES, *IN_BOOKS, "change"])
def test_a_save_at_any_moment_before_the_document_is_replaced_stays(desk, monkeypatch, place, how):
    desk.path.write_bytes(PAGE.encode())
    saved: list[str] = []

    def save() -> None:
        if not saved:
            text = desk.path.read_text() + "- saved by hand\n"
            saved.append(text)
            if how == "in place":
                desk.path.write_text(text)
            else:
                other = desk.path.with_name("saving")
                other.write_text(text)
                other.replace(desk.path)

    owner = transaction if place in PLACES else Books
    if place != "change":
        plain = getattr(owner, place)

        def wrapped(*given: object, **options: object) -> object:
            result = plain(*given, **options)
            save()
            return result

        monkeypatch.setattr(owner, place, wrapped)

    def change(current: Document) -> Change:
        if place == "change":
            save()
        return adding(removing(current, "- b").document, "new", About(kind="lesson"))

    done = desk.change(change)
    assert saved
    assert sorted(desk.path.read_text().split("\n")[2:-1]) == ["- a", "- c", "- new", "- saved by hand"]
    assert done.document.data == desk.path.read_bytes()
    assert [text for text, _ in desk.archived()] == ["- b"]
    assert desk.ledger.read_bytes().count(b'"kind":"lesson"') == 1


@pytest.mark.slow
def test_an_editor_that_saves_all_the_time_makes_the_write_give_up_and_change_nothing(desk, monkeypatch):
    desk.path.write_bytes(PAGE.encode())
    counts = iter(range(1_000_000))

    def change(current: Document) -> Change:
        desk.path.write_text(f"{PAGE}- {next(counts)}\n")
        return adding(current, "new")

    with pytest.raises(StorageError, match=r"KNOWLEDGE\.md: something else writes this file all the time"):
        desk.change(change)
    assert "new" not in desk.path.read_text()
    desk.add("later")
    assert "- new\n" not in desk.path.read_text()


@pytest.mark.slow
def test_editors_that_save_at_any_time_cost_no_remembered_entry(tmp_path, sized):
    """Try many timings: an editor opens, holds and saves its copy without our lock while entries are remembered."""
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    workspace.init()
    path = tmp_path.joinpath(*SHARED.parts)
    path.write_text("# T\n\n" + "".join(f"- standing {number}\n" for number in range(6)))
    chance = random.Random(15)
    tries = sized(25, 25, 400)
    overwritten = 0
    for number in range(tries):
        told, saved, held = f"told {number}", f"- saved {number}\n", chance.uniform(0, 0.02)
        in_place, wait = chance.random() < 0.5, chance.uniform(0, 0.02)

        def editor(saved: str = saved, held: float = held, wait: float = wait, in_place: bool = in_place) -> None:
            time.sleep(wait)
            text = path.read_text()
            time.sleep(held)
            if not text.strip():
                return
            if in_place:
                path.write_text(text + saved)
            else:
                other = path.with_name("KNOWLEDGE.md~")
                other.write_text(text + saved)
                other.replace(path)

        thread = threading.Thread(target=editor)
        thread.start()
        workspace.remember(told)
        thread.join()
        overwritten += told not in path.read_text()
        workspace.sync(apply=True)
        text = path.read_text()
        assert text.count(f"- {told}\n") == 1
        assert all(f"- standing {one}\n" in text for one in range(6))
        # The next round begins on a short page again, so that limits stay out of it.
        path.write_text(
            "".join(line for line in text.splitlines(keepends=True) if "told" not in line and "saved" not in line)
        )
        workspace.sync(apply=True)
    if not overwritten:
        pytest.skip("no timing was tried that matters")


@pytest.mark.slow
def test_an_entry_that_a_person_takes_out_stays_out_whatever_is_remembered_meanwhile(tmp_path):
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    path = tmp_path.joinpath(*SHARED.parts)
    for number in range(6):
        workspace.remember(f"fact {number}")
    path.write_text(path.read_text().replace("- fact 2\n", ""))
    for text in ("something new", "fact 1"):
        workspace.remember(text)
    workspace.sync(apply=True)
    assert "- fact 2\n" not in path.read_text()
    # The last that was added, gone with another edit within minutes, cannot be told from one that an editor overwrote.
    path.write_text(path.read_text().replace("- something new\n", "- typed by hand\n"))
    workspace.sync(apply=True)
    assert "- something new\n" in path.read_text()
    path.write_text(path.read_text().replace("- something new\n", ""))
    for text in ("one more", "and another"):
        workspace.remember(text)
        assert "- something new\n" not in path.read_text()
    reasons = {one.archived.taken.markdown: one.archived.reason for one in workspace.restorable()}
    assert reasons == {"- fact 2": transaction.BY_HAND, "- something new": transaction.TAKEN_BACK}
