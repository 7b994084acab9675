"""The current view: later lines win, tombstones delete, successors replace, expiry ends, whatever order git left."""

import random
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.formats.jsonl import (
    FORMAT,
    EntryLine,
    HeaderLine,
    Line,
    Tombstone,
    UnreadableLine,
    encode,
    parse_file,
)
from agent_memory_protocol.formats.jsonl_view import compacted, current, sort_out, view
from tests.each_row import each_row

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HEADER = HeaderLine(FORMAT, "2026-11-09T07:00:00Z")
LEDGER = HeaderLine(FORMAT, "2026-11-09T07:00:00Z", {"ledger": True})


def at(minute: int) -> str:
    return f"2026-11-09T08:{minute:02d}:00Z"


def entry(id: str, minute: int = 0, **changes: Any) -> EntryLine:
    return EntryLine(id=id, kind="fact", text=f"Fact {id} of {minute}.", created_at=at(minute))._replace(**changes)


def gone(id: str, minute: int = 0) -> Tombstone:
    return Tombstone(id, at(minute))


def texts(*lines: Line, scope: str | None = None, now: datetime = NOW) -> list[str]:
    return [found.text for found in view([HEADER, *lines], now, scope).entries]


def ids(*lines: Line) -> list[str]:
    return [found.id for found in view([HEADER, *lines], NOW).entries]


def messages(*lines: Line) -> list[str]:
    return [str(notice) for notice in view(lines, NOW).warnings]


@pytest.mark.requirement("S0-22", "S0-23")
@each_row(
    "lines, expected",
    [
        ([entry("a", 1), entry("a", 2)], ["Fact a of 2."]),
        ([entry("a", 1), entry("a", 1, text="Second.")], ["Second."]),
        ([entry("a", 1), entry("b", 1), entry("a", 1, text="Second.")], ["Fact b of 1.", "Second."]),
        ([entry("a", 2), entry("a", 1)], ["Fact a of 1."]),
    ],
    ids=["later", "same-stamp", "position-of-the-later", "writer-whose-clock-is-behind"],
)
def test_of_lines_with_one_id_the_later_wins(lines, expected):
    assert texts(*lines) == expected


@pytest.mark.requirement("S0-23")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([entry("a", 1), entry("a", 2)], ["Fact a of 2."]),
        ([entry("a", 2), entry("a", 1)], ["Fact a of 2."]),
        ([entry("a", text="Later.", created_at="2026-11-09T10:02:00+02:00"), entry("a", 1)], ["Later."]),
    ],
    ids=["later", "older-line-merged-in", "offset"],
)
def test_in_a_ledger_the_line_that_was_written_later_wins(lines, expected):
    assert [found.text for found in view([LEDGER, *lines], NOW).entries] == expected


@pytest.mark.requirement("S0-24")
@each_row(
    "lines, expected",
    [
        ([entry("a", 1), gone("a", 2)], []),
        ([entry("a", 1), gone("a", 1)], []),
        ([entry("a", 1), gone("a", 2), entry("a", 3)], ["a"]),
        ([entry("a", 1), gone("a", 1), entry("a", 1)], ["a"]),
        ([entry("a", 1), gone("a", 1), entry("a", 1), gone("a", 1)], []),
        ([gone("a", 2)], []),
        ([gone("a", 2), entry("a", 3)], ["a"]),
        ([gone("b", 2), entry("a", 1)], ["a"]),
        ([entry("a", 2), gone("a", 1)], []),
        ([gone("a", 2), entry("a", 1)], ["a"]),
        ([entry("a", 3), entry("a", 1), gone("a", 2)], []),
        ([entry("a", 2), gone("a", 3), entry("a", 1), gone("b", 9)], ["a"]),
    ],
)
def test_a_tombstone_deletes_and_adding_again_brings_back(lines, expected):
    assert ids(*lines) == expected


