import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import InvalidRecord
from agent_memory_protocol.records.canonical import (
    canonical,
    cut_moment,
    decode,
    encode,
    format_moment,
    freeze,
    parse_moment,
    thaw,
)
from agent_memory_protocol.records.record import Record
from tests.each_row import each_row

TOO_DEEP: object = "x"
for _ in range(150):
    TOO_DEEP = [TOO_DEEP]


@each_row(
    "value, text",
    [
        ({"b": 1, "a": [True, None, {}]}, '{"a":[true,null,{}],"b":1}'),
        ({"\U0001f600": 1, "\uffff": 2}, '{"\uffff":2,"\U0001f600":1}'),  # by code point, not by UTF-16 unit
        ({"Z": 1, "a": 2, "é": 3, "": 4}, '{"":4,"Z":1,"a":2,"é":3}'),
        ("e\u0301", '"é"'),
        ({"e\u0301": 1, "f": 2}, '{"f":2,"é":1}'),  # sorted as spelled, that is after normal form C
        ('a"b\\c\n\t\x00\x1f\x7f\u2028/', '"a\\"b\\\\c\\n\\t\\u0000\\u001f\x7f\u2028/"'),
        (-(10**30), "-1000000000000000000000000000000"),
        ((), "[]"),
        ("\n\U0001d165", '"\\n\U0001d165"'),  # combines with nothing
    ],
    ids=["sorted", "astral", "empty-key", "nfc", "nfc-key", "escapes", "large", "tuple", "lone-mark"],
)
def test_a_value_has_one_spelling(value, text):
    assert canonical(value) == text.encode()


@each_row(
    "value",
    [
        1.0,
        {"a": [0.5]},
        float("nan"),
        float("inf"),
        "\ud800",
        {"\udfff": 1},
        {1: 2},
        {"é": 1, "e\u0301": 2},
        b"bytes",
        {"a": {1, 2}},
        datetime(2026, 1, 1, tzinfo=UTC),
        10**5000,
        "a\n\u0303",  # would become the letter ñ behind a backslash, which is not JSON
        "\x1e\u0301",
        TOO_DEEP,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_spelling_is_refused(value):
    with pytest.raises(InvalidRecord):
        canonical(value)


@given(st.from_type(Record))
def test_canonical_bytes_read_and_written_again_are_the_same(record):
    data = record.to_bytes()
    assert canonical(decode(data)) == data
    assert json.loads(data) == record.to_json()


@given(st.from_type(Record))
def test_a_frozen_value_cannot_be_changed_and_is_what_it_was(record):
    plain = record.to_json()
    frozen = freeze(plain)
    assert isinstance(frozen, Mapping)
    assert thaw(frozen) == plain
    assert encode(frozen) == record.to_bytes()
    with pytest.raises(TypeError):
        frozen["body"] = "another"  # type: ignore[index]


@each_row("data", [b'{"a":1.0}', b'{"a":NaN}', b"\xff", b"{", b"", b"[" * 100_000, b"9" * 5000])
def test_bytes_that_are_no_canonical_json_are_refused(data):
    with pytest.raises(InvalidRecord) as caught:
        decode(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC), "2026-01-02T03:04:05.999Z"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:04:05.000Z"),
        (datetime(999, 1, 1, tzinfo=UTC), "0999-01-01T00:00:00.000Z"),
    ],
)
def test_a_moment_is_utc_cut_to_milliseconds(moment, text):
    assert format_moment(moment) == text
    assert parse_moment(text) == cut_moment(moment)


@each_row(
    "text",
    [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.00Z",
        "2026-01-02T03:04:05.000000Z",
        "2026-01-02T03:04:05.000+00:00",
        "2026-01-02t03:04:05.000z",
        "2026-01-02 03:04:05.000Z",
        "2026-01-02T03:04:05,000Z",
        "2026-02-30T03:04:05.000Z",
        "2026-01-02T24:00:00.000Z",
        "2026-01-02T03:04:60.000Z",
        "20260102T030405.000000Z0",
        "2026-W01-2T03:04:05.000Z",
        "٢٠٢٦-01-02T03:04:05.000Z",
        "",
    ],
)
def test_another_spelling_of_a_moment_is_refused(text):
    with pytest.raises(InvalidRecord):
        parse_moment(text)


def test_a_moment_without_a_zone_or_a_year_is_refused():
    with pytest.raises(InvalidRecord, match="no time zone"):
        cut_moment(datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None))
    with pytest.raises(InvalidRecord, match="years"):
        cut_moment(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))))
