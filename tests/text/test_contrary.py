"""Every two words of one row, on two sides of it, are told as a contradiction in the sentence that they belong in."""

from itertools import combinations, product

from agent_memory_protocol.text import alike, contrary
from tests.each_row import each_row

VERBS = contrary.VERBS.replace(" lost", "")  # what has been lost is not what loses


@each_row(
    "rows, sentence",
    [
        (contrary.STATES, "The cache is {}."),
        (contrary.MANNERS, "Jobs are run {}."),
        (contrary.UNITS, "The size is given in {}."),
        (VERBS, "Gateways {} old sessions."),
        (VERBS, "The gateway must {} old sessions."),
        (contrary.PERIODS, "Backups run {}."),
        (contrary.DAYS, "The release is on {}."),
    ],
)
def test_words_that_exclude_each_other_contradict(rows, sentence):
    for row in rows.strip().splitlines():
        for sides in combinations([side.split() for side in row.split("|")], 2):
            for pair in product(*sides):
                texts = [sentence.format(word) for word in pair]
                assert [*alike.denials(texts), *alike.rivals(texts)], texts
                assert not alike.same(*texts), texts


@each_row(
    "rows, sentence",
    [
        (contrary.STATES, "The cache is {}."),
        (contrary.MANNERS, "Jobs are run {}."),
        (contrary.UNITS, "The size is given in {}."),
        (VERBS, "Gateways {} old sessions."),
        (VERBS, "The gateway must {} old sessions."),
        (contrary.PERIODS, "Backups run {}."),
    ],
)
def test_words_of_one_side_do_not_contradict(rows, sentence):
    for side in (side.split() for row in rows.strip().splitlines() for side in row.split("|")):
        for pair in combinations(side, 2):
            texts = [sentence.format(word) for word in pair]
            assert [*alike.denials(texts), *alike.rivals(texts)] == [], texts
