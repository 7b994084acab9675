"""`amp record`: what a person sees of the records, decides, takes away and signs."""

import json
import os
import shlex
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_memory_protocol.exchange.convert import Conversion
from agent_memory_protocol.formats.record_entries import entry_of
from agent_memory_protocol.formats.signed_file import SignedMemoryFile
from agent_memory_protocol.formats.table import by_name
from agent_memory_protocol.memory import Memory
from agent_memory_protocol.records import canonical
from agent_memory_protocol.records.lifecycle import dispute
from agent_memory_protocol.records.record import Provenance, Record, RecordType, State, new_record
from agent_memory_protocol.records.signing import Identity
from agent_memory_protocol.records.sqlite_store import SqliteStore
from agent_memory_protocol.search.embedding import HashEmbedder
from tests.each_row import each_row

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
POSTGRES, NOT_POSTGRES = "The staging database is Postgres.", "The staging database is not Postgres."


@pytest.fixture
def memory(amp, monkeypatch):
    monkeypatch.setenv("HOME", str(amp.home))
    for name in ("AMP_ROOT", "AMP_DISABLE", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    with Memory(amp.root / ".scaffolding" / "agent-memory", clock=lambda: NOW) as made:
        yield made


@pytest.fixture
def sides(memory) -> tuple[Record, Record]:
    ids = [memory.remember(text, tags=("db",), source="session-7").record_id for text in (POSTGRES, NOT_POSTGRES)]
    both = dispute(memory.store.get(ids[0]), memory.store.get(ids[1]), reason="one negates the other", now=NOW)
    for side in both:
        memory.store.put(side)
    return both


def test_with_no_store_there_are_no_records(amp):
    assert amp("record", "list", "--json").json() == {"version": 1, "records": []}
    assert amp("record", "list", "--store", "nowhere", "--json").json()["records"] == []
    none = "there are no records yet; `amp record remember TEXT` writes one, and `amp import FILE` brings some in"
    assert amp("record", "list") == (0, "", f"amp: {none}\n")
    assert amp("record", "verify") == (0, "everything verifies: 0 records in 0 versions, 0 of them signed\n", "")
    assert amp.tree() == {}


def test_a_list_names_each_record_by_birth(amp, memory, sides):
    memory.remember("x" * 100)
    lines = amp("record", "list").out.splitlines()
    assert lines[0].startswith(f"{sides[0].id}  transitional  fact       2026-11-15  {POSTGRES}")
    assert lines[2].endswith("x" * 71 + "…")
    assert [one["id"] for one in amp("record", "list", "--json").json()["records"]][:2] == [side.id for side in sides]
    assert amp("record", "list", "--tag", "db").out.count("\n") == 2
    assert amp("record", "list", "--state", "active").out.count("\n") == 1
    assert amp("record", "list", "--type", "rule") == (0, "", "amp: there are no such records\n")


def test_a_record_is_shown_with_all_that_is_known_of_it(amp, memory, sides):
    answer = amp("record", "show", sides[0].id[:14])
    assert answer.code == 0
    for shown in ("transitional: one negates the other", "conversation session-7", "db", f"    {POSTGRES}", "versions"):
        assert shown in answer.out
    assert amp("record", "show", sides[0].id, "--json").json() == {
        "version": 1,
        "record": sides[0].to_json(),
        "versions": 2,
    }


def test_a_decision_is_made_once_and_stands_in_the_history(amp, memory, sides):
    loser, winner = (side.id for side in sides)
    answer = amp("record", "resolve", loser, winner, "--reason", "moved in March")
    assert answer == (0, f"holds: {winner}  {NOT_POSTGRES}\nsuperseded: {loser}  {POSTGRES}\n", "")
    lines = amp("record", "history", loser).out.splitlines()
    assert lines[0] == f"{loser}  {POSTGRES}"
    assert [line.split("  ")[-1] for line in lines[1:]] == [
        "active",
        "transitional: one negates the other",
        "superseded: moved in March",
    ]
    versions = amp("record", "history", loser, "--json").json()["versions"]
    assert [version["state"] for version in versions] == ["active", "transitional", "superseded"]
    amp("record", "resolve", loser, winner, "--reason", "again").refuses(3, "cannot become")


GIT = "amp: git's history and backups may still hold it\n"


def test_a_redacted_text_is_gone(amp, memory):
    one = memory.remember(POSTGRES).record_id
    memory.remember("The cache is Redis.")
    memory.store.put(memory.store.get(one))  # another version with the same text
    assert amp("record", "redact", one, "--reason", "a slip") == (0, f"redacted: {one}\n", GIT)
    assert "[redacted]" in amp("record", "show", one).out
    assert not [data for _, data in amp.tree().values() if POSTGRES.encode() in data]


@pytest.mark.requirement("S1-83")
def test_what_a_redaction_leaves_elsewhere_is_named(amp, memory):
    """Whoever redacts a text must hear of the copies that consolidation has made of it."""
    ids = [
        memory.remember(text).record_id for text in ("Jane Doe lives in Elm Street.", "jane doe lives in Elm Street!")
    ]
    memory.consolidate()
    (merged,) = (record.id for record in memory.records(state=State.ACTIVE))
    others = {ids[1], merged}
    code, out, err = amp("record", "redact", ids[0], "--reason", "privacy")
    assert (code, out) == (0, f"redacted: {ids[0]}\n")
    assert set(err.splitlines(keepends=True)) == {
        *(f"amp: {other} has its words too; redact it as well if they must go\n" for other in others),
        GIT,
    }
    answer = amp("record", "redact", ids[1], "--reason", "privacy", "--json").json()
    assert (answer["record"]["redacted"], answer["same_text"], answer["rest_on_it"]) == (True, [merged], [])
    assert amp("record", "redact", merged, "--reason", "privacy") == (0, f"redacted: {merged}\n", GIT)
    assert not [data for _, data in amp.tree().values() if b"elm street" in data.lower()]


@pytest.mark.requirement("S1-58")
def test_a_record_that_was_changed_after_it_was_signed_says_so(amp, memory, sides):
    one = sides[0].id
    amp("record", "sign", one, "--identity", "agent.key")
    assert "does not verify" not in amp("record", "show", one).out
    file = max(Path(memory.path, "records", one[4:]).iterdir())
    file.write_bytes(replace(memory.store.get(one), confidence=0.1).to_bytes())
    assert ", but the signature does not verify\n" in amp("record", "show", one).out
    assert "[signature does not verify]" in amp("search", "staging").out
    file.write_bytes(replace(memory.store.get(one), signed_by=None).to_bytes())
    assert "signed by     nobody, but the signature does not verify\n" in amp("record", "show", one).out


def test_verifying_ends_with_4_when_anything_does_not_verify(amp, memory, sides):
    assert amp("record", "verify").out == "everything verifies: 2 records in 4 versions, 0 of them signed\n"
    file = next(Path(memory.path, "records", sides[0].id[4:]).glob("000001.json"))
    file.write_bytes(file.read_bytes().replace(b"Postgres", b"Postgrez"))
    answer = amp("record", "verify")
    assert (answer.code, answer.err) == (4, "")
    assert "000001.json" in answer.out
    assert answer.out.endswith("not everything verifies: 1 record in 2 versions, 0 of them signed\n")
    assert len(amp("record", "verify", "--json").json(4)["problems"]) == 1
    amp("record", "history", sides[0].id).refuses(4, "000001.json")


@pytest.mark.parametrize("kind", ["pipe", "device", "link-to-itself"])
def test_what_is_neither_a_file_nor_a_folder_does_not_verify(amp, kind):
    place = amp.root / "odd"
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/dev/zero" if kind == "device" else place)
    amp("record", "verify", "odd").refuses(2, "'odd' is neither a file nor a folder; name a memory directory")


def test_a_store_that_is_not_there_does_not_verify(amp):
    (amp.root / "empty").mkdir()
    for name in ("mistyped", "mistyped.sqlite"):
        amp("record", "verify", "--store", name).refuses(2, f"'{name}' does not exist")
        assert not (amp.root / name).exists()
    amp("record", "verify", "empty").refuses(2, "holds no records")


def test_what_nobody_has_signed_is_signed_with_an_identity_that_is_made_once(amp, memory, sides):
    answer = amp("record", "sign", sides[0].id, "--identity", "agent.key")
    assert answer == (
        0,
        f"signed: {sides[0].id}  {POSTGRES}\n",
        "amp: agent.key is a new identity; keep it to yourself\n",
    )
    answer = amp("record", "sign", "--identity", "agent.key")
    assert (answer.out, answer.err) == (f"signed: {sides[1].id}  {NOT_POSTGRES}\n", "")
    assert amp("record", "sign", "--identity", "agent.key").out == "there is nothing to sign\n"
    assert amp("record", "verify").out == "everything verifies: 2 records in 6 versions, 2 of them signed\n"
    assert "signed by amp:key:" in amp("record", "history", sides[0].id).out
    (amp.root / "agent.key").chmod(0o644)
    amp("record", "sign", "--identity", "agent.key").refuses(4, "chmod 600")


def test_another_store_is_a_folder_or_a_database(amp, memory):
    for name in ("memory", "memory.sqlite"):
        path = amp.root / name
        made = Memory(store=SqliteStore(path)) if name.endswith("sqlite") else Memory(path)
        one = made.remember("Elsewhere.").record_id
        made.close()
        assert amp("record", "list", "--store", name).out.startswith(one)
        assert amp("record", "show", one, "--store", name).code == 0


@pytest.mark.slow
def test_an_unknown_or_unclear_id_is_a_mistake(amp, memory, sides):
    for verb in (["show"], ["history"], ["redact", "--reason", "x"], ["sign", "--identity", "agent.key"]):
        amp("record", *verb[:1], "nothing", *verb[1:]).refuses(2, "no record begins with nothing")
        amp("record", *verb[:1], "mem:", *verb[1:]).refuses(2, "no record begins with mem:")
        amp("record", *verb[:1], sides[0].id[:6], *verb[1:]).refuses(2, "too short for the beginning of an id")
    amp("record", "show", "mem:" + "0" * 32).refuses(2, "there is no record mem:0000")
    assert not (amp.root / "agent.key").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "store",
    ["mem", "all.sqlite", pytest.param("server", marks=pytest.mark.slow)],
    ids=["directory", "SQLite", "server"],
)
def test_facts_are_replaced_disputed_and_decided_in_any_store(amp, request, store):
    place = request.getfixturevalue("address") if store == "server" else store
    named = ("--store", place)
    old = amp("record", "remember", "The API listens on port 8080.", *named, "--json").json()
    assert (old["new"], old["replaced"]) == (True, None)
    text = "The API listens on port 9090."
    new = amp("record", "remember", text, "--replaces", old["id"][:14], *named, "--tag", "net", "--json").json()
    assert new["replaced"] == old["id"]
    assert amp("record", "remember", text, *named).out == f"known already: {new['id']}\n"
    amp("record", "remember", "x y", "--replaces", old["id"], *named).refuses(3, f"{new['id']} replaced it")
    amp("record", "remember", text, "--replaces", new["id"], *named).refuses(3, "says this already")
    chain = amp("record", "history", new["id"], *named, "--json").json()["chain"]
    assert [one["state"] for one in chain] == ["superseded", "active"]
    other = amp("record", "remember", "The API listens on a Unix socket.", *named, "--json").json()["id"]
    for _ in range(2):
        assert amp("record", "dispute", other, new["id"], *named).out.count("disputed: mem:") == 2
    amp("record", "resolve", other, new["id"], "--reason", "asked", *named)
    live = amp("record", "list", "--state", "active", *named, "--json").json()["records"]
    assert [(one["body"], one["tags"]) for one in live] == [(text, ["net"])]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["dispute", "remember", "resolve", "redact", "sign"])
