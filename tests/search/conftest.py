"""What the tests of search share: one of each index, which all behave alike."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent_memory_protocol.search.keyword import KeywordIndex
from agent_memory_protocol.search.port import SearchIndex
from agent_memory_protocol.search.scan import ScanIndex

INDEXES: dict[str, Callable[[Path], SearchIndex]] = {
    "scan": lambda _: ScanIndex(),
    "file": lambda folder: KeywordIndex(folder / "search.sqlite"),
    "memory": lambda _: KeywordIndex(),
}


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SearchIndex]:
    """One of each index."""
    made = INDEXES[request.param](tmp_path)
    yield made
    made.close()
