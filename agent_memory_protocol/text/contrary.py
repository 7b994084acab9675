"""Contraries: what a text says of one thing that excludes what another may say: open and closed, 30 minutes and 60.

A word counts only where something is said by it: in “The port is open”, not in “Open issues are triaged”. A value
counts only where one thing has one of its kind, as a limit or a lifetime has: a service may well listen on two ports.
A text is compared without that word or value, so that the rest may be put in other words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ..values import dataclass
from . import kinds, opposites
from .language import ENGLISH, english, plain, tokenise, word_set
from .senses import LIGHT, rephrase
from .tense import is_known_verb
from .values import DATE, NUMBER, TIME, VERSION, Value, find_values, may_hold_value

_SAID = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), by)
    for pattern, by in (
        (r"one (?:after|by|at) (?:another|one|the other|a time)|in (?:sequence|series)", "serially"),
        (r"at the same time|side by side|all at once", "simultaneously"),
        (r"local time(?: zone)?|the time zone of the (?:user|server|host|machine)", "localtime"),
        (r"from scratch|from zero", "fromscratch"),
        (r"in parallel", "concurrently"),
        (r"in the background", "inbackground"),
        (r"on[- ]prem(?:ises?)?|on (?:our|its) own (?:hardware|servers)", "onpremise"),
        (r"in the cloud", "incloud"),
        (r"in front of", "infrontof"),
        (r"at (?:build|compile) time", "buildtime"),
        (r"at run ?time", "runtime"),
        (r"open[- ]source", "opensource"),
        (r"read[- ]only", "readonly"),
        (r"read[- ]write", "readwrite"),
        (r"(single|multi)[- ]threaded", r"\1threaded"),
        (r"non[- ]blocking", "nonblocking"),
        (r"(?:(?:released|distributed|published) )?under (?:the |an? )?([\w.-]+) licen[cs]e", r"licensed under \1"),
        (r"speeds? up", "improves"),
        (r"slows? down", "degrades"),
    )
)
"""Phrases, and the one word they are compared as here."""

_ANY_SAID = re.compile("|".join(pattern.pattern for pattern, _ in _SAID))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(english, text.split()))


_PREFIXES = ("un", "in", "im", "ir", "il", "non", "non-")
_SHORTEST = 4

_BE = word_set("am are be been is remain remains stay stays was were")
_BETWEEN = word_set(
    "already also always by case completely currently default fully kept now still strictly thread usually very"
)
_PARTICIPLE = re.compile(r"\w+(?<!e)ed|forbidden|forgotten|hidden|kept|lost")
_DEMANDING = word_set("must shall should will")
_GO = word_set("begin begins close closes due end ends happens occurs open opens start starts")
_USE = word_set("use uses")
_UNIT_AFTER = word_set("as in use uses using with")
_SUBJECT = word_set("our the")
_WE = word_set("we")
_ONE_OF_MANY = word_set("a an another one")
_ENDING = _stems("archive close delete end expire fail finish lock log purge remove rotate stop time timeout")
_TAKING = _stems("last live sleep take wait")
_HAVING = _stems("contain has have hold need require")
_HAPPENING = _stems(
    "apply build check commit compile deploy execute generate happen lint merge migrate occur publish rebase release"
    " restart review rotate run scan seed send sign start tag test"
)
_PERIODIC = word_set("daily monthly nightly standup weekly yearly")
_VERSIONED = word_set("on run runs target targets use uses")
_SOLE = word_set("canonical default official primary")
_ROLES = word_set("ceo cto director head lead leader licence license manager owner")
_PLACED = word_set("based deployed hosted kept located run runs saved served stored written")
_PLACING = word_set("deploy host keep locate run save serve store")
_KEPT_BY = word_set("administered headed led maintained managed owned run")
_MADE_BY = word_set("created designed founded written")
_KEEPS = word_set("administers heads leads maintains manages owns")
_TEAM = word_set("group guild squad team")
_AS_WELL = word_set("also both too")
_NOT_ALONE = word_set("also both currently mainly mostly partly sometimes too usually")
_MORE = word_set("and or with")
_MANY_TOOLS = _stems("check debug develop monitor script test tool")
_OF_MANY = word_set(
    "and compared compatible converted converts connected connects integrated integrates like migrate migrated move"
    " moved or similar supported supports switch switched tested tried work works"
)
"""Beside them a name is one of several."""
_TESTING = word_set("ci compatible library matrix package pipeline sdk support supports test tests")
_LONGEST_NAME = 3
_MUST = re.compile(r"\b(?:must|ha(?:s|ve) to|needs? to|(?:is|are) required to)\b(?! not\b)", re.IGNORECASE)
_NEED_NOT = re.compile(
    r"\b(?:need not|needn't|(?:do|does) (?:not (?:need|have) to)|(?:do|does)n't (?:need|have) to"
    r"|(?:is|are) (?:not|n't) required to)\b",
    re.IGNORECASE,
)
_TOLD, _DONE = re.compile(r"(?:always )?([a-z]+)\b"), re.compile(r"\bmust (?:be )?([a-z]+)")
ORDER = "order to "  # How a row begins whose first side tells to do something, and denies nothing by itself
_MAY_NEED = re.compile(r"\b(?:must|need|required|have to|has to)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Contrary:
    """What a text says that another may say otherwise, and the text without it."""

    row: str  # in which row of words, or of which kind of value
    side: str  # which of those that exclude each other
    rest: str  # the text, with the same word wherever the row is the same


def _read(part: str) -> dict[str, list[tuple[str, str]]]:
    """Return for each word that contradicts in this part of a sentence its rows, each with a side of it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in opposites.rows(part):
        name = part + "".join(filter(str.isalpha, row[0][0]))
        for side, own in enumerate(row):
            for word in own:
                forms = {word, *([english(word)] if part == "does" else []), *([f"{word}s"] if part == "on" else [])}
                for form in forms:
                    found.setdefault(form, []).append((name, str(side)))
    return found


