"""`MemoryFile` on a real disk, among real processes: what was acknowledged is there, whole, whatever happens."""

import errno
import multiprocessing
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agent_memory_protocol.disk import lock
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.disk.writing import append
from agent_memory_protocol.errors import InvalidArgument, LockBusy, Refused, RefusedText, StorageError
from agent_memory_protocol.formats import jsonl_file
from agent_memory_protocol.formats.jsonl import EntryLine, HeaderLine, UnreadableLine, encode, parse_file, parse_line
from agent_memory_protocol.formats.jsonl_file import MemoryFile
from agent_memory_protocol.formats.jsonl_view import compacted

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "tests" / "data" / "jsonl"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
processes = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.jsonl"


@pytest.fixture
def memory(path: Path) -> MemoryFile:
    return MemoryFile.open(path)


def texts(memory: MemoryFile, scope: str | None = None, now: datetime = NOW) -> list[str]:
    return [entry.text for entry in memory.view(now, scope).entries]


def lines_of(path: Path) -> list[object]:
    return list(parse_file([path.read_bytes()]))


def litter(path: Path) -> list[str]:
    return sorted(name for name in os.listdir(path.parent) if name != path.name)


@pytest.mark.requirement("S0-01", "S0-02", "S0-05", "S0-18")
def test_opening_and_reading_create_nothing_and_the_first_append_creates_the_file(memory, path):
    assert memory.view().entries == ()
    assert memory.view().warnings == ()
    assert memory.to_prompt() == ""
    assert memory.compact().kept == 0
    with pytest.raises(RefusedText):
        memory.append("two\nlines", kind="fact")
    with pytest.raises(InvalidArgument):
        memory.delete("3f9a1c2b7d10")
    assert os.listdir(path.parent) == []

    entry = memory.append("First.", kind="fact", now=NOW)
    assert path.read_bytes() == (
        b'{"format":"agent-memory/0.1","created_at":"2026-11-15T12:00:00Z"}\n'
        b'{"id":"%s","kind":"fact","text":"First.","scope":"global","tags":[],"source":null,"confidence":0.7,'
        b'"expires_at":null,"supersedes":null,"created_at":"2026-11-15T12:00:00Z"}\n' % entry.id.encode()
    )
    assert len(entry.id) == 12
    assert int(entry.id, 16) >= 0
    assert litter(path) == []


@pytest.mark.requirement("S0-07", "S0-12", "S0-13", "S0-14", "S0-15", "S0-17")
def test_an_entry_is_returned_as_it_will_be_read(memory, path):
    old = memory.append("Old.", kind="fact", now=NOW)
    written = [
        memory.append("Inferred.", kind="lesson", now=NOW),
        memory.append("Said.", kind="preference", source="user", now=NOW),
        memory.append(
            "Everything.",
            kind="avoid",
            scope="project:harbor",
            tags=["one", "two"],
            source="https://harbor.example",
            confidence=0.25,
            expires_at=NOW + timedelta(days=1),
            supersedes=old.id,
            now=NOW,
        ),
    ]
    assert list(memory.view(NOW).entries) == written
    assert [entry.confidence for entry in written] == [0.7, 1.0, 0.25]
    assert written[2].expires_at == "2026-11-16T12:00:00Z"
    assert memory.view(NOW, "project:other").entries == tuple(written[:2])
    with pytest.raises(InvalidArgument, match="not one text"):
        memory.append("Tags.", kind="fact", tags="one")


def test_what_is_superseded_is_there_and_the_user_is_overruled_by_nobody_else(memory, path):
    old = memory.append("Old.", kind="fact", now=NOW)
    said = memory.append("Said.", kind="fact", source="user", now=NOW)
    before = Path(path).read_bytes()
    for unknown in ("0123456789ab", "zzzz", "x"):
        with pytest.raises(InvalidArgument, match="no entry"):
            memory.append("New.", kind="fact", supersedes=unknown, now=NOW)
    with pytest.raises(Refused, match="only the user's word"):
        memory.append("New.", kind="fact", supersedes=said.id, now=NOW)
    assert Path(path).read_bytes() == before
    assert memory.append("New.", kind="fact", supersedes=old.id[:6], now=NOW).supersedes == old.id
    again = memory.append("Said again.", kind="fact", source="user", supersedes=said.id, now=NOW)
    memory.delete(memory.append("Wrong.", kind="fact", now=NOW).id, now=NOW)
    before = Path(path).read_bytes()
    for retired, source in ((old, None), (said, "user"), (said, None)):
        with pytest.raises(InvalidArgument, match=r"superseded by [0-9a-f]{12} already"):
            memory.append("New.", kind="fact", source=source, supersedes=retired.id, now=NOW)
    assert Path(path).read_bytes() == before
    assert again.supersedes == said.id
    assert [entry.text for entry in memory.view(NOW).entries] == ["New.", "Said again."]


