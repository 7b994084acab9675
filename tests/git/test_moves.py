"""What git takes along to another branch is not lost and not taken out; what a hand takes out is noted, as ever.

Real repositories, and each case as its person would bring it about.
"""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent_memory_protocol.change import journal
from agent_memory_protocol.change.healing import RACE_SECONDS
from agent_memory_protocol.git import moves
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.workspace import Workspace

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

SHARED = Target(Tier.SHARED)
LEARNED = "- Learned on feature."


class Checkout:
    """A checkout whose main branch has three entries, and whose branch `feature` has one more; HEAD is on that."""

    def __init__(self, top: Path, root: str = "", *setting_up: str, ignored: str = "") -> None:
        self.top, self.path = top, top / root
        for folder in (self.top, self.path):
            folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main", *setting_up)
        if ignored:
            (self.top / ".gitignore").write_text(ignored)
        self.remember("Base one.", "Base two.", "Base three.")
        self.commit()
        self.git("switch", "--quiet", "-c", "feature")
        self.remember("Learned on feature.")
        self.commit()

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.path, environ={"HOME": str(self.top)})

    @property
    def file(self) -> Path:
        return self.path.joinpath(*SHARED.parts)

    @property
    def texts(self) -> list[str]:
        return [entry.text for entry in self.workspace.entries(targets=[SHARED])]

    def git(self, *words: str, **more: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.top, env={**os.environ, **more}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def switch(self, *words: str, **more: str) -> None:
        self.git("switch", "--quiet", *words, **more)

    def commit(self, *words: str, **more: str) -> None:
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "memory", *words, **more)

    def remember(self, *texts: str) -> None:
        for text in texts:
            self.workspace.remember(text)

    def forget(self, word: str) -> None:
        (one,) = [entry.id for entry in self.workspace.entries(targets=[SHARED]) if word in entry.text]
        self.workspace.forget([one])

    def by_hand(self, old: str, new: str = "") -> None:
        """Change the document without telling amp."""
        data = self.file.read_bytes()
        assert old.encode() in data
        self.file.write_bytes(data.replace(old.encode(), new.encode()))

    def take_out(self, word: str) -> None:
        self.by_hand(f"- {word}\n")

    def write_by_hand(self, text: str) -> None:
        """Add an entry without telling amp, so late that no editor held an older copy all the while."""
        self.file.write_bytes(self.file.read_bytes() + f"- {text}\n".encode())
        late = time.time() + RACE_SECONDS + 1
        os.utime(self.file, (late, late))

    def clone(self, name: str = "colleague") -> "Checkout":
        """Return a colleague's clone, on this branch. What is committed there, `pull` brings here."""
        self.git("clone", "--quiet", str(self.top), str(self.top.with_name(name)))
        there = object.__new__(Checkout)
        there.top = self.top.with_name(name)
        there.path = there.top / self.path.relative_to(self.top)
        self.git("remote", "add", name, str(there.top))
        return there

    @property
    def noted(self) -> list[tuple[str, str]]:
        """What the ledger has of what is gone: text and reason."""
        found = self.workspace.restorable()
        return [(one.archived.taken.markdown, one.archived.reason) for one in found]

    @property
    def ledger(self) -> bytes:
        file = self.file.with_name("ledger.jsonl")
        return file.read_bytes() if file.exists() else b""


def a_minute_ago() -> dict[str, str]:
    """Git notes its steps to the second, so what follows one is a second later at least."""
    return {"GIT_COMMITTER_DATE": f"@{int(time.time()) - 60} +0000"}


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "t")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "t@example.invalid")


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "project")


# -- what git has taken out, and has still -----------------------------------------------------------------------------


def switched(here: Checkout) -> None:
    here.switch("main")


def there_and_back(here: Checkout) -> None:
    here.switch("main")
    here.switch("feature")
    here.switch("main")


def to_a_version_never_seen_here(here: Checkout) -> None:
    here.switch("main")
    there = here.clone()
    there.remember("By a colleague.")
    there.commit()
    here.switch("feature")
    here.remember("Learned after that.")
    here.commit()
    here.switch("main")
    here.git("pull", "--quiet", "colleague", "main")


