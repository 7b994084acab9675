"""Notes through the workspace: written, listed, indexed, merged and removed, and nothing lost."""

import itertools
import os
from functools import partial

import pytest

from agent_memory_protocol import Actor
from agent_memory_protocol.errors import AccessDenied, DamagedFile, InvalidArgument, SecretFound
from agent_memory_protocol.layout import Target, Tier
from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared"
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"


def new(workspace, slug, note_type="feedback", **kwargs):
    parts = {"description": f"About {slug}", "why": "because", "how": "so", **kwargs}
    return workspace.new_note(note_type, slug, **parts)


@pytest.mark.requirement("S2-23", "S2-24")
def test_a_new_note_has_its_line_in_the_index_at_once(workspace):
    path = new(workspace, "market-first")
    assert path.read_text().startswith("---\nname: feedback_market-first\n")
    index = path.with_name("KNOWLEDGE.md").read_text()
    assert index.count("- [Market first](feedback_market-first.md) - About market-first\n") == 1
    assert [(row.file, row.is_listed) for row in workspace.notes()] == [("feedback_market-first.md", True)]


def test_a_note_that_exists_is_not_written_over(workspace):
    path = new(workspace, "x")
    before = path.read_bytes()
    with pytest.raises(InvalidArgument):
        new(workspace, "x", why="another")
    assert path.read_bytes() == before


@pytest.mark.requirement("S2-25")
@pytest.mark.parametrize("name", ["feedback_x.md", "feedback_x", "x"])
def test_a_note_is_shown_by_file_stem_or_slug(workspace, name):
    path = new(workspace, "x")
    assert workspace.show_note(name) == ("feedback_x.md", path.read_text())


@pytest.mark.requirement("S2-27")
def test_a_removed_note_leaves_the_index_and_comes_back_from_the_ledger_byte_for_byte(workspace):
    path = new(workspace, "x")
    before = path.read_bytes()
    workspace.remove_note("x", reason="wrong")
    assert not path.exists()
    assert "feedback_x.md" not in path.with_name("KNOWLEDGE.md").read_text()
    back = workspace.restore(workspace.restorable(last=True))
    assert back.notes == (str(path),)
    assert path.read_bytes() == before
    assert "feedback_x.md" in path.with_name("KNOWLEDGE.md").read_text()


@pytest.mark.requirement("S2-27")
def test_merged_notes_are_one_note_that_says_both_and_the_others_can_come_back(workspace):
    new(workspace, "keep", why="first reason")
    gone = new(workspace, "gone", why="second reason")
    workspace.merge_notes(["gone"], "keep")
    text = workspace.show_note("keep")[1]
    assert "first reason" in text
    assert "second reason" in text
    assert not gone.exists()
    assert [one.archived.note for one in workspace.restorable()] == ["feedback_gone.md"]