@pytest.mark.requirement("S0-22", "S0-25", "S0-26", "S0-33", "S0-34", "S0-35")
def test_the_sample_file_reads_as_the_specification_says(tmp_path):
    memory = MemoryFile.open(DATA / "sample.jsonl")
    view = memory.view(NOW)
    assert view.warnings == ()
    assert [entry.id for entry in view.entries] == ["3f9a1c2b7d10", "5b1f0c9e2a44", "9c40be17f605", "0d2e6b7c8f91"]
    assert view.entries[2].extra == {"reviewed_by": "ana"}
    assert memory.to_prompt("project:harbor", now=NOW).splitlines()[2:-1] == [
        "preference:",
        "- Answer in British English.",
        "fact:",
        "- Staging runs PostgreSQL 16. (project:harbor)",
        "avoid:",
        "- Do not deploy during the freeze.",
    ]
    assert "freeze" not in memory.to_prompt(now=NOW + timedelta(days=6))


@pytest.mark.requirement("S0-20", "S0-35")
def test_a_damaged_file_gives_its_whole_lines_one_report_each_and_takes_the_next_on_a_fresh_line(path, memory):
    path.write_bytes((DATA / "damaged.jsonl").read_bytes())
    before = path.read_bytes()
    assert texts(memory) == ["Good one.", "Good two."]
    warnings = [str(notice) for notice in memory.view(NOW).warnings]
    assert [warning.split(":")[0] for warning in warnings] == ["line 3", "line 4", "line 5", "line 7"]
    assert "torn off" in warnings[3]

    memory.append("New.", kind="fact", now=NOW)
    assert path.read_bytes().startswith(before + b"\n{")
    assert texts(memory) == ["Good one.", "Good two.", "New."]

    done = memory.compact(NOW)
    assert (done.kept, done.dropped) == (3, 2)
    assert [notice.line for notice in done.unreadable] == [5, 7]
    assert texts(memory) == ["Good one.", "Good two.", "New."]
    after = path.read_bytes()
    assert after.startswith(before.splitlines(keepends=True)[0])
    for lost in (b'{"id":"x","kin\n', b'"text":"Cut in ha\n'):
        assert lost in after


@pytest.mark.requirement("S0-19", "S0-20", "S0-24")
def test_deleting_adds_a_tombstone_and_adding_the_text_again_is_visible(memory, path):
    first = memory.append("Use pnpm.", kind="fact", now=NOW)
    before = path.read_bytes()
    tombstone = memory.delete(first.id, now=NOW)
    assert path.read_bytes() == before + encode(tombstone)
    assert texts(memory) == []
    with pytest.raises(InvalidArgument, match="is deleted already"):
        memory.delete(first.id)
    with pytest.raises(InvalidArgument, match="has no entry 'nowhere'"):
        memory.delete("nowhere")

    memory.append("Use pnpm.", kind="fact", now=NOW)
    assert texts(memory) == ["Use pnpm."]
    memory.compact(NOW)
    assert texts(memory) == ["Use pnpm."]
    assert len(path.read_bytes().splitlines()) == 2


@pytest.mark.requirement("S0-25")
def test_deleting_a_successor_does_not_bring_back_what_it_replaced(memory):
    first = memory.append("Old.", kind="fact", now=NOW)
    second = memory.append("New.", kind="fact", supersedes=first.id, now=NOW)
    memory.delete(second.id, now=NOW)
    assert texts(memory) == []
    memory.compact(NOW)
    assert texts(memory) == []


@pytest.mark.requirement("S0-18", "S0-23", "S0-24")
def test_a_clock_that_goes_back_changes_no_order(memory, path):
    first = memory.append("First.", kind="fact", now=NOW)
    year = timedelta(days=365)
    memory.append("Second.", kind="fact", now=NOW - year)
    memory.append("Third.", kind="fact", now=NOW + 10 * year)
    memory.append("Fourth.", kind="fact", now=NOW)
    assert texts(memory, now=NOW - year) == ["First.", "Second.", "Third.", "Fourth."]
    memory.delete(first.id, now=NOW - year)
    assert texts(memory) == ["Second.", "Third.", "Fourth."]
    stamps = [line.created_at for line in lines_of(path)]  # type: ignore[attr-defined]
    assert stamps == sorted(stamps)


