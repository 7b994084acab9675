"""What all tests share: which of them run, and the real memory files."""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from agent_memory_protocol.secrets import mask

from . import postgresql_server, requirements

REPOSITORY = Path(__file__).parents[1]
REQUESTED_BY_NAME = ("wheel", "docs", "hosts")
"""Markers of tests that need a package index or other programs: they run when `-m` names them."""

# The tests start Python a thousand times. Each start would compile the package again, a third of the whole run.
sys.dont_write_bytecode = False
# Folders in memory: on a disk, making and deleting a hundred thousand small files is a tenth of the whole run.
_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2**30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)
# The copy of a project's id lies in the person's state folder where there is no git. Tests have one of their own.
_STATE = tempfile.TemporaryDirectory(prefix="amp-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("agent-memory-protocol")
    group.addoption("--slow", action="store_true", help="run the slow tests too, and try 100 examples a property")
    group.addoption("--long", action="store_true", help="explore: the slow tests in full, 20,000 examples a property")
    group.addoption("--requirements", action="store_true", help="write docs/requirements.md; run nothing")


def pytest_configure(config: pytest.Config) -> None:
    # An example may wait for the disk or for another test: a deadline would measure the machine.
    # The short runs try the same examples each time and so say the same of the same code; the long run explores.
    # A few are enough to run into what a change breaks; `.ci/run` tries a hundred in its slow step.
    hypothesis.settings.register_profile("short", deadline=None, derandomize=True, max_examples=5)
    hypothesis.settings.register_profile("slow", deadline=None, derandomize=True, max_examples=100)
    hypothesis.settings.register_profile("long", deadline=None, max_examples=20_000)
    config.option.slow = config.option.slow or config.option.long
    chosen = next((name for name in ("long", "slow") if config.getoption(f"--{name}")), "short")
    hypothesis.settings.load_profile(chosen)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unwanted = {name for name in REQUESTED_BY_NAME if name not in config.option.markexpr}
    if not config.getoption("--slow"):
        unwanted.add("slow")
    if not config.getoption("--long"):
        unwanted.add("long")
    left_out = [item for item in items if not unwanted.isdisjoint(mark.name for mark in item.iter_markers())]
    config.hook.pytest_deselected(items=left_out)
    dropped = set(left_out)
    items[:] = [item for item in items if item not in dropped]
    for item in items:
        if "sized" in item.fixturenames or "corpus" in item.fixturenames:  # type: ignore[attr-defined]
            item.add_marker("sized")
    # Each worker collects for itself: a name that holds an address is another one in each, and the run ends there.
    addressed = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if addressed:
        raise pytest.UsageError(f"the name of {addressed[0]} holds an address of memory; give the case an id")


def pytest_collection_finish() -> None:
    """Have the garbage collector pass over all tests and modules, which stay to the end, and look less often."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say where the tests of a store on a server were skipped, and what is missing; without -rs nobody would see it."""
    if (reason := postgresql_server.why_not()) and terminalreporter.stats.get("skipped"):
        terminalreporter.write_line(f"stores on PostgreSQL were not tested: {reason}")


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Write the page of requirements in place of running the tests."""
    if not config.getoption("--requirements"):
        return None
    requirements.write_page()
    return 0


@pytest.fixture(scope="session", autouse=True)
def _no_test_waits_for_the_disk() -> Iterator[None]:
    """Let `fsync` only look whether the file is open: a fifth of a run is spent in waiting for the disk.

    A process that a test starts has the real one. Tests of faults put their own here.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(autouse=True)
def _no_project_allows_secrets() -> None:
    """Forget what the project of another test has allowed to be shown."""
    mask.allow(())


@pytest.fixture(scope="session", autouse=True)
def _checkout_stays_clean() -> Iterator[None]:
    """Fail at the end of a run in which a test wrote beside the sources, and not into a folder of its own."""
    before = _in_the_checkout()
    yield
    left = sorted(_in_the_checkout() - before)
    assert not left, f"tests left {', '.join(left)} in the checkout; have them work in tmp_path"


def _in_the_checkout() -> set[str]:
    """Return what stands at the top of the checkout, what git ignores there aside."""
    lines = (REPOSITORY / ".gitignore").read_text(encoding="utf-8").splitlines()
    ignored = [line.rstrip("/") for line in lines if line and not line.startswith("#")]
    names = (path.name for path in REPOSITORY.iterdir())
    return {name for name in names if not any(fnmatch(name, pattern) for pattern in ignored)}


@pytest.fixture(scope="session")
def postgresql() -> Iterator[postgresql_server.Cluster]:
    """A PostgreSQL server; the first test that asks for it starts it."""
    if reason := postgresql_server.why_not():
        pytest.skip(reason)
    cluster = postgresql_server.Cluster()
    yield cluster
    cluster.stop()


@pytest.fixture
def address(postgresql: postgresql_server.Cluster) -> str:
    """The address of an empty namespace, as its owner."""
    return postgresql.new_namespace()


@pytest.fixture(scope="session")
def sized(pytestconfig: pytest.Config) -> Callable[[int, int, int], int]:
    """Choose a number by what is run: the usual tests, those with --slow, or those with --long."""
    chosen = pytestconfig.getoption("--slow") + pytestconfig.getoption("--long")
    return lambda *numbers: numbers[chosen]


@pytest.fixture(scope="session")
def corpus(pytestconfig: pytest.Config) -> list[Path]:
    """Real memory files: the selection in the repository; with --slow the large collection next to it, if there."""
    large = REPOSITORY.parent / "shared" / "corpus"
    selection = REPOSITORY / "tests" / "data" / "corpus"
    folder = large if pytestconfig.getoption("--slow") and large.is_dir() else selection
    about = {folder / "SOURCES.md", folder / "LICENCES.md"}
    return sorted(path for path in folder.rglob("*") if path.is_file() and path not in about)


@pytest.fixture(scope="session")
def some_files(corpus: list[Path], pytestconfig: pytest.Config) -> list[Path]:
    """Sixty of the real memory files, spread over the collection; with --long all of them.

    For what takes long: what the others would show, these show as well.
    """
    return corpus if pytestconfig.getoption("--long") else corpus[:: max(1, len(corpus) // 60)]


MARKDOWN = [
    *("- item", "* star", "+ plus", "1. one", "2) two", "5. five", "-", "- ", "*", "1.", "- - nested", "- 1. x"),
    *("- [2026-01-02] dated", "- # heading", "- > quote", "- ```", "- [T](note.md) - hook", "-\ttabbed"),
    *("# Title", "## Section ##", "### 2026-02-03", "#", "#none", "####### seven", "text", "more text", "two words"),
    *("===", "---", "--", "***", "_ _ _", "- - -", "=", "```", "````", "~~~", "``` py", "``` a`b", "`code`"),
    *("> quote", ">", "> - x", "<!-- comment -->", "<!-- open", "close -->", "<!-- a | b -->", "<div>", "</div>"),
    *("<b>x</b> y", "x <!-- y --> z", "<?php", "?>", "<!X", "[a]: /url", "[a]:", "[a", "]: b", "[x](y)", "[keep] x"),
    *("| a | b |", "|---|---|", "a | b", "--- | ---", ":--", "|:-:|", "a |", "|", "# a |", "- a |", "``` |"),
    *("\u00a0", "\u2003 x", "\f", "\v|", "\u2028x", "\ufeff", "\0", "**Label:**", "Label:", "a\\", "\\# x", "é 💡"),
    *("[2026-01-02] x", "2026-01-02: x", "**Date**: 2026-01-02", "(2026-01-02)", "<<<<<<< ours", ">>>>>>> theirs"),
]
"""Lines, and beginnings of lines, that mean something in Markdown or in a memory file."""

INDENTS = ["", "", "", "", " ", "  ", "   ", "    ", "      ", "\t", " \t"]


@st.composite
def _documents(draw: st.DrawFn) -> list[str]:
    return draw(st.lists(_LINES, max_size=12))


_PARTS = st.sampled_from(MARKDOWN)
_PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12)
_LINES = st.one_of(
    st.just(""),
    _PARTS,
    st.tuples(st.sampled_from(INDENTS), _PARTS).map("".join),
    st.tuples(st.sampled_from(INDENTS), _PARTS, st.sampled_from([" ", "", "|"]), _PARTS).map("".join),
    st.tuples(st.sampled_from(INDENTS), _PLAIN).map("".join),
)


@pytest.fixture(scope="session")
def markdown_documents() -> st.SearchStrategy[list[str]]:
    """Documents as lines without endings: every construct of Markdown, in orders that nobody would write."""
    return _documents()
