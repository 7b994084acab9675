"""A command that an agent is told is one that it may run as it is: it names the agent with `--as`."""

import re

import pytest

from tests.folder import Kept

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
TOLD = re.compile(r"`(amp [^`]*)`")
VERBS = [
    ["search", "thing7"],
    ["review"],
    ["check"],
    ["prune"],
    ["prune", "--to-limit"],
    ["restore", "--list"],
    ["restore", "--last"],
    ["adopt", "."],
    ["status"],
    ["doctor"],
    ["recall", "dev"],
    ["recall", "dev", "--max-lines", "5", "--max-chars", "900"],
    ["recall", "dev", "--conversation", "c1", "--max-lines", "3"],
    ["remember", "One more lesson about thing4.", "--tier", "shared"],
]


@pytest.fixture
def full(amp):
    amp("init", "--agent", "dev")
    file = amp.root / SHARED
    lines = [f"- [2020-01-{1 + number % 28:02}] Fact {number} is about thing{number}.\n" for number in range(100)]
    lines += [f"- Fact {number} says what thing{number} needs.\n" for number in range(94)]
    file.write_text("# Shared Knowledge\n\n" + "".join(lines))
    (amp.root / "CLAUDE.md").write_text("# Rules\n\n- Run the tests before a push.\n")
    for tier in (["--agent", "dev"], ["--conversation", "c1"]):
        for number in range(5):
            amp("remember", f"Lesson {number} of a tier.", "--as", "dev", *tier)
    return amp


@pytest.mark.slow
def test_every_command_that_an_agent_is_told_names_it(full):
    kept = Kept(full.home)
    for verb in VERBS:
        kept.put_back()
        answer = full(*verb, "--as", "dev")
        told = TOLD.findall(answer.out + answer.err)
        assert [command for command in told if "--as dev" not in command] == [], verb
        assert "--as" not in "".join(TOLD.findall(full(*verb).err)), f"a person needs no name: {verb}"


@pytest.mark.slow
def test_what_review_proposes_names_its_reader(full):
    items = full("review", "--json", "--as", "dev").json()["items"]
    assert items
    assert all(command.endswith("--as dev") for item in items for command in item["command"].split("; "))
    assert all("--as" not in item["command"] for item in full("review", "--json").json()["items"])


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [[], ["--max-chars", "1500"]], ids=["unbounded", "bounded"])
def test_the_commands_in_a_block_show_what_it_leaves_out(full, bounds):
    block = full("recall", "dev", "--conversation", "c1", "--max-lines", "3", *bounds).out
    told = [command for command in TOLD.findall(block) if command.startswith("amp show")]
    assert told
    for command in told:
        shown = full(*command.split()[1:])
        assert (shown.code, shown.err) == (0, "")
        assert "- " in shown.out
