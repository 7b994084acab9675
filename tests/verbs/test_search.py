"""Entries and notes are found by their words, as they are now, by those who may read them."""

import json
import os
import random
import shutil
import subprocess
import sysconfig
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.errors import MissingExtra
from agent_memory_protocol.search.embedding import HashEmbedder
from agent_memory_protocol.text import labels

SHARED = ".scaffolding/agent-memory/shared"


def found(workspace, query, actor=None, **more):
    return [(str(one.target), one.kind, one.text) for one in workspace.search(query, actor, **more)]


QUERIES = [
    pytest.param("redis queue", "- Redis loses its queue on restart without AOF.", id="words"),
    pytest.param("resdis", "- Redis loses its queue on restart without AOF.", id="one-wrong-letter"),
    pytest.param("max_retry_count", "- `maxRetryCount` is read once.", id="snake-case-finds-camel-case"),
    pytest.param("retry", "- `maxRetryCount` is read once.", id="part-of-a-code-word"),
    pytest.param("src/parser/tables.py", "- The file src/parser/tables.py holds the grammar.", id="a-path"),
    pytest.param("cafe", "- The café menu is cached.", id="accents"),
    pytest.param("数据库", "- 测试数据库在每次运行前重建。", id="Chinese"),
    pytest.param("restarting", "- Redis loses its queue on restart without AOF.", id="another-ending"),
    pytest.param("Infrastructure", "- Redis loses its queue on restart without AOF.", id="the-heading-above"),
]


@pytest.fixture
def filled(workspace):
    workspace.remember("Redis loses its queue on restart without AOF.", section="Infrastructure")
    workspace.remember("`maxRetryCount` is read once.", section="Code")
    workspace.remember("The file src/parser/tables.py holds the grammar.", section="Parsing")
    workspace.remember("The café menu is cached.", section="Web")
    workspace.remember("测试数据库在每次运行前重建。", section="测试")
    workspace.remember("Use four spaces.", agent="developer")
    return workspace


@pytest.mark.slow
@pytest.mark.parametrize(("query", "text"), QUERIES)
def test_an_entry_is_found_first(filled, query, text):
    assert filled.search(query)[0].text == text


@pytest.mark.slow
@pytest.mark.parametrize("query", ["", " ", "the", "zebra", '"', "NEAR(", "*", "a:b", "-x OR", "\0", "\ud800"])
def test_what_is_no_word_of_it_finds_nothing_and_is_no_syntax(filled, query):
    assert [one.text for one in filled.search(query) if "zebra" in one.text] == []


@pytest.mark.slow
def test_what_another_agent_keeps_changes_no_answer_at_any_door(workspace):
    workspace.remember("A work tree is removed after the merge.")
    workspace.remember("The database has no time out.")
    queries = ("worktree", "databse", "athentcation", "timeout", "worktrees")
    line = ["search", "--json", "--as", "tester", "--root", str(workspace.path)]

    def answers() -> list[list[object]]:
        said = [json.loads(CliRunner().invoke(amp, [*line, query]).stdout) for query in queries]
        told = [[(hit["id"], hit["reasons"]) for hit in one["hits"]] for one in said]
        asked = [[(one.id, one.meant) for one in workspace.search(query, Actor("tester"))] for query in queries]
        return [[*told], [one["corrections"] for one in said], [*asked]]

    alone = answers()
    workspace.remember("The worktree, worktrees, databse, authentication and timeoutx of others.", agent="developer")
    assert found(workspace, "athentcation")
    assert answers() == alone
    assert [bool(hits) for hits in alone[2]] == [True, True, False, True, True]


@settings(max_examples=min(settings().max_examples, 50))
@given(st.text(max_size=60))
def test_any_text_is_a_query(tmp_path_factory, text):
    folder = tmp_path_factory.getbasetemp() / "any-query"
    here = Workspace.open(folder, environ={"HOME": str(folder)})
    if not folder.exists():
        here.remember("Redis loses its queue.")
    here.search(text)


def test_each_hit_says_where_it_stands_and_why_it_matched(filled, tmp_path):
    (hit, *_) = filled.search("redis")
    lines = (tmp_path / SHARED / "KNOWLEDGE.md").read_text().splitlines()
    assert lines[hit.line - 1] == hit.text
    assert hit.reasons == ("words: redis",)


