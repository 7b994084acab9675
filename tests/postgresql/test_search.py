"""Search on the server answers as an index on this machine does, and that follows the change feed."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Memory
from agent_memory_protocol.postgresql import search
from agent_memory_protocol.postgresql.served import FedSeen, ServedFinder
from agent_memory_protocol.postgresql.sharing import SharedStore
from agent_memory_protocol.postgresql.store import PostgresqlStore
from agent_memory_protocol.records.finder import Finder
from agent_memory_protocol.records.lifecycle import archive
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from agent_memory_protocol.search.keyword import KeywordIndex

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
WHY: dict[str, Any] = {"reason": "because", "now": NOW}
SUBJECTS = ("staging database", "API", "cache", "queue", "Über-Café", "日本語 サーバー", "recall_for_agent", "build s7")
CLAIMS = (
    *("listens on port 8080", "is Postgres", "is Redis, Redis, Redis", "runs version 3.11.2", "needs 4 GB", "is down"),
    *("is deployed on Tuesdays", "restarts when the disk is full; the disk fills up each Tuesday", "は速い"),
)
QUERIES = (
    *("database", "databse", "stagng databases", "port 8080", "which port does the API use?", "Redis queue cache"),
    *("cafe", "サーバー", "agent", "recallForAgent", "disk disk Tuesday", "the is on", "3.11", ""),
    *("'; DROP TABLE heads; --", "C++ & !x:*"),
)


def record(body: str = "A fact.", **changes: Any) -> Record:
    return new_record(RecordType.FACT, body, provenance=Provenance("test"), now=NOW, **changes)


bodies = st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(CLAIMS)).map(" ".join) | st.text(max_size=30)
tags = st.lists(st.sampled_from(SUBJECTS), max_size=2).map(tuple)
facts = st.builds(lambda body, tags: record(body, tags=tags), bodies, tags)


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(facts, max_size=25, unique_by=lambda one: one.body), st.data())
def test_the_server_finds_what_an_index_on_this_machine_finds(postgresql, records, data):
    with PostgresqlStore(postgresql.new_namespace()) as store:
        for number, one in enumerate(records):
            store.put(one)
            if number % 5 == 1:
                store.put(archive(one, **WHY))
            if number % 7 == 2:
                store.redact(one.id, **WHY)
        on_server, here = ServedFinder(store), Finder(FedSeen(store), [KeywordIndex()])
        here.look()
        said = [one.body for one in records]
        for query in data.draw(st.lists(st.sampled_from([*QUERIES, *said]), min_size=6, max_size=9, unique=True)):
            for history in (False, True):
                assert on_server.find(query, include_history=history) == here.find(query, include_history=history), (
                    query
                )
                totals = [one.total(query, include_history=history) for one in (on_server, here)]
                assert totals[0] == totals[1], query


@pytest.mark.slow
def test_among_very_many_what_has_the_rare_word_comes_first_and_then_what_has_all_frequent_ones(address, monkeypatch):
    texts = [f"The cache number{number} is {'warm' if number % 2 else 'cold'}." for number in range(60)]
    with PostgresqlStore(address) as store:
        for text in texts:
            store.put(record(text))
        store.server.ask("ANALYZE $ns.heads")
        exact = ServedFinder(store).find("warm cache number7", include_history=False)
        monkeypatch.setattr(search, "MANY", 40)
        monkeypatch.setattr(search, "LOOKED_AT", 20)
        found = ServedFinder(store).find("warm cache number7", include_history=False)
        assert found[0].record.body == exact[0].record.body == texts[7]
        assert {one.record.body for one in found} <= {text for text in texts if "warm" in text}
        assert len(found) >= 20
        assert len(ServedFinder(store).find("cache", include_history=False)) == 20
        assert ServedFinder(store).find("nothing", include_history=False) == []


@pytest.mark.slow
def test_an_index_on_this_machine_follows_the_feed_and_is_used_by_those_who_come_later(address, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Memory(address, consolidate_every=0) as one, Memory(address, consolidate_every=0) as other:
        assert isinstance(one.store, SharedStore)
        one.remember("The queue is Redis.")
        assert [hit.record.body for hit in other.recall("queue")] == ["The queue is Redis."]
        (gone,) = other.remember("The old queue is Rabbit.").added
        assert len(one.recall("queue").hits) == 2
        other.redact(gone, "wrong")
        assert [hit.record.body for hit in one.recall("queue")] == ["The queue is Redis."]
    (folder,) = (tmp_path / "agent-memory-protocol").iterdir()
    assert {path.name for path in folder.iterdir()} >= {"catalog.sqlite", "search.sqlite"}
    assert os.stat(folder).st_mode & 0o077 == 0
    assert b"Rabbit" not in b"".join(path.read_bytes() for path in folder.iterdir())
    with SharedStore(address) as store, Memory(store=store) as later:
        store.put(record("The third queue is Kafka."))
        read: list[str] = []
        read_one = store.read

        def counted(payload: str | None, name: str) -> Record:
            read.append(name)
            return read_one(payload, name)

        monkeypatch.setattr(store, "read", counted)
        later.search("nothing at all")
        assert len(read) == 1, "only what is new is read"
        assert len(later.search("queue").hits) == 2


def test_without_an_index_here_nothing_is_kept_on_this_machine(address, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with Memory(store=SharedStore(address)) as memory:
        memory.remember("The queue is Redis.")
        assert [hit.record.body for hit in memory.recall("queu redis")] == ["The queue is Redis."]
        memory.consolidate()
        memory.decay()
        memory.verify()
    assert list(tmp_path.iterdir()) == []


def test_uses_are_counted_for_all_machines_together(address):
    with Memory(store=SharedStore(address)) as one, Memory(store=SharedStore(address)) as other:
        (known,) = one.remember("The queue is Redis.").added
        for memory in (one, other, other):
            memory.recall("queue")
        assert one._shelf.usage.of()[known].count == 3
        other.redact(known, "wrong")
        assert one._shelf.usage.of() == {}


def test_a_damaged_record_is_a_problem_and_hides_no_other(address, postgresql):
    with PostgresqlStore(address) as store:
        bad, good = record("The queue is Redis."), record("The queue is Kafka.")
        for one in (bad, good):
            store.put(one)
        store.server.ask("UPDATE $ns.versions SET payload = '{}' WHERE record_id = %s", [bad.id])
        for finder in (ServedFinder(store), Finder(FedSeen(store), [KeywordIndex()])):
            finder.look()
            assert [match.record for match in finder.find("queue", include_history=False)] == [good]
            assert list(finder.seen.problems) == [bad.id]
        store.server.ask("UPDATE $ns.versions SET payload = %s WHERE record_id = %s", [bad.to_bytes().decode(), bad.id])
        store.put(replace(bad, confidence=0.5))
        finder.look()
        assert finder.seen.problems == {}
        assert len(finder.find("queue", include_history=False)) == 2
