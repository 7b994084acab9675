"""The ledger: what has left a document is there word for word, whatever clocks, merges and torn lines do to it."""

import itertools
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.answers import About
from agent_memory_protocol.change import ledger
from agent_memory_protocol.change.ledger import Archived
from agent_memory_protocol.errors import AgentMemoryError, StorageError
from agent_memory_protocol.formats.jsonl import EntryLine, HeaderLine, Tombstone, UnreadableLine, parse_file
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.text.moments import sort_key
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.taken import Above, Taken, take, title_of, with_title
from tests.each_row import each_row

SHARED = Target(Tier.SHARED)
NOW = datetime(2026, 6, 15, 12, tzinfo=UTC)

PAGE = """\
# Shared Knowledge
<!-- Cross-agent project knowledge. -->

- lasting fact

## Redis #infra

**Fixed:**
- [2026-01-01] a *marked* entry
  with `code`, "quotes" and \\ backslashes

  ```sh
  # no heading
  redis-cli --tls
  ```
- Umlaute äöü, 日本語, 💡 and a tab\there
"""


def taken(text: str = PAGE) -> list[Taken]:
    doc = document.parse(text.encode(), SHARED)
    return [take(doc, one) for one in doc.ids]


def lines_of(data: bytes) -> list[object]:
    return list(parse_file([data]))


def removal(
    entries: Sequence[Taken],
    now: datetime = NOW,
    *,
    before: bytes = b"",
    reason: str = "forgotten",
    run: str = "r1",
    successor: str = "",
    title: str = "",
) -> bytes:
    """Return what a ledger is after these entries left their document."""
    contents = ledger.read(before, "ledger.jsonl")
    data = before or ledger.header_line(now)
    return data + ledger.removal_lines(
        [(one, reason) for one in entries],
        now=now,
        latest=contents.latest,
        run=run,
        known=contents.entries,
        successors={one.id: successor for one in entries},
        title=title,
    )


def archived(data: bytes, standing: Iterable[Taken] = ()) -> list[Archived]:
    return ledger.archived(ledger.read(data, "ledger.jsonl"), lines_of(data), {one.saying for one in standing})


def stamps(data: bytes) -> list[str]:
    return [sort_key(getattr(line, "created_at", "")) for line in lines_of(data)]


# -- what is kept ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S0-01", "S0-06")
def test_what_leaves_is_kept_word_for_word_with_its_headings_place_reason_and_run():
    entries = taken()
    found = archived(removal(entries, reason="pruned: dated 2026-01-01"))
    assert [one.taken for one in found] == entries
    assert {(one.reason, one.run, one.removed_at, one.note) for one in found} == {
        ("pruned: dated 2026-01-01", "r1", "2026-06-15T12:00:00Z", "")
    }
    place = found[1].taken.place
    assert [one.markdown for one in place.headings] == ["# Shared Knowledge", "## Redis #infra"]
    assert place.label is not None
    assert place.label.markdown == "**Fixed:**"


def test_a_ledger_is_an_agent_memory_file_whose_entries_are_all_deleted():
    data = removal(taken())
    header, *rest = lines_of(data)
    assert isinstance(header, HeaderLine)
    assert (header.format, header.extra) == ("agent-memory/0.1", {"ledger": True})
    assert [type(line) for line in rest] == [EntryLine, Tombstone] * 3
    first = json.loads(data.splitlines()[1])
    assert list(first)[:4] == ["id", "kind", "text", "created_at"]
    assert first["text"] == "- lasting fact"
    assert "\n" not in json.loads(data.splitlines()[3])["text"]