_STATE, _MANNER, _BOUND, _TURN, _VERB, _UNIT, _PERIOD, _DAY = map(
    _read, ("is", "how", "bound", "turn", "does", "in", "often", "on")
)
_EVERY, _HOW_OFTEN = "repeatedly", "howoften"
_SECONDS = [f"{86_400 * days:g}" for days in (1, 7, 14, 30, 90, 1 / 24, 365)]
"""What the periods of the table come to, as `values` gives it for “every two weeks”."""

_AFTER = ENGLISH.prepositions | ENGLISH.directions | ENGLISH.conditions
_AFTER |= word_set("and as behind during or per than via when within")


@lru_cache(maxsize=1 << 15)
def words(text: str) -> tuple[Contrary, ...]:
    """Return what a text says by a word that another word excludes."""
    return tuple(_words(_Sentence(text)))


@lru_cache(maxsize=1 << 15)
def values(text: str) -> tuple[Contrary, ...]:
    """Return what a text says by a value, or a name, of which one thing has one."""
    return tuple(_values(_Sentence(text)))


class _Sentence:
    """The words of a text, each as it is written, and in lower case."""

    def __init__(self, text: str) -> None:
        said = rephrase(plain(text))
        if _ANY_SAID.search(said.lower()):
            for pattern, by in _SAID:
                said = pattern.sub(by, said)
        self.raw = said.split()
        self.words = [raw.strip("\"'`“”‘’()[].,;:!?").casefold() for raw in self.raw]
        self.is_whole = (
            ENGLISH.negators.isdisjoint(self.words)
            and ENGLISH.conditions.isdisjoint(self.words[:-1])
            and _ONE_OF_MANY.isdisjoint(self.words[:1])
        )

    def at(self, place: int) -> str:
        """Return the word at a place; "" outside the text."""
        return self.words[place] if 0 <= place < len(self.words) else ""

    def ends_at(self, place: int) -> bool:
        """Say whether a phrase ends before this place: what follows does not belong to it."""
        before = self.raw[place - 1]
        return place >= len(self.raw) or self.words[place] in _AFTER or before[-1:] in ",;."

    def without(self, start: int, end: int, by: str) -> str:
        """Return the text with one word in place of some."""
        last = self.raw[end - 1]
        # Neither the beginning nor the end of the word in their place may say anything, as “-able” does.
        return " ".join([*self.raw[:start], f"x{by}x{last[len(last.rstrip('.,;:!?')) :]}", *self.raw[end:]])

    def follows_be(self, place: int) -> bool:
        """Say whether something is said, behind “is”, by the word at this place."""
        place -= 1
        while place > 0 and (self.words[place] in _BETWEEN or self.words[place].endswith("ly")):
            place -= 1
        return place >= 0 and self.words[place] in _BE

    def says_how(self, place: int) -> bool:
        """Say whether the word at this place says how something is done, and not which one is meant."""
        before = self.at(place - 1)
        return place > 1 and self.ends_at(place + 1) and (before == "and" or before not in ENGLISH.empty | _AFTER)

    def tells_of(self, place: int) -> bool:
        """Say whether what is at this place belongs to the verb: “must be above”, “is delivered at least”."""
        before = self.at(place - 1)
        return before in _BE or english(before) in LIGHT or (before.endswith("ed") and self.follows_be(place - 1))

    def happens(self, place: int) -> bool:
        """Say whether what is in front of this place is done once, and lasts no longer."""
        before = self.at(place - 1)
        if is_known_verb(english(self.at(0))):
            return True
        return english(before) in _HAPPENING and (before[-2:] not in ("ed", "lt", "nt") or self.follows_be(place - 1))

    def is_verb(self, place: int) -> bool:
        """Say whether the word at this place is the verb: told, done, or the first behind what the text is about."""
        if not place:
            return True
        if _PARTICIPLE.fullmatch(self.words[place]):
            return self.follows_be(place) and self.ends_at(place + 1)
        before = self.words[:place]
        is_first = not any(word in _BE or english(word) in LIGHT or is_known_verb(english(word)) for word in before)
        return is_first and before[-1] not in _AFTER | ENGLISH.empty - _DEMANDING and not self.ends_at(place + 1)


