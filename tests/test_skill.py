"""The skill is a valid Agent Skill, and each command it teaches an agent does what it says."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agent_memory_protocol.cli.main import main
from agent_memory_protocol.layout import TIERS, Target, Tier
from agent_memory_protocol.limits import MAX_BYTES, MAX_LINES
from agent_memory_protocol.project.templates import render_header

SKILL = Path(__file__).parents[1] / "skill" / "agent-memory" / "SKILL.md"
TEXT = SKILL.read_text(encoding="utf-8")
DESCRIPTION = (
    "3-tier persistent memory protocol for cross-session knowledge accumulation. "
    "Use when agents need to read, write, or manage memory files."
)
VALIDATOR = shutil.which("agentskills") or shutil.which("agentskills", path=str(Path(sys.executable).parent))


def commands() -> list[tuple[str, int]]:
    """Return each `amp` command in the text, in blocks and in sentences, and the exit code the text says it has."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    in_blocks = [(line, 0) for line in "".join(blocks).splitlines()]
    sentences = re.sub(r"^(`{3,}).*?^\1$", "", TEXT, flags=re.MULTILINE | re.DOTALL).replace("\n", " ")
    spans = re.finditer(r"`(amp [^`]+)`( ends with exit code (\d))?", sentences)
    return in_blocks + [(span[1], int(span[3] or 0)) for span in spans]


@pytest.mark.slow
@pytest.mark.requirement("S4-03")
@pytest.mark.skipif(VALIDATOR is None, reason="skills-ref is not installed")
def test_the_reference_validator_accepts_it():
    assert VALIDATOR is not None
    done = subprocess.run([VALIDATOR, "validate", SKILL.parent], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.requirement("S4-03", "S4-04")
def test_its_header_has_the_name_of_its_folder_and_the_description_of_the_protocol():
    header = TEXT.split("---\n")[1].splitlines()
    assert f"name: {SKILL.parent.name}" in header
    assert f"description: {DESCRIPTION}" in header


def test_it_is_short_enough_to_be_loaded_whenever_memory_is_at_stake():
    assert TEXT.count("\n") < 150


def test_it_shows_commands_that_read_and_commands_that_write():
    verbs = {command.split()[1] for command, _ in commands()}
    assert {"init", "recall", "remember", "show", "status"} <= verbs
    assert {code for _, code in commands()} == {0, 3}


@pytest.mark.slow
def test_every_command_works_in_the_order_of_the_page_in_a_project_without_memory(tmp_path, monkeypatch, capsys):
    for variable in [name for name in os.environ if name.startswith("AMP_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for command, code in commands():
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            main()
        assert (command, ended.value.code or 0) == (command, code), capsys.readouterr().err


@pytest.mark.parametrize("tier", TIERS, ids=str)
@pytest.mark.requirement("S4-66", "S4-67", "S4-68")
def test_it_gives_the_path_and_the_header_of_each_tier(tier):
    owner = {Tier.SHARED: "", Tier.AGENT: "developer", Tier.CONVERSATION: "7f3a"}[tier]
    placeholder = {Tier.SHARED: "", Tier.AGENT: "NAME", Tier.CONVERSATION: "ID"}[tier]
    assert f"`{Target(tier, placeholder).path}`" in TEXT
    assert render_header(Target(tier, owner)) in TEXT


@pytest.mark.requirement("S4-59", "S4-62")
def test_it_states_the_limits_and_the_date_format():
    assert f"{MAX_LINES} lines and {MAX_BYTES:,} bytes" in TEXT
    assert "`[YYYY-MM-DD]`" in TEXT
    assert "```memory-findings\n" in TEXT
