"""The verbs that carry insights from conversations to the memory that lasts: plan, apply with a backup, go back.

What conversations an insight was seen in is kept, so that a conversation that is deleted still counts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from ..answers import About
from ..change import backups as backing
from ..change.session import Session
from ..consolidation.proposals import Operator
from ..consolidation.sameness import which_are_the_same
from ..disk.files import decode
from ..disk.writing import LOCAL, append, make_local_folder
from ..errors import AgentMemoryError, InvalidArgument, StorageError
from ..layout import SIGHTINGS, Target, Tier, parse_target
from ..learning.insights import (
    ADD,
    MOVE,
    Insight,
    Material,
    Suggestion,
    distill,
    find_insights,
    key_of,
    known_insights,
    learn,
    texts_of,
)
from ..project import agents, local_state
from ..project.access import Actor
from ..text.labels import in_front_of_item
from ..text.phrases import counted
from ..tiers import compose, store
from ..tiers.document import Document, parse
from ..tiers.named import all_named
from ..values import dataclass
from . import proposals, remember, rewrite, stale, upkeep
from .conversations import CLOSED
from .proposals import Choice

SOURCE = "distill"
_SEEN = ("distilled", "sightings.jsonl")
"""Where this checkout counts, below `LOCAL`. What older versions kept in the repository is still read."""
_DESIGN = ("specs", "design.md")
_STAMP = "%Y%m%dT%H%M%S%fZ"


@dataclass(frozen=True, slots=True)
class Distillation:
    """A plan: what is worth changing, what could not be read, and what is seen too seldom to be proposed yet.

    Attributes:
        problems: documents that could not be read, and why.
        waiting: how many insights of conversations wait for others to confirm them.
        sightings: the new lines for the file of sightings.
        failures: what a program that was asked got wrong.
    """

    candidates: tuple[Suggestion, ...]
    problems: tuple[str, ...] = ()
    waiting: int = 0
    sightings: tuple[tuple[str, str], ...] = ()
    failures: tuple[str, ...] = ()

    def to_json(self, done: "Distilled | None" = None) -> dict[str, object]:
        """Return the plan, or what was done of it, as it is in a JSON answer."""
        return {
            "applied": done is not None,
            "candidates": [one.to_json() for one in (done.done if done else self.candidates)],
            "refused": [{**one.to_json(), "problem": str(error)} for one, error in (done.refused if done else ())],
            "waiting": self.waiting,
            "backup": done.backup if done else "",
            "problems": [*self.problems, *self.failures],
        }


@dataclass(frozen=True, slots=True)
class Distilled:
    """What was done: the changes made, those refused and by which error, and the backup's name of what was before.

    Where nothing was done, there is no backup.
    """

    done: tuple[Suggestion, ...]
    refused: tuple[tuple[Suggestion, AgentMemoryError], ...]
    backup: str


def plan(session: Session, named: Actor | None = None, operator: Operator | None = None) -> Distillation:
    """Say what conversations suggest: all of them together, or the one named, for that agent. Changes nothing."""
    conversation = named.conversation if named else None
    agent = (named and named.agent) or session.actor.agent
    problems: list[str] = []
    material = _material(session, problems)
    if agent is not None and agent != session.actor.agent:
        _check_known(session, agent, material)
    failures: tuple[str, ...] = ()
    by_rule = material
    if operator is not None:
        material, failures = _asked(operator, material, session)
    names: set[str] = set()
    if conversation is None:
        found = distill(material)
    else:
        there = {*material.conversations, *material.designs}
        names = {one for one in there if Target(Tier.CONVERSATION, one) == _conversation(conversation)}
        found = [one for name in names for one in learn(material, name, agent)]
        if not names and not problems:
            problems.append(f"{_conversation(conversation).path} does not exist, or has nothing in it")
    candidates = [one for one in found if one.action != ADD or not session.secret_in(one.text)]
    insights = find_insights(material)
    if conversation is not None:
        insights = [one for one in insights if names & {seen.conversation for seen in one.sightings}]
    settled = {*known_insights(material), *(key_of(text) for one in found for text in (one.text, *one.wordings))}
    waiting = sum(settled.isdisjoint(one.keys) for one in insights)
    still_open = tuple(proposals.open_ones(session, candidates))
    if operator is not None:  # what a program says is not remembered: another may say otherwise
        insights = find_insights(by_rule)
    sightings = tuple(_new_sightings(insights, material.earlier))
    return Distillation(still_open, tuple(problems), waiting, sightings, failures)


def _asked(operator: Operator, material: Material, session: Session) -> tuple[Material, tuple[str, ...]]:
    """Return the material with what a program says of it, and what that got wrong."""
    texts = {key: text for key, text in texts_of(material).items() if not session.secret_in(text)}
    keys = list(texts)
    found = which_are_the_same(operator, list(texts.values()), session.now)
    same = [(frozenset(keys[place] for place in group), f"{operator.name}: {why}") for group, why in found.groups]
    return replace(material, told_same=same), tuple(f"{operator.name}: {problem}" for problem in found.problems)


def apply(session: Session, planned: Distillation, choice: Choice, today: date) -> Distilled:
    """Make the changes of a plan that are chosen, what leaves first, so that there is room for what comes."""
    planned = replace(planned, candidates=tuple(proposals.chosen(planned.candidates, choice)))
    backup = _back_up(session, planned.candidates) if planned.candidates else ""
    done, refused, needless = [], [], 0
    for one in sorted(planned.candidates, key=lambda candidate: candidate.action == ADD):
        try:
            # Others write too: what they have done since the plan was made is not done here.
            changed = _change(session, one, today)
        except AgentMemoryError as error:
            refused.append((one, error))
        else:
            needless += not changed
            done += [one] if changed else []
    if needless:
        session.notices.append(f"{counted(needless, 'proposal')} had been carried out meanwhile")
    _keep_sightings(session, planned.sightings)
    if backup and not done:
        # The last backup is what one goes back to: one of what never changed would be before it.
        backing.drop(session.root, backup)
        backup = ""
    return Distilled(tuple(done), tuple(refused), backup)


def backups(session: Session) -> list[str]:
    """List the backups there are, oldest first."""
    return backing.names(session.root)


def restore(session: Session, backup: str | None) -> tuple[str, list[Target]]:
    """Give documents the text from before a distillation, by default the last; return its backup and what changed."""
    there = backups(session)
    if not there or (backup is not None and backup not in there):
        raise InvalidArgument(f"there is no backup {backup or ''}; there are: {', '.join(there) or 'none'}")
    name = backup or there[-1]
    texts = backing.read(session.root, name)
    for target in texts:
        session.check_write(target)  # all of them, before the first is changed
    changed = []
    for target, text in texts.items():
        found: list[str | None] = []  # what it said when it was changed, the last of these

        def back(present: str | None, text: str | None = text, found: list[str | None] = found) -> str | None:
            found.append(present)
            return text

        rewrite.rewrite(session, target, "", back, f"went back to {name}")
        if found[-1] != text:
            changed.append(target)
    return name, changed


def _parsed(data: bytes) -> Any:
    """Return what a JSON text says; None if it is not one that can be read."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _change(session: Session, one: Suggestion, today: date) -> bool:
    """Make one change of a plan. Returns whether there was anything to change."""
    if one.action == ADD:
        return _add(session, one, today)
    session.find([one.entry_id])  # what has left since is not added elsewhere
    if one.action == MOVE:
        _add(session, one, today)
    return upkeep.forget(session, [one.entry_id], f"distilled: {one.reason}") != []


