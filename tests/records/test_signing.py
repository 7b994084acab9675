"""Signatures: what was signed verifies, and nothing that differs in one bit, one spelling or one purpose does."""

import base64
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from agent_memory_protocol.errors import (
    BadSignature,
    DamagedFile,
    InvalidArgument,
    InvalidRecord,
    MissingExtra,
    StorageError,
)
from agent_memory_protocol.records import lifecycle, signing
from agent_memory_protocol.records.canonical import canonical, decode, freeze_object
from agent_memory_protocol.records.record import Provenance, Record, RecordType, new_record
from agent_memory_protocol.records.signing import (
    MEMORY_FILE,
    RECORD,
    Identity,
    from_address,
    sign_payload,
    sign_record,
    signing_input,
    to_address,
    verify,
    verify_payload,
    verify_record,
)
from tests.each_row import each_row

pytest.importorskip("nacl")

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONE, OTHER = Identity(bytes(range(64))), Identity(bytes(range(64, 128)))
PRIME, GROUP = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493


def record(number: int = 0, **changes: Any) -> Record:
    body = f"Service s{number} listens on port {1000 + number}. Größe: 5 µm\n"
    source = Provenance("conversation", f"s{number}", ONE.address)
    return new_record(
        RecordType.FACT, body, provenance=source, now=NOW, slots={"port": number}, tags=("a", "b"), **changes
    )


SIGNED = sign_record(record(), ONE)


def accepts(data: bytes) -> bool:
    try:
        verify_record(Record.from_bytes(data))
    except (InvalidRecord, BadSignature):
        return False
    return True


@pytest.mark.requirement("S1-05", "S1-06")
def test_a_signed_record_verifies_and_says_by_whom():
    verify_record(SIGNED)
    assert SIGNED.signed_by == ONE.address
    assert SIGNED.id == record().id
    assert accepts(SIGNED.to_bytes())
    assert sign_record(SIGNED, OTHER).signed_by == OTHER.address
    verify_record(sign_record(SIGNED, OTHER))


