"""What Chinese, Japanese and Korean sentences assert and deny, told by the signs and endings that say “not”.

Two sentences that are equal but for such a sign deny each other; nothing else is told.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from unicodedata import normalize

_LETTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CHINESE = re.compile("\u4e0d\u518d|\u4ece\u4e0d|\u6ca1\u6709|\u5e76\u4e0d|\u4e0d|\u672a|\u52ff|\u6c92\u6709|\u6ca1")
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_STAYS = re.compile("\u307e\u3060|\u3082\u3046|\u6c7a\u3057\u3066|\ub354 \uc774\uc0c1 |\uacb0\ucf54 |\uc544\uc9c1 ")
"""Still, no longer, never: words that come with a denial or with what it denies."""
_ROWS = dict(zip("わかがさたなばまら", "うくぐすつぬぶむる", strict=True))
_JAPANESE = (
    ("ではありません", "です"),
    ("ではない", "だ"),
    ("ません", "ます"),
    ("ないでください", "てください"),
    ("しない", "する"),
    ("こない", "くる"),
)
_KOREAN = (
    ("지 마세요", "세요"),
    ("수 없습니다", "수 있습니다"),
    ("수 없다", "수 있다"),
    ("이 아닙니다", "입니다"),
    ("이 아니다", "이다"),
)
_KOREAN_VERB = re.compile("지 않(습니다|는다|다|아요)")
_OPEN_ENDS = {"습니다": "\u11b8니다", "는다": "\u11ab다", "다": "다", "아요": "요"}
_NIEUN, _FIRST_FINAL, _LAST_FINAL = "\u11ab", "\u11a8", "\u11c2"


def is_written_in(text: str) -> bool:
    """Say whether a text has letters of these scripts, so that its words may have no blanks between them."""
    return not text.isascii() and _LETTERS.search(text) is not None


def denials(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of each two texts of which the first denies what the second says."""
    found: defaultdict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for place, text in enumerate(texts):
        if is_written_in(text) and not text.rstrip().endswith(("?", "\uff1f")):
            said, denied = _asserted(text)
            found[said][denied].append(place)
    for asserting, denying in found.values():
        yield from ((one, other) for one in denying for other in asserting)


def _asserted(text: str) -> tuple[str, bool]:
    """Return what a text says or denies, and whether it denies it."""
    plain = _STAYS.sub("", normalize("NFC", text).strip(" \u3002.!\uff01*_`"))
    if _HANGUL.search(plain):
        said, count = _replaced(plain, _KOREAN)
        said, more = _KOREAN_VERB.subn(_korean_verb, normalize("NFC", said))
        said, count = normalize("NFD", said), count + more
    elif _KANA.search(plain):
        said, count = _replaced(plain, _JAPANESE)
        if not count:
            said, count = _japanese_verb(plain)
    else:
        said, count = _CHINESE.subn("", plain)
    return "".join(said.split()).casefold(), count % 2 == 1


def _replaced(text: str, pairs: Sequence[tuple[str, str]]) -> tuple[str, int]:
    for denied, said in pairs:
        if denied in text:
            return text.replace(denied, said), text.count(denied)
    return text, 0


def _japanese_verb(text: str) -> tuple[str, int]:
    if not text.endswith("ない") or len(text) < len("xない"):
        return text, 0
    stem = text[:-2]
    return (stem[:-1] + _ROWS[stem[-1]] if stem[-1] in _ROWS else f"{stem}る"), 1


def _korean_verb(found: re.Match[str]) -> str:
    before = normalize("NFD", found.string[: found.start()])
    is_closed = _FIRST_FINAL <= before[-1:] <= _LAST_FINAL
    return found[1] if is_closed else _OPEN_ENDS[found[1]]
