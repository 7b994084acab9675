"""What documents said before a distillation: a local file for each, believed only where this checkout wrote it."""

import json
from collections.abc import Iterable, Mapping

from ..disk.files import Root
from ..disk.writing import LOCAL, create, make_local_folder, remove
from ..errors import DamagedFile, InvalidArgument, InvalidName
from ..layout import Target, parse_target
from ..project import local_state

_BACKUPS = "backups"


def names(root: Root) -> list[str]:
    """List the backups there are, oldest first."""
    folder = (*LOCAL, _BACKUPS)
    files = root.list_files(folder) if root.exists(folder) else []
    return sorted(name.removesuffix(".json") for name in files if name.endswith(".json"))


def keep(root: Root, name: str, texts: Mapping[str, str | None]) -> None:
    """Write a backup: the text of each document by its name, None if there was no document."""
    sealed = local_state.claim(root).seal(json.dumps(texts).encode() + b"\n")
    create(root, (*make_local_folder(root, _BACKUPS), f"{name}.json"), sealed)


def read(root: Root, name: str) -> dict[Target, str | None]:
    """Return what a backup holds; DamagedFile if it is not as it was written, or another checkout wrote it."""
    content = root.read(_parts(name))
    path = "/".join(_parts(name))
    try:
        texts = json.loads(b"" if content is None else local_state.find(root).own(content.data))
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, dict) or not all(text is None or isinstance(text, str) for text in texts.values()):
        raise DamagedFile(f"{path}: is not a whole backup made here; nothing was changed, name another with --backup")
    try:
        return {parse_target(spelled): text for spelled, text in texts.items()}
    except (InvalidArgument, InvalidName) as error:
        raise DamagedFile(f"{path}: {error}; nothing was changed") from error


def drop(root: Root, name: str) -> None:
    """Remove a backup."""
    remove(root, _parts(name))


def drop_with(root: Root, texts: Iterable[str]) -> list[str]:
    """Remove the backups that hold one of these texts, and return their names."""
    wanted = [json.dumps(text.strip())[1:-1].encode() for text in texts if text.strip()]
    gone = []
    for name in names(root):
        content = root.read(_parts(name))
        if content is not None and any(one in content.data for one in wanted):
            drop(root, name)
            gone.append(name)
    return gone


def _parts(name: str) -> tuple[str, ...]:
    return (*LOCAL, _BACKUPS, f"{name}.json")
