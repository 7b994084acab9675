"""Paths of the project that a text names in code, in sentences that take them to be there (decision 52)."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from ..values import dataclass

CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
"""Code inside a sentence, between as many backticks as open it."""

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
    "future later want wants example e g eg such sample hypothetical optional optionally"
)
_IS_MADE = "generated generates generate produces produced temporary tmp ignored untracked gitignored runtime"
_DOUBTS = frozenset(f"{_DENIES} {_TELLS_OF_THE_PAST} {_PROPOSES} {_IS_MADE}".split())
"""Words of a sentence that does not take what it names to be there now."""

_SIGNS = re.compile(r"\u2192|->|=>|\u00ac|\u274c|~~|\bif (?:it )?(?:used|present|exists|any|needed|available)\b")
"""What says the same without such a word: `a` \u2192 `b`, not (\u00ac), struck out, if it exists."""

_DONE = (
    "added|changed|converted|created|extended|extracted|fixed|implemented|improved|introduced|merged|migrated|modified|"
    "re-?applied|refactored|reworked|rewrote|split|touched|updated|wrote"
)
_TELLS_WHAT_WAS_DONE = re.compile(
    rf"^\W*(?:{_DONE})\b|`\W{{1,4}}(?:{_DONE})\b|^\W*(?:files?|code|lines?) (?:{_DONE})\b", re.IGNORECASE
)
"""A sentence of a log: it begins with what was done, or says it right behind the path."""

_OF_ANOTHER = re.compile(
    r"\b(?:another|other|separate|different|sibling|upstream) (?:repo|repository|project|checkout)\b"
)
_KEPT_AS_HISTORY = frozenset(
    f"{_TELLS_OF_THE_PAST} archive archived changelog changes history {_DONE.replace('|', ' ')}".split()
)
"""Words of a heading or label over what was so once."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A path or a function that a text names."""

    path: str  # the path as written, without what follows it; "" for a function alone
    line: int  # the line of it that is named; 0 for none
    symbol: str  # the name in it, or the function, that is named; "" for none
    at: int  # where the code span begins in the text


def mentions(text: str, above: Iterable[str] = ()) -> tuple[Mention, ...]:
    """Return what a text names in code spans, sentence by sentence.

    Passed over are sentences that deny, propose or tell what was done once, all that is under a heading or label
    (`above`) of that kind, and what is about another repository.
    """
    return _mentions(text, tuple(above)) if "`" in text else ()


@lru_cache(maxsize=1 << 15)
def _mentions(text: str, above: tuple[str, ...]) -> tuple[Mention, ...]:
    """Read a text once for all that ask what it names."""
    return tuple(_each_mention(text, above))


def _each_mention(text: str, above: tuple[str, ...]) -> Iterator[Mention]:
    if _OF_ANOTHER.search(text.lower()) or any(not _KEPT_AS_HISTORY.isdisjoint(_words(one)) for one in above):
        return
    masked = CODE_SPAN.sub(lambda span: "`" * len(span[0]), text)
    ends = [0, *(end.end() for end in _SENTENCE_END.finditer(masked)), len(masked)]
    for start, end in pairwise(ends):
        if _takes_as_there(masked[start:end]):
            for span in CODE_SPAN.finditer(text, start, end):
                found = _mention(span[2].strip(), span.start())
                if found is not None:
                    yield found


def _takes_as_there(sentence: str) -> bool:
    """Say whether a sentence takes what it names to be there now."""
    words = _words(sentence)
    if not _DOUBTS.isdisjoint(words) or any(word.endswith("n't") for word in words):
        return False
    return not (_SIGNS.search(sentence.lower()) or _TELLS_WHAT_WAS_DONE.search(sentence))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def _mention(code: str, at: int) -> Mention | None:
    if call := _CALL.fullmatch(code):
        return Mention("", 0, call[1], at)
    found = _PATH.fullmatch(code)
    if found is None or not ("/" in code or "." in found["path"]):
        return None
    return Mention(found["path"], int(found["line"] or found["hash_line"] or 0), found["symbol"] or "", at)
