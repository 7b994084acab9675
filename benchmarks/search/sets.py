"""Questions with known evidence, and what a set of them measures of a search: how much of the evidence is found."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median, quantiles
from time import perf_counter
from typing import Literal

from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.search.port import Hit, Passage, SearchIndex, Source, source_of
from agent_memory_protocol.tiers import document
from agent_memory_protocol.verbs.search import lines_by_hand, passages_of

Half = Literal["development", "held-out"]
NONE = "none"
"""The class of questions that nothing answers."""

Found = tuple[str, str]
"""A passage: the key of its source and its own."""


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asks.

    Attributes:
        text: the question.
        kind: its class; `NONE` where nothing answers it.
        evidence: what has to be found; of each piece any one of these passages.
        half: what may be looked at while a search is built, or what is kept to judge it by.
    """

    text: str
    kind: str
    evidence: tuple[frozenset[Found], ...]
    half: Half


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory and the questions that are asked of it."""

    sources: Sequence[Source]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the places of its evidence among the hits, from 1, with None for what is not there, and the time."""

    question: Question
    places: tuple[int | None, ...]
    hits: Sequence[Hit]
    seconds: float


def half_of(name: str) -> Half:
    """Return the half that a file, or a question without one, belongs to: always the same one."""
    return "held-out" if hashlib.blake2b(name.encode(), digest_size=1).digest()[0] % 2 else "development"


def source_of_document(key: str, text: str) -> Source:
    """Return a document of entries as a workspace would search it."""
    read = document.parse(text.encode(), Target(Tier.SHARED))
    return source_of(key, *passages_of(read, {}), *lines_by_hand(text))


def passages_in(source: Source) -> list[Passage]:
    """Return what is in a source."""
    return list(source.read(source.key))


def ask(memories: Iterable[Memory], opened: Callable[[], SearchIndex], half: Half | None, depth: int) -> list[Asked]:
    """Ask all questions of a half, or of both, each of the index of its memory, and return what was found."""
    answers = []
    for memory in memories:
        index = opened()
        index.refresh(memory.sources)
        index.search("warm", limit=1)
        for question in memory.questions:
            if half in (None, question.half):
                begin = perf_counter()
                hits = index.search(question.text, limit=depth)
                took = perf_counter() - begin
                answers.append(Asked(question, _places(question, hits), hits, took))
        index.close()
    return answers


def _places(question: Question, hits: Sequence[Hit]) -> tuple[int | None, ...]:
    found = [(hit.source, hit.key) for hit in hits]
    return tuple(
        next((place for place, one in enumerate(found, start=1) if one in piece), None) for piece in question.evidence
    )


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one class of questions; shares are from 0 to 1, times in milliseconds."""

    kind: str
    questions: int
    first: float
    recall_3: float
    recall_5: float
    recall_10: float
    mrr: float
    p50: float
    p95: float

    @classmethod
    def of(cls, kind: str, answers: Sequence[Asked]) -> "Row":
        """Measure answers. Each question counts the same, however many pieces of evidence it has."""
        times = [1000 * one.seconds for one in answers]
        with_evidence = [one for one in answers if one.question.evidence]
        return cls(
            kind,
            len(answers),
            *(mean(_share(one, depth) for one in with_evidence) if with_evidence else 0 for depth in (1, 3, 5, 10)),
            mean(max((1 / place for place in one.places if place), default=0) for one in with_evidence)
            if with_evidence
            else 0,
            median(times),
            quantiles(times, n=20)[-1] if len(times) > 1 else times[0],
        )

    def cells(self) -> list[str]:
        """Return the cells of its line."""
        found = (self.first, self.recall_3, self.recall_5, self.recall_10, self.mrr)
        shares = [f"{100 * share:.1f}" for share in found]
        shares = shares if self.kind != NONE else [""] * 5
        return [self.kind, str(self.questions), *shares, f"{self.p50:.1f}", f"{self.p95:.1f}"]


def _share(one: Asked, depth: int) -> float:
    return mean(place is not None and place <= depth for place in one.places)


def rows(answers: Sequence[Asked]) -> list[Row]:
    """Measure each class, and all questions that have an answer together."""
    kinds = dict.fromkeys(one.question.kind for one in answers)
    answered = [one for one in answers if one.question.kind != NONE]
    return [
        *(Row.of(kind, [one for one in answers if one.question.kind == kind]) for kind in kinds),
        *([Row.of("all that have an answer", answered)] if len(kinds) > 1 else []),
    ]


@dataclass(frozen=True, slots=True)
class Silence:
    """How well an index says that nothing fits.

    Attributes:
        precision: of the questions that it finds nothing for, the share that nothing answers.
        recall: of the questions that nothing answers, the share that it finds nothing for.
        lost: of the questions that have an answer, the share that it finds nothing for.
    """

    precision: float
    recall: float
    lost: float


def silence(answers: Sequence[Asked], says: Callable[[Asked], bool]) -> Silence:
    """Measure an index by what `says` that nothing fits."""
    silent = [one for one in answers if says(one)]
    without = [one for one in answers if one.question.kind == NONE]
    right = sum(one.question.kind == NONE for one in silent)
    return Silence(
        right / len(silent) if silent else 1,
        right / len(without) if without else 0,
        (len(silent) - right) / max(len(answers) - len(without), 1),
    )