def edited_there(here: Checkout) -> None:
    (one,) = [entry.id for entry in here.workspace.entries(targets=[SHARED]) if "Base two" in entry.text]
    here.workspace.edit(one, "Base two, as the branch has it.")
    here.commit()
    here.switch("main")


def to_no_branch(here: Checkout) -> None:
    here.switch("--detach", "main")


def reset_where_a_tag_has_it(here: Checkout) -> None:
    here.git("tag", "kept")
    here.git("reset", "--quiet", "--hard", "main")


def reset_where_a_remote_has_it(here: Checkout) -> None:
    here.git("clone", "--quiet", "--bare", ".", "../remote.git")
    here.git("remote", "add", "origin", "../remote.git")
    here.git("fetch", "--quiet", "origin")
    here.git("reset", "--quiet", "--hard", "main")


def in_the_middle_of_a_rebase(here: Checkout) -> None:
    here.switch("main")
    (here.top / "code").write_text("1")
    here.commit()
    here.switch("feature")
    here.git("rebase", "--quiet", "--interactive", "main", GIT_SEQUENCE_EDITOR="sed -i.old 1ibreak")


def with_a_change_of_its_own_since(here: Checkout) -> None:
    here.switch("main")
    here.by_hand("- Base one.\n", "- Base one.\n- Written by hand.\n")


def with_the_document_only_there(here: Checkout) -> None:
    here.switch("--orphan", "empty")
    (here.top / "code").write_text("1")
    here.commit()


LEFT: dict[str, Callable[[Checkout], None]] = {
    "a branch was left for another": switched,
    "a branch was left twice": there_and_back,
    "the other branch had moved on elsewhere": to_a_version_never_seen_here,
    "an entry was edited on the branch": edited_there,
    "a branch was left for a commit": to_no_branch,
    "a branch was moved, and a tag has it": reset_where_a_tag_has_it,
    "a branch was moved, and a remote has it": reset_where_a_remote_has_it,
    "a rebase has stopped before the commit that has it": in_the_middle_of_a_rebase,
    "something was typed after the switch": with_a_change_of_its_own_since,
    "the document is only there": with_the_document_only_there,
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LEFT)
def test_what_stands_on_a_branch_that_was_left_has_not_gone(checkout, case):
    LEFT[case](checkout)
    ledger, there = checkout.ledger, checkout.texts if checkout.file.exists() else []
    assert LEARNED not in there
    assert checkout.workspace.sync(apply=True) == []
    told = checkout.workspace.remember("Learned here.")
    assert (told.notes, checkout.ledger) == ((), ledger)
    assert checkout.texts == [*there, "- Learned here."]


def _inside_another(path: Path) -> Path:
    outer = Checkout(path)
    outer.git("rm", "--quiet", "-r", ".scaffolding")
    (path / ".gitignore").write_text(".scaffolding\n")
    outer.commit()
    shutil.rmtree(path / ".scaffolding")
    return path


