"""What a label says of an entry is there behind every door: in front of its text, above its list, or in a key.

Each door that carries an entry is tried with documents of many shapes. Where the door is in the table of
`test_doors` and in none here, a test fails, so a new door comes with its trial.
"""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Actor, Memory, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.formats import table
from agent_memory_protocol.formats.entry import MemoryEntry
from agent_memory_protocol.hosts.hook import answer_to
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.mcp.tier_tools import find
from agent_memory_protocol.mcp.tool import Door as McpDoor
from agent_memory_protocol.memory_tool.tool import MemoryTool
from agent_memory_protocol.text import labels
from agent_memory_protocol.text.over_lists import label_in
from agent_memory_protocol.tiers import document

from .each_row import each_row
from .test_doors import names_of_doors

SHARED, AGENT = Target(Tier.SHARED), Target(Tier.AGENT, "dev")
LABELS = (
    *("Never:", "**Always:**", "**Before a release**", "_Nie auf dem Zweig_:", "Staging is red. Nowhere:"),
    *("Off limits –", "What is not allowed?", "**Rarely**\n\n<!-- since May -->", "Git:\n\nOn main:"),
    *("<b>Taboo:</b>", "<details>\n<summary>Obsolete</summary>"),
    *("**Scope:** staging only", "Applies to: the EU\nOwner: Ann", "*When:* the nightly job runs\n\nAvoid:"),
)
"""What is above lists. Of one only the second sentence is the label, and of one both paragraphs are."""
WORDS = ("quokka", "narwhal", "ibex", "okapi", "axolotl", "pangolin", "tapir", "wombat")
SECTIONS = ("", "Git", "CI")
FREE = "zebra"
"""The word of an entry that comes in under no label."""


# -- documents, and what they say of each word -------------------------------------------------------------------------


@dataclass(frozen=True)
class Page:
    """A document: its lists, each with its section, its label and the words of its items."""

    lists: tuple[tuple[str, str, tuple[str, ...]], ...]

    @property
    def text(self) -> str:
        lines = ["# S"]
        section = ""
        for heading, label, words in self.lists:
            if heading != section:
                section = heading
                lines += ["", f"## {heading}"]
            lines += ["", label] if label else []
            lines += ["", *(f"- {said(word)}" for word in words)]
        return "\n".join(lines) + "\n"

    @property
    def keys(self) -> dict[str, str]:
        """The key of the label of each word, "" for none."""
        return {word: labels.key(label_in([label])) for _, label, words in self.lists for word in words}


def said(word: str) -> str:
    return f"run the {word} worker with care"


@st.composite
def pages(draw: st.DrawFn) -> tuple[Page, str]:
    """Draw a document, and one of its words that is under a label."""
    words = draw(st.permutations(WORDS))
    lists = []
    for section in SECTIONS:
        chosen = draw(st.permutations(LABELS))[: draw(st.integers(0, 2))]
        for label in (*([""] if draw(st.booleans()) else []), *chosen):
            count = draw(st.integers(1, 2))
            if len(words) >= count:
                lists.append((section, label, tuple(words[:count])))
                words = words[count:]
    if not any(label for _, label, _ in lists):
        lists.append((lists[-1][0] if lists else "", draw(st.sampled_from(LABELS)), (words[0],)))
    page = Page(tuple(lists))
    return page, draw(st.sampled_from([word for word, key in page.keys.items() if key]))


# -- what an output says of each word ----------------------------------------------------------------------------------


def mentions(output: str) -> Iterator[tuple[str, str]]:
    """Yield each word that an output mentions, with the key of the label that governs it there."""
    try:
        values = [json.loads(output)]
    except ValueError:
        yield from _in_text(output)
    else:
        for value in values:
            yield from _in_json(value)


