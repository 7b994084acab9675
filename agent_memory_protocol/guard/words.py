"""The words of a command: its options, and the paths that they name."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GUARDED = (
    *(".scaff", ".claude", ".codex/", ".gemini/", ".qwen/", ".cursor/", ".copilot/", ".github/"),
    *("opencode", "mcp.json"),
)
BREAKS = "\"'`()[]{},;:=<>|&"
_BROKEN = dict.fromkeys(map(ord, BREAKS), " ")


def is_guarded(text: str) -> bool:
    """Say whether a text may name memory, or a file of a host: or the start of one and a pattern."""
    lowered = text.lower()
    return any(name in lowered for name in GUARDED)


def has(words: list[str], options: "Iterable[str]") -> bool:
    """Say whether one of these options is given, as `values` finds them."""
    return any(True for _ in _each_value(words, options))


def values(words: list[str], options: "Iterable[str]") -> list[str]:
    """Return the values of options: `--output FILE`, `--output=FILE`, `-o FILE`, `-oFILE`, `-sSLo FILE`, `of=FILE`."""
    return [value for value in _each_value(words, options) if value]


def _each_value(words: list[str], options: "Iterable[str]") -> "Iterator[str]":
    for index, word in enumerate(words):
        after = "".join(words[index + 1 : index + 2])
        for option in options:
            if word == option:
                yield after
            elif len(option) == 2 and word[:1] == "-" != word[1:2]:
                before, letter, value = word[1:].partition(option[1])
                if letter and (before.isalnum() or not before):
                    yield value or after
            elif len(option) > 2 and word.startswith(option if option.endswith("=") else f"{option}="):
                yield word[len(option) :].removeprefix("=")


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
        found += [word[2:] if word[0] == "-" != word[1:2] else word, word.partition("=")[2]] if word else []
        found += guarded(word)
    return [path for path in found if path and not path.startswith("--")]


def guarded(text: str) -> list[str]:
    """Return the paths inside a text that may be memory's or a host's."""
    return [part for part in text.translate(_BROKEN).split() if is_guarded(part)] if is_guarded(text) else []
