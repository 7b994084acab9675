"""A note: one fact in one file, read as it exists in the wild and written so that everybody reads it back the same.

Headers come nested or flat, with unknown keys and broken YAML; they are read line by line and values are text
(decision 28).
"""

from collections.abc import Sequence

from ..errors import InvalidArgument, RefusedText
from ..limits import split_lines
from ..text import headers, markdown, visible
from ..text.headers import Header
from ..values import dataclass, once

TYPES = ("user", "feedback", "project", "reference")
REQUIRED_IN_FULL = ("feedback", "project")
"""Types whose notes must have a Why and a How; in the other two a missing one is a warning (decision 28)."""

LARGE_BYTES = 2_000  # A note is a few hundred bytes; from this size on it is probably more than one fact

WHY = "**Why:**"
HOW = "**How to apply:**"

_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Head:
    """What an index line is made from: the values of a note's header, and the first heading of its body."""

    name: str = ""
    description: str = ""
    type: str = ""
    heading: str = ""
    is_conflicted: bool = False  # whether a merge has left two headers, of which nobody has chosen one


@dataclass(frozen=True)
class Note:
    """A note as it is on disk; what is in it is read when it is first asked for."""

    file: str
    text: str

    @once
    def lines(self) -> list[str]:
        """Its lines without endings."""
        return split_lines(self.text)

    @once
    def header(self) -> Header | None:
        """The header as it is; None if it is missing or unreadable."""
        return None if self._is_conflicted else headers.read_header(self.lines)

    @once
    def head(self) -> Head:
        """The values of its header that count."""
        return _CONFLICTED if self._is_conflicted else _head(self.header, self.body)

    @once
    def body(self) -> tuple[str, ...]:
        """The lines after the header."""
        return tuple(self.lines[self.body_line - 1 :])

    @property
    def body_line(self) -> int:
        """The line of the file, from 1, that the body begins at."""
        return 1 + (self.header.lines if self.header else 0)

    @once
    def why(self) -> int | None:
        """The index in `body` of the line that begins with the Why; None if it is missing."""
        return self._labelled(WHY)

    @once
    def how(self) -> int | None:
        """The index in `body` of the line that begins with the How; None if it is missing."""
        return self._labelled(HOW)

    @property
    def after(self) -> int | None:
        """The index in `body` of a heading after the How, where something else begins; None if nothing does."""
        last = max((place for place in (self.why, self.how) if place is not None), default=None)
        behind = () if last is None else range(last + 1, len(self.body))
        return next((number for number in behind if _is_heading(self.body[number])), None)

    @property
    def stem(self) -> str:
        """The file name without `.md`."""
        return self.file[:-3]

    @property
    def fact(self) -> str:
        """What is before the Why: the fact itself."""
        ends = [place for place in (self.why, self.how) if place is not None]
        return "\n".join(self.body[: min(ends, default=len(self.body))]).strip()

    @property
    def title(self) -> str:
        """What an index line calls it."""
        return title_of(self.file, self.head)

    @once
    def _is_conflicted(self) -> bool:
        return "<<<<<<<" in self.text and _conflicts(self.lines)

    def _labelled(self, label: str) -> int | None:
        return next((number for number, line in enumerate(self.body) if line.lstrip(" ").startswith(label)), None)


def parse(text: str, file: str) -> Note:
    """Read a note. Never raises on what is in it."""
    return Note(file, text)


def read_head(text: str) -> Head | None:
    """Read the head of a note from its first lines; None if they are too few to hold the whole header.

    Most headers are plain `key: value` lines, which are read at once: an index is built from thousands.
    """
    if "<<<<<<<" in text and _conflicts(text.split("\n")):
        return _CONFLICTED
    if not text.startswith("---\n"):
        if text.startswith("---"):
            header = headers.split_header(text)
            return None if header is None else _head(header, split_lines(text)[header.lines :])
        return _head(None, text.split("\n"))
    end = text.find("\n---", 3)
    if end < 0:
        return None
    block = text[4:end]
    if not _is_plain(block):
        return _head(headers.split_header(text), text[end + 4 :].split("\n"))
    values = {}
    for line in block.split("\n"):
        key, _, value = line.partition(":")
        values[key.strip(" ")] = value.strip(" \t\r")
    if values.get("name", "") and values.get("description", ""):
        return Head(values["name"], values["description"], values.get("type", ""))
    return _head(headers.split_header(text), text[end + 4 :].split("\n"))


def _conflicts(lines: list[str]) -> bool:
    """Say whether a merge has left a conflict that begins in the header of a note, or around it."""
    start = next((number for number, line in enumerate(lines) if line.startswith("<<<<<<< ")), len(lines))
    fences = [number for number, line in enumerate(lines) if line == "---"]
    is_early = not "".join(lines[:start]).strip() or (fences[:1] == [0] and start < (fences[1:2] or [len(lines)])[0])
    return is_early and start < len(lines)


def _is_plain(block: str) -> bool:
    """Say whether a header holds nothing that the quick reading would get wrong. Asked often, so it is written out."""
    quoted = '"' in block or "'" in block or "|" in block or ">" in block or "[" in block or "{" in block
    marked = ": &" in block or ": *" in block or ": !" in block
    if "\n " in block and any(line[:1] in " \t" and ":" not in line for line in block.split("\n")):
        return False  # a value that goes on in the next line
    return not (quoted or marked or " #" in block or "\n- " in block or "\r" in block)


