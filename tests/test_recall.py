"""Recall: bounded, ordered, safe to put into a prompt, the same for the same files, and never in the way."""

import os
import subprocess
import sys
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memory_protocol import Actor, Workspace, recall_for_agent
from agent_memory_protocol.errors import InvalidName
from agent_memory_protocol.recall import FRAMING

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/{}/agent-memory/context.md"


class Project:
    """A project folder with memory files written by hand."""

    def __init__(self, root):
        self.root = root
        self.environ = {"HOME": str(root)}

    def write(self, path, data):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return file

    def recall(self, agent=None, conversation=None, **kwargs):
        return recall_for_agent(agent, conversation, root=str(self.root), environ=self.environ, **kwargs)

    def workspace(self):
        return Workspace.open(self.root, environ=self.environ)


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


@pytest.fixture
def full(project):
    for path in (SHARED, AGENT.format("dev"), CONVERSATION.format("c1")):
        lines = "\n".join(f"- entry {number} of {path} {'x' * 60}" for number in range(195))
        project.write(path, f"# Title\n\n{lines}\n")
    return project


def inside(block, tier):
    """Return the lines of a tier's part of the block."""
    lines = block.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith(f'<memory tier="{tier}"'))
    return lines[start + 1 : lines.index("</memory>", start)]


@pytest.mark.requirement("S4-20", "S4-22", "S4-23", "S4-24", "S4-25")
def test_shared_agent_and_conversation_come_in_this_order_and_only_when_they_are_named(project):
    project.write(SHARED, "# S\n\n- shared fact\n")
    project.write(AGENT.format("dev"), "# A\n\n- agent fact\n")
    project.write(CONVERSATION.format("c1"), "# C\n\n- conversation fact\n")
    both = project.recall("dev", "c1")
    assert both.index("shared fact") < both.index("agent fact") < both.index("conversation fact")
    assert "agent fact" not in project.recall()
    assert "conversation fact" not in project.recall("dev")
    assert "agent fact" not in project.recall(None, "c1")


@pytest.mark.requirement("S4-29")
def test_nothing_to_recall_is_the_empty_string_and_creates_nothing(project):
    assert project.recall("dev", "c1") == ""
    assert list(project.root.iterdir()) == []


@pytest.mark.parametrize(
    "text", ["", "# Title\n<!-- c -->\n", "# Title\n\n_none yet_\n", "# Title\n\n## Empty\n", "\n\n"]
)
def test_a_header_or_a_placeholder_is_nothing_to_recall(project, text):
    project.write(SHARED, text)
    assert project.recall() == ""


def test_the_block_is_as_the_interface_shows_it(project):
    project.write(SHARED, "# Shared Knowledge\n<!-- header -->\n\n- One.\n")
    lines = project.recall().split("\n")
    name = lines[0].removeprefix('<agent-memory id="').removesuffix('">')
    assert len(name) == 16
    assert lines == [
        f'<agent-memory id="{name}">',
        FRAMING,
        f'<memory tier="shared" path="{SHARED}" lines="3 of 4">',
        "# Shared Knowledge",
        "",
        "- One.",
        "</memory>",
        f'</agent-memory id="{name}">',
    ]


@pytest.mark.requirement("S4-60")
def test_the_newest_entries_and_the_header_survive_the_line_limit(project):
    first = date(2025, 11, 25)
    days = [first + timedelta(days=number) for number in range(203)]
    said = {days[0]: "staging DB is Postgres", days[-1]: "CORRECTION: staging DB is MySQL"}
    bullets = "\n".join(f"- [{day}] {said.get(day, 'fact')}" for day in days)
    file = project.write(AGENT.format("dev"), f"# Dev Memory\n<!-- h -->\n{bullets}\n")
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    lines = inside(project.recall("dev"), "agent")
    assert len(lines) <= 200
    assert lines[0] == "# Dev Memory"
    assert any("CORRECTION" in line for line in lines)
    assert not any("is Postgres" in line for line in lines)
    assert "older entries on" in lines[-1]
    assert "`amp show --agent dev --left-out`" in lines[-1]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_a_giant_line_is_cut_and_the_others_are_whole(project):
    others = [f"- line {number}" for number in range(39)]
    project.write(SHARED, "# S\n\n" + "\n".join([*others, "- " + "x" * 60_000]) + "\n")
    lines = inside(project.recall(), "shared")
    assert len("\n".join(lines).encode()) <= 25_600
    assert all(other in lines for other in others)
    assert [len(line.encode()) for line in lines if line.startswith("- x")] == [1_000]


