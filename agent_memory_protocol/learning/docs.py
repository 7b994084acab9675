"""What the project's documentation says already: CLAUDE.md, AGENTS.md and the Markdown files below docs/."""

from collections.abc import Iterator
from itertools import chain, islice

from ..disk.files import Root
from ..errors import AgentMemoryError
from ..limits import split_lines
from ..text import labels
from ..text.gist import normalised
from ..text.markdown import marker_width
from ..text.over_lists import is_label, label_in

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


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number of each line of a page, from 1, and what it says: without marks, in a list its label first."""
    label = ""
    for number, line in enumerate(split_lines(text), start=1):
        said = without_marks(line)
        if not said:
            continue
        is_in_list = line[:1] in " \t" or marker_width(line)
        if not is_in_list:
            label = label_in([line]) if line[:1] != "#" and is_label(line) else ""
        yield number, labels.in_front(label, said) if is_in_list else said


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
        for number, line in lines(content):
            if rarest in line.casefold() and normalised(line) == wanted:
                return f"{path}:{number}"
    return ""
