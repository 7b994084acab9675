"""How text becomes the words by which it is found.

Case, accents and English endings do not count. A code word is found whole, however it is joined, and by its parts:
`recall_for_agent`, `recallForAgent` and `recall-for-agent` are one word, and `agent` finds it. A number stays with what
it belongs to: `s7`, `utf8`, `3.11.2`. A date is found by its year, its month's name and its day, however it is written:
`2026-03-08`, `8.3.2026`, `Mar 8th`. Scripts that put no spaces between words are cut into single characters and pairs
of neighbours.

Whatever comes out is letters, digits and `.+#`, in lower case, so it needs no quoting anywhere.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from unicodedata import normalize

from ..text.dates import MONTHS, SHORT_MONTHS
from ..text.forms import FORMS
from ..text.little_words import AFTER_HOW, ASKING, LITTLE_WORDS
from ..text.stem import stem
from ..values import dataclass

LONGEST = 64  # Characters of a word that count; a hash or a blob is told from others by its beginning

MOST_TERMS = 64
"""Words of a query that count, the first ones: a whole page may be a query, and it should not take a minute."""

_CACHED = 1 << 16

_DENSE = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3105-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Thai to Tibetan, Burmese, Khmer, and what Chinese, Japanese and Korean are written in."""

_LETTER = f"(?:(?![{_DENSE}])[\\w\u0900-\u0963\u0966-\u0dff])"
_OPTIONAL_MARKS = re.compile("[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_PLAIN_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ł": "l", "þ": "th", "ı": "i", "ħ": "h", "ŋ": "n"}
)
_NO_JOINTS = str.maketrans("", "", "-_.")
_JOINT = re.compile("[-_]+")
_PART = re.compile(r"\.+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_CUT = re.compile(rf"{_JOINT.pattern}|{_PART.pattern}")
_VERSION = re.compile(r"([^\W\d]*)(\d+(?:\.\d+)+)")
_DATE = re.compile(
    r"(?:(?P<year>(?:19|20)[0-9]{2})-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2}))?"
    r"|(?P<day_first>[0-9]{1,2})\.(?P<month_next>[0-9]{1,2})\.(?P<year_last>(?:19|20)[0-9]{2}))(?=$|[-.T])"
)
LEADING_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")  # `ADR-007` is `adr7`
_ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")

CALENDAR = frozenset([*MONTHS, *SHORT_MONTHS])
"""Names of months: a number behind one is a day or a year, and belongs to no name."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query."""

    shown: str  # the word as written, without accents
    tokens: tuple[str, ...]  # the tokens of which any one is a match
    spelling: str = ""  # how it would be looked up among the spellings of a text; "" if no slip is to be expected
    meant: tuple[str, ...] = ()  # for each token the word it means, where the word as written is taken for a slip
    forms: tuple[str, ...] = ()  # tokens of its other forms, which count less: `bought` of `buy`, `timeout` of `time`


def read(text: str) -> list[tuple[str, str]]:
    """Return the words of a text in order, each as a spelling, "" if it is not a plain word, and a token."""
    return [pair for word in _words(text) for pair in _read(word)]


def tokens(text: str, spellings: set[str]) -> list[str]:
    """Return the tokens of a text in order, and add its plain words to `spellings`."""
    pairs = read(text)
    spellings.update(spelling for spelling, _ in pairs if spelling)
    return [token for _, token in pairs]


def terms(query: str) -> tuple[Term, ...]:
    """Return the words of a query, each once: without English stop words, unless it has no others.

    Two that follow each other may be written as one in a text: `time out` also finds `timeout`.
    """
    found: dict[str, Term] = {}
    stops: dict[str, Term] = {}
    before, pairs = "", list[tuple[str, str]]()
    for shown in _words(query):
        for spelling, token in _read(shown, asked=True):
            into = stops if _says_nothing(spelling or token, before, shown) else found
            into.setdefault(token, Term(shown, (token,), spelling, forms=FORMS.get(token, ())))
            pairs.append((spelling, token))
        before = shown.casefold()
    for (first, token), (second, next_token) in pairwise(pairs):
        is_numbered = not second and next_token[:1].isdigit() and first not in CALENDAR
        if len(first) >= 2 and (len(second) >= 2 or is_numbered):
            joined = stem(first + (second or next_token))
            for part in (token, next_token):
                if part in found and joined not in found:
                    found[part] = replace(found[part], forms=(*found[part].forms, joined))
    return tuple((found or stops).values())[:MOST_TERMS]


def _says_nothing(word: str, before: str, shown: str) -> bool:
    if word == "may" and before and shown == "May":
        return False  # the month
    return word in LITTLE_WORDS or word in ASKING or (before == "how" and word in AFTER_HOW)


def wanted(terms: Iterable[Term]) -> dict[str, None]:
    """Return the tokens to look up for a query, in order: of its words, of their forms, and of who is named in it."""
    return dict.fromkeys(token for term in terms for token in (*term.tokens, *term.forms, *map(said_by, term.tokens)))


def said_by(token: str) -> str:
    """Return the token that marks what somebody with this name says; no text has it."""
    return f"#{token}"


def places(text: str, wanted: Collection[str]) -> list[tuple[int, int]]:
    """Return where the words are that have one of these tokens, in order: the first character and the one behind."""
    if text.isascii():
        return _places(text, wanted)
    # Each plain letter remembers the character that it comes from.
    plain = [normalize("NFC", _OPTIONAL_MARKS.sub("", normalize("NFKD", character))) for character in text]
    ends = [0, *accumulate(map(len, plain))]
    found: list[tuple[int, int]] = []
    for start, end in _places("".join(plain), wanted):
        first = bisect_right(ends, start) - 1
        behind = max(bisect_right(ends, end - 1), bisect_right(ends, end) - 1)  # with the accents behind it
        if found and first <= found[-1][1]:  # of three characters, both pairs may be wanted
            found[-1] = (found[-1][0], max(behind, found[-1][1]))
        else:
            found.append((first, behind))
    return found


def _places(plain: str, wanted: Collection[str]) -> list[tuple[int, int]]:
    found = []
    for word in _word(is_ascii=plain.isascii()).finditer(plain):
        written, first = word[0], word.start()
        if not written.isascii() and re.match(f"[{_DENSE}]", written):
            for size in (2, 1):
                starts = [place for place in range(len(written)) if written[place : place + size] in wanted]
                found += [(first + place, min(first + place + size, word.end())) for place in starts]
                if starts:
                    break
        elif _has(written, wanted):
            cuts = [0, *(place for joint in _CUT.finditer(written) for place in joint.span()), len(written)]
            parts = [pair for pair in zip(cuts[::2], cuts[1::2], strict=True) if _has(written[slice(*pair)], wanted)]
            found += [(first + start, first + end) for start, end in parts or [(0, len(written))]]
    return found


def _has(part: str, wanted: Collection[str]) -> bool:
    return any(token in wanted for _, token in _read(part))


def _words(text: str) -> list[str]:
    """Return what is a word or several joined ones, without accents and in its own case."""
    text = plain(text)
    return _word(is_ascii=text.isascii()).findall(text)


def plain(text: str) -> str:
    """Return a text without its accents."""
    return text if text.isascii() else normalize("NFC", _OPTIONAL_MARKS.sub("", normalize("NFKD", text)))


@cache
def _word(*, is_ascii: bool) -> re.Pattern[str]:
    """Return what a word is, for texts in ASCII or for all: to compile that takes longer than most searches."""
    dense, letter = ("", r"\w") if is_ascii else (f"[{_DENSE}]+|", _LETTER)
    return re.compile(rf"{dense}(?<!\w)(?:[CcFf]#|[Cc]\+\+)(?!\w)|{letter}+(?:[-.'’]{letter}+)*")


@lru_cache(maxsize=_CACHED)
def _read(word: str, *, asked: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the spelling and the token of everything by which a word is found, or, of a query's, has to be found."""
    if not word.isascii() and re.match(f"[{_DENSE}]", word):
        pairs = [word[start : start + 2] for start in range(len(word) - 1)]
        return tuple(("", token) for token in (pairs if asked and pairs else [*word, *pairs]))
    word = re.sub("['’](s$)?", "", word)
    file = word.removesuffix(".md")
    word = file if asked and file else word
    date, word = _date(word)
    found: list[tuple[str, str]] = []
    for piece in _JOINT.split(word):
        version = _VERSION.fullmatch(piece)
        if version:
            found += _name(version[1]) if version[1] not in "vV" else []
            numbers = version[2].split(".")
            counts = range(len(numbers) if asked else 2, len(numbers) + 1)
            found += [("", ".".join(numbers[:count])[:LONGEST]) for count in counts]
        else:
            found += [one for part in _PART.split(piece) for one in _name(part)]
    if len(found) > 1 and not _VERSION.fullmatch(word):
        found += _name(word.removesuffix(".md").translate(_NO_JOINTS))
    return (*date, *found)


def _date(word: str) -> tuple[list[tuple[str, str]], str]:
    """Return the words of the date that a word begins with, and what comes after it."""
    date = _DATE.match(word)
    if date is None:
        return [], word
    year, month, day = (
        date["year"] or date["year_last"],
        date["month"] or date["month_next"],
        date["day"] or date["day_first"],
    )
    if not (1 <= int(month) <= 12 and 1 <= int(day or 1) <= 31):
        return [], word
    found = [("", year), *_name(MONTHS[int(month) - 1])]
    if day:
        found += [("", str(int(day))), ("", f"{year}{int(month):02}{int(day):02}")]
    return found, word[date.end() :].lstrip("-.T")


def _name(part: str) -> list[tuple[str, str]]:
    folded = _fold(part)
    if not folded:
        return []
    if folded.isalpha():
        return [(folded, stem(SHORT_MONTHS.get(folded, folded)))]
    ordinal = _ORDINAL.fullmatch(folded)
    return [("", str(int(ordinal[1])) if ordinal else stem(folded))]


def fold(text: str) -> str:
    """Return a text in lower case, with `ae` for `æ` and the like."""
    folded = text.casefold()
    return folded if folded.isascii() else folded.translate(_PLAIN_LETTERS)


def _fold(part: str) -> str:
    return fold(LEADING_ZEROS.sub("", part))[:LONGEST]
