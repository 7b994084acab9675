"""The golden vectors: this package makes the bytes that the published reference makes."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol.formats.signed_file import SignedMemoryFile
from agent_memory_protocol.records.canonical import canonical, freeze_object
from agent_memory_protocol.records.lifecycle import is_legal
from agent_memory_protocol.records.record import Record, State, address
from agent_memory_protocol.records.signing import (
    Identity,
    from_address,
    sign_record,
    signing_input,
    to_address,
    verify_record,
)

pytest.importorskip("nacl")

FOLDER = Path(__file__).parents[1] / "data" / "vectors"
VECTORS: dict[str, Any] = json.loads((FOLDER / "records.json").read_text(encoding="utf-8"))
IDENTITY = Identity(bytes.fromhex(VECTORS["identity"]["bytes_hex"]))


def each(name: str) -> pytest.MarkDecorator:
    vectors = VECTORS[name]
    return pytest.mark.parametrize("vector", vectors, ids=[vector.get("about") for vector in vectors])


@pytest.mark.requirement("S1-21", "S1-47")
def test_the_vectors_are_what_the_reference_makes():
    pytest.importorskip("fg_agent_memory")
    assert runpy.run_path(str(FOLDER / "make_records.py"))["build"]() == VECTORS


@each("canonical")
def test_canonical_json(vector):
    assert canonical(vector["value"]).decode() == vector["canonical"]


@each("addresses")
def test_addresses(vector):
    key = bytes.fromhex(vector["key_hex"])
    assert to_address(key) == vector["address"]
    assert from_address(vector["address"]) == key
    assert Identity(bytes.fromhex(vector["seed_hex"]) + bytes(32)).address == vector["address"]


@each("signing_inputs")
def test_signing_inputs(vector):
    assert signing_input(vector["context"], freeze_object(vector["payload"])).hex() == vector["hex"]


@pytest.mark.requirement("S1-21")
@each("records")
def test_records_and_their_signatures(vector):
    record = Record.from_bytes(vector["canonical"].encode())
    assert record.to_bytes().decode() == vector["canonical"]
    assert record.id == vector["id"]
    if vector["birth"] is not None:
        assert address(record.digest()) == vector["id"]
        assert canonical(json.loads(vector["birth"])).decode() == vector["birth"]
    signed = sign_record(record, IDENTITY)
    assert signed.signature == vector["signature"]
    assert signed.to_bytes().decode() == vector["signed"]
    verify_record(Record.from_bytes(vector["signed"].encode()))


def test_the_memory_file():
    file = SignedMemoryFile.load(VECTORS["memory_file"].encode())
    assert file.agent == IDENTITY.address == VECTORS["identity"]["address"]
    assert file.to_bytes().decode() == VECTORS["memory_file"]
    assert file.sign(IDENTITY) == file


@pytest.mark.requirement("S1-07")
@each("moves")
def test_the_table_of_moves(vector):
    assert is_legal(State(vector["from"]), State(vector["to"])) is vector["legal"]