def test_a_note_is_found_by_what_it_says(workspace):
    workspace.new_note("feedback", "flaky", description="Rerun a flaky test", why="CI is slow.", how="Run it alone.")
    assert [(one.kind, one.id) for one in workspace.search("slow CI")] == [("note", "feedback_flaky.md")]


@pytest.mark.parametrize("label", ["Never:", "**Nie wieder**", "[Forbidden](rules.md):"], ids=["plain", "bold", "link"])
def test_what_a_note_says_under_a_label_is_shown_with_it(workspace, label):
    body = f"The cache.\n\n{label}\n\n- flush the quokka\n"
    workspace.new_note("project", "cache", description="Caches", why="It broke.", how="Mind it.", body=body)
    (hit,) = workspace.search("quokka", context=1)
    assert hit.passage == f"{labels.plain(label)}: flush the quokka"
    assert label in [line for _, line in hit.lines]


def test_only_what_the_actor_may_read_is_found(filled):
    filled.remember("The four rules of c1.", conversation="c1")
    assert {one[0] for one in found(filled, "four")} == {"agent:developer", "conversation:c1"}
    assert found(filled, "four", Actor("operator")) == []
    assert {one[0] for one in found(filled, "four", Actor("developer"))} == {"agent:developer"}
    assert {one[0] for one in found(filled, "four", Actor("developer", "c1"))} == {"agent:developer", "conversation:c1"}


def replace(file: Path) -> None:
    info = file.stat()
    new = file.with_suffix(".new")
    new.write_text(file.read_text().replace("Redis", "Kafka"))
    os.utime(new, ns=(info.st_atime_ns, info.st_mtime_ns))
    os.replace(new, file)


CHANGES = [
    pytest.param(lambda file: file.write_text(file.read_text().replace("Redis", "Kafka")), id="written-over"),
    pytest.param(lambda file: file.unlink(), id="deleted"),
    pytest.param(replace, id="replaced-with-the-same-size-and-times"),
]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_no_hit_is_stale(filled, tmp_path, change):
    assert len(filled.search("redis")) == 1
    change(tmp_path / SHARED / "KNOWLEDGE.md")
    assert [one for one in filled.search("redis") if "Redis" in one.text] == []
    assert bool(filled.search("kafka")) is (tmp_path / SHARED / "KNOWLEDGE.md").exists()


@pytest.mark.slow
def test_a_change_in_the_same_moment_is_seen(workspace, tmp_path):
    file = tmp_path / SHARED / "KNOWLEDGE.md"
    file.parent.mkdir(parents=True)
    for number in range(20):
        file.write_text(f"# S\n\n- word{number:03d} here\n")
        assert len(workspace.search(f"word{number:03d}")) == 1
        assert workspace.search(f"word{number - 1:03d}") == [] or number == 0


def test_a_broken_index_and_none_at_all_change_no_answer(filled, tmp_path):
    before = found(filled, "redis queue")
    index = next((tmp_path / ".scaffolding/.amp").rglob("entries.sqlite"))
    index.write_bytes(b"not a database" * 100)
    assert found(filled, "redis queue") == before
    shutil.rmtree(tmp_path / ".scaffolding/.amp")
    assert found(filled, "redis queue") == before


def test_a_file_that_cannot_be_read_is_told_to_those_who_may_read_it(filled, tmp_path):
    (tmp_path / ".scaffolding/agent-memory/agents/developer/MEMORY.md").write_bytes(b"\xff\xfe")
    told: list[str] = []
    assert len(filled.search("redis", on_problem=told.append)) == 1
    assert len(told) == 1
    told.clear()
    shutil.rmtree(tmp_path / ".scaffolding/.amp")
    filled.search("redis", Actor("operator"), on_problem=told.append)
    assert told == []


