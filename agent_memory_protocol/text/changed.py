"""Changed: two sentences that are equal but for one value, so that the newer one may replace the older.

The rule is in docs/protocol.md, “Same, opposite, changed”. Two sentences alone are told from a list of like things by
their number: a third of the same shape says that it is a list, unless all tell what one thing was, one after another.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache

from ..values import dataclass
from .gist import is_claim, words_of
from .language import ENGLISH, Token, plain, tokenise
from .mood import is_question
from .values import Value, count_at, find_values, is_ordinal, is_unit, may_hold_value, words

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_UNSAID = frozenset(["for", "now"])
_FEWEST_WORDS = 2  # Words that carry meaning, beside the value
OWN_SUBJECT = 3  # From so many words on a sentence says itself what it is about, whatever heading is above it

_NAMING = frozenset(["is", "are", "use", "uses", "using", "with", "on"])
_STATING = frozenset(["is", "are", "listens", "uses"])
_STATING_ON_A_DAY = _STATING | {"has", "runs", "takes"}  # Without days it may have or run all of them
_DEFINITE = frozenset(["our", "the"])
_OFTEN = frozenset(["also", "available", "either", "one", "or", "supported", "too"])  # Such values hold side by side
MOST_VALUES = 6  # More texts that differ in one value are a list of like things, not one value that has changed often
_EQUATING = frozenset(["is", "are", "on"])  # After these a word in lower case is as likely an adjective as a name
_LONGEST_NAME = 4  # The most words of a name, or of a text that is shorter than a sentence
_NEAR = 3  # So many words before a name, at most, is the word that says where it is: “in the bucket raw-1”
_PLACING = (ENGLISH.prepositions | _NAMING | {"through", "under", "via"}) - {"of"}
_CODE = re.compile("`[^`]+`")
_FILE = re.compile(r"[^/]/[^/]*\.\w+$")  # A thing may be in several files; where one has moved to, git knows
_WAS = re.compile(r"[\W_]*(?:before|earlier|formerly|initially|originally|previously)[*_]*\s*[:–—]", re.IGNORECASE)
"""How a text begins that says what was: “Before: 400 warnings”. A value that was there before has not changed since."""

_PAIR = re.compile(r"([^:]{2,40}):\s+(\S.{0,60})")
_REMARKS = words(
    "always avoid bug caution caveat danger decision do example fix gotcha hint idea important lesson must never note"
    " problem reminder rule see task tip todo warning"
)
"""What a remark begins with: two remarks are not two values of one thing."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A text, and what governs it: its headings and label, in any form that can be compared."""

    text: str
    governed_by: Hashable = ()
    day: int = 0  # the day of its own date; 0 without one