def _words(one: _Sentence) -> Iterator[Contrary]:
    yield from _demanded(" ".join(one.raw))
    if not one.is_whole:
        return
    for place, word in enumerate(one.words):
        found: list[tuple[str, str]] = []
        if one.follows_be(place) and (one.ends_at(place + 1) or word in ("more", "less", "fewer")):
            found += _STATE.get(word, [])
            found += _prefixed(word)
        if word in _MANNER and one.says_how(place):
            found += _MANNER[word]
        if place > 1 and word in _BOUND and not one.ends_at(place + 1) and one.tells_of(place):
            found += _BOUND[word]
        if place and word in _TURN and not one.ends_at(place + 1) and one.happens(place):
            found += _TURN[word]
        if (word in _VERB or english(word) in _VERB) and one.is_verb(place):
            found += _VERB.get(word) or _VERB[english(word)]
        for row, side in found:
            yield Contrary(row, side, one.without(place, place + 1, row))


def _demanded(text: str) -> Iterator[Contrary]:
    """Yield what must be done, or need not be done, told as what must be; and what a text tells to do, as it is."""
    if not _MAY_NEED.search(text):
        if (told := _TOLD.match(text.casefold())) and told[1] in ENGLISH.imperatives:
            yield Contrary(f"{ORDER}{ENGLISH.stem(told[1])}", "0", text)
        return
    for side, pattern in enumerate((_MUST, _NEED_NOT)):
        rest = pattern.sub("must", text)
        if len(pattern.findall(text)) == 1 and ENGLISH.negators.isdisjoint(rest.casefold().split()):
            yield Contrary("duty", str(side), rest)
            if side and (done := _DONE.search(rest.casefold())):
                yield Contrary(f"{ORDER}{ENGLISH.stem(done[1])}", "1", rest)


def _prefixed(word: str) -> Iterator[tuple[str, str]]:
    """Yield a word as the one that others deny, and as one that denies: reversible, irreversible."""
    if word.isalpha() and len(word) >= _SHORTEST and not word.endswith("ed"):
        yield f"not{word}", "0"
        for prefix in _PREFIXES:
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) >= _SHORTEST:
                yield f"not{rest}", "1"


