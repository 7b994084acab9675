"""`amp search` shows what matched and where, only where it was asked to look."""

import json
import os
import pty
import subprocess

import pytest

from agent_memory_protocol.cli import printing

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
DEVELOPER = ".scaffolding/agent-memory/agents/developer/MEMORY.md"
CONTEXT = ".scaffolding/conversations/c1/agent-memory/context.md"
NOTE = ".scaffolding/agent-memory/shared/reference_queue.md"


@pytest.fixture
def filled(amp):
    """A project whose every document says something of the queue."""
    amp.write(
        SHARED,
        "# S\n\n## Infrastructure\n\nNever:\n\n- restart Redis\n  while its queue is full\n- push to main\n",
    )
    amp.write(DEVELOPER, "# M\n\n- [2026-05-01] The old queue is slow.\n- [2026-05-20] The new queue is fast.\n")
    amp.write(CONTEXT, "# C\n\n- The queue of c1.\n")
    amp.write(
        NOTE, "---\nname: q\ndescription: What waits\nupdated: 2026-05-10\n---\n\nFirst.\n\nThe queue holds mails.\n"
    )
    return amp


def hits(answer):
    return [(one["kind"], one["path"], one["passage"]["line"]) for one in answer.json()["hits"]]


def test_each_result_begins_with_its_file_and_line_and_shows_what_matched_below_its_label(filled):
    lines = filled("search", "redis queue", "--tier", "shared").out.splitlines()
    (entry,) = [one for one in filled("list", "--json").json()["entries"] if "Redis" in one["text"]]
    assert lines[:2] == [
        f"{SHARED}:7  {entry['id']}  Infrastructure",
        "    Never: restart Redis while its queue is full",
    ]
    assert lines[2] == f"    words: redis, queue; `amp show {entry['id']}`"
    assert lines[3:5] == [f"{NOTE}:9  What waits", "    The queue holds mails."]


def test_the_place_of_a_long_entry_is_the_line_that_matched(filled):
    assert ("entry", SHARED, 8) in hits(filled("search", "full", "--json"))


def test_the_lines_around_a_match_are_shown_when_asked(filled):
    out = filled("search", "mails", "--context", "2").out
    assert f"{NOTE}:9  What waits\n    7  First.\n    8  \n    9  The queue holds mails.\n    words" in out
    (hit,) = filled("search", "mails", "--context", "1", "--json").json()["hits"]
    assert hit["lines"] == [{"line": 8, "text": ""}, {"line": 9, "text": "The queue holds mails."}]
    assert "lines" not in filled("search", "mails", "--json").json()["hits"][0]
    # What governs an entry is said where the lines do not show it, and once.
    out = filled("search", "full", "--context", "1", "--limit", "1").out
    assert "    5  Never:\n    7  - restart Redis\n    8    while its queue is full\n    9  - push to main\n" in out
    assert filled("search", "full", "--context", "3", "--limit", "1").out.count("Never:") == 1


