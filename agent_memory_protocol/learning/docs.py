"""What the project's documentation says already: CLAUDE.md, AGENTS.md and the Markdown files below docs/."""

from collections.abc import Iterator
from itertools import chain, islice

from ..disk.files import Root
from ..errors import AgentMemoryError
from ..limits import split_lines
from ..text.gist import normalised

_MOST_DOCUMENTED = 500
_MOST_LOOKED_AT = 20_000
_LARGEST_DOCUMENTED = 1 << 20
_MARKS = " \t-*+>0123456789.)#"


def read(root: Root) -> Iterator[tuple[str, str]]:
    """Yield the path and text of CLAUDE.md, AGENTS.md and the Markdown files below docs/."""
    below = root.files_below(("docs",), lambda folder: "." not in folder[-1])
    named = chain([("CLAUDE.md",), ("AGENTS.md",)], islice(below, _MOST_LOOKED_AT))
    for parts in islice((one for one in named if one[-1].endswith(".md")), _MOST_DOCUMENTED):
        try:
            content = root.read(parts, limit=_LARGEST_DOCUMENTED)
        except AgentMemoryError:
            continue
        if content is not None:
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
