"""JSON read and written without loading `json`, which brings `re` and takes longer than a whole recall.

The scanner and the escapes are those that `json` itself calls. Where Python comes without them, and to say what is
wrong with a text that is not JSON, `json` is loaded after all.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    make_scanner: Callable[[Any], Callable[[str, int], tuple[object, int]]] | None
    _quoted: Callable[[str], str]
else:
    try:
        from _json import encode_basestring_ascii as _quoted
        from _json import make_scanner
    except ImportError:
        from json.encoder import py_encode_basestring_ascii as _quoted

        make_scanner = None


class _Rules:
    """What `json.loads` sets up for its scanner."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012  (what the scanner asks for; it keeps a memo of its own)


def read(data: bytes) -> object:
    """Return what a JSON text says. Raises ValueError if it is not JSON."""
    value, end = _scan(data)
    if end:
        return value
    import json

    return json.loads(data)


def is_whole(data: bytes) -> bool:
    """Say whether a text is JSON from its beginning to its end."""
    return _scan(data)[1] > 0


def write(value: object) -> str:
    """Return a value made of dictionaries, texts and truth values as JSON in ASCII."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {write(one)}" for key, one in value.items()) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(str(value))


def _scan(data: bytes) -> tuple[object, int]:
    """Return what the text says and where it ends; 0 if it is not, or not surely, JSON."""
    if make_scanner is None:
        return None, 0
    try:
        text = data.decode().removeprefix("\ufeff").strip(" \t\r\n")
        value, end = make_scanner(_Rules)(text, 0)
    except (ValueError, StopIteration, RecursionError, SystemError):
        return None, 0
    return (value, end) if end == len(text) else (None, 0)
