"""What an entry names of the repository, as its headings and its label let it be read."""

from collections.abc import Iterable

from ..text.paths import Mention, mentions
from .document import Document
from .entries import Entry


def named(document: Document, entry: Entry) -> tuple[Mention, ...]:
    """Return the paths and functions that an entry takes to be there; `at` counts from the beginning of its text."""
    text = document.text(entry)
    if "`" not in text:
        return ()
    headings = document.outline.headings
    above = [headings[index].text for index in entry.headings if headings[index].level > 1]
    return mentions(text, [*above, document.label(entry)])


def all_named(documents: Iterable[Document]) -> set[Mention]:
    """Return what any entry of these documents takes to be there."""
    return {one for document in documents for entry in document.outline.entries for one in named(document, entry)}
