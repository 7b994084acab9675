"""The reference of the library, from the docstrings and from examples that are run where the page is made."""

import ast
import builtins
import contextlib
import inspect
import io
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from types import FunctionType
from typing import Any

import agent_memory_protocol as package
from agent_memory_protocol import Actor, Memory, MemoryFile, Tier, Workspace, errors, recall_for_agent
from agent_memory_protocol.formats import protobuf
from agent_memory_protocol.integrations.memory_tool import MemoryTool

DATA = Path(__file__).parent / "data" / "library.toml"
EXAMPLES: dict[str, dict[str, str]] = tomllib.loads(DATA.read_text(encoding="utf-8"))
"""For each public class or module what its examples begin with, `setup`, and for each name its example."""

CLASSES = (Workspace, Memory, MemoryFile, MemoryTool, Actor, Tier)
FUNCTIONS = {
    "recall_for_agent": recall_for_agent,
    "append_entry": protobuf.append_entry,
    "iter_entries": protobuf.iter_entries,
}
_HOME = {
    "append_entry": "agent_memory_protocol.formats.protobuf",
    "iter_entries": "agent_memory_protocol.formats.protobuf",
}
_HOME["MemoryTool"] = "agent_memory_protocol.integrations.memory_tool"

_OPENING = """\
# Library reference

Every public name, with its arguments, what it raises, and an example. [From Python](from-python.md) is the page to
start with. This page is made from the docstrings, and its examples are run where it is made;
`python tests/test_generated_docs.py` writes it.

What `import agent_memory_protocol` gives is public, as are the names below that say which module they are from. An
argument after `*` is given by its name. Every error is an [`AgentMemoryError`](#errors). Reading raises `StorageError`
where a file cannot be read. Writing raises `Refused` and what is below it, and then nothing was changed.
"""
_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields):$")


def library_page() -> str:
    """Return the page."""
    parts = [_OPENING, _contents()]
    for name, function in FUNCTIONS.items():
        setup = EXAMPLES[name].get("setup", "").strip()
        shown = [f"The example begins with:\n\n```py\n{setup}\n```\n"] if setup else []
        parts += [f"## {name}\n", *_from_module(name), *shown, *_call(name, name, function)]
    for one in CLASSES:
        parts += [f"## {one.__name__}\n", *_from_module(one.__name__), *_class(one)]
    parts += ["## PROTOCOL\n", "The label of the protocol text that this package implements.\n", *_example("PROTOCOL")]
    parts += ["## Errors\n", *_errors(), "## Answers\n", *_answers()]
    return "\n".join(parts)


def public_members(one: type) -> dict[str, object]:
    """Return the methods and properties of a class that a caller may use, in the order they are written in."""
    found: dict[str, object] = {}
    for base in reversed(one.__mro__):
        if base.__module__.startswith("agent_memory_protocol"):
            found |= {name: value for name, value in vars(base).items() if name[0] != "_" and _is_member(value)}
    return found


def _is_member(value: object) -> bool:
    return isinstance(value, FunctionType | property | classmethod)


def _contents() -> str:
    rows = ["| name | what it is |", "|---|---|"]
    names = [*FUNCTIONS.items(), *((one.__name__, one) for one in CLASSES)]
    rows += [f"| [`{name}`](#{name.lower()}) | {_first_line(value)} |" for name, value in names]
    return "\n".join([*rows, ""])


def _first_line(value: object) -> str:
    doc = re.sub(r"\s*\((?:decisions?) [^)]*\)", "", getattr(value, "__doc__", "") or "")
    paragraph = inspect.cleandoc(doc).split("\n\n")[0]
    return re.split(r"(?<=\.) (?=[A-Z`])", " ".join(paragraph.split()))[0]


def _from_module(name: str) -> Iterator[str]:
    yield f"`from {_HOME.get(name, 'agent_memory_protocol')} import {name}`\n"


