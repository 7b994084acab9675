"""The referee: markdown-it's answer where the line scanner is not certain, as the same blocks.

The only module that imports markdown-it. It costs several times a bare interpreter's start, so it is imported
only when a document needs it.
"""

from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, html_inline
from markdown_it.token import Token

from ..errors import DamagedFile
from . import footnotes, markdown
from .markdown import Block

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
    blocks = _with_definitions(lines, begin, blocks)
    if not any("[^" in line and markdown.footnote_name(line) for line in lines):
        return blocks
    return [one for block in blocks for one in _with_footnotes(lines, block)]


def _with_footnotes(lines: list[str], block: Block) -> list[Block]:
    """Return a block and, each as a paragraph of its own, the footnotes at its end."""
    if block.kind not in (markdown.PARAGRAPH, markdown.ITEM, markdown.DEFINITION):
        return [block]
    edge = block.column if block.kind == markdown.ITEM else 4
    spans = [(block.start, block.kind)]
    for number in range(block.start, block.end):
        if markdown.footnote_name(lines[number]) and _column(lines[number]) < edge:
            spans.append((number, markdown.PARAGRAPH))
        elif block.kind == markdown.DEFINITION and lines[number][:1] == "[":
            spans.append((number, block.kind))
    if len(spans) == 1:
        return [block]
    found = []
    for (start, kind), (limit, _) in pairwise([*spans, (block.end, "")]):
        end = _trim(lines, start, limit)
        if start == block.start and kind == block.kind and end > start:
            paragraph_end = min(block.paragraph_end, end)
            found.append(Block(kind, start, end, column=block.column, paragraph_end=paragraph_end))
        elif end > start:
            found.append(Block(kind, start, end, column=_column(lines[start]), paragraph_end=end))
    return found


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
_MARKS = " \t>-+*0123456789.)"  # of lists and quotes
_MOST_PASSES = 10

# markdown-it may take minutes over one paragraph of brackets. What these bounds keep from it is taken out wherever it
# is, in code too: better to lose a sample than to pass on a hidden instruction, or to keep an agent from starting.
_LONGEST_TEXT = 4_000
_MOST_BRACKETS = 50
_MOST_TEXT = 40_000


def _note_position(state: StateInline, silent: bool) -> bool:
    """Read inline HTML as markdown-it does, and note on its token where in the paragraph it is."""
    start = state.pos
    if not html_inline(state, silent):
        return False
    if not silent:
        state.tokens[-1].meta = {"start": start, "end": state.pos}
    return True


_inline = MarkdownIt("commonmark", {"maxNesting": 100}).disable(["emphasis", "balance_pairs"])
_inline.inline.ruler.at("html_inline", _note_position)


def remove_hidden(lines: list[str], keeper: str = "") -> tuple[list[str], list[int]]:
    """Take out comments, processing instructions, declarations and link definitions; see `visible.without_hidden`.

    `keeper` is the comment that stays if it is alone on a line. What is left is read again until nothing hidden is in
    it, since taking one thing out may reveal another. Raises DamagedFile if that takes too many rounds.
    """
    numbers = list(range(len(lines)))
    # markdown-it replaces NUL; replaced beforehand, positions stay what they are.
    kept = [line.replace("\0", "\ufffd") for line in lines]
    for _ in range(_MOST_PASSES):
        drop, spans = _find_hidden(kept, keeper)
        if not drop and not spans:
            return kept, numbers
        for number, hidden in spans.items():
            kept[number] = _cut_out(kept[number], hidden)
            if not kept[number].strip(" \t"):
                drop.add(number)
        left = [number for number in range(len(kept)) if number not in drop]
        numbers = [numbers[number] for number in left]
        kept = [kept[number] for number in left]
    raise DamagedFile("hides text behind more layers of comments than can be taken off; look at it in an editor")


def _cut_out(line: str, spans: list[tuple[int, int]]) -> str:
    pieces = []
    done = 0
    for start, end in sorted(spans):
        pieces.append(line[done:start])
        done = max(done, end)
    return "".join([*pieces, line[done:]])