def _add(session: Session, one: Suggestion, today: date) -> bool:
    done = remember.remember(
        session,
        one.target,
        compose.with_marks(one.text, one.marks),
        section=one.section or None,
        dated=date.fromordinal(one.day) if one.day else None,
        about=_about(session, one),
        make_room=False,
        today=today,
    )
    return done.status != "kept"


def _about(session: Session, one: Suggestion) -> About:
    """Return what is known of an entry where it came from, and of the rest what its distillation says."""
    came_from = [*one.origins, *([(Target(Tier.SHARED), one.entry_id)] if one.action == MOVE else [])]
    known = [session.said(target).get(entry_id, About()) for target, entry_id in came_from]
    about = About(writer=None if not came_from else "")
    for said in reversed(known):
        about = replace(about.with_more(replace(said, replaced=())), writer=said.writer or about.writer)
    confidence = round(one.confidence, 2) if about.confidence is None else about.confidence
    return replace(about, source=about.source or SOURCE, confidence=confidence)


def _check_known(session: Session, agent: str, material: Material) -> None:
    """Refuse a name that no agent has, where others have one: a memory under it would be read by nobody."""
    wanted = Target(Tier.AGENT, agent)
    there = sorted({*material.agents, *agents.defined(session.root)})
    if there and all(Target(Tier.AGENT, one) != wanted for one in there):
        raise InvalidArgument(f"no agent {agent!a} has a memory or a definition; there are: {', '.join(there)}")


def _conversation(name: str) -> Target:
    return parse_target(f"{Tier.CONVERSATION}:{name}")


