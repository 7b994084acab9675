"""Facts to measure with, the same ones in every run, and the memory directories that hold them."""

import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random

from agent_memory_protocol import Memory
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from agent_memory_protocol.records.sqlite_store import SqliteStore

_BORN = datetime(2026, 11, 15, 12, tzinfo=UTC)
_SUBJECTS = ("service", "database", "queue", "cache", "gateway", "scheduler", "worker", "proxy", "index", "registry")
_ENVIRONMENTS = ("staging", "production", "development", "preview", "test")
_CLAIMS = (
    "listens on port {port}",
    "runs version {major}.{minor}.{patch}",
    "keeps its settings in /etc/{name}/{name}.toml",
    "needs {minor} GB of memory to start",
    "is owned by team {team}",
    "writes its log to /var/log/{name}-{patch}.log",
    "restarts when `reload_{name}` is called",
    "was moved to host h{port} because of its disk",
)


def facts(count: int) -> Iterator[str]:
    """Yield facts as agents note them, no two alike."""
    random = Random(1)
    for number in range(count):
        name = f"{random.choice(_SUBJECTS)}{number}"
        claim = random.choice(_CLAIMS).format(
            name=name,
            port=1000 + number,
            major=random.randrange(9),
            minor=random.randrange(30),
            patch=number,
            team=random.randrange(400),
        )
        yield f"The {random.choice(_ENVIRONMENTS)} {name} {claim}."


def services(count: int) -> Iterator[str]:
    """Yield facts that differ in their numbers alone."""
    return (f"service s{number} listens on port {1000 + number}" for number in range(count))


def queries(count: int, among: int = 10_000) -> list[str]:
    """Return questions of three words, each about one of the first so many facts."""
    texts = list(islice(facts(among), 0, among, max(among // count, 1)))[:count]
    return [" ".join(text.removesuffix(".").split()[1:3] + text.removesuffix(".").split()[-1:]) for text in texts]


def filled(path: Path, texts: Iterator[str]) -> Path:
    """Make a memory directory that holds these facts, as nobody has asked for them yet."""
    with Memory(path, consolidate_every=0) as memory:
        for text in texts:
            memory.remember(text)
    return path


def written(path: Path, texts: Iterator[str]) -> Path:
    """Make the same directory without waiting for the disk, as `git clone` would."""
    for record in _records(texts):
        folder = path / "records" / record.id.removeprefix("mem:")
        folder.mkdir(parents=True)
        (folder / "000001.json").write_bytes(record.to_bytes())
    return path


def in_a_file(path: Path, texts: Iterator[str]) -> Path:
    """Make a SQLite file of them without waiting for the disk."""
    path.unlink(missing_ok=True)
    records = _records(texts)
    with SqliteStore(path) as store:
        store.put(next(records))
    connection = sqlite3.connect(path)
    with connection:
        for number, one in enumerate(records, start=2):
            payload = one.to_bytes().decode()
            connection.execute("INSERT INTO history VALUES (?, 1, ?)", (one.id, payload))
            row = (one.id, number, one.state, one.type, payload)
            connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", row)
    connection.close()
    return path


def _records(texts: Iterator[str]) -> Iterator[Record]:
    for number, text in enumerate(texts):
        now = _BORN + timedelta(milliseconds=number)
        yield new_record(RecordType.FACT, text, provenance=Provenance("conversation", None), now=now)


def copied(path: Path, to: Path) -> Path:
    """Copy the records of a memory directory, without what is made of them."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(path / "records", to / "records")
    return to
