"""The programs of a shell: what each one starts, and which of the files it names it may change.

A program changes every file it names, unless the tables below know it to read.
"""

import posixpath

from .code import after_options, changed_by_code, interpreter, named, plain, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = frozenset(["bash", "sh", "zsh", "dash", "ksh", "fish"])
_MOST_STARTERS = 100
_MOST_NAMES = 20
_LONGEST_NAMES = 1 << 12

_READERS_TABLE = """
[ [[ : . alias break case cd continue declare dirs do done echo esac eval exit export false fi for function hash in let
local mapfile popd printf pushd pwd read readarray readonly return select set shift source test trap true type typeset
ulimit umask unalias unset until wait while

ack ag base64 bat batcat cat cmp colordiff column comm cut delta diff egrep expand fgrep fmt fold glow grep head hexdump
jq more nl od paste pr rev rg strings tac tail tr wc zcat zgrep b2sum basename cksum dir dirname du exa eza fd file
locate ls lsd md5sum readlink realpath sha1sum sha256sum sha512sum shasum stat which
claude codex date flake8 gemini glab json.tool man mypy pylint pytest shellcheck sleep vale yamllint
amp agent-memory agent_memory_protocol agent_memory_protocol.cli.main amp-hook
parallel watch get-childitem get-content get-item measure-object select-string test-path

git-add git-annotate git-blame git-branch git-cat-file git-check-attr git-check-ignore git-commit git-config
git-describe git-diff-tree git-fetch git-grep git-help git-ls-files git-ls-tree git-merge-base git-notes git-push
git-reflog git-reset git-rev-list git-rev-parse git-shortlog git-show git-status git-tag

git-archive git-diff git-format-patch git-log > -o --output
cp copy-item install ln scp split uniq xxd > LAST -t --target-directory
rsync > LAST -t --target-directory ? -n ! --remove-source-files
zip > FIRST
codespell ! -w --write-changes
curl > -o --output --output-dir -D --dump-header -c --cookie-jar --trace
dd > of=
eslint ! --fix
find > -fprint -fprint0 -fprintf -fls ! -delete
gh > -D --dir -O --output
less > -o -O --log-file
markdownlint ! --fix -f
pandoc > -o --output --extract-media
prettier ! --write -w
sort tree > -o --output
tar > -f --file -C --directory
wget > -O --output-document -P --directory-prefix
yq ! -i --inplace
"""
"""Programs that change no file they name, but (`>`) those that these options name, or their first or last word, and
(`!`) all with these options. With options after `?`, any program only looks."""
_OTHERS_TABLE = """
gzip gunzip bzip2 xz zstd ? -c -l -t -dc -cd
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
nohup time command builtin setsid busybox chronic caffeinate +
sudo doas + -u -g -C -D -p
exec + -a
nice + -n
ionice + -c -n -p
stdbuf + -i -o -e
env + -u -C --unset --chdir
timeout + WORD -s -k
flock + WORD -w -E
xargs + -I -n -P -L -d -a -s
uvx pipx npx bunx + --from --with --spec -p --python
uv-run poetry-run pipenv-run hatch-run rye-run pdm-run pipx-run + --with --from -p --python --project --directory
"""
"""Programs that only start another, and their options that take one more word. Some take a word themselves."""
_LOOKS = ["--check", "--diff", "--dry-run", "--help", "--stdout", "--to-stdout", "--version"]


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
_FIND_PATHS = frozenset(["-path", "-ipath", "-wholename", "-iwholename"])
_GIT_OPTIONS = frozenset(["-C", "-c", "--git-dir", "--work-tree"])
_PASS_ON = frozenset(["cat", "sort", "uniq", "head", "tail", "tr"])


class Command:
    """One command of a text.

    Attributes:
        words: the program and its arguments, without quotes, and without what only starts the program (`sudo`, `env`).
        sets: the variables set for it alone, by `NAME=value` in front of it or by `env`.
        writes: the files that its output is redirected to, each with whether it is appended.
        feed: what it is given on stdin by the text itself, in here-documents and here-strings.
        piped: the command whose output it is given on stdin.
        folder: the folder it runs in.
        agent: who acts in it, by `AMP_AGENT`; None for a person.
    """

    __slots__ = ("agent", "feed", "folder", "piped", "sets", "words", "writes")

    def __init__(self, piped: "Command | None" = None) -> None:
        self.words: list[str] = []
        self.sets: dict[str, str] = {}
        self.writes: list[tuple[str, bool]] = []
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
    return path if path.startswith("~") else posixpath.join(folder, path)


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
    if not {"-i", "-", "--ignore-environment"}.isdisjoint(options):
        gone.append("AMP_AGENT")
    command.sets.update(dict.fromkeys(gone, ""))
    start = next((index for index, word in enumerate(command.words) if "=" not in word), len(command.words))
    command.sets.update(assigned(command.words[:start]))
    command.words = command.words[start:]


def _filled(words: list[str], mark: str, names: list[str]) -> list[str]:
    """Return words with names in place of a mark: as words of their own, or inside a text."""
    if not names:
        return words
    text = " ".join(names[:_MOST_NAMES])[:_LONGEST_NAMES]
    return [one for word in words for one in (names if word == mark else [word.replace(mark, text, _MOST_NAMES)])]


def stdin(command: Command) -> str:
    """Return what a command reads on stdin, as far as the text tells. A search says the places it looks in."""
    said, before = command.feed, command.piped
    while before is not None and before.name in _PASS_ON:
        said, before = said + before.feed, before.piped
    if before is None:
        return said
    if before.name == "find":
        return said + " ".join(found_by(before.words))
    words = plain(before.words[1:])
    if before.name in ("grep", "egrep", "fgrep", "rg", "ag"):
        return said + " ".join(words[1:])
    is_list = before.name in ("echo", "printf", "ls", "fd") or before.words[:2] == ["git", "ls-files"]
    return said + " ".join(words) if is_list else said


def found_by(words: list[str]) -> list[str]:
    """Return the places that `find` looks in, and the paths it looks for, whatever it may find there."""
    ends = (index for index, word in enumerate(words) if index and word[:1] in ("-", "(", "!"))
    places = words[1 : next(ends, len(words))] or ["."]
    for index, word in enumerate(words[:-1]):
        if word in _FIND_PATHS and words[index - 1] not in ("!", "-not") and words[index + 2 : index + 3] != ["-prune"]:
            places.append(words[index + 1])
    return places


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
                return " ".join(words[index + 1 : index + 2]), words[index + 3 :]
    return (stdin(command) if name in SHELLS and not plain(words) else ""), []


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
    given = {word.partition("=")[0] for word in words}
    only_looks = given_to_a_shell(command)[0] if name in SHELLS else given & {*_LOOKS, *options["?"]}
    if not given.isdisjoint(options["!"]):
        found = named(found_by(command.words) if name == "find" else words)
    elif only_looks:
        found = []  # what a shell runs is judged by itself
    elif interpreter(name):
        found = changed_by_code(interpreter(name), words, command.feed)
    elif name in _READERS:
        into = options[">"]
        found = values(words, into)
        found += plain(words)[-1:] if "LAST" in into else plain(words)[:1] if "FIRST" in into else []
    else:
        read = {*values(words, options["<"])}
        found = named(word for word in words if word not in read and (word.partition("=")[2] or word) not in read)
    return [posixpath.join(folder, path) for path in found]
