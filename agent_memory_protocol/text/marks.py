"""What an entry says of itself: its date, and the marks `[keep]`, `[until D]` and `[disputed]` in front of it.

The rules are in docs/protocol.md, “Dates” and “Marks”. Text is a first paragraph, its lines joined with a newline.
A day is an ordinal, as in `dates`.
"""

from .dates import after_time, dates_in, day_number, day_text, may_hold_date, without_code_and_links

BOXES = ("[ ] ", "[x] ", "[X] ")
"""Check boxes. Dates and marks are behind them."""
_RANGES = ("to ", "until ", "through ", "\u2013", "\u2014", "-")
"""What makes a range of two dates. A range dates nothing."""
_SET_OFF = " :-\u2013\u2014"  # What sets a date off from the text behind it
_WORDS = ("[keep]", "[disputed]")
_UNTIL = "[until "
_JOINERS = "\u200d\ufe0f\u20e3"


class Mark:
    """A date that dates the text it is in."""

    __slots__ = ("bracketed", "day", "end", "start")

    def __init__(self, day: int, start: int, end: int, *, bracketed: bool) -> None:
        self.day = day
        self.start = start  # with `end`: its place in the text, brackets included
        self.end = end
        self.bracketed = bracketed  # whether it is spelled in brackets, as the protocol asks


class Marks:
    """The marks of one paragraph."""

    __slots__ = ("date", "disputed", "keep", "spans", "until")

    def __init__(self) -> None:
        self.date: Mark | None = None  # the date that dates it; None for a lasting one
        self.keep = False  # whether `[keep]` is in it, in front or not
        self.disputed = False  # whether `[disputed]` is in front of it
        self.until: int | None = None  # the last day on which it holds; None if it has no end
        # where the marks in front are that are not part of what it says, the date left out
        self.spans: list[tuple[int, int]] = []


NONE = Marks()
"""The marks of a paragraph that has none. Do not change it."""


def read(text: str) -> Marks:
    """Return the marks of an entry's first paragraph.

    The newest of the dates in square brackets dates it. Without one, a date in another spelling does: in front, in the
    parenthesis that closes the lead-in before the first colon, or alone in a closing parenthesis. Code and links do
    not count.
    """
    if "[" not in text and not may_hold_date(text):
        return NONE
    # Nearly every date is the first thing in its entry, where nothing can make it code or a part of a link.
    if text[0] == "[" and text[11:12] == "]" and "[" not in text[12:] and not may_hold_date(text[12:]):
        day = day_number(text[1:11])
        if day is not None and text[12:13] != "(":
            found = Marks()
            found.date = Mark(day, 0, 12, bracketed=True)
            return found
    plain = without_code_and_links(text)
    found = Marks()
    in_front = _read_front(plain, found)
    found.keep = "[keep]" in plain.lower()
    if may_hold_date(plain):
        if in_front is not None and _is_range(plain, in_front):
            return found
        found.date = _newest_bracketed(plain, in_front) or in_front or _lead_in_date(plain) or _closing_date(plain)
    return found


def date_in_front(text: str) -> Mark | None:
    """Return the date at the beginning of a text, in any spelling; None if it begins with none."""
    if not may_hold_date(text):
        return None
    plain = without_code_and_links(text)
    found = _read_front(plain, Marks())
    return None if found is not None and _is_range(plain, found) else found


def behind_front(plain: str) -> int:
    """Return where the text begins behind a check box, the marks in front of it, emoji and emphasis.

    `plain` is without code and links. A date stays: it may be what a caller looks for.
    """
    found = Marks()
    date = _read_front(plain, found)
    position = 4 if plain.startswith(BOXES) else 0
    for start, end in found.spans:
        position = end if date is None or start < date.start else position
    return _skip_ornament(plain, _skip_blanks(plain, position))


def taken_off(text: str) -> tuple[list[str], str]:
    """Return the marks in front of a text, its date left out, and the text without them."""
    found = Marks()
    if "[" in text:
        _read_front(without_code_and_links(text), found)
    words = [text[start:end] for start, end in found.spans]
    for start, end in reversed(found.spans):
        text = text[:start] + text[end:].lstrip(" ")
    return words, text


