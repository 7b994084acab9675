"""Composing: whatever a text holds, it makes one entry, and nothing that a reader of the page would not see."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, DamagedFile, Refused, RefusedText
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.text import dates
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.add import add
from agent_memory_protocol.tiers.compose import NewEntry, compose
from tests.each_row import each_row

SHARED = Target(Tier.SHARED)
DAY = dates.day_number("2026-02-15")


def made(text: str, day: int | None = None) -> str:
    return "\n".join(compose(text, day=day, max_bytes=25_600).lines)


UNCHANGED = [
    pytest.param("Redis needs AOF on.", id="a-sentence"),
    pytest.param("Release steps\n- tag the build\n- publish", id="children"),
    pytest.param("Release steps\n\nThen wait.", id="two-paragraphs"),
    pytest.param("x\n\n```\n# no heading\n---\n<!-- shown -->\n```", id="a-fence-with-anything-in-it"),
    pytest.param("`<!-- shown -->` is a comment", id="a-comment-in-code"),
    pytest.param("text with #hash and - dash and 1. number", id="signs-inside"),
    pytest.param("#tag first", id="a-tag-is-no-heading"),
    pytest.param("| a | b |\n|---|---|\n| 1 | 2 |", id="a-table"),
    pytest.param("> quoted", id="a-quote"),
    pytest.param("1. first\n2. second", id="a-numbered-list"),
    pytest.param("<b>bold</b> text", id="inline-html"),
    pytest.param("see [doc](x.md) and [ref]", id="links"),
    pytest.param("👩\u200d💻 and क\u094d\u200dष and می\u200cخواهم", id="joiners-that-scripts-and-emoji-need"),
    pytest.param("tab\tinside", id="a-tab-inside"),
    pytest.param("None of it works.", id="a-sentence-that-begins-like-a-placeholder"),
    pytest.param("TODO\n- write the guide", id="a-placeholder-with-something-under-it"),
]

CHANGED = [
    pytest.param("\n\n  Redis  \n\n", "Redis", id="blanks-around"),
    pytest.param("a  \nb\t\n", "a\nb", id="blanks-at-line-ends"),
    pytest.param("a\r\nb\rc", "a\nb\nc", id="line-endings"),
    pytest.param("- Redis", "Redis", id="a-bullet"),
    pytest.param("* Redis", "Redis", id="a-star"),
    pytest.param("-\n\nRedis", "Redis", id="a-bullet-with-nothing-behind-it"),
    pytest.param("# System", "\\# System", id="a-heading"),
    pytest.param("x\n## Redis\ny", "x\n\\## Redis\ny", id="a-heading-further-down"),
    pytest.param("x\n---", "x\n\\---", id="a-rule-or-underline"),
    pytest.param("x\n===", "x\n\\===", id="an-underline"),
    pytest.param("x\n***", "x\n\\***", id="a-rule-of-stars"),
    pytest.param("---\nname: x\n---", "\\---\nname: x\n\\---", id="front-matter"),
    pytest.param("[a]: /url", "\\[a]: /url", id="a-link-definition"),
    pytest.param("x\n```\ny", "x\n```\ny\n```", id="an-open-fence"),
    pytest.param("x\n~~~~ py\n```", "x\n~~~~ py\n```\n~~~~", id="an-open-fence-of-tildes"),
    pytest.param("a | b\n--|--", "| a | b\n--|--", id="a-table-that-would-swallow-the-bullet"),
    pytest.param("2026-02-15: Redis", "[2026-02-15] Redis", id="a-date-in-another-spelling"),
    pytest.param("**2026-02-15** Redis", "[2026-02-15] Redis", id="a-date-in-bold"),
    pytest.param("2026-02-15 - Redis", "[2026-02-15] Redis", id="a-date-with-a-dash"),
    pytest.param("- [2026-02-15] Redis", "[2026-02-15] Redis", id="a-dated-bullet"),
    pytest.param("2026-02-15\nRedis", "[2026-02-15] Redis", id="a-date-on-its-own-line"),
    pytest.param("2026-02-15\n\nRedis", "[2026-02-15] Redis", id="a-date-and-a-blank"),
    pytest.param("2026-02-15:\n- a\n- b", "[2026-02-15]\n- a\n- b", id="a-date-before-a-list"),
    pytest.param("[2026-02-15]\n```\nx\n```", "[2026-02-15]\n```\nx\n```", id="a-date-before-a-fence"),
]


@each_row("text", UNCHANGED)
def test_a_text_that_is_one_entry_stays_as_it_is(text):
    assert made(text) == text


@pytest.mark.requirement("S4-61", "S4-64")
@each_row("text, lines", CHANGED)
def test_what_would_be_more_than_an_entry_is_made_one(text, lines):
    assert made(text) == lines


REFUSED = [
    pytest.param("", "is empty", id="nothing"),
    pytest.param(" \n\t\n", "is empty", id="blanks"),
    pytest.param("\u2003\u00a0", "is empty", id="unicode-blanks"),
    pytest.param("-", "is only a bullet", id="only-a-bullet"),
    pytest.param("[2026-02-15]", "is only a date", id="only-a-date"),
    pytest.param("x" * 25_601, "25,601 bytes", id="one-byte-too-many"),
    pytest.param("é" * 12_801, "25,602 bytes", id="bytes-not-characters"),
    pytest.param("x\n" * 50_000, "100,000 bytes", id="a-hundred-kilobytes"),
    pytest.param("a\0b", "\\x00", id="nul"),
    pytest.param("a\x1b[31mb", "\\x1b", id="escape"),
    pytest.param("a\x07", "\\x07", id="bell"),
    pytest.param("a\nb\x08", "in line 2", id="backspace-in-the-second-line"),
    pytest.param("a\u200bb", "\\u200b", id="zero-width"),
    pytest.param("a\u202eb", "\\u202e", id="bidi"),
    pytest.param("a\U000e0041", "\\U000e0041", id="tag-character"),
    pytest.param("\ufeffa", "\\ufeff", id="byte-order-mark"),
    pytest.param("a\u2028b", "\\u2028", id="line-separator"),
    pytest.param("a\fb", "\\x0c", id="form-feed"),
    pytest.param("caf\udce9", "\\udce9", id="half-a-character"),
    pytest.param("a <!-- hidden --> b", "comment or link definition", id="comment"),
    pytest.param("<!-- hidden -->", "comment or link definition", id="comment-alone"),
    pytest.param("a\n<!--\nhidden", "comment or link definition", id="open-comment"),
    pytest.param("![a <!-- hidden -->](x.png)", "comment or link definition", id="comment-in-an-images-text"),
    pytest.param("<?php hidden ?>", "comment or link definition", id="processing-instruction"),
    pytest.param("> [a]: /hidden", "comment or link definition", id="link-definition-in-a-quote"),
    pytest.param("[a\nb]: /hidden", "comment or link definition", id="link-definition-in-two-lines"),
    pytest.param("- [T](note.md) - hook", "begins with a link to a note", id="an-index-line"),
    pytest.param("[2026-02-30] x", "[2026-02-30] is not in the calendar", id="impossible-date"),
    pytest.param("(none yet)", "only a placeholder", id="placeholder"),
    pytest.param("- [2026-02-15] *TODO*", "only a placeholder", id="dated-placeholder"),
]


@each_row("text, reason", REFUSED)
def test_what_no_reader_would_see_or_no_page_holds_is_refused_with_the_reason(text, reason):
    with pytest.raises(RefusedText) as refused:
        made(text)
    assert reason in str(refused.value)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200
    assert refused.value.exit_code == 3


def test_as_large_as_a_whole_file_is_not_too_large():
    assert made("x" * 25_600) == "x" * 25_600


@pytest.mark.requirement("S4-62")
@each_row(
    "text, given_day, lines",
    [
        ("Redis", DAY, "[2026-02-15] Redis"),
        ("2026-01-01: Redis", DAY, "[2026-02-15] Redis"),
        ("[2026-01-01] Redis", None, "[2026-01-01] Redis"),
        ("Redis (2026-01-01)", None, "Redis (2026-01-01)"),
        ("```\nx\n```", DAY, "[2026-02-15]\n```\nx\n```"),
        ("a | b\n--|--", DAY, "[2026-02-15]\na | b\n--|--"),
        ("1. a\n2. b", DAY, "[2026-02-15]\n1. a\n2. b"),
        ("> a", DAY, "[2026-02-15]\n> a"),
        ("[T](note.md) - hook", DAY, "[2026-02-15] [T](note.md) - hook"),
        ("\\# x", DAY, "[2026-02-15] \\# x"),
    ],
)
def test_a_day_that_is_given_goes_before_one_that_begins_the_text(text, given_day, lines):
    assert made(text, given_day) == lines


@pytest.mark.requirement("S4-62")
def test_a_date_that_begins_the_text_is_the_entrys():
    assert compose("2026-02-15: x", max_bytes=100) == NewEntry(("[2026-02-15] x",), DAY)
    assert compose("x", max_bytes=100) == NewEntry(("x",), None)
    assert compose("2026-02-15: x", day=1, max_bytes=100) == NewEntry(("[0001-01-01] x",), 1)


RELEASE = "Release steps\n- [2020-01-02] tag the build\n- [2020-01-03] publish"


@pytest.mark.requirement("S4-62", "S4-63")
@pytest.mark.parametrize(
    "text", [RELEASE, "Steps\n\n# System\n\n---\n\n- [2020-01-02] x\n\n## More"], ids=["list", "page"]
)
def test_a_text_with_dated_bullets_headings_and_rules_reads_back_as_one_undated_entry(text):
    """B59: a memory whose own text holds dated bullets or the separator reads back as several memories."""
    before = document.parse(b"# T\n\n- a\n- b\n", SHARED)
    added = add(before, compose(text, max_bytes=25_600))
    entries = added.document.outline.entries
    assert len(entries) == 3
    assert entries[2].day is None
    assert entries[2].paragraph == text.partition("\n")[0]
    assert len(added.document.outline.headings) == 1


ALWAYS = [
    b"",
    b"# T\n",
    b"# T\n\n- a\n- b",
    b"\xef\xbb\xbf# T\r\n\r\ntext:\r\n",
    b"- a\n\n- b\n\n\n",
    b"1. a\n2. b\n\n## H\n",
]


def texts(documents: st.SearchStrategy[list[str]]) -> st.SearchStrategy[str]:
    return st.one_of(documents.map("\n".join), documents.map("\r\n".join), st.text(max_size=30))


@given(st.data())
def test_any_text_accepted_adds_exactly_one_entry_and_never_a_heading(markdown_documents, data):
    """B59, and every other way to be two."""
    text = data.draw(texts(markdown_documents))
    try:
        new = compose(text, day=data.draw(st.sampled_from([None, DAY])), max_bytes=25_600)
    except RefusedText:
        assume(False)
    for data_before in ALWAYS:
        check(document.parse(data_before, SHARED), new)


@given(st.data())
def test_whatever_the_document(markdown_documents, data):
    lines = data.draw(markdown_documents)
    before = document.parse("\n".join(lines).encode(), SHARED)
    text = data.draw(st.sampled_from([RELEASE, "One fact.", "x\n\n```\n# a"]))
    try:
        document.check_writable(before)
        check(before, compose(text, max_bytes=25_600))
    except (Refused, DamagedFile):
        return


def check(before: document.Document, new: NewEntry) -> None:
    added = add(before, new)
    after = added.document
    assert len(after.outline.entries) == len(before.outline.entries) + 1
    assert [heading.text for heading in after.outline.headings] == [heading.text for heading in before.outline.headings]
    assert len(after.outline.index_lines) == len(before.outline.index_lines)
    assert added.entry.is_item
    assert added.entry.closed
    assert document.parse(after.data, SHARED).ids == after.ids
    assert added.entry_id.partition("-")[0] == document.id_of_new(new, SHARED)
    if new.day is not None:
        assert added.entry.day is not None
        assert added.entry.day >= new.day


def test_every_refusal_is_one_of_ours():
    assert issubclass(RefusedText, AgentMemoryError)


@each_row(
    "text, front, lines",
    [
        ("[keep] [2026-01-01] x", [], "[2026-01-01] [keep] x"),
        ("[ ] [2026-01-02] x", [], "[ ] [2026-01-02] x"),
        ("[x] [keep] x", ["[until 2027-01-01]"], "[x] [keep] [until 2027-01-01] x"),
        ("[until 2026-05-05] x", ["[keep]", "[until 2027-01-01]"], "[until 2026-05-05] [keep] x"),
        ("[keep]\n```\nx\n```", [], "[keep]\n```\nx\n```"),
        ("`[keep]` is a mark", ["[disputed]"], "[disputed] `[keep]` is a mark"),
    ],
)
def test_the_marks_of_a_text_stay_in_front_of_it_and_others_come_behind(text, front, lines):
    assert "\n".join(compose(text, front=front, max_bytes=25_600).lines) == lines


def test_a_text_that_is_only_a_mark_is_refused():
    with pytest.raises(RefusedText, match="only a mark"):
        compose("[keep] [until 2027-01-01]", max_bytes=25_600)
