"""Notes: read as they exist in the wild, written so that everybody reads the same back."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import InvalidArgument, RefusedText
from agent_memory_protocol.notes import note
from agent_memory_protocol.text.visible import first_invisible
from tests.each_row import each_row

NESTED = (
    "---\nname: feedback_x\ndescription: D\nmetadata:\n  type: feedback\n---\n\n"
    "Fact.\n\n**Why:** w\n\n**How to apply:** h\n"
)
FLAT = "---\nname: x\ndescription: D\ntype: feedback\n---\nFact.\n"
TEXTS = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Co", "Cn"]), min_size=1).filter(
    lambda text: text.strip() != "" and first_invisible(text) is None
)


def head_of(text: str) -> note.Head:
    found = note.read_head(text)
    assert found is not None
    return found


def part(read: note.Note, line: int | None) -> str:
    assert line is not None
    return read.body[line]


@pytest.mark.requirement("S2-11", "S2-12")
@pytest.mark.parametrize("text", [NESTED, FLAT])
def test_a_type_is_read_nested_and_flat(text):
    read = note.parse(text, "feedback_x.md")
    assert (read.head.type, read.head.description) == ("feedback", "D")
    assert head_of(text).type == "feedback"


@pytest.mark.requirement("S2-14")
def test_the_fact_is_what_stands_before_the_why():
    read = note.parse(NESTED, "feedback_x.md")
    assert read.fact == "Fact."
    assert (part(read, read.why), part(read, read.how)) == ("**Why:** w", "**How to apply:** h")


@each_row(
    "header",
    [
        "name: 2026-03-09",
        "created: 2026-03-09T08:00:00+02:00",
        "time: 12:30",
        "version: 1.10",
        "flag: yes",
        "title: a: b: c",
        "broken: [unclosed",
    ],
)
def test_values_are_text_and_odd_ones_do_not_keep_the_rest_from_being_read(header):
    text = f"---\nname: n\ndescription: D # not part of it\n{header}\ntype: user\n---\nbody\n"
    assert head_of(text).description == "D"
    assert note.parse(text, "user_n.md").head.type == "user"
    if header.startswith("name"):
        assert head_of(text).name == "2026-03-09"


def test_the_quick_reading_of_a_head_is_the_full_reading(corpus):
    for path in corpus:
        if path.suffix != ".md":
            continue
        text = path.read_text("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        quick, full = note.read_head(text), note.parse(text, path.name).head
        if quick is None:
            continue
        assert (quick.name, quick.description) == (full.name, full.description), path
        assert note.title_of(path.name, quick) == note.title_of(path.name, full), path


@given(description=TEXTS, why=TEXTS, how=TEXTS)
@pytest.mark.requirement("S2-13", "S2-15")
def test_strict_yaml_reads_the_same_strings_back_from_a_new_note(description, why, how):
    text = note.render("project", "project_a-b.md", description, why=why, how=how)
    header = yaml.safe_load(text.split("---\n")[1])
    assert header == {
        "name": "project_a-b",
        "description": " ".join(description.split()),
        "metadata": {"type": "project"},
    }
    read = note.parse(text, "project_a-b.md")
    assert read.head.description == " ".join(description.split())
    assert read.why is not None
    assert read.how is not None
    assert read.why < read.how
    assert read.after is None


@each_row("name", ["no", "null", "123", "~", "yes", "1.5", "2026-01-01", "- x", "? y", "a: b", "#c", "'q"])
def test_words_that_yaml_would_take_for_something_else_stay_strings(name):
    assert yaml.safe_load(f"key: {note.quoted(name)}") == {"key": name}


@each_row("note_type, slug", [("lesson", "x"), ("user", ""), ("user", "../x"), ("user", "a/b"), ("user", "-")])
def test_a_type_or_name_that_cannot_be_a_file_is_refused(note_type, slug):
    with pytest.raises(InvalidArgument):
        note.file_name(note_type, slug)


@pytest.mark.requirement("S2-17")
def test_the_type_is_the_prefix_of_the_file_name_once():
    assert note.file_name("user", "likes tea") == "user_likes-tea.md"
    assert note.file_name("user", "user_likes-tea.md") == "user_likes-tea.md"


@pytest.mark.requirement("S2-16")
@pytest.mark.parametrize("missing", ["description", "why", "how"])
def test_a_new_note_must_have_its_three_parts(missing):
    parts = {"description": "D", "why": "w", "how": "h", missing: "  "}
    with pytest.raises(RefusedText):
        note.render("user", "user_x.md", parts["description"], why=parts["why"], how=parts["how"])


def test_a_fact_cannot_forge_the_parts_of_its_note():
    text = note.render("user", "user_x.md", "D", why="w", how="h", body="# Title\n**Why:** forged\n---\nmore")
    read = note.parse(text, "user_x.md")
    assert part(read, read.why) == "**Why:** w"
    assert read.after is None


@pytest.mark.requirement("S2-27")
def test_merging_keeps_the_header_and_every_part_of_both():
    other = note.parse(note.render("user", "user_y.md", "Other fact", why="because", how="so"), "user_y.md")
    text = note.merged(NESTED, [other])
    assert text.startswith(NESTED.split("Fact.", maxsplit=1)[0])
    read = note.parse(text, "feedback_x.md")
    assert "Other fact" in read.fact
    assert text.index("**Why:**") < text.index("because") < text.index("**How to apply:**") < text.index("so\n")


@each_row(
    "file, head, title",
    [
        ("feedback_market-first.md", note.Head(name="feedback_market-first"), "Market first"),
        ("x.md", note.Head(name="already a Title"), "Already a Title"),
        ("x.md", note.Head(heading="The heading"), "The heading"),
        ("project_plan-b.md", note.Head(), "Plan b"),
    ],
)
def test_a_title_is_the_name_in_words_else_the_heading_else_the_file(file, head, title):
    assert note.title_of(file, head) == title


@pytest.mark.parametrize(
    "written",
    ["A long one that\n  goes on here.", ">\n  A long one that\n  goes on here.", '"A long one that\n  goes on here."'],
)
def test_a_description_that_goes_on_in_the_next_line_is_read_whole(written):
    text = f"---\nname: user_a\ndescription: {written}\nmetadata:\n  type: user\n---\n\nFact.\n"
    for head in (note.read_head(text), note.parse(text, "user_a.md").head):
        assert head is not None
        assert (head.description, head.type) == ("A long one that goes on here.", "user")


@pytest.mark.parametrize("into", ["Fact A.", "Fact A.\n\n**How to apply:** h\n\n**Why:** w"])
def test_merged_into_a_note_without_the_usual_order_each_part_keeps_its_label(into):
    others = [note.parse(f"Fact {x}.\n\n**Why:** why {x}\n\n**How to apply:** how {x}\n", f"user_{x}.md") for x in "BC"]
    merged = note.merged(f"---\nname: a\n---\n\n{into}\n", others)
    assert merged.endswith("Fact B.\n\nFact C.\n\n**Why:** why B\n\nwhy C\n\n**How to apply:** how B\n\nhow C\n")
