"""Redactions that were begun, until they are finished: their ids, which tell nothing of what they were for.

A process may be killed between document, ledger, journal and index. What is noted here says that something of the
text may be left, and lets the same command finish it.
"""

import json
from collections.abc import Sequence

from ..disk import waiting
from ..disk.files import Root
from ..disk.writing import LOCAL, append, remove, remove_leftovers, remove_tree, replace
from ..errors import InvalidArgument, InvalidName
from ..layout import SCAFFOLDING, Target, parse_target
from ..project import local_state

_NOTED = (*LOCAL, "redacting.jsonl")


def begin(root: Root, target: Target, names: Sequence[str]) -> None:
    """Note which entries, or notes, of a document are about to be redacted."""
    line = json.dumps({"target": str(target), "names": [*names]}, ensure_ascii=False).encode() + b"\n"
    append(root, _NOTED, local_state.claim(root).seal(line))


def unfinished(root: Root) -> dict[str, Target]:
    """Return what was begun and is not finished: the document of each entry or note."""
    content = root.read(_NOTED)
    found: dict[str, Target] = {}
    lines = b"" if content is None else local_state.find(root).own(content.data)
    for line in lines.splitlines():
        value = json.loads(line)
        try:
            target = parse_target(value["target"])
        except (InvalidArgument, InvalidName):
            continue
        found |= dict.fromkeys(value["names"], target)
    return found


def finish(root: Root, names: Sequence[str]) -> None:
    """Take away what killed writers have left, wherever it is, and note that nothing is left of these."""
    remove_tree(root, waiting.FOLDER)  # a live writer whose request goes writes alone
    folders: list[tuple[str, ...]] = [(SCAFFOLDING,)]

    def enter(folder: tuple[str, ...]) -> bool:
        folders.append(folder)
        return True

    for _ in root.files_below((SCAFFOLDING,), enter):
        pass
    for one in folders:
        remove_leftovers(root, one)
    content = root.read(_NOTED)
    left = {name: target for name, target in unfinished(root).items() if name not in names}
    if content is None or not left:
        remove(root, _NOTED)
        return
    lines = b"".join(
        json.dumps({"target": str(target), "names": [name]}, ensure_ascii=False).encode() + b"\n"
        for name, target in left.items()
    )
    replace(root, _NOTED, local_state.find(root).seal(lines), expected=content)
