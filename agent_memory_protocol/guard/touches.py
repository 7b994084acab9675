"""Which files a tool call changes, and into what: the tools that write, and the commands of a shell that do.

Only what is in the call is judged. A path that a running program makes up is not seen here; access at every other
door holds all the same.
"""

import posixpath

from .code import changed_in
from .programs import SHELLS, joined, printed, quoted, stdin, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .programs import Command

_SHELL_TOOLS = frozenset(["bash", "run_shell_command", "shell", "exec_command", "local_shell", "powershell"])
_RUNNING_WORDS = ("shell", "bash", "terminal", "command", "exec", "process", "stdin", "powershell", "run", "eval")
_COMMAND_KEYS = ("command", "cmd", "commandline", "input", "chars", "script", "code", "patch", "patchtext")
_FOLDER_KEYS = ("dirpath", "workdir", "cwd", "workingdirectory", "workingdir", "directory")
_WRITING_WORDS = (
    *(
        "write",
        "edit",
        "create",
        "replace",
        "append",
        "insert",
        "put",
        "save",
        "update",
        "set_",
        "overwrite",
        "truncate",
    ),
    *("patch", "delete", "remove", "move", "rename", "copy", "mkdir", "touch", "extract", "download", "unlink"),
)
_WHOLE_KEYS = ("content", "contents", "filetext")
_READING_WORDS = ("read", "search", "find", "get", "list", "grep", "view", "show")
_TEXT_KEYS = (
    *("content", "filetext", "newstring", "newstr", "newsource", "inserttext", "text", "contents", "body", "newtext"),
    *("repl", "replacement", "newcontent", "data"),
)
_PROSE_KEYS = frozenset(
    [*_TEXT_KEYS, "oldstring", "oldstr", "oldtext", "prompt", "description", "instruction", "query", "pattern", "regex"]
)
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
    """Say whether a tool runs commands of a shell and nothing else."""
    return _bare(tool) in _SHELL_TOOLS


def command_of(tool: str, given: "dict[str, Any]") -> str:
    """Return the text that a tool lets a shell run; "" for any other tool. Some hosts give it as a list of words."""
    name, given = _bare(tool), _keyed(given)
    runs = name in _SHELL_TOOLS or (name != "apply_patch" and any(word in name for word in _RUNNING_WORDS))
    return _told(given) if runs else ""


def folder_of(given: "dict[str, Any]", cwd: str) -> str:
    """Return the folder that a shell's tool runs in."""
    given = _keyed(given)
    folder = next((given[key] for key in _FOLDER_KEYS if isinstance(given.get(key), str)), "")
    return posixpath.join(cwd, folder)


def of_tool(tool: str, given: "dict[str, Any]", cwd: str) -> "list[Touched]":
    """Return what the call of any other tool changes: nothing, unless its name or what it takes says that it writes."""
    name, given = _bare(tool), _keyed(given)
    if "patch" in name and (patch := _told(given)):
        return _of_patch(patch, _PATCH, cwd) + _of_patch(patch, _DIFF, cwd)
    if not any(word in name for word in _WRITING_WORDS) and (
        given.keys().isdisjoint(_TEXT_KEYS) or any(word in name for word in _READING_WORDS)
    ):
        return []
    edits = tuple(_edits(given))
    is_whole = any(isinstance(given.get(key), str) for key in _WHOLE_KEYS) and "append" not in name
    how = "edit" if edits else "write" if is_whole else "other"
    texts = [new for _, new, _ in edits] or [given[key] for key in _TEXT_KEYS if isinstance(given.get(key), str)]
    return [Touched(posixpath.join(cwd, path), how, "\n".join(texts), edits) for path in _paths(given)]


def of_code(text: str, cwd: str) -> list[Touched]:
    """Return what a text changes if it is code, as some tools run it in place of a command."""
    return [Touched(posixpath.join(cwd, path), "other") for path in changed_in(text) or []]


def of_command(command: "Command") -> list[Touched]:
    """Return what a command of a shell changes."""
    name, words = command.name, command.words[1:]
    text = command.feed or printed(command)
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
            each = _keyed(one)
            old = each.get("oldstring", each.get("oldstr"))
            new = each.get("newstring", each.get("newstr"))
            if isinstance(old, str) and isinstance(new, str):
                yield old, new, each.get("replaceall") is True


def _paths(given: object, key: str = "") -> "Iterator[str]":
    """Yield every value that may be a path, at any depth."""
    if isinstance(given, str):
        if key not in _PROSE_KEYS and "\n" not in given:
            yield given
    elif isinstance(given, dict):
        for name, one in given.items():
            yield from _paths(one, _key(name))
    elif isinstance(given, list):
        for one in given:
            yield from _paths(one, key)


def _told(given: "dict[str, Any]") -> str:
    """Return the command, the code or the patch that a tool is given."""
    for key in _COMMAND_KEYS:
        value = given.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            # ["bash", "-lc", "the command"]: what a shell would run is its last word.
            return value[-1] if value[:1] and posixpath.basename(value[0]) in SHELLS else quoted(value)
    return ""


def _keyed(given: "dict[str, Any]") -> "dict[str, Any]":
    """Return values by their keys as all hosts spell them: `file_path` and `filePath` are one."""
    return {_key(key): value for key, value in given.items()}


def _key(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _bare(tool: str) -> str:
    """Return a tool's name without that of its server: `mcp__files__write_file` is `write_file`."""
    return tool.rpartition("__")[2].lower()
