import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Actor, Memory, Tier, Workspace
from agent_memory_protocol.consolidation.decay import Rates
from agent_memory_protocol.errors import (
    AccessDenied,
    BadSignature,
    DamagedFile,
    IllegalMove,
    Refused,
    SecretFound,
)
from agent_memory_protocol.exchange import export
from agent_memory_protocol.exchange.convert import Conversion, convert
from agent_memory_protocol.exchange.foreign import reader_of
from agent_memory_protocol.exchange.import_ import DOCUMENT_LOSSES, Import, IntoDocument, import_file, into_records
from agent_memory_protocol.formats import markdown, record_entries
from agent_memory_protocol.formats.entry import MemoryEntry, embedding_of
from agent_memory_protocol.formats.jsonl_file import MemoryFile
from agent_memory_protocol.formats.loss import OVER
from agent_memory_protocol.formats.rows import Columns
from agent_memory_protocol.formats.table import by_name, by_suffix, detect
from agent_memory_protocol.layout import Target
from agent_memory_protocol.records.lifecycle import archive, is_legal
from agent_memory_protocol.records.proof import check_history
from agent_memory_protocol.records.record import LIVE, Provenance, Record, RecordType, State, by_birth, new_record
from agent_memory_protocol.records.signing import Identity, sign_record, verify_record
from agent_memory_protocol.records.sqlite_store import MemoryStore
from agent_memory_protocol.search.embedding import HashEmbedder
from tests.each_row import each_row

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
REDIS = {
    "id": "r",
    "timestamp_ms": 1_767_225_600_000,
    "text": "Redis needs AOF on.",
    "tags": ["Infra"],
    "embedding": "",
}
TABS = {"id": "t", "timestamp_ms": 0, "text": "Use tabs.", "source": "style.md", "embedding": ""}


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "memory") as made:
        yield made


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path / "project", environ={"HOME": str(tmp_path / "home")})


def lines(path: Path, *values: object) -> Path:
    text = "".join(f"{value if isinstance(value, str) else json.dumps(value)}\n" for value in values)
    path.write_text(text, encoding="utf-8")
    return path


def take_in(memory: Memory, path: Path, *, apply: bool = True, strict: bool = False) -> Import:
    found = detect(str(path))
    return import_file(str(path), lambda: found.read(str(path)), into_records(memory, NOW), apply=apply, strict=strict)


def test_a_plan_changes_nothing_and_what_is_done_is_what_it_said(tmp_path, memory):
    path = lines(tmp_path / "a.ndjson", REDIS, TABS)
    planned = take_in(memory, path, apply=False)
    assert (planned.applied, planned.counts, planned.added) == (False, {"new": 2}, [REDIS["text"], TABS["text"]])
    assert memory.records() == ()
    assert not (tmp_path / "memory").exists()
    done = take_in(memory, path)
    assert (done.applied, done.counts, done.added) == (True, planned.counts, planned.added)
    one, other = memory.records()
    assert (one.body, one.tags, one.created_at) == (REDIS["text"], ("Infra",), datetime(2026, 1, 1, tzinfo=UTC))
    assert (other.body, other.created_at, other.provenance) == (TABS["text"], NOW, Provenance("import", "style.md"))
    assert {record.type for record in (one, other)} == {RecordType.FACT}


def test_nothing_comes_in_twice(tmp_path, memory):
    path = lines(tmp_path / "a.ndjson", REDIS, TABS, {**TABS, "id": "again"})
    assert take_in(memory, path).counts == {"new": 2, "known": 1}
    assert take_in(memory, path).counts == {"known": 3}
    memory.remember("Said here.")
    assert take_in(memory, lines(tmp_path / "b.ndjson", {**REDIS, "id": "x", "text": "Said here."})).counts == {
        "known": 1
    }
    assert len(memory.records()) == 3


@pytest.mark.requirement("S0-30")
def test_a_secret_is_refused_with_its_line_and_costs_no_other(tmp_path, memory):
    path = lines(tmp_path / "a.ndjson", REDIS, "", {**TABS, "text": f"The token is {TOKEN}"}, TABS)
    done = take_in(memory, path)
    assert done.counts == {"new": 2, "left_out": 1}
    assert done.refused
    (problem,) = done.problems
    assert problem.place == "line 3"
    assert "rule github-token" in problem.reason
    assert TOKEN not in problem.reason
    for place in (tmp_path / "memory").rglob("*"):
        assert not place.is_file() or TOKEN.encode() not in place.read_bytes()


