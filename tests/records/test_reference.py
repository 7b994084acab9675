"""The published reference implementation and this package read, verify and continue what the other has written."""

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, BadSignature, IllegalMove, InvalidRecord
from agent_memory_protocol.formats.signed_file import SignedMemoryFile
from agent_memory_protocol.records import lifecycle
from agent_memory_protocol.records.canonical import canonical, decode, parse_moment
from agent_memory_protocol.records.record import Record, RecordType, State
from agent_memory_protocol.records.signing import Identity, sign_record, verify_record
from agent_memory_protocol.records.sqlite_store import SqliteStore
from agent_memory_protocol.records.store import DirectoryStore
from tests.each_row import each_row

fg = pytest.importorskip("fg_agent_memory")
fg_id = pytest.importorskip("fg_agent_id")
pytest.importorskip("nacl")

SEED = bytes(range(64))
OURS = Identity(SEED)
THEIRS = fg_id.KeyPair.from_bytes(SEED)
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
REFUSALS = (fg.LifecycleError, fg.RecordError)
few = settings(
    max_examples=min(2 * settings().max_examples, 200),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def to_theirs(record: Record) -> Any:
    return fg.MemoryRecord.model_validate(json.loads(record.to_bytes()))


def bytes_of(theirs: Any) -> bytes:
    data: bytes = fg_id.canonical_json(theirs.model_dump())
    return data


def from_theirs(theirs: Any) -> Record:
    return Record.from_bytes(bytes_of(theirs))


def fits(record: Record) -> bool:
    """Say whether the reference keeps all of a record: a field that is called `extra` it drops without a word."""
    return "extra" not in record.extra


fitting = st.from_type(Record).filter(fits)


@pytest.mark.slow
@pytest.mark.requirement("S1-04", "S1-05", "S1-06", "S1-21", "S1-51", "S1-52", "S1-57", "S1-58")
@few
@given(fitting, st.integers(0, 2**32 - 1))
def test_both_make_the_same_bytes_and_signatures_of_the_same_record(record, seed):
    theirs = to_theirs(record)
    assert theirs.id == record.id
    assert bytes_of(theirs) == record.to_bytes()
    assert from_theirs(theirs) == record

    ours = sign_record(record, OURS)
    to_theirs(ours).verify()
    signed = from_theirs(theirs.sign(THEIRS, OURS.address))
    verify_record(signed)
    assert signed == ours

    # What the reference refuses, we refuse; it also takes other spellings of the same record, which we do not.
    random, data = Random(seed), ours.to_bytes()
    for _ in range(5):
        place = random.randrange(len(data))
        changed = data[:place] + random.randbytes(random.randrange(3)) + data[place + random.randrange(3) :]
        try:
            verify_record(Record.from_bytes(changed))
        except (InvalidRecord, BadSignature):
            continue
        assert changed == data


wild: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(sorted(Record.__dataclass_fields__.keys() - {"extra", "id"})),
    st.none() | st.booleans() | st.text(max_size=3) | st.lists(st.text(max_size=2), max_size=2) | st.just({}),
    min_size=1,
    max_size=3,
)


@pytest.mark.slow
@few
@given(fitting, wild)
def test_a_record_that_the_reference_refuses_is_refused(record, changes):
    wire = record.to_json() | changes
    try:
        ours = Record.from_json(wire)
    except InvalidRecord:
        return
    assert to_theirs(ours).id == ours.id
    assert canonical(wire) == ours.to_bytes()


# The lifecycle


@pytest.mark.slow
@pytest.mark.requirement("S1-07", "S1-44")
@few
@given(fitting, fitting, st.sampled_from(["supersede", "dispute", "resolve", "archive", "redact"]))
def test_each_move_has_the_same_outcome(one, other, move):
    now = max(one.updated_at, other.updated_at) + timedelta(seconds=1)
    if one.state is other.state is State.ACTIVE and move == "resolve" and one.id != other.id:
        one, other = lifecycle.dispute(one, other, reason="x", now=now)
    if move == "supersede" and one.id != other.id:
        other = replace(other, supersedes=one.id)
    theirs = (to_theirs(one), to_theirs(other))
    why = {"reason": "because", "now": now}
    do: dict[str, tuple[Any, Any]] = {
        "supersede": (lambda: (lifecycle.supersede(one, other, **why),), lambda: (fg.supersede(*theirs, **why),)),
        "dispute": (lambda: lifecycle.dispute(one, other, **why), lambda: fg.begin_transition(*theirs, **why)),
        "resolve": (lambda: lifecycle.resolve(one, other, **why), lambda: fg.resolve_transition(*theirs, **why)),
        "archive": (lambda: (lifecycle.archive(one, **why),), lambda: (fg.archive(theirs[0], **why),)),
        "redact": (lambda: (lifecycle.redact(one, **why),), lambda: (fg.MemoryRecord.tombstone(theirs[0], **why),)),
    }
    ours_do, theirs_do = do[move]
    try:
        expected = theirs_do()
    except REFUSALS:
        with pytest.raises(IllegalMove):
            ours_do()
        return
    assert [version.to_bytes() for version in ours_do()] == [bytes_of(version) for version in expected]


