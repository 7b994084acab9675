"""The memory tool says what the published one says, and does what the rules of memory allow."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Actor, AgentMemoryError, Workspace
from agent_memory_protocol.errors import AccessDenied, InvalidArgument, LimitExceeded, RefusedText, SecretFound
from agent_memory_protocol.memory_tool.tool import MemoryTool, MemoryToolError
from tests.raw import EVIL, raw_in

SHARED = "/memories/shared/KNOWLEDGE.md"
AGENT = "/memories/agents/developer/MEMORY.md"
CONVERSATION = "/memories/conversation/context.md"
FILES = {
    SHARED: ".scaffolding/agent-memory/shared/KNOWLEDGE.md",
    AGENT: ".scaffolding/agent-memory/agents/developer/MEMORY.md",
    CONVERSATION: ".scaffolding/conversations/c1/agent-memory/context.md",
}
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"


class Project:
    """A project, and the tools that agents have in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ = {"HOME": str(root.parent)}

    def tool(self, agent: str | None = "developer", conversation: str | None = "c1") -> MemoryTool:
        return MemoryTool(self.root, actor=Actor(agent, conversation), environ=self.environ)

    def run(self, command: str, path: str = "", **more: object) -> str:
        return self.tool().execute({"command": command, **({"path": path} if path else {}), **more})

    def file(self, path: str) -> Path:
        return self.root / FILES.get(path, path)

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.root, environ=self.environ)

    def tree(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and ".amp/" not in path.as_posix()
        }


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project").mkdir()
    return Project(tmp_path / "project")


# -- against the published tool ----------------------------------------------------------------------------------------


class Reference:
    """The SDK's own tool, with the folders that ours has from the start; the SDK takes seconds to import."""

    def __init__(self, folder: Path) -> None:
        from anthropic.tools import BetaLocalFilesystemMemoryTool

        self._tool = BetaLocalFilesystemMemoryTool(str(folder))
        self.folder = folder / "memories"
        for name in ("shared", "agents/developer", "conversation"):
            (self.folder / name).mkdir(parents=True)

    def execute(self, command: Mapping[str, object]) -> str:
        from anthropic.lib.tools import ToolError

        try:
            return str(self._tool.call(command))
        except ToolError as error:
            raise MemoryToolError(str(error)) from error


def outcome(tool: MemoryTool | Reference, command: Mapping[str, object]) -> tuple[str, str]:
    try:
        return "done", tool.execute(command)
    except MemoryToolError as error:
        return "error", str(error)


LINES = ["# Title", "## Redis", "- a fact", "- another", "- [2026-02-15] dated", "text", "", "  more", "```", "| a |"]
TEXTS = st.tuples(st.lists(st.sampled_from(LINES), max_size=6), st.sampled_from(["", "\n", "\n\n"])).map(
    lambda drawn: "\n".join(drawn[0]) + drawn[1]
)
PIECES = st.one_of(st.sampled_from([*LINES[:6], "fact", "a", "\n", "- a fact\n- another"]), TEXTS).filter(bool)


