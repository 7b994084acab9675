"""The programs of a shell: what each one starts, prints, and may change of the files it names.

A program changes every file it names, unless the tables below know it to read.
"""

import posixpath

from .code import CODE_OPTIONS, after_options, changed_by_code, has, interpreter, is_guarded, named, plain, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish", "source", "."])
RUN_FILES = SHELLS | CODE_OPTIONS.keys() | {"python3", "make", "cat"}
"""The programs that do what a file says which they name."""
_MOST_STARTERS = 100
_MOST_NAMES = 20
_LONGEST_NAMES = 1 << 12

_READERS_TABLE = """
[ [[ : alias break case cd continue declare dirs do done echo esac eval exit export false fi for function hash in let
local mapfile popd printf pushd pwd read readarray readonly return select set shift test trap true type typeset
ulimit umask unalias unset until wait while

ack ag base64 bat batcat cat cmp colordiff column comm cut delta diff egrep expand fgrep fmt fold glow grep head hexdump
join jq more nl numfmt od paste pr rev rg strings tac tail tr wc zcat zgrep b2sum basename cksum dir dirname du exa eza
fd file locate ls lsd md5sum readlink realpath sha1sum sha256sum sha512sum shasum stat which
claude codex copilot cursor-agent date flake8 gemini glab man mypy opencode pylint pytest qwen shellcheck sleep vale
yamllint amp agent-memory agent_memory_protocol agent_memory_protocol.cli.main amp-hook
parallel watch foreach-object format-list format-table gc gci get-acl get-childitem get-content get-filehash get-item
get-itemproperty measure-object out-host out-null out-string resolve-path select-object select-string sls sort-object
split-path test-path where-object write-host write-output

git-add git-annotate git-blame git-branch git-cat-file git-check-attr git-check-ignore git-commit git-describe
git-diff-tree git-fetch git-grep git-help git-ls-files git-ls-tree git-merge-base git-notes git-push
git-reflog git-reset git-rev-list git-rev-parse git-shortlog git-show git-status git-tag git-worktree

git-archive git-diff git-format-patch git-log > -o --output
git-config > -f --file
install > -t --target-directory LAST ! -d --directory
cp copy-item scp split > -t --target-directory -Destination LAST
uniq xxd json.tool > LAST
rsync > LAST ? -n ! --remove-source-files
zip > FIRST ! -m --move
codespell ! -w --write-changes
curl > -o --output --output-dir -D --dump-header -c --cookie-jar --trace ! -O --remote-name
dd > of=
eslint ! --fix
find > -fprint -fprint0 -fprintf -fls ! -delete
gh > -D --dir -O --output
iconv shuf sort tree > -o --output
less > -o -O --log-file
markdownlint ! --fix -f
openssl > -out
pandoc > -o --output --extract-media
prettier ! --write -w
tar > -f --file -C --directory ! --remove-files
wget > -O --output-document -P --directory-prefix
yq ! -i --inplace
"""
"""Programs that change no file they name, but (`>`) those that these options name, or their first or last word, and
(`!`) all with these options. With options after `?`, any program only looks."""
_OTHERS_TABLE = """
gzip gunzip bzip2 xz zstd ? -c -l --stdout --to-stdout
git-clean ? -n
git-rm ? --cached
git-apply ? --stat
git-stash ? list show
unzip ? -l -p -t -v
touch truncate chmod chown < -r --reference
patch < -i --input
-
"""
"""What others only read: a file that an option after `<` names, and all with one after `?`; `-` is any other."""
_STARTERS_TABLE = """
nohup time command builtin setsid busybox chronic caffeinate unshare +
sudo doas + -u -g -C -D -p
exec + -a
nice + -n
ionice + -c -n -p
stdbuf + -i -o -e
env + -u -C --unset --chdir -S --split-string
timeout + WORD -s -k
taskset + WORD
flock + WORD -w -E
xargs + -I -n -P -L -d -a -s
uvx pipx npx bunx + --from --with --spec -p --python
uv-run poetry-run pipenv-run hatch-run rye-run pdm-run pipx-run + --with --from -p --python --project --directory
"""
"""Programs that only start another, and their options that take one more word. Some take a word themselves."""
_LOOKS = ["--check", "--diff", "--dry-run", "--help", "--version"]


def options_table(text: str) -> dict[str, dict[str, list[str]]]:
    """Return the options of each program by their mark."""
    table: dict[str, dict[str, list[str]]] = {}
    for line in text.splitlines():
        options = {mark: list[str]() for mark in " >!?<+"}
        mark = " "
        for word in line.split():
            if word in options:
                mark = word
            else:
                options[mark].append(word)
        table |= dict.fromkeys(options[" "], options)
    return table


