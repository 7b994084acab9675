"""`amp convert` and `amp schema`: record files from one format to another, and what describes them."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..disk.errors import shown
from ..disk.files import is_there
from ..errors import DamagedFile, InvalidArgument
from ..formats import schemas, table
from ..project.outside import check_outside
from ..project.settings_schema import settings_schema
from ..text.phrases import counted
from .options import Call, call_options
from .printing import draw, note, print_json, say_data, shows_progress

if TYPE_CHECKING:
    from ..exchange.convert import Conversion
    from ..formats.entry import Problem
    from ..formats.table import Format

STDIO = "-"
_SCHEMAS = {"proto": schemas.PROTO, "json": schemas.JSON, "answers": schemas.ANSWERS, "settings": ""}
_DEFAULT = "ndjson"  # The format of stdout: of those that can be read in a terminal, it loses least
TOLD = 20  # So many of what came through, or did not, are told; the others are counted


@click.command("convert")
@click.argument("source", metavar="IN", required=False)
@click.argument("target", metavar="OUT", required=False)
@click.option("--from", "source_name", metavar="FORMAT", help="The format of IN. Default: by its content.")
@click.option("--format", "target_name", metavar="FORMAT", help="The format of OUT; by default its ending, or ndjson.")
@click.option("--strict", is_flag=True, help="Stop at the first error, and write nothing.")
@click.option("--no-embeddings", is_flag=True, help="Leave embeddings out of JSON: shorter, for people and data tools.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@click.option("--losses", is_flag=True, help="Only list what each format cannot store.")
@call_options
def convert_command(
    call: Call,
    source: str | None,
    target: str | None,
    source_name: str | None,
    target_name: str | None,
    strict: bool,
    no_embeddings: bool,
    force: bool,
    losses: bool,
) -> None:
    """Convert a record file to another format.

    Formats are ndjson, json, protobuf, sqlite, parquet, jsonl, memory-file and markdown; mcp-graph can only be read.
    `-` is stdin or stdout. amp says on stderr what OUT cannot store, one line each. A part of IN that is not an entry
    does not stop the others; the command then ends with 4.

    \b
    Examples:
        amp convert memory.pb memory.sqlite
        amp convert memory.jsonl - --format ndjson
        amp convert --losses
    """
    who = call.actor()
    if losses:
        rows = list(table.loss_rows())
        losses_json = [{"format": name, "what": what, "instead": instead} for name, what, instead in rows]
        said = (f"{name:12} {what}: {instead}" for name, what, instead in rows)
        call.answer({"losses": losses_json}, said)
        return
    if source is None or target is None:
        raise InvalidArgument("name IN and OUT; - means stdin and stdout")
    if call.as_json and target == STDIO:
        raise InvalidArgument("--json and OUT both write to stdout; name a file for OUT")
    for file in (source, target):
        if file != STDIO:
            check_outside(who, file)
    chosen = format_of(target, target_name)
    from ..exchange.convert import Conversion, convert
    from ..search.embedding import HashEmbedder

    conversion = Conversion(
        chosen, HashEmbedder(), strict=strict, embeds=not no_embeddings, progress=counter("converted")
    )
    with input_file(source) as path, output_file(target) as new:
        found = table.by_name(source_name) if source_name else _detected(path, source)
        convert(path, found, conversion, new, overwrite=force or target == STDIO)
    tell(call, conversion, found.name)
    if conversion.left_out:
        sys.exit(4)


def _detected(path: str, name: str) -> "Format":
    """Say which format a record file has; rows that another tool wrote have none, and can be imported."""
    from ..exchange.foreign import ENDINGS, has_rows

    unknown = InvalidArgument(
        f"{name} holds rows of another tool, not entries; `amp import {name} --apply` brings its rows in, "
        "and `amp export` writes them in any format"
    )
    if name.casefold().endswith(ENDINGS):
        raise unknown
    try:
        found = table.detect(path, name=name, option="--from")
    except DamagedFile as error:
        raise unknown if has_rows(path) else error from None
    if found.name in ("mcp-graph", "json") and has_rows(path):
        raise unknown
    return found


@click.command("schema")
@click.argument("which", metavar="|".join(_SCHEMAS), type=click.Choice(list(_SCHEMAS)))
def schema_command(which: str) -> None:
    """Print the schema of record files, answers or settings.

    `proto` and `json` describe record files, `answers` what each command answers with --json, and `settings` amp.toml.

    \b
    Examples:
        amp schema proto > agentmemory.proto
        amp schema settings > amp.schema.json
    """
    if which == "settings":
        print_json(settings_schema(), version=None)
    else:
        click.echo(schemas.text(_SCHEMAS[which]), nl=False)


def tell(call: Call, conversion: "Conversion", source: str) -> None:
    """Say what came through, what was lost on the way, and what did not come through."""
    if call.as_json:
        print_json({"from": source, **conversion.to_json()})
        return
    for loss, number in conversion.lost.items():
        note(f"{conversion.target.name} cannot carry {loss.what}, of {counted(number, 'entry')}: {loss.instead}")
    if conversion.embedded:
        note(f"{counted(conversion.embedded, 'entry')} had no embedding: made from the text, as extra says")
    if conversion.doubles:
        note(f"{counted(conversion.doubles, 'entry')} came twice; only one copy was written")
    tell_left_out(conversion.problems, conversion.left_out)
    note(f"{counted(conversion.entries, 'entry')} from {source} to {conversion.target.name}")


def tell_left_out(problems: "Sequence[Problem]", number: int) -> None:
    """Say what did not come through and why: the first of so many, and how many more there are."""
    for problem in problems[:TOLD]:
        note(f"left out: {problem.place}: {problem.reason}")
    if number > TOLD:
        note(f"left out: {number - TOLD:,} more like these")


@contextmanager
def input_file(path: str) -> Iterator[str]:
    """Give the path of a file to read: itself, or a copy of stdin, since some formats do not read from start to end.

    Raises:
        InvalidArgument: the file does not exist.
    """
    if path != STDIO:
        if not is_there(path):
            raise InvalidArgument(f"{shown(path)} is not there; name a file that is, or - for stdin")
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        spooled = os.path.join(folder, "stdin")
        with open(spooled, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield spooled


@contextmanager
def output_file(path: str) -> Iterator[str]:
    """Give the path of a file that is written: itself, or one that goes to stdout when all went well."""
    if path != STDIO:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "stdout")
        yield made
        draw("")
        sys.stdout.flush()
        with open(made, "rb") as file:
            if sys.stdout.isatty():
                data = file.read()
                if b"\0" in data:
                    raise InvalidArgument(
                        "these are bytes, which a terminal cannot show; name a file to write, or pipe"
                    )
                say_data(data)
            else:
                shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def counter(what: str) -> Callable[[int], None] | None:
    """Return a function that shows on stderr how many are done; None if stderr is not a terminal."""
    return (lambda done: draw(f"{done:,} {what}")) if shows_progress() else None


def format_of(path: str, name: str | None) -> "Format":
    """Return the format that is named, else that of the path's ending; for stdout NDJSON, and say so."""
    if path == STDIO and name is None:
        name = _DEFAULT
        note(f"written as {name}; --format names another format")
    return table.to_write(path, name)
