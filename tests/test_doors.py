"""One policy at every door: whoever may not write, whatever may not be written, and no name that is none, anywhere.

The table lists each way in: every command, tool and public method that writes. A test looks for those there are, so a
new one that is not in the table fails. A refused attempt leaves every byte of the project as it was, and one that is
allowed changes something.
"""

import json
import shutil
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from agent_memory_protocol import Actor, AgentMemoryError, Memory, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.consolidation.decay import Rates
from agent_memory_protocol.errors import AccessDenied, InvalidArgument, LimitExceeded, RefusedText, SecretFound
from agent_memory_protocol.hosts.hook import answer_to
from agent_memory_protocol.layout import Target, Tier, check_owner
from agent_memory_protocol.mcp.tier_tools import TOOLS, find
from agent_memory_protocol.mcp.tool import Door as McpDoor
from agent_memory_protocol.memory_tool.tool import MemoryTool, MemoryToolError
from agent_memory_protocol.records.record import Provenance, RecordType, new_record
from agent_memory_protocol.secrets.mask import masked
from agent_memory_protocol.verbs.upkeep_answers import Restorable
from tests.folder import Kept, files

REPOSITORY = Path(__file__).parents[1]
SHARED, AGENT, CONVERSATION = Tier.SHARED, Tier.AGENT, Tier.CONVERSATION
TARGETS = {"shared": Target(SHARED), "agent:dev": Target(AGENT, "dev"), "conversation:c1": Target(CONVERSATION, "c1")}
DOCUMENT = "# S\n\n- [2020-01-01] old\n- 2020-02-02: odd\n- new\n- newer\n- last\n- gone\n"
NOTES = "\n## Notes\n\n- [A](user_a.md) - a\n- [B](user_b.md) - b\n"
OLD = "- [2020-01-01] old"
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
FACT = "A fact that is new.\n\nIn two paragraphs."
RECORD = "The staging database is Postgres."
AT_ONCE = Rates(threshold=2)
DENIAL = "The staging database is not Postgres."


# -- a project with something of everything ----------------------------------------------------------------------------


class Project:
    """A project with the same entries in each document, one of each in the ledger, two notes, and a few records."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ = {"HOME": str(root.parent)}
        self.identity = root.parent / "agent.key"

    def fill(self) -> None:
        for target in TARGETS.values():
            path = self.root / target.path
            path.parent.mkdir(parents=True)
            path.write_text(DOCUMENT + ("" if target.tier is CONVERSATION else NOTES))
            for name in "" if target.tier is CONVERSATION else "ab":
                path.with_name(f"user_{name}.md").write_text(f"Note {name}.\n\n**Why:** w\n\n**How to apply:** h\n")
        gone = [entry.id for entry in self.workspace.entries() if entry.text == "- gone"]
        self.workspace.forget(gone)
        with self.records(Actor()) as records:
            records.remember(RECORD)
            records.remember(DENIAL)
            records.consolidate()
            for text in ("The cache is Redis.", "The cache is not Redis."):
                records.remember(text)
            records.archive(records.remember("The queue was RabbitMQ.").record_id, "over")

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.root, environ=self.environ)

    def records(self, actor: Actor) -> Memory:
        return Memory(
            self.root / ".scaffolding" / "agent-memory", actor=actor, identity=self.identity, consolidate_every=0
        )

    def tree(self) -> dict[str, bytes]:
        """Return every file but those that may be deleted at any time."""
        return {path: data for path, data in files(self.root.parent).items() if "/.amp/" not in path}


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("filled") / "one"
    (folder / "project").mkdir(parents=True)
    Project(folder / "project").fill()
    return folder


@pytest.fixture(scope="module")
def kept(filled) -> Kept:
    return Kept(filled)


@pytest.fixture
def project(filled, kept, clean) -> Project:
    """The project itself, as it was filled."""
    kept.put_back()
    return Project(filled / "project")


@pytest.fixture
def clean(tmp_path, monkeypatch) -> None:
    """An environment that says nothing of memory."""
    for name in ("AMP_AGENT", "AMP_CONVERSATION", "AMP_ROOT", "AMP_DISABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def make(filled, kept, tmp_path, clean) -> Callable[[], Project]:
    """Make one more copy of the project."""
    kept.put_back()
    copies = iter(range(1000))

    def copy() -> Project:
        folder = tmp_path / str(next(copies))
        shutil.copytree(filled, folder)
        return Project(folder / "project")

    return copy


# -- an attempt, and the doors it is made at ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Attempt:
    """One try to write: in which project, who, where, and what; with `named`, by this name in place of one there is."""

    project: Project
    actor: Actor
    tier: Tier
    owner: str
    text: str = FACT
    named: str | None = None

    @property
    def workspace(self) -> Workspace:
        return self.project.workspace

    @property
    def target(self) -> Target:
        return Target(self.tier, self.owner)

    @property
    def entry(self) -> str:
        """The id of an entry in the document."""
        if self.named is not None:
            return self.named
        return next(one.id for one in self.workspace.entries() if one.target == self.target and one.text == OLD)

    @property
    def other_entry(self) -> str:
        """The id of another entry in the document."""
        return next(one.id for one in self.workspace.entries() if one.target == self.target and one.text == "- newer")

    @property
    def note(self) -> str:
        """The name of a note that is there."""
        return "user_a" if self.named is None else self.named

    @property
    def new_note(self) -> str:
        """The name of a note that is not there yet."""
        return "c" if self.named is None else self.named

    @property
    def archived(self) -> list[Restorable]:
        """What the document's ledger holds."""
        return [one for one in self.workspace.restorable() if one.target == self.target]

    @property
    def gone(self) -> str:
        """The id of an entry in the ledger."""
        return self.archived[0].archived.taken.id if self.named is None else self.named

    @property
    def line(self) -> str:
        """The text as the one line that a reason is."""
        return self.text.partition("\n")[0]

    @property
    def source(self) -> str:
        """Another project, whose memory says the text in the same document."""
        source = self.project.root.parent.parent / "source"
        shutil.rmtree(source, ignore_errors=True)
        path = source / self.target.path
        path.parent.mkdir(parents=True)
        path.write_text(f"# S\n\n- {self.line}\n")
        return str(source / ".scaffolding")

    @property
    def page(self) -> str:
        """A Markdown file that says the text in one entry."""
        path = self.project.root.parent.parent / "page.md"
        path.write_text(f"# S\n\n- {self.line}\n")
        return str(path)

    @property
    def record(self) -> str:
        if self.named is not None:
            return self.named
        return next(one.id for one in self.project.records(Actor()).records() if one.body == RECORD)

    def __str__(self) -> str:
        return f"{self.actor!r} {self.target}"


