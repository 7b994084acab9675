"""What looks like a date at the beginning of a text and dates nothing: no calendar has it, or it has another spelling.

`marks` reads the spellings that date (decision 40). Text is a paragraph, its lines joined with a newline.
"""

import re
from functools import lru_cache

from . import marks
from .dates import SAYS_NO_DAY, dates_in, day_number, without_code_and_links

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_ABROAD = (
    "jänner|januar|februar|märz|mai|juni|juli|oktober|dezember|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    "|septiembre|octubre|noviembre|diciembre|janvier|février|mars|avril|juin|juillet|août|septembre|octobre"
    "|novembre|décembre|gennaio|febbraio|aprile|maggio|giugno|luglio|settembre|ottobre|dicembre|janeiro|fevereiro"
    "|março|maio|junho|julho|setembro|outubro|novembro|dezembro|april|august|september|november"
)
_MONTH, _DAY, _YEAR = rf"(?:{_MONTHS})\b\.?", r"\d{1,2}(?:st|nd|rd|th)?", r"(?:\d{4}|'\d\d)"
_WEEKDAY = r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?\b[.,]?[ ]+"
_LOOKS = re.compile(
    rf"""(?:{_WEEKDAY})?(?P<date>
        (?P<iso>\d{{4}}([-/])\d\d\3\d\d)
        | \d{{4}}([-/])\d{{1,2}}\4\d{{1,2}} | \d{{4}}\.\d\d\.\d\d
        | \d{{1,2}}([-/.])[ ]?\d{{1,2}}\5[ ]?\d{{4}} | \d{{1,2}}([-/])\d{{1,2}}\6\d\d
        | (?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])
        | \d{{4}}-?w\d\d(?:-?\d)? | \d{{4}}年[ ]?\d{{1,2}}月[ ]?\d{{1,2}}日
        | {_MONTH}[ -]{_DAY},?[ -]+{_YEAR} | {_DAY}\.?[ -](?:of[ ])?{_MONTH},?[ -]+{_YEAR}
        | \d{{4}},?[ -]{_MONTH}[ -]{_DAY} | \d{{1,2}}\.?[ ](?:de[ ])?(?:{_ABROAD})\b,?[ ](?:del?[ ])?\d{{4}}
        | (?P<yearless>{_MONTH}[ ]{_DAY} | {_DAY}\.?[ ](?:of[ ])?{_MONTH})
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = r"\s:,;.()\[\]|=\u2013\u2014\u2192\uff1a\uff0c\u3001\u3002\uff08\uff09\u3011\u300d"
_BEHIND = re.compile(rf"T?\d\d:\d\d|[*_)\]]*(?:$|[{_SIGNS}]|[-/](?!\w))")
_SET_APART = re.compile(r"[*_]*(?:$|\n|[:,;)\]]| [-\u2013\u2014])")
"""What must be behind a day without its year: such words begin many sentences."""
_RANGE = re.compile(r"[*_)\]]*(?: (?:to|until|through)\b| ?(?:[-/~\u2013\u2014\u2026\u2192]|->|\.\.\.?)) *[*_(\[]*")
_MONTH_ALONE = re.compile(
    rf"""[*_(\[]*(?P<date>
        (?:{_MONTH}|(?:{_ABROAD})|q[1-4]),?[ ](?:del?[ ])?{_YEAR} | {_YEAR}[ -]?(?:{_MONTH}|q[1-4]|w\d\d?)
        | \d{{4}}[-/.]\d\d | \d\d?/\d{{4}} | (?:week|kw|cw)[ ]\d\d?,?(?:[ /]+{_YEAR})? | \d{{4}}年[ ]?\d{{1,2}}月
    )[*_)\]:]*$""",
    re.IGNORECASE | re.VERBOSE,
)
"""A heading that is nothing but a month, a week or a quarter."""
_UNTIL = re.compile(r"\[until ([^\]\n]*)\]", re.IGNORECASE)
_BRACKETED = re.compile(r"\[(?!\d{4}-\d\d-\d\d\])(?:\d{4}([-/])\d{1,2}\1\d{1,2}|\d\d([-/])\d\d\2\d\d)\]")
_NUMBER_OR_MARK = re.compile(r"\d|\[until ", re.IGNORECASE)
"""Without either, nothing in a text looks like a date or like the mark of one."""
_MARKED_UP = re.compile(r"[\[`<]")

# A text is read once for both questions.
_without_code_and_links = lru_cache(maxsize=512)(without_code_and_links)
_behind_front = lru_cache(maxsize=512)(marks.behind_front)


def impossible(text: str) -> list[str]:
    """Return the dates, in brackets or at the beginning of a text, that no calendar has, such as `2026-02-30`."""
    if not _may_begin_with_date(text):
        return []
    plain = _without_code_and_links(text)
    found = [
        f"[{match[1]}]"
        for match in re.finditer(r"\[(\d{4}-\d\d-\d\d)\]", plain)
        if day_number(match[1]) is None and not marks.is_link(plain, match.start(), match.end())
    ]
    found += [one for one in _ends(plain) if re.fullmatch(r"\d{4}-\d\d-\d\d", one[7:-1])]
    front = _in_front(plain)
    if front is not None and front["iso"] and _day(front["iso"]) is None and f"[{front['iso']}]" not in found:
        found.append(front["iso"])
    return found


def unread(text: str) -> list[str]:
    """Return what was meant for the date of a text without one and is read as none: `[2026-6-1]`, `Apr 4, 2026: …`.

    A bracketed one counts wherever it is, `[until …]` and every other one only at the beginning. A range dates nothing
    and is meant so.
    """
    if not _may_begin_with_date(text):
        return []
    plain = _without_code_and_links(text)
    found = [one for one in _ends(plain) if not re.fullmatch(r"\d{4}-\d\d-\d\d", one[7:-1])]
    if marks.read(text).date is not None:
        return found
    found += [match[0] for match in _BRACKETED.finditer(plain) if not marks.is_link(plain, match.start(), match.end())]
    front = _in_front(plain)
    is_impossible = front is not None and bool(front["iso"]) and _day(front["iso"]) is None
    if front is not None and not is_impossible and not any(front["date"] in one for one in found):
        found.append(" ".join(front[0].split()))
    return found


def in_heading(text: str) -> str:
    """Return what was meant for the date of a heading that dates nothing, at its begin, end or in a parenthesis there.

    A week or a month counts where it is the whole heading. A range is meant to date nothing.
    """
    plain = _without_code_and_links(text).replace("*", " ").strip()
    month = _MONTH_ALONE.match(plain)
    if month is not None:
        return month["date"]
    found = unread(plain)
    if impossible(plain) or not SAYS_NO_DAY.isdisjoint(re.findall(r"\w+", plain.lower())):
        return ""
    if found:
        return found[0]
    for match in _LOOKS.finditer(plain):
        if _is_range(plain, match.end()):
            break
        before, behind = plain[: match.start()], plain[match.end() :]
        is_apart = (
            not before[-1:].isalnum() and before[-1:] not in tuple("-_/\\.#") and not before.rstrip().endswith("-")
        )
        if is_apart and not match["yearless"] and not match["iso"] and re.fullmatch(r"[\s\])_.:]*", behind):
            return match["date"]
    return ""


def _may_begin_with_date(text: str) -> bool:
    """Say, quickly, whether a text may have a date in brackets or at its beginning: most begin with another word."""
    if not _NUMBER_OR_MARK.search(text):
        return False
    return not text[:1].isalpha() or _MARKED_UP.search(text) is not None or _LOOKS.match(text) is not None


def has_claim_date(text: str) -> bool:
    """Say whether a text says as of when it is true: `as of 2026-03-06`, `as of March 2026`, `as of v2.1`."""
    for rest in re.split(r"\bas of\b", text, flags=re.IGNORECASE)[1:]:
        words = rest.split()[:3]
        if words and words[0].casefold() not in ("now", "today", "this") and re.search(r"\d", " ".join(words)):
            return True
    return False


def claim_day(text: str) -> int | None:
    """Return the day, as an ordinal, as of which a text says that it is true: `as of 2026-03-06`; None for none."""
    for rest in re.split(r"\bas of\b", without_code_and_links(text), flags=re.IGNORECASE)[1:]:
        match = re.match(r"[\s*_(\[]*(\d{4}([-/])\d\d\2\d\d)(?![\w/-])", rest)
        if match is not None:
            return _day(match[1])
    return None


def _in_front(plain: str) -> re.Match[str] | None:
    """Return what looks like a date at the beginning, behind a check box, marks, emoji and emphasis; not a range."""
    position = _behind_front(plain)
    opened = plain[position : position + 1] if plain[position : position + 1] in tuple("[(~@\uff08\u3010\u300c") else ""
    match = _LOOKS.match(plain, position + len(opened))
    if match is None:
        return None
    closing = plain.find("]", match.end()) + 1
    if opened == "[" and closing and marks.is_link(plain, position, closing):
        return None
    if not (_SET_APART if match["yearless"] else _BEHIND).match(plain, match.end()):
        return None
    return None if _is_range(plain, match.end()) else match


def _is_range(plain: str, end: int) -> bool:
    """Say whether a day that ends here begins a range of days."""
    second = _RANGE.match(plain, end)
    until = second.end() if second is not None else len(plain)
    return bool(_LOOKS.match(plain, until) or dates_in(plain[until : until + 10]))


def _ends(plain: str) -> list[str]:
    """Return the marks `[until …]` in front of a text that end nothing: what they name is not in the calendar."""
    if "[until " not in plain.lower():
        return []
    front = plain[: _behind_front(plain) + 60]
    found = [match for match in _UNTIL.finditer(front) if _day(match[1]) is None or len(match[1]) != 10]
    return [one[0] for one in found if re.match(r"[\W_]*(?:\[[^\]]*\][\W_]*)*$", plain[: one.start()])]


def _day(written: str) -> int | None:
    return day_number(written.replace("/", "-"))
