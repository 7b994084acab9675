"""Keeping memory current through `Workspace`: nothing goes but what was shown, and nothing that went is lost."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from agent_memory_protocol.answers import About, StoredEntry
from agent_memory_protocol.change import backups
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import (
    AccessDenied,
    AgentMemoryError,
    DamagedFile,
    InvalidArgument,
    LimitExceeded,
    RefusedText,
    StorageError,
)
from agent_memory_protocol.layout import Target, Tier, parse_target
from agent_memory_protocol.project.access import Actor
from agent_memory_protocol.verbs.prune import PlanOutdated
from agent_memory_protocol.verbs.upkeep_answers import Pruning, Redacted
from agent_memory_protocol.workspace import Workspace

SHARED = Target(Tier.SHARED)
DEV = Target(Tier.AGENT, "dev")
CHAT = Target(Tier.CONVERSATION, "c1")
TODAY = date(2026, 6, 15)
AGE = timedelta(days=90)
SECRET = "the moon key is under the third stone"

PAGE = """\
# T
<!-- c -->

- lasting
- [2026-01-01] old one
- [2026-01-02] old two
- [2026-06-01] recent

## Section

- [2026-01-03] old three
- stays
- firm
"""


class Project:
    """A project folder with a workspace on it, as a person sees it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.workspace = Workspace.open(path, environ={"HOME": str(path)})

    def file(self, target: Target = SHARED) -> Path:
        return self.path.joinpath(*target.parts)

    def ledger(self, target: Target = SHARED) -> Path:
        return self.file(target).with_name("ledger.jsonl")

    def write(self, text: str | bytes, target: Target = SHARED) -> None:
        """Write a document by hand, as an editor would."""
        self.file(target).parent.mkdir(parents=True, exist_ok=True)
        self.file(target).write_bytes(text.encode() if isinstance(text, str) else text)

    def text(self, target: Target = SHARED) -> str:
        return self.file(target).read_bytes().decode()

    def id_of(self, word: str, target: Target = SHARED) -> str:
        (found,) = [entry.id for entry in self.workspace.entries(targets=[target]) if word in entry.text]
        return found

    def forget(self, *words: str, target: Target = SHARED, actor: Actor | None = None) -> str:
        """Forget the entries with these words; return the id of the command."""
        gone = self.workspace.forget([self.id_of(word, target) for word in words], actor=actor)
        return gone[0].run

    def prune(self, *targets: Target, **options: object) -> list[str]:
        """Plan and prune at once; return the texts that went."""
        force = bool(options.pop("force", False))
        plans = self.workspace.plan_pruning(targets or None, today=TODAY, **options)  # type: ignore[arg-type]
        return [removed.text for removed in self.workspace.apply_pruning(plans, force=force)]

    def restorable(self, **options: object) -> list[str]:
        return [one.archived.taken.markdown for one in self.workspace.restorable(**options)]  # type: ignore[arg-type]

    def restore(self, *words: str, **options: object) -> list[str]:
        """Restore what is chosen, or what has one of these words; return the texts that came back."""
        chosen = self.workspace.restorable(**options)  # type: ignore[arg-type]
        if words:
            chosen = [one for one in chosen if any(word in one.archived.taken.markdown for word in words)]
        return [entry.text for entry in self.workspace.restore(chosen).entries]

    def files(self) -> dict[str, bytes]:
        """Return every file below the root but those that keep writers apart, and the local folder out of git."""
        found = [path for path in self.path.rglob("*") if path.is_file() and path.parent.name not in ("locks", ".amp")]
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in found}

    def files_with(self, text: str) -> list[str]:
        """Name every file below the root whose bytes hold a text, spelled plainly or as JSON spells it."""
        found = [path for path in self.path.rglob("*") if path.is_file()]
        return [path.relative_to(self.path).as_posix() for path in found if text.encode() in path.read_bytes()]

    def limits(self, lines: int) -> None:
        self.path.joinpath(".scaffolding", "amp.toml").write_text(f"[limits]\nmax_lines = {lines}\n")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.write(PAGE)
    return made


def refuses(error: type[AgentMemoryError], call: Callable[[], object], *words: str) -> None:
    """Check that a call refuses in one line with these words."""
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


# -- forget ------------------------------------------------------------------------------------------------------------


def test_what_is_forgotten_leaves_the_document_and_comes_back_where_it_was(project):
    (gone,) = project.workspace.forget([project.id_of("old one")], reason="no longer true since 2.0")
    assert (gone.target, gone.text) == (SHARED, "- [2026-01-01] old one")
    assert project.text() == PAGE.replace("- [2026-01-01] old one\n", "")
    (one,) = project.workspace.restorable()
    assert (one.archived.reason, one.archived.run) == ("no longer true since 2.0", gone.run)
    assert project.restore() == ["- [2026-01-01] old one"]
    assert project.text() == PAGE


def test_entries_of_several_documents_are_forgotten_by_one_command(project):
    project.write("# D\n\n- mine\n", DEV)
    run = project.forget("lasting", "old one")
    gone = project.workspace.forget([project.id_of("old two"), project.id_of("mine", DEV), project.id_of("stays")])
    assert {one.run for one in gone} != {run}
    assert len({one.run for one in gone}) == 1
    assert sorted(project.restorable(last=True)) == ["- [2026-01-02] old two", "- mine", "- stays"]


def test_forgetting_the_same_id_twice_in_one_command_forgets_it_once(project):
    one = project.id_of("lasting")
    assert len(project.workspace.forget([one, one])) == 1
    assert project.restorable() == ["- lasting"]


@pytest.mark.parametrize("ids", [[], ["0" * 12], [""], ["-"], ["../x"], ["lasting"]], ids=str)
def test_forgetting_what_is_not_there_changes_nothing(project, ids):
    before = project.files()
    refuses(InvalidArgument, lambda: project.workspace.forget(ids), "`amp list` shows")
    refuses(
        InvalidArgument, lambda: project.workspace.forget([project.id_of("lasting"), "0" * 12]), "there is no entry"
    )
    assert project.files() == before


def two_alike(project):
    """Write a page of two entries whose ids begin with the same four digits; return these entries."""
    project.write("# T\n\n" + "".join(f"- fact {number}\n" for number in range(1000)))
    seen: dict[str, StoredEntry] = {}
    for entry in project.workspace.entries():
        other = seen.setdefault(entry.id[:4], entry)
        if other is not entry:
            project.write(f"# T\n\n- lasting\n{other.text}\n{entry.text}\n")
            return other, entry
    raise AssertionError("no two of a thousand ids begin alike")


