"""Render the header of a new tier file, from the project's own template if it has one.

A project's template comes with the repository, so anyone who can open a pull request can write it. A header needs
variables, a few filters and conditions. With loops, calls, attributes, arithmetic or assignments a template could run
long, grow without bound or reach into Python. They are refused before it runs, and it runs in Jinja's sandbox.
"""

import os
from functools import lru_cache

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.sandbox import SandboxedEnvironment

from ..disk.errors import explain, shown
from ..disk.files import Root
from ..errors import DamagedFile, StorageError
from ..layout import SCAFFOLDING, Target, display_name
from ..limits import MAX_BYTES, MAX_LINES, count_lines, over_limits, split_lines
from ..text.headers import front_matter_end
from ..text.visible import first_invisible, name_invisible

_LARGEST_TEMPLATE = 16_384
_FILTERS = frozenset(["capitalize", "lower", "title", "trim", "upper"])
_NODES: tuple[type[nodes.Node], ...] = (
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Const,
    nodes.If,
    nodes.CondExpr,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.Compare,
    nodes.Operand,
)
_UNREADABLE = (TemplateError, TypeError, ValueError, RecursionError, SyntaxError, MemoryError)


def render_header(
    target: Target, root: Root | None = None, *, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES
) -> str:
    """Return the text a new document of this tier begins with; it ends in a line ending.

    The target's owner has passed the name rule. `root` is the opened project: its own template goes first. The header
    keeps both limits, and states `max_lines`. StorageError names the template and its line.
    """
    name = f"{target.tier}.md.j2"
    parts = (SCAFFOLDING, "templates", name)
    own = root.read(parts, limit=_LARGEST_TEMPLATE) if root else None
    if own is None:
        path, source = name, shipped_template(name)
    else:
        path = shown(*parts)
        source = _decode(own.data, path)
    header = _render(source, path, _variables(target, max_lines))
    if not header.endswith("\n"):
        header += "\n"
    _check_header(header, path, max_lines=max_lines, max_bytes=max_bytes)
    return header


def shipped_template(name: str) -> str:
    """Return a template of our own."""
    return shipped_file("templates", name).decode()


def shipped_file(*parts: str) -> bytes:
    """Return a file of our own: from inside the installed package, or else from next to it in the source tree."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (package, os.path.dirname(package)):
        try:
            with open(os.path.join(folder, *parts), "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise StorageError(f"{'/'.join(parts)} of the installation cannot be read: {explain(error)}") from error
    raise StorageError(f"{'/'.join(parts)} is missing from the installation; install agent-memory-protocol again")


def _variables(target: Target, max_lines: int) -> dict[str, object]:
    owner = target.owner
    known = {"agent_name": owner, "display_name": display_name(owner), "conversation_id": owner}
    return {**{name: known[name] for name in target.tier.header}, "max_lines": max_lines}


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise _bad("it is not UTF-8 text", path, data.count(b"\n", 0, error.start) + 1) from error


def _render(source: str, path: str, variables: dict[str, object]) -> str:
    try:
        return _compiled(source, path, tuple(variables)).render(variables)
    except _UNREADABLE as error:
        raise _bad(f"it cannot be rendered: {str(error) or type(error).__name__}", path) from error


@lru_cache(maxsize=8)
def _compiled(source: str, path: str, variables: tuple[str, ...]) -> Template:
    """Read and check a template, once for thousands of documents."""
    hidden = first_invisible(source)
    if hidden:
        raise _bad(f"it holds {name_invisible(source)}", path, hidden[0])
    # The result is Markdown and the values have passed the name rule, so nothing needs HTML escapes.
    environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    line = None
    try:
        tree = environment.parse(source)
        for node in tree.find_all(nodes.Node):
            line = node.lineno
            reason = _why_refused(node, variables)
            if reason:
                raise _bad(reason, path, line)
        line = None
        return environment.from_string(tree)
    except TemplateSyntaxError as error:
        raise _bad(f"it is not a valid template: {error.message}", path, error.lineno) from error
    except _UNREADABLE as error:
        raise _bad(f"it cannot be rendered: {str(error) or type(error).__name__}", path, line) from error


def _why_refused(node: nodes.Node, variables: tuple[str, ...]) -> str | None:
    if isinstance(node, nodes.Name) and node.name not in variables:
        return f"it uses {node.name!a}, but the variables here are {', '.join(variables)}"
    if isinstance(node, nodes.Filter) and node.name in _FILTERS:
        return None
    if isinstance(node, nodes.Filter):
        return f"it uses the filter {node.name!a}, but the filters here are {', '.join(sorted(_FILTERS))}"
    if isinstance(node, _NODES):
        return None
    return f"it uses {type(node).__name__.lower()}, but a header may only use variables, filters and conditions"


def _check_header(header: str, path: str, *, max_lines: int, max_bytes: int) -> None:
    hidden = first_invisible(header)
    if hidden:
        raise _bad(f"line {hidden[0]} of its result holds {name_invisible(header)}", path)
    data = header.encode()
    if over_limits(data, max_lines, max_bytes):
        size = f"{count_lines(data)} lines and {len(data)} bytes"
        raise _bad(f"its result has {size}, the limits are {max_lines} and {max_bytes}", path)
    if not _begins_with_heading(split_lines(header)):
        raise _bad("its result must begin with a heading, a line like `# Shared Knowledge`", path)


def _begins_with_heading(lines: list[str]) -> bool:
    """Say whether a level-1 heading comes first, front matter, comments and blank lines aside."""
    in_comment = False
    for line in lines[front_matter_end(lines) :]:
        if in_comment or line.startswith("<!--"):
            in_comment = "-->" not in line
        elif line.strip(" \t"):
            return line.startswith("# ") and bool(line[2:].strip(" \t#"))
    return False


def _bad(reason: str, path: str, line: int | None = None) -> DamagedFile:
    advice = "mend the template or remove it; nothing was written"
    return DamagedFile(f"{shown(reason)}; {advice}", path=path, line=line)
