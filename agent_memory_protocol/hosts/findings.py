"""Findings: what a read-only agent reports in its output, in a fenced block whose info string is `memory-findings`.

The block is read as a page of memory is: an item, or a numbered list, is one finding, under its headings and its label.
`shared:`, `agent:` or `conversation:` before its text, behind its marks, says where it belongs (decision 11).
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from ..layout import TIERS, Target, Tier
from ..limits import split_lines
from ..text import marks
from ..text.headers import split_header
from ..text.labels import BELOW
from ..text.markdown import closes_fence, fence_length
from ..text.reported import signed
from ..tiers import document
from ..tiers.entries import Entry, IndexLine, items_of
from ..values import dataclass

INFO = "memory-findings"
_TIER = re.compile(
    rf"(?P<front>(?:\[[^\]]*\]\s*|\d{{4}}-\d\d-\d\d:?\s*|[^\w\s*`\"'(\[]\s*)*)"
    rf"\**(?P<tier>{'|'.join(one.value for one in TIERS)})\s*\**\s*:[\s*]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Reported:
    """One finding."""

    text: str
    tier: Tier | None = None  # the tier that its reporter names; None for no tier
    section: str = ""  # the headings above it in the block, "" for no heading
    label: str = ""  # the label above its bullets, "" for no label


def read_findings(output: str) -> list[Reported]:
    """Return the findings in an agent's output, in their order. A block inside another fence is only a sample."""
    found: list[Reported] = []
    for block in _blocks(split_lines(output.removeprefix("\ufeff"))):
        found += _found(block)
    return [finding for finding in found if finding.text]


def reporter_named_in(output: str) -> str | None:
    """Return the agent that an output names in its front matter (`agent: reviewer`); None if it has no such line."""
    header = split_header(output.lstrip("\ufeff\n"))
    return (header.get("agent") or None) if header else None


def entry_text(finding: Reported, reporter: str, *, writer: str | None = None, meant_for: Tier | None = None) -> str:
    """Return what is remembered of a finding: its text, who reported it, who saved it, and where it was meant to go."""
    said = []
    if writer is not None and writer != reporter:
        said.append(f"saved by {writer}")
    if meant_for is not None:
        said.append(f"meant for {meant_for}")
    return signed(finding.text, reporter, said)


def day_hidden_by(signed_text: str, finding: Reported) -> date | None:
    """Return the day of a finding that its text no longer says with who reported it behind it, as `x (2026-04-09)`."""
    said, now = (marks.read(text.partition("\n\n")[0]).date for text in (finding.text, signed_text))
    return date.fromordinal(said.day) if said and not now else None


def tells(text: str, finding: Reported, reporter: str) -> bool:
    """Say whether an entry, without marker and date, is this finding of this reporter, no matter who saved it."""
    said, _, rest = text.rpartition(f"(reported by {reporter}")
    return said.split() == finding.text.split() and rest[:1] in (")", ",")


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines of each block. A fence in it that says what it holds, or is indented in an item, is inside it."""
    block: list[str] | None = None
    fence, indent, inner = "", 0, ""
    for number, line in enumerate(lines):
        text = line.strip(" \t")
        margin = len(line) - len(line.lstrip(" \t"))
        length = fence_length(text) if text else 0
        ends = bool(length) and closes_fence(text, (inner or fence)[:1], len(inner or fence))
        if inner:
            inner = "" if ends else inner
        elif fence and ends and not (block and margin > indent + 1 and _is_closed(lines[number + 1 :], text, indent)):
            fence = ""
            if block:
                yield block
            block = None
        elif fence and block is not None and length:
            inner = text[:length]
        elif not fence and length and margin <= 3:
            fence, indent = text[:length], margin
            block = [] if text[length:].split()[:1] == [INFO] else None
            continue
        if fence and block is not None:
            block.append(line)
    if block:
        yield block


def _is_closed(lines: list[str], fence: str, indent: int) -> bool:
    """Say whether the next fence in some lines is indented in an item too, so that the one before them begins there."""
    follows = next((line for line in lines if closes_fence(line.strip(" \t") or "-", fence[0], len(fence))), "")
    return len(follows) - len(follows.lstrip(" \t")) > indent + 1


def _found(block: list[str]) -> Iterator[Reported]:
    """Yield the findings of a block. A paragraph below one belongs to it; what is neither is one of its own."""
    margin = min((len(line) - len(line.lstrip()) for line in block if line.strip()), default=0)
    page = document.parse("\n".join(line[margin:] for line in block).encode(), Target(Tier.CONVERSATION, "c"))
    last: Reported | None = None
    # A link to a note begins an index line, which no finding can be: who saves it says so.
    links = [_entry(one) for one in page.outline.index_lines]
    found = sorted([*page.outline.entries, *links], key=lambda one: one.start)
    for entry in (item for one in found for item in _apart(page, one)):
        text = _text(page, entry)
        if text and (entry.is_item or not entry.paragraph):
            if last is not None:
                yield last
            last = _of(text, BELOW.join(page.sections(entry)), page.label(entry))
        elif last is not None and not entry.is_item and entry.start not in page.outline.labels:
            gap = "\n\n" if "\n" in last.text + text else " "
            last = replace(last, text=last.text + gap + text)
    if last is not None:
        yield last


def _entry(line: IndexLine) -> Entry:
    entry = Entry(line.start, line.end, is_item=True, column=len("- "), paragraph="")
    entry.headings, entry.label = line.headings, line.label
    return entry


def _apart(page: document.Document, entry: Entry) -> list[Entry]:
    """Return the items of a numbered list where one of them names a tier, else the entry alone."""
    items = items_of(page.lines, page.outline, entry)
    return items if any(_TIER.match(one.paragraph) for one in items) else [entry]


def _text(page: document.Document, entry: Entry) -> str:
    """Return an entry without its bullet, on one line where it is one paragraph."""
    shift = entry.column if entry.items == 1 else 0
    first, *rest = page.said(entry).split("\n")
    lines = [first[shift:], *(line.lstrip() if line[:shift].strip() else line[shift:] for line in rest)]
    if entry.paragraph.count("\n") == len(rest):
        return " ".join(" ".join(lines).split())
    return "\n".join(line.rstrip() for line in lines)


def _of(text: str, section: str, label: str) -> Reported:
    named = _TIER.match(text)
    if named is None:
        return Reported(text, None, section, label)
    tier = next(one for one in TIERS if one.value == named["tier"].lower())
    return Reported((named["front"] + text[named.end() :]).strip(), tier, section, label)
