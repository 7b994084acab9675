"""Documents: what is read is written back to the byte, and an edit changes its own lines and nothing else."""

from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile, InvalidArgument, Refused, RefusedText
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.text import dates
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.add import add
from agent_memory_protocol.tiers.compose import NewEntry, compose
from agent_memory_protocol.tiers.document import Document
from tests.each_row import each_row

from .conftest import SHARED, parse

GOLDEN = Path(__file__).parents[1] / "data" / "documents"
FACT = "[2026-06-15] One new fact."
OUTER = "- Before\n\n````\n```\n# Heading\n- [2020-01-01] old\n```\n````\n\n- After\n"
MOST = settings.default.max_examples if settings.default else 100


def fact(text: str = FACT) -> NewEntry:
    return compose(text, max_bytes=25_600)


def added(text: str | bytes, section: str | None = None, new: str = FACT) -> bytes:
    return add(parse(text), fact(new), section).document.data


def whole(doc: Document) -> list[object]:
    """Return all that a document is, to be compared with another reading of the same bytes."""
    outline = doc.outline
    parts = [*outline.blocks, *outline.headings, *outline.entries, *outline.index_lines, *outline.labels.values()]

    def values(one: object) -> object:
        names = getattr(type(one), "__slots__", ())
        return {name: values(getattr(one, name)) for name in names} if names else one

    title = outline.title and outline.headings.index(outline.title)
    return [[*map(values, parts)], [*outline.labels], title, doc.raw, doc.lines, doc.begin, doc.bom, doc.ids, doc.data]


@given(data=st.data())
def test_a_document_that_has_changed_is_read_as_if_it_were_new(markdown_documents, data):
    """What is read again only from where it differs: a list that grows, is cut, and is edited anywhere."""
    some = st.one_of(st.just(["- one", "- two", "- one"]), st.lists(st.sampled_from(["- a", "- b", "1. c", "", "x:"])))
    lines = [line for part in data.draw(st.lists(st.one_of(some, markdown_documents), min_size=1)) for line in part]
    ending = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    for _ in range(data.draw(st.integers(1, 4))):
        page = ending.join(lines).encode()
        assert whole(parse(page)) == whole(document.read_whole(page, SHARED))
        start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(lines))] * 2)))
        lines[start:end] = data.draw(st.one_of(some, markdown_documents))


@each_row(
    "before, after",
    [
        ("# T\n- a\n- b\n", "# T\n- a\n- b\n\n# U\n- c\n"),  # the title is none any more
        ("# 2026-01-02\n- a\n- b\n", "# 2026-01-02\n- a\n- b\n\n# U\n"),  # and it dates its entries now
        ("- a\n- b\n- a\n", "- a\n- b\n- a\n- a\n"),
        ("x:\n- a\n- b\n", "x:\n- a\n- b\n- c\n\ny:\n- a\n"),
        ("- a\n- b\n", "- a\n- b\n[b]: /x\n"),  # for the referee
        ("- a\n- b\n", "- a\n- b\n  more\n\n      code\n"),
        ("- a\n- b\n- c\n", "- a\n- b\n<<<<<<< x\n- c\n=======\n>>>>>>> y\n"),
        ("---\nk: v\n- a\n- b\n", "---\nk: v\n- a\n- b\n---\n- c\n"),  # the front matter is longer
        ("- a\n- b\n1. c\n2. d\n", "- a\n- b\n1. c\n2. d\n3. e\n"),
        ("- a\n- b\n", "- a\n- b\n- \xff\n"),
    ],
)
def test_what_comes_behind_may_change_how_the_whole_is_read(before, after):
    parse(before)
    assert whole(parse(after)) == whole(document.read_whole(after.encode(), SHARED))


def test_what_is_no_text_behind_a_document_that_is_known_is_refused_with_its_line():
    parse("- a\n- b\n")
    with pytest.raises(DamagedFile, match=r"0xFF is not UTF-8") as told:
        parse(b"- a\n- b\n- \xff\n")
    assert told.value.line == 3


OPENERS = ("So:", "So –", "So?", "**So**", "So: 🚀", "Two lines\nof prose:", "So...", "A sentence. Never:")


@each_row("said, is_above", [*((one, True) for one in OPENERS), ("Plain prose.", False)])
def test_an_entry_goes_above_prose_that_would_become_its_label_and_below_other_prose(said, is_above):
    text = added(f"# Notes\n\n{said}\n\n## Other\n\n- x\n").decode()
    assert (text.index("One new fact.") < text.index(said)) == is_above
    assert "<!--" not in text


