"""What happens again is another event: at every door that writes records, in every store. Three of them make a rule."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Actor, Memory, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.mcp.tier_tools import find
from agent_memory_protocol.mcp.tool import Door
from tests.each_row import each_row

FAILED = "The nightly backup failed."
DAYS = ("2026-01-31", "2026-02-28", "2026-03-31T01:30:00Z")
Remember = Callable[..., None]


def by_command(store: str) -> Remember:
    def remember(text: str, **about: str) -> None:
        options = [part for name, value in about.items() for part in (f"--{name}", value)]
        done = CliRunner().invoke(amp, ["record", "remember", text, "--store", store, *options])
        if done.exit_code:
            raise InvalidArgument(f"{done.exception} {done.output}")

    return remember


def by_tool(store: str) -> Remember:
    def remember(text: str, **about: str) -> None:
        with Memory(store, consolidate_every=0) as records:
            door = Door(Workspace.open(Path(store).parent, environ={}), Actor(), records, keeps_records=True)
            tool = find(door, "remember")
            assert tool is not None
            tool.call(door, {"text": text, **about})

    return remember


def by_call(store: str) -> Remember:
    def remember(text: str, *, time: str | None = None, **about: str) -> None:
        with Memory(store, consolidate_every=0) as records:
            moment = None if time is None else datetime.fromisoformat(time)
            records.remember(text, time=moment and moment.replace(tzinfo=UTC), **about)

    return remember


DOORS = (by_command, by_tool, by_call)


def texts(store: str, **where: str) -> list[str]:
    with Memory(store, consolidate_every=0) as records:
        return [one.body for one in records.records(**where)]


def check_events(store: str, door: Callable[[str], Remember]) -> None:
    remember = door(store)
    for time in (*DAYS, DAYS[0]):
        remember(FAILED, type="episode", time=time)
    assert texts(store) == [FAILED] * 3, "the first was told twice"
    remember(FAILED, type="episode", time=DAYS[0], source="https://ci.example.org/7")
    assert texts(store, type="episode") == [FAILED] * 4, "another source tells of another one"
    done = CliRunner().invoke(amp, ["consolidate", "--apply", "--store", store])
    assert done.exit_code == 0, done.output
    assert texts(store, type="rule") == [f"Happened 4 times: {FAILED}"]
    assert texts(store, type="episode") == [FAILED] * 4
    assert CliRunner().invoke(amp, ["record", "verify", "--store", store]).exit_code == 0


@each_row("place, door", [*(("mem", door) for door in DOORS), ("all.sqlite", by_call)])
def test_events_repeat_and_make_a_rule_at_every_door(tmp_path, place, door):
    check_events(str(tmp_path / f"{door.__name__}-{place}"), door)


@pytest.mark.slow
def test_events_repeat_on_a_server_too(address):
    check_events(address, by_command)


@each_row(
    "about, words",
    [
        ({"type": "rule"}, "fact, episode, procedure"),
        ({"type": "event"}, "fact, episode, procedure"),
        ({"time": DAYS[0]}, "only an event has a time"),
        ({"type": "fact", "time": DAYS[0]}, "only an event has a time"),
    ],
)
def test_what_is_no_event_has_no_time_and_nobody_writes_a_rule(tmp_path, about, words):
    for door in DOORS:
        with pytest.raises(InvalidArgument) as refusal:
            door(str(tmp_path / "mem"))(FAILED, **about)
        assert words in str(refusal.value).replace("'", ""), door.__name__
    assert not (tmp_path / "mem").exists()


def test_what_replaces_a_procedure_or_an_event_is_one_too(tmp_path):
    with Memory(tmp_path / "mem", consolidate_every=0) as records:
        when = datetime(2026, 1, 31, tzinfo=UTC)
        for kind, time in (("procedure", None), ("episode", when), ("fact", None)):
            old = records.remember(f"A {kind} of the release.", type=kind, time=time).record_id
            new = records.newest(records.remember(f"The {kind} of it.", replaces=old).record_id)
            assert new is not None
            assert (new.type, new.occurred_at, new.supersedes) == (kind, time, old)
