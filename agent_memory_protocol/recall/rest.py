"""The rest: what the start of a session left out, and its first prompt turns out to be about.

An entry is about a prompt where it shares a word with it that few entries have, and enough of what the prompt says.
Those that share most come first, as many as fit into the room, and without one nothing is said.
"""

from ..disk.files import Root
from ..layout import RECORDS
from ..project.access import Actor
from . import block, fit
from .agent import Draft, recall_drafts, weigh
from .block import NO_LIMIT, Budget, Share
from .sheet import NOTHING, Room, Segments, Sheet
from .task import weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..project.settings import Settings

_FEW = 10  # A word that one in so many entries has, or fewer, says what an entry is about


def rest(root: Root, settings: "Settings", actor: Actor, budget: Budget, task: str, max_chars: int) -> str:
    """Return what the start, with its budget, left out and the task of a prompt is about, as a block.

    "" for nothing.
    """
    start, drafts = recall_drafts(root, settings, actor, budget)
    drafts = [draft for draft in drafts if draft.is_read]
    has_records = root.exists(RECORDS)
    if not has_records and not any(draft.left_out for draft in drafts):
        return ""
    weigh(drafts, task, only_fitting=True)
    sheets = {draft: _sheet(draft) for draft in drafts}
    least = weight(_FEW)
    found = [
        (score, draft, unit)
        for draft in drafts
        for unit in draft.left_out
        if not fit.is_expired(unit, draft.today) and (score := (draft.scores or {}).get(unit.start, 0)) >= least
    ]
    left = max_chars - len(block.frame(()))
    given = set()
    for _, draft, unit in sorted(found, key=lambda one: -one[0]):
        sheet = sheets[draft]
        frame = 0 if draft in given else len(block.frame([draft.part])) - len(block.frame(())) + 1
        before = sheet.size.characters if draft in given else 0
        sheet.segments.room.characters = left - frame + before
        if sheet.put_if_it_fits(sheet.segments.of(unit), NOTHING):
            given.add(draft)
            left -= frame + sheet.size.characters - before
    parts: list[Share] = []
    for draft in drafts:
        if draft in given:
            lines = sheets[draft].text()
            body = "\n".join(draft.mark + line for line in lines)
            draft.part.shorten(body, len(lines), cut=False, left_out=list)
            parts.append(draft.part)
    if has_records:
        from . import records

        of_records = records.rest(root, settings, actor, task, start, least, left)
        parts += [] if of_records is None else [of_records]
    return block.render(parts, Budget(max_chars=max_chars))


def _sheet(draft: Draft) -> Sheet:
    lines, outline = draft.read()
    room = Room(NO_LIMIT, NO_LIMIT, NO_LIMIT, prefix=len(draft.mark))
    return Sheet(Segments([fit.shorten_line(line) for line in lines], outline, room))
