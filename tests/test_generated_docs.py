"""What the documentation has from the program itself: the command reference, the tables of settings and of rules.

`python tests/test_generated_docs.py` writes them anew.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import click

from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.lint.finding import in_order
from agent_memory_protocol.settings import KEYS, Key

DOCS = Path(__file__).parents[1] / "docs"
CLI = DOCS / "cli.md"
PROTOCOL = DOCS / "protocol.md"
WRITE = "run `python tests/test_generated_docs.py`, which writes it anew"

_OPENING = """\
# Commands

This page is made from what `amp --help` and `amp COMMAND --help` say; `python tests/test_generated_docs.py` writes it.

`amp` is also installed as `agent-memory`, for where another program has the first name, and runs as
`python -m agent_memory_protocol`. What the answers look like, and who may do what, is described in
[the protocol](protocol.md).
"""

_RULE_NUMBERS = re.compile(r" \((?:decision|S\d)[^)]*\)")
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


def settings_table(keys: tuple[Key, ...] = KEYS) -> str:
    """Return the table of settings, from the table the program reads them by."""
    rows = ["| key | what it does | value | default | which file counts |", "|---|---|---|---|---|"]
    for key in keys:
        about = key.about.replace("|", "\\|")
        rows.append(f"| `{key.name}` | {about} | {_kind(key)} | {_value(key)} | {_MERGED[key.merge]} |")
    return "\n".join([*rows, ""])


def rules_table() -> str:
    """Return the table of the rules of `amp check`, from the rules themselves."""
    rows = ["| rule | finds | severity |", "|---|---|---|"]
    for rule in in_order():
        severity = rule.severity if rule.on else f"{rule.severity}, only with `--select`"
        rows.append(f"| `{rule.id}` | {_RULE_NUMBERS.sub('', rule.about)} | {severity} |")
    return "\n".join([*rows, ""])


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


def protocol_page() -> str:
    """Return docs/protocol.md with its tables made anew."""
    page = PROTOCOL.read_text(encoding="utf-8")
    for name, table in (("settings", settings_table()), ("rules", rules_table())):
        before, opening, rest = page.partition(
            f"<!-- {name}: `python tests/test_generated_docs.py` writes this table -->\n"
        )
        _, closing, after = rest.partition(f"<!-- /{name} -->\n")
        assert closing, f"docs/protocol.md has no place for the table of {name}"
        page = f"{before}{opening}\n{table}\n{closing}{after}"
    return page


def test_the_command_reference_is_what_the_commands_say():
    assert CLI.read_text(encoding="utf-8") == cli_reference(), WRITE


def test_the_tables_of_settings_and_rules_are_those_the_program_has():
    assert PROTOCOL.read_text(encoding="utf-8") == protocol_page(), WRITE


def test_every_option_says_what_it_does():
    for name, command in _commands(amp, "amp"):
        options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
        assert [(name, option.opts[0]) for option in options if not option.help] == []


if __name__ == "__main__":
    CLI.write_text(cli_reference(), encoding="utf-8")
    PROTOCOL.write_text(protocol_page(), encoding="utf-8")
