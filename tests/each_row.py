"""Tables of cases: one test tries each row and names every row that fails.

Where a test only looks, a row needs no project of its own, and where it changes files, they are put back before the
next row. A test for each of some thousand such rows would spend most of the run in starting and reporting tests.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest

from tests.folder import Kept

_PARAM = type(pytest.param())


def each_row(
    names: str, table: Collection[Any], *, ids: Any = None, fresh: bool = False
) -> Callable[[Callable[..., None]], Any]:
    """Give a test every row of a table, as `pytest.mark.parametrize` does, in one test and with the same fixtures.

    With `fresh`, each row finds below `tmp_path` what the fixtures made there, and a `monkeypatch` of its own. Where a
    row changes something else, or carries marks, a test wants `parametrize`.
    """
    parameters = [name.strip() for name in names.split(",")]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in parameters]
        folder = inspect.Parameter("tmp_path", inspect.Parameter.KEYWORD_ONLY)
        more = [folder] if fresh and "tmp_path" not in signature.parameters else []

        @wraps(test)
        def try_rows(**fixtures: Any) -> None:
            try_one = _own(fixtures["tmp_path"]) if fresh else _shared
            if more:
                del fixtures["tmp_path"]
            failed: list[BaseException] = []
            for name, values in _rows(len(parameters), table, ids):
                run = partial(test, **dict(zip(parameters, values, strict=True)))
                try:
                    try_one(run, fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 the other rows are tried as well
                    error.add_note(f"in the row {name}")
                    failed.append(error)
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(table)} rows fail", failed)

        try_rows.__signature__ = signature.replace(parameters=[*others, *more])  # type: ignore[attr-defined]
        return try_rows

    return decorate


def _shared(row: Callable[..., None], fixtures: dict[str, Any]) -> None:
    row(**fixtures)


def _own(folder: Path) -> Callable[[Callable[..., None], dict[str, Any]], None]:
    """Return what runs a row with what is below a folder as it is now."""
    kept = Kept(folder)

    def run(row: Callable[..., None], fixtures: dict[str, Any]) -> None:
        kept.put_back()
        with pytest.MonkeyPatch.context() as patch:
            row(**{**fixtures, **({"monkeypatch": patch} if "monkeypatch" in fixtures else {})})

    return run


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
