"""`amp prune`, `restore`, `forget`, `edit` and `sync`, as people and nightly jobs run them."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
from datetime import datetime
from typing import Any

import pytest

from agent_memory_protocol.answers import NOTHING_KNOWN

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
LEDGER = ".scaffolding/agent-memory/shared/ledger.jsonl"
AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
TODAY = ("--today", "2026-06-15")
SECRET = "the moon key is under the third stone"

MISTYPED = "long before the entries around it; is the year right?"

PAGE = """\
# T

- lasting
- [2026-01-01] old one
- [2026-01-02] [keep] kept
- [2026-06-01] recent
- [2025-06-02] mistyped
- [2026-06-03] recent too
- [2099-01-01] planned

## 2025-12-01

- learned then

### Details

- a detail

## Firm

- stays
"""


@pytest.fixture
def told(amp):
    """A project whose shared document has an entry of every kind."""
    amp.write(SHARED, PAGE)
    return amp


def text(amp):
    return (amp.root / SHARED).read_text()


def id_of(amp, word):
    (found,) = [one["id"] for one in amp("list", "--json").json()["entries"] if word in one["text"]]
    return found


def forget(amp, *words):
    assert amp("forget", *(id_of(amp, word) for word in words)).code == 0


def said(answer, code=0):
    """Return the lines of an answer that has nothing to say on stderr."""
    assert (answer.code, answer.err) == (code, ""), answer
    return answer.out.splitlines()


# -- prune -------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-63")
def test_prune_shows_what_goes_what_stays_and_why_and_changes_nothing(told):
    before = told.tree()
    lines = said(told("prune", *TODAY))
    assert lines == [
        f"shared  {SHARED}: 1 of 10 entries would go",
        "  -    4  2026-01-01  - [2026-01-01] old one",
        "  =    5  stays: marked [keep]  - [2026-01-02] [keep] kept",
        f"  =    7  stays: dated 2025-06-02, {MISTYPED}  - [2025-06-02] mistyped",
        "  =    9  stays: dated 2099-01-01, in the future; correct the date  - [2099-01-01] planned",
        "  #   11  old section of 2025-12-01: 2025-12-01; --sections takes its 2 entries",
        "         stay: 2 undated, 2 recent",
        "nothing was changed; add --apply to do it",
    ]
    assert told.tree() == before


@pytest.mark.requirement("S4-63")
def test_prune_does_what_it_showed_once(told):
    """B68."""
    lines = said(told("prune", *TODAY, "--apply"))
    assert lines[0] == f"shared  {SHARED}: 1 of 10 entries went"
    assert lines[-1] == "1 entry archived; `amp restore --last` shows how to bring them back"
    assert text(told) == PAGE.replace("- [2026-01-01] old one\n", "")
    before = told.tree()
    assert said(told("prune", *TODAY, "--apply"))[-1] == "nothing is outdated"
    assert told.tree() == before


def test_prune_takes_old_sections_whole_when_asked(told):
    lines = said(told("prune", *TODAY, "--sections", "--apply"))
    assert "  -   13  2025-12-01 (heading)  - learned then" in lines
    assert "## 2025-12-01" not in text(told)
    assert "### Details" not in text(told)
    assert text(told).endswith("- [2099-01-01] planned\n\n## Firm\n\n- stays\n")


def test_prune_answers_in_json_with_what_goes_and_what_stays(told):
    answer = told("prune", *TODAY, "--json").json()
    assert list(answer) == [
        "version",
        "applied",
        "removals",
        "kept",
        "old_sections",
        "held",
        "ended",
        "unneeded",
        "problems",
    ]
    assert answer["applied"] is False
    assert answer["removals"] == [
        {
            "id": id_of(told, "old one"),
            "target": "shared",
            "tier": "shared",
            "path": SHARED,
            "line": 4,
            "date": "2026-01-01",
            "date_source": "own mark",
            "section": "T",
            "label": "",
            "text": "- [2026-01-01] old one",
            "cause": "old",
            "reason": "dated 2026-01-01, older than 90 days",
            "about": NOTHING_KNOWN.to_json(),
        }
    ]
    assert {one["cause"] for one in answer["kept"]} == {"undated", "kept", "recent", "suspicious", "future", "section"}
    assert answer["old_sections"] == [
        {
            "target": "shared",
            "tier": "shared",
            "path": SHARED,
            "line": 11,
            "section": "2025-12-01",
            "date": "2025-12-01",
        }
    ]
    applied = told("prune", *TODAY, "--json", "--apply").json()
    assert applied == {**answer, "applied": True}
    assert told("prune", *TODAY, "--json", "--apply").json()["removals"] == []


@pytest.mark.parametrize(
    ("age", "count"),
    [
        ("90d", 1),
        ("12w", 1),
        ("1y", 0),
        ("165", 0),
        ("164", 1),
        ("2026-01-01", 0),
        ("2026-01-02", 1),
        ("2026-06-15", 3),
    ],
)
def test_prune_takes_an_age_or_a_day(told, age, count):
    answer = told("prune", *TODAY, "--older-than", age, "--json").json()
    assert len(answer["removals"]) == count


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--older-than", "soon"], ["'soon' is not an age", "90d, 12w or a date"]),
        (["--older-than", "-5d"], ["is not a date"]),
        (["--older-than", "0d"], ["'0d' is not an age"]),
        (["--older-than", "2026-02-30"], ["'2026-02-30' is not a date"]),
        (["--older-than", "2027-01-01", *TODAY], ["2027-01-01 lies in the future"]),
        (["--today", "yesterday"], ["'yesterday' is not a date"]),
        (["everything"], ["everything", "shared, agent:NAME"]),
        (["agent:"], ["agent"]),
        (["agent:../x"], ["../x"]),
        (["--apply=yes"], ["--apply"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_prune_refuses_what_it_does_not_understand_in_one_line(told, args, words):
    before = told.tree()
    told("prune", *args, "--apply").refuses(2, *words)
    assert told.tree() == before


def test_prune_needs_force_for_more_than_half_of_a_file(told):
    """B08."""
    told.write(SHARED, "# T\n\n- [2026-01-01] a\n- [2026-01-02] b\n- c\n")
    by_force = "more than half would go: `amp prune shared --apply --force` does it"
    assert f"         {by_force}" in said(told("prune", *TODAY))
    before = told.tree()
    answer = told("prune", *TODAY, "--apply")
    assert answer.code == 3
    assert "shared was not pruned: 2 of 3 entries would go, more than half; `amp prune shared" in answer.err
    assert told.tree() == before
    assert said(told("prune", *TODAY, "--apply", "--force"))[-1].startswith("2 entries archived")


@pytest.mark.parametrize("held", [["shared"], ["agent:dev"], ["conversation:c1", "agent:ops"]], ids=str)
def test_what_is_held_back_keeps_no_other_file_from_its_pruning(told, held):
    files = {"shared": SHARED, "agent:dev": AGENT.format("dev"), "agent:ops": AGENT.format("ops")}
    files["conversation:c1"] = ".scaffolding/conversations/c1/agent-memory/context.md"
    for target, path in files.items():
        told.write(path, "# T\n\n- [2026-01-01] a\n" + ("" if target in held else "- b\n- c\n"))
    answer = told("prune", *TODAY, "--apply", "--json").json(3)
    assert [one["target"] for one in answer["held"]] == sorted(held, key=list(files).index)
    for target, path in files.items():
        assert ("] a\n" in (told.root / path).read_text()) == (target in held)
    for one in answer["held"]:
        assert told(*one["command"].split()[1:], *TODAY).code == 0
    assert not any("] a\n" in (told.root / path).read_text() for path in files.values())


@pytest.mark.parametrize(
    ("text", "mtime", "over"),
    [
        ("- [2026-01-05] We keep it.\n", "2026-01-05", True),
        ("- [2026-01-05] We keep it.\n", "2026-06-10", False),
        ("- [2026-01-05] We keep it.\n- [2026-06-10] Still at it.\n", "2026-01-05", False),
        ("- We keep it.\n", "2026-01-05", True),
    ],
)
def test_a_conversation_that_is_over_is_proposed_for_closing_and_never_held_back(told, text, mtime, over):
    path = told.write(".scaffolding/conversations/c1/agent-memory/context.md", f"# T\n\n{text}")
    moment = datetime.fromisoformat(f"{mtime}T12:00:00+00:00").timestamp()
    os.utime(path, (moment, moment))
    answer = told("prune", *TODAY, "--json").json()
    assert [one["target"] for one in answer["ended"]] == ["conversation:c1"] * over
    assert over == any("`amp close c1`" in line for line in said(told("prune", *TODAY)))
    if over:
        assert not [one for one in answer["held"] if one["target"] == "conversation"]


def test_prune_names_files_one_by_one_or_takes_all(told):
    for name in ("dev", "ops"):
        told.write(AGENT.format(name), f"# T\n\n- [2026-01-01] of {name}\n- b\n")
    lines = said(told("prune", "agent:dev", "agent:dev", *TODAY, "--apply"))
    assert [line for line in lines if " went" in line] == [f"agent:dev  {AGENT.format('dev')}: 1 of 2 entries went"]
    lines = said(told("prune", *TODAY, "--apply"))
    assert [line.split(" ")[0] for line in lines if " went" in line] == ["shared", "agent:ops"]
    nobody = told("prune", "agent:nobody", *TODAY)
    assert (nobody.code, nobody.out) == (0, "nothing is outdated\n")
    assert nobody.err == f"amp: {AGENT.format('nobody')} does not exist yet\n"


def test_prune_to_limit_takes_the_oldest_and_says_what_it_could_not_do(told):
    told.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 19\n")
    lines = said(told("prune", *TODAY, "--to-limit"))
    assert lines[:3] == [
        f"shared  {SHARED}: 2 of 10 entries would go",
        "  -    4  2026-01-01  - [2026-01-01] old one",
        "  -    6  2026-06-01  - [2026-06-01] recent",
    ]
    told.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 5\n")
    for args, more in (([], "--to-limit takes more"), (["--to-limit"], "no other entry can be removed by its date")):
        lines = said(told("prune", *TODAY, *args))
        (line,) = [line for line in lines if "still over" in line]
        assert re.fullmatch(rf" +still over its limit by \d+ lines and 0 bytes; {more}", line)
        assert ("         merge entries, or remove some with `amp forget`" in lines) == bool(args)


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_pruned(told):
    told.write(AGENT.format("dev"), b"# T\n\n- [2026-01-01] caf\xe9\n")
    answer = told("prune", *TODAY, "--apply")
    assert (answer.code, answer.out.splitlines()[0]) == (4, f"shared  {SHARED}: 1 of 10 entries went")
    assert answer.err == f"amp: {AGENT.format('dev')}:3: byte 0xE9 is not UTF-8; save the file as UTF-8\n"
    answer = told("prune", *TODAY, "--json").json(4)
    assert len(answer["problems"]) == 1


def test_a_file_that_changes_between_plan_and_deed_is_planned_again(told, monkeypatch):
    from agent_memory_protocol.workspace import Workspace

    told.write(AGENT.format("dev"), "# T\n\n- [2026-01-01] mine\n- b\n")
    plain = Workspace.apply_pruning
    calls: list[object] = []

    def apply_pruning(self: Workspace, *given: Any, **options: Any) -> Any:
        if not calls:
            told.write(SHARED, PAGE + "- [2026-01-09] typed meanwhile\n")
        calls.append(given)
        return plain(self, *given, **options)

    monkeypatch.setattr(Workspace, "apply_pruning", apply_pruning)
    answer = told("prune", *TODAY, "--apply", "--json")
    gone = [one["text"] for one in answer.json()["removals"]]
    assert sorted(gone) == ["- [2026-01-01] mine", "- [2026-01-01] old one", "- [2026-01-09] typed meanwhile"]
    assert answer.err == f"amp: {SHARED} was changed after the plan was made; plan again\n"
    assert "typed meanwhile" not in text(told)


def on_a_terminal(amp, *args: str) -> tuple[int, str, str]:
    """Run `amp` with stderr on a terminal; return its exit code, stdout and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [amp.script, *args],
        cwd=amp.root,
        env=amp.environ(),
        stdout=subprocess.PIPE,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
    )
    os.close(theirs)
    shown = b""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                data = os.read(ours, 65_536)
            except OSError:
                break  # the other end was closed
            if not data:
                break
            shown += data
    out = process.communicate(timeout=30)[0]
    os.close(ours)
    return process.returncode, out.decode(), shown.decode()


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only_and_never_on_stdout(told):
    for number in range(25):
        told.write(AGENT.format(f"a{number:02}"), f"# T\n\n- [2026-01-01] of {number}\n- b\n")
    code, out, shown = on_a_terminal(told, "prune", *TODAY, "--apply", "--json")
    assert code == 0
    assert len(json.loads(out)["removals"]) == 26
    assert "\rplanning: 1 of 26" in shown
    assert "\n" not in shown
    assert "\rpruning: 25 of 26" in shown
    assert re.search(r"\r +\r$", shown)  # it clears itself
    answer = told("prune", *TODAY)
    assert (answer.code, answer.err) == (0, "")
    assert "planning" not in answer.out


