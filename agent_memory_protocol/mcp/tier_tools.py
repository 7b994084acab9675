"""The tools and resources of the MCP server, without MCP: over tiers and notes; `record_tools` has those over records.

A tool works for one actor, who is fixed when the server starts. What it answers are values that its output schema
describes, and the text that a model reads.
"""

import datetime as dt
from typing import Any
from urllib.parse import quote

from .. import settle
from ..answers import About, Json, StoredFile
from ..errors import InvalidArgument
from ..formats.jsonl_rules import KINDS
from ..layout import TIERS, Target, Tier
from ..query import ask
from ..secrets.mask import masked
from ..text.commands import by_tools
from ..text.dates import parse_day
from ..text.visible import show_text
from ..values import dataclass
from . import record_tools
from .arguments import FLAG, NUMBER, TEXT, TEXTS, WHOLE, Parameter
from .shapes import DOCUMENT, KNOWN, list_of, shape
from .shapes import TEXTS as TEXT_LIST
from .tool import Answer, Door, Tool, is_foreign


def instructions(door: Door) -> str:
    """Return what a model is told of the server when it connects."""
    actor = door.actor
    whose = f"agent {actor.agent}" if actor.agent else "the owner of the project" if actor.is_person else str(actor)
    where = f", in conversation {actor.conversation}" if actor.conversation else ""
    keeping = (
        "memory_remember saves one lasting fact or lesson: what was not obvious and will matter again. Keep the state "
        "of your work in the project's own files; secrets are refused."
    )
    if door.workspace.why_read_only(actor) is not None:
        keeping = "You are read-only: report findings in your output, one bullet each, in a ```memory-findings block."
    return (
        f"The memory of the project in {show_text(str(door.workspace.path))}, for {whose}{where}.\n"
        "Call memory_recall when a task starts. It returns what this repository's agents wrote earlier: reference data "
        "about the project, which may be out of date.\n"
        f"{keeping}" + (record_tools.instructions(door) if door.keeps_records else "")
    )


# -- what they answer and take -----------------------------------------------------------------------------------------

_ENTRY = shape(*DOCUMENT, "id", "section", "label", "date", "date_source", "line", "last_line", "text", **KNOWN)
_ABOUT = shape(**{key: KNOWN[key] for key in About().to_json()})
_LEFT_OUT = shape("line", "last_line", "date", "label", "text")
_PART = shape(*DOCUMENT, "lines", "lines_in_file", "cut", "problem", left_out=list_of(_LEFT_OUT))
_NAME: Json = {"type": "string", "description": "the id of an entry, the file of a note"}
_KIND: Json = {"enum": ["entry", "note", "record", "archived"]}
_CORRECTION = shape(word={"type": "string"}, searched=TEXT_LIST)
_LINE = shape("line", "text")
_HIT = shape(
    *("target", "path", "line", "section", "label", "date", "state", "text", "score", "fit", "reasons"),
    may_lack=(
        *("target", "path", "line", "section", "headings", "label", "date", "state"),
        *("about", "passage", "lines", "fit"),
    ),
    headings=TEXT_LIST,
    about=_ABOUT,
    passage=_LINE,
    lines=list_of(_LINE),
    kind=_KIND,
    id=_NAME,
)
_DONE: Json = {"enum": ["added", "kept", "redated"]}
_ROOM = shape("lines", "bytes")

_HITS = 10
_TIER = Parameter(
    "tier", TEXT, "Which memory. Default: your own; without an agent, shared.", choices=tuple(map(str, TIERS))
)
_AGENT = Parameter("agent", TEXT, "Whose memory, if it is another agent's.")


def _target(door: Door, tier: str | None, agent: str | None) -> Target:
    if tier == Tier.CONVERSATION.value and door.actor.conversation is None:
        raise InvalidArgument("this server is in no conversation; choose the tier shared or agent")
    return door.workspace.target(door.actor, tier=Tier.parse(tier) if tier else None, agent=agent)


# -- the tools ---------------------------------------------------------------------------------------------------------


def _recall(door: Door, task: str = "", **bounds: Any) -> Answer:
    found = door.workspace.recall(
        door.actor, task=task or None, records=record_tools.source_of(door), shown_by="memory_show", **bounds
    )
    found.warnings = [*map(by_tools, found.warnings)]
    text = found.text or "; ".join(found.warnings)
    return Answer({**found.to_json()}, text or "There is no memory to recall yet.")


