"""The monthly upkeep list: what to merge, what to prune, what to look at again (S2-27, S2-28).

Values in, values out. What is proposed here is decided by a person.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from .answers import NoteRow, StoredEntry
from .similarity import gist

DUE_AFTER = timedelta(days=30)
_OLDEST = 10
_SHARED_WORDS = 0.6
_FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Item:
    """Something to look at: which list it is on, the place, what to do, and what it says."""

    kind: str
    place: str
    message: str
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text that may say the same as another: where it stands, its id or file, and what it says."""

    place: str
    name: str
    text: str


def items(
    entries: Sequence[StoredEntry], notes: Sequence[NoteRow], *, today: date, older_than: timedelta
) -> list[Item]:
    """Return what is worth a look: near-repeats to merge, entries past their age, undated ones from the top."""
    texts = [Text(f"{entry.target.path}:{entry.line}", entry.id, entry.text) for entry in entries]
    texts += [Text(f"{row.target.path}", row.file, row.description) for row in notes if row.description]
    found = [
        Item("merge", first.place, f"{first.name} and {second.name} ({second.place}); merge them", first.text)
        for first, second in pairs(texts)
    ]
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
