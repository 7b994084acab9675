"""Bringing in memory that other tools keep: nothing lost, nothing twice, nothing in the source changed."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.errors import AgentMemoryError, InvalidArgument
from agent_memory_protocol.layout import NOTE_NAME_LENGTH
from agent_memory_protocol.limits import MAX_BYTES, MAX_LINES, count_lines
from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared"
AGENT = ".scaffolding/agent-memory/agents/dev"
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    return Workspace.open(root, environ={"HOME": str(tmp_path)})


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def adopt(workspace, *paths, actor=None):
    planned = workspace.plan_adoption([str(path) for path in paths], actor=actor)
    return workspace.apply_adoption(planned, actor=actor)


def state(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def words(folder: Path) -> set[str]:
    """Return every line of the Markdown below a folder, as its letters and digits: where it stands does not matter."""
    found = set()
    for path in folder.rglob("*.md"):
        for line in path.read_text("utf-8", errors="replace").splitlines():
            found.add("".join(re.findall(r"\w+", line)))
    return found


# -- every store of the corpus ----------------------------------------------------------------------------------------


def stores(corpus):
    """Return the folders of real files that one tool or another keeps memory in."""
    found = set()
    for path in corpus:
        for folder in path.parents:
            is_serena = folder.name == "memories" and folder.parent.name == ".serena"
            if folder.name in ("memory-bank", ".squad") or folder.name.startswith("agent-memory") or is_serena:
                found.add(folder)
    # A folder of Squad without agents holds nothing to import.
    return sorted(folder for folder in found if folder.name != ".squad" or (folder / "agents").is_dir())


@pytest.mark.slow
@pytest.mark.requirement("S2-34", "S2-35")
def test_real_stores_come_in_whole_within_the_limits_and_only_once(corpus, tmp_path, sized):
    tried = 0
    found = sorted(stores(corpus), key=lambda folder: folder.name)  # so that some of each tool are among them
    for number, folder in enumerate(found[:: sized(5, 5, 1) if len(found) > 20 else 1]):
        root = tmp_path / str(number)
        root.mkdir()
        here = Workspace.open(root, environ={"HOME": str(tmp_path)})
        before = state(folder)
        done = adopt(here, folder)
        left = {one.where.partition(":")[0] for adoption in done for one in adoption.left_out}
        wanted = set()
        for path in folder.rglob("*.md"):
            if str(path) not in left and (path.name == "history.md" or ".squad" not in path.parts):
                wanted |= {"".join(re.findall(r"\w+", line)) for line in visible_lines(path)}
        missing = {line for line in wanted - words(root) if line}
        assert not missing, (folder, sorted(missing)[:3])
        for path in root.rglob("*.md"):
            data = path.read_bytes()
            assert count_lines(data) <= MAX_LINES, path
            assert len(data) <= MAX_BYTES, path
        assert state(folder) == before
        again = here.plan_adoption([str(folder)])
        assert not any(one.does_something for one in again), folder
        tried += 1
    assert tried > 1


def visible_lines(path):
    """Return the lines of a file that come in: front matter and the title of a page become a note's header."""
    lines = path.read_text("utf-8", errors="replace").splitlines()
    if lines and lines[0] == "---" and "---" in lines[1:]:
        lines = lines[lines.index("---", 1) + 1 :]
    return [line for line in lines if not line.startswith("# ") and "\\u" not in line and line.isprintable()]


# -- what becomes of what ---------------------------------------------------------------------------------------------


def test_what_both_have_is_there_once_and_what_is_new_stands_in_its_section(workspace, tmp_path):
    workspace.remember("Use uv.", agent="dev", section="Tools")
    source = write(
        tmp_path / ".claude/agent-memory/dev/MEMORY.md",
        "# Dev\n\n## Tools\n\n- Use ruff.\n- Use uv.\n\n## Tests\n\n- Run them all.\n",
    )
    (adopted,) = adopt(workspace, source.parents[1])
    assert adopted.entries == ("- Use ruff.", "- Run them all.")
    assert adopted.present == 1
    text = (workspace.path / AGENT / "MEMORY.md").read_text()
    assert text.endswith("\n## Tools\n\n- Use ruff.\n- Use uv.\n\n## Tests\n\n- Run them all.\n")
    assert text.startswith("# Dev Memory\n")


def test_notes_keep_their_names_and_the_index_its_words(workspace, tmp_path):
    folder = tmp_path / ".claude/agent-memory/dev"
    write(folder / "MEMORY.md", "# Dev\n\n- [A](feedback_a.md) - these words stand nowhere else\n")
    note = "---\nname: a\ndescription: d\n---\nThe fact.\n"
    write(folder / "feedback_a.md", note)
    (adopted,) = adopt(workspace, folder)
    assert list(adopted.notes) == ["feedback_a.md"]
    assert (workspace.path / AGENT / "feedback_a.md").read_text() == note
    text = (workspace.path / AGENT / "MEMORY.md").read_text()
    assert text.count("(feedback_a.md)") == 1
    assert "these words stand nowhere else" in text


