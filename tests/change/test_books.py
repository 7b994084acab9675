"""The books on disk: a journal that stays small and local, a ledger to which lines are only added."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_memory_protocol.answers import About
from agent_memory_protocol.change import journal
from agent_memory_protocol.change.books import Books
from agent_memory_protocol.change.journal import Done, Version, Write
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import AgentMemoryError, StorageError
from agent_memory_protocol.formats.jsonl import EntryLine, HeaderLine, Tombstone, parse_file
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import compose, document
from agent_memory_protocol.tiers.add import add
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.remove import remove
from agent_memory_protocol.tiers.taken import Taken, take

SHARED = Target(Tier.SHARED)
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)


class Desk:
    """A project folder with the books of its shared document."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.folder = Path(root.path, *SHARED.parts).parent
        self.folder.mkdir(parents=True)
        self.ledger = self.folder / "ledger.jsonl"
        self.journal = Path(root.path, ".scaffolding", ".amp", "journal", "shared.jsonl")

    def books(self, now: datetime = NOW, command: str = "") -> Books:
        return Books(self.root, SHARED, "shared", now, command)

    def write(self, current: Document, new: Document, now: datetime = NOW, *, done: bool = True) -> Books:
        """Note a write, from looking at the journal to the line that says it is done."""
        books = self.books(now)
        books.plan_healing(current, now.timestamp())
        books.begin(current, new)
        if done:
            books.done()
        os.utime(self.journal, (now.timestamp(), now.timestamp()))
        return books

    @property
    def journalled(self) -> list[journal.Line]:
        return journal.decode(self.journal.read_bytes())

    @property
    def lines(self) -> list[object]:
        return list(parse_file([self.ledger.read_bytes()]))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Root.open(str(tmp_path)) as root:
        yield Desk(root)


def parse(text: str) -> Document:
    return document.parse(text.encode(), SHARED)


def added(doc: Document, text: str) -> Document:
    return add(doc, compose.compose(text, max_bytes=25_600)).document


PAGE = parse("# T\n\n- a\n- b\n- c\n")


# -- the journal -------------------------------------------------------------------------------------------------------


def test_the_journal_is_local_and_begins_with_the_document_as_it_was(desk):
    new = added(PAGE, "new")
    books = desk.write(PAGE, new)
    version, write, done = desk.journalled
    assert isinstance(version, Version)
    assert isinstance(write, Write)
    assert version.text == PAGE.data.decode()
    assert (write.run, write.before, write.after) == (books.run, version.fingerprint, journal.fingerprint(new.data))
    assert [add.taken.markdown for add in write.adds] == ["- new"]
    assert done == Done(books.run)
    assert (desk.journal.parents[1] / ".gitignore").read_bytes() == b"*\n"


def test_further_writes_only_add_lines(desk):
    one, two = added(PAGE, "one"), added(added(PAGE, "one"), "two")
    desk.write(PAGE, one)
    before = desk.journal.read_bytes()
    desk.write(one, two, NOW + timedelta(seconds=5))
    assert desk.journal.read_bytes().startswith(before)
    assert [type(line) for line in desk.journalled] == [Version, Write, Done, Write, Done]


def test_a_document_that_someone_else_changed_is_noted_before_the_next_write(desk):
    one = added(PAGE, "one")
    desk.write(PAGE, one)
    theirs = parse("# T\n\n- a\n- b\n- c\n- one\n- by hand\n")
    desk.write(theirs, added(theirs, "two"))
    assert [type(line) for line in desk.journalled] == [Version, Write, Done, Version, Write, Done]
    found = desk.journalled[3]
    assert isinstance(found, Version)
    assert (found.fingerprint, found.text, found.of) == (
        journal.fingerprint(theirs.data),
        theirs.data.decode(),
        "shared",
    )
    assert [add.taken.markdown for add in found.recent] == ["- one"]  # an editor may have an older copy still


