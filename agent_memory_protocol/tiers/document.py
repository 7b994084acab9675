"""Tier documents: read them, name their entries, and find places in them without touching the rest of the file.

The text a person wrote is never re-rendered. An edit replaces the lines of one entry and leaves every other byte
alone, so a diff shows exactly what changed (decision 21).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import is_
from unicodedata import normalize

from ..disk import files
from ..errors import DamagedFile, InvalidArgument, Refused, RefusedText
from ..layout import Target
from ..limits import same_lines, split_lines, split_lines_with_ends
from ..text import dates, footnotes, headers, labels, markdown, markers, marks, visible
from ..text.digest import blake2b
from ..text.labels import BELOW
from ..text.over_lists import is_label
from ..values import dataclass, once, told
from . import entries, reread
from .compose import NewEntry
from .entries import Entry, Heading, IndexLine, Outline

Section = str | Sequence[str]
"""The name of a section, the last part of it is enough; or all headings it is under and its own, without the title."""
IsElsewhere = Callable[[Sequence[str]], bool]
_LONGEST_SECTION = 120
_LONGEST_LABEL = 1_000
_SHORT = 1000
_KEPT_BYTES = 256 * 1024
_KEPT_TARGETS = 16
"""The last two texts of so many documents, of so many bytes at most, are kept as they were read."""


@dataclass(frozen=True)
class Document:
    """A tier document as it is on disk; what is in it is read when it is first asked for.

    Attributes:
        bom: its byte-order mark, or nothing.
        raw: its lines, each with the ending it has; joined after the mark they are the file.
    """

    target: Target
    bom: bytes
    raw: tuple[str, ...]

    @once
    def lines(self) -> list[str]:
        """Its lines without endings."""
        return [line.rstrip("\r\n") for line in self.raw]

    @once
    def begin(self) -> int:
        """How many lines the front matter takes."""
        return headers.front_matter_end(self.lines)

    @once
    def outline(self) -> Outline:
        """Its entries and headings."""
        return _outline(self.lines, self.begin, may_conflict=markers.CONFLICT in self.data)

    @once
    def ids(self) -> tuple[str, ...]:
        """The id of each entry, in the order of `outline.entries`."""
        return _ids(self.lines, self.outline, self.target)

    @once
    def data(self) -> bytes:
        """The file's bytes."""
        return self.bom + "".join(self.raw).encode()

    @property
    def line_count(self) -> int:
        """The lines of the file, header and blanks included (decision 12)."""
        return len(self.raw)

    @property
    def newline(self) -> str:
        """The line ending that most lines have."""
        endings = [line[len(text) :] for line, text in zip(self.raw, self.lines, strict=True)]
        return max(("\n", "\r\n", "\r"), key=endings.count)

    @property
    def by_id(self) -> list[tuple[str, Entry]]:
        """Each entry with its id, in file order."""
        return list(zip(self.ids, self.outline.entries, strict=True))

    def entry(self, entry_id: str) -> Entry | None:
        """Return the entry with that id, or None."""
        number = self.number(entry_id)
        return None if number is None else self.outline.entries[number]

    def number(self, entry_id: str) -> int | None:
        """Return which entry has that id, from 0, or None."""
        return self._numbers.get(entry_id)

    @once
    def _numbers(self) -> dict[str, int]:
        return {one: number for number, one in enumerate(self.ids)}

    def text(self, entry: Entry) -> str:
        """Return an entry's Markdown, lines joined with newlines."""
        return "\n".join(self.lines[entry.start : entry.end])

    def said(self, entry: Entry) -> str:
        """Return the same with what it refers to elsewhere in the document: footnotes, and where links lead."""
        return self.spelled_out(self.text(entry))

    def as_item(self, entry: Entry) -> str:
        """Return the same with its label in the place of its bullet."""
        return self.spelled_out(labels.in_front_of_item(self.label(entry), self.text(entry)))

    def spelled_out(self, text: str) -> str:
        """Return a text of the document with the footnotes and the links that it refers to."""
        if "[" not in text:
            return text
        return footnotes.spelled_out(text, self._definitions)

    @once
    def _definitions(self) -> dict[str, str]:
        return footnotes.definitions(self.lines)

    def is_footnote(self, entry: Entry) -> bool:
        """Say whether an entry is a footnote that goes with the entries which refer to it."""
        if entry.is_item or not (name := markdown.footnote_name(self.lines[entry.start])):
            return False
        return any(not entry.start <= line < entry.end for line in self._references.get(name, ()))

    @once
    def _references(self) -> dict[str, list[int]]:
        return footnotes.places_of(self.lines)

    def label(self, entry: Entry | IndexLine) -> str:
        """Return the text of the label that governs an entry, "" if none does."""
        return self.outline.labels[entry.label].text if entry.label is not None else ""

    def section(self, entry: Entry) -> str:
        """Return the text of the heading an entry is under, "" without one."""
        return self.outline.headings[entry.headings[-1]].text if entry.headings else ""

    def sections(self, entry: Entry | IndexLine | Heading) -> tuple[str, ...]:
        """Return the texts of the headings that something is under, outermost first, without the title of the file."""
        above = entry.above if isinstance(entry, Heading) else entry.headings
        headings = [self.outline.headings[index] for index in above]
        return tuple(heading.text for heading in headings if heading is not self.outline.title)

    def alone(self, entry: Entry) -> str:
        """Return what an entry says where it goes alone: no marker, date or indentation, and its label in front."""
        return self.spelled_out(self._alone(entry))

    def _alone(self, entry: Entry) -> str:
        if entry.items > 1:
            text = self.text(entry).lstrip(" ")
            shift = len(self.lines[entry.start]) - len(self.lines[entry.start].lstrip(" "))
        else:
            text, shift = identity_text(self.lines, entry), entry.column if entry.is_item else 0
            if "\n" not in text:
                return labels.in_front(self.label(entry), text.rstrip(" \t"))
        first, *rest = text.split("\n")
        rest = [line[shift:] if not line[:shift].strip() else line.lstrip() for line in rest]
        loose = "\n".join(line.rstrip(" \t") for line in (first, *rest)).strip("\n")
        return labels.in_front(self.label(entry), loose)


