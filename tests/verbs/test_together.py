"""Together: who finds a document locked has its entry written by who holds the lock, or writes it alone."""

import fcntl
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol import Actor, Tier, Workspace
from agent_memory_protocol.answers import About
from agent_memory_protocol.disk import waiting
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.disk.lock import hold
from agent_memory_protocol.errors import AgentMemoryError, StorageError
from agent_memory_protocol.project import local_state
from agent_memory_protocol.verbs.together import NewText, read_answer

PATH = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    Workspace.open(tmp_path, environ={}).remember("The first one.")
    return tmp_path


def journalled(project: Path) -> list[int]:
    """Return how many entries came with each write that the journal has."""
    journal = (project / ".scaffolding/.amp/journal/shared.jsonl").read_text().splitlines()
    return [len(line.get("adds", ())) for line in map(json.loads, journal) if "run" in line]


def all_at_once(project: Path, calls: list[Callable[[Workspace], Any]]) -> list[Any]:
    """Make each call in a thread and a workspace of its own, all of them while the document is locked."""
    answers: list[Any] = [None] * len(calls)

    def make(number: int) -> None:
        try:
            answers[number] = calls[number](Workspace.open(project, environ={}))
        except AgentMemoryError as error:
            answers[number] = error

    folder = project.joinpath(*waiting.FOLDER)
    with Root.open(str(project)) as root, hold(root, "shared"):
        threads = [threading.Thread(target=make, args=(number,)) for number in range(len(calls))]
        for thread in threads:
            thread.start()
        wanted = sum(not getattr(call, "alone", False) for call in calls)
        while not folder.exists() or sum(one.read_bytes().endswith(b"\n") for one in folder.iterdir()) < wanted:
            threading.Event().wait(0.002)
    for thread in threads:
        thread.join(20)
    assert os.listdir(folder) == []
    return answers


def saying(text: str, **how: Any) -> Callable[[Workspace], Any]:
    def call(workspace: Workspace) -> Any:
        return workspace.remember(text, **how)

    if {"replaces", "twice", "make_room"} & how.keys():
        call.alone = True  # type: ignore[attr-defined]
    return call


def unplaced(entry: Any) -> dict[str, object]:
    """Return what an entry is but for its lines: those come in any order."""
    return {**entry.to_json(), "line": 0, "last_line": 0}


def test_those_that_wait_are_written_in_one_step_and_each_is_told_what_it_would_be_told_alone(
    project, tmp_path_factory
):
    how: list[tuple[str, dict[str, Any]]] = [
        ("Builds run on Linux.", {}),
        ("Logs go to the attic.", {"section": "Logs", "dated": date(2026, 3, 1)}),
        ("push to main", {"under": "Never", "about": About(source="the team", tags=("git",), confidence=0.5)}),
        ("The freeze holds.", {"until": date(2031, 5, 1), "actor": Actor(agent="tester"), "tier": Tier.SHARED}),
        ("Tests take `make`:\n\n    make test", {"section": ("Tests", "How")}),
    ]
    answers = all_at_once(project, [saying(text, **named) for text, named in how])
    alone = tmp_path_factory.mktemp("alone")
    other = Workspace.open(alone, environ={})
    other.remember("The first one.")
    told = {text: other.remember(text, **named) for text, named in how}
    text = (project / PATH).read_text()
    for (said, _), answer in zip(how, answers, strict=True):
        expected = told[said]
        assert (answer.status, answer.notes) == ("added", expected.notes)
        assert unplaced(answer.entry) == unplaced(expected.entry)
        assert answer.entry.text in text
    assert sorted(text.split("\n")) == sorted((alone / PATH).read_text().split("\n"))
    here, there = (
        {one.id: unplaced(one) for one in Workspace.open(at, environ={}).entries()} for at in (project, alone)
    )
    assert here == there
    assert sum(journalled(project)) == 6
    assert max(journalled(project)) > 1


def test_what_cannot_be_written_with_the_others_is_refused_to_its_own_writer_only(project):
    (project / ".scaffolding/amp.toml").write_text("[limits]\nmax_bytes = 400\n")
    calls = [
        saying("Short one."),
        saying("x" * 380),
        saying("Short two."),
        saying("The first one."),
        saying("Short two."),
    ]
    short, long, *_ = answers = all_at_once(project, calls)
    assert short.status == "added"
    assert "400 are allowed" in str(long)
    assert sorted(one.status for one in answers[2:]) == ["added", "kept", "kept"]
    text = (project / PATH).read_text()
    assert [text.count(one) for one in ("Short one.", "Short two.", "The first one.", "xx")] == [1, 1, 1, 0]


def test_what_the_ledger_refuses_is_refused_to_its_own_writer_only(project):
    calls = [saying(f"Number {number}.") for number in range(4)]
    calls += [saying("Told by two.", about=About(source="a\tb")), saying("Sure.", about=About(confidence=7))]
    *others, told, sure = all_at_once(project, calls)
    assert [one.status for one in others] == ["added"] * 4
    assert ("line break or tab" in str(told), "from 0 to 1" in str(sure)) == (True, True)


def test_what_only_its_writer_may_decide_waits_for_the_lock(project):
    first = Workspace.open(project, environ={}).entries()[0].id
    calls = [saying("Another one."), saying("The second one.", replaces=first), saying("Last.", make_room=True)]
    answers = all_at_once(project, calls)
    assert [one.status for one in answers] == ["added"] * 3
    assert answers[1].replaced == first
    assert "The first one." not in (project / PATH).read_text()


