"""Code that an interpreter is given in a command: the paths into memory that it may change.

A path counts where the code changes anything, and does not read that path or write elsewhere there. So what is known
to read, or to write elsewhere, is taken out first; nothing left that changes anything means that the code only reads.
"""

import re
from fnmatch import fnmatchcase

from ..layout import SCAFFOLDING
from .fold import folded
from .words import GUARDED, guarded, is_guarded, named, plain, values

_EDITORS = frozenset(["sed", "awk", "gawk", "mawk", "perl", "ruby"])
_QUOTED = r"""\s*f?(?:'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)\s*"""
_ELSEWHERE = rf"""(?!\s*f?['"`][^'"`\n]*(?:{"|".join(map(re.escape, GUARDED))}))""" + _QUOTED
_READS = (
    # a file that is opened there and then, for reading
    rf"""(?<![\w.])open\({_QUOTED}(?:\)|,\s*(?:'r[bt]?'|"r[bt]?"|encoding=))"""
    rf"""|Path\({_QUOTED}\)\.(?:read_\w+|exists|is_\w+|stat)\b"""
    rf"""|(?<![\w.])(?:print|console\.log)\({_QUOTED}\)"""
    # a file that Perl reads, a key of one letter, an entry of a list, what is passed over
    r"""|<\$?\w+>|['"]\w['"]\s*[:\]]|(?<!\bos)(?<!\bfs)\.remove\(|(?:\bnot\s+in\b|!==?)\s*(?:[\[({][^\])}]*[\])}]|['"][^'"\n]*['"])"""
    # what looks like a change and is not one
    r"""|(?:\)|stdout|stderr|\bf)\.write\(|\.append\(|\.copy\(\)|(?<!os)\.replace\([^,()]+,|->|=>|[<>]=|>\s*\d"""
)
_HARMLESS = (
    # a copy of a file, and a file elsewhere, whatever is done with it
    rf"""{_READS}|(?:copy\w*|copyFileSync)\({_QUOTED},{_ELSEWHERE}"""
    rf"""|(?:(?<![\w.])open|writeFileSync|writeFile|appendFileSync|File\.write|file_put_contents)\({_ELSEWHERE}(?:,\s*['"]\w+\+?['"])?"""
    rf"""|Path\({_ELSEWHERE}\)\.(?:write_\w+|touch|unlink)\b"""
)
_CHANGES = (
    r"""['"][rbt]*[wax][bt+]*['"]|['"]r[bt]?\+|write|append|unlink|delete|remove|rename|replace\(|rmtree|copy|move"""
    r"""|truncate|touch|extract|O_WRONLY|O_RDWR|symlink|\brm|mkdir|put_contents|>|\||system|exec|spawn|popen|subprocess"""
    r"""|inplace|chdir|chmod|chown|utime|connect|(?:^|[\W\d])[wWa]\b"""
)
_HIDDEN_NAME = re.compile(r"""(?<=['"`/<\s])\.[s?[][^\s/'"`>]*""")  # a pattern, or only its beginning
_NAMES_A_FILE = rf"""(?m)^\s*(?:const |let |var )?(\w+)\s*=\s*((?:pathlib\.)?Path\({_QUOTED}\)|{_QUOTED})\s*(?:;|$)"""


def changed_by_code(
    name: str, options: list[str], words: list[str], feed: str, around: list[str], folder: str
) -> list[str]:
    """Return what an interpreter may change: by code it is given after its options, and the files given besides.

    `around` is what its environment may name. In a folder of memory, code need not name what it changes.
    """
    codes = values(words, options)
    variables = values(words, ["-v", "-F"]) if "FIRST" in options else []
    said = {"", *codes, *variables}
    rest = [word for word in plain(words) if word not in said]
    if "FIRST" in options and not codes:
        codes, rest = rest[:1], rest[1:]
    if name in _EDITORS and (values(words, ["--in-place"]) or _edits_in_place(words)):
        return rest
    found = named(words) if rest and not codes else []
    for code in (*codes, feed):
        paths = changed_in(code, folder)
        if paths is not None:
            found += paths + [one.partition("=")[2] for one in (*variables, *rest) if "=" in one]
            found += rest if any(word in code for word in ("argv", "ARGV", "FILENAME", "shift")) else []
            found += around if "env" in code.lower() else []
        if is_guarded(folder) and name not in _EDITORS and re.search(_CHANGES, re.sub(_READS, " ", code)):
            found.append(folder)
    return found


def changed_in(code: str, folder: str) -> list[str] | None:
    """Return the paths into memory that code may change; None if it changes nothing."""
    code = _HIDDEN_NAME.sub(lambda one: SCAFFOLDING if fnmatchcase(SCAFFOLDING, one[0]) else one[0], folded(code))
    for name, value in re.findall(_NAMES_A_FILE, code):
        code = re.sub(rf"""(?<![\w.'"/]){name}(?![\w'"/]|\s*=[^=])""", lambda _: value, code)  # noqa: B023
    left = re.sub(_HARMLESS, " ", re.sub(_NAMES_A_FILE, "", code))
    if not re.search(_CHANGES, left):
        return None
    from .finds import found_by_code

    return guarded(left) + found_by_code(left, folder)


def _edits_in_place(words: list[str]) -> bool:
    """Say whether `-i` is given, by itself or behind letters that take no value: `-pi.bak`."""
    return any(word[0] == "-" and word.lstrip("-nErsuzpalw0")[:1] == "i" for word in words if word)
