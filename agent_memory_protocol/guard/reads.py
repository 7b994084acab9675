"""Which files a program of the shell may change: all that its words name, unless it is known only to read."""

import posixpath
import re

from .starters import SHELLS, found_by, given_to_a_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .command import Command

_NAMES = """
[ [[ : . alias break case cd continue declare dirs do done echo esac eval exit export false fi for function hash in let
local mapfile popd printf pushd pwd read readarray readonly return select set shift source test trap true type typeset
ulimit umask unalias unset until wait while

ack ag base64 bat batcat cat cmp colordiff column comm cut delta diff egrep expand fgrep fmt fold glow grep head hexdump
jq more nl od paste pr rev rg strings tac tail tr wc yq zcat zgrep

b2sum basename cksum dir dirname du exa eza fd file find locate ls lsd md5sum readlink realpath sha1sum sha256sum
sha512sum shasum stat which

claude codex codespell date eslint flake8 gemini gh glab json.tool man markdownlint mypy prettier pylint pytest
shellcheck sleep vale yamllint amp agent-memory agent_memory_protocol agent_memory_protocol.cli.main amp-hook

parallel watch xargs get-childitem get-content get-item measure-object select-string test-path
"""
"""What shells do themselves; readers of texts; of files; checks and talks; what starts a program that is judged by
itself, and what PowerShell reads with."""
_GIT_VERBS = """
add annotate archive blame branch cat-file check-attr check-ignore commit config describe diff diff-tree fetch
format-patch grep help log ls-files ls-tree merge-base notes push reflog reset rev-list rev-parse shortlog show status
tag
"""
_READERS = frozenset([*_NAMES.split(), *(f"git {verb}" for verb in _GIT_VERBS.split())])
"""Programs that change no file they name, but by the options below and by redirections."""

_TO_LAST = frozenset(["cp", "copy-item", "install", "ln", "rsync", "scp", "split", "uniq", "xxd"])
_INTO = {
    **dict.fromkeys(_TO_LAST, ("-t", "--target-directory")),
    **dict.fromkeys(("git archive", "git diff", "git format-patch", "git log"), ("-o", "--output")),
    "curl": ("-o", "--output", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar", "--trace"),
    "dd": ("of=",),
    "find": ("-fprint", "-fprint0", "-fprintf", "-fls"),
    "gh": ("-D", "--dir", "-O", "--output"),
    "less": ("-o", "-O", "--log-file"),
    "pandoc": ("-o", "--output", "--extract-media"),
    "sort": ("-o", "--output"),
    "tar": ("-f", "--file", "-C", "--directory"),
    "tree": ("-o",),
    "wget": ("-O", "--output-document", "-P", "--directory-prefix"),
}
"""Programs that change, of the files they name, those that these options name, and some of them the last."""

_CHANGES_WITH = {
    "codespell": ("-w", "--write-changes"),
    "eslint": ("--fix",),
    "find": ("-delete",),
    "markdownlint": ("--fix", "-f"),
    "prettier": ("--write", "-w"),
    "rsync": ("--remove-source-files",),
    "yq": ("-i", "--inplace"),
}
_LOOKS_WITH = {
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "xz", "zstd"), ("-c", "-l", "-t", "-dc", "-cd")),
    "git clean": ("-n",),
    "git rm": ("--cached",),
    "git apply": ("--stat",),
    "git stash": ("list", "show"),
    "rsync": ("-n",),
    "unzip": ("-l", "-p", "-t", "-v"),
}
_LOOKS = ("--check", "--diff", "--dry-run", "--help", "--stdout", "--to-stdout", "--version")
_TAKES_FROM = {
    **dict.fromkeys(("touch", "truncate", "chmod", "chown"), ("-r", "--reference")),
    "patch": ("-i", "--input"),
}
"""Options of programs that change files, which name one that is only read."""

# The patterns below are compiled when they are used: most commands bring no code.
_INTERPRETERS = ("python", "pypy", "node", "deno", "bun", "perl", "ruby", "php", "lua", "sed", "awk", "gawk", "mawk")
_SCRIPT_FIRST = frozenset(["sed", "awk", "gawk", "mawk"])
_IN_PLACE = r"-[nErsuzpalw0]*i|--in-place"
_CODE_OPTION = r"-[nplwia0]*[ecrE]|--eval"
_SCRIPT_OPTION = r"-[nErsuz]*e|--expression|--source"
_QUOTED = r"""\s*f?(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)\s*"""
_ELSEWHERE = r"""(?!\s*f?['"`][^'"`\n]*\.scaffolding)""" + _QUOTED
_HARMLESS = (
    # a file that is opened there and then, for reading
    rf"""(?<![\w])open\({_QUOTED}(?:\)|,\s*(?:'r[bt]?'|"r[bt]?"|encoding=))"""
    rf"""|Path\({_QUOTED}\)\.(?:read_\w+|exists|is_\w+|stat|iterdir|glob|rglob)\b"""
    rf"""|(?:readFileSync|readFile|readdirSync|existsSync|File\.read\w*|file_get_contents|loadtxt)\({_QUOTED}"""
    # a file elsewhere, whatever is done with it
    rf"""|(?:open|writeFileSync|writeFile|appendFileSync|File\.write|file_put_contents)\({_ELSEWHERE}(?:,\s*['"]\w+\+?['"])?"""
    rf"""|Path\({_ELSEWHERE}\)\.(?:write_\w+|touch|unlink)\b"""
    # what looks like a change and is none
    r"""|(?:\)|stdout|stderr|\bf)\.write\(|\.append\(|\.copy\(\)|(?<!os)\.replace\([^,()]+,|->|=>|[<>]=|>\s*\d"""
)
_CHANGES = (
    r"""['"][rbt]*[wax][bt+]*['"]|['"]r[bt]?\+|write|append|unlink|remove|rename|replace\(|rmtree|copy|move|truncate"""
    r"""|touch|O_WRONLY|O_RDWR|symlink|\brm\b|mkdir|put_contents|>|system|exec|spawn|popen|subprocess|\b[wW] """
)
_PART = r"""[^"'`()\[\]{},;:=<>|&\s]+"""
_BEGINS_A_PATH = r"""(?:["'`}>]|(?:^|[\s;/}])[wW] |\b(?:rm|mv|cp|tee|touch|unlink)\b.* )$"""


