"""Alike: whether two facts claim the same, or one the opposite, put in other words.

Two that have the same essence claim the same, or the opposite where one of them denies it, unless the order of the
words shows that something changed places. What cannot be told is left out.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product

from . import claims, contrary, east_asian, gist
from .claims import Denial, may_be_denial
from .essence import DROPPED, MAY_AMOUNT, MAY_DENY, PERSONS, Essence, essence, names
from .holding import Holding
from .language import ENGLISH, plain
from .mood import ADVISES, OBLIGES, PLANS, UNCLAIMED
from .senses import rephrase
from .values import may_hold_value

_NUMBER = re.compile(r"(?<!\S)[0-9]{1,5}(?=[.!]?(?:\s|$))")
_THEY = "them"
_MEANS = re.compile(r"(?<=ed) (?:with|using|via) [^,;]+$")
"""By what means something is done, which is denied with it: “Flaky tests are quarantined with a marker”."""
_USE, _ONLY = ENGLISH.stem("use"), ENGLISH.stem("only")


def same(one: str, other: str) -> bool:
    """Say whether two texts claim the same, in the same words or in others."""
    if _count_others(one, other):
        return False
    if gist.same(one, other):
        return True
    first, second = essence(one), essence(other)
    return first is not None and second is not None and first.denied == second.denied and _same(first, second)


def _count_others(one: str, other: str) -> bool:
    """Say, quickly, whether two texts are the same but for their numbers: “Step 3 of 7”, “Step 4 of 7”."""
    first, second = _without_numbers(one), _without_numbers(other)
    return first[0] == second[0] and first[1] != second[1]


@lru_cache(maxsize=1 << 15)
def _without_numbers(text: str) -> tuple[str, frozenset[int]]:
    """Return a text without its short whole numbers, and which those are."""
    return _NUMBER.sub("#", text), frozenset(map(int, _NUMBER.findall(text)))


def changed_places(one: str, other: str) -> bool:
    """Say whether the order of the words shows that something changed places; where it cannot be told, False."""
    first, second = essence(one), essence(other)
    if first is None or second is None:
        return False
    is_about_the_same = first.words - PERSONS == second.words - PERSONS
    return _changed_places(first, second) or (is_about_the_same and _is_turned(first, second))


def groups(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places of texts that all claim the same, in time in proportion to their number."""
    for members in _by_words(texts):
        left = members
        while len(left) > 1:
            (place, first), *others = left
            alike = [(number, one) for number, one in others if one.denied == first.denied and _same(first, one)]
            if alike:
                yield [place, *(number for number, _ in alike)]
            taken = {number for number, _ in alike}
            left = [(number, one) for number, one in others if number not in taken]


def denials(texts: Sequence[str]) -> Iterator[Denial]:
    """Yield each two claims of which one denies what the other says, in the same words or in others; see `claims`."""
    yield from together(denials_in_the_same_words(texts), denials_in_other_words(texts))


def together(in_the_same_words: Iterable[Denial], in_other_words: Iterable[Denial]) -> Iterator[Denial]:
    """Yield all of the first, then of the others each pair of texts once that was not among the first."""
    told = set()
    for denial in in_the_same_words:
        told.add(frozenset((denial.denying, denial.said)))
        yield denial
    for denial in in_other_words:
        pair = frozenset((denial.denying, denial.said))
        if pair not in told:
            told.add(pair)
            yield denial


def denials_in_the_same_words(texts: Sequence[str]) -> Iterator[Denial]:
    """Yield each two claims of which one denies what the other says in the same words; see `claims`."""
    return claims.denials(texts, is_claim=gist.is_claim)


def denials_in_other_words(texts: Sequence[str]) -> Iterator[Denial]:
    """Yield each two claims of which one denies what the other says in other words; some are yielded again."""
    near = _near_denials(texts)
    for members in _by_words(near, [_MEANS.sub("", text) for text in near]):
        denied = [(place, one) for place, one in members if one.denied]
        said = [(place, one) for place, one in members if not one.denied]
        for place, one in denied:
            for number, other in said:
                if _opposed(one, other):
                    yield Denial(place, number, len(one.words), 0)
    for place, number, words in _contraries(texts, contrary.words):
        yield Denial(number, place, words, 0)
    for place, number in east_asian.denials(texts):
        yield Denial(place, number, len(texts[place]), 0)