@pytest.mark.requirement("S0-30")
@pytest.mark.parametrize("where", [{"source": TOKEN}, {"tags": [TOKEN]}, {"extra": {"token": TOKEN}}], ids=str)
def test_a_secret_is_refused_wherever_it_stands(tmp_path, memory, where):
    done = take_in(memory, lines(tmp_path / "a.ndjson", {**TABS, **where}))
    assert done.counts == {"left_out": 1}
    assert memory.records() == ()


@pytest.mark.parametrize(
    "bad", ["nonsense", {**TABS, "text": TOKEN}, {**TABS, "text": " "}], ids=["line", "secret", "text"]
)
def test_one_bad_line_costs_no_other_and_strict_writes_nothing(tmp_path, memory, bad):
    path = lines(tmp_path / "a.ndjson", REDIS, bad)
    with pytest.raises((DamagedFile, Refused), match=r"line 2: .*nothing was written"):
        take_in(memory, path, strict=True)
    assert memory.records() == ()
    assert take_in(memory, path).counts == {"new": 1, "left_out": 1}
    assert take_in(memory, lines(tmp_path / "b.ndjson", TABS), strict=True).counts == {"new": 1}


def test_a_record_comes_in_as_the_record_it_is(tmp_path, memory):
    sealed = new_record(
        RecordType.PROCEDURE, "Restart.", provenance=Provenance("tool"), now=NOW, slots={"steps": ["a"]}, tags=("ops",)
    )
    signed = sign_record(sealed, Identity.generate())
    path = tmp_path / "a.amem.json"
    record_entries.write(str(path), [signed])
    assert take_in(memory, path).counts == {"new": 1}
    (record,) = memory.records()
    assert record == signed
    verify_record(record)
    memory.verify()
    assert take_in(memory, path).counts == {"known": 1}


def test_an_archived_record_stays_archived(tmp_path, memory):
    made = new_record(RecordType.FACT, "Old.", provenance=Provenance("tool"), now=NOW)
    archived = type(made).from_json({**made.to_json(), "state": "archived", "state_reason": "done"})
    record_entries.write(str(tmp_path / "a.amem.json"), [archived])
    assert take_in(memory, tmp_path / "a.amem.json").counts == {"new": 1}
    assert [record.state for record in memory.records()] == [State.ARCHIVED]
    memory.verify()


def test_the_rest_of_a_torn_file_is_one_problem(tmp_path, memory):
    pb = by_name("protobuf")
    path = tmp_path / "a.pb"
    vector = b"\0\0\0\0"
    pb.write(
        str(path),
        [
            pb.encode(MemoryEntry("a", 1, "One.", embedding=vector)),
            pb.encode(MemoryEntry("b", 1, "Two.", embedding=vector)),
        ],
    )
    path.write_bytes(path.read_bytes()[:-1])
    done = take_in(memory, path)
    assert done.counts == {"new": 1, "left_out": 1}
    assert done.problems[0].place == "the rest"


def test_the_graphs_of_the_mcp_server_come_in_and_others_are_named(corpus, tmp_path, memory):
    files = [path for path in corpus if path.suffix == ".jsonl" and path.stat().st_size]
    for path in files:
        done = take_in(memory, path, apply=False)
        understood = detect(str(path)).name == "mcp-graph" and done.counts["new"] > 0
        assert understood or done.counts["left_out"] > 0
        assert all(problem.reason for problem in done.problems)


# Documents


def test_entries_go_into_a_document_under_their_headings(tmp_path, workspace):
    path = lines(tmp_path / "a.ndjson", REDIS, TABS)
    target = Target(Tier.SHARED)

    def run(*, apply: bool) -> Import:
        take = IntoDocument(workspace, target, Actor())
        return import_file(str(path), lambda: by_name("ndjson").read(str(path)), take, apply=apply)

    assert run(apply=False).counts == {"new": 2}
    assert workspace.entries() == []
    assert run(apply=True).counts == {"new": 2}
    assert {(one.text, one.section) for one in workspace.entries()} == {
        ("- [2026-01-01] Redis needs AOF on.", "Infra"),
        ("- Use tabs.", "Shared Knowledge"),
    }
    assert run(apply=True).counts == {"known": 2}