def commands(files: Sequence[str], others: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Commands on files, and on paths that can be none: those only look, edit and fail."""
    file, path = st.sampled_from(files), st.sampled_from([*files, *files, *others])
    ranges = st.one_of(st.none(), st.lists(st.integers(-3, 9), max_size=3))
    kinds: list[dict[str, Any]] = [
        {"command": "view", "path": path, "view_range": ranges},
        {"command": "create", "path": file, "file_text": TEXTS},
        {"command": "str_replace", "path": path, "old_str": PIECES, "new_str": TEXTS},
        {"command": "insert", "path": path, "insert_line": st.integers(-1, 9), "insert_text": TEXTS},
        {"command": "delete", "path": file},
        {"command": "rename", "old_path": file, "new_path": file},
    ]
    return st.one_of([st.fixed_dictionaries(kind | {"command": st.just(kind["command"])}) for kind in kinds])


NOTES = [f"/memories/{folder}/{name}.md" for folder in ("shared", "agents/developer") for name in ("user_a", "b.c")]


def without_folder_sizes(text: str) -> str:
    """A folder's size is that of its files here, and whatever the file system says there."""
    return re.sub(r"^[\d.]+[BKMG]\t(/memories|.*/|.*/shared)$", r"\1", text, flags=re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "others"),
    [
        pytest.param(
            [*FILES], ["/memories", "/memories/shared", "/memories/nowhere", "/memories/../x"], id="documents"
        ),
        pytest.param(NOTES, ["/memories/shared/missing.md"], id="notes"),
    ],
)
def test_it_answers_and_leaves_the_files_as_the_published_tool_does(files, others):
    @settings(max_examples=settings().max_examples // 4)
    @given(st.lists(commands(files, others), max_size=12))
    def check(steps):
        with tempfile.TemporaryDirectory() as folder:
            project, reference = Project(Path(folder, "project")), Reference(Path(folder, "reference"))
            tool = project.tool()
            for step in [*steps, *({"command": "view", "path": path} for path in files)]:
                ours, theirs = outcome(tool, step), outcome(reference, step)
                assert (ours[0], without_folder_sizes(ours[1])) == (theirs[0], without_folder_sizes(theirs[1])), step

    check()


def view(path: str) -> dict[str, object]:
    return {"command": "view", "path": path}


def create(path: str, text: str = "x") -> dict[str, object]:
    return {"command": "create", "path": path, "file_text": text}


def edit(path: str, old: str, new: str = "x") -> dict[str, object]:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: object = 0, text: str = "x") -> dict[str, object]:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> dict[str, object]:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> dict[str, object]:
    return {"command": "rename", "old_path": old, "new_path": new}


NOT_THERE = "/memories/x.md"
PUBLISHED = [
    (view("/elsewhere"), "Path must start with /memories, got: /elsewhere"),
    (view("/memories/../../x"), "Path /memories/../../x would escape /memories directory"),
    (view(NOT_THERE), f"The path {NOT_THERE} does not exist. Please provide a valid path."),
    (edit(NOT_THERE, "a"), f"The path {NOT_THERE} does not exist. Please provide a valid path."),
    (create(SHARED), f"File {SHARED} already exists"),
    (delete("/memories"), "Cannot delete the /memories directory itself"),
    (delete(AGENT), f"The path {AGENT} does not exist"),
    (rename("/memories", AGENT), "Cannot rename the /memories directory itself"),
    (rename(AGENT, SHARED), f"The destination {SHARED} already exists"),
    (rename(AGENT, CONVERSATION), f"The path {AGENT} does not exist"),
    (edit("/memories/shared", "a"), "The path /memories/shared is not a file."),
    (insert("/memories/shared"), "The path /memories/shared is not a file."),
    (
        edit(SHARED, "zzz"),
        f"No replacement was performed, old_str `zzz` did not appear verbatim in {SHARED}.",
    ),
    (
        edit(SHARED, "f"),
        "No replacement was performed. Multiple occurrences of old_str `f` in lines: 3, 4. Please ensure it is unique",
    ),
    (insert(SHARED, 9), "Invalid `insert_line` parameter: 9. It should be within the range [0, 4]."),
    (insert(SHARED, -1), "Invalid `insert_line` parameter: -1. It should be within the range [0, 4]."),
]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "text"), PUBLISHED, ids=[text[:50] for _, text in PUBLISHED])
def test_it_refuses_in_the_published_words(project, tmp_path, command, text):
    project.write(SHARED, "# Shared\n\n- a fact\n- a fact too\n")
    reference = Reference(tmp_path / "reference")
    (reference.folder / "shared/KNOWLEDGE.md").write_text("# Shared\n\n- a fact\n- a fact too\n")
    before = project.tree()
    with pytest.raises(MemoryToolError) as refused:
        project.tool().execute(command)
    assert str(refused.value) == text
    assert outcome(reference, command) == ("error", text)
    assert project.tree() == before


