"""Open the best search index that is to be had here."""

import os

from .port import SearchIndex
from .scan import ScanIndex


def open_index(path: str | os.PathLike[str] | None = None) -> SearchIndex:
    """Return an index in the file at `path`, or in this process where that is None or cannot be written.

    Where Python has no SQLite, or SQLite no full-text search, it is a scan, which finds the same and is slower.
    """
    try:
        from .keyword import KeywordIndex, available
    except ImportError:
        return ScanIndex()
    return KeywordIndex(path) if available() else ScanIndex()
