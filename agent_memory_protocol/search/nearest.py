"""How similar many vectors are to one: with NumPy where it is installed, and else without."""

from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from operator import mul

_HAS_NUMPY = find_spec("numpy") is not None


def similarities(vectors: "array[float]", query: Sequence[float]) -> list[float]:
    """Return the cosine of each vector with the query. All have length 1, and stand one after the other."""
    if not _HAS_NUMPY:
        width = len(query)
        return [sum(map(mul, vectors[start : start + width], query)) for start in range(0, len(vectors), width)]
    import numpy as np

    matrix = np.frombuffer(vectors, dtype=np.float32).reshape(-1, len(query))
    found: list[float] = (matrix @ np.asarray(query, dtype=np.float32)).tolist()
    return found
