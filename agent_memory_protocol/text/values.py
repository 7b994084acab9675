"""Values: the versions, amounts, ports, dates and times in a sentence, and what each of them comes to.

What only tells one thing from another is not a value: the number of an issue, a step or a line.
"""

import re
from collections.abc import Sequence

from ..values import dataclass
from .dates import day_number
from .holding import any_of
from .language import ENGLISH, Token
from .stem import base

VERSION, PORT, DATE, TIME, NUMBER, OFTEN = "version", "port", "date", "time", "number", "often"

_NUMBER = re.compile(r"([$€£]?)(\d[\d,_]*(?:\.\d+)?)-?(%|[a-zµ]*)")
_DIGIT = re.compile(r"\d")
_WHOLE = re.compile(r"v?(\d+)")
_DOTTED = re.compile(r"v?(\d+(?:\.[\dx]+)+(?:[-+][\w.]+)?)")
_JOINED = re.compile(
    r"([a-z][\w-]*(?:[:@]|[<>=~^!]+)|[a-z][\w./-]*[:@](?=\d+\.)|[a-z][a-z_]*-?(?=\d+\.)|[<>=~^!]+)v?(\d[\w.+-]*)"
)
"""A name and its version in one word: `postgres:14`, `node@20.1`, `python3.11`, `>=3.11`; but not `app.py:120`."""
_WITH_PORT = re.compile(r"(\w+://\S+?|localhost|\d+(?:\.\d+){3}|[a-z][\w-]*):(\d{4,5})(/\S*)?")
_TIME = re.compile(r"(\d{1,2})(?::([0-5]\d))?(?::[0-5]\d)?(am|pm|z)?")
_MONTH = re.compile("(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*")
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety hundred"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_DAY = re.compile(r"([1-9]|[12]\d|3[01])(?:st|nd|rd|th)?")


def words(text: str) -> frozenset[str]:
    """Return the words of a text as they are compared."""
    return frozenset(map(base, text.split()))


_WORDS = {
    **{word: number for number, word in enumerate(_COUNTED.split())},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), start=3)},
}

_PERIODS = {
    "hourly": "hour",
    "daily": "day",
    "nightly": "day",
    "weekly": "week",
    "biweekly": "fortnight",
    "fortnightly": "fortnight",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
    "annually": "year",
}
"""Words that say how often something is done, and in which time it is done once."""
_ONCE_IN = {**{period: period for period in _PERIODS.values()}, "night": "day"}
_TIMES = {"once": 1, "twice": 2, "thrice": 3}

_ANY_NUMBER = re.compile(rf"\d|\b{any_of((*_WORDS, *_PERIODS, *_TIMES, 'dozen', 'every'))}\b")

_NAMED_NUMBERS = {
    **_WORDS,
    **{word: f"{number}." for number, word in enumerate(_ORDINALS.split(), start=1)},
    "half": 0.5,
    "quarter": 0.25,
    "once": "1 times",
    "single": 1,
    "twice": "2 times",
    "both": 2,
    "pair": 2,
    "thrice": "3 times",
    "dozen": 12,
    "thousand": 1000,
    "million": 1_000_000,
}
"""Words that say a number, and what they say."""

_ORDINAL = words(
    "act action appendix batch bug bullet case chapter commit day decision draft epic episode event example experiment"
    " figure finding fix gate goal group idea index issue item iteration job layer lesson level line listing loop"
    " message milestone mode module no note nr number option page paragraph part pass phase plan point pr priority"
    " problem process proposal pull question requirement rev revision round row rule run scenario section session shard"
    " slice slide slot sprint stage step stream table task test theme thread ticket tier todo topic track trial unit"
    " variant volume wave week worker year zone"
)
"""What is numbered: the number behind it is a name."""

_UNITS = {
    base(unit): measured
    for units, measured in (
        ("ms millisecond", ("duration", 0.001)),
        ("s sec second", ("duration", 1)),
        ("min minute", ("duration", 60)),
        ("h hr hour", ("duration", 3600)),
        ("d day", ("duration", 86_400)),
        ("week", ("duration", 604_800)),
        ("month", ("duration", 2_592_000)),
        ("year", ("duration", 31_536_000)),
        ("b byte", ("size", 1)),
        ("k kb kilobyte", ("size", 1 << 10)),
        ("m mb megabyte", ("size", 1 << 20)),
        ("g gb gigabyte", ("size", 1 << 30)),
        ("tb terabyte", ("size", 1 << 40)),
        ("kib kibibyte", ("binary size", 1 << 10)),
        ("mib mebibyte", ("binary size", 1 << 20)),
        ("gib gibibyte", ("binary size", 1 << 30)),
        ("tib tebibyte", ("binary size", 1 << 40)),
        ("mm millimetre millimeter", ("length", 1)),
        ("cm centimetre centimeter", ("length", 10)),
        ("km kilometre kilometer", ("length", 1_000_000)),
        ("% percent", ("share", 1)),
        ("$ dollar usd", ("dollar", 1)),
        ("€ euro eur", ("euro", 1)),
        ("rps qps rpm fps hz khz mhz ghz px pt rem em", ("", 1)),
        ("attempt character char column connection core cpu entry file instance line node page partition pod", ("", 1)),
        ("record replica request retry row seat test thread time token user worker", ("", 1)),
    )
    for unit in units.split()
}
"""What a number can count: each unit, its dimension, and how many of the smallest unit it is."""

