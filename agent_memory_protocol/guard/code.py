"""The words of a command: its options, the paths they name, and what code among them may change."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_GUARDED = (".scaff", ".claude/", ".codex/", ".gemini/", ".qwen/", ".cursor/", "opencode/", ".github/", ".mcp.json")

# The patterns below are compiled when they are used: most commands bring no code.
CODE_OPTIONS: "dict[str, tuple[str, ...]]" = {
    **dict.fromkeys(("python", "pypy"), ("-c",)),
    **dict.fromkeys(("node", "deno", "bun", "perl", "ruby", "lua"), ("-e", "-E", "--eval", "-p", "--print")),
    **dict.fromkeys(("sed", "awk", "gawk", "mawk"), ("-e", "--expression", "--source")),
    "php": ("-r",),
    "tclsh": (),
}
"""The options that give an interpreter its code."""
_SCRIPT_FIRST = frozenset(["sed", "awk", "gawk", "mawk"])
_EDITORS = _SCRIPT_FIRST | {"perl", "ruby"}
_QUOTED = r"""\s*f?(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)\s*"""
_ELSEWHERE = rf"""(?!\s*f?['"`][^'"`\n]*(?:{"|".join(_GUARDED).replace(".", "[.]")}))""" + _QUOTED
_HARMLESS = (
    # a file that is opened there and then, for reading
    rf"""(?<![\w])open\({_QUOTED}(?:\)|,\s*(?:'r[bt]?'|"r[bt]?"|encoding=))"""
    rf"""|Path\({_QUOTED}\)\.(?:read_\w+|exists|is_\w+|stat)\b"""
    rf"""|(?:readFileSync|readFile|readdirSync|existsSync|File\.read\w*|file_get_contents|loadtxt)\({_QUOTED}"""
    # a file elsewhere, whatever is done with it
    rf"""|(?:open|writeFileSync|writeFile|appendFileSync|File\.write|file_put_contents)\({_ELSEWHERE}(?:,\s*['"]\w+\+?['"])?"""
    rf"""|Path\({_ELSEWHERE}\)\.(?:write_\w+|touch|unlink)\b"""
    # what looks like a change and is not one
    r"""|(?:\)|stdout|stderr|\bf)\.write\(|\.append\(|\.copy\(\)|(?<!os)\.replace\([^,()]+,|->|=>|[<>]=|>\s*\d"""
)
_CHANGES = (
    r"""['"][rbt]*[wax][bt+]*['"]|['"]r[bt]?\+|write|append|unlink|delete|remove|rename|replace\(|rmtree|copy|move"""
    r"""|truncate|touch|extract|O_WRONLY|O_RDWR|symlink|\brm|mkdir|put_contents|>|\||system|exec|spawn|popen|subprocess"""
    r"""|inplace|chdir|connect|(?:^|[\W\d])[wWa]\b"""
)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_BREAKS = "\"'`()[]{},;:=<>|&"
_PART = rf"[^{_BREAKS.translate({ord(one): chr(92) + one for one in '[]'})}\s]+"
_BEGINS_A_PATH = r"""(?:["'`}>|]\s*|(?:^|[\s;/}$\d])[wWr] |\b(?:rm|mv|cp|tee|touch|unlink|delete|open)\b.* )$"""


def is_guarded(text: str) -> bool:
    """Say whether a text may name memory, or a file of a host: or the start of one and a pattern."""
    lowered = text.lower()
    return any(name in lowered for name in _GUARDED)


def has(words: list[str], options: "Iterable[str]") -> bool:
    """Say whether one of these options is given: `--name`, `--name=x`, `-n`, or a letter among others."""
    given = {word.partition("=")[0] for word in words}
    short = (word[1 : len(word) - len(word[1:].lstrip(_LETTERS))] for word in words if word[:1] == "-" != word[1:2])
    letters = {*"".join(short)}
    return any(option in given or (len(option) == 2 and option[1] in letters) for option in options)


def values(words: list[str], options: "Iterable[str]") -> list[str]:
    """Return the values of options: `--output FILE`, `--output=FILE`, `-o FILE`, `-oFILE`, `-sSLo FILE`, `of=FILE`."""
    found = []
    for index, word in enumerate(words):
        is_short = word[:1] == "-" != word[1:2]
        for option in options:
            if word == option:
                found += words[index + 1 : index + 2]
            elif len(option) == 2:
                before, letter, value = word[1:].partition(option[1]) if is_short else ("", "", "")
                if letter and (before.isalpha() or not before):
                    found += [value] if value else words[index + 1 : index + 2]
            elif word.startswith(option if option.endswith("=") else f"{option}="):
                found.append(word[len(option) :].removeprefix("="))
    return found


def after_options(words: list[str], start: int, valued: "Iterable[str]") -> int:
    """Return where the options that begin somewhere end, some of which take one more word."""
    while start < len(words) and words[start].startswith("-"):
        start += 2 if words[start] in valued else 1
    return start


def plain(words: list[str]) -> list[str]:
    """Return the words that are not options."""
    return [word for word in words if not word.startswith("-")]


def named(words: "Iterable[str]") -> list[str]:
    """Return every path that words may name: as a whole, after `=` or an option's letter, or inside a text."""
    found = []
    for word in words:
        found += [word[2:] if word[0] == "-" != word[1:2] else word, word.partition("=")[2]] if word else []
        if is_guarded(word):
            parts = word.translate(dict.fromkeys(map(ord, _BREAKS), " ")).split()
            found += [part for part in parts if is_guarded(part)]
    return [path for path in found if path and not path.startswith("--")]


def interpreter(name: str) -> str:
    """Return the interpreter that a program is, without its version; "" where it is another program."""
    bare = name.rstrip("0123456789.")
    return bare if bare in CODE_OPTIONS else ""


def changed_by_code(name: str, words: list[str], feed: str) -> list[str]:
    """Return what an interpreter may change: by code it is given, and the files it is given besides.

    A path in code counts where the code changes anything, and does not read that path or write elsewhere there.
    """
    codes = values(words, CODE_OPTIONS[name])
    variables = values(words, ["-v", "-F"]) if name in _SCRIPT_FIRST else []
    taken = {"", *codes, *variables}
    rest = [word for word in plain(words) if word not in taken]
    if name in _SCRIPT_FIRST and not codes:
        codes, rest = rest[:1], rest[1:]
    if name in _EDITORS and any(word[0] == "-" and word.lstrip("-nErsuzpalw0")[:1] == "i" for word in words if word):
        return rest  # `-i`, `-pi.bak`, `--in-place`
    found = named(words) if rest and not codes else []
    for code in (*codes, feed):
        paths = changed_in(code)
        found += paths or []
        if paths is not None:
            found += [one.partition("=")[2] for one in variables]
            found += rest if "argv" in code.lower() or "FILENAME" in code or "shift" in code else []
    return found


def changed_in(code: str) -> list[str] | None:
    """Return the paths into memory that code may change; None where it changes nothing."""
    import re

    left = re.sub(_HARMLESS, " ", code)
    if not re.search(_CHANGES, left):
        return None
    places = [part for part in re.finditer(_PART, left) if is_guarded(part[0])]
    return [part[0] for part in places if re.search(_BEGINS_A_PATH, left[max(part.start() - 99, 0) : part.start()])]