def test_a_plan_leaves_out_what_no_document_takes(tmp_path, workspace):
    texts = ("Fine.", "[2026-02-30] No day.", "A page. " * 4_000, "Hidden\u200b.", "<!-- unseen -->")
    path = lines(tmp_path / "a.ndjson", *({**TABS, "id": text[:5], "text": text} for text in texts))
    plan, done = (
        import_file(
            str(path),
            lambda: by_name("ndjson").read(str(path)),
            IntoDocument(workspace, Target(Tier.SHARED), Actor()),
            apply=apply,
        )
        for apply in (False, True)
    )
    assert (plan.counts, plan.added, plan.refused) == (done.counts, done.added, done.refused)
    assert [(one.place, one.reason) for one in plan.problems] == [(one.place, one.reason) for one in done.problems]
    assert plan.added == ["Fine."]


def test_what_was_a_note_becomes_a_note_again(tmp_path, workspace):
    shared, own = Target(Tier.SHARED), Target(Tier.AGENT, "developer")
    workspace.new_note(
        "feedback", "tabs", description="Use tabs", why="Diffs.", how="Always.", body="Tabs!", target=shared
    )
    passage = Conversion(by_name("ndjson"), HashEmbedder())
    path = tmp_path / "a.ndjson"
    passage.target.write(str(path), passage.carry(export.documents(workspace, Actor(), None)))

    def run(*, apply: bool) -> Import:
        take = IntoDocument(workspace, own, Actor())
        return import_file(str(path), lambda: by_name("ndjson").read(str(path)), take, apply=apply)

    assert run(apply=False).counts == {"new": 1}
    assert workspace.notes(targets=[own]) == []
    assert run(apply=True).counts == {"new": 1}
    assert run(apply=True).counts == {"known": 1}
    assert workspace.show_note("tabs", target=own) == workspace.show_note("tabs", target=shared)


def test_a_document_takes_no_secret_and_nothing_from_who_may_not_write(tmp_path, workspace):
    path = lines(tmp_path / "a.ndjson", {**TABS, "text": f"The token is {TOKEN}"})
    workspace.init(agents=["developer"])
    for actor in (Actor(), Actor("reviewer")):
        target = Target(Tier.AGENT, "developer") if actor.agent else Target(Tier.SHARED)
        for apply in (False, True):
            try:
                take = IntoDocument(workspace, target, actor)
            except AccessDenied:
                continue
            done = import_file(str(path), lambda: by_name("ndjson").read(str(path)), take, apply=apply)
            assert done.counts == {"left_out": 1}
    assert workspace.entries() == []


# Export


def test_documents_and_notes_leave_with_where_they_stood(workspace):
    workspace.remember("Redis needs AOF on.", section="Infra")
    workspace.remember("Own.", agent="developer")
    workspace.new_note(
        "feedback", "tabs", description="Use tabs", why="Diffs.", how="Always.", target=Target(Tier.SHARED)
    )
    found = [one for one in export.documents(workspace, Actor(), None) if isinstance(one, MemoryEntry)]
    assert {(one.text, one.tags, one.extra["target"]) for one in found} == {
        ("Redis needs AOF on.", ("Infra",), "shared"),
        ("Own.", (), "agent:developer"),
        ("Use tabs", ("note",), "shared"),
    }
    (tabs,) = (one for one in found if one.tags == ("note",))
    assert (tabs.extra["why"], tabs.extra["how"], tabs.extra["kind"]) == ("Diffs.", "Always.", "feedback")


def test_nobody_exports_what_they_may_not_read(workspace):
    workspace.remember("Own.", agent="developer")
    assert list(export.documents(workspace, Actor("tester"), None)) == []
    with pytest.raises(AccessDenied):
        list(export.documents(workspace, Actor("tester"), [Target(Tier.AGENT, "developer")]))


@pytest.mark.slow
@pytest.mark.requirement("S3-23")
@pytest.mark.parametrize("name", ["ndjson", "protobuf", "sqlite", "parquet", "memory-file", "jsonl"])
def test_records_go_out_and_come_back_in_another_memory(tmp_path, memory, name):
    memory.remember("Redis needs AOF on.", tags=["infra"], source="runbook")
    memory.remember("Use tabs.")
    passage = Conversion(by_name(name), HashEmbedder())
    path = tmp_path / f"out{by_name(name).suffixes[0]}"
    passage.target.write(str(path), passage.carry(export.records(memory)))
    with Memory(tmp_path / "other") as other:
        assert take_in(other, path).counts == {"new": 2}
        assert other.records() == memory.records()


