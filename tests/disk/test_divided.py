"""Work is divided where it may be, every answer is there and in order, and no process is left behind."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="work is divided on Linux, by two processors"
)

_BEGIN = """
import os, signal, sys, threading, time
from agent_memory_protocol.disk.divided import run

own = os.getpid()
signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background ignores it

def job(number, otherwise=lambda: None):
    time.sleep(0.002)
    if os.getpid() != own:
        otherwise()
    return number, os.getpid()

def outcome(jobs, **options):
    try:
        done = run(jobs, in_two=True, **options)
    except BaseException as error:
        return repr(error)
    finally:
        try:
            left = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            left = None
        assert left is None, "a process is left behind"
    assert [number for number, _ in done] == [*range(len(jobs))]
    return len({process for _, process in done})

def jobs(otherwise=lambda: None):
    return [lambda number=number: job(number, otherwise) for number in range(20)]

files = os.listdir("/proc/self/fd")
"""
_END = """
allowed = os.sched_getaffinity(0)
failed = {}
for name, case in cases.items():
    try:
        exec(case)
        assert os.listdir("/proc/self/fd") == files, "a file is left open"
    except BaseException as error:
        failed[name] = repr(error)
    os.sched_setaffinity(0, allowed)
assert not failed, failed
"""

CASES = {
    "two processes": (
        "here, there = os.pipe(), os.pipe()\n"
        "known = set()\n"
        "def meet(number):\n"
        "    # The first job of each process ends when the other one has begun its first.\n"
        "    if os.getpid() not in known:\n"
        "        known.add(os.getpid())\n"
        "        mine, other = (here, there) if os.getpid() == own else (there, here)\n"
        "        os.write(other[1], b'x'); os.read(mine[0], 1)\n"
        "    return number, os.getpid()\n"
        "assert outcome([lambda number=number: meet(number) for number in range(20)]) == 2\n"
        "for end in (*here, *there): os.close(end)"
    ),
    "one job": "assert outcome(jobs()[:1]) == 1",
    "no job": "assert outcome([]) == 0",
    "too many jobs to number": "assert outcome([lambda n=n: (n, 0) for n in range(300)]) == 1",
    "one processor": "os.sched_setaffinity(0, [min(allowed)]); assert outcome(jobs()) == 1",
    "a thread": (
        "end = threading.Event(); thread = threading.Thread(target=end.wait); thread.start()\n"
        "assert outcome(jobs()) == 1; end.set(); thread.join()"
    ),
    "the copy is killed": "assert outcome(jobs(lambda: os.kill(os.getpid(), signal.SIGKILL))) == 1",
    "the copy ends early": "assert outcome(jobs(lambda: os._exit(0))) == 1",
    "the copy fails": "assert outcome(jobs(lambda: 1 / 0)) == 1",
    "the copy is interrupted": "assert outcome(jobs(lambda: os.kill(os.getpid(), signal.SIGINT))) == 1",
    "answers that cannot be sent": (
        "done = run([lambda: time.sleep(0.002) or (lambda: 1)] * 9, in_two=True)\n"
        "assert [one() for one in done] == 9 * [1]"
    ),
    "both fail": "assert outcome([*jobs()[:9], lambda: 1 / 0]) == \"ZeroDivisionError('division by zero')\"",
    "an interrupt": (
        "assert outcome([*jobs()[:9], lambda: os.kill(own, signal.SIGINT), *jobs()[:9]]) == 'KeyboardInterrupt()'"
    ),
    "no process can be started": (
        "fork = os.fork; os.fork = lambda: os.open('/missing', 0); assert outcome(jobs()) == 1; os.fork = fork"
    ),
    "report": (
        "told = []; outcome(jobs(), report=lambda *one: told.append(one))\n"
        "assert told[-1] == (1, 1) and told[:-1] == sorted(told[:-1]) and {jobs for _, jobs in told[:-1]} == {20}"
    ),
}


def test_all_is_answered_and_nothing_is_left_behind():
    program = f"{_BEGIN}\ncases = {CASES!r}\n{_END}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