def test_the_beginning_of_an_id_is_enough_as_long_as_it_is_one(project):
    one = project.id_of("lasting")
    for start in (one[:4], one[:7].upper()):
        (gone,) = project.workspace.forget([start])
        assert gone.id == one
        assert [found.archived.taken.id for found in project.workspace.restorable([start])] == [one]
        project.workspace.restore(project.workspace.restorable([start]))
        assert project.text() == PAGE
    edited = project.workspace.edit(one[:5], "lasting, and more")
    assert (edited.old_id, project.text()) == (one, PAGE.replace("- lasting\n", "- lasting, and more\n"))
    # The old text stands in the ledger only, and can be named there.
    (done,) = project.workspace.redact([one[:4]])
    assert (done.id, done.was_in_document) == (one, False)


def test_the_beginning_of_several_ids_names_them_and_changes_nothing(project):
    first, second = two_alike(project)
    before = project.files()
    start = first.id[:4]
    named = " and ".join(sorted(f"{one.id} ({one.text})" for one in (first, second))).replace(" and ", ", ")
    told = f"several begin with {start}: {named}; give more of the id"
    for call in (
        lambda: project.workspace.forget([project.id_of("lasting"), start]),
        lambda: project.workspace.edit(start, "x"),
        lambda: project.workspace.redact([start]),
    ):
        refuses(InvalidArgument, call, told)
    assert project.files() == before
    project.workspace.forget([first.id, second.id])
    refuses(InvalidArgument, lambda: project.workspace.restorable([start]), told)
    assert [one.archived.taken.id for one in project.workspace.restorable([first.id])] == [first.id]


@pytest.mark.parametrize("length", [1, 3])
def test_fewer_than_four_characters_are_no_beginning_of_an_id(project, length):
    before = project.files()
    start = project.id_of("lasting")[:length]
    told = "is too short for the beginning of an id; give at least 4 characters"
    refuses(InvalidArgument, lambda: project.workspace.forget([start]), told)
    refuses(InvalidArgument, lambda: project.workspace.redact([start]), told)
    assert project.files() == before


def test_of_equal_entries_the_whole_id_means_the_first(project):
    project.write("# T\n\n- same\n- same\n")
    first, second = [entry.id for entry in project.workspace.entries()]
    refuses(InvalidArgument, lambda: project.workspace.forget([first[:6]]), f"{first} (- same), {second} (- same)")
    assert [one.id for one in project.workspace.forget([first])] == [first]


def test_a_beginning_is_not_taken_where_what_cannot_be_read_may_have_it_too(project):
    one = project.id_of("lasting")
    project.write(b"# D\n\n- caf\xe9\n", DEV)
    refuses(StorageError, lambda: project.workspace.forget([one[:6]]), "may be in what cannot be read")
    assert [gone.id for gone in project.workspace.forget([one])] == [one]


def test_nobody_is_told_of_an_id_that_another_s_note_has(project):
    project.workspace.remember("a secret of dev", agent="dev")
    (entry,) = [entry for entry in project.workspace.entries() if entry.target == DEV]
    told = f"there is no entry {entry.id[:6]}"
    refuses(InvalidArgument, lambda: project.workspace.forget([entry.id[:6]], actor=Actor("tester")), told)


def test_one_damaged_document_does_not_keep_another_from_being_changed(project):
    project.write(b"# D\n\n- caf\xe9\n", DEV)
    project.write("# C\n\n- x\n", CHAT)
    project.ledger(CHAT).write_text('{"format":"agent-memory/9.0"}\n')
    project.forget("lasting")
    project.workspace.edit(project.id_of("stays"), "stays a while")
    assert project.restore("lasting") == ["- lasting"]
    project.workspace.redact([project.id_of("old two")])
    assert "old two" not in project.text()
    refuses(StorageError, lambda: project.workspace.forget(["0" * 12]), "may be in what cannot", "byte 0xE9")
    refuses(StorageError, lambda: project.workspace.restorable(["0" * 12]), "may be in what cannot", "agent-memory/9.0")
    refuses(StorageError, lambda: project.workspace.restorable(last=True), "agent-memory/9.0")


@pytest.mark.requirement("S4-12", "S4-17", "S4-54")
def test_agents_may_change_only_what_they_may_write(project):
    project.write("# D\n\n- [2026-01-01] mine\n- b\n", DEV)
    project.write("# C\n\n- [2026-01-01] ours\n- b\n", CHAT)
    mine, ours, shared = project.id_of("mine", DEV), project.id_of("ours", CHAT), project.id_of("old one")
    plans = project.workspace.plan_pruning([DEV, CHAT, SHARED], today=TODAY)
    before = project.files()
    strangers = [
        (Actor("tester"), mine),
        (Actor("architect"), mine),
        (Actor("dev", "c2"), ours),
        (Actor("reviewer"), shared),
        (Actor("reviewer", "c1"), ours),
    ]
    for actor, entry_id in strangers:
        for call in (
            lambda actor=actor, one=entry_id: project.workspace.forget([one], actor=actor),
            lambda actor=actor, one=entry_id: project.workspace.edit(one, "changed", actor=actor),
            lambda actor=actor, one=entry_id: project.workspace.redact([one], actor=actor),
        ):
            with pytest.raises((AccessDenied, InvalidArgument)):
                call()
        with pytest.raises(AccessDenied):
            project.workspace.apply_pruning(plans, actor=actor, force=True)
    assert project.files() == before
    project.workspace.forget([mine], actor=Actor("dev"))
    project.workspace.forget([ours], actor=Actor("tester", "c1"))
    project.workspace.forget([shared], actor=Actor("tester"))
    for actor, seen in [
        (Actor("tester"), ["old one"]),
        (Actor("dev"), ["mine", "old one"]),
        (Actor("tester", "c1"), ["ours", "old one"]),
    ]:
        assert sorted(text.split("] ")[1] for text in project.restorable(actor=actor)) == sorted(seen)
    everything = project.workspace.restorable()
    for actor in (Actor("tester"), Actor("architect"), Actor("reviewer", "c1")):
        with pytest.raises(AccessDenied):
            project.workspace.restore(everything, actor=actor)