@dataclass(frozen=True)
class Door:
    """A way to write.

    Attributes:
        name: what it is called where it is found: `amp remember`, `Workspace.remember`, `memory tool create`.
        attempt: writes; the answer is false where nothing was done.
        brings: what text it brings in: "text" for memory, a "reason" for the ledger, what a "source" holds, or none.
        grows: whether that makes the document longer.
        makes: whether it makes the document, and does nothing where it is there.
        names: by what it names something: "owner", "entry", "note" or "record".
        tiers: where it can write at all.
        tells: whether it says in its answer what it has left out, and refuses nothing.
        fixed: whether the conversation is that of the actor, and no other can be named.
    """

    name: str
    attempt: Callable[[Attempt], object]
    brings: str = "text"
    grows: bool = False
    makes: bool = False
    names: tuple[str, ...] = ("owner",)
    tiers: tuple[Tier, ...] = (SHARED, AGENT, CONVERSATION)
    fixed: bool = False
    tells: bool = False

    def can_try(self, attempt: Attempt) -> bool:
        own = attempt.tier is not CONVERSATION or attempt.actor.conversation == attempt.owner
        return attempt.tier in self.tiers and (own or not self.fixed)


WITH_NOTES = (SHARED, AGENT)


def library() -> Iterator[Door]:
    def init(at: Attempt) -> object:
        agents = [at.owner] if at.tier is AGENT else []
        made = at.workspace.init(
            agents=agents, conversation=at.owner if at.tier is CONVERSATION else None, actor=at.actor
        )
        return any(one.created for one in made)

    def remember(at: Attempt) -> object:
        agent, conversation = (at.owner if at.tier is tier else None for tier in (AGENT, CONVERSATION))
        return at.workspace.remember(at.text, tier=at.tier, agent=agent, conversation=conversation, actor=at.actor)

    def prune(at: Attempt) -> object:
        plans = at.workspace.plan_pruning([at.target], today=date(2026, 1, 1), older_than=timedelta(days=90))
        return at.workspace.apply_pruning(plans, actor=at.actor)

    def note(at: Attempt) -> object:
        said = {"description": "d", "why": "w", "how": "h", "body": at.text}
        return at.workspace.new_note("user", at.new_note, **said, target=at.target, actor=at.actor)

    def merge(at: Attempt) -> object:
        return at.workspace.merge_notes(["user_b"], at.note, target=at.target, actor=at.actor)

    def rewrite(at: Attempt) -> object:
        return at.workspace.rewrite(at.target, lambda text: f"{text or ''}\n{at.text}\n", actor=at.actor)

    def rewrite_note(at: Attempt) -> object:
        note = f"{at.note}.md"
        return at.workspace.rewrite(at.target, lambda text: f"{text or ''}\n{at.text}\n", note=note, actor=at.actor)

    def end_dispute(at: Attempt) -> object:
        both = at.entry, at.other_entry
        try:
            at.workspace.end_dispute(*both, actor=at.actor)
        except InvalidArgument as error:
            if "not disputed with each other" not in str(error):
                raise
        at.workspace.dispute(*both)
        return at.workspace.end_dispute(*both, actor=at.actor)

    def fix(at: Attempt) -> object:
        found = [one for one in at.workspace.check() if one.path == at.target.path]
        return at.workspace.fix(found, actor=at.actor)

    def index(at: Attempt) -> object:
        (at.project.root / at.target.path).with_name("user_new.md").write_text("A new note.\n")
        try:
            return at.workspace.index([at.target], actor=at.actor)
        finally:
            (at.project.root / at.target.path).with_name("user_new.md").unlink()

    def review(at: Attempt) -> object:
        at.workspace.record_review(actor=at.actor, today=date(2026, 1, 1))
        return True

    def adopt(at: Attempt) -> object:
        workspace = at.workspace
        done = workspace.apply_adoption(workspace.plan_adoption([at.source]), actor=at.actor)
        return any(one.entries or one.notes for one in done)

    yield Door("Workspace.apply_adoption", adopt, brings="source", names=(), tiers=WITH_NOTES, tells=True)
    yield Door("Workspace.init", init, brings="", makes=True, tiers=(AGENT, CONVERSATION))
    yield Door("Workspace.remember", remember, grows=True)
    yield Door(
        "Workspace.forget",
        lambda at: at.workspace.forget([at.entry], actor=at.actor, reason=at.text),
        brings="reason",
        names=("entry",),
    )
    yield Door(
        "Workspace.resolve",
        lambda at: at.workspace.resolve(at.entry, at.other_entry, actor=at.actor, reason=at.text),
        brings="reason",
        names=("entry",),
    )
    yield Door(
        "Workspace.dispute",
        lambda at: at.workspace.dispute(at.entry, at.other_entry, actor=at.actor, reason=at.text),
        brings="reason",
        names=("entry",),
    )
    yield Door(
        "Workspace.end_dispute",
        end_dispute,
        brings="",
        names=("entry",),
    )
    yield Door(
        "Workspace.edit", lambda at: at.workspace.edit(at.entry, at.text, actor=at.actor), grows=True, names=("entry",)
    )
    yield Door("Workspace.rewrite", rewrite, grows=True)
    yield Door("Workspace.rewrite", rewrite_note, names=("owner", "note"), tiers=WITH_NOTES)
    yield Door("Workspace.apply_pruning", prune, brings="", names=())
    yield Door(
        "Workspace.restore",
        lambda at: at.workspace.restore(at.archived, actor=at.actor).entries,
        brings="",
        grows=True,
        names=(),
    )
    yield Door(
        "Workspace.redact", lambda at: at.workspace.redact([at.entry], actor=at.actor), brings="", names=("entry",)
    )
    yield Door("Workspace.fix", fix, brings="", names=())
    yield Door("Workspace.new_note", note, names=("owner", "note"), tiers=WITH_NOTES)
    yield Door(
        "Workspace.remove_note",
        lambda at: at.workspace.remove_note(at.note, target=at.target, actor=at.actor, reason=at.text),
        brings="reason",
        names=("owner", "note"),
        tiers=WITH_NOTES,
    )
    yield Door("Workspace.merge_notes", merge, brings="", names=("owner", "note"), tiers=WITH_NOTES)
    yield Door("Workspace.index", index, brings="", names=(), tiers=WITH_NOTES)
    yield Door(
        "Workspace.record_review",
        review,
        brings="",
        names=(),
        tiers=(SHARED,),
    )