def _in_json(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        named = value.get("label")
        for inner in value.values():
            found = [*_in_json(inner)]
            # Beside a key that names the label, the text is without it.
            own = labels.key(named) if isinstance(inner, str) and isinstance(named, str) else ""
            yield from ((word, key or own) for word, key in found)
    elif isinstance(value, list):
        for inner in value:
            yield from _in_json(inner)
    elif isinstance(value, str):
        yield from _in_text(value)


def _in_text(text: str) -> Iterator[tuple[str, str]]:
    lines: list[str] = []
    last = 0
    for line in text.split("\n"):
        numbered = re.match(r" *(\d+)(  |\t)(.*)", line)
        if numbered:
            lines += [""] * (int(numbered[1]) > last + 1)  # lines between the two are not shown
            last = int(numbered[1])
        # The frame of recall's block would be HTML.
        lines.append(numbered[3] if numbered else re.sub(r"^</?(?:agent-)?memory\b.*", "", line))
    page = document.parse("\n".join(lines).encode(), SHARED)
    above = {
        number: labels.key(page.label(entry))
        for entry in page.outline.entries
        for number in range(entry.start, entry.end)
    }
    for number, line in enumerate(page.lines):
        for word in re.findall(f"the ({'|'.join((*WORDS, FREE))}) worker", line):
            said_in = [label_in([label]) for label in LABELS]
            in_front = [label for label in said_in if labels.in_front(label, "") in line[: line.index(word)]]
            yield word, labels.key(in_front[-1]) if in_front else above.get(number, "")


# -- the doors ---------------------------------------------------------------------------------------------------------


@dataclass
class Case:
    """A project with a document, and the word whose entry goes through a door."""

    folder: Path
    page: Page
    word: str
    losses: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root.mkdir()
        self.write(self.page.text)

    @property
    def root(self) -> Path:
        return self.folder / "project"

    @property
    def label(self) -> str:
        return next(label_in([label]) for _, label, words in self.page.lists if self.word in words)

    @property
    def section(self) -> str:
        return next(section for section, _, words in self.page.lists if self.word in words)

    def write(self, text: str, target: Target = SHARED) -> None:
        path = self.root / target.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, target: Target = SHARED) -> str:
        return (self.root / target.path).read_text()

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.root, environ={"HOME": str(self.folder)})

    @property
    def id(self) -> str:
        return next(one.id for one in self.workspace.entries() if self.word in one.text)

    def amp(self, *args: str, stdin: str = "", root: bool = True) -> str:
        """Run a command; what it says on stderr may be a loss."""
        environ = {"HOME": str(self.folder), "COLUMNS": "400"}
        where = ["--root", str(self.root)] if root else []
        done = CliRunner().invoke(amp, [*args, *where], env=environ, input=stdin)
        assert done.exception is None or isinstance(done.exception, SystemExit), (args, done.exception)
        assert done.exit_code in (0, 1), (args, done.exit_code, done.output)
        self.losses.append(done.stderr)
        return done.stdout

    def dated(self, mark: str) -> None:
        """Give the entry a date."""
        self.write(self.page.text.replace(f"- {said(self.word)}", f"- {mark} {said(self.word)}"))

    def call(self, name: str, **arguments: object) -> str:
        """Call a tool of the MCP server."""
        with Memory(self.folder / "records", consolidate_every=0) as records:
            door = McpDoor(self.workspace, Actor(), records, keeps_records=True)
            tool = find(door, name)
            assert tool is not None
            return json.dumps(tool.call(door, arguments).values, default=str)


Door = Callable[[Case], Iterable[str]]
DOORS: dict[str, Door] = {}


def door(name: str) -> Callable[[Door], Door]:
    def keep(used: Door) -> Door:
        DOORS[name] = used
        return used

    return keep


DOORS |= {
    "amp recall": lambda at: [at.amp("recall"), at.amp("recall", "--max-lines", "6")],
    "amp list": lambda at: [at.amp("list"), at.amp("list", "--json")],
    "amp search": lambda at: [
        at.amp("search", at.word),
        at.amp("search", at.word, "--json"),
        re.sub(r"(?m)^\.scaffolding.*$", "", at.amp("search", at.word, "--context", "1", "--limit", "1")),
    ],
    "amp review": lambda at: [at.amp("review"), at.amp("review", "--json")],
    "MCP memory_recall": lambda at: [at.call("memory_recall"), at.call("memory_recall", max_lines=6)],
    "MCP memory_show": lambda at: [at.call("memory_show")],
    "MCP memory_search": lambda at: [
        at.call("memory_search", query=at.word),
        at.call("memory_search", query=at.word, history=True),
    ],
    "MCP memory_forget": lambda at: [at.call("memory_forget", ids=[at.id])],
}


