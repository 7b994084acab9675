"""The families of secrets, as `secret_data` describes them, and where in a text each must be looked for."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from .table import FRAGMENTS, RULES
from .views import View

_JOINED_LINES = 8
_LONGEST_WRAPPED = 4000
"""How far a wrapped secret is followed: what is longer is a key block or a web token, found where it begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One family of secrets; `secret_data` says what the fields mean. `rank` is its place there."""

    rank: int
    id: str
    description: str
    keywords: tuple[str, ...]
    pattern: str
    check: str = "token"
    entropy: float = 0.0
    apart: bool = False
    wrapped: bool = True
    anywhere: bool = False

    def find(self, view: View) -> Iterator[tuple[int, int]]:
        """Yield where the secrets of this family begin and end."""
        if self.anywhere:
            for found in _compiled(self.pattern).finditer(view.text):
                yield from self._judge(found)
            return
        for position in self._places(view):
            match = _compiled(self.pattern).match(view.text, position)
            if match is not None:
                yield from self._judge(match)

    def find_wrapped(self, view: View) -> Iterator[tuple[int, int]]:
        """Yield where secrets of this family begin and end that go over a place where lines were joined.

        They may also begin or end at such a place: only one of two joined lines need belong to the secret.
        """
        for position in self._places(view):
            first = bisect_left(view.starts, position)
            at_start = first < len(view.starts) and view.starts[first] == position
            ends = view.starts[first + at_start : first + at_start + _JOINED_LINES]
            for end in (*ends[1:], len(view.text), *ends[:1]):
                found = self._match_part(view.text, position, end, at_start=at_start)
                yield from found
                if found:
                    break

    def _match_part(self, text: str, position: int, end: int, *, at_start: bool) -> list[tuple[int, int]]:
        match = _compiled(self.pattern).match(text, position, end)
        if match is not None:
            return list(self._judge(match))
        if not at_start:
            return []
        # The engine looks back beyond where it begins, though not beyond `end`: in a slice nothing stands before.
        match = _compiled(self.pattern).match(text[position : min(end, position + _LONGEST_WRAPPED)])
        return [] if match is None else [(start + position, stop + position) for start, stop in self._judge(match)]

    def _places(self, view: View) -> Iterator[int]:
        for keyword in self.keywords:
            text = view.text if _is_exact(keyword) else view.lowered
            position = text.find(keyword)
            while position >= 0:
                yield position
                position = text.find(keyword, position + 1)

    def _judge(self, match: re.Match[str]) -> Iterator[tuple[int, int]]:
        # A pattern seldom matches, and what judges takes longer to load than most texts to search.
        from . import judge

        start, end = judge.span(match)
        if judge.CHECKS[self.check](match) and (
            not self.entropy or judge.entropy(match.string[start:end]) >= self.entropy
        ):
            yield start, end


class Index:
    """Some of the families, by keyword."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._exact: dict[str, list[Rule]] = {}
        self._folded: dict[str, list[Rule]] = {}
        for rule in rules:
            for keyword in rule.keywords:
                (self._exact if _is_exact(keyword) else self._folded).setdefault(keyword, []).append(rule)

    def present(self, view: View) -> set[Rule]:
        """Return the families of which a keyword stands in a view: nearly always none, and that must be quick."""
        found: set[Rule] = set()
        if not view.text.strip():  # most lines have no long words, and none that go on
            return found
        for text, keywords in ((view.text, self._exact), (view.lowered, self._folded)):
            for keyword, rules in keywords.items():
                if keyword in text:
                    found.update(rules)
        return found


@cache
def rules() -> tuple[Rule, ...]:
    """Return all families, the more telling ones first."""
    found = []
    for rank, fields in enumerate(RULES):
        pattern = fields["pattern"]
        for name, fragment in FRAGMENTS.items():
            pattern = pattern.replace(f"%{{{name}}}", fragment)
        found.append(Rule(rank, **{**fields, "pattern": pattern}))
    return tuple(found)


@cache
def indexes() -> tuple[Index, Index, Index]:
    """Return which families to look for in a text as it reads, in its long words, and where its lines are joined."""
    apart = Index(rule for rule in rules() if rule.apart)
    in_words = Index(rule for rule in rules() if not rule.apart)
    wrapped = Index(rule for rule in rules() if rule.wrapped)
    return apart, in_words, wrapped


def _is_exact(keyword: str) -> bool:
    return keyword != keyword.lower()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Only when a keyword stands in a text: to compile them all takes longer than most texts to search.
    return re.compile(pattern)
