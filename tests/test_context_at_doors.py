"""What an entry says goes through every door that writes documents: its headings, its label, its day, its marks.

The page has what people write: headings of one name under others, emoji, check boxes, steps, code, quotes, tables,
other languages, dates in every spelling. What comes out is read as a document and compared, entry by entry.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.formats import table
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.memory_tool.tool import MemoryTool
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.merge import merge

from .each_row import each_row
from .test_labels_at_doors import AGENT, SHARED, Case, Page

CONVERSATION = Target(Tier.CONVERSATION, "c1")
PAGE = """\
# S

- the port is 1
- ❌ 2026-04-06: squash

## Staging

### Database

- the port is 5432
- [ ] open task
- **2026-04-07 Title**: bold

#### Never

1. tag
2. build
   ```sh
   make
   ```

## Production

### Database

- the port is 5433
- [until 2027-01-01] [keep] a freeze

🚫 **Never do:**

- push, as a list:
  - to main
    - or to a release
- > quoted
  > further

Vor dem Release – nur nachts:

1) sichern
2) löschen

### Never

- restart the broker (2026-04-09)
- code:
  ```
  # no heading
  ```

## Log (2026-03-01)

### Ne jamais

- pousser sur `main`
- [2026-04-10] dated, with a table:

  | a | b |
  |---|---|
  | 1 | 2 |

Frozen (2026-02-02):

