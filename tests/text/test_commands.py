"""A command in a message is one that its reader may give."""

import pytest

from agent_memory_protocol.text.commands import by_tools, in_own_name
from tests.each_row import each_row


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("keep one (`amp forget a1b2` removes this one)", "keep one (`amp forget a1b2 --as dev` removes this one)"),
        ("`amp list` or `amp show shared`", "`amp list --as dev` or `amp show shared --as dev`"),
        ("run `amp note remove x --redact`", "run `amp note remove x --redact --as dev`"),
    ],
)
def test_an_agent_is_told_commands_in_its_own_name(said, named):
    assert in_own_name(said, "dev") == named
    assert in_own_name(named, "dev") == named


@each_row(
    "said, named",
    [
        ("`amp resolve a1b2 c3d4` retires it", "`amp resolve a1b2 c3d4 --conversation c1 --as dev` retires it"),
        ("`amp forget a1b2`, `amp edit a1b2 TEXT`", "`amp forget a1b2 {}`, `amp edit a1b2 TEXT {}`"),
        ("`amp dispute a1b2 c3d4 --conversation c2`", "`amp dispute a1b2 c3d4 --conversation c2 --as dev`"),
        ("`amp note remove x` or `amp list`", "`amp note remove x --as dev` or `amp list --as dev`"),
    ],
)
def test_a_command_by_id_names_the_conversation_that_its_reader_has_named(said, named):
    named = named.replace("{}", "--conversation c1 --as dev")
    assert in_own_name(said, "dev", "c1") == named
    assert in_own_name(named, "dev", "c1") == named


@each_row(
    "said, told",
    [
        ("which entry? give its id; `amp list` shows them", "which entry? give its id; `memory_show` shows them"),
        ("(`amp forget a1b2` takes it out here)", "(`memory_forget` takes it out here)"),
        ("`amp resolve a1b2 c3d4` or `amp dispute a1b2 c3d4`", "`memory_resolve` or `memory_dispute`"),
        ("run `amp prune shared`; then again", "run `amp prune shared` (a person runs that); then again"),
        (
            "no record begins with mem:0; `amp record list` shows them",
            "no record begins with mem:0; `memory_search` shows them",
        ),
        ("`amp record resolve LOSER WINNER --reason R`", "`memory_resolve`"),
        ("`amp record verify --store m`", "`amp record verify --store m` (a person runs that)"),
        ("which agent? name it with --agent", "which agent? name it with `agent`"),
        (
            "add --make-room, or run `amp prune --agent dev`",
            "add `make_room`, or run `amp prune --agent dev` (a person runs that)",
        ),
        ("(`amp forget a1b2 --redact` helps)", "(`amp forget a1b2 --redact` (a person runs that) helps)"),
    ],
)
def test_a_client_of_the_server_is_told_its_tools(said, told):
    assert by_tools(said) == told


@each_row("said", ["", "amp list", "`ampere`", "`git log`", "``amp``", "`amp mcp --config`"])
def test_what_is_no_such_command_stays(said):
    assert in_own_name(said, "dev") == said
    assert "memory_" not in by_tools(said)