# -- edit --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "text", "line"),
    [
        ("old one", "a new text", "- [2026-01-01] a new text"),
        ("old one", "[2026-05-05] a new text", "- [2026-05-05] a new text"),
        ("old one", "2026-05-05: a new text", "- [2026-05-05] a new text"),
        ("lasting", "a new text", "- a new text"),
        ("lasting", "- a new text", "- a new text"),
        ("lasting", "[2026-05-05] a new text", "- [2026-05-05] a new text"),
    ],
)
def test_an_edit_keeps_the_date_unless_the_text_begins_with_one(project, word, text, line):
    old = project.id_of(word)
    was = next(entry.text for entry in project.workspace.entries() if entry.id == old)
    done = project.workspace.edit(old, text)
    assert done.entry.text == line
    assert (done.old_id, done.entry.id) == (old, project.id_of("a new text"))
    assert project.text() == PAGE.replace(was, line)
    (archived,) = project.workspace.restorable()
    assert (archived.archived.taken.markdown, archived.archived.reason) == (
        was,
        f"edited: {done.entry.id} replaces it",
    )


def test_another_date_of_a_date_line_is_the_date_of_what_it_dates(project):
    moved = "\n## Moved\n\n**Date:** {}\n**Status:** replaced\n\n- Mail goes through SES.\n"
    project.write(PAGE + moved.format("2026-01-10"))
    done = project.workspace.edit(project.id_of("replaced"), dated=date(2026, 6, 1))
    assert project.text() == PAGE + moved.format("2026-06-01")
    assert (done.entry.text, done.entry.date) == ("**Date:** 2026-06-01\n**Status:** replaced", date(2026, 6, 1))
    dated = {entry.text: entry.date for entry in project.workspace.entries()}
    assert dated["- Mail goes through SES."] == date(2026, 6, 1)
    (archived,) = project.workspace.restorable()
    assert archived.archived.reason == f"edited: {done.entry.id} replaces it"


@pytest.mark.parametrize("text", ["stays", "- stays", "  stays ", "[2026-06-06] stays"])
def test_an_edit_to_a_text_that_is_there_already_is_refused(project, text):
    before = project.files()
    there = project.id_of("stays")
    refuses(
        InvalidArgument, lambda: project.workspace.edit(project.id_of("lasting"), text), "already has an entry", there
    )
    assert project.files() == before


@pytest.mark.parametrize("text", ["", " ", "\n", "a\u200bb", "[2026-02-30] x", "x" * 26_000, "<!-- hidden -->"])
def test_an_edit_to_what_cannot_be_remembered_changes_nothing(project, text):
    before = project.files()
    refuses(RefusedText, lambda: project.workspace.edit(project.id_of("lasting"), text))
    refuses(InvalidArgument, lambda: project.workspace.edit("0" * 12, "x"), "there is no entry 000000000000")
    assert project.files() == before


@pytest.mark.requirement("S4-59")
def test_an_edit_keeps_the_limit(project):
    project.limits(13)
    before = project.files()
    one = project.id_of("lasting")
    refuses(
        LimitExceeded, lambda: project.workspace.edit(one, "two\nlines"), "14 lines, 13 are allowed", "amp prune shared"
    )
    assert project.files() == before
    project.workspace.edit(one, "one line")


def test_an_edit_to_the_same_text_changes_nothing_but_its_spelling(project):
    done = project.workspace.edit(project.id_of("old one"), "old   one")
    assert done.entry.id == done.old_id
    assert "- [2026-01-01] old   one\n" in project.text()
    assert project.restorable() == []


def test_what_was_said_of_an_entry_is_said_of_what_it_is_edited_to(project):
    project.workspace.remember("the queue is slow", about=About("https://example.com", "lesson", 0.4, ("ops",)))
    project.workspace.edit(project.id_of("queue"), "the queue was slow")
    project.forget("queue was")
    line = project.ledger().read_text().splitlines()[-2]
    for part in ('"kind":"lesson"', '"source":"https://example.com"', '"confidence":0.4', '"tags":["ops"]'):
        assert part in line


# -- prune -------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-63")
def test_the_plan_that_is_shown_is_what_is_done_and_a_second_run_does_nothing(project):
    """B68."""
    before = project.files()
    (plan,) = project.workspace.plan_pruning(today=TODAY)
    assert project.files() == before
    shown = [one.text for one in plan.removals]
    assert shown == ["- [2026-01-01] old one", "- [2026-01-02] old two", "- [2026-01-03] old three"]
    gone = project.workspace.apply_pruning([plan])
    assert [one.text for one in gone] == shown
    assert len({one.run for one in gone}) == 1
    assert project.text() == "# T\n<!-- c -->\n\n- lasting\n- [2026-06-01] recent\n\n## Section\n\n- stays\n- firm\n"
    after = project.files()
    assert project.prune() == []
    assert project.files() == after
    assert project.restore() == shown
    assert project.text() == PAGE
    assert {one.archived.reason for one in project.workspace.restorable()} == set()


def test_the_age_comes_from_the_settings_unless_it_is_given(project):
    def planned(**options: object) -> int:
        return sum(len(plan.removals) for plan in project.workspace.plan_pruning(today=TODAY, **options))

    assert planned() == 3
    project.path.joinpath(".scaffolding", "amp.toml").write_text('[prune]\nolder_than = "24w"\n')
    assert planned() == 0
    assert planned(older_than=timedelta(days=10)) == 4


@pytest.mark.requirement("S4-63")
def test_dates_are_local_and_what_is_stamped_today_is_not_pruned_today(project):
    project.workspace.remember("stamped", dated=True, today=TODAY)
    for age in (timedelta(0), timedelta(days=-1), timedelta(days=1)):
        plans = project.workspace.plan_pruning(today=TODAY, older_than=age)
        assert "- [2026-06-15] stamped" not in [one.text for plan in plans for one in plan.removals]
    plans = project.workspace.plan_pruning(today=TODAY + timedelta(days=1), older_than=timedelta(0))
    assert "- [2026-06-15] stamped" in [one.text for plan in plans for one in plan.removals]


def test_only_the_named_documents_are_pruned(project):
    project.write("# D\n\n- [2026-01-01] mine\n- b\n", DEV)
    project.write("# C\n\n- [2026-01-01] ours\n- b\n", CHAT)
    assert project.prune(DEV) == ["- [2026-01-01] mine"]
    assert project.prune(parse_target("conversation:c1"), CHAT) == ["- [2026-01-01] ours"]
    assert project.text() == PAGE
    assert project.prune(Target(Tier.AGENT, "nobody")) == []
    assert len(project.prune()) == 3


