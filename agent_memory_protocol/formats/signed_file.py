"""The memory file: records in one file that their agent signs and any other program can verify.

The caller who loads a file decides whether it is verified, never the file itself: one without a signature is refused
unless unsigned ones are asked for. A file has one spelling, its canonical bytes, and is refused in any other.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from typing import Self

from ..errors import BadSignature, InvalidRecord
from ..records.canonical import (
    Json,
    cut_moment,
    decode,
    encode,
    format_moment,
    freeze_object,
    freeze_text,
    parse_moment,
    thaw,
)
from ..records.record import Record
from ..records.signing import MEMORY_FILE, Signer, sign_payload, verify_payload, verify_record
from ..values import dataclass

FORMAT = "fg-agent-memory/0.1"

_DEFINED = ("format", "agent", "created_at", "records", "signature")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedMemoryFile:
    """What is in a memory file.

    Attributes:
        agent: the address of the agent it belongs to; None for a file that nobody signs.
        records: its records, each in one version.
        signature: the agent's signature over all the rest; "" while it is unsigned.
        extra: fields of the header that the format does not name. They are kept and signed.

    Raises:
        InvalidRecord: a rule of the format is broken.
    """

    agent: str | None = None
    created_at: datetime
    records: tuple[Record, ...] = ()
    signature: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "created_at", cut_moment(self.created_at))
        object.__setattr__(self, "agent", None if self.agent is None else freeze_text(self.agent))
        object.__setattr__(self, "signature", freeze_text(self.signature))
        object.__setattr__(self, "records", tuple(self.records))
        object.__setattr__(self, "extra", freeze_object(self.extra))
        unknown = sorted(set(self.extra) & set(_DEFINED))
        if unknown:
            raise InvalidRecord(f"memory file: extra fields may not be called {', '.join(unknown)}")

    @classmethod
    def load(cls, data: bytes, *, allow_unsigned: bool = False) -> Self:
        """Read a memory file and verify it: the file's signature, and that of every record that claims to have one.

        With `allow_unsigned` a file without a signature is taken. What is signed is verified all the same.

        Raises:
            InvalidRecord: it is not a memory file of this format, or not in its one spelling.
            BadSignature: a signature is missing or wrong; the message says whose.
            MissingExtra: something in it is signed, and PyNaCl is not installed.
        """
        file = cls.parse(data)
        if file.signature or not allow_unsigned:
            file.verify()
        for record in file.records:
            if record.signed:
                verify_record(record)
        return file

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a memory file and verify nothing. Raises `InvalidRecord` as `load` does."""
        value = decode(data)
        if not isinstance(value, Mapping):
            raise InvalidRecord("a memory file is a JSON object")
        if value.get("format") != FORMAT:
            raise InvalidRecord(f"the format is {ascii(value.get('format'))[:60]}, not {FORMAT}; nothing in it is read")
        agent, created_at, records, signature = (value.get(name) for name in _DEFINED[1:])
        if not (
            all(name in value for name in _DEFINED)
            and (agent is None or isinstance(agent, str))
            and isinstance(created_at, str)
            and isinstance(records, list)
            and isinstance(signature, str)
        ):
            raise InvalidRecord("a memory file has format, agent, created_at, records and signature, and this has not")
        file = cls(
            agent=agent,
            created_at=parse_moment(created_at),
            records=tuple(map(Record.from_json, records)),
            signature=signature,
            extra={name: item for name, item in value.items() if name not in _DEFINED},
        )
        if file.to_bytes() != data:
            raise InvalidRecord("these are not the canonical bytes of the memory file; something has rewritten them")
        return file

    @property
    def signer(self) -> str | None:
        """The address that claims to have signed the file; None if it has no signature."""
        return self.agent if self.signature else None

    @property
    def is_stripped(self) -> bool:
        """Whether it names its agent and has no signature: somebody may have taken it off."""
        return self.agent is not None and not self.signature

    def sign(self, signer: Signer) -> Self:
        """Return the file as its agent's, signed; a `BadSignature` where it names an agent that is not the signer."""
        if self.agent not in (None, signer.address):
            raise BadSignature(f"the memory file is that of {self.agent}, and the signer is {signer.address}")
        unsigned = replace(self, agent=signer.address, signature="")
        return replace(unsigned, signature=sign_payload(signer, MEMORY_FILE, unsigned._payload()))

    def verify(self) -> None:
        """Return if the agent that the file names has signed exactly it. `load` also looks at its records.

        Raises:
            BadSignature: it has not, or there is no signature.
        """
        if self.agent is None or not self.signature:
            raise BadSignature("the memory file is not signed")
        try:
            verify_payload(self.agent, MEMORY_FILE, self._payload(), self.signature)
        except BadSignature as error:
            raise BadSignature(f"memory file: {error}") from None

    def to_bytes(self) -> bytes:
        """Return the file as it is on disk."""
        return encode({**self._payload(), "signature": self.signature})

    def to_json(self) -> str:
        """Return the file as it is on disk, as text."""
        return self.to_bytes().decode()

    def to_dict(self) -> dict[str, object]:
        """Return the file as a JSON object, its fields in the order of the format."""
        wire = {**self._payload(), "signature": self.signature}
        return {name: thaw(item) for name, item in wire.items()}

    def _payload(self) -> dict[str, Json]:
        return {
            "format": FORMAT,
            "agent": self.agent,
            "created_at": format_moment(self.created_at),
            "records": tuple(record.wire() for record in self.records),
            **self.extra,
        }
