"""What a case can ask, answered by this engine."""

import base64
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from ..change.merge import merge_file
from ..errors import AccessDenied, AgentMemoryError, InvalidArgument
from ..formats import jsonl, jsonl_view
from ..layout import SCAFFOLDING, Target, Tier, check_agent_name, check_conversation_id, parse_target
from ..limits import MAX_BYTES, MAX_LINES, count_lines, estimate_tokens
from ..notes import note as notes
from ..project.access import Actor, joined, why_not_read
from ..recall.agent import injected_text
from ..records import canonical, signing
from ..records.record import Record
from ..text.visible import escape_line
from ..tiers import document
from ..workspace import Workspace
from .cases import File

Json = dict[str, Any]
Answer = Callable[["Desk"], object]

_UNSAID = ("ledger.jsonl", "reviewed", ".gitattributes")
"""Files that hold moments or only this engine needs: cases tell of the ledger by what can come back."""


class Desk:
    """One question on its way to an answer: the project in a folder of its own, and what is asked."""

    def __init__(self, question: Mapping[str, Any], folder: Path) -> None:
        self.args: Mapping[str, Any] = question.get("args", {})
        self.clock: str = question.get("clock", "2026-06-15")
        self.root = folder / "project"
        self.environ = {"HOME": str(folder / "home"), "XDG_STATE_HOME": str(folder / "state")}
        (self.root / SCAFFOLDING).mkdir(parents=True)
        for path, content in question.get("files", {}).items():
            place = self.root / path
            if ".." in place.parts or self.root not in place.parents:
                raise InvalidArgument(f"{path!a} is outside of the project; a case has paths below its top")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(_bytes(content))

    @property
    def today(self) -> date:
        """The day that the case names."""
        return date.fromisoformat(self.clock[:10])

    @property
    def workspace(self) -> Workspace:
        """The project's memory."""
        return Workspace.open(self.root, environ=self.environ)

    @property
    def actor(self) -> Actor:
        """Who acts; a person where the case names nobody."""
        return Actor(self.args.get("as"), self.args.get("in"))

    def data(self, name: str = "path") -> bytes:
        """Return the bytes of the file that an argument names; nothing for a missing file."""
        place = self.root / self.args[name]
        return place.read_bytes() if place.is_file() else b""

    def tree(self) -> dict[str, bytes]:
        """Return every file that a case tells of."""
        found = (path for path in self.root.rglob("*") if path.is_file() and path.name not in _UNSAID)
        paths = {path.relative_to(self.root).as_posix(): path for path in found}
        return {name: path.read_bytes() for name, path in paths.items() if "/.amp/" not in name}


def answer(question: Mapping[str, Any]) -> Json:
    """Answer one case as a program does: `result` or `refused`, and `files` where some changed."""
    call = CALLS.get(str(question.get("call")))
    said: Json = {"id": question.get("id")}
    if call is None:
        return {**said, "refused": f"there is no call {question.get('call')!a}"}
    with tempfile.TemporaryDirectory(prefix="amp-case-") as folder:
        try:
            desk = Desk(question, Path(folder).resolve())
        except InvalidArgument as error:
            return {**said, "refused": str(error)}
        before = desk.tree()
        try:
            said["result"] = call(desk)
        except AgentMemoryError as error:
            said["refused"] = str(error)
        after = desk.tree()
    changed = {
        path: _content(after.get(path)) for path in sorted({*before, *after}) if before.get(path) != after.get(path)
    }
    return {**said, "files": changed} if changed else said


def _bytes(content: File) -> bytes:
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])


def _content(data: bytes | None) -> File | None:
    if data is None:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
    return text


def _day(value: str | None) -> date | None:
    return None if value is None else date.fromisoformat(value)


# -- reader ------------------------------------------------------------------------------------------------------------


def _parse(desk: Desk) -> object:
    target = parse_target(desk.args.get("target", "shared"))
    found = document.parse(_bytes(desk.args["text"]) if "text" in desk.args else desk.data(), target)
    entries = []
    for one, entry in found.by_id:
        words = [name for name, said in (("keep", entry.kept), ("disputed", entry.marks.disputed)) if said]
        if entry.marks.until is not None:
            words.append(f"until {date.fromordinal(entry.marks.until)}")
        entries.append(
            {
                "id": one,
                "text": found.text(entry),
                "label": found.label(entry),
                "section": found.section(entry),
                "date": None if entry.day is None else date.fromordinal(entry.day).isoformat(),
                "date_source": entry.day_source or None,
                "marks": words,
                "line": entry.start + 1,
                "last_line": entry.end,
            }
        )
    lines = [{"line": one.start + 1, "file": one.target} for one in found.outline.index_lines]
    return {"entries": entries, "index_lines": lines}