@door("amp show")
def show(at: Case) -> Iterator[str]:
    yield at.amp("show", "shared")
    yield at.amp("show", "shared", "--section", at.section or "S")
    yield at.amp("show", "shared", "--left-out", "--max-lines", "6")


@door("Workspace.life")
def life(at: Case) -> Iterator[str]:
    here, entry = at.workspace, at.id
    others = [one.id for one in here.entries() if one.id != entry]
    for other in others[:1]:
        here.dispute(entry, other)
    yield "\n\n".join(one.text for one in here.life(entry).events)
    here.forget([entry])
    yield "\n\n".join(one.text for one in here.life(entry).events)


@door("amp view")
def page(at: Case) -> Iterator[str]:
    """Yield the page as its reader sees it: a label is right above the text of its entry."""
    page = at.amp("view", "--output", "-")
    page = re.sub(r'<p class="label">(.*?)</p>\s*<ul>\s*<li>', r"- \1 ", page)
    yield unescape(re.sub("<[^>]*>", "", page[page.index("<main") :]))


@door("amp export")
def export(at: Case) -> Iterator[str]:
    for one in table.FORMATS:
        if one.writes:
            path = at.folder / f"out{one.suffixes[0]}"
            at.amp("export", "shared", "--format", one.name, "--output", str(path), "--force")
            yield from _entries(path, one)


@door("amp convert")
def convert(at: Case) -> Iterator[str]:
    page = at.folder / "page.md"
    page.write_text(at.page.text)
    for one in table.FORMATS:
        if one.writes:
            path = at.folder / f"out{one.suffixes[0]}"
            at.amp("convert", str(page), str(path), root=False)
            yield from _entries(path, one)
            back = at.folder / f"back-from-{one.name}.md"
            at.amp("convert", str(path), str(back), root=False)
            yield back.read_text()


def _entries(path: Path, one: table.Format) -> Iterator[str]:
    """Yield what a record file says: its text as it is where it is a page, and each entry."""
    if one.name == "markdown":
        yield path.read_text()
    for entry in one.read(str(path)):
        assert isinstance(entry, MemoryEntry), entry
        yield entry.text


@door("amp import")
def import_(at: Case) -> Iterator[str]:
    for name in ("page.md", "memory.jsonl", "memory.ndjson"):
        path = at.folder / name
        shutil.rmtree((at.root / AGENT.path).parent, ignore_errors=True)
        at.amp("export", "shared", "--output", str(path))
        yield at.amp("import", str(path), "--to", "agent:dev")
        at.amp("import", str(path), "--to", "agent:dev", "--apply")
        yield at.read(AGENT)
        assert at.amp("import", str(path), "--to", "agent:dev") == "", "what came in comes in once"
    at.amp("import", str(at.folder / "page.md"), "--apply")
    yield at.amp("record", "list", "--json")


@door("amp adopt")
def adopt(at: Case) -> Iterator[str]:
    page = at.folder / ".claude" / "agent-memory" / "dev" / "MEMORY.md"
    page.parent.mkdir(parents=True)
    page.write_text(at.page.text)
    at.write(f"# D\n\n- {said(FREE)}\n", AGENT)
    yield at.amp("adopt", str(page.parent))
    at.amp("adopt", str(page.parent), "--apply")
    yield at.read(AGENT)
    lines = at.folder / "memory.jsonl"
    at.amp("export", "agent:dev", "--output", str(lines))
    at.write("# S\n")
    yield at.amp("adopt", str(lines))
    at.amp("adopt", str(lines), "--apply")
    yield at.read()


@door("amp distill")
def distill(at: Case) -> Iterator[str]:
    at.write("# S\n\n- something else\n")
    for one in ("c1", "c2", "c3"):
        at.write(at.page.text, Target(Tier.CONVERSATION, one))
    yield at.amp("distill")
    at.amp("distill", "--apply")
    yield at.read()


@door("amp learn")
def learn(at: Case) -> Iterator[str]:
    at.write("# S\n\n- something else\n")
    for one in ("c1", "c2"):
        at.write(at.page.text, Target(Tier.CONVERSATION, one))
    yield at.amp("learn", "c1", "--agent", "dev")
    at.amp("learn", "c1", "--agent", "dev", "--apply")
    yield at.read()


