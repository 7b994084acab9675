"""Why is my memory not there? What `amp doctor` says, from what the workspace has found out."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..answers import Status
from ..change.session import Session
from ..disk.errors import shown
from ..disk.files import Root
from ..disk.writing import LOCAL
from ..errors import AgentMemoryError, InvalidName
from ..layout import OWNED_TIERS, TIERS, Target, Tier, check_agent_name, name_key
from ..project.access import Actor
from ..project.agents import nearest
from ..project.root import begins_with
from ..project.settings import Settings
from ..recall.agent import recall, targets_of
from ..recall.block import Budget, Recall
from ..text.phrases import counted
from ..tiers import store
from ..values import dataclass
from . import show

PROTOCOL_ID = "45f135a8614c2abc"
"""The id of the protocol text that is implemented: SHA-256 from its first `---` on, first 16 digits."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at: whether it is a problem, whether the disk is to blame, and what to do."""

    message: str
    is_problem: bool = False
    is_damage: bool = False

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {"ok": not self.is_problem, "message": self.message}


def diagnose(session: Session, problem: str) -> list[Diagnosis]:
    """Say what keeps the actor's memory away, or that nothing does. `problem` says why the root may be a wrong one."""
    from ..git import ignore  # commands that only name a writer need not load it

    root, settings, actor = session.root, session.settings, session.actor
    found = of_settings(settings)
    if problem:
        found.append(Diagnosis(problem, is_problem=True))
    if not root.exists(()):
        makes = begins_with(root.path, "--root")
        return [*found, Diagnosis(f"{root.path} does not exist; `{makes}` makes it", is_problem=True)]
    existing: list[Target] = []
    rows: list[Status] = []
    try:
        existing = [target for target in store.list_targets(root) if settings.has_tier(target.tier)]
        rows = show.status(session, None)
        for tier in OWNED_TIERS:
            names = store.owners(root, tier)
            found += of_names(names, tier.value)
            # Told to everyone: it may be their memory that lies under a name nobody can recall.
            found += _misnamed(root, [Target(tier, name) for name in names])
        found += [
            of_lookalike(target, file, exists=root.exists(target.parts)) for target, file in store.lookalikes(root)
        ]
        found += _deleted(session)
        if actor.agent is not None:
            reason = session.read_only_reason()
            found.append(Diagnosis(f"{actor} is read-only: {reason}" if reason else f"{actor} may write"))
    except AgentMemoryError as error:
        found.append(Diagnosis(str(error), is_problem=True, is_damage=True))
    if settings.enabled:
        # A person who names no agent asks for all of them.
        others = map(Actor, _agents(existing)) if actor.is_person else ()
        for agent in (actor, *others):
            recalled = of_recall(recall(root, settings, agent, Budget()), targets_of(agent, settings), existing)
            said = {one.message for one in found}
            found += [one for one in recalled if one.message not in said]
    for row in rows:
        if row.problem and not any(row.problem in one.message for one in found):
            found.append(Diagnosis(f"{row.target}: {row.problem}", is_problem=True, is_damage=True))
        elif row.share > 1:
            found.append(Diagnosis(f"{row.target} is over its limit ({row.percent}%); prune it", is_problem=True))
    unread = f"{'/'.join(LOCAL)}: "
    found += [Diagnosis(one, is_problem=True, is_damage=one.startswith(unread)) for one in of_local_state(root)]
    return [*found, *(Diagnosis(note) for note in ignore.notes(Path(root.path)))]


def _agents(existing: Iterable[Target]) -> Iterator[str]:
    """Yield the agents that have a document. What is wrong with the name of a folder is told elsewhere."""
    for one in existing:
        if one.tier is Tier.AGENT:
            with suppress(InvalidName):
                yield check_agent_name(one.owner)


def of_local_state(root: Root) -> list[str]:
    """Say what is wrong in `.scaffolding/.amp/`: who made it, whether git tracks it, what is unfinished."""
    try:
        if not root.exists(LOCAL):
            return []
    except AgentMemoryError:  # why nothing can be read is said of the documents
        return []
    try:
        return _of_local_state(root)
    except AgentMemoryError as error:
        return [str(error)]


def _of_local_state(root: Root) -> list[str]:
    from ..change import redaction
    from ..git.ask import answer
    from ..project import local_state

    path, found = "/".join(LOCAL), []
    for name, target in redaction.unfinished(root).items():
        whose = f" --agent {target.owner}" if target.owner else ""
        command = f"amp note remove {name[:-3]}{whose}" if name.endswith(".md") else f"amp forget {name}"
        found.append(f"the redaction of {name} in {target} was stopped half way; `{command} --redact` finishes it")
    if why := local_state.find(root).why_not:
        mend = "make one of them writable" if why == local_state.NOWHERE else "the next write replaces it, or delete it"
        found.append(f"{path} {why}; nothing in it is believed; {mend}")
    if why := local_state.why_set_aside(root):
        found.append(f"{path}/{local_state.SET_ASIDE} was set aside ({why}); delete it when you have looked")
    if answer(root.path, "ls-files", "--", path):
        found.append(f"git tracks {path}, so others can put files there; run `git rm -r --cached {path}` and commit")
    return found


