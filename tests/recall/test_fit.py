"""Fitting: no topic lost, no news lost, entries whole, and never more than the room holds."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.disk.files import decode
from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.recall.fit import Fitted, fit, head, omission_line, shorten_line, told_units
from agent_memory_protocol.recall.sheet import Room
from agent_memory_protocol.text import markdown, referee
from agent_memory_protocol.text.headers import front_matter_end
from agent_memory_protocol.text.markdown import Block
from agent_memory_protocol.tiers.entries import Entry, Heading, IndexLine, Label, Outline, date_lines, outline
from tests.each_row import each_row

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


BULLETS = "# T\n\n" + "".join(f"- entry {number}\n" for number in range(10)) + "\n## H\n\n- other\n"


@pytest.mark.requirement("S4-60")
def test_what_is_kept_stands_in_file_order_under_its_headings_with_the_header_first():
    result = fitted(BULLETS, lines=11)
    assert result.lines == [
        "# T",
        "- entry 3",
        "- entry 4",
        "- entry 5",
        "- entry 6",
        "- entry 7",
        "- entry 8",
        "- entry 9",
        "## H",
        "- other",
        "(3 entries on 3 lines are not shown; `amp show shared --left-out` shows them)",
    ]
    assert [unit.start for unit in result.left_out] == [2, 3, 4]
    assert result.cut is None


def test_a_heading_and_a_label_go_with_their_last_entry():
    text = (
        "# T\n\n## Gone\n\n**Label**\n- [2020-01-01] "
        + "x" * 50
        + "\n\n## Kept\n\nRules:\n- [2026-06-01] a\n- [2026-06-02] b\n"
    )
    assert fitted(text, lines=5).lines == [
        "# T",
        "## Kept",
        "Rules:",
        "- [2026-06-02] b",
        f"(2 older entries on 2 lines, dated 2020-01-01 to 2026-06-01, are not shown; `{COMMAND}` shows them)",
    ]


def test_what_dates_a_section_is_there_as_long_as_an_entry_that_it_dates():
    text = (
        "# T\n\n## Moved\n\n**Date:** 2026-01-05\n**Status:** replaced\n\n- a\n- b\n\n**Never:**\n\n- c\n"
        "\n## Now\n\n- [2026-06-02] d\n"
    )
    moved = ["# T", "## Moved", "**Date:** 2026-01-05", "**Status:** replaced", "", "**Never:**", "- c"]
    assert fitted(text, lines=10).lines[:-1] == [*moved, "## Now", "- [2026-06-02] d"]
    assert fitted(text, lines=5).lines[:-1] == ["# T", "## Now", "- [2026-06-02] d"]


def test_an_entry_goes_with_all_that_belongs_to_it():
    text = "- first\n  - child\n\n  ```\n  code\n  ```\n- second\n"
    assert fitted(text, lines=6).lines == [
        "- second",
        "(1 entry on 6 lines is not shown; `amp show shared --left-out` shows it)",
    ]


def test_an_entry_larger_than_the_room_is_cut_at_a_line_and_says_so():
    text = "# T\n\n- first\n" + "".join(f"  line {number}\n" for number in range(20))
    result = fitted(text, lines=6)
    assert result.lines == [
        "# T",
        "- first",
        "  line 0",
        "  line 1",
        "  line 2",
        "(one entry is cut after 4 of 21 lines; `amp show shared --left-out` shows it)",
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
    result = fitted("one\ntwo\nthree\nfour\n\n# Title\n", lines=4)
    assert result.lines[:-1] == ["one", "two", "# Title"]
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


@each_row(
    "line, shown",
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


@each_row("text, options, line", NOTES)
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


@pytest.mark.slow
@each_row("lines", [["one\n" * 1], ["- a"], ["```"], ["| a |", "|---|"], ["> q"]], ids=lambda lines: lines[0][:5])
def test_no_length_of_an_entry_takes_long(lines):
    """Trying each length of an entry of thousands of lines in turn took minutes."""
    text = "\n".join([*(line.rstrip("\n") for line in lines), *["  more words"] * 20_000])
    result = fitted(text, lines=50)
    assert len(result.lines) <= 50


def check(document: list[str], room: Room, found: Outline, *, take_head: bool) -> None:
    choose = head if take_head else fit
    result = choose(document, found, room, COMMAND)
    assert choose(document, found, room, COMMAND).lines == result.lines
    shown = [shorten_line(line) for line in document]
    if room.holds(shown):
        assert (result.lines, result.left_out, result.cut) == (shown, [], None)
        return
    if not take_head and (not result.lines or f"`{COMMAND}`" not in result.lines[-1]):
        assert (result.left_out, result.cut) == ([], None)
        assert room.holds(result.lines)
        check_kept(shown, found, result.lines, told_units(shown, found), None)
        return
    *kept, note = result.lines
    assert note.startswith("(")
    assert f"`{COMMAND}`" in note
    assert not kept or room.holds(result.lines)
    gone = [unit.start for unit in result.left_out]
    assert gone == sorted(set(gone))
    counted = re.match(r"\((\d+) (?:older )?entr(?:y|ies) on (\d+) lines?", note)
    assert (counted is not None) == bool(gone)
    if counted:
        assert int(counted[1]) == len(gone)
        assert int(counted[2]) == sum(unit.end - unit.start for unit in result.left_out)
    if take_head:
        assert markdown.close_fence(shown[: len(kept)])[: len(kept)] == kept or kept[:-1] == shown[: len(kept) - 1]
    elif kept:
        stay = [unit for unit in told_units(shown, found) if unit.start not in gone]
        check_kept(shown, found, kept, stay, result.cut)
        check_newest(shown, found, room, note, stay)


def check_newest(shown: list[str], found: Outline, room: Room, note: str, stay: list[Unit]) -> None:
    """The newest is given wherever it fits beside the largest of each other section."""
    days = [unit.day for unit in told_units(shown, found) if isinstance(unit, Entry) and unit.day is not None]
    if not days or max(days) - min(days) > 365:
        return
    largest = {
        unit.headings[-1:]: unit
        for unit in sorted(units_of(found), key=lambda one: len("".join(with_context(shown, found, one))))
    }
    for unit in found.entries:
        beside = [unit, *(one for section, one in largest.items() if section != unit.headings[-1:])]
        alone = [line for one in beside for line in with_context(shown, found, one)]
        if unit.day == max(days) and room.holds([*alone, note + " " * 40]):
            assert any(isinstance(one, Entry) and one.day == max(days) for one in stay)


def with_context(shown: list[str], found: Outline, unit: Unit) -> list[str]:
    """The lines of an entry and of all that governs it, each after a blank one."""
    dating = date_lines(found).get(unit.dated_by) if isinstance(unit, Entry) else None
    spans: list[Unit | Heading | Label] = [
        *(found.headings[index] for index in ([0, *unit.headings] if found.headings else [])),
        *([dating] if dating else []),
        *([found.labels[unit.label]] if unit.label else []),
        unit,
    ]
    return [line for span in spans for line in ["", *shown[span.start : span.end]]]


def check_kept(shown: list[str], found: Outline, kept: list[str], stay: list[Unit], cut: Unit | None) -> None:
    """Entries are whole and in order, under what governs them and nothing else; the title is there."""
    again = read(kept)
    filled = [number for number, line in enumerate(kept) if line.strip(" \t")]
    place = 0
    for unit in stay:
        whole = [line for line in shown[unit.start : unit.end] if line.strip(" \t")][: 1 if unit is cut else None]
        while [kept[number] for number in filled[place : place + len(whole)]] != whole:
            place += 1
            assert place < len(filled), (whole, kept)
        if unit is not cut:
            check_context(found, unit, again, filled[place])
        place += len(whole)
    if found.headings:
        assert shown[found.headings[0].start] in kept
    if cut is None:
        check_blanks(kept)


def check_context(found: Outline, unit: Unit, again: Outline, line: int) -> None:
    """What is given is read under the headings, the label and the date line it has in the document."""
    entry = next((one for one in units_of(again) if one.start <= line < one.end), None)
    if entry is None:  # a paragraph that ends in a label, and says nothing else
        return
    assert context(again, entry) == context(found, unit)
    if isinstance(unit, Entry) and unit.dated_by in date_lines(found):
        assert isinstance(entry, Entry)
        assert entry.day == unit.day


def context(found: Outline, unit: Unit) -> tuple[list[str], str]:
    label = found.labels[unit.label].text if unit.label is not None else ""
    return [found.headings[index].text for index in unit.headings], label


def check_blanks(kept: list[str]) -> None:
    """No blank line is left between blocks that are the same without it."""
    blocks = markdown.scan(kept)
    for above, below in pairwise(blocks or ()):
        pair = [*kept[above.start : above.end], *kept[below.start : below.end]]
        if below.start == above.end or markdown.COMMENT in (above.kind, below.kind):
            continue
        together = markdown.scan(pair)
        facts = [shape(block) for block in (above, below)]
        assert together is None or [shape(block) for block in together] != facts, pair


def shape(block: Block) -> tuple[str, int, int]:
    return block.kind, block.end - block.start, block.paragraph_end - block.start


ROOMS = st.builds(
    Room,
    st.one_of(st.integers(1, 12), st.just(PLENTY)),
    st.one_of(st.integers(80, 400), st.just(PLENTY)),
    st.one_of(st.integers(80, 400), st.just(PLENTY)),
)
ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "",
                "",
                "",
                "\n## H\n",
                "\n## D\n\n**Date:** 2026-02-01\n\n",
                "\n### S\n\n",
                "\nLabel:\n",
                "\ntext\n\n",
                "\n",
            ]
        ),
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


@pytest.mark.slow
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
