"""`check` as a verb on an opened session: run every rule on every tier file, note, index and ledger."""

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from . import git_ignore, ledger, review
from .access import Actor
from .dates import day_number
from .diagnosis import of_names
from .errors import AgentMemoryError, InvalidArgument, StorageError
from .files import Root, split_bom
from .formats.jsonl import parse_file
from .formats.jsonl_view import sort_out
from .indexing import folders
from .layout import OWNER_FOLDERS, SCAFFOLDING, Target, Tier
from .limits import split_lines
from .lint import belonging as _belonging  # noqa: F401  its rules register themselves
from .lint import finding, ledgers, notes, tiers
from .lint.finding import ERROR, WARNING, Finding
from .notes import index as indexes
from .notes import store as note_store
from .session import Session, stored_entries
from .similarity import gist
from .tiers import document as documents
from .tiers.document import Document
from .tiers.entries import OWN, Entry
from .transaction import Change
from .writing import create, make_folders, replace

UNREADABLE = "unreadable"
TWINS = "store-twins"
NESTED = "note-nested"
REVIEW = "review-due"
TWICE = "store-twice"
CONTRADICTION = "tier-contradiction"
REVIEWED = (SCAFFOLDING, "agent-memory", "reviewed")
"""The file that says when the memory was last reviewed: one line, a date."""
_NEVER_ENTERED = frozenset(["node_modules", "vendor", "target", "build", "dist", "venv"])
_DOCUMENTED = ("CLAUDE.md", "AGENTS.md", "docs")
_MOST_DOCUMENTED = 500
_FEWEST_WORDS = 2
_LONGEST_CLAIM = 400
"""A longer text is no single claim that another could negate."""
_LARGEST_DOCUMENTED = 1 << 20

_STORE_RULES = {  # the severity of each rule, and what its documentation says
    UNREADABLE: (ERROR, "A file cannot be read; the message says why and what to do."),
    TWINS: (
        ERROR,
        "Two folders whose names differ only by case or Unicode form: one agent, two memories. Merge them.",
    ),
    NESTED: (
        WARNING,
        "A folder with Markdown files inside a folder of notes. The memory folder is flat; nobody reads them.",
    ),
    CONTRADICTION: (
        WARNING,
        "Two entries say the opposite of each other. Recall shows both; decide which is right and forget the other.",
    ),
    REVIEW: (WARNING, "The last review is more than a month ago. `amp review` lists what to look at."),
    TWICE: (
        WARNING,
        (
            "Another memory of the same project lies above or below this one, so agents started there know other "
            "things. Keep one, at the top."
        ),
    ),
}
RULES = finding.RULES
"""Every rule by id: those of `lint`, and those below, which look at more than one file."""

for _id, (_severity, _about) in _STORE_RULES.items():
    # These look at more than one file, so they are run by `check` itself.
    finding.RULES[_id] = finding.Rule(_id, _severity, "store", _about, lambda _: ())


def check(
    session: Session,
    actor: Actor,
    *,
    paths: Sequence[str],
    selected: Sequence[str],
    today: date,
    progress: Callable[[int, int], None] | None,
) -> list[Finding]:
    """Return what is wrong in what this actor may read, below these paths, by file and line."""
    targets = [target for target in _targets(session, actor) if _below(target.parts[:-1], paths)]
    elsewhere = _elsewhere(session, targets) if "tier-restates" in selected else {}
    for path in paths:
        if not os.path.lexists(os.path.join(session.root.path, *path.split("/"))):
            raise InvalidArgument(f"{path!a} does not exist; name a file or folder of the memory")
    found: list[Finding] = []
    for number, target in enumerate(targets):
        found += _check_folder(session, target, selected, elsewhere, today)
        if progress is not None:
            progress(number + 1, len(targets))
    if TWINS in selected:
        for tier, folder in OWNER_FOLDERS.items():
            messages = of_names(session.root.list_folders(folder), tier.value)
            found += [Finding(TWINS, ERROR, "/".join(folder), None, one.message) for one in messages]
    if CONTRADICTION in selected:
        found += _check_contradictions(session, targets)
    if REVIEW in selected and not paths:
        found += _check_review(session, targets, today)
    if TWICE in selected and not paths:
        found += _check_stores(session)
    found = [one for one in found if _below(tuple(one.path.split("/")), paths)]
    return sorted(found, key=lambda one: (one.path, one.line or 0, one.rule))