@each_row(
    "text",
    [
        *(
            "- \u2028 and \u0085 ends",
            "- \u200b hidden",
            "- \u202e bidi",
            "- nul \0 in it",
            "- a\u0301 é",
            "-",
            "- \ufeff",
        ),
        *(
            "> quote",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "```\nnever closed",
            "1. one",
            "[x]: /u\n\n- y",
            "- " + "x" * 20_000,
        ),
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_any_text_that_a_person_wrote_is_kept_word_for_word(text):
    entries = taken(f"# T\n\n{text}\n")
    assert [one.taken for one in archived(removal(entries))] == entries


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60))
def test_any_text_at_all_is_kept_word_for_word(text):
    entries = taken(f"# T\n\n- {text}\n")
    assert [one.taken for one in archived(removal(entries))] == entries


def test_a_removed_entry_takes_few_bytes_and_its_text_once():
    fact = "- " + "The gateway retries three times, so a handler must be safe to run twice, always. "[:88]
    entry = taken(f"# Shared Knowledge\n\n## Infrastructure\n\n- Before.\n{fact}\n- After.\n")[1]
    line, stone = removal([entry], title="# Shared Knowledge", run="0a1b2c3d").splitlines()[1:]
    assert line.count(b"gateway") == 1
    assert len(line) + len(stone) + 2 <= 350


def test_the_title_that_a_document_keeps_is_not_said_and_is_that_of_the_document_again():
    page = document.parse(PAGE.encode(), SHARED)
    data = removal(taken(), title="# Shared Knowledge")
    assert data.count(b"# Shared Knowledge") == 0
    title = title_of(page)
    assert title is not None
    assert [with_title(one.taken, title) for one in archived(data)] == taken()


def as_written_before(entry: Taken) -> bytes:
    """Return the lines that were written for a removal when each line held its text twice and every empty field."""

    def above(one: Above) -> list[object]:
        return [one.markdown, one.blank_before, one.blank_after, one.previous, one.twins]

    place = entry.place
    line: dict[str, object] = {
        "id": entry.id,
        "kind": "fact",
        "text": " ".join(ascii(entry.markdown).split()),
        "scope": "global",
        "tags": [],
        "source": None,
        "confidence": 0.7,
        "expires_at": None,
        "supersedes": None,
        "created_at": "2026-06-15T12:00:00Z",
        "markdown": entry.markdown,
        "rank": entry.rank,
        "place": {
            "headings": [above(one) for one in place.headings],
            **({} if place.label is None else {"label": above(place.label)}),
            **{name: getattr(place, name) for name in ("after", "before", "previous", "following", "next_heading")},
            "blank": [place.blank_before, place.blank_after],
        },
    }
    stone = {"id": entry.id, "deleted": True, "created_at": "2026-06-15T12:00:00Z", "reason": "forgotten", "run": "r1"}
    return b"".join(json.dumps(one).encode() + b"\n" for one in (line, stone))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=40), st.booleans())
def test_old_lines_and_new_ones_give_the_same_entries(text, is_labelled):
    page = f"# T\n\n## A\n\n## A\n{'**Fixed:**' if is_labelled else ''}\n\n\n- {text}\n- x\n- x\n\n\n## B\n\ny\n  z\n"
    entries = taken(page)
    old = ledger.header_line(NOW) + b"".join(map(as_written_before, entries))
    assert archived(old) == archived(removal(entries))
    assert len(removal(entries)) < len(old)


def test_what_stands_again_is_not_listed_and_what_went_twice_is_listed_once():
    entries = taken()
    data = removal(entries[:1], before=removal(entries, run="r1"), now=NOW + timedelta(days=1), run="r2")
    assert [one.taken.id for one in archived(data)] == [entries[1].id, entries[2].id, entries[0].id]
    assert [one.run for one in archived(data)] == ["r1", "r1", "r2"]
    assert [one.taken.id for one in archived(data, [entries[1]])] == [entries[2].id, entries[0].id]


def test_what_was_only_noted_is_not_listed():
    line = ledger.about_line("0" * 12, "- x", About(kind="lesson"), now=NOW, latest="")
    assert archived(ledger.header_line(NOW) + line) == []


