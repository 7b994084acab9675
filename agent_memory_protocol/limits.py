"""One way to count lines, bytes and tokens, used by every part of the product (decisions 12, 13, 15)."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINES = 200
MAX_BYTES = 25_600

LINE_BYTES = 1_000  # In a document that does not fit, recall cuts longer lines to this many bytes (decision 14)
NEAR = 0.9  # From this share of a limit on, replies and checks warn (decision 13)


def split_lines(text: str) -> list[str]:
    r"""Split into lines without their endings: at ``\n``, ``\r\n`` and ``\r``, and nowhere else.

    A last line without an ending counts; the empty string after a final ending does not. `str.splitlines`
    would also split at form feeds and U+2028, and every line number after one would be wrong.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def split_lines_with_ends(text: str) -> list[str]:
    """Split like `split_lines`, each line with the ending it has: joined, they are `text` again."""
    pieces = text.split("\n")
    last = pieces.pop()
    ended = [piece + "\n" for piece in pieces]
    if last:
        ended.append(last)
    if "\r" not in text:
        return ended
    lines = []
    for line in ended:
        body, end = (line[:-2], "\r\n") if line.endswith("\r\n") else (line, "")
        *closed, rest = body.split("\r")
        lines += [piece + "\r" for piece in closed]
        if rest or end:
            lines.append(rest + end)
    return lines


def count_lines(data: bytes, sifted: bytes | None = None) -> int:
    r"""Count the lines of a file: every ``\n``, ``\r\n`` or lone ``\r`` ends one, and a last line needs no ending.

    `sifted` is `data` without some of the bytes that end no line; where it is at hand, counting takes less time.
    """
    count = (data if sifted is None else sifted).count(b"\n")
    if b"\r" in data:
        count += data.count(b"\r") - data.count(b"\r\n")
    return count if data.endswith((b"\n", b"\r")) or not data else count + 1


def same_lines(one: bytes, other: bytes) -> int:
    """Return how many bytes two files share at their beginning, in whole lines; it may leave out the last of them."""
    at, step = 0, min(len(one), len(other))
    while step:
        if one[at : at + step] == other[at : at + step]:
            at += step
        step //= 2
    return one.rfind(b"\n", 0, at) + 1


def over_limits(new: bytes, max_lines: int, max_bytes: int, *, old: bytes | None = None) -> list[tuple[int, int, str]]:
    """Say which limits of a file a text passes: for each the count, the limit and its unit (decision 13).

    `old` is what is in the file now: a change that makes it smaller passes no limit, however large it is.
    """
    return [
        (count(new), most, unit)
        for count, most, unit in ((count_lines, max_lines, "lines"), (len, max_bytes, "bytes"))
        if count(new) > most and (old is None or count(new) > count(old))
    ]


def most_that_fits(most: int, fits: "Callable[[int], bool]") -> int:
    """Return the largest number up to `most` that fits, as all below it do; 0 where not even 1 does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def share_of_limits(lines: int, size: int, max_lines: int, max_bytes: int) -> float:
    """Return how much of its limits a file uses: 1 where it is full, more where it is over one of them."""
    # Divided, not multiplied: then exactly 90 % is 0.9 to the computer too.
    return max(lines / max_lines, size / max_bytes)


def estimate_tokens(size: int) -> int:
    """Estimate the tokens of a text from its UTF-8 size in bytes: a quarter, rounded up (decision 15)."""
    return -(-size // 4)
