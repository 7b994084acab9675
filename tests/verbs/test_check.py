"""`check` through the workspace: which files, which rules, what `--fix` keeps, and how the time grows."""

import os
import subprocess
from datetime import date

import pytest

from agent_memory_protocol import Actor
from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.lint.finding import RULES, Finding, Fix, select, unknown

TODAY = date(2026, 6, 1)
SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/dev/MEMORY.md"
HEAD = "# Shared Knowledge\n"


def write(workspace, path, text):
    file = workspace.path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def check(workspace, *rules, **kwargs):
    return workspace.check(select=rules, today=TODAY, **kwargs)


def places(found):
    return [(one.rule, one.path, one.line) for one in found]


# -- which rules and files ---------------------------------------------------------------------------------------------


def test_a_rule_or_its_group_is_chosen_or_left_out():
    assert select(["date-future"]) == ["date-future"]
    assert set(select(["date"])) == {one for one in RULES if one.startswith("date-")}
    assert select(["date"], ["date"]) == []
    assert set(select()) == {one.id for one in RULES.values() if one.on}
    assert "tier-prose" in select(["tier-prose"])
    assert unknown(["date", "dat", "secret", "tier-"]) == ["dat", "tier-"]


def test_every_rule_says_what_it_finds_and_is_of_a_known_kind():
    for rule in RULES.values():
        assert rule.about.endswith("."), rule.id
        assert rule.severity in ("error", "warning", "note"), rule.id
        assert set(rule.subject.split()) <= {"tier", "note", "index", "ledger", "store"}, rule.id


def test_a_project_without_memory_has_no_findings(workspace):
    assert workspace.check() == []
    assert list(workspace.path.iterdir()) == []


def test_paths_limit_what_is_checked(workspace):
    write(workspace, SHARED, "- a\n")
    write(workspace, AGENT, "- b\n")
    assert {one.path for one in check(workspace, "tier-header")} == {SHARED, AGENT}
    for path in (AGENT, os.path.dirname(AGENT), str(workspace.path / AGENT)):
        assert {one.path for one in check(workspace, "tier-header", paths=[path])} == {AGENT}
    assert {one.path for one in check(workspace, "tier-header", paths=[AGENT, SHARED])} == {SHARED, AGENT}
    with pytest.raises(InvalidArgument, match="does not exist"):
        check(workspace, paths=["nowhere"])


def test_a_path_is_no_beginning_of_another(workspace):
    write(workspace, AGENT, "- b\n")
    write(workspace, AGENT.replace("/dev/", "/developer/"), "- b\n")
    assert {one.path for one in check(workspace, "tier-header", paths=[os.path.dirname(AGENT)])} == {AGENT}


def test_what_an_agent_may_not_read_is_not_checked(workspace):
    write(workspace, AGENT, "- b\n")
    assert check(workspace, "tier-header", actor=Actor("other")) == []
    assert len(check(workspace, "tier-header", actor=Actor("dev"))) == 1
    assert len(check(workspace, "tier-header", actor=Actor("architect"))) == 1


def test_one_unreadable_file_does_not_hide_the_others(workspace):
    write(workspace, SHARED, b"# Shared\n\xff\n")
    write(workspace, AGENT, "- b\n")
    write(workspace, AGENT.replace("MEMORY", "feedback_x"), b"\xff")
    found = places(check(workspace, "unreadable", "tier-header"))
    assert {(rule, path) for rule, path, _ in found} == {
        ("unreadable", SHARED),
        ("tier-header", AGENT),
        ("unreadable", AGENT.replace("MEMORY", "feedback_x")),
    }


def test_checking_changes_nothing(workspace):
    file = write(workspace, SHARED, "- 2026-01-05: a\n- [2026-02-30] b")
    before = sorted((path, path.stat().st_mtime_ns) for path in workspace.path.rglob("*"))
    workspace.check(today=TODAY)
    assert sorted((path, path.stat().st_mtime_ns) for path in workspace.path.rglob("*")) == before
    assert file.read_bytes() == b"- 2026-01-05: a\n- [2026-02-30] b"


# -- fix ---------------------------------------------------------------------------------------------------------------

MESSY = (
    "\ufeff# Shared Knowledge\r\n\r\n- 2026-01-05: first  \r\n- second (2026-01-06)\r\n  - child\r\n"
    "- **2026-01-07** third\r\n- [Gone](feedback_gone.md) - the only copy\r\n- [2026-02-30] impossible\r\n- last"
)
FIXED = (
    "\ufeff# Shared Knowledge\r\n\r\n- [2026-01-05] first  \r\n- second ([2026-01-06])\r\n  - child\r\n"
    "- **[2026-01-07]** third\r\n- Gone (`feedback_gone.md`) - the only copy\r\n- [2026-02-30] impossible\r\n- last"
)