@door("amp diff")
def diff(at: Case) -> Iterator[str]:
    git = ["git", "-C", str(at.root), "-c", "user.name=t", "-c", "user.email=t@t"]
    for step in ("init -q", "commit -q --allow-empty -m x"):
        subprocess.run([*git, *step.split()], check=True)
    at.write(at.page.text)
    yield at.amp("diff")


@door("amp close")
def close(at: Case) -> Iterator[str]:
    at.write("# S\n\n- something else\n")
    at.write(at.page.text, Target(Tier.CONVERSATION, "c1"))
    yield at.amp("close", "c1", "--json")
    at.amp("close", "c1", "--apply")
    yield at.amp("restore", "--list")


@door("amp remember")
def remember(at: Case) -> Iterator[str]:
    at.amp("remember", said(FREE))
    yield at.read()
    if at.section:
        at.amp("remember", f"{said(FREE)} again", "--section", at.section)
        yield at.read()


@door("MCP memory_remember")
def remember_by_tool(at: Case) -> Iterator[str]:
    at.call("memory_forget", ids=[at.id])
    yield at.call("memory_remember", text=said(at.word), under=at.label)
    at.call("memory_remember", text=said(FREE), section=at.section or None)
    yield at.read()


@door("amp harvest")
def harvest(at: Case) -> Iterator[str]:
    block = f"```memory-findings\n{at.page.text}```\n"
    at.amp("harvest", "--reporter", "reviewer", "--conversation", "c1", stdin=block)
    yield at.read(Target(Tier.CONVERSATION, "c1"))


@door("amp hook")
def hook(at: Case) -> Iterator[str]:
    data = json.dumps({"cwd": str(at.root), "session_id": "s1", "hook_event_name": "SessionStart"}).encode()
    yield json.dumps(answer_to("session-start", "claude", data, {"HOME": str(at.folder)}))


@door("amp forget")
def forget(at: Case) -> Iterator[str]:
    yield at.amp("forget", at.id)
    yield at.read()
    yield at.amp("search", at.word, "--history")
    yield at.amp("search", at.word, "--history", "--json")


@door("amp restore")
def restore(at: Case) -> Iterator[str]:
    at.workspace.forget([one.id for one in at.workspace.entries() if one.label == at.label])
    yield at.amp("restore", "--list")
    yield at.amp("restore", "--list", "--json")
    at.amp("restore", "--last", "--apply")
    yield at.read()


@door("amp edit")
def edit(at: Case) -> Iterator[str]:
    at.amp("edit", at.id, f"{said(at.word)} and slowly")
    yield at.read()


@door("amp prune")
def prune(at: Case) -> Iterator[str]:
    at.dated("[2020-01-01]")
    yield at.amp("prune", "--force")
    yield at.amp("prune", "--force", "--json")
    at.amp("prune", "--force", "--apply")
    yield at.read()
    at.amp("restore", "--last", "--apply")
    yield at.read()


@door("amp sync")
def sync(at: Case) -> Iterator[str]:
    at.workspace.forget([at.id])
    before = at.read()
    at.amp("remember", said(at.word), "--under", at.label, *(["--section", at.section] if at.section else []))
    at.write(f"{before}\n## By an editor\n\n- by hand\n")
    yield at.amp("sync")
    at.amp("sync", "--apply")
    yield at.read()


@door("amp merge")
def merge(at: Case) -> Iterator[str]:
    for base in ("# S\n", at.page.text.replace(f"- {said(at.word)}\n", "")):
        paths = [at.folder / name for name in ("base.md", "ours.md", "theirs.md")]
        for path, text in zip(paths, (base, f"{base}\n## Ours\n\n- ours\n", at.page.text), strict=True):
            path.write_text(text)
        yield at.amp("merge", *map(str, paths))


@door("amp check")
def check(at: Case) -> Iterator[str]:
    at.dated("2020-01-01:")
    at.amp("check", "--fix")
    assert f"[2020-01-01] {said(at.word)}" in at.read()
    yield at.read()


@door("amp dispute")
def dispute(at: Case) -> Iterator[str]:
    at.amp("remember", said(FREE))
    other = next(one.id for one in at.workspace.entries() if FREE in one.text)
    at.amp("dispute", at.id, other)
    assert at.read().count("[disputed]") == 2
    yield at.read()
    yield at.amp("list")
    at.amp("dispute", at.id, other, "--end")
    assert "[disputed]" not in at.read()
    yield at.read()