@pytest.mark.slow
def test_no_progress_is_shown_for_a_few_files(told):
    code, _, shown = on_a_terminal(told, "prune", *TODAY)
    assert (code, shown) == (0, "")


# -- restore -----------------------------------------------------------------------------------------------------------


def test_restore_shows_what_comes_back_and_does_it_once(told):
    forget(told, "old one")
    one = told("restore", "--list", "--json").json()["entries"][0]["id"]
    before = told.tree()
    lines = said(told("restore", "--last"))
    assert lines == [
        f"{one}    {time.strftime('%Y-%m-%d', time.gmtime())}  shared  - [2026-01-01] old one",
        "                forgotten",
        "nothing was changed; add --apply to bring it back",
    ]
    assert told.tree() == before
    assert said(told("restore", "--last", "--apply")) == [f"restored: {SHARED}:4  [{one}]"]
    assert text(told) == PAGE
    before = told.tree()
    answer = told("restore", "--last", "--apply")
    assert (answer.code, answer.out, answer.err) == (0, "", "amp: there is nothing to restore\n")
    told("restore", one, "--apply").refuses(2, f"no ledger has {one}, or it is back", "`amp restore --list`")
    assert told.tree() == before


def test_restore_without_a_choice_says_how_to_make_one(told):
    forget(told, "old one", "lasting")
    assert said(told("restore"))[-1] == (
        "nothing was changed; say their ids, or --last, with --apply to bring these back"
    )
    told("restore", "--apply").refuses(2, "which entries? give their ids, or --last")


