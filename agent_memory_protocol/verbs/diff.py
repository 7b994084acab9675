"""What changed in memory between two commits, told as memory: entries and notes, and what to look at first."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from .. import limits
from ..answers import About
from ..change import ledger
from ..change.healing import successors
from ..change.session import Session
from ..errors import AgentMemoryError
from ..formats.jsonl import Tombstone, parse_file
from ..git import snapshot
from ..layout import LEDGER, SCAFFOLDING, TIERS, Target, Tier
from ..lint.finding import ERROR, WARNING, Finding
from ..notes import store as note_store
from ..secrets.mask import masked
from ..text.phrases import counted
from ..tiers.document import Document, parse
from ..tiers.meet import OPPOSITE, meetings
from ..tiers.store import list_targets
from ..tiers.taken import take
from ..values import HasJson, dataclass

ADDED, EDITED, RETIRED, RESTORED, DISPUTED = "added", "edited", "retired", "restored", "disputed"
KINDS = (ADDED, EDITED, RETIRED, RESTORED, DISPUTED)


@dataclass(frozen=True, slots=True)
class Difference(HasJson):
    """One entry or note that changed."""

    JSON = "id *target line section text before by? reason writer?"

    kind: str  # ADDED, EDITED, RETIRED, RESTORED or DISPUTED
    target: Target
    id: str  # the entry's id, that of the new text where there is one; for a note its file name
    text: str  # what it says now, with its label in front; of what is gone, what it said
    before: str = ""
    by: str = ""  # the id of the entry that holds in the place of a retired one; "" if none does
    reason: str = ""  # why it left, as the ledger has it
    writer: str = ""  # the agent that wrote it; "" if nobody said
    line: int | None = None  # where it is now, from 1; None for what is gone
    section: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed between two states of the memory, and what is to be looked at first."""

    base: str
    head: str
    differences: tuple[Difference, ...]
    findings: tuple[Finding, ...]

    def of(self, kind: str) -> list[Difference]:
        """Return the differences of one kind."""
        return [one for one in self.differences if one.kind == kind]

    def to_json(self) -> dict[str, object]:
        """Return the JSON answer."""
        kinds = {kind: [one.to_json() for one in self.of(kind)] for kind in KINDS}
        return {"base": self.base, "head": self.head, **kinds, "findings": [one.to_json() for one in self.findings]}


@dataclass(slots=True)
class _State:
    """The memory at one moment: documents, notes and ledgers."""

    documents: dict[Target, Document] = field(default_factory=dict)
    notes: dict[tuple[Target, str], str] = field(default_factory=dict)
    ledgers: dict[Target, bytes] = field(default_factory=dict)


def diff(session: Session, base: str, head: str) -> Diff:
    """Compare two commits, or a commit with the files where `head` is ""."""
    folder = session.root.path
    old = _state(session, snapshot.files_at(folder, base, SCAFFOLDING))
    new = _state(session, snapshot.files_at(folder, head, SCAFFOLDING) if head else _on_disk(session))
    targets = dict.fromkeys((*new.documents, *old.documents))
    changed = [one for target in targets for one in _entries(target, old, new)]
    changed += _notes(old, new)
    findings = tuple(_findings(session, changed, old, new))
    # What changed is posted to a code host, where it is harder to take back than here.
    shown = (
        replace(one, text=masked(one.text), before=masked(one.before), reason=masked(one.reason)) for one in changed
    )
    return Diff(base, head, tuple(shown), findings)


def _on_disk(session: Session) -> dict[str, bytes]:
    """Return the files of the memory as they are now, those that cannot be read left out."""
    found = {}
    for target in list_targets(session.root, beside=LEDGER):
        folder = target.folder
        names = [target.parts[-1], LEDGER]
        try:
            names += note_store.list_names(session.root, folder, target.parts[-1]) if target.tier.has_notes else []
        except AgentMemoryError as error:
            session.notices.append(str(error))
        for name in names:
            try:
                content = session.root.read((*folder, name))
            except AgentMemoryError as error:
                session.notices.append(str(error))
                continue
            if content is not None:
                found["/".join((*folder[1:], name))] = content.data
    return found


def _state(session: Session, files: Mapping[str, bytes]) -> _State:
    """Sort files out: which is whose document, ledger or note. Only what the actor may read counts."""
    state = _State()
    for path, data in files.items():
        target = _owner(path)
        if target is None or not session.may_read(target):
            continue
        name = path.rpartition("/")[2]
        try:
            if name == target.parts[-1]:
                state.documents[target] = parse(data, target)
            elif name == LEDGER:
                state.ledgers[target] = data
            elif target.tier.has_notes and note_store.is_note(name, target.parts[-1]):
                state.notes[target, name] = data.decode("utf-8", "replace")
        except AgentMemoryError as error:
            session.notices.append(f"not compared: {error}")
    return state


def _owner(path: str) -> Target | None:
    """Return the document in whose folder a file lies; None for any other file."""
    *folder, _ = path.split("/")
    for tier in TIERS:
        owner = folder[len(tier.folder) - 1] if tier.owner and len(folder) >= len(tier.folder) else ""
        target = Target(tier, owner)
        if bool(tier.owner) == bool(owner) and list(target.parts[1:-1]) == folder:
            return target
    return None


