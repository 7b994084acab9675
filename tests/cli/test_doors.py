"""Who may write what: every verb that writes asks the same policy, and a refused one leaves every byte as it was."""

import pytest

from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/{}/agent-memory/context.md"
NOTE = ["--description", "a fact", "--why", "it happened", "--how", "look first"]


DOCUMENT = "# S\n\n- [2020-01-01] old\n- new\n- newer\n- last\n"


@pytest.fixture
def told(amp):
    """A project with the same entries in each document, and one more that was taken out of each."""
    for path in (SHARED, AGENT.format("dev"), CONVERSATION.format("c1")):
        amp.write(path, DOCUMENT + "- gone\n")
    for entry_id in ids(amp, "- gone").values():
        assert amp("forget", entry_id).code == 0
    return amp


def ids(amp, text):
    """The id that an entry with that text has, by document."""
    return {entry["target"]: entry["id"] for entry in amp("list", "--json").json()["entries"] if entry["text"] == text}


def path_of(target):
    tier, _, name = target.partition(":")
    return {"shared": SHARED, "agent": AGENT, "conversation": CONVERSATION}[tier].format(name)


def writing(amp, target):
    """Every way the command line has to write a document."""
    tier, _, name = target.partition(":")
    named = [f"--{tier}", name] if name else []
    whose = named or ["--tier", "shared"]
    old = ids(amp, "- [2020-01-01] old")[target]
    listed = amp("restore", "--list", "--json").json()
    (gone,) = [entry["id"] for entry in listed["entries"] if entry["target"] == target]
    commands = [
        ["remember", "a fact", *whose],
        ["remember", "a fact", *whose, "--section", "New", "--dated"],
        ["remember", "old", *whose, "--date", "2026-01-01"],
        ["forget", old],
        ["forget", old, "--redact"],
        ["edit", old, "changed"],
        ["prune", target, "--apply"],
        ["restore", gone, "--apply"],
    ]
    if name:
        commands.append(["init", *named])
    if tier != "conversation":
        commands.append(["note", "new", "project", "a-note", *NOTE, *named])
    return commands


OUTSIDERS = [
    ("shared", {"AMP_AGENT": "reviewer"}, "it is read-only"),
    ("agent:dev", {"AMP_AGENT": "reviewer"}, ""),
    ("agent:dev", {"AMP_AGENT": "tester"}, ""),
    ("agent:dev", {"AMP_AGENT": "architect"}, ""),
    ("agent:dev", {"AMP_AGENT": "writing-architect"}, ""),
    ("agent:dev", {"AMP_AGENT": "de"}, ""),
    ("agent:dev", {"AMP_AGENT": "dev2"}, ""),
    ("conversation:c1", {"AMP_AGENT": "dev", "AMP_CONVERSATION": "c2"}, ""),
    ("conversation:c1", {"AMP_AGENT": "dev", "AMP_CONVERSATION": "c"}, ""),
    ("conversation:c1", {"AMP_AGENT": "dev", "AMP_CONVERSATION": "c10"}, ""),
    ("conversation:c1", {"AMP_AGENT": "reviewer", "AMP_CONVERSATION": "c1"}, "it is read-only"),
]


@pytest.mark.requirement("S4-12", "S4-14", "S4-17", "S4-53", "S4-54", "S4-55")
@each_row("target, environ, words", OUTSIDERS, ids=[f"{t} {e}" for t, e, _ in OUTSIDERS], fresh=True)
def test_whoever_may_not_write_is_refused_by_every_verb(told, target, environ, words):
    """B74, B79."""
    told.write(".claude/agents/writing-architect.md", "---\nname: writing-architect\n---\n")
    for args in writing(told, target):
        before = told.tree()
        answer = told(*args, environ=environ)
        if answer.code == 2:
            # What this actor may not even read is not there for it.
            assert args[0] in ("forget", "edit", "restore")
            assert "there is no entry" in answer.err or "no ledger has" in answer.err
        else:
            answer.refuses(3, "may not", words)
        assert told.tree() == before, args


INSIDERS = [
    ("shared", {}),
    ("agent:dev", {}),
    ("conversation:c1", {}),
    ("shared", {"AMP_AGENT": "dev"}),
    ("shared", {"AMP_AGENT": "somebody-new"}),
    ("agent:dev", {"AMP_AGENT": "dev"}),
    ("agent:dev", {"AMP_AGENT": "scaffolding:DEV"}),
    ("conversation:c1", {"AMP_AGENT": "dev", "AMP_CONVERSATION": "c1"}),
    ("conversation:c1", {"AMP_AGENT": "tester", "AMP_CONVERSATION": "C1"}),
    ("conversation:c1", {"AMP_CONVERSATION": "c2"}),
]


