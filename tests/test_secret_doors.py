"""No secret comes in by the library: each call refuses it before the first byte is written."""

from pathlib import Path

import pytest

from agent_memory_protocol import Actor, MemoryFile, Tier, Workspace
from agent_memory_protocol.answers import About
from agent_memory_protocol.errors import Refused, SecretFound
from agent_memory_protocol.secrets.find import find_secrets

DRAWN = "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
TOKEN = "ghp" + "_" + DRAWN
FINGERPRINT = find_secrets(TOKEN)[0].fingerprint
SECRETS = {
    "openai-key": "sk" + "-" + DRAWN,
    "aws-access-key": "AKIA" + "Q7ZT2XW9LM4RB6YC",
    "github-token": TOKEN,
    "password": "the password is hunter2",
    "url-credentials": "https://me:hunter2@git.acme.example/app.git",
}


@pytest.fixture
def environ(tmp_path):
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def workspace(tmp_path, environ):
    made = Workspace.open(tmp_path / "project", environ=environ)
    made.remember("Redis needs AOF on.")
    return made


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(call, rule: str, folder: Path) -> None:
    before = tree(folder)
    with pytest.raises(SecretFound, match=f"rule {rule}, ") as caught:
        call()
    assert isinstance(caught.value, Refused)
    assert caught.value.exit_code == 3
    for value in (DRAWN, "Q7ZT2XW9LM4RB6YC", "hunter2"):
        assert value not in str(caught.value)
    assert tree(folder) == before


@pytest.mark.slow
@pytest.mark.requirement("S0-30", "S2-05", "S2-29")
@pytest.mark.parametrize("rule", SECRETS)
def test_a_workspace_writes_no_secret(workspace, tmp_path, rule):
    secret = SECRETS[rule]
    entry = workspace.entries()[0].id
    for call in (
        lambda: workspace.remember(f"CI uses {secret}"),
        lambda: workspace.remember(f"CI uses {secret}", tier=Tier.AGENT, actor=Actor("developer", "c1")),
        lambda: workspace.remember(f"CI uses\n\n{secret}", conversation="c1"),
        lambda: workspace.remember("a fact", section=secret),
        lambda: workspace.remember("a fact", about=About(source=secret)),
        lambda: workspace.remember("a fact", about=About(tags=("ci", secret))),
        lambda: workspace.edit(entry, secret),
        lambda: workspace.forget([entry], reason=secret),
    ):
        refused(call, rule, tmp_path)


def test_a_project_that_does_not_exist_is_not_made_for_a_secret(tmp_path, environ):
    workspace = Workspace.open(tmp_path / "project", environ=environ)
    refused(lambda: workspace.remember(TOKEN), "github-token", tmp_path)
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\n  ", "\\\n"])
def test_a_secret_in_disguise_is_refused_as_what_it_is(workspace, tmp_path, hidden):
    refused(lambda: workspace.remember(f"CI uses {TOKEN[:20]}{hidden}{TOKEN[20:]}."), "github-token", tmp_path)


def test_an_agent_that_may_not_write_learns_nothing_about_the_text(workspace, tmp_path):
    before = tree(tmp_path)
    with pytest.raises(Refused, match="read-only") as caught:
        workspace.remember(TOKEN, actor=Actor("reviewer"))
    assert not isinstance(caught.value, SecretFound)
    assert tree(tmp_path) == before


def test_what_the_project_or_the_person_allows_is_written(workspace, tmp_path, environ):
    (tmp_path / "project" / ".scaffolding" / "amp.toml").write_text(f'[secrets]\nallow = ["{FINGERPRINT}"]\n')
    assert workspace.remember(f"The docs show {TOKEN}.").status == "added"
    refused(lambda: workspace.remember(f"{TOKEN} and the password is hunter2"), "password", tmp_path)
    (tmp_path / "project" / ".scaffolding" / "amp.toml").write_text("")
    refused(lambda: workspace.remember(f"Again {TOKEN}."), "github-token", tmp_path)
    (tmp_path / "home" / ".config" / "amp").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "amp" / "config.toml").write_text(f'[secrets]\nallow = ["{FINGERPRINT}"]\n')
    assert workspace.remember(f"Again {TOKEN}.").status == "added"


@pytest.mark.requirement("S0-30")
@pytest.mark.parametrize("rule", SECRETS)
def test_a_memory_file_takes_no_secret(tmp_path, rule):
    secret = SECRETS[rule]
    memory = MemoryFile.open(tmp_path / "memory.jsonl")
    refused(lambda: memory.append(f"CI uses {secret}.", kind="fact"), rule, tmp_path)
    assert not (tmp_path / "memory.jsonl").exists()
    memory.append("Redis needs AOF on.", kind="fact")
    refused(lambda: memory.append(f"CI uses {secret}.", kind="fact"), rule, tmp_path)
    refused(lambda: memory.append("a fact", kind="fact", source=secret), rule, tmp_path)
    refused(lambda: memory.append("a fact", kind="fact", tags=["ci", secret]), rule, tmp_path)


def test_a_memory_file_takes_what_its_project_allows(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AMP_ROOT", raising=False)
    (tmp_path / "project" / ".scaffolding").mkdir(parents=True)
    (tmp_path / "project" / "data").mkdir()
    memory = MemoryFile.open(tmp_path / "project" / "data" / "memory.jsonl")
    refused(lambda: memory.append(f"The docs show {TOKEN}.", kind="fact"), "github-token", tmp_path)
    (tmp_path / "project" / ".scaffolding" / "amp.toml").write_text(f'[secrets]\nallow = ["{FINGERPRINT}"]\n')

    memory.append(f"The docs show {TOKEN}.", kind="fact")

    assert [entry.text for entry in memory.view().entries] == [f"The docs show {TOKEN}."]
    refused(lambda: memory.append(SECRETS["openai-key"], kind="fact"), "openai-key", tmp_path)
    monkeypatch.setenv("AMP_DISABLE", "1")  # no settings are read, so nothing is allowed
    refused(lambda: memory.append(f"The docs show {TOKEN}.", kind="fact"), "github-token", tmp_path)


def test_a_memory_file_with_a_secret_of_another_program_can_be_read_deleted_from_and_compacted(tmp_path):
    path = tmp_path / "memory.jsonl"
    memory = MemoryFile.open(path)
    memory.append("Redis needs AOF on.", kind="fact")
    line = path.read_bytes().splitlines()[1].replace(b"Redis needs AOF on.", TOKEN.encode())
    path.write_bytes(path.read_bytes() + line.replace(memory.view().entries[0].id.encode(), b"0123456789ab") + b"\n")

    assert TOKEN in [entry.text for entry in memory.view().entries]
    memory.delete("0123456789ab")
    memory.compact()

    assert DRAWN.encode() not in path.read_bytes()
