"""Entries: what is one, which headings and labels it stands under, and which date it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.disk.files import decode
from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.text import markdown, referee
from agent_memory_protocol.text.dates import day_text
from agent_memory_protocol.text.placeholders import is_placeholder
from agent_memory_protocol.tiers.entries import Entry, IndexLine, Outline, outline
from tests.each_row import each_row


def read(text: str) -> Outline:
    lines = split_lines(text)
    return outline(lines, markdown.scan(lines) or referee.find_blocks(lines))


def spans(text: str) -> list[str]:
    """Return each entry in short: `item 3-4`, `prose 6`; lines counted from 1."""
    return [f"{'item' if entry.is_item else 'prose'} {place(entry)}" for entry in read(text).entries]


def place(entry: Entry) -> str:
    return f"{entry.start + 1}-{entry.end}" if entry.end > entry.start + 1 else f"{entry.end}"


def dated(text: str) -> list[str]:
    """Return each entry's date and where it comes from, `undated` where it has none."""
    return [
        "undated" if entry.day is None else f"{day_text(entry.day)} {entry.day_source}" for entry in read(text).entries
    ]


ENTRIES = [
    pytest.param("1. a\n2. b\n", ["item 1-2"], id="a-numbered-list-is-one"),
    pytest.param("- a\n  more\n  - child\n\n  again\n- b\n", ["item 1-5", "item 6"], id="with-all-that-belongs-to-it"),
    pytest.param("- a\n\n  ```\n  # no\n  - no\n  ```\n- b\n", ["item 1-6", "item 7"], id="with-a-fence"),
    pytest.param("text\nmore\n", ["prose 1-2"], id="a-paragraph"),
    pytest.param("one\n\ntwo\n\n| a |\n|---|\n\n> q\n\n```\nx\n```\n", ["prose 1-12"], id="a-run-of-blocks-is-one"),
    pytest.param("one\n\n## H\n\ntwo\n", ["prose 1", "prose 5"], id="a-heading-ends-a-run"),
    pytest.param("one\n\n- a\n\ntwo\n", ["prose 1", "item 3", "prose 5"], id="a-list-ends-a-run"),
    pytest.param("one\n\n---\n\ntwo\n", ["prose 1", "prose 5"], id="a-rule-ends-a-run-and-is-no-entry"),
    pytest.param("one\n\n<!-- c -->\n\ntwo\n", ["prose 1", "prose 5"], id="a-comment-is-no-entry"),
    pytest.param("one\n\n[a]: /u\n\ntwo\n", ["prose 1", "prose 5"], id="a-link-definition-is-no-entry"),
    pytest.param("# T\n\n## H\n", [], id="headings-are-none"),
    pytest.param("Title\n=====\n\n- a\n", ["item 4"], id="an-underlined-heading-is-none"),
    pytest.param("    code\n\n<div>\nx\n</div>\n", ["prose 1-5"], id="code-and-html-are-prose"),
    pytest.param("- [T](note.md) - hook\n- a\n", ["item 2"], id="an-index-line-is-none"),
    pytest.param("- **[T](./note.md#part)**: hook\n1. [T](<b.md>)\n", [], id="nor-is-another-spelling-of-one"),
    pytest.param("- [T](sub/note.md) - hook\n", ["item 1"], id="a-link-to-another-folder-is"),
    pytest.param("- see [T](note.md)\n", ["item 1"], id="a-link-further-on-is"),
    pytest.param("[T](note.md) - hook\n", ["prose 1"], id="a-link-outside-a-list-is"),
    pytest.param("- a\n  - [T](note.md) - hook\n", ["item 1-2"], id="a-link-in-a-child-is"),
    pytest.param("- - a\n- b\n", ["item 1", "item 2"], id="an-item-that-is-a-list"),
    pytest.param("- # H\n- b\n", ["item 1", "item 2"], id="a-heading-in-an-item-is-no-heading"),
    pytest.param("a\fb\n\n\u2028\n", ["prose 1-3"], id="blank-means-spaces-and-tabs"),
    pytest.param("2026-01-05 a\n\n\u00a0\n", ["prose 1", "prose 3"], id="so-a-line-of-another-blank-is-prose"),
    pytest.param("- a\n \t \n- b", ["item 1", "item 3"], id="no-final-newline"),
    pytest.param("", [], id="nothing"),
]