def test_a_file_that_cannot_be_read_is_told_every_time_whoever_asked_before(filled, tmp_path):
    file = tmp_path / ".scaffolding/agent-memory/agents/developer/MEMORY.md"
    text = file.read_bytes()
    file.write_bytes(b"\xff\xfe")
    os.utime(file, (0, 0))
    filled.search("redis", Actor("operator"))
    for _ in range(2):
        told: list[str] = []
        filled.search("redis", on_problem=told.append)
        assert len(told) == 1
    file.unlink()
    file.mkdir()
    for _ in range(2):
        told = []
        filled.search("redis", on_problem=told.append)
        assert len(told) == 1
    file.rmdir()
    file.write_bytes(text)
    assert found(filled, "spaces") == [("agent:developer", "entry", "- Use four spaces.")]


def test_any_number_may_be_the_limit(filled):
    assert len(filled.search("redis", limit=10**30)) == 1


@pytest.mark.slow
def test_of_ten_thousand_planted_facts_almost_all_are_among_the_first_ten(tmp_path, sized):
    chance = random.Random(5)
    words = ["".join(chance.choice("bcdfgklmnprst") + chance.choice("aeiou") for _ in range(3)) for _ in range(3_000)]
    facts = [chance.sample(words, 9) for _ in range(10_000)]
    for number in range(100):
        file = tmp_path / f".scaffolding/agent-memory/agents/a{number}/MEMORY.md"
        file.parent.mkdir(parents=True)
        lines = "".join(f"- {' '.join(fact)}\n" for fact in facts[number * 100 : number * 100 + 100])
        file.write_text(f"# Memory\n\n{lines}")
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    hits, tries = 0, sized(150, 150, 1_000)
    for fact in chance.sample(facts, tries):
        asked = chance.sample(fact, 3)
        hits += f"- {' '.join(fact)}" in [one.text for one in workspace.search(" ".join(asked))]
    assert hits >= 0.98 * tries


@pytest.mark.slow
def test_the_command_gives_entries_notes_and_records_each_with_the_command_that_shows_it(tmp_path):
    program = Path(sysconfig.get_path("scripts"), "amp")
    environ = {**os.environ, "HOME": str(tmp_path), "AMP_ROOT": str(tmp_path)}

    def run(*args: str) -> str:
        return subprocess.run([program, *args], env=environ, capture_output=True, text=True, check=True).stdout

    run("init")
    run("remember", "Staging runs Postgres.", "--agent", "developer")
    run("note", "new", "project", "staging", "--description", "Staging is rebuilt", "--why", "Drift.", "--how", "Wait.")
    out = run("search", "staging")
    (entry,) = json.loads(run("list", "--json"))["entries"]
    assert f"agents/developer/MEMORY.md:4  {entry['id']}  Developer Memory\n    - Staging runs Postgres.\n" in out
    assert f"`amp show {entry['id']}`" in out
    assert "`amp note show project_staging --tier shared`" in out
    hits = json.loads(run("search", "staging", "--json"))["hits"]
    assert sorted(one["kind"] for one in hits) == ["entry", "note"]
    for line in out.splitlines():
        if "`amp" in line:
            assert run(*line.split("`")[1].split()[1:])


def test_looking_changes_no_file_of_the_memory(filled, tmp_path):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    filled.search("redis")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == before


@pytest.mark.slow
def test_with_an_embedder_what_has_no_word_of_the_query_is_found_by_likeness(filled):
    hits = filled.search("queues restarted", embedder=HashEmbedder())
    assert hits[0].text == "- Redis loses its queue on restart without AOF."
    assert any("similar" in reason for hit in hits for reason in hit.reasons)
    assert not any("similar" in reason for hit in filled.search("queues restarted") for reason in hit.reasons)


def test_without_the_model_the_command_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.search.minilm.find_spec", lambda _: None)
    done = CliRunner().invoke(amp, ["search", "x", "--vectors", "--root", str(tmp_path)])
    assert isinstance(done.exception, MissingExtra)
    assert "agent-memory-protocol[vectors]" in str(done.exception)


# -- what has left -----------------------------------------------------------------------------------------------------


def archived(workspace, query, actor=None, **more):
    return [(one.id, str(one.target), one.text, one.reasons) for one in workspace.search_archived(query, actor, **more)]


