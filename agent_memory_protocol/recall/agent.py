"""recall_for_agent: what an agent may know when its task starts, as one block that fits a prompt.

A hook runs this at every task start, so it reads three files, scans lines and renders. Markdown is parsed only for
a document that is not given whole, and by markdown-it only where the line scanner is not certain.
"""

from ..disk.errors import shown
from ..disk.files import Root
from ..errors import AgentMemoryError, InvalidName
from ..layout import RECORDS, Target, Tier, check_conversation_id
from ..limits import split_lines
from ..project.access import Actor, why_not_read
from ..text.placeholders import is_placeholder, may_hold_places
from ..text.visible import KEEPER, escape_line, needs_escapes, rare_bytes, without_hidden
from ..tiers import store
from ..tiers.store import TierText
from . import block
from .block import DATAMARK, NO_LIMIT, Budget, LeftOut, Part, Recall

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from datetime import date

    from ..project.settings import Settings
    from ..tiers.entries import Entry, Heading, IndexLine, Label, Outline
    from .block import RecordSource

_INDEX_BYTES = 32_768


def recall_for_agent(
    agent_name: str | None = None,
    conversation_id: str | None = None,
    *,
    root: "str | os.PathLike[str] | None" = None,
    max_lines: int | None = None,
    max_chars: int | None = None,
    max_tokens: int | None = None,
    task: str | None = None,
    today: "date | None" = None,
    environ: "Mapping[str, str] | None" = None,
) -> str:
    """Return the memory an agent starts its task with, as one block of text, or "".

    Reads the shared document always, the agent's own when `agent_name` is given, the conversation's when
    `conversation_id` is given, in that order, and then the project's records. Nothing on disk is created or changed.

    Args:
        agent_name: who starts the task; `plugin:agent` means `agent`.
        conversation_id: the conversation the task belongs to.
        root: the project root; by default it is found from the current folder.
        max_lines: the most lines of one document; by default the setting `limits.max_lines`, else 200.
        max_chars: the most characters of the whole block; by default the setting `recall.max_chars`, else no bound.
        max_tokens: the most tokens of the whole block, estimated as UTF-8 bytes / 4.
        task: what the agent is to do, in words. Where not everything fits, the entries that share most words with it
            are kept, rare words before common ones; where everything does, it changes nothing.
        today: the local calendar date; the clock's by default. An entry marked `[until D]` is recalled up to that day.
        environ: the environment to read `AMP_ROOT`, `AMP_DISABLE` and the home folder from; by default the process's.

    Raises:
        InvalidArgument: a bound is not a number. Below 1, it leaves no room, and the block is empty.
        InvalidName: a name breaks the name rule. Nothing that is on disk raises: a document that cannot be read
            becomes one stated line in the block.
    """
    actor = Actor(agent_name, conversation_id)
    budget = Budget(max_lines=max_lines, max_chars=max_chars, max_tokens=max_tokens)
    return recall_here(actor, budget, root=root, task=task, today=today, environ=environ).text


def recall_here(
    actor: Actor,
    budget: Budget,
    *,
    root: "str | os.PathLike[str] | None" = None,
    task: str | None = None,
    today: "date | None" = None,
    records: "RecordSource | None" = None,
    environ: "Mapping[str, str] | None" = None,
    counts: bool = True,
) -> Recall:
    """Find the project and recall what this actor may read in it; `counts` is for whether it counts as use."""
    from ..project.root import find_root
    from ..project.settings import is_disabled, load_settings

    if is_disabled(environ):
        return Recall("", [], [])
    try:
        found = find_root(explicit=root, environ=environ)
        if found.missing:
            return Recall("", [], [f"{shown(found.path)} does not exist; name the folder of a project"])
        with Root.open(found.path) as opened:
            settings = load_settings(opened, environ)
            opened.external_links = settings.external_links
            if settings.strict_conversation_ids and actor.conversation is not None:
                check_conversation_id(actor.conversation, strict=True)
            recalled = recall(opened, settings, actor, budget, task=task, today=today, records=records)
            if counts and settings.count:
                from .use import count_recalled

                count_recalled(opened, recalled)
    except InvalidName:
        raise
    except (AgentMemoryError, OSError) as error:
        return unreadable(error, budget)
    if found.problem:
        recalled.warnings.append(found.problem)
    return recalled


