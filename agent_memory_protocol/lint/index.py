"""Rules on the index: one line for each note, and a note for each line."""

from collections.abc import Iterator, Mapping

from ..notes.index import LINE_WIDTH, SCREEN, Index, is_beside
from ..text import links
from ..values import dataclass
from .finding import ERROR, WARNING, Fix, Remark, rule

_HARD_WIDTH = 2 * LINE_WIDTH


@dataclass(frozen=True, slots=True)
class IndexView:
    """An index as the rules see it."""

    index: Index
    lines: tuple[str, ...]
    files: Mapping[str, str]  # the notes that are there, by their key
    unread: frozenset[str] = frozenset()  # those of them that cannot be read, for which `amp index` makes no line
    elsewhere: frozenset[str] = frozenset()  # the keys of those that another file lists


@rule(
    "index-orphan",
    ERROR,
    "index",
    "A note that no line of the tier file names, nor one in `INDEX.md` beside it, so no session ever opens it. "
    "`amp index` adds its line.",
)
def orphan(view: IndexView) -> Iterator[Remark]:
    named = view.index.files | view.elsewhere
    for key, file in sorted(view.files.items()):
        if key not in named and file not in view.unread:
            yield Remark(None, f"{file} has no index line; `amp index` adds it")


@rule(
    "index-dangling",
    ERROR,
    "index",
    "An index line links to a file that does not exist. Its hook may be the only copy of "
    "a fact, so `--fix` makes it a plain bullet.",
)
def dangling(view: IndexView) -> Iterator[Remark]:
    for found in view.index.lines:
        if found.file not in view.files and not is_beside(found.file):
            yield Remark(
                found.line,
                f"{found.file} does not exist; write it, or make this a plain entry (--fix)",
                _plain_bullet(view, found.line, found.text),
            )


@rule(
    "index-outside",
    WARNING,
    "index",
    "An index line links to a Markdown file outside this folder. Nothing looks after it, and it breaks when "
    "the folder moves. Move the file here, or make the line an entry.",
    on=False,
)
def outside(view: IndexView) -> Iterator[Remark]:
    for number, line in enumerate(links.visible_lines("\n".join(view.lines)), start=1):
        target = links.outside_target(line)
        if target:
            yield Remark(number, f"{target} lies outside this folder; move it here, or make this a plain entry")


@rule(
    "index-markers",
    ERROR,
    "index",
    "The markers around the index are not one pair, so no index is built: it would replace what somebody wrote.",
)
def markers(view: IndexView) -> Iterator[Remark]:
    if view.index.problem:
        yield Remark(view.index.problem_line, view.index.problem)


@rule("index-double", WARNING, "index", "Two index lines link to one note. Keep one.")
def double(view: IndexView) -> Iterator[Remark]:
    first: dict[str, int] = {}
    for found in view.index.lines:
        if found.file in first:
            yield Remark(found.line, f"{found.file} has a line already, line {first[found.file]}; keep one")
        else:
            first[found.file] = found.line


@rule(
    "index-over-screen",
    WARNING,
    "index",
    "More than fifty index lines are not read at a glance. Merge notes that say the same, remove what is wrong.",
)
def over_screen(view: IndexView) -> Iterator[Remark]:
    if len(view.index.lines) > SCREEN:
        yield Remark(
            None, f"{len(view.index.lines)} index lines, {SCREEN} fit a screen; `amp review` lists what to merge"
        )


@rule(
    "index-line-long",
    WARNING,
    "index",
    "An index line is a hook, not the content. Shorten it; the note has room.",
    on=False,
)
def line_long(view: IndexView) -> Iterator[Remark]:
    for found in view.index.lines:
        if len(found.text) > _HARD_WIDTH:
            yield Remark(found.line, f"{len(found.text)} characters; a hook takes up to {LINE_WIDTH}")


def _plain_bullet(view: IndexView, number: int, text: str) -> Fix | None:
    """Return the fix that turns an index line into an entry: the link's text, the file's name and the hook stay."""
    line = view.lines[number - 1]
    end = links.note_link_end(text)
    opening = text.index("[")
    title = text[opening + 1 : text.rindex("](", 0, end)]
    start = line.index(text)
    name = links.note_target(text)
    quote = "``" if "`" in name else "`"
    return Fix(number, line, f"{line[:start]}{title} ({quote}{name}{quote}){text[end:]}")