def test_what_has_left_is_found_with_the_reason_it_left_for(filled):
    old = next(entry for entry in filled.entries() if "Redis" in entry.text)
    assert archived(filled, "redis queue") == []
    filled.forget([old.id], reason="fixed in 7.2")
    assert archived(filled, "reddis queue") == [
        (old.id, "shared", old.text, ("words: redis (for reddis), queue", "fixed in 7.2"))
    ]
    assert [one.id for one in filled.search_archived("Infrastructure")] == [old.id]
    assert archived(filled, "grammar") == []
    filled.restore(filled.restorable([old.id]))
    assert archived(filled, "redis queue") == []


def test_what_has_left_is_found_only_by_those_who_may_read_where_it_stood(filled):
    (own,) = [entry.id for entry in filled.entries() if "four spaces" in entry.text]
    filled.forget([own])
    for agent, ids in ((None, [own]), ("developer", [own]), ("architect", [own]), ("tester", [])):
        assert [one.id for one in filled.search_archived("four spaces", Actor(agent))] == ids


def test_what_is_redacted_is_found_nowhere(filled):
    old = next(entry.id for entry in filled.entries() if "Redis" in entry.text)
    filled.forget([old])
    filled.redact([old])
    assert archived(filled, "redis queue") == []


def test_a_ledger_that_cannot_be_read_hides_no_other(filled, tmp_path):
    ids = [entry.id for entry in filled.entries() if "Redis" in entry.text or "four" in entry.text]
    filled.forget(ids)
    (tmp_path / SHARED / "ledger.jsonl").write_text('{"format":"other/9"}\n')
    problems: list[str] = []
    assert [one.text for one in filled.search_archived("four spaces", on_problem=problems.append)] == [
        "- Use four spaces."
    ]
    assert len(problems) == 1


@pytest.mark.slow
def test_the_command_looks_at_what_has_left_when_asked(filled, monkeypatch, tmp_path):
    monkeypatch.setenv("AMP_ROOT", str(tmp_path))
    old = next(entry.id for entry in filled.entries() if "Redis" in entry.text)
    filled.forget([old], reason="fixed in 7.2")
    filled.remember("Redis has a queue for mails.")
    told = CliRunner().invoke(amp, ["search", "redis queue"]).output
    assert old not in told
    told = CliRunner().invoke(amp, ["search", "redis queue", "--history"]).output
    assert f"{SHARED}/ledger.jsonl  {old}  left shared on " in told
    assert "\n    - Redis loses its queue on restart without AOF.\n" in told
    assert f"    words: redis, queue; fixed in 7.2; `amp restore {old}`\n" in told
    hits = json.loads(CliRunner().invoke(amp, ["search", "redis queue", "--history", "--json"]).output)["hits"]
    assert [one["kind"] for one in hits] == ["entry", "archived"]


@pytest.mark.parametrize("file", ["KNOWLEDGE.md", "INDEX.md"])
def test_a_note_is_found_by_the_index_line_that_a_person_wrote_and_given_once(workspace, tmp_path, file):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    (folder / "user_tea.md").write_text("---\nname: user_tea\n---\n\nFirst.\n\nThe kettle whistles.\n")
    (folder / file).write_text(
        "# M\n\n- [Tea](user_tea.md) - the whistling samovar\n- [Gone](user_gone.md) - a zeppelin\n"
    )
    workspace.index()
    (hit,) = workspace.search("samovar")
    assert (hit.id, hit.to_json()["path"], hit.line) == ("user_tea.md", f"{SHARED}/user_tea.md", 1)
    (hit,) = workspace.search("whistling")
    assert (hit.to_json()["path"], hit.line) == (f"{SHARED}/user_tea.md", 7)
    (hit,) = workspace.search("zeppelin")
    assert (hit.to_json()["path"], hit.line) == (f"{SHARED}/{file}", 4)


def test_a_day_that_is_named_from_today_finds_what_is_dated_so(workspace):
    today = date(2026, 3, 8)
    for day in ("2025-03-20", "2026-02-03", "2026-03-07"):
        workspace.remember(f"The queue of {day[5:7]} moved.", dated=date.fromisoformat(day), today=today)
    for query, day in {"last March": "2025-03-20", "a month ago": "2026-02-03", "yesterday": "2026-03-07"}.items():
        first = workspace.search(f"what moved {query}?", today=today, limit=1)[0]
        assert f"queue of {day[5:7]}" in first.text, query