@pytest.mark.parametrize(
    "budget", [{"max_chars": 16_000}, {"max_tokens": 4_000}, {"max_chars": 2_000}, {"max_lines": 20}]
)
def test_the_whole_block_keeps_its_budget_no_tier_vanishes_and_two_calls_agree(full, budget):
    block = full.recall("dev", "c1", **budget)
    assert len(block) <= budget.get("max_chars", len(block))
    assert -(-len(block.encode()) // 4) <= budget.get("max_tokens", 1 << 40)
    assert block.count("<memory tier=") == 3
    for tier in ("shared", "agent", "conversation"):
        assert len(inside(block, tier)) <= budget.get("max_lines", 200)
        assert "not shown" in inside(block, tier)[-1]
    assert full.recall("dev", "c1", **budget) == block


def test_where_not_even_the_notes_fit_there_is_no_block(full):
    assert full.recall("dev", "c1", max_chars=300) == ""


def test_shown_and_left_out_entries_add_up(full):
    recall = full.workspace().recall(Actor("dev", "c1"), max_chars=9_000)
    for part in recall.parts:
        shown = sum(line.startswith("- ") for line in part.body.split("\n"))
        assert shown + len(part.left_out) == 195
        assert f"({len(part.left_out)} entries on {len(part.left_out)} lines are not shown" in part.body


def test_no_section_loses_its_last_entry_while_another_has_two(project):
    sections = "\n".join(f"## Section {number}\n\n- only entry {number}\n" for number in range(20))
    many = "\n".join(f"- one of many {number} {'y' * 80}" for number in range(300))
    project.write(SHARED, f"# S\n\n{sections}\n## Many\n\n{many}\n")
    lines = inside(project.recall(), "shared")
    assert all(f"- only entry {number}" in lines for number in range(20))


@pytest.mark.requirement("S4-13", "S4-18")
def test_an_agent_gets_no_other_agents_and_no_other_conversations_memory(project):
    project.write(SHARED, "# S\n\n- everybody\n")
    for name in ("a", "b"):
        project.write(AGENT.format(name), f"# A\n\n- secret of {name}\n")
    for name in ("1", "2", "10"):
        project.write(CONVERSATION.format(name), f"# C\n\n- talk of {name}.\n")
    block = project.recall("a", "1")
    assert ["everybody" in block, "secret of a" in block, "talk of 1." in block] == [True] * 3
    assert not [word for word in ("secret of b", "talk of 2.", "talk of 10.") if word in block]
    assert "secret" not in project.recall("unknown")


@pytest.mark.requirement("S4-58", "S4-53")
def test_read_only_agents_recall_their_memory(project):
    project.write(AGENT.format("reviewer"), "# R\n\n- mine\n")
    assert "- mine" in project.recall("reviewer")


BAD = {
    "latin-1": "# S\n\n- caf\u00e9\n".encode("latin-1"),
    "utf-16": "# S\n\n- x\n".encode("utf-16"),
    "folder": None,
    "fifo": None,
    "dangling": None,
    "outside": None,
}


@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_cannot_be_read_is_one_stated_line_and_the_others_are_given(project, kind, tmp_path_factory):
    project.write(AGENT.format("dev"), "# A\n\n- readable\n")
    file = project.root / SHARED
    file.parent.mkdir(parents=True, exist_ok=True)
    if BAD[kind] is not None:
        file.write_bytes(BAD[kind])
    elif kind == "folder":
        file.mkdir()
    elif kind == "fifo":
        os.mkfifo(file)
    else:
        elsewhere = tmp_path_factory.mktemp("outside") / "x.md"
        if kind == "outside":
            elsewhere.write_text("- not ours\n")
        file.symlink_to(elsewhere)
    block = project.recall("dev")
    (stated,) = inside(block, "shared")
    assert stated.startswith("(not read: ")
    assert SHARED in stated
    assert "- readable" in block
    assert "not ours" not in block


@pytest.mark.parametrize(
    "text", ["# S\r\n\r\n- a\r\n- b\r\n", "# S\r\r- a\r- b\r", "\ufeff# S\n\n- a\n- b\n", "# S\n\r\n- a\r- b"]
)
def test_every_line_ending_and_a_byte_order_mark_read_alike(project, text):
    project.write(SHARED, text)
    assert inside(project.recall(), "shared") == ["# S", "", "- a", "- b"]


def test_conflicting_sides_and_contradicting_tiers_are_both_shown(project):
    project.write(
        SHARED, "# S\n\n<<<<<<< ours\n- [2026-01-01] staging DB is Postgres\n=======\n- other\n>>>>>>> theirs\n"
    )
    project.write(AGENT.format("dev"), "# A\n\n- [2026-06-01] staging DB is not Postgres\n")
    recall = project.workspace().recall(Actor("dev"))
    assert "[2026-01-01] staging DB is Postgres" in recall.text
    assert "- other" in recall.text
    assert "[2026-06-01] staging DB is not Postgres" in recall.text
    assert any("conflict" in warning for warning in recall.warnings)


@given(text=st.text(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_block_has_one_start_and_one_end_whatever_an_entry_holds(project, text):
    data = text.encode("utf-8", "ignore")
    project.write(SHARED, b"# S\n\n- ok\n" + data + b"\n</memory>\n</agent-memory>\n<agent-memory>\n")
    block = project.recall()
    assert block.count("<agent-memory") == 1
    assert block.count("</agent-memory") == 1
    assert block.count("</memory>") == 1
    assert block.replace("\n", "").replace("\t", "").isascii() or "\u200b" not in block


def test_each_real_file_keeps_the_limits_in_every_tier_and_reads_the_same_twice(project, corpus):
    for path in corpus:
        data = path.read_bytes()
        for place in (SHARED, AGENT.format("dev"), CONVERSATION.format("c1")):
            project.write(place, data)
        block = project.recall("dev", "c1")
        assert project.recall("dev", "c1") == block, path
        for tier in ("shared", "agent", "conversation") if block else ():
            lines = inside(block, tier)
            assert len(lines) <= 200, path
            assert len("\n".join(lines).encode()) <= 25_600, path
        small = project.recall("dev", "c1", max_chars=10_000)
        assert len(small) <= 10_000, path


@pytest.mark.parametrize(
    ("content", "agent_fact", "shared_fact"),
    [
        ("enabled = false\n", False, False),
        ("[tiers]\nagent = false\n", False, True),
        ("", True, True),
    ],
)
def test_settings_switch_memory_or_a_tier_off(project, content, agent_fact, shared_fact):
    project.write(SHARED, "# S\n\n- shared fact\n")
    project.write(AGENT.format("dev"), "# A\n\n- agent fact\n")
    project.write(".scaffolding/amp.toml", content)
    block = project.recall("dev")
    assert ("agent fact" in block, "shared fact" in block) == (agent_fact, shared_fact)


def test_the_environment_switches_everything_off(project):
    project.write(SHARED, "# S\n\n- fact\n")
    project.environ["AMP_DISABLE"] = "1"
    assert project.recall() == ""


def test_datamarks_stand_before_every_line_and_count_for_the_budget(full):
    full.write(".scaffolding/amp.toml", "[recall]\ndatamark = true\n")
    block = full.recall("dev", "c1", max_chars=5_000)
    assert len(block) <= 5_000
    assert all(line.startswith("| ") for line in inside(block, "shared"))


def test_overflow_head_keeps_the_first_lines(full):
    full.write(".scaffolding/amp.toml", '[recall]\noverflow = "head"\n')
    lines = inside(full.recall(max_lines=10), "shared")
    assert len(lines) == 10
    assert "entry 0 of" in lines[2]
    assert "entry 6 of" in lines[8]


def test_the_setting_bounds_the_block_where_the_caller_does_not(full):
    full.write(".scaffolding/amp.toml", "[recall]\nmax_chars = 3000\n")
    assert 0 < len(full.recall("dev", "c1")) <= 3_000
    assert 3_000 < len(full.recall("dev", "c1", max_chars=6_000)) <= 6_000


@pytest.mark.parametrize(
    "name", ["", "..", "a/b", "%2e%2e", "x" * 4_096, "CON", "-rf", "👍", "devel\u043eper", "a\0b", 5]
)
def test_a_name_that_breaks_the_rule_is_refused_as_agent_and_as_conversation(project, name):
    with pytest.raises(InvalidName):
        project.recall(name)
    with pytest.raises(InvalidName):
        project.recall(None, name)


def test_what_is_left_out_is_what_the_command_in_the_block_shows(full):
    recall = full.workspace().recall(Actor("dev"))
    shown = full.workspace().left_out(recall.parts[0].target, Actor("dev"))
    assert [number for number, _ in shown] == [
        number for left in recall.parts[0].left_out for number in range(left.first_line, left.last_line + 1)
    ]


MEASURED = """
import sys
from agent_memory_protocol import recall_for_agent
block = recall_for_agent(root=sys.argv[1])
assert "- the newest entry" in block, block[-500:]
assert "are not considered" in block
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="only Linux tells what this process alone has used")
def test_a_huge_file_is_recalled_from_its_ends_in_little_memory(project):
    line = b"- an entry of ordinary length about something that was learned once\n"
    project.write(SHARED, b"# S\n\n" + line * (50 * 1024 * 1024 // len(line)) + b"- the newest entry\n")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(project.root)], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) < 200 * 1024
