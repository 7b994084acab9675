import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from agent_memory_protocol.errors import InvalidVector
from agent_memory_protocol.search import float32
from agent_memory_protocol.search.embedding import HashEmbedder
from agent_memory_protocol.search.port import Passage, Source, source_of
from agent_memory_protocol.search.vectors import VectorIndex
from tests.each_row import each_row

FACTS = {
    "staging": "The staging database is Postgres.",
    "redis": "Redis needs AOF on, or the queue is lost.",
    "migrations": "Run the migrations before the tests.",
}


def one(key: str, text: str) -> Source:
    return source_of(f"{key}.md", Passage(key, text))


SOURCES = [one(key, text) for key, text in FACTS.items()]


class Fixed:
    """Says of every text what it was told to say."""

    name = "fixed"

    def __init__(self, vector: Sequence[float], dimensions: int = 2, times: int = 1) -> None:
        self.dimensions = dimensions
        self._vector = vector
        self._times = times

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [self._vector] * (len(texts) * self._times)


class Counting(HashEmbedder):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self.asked += texts
        return super().embed(texts)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.sqlite"


@pytest.fixture(params=["numpy", "plain"])
def index(request, path, monkeypatch) -> Iterator[VectorIndex]:
    if request.param == "plain":
        monkeypatch.setattr(float32, "_HAS_NUMPY", False)
    else:
        pytest.importorskip("numpy")
    with closing(VectorIndex(path, HashEmbedder())) as made:
        made.refresh(SOURCES)
        yield made


def found(index: VectorIndex, query: str, **options: object) -> list[str]:
    return [hit.key for hit in index.search(query, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "key"), [("stagings databases", "staging"), ("migration testing", "migrations"), ("REDIS", "redis")]
)
def test_a_passage_is_found_by_its_likeness(index, query, key):
    (hit, *_) = index.search(query)
    assert (hit.source, hit.key, hit.score) == (f"{key}.md", key, 1.0)
    assert hit.reasons[0].startswith("similar meaning 0.")


def test_what_is_not_alike_is_not_found(index):
    assert index.search("kubernetes") == index.search("") == index.search("?!") == index.search("\0\ud800") == []


def test_only_sources_that_may_be_read_are_answered_from_and_no_more_than_wanted(index):
    assert found(index, "redis database", within=["staging.md"]) == ["staging"]
    assert len(index.search("redis database", limit=1)) == 1
    assert index.search("redis", limit=0) == []


def test_a_change_is_seen_and_only_what_changed_is_embedded(path):
    embedder = Counting()
    with closing(VectorIndex(path, embedder)) as index:
        index.refresh(SOURCES)
        assert found(index, "postgres") == ["staging"]
        embedder.asked.clear()
        assert index.refresh([SOURCES[1], one("staging", "It is SQLite.")]) == 2
        assert embedder.asked == ["It is SQLite."]
        assert found(index, "postgres") == []
        assert found(index, "sqlite") == ["staging"]
        index.refresh([one("new", "Postgres again.")], gone=["redis.md"])
        assert found(index, "postgres redis") == ["new"]
    with closing(VectorIndex(path, Counting())) as other:
        other.refresh([one("staging", "It is SQLite."), one("new", "Postgres again.")])
        assert found(other, "postgres") == ["new"]


SAID = ("I sail my boat at weekends.", "We sail the boat in winter.", "Do we sail the boat again?")
TALK = [f"{who}: {what}" for what in SAID for who in ("Ada", "Ben")]


def test_of_talk_what_is_said_is_embedded_and_who_says_it_counts_apart(path):
    embedder = Counting()
    with closing(VectorIndex(path, embedder)) as index:
        index.refresh([source_of("talk.md", *(Passage(str(place), text) for place, text in enumerate(TALK)))])
        assert sorted(set(embedder.asked)) == sorted(SAID)
        for name, theirs in (("Ada", "024"), ("Ben", "135")):
            order = found(index, f"When did {name} sail the boat?")
            assert embedder.asked[-1] == "When did  sail the boat?"
            assert all((order.index(even) < order.index(odd)) == (even in theirs) for even, odd in ("01", "23", "45"))
        found(index, "Ben's?")
        assert embedder.asked[-1] == "Ben's?"
        scores = [hit.score for hit in index.search("Does Ben sail a boat?")]
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == 1


@each_row(
    "texts",
    [
        ("Note: it rains.", "Note: it snows.", "Note: it thaws."),
        ("Ada: it rains.", "Ben: it snows.", "Ada: it thaws."),
        ("Ada: it rains.", "It snows.", "It thaws."),
    ],
)
def test_what_is_no_talk_is_embedded_as_it_is(texts):
    embedder = Counting()
    with closing(VectorIndex(None, embedder)) as index:
        index.refresh([source_of("notes.md", *(Passage(str(place), text) for place, text in enumerate(texts)))])
        index.search("Note by Ada?")
    assert embedder.asked == [*texts, "Note by Ada?"]


def test_vectors_of_another_embedder_are_refused_and_nothing_is_dropped(index, path):
    index.close()
    with closing(VectorIndex(path, HashEmbedder(64))) as other:
        for ask in (lambda: other.refresh(SOURCES), lambda: other.search("redis")):
            with pytest.raises(InvalidVector, match=r"hash-256, 256 wide, .* hash-64 are 64 wide; delete this file"):
                ask()
        assert found(index, "redis") == ["redis"]
        other.delete()
        assert other.refresh(SOURCES) == len(SOURCES)
        assert found(other, "redis") == ["redis"]


@pytest.mark.parametrize(
    ("embedder", "why"),
    [
        (Fixed([math.nan, 1]), "a vector of fixed holds nan"),
        (Fixed([math.inf, 1]), "a vector of fixed holds inf"),
        (Fixed([1]), "made a vector 1 wide, and says that all are 2 wide"),
        (Fixed([1, 0], times=2), "made 2 vectors of 1 texts"),
        (Fixed([1, 0], times=0), "made 0 vectors of 1 texts"),
        (Fixed(["x", 0]), "holds something that is not a number"),  # type: ignore[list-item]
    ],
)
def test_an_embedder_that_breaks_its_word_is_named_and_nothing_is_stored(path, embedder, why):
    with closing(VectorIndex(path, embedder)) as index:
        with pytest.raises(InvalidVector, match=why):
            index.refresh(SOURCES[:1])
        with pytest.raises(InvalidVector, match=why):
            index.search("redis")
    with closing(VectorIndex(path, Fixed([1, 0]))) as good:
        assert good.refresh(SOURCES) == 3
        assert len(good.search("anything")) == 3


@pytest.mark.parametrize("blob", [b"\0" * 7, b"\0" * 8, b"\xff" * 1024])
def test_vectors_that_were_damaged_on_disk_are_made_anew(index, path, blob):
    index.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE passages SET vector = ?", (blob,))
        connection.commit()
    assert found(index, "redis") == ["redis"]


def test_a_source_without_passages_is_known_too(path):
    with closing(VectorIndex(path, HashEmbedder())) as index:
        assert index.refresh([source_of("empty.md")]) == 1
        assert index.refresh([source_of("empty.md")]) == 0
        assert index.search("anything") == []
