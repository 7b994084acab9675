"""What the documentation has from the program itself: references of commands, rules and the library, tables.

`python tests/test_generated_docs.py` writes them again.
"""

import inspect
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import click
import pytest

import agent_memory_protocol
from agent_memory_protocol import Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.formats.table import loss_rows
from agent_memory_protocol.lint.finding import Finding, Rule, group_of, in_order
from agent_memory_protocol.project.settings import KEYS, Key
from agent_memory_protocol.text.visible import show_invisible

sys.path.insert(0, str(Path(__file__).parents[1]))  # where this is run as a program
from tests.each_row import each_row
from tests.library_page import CLASSES, FUNCTIONS, example_of, library_page, public_errors, public_members

DOCS = Path(__file__).parents[1] / "docs"
LIBRARY = DOCS / "library.md"
CLI = DOCS / "cli.md"
PROTOCOL = DOCS / "protocol.md"
FORMATS = DOCS / "formats.md"
MAN = DOCS / "amp.1"
RULES_PAGE = DOCS / "rules.md"
EXAMPLES: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "data" / "rules.toml").read_text(encoding="utf-8")
)
"""For each rule the files of a project in which it finds something."""
WRITE = "run `python tests/test_generated_docs.py`, which writes it again"

_OPENING = """\
# Commands

This page is made from what `amp --help` and `amp COMMAND --help` say; `python tests/test_generated_docs.py` writes it.

`amp` is also installed as `agent-memory`, in case another program has the name `amp`, and runs as
`python -m agent_memory_protocol`. What the answers look like, and who may do what, is described in
[the protocol](protocol.md).
"""

_RULES_OPENING = """\
# Rules

What `amp check` finds, rule by rule. This page is made from the rules themselves and from what each of them finds in
the example under it; `python tests/test_generated_docs.py` writes it. `amp check --rules` lists the same rules.

An error keeps memory from doing its work, or must not be there; a warning is something a person should look at.
Either ends `amp check` with exit code 1. `--select` and `--ignore` take a rule or a group, the word before the first
dash, as in `amp check --select date --ignore date-future`. A rule that is off runs only when it is selected: on real
memory files it found too much that was meant so. [How that was judged](../benchmarks/false_alarms.md).
"""
_GROUPS = {
    "belongs": "belongs: what belongs elsewhere",
    "conversation": "conversation",
    "date": "date: the dates of entries",
    "index": "index: one line for each note",
    "invisible": "invisible: what a reviewer cannot see",
    "ledger": "ledger: what was taken out",
    "note": "note: one fact, one file",
    "review": "review",
    "secret": "secret",
    "store": "store: the memory as a whole",
    "tier": "tier: the three kinds of document",
    "unreadable": "unreadable",
}

_KINDS = {
    "switch": "true or false",
    "count": "a number",
    "days": 'days, as `90`, `"90d"`, `"12w"` or `"1y"`',
    "agents": "a list of agents",
    "texts": "a list of texts",
    "conversation": "a conversation id",
    "files": "a list of files",
    "folders": "a list of folders",
}
_MERGED = {
    "project": "the project's before the person's",
    "person": "the person's before the project's",
    "least": "the smaller of both",
    "most": "the larger of both",
    "common": "what both lists have",
    "off": "off if either file says so",
    "on": "on if either file says so",
    "both": "both lists together",
    "personal": "the person's only",
}


def cli_reference() -> str:
    """Return the command reference, from what each command says about itself."""
    parts = [_OPENING]
    commands = list(_commands(amp, "amp"))
    rows = [f"| [`{name}`](#{name.replace(' ', '-')}) | {_sentence(command)} |\n" for name, command in commands]
    parts += ["| command | |\n|---|---|\n" + "".join(rows), f"{amp.epilog}\n"]
    for name, command in commands:
        parts += _command(name, command)
    return "\n".join(parts)


def man_page() -> str:
    """Return the manual page of `amp`, from what each command says about itself."""
    lines = ['.TH AMP 1 "" "agent-memory-protocol" "User Commands"', ".SH NAME", _man(f"amp - {_summary(amp)}")]
    lines += [".SH SYNOPSIS", ".B amp", _man("COMMAND [OPTIONS] [ARGUMENTS]"), ".SH COMMANDS"]
    for name, command in _commands(amp, "amp"):
        lines += [".TP", f".B {_man(name)}", _man(_summary(command))]
    lines += [".SH EXIT STATUS", _man((amp.epilog or "").removeprefix("Exit codes: "))]
    return "\n".join([*lines, ".SH SEE ALSO", _man("amp help VERB says more of each command."), ""])


