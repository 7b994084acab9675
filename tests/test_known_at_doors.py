"""What is known of an entry besides its text is there behind every door, or the loss is said.

An entry with any of it goes through every format and every verb that takes an entry somewhere else.
"""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Actor, Memory, Workspace
from agent_memory_protocol.answers import About, StoredEntry
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.formats import table
from agent_memory_protocol.formats.jsonl_rules import KINDS
from agent_memory_protocol.layout import Target, Tier, parse_target
from agent_memory_protocol.mcp.tier_tools import find
from agent_memory_protocol.mcp.tool import Door as McpDoor
from agent_memory_protocol.memory_tool.tool import MemoryTool

TEXT = "The workers retry a failed job with quokka backoff"
DEV, CONVERSATION = Target(Tier.AGENT, "dev"), Target(Tier.CONVERSATION, "c1")
TODAY = date(2026, 6, 1)
EVERYTHING = About(
    *("https://example.com/a", "avoid", 0.25, ("git", "b c")),
    writer="tester",
    replaced=("0123456789ab",),
    scope="github.com",
)


@st.composite
def entries(draw: st.DrawFn) -> tuple[About, str, str]:
    """Draw what is known of an entry, the marks in front of it, and the section that it is in."""
    about = About(
        source=draw(st.sampled_from([None, "user", "https://example.com/a"])),
        kind=draw(st.sampled_from([None, *KINDS])),
        confidence=draw(st.sampled_from([None, 0.0, 0.25, 0.7, 1.0])),
        tags=draw(st.sampled_from([(), ("git",), ("Größe", "b c")])),
        writer=draw(st.sampled_from([None, "tester"])),
        replaced=draw(st.sampled_from([(), ("0123456789ab",)])),
        scope=draw(st.sampled_from([None, "github.com", "project:Shop"])),
    )
    marks = draw(st.lists(st.sampled_from(["[keep]", "[until 2027-01-01]", "[2026-03-01]"]), unique=True))
    return about, " ".join(sorted(marks)), draw(st.sampled_from(["", "Infra"]))


@dataclass
class Case:
    """A project with one entry in its shared document, and what was said of losses."""

    folder: Path
    about: About
    marks: str
    section: str
    losses: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.folder / "project", environ={"HOME": str(self.folder)})

    def begin(self, target: str = "shared", tier: Tier = Tier.SHARED) -> StoredEntry:
        (self.folder / "project" / ".scaffolding").mkdir(parents=True, exist_ok=True)
        where = parse_target(target)
        return self.workspace.remember(
            f"{self.marks} {TEXT}".strip(),
            tier=tier,
            agent=where.owner if tier is Tier.AGENT else None,
            conversation=where.owner if tier is Tier.CONVERSATION else None,
            section=self.section or None,
            dated=None if "[2026" in self.marks else False,
            about=self.about,
            today=TODAY,
        ).entry

    def amp(self, *args: str, root: bool = True) -> str:
        where = ["--root", str(self.folder / "project")] if root else []
        done = CliRunner().invoke(amp, [*args, *where], env={"HOME": str(self.folder), "COLUMNS": "400"})
        assert done.exit_code == 0, (args, done.output)
        self.losses.append(done.stderr)
        return done.stdout

    def entry(self, target: str = "shared", word: str = "quokka") -> StoredEntry:
        (found,) = (one for one in self.workspace.entries(None, [parse_target(target)]) if word in one.text)
        return found

    def write(self, text: Callable[[str], str], target: str = "shared") -> None:
        path = self.folder / "project" / parse_target(target).path
        path.write_text(text(path.read_text()))


def told(entry: StoredEntry) -> dict[str, object]:
    """Return what is known of an entry, its marks among it; nothing for what nobody said."""
    known = {**entry.about.to_json(), "keep": entry.keep, "until": entry.until, "date": entry.date}
    return {key: value for key, value in known.items() if value not in (None, []) and value is not False}


Door = Callable[[Case], Iterator[StoredEntry]]
DOORS: dict[str, Door] = {}


def door(name: str) -> Callable[[Door], Door]:
    def keep(used: Door) -> Door:
        DOORS[name] = used
        return used

    return keep


