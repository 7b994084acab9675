"""Renewed: a text that seems to tell what has become of what another says, in words of its own.

“Backups now run at 4 am” may renew “The nightly backup runs at 2 am”. Words alone cannot tell it from a second thing of
its kind, so this is a guess: ask it of who writes a text. What surely has another value is in `changed`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..values import dataclass
from .dates import MONTHS, WEEKDAYS
from .gist import is_claim
from .holding import sharing
from .language import ENGLISH, Token, plain, tokenise, word_set
from .opposites import opposed
from .senses import is_generic, is_light, rephrase, sense
from .tense import is_known_verb
from .values import PORT, Value, find_values, is_unit

_RENEWING = word_set(
    "anymore became become bumped changed decreased deprecated dropped gone increased longer lowered migrated moved"
    " moves now raised reduced renamed replaced replaces retired switched upgraded"
)
"""Words by which a text tells that something is not as it was."""
_EACH = word_set("each every per")
_WEEKDAY = "weekday"
_MONTHS = frozenset(MONTHS) - {"may"}
"""They say when, and not of what. May may be the verb, which says little anyway."""
_FEWEST = 2  # So many words two texts share at least, those that say little counted
_PART = 0.25  # Of the words of the longer text, the part that both share
_ENOUGH = 0.5  # Of the words of the shorter text, the part that a text which says “now” or “moved” shares with it
_COMMON = 20  # A word that more texts have than this brings no two of them together
_PARTNERS = (
    2  # What more texts than this may renew is one of a list of like things; so are three that may renew each other
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a text is about, the words that say little, its values by kind, and whether it tells that something changed.

    Of a kind that it has two values of, it has none.
    """

    words: frozenset[str]
    little: frozenset[str]
    values: Mapping[str, Value]
    tells: bool


def may_renew(new: str, standing: str) -> bool:
    """Say whether a new text may tell what has become of what another says.

    Either each has one value of a kind, and they differ, where the shorter is about nothing that the other is not
    about, or the new one says “now”, “moved” or the like; or it says so of at least half of the same things.
    """
    one, other = _read(new), _read(standing)
    if one is None or other is None:
        return False
    if not one.tells and one.values.keys().isdisjoint(other.values):
        return False
    shared = one.words & other.words
    fewest, most = sorted((len(one.words), len(other.words)))
    is_alike = len(shared) >= _PART * most and len(shared) + len(one.little & other.little) >= _FEWEST
    if not shared or not is_alike:
        return False
    left = {word for words in (one.words, other.words) if len(words) == fewest for word in words - shared}
    is_other = any(
        one.values[kind].differs_from(other.values[kind]) for kind in one.values.keys() & other.values.keys()
    )
    renews = is_other and (one.tells or all(map(is_known_verb, left)))
    tells = one.tells and not other.tells and one.words != other.words and len(shared) >= _ENOUGH * fewest
    return (renews or tells) and not opposed(one.words, other.words)


def pairs(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of each two texts of which the first may be out of date, as far as that is told by a “now”."""
    readings = map(_read, texts)
    near = sharing([() if reading is None else reading.words for reading in readings], _COMMON)
    found = [
        (one, other)
        for one, other in sorted(near)
        if may_renew(texts[one], texts[other]) or may_renew(texts[other], texts[one])
    ]
    partners: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in found:
        partners[one].add(other)
        partners[other].add(one)
    few = [
        (one, other)
        for one, other in found
        if max(len(partners[one]), len(partners[other])) <= _PARTNERS and partners[one].isdisjoint(partners[other])
    ]
    return [(other, one) if _tells(texts[one]) and not _tells(texts[other]) else (one, other) for one, other in few]


def topic(text: str) -> frozenset[str]:
    """Return the words that say what a text is about, without its reason; none of a text that claims nothing."""
    reading = _read(text)
    return frozenset() if reading is None else reading.words


def _tells(text: str) -> bool:
    reading = _read(text)
    return reading is not None and reading.tells


@lru_cache(maxsize=1 << 12)
def _read(text: str) -> _Reading | None:
    if not is_claim(text):
        return None
    tokens = tokenise(rephrase(plain(text)), ENGLISH)
    reason = next((place for place, token in enumerate(tokens) if place and token.lowered in ENGLISH.cuts), len(tokens))
    tokens = tokens[:reason]
    values = find_values(tokens)
    in_values = {place for value in values for place in range(value.start, value.end)}
    rest = [token for place, token in enumerate(tokens) if place not in in_values]
    days = [Value(_WEEKDAY, day, 0, 0) for token in rest if (day := token.lowered.removesuffix("s")) in WEEKDAYS]
    kinds = [value.kind for value in (*values, *days)]
    said = [token for token in rest if _carries(token)]
    little = frozenset(sense(token) for token in said if is_light(token) or is_generic(token))
    return _Reading(
        frozenset(map(sense, said)) - little,
        little | {kind for kind in kinds if kind.startswith(PORT)},
        {value.kind: value for value in (*values, *days) if kinds.count(value.kind) == 1},
        not _RENEWING.isdisjoint(token.lowered for token in rest),
    )


def _carries(token: Token) -> bool:
    word = token.lowered
    return not (
        word in _RENEWING
        or word in ENGLISH.empty
        or word in ENGLISH.prepositions
        or word in ENGLISH.negators
        or word in ENGLISH.cuts
        or word in _EACH | _MONTHS
        or word.removesuffix("s") in WEEKDAYS
        or is_unit(word)
    )
