"""What an earlier `check` found in texts, and which facts it found to disagree: not looked for again.

What is kept goes by digests of all that decides it: the text, its place, the settings, the rules that ran and the files
of this program. So what has changed in any way is looked at again. The line that is kept is sealed with the key of this
checkout: nobody else can write one that hides a finding.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ..disk import writing
from ..disk.files import Root
from ..disk.writing import CHECKED
from ..errors import AgentMemoryError
from ..lint import excerpt as excerpts
from ..lint import finding
from ..lint.excerpt import Excerpt
from ..lint.finding import Finding, Fix
from ..project import local_state
from ..text.digest import blake2b
from ..text.language import word_set
from ..values import dataclass

OF_ONE_TEXT = {
    "note": word_set(
        "note-header note-type note-name note-no-why note-no-how note-order note-after note-large"
        " note-invisible-characters secret belongs-state belongs-repository"
    ),
    "tier": word_set(
        "tier-no-heading tier-prose tier-unclosed-fence tier-conflict-markers tier-double-heading tier-double-entry"
        " invisible-characters conversation-raw-data secret belongs-state belongs-repository date-impossible"
        " date-suspicious date-spelling date-missing"
    ),
}
"""The rules that look at one text and at nothing beside it: no other file, no day, no limit, no template."""

_LARGEST = 16 << 20
_WORTH_IT = 200  # Of fewer texts each is looked at sooner than it pays to keep anything
_SIZE = 16

_SHAPE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What is raised where a value has another shape than what is kept."""

Places = list[tuple[int, int, int, int, str]]
"""Each two facts that disagree, each by the number of what it is in and its own number there, and in which way."""
Looked = tuple[list[Finding], str, int]
"""What was found in a text, its digest where that is worth keeping, and how many findings are about the text alone."""


@dataclass(frozen=True, slots=True)
class _Text:
    """What is known of a text."""

    found: tuple[Finding, ...] | None  # what was found in it alone, without its path; None if no check has looked
    excerpt: Excerpt | None  # None for a note, of which no more is asked

    def to_json(self) -> list[object]:
        """Return it as it is kept."""
        found = None if self.found is None else [_as_json(one) for one in self.found]
        return [found, self.excerpt and self.excerpt.to_json()]


