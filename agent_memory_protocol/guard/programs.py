"""Which files a program of the shell changes, by its name and its words. What only starts another is seen through."""

import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .shell import Command

_STARTERS = frozenset(
    [
        *("sudo", "doas", "nohup", "time", "nice", "ionice"),
        *("command", "builtin", "exec", "stdbuf", "setsid", "busybox"),
    ]
)
_TOUCH_ALL = frozenset(
    [
        *("tee", "rm", "rmdir", "unlink", "shred", "truncate", "touch"),
        *("chmod", "chown", "sponge", "ed", "ex", "mv", "patch"),
        # PowerShell's
        *("set-content", "add-content", "clear-content", "out-file", "new-item"),
        *("remove-item", "move-item", "rename-item"),
    ]
)
_TO_LAST = frozenset(["cp", "install", "ln", "rsync", "scp", "copy-item"])
_IN_PLACE = {
    "sed": ("-i", "--in-place", "-ni", "-Ei", "-ri"),
    "perl": ("-i", "-pi", "-ni"),
    "awk": ("-i",),
    "gawk": ("-i",),
    "yq": ("-i", "--inplace"),
}
_INTO = dict.fromkeys(("cp", "mv", "install", "ln"), ("-t", "--target-directory"))
_OUTPUT_OPTIONS = {
    "curl": ("-o", "--output"),
    "wget": ("-O", "--output-document"),
    "sort": ("-o", "--output"),
    **_INTO,
}
_SCRIPT_OPTIONS = ("-e", "-f", "--expression", "--file", "-E", "-pe", "-ne", "-pie", "-nie")
_ONLY_LOOKS = frozenset(["-n", "--dry-run", "--check", "--stat"])
_FIND_WRITES = frozenset(["-delete", "-fprint", "-fprintf", "-fls"])
_FIND_RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_GIT_WRITES = frozenset(["rm", "mv", "checkout", "restore", "clean", "apply", "stash"])
_INTERPRETERS = ("python", "pypy", "node", "deno", "bun", "perl", "ruby", "php", "lua")
SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish"])
_CODE_OPTIONS = ("-c", "-e", "--eval", "-E", "-r", "-p")
_WRITING_CODE = (
    *("write", "'w", '"w', "'a'", '"a"', "'a+", '"a+', "'x'", '"x"', "'r+", '"r+', "unlink", "remove", "rename"),
    *("replace(", "rmtree", "copy", "move", "truncate", "touch", "append", "O_WRONLY", "O_RDWR", "symlink", "rm("),
)
_READS_FIRST = ("readFileSync(", "readFile(", "File.read(", "File.readlines(", "file_get_contents(", "loadtxt(")
_ONLY_READ = (").read", ").exists", ").is_", ").stat", ").iterdir", ").glob", ").rglob")
_FOR_READING = (")", ",'r'", ',"r"', ",'rb'", ',"rb"', ",'rt'", ',"rt"', ",encoding=")
_PATH_ENDS = "\"'`()[]{},;:=<>|&\n\t "


def unwrapped(words: list[str]) -> list[str]:
    """Take away what only starts another program: `sudo`, `env NAME=value`, `nohup`, `timeout 5`, `xargs`, `uv run`."""
    while words:
        name = posixpath.basename(words[0])
        if name in _STARTERS:
            words = _after_options(words[1:], valued=("-u", "-n", "-g", "-c"))
        elif name == "env":
            words = _after_options(words[1:], valued=("-u", "-C", "--unset", "--chdir"))
            while words and "=" in words[0]:
                words = words[1:]
        elif name == "timeout":
            words = _after_options(words[1:], valued=("-s", "-k"))[1:]
        elif name == "xargs":
            words = _after_options(words[1:], valued=("-I", "-n", "-P", "-L", "-d", "-a", "-s"))
        elif name in ("uv", "poetry", "pipenv", "hatch", "rye", "pdm") and words[1:2] == ["run"]:
            words = _after_options(words[2:], valued=("--with", "--from", "-p", "--python", "--project", "--directory"))
        elif name in ("uvx", "pipx", "npx"):
            words = words[2:] if words[1:2] == ["run"] else words[1:]
            words = _after_options(words, valued=("--from", "--with", "--spec", "-p", "--python"))
        else:
            break
    return words


