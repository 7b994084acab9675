"""Topics: the headings and titles that say what is below them about, which no entry loses on its way."""

from collections.abc import Iterable

from .language import english, plain, word_set
from .opposites import exclude_each_other

_NO_TOPIC = word_set(
    "a and blocker blockers chain context conversation current decided decision decisions discovered discoveries"
    " discovery done fact facts far finding findings found general gotcha gotchas handoff history important in"
    " insight insights key knowledge learned learning learnings lesson lessons log memory misc new next note notes"
    " of open other outcome outcomes progress question questions result results session sessions shared so state"
    " status step steps summary the this to todo todos we what"
)
_NO_TITLE = word_set(
    "a about all and assistant claude code codex conventions copilot cursor docs file for gemini general guide"
    " guideline guidelines instruction instructions md notes of our project readme reference rule rules the this your"
)
_OF_A_STORE = word_set("archive context history index memories memory")
"""What the title of a page of memory ends with that says whose it is, not what it is about."""


def is_topic(heading: str) -> bool:
    """Say whether a heading says more than a day, or that something was found, decided or is to be done."""
    return any(word not in _NO_TOPIC and not word.isdigit() for word in _words(heading))


def topic_of(title: str) -> str:
    """Return the title of a page without emphasis, if it says what the page is about; else ""."""
    title = plain(" ".join(title.split()))
    return title if any(word not in _NO_TITLE and _names_something(word) for word in _words(title)) else ""


def topic_of_memory(title: str) -> str:
    """Return the title of a page of memory as `topic_of`; "" also for “Reviewer Memory”, which names whose it is."""
    words = _words(title)
    return topic_of(title) if words and words[-1] not in _OF_A_STORE and any(map(is_topic, words)) else ""


def subject(headings: Iterable[str]) -> frozenset[str]:
    """Return the words of headings that say what is below them about."""
    words = (word for one in headings for word in _words(one))
    return frozenset(english(word) for word in words if word not in _NO_TOPIC and word not in _NO_TITLE)


def is_elsewhere(headings: Iterable[str], standing: Iterable[str]) -> bool:
    """Say whether a text means another fact under these headings than under those where it already is.

    “Timeout is 30 seconds” says one thing under “Orders” and another under “Payments”. What holds for everything is not
    what holds for a part of it. Headings without a subject tell nothing apart.
    """
    headings, standing = tuple(headings), tuple(standing)
    said, known = subject(headings), subject(standing)
    return exclude_each_other(headings, standing) or bool(said and known and not known <= said)


def _names_something(word: str) -> bool:
    return not word.isdigit() and not (word.isascii() and len(word) == 1)


def _words(heading: str) -> list[str]:
    bare = " ".join(word for word in heading.casefold().split() if not word.startswith("#"))
    return "".join(sign if sign.isalnum() else " " for sign in bare).split()
