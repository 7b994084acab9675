"""Counting: one answer to how long a text is, whatever ends its lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.limits import count_lines, estimate_tokens, split_lines, split_lines_with_ends
from tests.each_row import each_row

ENDS = [
    pytest.param("a\nb\n", ["a", "b"], id="newline"),
    pytest.param("a\r\nb\r\n", ["a", "b"], id="crlf"),
    pytest.param("a\rb\r", ["a", "b"], id="lone-cr"),
    pytest.param("a\nb\r\nc\rd\n", ["a", "b", "c", "d"], id="mixed"),
    pytest.param("a\n\rb", ["a", "", "b"], id="newline-then-cr-are-two"),
    pytest.param("a\r\r\nb", ["a", "", "b"], id="cr-then-crlf-are-two"),
    pytest.param("a\n\n\n", ["a", "", ""], id="blank-lines-count"),
    pytest.param("\n", [""], id="one-blank-line"),
    pytest.param("a\nb", ["a", "b"], id="last-line-without-ending-counts"),
    pytest.param(" ", [" "], id="blanks-alone-are-a-line"),
]

NO_ENDS = [
    pytest.param("", [], id="nothing-is-no-line"),
    pytest.param("a\fb\n", ["a\fb"], id="form-feed"),
    pytest.param("a\vb\n", ["a\vb"], id="vertical-tab"),
    pytest.param("a\u2028b\n", ["a\u2028b"], id="line-separator"),
    pytest.param("a\u2029b\n", ["a\u2029b"], id="paragraph-separator"),
    pytest.param("a\x85b\n", ["a\x85b"], id="next-line"),
    pytest.param("a\x1cb\x1dc\x1ed\n", ["a\x1cb\x1dc\x1ed"], id="separators"),
    pytest.param("a\0b\n", ["a\0b"], id="nul"),
]


@pytest.mark.requirement("S4-59")
@each_row("text, lines", ENDS)
def test_a_line_ends_at_each_of_the_three_endings(text, lines):
    assert split_lines(text) == lines
    assert count_lines(text.encode()) == len(lines)


@each_row("text, lines", NO_ENDS)
def test_nothing_else_ends_a_line(text, lines):
    assert split_lines(text) == lines
    assert count_lines(text.encode()) == len(lines)


@pytest.mark.requirement("S4-59", "S4-60")
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_two_hundred_lines_are_two_hundred_with_and_without_a_final_newline(newline):
    """B05: 200 lines with a final newline is 200, not 201."""
    without = newline.join(f"- line {number}" for number in range(200))
    assert count_lines(without.encode()) == 200
    assert count_lines((without + newline).encode()) == 200
    assert count_lines((without + newline + "x").encode()) == 201
    assert count_lines((without + newline + newline).encode()) == 201


def test_comments_headers_and_blanks_count():
    """B05: 198 lines and a comment of three are 201, whoever counts."""
    text = "# Title\n" + "- entry\n" * 197 + "<!-- one\ntwo\n-->\n"
    assert count_lines(text.encode()) == len(split_lines(text)) == 201


@each_row("size, tokens", [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (25_600, 6_400)])
def test_tokens_are_a_quarter_of_the_bytes_rounded_up(size, tokens):
    assert estimate_tokens(size) == tokens


TEXTS = st.lists(st.sampled_from(["\n", "\r", "\r\n", "a", " ", "é", "\f", "\u2028", "\x85", "\0"])).map("".join)


@given(TEXTS)
def test_all_ways_to_count_agree_and_the_endings_are_all_that_is_left_out(text):
    with_ends = split_lines_with_ends(text)
    assert "".join(with_ends) == text
    assert [line.rstrip("\r\n") for line in with_ends] == split_lines(text)
    assert count_lines(text.encode()) == len(with_ends)
    assert all(line.endswith(("\n", "\r")) for line in with_ends[:-1])