def run(at: Attempt, *args: str, codes: tuple[int, ...] = (0,), stdin: str = "") -> object:
    """Run a command as its actor."""
    environ = {"AMP_AGENT": at.actor.agent, "AMP_CONVERSATION": at.actor.conversation, **at.project.environ}
    done = CliRunner().invoke(amp, [*args, "--root", str(at.project.root)], env=environ, input=stdin)
    if isinstance(done.exception, AgentMemoryError):
        raise done.exception
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    if done.output.startswith("Usage: "):  # a name such as --help is an option, not a name
        return False
    if done.exit_code not in codes:
        raise InvalidArgument(f"{args}: exit code {done.exit_code}")
    return True


def commands() -> Iterator[Door]:
    def whose(at: Attempt) -> list[str]:
        return ["--tier", "shared"] if at.tier is SHARED else [f"--{at.tier}", at.owner]

    def fix(at: Attempt) -> object:
        before = at.project.tree()
        # What is found and cannot be mended is the answer of `amp check`, mended or not.
        return run(at, "check", "--fix", at.target.path, codes=(0, 1)) and at.project.tree() != before

    said = ("--description", "d", "--why", "w", "--how", "h")
    yield Door(
        "amp init",
        lambda at: run(at, "init", f"--{at.tier}", at.owner),
        brings="",
        makes=True,
        tiers=(AGENT, CONVERSATION),
    )
    yield Door("amp remember", lambda at: run(at, "remember", at.text, *whose(at)), grows=True)
    yield Door(
        "amp forget", lambda at: run(at, "forget", at.entry, "--reason", at.text), brings="reason", names=("entry",)
    )
    yield Door(
        "amp resolve",
        lambda at: run(at, "resolve", at.entry, at.other_entry, "--reason", at.text),
        brings="reason",
        names=("entry",),
    )
    yield Door(
        "amp dispute",
        lambda at: run(at, "dispute", at.entry, at.other_entry, "--reason", at.text),
        brings="reason",
        names=("entry",),
    )
    yield Door("amp forget", lambda at: run(at, "forget", at.entry, "--redact"), brings="", names=("entry",))
    yield Door("amp edit", lambda at: run(at, "edit", at.entry, at.text), grows=True, names=("entry",))
    yield Door(
        "amp note new",
        lambda at: run(at, "note", "new", "user", at.new_note, *said, "--body", at.text, "--agent", at.owner),
        names=("owner", "note"),
        tiers=(AGENT,),
    )
    yield Door(
        "amp note remove",
        lambda at: run(at, "note", "remove", at.note, "--reason", at.text, "--agent", at.owner),
        brings="reason",
        names=("owner", "note"),
        tiers=(AGENT,),
    )
    yield Door(
        "amp note merge",
        lambda at: run(at, "note", "merge", "user_b", "--into", at.note, "--agent", at.owner),
        brings="",
        names=("owner", "note"),
        tiers=(AGENT,),
    )
    yield Door(
        "amp prune",
        lambda at: run(at, "prune", str(at.target), "--today", "2026-01-01", "--apply"),
        brings="",
    )
    yield Door(
        "amp restore",
        lambda at: run(at, "restore", at.gone, "--apply"),
        brings="",
        names=("entry",),
    )

    def adopt(at: Attempt) -> object:
        before = at.project.tree()
        return run(at, "adopt", at.source, "--apply") and at.project.tree() != before

    def harvest(at: Attempt) -> object:
        conversation = at.owner if at.tier is CONVERSATION else at.actor.conversation or "c1"
        report = f"```memory-findings\n- {at.tier}: {' '.join(at.text.split())}\n```\n"
        return run(at, "harvest", "--reporter", "reviewer", "--conversation", conversation, stdin=report)

    def take_in(at: Attempt) -> object:
        before = at.project.tree()
        return run(at, "import", at.page, "--to", str(at.target), "--apply") and at.project.tree() != before

    yield Door("amp import", take_in, brings="source", tiers=WITH_NOTES, tells=True)
    yield Door("amp harvest", harvest, grows=True, tiers=(SHARED, CONVERSATION), tells=True)
    yield Door("amp adopt", adopt, brings="source", names=(), tiers=WITH_NOTES, tells=True)
    yield Door(
        "amp check",
        fix,
        brings="",
        names=(),
    )
    yield Door("amp review", lambda at: run(at, "review", "--done"), brings="", names=(), tiers=(SHARED,))


def call(at: Attempt, name: str, **arguments: object) -> object:
    """Call a tool of the MCP server."""
    with at.project.records(at.actor) as records:
        door = McpDoor(at.workspace, at.actor, records, keeps_records=True)
        tool = find(door, name)
        assert tool is not None
        return tool.call(door, arguments)


