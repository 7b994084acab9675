"""The picture in ARCHITECTURE.md is the code: its list of modules, who uses whom, and what recall loads."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
NAME = "agent_memory_protocol"
PACKAGE = REPOSITORY / NAME
LISTED = re.findall(r"^\| `([\w.]+)` \|", (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.MULTILINE)

MAY_LOOK_UP = {("settings", "settings_file")}
"""Loaded only where there is a file to read."""

OUTSIDE = {
    "click": {"cli"},
    "jinja2": {"templates"},
    "markdown_it": {"tiers.referee"},
    "duckdb": {"formats.parquet"},
    "filelock": {"kernel_lock"},
    "google": {"formats.protobuf", "formats.agentmemory_pb2"},
    "watchdog": {"file_events"},
    "subprocess": {"consolidation.command_operator", "git", "integrations.merge_driver"},
    "nacl": {"records.signing"},
    "numpy": {"search.minilm", "search.nearest"},
    "sqlite3": {"database", "formats.sqlite"},
    "anthropic": {"integrations.anthropic_tool"},
    "mcp": {"integrations.mcp_server"},
    "mcp_types": {"integrations.mcp_server"},
}
"""What is used in one place only, and where."""

RECALL_DOES_WITHOUT = {
    *("click", "filelock", "jinja2", "markdown_it", "watchdog"),
    *(
        "dataclasses",
        "enum",
        "hashlib",
        "inspect",
        "json",
        "pathlib",
        "re",
        "sqlite3",
        "subprocess",
        "tomllib",
        "typing",
    ),
}


@cache
def modules() -> dict[str, Path]:
    """Return every module by its dotted name, packages' own left out; `cli` is one."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if path.name != "__init__.py" or name == "cli.__init__":
            found["cli" if name.startswith("cli.") else name] = path
    return found


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return what a file imports when it runs: our own modules with the package's name in front, others as they are."""
    above = [NAME, *path.relative_to(PACKAGE).parent.parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if node in skipped:
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


def files_of(module: str) -> list[Path]:
    return sorted((PACKAGE / "cli").glob("*.py")) if module == "cli" else [modules()[module]]


def test_the_list_names_every_module_once():
    assert sorted(LISTED) == sorted(modules())


@pytest.mark.parametrize("module", LISTED)
def test_a_module_uses_only_modules_below_it(module):
    below = LISTED[LISTED.index(module) + 1 :]
    used = {own(imported) for path in files_of(module) for imported in imports(path)} - {None, module}
    assert {(module, other) for other in used if other not in below} <= MAY_LOOK_UP


@pytest.mark.parametrize("outside", OUTSIDE)
def test_what_comes_from_outside_is_used_in_one_place(outside):
    users = {
        module
        for module in modules()
        if any(one.split(".")[0] == outside for path in files_of(module) for one in imports(path))
    }
    assert users == OUTSIDE[outside]


FAMILIES = ("tiers", "notes", "records", "formats", "search", "consolidation")
"""What knows nothing of each other: what needs two of them stands above them."""

KNOWN = {
    ("formats.memory_file", "records"),
    ("formats.record_entries", "records"),
    ("formats.markdown", "tiers"),
    *((module, "records") for module in LISTED if "consolidation." in module),
}
"""Formats carry records and entries of documents, consolidation looks after records: they know what these are."""


@pytest.mark.parametrize("module", [module for module in LISTED if module.partition(".")[0] in FAMILIES])
def test_families_do_not_know_each_other(module):
    family = module.partition(".")[0]
    used = {(own(imported) or "").partition(".")[0] for imported in imports(modules()[module])}
    others = used & {*FAMILIES} - {family}
    assert {(module, other) for other in others} <= KNOWN


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
    *("access", "dates", "fit", "headers", "layout", "limits", "links", "markdown", "similarity", "visible"),
    *("healing", "journal", "ledger", "routing", "secret_data", "secret_rules", "secret_values", "secret_views"),
    *(module for module in LISTED if "consolidation." in module and module != "consolidation.command_operator"),
    *("formats.jsonl_rules", "formats.jsonl_view", "formats.jsonl_prompt", "formats.moments"),
    *(
        "lint.belonging",
        "lint.dates",
        "lint.finding",
        "lint.index",
        "lint.ledgers",
        "lint.notes",
        "lint.repeats",
        "lint.store",
        "lint.tiers",
        "merging",
    ),
    *(
        "adoption",
        "notes.index",
        "notes.note",
    ),
    *("records.canonical", "records.lifecycle", "records.record", "records.spelling"),
    "records.proof",
    *("search.port", "search.ranking", "search.slips", "search.stem", "search.words"),
    *("search.fusion", "search.nearest", "search.wordpiece", "embedding", "float32"),
    *("tiers.compose", "tiers.document", "tiers.edit", "tiers.entries", "tiers.merge", "tiers.prune", "tiers.referee"),
    *("tiers.around", "tiers.removing", "tiers.restoring", "tiers.spot", "tiers.taken"),
]


@pytest.mark.parametrize("module", RULES)
def test_rules_read_no_clock_no_disk_and_no_environment(module):
    path = modules()[module]
    assert WORLD.isdisjoint(imported.partition(".")[0] for imported in imports(path))
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    names = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert CLOCK.isdisjoint(called)
    assert "open" not in names


def test_in_each_family_only_stores_and_doors_touch_the_disk():
    doors = {"files", "writing", "walk", "lock", "large_files"}
    touching = {
        module
        for module in modules()
        if module.partition(".")[0] in ("tiers", "notes", "lint")
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
