"""A managed block in AGENTS.md: what hosts that read only that file tell their agents about memory."""

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


def with_block(text: str) -> tuple[str, list[Insertion]]:
    """Return a text with the block at its end, and what was inserted; one that is there already stays where it is."""
    if span_of(text) is not None:
        return text, []
    newline = "\r\n" if "\r\n" in text else "\n"
    before = "" if not text.strip("\ufeff") else newline if text.endswith(("\n", "\r")) else newline * 2
    piece = before + TEXT.replace("\n", newline)
    return text + piece, [(len(text), piece)]


def without_block(text: str) -> str:
    """Return a text without the block and the blank line before it."""
    span = span_of(text)
    if span is None:
        return text
    start, end = span
    before = text[:start]
    for blank in ("\r\n\r\n", "\n\n"):
        if before.endswith(blank):
            before = before[: -len(blank) // 2]
            break
    return before + text[end:]


def span_of(text: str) -> tuple[int, int] | None:
    """Return where the block begins and ends, its last line end included; None where there is none."""
    start = text.find(OPENING)
    end = text.find(CLOSING, start)
    if start < 0 or end < 0:
        return None
    end += len(CLOSING)
    for newline in ("\r\n", "\n"):
        if text.startswith(newline, end):
            return start, end + len(newline)
    return start, end