def test_restore_brings_back_all_that_one_command_took_from_several_files(told):
    told.write(AGENT.format("dev"), "# T\n\n- [2026-01-01] mine\n- b\n")
    before = text(told), (told.root / AGENT.format("dev")).read_text()
    assert told("prune", *TODAY, "--apply").code == 0
    assert len(said(told("restore", "--last", "--apply"))) == 2
    assert (text(told), (told.root / AGENT.format("dev")).read_text()) == before


def test_restore_by_id_and_since_a_day(told):
    forget(told, "old one", "kept", "lasting")
    entries = told("restore", "--list", "--json").json()["entries"]
    assert [list(one) for one in entries] == [
        ["id", "target", "tier", "path", "removed_at", "reason", "run", "note", "section", "label", "about", "text"]
    ] * 3
    ids = {one["text"]: one["id"] for one in entries}
    answer = told("restore", ids["- lasting"], "--apply", "--json").json()
    assert answer == {
        "version": 1,
        "restored": [{"id": ids["- lasting"], "target": "shared", "tier": "shared", "path": SHARED, "line": 3}],
        "notes": [],
        "problems": [],
    }
    assert told("restore", "--since", "2100-01-01", "--json").json() == {"version": 1, "entries": []}
    assert len(said(told("restore", "--since", "2026-01-01", "--apply"))) == 2
    assert text(told) == PAGE


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--apply"], ["which entries?", "--last or --since"]),
        (["0" * 12], ["no ledger has 000000000000"]),
        (["--since", "yesterday"], ["'yesterday' is not a date"]),
        (["--nonsense"], ["--nonsense"]),
    ],
    ids=str,
)
def test_restore_refuses_what_it_does_not_understand_in_one_line(told, args, words):
    forget(told, "old one")
    before = told.tree()
    told("restore", *args).refuses(2, *words)
    assert told.tree() == before