def test_a_file_of_a_million_lines_is_not_printed(project):
    project.write(SHARED, "\n" * 1_000_000)
    with pytest.raises(MemoryToolError, match=r"KNOWLEDGE\.md exceeds maximum line limit of 999,999 lines\.$"):
        project.run("view", SHARED)


# -- what the tool sees ------------------------------------------------------------------------------------------------


def test_an_agent_sees_where_it_may_write_before_there_is_anything(project):
    assert project.run("view", "/memories") == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
        "0B\t/memories\n0B\t/memories/agents/\n0B\t/memories/agents/developer/\n"
        "0B\t/memories/conversation/\n0B\t/memories/shared/"
    )
    assert project.tree() == {}


@pytest.mark.requirement("S4-13", "S4-18")
def test_only_what_may_be_read_is_listed(project):
    """B74."""
    workspace = project.workspace
    for agent, conversation in (("developer", "c1"), ("tester", "c2"), ("writer", "c10")):
        workspace.remember("of an agent", agent=agent)
        workspace.remember("of a conversation", conversation=conversation)

    listed = project.run("view", "/memories/agents")
    assert re.findall(r"/memories/\S+", listed) == [
        *("/memories/agents,", "/memories/agents"),
        *("/memories/agents/developer/", "/memories/agents/developer/MEMORY.md"),
    ]
    assert "of a conversation" in project.run("view", CONVERSATION)
    everything = project.tool("architect", None).execute({"command": "view", "path": "/memories/agents"})
    assert "/memories/agents/tester/MEMORY.md" in everything
    assert "/memories/conversation" not in project.tool("architect", None).execute(
        {"command": "view", "path": "/memories"}
    )
    with pytest.raises(AccessDenied, match="agent developer may not read agent:tester"):
        project.run("view", "/memories/agents/tester/MEMORY.md")


def test_what_lies_beside_the_documents_and_is_no_note_is_not_there(project):
    project.workspace.forget([project.workspace.remember("gone").entry.id])
    project.write(".scaffolding/agent-memory/shared/data.csv", "a,b\n")
    project.write(".scaffolding/agent-memory/shared/deep/note.md", "deep\n")
    listed = project.run("view", "/memories/shared")
    assert re.findall(r"/shared/(\S+)", listed) == ["KNOWLEDGE.md"]
    for name in ("ledger.jsonl", "data.csv", "deep/note.md", "knowledge.md", ".hidden.md"):
        with pytest.raises(MemoryToolError, match="does not exist"):
            project.run("view", f"/memories/shared/{name}")


@pytest.mark.parametrize("path", ["/memories_evil/x.md", "/memoriesx", "memories/x.md", "", "/"])
def test_a_path_that_only_begins_like_ours_is_refused(project, path):
    """Measured: the published tool takes /memories_evil for its own."""
    for command in ({"command": "view"}, {"command": "create", "file_text": "x"}):
        with pytest.raises(MemoryToolError, match="Path must start with /memories"):
            project.tool().execute({"path": path, **command})
    assert project.tree() == {}