def through(name: str, suffix: str) -> Door:
    """Return the door of one format: out with `export`, through `convert`, and in with `import`."""

    def export(at: Case) -> Iterator[StoredEntry]:
        at.begin()
        path, again = at.folder / f"out{suffix}", at.folder / "again.jsonl"
        at.amp("export", "shared", "--output", str(path))
        at.amp("import", str(path), "--to", "agent:dev", "--accept-unsigned", "--apply")
        yield at.entry("agent:dev")
        at.amp("convert", str(path), str(again), root=False)
        at.amp("import", str(again), "--to", "agent:other", "--accept-unsigned", "--apply")
        yield at.entry("agent:other")

    return export


DOORS |= {f"export and import {one.name}": through(one.name, one.suffixes[0]) for one in table.FORMATS if one.writes}


@door("show and list")
def show(at: Case) -> Iterator[StoredEntry]:
    yield at.begin()
    yield at.entry()
    yield at.workspace.entry(at.entry().id[:6])
    said = at.entry().to_json()
    assert json.loads(at.amp("show", at.entry().id, "--json"))["entry"] == said
    assert json.loads(at.amp("show", "shared", "--about", "--json"))["entries"] == [said]
    (hit,) = json.loads(at.amp("search", " ".join(at.about.tags) or "quokka", "--json"))["hits"]
    assert hit["about"] == {key: said[key] for key in hit["about"]}
    for words in (at.amp("list", "--long"), at.amp("show", at.entry().id), at.amp("show", "shared", "--about")):
        assert str(at.entry().about) in words


@door("edit")
def edit(at: Case) -> Iterator[StoredEntry]:
    at.amp("edit", at.begin().id, f"{TEXT} and jitter")
    yield at.entry()


@door("an edit by hand")
def edit_by_hand(at: Case) -> Iterator[StoredEntry]:
    at.begin()
    at.write(lambda text: text.replace(TEXT, f"{TEXT} and jitter"))
    at.workspace.remember("Something else.")
    yield at.entry()


@door("the memory tool")
def memory_tool(at: Case) -> Iterator[StoredEntry]:
    at.begin()
    at.workspace.remember("Another fact about axolotl.")
    tool = MemoryTool(root=at.folder / "project", actor=Actor())
    path = "/memories/shared/KNOWLEDGE.md"
    tool.execute({"command": "str_replace", "path": path, "old_str": TEXT, "new_str": f"{TEXT} and jitter"})
    yield at.entry()


@door("forget and restore")
def restore(at: Case) -> Iterator[StoredEntry]:
    kept = at.begin()
    (gone,) = json.loads(at.amp("forget", kept.id, "--json"))["forgotten"]
    (listed,) = json.loads(at.amp("restore", "--list", "--json"))["entries"]
    assert gone["about"] == listed["about"] == kept.about.to_json()
    at.amp("restore", kept.id, "--apply")
    yield at.entry()


@door("adopt another scaffolding")
def adopt(at: Case) -> Iterator[StoredEntry]:
    at.begin("agent:dev", Tier.AGENT)
    there = at.folder / "there"
    shutil.move(at.folder / "project", there)
    (at.folder / "project" / ".scaffolding").mkdir(parents=True)
    at.amp("adopt", str(there), "--apply")
    yield at.entry("agent:dev")


@door("adopt agent-memory/0.1")
def adopt_lines(at: Case) -> Iterator[StoredEntry]:
    at.begin()
    at.amp("export", "shared", "--output", str(at.folder / "memory.jsonl"))
    shutil.rmtree(at.folder / "project")
    (at.folder / "project" / ".scaffolding").mkdir(parents=True)
    at.amp("adopt", str(at.folder / "memory.jsonl"), "--apply")
    at.losses.append("2026-03-01")  # what is adopted from there is lasting
    yield at.entry()


@door("learn")
def learn(at: Case) -> Iterator[StoredEntry]:
    at.section = "Decisions"
    at.begin("conversation:c1", Tier.CONVERSATION)
    at.amp("learn", "c1", "--agent", "dev", "--apply")
    at.losses.append("2026-03-01, replaced")  # a lesson is lasting, and what it replaced stays where it was
    yield at.entry("agent:dev")


