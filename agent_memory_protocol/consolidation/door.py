"""The door: one proposal is checked against the lifecycle and the rules of its stage, and admitted or refused.

A refused proposal changes nothing. A correct proposal that must not be done now waits, and a record that something
rests on is kept; reports list the three apart.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from ..errors import InvalidArgument, Refused, RefusedText, UnknownRecord
from ..records import lifecycle
from ..records.canonical import Json
from ..records.record import Record, RecordType, State, Transition
from ..secrets.find import check_text, find_secrets
from ..text.apart import told_apart
from ..text.gist import gist
from ..text.visible import refuse_invisible, show_invisible
from .duplicates import CLAIMS, CORRECTION, cited_by_rules, slots_disagree
from .promotion import signature
from .proposals import (
    MAY_PROPOSE,
    Archive,
    Create,
    Dispute,
    Flag,
    Promote,
    Proposal,
    Resolve,
    Stage,
    Supersede,
    kind_of,
)

KEEP = "keep"  # The tag of a record that never decays
LONGEST_REASON = 500  # Characters: the reason is shown wherever its record is


class Waits(Refused):
    """The proposal is in order, and something has to be decided before it."""


class Kept(Refused):
    """The record is protected."""


class Standing:
    """The newest version of every record, by id, and which records rules rest on."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records = {record.id: record for record in records}
        self._rules = {record.id: record for record in self.records.values() if record.type is RecordType.RULE}
        self._cited: frozenset[str] | None = None

    def take(self, versions: Iterable[Record]) -> None:
        """Take in newer versions."""
        for record in versions:
            self.records[record.id] = record
            if record.type is RecordType.RULE:
                self._rules[record.id] = record
                self._cited = None

    def get(self, id: str) -> Record:
        """Return the newest version. Raises UnknownRecord if there is no such record."""
        if id not in self.records:
            raise UnknownRecord(f"there is no record {id[:80]!a}")
        return self.records[id]

    @property
    def rules(self) -> tuple[Record, ...]:
        """Every rule that is not archived, by id."""
        return tuple(rule for _, rule in sorted(self._rules.items()) if rule.state is not State.ARCHIVED)

    @property
    def cited(self) -> frozenset[str]:
        """The ids that live rules rest on."""
        if self._cited is None:
            self._cited = cited_by_rules(self._rules.values())
        return self._cited


def admit(
    proposal: Proposal,
    stage: Stage,
    standing: Standing,
    *,
    now: datetime,
    allow: Collection[str] = (),
    by_person: bool = False,
) -> tuple[Record, ...]:
    """Return the new versions that a proposal comes to, in the order in which they are to be stored.

    `allow` are fingerprints of what only looks like a secret. What a person decides (`by_person`) may overrule a
    correction. Raises Waits, Kept, or the error that says why it is refused.
    """
    if not isinstance(proposal, MAY_PROPOSE[stage]):
        raise Refused(f"the stage {stage} takes no proposal to {kind_of(proposal)}")
    check_reason(proposal.reason, allow)
    match proposal:
        case Create():
            return _create(proposal, standing, allow)
        case Supersede():
            return _supersede(proposal, standing, now, allow)
        case Dispute():
            return _dispute(proposal, standing, now)
        case Resolve():
            return _resolve(proposal, standing, now, by_person)
        case Promote():
            return _promote(proposal, standing, allow)
        case Flag():
            return _flag(proposal, standing, now)
        case Archive():
            return _archive(proposal, standing, now)
    raise Refused(f"there is no proposal {proposal!r}")


def check_reason(reason: str, allow: Collection[str]) -> None:
    """Refuse a reason that is missing, long, of several lines, or holds something invisible or a secret."""
    if not reason.strip():
        raise Refused("say why; the reason stays with the record")
    if len(reason) > LONGEST_REASON or len(reason.splitlines()) > 1:
        raise Refused(f"a reason is one line of at most {LONGEST_REASON} characters")
    _check_shown(reason, allow, "reason")


def _check_texts(record: Record, allow: Collection[str]) -> None:
    """Refuse a record that is empty, or that holds something invisible, or a secret."""
    if not record.body.strip():
        raise RefusedText("a record without text remembers nothing")
    for text in (record.body, *record.tags, record.provenance.ref or "", *strings_of(record.slots)):
        _check_shown(text, allow, "record")


def _check_shown(text: str, allow: Collection[str], what: str) -> None:
    refuse_invisible(text, what)
    check_text(text, allow=allow, what=what)


