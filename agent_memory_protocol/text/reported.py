"""Who reported a text, and who saved it: the parenthesis behind a finding."""

import re
from collections.abc import Sequence

_SIGNED = re.compile(r"\s+\(reported by [^()\n]*\)$")


def signed(text: str, reporter: str, more: Sequence[str] = ()) -> str:
    """Return a text with who reported it, and more that is said of it, in a parenthesis behind it."""
    gap = "\n\n" if "\n" in text else " "  # behind a list or code it would be a part of it
    return f"{text}{gap}({', '.join([f'reported by {reporter}', *more])})"


def unsigned(text: str) -> str:
    """Return what a text says without who reported it."""
    return _SIGNED.sub("", text) if text.endswith(")") else text