def test_the_latest_stamp_is_found_behind_a_long_damaged_tail(memory, path):
    memory.append("First.", kind="fact", now=NOW)
    with path.open("ab") as file:
        file.write(b"x" * 50_000 + b"\n" + b"y\n" * 1000)
    assert memory.append("Second.", kind="fact", now=NOW - timedelta(days=9)).created_at == "2026-11-15T12:00:00Z"


@pytest.mark.requirement("S0-01", "S0-35")
@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b'{"format":"agent-memory/0.2","created_at":"2026-11-09T07:50:00Z"}\n', []),
        (encode(EntryLine("a", "fact", "No header.", created_at="2026-11-09T07:50:00Z")), ["No header."]),
        (b"hello\n", []),
        (b"   \n", []),
        (b'{"format":"agent-mem\n', []),
        (b"\xff\xfe{\x00", []),
        (b"<<<<<<< HEAD\n" + encode(HeaderLine("agent-memory/0.1")), []),
    ],
    ids=["foreign", "missing", "text", "blank", "torn-but-ended", "utf-16", "conflict"],
)
def test_a_file_without_a_known_header_is_read_and_never_written(memory, path, data, read):
    path.write_bytes(data)
    assert texts(memory) == read
    assert memory.view().warnings
    for write in (lambda: memory.append("New.", kind="fact"), lambda: memory.delete("a"), memory.compact):
        with pytest.raises(Refused, match=r"memory\.jsonl is not an agent-memory/0\.1 file"):
            write()
    assert path.read_bytes() == data
    assert litter(path) == []


@pytest.mark.parametrize("data", [b"", b"{", b'{"format":"agent-memory/0.1","crea', b'{"format":"agent-memory/0.1"'])
def test_a_file_whose_creator_was_stopped_within_the_header_is_begun_anew(memory, path, data):
    path.write_bytes(data)
    memory.append("New.", kind="fact", now=NOW)
    assert texts(memory) == ["New."]
    assert memory.view(NOW).warnings == ()


@pytest.mark.requirement("S0-35")
@pytest.mark.parametrize("ending", [b"", b"\n"], ids=["no-final-newline", "final-newline"])
def test_foreign_spelling_is_read_and_left_as_it_is(memory, path, ending):
    data = (DATA / "sample.jsonl").read_bytes().replace(b"\n", b"\r\n").rstrip() + ending
    path.write_bytes(b"\xef\xbb\xbf" + data)
    assert len(texts(memory)) == 4
    assert memory.view(NOW).warnings == ()
    memory.append("New.", kind="fact", now=NOW)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf" + data)
    memory.compact(NOW)
    assert len(texts(memory)) == 5
    assert b'"reviewed_by": "ana"}\r\n' in path.read_bytes()


@pytest.mark.slow
@pytest.mark.requirement("S0-35")
def test_a_file_cut_at_any_byte_gives_every_whole_line_and_takes_the_next(tmp_path, sized):
    path = tmp_path / "memory.jsonl"
    memory = MemoryFile.open(path)
    for number in range(3):
        memory.append(f"Entry {number} — é.", kind="fact", now=NOW)
    data = path.read_bytes()
    ends = [position for position, byte in enumerate(data) if byte == 10]
    for cut in range(0, len(data), sized(5, 1, 1)):
        path.write_bytes(data[:cut])
        # A line is whole once its closing brace stands; the newline may still be missing.
        whole = sum(cut >= end for end in ends)
        inside = cut not in (0, *ends, *(end + 1 for end in ends))
        if ends[0] < cut or not inside:
            assert texts(memory) == [f"Entry {number} — é." for number in range(max(0, whole - 1))]
        assert len(memory.view(NOW).warnings) == (inside if whole else 2 * inside)
        memory.append("Next.", kind="fact", now=NOW)
        assert texts(memory) == [f"Entry {number} — é." for number in range(max(0, whole - 1))] + ["Next."]
        assert path.read_bytes().endswith(b"}\n")
        assert whole == 0 or path.read_bytes().startswith(data[:cut])