def unreadable(error: Exception, budget: Budget) -> Recall:
    """Return a block that says why there is no memory in it: the project cannot be found or opened."""
    parts = [Part(Target(Tier.SHARED), _problem_line(error), problem=str(error))]
    return Recall(block.render(parts, budget), parts, [])


def recall(
    root: Root,
    settings: "Settings",
    actor: Actor,
    budget: Budget,
    *,
    task: str | None = None,
    today: "date | None" = None,
    records: "RecordSource | None" = None,
) -> Recall:
    """Recall what this actor may read, within the budget. Never raises on what is on disk."""
    return recall_drafts(root, settings, actor, budget, task=task, today=today, records=records)[0]


def recall_drafts(
    root: Root,
    settings: "Settings",
    actor: Actor,
    budget: Budget,
    *,
    task: str | None = None,
    today: "date | None" = None,
    records: "RecordSource | None" = None,
) -> "tuple[Recall, list[Draft]]":
    """Do as `recall` does, and return the documents that it has read, too."""
    if not settings.enabled:
        return Recall("", [], list(settings.problems)), []
    budget = budget.with_default(settings.max_chars)
    try:
        if records is None and not root.exists(RECORDS):
            return _documents(root, settings, actor, budget, task, today)
        from . import records as of_records

        source = records or of_records.of_project(root, today)
        found = source.find(task)
    except (AgentMemoryError, OSError) as error:
        recalled, drafts = _documents(root, settings, actor, budget, task, today)
        if str(error) not in recalled.warnings:  # what keeps documents from being read is said once
            recalled.warnings.append(f"the records are not recalled: {error}")
        return recalled, drafts
    return of_records.beside(
        lambda left: _documents(root, settings, actor, left, task, today), found, source.path, settings, budget, actor
    )


def _documents(
    root: Root, settings: "Settings", actor: Actor, budget: Budget, task: str | None, today: "date | None"
) -> "tuple[Recall, list[Draft]]":
    """Recall the documents that this actor may read."""
    warnings = list(settings.problems)
    drafts = []
    for target in targets_of(actor, settings):
        if why_not_read(actor, target, settings.readers_of_all) is not None:
            continue
        draft = _draft(root, target, settings, warnings)
        if draft is not None:
            draft.asked_day = today
            drafts.append(draft)
    _find_expired(root, [draft for draft in drafts if draft.may_end], today)
    max_lines = settings.max_lines if budget.max_lines is None else budget.max_lines
    if min(max_lines, budget.characters, budget.bytes) < 1:
        return Recall("", [], warnings), []
    parts = [draft.part for draft in drafts]
    over = [draft for draft in drafts if draft.is_over(max_lines, settings.max_bytes)]
    if task is not None and (over or not block.render(parts, budget)):
        weigh(drafts, task)
    if over and not budget.bounded:
        for draft in over:
            draft.refit(max_lines, settings.max_bytes, NO_LIMIT, draft.command(actor, budget))
    text = "" if over and budget.bounded else block.render(parts, budget)
    if drafts and not text:
        if not _share(drafts, budget, actor, max_lines, settings.max_bytes):
            return Recall(
                "", [], [*warnings, "the budget is too small for the block's frame and its notes; make it larger"]
            ), []
        text = block.render(parts, budget)
    return Recall(text, parts if text else [], warnings), drafts


