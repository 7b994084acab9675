"""Which local state this checkout made: what lies in `.scaffolding/.amp/` is believed only with its copy outside.

A pull request, an archive or a copied folder can bring an `.amp`, and what its journal says would be put back into
memory. So a random id lies in it, and a copy of the id outside, where no file of the project gets to, with the number
of the folder on this disk and a key. Both must match, and each line of a journal is sealed with the key (decision 47).
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from ..disk.files import Root, read_named
from ..disk.writing import LOCAL, LOCKS, WAITING, append, create, make_folders, make_local_folder, move, remove_tree
from ..errors import AgentMemoryError
from ..text.digest import blake2b
from .git_files import own_git_folder
from .root import git_top
from .settings import home_folder

SET_ASIDE = "set-aside"  # The folder in `.amp` for what another checkout made

NOWHERE = "has no copy outside: neither the git folder nor the state folder can be written"
"""Why local state is not believed where a new copy has no place."""

_ID = "id"
_OUTSIDE = "amp"
_STAYS = {LOCKS, WAITING, SET_ASIDE, ".gitignore"}  # nothing that lies there is believed
_LARGEST = 200
_looked_at = [b"", b"", b""]  # a key, the bytes that were looked at last, and which lines of them carry its seal
_SEAL = re.compile(rb',"seal":"([0-9a-f]{32})"}$')


class LocalState:
    """What can be said of the local state of one project: why it is not believed, "" if it is, and with which key."""

    __slots__ = ("_key", "why_not")

    def __init__(self, key: bytes = b"", why_not: str = "") -> None:
        self._key = key
        self.why_not = why_not

    @property
    def is_believed(self) -> bool:
        """Whether this checkout has made it."""
        return self._key != b""

    def seal(self, lines: bytes) -> bytes:
        """Return lines of JSON objects, each with a seal as its last field; as they are where there is no key."""
        if not self._key:
            return lines
        return b"".join(line[:-1] + b',"seal":"' + self._seal_of(line) + b'"}\n' for line in lines.splitlines())

    def own(self, data: bytes) -> bytes:
        """Return those lines of a file that carry our seal, without it."""
        if not self._key:
            return b""
        # A journal grows at its end: what was looked at before, byte for byte and with this key, is known.
        key, before, known = _looked_at
        if key != self._key or not data.startswith(before):
            before = known = b""
        end = data.rfind(b"\n") + 1
        known += self._own_lines(data[len(before) : end])
        _looked_at[:] = self._key, data[:end], known
        return known + self._own_lines(data[end:])

    def _own_lines(self, data: bytes) -> bytes:
        found = []
        for line in data.split(b"\n"):
            seal = _SEAL.search(line)
            if seal and self._seal_of(plain := line[: seal.start()] + b"}") == seal[1]:
                found.append(plain + b"\n")
        return b"".join(found)

    def _seal_of(self, line: bytes) -> bytes:
        return blake2b(line, digest_size=16, key=self._key).hexdigest().encode()


def find(root: Root, local: tuple[str, ...] = LOCAL) -> LocalState:
    """Say whether the local state that is there was made by this checkout. Changes nothing."""
    found = _find(root, local)
    if found.why_not and not any(map(_can_be_written, _places(root.path))):
        return LocalState(why_not=NOWHERE)
    return found


def _find(root: Root, local: tuple[str, ...]) -> LocalState:
    names = [] if root.folder(local) is None else [*root.list_files(local), *root.list_folders(local)]
    if not {*names} - _STAYS:
        return LocalState()
    name = _read(root, (*local, _ID))
    if re.fullmatch("[0-9a-f]{32}", name) is None:
        return LocalState(why_not="has no id of this checkout: it came with the files, or an older version made it")
    for place in _places(root.path):
        with suppress(AgentMemoryError), Root.open(place) as outside:
            inode, _, key = _read(outside, (_OUTSIDE, name)).partition(" ")
            if re.fullmatch("[0-9a-f]{32}", key):
                if inode == str(_inode(root, local)):
                    return LocalState(bytes.fromhex(key))
                return LocalState(why_not="is a copy: this checkout made another folder")
    return LocalState(why_not="was made elsewhere: it came with the files, or with a copy of the folder")


def has_own_tables(root: Root, local: tuple[str, ...] = LOCAL) -> bool:
    """Say whether files of tables there are ours. They carry no seal, and what git tracks can come with a pull."""
    return claim(root, local).is_believed and not _is_tracked(root, local)


def _is_tracked(root: Root, local: tuple[str, ...]) -> bool:
    """Say whether git knows a file in `.amp`. In an index of version 4 a name leaves out how the one before begins."""
    top = git_top(root.path, os.environ)
    folder = "" if top is None else own_git_folder(top)
    if not folder:
        return False
    try:
        content = read_named(os.path.join(folder, "index"))
    except AgentMemoryError:
        return False
    index = b"" if content is None else content.data
    parts = local[-1:] if index[4:8] == b"\0\0\0\4" else local
    return "/".join([*parts, ""]).encode() in index


def claim(root: Root, local: tuple[str, ...] = LOCAL) -> LocalState:
    """Return the local state of this checkout; begin a missing one, and set aside what others have made.

    Where neither the git folder nor the person's state folder can be written, what is there stays and is not
    believed.
    """
    found = find(root, local)
    if found.is_believed:
        return found
    make_local_folder(root, local=local)
    if not found.why_not:
        return _begin(root, local)
    from ..disk.lock import hold  # hardly ever: what only searches need not load it

    with hold(root, "local-state", local=local):
        found = find(root, local)
        return found if found.is_believed else _begin(root, local, found.why_not)


def _begin(root: Root, local: tuple[str, ...], why_not: str = "") -> LocalState:
    name, key = os.urandom(16).hex(), os.urandom(16)
    copy = f"{_inode(root, local)} {key.hex()}\n".encode()
    if not any(_keep_outside(place, name, copy) for place in _places(root.path)):
        return LocalState(why_not=NOWHERE)
    if why_not:
        set_aside(root, why_not, local)
    return LocalState(key) if create(root, (*local, _ID), f"{name}\n".encode()) else find(root, local)


def set_aside(root: Root, why: str, local: tuple[str, ...] = LOCAL) -> None:
    """Move what another checkout has made out of the way, in place of what was set aside before."""
    folder = (*local, SET_ASIDE)
    remove_tree(root, folder)
    make_folders(root, folder)
    for name in {*root.list_files(local), *root.list_folders(local)} - _STAYS:
        move(root, (*local, name), (*folder, name))
    create(root, (*folder, "why"), f"{why}\n".encode())


def why_set_aside(root: Root) -> str:
    """Say why something lies there that was set aside; "" if nothing does."""
    folder = (*LOCAL, SET_ASIDE)
    return _read(root, (*folder, "why")) or "it was not made by this checkout" if root.exists(folder) else ""


def _places(path: str) -> Iterator[str]:
    """Yield where the copy may lie: in the git folder of the checkout, else in the person's state folder."""
    top = git_top(path, os.environ)
    if top is not None and (folder := own_git_folder(top)):
        yield folder
    if (base := state_folder()) is not None:
        yield base


