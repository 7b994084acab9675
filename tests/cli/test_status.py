"""`amp status` and `amp where`: how full the memory is, where it lies, and which root was chosen and why."""

import os
import pty
import shutil
import subprocess

import click
import pytest

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/{}/agent-memory/context.md"
PROTOCOL = "agent-memory git:20260409.25dc3caA"


@pytest.fixture
def told(amp):
    amp.write(SHARED, "# S\n\n- [2026-01-02] a\n- [2026-03-04] b\n- c\n\n## Notes\n\n- [N](feedback_n.md) - hook\n")
    amp.write(AGENT.format("dev"), "# D\n\n" + "- fact\n" * 198)
    amp.write(CONVERSATION.format("c1"), "# C\n")
    return amp


def columns(line):
    return line.split()


def test_status_is_one_row_for_each_document(told):
    answer = told("status")
    assert (answer.code, answer.err) == (0, "")
    head, *rows = answer.out.splitlines()
    assert columns(head) == [
        *("document", "full", "lines", "bytes", "~tokens", "entries", "dated", "oldest", "newest", "notes")
    ]
    size = (told.root / SHARED).stat().st_size
    assert [columns(row) for row in rows] == [
        ["shared", "█" + "░" * 19, "4%", "9", str(size), str(-(-size // 4)), "3", "2", "2026-01-02", "2026-03-04", "0"],
        ["agent:dev", "█" * 20, "100%", "200", "1,391", "348", "198", "0", "-", "-", "0"],
        ["conversation:c1", "░" * 20, "0%", "1", "4", "1", "0", "0", "-", "-", "0"],
    ]
    assert len({row.index("%") for row in rows}) == 1


def test_status_says_where_many_documents_are_seen_at_a_glance(amp):
    for number in range(10):
        amp.write(AGENT.format(f"a{number}"), "# A\n\n- fact\n")
    assert amp("status").err == ""
    amp.write(SHARED, "# S\n")
    assert "`amp view`" in amp("status").err
    assert len(amp("status", "--json").json()["documents"]) == 11


def test_status_as_json_has_the_figures(told):
    found = told("status", "--json").json()
    assert found["root"] == str(told.root)
    assert [document["target"] for document in found["documents"]] == ["shared", "agent:dev", "conversation:c1"]
    shared = found["documents"][0]
    assert shared.pop("bytes") == (told.root / SHARED).stat().st_size
    assert shared.pop("tokens") == -(-(told.root / SHARED).stat().st_size // 4)
    known = {
        "target": "shared",
        "tier": "shared",
        "path": SHARED,
        "lines": 9,
        "share": 0.045,
        "entries": 3,
        "dated": 2,
        "undated": 1,
        "oldest": "2026-01-02",
        "newest": "2026-03-04",
        "notes_indexed": 1,
        "problem": None,
    }
    assert shared == {**shared, **known}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "full", "empty"),
    [
        ("cp1252", "#", "."),
        pytest.param("utf-8", "█", "░", marks=pytest.mark.slow),
        pytest.param("cp437", "█", "░", marks=pytest.mark.slow),
        pytest.param("ascii", "#", ".", marks=pytest.mark.slow),
    ],
)
def test_the_bars_are_made_of_what_the_terminal_has(told, encoding, full, empty):
    done = subprocess.run(
        [told.script, "status"],
        capture_output=True,
        cwd=told.root,
        env=told.environ({"PYTHONIOENCODING": encoding}),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert full * 20 in text
    assert empty * 20 in text


COLOURS = [(0, "32"), (176, "32"), (177, "33"), (197, "33"), (198, "31")]


@pytest.mark.slow
@pytest.mark.parametrize(("entries", "colour"), COLOURS)
def test_a_terminal_is_shown_colours_for_what_is_full(amp, entries, colour):
    """Green, yellow from 90 % (180 lines), red over the limit."""
    amp.write(SHARED, "# S\n\n\n" + "- f\n" * entries)
    shown = on_a_terminal(amp, "status")
    assert f"\x1b[{colour}m" in shown
    assert shown.count("\x1b[") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "environ",
    [
        {"NO_COLOR": "yes"},
        pytest.param({"NO_COLOR": "1"}, marks=pytest.mark.slow),
        pytest.param({"TERM": "dumb", "NO_COLOR": "1"}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_no_color_is_respected(told, environ):
    assert "\x1b" not in on_a_terminal(told, "status", **environ)


@pytest.mark.slow
def test_an_empty_no_color_says_nothing(told):
    assert "\x1b" in on_a_terminal(told, "status", NO_COLOR="")


@pytest.mark.slow
def test_colours_stay_out_of_pipes_files_and_json(told):
    assert "\x1b" not in told.process("status").out
    assert "\x1b" not in on_a_terminal(told, "status", "--json")


LONG = "- [2020-01-02] " + "words " * 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "columns"),
    [*((verb, "80") for verb in ("status", "list", "prune", "restore", "search words")), ("review", "100")],
)
def test_a_terminal_gets_lines_that_fit_it(told, verb, columns):
    told.write(SHARED, f"# S\n\n{LONG}\n- [2020-01-03] lasting\n- more\n{LONG} again\n")
    told.process("forget", told("list", "--json").json()["entries"][0]["id"])
    shown = on_a_terminal(told, *verb.split(), COLUMNS=columns).splitlines()
    shown = [click.unstyle(line) for line in shown if not line.startswith("amp: ")]
    assert any("shared" in line for line in shown)
    assert [line for line in shown if len(line) > int(columns)] == []


@pytest.mark.slow
def test_a_pipe_gets_whole_tables_and_long_lines(told):
    told.write(SHARED, f"# S\n\n{LONG}\n")
    assert len(told.process("status", environ={"COLUMNS": "80"}).out.splitlines()[1]) > 80
    assert len(told.process("list", environ={"COLUMNS": "80"}).out.splitlines()[1]) > 120


def test_an_unreadable_document_is_a_row_too(told):
    told.write(AGENT.format("dev"), b"# D\n- caf\xe9\n")
    answer = told("status")
    assert (answer.code, answer.err) == (4, "")
    _, shared, dev, conversation = answer.out.splitlines()
    assert (
        dev == f"agent:dev        not readable: {AGENT.format('dev')}:2: byte 0xE9 is not UTF-8; save the file as UTF-8"
    )
    assert columns(shared)[0] == "shared"
    assert columns(conversation)[0] == "conversation:c1"
    problems = [document["problem"] for document in told("status", "--json").json(4)["documents"]]
    assert problems[0] is problems[2] is None
    assert problems[1].startswith(AGENT.format("dev"))


@pytest.mark.requirement("S4-13", "S4-18")
def test_status_shows_only_what_who_asks_may_read(told):
    def targets(*args, **environ):
        return [document["target"] for document in told("status", *args, "--json", environ=environ).json()["documents"]]

    assert targets("--as", "tester") == ["shared"]
    assert targets("--as", "dev") == ["shared", "agent:dev"]
    assert targets(AMP_AGENT="architect", AMP_CONVERSATION="c1") == ["shared", "agent:dev", "conversation:c1"]


def test_status_of_nothing_says_what_to_do(amp):
    assert amp("status") == (0, "", f"amp: no memory yet in {amp.root}; `amp init` creates it\n")
    assert amp("status", "--json").json()["documents"] == []
    missing = amp.root / "typo"
    for verb in ("status", "check"):
        assert (
            amp(verb, "--root", missing).err
            == f"amp: {missing} does not exist; `amp init --root {missing}` creates it\n"
        )
    assert amp.tree() == {}


# -- where -------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-01", "S4-02")
def test_where_names_the_root_the_paths_and_the_settings(told):
    told.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 100\n")
    answer = told("where")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == f"root      {told.root}"
    assert lines[1] == "found as  the nearest folder with .scaffolding"
    assert lines[2].endswith(f", protocol {PROTOCOL}")
    assert f"  {told.root / SHARED}" in lines
    assert f"  not there: {told.home}/.config/amp/config.toml" in lines
    assert lines[-2:] == ["settings", "  limits.max_lines = 100  (.scaffolding/amp.toml)"]
    assert told("where", "--as", "dev") == answer


@pytest.mark.requirement("S4-02")
def test_where_as_json_has_every_setting_and_its_origin(told):
    told.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 100\nmax_line = 5\n")
    found = told("where", "--json").json()
    assert found["root"] == str(told.root)
    assert found["how"] == "the nearest folder with .scaffolding"
    assert found["protocol"] == PROTOCOL
    assert {"path": str(told.root / SHARED), "exists": True} in found["paths"]
    settings = {setting["key"]: (setting["value"], setting["origin"]) for setting in found["settings"]}
    assert settings["limits.max_lines"] == (100, ".scaffolding/amp.toml")
    assert settings["limits.max_bytes"] == (25_600, "default")
    assert settings["access.readers_of_all"] == (["architect"], "default")
    assert len(found["problems"]) == 1
    assert "did you mean limits.max_lines?" in found["problems"][0]


ROOTS = [
    ([], {}, ".", "the nearest folder with .scaffolding"),
    (["--root", "."], {}, "src/deep", "--root"),
    (["--root", ""], {"AMP_ROOT": ""}, ".", "the nearest folder with .scaffolding"),
    (["--root", ".."], {}, "src", "--root"),
    (["--root", "~/elsewhere"], {}, "~/elsewhere", "--root"),
    ([], {"AMP_ROOT": "~/elsewhere"}, "~/elsewhere", "AMP_ROOT"),
    (["--root", "."], {"AMP_ROOT": "~/elsewhere"}, "src/deep", "--root"),
    (["--root", "a b"], {}, "src/deep/a b", "--root"),
]


@pytest.mark.parametrize(
    ("args", "environ", "root", "how"), ROOTS, ids=[f"{args} {environ}" for args, environ, _, _ in ROOTS]
)
def test_the_root_is_found_from_a_subfolder_or_named(told, args, environ, root, how):
    """B38, B49."""
    deep = told.root / "src/deep"
    deep.mkdir(parents=True)
    found = told("where", *args, "--json", environ=environ, cwd=deep).json()
    expected = told.home / root[2:] if root.startswith("~") else told.root / root
    assert (found["root"], found["how"]) == (str(expected.resolve()), how)
    assert os.listdir(deep) == []


@pytest.mark.requirement("S4-07")
def test_every_verb_uses_the_same_root_from_every_subfolder(told):
    """B38: the memory folder is taken from the current directory, so stores multiply."""
    deep = told.root / "src/deep"
    deep.mkdir(parents=True)
    assert told("remember", "from the deep", cwd=deep).code == 0
    for verb in ("recall", "show", "list"):
        assert "from the deep" in told(verb, cwd=deep).out
        assert "from the deep" in told(verb, "--root", str(told.root), cwd=told.home).out
        assert "from the deep" in told(verb, cwd=told.home, environ={"AMP_ROOT": str(told.root)}).out
    assert told("status", cwd=deep).out == told("status").out
    assert told("init", cwd=deep).out == told("init").out
    assert os.listdir(deep) == []


@pytest.mark.requirement("S4P-04")
def test_a_worktree_uses_the_memory_of_its_main_checkout(amp):
    """B39. The memory is ignored by git, so the worktree's checkout has none of it."""
    git(amp, "init", "-q")
    amp.write(".gitignore", ".scaffolding/\n")
    git(amp, "add", ".")
    git(amp, "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m")
    amp("remember", "from the main checkout")
    tree = amp.home / "tree"
    git(amp, "worktree", "add", "-q", str(tree))
    (tree / "src").mkdir()
    for folder in (tree, tree / "src"):
        assert "from the main checkout" in amp("recall", cwd=folder).out
        found = amp("where", "--json", cwd=folder).json()
        assert (found["root"], found["how"]) == (str(amp.root), "the main checkout of this git worktree")
    assert amp("remember", "from the worktree", cwd=tree / "src").code == 0
    assert "from the worktree" in amp("recall").out
    assert not (tree / ".scaffolding").exists()
    amp.write(".scaffolding/amp.toml", 'worktree = "own"\n')
    assert amp("recall", cwd=tree).out == ""
    assert amp("where", "--json", cwd=tree).json()["root"] == str(tree)


def git(amp, *args):
    subprocess.run(["git", *args], cwd=amp.root, check=True, env=amp.environ())


BAD_ROOTS = [
    ("file", "which is not a folder; name the folder that holds .scaffolding"),
    ("file/below", "which is not a folder"),
    ("x" * 5000, "which cannot be looked at: File name too long"),
]


@pytest.mark.parametrize(("root", "words"), BAD_ROOTS, ids=[root[:20] for root, _ in BAD_ROOTS])
def test_a_root_that_is_no_folder_is_told_in_one_line(amp, root, words):
    """B49. Recall says it in the block, as it says everything that is wrong on disk."""
    amp.write("file", "x")
    for args in (["init"], ["remember", "x"], ["show"], ["list"], ["status"], ["where"], ["doctor"]):
        amp(*args, "--root", root).refuses(4, "--root is ", words)
    answer = amp("recall", "--root", root)
    assert (answer.code, answer.err.count("\n")) == (0, 1)
    assert words in answer.out
    assert list(amp.tree()) == ["file"]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder where nobody can make folders")
def test_a_root_that_cannot_be_made_is_told_in_one_line(amp):
    amp("init", "--root", "/proc/nowhere/deep").refuses(4, "/proc/nowhere/deep: the project root was not created: ")
    for verb in ("recall", "list", "status", "where"):
        assert amp(verb, "--root", "/proc/nowhere/deep").code == 0


@pytest.mark.slow
def test_a_current_folder_that_is_gone_is_told_in_one_line(amp):
    gone = amp.root / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    for verb in ("remember", "status"):
        done = subprocess.run(
            ["bash", "-c", script, "bash", str(gone), amp.script, *([verb, "x"] if verb == "remember" else [verb])],
            capture_output=True,
            env=amp.environ(),
            check=False,
        )
        gone.mkdir(exist_ok=True)
        assert done.returncode == 4
        assert done.stderr.decode().startswith("amp: the current folder does not exist any more")
        assert done.stderr.count(b"\n") == 1


def test_a_renamed_project_loses_nothing(told):
    """B39."""
    before = told("recall", "dev").out
    shutil.move(told.root, told.home / "renamed")
    assert told("recall", "dev", cwd=told.home / "renamed").out == before


def on_a_terminal(amp, *args, **environ):
    """Run a command whose stdout is a terminal, and return what is shown there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [amp.script, *args], stdin=theirs, stdout=theirs, stderr=theirs, cwd=amp.root, env=amp.environ(environ)
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65_536):
            shown += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait(30) == 0
    return shown.decode()