@pytest.mark.requirement("S1-11", "S1-62")
@each_row("flagged", [True, False])
@each_row("length", [1, 2])
def test_a_flag_has_the_same_outcome(flagged, length):
    fact = plain()
    other = to_theirs(fact).model_copy({"id": "", "body": "Not so."})
    states = [
        fact,
        lifecycle.archive(fact, reason="x", now=NOW),
        from_theirs(fg.begin_transition(to_theirs(fact), other, reason="x", now=NOW)[0]),
        lifecycle.redact(fact, reason="x", now=NOW),
        lifecycle.supersede(fact, from_theirs(other.model_copy({"supersedes": fact.id})), reason="x", now=NOW),
    ]
    for evidence in product(states, repeat=length):
        named = {f"mem:{place:032x}": record for place, record in enumerate(evidence)}
        rule = Record(
            type=RecordType.RULE,
            body="A rule.",
            provenance=fact.provenance,
            created_at=NOW,
            updated_at=NOW,
            evidence=tuple(named),
            flagged=flagged,
        )
        theirs = {one: to_theirs(record) for one, record in named.items()}
        expected = fg.refresh_rule_flag(to_theirs(rule), theirs, now=LATER)
        assert lifecycle.refresh_flag(rule, named, now=LATER).to_bytes() == bytes_of(expected)


# Stores


def stores(kind: str, path: Path) -> tuple[Any, Any]:
    if kind == "directory":
        return DirectoryStore(path / "records"), fg.FileRecordStore(path / "records")
    path.mkdir(exist_ok=True)
    return SqliteStore(path / "records.sqlite"), fg.SQLiteRecordStore(path / "records.sqlite")


def close(*opened: Any) -> None:
    for store in opened:
        if hasattr(store, "close"):
            store.close()


@pytest.mark.slow
@pytest.mark.requirement("S1-25", "S1-63", "S1-65", "S1-66")
@pytest.mark.parametrize("kind", ["directory", "sqlite"])
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.lists(fitting, max_size=4, unique_by=lambda record: record.id))
def test_each_continues_the_store_of_the_other(kind, tmp_path_factory, drawn):
    ours, theirs = stores(kind, tmp_path_factory.mktemp("store") / "memory")
    for number, record in enumerate(drawn):
        if number % 2:
            ours.put(sign_record(record, OURS))
        else:
            theirs.put(to_theirs(record).sign(THEIRS, OURS.address))
    for record in drawn:
        if record.state is not State.ARCHIVED:
            gone = fg.archive(theirs.get(record.id), reason="theirs", now=record.updated_at)
            theirs.put(gone)
            assert ours.get(record.id) == from_theirs(gone)
        if not record.redacted:
            now = ours.get(record.id).updated_at
            ours.put(sign_record(ours.get(record.id), OURS))
            stone = ours.redact(record.id, reason="ours", now=now)
            assert theirs.get(record.id).redacted
            assert {bytes_of(version) for version in theirs.history(record.id)} == {stone.to_bytes()}
            assert len(theirs.history(record.id)) == len(ours.history(record.id)) >= 2
    assert sorted(one.to_bytes() for one in ours.list()) == sorted(bytes_of(one) for one in theirs.list())
    assert {one.id for one in ours.list(state=State.ARCHIVED)} == {one.id for one in theirs.list(state="archived")}
    close(ours, theirs)


@pytest.mark.requirement("S1-25", "S1-83")
@pytest.mark.parametrize("kind", ["directory", "sqlite"])
def test_what_the_reference_has_redacted_is_redacted(kind, tmp_path):
    ours, theirs = stores(kind, tmp_path / "memory")
    record = fg.MemoryRecord.create("fact", "The code is 4711.", fg.Provenance(kind="test"), created_at=NOW)
    theirs.put(record)
    ours.put(lifecycle.archive(ours.get(record.id), reason="x", now=LATER))
    theirs.redact(record.id, "a door code")
    assert [version.redaction_reason for version in ours.history(record.id)] == ["a door code"] * 2
    assert ours.redact(record.id, reason="again", now=LATER).redaction_reason == "a door code"
    close(ours, theirs)


