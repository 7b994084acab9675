"""Texts that share many words are found without a look at every pair."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.text.gist import gist, shared_words

WORDS = [
    "cache",
    "queue",
    "port",
    "redis",
    "token",
    "worker",
    "index",
    "backup",
    "staging",
    "ledger",
    "mirror",
    "river",
]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), max_size=25)


@given(TEXTS, st.sampled_from([2, 5, 25]), st.sampled_from([0.0, 0.3, 0.5, 0.6, 2 / 3, 0.75, 1.0]))
def test_a_bound_on_what_is_shared_leaves_out_what_is_below_it_and_nothing_else(texts, common, least):
    everything = shared_words(texts, common)
    assert shared_words(texts, common, least=least) == {
        pair: share for pair, share in everything.items() if share >= least
    }


@pytest.mark.parametrize("least", [0.0, 0.6])
def test_pairs_are_those_that_share_a_rare_word(least):
    texts = ["The cache of the worker is cold.", "The cache of the worker is warm.", "The river is deep."]
    sets = [set(gist(text).words) for text in texts]
    found = shared_words(texts, 2, least=least)
    shared = {(a, b) for a, b in combinations(range(3), 2) if len(sets[a] & sets[b]) >= least * len(sets[a] | sets[b])}
    assert set(found) == {pair for pair in shared if sets[pair[0]] & sets[pair[1]]}
