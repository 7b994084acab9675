"""Clocks that are wrong: a year back, ten years ahead, a day's border in a far time zone."""

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from .project import Project, new_project
from .row import NotHere, Row, Size, problems

_LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
)


def wrong_clocks(folder: Path, size: Size) -> list[Row]:  # noqa: ARG001  (short enough to be tried whole)
    """Write, prune and restore while the clock jumps, and look whether anything returns, vanishes or changes places."""
    library = next((one for one in _LIBRARIES if Path(one).exists()), "")
    if not library:
        raise NotHere("libfaketime is not installed")
    return [
        _jump(folder, library, "a year back", "-366d"),
        _jump(folder, library, "ten years ahead", "+3652d"),
        _far_zones(folder, library),
    ]


def _jump(folder: Path, library: str, name: str, offset: str) -> Row:
    project = new_project(folder / name.replace(" ", "-"))
    wrong = []

    def run(clock: str, *words: str) -> str:
        done = _amp(project, library, clock, words)
        if done.returncode:
            wrong.append(f"{' '.join(words)}: exit {done.returncode} {done.stderr.strip()}")
        return done.stdout

    run("+0", "remember", "[2020-01-01] Old.")
    for text in ("First.", "Forget me."):
        run("+0", "remember", text)
    run("+0", "forget", _id(project, "Forget me."))
    run(offset, "remember", "Second, by the wrong clock.")
    run(offset, "sync", "--apply")
    run(offset, "forget", _id(project, "First."))
    run("+0", "remember", "Third.")
    run("+0", "sync", "--apply")
    _hold(wrong, project, ["[2020-01-01] Old.", "Second, by the wrong clock.", "Third."], ["First.", "Forget me."])
    restorable = json.loads(run("+0", "restore", "--list", "--json"))
    texts = [one["text"].removeprefix("- ") for one in restorable["entries"]]
    if texts != ["Forget me.", "First."]:
        wrong.append(f"the order of the ledger is {texts}")
    stamps = [one["removed_at"] for one in restorable["entries"]]
    if stamps != sorted(stamps):
        wrong.append(f"the stamps of the ledger go back: {stamps}")
    run(offset, "restore", "--last", "--apply")
    run("+0", "remember", "Fourth.")
    _hold(
        wrong,
        project,
        ["[2020-01-01] Old.", "First.", "Second, by the wrong clock.", "Third.", "Fourth."],
        ["Forget me."],
    )
    run("+0", "prune", "--apply", "--today", "2026-06-01")
    _hold(wrong, project, ["First.", "Second, by the wrong clock.", "Third.", "Fourth."], ["[2020-01-01] Old."])
    return Row(
        f"the clock goes {name}",
        f"libfaketime {offset}: remember, forget and restore by the right clock and the wrong one in turn",
        "order kept, nothing returns, nothing vanishes",
        problems(wrong) or "all there, all that left is in the ledger, in order",
        not wrong,
    )


def _far_zones(folder: Path, library: str) -> Row:
    project = new_project(folder / "zones")
    wrong = []
    # The same moment is the 1st in Samoa and the 31st of December in Hawaii.
    for zone, day in (("Pacific/Apia", "2026-01-01"), ("Pacific/Honolulu", "2025-12-31"), ("UTC", "2025-12-31")):
        done = _amp(project, library, "@2025-12-31 22:30:00", ("remember", f"Said in {zone}.", "--dated"), zone)
        if f"[{day}] Said in {zone}." not in "\n".join(project.texts()):
            wrong.append(f"{zone}: {done.stderr.strip() or project.texts()}")
    before = sorted(project.texts())
    # A day later it is the 2nd in Samoa, where two of the entries are two days old, and the 1st in Hawaii.
    for zone, left in (("Pacific/Honolulu", 3), ("Pacific/Apia", 1), ("Pacific/Honolulu", 1)):
        for words in (("prune", "--apply", "--older-than", "1d", "--force"), ("sync", "--apply")):
            done = _amp(project, library, "@2026-01-01 22:30:00", words, zone)
            if done.returncode or len(project.texts()) != left:
                wrong.append(f"{zone}, {words[0]}: {len(project.texts())} of {left} left {done.stderr.strip()}")
    if len(project.archived()) != 2:
        wrong.append(f"{len(project.archived())} entries in the ledger")
    _amp(project, library, "@2026-01-01 22:30:00", ("restore", "--last", "--apply"), "Pacific/Honolulu")
    if sorted(project.texts()) != before:
        wrong.append(f"restored: {project.texts()}")
    return Row(
        "a day's border in far time zones",
        "TZ Apia, Honolulu and UTC at one moment: remember --dated, prune, sync, restore",
        "each entry has its writer's local day; one prune at the border is followed by none; nothing lost",
        problems(wrong) or "three entries, three local days; all there again",
        not wrong,
    )


def _amp(
    project: Project, library: str, clock: str, words: tuple[str, ...], zone: str = "UTC"
) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "LD_PRELOAD": library, "FAKETIME": clock, "TZ": zone, "FAKETIME_DONT_RESET": "1"}
    if clock.startswith("@"):
        # The library reads a moment as local time.
        moment = datetime.fromisoformat(f"{clock[1:]}+00:00").timestamp()
        environ |= {"FAKETIME": f"@{moment:.0f}", "FAKETIME_FMT": "%s"}
    command = [sys.executable, "-m", "agent_memory_protocol", *words]
    return subprocess.run(command, cwd=project.path, env=environ, capture_output=True, text=True, check=False)


def _id(project: Project, text: str) -> str:
    parsed = project.parsed()
    return next(
        entry_id
        for entry_id, entry in zip(parsed.ids, parsed.outline.entries, strict=True)
        if parsed.text(entry) == f"- {text}"
    )


def _hold(wrong: list[str], project: Project, there: list[str], kept: list[str]) -> None:
    texts = [text.removeprefix("- ") for text in project.texts()]
    if texts != there:
        wrong.append(f"in the document: {texts}, not {there}")
    archived = {text.removeprefix("- ") for text in project.archived()}
    if not set(kept) <= archived:
        wrong.append(f"in the ledger: {sorted(archived)}, not {kept}")