def mcp_tools() -> Iterator[Door]:
    def remember(at: Attempt) -> object:
        return call(
            at, "memory_remember", text=at.text, tier=str(at.tier), agent=at.owner if at.tier is AGENT else None
        )

    yield Door("MCP memory_remember", remember, grows=True, fixed=True)
    yield Door(
        "MCP memory_resolve",
        lambda at: call(at, "memory_resolve", loser=at.entry, winner=at.other_entry, reason=at.text),
        brings="reason",
        names=("entry",),
    )
    yield Door(
        "MCP memory_dispute",
        lambda at: call(at, "memory_dispute", one=at.entry, other=at.other_entry, reason=at.text),
        brings="reason",
        names=("entry",),
    )
    yield Door(
        "MCP memory_forget",
        lambda at: call(at, "memory_forget", ids=[at.entry], reason=at.text),
        brings="reason",
        names=("entry",),
    )


def memory_tool() -> Iterator[Door]:
    def execute(at: Attempt, name: str, **more: object) -> object:
        tool = MemoryTool(at.project.root, actor=at.actor, environ=at.project.environ)
        return tool.execute({"command": name, **more})

    def folder(at: Attempt) -> str:
        return {SHARED: "/memories/shared", AGENT: f"/memories/agents/{at.owner}"}.get(
            at.tier, "/memories/conversation"
        )

    def path(at: Attempt) -> str:
        return f"{folder(at)}/{at.target.parts[-1]}"

    def note(at: Attempt) -> str:
        return f"{folder(at)}/{at.note}.md"

    yield Door(
        "memory tool create",
        lambda at: execute(at, "create", path=f"{folder(at)}/{at.new_note}.md", file_text=at.text),
        names=("owner", "note"),
        tiers=WITH_NOTES,
        fixed=True,
    )
    yield Door(
        "memory tool str_replace",
        lambda at: execute(at, "str_replace", path=path(at), old_str="- newer", new_str=at.text),
        grows=True,
        fixed=True,
    )
    yield Door(
        "memory tool str_replace",
        lambda at: execute(at, "str_replace", path=note(at), old_str="Note a.", new_str=at.text),
        names=("owner", "note"),
        tiers=WITH_NOTES,
        fixed=True,
    )
    yield Door(
        "memory tool insert",
        lambda at: execute(at, "insert", path=path(at), insert_line=2, insert_text=at.text),
        grows=True,
        fixed=True,
    )
    yield Door(
        "memory tool insert",
        lambda at: execute(at, "insert", path=note(at), insert_line=0, insert_text=at.text),
        names=("owner", "note"),
        tiers=WITH_NOTES,
        fixed=True,
    )
    yield Door("memory tool delete", lambda at: execute(at, "delete", path=path(at)), brings="", fixed=True)
    yield Door(
        "memory tool delete",
        lambda at: execute(at, "delete", path=note(at)),
        brings="",
        names=("owner", "note"),
        tiers=WITH_NOTES,
        fixed=True,
    )
    yield Door(
        "memory tool rename",
        lambda at: execute(at, "rename", old_path=note(at), new_path=f"{folder(at)}/user_c.md"),
        brings="",
        names=("owner", "note"),
        tiers=WITH_NOTES,
        fixed=True,
    )
    yield Door(
        "memory tool rename",
        lambda at: execute(at, "rename", old_path=f"{folder(at)}/user_a.md", new_path=f"{folder(at)}/{at.new_note}.md"),
        brings="",
        names=("note",),
        tiers=WITH_NOTES,
        fixed=True,
    )


def hosts() -> Iterator[Door]:
    """A host's own tools, where the guard that it asks lets them: what it denies, the host does not do."""

    def by_the_host(at: Attempt, tool: str, given: dict[str, object]) -> object:
        message = {"tool_name": tool, "tool_input": given, "cwd": str(at.project.root), "session_id": "s1"}
        agent = {"agent_type": at.actor.agent} if at.actor.agent else {}
        conversation = {"AMP_CONVERSATION": at.actor.conversation} if at.actor.conversation else {}
        data = json.dumps(message | agent).encode()
        answer = answer_to("pre-tool-use", "claude", data, at.project.environ | conversation)
        if answer:
            reason = str(answer)
            raise (SecretFound if "(rule " in reason else LimitExceeded if "allowed" in reason else AccessDenied)(
                reason
            )
        return True

    def write(at: Attempt) -> object:
        path = at.project.root / at.target.path
        content = path.read_text() + at.text + "\n"
        by_the_host(at, "Write", {"file_path": str(path), "content": content})
        return path.write_text(content)

    def edit(at: Attempt) -> object:
        path = at.project.root / at.target.path
        by_the_host(at, "Edit", {"file_path": str(path), "old_string": "- newer", "new_string": at.text})
        return path.write_text(path.read_text().replace("- newer", at.text))

    yield Door("amp hook", write, grows=True, names=())
    yield Door("amp hook", edit, grows=True, names=())


DOORS = (*library(), *commands(), *mcp_tools(), *memory_tool(), *hosts())