@each_row(
    "before, above",
    [
        ("# T\n\nDo not do these\n\n- push\n", "Do not do these"),
        ("# T\n\n- a\n\nNot yet done\n- push\n", "Not yet done"),
        ("# T\n\nNotes.\n\n- push\n", None),
        ("## Never\n\n- push\n\n## Always\n\n- ask\n", "## Never"),
        ("Rejected ideas\n---\n\n- push\n", "Rejected ideas"),
        ("## Verboten\n\n- push\n", "## Verboten"),
        ("# \u7981\u6b62\n\n- push\n", "# \u7981\u6b62"),
        ("## 2020-01-01\n\n- push\n", "## 2020-01-01"),
        ("# Facts that nobody may never lose\n\n- push\n", None),
    ],
)
def test_an_entry_that_names_no_section_goes_above_what_would_turn_it(before, above):
    text = added(before, new="One new fact.").decode()
    assert (text.index("One new fact.") < text.index(above or "push")) == (above is not None)
    assert "<!--" not in text


def signatures(doc: Document) -> list[tuple[str, tuple[str, ...], int | None, str]]:
    """Return each entry with its text, the headings it stands under, its date and its plain id."""
    return [
        (doc.text(entry), tuple(doc.outline.headings[i].text for i in entry.headings), entry.day, one.partition("-")[0])
        for entry, one in zip(doc.outline.entries, doc.ids, strict=True)
    ]


ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])


@settings(max_examples=min(2 * MOST, 20_000))
@given(st.data())
def test_parsing_and_writing_is_the_identity_on_any_text(markdown_documents, data):
    text = data.draw(st.one_of(st.text(), markdown_documents.map("\n".join), markdown_documents.map("\r\n".join)))
    bom = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    try:
        written = bom + text.encode()
    except UnicodeEncodeError:
        return
    doc = parse(written)
    assert doc.data == written
    assert doc.line_count == len(doc.lines) == len(doc.raw)
    assert len(doc.ids) == len(set(doc.ids)) == len(doc.outline.entries)


def test_so_it_is_on_every_real_file(corpus):
    for path in corpus:
        doc = parse(path.read_bytes())
        assert doc.data == path.read_bytes(), path
        assert len(doc.ids) == len(set(doc.ids)), path


@pytest.mark.requirement("S4-61", "S4-62")
@each_row("case", sorted(path.name.removesuffix(".before.md") for path in GOLDEN.glob("*.before.md")))
def test_an_entry_is_put(case):
    before = (GOLDEN / f"{case}.before.md").read_bytes()
    assert added(before).decode() == (GOLDEN / f"{case}.after.md").read_text(encoding="utf-8")


FINAL_LINES = [
    pytest.param(b"- last fact", b"- last fact\n- " + FACT.encode() + b"\n", id="no-final-newline"),
    pytest.param(b"", b"- " + FACT.encode() + b"\n", id="empty"),
    pytest.param(b"# T", b"# T\n\n- " + FACT.encode() + b"\n", id="header-without-newline"),
    pytest.param(b"# T\r\n- a\r\n", b"# T\r\n- a\r\n- " + FACT.encode() + b"\r\n", id="crlf"),
    pytest.param(b"# T\r\n- a", b"# T\r\n- a\r\n- " + FACT.encode() + b"\r\n", id="crlf-without-final-newline"),
    pytest.param(b"# T\r- a\r", b"# T\r- a\r- " + FACT.encode() + b"\r", id="lone-cr"),
    pytest.param(b"- a\n\n\n\n", b"- a\n- " + FACT.encode() + b"\n\n\n\n", id="three-blank-lines"),
    pytest.param(b"- a\n- b\r\n- c\n", b"- a\n- b\r\n- c\n- " + FACT.encode() + b"\n", id="mixed-the-most-usual"),
    pytest.param(b"- a  \n\t\n", b"- a  \n- " + FACT.encode() + b"\n\t\n", id="blanks-at-ends-stay"),
]


@each_row("before, after", FINAL_LINES)
def test_an_entry_has_its_own_line_in_the_files_line_ending(before, after):
    """B22: appending to a file with no final newline glues the new entry to the last one."""
    assert added(before) == after