_DIMENSIONS = frozenset(dimension for dimension, _ in _UNITS.values() if dimension)

_DOZEN = "dozen"
_TIME_OR_TIMES = base("times")  # “twice” is an amount of it
_BEHIND = ENGLISH.prepositions | ENGLISH.cuts | {"a", "an", "and", "per"}
"""What may follow a word that says how often, if that word names nothing."""
_EQUATING = frozenset(
    ["is", "are", "at", "now", "still", "to"]
)  # Between a subject and the number that it is, or is set to
_PORTS = frozenset(["port", "ports", "porta", "porto", "puerto", "poort", "порт"])
_BEFORE_PORT = frozenset(["on", "at"])  # Between a verb and the port that is listened on

_NO_NAME = ENGLISH.empty | ENGLISH.prepositions | ENGLISH.negators | {"about", "and", "around", "only", "or", "up"}
"""What a number follows that is not a version of it."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a sentence."""

    kind: str  # VERSION, PORT, DATE, TIME, NUMBER, OFTEN, or what an amount is an amount of
    amount: str  # what it comes to, the same for every spelling
    start: int  # with `end`: its tokens, end exclusive
    end: int

    @property
    def is_measured(self) -> bool:
        """Whether it is an amount of something that has several units."""
        return self.kind in _DIMENSIONS

    def differs_from(self, other: "Value") -> bool:
        """Say whether it is another value of the same kind; one that only says more closely which is not."""
        if not self.kind.startswith(VERSION) or self.amount == other.amount:
            return self.amount != other.amount
        if self.kind == VERSION and max(len(self.amount), len(other.amount)) < 2:
            return False  # 1 and 2 are as likely the numbers of two things
        short, long = sorted((self.amount, other.amount), key=len)
        return not long.startswith((f"{short}.", f"{short}-"))


def may_hold_value(text: str) -> bool:
    """Say, quickly, whether a text may hold a value: a digit, a number in words, or how often."""
    return _ANY_NUMBER.search(text.lower()) is not None


def find_values(tokens: Sequence[Token]) -> list[Value]:
    """Return the values in a sentence, in order. The first word is not one."""
    found: list[Value] = []
    if not any(_ANY_NUMBER.search(token.lowered) for token in tokens):
        return found
    place = 1
    while place < len(tokens):
        value = _value_at(tokens, place) if _may_begin(tokens, place) else None
        if value is not None:
            found.append(value)
        place = place + 1 if value is None else value.end
    return found


def _may_begin(tokens: Sequence[Token], place: int) -> bool:
    """Say, quickly, whether a word may begin a value: it says a number or how often, or is a month before a number."""
    if _ANY_NUMBER.search(tokens[place].lowered):
        return True
    following = tokens[place + 1].lowered if place + 1 < len(tokens) else ""
    return following == _DOZEN or _DIGIT.match(following) is not None


def number_said(word: str) -> str:
    """Return the number that a word in lower case says, the same for `three` and `3`; "" if it says none."""
    if word in _NAMED_NUMBERS:
        return str(_NAMED_NUMBERS[word])
    whole, _, part = word.partition("-")
    if part and whole in _WORDS and part in _WORDS:  # twenty-one
        return str(_WORDS[whole] + _WORDS[part])
    return word if word.isdecimal() else ""


def count_at(tokens: Sequence[Token], place: int) -> tuple[str, int]:
    """Return the number of something that begins at a place, and where it ends: 1,500 sweeps, two dozen stations.

    An amount of a measure is a value, and none of these.
    """
    word, *rest = (token.lowered for token in tokens[place : place + 3])
    dozens = rest[:1] == [_DOZEN]
    number = "1" if dozens and word == "a" else number_said(word.replace(",", ""))
    # “Server 1 hosts” names a server; “runs 3 hosts” and “has 3 hosts” count them.
    before = tokens[place - 1].lowered if place and len(word) == 1 and word.isdecimal() else ""
    is_name = before.isalpha() and not (before in _NO_NAME or before.endswith("s"))
    of = "".join(rest[dozens : dozens + 1])
    if not number.isdecimal() or is_name or is_unit(of) or not of.endswith("s"):
        return "", place
    return str(int(number) * (12 if dozens else 1)), place + 1 + dozens


def is_unit(word: str) -> bool:
    """Say whether a word in lower case is a measure, such as minutes or MB; what can be counted besides is not one."""
    return bool(_UNITS.get(base(word), ("", 0))[0])


def is_ordinal(word: str) -> bool:
    """Say whether a word in lower case is numbered, such as step or issue: the number behind it is a name."""
    return base(word) in _ORDINAL


