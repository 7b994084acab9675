"""One record file becomes another: read, carried as far as the new format goes, written whole or not at all.

What the new format cannot carry is counted by the rows of its table, so what is said of a conversion is what it did.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from types import MappingProxyType
from typing import Any

from ..errors import AgentMemoryError, DamagedFile, InvalidArgument, MissingExtra
from ..formats import json_schema
from ..formats.entry import MADE_BY, MemoryEntry, Problem, embedding_of
from ..formats.loss import OVER, Loss
from ..formats.record_files import replacing
from ..formats.table import Format
from ..search.port import Embedder
from ..values import dataclass

TOLD = 100  # Of more problems than this only the number is kept

_BARE = ("ndjson", "json")  # Formats that are written without embeddings where somebody asks for that
_EVERY = 1000  # How many entries come through between two reports of progress


@dataclass
class Conversion:
    """What of a file has come through, and what has not."""

    target: Format
    embedder: Embedder  # what makes the embeddings that are missing and needed
    strict: bool = False
    embeds: bool = True  # whether entries keep their embedding and get one; only JSON can be written without
    progress: Callable[[int], object] | None = None  # is told how many entries have come through, now and then
    entries: int = 0
    lost: Counter[Loss] = field(default_factory=Counter)  # of how many of them what was lost
    # what is not an entry, or none that the target can hold: the first `TOLD`
    problems: list[Problem] = field(default_factory=list)
    left_out: int = 0
    doubles: int = 0  # how many are duplicates, word for word
    embedded: int = 0

    def to_json(self) -> dict[str, object]:
        """Return the JSON answer, the source aside."""
        return {
            "to": self.target.name,
            "entries": self.entries,
            "embedded": self.embedded,
            "doubles": self.doubles,
            "losses": [{"what": one.what, "instead": one.instead, "entries": n} for one, n in self.lost.items()],
            "left_out": self.left_out,
            "problems": [one._asdict() for one in self.problems],
        }

    def __post_init__(self) -> None:
        if not self.embeds and self.target.name not in _BARE:
            raise InvalidArgument(f"{self.target.name} has no way to leave embeddings out; {' and '.join(_BARE)} have")

    def carry(self, found: Iterable[MemoryEntry | Problem]) -> Iterator[Any]:
        """Yield each entry that comes through as the target writes it.

        DamagedFile if none does, or, when strict, not all.
        """
        seen: dict[str, int] = {}
        for number, one in enumerate(readable(found), start=1):
            if isinstance(one, Problem):
                self._leave_out(one)
                continue
            content = hash((one[1:7], frozenset(one.extra.items()), one.unknown))
            if one.id in seen:
                if seen[one.id] == content:
                    self.doubles += 1
                else:
                    self._leave_out(Problem(f"entry {number:,}", f"the id {one.id[:60]!a} is that of an earlier entry"))
                continue
            seen[one.id] = content
            if OVER in self.target.losses and OVER.found(one):
                self.lost[OVER] += 1
                continue
            try:
                encoded = self._encode(one)
            except MissingExtra:
                raise
            except AgentMemoryError as error:
                self._leave_out(Problem(f"entry {number:,}", str(error)))
                continue
            self.entries += 1
            if self.progress is not None and self.entries % _EVERY == 0:
                self.progress(self.entries)
            yield encoded
        if self.problems and not self.entries:
            first, more = self.problems[0], f", and {self.left_out - 1:,} more are wrong" if self.left_out > 1 else ""
            raise DamagedFile(f"{first.place}: {first.reason}{more}; nothing was written")

    def _encode(self, entry: MemoryEntry) -> Any:
        carried, lost = self.target.carry(entry)
        if not self.embeds:
            self.lost.update(lost)
            return json_schema.encode(carried, embeds=False)
        embeds = self.target.needs_embedding and not carried.embedding
        if embeds:
            vector = embedding_of(self.embedder.embed([carried.text])[0])
            extra = MappingProxyType({**carried.extra, MADE_BY: self.embedder.name})
            carried = carried._replace(embedding=vector, extra=extra)
        encoded = self.target.encode(carried)
        self.embedded += embeds
        self.lost.update(lost)
        return encoded

    def _leave_out(self, problem: Problem) -> None:
        keep(self.problems, problem, strict=self.strict)
        self.left_out += 1


def readable(found: Iterable[MemoryEntry | Problem]) -> Iterator[MemoryEntry | Problem]:
    """Yield what can be read, and one problem for the rest; DamagedFile if that is everything."""
    nothing = True
    try:
        for one in found:
            nothing = False
            yield one
    except DamagedFile as error:
        if nothing:
            raise
        yield Problem("the rest", str(error))


def keep(
    problems: list[Problem], problem: Problem, *, strict: bool, kind: type[AgentMemoryError] = DamagedFile
) -> None:
    """Keep a problem while there are fewer than `TOLD`; raise it as an error of this kind when one is too many."""
    if strict:
        raise kind(f"{problem.place}: {problem.reason}; nothing was written")
    if len(problems) < TOLD:
        problems.append(problem)


def convert(source: str, source_format: Format, conversion: Conversion, path: str, *, overwrite: bool = False) -> None:
    """Write what a file holds in another format.

    See `conversion` for what came through. Raises DamagedFile for nothing.
    """
    with replacing(path, overwrite=overwrite) as new:
        conversion.target.write(new, conversion.carry(source_format.read(source)))
