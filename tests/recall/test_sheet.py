"""A sheet: no more blank lines than its blocks need, and nothing joined that was apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.recall.fit import told_units
from agent_memory_protocol.recall.sheet import NOTHING, Room, Segments, Sheet, Size
from agent_memory_protocol.tiers.entries import read
from tests.each_row import each_row

PLENTY = 1 << 40
ROOM = Room(PLENTY, PLENTY, PLENTY)


def text_of(text: str, without: str = "") -> list[str]:
    """Return the sheet of a document without the entries whose first line is given."""
    lines = split_lines(text)
    found = read(lines)
    segments = Segments(lines, found, ROOM)
    sheet = Sheet(segments)
    gone = without.split("|") if without else []
    sheet.put(
        segment for unit in told_units(lines, found) if lines[unit.start] not in gone for segment in segments.of(unit)
    )
    assert sheet.size.lines == len(sheet.text())
    assert sheet.size.bytes == sum(len(line.encode()) + 1 for line in sheet.text())
    return sheet.text()


DROPPED = [
    pytest.param("# T\n\n- a\n", ["# T", "- a"], id="after-the-title"),
    pytest.param("- a\n\n## H\n\n- b\n", ["- a", "## H", "- b"], id="around-a-heading"),
    pytest.param("- a\n\n\n\n- b\n", ["- a", "- b"], id="between-items"),
    pytest.param("Label:\n\n- a\n", ["Label:", "- a"], id="after-a-label"),
    pytest.param("1. a\n\n2. b\n", ["1. a", "2. b"], id="in-a-numbered-list"),
    pytest.param(
        "text\n\n```\na\n\nb\n```\n\ntext\n", ["text", "```", "a", "", "b", "```", "text"], id="around-a-fence"
    ),
    pytest.param("- a\n  - b\n\n  - c\n\n- d\n", ["- a", "  - b", "", "  - c", "- d"], id="none-within-an-item"),
    pytest.param("## A\n\n---\n\n- a\n", ["## A", "- a"], id="a-rule-goes"),
]
KEPT = [
    pytest.param("one\n\ntwo\n", ["one", "", "two"], id="between-paragraphs"),
    pytest.param("- a\n\ntext\n", ["- a", "", "text"], id="between-an-item-and-a-paragraph"),
    pytest.param("```\na\n\nb\n```\n", ["```", "a", "", "b", "```"], id="in-a-fence"),
    pytest.param("text\n\n2. b\n", ["text", "", "2. b"], id="before-a-list-that-cannot-interrupt"),
    pytest.param("> q\n\ntext\n", ["> q", "", "text"], id="after-a-quote"),
    pytest.param("| a |\n|---|\n| b |\n\ntext\n", ["| a |", "|---|", "| b |", "", "text"], id="after-a-table"),
    pytest.param("text\n\n---\n\nmore\n", ["text", "", "more"], id="where-a-rule-was"),
    pytest.param("text\n\n<div>\n\n- a\n", ["text", "<div>", "", "- a"], id="after-html"),
]


@each_row("text, lines", DROPPED)
def test_a_blank_line_goes_where_the_blocks_are_the_same_without_it(text, lines):
    assert text_of(text) == lines


@each_row("text, lines", KEPT)
def test_a_blank_line_stays_where_the_blocks_are_not(text, lines):
    assert text_of(text) == lines


APART = [
    pytest.param("Never:\n\n---\n\n- push\n", "", ["Never:", "", "<!-- -->", "", "- push"], id="a-rule-between"),
    pytest.param(
        "Never:\n\n<!-- -->\n\n- push\n", "", ["Never:", "", "<!-- -->", "", "- push"], id="a-comment-between"
    ),
    pytest.param(
        "Never:\n- force\n\ntext\n\n- push\n",
        "text",
        ["Never:", "- force", "", "<!-- -->", "", "- push"],
        id="the-items-of-a-label-end",
    ),
    pytest.param(
        "2026-01-01: a\n\n**b:** never:\n\n2026-01-02: c\n\n- push\n",
        "2026-01-02: c",
        ["2026-01-01: a", "", "**b:** never:", "", "<!-- -->", "", "- push"],
        id="prose-would-become-a-label",
    ),
    pytest.param("- a\n\ntext\n\n  more\n", "", ["- a", "", "text", "", "  more"], id="indented-in-its-run"),
    pytest.param(
        "- a\n\n2026-01-01: b\n\n  2026-01-02: c\n",
        "2026-01-01: b",
        ["- a", "", "<!-- -->", "", "  2026-01-02: c"],
        id="indented-text-would-join-the-item",
    ),
]
TOGETHER = [
    pytest.param("Never:\n- a\n- b\n", "- a", ["Never:", "- b"], id="a-label-and-its-later-item"),
    pytest.param("- a\n- b\n- c\n", "- b", ["- a", "- c"], id="items-of-one-list"),
    pytest.param("text\n\n- a\n- b\n", "- a", ["text", "- b"], id="prose-that-is-no-label"),
    pytest.param("2026-01-01: a\n2026-01-02: b\n2026-01-03: c\n", "2026-01-02: b", ["2026-01-01: a", "2026-01-03: c"],
                 id="lines-of-one-paragraph"),
]  # fmt: skip


@each_row("text, without, lines", APART)
def test_an_empty_comment_keeps_apart_what_would_join_or_govern(text, without, lines):
    assert text_of(text, without) == lines


@each_row("text, without, lines", TOGETHER)
def test_what_belongs_together_needs_none(text, without, lines):
    assert text_of(text, without) == lines


@given(st.lists(st.booleans(), max_size=5))
def test_putting_and_taking_back_counts_exactly(chosen):
    document = split_lines("# T\n\na\n\nb\n\n- c\n\n## H\n\nL:\n\n- d\n\n```\ne\n```\n")
    found = read(document)
    segments = Segments(document, found, ROOM)
    sheet = Sheet(segments)
    before = sheet.text()
    new = []
    for unit, is_put in zip(told_units(document, found), chosen, strict=False):
        if is_put:
            new.append(sheet.put(segments.of(unit)))
            assert (sheet.size.lines, sheet.size.bytes) == (len(sheet.text()), len("\n".join(sheet.text())) + 1)
    for taken in reversed(new):
        sheet.take_back(taken)
    assert sheet.text() == before
    assert (sheet.size.lines, sheet.size.bytes) == (1, 4)


def test_a_room_counts_lines_bytes_and_characters_with_what_is_before_each_line():
    room = Room(2, 11, 9, prefix=2)
    assert room.holds(["é", "é"])
    assert not room.holds(["é", "é", ""])
    assert not room.holds(["éé", "éé"])
    assert not Room(2, 10, 8, prefix=2).holds(["é", "éé"])
    size = room.size_of(["é", "éé"])
    assert (size.lines, size.bytes, size.characters) == (2, 12, 9)
    assert room.size_of([]).bytes == NOTHING.bytes
    assert (size + Size(1, 1, 1) - size).lines == 1
