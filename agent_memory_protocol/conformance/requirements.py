"""The numbered statements of docs/requirements.md, with the tests and the cases that show each."""

import re
from collections.abc import Iterable
from pathlib import Path

from ..errors import InvalidArgument
from ..values import HasJson, dataclass
from .cases import Case

_STATEMENT = re.compile(r"- \*\*(S\w+-\d+)\*\* (.*)")
_TESTS = re.compile(r"  - \[([^\]]+)\]\([^)]*\): (.*)")

_SHOWN_BY = {
    "P-1": "S4-06 S4-10 S4-15 S4-22 S4-23 S4-24 S4-30",
    "P-2": "S4-11",
    "P-3": "S4-11",
    "P-4": "S4-13 S4-14 S4-18",
    "P-5": "S4-08 S4-12 S4-14 S4-17 S4-52 S4-53 S4-55",
    "P-13": "S4-62",
    "P-15": "S4-62",
    "P-21": "S4-25",
    "P-24": "S4-29",
    "P-31": "S4-60",
    "P-34": "S4-65 S4-66",
    "P-39": "S4-59",
    "P-41": "S2-05 S2-30",
    "P-44": "S4-63",
    "P-48": "S2-23 S2-24",
    "P-49": "S2-11 S2-12",
    "P-52": "S0-09 S0-22 S0-23 S0-24 S0-25 S0-26 S0-33 S0-35",
}
"""For a rule, the statements that its cases show too."""


@dataclass(frozen=True, slots=True)
class Statement(HasJson):
    """A statement, the tests that carry its number, each with its file, and the cases that name it."""

    JSON = "statement=number text tests cases"

    number: str
    text: str
    tests: tuple[str, ...]
    cases: tuple[str, ...]

    @property
    def is_shown(self) -> bool:
        """Whether anything shows it."""
        return bool(self.tests or self.cases)


def page() -> Path:
    """Return where the page of requirements is: in the installed package, or in the source tree."""
    inside = Path(__file__).with_name("docs") / "requirements.md"
    return inside if inside.is_file() else Path(__file__).parents[2] / "docs" / "requirements.md"


def read(path: Path, cases: Iterable[Case]) -> list[Statement]:
    """Return every statement of a page, in its order. Raises InvalidArgument if there is no such page."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"{path} cannot be read; it lists the numbered statements") from None
    shown: dict[str, list[str]] = {}
    for case in cases:
        for number in dict.fromkeys(one for rule in case.rules for one in _SHOWN_BY.get(rule, "").split()):
            shown.setdefault(number, []).append(case.id)
    found: list[Statement] = []
    for line in lines:
        if stated := _STATEMENT.match(line):
            found.append(Statement(stated[1], stated[2], (), tuple(shown.get(stated[1], ()))))
        elif found and (listed := _TESTS.match(line)):
            names = (f"{listed[1]}: {name.strip('` ')}" for name in listed[2].split(", "))
            last = found[-1]
            found[-1] = Statement(last.number, last.text, (*last.tests, *names), last.cases)
    return found
