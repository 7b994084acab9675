"""Compare a document with its journal: what has gone missing by accident and goes back, what was meant to go.

The comparison is a plan: values in, values out (decision 23).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace

from ..text import labels
from ..tiers import document as documents
from ..tiers import frame
from ..tiers.document import Document, plain_id, section_key
from ..tiers.taken import Place, Taken, take
from ..values import dataclass
from .journal import Add, Done, Line, Version, Write, broken_off, fingerprint, last_known

RACE_SECONDS = 600  # How long an editor may have held an older copy for its save to count as an accident

_FEW = 4  # Of fewer entries than this, an editor may have changed every one and still not have seen what was added
_ALIKE = 0.5  # From this share of common words on, one text is what became of another


@dataclass(frozen=True, slots=True)
class Healing:
    """What must happen before the next write."""

    put_back: tuple[Add, ...] = ()  # entries that go back into the document
    kept_out: tuple[Taken, ...] = ()  # entries that should, but have no room there or no place any more, for the ledger
    # entries, labels, headings and index lines that someone took out by hand, for the ledger
    removed: tuple[Taken, ...] = ()
    edited: tuple[Taken, ...] = ()  # entries as they were before someone changed them by hand, for the ledger
    # for each of those, by id, the id of what it has become
    successors: Mapping[str, str] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    is_known: bool = False  # whether the document is as the last write left it, so that nothing needs to be noted
    # whether the document is an earlier version of itself, so that what is missing went with that
    is_back: bool = False
    is_deleted: bool = False  # whether there is no document any more, or nothing in it
    owed: str = ""  # lines that the ledger had, and that git has taken back with it
    # ids of entries whose lines are missing from the ledger, and that a branch of git has
    unowed: frozenset[str] = frozenset()

    @property
    def has_work(self) -> bool:
        """Whether the document or the ledger would change."""
        return bool(self.put_back or self.kept_out or self.removed or self.edited or self.owed)


@dataclass(slots=True)
class _Known:
    """What the journal knows to have was in the document: entries and frame by id, and the adds in order."""

    entries: dict[str, Taken] = field(default_factory=dict)
    framed: dict[str, Taken] = field(default_factory=dict)
    adds: list[Add] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)

    def drop(self, entry_ids: Collection[str]) -> None:
        """Go on as if these had not been there."""
        for entry_id in entry_ids:
            self.entries.pop(entry_id, None)
            self.framed.pop(entry_id, None)
        self.adds = [add for add in self.adds if add.taken.id not in entry_ids]


def _nothing_settled(_missing: Sequence[Taken], _since: float, _is_back: bool) -> Collection[str]:
    return ()


def plan_healing(
    lines: Sequence[Line],
    current: Document,
    changed_at: float | None,
    settled: Callable[[Sequence[Taken], float, bool], Collection[str]] = _nothing_settled,
) -> Healing:
    """Compare a document with its journal, oldest line first; its file was last changed at `changed_at`, in seconds.

    None if there is no file, or nothing in it: then nothing goes back, since nobody has saved an older copy.

    `settled` says for which missing entries nothing need be done, given when they were last known to be there, and
    whether the document is back at an earlier version.
    """
    now = fingerprint(current.data)
    writes = [line for line in lines if isinstance(line, Write)]
    if not lines or (writes and now == writes[-1].after):
        return Healing(is_known=bool(lines))
    if writes and now == writes[-1].before and Done(writes[-1].run) not in lines:
        # The process ended between journal and document: what it was about to add is added now. Where it was also
        # about to take something out, nobody was told of either, and only what it was putting back is owed.
        adds = tuple(add for add in writes[-1].adds if add.again or not writes[-1].gone)
        return Healing(put_back=adds, is_known=True)
    known = _replay(lines, current)
    missing = [*_missing(known, current), *frame.gone(known.framed, known.entries, current)]
    is_back = changed_at is None or now in known.versions
    dropped = frozenset(settled(missing, last_known(lines), is_back) if missing else ())
    known.drop(dropped)
    if changed_at is None or is_back:
        # A version that is known was brought back on purpose: an undo, a checkout.
        left = tuple(one for one in missing if one.id not in dropped)
        return Healing(removed=left, settled=dropped, is_back=True, is_deleted=changed_at is None)
    frame_gone = tuple(one for one in missing if one.part and one.id not in dropped)
    judged = _judge(known, current, changed_at)
    return replace(judged, removed=(*judged.removed, *frame_gone), settled=dropped)


def heal(
    current: Document,
    healing: Healing,
    check: Callable[[Document, Document], None],
    may_come: Callable[[str], bool] = lambda _: True,
) -> tuple[Document, Healing]:
    """Put back what can go back, and return the document with the plan as it was carried out.

    What would break a limit, change its surroundings, or `may_come` says no to, is kept out: the ledger has it.
    `check` raises Refused where the step from one document to the next breaks a limit.
    """
    if not healing.put_back:
        return current, healing
    from ..tiers.restore import put_back_all

    welcome = [add for add in healing.put_back if all(map(may_come, add.taken.texts))]
    current, refused = put_back_all(current, [add.taken for add in welcome], check=check)
    back = tuple(add for add in welcome if add.taken.id not in refused)
    kept_out = tuple(add.taken for add in healing.put_back if add not in back)
    return current, replace(healing, put_back=back, kept_out=(*healing.kept_out, *kept_out))


def _replay(lines: Sequence[Line], current: Document) -> _Known:
    known = _Known()
    stopped = broken_off(lines)
    standing = set(current.ids)
    # Every version is known, but what was in the document goes by the last one that is written out.
    last = max((number for number, line in enumerate(lines) if isinstance(line, Version)), default=0)
    for line in lines[:last]:
        if isinstance(line, Version):
            known.versions.add(line.fingerprint)
        elif isinstance(line, Write):
            known.versions |= {line.before, line.after}
    added = [add.taken.id for line in lines[last:] if isinstance(line, Write) for add in line.adds]
    for line in lines[last:]:
        if isinstance(line, Version):
            known.versions.add(line.fingerprint)
            then = documents.parse(line.text.encode(), current.target)
            # What is still there needs no description, unless others have its text: nobody puts it back or archives it.
            alike = {plain_id(one) for one in (*then.ids, *added) if one != plain_id(one)}
            known.entries = {
                one: Taken(one, "", Place()) if one in standing and plain_id(one) not in alike else take(then, one)
                for one in then.ids
            }
            known.adds = list(line.recent)
            known.entries |= {add.taken.id: add.taken for add in line.recent}
            known.framed = frame.parts(then)
        elif isinstance(line, Write):
            known.versions |= {line.before, line.after}
            known.drop(line.archived)
            is_broken_off = line.run in stopped
            known.drop([one for one in line.gone if not (is_broken_off and one in standing)])
            for add in () if is_broken_off else line.adds:
                for part in frame.above(add.taken, current):
                    older = known.framed.get(part.id, part)
                    known.framed[part.id] = replace(older, governs=(*older.governs, *part.governs))
                known.entries[add.taken.id] = add.taken
                known.adds = [one for one in known.adds if one.taken.id != add.taken.id] + [add]
    return known


def _judge(known: _Known, current: Document, changed_at: float) -> Healing:
    standing = set(current.ids)
    back: list[Add] = []
    adds = {add.taken.id for add in known.adds}
    missing = _missing(known, current)
    became = successors(missing, known.entries, current)
    edited = [one for one in missing if one.id in became]
    removed = [one for one in missing if one.id not in adds and one not in edited]
    older = set(known.entries) - adds
    for number, add in enumerate(known.adds):
        before = (older | {earlier.taken.id for earlier in known.adds[:number]}) - became.keys()
        if add.taken in edited or add.taken not in missing:
            continue
        later_stands = any(later.taken.id in standing for later in known.adds[number + 1 :])
        in_a_race = changed_at - add.at <= RACE_SECONDS
        half_stands = len(before) < _FEW or len(before & standing) * 2 >= len(before)
        if add.again or later_stands or not in_a_race or not half_stands:
            removed.append(add.taken)
        else:
            back.append(add)
    return Healing(tuple(back), removed=tuple(removed), edited=tuple(edited), successors=became)


def _missing(known: _Known, current: Document) -> list[Taken]:
    """Return the entries that are known and are not there."""
    standing = set(current.ids)
    prose = {
        line
        for entry in current.outline.entries
        if not entry.is_item
        for line in current.lines[entry.start : entry.end]
    }
    missing = [
        one
        for entry_id, one in known.entries.items()
        if entry_id not in standing and not all(line in prose for line in one.markdown.split("\n") if line.strip(" \t"))
    ]
    gone = {plain_id(one.id): _gone_of_that_text(plain_id(one.id), known, current) for one in missing}
    return [replace(gone[plain].pop(0), id=one.id) if gone[plain := plain_id(one.id)] else one for one in missing]


def _gone_of_that_text(plain: str, known: _Known, current: Document) -> list[Taken]:
    """Return which of the known entries with one text have gone: those whose label no entry with this text has now."""
    alike = [one for one in known.entries.values() if plain_id(one.id) == plain]
    left = [labels.key(current.label(entry)) for one, entry in current.by_id if plain_id(one) == plain]
    gone = []
    for one in alike if len(alike) > 1 else ():
        label = labels.key(one.place.label_text)
        if label in left:
            left.remove(label)
        else:
            gone.append(one)
    return gone


def successors(missing: Sequence[Taken], known: Collection[str], current: Document) -> dict[str, str]:
    """Say which missing entries have become others: they share most words with a new one of their section and label.

    One new entry replaces one that is missing, the most alike, and all whose every word it holds. What is `known` is
    not new.
    """
    new = [
        (entry_id, (section_key(current.section(entry)), labels.key(current.label(entry))), _words(current.text(entry)))
        for entry_id, entry in current.by_id
        if entry_id not in known
    ]
    alike = []
    for index, one in enumerate(missing):
        place = (section_key(one.place.section), labels.key(one.place.label_text))
        words = _words(one.markdown)
        for entry_id, there, others in new:
            share = 1.0 if words <= others else len(words & others) / len(words | others)
            if there == place and share >= _ALIKE:
                alike.append((share, index, entry_id))
    found: dict[str, str] = {}
    for share, index, entry_id in sorted(alike, key=lambda pair: -pair[0]):
        old = missing[index].id
        if old not in found and (share == 1 or entry_id not in found.values()):
            found[old] = entry_id
    return found


def _words(text: str) -> set[str]:
    """Return the words of an entry. Bullet and date are not: all entries of a day have them in common."""
    return {word for word in documents.bare_text(text).casefold().split() if any(map(str.isalnum, word))}
