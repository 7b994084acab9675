"""Labels: what governs the items of a list, and how it travels with one of them (docs/protocol.md, “Labels”).

In Markdown a label is a paragraph above its list. Wherever an item goes alone, its label goes in front of its text:
`push to main` under `**Never:**` is `Never: push to main`.
"""

import re
from unicodedata import normalize

from . import markdown
from .marks import is_emoji

LONGEST = 160  # Characters of a label in front of a text; of a longer one the beginning is there
BELOW = " > "  # What is between the headings in a section's name: `Staging > Database`

_LINK = re.compile(r"!?\[([^\[\]]+)\]\([^()\s]*\)")
_OPENERS = (*" \t:\uff1a\u2013\u2014\u2192", " -", "->", "=>")
"""What a label ends with that is not in front of a text, where a colon is."""
_ENDS = (":", "?", "\uff1a", "\uff1f", "\u2026")
_COMPLETE = ("?", "\uff1f", "\u2026", "...")  # After these no colon is needed
_DENYING = frozenset("\u274c\u274e\u2716\u2717\u2718\u26d4\U0001f6ab\U0001f6d1\U0001f44e")
_DENIALS = frozenset(
    [
        *("avoid", "cannot", "don't", "evitar", "forbidden", "interdit", "jamais", "mai", "never", "nicht", "nie"),
        *("niemals", "no", "not", "nunca", "prohibido", "stop", "verboten", "vermeiden"),
    ]
)
_TURNING = _DENIALS | {
    *("abandoned", "antipattern", "antipatterns", "anti-pattern", "anti-patterns", "deprecated", "disallowed"),
    *("former", "obsolete", "planned", "prohibited", "proposed", "rejected", "removed", "won't"),
    *("abgelehnt", "descartado", "obsoleto", "rechazado", "todo", "unverified", "veraltet", "verworfen", "wrong"),
}
_TURNING_SIGNS = ("\u7981\u6b62", "\u4e0d\u8981", "\u5207\u52ff", "\u907f\u514d", "\u5e9f\u5f03", "\u5f03\u7528")
"""Words that forbid or reject, of a script without blanks between words."""
_EMPHASIS = ("**", "__", "*", "_")
_NAME_OF_DATA = re.compile(r"(?<!\S)(\*\*|__|\*|_)([^\s*_:][^*_:]*)(?::\1|\1:)(?=\s)")
_FRAMES = re.compile(r"</?(?:center|details|div|em|font|i|mark|p|section|small|span|u)(?:\s[^<>]*)?>", re.IGNORECASE)
_STRONG = re.compile(r"</?(?:b|strong)>", re.IGNORECASE)
_TITLE = re.compile(r"<(h[1-6]|summary)(?:\s[^<>]*)?>([^<>]*)</\1>", re.IGNORECASE)


def without_tags(text: str) -> str:
    """Return a text with its HTML as Markdown: bold where it is, a summary and a heading as a bold label."""
    if "`" in text:
        return text  # It speaks of tags.
    return _TITLE.sub(_bold, _STRONG.sub("**", _FRAMES.sub("", text))).strip()


def _bold(title: re.Match[str]) -> str:
    text = title[2].lstrip("*_ \t\n").rstrip("*_ .!\t\n")
    return f"**{text}{'' if text.endswith(_ENDS) else ':'}**"


def plain(label: str) -> str:
    """Return a label on one line, without emphasis around it and what ends it, a colon or a dash; links as their text.

    In front of a text, a link would make an index line of it.
    """
    if not label:
        return ""  # as of nearly every entry
    text = _LINK.sub(r"\1", " ".join(label.split()))
    before = ""
    while text != before:
        before = text
        text = text.removesuffix(next((one for one in _OPENERS if text.endswith(one)), ""))
        for sign in _EMPHASIS:
            inside = text[len(sign) : -len(sign)]
            if len(text) > 2 * len(sign) and text == f"{sign}{inside}{sign}" and sign not in inside:
                text = inside.strip(" \t")
                break
    return text