@pytest.mark.parametrize(("hours", "kinds"), [(23, [Version, Write, Done, Write, Done]), (25, [Version, Write, Done])])
def test_a_journal_of_yesterday_is_begun_anew(desk, hours, kinds):
    one = added(PAGE, "one")
    desk.write(PAGE, one)
    desk.write(one, added(one, "two"), NOW + timedelta(hours=hours))
    assert [type(line) for line in desk.journalled] == kinds


def test_a_journal_from_the_future_is_begun_anew(desk):
    one = added(PAGE, "one")
    desk.write(PAGE, one, NOW + timedelta(days=365))
    desk.write(one, added(one, "two"))
    assert [type(line) for line in desk.journalled] == [Version, Write, Done]


@pytest.mark.slow
def test_a_large_journal_is_begun_anew_and_keeps_what_was_added_in_the_last_minutes(desk):
    current, number, size = PAGE, 0, 0
    while number < 1_000:
        new = added(remove(current, current.ids[:-19]), f"{number} " + "x" * 1_200)
        desk.write(current, new, NOW + timedelta(seconds=number * 40))
        current, number = new, number + 1
        if desk.journal.stat().st_size < size:
            break
        size = desk.journal.stat().st_size
    assert journal.LARGEST < size < journal.LARGEST + 20_000
    (version, *_) = desk.journalled
    assert isinstance(version, Version)
    ages = [(number - 1) * 40 - add.at + NOW.timestamp() for add in version.recent]
    assert ages == [600, 560, 520, 480, 440, 400, 360, 320, 280, 240, 200, 160, 120, 80, 40]
    # What an editor overwrites now still goes back.
    saved = parse(remove(current, current.ids[-8:]).data.decode() + "- by an editor\n")
    healing = desk.books().plan_healing(saved, NOW.timestamp() + number * 40)
    assert [add.taken.id for add in healing.put_back] == list(current.ids[-8:])


def test_a_torn_last_line_costs_nothing_but_itself(desk):
    one = added(PAGE, "one")
    desk.write(PAGE, one)
    whole = desk.journal.read_bytes()
    for cut in (1, 5, 20, 200):
        desk.journal.write_bytes(whole[:-cut])
        desk.write(one, added(one, "two"))
        kinds = [type(line) for line in desk.journalled]
        assert kinds[-2:] == [Write, Done]
        assert kinds[0] is Version
        desk.journal.write_bytes(whole)


@pytest.mark.parametrize("garbage", [b"", b"\0" * 500, b"\xff\xfe\n{}\n[]\n", b'{"state":1}\n'])
def test_a_journal_that_is_nothing_is_passed_over(desk, garbage):
    desk.journal.parent.mkdir(parents=True)
    desk.journal.write_bytes(garbage)
    assert not desk.books().plan_healing(PAGE, NOW.timestamp()).has_work
    desk.write(PAGE, added(PAGE, "new"))
    assert [type(line) for line in desk.journalled] == [Version, Write, Done]


def test_the_journal_may_be_deleted_at_any_time(desk):
    one = added(PAGE, "one")
    desk.write(PAGE, one)
    desk.journal.unlink()
    assert not desk.books().plan_healing(PAGE, NOW.timestamp()).has_work
    desk.write(one, added(one, "two"))
    assert [type(line) for line in desk.journalled] == [Version, Write, Done]


def test_what_was_noted_is_taken_back_to_the_byte(desk):
    one = added(PAGE, "one")
    desk.write(PAGE, one)
    desk.books().archive([(take(PAGE, PAGE.ids[0]), "earlier")])
    before = desk.journal.read_bytes(), desk.ledger.read_bytes()
    books = desk.books()
    books.plan_healing(one, NOW.timestamp())
    books.archive([(take(one, one.ids[0]), "pruned")])
    books.note({"0" * 12: ("- x", About(kind="lesson"))})
    books.begin(one, added(one, "two"))
    assert (desk.journal.read_bytes(), desk.ledger.read_bytes()) != before
    books.undo()
    assert (desk.journal.read_bytes(), desk.ledger.read_bytes()) == before


def test_what_was_noted_first_is_taken_back_with_its_files(desk):
    books = desk.books()
    books.plan_healing(PAGE, NOW.timestamp())
    books.archive([(take(PAGE, PAGE.ids[0]), "pruned")])
    books.begin(PAGE, added(PAGE, "two"))
    books.undo()
    assert not desk.journal.exists()
    assert not desk.ledger.exists()