def test_an_agent_that_may_write_nowhere_changes_no_record(amp, memory, sides, verb):
    arguments = {
        "dispute": [sides[0].id, sides[1].id],
        "remember": ["The cache is in Berlin."],
        "resolve": [sides[0].id, sides[1].id, "--reason", "x"],
        "redact": [sides[0].id, "--reason", "x"],
        "sign": ["--identity", str(amp.home / "agent.key")],
    }[verb]
    before = amp.tree()
    answer = amp("record", verb, *arguments, "--as", "reviewer")
    assert (answer.code, answer.out) == (3, "")
    assert "read-only" in answer.err
    assert amp.tree() == before
    assert amp("record", "list", "--as", "reviewer").code == 0


def test_no_secret_comes_in_by_a_reason(amp, memory, sides):
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    before = amp.tree()
    for verb in (["resolve", sides[0].id, sides[1].id], ["redact", sides[0].id]):
        answer = amp("record", *verb, "--reason", f"see {token}")
        answer.refuses(3, "rule github-token")
        assert token not in answer.err
    assert amp.tree() == before


def test_a_text_cannot_play_with_the_terminal(amp, memory):
    forged = new_record(RecordType.FACT, "\x1b[31mred\u202e\nnext", provenance=Provenance("test"), now=NOW)
    memory.store.put(forged)
    for verb in (["list"], ["show", forged.id], ["history", forged.id]):
        out = amp("record", *verb).out
        assert "\\x1b[31mred\\u202e" in out
        assert "\x1b" not in out
    assert json.loads(amp("record", "show", forged.id, "--json").out)["record"]["body"].startswith("\x1b")


