"""Others can implement the protocol: its rules are numbered, its cases are data, and a run judges any program."""

import json
import re
import runpy
import shlex
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.conformance import cases, report, requirements
from agent_memory_protocol.conformance.calls import CALLS, answer
from agent_memory_protocol.conformance.program import NoAnswerError, Program
from tests.each_row import each_row

REPOSITORY = Path(__file__).parents[1]
CASES = cases.load()
STATED = re.findall(r"(?m)^- \*\*(P-\d+)\*\* ", (REPOSITORY / "docs" / "protocol.md").read_text(encoding="utf-8"))
FEW = [one for one in CASES if one.call == "budget"][:5]


@each_row("call", CALLS)
def test_this_engine_keeps_every_case(call):
    wrong = [
        (one.id, found)
        for one in CASES
        if one.call == call and (found := cases.difference(one, answer(one.question())))
    ]
    assert wrong == []


def test_each_rule_has_a_case_that_must_and_one_that_must_not():
    shown = Counter((rule, "-must-not-" in case.id) for case in CASES for rule in case.rules)
    assert [rule for rule in STATED if not (shown[rule, True] and shown[rule, False])] == []
    assert {rule for rule, _ in shown} == set(STATED)
    assert [f"P-{number}" for number in range(1, len(STATED) + 1)] == STATED


@pytest.mark.slow
def test_the_cases_are_those_that_their_script_makes_at_any_time():
    made = runpy.run_path(str(REPOSITORY / "conformance" / "make.py"))
    kept = {path.stem: json.loads(path.read_text()) for path in (REPOSITORY / "conformance" / "cases").glob("*.json")}
    assert made["wrong"] == []
    assert made["found"] == kept


def test_there_are_at_least_600_cases_each_with_its_own_name():
    assert len({one.id for one in CASES}) == len(CASES) >= 600


