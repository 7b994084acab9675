"""Which of many texts hold a word in any of its forms, told without reading each of them closely.

Of ten thousand facts only a few deny anything, and what they deny is in few others. Only those are worth reading.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations


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
