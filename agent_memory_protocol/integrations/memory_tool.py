"""Anthropic's memory tool over the tiers: the six commands of `memory_20250818`, for one actor.

A model that was trained on the tool sees files under `/memories`. Here they are the project's own memory: the shared
tier, the agents' and the actor's conversation, each document with the notes beside it. What the tool says is what the
published one says, word for word; what it may do is what the actor may do at every other door.
"""

import os
from collections.abc import Callable, Iterator, Mapping

from ..access import Actor
from ..answers import Rewritten, StoredFile
from ..errors import AgentMemoryError, InvalidArgument, InvalidName, LinkRefused
from ..layout import Target, Tier, check_agent_name, name_key
from ..workspace import Workspace

ROOT = "/memories"

_MOST_LINES = 999_999
_NUMBER_WIDTH = 6
_LEVELS = 2
_UNITS = "BKMG"
_SHARED, _AGENTS, _CONVERSATION = "shared", "agents", "conversation"

_Names = tuple[str, ...]
"""A path below `/memories`, one name each."""

_Tree = Mapping[_Names, StoredFile | None]
"""What lies below a folder, by path: files, and places for files that are there even while they are empty."""

_Place = tuple[Target, str]
"""A document, or with a file name a note beside it."""

_Change = Callable[[str | None], str | None]


class MemoryToolError(AgentMemoryError):
    """The answer to a command that cannot be carried out, in the words of the published tool."""


