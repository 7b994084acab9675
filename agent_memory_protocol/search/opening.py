"""Open the best search index that this Python can have."""

import os

from .port import Embedder, SearchIndex
from .scan import ScanIndex

VECTORS = ".vectors"  # What the name of the second file ends with, where there is one


def open_index(path: str | os.PathLike[str] | None = None, *, embedder: Embedder | None = None) -> SearchIndex:
    """Return an index in the file at `path`, or in this process where that is None or cannot be written.

    Where Python has no SQLite, or SQLite no full-text search, it is a scan, which finds the same and is slower. An
    `embedder` finds by similar meaning too, with vectors in a second file next to the first.
    """
    from .keyword import KeywordIndex

    path = path or None
    words: SearchIndex = KeywordIndex(path) if KeywordIndex.available() else ScanIndex()
    if embedder is None:
        return words
    from .joined import JoinedIndex
    from .vectors import VectorIndex

    second = f"{os.fspath(path)}{VECTORS}" if path and not isinstance(words, ScanIndex) else None
    return JoinedIndex(words, VectorIndex(second, embedder))