@pytest.fixture
def linked(project):
    """Links to a file of the project, to another agent's memory, to nothing; and a folder that is a link."""
    project.write("env/tokens.txt", "not for agents\n")
    project.write(".scaffolding/agent-memory/agents/tester/MEMORY.md", "# T\n\n- the tester's own\n")
    project.write(AGENT, "# D\n\n- mine\n")
    folder = project.file(AGENT).parent
    (folder / "user_env.md").symlink_to(project.root / "env/tokens.txt")
    (folder / "user_tester.md").symlink_to("../tester/MEMORY.md")
    (folder / "user_nothing.md").symlink_to("nothing.md")
    (folder.parent / "writer").symlink_to("tester")
    return project


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["developer/user_env", "developer/user_tester", "developer/user_nothing", "writer/MEMORY"]
)
def test_no_link_leads_a_command_anywhere(linked, name):
    path = f"/memories/agents/{name}.md"
    before = linked.tree()
    tool = linked.tool("writer" if name.startswith("writer") else "developer")
    other = "/memories/shared/user_x.md"
    for command in (view(path), create(path), edit(path, "t"), insert(path), delete(path), rename(path, other)):
        with pytest.raises(MemoryToolError, match="Path would escape /memories directory via symlink"):
            tool.execute(command)
    assert linked.tree() == before
    tool.execute(create(other))
    before = linked.tree()
    with pytest.raises(MemoryToolError, match="Path would escape /memories directory via symlink"):
        tool.execute(rename(other, path))
    assert linked.tree() == before


# -- the rules hold ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-52", "S4-54")
def test_a_read_only_agent_reads_and_writes_nothing(project):
    project.write(".claude/agents/helper.md", "---\nname: helper\ndisallowedTools: Write, Edit\n---\n")
    project.workspace.remember("a fact")
    project.workspace.remember("its own", agent="helper")
    project.workspace.new_note("user", "x", description="d", why="w", how="h")
    tool = project.tool("helper")
    own = "/memories/agents/helper/MEMORY.md"
    before = project.tree()
    assert "its own" in tool.execute({"command": "view", "path": own})
    for command in (
        create(CONVERSATION),
        create("/memories/agents/helper/user_x.md"),
        edit(own, "its"),
        insert(own),
        delete(SHARED),
        delete("/memories/shared"),
        rename("/memories/shared/user_x.md", "/memories/shared/user_y.md"),
    ):
        with pytest.raises(AccessDenied, match="report findings in your output"):
            tool.execute(command)
    assert project.tree() == before


def test_a_file_that_was_over_its_limit_and_got_smaller_is_said_to_be_over_it(project):
    project.write(".scaffolding/agent-memory/shared/KNOWLEDGE.md", "# S\n" + "- a fact\n" * 210 + "- long\n- gone\n")
    said = project.run("str_replace", SHARED, old_str="- long\n- gone\n", new_str="- long\n").splitlines()
    assert said[-1].startswith("(the file is over its limit: 0 of 200 lines and ")


@pytest.mark.slow
@pytest.mark.requirement("S4-59")
def test_a_file_over_its_limit_is_refused_and_one_nearly_full_says_so(project):
    project.run("create", SHARED, file_text="# S\n" + "- a fact\n" * 190)
    said = project.run("insert", SHARED, insert_line=191, insert_text="- one more").splitlines()
    assert said == [
        f"The file {SHARED} has been edited.",
        "(the file is nearly full: 8 of 200 lines and 23,875 of 25,600 bytes are left)",
    ]
    before = project.tree()
    more = "- too many\n" * 9
    for call in (
        lambda: project.run("insert", SHARED, insert_line=0, insert_text=more),
        lambda: project.run("str_replace", SHARED, old_str="- one more", new_str=more),
        lambda: project.run("create", AGENT, file_text="- a fact\n" * 201),
        lambda: project.run("create", AGENT, file_text="x" * 25_601),
        lambda: project.run("create", "/memories/shared/project_x.md", file_text="line\n" * 201),
    ):
        with pytest.raises(LimitExceeded, match="are allowed; nothing was changed"):
            call()
        assert project.tree() == before
    assert project.run("str_replace", SHARED, old_str="- one more\n", new_str="").startswith("The memory file")


def test_a_file_that_is_over_its_limit_already_may_become_smaller(project):
    project.write(SHARED, "# S\n" + "- a fact\n" * 299 + "- the last\n")
    assert project.run("str_replace", SHARED, old_str="- the last\n", new_str="").startswith("The memory file")
    with pytest.raises(LimitExceeded):
        project.run("insert", SHARED, insert_line=1, insert_text="- more")