def test_what_others_added_to_the_ledger_meanwhile_is_not_taken_back(desk):
    books = desk.books()
    books.plan_healing(PAGE, NOW.timestamp())
    books.archive([(take(PAGE, PAGE.ids[0]), "pruned")])
    desk.ledger.write_bytes(desk.ledger.read_bytes() + b'{"theirs": 1}\n')
    before = desk.ledger.read_bytes()
    books.undo()
    assert desk.ledger.read_bytes() == before


# -- the ledger --------------------------------------------------------------------------------------------------------


def test_the_ledger_has_one_header_whoever_begins_it(desk):
    for number, one in enumerate(PAGE.ids):
        desk.books(NOW + timedelta(seconds=number)).archive([(take(PAGE, one), "forgotten")])
        desk.books().note({f"{number}" * 12: ("- x", About(kind="fact"))})
    kinds = [type(line) for line in desk.lines]
    assert kinds == [HeaderLine, *[EntryLine, Tombstone, EntryLine] * 3]


def test_a_ledger_whose_header_was_torn_gets_another_and_only_one(desk):
    desk.ledger.write_bytes(b'{"format":"agent-mem')
    for one in PAGE.ids:
        desk.books().archive([(take(PAGE, one), "forgotten")])
    assert desk.ledger.read_bytes().startswith(b'{"format":"agent-mem\n{"format":"agent-memory/0.1"')
    assert sum(isinstance(line, HeaderLine) for line in desk.lines) == 1
    assert [one.taken.markdown for one in desk.books().archived(None)] == ["- a", "- b", "- c"]


def test_lines_that_are_nothing_stay_where_they_are(desk):
    desk.books().archive([(take(PAGE, PAGE.ids[0]), "forgotten")])
    garbage = b"<<<<<<< ours\n\xff\xfe\n\n[]\n"
    desk.ledger.write_bytes(desk.ledger.read_bytes() + garbage)
    before = desk.ledger.read_bytes()
    desk.books().archive([(take(PAGE, PAGE.ids[1]), "forgotten")])
    desk.books().note({"0" * 12: ("- x", About(kind="fact"))})
    assert desk.ledger.read_bytes().startswith(before)
    assert len(desk.books().archived(None)) == 2


def test_a_torn_tail_is_ended_before_the_next_line(desk):
    desk.books().archive([(take(PAGE, PAGE.ids[0]), "forgotten")])
    desk.ledger.write_bytes(desk.ledger.read_bytes() + b'{"id":"torn')
    desk.books().archive([(take(PAGE, PAGE.ids[1]), "forgotten")])
    assert b'{"id":"torn\n{"id":' in desk.ledger.read_bytes()
    assert [one.taken.markdown for one in desk.books().archived(None)] == ["- a", "- b"]


def test_what_stands_in_the_document_is_not_archived(desk):
    desk.books().archive([(take(PAGE, one), "forgotten") for one in PAGE.ids])
    left = remove(PAGE, PAGE.ids[:1])
    assert [one.taken.markdown for one in desk.books().archived(left)] == ["- a"]
    assert [one.taken.markdown for one in desk.books().archived(None)] == ["- a", "- b", "- c"]
    assert desk.books().archived(PAGE) == []


def test_removals_of_one_command_share_its_id_and_those_by_hand_have_none(desk):
    desk.books(command="c1").archive([(take(PAGE, PAGE.ids[0]), "pruned")])
    desk.books(command="c1").archive([(take(PAGE, PAGE.ids[1]), "by hand")], by_hand=True)
    desk.books(command="c1").archive([(take(PAGE, PAGE.ids[2]), "pruned")])
    assert [one.run for one in desk.books().archived(None)] == ["c1", "", "c1"]
    assert desk.books().last_command()[1] == "c1"


