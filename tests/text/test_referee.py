"""The referee: markdown-it's blocks, with the comments and definitions it has no token for, and what a page hides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.text import markdown
from agent_memory_protocol.text.referee import find_blocks, remove_hidden
from tests.each_row import each_row


def names(text: str, begin: int = 0) -> str:
    return ", ".join(f"{block.kind} {block.start}:{block.end}" for block in find_blocks(split_lines(text), begin))


BLOCKS = [
    pytest.param("    code\n\n    more\n", "code 0:3", id="indented-code"),
    pytest.param("<div>\n# no\n</div>\n\ntext\n", "html 0:3, paragraph 4:5", id="html"),
    pytest.param("<!-- a --> b\n", "html 0:1", id="a-comment-with-text-is-html"),
    pytest.param("<!-- a\nb -->\n", "comment 0:2", id="a-comment-alone-is-a-comment"),
    pytest.param("- a\n\n<!--\n- b\n", "item 0:1, html 2:4", id="an-open-comment-takes-the-rest"),
    pytest.param("[a]: /u\n[b]: /v\n\ntext\n", "definition 0:2, paragraph 3:4", id="definitions"),
    pytest.param("[a]:\n/u\n'title'\n", "definition 0:3", id="a-definition-of-three-lines"),
    pytest.param("text\n[a]: /u\n", "paragraph 0:2", id="no-definition-inside-a-paragraph"),
    pytest.param("> a\nlazy\n\nb\n", "quote 0:2, paragraph 3:4", id="a-quote-that-goes-on"),
    pytest.param("-\n- a\n", "item 0:1, item 1:2", id="an-empty-item"),
    pytest.param("-     code\n- a\n", "item 0:1, item 1:2", id="code-in-an-item"),
    pytest.param("- a\n<div>\n", "item 0:1, html 1:2", id="html-after-an-item"),
    pytest.param("- a\n\n  [b]: /u\n- c\n", "item 0:3, item 3:4", id="a-definition-inside-an-item-is-the-items"),
    pytest.param("a | b\n--- | ---\n5. x\n", "table 0:2, item 2:3", id="a-number-after-a-table-row"),
    pytest.param("Two\nlines\n---\n", "heading 0:3", id="an-underlined-heading"),
    pytest.param("\0\n\n# a\0b\n", "paragraph 0:1, heading 2:3", id="nul"),
    pytest.param("\u2003\n\n- a\n", "paragraph 0:1, item 2:3", id="blank-in-unicode-only"),
    pytest.param("", "", id="nothing"),
]


@each_row("text, blocks", BLOCKS)
def test_every_construct_has_its_block(text, blocks):
    assert names(text) == blocks


def test_lines_before_the_beginning_are_none_of_its_business():
    assert names("---\nk: v\n---\n<div>\n\n- a\n", 3) == "html 3:4, item 5:6"


@each_row(
    "text, column, paragraph_end",
    [
        ("<b>\n\n- a\n  b\n\n  c\n", 2, 4),
        ("<b>\n\n   10.  a\n", 8, 3),
        ("<b>\n\n-\ta\n", 2, 3),
        ("<b>\n\n- ```\n  a\n  ```\n", 2, 2),
        ("<b>\n\n-  - a\n", 3, 2),
    ],
)
def test_an_item_knows_where_its_text_begins_and_its_first_paragraph_ends(text, column, paragraph_end):
    item = find_blocks(split_lines(text))[-1]
    assert (item.kind, item.column, item.paragraph_end) == (markdown.ITEM, column, paragraph_end)


def test_lines_keep_their_numbers_when_others_go():
    kept, numbers = remove_hidden(["# T", "<!-- a -->", "- b <!-- c --> d", "", "[e]: /u", "- f"])
    assert kept == ["# T", "- b  d", "", "- f"]
    assert numbers == [0, 2, 3, 5]


@each_row(
    "lines, kept",
    [
        pytest.param(["- a", "\tb <!-- c -->"], ["- a", "\tb "], id="a-tab-that-markdown-it-made-blanks"),
        pytest.param(["> a <!-- b", "> c --> d"], ["> a ", ">  d"], id="over-two-lines-of-a-quote"),
        pytest.param(["\u00a0", "a <!-- b --> c"], ["\u00a0", "a  c"], id="after-a-line-that-is-stripped"),
        pytest.param(["| a \\| b <!-- c --> |", "|---|"], ["|---|"], id="an-escaped-pipe-takes-the-row"),
        pytest.param(["a <!-- b --> b <!-- b -->"], ["a  b "], id="the-same-twice"),
        pytest.param(["# a <!-- b --> #"], ["# a  #"], id="a-heading-with-closing-marks"),
        pytest.param(["`a", "b` <!-- c -->"], ["`a", "b` "], id="code-over-two-lines"),
    ],
)
def test_a_span_is_cut_out_of_the_line_it_stands_in(lines, kept):
    assert remove_hidden(lines)[0] == kept


def test_too_many_layers_are_damage():
    with pytest.raises(DamagedFile, match="more layers of comments than can be taken off"):
        remove_hidden(["x " + "<!-" * 200 + "- a --" + ">-- a --" * 200 + ">"])


@given(st.data())
def test_what_is_left_hides_nothing_more(markdown_documents, data):
    try:
        kept, numbers = remove_hidden(data.draw(markdown_documents))
    except DamagedFile:
        return
    assert numbers == sorted(set(numbers))
    assert remove_hidden(kept) == (kept, list(range(len(kept))))


@given(st.data())
def test_blocks_stand_in_order_and_begin_and_end_with_text(markdown_documents, data):
    lines = data.draw(markdown_documents)
    end = 0
    for block in find_blocks(lines):
        assert end <= block.start < block.end <= len(lines)
        assert lines[block.start].strip(" \t")
        assert lines[block.end - 1].strip(" \t")
        assert block.start <= block.paragraph_end <= block.end
        end = block.end
