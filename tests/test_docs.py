r"""The documentation is true: its examples print what they show, and it names nothing that is not there.

How examples are written, in the README and in docs/:

- The blocks under one `##` heading share one project, which begins with an empty .scaffolding, and run in order.
- A `console` block shows commands, each after `$ `, and what a terminal shows for them, stdout and stderr together.
  A command ends with exit code 0 unless the next one is `echo $?`.
- A `python` block is a program; a `text` block right after it is what it prints.
- A block of any language with `file=PATH` behind the language is the content of that file of the project.
- `…` stands for any text within a line; a line that is only `…` stands for any lines, or none.
"""

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

import click
import jsonschema
import pytest
from click.testing import CliRunner

from agent_memory_protocol import Memory, Workspace, __version__, errors, recall_for_agent
from agent_memory_protocol.answers import Remembered
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.formats import schemas
from agent_memory_protocol.formats.jsonl_rules import ENTRY_RULES, KINDS
from tests.each_row import each_row
from tests.folder import Kept

REPOSITORY = Path(__file__).parents[1]
RUN = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
READ = [*RUN, *(REPOSITORY / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]
SKILL = REPOSITORY / "skill" / "agent-memory" / "SKILL.md"
PROTOCOL = REPOSITORY / "docs" / "protocol.md"

needs_a_shell = pytest.mark.skipif(shutil.which("sh") is None, reason="the examples are for a POSIX shell")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it is, what stands in it, and where."""

    page: Path
    section: str
    line: int
    language: str
    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    found: list[Block] = []
    section, fence, start, info = "", "", 0, ""
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        marker = re.match(r"(`{3,})(.*)", line)
        if fence and line == fence:
            language, _, file = info.partition(" file=")
            text = "".join(f"{inside}\n" for inside in lines[start : number - 1])
            found.append(Block(page, section, start, language, file, text))
            fence = ""
        elif not fence and marker:
            fence, info, start = marker[1], marker[2], number
        elif not fence and line.startswith("## "):
            section = line[3:]
    assert not fence, f"{page.name}:{start}: this block is never closed"
    return found


def examples() -> Iterator[object]:
    """Yield, for each section with something to run, its blocks."""
    for page in RUN:
        sections: dict[str, list[Block]] = {}
        for block in blocks_of(page):
            sections.setdefault(block.section, []).append(block)
        for section, blocks in sections.items():
            if any(block.language in ("console", "python") for block in blocks):
                yield pytest.param(blocks, id=f"{page.name}-{section}".replace(" ", "-"))


class Project:
    """A fresh project, and the programs that the examples call, all of them this Python's."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "project"
        programs = folder / "programs"
        for made in (self.path, self.path / ".scaffolding", programs, folder / "home"):
            made.mkdir()
        hook = "-m agent_memory_protocol.hosts.hook "
        amp_itself = "-m agent_memory_protocol "
        scripts = (("amp", amp_itself), ("agent-memory", amp_itself), ("amp-hook", hook), ("python3", ""))
        for name, arguments in scripts:
            (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n')
            (programs / name).chmod(0o755)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("AMP_", "XDG_"))}
        self.environment |= {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder / "home"),
            "LC_ALL": "C.UTF-8",
            "PYTHONIOENCODING": "utf-8",
        }

    def run(self, command: list[str | Path], text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.path,
            env=self.environment,
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )

    @property
    def workspace(self) -> Workspace:
        return Workspace.open(self.path, environ=self.environment)

    def remember(
        self, text: str, *, agent: str | None = None, conversation: str | None = None, dated: date | None = None
    ) -> Remembered:
        return self.workspace.remember(text, agent=agent, conversation=conversation, dated=dated)

    def records(self) -> dict[str, str]:
        """Make an old record, two that contradict each other, and two that say the same; return the first three ids."""
        path = self.path / ".scaffolding" / "agent-memory"
        with Memory(path, clock=lambda: datetime(2025, 1, 1, tzinfo=UTC)) as memory:
            ids = [memory.remember("A fact.").record_id]
        with Memory(path, consolidate_every=0) as memory:
            ids += [
                memory.remember(text).record_id for text in ("The staging host is up.", "The staging host is not up.")
            ]
            memory.consolidate()
            memory.remember("Deploys go out on Tuesdays.")
            memory.remember("deploys go out on tuesdays")
        return dict(zip(("RECORD", "LOSER", "WINNER"), ids, strict=True))

    def write(self, block: Block) -> Path:
        path = self.path / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8", newline="\n")
        return path


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def matches(shown: str, printed: str) -> bool:
    """Say whether a text is what an example shows; blanks at the ends of lines do not matter."""
    pattern = ""
    for line in shown.splitlines():
        pattern += r"(.*\n)*" if line == "…" else r"[^\n]*".join(map(re.escape, line.rstrip().split("…"))) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed if printed.endswith("\n") or not printed else printed + "\n") is not None


