"""Rules on notes."""

import re
from collections.abc import Collection, Iterator

from ..notes import note as notes
from ..notes.note import Note
from ..text import dates, links, visible
from ..text.markers import conflict_line
from ..values import dataclass
from .finding import ERROR, WARNING, Remark, rule

_MARKS = "#*_>-:. \t"
_LABEL = re.compile(
    r"[ \t]*#{1,6}[ \t].*"  # a heading
    r"|[ \t>-]*(?P<bold>\*\*|__)(?!\s)(?:(?!(?P=bold)).){1,80}(?:[:.](?P=bold)|(?P=bold)[ \t]*(?:[:.\u2013\u2014-]|$))"
    r"|[ \t>*_-]*[A-Za-z][^:.!?\n]{0,80}:(?=\s|[*_]|$)"  # a sentence's beginning that ends in a colon
)
"""What labels a line: a heading, a few words in bold, or some words and a colon."""


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note as the rules see it: the note, the names a link to a note here may have, allowed fingerprints.

    A note's names are the `link_name` of its file and of the name in its header. A part is one of several files, not
    the first, that a note over the limit was divided into.
    """

    note: Note
    names: frozenset[str]
    allowed: Collection[str] = ()
    is_part: bool = False

    @property
    def text(self) -> str:
        """The text of the note, its header included."""
        return self.note.text


@rule(
    "note-header",
    ERROR,
    "note",
    "The header cannot be read as `key: value` lines between two `---`, or is missing, or git has left conflict "
    "markers in the note. Mend it; amp never rewrites a header that it cannot read.",
)
def header(view: NoteView) -> Iterator[Remark]:
    conflict = conflict_line(view.text.splitlines()) if "<<<<<<<" in view.text else None
    if conflict is not None:
        yield Remark(conflict, "unresolved merge conflict; keep what is right and remove the markers")
        return
    found = view.note.header
    if found is None:
        severity = ERROR if view.text.startswith("---") else WARNING
        yield Remark(
            1,
            "there is no header that can be read; begin with name, description and type between two ---",
            severity=severity,
        )
        return
    for line in found.unreadable:
        yield Remark(line, "this line of the header is not a `key: value`; mend it")
    if not view.note.head.description:
        yield Remark(1, "the header has no description; say in one sentence when this note matters", severity=WARNING)


@rule(
    "note-type",
    ERROR,
    "note",
    "The type in the header and the prefix of the file name disagree, or the type is not one of "
    "user, feedback, project, reference.",
)
def note_type(view: NoteView) -> Iterator[Remark]:
    declared = view.note.head.type
    prefix = next((one for one in notes.TYPES if view.note.file.startswith((f"{one}_", f"{one}-"))), "")
    if declared and declared not in notes.TYPES:
        yield Remark(1, f"the type {declared!r} is not one of {', '.join(notes.TYPES)}", severity=WARNING)
    elif declared and prefix and declared != prefix and not view.is_part:
        yield Remark(1, f"the type is {declared} and the file name says {prefix}; make them agree")


@rule(
    "note-name",
    WARNING,
    "note",
    "The name in the header is neither the file's stem nor what follows its type.",
    on=False,
)
def name(view: NoteView) -> Iterator[Remark]:
    written = view.note.head.name
    stem = view.note.stem
    slugs = {stem, *(stem.removeprefix(f"{one}_").removeprefix(f"{one}-") for one in notes.TYPES)}
    if written and written not in slugs:
        yield Remark(1, f"the name is {written!r}; write {stem}")


@rule(
    "note-no-why",
    ERROR,
    "note",
    "The note does not say why. A rule without its reason gets misapplied. Add a paragraph that begins with **Why:**.",
)
def no_why(view: NoteView) -> Iterator[Remark]:
    if _lacks(view, view.note.why, "why"):
        yield Remark(None, "no **Why:**; without it the note gets misapplied", severity=_severity(view))


@rule(
    "note-no-how",
    ERROR,
    "note",
    "The note does not say how to apply it. A fact without that gets ignored. Add a "
    "paragraph that begins with **How to apply:**.",
)
def no_how(view: NoteView) -> Iterator[Remark]:
    if _lacks(view, view.note.how, "how to apply"):
        yield Remark(None, "no **How to apply:**; without it the note gets ignored", severity=_severity(view))


@rule("note-order", WARNING, "note", "The How is before the Why. Put the fact first, then why, then how.")
def order(view: NoteView) -> Iterator[Remark]:
    why, how = view.note.why, view.note.how
    if why is not None and how is not None and how < why:
        yield Remark(view.note.body_line + how, "**How to apply:** is before **Why:**; put it after")


@rule(
    "note-after",
    WARNING,
    "note",
    "Something follows the How to apply: a second fact, mostly. Make it a note of its own.",
)
def after(view: NoteView) -> Iterator[Remark]:
    if view.note.after is not None:
        yield Remark(
            view.note.body_line + view.note.after, "a section after **How to apply:**; make it a note of its own"
        )


@rule(
    "note-large",
    WARNING,
    "note",
    "The note is much larger than the few hundred bytes of one fact. Split it.",
    on=False,
)
def large(view: NoteView) -> Iterator[Remark]:
    size = len(view.text.encode("utf-8", "surrogatepass"))
    if size > notes.LARGE_BYTES:
        yield Remark(None, f"{size:,} bytes; one fact takes a few hundred, so split it")


@rule("note-link", WARNING, "note", "A `[[link]]` names no note of the folder. Correct it, or write the note.")
def link(view: NoteView) -> Iterator[Remark]:
    if "[[" not in view.text:
        return
    for number, line in enumerate(links.visible_lines(view.text), start=1):
        for piece in dates.without_code_and_links(line).split("[[")[1:]:
            wanted = piece.partition("]]")[0].partition("|")[0].partition("#")[0].strip()
            if "]]" in piece and wanted and not set(wanted) & {" ", "/"} and link_name(wanted) not in view.names:
                yield Remark(number, f"[[{wanted}]] names no note of this folder; correct it or write the note")


@rule("note-invisible-characters", ERROR, "note", "Characters that a reviewer cannot see. Take them out.")
def invisible(view: NoteView) -> Iterator[Remark]:
    text = view.text.replace("\r", "")
    if found := visible.first_invisible(text):
        yield Remark(found[0], f"{visible.name_invisible(text)}; take it out")


def link_name(name: str) -> str:
    """Return what a note's file and a link to it have in common: links leave the type out, or write - for _."""
    plain = name.removesuffix(".md").casefold().replace("_", "-").replace(" ", "-")
    return next((plain.removeprefix(f"{one}-") for one in notes.TYPES if plain.startswith(f"{one}-")), plain)


