"""What an entry names of the repository, as its headings and its label let it be read."""

from collections.abc import Iterator

from ..text.paths import Mention, mentions
from .document import Document
from .entries import Entry


def named(document: Document, entry: Entry) -> Iterator[Mention]:
    """Yield the paths and functions that an entry takes to be there; `at` counts from the beginning of its text."""
    headings = document.outline.headings
    above = [headings[index].text for index in entry.headings if headings[index].level > 1]
    return mentions(document.text(entry), [*above, document.label(entry)])
