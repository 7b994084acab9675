"""Which of many keywords are in a text; where hardly a text holds one, a single pattern soon says so at once."""

import re
from collections.abc import Iterable

_PAYS = 20_000
"""So many characters are searched keyword by keyword in the time that it takes to compile a pattern of them all."""

_SHORT = 2


class Keywords:
    """Keywords that texts are searched for.

    Args:
        rare: whether most texts hold none of those that are longer than two characters.
    """

    __slots__ = ("_any", "_long", "_rare", "_searched", "_short")

    def __init__(self, keywords: Iterable[str], *, rare: bool) -> None:
        words = [*keywords]
        self._short = [word for word in words if len(word) <= _SHORT]  # a dot, two dashes: many texts hold them
        self._long = [word for word in words if len(word) > _SHORT]
        self._rare = rare and bool(self._long)
        self._any: re.Pattern[str] | None = None
        self._searched = 0

    def present(self, text: str) -> list[str]:
        """Return those that are in a text."""
        found = [word for word in self._short if word in text]
        if self._rare:
            self._searched += len(text)
            if self._any is None and self._searched > _PAYS:
                self._any = re.compile(_any_of(self._long))
            if self._any is not None and self._any.search(text) is None:
                return found
        return found + [word for word in self._long if word in text]


def _any_of(words: Iterable[str]) -> str:
    """Return a pattern of which the branches begin with different characters."""
    rests: dict[str, list[str]] = {}
    for word in words:
        if not word:
            return ""  # one ends here, and is in all that goes on
        rests.setdefault(word[0], []).append(word[1:])
    return f"(?:{'|'.join(re.escape(first) + _any_of(rest) for first, rest in rests.items())})"
