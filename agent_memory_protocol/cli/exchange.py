"""`amp import` and `amp export`: memory comes in from record files, and goes out into them."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ..errors import InvalidArgument
from ..exchange.convert import Conversion
from ..formats import table
from ..formats.record_files import replacing
from ..layout import parse_target
from ..project.outside import check_outside
from ..search.embedding import HashEmbedder
from ..text.phrases import counted
from .formats import STDIO, TOLD, counter, format_of, input_file, output_file, tell, tell_left_out
from .options import NOT_APPLIED, Call, call_options
from .printing import first_words, note
from .record_options import identity_option, open_memory, store_option

if TYPE_CHECKING:
    from ..exchange.import_ import Import


@click.command("import")
@click.argument("file", metavar="FILE")
@click.option("--format", "name", metavar="FORMAT", default=table.AUTO, help="The format of FILE; default: auto.")
@click.option(
    "--to", "target_name", metavar="TARGET", help="Import into a document, shared or agent:NAME; default: records."
)
@click.option("--apply", is_flag=True, help="Do it. Without it, only what would be done is shown.")
@click.option("--strict", is_flag=True, help="Stop at the first error, and write nothing.")
@click.option("--text", metavar="COLUMN", help="The column of the text, in CSV, JSON or Parquet of other tools.")
@click.option("--time", metavar="COLUMN", help="The column of the time.")
@click.option("--map", "pairs", multiple=True, metavar="KEY=FIELD", help="A column for another field; repeatable.")
@click.option("--no-embeddings", is_flag=True, help="Ignore embeddings: they may be missing or wrong.")
@click.option("--accept-unsigned", is_flag=True, help="Import unsigned records and those that were changed.")
@click.option("--accept", multiple=True, metavar="ADDRESS", help="Import records that this address signed; repeatable.")
@identity_option
@store_option
@call_options
def import_command(
    call: Call,
    file: str,
    name: str,
    target_name: str | None,
    apply: bool,
    strict: bool,
    text: str | None,
    time: str | None,
    pairs: tuple[str, ...],
    no_embeddings: bool,
    accept_unsigned: bool,
    accept: tuple[str, ...],
    identity: str | None,
    store: str | None,
) -> None:
    """Import the entries of a record file into memory.

    They become records, or with --to entries of one document. Entries that exist already are skipped. amp refuses a
    secret and names its line. A bad entry does not stop the others; the command then ends with 3 or 4. `-` is stdin.

    It also imports rows of other tools: CSV with a header, JSON lines and Parquet. Missing ids and times are created.
    --text, --time and --map say which column is which field; other columns go into `extra`.

    Of records, in any format, amp imports those that --identity signed. Without --identity, it imports those whose
    signer has records here. It shows the other records and imports them only with --accept-unsigned or --accept. Facts
    of other tools need no such option.

    \b
    Examples:
        amp import memory.jsonl
        amp import handover.amem.json --accept amp:key:6MkhaXgBZDvotDkL
        amp import memory.jsonl --apply
        amp import notes.md --to shared --apply
        amp import tickets.csv --text summary --time created --map owner=source
    """
    from ..exchange.acceptance import acceptance_of
    from ..exchange.foreign import expired, reader_of
    from ..exchange.import_ import (
        DOCUMENT_LOSSES,
        LEFT_OUT,
        RECORD_LOSSES,
        IntoDocument,
        import_file,
        into_records,
        meetings,
    )
    from ..formats.rows import Columns

    if file != STDIO:
        check_outside(call.actor(), file)
    with input_file(file) as path:
        kind, read = reader_of(
            path, file, name, Columns.of(map(_pair, pairs), text=text, time=time, embeds=not no_embeddings)
        )
        new: list[str] = []
        left: set[str] = set()
        notes: list[str] = []
        memory = open_memory(call, store, identity if apply or (identity and os.path.exists(identity)) else None)
        accepted = acceptance_of(path, kind, memory, accept, unsigned=accept_unsigned)
        is_page = kind == "markdown"
        if target_name is None:
            take = into_records(memory, accept=accepted, from_page=is_page, new=new, left=left)
        else:
            where = parse_target(target_name)
            take = IntoDocument(call.workspace(), where, call.actor(), accept=accepted, from_page=is_page, notes=notes)
        done = import_file(
            path,
            read,
            take,
            apply=apply,
            strict=strict,
            losses=DOCUMENT_LOSSES if target_name else RECORD_LOSSES,
            progress=counter("judged"),
        )
        if left:
            done.notes.append(f"what is known already keeps its own {', '.join(sorted(left))}; the file says otherwise")
        done.notes += filter(None, [expired(kind, path), *(meetings(memory, new) if new else notes)])
    to = target_name or "records"
    call.answer({**done.to_json(), "format": kind, "to": to}, _lines(done, kind, to))
    if done.counts[LEFT_OUT]:
        sys.exit(3 if done.refused else 4)


@click.command("export")
@click.argument("targets", metavar="[TARGET]...", nargs=-1)
@click.option("--format", "name", metavar="FORMAT", help="The format; by default the ending of FILE, or ndjson.")
@click.option("--output", metavar="FILE", default=STDIO, help="The file to write; default: stdout.")
@click.option("--no-embeddings", is_flag=True, help="Leave embeddings out of JSON: shorter, for people and data tools.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@store_option
@call_options
def export_command(
    call: Call,
    targets: tuple[str, ...],
    name: str | None,
    output: str,
    no_embeddings: bool,
    force: bool,
    store: str | None,
) -> None:
    """Write memory into a record file.

    TARGET is shared, agent:NAME, conversation:ID or records; default: all documents with their notes. amp says on
    stderr what the format cannot store. Text with a secret is not exported, and amp says where it is.

    \b
    Examples:
        amp export --format ndjson
        amp export shared agent:developer --output memory.sqlite
        amp export records --output memory.pb
    """
    from itertools import chain

    from ..exchange import export

    if call.as_json and output == STDIO:
        raise InvalidArgument("--json and the entries both write to stdout; add --output FILE")
    chosen = format_of(output, name)
    who = call.actor()
    if output != STDIO:
        check_outside(who, output)
    wanted = [parse_target(one) for one in targets if one != export.RECORDS]
    parts = []
    if wanted or not targets:
        parts.append(export.documents(call.workspace(), who, wanted or None))
    if export.RECORDS in targets:
        parts.append(export.records(open_memory(call, store)))
    withheld = export.Withheld(call.workspace().settings.secrets_allow)
    conversion = Conversion(chosen, HashEmbedder(), embeds=not no_embeddings, progress=counter("exported"))
    with output_file(output) as path, replacing(path, overwrite=force or output == STDIO) as new:
        chosen.write(new, conversion.carry(withheld.pass_on(chain.from_iterable(parts))))
    there = call.workspace().targets(who) if wanted else []
    for target in wanted:
        if target not in there:
            note(f"{target.path} does not exist yet")
    tell(call, conversion, "memory")
    if conversion.left_out:
        sys.exit(4 if conversion.left_out > withheld.count else 3)


def _pair(pair: str) -> tuple[str, str]:
    column, sign, target = pair.partition("=")
    if not (column and sign and target):
        raise InvalidArgument(f"--map {pair}: give a column and a field, as in --map owner=source")
    return column, target


def _lines(done: "Import", source: str, target: str) -> Iterator[str]:
    from ..exchange.import_ import KNOWN, LEFT_OUT, NEW

    for text in done.added[:TOLD]:
        yield f"{'added' if done.applied else 'new  '}  {first_words(text, behind=7)}"
    if done.counts[NEW] > TOLD:
        yield f"and {done.counts[NEW] - TOLD:,} more"
    tell_left_out(done.problems, done.counts[LEFT_OUT])
    for loss, number in done.lost.items():
        note(f"{target} cannot keep {loss.what} ({counted(number, 'entry')}): {loss.instead}")
    for line in done.notes[:TOLD]:
        note(line)
    if len(done.notes) > TOLD:
        note(f"{len(done.notes) - TOLD:,} more remarks; `amp check` lists all of them")
    known = f", {done.counts[KNOWN]:,} known already" if done.counts[KNOWN] else ""
    verb = "went" if done.applied else "would go"
    note(f"{counted(done.counts[NEW], 'entry')} of {source} {verb} into {target}{known}")
    if not done.applied and done.counts[NEW]:
        note(NOT_APPLIED)