def test_a_byte_order_mark_and_crlf_before_front_matter_hide_nothing():
    """B50: a byte-order mark or CRLF in front of the frontmatter makes all metadata vanish with no error."""
    data = b"\xef\xbb\xbf---\r\nname: dev\r\n---\r\n# Dev Memory\r\n\r\n- a\r\n"
    doc = parse(data)
    assert (doc.bom, doc.begin, doc.newline) == (b"\xef\xbb\xbf", 3, "\r\n")
    assert [heading.text for heading in doc.outline.headings] == ["Dev Memory"]
    assert "\ufeff" not in "".join(doc.lines)
    assert added(data) == data + b"- " + FACT.encode() + b"\r\n"


def test_nothing_inside_a_fence_is_heading_entry_or_date():
    """B58."""
    doc = parse(OUTER)
    assert doc.outline.headings == []
    assert [(entry.start, entry.end, entry.day) for entry in doc.outline.entries] == [
        (0, 1, None),
        (2, 8, None),
        (9, 10, None),
    ]
    tilde = parse("~~~\n# H\n- [2020-01-01] old\n~~~\n")
    assert (tilde.outline.headings, len(tilde.outline.entries), tilde.outline.entries[0].day) == ([], 1, None)


def test_an_entry_that_holds_a_fence_is_one_entry_with_the_whole_fence():
    """B58."""
    doc = parse("- Before\n\n  ````\n  ```\n  # H\n  - [2020-01-01] old\n  ```\n  ````\n- After\n")
    assert [(entry.start, entry.end) for entry in doc.outline.entries] == [(0, 8), (8, 9)]
    assert doc.outline.headings == []