_READERS, _STARTERS = options_table(_READERS_TABLE), options_table(_STARTERS_TABLE)
_OPTIONS = _READERS | options_table(_OTHERS_TABLE)
_FIND_RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_FIND_TESTS = {"-name": -1, "-path": 0, "-wholename": 0}
_ANY = ".scaffolding/**"
"""Memory below a folder, if there is any."""
_DOCUMENTS = (
    "./.scaffolding/agent-memory/shared/knowledge.md",
    "./.scaffolding/agent-memory/agents/a/memory.md",
    "./.scaffolding/conversations/c/agent-memory/context.md",
)
_GIT_OPTIONS = frozenset(["-C", "-c", "--git-dir", "--work-tree"])
_PASS_ON = frozenset(["cat", "sort", "uniq", "head", "tail", "tr", "tee"])
_FED_DATA = _PASS_ON | {"patch", "git-apply", "git-am", "apply_patch"}
"""The programs that are not known to read, and do not do what they are told on stdin."""
_GREPS = frozenset(["grep", "egrep", "fgrep", "rg", "ag", "fd"])


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


def joined(folder: str, path: str) -> str:
    """Return a path as it is from a folder; one below a home folder stays as it is."""
    return path if path.startswith("~") else posixpath.normpath(posixpath.join(folder, path))


def quoted(words: list[str]) -> str:
    """Return the text that a shell reads as these words."""
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def unwrap(command: Command) -> None:
    """Take away what only starts a program, and note what `env` sets and the folder it goes to."""
    for _ in range(_MOST_STARTERS):
        name, words = command.name, command.words
        start = 2 if "-".join([name, *words[1:2]]) in _STARTERS else 1
        starter = _STARTERS.get("-".join([name, *words[1:start]]))
        if starter is None:
            return
        end = after_options(words, start, starter["+"])
        options, command.words = words[start:end], words[end + ("WORD" in starter["+"]) :]
        if name == "env":
            _set_by_env(command, options)
        elif name == "xargs" and command.words:
            names = stdin(command).split()
            marks = values(options, ["-I"])
            command.words = _filled(command.words, marks[0], names) if marks else command.words + names


def assigned(words: list[str]) -> dict[str, str]:
    """Return the variables that the words with `=` set."""
    return {name: value for name, equals, value in (word.partition("=") for word in words) if equals}


def _set_by_env(command: Command, options: list[str]) -> None:
    """Take the assignments after `env` as variables of the command. A variable that is taken away is empty."""
    for folder in values(options, ["-C", "--chdir"]):
        command.folder = joined(command.folder, folder)
    gone = values(options, ["-u", "--unset"])
    if has(options, ["-i", "-", "--ignore-environment"]):
        gone.append("AMP_AGENT")
    command.sets.update(dict.fromkeys(gone, ""))
    command.words = [*" ".join(values(options, ["-S", "--split-string"])).split(), *command.words]
    start = next((index for index, word in enumerate(command.words) if "=" not in word), len(command.words))
    command.sets.update(assigned(command.words[:start]))
    command.words = command.words[start:]


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
    while before is not None and (before.name in _PASS_ON or (before.name in _GREPS and not plain(before.words)[2:])):
        said, before = said + before.feed, before.piped
    return said if before is None else said + output(before)


def output(command: Command) -> str:
    """Return the names that a command prints, as far as its text tells. A search says the places it looks in."""
    name, words = command.name, plain(command.words[1:])
    if name in _PASS_ON:
        return stdin(command)
    if name in ("echo", "printf"):
        return printed(command)
    if name == "find":
        return " ".join(found_by(command.words))
    if name in _GREPS or (name == "git" and words[:1] == ["grep"]):
        given, is_git = command.words[1:], name == "git"
        hidden = (
            has(given, ["--hidden", "-H", "-uu"]) or name.endswith("grep") or (is_git and ":" not in "".join(words))
        )
        tests = [part for one in values(given, ["--include", "-g"]) for part in ("-name", one)]
        tests += [part for one in values(given, ["--exclude", "--exclude-dir"]) for part in ("-name", one, "-prune")]
        return " ".join(found_by(["find", *words[1 + is_git :], *tests, *([] if hidden else ["-type", "d"])]))
    if name == "git" and words[:1] == ["ls-files"]:
        words = words[1:]
    elif name not in ("ls", "realpath", "readlink", "dirname", "basename", "get-childitem", "gci"):
        return command.folder if name == "pwd" else ""
    return " ".join(words or [command.folder])