def title_of(file: str, head: Head) -> str:
    """Return what an index line calls a note: its name's words, else its first heading, else its file (decision 29)."""
    name = head.name or head.heading
    if not name:
        name = file[:-3]
    if head.name or not head.heading:
        for prefix in TYPES:
            if name.startswith((f"{prefix}_", f"{prefix}-")):
                name = name[len(prefix) + 1 :]
        if " " not in name:
            name = name.replace("-", " ").replace("_", " ").strip()
    return name[:1].upper() + name[1:]


def file_name(note_type: str, slug: str) -> str:
    """Return the file of a new note, `feedback_market-before-machinery.md`, or refuse its type or slug."""
    if note_type not in TYPES:
        raise InvalidArgument(f"{note_type!r} is not a type of note; the types are {', '.join(TYPES)}")
    slug = slug.removesuffix(".md").removeprefix(f"{note_type}_")
    name = slug.lower().replace(" ", "-")
    if not name or name[0] in "-_." or set(name) - _NAME_CHARACTERS or len(name) > _LONGEST_NAME or ".." in name:
        raise InvalidArgument(f"{slug[:60]!r} cannot be a note's name; use letters, digits, '-' and '_'")
    return f"{note_type}_{name}.md"


def render(note_type: str, file: str, description: str, *, why: str, how: str, body: str = "") -> str:
    """Return the text of a new note. Strict YAML reads the same strings back from its header."""
    parts = {"description": description, "Why": why, "How to apply": how}
    for what, text in parts.items():
        if not text.strip():
            raise RefusedText(f"the {what} is empty; a note without it is misapplied or ignored")
    for what, text in {**parts, "body": body}.items():
        visible.refuse_invisible(text, what)
    description = " ".join(description.split())
    fact = body.strip() or description
    return (
        f"---\nname: {quoted(file[:-3])}\ndescription: {quoted(description)}\nmetadata:\n  type: {note_type}\n---\n\n"
        f"{_own_lines(fact)}\n\n{WHY} {_own_lines(why.strip())}\n\n{HOW} {_own_lines(how.strip())}\n"
    )


def merged(into: str, others: Sequence[Note]) -> str:
    """Return the text of a note with the facts, Whys and Hows of others added to its own. Its header stays as it is."""
    if "\r\n" in into:
        return merged(into.replace("\r\n", "\n"), others).replace("\n", "\r\n")
    note = parse(into, "")
    lines = split_lines(into)
    start = note.body_line - 1
    facts = [other.fact for other in others if other.fact and other.fact != note.fact]
    whys = [text for other in others if (text := part(other, other.why)) and text != part(note, note.why)]
    hows = [text for other in others if (text := part(other, other.how)) and text != part(note, note.how)]
    if note.why is None or note.how is None or note.how < note.why:
        # Without the usual order there is no place for each part, so the parts follow at the end, each with its label.
        parts = [*facts, *_labelled(WHY, whys), *_labelled(HOW, hows)]
        return into.rstrip() + "\n" + "".join(f"\n{text}\n" for text in parts)
    pieces = [
        (start + note.why, facts),
        (start + note.how, whys),
        (len(lines), hows),
    ]
    for end, texts in reversed(pieces):
        position = end
        while position > start and not lines[position - 1].strip():
            position -= 1
        added = [line for text in texts for line in ["", *split_lines(text)]]
        following = [""] if added and position < len(lines) and lines[position].strip() else []
        lines[position:position] = [*added, *following]
    return "\n".join(lines).rstrip("\n") + "\n"


def _labelled(label: str, texts: Sequence[str]) -> list[str]:
    return [f"{label} {texts[0]}", *texts[1:]] if texts else []


def part(note: Note, start: int | None) -> str:
    """Return the text after a note's Why or How, up to the other one or the end."""
    if start is None:
        return ""
    ends = [place for place in (note.why, note.how) if place is not None and place > start]
    lines = list(note.body[start : min(ends, default=len(note.body))])
    lines[0] = lines[0].lstrip(" ").removeprefix(WHY).removeprefix(HOW).strip()
    return "\n".join(lines).strip()


def quoted(text: str) -> str:
    """Return a text as a YAML scalar: plain where every reader takes it for the same string, else in double quotes."""
    safe_start = text[:1].isalpha() and text.isprintable()
    looks_special = text.lower() in _YAML_WORDS or ": " in text or " #" in text or text.endswith((":", " "))
    if safe_start and not looks_special and not set(text) & _YAML_SIGNS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_YAML_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"])
_YAML_SIGNS = frozenset("\"'`{}[]&*!|>%@#\\")


def _own_lines(text: str) -> str:
    """Return a text whose lines cannot be taken for the note's own Why, How, header or headings."""
    lines = []
    for line in split_lines(text):
        bare = line.lstrip(" \t")
        is_sign = bare.startswith((WHY, HOW)) or (bare and markdown.heading_level(bare)) or line.rstrip() == "---"
        lines.append(f"\\{bare}" if is_sign else line.rstrip(" \t"))
    return "\n".join(lines)


_CONFLICTED = Head(is_conflicted=True)


def _head(header: Header | None, body: Sequence[str]) -> Head:
    heading = next((markdown.heading_text(line) for line in body if _is_heading(line)), "")
    if header is None:
        return Head(heading=heading)
    declared = header.get("metadata", "type") or header.get("type") or ""
    return Head(header.get("name") or "", header.get("description") or "", declared, heading)


def _is_heading(line: str) -> bool:
    return line.startswith("#") and markdown.heading_level(line) > 0
