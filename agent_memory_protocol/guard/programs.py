"""The programs of a shell: what each one starts, prints, and may change of the files it names.

A program changes every file it names, unless `programs.txt` knows it to read.
"""

import posixpath

from .texts import echoed, filtered, formatted
from .words import after_options, guarded, is_guarded, named, plain, unbraced, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish", "source", "."])
_RUN_WORDS = frozenset(["eval", "trap"])
_MOST_STARTERS = 100
_MOST_NAMES = 20
_LONGEST_NAMES = 1 << 12
_AMP = frozenset(["agent-memory", "agent_memory_protocol", "agent_memory_protocol.cli.main"])
_TWO_WORDS = frozenset(["git", "amp", "hatch", "pdm", "pipenv", "pipx", "poetry", "rye", "uv"])
_TWO_WORDS |= {"docker", "kubectl", "podman"}
_FIRST_OPTIONS = ("-C", "-c", "--git-dir", "--work-tree")
_LOOKS = ["--check", "--diff", "--dry-run", "--help", "--version"]
_PASSED_OVER = ("exclude", "exclude-dir", "exclude-path", "ignore", "ignore-path", "ignore-pattern", "skip")


class Command:
    """One command of a text.

    Attributes:
        words: the program and its arguments, without quotes, and without what only starts the program (`sudo`, `env`).
        sets: the variables set for it alone, by `NAME=value` in front of it or by `env`.
        writes: the files that its output is redirected to, each with whether it is appended.
        piped: what the command before it prints into it; None if there is no pipe.
        feed: all that it is told on stdin, as far as the text tells.
        folder: the folder it runs in.
        agent: who acts in it, by `AMP_AGENT`; None for a person.
        around: all paths into memory that its whole text names: what its environment, or `ANY`, may name.
    """

    __slots__ = ("agent", "around", "feed", "folder", "piped", "sets", "words", "writes")

    def __init__(self, piped: str | None, around: list[str]) -> None:
        self.around = around
        self.words: list[str] = []
        self.sets: dict[str, str] = {}
        self.writes: list[tuple[str, bool]] = []
        self.piped = piped
        self.feed = piped or ""
        self.folder = ""
        self.agent: str | None = None

    @property
    def name(self) -> str:
        """The program's name, in lower case and without its folder; "" without one."""
        return split(self.words[:1])[0]


def _table() -> "dict[str, dict[str, list[str]]]":
    """Read what is known: of each program its options by their mark, and under what it is an empty list."""
    table: dict[str, dict[str, list[str]]] = {}
    with open(posixpath.join(posixpath.dirname(__file__), "programs.txt"), encoding="utf-8") as file:
        for line in file:
            kind, colon, rest = line.partition(": ")
            about: dict[str, list[str]] = {mark: [] for mark in (kind, "", *"=>!?<+")}
            mark = ""
            for word in rest.split() if colon and kind != "#" else ():
                if word in about:
                    mark = word
                else:
                    about[mark].append(word)
            table.update(dict.fromkeys(about[""], about))
    return table


_KNOWN = _table()
_UNKNOWN: "dict[str, list[str]]" = {mark: [] for mark in "=!?<"}


def split(words: list[str]) -> "tuple[str, dict[str, list[str]], list[str], str]":
    """Return the name that a program is known by, what is known of it, its own words, and the folder it works in.

    `git -C src log x` is `git-log` in `src`, `python3 -m json.tool x` is `json.tool`, and `amp note list` is one name.
    """
    name = posixpath.basename(words[0]).lower().removesuffix(".exe") if words else ""
    name = "amp" if name in _AMP else name if name in _KNOWN else name.rstrip("0123456789.") or name
    rest, folder = words[1:], ""
    if name in _TWO_WORDS:
        is_elsewhere = "ELSEWHERE" in _KNOWN.get(name, _UNKNOWN)["="]
        end = after_options(rest, _FIRST_OPTIONS)
        folder = posixpath.join("", *values(rest[:end], ["-C", "--work-tree"]))
        length = 2 if "-".join([name, *rest[end : end + 2]]) in _KNOWN else 1
        whole = "-".join([name, *rest[end : end + length]])
        if whole in _KNOWN or not is_elsewhere:
            name, rest = whole, rest[end + length :]
    elif name in ("python", "pypy", "py") and "-m" in rest[: after_options(rest, ["-m", "-W", "-X"])]:
        return split(rest[rest.index("-m") + 1 :])
    return name, _KNOWN.get(name, _UNKNOWN), rest, folder


def unwrap(command: Command) -> None:
    """Take away what only starts a program, and note what `env` sets and the folder it goes to."""
    for _ in range(_MOST_STARTERS):
        name, about, words, _ = split(command.words)
        if "starts" not in about:
            return
        end = after_options(words, about["+"])
        options, start = words[:end], end + ("WORD" in about["+"])
        command.words = words[start:]
        command.writes += [(word, True) for word in words[end:start]]
        if name in ("xargs", "parallel"):
            given = command.words.index(":::") if ":::" in command.words else len(command.words)
            names = [*command.feed.replace("\0", " ").split(), *command.words[given + 1 :]]
            command.words = _filled(command.words[:given], "".join(values(options, ["-I"])[:1]) or "{}", names)
        if name in ("parallel", "watch"):
            command.words = ["eval", *command.words]
        elif name == "env":
            command.folder = posixpath.join(command.folder, *values(options, ["-C", "--chdir"]))
            gone = values(options, ["-u", "--unset"])
            gone += ["AMP_AGENT"] if values(options, ["-i", "-", "--ignore-environment"]) else []
            command.sets.update(dict.fromkeys(gone, ""))
            command.words[:0] = " ".join(values(options, ["-S", "--split-string"])).split()
        while command.words and "=" in command.words[0]:
            variable, _, value = command.words.pop(0).partition("=")
            command.sets[variable] = value


