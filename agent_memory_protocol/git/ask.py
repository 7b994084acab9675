"""Ask git. It need not be installed, and a project need not be a repository: then there is no answer."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

_SECONDS = 5

_NAMES_A_REPOSITORY = {"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}
"""What git's hooks have in their environment. It need not be the repository that a folder lies in."""


def ask(folder: str, *args: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes] | None":
    """Run git in the repository that a folder lies in, with `given` as its input, and return what came of it.

    None if it cannot be run, or takes more than five seconds.
    """
    import subprocess

    command = ["git", "-C", folder, *args]
    environ = {name: value for name, value in os.environ.items() if name not in _NAMES_A_REPOSITORY}
    try:
        return subprocess.run(command, input=given, env=environ, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def answer(folder: str, *args: str, given: bytes = b"") -> bytes:
    """Return what git prints; nothing if it fails or is missing."""
    done = ask(folder, *args, given=given)
    return done.stdout if done is not None and done.returncode == 0 else b""
