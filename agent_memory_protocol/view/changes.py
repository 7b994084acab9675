"""What a person can do on the live page: each verb is planned, shown, and applied by the workspace or refused by it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from ..answers import StoredEntry
from ..errors import InvalidArgument, Refused
from ..project.access import Actor
from ..text.dates import parse_day
from ..text.markdown import marker_width
from ..verbs.upkeep_answers import Restorable
from ..workspace import Workspace

VERBS = ("Edit", "Date", "Forget", "Dispute", "Resolve", "Restore")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: the verb, the entry, and what this verb needs besides."""

    verb: str
    id: str
    other: str = ""
    text: str = ""
    dated: str = ""
    reason: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> "Wanted":
        """Read the fields of a form; others than its own are passed over.

        Raises:
            InvalidArgument: the verb is unknown, or the id is missing.
        """
        known = {name: fields.get(name, "").replace("\r\n", "\n").strip() for name in cls.__slots__}
        if known["verb"] not in VERBS or not known["id"]:
            raise InvalidArgument(f"a change needs one of {', '.join(VERBS)} and the id of an entry")
        return cls(**known)

    @property
    def day(self) -> date:
        """The day that is given."""
        return date.fromordinal(parse_day(self.dated))


@dataclass(frozen=True, slots=True)
class Step:
    """One side of a plan: what happens, in words, and the text that it happens to."""

    what: str
    text: str


def plan(here: Workspace, actor: Actor, wanted: Wanted) -> list[Step]:
    """Say what would happen. Changes nothing.

    Raises:
        AgentMemoryError: the workspace would refuse it, as it will when the plan is applied.
    """
    if wanted.verb == "Restore":
        gone = one_gone(here, actor, wanted.id)
        here.check_write(actor, gone.target)
        return [Step(f"comes back to {gone.target}", gone.archived.taken.alone)]
    entry = here.entry(wanted.id, actor)
    here.check_write(actor, entry.target)
    if wanted.verb == "Edit":
        if refusal := here.why_refused(wanted.text):
            raise Refused(refusal)
        return [Step("goes to the history", entry.alone), Step("takes its place", wanted.text)]
    if wanted.verb == "Date":
        return [Step(f"is dated {wanted.day}", entry.alone)]
    if wanted.verb == "Forget":
        return [Step("goes to the history", entry.alone)]
    if not wanted.other:
        raise InvalidArgument("which other entry? give its id, or the beginning of it")
    other = here.entry(wanted.other, actor)
    if wanted.verb == "Resolve":
        return [Step("goes to the history", entry.alone), Step("holds in its place", other.alone)]
    here.check_write(actor, other.target)
    return [Step("is marked as disputed", entry.alone), Step("is marked as disputed", other.alone)]


def apply(here: Workspace, actor: Actor, wanted: Wanted) -> tuple[str, str]:
    """Do it. Returns what was done, and the id of what `Restore` would bring back; "" where it would bring nothing.

    Raises:
        AgentMemoryError: the workspace refuses it; nothing was changed.
    """
    if wanted.verb == "Restore":
        done = here.restore([one_gone(here, actor, wanted.id)], actor=actor)
        if done.problems:
            raise Refused("; ".join(done.problems))
        return "It is back.", ""
    if wanted.verb == "Edit":
        here.edit(wanted.id, wanted.text, actor=actor)
        return "It has another text.", ""
    if wanted.verb == "Date":
        here.edit(wanted.id, actor=actor, dated=wanted.day)
        return f"It is dated {wanted.day}.", ""
    if wanted.verb == "Forget":
        (gone,) = here.forget([wanted.id], actor=actor, reason=wanted.reason or "forgotten")
        return "It has left the document.", gone.id
    if wanted.verb == "Resolve":
        retired = here.resolve(wanted.id, wanted.other, actor=actor, reason=wanted.reason).retired
        return "It has left the document, and the other holds.", retired.id
    here.dispute(wanted.id, wanted.other, actor=actor, reason=wanted.reason)
    return "Both are marked as disputed.", ""


def one_gone(here: Workspace, actor: Actor, entry_id: str) -> Restorable:
    """Return what has left a document, by its id."""
    found = here.restorable([entry_id], actor=actor)
    if len(found) != 1:
        raise InvalidArgument(f"{entry_id!a} names {len(found)} entries that have left; `amp restore` lists them")
    return found[0]


def without_bullet(entry: StoredEntry) -> str:
    """Return the text of an entry as `edit` takes it: without its bullet, and without what that indents."""
    first, *rest = entry.text.split("\n")
    own = first[marker_width(first) :].lstrip()
    width = len(first) - len(own)
    return "\n".join([own, *(line[min(width, len(line) - len(line.lstrip(" "))) :] for line in rest)])
