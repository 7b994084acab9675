"""What tells two texts apart, in any wording: a number, name, path, negation, mood or opposite that only one has.

A program or a model may take two texts for the same that are put differently. This says what would be lost then. It
errs on one side: where it cannot be told whether a word is a name, it is one. Of two texts that are nearly the same,
what differs tells them apart: a word that was exchanged or added, or two that changed places.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from .alike import changed_places, denials, same
from .claims import split_sentences
from .essence import SAYS_LITTLE
from .forms import FORMS
from .gist import gist, words_of
from .language import ENGLISH, Token, english, plain, tokenise, word_set
from .mood import ASKS, GUESSES
from .opposites import opposed
from .senses import GENERIC, LIGHT, is_light, rephrase, sense
from .tense import is_past
from .values import find_values, number_said

_NO_NAMES = ENGLISH.subjects | ENGLISH.pronouns | ENGLISH.negators | frozenset(["an", "both", "his", "her", "its"])
_VERBS = word_set(
    "am are became built can did does got had has is made may might must ran said sent shall should was went were"
    " will won would wrote"
)
"""Verbs that follow what a sentence is about, and do not end as others do."""

_ORDER = "the order of their words"
_FEWEST = 2  # Words that two texts share which are nearly the same

_BOUNDS = {
    "a lower bound": re.compile(
        r">|\b(?:at least|minimum|(?<!no )(?:more|later|newer|higher) than|no (?:fewer|less) than)\b"
        r"|\bor (?:above|after|higher|later|more|newer)\b",
        re.IGNORECASE,
    ),
    "an upper bound": re.compile(
        r"<|\b(?:at most|maximum|up to|(?<!no )(?:earlier|fewer|less|lower|older) than|no more than)\b"
        r"|\bor (?:before|below|earlier|fewer|less|lower|older)\b",
        re.IGNORECASE,
    ),
}
"""What makes a number the least or the most that is meant."""

_OWNERS = word_set("her his my our own their your")
_BEFORE_NOUNS = ENGLISH.prepositions | _OWNERS | word_set("a an the this that with")

_ENDINGS = ("s", "ed")
_OTHER_ENDINGS = ("ss", "eed")
_SENTENCE_ENDS = (".", "!", "?", ":")
_OWNER = re.compile(r"(\w+)'s\b")


def told_apart(one: str, other: str) -> str:
    """Return what only one of two texts has and makes them two; "" if nothing does."""
    if same(one, other):
        return ""
    first, second = gist(one), gist(other)
    for asked in (ASKS, GUESSES):
        if asked in first.mood | second.mood:
            return asked
    if first.mood != second.mood:
        return ", ".join(sorted(first.mood ^ second.mood))
    if (len(first.negations) - len(second.negations)) % 2 or any(denials([one, other])):
        return "a negation"
    tokens, others = tokenise(plain(one), ENGLISH), tokenise(plain(other), ENGLISH)
    if against := opposed(_forms(tokens), _forms(others)):
        return against
    if bounds := _bounds(one) ^ _bounds(other):
        return ", ".join(sorted(bounds))
    in_first, in_second = _words(tokens), _words(others)
    apart = _exact(tokens) ^ _exact(others)
    apart |= {name for name, word in _names(one, tokens) if word not in in_second}
    apart |= {name for name, word in _names(other, others) if word not in in_first}
    if not apart and changed_places(one, other):
        return _ORDER
    if (
        not apart
        and is_past(tokens) != is_past(others)
        and max(len(split_sentences(text)) for text in (one, other)) < 2
    ):
        return "what was"
    found = ", ".join(sorted(apart)) or _differing(_plainest(tokens), _plainest(others))
    return found or _exchanged(_senses(one), _senses(other)) or _owned(one, other) or _owned(other, one)


def names_apart(one: str, other: str) -> bool:
    """Say whether each of two texts names somebody or something, within a sentence, that the other does not."""
    tokens, others = tokenise(plain(one), ENGLISH), tokenise(plain(other), ENGLISH)
    return _has_other_name(tokens, others) and _has_other_name(others, tokens)


def _has_other_name(tokens: Sequence[Token], others: Sequence[Token]) -> bool:
    known = _words(others)
    names = (one for one in tokens[1:] if one.written[:1].isupper() and one.after not in _SENTENCE_ENDS)
    return any(english(one.lowered, past=False) not in known for one in names if one.lowered not in _NO_NAMES)


def _exchanged(first: Mapping[str, str], second: Mapping[str, str]) -> str:
    """Return a word of each of two texts that the other has no word for; "" if only one of them has such a word."""
    own = [
        [written for meant, written in these.items() if those.keys().isdisjoint((meant, *_kin(meant)))]
        for these, those in ((first, second), (second, first))
    ]
    return f"{own[0][0]} and {own[1][0]}" if all(own) else ""


def _kin(meant: str) -> Iterator[str]:
    """Yield what else a word may be called: bought of buy, linter of lint."""
    yield from FORMS.get(meant, ())
    yield from (f"{meant}er", f"{meant}r", meant.removesuffix("er"), meant.removesuffix("r"))


def _senses(text: str) -> dict[str, str]:
    """Return what the words of a text mean, as it is compared, each with a word that was written for it."""
    tokens = tokenise(rephrase(plain(text)), ENGLISH)
    found = {}
    for place, token in enumerate(tokens):
        word = token.lowered
        if word not in SAYS_LITTLE | ENGLISH.conditions and (
            not (token.is_plain and is_light(token)) or _says_which(tokens, place)
        ):
            found[number_said(word) or sense(token)] = token.written
    return found


def _says_which(tokens: Sequence[Token], place: int) -> bool:
    """Say whether a verb says which of several things is meant: “the live key”."""
    ahead, behind = tokens[max(place - 1, 0)], tokens[place + 1 : place + 2]
    return ahead.lowered in _BEFORE_NOUNS and bool(behind) and behind[0].lowered not in SAYS_LITTLE


def _owned(one: str, other: str) -> str:
    """Return what a text calls its own, where the other says instead which one it means: “our registry”."""
    first, second = words_of(tokenise(plain(one), ENGLISH))[0], words_of(tokenise(plain(other), ENGLISH))[0]
    known = {word for word, _ in first}
    which = {noun: word for (word, at), (noun, behind) in pairwise(second) if behind == at + 1 and word not in known}
    owned = ((owner, noun) for (owner, _), (noun, _) in pairwise(first) if owner in _OWNERS)
    return next((f"{owner} and {which[noun]}" for owner, noun in owned if noun in which), "")


def _differing(words: Sequence[str], others: Sequence[str]) -> str:
    """Return what differs between words that are nearly the same; "" if more than that differs, or nothing."""
    if Counter(words) == Counter(others):
        return "" if _is_moved(words, others) else _ORDER
    short, long = sorted((words, others), key=len)
    if len(short) == len(long):
        exchanged = [pair for pair in zip(words, others, strict=True) if pair[0] != pair[1]]
        is_one = len(exchanged) == 1 and len(words) >= _FEWEST and LIGHT.isdisjoint(exchanged[0])
        return " and ".join(exchanged[0]) if is_one else ""
    left = iter(long)
    if len(short) >= _FEWEST and all(word in left for word in short):
        added = Counter(long) - Counter(short)
        return ", ".join(sorted(added.keys() - LIGHT - GENERIC))
    return ""


def _is_moved(words: Sequence[str], others: Sequence[str]) -> bool:
    """Say whether at most one word is elsewhere, which says the same; of two that changed places, both are."""
    return words == others or any(_without(words, word) == _without(others, word) for word in words)


def _without(words: Sequence[str], word: str) -> list[str]:
    place = words.index(word)
    return [*words[:place], *words[place + 1 :]]


def _plainest(tokens: Sequence[Token]) -> list[str]:
    """Return the words that carry the meaning, whatever their form."""
    words = (tokens[place].lowered for _, place in words_of(tokens)[0])
    return [number_said(word) or english(word) for word in words]


def _forms(tokens: Sequence[Token]) -> set[str]:
    return {form for token in tokens for form in (token.lowered, english(token.lowered))}


def _bounds(text: str) -> set[str]:
    return {bound for bound, pattern in _BOUNDS.items() if pattern.search(text)}


def _words(tokens: Sequence[Token]) -> set[str]:
    return {english(token.lowered, past=False) for token in tokens} | {token.written for token in tokens}


def _exact(tokens: Sequence[Token]) -> set[str]:
    """Return what is compared to the letter: values, numbers, and what is not a plain word."""
    found: set[str] = set()
    rest = list(tokens)
    for value in reversed(find_values(tokens)):
        found.add(f"{value.kind} {value.amount}" if value.is_measured else value.amount)
        del rest[value.start : value.end]
    for token in rest:
        if number := number_said(token.lowered):
            found.add(number)
        elif not token.is_plain:
            found.add(token.written)
    return found


def _names(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield the words that are capitalised as names are, and the word that the other text must have for each.

    The first word of a sentence is a name where something is said of it: a verb follows, or it has something.
    """
    owners = {match[1] for match in _OWNER.finditer(plain(text))}
    for place, token in enumerate(tokens):
        is_first = place == 0 or token.after in _SENTENCE_ENDS
        is_capital = token.written[:1].isupper() and token.lowered not in _NO_NAMES
        if is_capital and (not is_first or token.written in owners or _is_subject(tokens, place)):
            yield token.written, english(token.lowered, past=False)


def _is_subject(tokens: Sequence[Token], place: int) -> bool:
    """Say whether something is said of the first word of a sentence."""
    if place + 1 == len(tokens) or tokens[place].lowered in ENGLISH.imperatives | ENGLISH.prepositions:
        return False
    word = tokens[place + 1].lowered
    if word in ("and", "or"):
        return place + 2 < len(tokens) and tokens[place + 2].written[:1].isupper()
    return word in _VERBS or (
        len(word) > 3 and word.isalpha() and word.endswith(_ENDINGS) and not word.endswith(_OTHER_ENDINGS)
    )
