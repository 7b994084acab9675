"""Write records.json: what the published reference implementation makes of the inputs below.

    python tests/data/vectors/make_records.py

needs the packages fg-agent-memory and fg-agent-id. The tests hold the file against them and against this package.
"""

import json
from pathlib import Path
from typing import Any

import fg_agent_memory as fg
from fg_agent_id import KeyPair, address_from_signing_key, canonical_json
from fg_agent_memory.signing import signing_input

OUTPUT = Path(__file__).with_name("records.json")

SEED = bytes(range(64))
OTHER = "mem:" + "0" * 32
NOW, LATER = "2026-11-15T12:00:00.000Z", "2026-11-16T08:30:00.250Z"
SOURCE = {"kind": "conversation", "ref": "session-7", "agent": None}

CANONICAL = {
    "keys sorted, nothing between tokens": {"b": [1, -2, 0], "a": {"d": None, "c": True}, "": False},
    "keys sorted by code point": {"\uffff": 1, "\U0001f600": 2, "Z": 3, "a": 4, "\u00e9": 5},
    "normal form C": {"\u00e9": "A\u030a", "x": ["\u212b", "e\u0301"]},
    "escapes": 'quote " backslash \\ slash / \b\f\n\r\t\u0000\u001f\u007f\u2028',
    "whole numbers of any size": [9007199254740993, -(10**30)],
    "empty": [{}, [], ""],
}

RECORDS: dict[str, dict[str, Any]] = {
    "fact": {"type": "fact", "body": "The API listens on port 8080.", "slots": {"port": 8080, "hosts": ["a", "b"]}},
    "episode that happened before it was learned": {
        "type": "episode",
        "body": "Deploying on Friday failed.",
        "occurred_at": "2026-11-13T17:00:00.000Z",
        "tags": ["deploy", "friday"],
    },
    "rule": {"type": "rule", "body": "Never deploy on Friday.", "evidence": [OTHER], "confidence": "0.7500"},
    "flagged rule": {
        "type": "rule",
        "body": "Never deploy on Friday.",
        "evidence": [OTHER],
        "flagged": True,
        "flag_reason": "all evidence records are archived or superseded",
        "updated_at": LATER,
    },
    "procedure with fields of a later format": {
        "type": "procedure",
        "body": "Run the migrations first.",
        "x_reviewed": {"by": "ana", "on": [2026, 11, 14]},
    },
    "text in normal form C": {
        "type": "fact",
        "body": "Gr\u00f6\u00dfe: 5 \u00b5m \u2014 \U0001f600\nsecond line",
        "tags": ["caf\u00e9"],
    },
    "superseded": {
        "type": "fact",
        "body": "The API listens on port 8000.",
        "state": "superseded",
        "superseded_by": OTHER,
        "state_reason": "moved in March",
        "updated_at": LATER,
    },
    "archived": {
        "type": "fact",
        "body": "The office is closed this week.",
        "state": "archived",
        "state_reason": "not used for a year",
        "confidence": "0.5000",
        "updated_at": LATER,
    },
}

PAYLOADS = {"record": {"a": 1}, "memory-file": {"b": "two", "a": ["\u00e9"]}}

KEYS = {
    "a seed": SEED[:32].hex(),
    "all zeros": "00" * 32,
    "all ones": "ff" * 32,
}


def build() -> dict[str, Any]:
    """Return the vectors."""
    keys = KeyPair.from_bytes(SEED)
    signer = address_from_signing_key(keys.public.signing)
    records = {name: made(fields) for name, fields in RECORDS.items()}
    sides = [records["fact"], made({"type": "fact", "body": "The API does not listen on port 8080."})]
    pair = fg.begin_transition(*sides, reason="one side negates the other", now=moment(LATER))
    records["transitional"], records["transitional, the other side"] = pair
    stone = fg.MemoryRecord.tombstone(records["fact"], reason="it named an internal port", now=moment(LATER))
    records["redacted"] = stone
    signed = {name: record.sign(keys, signer) for name, record in records.items()}
    file = fg.MemoryFile.create([signed["fact"], records["rule"], stone], agent=signer, created_at=moment(LATER)).sign(
        keys
    )
    return {
        "about": "fg-agent-memory/0.1, made by the published reference; see docs/records.md and make_records.py",
        "identity": {"bytes_hex": SEED.hex(), "address": signer},
        "addresses": [
            {"seed_hex": seed, "key_hex": public(seed).hex(), "address": address_from_signing_key(public(seed))}
            for seed in KEYS.values()
        ],
        "canonical": [
            {"about": about, "value": value, "canonical": canonical_json(value).decode()}
            for about, value in CANONICAL.items()
        ],
        "signing_inputs": [
            {"context": context, "payload": payload, "hex": signing_input(context, payload).hex()}
            for context, payload in PAYLOADS.items()
        ],
        "records": [
            {
                "about": name,
                "birth": None if record.redacted else canonical_json(record._birth()).decode(),
                "id": record.id,
                "canonical": canonical_json(record.model_dump()).decode(),
                "signature": signed[name].signature,
                "signed": canonical_json(signed[name].model_dump()).decode(),
            }
            for name, record in records.items()
        ],
        "memory_file": canonical_json(file.model_dump()).decode(),
        "moves": [
            {"from": source, "to": target, "legal": fg.is_legal(source, target)}
            for source in map(str, fg.RecordState)
            for target in map(str, fg.RecordState)
        ],
    }


def made(fields: dict[str, Any]) -> Any:
    """Return a record of the reference with these fields."""
    return fg.MemoryRecord.model_validate(
        {"created_at": NOW, "updated_at": NOW, "provenance": SOURCE, "confidence": "0.9000", **fields}
    )


def moment(text: str) -> Any:
    """Return a moment as the reference reads it."""
    return made({"type": "fact", "body": "", "updated_at": text}).updated_at


def public(seed: str) -> bytes:
    """Return the public key of a seed."""
    return KeyPair.from_bytes(bytes.fromhex(seed) + bytes(32)).public.signing


if __name__ == "__main__":
    OUTPUT.write_text(json.dumps(build(), ensure_ascii=True, indent=1) + "\n", encoding="utf-8")
