from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.search.slips import mend, one_slip, untouched
from agent_memory_protocol.search.words import terms
from tests.each_row import each_row


@each_row("slip", ["databse", "databasse", "datebase", "dtaabase", "databasw", "atabase", "xdatabase"])
def test_one_letter_is_a_slip(slip):
    assert one_slip("database", slip)
    assert one_slip(slip, "database")


@each_row("other", ["database", "dabatase", "databs", "datbse", "databases2", "", "batadase"])
def test_two_letters_are_not(other):
    assert not one_slip("database", other)
    assert not one_slip(other, "database")


words = st.text("abc", min_size=4, max_size=8)


@given(words, words)
def test_a_slip_leaves_the_beginning_or_the_end(one, other):
    start, end = untouched(one)
    if one_slip(one, other):
        assert other.startswith(start) or other.endswith(end)


def mended(query: str, standing: set[str]) -> list[tuple[str, ...]]:
    return [term.tokens for term in mend(terms(query), standing.__contains__, lambda _: standing)]


def test_a_word_that_stands_nowhere_means_all_it_may_be():
    assert mended("serch index", {"search", "sarch", "index"}) == [("sarch", "search"), ("index",)]


@each_row(
    "query, standing, tokens",
    [
        ("worktree", {"work", "tree"}, [("work",), ("tree",)]),
        ("timeout", {"time", "out"}, [("time",), ("out",)]),
        ("inland", {"in", "land"}, [("inland",)]),  # too short to say much
        ("timeout", {"time", "timeout"}, [("timeout",)]),
        ("timeout", {"time", "out", "timeouts"}, [("timeout",)]),  # another form of it is there
        ("timeouz", {"time", "ouz", "timeout"}, [("timeout",)]),  # a slip comes first
        ("port8080", {"port", "8080"}, [("port8080",)]),
    ],
)
def test_a_word_that_may_be_nothing_else_may_be_two(query, standing, tokens):
    assert mended(query, standing) == tokens


@each_row(
    "query, forms",
    [
        ("time out", [("timeout",)]),
        ("work tree lock", [("worktre",), ("worktre", "treelock"), ("treelock",)]),
        ("port 8080", [()]),
    ],
)
def test_two_words_may_be_one_in_a_text(query, forms):
    assert [term.forms for term in terms(query)][: len(forms)] == forms


STANDING = {"datenbankverbindung", "sicherungsdatenbank", "sunucusu", "orbit", "serch"}


@each_row(
    "word, forms",
    [
        ("datenbank", ("datenbankverbindung", "sicherungsdatenbank")),
        ("verbindung", ("datenbankverbindung",)),
        ("sunucu", ("sunucusu",)),
        ("bank", ()),  # short
        ("sdaten", ()),  # in the middle
        ("orbi", ()),  # one slip away, so no part
        ("data1", ()),
        ("search", ()),
    ],
)
def test_a_word_that_stands_nowhere_has_the_words_that_begin_or_end_with_it_as_forms(word, forms):
    (term,) = mend(terms(word), STANDING.__contains__, lambda _: STANDING)
    assert (term.forms, term.shown) == (forms, word)
    assert not (term.forms and term.meant)


@each_row("query", ["port1", "8081", "abx", "index"])
def test_numbers_short_words_and_known_words_are_no_slips(query):
    assert mended(query, {"port2", "8080", "aby", "index", "undex"}) == [(query,)]
