"""Hosts pass on names that others have given: none of them reads, writes or hides anything elsewhere."""

import pytest

from agent_memory_protocol.errors import InvalidName
from agent_memory_protocol.layout import check_agent_name, check_conversation_id
from tests.raw import EVIL, raw_in

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
FINDINGS = "```memory-findings\n- shared: Staging runs Postgres 14.\n```\n"
_INVISIBLE = [
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2065),
    *range(0x2066, 0x206A),
    0xAD,
    0x34F,
]
_DEVICES = ["con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789")]
NAMES = list(
    dict.fromkeys(
        [
            *(".", "..", "...", "/", "\\", "~", "-", " ", "*", "?", "x" * 129, "x" * 300, "x" * 5_000, "é" * 130),
            *("../x", "../../x", "../../../etc/passwd", "a/..", "a/../../b", "a\\..\\..\\b", "..\\x", "/etc", "//x"),
            *("C:x", "C:\\x", "\\\\host\\share", "%2e%2e", "..%2fx", "%00", "....//x", ".x", "x.", "-rf", "--help"),
            *(".git", ".scaffolding", "$(id)", "`id`", "$HOME", "a;b", "a|b", "a&b", "a>b", "devel\u043eper"),
            *("\uff44ev", "aux.x.y", "x/", "//", "\\\\", "..."),
            *("\ufb01x", "\u2460", "\U0001f600", "\u0301x", "\u2024x", "x\u2215y", "a b", "team dev"),
            *("a\u00a0b", "caf\udce9", "a\u3000b", "a\u2028b"),
            *(f"a{chr(code)}b" for code in (*range(1, 32), 127, *range(128, 160))),
            *(f"a{chr(code)}b" for code in _INVISIBLE),
            *(chr(code) for code in _INVISIBLE),
            *(f"a{sign}b" for sign in "!\"#$&'()*+,;<=>?@[]^`{|}~"),
            *(f"{sign}x" for sign in "!\"#$&'()*+,;<=>?@[]^`{|}~"),
            *_DEVICES,
            *(name.upper() for name in _DEVICES),
            *(f"{name}.md" for name in _DEVICES),
            *(f"{name}.tar.gz" for name in _DEVICES),
        ]
    )
)  # fmt: skip


def test_there_are_three_hundred_names_and_none_is_one():
    assert len(NAMES) >= 300
    for name in NAMES:
        for check in (check_agent_name, check_conversation_id):
            with pytest.raises(InvalidName):
                check(name)


@pytest.fixture
def message(project):
    def make(name, **more):
        given = {"cwd": str(project.root), "session_id": name, "agent_type": name, "source": "startup"}
        return {**given, "last_assistant_message": FINDINGS, **more}

    return make


@pytest.mark.slow
@pytest.mark.requirement("S4-11", "S4-23")
@pytest.mark.parametrize("event", ["session-start", "subagent-start"])
def test_a_hostile_name_is_given_what_everyone_is_and_no_more(project, message, event):
    before = project.tree()
    for name in NAMES:
        said = project.hook(event, message(name))
        assert said.context.count("<memory tier=") == 1, name
        assert "- The shared fact." in said.context
        assert "is not allowed" in said.err
    assert project.tree() == before


@pytest.mark.slow
@pytest.mark.requirement("S4-11")
@pytest.mark.parametrize("event", ["stop", "subagent-stop"])
def test_a_hostile_name_keeps_nothing(project, message, event):
    before = project.tree()
    for name in NAMES:
        assert project.hook(event, message(name)).answer == {}
    assert project.tree() == before


@pytest.mark.slow
@pytest.mark.requirement("S4-12")
def test_a_hostile_name_writes_no_memory(project, message):
    write = {"tool_name": "Write", "tool_input": {"file_path": str(project.root / SHARED), "content": "- x\n"}}
    command = {"tool_name": "Bash", "tool_input": {"command": "amp remember x"}}
    other = {"tool_name": "Write", "tool_input": {"file_path": str(project.root / "notes.txt"), "content": "amp\n"}}
    for name in NAMES:
        assert "is not allowed" in project.hook("pre-tool-use", message(name, **write)).denied
        assert "is not allowed" in project.hook("pre-tool-use", message(name, **command)).denied
        assert project.hook("pre-tool-use", message(name, **other)).denied == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "event", ["session-start", "subagent-start", "prompt", "pre-tool-use", "stop", "subagent-stop"]
)
def test_nothing_of_an_event_hides_in_what_is_said(project, message, event):
    tool = {"tool_name": "Write", "tool_input": {"file_path": str(project.root / SHARED), "content": "- x\n"}}
    fine = {**message("s1", **tool), "agent_type": "dev", "prompt": "fact"}
    commands = (
        {"command": f"amp remember x --as {EVIL}"},
        {"file_path": f"{project.root / SHARED}{EVIL}"},
        {EVIL: EVIL},
    )
    changes: list[dict[str, object]] = [{name: value} for name in (*fine, EVIL) for value in (EVIL, f"dev{EVIL}")]
    changes += [
        {"tool_name": name, "tool_input": one} for one in commands for name in ("Bash", "Write", f"mcp__{EVIL}")
    ]
    for change in changes:
        said = project.hook(event, {**fine, **change})
        assert raw_in([said.answer, said.err]) == "", change
    for name in ("AMP_AGENT", "AMP_CONVERSATION", "AMP_ROOT"):
        said = project.hook(event, fine, environ={name: EVIL})
        assert raw_in([said.answer, said.err]) == "", name
