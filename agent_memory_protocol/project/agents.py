"""Agent definitions: which agents are read-only.

A host lets an agent write when its definition leaves it Write or Edit; memory must not give back what the
definition takes away (docs/protocol.md, decision 10). The project's own definitions come first, then those of its
plugins, then those in the person's home folder, then those of the person's plugins and extensions. Where the definition
is missing or cannot be read, the list in the settings decides.
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
    _Folders = Mapping[tuple[str, ...], int]

_FOLDERS = (
    *((".claude", "agents"), (".qwen", "agents"), (".gemini", "agents"), (".cursor", "agents"), (".github", "agents")),
    *((".copilot", "agents"), (".opencode", "agent"), (".opencode", "agents"), (".codex", "agents")),
    *((".config", "opencode", "agent"), (".config", "opencode", "agents"), (".scaffolding", "agents")),
)
"""Where hosts look for definitions of agents, below a project or a person's home folder."""
_EXTENSIONS: "_Folders" = {(".gemini", "extensions"): 2, (".qwen", "extensions"): 2}
_PLUGINS: "_Folders" = {(".claude", "plugins"): 1, **_EXTENSIONS}
_INSTALLED: "_Folders" = {(".claude", "plugins", "cache"): 4, (".copilot", "installed-plugins"): 3, **_EXTENSIONS}
_OFFERED: "_Folders" = {(".claude", "plugins", "marketplaces"): 3}
"""Where plugins and extensions lie, and how many folders deep theirs named `agents` may be."""
SERVERS = {
    "claude": ".mcp.json",
    "claude-desktop": "claude_desktop_config.json",
    "codex": ".codex/config.toml",
    "copilot": "~/.copilot/mcp-config.json",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
    "qwen": ".qwen/settings.json",
    "vscode": ".vscode/mcp.json",
    "windsurf": "~/.codeium/windsurf/mcp_config.json",
    "zed": ".zed/settings.json",
}
"""By host, the file that says which MCP servers there are: of a project, or of a person."""
SERVER_FILES = (
    *(path.removeprefix("~/") for path in SERVERS.values()),
    *(".claude.json", "opencode.jsonc", ".config/opencode/opencode.json", ".config/zed/settings.json"),
)
"""All such files that hosts read, below a project or a person's home folder."""
PLACES = (
    *(f"{path}/" for path in SERVER_FILES),
    *("/".join((*folder, "")) for folder in (*_FOLDERS, *_INSTALLED, *_PLUGINS)),
    *(".claude/settings", ".codex/hooks.json", ".copilot/", ".cursor/hooks.json", ".github/hooks/"),
    *(".opencode/plugin", ".config/opencode/plugin"),
)
"""Where hosts keep who their agents are, and what they run: the beginnings of paths, whole names where `/` follows."""
MOVED = {
    ".claude": "CLAUDE_CONFIG_DIR",
    ".codex": "CODEX_HOME",
    ".config": "XDG_CONFIG_HOME",
    ".copilot": "COPILOT_HOME",
    ".gemini": "GEMINI_CLI_HOME",
    ".qwen": "QWEN_HOME",
}
"""Which variables name another folder than the one in the person's home; Gemini's names another home."""
_WRITING = frozenset(["write", "edit"])
_ALSO_CALLED = {"write_file": "write", "create": "write", "replace": "edit"}  # What other hosts call these two tools
_ALL = "*"
_DEEPEST = 10
_MOST_LOOKED_AT = 2_000
_LARGEST_FILE = 1 << 20
_NEARLY = 0.85


def read_only_reason(
    root: Root, agent: str, settings: "Settings", *, environ: "Mapping[str, str] | None" = None
) -> str | None:
    """Return why this agent is read-only, as the end of a sentence; None if it may write.

    The settings name those that are, unless a definition says otherwise; `environ` says where a person's folders are.
    """
    environ = os.environ if environ is None else environ
    wanted = name_key(agent)
    links = root.external_links
    for definitions in (
        _of_hosts(root),
        _below(root, _PLUGINS),
        _definitions_at(environ.get("CLAUDE_PLUGIN_ROOT", ""), {("agents",): 0}),
        _of_person(environ, dict.fromkeys(_FOLDERS, 0), links),
        _of_person(environ, _INSTALLED, links),
        _of_person(environ, _OFFERED, links, only=agent),  # thousands, of which few are installed
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
    definitions = (*_of_hosts(root), *_below(root, _PLUGINS))
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
    return (name or path.rpartition("/")[2].removesuffix(".md").removesuffix(".toml").removesuffix(".agent")).strip()


def _of_hosts(root: Root) -> "Iterator[_Definition]":
    return _below(root, dict.fromkeys(_FOLDERS, 0))


def _below(root: Root, folders: "_Folders", above: str = "", only: str = "") -> "Iterator[_Definition]":
    """Yield the definitions in folders, or the file named `only`: the path, and the header, None if it cannot be read.

    Where a folder holds plugins, they lie in folders named `agents`, as deep in it as its number says.
    """
    for folder, depth in folders.items():

        def enters(below: tuple[str, ...], top: int = len(folder), depth: int = depth) -> bool:
            inside = below[top:]
            return len(inside) <= _DEEPEST and (not depth or len(inside) <= depth or "agents" in inside)

        for parts in islice(root.files_below(folder, enters), _MOST_LOOKED_AT):
            stem, dot, kind = parts[-1].rpartition(".")
            if kind not in ("md", "toml") or not dot or (depth and "agents" not in parts[len(folder) : -1]):
                continue
            if only and name_key(stem) != name_key(only):
                continue
            try:
                content = root.read(parts, limit=_LARGEST_FILE)
                text = "" if content is None else content.data.decode("utf-8-sig", "replace")
                header = split_header(_of_toml(text) if kind == "toml" else text)
            except (AgentMemoryError, ValueError):
                yield above + "/".join(parts), None
            else:
                # Without a header it is some other text, not a definition.
                if header is not None:
                    yield above + "/".join(parts), header


def _of_toml(text: str) -> str:
    """Return as a header what Codex reads from a definition: the agent's name, and whether its sandbox is read-only."""
    import tomllib

    table = tomllib.loads(text)
    name = f"name: {table['name']}\n" if isinstance(table.get("name"), str) else ""
    return f"---\n{name}readonly: {table.get('sandbox_mode') == 'read-only'}\n---\n"


def _of_person(
    environ: "Mapping[str, str]", folders: "_Folders", external_links: bool, only: str = ""
) -> "Iterator[_Definition]":
    """Yield the definitions in a person's own folders, which variables may have moved."""
    here = {folder: depth for folder, depth in folders.items() if not environ.get(MOVED.get(folder[0], ""))}
    yield from _definitions_at(home_folder(environ), here, external_links, only)
    for folder in folders.keys() - here.keys():
        moved = folder if folder[0] == ".gemini" else folder[1:]
        yield from _definitions_at(environ[MOVED[folder[0]]], {moved: folders[folder]}, external_links, only)


def _definitions_at(
    path: str, folders: "_Folders", external_links: bool = False, only: str = ""
) -> "Iterator[_Definition]":
    """Yield the definitions below folders outside of the project; nothing without a path."""
    try:
        opened = Root.open(path, external_links=external_links) if path else None
    except AgentMemoryError:
        return
    if opened is not None:
        with opened:
            yield from _below(opened, folders, os.path.join(opened.path, ""), only)