def strings_of(value: Json) -> Iterator[str]:
    """Yield every text in a value, the names of its fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from strings_of(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from strings_of(item)


def _create(proposal: Create, standing: Standing, allow: Collection[str]) -> tuple[Record, ...]:
    record = proposal.record
    if record.type is RecordType.RULE:
        raise Refused("a rule comes from promotion only, with its evidence")
    if record.supersedes is not None:
        raise Refused("what is written replaces nothing; consolidation does that")
    _check_birth(record, standing)
    _check_texts(record, allow)
    return (record,)


def _supersede(proposal: Supersede, standing: Standing, now: datetime, allow: Collection[str]) -> tuple[Record, ...]:
    replaced = [standing.get(one) for one in proposal.replaced]
    ids = set(proposal.replaced)
    if not replaced or len(ids) != len(replaced):
        raise InvalidArgument("name each record that is replaced once, and at least one")
    held = sorted(ids & standing.cited)
    if held:
        raise Kept(f"a rule rests on {', '.join(held)}")
    keeper = standing.records.get(proposal.record.id)
    if keeper is None:
        _check_merge(proposal.record, replaced, allow)
        _check_birth(proposal.record, standing)
        # The one that it names from birth comes first, so that its first version is the one that was proposed.
        replaced.sort(key=lambda old: old.id != proposal.record.supersedes)
    else:
        _check_keeper(keeper, replaced)
    successor = keeper or proposal.record
    versions: list[Record] = []
    for old in replaced:
        if keeper is not None or old.id != successor.supersedes:
            successor = _taking_over(successor, old, now)
        versions += [successor, lifecycle.supersede(old, successor, reason=proposal.reason, now=now)]
    return tuple(versions)


def _check_merge(record: Record, replaced: list[Record], allow: Collection[str]) -> None:
    """Refuse a merge that hides what was merged, or that loses something."""
    if len(replaced) < 2 or record.supersedes not in {old.id for old in replaced}:
        raise Refused("a merge takes at least two records, and the new one names one of them in supersedes")
    if not {old.id for old in replaced} <= set(record.evidence):
        raise Refused("a merged record names every record that it replaces as evidence")
    bodies = [old.body for old in replaced]
    if record.body not in bodies:
        _check_texts(record, allow)  # first: what is refused below is quoted
    _check_sameness(record, replaced)
    if record.body not in bodies and not _joins(record.body, bodies):
        said = show_invisible(record.body[:40])
        lost = next(filter(None, (told_apart(body, record.body) for body in bodies)), "")
        why = f" (told apart by {lost})" if lost else ""
        raise Refused(
            f"{said!a} is the text of no record that it merges{why}; choose one of theirs, or join all of them"
        )


def _joins(body: str, bodies: Sequence[str]) -> bool:
    """Say whether a text is these texts one after the other, each once, in any order and with nothing between."""
    left = " ".join(body.split())
    rest = sorted((" ".join(one.split()) for one in bodies), key=len, reverse=True)
    while rest:
        first = next((one for one in rest if left == one or left.startswith(f"{one} ")), None)
        if first is None:
            return False
        rest.remove(first)
        left = left[len(first) :].lstrip()
    return not left


def _check_keeper(keeper: Record, replaced: list[Record]) -> None:
    """Refuse to let a record replace others, unless it is their exact copy or was made from them."""
    birth = (keeper.type, keeper.body, keeper.slots)
    others = [old for old in replaced if (old.type, old.body, old.slots) != birth]
    for old in others:
        if old.id not in keeper.evidence:
            raise Refused(f"{keeper.id} is not an exact copy of {old.id}; a merge makes a new record")
    if others:
        _check_sameness(keeper, others)
    if keeper.type is RecordType.EPISODE and any(old.occurred_at != keeper.occurred_at for old in replaced):
        raise Refused("these episodes happened at different times")


def _check_sameness(record: Record, replaced: list[Record]) -> None:
    if record.type not in CLAIMS or {old.type for old in replaced} != {record.type}:
        raise Refused("only facts are merged with facts, and procedures with procedures; an event may happen twice")
    for old in replaced:
        if slots_disagree(old, record):
            raise Refused(f"the slots or the end of {old.id} disagree; that is a contradiction and no repetition")
    sides = replaced if len(replaced) > 1 else [*replaced, record]
    differing = {gist(side.body): side for side in sides}.values()  # of many that say the same, one is enough
    for one, other in combinations(differing, 2):
        if lost := told_apart(one.body, other.body):
            shown = "a secret" if find_secrets(f"{one.body}\n{other.body}") else lost
            raise Refused(f"{one.id} and {other.id} are told apart by {shown}")


def _taking_over(keeper: Record, old: Record, now: datetime) -> Record:
    """Return the next version of a record that replaces another: it names it and takes over its tags."""
    rests_on = old.evidence if keeper.type is RecordType.RULE else ()
    return replace(
        keeper,
        supersedes=old.id,
        tags=tuple(dict.fromkeys([*keeper.tags, *old.tags])),
        evidence=tuple(dict.fromkeys([*keeper.evidence, *rests_on])),
        updated_at=max(now, keeper.updated_at),
        signed_by=None,
        signature="",
    )


def _dispute(proposal: Dispute, standing: Standing, now: datetime) -> tuple[Record, ...]:
    one, other = (standing.get(side) for side in proposal.ids)
    agreed = Transition(proposal.ids, proposal.reason)
    for half, rest in ((one, other), (other, one)):
        if half.transition == agreed and rest.state is State.ACTIVE:
            # An earlier pass was stopped between the two sides.
            as_it_was = replace(half, state=State.ACTIVE, transition=None)
            pair = (as_it_was, rest) if half is one else (rest, as_it_was)
            sides = lifecycle.dispute(*pair, reason=proposal.reason, now=now)
            return tuple(side for side in sides if side.id == rest.id)
    if one.type is not other.type or one.type not in CLAIMS:
        raise Refused("only two facts or two procedures contradict each other: of events, both have happened")
    entangled = [side.id for side in (one, other) if side.state is State.TRANSITIONAL]
    if entangled:
        raise Waits(f"{' and '.join(entangled)}: already disputed; consolidate again when that is decided")
    return lifecycle.dispute(one, other, reason=proposal.reason, now=now)


def _resolve(proposal: Resolve, standing: Standing, now: datetime, by_person: bool) -> tuple[Record, ...]:
    winner, loser = standing.get(proposal.winner), standing.get(proposal.loser)
    if loser.state is State.SUPERSEDED:
        # Decided already, and stopped before the winner; or replaced by something else.
        loser = replace(loser, state=State.ARCHIVED)
    elif not by_person and loser.provenance.kind == CORRECTION != winner.provenance.kind:
        raise Refused(f"{loser.id} is a correction, which only a person overrules")
    won, lost = lifecycle.resolve(winner, loser, reason=proposal.reason, now=now)
    # The loser first: if the pass stops after it, the decision can still be seen.
    return (won,) if lost is loser else (lost, won)


def _promote(proposal: Promote, standing: Standing, allow: Collection[str]) -> tuple[Record, ...]:
    rule = proposal.record
    if rule.type is not RecordType.RULE or rule.supersedes is not None:
        raise Refused("promotion makes rules, and replaces nothing")
    episodes = [standing.get(one) for one in rule.evidence]
    if len(set(rule.evidence)) < 2 or any(
        record.type is not RecordType.EPISODE or record.state is not State.ACTIVE for record in episodes
    ):
        raise Refused("a rule is promoted from at least two active episodes, which are its evidence")
    known = signature(rule)
    if known and any(signature(other) == known for other in standing.rules):
        raise Refused(f"there is a rule for {', '.join(known)} already")
    _check_birth(rule, standing)
    _check_texts(rule, allow)
    return (rule,)


def _flag(proposal: Flag, standing: Standing, now: datetime) -> tuple[Record, ...]:
    rule = standing.get(proposal.id)
    fresh = lifecycle.refresh_flag(rule, {one: standing.records.get(one) for one in rule.evidence}, now=now)
    return () if fresh is rule else (fresh,)


def _archive(proposal: Archive, standing: Standing, now: datetime) -> tuple[Record, ...]:
    record = standing.get(proposal.id)
    if record.state is State.TRANSITIONAL:
        raise Kept("it is disputed, and both sides stay until someone decides")
    if record.type is RecordType.RULE and not record.flagged:
        raise Kept("it is a rule, and its evidence is live")
    if record.id in standing.cited:
        raise Kept("a rule rests on it")
    if KEEP in record.tags:
        raise Kept(f"it is tagged {KEEP}")
    return (lifecycle.archive(record, reason=proposal.reason, now=now),)


def _check_birth(record: Record, standing: Standing) -> None:
    if record.id in standing.records:
        raise Refused(f"{record.id} is there already")
    if record.state is not State.ACTIVE or record.flagged or record.redacted or record.state_reason is not None:
        raise Refused("a record is born active, without a flag and a past")