def test_all_documents_are_pruned_by_one_command_and_come_back_by_one(project):
    project.write("# D\n\n- [2026-01-01] mine\n- b\n", DEV)
    project.write("# C\n\n- [2026-01-01] ours\n- b\n", CHAT)
    project.forget("lasting")
    gone = project.prune()
    assert len(gone) == 5
    assert sorted(project.restorable(last=True)) == sorted(gone)
    assert sorted(project.restore(last=True)) == sorted(gone)
    assert project.restorable(last=True) == []
    assert project.text() == PAGE.replace("- lasting\n", "")


def test_a_document_that_cannot_be_read_is_reported_and_the_others_are_pruned(project):
    project.write(b"# D\n\n- [2026-01-01] caf\xe9\n", DEV)
    project.write("# C\n\n<<<<<<< a\n- [2026-01-01] x\n=======\n- y\n>>>>>>> b\n", CHAT)
    plans = project.workspace.plan_pruning([DEV, SHARED], today=TODAY)
    assert [bool(plan.problem) for plan in plans] == [True, False]
    assert "byte 0xE9" in plans[0].problem
    assert len(project.workspace.apply_pruning(plans)) == 3
    before = project.files()
    refuses(DamagedFile, lambda: project.prune(CHAT), "unresolved merge conflict")
    assert project.files() == before


@pytest.mark.parametrize("change", ["- by hand\n", "", "# another page\n\n- [2026-01-01] old one\n"])
def test_a_document_that_changed_after_the_plan_is_left_alone_and_the_others_are_pruned(project, change):
    project.write("# D\n\n- [2026-01-01] mine\n- b\n", DEV)
    plans = project.workspace.plan_pruning([SHARED, DEV], today=TODAY)
    project.write(PAGE + change if change.startswith("-") else change or PAGE.replace("lasting", "changed"))
    now = project.text()
    with pytest.raises(PlanOutdated, match="was changed after the plan was made; plan again") as caught:
        project.workspace.apply_pruning(plans)
    assert caught.value.targets == (SHARED,)
    assert [one.text for one in caught.value.removed] == ["- [2026-01-01] mine"]
    assert project.text() == now
    assert not project.ledger().exists()
    again = project.workspace.plan_pruning(caught.value.targets, today=TODAY)
    project.workspace.apply_pruning(again, force=True)
    assert project.restorable(actor=Actor())


@pytest.mark.slow
def test_what_an_editor_overwrote_goes_back_first_and_then_the_plan_is_made_again(project):
    project.workspace.remember("just told")
    project.write(PAGE + "- by an editor\n")
    plans = project.workspace.plan_pruning(today=TODAY)
    with pytest.raises(PlanOutdated):
        project.workspace.apply_pruning(plans)
    assert "- just told\n" in project.text()
    assert len(project.prune()) == 3
    assert "- just told\n" in project.text()


def test_a_document_that_changes_all_the_time_is_planned_again_under_its_lock(project):
    plans = project.workspace.plan_pruning([SHARED], today=TODAY)
    project.write(PAGE + "- [2026-01-04] told meanwhile\n")
    again: list[Pruning] = []
    gone = project.workspace.apply_pruning(plans, again=again.append)
    assert [[one.text for one in plan.removals] for plan in again] == [[one.text for one in gone]]
    assert "- [2026-01-04] told meanwhile" in [one.text for one in gone]
    assert not any(one.text in project.text() for one in gone)
    assert project.workspace.apply_pruning(plans, again=again.append) == []


def test_a_plan_for_some_entries_takes_no_others_from_a_document_that_has_changed(project):
    (plan,) = project.workspace.plan_pruning([SHARED], today=TODAY)
    chosen = plan.only([plan.removals[0].id])
    project.write(PAGE + "- [2026-01-04] told meanwhile\n")
    gone = project.workspace.apply_pruning([chosen], again=lambda _: None)
    assert [one.id for one in gone] == [plan.removals[0].id]
    assert project.text() == PAGE.replace(f"{plan.removals[0].text}\n", "") + "- [2026-01-04] told meanwhile\n"


def test_a_document_of_which_most_would_go_by_now_is_held_back(project):
    plans = project.workspace.plan_pruning([SHARED], today=TODAY)
    page = "# T\n\n- stays\n" + "".join(f"- [2026-01-0{day}] told on day {day}\n" for day in range(1, 8))
    project.write(page)
    assert project.workspace.apply_pruning(plans, again=lambda _: None) == []
    assert project.text() == page
    assert "shared was not pruned: 7 of 8 entries would go" in project.workspace.notices[-1]


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_more_than_half_needs_force(project, kept):
    """B08."""
    project.write(
        "# T\n\n- [2026-01-01] a\n- [2026-01-02] b\n" + "".join(f"- stays {number}\n" for number in range(kept))
    )
    project.write("# D\n\n- [2026-01-01] mine\n- b\n", DEV)
    if kept < 2:
        before = project.text()
        assert len(project.prune()) == 1  # of the other document
        assert project.text() == before
        assert f"shared was not pruned: 2 of {2 + kept} entries would go" in project.workspace.notices[-1]
        assert len(project.prune(force=True)) == 2
    else:
        assert len(project.prune()) == 3


def test_to_the_limit_the_oldest_go_and_what_cannot_fit_is_said(project):
    project.limits(12)
    (plan,) = project.workspace.plan_pruning(today=TODAY, to_limit=True)
    assert [one.text for one in plan.removals] == ["- [2026-01-01] old one"]
    assert plan.still_over == (0, 0)
    project.limits(7)
    (plan,) = project.workspace.plan_pruning(today=TODAY, to_limit=True)
    assert len(plan.removals) == 4
    assert plan.still_over == (2, 0)
    project.workspace.apply_pruning([plan], force=True)
    assert project.prune(to_limit=True) == []


def test_planning_over_many_documents_tells_how_far_it_is(project):
    for number in range(5):
        project.write("# D\n\n- [2026-01-01] mine\n- b\n", Target(Tier.AGENT, f"a{number}"))
    told: list[tuple[int, int]] = []
    plans = project.workspace.plan_pruning(today=TODAY, progress=lambda done, total: told.append((done, total)))
    assert told == [(number, 6) for number in range(1, 7)]
    told.clear()
    project.workspace.apply_pruning(plans, progress=lambda done, total: told.append((done, total)))
    assert told == [(number, 6) for number in range(1, 7)]