def test_the_format_of_cases_names_every_call():
    page = (REPOSITORY / "conformance" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (`[`\w, ]+`) \| (?:reader|writer|full) \|", page)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(CALLS)


@each_row(
    "expect, given, holds",
    [
        ({"result": {"a": 1}}, {"result": {"a": 1}}, True),
        ({"result": {"a": 1}}, {"result": {"a": 1, "more": 2}}, True),
        ({"result": {"a": [1, 2]}}, {"result": {"a": [1]}}, False),
        ({"result": {"a": 1}}, {"result": {"a": True}}, False),
        ({"result": {"a": None}}, {"result": {}}, False),
        ({"result": {}}, {"refused": "no"}, False),
        ({"refused": True}, {"refused": "in any words"}, True),
        ({"refused": True}, {"result": {}}, False),
        ({"refused": True}, {"refused": "no", "files": {"a": "b"}}, False),
        ({"result": {}}, {"result": {}, "files": {"a": "b"}}, False),
        ({"result": {}, "files": {"a": "b"}}, {"result": {}, "files": {"a": "b"}}, True),
        ({"result": {}, "files": {"a": "b"}}, {"result": {}}, False),
    ],
)
def test_an_answer_is_right_or_not(expect, given, holds):
    case = cases.Case("x", "reader", (), "budget", {}, expect)
    assert (cases.difference(case, given) is None) is holds


def run(program, *options):
    done = CliRunner().invoke(amp, ["conformance", "--command", program, "--level", "reader", "--json", *options])
    return done.exit_code, json.loads(done.stdout) if done.stdout else None, done


def a_program(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text("import json, sys, time\n" + text)
    return f"{sys.executable} -S {path}"


ECHO = "for line in sys.stdin:\n    "
BAD_PROGRAMS = {
    "silent": ECHO + "pass\n",
    "killed at once": "sys.exit(7)\n",
    "nonsense": ECHO + "print('nonsense', flush=True)\n",
    "a list": ECHO + "print('[1]', flush=True)\n",
    "deep nonsense": ECHO + "print('[' * 100000, flush=True)\n",
    "another case": ECHO + "print(json.dumps({'id': 'x', 'result': {}}), flush=True)\n",
    "an id that is a list": ECHO + "print(json.dumps({'id': [1], 'result': {}}), flush=True)\n",
    "result and refusal": ECHO
    + "print(json.dumps({'id': json.loads(line)['id'], 'result': {}, 'refused': 'x'}), flush=True)\n",
    "not a number": ECHO + "print(json.dumps({'id': json.loads(line)['id'], 'result': float('nan')}), flush=True)\n",
    "closed output": "import os\nos.close(1)\ntime.sleep(60)\n",
    "neither result nor refusal": ECHO + "print(json.dumps({'id': json.loads(line)['id']}), flush=True)\n",
    "no text": ECHO + "sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()\n",
    "a flood": "while True:\n    print('y' * 1000)\n",
    "a line without an end": "while True:\n    sys.stdout.write('y' * 1000)\n",
    "deaf": "time.sleep(60)\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BAD_PROGRAMS)
def test_a_bad_program_fails_its_cases_and_never_the_run(tmp_path, kind):
    code, said, _ = run(a_program(tmp_path, BAD_PROGRAMS[kind]), "--seconds", "0.3")
    assert code == 1
    assert said["held"] == 0
    assert len(said["cases"]) == said["total"] > 500
    assert all("no_answer" in one["got"] for one in said["cases"])


@pytest.mark.slow
def test_answers_in_another_order_fail_and_the_run_ends(tmp_path):
    text = (
        "held = []\n" + ECHO + "held.append(json.loads(line)['id'])\n    if len(held) == 2:\n"
        "        for one in reversed(held):\n            print(json.dumps({'id': one, 'result': {}}), flush=True)\n"
        "        held = []\n"
    )
    code, said, _ = run(a_program(tmp_path, text), "--seconds", "0.2")
    got = [one["got"].get("no_answer", "") for one in said["cases"]]
    assert (code, len(got)) == (1, said["total"])
    assert sum("no answer within" in one for one in got) <= 10


@pytest.mark.slow
def test_what_a_program_says_beside_its_answers_changes_nothing(tmp_path):
    text = ECHO + "sys.stderr.write('beside')\n"
    text += "    print(json.dumps({'id': json.loads(line)['id'], 'refused': 'no'}), flush=True)\n"
    code, said, _ = run(a_program(tmp_path, text))
    assert code == 1
    assert said["held"] == sum("refused" in case.expect for case in CASES if case.level == "reader")


@pytest.mark.slow
def test_a_program_that_is_missing_fails_every_case():
    code, said, _ = run("/no/such/program")
    assert (code, said["held"]) == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["", "  ", "'open"])
def test_a_command_that_is_none_is_a_usage_error(command):
    assert run(command)[0] == 2


@pytest.mark.slow
def test_a_crash_costs_one_case_and_a_late_answer_passes_for_no_other(tmp_path):
    text = (
        "for line in sys.stdin:\n    case = json.loads(line)\n    text = case['args']['text']\n"
        "    if text == 'a':\n        sys.exit(9)\n"
        "    if text == 'a\\n':\n        time.sleep(1)\n"
        "    print(json.dumps({'id': case['id'], 'result': {'bytes': len(text)}}), flush=True)\n"
    )
    with Program(a_program(tmp_path, text).split(), seconds=0.7) as program:
        got = []
        for case in FEW:
            try:
                got.append(program.ask(case.question())["result"]["bytes"])
            except NoAnswerError:
                got.append(None)
    assert [case.args["text"] for case in FEW[:3]] == ["", "a", "a\n"]
    assert got[:3] == [0, None, None]
    assert got[3:] == [len(case.args["text"]) for case in FEW[3:]]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_reader_in_javascript_keeps_every_reader_case_in_700_lines():
    reader = REPOSITORY / "conformance" / "readers" / "javascript" / "reader.js"
    code, said, _ = run(f"node {shlex.quote(str(reader))}")
    assert said["cases"] == []
    assert code == 0
    assert len(reader.read_text(encoding="utf-8").splitlines()) <= 700


def test_the_report_counts_each_rule_of_a_case():
    def wrong_once(question):
        return {"result": {}} if question["id"] == FEW[0].id else answer(question)

    done = report.run(FEW, wrong_once, "reader")
    assert done.rules["P-20"] == (len(FEW) - 1, 1)
    assert [one.case for one in done.failures] == [FEW[0]]
    assert done.failures[0].to_json()["expected"] == {"result": FEW[0].expect["result"]}
    assert "red" in done.badge
    assert "brightgreen" in report.run(FEW, answer, "reader").badge


def test_a_program_that_keeps_all_ends_with_0_and_a_badge(monkeypatch):
    monkeypatch.setattr(cases, "load", lambda _level: FEW)
    done = CliRunner().invoke(amp, ["conformance"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1].startswith("![agent memory protocol](")


def test_this_engine_answers_as_a_program():
    questions = [json.dumps(case.question()) for case in FEW]
    lines = [
        *questions,
        "nonsense",
        "[]",
        '{"id": 1}',
        '{"id": 2, "call": "budget", "args": 5}',
        '{"id": 3, "call": "budget", "args": {}, "files": {"../x": ""}}',
    ]
    done = CliRunner().invoke(amp, ["conformance", "--answer"], input="\n".join(lines) + "\n")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(cases.difference(case, one) is None for case, one in zip(FEW, said, strict=False))
    assert [bool(one.get("refused")) for one in said[len(FEW) :]] == [True] * 5


def test_each_statement_is_listed_with_what_shows_it():
    done = CliRunner().invoke(amp, ["conformance", "--requirements", "--json"])
    said = json.loads(done.stdout)
    assert done.exit_code == 0
    assert said["unshown"] == []
    shown = {one["statement"]: one["cases"] for one in said["statements"]}
    assert len(shown) > 100
    assert any(name.startswith("access/") for name in shown["S4-13"])
    stated = {number for numbers in requirements._SHOWN_BY.values() for number in numbers.split()}
    assert stated <= set(shown)
    assert set(requirements._SHOWN_BY) <= set(STATED)


def test_a_statement_that_nothing_shows_fails(monkeypatch, tmp_path):
    page = tmp_path / "requirements.md"
    page.write_text("- **S1-01** Shown.\n  - [x.py](x.py): `test_a`, `test_b`\n- **S1-02** Not shown.\n")
    monkeypatch.setattr(requirements, "page", lambda: page)
    done = CliRunner().invoke(amp, ["conformance", "--requirements", "--json"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["unshown"] == ["S1-02"]
