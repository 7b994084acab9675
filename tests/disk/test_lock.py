"""The lock: one writer at a time, no lock outlives its holder, and who gives up says who was in the way."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol.disk import lock
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.disk.lock import hold
from agent_memory_protocol.disk.writing import make_local_folder
from agent_memory_protocol.errors import DamagedFile, InvalidArgument, LockBusy, StorageError
from tests.process import open_descriptors

PACKAGE = str(Path(lock.__file__).parents[2])
NAME = "shared"
HOLD = """
    import sys
    from agent_memory_protocol.disk.files import Root
    from agent_memory_protocol.disk.lock import hold
    with Root.open(sys.argv[1]) as root, hold(root, "shared"):
        print("held", flush=True)
        sys.stdin.read(1)
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    (tmp_path / "outside").mkdir()
    (tmp_path / "project").mkdir()
    with Root.open(str(tmp_path / "project")) as opened:
        yield opened
    assert os.listdir(tmp_path / "outside") == []


@pytest.fixture
def locks(root: Root) -> Path:
    return Path(root.path, ".scaffolding", ".amp", "locks")


@pytest.fixture
def holder(root: Root) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until it reads something."""
    with start(HOLD, root.path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def start(script: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *args],
        env={**os.environ, "PYTHONPATH": PACKAGE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def refused(root: Root, *, wait: float = 0) -> str:
    """Return the message of an attempt that finds the lock taken."""
    with pytest.raises(LockBusy) as caught, hold(root, NAME, wait=wait):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_lock_is_taken_and_given_back_without_a_trace_of_its_holder(root: Root, locks: Path) -> None:
    for _ in range(3):
        with hold(root, NAME, wait=0):
            assert str(os.getpid()).encode() in (locks / "shared.lock").read_bytes()
        assert (locks / "shared.lock").read_bytes() == b""
    assert sorted(os.listdir(locks)) == ["shared.lock", "shared.turn"]
    assert (locks.parent / ".gitignore").read_bytes() == b"*\n"


def test_different_names_are_different_locks(root: Root) -> None:
    with hold(root, "shared", wait=0), hold(root, "agent--dev", wait=0):
        pass


@pytest.mark.slow
def test_who_gives_up_names_the_holder(root: Root, holder: subprocess.Popen[str]) -> None:
    message = refused(root, wait=0.3)
    assert f"shared: another process is writing, probably process {holder.pid} (-c) on {os.uname().nodename}" in message
    assert f", since {time.strftime('%Y-')}" in message
    assert "; waited " in message
    assert message.endswith("; try again, or end that process if it hangs")


def test_who_gives_up_does_so_in_the_stated_time(
    root: Root, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 0.0

    def rest(seconds: float) -> None:
        nonlocal clock
        clock += seconds

    monkeypatch.setattr(time, "monotonic", lambda: clock)
    monkeypatch.setattr(time, "sleep", rest)
    refused(root, wait=0.5)
    assert clock == pytest.approx(0.5)


@pytest.mark.slow
def test_who_waits_gets_the_lock_when_it_is_free(root: Root, holder: subprocess.Popen[str]) -> None:
    refused(root)
    assert holder.stdin is not None
    threading.Timer(0.2, lambda: holder.stdin.write("x") and holder.stdin.flush()).start()  # type: ignore[union-attr]
    with hold(root, NAME, wait=30):
        assert holder.wait(10) == 0


def test_the_lock_of_a_killed_holder_is_free_at_once(root: Root, locks: Path, holder: subprocess.Popen[str]) -> None:
    refused(root)
    holder.kill()
    holder.wait()
    assert str(holder.pid).encode() in (locks / "shared.lock").read_bytes()
    with hold(root, NAME, wait=0):
        pass


@pytest.mark.slow
def test_the_lock_of_a_stopped_holder_is_never_broken(root: Root, holder: subprocess.Popen[str]) -> None:
    os.kill(holder.pid, signal.SIGSTOP)
    try:
        assert f"process {holder.pid}" in refused(root, wait=0.3)
    finally:
        os.kill(holder.pid, signal.SIGCONT)
    assert holder.poll() is None


@pytest.mark.parametrize(
    "left", [b"", b"\0" + b"999999\namp\nhost\n2026-01-01 00:00:00 +0000", b"12345", b"\xff" * 5000]
)
def test_a_lock_file_that_was_left_behind_blocks_nobody(root: Root, locks: Path, left: bytes) -> None:
    locks.mkdir(parents=True)
    (locks / "shared.lock").write_bytes(left)
    with hold(root, NAME, wait=0):
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (b"", "another process is writing, which left no name; waited"),
        (b"\0not a record", "another process is writing, which left no name; waited"),
        (b"\0007\na\x1b[31mb\nhost\nnow", r"probably process 7 (a\x1b[31mb) on host, since now; waited"),
        (b"\0007\n\xff\nhost\n" + b"x" * 900, f"on host, since {'x' * 100}; waited"),
    ],
)
def test_a_strange_record_is_shown_harmlessly(
    root: Root, locks: Path, holder: subprocess.Popen[str], record: bytes, shown: str
) -> None:
    (locks / "shared.lock").write_bytes(record)
    assert shown in refused(root)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_link_planted_on_the_way_makes_nothing_outside(root: Root, tmp_path: Path, depth: int) -> None:
    parts = (".scaffolding", ".amp", "locks", "shared.lock")
    place = Path(root.path, *parts[:depth])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tmp_path / "outside" / ("" if depth < 4 else "shared.lock"))
    with pytest.raises(StorageError) as caught, hold(root, NAME, wait=0):
        pass
    assert "a link" in str(caught.value)


def test_a_local_folder_that_is_a_link_inside_the_project_will_do(root: Root) -> None:
    Path(root.path, "cache").mkdir()
    Path(root.path, ".scaffolding").mkdir()
    Path(root.path, ".scaffolding", ".amp").symlink_to("../cache")
    with hold(root, NAME, wait=0):
        assert Path(root.path, "cache", "locks", "shared.lock").exists()


def test_a_second_name_of_a_file_outside_is_not_written_to(root: Root, locks: Path, tmp_path: Path) -> None:
    locks.mkdir(parents=True)
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    os.link(precious, locks / "shared.lock")
    with hold(root, NAME, wait=0):
        pass
    assert precious.read_bytes() == b"precious"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_cannot_be_locked(root: Root, locks: Path, kind: str) -> None:
    locks.mkdir(parents=True)
    os.mkfifo(locks / "shared.lock") if kind == "pipe" else (locks / "shared.lock").mkdir()
    with pytest.raises(StorageError), hold(root, NAME, wait=0):
        pass


@pytest.mark.parametrize("name", ["a/b", "../x", "a\0b"])
def test_a_name_that_is_a_path_is_refused(root: Root, name: str) -> None:
    with pytest.raises(InvalidArgument), hold(root, name, wait=0):
        pass


def test_scaffolding_that_is_a_file_is_named(root: Root) -> None:
    Path(root.path, ".scaffolding").touch()
    with pytest.raises(DamagedFile, match="there is a file where a folder should be"), hold(root, NAME, wait=0):
        pass


def test_a_lock_file_deleted_while_one_waits_is_made_anew(
    root: Root, locks: Path, holder: subprocess.Popen[str]
) -> None:
    """`.amp` may be deleted at any time; who then gets the lock of the deleted file must not believe it."""
    taken = threading.Event()
    release = threading.Event()

    def wait() -> None:
        with Root.open(root.path) as own, hold(own, NAME, wait=30):
            taken.set()
            release.wait(30)

    waiter = threading.Thread(target=wait)
    waiter.start()
    deadline = time.monotonic() + 10
    while descriptors_of(locks / "shared.lock") == 0 and time.monotonic() < deadline:
        time.sleep(0.005)
    (locks / "shared.lock").unlink()
    holder.kill()
    assert taken.wait(10)
    refused(root)
    release.set()
    waiter.join()
    with hold(root, NAME, wait=0):
        pass


@pytest.mark.slow
def test_a_folder_deleted_just_after_it_was_made_is_made_again(
    root: Root, locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = 3

    def make(*words: Any, **more: Any) -> tuple[str, ...]:
        nonlocal times
        made = make_local_folder(*words, **more)
        if times:
            times -= 1
            shutil.rmtree(locks)
        return made

    monkeypatch.setattr(lock, "make_local_folder", make)
    with hold(root, NAME, wait=0):
        refused(root)
    times = 1_000
    with pytest.raises(StorageError, match="is being replaced all the time"), hold(root, NAME, wait=0):
        pass


def descriptors_of(file: Path) -> int:
    count = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{fd}") == str(file)
        except OSError:
            continue
    return count


def test_threads_of_one_process_keep_each_other_out(root: Root) -> None:
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        with Root.open(root.path) as own:
            for _ in range(20):
                with hold(own, NAME, wait=30):
                    inside += 1
                    most = max(most, inside)
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_an_error_inside_gives_the_lock_back(root: Root) -> None:
    with pytest.raises(ZeroDivisionError), hold(root, NAME, wait=0):
        raise ZeroDivisionError
    with hold(root, NAME, wait=0):
        pass


def test_a_child_that_leaves_its_parents_block_does_not_give_the_lock_up(root: Root) -> None:
    parent = os.getpid()
    leaving = hold(root, NAME, wait=0)
    leaving.__enter__()
    pid = os.fork()
    if pid == 0:
        leaving.__exit__(None, None, None)
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.getpid() == parent
    with Root.open(root.path) as other:
        refused(other)
    leaving.__exit__(None, None, None)


@pytest.mark.slow
def test_eight_processes_change_one_file_fifty_times_each_and_no_change_is_lost(root: Root) -> None:
    script = """
        import sys
        from agent_memory_protocol.disk.files import Root
        from agent_memory_protocol.disk.lock import hold
        from agent_memory_protocol.disk.writing import replace
        sys.stdin.read(1)
        for number in range(50):
            with Root.open(sys.argv[1]) as root, hold(root, "shared", wait=60):
                old = root.read(("KNOWLEDGE.md",))
                line = f"- {sys.argv[2]}-{number}\\n".encode()
                replace(root, ("KNOWLEDGE.md",), old.data + line, expected=old)
    """
    file = Path(root.path, "KNOWLEDGE.md")
    file.write_bytes(b"# Shared\n")
    writers = [start(script, root.path, str(number)) for number in range(8)]
    for writer in writers:
        writer.communicate("x", timeout=120)
        assert writer.returncode == 0
    header, *lines = file.read_text().splitlines()
    assert header == "# Shared"
    assert sorted(lines) == sorted(f"- {w}-{n}" for w in range(8) for n in range(50))
    assert sorted(os.listdir(root.path)) == [".scaffolding", "KNOWLEDGE.md"]


def test_readers_do_not_wait_and_see_whole_files(root: Root, holder: subprocess.Popen[str]) -> None:
    Path(root.path, "KNOWLEDGE.md").write_bytes(b"x\n")
    content = root.read(("KNOWLEDGE.md",))
    assert content is not None
    refused(root)


def test_a_file_system_without_locks_is_named(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object, **__: object) -> bool:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    before = open_descriptors()
    monkeypatch.setattr("agent_memory_protocol.disk.lock.take", no_locks)
    with pytest.raises(StorageError) as caught, hold(root, NAME, wait=0):
        pass
    assert str(caught.value) == (
        "shared: the lock cannot be taken: the file system offers no locks; keep the project on a local disk"
    )
    root.forget()
    assert open_descriptors() == before


def test_descriptors_do_not_add_up(root: Root, holder: subprocess.Popen[str]) -> None:
    refused(root)
    root.forget()
    before = open_descriptors()
    for number in range(50):
        refused(root)
        with hold(root, f"n{number}", wait=0):
            pass
        root.forget()
    assert open_descriptors() == before


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_lock_file_that_another_user_made_can_be_locked(root: Root, locks: Path) -> None:
    with hold(root, NAME, wait=0):
        pass
    (locks / "shared.lock").chmod(0o444)
    root.close()
    opened = Root.open(root.path)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgid(65534)
            os.setuid(65534)
            with hold(opened, NAME, wait=0):
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    opened.close()


IN_TURN = """
    import os, sys, time
    from agent_memory_protocol.disk.files import Root
    from agent_memory_protocol.disk.lock import hold

    log = os.open(sys.argv[1] + "/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(25):
        os.write(log, b"asks %d\\n" % os.getpid())
        with Root.open(sys.argv[1]) as root, hold(root, "shared", wait=60):
            os.write(log, b"has %d\\n" % os.getpid())
            time.sleep(0.005)
"""


@pytest.mark.slow
def test_whoever_releases_a_lock_does_not_overtake_those_who_wait(root: Root) -> None:
    """Six writers, each of which wants the lock again at once: nobody waits while another has it many times."""
    writers = [start(IN_TURN, root.path) for _ in range(6)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0] * 6
    turns = 0
    asked: dict[str, int] = {}
    passed_over = []
    for line in Path(root.path, "log").read_text().splitlines():
        what, writer_id = line.split()
        if what == "asks":
            asked[writer_id] = turns
        else:
            passed_over.append(turns - asked[writer_id])
            turns += 1
    # 150 turns in all. In order, each comes every sixth; chance may pass one over some times, never most of the time.
    assert turns == 150
    assert max(passed_over) < 50, passed_over


# The kernel's lock on an open file

posix = pytest.mark.skipif(sys.platform == "win32", reason="the lock is filelock's there")


@pytest.fixture
def two(tmp_path: Path) -> Iterator[list[int]]:
    """Return two descriptors of one file, each opened by itself."""
    path = tmp_path / "lock"
    opened = [os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2)]
    yield opened
    for fd in opened:
        os.close(fd)


@posix
def test_one_at_a_time_has_the_lock(two: list[int]) -> None:
    one, other = two
    assert lock.take(one)
    assert not lock.take(other)
    lock.give_up(one)
    assert lock.take(other)


@posix
def test_the_lock_is_the_one_that_other_programs_take(two: list[int]) -> None:
    import fcntl

    one, other = two
    fcntl.flock(one, fcntl.LOCK_EX)
    assert not lock.take(other)
    fcntl.flock(one, fcntl.LOCK_UN)
    assert lock.take(other)
    with pytest.raises(BlockingIOError):
        fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)


@posix
@pytest.mark.parametrize("code", [errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK])
def test_however_a_file_system_says_it_a_lock_that_others_hold_is_not_taken(
    two: list[int], monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr("fcntl.flock", lambda *_: _raise(code))
    assert not lock.take(two[0])


@posix
@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EBADF, errno.EIO])
def test_a_lock_that_cannot_be_had_is_an_error(two: list[int], monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr("fcntl.flock", lambda *_: _raise(code))
    with pytest.raises(OSError, match=os.strerror(code)):
        lock.take(two[0])


def _raise(code: int) -> bool:
    raise OSError(code, os.strerror(code))