def check_console(project: Project, block: Block) -> None:
    steps = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert steps[0] == "", f"{block}: the block must begin with a command"
    steps = steps[1:]
    commands = [step.partition("\n")[0] for step in steps]
    # One shell for the whole block, so that folders and `$?` carry over; a mark and the exit code end each step.
    script = "".join(f'{command}\n_code=$?; printf "\\n\\001%d\\n" $_code; (exit $_code)\n' for command in commands)
    printed = project.run(["sh", "-c", script]).stdout
    answers = re.findall(r"(.*?)\n\x01(\d+)\n", printed, re.DOTALL)
    assert len(answers) == len(steps), f"{block}: the shell stopped early\n{printed}"
    for index, (step, (answer, code)) in enumerate(zip(steps, answers, strict=True)):
        command, _, shown = step.partition("\n")
        where = f"{block}: $ {command}\n--- shown\n{shown}--- printed\n{answer}"
        assert matches(shown, answer), where
        asked_for = commands[index + 1 : index + 2] == ["echo $?"]
        assert code == "0" or asked_for, f"{where}\n--- exit code {code}"


@pytest.mark.docs
@needs_a_shell
@pytest.mark.parametrize("blocks", list(examples()))
def test_the_examples_of_a_section_print_what_they_show(blocks, project, request):
    if blocks[0].page.stem == "records-on-postgresql":
        server = request.getfixturevalue("postgresql")
        path = f"{project.environment['PATH']}{os.pathsep}{server.programs}"
        project.environment |= {
            "PGHOST": str(server.folder),
            "PGPORT": str(server.port),
            "PGUSER": "postgres",
            "PATH": path,
        }
    for index, block in enumerate(blocks):
        if block.file:
            project.write(block)
        elif block.language == "console":
            check_console(project, block)
        elif block.language == "python":
            done = project.run([sys.executable, "-c", block.text])
            assert done.returncode == 0, f"{block}\n{done.stdout}"
            following = blocks[index + 1] if index + 1 < len(blocks) else None
            if following is not None and following.language == "text":
                where = f"{block}\n--- shown\n{following.text}--- printed\n{done.stdout}"
                assert matches(following.text, done.stdout), where


def code_in(page: Path) -> Iterator[str]:
    """Yield each line of code in a page: of blocks, and spans in sentences."""
    text = page.read_text(encoding="utf-8")
    yield from (line for block in blocks_of(page) for line in block.text.splitlines())
    sentences = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL).replace("\n", " ")
    yield from re.findall(r"`+([^`]+)`+", sentences)


def find_command(words: list[str]) -> tuple[str, click.Command | None]:
    """Return the command that these words call, with the words that name it; None where there is none."""
    name, command = "amp", cast("click.Command | None", amp)
    for word in words:
        if not isinstance(command, click.Group):
            break
        verb = re.sub(r"\W+$", "", word)
        name, command = f"{name} {verb}", command.get_command(click.Context(command), verb)
    return name, command


@each_row("page", [*READ, SKILL], ids=lambda page: page.name)
def test_every_verb_and_option_it_mentions_exists(page):
    for code in code_in(page):
        for called in re.findall(r"(?<![\w/.-])amp [a-z][^|;&]*", code):
            name, command = find_command(called.split()[1:])
            assert command is not None, f"{page.name} mentions `{called}`"
            known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
            mentioned = set(re.findall(r"(?<=[ \[])--[a-z][a-z-]*", re.sub(r'"[^"]*"', "", called)))
            assert mentioned <= known, f"{page.name} mentions `{name}` with {mentioned - known}"


@pytest.mark.slow
@each_row("page", READ, ids=lambda page: page.name)
def test_every_link_inside_the_repository_leads_somewhere(page):
    text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), f"{page.name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in anchors, f"{page.name} links to {target}"


def rows_of(page: Path, first_cell: str) -> list[list[str]]:
    """Return the cells of a table's rows, found by the first cell of its header."""
    text = page.read_text(encoding="utf-8")
    table = re.search(rf"^\| {re.escape(first_cell)} \|.*\n\|[-| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table[1].splitlines()]


@each_row("page", [*READ, SKILL], ids=lambda page: page.name)
def test_every_row_of_a_table_stands_under_its_header(page):
    text = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?m)(?<!\|\n)^\|.*\n(?:\|.*\n)*", text):
        assert re.match(r"\|.*\|\n\|(?: *:?-+:? *\|)+\n", table), f"{page.name} has rows without a header: {table}"


def test_every_decision_the_code_names_is_in_the_table():
    explained = {int(row[0]) for row in rows_of(PROTOCOL, "no.")}
    for path in (REPOSITORY / "agent_memory_protocol").rglob("*.py"):
        for first, last in re.findall(r"decisions? (\d+)(?: (?:to|and) (\d+))?", path.read_text(encoding="utf-8")):
            assert {int(first), int(last or first)} <= explained, path


