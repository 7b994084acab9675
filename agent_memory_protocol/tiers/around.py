"""What stands around a line of a document: the blocks before and after it, the blank lines, the headings above.

A block's key is made from its text alone, as an entry's id is, so it survives other edits and tells nothing.
"""

from bisect import bisect_right
from itertools import islice, takewhile

from ..text.markdown import Block
from . import document as documents
from .document import Document, entry_id, section_key
from .entries import Entry, Heading


def text(document: Document, span: Block | Heading) -> str:
    """Return the Markdown of a block or heading."""
    return "\n".join(document.lines[span.start : span.end])


def key(document: Document, span: Block | Heading) -> str:
    """Return what tells a block from others, wherever it stands."""
    return entry_id(text(document, span), document.target)


def key_before(document: Document, line: int) -> str:
    """Return the key of the block that ends before a line; "" where there is none, or the line is inside one."""
    last = next((block for block in reversed(document.outline.blocks) if block.start < line), None)
    return "" if last is None or last.end > line else key(document, last)


def key_after(document: Document, line: int) -> str:
    """Return the key of the block that begins at or after a line; "" where there is none, or the line is inside one."""
    first = next((block for block in document.outline.blocks if block.end > line), None)
    return "" if first is None or first.start < line else key(document, first)


def stands_between(document: Document, position: int, previous: str, following: str) -> bool:
    """Say whether a line is between the same two blocks as before."""
    return key_before(document, position) == previous and key_after(document, position) == following


def blanks_before(document: Document, line: int) -> int:
    """Count the blank lines that end before a line."""
    return line - back_over_blanks(document, line)


def blanks_after(document: Document, line: int) -> int:
    """Count the blank lines from a line on."""
    end = line
    while end < len(document.lines) and not document.lines[end].strip(" \t"):
        end += 1
    return end - line


def back_over_blanks(document: Document, line: int) -> int:
    """Return the line after the last one before it that is not blank."""
    while line > document.begin and not document.lines[line - 1].strip(" \t"):
        line -= 1
    return line


def blocks_in(document: Document, entry: Entry) -> list[tuple[int, int]]:
    """Return where each block of an entry begins and ends. A paragraph that dates part is a block of each of them."""
    blocks = document.outline.blocks
    first = max(bisect_right(blocks, entry.start, key=lambda block: block.start) - 1, 0)
    within = takewhile(lambda block: block.start < entry.end, islice(blocks, first, None))
    return [(max(one.start, entry.start), min(one.end, entry.end)) for one in within if one.end > entry.start]


def is_part_of(document: Document, prose: Entry, markdown_text: str) -> bool:
    """Say whether a text is some whole blocks of a longer prose entry. A line inside a block is a sample, and none."""
    lines = markdown_text.split("\n")
    if prose.is_item or prose.end - prose.start == len(lines):
        return False
    blocks = blocks_in(document, prose)
    ends = {end for _, end in blocks}
    return any(
        start + len(lines) in ends and document.lines[start : start + len(lines)] == lines for start, _ in blocks
    )


def twins(document: Document, title: str, above: tuple[int, ...]) -> list[int]:
    """Return the headings of one name under the same headings."""
    name = section_key(title)
    return [
        index
        for index, heading in enumerate(document.outline.headings)
        if heading.above == above and section_key(heading.text) == name
    ]


def innermost(entry: Entry) -> int | None:
    """Return the index of the heading right above an entry; None where it stands under none."""
    return entry.headings[-1] if entry.headings else None


def end_under(document: Document, heading: int | None) -> int:
    """Return the line after the last one that stands under a heading, blank lines not counted."""
    end = len(document.lines)
    if heading is not None:
        own = document.outline.headings[heading]
        later = [other.start for other in document.outline.headings[heading + 1 :] if other.level <= own.level]
        end = later[0] if later else end
    return back_over_blanks(document, end)


def after_heading(document: Document, heading: int | None) -> int:
    """Return the line after a heading and the comments right under it."""
    return document.begin if heading is None else documents.after_heading(document, document.outline.headings[heading])