def test_reading_and_planning_never_change_a_file(project):
    """B67."""
    project.workspace.remember("just told")
    project.write(PAGE + "- by an editor\n")
    paths = [path for path in project.path.rglob("*") if path.is_file()]
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
    for _ in range(3):
        project.workspace.recall(Actor("dev", "c1"))
        project.workspace.plan_pruning(today=TODAY)
        project.workspace.restorable()
        project.workspace.sync()
        project.workspace.entries()
        project.workspace.status()
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths} == before
    assert sorted(path for path in project.path.rglob("*") if path.is_file()) == sorted(paths)


# -- restore -----------------------------------------------------------------------------------------------------------


def test_entries_are_restored_by_id_once(project):
    project.forget("old one", "old two")
    (one,) = [item for item in project.workspace.restorable() if "old one" in item.archived.taken.markdown]
    wanted = one.archived.taken.id
    chosen = project.workspace.restorable([wanted])
    assert [entry.id for entry in project.workspace.restore(chosen).entries] == [wanted]
    after = project.text()
    # The same answer as before, although it is there already.
    assert [entry.id for entry in project.workspace.restore(chosen).entries] == [wanted]
    assert project.workspace.notices[-1] == "1 entry was back already"
    assert project.text() == after
    refuses(InvalidArgument, lambda: project.workspace.restorable([wanted]), f"no ledger has {wanted}, or it is back")
    refuses(InvalidArgument, lambda: project.workspace.restorable(["0" * 12]), "no ledger has 000000000000")


def test_what_the_last_command_took_out_is_restored_once(project):
    project.forget("old one")
    project.forget("old two", "old three")
    assert project.restore(last=True) == ["- [2026-01-02] old two", "- [2026-01-03] old three"]
    after = project.text()
    for _ in range(2):
        assert project.restore(last=True) == []
    assert project.text() == after
    assert project.restorable() == ["- [2026-01-01] old one"]


def test_the_last_command_is_not_what_a_person_took_out_by_hand(project):
    project.workspace.remember("just told")
    project.workspace.remember("told later")
    project.forget("old one")
    project.write(project.text().replace("- stays\n", ""))
    project.forget("old two")
    assert project.restorable(last=True) == ["- [2026-01-02] old two"]
    assert project.restore(last=True) == ["- [2026-01-02] old two"]
    assert "- stays" not in project.text()
    assert "- stays" in project.restorable()


@pytest.mark.slow
@pytest.mark.parametrize("is_noted", [True, False], ids=["noted", "not-noted-yet"])
def test_where_no_command_took_anything_out_the_last_is_what_went_by_hand(project, is_noted):
    project.workspace.remember("just told")
    project.file().unlink()
    if is_noted:
        project.workspace.sync(apply=True)
    assert len(project.restorable(last=True)) == len(project.restorable()) > 5
    project.restore(last=True)
    assert "- lasting" in project.text()


@pytest.mark.parametrize(("day", "count"), [("2026-01-01", 2), ("2100-01-01", 0)])
def test_what_was_taken_out_since_a_day_is_restored(project, day, count):
    project.forget("old one")
    project.forget("old two")
    assert len(project.restorable(since=date.fromisoformat(day))) == count


def test_a_heading_that_went_comes_back_with_the_first_entry_that_does(project):
    project.forget("old three", "stays", "firm")
    assert "## Section" not in project.text()
    assert project.restore("stays") == ["- stays"]
    assert project.text().endswith("- [2026-06-01] recent\n\n## Section\n\n- stays\n")
    project.restore()
    assert project.text() == PAGE


def test_one_of_many_comes_back_between_those_that_stayed(project):
    project.write("# T\n\n" + "".join(f"- [2026-01-{day:02}] fact {day}\n" for day in range(1, 21)) + "- end\n")
    project.prune(force=True)
    assert project.text() == "# T\n\n- end\n"
    for day in (7, 3, 15):
        project.restore(f"fact {day}")
    assert [line[15:] for line in project.text().splitlines()[2:]] == ["fact 3", "fact 7", "fact 15", ""]


@pytest.mark.requirement("S4-59")
def test_restoring_keeps_the_limit_and_says_what_did_not_come_back(project):
    project.write("# D\n\n- mine\n", DEV)
    project.workspace.forget([project.id_of("lasting"), project.id_of("mine", DEV)])
    project.limits(12)
    before = project.text()
    project.write(before + "- more\n")
    restored = project.workspace.restore(project.workspace.restorable())
    assert [entry.text for entry in restored.entries] == ["- mine"]
    (problem,) = restored.problems
    assert "would have 14 lines, 12 are allowed" in problem
    assert "--make-room" not in problem
    assert project.text() == before + "- more\n"


def test_an_entry_comes_back_into_a_document_that_was_deleted(project):
    project.forget("old three")
    project.file().unlink()
    assert project.restore("old three") == ["- [2026-01-03] old three"]
    text = project.text()
    assert text.startswith("# Shared Knowledge\n<!-- ")
    assert text.endswith("\n\n## Section\n\n- [2026-01-03] old three\n")


def test_prose_that_came_back_beside_other_prose_is_said_to_be_back_and_is_not_doubled(project):
    project.write("# T\n\nfirst\n\n- between\n\nlast\n")
    project.forget("first", "between")
    (entry,) = project.workspace.restore(
        [one for one in project.workspace.restorable() if "first" in one.archived.taken.markdown]
    ).entries
    assert entry.text == "first\n\nlast"
    after = project.text()
    project.restore("first")
    assert project.text() == after
    project.restore("between")
    assert project.text() == "# T\n\nfirst\n\n- between\n\nlast\n"


def test_what_cannot_stand_there_any_more_is_a_problem_and_the_rest_comes_back(project):
    project.write("# D\n\n## S\n\n- mine\n- b\n", DEV)
    project.workspace.forget([project.id_of("mine", DEV), project.id_of("lasting")])
    project.write("```\n# D\n\nnever closed\n", DEV)
    restored = project.workspace.restore(project.workspace.restorable())
    assert [entry.text for entry in restored.entries] == ["- lasting"]
    assert "cannot be restored to its old place; add it by hand" in restored.problems[0]