def in_front(words: list[str], day: int | None) -> str:
    """Return a date and marks as they are in front of an entry. Of two marks of one kind the first one counts."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(word.split(" ")[0].strip("[]").lower(), word)
    return " ".join([*([f"[{day_text(day)}]"] if day is not None else []), *first.values()])


def words_of(*, keep: bool = False, until: int | None = None, disputed: bool = False) -> list[str]:
    """Return the marks that say this."""
    end = "" if until is None else f"[until {day_text(until)}]"
    return [*filter(None, ["[keep]" if keep else "", end, "[disputed]" if disputed else ""])]


def begins_entry(line: str) -> bool:
    """Say whether a later line of a paragraph begins an entry of its own: `2026-02-15: …`."""
    return line[10:11] == ":" and day_number(line[:10]) is not None


def bare(text: str, marks: Marks) -> str:
    """Return what a paragraph says: its text without its date and without the marks in front of it."""
    spans = list(marks.spans)
    if marks.date is not None:
        text, spans = _without_date(text, marks.date, spans)
    for start, end in reversed(spans):
        text = text[:start] + text[end:].lstrip(" ")
    return text


def without_date_in_front(text: str, date: Mark) -> str:
    """Return a text without the date in front of it and what sets the date off. Emoji before it stay."""
    rest = text[date.end :]
    ornament = text[: date.start].rstrip("*_(")
    opened = text[len(ornament) : date.start]
    if ornament.strip():
        inner = Mark(date.day, len(opened), date.end - len(ornament), bracketed=date.bracketed)
        return f"{ornament.rstrip()} {without_date_in_front(opened + text[date.start :], inner)}"
    if opened.strip("*_") in ("", "(") and opened:
        if opened == "(" and rest.startswith(")"):
            return rest[1:].lstrip(_SET_OFF + "/,.")
        if rest.startswith(opened):
            rest = rest[date.start :]
        else:
            # `**2026-02-15 - title** text`: the emphasis goes on, so its opening stays.
            return opened + rest.lstrip(_SET_OFF)
    return rest.lstrip(_SET_OFF)


def _without_date(text: str, date: Mark, spans: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Take the date out, with the brackets and separators that set it off. Returns the spans where they are then."""
    if not text[: date.start].strip("*_( "):
        changed = without_date_in_front(text, date)
    else:
        before, after = text[: date.start].rstrip(" ,;"), text[date.end :]
        if before.endswith("(") and after.startswith(")"):
            changed = before[:-1].rstrip(" ") + after[1:]
        elif not date.bracketed and _skip_ornament(text, 4 * text.startswith(BOXES)) == date.start:
            changed = before + " " + after.lstrip(_SET_OFF + "/,.")
        else:
            changed = before + after
    shorter = len(text) - len(changed)
    return changed, [
        (start, end) if end <= date.start else (max(start - shorter, 0), end - shorter) for start, end in spans
    ]


def _read_front(plain: str, found: Marks) -> Mark | None:
    """Read the marks in front of a text into `found`, and return the date that is one of them."""
    date: Mark | None = None
    position = 4 if plain.startswith(BOXES) else 0
    while True:
        position = _skip_blanks(plain, position)
        lowered = plain[position : position + 22].lower()
        word = next((word for word in _WORDS if lowered.startswith(word)), "")
        if word:
            found.disputed = found.disputed or word == "[disputed]"
            end = position + len(word)
            found.spans.append((position, end))
        elif lowered.startswith(_UNTIL) and plain[position + 17 : position + 18] == "]":
            day = day_number(plain[position + 7 : position + 17])
            if day is None:
                return date
            found.until = day if found.until is None else min(found.until, day)
            end = position + 18
            found.spans.append((position, end))
        elif date is None:
            date = _date_at(plain, position)
            if date is None:
                return None
            end = date.end
            if not date.bracketed:
                return date
        else:
            return date
        position = end


def _date_at(plain: str, position: int) -> Mark | None:
    """Return the date at a position: bracketed, in parentheses or bare, behind emoji or emphasis."""
    position = _skip_ornament(plain, position)
    opened = plain[position : position + 1]
    if opened == "[":
        end = plain.find("]", position, position + 40) + 1
        day = _day_and_time(plain[position + 1 : end - 1]) if end else None
        return None if day is None or is_link(plain, position, end) else Mark(day, position, end, bracketed=True)
    if opened == "(":
        end = plain.find(")", position, position + 40)
        day = _day_and_time(plain[position + 1 : end]) if end > 0 else None
        return None if day is None else Mark(day, position + 1, end, bracketed=False)
    day = _any_day(plain[position : position + 10])
    if day is None:
        return None
    rest = plain[position + 10 :]
    after = after_time(rest.lstrip("*_")).lstrip("*_")
    closed = rest[:1] in ("*", "_") and plain[position - 1 : position] == rest[:1]
    if closed or _sets_off(after):
        return Mark(day, position, position + 10, bracketed=False)
    return None


