"""The model itself is tested where it is installed: `pip install --no-deps wordllama tokenizers`."""

import json
import struct
from importlib.util import find_spec

import pytest

from agent_memory_protocol.errors import DamagedFile, MissingExtra
from agent_memory_protocol.search import minilm, models, static
from agent_memory_protocol.search.models import installed_model
from agent_memory_protocol.search.opening import open_index
from agent_memory_protocol.search.port import Passage, source_of
from agent_memory_protocol.search.static import WordLlama

needs_library = pytest.mark.skipif(
    find_spec("numpy") is None or find_spec("tokenizers") is None, reason="NumPy or tokenizers is not installed"
)
needs_weights = pytest.mark.skipif(
    find_spec(static.PACKAGE) is None or find_spec("tokenizers") is None, reason="the weights are not installed"
)


@needs_weights
def test_every_text_has_a_vector_of_length_one_and_an_empty_one_of_zeros():
    model = WordLlama()
    texts = ["short", "a longer text about databases", "word " * 1000, "", "\ud800", "\u6570\u636e\u5e93"]
    vectors = model.embed(texts)
    assert {len(vector) for vector in vectors} == {model.dimensions}
    lengths = [sum(number * number for number in vector) for vector in vectors]
    assert lengths == pytest.approx([1, 1, 1, 0, 1, 1], abs=1e-4)
    assert model.embed([]) == []
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(model.embed([text])[0], abs=1e-5)


@needs_weights
def test_what_is_said_in_other_words_is_found_with_words_and_without():
    index = open_index(embedder=WordLlama())
    facts = ["Passwords are kept in env/prod.", "Dates are stored in UTC.", "Postgres runs on port 5432."]
    index.refresh([source_of(fact, Passage(fact, fact)) for fact in facts])
    assert index.search("passphrase")[0].key == facts[0]
    assert index.search("which timezone")[0].key == facts[1]
    assert index.search("postgres port")[0].reasons[0] == "words: postgres, port"


def test_what_is_missing_is_said_with_the_command_that_brings_it(monkeypatch):
    there = {"numpy", "tokenizers"}
    monkeypatch.setattr(static, "find_spec", lambda name: object() if name in there else None)
    for gone, command in (
        ("", "--no-deps wordllama"),
        ("tokenizers", "--no-deps tokenizers"),
        ("numpy", r"\[vectors\]"),
    ):
        there.discard(gone)
        with pytest.raises(MissingExtra, match=f"pip install .*{command}"):
            WordLlama()


@pytest.mark.parametrize(
    ("installed", "made"),
    [({minilm.PACKAGE, static.PACKAGE}, "MiniLM"), ({static.PACKAGE}, "WordLlama"), (set(), "MiniLM")],
    ids=["both", "small", "none"],
)
def test_the_better_model_that_is_installed_is_used(monkeypatch, installed, made):
    monkeypatch.setattr(models, "find_spec", lambda name: object() if name in installed else None)
    monkeypatch.setattr(minilm, "MiniLM", lambda: "MiniLM")
    monkeypatch.setattr(static, "WordLlama", lambda: "WordLlama")
    assert installed_model() == made


def safetensors(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def table(kind: str, width: int, size: int) -> bytes:
    return safetensors({"x": {"dtype": kind, "shape": [2, width], "data_offsets": [0, size]}}, b"\0" * size)


@needs_library
@pytest.mark.parametrize(
    "weights",
    [None, b"", b"short", b"\xff" * 100, safetensors([]), safetensors({}), table("F32", 256, 2048), table("F16", 8, 32),
     table("F16", 256, 100), table("F16", 256, 1024)],
    ids=["none", "empty", "short", "bytes", "list", "nothing", "floats", "narrow", "cut-off", "no-pieces"],
)  # fmt: skip
def test_a_folder_that_does_not_hold_the_model_is_named(tmp_path, weights):
    for name in ("weights", "tokenizers"):
        (tmp_path / name).mkdir()
    if weights is not None:
        (tmp_path / static._WEIGHTS).write_bytes(weights)
    with pytest.raises(DamagedFile, match=r"holds no wordllama"):
        WordLlama(tmp_path)
    (tmp_path / static._PIECES).write_text("{}")
    with pytest.raises(DamagedFile, match=r"holds no wordllama"):
        WordLlama(tmp_path)
