"""Footnotes: what a text refers to by name and says elsewhere in its document goes with it where it goes alone.

`Retries are on [^s]` with `[^s]: Staging only` is `Retries are on (Staging only)`; `[the guide][g]` gets its address.
"""

import re
from bisect import bisect_right
from itertools import accumulate, count

from .links import visible_lines
from .markdown import footnote_name, marker_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LINK = re.compile(r" {0,3}\[([^\]\[^][^\]\[]*)\]:[ \t]*(?:<([^<>]*)>|(\S+))(?:[ \t]+[\"'(].*)?[ \t]*$")
_REFERENCE = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|^[ \t>]*\[\^[^\]\s]+\]:"  # begins a definition
    r"|(?P<gap>[ \t]*)\[\^(?P<note>[^\]\s]+)\]"
    r"|(?<![\]!\\])\[(?P<text>[^\]\[^][^\]\[]*)\](?:\[(?P<link>[^\]\[]*)\])?(?![:(\[])",
    re.DOTALL | re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t>]*(?P<sign>`{3,}|~{3,}).*?(?:^[ \t>]*(?P=sign)|\Z)", re.DOTALL | re.MULTILINE)
_ENDS = (".", "\u3002")
_OTHERS = "#>|=<"  # What begins a line that does not go on with a footnote


class _Definition:
    """What a footnote says, or where a reference link leads, and the lines that say it."""

    __slots__ = ("lines", "name", "said")

    def __init__(self, name: str, said: str, line: int) -> None:
        self.name = name
        self.said = said
        self.lines = [line]


def _read(lines: "Sequence[str]") -> list[_Definition]:
    if not any("]:" in line for line in lines):
        return []
    found: list[_Definition] = []
    is_open = after_blank = False
    for number, line in enumerate(visible_lines("\n".join(lines))):
        text = line.strip(" \t")
        if not text:
            after_blank = True
        elif note := footnote_name(line):
            found.append(_Definition(f"^{note}", text.partition("]:")[2].strip(" \t"), number))
            is_open, after_blank = True, False
        elif link := _LINK.match(line):
            found.append(_Definition(_key(link[1]), link[2] or link[3], number))
            is_open = False
        elif is_open and (line[:1] in (" ", "\t") if after_blank else _goes_on(text)):
            found[-1].said = f"{found[-1].said} {text}".strip()
            found[-1].lines.append(number)
            after_blank = False
        else:
            is_open = False
    return found


def _goes_on(text: str) -> bool:
    return not marker_width(text) and text[0] not in _OTHERS


def definitions(lines: "Sequence[str]") -> dict[str, str]:
    """Return what the footnotes of a document say, by `^name`, and where its reference links lead, by their names."""
    return {one.name: one.said for one in reversed(_read(lines))}  # the first of a name counts


def folded(lines: "Sequence[str]") -> list[str]:
    """Return the lines of a text with what it defines and refers to in the place of the reference."""
    found = _read(lines)
    gone = {number for one in found for number in one.lines}
    left = "\n".join(line for number, line in enumerate(lines) if number not in gone)
    known = {one.name: one.said for one in reversed(found)}
    if not found or any(_spelled(left, {name: said}) == left for name, said in known.items()):
        return [*lines]  # What nothing refers to stays as it is.
    return _spelled(left, known).rstrip("\n").split("\n")


def with_addresses(lines: "Sequence[str]") -> list[str]:
    """Return the lines of a text with the address in each reference link, and without the lines that defined it."""
    found = [one for one in _read(lines) if one.name[0] != "^"]
    if not found:
        return [*lines]
    referred = _REFERENCE.finditer(_FENCE.sub("", "\n".join(lines)))
    names = {_key(one["link"] or one["text"]) for one in referred if one["text"]}
    known = {one.name: one.said for one in reversed(found) if one.name in names}
    gone = {number for one in found if one.name in known for number in one.lines}
    kept: list[str] = []
    for number, line in enumerate(lines):
        is_doubled = number - 1 in gone and not line.strip() and not (kept and kept[-1].strip())
        if number not in gone and not is_doubled:
            kept.append(line)
    return _spelled("\n".join(kept), known).split("\n")


def apart(lines: "Sequence[str]", known: "Sequence[str]", before: "Sequence[str]" = ()) -> list[str]:
    """Return the lines of a text with other names for what another text defines otherwise, and its links in full.

    What both have from `before` keeps its name.
    """
    own, others, old = definitions(lines), definitions(known), definitions(before)
    clashing = {name: said for name, said in own.items() if name not in old and others.get(name, said) != said}
    if not clashing:
        return [*lines]
    new = {}
    for name in clashing:
        numbered = (f"{name}-{number}" for number in count(2))
        free = (one for one in numbered if one not in own and others.get(one, own[name]) == own[name])
        new[name] = next(free) if name[0] == "^" else name
    links = {name: said for name, said in clashing.items() if name[0] != "^"}
    changed = []
    for number, line in enumerate(visible_lines("\n".join(lines))):
        text = line and _spelled(line, links)
        for name, other in new.items():
            text = text.replace(f"[{name}]", f"[{other}]") if name[0] == "^" else text
        changed.append(text if line else lines[number])
    gone = {number for one in _read(changed) if one.name in links for number in one.lines}
    return [line for number, line in enumerate(changed) if number not in gone]


def spelled_out(text: str, known: "Mapping[str, str]") -> str:
    """Return a text with each footnote in the place of its sign, and each reference link with its address."""
    if not known or "[" not in text:
        return text
    return _spelled(text, known, frozenset(f"^{name}" for line in text.split("\n") if (name := footnote_name(line))))


def _spelled(text: str, known: "Mapping[str, str]", within: frozenset[str] = frozenset()) -> str:
    """Put what is known in the places of the references to it, but for the footnotes that the text is `within`."""

    def put(found: re.Match[str]) -> str:
        if found["note"]:
            name = f"^{found['note']}"
            said = "" if name in within else known.get(name, "")
            said = _spelled(said, known, within | {name}).strip(" \t").removesuffix(_ENDS[0]).removesuffix(_ENDS[1])
            gap = "" if found.start() == 0 or text[: found.end("gap")].endswith(("(", "\n")) else " "
            return f"{gap}({said})" if said else found[0]
        if found["text"]:
            address = known.get(_key(found["link"] or found["text"]), "")
            return f"[{found['text']}]({address})" if address else found[0]
        return found[0]

    pieces = []
    done = 0
    for fence in _FENCE.finditer(text):
        pieces += [_REFERENCE.sub(put, text[done : fence.start()]), fence[0]]
        done = fence.end()
    return "".join([*pieces, _REFERENCE.sub(put, text[done:])])


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def names_in(lines: "Iterable[str]") -> set[str]:
    """Return the footnotes that lines refer to."""
    text = "\n".join(lines)
    return {found["note"] for found in _REFERENCE.finditer(text) if found["note"]} if "[^" in text else set()


def places_of(lines: "Sequence[str]") -> dict[str, list[int]]:
    """Return the lines that refer to each footnote, by its name."""
    text, starts = "\n".join(lines), [0, *accumulate(len(line) + 1 for line in lines)]
    found: dict[str, list[int]] = {}
    for one in _REFERENCE.finditer(text) if "[^" in text else ():
        if one["note"]:
            found.setdefault(one["note"], []).append(bisect_right(starts, one.start("note")) - 1)
    return found


def defined_in(lines: "Iterable[str]") -> set[str]:
    """Return the footnotes that lines define."""
    return {name for line in lines if (name := footnote_name(line))}
