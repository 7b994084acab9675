"""When the memory began and when it was last reviewed: lines of one file, which travels with the repository."""

from datetime import date

from ..disk.files import Root
from ..disk.writing import append, create, make_folders, replace
from ..layout import REVIEWED
from ..text.dates import day_number
from ..tiers import store
from ..values import dataclass

_BEGUN = "begun "


@dataclass(frozen=True, slots=True)
class Reviews:
    """What is known of reviews: the day of the last one, and the day on which the memory began, None if unknown."""

    last: date | None = None
    begun: date | None = None


def read(root: Root) -> Reviews:
    """Return what the file says; of the lines that a merge may leave, the last review and the first beginning."""
    content = root.read(REVIEWED)
    lines = [] if content is None else content.data.decode("ascii", "replace").splitlines()
    begun = [day for line in lines if line.startswith(_BEGUN) and (day := _day(line.removeprefix(_BEGUN)))]
    reviewed = [day for line in lines if (day := _day(line))]
    return Reviews(max(reviewed, default=None), min(begun, default=None))


def begin(root: Root, today: date) -> None:
    """Write down that the memory began on this day, where its first document has just been made."""
    if not root.exists(REVIEWED) and len(store.list_targets(root)) == 1:
        # One write and no other file, so that nothing lies about where it is stopped half way.
        append(root, REVIEWED, f"{_BEGUN}{today.isoformat()}\n".encode(), sync=False)


def record(root: Root, today: date) -> None:
    """Write down that the memory was reviewed on this day."""
    line = f"{today.isoformat()}\n".encode()
    content = root.read(REVIEWED)
    if content is None:
        make_folders(root, REVIEWED[:-1])
        create(root, REVIEWED, line)
    else:
        replace(root, REVIEWED, line, expected=content)


def _day(text: str) -> date | None:
    day = day_number(text.strip())
    return None if day is None else date.fromordinal(day)