def _type(view: NoteView) -> str:
    """Return the type of a note: as its header says, else as its file's name does; "" for a mere page."""
    return view.note.head.type or next((one for one in notes.TYPES if view.note.file.startswith(f"{one}_")), "")


def _lacks(view: NoteView, start: int | None, label: str) -> bool:
    """Say whether a note of some type has nothing under a label. A page without a type needs none."""
    if not _type(view):
        return False
    return not (_says(view, label) if start is None else notes.part(view.note, start))


def _says(view: NoteView, label: str) -> bool:
    """Say whether some line is labelled so: `**Why.** …`, `Why this matters: …`, `## Why …`, `**Why / how to apply:**`.

    A label with nothing after it says nothing; a heading or a label alone in its line has its text below.
    """
    for number, line in enumerate(view.note.body):
        found = _LABEL.match(line)
        if found is None or not re.search(rf"(?:^|[/&,+]|\band\b)[ ]*{label}\b", found[0].strip(_MARKS).casefold()):
            continue
        below = next((one for one in view.note.body[number + 1 :] if one.strip()), "")
        if line[found.end() :].strip(_MARKS) or (below and not _LABEL.match(below)):
            return True
    return False


def _severity(view: NoteView) -> str:
    return ERROR if _type(view) in notes.REQUIRED_IN_FULL else WARNING