def _value_at(tokens: Sequence[Token], place: int) -> Value | None:
    often = _often_at(tokens, place)
    is_often = tokens[place + 1 : place + 2] and base(tokens[place + 1].lowered) == _TIME_OR_TIMES
    if often is not None or (is_ordinal(tokens[place - 1].lowered) and not is_often):
        return often
    word = tokens[place].lowered
    before = tokens[place - 1]
    following = tokens[place + 1].lowered if place + 1 < len(tokens) else ""
    day = day_number(word.replace("/", "-")) if len(word) == 10 else None
    if day is not None:
        return Value(DATE, str(day), place, place + 1)
    for month, number in ((word, following), (following, word)):
        if _MONTH.fullmatch(month) and (named := _DAY.fullmatch(number)):
            return Value(DATE, f"{month[:3]} {named[1]}", place, place + 2)
    return (
        _time_at(word, following, place)
        or _amount_at(tokens, place)
        or _port_at(before.lowered, word, place)
        or _version_at(before, word, place)
        or _number_at(before.lowered, word, following, place)
    )


def _time_at(word: str, following: str, place: int) -> Value | None:
    """Return a time of day: 14:30, 9am, 9:15 pm."""
    found = _TIME.fullmatch(word)
    half = found[3] if found else None
    apart = not half and following in ("am", "pm")
    half = following if apart else half
    if found is None or not (found[2] or half in ("am", "pm")):
        return None
    hour = int(found[1]) % 12 + 12 * (half == "pm") if half in ("am", "pm") else int(found[1])
    return Value(TIME, f"{hour}:{found[2] or '00'}", place, place + 1 + apart)


def _often_at(tokens: Sequence[Token], place: int) -> Value | None:
    """Return how often something is done: daily, every night, twice; but “the weekly report” is a name."""
    word = tokens[place].lowered
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if word == "every" and following is not None:
        period = _ONCE_IN.get(base(following.lowered))
        return Value(OFTEN, period, place, place + 2) if period else None
    is_alone = following is None or following.after in (",", ";", ":") or following.lowered in _BEHIND
    if word in _TIMES and (word != "once" or is_alone):
        return Value(_TIME_OR_TIMES, str(_TIMES[word]), place, place + 1)
    return Value(OFTEN, _PERIODS[word], place, place + 1) if word in _PERIODS and is_alone else None


def _amount_at(tokens: Sequence[Token], place: int) -> Value | None:
    """Return a number with its unit, in one word or more: 5MB, ten minutes, a dozen seats."""
    word, *rest = (token.lowered for token in tokens[place : place + 3])
    found = _NUMBER.fullmatch(word)
    dozens = rest[:1] == [_DOZEN]
    if found is None and word not in _WORDS and not (dozens and word == "a"):
        return None
    number = _WORDS.get(word, 1) if found is None else float(found[2].replace(",", "").replace("_", ""))
    joined = "" if found is None else found[1] or found[3]
    unit = base(joined or "".join(rest[dozens : dozens + 1]))
    if unit not in _UNITS or (joined and found is not None and found[1] and found[3] not in ("", "k")):
        return None
    dimension, size = _UNITS[unit]
    kind = dimension or unit
    amount = number * size * (12 if dozens else 1)
    return Value(kind, f"{amount:g}", place, place + (1 if joined else 2 + dozens))


def _port_at(before: str, word: str, place: int) -> Value | None:
    joined = _WITH_PORT.fullmatch(word) or re.fullmatch(r"(port)[:=](\d{2,5})()", word)
    if joined is not None:
        return Value(f"{PORT} of {joined[1]}{joined[3] or ''}", joined[2], place, place + 1)
    is_said = before in _PORTS and len(word) <= 5
    if word.isdecimal() and (is_said or (before in _BEFORE_PORT and len(word) in (4, 5))):
        return Value(PORT, word, place, place + 1)
    return None


def _number_at(before: str, word: str, following: str, place: int) -> Value | None:
    """Return a number that a sentence ends with, as what its subject is: “the limit is 3”, “the limit is now 5”."""
    number = number_said(word)
    is_last = not following and before in _EQUATING
    return Value(NUMBER, number, place, place + 1) if number and is_last else None


def _version_at(before: Token, word: str, place: int) -> Value | None:
    dotted = _DOTTED.fullmatch(word)
    if dotted is not None:
        return Value(VERSION, dotted[1], place, place + 1)
    joined = _JOINED.fullmatch(word)
    if joined is not None and not is_ordinal(joined[1].rstrip(":@=")):
        return Value(f"{VERSION} of {joined[1]}", joined[2], place, place + 1)
    whole = _WHOLE.fullmatch(word)
    # A number of one digit behind the first word, or behind a word in lower case, counts things: server 1, server 2.
    is_large = len(word) > 1
    is_name = before.written[:1].isupper() and (place > 1 or is_large)
    is_name = is_name or (is_large and before.is_plain and before.lowered not in _NO_NAME)
    if whole is not None and len(whole[1]) < 4 and (is_name or before.lowered == "version"):
        return Value(VERSION, whole[1], place, place + 1)
    return None
