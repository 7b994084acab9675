"""`amp harvest`: findings are saved by who may write in the conversation, and by nobody else."""

import pytest

OUTPUT = """\
---
agent: reviewer
task: look at the importer
status: success
---

```memory-findings
- shared: Staging runs Postgres 14.
- The import fails on the new date format.
- agent: Look at conftest.py first.
```
"""
SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
CONVERSATION = ".scaffolding/conversations/c1/agent-memory/context.md"
OWN = ".scaffolding/agent-memory/agents/{}/MEMORY.md"


def texts(amp):
    return {entry["target"]: entry["text"] for entry in amp("list", "--json").json()["entries"]}


@pytest.mark.requirement("S4-57", "S4P-06")
def test_an_agent_of_the_conversation_saves_what_another_has_reported(amp):
    answer = amp("harvest", "-", "--as", "developer", "--conversation", "c1", stdin=OUTPUT)
    assert (answer.code, answer.out.count("saved: ")) == (0, 3), answer
    found = texts(amp)
    assert found["shared"] == "- Staging runs Postgres 14. (reported by reviewer, saved by developer)"
    assert found["conversation:c1"].endswith(
        "The import fails on the new date format. (reported by reviewer, saved by developer)"
    )
    assert found["agent:developer"] == "- Look at conftest.py first. (reported by reviewer, saved by developer)"
    again = amp("harvest", "-", "--as", "developer", "--conversation", "c1", stdin=OUTPUT)
    assert (again.code, again.out.count("already there: ")) == (0, 3)


def test_findings_without_a_heading_of_their_own_go_where_the_saver_says(amp):
    output = "```memory-findings\n- Ports are fixed.\n\n## Rules\n- Ask first.\n```\n"
    where = ["--reporter", "reviewer", "--conversation", "c1", "--section", "Findings"]
    assert amp("harvest", *where, stdin=output).code == 0
    told = amp("list", "--json", "--conversation", "c1").json()["entries"]
    assert {("Ports" in entry["text"], entry["section"]) for entry in told} == {(True, "Findings"), (False, "Rules")}


@pytest.mark.slow
@pytest.mark.parametrize("savers", [("", "developer"), ("developer", ""), ("developer", "tester")])
def test_a_finding_is_there_once_whoever_saves_it(amp, savers):
    for saver in savers:
        amp("harvest", "--conversation", "c1", "--as", saver, stdin=OUTPUT.replace("agent: Look", "shared: Look"))
    entries = [(entry["target"], entry["text"].partition(" (")[0]) for entry in amp("list", "--json").json()["entries"]]
    assert len(entries) == len(set(entries)) == 3


def test_one_text_under_two_headings_of_a_report_is_saved_under_both_and_only_once_each(amp):
    report = (
        "```memory-findings\n## Staging\n\n- shared: The port is 80.\n\n## Live\n\n- shared: The port is 80.\n```\n"
    )
    for _ in range(2):
        amp("harvest", "--reporter", "reviewer", "--as", "dev", "--conversation", "c1", stdin=report)
    assert amp("show", "shared").out.count("The port is 80.") == 2


def test_who_reported_tells_two_findings_apart(amp):
    for reporter in ("reviewer", "architect"):
        amp(
            "harvest",
            "--conversation",
            "c1",
            "--reporter",
            reporter,
            stdin="```memory-findings\n- The import fails.\n```",
        )
    assert amp("list").out.count("The import fails. (reported by ") == 2


def test_a_person_saves_a_reporter_s_own_finding_in_the_reporter_s_memory(amp):
    (amp.root / "review.md").write_text(OUTPUT)
    assert amp("harvest", "review.md", "--reporter", "plugin:tester", "--conversation", "c1").code == 0
    assert texts(amp)["agent:tester"] == "- Look at conftest.py first. (reported by tester)"


@pytest.mark.requirement("S4-54", "S4-57")
@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"AMP_AGENT": "reviewer"}, "it is read-only"),
        ({"AMP_AGENT": "architect"}, "it is read-only"),
        ({"AMP_AGENT": "developer", "AMP_CONVERSATION": "c2"}, "it acts in conversation c2"),
        ({"AMP_AGENT": "developer", "AMP_CONVERSATION": "c10"}, "it acts in conversation c10"),
    ],
)
def test_a_read_only_agent_and_an_outsider_save_nothing(amp, environ, words):
    answer = amp("harvest", "--conversation", "c1", stdin=OUTPUT, environ=environ)
    answer.refuses(3, words)
    assert amp.tree() == {}


