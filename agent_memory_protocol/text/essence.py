"""The essence of a fact: what its words mean, in any order, without what says little.

It is read word by word, without grammar. A sentence whose parts cannot be told is not read at all.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ..values import dataclass
from . import gist
from .claims import split_sentences
from .language import ENGLISH, Token, plain, tokenise, word_set
from .mood import UNCLAIMED, mood_of
from .senses import is_generic, is_light, rephrase, sense
from .tense import is_participle, is_past
from .values import DATE, PORT, TIME, VERSION, Value, find_values, may_hold_value, number_said

MANY = 1 << 18  # So many texts are known while they are compared; `alike.forget` lets go of them
MAY_DENY, MAY_AMOUNT = "\0", "\1"  # The names of what may deny something, and of what may be an amount

_FEWEST = 2  # Words of an essence
_LONGEST_END = 4  # Words of what is not so in place of what is said
_TELLING = word_set("between by for from into since than to under until")  # Prepositions that say which part a word has

DROPPED = word_set("by for to into")  # Those of them that another construction may do without

_TYING = (ENGLISH.prepositions | ENGLISH.directions | _TELLING) | word_set(
    "across against along around as behind beside beyond like near onto over per through toward towards upon using"
    " via within"
)
"""After them a word has a place that no other word has there."""

_LISTING = word_set("and or")
_JOINING = word_set("as at in of on over per through using via with")
_BY_MEANS = word_set("using via with")
_BE = word_set("am are be been being get gets got is was were")
_EMPTY = (ENGLISH.empty | gist.EMPTY | ENGLISH.prepositions | ENGLISH.possible | _BE) - word_set(
    "before being both more now off still than will would"
)
_MAY = word_set("may")
_MAY_BE = re.compile(r"\bmay be (\w+)")
_RULES = word_set("always never only")
_TURNS = word_set("after before then")
_COMMAS = (",", "，")
_CLAUSES = ENGLISH.contrasts | ENGLISH.absences | ENGLISH.pronouns | word_set("and but so which")
"""After a comma, begin something else."""

_CONDITIONS = word_set("if once when whenever")
_MIXED = ENGLISH.hedges | ENGLISH.instead | ENGLISH.reversals | (ENGLISH.further - {"or"})
"""Make a sentence that says more than one thing, or says it in part."""

_ACTING = {"i": "us", "we": "us", "you": "you", "they": "them"}
_OWNING = {"my": "us", "our": "us", "your": "you", "their": "them"}
_ARTICLES = word_set("a all an any each every our the")
_DONE_TO = {"me": "us", "us": "us", "them": "them", "you": "you"}
"""Who does something, whose it is, and to whom it is done. “You” is the first where a clause begins."""

PERSONS = frozenset(_DONE_TO.values())

_BEGINS_CLAUSE = (
    _TURNS | _CONDITIONS | ENGLISH.conditions | word_set("and as because but or so that until where which while")
)

_UNDONE = re.compile(r"un(?!der|i)(\w{3,}ed)")  # “unprotected” is not protected; “united” and “underlined” deny nothing

_THAN = word_set("over rather than to")
_UNDOING = frozenset(
    ENGLISH.stem(word)
    for word in word_set(
        "ban decline decrease deny disable disallow discard drop exclude fail forbid hide prohibit reduce refuse reject"
        " unpin"
    )
)
"""Verbs that undo another one; the word after them is what they are done to."""

SAYS_LITTLE = _EMPTY | _TYING | _LISTING | ENGLISH.negators
"""What a word is followed by that says nothing of the next one."""

_ENDING = SAYS_LITTLE | _TURNS | _CONDITIONS | ENGLISH.advice | ENGLISH.duty | _TELLING
_COUNTING = word_set("a an each every one that the this")

_LETTERS = "BCDEFGHXYZ"
_VALUE_KINDS = (VERSION, PORT, DATE, TIME)


@dataclass(frozen=True, slots=True)
class Essence:
    """What one sentence claims."""

    words: frozenset[str]  # what it is about, each once
    first: frozenset[str]  # with `then`: what comes before and after, where it says so
    then: frozenset[str]
    denied: bool  # whether it denies that
    mood: frozenset[str]  # how firmly
    possible: bool  # with `permitted` and `past`: whether it says what can be, what is allowed, and what was
    permitted: bool
    past: bool
    told: bool  # whether it tells somebody what to do
    order: tuple[str, ...]  # the words as they come, and the light verbs among them
    pivots: tuple[tuple[str, int], ...]
    passive: bool  # whether its verb is passive
    equates: bool  # whether it has no other verb than “is”
    roles: frozenset[tuple[str, str]]  # the prepositions that say which part a word has
    joined: frozenset[str]  # the words behind any preposition
    ties: frozenset[tuple[str, str]]  # each preposition with the word behind it
    means: frozenset[str]  # the verbs that say what something is used for: “tracked with”
    generic: frozenset[str]  # the nouns that add little
    loose: frozenset[str]  # those of them that add nothing
    headed: frozenset[str]  # the names in front of them: “the test account”
    counted: frozenset[str]  # the nouns of which there are many: “tests”, “the test”
    instead: frozenset[str] = frozenset()  # what it says is not so, in place of that: “not in B”, “instead of B”
    acts: frozenset[str] = frozenset()  # the persons that do something: “we” is “us”
    owns: frozenset[str] = frozenset()  # the persons whose is what something is done to: “our” is “us”


@lru_cache(maxsize=MANY)
def essence(text: str) -> Essence | None:
    """Return what a text claims; None for one that asks, guesses, is in part, or has more than one sentence."""
    if not gist.is_claim(text):
        return None
    mood = gist.gist(text).mood
    sentences = split_sentences(rephrase(plain(text)))
    if len(sentences) != 1 or not (mood.isdisjoint(UNCLAIMED) or _permits(sentences[0])):
        return None
    tokens, instead = _without_instead(tokenise(sentences[0], ENGLISH))
    seen = {token.lowered for token in tokens}
    is_divided = any(token.after in _COMMAS and token.lowered in _CLAUSES for token in tokens)
    is_conditional = bool(seen & ENGLISH.conditions and seen & ENGLISH.negators)
    if not tokens or seen & _MIXED or is_conditional or is_divided:
        return None
    made = _Reading(tokens).made(mood, told=_is_told(tokens, text))
    return made if made is None or not instead else replace(made, instead=instead)


def _without_instead(tokens: list[Token]) -> tuple[list[Token], frozenset[str]]:
    """Split off the end of a sentence that says what is not so instead: return the rest, and the words of that end."""
    starts = [
        place
        for place, token in enumerate(tokens)
        if token.lowered == "instead" or (token.lowered in ENGLISH.contrasts and token.after in _COMMAS)
    ]
    if len(starts) != 1 or not starts[0]:
        return tokens, frozenset()
    said, end = tokens[: starts[0]], tokens[starts[0] + 1 :]
    words = [sense(token) for token in end if token.lowered not in _EMPTY and not (token.is_plain and is_light(token))]
    is_plain = all(token.lowered not in _MIXED | _CLAUSES | ENGLISH.negators for token in (*said, *end))
    if not words or len(words) > _LONGEST_END or not is_plain:
        return tokens, frozenset()
    return said, frozenset(words)


@lru_cache(maxsize=1 << 15)
def names(raw: str) -> frozenset[str]:
    """Return what an essence may call a word between two blanks, and what it may do: deny, or say an amount."""
    return frozenset(_names(raw))


def _names(raw: str) -> Iterator[str]:
    for token in tokenise(raw, ENGLISH):
        word = token.lowered
        positive = ENGLISH.opposites.get(ENGLISH.stem(word)) or _undone(word)
        yield from (sense(token), word, number_said(word))
        if positive is not None:
            yield sense(Token(positive, positive))
        if word in ENGLISH.needless:
            yield "need"
        if word in _CONDITIONS:
            yield "if"
        if positive is not None or word in ENGLISH.negators or word in ENGLISH.needless:
            yield MAY_DENY
        if number_said(word) or may_hold_value(word):
            yield MAY_AMOUNT


def _is_told(tokens: Sequence[Token], text: str) -> bool:
    """Say whether a sentence tells somebody what to do, now or after a condition: “After a release, tag it”."""
    first = tokens[0].lowered
    if first in _TURNS | ENGLISH.conditions:
        first = next((token.lowered for token in tokens if token.after in _COMMAS), first)
    begins_so = first in ENGLISH.imperatives | ENGLISH.negators
    return begins_so or not _RULES.isdisjoint(text.casefold().split())


class _Reading:
    """Reads one sentence word by word."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._lowered = [token.lowered for token in tokens]
        self._order: list[str] = []
        self._pivots: list[tuple[str, int]] = []
        self._roles: set[tuple[str, str]] = set()
        self._joined: set[str] = set()
        self._ties: set[tuple[str, str]] = set()
        self._tie = self._last_tie = ""
        self._means: set[str] = set()
        self._generic: set[str] = set()
        self._denied = self._permitted = self._undone = False
        self._is_whole = True
        self._role = ""
        self._turns: list[tuple[str, int]] = []
        self._comma = 0
        self._named = -1
        self._loose: set[str] = set()
        self._headed: set[str] = set()
        self._counted: set[str] = set()
        # “A depends on B”: where another letter is a name, A is one.
        self._empty = _EMPTY - {"a"} if any(one.written in [*_LETTERS] for one in tokens) else _EMPTY
        values = {value.start: value for value in find_values(tokens) if _is_value(value)}
        place = 0
        while place < len(tokens):
            if tokens[place].after in _COMMAS and not self._comma:
                self._comma = len(self._order)
            value = values.get(place)
            if value is None:
                self._read(place, before_value=place + 1 in values)
                place += 1
            else:
                self._add(f"{value.kind} {value.amount}" if _says_its_kind(value) else value.amount)
                place = value.end

    def _read(self, place: int, *, before_value: bool) -> None:
        """Take in one word."""
        token, word = self._tokens[place], self._lowered[place]
        following = self._lowered[place + 1] if place + 1 < len(self._tokens) else ""
        if word == "without":
            self._order.append(word)
        elif word in ENGLISH.negators:
            self._is_whole = self._is_whole and following not in ENGLISH.partial
            self._denied = not self._denied
        elif word in _TURNS and (word != "then" or token.after):
            self._turns += [] if before_value else [(word, len(self._order))]
        elif word in _TELLING or word in _JOINING:
            self._role = "to" if word == "into" else word
        elif word in ENGLISH.needless:
            self._denied = not self._denied
            self._order.append("need")
        elif word in _DONE_TO and not self._begins(place):
            self._add(_DONE_TO[word])
        elif word not in self._empty and not (word == "first" and "then" in self._lowered):
            self._name(token, place, following)
        if word in _TYING:
            self._tie = word
        elif word in _LISTING:
            self._tie = self._last_tie

    def _begins(self, place: int) -> bool:
        """Say whether “you” at this place is who does something."""
        is_first = not place or self._tokens[place].after != "" or self._lowered[place - 1] in _BEGINS_CLAUSE
        return self._lowered[place] in _ACTING and is_first

    def _name(self, token: Token, place: int, following: str) -> None:
        """Take in a word that names something, or says what becomes of it."""
        word = token.lowered
        if token.is_plain and (is_light(token) or self._prefers(place)):
            self._pivots.append((ENGLISH.stem(word), len(self._order)))
            self._role = "" if self._role == "to" else self._role  # “to run the build” names no one that gets it
        elif token.is_plain and is_generic(token) and (self._named == place - 1 or following == "of"):
            self._generic.add(sense(token))
            if following == "of" or self._adds_nothing(place):
                self._loose.add(sense(token))
            if following != "of":
                self._headed |= {*self._order[-1:]}
            self._tie_to(sense(token))
            self._named = place
        else:
            positive = None if self._says_which(place) else ENGLISH.opposites.get(ENGLISH.stem(word)) or _undone(word)
            meant = sense(token) if positive is None else sense(Token(positive, positive))
            self._denied ^= positive is not None
            self._undone |= positive is not None
            if meant == "allow":
                self._permitted = True
                return
            if place and self._lowered[place - 1] in _BE and following in _BY_MEANS:
                self._means.add(meant)
            if word in _TYING:
                self._tie = ""
            self._add(number_said(word) or ("if" if word in _CONDITIONS else meant))
            is_one_of_many = word.endswith("s") or (place and self._lowered[place - 1] in _COUNTING)
            if (token.is_plain and token.written.islower() and is_one_of_many) or (not place and word.endswith("s")):
                self._counted.add(self._order[-1])
            self._named = place

    def _adds_nothing(self, place: int) -> bool:
        """Say whether a noun only says what kind of thing the name before it is: “the billing service”.

        In “bucket policies” and “review files” it says what is meant.
        """
        is_named = self._named == place - 1 >= 0 and self._tokens[place].after not in _COMMAS
        is_told = place == 1 and self._lowered[0] in ENGLISH.imperatives and _BE.isdisjoint(self._lowered)
        if not is_named or is_told:
            return False
        rest = self._tokens[place + 1 : place + 2]
        return not rest or rest[0].after in _COMMAS or rest[0].lowered in _ENDING or is_light(rest[0])

    def _prefers(self, place: int) -> bool:
        """Say whether a word only tells to use what follows: “Prefer tabs”, and not “Prefer tabs over spaces”."""
        return not place and self._lowered[0] in ENGLISH.preferring and _THAN.isdisjoint(self._lowered)

    def _says_which(self, place: int) -> bool:
        """Say whether a word that undoes another only says which ones are meant: of “private repos” others are not."""
        word, rest = self._lowered[place], self._tokens[place + 1 : place + 2]
        if not rest or not rest[0].is_plain or rest[0].after in _COMMAS or rest[0].lowered in SAYS_LITTLE:
            return False
        if word.endswith(("ed", "en")):
            return place != 1 or self._lowered[0] in _ARTICLES  # “a failed job”
        return not word.endswith("ly") and ENGLISH.stem(word) not in _UNDOING

    def _tie_to(self, word: str) -> None:
        """Take in what is behind the last preposition."""
        if self._tie:
            self._ties.add((self._tie, word))
            self._last_tie, self._tie = self._tie, ""

    def _add(self, word: str) -> None:
        self._tie_to(word)
        role, self._role = self._role, ""
        if role:
            self._joined.add(word)
        if role in _TELLING and not (role == "from" and "contain" in self._order):
            self._roles.add((role, word))
        self._order.append(word)

    def _split(self) -> tuple[list[str], list[str]] | None:
        """Return what comes first and what then; nothing where it is not said, None if it cannot be told."""
        if not self._turns:
            return [], []
        (word, at), *more = self._turns
        border = at or self._comma
        if more or not border:
            return None
        ahead, behind = self._order[:border], self._order[border:]
        # “Before X, Y” is Y before X.
        return (behind, ahead) if (word == "after") == bool(at) else (ahead, behind)

    def made(self, mood: frozenset[str], *, told: bool) -> Essence | None:
        """Return the essence; None if too little is left, or it is said in part."""
        order, lowered, turn = self._order, self._lowered, self._split()
        if turn is None or not self._is_whole or len(set(order) - self._means) < _FEWEST:
            return None
        passive = any(
            word in _BE and any(map(is_participle, lowered[place + 1 : place + 3]))
            for place, word in enumerate(lowered)
        )
        return Essence(
            words=frozenset(order),
            first=frozenset(turn[0]),
            then=frozenset(turn[1]),
            denied=self._denied,
            mood=mood,
            # “May not keep” forbids, and “may drop” does not.
            possible=not (ENGLISH.possible if self._undone else ENGLISH.possible - _MAY).isdisjoint(lowered),
            permitted=self._permitted or "may" in lowered,
            past=is_past(self._tokens),
            told=told,
            order=tuple(order),
            pivots=tuple(self._pivots),
            passive=passive,
            equates=not passive and not self._pivots and not _BE.isdisjoint(lowered),
            roles=frozenset(self._roles),
            joined=frozenset(self._joined),
            ties=frozenset(self._ties),
            means=frozenset(self._means),
            generic=frozenset(self._generic),
            loose=frozenset(self._loose),
            headed=frozenset(self._headed),
            counted=frozenset(self._counted),
            acts=frozenset(_ACTING[word] for word in lowered if word in _ACTING) - set(order),
            owns=frozenset(_OWNING[word] for word in lowered[not passive :] if word in _OWNING),
        )


def _undone(word: str) -> str | None:
    """Return what a word such as “unprotected” denies; None if it denies nothing."""
    undone = _UNDONE.fullmatch(word)
    return None if undone is None else undone[1]


def _is_value(value: Value) -> bool:
    return value.is_measured or value.kind in _VALUE_KINDS or not value.kind.isalpha()


def _says_its_kind(value: Value) -> bool:
    """Say whether the kind is a part of what is compared: a size, or the version of a name."""
    return value.is_measured or " of " in value.kind


def _permits(sentence: str) -> bool:
    """Say whether only what may be done makes a sentence sound like a guess: “Migrations may be edited”."""
    done = _MAY_BE.findall(sentence)
    return any(map(is_participle, done)) and mood_of(_MAY_BE.sub(r"may \1", sentence)).isdisjoint(UNCLAIMED)
