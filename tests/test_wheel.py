"""The package as it is built and installed: it does the main job far from its source."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email import message_from_bytes
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("AMP_", "PYTHON"))}
REMEMBERED = "Redis loses its queue on restart unless AOF is on."

pytestmark = pytest.mark.wheel


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """What to install, by kind. The wheel is made from the sdist, as an index would serve it."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", folder, cwd=REPOSITORY)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return {"wheel": wheel, "sdist": sdist}


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """What installs a kind into a fresh environment, once, and returns the scripts of that environment."""

    @cache
    def install(kind: str) -> Path:
        environment: Path = tmp_path_factory.mktemp(kind) / "venv"
        # The pip of this environment serves: to install another one takes longer than the package with all it needs.
        venv.create(environment, with_pip=False)
        scripts = environment / SCRIPTS
        what: list[str | Path] = ["--editable", REPOSITORY] if kind == "editable" else [built[kind]]
        pip = (sys.executable, "-m", "pip", "--python", scripts / "python")
        run(*pip, "install", "--quiet", *what, cwd=environment)
        return scripts

    return install


@pytest.fixture(scope="module", params=["wheel", "sdist", "editable"])
def scripts(request, installed):
    """The scripts of an environment with nothing in it but this package and what it needs."""
    return installed(request.param)


def test_what_init_and_remember_wrote_is_recalled(scripts, tmp_path):
    run(scripts / "amp", "init", "--agent", "developer", cwd=tmp_path)
    run(scripts / "amp", "remember", REMEMBERED, "--section", "Infrastructure", cwd=tmp_path)

    recalled = run(scripts / "amp", "recall", "developer", cwd=tmp_path)

    assert f"- {REMEMBERED}\n" in recalled
    assert "## Infrastructure\n" in recalled
    assert (tmp_path / ".scaffolding/agent-memory/shared/KNOWLEDGE.md").is_file()
    call = "import agent_memory_protocol as amp, sys; sys.stdout.write(amp.recall_for_agent('developer'))"
    for same in (
        [scripts / "python", "-c", call],
        [scripts / "python", "-m", "agent_memory_protocol", "recall", "developer"],
        [scripts / "agent-memory", "recall", "developer"],
    ):
        assert run(*same, cwd=tmp_path).rstrip("\n") == recalled.rstrip("\n")


def package(scripts: Path) -> Path:
    """Return where the package lies that these scripts use."""
    find = "import agent_memory_protocol as amp, os; print(os.path.dirname(amp.__file__))"
    return Path(run(scripts / "python", "-c", find, cwd=scripts).strip())


def test_templates_and_skill_are_found(scripts):
    found = package(scripts)
    data = REPOSITORY if found.is_relative_to(REPOSITORY) else found
    assert (data / "templates" / "shared.md.j2").is_file()
    assert (data / "skill" / "agent-memory" / "SKILL.md").is_file()


def ways_to_install():
    """Each line of the table of ways in docs/start.md: the program, and the commands as they are printed."""
    page = (REPOSITORY / "docs/start.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (`(pipx|uv|pip) [^|]*`) \| (`[^|]*`) \|$", page, re.MULTILINE)
    assert len(rows) == 3
    return [pytest.param(name, (first.strip("`"), second.strip("`")), id=name) for first, name, second in rows]