def _recall(desk: Desk) -> object:
    args = desk.args
    found = desk.workspace.recall(
        Actor(args.get("agent"), args.get("conversation")),
        max_lines=args.get("max_lines"),
        max_chars=args.get("max_chars"),
        max_tokens=args.get("max_tokens"),
        today=desk.today,
    )
    return {"text": found.text, "not_read": [str(part.target) for part in found.parts if part.problem]}


def _access(desk: Desk) -> object:
    here, target = desk.workspace, parse_target(desk.args["target"])
    if desk.args["may"] == "read":
        return {"allowed": why_not_read(joined(desk.actor, target), target, here.settings.readers_of_all) is None}
    try:
        here.check_write(desk.actor, target)
    except AccessDenied:
        return {"allowed": False}
    return {"allowed": True}


def _check_name(desk: Desk) -> object:
    check = check_agent_name if desk.args["kind"] == "agent" else check_conversation_id
    return {"name": check(desk.args["name"])}


def _budget(desk: Desk) -> object:
    data = _bytes(desk.args["text"])
    return {"lines": count_lines(data), "bytes": len(data), "tokens": estimate_tokens(len(data))}


def _note(desk: Desk) -> object:
    found = notes.parse(desk.args["text"], desk.args["file"])
    return {"type": found.head.type or None, "description": found.head.description, "title": found.title}


# -- writer ------------------------------------------------------------------------------------------------------------


def _writing(write: Answer) -> Answer:
    """Have a call say, too, what it has put into the ledgers."""

    def call(desk: Desk) -> object:
        here = desk.workspace
        known = {_gone(one)[0]: one for one in here.restorable()}
        result = write(desk)
        gone = [_gone(one)[1] for one in here.restorable() if _gone(one)[0] not in known]
        return {**result, "archived": gone} if isinstance(result, dict) else result

    return call


def _gone(one: Any) -> tuple[object, Json]:
    taken = one.archived.taken
    told = {"target": str(one.target), "id": taken.id, "label": taken.place.label_text, "text": taken.markdown}
    return (str(one.target), taken.id, one.archived.removed_at, one.archived.run), told


def _remember(desk: Desk) -> object:
    args = desk.args
    target = parse_target(args.get("target", "shared"))
    names: dict[str, Any] = {target.tier.owner: target.owner} if target.owner else {}
    dated = args.get("dated")
    done = desk.workspace.remember(
        args["text"],
        tier=target.tier,
        actor=desk.actor,
        **names,
        section=args.get("section"),
        under=args.get("under"),
        dated=_day(dated) if isinstance(dated, str) else dated,
        until=_day(args.get("until")),
        make_room=args.get("make_room", False),
        replaces=args.get("replaces"),
        today=desk.today,
    )
    return {"status": done.status, "id": done.entry.id, "line": done.line}


def _forget(desk: Desk) -> object:
    return {"forgotten": [one.id for one in desk.workspace.forget(desk.args["ids"], actor=desk.actor)]}


def _edit(desk: Desk) -> object:
    done = desk.workspace.edit(
        desk.args["id"], desk.args.get("text"), actor=desk.actor, dated=_day(desk.args.get("dated"))
    )
    return {"id": done.entry.id, "old_id": done.old_id, "line": done.entry.line}


def _resolve(desk: Desk) -> object:
    desk.workspace.resolve(desk.args["loser"], desk.args["winner"], actor=desk.actor)
    return {}


def _dispute(desk: Desk) -> object:
    desk.workspace.dispute(desk.args["one"], desk.args["other"], actor=desk.actor)
    return {}


def _prune(desk: Desk) -> object:
    here, args = desk.workspace, desk.args
    days = args.get("older_than")
    plans = here.plan_pruning(
        actor=desk.actor,
        older_than=None if days is None else timedelta(days=days),
        sections=args.get("sections", False),
        to_limit=args.get("to_limit", False),
        today=desk.today,
    )
    told = [
        {
            "target": str(plan.target),
            "go": [{"id": one.id, "why": one.cause} for one in plan.removals],
            "stay": [{"id": one.id, "why": one.cause} for one in plan.kept],
        }
        for plan in plans
    ]
    if args.get("apply"):
        here.apply_pruning(plans, actor=desk.actor, force=args.get("force", False))
    return {"plans": told}


def _restore(desk: Desk) -> object:
    here, args = desk.workspace, desk.args
    done = here.restore(here.restorable(args.get("ids", ()), last=args.get("last", False)), actor=desk.actor)
    return {"restored": [one.id for one in done.entries], "left": len(done.problems)}


