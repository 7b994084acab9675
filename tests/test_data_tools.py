"""The recipes of docs/records-for-data-tools.md run with the tools themselves, and what these write comes in again.

Tools that are not installed are skipped; `.ci/run` installs them.
"""

import json
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "records-for-data-tools.md"
CHANGED = {"Redis needs AOF on.", "Use tabs in every Makefile."}

pytestmark = pytest.mark.slow


def recipes() -> dict[str, list[tuple[str, str]]]:
    """Return by heading the blocks of the page, each a language and a text."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading, language, lines = "", "", list[str]()
    for line in PAGE.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("```"):
            if language:
                found.setdefault(heading, []).append((language, "".join(lines)))
            language, lines = ("" if language else line[3:].strip()), []
        elif language:
            lines.append(line)
        elif line.startswith("### "):
            heading = line[4:].strip()
    return found


RECIPES = recipes()


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def amp(folder: Path, *arguments: str) -> str:
    return run(folder, sys.executable, "-m", "agent_memory_protocol", *arguments, "--root", str(folder))


def ask(path: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """A project with the files that the page makes."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / ".scaffolding").mkdir()
    blocks = [block for heading in ("Bring it in", "Take it out") for block in RECIPES[heading]]
    for language, text in blocks:
        if language.startswith("csv file="):
            (folder / language.partition("=")[2]).write_text(text)
        for command in [line[2:] for line in text.splitlines() if language == "console" and line.startswith("$ amp ")]:
            amp(folder, *shlex.split(command)[1:])
    return folder


@pytest.fixture
def folder(exported, tmp_path):
    return shutil.copytree(exported, tmp_path / "project")


def check(folder: Path, tool: str) -> None:
    """Run the recipe of a tool, and compare what it prints with what the page shows."""
    (language, text), (shown, printed) = RECIPES[tool]
    assert shown == "text"
    if language == "sh":
        name, *arguments = shlex.split(text)
        assert run(folder, sys.executable, "-m", name, *arguments) == printed
    elif language == "js":
        (folder / "recipe.mjs").write_text(text)
        assert run(folder, "node", "recipe.mjs") == printed
    else:
        assert run(folder, sys.executable, "-c", text) == printed


def check_import(folder: Path, *names: str) -> None:
    """Import each file into an empty memory, and see that texts, times, sources and tags are there."""
    for name in names:
        store = f"{name}.store"
        changed = ["--accept-unsigned"] if name.startswith("own") else []  # our own records, with another text
        amp(folder, "import", name, "--apply", "--store", store, *changed)
        amp(folder, "export", "records", "--output", f"{name}.sqlite", "--store", store)
        rows = ask(folder / f"{name}.sqlite", "SELECT text, date, source, tags, extra FROM entries ORDER BY date")
        assert {text for text, *_ in rows} == CHANGED
        assert [row[1:4] for row in rows] == [
            ("2026-04-01", "ana", '["infra","redis"]'),
            ("2026-04-02", "ben", '["style"]'),
        ]
        kept = {key for *_, extra in rows for key in json.loads(str(extra))}
        assert kept.isdisjoint(("created_at", "date", "tier", "section", ""))


@pytest.mark.parametrize("tool", ["DuckDB", "pandas", "polars", "datasette"])
def test_the_recipe_prints_what_the_page_shows(folder, tool):
    if find_spec(tool.lower()) is None:
        pytest.skip(f"{tool} is not installed: pip install {tool.lower()}")
    check(folder, tool)


def test_the_recipe_in_javascript_prints_what_the_page_shows(folder):
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed")
    check(folder, "JavaScript")


def test_what_pandas_writes_comes_in(folder):
    pytest.importorskip("pandas", reason="pandas is not installed: pip install pandas")
    run(folder, sys.executable, "-c", RECIPES["pandas"][0][1])
    check_import(folder, "from_pandas.csv", "from_pandas.ndjson")
    own = "import pandas, sqlite3; p = pandas.read_sql('SELECT * FROM entries', sqlite3.connect('facts.sqlite'));"
    own += "p['text'] = p['text'].str.replace('Makefiles', 'every Makefile');"
    own += "p.drop(columns='embedding').to_json('own.ndjson', orient='records', lines=True);"
    own += "p.drop(columns='embedding').to_csv('own.csv')"
    run(folder, sys.executable, "-c", own)
    check_import(folder, "own.ndjson", "own.csv")


def test_what_polars_writes_comes_in(folder):
    pytest.importorskip("polars", reason="polars is not installed: pip install polars")
    run(folder, sys.executable, "-c", RECIPES["polars"][0][1])
    check_import(folder, "from_polars.ndjson", "from_polars.parquet")
    own = "import polars as p; f = p.read_parquet('facts.parquet');"
    own += "f = f.with_columns(text=p.col('text').str.replace('Makefiles', 'every Makefile'));"
    own += "f.write_parquet('own.parquet')"
    run(folder, sys.executable, "-c", own)
    check_import(folder, "own.parquet")
