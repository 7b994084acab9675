"""The passages of a source as an index keeps them: their words, how large they count, and who says them.

In a dialogue entries begin with a name and a colon, `Ada: I moved to Bern.` A question that names Ada asks mostly for
what she said, and most of all for what she said of herself.
"""

import re
from collections import Counter
from collections.abc import Sequence

from ..values import dataclass
from . import words
from .names import called
from .numbered import numbered
from .port import Source

_TURNS = 3  # A name in front of so many entries of a source is a speaker's

_SPEAKER = re.compile(
    r"(?:[-*+]\s+)?(?:[\[(][^\])\n]*[\])]\s*)*(?P<bold>\*\*)?(?P<name>[^\W\d_][^:\n*`\[\](){}]{0,39}?)"
    r"(?(bold)(?::\*\*|\*\*:)|:)\s"
)
_LONGEST_NAME = 3  # Words of the longest name of a speaker

_SELF = re.compile(r"\b(?:I|me|[Mm]y|[Ww]e|us|[Oo]ur)\b")


@dataclass(frozen=True, slots=True)
class Read:
    """A passage as it was read."""

    key: str
    text: list[str]  # the tokens of its text
    context: list[str]  # those around it, who says it and what it is called; see `words.said_by` and `names`
    size: int  # the number of its tokens, with half of its neighbours'. Alone, a short passage would gain too much
    talk: bool  # whether it is a turn of a dialogue: most passages of its source are said by one of several speakers


def read(source: Source) -> tuple[list[Read], set[str]]:
    """Read a source: its passages, and the plain words in all of them."""
    spellings: set[str] = set()
    passages = list(source.read(source.key))
    texts = [words.tokens(one.text, spellings) for one in passages]
    around = [words.tokens(one.context, spellings) for one in passages]
    said = _said([one.text for one in passages])
    sizes = [len(text) for text in texts]
    talk = _is_talk(said)
    return [
        Read(
            one.key,
            text + numbered(one.text),
            context + numbered(one.context) + marks + called(one.text, one.context),
            size + (sum(sizes[max(place - 2, 0) : place + 3]) - size) // 2,
            talk,
        )
        for place, (one, text, context, marks, size) in enumerate(
            zip(passages, texts, around, said, sizes, strict=True)
        )
    ], spellings


def turns(texts: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return for each turn of a dialogue what is said, without the name in front, and its speaker's marks.

    Else texts.
    """
    said = _said(texts)
    if not _is_talk(said):
        return [(text, []) for text in texts]
    return [
        (text[found.end() :] if marks and (found := _SPEAKER.match(text)) else text, marks)
        for text, marks in zip(texts, said, strict=True)
    ]


def _is_talk(said: Sequence[Sequence[str]]) -> bool:
    return 2 * sum(map(bool, said)) > len(said) and len({marks[0] for marks in said if marks}) > 1


def _said(texts: Sequence[str]) -> list[list[str]]:
    """Return for each text what marks its speaker: once, and twice where they speak of themselves."""
    names = [_name(text) for text in texts]
    turns = Counter(names)
    return [
        [words.said_by(token) for _, token in words.read(name)] * (2 if _SELF.search(text) else 1)
        if name and turns[name] >= _TURNS
        else []
        for name, text in zip(names, texts, strict=True)
    ]


def _name(text: str) -> str:
    found = _SPEAKER.match(text)
    return found["name"] if found and len(found["name"].split()) <= _LONGEST_NAME else ""