@pytest.mark.requirement("S4-61")
@each_row("text, entries", ENTRIES)
def test_an_entry_is_an_item_or_a_run_of_prose(text, entries):
    assert spans(text) == entries


SPLIT = [
    pytest.param("[2026-01-02] one\n\n[2026-01-03] two\n", ["prose 1", "prose 3"], id="bracketed-paragraphs"),
    pytest.param("Up (2026-01-05): a.\n\nUp (2026-06-05): b.\n\nc\n", ["prose 1", "prose 3", "prose 5"], id="lead-ins"),
    pytest.param("Fixed. (2026-01-05)\n\nOpen.\n\nClosed.\n", ["prose 1", "prose 3-5"], id="undated-text-behind-it"),
    pytest.param("2026-01-05 a\n\n> q\n\n```\nx\n```\n\nb\n", ["prose 1-7", "prose 9"], id="other-blocks-belong-to-it"),
    pytest.param("2026-01-05 a\n\n**Why** b\n\nFix: c\n\nThen:\n\nd\n", ["prose 1-7", "prose 9"], id="what-goes-on"),
    pytest.param("2026-01-02: one\nmore\n2026-01-03: two\n", ["prose 1-2", "prose 3"], id="lines-with-a-colon"),
    pytest.param("one\n\n**2026-01-03** two\n\nmore\n", ["prose 1", "prose 3", "prose 5"], id="a-paragraph"),
    pytest.param("2026-01-02\n\none\n\n2026-01-03\n\ntwo\n", ["prose 1-3", "prose 5-7"], id="a-date-alone"),
]
NOT_SPLIT = [
    pytest.param("[2026-01-02] one\n[2026-01-03] two\n", ["prose 1-2"], id="a-later-line-in-brackets"),
    pytest.param("one\nthen [2026-01-03] two\n", ["prose 1-2"], id="a-date-further-on"),
    pytest.param("```\n[2026-01-02] one\n[2026-01-03] two\n```\n", ["prose 1-4"], id="in-a-fence"),
    pytest.param("| [2026-01-02] |\n|---|\n| [2026-01-03] |\n", ["prose 1-3"], id="in-a-table"),
    pytest.param("> [2026-01-02] one\n> [2026-01-03] two\n", ["prose 1-2"], id="in-a-quote"),
    pytest.param("- one\n  [2026-01-03] two\n", ["item 1-2"], id="in-an-item"),
    pytest.param("one\n[2026-01-03](x) two\n", ["prose 1-2"], id="a-link"),
    pytest.param("one\n2026-01-03 was it\n", ["prose 1-2"], id="a-sentence"),
]


@each_row("text, entries", SPLIT)
def test_prose_that_starts_with_its_own_date_begins_a_new_entry(text, entries):
    assert spans(text) == entries


@each_row("text, entries", NOT_SPLIT)
def test_a_date_anywhere_else_does_not(text, entries):
    assert spans(text) == entries