def test_memory_that_is_switched_off_has_no_records(amp, memory, sides):
    off = {"AMP_DISABLE": "1"}
    assert amp("record", "list", "--json", environ=off).json()["records"] == []
    amp("record", "redact", sides[0].id, "--reason", "x", environ=off).refuses(3, "switched off")


# Looking after them


def test_consolidating_shows_what_it_would_do_and_does_it_when_told(amp, memory):
    texts = (
        "The queue is Redis.",
        "The queue is not Redis.",
        "Deploys go out on Tuesdays.",
        "deploys go out on Tuesdays",
    )
    with Memory(memory.path, clock=lambda: NOW, consolidate_every=0) as quiet:
        ids = [quiet.remember(text).record_id for text in texts]
    before = amp.tree()
    answer = amp("consolidate")
    assert amp.tree() == before
    assert (answer.code, answer.err) == (0, "amp: nothing was changed; add --apply to do it\n")
    assert f"dispute: one side negates the other\n  {ids[0]}  {texts[0]}\n  {ids[1]}  {texts[1]}\n" in answer.out
    assert "  (new)\n" in answer.out
    done = amp("consolidate", "--apply", "--json").json()
    assert done["applied"]
    assert sorted(action["kind"] for action in done["done"]) == ["dispute", "supersede"]
    assert amp("consolidate", "--apply") == (0, "there is nothing to do\n", "")
    assert amp("record", "list", "--state", "transitional").out.count("\n") == 2


def test_what_documents_and_notes_say_is_merged_and_not_disputed_once_it_is_imported(amp):
    amp("remember", "Use pnpm.")
    amp("remember", "Always use pnpm!", "--agent", "developer")
    for slug, says in (("run-black", "Run black."), ("short-tests", "Keep tests short.")):
        amp("note", "new", "feedback", slug, "--description", says, "--why", f"{slug} helps", "--how", "Always.")
    amp("export", "--output", "memory.ndjson")
    amp("import", "memory.ndjson", "--apply")
    assert [action["kind"] for action in amp("consolidate", "--json").json()["done"]] == ["supersede"]


