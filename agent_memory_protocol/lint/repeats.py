"""Rules on what is said twice: in one file, in another, or as its opposite."""

from collections.abc import Iterator

from agent_memory_protocol.lint.finding import WARNING, Hit, rule
from agent_memory_protocol.lint.store import StoreView
from agent_memory_protocol.lint.tiers import TierView
from agent_memory_protocol.similarity import gist
from agent_memory_protocol.tiers.document import identity_text

_FEWEST_WORDS = 2
_LONGEST_CLAIM = 400
"""A longer text is no single claim that another could negate."""


@rule("tier-double-entry", WARNING, "tier", "The same entry stands twice in one file. Remove one.")
def double_entry(view: TierView) -> Iterator[Hit]:
    first: dict[str, int] = {}
    for entry, entry_id in view.entries():
        plain = entry_id.partition("-")[0]
        if plain in first and len(entry.paragraph) > 10:
            yield Hit(
                entry.start + 1, f"the same entry stands in line {first[plain]}; `amp forget {entry_id}` removes this"
            )
        else:
            first.setdefault(plain, entry.start + 1)


@rule(
    "tier-restates",
    WARNING,
    "tier",
    "An entry says word for word what CLAUDE.md, AGENTS.md, a file in docs/ or another "
    "tier says already. It costs room and goes stale on its own. Keep it in one place.",
)
def restates(view: TierView) -> Iterator[Hit]:
    for entry, entry_id in view.entries():
        if not entry.is_item:
            continue
        place = view.elsewhere.get(normalised(identity_text(view.document.lines, entry)))
        if place is not None and not place.startswith(f"{view.document.target.path}:"):
            yield Hit(entry.start + 1, f"{place} says the same; keep it in one place (`amp forget {entry_id}`)")


@rule(
    "tier-contradiction",
    WARNING,
    "store",
    "Two entries say the opposite of each other. Recall shows both; decide which is right and forget the other.",
)
def contradiction(view: StoreView) -> Iterator[Hit]:
    seen: dict[tuple[str, ...], list[tuple[frozenset[int], str]]] = {}
    for document in view.documents:
        path = document.target.path
        for entry in document.outline.entries:
            text = identity_text(document.lines, entry)
            own = gist(text)
            if len(own.words) < _FEWEST_WORDS or len(text) > _LONGEST_CLAIM:
                continue
            others = seen.setdefault(own.words, [])
            other = next((where for negations, where in others if negations != own.negations), None)
            if other is not None:
                message = f"says the opposite of {other}; decide which is right and forget the other"
                yield Hit(entry.start + 1, message, path=path)
            others.append((own.negations, f"{path}:{entry.start + 1}"))


def normalised(text: str) -> str:
    """Return what two lines that say the same word for word have in common; "" for one too short to tell."""
    plain = "".join(character if character.isalnum() else " " for character in text.casefold())
    words = plain.split()
    return " ".join(words) if len(words) >= 5 else ""
