"""What an earlier `check` found nothing wrong in, and which facts it found to disagree: not looked for again.

What is kept are digests of all that decides it: the text, its place, the settings, the rules that ran and the files of
this program. So what has changed in any way is looked at again, and what was found is found again each time. The line
that is kept is sealed with the key of this checkout: nobody else can write one that hides a finding.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress

from ..disk.files import Root
from ..disk.writing import LOCAL, create, replace
from ..errors import AgentMemoryError
from ..lint import finding
from ..lint.finding import Finding
from ..project import local_state
from ..text.digest import blake2b
from ..text.language import word_set
from ..tiers.meet import Pairs

OF_ONE_TEXT = {
    "note": word_set(
        "note-header note-type note-name note-no-why note-no-how note-order note-after note-large"
        " note-invisible-characters secret belongs-state belongs-repository"
    ),
    "tier": word_set(
        "tier-header tier-no-heading tier-prose tier-unclosed-fence tier-conflict-markers tier-double-heading"
        " invisible-characters conversation-raw-data secret belongs-state belongs-repository date-impossible"
        " date-suspicious date-spelling date-missing"
    ),
}
"""The rules that look at one text and at nothing beside it: no other file, no day, no limit."""

_FILE = (*LOCAL, "checked.json")
_LARGEST = 16 << 20
_WORTH_IT = 200  # Of fewer texts each is looked at sooner than it pays to keep anything
_SIZE = 16

Looked = tuple[list[Finding], str]
"""What was found in a text, and its digest where nothing was found in the text alone; else ""."""


class Known:
    """What is known of texts, and what this run adds."""

    def __init__(self, root: Root, selected: Sequence[str], allowed: Iterable[str]) -> None:
        self._root = root
        self._of = {subject: [one for one in selected if one in rules] for subject, rules in OF_ONE_TEXT.items()}
        self._others = {
            subject: [one for one in selected if one not in rules] for subject, rules in OF_ONE_TEXT.items()
        }
        self._base = _digest(_program(), json.dumps([*selected, "", *sorted(allowed)]))
        self._content = None
        self._before, self._met = set[str](), dict[str, Pairs]()
        self._now, self._met_now = set[str](), dict[str, Pairs]()
        with suppress(AgentMemoryError, OSError, ValueError, KeyError, TypeError):
            self._content = root.read(_FILE, limit=_LARGEST)
            if self._content is not None:
                kept = json.loads(local_state.find(root).own(self._content.data))
                digests = kept["nothing"]
                self._before = {digests[at : at + 2 * _SIZE] for at in range(0, len(digests), 2 * _SIZE)}
                self._met = {of: [(one, other, way) for one, other, way in met] for of, met in kept["met"].items()}

    @property
    def texts(self) -> int:
        """Of how many texts it is known that nothing was found."""
        return len(self._before)

    def run(self, subject: str, view: object, path: str, *text: str | bytes) -> Looked:
        """Run the rules about a note or tier document, those about its text alone only where nothing is known of it.

        Returns what they find, and what to keep of it.
        """
        digest = _digest(self._base, subject, path, *text)
        found = [] if digest in self._before else finding.run(subject, view, path, self._of[subject])
        return found + finding.run(subject, view, path, self._others[subject]), "" if found else digest

    def digest_of(self, facts: Iterable[object]) -> str:
        """Return what tells facts from all others; `facts` is all that decides it, each as it is shown by `repr`."""
        hashed = blake2b(self._base.encode(), digest_size=_SIZE)
        for one in facts:
            hashed.update(repr(one).encode("utf-8", "surrogatepass") + b"\0")
        return hashed.hexdigest()

    def met(self, digest: str) -> Pairs | None:
        """Return which of the facts with a digest disagree; None if that is unknown."""
        return self._met.get(digest)

    def keep_met(self, digest: str, pairs: Pairs) -> None:
        """Keep which of the facts with a digest disagree."""
        self._met_now[digest] = pairs

    def keep_looked(self, looked: Iterable[Looked]) -> None:
        """Keep what `run` has returned."""
        self._now.update(digest for _, digest in looked if digest)

    def keep(self) -> None:
        """Keep what this run knows for the next one, where this checkout has local state, and where it pays."""
        if len(self._now) < _WORTH_IT or (self._now == self._before and self._met_now == self._met):
            return
        kept = {"nothing": "".join(sorted(self._now)), "met": self._met_now}
        with suppress(AgentMemoryError, OSError):
            state = local_state.find(self._root)
            if state.is_believed:
                data = state.seal(json.dumps(kept, separators=(",", ":")).encode() + b"\n")
                if self._content is None:
                    create(self._root, _FILE, data)
                else:
                    replace(self._root, _FILE, data, expected=self._content)


def _digest(*parts: str | bytes) -> str:
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
