"""A real browser on a real page: Chromium, driven by Playwright, and `amp view` in a process of its own."""

import gc
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest

from agent_memory_protocol import Actor, Memory, Workspace
from agent_memory_protocol.view import live

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REPOSITORY = Path(__file__).parents[2]
NOT_REACHED = "Failed to load resource: net::ERR_"
"""What a browser says of a server that has gone: which error follows depends on how far its request had come."""


def program() -> str | None:
    """Return the browser of this machine; None where there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """Start the browser; a test that needs it is skipped where it, or what drives it, is missing."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    if program() is None:
        pytest.skip(f"there is no {NAMES[0]} on this machine: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        # A container may not let its root make a sandbox.
        started = driver.chromium.launch(executable_path=program(), args=["--no-sandbox"])
        yield started
        started.close()


@dataclass
class Heard:
    """What happened in a browser that should not: dialogs, errors, and requests elsewhere.

    A page that is still open when its server stops cannot reach it any more, and what it was being told breaks off;
    that is how it should be. A page in a file has no site.
    """

    site: "Site | None" = None
    bad: list[str] = field(default_factory=list)

    def listen(self, page: Any) -> None:
        """Take in what happens on a page from now on."""

        def dialog(one: Any) -> None:
            self.bad.append(f"dialog: {one.message}")
            one.dismiss()

        page.on("dialog", dialog)
        page.on("pageerror", lambda error: self.bad.append(f"error: {error}"))
        page.on("console", self._console)
        page.on("request", lambda one: self._request(one.url))

    def _console(self, one: Any) -> None:
        is_gone = one.text.startswith(NOT_REACHED) and self.site is not None and self.site.has_stopped
        if one.type == "error" and not is_gone:
            self.bad.append(f"console: {one.text}")

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        host = "" if self.site is None else self.site.base.partition("//")[2]
        if parts.scheme not in ("blob", "about") and parts.netloc != host:
            self.bad.append(f"request: {url}")


@dataclass
class Site:
    """The live page of one project."""

    root: Path
    address: str
    has_stopped: bool = False

    @property
    def base(self) -> str:
        """The address without the token."""
        return self.address.partition("/?")[0]

    def amp(self, *args: str) -> str:
        """Run a command of another program on the same memory."""
        return run(self.root, *args)


@contextmanager
def served_here(root: Path, *, is_read_only: bool = False) -> Iterator[Site]:
    """Serve the memory of a project in this process, which starts in no time."""
    memory = root / ".scaffolding" / "agent-memory"

    def records() -> Any:
        return Memory(memory) if (memory / "records").exists() else nullcontext(None)

    bound = live.bind(0)
    port = bound.getsockname()[1]
    opens = lambda: Workspace.open(root, environ={"HOME": str(root.parent)})  # noqa: E731
    page = live.LivePage(opens, records, Actor(), port, is_read_only=is_read_only)
    server = live.PageServer(page)
    thread = Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    site = Site(root, page.address)
    try:
        yield site
    finally:
        site.has_stopped = True
        page.stop()
        server.should_exit = True
        thread.join()
        with warnings.catch_warnings():
            # A connection that the browser has kept tells, when it is collected, that only the loop's end closed it.
            warnings.simplefilter("ignore", ResourceWarning)
            del server, thread
            gc.collect()


@contextmanager
def served(root: Path, *args: str) -> Iterator[Site]:
    """Serve the memory of a project until the end of the block."""
    command = [sys.executable, "-m", "agent_memory_protocol", "view", "--no-open", "--root", str(root), *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environ(root), cwd=REPOSITORY) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+", address), address
        site = Site(root, address)
        try:
            yield site
        finally:
            site.has_stopped = True
            process.terminate()


def run(root: Path, *args: str) -> str:
    """Run `amp` in a process of its own."""
    command = [sys.executable, "-m", "agent_memory_protocol", *args, "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, env=_environ(root), cwd=REPOSITORY, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _environ(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AMP_")}
    return kept | {"HOME": str(root.parent)}
