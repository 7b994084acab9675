"""Contraries: what a text says of one thing that excludes what another may say: open and closed, 30 minutes and 60.

A word counts only where something is said by it: in “The port is open”, not in “Open issues are triaged”. A value
counts only where one thing has one of its kind, as a limit or a lifetime has: a service may well listen on two ports.
A text is compared without that word or value, so that the rest may be put in other words.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from ..values import dataclass
from .language import ENGLISH, english, plain, tokenise, word_set
from .senses import LIGHT, rephrase
from .tense import is_known_verb
from .values import DATE, NUMBER, TIME, VERSION, Value, find_values, may_hold_value

STATES = """
accurate correct right | inaccurate incorrect wrong
alive | dead
ascending | descending
better | worse
blocking | nonblocking
busy | idle
cheap | expensive
cheaper | pricier
complete finished done | incomplete unfinished pending
dark | light
distinct different | identical same equal
durable persistent | ephemeral transient
dynamic | static
early | late
earlier sooner | later
easy simple | hard difficult complex
empty | full
even | odd
external | internal
faster quicker | slower
fixed constant | variable
flat | nested
free | paid
fresh current | stale outdated obsolete
global | local
green | red
healthy | broken unhealthy
high | low
higher | lower
horizontal | vertical
inclusive | exclusive
larger bigger | smaller
large big | small tiny
lazy | eager
linear | exponential
local | remote
long | short
longer | shorter
lowercase | uppercase
manual | automated
more | less fewer
new | old
newer | older
open opened | closed shut
ordered | random
permanent | temporary
positive | negative
proprietary | opensource
public | private internal
readonly | writable readwrite
relative | absolute
separate dedicated isolated | shared common
singlethreaded | multithreaded
singular | plural
sparse | dense
strict | lenient loose permissive
stronger | weaker
up running | down
upstream | downstream
visible shown | hidden invisible
warm hot | cold
wider | narrower
"""
"""What is said of something behind “is”."""

MANNERS = """
alphabetically | chronologically
ascending | descending
automatically | manually
buildtime | runtime
centrally | locally
concurrently parallel simultaneously | sequentially serially
eagerly | lazily
explicitly | implicitly
externally | internally
frequently often | rarely seldom
horizontally | vertically
immediately instantly | later
inbackground asynchronously | synchronously
incrementally | fromscratch
locally onpremise onpremises onprem | remotely incloud
numerically | lexicographically alphabetically
offline | online
optimistically | pessimistically
permanently indefinitely forever | temporarily
publicly | privately
quickly fast | slowly
separately | together jointly
strictly | loosely
"""
"""How, where or how often something is done, behind the verb."""

_BOUNDS = """
atleast morethan | atmost lessthan
behind | infrontof
"""
"""What binds what is behind it to a verb."""

_TURNS = "before | after"
"""When something is done that happens once."""

UNITS = """
bytes byte | kilobytes kb kib | megabytes mb mib | bits bit
camelcase | snake_case snakecase | kebab-case | pascalcase
celsius | fahrenheit | kelvin
cents cent | euros euro eur | dollars dollar usd
littleendian little-endian | bigendian big-endian
lowercase | uppercase
meters metres | kilometers kilometres km | miles | feet
milliseconds ms | seconds second | minutes | hours | days | microseconds | nanoseconds
pixels px | percent | em | rem
spaces | tabs
text string strings | number numbers integer integers int float floats
utc gmt | localtime | cet | est | pst
"""
"""In what, or as what, something is kept or measured."""

VERBS = """
accept approve | reject refuse decline
allow permit let | block forbid prevent
encourage | discourage
follow honor honour obey respect heed | ignore
improve | worsen degrade
include | exclude omit
increase raise grow | decrease lower reduce shrink
keep retain preserve | delete discard drop erase forget lose lost purge remove strip
require demand | forbid
show | hide
succeed pass | fail
trust | distrust mistrust
"""
"""What something does, or has done to it."""

PERIODS = "daily nightly | weekly | biweekly fortnightly | monthly | quarterly | hourly | yearly annually"
DAYS = "monday | tuesday | wednesday | thursday | friday | saturday | sunday"
"""How often something is done, and on which day of the week."""

KINDS = """
in | city: amsterdam atlanta austin bangalore barcelona beijing berlin boston brussels budapest cairo chicago cologne
 copenhagen dallas denver dresden dubai dublin dusseldorf düsseldorf frankfurt geneva hamburg helsinki hongkong
 houston istanbul jakarta johannesburg kyiv leipzig lisbon london losangeles lyon madrid manchester marseille
 melbourne miami milan montreal moscow mumbai munich münchen newyork nuremberg osaka oslo paris portland prague rome
 rotterdam sanfrancisco santiago seattle seoul shanghai singapore stockholm stuttgart sydney telaviv tokyo toronto
 vancouver vienna warsaw zurich zürich
