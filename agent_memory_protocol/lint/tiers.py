"""Rules on tier documents: limits, structure, what a reader cannot see, and what an entry may not hold."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field

from .. import limits
from ..text import links, markdown, visible
from ..text.markdown import left_open
from ..text.paths import Mention
from ..tiers.document import Document, conflict_line, merged_again
from ..tiers.entries import Entry, may_be_pruned, paragraph_text
from ..tiers.named import named
from ..values import dataclass, once
from .excerpt import Excerpt
from .finding import ERROR, NOTE, WARNING, Fix, Remark, rule

_RAW_LINES = 20
_DIGIT_OR_BRACKET = re.compile(r"[\d\[]")
_BULLET = re.compile(r"[-*+] |\d{1,9}[.)] ")


@dataclass(frozen=True)
class TierView:
    """A tier document as the rules see it."""

    document: Document
    excerpt: Excerpt
    header: Callable[[], str]  # gives the header that its template makes; asked only where the document has none
    max_lines: int
    max_bytes: int
    today: int  # the local calendar date, as an ordinal
    # the paths that entries name and that git knew once, each with its name today, "" for none
    gone: Mapping[str, str] = field(default_factory=dict)
    # the lines and symbols that entries name and that are missing, each with the words that say so
    lost: Mapping[Mention, str] = field(default_factory=dict)
    # the keys of lines of the documentation and of all tiers, where each is first, and under which headings
    elsewhere: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    allowed: Collection[str] = ()

    def entries(self) -> Iterator[tuple[Entry, str]]:
        """Yield each entry with its id."""
        yield from zip(self.document.outline.entries, self.document.ids, strict=True)

    @once
    def datable(self) -> list[tuple[int, str]]:
        """Each paragraph, and the first one of each item, that may hold a date or a mark, with its line from 1.

        No index lines are among them.
        """
        document = self.document
        texts = [
            (block.start + 1, paragraph_text(document.lines, block))
            for block in document.outline.blocks
            if block.kind in (markdown.ITEM, markdown.PARAGRAPH)
        ]
        return [one for one in texts if _DIGIT_OR_BRACKET.search(one[1]) and not links.note_target(one[1])]


@rule(
    "tier-over-limit",
    ERROR,
    "tier",
    "The file has more lines or bytes than its limit, so recall leaves entries out. "
    "Prune it, move what has grown into notes, or merge entries.",
)
def over_limit(view: TierView) -> Iterator[Remark]:
    document = view.document
    if limits.over_limits(document.data, view.max_lines, view.max_bytes):
        by_date = f"run `amp prune {document.target} --to-limit`, " if may_be_pruned(document.outline.entries) else ""
        yield Remark(
            None,
            f"{document.line_count} lines and {len(document.data):,} bytes, {view.max_lines} and {view.max_bytes:,} "
            f"are allowed; {by_date}merge what `amp review` lists, or remove some with `amp forget`",
        )


@rule("tier-near-limit", WARNING, "tier", "The file uses nine tenths of a limit or more. Prune it before it is full.")
def near_limit(view: TierView) -> Iterator[Remark]:
    document = view.document
    share = limits.share_of_limits(document.line_count, len(document.data), view.max_lines, view.max_bytes)
    if limits.NEAR <= share <= 1:
        shown = "`amp review` lists what could be merged"
        if may_be_pruned(document.outline.entries):
            shown = f"`amp prune {document.target}` shows what is outdated"
        yield Remark(None, f"{share:.0%} of the limit is used; {shown}")


@rule(
    "tier-header",
    WARNING,
    "tier",
    "The file does not begin with a level-1 heading, so nothing says whose memory it is. "
    "Begin it with the header that `amp init` writes.",
)
def header(view: TierView) -> Iterator[Remark]:
    if not view.excerpt.has_title:
        yield Remark(1, f"the file does not begin with a heading such as `{view.header().splitlines()[0]}`; add it")


@rule("tier-no-heading", WARNING, "tier", "Bullets are above every heading. Put them under the heading of their topic.")
def no_heading(view: TierView) -> Iterator[Remark]:
    first = next((entry for entry, _ in view.entries() if entry.is_item and not entry.headings), None)
    if first is not None:
        yield Remark(first.start + 1, "this entry is under no heading; put it under the heading of its topic")


@rule(
    "tier-prose",
    WARNING,
    "tier",
    "Paragraphs instead of bullets: they are long, undated, and pruned or left out only "
    "as a whole. Turn each into a concise bullet.",
    on=False,
)
def prose(view: TierView) -> Iterator[Remark]:
    for entry, _ in view.entries():
        if not entry.is_item and entry.paragraph and entry.end - entry.start > 1:
            yield Remark(entry.start + 1, "prose; say it in one concise bullet")


@rule(
    "tier-unclosed-fence",
    ERROR,
    "tier",
    "A code fence, or a block of HTML such as a comment, is never closed, so everything after it is a part of it: it "
    "has no entries, no dates, and nothing can be added there. Close it.",
)
def unclosed_fence(view: TierView) -> Iterator[Remark]:
    found = left_open(view.document.lines, view.document.outline.blocks)
    if found is not None:
        told = "this fence" if found[1][0] in "`~" else "this block of HTML"
        yield Remark(found[0] + 1, f"{told} is never closed and swallows what follows; close it")


@rule(
    "tier-conflict-markers",
    ERROR,
    "tier",
    "Git has left conflict markers. Nothing is written to the file until they are resolved; recall shows both sides.",
)
def conflict_markers(view: TierView) -> Iterator[Remark]:
    line = conflict_line(view.document)
    if line is not None:
        by_entries = f"merge it again by entries: {merged_again(view.document)}"
        yield Remark(line, f"unresolved merge conflict; keep what is right and remove the markers, or {by_entries}")


@rule(
    "tier-double-heading",
    WARNING,
    "tier",
    "Two sections of one level have the same name, so it is unclear where an "
    "entry belongs; `remember` uses the last. Join them.",
)
def double_heading(view: TierView) -> Iterator[Remark]:
    seen: dict[tuple[tuple[int, ...], str], int] = {}
    for heading in view.document.outline.headings:
        key = (heading.above, heading.text.casefold())
        if key in seen and heading.text:
            yield Remark(heading.start + 1, f"the section {heading.text!r} is also in line {seen[key]}; join them")
        else:
            seen[key] = heading.start + 1


@rule(
    "invisible-characters",
    ERROR,
    "tier",
    "Characters that a reviewer cannot see: control, zero-width, bidirectional, private, tags, and variation selectors "
    "where no emoji or script needs one. They can hide text from people and show it to agents. Take them out.",
)
def invisible_characters(view: TierView) -> Iterator[Remark]:
    for number, line in enumerate(view.document.lines, start=1):
        if found := visible.name_invisible(line):
            yield Remark(number, f"{found}; take it out")


@rule(
    "tier-missing-path",
    WARNING,
    "tier",
    "An entry names a path that git knew once and that is gone, in a sentence that takes it to be there. What the "
    "entry says may be stale. Where git says that it was renamed, --fix writes the new name.",
)
def missing_path(view: TierView) -> Iterator[Remark]:
    if not any(one.path in view.gone for one in view.excerpt.mentions):
        return
    for entry, entry_id in view.entries():
        text = view.document.text(entry)
        for one in named(view.document, entry):
            new = view.gone.get(one.path)
            if new is None:
                continue
            line = entry.start + 1 + text.count("\n", 0, one.at)
            if new:
                before = view.document.lines[line - 1]
                fix = Fix(line, before, before.replace(f"`{one.path}", f"`{new}"), edits=True)
                yield Remark(line, f"`{one.path}` is `{new}` now; --fix writes that", fix)
            else:
                yield Remark(line, f"`{one.path}` is gone; correct the entry or `amp forget {entry_id}`")


@rule(
    "tier-missing-symbol",
    NOTE,
    "tier",
    "An entry names a line or a name in a file, or a function, that is not there. The entry may be stale.",
)
def missing_symbol(view: TierView) -> Iterator[Remark]:
    if view.lost.keys().isdisjoint(view.excerpt.mentions):
        return
    for entry, _ in view.entries():
        text = view.document.text(entry)
        for one in named(view.document, entry):
            if one in view.lost:
                yield Remark(
                    entry.start + 1 + text.count("\n", 0, one.at), f"{view.lost[one]}; is the entry still true?"
                )


@rule(
    "conversation-raw-data",
    WARNING,
    "tier",
    "More than twenty lines of code or data in one entry of a conversation. Keep "
    "the finding, and say where the data is.",
)
def raw_data(view: TierView) -> Iterator[Remark]:
    if view.document.target.tier.lasts:
        return
    for entry, _ in view.entries():
        told = told_as_raw(view.document.lines[entry.start : entry.end])
        if told:
            yield Remark(entry.start + 1, told)


def told_as_raw(lines: Sequence[str]) -> str:
    """Return what is to be said of an entry of a conversation that holds much code or data; "" for any other."""
    count = _raw_lines(lines)
    return f"{count} lines of code or data; keep the finding and say where the data is" if count > _RAW_LINES else ""


def _raw_lines(lines: Sequence[str]) -> int:
    """Count the lines of code or data: all that are fenced, or the longest run outside without a blank or a bullet."""
    fenced = run = longest = 0
    fence = ""
    for line in lines:
        text = line.strip(" \t")
        if fence:
            if text and markdown.closes_fence(text, fence[0], len(fence)):
                fence = ""
            else:
                fenced += 1
        elif text and (length := markdown.fence_length(text)):
            fence, run = text[0] * length, 0
        else:
            run = run + 1 if text and not _BULLET.match(text) else 0
            longest = max(longest, run)
    return max(fenced, longest)