def record_review(session: Session, actor: Actor, today: date) -> None:
    """Write down that the memory was reviewed on this day."""
    session.check_write(actor, Target(Tier.SHARED))
    line = f"{today.isoformat()}\n".encode()
    content = session.root.read(REVIEWED)
    if content is None:
        make_folders(session.root, REVIEWED[:-1])
        create(session.root, REVIEWED, line)
    else:
        replace(session.root, REVIEWED, line, expected=content)


def fix(session: Session, actor: Actor, found: Sequence[Finding]) -> list[Finding]:
    """Make the fixes that lose nothing. Returns the findings that are mended."""
    by_path: dict[str, list[Finding]] = {}
    for one in found:
        if one.fix is not None:
            by_path.setdefault(one.path, []).append(one)
    mended: list[Finding] = []
    for target in _targets(session, actor):
        wanted = by_path.get(target.path)
        if wanted:
            session.check_write(actor, target)
            mended += _fix_document(session, target, wanted)
    return mended


def _fix_document(session: Session, target: Target, wanted: Sequence[Finding]) -> list[Finding]:
    done: list[Finding] = []

    def change(current: Document) -> Change:
        changed = _with_fixes(current, wanted)
        done[:] = wanted
        if changed is None:
            # One of them would lose something. The others are made.
            done.clear()
            changed = current
            for one in wanted:
                better = _with_fixes(changed, [one])
                if better is not None:
                    changed = better
                    done.append(one)
        return Change(changed if done else current)

    session.change(target, change)
    return done


def _with_fixes(document: Document, wanted: Sequence[Finding]) -> Document | None:
    """Make some fixes; None where a line is no longer what it was, or an entry would not keep its id and its date."""
    raw = list(document.raw)
    for one in wanted:
        old = raw[one.fix.line - 1] if one.fix is not None and one.fix.line <= len(raw) else ""
        if one.fix is None or old.rstrip("\r\n") != one.fix.before:
            return None
        raw[one.fix.line - 1] = one.fix.after + old[len(old.rstrip("\r\n")) :]
    changed = documents.rebuilt(document, raw)
    days = dict(zip(changed.ids, (entry.day for entry in changed.outline.entries), strict=True))
    kept = all(
        days.get(entry_id, 0) == entry.day
        for entry_id, entry in zip(document.ids, document.outline.entries, strict=True)
    )
    return changed if kept else None


def _check_folder(
    session: Session, target: Target, selected: Sequence[str], elsewhere: dict[str, str], today: date
) -> list[Finding]:
    """Check one tier file, and the notes, index and ledger beside it."""
    found: list[Finding] = []
    parts: tuple[Callable[[], list[Finding]], ...] = (
        lambda: _check_tier(session, target, selected, elsewhere, today),
        lambda: _check_notes(session, target, selected),
        lambda: _check_ledger(session, target, selected),
    )
    for part in parts:
        try:
            found += part()
        except StorageError as error:
            if UNREADABLE in selected:
                path = getattr(error, "path", "") or target.path
                message = str(error).removeprefix(f"{path}: ")
                found.append(Finding(UNREADABLE, ERROR, path, getattr(error, "line", None), message))
    return found


def _check_tier(
    session: Session, target: Target, selected: Sequence[str], elsewhere: dict[str, str], today: date
) -> list[Finding]:
    current = session.read(target)
    if current is None:
        return []
    others = {line: place for line, place in elsewhere.items() if not place.startswith(target.path)}
    view = tiers.TierView(
        current,
        session.header(target),
        session.settings.max_lines,
        session.settings.max_bytes,
        today.toordinal(),
        lambda path: _exists(session.root, path),
        others,
        session.settings.secrets_allow,
    )
    return finding.run("tier", view, target.path, selected)


