"""Who may read and write which tier: one policy, asked by every door.

A person at the command line owns the memory; the table of docs/protocol.md holds for an agent (decisions 7 to 9).
Each refusal says who asked, for what, why not, and what to do instead.
"""

from ..errors import AccessDenied, InvalidArgument
from ..layout import OWNED_TIERS, TIERS, Target, Tier, check_agent_name, check_conversation_id, name_key

READERS_OF_ALL = ("architect",)  # The agents that read every agent's memory, unless the settings name others


REPORT_INSTEAD = (
    "report findings in your output in a ```memory-findings block, and an agent that may write will keep them"
)


class Actor:
    """Who acts: an agent, perhaps in a conversation. Without an agent it is a person, who may do everything.

    An `unnamed` actor is an agent whose name nobody knows. It reads the shared document and writes none (decision 55).

    Raises:
        InvalidName: a name breaks the name rule.
    """

    __slots__ = ("agent", "conversation", "unnamed")

    def __init__(self, agent: str | None = None, conversation: str | None = None, *, unnamed: bool = False) -> None:
        self.agent = None if agent is None else check_agent_name(agent)
        self.conversation = None if conversation is None else check_conversation_id(conversation)
        self.unnamed = unnamed and agent is None

    @property
    def is_person(self) -> bool:
        """Say whether a person acts, not an agent."""
        return self.agent is None and not self.unnamed

    def owned(self, tier: Tier) -> str | None:
        """Return the owner that names this actor's document in a tier, as `Target` takes it; None if it has none."""
        return {"": "", "agent": self.agent, "conversation": self.conversation}[tier.owner]

    def targets(self) -> list[Target]:
        """List this actor's documents: shared, its agent's, its conversation's."""
        owned = ((tier, self.owned(tier)) for tier in TIERS)
        return [Target(tier, owner) for tier, owner in owned if owner is not None]

    @property
    def _key(self) -> tuple[str | None, str | None, bool]:
        return self.agent and name_key(self.agent), self.conversation and name_key(self.conversation), self.unnamed

    def __str__(self) -> str:
        return f"agent {self.agent}" if self.agent else "an agent without a name" if self.unnamed else "a person"

    def __repr__(self) -> str:
        return f"Actor(agent={self.agent!r}, conversation={self.conversation!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Actor) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def acting(actor: object) -> Actor:
    """Return who acts: a person, if nobody is named.

    Raises:
        InvalidArgument: it is not an Actor. The name of an agent, above all "", must not pass for a person.
    """
    if actor is None:
        return Actor()
    if not isinstance(actor, Actor):
        raise InvalidArgument(f"the actor must be an Actor, such as Actor('developer'), not {actor!a}")
    return actor


def check_tier(tier: object) -> None:
    """Refuse what is not a tier, such as its name; None is left to who asks."""
    if tier is not None and tier not in TIERS:
        raise InvalidArgument(f"the tier must be one of {', '.join(map(repr, TIERS))}, not {tier!a}")


def document_meant(actor: Actor, tier: Tier | None, agent: str | None, conversation: str | None) -> Target:
    """Say which document is meant; see `Workspace.target`."""
    # Both are checked, needed or not: a bad name is a mistake wherever it is.
    named = Actor(agent, conversation)
    check_tier(tier)
    if tier is None:
        who = named if named.agent or named.conversation else Actor(actor.agent)
        tier = next((one for one in OWNED_TIERS if who.owned(one)), Tier.SHARED)
    owner = named.owned(tier) or actor.owned(tier)
    if owner is None:
        raise InvalidArgument(f"which {tier.owner}? name it with --{tier.owner}")
    return Target(tier, owner)


def joined(actor: Actor, target: Target) -> Actor:
    """Put an actor that is in no conversation into the one it names: to name it is to be a member (decision 7)."""
    # A person may read and write all, so of a folder on disk with a name that no conversation has none is made.
    if target.tier is Tier.CONVERSATION and actor.conversation is None and not actor.is_person:
        return Actor(actor.agent, target.owner, unnamed=actor.unnamed)
    return actor


def why_not_read(actor: Actor, target: Target, readers_of_all: tuple[str, ...] = READERS_OF_ALL) -> str | None:
    """Return why this actor may not read this document, in one line; None if it may."""
    if actor.is_person or target.tier is Tier.SHARED:
        return None
    if actor.agent is None:
        return f"{actor} may not read {target}: say which agent it is, or read shared"
    if _owns(actor, target):
        return None
    if target.tier is Tier.CONVERSATION:
        return f"{actor} may not read {target}: {_where(actor)}; {_how_to_join(actor, target)}read shared instead"
    if name_key(actor.agent) in map(name_key, readers_of_all):
        return None
    readers = " and ".join([f"agent {target.owner}", *readers_of_all])
    return (
        f"{actor} may not read {target}: only {readers} may; "
        f"read shared or agent:{actor.agent}, or ask for what all should know to be put in shared"
    )


def why_not_write(actor: Actor, target: Target, *, read_only_reason: str | None = None) -> str | None:
    """Return why this actor, read-only for that reason, may not write this document; None if it may."""
    if actor.is_person:
        return None
    if actor.agent is None:
        return f"{actor} may not write {target}: say which agent it is; {REPORT_INSTEAD}"
    if read_only_reason is not None:
        return f"{actor} may not write {target}: it is read-only, as {read_only_reason}; {REPORT_INSTEAD}"
    if _owns(actor, target):
        return None
    if target.tier is Tier.AGENT:
        return (
            f"{actor} may not write {target}: only agent {target.owner} itself may; "
            f"write to shared, or to your own with --agent {actor.agent}"
        )
    own = f"your own conversation {actor.conversation}, " if actor.conversation else ""
    return (
        f"{actor} may not write {target}: {_where(actor)}; "
        f"{_how_to_join(actor, target)}write to {own}shared or agent:{actor.agent} instead"
    )


def check(reason: str | None, target: Target | None = None) -> None:
    """Refuse what the policy forbids, for the reason that `why_not_read` or `why_not_write` gives."""
    if reason:
        raise AccessDenied(reason, target=target or "", path=target.path if target else "")


def _owns(actor: Actor, target: Target) -> bool:
    """Say whether a document is this agent's own, its conversation's or everybody's."""
    owner = actor.owned(target.tier)
    return owner is not None and name_key(owner) == name_key(target.owner)


def _where(actor: Actor) -> str:
    return f"it acts in conversation {actor.conversation}" if actor.conversation else "it acts in no conversation"


def _how_to_join(actor: Actor, target: Target) -> str:
    # An agent that names no conversation has mostly forgotten to; one that names another is an outsider (decision 7).
    return "" if actor.conversation else f"if it belongs to this one, set AMP_CONVERSATION={target.owner}; else "
