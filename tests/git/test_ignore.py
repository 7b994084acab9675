"""The lines in `.gitignore` and `.gitattributes` that decide what git does with the memory."""

import subprocess
from pathlib import Path

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.git import ignore

IGNORED = [
    (None, b".scaffolding/\n"),
    (b"", b".scaffolding/\n"),
    (b"*.pyc\n", b"*.pyc\n.scaffolding/\n"),
    (b"*.pyc", b"*.pyc\n.scaffolding/\n"),
    (b"*.pyc\r\nx\r\n", b"*.pyc\r\nx\r\n.scaffolding/\r\n"),
    (b"*.pyc\r\nx", b"*.pyc\r\nx\r\n.scaffolding/\r\n"),
    (b"\xef\xbb\xbf*.pyc\n", b"\xef\xbb\xbf*.pyc\n.scaffolding/\n"),
    (b"caf\xe9\n", b"caf\xe9\n.scaffolding/\n"),
    (b"# .scaffolding/\n", b"# .scaffolding/\n.scaffolding/\n"),
    (b"x/.scaffolding/\n", b"x/.scaffolding/\n.scaffolding/\n"),
    (b" .scaffolding/\n", b" .scaffolding/\n.scaffolding/\n"),
    (b"!.scaffolding/\n", b"!.scaffolding/\n.scaffolding/\n"),
    (b".scaffolding/*\n", b".scaffolding/*\n.scaffolding/\n"),
]

ALREADY = [
    b".scaffolding/\n",
    b".scaffolding",
    b"/.scaffolding\n*.pyc\n",
    b"/.scaffolding/  \r\n",
    b"\xef\xbb\xbf.scaffolding/\n",
    b"caf\xe9\n.scaffolding/\n",
]

TRACKED = [
    (b".scaffolding/\n", b""),
    (b"*.pyc\n.scaffolding/\n# end", b"*.pyc\n# end"),
    (b"*.pyc\r\n.scaffolding/\r\nx\r\n", b"*.pyc\r\nx\r\n"),
    (b"/.scaffolding\n.scaffolding/\n\n.scaffolding  \nx", b"\nx"),
    (b"\xef\xbb\xbf.scaffolding/\nx\n", b"\xef\xbb\xbfx\n"),
    (b"caf\xe9\n.scaffolding/\n", b"caf\xe9\n"),
]