def weigh(drafts: "Sequence[Draft]", task: str, *, only_fitting: bool = False) -> None:
    """Note how well each entry fits a task, with its headings and label; `only_fitting` gives 0 to a poor fit."""
    from . import fit
    from .task import fitting, scores

    found = [
        (draft, unit.start, fit.with_context(lines, outline, unit))
        for draft in drafts
        if draft.is_read
        for lines, outline in [draft.read()]
        for unit in fit.told_units(lines, outline)
    ]
    weighed = (fitting if only_fitting else scores)(task, [text for _, _, text in found])
    for draft in drafts:
        draft.scores = {start: score for (other, start, _), score in zip(found, weighed, strict=True) if other is draft}


def targets_of(actor: Actor, settings: "Settings") -> list[Target]:
    """Return the documents recall reads for an actor, in their order: shared, agent, conversation."""
    return [target for target in actor.targets() if settings.has_tier(target.tier)]


class Draft:
    """A document on its way into the block: its rendered text, and what is needed to make that shorter."""

    __slots__ = (
        "_read",
        "asked_day",
        "escapes",
        "gap",
        "has_ends",
        "has_expired",
        "is_read",
        "left_out",
        "mark",
        "may_end",
        "overflow",
        "part",
        "removed",
        "scores",
        "text",
        "today",
        "unread_lines",
    )

    def __init__(self, part: Part, source: TierText | None, text: str, removed: list[int]) -> None:
        self.part = part
        self.is_read = source is not None
        self.gap = None if source is None else source.gap
        self.text = text
        """The text after hidden parts were taken out, before escaping, without its last line end."""
        self.removed = removed
        """The lines of the source, from 0, that went whole."""
        self.escapes = False
        """Whether any line of the text needs escapes."""
        self.mark = ""
        self.overflow = "entries"
        self.scores: dict[int, float] | None = None
        """How well each entry fits the task, by its first line; None if there is no task."""
        self.left_out: list[Entry | IndexLine] = []
        """The entries and index lines that were left out."""
        self.asked_day: date | None = None
        """The day that the caller has named."""
        self.today = 0
        """The day it is recalled for, as an ordinal; 0 where no entry can have expired."""
        self.may_end = False
        """Whether an entry of it may have expired, for all that a quick look tells."""
        self.has_ends = False
        """Whether one has an end, so that another day may leave out others."""
        self.has_expired = False
        """Whether one has, so that it cannot be given whole."""
        self._read: tuple[list[str], Outline] | None = None
        self.unread_lines = 0
        """How many lines of the file were not read, because it is huge."""
        if source is not None and source.gap is not None:
            self.unread_lines = source.lines - len(split_lines(source.text))

    def command(self, actor: Actor, budget: Budget) -> str:
        """Return the command that shows what is left out of this document."""
        if budget.shown_by:
            return budget.shown_by
        target = self.part.target
        words = ["amp show", target.tier.value]
        words += [f"--as {actor.agent}"] if actor.agent else []
        if actor.conversation and (budget.bounded or target.tier is Tier.CONVERSATION):
            words.append(Tier.CONVERSATION.option(actor.conversation))
        if self.asked_day is not None and self.has_ends:
            words.append(f"--today {self.asked_day}")
        if self.scores is not None:
            return " ".join(words)  # what a task leaves out is told apart by the task alone
        for option in ("max_lines", "max_chars", "max_tokens"):
            value = getattr(budget, option)
            if value is not None:
                words.append(f"--{option.replace('_', '-')} {value}")
        return " ".join([*words, "--left-out"])

    def read(self) -> "tuple[list[str], Outline]":
        """Return the document's rendered lines and its outline."""
        if self._read is None:
            from ..tiers import entries

            lines = self.text.split("\n")
            self._read = [escape_line(line) for line in lines] if self.escapes else lines, entries.read(lines)
        return self._read

    @property
    def size(self) -> int:
        """The bytes it takes in the block."""
        return len(self.part.data)

    def is_over(self, max_lines: int, max_bytes: int) -> bool:
        """Say whether the document cannot be given whole: it passes the limits of one file, or has expired in part."""
        over = self.part.lines > max_lines or self.size > max_bytes or self.unread_lines > 0
        return self.is_read and (over or self.has_expired)

    def refit(self, max_lines: int, max_bytes: int, max_characters: int, command: str) -> None:
        """Make the part as short as asked, by leaving out whole entries."""
        from . import fit, sheet

        if not self.is_read:
            return
        rendered, found = self.read()
        room = sheet.Room(max_lines, max_bytes, max_characters, prefix=len(self.mark))
        if self.overflow == "head":
            fitted = fit.head(rendered, found, room, command, self.unread_lines, today=self.today)
        else:
            fitted = fit.fit(rendered, found, room, command, self.unread_lines, self.scores, today=self.today)
        self.left_out = fitted.left_out
        body = "\n".join(self.mark + line for line in fitted.lines)
        cut = fitted.cut is not None
        self.part.shorten(body, len(fitted.lines), cut=cut, left_out=lambda: self._left_out(fitted.left_out))

    def _left_out(self, units: "list[Entry | IndexLine]") -> list[LeftOut]:
        from ..text.dates import day_text
        from ..tiers import entries

        lines, outline = self.read()
        found = []
        for unit in units:
            day = getattr(unit, "day", None)
            date = "" if day is None else day_text(day)
            label = outline.labels[unit.label] if unit.label is not None else None
            above: list[Heading | Label | Entry] = [outline.headings[index] for index in unit.headings if index]
            above += [label] if label else []
            said = [line for one in (*above, unit) for line in lines[one.start : one.end]]
            above += entries.notes_of(lines, outline, said)
            context = [self._number(number) for one in above for number in range(one.start, one.end)]
            one = LeftOut(self._number(unit.start), self._number(unit.end - 1), date, lines[unit.start].strip(" \t"))
            one.label, one.context = label.text if label else "", context
            found.append(one)
        return found

    def _number(self, line: int) -> int:
        """Return the line of the file, from 1, that a line of the text comes from."""
        for number in self.removed:
            line += number <= line
        skipped = 0 if self.gap is None or line < self.gap else self.unread_lines
        return line + skipped + 1


