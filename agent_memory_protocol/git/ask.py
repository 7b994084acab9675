"""Ask git, with what a checkout's own configuration could make it run switched off.

It need not be installed, and a project need not be a repository: then there is no answer. An archive may hold a `.git`,
and a clone a folder that git takes for a repository: their configuration is anybody's, and git runs what it names. A
`.git` that is a file or a link can name the repository of another checkout: that one is not asked either.
"""

import os

from ..project.git_files import foreign_git_folder
from ..project.root import git_top

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

_SECONDS = 5

_HARMLESS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    "core.sshCommand=false",
    f"diff.orderFile={os.devnull}",  # git reads this file and the next to the end, and some devices never end
    f"mailmap.file={os.devnull}",
    "log.showSignature=false",
    "safe.bareRepository=explicit",  # a folder of the clone that looks like a repository is not one
)
"""What goes before the repository's configuration. Pagers and external programs are switched off by options."""

_SHOWING = frozenset(["log", "show", "reflog"])
_PERSONS = frozenset(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"])
"""What a person sets for every repository. Others name a repository, as in git's hooks, or a program to run."""


def ask(folder: str, *args: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes] | None":
    """Run git in the repository of a folder, with `given` as its input; None if that fails or takes five seconds."""
    import subprocess

    top = git_top(os.path.realpath(folder), os.environ)
    if top is not None and foreign_git_folder(top):
        return None
    options = [part for setting in _HARMLESS for part in ("-c", setting)]
    verb, *rest = args
    if verb in _SHOWING:
        where = 1 if verb == "reflog" else 0
        rest[where:where] = ["--no-show-signature", "--no-textconv", "--no-ext-diff"]
    command = ["git", "-C", folder, "--no-pager", "--no-optional-locks", *options, verb, *rest]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _PERSONS}
    # No protocol is allowed, whatever the configuration allows: what a partial clone lacks is not fetched.
    environ |= {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_TERMINAL_PROMPT": "0"}
    try:
        return subprocess.run(command, input=given, env=environ, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def answer(folder: str, *args: str, given: bytes = b"") -> bytes:
    """Return what git prints; nothing if it fails or is missing."""
    done = ask(folder, *args, given=given)
    return done.stdout if done is not None and done.returncode == 0 else b""
