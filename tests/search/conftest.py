"""What the tests of search share: one of each index, which all behave alike."""

from collections.abc import Callable

import pytest

from agent_memory_protocol.search.port import SearchIndex
from agent_memory_protocol.search.scan import ScanIndex

INDEXES: dict[str, Callable[[], SearchIndex]] = {"scan": ScanIndex}


@pytest.fixture(params=INDEXES)
def index(request: pytest.FixtureRequest) -> SearchIndex:
    """One of each index."""
    return INDEXES[request.param]()
