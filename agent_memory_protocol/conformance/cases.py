"""The published cases: files, a call, and what comes of it. They are JSON, so that no Python is needed to read them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from ..errors import DamagedFile
from ..values import dataclass

LEVELS = ("reader", "writer", "full")  # Each level holds all cases of those before it
File = str | dict[str, str]  # The text of a file, or `base64` where it is not text


@dataclass(frozen=True, slots=True)
class Case:
    """One case, as conformance/README.md describes it."""

    id: str  # its name, which says what must be so or must not be so
    level: str  # the first level that asks for it
    rules: tuple[str, ...]  # the numbers of the rules that it shows, as docs/protocol.md has them
    call: str  # with `args`: what is asked
    args: Mapping[str, Any]
    expect: Mapping[str, Any]
    clock: str = "2026-06-15"  # the day, or the moment, at which it is asked
    files: Mapping[str, File] = field(default_factory=dict)  # the project before the call, by path

    def question(self) -> dict[str, object]:
        """Return what a program is asked: the case without what is expected."""
        asked = {"id": self.id, "files": self.files, "call": self.call, "args": self.args, "clock": self.clock}
        return dict(asked)


def folder() -> Path:
    """Return where the cases are: in the installed package, or at the top of the source tree."""
    inside = Path(__file__).with_name("cases")
    return inside if inside.is_dir() else Path(__file__).parents[2] / "conformance" / "cases"


def load(level: str = "full") -> list[Case]:
    """Return the cases of a level and of those before it."""
    levels = LEVELS[: LEVELS.index(level) + 1]
    paths = sorted(folder().glob("*.json"))
    if not paths:
        raise DamagedFile("has no cases; install the package again", path=str(folder()))
    found = []
    for path in paths:
        try:
            found += [_case(one) for one in json.loads(path.read_bytes())]
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedFile(f"is not a file of cases: {error}", path=str(path)) from None
    return [case for case in found if case.level in levels]


def _case(fields: Mapping[str, Any]) -> Case:
    return Case(**{**fields, "rules": tuple(fields["rules"])})


def difference(case: Case, answer: Mapping[str, Any]) -> tuple[object, object] | None:
    """Return what was expected and what came where they differ; None if the answer is right.

    An object in an answer may have further keys. A refusal is right in any words. Files that are not mentioned have
    not changed.
    """
    expect = case.expect
    if expect.get("refused"):
        if answer.get("refused") and not answer.get("files"):
            return None
        return {"refused": True}, {key: answer[key] for key in ("result", "refused", "files") if key in answer}
    if answer.get("refused"):
        return {"result": expect.get("result")}, {"refused": answer["refused"]}
    if not _is(expect.get("result"), answer.get("result")):
        return {"result": expect.get("result")}, {"result": answer.get("result")}
    wanted, got = expect.get("files", {}), answer.get("files") or {}
    return None if wanted == got else ({"files": wanted}, {"files": got})


def _is(wanted: object, got: object) -> bool:
    """Say whether a value is the expected one. `true` is not 1."""
    if isinstance(wanted, Mapping):
        return isinstance(got, Mapping) and all(key in got and _is(value, got[key]) for key, value in wanted.items())
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return (
            isinstance(got, Sequence)
            and not isinstance(got, str)
            and len(wanted) == len(got)
            and all(map(_is, wanted, got))
        )
    return isinstance(wanted, bool) is isinstance(got, bool) and wanted == got
