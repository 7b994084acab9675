"""Stamps and expiry: read in every RFC 3339 spelling, written in one, never going backwards."""

import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.text.moments import (
    expired,
    expiry_text,
    instant,
    is_expiry,
    is_instant,
    new_stamp,
    of_clock,
    sort_key,
)
from tests.each_row import each_row

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
TOKYO = timezone(timedelta(hours=9))
LOS_ANGELES = timezone(timedelta(hours=-7))


@pytest.mark.requirement("S0-18")
@each_row(
    "text, moment",
    [
        ("2026-06-15T12:00:00Z", NOON),
        ("2026-06-15t12:00:00z", NOON),
        ("2026-06-15 12:00:00+00:00", NOON),
        ("2026-06-15T14:00:00+02:00", NOON),
        ("2026-06-15T12:00:00.25Z", NOON + timedelta(milliseconds=250)),
        ("2026-06-15T12:00:00.2500000009Z", NOON + timedelta(milliseconds=250)),
        ("2026-06-15T11:59:60Z", NOON - timedelta(seconds=1)),
    ],
)
def test_every_spelling_of_rfc_3339_is_read(text, moment):
    assert instant(text) == moment
    assert is_instant(text)


@pytest.mark.requirement("S0-18")
@each_row(
    "text",
    [
        "",
        "2026-06-15",
        "2026-06-15T12:00:00",
        "2026-06-15T12:00Z",
        "2026-W25-1T12:00:00Z",
        "20260615T120000Z",
        "2026-02-30T12:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-06-15T25:00:00Z",
        "2026-06-15T12:00:61Z",
        "٢٠٢٦-06-15T12:00:00Z",
        "0001-01-01T00:00:00+23:00",
        " 2026-06-15T12:00:00Z",
        "2026-06-15T12:00:00Z\n",
        20260615,
        None,
    ],
)
def test_what_is_no_stamp_is_none(text):
    assert not is_instant(text)


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_sort_keys_order_stamps_in_time(one, other):
    try:
        keys = [sort_key(moment.isoformat()) for moment in (one, other)]
        one, other = one.astimezone(UTC), other.astimezone(UTC)
    except OverflowError:
        return
    if all(keys):
        assert (keys[0] < keys[1]) == (one < other)


@pytest.mark.requirement("S0-18")
@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_a_new_stamp_is_never_before_the_latest(now, latest):
    stamp = new_stamp(now, latest.isoformat())
    assert len(stamp) == 20
    assert stamp.endswith("Z")
    written = instant(stamp)
    assert written is not None
    assert written >= min(latest, datetime.max.replace(microsecond=0, tzinfo=UTC))
    if now > latest:
        assert written <= now + timedelta(seconds=1) if now < datetime.max.replace(microsecond=0, tzinfo=UTC) else True


@pytest.mark.requirement("S0-16")
@each_row(
    "expires_at, now, over",
    [
        ("2026-06-15T12:00:00Z", NOON - timedelta(microseconds=1), False),
        ("2026-06-15T12:00:00Z", NOON, False),
        ("2026-06-15T12:00:00Z", NOON + timedelta(microseconds=1), True),
        ("2026-06-15T14:00:00+02:00", NOON, False),
        ("2026-06-15T14:00:00+02:00", NOON + timedelta(microseconds=1), True),
        ("2026-06-15", NOON, False),
        ("2026-06-15", datetime(2026, 6, 15, 23, 59, 59, tzinfo=TOKYO), False),
        ("2026-06-15", datetime(2026, 6, 16, 0, 0, 0, tzinfo=TOKYO), True),
        ("2026-06-15", datetime(2026, 6, 15, 16, 20, tzinfo=UTC).astimezone(TOKYO), True),
        ("2026-06-15", datetime(2026, 6, 16, 6, 20, tzinfo=UTC).astimezone(LOS_ANGELES), False),
        ("2099-01-01", NOON, False),
    ],
)
def test_a_stamp_is_over_after_its_moment_and_a_date_after_its_local_day(expires_at, now, over):
    assert is_expiry(expires_at)
    assert expired(expires_at, now) is over


def test_an_expiry_is_written_from_text_date_or_moment():
    assert expiry_text(None) is None
    assert expiry_text("2026-06-15") == "2026-06-15"
    assert expiry_text(date(2026, 6, 15)) == "2026-06-15"
    assert expiry_text(datetime(2026, 6, 15, 21, tzinfo=TOKYO)) == "2026-06-15T12:00:00Z"


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system has no time zone of a process")
@pytest.mark.parametrize("zone", ["UTC-14", "UTC", "UTC+12"])
def test_a_clock_may_say_anything_and_its_day_is_known_in_every_zone(zone, monkeypatch):
    with monkeypatch.context() as changed:
        changed.setenv("TZ", zone)
        time.tzset()
        years = [of_clock(seconds).astimezone().year for seconds in (-1e18, 86_400, 2**40, 1 << 63)]
    time.tzset()
    assert years == [1, 1970, 9999, 9999]