def test_decay_archives_what_is_old_and_keeps_what_is_tagged_so(amp, memory):
    long_ago = datetime(2025, 1, 1, tzinfo=UTC)
    with Memory(memory.path, clock=lambda: long_ago) as old:
        one = old.remember("The sprint ends on Friday.").record_id
        kept = old.remember("The licence is Apache.", tags=["keep"]).record_id
    answer = amp("decay")
    assert answer.out.startswith("archive: its salience is 0.0000, below 0.05\n")
    assert f"  {one}  The sprint ends on Friday.\n" in answer.out
    assert "kept: archive: " in answer.out
    amp("decay", "--apply")
    assert amp("record", "list", "--state", "archived").out.startswith(one)
    assert amp("record", "list", "--state", "active").out.startswith(kept)


def test_proposals_of_consolidate_are_chosen_by_ids_that_stay_and_what_was_refused_does_not_come_back(amp):
    amp("init")
    with Memory(amp.root / ".scaffolding/agent-memory", consolidate_every=0) as quiet:
        for text in (
            "Use tabs in Makefiles.",
            "Tabs must be used in Makefiles.",
            "CI runs on Linux.",
            "CI never runs on Linux.",
        ):
            quiet.remember(text)
    merged, disputed = (one["id"] for one in amp("consolidate", "--json").json()["done"])
    assert [one["id"] for one in amp("consolidate", "--json").json()["done"]] == [merged, disputed]
    assert [one["id"] for one in amp("consolidate", "--except", merged, "--json").json()["done"]] == [disputed]
    refused = amp("consolidate", "--refuse", merged[:4])
    assert merged not in refused.out
    assert "--forget-refusals` takes that back" in refused.err
    done = amp("consolidate", "--apply", "--json").json()
    assert ([one["id"] for one in done["done"]], [one["id"] for one in done["left"]]) == ([disputed], [merged])
    assert amp("consolidate", "--only", merged).code == 2
    amp("consolidate", "--forget-refusals")
    done = amp("consolidate", "--only", merged, "--apply", "--json").json()
    assert [one["kind"] for one in done["done"]] == ["supersede"]


@pytest.mark.parametrize("verb", ["consolidate", "decay"])
def test_an_agent_that_may_write_nowhere_may_look_and_not_apply(amp, memory, sides, verb):
    assert amp(verb, "--as", "reviewer").code == 0
    before = amp.tree()
    assert amp(verb, "--apply", "--as", "reviewer").code == 3
    assert amp.tree() == before


@pytest.mark.parametrize("verb", ["consolidate", "decay"])
def test_with_no_store_there_is_nothing_to_do(amp, verb):
    for more in ([], ["--apply"]):
        assert amp(verb, *more) == (0, "there is nothing to do\n", "")
    assert amp.tree() == {}


# A program that proposes

MYSQL = "The staging database is MySQL."
JUDGE = """\
import json, sys
question = json.load(sys.stdin)
ids = [record["id"] for record in question["records"]]
print(json.dumps({"proposals": [
    {"kind": "dispute", "ids": ids, "reason": "a database is one or the other"},
    {"kind": "archive", "ids": ids, "reason": "away with it"},
    {"kind": "dispute", "ids": [ids[0], "mem:gone"], "reason": "made up"},
]}))
"""


@pytest.fixture
def judge(amp, memory) -> str:
    """A program that takes two databases for a contradiction, as `--operator` takes it; and two records for it."""
    for text in (POSTGRES, MYSQL):
        memory.remember(text)
    path = amp.home / "a judge.py"
    path.write_text(JUDGE, encoding="utf-8")
    return shlex.join([sys.executable, str(path)])


@pytest.mark.slow
def test_a_program_s_proposals_are_shown_first_and_then_pass_the_same_door(amp, judge):
    before = amp.tree()
    answer = amp("consolidate", "--operator", judge)
    assert amp.tree() == before
    assert (answer.code, answer.err) == (4, "amp: nothing was changed; add --apply to do it\n")
    program = Path(sys.executable).name
    assert f"dispute: a database is one or the other  [{program}]\n" in answer.out
    assert f"refused: dispute: there is no record 'mem:gone'  [{program}]\n" in answer.out
    assert "  mem:gone  (no such record)\n" in answer.out
    assert answer.out.count("refused: ") == 2
    done = amp("consolidate", "--apply", "--operator", judge, "--json").json(4)
    assert [(action["kind"], action["by"]) for action in done["done"]] == [("dispute", program)]
    assert amp("record", "list", "--state", "transitional").out.count("\n") == 2
    # Of fewer than two records there is nothing to ask.
    assert amp("consolidate", "--operator", judge) == (0, "there is nothing to do\n", "")


@pytest.mark.slow
def test_a_program_is_asked_about_the_stages_that_are_named(amp, memory, judge):
    text = "import json, sys; open(sys.argv[1], 'a').write(json.load(sys.stdin)['stage'] + ' '); print(sys.argv[2])"
    asked = amp.home / "asked"
    command = shlex.join([sys.executable, "-c", text, str(asked), '{"proposals": []}'])
    assert amp("consolidate", "--operator", command).code == 0
    assert amp("consolidate", "--operator", command, "--stage", "dedup", "--stage", "contradiction").code == 0
    assert asked.read_text().split() == ["contradiction", "dedup", "contradiction"]
    every = [word for stage in ("dedup", "contradiction", "resolution", "promotion") for word in ("--stage", stage)]
    assert amp("consolidate", "--operator", command, *every).code == 0