def parse(data: bytes, target: Target) -> Document:
    """Read a document; `Document.data` gives the same bytes. Raises DamagedFile if they are not UTF-8 text.

    What was read last is kept, and of a text that begins as one of those only the rest is read.
    """
    name = target, target.owner  # equal targets may differ in how their owners are spelled
    lately = _kept.pop(name, ())
    known = next((one for one in lately if one.data == data), None)
    if known is None:
        known = _Kept(data, _read_after(lately, data, target) or read_whole(data, target))
    if len(data) <= _KEPT_BYTES:
        _kept[name] = (known, *[one for one in lately if one is not known][:1])
    for one in [*_kept][:-_KEPT_TARGETS]:
        _kept.pop(one, None)
    return known.document


class _Kept:
    """A document that was read lately, and its file."""

    __slots__ = ("data", "document")

    def __init__(self, data: bytes, document: Document) -> None:
        self.data = data
        self.document = document


_kept: dict[tuple[Target, str], tuple[_Kept, ...]] = {}


def _read_after(lately: tuple[_Kept, ...], data: bytes, target: Target) -> Document | None:
    """Read a document from where it differs from the nearest of those that were read; None if that cannot be done."""
    near = max(lately, key=lambda one: same_lines(one.data, data), default=None)
    found = None if near is None else reread.after(near.data, near.document, data)
    if near is None or found is None:
        return None
    old, (raw, lines, outline) = near.document, found
    ids = _ids(lines, outline, target, old)
    return told(Document(target, old.bom, raw), lines=lines, begin=old.begin, outline=outline, ids=ids)


def read_whole(data: bytes, target: Target) -> Document:
    """Read a document from its first byte to its last, and keep nothing of it; raises as `parse`."""
    raw = split_lines_with_ends(files.decode(data, target.path))
    return told(Document(target, files.split_bom(data)[0], tuple(raw)), data=data)


def outline_of(text: str) -> Outline:
    """Return the outline of a document's text, its line endings all newlines."""
    lines = split_lines(text)
    return _outline(lines, headers.front_matter_end(lines), may_conflict="<<<<<<<" in text)


def _outline(lines: list[str], begin: int, *, may_conflict: bool) -> Outline:
    """Return what is in the lines of a document; of a merge conflict, the entries of both sides and no marker."""
    found = entries.read(lines, begin)
    apart = {*markers.conflict_lines(lines, found.blocks)} if may_conflict else None
    return entries.read(["" if at in apart else line for at, line in enumerate(lines)], begin) if apart else found


