"""A project written by hand, and what one rule finds in it."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.lint.finding import Finding

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
TODAY = date(2026, 6, 1)


class Project:
    """A project folder to write files into and to check."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = Workspace.open(root, environ={"HOME": str(root)})

    def write(self, files: Mapping[str, str]) -> None:
        """Write files; a name without a folder is a note beside the shared document."""
        for name, text in files.items():
            path = self.root / (name if "/" in name else f".scaffolding/agent-memory/shared/{name}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def check(self, *rules: str) -> list[Finding]:
        """Return what these rules find."""
        return self.workspace.check(select=rules, today=TODAY)

    def hits(self, rule: str, text: str, **files: str) -> list[int | None]:
        """Return the lines at which a rule finds something in the shared document, given its text."""
        self.write({SHARED: text, **files})
        return [one.line for one in self.check(rule) if one.path == SHARED]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