def test_a_memory_adds_no_secret(memory):
    record = new_record(RecordType.FACT, TOKEN, provenance=Provenance("tool"), now=NOW)
    for apply in (True, False):
        with pytest.raises(SecretFound):
            memory.add(record, apply=apply)
    assert memory.records() == ()


# The headings of a page

PAGE = "# Guide\n\n## staging\n\n- Owner is Ana.\n- Restart at night.\n\n## production\n\n- Owner is Ana.\n"


def test_the_same_words_under_other_headings_are_other_records(tmp_path, memory):
    page = tmp_path / "guide.md"
    page.write_text(f"{PAGE}- Do not restart at night.\n")
    for counts in ({"new": 4}, {"known": 4}):
        take = into_records(memory, NOW, from_page=True)
        assert import_file(str(page), lambda: markdown.read(str(page)), take, apply=True).counts == counts
    before = heads(memory)
    memory.consolidate()
    assert heads(memory) == before, "what holds for one place is neither merged with nor disputed by another"
    lines = set(memory.recall("owner Ana").as_prompt_block().splitlines())
    assert {"- staging: Owner is Ana.", "- production: Owner is Ana."} <= lines
    assert not memory.remember("Owner is Ana.").new


def test_a_page_that_came_in_without_its_headings_being_kept_is_known(tmp_path, memory):
    page = tmp_path / "guide.md"
    page.write_text(PAGE)
    entries = [one for one in markdown.read(str(page)) if isinstance(one, MemoryEntry)]
    for entry in entries[:2]:
        memory.add(record_entries.record_of(entry._replace(timestamp_ms=1_775_001_600_000)))
    take = into_records(memory, NOW, from_page=True)
    assert import_file(str(page), lambda: entries, take, apply=True).counts == {"known": 2, "new": 1}


def test_rows_that_say_the_same_are_one_record_and_what_stays_out_is_said(tmp_path, memory):
    path = tmp_path / "owners.csv"
    path.write_text("id,text,host,tags\n1,Owner is Ana.,staging,a\n2,Owner is Ana.,production,b\n")
    _, read = reader_of(str(path), path.name, "auto", Columns())
    for apply in (False, True):
        left: set[str] = set()
        done = import_file(str(path), read, into_records(memory, NOW, left=left), apply=apply)
        assert (done.counts, left) == ({"new": 1, "known": 1}, {"host"})
    (one,) = memory.records()
    assert one.tags == ("a", "b")
    assert one.updated_at > one.created_at
    assert memory.check().problems == ()


# Records with a past

WORDS = ("Use pnpm in CI.", "Always use `pnpm` in CI!", "Use npm in CI.", "Do not use pnpm in CI.", "Logs go to S3.")
QUESTIONS = ("pnpm npm CI", "logs S3")
STEPS = ("remember", "merge", "dispute", "resolve", "decay", "redact", "retire", "replace", "archive", "bring back")


@contextmanager
def in_process() -> Iterator[Memory]:
    """A memory that leaves nothing behind, and whose clock goes on a day with each look at it."""
    days = count()
    with Memory(store=MemoryStore(), consolidate_every=0, clock=lambda: NOW + timedelta(days=next(days))) as made:
        yield made


@contextmanager
def in_days(place: str, identity: str | None) -> Iterator[Memory]:
    """A memory at a place, whose clock goes on a day with each look at it."""
    days = count()
    with Memory(place, identity=identity, consolidate_every=0, clock=lambda: NOW + timedelta(days=next(days))) as made:
        yield made


def live(memory: Memory, *states: State) -> list[Record]:
    return [record for record in memory.records() if record.state in (states or (State.ACTIVE,))]