def entry_id(text: str, target: Target) -> str:
    """Return the id of an entry with this text, its marker and date mark taken off: 12 hex digits."""
    return _id(text, target.key)


def _id(text: str, key: str) -> str:
    return _short_id(text, key) if len(text) < _SHORT else _digest(text, key)


@lru_cache(maxsize=1024)
def _short_id(text: str, key: str) -> str:
    """Return the id, which is asked for again: a write reads its document before and after it."""
    return _digest(text, key)


def _digest(text: str, key: str) -> str:
    folded = " ".join((text if text.isascii() else normalize("NFC", text)).split())
    return blake2b(f"{key}\n{folded}".encode()).hexdigest()[:12]


def plain_id(one: str) -> str:
    """Return an entry's id without the number that tells it from equal entries before it."""
    return one.partition("-")[0]


def parse_new(new: NewEntry, target: Target) -> Document:
    """Return a document with a new entry alone."""
    return read_whole("\n".join(own_lines(new)).encode(), target)


def id_of_new(new: NewEntry, target: Target) -> str:
    """Return the id an entry would have once it is written."""
    document = parse_new(new, target)
    return document.ids[0] if document.ids else ""


def _nowhere(_headings: Sequence[str]) -> bool:
    return False


def standing(document: Document, entry_id: str, label: str, is_elsewhere: IsElsewhere = _nowhere) -> Entry | None:
    """Return the entry that says what one of this id would say under this label; None if no entry does.

    The id is made from the text alone, and one text says different things under different labels. Entries
    under headings of which `is_elsewhere` says so are passed over.
    """
    wanted = labels.key(label)
    for one, entry in document.by_id:
        is_same = plain_id(one) == entry_id and labels.key(document.label(entry)) == wanted
        if is_same and not is_elsewhere(document.sections(entry)):
            return entry
    return None


def standing_alone(document: Document, text: str, label: str, is_elsewhere: IsElsewhere = _nowhere) -> Entry | None:
    """Return the entry that says with its label in front what a text says, or the other way round.

    `Never: push` is what `push` under `Never:` is called where it goes alone, so agents write both.
    """
    said = entry_id(labels.in_front(label, text), document.target)
    for entry in document.outline.entries:
        has_label = entry.label is not None
        is_same = has_label != bool(label) and entry_id(document.alone(entry), document.target) == said
        if is_same and not is_elsewhere(document.sections(entry)):
            return entry
    return None


def bare_text(text: str) -> str:
    """Return what an entry says, from its Markdown: its text without marker and date mark."""
    lines = split_lines(text)
    found = outline_of(text).entries
    return identity_text(lines, found[0]) if len(found) == 1 else text


def identity_text(lines: Sequence[str], entry: Entry) -> str:
    """Return what an entry's id is made from: its text without marker and date mark, so that neither changes the id."""
    paragraph = entry.paragraph
    taken = paragraph.count("\n") + 1 if paragraph else 0
    paragraph = marks.bare(paragraph, entry.marks)
    rest = lines[entry.start + taken : entry.end]
    if not taken:
        rest = [lines[entry.start][entry.column :], *lines[entry.start + 1 : entry.end]]
    elif not rest:
        return paragraph
    return "\n".join([paragraph, *rest])


def find_sections(document: Document, section: Section) -> list[Heading]:
    """Return the headings of that name. Case, Unicode form and trailing `#tags` do not matter."""
    headings = document.outline.headings
    if isinstance(section, str):
        wanted = section_key(section)
        named = [heading for heading in headings if section_key(heading.text) == wanted]
        return named if named or BELOW not in section else find_sections(document, path_of(section))
    if not section:
        return headings[:1]
    path = [*map(section_key, section)]

    def leads_here(index: int) -> bool:
        chain = (*headings[index].above, index)
        keys = [section_key(headings[one].text) for one in chain]
        return path in (keys, keys[1:] if chain[0] == 0 else keys)

    return [heading for index, heading in enumerate(headings) if leads_here(index)]


def path_of(section: Section) -> tuple[str, ...]:
    """Return the headings that the name of a section says, outermost first."""
    parts = section.split(BELOW) if isinstance(section, str) else section
    return tuple(part.strip().lstrip("#").strip() for part in parts)