def _class(one: type) -> Iterator[str]:
    name = one.__name__
    if "__init__" in vars(one) and one is not Tier and one is not Workspace and one is not MemoryFile:
        yield f"```text\n{name}{_signature(vars(one)['__init__'])}\n```\n"
    yield from _described(one.__doc__)
    if setup := EXAMPLES[name].get("setup"):
        yield f"The examples begin with:\n\n```py\n{setup.strip()}\n```\n"
    yield from _example(name)
    for member, value in public_members(one).items():
        yield f"### {name}.{member}\n"
        if isinstance(value, property):
            yield from _described(value.__doc__)
            yield from _example(f"{name}.{member}")
        else:
            function = value.__func__ if isinstance(value, classmethod) else value
            yield from _call(f"{name}.{member}", member, function)


def _call(key: str, name: str, function: Any) -> Iterator[str]:
    yield f"```text\n{name}{_signature(function)}\n```\n"
    yield from _described(function.__doc__)
    yield from _example(key)


def _signature(function: Callable[..., object]) -> str:
    """Return the arguments of a function with their types, one a line where they are many."""
    signature = inspect.signature(function)
    arguments = [_argument(one) for one in signature.parameters.values() if one.name not in ("self", "cls")]
    names = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    star = next((number for number, one in enumerate(names) if one.kind is one.KEYWORD_ONLY), None)
    if star is not None:
        arguments.insert(star, "*")
    answer = "" if signature.return_annotation in (None, "None") else f" -> {_type(signature.return_annotation)}"
    line = f"({', '.join(arguments)}){answer}"
    return line if len(line) < 90 else "(\n" + "".join(f"    {one},\n" for one in arguments) + f"){answer}"


def _argument(one: inspect.Parameter) -> str:
    text = f"{one.name}: {_type(one.annotation)}" if one.annotation is not one.empty else one.name
    default = "…" if isinstance(one.default, FunctionType) else repr(one.default)
    return text if one.default is one.empty else f"{text} = {default}"


def _type(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"\b(?:\w+\.)+(?=\w)", "", text.strip("'\""))
    return text.replace("NoneType", "None").replace("str | PathLike[str]", "path")


def _described(doc: str | None) -> Iterator[str]:
    """Yield the text of a docstring, and its sections as lists."""
    doc = re.sub(r"\s*\((?:decisions?) [^)]*\)", "", doc or "")
    text: list[str] = []
    title = ""
    listed: list[str] = []
    for line in inspect.cleandoc(doc).split("\n"):
        if found := _SECTION.match(line):
            yield from _section(title, listed)
            title, listed = found[1], []
        elif title and (not line or line[0] == " "):
            listed.append(line)
        else:
            yield from _section(title, listed)
            title, listed = "", []
            text.append(line)
            continue
        if text:
            yield from (f"{' '.join(one.split())}\n" for one in "\n".join(text).strip().split("\n\n") if one.strip())
            text = []
    yield from _section(title, listed)
    yield from (f"{' '.join(one.split())}\n" for one in "\n".join(text).strip().split("\n\n") if one.strip())


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if not title:
        return
    body = dedent("\n".join(lines)).strip()
    if title in ("Returns", "Yields"):
        yield f"{title}: {' '.join(body.split())}\n"
        return
    rows = re.split(r"\n(?=\S)", body)
    said = {"Args": "Arguments", "Attributes": "Fields"}.get(title, title)
    listed = [re.sub(r"^([^:]+): ", _named, " ".join(row.split()), count=1) for row in rows if row.strip()]
    yield f"**{said}**\n\n" + "\n".join(f"- {row}" for row in listed) + "\n"


def _named(found: re.Match[str]) -> str:
    return ", ".join(f"`{name}`" for name in found[1].split(", ")) + ": "


def example_of(key: str) -> str:
    """Return the code of the example of a public name; "" where it has none."""
    owner, _, member = key.partition(".")
    return EXAMPLES.get(owner, {}).get(member or "example", "")


def _example(key: str) -> Iterator[str]:
    if code := example_of(key):
        yield f"```pycon\n{run(key.partition('.')[0], code)}\n```\n"