@pytest.mark.slow
def test_prose_that_something_keeps_apart_comes_and_goes_piece_by_piece(project):
    page = "# T\n\nfirst\n\n- between\n\nlast\n\n- end\n"
    project.write(page)
    project.forget("between")
    assert project.restorable() == ["- between"]
    # An editor that holds an older copy brings it back.
    project.write(page + "- by an editor\n")
    assert project.workspace.sync(apply=True) == []
    assert project.text() == page + "- by an editor\n"
    # What a person takes out of it is in the ledger like any other text.
    project.forget("between")
    project.write("# T\n\n- end\n- by an editor\n")
    project.workspace.remember("next")
    assert project.restorable() == ["- between", "first", "last"]


def test_a_ledger_that_cannot_be_read_hides_no_other(project):
    project.forget("lasting")
    project.write("# D\n\n- mine\n- b\n", DEV)
    project.ledger(DEV).write_text('{"format":"agent-memory/9.0"}\n')
    assert project.restorable() == ["- lasting"]
    assert any("agent-memory/9.0" in notice for notice in project.workspace.notices)
    project.ledger().unlink()
    shutil.rmtree(project.path / ".scaffolding" / ".amp")
    refuses(StorageError, project.workspace.restorable, "the format 'agent-memory/9.0' is unknown here")


def test_what_is_remembered_again_after_it_was_forgotten_is_there(project):
    """B27."""
    project.workspace.remember("Use pnpm")
    for _ in range(3):
        project.forget("pnpm")
        assert "pnpm" not in project.text()
        assert project.workspace.remember("Use pnpm").status == "added"
        assert "- Use pnpm\n" in project.text()
        assert project.restorable() == []
    assert "Use pnpm" in str(project.workspace.recall(Actor()))


# -- remember ----------------------------------------------------------------------------------------------------------


def test_room_is_made_by_archiving_the_oldest_dated_entries(project):
    project.limits(13)
    done = project.workspace.remember("new fact", make_room=True, today=TODAY)
    assert done.status == "added"
    assert any("archived 1 of the oldest dated entries" in note for note in done.notes)
    assert project.restorable(last=True) == ["- [2026-01-01] old one"]
    (one,) = project.workspace.restorable()
    assert one.archived.reason == "made room for a new entry"
    assert project.text() == PAGE.replace("- [2026-01-01] old one\n", "").replace("recent\n", "recent\n- new fact\n")


def test_room_is_made_for_entries_of_several_lines_and_never_from_undated_ones(project):
    project.limits(13)
    project.workspace.remember("new\nwith\nlines", make_room=True, today=TODAY)
    assert len(project.restorable()) == 3
    assert "- lasting\n" in project.text()
    assert "- stays\n" in project.text()
    before = project.files()
    refuses(
        LimitExceeded,
        lambda: project.workspace.remember("x\n" * 13, make_room=True, today=TODAY),
        "13 are allowed; nothing was changed",
    )
    assert project.files() == before


def test_no_room_is_made_where_there_is_enough_or_nothing_new(project):
    project.limits(14)
    assert project.workspace.remember("lasting", make_room=True).status == "kept"
    project.workspace.remember("new fact", make_room=True)
    assert project.workspace.remember("new fact", make_room=True).status == "kept"
    assert project.restorable() == []


def test_a_new_entry_that_is_the_oldest_does_not_make_room_for_itself(project):
    project.limits(13)
    project.workspace.remember("[2020-01-01] from long ago", make_room=True, today=TODAY)
    assert "- [2020-01-01] from long ago\n" in project.text()
    assert project.restorable() == ["- [2026-01-01] old one"]


def test_what_is_said_of_an_entry_survives_pruning_and_restoring(project):
    about = About("https://example.com/a", "lesson", 0.4, ("redis", "ops"))
    project.workspace.remember("[2026-01-05] the queue", about=about)
    for _ in range(2):
        project.prune()
        project.restore(last=True)
        assert "- [2026-01-05] the queue\n" in project.text()
    entries = [line for line in project.ledger().read_text().splitlines() if "the queue" in line]
    assert len(entries) == 3
    for line in entries:
        assert '"kind":"lesson"' in line
        assert '"tags":["redis","ops"]' in line
        assert '"source":"https://example.com/a"' in line
        assert '"confidence":0.4' in line


def test_what_is_said_of_an_entry_that_is_there_already_is_kept_and_told(project):
    before = project.workspace.documents()[0].data
    for about in (About(kind="lesson", tags=("a",)), About(confidence=0.2, tags=("b",))):
        done = project.workspace.remember("lasting", about=about)
        assert (done.status, done.notes) == ("kept", ("what you said about it is saved",))
    assert project.workspace.documents()[0].data == before
    (known,) = (one.about for one in project.workspace.entries() if one.id == done.entry.id)
    assert (known.kind, known.confidence, known.tags) == ("lesson", 0.2, ("a", "b"))
    files = project.files()
    for about in (About(), About(kind="lesson", tags=("b",))):
        assert project.workspace.remember("lasting", about=about).notes == ()
    assert project.files() == files


def test_a_repeat_with_other_marks_spaces_and_forms_is_the_same_entry(project):
    """B69."""
    project.workspace.remember("Café runs at noon")
    before = project.files()
    for text in (
        "Café runs at noon",
        "  Café  runs at   noon ",
        "* Café runs at noon",
        "Cafe\u0301 runs at noon",
        "+ Café runs at noon",
    ):
        assert project.workspace.remember(text).status == "kept"
    assert project.files() == before
    assert project.workspace.remember("Café runs at one").status == "added"


# -- sync --------------------------------------------------------------------------------------------------------------


def test_healing_is_shown_before_it_is_done_and_done_once(project):
    project.workspace.remember("just told")
    project.write(PAGE.replace("- stays\n", "") + "- by an editor\n")
    before = project.files()
    (shown,) = project.workspace.sync()
    assert (shown.put_back, shown.removed_by_hand) == (("- just told",), ("- stays",))
    assert project.files() == before
    (done,) = project.workspace.sync(apply=True)
    assert done == shown
    assert "- just told\n" in project.text()
    assert project.restorable() == ["- stays"]
    after = project.files()
    assert project.workspace.sync(apply=True) == []
    assert project.workspace.remember("lasting").status == "kept"
    assert project.files() == after


def test_healing_one_document_that_cannot_be_read_keeps_no_other(project):
    project.workspace.remember("just told")
    project.workspace.remember("mine", agent="dev")
    project.write(PAGE + "- by an editor\n")
    project.write(b"# D\n\n- \xff\n", DEV)
    found = {one.target: one for one in project.workspace.sync(apply=True)}
    assert found[SHARED].put_back == ("- just told",)
    assert "byte 0xFF" in found[DEV].problem


