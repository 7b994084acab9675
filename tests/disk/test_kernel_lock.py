import errno
import os
import sys

import pytest

from agent_memory_protocol.disk import kernel_lock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the lock is filelock's there")


@pytest.fixture
def two(tmp_path):
    """Return two descriptors of one file, each opened by itself."""
    path = tmp_path / "lock"
    opened = [os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2)]
    yield opened
    for fd in opened:
        os.close(fd)


def test_one_at_a_time_has_the_lock(two):
    one, other = two
    assert kernel_lock.take(one)
    assert not kernel_lock.take(other)
    kernel_lock.give_up(one)
    assert kernel_lock.take(other)


def test_the_lock_is_the_one_that_other_programs_take(two):
    import fcntl

    one, other = two
    fcntl.flock(one, fcntl.LOCK_EX)
    assert not kernel_lock.take(other)
    fcntl.flock(one, fcntl.LOCK_UN)
    assert kernel_lock.take(other)
    with pytest.raises(BlockingIOError):
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK])
def test_however_a_file_system_says_it_a_lock_that_others_hold_is_not_taken(two, monkeypatch, code):
    monkeypatch.setattr("fcntl.flock", lambda *_: _raise(code))
    assert not kernel_lock.take(two[0])


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EBADF, errno.EIO])
def test_a_lock_that_cannot_be_had_is_an_error(two, monkeypatch, code):
    monkeypatch.setattr("fcntl.flock", lambda *_: _raise(code))
    with pytest.raises(OSError, match=os.strerror(code)):
        kernel_lock.take(two[0])


def _raise(code):
    raise OSError(code, os.strerror(code))
