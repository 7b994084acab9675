"""The journal's lines: what was written is read back, whatever else stands there."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.change import journal
from agent_memory_protocol.change.journal import Add, Done, Line, Version, Write
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.taken import from_json, take
from tests.each_row import each_row

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC).timestamp()
BEFORE = b"\xef\xbb\xbf# T\r\n\r\n- \xc3\xa9 \xe2\x80\xa8\r\n"
AFTER = BEFORE + b"- new one\r\n  on two lines\r\n"
FIRST, NEW = (
    take(page, page.ids[-1]) for page in (document.parse(one, Target(Tier.SHARED)) for one in (BEFORE, AFTER))
)
LINES: list[Line] = [
    Version(journal.fingerprint(BEFORE), BEFORE.decode(), NOON - 3600, (Add(FIRST, NOON - 3600, again=True),)),
    Write("run1", journal.fingerprint(BEFORE), journal.fingerprint(AFTER), NOON, (Add(NEW, NOON),), (FIRST.id,)),
    Done("run1"),
]
ENCODED = [journal.encode(line) for line in LINES]


def test_every_record_reads_back_as_it_was():
    assert [line.count(b"\n") for line in ENCODED] == [1, 1, 1]
    assert journal.decode(b"".join(ENCODED)) == LINES


def test_a_line_that_was_torn_off_costs_no_other_line():
    for cut in range(len(ENCODED[1]) - 1):
        assert journal.decode(ENCODED[0] + ENCODED[1][:cut]) == LINES[:1]
    # The next writer begins a line of its own.
    assert journal.decode(ENCODED[0] + ENCODED[1][:20] + b"\n" + ENCODED[2]) == [LINES[0], LINES[2]]


@each_row(
    "line",
    [
        *(b"", b" ", b"{}", b"[]", b"null", b"3", b'"x"', b"{", b"\xff\xfe", b"\0", b"NaN"),
        *(b'{"state":"x"}', b'{"run":"x"}', b'{"state":"x","text":"# T","at":"noon"}', b"[" * 100_000),
        b'{"run":"x","before":"a","after":"b","at":1,"adds":[{"id":"x"}]}',
        b'{"run":"x","before":"a","after":"b","at":1,"adds":3}',
    ],
    ids=lambda line: str(line[:40]),
)
def test_a_line_that_is_none_of_ours_is_passed_over(line):
    assert journal.decode(b"\n".join([ENCODED[0].strip(), line, *map(bytes.strip, ENCODED[1:])])) == LINES


@pytest.mark.slow
@given(data=st.binary(max_size=300), position=st.integers(0, 2_000))
def test_a_journal_with_any_bytes_in_it_can_be_read(data, position):
    whole = b"".join(ENCODED)
    found = journal.decode(whole[:position] + data + whole[position:])
    assert all(isinstance(one, Version | Write | Done) for one in found)


def test_unknown_keys_of_a_later_version_do_not_make_a_line_nothing():
    (line,) = journal.decode(b'{"run":"x","before":"a","after":"b","at":1,"later":true}')
    assert line == Write("x", "a", "b", 1.0)


def test_the_end_of_a_journal_alone_tells_that_nothing_has_happened_since():
    now = journal.fingerprint(AFTER)
    assert journal.last_write_is(b"".join(ENCODED), now)
    assert journal.last_write_is(b"".join(ENCODED[:2]), now)
    assert not journal.last_write_is(b"".join(ENCODED), journal.fingerprint(b"other"))
    assert not journal.last_write_is(b"", now)
    later = b"".join([*ENCODED, journal.encode(Write("run2", now, journal.fingerprint(b"other"), NOON + 1))])
    assert not journal.last_write_is(later, now)
    assert not journal.last_write_is(later + b'{"run":"torn', now)


def test_the_last_write_is_found_however_long_it_is():
    entry = from_json("0" * 12, {"markdown": "- " + "long " * 20_000})
    long = Write("run2", "a", "b", NOON, (Add(entry, NOON),))
    data = b"".join([*ENCODED, journal.encode(long)])
    assert journal.last_write_is(data, "b")
    assert not journal.last_write_is(data, "c")
    assert journal.decode(data)[-1] == long


def test_a_line_holds_what_happened_in_words_that_people_can_read():
    state, write, done = map(json.loads, ENCODED)
    assert state.keys() == {"state", "at", "text", "recent"}
    assert write.keys() == {"run", "before", "after", "at", "adds", "gone"}
    assert write["adds"][0]["markdown"] == "- new one\n  on two lines"
    assert done == {"done": "run1"}