@pytest.mark.requirement("S4-54")
def test_agents_heal_only_what_they_may_write(project):
    project.workspace.remember("just told")
    project.write(PAGE + "- by an editor\n")
    before = project.files()
    (answer,) = project.workspace.sync(actor=Actor("reviewer"), apply=True)
    assert "read-only" in answer.problem
    assert project.files() == before
    assert project.workspace.sync(actor=Actor("dev"), apply=True)[0].put_back == ("- just told",)


# -- redact ------------------------------------------------------------------------------------------------------------


def redact(project: Project, *words: str) -> list[Redacted]:
    return project.workspace.redact([project.id_of(word) for word in words])


@pytest.mark.requirement("S2-29")
def test_a_redacted_text_is_in_no_file_below_the_root(project):
    project.workspace.remember(SECRET, about=About("user", "fact", 1.0, ("x",)))
    project.workspace.remember("another")
    project.forget("another")
    assert len(project.files_with(SECRET)) == 3
    (done,) = redact(project, "moon key")
    assert project.files_with(SECRET) == []
    assert (done.target, done.was_in_document, done.ledger_lines, done.elsewhere) == (SHARED, True, 1, ())
    assert done.id.encode() in project.ledger().read_bytes()
    assert b'"deleted":true' in project.ledger().read_bytes()
    assert project.restorable() == ["- another"]
    assert project.text() == PAGE
    project.workspace.remember("goes on")
    assert project.files_with(SECRET) == []


@pytest.mark.slow
@pytest.mark.requirement("S2-29")
@pytest.mark.parametrize("how", ["entry", "entry that was forgotten", "note"])
def test_what_is_redacted_is_in_no_index_of_a_search_that_found_it(project, how):
    words = ["quxzanzibar"]
    if how == "note":
        note = project.workspace.new_note("feedback", "it", description="About it", why="quxzanzibar", how="So.")
        assert project.workspace.search("quxzanzibar")
        project.workspace.remove_note(note.stem, redact=True)
    else:
        project.workspace.remember("quxzanzibar is the name of the vault")
        one = project.id_of("quxzanzibar")
        assert project.workspace.search("quxzanzibar")
        if how != "entry":
            project.workspace.forget([one])
        project.workspace.redact([one])
    words.append(words[0][::-1])  # as an index keeps the ends of words
    assert [project.files_with(word) for word in words] == [[], []]
    assert project.workspace.search("quxzanzibar") == []
    assert project.workspace.search("recent")
    assert [project.files_with(word) for word in words] == [[], []]


@pytest.mark.requirement("S2-29")
@pytest.mark.parametrize("how", ["entry", "note"])
def test_what_is_redacted_is_in_no_file_that_a_killed_writer_left_anywhere(project, how):
    project.workspace.remember(SECRET)
    note = project.workspace.new_note("feedback", "it", description=SECRET, why="For it.", how="So.")
    project.workspace.remember("theirs", tier=Tier.AGENT, agent="dev")
    if how == "note":
        redact(project, "moon key")
    else:
        project.workspace.remove_note(note.stem, redact=True)
    for folder in {one.parent for one in project.path.rglob("*") if one.is_file()}:
        (folder / ".X.md.0123456789abcdef.amp-tmp").write_text(SECRET)
    if how == "note":
        project.workspace.remove_note(note.stem, redact=True)
    else:
        redact(project, "moon key")
    assert project.files_with(SECRET) == []


@pytest.mark.requirement("S2-29")
def test_what_the_index_said_of_a_redacted_note_is_in_no_journal_and_no_backup(project):
    note = project.workspace.new_note("feedback", "it", description=SECRET, why="For it.", how="So.")
    project.workspace.index()
    with Root.open(str(project.path)) as root:
        backups.keep(root, "20260101T000000000000Z-00000000", {"shared": project.text()})
    assert len(project.files_with(SECRET)) > 2
    project.workspace.remove_note(note.stem, redact=True)
    assert project.files_with(SECRET) == []


@pytest.mark.requirement("S2-29")
def test_a_secret_that_is_edited_away_is_in_no_index_of_a_search(project):
    value = "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    project.write(PAGE + "- the token ghp" + f"_{value}\n")
    project.workspace.search("token")
    assert project.files_with(value.lower())
    project.workspace.edit(project.id_of(value), "the token is in the vault")
    assert project.files_with(value.lower()) == []


@pytest.mark.slow
@pytest.mark.requirement("S2-29")
@pytest.mark.parametrize("how", ["forgotten", "pruned", "by hand", "edited", "document deleted", "twice"])
def test_a_text_that_only_the_ledger_has_is_redacted_too(project, how):
    project.workspace.remember(f"[2026-01-05] {SECRET}")
    one = project.id_of("moon key")
    if how == "pruned":
        project.prune()
    elif how == "by hand":
        project.write(project.text().replace(f"- [2026-01-05] {SECRET}\n", ""))
        for text in ("next", "and next"):
            project.workspace.remember(text)
    elif how == "edited":
        project.workspace.edit(one, "where the key is")
    else:
        project.forget("moon key")
    if how == "twice":
        project.workspace.remember(f"[2026-01-05] {SECRET}")
        project.forget("moon key")
    if how == "document deleted":
        project.file().unlink()
    assert project.files_with(SECRET)
    (done,) = project.workspace.redact([one])
    assert not done.was_in_document
    assert project.files_with(SECRET) == []
    refuses(InvalidArgument, lambda: project.workspace.restorable([one]), "no ledger has")


@pytest.mark.requirement("S2-29")
def test_what_an_entry_was_edited_from_is_redacted_with_it(project):
    project.workspace.remember(f"{SECRET}, I think")
    project.workspace.edit(project.id_of("moon key"), SECRET)
    project.workspace.edit(project.id_of("moon key"), f"{SECRET}, for sure")
    project.forget("lasting")
    redact(project, "moon key")
    assert project.files_with("moon key") == []
    assert project.restorable() == ["- lasting"]


@pytest.mark.requirement("S2-29")
def test_what_a_person_edited_an_entry_from_by_hand_is_redacted_with_it(project):
    project.workspace.remember(f"{SECRET}, I think")
    project.write(project.text().replace("I think", "surely"))
    project.workspace.remember("next")
    assert project.restorable() == [f"- {SECRET}, I think"]
    redact(project, "moon key")
    assert project.files_with("moon key") == []