def test_no_shell_reads_the_command(amp, judge):
    amp("consolidate", "--operator", f"{judge} ; touch '{amp.home}/made' $(touch '{amp.home}/made')")
    assert not (amp.home / "made").exists()


FAILING = {
    "exit code": ("import sys; sys.exit('no key')", [], "it ended with exit code 1: no key"),
    "no JSON": ("print('Sure! Here it is')", [], "its answer is not JSON"),
    "too slow": ("import time; time.sleep(600)", ["--seconds", "0.5"], "it took longer than 0.5 s and was stopped"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("text", "more", "words"), FAILING.values(), ids=FAILING)
def test_where_a_program_fails_the_rules_are_applied_and_the_exit_code_says_so(amp, memory, judge, text, more, words):
    with Memory(memory.path, clock=lambda: NOW, consolidate_every=0) as quiet:
        for said in (NOT_POSTGRES, "Deploys go out on Tuesdays."):
            quiet.remember(said)
    answer = amp("consolidate", "--apply", "--operator", shlex.join([sys.executable, "-c", text]), *more)
    assert answer.code == 4
    assert "dispute: one side negates the other\n" in answer.out
    assert f"refused: unreadable: {words}" in answer.out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--operator", "no-such-program -p x"], "there is no program 'no-such-program'"),
        (["--operator", ""], "there is no program ''"),
        (["--operator", "python3 'x"], "no closing quotation"),
        (["--stage", "dedup"], "name it with --operator"),
        (["--seconds", "3"], "name it with --operator"),
        (["--operator", "python3", "--stage", "write"], "'write' is not one of"),
        (["--operator", "python3", "--stage", "decay"], "'decay' is not one of"),
        (["--operator", "python3", "--seconds", "0"], "0"),
    ],
    ids=str,
)
def test_a_program_that_is_none_is_a_mistake(amp, judge, args, words):
    before = amp.tree()
    answer = amp("consolidate", "--apply", *args)
    assert (answer.code, words.lower() in answer.err.lower(), amp.tree()) == (2, True, before)


@pytest.mark.parametrize("agent", ["developer", "reviewer"])
def test_an_agent_has_no_program_started(amp, judge, agent):
    text = f"open({str(amp.home / 'made')!r}, 'w')"
    for more in ([], ["--apply"]):
        answer = amp("consolidate", "--as", agent, "--operator", shlex.join([sys.executable, "-c", text]), *more)
        answer.refuses(3, "may not have amp start a program")
    assert not (amp.home / "made").exists()


# Searching them


@pytest.mark.slow
@pytest.mark.requirement("S1-67", "S1-74")
def test_a_search_names_what_matches_and_why(amp, memory, sides):
    memory.remember("Call recall_for_agent first.", tags=("api",))
    lines = amp("search", "staging database").out.splitlines()
    day = f"{sides[0].updated_at:%Y-%m-%d}"
    assert lines[:2] == [
        f"{sides[0].id}  record of {day} [disputed: one negates the other]",
        f"    {POSTGRES}",
    ]
    assert lines[2].startswith("    words: staging")
    assert len(lines) == 6
    assert amp("search", "agent").out.count("recall_for_agent") == 1
    nothing = (0, "", "amp: nothing matches; --history also searches what was removed\n")
    assert amp("search", "-- no such thing as this --") == nothing
    assert amp("search", "-- no such thing as this --", "--history") == (0, "", "amp: nothing matches\n")
    (hit, _) = amp("search", "staging", "--json").json()["hits"]
    assert (hit["kind"], hit["id"], hit["state"], hit["text"]) == ("record", sides[0].id, "transitional", POSTGRES)
    assert hit["reasons"]
    answer = amp("search", "staging", "--limit", "1")
    assert len(answer.out.splitlines()) == 3
    assert answer.err == "amp: more match; --limit 2 shows more of them\n"


@pytest.mark.slow
def test_a_search_shows_what_was_replaced_when_asked_and_is_no_use(amp, memory, sides):
    memory.resolve(sides[0].id, sides[1].id, "moved")
    assert amp("search", "staging").out.count("\nmem:") == 0
    assert amp("search", "staging", "--history").out.count("\nmem:") == 1
    assert "used" not in amp("search", "staging").out


def test_a_search_where_there_is_nothing_makes_nothing(amp):
    assert amp("search", "anything") == (0, "", "amp: nothing matches; --history also searches what was removed\n")
    assert amp("search", "anything", "--json").json()["hits"] == []
    assert amp.tree() == {}


# Verifying means it


SAID_TWICE = ("Use pnpm in CI.", "Always use `pnpm` in CI!")
DISPUTED = ("Use make in CI.", "Logs go to S3.")


