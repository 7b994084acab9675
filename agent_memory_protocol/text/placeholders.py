"""Placeholders: lines such as “(none yet)”, which only hold the place of entries to come."""

LONGEST = 30
"""Characters of a line; a longer one is not a placeholder."""

_SIGNS = " \t-+*_()[].…"
_PHRASES = frozenset(
    [
        *("empty", "n/a", "no entries", "no entries yet", "no knowledge yet", "no memories yet", "no memory yet"),
        *("none", "none yet", "nothing here yet", "nothing yet", "tbd", "to be filled in", "todo"),
    ]
)


def is_placeholder(line: str) -> bool:
    """Say whether a line only holds the place of entries to come."""
    return len(line) <= LONGEST and line.strip(_SIGNS).lower() in _PHRASES
