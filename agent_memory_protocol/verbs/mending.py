"""The verb that mends: make those fixes of findings that lose nothing, and no other."""

from collections.abc import Sequence

from ..change.session import Session
from ..change.transaction import Change
from ..layout import Target
from ..lint.finding import Finding
from ..project.access import Actor
from ..tiers import document as documents
from ..tiers.document import Document


def fix(session: Session, actor: Actor, found: Sequence[Finding]) -> list[Finding]:
    """Make the fixes that lose nothing. Returns the findings that are mended."""
    by_path: dict[str, list[Finding]] = {}
    for one in found:
        if one.fix is not None:
            by_path.setdefault(one.path, []).append(one)
    mended: list[Finding] = []
    for target in session.readable(actor):
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