def test_restore_without_anything_says_so(told):
    answer = told("restore")
    assert (answer.code, answer.out, answer.err) == (0, "", "amp: there is nothing to restore\n")
    assert told("restore", "--list", "--json").json() == {"version": 1, "entries": []}


@pytest.mark.requirement("S4-59")
def test_restore_says_what_would_pass_the_limit(told):
    forget(told, "old one")
    told.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 20\n")
    before = text(told)
    answer = told("restore", "--last", "--apply")
    assert (answer.code, answer.out) == (3, "")
    assert (
        f": {SHARED} would have 21 lines, 20 are allowed; nothing was changed: run `amp prune shared`\n" in answer.err
    )
    assert text(told) == before


def test_restore_names_a_ledger_it_cannot_read(told):
    lasting = id_of(told, "lasting")
    told.write(LEDGER, '{"format":"agent-memory/9.0","created_at":null}\n')
    told("restore", "--list").refuses(4, LEDGER, "'agent-memory/9.0' is unknown here")
    told("forget", lasting).refuses(4, LEDGER, "'agent-memory/9.0' is unknown here")
    listed = told("list", "--json")
    assert (listed.code, lasting in listed.out, LEDGER in listed.err) == (4, True, True)
    assert text(told) == PAGE


# -- forget and edit ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_forget_keeps_the_text_and_the_reason(told):
    one = id_of(told, "lasting")
    assert said(told.process("forget", one, "--reason", "no longer true")) == [
        f"forgotten: {one} from shared: - lasting",
        "`amp restore --last --apply` brings it back",
    ]
    assert text(told) == PAGE.replace("- lasting\n", "")
    (entry,) = told("restore", "--list", "--json").json()["entries"]
    assert (entry["text"], entry["reason"]) == ("- lasting", "no longer true")
    answer = told("forget", id_of(told, "stays"), "--json").json()
    assert [list(row) for row in answer["forgotten"]] == [
        ["id", "target", "tier", "path", "label", "went_along", "about"]
    ]


