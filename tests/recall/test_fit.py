"""Fitting: no topic lost, no news lost, entries whole, and never more than the room holds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.disk.files import decode
from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.recall.fit import (
    Fitted,
    Room,
    fit,
    head,
    omission_line,
    removal_order,
    render,
    shorten_line,
)
from agent_memory_protocol.text import markdown, referee
from agent_memory_protocol.text.dates import day_number
from agent_memory_protocol.text.headers import front_matter_end
from agent_memory_protocol.tiers.entries import Entry, IndexLine, Outline, outline

COMMAND = "amp show shared --left-out"
PLENTY = 1 << 40
MOST = settings.default.max_examples if settings.default else 100

Unit = Entry | IndexLine


def read(lines: list[str]) -> Outline:
    return outline(lines, markdown.scan(lines) or referee.find_blocks(lines))


def units_of(found: Outline) -> list[Unit]:
    units: list[Unit] = [*found.entries, *found.index_lines]
    return sorted(units, key=lambda unit: unit.start)


def fitted(text: str, *, lines: int = PLENTY, size: int = PLENTY, characters: int = PLENTY, unread: int = 0) -> Fitted:
    document = split_lines(text)
    return fit(document, read(document), Room(lines, size, characters), COMMAND, unread)


def given_up(text: str) -> list[str]:
    """Return the first line of each entry in the order in which they are given up."""
    document = split_lines(text)
    units = units_of(read(document))
    return [document[units[index].start].removeprefix("- ") for index in removal_order(document, units)]


ORDERS = [
    pytest.param("- a\n- b\n- c\n", ["a", "b", "c"], id="undated-from-the-top"),
    pytest.param(
        "- [2026-03-01] b\n- [2026-02-01] a\n- [2026-04-01] c\n",
        ["[2026-02-01] a", "[2026-03-01] b", "[2026-04-01] c"],
        id="oldest-first",
    ),
    pytest.param("- [2026-03-01] b\n- a\n", ["a", "[2026-03-01] b"], id="undated-counts-as-older"),
    pytest.param(
        "- [2026-06-01] new\n- [2025-06-01] old\n- a\n",
        ["[2025-06-01] old", "a", "[2026-06-01] new"],
        id="ninety-days-older-than-the-newest-goes-first",
    ),
    pytest.param(
        "- [2026-06-01] new\n- [2026-03-03] edge\n- a\n",
        ["a", "[2026-03-03] edge", "[2026-06-01] new"],
        id="ninety-days-are-not-more-than-ninety",
    ),
    pytest.param(
        "- [2026-06-01] new\n- [2026-03-02] old\n- a\n",
        ["[2026-03-02] old", "a", "[2026-06-01] new"],
        id="ninety-one-are",
    ),
    pytest.param(
        "- [2099-01-01] typo\n- [2026-06-01] new\n- a\n",
        ["a", "[2099-01-01] typo", "[2026-06-01] new"],
        id="a-lone-date-far-ahead-is-not-the-newest",
    ),
    pytest.param(
        "- [2026-06-01] new\n- [2024-06-01] old\n- a\n",
        ["[2024-06-01] old", "a", "[2026-06-01] new"],
        id="two-years-are-no-mistyped-year",
    ),
    pytest.param("opening\n\n- a\n- b\n", ["a", "b", "opening"], id="opening-prose-goes-last"),
    pytest.param("```\n" + "x\n" * 99 + "```\n\n- a\n- b\n", ["```", "a", "b"], id="unless-it-is-half-a-page"),
    pytest.param("- a\n- b\n\nclosing\n", ["a", "b", "closing"], id="later-prose-goes-in-turn"),
    pytest.param(
        "## Small\n- s1\n- s2\n## Large\n- l1 xxxxxxxxxxxxxxxxx\n- l2\n- l3\n",
        ["l1 xxxxxxxxxxxxxxxxx", "s1", "l2", "s2", "l3"],
        id="the-section-that-takes-most-room",
    ),
    pytest.param(
        "## A\n- a1\n## B\n- b1 x\n- b2 x\n- b3 x\n",
        ["b1 x", "b2 x", "b3 x", "a1"],
        id="no-last-entry-while-another-section-has-two",
    ),
    pytest.param(
        "## Old\n- [2020-01-01] only\n## New\n- [2026-06-01] n1\n- [2026-06-02] n2\n",
        ["[2026-06-01] n1", "[2020-01-01] only", "[2026-06-02] n2"],
        id="not-even-an-old-one",
    ),
    pytest.param("- [T](a.md) - hook\n- a\n", ["[T](a.md) - hook", "a"], id="index-lines-are-undated"),
]


@pytest.mark.requirement("S4-60")
@pytest.mark.parametrize(("text", "order"), ORDERS)
def test_entries_are_given_up_in_an_order_that_loses_neither_topic_nor_news(text, order):
    assert given_up(text) == order


BULLETS = "# T\n\n" + "".join(f"- entry {number}\n" for number in range(10)) + "\n## H\n\n- other\n"


@pytest.mark.requirement("S4-60")
def test_what_is_kept_stands_in_file_order_under_its_headings_with_the_header_first():
    result = fitted(BULLETS, lines=11)
    assert result.lines == [
        "# T",
        "",
        "- entry 6",
        "- entry 7",
        "- entry 8",
        "- entry 9",
        "",
        "## H",
        "",
        "- other",
        "(6 entries on 6 lines are not shown; `amp show shared --left-out` shows them)",
    ]
    assert [unit.start for unit in result.left_out] == [2, 3, 4, 5, 6, 7]
    assert result.cut is None


def test_a_heading_and_a_label_go_with_their_last_entry():
    text = (
        "# T\n\n## Gone\n\n**Label**\n- [2020-01-01] "
        + "x" * 50
        + "\n\n## Kept\n\nRules:\n- [2026-06-01] a\n- [2026-06-02] b\n"
    )
    assert fitted(text, lines=7).lines == [
        "# T",
        "",
        "## Kept",
        "",
        "Rules:",
        "- [2026-06-02] b",
        f"(2 older entries on 2 lines, dated 2020-01-01 to 2026-06-01, are not shown; `{COMMAND}` shows them)",
    ]


def test_an_entry_goes_with_all_that_belongs_to_it():
    text = "- first\n  - child\n\n  ```\n  code\n  ```\n- second\n"
    assert fitted(text, lines=3).lines == [
        "- second",
        "(1 entry on 6 lines is not shown; `amp show shared --left-out` shows it)",
    ]


def test_an_entry_larger_than_the_room_is_cut_at_a_line_and_says_so():
    text = "# T\n\n- first\n" + "".join(f"  line {number}\n" for number in range(20))
    result = fitted(text, lines=6)
    assert result.lines == [
        "# T",
        "",
        "- first",
        "  line 0",
        "  line 1",
        "(the last entry shown is cut after 3 of 21 lines; `amp show shared --left-out` shows them)",
    ]
    assert result.left_out == []
    assert result.cut is not None


def test_no_cut_leaves_a_fence_open():
    """B58."""
    text = "- first\n\n  ````\n" + "".join(f"  line {number}\n" for number in range(20)) + "  ````\n"
    assert fitted(text, lines=6).lines[:-1] == ["- first", "", "  ````", "  line 0", "  ````"]
    document = split_lines(text)
    assert head(document, read(document), Room(6, PLENTY, PLENTY), COMMAND).lines[:-1] == [
        "- first",
        "",
        "  ````",
        "  line 0",
        "  ````",
    ]


def test_an_entry_before_the_title_is_cut_and_the_title_stays():
    result = fitted("one\ntwo\nthree\nfour\n\n# Title\n", lines=5)
    assert result.lines[:-1] == ["one", "two", "", "# Title"]
    assert "cut after 2 of 4 lines" in result.lines[-1]


def test_where_only_the_note_fits_the_note_is_given():
    note = "(2 entries on 2 lines are not shown; `amp show shared --left-out` shows them)"
    assert fitted("- " + "x" * 300 + "\n- " + "y" * 300 + "\n", size=len(note)).lines == [note]
    assert fitted("- " + "x" * 300 + "\n- " + "y" * 300 + "\n", size=1).lines == [note]


def test_a_document_that_fits_once_its_giant_line_is_cut_loses_nothing_else():
    """B03: one giant line defeats per-line chunking."""
    others = [f"- line {number}" for number in range(39)]
    result = fitted("\n".join([*others[:20], "- " + "x" * 60_000, *others[20:]]), size=25_600)
    assert result.left_out == []
    assert [line for line in result.lines if line in others] == others
    assert result.lines[20] == "- " + "x" * 995 + "…"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("x" * 1_000, "x" * 1_000),
        ("x" * 1_001, "x" * 997 + "…"),
        ("é" * 500, "é" * 500),
        ("é" * 501, "é" * 498 + "…"),
        ("💡" * 251, "💡" * 249 + "…"),
        ("", ""),
    ],
    ids=["fits", "one-too-many", "two-bytes-fit", "two-bytes", "four-bytes", "empty"],
)
def test_a_line_over_a_thousand_bytes_is_cut_between_characters(line, shown):
    assert shorten_line(line) == shown
    assert len(shown.encode()) <= 1_000


NOTES = [
    pytest.param("- a\n", {}, "(1 entry on 1 line is not shown; `c` shows it)", id="one"),
    pytest.param("- a\n  b\n- c\n", {}, "(2 entries on 3 lines are not shown; `c` shows them)", id="two"),
    pytest.param(
        "- [2026-01-02] a\n", {}, "(1 entry on 1 line, dated 2026-01-02, is not shown; `c` shows it)", id="dated"
    ),
    pytest.param(
        "- [2026-01-02] a\n- b\n- [2025-01-02] c\n",
        {"older": True},
        "(3 older entries on 3 lines, 2 of them dated 2025-01-02 to 2026-01-02, are not shown; `c` shows them)",
        id="some-dated",
    ),
    pytest.param(
        "", {"cut": "the last 3 lines are not shown"}, "(the last 3 lines are not shown; `c` shows them)", id="cut"
    ),
    pytest.param(
        "- a\n",
        {"unread_lines": 7},
        "(1 entry on 1 line is not shown; 7 lines in the middle of this large file are not considered; `c` shows them)",
        id="unread",
    ),
    pytest.param("", {}, "(there is no room for more; `c` shows them)", id="nothing"),
]


@pytest.mark.parametrize(("text", "options", "line"), NOTES)
def test_the_note_says_how_much_is_left_out_which_dates_it_spans_and_what_shows_it(text, options, line):
    assert omission_line(units_of(read(split_lines(text))), "c", **options) == line


def test_it_says_older_only_where_all_left_out_are():
    dated = "- [2026-01-01] a\n- [2026-01-02] b\n- [2026-06-01] c\n"
    assert "(2 older entries on 2 lines, dated 2026-01-01 to 2026-01-02, are not" in fitted(dated, lines=2).lines[-1]
    undated = "- a\n- [2026-01-02] b\n- [2026-06-01] c\n"
    assert "(2 entries on 2 lines, 1 of them dated 2026-01-02, are not shown" in fitted(undated, lines=2).lines[-1]


def test_the_head_keeps_the_first_lines_and_counts_the_rest():
    document = split_lines(BULLETS)
    result = head(document, read(document), Room(5, PLENTY, PLENTY), COMMAND)
    assert result.lines == [
        "# T",
        "",
        "- entry 0",
        "- entry 1",
        "(9 entries on 9 lines are not shown; `amp show shared --left-out` shows them)",
    ]
    assert len(result.left_out) == 9
    cut = head(["- a", "  b", "  c"], read(["- a", "  b", "  c"]), Room(2, PLENTY, PLENTY), COMMAND)
    assert cut.lines == ["- a", "(the last 2 lines are not shown; `amp show shared --left-out` shows them)"]
    assert cut.cut is not None


def test_lines_that_were_never_read_are_told_even_where_the_rest_fits():
    """B83."""
    result = fitted("- a\n- b\n", unread=1_000)
    assert result.lines == [
        "- a",
        "- b",
        "(1000 lines in the middle of this large file are not considered; `amp show shared --left-out` shows them)",
    ]


def test_the_prefix_of_each_line_counts():
    document = split_lines(BULLETS)
    for size in range(90, 260, 10):
        lines = fit(document, read(document), Room(PLENTY, size, PLENTY, prefix=2), COMMAND).lines
        assert len(lines) == 1 or len("\n".join("| " + line for line in lines)) <= size


@pytest.mark.parametrize(
    "lines", [["one\n" * 1], ["- a"], ["```"], ["| a |", "|---|"], ["> q"]], ids=lambda lines: lines[0][:5]
)
def test_no_length_of_an_entry_takes_long(lines):
    """Trying each length of an entry of thousands of lines in turn took minutes."""
    text = "\n".join([*(line.rstrip("\n") for line in lines), *["  more words"] * 20_000])
    result = fitted(text, lines=50)
    assert len(result.lines) <= 50


def check(document: list[str], room: Room, found: Outline, *, take_head: bool) -> None:
    units = units_of(found)
    choose = head if take_head else fit
    result = choose(document, found, room, COMMAND)
    assert choose(document, found, room, COMMAND).lines == result.lines
    shown = [shorten_line(line) for line in document]
    if room.holds(shown):
        assert (result.lines, result.left_out, result.cut) == (shown, [], None)
        return
    *kept, note = result.lines
    assert note.startswith("(")
    assert f"`{COMMAND}`" in note
    assert not kept or room.holds(result.lines)
    gone = [unit.start for unit in result.left_out]
    assert gone == sorted(set(gone))
    stay = [unit for unit in units if unit.start not in gone]
    counted = re.match(r"\((\d+) (?:older )?entr(?:y|ies) on (\d+) lines?", note)
    assert (counted is not None) == bool(gone)
    if counted:
        assert int(counted[1]) == len(gone)
        assert int(counted[2]) == sum(unit.end - unit.start for unit in result.left_out)
    if take_head:
        assert markdown.close_fence(shown[: len(kept)])[: len(kept)] == kept or kept[:-1] == shown[: len(kept) - 1]
        return
    if kept:
        check_kept(document, shown, found, kept, stay, result.cut)


def check_kept(
    document: list[str], shown: list[str], found: Outline, kept: list[str], stay: list[Unit], cut: Unit | None
) -> None:
    """Entries are whole and in order, the title is there, and sections share the loss."""
    position = 0
    for unit in stay:
        whole = shown[unit.start : unit.end] if unit is not cut else shown[unit.start : unit.start + 1]
        while kept[position : position + len(whole)] != whole:
            position += 1
            assert position < len(kept), (whole, kept)
        position += len(whole)
    if found.headings:
        assert shown[found.headings[0].start] in kept
    sections: dict[int, int] = {unit.headings[-1] if unit.headings else -1: 0 for unit in units_of(found)}
    for unit in stay:
        sections[unit.headings[-1] if unit.headings else -1] += 1
    if stay and 0 in sections.values():
        assert max(sections.values()) == 1
    days = [unit.day for unit in units_of(found) if isinstance(unit, Entry) and unit.day is not None]
    if stay and days and max(days) - min(days) <= 365:
        assert any(isinstance(unit, Entry) and unit.day == max(days) for unit in stay)


ROOMS = st.builds(
    Room,
    st.one_of(st.integers(1, 12), st.just(PLENTY)),
    st.one_of(st.integers(80, 400), st.just(PLENTY)),
    st.one_of(st.integers(80, 400), st.just(PLENTY)),
)
ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(["", "", "", "\n## H\n", "\n### S\n\n", "\nLabel:\n", "\ntext\n\n", "\n"]),
        st.sampled_from(["- ", "- ", "1. ", ""]),
        st.sampled_from(["", "[2026-01-02] ", "[2026-03-04] ", "[2025-12-31] ", "2025-06-01: "]),
        st.sampled_from(["a", "words " * 8, "é" * 40, "a\n  b\n\n  ```\n  c\n  ```", "[T](n.md) - h", "💡" * 300]),
    ).map("".join),
    max_size=14,
).map(lambda parts: split_lines("# T\n\n" + "\n".join(parts)))


@pytest.mark.requirement("S4-60")
@settings(max_examples=min(2 * MOST, 20_000))
@given(ENTRIES, ROOMS, st.booleans())
def test_whatever_the_room_it_holds_what_is_kept_and_the_numbers_add_up(document, room, take_head):
    check(document, room, read(document), take_head=take_head)


@given(st.data())
def test_whatever_the_document(markdown_documents, data):
    document = data.draw(markdown_documents)
    check(document, data.draw(ROOMS), read(document), take_head=data.draw(st.booleans()))


@pytest.mark.parametrize(
    "room",
    [Room(200, 25_600, PLENTY), Room(20, PLENTY, PLENTY), Room(PLENTY, PLENTY, 3_000)],
    ids=["limit", "lines", "characters"],
)
def test_so_it_is_with_real_files(corpus, room):
    for path in corpus:
        lines = split_lines(decode(path.read_bytes(), path.name))
        document = lines[front_matter_end(lines) :]
        check(document, room, read(document), take_head=False)


@given(ENTRIES, st.integers(90, 600))
def test_a_smaller_room_never_brings_back_what_a_larger_one_left_out(document, size):
    found = read(document)
    larger = fit(document, found, Room(PLENTY, size, PLENTY), COMMAND)
    smaller = fit(document, found, Room(PLENTY, size - 40, PLENTY), COMMAND)
    gone = {unit.start for unit in smaller.left_out}
    if smaller.cut is None and larger.cut is None and len(smaller.lines) > 1:
        assert {unit.start for unit in larger.left_out} <= gone


def test_rendering_everything_is_the_document_without_its_spare_blanks():
    document = split_lines("# T\n\n\n\n- a\n- b\n\nLabel:\n\n- c\n\n---\n\ntext\n")
    found = read(document)
    assert render(document, found, units_of(found), set()) == [
        "# T",
        "",
        "- a",
        "- b",
        "",
        "Label:",
        "",
        "- c",
        "",
        "text",
    ]


def test_days_are_what_the_calendar_says():
    assert (day_number("2026-06-01") or 0) - (day_number("2026-03-03") or 0) == 90