def _draft(root: Root, target: Target, settings: "Settings", warnings: list[str]) -> Draft | None:
    """Read one document and render it whole; None if it has nothing to recall."""
    try:
        source = store.read(root, target)
        if source is None:
            return None
        if target.tier.has_notes and "(INDEX.md" not in source.text:
            source = _with_notes_beside(root, source, warnings)
        found = source.rendered.get(settings.datamark)
        if not isinstance(found, _Rendered):
            before = source.before.rendered.get(settings.datamark) if source.before is not None else None
            mark = DATAMARK if settings.datamark else ""
            found = _Rendered(source, mark, before if isinstance(before, _Rendered) else None)
            source.rendered[settings.datamark], source.before = found, None
    except (AgentMemoryError, OSError) as error:
        return Draft(Part(target, _problem_line(error), problem=str(error)), None, "", [])
    if found.has_conflict:
        warnings.append(f"{source.target.path} holds merge conflict markers; both sides are recalled")
    if not found.says_something:
        return None
    part = Part(source.target, found.body, data=found.data, lines=found.lines, lines_in_file=source.lines)
    draft = Draft(part, source, found.text, found.removed)
    draft.escapes = found.escapes
    draft.mark = DATAMARK if settings.datamark else ""
    draft.overflow = settings.overflow
    draft.may_end = found.may_end
    return draft