@door("the MCP server")
def mcp(at: Case) -> Iterator[StoredEntry]:
    (at.folder / "project" / ".scaffolding").mkdir(parents=True)
    known = at.about.to_json()
    said = {key: known[key] for key in ("source", "kind", "confidence", "tags") if known[key] not in (None, [])}
    at.losses.append("writer, replaced, scope")  # its tools take none of these; who calls is the writer
    with Memory(at.folder / "records") as records:
        server = McpDoor(at.workspace, Actor("mcp-agent"), records)
        tools = {name: find(server, name) for name in ("memory_remember", "memory_show", "memory_search")}
        answers = []
        for name, sent in (
            ("memory_remember", {"text": f"{at.marks} {TEXT}".strip(), "tier": "shared", **said}),
            ("memory_show", {}),
            ("memory_search", {"query": "quokka"}),
        ):
            tool = tools[name]
            assert tool is not None
            answers.append(tool.call(server, sent).to_json())
    entry = at.entry()
    done, shown, hits = answers
    assert done["entry"] == entry.to_json()
    assert shown["entries"] == [entry.to_json()]
    assert hits["hits"][0]["about"] == entry.about.to_json()  # type: ignore[index]
    assert entry.about.writer == "mcp-agent"
    yield entry


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
@settings(max_examples=1 if settings().max_examples < 100 else 2)
@example(drawn=(EVERYTHING, "[2026-03-01] [keep] [until 2027-01-01]", "Infra"))
@given(drawn=entries())
def test_what_is_known_of_an_entry_is_behind_every_door_or_its_loss_is_said(name, drawn):
    with tempfile.TemporaryDirectory() as folder:
        at = Case(Path(folder).resolve(), *drawn)
        wanted = {
            **{key: value for key, value in at.about.to_json().items() if value},
            **({"confidence": at.about.confidence} if at.about.confidence is not None else {}),
            **({"keep": True} if "[keep]" in at.marks else {}),
            **({"until": date(2027, 1, 1)} if "[until" in at.marks else {}),
            **({"date": date(2026, 3, 1)} if "[2026" in at.marks else {}),
        }
        for found in DOORS[name](at):
            known = told(found)
            lost = "\n".join(at.losses)
            for key, value in wanted.items():
                is_said = key in lost or str(value) in lost
                assert is_said or _holds(known.get(key), value), (key, value, known, lost)


def _holds(found: object, wanted: object) -> bool:
    """Say whether what was known is there; there may be more."""
    return set(wanted) <= set(found or ()) if isinstance(wanted, list) and isinstance(found, list) else found == wanted


DATED_BY_OTHERS = (
    "# S\n\n## 2026-03-01\n\n- a quokka\n\n## Log\n\n**Learned (2026-03-02):**\n\n- a wombat\n- [2026-03-03] an okapi\n"
)


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in table.FORMATS if one.writes], ids=lambda one: one.name)
def test_what_a_heading_or_a_label_dates_gets_no_date_of_its_own_in_any_format(tmp_path, one):
    at = Case(tmp_path.resolve(), About(), "", "")
    path = at.folder / "project" / Target(Tier.SHARED).path
    path.parent.mkdir(parents=True)
    path.write_text(DATED_BY_OTHERS)
    wanted = [(entry.text, entry.date, entry.date_source) for entry in at.workspace.entries()]
    out, again = str(at.folder / f"out{one.suffixes[0]}"), str(at.folder / "again.md")
    at.amp("export", "shared", "--output", out)
    at.amp("import", out, "--to", "agent:dev", "--accept-unsigned", "--apply")
    at.amp("convert", out, again, root=False)
    at.amp("import", again, "--to", "agent:other", "--accept-unsigned", "--apply")
    for target in ("agent:dev", "agent:other"):
        entries = at.workspace.entries(None, [parse_target(target)])
        assert [(entry.text, entry.date, entry.date_source) for entry in entries] == wanted