def _find_hidden(lines: list[str], keeper: str) -> tuple[set[int], dict[int, list[tuple[int, int]]]]:
    """Return the lines that are wholly hidden, and for others the spans that are."""
    drop: set[int] = set()
    spans: dict[int, list[tuple[int, int]]] = {}
    covered: set[int] = set()
    row = (0, 0)
    read = 0
    for token in _blocks_only.parse("\n".join(lines)):
        first, last = token.map or row
        if token.type == "tr_open":
            row = first, last
        if token.type in _LEAVES:
            covered.update(range(first, last))
        is_keeper = [line.strip(" \t") for line in lines[first:last] if line.strip(" \t")] == [keeper]
        if token.type == "html_block" and not is_keeper and _hide_in_block(lines, first, last, spans):
            # A comment that its block leaves open hides the rest of the page.
            drop.update(range(last, len(lines)))
        if token.type == "inline" and ("<!" in token.content or "<?" in token.content):
            read += len(token.content)
            hidden = _hidden_in_text(token.content, by_parser=read <= _MOST_TEXT)
            if not _locate(lines, first, last, token.content, hidden, spans):
                drop.update(range(first, last))
    notes = footnotes.names_in(lines)
    for number, line in enumerate(lines):
        # A line no leaf covers is blank, the edge of a container such as a lone ">" or "-", or a link definition.
        if number not in covered and line.strip(_MARKS) and markdown.footnote_name(line.lstrip(_MARKS)) not in notes:
            drop.add(number)
    return drop, spans


def _hide_in_block(lines: list[str], start: int, end: int, spans: dict[int, list[tuple[int, int]]]) -> bool:
    """Find the comments and the like in a block of HTML. Says whether the last of them is left open."""
    closing = ""
    for number in range(start, end):
        line = lines[number]
        position = 0
        while position < len(line):
            begin = position
            if not closing:
                begin, closing = _next_hidden(line, position)
                if not closing:
                    break
                position = begin + 2
            close = line.find(closing, position)
            position = len(line) if close < 0 else close + len(closing)
            spans.setdefault(number, []).append((begin, position))
            if close >= 0:
                closing = ""
    return closing != ""


def _hidden_in_text(text: str, *, by_parser: bool) -> list[tuple[int, int]]:
    """Return the spans of a paragraph's text that its reader does not see.

    Only code and escapes can make a comment visible, so a parser is asked only if there are any, and only as far as
    it answers quickly.
    """
    by_parser = by_parser and len(text) <= _LONGEST_TEXT and text.count("[") <= _MOST_BRACKETS
    if by_parser and ("`" in text or "\\" in text):
        tokens: list[Token] = []
        _inline.inline.parse(text, _inline, {}, tokens)
        # What is in an image's text is never seen.
        if not any(token.type == "image" and "<" in token.content for token in tokens):
            return [
                (token.meta["start"], token.meta["end"])
                for token in tokens
                if token.type == "html_inline" and token.content.startswith(("<!", "<?"))
            ]
    found = []
    unclosed = set()
    position, closing = _next_hidden(text, 0)
    while closing:
        is_text = closing == ">" and not text[position + 2 : position + 3].isalpha()
        end = -1 if is_text or closing in unclosed else text.find(closing, position + 2)
        if end >= 0:
            found.append((position, end + len(closing)))
        elif not is_text:
            unclosed.add(closing)
        position, closing = _next_hidden(text, position + 2 if end < 0 else found[-1][1])
    return found


def _next_hidden(text: str, position: int) -> tuple[int, str]:
    """Return where the next comment or the like opens, and what closes it; "" without one."""
    position = text.find("<", position)
    while position >= 0:
        if text.startswith(("!", "?"), position + 1):
            return position, next(closing for opening, closing in _HIDDEN if text.startswith(opening, position))
        position = text.find("<", position + 1)
    return len(text), ""


def _locate(
    lines: list[str],
    first: int,
    last: int,
    content: str,
    hidden: list[tuple[int, int]],
    spans: dict[int, list[tuple[int, int]]],
) -> bool:
    """Map spans of an inline token's content to the source lines it was made from. Says whether all were found."""
    position = 0
    index = 0
    while first < last and not lines[first].strip():
        first += 1
    for number, part in zip(range(first, last), content.split("\n"), strict=False):
        # A tab before the text may have become blanks.
        text = part.strip(" \t")
        found = lines[number].rfind(text)
        if found < 0:
            return False
        shift = found - part.index(text) - position
        stop = position + len(part)
        while index < len(hidden) and hidden[index][0] < stop:
            start, end = max(hidden[index][0], position), min(hidden[index][1], stop)
            if start < end:
                spans.setdefault(number, []).append((max(start + shift, 0), end + shift))
            if hidden[index][1] > stop:
                break
            index += 1
        position = stop + 1
    return index == len(hidden)
