"""What `Memory` answers; what it recalls is in `records.rank`, what a consolidation did is in `Report`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .proposals import Report


@dataclass(frozen=True, slots=True)
class RememberedRecord:
    """What came of remembering.

    Attributes:
        record_id: the record that says it, the first one of several; "" where nothing was kept.
        added: the ids of the records that are new.
        known: the ids of those that said so already, and were counted as used once more.
        refused: why something that an extractor proposed was not kept, one line each.
        consolidation: what was found when the new records were compared with others; None where that was not due.
    """

    record_id: str
    added: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    consolidation: Report | None = None

    @property
    def new(self) -> bool:
        """Whether anything was added."""
        return bool(self.added)


@dataclass(frozen=True, slots=True)
class MemoryStatus:
    """What there is in a memory.

    Attributes:
        records: the number of records.
        by_state, by_type: how many of them are in each state, and of each type.
        disputes: how many contradictions wait for a decision.
        problems: why a record cannot be read, one line each.
    """

    records: int
    by_state: dict[str, int]
    by_type: dict[str, int]
    disputes: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What verifying has come to.

    Attributes:
        records, versions: how many could be read.
        signed: how many of the versions claim a signature.
        problems: what does not verify, one line each.
    """

    records: int
    versions: int
    signed: int
    problems: tuple[str, ...]
