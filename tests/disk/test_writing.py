"""Writing: a file is the old one or the new one, whatever fails and whoever interferes; nothing is left behind."""

import ctypes
import errno
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_memory_protocol.disk import walk, writing
from agent_memory_protocol.disk.files import Content, Root
from agent_memory_protocol.disk.writing import (
    ChangedMeanwhile,
    append,
    create,
    make_folders,
    make_local_folder,
    remove,
    remove_leftovers,
    replace,
)
from agent_memory_protocol.errors import AgentMemoryError, DamagedFile, InvalidArgument, StorageError
from tests.each_row import each_row
from tests.process import NOBODY, as_nobody, open_descriptors

PACKAGE = str(Path(writing.__file__).parents[2])
MEMORY = ("mem", "MEMORY.md")
LOG = ("mem", "ledger.jsonl")
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@pytest.fixture(params=["descriptors", "paths"])
def project(request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one memory file, beside a folder that must not change."""
    if request.param == "paths":
        monkeypatch.setattr(walk, "USE_DESCRIPTORS", False)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_bytes(b"secret\n")
    (tmp_path / "project" / "mem").mkdir(parents=True)
    (tmp_path / "project" / "mem" / "MEMORY.md").write_bytes(b"old\n")
    return tmp_path / "project"


@pytest.fixture
def root(project: Path) -> Iterator[Root]:
    with Root.open(str(project)) as opened:
        yield opened
    outside = project.parent / "outside"
    assert [(file.name, file.read_bytes()) for file in outside.iterdir()] == [("secret.md", b"secret\n")]


def read(root: Root, parts: tuple[str, ...] = MEMORY) -> Content:
    content = root.read(parts)
    assert content is not None
    return content


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def complaint(action: Callable[[], object], kind: type[AgentMemoryError] = StorageError) -> str:
    with pytest.raises(kind) as caught:
        action()
    assert "\n" not in str(caught.value)
    return str(caught.value)


class Fault:
    """Make the n-th call of a function of `os` raise, and count the calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, function: str, number: int, *, call: int = 1) -> None:
        self.calls = 0
        real = getattr(os, function)

        def faulty(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            if self.calls == call:
                if function == "close":
                    real(*args)
                raise OSError(number, os.strerror(number))
            return real(*args, **kwargs)

        monkeypatch.setattr(os, function, faulty)


# -- replacing -----------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_and_can_be_replaced_again(project: Path, root: Root) -> None:
    first = replace(root, MEMORY, b"new\n", expected=read(root))
    assert (project / "mem" / "MEMORY.md").read_bytes() == first.data == b"new\n"
    assert first.stamp == read(root).stamp
    second = replace(root, MEMORY, b"", expected=first)
    assert read(root).data == b""
    assert second.size == 0
    assert names(project / "mem") == ["MEMORY.md"]


def test_the_mode_stays(project: Path, root: Root) -> None:
    (project / "mem" / "MEMORY.md").chmod(0o640)
    content = replace(root, MEMORY, b"new\n", expected=read(root))
    assert stat.S_IMODE((project / "mem" / "MEMORY.md").stat().st_mode) == content.mode == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser gives files away")
def test_the_owner_stays_when_the_superuser_writes(project: Path, root: Root) -> None:
    os.chown(project / "mem" / "MEMORY.md", NOBODY, NOBODY)
    replace(root, MEMORY, b"new\n", expected=read(root))
    info = (project / "mem" / "MEMORY.md").stat()
    assert (info.st_uid, info.st_gid) == (NOBODY, NOBODY)


def test_a_linked_file_stays_a_link_and_its_target_is_replaced(project: Path, root: Root) -> None:
    (project / "docs").mkdir()
    real = project / "docs" / "real.md"
    real.write_bytes(b"- real\n")
    real.chmod(0o640)
    link = project / "mem" / "link.md"
    link.symlink_to("../docs/real.md")
    parts = ("mem", "link.md")
    replace(root, parts, b"- real\n- more\n", expected=read(root, parts))
    assert os.readlink(link) == "../docs/real.md"
    assert real.read_bytes() == b"- real\n- more\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert names(project / "docs") == ["real.md"]
    assert names(project / "mem") == ["MEMORY.md", "link.md"]


@each_row("change", ["edited", "touched", "replaced", "removed", "a link"], fresh=True)
def test_a_file_that_someone_else_changed_is_left_alone(project: Path, root: Root, change: str) -> None:
    file = project / "mem" / "MEMORY.md"
    content = read(root)
    theirs = b"old\n"
    if change == "edited":
        theirs = b"old\nmore\n"
        file.write_bytes(theirs)
    elif change == "touched":
        os.utime(file, ns=(1, 1))
    elif change == "replaced":
        (project / "mem" / "x").write_bytes(theirs)
        os.utime(project / "mem" / "x", ns=(content.stamp[2], content.stamp[2]))
        (project / "mem" / "x").replace(file)
    else:
        file.unlink()
        if change == "a link":
            (project / "other.md").write_bytes(theirs)
            file.symlink_to("../other.md")
    message = complaint(lambda: replace(root, MEMORY, b"mine\n", expected=content), ChangedMeanwhile)
    assert message == "mem/MEMORY.md: someone else has changed it; nothing was written, read it again"
    assert (file.read_bytes() if file.exists() else theirs) == theirs
    assert [name for name in names(project / "mem") if name != "MEMORY.md"] == []


def test_an_edit_just_before_the_rename_is_seen(project: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    file = project / "mem" / "MEMORY.md"
    content = read(root)
    real = os.access

    def edit(*args: Any, **kwargs: Any) -> bool:
        file.write_bytes(b"theirs\n")
        return real(*args, **kwargs)

    monkeypatch.setattr(os, "access", edit)
    complaint(lambda: replace(root, MEMORY, b"mine\n", expected=content), ChangedMeanwhile)
    assert file.read_bytes() == b"theirs\n"
    assert names(project / "mem") == ["MEMORY.md"]


FAULTS = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "your disk quota is used up; free some space and try again",
    errno.EIO: "the disk reports an input/output error; check the disk",
    errno.EROFS: "the file system is read-only; write somewhere else or mount it writable",
    errno.EACCES: "permission denied; change the permissions of the file or its folder",
    errno.EBUSY: "another program is using it; close that program and try again",
    errno.EMFILE: "this process has too many open files; close some and try again",
    errno.ENOTRECOVERABLE: "State not recoverable; mend that and try again",
}


@pytest.mark.slow
@each_row("number", FAULTS, ids=lambda number: errno.errorcode[number], fresh=True)
@each_row("step", ["open", "write", "fchmod", "fsync", "fstat", "stat", "listdir", "replace"], fresh=True)
def test_a_failed_replace_leaves_the_old_bytes_and_nothing_else(
    project: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int
) -> None:
    monkeypatch.setattr(writing, "RENAME_PAUSES", ())
    with Root.open(str(project)) as root:
        content = read(root)
        before = open_descriptors()
        with monkeypatch.context() as patch:
            fault = Fault(patch, step, number)
            message = complaint(lambda: replace(root, MEMORY, b"new\n" * 9999, expected=content))
        assert fault.calls
        assert message.startswith("mem/MEMORY.md: ")
        assert message.endswith(FAULTS[number])
        assert (project / "mem" / "MEMORY.md").read_bytes() == b"old\n"
        assert names(project / "mem") == ["MEMORY.md"]
        assert open_descriptors() == before
        replace(root, MEMORY, b"next\n", expected=read(root))
        assert (project / "mem" / "MEMORY.md").read_bytes() == b"next\n"


def test_a_folder_that_is_not_confirmed_is_reported(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Root.open(str(project)) as root:
        if not walk.USE_DESCRIPTORS:
            pytest.skip("folders are confirmed through their descriptors")
        content = read(root)
        Fault(monkeypatch, "fsync", errno.EIO, call=2)
        message = complaint(lambda: replace(root, MEMORY, b"new\n", expected=content))
    assert "changed, but the disk has not confirmed that it will survive a crash" in message
    assert (project / "mem" / "MEMORY.md").read_bytes() == b"new\n"


def test_a_file_system_that_cannot_confirm_folders_is_good_enough(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    Fault(monkeypatch, "fsync", errno.EINVAL, call=2)
    replace(root, MEMORY, b"new\n", expected=read(root))
    assert read(root).data == b"new\n"


def test_short_writes_go_on_until_all_is_written(project: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:7]))
    replace(root, MEMORY, b"0123456789" * 5, expected=read(root))
    assert read(root).data == b"0123456789" * 5


def test_a_disk_that_fills_up_half_way_costs_nothing(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    calls = []

    def fill(fd: int, data: bytes) -> int:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(fd, bytes(data)[:5])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", fill)
        assert "the disk is full" in complaint(lambda: replace(root, MEMORY, b"0123456789", expected=read(root)))
    assert read(root).data == b"old\n"
    assert names(project / "mem") == ["MEMORY.md"]


def test_a_limit_on_file_sizes_costs_nothing(project: Path) -> None:
    script = """
        import os, resource, signal, sys
        from agent_memory_protocol.disk.files import Root
        from agent_memory_protocol.disk.writing import append, replace
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        with Root.open(sys.argv[1]) as root:
            for action in (
                lambda: replace(root, ("mem", "MEMORY.md"), b"x" * 2000, expected=root.read(("mem", "MEMORY.md"))),
                lambda: append(root, ("mem", "log"), b"x" * 2000 + b"\\n"),
            ):
                try:
                    action()
                except Exception as error:
                    print(type(error).__name__, error)
    """
    (project / "mem" / "log").write_bytes(b"whole\n")
    run = python(script, str(project))
    first, second = run.stdout.splitlines()
    assert first == (
        "StorageError mem/MEMORY.md: not written: it would be larger than the system allows;"
        " raise the limit on file sizes"
    )
    assert second.startswith("StorageError mem/log: not written: it would be larger than the system allows")
    assert (project / "mem" / "MEMORY.md").read_bytes() == b"old\n"
    assert (project / "mem" / "log").read_bytes() == b"whole\n"
    assert names(project / "mem") == ["MEMORY.md", "log"]


@each_row("times", [1, 2, 6], fresh=True)
def test_a_rename_that_a_scanner_holds_up_is_tried_again(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    real = os.replace

    def hold_up(*args: Any, **kwargs: Any) -> None:
        if len(pauses) < times:
            raise PermissionError(errno.EACCES, "held")
        real(*args, **kwargs)

    monkeypatch.setattr(os, "replace", hold_up)
    replace(root, MEMORY, b"new\n", expected=read(root))
    assert read(root).data == b"new\n"
    assert len(pauses) == times
    assert names(project / "mem") == ["MEMORY.md"]


def test_a_rename_that_is_never_allowed_gives_up_within_a_second(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    with monkeypatch.context() as patch:

        def never(*_: Any, **__: Any) -> None:
            raise PermissionError(errno.EACCES, "held")

        patch.setattr(os, "replace", never)
        assert "permission denied" in complaint(lambda: replace(root, MEMORY, b"new\n", expected=read(root)))
    assert sum(pauses) < 1
    assert read(root).data == b"old\n"
    assert names(project / "mem") == ["MEMORY.md"]


def test_what_a_killed_writer_left_is_removed_by_the_next_one(project: Path, root: Root) -> None:
    for name in ("MEMORY.md", "MEMORY.md.x", "OTHER.md"):
        (project / "mem" / f".{name}.0123456789abcdef.amp-tmp").write_bytes(b"half")
    (project / "mem" / ".MEMORY.md.mine.amp-tmp").touch()
    replace(root, MEMORY, b"new\n", expected=read(root))
    assert names(project / "mem") == [
        ".MEMORY.md.mine.amp-tmp",
        ".MEMORY.md.x.0123456789abcdef.amp-tmp",
        ".OTHER.md.0123456789abcdef.amp-tmp",
        "MEMORY.md",
    ]


@pytest.mark.slow
@each_row("step", ["write", "fsync", "access", "replace"], fresh=True)
def test_a_writer_killed_at_any_step_leaves_the_file_whole(project: Path, step: str) -> None:
    script = """
        import os, signal, sys
        from agent_memory_protocol.disk.files import Root
        from agent_memory_protocol.disk.writing import replace
        with Root.open(sys.argv[1]) as root:
            content = root.read(("mem", "MEMORY.md"))
            setattr(os, sys.argv[2], lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL))
            replace(root, ("mem", "MEMORY.md"), b"new", expected=content)
    """
    assert python(script, str(project), step, check=False).returncode == -signal.SIGKILL
    assert (project / "mem" / "MEMORY.md").read_bytes() == b"old\n"
    half = [name for name in names(project / "mem") if name != "MEMORY.md"]
    assert len(half) == (step in ("access", "replace") or not hasattr(os, "O_TMPFILE"))
    with Root.open(str(project)) as root:
        assert root.list_files(("mem",)) == ["MEMORY.md"]
        replace(root, MEMORY, b"next\n", expected=read(root))
    assert (project / "mem" / "MEMORY.md").read_bytes() == b"next\n"
    assert names(project / "mem") == ["MEMORY.md"]


@each_row("name", ["x" * 252 + ".md", "é" * 126 + ".md", "💡" * 63 + ".md"], fresh=True)
def test_a_file_with_the_longest_possible_name_is_replaced(project: Path, root: Root, name: str) -> None:
    parts = ("mem", name)
    assert create(root, parts, b"old\n")
    replace(root, parts, b"new\n", expected=read(root, parts))
    assert read(root, parts).data == b"new\n"
    assert names(project / "mem") == ["MEMORY.md", name]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_is_write_protected_is_left_alone(tmp_path: Path, what: str) -> None:
    (tmp_path / "mem").mkdir()
    (tmp_path / "mem" / "MEMORY.md").write_bytes(b"old\n")
    (tmp_path / "mem" / "log").write_bytes(b"old\n")
    tmp_path.chmod(0o755)
    root = Root.open(str(tmp_path))
    if what == "file":
        (tmp_path / "mem").chmod(0o777)
        (tmp_path / "mem" / "MEMORY.md").chmod(0o444)
        (tmp_path / "mem" / "log").chmod(0o444)
    else:
        (tmp_path / "mem").chmod(0o555)

    def write() -> str:
        # The folders above can only be entered by their owner, but the root is already open.
        content = read(root)
        answers = [complaint(lambda: replace(root, MEMORY, b"new\n", expected=content))]
        if what == "file":
            answers.append(complaint(lambda: append(root, ("mem", "log"), b"new\n")))
        else:
            answers.append(complaint(lambda: create(root, ("mem", "new.md"), b"new\n")))
            answers.append(complaint(lambda: append(root, ("mem", "new.md"), b"new\n")))
            answers.append(complaint(lambda: remove(root, MEMORY)))
            answers.append(complaint(lambda: make_folders(root, ("mem", "sub"))))
        return "\n".join(answers)

    answers = as_nobody(write).splitlines()
    root.close()
    (tmp_path / "mem").chmod(0o755)
    assert answers
    assert all("permission denied; " in answer for answer in answers), answers
    assert names(tmp_path / "mem") == ["MEMORY.md", "log"]
    assert (tmp_path / "mem" / "MEMORY.md").read_bytes() == (tmp_path / "mem" / "log").read_bytes() == b"old\n"


def python(script: str, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *args],
        env={**os.environ, "PYTHONPATH": PACKAGE},
        capture_output=True,
        text=True,
        check=check,
        timeout=60,
    )


# -- creating ------------------------------------------------------------------------------------------------------


def test_a_file_is_created_once(project: Path, root: Root) -> None:
    assert create(root, ("mem", "a.md"), b"first")
    assert not create(root, ("mem", "a.md"), b"second")
    assert read(root, ("mem", "a.md")).data == b"first"
    assert names(project / "mem") == ["MEMORY.md", "a.md"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((project / "mem" / "a.md").stat().st_mode) == 0o666 & ~umask


@each_row("there", ["folder", "dangling link", "link outside"], fresh=True)
def test_nothing_is_created_where_something_stands(project: Path, root: Root, there: str) -> None:
    place = project / "mem" / "a.md"
    if there == "folder":
        place.mkdir()
    else:
        place.symlink_to("none" if there == "dangling link" else project.parent / "outside" / "new.md")
    assert not create(root, ("mem", "a.md"), b"x")
    assert names(project / "mem") == ["MEMORY.md", "a.md"]


@pytest.mark.slow
def test_of_many_who_create_one_file_one_succeeds(project: Path) -> None:
    script = """
        import sys
        from agent_memory_protocol.disk.files import Root
        from agent_memory_protocol.disk.writing import create
        with Root.open(sys.argv[1]) as root:
            sys.stdin.read(1)
            print(sum(create(root, ("mem", f"{n}.md"), sys.argv[2].encode() * 5000) for n in range(50)))
    """
    writers = [start(script, str(project), str(number)) for number in range(4)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"x")
        writer.stdin.flush()
    assert sum(int(writer.communicate(timeout=60)[0]) for writer in writers) == 50
    for number in range(50):
        data = (project / "mem" / f"{number}.md").read_bytes()
        assert len(data) == 5000
        assert len(set(data)) == 1
    assert len(names(project / "mem")) == 51


def start(script: str, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *args],
        env={**os.environ, "PYTHONPATH": PACKAGE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_a_file_system_without_hard_links_will_do(project: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    assert create(root, ("mem", "a.md"), b"first")
    assert read(root, ("mem", "a.md")).data == b"first"
    with monkeypatch.context() as patch:
        patch.setattr(Root, "exists", lambda *_: False)  # it appears just after we have looked
        assert not create(root, ("mem", "a.md"), b"second")
        Fault(patch, "replace", errno.EIO)
        complaint(lambda: create(root, ("mem", "b.md"), b"x"))
    assert names(project / "mem") == ["MEMORY.md", "a.md"]


@each_row("step", ["open", "write", "fsync", "link"], fresh=True)
@each_row("number", [errno.ENOSPC, errno.EIO], fresh=True)
def test_a_failed_create_leaves_nothing(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch, step: str, number: int
) -> None:
    root.folder(("mem",))
    with monkeypatch.context() as patch:
        Fault(patch, step, number)
        message = complaint(lambda: create(root, ("mem", "a.md"), b"x"))
    assert message == f"mem/a.md: not written: {FAULTS[number]}"
    assert names(project / "mem") == ["MEMORY.md"]
    assert create(root, ("mem", "a.md"), b"x")


def test_without_its_folder_nothing_is_created(root: Root) -> None:
    for action in (lambda: create(root, ("no", "a.md"), b"x"), lambda: append(root, ("no", "a.md"), b"x\n")):
        assert complaint(action) == "no/a.md: not written: its folder has gone; make it again"


# -- folders -------------------------------------------------------------------------------------------------------


def test_missing_folders_are_made(project: Path, root: Root) -> None:
    parts = (".scaffolding", "agent-memory", "agents", "José")
    make_folders(root, parts)
    make_folders(root, parts)
    assert project.joinpath(*parts).is_dir()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((project / ".scaffolding").stat().st_mode) == 0o777 & ~umask


def test_folders_are_made_behind_links_that_stay_inside(project: Path, root: Root) -> None:
    (project / "link").symlink_to("mem")
    make_folders(root, ("link", "a", "b"))
    assert (project / "mem" / "a" / "b").is_dir()


@each_row("target", ["../outside", "none", "self"], fresh=True)
def test_no_folder_is_made_behind_a_bad_link(project: Path, root: Root, target: str) -> None:
    (project / "self").symlink_to(target)
    complaint(lambda: make_folders(root, ("self", "a")), DamagedFile)


def test_a_file_in_a_folders_place_stays(project: Path, root: Root) -> None:
    (project / ".scaffolding").write_bytes(b"x")
    message = complaint(lambda: make_folders(root, (".scaffolding", "agent-memory")))
    assert message.startswith(".scaffolding: ")
    assert "there is a file where a folder should be" in message


def test_a_full_disk_makes_no_folder(project: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    Fault(monkeypatch, "mkdir", errno.ENOSPC)
    assert complaint(lambda: make_folders(root, ("a", "b"))) == (
        "a: the folder was not created: the disk is full; free some space and try again"
    )
    make_folders(root, ("a", "b"))


@pytest.mark.slow
def test_folders_made_by_two_at_once_are_there(project: Path) -> None:
    barrier = threading.Barrier(8)
    failures: list[StorageError] = []

    def make() -> None:
        with Root.open(str(project)) as root:
            barrier.wait()
            try:
                for number in range(100):
                    make_folders(root, ("a", str(number), "b"))
            except StorageError as error:
                failures.append(error)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(list((project / "a").glob("*/b"))) == 100


def test_the_local_folder_keeps_itself_out_of_git(project: Path, root: Root) -> None:
    assert make_local_folder(root, "locks") == (".scaffolding", ".amp", "locks")
    assert make_local_folder(root) == (".scaffolding", ".amp")
    assert (project / ".scaffolding" / ".amp" / ".gitignore").read_bytes() == b"*\n"
    assert (project / ".scaffolding" / ".amp" / "locks").is_dir()


# -- appending -----------------------------------------------------------------------------------------------------


def test_lines_are_appended_and_the_file_is_created_first(project: Path, root: Root) -> None:
    append(root, LOG, b"one\n")
    append(root, LOG, b"two\nthree\n")
    assert read(root, LOG).data == b"one\ntwo\nthree\n"


def test_a_line_after_a_torn_one_starts_afresh(project: Path, root: Root) -> None:
    (project / "mem" / "ledger.jsonl").write_bytes(b'{"a": 1}\n{"b": ')
    append(root, LOG, b'{"c": 3}\n')
    assert read(root, LOG).data == b'{"a": 1}\n{"b": \n{"c": 3}\n'


def test_a_line_is_written_in_one_call(project: Path, root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "mem" / "ledger.jsonl").write_bytes(b"torn")
    writes = []
    real = os.write

    def write(fd: int, data: bytes) -> int:
        writes.append(bytes(data))
        return real(fd, data)

    monkeypatch.setattr(os, "write", write)
    append(root, LOG, b"x" * 100_000 + b"\n")
    assert writes == [b"\n" + b"x" * 100_000 + b"\n"]


def test_a_line_without_its_end_is_refused(project: Path, root: Root) -> None:
    complaint(lambda: append(root, LOG, b"x"), InvalidArgument)
    assert names(project / "mem") == ["MEMORY.md"]


def test_a_line_is_appended_through_a_link_that_stays_inside(project: Path, root: Root) -> None:
    (project / "real.jsonl").write_bytes(b"one\n")
    (project / "mem" / "ledger.jsonl").symlink_to("../real.jsonl")
    append(root, LOG, b"two\n")
    assert (project / "real.jsonl").read_bytes() == b"one\ntwo\n"


@each_row("there", ["folder", "pipe", "link outside", "dangling link"], fresh=True)
def test_nothing_is_appended_to_what_is_no_file(project: Path, root: Root, there: str) -> None:
    place = project / "mem" / "ledger.jsonl"
    if there == "folder":
        place.mkdir()
    elif there == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("../../outside/secret.md" if there == "link outside" else "../../outside/none.md")
    complaint(lambda: append(root, LOG, b"x\n"), DamagedFile)


@each_row("existing", [None, b"", b"one\n", b"one\ntorn"], fresh=True)
@each_row("step", ["open", "write", "short write", "fsync"], fresh=True)
def test_a_failed_append_leaves_the_file_as_it_was(
    project: Path, monkeypatch: pytest.MonkeyPatch, step: str, existing: bytes | None
) -> None:
    file = project / "mem" / "ledger.jsonl"
    if existing is not None:
        file.write_bytes(existing)
    with Root.open(str(project)) as root:
        root.folder(("mem",))
        before = open_descriptors()
        real = os.write
        with monkeypatch.context() as patch:
            if step == "short write":
                patch.setattr(os, "write", lambda fd, data: real(fd, data[:4]))
            else:
                Fault(patch, step, errno.ENOSPC)
            message = complaint(lambda: append(root, LOG, b"a new line\n"))
        assert message == f"mem/ledger.jsonl: not written: {FAULTS[errno.ENOSPC]}"
        assert (file.read_bytes() if file.exists() else None) == existing
        assert open_descriptors() == before
        append(root, LOG, b"next\n")
    assert file.read_bytes().splitlines()[-1] == b"next"


def test_a_confirmed_line_stays_whatever_closing_says(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    root.folder(("mem",))
    Fault(monkeypatch, "close", errno.EIO)
    append(root, LOG, b"one\n")
    assert read(root, LOG).data == b"one\n"


def test_a_half_line_that_cannot_be_taken_back_is_reported(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "mem" / "ledger.jsonl").write_bytes(b"one\n")
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: real(fd, data[:4]))
        Fault(patch, "ftruncate", errno.EIO)
        message = complaint(lambda: append(root, LOG, b"a new line\n"))
    assert message == (
        "mem/ledger.jsonl: not confirmed, 4 new bytes may be at its end:"
        " the disk is full; free some space and try again"
    )
    append(root, LOG, b"next\n")
    assert read(root, LOG).data == b"one\na ne\nnext\n"


def test_what_others_appended_meanwhile_is_never_cut_off(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / "mem" / "ledger.jsonl"
    file.write_bytes(b"one\n")
    real = os.write

    def interrupted(fd: int, data: bytes) -> int:
        written = real(fd, data[:4])
        with file.open("ab") as other:
            other.write(b"\ntheirs\n")
        return written

    monkeypatch.setattr(os, "write", interrupted)
    complaint(lambda: append(root, LOG, b"a new line\n"))
    assert file.read_bytes() == b"one\na ne\ntheirs\n"


@pytest.mark.slow
def test_eight_processes_append_fifty_lines_each_and_none_is_lost(project: Path) -> None:
    script = """
        import sys
        from agent_memory_protocol.disk.files import Root
        from agent_memory_protocol.disk.writing import append
        with Root.open(sys.argv[1]) as root:
            sys.stdin.read(1)
            for number in range(50):
                append(root, ("mem", "ledger.jsonl"), f"{sys.argv[2]}-{number} ".encode() * 50 + b"\\n")
    """
    writers = [start(script, str(project), str(number)) for number in range(8)]
    for writer in writers:
        writer.communicate(b"x", timeout=60)
        assert writer.returncode == 0
    lines = (project / "mem" / "ledger.jsonl").read_text().splitlines()
    assert sorted(lines) == sorted(f"{w}-{n} " * 50 for w in range(8) for n in range(50))


# -- removing ------------------------------------------------------------------------------------------------------


def test_a_file_is_removed_once(project: Path, root: Root) -> None:
    assert remove(root, MEMORY)
    assert not remove(root, MEMORY)
    assert not remove(root, ("no", "x.md"))
    assert names(project / "mem") == []


def test_of_a_link_only_the_link_is_removed(project: Path, root: Root) -> None:
    (project / "a.md").symlink_to("mem/MEMORY.md")
    (project / "b.md").symlink_to("../outside/secret.md")
    assert remove(root, ("a.md",))
    assert remove(root, ("b.md",))
    assert names(project / "mem") == ["MEMORY.md"]


def test_a_folder_is_not_removed(project: Path, root: Root) -> None:
    assert complaint(lambda: remove(root, ("mem",))).startswith("mem: not removed: ")
    assert names(project / "mem") == ["MEMORY.md"]


# -- links swapped under a write -----------------------------------------------------------------------------------


def swap(project: str, stop: Any) -> None:
    """Put, in one step and again and again, links that lead outside in the places of a folder and of a file."""
    os.chdir(project)
    os.symlink("../outside", "folder-link")
    os.symlink("../../outside/secret.md", "file-link")
    libc = ctypes.CDLL(None, use_errno=True)
    while not stop.is_set():
        for place, link in ((b"mem", b"folder-link"), (b"mem/secret.md", b"file-link")):
            for _ in ("there", "back"):
                libc.renameat2(AT_FDCWD, place, AT_FDCWD, link, RENAME_EXCHANGE)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="swaps in one step with a call of Linux")
def test_a_link_swapped_in_under_a_write_never_leads_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sized: Callable[[int, int, int], int]
) -> None:
    if not walk.USE_DESCRIPTORS:
        pytest.skip("promised only where the system has descriptors for folders")
    monkeypatch.setattr(os, "fsync", lambda _: None)  # thousands of them take minutes
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"secret\n")
    project = tmp_path / "project"
    (project / "mem").mkdir(parents=True)
    (project / "mem" / "secret.md").write_bytes(b"own\n")
    (project / "mem" / "log").write_bytes(b"own\n")
    processes = multiprocessing.get_context("fork")
    stop = processes.Event()
    attacker = processes.Process(target=swap, args=(str(project), stop))
    attacker.start()
    outcomes = {"done": 0, "refused": 0}
    try:
        rounds = sized(500, 3000, 3000)
        for number in range(20 * rounds):
            # A busy machine may give the attacker no turn for a while.
            if number >= rounds and min(outcomes.values()) > 20:
                break
            with Root.open(str(project)) as root:
                for action in (read_it, rewrite, add, create_and_remove, make_subfolder):
                    try:
                        action(root, ("mem", f"{number}.md" if action is create_and_remove else "secret.md"))
                    except StorageError:
                        outcomes["refused"] += 1
                    else:
                        outcomes["done"] += 1
    finally:
        stop.set()
        attacker.join(10)
    assert names(outside) == ["secret.md"]
    assert (outside / "secret.md").read_bytes() == b"secret\n"
    assert min(outcomes.values()) > 20, outcomes


def read_it(root: Root, parts: tuple[str, ...]) -> Content | None:
    content = root.read(parts)
    assert content is None or content.data != b"secret\n"
    return content


def rewrite(root: Root, parts: tuple[str, ...]) -> None:
    content = read_it(root, parts)
    if content is not None:
        replace(root, parts, b"mine\n", expected=content)


def add(root: Root, parts: tuple[str, ...]) -> None:
    append(root, parts, b"mine\n")


def create_and_remove(root: Root, parts: tuple[str, ...]) -> None:
    if create(root, parts, b"mine\n"):
        remove(root, parts)


def make_subfolder(root: Root, parts: tuple[str, ...]) -> None:
    make_folders(root, (*parts[:-1], "sub"))


@each_row("mode", [0o600, 0o666], fresh=True)
def test_a_new_file_never_allows_more_than_it_should(project: Path, root: Root, mode: int, monkeypatch) -> None:
    seen: list[int] = []
    fsync = os.fsync

    def seeing(fd: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(fd).st_mode))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", seeing)
    old = os.umask(0)
    try:
        assert create(root, ("mem", "new.key"), b"secret", mode=mode)
    finally:
        os.umask(old)
    assert seen[0] == stat.S_IMODE((project / "mem" / "new.key").stat().st_mode) == mode


def test_what_killed_writers_left_in_a_folder_is_removed_and_nothing_else(project: Path, root: Root) -> None:
    for name in (".MEMORY.md.0123456789abcdef.amp-tmp", ".tmp-x", ".tmp-y", "tmp-z", "x.amp-tmp.md"):
        (project / "mem" / name).write_bytes(b"x")
    (project / "mem" / "folder.amp-tmp").mkdir()
    assert remove_leftovers(root, ("mem",), ".tmp-") == 3
    assert remove_leftovers(root, ("mem",)) == 0
    assert sorted(os.listdir(project / "mem")) == ["MEMORY.md", "folder.amp-tmp", "tmp-z", "x.amp-tmp.md"]
    with pytest.raises(StorageError):
        remove_leftovers(root, ("gone",))


def test_a_writer_whose_half_written_file_is_swept_away_is_told_to_start_over(
    project: Path, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = root.read(MEMORY)
    assert content is not None
    put = os.replace

    def sweeping(*args: Any, **where: Any) -> None:
        remove_leftovers(root, MEMORY[:-1])
        put(*args, **where)

    monkeypatch.setattr(os, "replace", sweeping)
    complaint(lambda: replace(root, MEMORY, b"mine\n", expected=content), ChangedMeanwhile)
    assert (project / "mem" / "MEMORY.md").read_bytes() == content.data


def killed_at(step: str, project: Path, before: str = "") -> None:
    """Create `mem/killed.md` in a process that is killed when it comes to a step."""
    script = f"""
        import os, signal, sys
        from agent_memory_protocol.disk.files import Root
        from agent_memory_protocol.disk.writing import create
        {before}
        setattr(os, sys.argv[2], lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL))
        with Root.open(sys.argv[1]) as root:
            create(root, ("mem", "killed.md"), b"half")
    """
    assert python(script, str(project), step, check=False).returncode == -signal.SIGKILL


@pytest.mark.skipif(os.name != "posix", reason="who is at work is asked of POSIX")
def test_what_a_killed_writer_left_goes_with_the_next_write_of_any_file_there(project: Path, root: Root) -> None:
    killed_at("fsync", project, "if hasattr(os, 'O_TMPFILE'): del os.O_TMPFILE")
    (left,) = (project / "mem").glob("*.amp-tmp")
    at_work = left.with_name(f".x.{writing.writer_mark()}.amp-tmp")
    at_work.touch()
    create(root, ("mem", "other.md"), b"whole")
    assert not left.exists()
    assert at_work.exists()


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux has files without a name")
@each_row("step", ["write", "fsync", "link"], fresh=True)
def test_a_new_file_has_no_name_before_it_is_whole(project: Path, step: str) -> None:
    killed_at(step, project)
    assert names(project / "mem") == ["MEMORY.md"]


@each_row("number", [errno.EPERM, errno.ENOENT, errno.EOPNOTSUPP], fresh=True)
@each_row("step", ["open", "link"], fresh=True)
def test_a_system_without_files_that_have_no_name_will_do(project: Path, root: Root, monkeypatch, step, number) -> None:
    folder = root.folder(("mem",))
    with monkeypatch.context() as patch:
        if folder is not None and folder.fd is not None and (step, number) != ("open", errno.EPERM):
            Fault(patch, step, number)
        assert create(root, ("mem", "a.md"), b"x")
        replace(root, MEMORY, b"new", expected=read(root))
    assert names(project / "mem") == ["MEMORY.md", "a.md"]
    assert (project / "mem" / "MEMORY.md").read_bytes() == b"new"