class MemoryTool:
    """The memory tool of one actor in one project.

    Args:
        root: the project root; found from the current folder where it is left out.
        actor: whose memory it is, in which conversation.
        environ: the environment, for settings; that of the process where it is left out.
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

        Returns the text for the model. What it should know beside that follows on lines of its own: that the file is
        nearly full, or what the ledger does not keep.

        Raises:
            MemoryToolError: it cannot be done; where the published tool has a text for it, it is that one.
            Refused: a rule of the memory forbids it, such as access, a limit, a secret; nothing was changed.
            InvalidArgument, InvalidName: the command is no command, or names what cannot be a file of memory.
            StorageError: something on disk is damaged or in the way.
        """
        if not isinstance(command, Mapping):
            raise InvalidArgument("a command is an object with the key `command`")
        name = command.get("command")
        if not isinstance(name, str) or name not in self._commands:
            raise MemoryToolError(f"Unknown command: {name}")
        try:
            return self._commands[name](command)
        except LinkRefused as error:
            raise MemoryToolError("Path would escape /memories directory via symlink") from error

    # -- the six commands ----------------------------------------------------------------------------------------------

    def _view(self, command: Mapping[str, object]) -> str:
        path = _text(command, "path")
        names = _names(path)
        tree = self._below(names)
        if tree is not None:
            return _listing(path, tree)
        text = self._read(names)
        if text is None:
            raise MemoryToolError(f"The path {path} does not exist. Please provide a valid path.")
        lines = _plain(text).split("\n")
        if len(lines) > _MOST_LINES:
            raise MemoryToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, last = _view_range(command, len(lines))
        return f"Here's the content of {path} with line numbers:\n{_numbered(lines[first:last], first + 1)}"

    def _create(self, command: Mapping[str, object]) -> str:
        path, text = _text(command, "path"), _text(command, "file_text")
        names = _names(path)
        if self._below(names) is not None:
            raise MemoryToolError(f"File {path} already exists")

        def change(present: str | None) -> str:
            if present is not None:
                raise MemoryToolError(f"File {path} already exists")
            return text

        done = self._rewrite(self._place(names, path), change, "written anew")
        return _answer(f"File created successfully at: {path}", done)

    def _str_replace(self, command: Mapping[str, object]) -> str:
        path = _text(command, "path")
        old, new = _text(command, "old_str"), _text(command, "new_str")
        if not old:
            raise InvalidArgument("old_str is empty; give the text that is to be replaced")
        snippet = ""

        def change(text: str) -> str:
            nonlocal snippet
            changed, line = _replaced_once(text, _plain(old), _plain(new), path)
            start = max(0, line - 2)
            snippet = _numbered(changed.split("\n")[start : line + 3], start + 1)
            return changed

        done = self._edit(path, change)
        said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        return _answer(f"{said}\n{snippet}", done)

    def _insert(self, command: Mapping[str, object]) -> str:
        path, inserted = _text(command, "path"), _text(command, "insert_text")
        number = command.get("insert_line")
        if not isinstance(number, int) or isinstance(number, bool):
            raise InvalidArgument("the command needs insert_line, a whole number")

        def change(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= number <= len(lines):
                raise MemoryToolError(
                    f"Invalid `insert_line` parameter: {number}. It should be within the range [0, {len(lines)}]."
                )
            changed = "\n".join([*lines[:number], _plain(inserted).rstrip("\n"), *lines[number:]])
            return changed if changed.endswith("\n") else changed + "\n"

        return _answer(f"The file {path} has been edited.", self._edit(path, change))

    def _delete(self, command: Mapping[str, object]) -> str:
        path = _text(command, "path")
        names = _names(path)
        if names in ((), (_AGENTS,)):
            raise MemoryToolError(f"Cannot delete the {_path(names)} directory itself")
        tree = self._below(names)
        files = [(names, self._place_or_none(names))] if tree is None else []
        for below, file in (tree or {}).items():
            if file is not None:
                files.append(((*names, *below), (file.target, file.note)))
        done = None
        # A document goes last: with each note that goes, the index in it is written anew.
        for _, place in sorted(files, key=lambda one: one[1] is not None and not one[1][1]):
            done = self._take_out(place, f"The path {path} does not exist", "deleted")
        return _answer(f"Successfully deleted {path}", done)

    def _rename(self, command: Mapping[str, object]) -> str:
        old, new = _text(command, "old_path"), _text(command, "new_path")
        old_names, new_names = _names(old), _names(new)
        if not old_names:
            raise MemoryToolError(f"Cannot rename the {ROOT} directory itself")
        if self._below(new_names) is not None or new_names in self._files():
            raise MemoryToolError(f"The destination {new} already exists")
        if self._below(old_names) is not None:
            raise MemoryToolError(f"Cannot rename the {_path(old_names)} directory itself")
        text = self._read(old_names)
        if text is None:
            raise MemoryToolError(f"The path {old} does not exist")
        old_place, new_place = self._place(old_names, old), self._place(new_names, new)
        # Whoever may not take a file away must not leave a copy of it elsewhere.
        self._rewrite(old_place, lambda present: present, "")

        def create(present: str | None) -> str:
            if present is not None:
                raise MemoryToolError(f"The destination {new} already exists")
            return text

        done = self._rewrite(new_place, create, "")
        self._take_out(old_place, f"The path {old} does not exist", f"renamed to {new}", expected=text)
        return _answer(f"Successfully renamed {old} to {new}", done)

    # -- files and folders ---------------------------------------------------------------------------------------------

    def _below(self, names: _Names) -> _Tree | None:
        """Return what lies in a folder; None where there is no such folder.

        The places of the actor's own documents are there from the start, so that it sees where it may write.
        """
        files = self._files()
        spelled = {file.target: file.target for file in files.values()}
        places = [self._folder_of(spelled.get(target, target)) for target in self._own()]
        tree: _Tree = {(): None, **{place: None for place in places if place is not None}, **files}
        inside = {path[len(names) :]: file for path, file in tree.items() if path[: len(names)] == names != path}
        return inside if inside or tree.get(names, ...) is None else None

    def _files(self) -> dict[_Names, StoredFile]:
        found = {}
        for file in self._workspace.files(self._actor):
            folder = self._folder_of(file.target)
            if folder is not None:
                found[*folder, file.note or file.target.parts[-1]] = file
        return found

    def _folder_of(self, target: Target) -> _Names | None:
        """Return the folder that a document is shown in; None for another conversation's."""
        if target.tier is Tier.SHARED:
            return (_SHARED,)
        if target.tier is Tier.AGENT:
            return _AGENTS, target.owner
        own = self._actor.conversation
        return (_CONVERSATION,) if own is not None and name_key(own) == name_key(target.owner) else None

    def _own(self) -> list[Target]:
        """List the documents that are this actor's to write, as far as their tiers are switched on."""
        settings = self._workspace.settings
        own = [Target(Tier.SHARED)]
        if self._actor.agent is not None:
            own.append(Target(Tier.AGENT, self._actor.agent))
        if self._actor.conversation is not None:
            own.append(Target(Tier.CONVERSATION, self._actor.conversation))
        return [target for target in own if settings.has_tier(target.tier)]

    def _place_or_none(self, names: _Names) -> _Place | None:
        """Return the document, and the note beside it, that a path means; None where no memory can be."""
        target = None
        match names:
            case ("shared", _):
                target = Target(Tier.SHARED)
            case ("agents", agent, _):
                target = Target(Tier.AGENT, check_agent_name(agent))
            case ("conversation", _) if self._actor.conversation is not None:
                target = Target(Tier.CONVERSATION, self._actor.conversation)
        return None if target is None else (target, "" if names[-1] == target.parts[-1] else names[-1])

    def _place(self, names: _Names, path: str) -> _Place:
        found = self._place_or_none(names)
        if found is None:
            own = [(_path(self._folder_of(one) or ()), one) for one in self._own()]
            files = [f"{folder}/{one.parts[-1]}" for folder, one in own]
            notes = [f"{folder}/NAME.md" for folder, one in own if one.tier is not Tier.CONVERSATION]
            raise InvalidName(f"{path!a} is no place for memory; there are {', '.join([*files, *notes])}")
        return found

    def _read(self, names: _Names) -> str | None:
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
        names = _names(path)
        if self._below(names) is not None:
            raise MemoryToolError(f"The path {path} is not a file.")
        place = self._place_or_none(names)
        missing = f"The path {path} does not exist. Please provide a valid path."
        if place is None:
            raise MemoryToolError(missing)

        def changed(text: str | None) -> str:
            if text is None:
                raise MemoryToolError(missing)
            plain = _plain(text)
            new = change(plain)
            return new if plain == text else new.replace("\n", "\r\n")

        return self._rewrite(place, changed, "edited")

    def _take_out(self, place: _Place | None, missing: str, reason: str, *, expected: str | None = None) -> Rewritten:
        if place is None:
            raise MemoryToolError(missing)

        def change(text: str | None) -> None:
            if text is None:
                raise MemoryToolError(missing)
            if expected is not None and text != expected:
                raise MemoryToolError("The file was changed just now and stays where it is, beside its copy.")

        return self._rewrite(place, change, reason)


def _names(path: str) -> _Names:
    """Return the names of a path below `/memories`."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise MemoryToolError(f"Path must start with {ROOT}, got: {path}")
    names: list[str] = []
    for name in path[len(ROOT) :].split("/"):
        if name == "..":
            if not names:
                raise MemoryToolError(f"Path {path} would escape {ROOT} directory")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return tuple(names)


def _path(names: _Names) -> str:
    return "/".join((ROOT, *names))


def _text(command: Mapping[str, object], key: str) -> str:
    value = command.get(key)
    if not isinstance(value, str):
        raise InvalidArgument(f"the command needs {key}, a text")
    return value


def _view_range(command: Mapping[str, object], lines: int) -> tuple[int, int]:
    """Return which lines are asked for, as the bounds of a slice. What lies outside the file is no error."""
    asked = command.get("view_range")
    if asked is None or asked == []:
        return 0, lines
    if not isinstance(asked, list) or any(not isinstance(one, int) or isinstance(one, bool) for one in asked):
        raise InvalidArgument("view_range is a list of two line numbers")
    if len(asked) != 2:
        return 0, lines
    return max(1, asked[0]) - 1, lines if asked[1] == -1 else asked[1]


def _plain(text: str) -> str:
    r"""Return a text with `\n` for its line ends where all of them are `\r\n`; any other as it is.

    A model sends lines that end in `\n`, so in such a file it would never find two lines again.
    """
    ends = text.count("\r\n")
    return text.replace("\r\n", "\n") if ends and ends == text.count("\n") else text


def _replaced_once(text: str, old: str, new: str, path: str) -> tuple[str, int]:
    """Return the text with the one place of `old` replaced, and the index of the line where that is."""
    count = text.count(old)
    if count == 0:
        raise MemoryToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
    places = [place for place in range(len(text)) if text.startswith(old, place)]
    lines = [text.count("\n", 0, place) for place in places]
    if count > 1:
        numbers = ", ".join(str(line + 1) for line in lines)
        raise MemoryToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {numbers}. "
            "Please ensure it is unique"
        )
    return text.replace(old, new), lines[0]


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first))


def _listing(path: str, tree: _Tree) -> str:
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    folder = path.rstrip("/")
    rows = [(_shown_size(tree), folder), *((size, f"{folder}/{name}") for size, name in _rows(tree, _LEVELS))]
    return "\n".join([header, *(f"{size}\t{name}" for size, name in rows)])


def _rows(tree: _Tree, levels: int) -> Iterator[tuple[str, str]]:
    """Yield the size and the name of each file and folder, folders with a slash, as many levels deep."""
    for name in sorted({path[0] for path in tree}):
        below = {path[1:]: file for path, file in tree.items() if path[0] == name}
        is_file = below.get(()) is not None
        yield _shown_size(below), name if is_file else f"{name}/"
        if levels > 1 and not is_file:
            inside = {path: file for path, file in below.items() if path}
            yield from ((size, f"{name}/{rest}") for size, rest in _rows(inside, levels - 1))


def _shown_size(tree: _Tree) -> str:
    """Return the size of all files together as the published tool prints sizes: 0B, 13B, 4K, 1.5K."""
    size = float(sum(file.size for file in tree.values() if file is not None))
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size /= 1024
        unit += 1
    return f"{int(size) if size == int(size) else format(size, '.1f')}{_UNITS[unit]}"


def _answer(said: str, done: Rewritten | None) -> str:
    """Return the published text, and on lines of their own what the model should know beside it."""
    notes = [] if done is None else [*done.notes]
    room = None if done is None else done.headroom
    if room is not None and room.is_near:
        notes.append(
            f"the file is nearly full: {room.lines} of {room.max_lines} lines "
            f"and {room.bytes:,} of {room.max_bytes:,} bytes are left"
        )
    return "\n".join([said, *(f"({note})" for note in notes)])