def test_a_page_that_is_too_long_becomes_notes_cut_at_its_headings(workspace, tmp_path):
    sections = "".join(f"## Part {number}\n\n" + "- a line of it\n" * 70 for number in range(6))
    source = write(tmp_path / "memory-bank/progress.md", f"# Progress\n\n{sections}")
    (adopted,) = adopt(workspace, source.parent)
    assert len(adopted.notes) == 3
    for text in adopted.notes.values():
        body = text.partition("\n---\n\n")[2]
        assert body.removeprefix("# Progress\n\n").startswith("## Part ")
    joined = "".join(adopted.notes.values())
    assert [joined.count(f"## Part {number}\n") for number in range(6)] == [1] * 6
    assert (workspace.path / SHARED / "KNOWLEDGE.md").read_text().count("](reference_progress") == 1


@pytest.mark.slow
def test_one_endless_line_becomes_notes_too(workspace, tmp_path):
    source = write(tmp_path / "memory-bank/log.md", "word " * 20_000)
    (adopted,) = adopt(workspace, source.parent)
    bodies = [text.split("\n---\n", 1)[1] for text in adopted.notes.values()]
    assert sum(body.count("word") for body in bodies) == 20_000


def test_a_secret_stays_out_and_the_rest_comes_in(workspace, tmp_path):
    folder = tmp_path / ".claude/agent-memory/dev"
    write(folder / "MEMORY.md", f"# Dev\n\n- One fact.\n- The token is {TOKEN}\n- Another fact.\n")
    write(folder / "user_key.md", f"---\nname: key\ndescription: d\n---\n- Kept.\n- {TOKEN}\n  - Kept, too.\n")
    write(folder / "user_head.md", f"---\nname: key\ndescription: {TOKEN}\n---\n- Kept.\n")
    (adopted,) = adopt(workspace, folder)
    assert adopted.entries == ("- One fact.", "- Another fact.")
    where = [one.where.removeprefix(str(folder)) for one in adopted.left_out]
    assert where == ["/user_head.md:3", "/user_key.md:6", "/MEMORY.md:4"]
    head, body = adopted.notes.values()
    assert "description: (a line with a secret was left out here)" in head
    assert head.endswith("- Kept.\n")
    assert body.endswith("- Kept.\n- (a line with a secret was left out here)\n  - Kept, too.\n")
    assert all("secret" in one.reason or "token" in one.reason.lower() for one in adopted.left_out)
    assert TOKEN.encode() not in b"".join(state(workspace.path).values())


def test_a_note_of_the_same_name_that_says_something_else_is_left_alone(workspace, tmp_path):
    here = write(workspace.path / AGENT / "user_a.md", "---\nname: a\ndescription: ours\n---\nours\n")
    write(tmp_path / ".claude/agent-memory/dev/user_a.md", "---\nname: a\ndescription: theirs\n---\ntheirs\n")
    (adopted,) = adopt(workspace, tmp_path / ".claude/agent-memory")
    assert not adopted.does_something
    assert "another note is called user_a.md here" in adopted.left_out[0].reason
    assert "ours" in here.read_text()


def test_what_a_label_says_of_an_entry_comes_in_with_it(workspace, tmp_path):
    write(workspace.path / f"{AGENT}/MEMORY.md", "# D\n\n- push to main\n- last\n")
    page = "# D\n\n**Never:**\n\n- push to main\n- force\n"
    (done,) = adopt(workspace, write(tmp_path / "agent-memory/dev/MEMORY.md", page).parent)
    assert done.entries == ("Never: push to main", "Never: force")
    assert (workspace.path / f"{AGENT}/MEMORY.md").read_text() == (
        "# D\n\n- push to main\n- last\n\n**Never:**\n\n- push to main\n- force\n"
    )
    (again,) = adopt(workspace, tmp_path / "agent-memory/dev")
    assert (again.entries, again.present) == ((), 2)


def test_what_was_taken_out_under_a_label_keeps_nothing_else_out(workspace, tmp_path):
    write(workspace.path / f"{AGENT}/MEMORY.md", "# D\n\n- a\n\nNever:\n\n- push\n")
    workspace.forget([one.id for one in workspace.entries() if one.label])
    page = write(tmp_path / "agent-memory/dev/MEMORY.md", "# D\n\n- push\n")
    (done,) = adopt(workspace, page.parent)
    assert done.entries == ("- push",)
    page.write_text("# D\n\n**Never**:\n\n- push\n")
    (done,) = adopt(workspace, page.parent)
    assert [one.reason for one in done.left_out] == ["was removed here before; `amp restore` brings it back"]


def test_entries_that_contradict_are_shown_side_by_side(workspace, tmp_path):
    workspace.remember("The staging database is Postgres.", agent="dev")
    write(tmp_path / ".claude/agent-memory/dev/MEMORY.md", "# Dev\n\n- The staging database is not Postgres.\n")
    (planned,) = workspace.plan_adoption([str(tmp_path / ".claude/agent-memory")])
    assert [(one.new, one.standing) for one in planned.contradictions] == [
        ("- The staging database is not Postgres.", "- The staging database is Postgres.")
    ]


