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


_TELLING = ("none", "yet", "mpty", "n/a", "entries", "tbd", "todo", "filled in")
"""In small letters, each phrase holds one of these."""


def may_hold_places(text: str) -> bool:
    """Say, quickly, whether a line of a text may only hold the place of entries to come."""
    lowered = text.lower()
    if not any(word in lowered for word in _TELLING):
        return False
    return any(line and len(line) <= LONGEST and is_placeholder(line) for line in text.split("\n"))


def is_placeholder(line: str) -> bool:
    """Say whether a line only holds the place of entries to come."""
    return len(line) <= LONGEST and line.strip(_SIGNS).lower() in _PHRASES