@pytest.mark.requirement("S2-29")
def test_equal_entries_are_redacted_together(project):
    project.write(PAGE + f"- {SECRET}\n\n## More\n\n* [2026-02-02] {SECRET}\n- {SECRET}\n")
    first, second, third = [entry.id for entry in project.workspace.entries() if "moon" in entry.text]
    project.workspace.forget([second])
    project.workspace.redact([first])
    assert project.files_with("moon key") == []
    assert project.text() == PAGE
    refuses(InvalidArgument, lambda: project.workspace.redact([third]), "there is no entry")


@pytest.mark.requirement("S2-29")
def test_where_the_same_text_still_stands_is_said(project):
    project.workspace.remember(SECRET)
    project.write(f"# D\n\n* [2026-01-01] {SECRET}, says Ada\n", DEV)
    project.write(f"# C\n\n- {SECRET}\n- b\n", CHAT)
    project.forget("moon key", target=CHAT)
    (done,) = redact(project, "moon key")
    assert done.elsewhere == (DEV.path, project.ledger(CHAT).relative_to(project.path).as_posix())
    # An agent is not told what it may not read.
    project.workspace.remember(SECRET, actor=Actor("tester"), tier=Tier.SHARED)
    (done,) = project.workspace.redact([project.id_of("moon key")], actor=Actor("tester"))
    assert done.elsewhere == ()


def test_a_document_that_cannot_be_read_does_not_hide_that_redacting_was_done(project):
    project.workspace.remember(SECRET)
    project.write(b"# D\n\n- \xff\n", DEV)
    (done,) = redact(project, "moon key")
    assert done.elsewhere == (f"{DEV.path}, perhaps: it cannot be read",)
    assert project.files_with(SECRET) == []


def test_redacting_leaves_everything_else_as_it_was(project):
    project.forget("old two")
    project.workspace.remember(SECRET)
    project.write(project.text().replace("\n", "\r\n"))
    lines = project.ledger().read_bytes().splitlines(keepends=True)
    redact(project, "moon key")
    assert project.text() == PAGE.replace("- [2026-01-02] old two\n", "").replace("\n", "\r\n")
    assert project.ledger().read_bytes().splitlines(keepends=True)[: len(lines)] == lines
    assert project.restore() == ["- [2026-01-02] old two"]


def test_nothing_is_redacted_where_one_of_the_ids_is_unknown(project):
    project.workspace.remember(SECRET)
    before = project.files()
    refuses(
        InvalidArgument, lambda: project.workspace.redact([project.id_of("moon key"), "0" * 12]), "there is no entry"
    )
    assert project.files() == before


# -- git ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("into", ["ours", "theirs"])
def test_ledgers_that_git_merged_bring_back_what_both_branches_took_out(project, into):
    """B78: with the attributes that `init` writes, in either direction of the merge."""

    def git(*words: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        subprocess.run(["git", *identity, *words], cwd=project.path, env=environ, check=True, capture_output=True)

    project.write("# T\n\n" + "".join(f"- entry {name}\n\nbetween\n\n" for name in "abcdef"))
    project.workspace.init()
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "start")
    for branch, words in (("ours", ["entry a", "entry b"]), ("theirs", ["entry e", "entry f", "entry a"])):
        git("checkout", "-b", branch, "main")
        for word in words if branch == "ours" else reversed(words):
            project.forget(word)
        if branch == "theirs":  # begun at another moment than the other branch's
            header, rest = project.ledger().read_text().split("\n", 1)
            project.ledger().write_text(header.replace('"created_at":"20', '"created_at":"19') + "\n" + rest)
        git("add", ".")
        git("commit", "-m", branch)
    other = {"ours": "theirs", "theirs": "ours"}[into]
    git("checkout", into)
    # The documents' own merge is not what is tried here.
    git("merge", "-X", "ours", "-m", "merged", other)
    data = project.ledger().read_bytes()
    assert data.count(b'"ledger":true') == 2
    assert b"<<<<<<<" not in data
    project.write("# T\n\nbetween\n")
    shutil.rmtree(project.path / ".scaffolding" / ".amp")
    assert sorted(set(project.restorable())) == ["- entry a", "- entry b", "- entry e", "- entry f"]
    assert len(project.restorable()) == 4
    project.forget("between")
    assert project.restorable(last=True) == ["between"]


# -- what a forged ledger brings ---------------------------------------------------------------------------------------

KEY = "ghp" + "_Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"


@pytest.mark.parametrize("place", ["markdown", "heading", "note"])
@pytest.mark.parametrize("text", ["\x1b[31mred", "an\u202eorder", f"the token {KEY}", "a\u200bb"])
def test_what_may_not_be_remembered_is_not_restored_from_a_ledger_that_anyone_wrote(project, place, text):
    project.forget("lasting")
    lines = [json.loads(line) for line in project.ledger().read_text().splitlines()]
    (entry,) = [one for one in lines if "place" in one]
    if place == "heading":
        entry["place"] = [entry["place"][0], f"## {text}"]
    elif place == "note":
        entry |= {"note": "project_x.md", "markdown": f"# N\n\n{text}\n"}
    else:
        entry["markdown"] = f"- {text}"
    project.ledger().write_text("".join(json.dumps(one) + "\n" for one in lines))
    before = project.text()
    restored = project.workspace.restore(project.workspace.restorable())
    assert (restored.entries, restored.notes) == ((), ())
    assert "stays where it is" in restored.problems[0]
    assert "\x1b" not in restored.problems[0]
    assert project.text() == before


@pytest.mark.parametrize(
    "name", ["../../outside.md", "KNOWLEDGE.md", ".hidden.md", "amp.toml", "..\\x.md", "/tmp/x.md"]
)
def test_a_forged_ledger_writes_no_file_that_is_no_note(project, name):
    project.forget("lasting")
    lines = [json.loads(line) for line in project.ledger().read_text().splitlines()]
    for one in lines:
        if "place" in one:
            one |= {"note": name, "markdown": "# N\n"}
    project.ledger().write_text("".join(json.dumps(one) + "\n" for one in lines))
    before = project.files()
    restored = project.workspace.restore(project.workspace.restorable())
    assert (restored.notes, len(restored.problems)) == ((), 1)
    assert project.files() == before
