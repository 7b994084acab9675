"""One question, answered from all that there is: entries, notes, what has left, and records."""

from collections.abc import Sequence
from dataclasses import field
from datetime import date
from functools import partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, TypedDict, Unpack

from .answers import Correction, Found, Json, corrections
from .errors import StorageError
from .layout import Target, Tier
from .project.access import Actor
from .search.port import LEAST_FIT
from .values import dataclass
from .workspace import Workspace

if TYPE_CHECKING:
    from .memory import Memory
    from .records.rank import RecalledRecord
    from .search.port import Embedder, SearchIndex


@dataclass(frozen=True, slots=True)
class Reply:
    """What was found, best first."""

    hits: "Sequence[Found | RecalledRecord]" = ()  # entries, notes, what has left, and records
    more: bool = False  # whether more match than are given
    fits: bool = True  # whether the best of it answers what was asked for
    # what could not be read, one line each; the rest was searched
    problems: Sequence[str] = field(default_factory=list)

    @property
    def corrections(self) -> list[Correction]:
        """What was looked for in place of misspelt words."""
        return corrections(self.hits)

    def to_json(self) -> Json:
        """Return the JSON answer."""
        return {
            "hits": [one.to_hit() for one in self.hits],
            "more": self.more,
            "corrections": [one.to_json() for one in self.corrections],
            "problems": [*self.problems],
        }


class Scope(TypedDict, total=False):
    """Where to look, and from which day on: arguments of `Workspace.search`."""

    targets: Sequence[Target] | None
    tier: Tier | None
    agent: str | None
    conversation: str | None
    since: date | None


def ask(
    workspace: Workspace | None,
    records: "Memory | None",
    actor: Actor,
    query: str,
    *,
    limit: int,
    history: bool = False,
    context: int = 0,
    index: "SearchIndex | None" = None,
    embedder: "Embedder | None" = None,
    today: date | None = None,
    **where: Unpack[Scope],
) -> Reply:
    """Find what fits a query, as `Workspace.search` does, which says what the arguments mean and what is raised.

    Records are searched where they are given, documents where a workspace is. With `history`, what was removed,
    replaced or archived is searched, too.
    """
    problems: list[str] = []
    lasting: list[Found] = []
    gone: list[Found] = []
    if workspace is not None:
        ask_of = partial(workspace.search, query, actor, context=context, index=index, embedder=embedder, today=today)
        lasting = ask_of(limit=limit + 1, on_problem=problems.append, **where)
        if history:
            gone = workspace.search_archived(query, actor, limit=limit + 1, on_problem=problems.append, **where)
    since = where.get("since")
    try:
        found = None if records is None else records.search(query, limit=limit, include_history=history, since=since)
    except StorageError as error:
        if workspace is None:
            raise
        found = None  # what the documents say is found all the same
        problems.append(str(error))
    kept, left_out = (found.hits, found.left_out) if found else ((), 0)
    problems += found.problems if found else ()
    # The scores of two answers do not compare, their ranks do.
    hits = [one for one in chain.from_iterable(zip_longest(lasting, gone, kept)) if one is not None]
    best = [one.fit for one in lasting[:1]] + [one.fit for one in kept]
    fits = not best or max(best) >= LEAST_FIT
    first = hits[:limit]
    if found and len(hits) > limit:
        from .records.rank import with_partners

        first = with_partners(first)
    return Reply(first, bool(left_out or hits[limit:]), fits, list(dict.fromkeys(problems)))
