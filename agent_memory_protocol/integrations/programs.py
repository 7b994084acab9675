"""Which files a program of the shell changes, by its name and its words. What only starts another is seen through."""

import posixpath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STARTERS = frozenset(
    [
        *("sudo", "doas", "nohup", "time", "nice", "ionice"),
        *("command", "builtin", "exec", "stdbuf", "setsid"),
    ]
)
_TOUCH_ALL = frozenset(
    [
        *("tee", "rm", "rmdir", "unlink", "shred", "truncate", "touch"),
        *("chmod", "chown", "sponge", "ed", "ex", "mv", "patch"),
    ]
)
_TO_LAST = frozenset(["cp", "install", "ln", "rsync", "scp"])
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
    plain = [word for word in words if not word.startswith("-")]
    if name in _TOUCH_ALL or _changes_operands(name, words, plain):
        yield from plain
    elif name in _TO_LAST:
        yield from plain[-1:]
    elif name == "dd":
        yield from (word[3:] for word in words if word.startswith("of="))
    options = _OUTPUT_OPTIONS.get(name, ())
    for index, word in enumerate(words):
        if word in options:
            yield from words[index + 1 : index + 2]
        yield from (word[len(option) + 1 :] for option in options if word.startswith(option + "="))


def _changes_operands(name: str, words: list[str], plain: list[str]) -> bool:
    """Say whether a program changes the files it names, with the options or the verb it is given."""
    if name == "git":
        return bool(plain) and plain[0] in _GIT_WRITES
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
            for path in _paths_in(code):
                yield path, code


def _paths_in(text: str) -> "Iterator[str]":
    """Yield what in a text looks like a path into `.scaffolding`."""
    position = text.find(".scaffolding")
    while position >= 0:
        start = position
        while start and text[start - 1] not in _PATH_ENDS:
            start -= 1
        end = position
        while end < len(text) and text[end] not in _PATH_ENDS:
            end += 1
        yield text[start:end]
        position = text.find(".scaffolding", end)
