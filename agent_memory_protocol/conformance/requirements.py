"""The numbered statements of docs/requirements.md, with the tests and the cases that show each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InvalidArgument
from .cases import Case

_STATEMENT = re.compile(r"- \*\*(S\w+-\d+)\*\* (.*)")
_TESTS = re.compile(r"  - \[([^\]]+)\]\([^)]*\): (.*)")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, the tests that carry its number, each with its file, and the cases that name it."""

    number: str
    text: str
    tests: tuple[str, ...]
    cases: tuple[str, ...]

    @property
    def is_shown(self) -> bool:
        """Whether anything shows it."""
        return bool(self.tests or self.cases)

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {"statement": self.number, "text": self.text, "tests": [*self.tests], "cases": [*self.cases]}


def page() -> Path:
    """Return where the page of requirements is: in the installed package, or in the source tree."""
    inside = Path(__file__).with_name("docs") / "requirements.md"
    return inside if inside.is_file() else Path(__file__).parents[2] / "docs" / "requirements.md"


def read(path: Path, cases: Iterable[Case]) -> list[Statement]:
    """Return every statement of a page, in its order.

    Raises:
        InvalidArgument: there is no such page.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"{path} cannot be read; it lists the numbered statements") from None
    shown: dict[str, list[str]] = {}
    for case in cases:
        for rule in case.rules:
            shown.setdefault(rule, []).append(case.id)
    found: list[Statement] = []
    for line in lines:
        if stated := _STATEMENT.match(line):
            found.append(Statement(stated[1], stated[2], (), tuple(shown.get(stated[1], ()))))
        elif found and (listed := _TESTS.match(line)):
            names = (f"{listed[1]}: {name.strip('` ')}" for name in listed[2].split(", "))
            last = found[-1]
            found[-1] = Statement(last.number, last.text, (*last.tests, *names), last.cases)
    return found
