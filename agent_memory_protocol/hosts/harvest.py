"""Harvest: an agent that may write saves what a read-only agent of its conversation has reported (decision 11)."""

from ..answers import About, Remembered
from ..errors import InvalidArgument, Refused, SecretFound
from ..layout import Tier, check_agent_name
from ..project.access import Actor
from ..tiers.document import bare_text
from ..values import dataclass
from ..workspace import Workspace
from .findings import Reported, day_hidden_by, entry_text, read_findings, reporter_named_in, tells


@dataclass(frozen=True, slots=True)
class Harvested:
    """What became of one finding: the entry it is now, or why it was not saved.

    A text that holds a secret is not repeated (decision 26): its finding has none.
    """

    finding: Reported
    done: Remembered | None
    problem: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        found: dict[str, object] = {"text": self.finding.text, "status": "refused", "problem": self.problem or None}
        if self.done is not None:
            found |= {"status": self.done.status, "id": self.done.entry.id, **self.done.entry.target.to_json()}
        return found


def harvest(
    workspace: Workspace,
    output: str,
    *,
    actor: Actor,
    conversation: str | None = None,
    reporter: str | None = None,
    only_conversation: bool = False,
    section: str | None = None,
) -> list[Harvested]:
    """Save each finding of an output in the tier that it names, or else in the conversation's memory.

    A finding for the `agent` tier goes to the saving agent's own memory; if a person saves, to the reporter's. The
    reporter is by default the agent in the front matter of the output. `section` is for findings under no heading.
    `only_conversation` puts all into the conversation's memory, and says where each was meant to go.
    """
    named = reporter or reporter_named_in(output)
    if not named:
        raise InvalidArgument("who reported this? name the agent with --reporter, or in the output's front matter")
    reported_by = check_agent_name(named)
    conversation = conversation or actor.conversation
    if conversation is None:
        raise InvalidArgument("which conversation was it reported in? name it with --conversation")
    workspace.check_write(actor, workspace.target(actor, tier=Tier.CONVERSATION, conversation=conversation))
    found = []
    said: dict[tuple[object, ...], int] = {}  # how often under other headings
    for finding in dict.fromkeys(read_findings(output)):
        tier = Tier.CONVERSATION if only_conversation else finding.tier or Tier.CONVERSATION
        meant_for = finding.tier if finding.tier not in (None, tier) else None
        agent = (actor.agent or reported_by) if tier is Tier.AGENT else None
        where = conversation if tier is Tier.CONVERSATION else None
        target = workspace.target(actor, tier=tier, agent=agent, conversation=where)
        text = entry_text(finding, reported_by, writer=actor.agent, meant_for=meant_for)
        try:
            # A hook may have saved it before: then it is there with other words on who did.
            there = [(bare_text(entry.text), entry) for entry in workspace.entries(actor, [target])]
            there = [(one, entry) for one, entry in there if tells(one, finding, reported_by)]
            text = next((one for one, _ in there), text)
            under = finding.section or section or ""
            same = target, finding.text, finding.label
            said[same] = said.get(same, 0) + 1
            is_elsewhere = all(under not in (entry.place, entry.section) for _, entry in there)
            done = workspace.remember(
                text,
                tier=tier,
                actor=actor,
                agent=agent,
                conversation=where,
                section=under or None,
                under=finding.label or None,
                dated=day_hidden_by(text, finding),
                about=About(writer=reported_by),
                keep=True,
                twice=said[same] > 1 and is_elsewhere,
            )
        except Refused as error:
            told = Reported("", finding.tier) if isinstance(error, SecretFound) else finding
            found.append(Harvested(told, None, str(error)))
        else:
            found.append(Harvested(finding, done))
    return found
