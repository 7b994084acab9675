"""The plan in ARCHITECTURE.md is the code: its rooms, who uses whom, and what recall loads."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from tests.package import nodes, tree

REPOSITORY = Path(__file__).parents[1]
NAME = "agent_memory_protocol"
PACKAGE = REPOSITORY / NAME
PLAN = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
LISTED = [
    name for row in re.findall(r"^\| (`[`\w, ]+`) \|", PLAN, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
]
"""The rooms: every folder and every file at the top of the package, in the order of who may use whom."""
DRAWN = re.findall(r"^    (\w+) --> ([\w &]+)$", PLAN, re.MULTILINE)

OUTSIDE = {
    "anthropic": {"memory_tool.sdk"},
    "click": {"cli"},
    "duckdb": {"formats.parquet"},
    "filelock": {"disk.lock"},
    "google": {"formats.protobuf", "formats.agentmemory_pb2"},
    "jinja2": {"project.templates", "view.html"},
    "markdown_it": {"text.referee", "view.markdown"},
    "mcp": {"mcp.server"},
    "mcp_types": {"mcp.server"},
    "nacl": {"records.signing"},
    "numpy": {"search.float32", "search.minilm", "search.static"},
    "snowballstemmer": {"search.languages"},
    "starlette": {"view.live"},
    "sqlite3": {"disk.database", "formats.sqlite"},
    "psycopg": {"postgresql.server"},
    "subprocess": {"conformance.program", "consolidation.command_operator", "git.ask", "hosts.rehearsal"},
    "uvicorn": {"view.live"},
    "tokenizers": {"search.static"},
    "watchdog": {"disk.file_events"},
    "wcwidth": {"cli"},
}
"""What is used in one place only, and where: a page is made of templates and Markdown, too."""

RECALL_DOES_WITHOUT = {
    *(
        "click",
        "filelock",
        "jinja2",
        "markdown_it",
        "watchdog",
        "wcwidth",
        "dataclasses",
        "enum",
        "hashlib",
        "inspect",
        "json",
    ),
    *("pathlib", "re", "sqlite3", "subprocess", "tomllib", "typing"),
}


@cache
def modules() -> dict[str, Path]:
    """Return every module by its dotted name; a folder's own is named like the folder."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def statements(node: ast.AST, *, for_hints: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements in a node, each with whether it is for type hints alone. Expressions are passed over."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.stmt):
            yield inner, for_hints
        if isinstance(inner, (ast.stmt, ast.excepthandler, ast.match_case)):
            hints = isinstance(inner, ast.If) and ast.unparse(inner.test) == "TYPE_CHECKING"
            yield from statements(inner, for_hints=for_hints or hints)


@cache
def imports(path: Path, *, type_hints: bool = False) -> tuple[str, ...]:
    """Return what a file imports: our own modules with the package's name in front, others as they are.

    Args:
        path: the file.
        type_hints: what is imported for type hints alone counts too.
    """
    above = [NAME, *path.relative_to(PACKAGE).parent.parts]
    found = []
    for node, for_hints in statements(tree(path)):
        if for_hints and not type_hints:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*(above[: len(above) - node.level + 1] if node.level else []), *(node.module or "").split(".")]
            found += [".".join([part for part in base if part] + [alias.name]) for alias in node.names]
    return tuple(found)


def own(imported: str) -> str | None:
    """Return which of our modules an import names; None where it is none."""
    name = imported.removeprefix(f"{NAME}.")
    if name == imported:
        return None
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name or None


def room(module: str) -> str:
    return module.partition(".")[0]


@cache
def uses() -> dict[str, set[str]]:
    """Return what each module uses, in type hints too."""
    return {
        module: {name for one in imports(path, type_hints=True) if (name := own(one)) and name != module}
        for module, path in modules().items()
    }


@cache
def arrows() -> dict[str, set[str]]:
    """Return which rooms each room uses."""
    found: dict[str, set[str]] = {room(module): set() for module in modules()}
    for module, others in uses().items():
        found[room(module)] |= {room(other) for other in others} - {room(module)}
    return found


def test_the_plan_names_every_room_once():
    assert sorted(LISTED) == sorted(arrows())


def test_a_room_uses_only_rooms_below_it():
    upwards = {name: arrows()[name] - set(LISTED[place + 1 :]) for place, name in enumerate(LISTED)}
    assert {name: above for name, above in upwards.items() if above} == {}


def test_no_files_use_each_other_in_a_circle_not_even_for_type_hints():
    list(TopologicalSorter(uses()).static_order())


def test_the_picture_shows_every_arrow_that_does_not_follow_from_the_others():
    drawn = {(user, used) for user, line in DRAWN for used in line.split(" & ")}
    real = {(user, used) for user, others in arrows().items() for used in others}
    reached: dict[str, set[str]] = {}
    for name in reversed(LISTED):
        below = [used for user, used in real if user == name]
        reached[name] = {*below, *(far for one in below for far in reached[one])}
    needed = {
        (user, used)
        for user, used in real
        if not any(used in reached[other] for other in arrows()[user] if other != used)
    }
    assert drawn == needed