class _Rendered:
    """What a document is in the block, whole: the same for the same bytes, so that it is made once."""

    __slots__ = (
        "body",
        "data",
        "escapes",
        "has_conflict",
        "lines",
        "may_end",
        "removed",
        "says_something",
        "text",
    )

    def __init__(self, source: TierText, mark: str, before: "_Rendered | None" = None) -> None:
        text, self.removed = injected_text(source.text, source.rare)
        self.has_conflict = b"<<<<<<<" in source.rare and _has_conflict(text)
        text = text.removesuffix("\n")
        self.says_something = _says_something(text)
        if self.says_something and may_hold_places(text, source.rare):
            text, self.removed = _without_placeholders(text, self.removed)
        self.text = body = text
        new, rare = self._new(source, before)
        self.escapes = needs_escapes(new, rare)
        if self.escapes:
            body = "\n".join([escape_line(line) for line in text.split("\n")])
        self.body = mark + body.replace("\n", "\n" + mark) if mark else body
        self.data = self.body.encode()
        self.lines = source.lines - len(self.removed)
        self.may_end = _may_end(new, rare)

    def _new(self, source: TierText, before: "_Rendered | None") -> tuple[str, bytes]:
        """Return the part of its text that has to be looked at, and what is rare in it: what was not looked at before.

        That is the whole where not all before that part is as it was, or may need escapes or end.
        """
        earlier = source.before
        if before is None or earlier is None or before.escapes or before.may_end:
            return self.text, source.rare
        end = earlier.data[source.same :].decode().replace("\r\n", "\n").removesuffix("\n")
        start = len(before.text) - len(end)
        if not before.text.endswith(end) or before.text[:start] != self.text[:start]:
            return self.text, source.rare
        return self.text[start:], rare_bytes(source.data[source.same :])


def _with_notes_beside(root: Root, source: TierText, warnings: list[str]) -> TierText:
    """Return a document with a last line that names the notes which its index has no room for, if there are any."""
    try:
        start = root.read_start((*source.target.parts[:-1], "INDEX.md"), _INDEX_BYTES)
    except AgentMemoryError as error:
        warnings.append(f"the notes beside {source.target.path} are not named: {error}")
        return source
    if not start:
        return source
    from ..notes import index

    line = index.told(start.decode("utf-8", "ignore"))
    if not line:
        return source
    data = source.data.rstrip(b"\r\n") + f"\n\n{line}\n".encode()
    text = f"{source.text.rstrip(chr(10))}\n\n{line}\n"
    return TierText(source.target, data, text, lines=source.lines, gap=source.gap)


def injected_text(text: str, rare: bytes | None = None) -> tuple[str, list[int]]:
    """Return what of a document a reader sees, without front matter, and which lines went whole (decision 16)."""
    skipped = 0
    if text.startswith("---"):
        from ..text.headers import front_matter_end

        lines = text.split("\n")
        skipped = front_matter_end(lines)
        text = "\n".join(lines[skipped:])
    text, removed = without_hidden(text, rare)
    if skipped:
        removed = [*range(skipped), *(number + skipped for number in removed)]
    return text, removed