def test_a_ledger_of_another_format_is_neither_read_nor_written(desk):
    data = b'{"format":"agent-memory/9.0","created_at":null}\n{"x":1}\n'
    desk.ledger.write_bytes(data)
    for call in (
        lambda: desk.books().archive([(take(PAGE, PAGE.ids[0]), "forgotten")]),
        lambda: desk.books().note({"0" * 12: ("- x", About(kind="fact"))}),
        lambda: desk.books().archived(None),
        lambda: desk.books().known_texts(),
    ):
        with pytest.raises(StorageError, match=r"shared/ledger\.jsonl: the format 'agent-memory/9\.0' is unknown here"):
            call()
    assert desk.ledger.read_bytes() == data


def test_what_no_line_can_hold_changes_nothing(desk):
    with pytest.raises(AgentMemoryError):
        desk.books().note({"0" * 12: ("- x", About(tags=("two\nlines",)))})
    assert not desk.ledger.exists()


# -- redacting ---------------------------------------------------------------------------------------------------------


def test_a_redacted_text_is_gone_and_a_tombstone_stays(desk):
    desk.books().note({PAGE.ids[0]: ("- a", About(kind="lesson", source="secret source"))})
    desk.books().archive([(take(PAGE, one), "secret reason" if one == PAGE.ids[0] else "ok") for one in PAGE.ids])
    assert desk.books().redact([PAGE.ids[0]]) == 3
    assert b'"- a"' not in desk.ledger.read_bytes()
    assert b"secret reason" not in desk.ledger.read_bytes()
    assert b"secret source" not in desk.ledger.read_bytes()
    assert [one.taken.markdown for one in desk.books().archived(None)] == ["- b", "- c"]
    stones = [line for line in desk.lines if isinstance(line, Tombstone) and line.id == PAGE.ids[0]]
    assert stones[-1].extra == {"reason": "redacted"}
    assert desk.books().redact([PAGE.ids[0]]) == 0


@pytest.mark.parametrize("end", [b"", b"\n", b"torn", b"\r\n\r\n", b"\xff\xfe\n<<<<<<< x\n"])
def test_redacting_leaves_every_other_line_as_it_was_to_the_byte(desk, end):
    desk.books().archive([(take(PAGE, one), "forgotten") for one in PAGE.ids])
    desk.ledger.write_bytes(desk.ledger.read_bytes() + end)

    def of_others(data):
        return [line for line in data.splitlines(keepends=True) if b'"id":"' + PAGE.ids[1].encode() not in line]

    before = desk.ledger.read_bytes()
    desk.books().redact([PAGE.ids[1]])
    data = desk.ledger.read_bytes()
    assert b"".join(of_others(data)).rstrip(b"\n") == b"".join(of_others(before)).rstrip(b"\n")
    assert data.count(b"redacted") == 1
    assert data.count(PAGE.ids[1].encode()) == 2


def test_redacting_what_no_ledger_has_writes_nothing(desk):
    assert desk.books().redact(["0" * 12]) == 0
    assert not desk.ledger.exists()
    desk.books().archive([(take(PAGE, PAGE.ids[0]), "forgotten")])
    before = desk.ledger.read_bytes()
    assert desk.books().redact(["0" * 12]) == 0
    assert desk.ledger.read_bytes() == before


def test_a_redacted_text_that_is_told_again_can_be_removed_and_come_back(desk):
    entry = take(PAGE, PAGE.ids[0])
    desk.books().archive([(entry, "forgotten")])
    desk.books().redact([entry.id])
    assert desk.books().archived(None) == []
    desk.books(NOW + timedelta(days=1)).archive([(entry, "forgotten")])
    assert [one.taken for one in desk.books().archived(None)] == [entry]


def test_versions_of_an_entry_are_those_of_its_equals_and_of_what_it_was_edited_from(desk):
    a, b, c = (take(PAGE, one) for one in PAGE.ids)
    desk.books().archive([(a, "edited"), (c, "forgotten")], successors={a.id: b.id})
    desk.books().archive([(Taken(f"{b.id}-2", "- b", b.place), "forgotten")])
    assert desk.books().versions_of(b.id) == {a.id: "- a", f"{b.id}-2": "- b"}
    assert desk.books().texts() == ["- a", "- c", "- b"]
