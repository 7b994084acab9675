"""Which `amp` commands write, and why an agent may not run one: it writes as another, or as nobody (decision 7)."""

from ..errors import InvalidName
from ..layout import check_agent_name, name_key
from .code import plain, values
from .programs import options_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .programs import Command

_PROGRAMS = frozenset(["amp", "agent-memory"])
_MODULES = frozenset(["agent_memory_protocol", "agent_memory_protocol.cli.main"])
_READING = options_table("""
recall show list status where route doctor search hook export convert schema bench find-stores mcp
note-list note-show record-list record-show record-history record-verify
check ! --fix
diff help version completion
review ! --done --refuse --forget-refusals
prune restore sync record-init-store agent-rename ledger-compact import decay ! --apply
distill learn adopt close ! --apply --restore --refuse --forget-refusals --operator
view ? --output --read-only
consolidate ! --apply --operator --refuse --forget-refusals
conformance ! --command
index ? --check
""")
"""Commands that only read, unless (`!`) one of these options is given, or only if (`?`) this one is."""
_HELP = frozenset(["--help", "-h", "--version"])


def why_not(command: "Command", name: str) -> str:
    """Say why an agent may not run a command; "" where it may."""
    words = _amp_words(command)
    if words is None or not writes(words):
        return ""
    try:
        own = check_agent_name(name)
    except InvalidName as error:
        return f"{error}; so nothing can be written in its name"
    options = words[: words.index("--")] if "--" in words else words
    agent = [command.agent, *values([*options, ""], ["--as"])][-1]
    try:
        if agent is not None and name_key(check_agent_name(agent)) == name_key(own):
            return ""
    except InvalidName:
        pass
    verb = " ".join(["amp", *words[:1]])
    acts = "as nobody" if agent is None else f"as {agent!a}"
    return f"agent {own} runs `{verb}` {acts}; memory is written in one's own name: add --as {own}"


def writes(words: list[str]) -> bool:
    """Say whether a command may change memory: every one that is not known to read."""
    if _HELP & {*words} or not words:
        return False
    verbs = plain(words)[:2]
    options = _READING.get("".join(verbs[:1])) or _READING.get("-".join(verbs))
    given = {word.partition("=")[0] for word in words}
    return (
        options is None or not given.isdisjoint(options["!"]) or bool(options["?"] and given.isdisjoint(options["?"]))
    )


def _amp_words(command: "Command") -> list[str] | None:
    """Return what follows the program's name; None where it is another program."""
    words = command.words
    if command.name in _PROGRAMS:
        return words[1:]
    if command.name.startswith(("python", "pypy", "py")):
        for index, word in enumerate(words[1:-1], start=1):
            if word == "-m" and words[index + 1] in _MODULES:
                return words[index + 2 :]
    return None