in | country: australia austria belgium brazil canada china denmark finland france germany india ireland israel italy
 japan mexico netherlands norway poland portugal spain sweden switzerland ukraine
in | state: california georgia iowa ohio oregon texas virginia washington
in on to | cloud: aws azure cloudflare digitalocean fly fly.io gcp googlecloud hetzner heroku linode netlify ovh
 railway render scaleway vercel
in on | ci: bamboo buildkite circleci drone githubactions gitlab jenkins teamcity travis woodpecker
in | database: cassandra clickhouse cockroachdb couchdb dynamodb elasticsearch mariadb memcached mongodb mysql
 postgres postgresql redis snowflake sqlite
in | language: c# clojure dart elixir elm erlang go golang haskell java kotlin php python ruby rust scala swift
 typescript zig
on | system: alpine centos debian fedora suse ubuntu
"""
"""Names of one kind, of which one thing has one, and behind which words: what is in Frankfurt is not in Dublin.

What is in Germany may well be in Frankfurt, so only names of one kind exclude each other, and no other names do.
"""

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
        (r"every other week|every two weeks", "fortnightly"),
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
_UNIT_AFTER = word_set("as in use uses using with")
_SUBJECT = word_set("our the")
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
_KEPT_BY = word_set("headed led managed owned")
_TEAM = word_set("group guild squad team")
_NOT_ALONE = word_set("also both currently mainly mostly partly sometimes too usually")
_ALIASES = {"golang": "go", "postgresql": "postgres", "fly.io": "fly", "münchen": "munich"}
_MORE = word_set("and or with")
_MANY_TOOLS = _stems("check debug develop monitor script test tool")
_TESTING = word_set("ci compatible library matrix package pipeline sdk support supports test tests")
_LONGEST_NAME = 3


@dataclass(frozen=True, slots=True)
class Contrary:
    """What a text says that another may say otherwise, and the text without it."""

    row: str  # in which row of words, or of which kind of value
    side: str  # which of those that exclude each other
    rest: str  # the text, with the same word wherever the row is the same


def _read(rows: str, by: str) -> dict[str, list[tuple[str, str]]]:
    """Return for each word, in the forms it has there, its rows, each with a side of it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in rows.strip().splitlines():
        name = by + "".join(filter(str.isalpha, row.split()[0]))
        for side, own in enumerate(row.split("|")):
            for word in own.split():
                for form in {word, *([english(word)] if by == "verb" else []), *([f"{word}s"] if by == "day" else [])}:
                    found.setdefault(form, []).append((name, str(side)))
    return found


_STATE, _MANNER, _BOUND, _TURN, _VERB, _UNIT, _PERIOD, _DAY = (
    _read(rows, by)
    for rows, by in (
        (STATES, "state"),
        (MANNERS, "manner"),
        (_BOUNDS, "bound"),
        (_TURNS, "turn"),
        (VERBS, "verb"),
        (UNITS, "unit"),
        (PERIODS, "period"),
        (DAYS, "day"),
    )
)
_KIND = {
    name: (frozenset(behind.split()), kind)
    for row in re.split(r"\n(?=\w)", KINDS.strip())
    for behind, _, rest in [row.partition(" | ")]
    for kind, _, names in [rest.partition(":")]
    for name in names.split()
}
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


