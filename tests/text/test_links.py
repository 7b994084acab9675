"""Links to notes: every form people write is read, and what is written is one link to the right file."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent_memory_protocol.text import links
from tests.each_row import each_row

FILE_NAMES = st.text(
    st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"], blacklist_characters="/\\"), min_size=1, max_size=20
).map(lambda stem: f"{stem.strip() or 'x'}.md")
TITLES = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30).filter(
    str.strip
)


@each_row(
    "text, file",
    [
        ("[Title](file.md) - hook", "file.md"),
        ("[Title](./file.md) — hook", "file.md"),
        ("**[Title](file.md)** -- hook", "file.md"),
        ("[Title](<file.md>): hook", "file.md"),
        ("[Title](file.md#part)", "file.md"),
        ("[`code` title](file.md)", "file.md"),
        ("[a [nested] title](file.md)", "file.md"),
        ("[Title](two%20words.md)", "two words.md"),
        ("[Title](café.md)", "café.md"),
    ],
)
@pytest.mark.requirement("S2-24")
def test_each_form_of_an_index_line_names_its_note(text, file):
    assert links.note_target(text) == file


@each_row(
    "text",
    [
        "plain text",
        "see [Title](file.md)",
        "[Title](https://example.invalid/file.md)",
        "[Title](../other/file.md)",
        "[Title](folder/file.md)",
        "[Title](file.txt)",
        "[Title] (file.md)",
        "[Title]",
        "",
    ],
)
def test_other_text_is_no_index_line(text):
    assert links.note_target(text) == ""


@given(title=TITLES, file=FILE_NAMES, hook=st.text(max_size=80))
def test_a_commonmark_parser_finds_exactly_one_link_in_a_written_line_and_it_leads_to_the_file(title, file, hook):
    line = links.index_line(title, file, " ".join(hook.replace("\0", "").split()), " - ", 150)
    tokens = MarkdownIt("commonmark").parse(f"- {line}")
    children = [child for token in tokens for child in token.children or []]
    opened = [child for child in children if child.type == "link_open"]
    assert len(opened) == 1
    assert not [child for child in children if child.type == "image"]
    assert links.note_target(line) == file


@given(title=TITLES, file=FILE_NAMES, hook=st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=400))
def test_a_written_line_keeps_its_width_where_the_hook_can_be_cut(title, file, hook):
    bare = links.index_line(title, file, "", " - ", 150)
    assert len(links.index_line(title, file, hook, " - ", 150)) <= max(150, len(bare))


@each_row(
    "line, names",
    [
        ("See `review.md` for more", {"review.md"}),
        ("| `a.md` | reference | text |", {"a.md"}),
        ("[A](a.md), [B](b.md)", {"a.md", "b.md"}),
        ("details in [[some-note]] and [[other.md]]", {"some-note.md", "other.md"}),
        ("`.claude/agent-memory/x/scap.md`", {"scap.md"}),
        ("no names here", set()),
    ],
)
def test_a_note_named_in_any_form_is_found(line, names):
    assert links.mentioned_notes([line]) == names


@given(st.text(st.sampled_from("a.md .md`(/")))
def test_a_name_begins_behind_what_no_name_holds(line):
    ends = [end + 3 for end in range(len(line)) if line.startswith(".md", end)]
    names = {re.split(r"[ `(/]", line[: end - 3])[-1] + ".md" for end in ends}
    assert links.mentioned_notes([line]) == names


def test_what_is_longer_than_any_name_is_none_so_that_a_line_of_names_in_one_is_read_at_once():
    names = links.mentioned_notes([".md" * 50_000])
    assert max(map(len, names)) <= len("%00") * 255 + len(".md")
    assert len(names) <= 256


def test_samples_in_fences_and_comments_name_no_note():
    text = "```\n- [A](a.md)\n```\n<!-- - [B](b.md) -->\n<!--\n- [C](c.md)\n-->\n- [D](d.md)\n"
    assert [line for line in links.visible_lines(text) if line] == ["- [D](d.md)"]


@each_row(
    "line, target",
    [
        ("- [A](../other/a.md) - hook", "../other/a.md"),
        ("* **[A](folder/a.md)**", "folder/a.md"),
        ("- [A](a.md) - hook", ""),
        ("- [A](./a.md)", ""),
        ("- [A](https://example.invalid/a.md)", ""),
        ("- see [A](../a.md)", ""),
        ("text", ""),
    ],
)
def test_a_link_out_of_the_folder_is_told_from_one_in_it(line, target):
    assert links.outside_target(line) == target