def _after_options(words: list[str], *, valued: tuple[str, ...]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in valued else words[1:]
    return words


def operands(name: str, words: list[str]) -> "Iterator[str]":
    """Yield the files that a program writes, moves or removes."""
    name = name.lower()
    plain = [word for word in words if not word.startswith("-")]
    if name in _IN_PLACE:
        plain = _without_script(name, words)
    if name in _TOUCH_ALL or _changes_operands(name, words, plain):
        yield from plain
    elif name in _TO_LAST and not (name == "rsync" and _ONLY_LOOKS & {*words}):
        yield from plain[-1:]
    elif name == "dd":
        yield from (word[3:] for word in words if word.startswith("of="))
    options = _OUTPUT_OPTIONS.get(name, ())
    for index, word in enumerate(words):
        for option in options:
            if option.startswith("--"):
                if word.startswith(option + "="):
                    yield word[len(option) + 1 :]
                elif word == option:
                    yield from words[index + 1 : index + 2]
            elif word.startswith("-") and not word.startswith("--"):
                # `-o FILE`, `-oFILE`, and `-sSLo FILE`, where others stand before it.
                if word.endswith(option[1]):
                    yield from words[index + 1 : index + 2]
                elif word.startswith(option):
                    yield word[2:]


def _without_script(name: str, words: list[str]) -> list[str]:
    """Return the files that `sed` and its like are given: no option, and no word of their script."""
    scripts = [index + 1 for index, word in enumerate(words) if word in _SCRIPT_OPTIONS]
    # The empty word is what some kinds of `sed` are given as the ending of a copy.
    plain = [word for index, word in enumerate(words) if word and not word.startswith("-") and index not in scripts]
    has_script = bool(scripts) or name in ("perl", "ruby") or any(word.startswith("--expression=") for word in words)
    return plain if has_script else plain[1:]


def without_git_options(words: list[str]) -> tuple[str, list[str]]:
    """Return the folder that git is told to work in, "" for the current one, and its words without such options."""
    folder, rest = "", words[1:]
    while rest and rest[0].startswith("-"):
        if rest[0] == "-C":
            folder = posixpath.join(folder, *rest[1:2])
        rest = rest[2:] if rest[0] in ("-C", "-c", "--git-dir", "--work-tree") else rest[1:]
    return folder, [words[0], *rest]


def given_by_xargs(command: "Command") -> "list[str]":
    """Return the files that `xargs` gives to the program it starts, as far as the command before its pipe names them.

    Of a search these are the places it looks in, whatever it may find there.
    """
    words = unwrapped(command.words)
    started = command.words[: len(command.words) - len(words)]
    if "xargs" not in map(posixpath.basename, started) or not words:
        return []
    before = unwrapped(command.piped.words) if command.piped is not None else []
    name = posixpath.basename(before[0]) if before else ""
    named = command.feed.split()
    if name == "find":
        ends = (index for index, word in enumerate(before) if index and word[:1] in ("-", "(", "!"))
        named += before[1 : next(ends, len(before))]
    elif name in ("grep", "egrep", "fgrep", "rg", "ag"):
        named += [word for word in before[1:] if not word.startswith("-")][1:]
    elif name in ("echo", "printf", "ls") or before[:2] == ["git", "ls-files"]:
        named += [word for word in before[1:] if not word.startswith("-")]
    marks = [started[index + 1] if word == "-I" else word[2:] for index, word in enumerate(started) if word[:2] == "-I"]
    given = words[1:] if marks else [*words[1:], *(marks := ["{}"])]
    filled = [one for word in given for one in (named if word in marks else [word])]
    return [path for path in operands(posixpath.basename(words[0]), filled) if path in named]


def assignments(command: "Command") -> "dict[str, str]":
    """Return the variables that are set for a command alone: `NAME=value` in front of it, or by `env`."""
    started = command.words[: len(command.words) - len(unwrapped(command.words))]
    by_env = [word.partition("=") for word in started if "=" in word and not word.startswith("-")]
    return {**command.sets, **{name: value for name, _, value in by_env}}


def _changes_operands(name: str, words: list[str], plain: list[str]) -> bool:
    """Say whether a program changes the files it names, with the options or the verb it is given."""
    if name == "git":
        return bool(plain) and plain[0] in _GIT_WRITES and not _ONLY_LOOKS & {*words}
    if name == "find":
        return not _FIND_WRITES.isdisjoint(words) or any(_changes_found(words[index:]) for index in _runs(words))
    return name in _IN_PLACE and any(word.startswith(_IN_PLACE[name]) for word in words)


def _runs(words: list[str]) -> "Iterator[int]":
    """Yield where in the words of `find` a command begins that it runs on what it finds."""
    return (index + 1 for index, word in enumerate(words) if word in _FIND_RUNS)


def _changes_found(words: list[str]) -> bool:
    """Say whether a command that `find` runs changes what stands for `{}`."""
    words = unwrapped(words)
    return bool(words) and any("{}" in path for path in operands(posixpath.basename(words[0]), words[1:]))


def written_by_code(name: str, words: list[str], feed: str) -> "Iterator[tuple[str, str]]":
    """Yield the paths in code that is given to an interpreter and looks as if it writes, each with the code."""
    if not name.startswith(_INTERPRETERS):
        return
    codes = [words[index + 1] for index, word in enumerate(words[:-1]) if word in _CODE_OPTIONS or word == "-ne"]
    for code in (*codes, feed):
        if code and any(sign in code for sign in _WRITING_CODE):
            for path, start, end in _paths_in(code):
                if _is_whole(code, start, name) and not _is_only_read(code[:start], code[end:]):
                    yield path, code


def _is_whole(code: str, start: int, name: str) -> bool:
    """Say whether a path begins where a text in the code does, and does not stand in the midst of one."""
    quotes = ("'", '"', "}", ">") if name.startswith(("python", "pypy")) else ("'", '"', "}", ">", "`", "<", "{", "(")
    return code[max(start - 1, 0) : start] in quotes


def _is_only_read(before: str, after: str) -> bool:
    """Say whether a path in code is opened there and then, and for reading."""
    before, after = before[:-1].rstrip(), after[1:].replace(" ", "")
    if before.endswith(_READS_FIRST):
        return True
    if before.endswith("Path("):
        return after.startswith(_ONLY_READ)
    return before.endswith("open(") and not before.endswith("fdopen(") and after.startswith(_FOR_READING)


def _paths_in(text: str) -> "Iterator[tuple[str, int, int]]":
    """Yield what in a text looks like a path into `.scaffolding`, and where it begins and ends."""
    position = text.find(".scaffolding")
    while position >= 0:
        start = position
        while start and text[start - 1] not in _PATH_ENDS:
            start -= 1
        end = position
        while end < len(text) and text[end] not in _PATH_ENDS:
            end += 1
        yield text[start:end], start, end
        position = text.find(".scaffolding", end)
