"""`amp bench formats`: what each record format takes, on this machine."""

import os
import sys
import tempfile
from collections import Counter
from typing import TYPE_CHECKING

import click

from ..errors import InvalidArgument, MissingExtra
from ..text.phrases import counted
from .formats import input_file
from .options import Call, call_options
from .printing import columns, note, progress

_WIDE = 80  # How wide the table may be where there is no terminal

if TYPE_CHECKING:
    from ..exchange.measure import Measured
    from ..formats.entry import MemoryEntry


@click.group("bench")
def bench_command() -> None:
    """Benchmark the record formats on this machine.

    \b
    Example:
        amp bench formats --records 1000
    """


@bench_command.command("formats")
@click.option(
    "--records", type=click.IntRange(min=20), default=100_000, metavar="N", help="Number of entries (100000)."
)
@click.option("--dimensions", type=click.IntRange(1, 65_536), default=384, metavar="D", help="Width of vectors (384).")
@click.option("--from", "source", metavar="FILE", help="Use the entries of this record file instead.")
@click.option(
    "--rounds", type=click.IntRange(1, 100), default=3, metavar="N", help="Number of times each step runs (3)."
)
@click.option("--plot", metavar="FILE", help="Draw a chart into this SVG file.")
@call_options
def formats_command(
    call: Call, records: int, dimensions: int, source: str | None, rounds: int, plot: str | None
) -> None:
    """Compare the speed and size of the record formats.

    The steps: write all, size on disk, read all, add one, find the 10 newest with a tag, read a later field. Each
    format gets the same entries, in files that are removed afterwards. The formats take turns. amp shows the median of
    all rounds, with the fastest and the slowest. It checks that all formats give the same answer.

    \b
    Examples:
        amp bench formats --records 10000 --plot formats.svg
        amp bench formats --from memory.pb
    """
    call.actor()  # refuses a name that breaks the rule
    if plot is not None and not plot.lower().endswith(".svg"):
        raise InvalidArgument("--plot draws SVG; end the name with .svg")
    from ..exchange.measure import COMPARED, measure
    from ..exchange.sample import TAG, sample

    if source is None:
        entries, tag = sample(records, dimensions), TAG
    else:
        with input_file(source) as path:
            entries, tag = _own(path)
    names = [name for name in COMPARED if _is_installed(name)]
    with tempfile.TemporaryDirectory() as folder:
        found = measure(entries, tag, folder, names=names, rounds=rounds, progress=progress("measuring"))
    if plot is not None:
        from ..exchange.chart import chart
        from ..formats.record_files import replacing

        width = len(entries[0].embedding) // 4
        with replacing(plot, overwrite=True) as new, open(new, "w", encoding="utf-8") as file:
            file.write(chart(found, f"{counted(len(entries), 'entry')} of {width} numbers, tag {tag}"))
    values = {
        "records": len(entries),
        "dimensions": len(entries[0].embedding) // 4,
        "tag": tag,
        "rounds": rounds,
        "python": ".".join(map(str, sys.version_info[:3])),
        "formats": [one.to_json() for one in found],
    }
    call.answer(values, table(found, columns() if sys.stdout.isatty() else _WIDE))
    if not call.as_json:
        measured = f"{counted(len(entries), 'entry')}, tag {tag}; {counted(rounds, 'round')}"
        note(f"{measured}: the median; --json has the fastest and the slowest, too")


def table(found: "list[Measured]", width: int) -> list[str]:
    """Return the figures as a table with a column for each format; too wide, without a spread, or else as lists."""
    remark = [] if all(one.format.appends for one in found) else ["* the whole file is written again"]
    for has_spread in (True, False):
        rows = _figures(found, has_spread=has_spread)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(most) for cell, most in zip(row, widths, strict=True)).rstrip() for row in rows]
        if max(map(len, lines)) <= width:
            return [*lines, *remark]
    lists = []
    for number, one in enumerate(found, start=1):
        lists.append(one.format.name)
        lists += [f"  {row[0]}: {row[number]}" for row in rows[1:]]
    return [*lists, *remark]


def _figures(found: "list[Measured]", *, has_spread: bool) -> list[list[str]]:
    """Return the rows of the table; the first names the formats."""
    from ..exchange.chart import size_text, time_text
    from ..exchange.measure import STEPS

    rows = [["", *(one.format.name for one in found)]]
    rows.append(["on disk", *(size_text(one.size) for one in found)])
    for step, about in STEPS.items():
        texts = []
        for one in found:
            spread = (min(one.seconds[step]), max(one.seconds[step])) if has_spread else ()
            mark = "*" if step == "append" and not one.format.appends else ""
            texts.append(f"{time_text(one.middle(step), *spread)}{mark}")
        rows.append([about, *texts])
    rows.append(["a later field is kept", *("yes" if one.keeps_unknown else "no" for one in found)])
    return rows


def _own(source: str) -> "tuple[list[MemoryEntry], str]":
    """Return the entries of a file and their most usual tag."""
    from ..exchange.convert import Conversion
    from ..formats import json_schema, table
    from ..search.embedding import HashEmbedder

    conversion = Conversion(table.by_name("ndjson"), HashEmbedder())
    lines = conversion.carry(table.detect(source).read(source))
    found = [json_schema.decode(line)._replace(unknown=None) for line in lines]  # each format has others, or none
    tags = Counter(tag for entry in found for tag in entry.tags).most_common(1)
    if conversion.left_out:
        note(f"{counted(conversion.left_out, 'entry')} of {source} cannot be read and do not count")
    if not tags:
        raise InvalidArgument(f"{source}: no entry has a tag to ask for; measure with other entries")
    return found, tags[0][0]


def _is_installed(name: str) -> bool:
    """Say whether a format can be used, and which package it lacks where it cannot."""
    from ..exchange.sample import sample
    from ..formats.table import by_name

    with tempfile.TemporaryDirectory() as folder:
        try:
            by_name(name).write(os.path.join(folder, "a"), map(by_name(name).encode, sample(1, 1)))
        except MissingExtra as error:
            note(f"{name} is left out: {error}")
            return False
    return True
