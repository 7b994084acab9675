r"""Make text safe to quote in a prompt: what a reader cannot see is removed or shown, look-alike markers are escaped.

Recalled memory is data that others wrote (docs/protocol.md, decision 27). Text that a reviewer of the rendered page
cannot see is not injected (decision 16). Invisible and control characters become visible escapes such as `\u200b`, but
for those that an emoji or a script needs in that place: any other is a channel for what nobody reviews. What could pass
for the block's own markers, or for a chat template's, is broken with an escape that people still read.
"""

from itertools import pairwise

KEEPER = "<!-- -->"
"""An empty comment. It hides nothing: it keeps what is above it apart from what is below it."""

_INVISIBLE_BUT_PRINTABLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159"  # joiners, fillers, blanks
)
_SELECTORS = "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
_EMOJI_SELECTORS = "\ufe0e\ufe0f"
_HIGH_SELECTORS = ("\U000e0100", "\U000e01ef")
_LAST_OF_HAN = "\U000e011f"
"""The last selector that the Ideographic Variation Database gives a Han character; what encodes letters is above."""
_UNASSIGNED = ((0x2065, 0x2065), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF))
"""What Unicode shows as nothing, and `unicodedata` does not know as a format character.

With those named above, and the categories that `_is_hidden` asks for, these are all 4,174 of the property
Default_Ignorable_Code_Point (DerivedCoreProperties.txt, Unicode 14 to 16).
"""
_JOINERS = "\u200c\u200d"
_WIDE_BLANKS = "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""What a reader sees as a blank, though Python does not count it as printable."""
_SUSPECTS = frozenset(_INVISIBLE_BUT_PRINTABLE + _SELECTORS + _JOINERS)
"""What may be nothing to see, and is looked for by name. The selectors with high numbers are too many for that."""

_ANGLES = "<\uff1c\ufe64\u2039\u2329\u27e8\u3008\u02c2\u1438"

_ASCII = bytes(range(0x80))
_TELLING = b"\n #[]:INST<uU"
_COMMON = bytes(set(b"\t\r" + bytes(range(0x20, 0x7F))).difference(_TELLING))
"""The bytes that tell nothing. Blanks and line ends stay, so that what was apart does not look adjacent."""

_HIDING = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_LIST_MARKS = " \t>-+*0123456789.)"
"""What may come before a block in its line: the marks of lists and quotes."""

_VISIBLE_FORMAT = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Characters of the format category that have a shape of their own."""

_EMOJI = frozenset(
    "©®‼⁉™ℹ↔↕↖↗↘↙↩↪⌚⌛⌨⏏⏩⏪⏫⏬⏭⏮⏯⏰⏱⏲⏳⏸⏹⏺Ⓜ▪▫▶◀◻◼◽◾☀☁☂☃☄☎☑☔☕☘☝☠☢☣☦☪☮☯☸☹☺♀♂♈♉♊♋♌♍♎♏♐♑♒♓♟♠♣♥♦♨♻♾♿⚒⚓⚔⚕⚖⚗⚙⚛⚜⚠⚡⚧⚪⚫"
    "⚰⚱⚽⚾⛄⛅⛈⛎⛏⛑⛓⛔⛩⛪⛰⛱⛲⛳⛴⛵⛷⛸⛹⛺⛽✂✅✈✉✊✋✌✍✏✒✔✖✝✡✨✳✴❄❇❌❎❓❔❕❗❣❤➕➖➗➡➰➿⤴⤵⬅⬆⬇⬛⬜⭐⭕〰〽㊗㊙"
)
"""The emoji below U+1F000, the digits of keycaps aside (emoji-data.txt)."""
_EMOJI_BLOCKS = ("\U0001f000", "\U0001faff")
_VIRAMA = 9
"""The combining class of the sign that joins consonants, in every script that has one."""
_KEYCAP = "\u20e3"
_BLACK_FLAG = "\U0001f3f4"
_TAGS = "".join(map(chr, (*range(0xE0030, 0xE003A), *range(0xE0061, 0xE007B))))
"""What spells the region of a flag behind a black one; the tag that ends it follows."""
_LAST_TAG = "\U000e007f"

_HAN = ((0x3007, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_CURSIVE_SCRIPTS = (
    (0x0600, 0x08FF),  # Arabic, Syriac, Thaana, N'Ko
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0xA840, 0xA87F),  # Phags-pa
    (0x10AC0, 0x10FFF),  # Manichaean, Rohingya, Sogdian
    (0x1E900, 0x1E95F),  # Adlam
)
"""Where joiners shape letters by themselves. In the scripts of India they do so at a virama."""
_MONGOLIAN = ((0x1820, 0x18AA),)
_MONGOLIAN_SELECTORS = "\u180b\u180c\u180d\u180e\u180f"
_VARIED = {
    "\ufe00": ((0x30, 0x30), (0x1000, 0x109F), (0xA840, 0xA877), (0xAA60, 0xAA7F), (0x10AC0, 0x10AFF)),
    "\ufe06": ((0x13000, 0x1345F),),
}
"""What else has forms up to this selector: the zero, Myanmar, Phags-pa, Manichaean; hieroglyphs; and mathematics."""
_MATHEMATICS = "\u2200"
"""The signs that have a second form come behind it."""

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
_SLASHES = " \t/\\\u2044\u2215"
"""What may be between the angle and the name, with blanks."""
_LONGEST_MARKER = 20
"""The names, and the character that ends them, are shorter."""
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
    """Return where each comment is, line end included, if each is alone on its line; None if a parser must tell.

    Those that are empty are left out.

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
        if line.startswith("[") or "[" not in line.replace("\\[", ""):
            return True
        position = text.find("]:", position + 1)
    return False