def test_what_was_taken_out_here_does_not_come_back(workspace, tmp_path):
    source = write(tmp_path / ".claude/agent-memory/dev/MEMORY.md", "# Dev\n\n- Stays.\n- Outdated.\n").parent
    adopt(workspace, source)
    outdated = next(one.id for one in workspace.entries() if one.text == "- Outdated.")
    workspace.forget([outdated])
    (again,) = workspace.plan_adoption([str(source)])
    assert not again.does_something
    assert "was removed here before" in again.left_out[0].reason


def test_an_agent_memory_file_comes_in_by_its_kinds_without_what_has_expired(workspace, tmp_path):
    when = {"created_at": "2026-01-01T00:00:00Z"}
    lines = [
        {"format": "agent-memory/0.1", **when},
        {"id": "a", "kind": "lesson", "text": "Run the tests.", **when},
        {"id": "b", "kind": "fact", "text": "Old.", "expires_at": "2026-01-02T00:00:00Z", **when},
    ]
    source = write(tmp_path / "memory.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    (adopted,) = adopt(workspace, source)
    assert adopted.entries == ("- Run the tests.",)
    assert "## Lesson\n\n- Run the tests.\n" in (workspace.path / SHARED / "KNOWLEDGE.md").read_text()


def test_another_scaffolding_comes_in_tier_by_tier(workspace, tmp_path):
    other = Workspace.open(tmp_path / "other", environ={"HOME": str(tmp_path)})
    other.remember("Shared there.")
    other.remember("The developer's.", agent="dev")
    other.remember("Said in c1.", conversation="c1", dated=False)
    adopt(workspace, tmp_path / "other")
    assert sorted((str(one.target), one.text) for one in workspace.entries()) == [
        ("agent:dev", "- The developer's."),
        ("conversation:c1", "- Said in c1."),
        ("shared", "- Shared there."),
    ]


def test_an_agent_adopts_only_what_it_may_write(workspace, tmp_path):
    for name in ("dev", "ops"):
        write(tmp_path / f".claude/agent-memory/{name}/MEMORY.md", f"# X\n\n- A fact of {name}.\n")
    done = adopt(workspace, tmp_path / ".claude/agent-memory", actor=Actor("dev"))
    assert [str(one.target) for one in workspace.entries()] == ["agent:dev"]
    assert "ops" in done[1].left_out[0].reason


@pytest.mark.parametrize("source", ["", "/reviewer", "/reviewer/MEMORY.md", "/reviewer/private.md", "/../link"])
def test_no_agent_sees_by_adopting_what_it_may_not_read(workspace, tmp_path, source):
    workspace.remember("A pineapple fact.", agent="reviewer")
    agents = tmp_path / "project/.scaffolding/agent-memory/agents"
    write(agents / "reviewer/private.md", "# T\n\nA pineapple note.\n")
    (agents.parent / "link").symlink_to("agents/reviewer")
    planned = workspace.plan_adoption([str(agents) + source], actor=Actor("dev"))
    assert [str(one.store.target) for one in planned] == ["agent:reviewer"]
    assert "may not write" in planned[0].left_out[0].reason
    assert not any(one.does_something or one.entries for one in planned)


def test_the_command_ends_with_4_where_a_page_cannot_be_read_and_brings_in_the_rest(workspace, tmp_path):
    write(tmp_path / "m/MEMORY.md", "# M\n\n- A fact.\n")
    (tmp_path / "m/user_x.md").write_bytes(b"---\ndescription: \xff\n---\n")
    workspace.init()
    done = CliRunner().invoke(amp, ["adopt", str(tmp_path / "m"), "--apply", "--root", str(workspace.path)])
    assert done.exit_code == 4
    assert "is not UTF-8" in done.stderr
    assert [entry.text for entry in workspace.entries()] == ["- A fact."]


def test_the_command_ends_with_the_code_of_what_kept_it_from_writing(workspace, tmp_path):
    source = write(tmp_path / "m/MEMORY.md", f"# M\n\n- A fact.\n- {TOKEN}\n").parent
    write(tmp_path / "project/.scaffolding/agent-memory/agents/dev/MEMORY.md", "# Dev Memory\n\n- A fact.\n")
    write(tmp_path / ".claude/agent-memory/dev/MEMORY.md", "# M\n\n- Another fact.\n")
    options = ["--apply", "--root", str(tmp_path / "project")]

    def code(*arguments: str) -> int:
        return CliRunner().invoke(amp, ["adopt", *arguments, *options]).exit_code

    assert code(str(source), "--as", "reviewer") == 3
    assert not (tmp_path / "project" / SHARED / "KNOWLEDGE.md").exists()
    assert code(str(source)) == 3
    (tmp_path / "project/.scaffolding/agent-memory/agents/dev/MEMORY.md").write_bytes(b"\xff")
    assert code(str(tmp_path / ".claude/agent-memory/dev")) == 4


def test_a_store_that_is_a_link_is_known_by_the_name_of_the_link(workspace, tmp_path):
    write(tmp_path / "dotfiles/dev/MEMORY.md", "# D\n\n- A fact.\n")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/agent-memory").symlink_to(tmp_path / "dotfiles")
    adopt(workspace, tmp_path / ".claude/agent-memory")
    assert [(str(one.target), one.text) for one in workspace.entries()] == [("agent:dev", "- A fact.")]


@pytest.mark.parametrize("source", ["", "/dev", "/dev/MEMORY.md"])
def test_a_part_of_another_scaffolding_keeps_its_owner(workspace, tmp_path, source):
    other = Workspace.open(tmp_path / "other", environ={"HOME": str(tmp_path)})
    other.remember("The developer's.", agent="dev")
    other.remember("Shared there.")
    adopt(workspace, str(tmp_path / "other/.scaffolding/agent-memory/agents") + source)
    assert [(str(one.target), one.text) for one in workspace.entries()] == [("agent:dev", "- The developer's.")]


OWNED = {
    ".squad/agents/dev/history.md": f"{AGENT}/MEMORY.md",
    ".claude/agent-memory/dev/MEMORY.md": f"{AGENT}/MEMORY.md",
    ".claude/agent-memory-local/dev/MEMORY.md": f"{AGENT}/MEMORY.md",
    ".claude/agent-memory/dev/user_a.md": f"{AGENT}/user_a.md",
    "kept/agent-memory/dev/MEMORY.md": f"{AGENT}/MEMORY.md",
    "MEMORY.md": f"{SHARED}/KNOWLEDGE.md",
    "dev/history.md": f"{SHARED}/KNOWLEDGE.md",
}


@pytest.mark.parametrize("place", OWNED)
def test_a_single_file_goes_where_it_goes_with_its_folder(workspace, tmp_path, place):
    page = write(tmp_path / place, "# S\n\n- alone\n")
    beside = write(page.with_name("user_beside.md"), "Beside.\n\n**Why:** w\n\n**How to apply:** h\n")
    adopt(workspace, page)
    assert "alone" in (workspace.path / OWNED[place]).read_text()
    assert not any(path.name == beside.name for path in workspace.path.rglob("*.md"))
    if place.count("/") > 1:
        assert not any(one.does_something for one in workspace.plan_adoption([str(page)]))
        planned = workspace.plan_adoption([str(page.parents[2 if place.startswith(".squad") else 0])])
        assert {str(one.store.target) for one in planned} == {"agent:dev"}


@pytest.mark.parametrize("name", ["MEMORY.md", "memory.jsonl", "thing"])
def test_what_is_neither_file_nor_folder_is_refused(workspace, tmp_path, name):
    os.mkfifo(tmp_path / name)
    try:
        told = [left.reason for one in adopt(workspace, tmp_path / name) for left in one.left_out]
    except AgentMemoryError as error:
        told = [str(error)]
    assert re.search(r"is a named pipe|holds no memory that amp knows", " ".join(told))


def test_memory_in_folders_that_no_tool_is_known_for_is_named_and_comes_in_by_that_name(workspace, tmp_path):
    project = tmp_path / "their project"
    for folder in (".claude/old", ".claude/projects/-home-x/memory"):
        (project / folder).mkdir(parents=True)
        (project / folder / "MEMORY.md").write_text(f"# M\n\n- a fact of {folder}\n")
    for folder in (".git", "node_modules/tool"):
        (project / folder).mkdir(parents=True)
        (project / folder / "MEMORY.md").write_text("# M\n\n- none\n")
    with pytest.raises(InvalidArgument, match="itself holds no memory; name the folders in it that do: ") as refused:
        workspace.plan_adoption([str(project)])
    named = shlex.split(str(refused.value).partition(" do: ")[2])
    assert named == [str(project / ".claude/old"), str(project / ".claude/projects/-home-x/memory")]
    assert [text for one in workspace.plan_adoption(named) for text in one.entries] == [
        "- a fact of .claude/old",
        "- a fact of .claude/projects/-home-x/memory",
    ]


def test_what_lies_too_deep_is_named(workspace, tmp_path):
    write(tmp_path / "m/MEMORY.md", "# M\n\n- A fact.\n")
    deep = tmp_path / "m/1/2/3/4/5/6/7/8"
    write(deep / "near.md", "# Near\n\nRead.\n")
    write(deep / "9/far.md", "# Far\n\nNot read.\n")
    (done,) = adopt(workspace, tmp_path / "m")
    assert list(done.notes) == ["reference_near.md"]
    assert [one.reason for one in done.left_out] == [f"{deep}/9: lies too deep; name it as a source"]


def test_a_folder_that_leads_outside_costs_no_other(workspace, tmp_path):
    other = tmp_path / "other/.scaffolding/agent-memory"
    write(other / "agents/dev/MEMORY.md", "# D\n\n- A fact.\n")
    write(other / "agents/a b/MEMORY.md", "# D\n\n- Odd.\n")
    (other / "shared").symlink_to("/etc")
    done = adopt(workspace, tmp_path / "other")
    assert [str(one.target) for one in workspace.entries()] == ["agent:dev"]
    assert len([left for one in done for left in one.left_out]) >= 2


@pytest.mark.slow
@pytest.mark.requirement("S3-12")
@pytest.mark.parametrize(
    "text", [f"# M {TOKEN}\n\n- A.\n", f"# M\n\n## H {TOKEN}\n\n- A.\n", f"# M\n\n<!-- {TOKEN} -->\n- A.\n"]
)
def test_a_secret_outside_the_entries_is_told_by_the_plan_and_they_come_in(workspace, tmp_path, text):
    write(tmp_path / "m/MEMORY.md", text)
    write(tmp_path / f"m/{TOKEN}.md", "# T\n\nNothing.\n")
    (planned,) = workspace.plan_adoption([str(tmp_path / "m")])
    assert planned.entries[-1] == "- A."
    assert len(planned.left_out) == 2
    adopt(workspace, tmp_path / "m")
    assert TOKEN.encode() not in b"".join(state(workspace.path).values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "gone"),
    [
        (f"- {TOKEN}\n  under it", [f"- {TOKEN}"]),
        (f"```\na: 1\nb: {TOKEN}\nc: 2\n```", [f"b: {TOKEN}"]),
        ("| user | password |\n|---|---|\n| al | Hk3!pQz9w |\n| bo | Zu7?mNx2v |", ["Hk3!pQz9w", "Zu7?mNx2v"]),
        (f"Two lines.\nThe token is {TOKEN}.\nThree lines.", [TOKEN]),
    ],
    ids=["item", "code", "table", "prose"],
)
@pytest.mark.parametrize("kind", ["page of notes", "rules", "long rules"])
def test_only_the_lines_with_a_secret_stay_out_and_they_are_named(workspace, tmp_path, part, gone, kind):
    long = "".join(f"- Fact {number}.\n" for number in range(50)) if kind == "long rules" else ""
    text = f"# M\n\n## First\n\n- Before.\n\n{part}\n\n{long}\n## Last\n\n- After.\n"
    file = write(tmp_path / ("memory-bank/a.md" if kind == "page of notes" else "CLAUDE.md"), text)
    done = adopt(workspace, file)
    everything = b"".join(state(workspace.path).values()).decode()
    for line in part.split("\n"):
        assert any(one in line for one in gone) or line in everything or "|" in part
    assert not any(one in everything for one in gone)
    assert "Before." in everything
    assert "After." in everything
    (where,) = (left.where.rpartition(":")[2] for one in done for left in one.left_out)
    first, _, last = where.partition("-")
    named = "\n".join(text.split("\n")[int(first) - 1 : int(last or first)])
    assert all(one in named for one in gone)