@pytest.fixture
def store(amp, memory) -> Memory:
    """A memory directory with an owner, and what may happen to records in it."""
    made = Memory(amp.root / "mem", identity=amp.root / "own.key", consolidate_every=0)
    for text in (*SAID_TWICE, *DISPUTED, "Backups go to S3."):
        made.remember(text)
    made.consolidate()
    one, other = (record for record in made.records() if record.body in DISPUTED)
    made.dispute(one.id, other.id, "asked")
    return made


def folder(store: Memory, record: Record) -> Path:
    return Path(str(store.path), "records", record.id[4:])


@pytest.mark.slow
def test_all_that_is_sound_verifies_and_it_says_what_it_cannot_prove(amp, store):
    address = Identity.load(str(amp.root / "own.key")).address
    store.export(amp.root / "all.amem.json")
    for place in (["mem"], ["--store", "mem"], ["all.amem.json"], ["mem", "--signer", address]):
        done = amp("record", "verify", *place)
        assert done.code == 0, done
        assert done.out.startswith("everything verifies: 6 records")
        assert "not proved: " in done.err
    assert "name them with --signer" in amp("record", "verify", "mem").err
    assert "name them with --signer" not in amp("record", "verify", "mem", "--identity", "own.key").err
    assert "newest file" in amp("record", "verify", "all.amem.json").err
    with SqliteStore(amp.root / "all.db") as copy:
        for record in store.records():
            copy.put(record)
    assert amp("record", "verify", "all.db", "--signer", address).out.startswith("everything verifies: 6 records")


LOST = {
    State.ACTIVE: "its successor",
    State.SUPERSEDED: "evidence",
    State.TRANSITIONAL: "the other side of its dispute is missing",
}


@pytest.mark.slow
@pytest.mark.parametrize(("state", "why"), LOST.items())
@pytest.mark.parametrize("where", ["folder", "file", "link"])
def test_a_link_to_what_is_missing_does_not_verify(amp, store, state, why, where):
    gone = next(record for record in store.records(state=state) if record.body in (*SAID_TWICE, *DISPUTED))
    if where == "file":
        rest = tuple(record for record in store.records() if record != gone)
        identity = Identity.load(str(amp.root / "own.key"))
        file = SignedMemoryFile(created_at=NOW, records=rest).sign(identity)
        (amp.root / "part.amem.json").write_bytes(file.to_bytes())
        answer = amp("record", "verify", "part.amem.json")
    else:
        folder(store, gone).rename(amp.root / "away")
        if where == "link":
            folder(store, gone).symlink_to(amp.root / "away")
        answer = amp("record", "verify", "mem")
    assert answer.code == 4
    assert ("leads outside" if where == "link" else why) in answer.out
    assert where != "folder" or f"{gone.id}: is gone, and this machine has seen it" in answer.out


def test_two_losers_of_one_dispute_do_not_verify(amp, store):
    one, other = store.records(state=State.TRANSITIONAL)
    for side, rest in ((one, other), (other, one)):
        store.store.put(
            replace(
                side,
                state=State.SUPERSEDED,
                transition=None,
                superseded_by=rest.id,
                state_reason="x",
                signed_by=None,
                signature="",
            )
        )
    answer = amp("record", "verify", "mem")
    assert (answer.code, answer.out.count("in a circle")) == (4, 2)


def test_a_store_that_was_set_back_shows_where_it_was_seen(amp, store):
    one, other = store.records(state=State.TRANSITIONAL)
    for side in (one, other):
        max(folder(store, side).iterdir()).unlink()
    answer = amp("record", "verify", "mem")
    assert (answer.code, answer.out.count("was set back; this machine has seen")) == (4, 2)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".amem.json", ".sqlite"])
def test_a_file_that_was_set_back_shows_where_it_was_seen(amp, store, ending):
    path = amp.root / f"all{ending}"

    def write() -> None:
        path.unlink(missing_ok=True)
        if ending == ".sqlite":
            with SqliteStore(path) as copy:
                for record in store.records():
                    copy.put(record)
        else:
            store.export(path)

    write()
    before = path.read_bytes()
    one, other = store.records(state=State.TRANSITIONAL)
    store.resolve(one.id, other.id, "asked")
    write()
    assert amp("record", "verify", str(path)).code == 0
    path.write_bytes(before)
    answer = amp("record", "verify", str(path))
    assert (answer.code, answer.out.count("was set back")) == (4, 2)


def test_who_did_not_sign_is_named_and_recalled_with_a_mark(amp, store):
    address = Identity.load(str(amp.root / "own.key")).address
    with Memory(amp.root / "mem") as nobody, Memory(amp.root / "mem", identity=amp.root / "other.key") as other:
        unsigned, foreign = (
            nobody.remember("Tokens expire hourly.").record_id,
            other.remember("Tokens are JWT.").record_id,
        )
    answer = amp("record", "verify", "mem", "--signer", address)
    assert answer.code == 4
    assert f"{unsigned}: is not signed, and not by {address}" in answer.out
    assert f"{foreign}: is signed by amp:key:" in answer.out
    assert amp("record", "verify", "mem").code == 0
    with Memory(amp.root / "mem", identity=amp.root / "own.key") as mine:
        assert set(mine.check().foreign) == {unsigned, foreign}
        lines = mine.recall("tokens pnpm").as_prompt_block().splitlines()
    assert {line for line in lines if "pnpm" not in line} == {
        "- Tokens are JWT. [not signed by the owner]",
        "- Tokens expire hourly. [not signed by the owner]",
    }
    assert "- Use pnpm in CI." in lines or "- Always use `pnpm` in CI!" in lines
    (amp.root / "mem/records" / unsigned.removeprefix("mem:") / "000001.json").write_text("{}")
    with Memory(amp.root / "mem", identity=amp.root / "own.key") as mine:
        checked = mine.check()
    assert (checked.foreign, len(checked.problems)) == ((foreign,), 1), "a damaged record hides no other"


