"""Placeholders: lines such as “(none yet)”, which only hold the place of entries to come."""

LONGEST = 30
"""Characters of a line; a longer one is not a placeholder, but for “*None yet — …*” and “No lessons recorded yet.”"""

_LONGEST_HINT = 160
_SIGNS = " \t-+*_()[].…"
_DASHES = "\u2014\u2013"
_PHRASES = frozenset(
    [
        *("empty", "n/a", "no entries", "none", "none yet", "nothing here yet", "nothing yet", "tbd"),
        *("to be filled in", "todo", *_DASHES),
    ]
)
_KEPT_HERE = (
    *("decisions", "entries", "findings", "knowledge", "learnings", "lessons"),
    *("memories", "memory", "notes", "patterns"),
)
_KEPT = ("captured", "noted", "recorded")
_NO = ("no", "No", "NO", "nO")
_YET = (" yet", " so far")
_MANY = 5


_CORES = (b"", b"N", b"T", b"NN", b"NN T", b"[]", b"[N]", b"[T]", b"[ ]", b"[N ]", b"\xe2\x80\x94", b"\xe2\x80\x93")
_SHAPES = frozenset(
    before + core + after for core in _CORES for before in (b"", b" ", b"  ") for after in (b"", b" ", b"  ", b"   ")
)
"""What `visible.rare_bytes` leaves of placeholders. Of other lines it leaves the blanks between their words, too."""


def may_hold_places(text: str, rare: bytes) -> bool:
    """Say, quickly, whether a text may have a placeholder alone between blank lines; `rare` is its `rare_bytes`."""
    if not _SHAPES.isdisjoint(rare.rstrip(b"\n").split(b"\n\n")):
        return True
    return "one yet" in text or "d yet" in text or "so far" in text


def is_placeholder(line: str) -> bool:
    """Say whether a line only holds the place of entries to come."""
    is_short = len(line) <= LONGEST
    text = line.lstrip(_SIGNS)
    if not is_short and not text.startswith(_NO):  # most lines: nothing more is done for them
        return False
    text = text.rstrip(_SIGNS).lower()
    if is_short and text in _PHRASES:
        return True
    if len(line) > _LONGEST_HINT or not text.startswith("no"):
        return False
    if text.startswith("none yet"):
        return _is_set_off(line) and text[len("none yet") :].lstrip(" ")[:1] in (*_DASHES, "-", ":", ",", ";")
    ending = next((one for one in _YET if text.endswith(one)), None)
    first, *words = text.removesuffix(ending).split() if ending else [text]
    if first != "no" or not words:
        return False
    return words[0] in _KEPT_HERE if len(words) == 1 else len(words) < _MANY and words[-1] in _KEPT


def _is_set_off(line: str) -> bool:
    """Say whether a whole line is in emphasis or parentheses."""
    text = line.strip(" \t.")
    text = text[2:].lstrip(" \t") if text[:2] in ("- ", "* ", "+ ") else text
    return text[:1] in ("*", "_", "(", "[") and text[-1:] in ("*", "_", ")", "]")
