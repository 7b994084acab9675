"""What git's history knows of the paths that memory names."""

import subprocess

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.git.history import gone

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"


class Repository:
    """A repository in which files are written, moved and removed, each time as a commit."""

    def __init__(self, root):
        self.root = root
        self.git("init", "-q")

    def git(self, *args):
        named = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", self.root, *named, *args], check=True, capture_output=True)

    def commit(self, **changes):
        for verb, paths in changes.items():
            for path in paths:
                if verb == "add":
                    (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                    (self.root / path).write_text(f"what {path} says\n" * 9)
                elif verb == "remove":
                    self.git("rm", "-q", path)
                else:
                    old, new = path
                    (self.root / new).parent.mkdir(parents=True, exist_ok=True)
                    self.git("mv", old, new)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def stale(self, *entries):
        """Return the messages of what `check` finds stale among these entries."""
        path = self.root / SHARED
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Shared Knowledge\n\n" + "".join(f"- {entry}\n" for entry in entries))
        workspace = Workspace.open(self.root, environ={"HOME": str(self.root)})
        return [one.message for one in workspace.check(select=["tier-missing-path"])]


@pytest.fixture
def repository(tmp_path):
    made = Repository(tmp_path)
    made.commit(
        add=["web/src/lib/utils.ts", "src/m.py", "tools/old.sh", "api/handlers/pay.go", "Makefile.am", ".env.ci"]
    )
    made.commit(remove=["tools/old.sh", "Makefile.am", ".env.ci"], move=[("src/m.py", "src/core/m.py")])
    made.commit(move=[("api/handlers/pay.go", "api/handlers/payment.go")])
    made.commit(move=[("api/handlers/payment.go", "api/http/payment.go")])
    made.commit(add=["logs/trace.txt", "web/demo/package.json", "web/widgets/a.ts", "data/app.db"])
    (tmp_path / ".gitignore").write_text("logs/\ndata/*.db\n")
    made.commit(remove=["logs/trace.txt", "web/demo/package.json", "web/widgets/a.ts", "data/app.db"])
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [
        "Deploys run `tools/old.sh`.",
        "Deploys run `./tools/old.sh:12`.",
        "Deploys run `old.sh`.",
        "Everything in `tools/` is shell.",
        "The targets are in `Makefile.am`, and they are many.",
        "CI reads `.env.ci`.",
        "It does not matter when. Deploys run `tools/old.sh`.",
    ],
)
def test_a_path_that_git_knew_and_that_is_gone_is_stale(repository, entry):
    (message,) = repository.stale(entry)
    assert "is gone; correct the entry or `amp forget" in message


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [
        "cn() is in `src/lib/utils.ts`.",  # a package below
        "`web/src/lib` holds helpers.",
        "`src/ui/t.tsx` is where tables are drawn.",  # never known: another repository, another branch
        "`logs/app.log` has the traces.",
        "`tools/old.sh` does NOT exist.",
        "Never run `tools/old.sh`.",
        "`tools/old.sh` was removed in May.",
        "Don\u2019t look for `tools/old.sh`: use make.",
        "Create `tools/old.sh` when deploys come back.",
        "Deploys run tools/old.sh.",  # no code
        "Run `make tools/old.sh`.",
        "Name it `tools/<name>.sh` or `tools/*.sh`.",
        "See `https://example.org/tools/old.sh`.",
        "Not `tools/../tools/old.sh`.",
        "`os.path` and `v1.2` are not files.",
        "Updated `tools/old.sh` for the new runners.",  # a log tells what was done
        "`tools/old.sh` \u2014 fixed the quoting.",
        "`tools/old.sh` \u2192 `make deploy`.",
        "Deploys run `make`, \u00ac`tools/old.sh`.",
        "Deploys run `tools/old.sh` if present.",
        "The mobile client, in another repository, deploys with `tools/old.sh`.",
        "Traces are in `logs/trace.txt`.",  # was tracked once, and is made again wherever it runs
        "The databases are in `data/`.",  # git ignores what was in it
        "The page is built from `package.json`.",  # a name that any folder may have
        "It is a `widgets` thing.",
    ],
)
def test_what_is_there_or_was_never_known_or_is_denied_is_not_stale(repository, entry):
    assert repository.stale(entry) == []


@pytest.mark.slow
@pytest.mark.parametrize("heading", ["Removed", "Changelog", "Files modified", "Archive"])
def test_what_is_under_a_heading_of_what_was_is_not_stale(repository, heading):
    assert repository.stale(f"a\n\n## {heading}\n\n- Deploys run `tools/old.sh`.") == []
    assert len(repository.stale("a\n\n## Deploys\n\n- Deploys run `tools/old.sh`.")) == 1


@pytest.mark.slow
def test_what_was_renamed_is_named_and_the_fix_writes_its_new_name(repository):
    entries = ["Parsing is in `src/m.py`.", "Paying is in `handlers/pay.go:3`.", "Both in `src/m.py` and `src/m.py`."]
    messages = repository.stale(*entries)
    assert messages[0] == "`src/m.py` is `src/core/m.py` now; --fix writes that"
    assert messages[1] == "`handlers/pay.go` is `http/payment.go` now; --fix writes that"
    workspace = Workspace.open(repository.root, environ={"HOME": str(repository.root)})
    workspace.fix(workspace.check(select=["tier-missing-path"]))
    assert [one.text for one in workspace.entries()] == [
        "- Parsing is in `src/core/m.py`.",
        "- Paying is in `http/payment.go:3`.",
        "- Both in `src/core/m.py` and `src/core/m.py`.",
    ]
    assert {one.archived.taken.markdown for one in workspace.restorable()} == {f"- {entry}" for entry in entries}
    assert workspace.check(select=["tier-missing-path"]) == []


@pytest.mark.slow
def test_nothing_is_removed_for_being_stale_without_being_chosen(repository):
    repository.stale("Deploys run `tools/old.sh`.", "Parsing is in `src/m.py`.")
    workspace = Workspace.open(repository.root, environ={"HOME": str(repository.root)})
    (one,) = workspace.plan_distillation().candidates
    assert (one.action, one.kind, one.is_safe) == ("remove", "stale", False)
    workspace.apply_distillation(workspace.plan_distillation())
    assert len(workspace.entries()) == 2
    workspace.apply_distillation(workspace.plan_distillation(), only=[one.id])
    assert [entry.text for entry in workspace.entries()] == ["- Parsing is in `src/m.py`."]


@pytest.mark.slow
def test_lines_and_names_that_are_missing_are_hints_that_fail_nothing(repository):
    code = repository.root / "src/core/m.py"
    code.write_text("def parse_all():\n    pass\n")
    repository.commit()
    code.write_text("def parse():\n    pass\n")
    repository.commit()
    hints = {
        "Parsing begins in `src/core/m.py:40`.": "`src/core/m.py` has only 2 lines",
        "See `src/core/m.py#read` for more.": "`src/core/m.py` has no `read`",
        "`parse_all()` reads tables.": "no file has `parse_all` any more",
    }
    fine = ["See `src/core/m.py:2`, `src/core/m.py#parse`, `parse()`.", "`never_here()` is another package's."]
    repository.stale(*hints, *fine)
    workspace = Workspace.open(repository.root, environ={"HOME": str(repository.root)})
    found = workspace.check(select=["tier-missing-symbol"])
    assert [one.message for one in found] == [f"{hint}; is the entry still true?" for hint in hints.values()]
    assert {one.severity for one in found} == {"note"}


def test_without_git_nothing_is_stale(tmp_path):
    assert gone(str(tmp_path), {"src/gone.py"}) == {}