def blank_hidden(text: str) -> str:
    """Return a text with all that may be hidden blanked out, in code too: for a piece that does not tell what is code.

    Line ends stay, so lines keep their numbers.
    """
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
    """Say whether any line of a text needs `escape_line`; `rare` is what `rare_bytes` gave for it, or for more.

    A quick test of the whole: most memory files need none, and then recall does not look at their lines.
    """
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
        for known in _WIDE_BLANKS + _JOINERS:
            characters = characters.replace(known, "")
    if not characters.isprintable():
        found += [one for one in set(characters) if not one.isprintable()]
    return found


def _hides(text: str, character: str) -> bool:
    """Say whether this character is hidden anywhere in a text. Each kind of surroundings is looked at once."""
    around = {(before[-1:], after[:1]) for before, after in pairwise(text.split(character))}
    return any(_is_hidden(before, character, after) for before, after in around)


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
    r"""Return the line (from 1) and the escape of the first character in `text` that a reader cannot see.

    Line ends, tabs and the joiners that emoji and scripts need are no such characters.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        places = _hidden_places(line)
        if places:
            return number, _escape(line[places[0]])
    return None


def show_invisible(line: str) -> str:
    r"""Return one line with each character that a reader cannot see as an escape such as `\u200b`."""
    while places := _hidden_places(line):
        parts: list[str] = []
        done = 0
        for position in places:
            parts += [line[done:position], _escape(line[position])]
            done = position + 1
        line = "".join([*parts, line[done:]])
    return line


def _hidden_places(line: str) -> list[int]:
    if line.isprintable() and (line.isascii() or (_SUSPECTS.isdisjoint(line) and max(line) < _HIGH_SELECTORS[0])):
        return []
    flagged = _flag_tags(line) if _BLACK_FLAG in line else ()
    return [
        position
        for position, character in enumerate(line)
        if position not in flagged
        and _is_hidden(line[position - 1] if position else "", character, line[position + 1 : position + 2])
    ]


def _flag_tags(line: str) -> set[int]:
    """Return where the tags are that make a black flag that of a region, such as Scotland: up to six, and the last."""
    found: set[int] = set()
    start = line.find(_BLACK_FLAG) + 1
    while start:
        end = start
        while end < len(line) and line[end] in _TAGS:
            end += 1
        if 3 <= end - start <= 6 and line.startswith(_LAST_TAG, end):
            found.update(range(start, end + 1))
        start = line.find(_BLACK_FLAG, end) + 1
    return found


def _is_hidden(before: str, character: str, after: str) -> bool:
    """Say whether a reader does not see this character between these two; "" is the end of the line."""
    if character.isascii():
        return not character.isprintable() and character != "\t"
    if character in _MONGOLIAN_SELECTORS:
        return not _is_within(before, _MONGOLIAN)
    if character in _INVISIBLE_BUT_PRINTABLE:
        return True
    if character in _SELECTORS or _HIGH_SELECTORS[0] <= character <= _HIGH_SELECTORS[1]:
        return not _takes_selector(before, character, after)
    if character.isprintable():
        return False
    from unicodedata import category

    kind = category(character)
    if kind == "Cn":  # not known yet, but for what never will be
        return _is_within(character, _UNASSIGNED) or ord(character) & 0xFFFE == 0xFFFE
    if kind not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp") or character in _VISIBLE_FORMAT:
        return False
    return not (character in _JOINERS and _joins(before, after, character))


def _takes_selector(before: str, selector: str, after: str) -> bool:
    """Say whether a variation selector after this character chooses a form of it, as in emoji and Han characters."""
    if selector in _EMOJI_SELECTORS:
        return _is_emoji(before) or (before != "" and before in "0123456789#*" and after == _KEYCAP)
    if _is_within(before, _HAN):
        return selector <= "\ufe02" or _HIGH_SELECTORS[0] <= selector <= _LAST_OF_HAN
    if any(selector <= last and _is_within(before, ranges) for last, ranges in _VARIED.items()):
        return True
    if not before or selector > "\ufe01":
        return False
    from unicodedata import category

    is_sign = selector == "\ufe00" and before >= _MATHEMATICS and category(before) == "Sm"
    return is_sign or before in "、。，．：；！？"


def _joins(before: str, after: str, joiner: str) -> bool:
    """Say whether a joiner between these two characters is one that emoji or a script needs."""
    if joiner == "\u200d" and _is_emoji(after) and (before == _EMOJI_SELECTORS[1] or _is_emoji(before)):
        return True
    if before in _JOINERS or (after and after in _JOINERS):
        return False
    from unicodedata import combining

    if before and combining(before) == _VIRAMA:
        return True
    if before.isalpha() and not before.isascii() and after and combining(after) == _VIRAMA:
        return True
    if _is_cursive(before):
        return _is_cursive(after) or (joiner == "\u200d" and not after.isalpha())
    return joiner == "\u200d" and not before.isalpha() and _is_cursive(after)


def _is_cursive(character: str) -> bool:
    """Say whether this is a letter of a script whose letters join, or a mark on one; not its digits and commas."""
    if not _is_within(character, _CURSIVE_SCRIPTS):
        return False
    from unicodedata import category

    return category(character)[0] in "LM"


def _is_emoji(character: str) -> bool:
    return character in _EMOJI or _EMOJI_BLOCKS[0] <= character <= _EMOJI_BLOCKS[1]


def _is_within(character: str, ranges: "tuple[tuple[int, int], ...]") -> bool:
    return character != "" and any(low <= ord(character) <= high for low, high in ranges)


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
