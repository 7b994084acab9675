"""Find what must never be written into memory, and say so without repeating it.

A token in a memory file is a token in every context, backup and clone that the file reaches. So a text is refused
before its first byte is written. The message says what kind of secret the text holds and where, never the secret.
Each finding has a fingerprint. A project allows by it what only looks like a secret, where reviewers see it
(docs/protocol.md, decision 26).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate

from ..errors import SecretFound
from ..limits import split_lines_with_ends
from ..text.digest import blake2b
from . import forms
from .columns import headed_cells
from .forms import Form
from .glance import keywords_in
from .table import FAMILIES, FRAGMENTS, Family

_REMEMBERED = 1 << 15  # The longest text that is remembered with what was found in it, in characters
_NAMED_AT_MOST = 5
_JOINED_LINES = 8
_LONGEST_WRAPPED = 4000
"""How far a wrapped secret is followed: longer ones are key blocks or web tokens, found where they begin."""

_AROUND = 100  # How much before and after a match its judge looks at, at most

_KNOWN_AT_MOST = 2_000
_ORDER = {family: number for number, family in enumerate(FAMILIES)}
"""Which family is told where two find the same text: the earlier one."""

_Places = Iterator[tuple[int, int]]
_Words = Sequence[str]
_Search = Callable[[Family, _Words, Form], _Places]


class Secret:
    """A secret in a text, without its value."""

    __slots__ = ("description", "end", "fingerprint", "line", "rule", "start")

    def __init__(self, rule: str, line: int, fingerprint: str, description: str, start: int, end: int) -> None:
        self.rule = rule  # the id of its family
        self.line = line
        # a digest of family and value; the same wherever the value is, and however it is wrapped
        self.fingerprint = fingerprint
        self.description = description  # what it looks like, as "a GitHub token"
        self.start, self.end = start, end  # where its value is in the text


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets in a text, from its top down. The time it takes grows with the length of the text alone."""
    # A page that comes in is looked at when it is planned, when it is cut into notes, and when each is written.
    return list(_find_again(text) if len(text) <= _REMEMBERED else _find(text))


def _find(text: str) -> list[Secret]:
    held = keywords_in(text)
    if held == {}:
        return []
    plain = forms.plain(text, names_others=held is None)
    known = _held_by(plain, forms.joined(plain)) if held is None else held
    work: list[tuple[Family, _Words, Form, _Search]] = []
    kinds = {family.within for family in known}
    if "line" in kinds:
        cells = headed_cells(plain)  # the name of a column comes before them, and may be a keyword
        work += [(*one, cells, _search) for one in _held_by(cells).items() if one[0].within == "line"]
    words = forms.long_words(plain) if "word" in kinds else plain
    joined = forms.joined(plain) if kinds - {"line"} else plain
    for family, keywords in known.items():
        work.append((family, keywords, words if family.within == "word" else plain, _search))
        if family.within != "line" and joined.text:
            work.append((family, keywords, joined, _search_wrapped))
    if not work:
        return []
    taken = bytearray(len(text) + 1)
    found: list[tuple[int, int, Family, str]] = []
    for family, keywords, form, search in sorted(work, key=lambda one: _ORDER[one[0]]):
        for start, end in search(family, keywords, form):
            place, last = form.origin(start), form.origin(end - 1) + 1
            if taken.find(1, place, last) < 0:
                taken[place:last] = b"\1" * (last - place)
                found.append((place, last, family, form.text[start:end]))
    if not found:
        return []
    ends = list(accumulate(map(len, split_lines_with_ends(text))))[:-1]
    return [
        Secret(family.id, bisect_right(ends, place) + 1, _fingerprint(family, value), family.description, place, last)
        for place, last, family, value in sorted(found, key=lambda one: one[0])
    ]


_find_again = lru_cache(maxsize=2048)(_find)