def record_doors() -> Iterator[Door]:
    """The ways to write records, which belong to the project as a whole."""

    def memory(use: Callable[[Memory, Attempt], object]) -> Callable[[Attempt], object]:
        def attempt(at: Attempt) -> object:
            with at.project.records(at.actor) as records:
                return use(records, at)

        return attempt

    def add(records: Memory, at: Attempt) -> object:
        provenance = Provenance("conversation", None, None)
        said = " ".join(at.text.split())
        made = new_record(RecordType.FACT, said, provenance=provenance, now=datetime.now(UTC), confidence=0.9)
        return records.add(made)[1]

    def other(at: Attempt) -> str:
        return next(one.id for one in at.project.records(Actor()).records() if one.body == DENIAL)

    def sides(at: Attempt) -> tuple[str, str]:
        told = {one.body: one.id for one in at.project.records(Actor()).records()}
        named = told["The cache is Redis."] if at.named is None else at.named
        return named, told["The cache is not Redis."]

    def gone(at: Attempt) -> str:
        archived = at.project.records(Actor()).records(state="archived")
        return archived[0].id if at.named is None else at.named

    record = ("record",)
    yield Door(
        "Memory.supersede",
        memory(lambda records, at: records.supersede(*sides(at), at.line)),
        brings="reason",
        names=record,
    )
    yield Door(
        "Memory.archive", memory(lambda records, at: records.archive(at.record, at.line)), brings="reason", names=record
    )
    yield Door(
        "Memory.reactivate",
        memory(lambda records, at: records.reactivate(gone(at), at.line)),
        brings="reason",
        names=record,
    )
    yield Door(
        "amp record archive",
        lambda at: run(at, "record", "archive", at.record, "--reason", at.line),
        brings="reason",
        names=record,
    )
    yield Door(
        "amp record reactivate",
        lambda at: run(at, "record", "reactivate", gone(at), "--reason", at.line),
        brings="reason",
        names=record,
    )
    yield Door(
        "MCP archive",
        lambda at: call(at, "archive", record_id=at.record, reason=at.line),
        brings="reason",
        names=record,
    )
    yield Door(
        "MCP reactivate",
        lambda at: call(at, "reactivate", record_id=gone(at), reason=at.line),
        brings="reason",
        names=record,
    )
    yield Door("Memory.remember", memory(lambda records, at: records.remember(at.text)), names=())
    yield Door("Memory.add", memory(add), names=())
    yield Door("amp import", lambda at: run(at, "import", at.page, "--apply"), brings="source", names=(), tells=True)
    yield Door(
        "Memory.resolve",
        memory(lambda records, at: records.resolve(at.record, other(at), at.line)),
        brings="reason",
        names=record,
    )
    yield Door(
        "Memory.dispute",
        memory(lambda records, at: records.dispute(*sides(at), at.line)),
        brings="reason",
        names=record,
    )
    yield Door(
        "Memory.redact", memory(lambda records, at: records.redact(at.record, at.line)), brings="reason", names=record
    )
    yield Door("Memory.sign", memory(lambda records, at: records.sign([at.record])), brings="", names=record)
    yield Door("Memory.consolidate", memory(lambda records, _: records.consolidate().done), brings="", names=())
    yield Door("Memory.decay", memory(lambda records, _: records.decay(rates=AT_ONCE).done), brings="", names=())
    yield Door("MCP remember", lambda at: call(at, "remember", text=at.text), names=())
    yield Door("MCP consolidate", lambda at: call(at, "consolidate"), brings="", names=())
    yield Door("amp record remember", lambda at: run(at, "record", "remember", at.text), names=())
    yield Door(
        "amp record dispute",
        lambda at: run(at, "record", "dispute", *sides(at), "--reason", at.line),
        brings="reason",
        names=record,
    )
    yield Door(
        "amp record resolve",
        lambda at: run(at, "record", "resolve", at.record, other(at), "--reason", at.line),
        brings="reason",
        names=record,
    )
    yield Door(
        "amp record redact",
        lambda at: run(at, "record", "redact", at.record, "--reason", at.line),
        brings="reason",
        names=record,
    )
    yield Door(
        "amp record sign",
        lambda at: run(at, "record", "sign", at.record, "--identity", str(at.project.identity)),
        brings="",
        names=record,
    )
    yield Door("amp consolidate", lambda at: run(at, "consolidate", "--apply"), brings="", names=())
    yield Door("amp decay", lambda at: run(at, "decay", "--apply"), brings="", names=())


RECORD_DOORS = tuple(record_doors())


# -- every door is in the table ----------------------------------------------------------------------------------------

READING = {
    *("amp recall", "amp route", "amp show", "amp list", "amp status", "amp note list", "amp note show", "amp where"),
    "amp view",
    *(
        "amp search",
        "Workspace.check_begun",
        "Workspace.check_write",
        "Workspace.search",
        "Workspace.search_archived",
        "Memory.search",
        "Memory.echoes",
        "Memory.meets",
    ),
    *("amp bench formats", "amp conformance", "amp convert", "amp export", "amp schema", "Workspace.documents"),
    *("Workspace.plan_distillation", "Workspace.plan_learning", "Workspace.plan_git_attributes"),
    *("Workspace.plan_closing", "Workspace.plan_renaming", "Workspace.diff", "amp diff"),
    *("Workspace.usage", "Workspace.life", "Workspace.refused_proposals", "Workspace.conversations_over"),
    *("amp help", "amp version", "amp completion"),
    *("Workspace.originals", "Workspace.why_refused", "Memory.signers", "Memory.newest"),
    *("amp find-stores", "Workspace.find_stores", "Workspace.plan_adoption"),
    *("amp doctor", "amp record history", "amp record list", "amp record show", "amp record verify"),
    *("MCP memory_recall", "MCP memory_search", "MCP memory_show", "MCP recall", "MCP status", "memory tool view"),
    *(
        "Workspace.check",
        "Workspace.diagnose",
        "Workspace.entries",
        "Workspace.entry",
        "Workspace.files",
        "Workspace.git_notes",
    ),
    *("Workspace.left_out", "Workspace.note_folders", "Workspace.notes", "Workspace.open", "Workspace.plan_pruning"),
    *("Workspace.read_file", "Workspace.recall", "Workspace.restorable", "Workspace.review", "Workspace.show"),
    *("Workspace.show_note", "Workspace.status", "Workspace.target", "Workspace.targets", "Workspace.where"),
    *(
        "Workspace.why_read_only",
        "Memory.chain",
        "Memory.check",
        "Memory.close",
        "Memory.echoes",
        "Memory.meets",
        "Memory.find_id",
        "Memory.history",
        "Memory.recall",
    ),
    *("Memory.records", "Memory.saying", "Memory.status", "Memory.verify"),
}
APART = {
    "Workspace.sync": "heals, which needs something to heal: tested below",
    "amp sync": "tested below",
    "amp index": "brings an index up to date, which needs a note without a line: tested below",
    "Workspace.index_known": "the watcher's: it writes no text but index lines, and acts for nobody",
    "amp watch": "the watcher's",
    "amp merge": "git's: what an agent may not do with it is tested below",
    "amp install": "writes a host's settings, no memory",
    "amp uninstall": "takes that out of them",
    "Workspace.apply_distillation": "remembers and forgets; what it may not is left out: tests/test_distilling.py",
    "Workspace.restore_distillation": "rewrites: the same",
    "amp distill": "the same",
    "amp learn": "the same",
    "amp close": "the same, and archives: tests/verbs/test_distill.py",
    "Workspace.close": "the same",
    "amp agent rename": "moves what there is: tests/verbs/test_agents.py",
    "Workspace.rename_agent": "the same",
    "amp ledger compact": "adds nothing: tests/change/test_compaction.py",
    "Workspace.compact_ledgers": "the same",
    "Workspace.link_originals": "moves the text of rules files: tests/verbs/test_adopt_rules.py",
    "amp record init-store": "prints SQL, or lays out a store on a server: tests/records",
    "Workspace.refuse": "writes ids and first words of proposals, no memory",
    "Workspace.forget_refusals": "takes these out",
    "amp mcp": "starts a server, whose tools are doors of their own",
    "Workspace.set_git_tracking": "writes .gitignore, no memory",
    "Workspace.set_git_attributes": "writes .gitattributes, no memory",
    "Memory.export": "writes a file that a person names, no memory",
}
PROGRAMS = {"amp": "amp", "agent-memory": "amp", "amp-mcp": "MCP", "amp-hook": "amp hook"}
"""Each script that is installed, and what its doors are called here."""


