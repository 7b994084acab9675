"""The monthly upkeep list: what disagrees, what to merge, what to prune, what to look at again.

A person decides about each proposal.
"""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from ..answers import NoteRow, StoredEntry
from ..change.session import Session
from ..layout import Target, Tier
from ..learning.meet import read_notes
from ..notes.index import SCREEN
from ..recall import use
from ..text import labels, nearly
from ..text.gist import shared_words
from ..text.ids import id_of_proposal
from ..text.opposites import exclude_each_other
from ..text.phrases import counted
from ..tiers.document import Document
from ..tiers.meet import CHANGED, OPPOSITE, RENEWED, Meeting, in_two_conversations
from ..values import HasJson, dataclass
from . import proposals, settle
from .agents import strays
from .conversations import ENDS_AFTER, last_sign
from .stored import stored_entries

KINDS = {
    OPPOSITE: "one denies the other",
    CHANGED: "another value",
    RENEWED: "may be out of date",
    "merge": "say much the same",
    "stale": "old",
    "unneeded": "not used",
    "unlisted": "in no index",
    "close": "over",
    "agent": "another name",
    "crowded": "many notes",
    "undated": "undated",
}
"""The lists of a review, the most urgent first, and what each says of its texts."""

DUE_AFTER = timedelta(days=30)
_OLDEST = 10
_CLOSEST = 10
_PART = re.compile(r"(?:\.\d+)?\.md$")  # the end of the file of a note, and of a part of one
_COMMON = 20  # A word that more texts have than this brings no two of them together


