"""How a number, and the beginning of a text, are said to a person."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: 1 note, 2 notes, 1,000 entries."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def beginning(text: str, width: int) -> str:
    """Return a text on one line of at most so many characters; an ellipsis says that there is more."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
