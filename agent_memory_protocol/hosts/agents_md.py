"""A managed block in AGENTS.md: what hosts that read only that file tell their agents about memory."""

import re

from .json_text import Insertion

OPENING = "<!-- amp:memory -->"
CLOSING = "<!-- /amp:memory -->"

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


_BLOCK = re.compile(rf"(?:(?<=\n)\r?\n)?{OPENING}.*?{CLOSING}(?:\r?\n)?", re.DOTALL)
"""The block, the end of its last line, and the blank line before it."""


def with_block(text: str) -> tuple[str, list[Insertion]]:
    """Return a text with the block at its end, and what was inserted; one that is there already stays where it is."""
    if _BLOCK.search(text):
        return text, []
    newline = "\r\n" if "\r\n" in text else "\n"
    before = "" if not text.strip("\ufeff") else newline if text.endswith(("\n", "\r")) else newline * 2
    piece = before + TEXT.replace("\n", newline)
    return text + piece, [(len(text), piece)]


def without_block(text: str) -> str:
    """Return a text without the block and the blank line before it."""
    return _BLOCK.sub("", text, count=1)