WHERE = {
    "tier": (["--tier", "shared"], {SHARED, NOTE}),
    "agents": (["--tier", "agent"], {DEVELOPER}),
    "agent": (["--agent", "developer"], {DEVELOPER}),
    "agent-in-another-case": (["--agent", "Developer"], {DEVELOPER}),
    "conversations": (["--tier", "conversation"], {CONTEXT}),
    "conversation": (["--tier", "conversation", "--conversation", "c1"], {CONTEXT}),
    "all": ([], {SHARED, DEVELOPER, CONTEXT, NOTE}),
    "since": (["--since", "2026-05-10"], {DEVELOPER, NOTE}),
    "since-later": (["--since", "2026-05-11"], {DEVELOPER}),
    "since-in-one-tier": (["--since", "2026-05-10", "--tier", "shared"], {NOTE}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("args", "paths"), WHERE.values(), ids=WHERE)
def test_only_what_was_asked_for_is_searched(filled, args, paths):
    assert {path for _, path, _ in hits(filled("search", "queue", "--json", *args))} == paths


def test_what_is_dated_before_is_left_out_however_many_match(amp):
    old = "".join(f"- [2026-01-01] The queue number {number}.\n" for number in range(90))
    amp.write(DEVELOPER, f"# M\n\n{old}- [2026-05-01] This is about many things, and the queue is one of them.\n")
    answer = amp("search", "queue", "--since", "2026-02-01", "--limit", "3", "--json")
    assert [one["date"] for one in answer.json()["hits"]] == ["2026-05-01"]
    assert "without --since" in amp("search", "queue", "--since", "2026-06-01").err


REFUSED = {
    "two-tiers": (["--tier", "shared", "--agent", "developer"], 2, "agent:developer is not in the tier shared"),
    "bad-name": (["--agent", "a/b"], 2, "path separator"),
    "bad-day": (["--since", "yesterday"], 2, "yesterday"),
    "bad-tier": (["--tier", "share"], 2, "shared"),
    "store": (["--tier", "shared", "--store", "x.sqlite"], 2, "records are in no tier"),
    "forbidden": (["--agent", "developer", "--as", "tester"], 3, "may not read agent:developer"),
}


@pytest.mark.parametrize(("args", "code", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_searched_is_refused_in_one_line(filled, args, code, said):
    filled("search", "queue", *args).refuses(code, said)


def test_an_agent_that_has_nothing_is_named(filled):
    answer = filled("search", "queue", "--agent", "devloper")
    assert answer.code == 0
    assert "there is no memory of agent:devloper yet" in answer.err


def test_what_has_left_is_found_only_where_it_was(filled):
    for entry in filled("list", "--json").json()["entries"]:
        if "queue" in entry["text"]:
            filled("forget", entry["id"])
    found = filled("search", "queue", "--history", "--agent", "developer", "--json").json()["hits"]
    assert {(one["kind"], one["target"]) for one in found} == {("archived", "agent:developer")}
    assert filled("search", "queue", "--history", "--since", "2999-01-01", "--json").json()["hits"] == []


def test_what_was_searched_for_instead_is_said_once(filled):
    answer = filled("search", "quueue redsi")
    assert answer.err == "amp: searched for queue instead of quueue, redis instead of redsi\n"
    said = filled("search", "quueue", "--json").json()
    assert said["corrections"] == [{"word": "quueue", "searched": ["queue"]}]
    assert filled("search", "queue", "--json").json()["corrections"] == []
    assert "instead" not in filled("search", "queue").err


def on_terminal(amp, *args, **environ):
    master, slave = pty.openpty()
    done = subprocess.Popen(
        [amp.script, "search", *args],
        cwd=amp.root,
        stdout=slave,
        stderr=slave,
        stdin=slave,
        env={**amp.environ(), "TERM": "xterm", **environ},
    )
    os.close(slave)
    out = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        out += part
    done.wait()
    os.close(master)
    return out.decode()


@pytest.mark.slow
def test_what_matched_is_in_colour_only_on_a_terminal_that_shows_colours(filled):
    filled.write(SHARED, "# S\n\n- The \x1b[31mqueue\x1b[0m is red.\n")
    assert "\x1b[1;31mqueue\x1b[0m" in on_terminal(filled, "queue")
    assert "\x1b[31m" not in on_terminal(filled, "queue", "--tier", "shared")
    for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_terminal(filled, "queue", **environ)
    assert "\x1b" not in filled.process("search", "queue").out


def test_a_terminal_gets_lines_as_wide_as_it_is_and_a_pipe_one_line(filled, monkeypatch):
    filled.write(DEVELOPER, f"# M\n\n- {'words before it ' * 30} the samovar {'and after ' * 30}\n")
    (passage,) = [line for line in filled("search", "samovar").out.splitlines() if "samovar" in line and "…" in line]
    assert len(passage) <= 4 + 240
    monkeypatch.setattr(printing, "columns", lambda: 60)
    out = filled("search", "samovar").out
    assert "samovar" in out
    assert max(map(len, out.splitlines()[1:-1])) <= 60
    assert json.loads(filled("search", "samovar", "--json").out)["hits"][0]["passage"]["text"] == passage.strip()


def test_where_the_best_shares_one_word_of_many_it_says_that_nothing_fits_well(amp):
    amp("remember", "The printer is on the second floor.")
    amp("remember", "Redis needs AOF.")
    question = "Which florist near the printer sells yellow tulips for Wednesday?"
    found = amp("search", question)
    assert "second floor" in found.out
    assert "nothing matches well" in found.err
    assert amp("search", question, "--json").json()["hits"][0]["fit"] < 0.3
    for answered in ("where is the printer", "redis aof", "printer"):
        assert "nothing matches well" not in amp("search", answered).err


def test_where_more_match_than_are_shown_it_says_so_and_where_all_are_shown_it_does_not(amp):
    for number in range(5):
        amp("remember", f"Redis needs AOF on host {number}.")
    few, half, all_of_them = (amp("search", "redis", "--limit", limit) for limit in ("2", "4", "5"))
    assert few.err == "amp: more match; --limit 4 shows more of them\n"
    assert half.err == "amp: more match; --limit 8 shows more of them\n"
    assert all_of_them.err == ""
    for limit, more in (("4", True), ("5", False)):
        said = amp("search", "redis", "--limit", limit, "--json").json()
        assert (len(said["hits"]), said["more"]) == (int(limit), more)
