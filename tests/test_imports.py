"""What a recall loads: the time it takes is mostly the time to import, so the list is held by hand.

So it is with what one does all day at the command line, where it is held what a verb does not load.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import markdown_it
import pytest

from tests.each_row import each_row

REPOSITORY = Path(__file__).parents[1]
NAME = "agent_memory_protocol"
FILES = (
    ".scaffolding/agent-memory/shared/KNOWLEDGE.md",
    ".scaffolding/agent-memory/agents/developer/MEMORY.md",
    ".scaffolding/conversations/c1/agent-memory/context.md",
)

ALWAYS = {
    *(
        "project.access",
        "recall.block",
        "project.root",
        "text.digest",
        "disk.errors",
        "errors",
        "disk.files",
        "layout",
        "limits",
        "recall.agent",
    ),
    *("disk", "project", "recall", "text", "project.settings", "tiers", "tiers.store", "text.visible", "disk.walk"),
    *("text.placeholders", "secrets", "secrets.mask"),
}
TO_FIT = {
    *("recall.fit", "recall.order", "recall.sheet", "text.dates", "text.links", "text.markdown", "text.marks"),
    *("text.over_lists", "tiers.entries"),
}
"""Loaded where a document is not given whole: it is over its limit, the block over its budget, an entry has expired."""

STANDARD = {
    *("_blake2", "_collections_abc", "_stat", "errno", "genericpath", "importlib", "importlib._bootstrap"),
    *("importlib._bootstrap_external", "os", "os.path", "posixpath", "stat", "warnings"),
}
STANDARD_TO_FIT = {"_bisect", "_datetime", "_heapq", "bisect", "heapq", "itertools"}
UNICODE = {"unicodedata"}
"""Loaded where a name, or a character that may be invisible, is not ASCII."""

NEVER = {
    *(
        "re",
        "enum",
        "dataclasses",
        "typing",
        "pathlib",
        "tomllib",
        "json",
        "datetime",
        "hashlib",
        "collections",
        "functools",
    ),
    *("inspect", "contextlib", "string", "random", "subprocess", "tempfile", "shutil", "logging", "sqlite3"),
    *("click", "markdown_it", "jinja2", "watchdog", "filelock", "wcwidth"),
}

# Without site and the environment, so that what the machine loads at every start stays out of the picture.
PROGRAM = f"""
import sys
sys.path[:0] = [{str(REPOSITORY)!r}, *sys.argv[3:]]
before = set(sys.modules)
from {NAME} import recall_for_agent
block = recall_for_agent("developer", "c1", root=sys.argv[1], environ={{}}, **eval(sys.argv[2]))
assert block.count("<memory tier=") == 3, block[:300]
print(*sorted(set(sys.modules) - before))
"""


def loaded(root: Path, lines: str, budget: dict[str, int], *packages: str) -> set[str]:
    """Return what importing the package and recalling three files loads, in a fresh interpreter."""
    for path in FILES:
        file = root / path
        file.parent.mkdir(parents=True)
        file.write_text(f"# Title\n<!-- header -->\n\n{lines}", encoding="utf-8")
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, str(root), repr(budget), *packages]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def ours(modules: set[str]) -> set[str]:
    return {f"{NAME}.{module}" for module in modules}


def named(modules: set[str]) -> set[str]:
    return {NAME, *ours(modules)}


ORDINARY = "".join(f"- [2026-01-{day:02d}] `code`, **bold**, a [link](x.md) and 1 < 2\n" for day in range(1, 29))


@pytest.mark.skipif(sys.platform == "win32", reason="the standard library loads other modules there")
def test_three_ordinary_files_load_a_dozen_modules(tmp_path):
    assert loaded(tmp_path, ORDINARY, {}) == named(ALWAYS) | STANDARD


@pytest.mark.skipif(sys.platform == "win32", reason="the standard library loads other modules there")
@pytest.mark.parametrize("budget", [{}, {"max_chars": 10_000}], ids=["over-the-limit", "over-the-budget"])
def test_three_long_files_load_the_scanner_and_no_parser(tmp_path, budget):
    found = loaded(tmp_path, "- an ordinary line of memory, [2026-01-02] dated\n" * 600, budget)
    assert found == named(ALWAYS | TO_FIT) | STANDARD | STANDARD_TO_FIT


def test_emoji_and_accents_load_no_more_than_what_is_known_of_characters(tmp_path):
    found = loaded(tmp_path, "- Größe, 日本語, 👩\u200d💻 and ❤\ufe0f\n" * 20, {})
    assert found - UNICODE - {"itertools"} == named(ALWAYS | {"text.characters"}) | STANDARD


def test_no_ordinary_recall_loads_what_starts_slowly(tmp_path):
    assert NEVER.isdisjoint(loaded(tmp_path, ORDINARY * 30, {"max_tokens": 2_000}))


def test_only_a_document_that_needs_it_loads_the_parser(tmp_path):
    packages = str(Path(markdown_it.__file__).parents[1])
    assert "markdown_it" in loaded(tmp_path / "one", "- a <!-- hidden --> b\n", {}, packages)
    assert "markdown_it" not in loaded(tmp_path / "other", "- a `code` b\n", {}, packages)


HOOK = f"""
import sys
sys.path[:0] = [{str(REPOSITORY)!r}]
before = set(sys.modules)
from {NAME}.hosts import hook as hooks, quick_json
said = hooks.answer_to(sys.argv[1], sys.argv[2], sys.argv[3].encode(), {{}})
text = quick_json.write(said) if said else "{{}}"
assert (sys.argv[4] in text), text
print(*sorted(set(sys.modules) - before))
"""
HOOKS = {"hosts", "hosts.hook", "hosts.quick_json"}
STARTING = HOOKS | {"hosts.envelopes", "hosts.start", "hosts.table"}


def loaded_by_hook(event: str, message: Mapping[str, object], expected: str, host: str = "claude") -> set[str]:
    """Return what answering one event loads, in a fresh interpreter."""
    command = [sys.executable, "-I", "-S", "-c", HOOK, event, host, json.dumps(message), expected]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
def test_an_ordinary_tool_call_loads_next_to_nothing(host):
    message = {"tool_name": "Bash", "tool_input": {"command": "pytest -x && git status"}, "cwd": "/srv/example"}
    found = loaded_by_hook("pre-tool-use", message, "{}", host)
    # The test itself asks for `quick_json`; the program does without it where it has nothing to say.
    assert found - {"_json"} <= named(HOOKS | {"guard", "guard.glance"}) | STANDARD


@pytest.mark.skipif(sys.platform == "win32", reason="the standard library loads other modules there")
def test_a_session_s_start_loads_what_recall_does_and_five_modules_more(tmp_path):
    loaded(tmp_path, ORDINARY, {})
    message = {"cwd": str(tmp_path), "session_id": "c1", "agent_type": "developer", "source": "startup"}
    found = loaded_by_hook("session-start", message, "<memory tier=")
    assert found - {"_json"} <= named(ALWAYS | TO_FIT | STARTING) | STANDARD | STANDARD_TO_FIT
    assert NEVER.isdisjoint(found)


def test_only_a_call_that_concerns_memory_loads_the_guard(tmp_path):
    path = str(tmp_path / ".scaffolding" / "agent-memory" / "shared" / "KNOWLEDGE.md")
    message = {"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": str(tmp_path)}
    assert f"{NAME}.guard.judge" in loaded_by_hook("pre-tool-use", message, "{}")


def test_a_guarded_write_is_searched_for_secrets_without_what_starts_slowly(tmp_path):
    path = str(tmp_path / ".scaffolding" / "agent-memory" / "shared" / "KNOWLEDGE.md")
    tool = {"file_path": path, "content": "# Shared Knowledge\n\n- Run make.\n"}
    found = loaded_by_hook("pre-tool-use", {"tool_name": "Write", "tool_input": tool, "cwd": str(tmp_path)}, "{}")
    assert f"{NAME}.secrets.find" in found
    assert found.isdisjoint(NEVER - {"re", "enum", "collections", "functools"})


def test_a_guarded_write_of_a_plain_text_loads_neither_patterns_nor_what_reads_a_shell(tmp_path):
    path = str(tmp_path / ".scaffolding" / "agent-memory" / "shared" / "KNOWLEDGE.md")
    tool = {"file_path": path, "old_string": "a", "new_string": "- Redis loses its queue on restart.\n"}
    found = loaded_by_hook("pre-tool-use", {"tool_name": "Edit", "tool_input": tool, "cwd": str(tmp_path)}, "{}")
    assert f"{NAME}.secrets.glance" in found
    assert found.isdisjoint({"re", "enum", "functools", f"{NAME}.secrets.find", f"{NAME}.guard.shell"})


ONE_VERB = f"""
import sys
sys.path.insert(0, {str(REPOSITORY)!r})
import click
before = set(sys.modules)
from {NAME}.cli.main import main
try:
    main()
