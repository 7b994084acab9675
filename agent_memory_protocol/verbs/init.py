"""The verb that begins a memory: it creates the documents that are missing, each with its header."""

from collections.abc import Sequence

from ..answers import Created
from ..change.session import Session
from ..disk.writing import create, make_folders
from ..git import ignore
from ..layout import Target, Tier, check_owner
from ..tiers import store


def init(session: Session, agents: Sequence[str], conversation: str | None) -> list[Created]:
    """Create the tier files that are missing. One that exists is never touched."""
    targets = [Target(Tier.SHARED), *(Target(Tier.AGENT, check_owner(Tier.AGENT, agent)) for agent in agents)]
    if conversation is not None:
        targets.append(Target(Tier.CONVERSATION, check_owner(Tier.CONVERSATION, conversation)))
    for target in targets:
        session.check_write(target)
    made = []
    # Two spellings of one name are one agent; both at once would make two folders for it (decision 2).
    for target in [store.locate(session.root, target) for target in dict.fromkeys(targets)]:
        created = False
        if not session.root.exists(target.parts):
            make_folders(session.root, target.folder)
            created = create(session.root, target.parts, session.header(target).encode())
            session.begin()
        made.append(Created(target, session.path(target), created))
    ignore.merge_by_lines(session.root)
    return made