@dataclass(frozen=True, slots=True)
class Sourced:
    """A text of one of several sources, such as a document, a note or a record."""

    text: str  # what it says, with its label in front
    source: Hashable  # which source it is from
    topics: Sequence[str] = ()  # the names of the headings that say what it is about


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a sentence says but for one of its words."""

    words: tuple[str, ...]
    negations: frozenset[int]


def changes(texts: Sequence[Stated]) -> Iterator[tuple[int, int]]:
    """Yield the places of each two texts of one document of which one has another value than the other.

    Both are governed by the same. Where more sentences of the document have their shape, they are values of one thing
    only if `_is_series` says so, and each older one is yielded with the newest.
    """
    by_shape: defaultdict[_Shape, list[tuple[int, Hashable, Value]]] = defaultdict(list)
    for place, one in enumerate(texts):
        for before, shape, value in _shapes_by_value(one.text):
            by_shape[shape].append((place, (one.governed_by, before), value))
    for alike in by_shape.values():
        if len(alike) == 2:
            (first, depends_on, value), (second, other_depends_on, other_value) = alike
            if depends_on == other_depends_on and value.differs_from(other_value):
                yield min(first, second), max(first, second)
        elif (
            _is_series(texts, [place for place, _, _ in alike]) and len({depends_on for _, depends_on, _ in alike}) == 1
        ):
            newest, _, value = max(alike, key=lambda one: (texts[one[0]].day, one[0]))
            older = [place for place, _, other in alike if place != newest and other.differs_from(value)]
            yield from ((min(place, newest), max(place, newest)) for place in older)


def _is_series(texts: Sequence[Stated], places: Sequence[int]) -> bool:
    """Say whether more than two texts of one shape tell what one thing was, one after another: no list of like things.

    Each says how a thing is, in one sentence, and each has a day of its own or is about “the” thing.
    """
    if not 2 < len(places) <= MOST_VALUES or len(set(places)) < len(places):
        return False
    days = {texts[place].day for place in places}
    are_dated = 0 not in days and len(days) == len(places)
    return all(_tells_state(texts[place].text, is_dated=are_dated) for place in places)


def _tells_state(text: str, *, is_dated: bool) -> bool:
    sentences = _sentences_of(text)
    said = [token.lowered for token in sentences[0][1]] if len(sentences) == 1 else []
    stating = _STATING_ON_A_DAY if is_dated else _STATING
    return not stating.isdisjoint(said) and _OFTEN.isdisjoint(said) and (is_dated or said[0] in _DEFINITE)


def changes_between(texts: Sequence[Sourced]) -> Iterator[tuple[int, int]]:
    """Yield the places of each two texts of two sources of which one has another value than the other.

    They are under headings of the same names, or one is under none and three words beside the value say what it is
    about. No source has the shape with two values, and there are two values at all: with a third it is a list of like
    things. Each text is yielded with the first that has the other value.
    """
    by_shape: defaultdict[tuple[_Shape, Hashable], list[tuple[int, Value]]] = defaultdict(list)
    for number, text in enumerate(texts):
        for before, shape, one in _shapes_by_value(text.text):
            by_shape[shape, before].append((number, one))
    for (shape, _), alike in by_shape.items():
        said: dict[Hashable, Value] = {}
        if any(said.setdefault(texts[place].source, one).differs_from(one) for place, one in alike) or len(said) < 2:
            continue
        (first, value), *others = alike
        other = next((one for one in others if one[1].differs_from(value)), None)
        if other is None or any(one.differs_from(value) and one.differs_from(other[1]) for _, one in others):
            continue
        for place, one in others:
            earlier = first if one.differs_from(value) else other[0]
            if earlier < place and _on_one_topic(texts[earlier], texts[place], len(shape.words) - 1):
                yield earlier, place


@lru_cache(maxsize=1 << 15)
def shapes(text: str) -> frozenset[Hashable]:
    """Return what the sentences of a text say but for a value. A change shares one of them."""
    return frozenset(shape for _, shape, _ in _shapes_by_value(text))


@lru_cache(maxsize=1 << 15)
def guesses(text: str) -> frozenset[Hashable]:
    """Return what the sentences of a text say but for what `suspected` compares."""
    return frozenset(shape for _, shape, _ in _shapes_by_guess(text))


def _on_one_topic(one: Sourced, other: Sourced, words: int) -> bool:
    return one.topics == other.topics or (words >= OWN_SUBJECT and not (one.topics and other.topics))


def suspected(texts: Sequence[Stated], *, names: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the places of each two texts that are so short that only their value differs, or alike but for a name.

    What follows a key and its colon is a value. A name is after “is”, “are”, “use”, “with” or “on”, and can be left
    out; ask about it of new texts only. All of this is a guess.
    """
    by_shape: defaultdict[_Shape, list[tuple[int, Hashable, str]]] = defaultdict(list)
    for place, one in enumerate(texts):
        guesses = _shapes_by_guess(one.text) if names else _shapes_of_short(one.text)
        for before, shape, name in guesses:
            by_shape[shape].append((place, (one.governed_by, before), name))
    for alike in by_shape.values():
        if len(alike) == 2:
            (first, depends_on, name), (second, other_depends_on, other_name) = alike
            if depends_on == other_depends_on and first != second and _is_another(name, other_name):
                yield first, second


def _is_another(name: str, other: str) -> bool:
    """Say whether two names differ, and not because one says more closely what the other says."""
    short, long = sorted((name.split(), other.split()), key=len)
    return long[: len(short)] != short


@lru_cache(maxsize=1 << 15)
def _sentences_of(text: str) -> tuple[tuple[tuple[str, ...], tuple[Token, ...]], ...]:
    """Return the sentences of a text that say something, each with those before it."""
    found = []
    before: tuple[str, ...] = ()
    is_said = is_claim(text) and not _WAS.match(text)
    for sentence in _SENTENCE.split(" ".join(plain(text).split())) if is_said else ():
        tokens = tuple(tokenise(sentence, ENGLISH))
        if not is_question(sentence, tokens):
            found.append((before, tokens))
        before = (*before, sentence.casefold())
    return tuple(found)


@lru_cache(maxsize=1 << 15)
def _shapes_by_value(text: str) -> tuple[tuple[tuple[str, ...], _Shape, Value], ...]:
    """Return what each sentence says but for each of its values, with the sentences before it."""
    found = []
    for before, tokens in _sentences_of(text) if may_hold_value(text) else ():
        values = find_values(tokens)
        words, negations = words_of(tokens) if values else ([], frozenset())
        for value in values:
            shape = _without(words, negations, value.start, value.end, value.kind)
            if shape is not None:
                found.append((before, shape, value))
    return tuple(found)