LABELS = [
    pytest.param("**Rules**\n- a\n- b\n", id="bold"),
    pytest.param("**Rules**\n\n- a\n- b\n", id="bold-and-a-blank"),
    pytest.param("Rules:\n- a\n- b\n", id="colon"),
    pytest.param("**Rules:**\n- a\n- b\n", id="bold-with-a-colon"),
    pytest.param("The rules are as follows,\nin order:\n\n- a\n- b\n", id="two-lines"),
    pytest.param("*Rules:*\n- a\n- b\n", id="a-colon-in-emphasis"),
    pytest.param("\u89c4\u5219\uff1a\n- a\n- b\n", id="a-wide-colon"),
    pytest.param("__Rules__\n- a\n- b\n", id="bold-by-underscores"),
    pytest.param("**Rules** (owner: Dilan)\n\n- a\n- b\n", id="bold-with-its-owner"),
    pytest.param("**Rules** *(see [the page](page.md))*\n\n- a\n- b\n", id="bold-with-a-link-in-brackets"),
    pytest.param("COUNT is 58, not 43; fifteen came:\n\n- a\n- b\n", id="a-sentence"),
    pytest.param("Rules –\n\n- a\n- b\n", id="a-dash"),
    pytest.param("What are the rules?\n\n- a\n- b\n", id="a-question"),
    pytest.param("**Rules** ❌\n\n- a\n- b\n", id="an-emoji-behind-it"),
    pytest.param("Rules:<br>\n\n- a\n- b\n", id="a-line-break-behind-it"),
    pytest.param("Rules: <!-- x -->\n\n- a\n- b\n", id="a-comment-behind-it"),
    pytest.param("Rules:\n\n<!-- x -->\n\n- a\n<!-- y -->\n- b\n", id="comments-between"),
    pytest.param("Rules:\n\n[x]: https://example.org\n\n- a\n- b\n", id="a-definition-between"),
    pytest.param("Git:\n\nRules:\n\n- a\n- b\n", id="another-label-above"),
    pytest.param("<b>Rules:</b>\n\n- a\n- b\n", id="bold-by-a-tag"),
    pytest.param("<h4>Rules</h4>\n\n- a\n- b\n", id="a-heading-by-a-tag"),
    pytest.param("<details>\n<summary>Rules.</summary>\n\n- a\n- b\n\n</details>\n", id="a-summary"),
    pytest.param("<details><summary><b>Rules</b></summary>\n\n- a\n- b\n", id="a-bold-summary"),
]
NO_LABELS = [
    pytest.param("Rules\n- a\n", id="plain"),
    pytest.param("Rules:\n\ntext\n\n- a\n", id="text-between"),
    pytest.param("Rules:\n\n## H\n\n- a\n", id="heading-between"),
    pytest.param("Rules:\n\n---\n\n- a\n", id="rule-between"),
    pytest.param("**a** and **b**\n- a\n", id="not-bold-as-a-whole"),
    pytest.param("**Rules** apply\n- a\n", id="bold-only-at-first"),
    pytest.param("**Rules** (old) and more (new)\n\n- a\n", id="bold-with-more-than-brackets"),
    pytest.param("**Rules apply.** (owner: Dilan)\n\n- a\n", id="a-bold-sentence-with-its-owner"),
    pytest.param("**\n\n- a\n", id="stars-alone"),
    pytest.param("Rules:\n", id="no-list"),
    pytest.param("**Never migrate before the backup.**\n\n- a\n", id="a-bold-sentence"),
    pytest.param("**Never!**\n\n- a\n", id="a-bold-exclamation"),
    pytest.param("Rules:\n\n<!-- -->\n\n- a\n", id="an-empty-comment-between"),
    pytest.param("_Last seen 2026-01-01_\n\n- a\n", id="italics"),
    pytest.param("> Rules:\n\n- a\n", id="in-a-quote"),
]
BOTH = [
    pytest.param("Tests need Docker. Always:\n\n- a\n- b\n", "Always:", id="a-sentence-before-it"),
    pytest.param("**Status**: done\n**Owner**: dev\nOpen points:\n\n- a\n- b\n", "Open points:", id="a-block-of-data"),
    pytest.param("It broke twice.\nNever:\n- a\n- b\n", "Never:", id="a-line-before-it"),
]


@each_row("text", LABELS)
def test_a_label_belongs_to_the_list_after_it_and_is_no_entry(text):
    found = read(text)
    assert [entry.label for entry in found.entries] == [0, 0]
    assert list(found.labels) == [0]
    assert all(entry.is_item for entry in found.entries)


@pytest.mark.parametrize(("text", "label"), BOTH)
def test_a_paragraph_with_more_before_its_label_is_an_entry_as_well(text, label):
    found = read(text)
    assert [one.text for one in found.labels.values()] == [label]
    prose, *items = found.entries
    assert (prose.is_item, prose.label) == (False, None)
    assert [one.label for one in items] == [0, 0]


def test_a_label_dates_its_items_as_a_heading_does():
    assert dated("Release (2026-02-15):\n\n- a\n- [2026-01-02] b\n") == ["2026-02-15 label", "2026-01-02 own mark"]


