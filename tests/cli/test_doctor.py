"""`amp doctor`: one answer to "why is my memory not there?"."""

import subprocess
from pathlib import Path

import pytest

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
MAKES = "does not exist yet; `amp remember TEXT{}` makes it"
CONVERSATION = ".scaffolding/conversations/{}/agent-memory/context.md"
PROTOCOL = Path(__file__).parents[3] / "shared" / "seeds"


def findings(answer):
    """The lines after the table: each is a mark and a message."""
    return answer.out.split("\n\n")[-1].splitlines()


def test_doctor_says_where_memory_lies_what_is_in_it_and_what_is_recalled(amp):
    amp("init", "--agent", "dev")
    amp("remember", "a fact")
    amp("remember", "of c1", "--conversation", "c1")
    answer = amp("doctor", "dev", "--conversation", "c1")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(amp("where").out.rstrip("\n"))
    table = answer.out.split("\n\n")[1].splitlines()
    assert [row.split()[0] for row in table] == ["document", "shared", "agent:dev", "conversation:c1"]
    assert findings(answer) == [
        "ok  agent dev may write",
        "ok  shared is recalled: 3 of 4 lines, every entry",
        f"ok  agent:dev is not recalled: {AGENT.format('dev')} has no entries yet",
        "ok  conversation:c1 is recalled: 3 of 4 lines, every entry",
    ]


def test_doctor_as_json_has_the_same_findings(amp):
    amp("remember", "a fact")
    found = amp("doctor", "dev", "--json").json()
    assert found["where"] == {key: value for key, value in amp("where", "--json").json().items() if key != "version"}
    assert found["checks"] == [
        {"ok": True, "message": "agent dev may write"},
        {"ok": True, "message": "shared is recalled: 3 of 4 lines, every entry"},
        {
            "ok": True,
            "message": f"agent:dev is not recalled: {AGENT.format('dev')} {MAKES.format(' --agent dev')}",
        },
    ]


@pytest.mark.parametrize("who", [["dev"], ["--as", "dev"]], ids=str)
def test_doctor_looks_for_who_is_named_or_acts(amp, who):
    amp("remember", "a fact", "--agent", "dev")
    recalled = "ok  agent:dev is recalled: 3 of 4 lines, every entry"
    assert recalled in findings(amp("doctor", *who))
    assert recalled in findings(amp("doctor", environ={"AMP_AGENT": "dev"}))


@pytest.mark.requirement("S4-13", "S4-18")
def test_doctor_tells_an_agent_nothing_of_others(amp):
    amp("doctor", "dev", "--as", "tester").refuses(3, "agent tester may not read agent:dev")
    amp("doctor", "--conversation", "2", environ={"AMP_AGENT": "dev", "AMP_CONVERSATION": "1"}).refuses(
        3, "may not read"
    )


@pytest.mark.requirement("S4-53")
def test_doctor_says_who_is_read_only_and_why(amp):
    amp.write(".claude/agents/helper.md", "---\nname: helper\ndisallowedTools: Write, Edit\n---\n")
    amp("init")
    assert findings(amp("doctor", "helper"))[0] == (
        "ok  agent helper is read-only: .claude/agents/helper.md gives it neither Write nor Edit"
    )
    assert findings(amp("doctor", "reviewer"))[0].startswith(
        "ok  agent reviewer is read-only: the setting access.read_only"
    )


def test_doctor_in_an_empty_folder_says_what_is_missing(amp):
    answer = amp("doctor", "dev")
    assert (answer.code, answer.err) == (0, "")
    assert findings(answer) == [
        "ok  agent dev may write",
        f"ok  shared is not recalled: {SHARED} {MAKES.format('')}",
        f"ok  agent:dev is not recalled: {AGENT.format('dev')} {MAKES.format(' --agent dev')}",
    ]
    answer = amp("doctor", "--root", "not/there")
    missing = f"{amp.root}/not/there"
    assert findings(answer) == [f"!!  {missing} does not exist; `amp init --root {missing}` makes it"]
    assert amp.tree() == {}


OFF = [
    ({"AMP_DISABLE": "1"}, "", "!!  memory is switched off by AMP_DISABLE"),
    ({}, "enabled = false\n", "!!  memory is switched off by .scaffolding/amp.toml"),
    ({}, "[tiers]\nagent = false\n", "!!  the agent tier is"),
    ({}, "[limits]\nmax_line = 5\n", "!!  .scaffolding/amp.toml: 'limits.max_line' is not a setting; did you mean"),
]


