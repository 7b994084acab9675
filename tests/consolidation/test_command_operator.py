"""A program as an operator: it answers in time, in size and in form, or its answer counts for nothing."""

import json
import os
import select
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from agent_memory_protocol.consolidation.command_operator import CommandOperator
from agent_memory_protocol.consolidation.pipeline import Operators, consolidate
from agent_memory_protocol.consolidation.proposals import (
    Create,
    Defer,
    Dispute,
    Promote,
    Question,
    Resolve,
    Stage,
    Supersede,
    Unreadable,
)
from agent_memory_protocol.consolidation.write import take_in
from agent_memory_protocol.errors import InvalidArgument, OperatorFailed
from agent_memory_protocol.records import lifecycle
from agent_memory_protocol.records.record import Provenance, RecordType, State
from tests.each_row import each_row

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
LONG = 60.0
"""A time that is never reached, even by a busy machine."""


def program(text: str, *arguments: str, **limits: Any) -> CommandOperator:
    return CommandOperator([sys.executable, "-c", text, *arguments], **{"seconds": LONG, "name": "model", **limits})


def answering(*proposals: object, **limits: Any) -> CommandOperator:
    return program("import sys; print(sys.argv[1])", json.dumps({"proposals": proposals}), **limits)


def about(stage: Stage, *records: Any) -> Question:
    return Question(stage=stage, now=NOW, records=records)


@pytest.fixture
def two(make):
    return make("Staging runs Postgres."), make("Staging runs MySQL.")


@pytest.mark.requirement("S1-14", "S1-35")
def test_what_a_program_proposes_passes_the_same_door(two):
    ids = [record.id for record in two]
    operator = answering(
        {"kind": "dispute", "ids": ids, "reason": "a database is one or the other"},
        {"kind": "dispute", "ids": [ids[0], "mem:gone"], "reason": "made up"},
        {"kind": "archive", "ids": ids, "reason": "away with it"},
    )
    outcome = consolidate(two, now=NOW, operators=Operators(contradiction=(operator,)))
    assert {record.state for record in outcome.writes} == {State.TRANSITIONAL}
    assert [(action.by, action.reason) for action in outcome.report.refused] == [
        ("model", "there is no record 'mem:gone'"),
        ("model", "kind is not one of those that the stage contradiction takes: dispute"),
    ]


def test_a_program_is_asked_in_json_about_the_records_of_its_stage(two, make, tmp_path):
    asked = tmp_path / "asked"
    text = 'import sys; open(sys.argv[1], "w").write(sys.stdin.read()); print(\'{"proposals": []}\')'
    episode = make("Deployed.", type=RecordType.EPISODE)
    assert program(text, str(asked)).propose(about(Stage.CONTRADICTION, *two, episode)) == []
    question = json.loads(asked.read_text(encoding="utf-8"))
    assert (question["version"], question["stage"], question["may_propose"]) == (1, "contradiction", ["dispute"])
    assert question["now"] == "2026-11-15T12:00:00.000Z"
    assert [record["id"] for record in question["records"]] == [record.id for record in two]
    assert question["records"][0]["body"] == "Staging runs Postgres."
    assert "signature" not in question["records"][0]


def test_it_is_asked_nothing_where_there_is_nothing_to_look_at(two, tmp_path):
    operator = CommandOperator([str(tmp_path / "never started")])
    assert not operator.propose(about(Stage.DEDUP, two[0]))
    assert not operator.propose(about(Stage.RESOLUTION, *two))
    assert not operator.propose(Question(stage=Stage.WRITE, now=NOW, text=" \n"))


def test_it_is_shown_the_records_changed_last_and_the_rest_is_said(make):
    records = [make(f"Fact {number}.") for number in range(5)]
    text = (
        "import json, sys; ids = [r['id'] for r in json.load(sys.stdin)['records']];"
        "print(json.dumps({'proposals': [{'kind': 'dispute', 'ids': ids, 'reason': 'seen'}]}))"
    )
    dispute, rest = program(text, most_records=2).propose(about(Stage.CONTRADICTION, *records))
    assert dispute == Dispute((records[3].id, records[4].id), "seen")
    assert rest == Defer((), "3 records were not shown, since 2 are the limit")


@pytest.mark.requirement("S1-39", "S1-75")
def test_a_program_can_extract_records_from_a_text():
    operator = answering(
        {"kind": "create", "type": "fact", "body": "Redis needs AOF.", "tags": ["redis"], "confidence": "0.8"},
        {"kind": "create", "type": "episode", "body": "We lost data.", "occurred_at": "2026-03-01T00:00:00.000Z"},
        {"kind": "create", "type": "rule", "body": "Never trust Redis."},
    )
    outcome = take_in(
        "A long story.", extractor=operator, provenance=Provenance("conversation", "c1"), known=(), now=NOW
    )
    assert [(record.type.value, record.body, record.confidence) for record in outcome.writes] == [
        ("fact", "Redis needs AOF.", 0.8),
        ("episode", "We lost data.", 0.5),
    ]
    assert {record.provenance for record in outcome.writes} == {Provenance("conversation", "c1")}
    (refused,) = outcome.report.refused
    assert "a rule needs evidence" in refused.reason


