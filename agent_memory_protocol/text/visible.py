r"""Make text safe to quote in a prompt: what a reader cannot see is removed or shown, look-alike markers are escaped.

Recalled memory is data that others wrote (docs/protocol.md, decision 27). Text that a reviewer of the rendered page
cannot see is not injected (decision 16). Invisible and control characters become visible escapes such as `\u200b`, but
for those that an emoji or a script needs in that place: any other is a channel for what nobody reviews. What could pass
for the block's own markers, or for a chat template's, is broken with an escape that people still read.
"""

from ..errors import RefusedText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KEEPER = "<!-- -->"
"""An empty comment. It hides nothing: it keeps what is above it apart from what is below it."""
LIST_KEEPER = "<!-- next list -->"
"""Keeps two numbered lists apart, and lets the label above the first govern the second too."""

_SUSPECTS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u200c\u200d\u2800\u3164\uffa0\U0001d159"
    "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
)
"""What Python counts as printable, or what is often needed, and `text.characters` may call hidden.

The selectors with high numbers are too many to be looked for by name.
"""
_FIRST_HIGH_SELECTOR = "\U000e0100"
_NOT_HIDDEN_HERE = (
    "\u200c\u200d\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
"""What Python does not count as printable and a reader sees as a blank; and the joiners, which are suspects already."""

_ANGLES = "<\uff1c\ufe64\u2039\u2329\u27e8\u3008\u02c2\u1438"

_ASCII = bytes(range(0x80))
_TELLING = b"\n #[]:INST<uU"
_COMMON = bytes(set(b"\t\r" + bytes(range(0x20, 0x7F))).difference(_TELLING))
"""The bytes that tell nothing. Blanks and line ends stay, so that what was apart does not look adjacent."""

_HIDING = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_LIST_MARKS = " \t>-+*0123456789.)"  # What may come before a block in its line: the marks of lists and quotes

_TAG_NAMES = {
    "a": ("agent-memory", "assistant"),
    "b": ("bos",),
    "e": ("end_of_turn", "eos"),
    "f": ("function_calls", "function_results"),
    "h": ("hook_context", "human"),
    "i": ("invoke",),
    "m": ("memory",),
    "s": ("s", "session-checklist", "start_of_turn", "system", "system-reminder"),
    "t": ("tool_call", "tool_result", "tool_use"),
    "u": ("user",),
}
"""By their first letter, as nearly every angle opens something else."""
_LATIN = str.maketrans("аеорсухѕіһԁАВЕКМНОРСТУХЅІοινυαΟΜΑΕΗΙΤΥ‐‑‒–—−", "aeopcyxsihdABEKMHOPCTYXSIoivuaOMAEHITY------")
"""What passes for a Latin letter or a hyphen, in a tag's name too."""
_SLASHES = " \t/\\\u2044\u2215"  # What may be between the angle and the name, with blanks
_LONGEST_MARKER = 20  # The names, and the character that ends them, are shorter
_BRACKETED = ("[INST]", "[/INST]")


def rare_bytes(data: bytes) -> bytes:
    """Return the bytes of a text that can matter to the questions below: a form of it that is quickly searched."""
    return data.translate(None, _COMMON)


def without_hidden(text: str, rare: bytes | None = None) -> tuple[str, list[int]]:
    """Take out what a reader of the rendered page does not see: comments, declarations, link definitions.

    Returns the text that is left, and the lines of `text`, counted from 0, that went whole. Line endings are newlines.
    An empty comment stays: nothing is hidden in it.

    If each comment is alone on its line, a search finds them all. Any other document is read by markdown-it.

    Raises:
        DamagedFile: it hides text in more layers than can be taken off.
    """
    comments = _find_comments(text) if "<" in text else []
    may_define = (rare is None or b"]:" in rare) and _may_define_links(text)
    if comments is not None and not may_define:
        return _without(text, comments) if comments else (text, [])
    from . import referee

    lines = text.split("\n")
    kept, numbers = referee.remove_hidden(lines, KEEPER)
    return "\n".join(kept), sorted(set(range(len(lines))).difference(numbers))


def _without(text: str, comments: list[tuple[int, int]]) -> tuple[str, list[int]]:
    """Take out comments that have a line to themselves; return the text without them, and the numbers of the lines."""
    kept = []
    removed: list[int] = []
    done = 0
    for start, end in comments:
        kept.append(text[done:start])
        before = removed[-1] + 1 if removed else 0
        removed.append(before + kept[-1].count("\n"))
        done = end
    return "".join([*kept, text[done:]]), removed


def _find_comments(text: str) -> list[tuple[int, int]] | None:
    """Return where each comment that is not empty is, line end included, if each is alone on its line; else None.

    A parser must tell if a line begins with other HTML, or a fence before the last comment could make one visible.
    """
    comments = []
    position = text.find("<")
    while position >= 0:
        line = text.rfind("\n", 0, position) + 1
        if position > line and text[line:position].strip(_LIST_MARKS):
            if text.startswith(("!", "?"), position + 1):
                return None
        elif position > line or not text.startswith("<!--", position):
            return None
        else:
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            comment = text[position:end].rstrip(" \t")
            if comment.find("-->", 4) != len(comment) - 3 or comment.count("<") > 1:
                return None
            if comment != KEEPER:
                comments.append((position, min(end + 1, len(text))))
            position = end
        position = text.find("<", position + 1)
    if comments and (text.find("```", 0, comments[-1][0]) >= 0 or text.find("~~~", 0, comments[-1][0]) >= 0):
        return None
    return comments


def _may_define_links(text: str) -> bool:
    """Say whether a line may hold the end of a link definition's label: `[label]: target`, where a block begins."""
    position = text.find("]:")
    while position >= 0:
        line = text[text.rfind("\n", 0, position) + 1 : position].lstrip(_LIST_MARKS)
        is_note = line.startswith("[^") and text.count(f"{line}]") > text.count(f"{line}]:")  # one referred to
        if not is_note and (line.startswith("[") or "[" not in line.replace("\\[", "")):
            return True
        position = text.find("]:", position + 1)
    return False


def blank_hidden(text: str) -> str:
    """Return a text with all that may be hidden blanked out, in code too. Lines keep their numbers."""
    pieces = []
    done = 0
    position = text.find("<")
    while position >= 0:
        closing = next((end for start, end in _HIDING if text.startswith(start, position)), "")
        end = text.find(closing, position + 2) + len(closing) if closing else 0
        if closing and end < len(closing) and not text[text.rfind("\n", 0, position) + 1 : position].strip(_LIST_MARKS):
            end = len(text)  # one that begins its line and is never closed hides the rest
        if end > position:
            pieces += [text[done:position], "\n" * text.count("\n", position, end)]
            done = end
        position = text.find("<", max(position + 1, done))
    lines = "".join([*pieces, text[done:]]).split("\n")
    return "\n".join("" if "]:" in line and line.lstrip(_LIST_MARKS).startswith("[") else line for line in lines)


def needs_escapes(text: str, rare: bytes) -> bool:
    """Say whether any line of a text needs `escape_line`; `rare` is what `rare_bytes` gave for it, or for more."""
    if b"INST]" in rare or _holds_marker(text, "<"):
        return True
    telling = rare.translate(None, _TELLING)
    if not telling:
        return False
    others = telling.translate(None, _ASCII)
    if len(others) != len(telling) or b"\xf3" in others:  # control characters; tags, selectors with high numbers
        return True
    # Only the characters beyond ASCII: still whole ones, and mostly few.
    characters = others.decode()
    return any(angle in characters and _holds_marker(text, angle) for angle in _ANGLES[1:]) or any(
        _hides(text, suspect) for suspect in _suspects(characters)
    )


def _holds_marker(text: str, angle: str) -> bool:
    position = text.find(angle)
    while position >= 0:
        if _looks_like_marker(text[position + 1 : position + 48]):
            return True
        position = text.find(angle, position + 1)
    return False


def _suspects(characters: str) -> list[str]:
    """Return those of some characters that a reader may not see, each once. Tags are found before."""
    found = [one for one in _SUSPECTS if one in characters]
    if not characters.isprintable():
        for known in _NOT_HIDDEN_HERE:
            characters = characters.replace(known, "")
    if not characters.isprintable():
        found += [one for one in set(characters) if not one.isprintable()]
    return found


def _hides(text: str, character: str) -> bool:
    """Say whether this character is hidden anywhere in a text. Each kind of surroundings is looked at once."""
    from itertools import pairwise

    from .characters import is_hidden

    # Nothing between two of them: they are beside each other, or it is where the text begins or ends.
    pieces = text.split(character)
    around = {(before[-1:] or character, after[:1] or character) for before, after in pairwise(pieces)}
    return any(is_hidden(before, character, after) for before, after in around)


def escape_line(line: str) -> str:
    """Return one line with invisible characters shown as escapes and look-alike markers broken."""
    plain = line.isascii()
    if not line.isprintable() or not plain:
        line = show_invisible(line)
    if "<" in line or "INST]" in line or (not plain and any(angle in line for angle in _ANGLES)):
        # What is put in its place may complete another before it.
        while (broken := _break_markers(line)) != line:
            line = broken
    return line


def first_invisible(text: str) -> tuple[int, str] | None:
    r"""Return the line (from 1) and the escape of the first invisible character; None without one."""
    for number, line in enumerate(text.split("\n"), start=1):
        places = _hidden_places(line)
        if places:
            return number, _escape(line[places[0]])
    return None


def name_invisible(text: str) -> str:
    """Return what a message calls the first invisible character of a text; "" without one."""
    found = first_invisible(text)
    return f"the invisible or control character {found[1]}" if found else ""


def refuse_invisible(text: str, what: str = "text") -> None:
    """Raise RefusedText where a text, called `what`, holds an invisible character."""
    if found := first_invisible(text):
        where = f" in line {found[0]}" if "\n" in text else ""
        raise RefusedText(f"the {what} holds {name_invisible(text)}{where}; take it out")


def show_invisible(line: str) -> str:
    r"""Return one line with each character that a reader cannot see as an escape such as `\u200b`."""
    return _with_escapes(line, _escape)


def show_text(text: str) -> str:
    """Return a text of several lines, each as `show_invisible` returns it. What an agent is told passes here."""
    return text if text.isascii() and text.isprintable() else "\n".join(map(show_invisible, text.split("\n")))


def show_in_json(text: str) -> str:
    r"""Return a JSON text that says the same, with escapes for what a reader cannot see."""
    return "\n".join(_with_escapes(line, _json_escape) for line in text.split("\n"))


def _with_escapes(line: str, escape: "Callable[[str], str]") -> str:
    while places := _hidden_places(line):
        parts: list[str] = []
        done = 0
        for position in places:
            parts += [line[done:position], escape(line[position])]
            done = position + 1
        line = "".join([*parts, line[done:]])
    return line


def _hidden_places(line: str) -> list[int]:
    if line.isprintable() and (line.isascii() or (_SUSPECTS.isdisjoint(line) and max(line) < _FIRST_HIGH_SELECTOR)):
        return []
    from .characters import flag_tags, is_hidden

    flagged = flag_tags(line)
    return [
        position
        for position, character in enumerate(line)
        if position not in flagged
        and is_hidden(line[position - 1] if position else "", character, line[position + 1 : position + 2])
    ]


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _break_markers(line: str) -> str:
    parts: list[str] = []
    done = 0
    for position, character in enumerate(line):
        if character in _ANGLES:
            if _looks_like_marker(line[position + 1 : position + 48]):
                parts += [line[done:position], "&lt;"]
                done = position + 1
        elif character == "[" and line[position : position + 7].startswith(_BRACKETED):
            parts += [line[done:position], "&#91;"]
            done = position + 1
    return "".join([*parts, line[done:]]) if parts else line


def _after_slashes(text: str) -> str:
    """Return what follows the slashes and blanks, of whatever width, that may be between an angle and a name."""
    text = text.lstrip(_SLASHES)
    while text[:1].isspace():
        text = text.lstrip().lstrip(_SLASHES)
    return text


def _looks_like_marker(text: str) -> bool:
    """Say whether what follows an opening angle makes it a marker of ours or of a chat template."""
    name = _after_slashes(text)[:_LONGEST_MARKER]
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFKC", text).translate(_LATIN)
        name = _after_slashes(name)[:_LONGEST_MARKER]
    name = name.lower()
    if name.startswith(("|", "<sys", "antml:", "tool\u2581")):
        return True
    for tag in _TAG_NAMES.get(name[:1], ()):
        if name.startswith(tag):
            following = name[len(tag) : len(tag) + 1]
            if not following or not (following.isalnum() or following in "_-"):
                return True
    return False
