"""What all tests share: which of them run, which requirements they show, and the real memory files."""

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

REPOSITORY = Path(__file__).parents[1]
REQUESTED_BY_NAME = ("wheel", "docs", "hosts")
"""Markers of tests that take minutes, or other programs: they run when `-m` names them."""

shown_by: dict[str, list[str]] = {}
"""Requirement id → the tests that show it, deselected ones included."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("agent-memory-protocol")
    group.addoption("--long", action="store_true", help="run the slow tests too, and try 20,000 examples a property")
    group.addoption("--requirements", action="store_true", help="list the requirements that have a test; run nothing")


def pytest_configure(config: pytest.Config) -> None:
    # An example may wait for the disk or for another test: a deadline would measure the machine.
    # The short run tries the same examples each time and so says the same of the same code; the long run explores.
    hypothesis.settings.register_profile("short", deadline=None, derandomize=True)
    hypothesis.settings.register_profile("long", deadline=None, max_examples=20_000)
    hypothesis.settings.load_profile("long" if config.getoption("--long") else "short")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for mark in item.iter_markers("requirement"):
            for requirement in mark.args:
                shown_by.setdefault(requirement, []).append(item.nodeid)

    unwanted = {name for name in REQUESTED_BY_NAME if name not in config.option.markexpr}
    if not config.getoption("--long"):
        unwanted.add("slow")
    left_out = [item for item in items if any(mark.name in unwanted for mark in item.iter_markers())]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Print the report in place of running the tests."""
    if not session.config.getoption("--requirements"):
        return None
    for requirement, tests in sorted(shown_by.items()):
        print(f"\n{requirement}", *sorted({test.partition("[")[0] for test in tests}), sep="\n    ", end="")
    print(f"\n\n{len(shown_by)} requirements have a test")
    return True


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
def corpus() -> list[Path]:
    """Real memory files: the large collection beside the repository where there is one, else the selection in it."""
    large = REPOSITORY.parent / "shared" / "corpus"
    folder = large if large.is_dir() else REPOSITORY / "tests" / "data" / "corpus"
    about = {folder / "SOURCES.md", folder / "LICENCES.md"}
    return sorted(path for path in folder.rglob("*") if path.is_file() and path not in about)


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