def do(memory: Memory, step: str, number: int) -> None:
    """Do one thing with a memory, where there is something to do it with."""
    some = live(memory, State.ACTIVE, State.TRANSITIONAL)
    one = some[number % len(some)] if some else None
    free = [record for record in live(memory) if one is not None and record.id != one.id]
    with suppress(IllegalMove):
        if step == "remember" or one is None:
            memory.remember(WORDS[number % len(WORDS)], tags=[f"t{number % 3}"])
        elif step == "merge":
            memory.consolidate()
        elif step == "dispute" and free:
            memory.dispute(one.id, free[0].id, "the wiki says otherwise")
        elif step == "resolve" and one.transition:
            memory.resolve(one.id, next(side for side in one.transition.sides if side != one.id), "asked")
        elif step == "decay":
            memory.decay(rates=Rates(half_life=timedelta(days=1 + number)))
        elif step == "redact":
            memory.redact(one.id, "too much")
        elif step == "replace":
            memory.remember(WORDS[number % len(WORDS)], replaces=one.id)
        elif step == "archive":
            memory.archive(one.id, "over")
        elif step == "bring back" and (gone := [each for each in memory.records() if each.state not in LIVE]):
            memory.reactivate(gone[number % len(gone)].id, "needed after all")
        elif step == "retire":
            memory.store.put(archive(one, reason="over", now=NOW + timedelta(days=4_000)))


def go_over(source: Memory, target: Memory, path: Path) -> Import:
    source.export(path)
    return take_in(target, path)


CARRYING = ("memory-file", "ndjson", "json", "protobuf", "sqlite", "parquet", "jsonl")
"""The formats in which a record goes over as it is."""


def written(source: Memory, path: Path, name: str) -> Conversion:
    """Export records in a format, as `amp export records` does."""
    path.unlink(missing_ok=True)
    done = Conversion(by_name(name), HashEmbedder())
    by_name(name).write(str(path), done.carry(export.records(source)))
    return done


def heads(memory: Memory) -> dict[str, bytes]:
    return {record.id: record.to_bytes() for record in memory.records()}


def answers(memory: Memory) -> list[set[tuple[str, str]]]:
    found = (memory.search(query, limit=99) for query in QUESTIONS)
    return [{(hit.record.id, hit.line) for hit in hits} for hits in found]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("where", ["directory", "file.sqlite"])
def test_what_is_kept_of_a_history_answers_as_a_look_at_all_of_it_does(tmp_path, where, seed):
    """Heads, their order, answers, counts and findings are those of every version, read one by one."""
    chance, now, place = Random(f"{where} {seed}"), NOW, str(tmp_path / where)
    identity = str(tmp_path / "key") if seed % 2 else None
    with Memory(place, identity=identity, consolidate_every=0, clock=lambda: now) as memory:
        for _ in range(30):
            now += timedelta(days=1)
            do(memory, chance.choice(("remember", *STEPS)), chance.randrange(10))
            memory.search("pnpm npm CI")  # so each step is taken in by itself
        ids = sorted(one.id for one in memory.records())
        pasts = {one: memory.history(one) for one in ids}
        newest = sorted((past[-1] for past in pasts.values()), key=by_birth)
        assert memory.records() == (*newest,)
        assert memory.status().by_state == Counter(one.state.value for one in newest)
        checked = memory.check()
        assert checked.problems == ()
        assert checked.versions == sum(map(len, pasts.values()))
        assert checked.signed == sum(one.signed for past in pasts.values() for one in past)
        found = [[(hit.record, hit.line) for hit in memory.search(query, limit=99)] for query in QUESTIONS]
    for name in ("search.sqlite", "catalog.sqlite"):
        for path in tmp_path.rglob(name):
            path.unlink()
    with Memory(place, consolidate_every=0, clock=lambda: now) as memory:
        again = [[(hit.record, hit.line) for hit in memory.search(query, limit=99)] for query in QUESTIONS]
        if where == "directory":
            assert again == found
        else:  # there a use is counted in the process alone, and it changes the order
            assert [sorted(one, key=str) for one in again] == [sorted(one, key=str) for one in found]
    victim = chance.choice(ids)
    number = chance.randint(1, len(pasts[victim]))
    tampered = pasts[victim][number - 1].to_bytes().replace(b'"confidence":"', b'"confidence": "')
    if where == "directory":
        (tmp_path / where / "records" / victim.removeprefix("mem:") / f"{number:06d}.json").write_bytes(tampered)
    else:
        with closing(sqlite3.connect(place)) as connection, connection:
            change = "UPDATE history SET payload = ? WHERE record_id = ? AND version = ?"
            connection.execute(change, (tampered.decode(), victim, number))
    with Memory(place, consolidate_every=0, clock=lambda: now) as memory:
        plain = []
        for one in ids:
            try:
                check_history(memory.history(one))
            except (DamagedFile, BadSignature) as error:
                plain.append(str(error))
        assert len(plain) == 1
        assert plain[0] in memory.check().problems
        assert all(victim in one for one in {*memory.check().problems} - {*plain})