def test_a_module_says_in_one_line_what_it_is():
    said = {module: ast.get_docstring(tree(path)) or "" for module, path in modules().items()}
    del said["formats.agentmemory_pb2"]  # as the protobuf compiler makes it
    assert [module for module, text in said.items() if not re.match(r".*[.?](\n\n|$)", text)] == []


MOST_LINES = {"workspace": 800}


def test_a_module_has_at_most_600_lines():
    lines = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in modules().items()}
    assert {module: count for module, count in lines.items() if count > MOST_LINES.get(module, 600)} == {}


def test_what_comes_from_outside_is_used_in_one_place():
    users: dict[str, set[str]] = {}
    for module, path in modules().items():
        for outside in {one.split(".")[0] for one in imports(path)} & {*OUTSIDE}:
            users.setdefault(outside, set()).add("cli" if room(module) == "cli" else module)
    assert users == OUTSIDE


def test_dataclasses_are_declared_with_the_decorator_that_costs_little():
    assert {module for module, path in modules().items() if "dataclasses.dataclass" in imports(path)} <= {"values"}


FAMILIES = ("tiers", "notes", "records", "formats", "search", "consolidation")
"""What knows nothing of each other: what needs two of them stands above them."""

KNOWN = {
    ("formats.signed_file", "records"),
    ("formats.record_entries", "records"),
    ("formats.markdown", "tiers"),
    *((module, "records") for module in modules() if room(module) == "consolidation"),
    *((module, "search") for module in modules() if room(module) in ("records", "formats")),
}
"""Formats carry records and entries of documents, consolidation looks after records, and records are searched."""


def test_families_do_not_know_each_other():
    known = {
        (module, other)
        for module, path in modules().items()
        if room(module) in FAMILIES
        for other in {room(own(imported) or "") for imported in imports(path)} & {*FAMILIES} - {room(module)}
    }
    assert known - KNOWN == set()


WORLD = {
    "glob",
    "io",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "socket",
    "subprocess",
    "sys",
    "tempfile",
    "time",
}
CLOCK = {"now", "today", "utcnow"}
RULES = [
    *("layout", "limits"),
    *("change.healing", "change.journal", "change.ledger", "change.merge"),
    *(module for module in modules() if room(module) == "consolidation" and module != "consolidation.command_operator"),
    *("formats.jsonl_rules", "formats.jsonl_view", "formats.jsonl_prompt", "text.moments"),
    *("learning.merge_in", "learning.route", "learning.route_words"),
    *(module for module in modules() if room(module) == "lint"),
    *("notes.index", "notes.note", "project.access", "recall.fit"),
    *("records.canonical", "records.fields", "records.lifecycle", "records.proof", "records.record"),
    *("search.embedding", "search.float32", "search.fusion", "search.port", "search.ranking"),
    *("search.slips", "search.wordpiece", "search.words"),
    *(module for module in modules() if room(module) in ("secrets", "text")),
    *(module for module in modules() if room(module) == "tiers" and module != "tiers.store"),
]


def test_rules_read_no_clock_no_disk_and_no_environment():
    assert {module: used for module in RULES if (used := outside_world(modules()[module]))} == {}


def outside_world(path: Path) -> set[str]:
    """Return what a file imports or calls that tells the time, reaches the disk or knows the environment."""
    calls = [node.func for node in nodes(path) if isinstance(node, ast.Call)]
    methods = {called.attr for called in calls if isinstance(called, ast.Attribute)}
    functions = {called.id for called in calls if isinstance(called, ast.Name)}
    imported = {name.partition(".")[0] for name in imports(path)}
    return (imported & WORLD) | (methods & CLOCK) | (functions & {"open"})


def test_in_each_family_only_stores_and_doors_touch_the_disk():
    doors = {f"disk.{name}" for name in ("files", "writing", "walk", "lock", "large_files")}
    touching = {
        module
        for module in modules()
        if room(module) in ("tiers", "notes", "lint")
        and not doors.isdisjoint({own(imported) for imported in imports(modules()[module])})
    }
    # `document` asks `files` only to decode bytes it was given.
    assert touching == {"tiers.store", "notes.store", "tiers.document"}


def test_recall_loads_little(tmp_path):
    (tmp_path / ".scaffolding" / "agent-memory" / "shared").mkdir(parents=True)
    document = tmp_path / ".scaffolding" / "agent-memory" / "shared" / "KNOWLEDGE.md"
    document.write_text("# Shared Knowledge\n<!-- Cross-agent. -->\n\n" + "- One fact.\n" * 300)
    program = (
        "import sys; before = set(sys.modules)\n"
        f"from {NAME} import recall_for_agent\n"
        "assert 'One fact.' in recall_for_agent('developer', max_chars=10_000)\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert RECALL_DOES_WITHOUT.isdisjoint(done.stdout.split()), done.stdout


def test_a_public_class_name_stands_for_one_thing():
    found: dict[str, list[str]] = {}
    for module, path in modules().items():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(module)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