@pytest.mark.requirement("S4-08", "S4-12", "S4-17", "S4P-01")
@each_row("target, environ", INSIDERS, ids=str, fresh=True)
def test_whoever_may_write_is_served_by_every_verb(told, target, environ):
    for args in writing(told, target):
        told.write(path_of(target), DOCUMENT)
        answer = told(*args, environ=environ)
        assert answer.code == 0, (args, answer)


DEFINITIONS = [
    ("name: helper\ndisallowedTools: Write, Edit", True),
    ("name: helper\ndisallowedTools: Edit,Write,MultiEdit", True),
    ("name: helper\ndisallowedTools:\n  - Write\n  - Edit", True),
    ("name: helper\ndisallowedTools: [Write, Edit]", True),
    ("name: Helper\ndisallowedTools:   write ,  EDIT  ", True),
    ("name: helper\ntools: Read, Grep, Bash(git log:*)", True),
    ("name: helper\ntools:\n  - Read\n  - Grep", True),
    ("name: helper\ntools: Read, Write\ndisallowedTools: Write", True),
    ("name: helper\ndisallowedTools: Write", False),
    ("name: helper\ntools: Read, Edit", False),
    ("name: helper", False),
    ("name: other\ndisallowedTools: Write, Edit", False),
]


@pytest.mark.slow
@pytest.mark.requirement("S4-52", "S4-54", "S4-55", "S4-56", "S4-58", "S4P-03")
@each_row("header, read_only", DEFINITIONS, ids=[header for header, _ in DEFINITIONS], fresh=True)
@each_row(
    "path", [".claude/agents/any.md", ".claude/agents/team/helper-v2.md", ".claude/plugins/p/agents/x.md"], fresh=True
)
def test_an_agents_definition_makes_it_read_only(amp, header, read_only, path):
    """B79: read-only agents get write rights through the memory feature, or their memory silently does nothing."""
    amp.write(path, f"---\n{header}\n---\nYou help.\n")
    amp.write(AGENT.format("helper"), "# H\n\n- recalled\n")
    before = amp.tree()
    for target in (["--tier", "shared"], ["--agent", "helper"], ["--conversation", "c1"]):
        answer = amp("remember", "a finding", *target, "--as", "helper")
        if read_only:
            answer.refuses(3, "it is read-only", path, "report findings in your output", "```memory-findings")
            assert amp.tree() == before
        else:
            assert answer.code == 0
    assert "- recalled" in amp("recall", "helper").out


@pytest.mark.requirement("S4-53")
@each_row("agent", ["architect", "reviewer", "Reviewer", "plugin:architect"], fresh=True)
def test_the_named_agents_are_read_only_until_their_definition_differs(amp, agent):
    amp("remember", "x", "--as", agent).refuses(
        3, "the setting access.read_only names it", "no agent definition says otherwise"
    )
    amp.write(".claude/agents/a.md", f"---\nname: {agent.partition(':')[2] or agent}\ntools: Read, Write\n---\n")
    assert amp("remember", "x", "--as", agent).code == 0


@pytest.mark.requirement("S4-53")
def test_the_settings_name_who_is_read_only(amp):
    amp.write(".scaffolding/amp.toml", '[access]\nread_only = ["dev"]\nreaders_of_all = ["lead"]\n')
    amp.write(AGENT.format("tester"), "# T\n\n- of-tester\n")
    amp("remember", "x", "--as", "dev").refuses(3, "access.read_only names it (.scaffolding/amp.toml)")
    assert amp("remember", "x", "--as", "reviewer").code == 0
    assert "of-tester" in amp("show", "--agent", "tester", "--as", "lead").out
    amp("show", "--agent", "tester", "--as", "architect").refuses(3, "only agent tester and lead may")


@pytest.mark.requirement("S4-47")
def test_what_one_agent_finds_the_next_one_of_the_conversation_reads(amp):
    in_c1 = {"AMP_CONVERSATION": "c1"}
    assert (
        amp("remember", "the leak is in the pool", "--tier", "conversation", "--as", "debugger", environ=in_c1).code
        == 0
    )
    assert "the leak is in the pool" in amp("recall", "developer", environ=in_c1).out
    assert amp("recall", "developer", environ={"AMP_CONVERSATION": "c10"}).out == ""


def test_a_refusal_says_how_to_join_and_where_to_write_instead(told):
    told("remember", "x", "--agent", "dev", "--as", "tester").refuses(3, "--agent tester")
    told("show", "--conversation", "c1", environ={"AMP_AGENT": "dev", "AMP_CONVERSATION": "c2"}).refuses(
        3, "it acts in conversation c2", "read shared instead"
    )


@each_row(
    "verb",
    [["remember", "x"], ["recall"], ["show"], ["list"], ["status"], ["init"]],
    ids=lambda verb: verb[0],
    fresh=True,
)
def test_an_empty_identity_is_a_mistake_and_not_the_owner(told, verb):
    """A script whose variable is empty must not become the person who may do everything."""
    before = told.tree()
    told(*verb, "--as", "").refuses(2, "the agent name is empty")
    assert told.tree() == before