def commands_of(group: click.Group, name: str = "amp") -> Iterator[str]:
    context = click.Context(group)
    for verb in group.list_commands(context):
        command = group.get_command(context, verb)
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{name} {verb}")
        else:
            yield f"{name} {verb}"


def methods_of(kind: type) -> Iterator[str]:
    return (f"{kind.__name__}.{name}" for name in dir(kind) if name[0] != "_" and not is_property(getattr(kind, name)))


def is_property(value: object) -> bool:
    return isinstance(value, property)


def names_of_doors() -> set[str]:
    """Return what each command, tool and public method is called in the tables of doors."""
    return {
        *commands_of(amp),
        *(f"MCP {tool.name}" for tool in TOOLS),
        *(f"memory tool {name}" for name in MemoryTool(actor=Actor()).commands),
        *methods_of(Workspace),
        *methods_of(Memory),
    }


def test_every_door_there_is_stands_in_the_table():
    there = names_of_doors()
    writing = {door.name for door in (*DOORS, *RECORD_DOORS)}
    assert not writing & READING
    assert there == writing | READING | set(APART)
    assert {f"MCP {tool.name}" for tool in TOOLS if tool.writes} == {
        name for name in writing if name.startswith("MCP ")
    }


def test_every_program_that_is_installed_is_known():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["scripts"]) == set(PROGRAMS)


def door_id(door: Door) -> str:
    same = [one for one in (*DOORS, *RECORD_DOORS) if one.name == door.name]
    return door.name if len(same) == 1 else f"{door.name} {same.index(door) + 1}"


each_door = pytest.mark.parametrize("door", DOORS, ids=door_id)
each_record_door = pytest.mark.parametrize("door", RECORD_DOORS, ids=door_id)


# -- who may write -----------------------------------------------------------------------------------------------------

OUTSIDERS = [
    ("shared", Actor("reviewer")),
    ("shared", Actor("helper", "c1")),
    ("agent:dev", Actor("reviewer")),
    ("agent:dev", Actor("tester")),
    ("agent:dev", Actor("architect")),
    ("agent:dev", Actor("de")),
    ("agent:dev", Actor("dev2", "dev")),
    ("conversation:c1", Actor("dev", "c2")),
    ("conversation:c1", Actor("dev", "c")),
    ("conversation:c1", Actor("dev", "c10")),
    ("conversation:c1", Actor("reviewer", "c1")),
    ("conversation:c1", Actor("helper", "c1")),
]
INSIDERS = [
    ("shared", Actor()),
    ("shared", Actor("somebody-new")),
    ("agent:dev", Actor()),
    ("agent:dev", Actor("dev", "c1")),
    ("agent:dev", Actor("plugin:DEV")),
    ("conversation:c1", Actor("dev", "c1")),
    ("conversation:c1", Actor("tester", "C1")),
]


def attempts(project: Project, door: Door, who: list[tuple[str, Actor]], text: str = FACT) -> Iterator[Attempt]:
    for target, actor in who:
        attempt = Attempt(project, actor, TARGETS[target].tier, TARGETS[target].owner, text)
        if door.can_try(attempt):
            yield attempt


def some(every: Iterator[Attempt], door: Door, count: int) -> list[Attempt]:
    """Return so many attempts at a door, from another place in their row than at its neighbours."""
    found = list(every)
    first = [*DOORS, *RECORD_DOORS].index(door) % len(found)
    return [*found[first:], *found[:first]][:count]


def refusal(door: Door, attempt: Attempt) -> AgentMemoryError | None:
    """Make an attempt that must fail; return what it was refused with, None where it did nothing.

    A ledger may keep what has no room in its document (decision 44).
    """
    before = attempt.project.tree()
    error = None
    try:
        assert not door.attempt(attempt), f"{door.name} has done it: {attempt}"
    except AgentMemoryError as refused:
        error = refused
    after = attempt.project.tree()
    if door.tells:
        before, after = (
            {path: data for path, data in tree.items() if not path.endswith("ledger.jsonl")} for tree in (before, after)
        )
    assert after == before, f"{door.name} was refused and wrote: {attempt}"
    return error


@pytest.mark.requirement("S4-12", "S4-14", "S4-17", "S4-52", "S4-53", "S4-54", "S4-55")
@each_door
def test_whoever_may_not_write_is_refused(project, door, sized):
    """B74, B79. The short run tries three at each door, others at the next."""
    helper = project.root / ".claude" / "agents" / "helper.md"
    helper.parent.mkdir(parents=True)
    helper.write_text("---\nname: helper\ndisallowedTools: Write, Edit\n---\n")
    for attempt in some(attempts(project, door, OUTSIDERS), door, sized(3, 12, 12)):
        error = refusal(door, attempt)
        if door.tells:
            assert error is None or isinstance(error, (AccessDenied, InvalidArgument))
        elif attempt.tier is SHARED:
            # Everyone reads it, so there the rule itself is named; what may not be read is not there at all.
            assert isinstance(error, AccessDenied), (door.name, attempt, error)
            assert "report findings in your output" in str(error)
        else:
            assert error is None or isinstance(error, (AccessDenied, InvalidArgument, MemoryToolError))