@pytest.mark.slow
@pytest.mark.requirement("S0-35")
def test_flipped_bits_damage_only_the_lines_they_hit(tmp_path):
    path = tmp_path / "memory.jsonl"
    memory = MemoryFile.open(path)
    written = [memory.append(f"Entry {number}.", kind="fact", now=NOW) for number in range(12)]
    pristine = path.read_bytes().splitlines(keepends=True)
    chance = random.Random(11)
    for _ in range(400):
        damaged = list(pristine)
        hit = chance.sample(range(1, 13), chance.randint(1, 3))
        for number in hit:
            line = bytearray(damaged[number])
            line[chance.randrange(len(line) - 1)] ^= 1 << chance.randrange(8)
            damaged[number] = bytes(line)
        path.write_bytes(b"".join(damaged))
        view = memory.view(NOW)
        untouched = {entry.id for number, entry in enumerate(written, 1) if number not in hit}
        assert untouched <= {entry.id for entry in view.entries} | {entry.supersedes for entry in view.entries}
        # A flip can make a newline and so two lines of one, or leave a line that still reads.
        expected = [line for line in parse_file([path.read_bytes()]) if isinstance(line, UnreadableLine)]
        assert [notice.line for notice in view.warnings if notice.line] == [line.line for line in expected]
        memory.append("Next.", kind="fact", now=NOW)
        assert isinstance(parse_line(path.read_bytes().splitlines()[-1], 1), EntryLine)


def _append_many(path: str, name: str, count: int) -> None:
    memory = MemoryFile.open(path)
    for number in range(count):
        memory.append(f"{name} {number}", kind="fact")


def _compact_many(path: str, until: str) -> None:
    """Compact a file, which has something to drop each time, until an entry is in it."""
    memory = MemoryFile.open(path)
    while until not in texts(memory):
        memory.delete(memory.append("Doomed.", kind="fact").id)
        memory.compact()


def _run(*jobs: tuple[object, ...]) -> None:
    running = [processes.Process(target=job[0], args=job[1:]) for job in jobs]  # type: ignore[arg-type]
    for process in running:
        process.start()
    for process in running:
        process.join(120)
    assert [process.exitcode for process in running] == [0] * len(running)


@pytest.mark.slow
@pytest.mark.requirement("S0-20", "S0-21")
def test_eight_processes_that_append_at_once_leave_whole_lines_under_one_header(memory, path, sized):
    each = sized(8, 20, 50)
    _run(*((_append_many, str(path), f"writer-{name}", each) for name in range(8)))
    header, *lines = path.read_bytes().split(b"\n")
    assert isinstance(parse_line(header, 1), HeaderLine)
    assert lines.pop() == b""
    assert all(isinstance(parse_line(line, 2), EntryLine) for line in lines)
    assert sorted(texts(memory)) == sorted(f"writer-{name} {number}" for name in range(8) for number in range(each))
    assert memory.view().warnings == ()
    assert litter(path) == []


@pytest.mark.slow
@pytest.mark.requirement("S0-27", "S0-28")
def test_appends_beside_compactions_that_each_replace_the_file_are_all_there(memory, path, sized):
    count = sized(40, 100, 200)
    memory.append("First.", kind="fact")
    _run((_append_many, str(path), "kept", count), (_compact_many, str(path), f"kept {count - 1}"))
    memory.compact()
    assert sorted(texts(memory)) == sorted(["First.", *(f"kept {number}" for number in range(count))])
    assert len(path.read_bytes().splitlines()) == count + 2
    assert isinstance(lines_of(path)[0], HeaderLine)
    assert litter(path) == []


@pytest.mark.requirement("S0-28")
def test_who_waits_while_the_file_is_replaced_writes_under_the_lock_of_the_new_one(memory, path, monkeypatch):
    """Else the next compaction could run beside it, and lose its line."""
    memory.delete(memory.append("Gone.", kind="fact").id)
    waits = threading.Event()
    is_free: list[bool] = []
    really_take = lock.take

    def take(fd: int) -> bool:
        taken = really_take(fd)
        if not taken:
            waits.set()
        return taken

    def write(root: Root, parts: tuple[str, ...], data: bytes) -> None:
        fd = os.open(path, os.O_RDWR)
        is_free.append(really_take(fd))
        os.close(fd)
        append(root, parts, data)

    monkeypatch.setattr(lock, "take", take)
    monkeypatch.setattr(jsonl_file, "append", write)
    with ThreadPoolExecutor(1) as pool:
        with memory._locked(NOW) as (root, parts, _):
            waiting = pool.submit(memory.append, "New.", kind="fact")
            assert waits.wait(10)
            assert jsonl_file._compact(root, parts, NOW).dropped == 2
        waiting.result(10)
    assert is_free == [False]
    assert texts(memory) == ["New."]


