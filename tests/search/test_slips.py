from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.search.slips import mend, slipped, untouched
from agent_memory_protocol.search.words import terms
from agent_memory_protocol.text.stem import stem
from tests.each_row import each_row


@each_row("slip", ["databse", "databasse", "datebase", "dtaabase", "databasw", "atabase", "xdatabase"])
def test_one_letter_is_a_slip(slip):
    assert slipped("database", slip)
    assert slipped(slip, "database")


@each_row("other", ["dabatase", "databs", "datbse", "databases2", "", "batadase"])
def test_two_letters_are_two_slips_or_more(other):
    assert not slipped("database", other)
    assert not slipped(other, "database")


words = st.text("abc", min_size=4, max_size=8)


@given(words, words)
def test_a_slip_leaves_the_beginning_or_the_end(one, other):
    start, end = untouched(one)
    if one != other and slipped(one, other):
        assert other.startswith(start) or other.endswith(end)


def written(word: str, slip: tuple[str, int, str]) -> str:
    kind, place, letter = slip
    at = place % len(word)
    match kind:
        case "more":
            return word[:at] + letter + word[at:]
        case "missing":
            return word[:at] + word[at + 1 :]
        case "swapped":
            return word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
    return word[:at] + letter + word[at + 1 :]


SLIP = st.tuples(st.sampled_from(("more", "missing", "swapped", "other")), st.integers(0, 9), st.sampled_from("abc"))


@given(words, st.lists(SLIP, max_size=2))
def test_as_many_slips_as_were_made_are_enough(word, made):
    other = word
    for slip in made:
        other = written(other, slip)
    assert slipped(word, other, len(made))
    assert slipped(other, word, len(made))


def single(standing: set[str]) -> set[str]:
    return {one for one in standing if " " not in one}


def mended(query: str, standing: set[str]) -> list[tuple[str, ...]]:
    return [term.tokens for term in mend(terms(query), standing.__contains__, lambda _: single(standing))]


def test_a_word_that_stands_nowhere_means_all_it_may_be():
    assert mended("serch index", {"search", "sarch", "index"}) == [("sarch", "search"), ("index",)]


@each_row(
    "query, standing, meant",
    [
        ("authetnicaton", "authentication", True),
        ("athentcation", "authentication", True),
        ("enviorment", "environment", True),
        ("seperetely", "separately", True),
        ("concurenci", "concurrency", True),
        ("mirgation", "migration", True),
        ("mirgaiton", "migration", False),  # two swaps in nine letters leave no part as it is
        ("Repositroyes", "repositories", True),
        ("databank", "database", False),  # other letters at the end are another word
        ("dtabse", "database", False),  # of a short word two are too much
        ("kuthentcation", "authentication", False),  # the first letter is right
        ("inspection", "injection", False),  # so is a consonant that the other has not
        ("repositroies2", "repositories", False),
        ("settings of Marcellan", "marcelina", False),  # a name
    ],
)
def test_a_long_word_may_have_two_slips(query, standing, meant):
    term = mend(terms(query), {stem(standing), "set"}.__contains__, lambda _: [standing])[-1]
    assert (term.tokens == (stem(standing),), term.meant == (standing,)) == (meant, meant)


@each_row(
    "query, standing, is_likely",
    [
        ("redsi", "redis", True),
        ("reds", "redis", True),
        ("rediss", "redis", True),
        ("redas", "redis", True),
        ("erdis", "redis", True),
        ("cahe", "cache", True),
        ("noed", "node", True),
        ("podman", "pocman", True),
        ("databose", "databise", True),
        ("marta", "maria", False),
        ("lena", "lens", False),
        ("tofo", "todo", False),
        ("gmail", "email", False),
        ("planet", "plane", True),
        ("hasting", "casting", False),
        ("Christina", "christine", False),
        ("carla", "carlo", False),
        ("front", "font", False),
    ],
)
def test_what_people_seldom_mistype_is_looked_for_and_counts_little(query, standing, is_likely):
    (term,) = mend(terms(query), {stem(standing)}.__contains__, lambda _: [standing])
    found = (stem(standing),)
    assert (term.tokens, term.forms, term.meant) == ((found, ()) if is_likely else ((), found)) + ((standing,),)


@each_row(
    "query, standing, spellings",
    [
        ("worktree", {"work", "tree", "work tree"}, {"worktree", "worktrees"}),
        ("timeout", {"time", "out", "time out"}, {"timeour", "timeoutx", "xxtimeout"}),
        ("worktree", set(), {"worktree", "wortree", "worktreefolder"}),
        ("athentcation", set(), {"authentication"}),
        ("lena", set(), {"lens"}),
    ],
)
def test_a_word_of_what_may_not_be_read_says_nothing(query, standing, spellings):
    known = standing.__contains__
    assert mend(terms(query), known, lambda _: spellings) == mend(terms(query), known, lambda _: ())


@each_row(
    "query, standing, forms",
    [
        ("worktree", {"work", "tree", "work tree"}, ("work tree",)),
        ("worktree", {"work", "tree"}, ()),  # nowhere together
        ("worktree", {"worktre", "work", "tree", "work tree"}, ("work tree",)),  # written in both ways
        ("inland", {"in", "land", "in land"}, ()),  # too short to say much
        ("timeout", {"time", "out", "time out", "timeoutjob"}, ("timeoutjob",)),  # a longer word begins with it
        ("passport", {"pass", "port"}, ()),
        ("port8080", {"port", "8080", "port 8080"}, ()),
    ],
)
def test_a_word_may_be_two_that_follow_each_other(query, standing, forms):
    (term,) = mend(terms(query), standing.__contains__, lambda _: single(standing))
    assert (term.forms, term.meant) == (forms, ())


def test_a_slip_is_likelier_than_two_words():
    assert mended("timeouz", {"time", "ouz", "time ouz", "timeout"}) == [("timeout",)]


@each_row(
    "query, forms",
    [
        ("time out", [("timeout",)]),
        ("work tree lock", [("worktre",), ("worktre", "treelock"), ("treelock",)]),
        ("port 8080", [("port8080",), ("port8080",)]),
        ("March 2026", [(), ()]),
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
