"""Open the best search index that this Python can have."""

import os
from typing import TYPE_CHECKING

from .port import Embedder, SearchIndex
from .scan import ScanIndex

if TYPE_CHECKING:
    from .keyword import KeywordIndex

VECTORS = ".vectors"
"""What the name of the second file ends with, where there is one."""


def open_index(path: str | os.PathLike[str] | None = None, *, embedder: Embedder | None = None) -> SearchIndex:
    """Return an index in the file at `path`, or in this process where that is None or cannot be written.

    Where Python has no SQLite, or SQLite no full-text search, it is a scan, which finds the same and is slower.

    Args:
        path: the file, in a folder that exists; whatever else is there is replaced. "" means no file.
        embedder: finds by similar meaning too, with vectors in a second file next to the first.
    """
    path = path or None
    words = _open_words(path)
    if embedder is None:
        return words or ScanIndex()
    from .fusion import VECTOR_WEIGHT, FusedIndex
    from .vectors import VectorIndex

    second = None if path is None or words is None else f"{os.fspath(path)}{VECTORS}"
    return FusedIndex((1, words or ScanIndex()), (VECTOR_WEIGHT, VectorIndex(second, embedder)))


def _open_words(path: str | os.PathLike[str] | None) -> "KeywordIndex | None":
    try:
        from .keyword import KeywordIndex
    except ImportError:
        return None
    return KeywordIndex(path) if KeywordIndex.available() else None