def test_a_program_can_merge_decide_and_promote(two, make):
    ids = [record.id for record in two]
    (merged,) = answering({"kind": "supersede", "ids": ids, "reason": "twice", "body": "Both."}).propose(
        about(Stage.DEDUP, *two)
    )
    assert isinstance(merged, Supersede)
    assert (merged.record.body, set(merged.replaced)) == ("Both.", set(ids))

    disputed = lifecycle.dispute(*two, reason="two values", now=NOW)
    decided = answering({"kind": "resolve", "winner": ids[1], "loser": ids[0], "reason": "newer"}).propose(
        about(Stage.RESOLUTION, *disputed)
    )
    assert decided == [Resolve(ids[1], ids[0], "newer")]

    episodes = [make(f"Deploy {n} failed.", type=RecordType.EPISODE, tags=("deploy",)) for n in range(2)]
    item = {"kind": "promote", "ids": [one.id for one in episodes], "body": "Deploys fail.", "reason": "twice"}
    (rule,) = answering(item).propose(about(Stage.PROMOTION, *episodes))
    assert isinstance(rule, Promote)
    assert (rule.record.body, rule.record.tags) == ("Deploys fail.", ("deploy",))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stage", "item"),
    [
        pytest.param(Stage.CONTRADICTION, "dispute", id="no object"),
        pytest.param(Stage.CONTRADICTION, {}, id="nothing"),
        pytest.param(Stage.CONTRADICTION, {"kind": ["dispute"]}, id="kind is a list"),
        pytest.param(Stage.CONTRADICTION, {"kind": "resolve", "winner": "A", "loser": "B", "reason": "x"}, id="other"),
        pytest.param(Stage.CONTRADICTION, {"kind": "dispute", "ids": ["A", "B"]}, id="no reason"),
        pytest.param(Stage.CONTRADICTION, {"kind": "dispute", "ids": ["A", "B"], "reason": " "}, id="empty reason"),
        pytest.param(Stage.CONTRADICTION, {"kind": "dispute", "ids": ["A"], "reason": "x"}, id="one side"),
        pytest.param(Stage.CONTRADICTION, {"kind": "dispute", "ids": "AB", "reason": "x"}, id="ids is a text"),
        pytest.param(Stage.CONTRADICTION, {"kind": "dispute", "ids": ["A", "B"], "reason": "x", "y": 1}, id="more"),
        pytest.param(Stage.DEDUP, {"kind": "supersede", "ids": ["A", "C"], "reason": "x"}, id="unknown record"),
        pytest.param(Stage.DEDUP, {"kind": "supersede", "ids": ["A", "A"], "reason": "x"}, id="one record twice"),
        pytest.param(Stage.DEDUP, {"kind": "supersede", "ids": ["A", "B"], "reason": "x", "body": 1}, id="body is 1"),
        pytest.param(Stage.WRITE, {"kind": "create", "type": "idea", "body": "x"}, id="unknown type"),
        pytest.param(Stage.WRITE, {"kind": "create", "type": "fact", "body": ""}, id="empty body"),
        pytest.param(Stage.WRITE, {"kind": "create", "type": "fact", "body": "x", "confidence": 2}, id="sure twice"),
        pytest.param(Stage.WRITE, {"kind": "create", "type": "fact", "body": "x", "confidence": True}, id="sure"),
        pytest.param(Stage.WRITE, {"kind": "create", "type": "fact", "body": "x", "slots": {"a": 0.5}}, id="a float"),
        pytest.param(Stage.WRITE, {"kind": "create", "type": "fact", "body": "x", "occurred_at": "today"}, id="today"),
        pytest.param(Stage.WRITE, {"kind": "create", "type": "fact", "body": "x", "id": "mem:1"}, id="its own id"),
    ],
)
@pytest.mark.requirement("S1-45")
def test_what_is_not_spelled_as_a_proposal_is_refused_alone(two, stage, item):
    names = {"A": two[0].id, "B": two[1].id}

    def named(value: Any) -> Any:
        return [names.get(one, one) for one in value] if isinstance(value, list) else value

    item = {key: named(value) for key, value in item.items()} if isinstance(item, dict) else item
    question = Question(stage=stage, now=NOW, records=two, text="A text.", provenance=Provenance("test"))
    (proposal,) = answering(item).propose(question)
    assert isinstance(proposal, Unreadable)
    assert proposal.reason


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param('{"proposals": []}', id="plain"),
        pytest.param('\n {"proposals": [], "thoughts": "none"}\n', id="white space, and more than asked for"),
        pytest.param('```json\n{"proposals": []}\n```', id="in a fence"),
    ],
)
def test_an_answer_may_be_wrapped(two, printed):
    assert program("import sys; print(sys.argv[1])", printed).propose(about(Stage.DEDUP, *two)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("pass", "not JSON", id="nothing"),
        pytest.param("print('I think they contradict.')", "not JSON", id="prose"),
        pytest.param("print('[' * 100_000)", "not JSON", id="too deep"),
        pytest.param("print('[]')", "not of the form", id="a list"),
        pytest.param("print('{\"proposals\": {}}')", "not of the form", id="an object"),
        pytest.param("import sys; sys.stdout.buffer.write(b'\\xff')", "not UTF-8", id="bytes"),
        pytest.param("import sys; sys.exit('no quota left')", "exit code 1: no quota left", id="it fails"),
        pytest.param("import os; os.kill(os.getpid(), 9)", "exit code -9", id="it is killed"),
        pytest.param("import time; time.sleep(600)", "took longer than 0.2 s", id="it is slow"),
        pytest.param(
            "import os, time; os.close(1); time.sleep(600)", "took longer than 0.2 s", id="it closes and goes on"
        ),
        pytest.param("while True: print('x' * 1000)", "more than 200000 bytes", id="it never stops"),
    ],
)
def test_an_answer_that_cannot_be_used_says_why(two, text, why):
    limits: dict[str, Any] = {"seconds": 0.2} if "longer" in why else {}
    with pytest.raises(OperatorFailed, match=why):
        program(text, most_bytes=200_000, **limits).propose(about(Stage.DEDUP, *two))


