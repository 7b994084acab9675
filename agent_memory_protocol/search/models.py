"""Which sentence model is installed: the better one of those that there are."""

from importlib.util import find_spec

from . import minilm, static
from .port import Embedder


def installed_model() -> Embedder:
    """Return `MiniLM` where its weights are installed, else `WordLlama`; MissingExtra says how to get one."""
    if find_spec(minilm.PACKAGE) is None and find_spec(static.PACKAGE) is not None:
        return static.WordLlama()
    return minilm.MiniLM()
