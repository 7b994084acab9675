import math
import statistics
import struct
import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import AgentMemoryError, InvalidVector
from agent_memory_protocol.search import float32
from agent_memory_protocol.search.float32 import from_bytes, to_bytes
from tests.each_row import each_row

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.requirement("S3-16")
@given(st.lists(floats))
def test_a_vector_comes_back_from_its_bytes(vector):
    data = to_bytes(vector)
    assert data == struct.pack(f"<{len(vector)}f", *vector)
    assert list(from_bytes(data, dimensions=len(vector))) == vector


@each_row("number", [math.nan, math.inf, -math.inf, 1e300, "1", None])
def test_what_is_no_number_is_refused(number):
    with pytest.raises(InvalidVector, match="the third"):
        to_bytes([0.5, number], of="the third")


@each_row(
    "data, why",
    [
        (b"\0" * 7, "has 7 bytes, which is not a multiple of 4"),
        (b"\0" * 12, "is 3 wide where 2 are expected"),
        (b"", "is 0 wide where 2 are expected"),
        (struct.pack("<2f", 1, math.nan), "holds nan in place 1"),
        (struct.pack("<2f", math.inf, 1), "holds inf in place 0"),
    ],
)
def test_bytes_that_hold_no_such_vector_are_refused(data, why):
    with pytest.raises(InvalidVector, match=f"^a vector {why}"):
        from_bytes(data, dimensions=2)
    assert issubclass(InvalidVector, AgentMemoryError)


def test_a_machine_of_the_other_order_swaps_bytes(monkeypatch):
    monkeypatch.setattr(float32, "_BIG_ENDIAN", not float32._BIG_ENDIAN)
    assert to_bytes([1.5, -2.25]) == struct.pack(">2f" if sys.byteorder == "little" else "<2f", 1.5, -2.25)
    assert list(from_bytes(to_bytes([1.5, -2.25]))) == [1.5, -2.25]


@pytest.mark.slow
@pytest.mark.parametrize("has_numpy", [True, False], ids=["numpy", "plain"])
@given(vector=st.lists(st.floats(-1, 1, width=16), max_size=9))
def test_a_halved_vector_comes_back_from_half_the_bytes(has_numpy, vector):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(float32, "_HAS_NUMPY", has_numpy and float32._HAS_NUMPY)
        data = float32.to_half(vector)
        assert len(data) == 2 * len(vector)
        assert list(float32.from_half(data + data)) == [*vector, *vector]
        assert list(float32.from_half(float32.to_half([0.1, 1 / 3]))) == pytest.approx([0.1, 1 / 3], abs=3e-4)
        for damaged in (b"\x00\x7e", b"\x00\x7c"):  # no number, and infinity
            with pytest.raises(InvalidVector):
                float32.from_half(damaged)


def test_what_no_half_can_hold_is_refused():
    with pytest.raises(InvalidVector, match=r"the third holds 1e\+06|the third holds 1000000"):
        float32.to_half([0.0, 1e6], of="the third")
    with pytest.raises(InvalidVector, match="the third holds nan"):
        float32.to_half([math.nan], of="the third")


@pytest.mark.slow
@pytest.mark.parametrize("has_numpy", [True, False], ids=["numpy", "plain"])
@given(numbers=st.lists(st.floats(-1, 1, width=32), min_size=1), least=st.floats(-1, 1, width=32))
def test_numbers_are_summed_up_with_numpy_and_without(has_numpy, numbers, least):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(float32, "_HAS_NUMPY", has_numpy and float32._HAS_NUMPY)
        mean, spread = float32.usual(numbers)
        assert float32.places_from(numbers, least) == [at for at, number in enumerate(numbers) if number >= least]
        likeness = float32.similarities(array("f", [*numbers, *numbers]), numbers)
    assert mean == pytest.approx(statistics.fmean(numbers), abs=1e-6)
    assert spread == pytest.approx(statistics.pstdev(numbers), abs=1e-6)
    assert list(likeness) == pytest.approx([math.fsum(number * number for number in numbers)] * 2, rel=1e-4, abs=1e-6)
