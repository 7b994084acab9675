"""What becomes of memory that another tool has kept: a plan, from what it holds and what is here already.

A page of entries is merged into the document it belongs to, so that what both have is there once. What is too long for
a memory file becomes notes, each within its limits, with one line in the index. Values in, values out.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

from ..errors import DamagedFile, InvalidName, Refused
from ..layout import NOTE_NAME_LENGTH, check_note_file, name_key
from ..limits import over_limits, split_lines
from ..notes import note as notes
from ..text import labels, markdown, visible
from ..text.headers import front_matter_end
from ..tiers import document
from ..tiers.document import Document
from ..tiers.meet import OPPOSITE, meetings
from ..tiers.merge import merge
from ..tiers.remove import remove
from ..tiers.taken import is_part_of
from .elsewhere import Page, Store

_FRAME_LINES = 14
_FRAME_BYTES = 1_200
"""What a note's header, Why and How may take of its limits."""

_LONGEST_TITLE = 120
_LONGEST_SLUG = 60
_LONGEST_STEM = NOTE_NAME_LENGTH - len("_99-99999")
"""What may come before the numbers of a page and its part."""

_Cut = Callable[[list[str]], list[list[str]]]


@dataclass(frozen=True, slots=True)
class KeptOut:
    """Something that is not brought in.

    Attributes:
        where: where it is.
        reason: why it is not brought in.
        exit_code: that of the error by which it could not be read, or written here; 0 if what it says keeps it out.
    """

    where: str
    reason: str
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A new entry and one that is here, of which one says the opposite of the other."""

    new: str
    standing: str


@dataclass(frozen=True, slots=True)
class Adoption:
    """What becomes of one store.

    Attributes:
        store: the store.
        entries: the new entries, their Markdown.
        present: how many of its entries are here already.
        text: the document with them; None if it stays as it is.
        notes: the new notes, by file name.
        left_out: what does not come in, and why.
        contradictions: new entries that contradict entries here.
    """

    store: Store
    entries: tuple[str, ...] = ()
    present: int = 0
    text: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[KeptOut, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def does_something(self) -> bool:
        """Whether anything would be written."""
        return self.text is not None or bool(self.notes)

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {
            "source": self.store.path,
            "kind": self.store.kind,
            **self.store.target.to_json(),
            "entries": [*self.entries],
            "present": self.present,
            "notes": [*self.notes],
            "left_out": [{"where": left.where, "reason": left.reason} for left in self.left_out],
            "contradictions": [{"new": pair.new, "standing": pair.standing} for pair in self.contradictions],
        }


@dataclass(frozen=True, slots=True)
class Here:
    """What is here, where a store's memory belongs.

    Attributes:
        text: the document, or the header a new one begins with.
        notes: the notes next to it, their texts by file name.
        gone: the ids of entries that were taken out here, each with the key of its label; they do not come back.
        secret_in: describes the first secret in a text, "" if there is none.
        max_lines, max_bytes: the limits of a document and of a note.
    """

    text: str
    notes: Mapping[str, str]
    gone: Collection[tuple[str, str]]
    secret_in: Callable[[str], str]
    max_lines: int
    max_bytes: int


def plan(store: Store, here: Here) -> Adoption:
    """Say what becomes of a store. The same store, planned again when that is done, gives nothing to do."""
    work = _Plan(store, here)
    for page in store.notes:
        work.add_note(page)
    for page in store.pages:
        work.add_page(page)
    if store.document is not None:
        work.add_document(store.document)
    return work.done()


class _Plan:
    def __init__(self, store: Store, here: Here) -> None:
        self.store = store
        self.here = here
        self.entries: list[str] = []
        self.present = 0
        self.text: str | None = None
        self.notes: dict[str, str] = {}
        self.left_out = [KeptOut(store.path, problem, DamagedFile.exit_code) for problem in store.problems]
        self.contradictions: list[Contradiction] = []
        self.stems: set[str] = set()

    def done(self) -> Adoption:
        out, against = tuple(self.left_out), tuple(self.contradictions)
        return Adoption(self.store, tuple(self.entries), self.present, self.text, self.notes, out, against)

    # -- notes and pages -------------------------------------------------------------------------------------------

    def add_note(self, page: Page) -> None:
        """Bring in a note under its own name, for index lines name it; one that is too long as a page."""
        text = _shown(page.text)
        try:
            file = check_note_file(page.name)
        except InvalidName as error:
            self.left_out.append(KeptOut(page.path, f"{error}; rename it"))
            return
        secret = self.here.secret_in(file)
        if secret:
            self.left_out.append(KeptOut(page.path, f"its name holds {secret}; rename it"))
        elif self._fits(text):
            self._put(file, text, page)
        else:
            self._put_parts([file[:-3]], page)

    def add_page(self, page: Page) -> None:
        """Bring in a longer text as notes that say where it comes from."""
        name, folder = _slug(page.name[:-3]), page.path.replace("\\", "/").split("/")[-2]
        self._put_parts([f"reference_{name}", f"reference_{_slug(folder)}-{name}"], page)

    def _put_parts(self, stems: Sequence[str], page: Page) -> None:
        """Bring in a page under the first of these names that no other page of the store has, else a number too."""
        if not self.store.target.tier.has_notes:
            self.left_out.append(KeptOut(page.path, "is too long for a memory file, and a conversation has no notes"))
            return
        self.stems.add(stem := self._free(stems))
        for file, text in self._as_notes(stem, page):
            self._put(file, text, page)

    def _free(self, stems: Sequence[str]) -> str:
        short = [stem[:_LONGEST_STEM].rstrip("-_. ") for stem in stems]
        numbered = (f"{short[0]}_{number}" for number in count(2))
        return next(one for one in chain(short, numbered) if one not in self.stems)

    def _as_notes(self, stem: str, page: Page) -> Iterator[tuple[str, str]]:
        title, parts = _parts(_shown(page.text), self.here.max_lines - _FRAME_LINES, self.here.max_bytes - _FRAME_BYTES)
        for number, part in enumerate(parts, start=1):
            file = f"{stem}.md" if len(parts) == 1 else f"{stem}-{number}.md"
            of = "" if len(parts) == 1 else f" ({number} of {len(parts)})"
            yield file, _as_note(file, f"{title or page.name[:-3]}{of}", part, page)

    def _put(self, file: str, text: str, page: Page) -> None:
        secret = self.here.secret_in(text)
        all_notes = {**self.here.notes, **self.notes}
        standing = all_notes.get(file)
        alike = next((one for one in all_notes if one != file and name_key(one) == name_key(file)), "")
        if secret:
            self.left_out.append(KeptOut(page.path, f"holds {secret}; say where it is kept instead"))
        elif alike:
            reason = f"{alike} is here, and many file systems do not tell it from {file}; compare the two"
            self.left_out.append(KeptOut(page.path, reason))
        elif standing is None:
            self.notes[file] = text
        elif standing.split() != text.split():
            self.left_out.append(KeptOut(page.path, f"another note is called {file} here; compare the two"))

    # -- documents -------------------------------------------------------------------------------------------------

    def add_document(self, page: Page) -> None:
        """Merge a page of entries into the document here; what does not fit becomes notes."""
        target = self.store.target
        try:
            mine = document.parse(self.here.text.encode(), target)
            theirs = document.parse(_shown(page.text).encode(), target)
            theirs = self._without_unwanted(theirs, page)
            standing = _in_prose(mine, theirs)
            theirs = remove(theirs, standing)
        except (DamagedFile, Refused) as error:
            self.left_out.append(KeptOut(page.path, str(error)))
            return
        secret = self.here.secret_in("\n".join(theirs.lines))
        if document.conflict_line(theirs) or secret:
            reason = f"holds {secret} outside its entries; say where it is kept instead"
            conflict = "holds conflict markers; resolve them, then adopt it"
            self.left_out.append(KeptOut(page.path, reason if secret else conflict))
            return
        stem = f"reference_{_slug(target.owner or 'shared')}-{_slug(page.name[:-3])}"
        if target.tier.has_notes and self._came_as_notes(stem, page):
            self.present = len(standing) + len(theirs.ids)
            return
        new = [
            one
            for one, entry in theirs.by_id
            if document.standing(mine, document.plain_id(one), theirs.label(entry)) is None
        ]
        self.present = len(standing) + len(theirs.ids) - len(new)
        merged = _merged(mine, theirs)
        if merged is not None and self._fits(merged.data.decode()):
            self.entries = [_entry_text(theirs, one) for one in new]
            self.contradictions = list(_contradictions(mine, theirs, new))
            self.text = None if merged.data == mine.data else merged.data.decode()
            return
        if not new:
            return
        # Its index lines stay lines of the index: nothing else may say what they say of a note.
        self.present = 0
        self._put_parts([stem], page)
        index = _only_index(theirs)
        merged = _merged(mine, index) if index.outline.index_lines else None
        if merged is not None and self._fits(merged.data.decode()) and merged.data != mine.data:
            self.text = merged.data.decode()

    def _without_unwanted(self, theirs: Document, page: Page) -> Document:
        """Take out the entries that hold a secret, and those that were taken out here before."""
        unwanted = []
        for one, entry in theirs.by_id:
            is_gone = (document.plain_id(one), labels.key(theirs.label(entry))) in self.here.gone
            secret = self.here.secret_in(theirs.text(entry))
            where = f"{page.path}:{entry.start + 1}"
            if secret:
                self.left_out.append(KeptOut(where, f"holds {secret}; say where it is kept instead"))
            elif is_gone:
                self.left_out.append(KeptOut(where, "was taken out here before; `amp restore` brings it back"))
            if secret or is_gone:
                unwanted.append(one)
        return remove(theirs, unwanted)

    def _came_as_notes(self, stem: str, page: Page) -> bool:
        """Say whether this page once had no room, and is here as notes: it stays so, even if there is room by now."""
        made = self._as_notes(self._free([stem]), page)
        return all(self.here.notes.get(file, "").split() == text.split() for file, text in made)

    def _fits(self, text: str) -> bool:
        return not over_limits(text.encode(), self.here.max_lines, self.here.max_bytes)


def _in_prose(mine: Document, theirs: Document) -> list[str]:
    """Return the prose of theirs that is part of longer prose here, since prose joins the prose it is put next to."""
    longer = [entry for entry in mine.outline.entries if not entry.is_item]
    return [
        one
        for one, entry in zip(theirs.ids, theirs.outline.entries, strict=True)
        if not entry.is_item
        and one not in mine.ids
        and any(is_part_of(mine, prose, theirs.text(entry)) for prose in longer)
    ]


def _merged(mine: Document, theirs: Document) -> Document | None:
    """Merge two documents that share no past; None if that is not certain."""
    if theirs.begin:
        theirs = document.rebuilt(theirs, theirs.raw[theirs.begin :])
    merged = merge(document.parse(b"", mine.target), mine, theirs)
    return None if merged is None else merged.document


def _only_index(theirs: Document) -> Document:
    try:
        return remove(theirs, theirs.ids)
    except Refused:
        return document.parse(b"", theirs.target)


def _contradictions(mine: Document, theirs: Document, new: Sequence[str]) -> Iterator[Contradiction]:
    for meeting in meetings([mine, theirs]):
        first, second = meeting.first, meeting.second
        if meeting.way == OPPOSITE and first.document is mine and second.document is theirs and second.id in new:
            yield Contradiction(_entry_text(theirs, second.id), _entry_text(mine, first.id))


def _entry_text(doc: Document, entry_id: str) -> str:
    entry = doc.outline.entries[doc.ids.index(entry_id)]
    return labels.in_front_of_item(doc.label(entry), doc.text(entry))


def _parts(text: str, max_lines: int, max_bytes: int) -> tuple[str, list[str]]:
    """Return a page's title, and its text in parts that fit: cut at headings, else at blank lines, else at lines."""

    def fits(lines: Sequence[str]) -> bool:
        return not over_limits("\n".join(lines).encode(), max_lines, max_bytes)

    lines = split_lines(text)
    lines = lines[front_matter_end(lines) :]
    title = next((markdown.heading_text(line) for line in lines if line.startswith("#")), "")
    cuts: list[_Cut] = [
        lambda lines: _cut(lines, lambda line: line.startswith("#") and markdown.heading_level(line) > 0),
        lambda lines: _cut(lines, lambda line: not line.strip()),
        lambda lines: [[line] for line in lines],
        lambda lines: [[piece] for line in lines for piece in _characters(line, max_bytes)],
    ]
    parts = _split(lines, cuts, fits)
    return title, ["\n".join(part).strip("\n") for part in parts if any(line.strip() for line in part)]