def test_a_line_of_another_tool_is_nothing_that_could_come_back():
    other = b'{"id":"x1","kind":"fact","text":"theirs","created_at":"2026-01-01T00:00:00Z"}\n'
    stone = b'{"id":"x1","deleted":true,"created_at":"2026-01-02T00:00:00Z"}\n'
    data = removal(taken()[:1]) + other + stone
    assert [one.taken.markdown for one in archived(data)] == ["- lasting fact"]


# -- stamps ------------------------------------------------------------------------------------------------------------


def test_stamps_never_go_backwards_when_the_clock_is_set_back_a_year():
    entries = taken()
    data = removal(entries[:1], NOW)
    data = removal(entries[1:2], NOW - timedelta(days=365), before=data)
    contents = ledger.read(data, "x")
    data += ledger.about_line(
        "0" * 12, "- x", About(kind="fact"), now=NOW - timedelta(days=400), latest=contents.latest
    )
    assert stamps(data) == sorted(stamps(data))
    assert {one.removed_at for one in archived(data)} == {"2026-06-15T12:00:00Z"}


def test_what_is_removed_under_a_clock_that_goes_wrong_is_removed():
    (entry, *_) = taken()
    data = b""
    for days in (0, 3_650, -400, 10):
        data = removal([entry], NOW + timedelta(days=days), before=data, run=f"day {days}")
    (found,) = archived(data)
    assert found.run == "day 10"


# -- merges ------------------------------------------------------------------------------------------------------------


def interleavings(one: Sequence[bytes], other: Sequence[bytes]) -> list[bytes]:
    """Return every way in which a merge may put two branches' lines together, each branch's in its order."""
    found = []
    for places in itertools.combinations(range(len(one) + len(other)), len(one)):
        ours, theirs = iter(one), iter(other)
        found.append(
            b"".join(next(ours) if place in places else next(theirs) for place in range(len(one) + len(other)))
        )
    return found


def branch(entries: Sequence[Taken], now: datetime, run: str, base: bytes = b"") -> list[bytes]:
    """Return the lines that a branch adds to a ledger, with its header where there was none."""
    return removal(entries, now, before=base, run=run)[len(base) :].splitlines(keepends=True)


@pytest.mark.parametrize("seconds", [0, 1, 90_000])
def test_a_ledger_merged_by_union_reads_right_however_the_lines_fall(seconds):
    entries = taken()
    base = removal(entries[:1], NOW - timedelta(days=1), run="base")
    ours = branch(entries[1:2], NOW, "ours", base)
    theirs = branch(entries[2:], NOW + timedelta(seconds=seconds), "theirs", base)
    for merged in interleavings(ours, theirs):
        found = archived(base + merged)
        assert {one.taken.id: one.run for one in found} == {
            entries[0].id: "base",
            entries[1].id: "ours",
            entries[2].id: "theirs",
        }
        assert [one.taken for one in sorted(found, key=lambda one: one.run)] == entries


def test_a_ledger_that_both_branches_began_has_two_headers_and_reads_right():
    entries = taken()
    ours = branch(entries[:1], NOW, "ours")
    theirs = branch(entries[1:2], NOW + timedelta(hours=1), "theirs")
    for merged in interleavings(ours, theirs):
        contents = ledger.read(merged, "x")
        assert contents.header is not None or not merged.startswith((ours[0], theirs[0]))
        assert {one.taken.id for one in archived(merged)} == {entries[0].id, entries[1].id}


def test_of_an_entry_that_both_branches_took_out_the_later_removal_counts():
    (entry, *_) = taken()
    base = ledger.header_line(NOW - timedelta(days=1))
    ours = branch([entry], NOW, "earlier", base)
    theirs = branch([entry], NOW + timedelta(hours=1), "later", base)
    for merged in interleavings(ours, theirs):
        (found,) = archived(base + merged)
        assert (found.run, found.removed_at) == ("later", "2026-06-15T13:00:00Z")
        assert ledger.last_command(lines_of(base + merged))[1] == "later"