def test_what_another_has_signed_shows_in_a_file_that_the_owner_has_signed(amp):
    with Memory(amp.root / "both", identity=amp.root / "other.key") as other, Memory(amp.root / "both") as nobody:
        foreign = other.remember("Tokens are JWT.").record_id
        nobody.remember("Tokens expire hourly.")
    with Memory(amp.root / "both", identity=amp.root / "own.key") as own:
        own.export(amp.root / "both.amem.json")
    answer = amp("record", "verify", "both.amem.json", "--signer", Identity.load(str(amp.root / "own.key")).address)
    assert (answer.code, answer.out.count("and not by")) == (4, 1)
    assert f"{foreign}: is signed by" in answer.out
    assert "name them with --signer" not in answer.err


@each_row("link", ["successor", "evidence", "side"])
def test_an_import_says_what_has_not_come_with_a_record(amp, link):
    name = f"from-{link}"
    with Memory(amp.root / name, consolidate_every=0) as memory:
        one, other = (memory.remember(text).record_id for text in ("Builds run on ARM.", "builds run on arm!"))
        if link == "side":
            memory.dispute(one, other, "checked")
        elif link == "successor":
            memory.supersede(one, other, "checked")
        else:
            memory.consolidate()
            one = next(record.id for record in memory.records(state="active"))
        memory.export(amp.root / f"{name}.amem.json")
    wire = json.loads((amp.root / f"{name}.amem.json").read_bytes())
    wire["records"] = [record for record in wire["records"] if record["id"] == one]
    (amp.root / f"{name}.amem.json").write_bytes(canonical.encode(wire))
    answer = amp("import", f"{name}.amem.json", "--apply", "--accept-unsigned", "--store", f"to-{link}")
    assert answer.code == 0
    assert f"{one}: " in answer.err
    assert "is missing" in answer.err


@pytest.mark.slow
@pytest.mark.parametrize("change", ["text", "signature", "agent", "cut", "blank", "twice"])
def test_a_memory_file_that_was_changed_does_not_verify(amp, store, change):
    store.export(amp.root / "all.amem.json")
    data = (amp.root / "all.amem.json").read_bytes()
    wire = json.loads(data)
    if change == "signature":
        wire["signature"] = ""
    elif change == "agent":
        wire["agent"] = Identity.generate().address
    elif change == "text":
        wire["records"][0]["body"] = "Use yarn in CI."
    elif change == "twice":
        wire = {**wire, "agent": None, "signature": "", "records": [*wire["records"], wire["records"][0]]}
    changed = {"cut": data[:-10], "blank": data + b"\n"}.get(change) or canonical.encode(canonical.freeze_object(wire))
    (amp.root / "all.amem.json").write_bytes(changed)
    answer = amp("record", "verify", "all.amem.json")
    assert (answer.code, answer.out.splitlines()[-1][:22]) == (4, "not everything verifie")


def test_what_is_no_store_is_refused(amp, store):
    (amp.root / "empty").mkdir()
    (amp.root / "notes.json").write_text('{"format": "mine"}')
    (amp.root / "x.txt").write_text("text")
    with closing(sqlite3.connect(amp.root / "shop.sqlite")) as other:
        other.execute("CREATE TABLE orders (id)")
    for place, why in {
        "empty": "holds no records",
        "mem/records": "the inside of a store; name the folder above",
        "notes.json": "neither a store nor a memory file",
        "x.txt": "neither a store nor a memory file",
        "shop.sqlite": "a database without records",
        "gone": "does not exist",
    }.items():
        amp("record", "verify", place).refuses(2, why)
    amp("record", "list", "--store", "x.txt").refuses(2, "is a file and no store")
    amp("record", "list", "--store", "shop.sqlite").refuses(4, "a database of something else")
    amp("record", "verify", "mem", "--signer", "amp:key:x").refuses(2, "does not name a key")


