"""What every search index does, and the values that go in and come out.

The caller says what there is: sources, each with a fingerprint of its content. An index reads those it has not
seen in that state and forgets the ones that are gone, so a search that follows `refresh` never answers with what has
changed. Everything in an index can be made again from its sources.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from ..text.digest import blake2b
from ..values import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """One thing to find: an entry, a note, a record.

    Its `key` is its name within its source. `context` is what is around its text and counts less: headings, tags.
    """

    key: str
    text: str
    context: str = ""


class Source(NamedTuple):
    """Passages that change together: the entries of a document, or a single record.

    Attributes:
        key: its name in the index: a path, an id.
        fingerprint: changes whenever any of its passages does.
        read: returns the passages of the source with this key. It is called only where the index does not know the
            fingerprint, and must return what that was taken of.
    """

    key: str
    fingerprint: str
    read: Callable[[str], Iterable[Passage]]


def source_of(key: str, *passages: Passage) -> Source:
    """Make a source of passages that are at hand; the fingerprint is of their content."""
    digest = blake2b(digest_size=16)
    for passage in passages:
        for part in (passage.key, passage.text, passage.context):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
    return Source(key, digest.hexdigest(), lambda _: passages)


LEAST_FIT = 0.3
"""Where the best hit fits less, a memory has no answer: of the questions that have one, 99 in 100 are above it."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found."""

    source: str  # the key of its source
    key: str
    score: float  # above 0 and at most 1, which the best hit of an answer has. It compares hits of one answer only
    reasons: tuple[str, ...]  # why it was found, for a person: `words: staging, database`
    # the tokens of the query that are in it or around it; `excerpt` finds them in its text
    tokens: tuple[str, ...] = ()
    # each word of the query that was taken for a slip, with the word of this passage that was looked for
    meant: tuple[tuple[str, str], ...] = ()
    # from 0 to 1, what it has of what was asked for; this compares hits of different queries. See `LEAST_FIT`
    fit: float = 1.0


def fits(hits: Sequence[Hit]) -> bool:
    """Say whether the best of some hits answers what was asked for.

    What was found only by what is beside it says nothing of that. What was found by meaning alone does so by its
    cosine, or always with an embedder that does not say how close is close.
    """
    return next((hit.fit for hit in hits if hit.fit), 0) >= LEAST_FIT


class SearchIndex(Protocol):
    """What every index does. All of them pass the same tests."""

    def refresh(self, sources: Iterable[Source], gone: Collection[str] | None = None) -> int:
        """Bring the index in line with these sources; return how many were read or forgotten.

        `gone` are the keys of sources to forget; None means all that are not among these. A caller that knows what has
        changed gives it, and the rest is left alone. An error of a source's `read` comes through, and the index stays
        as it was.
        """

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the passages that fit best, best first, ties by source and key.

        Any text is a query: nothing in it is syntax. A query without a word that can be searched for finds nothing.

        Args:
            query: what to look for.
            limit: how many hits at most.
            within: the keys of the only sources that may be answered from; None means all.
        """

    def close(self) -> None:
        """Close the files that it holds open, if any. The next call opens them again."""

    def delete(self) -> None:
        """Forget everything, so that nothing is left in a file of what was taken out. `refresh` makes it again."""


class Embedder(Protocol):
    """What turns texts into vectors, so that texts of similar meaning have similar directions."""

    @property
    def name(self) -> str:
        """What makes these vectors. Vectors of another name are not compared with them."""

    @property
    def dimensions(self) -> int:
        """The width of its vectors."""

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector for each text, of length 1, or all zeros where a text says nothing."""