def found_by(words: list[str]) -> list[str]:
    """Return the places that `find` looks in, and memory below them unless its tests pass over it."""
    ends = (index for index, word in enumerate(words) if index and word[:1] in ("-", "(", "!"))
    end = next(ends, len(words))
    places = words[1:end] or ["."]
    named_here = [place for place in places if is_guarded(place)]
    return places if named_here or not _finds_memory(words[end:]) else [*places, *(f"{one}/{_ANY}" for one in places)]


def _finds_memory(tests: list[str]) -> bool:
    """Say whether a document of memory may pass the tests of `find`."""
    if values(tests, ["-type"]) == ["d"] or any(depth in "123" for depth in values(tests, ["-maxdepth"])):
        return False
    wanted: list[set[str]] = []
    left = {*_DOCUMENTS}
    for index, test in enumerate(tests[:-1]):
        part = _FIND_TESTS.get(test.replace("-i", "-", 1))
        if part is None:
            continue
        from fnmatch import fnmatchcase

        pattern, is_prune = tests[index + 1].lower(), tests[index + 2 : index + 3] == ["-prune"]
        found = {
            one
            for one in _DOCUMENTS
            if any(
                fnmatchcase(way, pattern)
                for way in (one.split("/") if is_prune and part else [one.split("/")[-1] if part else one])
            )
            or (is_prune and fnmatchcase(one, f"{pattern}/*"))
        }
        if is_prune or tests[index - 1 : index] in (["!"], ["-not"]):
            left -= found
        else:
            wanted.append(found)
    return bool(left.intersection(set().union(*wanted)) if wanted else left)


def given_to_a_shell(command: Command) -> tuple[str, list[str]]:
    """Return the text that a command lets a shell or `find` run (`bash -c '…'`, `eval …`), and its arguments."""
    name, words = command.name, command.words[1:]
    if name == "find":
        return "\n".join(quoted(run) for run in _run_by_find(words, found_by(command.words))), []
    if name in ("eval", "watch", "parallel"):
        return " ".join(plain(words)), []
    if name == "trap":
        return " ".join(words[:1]), []
    if name in (*SHELLS, "su", "script"):
        for index, word in enumerate(words):
            if word == "--command" or (word[:1] == "-" != word[1:2] and "c" in word):
                return " ".join(words[index + 1 : index + 2]), words[index + 2 :]
    if name not in SHELLS:
        return "", []
    return (stdin(command) if command.feed or command.piped or not plain(words) else ""), plain(words)


def _run_by_find(words: list[str], places: list[str]) -> "Iterator[list[str]]":
    """Yield the commands that `find` runs, each of which ends with `;` or with `{} +`."""
    start = 0
    for index, word in enumerate(words):
        if word in _FIND_RUNS and not start:
            start = index + 1
        elif start and (word == ";" or words[index - 1 : index + 1] == ["{}", "+"]):
            yield _filled(words[start:index], "{}", places)
            start = 0


def written(command: Command) -> list[str]:
    """Return what a command may change, as its words name it from the command's folder."""
    name, words = command.name, command.words[1:]
    folder = ""
    if name == "git":
        end = after_options(words, 0, _GIT_OPTIONS)
        folder = posixpath.join("", *values(words[:end], ["-C", "--work-tree"]))
        name, words = "-".join([name, *words[end : end + 1]]), words[end + 1 :]
    elif interpreter(name) in ("python", "pypy") and "-m" in words[: after_options(words, 0, ["-m", "-W", "-X"])]:
        words = words[words.index("-m") + 1 :]
        name, words = "".join(words[:1]), words[1:]
    elif name == "tar" and plain(words[:1]):
        words = [f"-{words[0]}", *words[1:]]
    options = _OPTIONS.get(name, _OPTIONS["-"])
    if name in SHELLS and given_to_a_shell(command)[0]:
        found = []  # what a shell runs is judged by itself
    elif has(words, options["!"]):
        found = named(found_by(command.words) if name == "find" else words) or [""]
    elif has(words, _LOOKS) or has(words, options["?"]):
        found = []
    elif interpreter(name):
        found = changed_by_code(interpreter(name), words, stdin(command))
    elif name in _READERS:
        into = options[">"]
        found = values(words, into)
        if not found and "LAST" in into and plain(words)[1:]:
            found = plain(words)[-1:]
        found += plain(words)[:1] if "FIRST" in into else []
    else:
        read = {*values(words, options["<"])}
        found = named(word for word in words if word not in read and (word.partition("=")[2] or word) not in read)
        told = "" if name in _FED_DATA else stdin(command)
        found = (found or [""]) + [path for path in named([told]) if is_guarded(path)]
    return [posixpath.join(folder, path) for path in found]
