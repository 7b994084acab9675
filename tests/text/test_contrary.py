"""Every two words of one row, on two sides of it, are told as a contradiction in the sentence that they belong in."""

from itertools import combinations, product

from agent_memory_protocol.text import alike, opposites
from tests.each_row import each_row


@each_row(
    "part, sentence",
    [
        ("is", "The cache is {}."),
        ("how", "Jobs are run {}."),
        ("in", "The size is given in {}."),
        ("does", "Gateways {} old sessions."),
        ("does", "The gateway must {} old sessions."),
        ("often", "Backups run {}."),
        ("on", "The release is on {}."),
    ],
)
def test_words_that_exclude_each_other_contradict(part, sentence):
    for row in opposites.rows(part):
        for sides in combinations(row, 2):
            for pair in product(*([word for word in side if word != "lost"] for side in sides)):  # “lost” may be over
                texts = [sentence.format(word) for word in pair]
                assert [*alike.denials(texts), *alike.rivals(texts)], texts
                assert not alike.same(*texts), texts


@each_row(
    "part, sentence",
    [
        ("is", "The cache is {}."),
        ("how", "Jobs are run {}."),
        ("in", "The size is given in {}."),
        ("does", "Gateways {} old sessions."),
        ("does", "The gateway must {} old sessions."),
        ("often", "Backups run {}."),
    ],
)
def test_words_of_one_side_do_not_contradict(part, sentence):
    for side in (side for row in opposites.rows(part) for side in row):
        for pair in combinations(side, 2):
            texts = [sentence.format(word) for word in pair]
            assert [*alike.denials(texts), *alike.rivals(texts)] == [], texts