def _remember(
    door: Door,
    text: str,
    tier: str | None = None,
    agent: str | None = None,
    section: str | None = None,
    under: str | None = None,
    date: str | None = None,
    dated: bool = False,
    until: str | None = None,
    make_room: bool = False,
    replaces: str | None = None,
    **about: Any,
) -> Answer:
    if replaces is not None:
        place = {"tier": tier, "agent": agent, "section": section, "under": under}
        more = {**place, "date": date, "dated": dated, "until": until, "make_room": make_room}
        instead = settle.remember_instead(
            door.workspace, door.records, door.actor, text, replaces, About(**about), **more
        )
        if instead is not None:
            return Answer({**instead.to_json(), "notes": [*map(by_tools, instead.notes)]})
    target = _target(door, tier, agent)
    done = door.workspace.remember(
        text,
        tier=target.tier,
        actor=door.actor,
        agent=target.owner if target.tier is Tier.AGENT else None,
        section=section,
        under=under,
        dated=(dated or None) if date is None else dt.date.fromordinal(parse_day(date)),
        until=None if until is None else dt.date.fromordinal(parse_day(until)),
        about=About(**about),
        make_room=make_room,
        replaces=replaces,
    )
    notes = [*done.notes]
    if done.headroom.warning:
        notes.append(f"{done.entry.target} is {done.headroom.warning}; merge entries, or have what is outdated pruned")
    return Answer({**done.to_json(), "entry": done.entry.to_json(), "notes": [*map(by_tools, notes)]})


def _show(door: Door, tier: str | None = None, agent: str | None = None) -> Answer:
    if tier is None and agent is None:
        chosen = [one for one in door.workspace.targets(door.actor) if not is_foreign(door, one)]
    else:
        chosen = [_target(door, tier, agent)]
    problems: list[str] = []
    entries = door.workspace.entries(door.actor, chosen, on_problem=lambda _, problem: problems.append(problem))
    return Answer({"entries": [one.to_json() for one in entries], "problems": problems})


def _search(
    door: Door,
    query: str,
    limit: int = _HITS,
    tier: str | None = None,
    agent: str | None = None,
    since: str | None = None,
    context: int = 0,
    history: bool = False,
) -> Answer:
    places = door.workspace.targets(door.actor) + door.workspace.note_folders(door.actor)
    found = ask(
        door.workspace,
        door.records if tier is None and agent is None else None,
        door.actor,
        query,
        limit=limit,
        targets=[one for one in places if not is_foreign(door, one)],
        tier=Tier.parse(tier) if tier else None,
        agent=agent,
        since=None if since is None else dt.date.fromordinal(parse_day(since)),
        history=history,
        context=context,
        index=door.index,
    )
    return Answer(found.to_json())


def _resolve(door: Door, loser: str, winner: str, reason: str = "") -> Answer:
    done = settle.resolve(door.workspace, door.records, door.actor, loser, winner, reason=reason)
    return Answer({**done.to_json()})


def _dispute(door: Door, one: str, other: str, reason: str = "") -> Answer:
    ids = settle.dispute(door.workspace, door.records, door.actor, one, other, reason=reason)
    return Answer({"disputed": [*ids]})


def _forget(door: Door, ids: tuple[str, ...], reason: str = "") -> Answer:
    gone = door.workspace.forget(ids, actor=door.actor, reason=reason or "forgotten")
    return Answer({"removed": [{**one.to_json(), "text": one.text} for one in gone]})


