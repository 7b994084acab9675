"""Values: dataclasses that cost little to declare, what is found out once, and the JSON of what they hold.

`dataclasses.dataclass` compiles six methods for each class, a millisecond every time a program starts, and a verb
declares fifty classes of which it makes a few; here a method is compiled when it is first called. `InitVar` and `order`
are not known here.
"""

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["HasJson", "dataclass", "json_of", "once", "told"]

Made = TypeVar("Made")

_MISSING = dataclasses.MISSING
_Written = tuple[list[str], list[str], dict[str, Any]]
"""A method that is to be compiled: its parameters after `self`, its lines, and what else they name."""


def _dataclass(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    kw_only: bool = False,
) -> Any:
    """Do what `dataclasses.dataclass` does, with its options of the same names."""
    if cls is None:
        return lambda cls: _dataclass(cls, frozen=frozen, slots=slots, eq=eq, kw_only=kw_only)
    own = {*vars(cls)}
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
    methods: dict[str, Any] = {"__init__": _later(made, "__init__", lambda: _init(made, frozen)), "__repr__": _repr}
    if eq:
        methods["__eq__"] = _later(made, "__eq__", lambda: _eq(made))
        methods["__hash__"] = _later(made, "__hash__", lambda: _hash(made)) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name in methods.keys() - own:
        setattr(made, name, methods[name])
    return made


def _later(cls: Any, name: str, write: Callable[[], _Written]) -> Callable[..., Any]:
    """Return a method that compiles the real one when it is first called, and puts it in its own place."""

    def method(self: object, /, *values: object, **named: object) -> Any:
        parameters, lines, names = write()
        exec(f"def {name}({', '.join(['self', *parameters])}):\n " + "\n ".join(lines or ["pass"]), names)  # noqa: S102  (as dataclasses do)
        names[name].__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, names[name])
        return names[name](self, *values, **named)

    return method


def _init(cls: Any, frozen: bool) -> _Written:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    plain: list[str] = []
    named = ["*"]
    lines = []
    for field in dataclasses.fields(cls):
        name = field.name
        value, parameter = name, name
        if field.default is not _MISSING:
            names[f"_{name}"] = field.default
            value, parameter = (name, f"{name}=_{name}") if field.init else (f"_{name}", "")
        elif field.default_factory is not _MISSING:
            names[f"_{name}"] = field.default_factory
            value = f"_{name}() if {name} is _missing else {name}" if field.init else f"_{name}()"
            parameter = f"{name}=_missing"
        elif not field.init:
            continue
        if field.init:
            (named if field.kw_only else plain).append(parameter)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return plain + (named if len(named) > 1 else []), lines, names


def _eq(cls: Any) -> _Written:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    ours, others = ("".join(f"{of}.{name}, " for name in names) for of in ("self", "other"))
    return ["other"], [f"return ({ours}) == ({others}) if other.__class__ is self.__class__ else NotImplemented"], {}


def _hash(cls: Any) -> _Written:
    fields = dataclasses.fields(cls)
    names = [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    return [], [f"return hash(({''.join(f'self.{name}, ' for name in names)}))"], {}


def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_to_set(_: object, name: str, __: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: object, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):  # type: ignore[arg-type]
        object.__setattr__(self, field.name, value)


class _Once:
    """A property that is found out when it is first asked for. `functools.cached_property` takes five times as long."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self._find = find
        self.__doc__ = find.__doc__

    def __get__(self, value: Any, _: object) -> Any:
        if value is None:
            return self
        found = value.__dict__[self._find.__name__] = self._find(value)
        return found


def told(value: Made, **found: object) -> Made:
    """Return a value that need not find out what `once` would: who made it knows that already."""
    value.__dict__.update(found)
    return value


def json_of(value: object, names: str) -> dict[str, object]:
    """Return fields of a value as a JSON answer has them: a day as text, a tuple as a list, a value by its `to_json`.

    `name?` is null where the field is empty, and `key=a.b` names its field after the key. `*name` gives the keys of
    that field's own answer.
    """
    answer: dict[str, object] = {}
    for key, get, mark in _read(names):
        field = get(value)
        if mark == "*":
            answer |= field.to_json()
        else:
            answer[key] = (field or None) if mark == "?" else _plain(field)
    return answer


class HasJson:
    """A value that is its own JSON answer: `JSON` names its keys, as `json_of` reads them."""

    __slots__ = ()
    JSON = ""

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        return json_of(self, self.JSON)


@lru_cache
def _read(names: str) -> list[tuple[str, Callable[[object], Any], str]]:
    found: list[tuple[str, Callable[[object], Any], str]] = []
    for name in names.split():
        key, _, path = name.strip("*?").rpartition("=")
        found.append((key or path, attrgetter(path), name[0] if name[0] == "*" else name[-1]))
    return found


def _plain(field: Any) -> object:
    if field is None or isinstance(field, str | int | float | dict):
        return field
    if isinstance(field, tuple | list):
        return [_plain(one) for one in field]
    return field.isoformat() if hasattr(field, "isoformat") else field.to_json()


if TYPE_CHECKING:
    from dataclasses import dataclass
    from functools import cached_property as once
else:
    dataclass = _dataclass
    once = _Once