@each_row(
    "text",
    [
        f"---\nname: mail\ndescription: token {TOKEN}\n---\n# Mail\n\n- Kept.\n",
        f"---\nname: mail\ntags:\n  - {TOKEN}\n---\n# Mail\n\n- Kept.\n",
        f"---\nname: mail\nurl: https://{TOKEN}:x@mail.example\n---\n# Mail\n\n- Kept.\n",
        f"# Mail {TOKEN}\n\nKept.\n",
        f"# Mail\n\n| user | token |\n|---|---|\n| al | {TOKEN} |\n\nKept.\n",
        f"Kept.\n\n```\necho '{TOKEN}' | sudo -S true\n```\n",
        "- Kept.\n- password: 'W\"8r }^gCp hV~D.@!'\n",
    ],
    fresh=True,
)
def test_a_note_comes_in_without_its_secret_wherever_that_is_and_the_place_is_told(workspace, tmp_path, text):
    write(tmp_path / "m/MEMORY.md", "# M\n\n- [Mail](mail.md)\n")
    write(tmp_path / "m/mail.md", text)
    done = adopt(workspace, tmp_path / "m")
    everything = b"".join(state(workspace.path).values()).decode()
    assert "Kept." in everything
    assert TOKEN not in everything
    assert "}^gCp" not in everything
    (where,) = [left.where for one in done for left in one.left_out]
    assert where.rpartition(":")[2][0].isdigit()


