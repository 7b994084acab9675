"""Tables of cases: one test tries each row and names every row that fails.

Where a test only looks, a row needs no project of its own. A test for each of some thousand such rows would spend most
of the run in starting and reporting tests.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from functools import wraps
from typing import Any

import pytest

_PARAM = type(pytest.param())


def each_row(names: str, table: Collection[Any], *, ids: Any = None) -> Callable[[Callable[..., None]], Any]:
    """Give a test every row of a table, as `pytest.mark.parametrize` does, in one test and with the same fixtures.

    A test that changes what its fixtures gave, or whose rows carry marks, wants `parametrize`.
    """
    parameters = [name.strip() for name in names.split(",")]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def try_rows(**fixtures: object) -> None:
            failed: list[BaseException] = []
            for name, values in _rows(len(parameters), table, ids):
                try:
                    test(**dict(zip(parameters, values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 the other rows are tried as well
                    error.add_note(f"in the row {name}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(table)} rows fail", failed)

        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in parameters]
        try_rows.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return try_rows

    return decorate


def _rows(count: int, table: Collection[Any], ids: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield each row with its name: the one it was given, else its values."""
    names = ids if ids is None or callable(ids) else list(ids)
    for number, row in enumerate(table):
        values, name = row if count > 1 else (row,), ""
        if isinstance(row, _PARAM):
            assert not row.marks, f"a row has no marks: {row}"
            values, name = row.values, str(row.id or "")
        if names is not None:
            name = " ".join(str(names(value)) for value in values) if callable(names) else names[number]
        yield name or repr(row), tuple(values)
