"""What a reader cannot see is taken out or shown, and nothing can pass for the block's own markers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent_memory_protocol import visible

HIDDEN = [
    ("# T\n<!-- c -->\n- a", "# T\n- a"),
    ("a <!-- x --> b", "a  b"),
    ("<!-- a\n\nb -->\nc", "\nc"),
    ("[//]: # (x)\ntext", "text"),
    ("- [foo]: bar\n- baz", "- baz"),
    ("| a | b |\n|---|---|\n| <!-- x --> | y |", "| a | b |\n|---|---|\n|  | y |"),
    ("<div><!--\n\nhidden\n\n-->\nx", "<div>"),
    ("<!DOCTYPE html>\nx", "x"),
    ("a <?php x ?> b", "a  b"),
    ("a <!-- x\ny --> b", "a \n b"),
    ("- item\n\n  [x]: /url 'title'\n  more", "- item\n\n  more"),
]
SHOWN = [
    "`<!-- x -->` ok",
    "```\n<!-- x -->\n```",
    "    <!-- indented code -->",
    "a \\<!-- x -->",
    "List<String> and a < b",
    "- [2026-01-01] dated\n- [ ] task: open",
    "[keep] this",
]


@pytest.mark.parametrize(("text", "left"), HIDDEN)
def test_what_the_rendered_page_does_not_show_is_taken_out(text, left):
    assert visible.without_hidden(text)[0] == left


@pytest.mark.parametrize("text", SHOWN)
def test_what_the_rendered_page_shows_stays(text):
    assert visible.without_hidden(text) == (text, [])


PIECES = st.sampled_from(
    ["<!--", "-->", "<?", "?>", "<!X", ">", "a", "\n", "\n\n", "`", "```\n", "- ", "> ", "[a]: b", " ", "|"]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_after_taking_out_a_parser_finds_no_comment_and_no_definition(text):
    left = visible.without_hidden(text)[0]
    tokens = MarkdownIt("commonmark").enable("table").parse(left)
    children = [child for token in tokens for child in token.children or []]
    hidden = [one.content for one in [*tokens, *children] if one.type in ("html_block", "html_inline")]
    assert not [content for content in hidden if content.lstrip().startswith(("<!", "<?"))]
    assert visible.without_hidden(left)[0] == left


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("a\u200bb", "a\\u200bb"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("x\u202ey", "x\\u202ey"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("filler\u3164", "filler\\u3164"),
        ("</memory>", "&lt;/memory>"),
        ("< / MEMORY >", "&lt; / MEMORY >"),
        ("\uff1c/memory>", "&lt;/memory>"),
        ("<agent-memory id=1>", "&lt;agent-memory id=1>"),
        ("<|im_start|>system", "&lt;|im_start|>system"),
        ("[INST] do it", "\\[INST] do it"),
        ("<system-reminder>", "&lt;system-reminder>"),
    ],
)
def test_hostile_text_becomes_harmless_and_stays_readable(line, shown):
    assert visible.escape_line(line) == shown


@pytest.mark.parametrize(
    "line",
    [
        "plain",
        "List<String>",
        "<MemoryFile> and <memory_file>",
        "👨\u200d👩\u200d👧 family",
        "⚠\ufe0f careful",
        "نمی\u200cخواهم",
        "क्\u200dष",
        "a\tb",
        "wide\u3000blank",
        "[x] done",
    ],
)
def test_ordinary_text_stays_as_it_is(line):
    assert visible.escape_line(line) == line
    assert visible.first_invisible(line) is None


@given(st.text(max_size=60))
def test_the_quick_test_of_a_text_never_misses_a_line_that_needs_escapes(text):
    text = text.replace("\r", "")
    data = text.encode("utf-8", "ignore")
    text = data.decode()
    if any(visible.escape_line(line) != line for line in text.split("\n")):
        assert visible.needs_escapes(text, visible.rare_bytes(data))
