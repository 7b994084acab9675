"""The static sentence model of WordLlama: a text is the mean of its pieces' vectors, so thousands are read a second.

It knows less than `MiniLM` of what words mean together, and costs next to nothing: 17 MB, no layers to run. Its weights
and its vocabulary are in the package `wordllama`, which is not run: its files are read. English is what it was taught.
"""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..disk.errors import explain, shown
from ..errors import DamagedFile, MissingExtra
from .safetensors import read_header

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float32]]

NAME = "wordllama-l2-supercat-256"
PACKAGE = "wordllama"  # What brings the files

_WEIGHTS = os.path.join("weights", "l2_supercat_256.safetensors")
_PIECES = os.path.join("tokenizers", "l2_supercat_tokenizer_config.json")
_DIMENSIONS = 256
_LONGEST = 512  # Pieces of a text that are read, the first ones


class WordLlama:
    """Makes vectors by meaning, fast; see `Embedder`. By default its folder is the package `wordllama`."""

    weight = 0.1  # beside words it counts less than a model that reads whole texts
    fits_at = 0.65  # how well a text fits by words and its cosine, together, where it answers a query
    full_at = 40  # words: the mean of few pieces says little, that of many much
    name = NAME
    dimensions = _DIMENSIONS

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        if find_spec("numpy") is None:
            raise MissingExtra("finding by meaning needs NumPy; pip install 'agent-memory-protocol[vectors]'")
        if find_spec("tokenizers") is None:
            raise MissingExtra("this model needs the package tokenizers; pip install --no-deps tokenizers")
        folder = _installed() if folder is None else os.fspath(folder)
        from tokenizers import Tokenizer

        try:
            self._table = _read_table(os.path.join(folder, _WEIGHTS))
            with open(os.path.join(folder, _PIECES), encoding="utf-8") as file:
                self._pieces = Tokenizer.from_str(file.read())
        except OSError as error:
            raise DamagedFile(f"holds no {NAME} that can be read: {explain(error)}", path=shown(folder)) from error
        except Exception as error:  # the tokenizer raises nothing narrower
            raise DamagedFile(f"holds no {NAME}: {error}; install or copy it again", path=shown(folder)) from error
        self._pieces.no_padding()
        self._pieces.enable_truncation(_LONGEST)

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return one vector for each text, of length 1, or all zeros for a text without words."""
        import numpy as np

        found = np.zeros((len(texts), _DIMENSIONS), dtype=np.float32)
        valid = [text.encode(errors="replace").decode() for text in texts]
        for row, read in zip(found, self._pieces.encode_batch(valid, add_special_tokens=False), strict=True):
            if read.ids:
                row[:] = self._table[read.ids].mean(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        vectors: list[Sequence[float]] = (found / np.where(lengths, lengths, 1)).tolist()
        return vectors


def _read_table(path: str) -> "Array":
    """Read the one table of a safetensors file: a length, a JSON object, and 16-bit floats."""
    import numpy as np

    with open(path, "rb") as file:
        header = read_header(file)
        start = file.tell()
    (table,) = (one for key, one in header.items() if key != "__metadata__")
    if table["dtype"] != "F16" or table["shape"][1] != _DIMENSIONS:
        raise ValueError(f"its table is {table['dtype']} of {table['shape']}")
    mapped: Array = np.memmap(
        path, dtype="<f2", mode="r", offset=start + table["data_offsets"][0], shape=tuple(table["shape"])
    )
    return mapped


def _installed() -> str:
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingExtra(
            "finding by meaning needs the weights of a model;"
            " pip install --no-deps wordllama tokenizers, or name a folder that holds them"
        )
    return os.path.dirname(found.origin)
