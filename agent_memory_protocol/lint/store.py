"""Rules on a memory as a whole: what cannot be read, what lies where nobody looks, and what is overdue."""

from collections.abc import Iterator, Sequence

from ..tiers.document import Document
from ..tiers.meet import Meeting
from ..values import dataclass
from .finding import ERROR, NOTE, WARNING, Remark, rule


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something in a file, or in a folder, and what is to be said of it."""

    path: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class StoreView:
    """A memory as the rules see it."""

    documents: Sequence[Document]  # the tier documents that can be read
    unreadable: Sequence[Trouble] = ()  # the files that cannot be read, and why
    twins: Sequence[Trouble] = ()  # the folders that hold the twins, and which they are
    nested: Sequence[str] = ()  # the folders inside folders of notes that hold Markdown
    # the file that says when the memory was last reviewed, and what it says; None if it is not due
    reviewed: Trouble | None = None
    elsewhere: Sequence[str] = ()  # the folders, relative to the root, in which the same project has another memory
    settings: Sequence[Trouble] = ()  # what is wrong in the project's settings
    # which entries say the opposite or have another value, the older of each two first
    disagreements: Sequence[Meeting] = ()
    local: Sequence[Trouble] = ()  # what is wrong with the local state, `.scaffolding/.amp/`
    told_twice: Sequence[Trouble] = ()  # the rules files whose entries are in memory, too


def _tell(rule_id: str, severity: str, field: str, about: str) -> None:
    """Register a rule that tells what was found where the view was made, in this field of it."""
    rule(rule_id, severity, "store", about)(
        lambda view: (Remark(one.line, one.message, path=one.path) for one in getattr(view, field))
    )


_tell("unreadable", ERROR, "unreadable", "A file cannot be read; the message says why and what to do.")
_tell(
    "store-told-twice",
    NOTE,
    "told_twice",
    "A rules file that a host loads by itself, such as CLAUDE.md, says what memory says: its agents are told "
    "twice. `amp adopt FILE --link --apply` leaves one line in it, and `amp restore` brings it back.",
)
_tell(
    "store-twins",
    ERROR,
    "twins",
    "Two folders whose names differ only by case or Unicode form: one agent, two memories. Merge them. Or a file "
    "that is called as a tier file but for its case, `memory.md`: nobody reads it.",
)
_tell(
    "store-settings",
    ERROR,
    "settings",
    "A setting that nobody knows, that cannot have this value, or that counts only in a person's own file is "
    "ignored. Where the file is not TOML, all of them are, and nothing is written until it is mended.",
)
_tell(
    "store-local",
    WARNING,
    "local",
    "What lies in `.scaffolding/.amp/` was not made by this checkout and is not believed. Or git tracks it, and a "
    "pull may replace it. Or a redaction was stopped half way. The message says what to do.",
)


@rule(
    "note-nested",
    WARNING,
    "store",
    "A folder with Markdown files inside a folder of notes. The memory folder is flat; nobody reads them.",
)
def nested(view: StoreView) -> Iterator[Remark]:
    for path in view.nested:
        yield Remark(None, "notes in a folder inside the memory folder are read by nobody; move them up", path=path)


@rule(
    "review-due",
    WARNING,
    "store",
    "The last review is more than a month ago, or the memory is older than that and never was reviewed. `amp review` "
    "lists what to look at.",
)
def review_due(view: StoreView) -> Iterator[Remark]:
    if view.reviewed is not None:
        when = view.reviewed.message
        message = f"last reviewed: {when}; `amp review` lists what to look at, `amp review --done` records it"
        yield Remark(None, message, path=view.reviewed.path)


@rule(
    "store-twice",
    WARNING,
    "store",
    "Another memory of the same project lies above or below this one, so agents started there know other things. Keep "
    "one, at the top. For a repository of several projects, `amp check --recursive` checks each and reports none here.",
)
def twice(view: StoreView) -> Iterator[Remark]:
    for folder in view.elsewhere:
        way_out = f"`amp adopt {folder}` brings it here, or set AMP_ROOT so that all share one"
        yield Remark(None, f"{folder} has a memory of its own; {way_out}")
