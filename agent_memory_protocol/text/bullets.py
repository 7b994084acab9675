"""A text as one Markdown bullet: on one line and without a beginning that means something, so that it opens nothing."""

import re

from .visible import escape_line

_STARTS_A_BLOCK = re.compile(
    r"#{1,6}(\s|$)|[-+*](\s|$)|[>|<]|(?P<number>[0-9]{1,9})[.)](\s|$)|([-_*]\s*){3,}$|```|~~~|\[[^\]]*\]:"
)


def bullet(text: str) -> str:
    """Return a text as a bullet: one line, every character visible, nothing in it that would be read as a marker."""
    text = escape_line(text.strip())
    if start := _STARTS_A_BLOCK.match(text):
        place = len(start["number"] or "")
        text = f"{text[:place]}\\{text[place:]}"
    return f"- {text}"