def _sets_off(rest: str) -> bool:
    """Say whether a date may be followed by this text: never directly by `-` or `/`, which make it a part of a name."""
    first = rest[:1]
    if first in (".", ","):
        return rest[1:2] in ("", " ", "\n")
    return first in ("", " ", "\n", "\t", ":", "(", ")", "[", "]")


def _newest_bracketed(plain: str, in_front: Mark | None) -> Mark | None:
    newest = in_front if in_front is not None and in_front.bracketed else None
    position = plain.find("[")
    while position >= 0:
        if plain[position + 11 : position + 12] == "]" and not is_link(plain, position, position + 12):
            day = day_number(plain[position + 1 : position + 11])
            if day is not None and (newest is None or day > newest.day):
                newest = Mark(day, position, position + 12, bracketed=True)
        position = plain.find("[", position + 1)
    return newest


def is_link(plain: str, start: int, end: int) -> bool:
    """Say whether what is in these brackets is the text of a link of another kind: `[a][b]`, `[[a]]`."""
    if start and plain[start - 1] == "[" and plain[end : end + 1] == "]":
        return True
    if plain[end : end + 1] != "[":
        return False
    following = plain[end : end + 22].lower()
    return not (following.startswith((*_WORDS, _UNTIL)) or day_number(following[1:11]) is not None)


def _is_range(plain: str, date: Mark) -> bool:
    """Say whether a second date follows that makes a range of the two."""
    rest = after_time(plain[date.end :]).lstrip(" )*_")
    opened = next((word for word in _RANGES if rest.startswith(word)), "")
    return bool(opened) and _any_day(rest[len(opened) :].lstrip(" [(*_")[:10]) is not None


def _lead_in_date(plain: str) -> Mark | None:
    lead_in, colon, _ = _before_colon(plain)
    lead_in = lead_in.rstrip("*_ ")
    if not colon or not lead_in.endswith(")"):
        return None
    opening = lead_in.rfind("(")
    inside = lead_in[opening + 1 : -1]
    for start, day in dates_in(inside):
        before, after = inside[:start].rstrip(), after_time(inside[start + 10 :]).lstrip()
        alone = before[-1:] in ("", ",", ";") and after[:1] in ("", ",", ";")
        if opening > 0 and lead_in[opening - 1] != "]" and alone:
            return Mark(day, opening + 1 + start, opening + 11 + start, bracketed=False)
    return None


def _before_colon(plain: str) -> tuple[str, str, str]:
    """Split a text at its first colon that is not one of a time of day."""
    position = plain.find(":")
    while position >= 0 and plain[position - 1 : position].isdigit() and plain[position + 1 : position + 2].isdigit():
        position = plain.find(":", position + 1)
    return (plain[:position], ":", plain[position + 1 :]) if position >= 0 else (plain, "", "")


def _closing_date(plain: str) -> Mark | None:
    ended = plain.rstrip(" \t\n.*_")
    if ended[-1:] == ")" and ended[-12:-11] == "(" and ended[-13:-12] != "]":
        day = day_number(ended[-11:-1])
        if day is not None:
            return Mark(day, len(ended) - 11, len(ended) - 1, bracketed=False)
    return None


def _any_day(text: str) -> int | None:
    """Return the day that `YYYY-MM-DD` or `YYYY/MM/DD` names."""
    return day_number(text.replace("/", "-") if text[4:5] == text[7:8] == "/" else text)


def _day_and_time(text: str) -> int | None:
    """Return the day of a date that nothing but a time of day follows."""
    rest = after_time(text[10:]).strip(" ")
    zone = rest if rest != text[10:].strip(" ") else ""
    return day_number(text[:10]) if not rest or (zone.isalpha() and zone.isupper() and len(zone) <= 5) else None


def _skip_ornament(plain: str, position: int) -> int:
    """Return the position after emphasis marks and emoji."""
    start = position
    while position < len(plain) and (plain[position] in "*_" or is_emoji(plain[position])):
        position = _skip_blanks(plain, position + 1) if is_emoji(plain[position]) else position + 1
    return max(start, position)


def is_emoji(character: str) -> bool:
    """Say whether a character is an emoji, an arrow or a part of one."""
    return character > "\u200c" and (
        "\u2190" <= character <= "\u2bff" or "\U0001f000" <= character <= "\U0001faff" or character in _JOINERS
    )


def _skip_blanks(text: str, position: int) -> int:
    while text[position : position + 1] == " ":
        position += 1
    return position
