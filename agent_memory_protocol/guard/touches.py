"""Which files a tool call changes, and into what: the tools that write, and the commands of a shell that do.

Only what is in the call is judged. A path that a running program makes up is not seen here; access at every other
door holds all the same.
"""

import posixpath

from .programs import SHELLS, joined, quoted, stdin, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .programs import Command

_SHELL_TOOLS = frozenset(["bash", "run_shell_command", "shell", "exec_command", "local_shell", "powershell"])
_WRITING_WORDS = (
    *("write", "edit", "create", "replace", "append", "insert"),
    *("patch", "delete", "remove", "move", "rename"),
)
_PATH_KEYS = ("file_path", "path", "notebook_path", "filename", "file", "source", "destination", "old_path", "new_path")
_TEXT_KEYS = ("content", "file_text", "new_string", "new_str", "new_source", "insert_text", "text", "contents")
_PATCH = {
    "*** Add File: ": "write",
    "*** Update File: ": "append",
    "*** Delete File: ": "other",
    "*** Move to: ": "other",
}
_DIFF = {"--- ": "other", "+++ ": "other"}


class Touched:
    """A file that a tool call changes.

    Attributes:
        path: as the call names it, joined to the folder that holds there.
        how: `write` (its whole content is `text`), `append` (`gone` is taken out), `edit` (by `edits`), or `other`.
        text: what comes into it, as far as the call shows.
        edits: what is replaced by what, and whether everywhere.
        gone: text that a patch takes out.
    """

    __slots__ = ("edits", "gone", "how", "path", "text")

    def __init__(self, path: str, how: str, text: str = "", edits: "tuple[tuple[str, str, bool], ...]" = ()) -> None:
        self.path = path
        self.how = how
        self.text = text
        self.edits = edits
        self.gone = ""


def is_shell(tool: str) -> bool:
    """Say whether a tool runs commands of a shell; `of_command` says what these change."""
    return _bare(tool) in _SHELL_TOOLS


def of_tool(tool: str, given: "dict[str, Any]", cwd: str) -> "list[Touched]":
    """Return what the call of any other tool changes: nothing, unless its name says that it writes."""
    name = _bare(tool)
    if name == "apply_patch":
        return _of_patch(command_of(given), _PATCH, cwd)
    if not any(word in name for word in _WRITING_WORDS):
        return []
    edits = tuple(_edits(given))
    how = "edit" if edits else "write" if isinstance(given.get("content"), str) and "append" not in name else "other"
    texts = [new for _, new, _ in edits] or [given[key] for key in _TEXT_KEYS if isinstance(given.get(key), str)]
    paths = [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)]
    return [Touched(posixpath.join(cwd, path), how, "\n".join(texts), edits) for path in paths]


def command_of(given: "dict[str, Any]") -> str:
    """Return the shell command, or the patch, of a tool call; some hosts give it as a list of words."""
    for key in ("command", "cmd", "input", "patch"):
        value = given.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            # ["bash", "-lc", "the command"]: what a shell would run is its last word.
            return value[-1] if value[:1] and posixpath.basename(value[0]) in SHELLS else quoted(value)
    return ""


def of_command(command: "Command") -> list[Touched]:
    """Return what a command of a shell changes."""
    name, words = command.name, command.words[1:]
    text = command.feed or (" ".join(words) + "\n" if name in ("echo", "printf") else "")
    found = [
        Touched(joined(command.folder, path), ("append" if appends else "write") if text else "other", text)
        for path, appends in command.writes
    ]
    if name == "apply_patch":
        return found + _of_patch(command.feed or " ".join(words), _PATCH, command.folder)
    if name == "patch" or (name == "git" and {"apply", "am"} & {*words}):
        found += _of_patch(stdin(command), _DIFF, command.folder)
    return found + [Touched(joined(command.folder, path), "other") for path in written(command)]


def _of_patch(patch: str, heads: dict[str, str], cwd: str) -> list[Touched]:
    """Return what a patch changes whose files begin with these heads: a diff, or one in the form of `apply_patch`."""
    found: list[tuple[Touched, list[str]]] = []
    for line in patch.split("\n"):
        head = next((head for head in heads if line.startswith(head)), "")
        if head:
            path = line[len(head) :].partition("\t")[0].strip()
            path = path[2:] if heads is _DIFF and path.startswith(("a/", "b/")) else path
            found.append((Touched(posixpath.join(cwd, path), heads[head]), []))
        elif found:
            found[-1][1].append(line)
    for touch, lines in found:
        touch.text = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        touch.gone = "".join(f"{line[1:]}\n" for line in lines if line.startswith("-"))
    return [touch for touch, _ in found]


def _edits(given: "dict[str, Any]") -> "Iterator[tuple[str, str, bool]]":
    several = given.get("edits")
    for one in [given, *(several if isinstance(several, list) else [])]:
        if isinstance(one, dict):
            old = one.get("old_string", one.get("old_str"))
            new = one.get("new_string", one.get("new_str"))
            if isinstance(old, str) and isinstance(new, str):
                yield old, new, one.get("replace_all") is True


def _bare(tool: str) -> str:
    """Return a tool's name without that of its server: `mcp__files__write_file` is `write_file`."""
    return tool.rpartition("__")[2].lower()
