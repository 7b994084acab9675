"""Two facts that disagree are settled: one is retired, or both are marked, at every door and for everybody who may."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory_protocol import Actor, Memory, Tier, Workspace
from agent_memory_protocol.answers import About
from agent_memory_protocol.errors import (
    AccessDenied,
    IllegalMove,
    InvalidArgument,
    LimitExceeded,
    Refused,
    SecretFound,
    UnknownRecord,
)
from agent_memory_protocol.mcp.tier_tools import find
from agent_memory_protocol.mcp.tool import Door
from agent_memory_protocol.memory_tool.tool import MemoryTool
from agent_memory_protocol.settle import dispute, end_dispute, remember_instead, resolve
from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/dev/MEMORY.md"
OLD = "The staging database is Postgres 14."
NEW = "The staging database is Postgres 16."
YES = "The mail worker needs Redis."
NO = "The mail worker does not need Redis."


class Project:
    """A project with pages of memory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.workspace = Workspace.open(root, environ={"HOME": str(root)})

    def write(self, text: str, path: str = SHARED) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self, path: str = SHARED) -> str:
        return (self.root / path).read_text()

    def id(self, text: str) -> str:
        return next(one.id for one in self.workspace.entries() if text in one.text)

    def ledger(self, path: str = SHARED) -> list[dict[str, object]]:
        lines = (self.root / path).with_name("ledger.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def tree(self) -> dict[str, bytes]:
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file() and "/.amp/" not in path.as_posix())
        return {path.as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


# -- who is told -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(OLD, NEW), (YES, NO), (OLD, OLD.replace("Postgres 14", "MySQL 14"))])
def test_a_writer_is_told_the_other_entry_and_the_command_that_settles_it(project, first, second):
    remember = project.workspace.remember
    old = remember(first).entry.id
    done = remember(second)
    told = " ".join(done.notes)
    assert f"`amp resolve {old} {done.entry.id}`" in told
    assert first in told
    assert project.workspace.resolve(old, done.entry.id).successor == done.entry.id


def test_the_entry_with_the_older_date_is_the_loser_though_it_came_later(project):
    new = project.workspace.remember(f"[2026-06-01] {NEW}").entry.id
    done = project.workspace.remember(f"[2026-01-01] {OLD}")
    assert f"`amp resolve {done.entry.id} {new}`" in done.notes[0]
    assert f"`amp resolve {done.entry.id} {new}`" in project.workspace.check(select=["tier-changed"])[0].message


SAYS_MORE = {
    "an exception": (
        "Failed mails go to the dead letter queue.",
        "Failed mails go to the dead letter queue, but not refunds.",
    ),
    "a reason": (
        "Use pnpm in the web folder.",
        "Use pnpm, not npm, in the web folder, because the lock file is pnpm's.",
    ),
}


@each_row("case", SAYS_MORE, fresh=True)
def test_a_writer_who_says_more_is_not_told_to_forget_it(case, tmp_path):
    first, second = SAYS_MORE[case]
    remember = Project(tmp_path).workspace.remember
    old, more = remember(first).entry.id, remember(second)
    assert f"this one says more (`amp resolve {old} {more.entry.id}` keeps it alone)" in " ".join(more.notes)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_of_two_undated_values_the_one_that_was_committed_first_is_the_loser_wherever_a_merge_has_put_it(project):
    def git(*args: str, day: str = "01") -> None:
        when = f"2026-03-{day}T12:00:00Z"
        environ = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": os.environ["PATH"]}
        settings = ["-c", "user.name=dev", "-c", "user.email=dev@example.com"]
        subprocess.run(["git", *settings, *args], cwd=project.root, env=environ, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for text, day in ((f"- {OLD}\n", "05"), (f"- {NEW}\n- {OLD}\n", "09")):
        project.write(f"# S\n\n{text}")
        git("add", "-A")
        git("commit", "-qm", "x", day=day)
    (met,) = project.workspace.check(select=["tier-changed"])
    assert f"`amp resolve {project.id(OLD)} {project.id(NEW)}`" in met.message
    project.write(f"# S\n\n- [2026-02-01] {NEW}\n- {OLD}\n- Something else.\n")
    (met,) = project.workspace.check(select=["tier-changed"])
    assert f"`amp resolve {project.id(OLD)} {project.id(NEW)}`" in met.message


def test_a_check_lists_what_disagrees_before_everything_else(project):
    project.write(f"# A wrong header\n\nSome prose.\n\n- {YES}\n- {NO}\n- {OLD}\n- {NEW}\n- {NEW}\n")
    rules = [one.rule for one in project.workspace.check()]
    assert rules[0] == "tier-contradiction"
    assert len(rules) > 1
    assert not {"tier-contradiction", "tier-changed"} & set(rules[2:])


def test_a_check_and_a_review_have_both_texts(project):
    project.write(f"# S\n\n- {YES}\n- {NO}\n\n## DB\n\n- {OLD}\n- {NEW}\n")
    for text, other in ((YES, NO), (OLD, NEW)):
        assert any(text in one.message and other in one.message for one in project.workspace.check())
    items = project.workspace.review()
    assert [(one.kind, one.text, one.texts[1].text) for one in items[:2]] == [
        ("opposite", YES, NO),
        ("changed", OLD, NEW),
    ]


@pytest.mark.parametrize("pair", [(YES, NO), (OLD, NEW)])
def test_a_review_never_advises_to_merge_what_disagrees(project, pair):
    project.write("# S\n\n" + "".join(f"- {text}\n" for text in pair))
    assert not any(one.kind == "merge" for one in project.workspace.review())


def test_a_review_still_advises_to_merge_what_says_much_the_same(project):
    project.write("# S\n\n- The mail worker needs Redis to run.\n- The mail worker needs Redis to run well.\n")
    assert project.workspace.review()[0].kind == "merge"


def test_the_memory_tool_tells_a_model_that_its_text_disagrees(project):
    project.write(f"# S\n\n- {OLD}\n")
    tool = MemoryTool(project.root, actor=Actor("dev"), environ={"HOME": str(project.root)})
    place = {"command": "insert", "path": "/memories/shared/KNOWLEDGE.md", "insert_line": 3}
    told = tool.execute({**place, "insert_text": f"- {NEW}"})
    assert f"`amp resolve {project.id(OLD)} {project.id(NEW)}`" in told


def test_what_two_agents_know_is_advised_to_move_to_shared_memory(project):
    fact = "- Run the migrations before the tests.\n"
    project.write("# Dev Memory\n\n" + fact, AGENT)
    project.write("# Qa Memory\n\n" + fact, AGENT.replace("dev", "qa"))
    (found,) = project.workspace.check(select=["tier-restates"])
    assert "belongs in shared" in found.message
    assert "forget" not in found.message
    entry = re.search("--replaces ([0-9a-f]+)", found.message)
    assert entry is not None
    project.workspace.remember(fact, tier=Tier.SHARED, replaces=entry[1])
    (left,) = project.workspace.check(select=["tier-restates"])
    assert "amp forget" in left.message


# -- resolve -----------------------------------------------------------------------------------------------------------


def test_a_resolved_entry_leaves_with_its_successor_in_the_ledger_and_can_come_back(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    before = project.read()
    old, new = project.id(OLD), project.id(NEW)
    done = project.workspace.resolve(old[:6], new[:6], reason="upgraded")
    assert (done.retired.id, done.successor) == (old, new)
    assert project.read() == f"# S\n\n- {NEW}\n"
    tombstone = project.ledger()[-1]
    assert (tombstone["id"], tombstone["successor"], tombstone["reason"]) == (old, new, "upgraded")
    project.workspace.restore(project.workspace.restorable([old]))
    assert project.read() == before


def test_what_was_retired_is_no_version_of_its_successor_when_that_is_redacted(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    old, new = project.id(OLD), project.id(NEW)
    project.workspace.resolve(old, new)
    project.workspace.redact([new])
    assert [one.archived.taken.id for one in project.workspace.restorable()] == [old]


def test_an_entry_may_be_retired_for_one_in_another_document(project):
    project.write(f"# S\n\n- {NEW}\n")
    project.write(f"# Dev Memory\n\n- {OLD}\n- Another fact.\n", AGENT)
    new = project.id(NEW)
    dev = Actor("dev")
    project.workspace.resolve(project.id(OLD), new, actor=dev)
    assert project.read(AGENT) == "# Dev Memory\n\n- Another fact.\n"
    assert project.ledger(AGENT)[-1]["successor"] == new


@pytest.mark.parametrize("ids", [("0" * 12, OLD), (OLD, "0" * 12), (OLD, OLD)])
def test_two_entries_that_exist_are_named(project, ids):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    tree = project.tree()
    one, other = (project.id(one) if one == OLD else one for one in ids)
    for settle in (project.workspace.resolve, project.workspace.dispute):
        with pytest.raises(InvalidArgument):
            settle(one, other)
    assert project.tree() == tree


def test_who_may_not_write_the_loser_is_given_the_finding_to_report(project):
    project.write(f"# S\n\n- {NEW}\n")
    project.write(f"# Dev Memory\n\n- {OLD}\n", AGENT)
    old, new = project.id(OLD), project.id(NEW)
    tree = project.tree()
    for settle in ("resolve", "dispute"):
        with pytest.raises(AccessDenied) as refused:
            getattr(project.workspace, settle)(old, new, actor=Actor("architect"))
        assert refused.value.exit_code == 3
        assert f"```memory-findings - amp {settle} {old} {new} ```" in str(refused.value)
    assert project.tree() == tree


# -- dispute -----------------------------------------------------------------------------------------------------------


def test_a_dispute_marks_both_and_a_second_one_changes_nothing(project):
    project.write(f"# S\n\n- [ ] {OLD}\n- [2026-01-01] {NEW}\n")
    ids = project.id(OLD), project.id(NEW)
    done = project.workspace.dispute(*ids, reason="the wiki says 14")
    assert done.to_json() == {"disputed": [*ids]}
    assert project.read() == f"# S\n\n- [ ] [disputed] {OLD}\n- [disputed] [2026-01-01] {NEW}\n"
    assert (project.id(OLD), project.id(NEW)) == ids
    assert [line.get("disputed_with") for line in project.ledger()[1:]] == [[ids[1]], [ids[0]]]
    tree = project.tree()
    project.workspace.dispute(*reversed(ids))
    assert project.tree() == tree


def test_where_one_side_cannot_be_marked_the_other_is_not(project):
    project.write(f"# S\n\n- {OLD}\n")
    project.write("# Dev Memory\n\n- ```\n  the other side\n  ```\n", AGENT)
    tree = project.tree()
    with pytest.raises(Refused, match="by hand"):
        project.workspace.dispute(project.id(OLD), project.id("the other side"))
    assert project.tree() == tree


def leave_by_forget(project: Project, one: str, other: str) -> None:
    project.workspace.forget([one])


def leave_by_resolve(project: Project, one: str, other: str) -> None:
    project.workspace.resolve(one, other)


def leave_by_edit(project: Project, one: str, other: str) -> None:
    project.workspace.edit(one, "Something quite different is true.")


def leave_by_hand(project: Project, one: str, other: str) -> None:
    for path in (SHARED, AGENT):
        lines = project.read(path).splitlines(keepends=True)
        project.write("".join(line for line in lines if OLD not in line), path)
    project.workspace.remember("A write of something else.")


@pytest.mark.slow
@pytest.mark.parametrize("leave", [leave_by_forget, leave_by_resolve, leave_by_edit, leave_by_hand])
@pytest.mark.parametrize("path", [SHARED, AGENT], ids=["one-document", "two-documents"])
def test_the_mark_goes_when_the_other_side_leaves(project, leave, path):
    project.write("# S\n\n- Something.\n")
    project.write("# Dev Memory\n\n- Something else.\n", AGENT)
    project.write(f"{project.read(path)}- {OLD}\n", path)
    project.write(f"{project.read()}- {NEW}\n")
    old, new = project.id(OLD), project.id(NEW)
    project.workspace.dispute(old, new)
    assert f"- [disputed] {NEW}" in project.read()
    leave(project, old, new)
    assert f"- {NEW}" in project.read()
    assert "[disputed]" not in project.read() + project.read(AGENT)


def test_a_mark_stays_while_another_side_is_left_or_where_a_person_has_typed_it(project):
    third = "The staging database is MariaDB."
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n- {third}\n- [disputed] Typed by hand.\n")
    old, new, other = map(project.id, (OLD, NEW, third))
    project.workspace.dispute(old, new)
    project.workspace.dispute(new, other)
    project.workspace.resolve(old, new)
    assert project.read() == f"# S\n\n- [disputed] {NEW}\n- [disputed] {third}\n- [disputed] Typed by hand.\n"
    project.workspace.forget([other])
    assert project.read() == f"# S\n\n- {NEW}\n- [disputed] Typed by hand.\n"


def test_resolve_takes_off_a_mark_that_was_typed_by_hand(project):
    project.write(f"# S\n\n- [disputed] {OLD}\n- [disputed] {NEW}\n")
    project.workspace.resolve(project.id(OLD), project.id(NEW))
    assert project.read() == f"# S\n\n- {NEW}\n"


def test_a_disputed_pair_is_not_advised_to_be_disputed_again(project):
    project.write(f"# S\n\n- [disputed] {OLD}\n- [disputed] {NEW}\n")
    (found,) = project.workspace.check(select=["tier-changed"])
    assert "amp resolve" in found.message
    assert "amp dispute" not in found.message


def test_no_reason_with_a_secret_is_kept(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    for settle in (project.workspace.resolve, project.workspace.dispute):
        with pytest.raises(SecretFound):
            settle(project.id(OLD), project.id(NEW), reason=f"see {token}")


# -- remember in place of an entry -------------------------------------------------------------------------------------


def test_a_new_entry_retires_the_one_it_replaces_in_one_step(project):
    project.write(f"# S\n\n## DB\n\n- {OLD}\n- More.\n\n## Other\n\n- Else.\n")
    old = project.id(OLD)
    done = project.workspace.remember(NEW, replaces=old)
    assert (done.status, done.replaced, done.notes) == ("added", old, ())
    assert project.read() == f"# S\n\n## DB\n\n- More.\n- {NEW}\n\n## Other\n\n- Else.\n"
    assert project.ledger()[-1]["successor"] == done.entry.id


def test_what_goes_makes_room_for_what_comes(project):
    project.write(f"# S\n\n- {OLD}\n")
    project.write("[limits]\nmax_lines = 3\n", ".scaffolding/amp.toml")
    with pytest.raises(LimitExceeded):
        project.workspace.remember(NEW)
    project.workspace.remember(NEW, replaces=project.id(OLD))
    assert project.read() == f"# S\n\n- {NEW}\n"


def test_an_entry_of_another_document_is_replaced_by_who_may_write_both(project):
    project.write(f"# Dev Memory\n\n- {OLD}\n- More.\n", AGENT)
    old = project.id(OLD)
    tree = project.tree()
    for other in (Actor("architect"), Actor("qa")):
        with pytest.raises((AccessDenied, InvalidArgument)):
            project.workspace.remember(NEW, tier=Tier.SHARED, replaces=old, actor=other)
        assert project.tree() == tree
    done = project.workspace.remember(NEW, tier=Tier.SHARED, replaces=old, actor=Actor("dev"))
    assert project.read(AGENT) == "# Dev Memory\n\n- More.\n"
    assert project.ledger(AGENT)[-1]["successor"] == done.entry.id


def test_a_text_that_is_there_already_replaces_the_other_and_never_itself(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    old, new = project.id(OLD), project.id(NEW)
    assert project.workspace.remember(NEW, replaces=old).status == "kept"
    assert project.read() == f"# S\n\n- {NEW}\n"
    with pytest.raises(InvalidArgument, match="says this already"):
        project.workspace.remember(NEW, replaces=new)
    assert project.read() == f"# S\n\n- {NEW}\n"


# -- entries and records -----------------------------------------------------------------------------------------------


@pytest.fixture
def records(project):
    with Memory(project.root / ".scaffolding" / "agent-memory", consolidate_every=0) as memory:
        yield memory


def test_records_are_settled_as_entries_are(project, records):
    one, other = records.remember(OLD).record_id, records.remember(NEW).record_id
    assert dispute(project.workspace, records, Actor(), one[:10], other) == (one, other)
    assert "[disputed" in records.recall("staging").as_prompt_block()
    versions = len(records.history(one))
    dispute(project.workspace, records, Actor(), one, other)
    assert len(records.history(one)) == versions
    done = resolve(project.workspace, records, Actor(), one, other, reason="upgraded")
    assert done.to_json() == {"retired": one, "successor": other}
    assert records.history(one)[-1].superseded_by == other
    assert records.history(other)[-1].transition is None


def test_records_that_nobody_has_disputed_are_resolved_at_once(project, records):
    one, other = records.remember(OLD).record_id, records.remember(NEW).record_id
    resolve(project.workspace, records, Actor(), one, other)
    assert records.history(one)[-1].superseded_by == other
    with pytest.raises(IllegalMove):
        resolve(project.workspace, records, Actor(), one, other)


def tool_of(project, records, name):
    door = Door(project.workspace, Actor(), records, keeps_records=True)
    tool = find(door, name)
    assert tool is not None
    return lambda **given: tool.call(door, given)


def test_a_text_replaces_a_record_as_it_does_an_entry(project, records):
    old = records.remember(OLD).record_id
    remember = tool_of(project, records, "memory_remember")
    done = remember(text=NEW, replaces=old[:12], tags=["db"]).values
    assert (done["status"], done["replaced"], done["notes"]) == ("added", old, [])
    assert (records.newest(done["id"]).supersedes, records.newest(done["id"]).tags) == (old, ("db",))
    assert project.workspace.entries(Actor()) == []
    for given in ({"section": "Databases"}, {"until": "2027-01-01"}, {"kind": "fact"}, {"dated": True}):
        with pytest.raises(InvalidArgument, match=f"leave out {next(iter(given))}"):
            remember(text=YES, replaces=done["id"], **given)
    with pytest.raises(UnknownRecord, match="no record begins with mem:0123"):
        remember(text=YES, replaces="mem:0123")
    assert len(records.records()) == 2


@each_row("door", ["call", "instead", "tool"])
def test_what_cannot_be_replaced_or_decided_says_what_can_be_done(project, records, door):
    remember = {
        "call": records.remember,
        "instead": lambda text, replaces: remember_instead(
            project.workspace, records, Actor(), text, replaces, About()
        ),
        "tool": lambda text, replaces: tool_of(project, records, "remember")(text=text, replaces=replaces),
    }[door]
    lost, won, gone, one, other = (records.remember(f"{door} {word}.").record_id for word in "abcde")
    records.supersede(lost, won, "newer")
    records.archive(gone, "over")
    records.dispute(one, other, "which?")
    refusals = {lost: f"{won} replaced it", gone: f"amp record reactivate {gone}"}
    refusals |= dict.fromkeys((one, other), "amp record resolve LOSER WINNER --reason R")
    count = len(records.records())
    for old, way in refusals.items():
        with pytest.raises(IllegalMove, match=way):
            remember(f"{door} new.", replaces=old)
        with pytest.raises(IllegalMove, match=way):
            dispute(project.workspace, records, Actor(), old, won)
    assert len(records.records()) == count
    with pytest.raises(IllegalMove, match=f"amp record reactivate {gone}"):
        records.archive(gone, "again")
    with pytest.raises(IllegalMove, match="it is recalled"):
        records.reactivate(won, "again")


def test_an_entry_and_a_record_are_no_two_sides(project, records):
    project.write(f"# S\n\n- {OLD}\n")
    record = records.remember(NEW).record_id
    for settle in (resolve, dispute):
        with pytest.raises(InvalidArgument, match="is a record"):
            settle(project.workspace, records, Actor(), project.id(OLD), record)


def test_an_id_that_names_an_entry_and_a_record_is_refused(project, records, monkeypatch):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    records.remember(YES)
    tree = project.tree()
    monkeypatch.setattr(records, "find_id", lambda start: f"mem:{start}")
    for settle in (resolve, dispute):
        with pytest.raises(InvalidArgument, match="an entry's id and of a record's"):
            settle(project.workspace, records, Actor(), project.id(OLD), project.id(NEW))
    assert project.tree() == tree


def test_what_holds_in_place_of_an_entry_of_another_document_says_so(project):
    project.write(f"# S\n\n- {NEW}\n")
    project.write(f"# D\n\n- {OLD}\n", AGENT)
    old, new = project.id(OLD), project.id(NEW)
    project.workspace.resolve(old, new)
    assert project.workspace.entry(new).about.replaced == (old,)
    project.workspace.restore(project.workspace.restorable([old]))
    third = project.workspace.remember("The staging database is MySQL 9.", tier=Tier.SHARED, replaces=old).entry
    assert third.about.replaced == project.workspace.entry(third.id).about.replaced == (old,)


def test_what_was_restored_beside_its_successor_is_no_longer_replaced(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    old, new = project.id(OLD), project.id(NEW)
    project.workspace.resolve(old, new)
    assert project.workspace.entry(new).about.replaced == (old,)
    project.workspace.restore(project.workspace.restorable([old]))
    assert project.workspace.entry(new).about.replaced == ()


# -- a dispute that was a mistake --------------------------------------------------------------------------------------


def test_the_end_of_a_dispute_leaves_every_byte_as_it_was_before_it(project):
    project.write(f"# S\n\n- {OLD}\n* [2026-01-02] {YES}\n")
    project.write(f"# D\n\n1. [keep] {NO}\n", AGENT)
    before = project.read(), project.read(AGENT)
    for one, other in ((OLD, YES), (YES, NO)):
        both = project.id(one), project.id(other)
        project.workspace.dispute(*both, reason="who knows")
        assert (project.read(), project.read(AGENT)) != before
        project.workspace.end_dispute(*reversed(both))
        assert (project.read(), project.read(AGENT)) == before
        assert not any(entry.disputed or entry.about.disputed_with for entry in project.workspace.entries())


def test_the_end_of_one_dispute_leaves_another_one_open(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n- {YES}\n")
    one, other, third = map(project.id, (OLD, NEW, YES))
    project.workspace.dispute(one, other)
    project.workspace.dispute(one, third)
    project.workspace.end_dispute(one, other)
    about = {entry.id: (entry.disputed, entry.about.disputed_with) for entry in project.workspace.entries()}
    assert about == {one: (True, (third,)), other: (False, ()), third: (True, (one,))}


def test_a_dispute_that_has_ended_is_not_a_part_of_the_next_one(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n- {YES}\n")
    one, other, third = map(project.id, (OLD, NEW, YES))
    project.workspace.dispute(one, other)
    project.workspace.end_dispute(one, other)
    project.workspace.dispute(one, third)
    assert project.workspace.entry(one).about.disputed_with == (third,)


def test_what_is_in_no_dispute_cannot_leave_one_and_nothing_changes(project):
    project.write(f"# S\n\n- {OLD}\n- {NEW}\n")
    before = project.tree()
    with pytest.raises(InvalidArgument, match="are not disputed with each other"):
        project.workspace.end_dispute(project.id(OLD), project.id(NEW))
    assert project.tree() == before


def test_the_end_of_a_dispute_of_records_leaves_both_active(tmp_path):
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    workspace.init()
    with Memory(tmp_path / ".scaffolding/agent-memory", consolidate_every=0) as memory:
        one, other = (memory.remember(text).record_id for text in ("Rounded per line.", "Rounded at the end."))
        memory.dispute(one, other, "two teams")
        ids = end_dispute(workspace, memory, Actor(), one, other)
        assert ids[1] == other
        active = {record.id: record.body for record in memory.records(state="active")}
        assert active == {ids[0]: "Rounded per line.", other: "Rounded at the end."}
        with pytest.raises(IllegalMove, match="not disputed"):
            end_dispute(workspace, memory, Actor(), *ids)