@pytest.mark.requirement("S1-57", "S1-58")
@each_row(
    "changed",
    [
        record(),
        replace(SIGNED, confidence=0.5),
        replace(SIGNED, signed_by=OTHER.address),
        replace(SIGNED, signed_by=None),
        replace(SIGNED, signature=""),
        replace(SIGNED, extra={"new": 1}),
        replace(SIGNED, signature=sign_record(record(1), ONE).signature),
        replace(SIGNED, signature=sign_payload(ONE, MEMORY_FILE, SIGNED.payload())),
        replace(SIGNED, signature="x" * 88),
        replace(SIGNED, signature="ä"),
        replace(SIGNED, signed_by="nobody"),
    ],
)
def test_what_is_not_exactly_what_was_signed_does_not_verify(changed):
    with pytest.raises(BadSignature) as caught:
        verify_record(changed)
    assert str(caught.value).startswith(f"{SIGNED.id}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.requirement("S1-57")
def test_every_move_of_the_lifecycle_clears_the_signature():
    successor = record(1, supersedes=SIGNED.id)
    side, _ = lifecycle.dispute(SIGNED, record(1), reason="x", now=NOW)
    moved = [
        lifecycle.supersede(SIGNED, successor, reason="x", now=NOW),
        side,
        lifecycle.archive(SIGNED, reason="x", now=NOW),
        lifecycle.redact(SIGNED, reason="x", now=NOW),
    ]
    for version in moved:
        assert not version.signed
        verify_record(sign_record(version, ONE))


@pytest.mark.requirement("S1-56")
def test_what_is_signed_says_what_it_is_for():
    payload = freeze_object({"a": 1})
    assert signing_input(RECORD, payload) == b"\x00\x19fg-agent-memory/v1/record" + b'{"a":1}'
    assert signing_input(MEMORY_FILE, payload) == b"\x00\x1efg-agent-memory/v1/memory-file" + b'{"a":1}'
    for context, wrong in ((RECORD, MEMORY_FILE), (MEMORY_FILE, RECORD)):
        signature = sign_payload(ONE, context, payload)
        verify_payload(ONE.address, context, payload, signature)
        with pytest.raises(BadSignature):
            verify_payload(ONE.address, wrong, payload, signature)
    with pytest.raises(InvalidArgument):
        signing_input("agent-card", payload)


# What happens to bytes on their way


def mutations(data: bytes, random: Random) -> Iterator[bytes]:
    """Yield the bytes with every kind of change: cut off, one more, two swapped, read and spelled in another way."""
    for end in random.sample(range(len(data)), 40):
        yield data[:end]
    for place in random.sample(range(len(data) + 1), 40):
        yield data[:place] + bytes([random.choice(b' \n\t,"0a}\x00\xff')]) + data[place:]
    for place in random.sample(range(len(data) - 1), 40):
        if data[place] != data[place + 1]:
            yield data[:place] + data[place + 1 : place + 2] + data[place : place + 1] + data[place + 2 :]
    units = data.split(b",")
    for first, second in pairwise(range(len(units))):
        swapped = units.copy()
        swapped[first], swapped[second] = swapped[second], swapped[first]
        yield b",".join(swapped)
    wire = decode(data)
    assert isinstance(wire, dict)
    items = list(wire.items())
    random.shuffle(items)
    yield json.dumps(dict(items), ensure_ascii=False, separators=(",", ":")).encode()
    yield json.dumps(wire, separators=(",", ":"), sort_keys=True).encode()
    yield json.dumps(wire, ensure_ascii=False, sort_keys=True).encode()
    yield json.dumps(wire, ensure_ascii=False, sort_keys=True, indent=1).encode()
    yield b"\xef\xbb\xbf" + data
    yield data + b"\n"
    yield data.replace("ö".encode(), "o\u0308".encode())
    yield data.replace(b'"slots":{"port":', b'"slots":{"port":1,"port":')
    yield data.replace(b'"flagged":false', b'"flagged":0')
    yield data.replace(b'"confidence":"1.0000"', b'"confidence":1')


def a_hundred(usual):
    """Try a hundred records with --long, and some of them usually."""
    numbers = [number if number < usual else pytest.param(number, marks=pytest.mark.long) for number in range(100)]
    return pytest.mark.parametrize("number", numbers)


@pytest.mark.slow
@pytest.mark.requirement("S1-06", "S1-58", "S1-65")
@a_hundred(10)
def test_no_change_to_the_bytes_of_a_signed_record_passes(number):
    random = Random(number)
    data = sign_record(record(number), ONE).to_bytes()
    assert accepts(data)
    assert not [changed for changed in mutations(data, random) if accepts(changed)]


@pytest.mark.slow
@pytest.mark.requirement("S1-06", "S1-58", "S1-65")
@a_hundred(10)
def test_no_signed_record_passes_cut_off_or_with_a_byte_more_anywhere(number):
    data = sign_record(record(number), ONE).to_bytes()
    random = Random(number)
    for place in range(len(data)):
        assert not accepts(data[:place])
        assert not accepts(data[:place] + random.randbytes(1) + data[place:])


@pytest.mark.slow
@pytest.mark.requirement("S1-06", "S1-58")
def test_no_flipped_bit_in_a_signed_record_passes():
    data = SIGNED.to_bytes()
    assert not [bit for bit in range(8 * len(data)) if accepts(flipped(data, bit))]


@pytest.mark.slow
@a_hundred(3)
def test_no_flipped_bit_in_any_of_a_hundred_signed_records_passes(number):
    data = sign_record(record(number), ONE).to_bytes()
    assert not [bit for bit in range(8 * len(data)) if accepts(flipped(data, bit))]


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_signature_has_one_spelling():
    raw = base64.b64decode(SIGNED.signature)
    larger = (int.from_bytes(raw[32:], "little") + GROUP).to_bytes(32, "little")
    for spelling in (
        SIGNED.signature + "\n",
        SIGNED.signature.rstrip("="),
        SIGNED.signature[:-3] + chr(ord(SIGNED.signature[-3]) + 1) + "==",  # other unused bits, the same bytes
        base64.b64encode(raw[:32] + larger).decode(),  # the same number modulo the order of the group
        base64.b64encode(raw + b"\0").decode(),
        base64.urlsafe_b64encode(b"\xff" * 64).decode(),
    ):
        with pytest.raises(BadSignature):
            verify_record(replace(SIGNED, signature=spelling))


# Keys for which anybody can forge


def add(p: tuple[int, int], q: tuple[int, int]) -> tuple[int, int]:
    d = -121665 * pow(121666, -1, PRIME) % PRIME
    (x1, y1), (x2, y2) = p, q
    t = d * x1 * x2 * y1 * y2 % PRIME
    return (x1 * y2 + x2 * y1) * pow(1 + t, -1, PRIME) % PRIME, (y1 * y2 + x1 * x2) * pow(1 - t, -1, PRIME) % PRIME


def point(data: bytes) -> tuple[int, int]:
    y = (int.from_bytes(data, "little") & (2**255 - 1)) % PRIME
    d = -121665 * pow(121666, -1, PRIME) % PRIME
    square = (y * y - 1) * pow(d * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if x * x % PRIME != square:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    assert x * x % PRIME == square
    return (PRIME - x if x % 2 != data[31] >> 7 else x), y


EIGHT = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
SMALL = [y | sign << 255 for y in (0, 1, PRIME - 1, PRIME, PRIME + 1, EIGHT, PRIME - EIGHT) for sign in (0, 1)]
WEAK = [number.to_bytes(32, "little") for number in SMALL]
"""Every encoding of every point whose order divides eight, those with y not below the prime among them."""


@each_row("key", WEAK, ids=bytes.hex)
def test_a_key_of_small_order_is_refused_wherever_it_comes_from(key):
    eightfold = point(key)
    for _ in range(3):
        eightfold = add(eightfold, eightfold)
    assert eightfold == (0, 1), "it is of small order, by arithmetic alone"

    forged = WEAK[2] + bytes(32)  # R is the neutral element and s is 0: right for every message and many such keys
    for use in (
        lambda: verify(key, b"anything", forged),
        lambda: to_address(key),
        lambda: from_address(signing.ADDRESS_PREFIX + signing._base58(key)),
        lambda: verify_record(replace(SIGNED, signed_by=signing.ADDRESS_PREFIX + signing._base58(key))),
        lambda: verify(from_address(ONE.address), b"anything", key + bytes(32)),
    ):
        with pytest.raises(BadSignature, match=r"small order|canonical form"):
            use()


@pytest.mark.parametrize("y", [PRIME + 2, PRIME + 18, 2**255 - 1])
def test_a_key_that_has_a_shorter_spelling_is_refused(y):
    for sign in (0, 1):
        with pytest.raises(BadSignature, match="canonical form"):
            to_address((y | sign << 255).to_bytes(32, "little"))


@pytest.mark.requirement("S1-05")
def test_an_address_and_a_key_are_the_same_thing():
    random = Random(1)
    for _ in range(300):
        key = Identity(random.randbytes(64)).address
        assert to_address(from_address(key)) == key
    zeros = bytes(3) + bytes(range(1, 30))
    assert to_address(zeros).startswith("amp:key:111")
    assert from_address(to_address(zeros)) == zeros


@each_row(
    "address",
    [
        "",
        "amp:key:",
        "AMP:KEY:" + ONE.address[8:],
        ONE.address + " ",
        ONE.address[:-1],
        ONE.address[:8] + "1" + ONE.address[8:],
        ONE.address[:-1] + "0",  # base58 has no 0, O, I and l
        ONE.address[:-1] + "é",
        "amp:key:" + "z" * 44,
        "amp:key:" + "z" * 100_000,
        "did:amp:" + ONE.address[8:],
        ONE.address[8:],
    ],
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(BadSignature) as caught:
        from_address(address)
    assert len(str(caught.value)) < 200


@pytest.mark.slow
@pytest.mark.requirement("S1-05", "S1-58")
def test_a_second_library_agrees_on_what_is_signed_and_on_every_change_to_it(sized):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    exceptions = pytest.importorskip("cryptography.exceptions")

    def theirs(key: bytes, message: bytes, signature: bytes) -> bool:
        try:
            ed25519.Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        except (exceptions.InvalidSignature, ValueError):
            return False
        return True

    def ours(key: bytes, message: bytes, signature: bytes) -> bool:
        try:
            verify(key, message, signature)
        except BadSignature:
            return False
        return True

    random = Random(2)
    for number in range(sized(300, 5_000, 100_000)):
        private = ed25519.Ed25519PrivateKey.from_private_bytes(random.randbytes(32))
        signed = [private.public_key().public_bytes_raw(), random.randbytes(1 + number % 300)]
        signed.append(private.sign(signed[1]))
        assert ours(*signed)
        assert theirs(*signed)
        part = number % 3
        signed[part] = flipped(signed[part], random.randrange(8 * len(signed[part])))
        assert ours(*signed) == theirs(*signed), [item.hex() for item in signed]


# Identity files


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.key"


@pytest.mark.requirement("S1-27")
def test_an_identity_is_created_once_for_its_owner_only_and_reloaded_ever_after(path):
    old = os.umask(0)
    try:
        made = Identity.load_or_create(str(path))
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_size == 64
    assert [file.name for file in path.parent.iterdir()] == ["agent.key"]
    assert Identity.load_or_create(str(path)).address == made.address
    assert Identity.load(str(path)).address == made.address
    assert not OTHER.save(str(path))
    assert Identity.load(str(path)).address == made.address
    assert path.read_bytes().hex()[:64] not in repr(made)


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_an_identity_that_others_may_use_is_refused(path, mode):
    ONE.save(str(path))
    path.chmod(mode)
    with pytest.raises(StorageError, match="chmod 600"):
        Identity.load(str(path))
    path.chmod(0o400)
    assert Identity.load(str(path)).address == ONE.address


@pytest.mark.parametrize("data", [b"", b"x" * 63, b"x" * 65, b"FGID" + b"x" * 100, b"x" * 10_000])
def test_what_is_no_identity_file_is_refused(path, data):
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(DamagedFile):
        Identity.load_or_create(str(path))
    assert path.read_bytes() == data


def test_an_identity_file_must_be_a_file(path, tmp_path):
    with pytest.raises(StorageError, match="there is no identity file"):
        Identity.load(str(path))
    os.mkfifo(path)
    with pytest.raises(StorageError, match="named pipe"):
        Identity.load_or_create(str(path))
    with pytest.raises(InvalidArgument):
        Identity.load("")
    dangling = tmp_path / "link.key"
    dangling.symlink_to(tmp_path / "gone.key")
    with pytest.raises(StorageError):
        Identity.load_or_create(str(dangling))
    with pytest.raises(InvalidArgument):
        Identity(b"short")


def test_without_the_extra_everything_imports_and_signing_names_it():
    program = (
        "import sys; sys.modules['nacl'] = None\n"
        "from agent_memory_protocol.records import lifecycle, signing, sqlite_store, store\n"
        "from agent_memory_protocol.formats import signed_file\n"
        "from agent_memory_protocol.errors import MissingExtra\n"
        f"assert len(signing.from_address({ONE.address!r})) == 32\n"
        "for use in (signing.Identity.generate, lambda: signing.verify(bytes(32), b'', bytes(64))):\n"
        "    try: use()\n"
        "    except MissingExtra as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "signing needs PyNaCl: pip install 'agent-memory-protocol[sign]'\n" * 2
    assert MissingExtra.exit_code == 2


def test_only_canonical_bytes_are_a_record():
    with pytest.raises(InvalidRecord, match="not its canonical bytes"):
        Record.from_bytes(SIGNED.to_bytes() + b" ")
    assert canonical(SIGNED.to_json()) == SIGNED.to_bytes()
