"""No secret comes in by the command line: refused in one line that does not repeat it, and nothing is changed."""

import json
import re

import pytest

from tests.each_row import each_row

DRAWN = "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
SECRETS = {
    "openai-key": "sk" + "-" + DRAWN,
    "aws-access-key": "AKIA" + "Q7ZT2XW9LM4RB6YC",
    "github-token": "ghp" + "_" + DRAWN,
    "private-key": f"-----BEGIN RSA PRIVATE KEY-----\n{DRAWN}\n-----END RSA PRIVATE KEY-----",
    "password": "the password is hunter2-Kq7",
    "url-credentials": "postgres://app:hunter2-Kq7@db.acme.example/app",
}
VALUES = (DRAWN, "Q7ZT2XW9LM4RB6YC", "hunter2")
NOTE = {"--description": "a fact", "--why": "it happened", "--how": "look first", "--body": "It is so."}
DOORS = ["argument", "stdin", "agent", "conversation", "section", "source", "tag", "edit", "edit by stdin", "reason"]
DOORS += [f"note {option}" for option in NOTE]
TRIED = [
    (door, rule)
    for door in DOORS
    for rule in SECRETS
    if door in ("argument", "stdin", "note --body") or rule in ("github-token", "password")
]
"""Every door with two kinds of secret, three of them with all."""


@pytest.fixture
def project(amp):
    """A project with an entry, a note, a ledger and a journal."""
    for command in (
        ["remember", "Redis needs AOF on."],
        ["remember", "gone", "--source", "user"],
        ["note", "new", "project", "a-note", *(part for option in NOTE.items() for part in option)],
    ):
        assert amp(*command).code == 0
    gone, entry = (ids(amp)[text] for text in ("- gone", "- Redis needs AOF on."))
    assert amp("forget", gone).code == 0
    amp.entry = entry
    return amp


def ids(amp):
    return {entry["text"]: entry["id"] for entry in amp("list", "--json").json()["entries"]}


def everything(amp):
    return {path: path.read_bytes() for path in sorted(amp.home.rglob("*")) if path.is_file()}


def through(amp, door, secret):
    """Return the command that brings a secret in by this door, and what stands on stdin."""
    note = {**NOTE, **({door.removeprefix("note "): secret} if door.startswith("note ") else {})}
    commands = {
        "argument": ["remember", f"Deploys use {secret} for now."],
        "stdin": ["remember", "-"],
        "agent": ["remember", secret, "--agent", "developer"],
        "conversation": ["remember", secret, "--conversation", "c1"],
        "section": ["remember", "a fact", "--section", secret],
        "source": ["remember", "a fact", "--source", secret],
        "tag": ["remember", "a fact", "--tag", "plain", "--tag", secret],
        "edit": ["edit", amp.entry, f"Deploys use {secret} for now."],
        "edit by stdin": ["edit", amp.entry, "-"],
        "reason": ["forget", amp.entry, "--reason", secret],
    }
    options = [part for option in note.items() for part in option]
    return commands.get(door, ["note", "new", "project", "b-note", *options]), f"Deploys use\n{secret}\nfor now.\n"


@pytest.mark.slow
@pytest.mark.requirement("S0-30", "S2-05", "S2-29")
@each_row("door, rule", TRIED)
def test_a_secret_is_refused_and_nothing_is_changed(project, door, rule):
    command, stdin = through(project, door, SECRETS[rule])
    before = everything(project)

    answer = project(*command, stdin=stdin)

    answer.refuses(3, rule, "line ", "the token is in env/", "[secrets] allow", "nothing was written")
    for value in VALUES:
        assert value not in answer.err
    assert everything(project) == before


@pytest.mark.slow
def test_the_installed_program_refuses_it_before_there_is_any_memory(amp):
    answer = amp.process("remember", f"The key is {SECRETS['openai-key']}.")
    answer.refuses(3, "openai-key")
    assert DRAWN not in answer.err
    assert everything(amp) == {}
    answer = amp.process("remember", "-", "--json", stdin=f"one\ntwo\n{SECRETS['github-token']}\n")
    answer.refuses(3, "line 3 of the text", "github-token")
    assert everything(amp) == {}


@pytest.mark.slow
@each_row("door", DOORS, fresh=True)
def test_what_the_project_allows_by_its_fingerprint_passes(project, door):
    command, stdin = through(project, door, SECRETS["github-token"])
    fingerprint = re.search(r'allow = \["([0-9a-f]{12})"\]', project(*command, stdin=stdin).err)
    assert fingerprint is not None
    project.write(".scaffolding/amp.toml", f'[secrets]\nallow = ["{fingerprint[1]}"]\n')

    assert project(*command, stdin=stdin).code == 0

    written = b"".join(data for path, data in everything(project).items() if path.name != "amp.toml")
    assert DRAWN.encode() in written
    command, stdin = through(project, door, SECRETS["github-token"].replace("7", "8"))
    assert project(*command, stdin=stdin).code in (2, 3)


@pytest.mark.requirement("S2-02", "S2-30")
@each_row(
    "text",
    [
        "The PayPal link is in env/paypal.txt",
        "the token is in the vault under ci/deploy",
        "TOKEN=${TOKEN}",
        "Fixed in 3f78685.",
    ],
    fresh=True,
)
def test_where_a_secret_is_may_be_remembered(amp, text):
    assert amp("remember", text).code == 0