def _entries(target: Target, old: _State, new: _State) -> Iterator[Difference]:
    before, after = (state.documents.get(target) or parse(b"", target) for state in (old, new))
    was, now = dict(before.by_id), dict(after.by_id)
    stones = _stones(new.ledgers.get(target, b""))
    known = _said(target, new.ledgers.get(target, b""))
    archived = set(_stones(old.ledgers.get(target, b"")))
    gone = [one for one in was if one not in now]
    edited = {one: str(stones[one].get("successor", "")) for one in gone if one in stones}
    edited = {one: by for one, by in edited.items() if by in now and by not in was and not stones[one].get("retired")}
    edited |= successors([take(before, one) for one in gone if one not in stones], {*was}, after)
    sources = {by: one for one, by in edited.items()}
    for one, entry in now.items():
        kind = "" if one in was else EDITED if one in sources else RESTORED if one in archived else ADDED
        if not kind and entry.marks.disputed and not was[one].marks.disputed:
            kind = DISPUTED
        if kind:
            said = known.get(one)
            yield Difference(
                kind,
                target,
                one,
                _alone(after, one),
                before=_alone(before, sources[one]) if one in sources else "",
                by=said.disputed_with[0] if kind == DISPUTED and said and said.disputed_with else "",
                writer=(said and said.writer) or "",
                line=entry.start + 1,
                section=after.section(entry),
            )
    for one in gone:
        if one not in edited:
            stone = stones.get(one, {})
            by, reason = str(stone.get("successor", "")), str(stone.get("reason", ""))
            section = before.section(was[one])
            yield Difference(RETIRED, target, one, _alone(before, one), by=by, reason=reason, section=section)


def _alone(document: Document, one: str) -> str:
    entry = document.entry(one)
    return "" if entry is None else document.as_item(entry)


def _stones(data: bytes) -> dict[str, Mapping[str, object]]:
    """Return what the ledger says of each entry that left, the last time that it did."""
    return {line.id: line.extra or {} for line in parse_file([data]) if isinstance(line, Tombstone)}


def _said(target: Target, data: bytes) -> Mapping[str, About]:
    try:
        return ledger.read_said(data, target)
    except AgentMemoryError:
        return {}


def _notes(old: _State, new: _State) -> Iterator[Difference]:
    for place in dict.fromkeys((*new.notes, *old.notes)):
        before, after = old.notes.get(place, ""), new.notes.get(place, "")
        if before != after:
            kind = EDITED if before and after else ADDED if after else RETIRED
            yield Difference(kind, place[0], place[1], after or before, before=before if kind == EDITED else "")


def _findings(session: Session, changed: Sequence[Difference], old: _State, new: _State) -> Iterator[Finding]:
    """Yield what a reviewer looks at first: what disagrees, secrets, limits, and edits of other agents' files."""
    come = {one.id for one in changed if one.kind in (ADDED, EDITED, RESTORED)}
    for one in meetings(list(new.documents.values())):
        if {one.first.id, one.second.id} & come:
            rule = "tier-contradiction" if one.way == OPPOSITE else "tier-changed"
            first, second = masked(one.first.text), masked(one.second.text)
            told = f"“{first}” and “{second}” ({one.second.place}); `{one.resolve}` "
            told += "corrects the first" if one.reaches_fewer else "retires the first"
            yield Finding(rule, WARNING, one.first.path, one.first.line, told)
    for change in changed:
        if change.id in come or (change.kind in (ADDED, EDITED) and change.line is None):
            secret = session.secret_in(change.text)
            if secret:
                yield Finding(
                    "secret", ERROR, _path(change), change.line, f"it holds {secret}; change it and take it out"
                )
    for target, document in new.documents.items():
        before = old.documents.get(target)
        allowed = session.settings.max_lines, session.settings.max_bytes
        for have, limit, unit in limits.over_limits(
            document.data, *allowed, old=b"" if before is None else before.data
        ):
            told = f"{have:,} {unit}, {limit:,} are allowed: recall leaves entries out"
            yield Finding("tier-over-limit", ERROR, target.path, None, told)
    yield from _by_others(changed)


def _by_others(changed: Iterable[Difference]) -> Iterator[Finding]:
    for one in changed:
        if one.target.tier is Tier.AGENT and one.writer and one.writer != one.target.owner:
            told = f"{one.writer} wrote into the memory of {one.target.owner}"
            yield Finding("other-agent", WARNING, one.target.path, one.line, told)


def _path(one: Difference) -> str:
    return one.target.path if one.line is not None else "/".join((*one.target.folder, one.id))


def summary(found: Diff) -> str:
    """Return how many entries and notes of each kind there are, in words."""
    counts = [f"{len(found.of(kind))} {kind}" for kind in KINDS if found.of(kind)]
    if found.findings:
        counts.append(f"{counted(len(found.findings), 'finding')}")
    return ", ".join(counts) or "no change in memory"
