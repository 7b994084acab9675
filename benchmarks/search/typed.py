"""Short queries that a person types, over an invented memory and the real corpus: names, numbers, paths, a few words.

What `typed/queries.txt` holds, line by line:

    MEMORY | QUERY | EVIDENCE     `larch` is the invented memory, in `typed/larch`; `corpus` the corpus of `own`

Evidence is a file, or `FILE :: WORDS` where it is the entries of a file that hold these words, or have
them around them. Any one of several,
with ` || ` between them, is enough. The queries were written before the search was read that they measure, and about
half of them are held out.
"""

from collections.abc import Iterator
from pathlib import Path

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.search.port import Source
from benchmarks.search.own import LARGE, plain, source_at
from benchmarks.search.sets import Found, Memory, Question, half_of, passages_in

TYPED = Path(__file__).parent / "typed"


def load(folder: Path | None = None) -> list[Memory]:
    """Return both memories with their queries; the corpus only where it is there."""
    folders = {"larch": TYPED / "larch", "corpus": folder or LARGE}
    return [_memory(name, place) for name, place in folders.items() if place.is_dir()]


def _memory(name: str, folder: Path) -> Memory:
    keys = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.md"))]
    sources = {key: source_at(key, folder / key) for key in keys if name == "larch" or "/" in key}
    return Memory(list(sources.values()), list(_queries(name, sources)))


def _queries(memory: str, sources: dict[str, Source]) -> Iterator[Question]:
    for number, line in enumerate((TYPED / "queries.txt").read_text("utf-8").splitlines(), start=1):
        name, _, rest = line.partition(" | ")
        if name == memory:
            text, _, evidence = rest.partition(" | ")
            found = frozenset(_found(evidence, sources))
            if not found:
                raise InvalidArgument(f"queries.txt:{number}: nothing in the memory is this evidence: {evidence}")
            yield Question(text, memory, (found,), half_of(text))


def _found(evidence: str, sources: dict[str, Source]) -> Iterator[Found]:
    for one in evidence.split(" || "):
        key, _, words = one.partition(" :: ")
        for passage in passages_in(sources[key]):
            if plain(words) in plain(f"{passage.context} {passage.text}"):
                yield key, passage.key
