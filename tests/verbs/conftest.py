"""What tests of verbs share."""

import pytest

from agent_memory_protocol import Workspace


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
