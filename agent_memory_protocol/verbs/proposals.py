"""Proposals that people choose from: each has an id that stays the same, and what was refused does not come back.

What is refused is kept in one file of readable lines, which travels with the repository (decision 53).
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..change.session import Session
from ..disk.files import decode
from ..disk.lock import hold
from ..disk.writing import append, make_folders, remove, replace
from ..errors import InvalidArgument
from ..git import ignore
from ..layout import REFUSED, Target, Tier
from ..secrets.mask import beginning
from ..text.ids import complete
from ..text.visible import show_invisible
from ..values import dataclass

if TYPE_CHECKING:
    from ..learning.insights import Suggestion

_WORDS = 80  # Characters of a refused proposal that are kept, for people who read the file


class Proposal(Protocol):
    """Something that is proposed: what its id and its words are."""

    @property
    def id(self) -> str:
        """Names it; the same whenever the same is proposed."""

    @property
    def summary(self) -> str:
        """What it is about."""


AnyProposal = TypeVar("AnyProposal", bound=Proposal)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which proposals are meant: `only` these, or the safe ones `without` some. Ids, or how they begin."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def chosen(proposals: "Sequence[Suggestion]", choice: Choice) -> "list[Suggestion]":
    """Return the proposals that a choice takes, in order; InvalidArgument if an id names none of them, or several."""
    only, without = named(proposals, choice.only), named(proposals, choice.without)
    if choice.only:
        return [one for one in proposals if one.id in only and one.id not in without]
    return [one for one in proposals if one.is_safe and one.id not in without]


def named(proposals: Iterable[Proposal], ids: Iterable[str]) -> set[str]:
    """Return the whole ids of the proposals that these name. Raises as `chosen`."""
    texts = {one.id: one.summary for one in proposals}
    found = {start: complete(start, texts, texts.__getitem__) for start in ids}
    missing = sorted(start for start, one in found.items() if one is None)
    if missing:
        what = f"the proposals are {', '.join(texts)}" if texts else "there are no proposals"
        raise InvalidArgument(f"no proposal is {', '.join(missing)}; {what}")
    return {one for one in found.values() if one is not None}


def open_ones(session: Session, proposals: Iterable[AnyProposal]) -> list[AnyProposal]:
    """Return the proposals that nobody has refused."""
    never = refused(session)
    return [one for one in proposals if one.id not in never]


def refused(session: Session) -> set[str]:
    """Return the ids of what was refused."""
    return {line.split(" ", 1)[0] for line in _lines(session)}


def refuse(session: Session, verb: str, proposals: Sequence[Proposal], ids: Sequence[str]) -> list[str]:
    """Keep proposals from being made again; return their whole ids. Raises as `chosen`."""
    session.check_write(Target(Tier.SHARED))
    wanted = named(proposals, ids)
    never = [one for one in proposals if one.id in wanted]
    lines = [f"{one.id} {verb} {session.now.date()} {_words(one.summary)}\n" for one in never]
    make_folders(session.root, REFUSED[:-1])
    ignore.merge_by_lines(session.root)
    append(session.root, REFUSED, "".join(lines).encode())
    return [one.id for one in never]


def forget_refusals(session: Session, verb: str, ids: Collection[str] = ()) -> int:
    """Let a verb propose again what was refused, all or these; return how many proposals that are."""
    session.check_write(Target(Tier.SHARED))
    with hold(session.root, REFUSED[-1]):
        content, lines = session.root.read(REFUSED), _lines(session)
        kept = [line for line in lines if line.split(" ")[1:2] != [verb] or (ids and line.split(" ")[0] not in ids)]
        if content is not None and kept:
            replace(session.root, REFUSED, "".join(f"{line}\n" for line in kept).encode(), expected=content)
        elif content is not None:
            remove(session.root, REFUSED)
    return len(lines) - len(kept)


def _words(text: str) -> str:
    """Return how a text begins, without what must not be kept."""
    return show_invisible(beginning(text, _WORDS))


def _lines(session: Session) -> list[str]:
    content = session.root.read(REFUSED)
    text = "" if content is None else decode(content.data, "/".join(REFUSED))
    return [line for line in text.splitlines() if line.strip()]
