"""Findings, and the rules that find them."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from ..values import dataclass, json_of

ERROR = "error"
WARNING = "warning"
NOTE = "note"  # Shown, and never a reason for exit code 1


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of one file that loses nothing: a line, from 1, becomes another, if it is still what it was.

    One that `edits` changes what an entry says, and so its id; the ledger keeps the old text.
    """

    line: int
    before: str
    after: str
    edits: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, where, and what to do.

    Attributes:
        rule: the id of the rule.
        severity: `error`, `warning` or `note`.
        path: the file, relative to the project root.
        line: the line, from 1; None for the file as a whole.
        message: what is wrong and what to do, one sentence.
        fix: what `--fix` would change; None if only a person can decide.
    """

    rule: str
    severity: str
    path: str
    line: int | None
    message: str
    fix: Fix | None = None

    @property
    def place(self) -> str:
        """Where it is, as people name it: the file, and the line if there is one."""
        return self.path if self.line is None else f"{self.path}:{self.line}"

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return {**json_of(self, "rule severity path line message"), "fixable": self.fix is not None}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its id, how grave it is, what it looks at, what it finds, and whether it is on by default."""

    id: str
    severity: str
    subject: str
    about: str
    check: Callable[[Any], Iterable["Remark"]]
    on: bool = True


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule's function yields."""

    line: int | None  # the line, from 1; None for the file as a whole
    message: str
    fix: Fix | None = None
    severity: str | None = None  # where it is not that of the rule
    path: str = ""  # where it is another file than the one the rule was given


RULES: dict[str, Rule] = {}
"""Every rule by id. The package `lint` brings them together."""


def rule(
    rule_id: str, severity: str, subject: str, about: str, *, on: bool = True
) -> Callable[[Callable[[Any], Iterable[Remark]]], Callable[[Any], Iterable[Remark]]]:
    """Register a function as a rule.

    Args:
        rule_id: its id, `<group>-<what>`.
        severity: ERROR, WARNING or NOTE.
        subject: what it is given: `tier`, `note`, `index`, `ledger` or `store`; more than one with blanks between.
        about: for the documentation: what it finds, why that matters, and what to do.
        on: whether it runs unless it is asked for.
    """

    def register(check: Callable[[Any], Iterable[Remark]]) -> Callable[[Any], Iterable[Remark]]:
        RULES[rule_id] = Rule(rule_id, severity, subject, about, check, on)
        return check

    return register


def run(subject: str, value: Any, path: str, selected: Iterable[str]) -> list[Finding]:
    """Run the selected rules about a subject on one value. Findings are ordered by line, then by rule."""
    found = [
        Finding(one.id, hit.severity or one.severity, hit.path or path, hit.line, hit.message, hit.fix)
        for one in _rules_about(subject, tuple(selected))
        for hit in one.check(value)
    ]
    return sorted(found, key=lambda finding: (finding.line or 0, finding.rule))


@lru_cache(maxsize=64)
def _rules_about(subject: str, selected: tuple[str, ...]) -> tuple[Rule, ...]:
    """Return the rules to run on each of many values."""
    return tuple(one for one in RULES.values() if subject in one.subject.split() and one.id in selected)


def in_order() -> list[Rule]:
    """List every rule, by group and then by id."""
    return sorted(RULES.values(), key=lambda one: (group_of(one.id), one.id))


def group_of(rule_id: str) -> str:
    """Return the group of a rule: the word before the first dash."""
    return rule_id.partition("-")[0]


def select(only: Iterable[str] = (), ignored: Iterable[str] = ()) -> list[str]:
    """Return the ids of the rules to run: those named or their groups, else all that are on, less those ignored."""
    only, ignored = tuple(only), tuple(ignored)
    chosen = [one for one in in_order() if (_matches(one.id, only) if only else one.on)]
    return [one.id for one in chosen if not _matches(one.id, ignored)]


def unknown(names: Iterable[str]) -> list[str]:
    """Return those names that are neither a rule's id nor a group's."""
    return [name for name in names if not any(_matches(one, (name,)) for one in RULES)]


def _matches(rule_id: str, names: tuple[str, ...]) -> bool:
    return any(rule_id == name or rule_id.startswith(f"{name}-") for name in names)
