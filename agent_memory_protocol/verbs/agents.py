"""The verb that gives an agent another name: its folder, title, ledger and notes move in one step (decision 51)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack

from ..change.books import lock_name
from ..change.ledger import markdown_of, parts_of
from ..change.session import Session
from ..change.transaction import Change
from ..disk.lock import hold
from ..disk.writing import rename_folder, replace
from ..errors import InvalidArgument, Refused
from ..formats.jsonl import EntryLine, parse_file
from ..git import history
from ..layout import Target, Tier, check_owner, display_name
from ..project import agents
from ..tiers import document as documents
from ..tiers import store
from ..tiers.document import Document
from ..values import HasJson, dataclass


@dataclass(frozen=True, slots=True)
class Renaming(HasJson):
    """What renaming an agent does: the two documents, its entries, what else is in its folder, and the ledger lines."""

    JSON = "old=old.owner new=new.owner entries files ledger_lines"

    old: Target
    new: Target
    entries: int
    files: tuple[str, ...]
    ledger_lines: int


def plan(session: Session, old: str, new: str) -> Renaming:
    """Say what would move. Changes nothing.

    A folder that was moved by hand, as with `git mv`, is the new one already; then its title and ledger follow.
    """
    one, other = Target(Tier.AGENT, old), Target(Tier.AGENT, new)
    check_owner(Tier.AGENT, new)
    if old == new:
        raise InvalidArgument(f"{old!a} has that name already")
    is_moved = not session.root.exists(one.folder)
    if is_moved and not session.root.exists(other.folder):
        there = ", ".join(target.owner for target in session.readable() if target.tier is Tier.AGENT)
        raise InvalidArgument(f"no agent {old!a}; there are: {there or 'none'}")
    if not is_moved and session.root.exists(other.folder):
        raise Refused(f"{other.path}: agent {new} has a memory of its own; nothing was changed: bring it in by hand")
    at = other if is_moved else one
    current = session.read(at)
    files = tuple(name for name in session.root.list_files(at.folder) if name != at.parts[-1])
    return Renaming(one, other, 0 if current is None else len(current.ids), files, _ledger_lines(session, at))


def rename(session: Session, planned: Renaming) -> None:
    """Give an agent its new name, or change nothing."""
    old, new = planned.old, planned.new
    for target in (old, new):
        session.check_write(target)
    with ExitStack() as held:
        for name in sorted({lock_name(old), lock_name(new)}):
            held.enter_context(hold(session.root, name))
        before = session.read(old) or session.read(new)
        session.books(old).drop_journal()  # it would miss in the old place all that is in the new one
        if session.root.exists(old.folder):
            rename_folder(session.root, old.folder, new.folder)
        ids = {} if before is None else dict(_pairs(documents.parse("".join(before.raw).encode(), old), new))
        ids |= dict(_archived_ids(session, old, new))
        for target in dict.fromkeys((new, *store.list_targets(session.root, beside=parts_of(new)[-1]))):
            _replace_ids(session, target, ids)
    session.change(new, lambda current: Change(_titled(session, current, old)))


def _ledger_lines(session: Session, target: Target) -> int:
    content = session.root.read(parts_of(target))
    return 0 if content is None else content.data.count(b"\n")


def _pairs(before: Document, new: Target) -> Iterator[tuple[str, str]]:
    """Yield each entry's id, without its number, and the id that it has under another name."""
    after = documents.parse("".join(before.raw).encode(), new)
    return zip(map(documents.plain_id, before.ids), map(documents.plain_id, after.ids), strict=True)


def _archived_ids(session: Session, old: Target, new: Target) -> Iterator[tuple[str, str]]:
    content = session.root.read(parts_of(new))
    for line in parse_file([content.data]) if content else ():
        if isinstance(line, EntryLine):
            text = markdown_of(line) or line.text
            yield from _pairs(documents.parse(f"{text}\n".encode(), old), new)


def _replace_ids(session: Session, target: Target, ids: Mapping[str, str]) -> None:
    """Write new ids in place of old ones into a ledger, where they are as values of their own."""
    content = session.root.read(parts_of(target))
    if content is None or not ids:
        return
    value = re.compile(rb'(?<!\\)"([0-9a-f]{12})((?:-\d+)?")')
    data = value.sub(
        lambda found: b'"' + ids.get(found[1].decode(), found[1].decode()).encode() + found[2], content.data
    )
    if data != content.data:
        replace(session.root, parts_of(target), data, expected=content)


def _titled(session: Session, current: Document, old: Target) -> Document:
    """Return a document with the title of its agent, where it has that of the old name."""
    titles = [_first_line(session.header(target)) for target in (old, current.target)]
    raw = [line.replace(titles[0], titles[1]) if line.rstrip("\r\n") == titles[0] else line for line in current.raw[:1]]
    return documents.rebuilt(current, [*raw, *current.raw[1:]])


def _first_line(text: str) -> str:
    return text.partition("\n")[0].rstrip()


def strays(session: Session, read: Iterable[Document]) -> Iterator[tuple[Target, str, str]]:
    """Yield the agents that seem to have another name now: the document, what tells so, and the command."""
    own = [one for one in read if one.target.tier is Tier.AGENT]
    titled = {one.target: _titled_for(session, one) for one in own}
    paths = {Target(Tier.AGENT, name).path for name in titled.values() if name}
    gone = history.gone(session.root.path, paths)
    defined = agents.defined(session.root)
    for one in own:
        name, title = one.target.owner, titled[one.target]
        if title and Target(Tier.AGENT, title).path in gone:
            yield one.target, f"has the title of {title}", f"amp agent rename {title} {name}"
        elif defined and name not in defined:
            nearest = agents.nearest(name, defined) or "NEW"
            yield one.target, "no agent definition has this name", f"amp agent rename {name} {nearest}"


def _titled_for(session: Session, one: Document) -> str:
    """Return the name that a document's title is made from; "" if it is its own agent's, or a person's words."""
    title, own = (one.lines[0].rstrip() if one.lines else ""), _first_line(session.header(one.target))
    before, found, after = own.partition(display_name(one.target.owner))
    if not found or title == own or not (title.startswith(before) and title.endswith(after)):
        return ""
    return "-".join(title[len(before) : len(title) - len(after)].lower().split())