@each_door
def test_whoever_may_write_is_served(project, kept, door, sized):
    """The short run tries one at each door, another at the next."""
    for attempt in some(attempts(project, door, INSIDERS), door, sized(1, 7, 7)):
        kept.put_back()
        if door.makes:
            (project.root / attempt.target.path).unlink()
        before = project.tree()
        assert door.attempt(attempt), (door.name, attempt)
        assert project.tree() != before, (door.name, attempt)


@pytest.mark.slow
@pytest.mark.requirement("S4-54")
@each_record_door
def test_a_read_only_agent_changes_no_record(project, door):
    for actor in (Actor("reviewer"), Actor("architect", "c1")):
        error = refusal(door, Attempt(project, actor, SHARED, ""))
        assert isinstance(error, InvalidArgument if door.tells else AccessDenied)


@pytest.mark.slow
@each_record_door
def test_an_agent_that_may_write_changes_records(project, door):
    attempt = Attempt(project, Actor("dev"), SHARED, "")
    before = attempt.project.tree()
    assert door.attempt(attempt)
    # At its own rates nothing decays on the day it is remembered.
    assert (attempt.project.tree() != before) is (door.name != "amp decay")


# -- what may be written -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.requirement("S0-30", "S2-05", "S2-29")
@pytest.mark.parametrize("door", [one for one in (*DOORS, *RECORD_DOORS) if one.brings], ids=door_id)
def test_no_secret_is_written(project, door, sized):
    """B72. The short run tries one at each door, another at the next."""
    text = f"CI uses {TOKEN}."
    every = iter([Attempt(project, Actor("dev"), SHARED, "", text)])
    every = every if door in RECORD_DOORS else attempts(project, door, INSIDERS, text)
    for attempt in some(every, door, sized(1, 7, 7)):
        error = refusal(door, attempt)
        if door.tells:
            continue
        assert isinstance(error, SecretFound), (door.name, attempt, error)
        assert "rule github-token" in str(error)
        assert TOKEN not in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("door", [one for one in DOORS if one.brings], ids=door_id)
def test_nothing_is_written_that_was_copied_from_where_a_secret_is_not_shown(project, door, sized):
    """It would take the place of the secret in a file, and look as if somebody had taken that out."""
    copied = masked(f"CI uses {TOKEN}, as ever.")
    for attempt in attempts(project, door, INSIDERS[:: sized(3, 1, 1)], copied):
        before = project.tree()
        error = refusal(door, attempt)
        if not door.tells:
            assert "copied from where a secret is not shown" in str(error), (door.name, attempt, error)
            assert project.tree() == before


HIDDEN = ("\u200b", "\U000e0041", "\ufe01", "\u202e", "\x1b")


@pytest.mark.slow
@pytest.mark.parametrize("door", [one for one in (*DOORS, *RECORD_DOORS) if one.brings], ids=door_id)
def test_nothing_hidden_is_written(make, door, sized):
    """What may come shows its hidden characters as visible escapes; anything else is refused in the same words."""
    for hidden in HIDDEN[:: sized(3, 1, 1)]:
        project = make()
        text = f"CI uses{hidden} Postgres."
        tried = Attempt(project, Actor("dev"), SHARED, "", text)
        for attempt in [tried] if door in RECORD_DOORS else attempts(project, door, INSIDERS[:: sized(3, 1, 1)], text):
            before = project.tree()
            told = ""
            try:
                door.attempt(attempt)
            except AgentMemoryError as error:
                told = str(error)
            assert not told or door.tells or "the invisible or control character" in told, (door.name, attempt, told)
            after = project.tree()
            for path in (path for path, data in after.items() if data != before.get(path)):
                assert hidden.encode() not in after[path], (door.name, path)
                is_json = path.endswith(".jsonl")
                assert not is_json or json.dumps(hidden)[1:-1].encode() not in after[path].replace(b"\\\\", b"")


@pytest.mark.slow
@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize("door", [one for one in (*DOORS, *RECORD_DOORS) if one.brings == "text"], ids=door_id)
def test_no_text_larger_than_a_file_is_written(project, door):
    text = "A line of a fact, again and again, as it were.\n" * 600
    tried = Attempt(project, Actor("dev"), SHARED, "", text)
    for attempt in [tried] if door in RECORD_DOORS else attempts(project, door, INSIDERS, text):
        error = refusal(door, attempt)
        assert door.tells or isinstance(error, (LimitExceeded, RefusedText)), (door.name, attempt, error)


@pytest.mark.slow
@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize("door", [one for one in DOORS if one.grows], ids=door_id)
def test_no_document_grows_past_its_limit(project, door, sized):
    for attempt in some(attempts(project, door, INSIDERS), door, sized(2, 7, 7)):
        lines = (project.root / TARGETS[str(Target(attempt.tier, attempt.owner))].path).read_text().count("\n")
        (project.root / ".scaffolding" / "amp.toml").write_text(f"[limits]\nmax_lines = {lines}\n")
        error = refusal(door, attempt)
        assert door.tells or error is None or isinstance(error, LimitExceeded), (door.name, attempt, error)


# -- names -------------------------------------------------------------------------------------------------------------

