"""Folders and files swapped for links to the outside while a writer is at work: nothing outside is ever written."""

import os
import time
from contextlib import suppress
from pathlib import Path

from agent_memory_protocol.errors import AgentMemoryError

from .project import Project, new_project, start, wait_for
from .row import Row, Size


def swapped(folder: Path, size: Size) -> list[Row]:
    """Swap each component of the document's path for a link, as fast as can be, beside a writer."""
    wanted = (100, 500, 20_000)[size]
    project = new_project(folder / "project")
    outside = folder / "outside"
    twin = new_project(outside / "project")
    for one in (project, twin):
        one.workspace().remember("The first port is 80.")
    before = _snapshot(outside)
    stop = folder / "stop"
    counts = folder / "counts"
    swapper = start(lambda: _swap(project, twin, wanted, counts, stop))
    writer = start(lambda: _write(project, stop, folder / "written"))
    wait_for(swapper)
    wait_for(writer)
    swaps = int(counts.read_text())
    written, refused = map(int, (folder / "written").read_text().split())
    after = _snapshot(outside)
    touched = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [
        Row(
            "link swapped in under a write",
            f"a file or folder on the way swapped for a link outside {swaps:,} times, beside `remember` and `forget`",
            "0 writes outside",
            f"{len(touched)} files outside changed; {written:,} writes done, {refused:,} refused",
            not touched and swaps >= wanted and written > 0,
        )
    ]


def _swap(project: Project, twin: Project, wanted: int, counts: Path, stop: Path) -> None:
    parts = project.target.parts
    done = 0
    while done < wanted:
        for depth in range(1, len(parts) + 1):
            path = project.path.joinpath(*parts[:depth])
            other = twin.path.joinpath(*parts[:depth])
            aside = path.with_name("aside")
            link = path.with_name("link")
            with suppress(OSError):
                os.symlink(other, link)
                path.rename(aside)
                link.rename(path)
                done += 1
                time.sleep(0.0002)
            with suppress(OSError):
                path.unlink()
            with suppress(OSError):
                if not path.exists():
                    aside.rename(path)
            with suppress(OSError):
                link.unlink()
            time.sleep(0.0005)
    counts.write_text(str(done))
    stop.touch()


def _write(project: Project, stop: Path, written: Path) -> None:
    done = refused = number = 0
    while not stop.exists():
        number += 1
        try:
            workspace = project.workspace()
            entry = workspace.remember(f"Fact {number}.").entry
            done += 1
            workspace.forget([entry.id])
        except AgentMemoryError:
            refused += 1
    written.write_text(f"{done} {refused}")


def _snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}