@pytest.mark.parametrize(("program", "commands"), ways_to_install())
def test_each_way_to_install_works_as_it_is_printed(program, commands, tmp_path):
    checkout = tmp_path / "checkout"
    leave = shutil.ignore_patterns(".git", ".venv", ".scaffolding", ".*_cache", "__pycache__", ".hypothesis")
    shutil.copytree(REPOSITORY, checkout, ignore=leave)
    if program == "pip":
        venv.create(tmp_path / "venv", with_pip=True)
    programs = [tmp_path / "venv" / SCRIPTS, tmp_path / "home/.local/bin", Path(sys.executable).parent]
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    environment = {**ENVIRONMENT, "HOME": str(tmp_path / "home"), "PATH": path, "UV_PYTHON": sys.executable}
    for name in ("PIPX_HOME", "PIPX_BIN_DIR", "UV_TOOL_DIR", "UV_TOOL_BIN_DIR", "XDG_BIN_HOME", "XDG_DATA_HOME"):
        environment.pop(name, None)
    if shutil.which(program, path=path) is None:
        pytest.skip(f"{program} is not installed; the extra dev has it")
    (tmp_path / "home").mkdir()
    for command in commands:
        done = subprocess.run(
            command, shell=True, cwd=checkout, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        amp = shutil.which("amp", path=os.pathsep.join(map(str, programs[:2])))
        assert amp is not None
        assert run(amp, "version", cwd=tmp_path)
    assert "mcpServers" in run(str(amp), "mcp", "--config", cwd=tmp_path)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_wheel_works_on_each_python_that_is_here(version, built, installed, tmp_path):
    """A short round with each: write, recall, search, check, adopt, and a record."""
    if version == "{}.{}".format(*sys.version_info):
        scripts = installed("wheel")
    elif python := python_of(version):
        # Each Python has a pip of its own, as ours may not run on it.
        run(python, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
        scripts = tmp_path / "venv" / SCRIPTS
        run(scripts / "python", "-m", "pip", "install", "--quiet", built["wheel"], cwd=tmp_path)
    else:
        pytest.skip(f"Python {version} is not installed")
    run(scripts / "python", "-W", "error::SyntaxWarning", "-m", "compileall", "-q", "-f", package(scripts), cwd=scripts)
    assert (
        run(scripts / "python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])", cwd=tmp_path)
        == f"{version}\n"
    )
    (tmp_path / "p/.scaffolding").mkdir(parents=True)
    (tmp_path / "p/CLAUDE.md").write_text("# Rules\n\n- Use tabs.\n")
    for arguments in (
        ["init", "--agent", "developer"],
        ["remember", REMEMBERED, "--section", "Infrastructure"],
        ["adopt", ".", "--apply"],
        ["search", "redis"],
        ["check", "--ignore", "store-told-twice"],
        ["doctor"],
    ):
        run(scripts / "python", "-W", "error", "-m", "agent_memory_protocol", *arguments, cwd=tmp_path / "p")
    recalled = run(scripts / "amp", "recall", "developer", cwd=tmp_path / "p")
    assert f"- {REMEMBERED}\n" in recalled
    assert "- Use tabs.\n" in recalled
    record = "from agent_memory_protocol import Memory; m = Memory('m'); m.remember('A b.'); print(m.recall('b'))"
    assert run(scripts / "python", "-W", "error", "-c", record, cwd=tmp_path) == "- A b.\n"


def python_of(version: str) -> str | None:
    """Return a Python of this version, of those on the path or of pyenv; None where there is none that works."""
    of_pyenv = sorted(map(str, Path.home().glob(f".pyenv/versions/{version}*/bin/python")))
    for python in filter(None, [shutil.which(f"python{version}"), *of_pyenv]):
        if not subprocess.run([python, "-c", "import venv"], capture_output=True, check=False).returncode:
            return python
    return None


def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built["wheel"]) as wheel:
        names = set(wheel.namelist())
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"agent_memory_protocol"}
    assert {
        "agent_memory_protocol/py.typed",
        "agent_memory_protocol/templates/shared.md.j2",
        "agent_memory_protocol/skill/agent-memory/SKILL.md",
    } <= names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_an_index_would_take_both_as_they_are(built):
    run(sys.executable, "-m", "twine", "check", "--strict", built["wheel"], built["sdist"], cwd=REPOSITORY)


def test_the_wheel_holds_nothing_by_mistake(built):
    run(
        sys.executable,
        "-m",
        "check_wheel_contents",
        "--toplevel",
        "agent_memory_protocol",
        built["wheel"],
        cwd=REPOSITORY,
    )


def test_the_sdist_can_run_its_own_tests(built):
    with tarfile.open(built["sdist"]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"templates/shared.md.j2", "skill/agent-memory/SKILL.md", "tests/conftest.py", "CHANGELOG.md"} <= names
    assert "tests/data/corpus/SOURCES.md" in names


def test_the_wheel_needs_six_packages(built):
    with zipfile.ZipFile(built["wheel"]) as wheel:
        (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        requirements = message_from_bytes(wheel.read(metadata)).get_all("Requires-Dist", [])
    needed = {requirement.partition(">")[0] for requirement in requirements if "extra ==" not in requirement}
    assert needed == {"click", "filelock", "jinja2", "markdown-it-py", "watchdog", "wcwidth"}
