"""Which files a tool call changes, and into what: the tools that write, and the commands of a shell that do.

Only what stands in the call is judged. A path that a running program makes up is not seen here; access at every other
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


class Touched:
    """A file that a tool call changes.

    Attributes:
        path: as the call names it, joined to the folder that holds there.
        how: `write` (its whole content is `text`), `append`, `edit` (by `edits`), `patch`, or `other`.
        text: what comes into it, as far as the call shows.
        edits: what is replaced by what, and whether everywhere.
        gone: text that a patch takes out.
    """

    __slots__ = ("edits", "gone", "how", "path", "text")

    def __init__(
        self, path: str, how: str, text: str = "", *, edits: "list[tuple[str, str, bool]] | None" = None, gone: str = ""
    ) -> None:
        self.path = path
        self.how = how
        self.text = text
        self.edits = edits or []
        self.gone = gone

    def __repr__(self) -> str:
        return f"Touched({self.path!r}, {self.how})"


def is_shell(tool: str) -> bool:
    """Say whether a tool runs commands of a shell; `of_commands` says what these change."""
    return _bare(tool) in _SHELL_TOOLS


def of_tool(tool: str, given: "dict[str, Any]", cwd: str) -> "list[Touched]":
    """Return what the call of any other tool changes: nothing, unless its name says that it writes."""
    name = _bare(tool)
    if name == "apply_patch":
        return list(_of_patch(command_of(given), cwd))
    if not any(word in name for word in _WRITING_WORDS):
        return []
    edits = _edits(given)
    text = "\n".join(value for key in _TEXT_KEYS if isinstance(value := given.get(key), str))
    how = "edit" if edits else "write" if isinstance(given.get("content"), str) and "append" not in name else "other"
    text = text if how != "edit" else "\n".join(new for _, new, _ in edits)
    paths = [value for key in _PATH_KEYS if isinstance(value := given.get(key), str)]
    return [Touched(posixpath.join(cwd, path), how, text, edits=edits) for path in paths]


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


def of_commands(commands: "list[Command]") -> list[Touched]:
    """Return what the commands of a shell change."""
    found: list[Touched] = []
    for command in commands:
        says = command.name in ("echo", "printf")
        text = command.feed or (" ".join(command.words[1:]) + "\n" if says else "")
        for path, appends in command.writes:
            how = ("append" if appends else "write") if text else "other"
            found.append(Touched(joined(command.folder, path), how, text))
        if command.name == "apply_patch":
            found += _of_patch(command.feed or " ".join(command.words[1:]), command.folder)
        else:
            found += [Touched(joined(command.folder, path), "other") for path in written(command)]
        if command.name == "patch" or (command.name == "git" and {"apply", "am"} & {*command.words}):
            found += _of_diff(stdin(command), command.folder)
    return found


def _of_diff(diff: str, cwd: str) -> "Iterator[Touched]":
    """Yield what a diff changes, as `git apply` and `patch` read it."""
    files: dict[str, list[str]] = {}
    added: list[str] = []
    for line in diff.split("\n"):
        if line.startswith(("--- ", "+++ ")):
            path = line[4:].partition("\t")[0].strip()
            added = files.setdefault(path.partition("/")[2] if path.startswith(("a/", "b/")) else path, [])
        elif line.startswith("+"):
            added.append(line[1:])
    for path, lines in files.items():
        yield Touched(posixpath.join(cwd, path), "other", "\n".join(lines))


def _of_patch(patch: str, cwd: str) -> "Iterator[Touched]":
    """Yield what a patch in the form of `apply_patch` changes."""
    touch: Touched | None = None
    for line in patch.split("\n"):
        for start, how in (("*** Add File: ", "write"), ("*** Update File: ", "patch"), ("*** Delete File: ", "other")):
            if line.startswith(start):
                if touch:
                    yield touch
                touch = Touched(posixpath.join(cwd, line[len(start) :].strip()), how)
        if touch and line.startswith("*** Move to: "):
            yield Touched(posixpath.join(cwd, line[len("*** Move to: ") :].strip()), "other")
        elif touch and line.startswith("+"):
            touch.text += line[1:] + "\n"
        elif touch and line.startswith("-"):
            touch.gone += line[1:] + "\n"
    if touch:
        yield touch


def _edits(given: "dict[str, Any]") -> "list[tuple[str, str, bool]]":
    several = given.get("edits")
    found = []
    for one in [given, *(several if isinstance(several, list) else [])]:
        if isinstance(one, dict):
            old = one.get("old_string", one.get("old_str"))
            new = one.get("new_string", one.get("new_str"))
            if isinstance(old, str) and isinstance(new, str):
                found.append((old, new, one.get("replace_all") is True))
    return found


def _bare(tool: str) -> str:
    """Return a tool's name without that of its server: `mcp__files__write_file` is `write_file`."""
    return tool.rpartition("__")[2].lower()