def test_a_program_that_is_not_there_is_reported_and_the_pass_goes_on(two, tmp_path):
    operator = CommandOperator([str(tmp_path / "nothing")])
    outcome = consolidate(two, now=NOW, operators=Operators(dedup=(operator,)))
    (refused,) = outcome.report.refused
    assert (refused.by, refused.reason) == (
        "nothing",
        f"{tmp_path / 'nothing'} cannot be started: No such file or directory",
    )


def test_arguments_are_passed_as_they_are_and_no_shell_reads_them(two, tmp_path):
    text = "import json, sys; print(json.dumps({'proposals': sys.argv[1:]}))"
    harmless = [f"; touch {tmp_path}/x", "$(id)", "a b", "*"]
    assert len(program(text, *harmless).propose(about(Stage.DEDUP, *two))) == len(harmless)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_program_that_reads_nothing_and_complains_a_lot_may_still_answer(make):
    records = [make(f"Fact {number}: {'x' * 1000}") for number in range(400)]
    text = "import sys; sys.stderr.write('x' * 1_000_000); print('{\"proposals\": []}')"
    assert program(text).propose(about(Stage.DEDUP, *records)) == []


def test_it_runs_with_its_own_memory_switched_off(two):
    text = "import json, os; print(json.dumps({'proposals': [os.environ['AMP_DISABLE']]}))"
    assert len(program(text).propose(about(Stage.DEDUP, *two))) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="groups of processes are a thing of POSIX")
def test_what_it_has_started_is_killed_with_it(two, tmp_path):
    """The grandchild holds a pipe open for writing; that the pipe ends shows that the grandchild has."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    grandchild = "import sys, time; held = open(sys.argv[1], 'w'); print('holding', flush=True); time.sleep(600)"
    text = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', sys.argv[1], sys.argv[2]], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "while True: print('x' * 1000)"
    )
    try:
        with pytest.raises(OperatorFailed, match="more than"):
            program(text, grandchild, str(pipe), most_bytes=10_000).propose(about(Stage.DEDUP, *two))
        ready, _, _ = select.select([reading], [], [], LONG)
        assert ready
        assert os.read(reading, 1) == b""
    finally:
        os.close(reading)


@each_row(
    "command, limits",
    [
        pytest.param("claude -p", {}, id="a text for a shell"),
        pytest.param([], {}, id="nothing"),
        pytest.param([""], {}, id="no name"),
        pytest.param(["x"], {"seconds": 0}, id="no time"),
        pytest.param(["x"], {"most_bytes": -1}, id="no room"),
        pytest.param(["x"], {"most_records": 0}, id="no records"),
    ],
)
def test_no_program_or_no_limit_is_refused_at_once(command, limits):
    with pytest.raises(InvalidArgument):
        CommandOperator(command, **limits)


def test_create_is_all_that_an_extractor_may_answer(two):
    question = Question(stage=Stage.WRITE, now=NOW, text="A text.", provenance=Provenance("test"))
    good = {"kind": "create", "type": "procedure", "body": "Run make.", "reason": "said twice"}
    first, second = answering(good, {"kind": "supersede", "ids": [], "reason": "x"}).propose(question)
    assert isinstance(first, Create)
    assert first.reason == "said twice"
    assert isinstance(second, Unreadable)
