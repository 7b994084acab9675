import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.search.embedding import HashEmbedder
from agent_memory_protocol.search.float32 import to_bytes
from tests.each_row import each_row

GOLDEN = "95838fbc4f6104bf25b28abe36e7b1be000000004aec29be8cf333bf2e9f033e"


def likeness(one: str, other: str) -> float:
    first, second = HashEmbedder().embed([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


@pytest.mark.requirement("S1-19")
def test_a_text_has_the_same_vector_everywhere_and_always():
    (vector,) = HashEmbedder(8).embed(["Redis needs AOF on."])
    assert to_bytes(vector).hex() == GOLDEN


@pytest.mark.slow
@given(st.text(), st.integers(1, 40))
def test_a_vector_has_length_one_or_none_at_all(text, dimensions):
    (vector,) = HashEmbedder(dimensions).embed([text])
    assert len(vector) == dimensions
    length = math.hypot(*vector)
    assert length == 0 or math.isclose(length, 1)


def test_a_text_without_words_says_nothing():
    assert HashEmbedder(3).embed(["", "?!"]) == [[0.0] * 3] * 2


def test_texts_of_common_words_are_closer_than_others():
    text = "The staging database is Postgres."
    assert likeness(text, text) == pytest.approx(1)
    assert likeness(text, "the STAGING database is postgres") == pytest.approx(1)
    assert likeness(text, "staging databases") > 0.4 > likeness(text, "Run all migrations first.")


@each_row("other", ["database", "databases", "databse", "Database"])
def test_forms_and_slips_of_a_word_are_close_to_it(other):
    assert likeness("database", other) > 0.25 > likeness("database", "editor")


def test_embedders_of_another_width_have_another_name():
    assert HashEmbedder().name == "hash-256"
    assert HashEmbedder(64).name != HashEmbedder(65).name
    with pytest.raises(InvalidArgument, match="0 wide"):
        HashEmbedder(0)
