"""Which of many texts hold a word in any of its forms, told without reading each of them closely.

Of ten thousand facts only a few deny anything, and what they deny is in few others. Only those are worth reading.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

_PARTS = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|.", re.DOTALL)
_REPEATED = tuple("?*+{")
_FIRST = re.compile(r"\(\?:([^()\[\]]*)\)(?![?*+{])")
"""The alternatives that a pattern begins with."""


class Holding:
    """The words of some texts.

    Args:
        names: returns for what is between two blanks every name under which a reader may know it, or a part of it.
    """

    def __init__(self, texts: Sequence[str], names: Callable[[str], Iterable[str]]) -> None:
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            for raw in {*text.split()}:
                self._places[raw].append(place)
        self._forms: defaultdict[str, list[str]] = defaultdict(list)
        for raw in self._places:
            for name in {*names(raw)}:
                self._forms[name].append(raw)

    def of(self, name: str) -> set[int]:
        """Return the places of the texts that may hold a word."""
        return {place for raw in self._forms.get(name, ()) for place in self._places[raw]}

    def of_rarest(self, names: Iterable[str]) -> set[int]:
        """Return the places of the texts that may hold all of these words, and of others."""
        return self.of(min(names, key=lambda name: (self._count(name), name)))

    def _count(self, name: str) -> int:
        return sum(len(self._places[raw]) for raw in self._forms.get(name, ()))


def sharing(words: Iterable[Iterable[str]], most: int) -> set[tuple[int, int]]:
    """Return the places of each two texts, by their words, that share one which at most so many texts have."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, own in enumerate(words):
        for word in own:
            holders[word].append(place)
    return {pair for places in holders.values() if len(places) <= most for pair in combinations(places, 2)}


def ways(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, those inside brackets left alone."""
    found, depth = [""], 0
    for part in _PARTS.findall(pattern):
        depth += (part == "(") - (part == ")")
        if part == "|" and not depth:
            found.append("")
        else:
            found[-1] += part
    return found


def any_of(patterns: Iterable[str], depth: int = 2) -> str:
    """Return a pattern for what any of these finds: most words begin with no letter of theirs, which is soon seen.

    It tells whether one of them is there, and not which: they are tried in another order.
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    every = [way for pattern in patterns for way in ways(pattern)]
    for way in every:
        first = _FIRST.match(way)
        if first is not None:
            every += [one + way[first.end() :] for one in first[1].split("|")]
            continue
        has_letter = way[:1].isalnum() and not way.startswith(_REPEATED, 1)
        groups[way[0] if has_letter else ""].append(way[1:] if has_letter else way)
    found = [*groups.pop("", ())]
    for letter, rest in groups.items():
        found.append(letter + (any_of(rest, depth - 1) if depth > 1 else f"(?:{'|'.join(rest)})"))
    return f"(?:{'|'.join(found)})"
