"""The page of requirements: its statements are kept, and the tests with its numbers are listed below each again."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PAGE = REPOSITORY / "docs" / "requirements.md"
STATEMENT = re.compile(r"- \*\*(S\w+-\d+)\*\* \S")
_LISTED = "  - "
"""How a line of the list begins that names tests."""


def marks_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each number in a file's marks, and the test it belongs to: above its `def` or in a table of its cases."""
    text = path.read_text(encoding="utf-8")
    if "mark.requirement(" not in text:
        return
    tables: dict[str, list[str]] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            tables[name] = _numbers(node.value)
            yield from ((number, name) for number in tables[name] if name.startswith("test_"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                names = [one.id for one in ast.walk(decorator) if isinstance(one, ast.Name)]
                numbers = [*_numbers(decorator), *(number for name in names for number in tables.get(name, ()))]
                yield from ((number, node.name) for number in numbers)


def _numbers(tree: ast.AST) -> list[str]:
    marks = (
        argument
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement"
        for argument in node.args
    )
    return [str(one.value) for mark in marks for one in ast.walk(mark) if isinstance(one, ast.Constant)]


@cache
def shown_by() -> dict[str, dict[str, list[str]]]:
    """Return, for each number that a mark names, the files and in each the tests that carry it."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        name = path.relative_to(REPOSITORY).as_posix()
        for number, test in marks_in(path):
            found.setdefault(number, {}).setdefault(name, []).append(test)
    return found


def stated(page: str) -> list[str]:
    """Return the numbers of the statements in a page, in its order."""
    return [statement[1] for line in page.splitlines() if (statement := STATEMENT.match(line))]


def page_with_tests(page: str) -> str:
    """Return a page with the tests of each statement listed under it, as the marks are now."""
    tests = shown_by()
    lines = []
    for line in page.splitlines():
        if line.startswith(_LISTED):
            continue
        lines.append(line)
        if statement := STATEMENT.match(line):
            for file, names in tests.get(statement[1], {}).items():
                listed = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
                lines.append(f"{_LISTED}[{file.removeprefix('tests/')}](../{file}): {listed}")
    return "\n".join(lines) + "\n"


def write_page() -> None:
    """Write the page with its tests as the marks are now."""
    PAGE.write_text(page_with_tests(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