def _check_notes(session: Session, target: Target, selected: Sequence[str]) -> list[Finding]:
    if target.tier is Tier.CONVERSATION:
        return []
    folder = target.parts[:-1]
    found: list[Finding] = []
    names = note_store.list_names(session.root, folder, target.parts[-1])
    stems = frozenset(notes.link_name(name) for name in names)
    allowed = session.settings.secrets_allow
    for name in names:
        path = "/".join((*folder, name))
        try:
            read = note_store.read(session.root, folder, name)
        except StorageError as error:
            if UNREADABLE in selected:
                message = str(error).removeprefix(f"{path}: ")
                found.append(Finding(UNREADABLE, ERROR, path, getattr(error, "line", None), message))
            continue
        if read is not None:
            found += finding.run("note", notes.NoteView(read[0], read[1], stems, allowed), path, selected)
    if NESTED in selected:
        for inner in session.root.list_folders(folder):
            if any(name.endswith(".md") for name in session.root.list_files((*folder, inner))):
                path = "/".join((*folder, inner))
                message = "notes in a folder inside the memory folder are read by nobody; move them up"
                found.append(Finding(NESTED, WARNING, path, None, message))
    current = session.read(target)
    if current is not None or names:
        text = "".join(current.raw) if current else ""
        lines = tuple(current.lines) if current else ()
        view = notes.IndexView(indexes.read(text), lines, {indexes.key(name): name for name in names})
        found += finding.run("index", view, target.path, selected)
    return found


def _check_ledger(session: Session, target: Target, selected: Sequence[str]) -> list[Finding]:
    parts = ledger.parts_of(target)
    content = session.root.read(parts)
    if content is None:
        return []
    path = "/".join(parts)
    ignored = "ledger-ignored" in selected and git_ignore.ignores_one_of(session.root.path, path, target.path)
    lines = list(parse_file([content.data]))
    texts = split_bom(content.data)[1].decode("utf-8", "replace").split("\n")
    view = ledgers.LedgerView(
        list(zip(lines, texts, strict=False)),
        sort_out(lines),
        ledger.redacted(lines),
        ignored,
        session.settings.secrets_allow,
    )
    return finding.run("ledger", view, path, selected)


def _targets(session: Session, actor: Actor) -> list[Target]:
    found = session.readable(actor, ledgers=True)
    return found + [target for target in folders(session, actor) if target not in found]


def _check_contradictions(session: Session, targets: Sequence[Target]) -> Iterator[Finding]:
    """Find entries with the same words of which one is negated (B70)."""
    seen: dict[tuple[str, ...], list[tuple[frozenset[int], str]]] = {}
    for target in targets:
        try:
            current = session.read(target)
        except AgentMemoryError:
            continue
        for entry in current.outline.entries if current else ():
            text = documents.identity_text(current.lines, entry) if current else ""
            own = gist(text)
            if len(own.words) < _FEWEST_WORDS or len(text) > _LONGEST_CLAIM:
                continue
            place = f"{target.path}:{entry.start + 1}"
            others = seen.setdefault(own.words, [])
            other = next((where for negations, where in others if negations != own.negations), None)
            if other is not None:
                message = f"says the opposite of {other}; decide which is right and forget the other"
                yield Finding(CONTRADICTION, WARNING, target.path, entry.start + 1, message)
            others.append((own.negations, place))


def _check_review(session: Session, targets: Sequence[Target], today: date) -> Iterator[Finding]:
    content = session.root.read(REVIEWED)
    last = None if content is None else day_number(content.data.decode("ascii", "replace").strip())
    days = [entry.day for entry in _entries(session, targets) if entry.day is not None and entry.day_source == OWN]
    first = date.fromordinal(min(days)) if days else None
    if review.is_due(None if last is None else date.fromordinal(last), first, today):
        when = "never" if last is None else date.fromordinal(last).isoformat()
        message = f"last reviewed: {when}; `amp review` lists what to look at, `amp review --done` records it"
        yield Finding(REVIEW, WARNING, "/".join(REVIEWED), None, message)