def test_a_page_with_conflict_markers_waits_until_they_are_resolved(workspace, tmp_path):
    page = write(tmp_path / "m/MEMORY.md", "# M\n\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n")
    (done,) = adopt(workspace, tmp_path / "m")
    assert not done.does_something
    assert "conflict markers" in done.left_out[0].reason
    page.write_text("# M\n\n- a\n")
    adopt(workspace, tmp_path / "m")
    assert [one.text for one in workspace.entries()] == ["- a"]


def test_notes_that_differ_by_case_only_come_in_once(workspace, tmp_path):
    write(tmp_path / "m/MEMORY.md", "# M\n\n- A fact.\n")
    write(tmp_path / "m/Note.md", "# A\n\nOne.\n")
    write(tmp_path / "m/note.md", "# B\n\nTwo.\n")
    (done,) = adopt(workspace, tmp_path / "m")
    assert len(done.notes) + len(done.left_out) == 2 or len({one.name for one in (tmp_path / "m").iterdir()}) == 2
    names = [path.name.lower() for path in (tmp_path / "project" / SHARED).iterdir()]
    assert len(set(names)) == len(names)


def test_pages_of_one_name_in_two_folders_both_come_in_and_only_once(workspace, tmp_path):
    write(tmp_path / "m/MEMORY.md", "# M\n\n- A fact.\n")
    for name in ("a", "b"):
        write(tmp_path / f"m/{name}/overview.md", f"# O\n\nOf {name}.\n")
    (done,) = adopt(workspace, tmp_path / "m")
    assert sorted(done.notes) == ["reference_b-overview.md", "reference_overview.md"]
    (again,) = adopt(workspace, tmp_path / "m")
    assert not again.does_something


