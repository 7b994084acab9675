"""Uses of records are counted beside the records, with what the published reference has counted."""

import json
from datetime import UTC, datetime, timedelta

from agent_memory_protocol.records.usage import Usage, Uses, read_counts
from tests.each_row import each_row

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_uses_are_counted_by_several_at_once(tmp_path):
    one, other = Usage(str(tmp_path / "usage.sqlite")), Usage(str(tmp_path / "usage.sqlite"))
    one.count(["mem:a", "mem:b"], NOW)
    other.count(["mem:a"], NOW + timedelta(days=1))
    one.count(["mem:a"], NOW)
    expected = {"mem:a": Uses(3, NOW + timedelta(days=1)), "mem:b": Uses(1, NOW)}
    assert one.of() == other.of() == expected
    assert one.of(["mem:a", "mem:c"]) == {"mem:a": expected["mem:a"]}
    one.forget("mem:a")
    assert other.of() == {"mem:b": Uses(1, NOW)}


def test_what_the_reference_has_counted_is_added():
    name = "mem:" + "a" * 32
    counted = {"scores": {name: {"touches": 2, "last_touched": "2026-11-15T12:00:00.000Z"}}}
    usage = Usage(others=read_counts(json.dumps(counted).encode()))
    assert usage.of([name]) == usage.of() == {name: Uses(2, NOW)}
    usage.count([name], NOW + timedelta(days=1))
    assert usage.of([name]) == usage.of() == {name: Uses(3, NOW + timedelta(days=1))}


@each_row(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"scores": 1}',
        b'{"scores": {"x": {"touches": 1, "last_touched": "2026-11-15T12:00:00.000Z"}}}',
        b'{"scores": {"mem:%s": {"touches": "1"}}}' % (b"a" * 32),
        b'{"scores": {"mem:%s": {"touches": 1, "last_touched": "yesterday"}}}' % (b"a" * 32),
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_what_is_no_count_counts_nothing(data):
    assert read_counts(data) == {}