def _material(session: Session, problems: list[str]) -> Material:
    documents: dict[Target, Document] = {}
    for target in session.readable(ledgers=True):
        try:
            read = session.read(target) or _closed(session, target)
        except AgentMemoryError as error:
            problems.append(str(error))
        else:
            if read is not None:
                documents[target] = read
    shared = documents.get(Target(Tier.SHARED))
    lasting = [one for one in documents.values() if one.target.tier.lasts]
    return Material(
        conversations=_of_tier(documents, Tier.CONVERSATION),
        designs=_designs(session, problems),
        shared=shared,
        agents=_of_tier(documents, Tier.AGENT),
        earlier=_sightings(session, problems),
        confidences=_confidences(session, shared, problems),
        gone=stale.find(session, all_named(lasting), hints=False).gone,
        min_conversations=session.settings.min_conversations,
        max_lines=session.settings.max_lines,
        max_bytes=session.settings.max_bytes,
    )


def _closed(session: Session, target: Target) -> Document | None:
    """Return what a conversation said that was closed, as a document; None for what else is missing."""
    if target.tier is not Tier.CONVERSATION:
        return None
    gone = [one.taken for one in session.books(target).archived(None) if one.reason == CLOSED]
    parts = [session.header(target)]
    for one in sorted(gone, key=lambda one: bool(one.place.sections)):  # those under no heading come first
        parts += [above.markdown for above in one.place.headings if above.level > 1]
        parts.append(in_front_of_item(one.place.label_text, one.markdown))
    return parse("\n\n".join(parts).encode(), target) if gone else None


def _designs(session: Session, problems: list[str]) -> dict[str, Document]:
    """Read the designs that agents of the protocol's origin keep beside a conversation's memory."""
    found = {}
    for name in store.owners(session.root, Tier.CONVERSATION):
        target = Target(Tier.CONVERSATION, name)
        if store.why_nobodys(target) or not session.may_read(target):
            continue
        parts = (*target.tier.folder, name, *_DESIGN)
        try:
            content = session.root.read(parts, limit=store.WHOLE_BYTES)
            if content is not None:
                found[name] = parse(decode(content.data, "/".join(parts)).encode(), target)
        except AgentMemoryError as error:
            problems.append(str(error))
    return found


def _confidences(session: Session, shared: Document | None, problems: list[str]) -> dict[str, float]:
    try:
        said = {} if shared is None else session.said(shared.target)
    except StorageError as error:
        problems.append(str(error))
        return {}
    return {one: about.confidence for one, about in said.items() if about.confidence is not None}


def _of_tier(documents: Mapping[Target, Document], tier: Tier) -> dict[str, Document]:
    return {target.owner: document for target, document in documents.items() if target.tier is tier}


def _sightings(session: Session, problems: list[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    data = b""
    for parts in (SIGHTINGS, (*LOCAL, *_SEEN)):
        try:
            content = session.root.read(parts)
        except StorageError as error:
            problems.append(str(error))
        else:
            read = content.data if content else b""
            data += read if parts == SIGHTINGS else b"\n" + local_state.find(session.root).own(read)
    for line in data.split(b"\n"):
        fields = _parsed(line)
        # A line half written, or of a merge, counts for nothing.
        if isinstance(fields, dict) and "insight" in fields and "conversation" in fields:
            found.setdefault(str(fields["insight"]), set()).add(str(fields["conversation"]))
    return {key: frozenset(conversations) for key, conversations in found.items()}


def _new_sightings(insights: Sequence[Insight], earlier: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    for insight in insights:
        for key in insight.keys:
            for conversation in sorted(insight.conversations - earlier.get(key, frozenset())):
                yield key, conversation


def _keep_sightings(session: Session, sightings: Sequence[tuple[str, str]]) -> None:
    if sightings:
        state = local_state.claim(session.root)
        folder = make_local_folder(session.root, _SEEN[0])
        lines = (json.dumps({"insight": key, "conversation": conversation}) for key, conversation in sightings)
        sealed = state.seal("".join(f"{line}\n" for line in lines).encode())
        append(session.root, (*folder, _SEEN[1]), sealed)


def _back_up(session: Session, candidates: Sequence[Suggestion]) -> str:
    """Keep the text of every document that will change, and say of those that do not exist yet that there was none."""
    texts: dict[str, str | None] = {}
    for one in candidates:
        for target in {one.target, Target(Tier.SHARED)} if one.action == MOVE else {one.target}:
            located = store.locate(session.root, target)
            read = session.read(located)
            texts[str(located)] = None if read is None else "".join(read.raw)
    name = f"{session.now:{_STAMP}}-{session.command}"
    backing.keep(session.root, name, texts)
    return name