@pytest.mark.slow
@settings(
    max_examples=min(settings().max_examples, 40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 9)), max_size=14))
def test_what_went_over_into_an_empty_store_is_what_it_was(tmp_path, history):
    with in_process() as source, in_process() as target:
        for step in history:
            do(source, *step)
        done = go_over(source, target, tmp_path / "a.amem.json")
        assert (done.problems, heads(target)) == ([], heads(source))
        assert answers(target) == answers(source)
        assert target.check().problems == source.check().problems == ()
        assert go_over(source, target, tmp_path / "a.amem.json").counts["new"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("source_kind", ["directory", "sqlite", "postgresql"])
@pytest.mark.parametrize("target_kind", ["directory", "sqlite", "postgresql"])
def test_what_went_over_from_one_kind_of_store_to_another_is_what_it_was(tmp_path, request, source_kind, target_kind):
    chance = Random(f"{source_kind} {target_kind}")
    for number, name in enumerate(CARRYING):
        places = []
        for kind, side in ((source_kind, "here"), (target_kind, "there")):
            made = {"directory": f"{tmp_path}/{side}-{number}", "sqlite": f"{tmp_path}/{side}-{number}.sqlite"}
            places.append(made.get(kind) or request.getfixturevalue("postgresql").new_namespace())
        identity = str(tmp_path / "key") if number % 2 else None
        with in_days(places[0], identity) as source, in_days(places[1], identity) as target:
            for _ in range(chance.randrange(6, 20)):
                step = chance.choice([one for one in STEPS if one != "retire"])  # by hand, which no identity signs
                do(source, step, chance.randrange(10))
            path = tmp_path / f"{number}{by_name(name).suffixes[0]}"
            written(source, path, name)
            done = take_in(target, path)
            assert (name, done.problems, heads(target)) == (name, [], heads(source))
            assert answers(target) == answers(source)
            assert target.check().problems == source.check().problems == ()
            assert target.check().foreign == source.check().foreign == ()
            assert target.status() == source.status()
            assert go_over(target, source, tmp_path / f"back-{number}.amem.json").counts["new"] == 0


@pytest.mark.slow
@settings(
    max_examples=min(settings().max_examples, 40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(*[st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 9)), max_size=6)] * 3)
def test_two_stores_with_a_common_past_come_together_and_say_what_cannot(tmp_path, past, mine, yours):
    with in_process() as here, in_process() as there:
        for step in past:
            do(here, *step)
        go_over(here, there, tmp_path / "past.amem.json")
        for memory, steps in ((here, mine), (there, yours)):
            for step in steps:
                do(memory, *step)
        before = {record.id: record for record in here.records()}
        done = go_over(there, here, tmp_path / "a.amem.json")
        after = {record.id: record for record in here.records()}
        assert after.keys() == before.keys() | {record.id for record in there.records()}
        said = " ".join(problem.reason for problem in done.problems)
        for record in there.records():
            holds = after[record.id]
            # What holds there holds here, or has gone its legal way here, or is said.
            if holds.state is not record.state and record.id not in said:
                assert is_legal(record.state, holds.state) or holds.state in (State.ACTIVE, State.TRANSITIONAL)
            assert holds.redacted or set(record.tags) <= set(holds.tags) or holds.state not in LIVE
        known = heads(here)
        assert go_over(there, here, tmp_path / "a.amem.json").counts["new"] == 0
        assert heads(here) == known
        here.consolidate()  # where one side of a dispute was redacted there and not here, it is disputed here now
        assert [problem for problem in here.check().problems if "is in another dispute" not in problem] == []


@pytest.mark.slow
@settings(
    max_examples=min(settings().max_examples, 15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 9)), min_size=4, max_size=14))
def test_every_format_that_carries_records_carries_their_past(tmp_path, history):
    with in_process() as source:
        source.remember("Port 80 is open,\nand port 81 is not.")
        for step in history:
            do(source, *step)
        for name in CARRYING:
            with in_process() as target:
                written(source, tmp_path / f"a{by_name(name).suffixes[0]}", name)
                done = take_in(target, tmp_path / f"a{by_name(name).suffixes[0]}")
                assert (name, done.problems, heads(target)) == (name, [], heads(source))