def test_pages_whose_names_become_the_same_file_name_all_come_in_and_only_once(workspace, tmp_path):
    folder = tmp_path / ".serena/memories"
    names = ["\u65e5\u672c\u8a9e", "\u4e2d\u6587", "\ud55c\uad6d\uc5b4", "a/x/same", "b/x/same", "c/x/same"]
    names += [f"{'long-' * 20}{number}" for number in range(3)]
    for number, name in enumerate(names):
        write(folder / f"{name}.md", f"# Page\n\nFact {number}.\n")
    (done,) = adopt(workspace, folder)
    assert done.left_out == ()
    assert len(done.notes) == len(names)
    (again,) = adopt(workspace, folder)
    assert (again.does_something, again.left_out) == (False, ())


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("# S\n\nHere prose.\n", "# M\n\nTheir prose.\n"),
        ("# S\n\n## A\n\nHere prose.\n\n```sh\nmake\n```\n", "# M\n\n## A\n\n| a | b |\n|---|---|\n\n- Item.\n"),
        ("# S\n\n## A\n\nHere prose.\n", "# M\n\n## A\n\nFirst.\n\nSecond.\n\n## B\n\nThird.\n"),
    ],
)
def test_prose_that_comes_in_beside_prose_comes_in_once(workspace, tmp_path, here, there):
    shared = write(tmp_path / "project" / SHARED / "KNOWLEDGE.md", here)
    write(tmp_path / "m/MEMORY.md", there)
    adopt(workspace, tmp_path / "m")
    once = shared.read_text()
    for line in (*here.splitlines(), *there.splitlines()[1:]):
        assert line in once
    (again,) = adopt(workspace, tmp_path / "m")
    assert (again.does_something, again.entries) == (False, ())
    assert shared.read_text() == once


def test_what_came_in_as_notes_stays_that_when_there_is_room_for_its_entries(workspace, tmp_path):
    full = "# S\n\n" + "".join(f"- Fact {number}.\n" for number in range(190))
    shared = write(tmp_path / "project" / SHARED / "KNOWLEDGE.md", full)
    write(tmp_path / "m/MEMORY.md", "# M\n\n" + "".join(f"- Other fact {number}.\n" for number in range(50)))
    (done,) = adopt(workspace, tmp_path / "m")
    assert (done.entries, list(done.notes)) == ((), ["reference_shared-memory.md"])
    shared.write_text("# S\n\n- Fact.\n")
    (again,) = adopt(workspace, tmp_path / "m")
    assert (again.does_something, again.left_out) == (False, ())


def test_the_longest_name_of_a_note_that_is_cut_into_parts_has_room_for_their_numbers(workspace, tmp_path):
    name = "n" * NOTE_NAME_LENGTH
    write(tmp_path / "m/MEMORY.md", "# M\n\n- A fact.\n")
    write(tmp_path / f"m/{name}.md", "# Long\n\n" + "Words.\n" * 500)
    (done,) = adopt(workspace, tmp_path / "m")
    assert done.left_out == ()
    assert len(done.notes) > 1


def test_a_folder_that_links_lead_to_comes_in_once(workspace, tmp_path):
    folder = tmp_path / ".claude/agent-memory/dev"
    write(folder / "MEMORY.md", "# M\n\n- A fact.\n")
    write(folder / "topic.md", "# Topic\n\nText.\n")
    write(folder / "deep/page.md", "# Page\n\nText.\n")
    for name in "abcdef":
        (folder / name).symlink_to(".")
        (folder / f"deep-{name}").symlink_to("deep")
    (done,) = adopt(workspace, folder)
    assert (len(done.entries), len(done.notes), done.left_out) == (1, 2, ())


def test_an_agents_page_is_its_memory_file_and_another_page_beside_it_is_not_lost(workspace, tmp_path):
    folder = tmp_path / ".claude/agent-memory/dev"
    write(folder / "KNOWLEDGE.md", "# K\n\n- A k fact.\n")
    write(folder / "MEMORY.md", "# M\n\n- An m fact.\n")
    (done,) = adopt(workspace, folder)
    assert [one.text for one in workspace.entries() if str(one.target) == "agent:dev"] == ["- An m fact."]
    assert list(done.notes) == ["KNOWLEDGE.md"]
    assert done.left_out == ()


@pytest.mark.parametrize("name", ["nothing-here", "empty"])
def test_what_holds_no_memory_is_refused_with_what_would(workspace, tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidArgument, match=r"is not there|holds no memory that amp knows; it reads"):
        workspace.plan_adoption([str(tmp_path / name)])


