"""The cells of a table's columns that are headed as secrets, each with its heading in front."""

import re

from .forms import Form

_HEADING = re.compile(
    r"(?i)[\"'`*_ ]*(?:[\w-]{1,20}[ _-])?(?P<name>passwords?|passwd|pwd|passphrase|secrets?|tokens?|keys?|credentials?)"
    r"(?:[ _-](?:value|id))?[\"'`*_ ]*"
)
_WORDS = ("pass", "pwd", "secret", "token", "key", "cred")  # One is in each name of a secret

_DELIMITERS = "|\t;,"
_MOST_ROWS = 1_000
_MORE_AT_MOST = 8


def headed_cells(form: Form) -> Form:
    """Return only those cells, one a line, as `password: VALUE`; a form without text where no table has one."""
    if not any(word in form.lowered for word in _WORDS):
        return Form("", form)
    lines: list[str] = []
    stretches: list[tuple[int, int]] = []
    length = start = 0
    heads: dict[int, str] = {}
    delimiter = ""
    left = width = 0
    for line in form.text.splitlines(keepends=True):
        cells = line.rstrip("\r\n").split(delimiter) if left and delimiter in line else []
        if len(cells) > max(heads, default=0) and heads:
            left -= 1
            place = start
            # A value may hold the mark that parts the cells: the row has more of them then than the first line.
            more = min(max(0, len(cells) - width), _MORE_AT_MOST)
            for number, cell in enumerate(cells):
                value = delimiter.join(cells[number : number + more + 1]).strip() if number in heads else ""
                if value.strip("-: |"):
                    label = f"{heads[number]} = "
                    stretches.append((length + len(label), form.text.index(value, place) - length - len(label)))
                    lines.append(f"{label}{value}")
                    length += len(lines[-1]) + 1
                place += len(cell) + 1
        else:
            delimiter, heads = _headings(line)
            left = _MOST_ROWS if heads else 0
            width = line.count(delimiter) + 1 if heads else 0
        start += len(line)
    return Form("\n".join(lines), form, stretches)


def _headings(line: str) -> tuple[str, dict[int, str]]:
    """Return what parts the cells of a table's first line, and the names of secrets among them by their number."""
    if len(line) > 1_000 or not any(word in line.lower() for word in _WORDS):
        return "", {}
    for delimiter in _DELIMITERS:
        if delimiter in line:
            cells = line.rstrip("\r\n").split(delimiter)
            if all(len(cell.strip()) <= 40 for cell in cells) and len([cell for cell in cells if cell.strip()]) > 1:
                named = {number: _HEADING.fullmatch(cell) for number, cell in enumerate(cells)}
                return delimiter, {number: _named(match["name"]) for number, match in named.items() if match}
    return "", {}


def _named(name: str) -> str:
    name = name.lower().rstrip("s")
    return "password" if name.startswith("pa") or name == "pwd" else "api key" if name.startswith("k") else name
