"""Code with the texts that it puts together: `'.scaf' + 'folding'` becomes `'.scaffolding'`.

A few rules, tried again until none changes anything, with a bound: texts that are added, joined, formatted, cut or
replaced, letters by their numbers, names of such texts. Texts that hide memory's name (Base64, hexadecimal, backwards,
ROT13, lists of numbers) become what they hide, however the code decodes them. Nothing is run.
"""

import re
from codecs import encode

from .texts import filtered, unescaped
from .words import is_guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_CODE = 1 << 16
_MOST_ROUNDS = 30
_MOST_NAMES = 100
_LONGEST_VALUE = 1 << 9
_LEAST_HIDDEN = 8
_DEEPEST = 3  # of texts that are hidden in hidden texts
_OPEN, _CLOSE = "\ud805", "\ud806"  # around a text that is read; no code has them, as with `ANY`
_QUOTED = re.compile(  # also one that is never closed, so that each is looked at once
    r"""(\b[rR]?[fFbBuU]?[rR]?)?(?:"((?:[^"\\\n]|\\.)*)("?)|'((?:[^'\\\n]|\\.)*)('?)|`((?:[^`\\]|\\[\s\S])*)(`?))"""
    r"""|\bq[qw]?(?:\(([^()\n]*)\)|\{([^{}\n]*)\}|/([^/\n]*)/)"""
)
_T = f"{_OPEN}([^{_OPEN}{_CLOSE}]*){_CLOSE}"
_ANY_T = f"{_OPEN}[^{_OPEN}{_CLOSE}]*{_CLOSE}"
_LIST = rf"{_ANY_T}(?:\s*,\s*{_ANY_T})*\s*,?"
_ASSIGNED = re.compile(
    rf"(?:(?<=[;,\n{{(])|^|\b(?:const|let|var|my|our)\s)\s*([$@]?[A-Za-z_]\w*)\s*(\+|\.)?=\s*"
    rf"({_ANY_T}|[\[({{]\s*{_LIST}\s*[\])}}])(?=\s*(?:[;,\n}}]|$))"
)
_NUMBERS = re.compile(r"(?:\b(?:0x[0-9a-fA-F]{2}|\d{2,3})\s*,\s*){4,}(?:0x[0-9a-fA-F]{2}|\d{2,3})\b")


def folded(code: str, depth: int = 0) -> str:
    """Return code with its texts put together, each in single quotes again."""
    code = _QUOTED.sub(_read, code[:_MOST_CODE]) + code[_MOST_CODE:]
    code = _NUMBERS.sub(_lettered, code)
    for _ in range(_MOST_ROUNDS):
        before = code
        code = _with_names(code)
        for pattern, change in _RULES:
            code = pattern.sub(change, code)
        if code == before or len(code) > 2 * _MOST_CODE:
            break
    code = _ASSIGNED.sub(lambda one: one[0][: one.start(1) - one.start()], code)
    code = re.sub(_T, lambda one: f"{_OPEN}{_shown(one[1], depth)}{_CLOSE}", code)
    return re.sub(_T, lambda one: f'"{one[1]}"' if "'" in one[1] else f"'{one[1]}'", code)


def _read(found: "re.Match[str]") -> str:
    """Return a text as it is meant: without its quotes, its escapes read."""
    start, *given = found.groups()
    inside = next((index for index, one in enumerate(given) if one is not None), 0)
    said = given[inside] or ""
    if inside < 6 and not given[inside + 1]:
        return found[0]
    said = said if "r" in (start or "").lower() else re.sub(r"\\N\{FULL STOP\}", ".", unescaped(said))
    if found[0].startswith("qw"):
        return ", ".join(f"{_OPEN}{word}{_CLOSE}" for word in said.split())
    return f"{_OPEN}{said}{_CLOSE}" if "\n" not in said or inside == 4 else found[0]


def _lettered(found: "re.Match[str]") -> str:
    """Return the text that a list of numbers spells, where it is one of memory."""
    numbers = [int(one, 0) for one in re.split(r"\s*,\s*", found[0]) if not re.match(r"0\d", one)]
    said = "".join(chr(one) for one in numbers if 9 <= one < 127)
    return f"{_OPEN}{said}{_CLOSE}" if is_guarded(said) else found[0]


def _shown(text: str, depth: int) -> str:
    """Return what a text hides, where that names memory, or is code that does; else the text."""
    if len(text) < _LEAST_HIDDEN or is_guarded(text):
        return text
    decoded = [filtered("base64", ["-d"], text), filtered("xxd", ["-r", "-p"], text), filtered("base32", ["-d"], text)]
    decoded = [one for one in decoded if one != text and one.translate({9: None, 10: None}).isprintable()]
    inside = [folded(one, depth + 1) for one in decoded] if depth < _DEEPEST else []
    return next(filter(is_guarded, (text[::-1], encode(text, "rot13"), *inside)), text)