def test_what_no_longer_holds_passes_for_a_fact_nowhere(tmp_path, workspace):
    with in_process() as source:
        old, gone, secret = (
            source.remember(text).record_id for text in ("Use npm in CI.", "Ask Lea.", "The code is 7.")
        )
        source.remember("Use pnpm in CI.", replaces=old)
        source.archive(gone, "over")
        source.redact(secret, "too much")
        one, other = (source.remember(text).record_id for text in ("The disk is full.", "The disk is not full."))
        source.dispute(one, other, "both were seen")
        holds = ["Use pnpm in CI.", "The disk is full.", "The disk is not full."]
        done = written(source, tmp_path / "a.md", "markdown")
        page = (tmp_path / "a.md").read_text(encoding="utf-8")
        assert [line.split("] ")[-1] for line in page.splitlines() if line.startswith("- ")] == holds
        assert page.count("[disputed]") == 2
        assert {loss.what: count for loss, count in done.lost.items()}[OVER.what] == 3
        source.export(tmp_path / "a.amem.json")
        written(source, tmp_path / "a.jsonl", "jsonl")
        assert [entry.text for entry in MemoryFile.open(tmp_path / "a.jsonl").view().entries] == holds
        for name in ("a.amem.json", "a.jsonl"):
            read = partial(by_name(detect(str(tmp_path / name)).name).read, str(tmp_path / name))
            take = IntoDocument(workspace, Target(Tier.SHARED), Actor())
            came = import_file(
                str(tmp_path / name),
                read,
                take,
                apply=True,
                losses=DOCUMENT_LOSSES,
            )
            assert came.lost[OVER] == 3
        said = [entry.text for entry in workspace.entries()]
        assert [text.split("] ")[-1] for text in said] == holds


def test_said_again_after_decay_and_merged_it_still_goes_over(tmp_path, memory):
    with in_process() as source:
        for text in ("Use pnpm in CI.", "Always use `pnpm` in CI!"):
            source.remember(text)
        source.consolidate()
        source.decay(rates=Rates(half_life=timedelta(hours=1)))
        source.remember("Use pnpm in CI.")
        go_over(source, memory, tmp_path / "a.amem.json")
        assert heads(memory) == heads(source)
        assert [hit.record.body for hit in memory.recall("pnpm")] == ["Use pnpm in CI."]


def test_a_decision_that_was_made_the_other_way_round_loses_neither_side(tmp_path):
    with in_process() as here, in_process() as there:
        one, other = (here.remember(text).record_id for text in ("Use pnpm in CI.", "Use npm in CI."))
        here.dispute(one, other, "both cannot be")
        go_over(here, there, tmp_path / "past.amem.json")
        here.resolve(one, other, "asked")
        there.resolve(other, one, "tried")
        done = go_over(there, here, tmp_path / "a.amem.json")
        assert [hit.record.id for hit in here.recall("npm pnpm CI")] == [other]
        assert done.counts["left_out"] == 1
        assert "the reverse here" in done.problems[0].reason


def test_a_record_that_two_stores_dispute_with_different_ones_waits_for_a_decision(tmp_path):
    with in_process() as here, in_process() as there:
        one, other, third = (here.remember(text).record_id for text in (WORDS[0], WORDS[2], WORDS[4]))
        go_over(here, there, tmp_path / "past.amem.json")
        here.dispute(one, other, "which?")
        there.dispute(one, third, "which?")
        assert one in go_over(there, here, tmp_path / "a.amem.json").problems[0].reason
        here.consolidate()
        (problem,) = here.check().problems
        assert problem == (
            f"{third}: the other side of its dispute, {one}, is in another dispute;"
            " decide that, and consolidate finishes this one"
        )
        assert {one, other, third} == {record.id for record in live(here, *LIVE)}
        here.resolve(other, one, "asked")
        here.consolidate()
        assert here.check().problems == ()


def test_a_redaction_does_not_travel_and_is_not_undone(tmp_path):
    with in_process() as here, in_process() as there:
        one = here.remember("The door code is in the safe.").record_id
        go_over(here, there, tmp_path / "a.amem.json")
        there.redact(one, "too much")
        redacted_there = go_over(there, here, tmp_path / "b.amem.json")
        assert "redact it here too" in redacted_there.problems[0].reason
        assert not here.store.get(one).redacted
        assert "its text stays out" in go_over(here, there, tmp_path / "a.amem.json").problems[0].reason
        assert there.store.get(one).redacted


