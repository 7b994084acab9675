import json
from pathlib import Path

import pytest

from agent_memory_protocol.formats import graph
from agent_memory_protocol.formats.entry import MemoryEntry, Problem


def read(path: Path, *lines: object) -> list[MemoryEntry | Problem]:
    path.write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8"
    )
    return list(graph.read(str(path)))


def said(found: list[MemoryEntry | Problem]) -> list[tuple[str, tuple[str, ...]]]:
    assert not [one for one in found if isinstance(one, Problem)]
    return [(one.text, one.tags) for one in found if isinstance(one, MemoryEntry)]


ENTITY = {"type": "entity", "name": "Redis", "entityType": "service", "observations": ["needs AOF", "runs on 6379"]}
RELATION = {"type": "relation", "from": "Worker", "to": "Redis", "relationType": "depends_on"}
BOTH = [
    ("Redis: needs AOF", ("service",)),
    ("Redis: runs on 6379", ("service",)),
    ("Worker depends_on Redis", ("relation",)),
]


@pytest.mark.parametrize(
    "lines",
    [
        [ENTITY, RELATION],
        [{"entities": [ENTITY], "relations": [RELATION]}],
        [
            {key: value for key, value in ENTITY.items() if key != "type"},
            {key: value for key, value in RELATION.items() if key != "type"},
        ],
    ],
    ids=["lines", "whole", "without types"],
)
def test_observations_and_relations_become_entries(tmp_path, lines):
    assert said(read(tmp_path / "memory.jsonl", *lines)) == BOTH


def test_the_time_and_source_of_an_observation_are_kept(tmp_path):
    dated = {"name": "A", "entityType": "x", "observations": [{"text": "b", "timestamp": "2025-05-11T15:54:05.242Z"}]}
    flat = {"entityName": "A", "entityType": "x", "observation": "c", "updatedAt": "2026-04-17", "source": "sync"}
    first, second = read(tmp_path / "memory.jsonl", dated, flat)
    assert isinstance(first, MemoryEntry)
    assert isinstance(second, MemoryEntry)
    assert (first.text, first.timestamp_ms) == ("A: b", 1_746_978_845_242)
    assert (second.text, second.timestamp_ms, second.source) == ("A: c", 1_776_384_000_000, "sync")


def test_the_same_observation_has_the_same_id(tmp_path):
    one, other = (read(tmp_path / name, ENTITY) for name in ("a", "b"))
    assert one == other
    assert len({entry.id for entry in one if isinstance(entry, MemoryEntry)}) == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"id": 1, "pattern": "x"}, "is neither entity nor relation; it has id, pattern"),
        ("nonsense", "is not JSON"),
        ([1], "is neither entity nor relation; it has list"),
        ({"name": "A", "observations": [1]}, "an observation is not text"),
        ({"name": "A", "observations": []}, "nothing is known about"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_not_understood_is_named_and_costs_no_other(tmp_path, line, reason):
    found = read(tmp_path / "memory.jsonl", ENTITY, line, RELATION)
    problems = [one for one in found if isinstance(one, Problem)]
    assert [one.place for one in problems] == ["line 2"]
    assert reason in problems[0].reason
    assert len(found) == 4


@pytest.mark.parametrize("key", ["name", "entityType", "observations", "from", "to", "relationType"])
def test_half_a_surrogate_pair_anywhere_is_named_and_the_rest_comes_in(tmp_path, key):
    bad = [
        {**one, key: ["a \ud800"] if key == "observations" else "a \ud800"} for one in (ENTITY, RELATION) if key in one
    ]
    found = read(tmp_path / "memory.jsonl", *bad, RELATION)
    assert all("half of a surrogate pair" in one.reason for one in found[:-1] if isinstance(one, Problem))
    assert [isinstance(one, Problem) for one in found] == [True] * (len(found) - 1) + [False]
    assert len(found) > 1