- the importer
"""


def said(text: str) -> Counter[tuple[object, ...]]:
    """Return what each entry of a document says, with all that governs it."""
    page = document.parse(text.encode(), SHARED)
    return Counter(
        (
            page.sections(one),
            page.label(one),
            " ".join(page.alone(one).split()),
            (one.day, one.day_source),
            (one.kept, one.marks.until),
        )
        for one in page.outline.entries
    )


def _import(name: str, suffix: str) -> Callable[[Case], str]:
    def through(at: Case) -> str:
        path = at.folder / f"memory{suffix}"
        at.amp("export", "shared", "--format", name, "--output", str(path))
        for _ in range(2):
            at.amp("import", str(path), "--format", name, "--to", "agent:dev", "--apply", "--accept-unsigned")
        return at.read(AGENT)

    return through


def _page(at: Case) -> str:
    (at.folder / "page.md").write_text(PAGE)
    for _ in range(2):
        at.amp("import", str(at.folder / "page.md"), "--to", "agent:dev", "--apply")
    return at.read(AGENT)


def _adopt(at: Case) -> str:
    page = at.folder / ".claude" / "agent-memory" / "dev" / "MEMORY.md"
    page.parent.mkdir(parents=True)
    page.write_text(PAGE)
    at.amp("adopt", str(page.parent), "--apply")
    return at.read(AGENT)


def _harvest(at: Case) -> str:
    at.amp("harvest", "--reporter", "reviewer", "--conversation", "c1", stdin=f"```memory-findings\n{PAGE}```\n")
    return re.sub(r"\s*\(reported by reviewer\)", "", at.read(CONVERSATION))


def _forget(at: Case) -> str:
    for one in [*at.workspace.entries()][::-2]:
        at.workspace.forget([one.id])
    for one in [*at.workspace.entries()]:
        at.workspace.forget([one.id])
    at.amp("restore", "--since", "2000-01-01", "--apply")
    assert at.read() == PAGE
    return at.read()


def _merge(at: Case) -> str:
    paths = [at.folder / name for name in ("base.md", "ours.md", "theirs.md")]
    for path, text in zip(paths, ("# S\n", "# S\n\n## Production\n\n- ours\n", PAGE), strict=True):
        path.write_text(text)
    return at.amp("merge", *map(str, paths)).replace("- ours\n", "")


def _replaced(at: Case) -> str:
    """Write another text in the place of each entry, and take back what that has changed of its text alone."""
    text = at.read()
    for one in at.workspace.entries():
        at.write(PAGE)
        before = said(PAGE)
        at.amp("remember", "in its place", "--replaces", one.id)
        after = said(at.read())
        ((gone,), (come,)) = (before - after), (after - before)
        assert (come[:2], str(come[2]).endswith("in its place")) == (gone[:2], True), one.text
    return text


def _created(at: Case) -> str:
    tool = MemoryTool(at.root, actor=Actor(), environ={"HOME": str(at.folder)})
    tool.execute({"command": "create", "path": "/memories/agents/dev/MEMORY.md", "file_text": PAGE})
    return at.read(AGENT)


DOORS: dict[str, Callable[[Case], str]] = {
    **{f"amp import of {one.name}": _import(one.name, one.suffixes[0]) for one in table.FORMATS if one.writes},
    "amp import of a page": _page,
    "amp export": lambda at: at.amp("export", "shared", "--format", "markdown"),
    "amp adopt": _adopt,
    "amp harvest": _harvest,
    "amp forget and amp restore": _forget,
    "amp merge": _merge,
    "amp remember --replaces": _replaced,
    "memory tool create": _created,
}


@pytest.mark.slow
@each_row("name", list(DOORS))
def test_an_entry_stays_under_its_headings_and_its_label_at_every_door(name, tmp_path):
    at = _case(tmp_path, name)
    came, wanted = said(DOORS[name](at)), said(PAGE)
    if name == "amp harvest":  # a finding is from a day, and says no marks but in its text
        came, wanted = (Counter(one[:2] for one in found.elements()) for found in (came, wanted))
    assert came == wanted


def _case(folder: Path, name: str) -> Case:
    (folder / name).mkdir()
    at = Case(folder / name, Page(()), "")
    at.write(PAGE)
    return at


def test_one_text_under_two_headings_comes_in_under_both_and_only_once(tmp_path):
    at = _case(tmp_path, "twins")
    page = "# S\n\n## Staging\n\n- the pool is 10\n\n## Production\n\n- the pool is 10\n"
    path = at.folder / "page.md"
    path.write_text(page)
    for args in ([], ["--apply"], ["--apply"], []):
        answer = json.loads(at.amp("import", str(path), "--to", "agent:dev", "--json", *args))
    assert said(at.read(AGENT)) == said(page)
    assert (answer["new"], answer["known"]) == (0, 2)
    at.write(at.read(AGENT).replace("## Staging", "## Test"), AGENT)  # who moved it by hand wants it there
    at.amp("import", str(path), "--to", "agent:dev", "--apply")
    assert said(at.read(AGENT)) == said(page.replace("## Staging", "## Test"))


@pytest.mark.parametrize(("one", "other"), [("Staging", "Production database"), ("On Windows", "Linux only")])
def test_one_text_under_headings_that_exclude_each_other_is_two_facts_at_every_door(one, other, tmp_path):
    at = _case(tmp_path, "apart")
    said_of = "Backups of the pool run hourly here."
    page = f"# S\n\n## {one}\n\n- {said_of}\n\n## {other}\n\n- {said_of}\n"
    first = page.partition(f"\n## {other}")[0]
    at.write("# S\n")
    for section in (one, other, other, one):
        at.amp("remember", said_of, "--section", section)
    assert said(at.read(SHARED)) == said(page)
    assert "tier-double-entry" not in at.amp("check", "--json")

    base = document.parse(f"# S\n\n## {one}\n\n- a\n\n## {other}\n\n- b\n".encode(), SHARED)
    sides = [base.data.decode().replace(f"- {old}\n", f"- {old}\n- {said_of}\n") for old in "ab"]
    merged = merge(base, *(document.parse(text.encode(), SHARED) for text in sides))
    assert merged is not None
    assert merged.document.data.decode().count(said_of) == 2

    at.write(first)
    at.write(first.replace(one, other), AGENT)
    assert json.loads(at.amp("distill", "--json"))["candidates"] == []
    assert said_of not in json.dumps([row for row in _review(at) if row["kind"] == "merge"])
    assert "tier-restates" not in at.amp("check", "--json")

    at.write("# S\n")
    at.write("# S\n", AGENT)
    for name, heading in (("c1", one), ("c2", other)):
        at.write(first.replace(one, heading), Target(Tier.CONVERSATION, name))
    (suggested,) = json.loads(at.amp("distill", "--json"))["candidates"]
    assert one in suggested["reason"]
    at.amp("distill", "--apply")
    assert said_of not in at.read(SHARED)


def _review(at):
    return json.loads(at.amp("review", "--json"))["items"]


@each_row(
    "section, page, wanted",
    [
        ("Database", "## A\n\n### Database\n\n- a\n", ("A", "Database")),
        ("B > Database", "## A\n\n### Database\n\n- a\n\n## B\n\n### Database\n\n- b\n", ("B", "Database")),
        ("A > Database", "## A\n\n### Database\n\n- a\n\n## B\n\n### Database\n\n- b\n", ("A", "Database")),
        ("A > Cache", "## A\n\n### Database\n\n- a\n\n## B\n\n- b\n", ("A", "Cache")),
        ("C > Cache", "## A\n\n- a\n", ("C", "Cache")),
        ("A > B", "## A > B\n\n- a\n\n## A\n\n- b\n", ("A > B",)),
        (("Database",), "## A\n\n### Database\n\n- a\n", ("Database",)),
        (("A", "Database"), "## Database\n\n- a\n", ("A", "Database")),
        ((), "## Database\n\n- a\n", ()),
    ],
    fresh=True,
)
def test_a_section_is_named_by_itself_or_with_the_headings_above_it(section, page, wanted, tmp_path):
    here = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    path = tmp_path / SHARED.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# S\n\n- first\n\n{page}")
    before = [(one.headings, one.text) for one in here.entries()]
    done = here.remember("new", section=section)
    assert done.entry.headings == wanted
    assert [(one.headings, one.text) for one in here.entries() if one.text != "- new"] == before


def test_a_record_says_what_its_headings_turn_and_is_compared_with_those_of_its_topic(tmp_path):
    at = _case(tmp_path, "records")
    page = "# S\n\n{}\n\n### Port\n\n- The port is {}.\n\n### Never\n\n- run the importer\n\nOn main:\n\n- force\n"
    (at.folder / "page.md").write_text("".join(page.format(*one) for one in (("## Staging", 5432), ("## Live", 5433))))
    answer = json.loads(at.amp("import", str(at.folder / "page.md"), "--apply", "--json"))
    assert answer["notes"] == []
    said = [one["body"] for one in json.loads(at.amp("record", "list", "--json"))["records"]]
    both = ("Never: On main: force", "Never: run the importer")  # under Staging, and under Live
    assert sorted(said) == sorted([*both, *both, "The port is 5432.", "The port is 5433."])