def test_every_exit_code_an_error_has_is_explained():
    raised = {value.exit_code for value in vars(errors).values() if hasattr(value, "exit_code")}
    assert {int(row[0]) for row in rows_of(PROTOCOL, "exit code")} >= {0, *raised}


def closed(schema: Any) -> Any:
    """Return a schema that allows no key beside those it names, so that a new key of an answer must come into it."""
    if isinstance(schema, dict):
        inner = {key: closed(value) for key, value in schema.items()}
        is_object = isinstance(schema.get("properties"), dict) and "type" in schema
        return {**inner, "additionalProperties": False} if is_object else inner
    return [closed(one) for one in schema] if isinstance(schema, list) else schema


@cache
def answers_schema(name: str) -> jsonschema.Draft202012Validator:
    """Return what checks the answer of one command by the schema that ships, and knows no keys but those in it."""
    defs = closed(json.loads(schemas.text(schemas.ANSWERS))["$defs"])
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": defs})


@pytest.mark.slow
def test_the_schema_of_answers_has_every_command_that_answers_in_json():
    shipped = json.loads(schemas.text(schemas.ANSWERS))
    jsonschema.Draft202012Validator.check_schema(shipped)
    commands = {find_command(shlex.split(command)[1:])[0].removeprefix("amp ") for command, _ in JSON_ANSWERS}
    assert set(shipped["$defs"]) == {name.replace(" ", "-") for name in commands} | {"record", "error"}
    assert {one["$ref"].removeprefix("#/$defs/") for one in shipped["anyOf"]} == set(shipped["$defs"]) - {"record"}


def test_the_changelog_tells_of_the_version_there_is():
    page = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased, newest, *_ = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", page, re.MULTILINE)
    assert (unreleased, newest) == ("Unreleased", __version__)


def keys_of(answer: object) -> set[str]:
    """Return the keys of an answer, those of records and of cases aside: these are described elsewhere."""
    if isinstance(answer, dict) and "provenance" in answer:
        return set()
    if isinstance(answer, dict):
        told = (value for name, value in answer.items() if name not in ("expected", "got"))
        return set(answer) | {key for value in told for key in keys_of(value)}
    return {key for value in answer for key in keys_of(value)} if isinstance(answer, list) else set()


JSON_ANSWERS = [(row[0].strip("`"), row[1]) for row in rows_of(PROTOCOL, "answer of")]


def fill(project: Project) -> dict[str, str]:
    """Fill a project with something of everything; return what stands for the words of a command."""
    second = project.remember("A fact.", agent="developer")
    kept = project.remember("A fact of old.", agent="developer", dated=date(2025, 1, 1))
    gone = project.remember("A fact that went.", agent="developer")
    project.workspace.forget([gone.entry.id])
    before = kept.path.read_text()
    project.remember("A fact that an editor overwrote.", agent="developer")
    more = "\n- [Gone](user_gone.md) - No more.\n\n## 2024-02-01\n\n- A fact of its day.\n"
    kept.path.write_text(before.replace(" Max 200 lines.", "") + more)
    for note in ("user_coffee", "project_plan"):
        kept.path.with_name(f"{note}.md").write_text("A note.\n")
    source = project.path / ".claude" / "agent-memory"
    for path, text in (("developer/MEMORY.md", "- Not a fact of old.\n"), ("no name/MEMORY.md", "- Lost.\n")):
        (source / path).parent.mkdir(parents=True)
        (source / path).write_text(text)
    entry = {"id": "a", "timestamp_ms": 0, "text": "A fact from elsewhere.", "embedding": ""}
    (project.path / "in.ndjson").write_text(f"{json.dumps(entry)}\n{{}}\n")
    (project.path / "report.md").write_text("```memory-findings\n- shared: One.\n- agent: Two.\n- Three.\n```\n")
    return {
        "ID": kept.entry.id,
        "SECOND": second.entry.id,
        "NOTE": "user_coffee",
        "OTHER": "project_plan",
        "SOURCE": str(source),
        "OUT.md": str(project.path / "out.md"),
        "IN.ndjson": str(project.path / "in.ndjson"),
        "agent.key": str(project.path / "agent.key"),
        "OUTPUT": str(project.path / "report.md"),
    }