STEPS = [
    pytest.param("1. tag\n2. build\n   - both\n\n3. push\n", ["item 1-5"], id="steps"),
    pytest.param("To release:\n\n1) tag\n2) build\n", ["item 3-4"], id="under-a-label"),
    pytest.param("1. one\n1. two\n", ["item 1-2"], id="numbered-alike"),
]
NO_STEPS = [
    pytest.param("1. a\n2. [2026-01-02] b\n", ["item 1", "item 2"], id="one-is-dated"),
    pytest.param("1. a\n2. [until 2026-01-02] b\n", ["item 1", "item 2"], id="one-ends"),
    pytest.param("1. a\n2. [T](note.md) - b\n", ["item 1"], id="one-is-an-index-line"),
    pytest.param("1. a\n\n```\nx\n```\n\n2. b\n", ["item 1", "prose 3-5", "item 7"], id="broken-by-a-fence"),
    pytest.param(
        "1. a\n2. b\n\ntext\n\n3. c\n4. d\n", [*["item 1", "item 2", "prose 4", "item 6", "item 7"]], id="broken-late"
    ),
    pytest.param("".join(f"{n}. x\n" for n in range(1, 22)), [f"item {n}" for n in range(1, 22)], id="over-20-lines"),
    pytest.param("1. a\n2. " + "x" * 2000 + "\n", ["item 1", "item 2"], id="over-2000-bytes"),
    pytest.param("1. a\n2) b\n", ["item 1", "item 2"], id="two-lists"),
]


@pytest.mark.parametrize(("text", "entries"), STEPS)
def test_a_short_numbered_list_is_one_entry(text, entries):
    assert spans(text) == entries


@each_row("text, entries", NO_STEPS)
def test_of_other_lists_each_item_is_one(text, entries):
    assert spans(text) == entries


@each_row("text", NO_LABELS)
def test_any_other_paragraph_before_a_list_is_an_entry(text):
    found = read(text)
    assert found.labels == {}
    assert not found.entries[0].is_item
    assert [entry.label for entry in found.entries] == [None] * len(found.entries)


def test_a_label_ends_with_its_list():
    found = read("A:\n- one\n\nB:\n- two\n\ntext\n\n- three\n")
    assert [entry.label for entry in found.entries] == [0, 3, None, None]


@pytest.mark.requirement("S4-61")
def test_an_entry_knows_the_headings_above_it():
    found = read("- none\n\n# T\n\n- t\n\n### Deep\n\n- deep\n\n## H\n\n- h\n\n# T2\n\n- t2\n")
    texts = [[found.headings[index].text for index in entry.headings] for entry in found.entries]
    assert texts == [[], ["T"], ["T", "Deep"], ["T", "H"], ["T2"]]
    assert [heading.above for heading in found.headings] == [(), (0,), (0,), ()]


def test_an_underlined_heading_has_the_text_of_all_its_lines():
    assert [heading.text for heading in read("Two\nlines\n---\n").headings] == ["Two lines"]


def test_the_first_paragraph_is_what_dates_and_ids_look_at():
    found = read("- one\n  two\n\n  three\n  - [2020-01-01] child\n- ```\n  x\n  ```\n1.  wide\n")
    assert [entry.paragraph for entry in found.entries] == ["one\ntwo", "", "wide"]
    assert [entry.column for entry in found.entries] == [2, 2, 4]