@pytest.mark.requirement("S2-23")
def test_check_names_the_orphan_and_the_dangling_line_and_indexing_deletes_no_note(workspace, tmp_path):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    (folder / "KNOWLEDGE.md").write_text(
        "# Shared Knowledge\n\n- [A](feedback_a.md) - a\n- [Gone](feedback_gone.md) - only copy\n"
    )
    (folder / "feedback_a.md").write_text("---\nname: a\ndescription: a\ntype: feedback\n---\n")
    (folder / "project_new.md").write_text("---\nname: new\ndescription: from its header\ntype: project\n---\n")
    (state,) = workspace.index(check=True)
    assert not state.is_clean
    assert state.added == ("project_new.md",)
    assert state.dangling == ((4, "feedback_gone.md"),)
    workspace.index()
    text = (folder / "KNOWLEDGE.md").read_text()
    assert "- [New](project_new.md) - from its header\n" in text
    assert "- [Gone](feedback_gone.md) - only copy\n" in text
    assert sorted(path.name for path in folder.glob("*_*.md")) == ["feedback_a.md", "project_new.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_odd_files_are_named_once_and_keep_no_note_from_being_indexed(workspace, tmp_path):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    for number in range(5):
        (folder / f"user_{number}.md").write_text(f"---\nname: user_{number}\ndescription: d{number}\n---\n")
    (folder / "dangling.md").symlink_to("nowhere.md")
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "x.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    (state,) = workspace.index()
    assert (state.notes, len(state.added)) == (5, 5)
    for name in ("dangling.md", "loop.md", "pipe.md"):
        assert state.problem.count(f"/{name}: ") == 1
    found = [(one.rule, one.path.rpartition("/")[2]) for one in workspace.check(select=["unreadable", "index"])]
    assert found == [("unreadable", name) for name in ("dangling.md", "loop.md", "pipe.md", "x.md")]


def test_a_folder_with_notes_and_no_tier_file_gets_one(workspace, tmp_path):
    folder = tmp_path / ".scaffolding/agent-memory/agents/dev"
    folder.mkdir(parents=True)
    (folder / "user_a.md").write_text("---\nname: user_a\ndescription: d\n---\n")
    workspace.index()
    assert (folder / "MEMORY.md").read_text().startswith("# Dev Memory\n")


def test_a_note_saved_with_a_byte_order_mark_and_crlf_is_indexed_by_its_description(workspace, tmp_path):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    (folder / "user_a.md").write_bytes(
        b"\xef\xbb\xbf---\r\nname: user_a\r\ndescription: from windows\r\n---\r\nbody\r\n"
    )
    workspace.index()
    assert "- [A](user_a.md) - from windows\n" in (folder / "KNOWLEDGE.md").read_text()


@pytest.mark.parametrize("opened", ["```sh\nmake\n", "~~~\nx\n", "<script>\n"])
def test_no_index_is_written_into_what_never_ends(workspace, tmp_path, opened):
    text = f"# Shared Knowledge\n\n- A fact.\n\n{opened}"
    file = tmp_path / SHARED / "KNOWLEDGE.md"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    (tmp_path / SHARED / "user_a.md").write_text("---\nname: user_a\ndescription: a hook\n---\nx\n")
    (state,) = workspace.index()
    assert "close it, then run `amp index`" in state.problem
    assert file.read_text() == text
    file.write_text(text.replace(opened, ""))
    (state,) = workspace.index()
    assert (state.problem, state.added) == ("", ("user_a.md",))


def test_indexing_twice_changes_nothing(workspace, tmp_path):
    new(workspace, "x")
    file = tmp_path / SHARED / "KNOWLEDGE.md"
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert not any(state.changed for state in workspace.index())
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


@pytest.mark.requirement("S4-12", "S4-54")
def test_another_agent_and_a_read_only_agent_write_no_note(workspace):
    target = Target(Tier.AGENT, "developer")
    for agent in ("tester", "reviewer"):
        with pytest.raises(AccessDenied):
            new(workspace, "x", target=target, actor=Actor(agent))
    assert workspace.notes() == []


def test_index_lines_are_no_entries_and_stay_when_entries_are_remembered_and_pruned(workspace, tmp_path):
    new(workspace, "x")
    workspace.remember("Redis needs AOF on.")
    text = (tmp_path / SHARED / "KNOWLEDGE.md").read_text()
    assert text.index("Redis") < text.index("## Notes")
    assert [entry.text for entry in workspace.entries()] == ["- Redis needs AOF on."]


# -- notes that hold a secret ------------------------------------------------------------------------------------------


def holding(tmp_path, text):
    """Return the files, by name, that hold a text. A journal is local, and forgets in a day."""
    files = [path for path in tmp_path.rglob("*") if path.is_file() and "journal" not in path.parts]
    return {path.name for path in files if text.encode() in path.read_bytes()}


@pytest.fixture
def leaky(workspace, tmp_path):
    """A note that a person has written a token into."""
    path = new(workspace, "leaky")
    path.write_text(path.read_text().replace("because", f"because of {TOKEN}"))
    return path


@pytest.mark.requirement("S2-29")
def test_a_note_with_a_secret_is_removed_only_without_a_copy(workspace, tmp_path, leaky):
    with pytest.raises(SecretFound, match="amp note remove feedback_leaky --redact") as refused:
        workspace.remove_note("leaky")
    assert TOKEN not in str(refused.value)
    assert holding(tmp_path, TOKEN) == {"feedback_leaky.md"}
    workspace.remove_note("leaky", redact=True)
    assert not leaky.exists()
    assert "feedback_leaky.md" not in leaky.with_name("KNOWLEDGE.md").read_text()
    assert holding(tmp_path, TOKEN) == set()
    assert workspace.restorable() == []


@pytest.mark.requirement("S2-29")
def test_a_note_is_redacted_from_the_ledger_that_kept_it_before(workspace, tmp_path, leaky):
    text = leaky.read_text().replace(TOKEN, "the first reason")
    leaky.write_text(text)
    workspace.remove_note("leaky")
    assert "the first reason" in leaky.with_name("ledger.jsonl").read_text()
    leaky.write_text(text)
    workspace.remove_note("leaky", redact=True)
    assert holding(tmp_path, "the first reason") == set()
    assert workspace.check(select=["ledger"]) == []


@pytest.mark.slow
@each_row("name", ["leaky", "feedback_leaky", "feedback_leaky.md"], fresh=True)
def test_a_redaction_of_a_note_that_was_stopped_anywhere_is_finished_by_the_same_command(
    workspace, tmp_path, leaky, name, monkeypatch
):
    workspace.search("leaky")
    text = leaky.read_text()
    stopped = 0
    while True:
        leaky.write_text(text)
        workspace.index()
        stopped += 1
        with pytest.MonkeyPatch.context() as patch:
            calls = itertools.count(1)
            for call in ("fsync", "rename", "replace", "unlink", "rmdir"):
                patch.setattr(os, call, partial(_stop_at, stopped, calls, getattr(os, call)))
            try:
                workspace.remove_note(name, redact=True)
                break
            except KeyboardInterrupt:
                pass
        told = [one.message for one in workspace.check(select=["store-local"])]
        assert not told or "`amp note remove feedback_leaky --redact` finishes it" in told[0]
        if told or leaky.exists():
            workspace.remove_note(name, redact=True)
        assert (stopped, holding(tmp_path, TOKEN), leaky.exists()) == (stopped, set(), False)
        assert workspace.check(select=["store-local"]) == []
    assert stopped > 5


def _stop_at(last, calls, real, *args, **kwargs):
    if next(calls) == last:
        raise KeyboardInterrupt
    return real(*args, **kwargs)


@pytest.mark.requirement("S2-29")
def test_a_note_with_a_secret_is_not_merged_away(workspace, tmp_path, leaky):
    keeper = new(workspace, "keep")
    before = keeper.read_bytes()
    with pytest.raises(SecretFound, match=r"feedback_leaky\.md holds"):
        workspace.merge_notes(["leaky"], "keep")
    assert keeper.read_bytes() == before
    assert holding(tmp_path, TOKEN) == {"feedback_leaky.md"}


@pytest.mark.requirement("S2-29")
def test_a_removed_note_whose_secret_was_found_late_is_taken_out_of_the_ledger_by_its_id(workspace, tmp_path, leaky):
    leaky.write_text(leaky.read_text().replace(TOKEN, "a pointer"))
    workspace.remove_note("leaky")
    ledger = leaky.with_name("ledger.jsonl")
    ledger.write_text(ledger.read_text().replace("a pointer", TOKEN))
    (found,) = workspace.check(select=["secret"])
    entry_id = found.message.partition("amp forget ")[2].partition(" ")[0]
    workspace.redact([entry_id])
    assert holding(tmp_path, TOKEN) == set()


@pytest.mark.requirement("S2-29", "S2-05")
@pytest.mark.parametrize("key", ["name", "description"])
def test_an_index_line_copies_no_secret_and_the_note_is_indexed_all_the_same(workspace, tmp_path, key):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    said = {"name": "ci", "description": "how CI deploys", key: f"CI uses {TOKEN}"}
    (folder / "reference_ci.md").write_text(f"---\nname: {said['name']}\ndescription: {said['description']}\n---\n")
    (folder / "reference_a.md").write_text("---\nname: reference_a\ndescription: no secret\n---\n")
    (state,) = workspace.index()
    assert "reference_ci.md: its description holds a GitHub" in state.problem
    assert TOKEN not in state.problem
    text = (folder / "KNOWLEDGE.md").read_text()
    assert "- [Ci](reference_ci.md)\n" in text
    assert "- [A](reference_a.md) - no secret\n" in text
    assert holding(tmp_path, TOKEN) == {"reference_ci.md"}
    assert not any(state.changed for state in workspace.index())


# -- notes as other programs leave them --------------------------------------------------------------------------------


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_a_merge_keeps_the_line_endings_and_the_byte_order_mark(workspace, bom):
    keeper = new(workspace, "keep", why="first reason")
    new(workspace, "gone", why="second reason")
    keeper.write_bytes(bom + keeper.read_bytes().replace(b"\n", b"\r\n"))
    workspace.merge_notes(["gone"], "keep")
    data = keeper.read_bytes()
    assert data.startswith(bom + b"---\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert b"second reason\r\n" in data


def test_a_note_named_twice_is_merged_once(workspace):
    new(workspace, "keep")
    new(workspace, "gone", why="second reason")
    workspace.merge_notes(["gone", "feedback_gone"], "keep")
    assert workspace.show_note("keep")[1].count("second reason") == 1


def test_a_note_that_is_no_text_is_not_merged_and_nothing_is_lost(workspace):
    keeper, gone = new(workspace, "keep"), new(workspace, "gone")
    for path in (keeper, gone):
        whole = path.read_bytes()
        path.write_bytes(whole + b"\xff")
        with pytest.raises(DamagedFile, match=f"{path.name}:13: "):
            workspace.merge_notes(["gone"], "keep")
        assert gone.exists()
        path.write_bytes(whole)


@pytest.mark.parametrize("asked", ["caf\u00e9", "cafe\u0301"])
@pytest.mark.parametrize("stored", ["caf\u00e9", "cafe\u0301"])
def test_a_note_is_found_whatever_unicode_form_its_name_has(workspace, tmp_path, asked, stored):
    """B46."""
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    (folder / f"reference_{stored}.md").write_text("---\nname: x\ndescription: d\n---\nThe menu.\n")
    (folder / "KNOWLEDGE.md").write_text(f"# Shared Knowledge\n\n- [Caf\u00e9](reference_{asked}.md) - menu\n")
    assert "The menu." in workspace.show_note(asked)[1]
    (state,) = workspace.index(check=True)
    assert (state.is_clean, state.listed) == (True, 1)
    assert workspace.check(select=["index"]) == []


def test_a_new_note_stands_although_its_index_cannot_be_written(workspace, tmp_path):
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    conflict = "# Shared Knowledge\n\n<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n"
    (folder / "KNOWLEDGE.md").write_text(conflict)
    path = new(workspace, "x")
    assert path.exists()
    assert (folder / "KNOWLEDGE.md").read_text() == conflict
    assert any("the index was not brought up to date" in notice for notice in workspace.notices)


@pytest.mark.slow
@pytest.mark.parametrize(
    "header",
    [
        "---\nname: [unclosed\ndescription: still read\ntype: user\n---\n",
        '---\nname: user_a\ndescription: still read: with "quotes", #12 and 10:00\n# a comment\nowner: me\n---\n',
        "---\nno key and no value\nname: user_a\ndescription: still read\n---\n",
        "---\nname: user_a\ndescription: still read\nnever closed\n",
        "\ufeff---\r\nname: user_a\r\ndescription: still read\r\n---\r\n",
    ],
)
def test_no_writer_touches_a_note_that_is_not_its_own_whatever_its_header(workspace, tmp_path, header):
    """B36, B54, B55."""
    folder = tmp_path / SHARED
    folder.mkdir(parents=True)
    note = folder / "user_a.md"
    note.write_bytes(f"{header}The body.\n".encode())
    before = note.read_bytes()
    for round_ in range(3):
        new(workspace, f"other-{round_}")
        workspace.index()
        workspace.fix(workspace.check())
        workspace.remember(f"A fact of round {round_}.")
    workspace.merge_notes(["other-0"], "other-1")
    workspace.remove_note("other-2")
    assert note.read_bytes() == before
    text = (folder / "KNOWLEDGE.md").read_text()
    assert text.count("(user_a.md)") == 1
    assert ("still read" in text) is ("never closed" not in header)
    assert "The body." in workspace.show_note("a")[1]


def test_indexes_that_git_merged_by_union_become_one_with_each_line_once(workspace, tmp_path):
    """B78: parallel appends of different index lines."""
    folder = tmp_path / SHARED
    sides = []
    for slug in ("ours", "theirs"):
        path = new(workspace, slug)
        sides.append((folder / "KNOWLEDGE.md").read_text())
        path.rename(tmp_path / path.name)
        (folder / "KNOWLEDGE.md").unlink()
    for slug in ("ours", "theirs"):
        (tmp_path / f"feedback_{slug}.md").rename(folder / f"feedback_{slug}.md")
    blocks = sides[1][sides[1].index("## Notes") :] + "- [Ours](feedback_ours.md) - in my own words\n"
    (folder / "KNOWLEDGE.md").write_text(f"{sides[0]}- a fact between\n\n{blocks}")
    workspace.index()
    text = (folder / "KNOWLEDGE.md").read_text()
    assert text.count("<!-- amp:index -->") == text.count("## Notes") == 1
    assert [text.count(f"(feedback_{slug}.md)") for slug in ("ours", "theirs")] == [1, 1]
    assert "\n\n- a fact between\n" in text
    assert "- [Ours](feedback_ours.md) - in my own words\n" in text
    assert workspace.check(select=["index"]) == []
    assert not any(state.changed for state in workspace.index())


def test_a_workspace_indexes_what_is_on_disk_now_however_a_note_was_changed(workspace):
    folder = workspace.path / SHARED
    folder.mkdir(parents=True)

    def write(name, said, when=1_000_000_000):
        (folder / name).write_text(f"---\nname: n\ndescription: {said}\n---\nx\n")
        os.utime(folder / name, (when, when))

    def lines():
        workspace.index()
        return [one for one in (folder / "KNOWLEDGE.md").read_text().splitlines() if one.startswith("- [")]

    write("a.md", "old")
    write("b.md", "b")
    assert [line.rpartition(" ")[2] for line in lines()] == ["old", "b"]
    write("a.md", "new")  # as large and as old as before
    assert [line.rpartition(" ")[2] for line in lines()] == ["new", "b"]
    (folder / "b.md").unlink()
    write("c.md", "c")
    assert [line.rpartition(" ")[2] for line in lines()] == ["new", "c"]
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.mkdir()
    write("a.md", "its")
    assert [line.rpartition(" ")[2] for line in lines()] == ["its"]