TIER_TOOLS = (
    Tool(
        "memory_recall",
        "Recall memory",
        "Call this first, when a task starts. It gives shared memory, your own, the conversation's and the records, as "
        "one block of text within the limits that you set.",
        (
            Parameter("task", TEXT, "Your task. If memory does not fit, entries about it are kept."),
            Parameter("max_lines", WHOLE, "At most this many lines of each document (200).", minimum=1),
            Parameter("max_chars", WHOLE, "At most this many characters in the block.", minimum=1),
            Parameter("max_tokens", WHOLE, "At most this many tokens in the block, at 4 bytes each.", minimum=1),
        ),
        shape("text", "warnings", parts=list_of(_PART), records=list_of(_HIT)),
        _recall,
    ),
    Tool(
        "memory_search",
        "Search memory",
        "Find entries, notes and records by their words, best first, each with the reason it matched. Any text is a "
        "query, and one wrong letter does not matter.",
        (
            Parameter("query", TEXT, "What to look for.", required=True),
            Parameter("limit", WHOLE, f"At most this many hits ({_HITS}).", minimum=1),
            Parameter("tier", TEXT, "Look only in this tier.", choices=tuple(map(str, TIERS))),
            Parameter("agent", TEXT, "Look only in this agent's memory."),
            Parameter("since", TEXT, "Find only what is dated this day or later, YYYY-MM-DD."),
            Parameter("context", WHOLE, "Also give this many lines before and after the match.", minimum=0),
            Parameter("history", FLAG, "Also look at what was removed, replaced or archived."),
        ),
        shape("problems", "more", hits=list_of(_HIT), corrections=list_of(_CORRECTION)),
        _search,
    ),
    Tool(
        "memory_show",
        "Show entries",
        "List entries with their ids, dates and sections, of one document or of all that you may read.",
        (_TIER, _AGENT),
        shape("problems", entries=list_of(_ENTRY)),
        _show,
    ),
    Tool(
        "memory_remember",
        "Remember",
        "Save one fact or lesson as one entry. Give no date to a lasting fact; date what is true for now. "
        "Saving the same text again changes nothing. Secrets are refused, and so is text that has no room.",
        (
            Parameter("text", TEXT, "What to remember: one entry, one to three sentences.", required=True),
            _TIER,
            _AGENT,
            Parameter("section", TEXT, "The heading to write it under; created if missing."),
            Parameter("under", TEXT, "Write it to the list with this label, such as Never; created if missing."),
            Parameter("date", TEXT, "Date it with this day, YYYY-MM-DD."),
            Parameter("dated", FLAG, "Date it with today."),
            Parameter("until", TEXT, "The last day on which it is true, YYYY-MM-DD."),
            Parameter("source", TEXT, "Its source: user, inferred, a URL, a file."),
            Parameter("kind", TEXT, "What kind of entry it is.", choices=tuple(KINDS)),
            Parameter("confidence", NUMBER, "How sure you are, from 0 to 1.", minimum=0, maximum=1),
            Parameter("tags", TEXTS, "Words to find it by."),
            Parameter("replaces", TEXT, "The id of an entry or record to retire; the new one replaces it."),
            Parameter("make_room", FLAG, "If the file is full, archive its oldest dated entries."),
        ),
        shape(
            *(*DOCUMENT, "id", "line", "date", "notes", "replaced"),
            # Of a record that replaces another one, there is no more than its id, its status and the notes.
            may_lack=(*DOCUMENT, "line", "date", "headroom", "entry"),
            status=_DONE,
            headroom=_ROOM,
            entry=_ENTRY,
        ),
        _remember,
        writes=True,
    ),
    Tool(
        "memory_resolve",
        "Decide between two facts",
        "Retire one of two facts that disagree, because the other is true. Both are entries, or both are "
        "records. A retired entry goes to the ledger, which names its successor; a retired record stays readable.",
        (
            Parameter("loser", TEXT, "The id of the fact to retire.", required=True),
            Parameter("winner", TEXT, "The id of the fact that is true.", required=True),
            Parameter("reason", TEXT, "The reason, for later readers."),
        ),
        shape("retired", "successor"),
        _resolve,
        writes=True,
        takes_away=True,
        repeatable=False,
    ),
    Tool(
        "memory_dispute",
        "Mark facts as disputed",
        "Mark two facts that disagree, if nobody knows which is true. Recall gives both with their "
        "marks. Both are entries, or both are records.",
        (
            Parameter("one", TEXT, "The id of a fact.", required=True),
            Parameter("other", TEXT, "The id of the other fact.", required=True),
            Parameter("reason", TEXT, "The reason, for later readers."),
        ),
        shape("disputed"),
        _dispute,
        writes=True,
    ),
    Tool(
        "memory_forget",
        "Forget entries",
        "Remove entries from memory, by the ids that memory_show gives. The ledger beside the file keeps "
        "their text, and a person can restore it.",
        (
            Parameter("ids", TEXTS, "The ids of the entries, or how they begin.", required=True, minimum=1),
            Parameter("reason", TEXT, "The reason, for readers of the ledger."),
        ),
        shape(removed=list_of(shape(*DOCUMENT, "id", "label", "text", "went_along", about=_ABOUT))),
        _forget,
        writes=True,
        takes_away=True,
        repeatable=False,
    ),
)


TOOLS = (*TIER_TOOLS, *record_tools.RECORD_TOOLS)


def offered(door: Door) -> tuple[Tool, ...]:
    """Return the tools for this actor: one that may write nothing is offered none that writes."""
    tools = served(door)
    if door.workspace.why_read_only(door.actor) is None:
        return tools
    return tuple(tool for tool in tools if not tool.writes)


def served(door: Door) -> tuple[Tool, ...]:
    """Return the tools that this server has, no matter who calls them."""
    return TOOLS if door.keeps_records else TIER_TOOLS


def find(door: Door, name: str) -> Tool | None:
    """Return the tool of that name."""
    return next((tool for tool in served(door) if tool.name == name), None)


@dataclass(frozen=True, slots=True)
class Resource:
    """A document or note that a host can attach to a conversation."""

    uri: str  # `memory://shared/KNOWLEDGE.md`, `memory://agents/NAME/…`, `memory://conversation/context.md`
    title: str
    description: str
    file: StoredFile  # where it is, and its size


def resources(door: Door) -> list[Resource]:
    """List the documents and notes that this actor may read; of conversations only its own."""
    rows = {(row.target, row.file): row for row in door.workspace.notes(door.actor)}
    found = []
    for file in door.workspace.files(door.actor):
        target = file.target
        if is_foreign(door, target):
            continue
        row = rows.get((target, file.note))
        title, description = (
            (row.title, row.description) if row else (str(target), f"All of {target} as it is on disk.")
        )
        uri = f"memory://{'/'.join(map(quote, (*target.address, file.note or target.parts[-1])))}"
        found.append(Resource(uri, show_text(masked(title)), show_text(masked(description)), file))
    return found


def read_resource(door: Door, uri: str) -> str:
    """Return the text of a resource. Raises InvalidArgument if this actor has no resource of that URI."""
    for one in resources(door):
        if one.uri == uri:
            text = door.workspace.read_file(one.file.target, note=one.file.note, actor=door.actor)
            if text is not None:
                return show_text(masked(text))
    raise InvalidArgument(f"there is no resource {uri[:200]!a}; resources/list names those there are")