def test_what_a_rule_refuses_is_said_and_the_rest_is_saved(amp):
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    output = OUTPUT.replace("Look at conftest.py first.", f"The token is {token}.")
    answer = amp("harvest", "--as", "developer", "--conversation", "c1", stdin=output)
    assert (answer.code, answer.out.count("saved: ")) == (3, 2)
    assert answer.err.startswith("amp: not saved: a finding: line 1 of the text looks like a GitHub token")
    assert set(texts(amp)) == {"shared", "conversation:c1"}
    refused = amp("harvest", "--as", "developer", "--conversation", "c1", "--json", stdin=output)
    assert [(one["text"], one["status"]) for one in refused.json(3)["findings"]][2] == ("", "refused")
    assert token not in answer.err + refused.out + refused.err


def test_what_is_refused_for_another_reason_is_told_by_its_first_words(amp):
    amp.write(".scaffolding/amp.toml", "[limits]\nmax_bytes = 200\n")
    finding = "The import fails on the new date format. " * 5
    output = OUTPUT.replace("The import fails on the new date format.", finding)
    answer = amp("harvest", "--as", "developer", "--conversation", "c1", stdin=output)
    assert answer.code == 3
    assert f"amp: not saved: {finding[:59]}…: " in answer.err


@pytest.mark.parametrize(
    ("args", "stdin", "words"),
    [
        (("--conversation", "c1"), OUTPUT.replace("agent:", "by:", 1), "who reported this? name the agent"),
        ((), OUTPUT, "which conversation was it reported in? name it with --conversation"),
        (("--conversation", "c1", "--reporter", "../x"), OUTPUT, "agent name '../x' is not allowed"),
        (("--conversation", "a/b"), OUTPUT, "conversation id 'a/b' is not allowed"),
        (("nowhere.md", "--conversation", "c1"), "", "'nowhere.md' does not exist"),
        (("--conversation", "c1"), b"caf\xe9", "is not UTF-8"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(amp, args, stdin, words):
    amp("harvest", *args, stdin=stdin).refuses(2, words)
    assert amp.tree() == {}


def test_an_output_without_findings_is_no_error(amp):
    answer = amp("harvest", "--conversation", "c1", "--reporter", "reviewer", stdin="All is well.\n")
    assert (answer.code, answer.out) == (0, "")
    assert "no memory-findings block" in answer.err
    assert amp.tree() == {}


def test_json_says_what_became_of_each_finding(amp):
    found = amp("harvest", "--as", "developer", "--conversation", "c1", "--json", stdin=OUTPUT).json()["findings"]
    assert [one["status"] for one in found] == ["added"] * 3
    assert [one["target"] for one in found] == ["shared", "conversation:c1", "agent:developer"]


FULL = "[limits]\nmax_lines = 6\n"
INCOMING = (
    '{"format":"agent-memory/0.1","created_at":"2026-01-01T00:00:00Z"}\n'
    '{"id":"a1","kind":"avoid","text":"The kettle is black.","created_at":"2026-01-01T00:00:00Z"}\n'
    '{"id":"a2","kind":"fact","text":"The spoon is silver.","created_at":"2026-01-01T00:00:00Z"}\n'
)


@pytest.mark.slow
@pytest.mark.parametrize("door", ["harvest", "import"])
def test_what_comes_into_a_full_file_is_in_the_ledger_and_comes_back_when_there_is_room(amp, door):
    amp.write(".scaffolding/amp.toml", FULL)
    for number in range(2):
        amp("remember", f"Fact {number}.")
    amp.write("in.jsonl", INCOMING)
    amp.write("out.md", "```memory-findings\n- shared: The kettle is black.\n- shared: The spoon is silver.\n```\n")
    ways = {
        "harvest": ("harvest", "out.md", "--reporter", "reviewer", "--as", "dev", "--conversation", "c1"),
        "import": ("import", "in.jsonl", "--to", "shared", "--apply"),
    }
    answer = amp(*ways[door])
    assert answer.code == 3
    assert "6 are allowed; there is no room for it, so the ledger has it" in answer.err
    assert amp(*ways[door]).code == 3
    (waiting,) = amp("restore", "--list", "--json").json()["entries"]
    assert "The spoon is silver." in waiting["text"]
    assert "spoon" in amp("search", "spoon", "--history").out
    amp.write(".scaffolding/amp.toml", "")
    assert amp("restore", waiting["id"], "--apply").code == 0
    block = amp("recall").out
    assert "The kettle is black." in block
    assert "The spoon is silver." in block
    assert amp("restore", "--list", "--json").json()["entries"] == []