@pytest.mark.requirement("S0-24")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([gone("a", 2), entry("a", 1)], []),
        ([entry("a", 2), gone("a", 1)], ["a"]),
        ([entry("a", 3), entry("a", 1), gone("a", 2)], ["a"]),
    ],
)
def test_a_tombstone_in_a_ledger_deletes_what_was_written_before_it(lines, expected):
    assert [found.id for found in view([LEDGER, *lines], NOW).entries] == expected


@pytest.mark.slow
@given(
    st.permutations(
        [entry("a", 1), gone("a", 2), entry("a", 3, text="Again."), entry("b", 4), gone("c", 5), entry("c", 4)]
    )
)
def test_a_union_merge_of_ledgers_in_any_order_says_the_same(lines):
    for position in range(len(lines) + 1):
        merged = [*lines[:position], LEDGER, *lines[position:]]
        found = current(sort_out(merged, by_time=True), NOW)
        assert [one.text for one in found.entries] == ["Again.", "Fact b of 4."]


def test_a_file_behind_another_one_adds_its_lines_and_no_warning():
    """S0-03: passing a file on is copying it, and copying one behind the other puts a second header in between."""
    second = HeaderLine(FORMAT, "2026-11-08T00:00:00Z")
    lines: list[Line] = [HEADER, entry("a", 5), entry("b", 5), second, entry("b", 1), entry("c", 1)]
    assert [found.text for found in view(lines, NOW).entries] == ["Fact b of 1.", "Fact c of 1.", "Fact a of 5."]
    assert messages(*lines) == []


@pytest.mark.requirement("S0-02", "S0-03", "S0-23", "S0-24")
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from([None, *"abc"]), st.integers(0, 5)),
        max_size=12,
    )
)
def test_a_file_reads_as_a_dictionary_would_whatever_the_clocks_of_its_writers_said(steps):
    """S0-23 and S0-24 by file order alone."""
    lines: list[Line] = []
    model: dict[str, EntryLine] = {}
    deleted: set[str] = set()
    for number, (key, delete, supersedes, minute) in enumerate(steps):
        if delete:
            lines.append(gone(key, minute))
            deleted.add(key)
        else:
            older = supersedes if supersedes and supersedes < key else None  # circles have a test of their own
            added = entry(key, minute, text=f"Step {number}.", supersedes=older)
            lines.append(added)
            model.pop(key, None)
            model[key] = added
            deleted.discard(key)
    replaced = {added.supersedes for added in model.values()}
    expected = {added.text for key, added in model.items() if key not in deleted and key not in replaced}
    assert set(texts(*lines)) == expected


@pytest.mark.requirement("S0-17", "S0-25")
@each_row(
    "lines, expected",
    [
        ([entry("a", 1), entry("b", 2, supersedes="a")], ["b"]),
        ([entry("b", 2, supersedes="a"), entry("a", 1)], ["b"]),
        ([entry("b", 1, supersedes="a"), entry("a", 2)], ["b"]),
        ([entry("d"), entry("e", supersedes="d"), entry("f", supersedes="e"), entry("g", supersedes="f")], ["g"]),
        ([entry("a", 1), entry("b", 2, supersedes="a"), gone("b", 3)], []),
        ([entry("a", 1), entry("b", 2, supersedes="a", expires_at="2026-11-10")], []),
        ([entry("a", 1), entry("b", 2, supersedes="a"), entry("b", 3)], ["a", "b"]),
        ([entry("b", 2, supersedes="nowhere")], ["b"]),
        ([entry("a", 1), entry("b", 2, supersedes="a"), entry("c", 3, supersedes="a")], ["b", "c"]),
    ],
    ids=["one", "order", "stamps", "chain", "deleted-successor", "expired-successor", "taken-back", "unknown", "two"],
)
def test_a_superseded_entry_is_gone(lines, expected):
    assert ids(*lines) == expected


