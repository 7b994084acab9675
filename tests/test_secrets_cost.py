"""What a search for secrets costs: work that grows with the text and no faster, whatever is made to be slow.

Time is measured by `python -m benchmarks.secrets`. Here the work is counted, which no other program can disturb.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType

import pytest

from agent_memory_protocol.secrets.find import expression, find_secrets
from agent_memory_protocol.secrets.table import FAMILIES
from tests.each_row import each_row

PUMPS: dict[str, str] = json.loads((Path(__file__).parent / "data" / "pumps.json").read_text(encoding="utf-8"))
"""What is slow to search if it is repeated, by what it consists of."""


def calls(text: str, search: Callable[[str], object] = find_secrets) -> int:
    """Count the calls that a search makes, those of C functions too."""
    made = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        search(text)
    finally:
        sys.setprofile(None)
    return made


def grows_linearly(pump: str, size: int, search: Callable[[str], object] = find_secrets) -> bool:
    """Compare a text with one four times as long: linear work is four times as much, quadratic work sixteen times."""
    short, long = ((pump * (length // len(pump) + 1))[:length] for length in (size, 4 * size))
    search(long)  # an expression is compiled when it is first needed
    return calls(long, search) < 8 * calls(short, search)


@pytest.mark.slow
def test_a_search_that_is_quadratic_is_recognised():
    assert not grows_linearly("a", 100, lambda text: [text.count(letter) for _ in text for letter in text])
    assert grows_linearly("a", 100, lambda text: [text.count(letter) for letter in text])


@pytest.mark.slow
@pytest.mark.parametrize("pump", PUMPS.values(), ids=PUMPS)
def test_four_times_the_text_takes_about_four_times_the_calls(pump):
    assert grows_linearly(pump, 500)


FILLINGS = ("", " ", "a", "=", "0123456789abcdef" * 4, "aB3_" * 100, ' = "')


@pytest.mark.slow
@each_row("family", FAMILIES, ids=lambda family: family.id)
def test_no_family_can_be_made_slow_by_its_own_keywords(family, sized):
    """All keywords together get every filling; each by itself gets two of them, and with --long every one."""
    together = ' = "'.join(family.keywords)
    for filling in FILLINGS[-sized(1, 7, 7) :]:
        assert grows_linearly(together + filling, 250), filling
    for number, keyword in enumerate(family.keywords[: sized(0, 99, 99)]):
        for filling in (FILLINGS * 2)[number % 7 :][: sized(0, 2, 7)]:
            assert grows_linearly(keyword + filling, 250), (keyword, filling)


def most_steps(pattern: object) -> float:
    """Bound the ways to try a pattern from one place: repetitions in a row add up, nested ones multiply."""
    steps = 1.0
    for code, argument in pattern:  # type: ignore[attr-defined]
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            assert argument[1] is not codes.MAXREPEAT, "an unbounded repetition"
            steps += argument[1] * most_steps(argument[2])
        elif code is codes.SUBPATTERN:
            steps += most_steps(argument[3])
        elif code is codes.BRANCH:
            steps += sum(map(most_steps, argument[1]))
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            steps += most_steps(argument[1])
    return steps


@each_row("family", FAMILIES, ids=lambda family: family.id)
def test_every_repetition_of_a_pattern_has_an_end(family):
    # Keys and web tokens are long, and nothing in them overlaps what may follow.
    assert most_steps(parser.parse(expression(family).pattern)) < (
        40_000 if family.id in ("private-key", "jwt") else 5_000
    )


def test_every_pattern_compiles_without_a_warning():
    for family in FAMILIES:
        assert isinstance(expression(family), re.Pattern)