def written(command: "Command") -> "Iterator[str]":
    """Yield what a command may change, as its words name it from the command's folder."""
    name, words = command.name, command.words[1:]
    folder = ""
    if name == "git":
        folder, words = _without_git_options(words)
        name, words = " ".join([name, *words[:1]]), words[1:]
    if name.startswith(("python", "pypy")) and "-m" in words:
        words = words[words.index("-m") + 1 :]
        name, words = "".join(words[:1]), words[1:]
    if name == "tar" and words and not words[0].startswith("-"):
        words = [f"-{words[0]}", *words[1:]]
    if _has(words, _CHANGES_WITH.get(name, ())):
        found = _named(name, found_by(command.words) if name == "find" else words)
    elif _has(words, (*_LOOKS, *_LOOKS_WITH.get(name, ()))) and name not in SHELLS:
        found = []
    elif name in _INTERPRETERS or name.startswith(_INTERPRETERS[:2]):
        found = _by_code(name, words, command.feed)
    elif name in SHELLS and given_to_a_shell(command)[0]:
        found = []  # that text is judged by itself
    elif name in _READERS or name in _INTO:
        plain = [word for word in words if not word.startswith("-")]
        found = [*_values(words, _INTO.get(name, ())), *(plain[-1:] if name in _TO_LAST else ())]
    elif name == "zip":
        found = [word for word in words if not word.startswith("-")][:1]
    else:
        found = _named(name, words)
    for path in found:
        yield posixpath.join(folder, path)


def _named(name: str, words: list[str]) -> list[str]:
    """Return every path that words may name: as a whole, after `=` or an option's letter, or inside a text."""
    read = _values(words, _TAKES_FROM.get(name, ()))
    found = []
    for word in words:
        if word not in read and (word.partition("=")[2] or word) not in read:
            found += [word] if not word.startswith("-") else [word[2:]] if word[:2] != "--" else []
            found += [word.partition("=")[2], *(path[0] for path in _paths(word))]
    return [path for path in found if path]


def _values(words: list[str], options: tuple[str, ...]) -> list[str]:
    """Return the values of options: `--output FILE`, `--output=FILE`, `-o FILE`, `-oFILE`, `-sSLo FILE`, `of=FILE`."""
    found = []
    for index, word in enumerate(words):
        for option in options:
            if word == option or (
                len(option) == 2 and word[:1] == "-" and word[:2] != "--" and word.endswith(option[1])
            ):
                found += words[index + 1 : index + 2]
            elif word.startswith(option if len(option) == 2 or option.endswith("=") else f"{option}="):
                found.append(word[len(option) :].removeprefix("="))
    return found


def _has(words: list[str], options: tuple[str, ...]) -> bool:
    return any(word.partition("=")[0] in options for word in words)


def _without_git_options(words: list[str]) -> tuple[str, list[str]]:
    """Return the folder that git is told to work in, "" for the current one, and its words without such options."""
    folder = ""
    while words and words[0].startswith("-"):
        option, _, value = words[0].partition("=")
        takes = not value and option in ("-C", "-c", "--git-dir", "--work-tree")
        if option in ("-C", "--work-tree"):
            folder = posixpath.join(folder, *(words[1:2] if takes else [value]))
        words = words[2:] if takes else words[1:]
    return folder, words


def _by_code(name: str, words: list[str], feed: str) -> list[str]:
    """Return what an interpreter may change: by code it is given, and the files it is given besides.

    A path in code counts where the code changes anything, and does not read that path or write elsewhere there.
    """
    is_script = name in _SCRIPT_FIRST
    option = _SCRIPT_OPTION if is_script else _CODE_OPTION
    codes = [words[index + 1] for index, word in enumerate(words[:-1]) if re.fullmatch(option, word)]
    variables = _values(words, ("-v", "-F")) if is_script else []
    rest = [word for word in words if word and not word.startswith("-") and word not in (*codes, *variables)]
    if is_script and not codes:
        codes, rest = rest[:1], rest[1:]
    if any(re.match(_IN_PLACE, word) for word in words) and not name.startswith(("python", "pypy", "node")):
        return rest
    if rest and not codes:
        return _named(name, words)
    found = []
    for code in (*codes, feed):
        left = re.sub(_HARMLESS, " ", code)
        if re.search(_CHANGES, left):
            found += [
                path[0]
                for path in _paths(left)
                if re.search(_BEGINS_A_PATH, left[max(path.start() - 99, 0) : path.start()])
            ]
            found += [one.partition("=")[2] for one in variables if "=" in one]
            found += rest if "argv" in left.lower() or "FILENAME" in left else []
    return found


def _paths(text: str) -> "Iterator[re.Match[str]]":
    """Yield what looks like a path into memory in a text."""
    return (part for part in re.finditer(_PART, text) if ".scaffolding" in part[0].lower())
