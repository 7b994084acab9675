"""Replacing an entry: the new one replaces it, and nothing else is another."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent_memory_protocol.errors import Refused
from agent_memory_protocol.tiers import compose, edit
from agent_memory_protocol.tiers.document import Document
from tests.each_row import each_row

from .conftest import ids_with, parse

MAX_BYTES = 25_600


def texts(doc: Document) -> list[str]:
    return [doc.text(entry) for entry in doc.outline.entries]


def headings(doc: Document) -> list[str]:
    return [heading.text for heading in doc.outline.headings]


@given(data=st.data())
def test_any_entry_is_replaced_by_one_entry_or_nothing_happens(markdown_documents, data):
    doc = parse("\n".join(data.draw(markdown_documents)))
    assume(doc.ids)
    index = data.draw(st.integers(0, len(doc.ids) - 1))
    new = compose.compose(data.draw(st.sampled_from(NEW_TEXTS)), max_bytes=MAX_BYTES)
    try:
        changed, new_id = edit.replace(doc, doc.ids[index], new)
    except Refused:
        return
    assert changed.ids[index] == new_id
    others = texts(doc)
    del others[index]
    now = texts(changed)
    del now[index]
    assert now == others


NEW_TEXTS = [
    "new text",
    "two\nlines",
    "with a fence\n```\n# x\n- y\n```",
    "[2026-05-05] dated",
    "> quote",
    "- - x",
    "# x",
]

REPLACED = {
    "an item": ("# T\n\n- a\n- OLD\n- b\n", "new", "# T\n\n- a\n- new\n- b\n"),
    "an item with children": ("# T\n\n- OLD\n  - child\n\n  more\n- b\n", "new", "# T\n\n- new\n- b\n"),
    "an item by one of several lines": ("# T\n\n* OLD\n* b\n", "new\nmore", "# T\n\n* new\n  more\n* b\n"),
    "a numbered item, which keeps its number": (
        "# T\n\n1. [2026-01-02] a\n2. OLD\n3. b\n",
        "new",
        "# T\n\n1. [2026-01-02] a\n2. new\n3. b\n",
    ),
    "a numbered item by several lines": ("# T\n\n10) OLD\n11) b\n", "new\nmore", "# T\n\n10) new\n    more\n11) b\n"),
    "steps by other steps": ("# T\n\n1. OLD\n2. b\n", "1. new\n2. c\n3. d", "# T\n\n1. new\n2. c\n3. d\n"),
    "an indented item": ("# T\n\n  - a\n  - OLD\n", "new\nmore", "# T\n\n  - a\n  - new\n    more\n"),
    "prose, which becomes a bullet": ("# T\n\nOLD\nprose\n\n## A\n\n- a\n", "new", "# T\n\n- new\n\n## A\n\n- a\n"),
    "the last line of a file without its end": ("# T\n\n- a\n- OLD", "new", "# T\n\n- a\n- new\n"),
    "a line with a Windows line end": ("# T\r\n\r\n- OLD\r\n- b\r\n", "new\nx", "# T\r\n\r\n- new\r\n  x\r\n- b\r\n"),
    "an item under a label": ("# T\n\n**L:**\n- OLD\n", "new", "# T\n\n**L:**\n- new\n"),
}


@each_row("case", REPLACED)
def test_a_replaced_entry_stands_where_the_old_one_stood(case):
    before, text, after = REPLACED[case]
    doc = parse(before)
    changed, new_id = edit.replace(doc, ids_with(doc, "OLD")[0], compose.compose(text, max_bytes=MAX_BYTES))
    assert changed.data.decode() == after
    entry = changed.entry(new_id)
    assert entry is not None
    assert text.split("\n")[0] in changed.text(entry)


def test_an_entry_is_not_replaced_where_that_would_change_what_stands_around_it():
    # The comment would be a part of the bullet.
    doc = parse("# T\n\nOLD\n\n  <!-- c -->\n")
    with pytest.raises(Refused, match=r"KNOWLEDGE\.md:3: the text cannot be there"):
        edit.replace(doc, doc.ids[0], compose.compose("new", max_bytes=MAX_BYTES))


def numbered(count: int) -> str:
    return "\n".join(f"{number}. step {number}" for number in range(1, count + 1))


@each_row("before, after", [(2, 21), (21, 2), (2, 3), (21, 22)])
def test_a_write_that_makes_a_numbered_list_long_or_short_is_told(before, after):
    old, new = (parse(f"# T\n\n- a\n\nTo do:\n\n{numbered(count)}\n") for count in (before, after))
    told = edit.crossed_borders(old, new)
    if (before > 20) == (after > 20):
        assert told == []
    elif after > 20:
        assert [one.partition(", ")[0] for one in told] == [
            "line 7: a numbered list has over 20 lines or 2,000 bytes now"
        ]
    else:
        assert told == ["line 7: a numbered list is short now, so it is one entry"]


def test_steps_may_be_edited_into_many_and_each_is_an_entry_then():
    page = "# T\n\n- a\n\nTo do:\n\n{}\n\n## S\n\n- b\n"
    doc = parse(page.format(numbered(2)))
    new = compose.compose(numbered(30), max_bytes=MAX_BYTES)
    changed, made = edit.replace(doc, doc.ids[1], new)
    assert changed.data.decode() == page.format(numbered(30))
    assert len(changed.ids) == 32
    assert made == changed.ids[1]


def test_an_item_may_be_edited_so_that_its_list_is_short():
    page = "# T\n\n1. {}\n2. b\n3. c\n\n- d\n"
    doc = parse(page.format("x" * 2_000))
    assert len(doc.ids) == 4
    changed, made = edit.replace(doc, doc.ids[0], compose.compose("a", max_bytes=MAX_BYTES))
    assert changed.data.decode() == page.format("a")
    assert changed.ids.index(made) == 0
    assert len(changed.ids) == 2