@door("amp resolve")
def resolve(at: Case) -> Iterator[str]:
    at.amp("remember", said(FREE))
    other = next(one.id for one in at.workspace.entries() if FREE in one.text)
    at.amp("resolve", other, at.id)
    yield at.read()


@door("memory tool view")
def view(at: Case) -> Iterator[str]:
    tool = MemoryTool(at.root, actor=Actor(), environ={"HOME": str(at.folder)})
    yield tool.execute({"command": "view", "path": "/memories/shared/KNOWLEDGE.md"})


@door("memory tool str_replace")
def str_replace(at: Case) -> Iterator[str]:
    tool = MemoryTool(at.root, actor=Actor(), environ={"HOME": str(at.folder)})
    path, old = "/memories/shared/KNOWLEDGE.md", said(at.word)
    tool.execute({"command": "str_replace", "path": path, "old_str": old, "new_str": f"{old} and slowly"})
    yield at.read()


@door("memory tool insert")
def insert(at: Case) -> Iterator[str]:
    tool = MemoryTool(at.root, actor=Actor(), environ={"HOME": str(at.folder)})
    path, end = "/memories/shared/KNOWLEDGE.md", at.read().count("\n")
    tool.execute({"command": "insert", "path": path, "insert_line": end, "insert_text": f"\n## Z\n\n- {said(FREE)}\n"})
    yield at.read()


THROUGH = {
    "amp adopt": ("Workspace.plan_adoption", "Workspace.apply_adoption"),
    "amp check": ("Workspace.check", "Workspace.fix"),
    "amp close": ("Workspace.plan_closing", "Workspace.close"),
    "amp diff": ("Workspace.diff",),
    "amp dispute": ("Workspace.dispute", "Workspace.end_dispute", "MCP memory_dispute"),
    "amp distill": (
        "Workspace.plan_distillation",
        "Workspace.apply_distillation",
        "Workspace.restore_distillation",
    ),
    "amp edit": ("Workspace.edit",),
    "amp forget": ("Workspace.forget", "Workspace.search_archived", "Workspace.redact"),
    "amp import": ("Memory.add", "Memory.records", "amp record list"),
    "amp learn": ("Workspace.plan_learning",),
    "amp list": ("Workspace.entries", "Workspace.entry", "Workspace.documents"),
    "amp prune": ("Workspace.plan_pruning", "Workspace.apply_pruning"),
    "amp recall": ("Workspace.recall",),
    "amp remember": ("Workspace.remember",),
    "amp resolve": ("Workspace.resolve", "MCP memory_resolve"),
    "amp restore": ("Workspace.restorable", "Workspace.restore"),
    "amp review": ("Workspace.review",),
    "amp search": ("Workspace.search",),
    "amp show": ("Workspace.show", "Workspace.left_out"),
    "amp sync": ("Workspace.sync",),
    "memory tool str_replace": ("Workspace.rewrite",),
    "memory tool view": ("Workspace.read_file",),
}
"""The doors behind other doors, which are tried with them."""

