import math
import struct
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, InvalidArgument
from agent_memory_protocol.formats import entry as entries
from agent_memory_protocol.formats.entry import (
    BadEntry,
    MemoryEntry,
    check,
    embedding_of,
    named,
    original_id,
    plain_float32,
    to_float32,
    to_milliseconds,
    to_moment,
)
from agent_memory_protocol.search.float32 import unpack
from tests.each_row import each_row

LARGEST = embedding_of([struct.unpack("<f", b"\xff\xff\x7f\x7f")[0], -struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]])


@pytest.mark.requirement("S3-01", "S3-10", "S3-14", "S3-15", "S3-16")
@each_row(
    "fields",
    [
        {},
        {"id": "no-uuid"},
        {"timestamp_ms": 0},
        {"timestamp_ms": 2**64 - 1},
        {"text": ""},
        {"text": "x" * 1_000_000},
        {"tags": ("",) * 1000},
        {"embedding": LARGEST},
        {"relevance": -1e300},
        {"extra": {str(number): "" for number in range(1000)}},
    ],
    ids=", ".join,
)
def test_an_entry_within_the_rules_is_taken_as_it_is(fields):
    made = MemoryEntry("a", 1, "x")._replace(**fields)
    assert check(made) is made


@each_row(
    "fields, reason",
    [
        ({"id": ""}, "it has no id"),
        ({"id": 7}, "id is not text"),
        ({"text": "\ud800"}, "text holds half of a surrogate pair"),
        ({"tags": ("a", 1)}, "a tag is not text"),
        ({"extra": {"a": 1}}, "a text in extra is not text"),
        ({"timestamp_ms": -1}, "timestamp_ms is not a number of milliseconds"),
        ({"timestamp_ms": 2**64}, "timestamp_ms is not a number of milliseconds"),
        ({"timestamp_ms": 1.5}, "timestamp_ms is not a number of milliseconds"),
        ({"timestamp_ms": True}, "timestamp_ms is not a number of milliseconds"),
        ({"embedding": b"abc"}, "its embedding has 3 bytes, which is not a whole number of float32"),
        ({"embedding": struct.pack("<ff", 1, math.nan)}, "holds a number that is not finite"),
        ({"embedding": struct.pack("<ff", -math.inf, 1)}, "holds a number that is not finite"),
        ({"relevance": math.nan}, "relevance is not a finite number"),
        ({"tags": ("x",) * 1001}, "it has 1,001 tags, 1,000 are allowed"),
        ({"extra": {str(number): "" for number in range(1001)}}, "it has 1,001 pairs in extra"),
        ({"text": "x" * (1 << 20)}, "it has 1,048,577 bytes, 1,048,576 are allowed"),
    ],
)
def test_an_entry_that_breaks_a_rule_is_refused_with_the_reason(fields, reason):
    with pytest.raises(BadEntry) as caught:
        check(MemoryEntry("a", 1, "x")._replace(**fields))
    assert reason in str(caught.value)
    assert isinstance(caught.value, InvalidArgument)


def test_every_reason_is_told():
    with pytest.raises(BadEntry) as caught:
        check(MemoryEntry("", -1, "x", embedding=b"abc"))
    assert str(caught.value).count(";") == 2


@pytest.mark.requirement("S3-16")
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_numbers_come_back_from_an_embedding(numbers):
    data = embedding_of(numbers)
    assert data == struct.pack(f"<{len(numbers)}f", *numbers)
    assert list(unpack(data)) == numbers


@pytest.mark.parametrize("number", [math.nan, math.inf, 1e39])
def test_what_float32_cannot_hold_makes_no_embedding(number):
    with pytest.raises(AgentMemoryError):
        embedding_of([number])


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_plain_decimal_of_a_float32_means_that_float32(number):
    assert to_float32(plain_float32(number)) == number


def test_a_float32_is_written_as_people_write_it():
    assert plain_float32(to_float32(0.8)) == 0.8
    assert plain_float32(to_float32(1e39)) == pytest.approx(3.4028235e38)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_id_that_is_no_uuid_gets_one_and_is_found_again(identifier):
    key, extra = named(identifier, {"a": "b"})
    assert entries.is_uuid(key)
    assert named(identifier)[0] == key
    assert original_id(MemoryEntry(key, 0, "", extra=extra)) == identifier
    assert extra["a"] == "b"


def test_a_uuid_stays_as_it_is_and_a_pair_called_id_means_nothing_else():
    key = "0f8fad5b-d9cb-469f-a165-70867728950e"
    assert named(key) == (key, {})
    assert original_id(MemoryEntry(key, 0, "", extra={"id": "something"})) == key


@given(st.datetimes(datetime(1970, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - the strategy adds the zone
def test_a_moment_comes_back_to_the_millisecond(moment):
    assert to_moment(to_milliseconds(moment)) == moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def test_a_moment_before_1970_is_refused_and_one_after_9999_is_its_last():
    with pytest.raises(BadEntry, match="before 1970"):
        to_milliseconds(datetime(1969, 12, 31, tzinfo=UTC))
    assert to_moment(2**64 - 1).year == 9999
