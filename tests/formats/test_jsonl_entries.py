import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings

from agent_memory_protocol.errors import RefusedText
from agent_memory_protocol.formats import jsonl_entries
from agent_memory_protocol.formats.entry import BadEntry, MemoryEntry, Problem, named, original_id
from agent_memory_protocol.formats.jsonl_file import MemoryFile

from .conftest import ENTRIES


def carried(entry: MemoryEntry) -> MemoryEntry:
    for loss in jsonl_entries.LOSSES:
        entry = loss.without(entry) if loss.found(entry) else entry
    return entry


def read(path: Path) -> list[MemoryEntry | Problem]:
    return list(jsonl_entries.read(str(path)))


@pytest.mark.requirement("S3-23")
@settings(max_examples=min(settings().max_examples, 60))
@given(ENTRIES)
def test_an_entry_comes_back_as_the_format_carries_it(tmp_path_factory, entry):
    path = tmp_path_factory.mktemp("one") / "memory.jsonl"
    entry = carried(entry)
    try:
        line = jsonl_entries.encode(entry)
    except (RefusedText, BadEntry, ValueError):
        return  # a text that nobody would see, or a day that is over: an error, never a loss
    jsonl_entries.write(str(path), [line])
    found = read(path)
    expires = entry.extra.get("expires_at", "")
    assert found == [entry] or (expires and not found)


def test_every_field_finds_its_way_back(tmp_path):
    path = tmp_path / "memory.jsonl"
    file = MemoryFile.open(path)
    first = file.append("Use tabs.", kind="preference", source="agent", tags=["style"], confidence=0.4)
    file.append(
        "Tabs of four.", kind="lesson", scope="project:x", expires_at="2999-01-01", supersedes=first.id,
        now=datetime(2030, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    file.append("A fact.", kind="fact")
    entries = [one for one in read(path) if isinstance(one, MemoryEntry)]
    lesson, fact = entries
    assert (lesson.text, fact.text) == ("Tabs of four.", "A fact.")
    assert dict(fact.extra) == {"id": original_id(fact)}
    assert dict(lesson.extra) == {
        "id": original_id(lesson),
        "kind": "lesson",
        "scope": "project:x",
        "expires_at": "2999-01-01",
        "supersedes": first.id,
    }
    copy = tmp_path / "copy.jsonl"
    jsonl_entries.write(str(copy), map(jsonl_entries.encode, entries))
    assert MemoryFile.open(copy).view().entries == file.view().entries


def test_what_no_longer_holds_stays_behind(tmp_path):
    file = MemoryFile.open(tmp_path / "memory.jsonl")
    gone = file.append("Deleted.", kind="fact")
    file.delete(gone.id)
    file.append("Expired.", kind="fact", expires_at="2020-01-01")
    file.append("Holds.", kind="fact")
    assert [one.text for one in read(tmp_path / "memory.jsonl") if isinstance(one, MemoryEntry)] == ["Holds."]


def test_a_line_that_is_none_is_named_and_costs_no_other(tmp_path):
    path = tmp_path / "memory.jsonl"
    MemoryFile.open(path).append("Holds.", kind="fact")
    path.write_bytes(path.read_bytes() + b'{"nonsense": 1}\n')
    problem, entry = read(path)
    assert isinstance(problem, Problem)
    assert problem.place == "line 3"
    assert isinstance(entry, MemoryEntry)


def test_a_moment_before_1970_is_a_problem_of_its_entry(tmp_path):
    path = tmp_path / "memory.jsonl"
    path.write_text(
        '{"format":"agent-memory/0.1"}\n'
        + json.dumps({"id": "old", "kind": "fact", "text": "x", "created_at": "1969-07-20T20:17:40Z"})
        + "\n"
    )
    assert read(path) == [Problem("entry 'old'", "1969-07-20 is before 1970, where timestamp_ms begins")]


@pytest.mark.parametrize("text", ["", " ", "a\u200bb"])
def test_a_text_that_the_format_forbids_is_refused(text):
    with pytest.raises(RefusedText):
        jsonl_entries.encode(MemoryEntry(named("a")[0], 1, text))


def test_line_breaks_become_blanks_and_that_is_said():
    entry = MemoryEntry(named("a")[0], 1, "one\ntwo\tthree")
    found = [loss.what for loss in jsonl_entries.LOSSES if loss.found(entry)]
    assert found == ["line breaks and tabs in a text"]
    assert carried(entry).text == "one two three"