@pytest.mark.requirement("S4-60")
def test_fix_changes_only_what_it_says_and_loses_nothing(workspace):
    file = write(workspace, SHARED, MESSY)
    before = {entry.id: entry.date for entry in workspace.entries()}
    found = check(workspace)
    mended = workspace.fix(found)
    assert sorted({one.rule for one in mended}) == ["date-spelling", "index-dangling"]
    assert file.read_bytes().decode() == FIXED
    after = {entry.id: entry.date for entry in workspace.entries()}
    assert before.items() <= after.items()
    assert not [one for one in check(workspace) if one.fix]


def test_fix_twice_is_fix_once(workspace):
    file = write(workspace, SHARED, MESSY)
    workspace.fix(check(workspace))
    once = file.read_bytes(), file.stat().st_mtime_ns
    assert workspace.fix(check(workspace)) == []
    assert (file.read_bytes(), file.stat().st_mtime_ns) == once


def test_a_file_that_changed_since_is_not_fixed_by_line_number(workspace):
    file = write(workspace, SHARED, HEAD + "- 2026-01-05: a\n- b\n")
    found = check(workspace, "date-spelling")
    changed = HEAD + "- something else\n- 2026-01-05: a\n- b\n"
    file.write_text(changed)
    assert workspace.fix(found) == []
    assert file.read_text() == changed


@pytest.mark.parametrize(
    "text",
    ["2026-01-05: a", "2026-01-05: <a>", '2026-01-05: a "b"', "2026-01-05:a", "2026-01-05 - a", "2026-01-05 (a)"],
)
def test_a_respelled_date_never_hides_its_entry(workspace, text):
    """`[2026-01-05]: a` is a link definition: no entry, not recalled, seen by nobody."""
    write(workspace, SHARED, f"{HEAD}- {text}\n")
    (before,) = workspace.entries()
    workspace.fix(check(workspace, "date-spelling"))
    (after,) = workspace.entries()
    assert (after.id, after.date) == (before.id, before.date)
    assert "a" in str(workspace.recall(Actor())).partition(HEAD)[2].partition("</memory>")[0]


def test_a_fix_that_would_lose_something_is_left_out_and_the_others_are_made(workspace):
    file = write(workspace, SHARED, f"{HEAD}- 2026-01-05 a\n- keep me\n- 2026-01-06: b\n")
    found = check(workspace, "date-spelling")
    bad = Finding("date-spelling", "warning", SHARED, 3, "m", Fix(3, "- keep me", "- [2026-01-01]: x"))
    assert workspace.fix([*found, bad]) == found
    assert file.read_text() == f"{HEAD}- [2026-01-05] a\n- keep me\n- [2026-01-06] b\n"


def test_fix_of_another_agents_file_is_refused(workspace):
    file = write(workspace, AGENT, "# Dev Memory\n- 2026-01-05: a\n")
    found = check(workspace, "date-spelling")
    assert workspace.fix(found, actor=Actor("other")) == []
    assert file.read_text() == "# Dev Memory\n- 2026-01-05: a\n"


def test_only_a_fix_of_whole_lines_is_ever_offered(workspace):
    write(workspace, SHARED, MESSY)
    for one in check(workspace):
        assert one.fix is None or (one.fix.line, one.fix.before) == (one.line, MESSY.split("\r\n")[one.fix.line - 1])


# -- faults seen elsewhere ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_over"),
    [
        (HEAD + "- x\n" * 199, False),
        ((HEAD + "- x\n" * 199).rstrip("\n"), False),
        ((HEAD + "- x\n" * 199).replace("\n", "\r\n"), False),
        (HEAD + "- x\n" * 200, True),
        (HEAD + "<!-- a\nb\n-->\n" + "- x\n" * 196, False),
        (HEAD + "<!-- a\nb\n-->\n" + "- x\n" * 197, True),
    ],
)
def test_checker_and_status_count_lines_alike(workspace, text, is_over):
    """B05: one counted raw lines, the other what was left after stripping."""
    write(workspace, SHARED, text)
    (row,) = workspace.status()
    assert (row.lines > 200) is is_over
    assert bool(check(workspace, "tier-over-limit")) is is_over
    (part,) = workspace.recall(Actor()).parts
    assert bool(part.left_out) is False or is_over