finally:
    print("loaded", *sorted(set(sys.modules) - before), file=sys.stderr)
"""

NOTE = "---\nname: queue\ndescription: It is Redis.\ntype: project\n---\n\n**Why:** W\n\n**How to apply:** H\n"

SLOW = {"filelock", "hashlib", "jinja2", "markdown_it", "socket", "tomllib", "watchdog"}
"""What no verb needs that finds its document there, and that document without a surprise in it."""

SELDOM = ours(
    {
        *(
            "verbs.adopt",
            "learning.merge_in",
            "verbs.check",
            "learning.insights",
            "verbs.distill",
            "learning.elsewhere",
            "exchange.export",
            "exchange.import_",
        ),
        *(
            "lint",
            "change.merge",
            "verbs.review",
            "learning.scattered",
            "text.claims",
            "text.gist",
            "text.language",
            "verbs.upkeep",
            "watch",
        ),
        *("consolidation", "formats.signed_file", "records.signing", "secrets.judge", "tiers.merge", "tiers.restore"),
    }
)
COMPARING = ours({"text.claims", "text.gist", "text.language"})
SEARCHING = ours({"memory", "search", "verbs.search"}) | {"sqlite3"}
WRITING = ours(
    {
        "change.books",
        "change.healing",
        "change.journal",
        "change.ledger",
        "disk.lock",
        "verbs.remember",
        "learning.route",
        "secrets.find",
        "change.transaction",
    }
)
MASKING = ours({"secrets.find"})
"""What a line with a name that could be a secret has looked at: each path of a test is one."""
READING = ours({"answers", "change.session", "reading", "tiers.document", "workspace"})

DOES_WITHOUT = {
    ("--help",): SLOW | SELDOM | SEARCHING | WRITING | READING,
    ("where",): SLOW | SELDOM | SEARCHING | WRITING - MASKING,
    ("show",): SLOW | SELDOM | SEARCHING | WRITING,
    ("list",): SLOW | SELDOM | SEARCHING | WRITING,
    ("status",): SLOW | SELDOM | SEARCHING | WRITING,
    ("note", "list"): SLOW | SELDOM | SEARCHING,
    ("remember", "The queue is Redis."): SLOW
    | SELDOM - ours({"text.claims", "text.gist", "text.language"})
    | SEARCHING
    | ours({"tiers.prune"}),
    ("note", "new", "project", "cache", "--description", "D", "--why", "W", "--how", "H"): SLOW
    | SELDOM - COMPARING
    | SEARCHING,
    ("search", "bold"): SLOW | SELDOM | WRITING - MASKING | ours({"memory", "records", "search.minilm"}),
}


def loaded_by_verb(root: Path, *args: str) -> set[str]:
    """Return what one call of `amp` loads beside click, in a project with one document and one note."""
    file = root / FILES[0]
    file.parent.mkdir(parents=True)
    file.write_text(f"# Title\n<!-- header -->\n\n{ORDINARY}", encoding="utf-8")
    file.with_name("project_queue.md").write_text(NOTE, encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AMP_")}
    command = [sys.executable, "-c", ONE_VERB, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=environ)
    first, *found = done.stderr.splitlines()[-1].split()
    assert (first, bool(done.stdout)) == ("loaded", True), done
    return set(found)


@pytest.mark.parametrize("args", DOES_WITHOUT, ids=" ".join)
def test_a_verb_of_every_day_does_not_load_what_it_does_not_need(tmp_path, args):
    assert loaded_by_verb(tmp_path, *args) & DOES_WITHOUT[args] == set()


@each_row("group", [SELDOM, SEARCHING, WRITING, READING])
def test_what_is_not_to_be_loaded_is_there(group):
    files = [REPOSITORY.joinpath(*name.split(".")) for name in group if name.startswith(NAME)]
    assert [file for file in files if not file.with_suffix(".py").is_file() and not file.is_dir()] == []


@each_row("name", ["PROTOCOL", "Tier", "Actor", "AgentMemoryError", "InvalidName"])
def test_a_light_name_loads_no_heavy_module(name):
    program = f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\nfrom {NAME} import {name}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    assert NEVER.isdisjoint(done.stdout.split())


def test_every_public_name_is_there_and_no_other():
    import agent_memory_protocol as package

    for name in package.__all__:
        assert getattr(package, name) is not None
    assert dir(package) == sorted(package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = package.nonsense
