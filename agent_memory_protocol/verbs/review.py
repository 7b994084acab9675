"""The monthly upkeep list: what to merge, what to prune, what to look at again (S2-27, S2-28).

Values in, values out. What is proposed here is decided by a person.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import combinations

from ..answers import NoteRow, StoredEntry
from ..notes.index import SCREEN
from ..text.gist import gist

DUE_AFTER = timedelta(days=30)
_OLDEST = 10
_SHARED_WORDS = 0.6
_FEWEST_WORDS = 4
_CLOSEST = 10
_COMMON = 20
"""A word that more notes have than this brings no two of them together."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to look at: which list it is on, the place, what to do, and what it says."""

    kind: str
    place: str
    message: str
    text: str

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {"kind": self.kind, "place": self.place, "message": self.message, "text": self.text}


@dataclass(frozen=True, slots=True)
class Text:
    """A text that may say the same as another: where it stands, its id or file, and what it says."""

    place: str
    name: str
    text: str


def items(
    entries: Sequence[StoredEntry], notes: Sequence[NoteRow], *, today: date, older_than: timedelta
) -> list[Item]:
    """Return what is worth a look: near-repeats, folders with too many notes, what is past its age, what is undated."""
    texts = [Text(f"{entry.target.path}:{entry.line}", entry.id, entry.text) for entry in entries]
    texts += [Text(f"{row.target.path}", row.file, row.description) for row in notes if row.description]
    found = [
        Item("merge", first.place, f"{first.name} and {second.name} ({second.place}); merge them", first.text)
        for first, second in pairs(texts)
    ]
    found += _crowded(notes)
    found += [
        Item("stale", f"{entry.target.path}:{entry.line}", f"{entry.id}, dated {entry.date}; still true?", entry.text)
        for entry in sorted(entries, key=lambda one: one.date or today)
        if entry.date is not None and today - entry.date > older_than
    ]
    undated = [entry for entry in entries if entry.date is None]
    found += [
        Item("undated", f"{entry.target.path}:{entry.line}", f"{entry.id}; still true?", entry.text)
        for entry in sorted(undated, key=lambda one: one.line)[:_OLDEST]
    ]
    return found


def _crowded(notes: Sequence[NoteRow]) -> list[Item]:
    """Return, for each folder with more notes than an index shows at a glance, how many, and its closest pairs (S2-26).

    They need not say the same: where nothing does, these are what to begin with.
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
    words = [frozenset(gist(f"{row.title} {row.description}").words) for row in rows]
    holders: dict[str, list[int]] = {}
    for index, own in enumerate(words):
        for word in own:
            holders.setdefault(word, []).append(index)
    scored = {
        (len(words[one] & words[other]) / len(words[one] | words[other]), one, other)
        for found in holders.values()
        if len(found) <= _COMMON
        for one, other in combinations(found, 2)
    }
    left = set(range(len(rows)))
    pairs = []
    for _, one, other in sorted(scored, key=lambda pair: (-pair[0], *pair[1:])):
        if one in left and other in left:
            left -= {one, other}
            pairs.append((rows[one], rows[other]))
    return pairs[:_CLOSEST]


def is_due(last: date | None, oldest: date | None, today: date) -> bool:
    """Say whether a review is due: a month after the last one, or, where there was none, after the oldest there is."""
    since = last or oldest
    return since is not None and today - since > DUE_AFTER


def pairs(texts: Sequence[Text]) -> list[tuple[Text, Text]]:
    """Return the pairs that share most of their words. Texts with other numbers, paths or names are no pair.

    Only texts with a rare word in common are compared, so that many texts take time in proportion to their number.
    """
    words = [frozenset(gist(text.text).words) for text in texts]
    holders: dict[str, list[int]] = {}
    for index, own in enumerate(words):
        for word in own:
            holders.setdefault(word, []).append(index)
    common = max(20, len(texts) // 50)
    found = []
    for index, own in enumerate(words):
        if len(own) < _FEWEST_WORDS:
            continue
        near = {other for word in own if len(holders[word]) <= common for other in holders[word] if other > index}
        for other in sorted(near):
            theirs = words[other]
            if len(own & theirs) >= _SHARED_WORDS * len(own | theirs) and _same_identifiers(own, theirs):
                found.append((texts[index], texts[other]))
    return found


def _same_identifiers(one: frozenset[str], other: frozenset[str]) -> bool:
    return {word for word in one if not word.isalpha()} == {word for word in other if not word.isalpha()}