def test_memory_where_nobody_looks_for_it_comes_in_by_the_folder_or_the_pages_themselves(workspace, tmp_path):
    write(tmp_path / "project/docs/old/MEMORY.md", "# M\n\n- Deep.\n")
    write(tmp_path / "pages/ports.md", "# Ports\n\nThe ports are listed in ports.toml.\n")
    for folder, told in (
        ("project", "docs/old$"),
        ("pages", r"pages of another kind come in by name: `amp adopt \S+/pages/\*\.md`"),
    ):
        with pytest.raises(InvalidArgument, match=told):
            workspace.plan_adoption([str(tmp_path / folder)])
    adopt(workspace, tmp_path / "project/docs/old")
    adopt(workspace, tmp_path / "pages/ports.md")
    assert [one.text for one in workspace.entries()] == ["- Deep.", "The ports are listed in ports.toml."]
    assert workspace.notes() == []


@pytest.mark.parametrize("name", ["a b", "CON", "развел\u006fper"])
def test_a_folder_whose_name_is_no_agents_is_named_and_the_others_come_in(workspace, tmp_path, name):
    write(tmp_path / f".claude/agent-memory/{name}/MEMORY.md", "# X\n\n- Odd.\n")
    write(tmp_path / ".claude/agent-memory/dev/MEMORY.md", "# X\n\n- Good.\n")
    done = adopt(workspace, tmp_path / ".claude/agent-memory")
    assert [one.text for one in workspace.entries()] == ["- Good."]
    assert sum(len(one.left_out) for one in done) == 1


def test_a_plan_changes_nothing(workspace, tmp_path):
    write(tmp_path / ".claude/agent-memory/dev/MEMORY.md", "# X\n\n- Good.\n")
    workspace.plan_adoption([str(tmp_path / ".claude/agent-memory")])
    assert list(workspace.path.iterdir()) == []


def test_what_comes_in_between_plan_and_deed_is_kept(workspace, tmp_path):
    write(tmp_path / ".claude/agent-memory/dev/MEMORY.md", "# X\n\n- From there.\n")
    planned = workspace.plan_adoption([str(tmp_path / ".claude/agent-memory")])
    workspace.remember("From here.", agent="dev")
    workspace.apply_adoption(planned)
    assert sorted(one.text for one in workspace.entries()) == ["- From here.", "- From there."]


# -- where memory lies scattered --------------------------------------------------------------------------------------


def git_config(folder: Path, url: str) -> None:
    write(folder / ".git" / "config", f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n')


@pytest.mark.requirement("S2-34", "S2-35", "S2-36", "S2-37")
def test_memory_of_one_project_is_found_wherever_it_lies(tmp_path):
    project, sister, stranger = tmp_path / "app", tmp_path / "app-2", tmp_path / "other"
    for folder, url in ((project, "x:app"), (sister, "x:app"), (stranger, "x:other")):
        git_config(folder, url)
        write(folder / SHARED / "KNOWLEDGE.md", "# S\n")
    write(project / "web" / SHARED / "KNOWLEDGE.md", "# S\n")
    write(project / ".claude/agent-memory/dev/MEMORY.md", "# D\n")
    home = tmp_path / "home"
    as_name = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(project))
    for name in (as_name, "-Users-me-old-app", "-Users-me-unrelated"):
        write(home / ".claude/projects" / name / "memory" / "MEMORY.md", "# M\n")
    found = Workspace.open(project, environ={"HOME": str(home)}).find_stores()
    assert [os.path.relpath(one.path, os.path.realpath(tmp_path)) for one in found] == [
        "app/web/.scaffolding",
        "app/.claude/agent-memory",
        "app-2/.scaffolding",
        "home/.claude/projects/-Users-me-old-app/memory",
        f"home/.claude/projects/{as_name}/memory",
    ]
    assert "perhaps another project" in found[3].kind


def test_a_folder_with_a_memory_page_is_found_wherever_a_tool_keeps_it_but_in_no_installed_package(tmp_path):
    write(tmp_path / SHARED / "KNOWLEDGE.md", "# S\n")
    for name in (".cursor/memory", ".github/agent-memory/dev", "docs/agents/ada", "node_modules/x/memory"):
        write(tmp_path / name / "MEMORY.md", "# M\n\n- A fact.\n")
    write(tmp_path / "web" / SHARED / "KNOWLEDGE.md", "# S\n")
    write(tmp_path / "web/.scaffolding/agent-memory/agents/dev/MEMORY.md", "# D\n")
    found = Workspace.open(tmp_path, environ={"HOME": str(tmp_path / "home")}).find_stores()
    assert sorted(os.path.relpath(one.path, os.path.realpath(tmp_path)) for one in found) == [
        ".cursor/memory",
        ".github/agent-memory/dev",
        "docs/agents/ada",
        "web/.scaffolding",
    ]


def test_a_linked_worktree_is_found_from_the_main_checkout(tmp_path):
    main, linked = tmp_path / "main", tmp_path / "elsewhere" / "linked"
    git_config(main, "x:app")
    write(main / ".git" / "worktrees" / "linked" / "gitdir", f"{linked}/.git\n")
    write(linked / ".git", f"gitdir: {main}/.git/worktrees/linked\n")
    write(linked / SHARED / "KNOWLEDGE.md", "# S\n")
    found = Workspace.open(main, environ={"HOME": str(tmp_path)}).find_stores()
    assert [one.path for one in found] == [os.path.realpath(linked / ".scaffolding")]