@dataclass(frozen=True, slots=True)
class Text(HasJson):
    """A text that is looked at: its place, its id or file, what it says, and the document it belongs to."""

    JSON = "place name text"

    place: str
    name: str
    text: str
    target: Target | None = None
    headings: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to look at.

    Attributes:
        kind: which list it is on: a key of `KINDS`.
        message: what it is about, in words.
        command: what settles it, as a person types it.
        texts: what is shown of it, the most telling first.
    """

    kind: str
    message: str
    command: str
    texts: tuple[Text, ...]

    @property
    def id(self) -> str:
        """Names it; the same in every review, as long as it is about the same."""
        return id_of_proposal(self.kind, *sorted(one.name for one in self.texts))

    @property
    def says(self) -> str:
        """What its kind says of its texts, in a few words."""
        return KINDS[self.kind]

    @property
    def text(self) -> str:
        """What the first of its texts says."""
        return self.texts[0].text

    @property
    def summary(self) -> str:
        """What it is about, for people."""
        return self.text

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {
            "id": self.id,
            "kind": self.kind,
            "place": self.texts[0].place,
            "message": self.message,
            "command": self.command,
            "text": self.text,
            "other": self.texts[1].text if len(self.texts) > 1 else "",
            "members": [one.to_json() for one in self.texts],
        }


def review(session: Session, documents: Sequence[Document], notes: Sequence[NoteRow], today: date) -> list[Item]:
    """Return the upkeep list of these documents and notes; see `Workspace.review`."""
    entries = [entry for document in documents for entry in stored_entries(document)]
    older_than = timedelta(days=session.settings.older_than)
    read = ((target, note) for target, note, _ in read_notes(session, dict.fromkeys(row.target for row in notes)))
    met = settle.disagreements(session, documents, read)
    more = [*settle.edited_apart(session, documents), *settle.may_be_over(session, documents)]
    pairs: dict[frozenset[str], Meeting] = {}
    for one in settle.holding((*met, *more), today):
        pairs.setdefault(_ids(one), one)
    found = items(entries, notes, [*pairs.values()])
    found += _over(session, documents, today)
    found += _strays(session, documents)
    found += _unneeded(session, entries, today)
    found = [*proposals.open_ones(session, found)]
    asked = {(one.target, one.name) for item in found if len(item.texts) > 1 for one in item.texts}
    left = [one for one in entries if (one.target, one.id) not in asked]
    found += proposals.open_ones(session, _aging(left, today, older_than))
    return sorted(found, key=lambda one: [*KINDS].index(one.kind))


def items(
    entries: Sequence[StoredEntry],
    notes: Sequence[NoteRow],
    disagreements: Sequence[Meeting],
) -> list[Item]:
    """Return what is worth a look: what disagrees, what says the same, and notes that nothing leads to."""
    found = [_disagreement(one) for one in disagreements]
    known = {_ids(one) for one in disagreements}
    texts = [
        Text(f"{one.target.path}:{one.line}", one.id, one.alone, one.target, one.headings, one.label) for one in entries
    ]
    texts += [Text(row.target.path, row.file, row.description, row.target) for row in notes if row.description]
    near = [(texts[one], texts[other]) for one, other in nearly.pairs([one.text for one in texts])]
    near = [
        (one, other)
        for one, other in near
        if frozenset([one.name, other.name]) not in known
        and not exclude_each_other(one.headings, other.headings)
        and _is_near_below(one, other)
    ]
    opposed = [(one, other) for one, other in near if nearly.may_deny(one.text, other.text)]
    found += [
        Item(OPPOSITE, "one of them denies it; decide which is right", _forget([other]), (one, other))
        for one, other in opposed
        if not (one.target and other.target and in_two_conversations(one.target, other.target))
    ]
    merging = groups([pair for pair in near if pair not in opposed])
    found += map(_merging, merging)
    listed = {name for pair in known for name in pair} | {one.name for group in merging for one in group}
    lasting = [one for one in texts if one.name not in listed and one.target and one.target.tier.lasts]
    lessons = [(lasting[one], lasting[other]) for one, other in nearly.on_one_lesson([one.text for one in lasting])]
    lessons = [
        (one, other)
        for one, other in lessons
        if one.name.endswith(".md") == other.name.endswith(".md")  # a note says more than its description
        and not exclude_each_other(one.headings, other.headings)
    ]
    found += [_merging(one, "may be one lesson") for one in groups(lessons)]
    found += _unlisted(notes)
    found += _crowded(notes)
    return found


def _aging(entries: Sequence[StoredEntry], today: date, older_than: timedelta) -> list[Item]:
    """Return what is old, and the first of what is undated. What another item asks about is left out before."""
    old = [one for one in entries if one.date is not None and today - one.date > older_than]
    undated = sorted((one for one in entries if one.date is None), key=lambda one: one.line)[:_OLDEST]
    listed = [(one, "stale", str(one.date)) for one in sorted(old, key=lambda one: one.date or today)]
    listed += [(one, "undated", "undated") for one in undated]
    return [Item(kind, told, f"amp edit {one.id} --dated", (_text(one),)) for one, kind, told in listed]


def _is_near_below(one: Text, other: Text) -> bool:
    """Say whether two texts are near each other without the label that both are under: it says nothing of either."""
    if not one.label or one.label != other.label:
        return True
    bare, others = (labels.taken_off(one.label, text.text) or text.text for text in (one, other))
    return nearly.share(bare, others) > 0


def _ids(one: Meeting) -> frozenset[str]:
    return frozenset([one.first.id, one.second.id])


def _text(one: StoredEntry) -> Text:
    return Text(f"{one.target.path}:{one.line}", one.id, one.alone, one.target)


def _disagreement(one: Meeting) -> Item:
    sides = [Text(side.place, side.id, side.text, side.target) for side in (one.first, one.second)]
    kept = "writes the newer for all who read it" if one.reaches_fewer else "keeps the newer"
    told = f"{kept}; `{one.dispute}` marks both" if one.dispute else one.advice
    return Item(one.way, told, one.resolve, tuple(sides))


def _forget(texts: Sequence[Text]) -> str:
    ids = [one.name for one in texts if not one.name.endswith(".md")]
    notes = [f"amp note remove {one.name}{_folder(one)}" for one in texts if one.name.endswith(".md")]
    return "; ".join([*([f"amp forget {' '.join(ids)}"] if ids else []), *notes])


def _folder(note: Text) -> str:
    """Return the option that names a note's folder in a command; "" for shared memory, where commands look first."""
    return f" {note.target.option}" if note.target and note.target.tier is Tier.AGENT else ""


def _merging(group: Sequence[Text], says: str = "say much the same") -> Item:
    """Say how a group that says the same becomes one: the shared one stays, else the one that says most."""
    told = f"{len(group)} {says}"
    if not all(nearly.negate_alike(group[0].text, one.text) for one in group):
        told = f"{len(group)} use much the same words, not all with a “not” or “without”; compare them"
    kept = max(group, key=lambda one: (one.target == Target(Tier.SHARED), len(one.text)))
    rest = [one for one in group if one is not kept]
    if all(one.name.endswith(".md") for one in group) and len({one.target for one in group}) == 1:
        merge = f"amp note merge {' '.join(one.name for one in rest)} --into {kept.name}{_folder(kept)}"
        return Item("merge", told, merge, tuple(group))
    owners = {one.target for one in group}
    if len(owners) > 1 and Target(Tier.SHARED) not in owners:
        told += "; it belongs in shared, said once"
        return Item("merge", told, f"amp remember TEXT --tier shared; {_forget(group)}", (kept, *rest))
    return Item("merge", told, _forget(rest), (kept, *rest))