@pytest.mark.requirement("S4-62")
@each_row(
    "text, days",
    [
        pytest.param("- [2026-01-02] a\n- b\n", ["2026-01-02 own mark", "undated"], id="own"),
        pytest.param("- a\n  [2026-01-02]\n", ["2026-01-02 own mark"], id="on-a-later-line"),
        pytest.param("- a\n\n  [2026-01-02]\n", ["undated"], id="not-in-a-second-paragraph"),
        pytest.param("- a\n  - [2026-01-02] b\n", ["undated"], id="not-in-a-child"),
        pytest.param("- a\n  ```\n  [2026-01-02]\n  ```\n", ["undated"], id="not-in-a-fence"),
        pytest.param("## 2026-01-02\n- a\n", ["2026-01-02 heading"], id="heading"),
        pytest.param("## 2026-01-02\n- [2025-12-31] a\n", ["2025-12-31 own mark"], id="own-before-heading"),
        pytest.param("## 2026-01-02\n### x\n- a\n", ["2026-01-02 heading"], id="outer-heading"),
        pytest.param("## 2026-01-02\n### 2026-01-03\n- a\n", ["2026-01-03 heading"], id="innermost-heading"),
        pytest.param("## 2026-01-02\n- a\n## x\n- b\n", ["2026-01-02 heading", "undated"], id="heading-ends"),
        pytest.param("## x\n**Date**: 2026-01-02\n\n- a\n", ["2026-01-02 label"] * 2, id="label"),
        pytest.param("## x\n\n**Date**: 2026-01-02\n\n- a\n", ["2026-01-02 label"] * 2, id="label-after-a-blank"),
        pytest.param("## x\n- Date: 2026-01-02\n", ["undated"], id="not-a-bullet"),
        pytest.param("## x\nText.\n\nDate: 2026-01-02\n\n- a\n", ["undated"] * 2, id="not-a-label-further-down"),
        pytest.param("# 2026-01-02\n- a\n", ["undated"], id="the-title-dates-nothing"),
        pytest.param("# x\nDate: 2026-01-02\n\n- a\n", ["undated"] * 2, id="nor-does-a-label-under-it"),
        pytest.param(
            "# 2026-01-02\n- a\n# x\n", ["2026-01-02 heading"], id="one-of-two-first-level-headings-is-no-title"
        ),
        pytest.param("## x\n# 2026-01-02\n- a\n", ["2026-01-02 heading"], id="nor-is-one-that-comes-later"),
        pytest.param("Created: 2026-01-02\n\n- a\n", ["undated"] * 2, id="created-dates-nothing"),
        pytest.param("## Valid through 2026-01-02\n- a\n", ["undated"], id="nor-does-through"),
        pytest.param("## x\n| 2026-01-02 | a |\n|---|---|\n", ["undated"], id="nor-does-a-table"),
    ],
)
def test_an_entry_has_its_own_date_else_its_headings(text, days):
    assert dated(text) == days


@each_row(
    "text, kept",
    [
        ("- a [keep]\n", True),
        ("- [KEEP] a\n", True),
        ("- a\n  [keep]\n", True),
        ("- a\n\n  [keep]\n", False),
        ("- `[keep]`\n", False),
        ("- [keep](x)\n", False),
        ("- keep\n", False),
    ],
)
def test_a_keep_mark_in_the_first_paragraph_exempts_an_entry(text, kept):
    assert read(text).entries[0].kept is kept


@each_row("line", ["(none yet)", "- None", "*No entries yet.*", "TBD", "[empty]", "N/A", "…"])
def test_a_placeholder_only_holds_a_place(line):
    assert is_placeholder(line) is (line != "…")


@pytest.mark.requirement("S4-64")
def test_bullets_and_prose_are_told_apart():
    assert [entry.is_item for entry in read("text\n\n- a\n\nmore\n").entries] == [False, True, False]


@given(st.data())
def test_entries_stand_in_order_overlap_nothing_and_begin_and_end_with_text(markdown_documents, data):
    check(data.draw(markdown_documents))


def test_so_they_do_in_real_files(corpus):
    for path in corpus:
        check(split_lines(decode(path.read_bytes(), path.name)))


def check(lines: list[str]) -> None:
    found = outline(lines, markdown.scan(lines) or referee.find_blocks(lines))
    units: list[Entry | IndexLine] = sorted([*found.entries, *found.index_lines], key=lambda unit: unit.start)
    # A label with more in its paragraph is an entry, too, and may end below another label.
    ends = {unit.start: unit.end for unit in found.entries}
    labels = [(ends[one.start] if one.is_entry else one.start, one.end) for one in found.labels.values()]
    taken = [*((unit.start, unit.end) for unit in [*units, *found.headings]), *labels]
    covered = [number for start, end in taken for number in range(start, end)]
    assert sorted(covered) == sorted(set(covered))
    in_blocks = {
        number
        for block in found.blocks
        if block.kind in (markdown.ITEM, markdown.HEADING, *markdown.PROSE)
        for number in range(block.start, block.end)
        if lines[number].strip(" \t")
    }
    assert in_blocks <= set(covered)
    for unit in units:
        assert lines[unit.start].strip(" \t")
        assert lines[unit.end - 1].strip(" \t")
        assert unit.label is None or unit.label < unit.start
        levels = [found.headings[index].level for index in unit.headings]
        assert levels == sorted(set(levels))
        assert all(found.headings[index].end <= unit.start for index in unit.headings)
    for entry in found.entries:
        if entry.mark is not None:
            assert 0 <= entry.mark.start < entry.mark.end <= len(entry.paragraph)
        if entry.paragraph:
            first = lines[entry.start][entry.column :].rstrip(" \t")
            assert entry.paragraph.split("\n")[0] == first
