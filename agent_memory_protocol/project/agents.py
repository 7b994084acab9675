"""Agent definitions: which agents are read-only.

A host lets an agent write when its definition leaves it Write or Edit; memory must not give back what the
definition takes away (docs/protocol.md, decision 10). The project's own definitions come first, then those of its
plugins, then those in the person's home folder. Where the definition cannot be read, or there is none, the list in
the settings decides.
"""

import os
from itertools import islice

from ..disk.errors import shown
from ..disk.files import Root
from ..errors import AgentMemoryError
from ..layout import name_key
from ..text.headers import Header, split_header
from .settings import home_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .settings import Settings

    _Definition = tuple[str, Header | None]

_FOLDERS = (
    *((".claude", "agents"), (".qwen", "agents"), (".gemini", "agents"), (".cursor", "agents"), (".github", "agents")),
    *((".copilot", "agents"), (".opencode", "agent"), (".opencode", "agents"), (".config", "opencode", "agent")),
)
"""Where hosts look for definitions of agents, below a project or a person's home folder."""
_PLUGINS = (".claude", "plugins")
_WRITING = frozenset(["write", "edit"])
_ALSO_CALLED = {"write_file": "write", "create": "write", "replace": "edit"}
"""What other hosts call these two tools."""
_ALL = "*"
_INSTALLED = (*_PLUGINS, "cache")
_ABOVE_A_PLUGIN = 3
"""In the person's home folder a plugin lies below the names of its market, of itself and of its version."""
_DEEPEST = 10
_MOST_LOOKED_AT = 2_000
_LARGEST_FILE = 1 << 20
_NEARLY = 0.85


def read_only_reason(
    root: Root, agent: str, settings: "Settings", *, environ: "Mapping[str, str] | None" = None
) -> str | None:
    """Return why this agent is read-only, as the end of a sentence; None if it may write.

    Args:
        root: the opened project.
        agent: the agent's name, checked.
        settings: they name the agents that are read-only unless a definition says otherwise.
        environ: holds HOME and CLAUDE_PLUGIN_ROOT; by default the environment of the process.
    """
    environ = os.environ if environ is None else environ
    wanted = name_key(agent)
    home, links = home_folder(environ), root.external_links
    for definitions in (
        _of_hosts(root),
        _plugin_definitions(root),
        _definitions_at(environ.get("CLAUDE_PLUGIN_ROOT", ""), ("agents",)),
        _definitions_at(home, *_FOLDERS, external_links=links),
        _definitions_at(home, _INSTALLED, external_links=links),
    ):
        # If two definitions of one rank name the agent, the host picks one: to take the stricter is safe.
        mine = [(path, may_write(header)) for path, header in definitions if name_key(_name(path, header)) == wanted]
        for path, writes in mine:
            if writes is False:
                return f"{shown(path)} gives it neither Write nor Edit"
        if any(writes is None for _, writes in mine):
            break
        if mine:
            return None
    if any(wanted == name_key(name) for name in settings.read_only):
        where = settings.origin.get("access.read_only", "by default")
        return f"the setting access.read_only names it ({where}) and no agent definition says otherwise"
    return None


def defined(root: Root) -> list[str]:
    """Return the names of the agents that the project or its plugins define."""
    definitions = (*_of_hosts(root), *_plugin_definitions(root))
    return [_name(path, header) for path, header in definitions]


def nearest(name: str, others: "Iterable[str]") -> str | None:
    """Return the other name that a name is probably a misspelling of: nearly the same letters, the same digits."""
    from difflib import get_close_matches  # slow to load, and seldom needed

    def digits(one: str) -> list[str]:
        return [character for character in one if character.isdigit()]

    alike = [one for one in others if one != name and digits(one) == digits(name)]
    return next(iter(get_close_matches(name, alike, 1, _NEARLY)), None)


def may_write(header: Header | None) -> bool | None:
    """Say whether a definition leaves the agent Write or Edit; None if that cannot be read."""
    if header is None:
        return None
    allowed = _WRITING
    denied: set[str] = set()
    for field in header.fields:
        key = field.key.replace("-", "").replace("_", "").lower()
        if key == "readonly" and field.text.lower() == "true":
            return False
        if key not in ("tools", "disallowedtools"):
            continue
        if field.children:
            return None
        names = split_tools(field.text if field.items is None else ", ".join(field.items))
        if key == "tools":
            # A pattern, Write(docs/**), lets the agent write; whether also here, the host decides.
            tools = {_ALSO_CALLED.get(one, one) for name in names if (one := name.partition("(")[0].strip())}
            allowed = _WRITING if _ALL in tools else _WRITING & tools
        else:
            # A pattern takes away only a part, unless it takes all.
            whole = (name.removesuffix("(*)").removesuffix("(**)").strip() for name in names)
            denied |= {_ALSO_CALLED.get(name, name) for name in whole}
    return bool(allowed - denied) and _ALL not in denied


def split_tools(text: str) -> list[str]:
    """Split `Read, Bash(git add:*, git commit:*), Edit` where no parenthesis is open; names in lower case."""
    names, depth, begin = [], 0, 0
    for index, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth = max(depth - 1, 0)
        elif character in ", \t\n" and not depth:
            names.append(text[begin:index])
            begin = index + 1
    names.append(text[begin:])
    return [name.strip("\"'").lower() for name in names if name]


def _name(path: str, header: Header | None) -> str:
    """Return the name of a definition's agent: from its header, or else from the name of its file."""
    name = header.get("name") if header else None
    return (name or path.rpartition("/")[2].removesuffix(".md").removesuffix(".agent")).strip()


def _of_hosts(root: Root) -> "Iterator[_Definition]":
    for folder in _FOLDERS:
        yield from _definitions(root, folder, deep=True)


def _definitions(root: Root, folder: tuple[str, ...], *, deep: bool, above: str = "") -> "Iterator[_Definition]":
    """Yield the definitions in a folder: the path of each, and its header, None if it cannot be read."""

    def enters(below: tuple[str, ...]) -> bool:
        depth = len(below) - len(folder)
        if folder == _INSTALLED:
            return depth <= _ABOVE_A_PLUGIN or (depth == _ABOVE_A_PLUGIN + 1 and below[-1] == "agents")
        return deep and len(below) <= _DEEPEST

    for parts in islice(root.files_below(folder, enters), _MOST_LOOKED_AT):
        if not parts[-1].endswith(".md") or (folder == _INSTALLED and parts[-2] != "agents"):
            continue
        try:
            content = root.read(parts, limit=_LARGEST_FILE)
            header = None if content is None else split_header(content.data.decode("utf-8-sig", "replace"))
        except AgentMemoryError:
            yield above + "/".join(parts), None
        else:
            # Without a header it is some other text, not a definition.
            if header is not None:
                yield above + "/".join(parts), header


def _plugin_definitions(root: Root) -> "Iterator[_Definition]":
    try:
        plugins = root.list_folders(_PLUGINS)[:_MOST_LOOKED_AT]
    except AgentMemoryError:
        return
    for plugin in plugins:
        yield from _definitions(root, (*_PLUGINS, plugin, "agents"), deep=False)


def _definitions_at(path: str, *folders: tuple[str, ...], external_links: bool = False) -> "Iterator[_Definition]":
    """Yield the definitions below folders outside of the project; nothing without a path."""
    try:
        opened = Root.open(path, external_links=external_links) if path else None
    except AgentMemoryError:
        return
    if opened is not None:
        with opened:
            above = os.path.join(opened.path, "")
            for folder in folders:
                yield from _definitions(opened, folder, deep=folder in _FOLDERS, above=above)
