"""Rules on what is said twice: in one file, in another, or as its opposite."""

from collections.abc import Iterator

from ..layout import Target
from ..text.claims import denials
from ..text.gist import is_claim, normalised
from ..tiers.document import identity_text
from .finding import WARNING, Remark, rule
from .store import StoreView
from .tiers import TierView


@rule("tier-double-entry", WARNING, "tier", "The same entry stands twice in one file. Remove one.")
def double_entry(view: TierView) -> Iterator[Remark]:
    first: dict[str, int] = {}
    for entry, entry_id in view.entries():
        plain = entry_id.partition("-")[0]
        if plain in first and len(entry.paragraph) > 10:
            yield Remark(
                entry.start + 1, f"the same entry stands in line {first[plain]}; `amp forget {entry_id}` removes this"
            )
        else:
            first.setdefault(plain, entry.start + 1)


@rule(
    "tier-restates",
    WARNING,
    "tier",
    "An entry of shared or agent memory says word for word what CLAUDE.md, AGENTS.md, a file in docs/ or another of "
    "these says already. It costs room and goes stale on its own. Keep it in one place. In conversations it is "
    "welcome: what several of them come to is what `amp distill` goes by.",
)
def restates(view: TierView) -> Iterator[Remark]:
    """What conversations repeat is evidence for `amp distill`, and advice to forget it would destroy that."""
    if not view.document.target.tier.lasts:
        return
    for entry, entry_id in view.entries():
        if not entry.is_item:
            continue
        place = view.elsewhere.get(normalised(identity_text(view.document.lines, entry)))
        if place is not None and not place.startswith(f"{view.document.target.path}:"):
            yield Remark(entry.start + 1, f"{place} says the same; keep it in one place (`amp forget {entry_id}`)")


@rule(
    "tier-contradiction",
    WARNING,
    "store",
    "Two entries say the opposite of each other. Recall shows both; decide which is right and forget the other. Two "
    "conversations may differ: nobody is given both.",
)
def contradiction(view: StoreView) -> Iterator[Remark]:
    places = [(document, entry) for document in view.documents for entry in document.outline.entries]
    texts = [identity_text(document.lines, entry) for document, entry in places]
    first: dict[int, int] = {}
    for one, other, _ in denials([text if is_claim(text) else "" for text in texts]):
        earlier, later = sorted((one, other))
        if not _apart(places[earlier][0].target, places[later][0].target):
            first[later] = min(earlier, first.get(later, earlier))
    for later, earlier in first.items():
        (document, entry), (other_document, other_entry) = places[later], places[earlier]
        place = f"{other_document.target.path}:{other_entry.start + 1}"
        message = f"says the opposite of {place}; decide which is right and forget the other"
        yield Remark(entry.start + 1, message, path=document.target.path)


def _apart(one: Target, other: Target) -> bool:
    """Say whether these are two conversations."""
    return not one.tier.lasts and not other.tier.lasts and one != other
