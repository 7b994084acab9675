"""The monthly upkeep list: what disagrees, what to merge, what to prune, what to look at again.

A person decides about each proposal.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ..answers import NoteRow, StoredEntry
from ..change.session import Session, stored_entries
from ..notes.index import SCREEN
from ..text.gist import gist, shared_words
from ..tiers.document import Document
from ..tiers.meet import OPPOSITE, Meeting
from . import settle

DUE_AFTER = timedelta(days=30)
_OLDEST = 10
_SHARED_WORDS = 0.6
_FEWEST_WORDS = 4
_CLOSEST = 10
_COMMON = 20
"""A word that more texts have than this brings no two of them together."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to look at: which list it is on, the place, what to do, what it says, and what the other side says."""

    kind: str
    place: str
    message: str
    text: str
    other: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {"kind": self.kind, "place": self.place, "message": self.message, "text": self.text, "other": self.other}


@dataclass(frozen=True, slots=True)
class Text:
    """A text that may say the same as another: its place, its id or file, and what it says."""

    place: str
    name: str
    text: str


def review(session: Session, documents: Sequence[Document], notes: Sequence[NoteRow], today: date) -> list[Item]:
    """Return the upkeep list of these documents and notes; see `Workspace.review`."""
    entries = [entry for one in documents for entry in stored_entries(one)]
    older_than = timedelta(days=session.settings.older_than)
    disagreements = settle.disagreements(session, documents)
    return items(entries, notes, disagreements, today=today, older_than=older_than)


def items(
    entries: Sequence[StoredEntry],
    notes: Sequence[NoteRow],
    disagreements: Sequence[Meeting],
    *,
    today: date,
    older_than: timedelta,
) -> list[Item]:
    """Return what is worth a look, the most urgent first.

    What says the opposite or has another value, near-repeats, folders with too many notes, what is past its age, and
    what is undated.
    """
    found = [_disagreement(one) for one in disagreements]
    known = {frozenset([one.first.id, one.second.id]) for one in disagreements}
    texts = [Text(f"{entry.target.path}:{entry.line}", entry.id, entry.alone) for entry in entries]
    texts += [Text(f"{row.target.path}", row.file, row.description) for row in notes if row.description]
    alike = [(one, other) for one, other in pairs(texts) if frozenset([one.name, other.name]) not in known]
    opposed = [pair for pair in alike if _negations(pair[0]) != _negations(pair[1])]
    found += [_pair(OPPOSITE, one, other, "one of them denies it; decide which is right") for one, other in opposed]
    found += [_pair("merge", *pair, "merge them") for pair in alike if pair not in opposed]
    found += _crowded(notes)
    found += [
        Item("stale", f"{entry.target.path}:{entry.line}", f"{entry.id}, dated {entry.date}; still true?", entry.alone)
        for entry in sorted(entries, key=lambda one: one.date or today)
        if entry.date is not None and today - entry.date > older_than
    ]
    undated = [entry for entry in entries if entry.date is None]
    found += [
        Item("undated", f"{entry.target.path}:{entry.line}", f"{entry.id}; still true?", entry.alone)
        for entry in sorted(undated, key=lambda one: one.line)[:_OLDEST]
    ]
    return found


def _disagreement(one: Meeting) -> Item:
    older, newer = one.first, one.second
    told = f"{older.id} and {newer.id} ({newer.place}); `{one.resolve}` retires the older, `{one.dispute}` marks both"
    return Item(one.way, older.place, told, older.text, newer.text)


def _pair(kind: str, one: Text, other: Text, what: str) -> Item:
    return Item(kind, one.place, f"{one.name} and {other.name} ({other.place}); {what}", one.text, other.text)


def _negations(one: Text) -> int:
    return len(gist(one.text).negations)


def _crowded(notes: Sequence[NoteRow]) -> list[Item]:
    """Return, for each folder with more notes than an index shows at a glance, how many, and its closest pairs.

    They need not say the same: a folder must shrink even where no two notes do.
    """
    found = []
    for target in dict.fromkeys(row.target for row in notes):
        rows = [row for row in notes if row.target == target and row.file]
        if len(rows) <= SCREEN:
            continue
        told = f"{len(rows)} notes, {SCREEN} fit a screen; merge some, and remove what turned out wrong"
        found.append(Item("crowded", target.path, told, "`amp note merge NAME… --into NAME`, `amp note remove NAME`"))
        found += [
            Item("crowded", target.path, f"{one.file} and {other.file}; one note?", one.description)
            for one, other in _closest(rows)
        ]
    return found


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


def pairs(texts: Sequence[Text]) -> list[tuple[Text, Text]]:
    """Return the pairs that share most of their words. Texts with other numbers, paths or names are no pair."""
    shares = shared_words([text.text for text in texts], max(_COMMON, len(texts) // 50))
    words = [gist(text.text).words for text in texts]
    return [
        (texts[one], texts[other])
        for one, other in sorted(shares)
        if shares[one, other] >= _SHARED_WORDS
        and len(set(words[one])) >= _FEWEST_WORDS
        and _identifiers(words[one]) == _identifiers(words[other])
    ]


def _identifiers(words: Iterable[str]) -> set[str]:
    return {word for word in words if not word.isalpha()}
