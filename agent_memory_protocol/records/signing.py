"""Signatures: Ed25519 over canonical bytes, by keys whose public half is the signer's address.

PyNaCl does the arithmetic; it comes with the extra `sign`, and only this module imports it. What it is given is
checked here first, whatever its library would say: no key or signature of small order, for which anybody can forge,
and no second spelling of a key, a signature or an address. A signature says what it is for: one over a record never
passes for one over a file.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import replace
from types import ModuleType
from typing import Protocol, Self

from ..disk.errors import shown
from ..disk.files import Root
from ..disk.writing import create
from ..errors import BadSignature, DamagedFile, InvalidArgument, MissingExtra, StorageError
from ..project.git_files import own_git_folder
from ..project.root import git_top
from .canonical import Json, encode
from .record import Record

DOMAIN = "fg-agent-memory/v1"
RECORD, MEMORY_FILE = "record", "memory-file"  # What a signature can be over

ADDRESS_PREFIX = "amp:key:"
KEY_BYTES, IDENTITY_BYTES, SIGNATURE_BYTES = 32, 64, 64

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)}
_LONGEST_ADDRESS = 44
_ENCRYPTED = b"FGID"

_PRIME = 2**255 - 19
_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
_ORDER_EIGHT = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL_ORDER = frozenset([0, 1, _PRIME - 1, _ORDER_EIGHT, _PRIME - _ORDER_EIGHT])
"""The y coordinates of all points whose order divides eight."""


class Signer(Protocol):
    """What can sign: an `Identity`, or something that keeps its key elsewhere."""

    @property
    def address(self) -> str:
        """The address that the signatures verify against."""

    def sign(self, message: bytes) -> bytes:
        """Return the 64 bytes of the Ed25519 signature over a message."""


def check_signer(signer: object) -> None:
    """Return if this can sign: it has an address and a `sign`. Keys of other libraries have neither."""
    if not isinstance(getattr(signer, "address", None), str) or not callable(getattr(signer, "sign", None)):
        name = type(signer).__name__
        raise InvalidArgument(f"identity is the path of an identity file, or has address and sign; {name} has not")


class Identity:
    """A private key of an agent, kept as 64 bytes: its seed, and one for key agreement, which nothing here uses."""

    __slots__ = ("_agreement", "_key", "address")

    def __init__(self, data: bytes) -> None:
        if len(data) != IDENTITY_BYTES:
            raise InvalidArgument(f"an identity has {IDENTITY_BYTES} bytes, not {len(data)}")
        self._key = _nacl().signing.SigningKey(data[:KEY_BYTES])
        self._agreement = data[KEY_BYTES:]
        self.address: str = to_address(bytes(self._key.verify_key))

    def __repr__(self) -> str:
        return f"Identity({self.address})"

    @classmethod
    def generate(cls) -> Self:
        """Make a new one, which no file holds yet."""
        return cls(os.urandom(IDENTITY_BYTES))

    @classmethod
    def load(cls, path: str) -> Self:
        """Read an identity file, which only its owner may read."""
        with _folder_of(path) as root:
            content = root.read((os.path.basename(path),), limit=4096)
        if content is None:
            raise StorageError(f"{shown(path)}: there is no identity file")
        if os.name != "nt" and content.mode & 0o077:
            raise StorageError(f"{shown(path)}: others may use this key; run chmod 600 on it, or make a new one")
        if content.data.startswith(_ENCRYPTED) and content.size != IDENTITY_BYTES:
            raise DamagedFile("is encrypted, which is not supported; store the key unencrypted", path=shown(path))
        if content.size != IDENTITY_BYTES:
            reason = f"is not an identity file: it has {content.size} bytes, not {IDENTITY_BYTES}"
            raise DamagedFile(reason, path=shown(path))
        return cls(content.data)

    @classmethod
    def load_or_create(cls, path: str) -> Self:
        """Read an identity file; create a missing one, which only its owner may read. Raises as `load`."""
        if not os.path.lexists(path):
            made = cls.generate()
            if made.save(path):
                _keep_out_of_git(path)
                return made
        return cls.load(path)

    def save(self, path: str) -> bool:
        """Write it to a new file that only its owner may read; False when something is there already."""
        with _folder_of(path) as root:
            return create(root, (os.path.basename(path),), bytes(self._key) + self._agreement, mode=0o600)

    def sign(self, message: bytes) -> bytes:
        """Return the signature over a message."""
        return bytes(self._key.sign(message).signature)


def signing_input(context: str, payload: Mapping[str, Json]) -> bytes:
    """Return the bytes that a signature is over: what it is for, and the canonical bytes of a frozen payload."""
    if context not in (RECORD, MEMORY_FILE):
        raise InvalidArgument(f"nothing called {context!a} is signed")
    tag = f"{DOMAIN}/{context}".encode()
    return len(tag).to_bytes(2, "big") + tag + encode(payload)


def sign_payload(signer: Signer, context: str, payload: Mapping[str, Json]) -> str:
    """Return the signature over a payload as it is spelled in records and files."""
    message = signing_input(context, payload)
    signature = signer.sign(message)
    if not isinstance(signer, Identity):
        try:
            verify(from_address(signer.address), message, bytes(signature))
        except (BadSignature, TypeError) as error:
            raise InvalidArgument(f"identity: what its sign returned does not verify, {error}") from None
    return base64.b64encode(signature).decode()


def verify_payload(address: str, context: str, payload: Mapping[str, Json], signature: str) -> None:
    """Return if the key that the address names has signed this payload for this purpose; else BadSignature."""
    verify(from_address(address), signing_input(context, payload), _decode_signature(signature))


def sign_record(record: Record, signer: Signer) -> Record:
    """Return a version of a record that is signed."""
    unsigned = replace(record, signed_by=signer.address, signature="")
    return replace(unsigned, signature=sign_payload(signer, RECORD, unsigned.payload()))


def verify_record(record: Record) -> None:
    """Return if the signer that a record names has signed exactly it; else BadSignature."""
    if record.signed_by is None or not record.signature:
        raise BadSignature(f"{record.id}: is not signed")
    try:
        verify_payload(record.signed_by, RECORD, record.payload(), record.signature)
    except BadSignature as error:
        raise BadSignature(f"{record.id}: {error}") from None


def verify(key: bytes, message: bytes, signature: bytes) -> None:
    """Return if a key has signed a message. Raises BadSignature, also for keys that may not be used."""
    nacl = _nacl()
    if len(signature) != SIGNATURE_BYTES:
        raise BadSignature(f"the signature has {len(signature)} bytes, not {SIGNATURE_BYTES}")
    _check_point(key, "the key")
    _check_point(signature[:KEY_BYTES], "the signature")
    if int.from_bytes(signature[KEY_BYTES:], "little") >= _GROUP_ORDER:
        raise BadSignature("the signature is not in its canonical form")
    try:
        nacl.signing.VerifyKey(key).verify(message, signature)
    except (nacl.exceptions.BadSignatureError, ValueError):
        raise BadSignature("the signature is not over these bytes by this key") from None


def to_address(key: bytes) -> str:
    """Return the address of a public key. Raises BadSignature if no signature by this key could be trusted."""
    _check_point(key, "the key")
    return ADDRESS_PREFIX + _base58(key)


def from_address(address: str) -> bytes:
    """Return the public key that an address names; BadSignature if it has another spelling, or is not to be trusted."""
    text = address.removeprefix(ADDRESS_PREFIX)
    if text == address or len(text) > _LONGEST_ADDRESS or not all(letter in _VALUES for letter in text):
        raise BadSignature(f"{address[:80]!a} is not an address; one is {ADDRESS_PREFIX} and a key in base58")
    number = 0
    for letter in text:
        number = number * 58 + _VALUES[letter]
    key = number.to_bytes(KEY_BYTES + 1, "big")[1:] if number < 2 ** (8 * KEY_BYTES) else b""
    if _base58(key) != text:
        raise BadSignature(f"{address[:80]!a} does not name a key of {KEY_BYTES} bytes")
    _check_point(key, "the key")
    return key


def check_address(address: str) -> None:
    """Return if this is spelled like an address. Raises InvalidArgument if it is not."""
    try:
        from_address(address)
    except BadSignature as error:
        raise InvalidArgument(str(error)) from None


def _base58(data: bytes) -> str:
    number = int.from_bytes(data, "big")
    letters = []
    while number:
        number, value = divmod(number, 58)
        letters.append(_ALPHABET[value])
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + "".join(reversed(letters))


def _decode_signature(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if base64.b64encode(data).decode() != text or not data:
        raise BadSignature("the signature is not base64 in its one spelling")
    return data


def _check_point(data: bytes, what: str) -> None:
    """Refuse the encoding of a point that has a shorter one, or that has small order."""
    if len(data) != KEY_BYTES:
        raise BadSignature(f"{what} has {len(data)} bytes, not {KEY_BYTES}")
    y = int.from_bytes(data, "little") & ((1 << 255) - 1)
    if y >= _PRIME:
        raise BadSignature(f"{what} is not in its canonical form")
    if y in _SMALL_ORDER:
        raise BadSignature(f"{what} is of small order, so that anybody can forge with it")


def _folder_of(path: str) -> Root:
    if not os.path.basename(path) or "\0" in path:
        raise InvalidArgument(f"{path!a} cannot be the path of an identity file")
    return Root.open(os.path.dirname(os.path.abspath(path)), external_links=True)


def _keep_out_of_git(path: str) -> None:
    """Have git ignore a new private key on this machine, where it lies in a checkout."""
    path = os.path.realpath(path)
    top = git_top(os.path.dirname(path), os.environ)
    folder = own_git_folder(top) if top else ""
    if not top or not folder:
        return
    name = "/" + os.path.relpath(path, os.path.realpath(top)).replace(os.sep, "/")
    try:
        os.makedirs(os.path.join(folder, "info"), exist_ok=True)
        with open(os.path.join(folder, "info", "exclude"), "a", encoding="utf-8") as file:
            file.write(f"{name}\n")
    except OSError:
        return


def _nacl() -> ModuleType:
    try:
        import nacl.exceptions
        import nacl.signing
    except ImportError:
        raise MissingExtra("signing needs PyNaCl: pip install 'agent-memory-protocol[sign]'") from None
    return nacl