@pytest.mark.requirement("S0-28")
def test_compacting_starts_over_when_a_foreign_writer_appends_meanwhile(memory, path, monkeypatch):
    entry = memory.append("Gone.", kind="fact", now=NOW)
    memory.delete(entry.id, now=NOW)
    foreign = encode(EntryLine("f", "fact", "Foreign.", created_at="2026-11-15T12:00:00Z"))
    original = compacted
    calls = []

    def interrupted(data, now):
        calls.append(1)
        if len(calls) < 3:
            with path.open("ab") as file:
                file.write(foreign)
        return original(data, now)

    monkeypatch.setattr(jsonl_file, "compacted", interrupted)
    memory.compact(NOW)
    assert len(calls) == 3
    assert texts(memory) == ["Foreign."]


@pytest.mark.requirement("S0-27")
def test_a_ledger_is_never_compacted(tmp_path):
    named = MemoryFile.open(tmp_path / "ledger.jsonl")
    marked = MemoryFile.open(tmp_path / "marked.jsonl")
    (tmp_path / "marked.jsonl").write_bytes(encode(HeaderLine("agent-memory/0.1", None, {"ledger": True})))
    (tmp_path / "link.jsonl").symlink_to("ledger.jsonl")
    for memory in (named, marked):
        entry = memory.append("Remember.", kind="fact", now=NOW)
        memory.delete(entry.id, now=NOW)
        data = Path(memory.path).read_bytes()
        with pytest.raises(Refused, match="is a ledger and is never compacted"):
            memory.compact(NOW)
        assert Path(memory.path).read_bytes() == data
    with pytest.raises(Refused, match="is a ledger"):
        MemoryFile.open(tmp_path / "link.jsonl").compact(NOW)


@pytest.mark.requirement("S0-27")
def test_compacting_keeps_mode_and_link_and_does_nothing_when_there_is_nothing_to_drop(tmp_path):
    real = tmp_path / "real" / "memory.jsonl"
    real.parent.mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    memory = MemoryFile.open(str(link))
    entry = memory.append("Gone.", kind="fact", now=NOW)
    memory.append("Kept.", kind="fact", now=NOW)
    memory.delete(entry.id, now=NOW)
    real.chmod(0o640)
    assert memory.compact(NOW).dropped == 2
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    inode = real.stat().st_ino
    assert memory.compact(NOW).dropped == 0
    assert real.stat().st_ino == inode


_VICTIM = """
import sys
from agent_memory_protocol.formats.jsonl_file import MemoryFile
from agent_memory_protocol.formats.jsonl_view import compacted
memory = MemoryFile.open(sys.argv[1])
number = 0
while True:
    print(memory.append(f"Entry {number}.", kind="fact").id, flush=True)
    number += 1
    if number % 7 == 0:
        memory.compact()
"""


@pytest.mark.slow
@pytest.mark.requirement("S0-21", "S0-35")
@pytest.mark.parametrize("rounds", [40, pytest.param(300, marks=pytest.mark.long)])
def test_a_writer_killed_at_any_moment_has_lost_nothing_it_acknowledged(memory, path, rounds):
    acknowledged: list[str] = []
    chance = random.Random(7)
    for _ in range(rounds):
        victim = subprocess.Popen(
            [sys.executable, "-c", _VICTIM, str(path)], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
        )
        assert victim.stdout is not None
        acknowledged.append(victim.stdout.readline().strip())
        time.sleep(chance.random() * 0.05)
        victim.send_signal(signal.SIGKILL)
        # The last line may be cut: an id that was not printed whole was not acknowledged.
        acknowledged += [line.strip() for line in victim.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        victim.stdout.close()
        victim.wait()
        assert set(acknowledged) <= {entry.id for entry in memory.view().entries}
        memory.append("After.", kind="fact")
    memory.append("Last.", kind="fact")
    memory.delete(memory.append("Gone.", kind="fact").id)
    memory.compact()
    assert set(acknowledged) <= {entry.id for entry in memory.view().entries}
    assert litter(path) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT], ids=errno.errorcode.get)
