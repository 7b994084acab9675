"""The index: one line a note, built to the byte, and never a line of a person's changed."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.notes import index, note
from agent_memory_protocol.notes import store as note_store
from agent_memory_protocol.notes.note import Head
from agent_memory_protocol.text.visible import first_invisible
from tests.each_row import each_row

HEADS = {"user_a.md": Head("user_a", "first"), "user_b.md": Head("user_b", "second")}


def build(text, heads, **limits):
    limits = {"max_lines": 200, "max_bytes": 25_600, **limits}
    return index.build(text, index.by_key(heads), heads, **limits)


def links(*texts):
    """Return the notes that these files list, in their order."""
    return [line.file for text in texts for line in index.read(text).lines if not index.is_beside(line.file)]


@pytest.mark.requirement("S2-23")
def test_a_note_that_is_named_nowhere_gets_one_line_in_the_block():
    built = build("# Memory\n", HEADS)
    assert built.text == (
        "# Memory\n\n## Notes\n\n<!-- amp:index -->\n\n"
        "- [A](user_a.md) - first\n- [B](user_b.md) - second\n\n<!-- /amp:index -->\n"
    )


@each_row(
    "mention",
    [
        "- [Mine](user_a.md) — my own hook",
        "See `user_a.md`.",
        "| `user_a.md` | x |\n|---|---|",
        "[[user_a]]",
        "* **[M](./user_a.md)**",
    ],
)
def test_a_note_that_a_person_names_gets_no_second_line(mention):
    text = f"# Memory\n\n{mention}\n"
    built = build(text, {"user_a.md": HEADS["user_a.md"]})
    assert built.text == text


def test_a_sample_in_a_fence_or_comment_does_not_list_a_note():
    built = build("# Memory\n\n```\n- [A](user_a.md)\n```\n<!-- user_a.md -->\n", {"user_a.md": HEADS["user_a.md"]})
    assert "- [A](user_a.md) - first" in built.text


def test_lines_keep_their_order_and_new_ones_follow_by_name():
    first = build("# M\n", {"user_b.md": HEADS["user_b.md"]}).text
    both = build(first, HEADS).text
    assert both.index("user_b.md") < both.index("user_a.md")


def test_a_changed_description_changes_only_its_own_line():
    before = build("# M\n", HEADS).text
    after = build(before, {**HEADS, "user_b.md": Head("user_b", "other")}).text
    assert after == before.replace("second", "other")


def test_the_block_goes_with_its_last_line_and_leaves_what_was_there():
    assert build(build("# M\n\n- entry\n", HEADS).text, {}).text == "# M\n\n- entry\n"


def test_the_separator_is_the_one_that_most_lines_have():
    built = build(
        "# M\n\n- [X](x.md) — one\n- [Y](y.md) — two\n- [Z](z.md): three\n", {"user_a.md": HEADS["user_a.md"]}
    )
    assert "- [A](user_a.md) — first" in built.text


@each_row("count", [1, 5, 12, 60, 300])
@each_row("entries", [0, 3, 8, 9, 10])
def test_every_note_has_its_line_in_the_tier_file_or_beside_it_whatever_the_room(count, entries):
    heads = {f"user_{number:03}.md": Head(f"user_{number:03}", "d") for number in range(count)}
    limits = {"max_lines": 20, "max_bytes": 1_000}
    text = "# M\n\n" + "- entry\n" * entries * 2
    built = build(text, heads, **limits)
    assert sorted(links(built.text, *built.beside)) == [*heads]
    for one in (built.text, *built.beside):
        assert len(one.splitlines()) <= max(20, len(text.splitlines()))
        assert len(one.encode()) <= 1_000
    assert built.surplus == len(links(*built.beside))
    assert build(built.text, heads, beside=built.beside, **limits) == built
    for this, following in zip((built.text, *built.beside), built.beside, strict=False):
        last = index.beside_name(1 + [built.text, *built.beside].index(this))
        assert this == text or index.read(this).lines[-1].file == last, following


def test_lines_beside_the_tier_file_come_back_into_it_where_there_is_room():
    heads = {f"user_{number}.md": Head(f"user_{number}", "d") for number in range(9)}
    built = build("# M\n", heads, max_lines=14)
    assert built.surplus == 4
    assert "- [4 more notes](INDEX.md) - 5, 6, 7, 8" in built.text
    assert build(built.text, heads, beside=built.beside) == index.Built(build("# M\n", heads).text)


def test_what_a_person_has_beside_the_tier_file_is_never_changed_and_lists_its_notes():
    mine = "# Mine\n\n- [A](user_a.md) - my own hook\n"
    built = build("# M\n", HEADS, beside=[mine])
    assert built.beside == (mine,)
    assert links(built.text) == ["user_b.md"]
    assert "- [1 more note](INDEX.md) - A" in built.text
    full = build(
        "# M\n", {**HEADS, **dict.fromkeys(["user_c.md", "user_d.md"], Head("x", "d"))}, max_lines=10, beside=[mine]
    )
    assert full.beside[0].startswith(mine)
    assert sorted(links(full.text, *full.beside)) == ["user_a.md", "user_b.md", "user_c.md", "user_d.md"]


def test_lines_that_a_person_wrote_are_added_beside_with_what_they_stood_under_each_once():
    lines = [("", "- [A](a.md) - one"), ("## Old", "- [B](b.md) - two"), ("## Old", "- [C](c.md) - three")]
    made = index.add_lines([], lines, 200, 25_600)
    assert made == ["# More notes\n\n- [A](a.md) - one\n\n## Old\n\n- [B](b.md) - two\n- [C](c.md) - three\n"]
    assert index.add_lines(made, lines, 200, 25_600) == made
    many = [("## Old", f"- [N {number}](n{number}.md)") for number in range(50)]
    split = index.add_lines(made, many, 30, 25_600)
    assert [line for text in split for line in text.split("\n") if line[:3] == "- ["] == [
        line for _, line in [*lines, *many]
    ]
    assert all(text.count("## Old") == 1 and len(text.splitlines()) <= 30 for text in split)


@pytest.mark.parametrize("name", ["INDEX.md", "INDEX-2.md", "INDEX-12.md"])
def test_a_file_for_surplus_lines_is_no_note(name):
    assert index.is_beside(name)
    assert not note_store.is_note(name, "MEMORY.md")


@each_row("name", ["INDEXES.md", "INDEX-a.md", "INDEX-.md", "INDEX_2.md", "user_INDEX.md", "index.md"])
def test_a_file_that_is_only_called_alike_is_a_note(name):
    assert not index.is_beside(name)
    assert note_store.is_note(name, "MEMORY.md")


def test_a_link_in_one_unicode_form_finds_a_file_in_the_other():
    text = "# M\n\n- [Café](caf\u00e9.md) - x\n"
    assert build(text, {"cafe\u0301.md": Head("café", "d")}).text == text


@each_row(
    "hidden", ["\x07", "\x1b[31m", "\x85", "\u200b", "\u202e", "\u2028", "\u2063", "\ufeff", "\u3164", "\U000e0041"]
)
@each_row("quoting", [str, json.dumps], ids=["as-it-is", "as-an-escape"])
def test_what_a_reader_cannot_see_in_a_header_does_not_get_into_the_tier_file(hidden, quoting):
    heads = {
        "user_a.md": note.read_head(
            f"---\nname: {quoting(f'a {hidden}b')}\ndescription: {quoting(f'c {hidden}d')}\n---\n"
        ),
        "user_b.md": HEADS["user_b.md"],
    }
    built = build("# M\n", heads)
    assert first_invisible(built.text) is None
    assert [line.file for line in index.read(built.text).lines] == list(heads)
    assert build(built.text, heads).text == built.text


@each_row("hidden", ["\x07", "\u200b", "\u202e", "\u2028", "\U000e0041"])
def test_a_file_name_that_a_reader_cannot_see_is_linked_in_escapes(hidden):
    built = build("# M\n", {f"a{hidden}b.md": Head("", "")})
    assert first_invisible(built.text) is None
    assert [line.file for line in index.read(built.text).lines] == [f"a{hidden}b.md"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_lines_of_the_block_end_as_those_of_the_file_do(newline):
    built = build(f"# M{newline}{newline}- a{newline}", HEADS)
    assert built.text.count(newline) == len(built.text.splitlines())


BLOCK = "<!-- amp:index -->\n{}\n<!-- /amp:index -->"


@each_row(
    "sample",
    [
        "- Sample:\n  ```\n  <!-- amp:index -->\n  keep me\n  <!-- /amp:index -->\n  ```",
        f"```\n{BLOCK.format('keep me')}\n```",
        f"> {BLOCK.format('> keep me').replace('<!-- /', '> <!-- /')}",
        "    <!-- amp:index -->\n    keep me\n    <!-- /amp:index -->",
        "The index begins at <!-- amp:index -->\nkeep me\nand ends at <!-- /amp:index -->",
        f"<pre>\n{BLOCK.format('keep me')}\n</pre>",
        "<!--\n<!-- amp:index -->\nkeep me",
    ],
)
def test_a_sample_of_the_markers_is_not_taken_for_the_index(sample):
    text = f"# M\n\n{sample}\n"
    built = build(text, HEADS)
    assert built.text.startswith(text)
    assert [line.file for line in index.read(built.text).lines] == list(HEADS)
    assert build(built.text, {}).text == text


@each_row(
    "text, line",
    [
        ("# M\n\n<!-- amp:index -->\n\nkeep me\n", 3),
        ("# M\n\nkeep me\n\n<!-- /amp:index -->\n", 5),
        ("<!-- /amp:index -->\n\nkeep me\n\n<!-- amp:index -->\n", 1),
        (f"<!-- amp:index -->\n\nkeep me\n\n{BLOCK.format('- [A](user_a.md)')}\n", 5),
        (f"{BLOCK.format('- [A](user_a.md)')}\n\n{BLOCK.format('keep me')}\n", 6),
    ],
    ids=["never-closed", "never-opened", "the-wrong-way-round", "opened-twice", "two-and-one-is-no-index"],
)
def test_markers_that_are_not_one_pair_are_named_and_nothing_is_changed(text, line):
    found = index.read(text)
    assert found.problem
    assert found.problem_line == line
    assert build(text, HEADS).text == text


@each_row("typed", ["keep me", "- a fact", "```\n- [A](user_a.md)\n```", "- [B](user_b.md) - x\n  goes on"])
def test_what_somebody_has_typed_between_the_markers_stays_under_the_heading(typed):
    text = build("# M\n\n- entry\n", HEADS).text.replace("\n<!-- /amp", f"\n{typed}\n\n<!-- /amp")
    built = build(text, HEADS).text
    assert built.endswith(f"<!-- /amp:index -->\n\n{typed}\n")
    assert build(built, HEADS).text == built
    assert "\n\n\n" not in built
    assert build(built, {}).text == f"# M\n\n- entry\n\n## Notes\n\n{typed}\n"


WORDS = st.sampled_from(
    [
        "# M",
        "",
        "- entry",
        "- [A](user_a.md) - x",
        "## Notes",
        "<!-- amp:index -->",
        "<!-- /amp:index -->",
        "text",
        "```",
    ]
)


@given(lines=st.lists(WORDS, max_size=12), names=st.sets(st.sampled_from(["user_a.md", "user_b.md", "user_c.md"])))
def test_building_twice_is_building_once(lines, names):
    heads = {name: Head(name[:-3], "d") for name in names}
    once = build("\n".join(lines), heads).text
    assert build(once, heads).text == once


def folders(corpus: list[Path]) -> list[Path]:
    return [path.parent for path in corpus if path.name == "MEMORY.md"]


def test_the_index_of_each_real_folder_is_built_to_the_byte_twice_and_changes_no_line_of_a_person(corpus):
    for folder in folders(corpus):
        text = (folder / "MEMORY.md").read_text("utf-8", errors="replace")
        heads = {
            path.name: note.read_head(path.read_text("utf-8", errors="replace")) or Head()
            for path in folder.glob("*.md")
            if path.name != "MEMORY.md"
        }
        once = build(text, heads, max_lines=1_000, max_bytes=200_000).text
        assert build(once, heads, max_lines=1_000, max_bytes=200_000).text == once, folder
        kept = [line for line in text.splitlines() if line.strip()]
        assert [line for line in once.splitlines() if line.strip()][: len(kept)] == kept, folder


REAL_ORPHANS = {
    "InfernalRabbit__compose-envkit/.claude/agent-memory/code-reviewer": {"provenance-compose-go-api-verified.md"},
    "jamieadams-nerd__umrs-project/.claude/agent-memory/security-engineer": {
        "project_denylist_reference.md",
        "project_unsafe_boundary.md",
        "reference_xdg_basedir.md",
    },
    "BodeSoftware__UE_Olive_AI_Studio/.claude/agent-memory/architect": {
        "autonomous-mode-decisions.md",
        "chat-modes-design.md",
        "completed-designs.md",
        "non-interactive-pins.md",
    },
    "Ign1s-Reiga__mc-server-orchestrator/.claude/agent-memory/schema-designer": set(),
    "afa7789__xmpp-start/.claude/agent-memory/architect": set(),
    "nvrenshiren__autohttps/.claude/agent-memory/developer": set(),
    "vidarc__recommendarr/.claude/memory": set(),
}


def test_the_real_orphans_of_complete_folders_are_found_and_no_false_ones(corpus):
    seen = 0
    for folder in folders(corpus):
        wanted = next((names for place, names in REAL_ORPHANS.items() if folder.as_posix().endswith(place)), None)
        if wanted is None:
            continue
        seen += 1
        found = index.read((folder / "MEMORY.md").read_text("utf-8"))
        names = {path.name for path in folder.glob("*.md")} - {"MEMORY.md"}
        assert names - found.files == wanted, folder
        assert {line.file for line in found.lines} <= names, folder
    assert seen
