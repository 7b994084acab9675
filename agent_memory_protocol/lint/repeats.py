"""Rules on what is said twice: in one file, in another, as its opposite, or with another value."""

from collections.abc import Iterator
from functools import lru_cache

from ..layout import Tier
from ..secrets.mask import beginning
from ..text import labels
from ..text.labels import BELOW
from ..text.opposites import exclude_each_other, scope
from ..text.topics import is_elsewhere
from ..tiers.document import plain_id
from ..tiers.meet import CHANGED, OPPOSITE
from .finding import WARNING, Remark, rule
from .store import StoreView
from .tiers import TierView

DISAGREEMENTS = ("tier-contradiction", "tier-changed")  # What `amp check` lists first

_SHOWN = 120  # Characters of an entry in a message


@rule("tier-double-entry", WARNING, "tier", "The same entry is twice in one file. Remove one.")
def double_entry(view: TierView) -> Iterator[Remark]:
    first: dict[tuple[str, str, frozenset[str]], tuple[int, tuple[str, ...]]] = {}
    for entry, entry_id in view.entries():
        sections = view.document.sections(entry)
        plain = plain_id(entry_id), labels.key(view.document.label(entry)), scope(sections)
        number, others = first.setdefault(plain, (entry.start + 1, sections))
        if number <= entry.start and len(entry.paragraph) > 10:
            apart = f", under {BELOW.join(others)!r}; if both mean the same" if is_elsewhere(sections, others) else ""
            told = f"the same entry is in line {number}{apart}; `amp forget {entry_id}` removes this"
            yield Remark(entry.start + 1, told)


@rule(
    "tier-restates",
    WARNING,
    "tier",
    "An entry of shared or agent memory says word for word what CLAUDE.md, AGENTS.md, a file in docs/ or another of "
    "these says already. It costs room and goes stale on its own. Keep it in one place; what two agents know belongs "
    "in shared memory. In conversations it is welcome: what several of them come to is what `amp distill` goes by.",
)
def restates(view: TierView) -> Iterator[Remark]:
    """What conversations repeat is evidence for `amp distill`, and advice to forget it would destroy that."""
    own = view.document.target
    for one in view.excerpt.lines:
        place, headings = view.elsewhere.get(one.key, ("", ()))
        is_told = place and one.entry_id and not place.startswith(f"{own.path}:")
        if not is_told or _apart(headings, one.sections):
            continue
        told = f"{place} says the same; keep it in one place (`amp forget {one.entry_id}`)"
        if own.tier is Tier.AGENT and place.startswith(f"{'/'.join(Tier.AGENT.folder)}/"):
            command = f"amp remember --tier shared --replaces {one.entry_id} TEXT"
            told = f"{place} says the same; what two agents know belongs in shared: `{command}`"
        yield Remark(one.number, told)


_apart = lru_cache(maxsize=4096)(exclude_each_other)  # Thousands of documents have the same few headings


@rule(
    "tier-contradiction",
    WARNING,
    "store",
    "Two facts say the opposite of each other, in entries, notes or records. Recall shows both. Retire the wrong one "
    "with `amp resolve`, or mark both entries with `amp dispute` until somebody knows. Two conversations may differ: "
    "nobody is given both.",
)
def contradiction(view: StoreView) -> Iterator[Remark]:
    return _disagreements(view, OPPOSITE, "says the opposite of")


@rule(
    "tier-changed",
    WARNING,
    "store",
    "Two facts under the same headings are equal but for one value, such as a version, an amount, a port, a date or a "
    "time. They may be in entries, notes or records. Most often the older is out of date: `amp resolve` retires it.",
)
def changed(view: StoreView) -> Iterator[Remark]:
    return _disagreements(view, CHANGED, "has another value than")


def _disagreements(view: StoreView, way: str, says: str) -> Iterator[Remark]:
    for one in view.disagreements:
        if one.way == way:
            other, here = one.first, one.second
            if here.line is None:
                other, here = here, other  # a note or record has no line that an entry could be shown beside
            told = f"“{beginning(here.text, _SHOWN)}” {says} “{beginning(other.text, _SHOWN)}” in {other.place}"
            yield Remark(here.line, f"{told}; {one.advice}", path=here.path)