@pytest.mark.parametrize("call", ["write", "short-write", "fsync"])
def test_a_disk_that_fails_acknowledges_nothing_and_leaves_the_old_bytes(memory, path, monkeypatch, call, code):
    memory.append("Before.", kind="fact", now=NOW)
    before = path.read_bytes()
    real_write = os.write

    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        if call == "short-write":
            patch.setattr(os, "write", lambda fd, data: real_write(fd, bytes(data)[: len(data) // 2]))
        else:
            patch.setattr(os, call, fail)
        with pytest.raises(StorageError, match=r"memory\.jsonl: not written") as caught:
            memory.append("Lost.", kind="fact", now=NOW)
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == before
    memory.append("After.", kind="fact", now=NOW)
    assert texts(memory) == ["Before.", "After."]


def test_an_append_is_one_write_to_an_appending_descriptor_and_is_synced(memory, path, monkeypatch):
    import fcntl

    memory.append("Before.", kind="fact", now=NOW)
    calls: list[tuple[str, int, int]] = []
    real_write, real_sync = os.write, os.fsync

    def write(fd: int, data: bytes) -> int:
        calls.append(("write", fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND, len(data)))
        return real_write(fd, data)

    def sync(fd: int) -> None:
        calls.append(("fsync", 0, 0))
        real_sync(fd)

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "fsync", sync)
    entry = memory.append("After.", kind="fact", now=NOW)
    assert calls == [("write", os.O_APPEND, len(encode(entry))), ("fsync", 0, 0)]


def _hold(path: str, ready: object, end: object) -> None:
    import fcntl

    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ready.set()  # type: ignore[attr-defined]
        end.wait(60)  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.requirement("S0-28")
def test_a_writer_waits_for_the_lock_then_says_who_holds_it_and_readers_never_wait(memory, path, monkeypatch):
    memory.append("Before.", kind="fact", now=NOW)
    ready, end = processes.Event(), processes.Event()
    holder = processes.Process(target=_hold, args=(str(path), ready, end))
    holder.start()
    try:
        assert ready.wait(60)
        monkeypatch.setattr("agent_memory_protocol.disk.lock.WAIT", 0.2)
        for write in (lambda: memory.append("No.", kind="fact"), lambda: memory.compact(NOW)):
            rests: list[float] = []
            with monkeypatch.context() as patch:
                patch.setattr(time, "sleep", rests.append)
                with pytest.raises(LockBusy, match=rf"another process \({holder.pid}\) has been writing"):
                    write()
            assert rests
        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", lambda seconds: pytest.fail(f"a reader waits {seconds} s"))
            assert texts(memory) == ["Before."]
    finally:
        end.set()
        holder.join(60)
    memory.append("After.", kind="fact", now=NOW)
    assert texts(memory) == ["Before.", "After."]


@pytest.mark.parametrize("name", ["", "a\0b", "folder/"])
def test_a_path_that_no_file_can_have_is_refused(tmp_path, name):
    with pytest.raises(InvalidArgument, match="cannot be the path of a memory file"):
        MemoryFile.open(name)


def test_what_is_no_file_is_named_and_nothing_hangs(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, what in (("folder", "a folder"), ("pipe", "a named pipe")):
        memory = MemoryFile.open(tmp_path / name)
        for use in (memory.view, memory.compact, lambda: memory.append("New.", kind="fact")):  # noqa: B023
            with pytest.raises(StorageError, match=f"{name}: is {what}"):
                use()
    nowhere = MemoryFile.open(tmp_path / "missing" / "memory.jsonl")
    with pytest.raises(StorageError, match="its folder does not exist"):
        nowhere.append("New.", kind="fact")


def test_a_line_that_is_too_long_is_reported_and_costs_no_other(memory, path):
    memory.append("Before.", kind="fact", now=NOW)
    with path.open("ab") as file:
        file.write(b'{"id":"' + b"x" * 5_000_000 + b"\n")
    memory.append("After.", kind="fact", now=NOW)
    assert texts(memory) == ["Before.", "After."]
    assert [str(notice) for notice in memory.view(NOW).warnings] == ["line 3: larger than 1,048,576 bytes"]
    memory.delete(memory.view(NOW).entries[0].id, now=NOW)
    assert memory.compact(NOW).unreadable[0].line == 3
    assert path.stat().st_size > 5_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed there")
@pytest.mark.parametrize("verb", ["append", "compact", "view"])
def test_a_file_in_a_folder_that_has_gone_is_refused_in_one_line(tmp_path, monkeypatch, verb):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    memory = MemoryFile.open("notes.jsonl")
    with pytest.raises(StorageError, match=r"notes\.jsonl: cannot be reached"):
        memory.append("Before.", kind="fact") if verb == "append" else getattr(memory, verb)()