def _heal(desk: Desk) -> object:
    """Remember texts, have another program save the document over that, and say what the next look at it does."""
    here = desk.workspace
    for text in desk.args["written"]:
        here.remember(text, tier=Tier.SHARED, dated=False, today=desk.today)
    (desk.root / Target(Tier.SHARED).path).write_bytes(_bytes(desk.args["saved"]))
    done = here.sync(targets=[Target(Tier.SHARED)], apply=True)
    return {
        "put_back": [text for one in done for text in one.put_back],
        "removed": [text for one in done for text in one.removed_by_hand],
    }


def _distill(desk: Desk) -> object:
    """Say what several conversations have seen, with the conversation and line of each sighting."""
    plan = desk.workspace.plan_distillation()
    told = [
        {
            "text": one.text,
            "target": str(one.target),
            "sightings": [{"conversation": seen.conversation, "line": seen.line} for seen in one.sightings],
        }
        for one in plan.candidates
    ]
    return {"candidates": told}


def _index(desk: Desk) -> object:
    done = desk.workspace.index(actor=desk.actor)
    return {"changed": any(one.changed for one in done)}


def _merge(desk: Desk) -> object:
    base, ours, theirs = (_bytes(desk.args[name]) for name in ("base", "ours", "theirs"))
    path = desk.args.get("path", "KNOWLEDGE.md")
    merged = merge_file(base, ours, theirs, path, max_lines=MAX_LINES, max_bytes=MAX_BYTES)
    return {"merged": None if merged is None else _content(merged.data)}


# -- full --------------------------------------------------------------------------------------------------------------


def _canonical(desk: Desk) -> object:
    return {"canonical": canonical.canonical(canonical.decode(desk.args["json"].encode())).decode()}


def _record(desk: Desk) -> object:
    found = Record.from_bytes(desk.args["record"].encode())
    return {"id": found.id, "digest": found.digest(), "canonical": found.to_bytes().decode()}


def _verify(desk: Desk) -> object:
    found = Record.from_json(json.loads(desk.args["record"]))
    signing.verify_record(found)
    return {"signed_by": found.signed_by}


def _sign(desk: Desk) -> object:
    signer = signing.Identity(bytes.fromhex(desk.args["seed"]) + bytes(32))
    signed = signing.sign_record(Record.from_json(json.loads(desk.args["record"])), signer)
    return {"signed_by": signed.signed_by, "signature": signed.signature}


def _view(desk: Desk) -> object:
    moment = datetime.fromisoformat(desk.clock)
    found = jsonl_view.view(jsonl.parse_file([_bytes(desk.args["text"])]), moment, desk.args.get("scope"))
    entries = [{"id": one.id, "kind": one.kind, "text": one.text, "scope": one.scope} for one in found.entries]
    return {"entries": entries, "warnings": [one.line for one in found.warnings]}


def _record_file(desk: Desk) -> object:
    from ..formats import json_document, protobuf, sqlite
    from ..formats.entry import MemoryEntry

    read = {"json": json_document.read, "protobuf": protobuf.read, "sqlite": sqlite.read}[desk.args["format"]]
    found = list(read(os.fspath(desk.root / desk.args["path"])))
    entries = [one for one in found if isinstance(one, MemoryEntry)]
    told = [{"id": one.id, "text": one.text, "tags": [*one.tags]} for one in entries]
    return {"entries": told, "unreadable": len(found) - len(entries)}


CALLS: dict[str, Answer] = {
    "parse": _parse,
    "recall": _recall,
    "id": lambda desk: {"id": document.entry_id(desk.args["text"], parse_target(desk.args["target"]))},
    "escape": lambda desk: {"text": "\n".join(map(escape_line, desk.args["text"].split("\n")))},
    "injected": lambda desk: {"text": injected_text(desk.args["text"])[0]},
    "check_name": _check_name,
    "access": _access,
    "budget": _budget,
    "note": _note,
    "remember": _writing(_remember),
    "forget": _writing(_forget),
    "edit": _writing(_edit),
    "resolve": _writing(_resolve),
    "dispute": _writing(_dispute),
    "prune": _writing(_prune),
    "restore": _restore,
    "heal": _writing(_heal),
    "distill": _distill,
    "index": _index,
    "merge": _merge,
    "canonical": _canonical,
    "record": _record,
    "verify": _verify,
    "sign": _sign,
    "view": _view,
    "record_file": _record_file,
}
"""Each call of conformance/README.md."""