@contextmanager
def request(project: Path, line: bytes, *, held: bool = True, number: int = 0x0123456789ABCDEF) -> Iterator[int]:
    folder = project.joinpath(*waiting.FOLDER)
    folder.mkdir(exist_ok=True)
    path = folder / f"shared.{number:016x}"
    path.write_bytes(line)
    fd = os.open(path, os.O_RDWR)
    if held:
        fcntl.flock(fd, fcntl.LOCK_EX)
    yield fd
    os.close(fd)


def line(text: str, **other: Any) -> bytes:
    return NewText(text, None, None, None, None, About(), date(2026, 1, 1), "").line.replace(
        b'"by": ""', json.dumps(other)[1:-1].encode() or b'"by": ""'
    )


NOT_WRITTEN = {
    "left by a process that was killed": (line("Forged fact."), False),
    "not written to its end": (line("Forged fact.")[:-1], True),
    "answered already": (line("Forged fact.") + b'["1", "added", []]\n', True),
    "no JSON": (b"Forged fact.\n", True),
    "another value": (b"[1]\n", True),
    "a number for a name": (line("Forged fact.", by=7), True),
    "a secret": (line("Forged fact. password = hunter2hunter2X9"), True),
    "a hidden character": (line("Forged fact.\u202e"), True),
    "over the limit": (line("Forged fact." * 9_000), True),
    "two lines for a heading": (line("Forged fact.", section="a\nb", by=""), True),
}


@pytest.mark.parametrize("name", NOT_WRITTEN)
def test_a_request_that_nobody_waits_for_or_that_may_not_be_written_is_not_granted(project, name):
    data, held = NOT_WRITTEN[name]
    with request(project, data, held=held) as fd:
        done = Workspace.open(project, environ={}).remember("The second one.")
        assert done.status == "added"
        assert os.pread(fd, 1 << 20, 0) == data
        assert os.listdir(project.joinpath(*waiting.FOLDER)) == (["shared.0123456789abcdef"] if held else [])
    assert "Forged" not in (project / PATH).read_text()


ODD: tuple[Any, ...] = (
    None,
    1,
    1.5,
    float("inf"),
    True,
    "x",
    "a\nb",
    "\ud800",
    "9" * 400,
    [],
    [1],
    [["a"]],
    ["\ud800"],
    {},
    {"a": [1]},
)


def test_whatever_a_request_holds_its_reader_writes_what_it_came_for(project):
    usual = json.loads(line("Asked for."))
    forged = [{**usual, name: one} for name in (*usual, "until", "other") for one in ODD]
    forged += [{**usual, "about": {**usual["about"], name: one}} for name in (*usual["about"], "other") for one in ODD]
    for start in range(0, len(forged), 60):
        with ExitStack() as waiting_ones:
            for number, one in enumerate(forged[start : start + 60]):
                data = json.dumps(one).encode() + b"\n"
                waiting_ones.enter_context(request(project, data, number=number))
            assert Workspace.open(project, environ={}).remember(f"What is said {start}.").status == "added"
            for path in project.joinpath(*waiting.FOLDER).iterdir():
                path.unlink()
    assert "Asked for." in (project / PATH).read_text()


def test_a_request_that_may_be_written_is_answered_when_it_is_on_the_disk(project):
    with request(project, line("Asked for.")) as fd:
        Workspace.open(project, environ={}).remember("The second one.")
        entry_id, status, notes = json.loads(os.pread(fd, 1 << 20, len(line("Asked for."))))
    assert (status, notes) == ("added", [])
    assert entry_id in [one.id for one in Workspace.open(project, environ={}).entries()]


def test_a_failed_write_answers_nobody(project, monkeypatch):
    from agent_memory_protocol.change import transaction

    def fails(*_: object, **__: object) -> None:
        raise StorageError("no room left")

    monkeypatch.setattr(transaction, "replace", fails)
    before = (project / PATH).read_bytes()
    with request(project, line("Asked for.")) as fd:
        with pytest.raises(StorageError):
            Workspace.open(project, environ={}).remember("The second one.")
        assert os.pread(fd, 1 << 20, 0) == line("Asked for.")
    assert (project / PATH).read_bytes() == before


@pytest.mark.parametrize(
    "answer", [b"not JSON", b"1", b"[1, 2, []]", b'["a", "added"]', b'["a", "added", 7]', b"[" * 9_999]
)
def test_an_answer_that_cannot_be_read_is_one_clear_line(answer):
    with pytest.raises(StorageError, match="run this again"):
        read_answer(answer + b"\n")


def test_the_first_writers_of_a_project_may_wait_before_it_has_local_state(tmp_path):
    (tmp_path / ".scaffolding").mkdir()
    answers = all_at_once(tmp_path, [saying(f"Number {number} of the first.") for number in range(4)])
    assert [one.status for one in answers] == ["added"] * 4
    assert sum(journalled(tmp_path)) == 4
    with Root.open(str(tmp_path)) as root:
        assert local_state.find(root).is_believed
    assert not (tmp_path / ".scaffolding/.amp/set-aside").exists()


def test_redacting_takes_away_what_a_killed_writer_asked_for(project):
    workspace = Workspace.open(project, environ={})
    said = workspace.remember("The door code is Heron.")
    with request(project, line("The door code is Heron."), held=False):
        workspace.redact([said.entry.id])
        left = [one for one in project.rglob("*") if one.is_file() and b"Heron" in one.read_bytes()]
    assert left == []