def test_events_in_the_same_words_come_in_each_and_make_a_rule(tmp_path, memory):
    event = {**TABS, "text": "The deploy failed.", "tags": ["deploy"], "extra": {"kind": "episode"}}
    moments = (1_767_225_600_000, 1_767_312_000_000, 1_767_398_400_000)
    events = [{**event, "id": f"e{at}", "timestamp_ms": at} for at in moments]
    path = lines(tmp_path / "a.ndjson", *events, {**events[0], "id": "again"}, {**events[0], "id": "x", "source": "ci"})
    assert take_in(memory, path).counts == {"new": 4, "known": 1}
    assert take_in(memory, path).counts == {"known": 5}
    memory.consolidate()
    (rule,) = memory.records(type="rule")
    assert len(rule.evidence) == 4


def test_what_a_document_cannot_keep_of_an_entry_is_said(workspace):
    everything = MemoryEntry(
        "0f8fad5b-d9cb-469f-a165-70867728950e", 0, "One fact.", embedding=embedding_of([1.0]), relevance=0.5
    )
    entries = [
        everything._replace(extra={"kind": "procedure", "host": "ci"}),
        MemoryEntry("2", 0, "Another fact.", extra={"kind": "avoid", "confidence": "0.5"}),
    ]
    done = import_file(
        "", lambda: entries, IntoDocument(workspace, Target(Tier.SHARED), Actor()), apply=True, losses=DOCUMENT_LOSSES
    )
    assert {loss.what: number for loss, number in done.lost.items()} == {
        "embeddings": 1,
        "relevance scores": 1,
        "kinds that no entry of a document has": 1,
        "other columns and pairs of extra": 1,
    }


@pytest.mark.parametrize(("header", "lost"), [('---\nglobs: "**/*.ts"\nmetadata:\n  type: rule\n---\n', 1), ("", 0)])
def test_what_the_header_of_a_page_says_is_carried_and_its_loss_is_said(workspace, tmp_path, header, lost):
    page = tmp_path / "rule.md"
    page.write_text(f"{header}# R\n\n- Use strict.\n")
    (entry,) = (one for one in markdown.read(str(page)) if isinstance(one, MemoryEntry))
    said = {"header.globs": "**/*.ts", "header.metadata.type": "rule"} if lost else {}
    assert {key: value for key, value in entry.extra.items() if key.startswith("header.")} == said
    take = IntoDocument(workspace, Target(Tier.SHARED), Actor())
    done = import_file(str(page), lambda: markdown.read(str(page)), take, apply=True, losses=DOCUMENT_LOSSES)
    assert {loss.what: number for loss, number in done.lost.items()} == (
        {"what the header of their file says": 1} if lost else {}
    )


@each_row("format, text", [("auto", None), ("csv", None), ("jsonl", None), ("markdown", None), ("auto", "said")])
def test_what_is_not_a_file_is_refused_and_not_waited_for(tmp_path, format, text):
    pipe = tmp_path / f"{format}-{text}"
    os.mkfifo(pipe)
    for path in ("/dev/zero", str(pipe)):
        with pytest.raises(DamagedFile, match=r"is a (device|named pipe)"):
            list(reader_of(path, path, format, Columns.of(text=text))[1]())


@each_row("name", ["p.ndjson", "p.json", "p.sqlite", "p.pb"])
def test_the_end_and_the_dispute_of_an_entry_hold_for_the_record_it_becomes(tmp_path, name):
    texts = ("[until 2020-01-01] The freeze holds.", "[until 9999-01-01] The trial lasts.", "[disputed] It is 8080.")
    page = lines(tmp_path / "p.md", "# P", "", *(f"- {text}" for text in texts))
    other = tmp_path / name
    chosen = by_suffix(name)
    assert chosen
    convert(str(page), detect(str(page)), Conversion(chosen, HashEmbedder(8)), str(other), overwrite=False)
    for path in (page, other):
        with Memory(tmp_path / f"memory of {path.name}") as memory:
            take_in(memory, path)
            block = memory.recall("freeze trial 8080").as_prompt_block()
            assert "freeze" not in block
            assert "The trial lasts. [until 9999-01-01]" in block
            assert "It is 8080. [disputed]" in block
            history = memory.recall("freeze", include_history=True).as_prompt_block()
            assert "The freeze holds. [until 2020-01-01]" in history
            (trial,), (port,) = (memory.search(word).hits for word in ("trial", "8080"))
            assert "holds until 9999-01-01" in trial.reasons
            assert "disputed where it came from" in port.reasons