NOT_OURS = [
    None,
    b"",
    b"*.pyc\n",
    b"caf\xe9",
    b"# .scaffolding/\n",
    b".scaffolding/*\n",
    b"!.scaffolding/\n",
    b" .scaffolding/\n",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def change(project: Path, before: bytes | None, function) -> tuple[bool, bytes | None]:
    """Call a function on a project with this `.gitignore`; return what it says and what stands there then."""
    file = project / ".gitignore"
    if before is not None:
        file.write_bytes(before)
    with Root.open(str(project)) as root:
        changed = function(root)
    return changed, file.read_bytes() if file.exists() else None


@pytest.mark.slow
@pytest.mark.requirement("S4P-05")
@pytest.mark.parametrize(("before", "after"), IGNORED, ids=[ascii(before) for before, _ in IGNORED])
def test_ignoring_adds_one_line_and_keeps_every_byte(project, before, after):
    assert change(project, before, ignore.ignore) == (True, after)
    assert change(project, None, ignore.ignore) == (False, after)
    assert git(project, "check-ignore", "-q", ".scaffolding/agent-memory/shared/KNOWLEDGE.md") == 0


@pytest.mark.parametrize("content", ALREADY, ids=ascii)
def test_what_is_ignored_already_stays_as_it_is(project, content):
    assert change(project, content, ignore.ignore) == (False, content)
    assert git(project, "check-ignore", "-q", ".scaffolding/agent-memory/shared/KNOWLEDGE.md") == 0


@pytest.mark.requirement("S4P-05")
@pytest.mark.parametrize(("before", "after"), TRACKED, ids=[ascii(before) for before, _ in TRACKED])
def test_tracking_takes_out_its_lines_and_no_other_byte(project, before, after):
    assert change(project, before, ignore.track) == (True, after)
    assert change(project, None, ignore.track) == (False, after)


@pytest.mark.parametrize("content", NOT_OURS, ids=ascii)
def test_lines_that_say_something_else_are_not_ours(project, content):
    assert change(project, content, ignore.track) == (False, content)


@pytest.mark.parametrize("content", [b"*.pyc\n", b"caf\xe9\r\n.scaffolding/\r\n", b""], ids=ascii)
def test_ignoring_then_tracking_gives_back_the_file(project, content):
    before = content.replace(b".scaffolding/\r\n", b"")
    change(project, content, ignore.ignore)
    assert change(project, None, ignore.track)[1] == before


def test_something_else_in_the_files_place_is_told(project):
    (project / ".gitignore").mkdir()
    for function in (ignore.ignore, ignore.track):
        with pytest.raises(DamagedFile, match=r"\.gitignore: is a folder, not a file"):
            change(project, None, function)


def test_a_linked_gitignore_stays_a_link(project):
    (project / "shared.ignore").write_bytes(b"*.pyc\n")
    (project / ".gitignore").symlink_to("shared.ignore")
    change(project, None, ignore.ignore)
    assert (project / ".gitignore").is_symlink()
    assert (project / "shared.ignore").read_bytes() == b"*.pyc\n.scaffolding/\n"


def test_git_is_asked_and_may_be_missing(project, monkeypatch):
    assert ignore.is_ignored(project) is None
    assert git(project, "init", "-q") == 0
    assert ignore.is_ignored(project) is False
    change(project, b".scaffold*/\n", ignore.track)
    assert ignore.is_ignored(project) is True
    monkeypatch.setenv("PATH", "")
    assert ignore.is_ignored(project) is None
    assert ignore.is_tracked(project) is False


@pytest.mark.requirement("S4P-05")
def test_who_ignores_what_git_tracks_or_lets_in_is_told(project):
    git(project, "init", "-q")
    workspace = Workspace.open(project, environ={})
    workspace.remember("x")
    git(project, "add", ".")
    assert workspace.set_git_tracking("ignore") == [
        "`.scaffolding/` added to .gitignore",
        "git tracks the memory already; `git rm -r --cached .scaffolding` stops that",
    ]
    git(project, "rm", "-q", "-r", "--cached", ".scaffolding")
    assert workspace.set_git_tracking("ignore") == []
    (project / ".gitignore").write_text(".scaffolding/\n!.scaffolding/\n")
    assert workspace.set_git_tracking("ignore") == [
        "git does not ignore the memory yet: another line of a .gitignore includes it"
    ]


def test_the_memory_of_a_subfolder_has_its_own_gitignore(project):
    git(project, "init", "-q")
    (project / "part").mkdir()
    workspace = Workspace.open(project / "part", environ={})
    workspace.init()
    assert workspace.set_git_tracking("ignore") == ["`.scaffolding/` added to .gitignore"]
    assert (project / "part/.gitignore").read_bytes() == b".scaffolding/\n"
    assert ignore.is_ignored(project / "part") is True


LEDGERS = b"ledger.jsonl merge=union -text linguist-generated"
OTHERS = [
    b"agent-memory/sightings.jsonl merge=union -text linguist-generated",
    b"agent-memory/reviewed merge=union -text",
    b"agent-memory/refused merge=union -text",
]


def lines(*given: bytes) -> bytes:
    return b"".join(line + b"\n" for line in given)


ATTRIBUTES = [
    (None, lines(LEDGERS, *OTHERS)),
    (b"*.md text\n", lines(b"*.md text", LEDGERS, *OTHERS)),
    (b"*.md text", lines(b"*.md text", LEDGERS, *OTHERS)),
    (b"caf\xe9 text\r\n", lines(b"caf\xe9 text", LEDGERS, *OTHERS).replace(b"\n", b"\r\n")),
    (lines(LEDGERS), lines(LEDGERS, *OTHERS)),
    (lines(b"ledger.jsonl merge=union -text", *OTHERS), lines(b"ledger.jsonl merge=union -text", *OTHERS)),
    (lines(b"ledger.jsonl -diff", *OTHERS)[:-1], lines(b"ledger.jsonl -diff", *OTHERS)[:-1]),
]


@pytest.mark.parametrize(("before", "after"), ATTRIBUTES, ids=[ascii(before) for before, _ in ATTRIBUTES])
def test_ledgers_and_reviews_are_merged_line_by_line_unless_someone_chose_otherwise(project, before, after):
    file = project / ".scaffolding/.gitattributes"
    file.parent.mkdir()
    if before is not None:
        file.write_bytes(before)
    with Root.open(str(project)) as root:
        assert ignore.merge_by_lines(root) is (before != after)
        assert ignore.merge_by_lines(root) is False
    assert file.read_bytes() == after


def git(project: Path, *args: str) -> int:
    if not (project / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return subprocess.run(["git", *args], cwd=project, capture_output=True, check=False).returncode
