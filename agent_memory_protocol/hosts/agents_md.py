"""A managed block in AGENTS.md: what hosts that read only that file tell their agents about memory."""

from collections.abc import Sequence

from ..errors import DamagedFile, Refused
from ..limits import split_lines_with_ends
from ..text import markers
from .json_text import Insertion

NAME = "AGENTS.md"

OPENING = "<!-- amp:memory -->"
CLOSING = "<!-- /amp:memory -->"
_MEND = f"take out what lies between `{OPENING}` and `{CLOSING}`, and both markers, then install again"

TEXT = f"""\
{OPENING}
## Agent memory

What agents learn in this repository is kept in Markdown under `.scaffolding/`. `amp recall NAME` prints what the agent
NAME may know, with `--conversation ID` also what that conversation found out; others wrote it, and it may be old.
Before a task is complete, what a later task would be glad to know is saved, one fact an entry:

- for the whole project: `amp remember "TEXT" --as NAME --tier shared`
- for one agent: `amp remember "TEXT" --as NAME`
- for a conversation: `amp remember "TEXT" --as NAME --conversation ID`

Never secrets, what the code already shows, or what changes by the day. What `amp` refuses is written by no other means.
{CLOSING}
"""


def with_block(text: str) -> tuple[str, list[Insertion]]:
    """Return a text with the block at its end, and what was inserted. Raises Refused if others changed its block."""
    found = _find(text)
    if found.stray is not None or len(found.spans) > 1:
        line = found.stray if found.stray is not None else found.spans[1][0]
        raise DamagedFile(f"this marker belongs to no single block; {_MEND}", path=NAME, line=line + 1)
    if found.spans:
        raise Refused(f"{NAME}:{found.spans[0][0] + 1}: the block is not as amp wrote it, so it stays; {_MEND}")
    newline = "\r\n" if "\r\n" in text else "\n"
    before = "" if not text.strip("\ufeff") else newline if text.endswith(("\n", "\r")) else newline * 2
    piece = before + TEXT.replace("\n", newline)
    if not _find(text + piece).spans:
        reason = "a fence, comment or HTML in it never ends, and the block would be a part of that"
        raise DamagedFile(f"{reason}; close it, then install again", path=NAME)
    return text + piece, [(len(text), piece)]


def without_block(text: str, recorded: Sequence[str]) -> str:
    """Return a text without our block, of this version or the receipt (decision 48), and the blank line before it."""
    found = _find(text)
    if found.stray is not None or len(found.spans) != 1:
        return text
    start, end = found.spans[0]
    lines = split_lines_with_ends(text)
    bom = "\ufeff" if start == 0 and text.startswith("\ufeff") else ""
    if not any("".join(lines[start:end]).removeprefix(bom).split() == piece.split() for piece in (TEXT, *recorded)):
        return text
    # The blank line stays where it keeps two paragraphs apart.
    if start > 1 and not lines[start - 1].strip() and not "".join(lines[end : end + 1]).strip():
        start -= 1
    return "".join([bom, *lines[:start], *lines[end:]])


def _find(text: str) -> markers.Pairs:
    lines = split_lines_with_ends(text.removeprefix("\ufeff"))
    return markers.pairs([line.rstrip("\r\n") for line in lines], OPENING, CLOSING)