def _split(lines: list[str], cuts: Sequence[_Cut], fits: Callable[[Sequence[str]], bool]) -> list[list[str]]:
    """Cut lines into as few parts as fit, the coarsest cut first that does."""
    if fits(lines) or not cuts:
        return [lines]
    parts: list[list[str]] = []
    for piece in (smaller for larger in cuts[0](lines) for smaller in _split(larger, cuts[1:], fits)):
        if parts and fits([*parts[-1], *piece]):
            parts[-1] += piece
        else:
            parts.append(piece)
    return parts


def _cut(lines: Sequence[str], begins: Callable[[str], bool]) -> list[list[str]]:
    """Cut before each line that begins something, but never in a fence."""
    pieces: list[list[str]] = [[]]
    in_fence = False
    for line in lines:
        if line.lstrip().startswith(("```", "~~~")):
            in_fence = not in_fence
        elif not in_fence and begins(line) and pieces[-1]:
            pieces.append([])
        pieces[-1].append(line)
    return pieces


def _characters(line: str, size: int) -> Iterator[str]:
    """Yield a line in pieces of at most so many bytes."""
    data = line.encode()
    while data:
        piece = data[:size].decode(errors="ignore")
        yield piece
        data = data[len(piece.encode()) :]


def _as_note(file: str, title: str, body: str, page: Page) -> str:
    """Return a part of a page as a note that says where it comes from."""
    title = " ".join(title.split())[:_LONGEST_TITLE]
    header = f"name: {notes.quoted(file[:-3])}\ndescription: {notes.quoted(title)}\nmetadata:\n  type: reference"
    why = f"{notes.WHY} It was kept in `{page.name}` before this memory took it over."
    how = f"{notes.HOW} Read it when the task is about {title}. Keep what still holds, one fact a note."
    return f"---\n{header}\n---\n\n{body}\n\n{why}\n\n{how}\n"


def _slug(text: str) -> str:
    """Return a text as part of a note's file name."""
    words = "".join(character if character.isascii() and character.isalnum() else " " for character in text).split()
    return "-".join(words).lower()[:_LONGEST_SLUG] or "memory"


def _shown(text: str) -> str:
    """Return a text with the characters made visible that a reader would not see."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(visible.show_invisible(line) if visible.first_invisible(line) else line for line in lines)