@pytest.mark.requirement("S0-23", "S0-24")
def test_what_was_told_again_after_it_was_removed_is_no_removal():
    (entry, *_) = taken()
    data = removal([entry])
    data += ledger.about_line(entry.id, entry.markdown, About(kind="lesson"), now=NOW + timedelta(1), latest="")
    assert archived(data) == []


# -- damage ------------------------------------------------------------------------------------------------------------


def test_a_torn_tail_costs_only_the_line_it_is_in():
    entries = taken()
    data = removal(entries)
    last = data.splitlines(keepends=True)[-1]
    for cut in range(1, len(last)):
        torn = data[: len(data) - cut]
        assert [one.taken.id for one in archived(torn)] == [entries[0].id, entries[1].id] or cut == 1
        assert entries[2].id in ledger.read(torn, "x").entries


@each_row(
    "line",
    [b"\n", b"  \n", b"<<<<<<< ours\n", b"=======\n", b"\xff\xfe\n", b'{"id":"x","kin\n', b"[]\n", b'{"id":NaN}\n'],
)
@each_row("place", [0, 1, 2, 7])
def test_garbled_lines_are_passed_over(line, place):
    entries = taken()
    lines = removal(entries).splitlines(keepends=True)
    lines.insert(place, line)
    assert [one.taken for one in archived(b"".join(lines))] == entries


@pytest.mark.parametrize("place", [{}, {"place": 3}, {"place": {"headings": [["# T"]]}}])
def test_an_entry_whose_place_is_garbled_can_come_back_all_the_same(place):
    entry = {
        "id": "a1",
        "kind": "fact",
        "text": "- x",
        "created_at": "2026-01-01T00:00:00Z",
        "markdown": "- x",
        **place,
    }
    stone = {"id": "a1", "deleted": True, "created_at": "2026-01-01T00:00:00Z"}
    data = ledger.header_line(NOW) + b"".join(json.dumps(one).encode() + b"\n" for one in (entry, stone))
    (found,) = archived(data)
    assert (found.taken.markdown, found.reason, found.run) == ("- x", "", "")


def test_a_ledger_of_another_format_is_refused():
    with pytest.raises(StorageError, match=r"x/ledger\.jsonl: the format 'agent-memory/9\.0' is unknown here"):
        ledger.read(b'{"format":"agent-memory/9.0","created_at":null}\n', "x/ledger.jsonl")


def test_a_ledger_without_a_header_and_an_empty_one_are_read():
    entries = taken()
    without = b"".join(removal(entries).splitlines(keepends=True)[1:])
    assert [one.taken for one in archived(without)] == entries
    assert archived(b"") == []


@given(st.binary(max_size=200), st.integers(0, 3_000))
def test_a_ledger_with_any_bytes_in_it_is_read_or_refused(data, position):
    whole = removal(taken())
    try:
        found = archived(whole[:position] + data + whole[position:])
    except StorageError:
        return
    assert all(isinstance(one, Archived) for one in found)


# -- what a writer says beside the text --------------------------------------------------------------------------------

SAID = About(source="https://example.com/1", kind="lesson", confidence=0.4, tags=("redis", "ops"))


def test_what_a_writer_says_is_a_line_of_its_own():
    data = ledger.header_line(NOW) + ledger.about_line("0" * 12, "- [2026-01-01] x\n  y", SAID, now=NOW, latest="")
    (_, line) = lines_of(data)
    assert isinstance(line, EntryLine)
    assert (line.kind, line.text, line.source) == ("lesson", "- [2026-01-01] x y", "https://example.com/1")
    assert (line.confidence, line.tags) == (0.4, ("redis", "ops"))
    assert ledger.said_of(line) == SAID