def check_text(text: str, *, allow: Collection[str] = (), path: str = "", what: str = "text") -> None:
    """Refuse a text that holds a secret; the message names rule and line, never the secret.

    `allow` are fingerprints from the settings of what only looks like a secret. `path` is the file it is for, else
    `what` is what to call the text.
    """
    found = [secret for secret in find_secrets(text) if secret.fingerprint not in allow]
    if not found:
        return
    told = found[:_NAMED_AT_MOST]
    named = "; ".join(
        f"{f'{path}:{one.line}' if path else f'line {one.line} of the {what}'} looks like {one.description} "
        f"(rule {one.rule}, fingerprint {one.fingerprint})"
        for one in told
    )
    more = f"; and {len(found) - len(told)} more" if len(found) > len(told) else ""
    prints = ", ".join(f'"{one.fingerprint}"' for one in told)
    raise SecretFound(
        f"{named}{more}; nothing was written: write where it is instead, such as: the token is in env/tokens.txt. "
        "If it is not a secret, a person can allow it by its fingerprint: "
        f"[secrets] allow = [{prints}] in .scaffolding/amp.toml",
        path=path,
    )


@cache
def expression(family: Family) -> re.Pattern[str]:
    """Return the compiled pattern of a family, its fragments filled in."""
    # Only when a keyword is in a text: to compile them all takes longer than most texts to search.
    pattern = family.pattern
    for name, fragment in FRAGMENTS.items():
        pattern = pattern.replace(f"%{{{name}}}", fragment)
    return re.compile(pattern)


def _held_by(*looked_at: Form) -> dict[Family, _Words]:
    """Return all families of which a keyword is in one of these forms."""
    text = "\n".join([form.text for form in looked_at]).strip()
    lowered = text.lower()
    found: dict[Family, _Words] = {}
    for family in FAMILIES if text else ():
        keywords = [word for word in family.keywords if word in (text if _is_exact(word) else lowered)]
        if keywords:
            found[family] = keywords
    return found


def _is_exact(keyword: str) -> bool:
    return keyword != keyword.lower()


def _search(family: Family, keywords: _Words, form: Form) -> _Places:
    """Yield where the secrets of a family begin and end."""
    positions = _positions(keywords, form)
    if family.anywhere:
        is_there = next(positions, -1) >= 0
        matches: Iterator[re.Match[str] | None] = expression(family).finditer(form.text) if is_there else iter(())
    else:
        matches = (expression(family).match(form.text, position) for position in positions)
    # A text that says the same again and again is judged once: a judge takes longer than the search for what it judges.
    known: dict[tuple[str, int, int], list[tuple[int, int]]] = {}
    for match in filter(None, matches):
        start, end = match.span()
        around = form.text[max(0, start - _AROUND) : end + _AROUND], min(start, _AROUND), end - start
        judged = known.get(around)
        if judged is None:
            judged = [(first - start, last - start) for first, last in _judge(family, match)]
            if len(known) < _KNOWN_AT_MOST:
                known[around] = judged
        yield from ((first + start, last + start) for first, last in judged)


def _search_wrapped(family: Family, keywords: _Words, form: Form) -> _Places:
    """Yield where secrets of a family begin and end that go over a place where lines were joined.

    They may also begin or end at such a place: only one of two joined lines need belong to the secret.
    """
    for position in _positions(keywords, form):
        first = bisect_left(form.starts, position)
        at_start = first < len(form.starts) and form.starts[first] == position
        ends = form.starts[first + at_start : first + at_start + _JOINED_LINES]
        for end in (*ends[1:], len(form.text), *ends[:1]):
            found = _match_part(family, form.text, position, end, at_start=at_start)
            yield from found
            if found:
                break


def _match_part(family: Family, text: str, position: int, end: int, *, at_start: bool) -> list[tuple[int, int]]:
    match = expression(family).match(text, position, end)
    if match is not None or not at_start:
        return list(_judge(family, match))
    # The engine looks back beyond where it begins, though not beyond `end`: before a slice there is nothing.
    match = expression(family).match(text[position : min(end, position + _LONGEST_WRAPPED)])
    return [(start + position, stop + position) for start, stop in _judge(family, match)]


def _positions(keywords: _Words, form: Form) -> Iterator[int]:
    for keyword in keywords:
        text = form.text if _is_exact(keyword) else form.lowered
        position = text.find(keyword)
        while position >= 0:
            yield position
            position = text.find(keyword, position + 1)


def _judge(family: Family, match: re.Match[str] | None) -> _Places:
    if match is None:
        return
    # A pattern seldom matches, and the judge takes longer to load than most texts to search.
    from . import judge

    if getattr(judge, family.check)(match):
        yield judge.span(match)


def _fingerprint(family: Family, value: str) -> str:
    folded = "".join(value.split())
    return blake2b(f"{family.id}\n{folded}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