@pytest.mark.parametrize("args", [["0" * 12], [""], ["lasting"], ["--", "-x"]], ids=str)
def test_forget_of_an_unknown_id_is_one_clear_line(told, args):
    before = told.tree()
    told("forget", *args).refuses(2, "there is no entry", "`amp list` shows the ids there are")
    told("edit", *args, "text").refuses(2)
    assert told.tree() == before


@pytest.mark.parametrize(
    ("entry_id", "who", "searches", "asks"),
    [
        ("0" * 12, ("--as", "dev"), False, True),
        ("the moon", ("--as", "dev"), True, True),
        ("0" * 12, ("--as", "dev", "--conversation", "c1"), False, False),
        ("0" * 12, (), False, False),
    ],
)
def test_what_an_unknown_id_may_have_been_is_said_to_who_can_use_it(told, entry_id, who, searches, asks):
    err = told("forget", entry_id, *who).err
    assert ("finds entries by their words" in err) is searches
    assert ("with --conversation those of a conversation" in err) is asks


def test_the_first_characters_of_an_id_are_enough_in_every_command(told):
    one = id_of(told, "lasting")
    assert f"forgotten: {one} from shared" in told("forget", one[:4]).out
    assert one in told("restore", one[:4]).out
    told("restore", one[:4], "--apply")
    assert text(told) == PAGE
    assert f"was [{one}]" in told("edit", one[:6], "lasting still").out
    assert f"redacted: {one} from ledger" in told("forget", one[:6], "--redact").out
    told("forget", id_of(told, "stays")[:3]).refuses(2, "too short for the beginning of an id")


def test_edit_keeps_place_and_date(told):
    old = id_of(told, "old one")
    (line,) = said(told("edit", old, "a better text"))
    new = id_of(told, "a better text")
    assert line == f"edited: {SHARED}:4  [{new}], was [{old}]"
    assert text(told) == PAGE.replace("old one", "a better text")
    answer = told("edit", new, "-", "--json", stdin="[2026-02-02] - dash\nand more\n").json()
    assert answer == {
        "version": 1,
        "id": id_of(told, "dash"),
        "old_id": new,
        "target": "shared",
        "tier": "shared",
        "path": SHARED,
        "line": 4,
    }
    assert "\n- [2026-02-02] dash\n  and more\n" in text(told)