REFUSED = [
    pytest.param("# T\n\n```\n- swallowed\n", "the fence opened in line 3 never closes; close it", id="open-fence"),
    pytest.param("# T\n\n- a\n\n## Other\n\n~~~ x\n# no\n", None, id="open-fence-after-the-place"),
    pytest.param("# T\n\n<!--\n- hidden\n", "what is around it would change", id="open-comment"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_would_swallow_the_entry_is_refused_and_named(text, reason):
    if reason is None:
        assert added(text) == text.replace("- a\n", f"- a\n- {FACT}\n").encode()
        return
    with pytest.raises(Refused) as refused:
        added(text)
    assert reason in str(refused.value)
    assert str(refused.value).startswith(".scaffolding/agent-memory/shared/KNOWLEDGE.md: ")


def test_a_fence_left_open_at_the_end_keeps_a_new_section_out():
    with pytest.raises(Refused, match="the fence opened in line 5 never closes"):
        added("# T\n\n- a\n\n```\n# no\n", "New")


CONFLICT = "# T\n\n<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> branch\n"


def test_merge_conflict_markers_are_found_and_refuse_writing():
    """B78."""
    with pytest.raises(DamagedFile, match=r"KNOWLEDGE\.md:3: unresolved merge conflict") as refused:
        document.check_writable(parse(CONFLICT))
    assert refused.value.line == 3
    assert document.conflict_line(parse(CONFLICT)) == 3
    assert document.conflict_line(parse(CONFLICT.replace("\n", "\r\n"))) == 3


@pytest.mark.parametrize(
    "text",
    [
        f"# T\n\n```\n{CONFLICT}```\n\n{CONFLICT}",
        "<<<<<<< a\n```\nx\n=======\n```\ny\n>>>>>>> b\n```\n",
        "- a\n<<<<<<< a\n- x\n||||||| base\n=======\n- y\n>>>>>>> b\n",
    ],
    ids=["after-a-sample", "around-a-fence", "three-sides-in-a-list"],
)
def test_a_conflict_is_found_beside_code(text):
    with pytest.raises(DamagedFile, match="unresolved merge conflict"):
        document.check_writable(parse(text))


@each_row(
    "text",
    [
        "# T\n\n- first\n<<<<<<< a\n- ours\n=======\n- theirs\n>>>>>>> b\n- last\n",
        "# T\n\n- first\n\n<<<<<<< a\n- ours\n||||||| base\n- before both\n=======\n- theirs\n>>>>>>> b\n\n- last\n",
        "# T\n\n- first\n\n<<<<<<< a\n- ours\n\n=======\n\n- theirs\n\n>>>>>>> b\n\n- last\n",
        "# T\n\n- first\n<<<<<<<\n- ours\n=======\n>>>>>>>\n<<<<<<< a\n=======\n- theirs\n- last\n>>>>>>> b\n",
    ],
)
def test_of_a_merge_conflict_the_entries_of_both_sides_are_listed_and_no_marker(text):
    for data in (text, text.replace("\n", "\r\n")):
        found = parse(data)
        told = [found.text(entry).removeprefix("- ") for entry in found.outline.entries]
        assert told == ["first", "ours", "theirs", "last"]
        assert [heading.text for heading in found.outline.headings] == ["T"]
        assert found.data == data.encode()


@each_row(
    "text",
    [
        *("# T\n\n=======\n", "- <<<<<<< HEAD\n", ">>>>>>> b\n<<<<<<< a\n", "<<<<<<<\n>>>>>>>\n", ""),
        *("<<<<<<< a\n- x\n>>>>>>> b\n=======\n", "=======\n<<<<<<< a\n- x\n>>>>>>> b\n"),
        *("<<<<<<< a\n- x\n======= \n>>>>>>> b\n", "<<<<<<<< a\n- x\n========\n>>>>>>>> b\n"),
        *(f"# T\n\n{fence}\n{CONFLICT}{fence}\n\n- a\n" for fence in ("```", "~~~~")),
        *("".join(f"{indent}{line}\n" for line in CONFLICT.split("\n")) for indent in (" ", "    ", "> ", "\t")),
        f"# T\n\n<pre>\n{CONFLICT}</pre>\n\n- a\n",
        "- Git writes:\n\n  ```\n  <<<<<<< a\n  x\n  =======\n  y\n  >>>>>>> b\n  ```\n",
    ],
)
def test_what_only_looks_a_little_like_a_conflict_does_not(text):
    assert document.conflict_line(parse(text)) is None
    document.check_writable(parse(text))


def test_a_nul_refuses_writing():
    with pytest.raises(DamagedFile, match=r"KNOWLEDGE\.md:2: holds a NUL character"):
        document.check_writable(parse("- a\n- b\0\n"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"- a\n- caf\xe9\n", "KNOWLEDGE.md:2: byte 0xE9 is not UTF-8"),
        ("- a\n".encode("utf-16"), "is UTF-16, not UTF-8"),
        (b"- a\xed\xa0\x80\n", "KNOWLEDGE.md:1: byte 0xED"),
    ],
    ids=["latin-1", "utf-16", "surrogate"],
)
def test_what_is_not_utf_8_is_refused_with_its_line(data, reason):
    """B52."""
    with pytest.raises(DamagedFile) as refused:
        parse(data)
    assert reason in str(refused.value)


SECTIONS = "# T\n\n- t\n\n## Redis #infra\n\n- r\n\n## Notes\n\n- one\n\n### Deep\n\n- d\n\n## Notes\n\n- two\n"


@pytest.mark.requirement("S4-61")
@each_row("section", ["Redis", "redis ", "REDIS #infra", "## Redis", "redis #other"])
def test_a_section_is_found_whatever_its_case_and_tags(section):
    """B61: writing to a section whose heading does not match exactly adds a second section and reports success."""
    result = add(parse(SECTIONS), fact(), section)
    assert result.notes == ()
    assert result.document.section(result.entry) == "Redis #infra"
    assert result.document.data.decode() == SECTIONS.replace("- r\n", f"- r\n- {FACT}\n")


@pytest.mark.requirement("S4-61")
def test_of_two_sections_the_last_is_used_and_said():
    """B61."""
    result = add(parse(SECTIONS), fact(), "notes")
    assert result.notes == ("2 sections are called 'notes'; the last one, line 17, is used",)
    assert result.document.data.decode() == SECTIONS + f"- {FACT}\n"


@pytest.mark.requirement("S4-61")
def test_a_section_that_is_not_there_is_made_at_the_end_and_said():
    result = add(parse(SECTIONS), fact(), "Deployment")
    assert result.notes == ("added the missing section '## Deployment' at the end",)
    assert result.document.data.decode() == SECTIONS + f"\n## Deployment\n\n- {FACT}\n"
    again = add(result.document, fact("Another."), "deployment")
    assert again.notes == ()
    assert again.document.data == result.document.data + b"- Another.\n"


@pytest.mark.parametrize("section", ["## Redis", "Redis", "Notes"])
def test_no_text_makes_a_heading_twice(section):
    """B61: text that itself starts with the section's heading."""
    result = add(parse(SECTIONS), fact(f"{section}\n\nMore."), "Redis")
    assert [heading.text for heading in result.document.outline.headings] == [
        heading.text for heading in parse(SECTIONS).outline.headings
    ]
    assert len(result.document.outline.entries) == len(parse(SECTIONS).outline.entries) + 1


@each_row("section", ["", "#", "  ", "a\nb", "a\u2028b", "x" * 121, "a\u200bb", "a\x1bb"])
def test_what_cannot_be_a_heading_is_no_section(section):
    with pytest.raises(RefusedText, match="cannot be a section's name"):
        document.check_section_name(section)


@each_row("section", ["Redis", "## Redis", "Redis #infra", "C#", "日本", "x" * 120])
def test_a_line_of_plain_text_is_one(section):
    document.check_section_name(section)


def test_a_section_spans_what_stands_below_it():
    doc = parse(SECTIONS)
    assert doc.lines[slice(*document.section_span(doc, "T"))] == doc.lines
    assert doc.lines[slice(*document.section_span(doc, "deep"))] == ["### Deep", "", "- d", ""]
    assert doc.lines[slice(*document.section_span(doc, "notes"))] == ["## Notes", "", "- two"]
    with pytest.raises(InvalidArgument, match="has no section 'x'; it has 'T', 'Redis #infra', 'Notes'"):
        document.section_span(doc, "x")


SAME = [
    pytest.param("- Redis needs AOF on.   ", id="blanks-at-the-end"),
    pytest.param("* Redis needs AOF on.", id="another-bullet"),
    pytest.param("7. Redis needs AOF on.", id="a-number"),
    pytest.param("-   Redis  needs\tAOF on.", id="other-blanks"),
    pytest.param("- Redis needs\n  AOF on.", id="wrapped"),
    pytest.param("  - Redis needs AOF on.", id="indented"),
    pytest.param("- [2026-01-02] Redis needs AOF on.", id="dated"),
    pytest.param("- Redis needs AOF on. (2026-01-02)", id="dated-at-the-end"),
    pytest.param("- **2026-01-02** Redis needs AOF on.", id="dated-in-bold"),
    pytest.param("- 2026-01-02: Redis needs AOF on.", id="dated-with-a-colon"),
    pytest.param("- [2026-01-02] Redis needs AOF on. ", id="dated-and-blank"),
    pytest.param("Redis needs AOF on.", id="prose"),
]
OTHER = ["- Redis needs AOF on", "- redis needs AOF on.", "- Redis needs AOF on.\n  - why", "- `Redis` needs AOF on."]


@each_row("text", SAME)
def test_an_entrys_id_survives_moving_re_indenting_and_re_dating(text):
    """B69: the same bullet with trailing spaces, another mark, another date is already there."""
    expected = document.id_of_new(fact("Redis needs AOF on."), SHARED)
    assert len(expected) == 12
    assert parse(f"# T\n\n{text}\n").ids == (expected,)


def test_so_it_does_another_unicode_form():
    """B69."""
    assert parse(normalize("NFD", "- Café é\n")).ids == parse("- Café é\n").ids


@each_row("text", OTHER)
def test_another_text_has_another_id(text):
    assert parse(text).ids[0] != document.id_of_new(fact("Redis needs AOF on."), SHARED)


def test_equal_entries_are_numbered_and_the_document_is_part_of_the_id():
    doc = parse("- a\n- b\n- a\n- [2026-01-01] a\n")
    first = doc.ids[0]
    assert doc.ids == (first, doc.ids[1], f"{first}-2", f"{first}-3")
    assert doc.entry(f"{first}-2") is doc.outline.entries[2]
    assert doc.entry("0" * 12) is None
    elsewhere = document.parse(b"- a\n", Target(Tier.AGENT, "dev")).ids[0]
    assert elsewhere != first
    assert elsewhere == document.parse(b"- a\n", Target(Tier.AGENT, "DEV")).ids[0]


def only_change(before: bytes, after: bytes) -> bytes:
    """Return what was put into `before`; nothing else may have changed."""
    start = next(
        (place for place, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), len(before)
    )
    kept = len(before) - start
    assert after[len(after) - kept :] == before[start:]
    return after[start : len(after) - kept]


def check_add(doc: Document, new: NewEntry, section: str | None) -> None:
    result = add(doc, new, section)
    put = only_change(doc.data, result.document.data)
    assert put
    others = [
        one
        for one, entry in zip(signatures(result.document), result.document.outline.entries, strict=True)
        if entry is not result.entry
    ]
    assert others == signatures(doc)
    headings = [(heading.level, heading.text) for heading in result.document.outline.headings]
    made = [note for note in result.notes if "added the missing section" in note]
    assert len(headings) == len(doc.outline.headings) + len(made)
    assert [line.target for line in result.document.outline.index_lines] == [
        line.target for line in doc.outline.index_lines
    ]
    if section is not None:
        assert document.section_key(result.document.section(result.entry)) == document.section_key(section)


NEW = ["One fact.", FACT, "Steps\n- [2020-01-02] a\n- b", "x\n\n```\n# a\n- b\n```", "| a |\n|---|", "1. a\n2. b"]


@settings(max_examples=min(2 * MOST, 20_000))
@given(st.data())
def test_adding_changes_only_its_span(markdown_documents, data):
    lines = data.draw(markdown_documents)
    text = data.draw(ENDINGS).join(["# T", "", *lines] if data.draw(st.booleans()) else lines)
    doc = parse(data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode())
    try:
        document.check_writable(doc)
        check_add(doc, fact(data.draw(st.sampled_from(NEW))), data.draw(st.sampled_from([None, None, "Title", "New"])))
    except (Refused, DamagedFile):
        return


@pytest.mark.parametrize("section", [None, "A new section"])
def test_so_it_does_in_real_files_and_hardly_one_refuses(corpus, section):
    refused = []
    for path in corpus:
        doc = parse(path.read_bytes())
        try:
            check_add(doc, fact(NEW[2]), section)
        except Refused as error:
            refused.append((path.name, str(error)))
    assert all("never closes" in reason for _, reason in refused)
    assert len(refused) <= 1 + len(corpus) // 50


REDATED = [
    pytest.param("- [2026-01-02] a\n", "- [2026-06-15] a\n", id="bracketed"),
    pytest.param("- a [2026-01-02] b\n", "- a [2026-06-15] b\n", id="inside"),
    pytest.param("- 2026-01-02: a\n", "- 2026-06-15: a\n", id="with-a-colon"),
    pytest.param("- **2026-01-02** a\n", "- **2026-06-15** a\n", id="bold"),
    pytest.param("- a (2026-01-02)\n", "- a (2026-06-15)\n", id="in-a-parenthesis"),
    pytest.param("- Team (2026-01-02): a\n", "- Team (2026-06-15): a\n", id="in-a-lead-in"),
    pytest.param("   *   a\n    \tb [2026-01-02]\n", "   *   a\n    \tb [2026-06-15]\n", id="on-a-later-line"),
    pytest.param("- [2026-01-01] a [2026-01-02]\n", "- [2026-01-01] a [2026-06-15]\n", id="the-newest"),
    pytest.param("text\r\n[2026-01-02] b", "text\r\n[2026-06-15] b", id="prose"),
    pytest.param("## 2026-01-02\n- a\n", "## 2026-01-02\n- a\n", id="a-headings-date-is-not-the-entrys"),
    pytest.param("- a\n", "- a\n", id="undated"),
]


@pytest.mark.requirement("S4-62")
@each_row("before, after", REDATED)
def test_a_date_moves_forward_in_the_spelling_it_has(before, after):
    doc = parse(before)
    changed = document.redate(doc, doc.outline.entries[-1], dates.day_number("2026-06-15") or 0)
    assert changed.data.decode() == after
    assert changed.ids == doc.ids


def test_a_date_that_cannot_become_the_entrys_is_refused():
    doc = parse("- [2026-01-01] a [2026-01-02]\n")
    with pytest.raises(Refused, match="edit the line by hand"):
        document.redate(doc, doc.outline.entries[0], dates.day_number("2025-06-15") or 0)


def test_redating_every_dated_entry_of_the_real_files_changes_ten_bytes_each(corpus):
    day = dates.day_number("2030-12-31") or 0
    for path in corpus:
        doc = parse(path.read_bytes())
        for number, entry in enumerate(doc.outline.entries):
            if entry.mark is not None:
                changed = document.redate(doc, entry, day)
                assert changed.outline.entries[number].day == day
                assert len(changed.data) == len(doc.data)
                assert sum(one != other for one, other in zip(changed.data, doc.data, strict=True)) <= 10


LISTS = ["- push\n", "Never:\n\n- push\n- push\n", "**Always:**\n\n- push\n- pull\n", "Often:\n\n- push\n"]


@given(order=st.permutations(LISTS))
def test_no_entry_has_another_id_because_one_of_equal_text_has_moved(order):
    def ids(parts):
        found = parse("# T\n\n" + "\n<!-- -->\n\n".join(parts))
        return sorted((found.label(entry), found.text(entry), one) for one, entry in found.by_id)

    assert ids(order) == ids(LISTS)