def state_folder() -> str | None:
    """Return the folder in which programs keep state of this person; None if there is no home."""
    base = os.environ.get("XDG_STATE_HOME", "")
    home = home_folder(os.environ)
    if os.path.isabs(base):
        return base
    return os.path.join(home, ".local", "state") if home else None


def _can_be_written(place: str) -> bool:
    folder = os.path.join(place, _OUTSIDE)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.W_OK)


def _keep_outside(place: str, name: str, copy: bytes) -> bool:
    try:
        os.makedirs(os.path.join(place, _OUTSIDE), mode=0o700, exist_ok=True)
        with Root.open(place) as outside:
            # Not waited for: what a crash takes of it makes the state begin again, and costs no entry.
            append(outside, (_OUTSIDE, name), copy, sync=False)
    except (AgentMemoryError, OSError):
        return False
    return True


def _read(root: Root, parts: tuple[str, ...]) -> str:
    try:
        content = root.read(parts, limit=_LARGEST)
    except AgentMemoryError:
        return ""
    return "" if content is None else content.data.decode("utf-8", "replace").strip()


def _inode(root: Root, local: tuple[str, ...]) -> int:
    folder = root.folder(local)
    return 0 if folder is None else os.stat(folder.path if folder.fd is None else folder.fd).st_ino
