"""Whose records may come in: the owner's, those of the addresses a person accepts, and unsigned ones if asked for."""

from collections.abc import Collection
from dataclasses import dataclass

from ..disk.errors import shown
from ..errors import DamagedFile, InvalidRecord, Refused
from ..formats.record_entries import LARGEST
from ..formats.record_files import read_whole
from ..formats.signed_file import SignedMemoryFile
from ..memory import Memory
from ..records.proof import is_forged
from ..records.record import Record
from ..records.signing import check_address


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a person takes in.

    Attributes:
        addresses: whose records are taken.
        unsigned: whether records that nobody has signed are taken.
        file: the memory file that they come from; None where they come in another format, which nobody signs.
    """

    addresses: Collection[str] = ()
    unsigned: bool = False
    file: SignedMemoryFile | None = None

    def check(self, record: Record, newest: Record | None) -> None:
        """Return if a record may come in; `newest` is the version of it that is here.

        In a format that nobody signs, an unsigned record comes in too, but for a new version of a signed one.

        Raises:
            Refused: it may not; the message says how to take it.
        """
        if is_forged(record):
            raise Refused(f"{record.id}: its signature does not verify, or was taken off; it stays out")
        signer = record.signed_by or (self.file.signer if self.file is not None else None)
        if signer is not None:
            if signer not in self.addresses:
                raise Refused(f"{record.id} is signed by {signer}; take such records with --accept {signer}")
        elif not self.unsigned and (self.file is not None or (newest is not None and newest.signed)):
            how = "is not signed"
            if self.file is not None and self.file.is_stripped:
                how = f"belongs to {self.file.agent}, whose signature was taken off the file"
            raise Refused(f"{record.id} {how}; take such records with --accept-unsigned")


def acceptance_of(
    path: str, format: str, memory: Memory, addresses: Collection[str] = (), *, unsigned: bool = False
) -> Acceptance:
    """Return what is taken of a file into a memory: what its identity, or who has signed records there, has signed.

    Raises:
        InvalidArgument: one of the further `addresses` is spelled wrongly.
        DamagedFile: it is a memory file that cannot be read.
    """
    for one in addresses:
        check_address(one)
    file = None
    if format == "memory-file":
        try:
            file = SignedMemoryFile.parse(read_whole(path, LARGEST))
        except InvalidRecord as error:
            raise DamagedFile(str(error), path=shown(path)) from None
    return Acceptance(memory.signers() | {*addresses}, unsigned, file)