def _filled(words: list[str], mark: str, names: list[str]) -> list[str]:
    """Return words with names in place of a mark: as words of their own, or inside a text; else behind them."""
    if not any(mark in word for word in words):
        return words + names if words else words
    text = " ".join(names)[:_LONGEST_NAMES]
    return [one for word in words for one in (names if word == mark else [word.replace(mark, text, _MOST_NAMES)])]


def printed(command: Command) -> str:
    """Return the text that a command prints, as far as it is known: its words, the names it finds, what it is told."""
    name, about, words, _ = split(command.words)
    if "WORDS" in about["="]:
        if name in ("echo", "printf"):
            return echoed(words) if name == "echo" else formatted(words)
        said = words[after_options(words, ()) :] or words or [command.folder]
        if name == "basename":
            said = [posixpath.basename(said[0].rstrip("/")).removesuffix("".join(said[1:2]))]
        return " ".join(map(posixpath.dirname, said) if name == "dirname" else said) + "\n"
    if "FILTER" in about["="] and command.piped is not None and not plain(words)[1:]:
        from .finds import let_through

        return let_through(words, command.feed)
    if is_search(command):
        return "".join(f"{one}\n" for one in _found(command))
    return filtered(name.partition("-")[0], words, command.feed) if command.feed else ""


def is_search(command: Command) -> bool:
    """Say whether a command prints the names that it finds."""
    _, about, words, _ = split(command.words)
    return "NAMES" in about["="] or bool(values(words, about["="]))


def _found(command: Command) -> list[str]:
    from .finds import found

    name, about, words, _ = split(command.words)
    return found(name, about["="], words, command.folder)


def given_to_a_shell(command: Command) -> str:
    """Return the text that a command lets a shell or `find` run: `bash -c '…'`, `eval …`, `-exec … ;`."""
    name, words = command.name, command.words[1:]
    if name == "find":
        return "\n".join(" ".join(map(quoted, run)) for run in _run_by_find(command))
    if name in _RUN_WORDS:
        return " ".join(plain(words))
    for index, word in enumerate(words) if name in SHELLS or name in ("su", "script") else ():
        if word == "--command" or (word[:1] == "-" != word[1:2] and "c" in word):
            return " ".join(words[index + 1 : index + 2])
    return command.feed or " ".join(plain(words)) if name in SHELLS else ""


def quoted(word: str) -> str:
    """Return the text that a shell reads as this word."""
    return "'" + word.replace("'", "'\\''") + "'"


def _run_by_find(command: Command) -> "Iterator[list[str]]":
    """Yield the commands that `find` runs, each of which ends with `;` or with `{} +`."""
    start, words = 0, command.words[1:]
    for index, word in enumerate(words):
        if word.startswith(("-exec", "-ok")) and not start:
            start = index + 1
        elif start and (word == ";" or words[index - 1 : index + 1] == ["{}", "+"]):
            yield _filled(words[start:index], "{}", _found(command))
            start = 0


def changed(command: Command) -> list[str]:
    """Return what a command may change, as its words name it from the command's folder."""
    name, about, words, folder = split(command.words)
    words = [f"-{words[0]}", *words[1:]] if name == "tar" and plain(words[:1]) else words
    passed_over = [word for word in (word.partition("=")[0] for word in words) if word.endswith(_PASSED_OVER)]
    read = {*values(words, [*about["<"], *passed_over]), *(one for one in words if one.endswith((":ro", ",readonly")))}
    left = [word for word in words if word not in read and (word.partition("=")[2] or word) not in read]
    if "ELSEWHERE" in about["="]:
        places = [one.partition(":")[0] for one in values(words, about["!"]) if one not in read]
        is_here = any(f"{command.folder}/".startswith(f"{posixpath.join(command.folder, one)}/") for one in places)
        found = named(left if is_here else places)
    elif values(words, about["!"]):
        found = named(_found(command) if "NAMES" in about["="] else left) or [""]
    elif values(words, [*about["?"], *_LOOKS]) or (about is _UNKNOWN and given_to_a_shell(command)):
        # What a shell runs is judged by itself. But a name is no command: what printed it has made one of it.
        found = [one for one in (command.piped or "").split("\n") if name in SHELLS and is_guarded(one.split(" ")[0])]
    elif "runs" in about:
        from .code import changed_by_code

        found = changed_by_code(name, about["+"], words, command.feed, command.around, command.folder)
    elif "reads" in about:
        found = values(words, about[">"])
        each = [one for word in plain(words) for one in ([word] if "{" not in word else unbraced(word)[1:] or [word])]
        found += each[-1:] if "LAST" in about[">"] and not found and each[1:] else []
        found += each[:1] if "FIRST" in about[">"] else []
        found = [path for path in found if path[1:].partition("/")[0].find(":") < 1]  # not on another machine
    else:
        told = [] if "writes" in about else [command.feed, *command.sets.values()]
        found = named(left) or [""]
        found += [path for text in told for path in guarded(text)]
    if name in ("git-clean", "git-stash"):
        from .finds import taken_by_git

        found += taken_by_git(name, words, posixpath.join(command.folder, folder))
    return [posixpath.join(folder, path) for path in found]
