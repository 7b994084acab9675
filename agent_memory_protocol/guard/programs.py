"""The programs of a shell: what each one starts, prints, and may change of the files it names.

A program changes every file it names, unless `programs.txt` knows it to read.
"""

import posixpath

from .words import after_options, finds_memory, has, is_guarded, named, plain, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish", "source", "."])
_MOST_STARTERS = 100
_MOST_NAMES = 20
_LONGEST_NAMES = 1 << 12
_TWO_WORDS = frozenset(["git", "amp", "hatch", "pdm", "pipenv", "pipx", "poetry", "rye", "uv"])
_GIT_OPTIONS = frozenset(["-C", "-c", "--git-dir", "--work-tree"])
_FIND_RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_LOOKS = ["--check", "--diff", "--dry-run", "--help", "--version"]
_GREPS = frozenset(["grep", "egrep", "fgrep", "rg", "ag", "fd", "git-grep"])
_NAMERS = frozenset(["ls", "git-ls-files", "realpath", "readlink", "dirname", "basename", "get-childitem", "gci"])
_PASS_ON = frozenset(["cat", "sort", "uniq", "head", "tail", "tr", "tee"])
_FED_DATA = _PASS_ON | {"patch", "git-apply", "git-am", "apply_patch"}
"""The programs that are not known to read, and do not do what they are told on stdin."""
_ANY = ".scaffolding/**"
"""Memory below a folder, if there is any."""


class Command:
    """One command of a text.

    Attributes:
        words: the program and its arguments, without quotes, and without what only starts the program (`sudo`, `env`).
        sets: the variables set for it alone, by `NAME=value` in front of it or by `env`.
        writes: the files that its output is redirected to, each with whether it is appended.
        reads: the files that its input is redirected from.
        feed: what it is given on stdin by the text itself, in here-documents, here-strings and files of the text.
        piped: the command whose output it is given on stdin.
        folder: the folder it runs in.
        agent: who acts in it, by `AMP_AGENT`; None for a person.
    """

    __slots__ = ("agent", "feed", "folder", "piped", "reads", "sets", "words", "writes")

    def __init__(self, piped: "Command | None" = None) -> None:
        self.words: list[str] = []
        self.sets: dict[str, str] = {}
        self.writes: list[tuple[str, bool]] = []
        self.reads: list[str] = []
        self.feed = ""
        self.piped = piped
        self.folder = ""
        self.agent: str | None = None

    @property
    def name(self) -> str:
        """The program's name, in lower case and without its folder; "" where there is none."""
        return posixpath.basename(self.words[0]).lower().removesuffix(".exe") if self.words else ""


def _table() -> "dict[str, dict[str, list[str]]]":
    """Read what is known: of each program its options by their mark, and under what it is an empty list."""
    table: dict[str, dict[str, list[str]]] = {}
    with open(posixpath.join(posixpath.dirname(__file__), "programs.txt"), encoding="utf-8") as file:
        for line in file:
            kind, colon, rest = line.partition(": ")
            about: dict[str, list[str]] = {mark: [] for mark in (kind, "", ">", "!", "?", "<", "+")}
            mark = ""
            for word in rest.split() if colon and kind != "#" else ():
                if word in about:
                    mark = word
                else:
                    about[mark].append(word)
            table.update(dict.fromkeys(about[""], about))
    return table


_KNOWN = _table()
_UNKNOWN: "dict[str, list[str]]" = {mark: [] for mark in "!?<"}


def known(*names: str) -> "dict[str, list[str]]":
    """Return what is known of a program by the first of these names: what it is, and its options by their mark."""
    return next((_KNOWN[name] for name in names if name in _KNOWN), _UNKNOWN)


def interpreter(name: str) -> "dict[str, list[str]] | None":
    """Return what is known of a program that runs code, in whatever version; None of any other."""
    about = known(name.rstrip("0123456789."))
    return about if "runs" in about else None


def joined(folder: str, path: str) -> str:
    """Return a path as it is from a folder; one below a home folder stays as it is."""
    return path if path.startswith("~") else posixpath.normpath(posixpath.join(folder, path))