def _with_names(code: str) -> str:
    """Put the texts of names in their places, also inside other texts: `f'{a}b'`, `"$a$b"`."""
    values: dict[str, str] = {}
    for name, adds, value in _ASSIGNED.findall(code)[:_MOST_NAMES]:
        whole = f"{values[name]} + {value}" if adds and name in values else value
        if len(whole) <= _LONGEST_VALUE:
            values[name] = whole
    if not values:
        return code
    either = "|".join(sorted(map(re.escape, values), key=len, reverse=True))
    inside = {name: "".join(re.findall(_T, value)) for name, value in values.items() if value[0] == _OPEN}
    code = re.sub(rf"[$#]?\{{({either})\}}", lambda one: inside.get(one[1], one[0]), code)
    dollars = "|".join(re.escape(name) for name in values if name[0] == "$")
    if dollars:
        code = re.sub(
            _T, lambda one: re.sub(rf"(?:{dollars})\b", lambda name: inside.get(name[0], name[0]), one[0]), code
        )
    names = re.compile(rf"{_ANY_T}|(?<![\w.$@'\"/])({either})(?![\w'\"/]|\s*[+.]?=[^=]|\s*\()")
    return names.sub(lambda one: values[one[1]] if one[1] else one[0], code)


def _texts(said: str) -> list[str]:
    return re.findall(_T, said)


def _text(said: str) -> str:
    return f"{_OPEN}{said}{_CLOSE}"


def _cut(found: "re.Match[str]") -> str:
    start, end, step = (int(one) if one else None for one in (found[2], found[3], found[4]))
    return _text(found[1][slice(start, end, step)] if step != 0 else found[1])


def _formatted(found: "re.Match[str]") -> str:
    """Return a text with others in the places of `%s` or `{}`."""
    said = found[1]
    for one in _texts(found[2]):
        said = re.sub(r"%s|\{\w*\}", lambda _: one, said, count=1)  # noqa: B023
    return _text(said)


def _in_letters(found: "re.Match[str]") -> str:
    numbers = [int(one, 0) for one in re.split(r"\s*,\s*", found[1])]
    return _text("".join(chr(one) for one in numbers if 9 <= one < 127))


def _rules(
    *rules: "tuple[str, Callable[[re.Match[str]], str]]",
) -> "list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]":
    return [(re.compile(pattern), change) for pattern, change in rules]


_RULES = _rules(
    (rf"{_T}\s*(?:\+|\.\.?)?\s*{_T}", lambda one: _text(one[1] + one[2])),
    (
        r"\b(?:chr|fromCharCode|fromCodePoint)\(((?:0x[0-9a-fA-F]{1,2}|[1-9]\d{0,2})(?:\s*,\s*(?:0x[0-9a-fA-F]{1,2}|[1-9]\d{0,2}))*)\)",
        _in_letters,
    ),
    (rf"{_T}\.join\(\s*[\[({{]\s*({_LIST})\s*[\])}}]\s*\)", lambda one: _text(one[1].join(_texts(one[2])))),
    (rf"[\[(]\s*({_LIST})\s*[\])]\.join\(\s*{_T}\s*\)", lambda one: _text(one[2].join(_texts(one[1])))),
    (rf"(?<!\.)\bjoin[\s(]+{_T}\s*,\s*({_LIST})\)?", lambda one: _text(one[1].join(_texts(one[2])))),
    (rf"(?<=[\w)])\.join\(\s*({_LIST})\s*\)", lambda one: f"({_text('/'.join(_texts(one[1])))})"),
    (
        rf"\b(?:Path|PurePath)\(\s*({_LIST})\s*\)\s*/\s*{_T}",
        lambda one: f"Path({_text('/'.join([*_texts(one[1]), one[2]]))})",
    ),
    (rf"{_T}\.concat\(\s*({_LIST})\s*\)", lambda one: _text(one[1] + "".join(_texts(one[2])))),
    (
        rf"{_T}\.replace(?:All)?\(\s*{_T}\s*,\s*{_T}\s*\)",
        lambda one: _text(one[1].replace(one[2], one[3]) if one[2] else one[1]),
    ),
    (rf"{_T}\[(-?\d*):(-?\d*):?(-?\d*)\]", _cut),
    (rf"{_T}\.(?:slice|substring)\(\s*(-?\d+)\s*(?:,\s*(-?\d+))?()\s*\)", _cut),
    (rf"{_T}\s*%\s*\(?\s*({_LIST})\)?", _formatted),
    (rf"{_T}\.format\(\s*({_LIST})\s*\)", _formatted),
    (rf"{_T}\.(?:lower|upper|strip|toLowerCase|toUpperCase|trim|toString)\(\)", lambda one: _text(one[1])),
    (rf"(?<![\w\])}}])\(\s*{_T}\s*\)", lambda one: _text(one[1])),
)