def test_a_directory_that_the_reference_lives_in_is_read_as_a_whole(tmp_path):
    """Its own porcelain writes, consolidates, resolves and forgets; every version it leaves is a record of ours."""
    memory = fg.Memory(tmp_path / "memory", identity=str(tmp_path / "agent.key"))
    for number in range(5):
        memory.remember(f"The deploy of service {number} failed because the disk was full.", tags=("deploy",))
    a = memory.remember("The staging database is Postgres.")
    b = memory.remember("The staging database is not Postgres.")
    memory.consolidate()
    memory.resolve(a.record_id, b.record_id, "checked")
    memory.decay()
    memory.export(tmp_path / "memory.json")
    store = DirectoryStore(tmp_path / "memory" / "records")
    found = store.list()
    assert len(found) >= 7
    for record in found:
        for version in store.history(record.id):
            if version.signed:
                verify_record(version)
    assert store.get(a.record_id).superseded_by == b.record_id
    (tmp_path / "agent.key").chmod(0o600)
    identity = Identity.load(str(tmp_path / "agent.key"))
    file = SignedMemoryFile.load((tmp_path / "memory.json").read_bytes())
    assert file.agent == identity.address
    assert set(file.records) == set(found)


# Files


@pytest.mark.slow
@pytest.mark.requirement("S1-06", "S1-22", "S1-51", "S1-59")
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(st.lists(fitting, max_size=3), st.booleans())
def test_each_loads_the_file_of_the_other(drawn, sign):
    records = tuple(sign_record(record, OURS) if sign else record for record in drawn)
    ours = SignedMemoryFile(created_at=NOW, records=records, extra={"x": ("é", 1)}).sign(OURS)
    theirs = fg.MemoryFile.model_validate(json.loads(ours.to_bytes()))
    theirs.verify()
    assert bytes_of(theirs) == ours.to_bytes()
    theirs = fg.MemoryFile.create(list(map(to_theirs, records)), agent=OURS.address, created_at=NOW).sign(THEIRS)
    loaded = SignedMemoryFile.load(bytes_of(theirs))
    assert loaded.records == records


@pytest.mark.requirement("S1-05", "S1-27")
def test_each_uses_the_identity_file_of_the_other(tmp_path):
    theirs = fg_id.load_or_create_keys(tmp_path / "theirs.key")
    ours = Identity.load(str(tmp_path / "theirs.key"))
    assert ours.address == fg_id.address_from_signing_key(theirs.public.signing)
    made = Identity.load_or_create(str(tmp_path / "ours.key"))
    assert made.address == fg_id.address_from_signing_key(fg_id.load_keys(tmp_path / "ours.key").public.signing)


# Where the reference is wrong, and this package is not


def test_a_forgery_that_the_reference_accepts_is_refused():
    """The key is the neutral element, so that one signature is right for every message; anybody can write it."""
    neutral = (1).to_bytes(32, "little")
    address = fg_id.address_from_signing_key(neutral)
    record = to_theirs(lifecycle.archive(plain(), reason="x", now=NOW))
    forged = record.model_copy({"signed_by": address, "signature": base64.b64encode(neutral + bytes(32)).decode()})
    forged.verify()
    with pytest.raises(BadSignature, match="small order"):
        verify_record(from_theirs(forged))


def test_a_gap_in_the_history_is_reported_and_does_not_hang(tmp_path):
    ours, theirs = stores("directory", tmp_path)
    record = plain()
    theirs.put(to_theirs(record))
    theirs.put(fg.archive(to_theirs(record), reason="x", now=NOW))
    (tmp_path / "records" / record.id[4:] / "000001.json").unlink()
    with pytest.raises(AgentMemoryError, match=r"000001\.json: a version is missing"):
        ours.put(record)


def test_a_file_of_another_format_is_refused_though_the_reference_takes_it():
    theirs = fg.MemoryFile(format="anything", agent=OURS.address, created_at=NOW).sign(THEIRS)
    theirs.verify()
    with pytest.raises(InvalidRecord, match="the format is 'anything'"):
        SignedMemoryFile.load(bytes_of(theirs))


def test_text_that_the_reference_writes_as_broken_json_is_refused_at_birth():
    theirs = fg.MemoryRecord.create("fact", "a\n\u0303", fg.Provenance(kind="test"), created_at=NOW)
    with pytest.raises(InvalidRecord):
        decode(bytes_of(theirs))
    with pytest.raises(InvalidRecord, match="control character"):
        Record.from_json(theirs.model_dump())


def plain() -> Record:
    theirs = fg.MemoryRecord.create("fact", "A fact.", fg.Provenance(kind="test"), created_at=NOW)
    record = from_theirs(theirs)
    assert record.created_at == parse_moment("2026-11-15T12:00:00.000Z")
    return record