_INVISIBLE = [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A)]
_INVISIBLE += [0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x180E, 0x3164, 0xFE0F, 0xFEFF, 0xFFF9, 0xE0001, 0xE0041]
_DEVICES = ["con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789")]
HOSTILE = [
    *("", ".", "..", "...", "/", "\\", "~", "-", " ", "*", "?", "x" * 129, "x" * 300, "x" * 5000, "é" * 130),
    *(
        "../x",
        "../../x",
        "../../../etc/passwd",
        "a/..",
        "a/../../b",
        "a\\..\\..\\b",
        "..\\x",
        "/etc",
        "//x",
        "a/b",
        "./a",
    ),
    *("C:x", "C:\\x", "\\\\host\\share", "file:///x", "%2e%2e", "..%2fx", "%00", "a%b", "....//x", ".../x", "a//b"),
    *(".x", "x.", "-x", "x-", " x", "x ", "-rf", "--help", "--root", "x..", ".git", ".scaffolding", "$(id)", "`id`"),
    *(
        "devel\u043eper",
        "\uff44ev",
        "ﬁx",
        "①",
        "\U0001f600",
        "x\U0001f600",
        "a\u0301\u0301 b",
        "\u0301x",
        "\u2024x",
        "x\u2215y",
    ),
    *("caf\udce9", "\ud800", "\udfff x", "a b", "team dev", "a\u00a0b", "a\u3000b", "a\u2028b", "a\u2029b", "a\x85b"),
    *(f"a{chr(code)}b" for code in (*range(32), 127)),
    *(f"a{chr(code)}b" for code in _INVISIBLE),
    *(chr(code) for code in _INVISIBLE),
    *(f"a{sign}b" for sign in "!\"#$&'()*+,;<=>?@[]^`{|}~"),
    *(f"{sign}" for sign in "!\"#$&'()+,;<=>@[]^`{|}"),
    *_DEVICES,
    *(name.upper() for name in _DEVICES),
    *(f"{name}.md" for name in _DEVICES),
    *(f"{name}.tar.gz" for name in _DEVICES),
]


def is_hostile_file(name: str) -> bool:
    """Whether a note, whose name stands between a type and `.md`, would lead elsewhere or hide."""
    odd = any(unicodedata.category(one)[0] == "C" for one in name)
    return odd or not name or len(name) > 250 or any(sign in name for sign in "/\\\0") or ".." in name


def test_there_are_three_hundred_hostile_names():
    assert len(set(HOSTILE)) == len(HOSTILE) >= 300
    for name in HOSTILE:
        for tier in (AGENT, CONVERSATION):
            with pytest.raises(AgentMemoryError):
                check_owner(tier, name)


NAMING = [one for one in (*DOORS, *RECORD_DOORS) if one.names]
"""The doors that are told a name."""


@pytest.mark.slow
@pytest.mark.requirement("S4-11")
@pytest.mark.parametrize("door", NAMING, ids=door_id)
def test_no_hostile_name_is_taken(make, door, sized):
    """B40, B41: each name at every sixth door; with --long each name at each door."""
    every = sized(6, 6, 1)
    project = make()
    before = project.tree()
    folders = folders_of(project)
    for name in HOSTILE[NAMING.index(door) % every :: every]:
        # A path of the memory tool is taken apart at its slashes, so there such a name is several.
        if door.name.startswith("memory tool") and "/" in name:
            continue
        for attempt in with_name(door, project, name):
            with suppress(AgentMemoryError):
                assert not door.attempt(attempt), (door.name, attempt, name)
    assert project.tree() == before
    assert folders_of(project) == folders


def folders_of(project: Project) -> list[Path]:
    """Return every folder, but those of the local state: it came with a copy, and the first write sets it aside."""
    return sorted(path for path in project.root.parent.rglob("*") if path.is_dir() and ".amp" not in path.parts)


def with_name(door: Door, project: Project, name: str) -> Iterator[Attempt]:
    """Yield the attempts in which this name stands for an owner, an entry, a note or a record."""
    for what in door.names:
        if what == "owner":
            for tier in (AGENT, CONVERSATION):
                if tier in door.tiers and not (door.fixed and tier is CONVERSATION):
                    yield Attempt(project, Actor(), tier, name)
        elif door.name.startswith("amp ") and name.startswith("--"):
            continue  # an option at the command line, and no name
        elif what != "note" or is_hostile_file(name):
            yield Attempt(project, Actor("dev"), SHARED, "", named=name)


# -- doors apart -------------------------------------------------------------------------------------------------------


def test_healing_is_a_write_too(make):
    project = make()
    path = project.root / TARGETS["agent:dev"].path
    before = path.read_text()
    project.workspace.remember("Overwritten.", agent="dev")
    path.write_text(before + "- of an editor\n")
    tree = project.tree()
    for actor in (Actor("tester"), Actor("architect"), Actor("reviewer")):
        assert not any(one.put_back and not one.problem for one in project.workspace.sync(actor=actor, apply=True))
        at = Attempt(project, actor, AGENT, "dev")
        assert run(at, "sync", "--apply", codes=(0, 2, 3, 4))
        assert project.tree() == tree
    assert run(Attempt(project, Actor("dev"), AGENT, "dev"), "sync", "--apply")
    assert "- Overwritten." in path.read_text()


def test_an_index_is_brought_up_to_date_by_those_who_may_write_it(make):
    project = make()
    (project.root / TARGETS["agent:dev"].path).with_name("user_new.md").write_text("A new note.\n")
    tree = project.tree()
    for actor in (Actor("tester"), Actor("architect"), Actor("reviewer")):
        with pytest.raises(AccessDenied):
            run(Attempt(project, actor, AGENT, "dev"), "index", "--agent", "dev")
        assert project.tree() == tree
    assert run(Attempt(project, Actor("dev"), AGENT, "dev"), "index", "--agent", "dev")
    assert project.tree() != tree


def test_no_agent_merges_into_memory_by_hand(make):
    project = make()
    ours = project.root / TARGETS["shared"].path
    theirs = project.root / "theirs.md"
    theirs.write_text(DOCUMENT + "- theirs\n")
    tree = project.tree()
    for agent in ("dev", "reviewer"):
        with pytest.raises(AccessDenied):
            run(Attempt(project, Actor(agent), SHARED, ""), "merge", str(ours), str(ours), str(theirs), "--write")
        assert project.tree() == tree
