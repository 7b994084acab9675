"""Rules on what does not belong in memory: secrets, what is true only now, and what the repository shows."""

from collections.abc import Iterator

from ..learning import route
from ..learning.route_words import REPOSITORY, STATE
from ..secrets.find import Secret, find_secrets
from .finding import ERROR, WARNING, Remark, rule
from .ledgers import LedgerView
from .notes import NoteView
from .tiers import TierView


@rule(
    "secret",
    ERROR,
    "tier note ledger",
    "A password, token, key or account number. Memory is read into every session and copied to every clone. "
    "Change the secret, keep it in an env file outside git, and write here where it is.",
)
def secret(view: TierView | NoteView | LedgerView) -> Iterator[Remark]:
    if isinstance(view, LedgerView):
        yield from _secrets_in_ledger(view)
        return
    text = "\n".join(view.document.lines) if isinstance(view, TierView) else view.text
    for found in find_secrets(text):
        if found.fingerprint not in view.allowed:
            yield _of_secret(found, found.line, "write where it is kept instead")


def _secrets_in_ledger(view: LedgerView) -> Iterator[Remark]:
    for line, entry_id, text in view.texts():
        for fingerprint, found in {one.fingerprint: one for one in find_secrets(text)}.items():
            if fingerprint not in view.allowed:
                yield _of_secret(
                    found, line, f"`amp forget {entry_id} --redact` takes it out" if entry_id else "take the line out"
                )


def _of_secret(found: Secret, line: int, what_to_do: str) -> Remark:
    return Remark(
        line,
        f"this looks like {found.description}; change it, and {what_to_do} "
        f"(if it is not one, allow {found.fingerprint} under [secrets] allow)",
    )


@rule(
    "belongs-state",
    WARNING,
    "tier note",
    "A status or an event: true now and wrong in a month. Keep it in a state file or a journal, or date the "
    "entry so that it can be pruned. In conversations it is welcome.",
)
def state(view: TierView | NoteView) -> Iterator[Remark]:
    yield from _outside(view, STATE)


@rule(
    "belongs-repository",
    WARNING,
    "tier note",
    "What the code or its history shows: structure, past fixes, commits. What was non-obvious about it? Save "
    "that instead. In conversations it is welcome.",
)
def repository(view: TierView | NoteView) -> Iterator[Remark]:
    yield from _outside(view, REPOSITORY)


def _outside(view: TierView | NoteView, place: str) -> Iterator[Remark]:
    for line, text, is_dated in _texts(view):
        found = route.outside(text)
        if found is not None and found.place == place and not (is_dated and place == STATE):
            yield Remark(line, route.doubt(found))


def _texts(view: TierView | NoteView) -> Iterator[tuple[int, str, bool]]:
    """Yield each text with its line, and whether it is dated."""
    if isinstance(view, NoteView):
        yield 1, view.note.head.description, False
    elif view.document.target.tier.lasts:
        for entry, _ in view.entries():
            if entry.is_item:
                yield entry.start + 1, entry.paragraph, entry.day is not None
