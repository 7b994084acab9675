"""What a search prints: the names of files that another command may then be given.

No disk is searched. Where a folder has memory, a search prints one name for each kind of file in it.
"""

import os
import posixpath
import re
from fnmatch import fnmatchcase

from .words import is_guarded, plain, values

_MEMORY = ".scaffolding/agent-memory"
_FILES = (
    *(f"{_MEMORY}/shared/{name}" for name in ("KNOWLEDGE.md", "INDEX.md", "ledger.jsonl", "user_x.md", "project_x.md")),
    *(f"{_MEMORY}/agents/*/MEMORY.md", ".scaffolding/conversations/*/agent-memory/context.md", ".scaffolding/amp.toml"),
)
"""What there may be where there is memory."""
_NAMES = ("KNOWLEDGE.md", "MEMORY.md", "context.md", "ledger.jsonl")
_LOOKS_THROUGH = re.compile(r"""(?:Path\((?:'\.?')?\)|cwd\(\))\.(?:rglob\('([^']+)'\)|glob\('\*\*/([^']+)'\))""")
_TESTS = ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex")
_FD_RUNS = ("-x", "-X", "--exec", "--exec-batch")
_GLOBS = ["--include", "-g", "--glob"]


def let_through(words: list[str], text: str) -> str:
    """Return the lines that `grep` lets through, among them every folder in which there may be such a name."""
    pattern = "|".join(values(words, ["-e", "--regexp"]) or plain(words)[:1])
    pattern = re.sub(r"\\([(){}|+?])", r"\1", pattern) if not values(words, ["-E", "-P"]) else pattern
    if len(pattern) > 200 or len(re.findall(r"[*+{]", pattern)) > 3 or re.search(r"\)[*+{]", pattern):
        return text  # to try it could take for ever
    try:
        wanted = re.compile(pattern, re.IGNORECASE).search
    except re.error:
        return text
    inverted = bool(values(words, ["-v", "--invert-match"]))
    kept = [one for one in text.split("\n") if bool(wanted(one)) != inverted or (one[-1:] == "/" and not inverted)]
    return "\n".join(kept)


def found(name: str, prints: list[str], words: list[str], folder: str) -> list[str]:
    """Return the places in memory that a search names, or what it may find below others by the names it wants.

    `prints` is what `programs.txt` says of what it prints.
    """
    in_git = name.startswith("git-")
    pattern = ""
    if name == "fd":
        words = words[: next((index for index, one in enumerate(words) if one in _FD_RUNS), len(words))]
        endings = values(words, ["-e", "--extension"])
        words = [*(one for one in words if one not in endings), *(f"--glob=*.{one}" for one in endings)]
        pattern = "".join(plain(words)[:1])
    pruned = words.index("-prune") if "-prune -o" in " ".join(words) else 0
    wanted = values(words, _GLOBS) if name != "find" else []
    refused, skipped = list[str](), values(words, ["--exclude", "--exclude-dir"])
    for index, word in enumerate(words[:-1]):
        if word in _TESTS:
            tests = skipped if index < pruned else refused if words[index - 1] in ("!", "-not") else wanted
            test = words[index + 1].replace(".*", "*").replace("\\", "") if "regex" in word else words[index + 1]
            tests.append(test if "name" in word else f"{test}/")
    if name == "find":
        places = words[: next((index for index, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))]
    else:
        begins_with_pattern = not {"FILTER", "PATTERN"}.isdisjoint(prints) and not values(words, ["-e", "--files"])
        places = plain(words)[begins_with_pattern:]
    wanted += [one for one in places if in_git and (one[:1] == ":" or ("*" in one and not is_guarded(one)))]
    skipped += [one.lstrip(":!^").removeprefix("(exclude)") for one in wanted if one[0] in ":!"]
    places = [one for one in places if one not in wanted] or ["" if in_git else "."]
    if any(map(is_guarded, places)):
        return [one.rstrip("/") + "/" for one in places]
    if "-empty" in words or ("HIDDEN" in prints and not values(words, ["--hidden", "-H", "-uu"])):
        return places
    wanted = [one for one in wanted if one[0] not in ":!"]
    together = any if "-o" in words or name != "find" else all
    depth = int("".join(values(words, ["-maxdepth"])[:1]).strip() or 99)
    names = {end for one in _FILES for end in (_ends(one) if name == "find" else [one]) if end.count("/") < depth}
    below = [posixpath.join(top, one) for top in _tops(places, folder) for one in names]
    below = let_through([pattern], "\n".join(below)).split("\n") if pattern else below
    return places + [
        one
        for one in below
        if (not wanted or together(_matches(one, test) for test in wanted))
        and not any(_matches(one, test) for test in refused)
        and not any(_matches(end, test) for test in skipped for end in _ends(one))
    ]


