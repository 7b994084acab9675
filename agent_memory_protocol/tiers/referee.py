"""The referee: markdown-it's answer where the line scanner is not certain, as the same blocks.

The only module that imports markdown-it. It costs several times a bare interpreter's start, so it is imported
only when a document needs it.
"""

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, html_inline
from markdown_it.token import Token

from agent_memory_protocol import markdown
from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.markdown import Block

_KINDS = {
    "paragraph_open": markdown.PARAGRAPH,
    "fence": markdown.FENCE,
    "blockquote_open": markdown.QUOTE,
    "table_open": markdown.TABLE,
    "hr": markdown.RULE,
    "code_block": markdown.CODE,
    "html_block": markdown.HTML,
}
_blocks_only = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").disable("inline")


def find_blocks(lines: list[str], begin: int = 0) -> list[Block]:
    """Return the top-level blocks of `lines` from `begin` on, as `markdown.scan` does, for any document."""
    # NUL would be replaced by markdown-it; any other character keeps the structure and the line count.
    tokens = _blocks_only.parse("\n".join(lines[begin:]).replace("\0", "\ufffd"))
    blocks: list[Block] = []
    for index, token in enumerate(tokens):
        if token.map is None:
            continue
        start, end = token.map[0] + begin, _trim(lines, token.map[0] + begin, token.map[1] + begin)
        if token.type == "list_item_open" and token.level == 1:
            blocks.append(_item(lines, tokens, index, start, end, begin))
        elif token.level:
            continue
        elif token.type == "heading_open":
            column = 0 if token.markup[0] == "#" else _column(lines[start])
            blocks.append(Block(markdown.HEADING, start, end, level=int(token.tag[1]), column=column))
        elif token.type in _KINDS:
            blocks.append(_leaf(lines, token, start, end))
    return _with_definitions(lines, begin, blocks)


def _leaf(lines: list[str], token: Token, start: int, end: int) -> Block:
    kind = _KINDS[token.type]
    if kind == markdown.HTML and _is_comment(lines[start:end]):
        kind = markdown.COMMENT
    if kind == markdown.PARAGRAPH:
        return Block(kind, start, end, column=_column(lines[start]), paragraph_end=end)
    return Block(kind, start, end, closed=kind != markdown.FENCE or _is_closed(lines, start, end, token.markup))


def _is_closed(lines: list[str], start: int, end: int, fence: str) -> bool:
    text = lines[end - 1].strip(" \t")
    return (
        end > start + 1
        and markdown.closes_fence(text, fence[0], len(fence))
        and markdown.column_of(lines[end - 1], text) < 4
    )


def _item(lines: list[str], tokens: list[Token], index: int, start: int, end: int, begin: int) -> Block:
    text = lines[start].strip(" \t")
    column = _column(lines[start]) + markdown.marker_width(text)
    column += len(lines[start][column:]) - len(lines[start][column:].lstrip(" \t"))
    paragraph_end = start
    child = tokens[index + 1]
    if child.type == "paragraph_open" and child.map is not None and child.map[0] + begin == start:
        paragraph_end = child.map[1] + begin
    return Block(markdown.ITEM, start, end, column=column, paragraph_end=paragraph_end)


def _with_definitions(lines: list[str], begin: int, blocks: list[Block]) -> list[Block]:
    """Add the lines no token covers: link definitions, which render as nothing."""
    found: list[Block] = []
    covered = begin
    for block in [*blocks, Block(markdown.RULE, len(lines), len(lines))]:
        end = _trim(lines, covered, block.start)
        while covered < end and not lines[covered].strip(" \t"):
            covered += 1
        if covered < end:
            found.append(Block(markdown.DEFINITION, covered, end))
        if block.end > block.start:
            found.append(block)
        covered = block.end
    return found


def _is_comment(lines: list[str]) -> bool:
    text = "\n".join(lines).strip()
    return text.startswith("<!--") and text.find("-->") == len(text) - 3


def _trim(lines: list[str], start: int, end: int) -> int:
    while end > start and not lines[end - 1].strip(" \t"):
        end -= 1
    return end


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


_LEAVES = frozenset(["paragraph_open", "heading_open", "fence", "code_block", "html_block", "hr", "table_open"])
_HIDDEN = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_MOST_PASSES = 50


