"""Programs that start other programs: what `sudo`, `xargs`, `find -exec` or `bash -c` start, and with which words."""

import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .command import Command

SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish"])
_STARTERS: "dict[str, tuple[int, tuple[str, ...]]]" = {
    **dict.fromkeys(("nohup", "time", "command", "builtin", "setsid", "busybox", "chronic", "caffeinate"), (0, ())),
    **dict.fromkeys(("sudo", "doas"), (0, ("-u", "-g", "-C", "-D", "-p"))),
    "exec": (0, ("-a",)),
    "nice": (0, ("-n",)),
    "ionice": (0, ("-c", "-n", "-p")),
    "stdbuf": (0, ("-i", "-o", "-e")),
    "env": (0, ("-u", "-C", "--unset", "--chdir")),
    "timeout": (1, ("-s", "-k")),
    "flock": (1, ("-w", "-E")),
    **dict.fromkeys(("uvx", "pipx", "npx", "bunx"), (0, ("--from", "--with", "--spec", "-p", "--python"))),
}
"""For each program that only starts another: how many words it takes itself, and its options that take one more."""
_RUNNERS = frozenset(["uv", "poetry", "pipenv", "hatch", "rye", "pdm", "pipx"])
_RUNNER_OPTIONS = ("--with", "--from", "-p", "--python", "--project", "--directory")
_XARGS_OPTIONS = ("-I", "-n", "-P", "-L", "-d", "-a", "-s")
_FIND_RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_FIND_PATHS = frozenset(["-path", "-ipath", "-wholename", "-iwholename"])
_PASS_ON = frozenset(["cat", "sort", "uniq", "head", "tail", "tr"])
_MOST_NAMES = 20


def unwrap(command: "Command") -> str:
    """Take away what only starts a program, note the variables that `env` sets, and return the folder it goes to."""
    folder = ""
    while True:
        name, words = command.name, command.words
        if name in _RUNNERS and words[1:2] == ["run"]:
            command.words = _after_options(words[2:], _RUNNER_OPTIONS)
        elif name in _STARTERS:
            own, valued = _STARTERS[name]
            command.words = _after_options(words[1:], valued)[own:]
            options = words[1 : len(words) - len(command.words)]
            if name == "env":
                folder = next(
                    (word for before, word in itertools.pairwise(options) if before in ("-C", "--chdir")), folder
                )
                folder = next((word[8:] for word in options if word.startswith("--chdir=")), folder)
                _set_by_env(command, options)
        else:
            return folder


def started_by(command: "Command") -> "Iterator[list[str]]":
    """Yield the words of the programs that `find` and `xargs` start, with what they are given filled in."""
    if command.name == "xargs":
        words = _after_options(command.words[1:], _XARGS_OPTIONS)
        options = command.words[: len(command.words) - len(words)]
        marks = [one for word, one in itertools.pairwise(options) if word == "-I"]
        marks += [word[2:] for word in options if word.startswith("-I") and word != "-I"]
        names = names_in_output(command)
        if words and marks:
            for name in names[:_MOST_NAMES] or marks[:1]:
                yield [word.replace(marks[0], name) for word in words]
        elif words:
            yield words + names
    elif command.name == "find":
        words = command.words
        for start in (index + 1 for index, word in enumerate(words) if word in _FIND_RUNS):
            end = next((index for index in range(start, len(words)) if words[index] in (";", "+")), len(words))
            for place in found_by(words)[:_MOST_NAMES]:
                yield [word.replace("{}", place) for word in words[start:end]]


def found_by(words: list[str]) -> list[str]:
    """Return the places that `find` looks in, and the paths it looks for, whatever it may find there."""
    ends = (index for index, word in enumerate(words) if index and word[:1] in ("-", "(", "!"))
    places = words[1 : next(ends, len(words))] or ["."]
    for index, word in enumerate(words[:-1]):
        if word in _FIND_PATHS and words[index - 1] not in ("!", "-not") and words[index + 2 : index + 3] != ["-prune"]:
            places.append(words[index + 1])
    return places


def names_in_output(command: "Command") -> list[str]:
    """Return the files that a command is told of on stdin, as far as the text names them.

    Of a search these are the places it looks in, whatever it may find there.
    """
    named = command.feed.split()
    before = command.piped
    while before is not None and before.name in _PASS_ON:
        named += before.feed.split()
        before = before.piped
    if before is None:
        return named
    plain = [word for word in before.words[1:] if not word.startswith("-")]
    if before.name == "find":
        named += found_by(before.words)
    elif before.name in ("grep", "egrep", "fgrep", "rg", "ag"):
        named += plain[1:]
    elif before.name in ("echo", "printf", "ls", "fd") or before.words[:2] == ["git", "ls-files"]:
        named += [one for word in plain for one in word.split()]
    return named


def given_to_a_shell(command: "Command") -> "tuple[str, dict[str, str]]":
    """Return the text that a command gives to a shell (`bash -c '…'`, `eval …`, `bash <<EOF`), and its arguments."""
    name, words = command.name, command.words[1:]
    if name in ("eval", "watch", "parallel"):
        return " ".join(word for word in words if not word.startswith("-")), {}
    if name == "trap":
        return " ".join(words[:1]), {}
    if name in (*SHELLS, "su", "script"):
        for index, word in enumerate(words):
            if word == "--command" or (word.startswith("-") and not word.startswith("--") and "c" in word):
                return " ".join(words[index + 1 : index + 2]), positions(words[index + 3 :])
    if name in SHELLS and all(word.startswith("-") for word in words):
        return command.feed or said_by(command.piped), {}
    return "", {}


def said_by(command: "Command | None") -> str:
    """Return what a command writes into its pipe, where its text tells: `echo …`, `cat <<EOF`."""
    if command is None:
        return ""
    if command.name in ("echo", "printf"):
        return " ".join(word for word in command.words[1:] if not word.startswith("-"))
    return command.feed if command.name == "cat" else ""


def positions(words: list[str]) -> dict[str, str]:
    """Return the variables `$1`, `$2`, `$@` that a shell has for its arguments."""
    return {**{str(number): word for number, word in enumerate(words[:9], 1)}, **dict.fromkeys("@*", " ".join(words))}


def _set_by_env(command: "Command", options: list[str]) -> None:
    """Take the assignments after `env` as variables of the command. A variable that is taken away is empty."""
    for index, word in enumerate(options):
        if word in ("-i", "-", "--ignore-environment"):
            command.sets["AMP_AGENT"] = ""
        elif word in ("-u", "--unset"):
            command.sets.update(dict.fromkeys(options[index + 1 : index + 2], ""))
        elif word.startswith("--unset="):
            command.sets[word[8:]] = ""
    while command.words and "=" in command.words[0]:
        name, _, command.sets[name] = command.words.pop(0).partition("=")


def _after_options(words: list[str], valued: tuple[str, ...]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in valued else words[1:]
    return list(words)
