"""Help, messages, rules and docs use the words of their readers: what has to be read twice is not in them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from agent_memory_protocol.cli.main import amp
from tests.each_row import each_row
from tests.package import nodes

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "agent_memory_protocol"
PAGES = [
    *(REPOSITORY / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
    *sorted((REPOSITORY / "docs").glob("*.md")),
    *sorted((REPOSITORY / "skill").rglob("*.md")),
]
HARD = re.compile(
    r"""
    \b (?: whoever | anew | doubles | stands? | stood ) \b
    | (?<! there [ ] ) \b (?: is | are | was | were ) [ ] none \b
    | (?<! there [ ] ) \b (?: is | are ) [ ] no [ ] (?! (?: longer | more | reason | such ) \b )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is said in other words: any, again, duplicates, is, is not a. `There is no file` is plain and may be said."""
SIGNS = ("whoever", "anew", "doubles", "stand", "stood", "none", " no ")
"""One of these is in whatever HARD finds."""


def hard_words(text: str) -> list[str]:
    """Return the hard words of a text, each with what is around it. Names in backticks are promised, not chosen."""
    if not any(sign in " ".join(text.lower().split()) for sign in SIGNS):
        return []  # as nearly all texts, for a tenth of the time
    plain = " ".join(re.sub(r"(?<!`)`[^`\n]+`(?!`)", "`name`", text).split())
    return [plain[max(0, found.start() - 30) : found.end() + 30] for found in HARD.finditer(plain)]


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all below it, each with its name."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from commands(below, f"{name} {word}")


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings of a module and of what is in it, those of constants included, with their lines."""
    for node in nodes(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that it may say, with their lines: all strings but docstrings."""
    passed = {id(node.value) for node in nodes(path) if isinstance(node, ast.Expr)}
    for node in nodes(path):
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            passed.update(map(id, node.values))
            parts = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


@each_row(
    "text",
    ["it is no date", "whoever asks", "it is made\nanew", "one of them is none", "no doubles", "where it stands"],
)
def test_words_that_need_a_second_reading_are_found(text):
    assert hard_words(text)


@each_row("text", ["there is no file", "it is no longer read", "the key `doubles`", "index-double", "it is not a date"])
def test_plain_words_and_promised_names_pass(text):
    assert not hard_words(text)


def test_the_help_of_every_command_is_plain():
    helps = {
        name: "\n".join([command.help or "", *(getattr(one, "help", None) or "" for one in command.params)])
        for name, command in commands(amp, "amp")
    }
    assert len(helps) > 40
    assert {name: found for name, text in helps.items() if (found := hard_words(text))} == {}


@each_row("page", PAGES, ids=lambda page: page.name)
def test_the_pages_are_plain(page):
    assert hard_words(page.read_text(encoding="utf-8")) == []


def test_what_the_package_says_is_plain():
    found = {
        f"{path.relative_to(PACKAGE)}:{line}": words
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name not in ("irregular.py", "senses.py", "tense.py")  # lists of words that texts are searched for
        for line, text in messages(path)
        if (words := hard_words(text))
    }
    assert found == {}


def test_docstrings_are_plain():
    found = {
        f"{path.relative_to(PACKAGE)}:{line}": words
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in docstrings(path)
        if (words := hard_words(re.sub(r"\bNone\b", "`None`", text)))  # Python's own
    }
    assert found == {}
