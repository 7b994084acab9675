"""Rules on what does not belong in memory: secrets, what is true only now, and what the repository shows."""

from collections.abc import Iterator

from agent_memory_protocol import routing
from agent_memory_protocol.layout import Tier
from agent_memory_protocol.lint.finding import ERROR, WARNING, Hit, rule
from agent_memory_protocol.lint.notes import NoteView
from agent_memory_protocol.lint.tiers import TierView
from agent_memory_protocol.routing_words import REPOSITORY, STATE
from agent_memory_protocol.secrets import find_secrets


@rule(
    "secret",
    ERROR,
    "tier note",
    "A password, token, key or account number. Memory is read into every session and copied to every clone "
    "(S2-30). Change the secret, keep it in an env file outside git, and write here where it is.",
)
def secret(view: TierView | NoteView) -> Iterator[Hit]:
    text = "\n".join(view.document.lines) if isinstance(view, TierView) else view.text
    for found in find_secrets(text):
        if found.fingerprint not in view.allowed:
            yield Hit(
                found.line,
                f"this looks like {found.description}; change it, and write where it is kept instead "
                f"(if it is none, allow {found.fingerprint} under [secrets] allow)",
            )


@rule(
    "belongs-state",
    WARNING,
    "tier note",
    "A status or an event: true now and wrong in a month (S2-31). Keep it in a state file or a journal, or date the "
    "entry so that it can be pruned. In conversations it is welcome.",
)
def state(view: TierView | NoteView) -> Iterator[Hit]:
    yield from _outside(view, STATE)


@rule(
    "belongs-repository",
    WARNING,
    "tier note",
    "What the code or its history shows: structure, past fixes, commits (S2-32). What was non-obvious about it? Save "
    "that instead (S2-33). In conversations it is welcome.",
)
def repository(view: TierView | NoteView) -> Iterator[Hit]:
    yield from _outside(view, REPOSITORY)


def _outside(view: TierView | NoteView, place: str) -> Iterator[Hit]:
    for line, text, is_dated in _texts(view):
        found = routing.outside(text)
        if found is not None and found.place == place and not (is_dated and place == STATE):
            yield Hit(line, routing.doubt(found))


def _texts(view: TierView | NoteView) -> Iterator[tuple[int, str, bool]]:
    """Yield each text with its line, and whether it is dated."""
    if isinstance(view, NoteView):
        yield 1, view.note.head.description, False
    elif view.document.target.tier is not Tier.CONVERSATION:
        for entry, _ in view.entries():
            if entry.is_item:
                yield entry.start + 1, entry.paragraph, entry.day is not None
