"""Our dataclasses are those of the standard library: each thing asked of one is asked of both. And their JSON."""

import copy
import dataclasses
import datetime as dt
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from agent_memory_protocol.values import dataclass, json_of
from tests.each_row import each_row


def declared(make: Callable[..., Any]) -> dict[str, Any]:
    """Declare the same classes with one of the two decorators."""

    @make(frozen=True, slots=True)
    class Frozen:
        """One."""

        a: int
        b: str = "b"
        c: dict[str, int] = field(default_factory=dict, hash=False)
        d: float = field(default=0.5, repr=False, compare=False)
        known: ClassVar[int] = 7

        def __post_init__(self) -> None:
            if self.a < 0:
                raise ValueError(self.a)

    @make(frozen=True, slots=True)
    class Longer(Frozen):
        """One field more."""

        e: tuple[int, ...] = ()

    @make(slots=True)
    class Open:
        """May change."""

        a: list[int] = field(default_factory=list)
        b: int = field(default=3, init=False)
        c: set[int] = field(default_factory=set, init=False, repr=False)

    @make
    class Plain:
        """With a dictionary of its own."""

        a: int
        b: int = 2

        def __repr__(self) -> str:
            return "plain"

    @make(frozen=True, slots=True, kw_only=True, eq=False)
    class Named:
        """By name only, each equal to itself alone."""

        a: int
        b: int = 1

    @make(frozen=True, slots=True)
    class Empty:
        """Nothing in it."""

    return {one.__name__: one for one in (Frozen, Longer, Open, Plain, Named, Empty)}


def outcome(of: Callable[[dict[str, Any]], object], classes: dict[str, Any]) -> object:
    try:
        return of(classes)
    except (AttributeError, TypeError, ValueError) as error:
        return type(error), str(error)


QUESTIONS: list[Callable[[dict[str, Any]], object]] = [
    lambda k: repr([k["Frozen"](1), k["Longer"](1, e=(2,)), k["Open"](), k["Plain"](1), k["Empty"]()]).replace(
        "<l", ""
    ),
    lambda k: repr(k["Named"](a=1)),
    lambda k: [k["Frozen"](), 0],
    lambda k: k["Frozen"](1, 2, 3, 4, 5),
    lambda k: k["Frozen"](1, x=2),
    lambda k: k["Frozen"](1, a=2),
    lambda k: k["Frozen"](-1),
    lambda k: k["Named"](1),
    lambda k: [k["Frozen"](1) == k["Frozen"](1, d=2.0), k["Frozen"](1) == k["Frozen"](2), k["Frozen"](1) == 1],
    lambda k: [k["Frozen"](1) == k["Longer"](1), k["Empty"]() == k["Empty"](), k["Empty"]() == k["Frozen"](1)],
    lambda k: [k["Named"](a=1) == k["Named"](a=1), k["Open"]() == k["Open"](), k["Plain"](1) != k["Plain"](2)],
    lambda k: hash(k["Frozen"](1)) == hash(k["Frozen"](1, c={"x": 1})),
    lambda k: hash(k["Longer"](1, e=(2,))) == hash(k["Longer"](1)),
    lambda k: hash(k["Open"]()),
    lambda k: len({k["Empty"](), k["Empty"](), k["Frozen"](1), k["Frozen"](1)}),
    lambda k: setattr(k["Frozen"](1), "a", 2),
    lambda k: delattr(k["Frozen"](1), "a"),
    lambda k: setattr(k["Open"](), "other", 2),
    lambda k: [k["Open"]().a, k["Open"]().b, k["Open"]().c, k["Frozen"].known, hasattr(k["Open"](), "__dict__")],
    lambda k: k["Open"]().a is k["Open"]().a,
    lambda k: dataclasses.replace(k["Longer"](1, e=(2,)), a=3).e,
    lambda k: dataclasses.replace(k["Open"](), b=3),
    lambda k: dataclasses.asdict(k["Longer"](1)),
    lambda k: [[one.name for one in dataclasses.fields(k[name])] for name in k],
    lambda k: [k[name].__match_args__ for name in k],
    lambda k: [copy.copy(k["Longer"](1, e=(2,))).e, copy.deepcopy(k["Open"]([4])).a, k["Longer"](1).__getstate__()],
]


@each_row("ask", QUESTIONS)
def test_a_dataclass_answers_as_the_one_of_the_standard_library(ask):
    ours, theirs = (outcome(ask, declared(make)) for make in (dataclass, dataclasses.dataclass))
    assert ours == theirs


@dataclass(frozen=True, slots=True)
class Kept:
    """One that can be found again by its name."""

    a: int
    b: list[int] = field(default_factory=list)


def test_one_can_be_pickled_before_and_after_another_has_been_made():
    assert pickle.loads(pickle.dumps(Kept(1, [2]))) == Kept(1, [2])


def test_methods_are_compiled_at_their_first_call():
    later = declared(dataclass)["Frozen"]
    before = later.__init__
    later(1)
    assert later.__init__ is not before
    assert list(inspect.signature(later).parameters) == ["a", "b", "c", "d"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        later(1).b = "other"


@dataclass(frozen=True)
class Inner:
    day: dt.date | None
    parts: tuple[object, ...] = ()
    name: str = ""

    def to_json(self):
        return json_of(self, "day parts name?")


@dataclass(frozen=True)
class Outer:
    inner: Inner
    count: int = 0


def test_the_json_of_a_value_has_its_fields_as_json_can_hold_them():
    inner = Inner(dt.date(2026, 5, 1), (1, ("two",), Inner(None, (), "x")))
    answer = {"day": "2026-05-01", "parts": [1, ["two"], {"day": None, "parts": [], "name": "x"}], "name": None}
    assert json_of(inner, "day parts name?") == answer
    assert json_of(Outer(inner), "count inner") == {"count": 0, "inner": answer}
    assert json_of(Outer(inner), "count *inner nested=inner.parts") == {"count": 0, **answer, "nested": answer["parts"]}
