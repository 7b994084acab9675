"""The package as a reader sees it: its files, each read once for all tests of a process."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree(path: Path) -> ast.Module:
    """Return a file as Python reads it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all that a file is made of."""
    return list(ast.walk(tree(path)))