def quoted(words: list[str]) -> str:
    """Return the text that a shell reads as these words."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def split(words: list[str]) -> tuple[str, list[str], str]:
    """Return the name that a program is known by, its own words, and the folder it is told to work in.

    `git -C src log x` is `git-log` in `src`, and `python3 -m json.tool x` is `json.tool`.
    """
    name = posixpath.basename(words[0]).lower().removesuffix(".exe") if words else ""
    rest, folder = words[1:], ""
    if name in _TWO_WORDS:
        end = after_options(rest, 0, _GIT_OPTIONS)
        folder = posixpath.join("", *values(rest[:end], ["-C", "--work-tree"]))
        name, rest = "-".join([name, *rest[end : end + 1]]), rest[end + 1 :]
    elif name.startswith(("python", "pypy", "py")) and "-m" in rest[: after_options(rest, 0, ["-m", "-W", "-X"])]:
        rest = rest[rest.index("-m") + 1 :]
        name, rest = "".join(rest[:1]), rest[1:]
    return name, rest, folder


def unwrap(command: Command) -> None:
    """Take away what only starts a program, and note what `env` sets and the folder it goes to."""
    for _ in range(_MOST_STARTERS):
        name, words, _ = split(command.words)
        valued = known(name)["+"] if "starts" in known(name) else None
        if valued is None:
            return
        end = after_options(words, 0, valued)
        options, command.words = words[:end], words[end + ("WORD" in valued) :]
        if name == "env":
            _set_by_env(command, options)
        elif name == "xargs" and command.words:
            names = stdin(command).split()
            marks = values(options, ["-I"])
            command.words = _filled(command.words, marks[0], names) if marks else command.words + names


def _set_by_env(command: Command, options: list[str]) -> None:
    """Take the assignments after `env` as variables of the command. A variable that is taken away is empty."""
    for folder in values(options, ["-C", "--chdir"]):
        command.folder = joined(command.folder, folder)
    gone = values(options, ["-u", "--unset"])
    gone += ["AMP_AGENT"] if has(options, ["-i", "-", "--ignore-environment"]) else []
    command.sets.update(dict.fromkeys(gone, ""))
    command.words = [*" ".join(values(options, ["-S", "--split-string"])).split(), *command.words]
    while command.words and "=" in command.words[0]:
        variable, _, value = command.words.pop(0).partition("=")
        command.sets[variable] = value


def _filled(words: list[str], mark: str, names: list[str]) -> list[str]:
    """Return words with names in place of a mark: as words of their own, or inside a text."""
    if not names:
        return words
    text = " ".join(sorted(names[:_MOST_NAMES], key=lambda one: not is_guarded(one)))[:_LONGEST_NAMES]
    return [one for word in words for one in (names if word == mark else [word.replace(mark, text, _MOST_NAMES)])]


def printed(command: Command) -> str:
    """Return the text that a command prints, if it is in the text of the command."""
    if command.name in ("echo", "printf"):
        words = command.words[after_options(command.words, 1, ()) :] or command.words[1:]
        return " ".join(words).replace("\\n", "\n") + "\n"
    return command.feed if command.name in ("cat", "tee", "") else ""


def stdin(command: Command) -> str:
    """Return what a command reads on stdin, as far as the text tells."""
    said, before = command.feed, command.piped
    while before and (before.name in _PASS_ON or (before.name in _GREPS and not plain(before.words)[2:])):
        said, before = said + before.feed, before.piped
    return said + output(before) if before else said


def output(command: Command) -> str:
    """Return the names that a command prints, as far as its text tells. A search says the places it looks in."""
    name, words, _ = split(command.words)
    if name in _PASS_ON:
        return stdin(command)
    if name in ("echo", "printf"):
        return printed(command)
    if name == "find":
        return " ".join(_found(words))
    if name in _GREPS:
        hides = not (name.endswith("grep") or has(words, ["--hidden", "-H", "-uu"])) or ":" in "".join(words)
        tests = [part for one in values(words, ["--include", "-g"]) for part in ("-name", one)]
        tests += [part for one in values(words, ["--exclude", "--exclude-dir"]) for part in ("-name", one, "-prune")]
        return " ".join(_found([*plain(words)[1:], *tests, *(["-type", "d"] if hides else [])]))
    if name in _NAMERS:
        return " ".join(plain(words) or [command.folder])
    return command.folder if name == "pwd" else ""


def _found(words: list[str]) -> list[str]:
    """Return the places that `find` looks in, and memory below them unless its tests pass over it."""
    end = next((index for index, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    places = words[:end] or ["."]
    if any(map(is_guarded, places)) or not finds_memory(words[end:]):
        return places
    return [*places, *(f"{one}/{_ANY}" for one in places)]


def given_to_a_shell(command: Command) -> str:
    """Return the text that a command lets a shell or `find` run: `bash -c '…'`, `eval …`, `-exec … ;`."""
    name, words = command.name, command.words[1:]
    if name == "find":
        return "\n".join(quoted(run) for run in _run_by_find(words))
    if name in ("eval", "watch", "parallel"):
        return " ".join(plain(words))
    if name == "trap":
        return " ".join(words[:1])
    if name in (*SHELLS, "su", "script"):
        for index, word in enumerate(words):
            if word == "--command" or (word[:1] == "-" != word[1:2] and "c" in word):
                return " ".join(words[index + 1 : index + 2])
    return stdin(command) if name in SHELLS and (command.feed or command.piped or not plain(words)) else ""


def _run_by_find(words: list[str]) -> "Iterator[list[str]]":
    """Yield the commands that `find` runs, each of which ends with `;` or with `{} +`."""
    start = 0
    for index, word in enumerate(words):
        if word in _FIND_RUNS and not start:
            start = index + 1
        elif start and (word == ";" or words[index - 1 : index + 1] == ["{}", "+"]):
            yield _filled(words[start:index], "{}", _found(words))
            start = 0


def changed(command: Command) -> list[str]:
    """Return what a command may change, as its words name it from the command's folder."""
    name, words, folder = split(command.words)
    words = [f"-{words[0]}", *words[1:]] if name == "tar" and plain(words[:1]) else words
    about = known(name)
    if command.name in SHELLS and given_to_a_shell(command):
        found = []  # what a shell runs is judged by itself
    elif has(words, about["!"]):
        found = named(_found(words) if name == "find" else words) or [""]
    elif has(words, _LOOKS) or has(words, about["?"]) or "".join(words[:1]) in about["?"]:
        found = []
    elif runs := interpreter(name):
        from .code import changed_by_code

        found = changed_by_code(name, runs["+"], words, stdin(command))
    elif "reads" in about:
        found = values(words, about[">"])
        found += plain(words)[-1:] if "LAST" in about[">"] and not found and plain(words)[1:] else []
        found += plain(words)[:1] if "FIRST" in about[">"] else []
    else:
        read = {*values(words, about["<"])}
        found = named(word for word in words if word not in read and (word.partition("=")[2] or word) not in read)
        told = "" if name in _FED_DATA else stdin(command)
        found = (found or [""]) + [path for path in named([told]) if is_guarded(path)]
    return [posixpath.join(folder, path) for path in found]