@lru_cache(maxsize=1 << 15)
def _shapes_by_guess(text: str) -> tuple[tuple[tuple[str, ...], _Shape, str], ...]:
    """Return what each sentence says but for a name, and a text of few words but for its value; see the others."""
    joined = _CODE.sub(lambda found: found[0].replace(" ", "_"), text)  # a command in backticks is one name
    named = [
        (before, *one)
        for before, tokens in _sentences_of(joined)
        for one in (*_shapes_by_name(tokens), *_shapes_by_place(tokens))
    ]
    return (*named, *_shapes_of_short(text))


def _shapes_by_place(tokens: Sequence[Token]) -> Iterator[tuple[_Shape, str]]:
    """Yield what a sentence says but for how many of something there are, or for where, through or with what it is."""
    words, negations = words_of(tokens)
    skipped = {place for value in find_values(tokens) for place in range(value.start, value.end)}
    for place, token in enumerate(tokens):
        around = [one.lowered for one in tokens[max(0, place - _NEAR) : place]]
        if is_ordinal(around[-1] if around else ""):
            continue
        amount, end = count_at(tokens, place)
        is_name = not (token.is_plain and token.written.islower()) and not _PLACING.isdisjoint(around)
        if amount or (is_name and place not in skipped and not _FILE.search(token.written)):
            shape = _without(words, negations, place, max(end, place + 1), "count" if amount else "name")
            if shape is not None:
                yield shape, amount or token.lowered


def _shapes_by_name(tokens: Sequence[Token]) -> Iterator[tuple[_Shape, str]]:
    words, negations = words_of(tokens)
    for word, place in words:
        before = tokens[place - 1].lowered if place else ""
        token = tokens[place]
        is_lower = token.is_plain and token.written.islower()
        if before in _NAMING and not (is_lower and before in _EQUATING):
            # “The queue is Kafka.”: one word is enough where a name is all that is said of one thing
            is_all = before == "is" and tokens[0].lowered == "the" and place == len(tokens) - 1
            shape = _without(words, negations, place, place + 1, before, 1 if is_all else _FEWEST_WORDS)
            if shape is not None:
                yield shape, word
            name = " ".join([word, *(word for word, later in words if later > place)])
            is_short = " " in name and len(tokens) - place <= _LONGEST_NAME
            if is_short and not (is_lower or may_hold_value(name)):
                shape = _without(words, negations, place, len(tokens), before)
                if shape is not None:
                    yield shape, name


@lru_cache(maxsize=1 << 15)
def _shapes_of_short(text: str) -> tuple[tuple[tuple[str, ...], _Shape, str], ...]:
    """Return what a text of few words is but for its value: `Branch: main` without “main”, `Node 20` without “20”."""
    said = " ".join(plain(text).split()).rstrip(".")
    tokens = tokenise(said, ENGLISH)
    if is_question(said, tokens) or _WAS.match(said):
        return ()
    pair = _PAIR.fullmatch(said)
    if pair is not None:
        key, value = (tokenise(part, ENGLISH) for part in pair.groups())
        names, _ = words_of(key)
        said_of = [word for word, _ in names]
        if not said_of or len(value) > _LONGEST_NAME or not _REMARKS.isdisjoint(said_of):
            return ()
        return (((), _Shape((*said_of, "\0:"), frozenset()), " ".join(token.lowered for token in value)),)
    if len(tokens) > _LONGEST_NAME:
        return ()
    carrying, negations = words_of(tokens)
    shapes = (
        (value, _without(carrying, negations, value.start, value.end, value.kind, 1)) for value in find_values(tokens)
    )
    return tuple(((), shape, value.amount) for value, shape in shapes if shape is not None)


def _without(
    words: Sequence[tuple[str, int]],
    negations: frozenset[int],
    start: int,
    end: int,
    kind: str,
    fewest: int = _FEWEST_WORDS,
) -> _Shape | None:
    """Return the shape of a sentence without the tokens of its value; None if too little is left to compare."""
    kept = [(word, place) for word, place in words if not start <= place < end and word not in _UNSAID]
    if sum(not is_unit(word) for word, _ in kept) < fewest:
        return None
    first = sum(place < start for _, place in kept)
    said = tuple(word for word, _ in kept)
    return _Shape((*said[:first], f"\0{kind}", *said[first:]), negations)
