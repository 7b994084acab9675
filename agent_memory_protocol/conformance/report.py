"""Run the cases and say rule by rule what holds."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..values import HasJson, dataclass
from .cases import Case, difference
from .program import NoAnswerError

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Failure(HasJson):
    """A case that does not hold: what was expected, and what came."""

    JSON = "id=case.id rules=case.rules expected got"

    case: Case
    expected: object
    got: object


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run over the `total` cases of a level has found.

    `rules` counts for each rule what holds and what does not.
    """

    level: str
    total: int
    rules: Mapping[str, tuple[int, int]]
    failures: tuple[Failure, ...]

    @property
    def badge(self) -> str:
        """One line for a README."""
        held = self.total - len(self.failures)
        colour = "red" if self.failures else "brightgreen"
        told = f"{self.level}%20{held}%2F{self.total}"
        return f"![agent memory protocol](https://img.shields.io/badge/agent%20memory%20protocol-{told}-{colour})"

    def to_json(self) -> dict[str, object]:
        """Return the JSON answer."""
        return {
            "level": self.level,
            "total": self.total,
            "held": self.total - len(self.failures),
            "rules": [{"rule": rule, "held": held, "failed": failed} for rule, (held, failed) in self.rules.items()],
            "cases": [one.to_json() for one in self.failures],
            "badge": self.badge,
        }


def run(cases: Iterable[Case], ask: Ask, level: str) -> Judgement:
    """Ask every case, and compare the answers with what is expected. What has no answer does not hold."""
    rules: dict[str, tuple[int, int]] = {}
    failures = []
    total = 0
    for case in cases:
        total += 1
        failure = _failure(case, ask)
        if failure is not None:
            failures.append(failure)
        for rule in case.rules:
            held, failed = rules.get(rule, (0, 0))
            rules[rule] = (held + (failure is None), failed + (failure is not None))
    return Judgement(level, total, dict(sorted(rules.items(), key=lambda one: _number(one[0]))), tuple(failures))


def _failure(case: Case, ask: Ask) -> Failure | None:
    try:
        answer = ask(case.question())
    except NoAnswerError as error:
        return Failure(case, case.expect, {"no_answer": str(error)})
    differs = difference(case, answer)
    return None if differs is None else Failure(case, *differs)


def _number(rule: str) -> tuple[int, str]:
    found = re.search(r"\d+", rule)
    return (int(found[0]) if found else 0, rule)


def lines(report: Judgement) -> Iterator[str]:
    """Yield the report as people read it."""
    for rule, (held, failed) in report.rules.items():
        yield f"{'fails' if failed else 'holds'}  {rule:6} {held} of {held + failed} cases"
    for one in report.failures:
        yield ""
        yield f"{one.case.id}  ({', '.join(one.case.rules)})"
        yield f"  expected  {one.expected!a}"
        yield f"  got       {one.got!a}"
    yield ""
    yield f"{report.level}: {report.total - len(report.failures)} of {report.total} cases hold"
    yield report.badge
