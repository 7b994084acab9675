"""The line scanner: where it answers it names the blocks that a whole parser names, and it answers nearly always."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.disk.files import decode
from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.text import headers, markdown, referee
from agent_memory_protocol.text.markdown import (
    Block,
    close_fence,
    column_of,
    heading_level,
    heading_text,
    is_rule,
    scan,
)
from tests.each_row import each_row

MOST = settings.default.max_examples if settings.default else 100
"""How many examples the profile asks for."""


def facts(blocks: list[Block] | None) -> list[tuple[object, ...]] | None:
    """Return all that a block says, in a form that can be compared."""
    if blocks is None:
        return None
    return [(b.kind, b.start, b.end, b.level, b.column, b.paragraph_end, b.closed) for b in blocks]


def names(lines: list[str]) -> str | None:
    """Return the blocks in short: `item 0:2, fence 3:5`; None where the scanner leaves them to the referee."""
    blocks = scan(lines)
    return None if blocks is None else ", ".join(f"{block.kind} {block.start}:{block.end}" for block in blocks)


CERTAIN = [
    pytest.param([], "", id="nothing"),
    pytest.param(["", " \t"], "", id="blank"),
    pytest.param(["# T", "<!-- c -->", "", "- a", "- b"], "heading 0:1, comment 1:2, item 3:4, item 4:5", id="usual"),
    pytest.param(["- a", "  more", "", "  again", "", "- b"], "item 0:4, item 5:6", id="item-with-paragraphs"),
    pytest.param(["- a", "  - b", "    - c", "- d"], "item 0:3, item 3:4", id="nested-items"),
    pytest.param(["- a", "lazy", "- b"], "item 0:2, item 2:3", id="lazy-continuation"),
    pytest.param(["1. a", "2. b", "10) c"], "item 0:1, item 1:2, item 2:3", id="numbered"),
    pytest.param(["text", "- a"], "paragraph 0:1, item 1:2", id="a-bullet-ends-a-paragraph"),
    pytest.param(["text", "2. b"], "paragraph 0:2", id="a-number-other-than-one-does-not"),
    pytest.param(["text", "# H"], "paragraph 0:1, heading 1:2", id="a-heading-ends-a-paragraph"),
    pytest.param(["#H", "####### seven"], "paragraph 0:2", id="no-headings"),
    pytest.param(["Title", "===", "x", "---"], "heading 0:2, heading 2:4", id="setext"),
    pytest.param(["a", "", "---", "***", "_ _ _"], "paragraph 0:1, rule 2:3, rule 3:4, rule 4:5", id="rules"),
    pytest.param(["```", "# no", "- no", "```", "- a"], "fence 0:4, item 4:5", id="fence"),
    pytest.param(["````", "```", "# no", "```", "````"], "fence 0:5", id="longer-fence"),
    pytest.param(["~~~ x", "```", "~~~"], "fence 0:3", id="tildes"),
    pytest.param(["```", "- no", ""], "fence 0:2", id="open-fence"),
    pytest.param(
        ["- a", "", "  ```", "# H", "  ```"],
        "item 0:3, heading 3:4, fence 4:5",
        id="fence-in-item-ended-by-a-heading-at-the-margin",
    ),
    pytest.param(["- a", "  ```", "  # no", "", "  - no", "  ```", "- b"], "item 0:6, item 6:7", id="fence-in-item"),
    pytest.param(["> a", "> b", "", "x"], "quote 0:2, paragraph 3:4", id="quote"),
    pytest.param(["| a | b |", "|---|---|", "| c | d |", "", "x"], "table 0:3, paragraph 4:5", id="table"),
    pytest.param(["text", "a | b", "--- | ---", "c | d"], "paragraph 0:1, table 1:4", id="table-under-text"),
    pytest.param(["<!-- a", "b -->", "x"], "comment 0:2, paragraph 2:3", id="comment-of-two-lines"),
]

UNCERTAIN = [
    pytest.param(["    code"], id="indented-code"),
    pytest.param(["<div>"], id="html"),
    pytest.param(["<!-- a --> b"], id="comment-with-text-after-it"),
    pytest.param(["<!-- a"], id="open-comment"),
    pytest.param(["[a]: /url"], id="link-definition"),
    pytest.param(["[a", "]: /url"], id="link-definition-in-two-lines"),
    pytest.param(["> a", "lazy"], id="quote-that-may-go-on"),
    pytest.param(["-", "- a"], id="empty-item"),
    pytest.param(["-     code"], id="code-in-item"),
    pytest.param(["- a", "<div>"], id="html-after-item"),
    pytest.param(["a | b", "--- | ---", "5. x"], id="number-after-table-row"),
    pytest.param(["a \\| b | c", "--- | ---"], id="escaped-pipe-in-table"),
    pytest.param(["\u2003"], id="blank-in-unicode-only"),
]

# Each was answered wrongly once: a table goes before what its header row looks like; one column needs no pipe below.
TABLES_IN_DISGUISE = [
    ["``` |", "-|-"],
    ["~~~|", "|-"],
    ["```|", "--"],
    ["# a |", "--"],
    ["- |", "--"],
    ["1. |\f", "--"],
    ["<!-- a | b -->", "--- | ---"],
    ["|", "-:"],
    ["|", "|-"],
    ["\f|", "|-"],
    ["s|\u00a0", "-|-"],
    ["-|-", "- |-"],
    ["-|-", "-|-", "\f"],
    ["-|-", "-|-", "\v"],
    ["|a" * 300, "|-" * 300, *["|a"] * 300],
]


@each_row("lines, blocks", CERTAIN)
def test_the_scanner_names_the_blocks_of_ordinary_documents(lines, blocks):
    assert names(lines) == blocks
    assert facts(scan(lines)) == facts(referee.find_blocks(lines))


@each_row("lines", UNCERTAIN)
def test_the_scanner_leaves_to_the_referee_what_it_is_not_certain_of(lines):
    assert scan(lines) is None
    assert referee.find_blocks(lines)


@pytest.mark.slow
@pytest.mark.parametrize("lines", TABLES_IN_DISGUISE, ids=lambda lines: ascii("/".join(lines))[:40])
def test_a_table_in_disguise_is_seen_or_left_to_the_referee(lines):
    assert facts(scan(lines)) in (None, facts(referee.find_blocks(lines)))


@pytest.mark.requirement("S4-61")
@settings(max_examples=min(4 * MOST, 20_000))
@given(st.data())
def test_where_the_scanner_is_certain_it_never_differs_from_the_referee(markdown_documents, data):
    lines = data.draw(markdown_documents)
    begin = data.draw(st.integers(0, min(2, len(lines))))
    found = scan(lines, begin)
    if found is not None:
        assert facts(found) == facts(referee.find_blocks(lines, begin))


def chunks(path: Path) -> list[list[str]]:
    lines = split_lines(decode(path.read_bytes(), path.name))
    return [lines[start : start + 8] for start in range(0, len(lines), 8)]


@pytest.mark.slow
@settings(max_examples=min(2 * MOST, 20_000))
@given(st.data())
def test_nor_on_real_lines_that_were_cut_and_moved(corpus, data):
    """Pieces of real files with lines indented, dropped and put elsewhere."""
    pieces = chunks(data.draw(st.sampled_from(corpus)))
    lines = [line for piece in data.draw(st.lists(st.sampled_from(pieces or [[]]), max_size=2)) for line in piece]
    for place, indent, how in data.draw(
        st.lists(
            st.tuples(st.integers(0, 20), st.sampled_from(["", "  ", "    ", "\t"]), st.integers(0, 3)), max_size=4
        )
    ):
        if lines:
            line = lines.pop(place % len(lines))
            if how:
                lines.insert((place * how) % (len(lines) + 1), indent + line.lstrip()[: 40 * how])
    found = scan(lines)
    if found is not None:
        assert facts(found) == facts(referee.find_blocks(lines))


def test_the_scanner_is_certain_of_nine_real_files_in_ten_and_right_on_each(corpus):
    answered = 0
    for path in corpus:
        lines = split_lines(decode(path.read_bytes(), path.name))
        begin = headers.front_matter_end(lines)
        found = scan(lines, begin)
        if found is not None:
            answered += 1
            assert facts(found) == facts(referee.find_blocks(lines, begin)), path
    assert answered >= 0.9 * len(corpus)


@given(st.data())
def test_blocks_stand_in_order_and_cover_every_line_that_is_not_blank(markdown_documents, data):
    lines = data.draw(markdown_documents)
    found = scan(lines) or referee.find_blocks(lines)
    covered = [number for block in found for number in range(block.start, block.end)]
    assert covered == sorted(set(covered))
    assert all(number in covered for number, line in enumerate(lines) if line.strip())
    for block in found:
        assert lines[block.start].strip(" \t")
        assert lines[block.end - 1].strip(" \t")
        assert block.start <= block.paragraph_end <= block.end


OUTER = ["- Before", "", "````", "```", "# Heading", "- [2020-01-01] old", "```", "````", "", "- After"]


@each_row(
    "lines, blocks",
    [
        pytest.param(OUTER, "item 0:1, fence 2:8, item 9:10", id="four-backticks-around-three"),
        pytest.param(["~~~", "```", "# H", "- x", "~~~"], "fence 0:5", id="tildes-around-backticks"),
        pytest.param(["```", "# H", "- x"], "fence 0:3", id="never-closed"),
        pytest.param(["```", "    ```", "# H", "```"], "fence 0:4", id="closing-indented-too-far"),
        pytest.param(["```", "``` x", "# H", "```"], "fence 0:4", id="closing-with-text"),
        pytest.param(["``` a`b", "# H"], "paragraph 0:1, heading 1:2", id="no-fence-with-a-backtick-in-its-info"),
    ],
)
def test_nothing_inside_a_fence_is_a_block(lines, blocks):
    """B58: a heading inside a code fence splits an entry; a longer outer fence is closed too early."""
    assert names(lines) == blocks
    assert facts(scan(lines)) == facts(referee.find_blocks(lines))


def test_a_fence_says_whether_it_is_closed():
    assert [block.closed for block in scan(["```", "a", "```", "~~~", "b"]) or []] == [True, False]
    assert [block.closed for block in referee.find_blocks(["<b>", "", "```", "a", "```", "~~~", "b"])] == [
        True,
        True,
        False,
    ]


FENCED = ["- a", "- ```", "```", "````", "~~~", "  ```", "  ~~~ x", "  text", "text", "", "1. b", "  - c", "    ```"]


@given(st.lists(st.sampled_from([*FENCED, "   ```", "## H", "> q", "    text"]), max_size=8))
def test_no_cut_leaves_a_fence_open(lines):
    """B58."""
    closed = close_fence(lines)
    assert closed[: len(lines)] == lines
    assert len(closed) <= len(lines) + 1
    assert all(block.closed for block in referee.find_blocks(closed))


@each_row(
    "lines, added",
    [
        (["```", "a"], ["```"]),
        (["~~~~ x", "```", "~~~"], ["~~~~"]),
        (["- a", "", "  ```", "  b"], ["  ```"]),
        (["- ```", "  b"], ["  ```"]),
        (["1. - ~~~", "     b"], ["     ~~~"]),
        (["```", "a", "```"], []),
        (["- ```", "b"], []),
        (["    ```", "a"], []),
        (["text"], []),
        ([], []),
    ],
)
def test_the_closing_fence_stands_where_the_opening_one_does(lines, added):
    assert close_fence(lines) == [*lines, *added]


@each_row(
    "line, level, text",
    [
        ("# One", 1, "One"),
        ("###### Six ######", 6, "Six"),
        ("## Two #tag", 2, "Two #tag"),
        ("## C#", 2, "C#"),
        ("#\tTab", 1, "Tab"),
        ("#", 1, ""),
        ("## ##", 2, ""),
        ("#One", 0, "One"),
        ("####### Seven", 0, "Seven"),
        ("\\# One", 0, "\\# One"),
    ],
)
def test_a_heading_has_a_level_and_a_text_without_its_marks(line, level, text):
    assert heading_level(line) == level
    assert heading_text(line) == text


@each_row("text", ["---", "***", "___", "- - -", "*  *\t*", "----------"])
def test_three_or_more_of_one_sign_are_a_rule(text):
    assert is_rule(text)


@each_row("text", ["--", "-*-", "--- x", "- -", "===", "-"])
def test_anything_else_is_none(text):
    assert not is_rule(text)


@each_row("line, column", [("x", 0), ("   x", 3), ("\tx", 4), ("  \tx", 4), ("\t x", 5), (" \t \tx", 8)])
def test_tabs_count_to_stops_of_four(line, column):
    assert column_of(line, line.strip(" \t")) == column


@each_row(
    "text, width",
    [("- a", 1), ("*", 1), ("+\ta", 1), ("1. a", 2), ("123456789) a", 10), ("-a", 0), ("1.a", 0), ("1234567890. a", 0)],
)
def test_a_list_marker_has_a_width(text, width):
    assert markdown.marker_width(text) == width
