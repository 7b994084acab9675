"""The block: the parts that documents contribute, the budget that bounds them, and the text that frames them.

What one part says is data. Its id is made from the content, so that no content can write the closing marker.
"""

from ..errors import InvalidArgument
from ..layout import Target
from ..text.digest import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..records.rank import Recalled, RecalledRecord

FRAMING = (
    "This repository's agents wrote these notes earlier. "
    "They are reference data about the project; they may be out of date."
)
NO_LIMIT = 1 << 60
DATAMARK = "| "  # What is in front of each line where the settings ask that data be marked as data


class LeftOut:
    """An entry or index line that recall left out: its lines in the file (from 1, both inclusive), date and text."""

    __slots__ = ("context", "date", "first_line", "label", "last_line", "text")

    def __init__(self, first_line: int, last_line: int, date: str, text: str) -> None:
        self.first_line = first_line
        self.last_line = last_line
        self.date = date
        """`YYYY-MM-DD`, or "" for an undated one."""
        self.text = text
        """Its first line, as recall would show it."""
        self.label = ""
        """The label that governs it, "" if none does."""
        self.context: list[int] = []
        """The lines of the file, from 1, of the headings and the label that govern it; the title is left out."""

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {
            "line": self.first_line,
            "last_line": self.last_line,
            "date": self.date or None,
            "label": self.label,
            "text": self.text,
        }


class Share:
    """What one store of memory contributes to the block.

    Attributes:
        data: the same as UTF-8, which is what is counted and hashed.
        lines: how many lines of it are in the block, the omission line included.
    """

    __slots__ = ("body", "data", "lines")

    def __init__(self, body: str, lines: int, data: bytes | None = None) -> None:
        self.body = body
        self.data = body.encode() if data is None else data
        self.lines = lines

    @property
    def opening(self) -> str:
        """The tag that opens it in the block."""
        raise NotImplementedError


class Part(Share):
    """What one document contributes to the block.

    Attributes:
        lines_in_file: how many lines the file has.
        cut: whether an entry, or the end of the file, is shown in part.
        problem: why the document could not be read; "" when it was.
    """

    __slots__ = ("_find_left_out", "cut", "lines_in_file", "problem", "target")

    def __init__(
        self,
        target: Target,
        body: str,
        *,
        data: bytes | None = None,
        lines: int = 0,
        lines_in_file: int = 0,
        problem: str = "",
    ) -> None:
        super().__init__(body, lines, data)
        self.target = target
        self.lines_in_file = lines_in_file
        self.cut = False
        self._find_left_out: Callable[[], list[LeftOut]] = list
        self.problem = problem

    @property
    def left_out(self) -> list[LeftOut]:
        """What was left out whole, in file order."""
        return self._find_left_out()

    def shorten(self, body: str, lines: int, *, cut: bool, left_out: "Callable[[], list[LeftOut]]") -> None:
        """Replace the body by a shorter one. Few callers ask what was left out, so it is found only then."""
        self.body = body
        self.data = body.encode()
        self.lines = lines
        self.cut = cut
        self._find_left_out = left_out

    @property
    def opening(self) -> str:
        """The tag that opens the part in the block."""
        owner = f' {self.target.tier.owner}="{self.target.owner}"' if self.target.owner else ""
        lines = f"{self.lines} of {self.lines_in_file}" if self.lines < self.lines_in_file else str(self.lines)
        return f'<memory tier="{self.target.tier}"{owner} path="{self.target.path}" lines="{lines}">'

    def to_json(self) -> dict[str, object]:
        """Return what is said about the part in a JSON answer; its text is in that of the block."""
        return {
            **self.target.to_json(),
            "lines": self.lines,
            "lines_in_file": self.lines_in_file,
            "cut": self.cut,
            "problem": self.problem or None,
            "left_out": [one.to_json() for one in self.left_out],
        }


class RecordSource:
    """Where records come from.

    Attributes:
        path: their folder, as people name it.
        find: returns those that fit a task, best first; without a task, those that are worth most.
    """

    __slots__ = ("find", "path")

    def __init__(self, path: str, find: "Callable[[str | None], Recalled]") -> None:
        self.path = path
        self.find = find


class RecordsPart(Share):
    """What the records contribute to the block.

    Attributes:
        number: how many there are.
    """

    __slots__ = ("hits", "number", "path")

    def __init__(self, path: str, lines: list[str], hits: "list[RecalledRecord]", number: int) -> None:
        super().__init__("\n".join(lines), len(lines))
        self.path = path
        self.hits = hits
        self.number = number

    @property
    def opening(self) -> str:
        """The tag that opens the part in the block."""
        shown = f"{len(self.hits)} of {self.number}" if len(self.hits) < self.number else str(self.number)
        return f'<memory kind="records" path="{self.path}" records="{shown}">'

    @property
    def frame(self) -> str:
        """What is around its text, as wide as it can become."""
        return f'\n<memory kind="records" path="{self.path}" records="{self.number} of {self.number}">\n\n</memory>'

    def to_json(self) -> list[dict[str, object]]:
        """Return the records in it as they are in a JSON answer."""
        return [hit.to_json() for hit in self.hits]


