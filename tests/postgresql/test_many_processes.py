"""Many processes, and a server that is killed in the middle: everything that was acknowledged is left."""

import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol import Memory
from agent_memory_protocol.errors import StorageError
from agent_memory_protocol.postgresql.sharing import SharedStore
from agent_memory_protocol.postgresql.store import PostgresqlStore
from tests.postgresql_server import Cluster, why_not

WORKER = """
    import sys
    from agent_memory_protocol import Memory
    from agent_memory_protocol.postgresql.sharing import SharedStore
    address, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with Memory(store=SharedStore(address), consolidate_every=int(sys.argv[4])) as memory:
        for step in range(count):
            text = f"Everybody says fact {step}." if step % 10 == 0 else f"Worker {number} says fact {step}."
            memory.remember(text)
            print(text, flush=True)
"""


def start(address: str, number: int, count: int, every: int = 0) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", textwrap.dedent(WORKER), address, str(number), str(count), str(every)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(workers: "list[subprocess.Popen[str]]") -> set[str]:
    """Return what the workers were told is kept, once they have all ended well."""
    texts: set[str] = set()
    ended = []
    for worker in workers:
        out, err = worker.communicate()
        texts |= set(out.splitlines())
        ended.append((worker.returncode, err))
    assert ended == [(0, "")] * len(workers)
    return texts


def writers(store: SharedStore) -> set[str]:
    """Return which workers have a fact of their own in a store."""
    return {one.body.split()[1] for one in Memory(store=store).records() if one.body.startswith("Worker")}


def active(memory: Memory) -> list[str]:
    return [one.body for one in memory.records(state="active")]


@pytest.mark.parametrize(
    ("processes", "count"),
    [
        pytest.param(2, 11, id="few"),
        pytest.param(8, 20, id="many", marks=pytest.mark.slow),
        pytest.param(16, 500, id="very-many", marks=pytest.mark.long),
    ],
)
@pytest.mark.slow
def test_processes_that_remember_at_once_lose_nothing_and_what_all_say_is_one_fact(processes, count, address):
    told = said([start(address, number, count) for number in range(processes)])
    assert len(told) == processes * (count - len(range(0, count, 10))) + len(range(0, count, 10))
    with Memory(store=SharedStore(address)) as memory:
        assert set(active(memory)) == told
        memory.consolidate()
        assert sorted(active(memory)) == sorted(told)
        memory.verify()


@pytest.fixture
def cluster() -> Any:
    if reason := why_not():
        pytest.skip(reason)
    cluster = Cluster()
    yield cluster
    cluster.stop()


@pytest.mark.slow
def test_the_feed_of_a_copy_that_follows_skips_nothing_either(cluster):
    """Its snapshots do not name what is under way on the server that it follows."""
    import psycopg

    address = cluster.new_namespace()
    copy = cluster.copy()
    try:
        here = f"{copy.local}&namespace={address.partition('namespace=')[2]}"
        with psycopg.connect(cluster.local) as slow, PostgresqlStore(address) as store, PostgresqlStore(here) as reader:
            name = store.address.namespace
            slow.execute(f"INSERT INTO {name}.heads SELECT 'mem:slow', 1, '', '', '{{}}', '', 0")
            with Memory(store=store) as memory:
                memory.remember("Quick.")
            told: list[str] = []
            position = None
            for expected in (1, 2):
                deadline = time.monotonic() + 30
                while len(set(told)) < expected:
                    assert time.monotonic() < deadline
                    changes, position, _ = reader.changes(position)
                    told += [one.id for one in changes]
                slow.commit()
            assert "mem:slow" in told
            with pytest.raises(StorageError, match="read-only copy"):
                reader.server.ask("DELETE FROM $ns.uses")
    finally:
        copy.stop()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found by /proc")
def test_a_server_that_is_killed_and_restarted_has_everything_that_it_acknowledged(cluster):
    """Writers wait for it, so they do not even notice; nothing is there twice."""
    address = cluster.new_namespace()
    workers = [start(address, number, 150, every=4) for number in range(4)]
    with SharedStore(address) as reader:
        for kills in range(1, 4):
            deadline = time.monotonic() + 60
            # Who has never reached the server does not wait for it, so each has written something first.
            while reader.count() < 60 * kills or len(writers(reader)) < len(workers):
                assert time.monotonic() < deadline
                time.sleep(0.02)
            cluster.kill()
            cluster.start()
        told = said(workers)
        with Memory(store=reader) as memory:
            assert {one.body for one in memory.records()} == told
            memory.consolidate()
            assert sorted(active(memory)) == sorted(told)
            memory.verify()
