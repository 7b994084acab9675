"""Topics: the headings that say what an entry is about, which it loses nowhere."""

from ..text.language import word_set
from ..tiers.document import Document, section_key

_NO_TOPIC = word_set(
    "a and blocker blockers chain context conversation current decided decision decisions discovered discoveries"
    " discovery done fact facts far finding findings found general gotcha gotchas handoff history important in"
    " insight insights key knowledge learned learning learnings lesson lessons log memory misc new next note notes"
    " of open other outcome outcomes progress question questions result results session sessions shared so state"
    " status step steps summary the this to todo todos we what"
)


def topics_at(document: Document, line: int) -> tuple[str, ...]:
    """Return the topics of the entry that begins at a line, counted from 1."""
    entry = next((one for one in document.outline.entries if one.start == line - 1), None)
    return () if entry is None else tuple(filter(_is_topic, document.sections(entry)))


def _is_topic(heading: str) -> bool:
    """Say whether a heading says more than a day, or that something was found, decided or is to be done."""
    words = "".join(sign if sign.isalnum() else " " for sign in section_key(heading)).split()
    return any(word not in _NO_TOPIC and not word.isdigit() for word in words)