def groups(near: Sequence[tuple[Text, Text]]) -> list[list[Text]]:
    """Gather pairs into groups, each around the text that is like most others; every text is in one group at most."""
    partners: dict[Text, list[Text]] = {}
    for one, other in near:
        partners.setdefault(one, []).append(other)
        partners.setdefault(other, []).append(one)
    order = {text: number for number, text in enumerate(partners)}
    found, taken = [], set[Text]()
    for text in sorted(partners, key=lambda one: (-len(partners[one]), order[one])):
        rest = [one for one in partners[text] if one not in taken]
        if text not in taken and rest:
            found.append([text, *rest])
            taken.update(found[-1])
    return sorted(found, key=lambda group: (-len(group), order[group[0]]))


def _unlisted(notes: Sequence[NoteRow]) -> list[Item]:
    rows = [row for row in notes if row.file and not row.problem and not row.is_listed]
    found = []
    for target in dict.fromkeys(row.target for row in rows):
        texts = tuple(Text(target.path, row.file, row.description) for row in rows if row.target == target)
        found.append(Item("unlisted", f"{counted(len(texts), 'note')} in no index", "amp index", texts))
    return found


def _over(session: Session, documents: Sequence[Document], today: date) -> list[Item]:
    found = []
    for one in documents:
        if one.target.tier is Tier.CONVERSATION and today - (last := last_sign(session, one)) > ENDS_AFTER:
            text = Text(one.target.path, one.target.owner, f"{counted(len(one.ids), 'entry')}", one.target)
            found.append(Item("close", f"quiet since {last}", f"amp close {shlex.quote(one.target.owner)}", (text,)))
    return found


def _strays(session: Session, documents: Sequence[Document]) -> list[Item]:
    return [
        Item("agent", told, command, (Text(target.path, target.owner, target.owner, target),))
        for target, told, command in strays(session, documents)
    ]


def _unneeded(session: Session, entries: Sequence[StoredEntry], today: date) -> list[Item]:
    """Return the entries that were not recalled, found or opened here for long, where that is counted."""
    since = use.unneeded(use.read(session.root), today) if session.settings.count else {}
    named = [(use.name_of(one.target, one.id), one) for one in entries]
    return [
        Item("unneeded", f"since {since[name]}", f"amp forget {one.id}", (_text(one),))
        for name, one in sorted(named, key=lambda pair: since.get(pair[0], today))
        if name in since
    ]


def _crowded(notes: Sequence[NoteRow]) -> list[Item]:
    """Return, for each folder with more notes than an index shows at a glance, its closest pairs of notes."""
    found = []
    for target in dict.fromkeys(row.target for row in notes):
        rows = [row for row in notes if row.target == target and row.file]
        whole = _whole(rows)
        if len(rows) > SCREEN and len(whole) > 1:
            told = f"{len(rows)} notes, {SCREEN} fit a screen; merge some, and remove what turned out wrong"
            close = [Text(target.path, row.file, row.description) for pair in _closest(whole) for row in pair]
            texts = close or [Text(target.path, row.file, row.description) for row in whole[:2]]
            merge = f"amp note merge {texts[1].name} --into {texts[0].name}{_folder(texts[0])}"
            found.append(Item("crowded", told, merge, tuple(texts)))
    return found


def _whole(rows: Sequence[NoteRow]) -> list[NoteRow]:
    """Return the notes that are one file: what was too long for one, `STEM.md` and `STEM.2.md`, cannot be merged."""
    stems = Counter(_PART.sub("", row.file) for row in rows)
    return [row for row in rows if stems[_PART.sub("", row.file)] == 1]


def _closest(rows: Sequence[NoteRow]) -> list[tuple[NoteRow, NoteRow]]:
    """Return the pairs of notes that share most of their words, each note once, the closest first."""
    shares = shared_words([f"{row.title} {row.description}" for row in rows], _COMMON)
    left = set(range(len(rows)))
    found = []
    for one, other in sorted(shares, key=lambda pair: (-shares[pair], pair)):
        if one in left and other in left:
            left -= {one, other}
            found.append((rows[one], rows[other]))
    return found[:_CLOSEST]


def is_due(last: date | None, oldest: date | None, today: date) -> bool:
    """Say whether a review is due: a month after the last one, or after the oldest entry where there was none."""
    since = last or oldest
    return since is not None and today - since > DUE_AFTER
