"""Words and meaning are added up: what both say comes first, and neither loses what only it knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.search.joined import DEPTH, join, weight_of
from agent_memory_protocol.search.port import Hit, fits
from agent_memory_protocol.search.vectors import LEAST, Nearness, Passages
from tests.each_row import each_row


def near(**cosines: float) -> Nearness:
    return Nearness(Passages([("s", key) for key in cosines]), list(cosines.values()))


def by_words(**scores: float) -> list[Hit]:
    return [Hit("s", key, score, ("words: x",), ("x",)) for key, score in scores.items()]


OTHERS = {f"other{number}": 0.1 + number / 1000 for number in range(60)}


def test_what_both_find_comes_first_with_the_reasons_of_both():
    first, *rest = join(by_words(a=1.0, b=0.8), near(b=0.7, gap=0, c=0.6, gap2=0, a=0.1, **OTHERS), DEPTH)
    assert (first.key, first.score) == ("b", 1.0)
    assert first.reasons == ("words: x", "similar meaning 0.70")
    assert first.tokens == ("x",)
    assert [hit.key for hit in rest] == ["a", "c"]


def test_how_much_closer_a_passage_lies_counts():
    words = by_words(a=1.0, b=0.9)
    assert [hit.key for hit in join(words, near(b=0.5, gap=0, gap2=0, a=0.4, **OTHERS), DEPTH)] == ["b", "a"]
    assert [hit.key for hit in join(words, near(b=0.41, gap=0, gap2=0, a=0.4, **OTHERS), DEPTH)] == ["a", "b"]


def test_what_only_meaning_finds_comes_before_what_has_a_common_word():
    words = by_words(**{f"word{number}": 0.3 for number in range(50)})
    assert join(words, near(meaning=0.6, **OTHERS), DEPTH)[0].key == "meaning"


def test_a_neighbour_that_lies_close_counts_a_little():
    words = by_words(a=1.0, b=1.0)
    cosines = near(**OTHERS, a=0.3, gap=0.0, gap2=0.0, b=0.3, close=0.9)
    assert [hit.key for hit in join(words, cosines, DEPTH) if hit.key in "ab"] == ["b", "a"]


def test_where_all_lie_as_close_words_decide():
    assert [hit.key for hit in join(by_words(a=1.0, b=0.9), near(b=0.5), DEPTH)] == ["a", "b"]
    assert [hit.key for hit in join([], near(b=0.5), DEPTH)] == ["b"]


def test_what_lies_far_away_is_found_by_its_words_alone():
    assert [hit.key for hit in join(by_words(a=1.0), near(b=LEAST / 2, a=-0.5), DEPTH)] == ["a"]
    assert join([], near(a=0.1), DEPTH) == []


scores = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1))


@each_row(
    "by_word, cosine, fits_at, answers",
    [
        (0.0, 0.8, 0.7, True),  # meaning alone says so
        (0.0, 0.6, 0.7, False),  # the closest of all is far
        (0.5, 0.3, 0.7, True),  # each says too little, and both together enough
        (0.25, 0.3, 0.7, False),
        (0.9, -0.4, 0.7, True),  # what lies far away takes nothing from the words
        (0.0, 0.3, None, True),  # an embedder that does not say how close is close
        (0.25, 0.3, None, False),
    ],
)
def test_an_answer_fits_by_words_and_meaning_together(by_word, cosine, fits_at, answers):
    words = [Hit("s", "a", 1.0, ("words: x",), ("x",), fit=by_word)] if by_word else []
    assert fits(join(words, near(a=cosine, gap=0.1, gap2=0.0), 1, fits_at=fits_at)) == answers


def test_no_hit_fits_less_than_the_one_behind_it_however_many_are_wanted():
    words = [Hit("s", key, score, (), ("x",), fit=fit) for key, score, fit in (("a", 1, 0.2), ("b", 0.9, 0.8))]
    for limit in (1, 2):
        hits = join(words, near(a=0.2, b=0.2, gap=0.0), limit, fits_at=0.7)
        assert [hit.key for hit in hits] == ["a", "b"][:limit]
        assert {hit.fit for hit in hits} == {round(0.3 * 1.0 / 0.7, 4)}


@given(scores, scores)
def test_every_passage_is_there_once_best_first(words, cosines):
    hits = join(by_words(**words), near(**cosines), DEPTH)
    keys = [hit.key for hit in hits]
    assert len(keys) == len(set(keys))
    assert set(keys) == {*words, *(key for key, cosine in cosines.items() if cosine >= LEAST)}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 < hit.score <= 1 for hit in hits)


@each_row("words, counts", [(10, 0.025), (40, 0.1), (60, 0.15), (80, 0.2), (4_000, 0.2)])
def test_a_model_with_a_full_length_counts_less_in_short_texts_and_to_twice_in_long_ones(words, counts):
    assert weight_of(0.1, 40, words) == pytest.approx(counts)
    assert weight_of(0.1, 0, words) == 0.1
