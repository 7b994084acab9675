"""One look at a text never says that it holds no secret where a search finds one, and says so of most plain texts."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.secrets.find import find_secrets
from agent_memory_protocol.secrets.forms import plain
from agent_memory_protocol.secrets.glance import keywords_in, may_hold_secret
from agent_memory_protocol.secrets.languages import SPELLED
from tests.each_row import each_row

FAMILIES = tomllib.loads((Path(__file__).parents[1] / "data" / "secrets.toml").read_text("utf-8"))["family"]
FOUND = [text.replace("·", "") for family in FAMILIES for text in family["found"]]

LAID_OUT = {
    "as it is": lambda text: text,
    "in a list": lambda text: f"# T\n\n- Before.\n- {text}\n- After.\n",
    "in bold letters": lambda text: text.translate({ord(one): ord(one) + 0xFEE0 for one in "abcdefghijklm"}),
    "with dashes and quotes": lambda text: text.replace("-", "\u2010").replace("'", "’"),
    "with what is not seen": "\u200b".join,
    "escaped": lambda text: text.replace("_", "\\_"),
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
}


@pytest.mark.slow
@each_row("layout", LAID_OUT)
def test_what_a_search_finds_is_not_passed_over(layout):
    for text in map(LAID_OUT[layout], FOUND):
        assert may_hold_secret(text) or not find_secrets(text), text[:40]


@given(st.sampled_from(FOUND), st.lists(st.tuples(st.integers(0, 99), st.sampled_from(["\n", "\n  ", "\n> ", " "]))))
def test_what_a_search_finds_is_not_passed_over_where_lines_are_broken(text, breaks):
    for place, between in breaks:
        text = text[:place] + between + text[place:]
    assert may_hold_secret(text) or not find_secrets(text)


@pytest.mark.slow
@each_row("label", [label for labels in SPELLED.values() for label in labels])
def test_a_label_in_another_language_is_found_however_code_spells_it(label):
    words = label.split("_")
    for name in (" ".join(words), label.upper(), "-".join(words), words[0] + "".join(map(str.capitalize, words[1:]))):
        for text in (f"- {name}: Kq7Zt2Xw9Lm4Rb6", f'{name} = "Kq7Zt2Xw9Lm4Rb6"'):
            assert may_hold_secret(text), text
            assert find_secrets(text), text


@each_row(
    "text",
    [
        "# T\n\n- An entry.\n",
        "- The tests take four minutes — “make check” runs them in agent_memory_protocol/guard/judge.py.\n",
        "- Redis loses its queue on restart → AOF is on.\n",
    ],
)
def test_a_plain_text_is_not_searched(text):
    assert not may_hold_secret(text)


_WORDS = [
    *(label.replace("_", " ") for labels in SPELLED.values() for label in labels),
    "la",
    "ist",
    "token",
    "=",
    "Hunter22x9Q7",
    "der",
    "\n",
    "api",
    "mot_de",
]


@given(st.lists(st.sampled_from(_WORDS), max_size=8), st.sampled_from([" ", " ", "", "_", "\n", "-"]))
def test_a_text_in_which_no_foreign_label_is_seen_reads_the_same_without_looking_for_them(words, between):
    text = between.join(words)
    if keywords_in(text) is not None:
        assert plain(text, names_others=False).text == plain(text).text
