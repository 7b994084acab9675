"""Anthropic's memory tool over the tiers: the six commands of `memory_20250818`, for one actor.

A model that was trained on the tool sees files under `/memories`. Here they are the project's own memory: the shared
tier, the agents' and the actor's conversation, each document with its notes. What the tool says is what the
published one says, word for word; what it may do is what the actor may do at every other door.
"""

import os
from collections.abc import Callable, Mapping

from ..answers import Rewritten, StoredFile
from ..errors import InvalidArgument, InvalidName, LinkRefused
from ..layout import Target, Tier, check_agent_name
from ..project.access import Actor
from ..secrets.mask import masked
from ..text.visible import show_text
from ..workspace import Workspace
from .texts import (
    MOST_LINES,
    ROOT,
    MemoryToolError,
    Names,
    Tree,
    answer,
    as_stored,
    listing,
    names_of,
    numbered,
    path_of,
    plain_text,
    replaced_once,
    text_of,
    view_range,
)

__all__ = ["MemoryTool", "MemoryToolError"]


_Place = tuple[Target, str]  # A document, or with a file name a note in its folder

_Change = Callable[[str | None], str | None]


class MemoryTool:
    """The memory tool of one actor in one project.

    Args:
        root: the project root; by default it is found from the current folder.
        actor: whose memory it is, in which conversation.
        environ: the environment, for settings; by default that of the process.
    """

    def __init__(
        self,
        root: "str | os.PathLike[str] | None" = None,
        *,
        actor: Actor,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._actor = actor
        self._workspace = Workspace.open(root, environ=environ)
        self._commands: dict[str, Callable[[Mapping[str, object]], str]] = {
            "view": self._view,
            "create": self._create,
            "str_replace": self._str_replace,
            "insert": self._insert,
            "delete": self._delete,
            "rename": self._rename,
        }

    @property
    def commands(self) -> tuple[str, ...]:
        """The names of the commands."""
        return tuple(self._commands)

    def execute(self, command: Mapping[str, object]) -> str:
        """Carry out one command, as the model sends it: `{"command": "view", "path": "/memories"}`.

        Returns the text for the model. What else it should know follows, a line each: that the file is nearly full, or
        what the ledger does not keep.

        Raises:
            MemoryToolError: it cannot be done; where the published tool has a text for it, it is that one.
            Refused: a rule of the memory forbids it, such as access, a limit, a secret; nothing was changed.
            InvalidArgument, InvalidName: the command is malformed, or names what cannot be a file of memory.
            StorageError: something on disk is damaged or in the way.
        """
        if not isinstance(command, Mapping):
            raise InvalidArgument("a command is an object with the key `command`")
        name = command.get("command")
        if not isinstance(name, str) or name not in self._commands:
            raise MemoryToolError(f"Unknown command: {name}")
        try:
            return show_text(masked(self._commands[name](command)))
        except LinkRefused as error:
            raise MemoryToolError("Path would escape /memories directory via symlink") from error

    # -- the six commands ----------------------------------------------------------------------------------------------

    def _view(self, command: Mapping[str, object]) -> str:
        path = text_of(command, "path")
        names = names_of(path)
        tree = self._below(names)
        if tree is not None:
            return listing(path, tree)
        text = self._read(names)
        if text is None:
            raise MemoryToolError(f"The path {path} does not exist. Please provide a valid path.")
        lines = plain_text(text).split("\n")
        if len(lines) > MOST_LINES:
            raise MemoryToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, last = view_range(command, len(lines))
        return f"Here's the content of {path} with line numbers:\n{numbered(lines[first:last], first + 1)}"

    def _create(self, command: Mapping[str, object]) -> str:
        path, text = text_of(command, "path"), text_of(command, "file_text")
        names = names_of(path)
        taken = f"File {path} already exists"
        if self._below(names) is not None:
            raise MemoryToolError(taken)
        done = self._rewrite(self._place(names, path), _only_new(text, taken), "written again")
        return answer(f"File created successfully at: {path}", done)

    def _str_replace(self, command: Mapping[str, object]) -> str:
        path = text_of(command, "path")
        old, new = text_of(command, "old_str"), text_of(command, "new_str")
        if not old:
            raise InvalidArgument("old_str is empty; give the text that is to be replaced")
        snippet = ""

        def change(text: str) -> str:
            nonlocal snippet
            changed, line = replaced_once(text, as_stored(text, plain_text(old)), plain_text(new), path)
            start = max(0, line - 2)
            snippet = numbered(changed.split("\n")[start : line + 3], start + 1)
            return changed

        done = self._edit(path, change)
        said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return answer(f"{said}\n{snippet}", done)

    def _insert(self, command: Mapping[str, object]) -> str:
        path, inserted = text_of(command, "path"), text_of(command, "insert_text")
        number = command.get("insert_line")
        if not isinstance(number, int) or isinstance(number, bool):
            raise InvalidArgument("the command needs insert_line, a whole number")

        def change(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= number <= len(lines):
                raise MemoryToolError(
                    f"Invalid `insert_line` parameter: {number}. It should be within the range [0, {len(lines)}]."
                )
            changed = "\n".join([*lines[:number], plain_text(inserted).rstrip("\n"), *lines[number:]])
            return changed if changed.endswith("\n") else changed + "\n"

        return answer(f"The file {path} has been edited.", self._edit(path, change))

    def _delete(self, command: Mapping[str, object]) -> str:
        path = text_of(command, "path")
        names = names_of(path)
        if names in ((), (Tier.AGENT.address,)):
            raise MemoryToolError(f"Cannot delete the {path_of(names)} directory itself")
        tree = self._below(names)
        files = [(names, self._place_or_none(names))] if tree is None else []
        for below, file in (tree or {}).items():
            if file is not None:
                files.append(((*names, *below), (file.target, file.note)))
        done = None
        # A document goes last: with each note that goes, the index in it is written again.
        for _, place in sorted(files, key=lambda one: one[1] is not None and not one[1][1]):
            done = self._change(place, lambda _: None, "deleted", f"The path {path} does not exist")
        return answer(f"Successfully deleted {path}", done)

    def _rename(self, command: Mapping[str, object]) -> str:
        old, new = text_of(command, "old_path"), text_of(command, "new_path")
        old_names, new_names = names_of(old), names_of(new)
        if not old_names:
            raise MemoryToolError(f"Cannot rename the {ROOT} directory itself")
        taken = f"The destination {new} already exists"
        if self._below(new_names) is not None or new_names in self._files():
            raise MemoryToolError(taken)
        if self._below(old_names) is not None:
            raise MemoryToolError(f"Cannot rename the {path_of(old_names)} directory itself")
        text = self._read(old_names)
        if text is None:
            raise MemoryToolError(f"The path {old} does not exist")
        old_place, new_place = self._place(old_names, old), self._place(new_names, new)
        # An agent that may not take a file away must not leave a copy of it elsewhere.
        self._rewrite(old_place, lambda present: present, "")
        done = self._rewrite(new_place, _only_new(text, taken), "")

        def take_out(present: str) -> None:
            if present != text:
                raise MemoryToolError("The file was changed just now and stays where it is, beside its copy.")

        self._change(old_place, take_out, f"renamed to {new}", f"The path {old} does not exist")
        return answer(f"Successfully renamed {old} to {new}", done)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def _below(self, names: Names) -> Tree | None:
        """Return what is in a folder; None if it is missing. The actor's own places are there from the start."""
        files = self._files()
        spelled = {file.target: file.target for file in files.values()}
        places = [self._folder_of(spelled.get(target, target)) for target in self._own()]
        tree: Tree = {(): None, **{place: None for place in places if place is not None}, **files}
        inside = {path[len(names) :]: file for path, file in tree.items() if path[: len(names)] == names != path}
        return inside if inside or tree.get(names, ...) is None else None

    def _files(self) -> dict[Names, StoredFile]:
        found = {}
        for file in self._workspace.files(self._actor):
            folder = self._folder_of(file.target)
            if folder is not None:
                found[*folder, file.note or file.target.parts[-1]] = file
        return found

    def _folder_of(self, target: Target) -> Names | None:
        return target.address if target.tier is not Tier.CONVERSATION or target in self._actor.targets() else None

    def _own(self) -> list[Target]:
        """List the documents that are this actor's to write, as far as their tiers are switched on."""
        settings = self._workspace.settings
        return [target for target in self._actor.targets() if settings.has_tier(target.tier)]

    def _place_or_none(self, names: Names) -> _Place | None:
        """Return the document, or the note in its folder, that a path means; None if there can be no memory."""
        target = None
        match names:
            case ("shared", _):
                target = Target(Tier.SHARED)
            case ("agents", agent, _):
                target = Target(Tier.AGENT, check_agent_name(agent))
            case ("conversation", _) if self._actor.conversation is not None:
                target = Target(Tier.CONVERSATION, self._actor.conversation)
        return None if target is None else (target, "" if names[-1] == target.parts[-1] else names[-1])

    def _place(self, names: Names, path: str) -> _Place:
        found = self._place_or_none(names)
        if found is None:
            own = [(path_of(self._folder_of(one) or ()), one) for one in self._own()]
            files = [f"{folder}/{one.parts[-1]}" for folder, one in own]
            notes = [f"{folder}/NAME.md" for folder, one in own if one.tier.has_notes]
            raise InvalidName(f"{path!a} is not a place for memory; there are {', '.join([*files, *notes])}")
        return found

    def _read(self, names: Names) -> str | None:
        place = self._place_or_none(names)
        if place is None:
            return None
        try:
            return self._workspace.read_file(place[0], note=place[1], actor=self._actor)
        except (InvalidName, InvalidArgument):
            return None  # no file can have such a name

    def _rewrite(self, place: _Place, change: _Change, reason: str) -> Rewritten:
        return self._workspace.rewrite(place[0], change, note=place[1], actor=self._actor, reason=reason)

    def _edit(self, path: str, change: Callable[[str], str]) -> Rewritten:
        names = names_of(path)
        if self._below(names) is not None:
            raise MemoryToolError(f"The path {path} is not a file.")

        def changed(text: str) -> str:
            plain = plain_text(text)
            new = change(plain)
            return new if plain == text else new.replace("\n", "\r\n")

        missing = f"The path {path} does not exist. Please provide a valid path."
        return self._change(self._place_or_none(names), changed, "edited", missing)

    def _change(
        self, place: _Place | None, change: Callable[[str], str | None], reason: str, missing: str
    ) -> Rewritten:
        """Change a file that exists, or remove it if `change` returns None; else refuse with the text `missing`."""
        if place is None:
            raise MemoryToolError(missing)

        def changed(text: str | None) -> str | None:
            if text is None:
                raise MemoryToolError(missing)
            return change(text)

        return self._rewrite(place, changed, reason)


def _only_new(text: str, taken: str) -> _Change:
    """Return what creates a file with this text, and refuses one that exists with the text `taken`."""

    def change(present: str | None) -> str:
        if present is not None:
            raise MemoryToolError(taken)
        return text

    return change
