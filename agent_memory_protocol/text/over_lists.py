"""Over lists: what of a paragraph is the label of the list below it (docs/protocol.md, “Labels”).

It loads little, since every recall reads labels.
"""

from .marks import is_emoji

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_COLONS = (":", "\uff1a")
_OPENERS = (*_COLONS, "?", "\uff1f", "\u2013", "\u2014", " -", "->", "=>", "\u2192", "\u2026")
"""What a text ends with that opens the list below it."""
_NAMED = """
applies | applies for | applies in | applies to | audience | branch | condition | customer | env | environment |
except | except for | for | if | in | only | only for | only if | only in | only on | only when | only with |
os | owner | platform | region | scope | scoped to | since | source | stage | team | tenant | unless | until |
valid | valid for | valid from | valid in | valid until | version | when | where | with | without
"""
"""What a line of data is called, `Scope: staging`, that says of the list below it where, when or by whom it holds."""
_CONDITIONS = frozenset(name.strip() for name in _NAMED.split("|"))
_MOST_NAME_WORDS = 3
_BREAKS = ("\\", "<br>", "<br/>", "<br />")
_VOWELS = frozenset("aeiouy")


def is_label(text: str) -> bool:
    """Say whether a text before a list is its label: it opens it, says where it holds, or is bold and no sentence.

    In brackets behind what is bold may be whose it is: `**Payments** (owner: Dilan)`.
    """
    text = _without_ornament(text)
    inside = text.strip("*_ \t")
    if not inside:
        return False
    if states_condition(text):
        return True
    if inside.endswith(_OPENERS) or (inside.endswith("...") and inside[-4:-3] not in ("", " ", ".")):
        return True
    sign = text[:2] if text[:2] in ("**", "__") else ""
    bold, closing, behind = text[2:].partition(sign) if sign else ("", "", "")
    behind = behind.strip("*_ \t")
    is_alone = not behind or (behind[0] == "(" and behind[-1] == ")" and ") " not in behind)
    return bool(bold.strip() and closing) and is_alone and not bold.rstrip().endswith((".", "!"))


def _without_ornament(text: str) -> str:
    """Return a text without the emoji around it."""
    before = ""
    while text != before:
        before, text = text, text.strip(" \t")
        text = text[1:] if is_emoji(text[:1]) else text
        text = text[:-1] if is_emoji(text[-1:]) and not text.endswith(_OPENERS) else text
    return text


def label_in(lines: "Sequence[str]") -> str:
    """Return what of a paragraph may be a label: its last sentence, the line after one that is complete, or data."""
    text = seen("\n".join(line.strip(" \t") for line in lines))
    lines = [line.strip(" \t") for line in text.split("\n")]
    if text and "" in lines:
        end = len(lines) - 1 - lines[::-1].index("")
        return one_label(label_in(lines[:end]), label_in(lines[end + 1 :]))
    data = next((at for at, line in enumerate(lines) if states_condition(line)), len(lines))
    if data < len(lines) and all(map(_is_data, lines[data:])):
        return " ".join(" ".join(lines[data:]).split())
    first = len(lines) - 1
    while first and not _is_complete(lines[first - 1], lines[first]):
        first -= 1
    text = " ".join(" ".join(lines[first:]).split())
    ends = [at for at in range(1, len(text) - 2) if text[at] in ".!?" and text[at + 1] == " " and _is_end(text, at)]
    return text[ends[-1] + 2 :] if ends else text


def states_condition(line: str) -> bool:
    """Say whether a line says where, when or for whom something holds: `**Scope:** staging only`."""
    name = line.partition(":")[0].strip("*_ \t").lower()
    return _is_data(line) and not _CONDITIONS.isdisjoint((name, name.removesuffix("s")))


def _is_data(line: str) -> bool:
    """Say whether a line of a paragraph gives a name and what is called so."""
    name, _, value = line.partition(":")
    return 0 < len(name.split()) <= _MOST_NAME_WORDS and value.strip("*_ \t") != ""


def one_label(outer: str, inner: str) -> str:
    """Return two labels of which one is right above the other as one: `Git: Never:`."""
    from .labels import plain

    return f"{plain(outer)}: {plain(inner)}:"


def seen(text: str) -> str:
    """Return a paragraph as its reader sees it: without comments, tags, and a line break at its end."""
    if "<!--" in text:
        from .visible import without_hidden

        text = without_hidden(text)[0]
    if "</" in text:
        from .labels import without_tags

        text = without_tags(text)
    text = text.strip(" \t\n")
    while text.endswith(_BREAKS):
        text = text[: -next(len(one) for one in _BREAKS if text.endswith(one))].rstrip(" \t\n")
    return text


def on_one_line(lines: "Sequence[str]") -> str:
    """Return a paragraph as its reader sees it, on one line."""
    return " ".join(seen("\n".join(lines)).split())


def _is_end(text: str, at: int) -> bool:
    """Say whether the sign at a place, with a blank behind it, ends a sentence, or an abbreviation in one."""
    if text[at + 2].islower():
        return False
    word = text[:at].rpartition(" ")[2].lstrip("(*_")
    is_abbreviation = "." in word or (word.isascii() and word.isalpha() and word.islower() and _VOWELS.isdisjoint(word))
    return text[at] != "." or not is_abbreviation


def _is_complete(line: str, following: str) -> bool:
    """Say whether a line of a paragraph ends what it says: a sentence, or a row of a block of data."""
    if line.endswith(("\\", ".", "!", "?", *_COLONS)) or following.startswith("**"):
        return True
    name, colon, _ = line.partition(":")
    return bool(colon) and name.startswith("**")