def found_by_code(code: str, folder: str) -> list[str]:
    """Return what code may find in memory that looks through this folder with all below: by its names, or by patterns.

    `glob` of most languages passes over hidden folders. Only the name of a document tells that it means memory.
    """
    wanted = [one for pair in _LOOKS_THROUGH.findall(code) for one in pair if one]
    if re.search(r"\*\*/|\bwalk\(|\bfind\(", code):
        wanted += re.findall(rf"['/]({'|'.join(_NAMES)})'", code)
    wanted = [] if "startswith('.')" in code else [one for one in wanted if one.strip("*")]
    return [
        posixpath.join(top, one)
        for top in (_tops(["."], folder) if wanted else ())
        for one in _FILES
        if any(_matches(one, test) for test in wanted)
    ]


def taken_by_git(name: str, words: list[str], folder: str) -> list[str]:
    """Return the memory that git takes unasked with all it ignores: `git clean -x`, `git stash --all`."""
    takes = {"git-clean": ["-x", "-X"], "git-stash": ["-a", "--all"]}.get(name, [])
    if not values(words, takes) or values(words, ["-n", "--dry-run"]):
        return []
    kept = values(words, ["-e", "--exclude"]) if not values(words, ["-X"]) else []
    told = [*kept, *values(words, ["-m", "--message", "-e", "--exclude"]), "push", "save"]
    places = [word for word in plain(words) if word not in told]
    if any(one.lstrip(":!^/").removeprefix("(exclude)").startswith(".scaffolding") for one in (*kept, *places)):
        return []
    places = [one for one in places if one[0] != ":"]
    if not places and name == "git-stash":  # which takes the whole tree, wherever it runs
        places = ["/".join([".", *[".."] * above]) for above in range(folder.count("/"))]
    return [posixpath.join(top, ".scaffolding") for top in _tops(places or [""], folder)]


def _matches(name: str, test: str) -> bool:
    """Say whether a name passes a test: as a whole where there is a slash in the test, else by its last part."""
    name, test = name.lower(), test.lower()
    return fnmatchcase(name, test.rstrip("/")) if "/" in test else fnmatchcase(posixpath.basename(name), test)


def _ends(name: str) -> list[str]:
    """Return the folders that a name lies in, and the name itself."""
    parts = name.split("/")
    return ["/".join(parts[: index + 1]) for index in range(len(parts))]


def _tops(places: list[str], folder: str) -> list[str]:
    """Return the folders with memory at or below places: the place itself, or the folder where a command runs."""
    wholes = {place: posixpath.normpath(posixpath.join(folder, posixpath.expanduser(place))) for place in places}
    tops = [place for place, whole in wholes.items() if os.path.isdir(posixpath.join(whole, ".scaffolding"))]
    if any(f"{folder}/".startswith(f"{whole}/") for whole in wholes.values()):
        tops += [folder] if os.path.isdir(posixpath.join(folder, ".scaffolding")) and not tops else []
    return tops
