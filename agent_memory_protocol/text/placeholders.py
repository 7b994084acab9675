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


_CORES = (b"", b"N", b"T", b"NN", b"NN T", b"[]", b"[N]", b"[T]", b"[ ]", b"[N ]")
_SHAPES = frozenset(
    before + core + after for core in _CORES for before in (b"", b" ", b"  ") for after in (b"", b" ", b"  ", b"   ")
)
"""What `visible.rare_bytes` leaves of placeholders. Of other lines it leaves the blanks between their words, too."""


def may_hold_places(rare: bytes) -> bool:
    """Say, quickly, whether a text may have a placeholder alone between blank lines; `rare` is its `rare_bytes`."""
    return not _SHAPES.isdisjoint(rare.rstrip(b"\n").split(b"\n\n"))


def is_placeholder(line: str) -> bool:
    """Say whether a line only holds the place of entries to come."""
    return len(line) <= LONGEST and line.strip(_SIGNS).lower() in _PHRASES
