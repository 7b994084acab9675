import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.search.embedding import HashEmbedder
from agent_memory_protocol.search.fusion import fuse
from agent_memory_protocol.search.joined import JoinedIndex
from agent_memory_protocol.search.opening import VECTORS, open_index
from agent_memory_protocol.search.port import Hit, Passage, source_of


def answer(*keys: str, reason: str = "words: x") -> list[Hit]:
    return [Hit("s", key, 1 / place, (reason,)) for place, key in enumerate(keys, start=1)]


def test_what_both_answers_have_comes_first_with_the_reasons_of_both():
    hits = fuse([(1, answer("a", "b")), (0.5, answer("c", "b", reason="similar meaning 0.71"))], 10)
    assert [hit.key for hit in hits] == ["b", "a", "c"]
    assert hits[0].reasons == ("words: x", "similar meaning 0.71")
    assert hits[0].score == 1.0 > hits[1].score > hits[2].score > 0


def test_one_answer_alone_keeps_its_order():
    assert [hit.key for hit in fuse([(1, answer("b", "a", "c")), (0.5, [])], 2)] == ["b", "a"]
    assert fuse([(1, []), (0.5, [])], 10) == fuse([], 10) == []


def test_the_best_of_similar_meaning_stands_among_the_first_ten_of_many_words():
    words = answer(*(f"word-{number:02}" for number in range(50)))
    keys = [hit.key for hit in fuse([(1, words), (0.5, answer("meaning"))], 10)]
    assert keys[0] == "word-00"
    assert "meaning" in keys


answers = st.lists(st.sampled_from("abcdef"), unique=True).map(lambda keys: answer(*keys))


@given(answers, answers, st.integers(-1, 8))
def test_every_hit_of_an_answer_is_there_once_best_first(one, other, limit):
    hits = fuse([(1, one), (0.5, other)], limit)
    keys = [hit.key for hit in hits]
    assert len(keys) == len(set(keys)) == min(max(limit, 0), len({hit.key for hit in one + other}))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert not hits or hits[0].score == 1


@pytest.mark.parametrize("place", ["file", "process"])
def test_an_index_with_an_embedder_finds_by_words_and_by_likeness(tmp_path, place):
    path = tmp_path / "search.sqlite" if place == "file" else None
    index = open_index(path, embedder=HashEmbedder())
    assert isinstance(index, JoinedIndex)
    sources = [
        source_of("a", Passage("1", "The staging database is Postgres.")),
        source_of("b", Passage("2", "Authentication is by token.")),
    ]
    assert index.refresh(sources) == 2
    (hit,) = index.search("staging database")
    assert (hit.key, hit.reasons[0]) == ("1", "words: staging, database")
    assert hit.reasons[1].startswith("similar meaning")
    (hit,) = index.search("authenticating tokenizers")
    assert hit.key == "2"
    assert index.search("staging", within=["b"]) == []
    assert index.refresh([], gone=["a"]) == 1
    assert index.search("staging database") == []
    index.close()
    made = {file.name for file in tmp_path.iterdir()}
    assert made == ({"search.sqlite", f"search.sqlite{VECTORS}"} if path else set())
