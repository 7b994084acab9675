"""Vectors of 32-bit floats: as bytes, whole or halved, little-endian, one after the other, and how similar they are."""

import math
import struct
from array import array
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from operator import mul

from ..errors import InvalidVector

_WIDTH = 4
_HAS_NUMPY = find_spec("numpy") is not None
_BIG_ENDIAN = struct.pack("=f", 1) != struct.pack("<f", 1)


def pack(numbers: Iterable[float]) -> bytes:
    """Return numbers as bytes, as they are: NaN and infinity too."""
    return _little_endian(array("f", numbers)).tobytes()


def unpack(data: bytes) -> "array[float]":
    """Return the numbers that whole floats hold, as they are."""
    floats = array("f")
    floats.frombytes(data)
    return _little_endian(floats)


def to_bytes(vector: Sequence[float], *, of: str = "a vector") -> bytes:
    """Return a vector as bytes. Raises InvalidVector, with what it is `of`, if a value is not finite."""
    try:
        floats = array("f", vector)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidVector(f"{of} holds something that is not a number: {error}") from None
    _check(floats, of)
    return _little_endian(floats).tobytes()


def from_bytes(data: bytes, *, dimensions: int | None = None, of: str = "a vector") -> "array[float]":
    """Return the vector of some bytes.

    Raises InvalidVector, with what it is `of`, unless they are so many finite values.
    """
    if len(data) % _WIDTH:
        raise InvalidVector(f"{of} has {len(data)} bytes, which is not a multiple of {_WIDTH}: it was cut off")
    floats = unpack(data)
    if dimensions is not None and len(floats) != dimensions:
        raise InvalidVector(f"{of} is {len(floats)} wide where {dimensions} are expected; embed its text again")
    _check(floats, of)
    return floats


def to_half(vector: Sequence[float], *, of: str = "a vector") -> bytes:
    """Return a vector as 16-bit floats: half the bytes, and three digits of each number."""
    floats = unpack(to_bytes(vector, of=of))
    try:
        return struct.pack(f"<{len(floats)}e", *floats)
    except OverflowError:
        raise InvalidVector(f"{of} holds {max(floats, key=abs)}, which is too large; embed its text again") from None


def from_half(data: bytes) -> "array[float]":
    """Return the finite numbers that whole 16-bit floats hold, of one vector or of many."""
    if _HAS_NUMPY:
        import numpy as np

        floats = array("f")
        floats.frombytes(np.frombuffer(data, dtype="<f2").astype("=f4").tobytes())
    else:
        floats = array("f", struct.unpack(f"<{len(data) // 2}e", data))
    _check(floats, "a vector")
    return floats


def similarities(vectors: "array[float]", query: Sequence[float]) -> "array[float]":
    """Return the cosine of each vector with the query. All have length 1, and follow one another."""
    if not _HAS_NUMPY:
        width = len(query)
        starts = range(0, len(vectors), width)
        return array("f", [sum(map(mul, vectors[start : start + width], query)) for start in starts])
    import numpy as np

    matrix = np.frombuffer(vectors, dtype=np.float32).reshape(-1, len(query))
    return array("f", (matrix @ np.asarray(query, dtype=np.float32)).tobytes())


def usual(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean of some numbers, and how far they spread around it."""
    if not numbers:
        return 0.0, 0.0
    if not _HAS_NUMPY:
        mean = sum(numbers) / len(numbers)
        return mean, math.sqrt(max(sum(map(mul, numbers, numbers)) / len(numbers) - mean * mean, 0))
    import numpy as np

    read = np.asarray(numbers)
    return float(read.mean(dtype=float)), float(read.std(dtype=float))


def places_from(numbers: Sequence[float], least: float) -> list[int]:
    """Return the places of the numbers that are not below the least."""
    if not _HAS_NUMPY:
        return [place for place, number in enumerate(numbers) if number >= least]
    import numpy as np

    found: list[int] = np.flatnonzero(np.asarray(numbers) >= least).tolist()
    return found


def _check(floats: "array[float]", of: str) -> None:
    if math.isfinite(sum(floats)):  # true exactly where all are finite: a sum has room for any number of such floats
        return
    place, number = next((place, number) for place, number in enumerate(floats) if not math.isfinite(number))
    raise InvalidVector(f"{of} holds {number} in place {place}, which is not a number; embed its text again")


def _little_endian(floats: "array[float]") -> "array[float]":
    if _BIG_ENDIAN:
        floats = floats[:]
        floats.byteswap()
    return floats
