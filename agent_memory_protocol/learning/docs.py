"""What the project's documentation says already: CLAUDE.md, AGENTS.md and the Markdown files below docs/."""

import os
from collections import deque
from collections.abc import Iterator

from ..disk.files import Root
from ..errors import AgentMemoryError
from ..limits import split_lines
from ..text.gist import normalised

_DOCUMENTED = ("CLAUDE.md", "AGENTS.md", "docs")
_MOST_DOCUMENTED = 500
_MOST_FOLDERS = 2_000
_LARGEST_DOCUMENTED = 1 << 20
_MARKS = " \t-*+>0123456789.)#"


def read(root: Root) -> Iterator[tuple[str, str]]:
    """Yield the path and text of CLAUDE.md, AGENTS.md and the Markdown files below docs/.

    A folder that links lead to as well is looked at once.
    """
    left = _MOST_DOCUMENTED
    seen: set[str] = set()
    waiting = deque[tuple[str, ...]]((name,) for name in _DOCUMENTED)
    while waiting and left and len(seen) < _MOST_FOLDERS:
        parts = waiting.popleft()
        try:
            if not parts[-1].endswith(".md"):
                real = os.path.realpath(os.path.join(root.path, *parts))
                if real in seen:
                    continue
                seen.add(real)
                waiting += [(*parts, name) for name in root.list_files(parts) if name.endswith(".md")]
                waiting += [(*parts, name) for name in root.list_folders(parts) if "." not in name]
                continue
            content = root.read(parts, limit=_LARGEST_DOCUMENTED)
        except AgentMemoryError:
            continue
        if content is not None:
            left -= 1
            yield "/".join(parts), content.data.decode("utf-8", "replace")


def without_marks(line: str) -> str:
    """Return a line without what makes it a heading, a bullet, a numbered item or a quote."""
    return line.lstrip(_MARKS)


def place_of(root: Root, text: str) -> str:
    """Return where the documentation has a line that says a text word for word, as `docs/a.md:3`; "" if nowhere."""
    wanted = normalised(text)
    if not wanted:
        return ""
    rarest = max(wanted.split(), key=len)
    for path, content in read(root):
        if rarest not in content.casefold():
            continue
        for number, line in enumerate(split_lines(content), start=1):
            if rarest in line.casefold() and normalised(without_marks(line)) == wanted:
                return f"{path}:{number}"
    return ""
