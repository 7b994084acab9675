"""Whose records may come in: the owner's, those of the addresses a person accepts, and unsigned ones if asked for.

A record can date itself and retire others, so it is asked for in every format. A plain fact of another tool can do
neither: it becomes a new record of the person who imports it, and comes in unasked. What names an id or an address of
ours without being that record is asked for too.
"""

from collections.abc import Collection
from contextlib import suppress

from ..disk.errors import shown
from ..errors import AgentMemoryError, DamagedFile, InvalidRecord, Refused
from ..formats.entry import MemoryEntry
from ..formats.record_entries import LARGEST, kept_record, named_in
from ..formats.record_files import read_whole
from ..formats.signed_file import SignedMemoryFile
from ..memory import Memory
from ..records.proof import is_forged
from ..records.record import Record
from ..records.signing import check_address
from ..values import dataclass


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a person takes in."""

    memory: Memory  # knows which records are here already; those are taken
    addresses: Collection[str] = ()  # whose records are taken
    unsigned: bool = False  # whether records that nobody has signed are taken
    # the memory file that they come from; None if they come in another format, which nobody signs
    file: SignedMemoryFile | None = None

    def check(self, entry: MemoryEntry) -> Record | None:
        """Return the record that an entry carries, None for a plain fact.

        Refused says how to take what may not come in.
        """
        record = kept_record(entry)
        refusal = self._refusal_of_claim(entry) if record is None else self._refusal(record)
        if refusal and not (record is not None and self._is_here(record)):
            raise Refused(refusal)
        return record

    def _refusal(self, record: Record) -> str:
        if is_forged(record):
            return f"{record.id}: its signature does not verify, or was taken off; it stays out"
        signer = record.signed_by or (self.file.signer if self.file is not None else None)
        if signer is not None:
            if signer in self.addresses:
                return ""
            return f"{record.id} is signed by {signer}; take such records with --accept {signer}"
        if self.unsigned:
            return ""
        how = "is not signed"
        if self.file is not None and self.file.is_stripped:
            how = f"belongs to {self.file.agent}, whose signature was taken off the file"
        return f"{record.id} {how}; take such records with --accept-unsigned"

    def _refusal_of_claim(self, entry: MemoryEntry) -> str:
        name = "" if self.unsigned else named_in(entry)
        return name and f"it names {name} and no signature covers it; take it as a new fact with --accept-unsigned"

    def _is_here(self, record: Record) -> bool:
        with suppress(AgentMemoryError):
            return not self.memory.add(record, apply=False)[1]
        return False


def acceptance_of(
    path: str, format: str, memory: Memory, addresses: Collection[str] = (), *, unsigned: bool = False
) -> Acceptance:
    """Return what is taken of a file into a memory: what its identity, or who has signed records there, has signed."""
    for one in addresses:
        check_address(one)
    file = None
    if format == "memory-file":
        try:
            file = SignedMemoryFile.parse(read_whole(path, LARGEST))
        except InvalidRecord as error:
            raise DamagedFile(str(error), path=shown(path)) from None
    return Acceptance(memory, memory.signers() | {*addresses}, unsigned, file)