@pytest.mark.requirement("S0-30", "S2-05")
def test_no_secret_comes_in(project):
    """B72."""
    project.run("create", SHARED, file_text="# S\n\n- a fact\n")
    project.run("create", "/memories/shared/user_x.md", file_text="a note\n")
    before = project.tree()
    for call in (
        lambda: project.run("create", AGENT, file_text=f"- CI uses {TOKEN}\n"),
        lambda: project.run("create", "/memories/shared/user_y.md", file_text=f"CI uses {TOKEN}\n"),
        lambda: project.run("str_replace", SHARED, old_str="a fact", new_str=f"CI uses {TOKEN}"),
        lambda: project.run("str_replace", "/memories/shared/user_x.md", old_str="a note", new_str=TOKEN),
        lambda: project.run("insert", SHARED, insert_line=3, insert_text=f"- {TOKEN[:20]}\n  {TOKEN[20:]}"),
        lambda: project.run("rename", old_path=SHARED, new_path=f"/memories/shared/{TOKEN}.md"),
    ):
        with pytest.raises(SecretFound, match="github-token") as refused:
            call()
        assert TOKEN not in str(refused.value)
        assert project.tree() == before


def test_a_secret_that_stands_there_hinders_no_other_edit_and_leaves_without_a_copy(project):
    project.write(SHARED, f"# S\n\n- CI uses {TOKEN}\n- a fact\n")
    project.run("str_replace", SHARED, old_str="a fact", new_str="another fact")
    said = project.run("str_replace", SHARED, old_str=TOKEN, new_str="the token in env/tokens.txt")
    assert re.search(
        r"^\([0-9a-f]{12} held a GitHub token .*, so the ledger keeps no copy of it\)$", said, re.MULTILINE
    )
    assert TOKEN.encode() not in b"".join(project.tree().values())


@pytest.mark.parametrize("text", ["- zero\u200bwidth\n", "- \u202eback\n", "- bell\a\n", "- half \ud800\n"])
def test_what_a_reader_cannot_see_is_refused(project, text):
    with pytest.raises(RefusedText, match="invisible or control character"):
        project.run("create", SHARED, file_text=text)
    assert project.tree() == {}


def test_what_a_file_hides_is_shown_and_edited_as_it_was_shown(project):
    project.write(SHARED, f"# S\n\n- {EVIL}\n\n- me\u200bnd this\n")
    shown = project.run("view", SHARED)
    assert raw_in(shown) == ""
    assert "me\\u200bnd this" in shown
    project.run("str_replace", SHARED, old_str="me\\u200bnd this", new_str="mended")
    assert "- mended\n" in "".join(data.decode() for data in project.tree().values())


@pytest.mark.parametrize("command", ["view", "create", "delete", "str_replace", EVIL])
def test_what_a_path_or_command_hides_is_shown_where_it_is_refused(project, command):
    with pytest.raises(AgentMemoryError) as refused:
        project.run(command, f"/memories/{EVIL}", file_text="x", old_str="x", new_str="y")
    assert raw_in(str(refused.value)) == ""


def test_a_merge_conflict_is_neither_written_nor_edited(project):
    """B78."""
    conflict = "# S\n\n<<<<<<< ours\n- a\n=======\n- b\n>>>>>>> theirs\n"
    with pytest.raises(RefusedText, match=r"KNOWLEDGE\.md:3: unresolved merge conflict"):
        project.run("create", SHARED, file_text=conflict)
    project.write(SHARED, conflict)
    for call in (
        lambda: project.run("insert", SHARED, insert_line=0, insert_text="x"),
        lambda: project.run("create", "/memories/shared/user_x.md", file_text="x\n"),
    ):
        with pytest.raises(AgentMemoryError, match="unresolved merge conflict"):
            call()
    assert [name.rpartition("/")[2] for name in project.tree()] == ["KNOWLEDGE.md"]