def _check_stores(session: Session) -> Iterator[Finding]:
    """Look for a memory of the same repository in another folder: above this one, or up to two folders below."""
    top = session.root.path
    places = []
    folder = top
    while not os.path.exists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        places.append(folder)
    if not os.path.exists(os.path.join(folder, ".git")):
        places = []
    below = [entry.path for entry in _subfolders(top)]
    below += [entry.path for path in below for entry in _subfolders(path)]
    for path in [*places, *below]:
        if os.path.isdir(os.path.join(path, SCAFFOLDING, "agent-memory")):
            where = os.path.relpath(path, top).replace(os.sep, "/")
            message = (
                f"{where} has a memory of its own; move its entries here, or set AMP_ROOT, so that all agents share one"
            )
            yield Finding(TWICE, WARNING, SCAFFOLDING, None, message)


def _subfolders(path: str) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(path) as entries:
            found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [entry for entry in found if not entry.name.startswith(".") and entry.name not in _NEVER_ENTERED][:200]


def _entries(session: Session, targets: Sequence[Target]) -> Iterator[Entry]:
    for target in targets:
        try:
            current = session.read(target)
        except AgentMemoryError:
            continue
        yield from current.outline.entries if current else ()


def _elsewhere(session: Session, targets: Sequence[Target]) -> dict[str, str]:
    """Return the lines of the project's documentation and of the tiers, normalised, and where each stands."""
    found: dict[str, str] = {}
    for path, text in _documentation(session.root):
        for number, line in enumerate(split_lines(text), start=1):
            plain = tiers.normalised(line.lstrip(" \t-*+>0123456789.)#"))
            if plain:
                found.setdefault(plain, f"{path}:{number}")
    for target in targets:
        try:
            current = session.read(target)
        except AgentMemoryError:
            continue
        for entry in stored_entries(current) if current else ():
            own = current.entry(entry.id) if current else None
            plain = tiers.normalised(documents.identity_text(current.lines, own)) if current and own else ""
            if plain:
                found.setdefault(plain, f"{target.path}:{entry.line}")
    return found


def _documentation(root: Root) -> Iterator[tuple[str, str]]:
    """Yield the path and text of CLAUDE.md, AGENTS.md and the Markdown files below docs/."""
    left = _MOST_DOCUMENTED
    waiting: list[tuple[str, ...]] = [(name,) for name in _DOCUMENTED]
    while waiting and left:
        parts = waiting.pop(0)
        try:
            if not parts[-1].endswith(".md"):
                waiting += [(*parts, name) for name in root.list_files(parts) if name.endswith(".md")]
                waiting += [(*parts, name) for name in root.list_folders(parts) if "." not in name]
                continue
            content = root.read(parts, limit=_LARGEST_DOCUMENTED)
        except AgentMemoryError:
            continue
        if content is not None:
            left -= 1
            yield "/".join(parts), content.data.decode("utf-8", "replace")


def _exists(root: Root, path: str) -> bool:
    return os.path.exists(os.path.join(root.path, *path.split("/")))


def _below(parts: tuple[str, ...], paths: Sequence[str]) -> bool:
    """Say whether a path lies at or below one of these, or above it; without any, everything does."""
    if not paths:
        return True
    own = "/".join(parts)
    return any(own == path or own.startswith(f"{path}/") or path.startswith(f"{own}/") for path in paths)


def relative(session_root: str, path: str) -> str:
    """Return a path named on the command line as one below the root, with forward slashes."""
    full = os.path.abspath(path) if os.path.exists(path) else os.path.join(session_root, path)
    return os.path.relpath(full, session_root).replace(os.sep, "/")
