"""Which `amp` commands write, and why an agent may not run one: it writes as another, or as nobody (decision 7)."""

from ..errors import InvalidName
from ..layout import check_agent_name, name_key
from .programs import known
from .words import has, plain, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .programs import Command

_PROGRAMS = ("amp", "agent-memory", "agent_memory_protocol", "agent_memory_protocol.cli.main")


def why_not(command: "Command", name: str) -> str:
    """Say why an agent may not run a command; "" where it may."""
    program, words = command.name, command.words[1:]
    if program.startswith(("python", "pypy", "py")) and "-m" in words[:-1]:
        start = words.index("-m") + 1
        program, words = words[start], words[start + 1 :]
    if program not in _PROGRAMS or not writes(words):
        return ""
    try:
        own = check_agent_name(name)
    except InvalidName as error:
        return f"{error}; so nothing can be written in its name"
    options = words[: words.index("--")] if "--" in words else words
    agent = command.agent
    if has(options, ["--as"]):
        agent = "".join(values(options, ["--as"])[-1:])
    try:
        if agent is not None and name_key(check_agent_name(agent)) == name_key(own):
            return ""
    except InvalidName:
        pass
    acts = "as nobody" if agent is None else f"as {agent!a}"
    return f"agent {own} runs `amp {words[0]}` {acts}; memory is written in one's own name: add --as {own}"


def writes(words: list[str]) -> bool:
    """Say whether a command may change memory: every one that is not known to read."""
    if not words or has(words, ["--help", "--version"]) or "-h" in words:
        return False
    verbs = plain(words)[:2]
    about = known("-".join(["amp", *verbs[:1]]), "-".join(["amp", *verbs]))
    return has(words, about["!"]) or not ("reads" in about or has(words, about["?"]))
