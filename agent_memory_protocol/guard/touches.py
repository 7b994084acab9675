"""Which files a tool call changes, and into what: the tools that write, and the commands of a shell that do.

Only what is in the call is judged. A path that a running program makes up is not seen here; access at every other
door holds all the same.
"""

import posixpath

from .words import ANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Protocol

    from .programs import Command

    class Call(Protocol):
        """A tool call as a host reports it: who makes it, where, with which tool and what input."""

        agent: str | None
        cwd: str
        tool: str
        tool_input: dict[str, Any]


# Of tools and their arguments, as all hosts spell them: small letters, without `-` and `_`.
_SHELL_TOOLS = "bash run_shell_command shell exec_command local_shell powershell"
_RUNNING = "shell bash terminal command exec process stdin run eval"
_WRITING = (
    "write edit create replace append insert put save update set_ overwrite truncate patch delete remove move rename "
    "copy mkdir touch extract download unlink checkout restore reset revert trash format"
)
_READING = "read search find get list grep view show"
_RUN = "command cmd commandline script keys"
"""What is a command by the name of the argument, whatever the tool is called."""
_COMMANDS = f"{_RUN} input chars code patch patchtext"
_FOLDERS = "dirpath workdir cwd workingdirectory workingdir directory"
_WHOLE = "content contents filetext"
_TEXTS = f"{_WHOLE} newstring newstr newsource inserttext text body newtext repl replacement newcontent data"
_PROSE = f"{_TEXTS} oldstring oldstr oldtext prompt description instruction query pattern regex".split()
_PATCH = {"*** Add File: ": "write", "*** Update File: ": "append", "*** Delete File: ": "other"}
_PATCH |= {"*** Move to: ": "other", "--- ": "other", "+++ ": "other"}
"""How the part of a patch that is for one file begins, as `apply_patch` and as `diff` write it."""


_MOST_EDITS = 2_000


class Touched:
    """A file that a tool call changes.

    Attributes:
        path: as the call names it, joined to the folder that holds there.
        how: `write` (its whole content is `text`), `append` (`text` comes behind it), `edit`, or `other`.
        text: what comes into it, as far as the call shows.
        edits: what is replaced by what, and whether everywhere.
        instead: what to do in its place, where the tool tells no other way.
    """

    __slots__ = ("edits", "how", "instead", "path", "text")

    def __init__(self, path: str, how: str, text: str = "", edits: "list[tuple[str, str, bool]] | None" = None) -> None:
        self.path, self.how, self.text, self.edits = path, how, text, edits or []
        self.instead = ""

    def applied_to(self, old: bytes, most: int) -> bytes:
        """Return what becomes of a file by it, or its beginning: edits can double a file again and again."""
        new = b"" if self.how == "write" else old
        for before, after, everywhere in self.edits[:_MOST_EDITS]:
            new = new.replace(_bytes(before), _bytes(after), -1 if everywhere else 1) if before else _bytes(after) + new
            if len(new) > most:
                break
        return new if self.how == "edit" else new + _bytes(self.text)


def of_call(call: "Call", cwd: str, environ: "Mapping[str, str]") -> "tuple[list[Command], list[Touched]]":
    """Return the commands that a call lets a shell run, and what it changes."""
    name, given = call.tool.rpartition("__")[2].lower(), _keyed(call.tool_input)  # without the name of its server
    is_shell = name in _SHELL_TOOLS.split()
    runs = not _any_in("patch slash", name) and (_any_in(_RUNNING, name) or any(key in given for key in _RUN.split()))
    text = _told(given) if is_shell or runs else ""
    if not text:
        return [], _of_tool(name, given, cwd)
    folder = next((given[key] for key in _FOLDERS.split() if isinstance(given.get(key), str)), "")
    cwd = posixpath.join(cwd, folder)
    text = text.replace("\\", "/") if "powershell" in name else text
    from .shell import read_commands  # and what it loads: for a shell alone

    commands = read_commands(text, environ, cwd)
    found = [touch for command in commands for touch in _of_command(command)]
    found += [] if is_shell else _of_tool(name, {key: given[key] for key in given if key not in _COMMANDS.split()}, cwd)
    if not is_shell or "]::" in text:  # code, or `[IO.File]::WriteAllText(…)`
        from .code import changed_in

        code = text.replace("]::W", "]::w")
        found += [Touched(posixpath.join(cwd, path), "other") for path in changed_in(code, cwd) or []]
    for touch in found:
        touch.text = touch.text or text
    return commands, found