def _summary(command: click.Command) -> str:
    return " ".join((command.help or "").split("\n\n")[0].split()).rstrip(".")


def _man(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in ".'" else escaped


def settings_table(keys: tuple[Key, ...] = KEYS) -> str:
    """Return the table of settings, from the table the program reads them by."""
    rows = ["| key | what it does | value | default | which file counts |", "|---|---|---|---|---|"]
    for key in keys:
        about = key.about.replace("|", "\\|")
        rows.append(f"| `{key.name}` | {about} | {_kind(key)} | {_value(key)} | {_MERGED[key.merge]} |")
    return "\n".join([*rows, ""])


def rules_page() -> str:
    """Return the reference of the rules of `amp check`, from the rules themselves and what each finds in an example."""
    rules = in_order()
    rows = [
        f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {'' if rule.on else 'off'} | {_first_sentence(rule.about)} |"
        for rule in rules
    ]
    parts = [_RULES_OPENING, "\n".join(["| rule | severity | | finds |", "|---|---|---|---|", *rows, ""])]
    for group, members in groupby(rules, key=lambda rule: group_of(rule.id)):
        parts.append(f"## {_GROUPS.get(group, group)}\n")
        for rule in members:
            off = "" if rule.on else f", only with `--select {rule.id}`"
            parts.append(f"### {rule.id}\n\n**{rule.severity.capitalize()}{off}.** {rule.about}\n")
            parts += _example(rule)
    return "\n".join(parts)


def _first_sentence(about: str) -> str:
    return re.split(r"(?<=[.:;]) (?=[A-Z`])", about)[0]


def _example(rule: Rule) -> Iterator[str]:
    """Yield the files of a rule's example, and what the rule finds in them."""
    files = EXAMPLES.get(rule.id, {})
    if not files:
        return
    for path, text in files.items():
        fence = "````" if "```" in text else "```"
        language = {".md": "markdown", ".jsonl": "json", ".toml": "toml"}.get(Path(path).suffix, "text")
        yield f"`{path}`\n\n{fence}{language}\n{_shown(text)}\n{fence}\n"
    findings = "\n".join(
        f"{one.path}{f':{one.line}' if one.line else ''}: {one.severity}: {one.message}"
        for one in found_in(rule, files)
    )
    yield f"```text\n{findings}\n```\n"


def _shown(text: str) -> str:
    """Return a text as a page can show it: long ones cut, and what nobody sees as an escape."""
    lines = [show_invisible(line) for line in text.rstrip("\n").split("\n")]
    return "\n".join([*lines[:12], "\u2026"] if len(lines) > 15 else lines)


def found_in(rule: Rule, files: Mapping[str, str]) -> list[Finding]:
    """Return what a rule finds in a project that consists of these files."""
    with TemporaryDirectory() as name:
        for path, text in files.items():
            file = Path(name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        return Workspace.open(name, environ={"HOME": name}).check(select=[rule.id], today=date(2026, 6, 1))


def _commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command that can be called, those of groups included, with all the words that call it."""
    context = click.Context(group)
    for verb in group.list_commands(context):
        command = group.get_command(context, verb)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{name} {verb}")
        else:
            yield f"{name} {verb}", command


def _sentence(command: click.Command) -> str:
    help_text = " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`])", help_text)[0]


def _command(name: str, command: click.Command) -> Iterator[str]:
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    usage = [name, "[OPTION]…", *(_argument(argument) for argument in arguments)]
    yield f"## {name}\n"
    yield f"`{' '.join(usage)}`\n"
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            title, *lines = paragraph.removeprefix("\b\n").splitlines()
            yield f"{title}\n\n```\n{dedent(chr(10).join(lines))}\n```\n"
        else:
            yield f"{' '.join(paragraph.split())}\n"
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    yield "| option | |\n|---|---|\n" + "".join(
        f"| {_option(option)} | {option.help}{' Required.' if option.required else ''} |\n" for option in options
    )


def _argument(argument: click.Argument) -> str:
    name = argument.metavar or _choices(argument) or (argument.name or "").upper()
    name = name.replace("...", "…")
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.is_flag:
        return names
    value = option.metavar or _choices(option).replace("|", "\\|") or option.type.name.upper()
    return f"{names[:-1]} {value}`"


def _choices(parameter: click.Parameter) -> str:
    return "|".join(parameter.type.choices) if isinstance(parameter.type, click.Choice) else ""


def _kind(key: Key) -> str:
    return _KINDS.get(key.kind) or " or ".join(f'`"{word}"`' for word in key.kind.split("|"))


def _value(key: Key) -> str:
    if key.default is None:
        return "none"
    if isinstance(key.default, bool):
        return f"`{str(key.default).lower()}`"
    if isinstance(key.default, tuple):
        return "`[" + ", ".join(f'"{item}"' for item in key.default) + "]`"
    return f'`"{key.default}"`' if isinstance(key.default, str) else f"`{key.default}`"


def losses_table() -> str:
    """Return the table of what formats cannot carry, from the rows that do it."""
    rows = ["| format | cannot carry | has instead |", "|---|---|---|"]
    rows += [f"| `{name}` | {what} | {instead} |" for name, what, instead in loss_rows()]
    return "\n".join([*rows, ""])


def formats_page() -> str:
    """Return docs/formats.md with its table made again."""
    return _page(FORMATS, losses=losses_table())


def protocol_page() -> str:
    """Return docs/protocol.md with its tables made again."""
    return _page(PROTOCOL, settings=settings_table())


def _page(path: Path, **tables: str) -> str:
    page = path.read_text(encoding="utf-8")
    for name, table in tables.items():
        before, opening, rest = page.partition(
            f"<!-- {name}: `python tests/test_generated_docs.py` writes this table -->\n"
        )
        _, closing, after = rest.partition(f"<!-- /{name} -->\n")
        assert closing, f"docs/{path.name} has no place for the table of {name}"
        page = f"{before}{opening}\n{table}\n{closing}{after}"
    return page


def test_the_command_reference_is_what_the_commands_say():
    assert CLI.read_text(encoding="utf-8") == cli_reference(), WRITE


def test_the_table_of_settings_is_the_one_the_program_has():
    assert PROTOCOL.read_text(encoding="utf-8") == protocol_page(), WRITE


def test_the_reference_of_rules_is_what_the_rules_say():
    assert RULES_PAGE.read_text(encoding="utf-8") == rules_page(), WRITE


WITHOUT_EXAMPLE = {
    "index-over-screen",
    "ledger-ignored",
    "store-told-twice",
    "store-twins",
    "tier-missing-path",
    "unreadable",
}
"""What takes more than a few readable files to show: fifty of them, git, a disk that knows case, other bytes."""


def test_every_rule_has_an_example():
    assert {rule.id for rule in in_order()} == {*EXAMPLES, *WITHOUT_EXAMPLE}


@each_row("rule", [rule for rule in in_order() if rule.id in EXAMPLES], ids=lambda rule: rule.id)
def test_a_rule_finds_something_in_its_example(rule):
    assert {one.rule for one in found_in(rule, EXAMPLES[rule.id])} == {rule.id}


def test_the_manual_page_is_what_the_commands_say():
    assert MAN.read_text(encoding="utf-8") == man_page(), WRITE


@pytest.mark.skipif(shutil.which("man") is None, reason="there is no man to read it with")
def test_the_manual_page_is_read_without_a_warning():
    done = subprocess.run(["man", "--warnings", "-l", MAN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_reference_of_the_library_is_what_it_says_and_does():
    assert LIBRARY.read_text(encoding="utf-8") == library_page(), WRITE


def test_every_public_name_is_in_the_reference_with_an_example():
    names = {*FUNCTIONS, *(one.__name__ for one in CLASSES), "PROTOCOL"}
    assert {*agent_memory_protocol.__all__} - {one.__name__ for one in public_errors()} <= names
    members = {f"{one.__name__}.{member}" for one in CLASSES for member in public_members(one)}
    assert {name for name in names | members if not example_of(name)} == set()
    said = [value for one in CLASSES for value in public_members(one).values()]
    assert all(value.__doc__ for value in said)


def test_the_table_of_losses_is_that_of_the_formats():
    assert FORMATS.read_text(encoding="utf-8") == formats_page(), WRITE


def test_every_option_says_what_it_does():
    for name, command in _commands(amp, "amp"):
        options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        assert [(name, option.opts[0]) for option in options if not option.help] == []


if __name__ == "__main__":
    FORMATS.write_text(formats_page(), encoding="utf-8")
    LIBRARY.write_text(library_page(), encoding="utf-8")
    CLI.write_text(cli_reference(), encoding="utf-8")
    MAN.write_text(man_page(), encoding="utf-8")
    PROTOCOL.write_text(protocol_page(), encoding="utf-8")
    RULES_PAGE.write_text(rules_page(), encoding="utf-8")
