"""The tools of the MCP server, without MCP: what each takes, what it answers, and what it does.

A tool works for one actor, who is fixed when the server starts. What it answers are values that its output schema
describes, and the text that a model reads.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote

from ..access import Actor
from ..answers import StoredEntry
from ..dates import day_number
from ..errors import InvalidArgument
from ..formats.jsonl_rules import KINDS
from ..layout import TIERS, Target, Tier
from ..ledger import About
from ..visible import show_invisible
from ..workspace import Workspace
from .tool_arguments import FLAG, NUMBER, TEXT, TEXTS, WHOLE, Arguments, Parameter, schema

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Door:
    """What the tools work on: a project's memory, and for whom."""

    workspace: Workspace
    actor: Actor


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: values, and a text for models where their JSON is not the best there is."""

    values: Json
    text: str = ""

    def __str__(self) -> str:
        return self.text or json.dumps(self.values, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name, title, description: what it is to a host and a model.
        parameters: what it takes.
        output: the JSON Schema of what it answers.
        run: does it.
        writes: whether it changes memory; it is not offered to read-only agents then.
        takes_away: whether something may leave memory by it.
        repeatable: whether a second call with the same arguments changes nothing more.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    output: Json
    run: Callable[[Door, Arguments], Answer]
    writes: bool = False
    takes_away: bool = False
    repeatable: bool = True

    @property
    def input(self) -> Json:
        """The JSON Schema of what it takes."""
        return schema(self.parameters)


def instructions(door: Door) -> str:
    """Return what a model is told of the server when it connects."""
    actor = door.actor
    whose = f"agent {actor.agent}" if actor.agent else "the owner of the project"
    where = f", in conversation {actor.conversation}" if actor.conversation else ""
    lines = [
        f"The memory of the project in {show_invisible(str(door.workspace.path))}, for {whose}{where}.",
        (
            "memory_recall gives what is known when a task starts. What it returns was written earlier by agents of "
            "this repository: it is reference data about the project, and may be out of date."
        ),
    ]
    if door.workspace.why_read_only(actor) is None:
        lines.append(
            "memory_remember keeps one lasting fact or lesson: what was not obvious and will matter again. The state "
            "of the work belongs in the project's own files; secrets are refused."
        )
    else:
        lines.append(
            "This agent is read-only: it reports findings in its output, one bullet each in a ```memory-findings block."
        )
    return "\n".join(lines)


# -- what they answer --------------------------------------------------------------------------------------------------


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _list(of: Json) -> Json:
    return {"type": "array", "items": of}


_TEXT: Json = {"type": "string"}
_NUMBER: Json = {"type": "integer"}
_DAY: Json = {"type": ["string", "null"], "description": "YYYY-MM-DD; null for what is lasting"}
_TARGET: Json = {"type": "string", "description": "shared, agent:NAME or conversation:ID"}

_ENTRY = _object(id=_TEXT, target=_TARGET, path=_TEXT, line=_NUMBER, section=_TEXT, date=_DAY, text=_TEXT)


def _entry(one: StoredEntry) -> Json:
    return {
        "id": one.id,
        "target": str(one.target),
        "path": one.target.path,
        "line": one.line,
        "section": _shown(one.section),
        "date": one.date.isoformat() if one.date else None,
        "text": _shown(one.text),
    }


def _shown(text: str) -> str:
    """Return a text with what a reader cannot see as escapes (decision 27)."""
    return "\n".join(show_invisible(line) for line in text.split("\n"))


# -- what they take ----------------------------------------------------------------------------------------------------

_TIER = Parameter(
    "tier", TEXT, "Which memory; by default the acting agent's, else shared.", choices=tuple(map(str, TIERS))
)
_AGENT = Parameter("agent", TEXT, "Whose memory, where it is another agent's.")


def _target(door: Door, arguments: Arguments) -> Target:
    tier = arguments.text("tier")
    return door.workspace.target(door.actor, tier=Tier.parse(tier) if tier else None, agent=arguments.text("agent"))


def _is_foreign(door: Door, target: Target) -> bool:
    """Say whether a document belongs to another conversation: a person may read it, but has not asked for it here."""
    return target.tier is Tier.CONVERSATION and target != Target(Tier.CONVERSATION, door.actor.conversation or "")


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    day = day_number(text)
    if day is None:
        raise InvalidArgument(f"{text[:40]!a} is no date; write it as YYYY-MM-DD, such as 2026-01-31")
    return date.fromordinal(day)


# -- the tools ---------------------------------------------------------------------------------------------------------


def _recall(door: Door, arguments: Arguments) -> Answer:
    found = door.workspace.recall(
        door.actor,
        max_lines=arguments.whole("max_lines"),
        max_chars=arguments.whole("max_chars"),
        max_tokens=arguments.whole("max_tokens"),
    )
    parts = [
        {
            "target": str(part.target),
            "path": part.target.path,
            "lines": part.lines,
            "lines_in_file": part.lines_in_file,
            "left_out": len(part.left_out),
            "problem": part.problem or None,
        }
        for part in found.parts
    ]
    return Answer(
        {"text": found.text, "parts": parts, "warnings": list(found.warnings)},
        found.text or "There is nothing to recall yet.",
    )


def _remember(door: Door, arguments: Arguments) -> Answer:
    target = _target(door, arguments)
    day = _day(arguments.text("date"))
    done = door.workspace.remember(
        arguments.text("text") or "",
        tier=target.tier,
        actor=door.actor,
        agent=target.owner if target.tier is Tier.AGENT else None,
        section=arguments.text("section"),
        dated=day or (True if arguments.flag("dated") else None),
        about=About(
            source=arguments.text("source"),
            kind=arguments.text("kind"),
            confidence=arguments.number("confidence"),
            tags=arguments.texts("tags"),
        ),
        make_room=arguments.flag("make_room"),
    )
    room = {"lines": done.headroom.lines, "bytes": done.headroom.bytes}
    notes = list(done.notes)
    if done.headroom.is_near:
        notes.append(f"{done.entry.target} is nearly full; merge entries, or have what is outdated pruned")
    return Answer({"status": done.status, "entry": _entry(done.entry), "headroom": room, "notes": notes})


def _show(door: Door, arguments: Arguments) -> Answer:
    if arguments.text("tier") is None and arguments.text("agent") is None:
        chosen = [one for one in door.workspace.targets(door.actor) if not _is_foreign(door, one)]
    else:
        chosen = [_target(door, arguments)]
    problems: list[str] = []
    entries = door.workspace.entries(door.actor, chosen, on_problem=lambda _, problem: problems.append(problem))
    return Answer({"entries": [_entry(one) for one in entries], "problems": problems})


def _forget(door: Door, arguments: Arguments) -> Answer:
    gone = door.workspace.forget(
        arguments.texts("ids"), actor=door.actor, reason=arguments.text("reason") or "forgotten"
    )
    removed = [{"id": one.id, "target": str(one.target), "text": _shown(one.text)} for one in gone]
    return Answer({"removed": removed})


TOOLS = (
    Tool(
        "memory_recall",
        "Recall memory",
        "Give what is known when a task starts: shared memory, the agent's own, and the conversation's, as one block "
        "of text that keeps to the bounds. Call it first.",
        (
            Parameter("max_lines", WHOLE, "The most lines of each document (200).", minimum=1),
            Parameter("max_chars", WHOLE, "The most characters of the block.", minimum=1),
            Parameter("max_tokens", WHOLE, "The most tokens of the block, at 4 bytes each.", minimum=1),
        ),
        _object(
            text=_TEXT,
            parts=_list(
                _object(
                    target=_TARGET,
                    path=_TEXT,
                    lines=_NUMBER,
                    lines_in_file=_NUMBER,
                    left_out=_NUMBER,
                    problem={"type": ["string", "null"]},
                )
            ),
            warnings=_list(_TEXT),
        ),
        _recall,
    ),
    Tool(
        "memory_show",
        "Show entries",
        "List entries with their ids, dates and sections as they stand in the files: of one document, or of all that "
        "may be read.",
        (_TIER, _AGENT),
        _object(entries=_list(_ENTRY), problems=_list(_TEXT)),
        _show,
    ),
    Tool(
        "memory_remember",
        "Remember",
        "Keep one fact or lesson as one entry. Lasting facts carry no date; what holds for now carries one. A repeat "
        "of what is there changes nothing. Secrets are refused, and what would pass a file's limit.",
        (
            Parameter("text", TEXT, "What to remember: one entry, one to three sentences.", required=True),
            _TIER,
            _AGENT,
            Parameter("section", TEXT, "The heading to write it under; made where it is missing."),
            Parameter("date", TEXT, "The day it is dated with, YYYY-MM-DD."),
            Parameter("dated", FLAG, "Date it with today."),
            Parameter("source", TEXT, "Where it comes from: user, inferred, a URL, a file."),
            Parameter("kind", TEXT, "What kind of entry it is.", choices=tuple(KINDS)),
            Parameter("confidence", NUMBER, "How sure it is, from 0 to 1.", minimum=0, maximum=1),
            Parameter("tags", TEXTS, "Words to find it by."),
            Parameter("make_room", FLAG, "Archive the oldest dated entries where the file is full."),
        ),
        _object(
            status={"enum": ["added", "kept", "redated"]},
            entry=_ENTRY,
            headroom=_object(lines=_NUMBER, bytes=_NUMBER),
            notes=_list(_TEXT),
        ),
        _remember,
        writes=True,
    ),
    Tool(
        "memory_forget",
        "Forget entries",
        "Take entries out of memory, by the ids that memory_show gives. Their text stays in the ledger beside the "
        "file, from where a person can restore it.",
        (
            Parameter("ids", TEXTS, "The ids of the entries.", required=True, minimum=1),
            Parameter("reason", TEXT, "Why they go, for whoever reads the ledger."),
        ),
        _object(removed=_list(_object(id=_TEXT, target=_TARGET, text=_TEXT))),
        _forget,
        writes=True,
        takes_away=True,
        repeatable=False,
    ),
)


def offered(door: Door) -> tuple[Tool, ...]:
    """Return the tools for this actor: a read-only agent is offered none that writes (S4-54)."""
    if door.workspace.why_read_only(door.actor) is None:
        return TOOLS
    return tuple(tool for tool in TOOLS if not tool.writes)


def find(name: str) -> Tool | None:
    """Return the tool of that name."""
    return next((tool for tool in TOOLS if tool.name == name), None)


@dataclass(frozen=True, slots=True)
class Resource:
    """A document or note that a host can attach to a conversation.

    Attributes:
        uri: `memory://shared/KNOWLEDGE.md`, `memory://agents/NAME/…`, `memory://conversation/context.md`.
        title, description: what it is, for whoever chooses.
        target, note: the document, or the note beside it.
        size: its bytes.
    """

    uri: str
    title: str
    description: str
    target: Target
    note: str
    size: int


def resources(door: Door) -> list[Resource]:
    """List the documents and notes that this actor may read; of conversations only its own."""
    rows = {(row.target, row.file): row for row in door.workspace.notes(door.actor)}
    found = []
    for file in door.workspace.files(door.actor):
        target = file.target
        if _is_foreign(door, target):
            continue
        folder = {Tier.SHARED: "shared", Tier.AGENT: f"agents/{quote(target.owner)}"}.get(target.tier, "conversation")
        row = rows.get((target, file.note))
        title, description = (
            (row.title, row.description) if row else (str(target), f"All of {target} as it is on disk.")
        )
        uri = f"memory://{folder}/{quote(file.note or target.parts[-1])}"
        found.append(Resource(uri, _shown(title), _shown(description), target, file.note, file.size))
    return found


def read_resource(door: Door, uri: str) -> str:
    """Return the text of a resource.

    Raises:
        InvalidArgument: there is none of that URI, for this actor.
    """
    for one in resources(door):
        if one.uri == uri:
            text = door.workspace.read_file(one.target, note=one.note, actor=door.actor)
            if text is not None:
                return _shown(text)
    raise InvalidArgument(f"there is no resource {uri[:200]!a}; resources/list names those there are")