class Recall:
    """The block, and what is in it.

    Attributes:
        text: the block; "" when there is nothing to recall. `str(recall)` is the same.
        parts: one for each document that is in the block, in its order.
        warnings: what a person should know: settings that could not be read, merge conflicts in a file.
        records: what of it comes from the records; None without any.
    """

    __slots__ = ("parts", "records", "text", "warnings")

    def __init__(self, text: str, parts: list[Part], warnings: list[str], records: "RecordsPart | None" = None) -> None:
        self.text = text
        self.parts = parts
        self.warnings = warnings
        self.records = records

    @property
    def left_out(self) -> list[LeftOut]:
        """Everything that was left out, of all parts."""
        return [left_out for part in self.parts for left_out in part.left_out]

    def to_json(self) -> dict[str, object]:
        """Return the JSON answer."""
        return {
            "text": self.text,
            "parts": [part.to_json() for part in self.parts],
            "records": [] if self.records is None else self.records.to_json(),
            "warnings": [*self.warnings],
        }

    def __str__(self) -> str:
        return self.text


class Budget:
    """What the whole block may take, markers included; None: no such bound. Tokens are bytes / 4, rounded up.

    `shown_by` is what shows its reader what is left out; "" for a command line.
    """

    __slots__ = ("bytes", "characters", "max_chars", "max_lines", "max_tokens", "shown_by")

    def __init__(
        self,
        *,
        max_lines: int | None = None,
        max_chars: int | None = None,
        max_bytes: int | None = None,
        max_tokens: int | None = None,
        shown_by: str = "",
    ) -> None:
        for bound in (max_lines, max_chars, max_bytes, max_tokens):
            if not (bound is None or isinstance(bound, int)):
                raise InvalidArgument(f"a bound of recall is a whole number or None, not {bound!a}")
        self.shown_by = shown_by
        self.max_lines = max_lines
        self.max_chars = max_chars
        self.max_tokens = max_tokens
        self.characters = NO_LIMIT if max_chars is None else max_chars
        self.bytes = min(
            NO_LIMIT if max_bytes is None else max_bytes, NO_LIMIT if max_tokens is None else 4 * max_tokens
        )

    def with_default(self, max_chars: int | None) -> "Budget":
        """Return the budget with the bound on characters that the settings give, where the caller gave none."""
        if max_chars is None or self.max_chars is not None:
            return self
        budget = Budget(max_lines=self.max_lines, max_chars=max_chars, max_tokens=self.max_tokens)
        budget.bytes, budget.shown_by = self.bytes, self.shown_by
        return budget

    def less(self, size: int) -> "Budget":
        """Return the budget without so many bytes; asked again, it has the bounds that the caller gave."""
        budget = Budget(max_lines=self.max_lines, max_chars=self.max_chars, max_tokens=self.max_tokens)
        budget.characters = self.characters if self.characters == NO_LIMIT else self.characters - size
        budget.bytes = self.bytes if self.bytes == NO_LIMIT else self.bytes - size
        return budget

    @property
    def bounded(self) -> bool:
        """Whether the block as a whole has a bound."""
        return self.characters < NO_LIMIT or self.bytes < NO_LIMIT

    def holds(self, text: str) -> bool:
        """Say whether a block fits."""
        return len(text) <= self.characters and (
            self.bytes == NO_LIMIT or (len(text) if text.isascii() else len(text.encode())) <= self.bytes
        )


def frame(parts: "Iterable[Part]") -> str:
    """Return the block as it would be with every part's text taken out, its tags as wide as they can become."""
    pieces = [_opening("0" * 16), FRAMING]
    for part in parts:
        widest = Part(part.target, "", lines=max(part.lines_in_file - 1, 0), lines_in_file=part.lines_in_file)
        pieces += [widest.opening, "", "</memory>"]
    return "\n".join([*pieces, _closing("0" * 16)])


def render(parts: "Sequence[Share]", budget: Budget) -> str:
    """Render the block; "" when there is no part, or when it does not fit."""
    if not parts:
        return ""
    # An id made from the text cannot be written into the text beforehand, so no entry can forge the closing marker.
    digest = blake2b()
    pieces = [FRAMING]
    for part in parts:
        opening = part.opening
        digest.update(opening.encode())
        digest.update(part.data)
        pieces += [opening, part.body, "</memory>"]
    name = digest.hexdigest()[:16]
    text = "\n".join([_opening(name), *pieces, _closing(name)])
    return text if budget.holds(text) else ""


def _opening(name: str) -> str:
    return f'<agent-memory id="{name}">'


def _closing(name: str) -> str:
    return f'</agent-memory id="{name}">'
