"""The options by which people choose among proposals: `--only`, `--except`, `--refuse` (decision 53)."""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import click

from ..errors import InvalidArgument
from ..project.access import Actor
from ..text.phrases import counted
from ..values import dataclass
from .options import Verb
from .printing import note

if TYPE_CHECKING:
    from ..verbs.proposals import AnyProposal, Proposal
    from ..workspace import Workspace

AnyPlan = TypeVar("AnyPlan")

_TAKES_IDS = ("--only", "--except", "--refuse")


class ChoosingCommand(click.Command):
    """A command whose options take several ids: `--only 3fa2 9c01` is `--only 3fa2 --only 9c01`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Spell the options as click knows them."""
        return super().parse_args(ctx, list(_spelled(args)))


def _spelled(args: Sequence[str]) -> Iterator[str]:
    option, given = "", 0
    for arg in args:
        if option and not arg.startswith("-") and (not given or _is_id(arg)):
            for one in filter(None, arg.split(",")):
                yield from (option, one)
            given += 1
            continue
        if option and not given:
            yield option  # click says that its id is missing
        option, given = (arg, 0) if arg in _TAKES_IDS else ("", 0)
        if not option:
            yield arg
    if option and not given:
        yield option


def _is_id(text: str) -> bool:
    return len(text.strip(",")) >= 4 and not text.strip("0123456789abcdefABCDEF,")


@dataclass(frozen=True, slots=True)
class Choosing:
    """What a person has chosen among the proposals of a verb, by their ids."""

    verb: str
    only: tuple[str, ...]
    without: tuple[str, ...]
    refuse: tuple[str, ...]
    forget_refusals: bool

    def settle(
        self,
        here: "Workspace",
        who: Actor,
        plan: Callable[[], AnyPlan],
        proposals: "Callable[[AnyPlan], Sequence[Proposal]]",
    ) -> AnyPlan:
        """Refuse and forget refusals as asked, say so, and return the plan that is left."""
        if self.refuse and self.forget_refusals:
            raise InvalidArgument("--refuse and --forget-refusals exclude each other")
        if self.forget_refusals:
            note(f"{counted(here.forget_refusals(self.verb, actor=who), 'refused proposal')} may be made again")
        planned = plan()
        if not self.refuse:
            return planned
        refused = here.refuse(self.verb, proposals(planned), self.refuse, actor=who)
        note(f"refused: {', '.join(refused)}; `amp {self.verb} --forget-refusals` takes that back")
        return plan()

    def chosen(self, proposals: "Sequence[AnyProposal]") -> "list[AnyProposal]":
        """Return what is shown of proposals that are only looked at: `--only` these, or all `--except` these."""
        from ..verbs.proposals import named

        only, without = named(proposals, self.only), named(proposals, self.without)
        return [one for one in proposals if one.id not in without and (not self.only or one.id in only)]


def choosing_options(verb: str) -> Callable[[Verb], Verb]:
    """Add the options that choose among the proposals of a verb, which gets what they say as one `Choosing`."""

    def decorate(function: Verb) -> Verb:
        @wraps(function)
        def chosen(
            *given: object,
            only: tuple[str, ...],
            without: tuple[str, ...],
            refuse: tuple[str, ...],
            forget_refusals: bool,
            **others: object,
        ) -> None:
            function(*given, choosing=Choosing(verb, only, without, refuse, forget_refusals), **others)

        for option in (
            click.option("--forget-refusals", is_flag=True, help="Propose refused items again."),
            click.option("--refuse", multiple=True, metavar="ID...", help="Never propose these again."),
            click.option("--except", "without", multiple=True, metavar="ID...", help="Skip these; they stay open."),
            click.option("--only", multiple=True, metavar="ID...", help="Take only these, safe or not."),
        ):
            chosen = option(chosen)
        return chosen

    return decorate