def _prefixed(word: str) -> Iterator[tuple[str, str]]:
    """Yield a word as the one that others deny, and as one that denies: reversible, irreversible."""
    if word.isalpha() and len(word) >= _SHORTEST and not word.endswith("ed"):
        yield f"not{word}", "0"
        for prefix in _PREFIXES:
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) >= _SHORTEST:
                yield f"not{rest}", "1"


def _values(one: _Sentence) -> Iterator[Contrary]:
    if not one.is_whole:
        return
    text = " ".join(one.raw)
    tokens = tokenise(text, ENGLISH) if may_hold_value(text) else []
    for value in find_values(tokens) if len(tokens) == len(one.raw) else ():
        if _is_the_only(one, value):
            row = f"value{''.join(filter(str.isalpha, value.kind))}"
            yield Contrary(row, value.amount, one.without(value.start, value.end, row))
    for place, word in enumerate(one.words):
        before, earlier = one.at(place - 1), one.at(place - 2)
        found: list[tuple[str, str]] = []
        if word in _PERIOD and one.says_how(place):
            found += _PERIOD[word]
        if place > 1 and word in _UNIT and before in _UNIT_AFTER and one.ends_at(place + 1):
            found += _UNIT[word]
        if word in _DAY and before == "on" and (earlier == "is" or earlier in _GO):
            found += _DAY[word]
        for row, side in found:
            yield Contrary(row, side, one.without(place, place + 1, row))
    if one.at(0) in _SUBJECT and "is" in one.words:
        yield from _named(one, one.words.index("is") + 1)
    if _NOT_ALONE.isdisjoint(one.words) and one.at(0) not in ENGLISH.empty - _SUBJECT:
        yield from _placed(one)
        yield from _kept_by(one)
        yield from _used(one)


def _placed(one: _Sentence) -> Iterator[Contrary]:
    """Yield the name of a kind of which one thing has one, where it says so: “is hosted in Frankfurt”."""
    for place in range(2, len(one.words)):
        verb = one.at(place - 2)
        if verb != "runs" and (verb not in _PLACED or one.at(place - 3) != "is"):
            continue
        for end in range(place + 1, min(place + 2, len(one.words)) + 1):
            name = "".join(one.words[place:end])
            behind, kind = _KIND.get(name, ((), ""))
            is_able = kind == "system" and verb == "runs"  # what runs on Debian may run on Fedora, too
            if one.at(place - 1) in behind and not is_able and one.ends_at(end) and one.at(end) not in _MORE:
                yield Contrary(kind, _ALIASES.get(name, name), one.without(place, end, kind))


def _kept_by(one: _Sentence) -> Iterator[Contrary]:
    """Yield the team or the person who alone has something: “is owned by the platform team”."""
    for place in range(3, len(one.words)):
        if one.at(place - 1) == "by" and one.at(place - 2) in _KEPT_BY and one.at(place - 3) == "is":
            name = one.words[place:]
            kind = "person" if _TEAM.isdisjoint(name) else "team"
            words = [word for word in name if word not in _TEAM | _SUBJECT]
            if len(words) == 1 and len(name) <= _LONGEST_NAME and (kind == "team" or one.raw[-1][:1].isupper()):
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
    is_name = is_name and is_short and not may_hold_value(name)
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
        before in ("for", "repeatedly", "within", "atmost", "atleast")
        or (before == "to" and earlier in ("limited", "set", "capped"))
        or (before == "after" and verb in _ENDING)
        or english(before) in _TAKING | _HAVING
        or (value.kind == "time" and english(before) not in ENGLISH.empty)
    )
