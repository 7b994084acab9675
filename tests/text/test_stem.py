"""SQLite's own porter tokenizer is the second opinion."""

import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.text.stem import base, stem
from tests.each_row import each_row

REPOSITORY = Path(__file__).parents[2]
ENDINGS = [
    *("s", "es", "ed", "ing", "ies", "y", "ly", "ll", "eed", "ion", "er", "ic", "ate"),
    *("ational", "ation", "fulness", "ousli", "ement", "izer", "ble", "ence", "logi", "ical", "ative", "iviti"),
]


def of_sqlite(words: list[str]) -> list[str]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE porter USING fts5(word, tokenize = 'porter ascii')")
    connection.execute("CREATE VIRTUAL TABLE token USING fts5vocab(porter, 'instance')")
    connection.executemany("INSERT INTO porter (rowid, word) VALUES (?, ?)", enumerate(words))
    found = [term for (term,) in connection.execute("SELECT term FROM token ORDER BY doc")]
    connection.close()
    return found


@pytest.mark.slow
def test_words_of_real_memory_and_made_up_ones_are_cut_as_sqlite_cuts_them():
    text = " ".join(path.read_text("utf-8").lower() for path in REPOSITORY.rglob("tests/data/corpus/**/*.md"))
    real = {word for word in re.findall("[a-z]{3,}", text) if len(word) < 30}
    made_up = {word + ending for word in sorted(real)[::7] for ending in ENDINGS}
    words = sorted(real | made_up)
    assert len(words) > 2_000
    assert list(map(stem, words)) == of_sqlite(words)


# The two differ over words that are only an ending, and over a second y, of which no English word has one.
letters = st.text("aeioubcdlnstyz", min_size=4, max_size=9).filter(lambda word: "yy" not in word and word != "sses")


@given(words=st.lists(letters | letters.flatmap(lambda word: st.sampled_from(ENDINGS).map(word.__add__)), min_size=1))
def test_any_letters_are_cut_as_sqlite_cuts_them(words):
    words = [word for word in words if "yy" not in word]
    assert list(map(stem, words)) == of_sqlite(words)


@each_row(
    "words",
    [
        ("migrate", "migrates", "migrated", "migrating", "migration", "migrations"),
        ("configure", "configured", "configuration", "configurations"),
        ("test", "tests", "tested", "testing"),
        ("query", "queries", "queried"),
        ("deploy", "deploys", "deployed", "deploying"),
    ],
)
def test_forms_of_a_word_are_one(words):
    assert len(set(map(stem, words))) == 1


@each_row("word", ["s7", "größe", "数据", "ab", "", "3.11", "x86", "c++"])
def test_what_is_no_english_word_stays_as_it_is(word):
    assert stem(word) == word


@each_row(
    "words",
    [
        ("retry", "retries", "retried", "retrying"),
        ("use", "uses", "used", "using"),
        ("need", "needs", "needed"),
        ("write", "wrote", "written", "writing"),
    ],
)
def test_forms_of_a_word_have_one_base(words):
    assert len(set(map(base, words))) == 1


@each_row("one, other", [("product", "production"), ("plan", "plane"), ("cod", "code"), ("migrate", "migration")])
def test_words_of_another_sense_have_another_base(one, other):
    assert base(one) != base(other)


def test_a_past_form_is_its_own_base_where_the_past_counts():
    assert base("used", past=False) != base("use", past=False) == base("uses", past=False)
