"""Paths of the project that a text names in code, in sentences that take them to be there (decision 52)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_PATH = re.compile(
    r"(?:\./)?(?P<path>(?:[\w@+-][\w.@+-]*/|\.[\w@+-]+/)*(?:[\w@+-][\w.@+-]*|\.\w[\w.-]*))/?"
    r"(?::(?P<line>\d{1,6})(?:[-:]\d+)?|#L(?P<hash_line>\d{1,6})(?:-L?\d+)?|(?:#|::)(?P<symbol>\w+)(?:\(\))?)?"
)
_CALL = re.compile(r"(?:\w+\.)*(\w{3,})\(\)")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n[ \t]*\n|\n[ \t]*(?:[-*+]|\d+[.)])[ \t]")
_WORD = re.compile(r"[a-z]+(?:'t)?")
_DENIES = "not no never none nor cannot without avoid forbidden forbid instead rather nothing neither unlike stop"
_TELLS_OF_THE_PAST = (
    "removed remove removes removing deleted delete deletes gone dropped was were former formerly legacy previous "
    "previously renamed moved replaced replaces deprecated retired missing obsolete longer"
)
_PROPOSES = (
    "create creates created add adding new should would could might plan planned plans propose proposed proposal todo "
    "future later want wants example e g eg such sample hypothetical"
)
_IS_MADE = "generated generates generate produces produced temporary tmp ignored untracked gitignored runtime"
_DOUBTS = frozenset(f"{_DENIES} {_TELLS_OF_THE_PAST} {_PROPOSES} {_IS_MADE}".split())
"""Words of a sentence that does not take what it names to be there now."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A path or a function that a text names.

    Attributes:
        path: the path as written, without what follows it; "" for a function alone.
        line: the line of it that is named; 0 for none.
        symbol: the name in it, or the function, that is named; "" for none.
        at: where the code span begins in the text.
    """

    path: str
    line: int
    symbol: str
    at: int


def mentions(text: str) -> Iterator[Mention]:
    """Yield what a text names in code spans, sentence by sentence; sentences that deny or propose are passed over."""
    masked = _SPAN.sub(lambda span: "`" * len(span[0]), text)
    ends = [0, *(end.end() for end in _SENTENCE_END.finditer(masked)), len(masked)]
    for start, end in pairwise(ends):
        words = _WORD.findall(masked[start:end].lower().replace("\u2019", "'"))
        if _DOUBTS.isdisjoint(words) and not any(word.endswith("n't") for word in words):
            for span in _SPAN.finditer(text, start, end):
                found = _mention(span[2].strip(), span.start())
                if found is not None:
                    yield found


def _mention(code: str, at: int) -> Mention | None:
    if call := _CALL.fullmatch(code):
        return Mention("", 0, call[1], at)
    found = _PATH.fullmatch(code)
    if found is None or not ("/" in code or "." in found["path"]):
        return None
    return Mention(found["path"], int(found["line"] or found["hash_line"] or 0), found["symbol"] or "", at)