def test_a_found_place_is_named_so_that_a_shell_reads_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "project/it's two words/.scaffolding/agent-memory/shared/KNOWLEDGE.md", "# S\n\n- A fact.\n")
    # Whoever asked before in this process is not named.
    CliRunner().invoke(amp, ["list", "--as", "reviewer", "--root", str(tmp_path / "project")])
    done = CliRunner().invoke(amp, ["find-stores", "--root", str(tmp_path / "project")])
    command = done.output.partition("`")[2].partition("`")[0]
    assert shlex.split(command) == ["amp", "adopt", "it's two words/.scaffolding"]


# -- what a limit may not decide ---------------------------------------------------------------------------------------


def folder_of(tmp_path, notes, document=""):
    """Make a folder of notes with a hand-written index line for each; returns the folder."""
    folder = tmp_path / ".claude/agent-memory/dev"
    for name in notes:
        write(folder / name, f"---\nname: {name[:-3]}\ndescription: About it.\ntype: project\n---\nIt is so.\n")
    lines = "".join(f"- [{name[:-3]}]({name}) - ONLY-{name}\n" for name in notes)
    write(folder / "MEMORY.md", f"# Dev\n\n{document}{lines}")
    return folder


def markdown_of(workspace):
    return {path.name: path.read_text("utf-8") for path in (workspace.path / AGENT).glob("*.md")}


@pytest.mark.slow
@pytest.mark.parametrize(("notes", "facts"), [(30, 0), (12, 60), (60, 12), (3, 9), (40, 200)])
def test_every_hand_written_index_line_and_entry_survives_a_folder_over_the_limit(workspace, tmp_path, notes, facts):
    write(workspace.path / ".scaffolding/amp.toml", "[limits]\nmax_lines = 40\n")
    names = [f"project_t{number:02}.md" for number in range(notes)]
    document = "## Facts\n\n" + "".join(f"- FACT-{number:03}.\n" for number in range(facts)) + "\n## Notes\n\n"
    folder = folder_of(tmp_path, names, document)
    before = state(folder)
    (adopted,) = adopt(workspace, folder)
    there = markdown_of(workspace)
    for name in names:
        assert sum(text.count(f"ONLY-{name}\n") for text in there.values()) == 1
        assert there[name].startswith("---\nname: ")
    assert all(sum(f"FACT-{number:03}." in text for text in there.values()) == 1 for number in range(facts))
    assert all(len(text.splitlines()) <= 40 for text in there.values())
    assert not adopted.left_out
    assert [one.path for one in workspace.check(select=["index"], ignore=["index-over-screen"])] == []
    assert state(folder) == before
    assert not any(one.does_something for one in workspace.plan_adoption([str(folder)]))
    assert workspace.search("ONLY project t01")[0].id == "project_t01.md"


def test_a_note_over_the_limit_keeps_its_header_and_its_parts_what_governs_them(workspace, tmp_path):
    folder = folder_of(tmp_path, [])
    header = '---\nname: feedback_big\ndescription: "A big one: read it."\nmetadata:\n  type: feedback\n  by: me\n---\n'
    items = "".join(f"- forbidden {number}\n" for number in range(400))
    big = f"{header}\n# Big\n\n## Staging\n\n**Never:**\n\n{items}\n**Why:** It broke.\n\n**How to apply:** Always.\n"
    write(folder / "feedback_big.md", big)
    adopt(workspace, folder)
    there = {name: text for name, text in markdown_of(workspace).items() if name.startswith("feedback_big")}
    assert [*sorted(there)] == ["feedback_big.2.md", "feedback_big.3.md", "feedback_big.md"]
    assert there["feedback_big.md"].startswith(header)
    assert "[feedback_big.2.md](feedback_big.2.md), [feedback_big.3.md](feedback_big.3.md)" in there["feedback_big.md"]
    for text in there.values():
        assert text.count("# Big\n\n## Staging\n\n**Never:**\n\n- forbidden") == 1
        assert count_lines(text.encode()) <= MAX_LINES
    said = "".join(there.values())
    assert [said.count(f"- forbidden {number}\n") for number in range(400)] == [1] * 400
    assert "(feedback_big.md)" in markdown_of(workspace)["MEMORY.md"]
    assert "feedback_big.2.md" not in markdown_of(workspace)["MEMORY.md"]
    assert workspace.check(select=["index", "note-type"]) == []
    assert not any(one.does_something for one in workspace.plan_adoption([str(folder)]))


@pytest.mark.parametrize("named", [True, False])
def test_a_part_counts_as_listed_only_where_its_first_part_names_it(workspace, tmp_path, named):
    write(workspace.path / f"{SHARED}/user_a.md", f"It goes on in [user_a.2.md]({'user_a.2.md' if named else 'b'}).\n")
    write(workspace.path / f"{SHARED}/user_a.2.md", "More.\n")
    workspace.index()
    assert ("(user_a.2.md)" in (workspace.path / SHARED / "KNOWLEDGE.md").read_text()) != named
    assert workspace.check(select=["index"]) == []
