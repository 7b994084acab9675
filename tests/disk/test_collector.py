"""The collector is left out of long work, and is as it was after it."""

import gc

import pytest

from agent_memory_protocol.disk import collector


def test_nothing_is_collected_meanwhile_and_the_collector_goes_on_after():
    assert gc.isenabled()
    with collector.left_alone():
        assert not gc.isenabled()
        with collector.left_alone():
            pass
        assert not gc.isenabled(), "it was off before"
    assert gc.isenabled()


def test_the_collector_goes_on_also_after_an_error():
    with pytest.raises(ValueError, match="no"), collector.left_alone():
        raise ValueError("no")
    assert gc.isenabled()
