"""Which `amp` commands a shell's text runs, whether they write, and as whom."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .programs import Command

PROGRAMS = frozenset(["amp", "agent-memory"])
MODULES = frozenset(["agent_memory_protocol", "agent_memory_protocol.cli.main"])

READING: "dict[str, tuple[str, ...]]" = {
    **dict.fromkeys(("recall", "show", "list", "status", "where", "route", "doctor", "search", "hook"), ()),
    **dict.fromkeys(("export", "convert", "schema", "bench", "find-stores", "mcp"), ()),
    "note list": (),
    "note show": (),
    "record list": (),
    "record show": (),
    "record history": (),
    "record verify": (),
    "check": ("--fix",),
    "review": ("--done",),
    "prune": ("--apply",),
    "restore": ("--apply",),
    "sync": ("--apply",),
    **dict.fromkeys(("distill", "learn", "adopt", "import", "decay"), ("--apply", "--restore")),
    "consolidate": ("--apply", "--operator"),  # a program may do anything
}
"""Commands that only read, unless one of these options is given."""
_HELP = frozenset(["--help", "-h", "--version"])


class AmpCommand:
    """An `amp` command in a shell's text.

    Attributes:
        words: the verb and what follows it.
        agent: who acts in it; None for a person.
        writes: whether it may change memory.
    """

    __slots__ = ("agent", "words", "writes")

    def __init__(self, words: list[str], agent: str | None) -> None:
        self.words = words
        self.agent = agent
        self.writes = writes(words)

    def __repr__(self) -> str:
        return f"AmpCommand({self.words}, {self.agent!r}, writes={self.writes})"


def find(commands: "list[Command]") -> list[AmpCommand]:
    """Return the `amp` commands among those of a text, each with who acts in it."""
    found = []
    for command in commands:
        words = _amp_words(command)
        if words is not None:
            found.append(AmpCommand(words, _option(words, "--as", command.agent)))
    return found


def writes(words: list[str]) -> bool:
    """Say whether a command may change memory: every one that is not known to read."""
    if _HELP & {*words} or not words:
        return False
    plain = [word for word in words if not word.startswith("-")]
    if plain[:1] == ["index"]:
        return "--check" not in words
    for verb in (" ".join(plain[:1]), " ".join(plain[:2])):
        if verb in READING:
            return any(word.partition("=")[0] in READING[verb] for word in words)
    return True


def _amp_words(command: "Command") -> list[str] | None:
    """Return what follows the program's name; None where it is another program."""
    words = command.words
    if command.name in PROGRAMS:
        return words[1:]
    if command.name.startswith(("python", "pypy", "py")):
        for index, word in enumerate(words[1:-1], start=1):
            if word == "-m" and words[index + 1] in MODULES:
                return words[index + 2 :]
    return None


def _option(words: list[str], name: str, default: str | None) -> str | None:
    """Return the last value of an option, as click takes it; `--` ends the options."""
    value = default
    for index, word in enumerate(words):
        if word == "--":
            break
        if word == name:
            value = words[index + 1] if index + 1 < len(words) else ""
        elif word.startswith(name + "="):
            value = word[len(name) + 1 :]
    return value