def _beside_emoji(label: str) -> tuple[str, str, str]:
    """Return a label as it is in front of a text, between the emoji before it and those behind it."""
    text = plain(label)
    start, end = 0, len(text)
    while start < end and (is_emoji(text[start]) or text[start] == " "):
        start += 1
    while end > start and (is_emoji(text[end - 1]) or text[end - 1] == " "):
        end -= 1
    inner = text[start:end]
    return text[:start].strip(), inner if inner == text else plain(inner), text[end:].strip()


def shown(label: str) -> str:
    """Return a label as `plain` does, also where emoji are around its emphasis or its colon: they say much.

    Of lines of data, `**Scope:** staging`, the names are without emphasis.
    """
    return _NAME_OF_DATA.sub(r"\2:", " ".join(filter(None, _beside_emoji(label))))


def names(label: str, wanted: str) -> bool:
    """Say whether a label is meant by a name, with its emoji or without: `Never` is the name of `🚫 **Never:**`.

    With an emoji that denies, `Do` is another label.
    """
    if shown(label).casefold() == shown(wanted).casefold():
        return True
    before, inner, after = _beside_emoji(label)
    said = normalize("NFC", inner).casefold()
    if _DENYING.isdisjoint(before + after) or not _DENIALS.isdisjoint(said.replace("\u2019", "'").split()):
        return said == key(wanted)
    return False


def turns(heading: str) -> bool:
    """Say whether what is under a heading says something else without it: `Never`, `Rejected`, `❌ Git`."""
    words = normalize("NFC", heading).casefold().replace("\u2019", "'").replace("*", " ").split()
    says = not _TURNING.isdisjoint(word.strip(".,:;!?()[]") for word in words) or not _DENYING.isdisjoint(heading)
    return says or any(word in heading for word in _TURNING_SIGNS)


def key(label: str) -> str:
    """Return what two spellings of one label have in common."""
    return normalize("NFC", plain(label)).casefold()


def in_front(label: str, text: str) -> str:
    """Return a text with its label in front, which says on its own what it says in its list.

    What would be no block behind other words, such as a fence, begins on the next line.
    """
    said = shown(label)
    if not said:
        return text
    if len(said) >= LONGEST:
        return _before(f"{said[: LONGEST - 2].rstrip()}\u2026:", text)
    return _before(said if said.endswith(_COMPLETE) else f"{said}:", text)


def _before(said: str, text: str) -> str:
    return f"{said}\n{text}" if _begins_with_block(text) else f"{said} {text}"


def taken_off(label: str, text: str) -> str | None:
    """Return a text without the label that `in_front` put there; None if it does not begin with it."""
    for gap in (" ", "\n"):
        front = in_front(label, "").rstrip(" ") + gap
        rest = text.removeprefix(front)
        # Formats of one line have blanks in place of line ends.
        if plain(label) and rest != text and in_front(label, rest).replace("\n", gap) == text.replace("\n", gap):
            return rest
    return None


def in_front_of_item(label: str, text: str) -> str:
    """Return the Markdown of a list item with its label in the place of its bullet; as it is where no label is."""
    stripped = text.lstrip(" \t")
    is_bullet = stripped[:1] in tuple("-*+") and markdown.marker_width(stripped)
    return in_front(label, stripped[1:].lstrip(" \t") if label and is_bullet else text)


def _begins_with_block(text: str) -> bool:
    first, _, rest = text.partition("\n")
    if not first.strip(" \t"):
        return False
    begins = first[0] == ">" or markdown.marker_width(first) or markdown.fence_length(first)
    second = rest.partition("\n")[0]
    is_table = "|" in first and "-" in second and not second.strip("|:- \t")
    return bool(begins) or is_table


class Labelled:
    """A list item, or any text, with the label that governs it; "" if none does."""

    __slots__ = ()

    text: str
    label: str

    @property
    def alone(self) -> str:
        """Its text with the label in front, as it is shown alone."""
        return in_front_of_item(self.label, self.text)
