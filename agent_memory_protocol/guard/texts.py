"""Texts that a shell makes of others: by escapes, by `${…}`, by `printf`, and by the filters that hide a name.

Pure functions with bounds. What one of them cannot tell, it leaves as it is.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST = 1 << 12
_PERCENT = "\ud807"  # `%%`; no text has it
_LETTERS = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))
_NUMBERS = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}
_LOWER, _UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CLASSES = {"[:upper:]": _UPPER, "[:lower:]": _LOWER, "[:digit:]": "0123456789", "[:space:]": " \t\n\r\v\f"}


def unescaped(text: str) -> str:
    r"""Return what escapes mean: `\x2e`, `\056`, `\u002e`, `\n`. One that means nothing stays."""
    found, at = [], 0
    while (mark := text.find("\\", at)) >= 0:
        kind = text[mark + 1 : mark + 2]
        base, most = _NUMBERS.get(kind, (8, 3))
        start = end = mark + (2 if base == 16 else 1)
        while (
            end < start + most
            and text[end : end + 1]
            and text[end] in "0123456789abcdefABCDEF"[: 22 if base == 16 else 8]
        ):
            end += 1
        code = int(text[start:end], base) if end > start else 0x110000
        said = _LETTERS.get(kind, "\\" + kind) if end == start else chr(code) if code < 0x110000 else ""
        found += [text[at:mark], said]
        at = end if end > start else mark + 2
    return "".join([*found, text[at:]])


def echoed(words: list[str]) -> str:
    """Return what `echo` prints of its words."""
    start = next((index for index, one in enumerate(words) if one[:1] != "-" or one.strip("-neE")), len(words))
    options, said = "".join(words[:start]), " ".join(words[start:])
    said = unescaped(said.replace("\\0", "\\")) if "e" in options else said.replace("\\n", "\n")
    return said + ("" if "n" in options else "\n")


def formatted(words: list[str]) -> str:
    """Return what `printf` prints of a format and its words: the format again and again, while there are words."""
    form, given = unescaped("".join(words[:1]).replace("%%", _PERCENT)), words[1:]
    form, *fields = form.split("%")
    found = [form]
    while len(found) < _LONGEST:
        for field in fields:
            end = next((index for index, one in enumerate(field) if one.isalpha()), len(field))
            said = given.pop(0) if given else ""
            said = unescaped(said.replace("\\0", "\\")) if field[end : end + 1] == "b" else said
            found += [said[:1] if field[end : end + 1] == "c" else said, field[end + 1 :]]
        if not given or not fields:
            break
        found.append(form)
    return "".join(found).replace(_PERCENT, "%")


def effort(value: str, operands: list[str]) -> int:
    """Return how many steps `expanded` may take at most."""
    pattern = "".join(operands)
    return int(len(value) ** (1 + pattern.count("*"))) * (1 + _is_glob(pattern))


def expanded(value: str, mark: str, operands: list[str]) -> str:
    """Return what `${x…}` makes of a value, by the mark behind the name and the words behind that."""
    first, second = (*operands, "", "")[:2]
    if mark == "@":
        return {"E": unescaped, "U": str.upper, "L": str.lower}.get(first, str)(value)
    if mark[:1] in "^,":
        change = str.upper if mark[0] == "^" else str.lower
        return change(value) if mark[1:] else change(value[:1]) + value[1:]
    if mark == ":":
        start, length = _number(first, 0), _number(second, len(value))
        return value[start:][:length] if start is not None and length is not None else value
    if mark[0] in "#%":
        return _without(value, first, at_end=mark[0] == "%", longest=bool(mark[1:]))
    if mark[1:] in ("#", "%"):  # `/#` and `/%`: at the start, at the end
        left = _without(value, first, at_end=mark[1:] == "%", longest=True)
        return value if left == value else second + left if mark[1:] == "#" else left + second
    most = -1 if mark == "//" else 1
    if not _is_glob(first):
        return value.replace(first, second, most) if first else value
    import re

    return re.sub(_regex(first), lambda _: second, value, count=max(most, 0))


def _number(text: str, default: int) -> int | None:
    text = text.strip(" ()")
    return int(text) if text.lstrip("-").isdigit() and len(text) < 9 else None if text else default


def _without(value: str, pattern: str, *, at_end: bool, longest: bool) -> str:
    """Take out what a pattern fits at one end."""
    if not _is_glob(pattern):
        return value.removesuffix(pattern) if at_end else value.removeprefix(pattern)
    import re

    fits = re.compile(_regex(pattern), re.DOTALL).fullmatch
    sizes = range(len(value) + 1)
    for size in reversed(sizes) if longest else sizes:
        if fits(value[len(value) - size :] if at_end else value[:size]):
            return value[: len(value) - size] if at_end else value[size:]
    return value


def _is_glob(pattern: str) -> bool:
    return any(mark in pattern for mark in "*?[")


def _regex(pattern: str) -> str:
    """Return a pattern of a shell as one of `re`; a bracket that is not closed is itself."""
    import re

    parts = re.split(r"(\*|\?|\[[!^]?[^]\[\\]+\])", pattern)
    kinds = {"*": ".*", "?": "."}
    return "".join(
        kinds.get(part) or (part.replace("[!", "[^", 1) if part[:1] == "[" and part[-1:] == "]" else re.escape(part))
        for part in parts
    )


def filtered(name: str, words: list[str], text: str) -> str:
    """Return what a filter prints of a text: as it is, unless the filter is one that is known here."""
    filter_ = _FILTERS.get(name)
    try:
        return filter_(words, text) if filter_ else text
    except (ValueError, LookupError):
        return text


def _decoded_64(words: list[str], text: str) -> str:
    if {"-d", "-D", "-di", "--decode"}.isdisjoint(words) or "--base32" in words or "--base16" in words:
        return text
    import binascii

    text = text.replace("-", "+").replace("_", "/")
    return binascii.a2b_base64(text + "=" * (-len("".join(text.split())) % 4)).decode()


def _decoded_32(words: list[str], text: str) -> str:
    if {"-d", "-di", "--decode"}.isdisjoint(words):
        return text
    import base64

    return base64.b32decode("".join(text.split())).decode()


def _decoded_16(words: list[str], text: str) -> str:
    options = "".join(word for word in words if word[:1] == "-")
    if "r" not in options:
        return text
    if "p" not in options:  # lines with their place in front, and their text behind
        text = "".join(line.partition(": ")[2].partition("  ")[0] for line in text.split("\n"))
    return bytes.fromhex("".join(text.split())).decode()


def _reversed(_: list[str], text: str) -> str:
    return "\n".join(line[::-1] for line in text.split("\n"))


def _translated(words: list[str], text: str) -> str:
    """Return what `tr` makes of a text."""
    options = "".join(word for word in words if word[:1] == "-" and word[1:])
    before, after = (*[_letters(word) for word in words if word[:1] != "-" or not word[1:]], "", "")[:2]
    if "c" in options or "C" in options:
        return text
    if "d" in options or not after:
        return text.translate(dict.fromkeys(map(ord, before))) if "d" in options else text
    return text.translate(
        {ord(one): after[min(index, len(after) - 1)] for index, one in reversed([*enumerate(before)])}
    )


def _letters(said: str) -> str:
    """Return the letters that a set of `tr` holds: ranges, classes and escapes are written out."""
    said = unescaped(said)
    for name, letters in _CLASSES.items():
        said = said.replace(name, letters)
    found, index = "", 0
    while index < len(said) and len(found) < _LONGEST:
        is_range = said[index + 1 : index + 2] == "-" and index + 2 < len(said)
        last = said[index + 2] if is_range else said[index]
        found += "".join(map(chr, range(ord(said[index]), min(ord(last), ord(said[index]) + 256) + 1)))
        index += 3 if is_range else 1
    return found


def _replaced(words: list[str], text: str) -> str:
    """Return what `sed` makes of a text by `s/…/…/` with plain words; another program leaves it as it is."""
    rules = [word for word in words if word[:1] != "-"]
    for rule in map(str.strip, ";".join(rules).split(";")):
        mark = rule[1:2]
        _, old, new, flags = rule.split(mark) if mark and rule.count(mark) == 3 else ("", "", "", "")
        old, new = old.replace("\\.", "\0"), new.replace("\\", "")
        if rule[0] == "s" and old and not any(one in old for one in ".*[^$\\"):
            old = old.replace("\0", ".")
            text = "\n".join(line.replace(old, new, -1 if "g" in flags else 1) for line in text.split("\n"))
    return text


def _cut_out(words: list[str], text: str) -> str:
    """Return the letters of each line that `cut -c` chooses, or the beginning that `head -c` lets through."""
    chosen = next(
        filter(
            None,
            (
                word[2:] or "".join(words[index + 1 : index + 2])
                for index, word in enumerate(words)
                if word[:2] in ("-c", "-b")
            ),
        ),
        "",
    )
    first, dash, last = chosen.partition("-")
    start, end = int(first or 1) - 1, int(last or 1 << 20) if dash else int(first)
    return "\n".join(line[start:end] for line in text.split("\n"))


def _begun(words: list[str], text: str) -> str:
    said = "".join(words)
    return text[: int(said.removeprefix("-c"))] if said[:2] == "-c" else text


def _opened(words: list[str], text: str) -> str:
    return _decoded_64(words, text) if {"base64", "-base64", "-a"} & {*words} else text


_FILTERS: "dict[str, Callable[[list[str], str], str]]" = {
    "base32": _decoded_32,
    "base64": _decoded_64,
    "basenc": _decoded_64,
    "cut": _cut_out,
    "head": _begun,
    "openssl": _opened,
    "rev": _reversed,
    "sed": _replaced,
    "tr": _translated,
    "xxd": _decoded_16,
}