def _note_position(state: StateInline, silent: bool) -> bool:
    """Read inline HTML as markdown-it does, and note on its token where in the paragraph it stands."""
    start = state.pos
    if not html_inline(state, silent):
        return False
    if not silent:
        state.tokens[-1].meta = {"start": start, "end": state.pos}
    return True


_full = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
_full.inline.ruler.at("html_inline", _note_position)


def remove_hidden(lines: list[str]) -> tuple[list[str], list[int]]:
    """Take out comments, processing instructions, declarations and link definitions; see `visible.without_hidden`.

    What is left is read again until nothing hidden is in it: taking one thing out may reveal another.

    Raises:
        DamagedFile: the document hides text in so many layers that it cannot be shown.
    """
    numbers = list(range(len(lines)))
    # markdown-it replaces NUL; replaced beforehand, positions stay what they are.
    kept = [line.replace("\0", "\ufffd") for line in lines]
    for _ in range(_MOST_PASSES):
        drop, spans = _find_hidden(kept)
        if not drop and not spans:
            return kept, numbers
        cut_before = len(lines), 0
        for number, start, end in sorted(spans, reverse=True):
            if (number, end) > cut_before:
                continue  # overlaps a cut just made; the next pass sees what is left
            kept[number] = kept[number][:start] + kept[number][end:]
            cut_before = number, start
            if not kept[number].strip(" \t"):
                drop.add(number)
        left = [number for number in range(len(kept)) if number not in drop]
        numbers = [numbers[number] for number in left]
        kept = [kept[number] for number in left]
    raise DamagedFile("hides text behind more layers of comments than can be taken off; look at it in an editor")


def _find_hidden(lines: list[str]) -> tuple[set[int], set[tuple[int, int, int]]]:
    """Return the lines that are wholly hidden, and the spans (line, start, end) that are hidden in others."""
    drop: set[int] = set()
    spans: set[tuple[int, int, int]] = set()
    covered: set[int] = set()
    row = (0, 0)
    for token in _full.parse("\n".join(lines)):
        first, last = token.map or row
        if token.type == "tr_open":
            row = first, last
        if token.type in _LEAVES:
            covered.update(range(first, last))
        if token.type == "html_block" and _hide_in_block(lines, first, last, spans):
            # A comment that its block leaves open hides the rest of the page.
            drop.update(range(last, len(lines)))
        for child in token.children or ():
            if child.type == "html_inline" and child.content.startswith(("<!", "<?")):
                located = _locate(lines, first, last, token.content, child.meta["start"], child.meta["end"])
                spans.update(located)
                if not located:
                    drop.update(range(first, last))
    for number, line in enumerate(lines):
        # A line no leaf covers is blank, the edge of a container such as a lone ">" or "-", or a link definition.
        if number not in covered and line.strip(" \t>-+*0123456789.)"):
            drop.add(number)
    return drop, spans


def _hide_in_block(lines: list[str], start: int, end: int, spans: set[tuple[int, int, int]]) -> bool:
    """Find the comments and the like in a block of HTML. Says whether the last of them is left open."""
    closing = ""
    for number in range(start, end):
        line = lines[number]
        position = 0
        while position < len(line) or (closing and not line and position == 0):
            if not closing:
                found = [(line.find(opening, position), opening, close) for opening, close in _HIDDEN]
                found = [place for place in found if place[0] >= 0]
                if not found:
                    break
                position, _, closing = min(found, key=lambda place: place[0])
                close = line.find(closing, position + 2)
            else:
                close = line.find(closing, position)
            stop = len(line) if close < 0 else close + len(closing)
            spans.add((number, position, stop))
            if close >= 0:
                closing = ""
            position = max(stop, position + 1)
    return closing != ""


def _locate(lines: list[str], first: int, last: int, content: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Map a span of an inline token's content to spans of the source lines it was made from."""
    spans: list[tuple[int, int, int]] = []
    position = 0
    number = first
    for part in content.split("\n"):
        while number < last and part not in lines[number]:
            number += 1
        if number == last:
            return []
        shift = lines[number].rindex(part) - position
        begin, stop = max(start, position), min(end, position + len(part))
        if begin < stop:
            spans.append((number, begin + shift, stop + shift))
        position += len(part) + 1
        number += 1
    return spans