def rivals(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of each two texts that give two values where only one can hold.

    Where there is a third value, they may be a list of like things.
    """
    for place, number, _ in _contraries(texts, contrary.values, most=2):
        yield place, number


def _contraries(
    texts: Sequence[str], find: Callable[[str], Sequence[contrary.Contrary]], most: int | None = None
) -> Iterator[tuple[int, int, int]]:
    """Yield the places of each two texts that are the same but for what excludes each other, and their words."""
    found: defaultdict[object, defaultdict[str, list[tuple[int, Essence]]]] = defaultdict(lambda: defaultdict(list))
    told = [(place, said) for place, text in enumerate(texts) if gist.is_claim(text) for said in find(text)]
    rows: defaultdict[str, set[str]] = defaultdict(set)
    for _, said in told:
        rows[said.row].add(said.side)
    for place, said in told:
        rest = essence(said.rest) if len(rows[said.row]) > 1 else None
        if rest is not None and not (rest.possible or rest.permitted):
            found[said.row, rest.words][said.side].append((place, rest))
    for by_side in found.values():
        if most is None or len(by_side) <= most:
            for sides in combinations(by_side.values(), 2):
                for (place, one), (number, other) in product(*sides):
                    if place != number and one.denied == other.denied and _both_told(one, other):
                        yield min(place, number), max(place, number), len(one.words)


def _both_told(one: Essence, other: Essence) -> bool:
    """Say whether both tell what is: what should be and what is planned is not denied by what is."""
    return {ADVISES, PLANS}.isdisjoint(one.mood ^ other.mood) and _comparable(one, other)


@lru_cache(maxsize=1 << 15)
def may_deny(text: str) -> bool:
    """Say whether a text may deny what another says, judged by single words. Of two that are opposed, one may."""
    said = plain(text)
    return (
        may_be_denial(said)
        or any(MAY_DENY in names(raw) for raw in rephrase(said).split())
        or any(one.side != "0" or not one.row.startswith(contrary.ORDER) for one in contrary.words(text))
    )


def forget(most: int = 4_000) -> None:
    """Let go of what is known of texts that were compared, where it is more than so many."""
    gist.forget(most)
    if essence.cache_info().currsize > most:
        essence.cache_clear()


def _near_denials(texts: Sequence[str]) -> list[str]:
    """Return the texts of which one may deny another, judged by single words, and "" in place of the rest."""
    rephrased = [rephrase(plain(text)) for text in texts]
    holding = Holding(rephrased, names)
    kept = {*holding.of(MAY_DENY)}
    for denial in [essence(texts[place]) for place in sorted(kept)]:
        for words in {denial.words, denial.words - denial.means} if denial is not None and denial.denied else ():
            # An amount is said in many ways.
            told = [word for word in words if not may_hold_value(word)]
            kept |= holding.of_rarest(told) if told else holding.of(MAY_AMOUNT)
    return [text if place in kept else "" for place, text in enumerate(texts)]


def _by_words(texts: Sequence[str], shorter: Sequence[str] = ()) -> Iterator[list[tuple[int, Essence]]]:
    """Yield what is about the same words; “tracked with X” and “use X for” are about the same.

    A text that has a `shorter` form is looked at in that form, too.
    """
    found: defaultdict[object, list[tuple[int, Essence]]] = defaultdict(list)
    both = [*enumerate(texts), *(one for one in enumerate(shorter) if one[1] != texts[one[0]])]
    for place, text in both:
        one = essence(text)
        if one is not None:
            found[one.words].append((place, one))
            if one.means:
                found[one.words - one.means].append((place, one))
    yield from found.values()


def _same(one: Essence, other: Essence) -> bool:
    if one.possible != other.possible or not _comparable(one, other) or _is_elsewhere(one, other):
        return False
    if not UNCLAIMED.isdisjoint(one.mood | other.mood):
        return False  # “Tokens may be expired” may be a guess
    if _forbids(one) and _forbids(other):
        return True
    return one.permitted == other.permitted and _moods_agree(one, other)


def _is_elsewhere(one: Essence, other: Essence) -> bool:
    """Say whether a noun that adds little comes with another preposition: “as JSON”, “in JSON files”."""
    if one.generic == other.generic:
        return False
    return any(word == same and tie != instead for tie, word in one.ties for instead, same in other.ties)


def _forbids(one: Essence) -> bool:
    """Say whether a text forbids something: “Never commit to main”, “Commits to main are not allowed”."""
    return one.denied and ADVISES not in one.mood and (one.permitted or one.told or OBLIGES in one.mood)


def _opposed(denial: Essence, claim: Essence) -> bool:
    """Say whether both cannot be true. “It may be” is not denied by “it is not”."""
    if claim.possible and not denial.possible:
        return False
    if claim.permitted != denial.permitted and not (claim.permitted and (denial.told or OBLIGES in denial.mood)):
        return False
    return _both_told(denial, claim)


def _moods_agree(one: Essence, other: Essence) -> bool:
    """Say whether two texts demand the same: “Use tabs” is told as firmly as “Tabs must be used”."""
    if one.mood == other.mood:
        return True
    return {*one.mood, *other.mood} == {OBLIGES} and all(side.mood or side.told for side in (one, other))


def _comparable(one: Essence, other: Essence) -> bool:
    if one.words != other.words and not (_says_means(one, other) or _says_means(other, one)):
        return False
    if one.acts and other.acts and (_THEY in one.acts) != (_THEY in other.acts):
        return False
    if one.instead != other.instead or one.past != other.past or (one.first, one.then) != (other.first, other.then):
        return False
    more, less = one.generic - other.generic, other.generic - one.generic
    if (more and less) or not (more <= one.loose and less <= other.loose):
        return False  # “Bucket policies are reviewed”, “Policies are reviewed”
    if one.headed and other.headed and one.headed.isdisjoint(other.headed):
        return False  # “Cache files in memory”, “Cache memory files”
    if (one.headed - other.headed) & other.counted or (other.headed - one.headed) & one.counted:
        return False  # “The test account is gone”, “The test is gone”
    agree = _roles_agree(one, other) and _roles_agree(other, one)
    return agree and not _is_turned(one, other) and not _changed_places(one, other)


def _says_means(one: Essence, other: Essence) -> bool:
    """Say whether the first says what something is used for, and the second only that it is used."""
    if not one.means:
        return False
    return any(verb == _USE for verb, _ in other.pivots) and one.words - one.means == other.words


def _roles_agree(one: Essence, other: Essence) -> bool:
    """Say whether each word that has a part in the first has no other one in the second."""
    for role, word in one.roles:
        others = {name for name, about in other.roles if about == word}
        if others and role not in others:
            return False
        if not others and role not in DROPPED:
            return False
        if not others and role == "by" and one.passive == other.passive:
            return False
        if role == "for" and ("with", word) in other.ties:
            return False
    return True


def _is_turned(one: Essence, other: Essence) -> bool:
    """Say whether who does something in one text is to whom, or to whose, it is done in the other."""
    equates = one.equates or other.equates
    for first, second in ((one, other), (other, one)):
        told = {word for _, word in second.roles}
        if first.acts & (second.words - first.words):
            return True  # “We trust the proxy”, “The proxy trusts us”
        if equates:
            continue
        if any(_does_it(word, second, first, role) for role, word in first.roles if word not in told):
            return True
        if first.acts & second.owns - first.owns - second.acts:
            return True  # “We host Ana's data”, “Ana hosts our data”
    return False


def _does_it(word: str, one: Essence, other: Essence, role: str) -> bool:
    """Say whether a word is who does something in the first, and to whom it is done, by its role, in the second."""
    if "need" in one.words or not one.order[0] == word != other.order[0]:
        return False  # “A merge needs approval” and “Approval is needed to merge” are one
    verbs, others = dict(one.pivots), dict(other.pivots)
    if (
        verbs
        and others
        and (verbs.keys().isdisjoint(others) or (role == "for" and _USE in verbs.keys() & others.keys()))
    ):
        return False  # “Reports go to Lea” and “Lea gets them”; “Our CI uses pnpm” and “We use pnpm for CI”
    return one.passive == other.passive or (other.passive and role != "by" and not verbs)


def _changed_places(one: Essence, other: Essence) -> bool:
    """Say whether two words have changed places: around the same verb, or behind the same preposition."""
    if _changed_ties(one, other):
        return True
    if one.passive != other.passive or one.order == other.order or (one.equates and other.equates):
        return False
    if _ONLY in one.order and _ONLY in other.order and (one.order[0] == _ONLY) != (other.order[0] == _ONLY):
        return True
    for verb, at in _verbs(one):
        for same_verb, there in _verbs(other):
            ahead = set(one.order[:at]).intersection(other.order[there:]) - {verb}
            behind = set(one.order[at:]).intersection(other.order[:there]) - {verb}
            is_swapped = verb == same_verb and ahead and behind
            # “Sessions are stored in Redis” and “Redis stores the sessions”: one has a preposition, and one has none.
            if is_swapped and (behind <= one.joined) == (ahead <= other.joined):
                return True
    return False


def _changed_ties(one: Essence, other: Essence) -> bool:
    """Say whether a preposition is in front of a word here, and there in front of another, and both texts have both."""
    there, here = one.ties - other.ties, other.ties - one.ties
    known = (one.words | one.generic) & (other.words | other.generic)
    return any(tie == same_tie and {word, instead} <= known for tie, word in there for same_tie, instead in here)


def _verbs(one: Essence) -> list[tuple[str, int]]:
    """Return the light verbs, and each other word in case it is a verb, with the words in front of each."""
    return [*one.pivots, *((word, place) for place, word in enumerate(one.order))]