def section_span(document: Document, section: Section) -> tuple[int, int]:
    """Return the lines, end exclusive, of the last section with that name. Raises InvalidArgument if it is missing."""
    found = find_sections(document, section)
    if not found:
        names = ", ".join(repr(heading.text) for heading in document.outline.headings) or "none"
        raise InvalidArgument(f"{document.target.path} has no section {section!r}; it has {names}")
    return found[-1].start, end_of_section(document, found[-1])


def end_of_section(document: Document, heading: Heading) -> int:
    """Return the line after a heading's section with all below it."""
    later = (one.start for one in document.outline.headings if one.start > heading.start and one.level <= heading.level)
    return min(later, default=len(document.lines))


def check_section_name(section: Section) -> None:
    """Refuse what cannot be a heading's text: nothing, more than a line, or what a reader would not see."""
    for text in path_of(section):
        if not text or len(text) > _LONGEST_SECTION or len(text.splitlines()) > 1 or visible.first_invisible(text):
            raise RefusedText(f"{section[:60]!r} cannot be a section's name; give one line of plain text")


def check_label(label: str) -> str:
    """Return a label as a missing one is written. Raises RefusedText if it cannot be the label above a list."""
    line = label.strip()
    written = line if is_label(line) else f"{line}:"
    is_line = len(line.splitlines()) == 1 and len(line) <= _LONGEST_LABEL and any(map(str.isalnum, line))
    if is_line and not visible.first_invisible(line):
        found = outline_of(f"{written}\n\n- x")
        if [one.label for one in found.entries] == [0] and found.labels[0].text == written:
            return written
    raise RefusedText(f"{label[:60]!r} cannot be a label; give one line with one sentence, such as 'Never'")


def redate(document: Document, entry: Entry, day: int) -> Document:
    """Move an entry's own date mark to another day, in the spelling it has. An entry without one stays as it is."""
    mark = entry.mark
    if mark is None:
        return document
    text = f"[{dates.day_text(day)}]" if mark.bracketed else dates.day_text(day)
    number, start, end = mark_span(document, entry, mark)
    raw = list(document.raw)
    raw[number] = raw[number][:start] + text + raw[number][end:]
    changed = rebuilt(document, raw)
    if changed.ids != document.ids:
        raise Refused(f"{document.target.path}:{number + 1}: the date cannot be changed here; edit the line by hand")
    return changed


def with_date(document: Document, entry: Entry, day: int) -> Document:
    """Give an entry this date of its own. Raises Refused if a date in front of it would change what it says."""
    if entry.mark is not None:
        return redate(document, entry, day)
    raw = list(document.raw)
    line = raw[entry.start]
    raw[entry.start] = f"{line[: entry.column]}[{dates.day_text(day)}] {line[entry.column :]}"
    changed = rebuilt(document, raw)
    now = changed.entry(document.ids[document.outline.entries.index(entry)]) if changed.ids == document.ids else None
    # What begins with no paragraph, such as a fence or a table, would be none behind a date.
    is_footnote = document.is_footnote(entry)
    if is_footnote or not entry.paragraph or now is None or now.mark is None or now.mark.day != day:
        raise Refused(f"{document.target.path}:{entry.start + 1}: it cannot be dated here; edit the line by hand")
    return changed


def with_date_line(document: Document, entry: Entry, day: int) -> Document:
    """Give the entry that dates its section another day there, and with it what it dates."""
    raw = list(document.raw)
    line = raw[entry.start]
    at = line.index(":") + 1
    at += dates.dates_in(line[at:])[0][0]
    raw[entry.start] = line[:at] + dates.day_text(day) + line[at + 10 :]
    return rebuilt(document, raw)


def mark_span(document: Document, entry: Entry, mark: marks.Mark) -> tuple[int, int, int]:
    """Return where the date mark of an entry is in its document: the line, from 0, and its begin and end there."""
    before = entry.paragraph[: mark.start]
    number = entry.start + before.count("\n")
    line = document.lines[number]
    indent = entry.column if number == entry.start else len(line) - len(line.lstrip(" \t"))
    start = indent + len(before) - (before.rfind("\n") + 1)
    return number, start, start + mark.end - mark.start