KINDS: dict[str, Callable[[Path], Checkout]] = {
    "the ledger is ignored": lambda path: Checkout(path, ignored="ledger.jsonl\n"),
    "the root lies deep in the repository": lambda path: Checkout(path, "packages/a b"),
    ".scaffolding is a repository of its own": lambda path: Checkout(path / ".scaffolding", ".."),
    ".scaffolding is one inside another": lambda path: Checkout(_inside_another(path) / ".scaffolding", ".."),
    "names are SHA-256": lambda path: Checkout(path, "", "--object-format=sha256"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_that_holds_in_every_kind_of_repository(tmp_path, kind):
    here = KINDS[kind](tmp_path / "project")
    here.switch("main")
    here.remember("Learned here.")
    assert LEARNED not in here.texts
    assert (here.noted, here.ledger) == ([], b"")


@pytest.mark.slow
def test_a_document_with_other_line_endings_than_in_git_is_the_same(tmp_path):
    here = Checkout(tmp_path / "project")
    here.git("config", "core.autocrlf", "true")
    here.switch("main")
    here.switch("feature")
    here.switch("main")
    assert b"\r\n" in here.file.read_bytes()
    here.remember("Learned here.")
    assert (LEARNED in here.texts, here.noted) == (False, [])


@pytest.mark.slow
def test_a_worktree_with_a_memory_of_its_own_has_its_own_steps(tmp_path, checkout):
    checkout.switch("main")
    (checkout.path / ".scaffolding" / "amp.toml").write_text('worktree = "own"\n')
    checkout.commit()
    checkout.git("worktree", "add", "--quiet", "-b", "other", "../other", "main")
    there = object.__new__(Checkout)
    there.top = there.path = tmp_path / "other"
    there.remember("Learned in the worktree.")
    there.commit()
    there.switch("-c", "third", "main")
    checkout.remember("Learned in the main checkout.")
    there.remember("Learned on the third.")
    assert (there.noted, checkout.noted) == ([], [])
    assert there.texts[-1] == "- Learned on the third."
    there.take_out("Learned on the third.")
    there.remember("Last.")
    assert [text for text, _ in there.noted] == ["- Learned on the third."]


@pytest.mark.slow
def test_git_is_asked_about_the_repository_that_the_root_lies_in(tmp_path, checkout, monkeypatch):
    other = Checkout(tmp_path / "other")
    checkout.switch("main")
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    checkout.remember("As from a hook of another repository.")
    assert checkout.noted == []


# -- what the ledger has already ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_a_colleague_forgot_keeps_the_reason_that_came_with_the_pull(checkout):
    there = checkout.clone()
    there.forget("Base two")
    there.commit()
    checkout.git("pull", "--quiet", "colleague", "feature")
    ledger = checkout.ledger
    assert checkout.workspace.sync(apply=True) == []
    checkout.remember("After the pull.")
    assert checkout.ledger == ledger
    assert checkout.noted == [("- Base two.", "forgotten")]


@pytest.mark.slow
def test_what_a_branch_forgot_keeps_its_reason_when_it_is_merged(checkout):
    checkout.forget("Base two")
    checkout.commit()
    checkout.switch("main")
    checkout.remember("On main.")
    (checkout.top / ".gitattributes").write_text("KNOWLEDGE.md merge=union\n")
    checkout.commit()
    checkout.git("merge", "--quiet", "--no-edit", "feature")
    assert "- Base two." not in checkout.texts
    checkout.remember("After the merge.")
    assert checkout.noted == [("- Base two.", "forgotten")]


@pytest.mark.slow
@pytest.mark.parametrize("verb", [("merge", "feature"), ("cherry-pick", "feature"), ("rebase", "main", "feature")])
def test_what_a_merge_takes_out_keeps_its_reason_before_it_is_committed(checkout, verb):
    """What a hand takes out then is noted, as ever."""
    other = checkout.top / "other.txt"
    checkout.forget("Base two")
    other.write_text("theirs\n")
    checkout.commit()
    checkout.switch("main")
    other.write_text("ours\n")
    checkout.remember("On main.")
    (checkout.top / ".gitattributes").write_text("KNOWLEDGE.md merge=union\nledger.jsonl merge=union\n")
    checkout.commit()
    with pytest.raises(AssertionError):  # a conflict, in the other file
        checkout.git(*verb)
    assert "- Base two." not in checkout.texts
    assert checkout.workspace.sync() == []
    checkout.take_out("Base one.")
    checkout.remember("Before the commit.")
    assert sorted(checkout.noted) == [("- Base one.", "taken out by hand"), ("- Base two.", "forgotten")]


def test_what_came_back_is_noted_anew_when_a_hand_takes_it_out(checkout):
    checkout.forget("Base two")
    checkout.commit(**a_minute_ago())
    checkout.workspace.restore(checkout.workspace.restorable())
    checkout.take_out("Base two.")
    checkout.write_by_hand("By hand.")
    checkout.remember("After that.")
    assert checkout.noted == [("- Base two.", "taken out by hand")]


@pytest.mark.slow
def test_a_restoring_that_is_undone_leaves_the_ledger_as_it_was(checkout):
    checkout.forget("Base two")
    checkout.forget("Learned on feature")
    checkout.commit(**a_minute_ago())
    ledger = checkout.file.with_name("ledger.jsonl")
    noted = ledger.read_bytes()
    checkout.workspace.restore(checkout.workspace.restorable())
    checkout.git("restore", ".")
    told = checkout.workspace.remember("After that.")
    assert (ledger.read_bytes(), told.notes) == (noted, ())
    assert [reason for _, reason in checkout.noted] == ["forgotten", "forgotten"]


# -- what a hand has taken out, and what git has no more ---------------------------------------------------------------


def by_hand_after_the_switch(here: Checkout) -> None:
    here.switch("main")
    here.take_out("Base two.")


def by_hand_after_coming_back(here: Checkout) -> None:
    here.switch("main")
    here.switch("feature")
    here.take_out("Learned on feature.")


def by_hand_and_committed(here: Checkout) -> None:
    here.take_out("Base two.")
    here.commit()


def by_hand_and_committed_before_the_switch(here: Checkout) -> None:
    here.take_out("Learned on feature.")
    here.commit()
    here.switch("main")


def by_hand_and_committed_after_a_squashed_merge(here: Checkout) -> None:
    here.switch("main")
    here.git("merge", "--quiet", "--squash", "feature")
    here.commit()
    here.take_out("Learned on feature.")
    here.commit()


def by_hand_though_another_branch_has_it(here: Checkout) -> None:
    here.switch("main", **a_minute_ago())
    here.remember("Learned on feature.")
    here.take_out("Learned on feature.")
    here.write_by_hand("By hand.")


def by_a_merge_that_lost_it(here: Checkout) -> None:
    here.git("merge", "--quiet", "--no-ff", "--no-commit", "--strategy=ours", "main")
    here.take_out("Base two.")
    here.commit("--allow-empty")


def by_a_colleagues_hand(here: Checkout) -> None:
    there = here.clone()
    there.take_out("Base two.")
    there.commit()
    here.git("pull", "--quiet", "colleague", "feature")


def before_it_was_committed(here: Checkout) -> None:
    here.remember("Never committed.")
    here.git("restore", ".")


def into_a_stash(here: Checkout) -> None:
    here.remember("Never committed.")
    here.git("stash", "--quiet")


def by_moving_the_only_branch(here: Checkout) -> None:
    here.git("reset", "--quiet", "--hard", "main")


def by_amending_the_only_commit(here: Checkout) -> None:
    (here.top / "code").write_text("1")
    here.commit("--amend")
    here.take_out("Learned on feature.")
    here.commit("--amend")


def with_its_branch(here: Checkout) -> None:
    here.switch("main")
    here.git("branch", "--quiet", "-D", "feature")


def from_no_branch(here: Checkout) -> None:
    here.switch("--detach")
    here.remember("Learned on no branch.")
    here.commit()
    here.switch("main")


def where_git_keeps_no_steps(here: Checkout) -> None:
    here.switch("main")
    shutil.rmtree(here.top / ".git" / "logs")


def where_git_ignores_the_memory(here: Checkout) -> None:
    here.git("rm", "--quiet", "-r", "--cached", ".scaffolding")
    (here.top / ".gitignore").write_text(".scaffolding/\n")
    here.commit()
    here.take_out("Base two.")


NOTED: dict[str, tuple[Callable[[Checkout], None], list[str]]] = {
    # name: (what happens, what the ledger has afterwards)
    "a hand took one out after the switch": (by_hand_after_the_switch, ["- Base two."]),
    "a hand took it out after coming back": (by_hand_after_coming_back, [LEARNED]),
    "a hand took one out and committed that": (by_hand_and_committed, ["- Base two."]),
    "a hand took it out and committed that, then switched": (by_hand_and_committed_before_the_switch, [LEARNED]),
    "it was merged squashed, then a hand took it out": (by_hand_and_committed_after_a_squashed_merge, [LEARNED]),
    "it was told again here, then a hand took it out": (by_hand_though_another_branch_has_it, [LEARNED]),
    "a merge lost it": (by_a_merge_that_lost_it, ["- Base two."]),
    "a colleague's hand took it out": (by_a_colleagues_hand, ["- Base two."]),
    "git took it out before it was committed": (before_it_was_committed, ["- Never committed."]),
    "it went into a stash": (into_a_stash, ["- Never committed."]),
    "the only branch that had it was moved": (by_moving_the_only_branch, [LEARNED]),
    "the only commit that had it was amended": (by_amending_the_only_commit, [LEARNED]),
    "the only branch that had it was deleted": (with_its_branch, [LEARNED]),
    "no branch ever had it": (from_no_branch, ["- Learned on no branch."]),
    "git keeps no steps": (where_git_keeps_no_steps, [LEARNED]),
    "git ignores the memory": (where_git_ignores_the_memory, ["- Base two."]),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", NOTED)
def test_what_a_hand_took_out_or_git_has_no_more_is_noted(checkout, case):
    happens, gone = NOTED[case]
    happens(checkout)
    there = checkout.texts
    told = checkout.workspace.remember("Learned here.")
    assert [text for text, _ in checkout.noted] == gone
    assert len(told.notes) == 1
    assert checkout.texts == [*there, "- Learned here."]


def test_without_git_everything_is_noted_as_where_there_is_no_repository(checkout, monkeypatch):
    checkout.switch("main")
    monkeypatch.setenv("PATH", "")
    checkout.remember("Learned here.")
    assert [text for text, _ in checkout.noted] == [LEARNED]


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"# T\n\n- \xff\n", b"# T\n\n" + b"- much\n" * 50_000], ids=["no text", "too large"])
def test_where_git_has_what_cannot_be_read_everything_is_noted(checkout, data):
    whole = checkout.file.read_bytes()
    checkout.file.write_bytes(data)
    checkout.commit()
    checkout.file.write_bytes(whole)
    checkout.commit()
    checkout.switch("main")
    checkout.remember("Learned here.")
    assert [text for text, _ in checkout.noted] == [LEARNED]


@pytest.mark.slow
def test_a_journal_that_is_begun_anew_owes_nothing_to_a_branch_that_was_left(checkout, monkeypatch):
    monkeypatch.setattr(journal, "LARGEST", 1)
    checkout.switch("main")
    checkout.remember("Learned here.")
    shutil.rmtree(checkout.top / ".git" / "logs")
    checkout.by_hand("- Learned here.\n", "- Typed by hand.\n")
    checkout.remember("After that.")
    assert LEARNED not in [*checkout.texts, *(text for text, _ in checkout.noted)]


# -- when git is asked, and when it is at work -------------------------------------------------------------------------


@pytest.mark.slow
def test_git_is_asked_only_where_something_is_missing(checkout, monkeypatch):
    asked = []

    def answer(*words: str, **_: bytes) -> bytes:
        asked.append(words)
        return b""

    monkeypatch.setattr(moves, "answer", answer)
    checkout.remember("One more.")
    checkout.by_hand("- One more.\n", "- One more.\n- Typed by hand.\n")
    checkout.remember("And one.")
    assert asked == []
    checkout.take_out("Typed by hand.")
    checkout.remember("The last.")
    assert asked


@pytest.mark.slow
def test_an_entry_that_is_missing_in_the_middle_of_a_switch_is_left_until_git_has_done(checkout, tmp_path, monkeypatch):
    """Git changes the files first and says last where HEAD is; a filter holds it up in between."""
    checkout.switch("main")
    (checkout.top / ".gitattributes").write_text("later filter=slow\n")
    (checkout.top / "later").write_text("1")
    checkout.commit()
    checkout.switch("feature")
    checkout.remember("One more.")
    checkout.commit()
    begun, go_on = tmp_path / "begun", tmp_path / "go-on"
    os.mkfifo(begun)
    os.mkfifo(go_on)
    checkout.git("config", "filter.slow.smudge", f"echo > '{begun}'; cat '{go_on}' > /dev/null; cat")
    checkout.git("config", "filter.slow.clean", "cat")
    switching = threading.Thread(target=checkout.switch, args=("main",))
    switching.start()
    begun.read_bytes()
    assert "- One more." not in checkout.texts
    waited = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        go_on.write_bytes(b"")
        switching.join()

    monkeypatch.setattr(moves, "time", SimpleNamespace(sleep=sleep, time=time.time))
    assert checkout.workspace.sync() == []
    assert len(waited) == 1


@pytest.mark.slow
def test_a_git_that_was_killed_long_ago_holds_nobody_up(checkout, monkeypatch):
    checkout.switch("main")
    lock = checkout.top / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (time.time() - 5, time.time() - 5))
    monkeypatch.setattr(moves, "time", SimpleNamespace(time=time.time))  # there is nothing to sleep by
    checkout.remember("Learned here.")
    assert checkout.noted == []