# -- nothing is lost ---------------------------------------------------------------------------------------------------


def archived(project: Project) -> list[tuple[str, str]]:
    return [(one.archived.taken.markdown, one.archived.reason) for one in project.workspace.restorable()]


@pytest.mark.requirement("S4-33")
def test_what_a_command_takes_out_stands_in_the_ledger(project):
    project.run("create", SHARED, file_text="# S\n\n- first\n- second\n- third\n")
    project.run("str_replace", SHARED, old_str="- second\n- third\n", new_str="")
    project.run("str_replace", SHARED, old_str="first", new_str="changed")
    (changed,) = project.workspace.entries()
    project.run("delete", SHARED)
    assert not project.file(SHARED).exists()
    assert sorted(archived(project)) == [
        ("- changed", "deleted"),
        ("- first", f"edited: {changed.id} replaces it"),
        ("- second", "edited"),
        ("- third", "edited"),
    ]
    project.workspace.restore(project.workspace.restorable())
    assert sorted(entry.text for entry in project.workspace.entries()) == [
        "- changed",
        "- first",
        "- second",
        "- third",
    ]


def test_a_note_that_loses_a_line_or_goes_stands_in_the_ledger(project):
    path = "/memories/agents/developer/project_x.md"
    project.run("create", path, file_text="one\ntwo\n")
    project.run("insert", path, insert_line=2, insert_text="three")
    assert archived(project) == []
    project.run("str_replace", path, old_str="two", new_str="2")
    project.run("rename", old_path=path, new_path="/memories/shared/project_y.md")
    project.run("delete", "/memories/shared")
    assert sorted(archived(project)) == [
        ("one\n2\nthree\n", "deleted"),
        ("one\n2\nthree\n", "renamed to /memories/shared/project_y.md"),
        ("one\ntwo\nthree\n", "edited"),
    ]


def test_redacting_reaches_what_an_entry_was_edited_from(project):
    project.run("create", SHARED, file_text="# S\n\n- the old secret of the house\n")
    project.run("str_replace", SHARED, old_str="old secret", new_str="new rule")
    (entry,) = project.workspace.entries()
    project.workspace.redact([entry.id])
    assert b"secret of the house" not in b"".join(
        path.read_bytes() for path in project.root.rglob("*") if path.is_file()
    )


def test_a_note_has_its_index_line_and_loses_it(project):
    project.run("create", "/memories/shared/project_plan.md", file_text="---\ndescription: The plan.\n---\n\nA plan.\n")
    assert "- [Plan](project_plan.md) - The plan." in project.run("view", SHARED)
    project.run("delete", "/memories/shared/project_plan.md")
    assert "project_plan" not in project.run("view", SHARED)


def test_another_programs_overwriting_is_healed_and_said(project):
    for text in ("one", "two", "three"):
        project.workspace.remember(text)
    before = project.file(SHARED).read_bytes()
    project.workspace.remember("four")
    project.write(SHARED, before + b"- of an editor\n")
    said = project.run("str_replace", SHARED, old_str="- one", new_str="- 1")
    assert said.endswith("KNOWLEDGE.md: another program had overwritten 1 remembered entry, now back)")
    there = {entry.text for entry in project.workspace.entries()}
    assert there == {"- 1", "- two", "- three", "- four", "- of an editor"}


def test_line_ends_and_mark_of_a_file_stay(project):
    """B50."""
    project.write(SHARED, b"\xef\xbb\xbf# S\r\n\r\n- one\r\n- two\r\n")
    assert project.run("view", SHARED).endswith("\n     1\t# S\n     2\t\n     3\t- one\n     4\t- two\n     5\t")
    project.run("str_replace", SHARED, old_str="- one\n- two", new_str="- one\n- 2")
    project.run("insert", SHARED, insert_line=4, insert_text="- three\n- four\n")
    assert project.file(SHARED).read_bytes() == b"\xef\xbb\xbf# S\r\n\r\n- one\r\n- 2\r\n- three\r\n- four\r\n"