def conflict_line(document: Document) -> int | None:
    """Return the line, from 1, where merge conflict markers begin; None without any."""
    return markers.conflict_line(document.lines)


def merged_again(document: Document) -> str:
    """Name the commands that merge a document with conflict markers once more, entry by entry."""
    return f"`amp install git`, then `git checkout -m {document.target.path}`"


def check_writable(document: Document) -> None:
    """Refuse to rewrite what is damaged: it has merge conflict markers or NUL bytes. DamagedFile names the line."""
    conflict = conflict_line(document)
    if conflict is not None:
        told = f"unresolved merge conflict; resolve it first, by hand or by entries: {merged_again(document)}"
        raise DamagedFile(told, path=document.target.path, line=conflict)
    number = next((number for number, line in enumerate(document.lines, start=1) if "\0" in line), None)
    if number is not None:
        raise DamagedFile("holds a NUL character; take it out first", path=document.target.path, line=number)


def _ids(lines: list[str], outline: Outline, target: Target, old: Document | None = None) -> tuple[str, ...]:
    """Return the id of each entry. Those that an older outline has too are known from there."""
    key = target.key
    known = 0 if old is None else sum(map(is_, old.outline.entries, outline.entries))
    plain = [plain_id(one) for one in (old.ids[:known] if old else ())]
    plain += [_id(identity_text(lines, entry), key) for entry in outline.entries[len(plain) :]]
    if len({*plain}) == len(plain):
        return tuple(plain)
    ids = list(plain)
    seen: dict[str, int] = {}
    governing = [key_of_label(outline, entry) for entry in outline.entries]
    # Equal texts are told apart by their labels first, so that none has another id because one of them has moved.
    for number in sorted(range(len(plain)), key=lambda number: (governing[number], number)):
        seen[plain[number]] = count = seen.get(plain[number], 0) + 1
        ids[number] = plain[number] if count == 1 else f"{plain[number]}-{count}"
    return tuple(ids)


def key_of_label(outline: Outline, entry: Entry | IndexLine) -> str:
    """Return what two spellings of an entry's label have in common, "" if no label governs it."""
    return "" if entry.label is None else labels.key(outline.labels[entry.label].text)


def section_key(text: str) -> str:
    """Return what two headings of one section have in common."""
    words = normalize("NFC", text.strip().lstrip("#")).casefold().split()
    while len(words) > 1 and words[-1].startswith("#"):
        words.pop()
    return " ".join(words)


def after_heading(document: Document, heading: Heading) -> int:
    """Return the line after a heading and the comments right under it."""
    position = heading.end
    for block in document.outline.blocks:
        if block.start >= position:
            if block.kind != markdown.COMMENT:
                break
            position = block.end
    return position


def item_lines(new: NewEntry, marker: str, indent: str) -> list[str]:
    """Return the lines of a new entry as a list item; a numbered list needs no marker where it is given none."""
    if not marker:
        return [indent + line if line else "" for line in new.lines]
    hang = indent + " " * (len(marker) + 1)
    return [f"{indent}{marker} {new.lines[0]}", *(hang + line if line else "" for line in new.lines[1:])]


def own_lines(new: NewEntry) -> list[str]:
    """Return the lines of a new entry as they are where nothing is around it."""
    return item_lines(new, "" if new.is_steps else "-", "")


def with_block(document: Document, start: int, end: int, block: Sequence[str]) -> Document:
    """Return the document with other lines in the place of some, or between two."""
    # A file may mix line endings: those next to the block are its own.
    own = document.raw[start:end] or document.raw[max(0, start - 1) : start]
    newline = own[0][len(own[0].rstrip("\r\n")) :] if own else ""
    newline = newline or document.newline
    before, after = list(document.raw[:start]), list(document.raw[end:])
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += newline
    return rebuilt(document, [*before, *(line + newline for line in block), *after])


def rebuilt(document: Document, raw: Sequence[str]) -> Document:
    """Return the document with other lines, each with its ending."""
    return parse(document.bom + "".join(raw).encode(), document.target)


def signature(document: Document, entry: Entry) -> tuple[str, tuple[str, ...], str, int | None]:
    """Return what must stay the same of an entry when something else is edited: text, headings, label, date."""
    above = tuple(document.outline.headings[index].text for index in entry.headings)
    return document.text(entry), above, document.label(entry), entry.day