@pytest.mark.parametrize(
    ("text_", "code", "words"),
    [
        ("stays", 2, ["already has an entry with that text"]),
        ("", 3, ["the text is empty"]),
        ("a\u200bb", 3, ["invisible or control character"]),
        ("[2026-02-30] x", 3, ["is not in the calendar"]),
        ("x" * 26_000, 3, ["26,000 bytes"]),
    ],
    ids=["there already", "empty", "invisible", "no day", "large"],
)
def test_edit_refuses_what_cannot_stand_there(told, text_, code, words):
    before = told.tree()
    told("edit", id_of(told, "lasting"), text_).refuses(code, *words)
    assert told.tree() == before


# -- redact ------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S2-29")
def test_forget_redact_leaves_the_text_in_no_file(told):
    assert told("remember", SECRET, "--source", "user", "--tag", "x").code == 0
    one = id_of(told, "moon key")
    told.write(AGENT.format("dev"), f"# T\n\n- {SECRET}, says Ada\n- b\n")
    answer = told("forget", one, "--redact")
    assert (answer.code, answer.out) == (0, f"redacted: {one} from document, ledger and journal of shared\n")
    assert answer.err == (
        f"amp: the same text is also in {AGENT.format('dev')}\n"
        "amp: git history still has what was committed; rewrite it, and change the secret\n"
    )
    holding = [path for path in told.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert [path.relative_to(told.root).as_posix() for path in holding] == [AGENT.format("dev")]
    assert f'{{"id":"{one}","deleted":true' in (told.root / LEDGER).read_text()
    answer = told("forget", id_of(told, "moon key"), "--redact", "--json")
    (row,) = answer.json()["redacted"]
    assert (row["target"], row["elsewhere"]) == ("agent:dev", [])
    told("forget", one, "--redact").refuses(2, "there is no entry")


@pytest.mark.requirement("S2-29")
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_only_the_ledger_has_is_redacted_and_git_is_named(told):
    def git(*words: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        environ = {**told.environ(), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(["git", *identity, *words], cwd=told.root, env=environ, check=True, capture_output=True)
        return done.stdout.decode()

    assert told("remember", SECRET).code == 0
    one = id_of(told, "moon key")
    forget(told, "moon key")
    git("init")
    git("add", ".")
    git("commit", "-m", "with the secret")
    answer = told("forget", one, "--redact")
    assert answer.out == f"redacted: {one} from ledger and journal of shared\n"
    assert "git history still has what was committed" in answer.err
    working = [path for path in told.root.rglob("*") if path.is_file() and ".git" not in path.parts]
    assert not [path for path in working if SECRET.encode() in path.read_bytes()]
    assert SECRET in git("show", f"HEAD:{LEDGER}")  # and that is what the message says


# -- sync --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("count", "words"), [(1, "1 entry had been"), (2, "2 entries had been")])
def test_what_was_there_before_and_is_there_again_was_taken_out_by_hand_or_by_git(told, count, words):
    for number in range(count):
        assert told("remember", f"learned on a branch, {number}").code == 0
    told.write(SHARED, PAGE)
    said = f"{words} taken out, by hand or by git; the ledger keeps what {'it' if count == 1 else 'they'} said"
    assert said in told("remember", "learned on main").err


def test_sync_shows_then_heals_then_has_nothing_to_do(told):
    assert told("remember", "just told").code == 0
    told.write(SHARED, PAGE.replace("- stays\n", "- typed by hand\n"))
    before = told.tree()
    assert said(told("sync")) == [
        "shared  goes back: - just told",
        "shared  taken out by hand, to be in the ledger: - stays",
        "nothing was changed; add --apply to do it",
    ]
    assert told.tree() == before
    answer = told("sync", "--apply", "--json").json()
    assert answer == {
        "version": 1,
        "applied": True,
        "documents": [
            {
                "target": "shared",
                "tier": "shared",
                "path": SHARED,
                "put_back": ["- just told"],
                "removed_by_hand": ["- stays"],
                "kept_out": [],
                "unkept": [],
                "problem": None,
            }
        ],
    }
    assert "- just told\n" in text(told)
    before = told.tree()
    assert said(told("sync", "--apply")) == ["nothing to heal"]
    assert told.tree() == before


@pytest.mark.slow
@pytest.mark.requirement("S4-59")
def test_sync_keeps_the_limit_and_says_how_what_has_no_room_comes_back(told):
    assert told("remember", "just told").code == 0
    lost = id_of(told, "just told")
    told.write(SHARED, PAGE + "".join(f"- typed by hand {number}\n" for number in range(200 - PAGE.count("\n"))))
    planned = told("sync")
    assert said(planned)[0] == "shared  overwritten, no room for it, to be in the ledger: - just told"
    healed = told("sync", "--apply")
    assert healed.out.splitlines() == ["shared  overwritten, no room for it, now in the ledger: - just told"]
    assert healed.code == 0
    assert f"then `amp restore {lost} --apply`" in healed.err
    assert text(told).count("\n") == 200
    forget(told, "typed by hand 0")
    assert told("restore", lost, "--apply").code == 0
    assert "- just told\n" in text(told)


def test_sync_names_a_file_it_cannot_heal(told):
    assert told("remember", "just told").code == 0
    told.write(SHARED, b"# T\n\n- \xff\n")
    answer = told("sync", "--apply")
    assert (answer.code, answer.err) == (4, f"amp: {SHARED}:3: byte 0xFF is not UTF-8; save the file as UTF-8\n")


def test_recall_reads_and_heals_nothing(told):
    """B67."""
    assert told("remember", "just told").code == 0
    told.write(SHARED, PAGE)
    before = {path: path.stat().st_mtime_ns for path in told.root.rglob("*")}
    assert "just told" not in told("recall", "dev").out
    assert {path: path.stat().st_mtime_ns for path in told.root.rglob("*")} == before


# -- an agent in its conversation --------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-18")
def test_an_agent_looks_after_the_entries_of_the_conversation_it_names(amp):
    here = ("--conversation", "7f3a", "--as", "dev")
    amp("remember", "We keep Postgres.", *here)
    assert "conversation:7f3a" in amp("status", *here).out
    assert "We keep Postgres." in amp("search", "postgres", *here).out
    (listed,) = amp("list", *here, "--json").json()["entries"]
    edited = amp("edit", listed["id"], "We keep Postgres 15.", *here, "--json").json()
    assert amp("forget", edited["id"], *here).code == 0
    assert "We keep Postgres 15." in amp("restore", *here).out
    assert amp("restore", "--last", "--apply", *here).code == 0
    amp("remember", "Old.", "--date", "2020-01-01", *here)
    assert "Old." in amp("prune", *here).out


@pytest.mark.requirement("S4-18")
def test_an_agent_in_one_conversation_reaches_no_other_by_naming_it(amp):
    amp("remember", "We keep Postgres.", "--conversation", "7f3a", "--date", "2020-01-01")
    (listed,) = amp("list", "--json").json()["entries"]
    environ = {"AMP_AGENT": "dev", "AMP_CONVERSATION": "other"}
    there = ("--conversation", "7f3a")
    for args in (["list"], ["search", "postgres"], ["status"], ["prune"], ["restore"]):
        assert "7f3a" not in amp(*args, *there, environ=environ).out
    for args in (["edit", listed["id"], "x"], ["forget", listed["id"]]):
        amp(*args, *there, environ=environ).refuses(2, "there is no entry")
    amp("list", "conversation:7f3a", environ=environ).refuses(3, "it acts in conversation other")


# -- remember, as far as it archives -----------------------------------------------------------------------------------


def test_remember_makes_room_and_says_so(told):
    told.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 21\n")
    told("remember", "new", "--tier", "shared").refuses(3, "22 lines, 21 are allowed", "--make-room")
    answer = told("remember", "new", "--tier", "shared", "--make-room")
    assert answer.code == 0
    assert "amp: archived 1 of the oldest dated entries to make room" in answer.err
    assert told("restore", "--last", "--json").json()["entries"][0]["text"] == "- [2026-01-01] old one"


def test_what_remember_says_of_an_entry_is_kept_through_prune_and_restore(told):
    said_of = ["--source", "https://example.com", "--kind", "lesson", "--confidence", "0.4", "--tag", "a", "--tag", "b"]
    assert told("remember", "[2026-01-05] the queue", "--tier", "shared", *said_of).code == 0
    assert told("prune", *TODAY, "--apply").code == 0
    assert told("restore", "--last", "--apply").code == 0
    lines = [json.loads(line) for line in (told.root / LEDGER).read_text().splitlines()]
    told_of = [line for line in lines if line.get("text") == "- [2026-01-05] the queue"]
    assert len(told_of) == 2
    for line in told_of:
        assert (line["source"], line["kind"], line["confidence"]) == ("https://example.com", "lesson", 0.4)
        assert line["tags"] == ["a", "b"]


# -- what all of them keep to ------------------------------------------------------------------------------------------


def test_terminal_codes_in_an_entry_are_shown_never_played(told):
    told.write(SHARED, "# T\n\n- [2026-01-01] red \x1b[31m and \u202e bidi\n- b\n")
    answer = told("prune", *TODAY, "--apply")
    assert "\\u001b[31m" in answer.out or "\\x1b[31m" in answer.out
    for args in (["restore", "--list"], ["restore", "--list", "--json"], ["restore", "--last", "--apply", "--json"]):
        out = told(*args).out
        assert "\x1b" not in out
        assert "\u202e" not in out
    assert "\x1b[31m" not in text(told)  # a ledger may be anyone's: what may not be remembered does not come back


@pytest.mark.parametrize("args", [["prune", "--apply"], ["restore", "--last", "--apply"], ["sync", "--apply"]], ids=str)
def test_where_there_is_no_memory_there_is_nothing_to_do(amp, args):
    before = amp.tree()
    assert amp(*args).code == 0
    assert amp.tree() == before


# -- what still holds --------------------------------------------------------------------------------------------------

DATED = [
    ("- [2026-01-05] a fact\n", "- [2026-06-15] a fact\n"),
    ("- 2026-01-05: a fact\n", "- 2026-06-15: a fact\n"),
    ("- a fact\n  - and more\n", "- [2026-06-15] a fact\n  - and more\n"),
    ("1. a fact, [2026-01-05] **told**\n", "1. a fact, [2026-06-15] **told**\n"),
    ("A paragraph.\nOf two lines.\n", "[2026-06-15] A paragraph.\nOf two lines.\n"),
    ("-   far off\r\n", "-   [2026-06-15] far off\r\n"),
    ("- [2026-06-15] a fact\n", "- [2026-06-15] a fact\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), DATED, ids=[before for before, _ in DATED])
def test_what_still_holds_is_dated_anew_and_nothing_else_changes(amp, before, after):
    head, tail = b"# Shared Knowledge\n\n## Facts\n\n", b"\n## More\n\n- other\n"
    amp.write(SHARED, head + before.encode() + tail)
    one = amp("list", "--json").json()["entries"][0]["id"]
    answer = amp("edit", one[:6], "--date", "2026-06-15", "--json").json()
    assert (answer["id"], answer["old_id"]) == (one, one)
    assert (amp.root / SHARED).read_bytes() == head + after.encode() + tail
    assert amp("restore", "--list", "--json").json()["entries"] == []


@pytest.mark.parametrize(
    "text", ["```\ncode\n```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "> told\n", "- ```\n  x\n  ```\n"]
)
def test_what_cannot_be_dated_without_changing_it_is_refused(amp, text):
    amp.write(SHARED, f"# S\n\n{text}")
    before = (amp.root / SHARED).read_bytes()
    one = amp("list", "--json").json()["entries"][0]["id"]
    amp("edit", one, "--date", "2026-06-15").refuses(3, f"{SHARED}:3: it cannot be dated here; edit the line by hand")
    assert (amp.root / SHARED).read_bytes() == before


def test_a_new_text_may_be_dated_too(amp):
    amp("remember", "Redis needs AOF.", "--date", "2026-01-05")
    for text, day in (("Redis needs AOF on.", "2026-06-15"), ("[2026-01-01] Redis has AOF on.", "2026-06-16")):
        one = amp("list", "--json").json()["entries"][0]["id"]
        assert amp("edit", one, text, "--date", day).code == 0
        assert amp("list", "--json").json()["entries"][0]["date"] == day
    assert len(amp("restore", "--list", "--json").json()["entries"]) == 2


def test_an_edit_that_says_nothing_is_asked_what_it_means(amp):
    amp("remember", "a fact")
    one = amp("list", "--json").json()["entries"][0]["id"]
    amp("edit", one).refuses(2, "give the new TEXT, or --dated if the entry is still true")
    amp("edit", one, "--dated", "--date", "2026-01-01").refuses(2, "exclude each other")
    amp("edit", one, "--date", "yesterday").refuses(2, "is not a date")