@pytest.mark.requirement("S2-23")
def test_an_index_that_drifted_is_found_and_no_note_is_deleted(workspace):
    """B09: hundreds of unlisted notes and still exit 0; a fixer that deleted a note without a line."""
    note = "---\nname: {}\ndescription: about {}\ntype: project\n---\nx\n\n**Why:** w\n\n**How to apply:** h\n"
    write(workspace, SHARED, HEAD + "- [A](feedback_a.md) - a\n- [Gone](feedback_gone.md) - the only copy\n")
    for name in ("feedback_a", "project_new"):
        write(workspace, SHARED.replace("KNOWLEDGE", name), note.format(name, name))
    found = check(workspace, "index")
    assert sorted(one.rule for one in found) == ["index-dangling", "index-orphan"]
    assert "feedback_gone.md" in "".join(one.message for one in found)
    assert "project_new.md" in "".join(one.message for one in found)
    workspace.fix(found)
    workspace.index()
    assert check(workspace, "index") == []
    text = (workspace.path / SHARED).read_text()
    assert "the only copy" in text
    assert "(project_new.md) - about project" in text
    assert {row.file for row in workspace.notes()} == {"feedback_a.md", "project_new.md"}


def test_odd_dates_are_flagged_and_none_breaks_anything(workspace):
    """B65: a future or impossible date crashed the checker or turned the ranking upside down."""
    odd = ["2099-01-01", "2026-02-30", "0000-00-00", "2026-6-1", "26-06-01", "2026/06/01"]
    file = write(workspace, SHARED, HEAD + "".join(f"- [{one}] x{number}\n" for number, one in enumerate(odd)))
    assert places(check(workspace, "date")) == [
        ("date-future", SHARED, 2),
        ("date-impossible", SHARED, 3),
        ("date-impossible", SHARED, 4),
        *(("date-spelling", SHARED, line) for line in (5, 6, 7)),
    ]
    before = file.read_bytes()
    (plan,) = workspace.plan_pruning(today=TODAY)
    assert plan.plan.removals == ()
    workspace.fix(check(workspace))
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("one", "other", "is_found"),
    [
        ("[2026-01-01] staging DB is Postgres", "[2026-06-01] staging DB is not Postgres", True),
        ("Run the tests in parallel", "Never run the tests in parallel", True),
        ("The staging DB is Postgres", "The staging DB is Postgres.", False),
        ("The staging DB is Postgres", "The production DB is not Postgres", False),
        ("Don't not use tabs", "Use tabs", False),
    ],
)
def test_a_contradiction_between_tiers_is_found_and_neither_side_is_dropped(workspace, one, other, is_found):
    """B70: both stayed with no mark; in an older version both were dropped."""
    write(workspace, SHARED, f"{HEAD}- {one}\n")
    write(workspace, AGENT, f"# Dev Memory\n- {other}\n")
    found = check(workspace, "tier-contradiction")
    assert bool(found) is is_found
    if found:
        assert {found[0].path, *(path for path in (SHARED, AGENT) if path in found[0].message)} == {SHARED, AGENT}
    block = str(workspace.recall(Actor("dev")))
    assert one in block
    assert other in block


def test_a_merge_with_conflicts_is_found_and_heals_by_hand(workspace):
    """B78: the tool skipped a file with conflict markers in silence."""
    root = workspace.path

    def git(*args, code=0):
        config = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *config, *args], cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr

    git("init", "-q")
    file = write(workspace, SHARED, HEAD + "- base\n")
    git("add", "-A")
    git("commit", "-qm", "base")
    git("checkout", "-qb", "side")
    file.write_text(HEAD + "- base\n- side\n")
    git("commit", "-qam", "side")
    git("checkout", "-q", "main")
    file.write_text(HEAD + "- base\n- ours\n")
    git("commit", "-qam", "ours")
    git("merge", "-q", "side", code=1)
    (found,) = check(workspace, "tier-conflict-markers")
    assert (found.path, found.line, found.severity) == (SHARED, 3, "error")
    block = str(workspace.recall(Actor()))
    assert "- ours" in block
    assert "- side" in block
    before = file.read_bytes()
    assert workspace.fix(check(workspace)) == []
    assert file.read_bytes() == before
    file.write_text(HEAD + "- base\n- ours\n- side\n")
    assert check(workspace, "tier-conflict-markers") == []


def test_targets_of_both_owners_are_checked(workspace):
    for target in (Target(Tier.AGENT, "dev"), Target(Tier.CONVERSATION, "7f3a")):
        write(workspace, target.path, "- a\n")
    assert len(check(workspace, "tier-header")) == 2