def prepare(project: Project, command: str, names: dict[str, str]) -> None:
    """Add what one command needs to have something to say."""
    if command.startswith("amp diff"):
        git = ["git", "-C", str(project.path), "-c", "user.name=t", "-c", "user.email=t@t"]
        for step in ("init -q", "commit -q --allow-empty -m x"):
            subprocess.run([*git, *step.split()], check=True)
        project.remember("- The queue is on port 8080.", agent="developer")
        project.remember("- The queue is on port 9090.", agent="developer")
    if command.startswith("amp record reactivate"):
        with Memory(project.path / ".scaffolding" / "agent-memory") as memory:
            memory.archive(names["RECORD"], "over")
    if command.startswith("amp prune"):
        project.remember("All that is old.", agent="other", dated=date(2025, 1, 1))
    for conversation in ("c1", "c2") if command.startswith(("amp distill", "amp learn", "amp close")) else ():
        project.remember("A fact that two conversations share.", conversation=conversation)


@pytest.mark.slow
def test_a_json_answer_has_the_keys_that_are_described(project, monkeypatch):
    """Each answer has something of everything: an old entry, one in the ledger, one that an editor overwrote."""
    monkeypatch.chdir(project.path)  # a file that the command names must not be written into the checkout
    names = fill(project)
    plain = Kept(project.path)
    names |= project.records()
    with_records = Kept(project.path)
    for command, described in JSON_ANSWERS:
        needs_records = re.search("record|consolidate|decay|recall|search", command, re.IGNORECASE)
        (with_records if needs_records else plain).put_back()
        prepare(project, command, names)
        check_keys(project, command, described, names)


def check_keys(project: Project, command: str, described: str, names: dict[str, str]) -> None:
    arguments = [names.get(word, word) for word in shlex.split(command)[1:]]
    environment = {"AMP_AGENT": None, "AMP_CONVERSATION": None}
    root = [] if arguments[0] == "conformance" else ["--root", str(project.path)]
    done = CliRunner().invoke(amp, [*arguments, *root], env=environment)
    one_a_line = "one object a line" in described
    answers = [json.loads(line) for line in done.stdout.splitlines()] if one_a_line else [json.loads(done.stdout)]
    name, _ = find_command(arguments)
    for answer in answers:
        answers_schema(name.removeprefix("amp ").replace(" ", "-")).validate(answer)
    assert {answer.pop("version") for answer in answers} == {1}
    if "`amp where`" in described:
        del answers[0]["where"]
        described = described.replace("`where`: the answer of `amp where`", "")
    described = re.sub(r"\([^)]*\)", "", described)
    assert keys_of(answers) == set(re.findall(r"`(\w+)`", described)), command


def commands_of(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for verb in group.list_commands(context):
        command = group.get_command(context, verb)
        if isinstance(command, click.Group):
            yield from ((f"{verb} {name}", below) for name, below in commands_of(command))
        elif command is not None:
            yield verb, command


def test_every_json_answer_is_described():
    answering = {
        f"amp {name}" for name, command in commands_of(amp) if any("--json" in one.opts for one in command.params)
    }
    assert {find_command(shlex.split(command)[1:])[0] for command, _ in JSON_ANSWERS} == answering


def test_the_pipeline_page_names_every_parameter_of_the_call():
    page = (REPOSITORY / "docs" / "recall-in-your-pipeline.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"`recall_for_agent\(([^`]*=None)\)`", page)
    named = re.findall(r"(\w+)=None", shown)
    # The environment is for whoever calls for another process, as the hooks do.
    assert [*named, "environ"] == list(inspect.signature(recall_for_agent).parameters)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_for_systemd_is_one(tmp_path):
    page = REPOSITORY / "docs" / "watch-as-a-service.md"
    (unit,) = [block.text for block in blocks_of(page) if block.language == "ini"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "amp").symlink_to(sys.executable)
    unit = unit.replace("%h/.local/bin/amp", str(tmp_path / "bin" / "amp"))
    instance = subprocess.run(["systemd-escape", "--path", tmp_path], capture_output=True, text=True, check=True).stdout
    file = tmp_path / f"amp-watch@{instance.strip()}.service"
    file.write_text(unit, encoding="utf-8")
    told = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True, check=False)
    assert "amp-watch" not in told.stderr, told.stderr


@pytest.mark.requirement("S0-07", "S0-09")
def test_every_key_of_a_line_of_agent_memory_is_described():
    page = (REPOSITORY / "docs" / "formats.md").read_text(encoding="utf-8")
    section = page.split("\n## The lines of agent-memory/0.1\n")[1].split("\n## ")[0]
    assert set(re.findall(r"(?m)^\| `(\w+)` \|", section)) == set(ENTRY_RULES)
    assert set(KINDS) <= set(re.findall(r"`(\w+)`", section))


def test_whatever_works_on_a_project_takes_its_root():
    without = {name for name, command in commands_of(amp) if not any("--root" in one.opts for one in command.params)}
    assert without == {
        "conformance",  # its cases bring their own projects
        "completion",
        "help",
        "hook",
        "schema",
        "version",
    }  # the schemas are everywhere the same; a host's event says where it happened