@pytest.mark.requirement("S0-25")
@each_row(
    "lines, expected, warning",
    [
        (
            [entry("a", 1, supersedes="b"), entry("b", 2, supersedes="a")],
            ["b"],
            "'a', 'b' supersede each other; the newest, 'b', stays",
        ),
        ([entry("b", 2, supersedes="a"), entry("a", 1, supersedes="b")], ["b"], "the newest, 'b', stays"),
        ([entry("a", supersedes="b"), entry("b", supersedes="a")], ["b"], "the newest, 'b', stays"),
        ([entry("c", supersedes="c")], ["c"], "entry 'c' supersedes itself"),
        (
            [entry("a", 3, supersedes="c"), entry("b", 2, supersedes="a"), entry("c", 1, supersedes="b")],
            ["a"],
            "'a', 'b', 'c'",
        ),
        (
            [entry("a", 1, supersedes="b"), entry("b", 2, supersedes="a"), entry("x", 0, supersedes="b")],
            ["x"],
            "the newest, 'b', stays",
        ),
        (
            [entry("t", 9, supersedes="a"), entry("a", 1, supersedes="b"), entry("b", 2, supersedes="a")],
            ["t", "b"],
            "'b', stays",
        ),
        ([entry("a", 1, supersedes="b"), entry("b", 2, supersedes="a"), gone("b", 3)], [], "the newest, 'b', stays"),
    ],
    ids=["two", "order", "same-stamp", "itself", "three", "replaced-from-outside", "tail", "newest-deleted"],
)
def test_in_a_circle_the_newest_survives_with_a_warning(lines, expected, warning):
    assert set(ids(*lines)) == set(expected)
    (found,) = messages(HEADER, *lines)
    assert warning in found


def test_long_chains_and_many_circles_end(sized):
    half = sized(1_000, 10_000, 10_000)
    chain = [entry(str(number), supersedes=str(number - 1)) for number in range(5 * half)]
    circles = [entry(f"c{number}", supersedes=f"c{number ^ 1}") for number in range(2 * half)]
    random.Random(4).shuffle(chain)
    found = view([HEADER, *chain, *circles], NOW)
    assert len(found.entries) == 1 + half
    assert len(found.warnings) == half


@pytest.mark.requirement("S0-16", "S0-26")
def test_an_expired_entry_is_skipped_after_its_moment():
    line = entry("a", expires_at="2026-11-30T12:00:00Z")
    assert texts(line, now=NOW) == [line.text]
    assert texts(line, now=NOW + timedelta(microseconds=1)) == []
    day = entry("a", expires_at="2026-11-30")
    tokyo = timezone(timedelta(hours=9))
    assert texts(day, now=datetime(2026, 11, 30, 23, 59, tzinfo=tokyo)) == [day.text]
    assert texts(day, now=datetime(2026, 12, 1, 0, 0, tzinfo=tokyo)) == []


def test_a_newer_version_that_expired_does_not_bring_back_the_older():
    assert texts(entry("a", 1), entry("a", 2, expires_at="2026-11-10")) == []


def test_a_future_stamp_is_kept_and_sorts_last():
    future = entry("z", created_at="2099-01-01T00:00:00Z")
    assert ids(future, entry("a", 1)) == ["a", "z"]


@pytest.mark.requirement("S0-33")
def test_a_scope_sees_itself_and_global_and_nothing_else():
    lines = [
        entry("g"),
        entry("h", scope="github.com"),
        entry("s", scope="api.github.com"),
        entry("p", scope="project:x"),
        entry("q", scope="project:xy"),
    ]
    assert [found.id for found in view([HEADER, *lines], NOW, "github.com").entries] == ["g", "h"]
    assert [found.id for found in view([HEADER, *lines], NOW, "project:x").entries] == ["g", "p"]
    assert [found.id for found in view([HEADER, *lines], NOW, "global").entries] == ["g"]
    assert len(view([HEADER, *lines], NOW).entries) == 5


