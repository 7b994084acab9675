r"""The forms in which a text is searched for secrets: as it reads, its long words alone, its wrapped values joined.

A token is one also with a zero-width character in its middle, in full-width letters, with its underscores escaped
for Markdown, or broken over two lines. Each form knows where its characters were in the text. All are ASCII, as
secrets are: other characters become question marks, which keeps the search quick.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from .glance import PIECE, SHORTEST, reads_as
from .languages import in_english

_CONTEXT = 400
_LONGEST_PIECE = 2000

_CONTINUED = re.compile(r"\\(?:\r\n?|\n)[ \t>]{0,200}|\\(?=[_*~.+=/#-])")
_BREAK = re.compile(r"(?:\n(?<!\n\n)|\r\n?)[ \t>]{0,200}(?![-*+#] )(?=[A-Za-z0-9+/=_.~%:@$-])")
_NEXT = re.compile(rf"\S{{0,{_LONGEST_PIECE}}}")


class Form:
    """A form of a text, made from another one."""

    __slots__ = ("_lowered", "_parent", "_shifts", "starts", "text")

    def __init__(self, text: str, parent: "Form | None" = None, stretches: Sequence[tuple[int, int]] = ()) -> None:
        self.text = text
        self._lowered = ""
        self.starts = [start for start, _ in stretches]  # where in `text` the stretches begin that were apart before
        self._parent = parent
        self._shifts = [shift for _, shift in stretches]

    @property
    def lowered(self) -> str:
        """The text in lower case."""
        if not self._lowered:
            self._lowered = self.text.lower()
        return self._lowered

    def origin(self, position: int) -> int:
        """Return where the character at a position was in the text."""
        if self._parent is None:
            return position
        following = bisect_right(self.starts, position)
        place = position + self._shifts[following - 1] if following else position
        if following < len(self.starts):
            # One character can read as several: all of them were where it is.
            place = min(place, self.starts[following] + self._shifts[following] - 1)
        return self._parent.origin(place)


def plain(text: str, *, names_others: bool = True) -> Form:
    """Return a text as it reads: no invisible characters, compatible ones plain, escapes and continued lines undone.

    `names_others` is whether a label of another language may be in it, as `glance` tells.
    """
    form = _replace(Form(text), in_english(text, names_others=names_others))
    text = form.text
    if text.isascii() and "\\" not in text and text.replace("\n", "").isprintable():
        return form  # as nearly every text
    changes = []
    for character in set(text):
        if not (" " <= character <= "~" or character in "\t\n\r") and (read := reads_as(character)) != "?":
            place = text.find(character)
            while place >= 0:
                changes.append((place, place + 1, read))
                place = text.find(character, place + 1)
    form = _replace(form, sorted(changes))
    form.text = form.text.encode("ascii", "replace").decode()
    if "\\" in form.text:
        form = _replace(form, [(*found.span(), "") for found in _CONTINUED.finditer(form.text)])
    return form


def long_words(form: Form) -> Form:
    """Return only the words of a form that are long enough to be a secret, one a line."""
    words, stretches = [], []
    place = length = 0
    for word in form.text.split():
        if len(word) >= SHORTEST:
            place = form.text.index(word, place)
            stretches.append((length, place - length))
            words.append(word)
            place += len(word)
            length += len(word) + 1
    return Form("\n".join(words), form, stretches)


def joined(form: Form) -> Form:
    """Return only the places of a form where a value may go on in the next line, with the lines joined there."""
    if "\n" not in form.text and "\r" not in form.text:
        return Form("", form)
    changes: list[tuple[int, int, str]] = []
    done = 0
    for found in _BREAK.finditer(form.text):
        begin = max(
            form.text.rfind("\n", max(0, found.start() - _CONTEXT), found.start()) + 1, found.start() - _CONTEXT
        )
        before = form.text[begin : found.start()].rstrip(" \t\r")
        if before and before[-1] in PIECE:
            after = _NEXT.match(form.text, found.end())
            last = after.end() if after else found.end()
            if len(before) - before.rfind(" ") - 1 + last - found.end() >= SHORTEST:
                if begin > done:
                    changes.append((done, begin, "\n"))
                changes.append((begin + len(before), found.end(), ""))
                done = last
    if done < len(form.text):
        changes.append((done, len(form.text), "\n"))
    return _replace(form, changes)


def _replace(form: Form, changes: Sequence[tuple[int, int, str]]) -> Form:
    """Return a form with stretches of it replaced; the form itself if there are none."""
    if not changes:
        return form
    pieces, stretches = [], []
    done = length = 0
    for start, end, new in changes:
        pieces += [form.text[done:start], new]
        length += start - done + len(new)
        stretches.append((length, end - length))
        done = end
    pieces.append(form.text[done:])
    return Form("".join(pieces), form, stretches)
