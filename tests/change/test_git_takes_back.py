"""What git takes back with a document or a ledger is in the document, or `restore` names it: nothing is lost."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory_protocol.change import transaction
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.workspace import Workspace

SHARED = Target(Tier.SHARED)
DOCUMENT = Path(*SHARED.parts)
LEDGER = DOCUMENT.with_name("ledger.jsonl")


class Repository:
    """A repository with committed memory, and what was acknowledged since."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.memory = Workspace.open(path, environ={})
        self.told: list[str] = []
        self.git("init", "-qb", "main")
        for name, value in (("user.name", "a"), ("user.email", "a@b"), ("gc.auto", "0")):
            self.git("config", name, value)
        self.tell("Goes.")
        self.memory.forget([self.memory.entries()[0].id])
        self.commit("begin")

    def git(self, *words: str) -> int:
        return subprocess.run(["git", "-C", self.path, *words], check=False, capture_output=True).returncode

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def tell(self, text: str, **more: str) -> None:
        self.memory.remember(text, **more)  # type: ignore[arg-type]
        self.told.append(text)

    def lost(self) -> list[str]:
        """Return what is neither in a document nor named as what can come back."""
        known = [entry.text for entry in self.memory.entries()]
        known += [one.archived.taken.markdown for one in self.memory.restorable()]
        return [text for text in self.told if f"- {text}" not in known]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def reset(repo: Repository) -> None:
    repo.git("reset", "-q", "--hard")


def stash(repo: Repository) -> None:
    repo.git("stash", "-qu")


def stash_and_pop(repo: Repository) -> None:
    repo.git("stash", "-qu")
    repo.tell("told while it is stashed")
    repo.git("checkout", "-q", "--", ".")
    repo.git("clean", "-qfd")
    repo.git("stash", "pop", "-q")


def checkout_of_files(repo: Repository) -> None:
    repo.git("checkout", "-q", "HEAD", "--", str(DOCUMENT), str(LEDGER))


def checkout_of_the_ledger(repo: Repository) -> None:
    repo.git("checkout", "-q", "HEAD", "--", str(LEDGER))


def clean(repo: Repository) -> None:
    repo.git("rm", "-rq", "--cached", ".scaffolding")
    repo.git("clean", "-qfd")


def rebase(repo: Repository) -> None:
    repo.commit("mine")
    repo.git("checkout", "-qb", "theirs", "HEAD~1")
    (repo.path / "other").touch()
    repo.commit("other")
    repo.git("checkout", "-q", "main")
    repo.git("rebase", "-q", "theirs")


def merge_that_is_aborted(repo: Repository) -> None:
    repo.commit("before")
    repo.git("checkout", "-qB", "theirs")
    repo.tell("theirs")
    repo.commit("theirs")
    repo.git("checkout", "-q", "main")
    repo.tell("mine")
    repo.commit("mine")
    repo.git("merge", "-q", "theirs")
    repo.git("merge", "--abort")
    repo.told.remove("theirs")  # it stands on its branch


WAYS = [reset, stash, stash_and_pop, checkout_of_files, checkout_of_the_ledger, clean, rebase, merge_that_is_aborted]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_lost_however_often_git_takes_it_back(repository, way: Callable[[Repository], None]):
    for number, between in enumerate(("a write", "nothing", "a watcher", "nothing")):
        repository.tell(f"fact {number}, told by a writer")
        if number == 1:
            repository.memory.forget([repository.memory.entries()[0].id])
        way(repository)
        if between == "a write":
            repository.tell(f"told after it, {number}")
        elif between == "a watcher":
            repository.memory.sync(apply=True)
        assert repository.lost() == []


@pytest.mark.slow
def test_what_git_takes_back_is_named_in_the_document_of_an_agent_too(repository):
    repository.tell("known to dev", tier=Tier.AGENT, agent="Dev")
    repository.git("clean", "-qfd")
    assert repository.lost() == []
    (one,) = [one for one in repository.memory.restorable() if one.target.owner]
    repository.memory.restore([one])
    assert [entry.text for entry in repository.memory.entries() if entry.target.owner] == ["- known to dev"]


def test_what_came_back_with_an_earlier_version_is_not_called_a_deletion_by_hand(repository):
    repository.tell("uncommitted")
    reset(repository)
    (_, one) = repository.memory.restorable()
    assert one.archived.reason == transaction.TAKEN_BACK
    repository.memory.sync(apply=True)
    (_, one) = repository.memory.restorable()
    assert one.archived.reason == transaction.TAKEN_BACK


def test_a_ledger_line_that_git_took_back_keeps_its_reason(repository):
    repository.tell("uncommitted")
    repository.memory.forget([repository.memory.entries()[0].id], reason="no longer true")
    reset(repository)
    assert [one.archived.reason for one in repository.memory.restorable()] == ["forgotten", "no longer true"]
    (synced,) = repository.memory.sync(apply=True)
    assert synced.noted_again == ("- uncommitted",)
    assert repository.memory.sync(apply=True) == []
    assert [one.archived.reason for one in repository.memory.restorable()] == ["forgotten", "no longer true"]


@pytest.mark.slow
def test_what_left_on_another_branch_is_not_noted_here(repository):
    repository.git("branch", "other")
    repository.tell("told on main")
    repository.memory.forget([repository.memory.entries()[0].id])
    repository.commit("on main")
    repository.git("checkout", "-q", "other")
    assert repository.memory.sync(apply=True) == []
    repository.memory.remember("told on the other")
    repository.memory.remember("told there again")
    assert [one.archived.taken.markdown for one in repository.memory.restorable()] == ["- Goes."]


def test_what_is_redacted_is_not_owed(repository):
    repository.tell("uncommitted")
    (one,) = repository.memory.entries()
    repository.memory.forget([one.id])
    repository.memory.redact([one.id])
    reset(repository)
    repository.told.clear()
    assert [one.archived.taken.markdown for one in repository.memory.restorable()] == ["- Goes."]