@pytest.mark.requirement("S0-01", "S0-05", "S0-35")
@each_row(
    "lines, expected, warnings",
    [
        ([], [], []),
        ([HEADER], [], []),
        ([entry("a")], ["a"], [f"the first line is not an {FORMAT} header; the file is read, never written"]),
        ([entry("a"), HEADER], ["a"], [f"the first line is not an {FORMAT} header; the file is read, never written"]),
        ([gone("a")], [], [f"the first line is not an {FORMAT} header; the file is read, never written"]),
        ([UnreadableLine(1, "blank", blank=True), HEADER, entry("a")], ["a"], ["line 1: blank"]),
        (
            [HeaderLine("agent-memory/0.2"), entry("a")],
            [],
            [f"its format is 'agent-memory/0.2', not {FORMAT}; nothing in it is read or written"],
        ),
        (
            [HEADER, entry("a"), HeaderLine("other/1"), entry("b")],
            ["a", "b"],
            ["line 3: a header of another format, 'other/1'"],
        ),
        ([HEADER, HEADER, entry("a"), HEADER], ["a"], []),
        ([HEADER, UnreadableLine(2, "why"), entry("a")], ["a"], ["line 2: why"]),
    ],
    ids=[
        "nothing",
        "empty",
        "missing",
        "late",
        "tombstone",
        "blank-first",
        "foreign",
        "foreign-later",
        "doubled",
        "bad",
    ],
)
def test_the_header_decides_what_is_read(lines, expected, warnings):
    found = view(lines, NOW)
    assert [line.id for line in found.entries] == expected
    assert [str(notice) for notice in found.warnings] == warnings


def test_the_latest_stamp_is_that_of_any_line():
    assert sort_out([]).latest == ""
    assert sort_out([HEADER]).latest == "2026-11-09T07:00:00Z"
    assert sort_out([HEADER, entry("a", 3), gone("b", 9), entry("c", 5)]).latest == at(9)
    assert (
        sort_out([entry("a", created_at="2026-11-09T08:00:00.5Z"), entry("b")]).latest == "2026-11-09T08:00:00.500000Z"
    )


some_lines = st.lists(
    st.one_of(
        st.builds(
            lambda name, minute, supersedes, expires_at: entry(
                name, minute, supersedes=supersedes, expires_at=expires_at
            ),
            st.sampled_from("abcd"),
            st.integers(0, 5),
            st.sampled_from([None, None, "a", "b", "c", "d"]),
            st.sampled_from([None, None, "2026-11-10", "2026-11-30", "2026-12-24T00:00:00Z"]),
        ).map(encode),
        st.builds(gone, st.sampled_from("abcd"), st.integers(0, 5)).map(encode),
        st.sampled_from(
            [b"\n", b"   \n", b'{"id":"x","kin\n', b"\xff\xfe\n", encode(HEADER), encode(HeaderLine("other/1"))]
        ),
    ),
    max_size=14,
)


@pytest.mark.requirement("S0-27")
@given(some_lines, st.binary(max_size=8), st.sampled_from([NOW, NOW + timedelta(days=60)]))
def test_compacting_changes_no_view(lines, tail, later):
    data = encode(HEADER) + b"".join(lines) + tail.replace(b"\n", b"")
    left, done = compacted(data, NOW)
    before, after = sort_out(parse_file([data])), sort_out(parse_file([left]))
    for moment in (NOW, later):
        assert current(before, moment).entries == current(after, moment).entries
    assert left.startswith(encode(HEADER))
    assert left.count(encode(HEADER)) == 1
    assert done.kept == len(current(before, NOW).entries)
    lost = [line for line in data.split(b"\n") if line.strip() and line not in left.split(b"\n")]
    assert all(not isinstance(found, UnreadableLine) for found in parse_file([b"\n".join(lost)]))
    assert compacted(left, NOW)[0] == left


@given(some_lines, st.binary(max_size=40), st.integers(1, 50))
def test_lines_are_the_same_however_the_file_is_cut_into_pieces(lines, tail, size):
    data = b"\xef\xbb\xbf" + encode(HEADER) + b"".join(lines) + tail
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert list(parse_file(pieces)) == list(parse_file([data]))
