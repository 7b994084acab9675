"""The receipt: where something was installed, what was put into which file, and which folders were made for it."""

import json
import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from ..disk.errors import shown
from ..disk.files import Content, Root
from ..errors import DamagedFile, InvalidArgument
from ..layout import SCAFFOLDING
from ..project.settings import home_folder, load_settings
from ..values import dataclass
from .table import HOSTS

LARGEST = 4 << 20  # No file of a host, and no receipt, has more bytes


@dataclass(frozen=True, slots=True)
class InstallPlace:
    """Where something is installed: in a project, or for a person in all their projects."""

    base: str  # the folder that the files lie below
    receipt: tuple[str, ...]
    # for a host whose settings an environment variable moves away, the folder they lie in then
    moved: Mapping[str, str] = field(default_factory=dict)
    external_links: bool = False  # whether links that lead out of `base` are followed (decision 6)

    def open(self, folder: str | None = None) -> Root:
        """Open `base`, or another folder that a host's files lie in."""
        root = Root.open(self.base if folder is None else folder, external_links=self.external_links)
        if not self.is_project:
            root.called = "your home folder" if folder is None or folder == self.base else shown(folder)
        return root

    @property
    def is_project(self) -> bool:
        """Whether it is a project."""
        return self.receipt[0] == SCAFFOLDING


def in_project(root: str, *, external_links: bool = False) -> InstallPlace:
    """Return the place of a project."""
    return InstallPlace(root, (SCAFFOLDING, "installed.json"), external_links=external_links)


def for_person(environ: Mapping[str, str]) -> InstallPlace:
    """Return the place of the person who runs this. Raises InvalidArgument if the environment names no home folder."""
    home = home_folder(environ)
    if not home:
        raise InvalidArgument("HOME names no folder, so --user has no place; set it")
    moved = {
        host.name: host.base_of(home, environ) for host in HOSTS.values() if host.home and environ.get(host.home[0])
    }
    external_links = load_settings(None, environ).external_links
    return InstallPlace(home, (".config", "amp", "installed.json"), moved, external_links)


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was installed, by host, and which folders were made for it."""

    place: InstallPlace
    content: Content | None
    hosts: dict[str, Any]
    folders: frozenset[str]

    @classmethod
    def read(cls, place: InstallPlace) -> "Receipt":
        """Read the receipt of a place; a missing one is empty.

        Raises DamagedFile if the file is something else.
        """
        with place.open() as root:
            content = root.read(place.receipt, limit=LARGEST)
        if content is None:
            return cls(place, None, {}, frozenset())
        try:
            read = json.loads(content.data)
            hosts: dict[str, Any] = {str(name): _entry(entry) for name, entry in read["hosts"].items()}
            folders = frozenset(os.path.join(place.base, *_below(name)) for name in read["folders"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DamagedFile(
                "is not a receipt of amp; remove it, and install again", path=shown(*place.receipt)
            ) from error
        return cls(place, content, hosts, folders)

    def file(self, target: str, name: str) -> dict[str, Any]:
        """Return what was done to a file for a target; nothing for one that was left alone."""
        found: dict[str, Any] = self.hosts.get(target, {}).get("files", {}).get(name, {})
        return found

    def with_entry(self, target: str, entry: dict[str, Any] | None, folders: frozenset[str]) -> bytes | None:
        """Return the receipt with another entry for a target; None if nothing is left in it."""
        hosts = {name: one for name, one in self.hosts.items() if name != target}
        if entry is not None:
            hosts[target] = entry
        if not hosts:
            return None
        below = sorted(os.path.relpath(folder, self.place.base).replace(os.sep, "/") for folder in folders)
        text = json.dumps({"version": 1, "folders": below, "hosts": dict(sorted(hosts.items()))}, indent=2) + "\n"
        is_crlf = self.content is not None and b"\r\n" in self.content.data
        return (text.replace("\n", "\r\n") if is_crlf else text).encode()


def _entry(read: dict[str, Any]) -> dict[str, Any]:
    """Return what was installed for a target. Any error means that a part of it is of another kind."""
    files = {}
    for name, file in read.get("files", {}).items():
        inserted = [(position, piece) for position, piece in file.get("inserted", [])]
        if not all(isinstance(position, int) and isinstance(piece, str) for position, piece in inserted):
            raise TypeError(name)
        files[str(name)] = {**file, "inserted": inserted}
    return {**read, "files": files}


def _below(name: str) -> list[str]:
    """Return the names on the way to a folder. A receipt comes with a checkout: none may lead out of it."""
    names = name.split("/")
    if "\0" in name or not {"", os.curdir, os.pardir}.isdisjoint(names):
        raise ValueError(name)
    return names