def run(owner: str, code: str) -> str:
    """Return an example as an interpreter shows it, run in a fresh project."""
    setup, hidden = EXAMPLES.get(owner, {}).get("setup", ""), EXAMPLES.get(owner, {}).get("hidden", "")
    with TemporaryDirectory() as folder, _in_project(folder):
        names: dict[str, object] = {"__name__": "__example__"}
        for before in (setup, hidden):
            exec(compile(before, "<setup>", "exec"), names)
        shown = "\n".join(_statements(code, names))
        return shown.replace(os.path.realpath(folder), "/project").replace(folder, "/project")


@contextlib.contextmanager
def _in_project(folder: str) -> Iterator[None]:
    """Be in a fresh project, with nothing of the person's own."""
    before, environment, displayhook = os.getcwd(), dict(os.environ), sys.displayhook
    for name in [name for name in os.environ if name.startswith(("AMP_", "XDG_"))]:
        del os.environ[name]
    os.environ |= {"HOME": folder, "GIT_CONFIG_GLOBAL": os.devnull}
    os.mkdir(os.path.join(folder, ".scaffolding"))
    os.chdir(folder)
    sys.displayhook = sys.__displayhook__
    try:
        yield
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)
        sys.displayhook = displayhook
        vars(builtins).pop("_", None)


def _statements(code: str, names: dict[str, object]) -> Iterator[str]:
    lines = code.strip().split("\n")
    for statement in ast.parse(code.strip()).body:
        source = lines[statement.lineno - 1 : statement.end_lineno]
        yield "\n".join(f"{'...' if number else '>>>'} {line}" for number, line in enumerate(source))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(ast.Interactive([statement]), "<example>", "single"), names)
            except errors.AgentMemoryError as error:
                print(f"Traceback …\n{type(error).__name__}: {error}")
        if said := printed.getvalue().rstrip():
            yield said


def public_errors() -> list[type[errors.AgentMemoryError]]:
    """Return every error of `agent_memory_protocol.errors`, the general ones first."""
    found = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.AgentMemoryError)]
    return sorted(found, key=lambda one: len(one.__mro__))


def _errors() -> Iterator[str]:
    yield "`AgentMemoryError` and `InvalidName` are at the top; `from agent_memory_protocol import errors` has all.\n"
    rows = ["| error | is a | `kind` | `amp` ends with | raised where |", "|---|---|---|---|---|"]
    for one in public_errors():
        parents = ", ".join(f"`{base.__name__}`" for base in one.__bases__)
        rows.append(f"| `{one.__name__}` | {parents} | `{one.kind}` | {one.exit_code} | {_first_line(one)} |")
    yield "\n".join([*rows, ""])
    for one in public_errors():
        if "Attributes:" in (one.__doc__ or ""):
            yield f"### {one.__name__}\n"
            yield from _described(one.__doc__)
            yield from _example(f"errors.{one.__name__}")


def answers() -> list[type]:
    """Return the classes that public methods give or take, in the order of their names."""
    known: dict[str, str] = {}
    for module in ("workspace", "reading", "memory", "decisions", "formats.jsonl_file", "formats.protobuf"):
        path = Path(package.__file__).parent.joinpath(*module.split(".")).with_suffix(".py")
        base = f"agent_memory_protocol.{module}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                where = ".".join([*base.split(".")[: -node.level], *filter(None, [node.module])])
                known |= {alias.name: where for alias in node.names}
    said = " ".join(
        _signature(value.__func__ if isinstance(value, classmethod) else value)  # type: ignore[arg-type]
        for one in CLASSES
        for value in public_members(one).values()
        if not isinstance(value, property)
    )
    named = sorted(name for name in {*re.findall(r"[A-Z]\w+", said)} & {*known} - set(package.__all__))
    found = [getattr(import_module(known[name]), name) for name in named]
    return [one for one in found if isinstance(one, type) and not issubclass(one, errors.AgentMemoryError)]


def _answers() -> Iterator[str]:
    yield "The values that the methods above take and give. They do not change; `to_json()` is what `--json` prints.\n"
    for one in answers():
        yield f"### {one.__name__}\n"
        yield f"`from {one.__module__} import {one.__name__}`\n"
        yield from _described(one.__doc__)