def _values(one: _Sentence) -> Iterator[Contrary]:
    if not (one.is_whole and _AS_WELL.isdisjoint(one.words)):
        return
    text = " ".join(one.raw)
    tokens = tokenise(text, ENGLISH) if may_hold_value(text) else []
    for value in find_values(tokens) if len(tokens) == len(one.raw) else ():
        if one.at(value.start - 1) == _EVERY:
            yield Contrary(_HOW_OFTEN, value.amount, one.without(value.start - 1, value.end, _HOW_OFTEN))
        elif _is_the_only(one, value):
            row = f"value{''.join(filter(str.isalpha, value.kind))}"
            yield Contrary(row, value.amount, one.without(value.start, value.end, row))
    for place, word in enumerate(one.words):
        before, earlier = one.at(place - 1), one.at(place - 2)
        found: list[tuple[str, str]] = []
        if word in _PERIOD and one.says_how(place):
            found += [(_HOW_OFTEN, _SECONDS[int(side)]) for _, side in _PERIOD[word]]
        if place and word in _UNIT and before in _UNIT_AFTER and one.ends_at(place + 1):
            found += _UNIT[word]
        if word in _DAY and before == "on" and (earlier == "is" or earlier in _GO):
            found += _DAY[word]
        for row, side in found:
            yield Contrary(row, side, one.without(place, place + 1, row))
    if one.at(0) in _SUBJECT and "is" in one.words:
        yield from _named(one, one.words.index("is") + 1)
    if _NOT_ALONE.isdisjoint(one.words) and one.at(0) not in ENGLISH.empty - _SUBJECT - _WE:
        yield from _placed(one)
        yield from _made_with(one)
        yield from _kept_by(one)
        yield from _used(one)


def _placed(one: _Sentence) -> Iterator[Contrary]:
    """Yield the name of the place that one thing has, where it says so: “is hosted in Frankfurt”."""
    is_told = one.at(0) in _PLACING or (one.at(0) in _WE and one.at(1) in _PLACING)
    for place in range(2, len(one.words)):
        verb = one.at(place - 2)
        is_able = verb == "runs"  # what runs on Debian may run on Fedora, too
        if is_told or is_able or (verb in _PLACED and one.at(place - 3) == "is"):
            for kind, name, end in _names_at(one, place, kinds.PLACED):
                if not (is_able and kind == "system"):
                    yield Contrary(kind, name, one.without(place, end, kind))


def _made_with(one: _Sentence) -> Iterator[Contrary]:
    """Yield the name of the tool that one thing is done with: “Builds use pnpm”, “Mails are sent by Postmark”."""
    if not _OF_MANY.isdisjoint(one.words):
        return
    for place in range(1, len(one.words)):
        for kind, name, end in _names_at(one, place, kinds.MADE_WITH):
            if one.at(end) == "for" and not _MANY_TOOLS.isdisjoint(map(english, one.words[end:])):
                continue
            row, user = f"tool{kind}", one.at(place - 2)
            said = one.without(place, end, row)
            if end == len(one.words) and one.words[: place - 1] in ([], ["we"]):
                said = f"Our xchoicex is x{row}x"  # “Use pnpm” alone has too few words to be compared
            elif english(user) in LIGHT and one.at(place - 1) in _USE:
                said = said.replace(one.raw[place - 2], f"x{english(user)}x", 1)  # “Builds use pnpm”: no verb
            yield Contrary(row, name, said)


def _names_at(
    one: _Sentence, place: int, known: Mapping[str, Sequence[tuple[str, frozenset[str]]]]
) -> Iterator[tuple[str, str, int]]:
    """Yield the kinds of the name at this place, each with the name and where it ends."""
    for end in range(place + 1, min(place + 2, len(one.words)) + 1):
        name = "".join(one.words[place:end])
        for kind, behind in known.get(name, ()):
            if one.at(place - 1) in behind and one.ends_at(end) and one.at(end) not in _MORE:
                yield kind, kinds.known_as(name), end