@pytest.mark.slow
def test_records_of_others_and_unsigned_ones_are_shown_and_come_in_only_when_they_are_accepted(amp, store):
    own, foreign = ("--identity", "mine.key"), Identity.load(str(amp.root / "own.key")).address
    store.export(amp.root / "signed.amem.json")
    file = SignedMemoryFile.parse((amp.root / "signed.amem.json").read_bytes())
    bare = tuple(replace(one, signed_by=None, signature="") for one in file.records)
    stripped = replace(file, signature="", records=bare)
    (amp.root / "stripped.amem.json").write_bytes(stripped.to_bytes())
    (amp.root / "unsigned.amem.json").write_bytes(replace(stripped, agent=None).to_bytes())
    cases = {
        "signed": ((f"--accept {foreign}",), ("--accept", foreign), ("--accept-unsigned",)),
        "stripped": (("was taken off the file", "--accept-unsigned"), ("--accept-unsigned",), ("--accept", foreign)),
        "unsigned": (("is not signed", "--accept-unsigned"), ("--accept-unsigned",), ("--accept", foreign)),
    }
    for name, (said, accepting, other) in cases.items():
        into = ("--store", name, *own)
        for options in ((), ("--apply",), ("--apply", *other)):
            answer = amp("import", f"{name}.amem.json", *options, *into)
            assert answer.code == 3
            assert all(one in answer.err for one in said), answer.err
            assert Memory(amp.root / name).records() == ()
        assert amp("import", f"{name}.amem.json", "--apply", *accepting, *into).code == 0
        assert amp("record", "verify", name).code == 0
        assert len(Memory(amp.root / name).records()) == 6
    assert amp("import", "signed.amem.json", "--apply", "--store", "signed").code == 0  # its signer has records here
    amp("import", "signed.amem.json", "--accept", "amp:key:x").refuses(2, "does not name a key")


FORMATS = ("ndjson", "json", "pb", "sqlite", "parquet", "amem.json")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_record_comes_in_unasked_only_if_it_is_the_owners_whatever_carries_it_and_wherever_it_goes(
    amp, store, suffix
):
    foreign = Identity.load(str(amp.root / "own.key")).address
    with Memory(amp.root / "bare") as bare:
        for record in store.records():
            bare.add(replace(record, signed_by=None, signature=""))
    for name, source in {"signed": "mem", "unsigned": "bare"}.items():
        assert amp("export", "records", "--store", source, "--output", f"{name}.{suffix}").code == 0
    for name, asked, accepting in (
        ("signed", f"--accept {foreign}", ("--accept", foreign)),
        ("unsigned", "is not signed; take such records with --accept-unsigned", ("--accept-unsigned",)),
    ):
        # Two of the six no longer hold, and come into no document.
        for place, count in ((("--store", name), 6), (("--to", "shared"), 4)):
            answer = amp("import", f"{name}.{suffix}", "--apply", *place)
            assert (answer.code, answer.err.count(asked)) == (3, count), answer
            assert Memory(amp.root / name).records() == ()
        assert amp("import", f"{name}.{suffix}", "--apply", *accepting, "--to", "shared").code == 0
        assert amp("import", f"{name}.{suffix}", "--apply", *accepting, "--store", name).code == 0
        again = amp("import", f"{name}.{suffix}", "--apply", "--store", name)  # it says nothing new
        assert (again.code, "6 known already" in again.err) == (0, True), again


def test_an_unsigned_version_does_not_follow_a_signed_one_in_any_format(amp, store):
    record = next(record for record in store.records() if record.body == "Backups go to S3.")
    changed = replace(record, tags=("new",), signed_by=None, signature="", updated_at=NOW.replace(year=2030))
    conversion = Conversion(by_name("ndjson"), HashEmbedder())
    by_name("ndjson").write(str(amp.root / "a.ndjson"), conversion.carry([entry_of(changed)]))
    assert "is not signed" in amp("import", "a.ndjson", "--apply", "--store", "mem").err
    assert amp("import", "a.ndjson", "--apply", "--store", "mem", "--accept-unsigned").code == 0
    assert store.store.get(record.id).tags == ("new",)


@pytest.mark.slow
def test_a_person_replaces_archives_and_brings_back_at_the_command_line(amp, memory):
    old = memory.remember("The API listens on port 8080.").record_id
    done = amp("remember", "The API listens on port 9090.", "--replaces", old[:12], "--json").json()
    assert (done["status"], done["replaced"]) == ("added", old)
    history = amp("record", "history", old)
    assert f"*  {old}  superseded: a newer record replaces it" in history.out
    assert f"   {done['id']}  active" in history.out
    assert [one["id"] for one in amp("record", "history", done["id"], "--json").json()["chain"]] == [old, done["id"]]
    assert amp("record", "archive", done["id"]).out == f"archived: {done['id']}  The API listens on port 9090.\n"
    amp("record", "archive", done["id"]).refuses(3, "cannot become archived")
    assert amp("search", "API port").out == ""
    back = amp("record", "reactivate", done["id"], "--reason", "needed", "--json").json()["record"]
    assert back["supersedes"] == done["id"]
    assert "port 9090" in amp("search", "API port").out
    third = memory.remember("The API listens on port 7070.").record_id
    assert amp("record", "resolve", back["id"], third, "--reason", "moved").code == 0
    assert amp("record", "verify").code == 0


def test_a_record_says_what_the_marks_of_its_entry_said(amp, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# P\n\n- [until 2999-01-01] The trial lasts.\n- [disputed] The port is 8080.\n")
    amp("init")
    amp("import", str(page), "--apply")
    ids = {one["body"]: one["id"] for one in amp("record", "list", "--json").json()["records"]}
    assert "holds until   2999-01-01\n" in amp("record", "show", ids["The trial lasts."]).out
    assert "disputed      where it came from\n" in amp("record", "show", ids["The port is 8080."]).out
    assert "[until 2999-01-01]" in amp("search", "trial").out