def _of_tool(name: str, given: "dict[str, Any]", cwd: str) -> "list[Touched]":
    """Return what the call of any other tool changes: nothing, unless its name or what it takes says that it writes."""
    if ("patch" in name or "patch" in given) and (patch := _told(given)):
        return _of_patch(patch, cwd)
    texts = [given[key] for key in _TEXTS.split() if key in given]
    if not _any_in(_WRITING, name) and (not texts or _any_in(_READING, name)):
        return []
    edits = list(_edits(given))
    is_whole = any(isinstance(given.get(key), str) for key in _WHOLE.split()) and "append" not in name
    text = "\n".join([new for _, new, _ in edits] or [text for text in texts if isinstance(text, str)])
    how = "edit" if edits else "write" if is_whole else "other"
    return [Touched(posixpath.join(cwd, path), how, text, edits) for path in _paths(given)]


def _of_command(command: "Command") -> list[Touched]:
    """Return what a command of a shell changes."""
    from .programs import changed, printed
    from .words import named

    text = printed(command)
    found = [
        Touched(path, ("append" if appends else "write") if text else "other", text)
        for target, appends in command.writes
        for path in named([target])
    ]
    if command.name in ("apply_patch", "patch") or (command.name == "git" and {"apply", "am"} & {*command.words}):
        found += _of_patch(command.feed or " ".join(command.words), "")
    found += [Touched(path, "other") for path in changed(command)]
    for touch in found:
        touch.path = posixpath.join(command.folder, touch.path)
        if {"clean", "stash"} & {*command.words[:-1]} and command.name == "git":
            touch.instead = "; to leave memory where it is, end the command with -- ':!.scaffolding'"
    around = dict.fromkeys(command.around)
    return found + [
        Touched(one.path.replace(ANY, path), "other")
        for one in found
        if ANY in one.path and _may_lead_to_memory(one.path.partition(ANY)[0], command.folder)
        for path in around
    ]


def _may_lead_to_memory(before: str, folder: str) -> bool:
    """Say whether what the text names may lie behind the beginning of a path: not in another folder, `/tmp/$1`."""
    here = f"{folder.partition(ANY)[0].rstrip('/')}/"
    return not before.startswith("/") or here.startswith(f"{posixpath.normpath(before)}/".replace("//", "/"))


def _of_patch(patch: str, cwd: str) -> list[Touched]:
    """Return what a patch changes."""
    found: list[Touched] = []
    for line in patch.split("\n"):
        head = next((head for head in _PATCH if line.startswith(head)), "")
        if head:
            path = line[len(head) :].partition("\t")[0].strip()
            path = path[2:] if path.startswith(("a/", "b/")) else path
            found.append(Touched(posixpath.join(cwd, path), _PATCH[head], "", []))
        elif found and line[:1] == "+":
            found[-1].text += f"{line[1:]}\n"
        elif found and line[:1] == "-":
            found[-1].edits.append((f"{line[1:]}\n", "", False))
    return found


def _edits(given: "dict[str, Any]") -> "Iterator[tuple[str, str, bool]]":
    several = given.get("edits")
    for one in [given, *(several if isinstance(several, list) else [])]:
        each = _keyed(one) if isinstance(one, dict) else {}
        old, new = each.get("oldstring", each.get("oldstr")), each.get("newstring", each.get("newstr"))
        if isinstance(old, str) and isinstance(new, str):
            yield old, new, each.get("replaceall") is True


def _paths(given: object, key: str = "") -> "Iterator[str]":
    """Yield every value that may be a path, at any depth."""
    if isinstance(given, str) and key not in _PROSE and "\n" not in given:
        yield given
    for name, one in given.items() if isinstance(given, dict) else ():
        yield from (name,) if "/" in name else ()
        yield from _paths(one, _key(name))
    for one in given if isinstance(given, list) else ():
        yield from _paths(one, key)


def _told(given: "dict[str, Any]") -> str:
    """Return the command, the code or the patch that a tool is given. Some hosts give a command as a list of words."""
    for value in map(given.get, _COMMANDS.split()):
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            from .programs import SHELLS, quoted

            # ["bash", "-lc", "the command"]: what a shell would run is its last word.
            return value[-1] if value[:1] and posixpath.basename(value[0]) in SHELLS else " ".join(map(quoted, value))
    return ""


def _any_in(words: str, name: str) -> bool:
    return any(word in name for word in words.split())


def _keyed(given: "dict[str, Any]") -> "dict[str, Any]":
    """Return values by their keys as all hosts spell them: `file_path` and `filePath` are one."""
    return {_key(key): value for key, value in given.items()}


def _key(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
