"""The package as users have it: built as a wheel and installed, byte-code compiled, in an environment of its own."""

import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.speed.material import REPOSITORY

_SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def environment(home: Path) -> dict[str, str]:
    """Return an environment without this person's settings, and without what would keep byte-code from being used."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AMP_", "PYTHON", "XDG_"))}
    return {**kept, "HOME": str(home)}


def install(folder: Path) -> Path:
    """Build the wheel, install it below `folder`, and return the interpreter that has it."""
    python = folder / "venv" / _SCRIPTS / "python"
    venv.create(folder / "venv", with_pip=True)
    _pip(python, "wheel", "--no-deps", "--wheel-dir", folder / "wheel", REPOSITORY)
    _pip(python, "install", "--compile", *(folder / "wheel").glob("*.whl"))
    return python


def _pip(python: Path, *arguments: str | Path) -> None:
    # The home folder stays: pip may be configured there.
    environ = {**environment(Path.home()), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(
        [python, "-m", "pip", "--quiet", *arguments],
        cwd=python.parent,
        env=environ,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        sys.exit(f"pip {arguments[0]} failed:\n{done.stdout}{done.stderr}")
