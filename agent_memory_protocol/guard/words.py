"""The words of a command: its options, and the paths that they name."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ANY = "\ud804"
"""In a word: what only a run could tell, so any path that the text names. No text has it: it cannot be encoded."""
GUARDED = (
    *(".scaff", ".claude", ".codex/", ".gemini/", ".qwen/", ".cursor/", ".copilot/", ".github/"),
    *("opencode", "mcp.json", ".codeium", ".zed/", ".config/zed/", "claude_desktop"),
)
BREAKS = "\"'`()[]{},;:=<>|&"
_MOST_WORDS = 64  # of one with braces
_BROKEN = dict.fromkeys(map(ord, BREAKS), " ")


def is_guarded(text: str) -> bool:
    """Say whether a text may name memory, or a file of a host: or the start of one and a pattern."""
    lowered = text.lower()
    return any(name in lowered for name in (*GUARDED, ANY))


def values(words: list[str], options: "Iterable[str]") -> list[str]:
    """Return the values of options: `--output FILE`, `--output=FILE`, `-o FILE`, `-oFILE`, `-sSLo FILE`, `of=FILE`.

    One that is given without a value has "".
    """
    found = []
    for index, word in enumerate(words):
        after = "".join(words[index + 1 : index + 2])
        for option in options:
            if word == option:
                found.append(after)
            elif len(option) > 2 and word.startswith(option if option.endswith("=") else f"{option}="):
                found.append(word[len(option) :].removeprefix("="))
            elif len(option) == 2 and word[:1] == "-" != word[1:2] and option[1] in word:
                before, _, value = word[1:].partition(option[1])
                found += [value or after] if before.isalnum() or not before else []
    return found


def after_options(words: list[str], valued: "Iterable[str]") -> int:
    """Return where the options that words begin with end, some of which take one more word."""
    start = 0
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
        found += [word[2:] if word[:1] == "-" != word[1:2] else word, word.partition("=")[2], *guarded(word)]
        found += unbraced(word) if "{" in word else []
    return [path for path in found if path and not path.startswith("--")]


def unbraced(word: str) -> list[str]:
    """Return the words that braces make of one: `.{git,scaffolding}` is two."""
    found = [word]
    for index in range(_MOST_WORDS):
        start, _, rest = found[index].partition("{") if index < len(found) else ("", "", "")
        inside, brace, end = rest.partition("}")
        found += [f"{start}{one}{end}" for one in inside.split(",")] if brace and "," in inside else []
    return found[:_MOST_WORDS]


def guarded(text: str) -> list[str]:
    """Return the paths inside a text that may be memory's or a host's."""
    return [part for part in text.translate(_BROKEN).split() if is_guarded(part)] if is_guarded(text) else []