def test_what_a_writer_says_survives_every_removal():
    (entry, *_) = taken()
    data = ledger.header_line(NOW) + ledger.about_line(entry.id, entry.markdown, SAID, now=NOW, latest="")
    for _ in range(3):
        data = removal([entry], before=data)
        kept = ledger.read(data, "x").entries[entry.id]
        assert ledger.said_of(kept) == SAID


@each_row(
    "about, says",
    [
        (About(), False),
        (About(source=""), False),
        (About(tags=("a",)), True),
        (About(confidence=0.0), True),
        (About(kind="fact"), True),
        (About(source="user"), True),
    ],
    ids=str,
)
def test_a_line_is_written_only_where_something_is_said(about, says):
    assert about.says_something is says


@pytest.mark.requirement("S0-15")
@pytest.mark.parametrize(("source", "confidence"), [(None, 0.7), ("session-1", 0.7), ("user", 1.0)])
def test_what_nobody_says_how_sure_it_is_gets_what_the_format_says(source, confidence):
    data = ledger.about_line("0" * 12, "- x", About(source=source, kind="fact"), now=NOW, latest="")
    (line,) = lines_of(data)
    assert isinstance(line, EntryLine)
    assert line.confidence == confidence


@each_row(
    "about",
    [
        About(kind="nonsense"),
        About(tags=("two\nlines",)),
        About(source="a\tb"),
        About(confidence=7.0),
        About(tags=("",)),
    ],
    ids=str,
)
def test_what_no_line_can_hold_is_refused(about):
    with pytest.raises(AgentMemoryError):
        ledger.about_line("0" * 12, "- x", about, now=NOW, latest="")


# -- commands and versions ---------------------------------------------------------------------------------------------


def test_the_last_command_is_the_one_that_took_something_out_last():
    entries = taken()
    assert ledger.last_command(lines_of(ledger.header_line(NOW))) == ("", "")
    data = removal(entries[:1], run="r1")
    data = removal(entries[1:2], NOW + timedelta(hours=1), before=data, run="r2")
    assert ledger.last_command(lines_of(data)) == ("2026-06-15T13:00:00", "r2")


def test_what_people_took_out_by_hand_is_no_command():
    entries = taken()
    data = removal(entries[:1], run="r1")
    data = removal(entries[1:2], NOW + timedelta(hours=1), before=data, reason="taken out by hand", run="")
    assert ledger.last_command(lines_of(data))[1] == "r1"
    assert archived(data)[-1].run == ""


def test_every_earlier_version_of_an_edited_entry_is_found():
    data = ledger.header_line(NOW)
    ids = [f"{number}" * 12 for number in range(5)]
    for old, new in [(ids[0], ids[1]), (ids[1], f"{ids[2]}-2"), (ids[3], ids[4])]:
        data = removal([Taken(old, f"- {old}", taken()[0].place)], before=data, successor=new)
    assert ledger.versions_of([ids[2]], lines_of(data)) == {ids[0], ids[1], ids[2]}
    assert ledger.versions_of([f"{ids[1]}-3"], lines_of(data)) == {ids[0], ids[1]}
    assert ledger.versions_of([ids[0]], lines_of(data)) == {ids[0]}


def test_versions_that_were_edited_in_a_circle_end():
    data = ledger.header_line(NOW)
    for old, new in [("a" * 12, "b" * 12), ("b" * 12, "a" * 12)]:
        data = removal([Taken(old, "- x", taken()[0].place)], before=data, successor=new)
    assert ledger.versions_of(["a" * 12], lines_of(data)) == {"a" * 12, "b" * 12}


def test_successors_of_any_kind_are_read():
    stone = b'{"id":"x","deleted":true,"created_at":"2026-01-01T00:00:00Z","reason":7,"run":[],"successor":{}}\n'
    data = removal(taken()) + stone
    assert ledger.versions_of(["x"], lines_of(data)) == {"x"}
    assert not any(isinstance(line, UnreadableLine) for line in lines_of(data))
    assert ledger.last_command(lines_of(data))[1] == "r1"
