"""What a search prints: the names of files that another command may then be given.

No disk is searched. Where a folder has memory, a search prints one name for each kind of file in it.
"""

import os
import posixpath
import re
from fnmatch import fnmatchcase

from .words import has, is_guarded, plain, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MEMORY = ".scaffolding/agent-memory"
_FOLDERS = (".scaffolding", _MEMORY, f"{_MEMORY}/shared", f"{_MEMORY}/agents", ".scaffolding/conversations")
_FILES = (
    *(f"{_MEMORY}/shared/{name}" for name in ("KNOWLEDGE.md", "INDEX.md", "ledger.jsonl", "user_x.md", "project_x.md")),
    *(f"{_MEMORY}/agents/*/MEMORY.md", ".scaffolding/conversations/*/agent-memory/context.md", ".scaffolding/amp.toml"),
)
"""What there may be where there is memory."""


def filtered(name: str, words: list[str], text: str) -> str:
    """Return the lines that `grep` lets through, among them every folder in which there may be such a name."""
    pattern = "|".join(values(words, ["-e", "--regexp"]) or plain(words)[:1])
    if has(words, ["-F"]):
        pattern = re.escape(pattern)
    elif name == "grep" and not has(words, ["-E", "-P"]):  # where a mark means something only behind a backslash
        pattern = re.sub(r"\\?[()+?{}]|\\\|", lambda mark: mark[0][1:] or "\\" + mark[0], pattern)
    if len(pattern) > 200 or len(re.findall(r"[*+{]", pattern)) > 3 or re.search(r"\)[*+{]", pattern):
        return text  # to try it could take for ever
    try:
        wanted = re.compile(pattern, re.IGNORECASE if has(words, ["-i"]) else 0).search
    except re.error:
        return text
    inverted = has(words, ["-v", "--invert-match"])
    lines = filter(None, text.replace("\0", "\n").split("\n"))
    kept = [one for one in lines if bool(wanted(one)) != inverted or (one[-1] == "/" and not inverted)]
    return "\n".join([*kept, ""])


def found(name: str, prints: list[str], words: list[str], folder: str) -> list[str]:
    """Return the places that a search looks in, and what there may be of memory below them by the names it wants.

    `prints` is what `programs.txt` says of what it prints.
    """
    in_git = name.startswith("git-")
    if name == "find":
        end = next((index for index, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
        places = words[:end] or ["."]
    elif in_git and "--" in words:
        places = words[words.index("--") + 1 :]
    else:
        begins_with_pattern = not {"FILTER", "PATTERN"}.isdisjoint(prints) and not has(words, ["-e", "--files"])
        places = plain(words)[begins_with_pattern:]
    globs = [] if name == "find" else values(words, ["--include", "-g", "--glob"])
    globs += [one for one in places if in_git and (one[:1] == ":" or ("*" in one and not is_guarded(one)))]
    places = [one for one in places if one not in globs] or [""]
    if any(map(is_guarded, places)):
        return [one.rstrip("/") + "/" for one in places]
    if "-empty" in words or ("HIDDEN" in prints and not has(words, ["--hidden", "-H", "-uu"])):
        return places
    kinds, depth = values(words, ["-type"]), int("".join(values(words, ["-maxdepth"])[:1]).strip() or 99)
    names = [*(_FOLDERS if name == "find" and kinds != ["f"] else ()), *(_FILES if kinds != ["d"] else ())]
    below = [posixpath.join(top, one) for top in _tops(places, folder) for one in names if one.count("/") < depth]
    return places + _wanted(below, words, globs)


def _wanted(names: list[str], words: list[str], globs: list[str]) -> list[str]:
    """Return the names that pass the tests of `find`, the globs of `grep` or the patterns of git."""
    excluded = [one.lstrip(":!^").removeprefix("(exclude)").rstrip("/") for one in globs if one[0] in ":!"]
    excluded += values(words, ["--exclude", "--exclude-dir"])
    wanted, refused = [one for one in globs if one[0] not in ":!"], list[str]()
    pruned = words.index("-prune") if "-prune -o" in " ".join(words) else 0
    for index, word in enumerate(words[:-1]):
        if word in ("-name", "-iname", "-path", "-ipath", "-wholename"):
            tests = excluded if index < pruned else refused if words[index - 1] in ("!", "-not") else wanted
            tests.append(words[index + 1] if "name" in word else f"{words[index + 1]}/")
    together = any if globs or "-o" in words else all
    return [
        name
        for name in names
        if not any(_matches(name[:end], test) for test in excluded for end in _ends(name))
        and not any(_matches(name, test) for test in refused)
        and (not wanted or together(_matches(name.lower(), test.lower()) for test in wanted))
    ]


def _matches(name: str, test: str) -> bool:
    """Say whether a name passes a test: as a whole where there is a slash in the test, else by its last part."""
    return fnmatchcase(f"{name}/", test) if "/" in test else fnmatchcase(posixpath.basename(name), test)


def _ends(name: str) -> list[int]:
    """Return where the folders that a name lies in end, and the name itself."""
    return [*(index for index, letter in enumerate(name) if letter == "/"), len(name)]


def _tops(places: list[str], folder: str) -> "Iterator[str]":
    """Yield the folders with memory at or below places: the place itself, or the folder where a command runs."""
    for place in places:
        whole = posixpath.normpath(posixpath.join(folder, posixpath.expanduser(place)))
        if os.path.isdir(posixpath.join(whole, ".scaffolding")):
            yield place
        elif f"{folder}/".startswith(f"{whole}/") and os.path.isdir(posixpath.join(folder, ".scaffolding")):
            yield folder
