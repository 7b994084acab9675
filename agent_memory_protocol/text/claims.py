"""Claims: what a text says and what it denies, clause by clause, as far as words alone show.

Only what is plain is a claim. A question, a guess or a part of something ("not all") denies nothing. What holds on a
condition holds on that condition. What cannot be told is left out, since nobody wants a dispute about nothing.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain

from ..values import dataclass
from .holding import Holding, any_of
from .language import ENGLISH, Language, Token, Words, plain, tokenise
from .mood import is_question
from .senses import LIGHT
from .tense import is_past

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+|;\s*|\s+[–—-]\s+")
_COMMAS = frozenset(",，、")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_SHORT = 4  # So many words can replace the last ones of what was said before


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a text says or denies."""

    words: tuple[str, ...]  # the words that carry it, each once, in order
    denied: bool = False
    focus: str = ""  # the first word after the negation; "" if nothing is denied
    need: bool = False  # whether it says that something is needed
    possible: bool = False  # whether it says what can be or may be
    past: bool = False  # whether it says what was
    symmetric: bool = False  # whether it says the same the other way round
    directions: frozenset[str] = frozenset()  # the words in it that say from where to where
    condition: frozenset[str] = frozenset()  # the words of the condition on which it holds
    topic: frozenset[str] | None = None  # for a denial without a subject, what the text was about before; else None


@dataclass(frozen=True, slots=True)
class Denial:
    """One text denies what another says."""

    denying: int  # with `said`: the places of the two texts
    said: int
    words: int  # how many words carry what is denied
    more: int  # how many words more carry what is said


def denials(
    texts: Sequence[str], language: Language = ENGLISH, is_claim: Callable[[str], bool] = bool
) -> Iterator[Denial]:
    """Yield each two texts of which one denies what the other says, among those that are a claim at all.

    A denial is compared only with what holds its rarest word, so that many texts take time in proportion to their
    number, and a text that neither denies nor holds such a word is not read.
    """

    def read_at(place: int) -> list[Claim]:
        return claims(texts[place], language) if is_claim(texts[place]) else []

    said = [plain(text) for text in texts]
    read = {place: read_at(place) for place, text in enumerate(said) if may_be_denial(text, language)}
    denied = [(place, claim) for place, found in read.items() for claim in found if claim.denied]
    if not denied:
        return
    holding = Holding(said, partial(_names, language=language))
    near = {denial: sorted(holding.of_rarest(denial.words)) for denial in {denial for _, denial in denied}}
    told: dict[int, list[tuple[frozenset[str], Claim]]] = {}
    for place, denial in denied:
        for other in near[denial]:
            if other not in told:
                found = read[other] if other in read else read_at(other)
                told[other] = [(frozenset(claim.words), claim) for claim in found if not claim.denied]
            for words, claim in told[other]:
                if words.issuperset(denial.words) and other != place and denies(denial, claim):
                    yield Denial(place, other, len(denial.words), len(claim.words) - len(denial.words))


def _names(raw: str, language: Language) -> Iterator[str]:
    """Yield what the claims of a text may call its words between two blanks."""
    # In letters alone there is nothing to divide.
    parts = (
        [tokenise(raw, language)]
        if raw.isalpha()
        else [words_of_sentence(one, language) for one in split_sentences(raw)]
    )
    for token in chain.from_iterable(parts):
        yield _name(token, language)


def may_be_denial(text: str, language: Language = ENGLISH) -> bool:
    """Say whether a claim of a `plain` text may be a denial."""
    return _may_deny(language).search(text.casefold()) is not None


@cache
def _may_deny(language: Language) -> re.Pattern[str]:
    """Return what is in every text of which a claim is a denial: one of these words, or one with their ending."""
    words = (
        language.negators
        | language.needless
        | language.absences
        | language.contrasts
        | language.instead
        | language.further
        | language.foreign.keys()
    )
    endings = [re.escape(language.negated_ending[0])] if language.negated_ending[0] else []
    endings += [rf"(?<![^\W_]){re.escape(one)}" for one in language.clitics]
    alone = rf"(?<![^\W_]){any_of(map(re.escape, sorted(words)))}(?![^\W_])"
    return re.compile("|".join([alone, *endings]))


