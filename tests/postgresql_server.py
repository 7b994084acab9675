"""A real PostgreSQL server in a folder for temporary files, started when a test first asks for it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from copy import copy
from itertools import count
from pathlib import Path
from typing import Any

OLDEST = 15
PASSWORD = "correct-horse"
"""The password of the user postgres, which connections by TCP are asked for."""

HASTY = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB", "max_connections": "60"}
"""What serves tests: nothing is kept where the machine fails, and everything where processes do."""

_SECONDS = 30
_names = count(1)


def programs() -> Path | None:
    """Return the folder of the newest installed server that is new enough."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += Path("/usr/lib/postgresql").glob("*/bin")
    found = {}
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            said = subprocess.run([folder / "postgres", "--version"], capture_output=True, check=False).stdout
            if (number := re.search(rb"\d+", said)) and int(number[0]) >= OLDEST:
                found[int(number[0])] = folder
    return found[max(found)] if found else None


def why_not() -> str:
    """Return why no server can be started here; "" where one can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed; the extra postgresql brings it"
    if programs() is None:
        return f"PostgreSQL {OLDEST} or newer is not installed; Debian's package postgresql brings it"
    return ""


class Cluster:
    """One server. It refuses to run as root, so for root it is another user's.

    Args:
        settings: what it is started with; by default it does not wait for the disk.
    """

    def __init__(self, settings: Mapping[str, str] = HASTY) -> None:
        self._settings = settings
        self.folder = Path(tempfile.mkdtemp(prefix="amp-postgresql-", dir="/tmp" if os.path.isdir("/tmp") else None))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as = {"user": "nobody", "group": os.stat(self.folder).st_gid, "extra_groups": []}
            shutil.chown(self.folder, "nobody")
        self.port = _free_port()
        found = programs()
        assert found is not None
        self.programs = found
        password = self.folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        self.data = self.folder / "data"
        command: list[str | Path] = [found / "initdb", "-D", self.data, "-U", "postgres", "-E", "UTF8", "--no-sync"]
        command += ["--locale=C", "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile", password]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._as)
        self.start()

    def copy(self) -> "Cluster":
        """Return a read-only copy of this server that follows it."""
        other: Cluster = copy(self)
        other.folder = Path(f"{self.folder}-copy")
        other.data = other.folder / "data"
        other.port = _free_port()
        other.folder.mkdir()
        if self._as:
            shutil.chown(other.folder, self._as["user"])
        command: list[str | Path] = [self.programs / "pg_basebackup", "-R", "-D", other.data, "-U", "postgres"]
        command += ["-h", self.folder, "-p", str(self.port), "--checkpoint=fast", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd=other.folder, **self._as)
        other.start()
        return other

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        command: list[str | Path] = [self.programs / "postgres", "-D", self.data, "-k", self.folder]
        command += ["-p", str(self.port)]
        command += [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        log = open(self.folder / "log", "ab")  # noqa: SIM115 the server keeps it
        with log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, **self._as)
        import psycopg

        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                self.run("SELECT 1")
            except psycopg.OperationalError:
                assert self.process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.02)
            else:
                return

    def kill(self) -> None:
        """Kill all of it at once, as when the power fails."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as children:
            pids = [self.process.pid, *map(int, children.read().split())]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Stop it for good."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def local(self) -> str:
        """The address by its socket, where it trusts everybody."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    def by_tcp(self, password: str = PASSWORD, user: str = "postgres") -> str:
        """Return the address by TCP, where it asks for a password."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/postgres?connect_timeout=5"

    def run(self, sql: Any, *values: object) -> list[tuple[Any, ...]]:
        """Run SQL as its owner, each statement by itself, and return what the last one answers."""
        from psycopg import Connection

        with Connection.connect(self.local, autocommit=True) as connection:
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def new_namespace(self) -> str:
        """Make an empty namespace, and return its address."""
        from agent_memory_protocol.postgresql.address import Address
        from agent_memory_protocol.postgresql.preparing import prepare

        address = f"{self.local}&namespace=t{next(_names)}"
        prepare(Address.parse(address))
        return address


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