@pytest.mark.requirement("S2-29")
def test_an_edit_of_an_entry_with_a_secret_leaves_no_copy_of_it(project):
    path = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    text = (project.root / path).read_text()
    project.write(path, f"{text}- The token is {SECRETS['github-token']}.\n")
    (entry,) = [entry_id for said, entry_id in ids(project).items() if "The token is" in said]

    assert project("edit", entry, "The token is in env/github.txt.").code == 0

    assert "- The token is in env/github.txt." in ids(project)
    left = {path.name for path, data in everything(project).items() if DRAWN.encode() in data}
    assert left <= {"shared.jsonl"}  # the journal is local, and forgets in a day


@pytest.mark.requirement("S2-29")
def test_an_entry_with_a_secret_leaves_only_without_a_copy(project):
    path = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    text = (project.root / path).read_text()
    project.write(path, f"{text}- [2020-01-01] The token is {SECRETS['github-token']}.\n")
    (entry,) = [entry_id for said, entry_id in ids(project).items() if "The token is" in said]
    before = everything(project)

    answer = project("forget", entry)
    answer.refuses(3, "github-token", f"amp forget {entry} --redact")
    assert DRAWN not in answer.err
    answer = project("prune", "--apply")
    assert "stays: holds" in answer.out
    assert "forget it with --redact" in answer.out
    assert DRAWN not in answer.out + answer.err
    assert everything(project) == before

    assert project("forget", entry, "--redact").code == 0
    assert not any(DRAWN.encode() in data for data in everything(project).values())


@pytest.mark.requirement("S2-29")
def test_an_entry_with_a_secret_keeps_no_other_from_being_pruned(project):
    path = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    text = (project.root / path).read_text()
    secret = f"- [2020-01-01] The token is {SECRETS['github-token']}.\n"
    project.write(path, f"{text}{secret}- [2020-01-02] old\n")
    assert project("prune", "--apply").code == 0
    assert (project.root / path).read_text() == text + secret


@pytest.mark.requirement("S2-29")
def test_prose_with_a_secret_that_stays_keeps_nothing_beside_it_from_being_forgotten(project):
    path = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    secret = f"The token is {SECRETS['github-token']}.\n"
    project.write(path, f"# T\n\n{secret}\n- between\n\nmore prose\n")
    assert project("forget", ids(project)["- between"]).code == 0
    assert (project.root / path).read_text().endswith(f"\n\n{secret}\n<!-- -->\n\nmore prose\n")


@pytest.mark.slow
@pytest.mark.requirement("S2-29")
@pytest.mark.parametrize("become", ["", "- The token is in env/github.\n"], ids=["taken out", "edited"])
def test_a_secret_that_a_person_takes_out_by_hand_does_not_go_into_the_ledger(project, become):
    path = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    text = (project.root / path).read_text()
    secret = f"- The token is {SECRETS['github-token']}.\n"
    project.write(path, text + secret + "- innocent\n")
    assert project("remember", "one more", "--tier", "shared").code == 0
    project.write(path, (project.root / path).read_text().replace(secret, become).replace("- innocent\n", ""))
    for told in ("and another", "and another", "a last one"):
        assert project("remember", told, "--tier", "shared").code == 0
    (ledger,) = project.root.rglob("ledger.jsonl")
    assert b"- innocent" in ledger.read_bytes()
    assert DRAWN.encode() not in ledger.read_bytes()


@pytest.mark.requirement("S2-29")
def test_a_secret_in_a_ledger_does_not_come_back(project):
    (ledger,) = project.root.rglob("ledger.jsonl")
    ledger.write_bytes(ledger.read_bytes().replace(b"- gone", f"- gone {SECRETS['github-token']}".encode()))
    before = {path: data for path, data in everything(project).items() if path.suffix == ".md"}

    answer = project("restore", "--last", "--apply")

    assert "github-token" in answer.err
    assert DRAWN not in answer.out + answer.err
    assert {path: data for path, data in everything(project).items() if path.suffix == ".md"} == before


def test_an_answer_in_json_does_not_repeat_it_either(project):
    answer = project("route", f"The token is {SECRETS['github-token']}", "--json")
    assert answer.json()["place"] == "secret"
    assert DRAWN not in json.dumps(answer.json()) + answer.err


@pytest.mark.slow
@pytest.mark.requirement("S2-29")
def test_what_was_taken_out_by_hand_with_a_secret_is_told_without_it_and_kept_nowhere(project):
    path = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
    text = (project.root / path).read_text()
    project.write(path, f"{text}- The token is {SECRETS['github-token']}.\n")
    assert project("remember", "so that the journal knows it").code == 0
    project.write(path, text)

    shown = project("sync")
    assert "taken out by hand, kept nowhere: holds a GitHub" in shown.out
    assert DRAWN not in shown.out + project("sync", "--json").out
    done = project("remember", "another fact")
    assert "1 entry with a secret had been taken out by hand; no copy was kept" in done.err
    assert DRAWN not in (project.root / path).with_name("ledger.jsonl").read_text()


@pytest.mark.requirement("S2-29")
def test_a_note_with_a_secret_is_redacted_by_the_command_that_the_refusal_names(project):
    note = project.root / ".scaffolding/agent-memory/shared/project_a-note.md"
    note.write_text(f"{note.read_text()}\nThe token is {SECRETS['github-token']}.\n")
    before = everything(project)
    answer = project("note", "remove", "a-note")
    answer.refuses(3, "github-token", "`amp note remove project_a-note --redact`")
    assert DRAWN not in answer.err
    assert everything(project) == before
    assert (
        project("note", "remove", "project_a-note", "--redact").out == "removed: project_a-note.md; no copy was kept\n"
    )
    assert not any(DRAWN.encode() in data for data in everything(project).values())
