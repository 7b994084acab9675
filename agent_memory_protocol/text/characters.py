"""Which characters a reader does not see: emoji and scripts need some of them between two others, and only there.

`visible` loads this where a text holds such a character. Most texts hold none.
"""

from unicodedata import category, combining

_INVISIBLE_BUT_PRINTABLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159"  # joiners, fillers, blanks
)
_SELECTORS = "\ufe00\ufe01\ufe02\ufe03\ufe04\ufe05\ufe06\ufe07\ufe08\ufe09\ufe0a\ufe0b\ufe0c\ufe0d\ufe0e\ufe0f"
_HIGH_SELECTORS = ("\U000e0100", "\U000e01ef")
_JOINERS = "\u200c\u200d"
_BLACK_FLAG = "\U0001f3f4"

_EMOJI_SELECTORS = "\ufe0e\ufe0f"
_LAST_OF_HAN = "\U000e011f"
"""The last selector that the Ideographic Variation Database gives a Han character; what encodes letters is above."""
_UNASSIGNED = ((0x2065, 0x2065), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF))
"""What Unicode shows as nothing, and `unicodedata` does not know as a format character.

With those named above, and the categories that `is_hidden` asks for, these are all 4,174 of the property
Default_Ignorable_Code_Point (DerivedCoreProperties.txt, Unicode 14 to 16).
"""
_VISIBLE_FORMAT = frozenset(
    ("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
    + "".join(map(chr, range(0x13430, 0x13440)))
)
"""Characters of the format category that have a shape of their own, or arrange hieroglyphs."""

_EMOJI = frozenset(
    "©®‼⁉™ℹ↔↕↖↗↘↙↩↪⌚⌛⌨⏏⏩⏪⏫⏬⏭⏮⏯⏰⏱⏲⏳⏸⏹⏺Ⓜ▪▫▶◀◻◼◽◾☀☁☂☃☄☎☑☔☕☘☝☠☢☣☦☪☮☯☸☹☺♀♂♈♉♊♋♌♍♎♏♐♑♒♓♟♠♣♥♦♨♻♾♿⚒⚓⚔⚕⚖⚗⚙⚛⚜⚠⚡⚧⚪⚫"
    "⚰⚱⚽⚾⛄⛅⛈⛎⛏⛑⛓⛔⛩⛪⛰⛱⛲⛳⛴⛵⛷⛸⛹⛺⛽✂✅✈✉✊✋✌✍✏✒✔✖✝✡✨✳✴❄❇❌❎❓❔❕❗❣❤➕➖➗➡➰➿⤴⤵⬅⬆⬇⬛⬜⭐⭕〰〽㊗㊙"
)
"""The emoji below U+1F000, the digits of keycaps aside (emoji-data.txt)."""
_EMOJI_BLOCKS = ("\U0001f000", "\U0001faff")
_VIRAMA = 9  # The combining class of the sign that joins consonants, in every script that has one
_KEYCAP = "\u20e3"
_FLAGS = tuple(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls", "ustx")
)
"""The tags behind a black flag that fonts draw as another flag. Any others would show as nothing."""
_JOINED = frozenset(
    "♀♂⚕⚖✈❤⚧☠❄⬛➡↔↕🌈🌾🍳🍼🎄🎓🎤🎨🏫🏭👦👧👨👩💋💻💼🔧🔬🚀🚒🔥🩹🤝🦯🦰🦱🦲🦳🦼🦽🦺🧑🧒💥🟩🟫💨💫🌫🗨🫲🩰"
)
"""What an emoji may be joined to (emoji-zwj-sequences.txt). Between two others a joiner shows as nothing."""

_HAN = ((0x3007, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_CURSIVE_SCRIPTS = (
    (0x0600, 0x08FF),  # Arabic, Syriac, Thaana, N'Ko
    (0x1780, 0x18AF),  # Khmer, Mongolian
    (0xA840, 0xA87F),  # Phags-pa
    (0x10AC0, 0x10FFF),  # Manichaean, Rohingya, Sogdian
    (0x1E900, 0x1E95F),  # Adlam
)
"""Where joiners shape letters by themselves. In the scripts of India they do so at a virama."""
_ARABIC = ((0x0600, 0x08FF),)
_SPACE_OF_NO_WIDTH = "\u200b"
_WITHOUT_SPACES = (
    ((0x0E00, 0x0E7F),),  # Thai
    ((0x0E80, 0x0EFF),),  # Lao
    ((0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)),  # Burmese
    ((0x1780, 0x17FF),),  # Khmer
)
"""Scripts that write no space between words, and need a mark there to break a line."""
_HANGUL_FIRST = ((0x1100, 0x115E), (0xA960, 0xA97C))
_HANGUL_MIDDLE = ((0x1161, 0x11A7), (0xD7B0, 0xD7C6))
_MONGOLIAN = ((0x1820, 0x18AA),)
_MONGOLIAN_SELECTORS = "\u180b\u180c\u180d\u180e\u180f"
_VARIED = {
    "\ufe00": ((0x30, 0x30), (0x1000, 0x109F), (0xA840, 0xA877), (0xAA60, 0xAA7F), (0x10AC0, 0x10AFF)),
    "\ufe06": ((0x13000, 0x1345F),),
}
"""What else has forms up to this selector: the zero, Myanmar, Phags-pa, Manichaean; hieroglyphs; and mathematics."""
_MATHEMATICS = "\u2200"  # The signs that have a second form come behind it


def flag_tags(line: str) -> set[int]:
    """Return where the tags are that make a black flag that of a region, such as Scotland."""
    found: set[int] = set()
    start = line.find(_BLACK_FLAG) + 1
    while start:
        found.update(*(range(start, start + len(tags)) for tags in _FLAGS if line.startswith(tags, start)))
        start = line.find(_BLACK_FLAG, start) + 1
    return found


def is_hidden(before: str, character: str, after: str) -> bool:
    """Say whether a reader does not see this character between these two; "" is the end of the line."""
    if character.isascii():
        return not character.isprintable() and character != "\t"
    if character in _MONGOLIAN_SELECTORS:
        return not _is_within(before, _MONGOLIAN)
    if character == "\u034f" and before and after:
        return not (combining(before) and combining(after))  # it keeps marks in their order, as in Hebrew
    if character in "\u115f\u1160":  # they hold the place of a letter in an old Korean syllable
        return not (_is_within(after, _HANGUL_MIDDLE) if character == "\u115f" else _is_within(before, _HANGUL_FIRST))
    if character in _INVISIBLE_BUT_PRINTABLE:
        return True
    if character == _SPACE_OF_NO_WIDTH:
        return not any(_is_within(before, script) and _begins_word(after, script) for script in _WITHOUT_SPACES)
    if character in _SELECTORS or _HIGH_SELECTORS[0] <= character <= _HIGH_SELECTORS[1]:
        return not _takes_selector(before, character, after)
    if character.isprintable():
        return False
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
    is_sign = selector == "\ufe00" and before >= _MATHEMATICS and category(before) == "Sm"
    return is_sign or before in "、。，．：；！？"


def _joins(before: str, after: str, joiner: str) -> bool:
    """Say whether a joiner between these two characters is one that emoji or a script needs."""
    if joiner == "\u200d" and after in _JOINED and (before == _EMOJI_SELECTORS[1] or _is_emoji(before)):
        return True
    if (before and before in _JOINERS) or (after and after in _JOINERS):
        return False
    if before and combining(before) == _VIRAMA:
        return True
    if before.isalpha() and not before.isascii() and after and combining(after) == _VIRAMA:
        return True
    if joiner == "\u200d" and all(_is_within(one, _ARABIC) and one.isalpha() for one in (before, after)):
        return False  # such letters join by themselves
    if _is_cursive(before):
        return _is_cursive(after) or (joiner == "\u200d" and not after.isalpha())
    if joiner == "\u200c":  # a word or number and its Persian ending: `API` and `ها`
        return before.isalnum() and _is_cursive(after)
    return not before.isalpha() and _is_cursive(after)


def _is_cursive(character: str) -> bool:
    """Say whether this is a letter of a script whose letters join, or a mark on one; not its digits and commas."""
    if not _is_within(character, _CURSIVE_SCRIPTS):
        return False
    return category(character)[0] in "LM"


def _begins_word(character: str, script: "tuple[tuple[int, int], ...]") -> bool:
    return _is_within(character, script) and category(character)[0] in "LN"


def _is_emoji(character: str) -> bool:
    return character in _EMOJI or _EMOJI_BLOCKS[0] <= character <= _EMOJI_BLOCKS[1]


def _is_within(character: str, ranges: "tuple[tuple[int, int], ...]") -> bool:
    return character != "" and any(low <= ord(character) <= high for low, high in ranges)