@pytest.mark.parametrize(("environ", "settings", "finding"), OFF, ids=[finding for _, _, finding in OFF])
def test_doctor_names_the_setting_that_keeps_memory_away(amp, environ, settings, finding):
    amp("remember", "a fact", "--agent", "dev")
    amp.write(".scaffolding/amp.toml", settings)
    answer = amp("doctor", "dev", environ=environ)
    assert answer.code == 1
    assert findings(answer)[0].startswith(finding)
    assert sum(line.startswith("!!") for line in findings(answer)) == 1


def test_settings_that_cannot_be_read_are_damage(amp):
    amp.write(".scaffolding/amp.toml", "enabled = \n")
    answer = amp("doctor")
    assert answer.code == 4
    assert findings(answer)[0].startswith("!!  .scaffolding/amp.toml:1: is not valid TOML")


DAMAGED = [("dev", AGENT.format("dev")), ("", SHARED), ("", AGENT.format("tester")), ("", CONVERSATION.format("c2"))]


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "path"), [*DAMAGED, ("dev", CONVERSATION.format("c1"))], ids=str)
def test_doctor_names_each_damaged_file_once(amp, agent, path):
    amp("remember", "a fact")
    amp.write(path, b"caf\xe9")
    answer = amp("doctor", *([agent] if agent else []), "--conversation", "c1")
    assert answer.code == 4
    (line,) = [line for line in findings(answer) if line.startswith("!!")]
    assert f"{path}:1: byte 0xE9 is not UTF-8" in line


def test_doctor_names_what_is_over_its_limit_and_what_is_left_out(amp):
    amp.write(SHARED, "# S\n" + "".join(f"- fact {number}\n" for number in range(200)))
    lines = findings(amp("doctor"))
    assert lines == [
        "ok  shared is recalled: 200 of 201 lines, 2 entries left out",
        "!!  shared is over its limit (101%); prune it",
    ]
    amp.write(SHARED, "# S\n\n" + "".join(f"- fact {number}\n  more\n" for number in range(100)))
    assert "1 entry left out" in findings(amp("doctor"))[0]


def test_doctor_tells_of_conflict_markers(amp):
    amp.write(SHARED, "# S\n\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> x\n")
    answer = amp("doctor")
    assert findings(answer)[0] == f"!!  {SHARED} holds merge conflict markers; both sides are recalled"


def test_a_store_that_is_a_file_is_diagnosed_and_not_just_refused(amp):
    """B80."""
    amp.write(".scaffolding", "a file")
    answer = amp("doctor", "dev")
    assert answer.code == 4
    assert answer.err == ""
    assert answer.out.startswith(f"root      {amp.root}\n")
    assert any("there is a file where a folder should be" in line for line in findings(answer))
    amp("doctor", "--json").json(4)


def test_doctor_says_when_git_ignores_the_memory(amp):
    subprocess.run(["git", "init", "-q"], cwd=amp.root, check=True)
    amp("init", "--ignore")
    assert findings(amp("doctor"))[-1] == (
        "ok  git ignores the memory, so it stays on this machine; `amp init --track` changes that"
    )


@pytest.mark.requirement("S4-02")
def test_doctor_tells_the_protocol_text_by_its_id(amp):
    text = amp.write("other.md", "---\nname: agent-memory\n---\n")
    answer = amp("doctor", "--protocol", str(text))
    assert answer.code == 1
    assert "the text that is implemented is 45f135a8614c2abc" in findings(answer)[-1]
    assert findings(answer)[-1].startswith("!!")
    amp("doctor", "--protocol", str(amp.root)).refuses(2, "is a directory")


@pytest.mark.requirement("S4-02")
@pytest.mark.skipif(not PROTOCOL.is_dir(), reason="needs the protocol's text beside the repository")
def test_doctor_knows_the_protocol_text(amp):
    told = [findings(amp("doctor", "--protocol", str(path)))[-1] for path in PROTOCOL.iterdir()]
    assert sum("is the protocol text that is implemented" in line for line in told) == 1


def test_a_person_who_names_no_agent_is_told_what_each_would_be_given(amp):
    for agent in ("dev", "ops"):
        amp("remember", f"what {agent} knows", "--agent", agent)
    amp("init", "--agent", "new")
    told = findings(amp("doctor"))
    assert [one for one in told if "agent:" in one] == [
        "ok  agent:dev is recalled: 3 of 4 lines, every entry",
        "ok  agent:new is not recalled: .scaffolding/agent-memory/agents/new/MEMORY.md has no entries yet",
        "ok  agent:ops is recalled: 3 of 4 lines, every entry",
    ]
    assert not [one for one in findings(amp("doctor", "--as", "dev")) if "agent:ops" in one]