def claims(text: str, language: Language = ENGLISH) -> list[Claim]:
    """Return what a text says and what it denies."""
    found: list[Claim] = []
    subject: tuple[str, ...] = ()
    for sentence in split_sentences(plain(text)):
        words = words_of_sentence(sentence, language)
        # A word alone is a name or a title, and says nothing.
        if len(words) > 1 and not is_question(sentence, words, language):
            said = _claims_of(words, subject, language)
            found += said
            subject = _subject(said[0]) if said else subject
    return found


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a `plain` text, and the parts of one that a dash or semicolon divides."""
    return [one for one in _SENTENCE.split(text) if one.strip()]


def denies(denial: Claim, said: Claim) -> bool:
    """Say whether one claim denies the other, so that they cannot both hold.

    What is denied must be all in what is said. The other way round it would be an exception: that deploys are not
    allowed on Fridays does not contradict that they are allowed.
    """
    if not denial.denied or said.denied or denial.need != said.need or denial.past != said.past:
        return False
    if (said.possible and not denial.possible) or denial.condition != said.condition:
        return False
    words = set(said.words)
    if not words.issuperset(denial.words):
        return False
    rest = words.difference(denial.words)
    if denial.topic is not None:
        shared = rest & denial.topic
        return not rest or (2 * len(shared) >= len(rest) > 0 and all(word.isalpha() for word in rest - shared))
    if not (denial.symmetric and said.symmetric) and not _in_order(denial.words, said.words):
        return False
    if not rest:
        return denial.directions == said.directions
    # A part is denied with the whole: what more is said must only say more closely what is denied, and be no longer.
    after = said.words[said.words.index(denial.focus) :] if denial.focus else ()
    return (
        len(denial.words) > 1
        and len(rest) <= len(denial.words)
        and rest.issubset(after)
        and denial.directions <= said.directions
    )


def _in_order(words: tuple[str, ...], within: tuple[str, ...]) -> bool:
    following = iter(within)
    return all(word in following for word in words)


def words_of_sentence(sentence: str, language: Language) -> list[Token]:
    """Return the words of a sentence, the parts of "hot-reload" each on its own."""
    found: list[Token] = []
    for token in tokenise(sentence, language):
        if _HYPHENATED.fullmatch(token.written):
            first, *rest = token.written.split("-")
            found.append(Token(first, first.casefold(), token.after))
            found += [Token(part, part.casefold()) for part in rest]
        else:
            found.append(token)
    return found


def _claims_of(tokens: list[Token], subject: tuple[str, ...], language: Language) -> list[Claim]:
    """Return the claims of one sentence; `subject` is what the one before was about."""
    tokens = _without_reasons(tokens, language)
    tokens, condition = _without_condition(tokens, language)
    if not tokens:
        return []
    (_, first), *others = _pieces(tokens, language)
    base = _claim(first, language)
    if base is None:
        return []
    found = [base]
    if tokens[0].lowered in language.pronouns | language.absences:
        found = [_about(base, subject)]
    for opener, piece in others:
        claim = _claim(piece, language)
        if claim is None:
            continue
        is_short = len(claim.words) <= _SHORT and claim.words
        replaced = base.words[: max(0, len(base.words) - len(claim.words))] + claim.words
        if opener in language.absences:
            found.append(replace(claim, denied=not claim.denied, topic=frozenset(base.words)))
        elif opener in language.pronouns:
            found.append(_about(claim, _subject(base)))
        elif is_short and opener in language.reversals and base.denied and not claim.denied:
            found.append(replace(base, words=replaced, denied=False, focus=""))
        elif opener in language.reversals:
            found.append(claim)
        elif is_short:
            found.append(replace(base, words=replaced, denied=True, focus=claim.words[0]))
    found = [claim for claim in found if claim.words]
    return [replace(claim, condition=condition) for claim in found] if condition else found


def _about(claim: Claim, subject: tuple[str, ...]) -> Claim:
    """Return a claim together with what it is about, which it does not say itself."""
    if not subject:
        return claim
    if claim.denied:
        return replace(claim, topic=frozenset(subject))
    return replace(claim, words=tuple(dict.fromkeys(subject + claim.words)))


def _subject(claim: Claim) -> tuple[str, ...]:
    """Return what a claim is about: of a denial, the words before the first denied one."""
    if not claim.denied:
        return claim.words
    return claim.words[: claim.words.index(claim.focus)] if claim.focus else ()


def _without_reasons(tokens: list[Token], language: Language) -> list[Token]:
    ends = (index for index, token in enumerate(tokens) if token.lowered in language.cuts)
    return tokens[: next(ends, len(tokens))]


def _without_condition(tokens: list[Token], language: Language) -> tuple[list[Token], frozenset[str]]:
    """Return what is said, and the words of the condition on which it holds."""
    start = next((index for index, _ in enumerate(tokens) if _begins_condition(tokens, index, language)), None)
    if start is None:
        return tokens, frozenset()
    end = len(tokens)
    if start == 0:
        end = next((index for index, token in enumerate(tokens) if token.after in _COMMAS), end)
    opener, *rest = tokens[start:end]
    words = {_name(token, language) for token in rest}
    return tokens[:start] + tokens[end:], frozenset({opener.lowered, *(words - language.empty)})


def _begins_condition(tokens: list[Token], index: int, language: Language) -> bool:
    """Say whether a word begins a condition; “without” does, unless it says how something is done: “runs without”."""
    word, before = tokens[index].lowered, tokens[index - 1]
    if word in language.conditions:
        return True
    if word not in language.lacking or before.after in _COMMAS or tokens[index].after in _COMMAS:
        return False
    return not (index and (before.lowered.endswith("ed") or language.stem(before.lowered) in _verbs(language)))


def _pieces(tokens: list[Token], language: Language) -> list[tuple[str, list[Token]]]:
    """Divide a sentence where something else is denied or said instead; each piece has the word that opens it."""
    pieces: list[tuple[str, list[Token]]] = [("", [])]
    denied = False
    for index, token in enumerate(tokens):
        word = token.lowered
        following = tokens[index + 1].lowered if index + 1 < len(tokens) else ""
        opens = index > 0 and (
            word in language.reversals
            or word in language.instead
            or (word in language.further and denied)
            or (word in language.joins and denied and following in language.negators)
            or (token.after in _COMMAS and word in language.contrasts | language.absences | language.pronouns)
        )
        if opens:
            pieces.append((word, []))
        else:
            pieces[-1][1].append(token)
        denied = denied or word in language.negators
    return pieces


def _claim(tokens: list[Token], language: Language) -> Claim | None:
    """Return what one piece says; None if it only says so in part, or perhaps."""
    seen = {token.lowered for token in tokens}
    if seen & language.hedges:
        return None
    empty = _without_content(language)
    needs, possibles = _stems(language.needs, language), _stems(language.possible, language)
    words: dict[str, None] = {}
    denied = need = possible = awaited = False
    focus = ""
    last = len(tokens) - 1
    for index, token in enumerate(tokens):
        word, stem = token.lowered, language.stem(token.lowered)
        if word in language.negators or word in language.needless:
            if index < last and tokens[index + 1].lowered in language.partial:
                return None
            denied, awaited = not denied, True
        need = need or stem in needs or word in language.needless
        possible = possible or stem in possibles
        carries = word not in empty and stem not in needs and stem not in possibles
        if carries or (index == last and word in language.prepositions):
            name = _name(token, language)
            words.setdefault(name)
            if awaited:
                focus, awaited = name, False
    return Claim(
        tuple(words),
        denied=denied,
        focus=focus,
        need=need,
        possible=possible,
        past=is_past(tokens, language),
        symmetric=need or (not seen.isdisjoint(language.copulas) and seen.isdisjoint(language.prepositions)),
        directions=language.directions.intersection(seen),
    )


def _name(token: Token, language: Language) -> str:
    """Return by what a word is compared: its stem, or letter by letter where it is a name, a number or a path."""
    return language.stem(token.lowered) if token.is_plain else token.written


@cache
def _without_content(language: Language) -> Words:
    """Return the words that carry no claim."""
    return (
        language.empty | language.light | language.negators | language.needless | language.past | language.prepositions
    )


@cache
def _verbs(language: Language) -> Words:
    """Return the stems of what “without” belongs to."""
    return LIGHT | _stems(language.imperatives | language.copulas | language.prepositions, language)


@cache
def _stems(words: Words, language: Language) -> Words:
    return frozenset(map(language.stem, words))
