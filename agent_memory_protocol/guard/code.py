"""The words of a command: its options, the paths they name, and what code among them may change."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The patterns below are compiled when they are used: most commands bring no code.
_INTERPRETERS = ("python", "pypy", "node", "deno", "bun", "perl", "ruby", "php", "lua", "sed", "awk", "gawk", "mawk")
_SCRIPT_FIRST = frozenset(["sed", "awk", "gawk", "mawk"])
_IN_PLACE = r"-[nErsuzpalw0]*i|--in-place"
_CODE_OPTIONS = ("-c", "-e", "-E", "-r", "--eval")
_SCRIPT_OPTIONS = ("-e", "--expression", "--source")
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


def is_interpreter(name: str) -> bool:
    """Say whether a program runs code that it is given."""
    return name in _INTERPRETERS or name.startswith(_INTERPRETERS[:2])


def changed_by_code(name: str, words: list[str], feed: str) -> list[str]:
    """Return what an interpreter may change: by code it is given, and the files it is given besides.

    A path in code counts where the code changes anything, and does not read that path or write elsewhere there.
    """
    import re

    is_script = name in _SCRIPT_FIRST
    codes = values(words, _SCRIPT_OPTIONS if is_script else _CODE_OPTIONS)
    variables = values(words, ["-v", "-F"]) if is_script else []
    rest = [word for word in plain(words) if word and word not in (*codes, *variables)]
    if is_script and not codes:
        codes, rest = rest[:1], rest[1:]
    if any(re.match(_IN_PLACE, word) for word in words) and not name.startswith(("python", "pypy", "node")):
        return rest
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
