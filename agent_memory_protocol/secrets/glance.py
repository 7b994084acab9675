"""One look at a text: which families of secrets can it hold? Most that agents write can hold none, which is soon said.

Each word is looked at once in a process, as the same ones come again. It loads no `re`: to load that takes as long as
all else that the guard does before a tool call.
"""

from operator import add

from .languages import labels_in_ascii, names_one, squeeze
from .table import FAMILIES, Family

SHORTEST = 15  # No secret that is known by its shape alone is shorter

READS_AS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("\u2010\u2011\u2212\u2013\u2014", "-"),
        **dict.fromkeys("→⟶➜➡", "->"),
        **dict.fromkeys("⇒⟹", "=>"),
    }
)

PIECE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_.~%:@$-")
"""What a value may be broken between."""

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159")
"""Characters without a shape that Unicode counts as letters, marks or symbols."""

_FREQUENT = (
    "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic"
    " ne ea ra ce li ch ll be ma si om ur ss us"
)
"""Pairs of letters that most words have one of: a keyword is looked up by another pair of its own."""

_KNOWN_AT_MOST = 1 << 16
_LONGEST_KNOWN = 40
_held: dict[str, tuple[tuple[str, Family | None], ...]] = {}
"""The keywords that words hold, each with its family."""
_holds_none: set[str] = set()
_by_pair: dict[str, list[tuple[str, bool, str, Family | None]]] = {}
"""By two characters of a keyword, or its only one: the piece of it to look for, whether in just that case, the keyword
and its family."""
_alone: set[str] = set()
"""The keywords that are one character."""


class _Reading(dict[int, str]):
    """How each character reads, told when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code) if 32 <= code < 127 or code in (9, 10, 13) else reads_as(chr(code))
        return self[code]


_reading = _Reading()


def may_hold_secret(text: str) -> bool:
    """Say whether a search of a text can find anything; False only when it surely cannot."""
    return keywords_in(text) != {}


def keywords_in(text: str) -> dict[Family, list[str]] | None:
    """Return the families of which a text may hold a secret, with their keywords in it; None if it could be any."""
    if not text.isascii() and names_one(squeeze(text)):
        return None
    if not (text.isascii() and text.replace("\n", "").isprintable()):
        text = text.translate(_reading)
    if "\\\n" in text or "\\\r" in text:
        return None  # where a line goes on in the next one, its words have to be put together first
    words = {*text.split()}
    joined = _joined(text)
    if joined:
        words.update(joined.split())
    words -= _holds_none
    if not words:
        return {}
    lowered = text.lower()
    squeezed = ""
    families: dict[Family, set[str]] = {}
    for keyword, family in {one for word in words for one in _held.get(word) or _look_at(word)}:
        if family is None:
            squeezed = squeezed or squeeze(text)
            if squeeze(keyword) in squeezed:
                return None
            continue
        is_there = " " not in keyword or family.within != "line" or keyword in lowered
        if is_there and (not family.also or any(one in lowered for one in family.also)):
            families.setdefault(family, set()).add(keyword)
    return {family: [word for word in family.keywords if word in held] for family, held in families.items()}


def reads_as(character: str) -> str:
    """Return how a character other than those of ASCII that print reads: "" for one that is not seen."""
    import unicodedata  # of no use to a text in ASCII

    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn") or character in _UNSEEN:
        return ""
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return ""
    read = READS_AS.get(ord(character)) or unicodedata.normalize("NFKC", character)
    return read.encode("ascii", "replace").decode()


def _look_at(word: str) -> tuple[tuple[str, Family | None], ...]:
    """Return the keywords that a word holds, each with its family, and keep that in mind."""
    if not _by_pair:
        _learn()
    read = word.replace("\\", "")
    lowered = read.lower()
    found = tuple(
        [
            (keyword, family)
            for pair in {*map(add, lowered, lowered[1:])} & _by_pair.keys() | _alone
            for piece, is_exact, keyword, family in _by_pair[pair]
            if piece in (read if is_exact else lowered)
            and (family is None or family.within != "word" or _may_be_one(family, lowered))
        ]
    )
    if len(word) <= _LONGEST_KNOWN:
        if len(_held) + len(_holds_none) > _KNOWN_AT_MOST:
            _held.clear()
            _holds_none.clear()
        if found:
            _held[word] = found
        else:
            _holds_none.add(word)
    return found


def _may_be_one(family: Family, word: str) -> bool:
    return len(word) >= family.shortest and (not family.also or any(one in word for one in family.also))


def _learn() -> None:
    """Sort the keywords of all families, and the labels in other languages, by a pair of their characters."""
    labels: list[tuple[str, Family | None]] = [(label, None) for label in labels_in_ascii()]
    for keyword, family in [*((keyword, one) for one in FAMILIES for keyword in one.keywords), *labels]:
        piece = max(keyword.split(), key=len)
        lowered = piece.lower()
        pairs = [*map(add, lowered, lowered[1:])] or [piece]
        rare = next((pair for pair in pairs if pair not in _FREQUENT), pairs[0])
        _by_pair.setdefault(rare, []).append((piece, piece != lowered, keyword, family))
    _alone.update(pair for pair in _by_pair if len(pair) == 1)


def _joined(text: str) -> str:
    """Return a text with its lines joined where a value may go on in the next one; "" if it may not."""
    found = []
    is_joined = False
    before = ""
    for line in text.splitlines():
        begin = line.lstrip(" \t>")
        # A bullet begins a text of its own.
        if before and begin and before in PIECE and begin[0] in PIECE and not (begin[0] in "-+" and begin[1:2] == " "):
            is_joined = True
            found.append(begin.rstrip(" \t"))
        else:
            found.append("\n" + line.rstrip(" \t"))
        before = found[-1][-1]
    return "".join(found) if is_joined else ""