def _says_something(text: str) -> bool:
    """Say whether a document has more than headings, blanks and placeholders such as "(none yet)"."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].strip(" \t")
        if line and text[start] != "#" and line != KEEPER and not is_placeholder(line):
            return True
        start = end + 1
    return False


def _without_placeholders(text: str, removed: list[int]) -> tuple[str, list[int]]:
    """Take out what is only “(none yet)” or the like between blank lines, with one of these. It says nothing."""
    from ..tiers import entries

    lines = text.split("\n")
    blank = [not line.strip(" \t") for line in ["", *lines, ""]]
    places = {
        entry.start
        for entry in entries.read(lines).entries
        if entry.holds_place(lines) and blank[entry.start] and blank[entry.start + 2]
    }
    if not places:
        return text, removed
    kept: list[int] = []
    for number, line in enumerate(lines):
        is_blank = not line.strip(" \t")
        is_doubled = is_blank and number - 1 in places and (not kept or not lines[kept[-1]].strip(" \t"))
        if number not in places and not is_doubled:
            kept.append(number)
    while kept and not lines[kept[-1]].strip(" \t"):
        kept.pop()
    gone = {*range(len(lines))}.difference(kept)
    hidden = {*removed}
    source = [number for number in range(len(lines) + len(hidden)) if number not in hidden]
    return "\n".join([lines[number] for number in kept]), sorted([*removed, *(source[number] for number in gone)])


def _may_end(text: str, rare: bytes) -> bool:
    """Say, quickly, whether an entry of a document may be marked `[until D]`.

    `rare` is what `rare_bytes` gave for it.
    """
    return (b"[u ]" in rare or b"[U ]" in rare or b"[UNTI ]" in rare) and "[until " in text.lower()


def _find_expired(root: Root, drafts: list[Draft], today: "date | None") -> None:
    """Find out whether entries of these have expired. The clock is read for no others."""
    if not drafts:
        return
    from time import strftime

    from ..text.dates import day_number

    day = (day_number(strftime("%Y-%m-%d")) or 0) if today is None else today.toordinal()
    for draft in drafts:
        draft.today = day
        near = [one for one in draft.read()[1].entries if one.marks.until in (day - 1, day, day + 1)]
        if near and today is None:
            _go_by_moments(root, draft, near)
        draft.has_ends = any(entry.marks.until is not None for entry in draft.read()[1].entries)
        draft.has_expired = any(entry.is_expired(day) for entry in draft.read()[1].entries)


def _go_by_moments(root: Root, draft: Draft, entries: "list[Entry]") -> None:
    """Have entries end at the moments that the ledger knows of them, where it can be read."""
    from datetime import UTC, datetime

    from .ends import go_by_moments

    try:
        lines = draft.text.split("\n")
        go_by_moments(root, draft.part.target, lines, entries, draft.today, datetime.now(UTC))
    except (AgentMemoryError, OSError):
        return  # the marks say enough


def _has_conflict(text: str) -> bool:
    from ..text import markers

    return markers.conflict_line(text.split("\n")) is not None


def _share(drafts: list[Draft], budget: Budget, actor: Actor, max_lines: int, max_bytes: int) -> bool:
    """Fit the parts into the block's budget, each with a fair share; say whether frame and notes fit."""
    from . import fit

    frame = block.frame(draft.part for draft in drafts)
    room_bytes = budget.bytes - len(frame.encode())
    room_characters = budget.characters - len(frame)
    floors = []
    for draft in drafts:
        if not draft.is_read:
            floors.append(draft.size)
            continue
        told = fit.told_units(*draft.read())
        note = fit.omission_line(told, draft.command(actor, budget), unread_lines=draft.unread_lines, today=draft.today)
        floor = len(note.encode()) + len(draft.mark)
        floors.append(floor if draft.is_over(max_lines, max_bytes) else min(draft.size, floor))
    if sum(floors) > min(room_bytes, room_characters):
        return False
    # Smallest first: what it leaves of its share goes to those after it.
    order = sorted(range(len(drafts)), key=lambda index: (min(drafts[index].size, max_bytes), index))
    for position, index in enumerate(order):
        draft = drafts[index]
        waiting = order[position + 1 :]
        kept_back = sum(floors[later] for later in waiting)
        share_bytes = max(floors[index], min(room_bytes // (len(waiting) + 1), room_bytes - kept_back))
        share_characters = max(floors[index], min(room_characters // (len(waiting) + 1), room_characters - kept_back))
        over_share = draft.size > share_bytes or len(draft.part.body) > share_characters
        if over_share or draft.is_over(max_lines, max_bytes):
            draft.refit(max_lines, min(max_bytes, share_bytes), share_characters, draft.command(actor, budget))
        room_bytes -= draft.size
        room_characters -= len(draft.part.body)
    return True


def _problem_line(error: Exception) -> str:
    return escape_line(f"(not read: {' '.join(str(error).split())})")
