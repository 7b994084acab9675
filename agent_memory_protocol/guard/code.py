"""The words of a command: its options, the paths they name, and what code among them may change."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The patterns below are compiled when they are used: most commands bring no code.
_CODE_OPTIONS: "dict[str, tuple[str, ...]]" = {
    **dict.fromkeys(("python", "pypy"), ("-c",)),
    **dict.fromkeys(("node", "deno", "bun", "perl", "ruby", "lua"), ("-e", "-E", "--eval")),
    **dict.fromkeys(("sed", "awk", "gawk", "mawk"), ("-e", "--expression", "--source")),
    "php": ("-r",),
}
"""The options that give an interpreter its code."""
_EDITORS = frozenset(["sed", "awk", "gawk", "mawk", "perl", "ruby"])
_SCRIPT_FIRST = _EDITORS - {"perl", "ruby"}
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
_BREAKS = "\"'`()[]{},;:=<>|&"
_PART = rf"[^{_BREAKS.translate({ord(one): chr(92) + one for one in '[]'})}\s]+"
_BEGINS_A_PATH = r"""(?:["'`}>]|(?:^|[\s;/}])[wW] |\b(?:rm|mv|cp|tee|touch|unlink)\b.* )$"""
_MEMORY = ".scaffolding"


def values(words: list[str], options: "Iterable[str]") -> list[str]:
    """Return the values of options: `--output FILE`, `--output=FILE`, `-o FILE`, `-oFILE`, `-sSLo FILE`, `of=FILE`."""
    found = []
    for index, word in enumerate(words):
        for option in options:
            is_letter = len(option) == 2
            if word == option or (is_letter and word[:1] == "-" != word[1:2] and word.endswith(option[1])):
                found += words[index + 1 : index + 2]
            elif word.startswith(option if is_letter or option.endswith("=") else f"{option}="):
                found.append(word[len(option) :].removeprefix("="))
    return found


def after_options(words: list[str], start: int, valued: "Iterable[str]") -> int:
    """Return where the options that begin somewhere end, some of which take one more word."""
    while start < len(words) and words[start].startswith("-"):
        start += 2 if words[start] in valued else 1
    return start


def plain(words: list[str]) -> list[str]:
    """Return the words that are no options."""
    return [word for word in words if not word.startswith("-")]


def named(words: "Iterable[str]") -> list[str]:
    """Return every path that words may name: as a whole, after `=` or an option's letter, or inside a text."""
    found = []
    for word in words:
        found += [word[2:] if word[0] == "-" != word[1:2] else word, word.partition("=")[2]] if word else []
        if _MEMORY in word.lower():
            parts = word.translate(dict.fromkeys(map(ord, _BREAKS), " ")).split()
            found += [part for part in parts if _MEMORY in part.lower()]
    return [path for path in found if path and not path.startswith("--")]


def interpreter(name: str) -> str:
    """Return the interpreter that a program is, without its version; "" where it is another program."""
    bare = name.rstrip("0123456789.")
    return bare if bare in _CODE_OPTIONS else ""


def changed_by_code(name: str, words: list[str], feed: str) -> list[str]:
    """Return what an interpreter may change: by code it is given, and the files it is given besides.

    A path in code counts where the code changes anything, and does not read that path or write elsewhere there.
    """
    import re

    codes = values(words, _CODE_OPTIONS[name])
    variables = values(words, ["-v", "-F"]) if name in _SCRIPT_FIRST else []
    taken = {"", *codes, *variables}
    rest = [word for word in plain(words) if word not in taken]
    if name in _SCRIPT_FIRST and not codes:
        codes, rest = rest[:1], rest[1:]
    if name in _EDITORS and any(word[0] == "-" and word.lstrip("-nErsuzpalw0")[:1] == "i" for word in words if word):
        return rest  # `-i`, `-pi.bak`, `--in-place`
    if rest and not codes:
        return named(words)
    found = []
    for code in (*codes, feed):
        left = re.sub(_HARMLESS, " ", code)
        if re.search(_CHANGES, left):
            for path in re.finditer(_PART, left):
                before = left[max(path.start() - 99, 0) : path.start()]
                found += [path[0]] if _MEMORY in path[0].lower() and re.search(_BEGINS_A_PATH, before) else []
            found += [one.partition("=")[2] for one in variables]
            found += rest if "argv" in left.lower() or "FILENAME" in left else []
    return found
