"""What an index has found, looked up again in its file: where it is now, and which part of it matched."""

import stat
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from ..answers import Found
from ..change.session import Session
from ..errors import AgentMemoryError
from ..layout import Target
from ..limits import split_lines
from ..notes import store as note_store
from ..notes.index import read as read_index
from ..notes.note import Note
from ..search.excerpt import PASSAGE, best_line, excerpt
from ..search.port import Hit
from ..secrets.mask import masked, masked_lines
from ..text import labels
from ..text.dates import day_number
from ..text.markers import conflict_lines
from ..text.moments import of_clock
from ..tiers import document as documents
from ..tiers.document import Document
from ..tiers.entries import notes_of
from .stored import stored_entry

_LEAST = 80  # Characters of a passage that are shown whatever its label takes

_DAYS = ("updated_at", "last_updated", "updated", "modified", "date", "created_at", "created")
"""The keys of a note's header that say when it was written, the best first."""


def look_up(session: Session, target: Target, file: str, hit: Hit, *, today: date, context: int) -> Found | None:
    """Return what a hit is now: an entry, a note, or the note that an index line names; None if it is gone."""
    if file == hit.key:
        return _note(session, target, file, hit, context)
    if file or hit.key.endswith(".md"):
        return _listed(session, target, file or target.parts[-1], hit, context)
    return _entry(session, target, hit, today, context)


def passage(text: str, tokens: Sequence[str], label: str = "") -> str:
    """Return the part of a text that holds most of these tokens, on one line, with its label in front."""
    in_front = labels.in_front_of_item(label, text)
    front = in_front[: len(in_front) - len(text)] if label and in_front.endswith(text) else ""
    rest = in_front.removeprefix(front)
    return front + excerpt(masked(rest), tokens, max(PASSAGE - len(front), _LEAST))


def _entry(session: Session, target: Target, hit: Hit, today: date, context: int) -> Found | None:
    try:
        document = session.read(target)
    except AgentMemoryError:
        return None
    if document is None or hit.key not in document.ids:
        return None
    entry = stored_entry(document, hit.key)
    line = entry.line + (best_line(entry.text.split("\n"), hit.tokens) or 0)
    found = replace(
        found_by(hit, "entry", target, session.path(target), entry.id, entry.text, entry.label),
        line=entry.line,
        section=entry.section,
        headings=entry.headings,
        date=entry.date,
        passage_line=line,
        lines=_governed(document, _around(document.lines, line, context)),
    )
    if not entry.is_expired(today):
        return found
    return replace(found, reasons=(*hit.reasons, f"expired on {entry.until}"))


def found_by(hit: Hit, kind: str, target: Target, path: Path, name: str, text: str, label: str = "") -> Found:
    """Return a hit as an answer: what the index says of it, and the part of this text that matches."""
    return Found(
        kind,
        target,
        name,
        path,
        0,
        text,
        hit.score,
        hit.reasons,
        label,
        passage=passage(text, hit.tokens, label),
        tokens=hit.tokens,
        meant=hit.meant,
        fit=hit.fit,
    )


def _governed(document: Document, lines: tuple[tuple[int, str], ...]) -> tuple[tuple[int, str], ...]:
    shown = {number for number, _ in lines}
    wanted = set(shown)
    for entry in document.outline.entries:
        if entry.label is not None and not shown.isdisjoint(range(entry.start + 1, entry.end + 1)):
            label = document.outline.labels[entry.label]
            wanted.update(range(label.start + 1, label.end + 1))
    said = [document.lines[number - 1] for number in wanted]
    for note in notes_of(document.lines, document.outline, said):
        wanted.update(range(note.start + 1, note.end + 1))
    shown_lines = _shown(document.lines) if wanted else []
    return tuple((number, shown_lines[number - 1]) for number in sorted(wanted))


def _note(session: Session, target: Target, file: str, hit: Hit, context: int) -> Found | None:
    found = _text_of(session, target, file)
    if found is None:
        return None
    note, text = found
    lines = split_lines(text)
    start = note.body_line - 1
    best = best_line(lines, hit.tokens, start)
    said = note.head.description or note.title
    line = 1 if best is None else best + 1
    shown = said if best is None or best < start else _paragraph(lines, best)
    page = documents.parse(text.encode(), target)
    shown = page.spelled_out(labels.in_front_of_item(_label_over(page, best), shown))
    hit_note = found_by(hit, "note", target, session.path(target).with_name(file), file, shown)
    day, around = _day_of(session, target, note), _governed(page, _around(lines, line, context))
    return replace(hit_note, text=said, line=line, passage_line=line, date=day, lines=around)


def _label_over(page: Document, line: int | None) -> str:
    """Return the label that governs a line, counted from 0; "" for none."""
    entries = page.outline.entries if line is not None else []
    return next((page.label(one) for one in entries if one.start <= (line or 0) < one.end), "")


def _listed(session: Session, target: Target, file: str, hit: Hit, context: int) -> Found | None:
    """Return the note that an index line in a file leads to, or the place of the line where there is no such note."""
    found = _text_of(session, target, file)
    line = next((one for one in read_index(found[1]).lines if one.file == hit.key), None) if found else None
    if found is None or line is None:
        return None
    note = _note(session, target, hit.key, hit, context)
    listed = found_by(hit, "note", target, session.path(target).with_name(file), hit.key, line.text)
    if note is not None:
        is_inside = best_line(split_lines(note.passage), hit.tokens) is not None
        return replace(note, text=line.text, passage=note.passage if is_inside else listed.passage)
    around = _around(split_lines(found[1]), line.line, context)
    return replace(listed, line=line.line, passage_line=line.line, lines=around)


def _paragraph(lines: Sequence[str], start: int) -> str:
    """Return the rest of a paragraph from one of its lines on; of a heading, the paragraph below it, too."""
    end = start + 1
    if lines[start].startswith("#"):
        while end < len(lines) and not lines[end].strip():
            end += 1
    conflict = {*conflict_lines([*lines])}
    while end < len(lines) and lines[end].strip() and end not in conflict:
        end += 1
    return "\n".join(lines[start:end])


def _around(lines: Sequence[str], line: int, context: int) -> tuple[tuple[int, str], ...]:
    """Return a line, counted from 1, with those before and after it, each with its number; nothing without context."""
    if not context:
        return ()
    first = max(line - context, 1)
    return tuple(enumerate(_shown(lines)[first - 1 : line + context], first))


def _shown(lines: Sequence[str]) -> list[str]:
    return masked_lines(one.rstrip("\r\n") for one in lines)


def _day_of(session: Session, target: Target, note: Note) -> date | None:
    """Return the day a note says that it is from, else the day on which its file was last written here."""
    for keys in (("metadata",), ()):
        for key in _DAYS:
            day = day_number(((note.header and note.header.get(*keys, key)) or "")[:10])
            if day is not None:
                return date.fromordinal(day)
    try:
        folder = session.root.folder(target.folder)
        info = None if folder is None else folder.stat(note.file)
    except (AgentMemoryError, OSError):
        return None
    is_file = info is not None and stat.S_ISREG(info.st_mode)
    return of_clock(info.st_mtime).astimezone().date() if info and is_file else None


def _text_of(session: Session, target: Target, file: str) -> tuple[Note, str] | None:
    try:
        return note_store.read(session.root, target.folder, file)
    except AgentMemoryError:
        return None