class Known:
    """What is known of texts, and what this run adds."""

    def __init__(self, root: Root, selected: Sequence[str], allowed: Iterable[str]) -> None:
        self._root = root
        self._own, self._others = (
            {
                subject: [one for one in selected if (one in rules) is of_one_text]
                for subject, rules in OF_ONE_TEXT.items()
            }
            for of_one_text in (True, False)
        )
        self._base = digest_of(_program(), json.dumps([*selected, "", *sorted(allowed)]))
        self._content = None
        self._before, self._now = dict[str, _Text](), dict[str, _Text]()
        self._met, self._met_now = dict[str, Places](), dict[str, Places]()
        with suppress(AgentMemoryError, OSError, *_SHAPE):
            self._content = root.read(CHECKED, limit=_LARGEST)
            if self._content is not None:
                kept = json.loads(local_state.find(root).own(self._content.data))
                if kept["base"] == self._base:
                    met = {of: [_place(one) for one in places] for of, places in kept["met"].items()}
                    self._before = {of: _text(one) for of, one in kept["texts"].items()}
                    self._met = met

    def digest(self, subject: str, path: str, *text: str | bytes) -> str:
        """Return what tells a text, in its place, from all others; it is kept under that."""
        return digest_of(self._base, subject, path, *text)

    def take(self, digest: str, read: Callable[[], Excerpt | None]) -> Excerpt | None:
        """Take down that a text is there, and return its excerpt: as it is known, or `read` now."""
        kept = self._before.get(digest) or _Text(None, read())
        self._now[digest] = kept
        return kept.excerpt

    @property
    def unknown(self) -> int:
        """How many texts no check has looked at."""
        return len(self._now.keys() - self._before.keys())

    def run(self, subject: str, view: object, path: str, digest: str) -> Looked:
        """Run the rules about a note or tier document, those about its text alone only where nothing is known of it."""
        kept = self._before.get(digest)
        if kept is None or kept.found is None:
            own = finding.run(subject, view, path, self._own[subject])
        else:
            own = [replace(one, path=path) for one in kept.found]
        others = finding.run(subject, view, path, self._others[subject]) if self._others[subject] else []
        return own + others, digest, len(own)

    def keep_looked(self, looked: Iterable[Looked]) -> None:
        """Keep what `run` has found in the texts alone."""
        for found, digest, own in looked:
            if digest and self._now[digest].found is None:
                self._now[digest] = replace(self._now[digest], found=tuple(found[:own]))

    def digest_of_facts(self, facts: Iterable[object]) -> str:
        """Return what tells facts from all others; `facts` is all that decides it, each as it is shown by `repr`."""
        return digest_of(self._base, *map(repr, facts))

    def met(self, digest: str) -> Places | None:
        """Return which of the facts with a digest disagree; None if that is unknown."""
        return self._met.get(digest)

    def keep_met(self, digest: str, places: Places) -> None:
        """Keep which of the facts with a digest disagree."""
        self._met_now[digest] = places

    def keep(self) -> None:
        """Keep what this run knows for the next one, where this checkout has local state, and where it pays."""
        if len(self._now) < _WORTH_IT or (self._now.keys() == self._before.keys() and self._met_now == self._met):
            return
        texts = {digest: one.to_json() for digest, one in self._now.items()}
        kept = {"base": self._base, "texts": texts, "met": self._met_now}
        with suppress(AgentMemoryError, OSError):
            state = local_state.find(self._root)
            data = json.dumps(kept, separators=(",", ":")).encode() + b"\n" if state.is_believed else b""
            if not 0 < len(data) < _LARGEST:
                return
            if self._content is None:
                writing.create(self._root, CHECKED, state.seal(data))
            else:
                writing.replace(self._root, CHECKED, state.seal(data), expected=self._content)


def _as_json(one: Finding) -> list[Any]:
    fix = one.fix and [one.fix.line, one.fix.before, one.fix.after, one.fix.edits]
    return [one.rule, one.severity, one.line, one.message, fix]


def _finding(kept: Any) -> Finding:
    rule, severity, line, message, fix = kept
    lines, texts = [line, *(fix[:1] if fix else ())], [rule, severity, message, *(fix[1:3] if fix else ())]
    if {*map(type, lines)} - {int, type(None)} or {*map(type, texts)} - {str}:
        raise TypeError("another shape than that of a finding")
    return Finding(rule, severity, "", line, message, fix and Fix(*fix))


def _text(kept: Any) -> _Text:
    found, excerpt = kept
    return _Text(None if found is None else tuple(map(_finding, found)), excerpt and excerpts.from_json(excerpt))


def _place(kept: Any) -> tuple[int, int, int, int, str]:
    first, its, second, own, way = kept
    return int(first), int(its), int(second), int(own), str(way)


def digest_of(*parts: str | bytes) -> str:
    """Return what tells these texts, in their order, from all others."""
    hashed = blake2b(digest_size=_SIZE)
    for one in parts:
        data = one if isinstance(one, bytes) else one.encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(data) + data)
    return hashed.hexdigest()


def _program() -> str:
    """Return what differs for every other version of this program, one that is being written included."""
    stamps = [sys.version]
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder, folders, files in os.walk(package):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(files):
            with suppress(OSError):  # gone again, as what an editor writes first
                found = os.stat(os.path.join(folder, name))
                stamps.append(f"{folder}/{name} {found.st_size} {found.st_mtime_ns}")
    return "\n".join(stamps) if len(stamps) > 1 else os.urandom(_SIZE).hex()  # in an archive: nothing is known