def _deleted(session: Session) -> list[Diagnosis]:
    """Say which lasting documents are gone although a ledger or journal knows what they held."""
    known = [target for target in session.readable(ledgers=True) if target.tier.lasts]
    return [
        Diagnosis(
            f"{target.path} was deleted; `amp restore --list` names what it held, as far as that is known",
            is_problem=True,
        )
        for target in known
        if not session.root.exists(target.parts)
    ]


def _misnamed(root: Root, targets: Sequence[Target]) -> list[Diagnosis]:
    reasons = ((target, store.why_nobodys(target)) for target in targets)
    return [
        Diagnosis(f"{shown(*target.parts)}: {reason}", is_problem=True, is_damage=True)
        for target, reason in reasons
        if reason and root.exists(target.parts)
    ]


def of_settings(settings: Settings) -> list[Diagnosis]:
    """Say what in the settings keeps memory away."""
    found = [Diagnosis(problem, is_problem=True, is_damage=settings.damaged) for problem in settings.problems]
    if not settings.enabled:
        where = settings.origin.get("enabled", "the settings")
        found.append(Diagnosis(f"memory is switched off by {where}; nothing is recalled or written", is_problem=True))
    off = [tier for tier in TIERS if settings.enabled and not settings.has_tier(tier)]
    return [*found, *(Diagnosis(f"the {tier} tier is off: tiers.{tier} = false", is_problem=True) for tier in off)]


def of_recall(recall: Recall, wanted: Sequence[Target], existing: Sequence[Target]) -> list[Diagnosis]:
    """Say for each document that recall looks for whether it is given, and why not."""
    found = [Diagnosis(warning, is_problem=True) for warning in recall.warnings]
    parts = {part.target: part for part in recall.parts}
    for target in wanted:
        part = parts.get(target)
        if part is not None and part.problem:
            found.append(Diagnosis(f"{target} cannot be recalled: {part.problem}", is_problem=True, is_damage=True))
        elif part is not None:
            count = len(part.left_out)
            whole = "one entry cut" if part.cut else "every entry"
            left = f"{counted(count, 'entry')} left out" if count else whole
            found.append(Diagnosis(f"{target} is recalled: {part.lines} of {part.lines_in_file} lines, {left}"))
        elif target in existing and any(warning.startswith("the budget") for warning in recall.warnings):
            found.append(Diagnosis(f"{target} is not recalled: the block has no room for it"))
        elif target in existing:
            found.append(Diagnosis(f"{target} is not recalled: {target.path} has no entries yet"))
        else:
            why = f"{target} is not recalled: {target.path} does not exist yet; {writer_of(target)} makes it"
            meant = nearest(target.owner, [one.owner for one in existing if one.tier is target.tier])
            found.append(Diagnosis(f"{why}, or is {meant} meant?" if meant else why))
    return found


def writer_of(target: Target) -> str:
    """Return the command that writes an entry into a document."""
    owner = f" {target.option}" if target.owner else ""
    return f"`amp remember TEXT{owner}`"


def of_names(names: Sequence[str], kind: str) -> list[Diagnosis]:
    """Say which folders look like one agent's, or one conversation's, and hold two memories."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name_key(name), []).append(name)
    twins = [" and ".join(map(ascii, group)) for group in groups.values() if len(group) > 1]
    return [
        Diagnosis(f"the {kind} folders {names} differ only by case or Unicode form; merge them", is_problem=True)
        for names in twins
    ]


def of_lookalike(target: Target, file: str, *, exists: bool) -> Diagnosis:
    """Say that nobody reads a file whose name differs from its tier document's, if it `exists`, only by case."""
    name = target.parts[-1]
    way_out = f"move what it holds into {name}" if exists else f"rename it to {name}"
    return Diagnosis(f"{shown(*target.folder, file)}: nobody reads it, only {name} is read; {way_out}", is_problem=True)


def of_protocol(data: bytes, path: str) -> Diagnosis:
    """Say whether a file is the protocol text that is implemented, by its content id."""
    from hashlib import sha256

    start = data.find(b"---")
    text = data[max(start, 0) :].rstrip(b"\n") + b"\n"
    found = sha256(text).hexdigest()[:16]
    if found == PROTOCOL_ID:
        return Diagnosis(f"{path} is the protocol text that is implemented, {PROTOCOL_ID}")
    return Diagnosis(f"{path} has the id {found}; the text that is implemented is {PROTOCOL_ID}", is_problem=True)
