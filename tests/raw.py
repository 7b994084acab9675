"""What plays with a terminal or hides from a reader: a text full of it, and what finds it in an answer."""

import re
from collections.abc import Iterator, Mapping

IGNORABLE = (
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""Default_Ignorable_Code_Point of Unicode 14 to 16 (DerivedCoreProperties.txt), first and last of each range."""
_CONTROL = ((0, 8), (0xB, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029), (0x2800, 0x2800), (0xE000, 0xF8FF))

RAW = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in (*_CONTROL, *IGNORABLE)) + "]")
"""What no answer holds, but for what an emoji or a script needs. Line feeds and tabs divide our own words."""
EVIL = "e\x1b[31m\x07\x9b\u202e\x85v\u200bi\U000e0041\U000e0100l\u3164\ufeff\u2028\ue000\u2800\ufe01\x7f"


def raw_in(answer: object) -> str:
    """Return the first place of an answer that holds such a character, with what is around it; "" without one."""
    for text in _texts(answer):
        if found := RAW.search(text):
            return ascii(text[max(0, found.start() - 80) : found.end() + 40])
    return ""


def _texts(answer: object) -> Iterator[str]:
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, Mapping):
        for name, value in answer.items():
            yield from _texts(name)
            yield from _texts(value)
    elif isinstance(answer, list | tuple):
        for value in answer:
            yield from _texts(value)