def _kept_by(one: _Sentence) -> Iterator[Contrary]:
    """Yield the team or the person who alone has something: “is owned by the platform team”, “Ana owns the shop”."""
    roles = [place for place, word in enumerate(one.words) if word in _ROLES and place > 2 and one.ends_at(place + 1)]
    if one.at(1) == "is" and one.at(2) in _SUBJECT and roles[:1] and one.raw[0][:1].isupper():
        yield Contrary("name", one.at(0), " ".join([*one.raw[2:-1], one.words[-1], "is", "xnamex"]))
    if one.at(1) in _KEEPS and one.at(2) in _SUBJECT and one.raw[0][:1].isupper():
        yield Contrary("kept", one.at(0), one.without(0, 1, "kept"))
    for place in range(3, len(one.words)):
        before, verb = one.at(place - 3), one.at(place - 2)
        is_kept = verb in _KEPT_BY and before in ("is", "are")
        if one.at(place - 1) == "by" and (is_kept or (verb in _MADE_BY and before in ("is", "was"))):
            name = one.words[place:]
            kind = "person" if _TEAM.isdisjoint(name) else "team"
            words = [word for word in name if word not in _TEAM | _SUBJECT]
            if len(words) == 1 and len(name) <= _LONGEST_NAME and (kind == "team" or one.raw[-1][:1].isupper()):
                kind = "company" if words[0] in kinds.COMPANIES else kind
                if words[0] not in kinds.MADE_WITH:
                    yield Contrary(kind, words[0], one.without(place, len(one.raw), kind))


def _used(one: _Sentence) -> Iterator[Contrary]:
    """Yield the name of what is used for one thing: “The app uses Sentry for crash reports”."""
    place = one.words.index("uses", 1) + 1 if "uses" in one.words[1:-2] else 0
    purpose = one.words[place + 2 :] if place else []
    is_one = one.at(place + 1) == "for" or (one.at(place + 1) == "as" and purpose[:1] in (["its"], ["the"]))
    is_name = bool(purpose) and one.raw[place][:1].isupper() and one.raw[place][-1].isalnum()
    if is_one and is_name and _MORE.isdisjoint(purpose) and _MANY_TOOLS.isdisjoint(map(english, purpose)):
        yield Contrary("used", one.words[place], one.without(place, place + 1, "used"))


def _named(one: _Sentence, start: int) -> Iterator[Contrary]:
    """Yield the name from this place on, where there can be only one: “The primary region is Frankfurt”."""
    name, subject = " ".join(one.words[start:]), one.words[: start - 1]
    is_short = 0 < len(one.words) - start <= _LONGEST_NAME and _AFTER.isdisjoint(one.words[start:])
    is_name = "default" in subject or any(not raw[:1].islower() for raw in one.raw[start:])
    is_name = is_name and is_short and (name in kinds.MADE_WITH or not may_hold_value(name))
    if is_name and not _SOLE.isdisjoint(subject):
        yield Contrary("name", name, one.without(start, len(one.raw), "name"))
    elif is_name and subject[-1] in _ROLES:  # “Ana” may be “Ana Silva”
        yield Contrary("name", one.words[start], one.without(start, len(one.raw), "name"))


def _is_the_only(one: _Sentence, value: Value) -> bool:
    """Say whether one thing has one value of this kind in this place."""
    before, earlier = one.at(value.start - 1), one.at(value.start - 2)
    is_definite = one.at(0) in _SUBJECT or one.at(1) == "of"
    if before in _BE and is_definite:
        return one.ends_at(value.end) and one.at(value.end) not in ("and", "or")
    if value.kind.startswith(VERSION) and before == "under":
        return True
    if value.kind.startswith(VERSION):
        is_named = one.raw[value.start - 1][:1].isupper() if value.kind == VERSION else True
        verb = earlier if value.kind == VERSION else before
        is_tested = not _TESTING.isdisjoint(one.words)
        return is_named and is_definite and not is_tested and (verb in _BE or verb in _VERSIONED)
    if value.kind == TIME and ":" in value.amount:
        is_when = earlier in _BE | _GO or not _PERIODIC.isdisjoint(one.words)
        return before == "at" and is_when
    if value.kind == DATE:
        return before == "on" and (earlier in _BE or earlier in _GO)
    if value.kind == NUMBER:
        return before == "to" or before in _BE
    verb = english(earlier)
    return (
        before in ("for", "within", "atmost", "atleast")
        or (before == "to" and earlier in ("limited", "set", "capped"))
        or (before == "after" and verb in _ENDING)
        or english(before) in _TAKING | _HAVING
        or (value.kind == "time" and english(before) not in ENGLISH.empty)
    )
