"""How wide a text is on a terminal: a cell for most characters, two for wide ones, none for what only joins."""

_FIRST_MARK = "\u0300"  # Below the first of the combining marks, each character takes one cell
_ALSO_ONE = frozenset("█░…–—‘’“”→")
"""What answers are full of, and takes one cell, too. To load the widths of all others takes longer than an answer."""


def cells(text: str) -> int:
    """Return how many cells a line of text takes."""
    if _is_plain(text):
        return len(text)
    from wcwidth import width

    return width(text)


def cut(line: str, most: int) -> str:
    """Return a line in at most so many cells; an ellipsis says that there is more."""
    if cells(line) <= most:
        return line
    if _is_plain(line):
        return f"{line[: most - 1]}…"
    from wcwidth import clip

    # Half a wide character is filled with a blank.
    return f"{clip(line, 0, most - 1).rstrip()}…"


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a text with blanks up to so many cells: behind it, or in front where it is on the right."""
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks


def _is_plain(text: str) -> bool:
    return text.isascii() or all(one < _FIRST_MARK or one in _ALSO_ONE for one in text)
