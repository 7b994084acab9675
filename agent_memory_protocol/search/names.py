"""What an entry or a note is called, so that a short query finds what has this name before what only mentions it.

A name is compared without case, accents, blanks and joints, and numbers without leading zeros: `Phase 2`, `phase_2.md`
and `phase2` are one name, and so are `ADR-007` and `adr 7`. A note is called by its title and its file name, an entry
by the words that it begins with and by its headings.
"""

import re
from collections.abc import Iterator
from itertools import accumulate

from ..text.stem import stem
from .numbered import numbered
from .words import LEADING_ZEROS, LONGEST, fold, plain

_MOST_WORDS, _LONGEST_NAME = 6, 100  # Words and characters of the longest name

_BEGINNING = 3
"""So many words at the beginning of an entry may be its name, one by one; more only in front of a colon or a dash."""

_LOOKED_AT = 200  # Characters of the beginning of an entry

_LEAD = re.compile(r"\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+)?(?:\[[^\]\n]{0,40}\](?!\()\s*)*")
_PART = re.compile(r"\s[-–—]+\s|:\s|:$|\s\(|\)|\.\s|\n")
_WORD = re.compile(r"\S*\w\S*")
_FILE = re.compile(r"\.md\b")
_NO_LETTERS = re.compile(r"(?:(?<![a-z])\+|(?<!^)(?<![a-z])#|#(?!\d|\Z|\W)|[^\w+#]|_|(?<![a-z0-9])v(?=\d))+")


def called(text: str, context: str) -> list[str]:
    """Return marks of what an entry or a note is called, by its first words and by the lines around it."""
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    start = text[begin : begin + _LOOKED_AT]
    words = _WORD.findall(start.partition("\n")[0])[:_BEGINNING]
    names = [*accumulate(words, "{} {}".format), _PART.split(start, maxsplit=1)[0]]
    for line in context.split("\n"):
        names += [line, *_PART.split(line)]
    return sorted({mark for name in dict.fromkeys(names) for mark in _names(name)})


def besides(query: str) -> tuple[str, ...]:
    """Return the tokens by which a passage is found better that also has the words of a query."""
    found = numbered(query)
    issues = [_mark(f"#{token[:-1]}") for token in found if token.endswith("#")]
    return tuple(dict.fromkeys([*found, *issues, *_names(query)]))


def _names(text: str) -> Iterator[str]:
    if len(text) <= _LONGEST_NAME and 0 < len(_WORD.findall(text)) <= _MOST_WORDS and (mark := _mark(text)):
        yield mark


def _mark(text: str) -> str:
    """Return the token of a name; no text has it."""
    joined = LEADING_ZEROS.sub("", _NO_LETTERS.sub("", _FILE.sub("", fold(plain(text)))))
    return f"##{stem(joined)[:LONGEST]}" if joined else ""