def test_an_existing_folder_s_spelling_wins(project):
    """B44."""
    project.workspace.remember("own", agent="Developer")
    project.run("insert", AGENT, insert_line=0, insert_text="- more\n")
    assert [path.name for path in project.file(AGENT).parents[1].iterdir()] == ["Developer"]
    assert "/memories/agents/Developer/" in project.run("view", "/memories")
    assert "/memories/agents/developer/" not in project.run("view", "/memories")


# -- wrong commands ----------------------------------------------------------------------------------------------------


BAD: list[dict[str, object]] = [
    {},
    {"command": None},
    {"command": "nonsense", "path": SHARED},
    {"command": "view"},
    {"command": "view", "path": 3},
    {**view(SHARED), "view_range": "1-2"},
    {**view(SHARED), "view_range": [1, True]},
    {"command": "create", "path": SHARED},
    create("/memories/notes.md"),
    create("/memories/shared/deep/x.md"),
    create("/memories/shared/x.txt"),
    create("/memories/shared/memory"),
    create("/memories/shared/knowledge.md"),
    create("/memories/shared/ledger.jsonl"),
    create("/memories/shared/-rf.md"),
    create("/memories/shared/a%2fb.md"),
    create("/memories/conversation/x.md"),
    create("/memories/agents/..%2f/MEMORY.md"),
    edit(SHARED, ""),
    insert(SHARED, "1"),
    insert(SHARED, True),
    delete("/memories/agents"),
    rename("/memories/shared", "/memories/new"),
    rename(SHARED, "/memories/new.md"),
]


@pytest.mark.parametrize("command", BAD, ids=str)
def test_a_command_that_is_none_is_refused_in_one_line(project, command):
    project.write(SHARED, "# S\n\n- a fact\n")
    before = project.tree()
    with pytest.raises(AgentMemoryError) as refused:
        project.tool().execute(command)
    assert str(refused.value)
    assert "\n" not in str(refused.value)
    assert project.tree() == before


def test_what_is_no_command_at_all_is_refused(project):
    with pytest.raises(InvalidArgument, match="a command is an object"):
        project.tool().execute("view")


def test_a_place_that_is_none_is_refused_with_those_there_are(project):
    with pytest.raises(AgentMemoryError) as refused:
        project.run("create", "/memories/progress.md", file_text="x")
    assert str(refused.value) == (
        "'/memories/progress.md' is not a place for memory; there are "
        f"{SHARED}, {AGENT}, {CONVERSATION}, /memories/shared/NAME.md, /memories/agents/developer/NAME.md"
    )


def test_memory_that_is_switched_off_is_neither_shown_nor_written(project):
    project.workspace.remember("a fact")
    tool = MemoryTool(project.root, actor=Actor("developer"), environ={**project.environ, "AMP_DISABLE": "1"})
    assert tool.execute({"command": "view", "path": "/memories"}).splitlines()[1:] == ["0B\t/memories"]
    for command in (
        {"command": "view", "path": SHARED},
        {"command": "insert", "path": SHARED, "insert_line": 0, "insert_text": "x"},
    ):
        with pytest.raises(AgentMemoryError, match="switched off"):
            tool.execute(command)


HOSTILE = ["..", "a/../../b", "C:x", "con", "x.", "a\0b", "a\nb", "\u202ex", "a" * 300, "~", "%2e%2e", "-rf", " "]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_no_name_leads_out_of_memory(project, name):
    """B40."""
    for path in (f"/memories/{name}", f"/memories/shared/{name}.md", f"/memories/agents/{name}/MEMORY.md"):
        for command in (create(path), view(path), delete(path)):
            with pytest.raises(AgentMemoryError):
                project.tool().execute(command)
    assert [*project.root.parent.rglob("*")] == [project.root]