NO_ENTRY = {
    "records, which carry their label in their text": (
        *("MCP consolidate", "MCP recall", "MCP remember", "Memory.check", "Memory.close", "Memory.consolidate"),
        *("Memory.decay", "Memory.dispute", "Memory.echoes", "Memory.export", "Memory.find_id", "Memory.history"),
        "Memory.meets",
        *("Memory.recall", "Memory.redact", "Memory.remember", "Memory.resolve", "Memory.saying", "Memory.search"),
        *("MCP archive", "MCP reactivate", "Memory.archive", "Memory.chain", "Memory.reactivate", "Memory.supersede"),
        *(
            "amp record archive",
            "amp record dispute",
            "amp record reactivate",
            "amp record remember",
            "Memory.sign",
            "Memory.status",
            "Memory.verify",
            "amp consolidate",
            "amp decay",
            "amp record history",
        ),
        *("amp record redact", "amp record resolve", "amp record show", "amp record sign", "amp record verify"),
    ),
    "notes and index lines, which are files of their own": (
        *("Workspace.index", "Workspace.index_known", "Workspace.merge_notes", "Workspace.new_note"),
        *("Workspace.note_folders", "Workspace.notes", "Workspace.remove_note", "Workspace.show_note", "amp index"),
        *("amp note list", "amp note merge", "amp note new", "amp note remove", "amp note show", "memory tool create"),
    ),
    "a document as a whole, or none": (
        *("Workspace.files", "Workspace.init", "amp init", "amp watch", "memory tool delete", "memory tool rename"),
    ),
    "figures, paths, settings and who may do what": (
        *(
            "MCP status",
            "Workspace.check_begun",
            "Workspace.check_write",
            "Workspace.diagnose",
            "Workspace.find_stores",
            "Workspace.git_notes",
        ),
        *("Workspace.open", "Workspace.plan_git_attributes", "Workspace.record_review"),
        *(
            "Workspace.refuse",
            "Workspace.forget_refusals",
            "Workspace.refused_proposals",
            "Workspace.conversations_over",
        ),
        *(
            "Workspace.link_originals",
            "Workspace.originals",
            "Workspace.why_refused",
            "Memory.signers",
            "Memory.newest",
        ),
        *("amp record init-store", "amp help", "amp version", "amp completion"),
        *("Workspace.plan_renaming", "Workspace.rename_agent", "amp agent rename"),
        *("Workspace.compact_ledgers", "amp ledger compact", "Workspace.usage"),
        *("Workspace.set_git_attributes", "Workspace.set_git_tracking", "Workspace.status", "Workspace.target"),
        *("Workspace.targets", "Workspace.where", "Workspace.why_read_only", "amp bench formats", "amp doctor"),
        *("amp find-stores", "amp install", "amp mcp", "amp route", "amp schema", "amp status", "amp uninstall"),
        *("amp conformance", "amp where"),
    ),
}
"""The doors that carry no entry of a document, by what they carry."""


def test_every_door_that_carries_an_entry_is_tried():
    through = [name for names in THROUGH.values() for name in names]
    none = [name for names in NO_ENTRY.values() for name in names]
    listed = [*DOORS, *through, *none]
    assert len(listed) == len(set(listed))
    assert {*listed} == names_of_doors()
    assert set(THROUGH) <= set(DOORS)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
@settings(max_examples=max(2, min(settings().max_examples // 3, 5)))
@given(drawn=pages())
def test_an_entry_goes_through_no_door_without_its_label(name, drawn):
    page, word = drawn
    with tempfile.TemporaryDirectory() as folder:
        at = Case(Path(folder).resolve(), page, word)
        wanted = {**page.keys, FREE: ""}
        told: set[str] = set()
        for output in DOORS[name](at):
            for found, key in mentions(output):
                assert key == wanted[found], (found, key, output)
                told.add(found)
        assert word in told or any(labels.plain(at.label) in loss for loss in at.losses), (word, told)


class Apart(Page):
    """A document with prose between a condition and the list that it governs."""

    @property
    def text(self) -> str:
        return super().text.replace("staging only\n", "staging only\n\nWe agreed so in May.\n")


@pytest.mark.slow
@each_row("name", DOORS)
def test_a_condition_goes_along_where_prose_is_between_it_and_its_list(name, tmp_path):
    label = "**Scope:** staging only"
    page = Apart((("", "", ("ibex",)), ("Git", label, ("quokka", "narwhal")), ("CI", "Never:", ("tapir",))))
    (tmp_path / name).mkdir()
    told = set()
    for output in DOORS[name](Case(tmp_path / name, page, "quokka")):
        for found, key in mentions(output):
            assert key == {**page.keys, FREE: ""}[found], (found, key, output)
            told.add(found)
    assert "quokka" in told


def test_the_last_item_under_two_labels_goes_and_comes_back_where_the_first_ends_a_sentence(tmp_path):
    at = Case(tmp_path, Page((("", "", ("ibex",)),)), "ibex")
    before = "# S\n\nTests need Docker. Git:\n\nNever:\n\n- push to main\n"
    at.write(before)
    push = next(one for one in at.workspace.entries() if "push" in one.text)
    assert push.label == "Git: Never:"
    (gone,) = at.workspace.forget([push.id])
    assert gone.went_along == ("Never:",)
    assert at.read() == "# S\n\nTests need Docker. Git:\n"
    at.workspace.restore(at.workspace.restorable(last=True))
    assert at.read() == before
