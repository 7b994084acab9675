"""Memory files: what an agent signed loads, and what was changed, stripped or spelled otherwise does not."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agent_memory_protocol.errors import BadSignature, InvalidRecord
from agent_memory_protocol.formats.signed_file import FORMAT, SignedMemoryFile
from agent_memory_protocol.records.canonical import canonical
from agent_memory_protocol.records.lifecycle import archive, redact
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from agent_memory_protocol.records.signing import Identity, sign_record
from tests.each_row import each_row

pytest.importorskip("nacl")

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONE, OTHER = Identity(bytes(range(64))), Identity(bytes(range(64, 128)))


def record(number: int = 0) -> Record:
    return new_record(RecordType.FACT, f"Fact {number}: Größe.", provenance=Provenance("test"), now=NOW)


RECORDS = (
    sign_record(record(), ONE),
    record(1),
    archive(record(2), reason="old", now=NOW),
    redact(record(3), reason="a token", now=NOW),
)
UNSIGNED = SignedMemoryFile(created_at=NOW, records=RECORDS)
SIGNED = UNSIGNED.sign(ONE)


def loads(data: bytes, *, allow_unsigned: bool = False) -> bool:
    try:
        SignedMemoryFile.load(data, allow_unsigned=allow_unsigned)
    except (BadSignature, InvalidRecord):
        return False
    return True


def rewritten(**changes: Any) -> bytes:
    return canonical(json.loads(SIGNED.to_bytes()) | changes)


@pytest.mark.requirement("S1-01", "S1-06", "S1-22")
def test_a_signed_file_loads_and_is_the_same():
    file = SignedMemoryFile.load(SIGNED.to_bytes())
    assert file == SIGNED
    assert file.to_bytes() == SIGNED.to_bytes()
    assert file.agent == ONE.address
    assert file.records == RECORDS
    assert json.loads(file.to_bytes())["format"] == FORMAT == "fg-agent-memory/0.1"
    assert SignedMemoryFile.load(SignedMemoryFile(created_at=NOW).sign(ONE).to_bytes()).records == ()


@pytest.mark.requirement("S1-59")
def test_a_file_without_a_signature_loads_only_when_asked_for():
    stripped = replace(SIGNED, signature="").to_bytes()
    for data in (UNSIGNED.to_bytes(), stripped, replace(SIGNED, agent=None, signature="").to_bytes()):
        with pytest.raises(BadSignature, match="the memory file is not signed"):
            SignedMemoryFile.load(data)
        assert SignedMemoryFile.load(data, allow_unsigned=True).records == RECORDS
    assert loads(SIGNED.to_bytes(), allow_unsigned=True)
    assert not loads(rewritten(agent=None), allow_unsigned=True)


@pytest.mark.requirement("S1-58", "S1-59")
def test_what_is_signed_is_verified_whatever_is_allowed():
    forged = replace(RECORDS[0], confidence=0.1)
    halves = (replace(RECORDS[0], signature=""), replace(RECORDS[0], signed_by=None))
    for bad in (forged, *halves):
        file = SignedMemoryFile(created_at=NOW, records=(bad,))
        assert not loads(file.to_bytes(), allow_unsigned=True)
        assert not loads(file.sign(ONE).to_bytes())
    assert not loads(replace(SIGNED, created_at=NOW.replace(year=2025)).to_bytes(), allow_unsigned=True)


@pytest.mark.requirement("S1-58")
@each_row(
    "changed",
    [
        replace(SIGNED, records=RECORDS[:-1]),
        replace(SIGNED, records=RECORDS[::-1]),
        replace(SIGNED, records=(*RECORDS, record(9))),
        replace(SIGNED, agent=OTHER.address),
        replace(SIGNED, extra={"note": "x"}),
        replace(SIGNED, signature=RECORDS[0].signature),
        replace(SIGNED, signature=UNSIGNED.sign(OTHER).signature),
    ],
)
def test_what_is_not_exactly_what_was_signed_does_not_load(changed):
    with pytest.raises(BadSignature):
        SignedMemoryFile.load(changed.to_bytes())


@pytest.mark.requirement("S1-22", "S1-51")
@each_row("name", ["", "fg-agent-memory/0.2", "fg-agent-memory/0.1 ", "agent-memory/0.1", None, 1])
def test_a_file_of_another_format_is_refused(name):
    with pytest.raises(InvalidRecord, match=f"not {FORMAT}"):
        SignedMemoryFile.load(rewritten(format=name), allow_unsigned=True)


@each_row(
    "changes",
    [
        {"agent": 5},
        {"created_at": None},
        {"created_at": "2026-11-15"},
        {"records": {}},
        {"records": ["x"]},
        {"signature": None},
    ],
)
def test_a_header_that_is_spelled_wrongly_is_refused(changes):
    with pytest.raises(InvalidRecord):
        SignedMemoryFile.load(rewritten(**changes), allow_unsigned=True)


def test_fields_of_the_header_that_we_do_not_know_are_kept_and_signed():
    file = replace(UNSIGNED, extra={"note": {"a": 1}, "extra": ()}).sign(ONE)
    assert SignedMemoryFile.load(file.to_bytes()).extra == {"note": {"a": 1}, "extra": ()}
    with pytest.raises(BadSignature):
        SignedMemoryFile.load(replace(file, extra={}).to_bytes())
    with pytest.raises(InvalidRecord, match="may not be called signature"):
        replace(file, extra={"signature": "x"})


def test_what_stands_in_a_header_is_canonical_as_well():
    file = SignedMemoryFile(created_at=NOW, agent="e\u0301", extra={"e\u0301": "A\u030a"})
    assert file.to_bytes() == canonical(json.loads(file.to_bytes()))
    assert not loads(file.to_bytes().replace("é".encode(), "e\u0301".encode()), allow_unsigned=True)


def test_only_its_agent_signs_a_file():
    with pytest.raises(BadSignature, match="the signer is"):
        SIGNED.sign(OTHER)
    assert SIGNED.sign(ONE) == SIGNED


@each_row("data", [b"", b"[]", b"null", b"{", b"\xff", b'{"format":1.5}'])
def test_what_is_no_memory_file_is_refused(data):
    with pytest.raises(InvalidRecord):
        SignedMemoryFile.load(data)


@pytest.mark.slow
@pytest.mark.requirement("S1-06", "S1-58")
def test_no_change_to_the_bytes_of_a_file_passes():
    data = SIGNED.to_bytes()
    wire = json.loads(data)
    rewrites = [
        json.dumps(wire, sort_keys=True, separators=(",", ":")).encode(),
        json.dumps(wire, sort_keys=True, ensure_ascii=False).encode(),
        json.dumps(wire, ensure_ascii=False, separators=(",", ":")).encode().replace(b'"agent"', b' "agent"'),
        data + b"\n",
        b"\xef\xbb\xbf" + data,
        data.replace("ö".encode(), "o\u0308".encode()),
        data.replace(b'{"agent"', b'{"agent":null,"agent"'),
    ]
    cuts = [data[:end] for end in range(0, len(data), 7)]
    flips = [data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :] for at in range(0, len(data), 3)]
    for changed in (*rewrites, *cuts, *flips):
        assert not loads(changed)
    for changed in (*rewrites, *cuts):
        assert not loads(changed, allow_unsigned=True)
