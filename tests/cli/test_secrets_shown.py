"""No verb repeats a secret that is in memory, in any format."""

import json
import shlex

import pytest

from agent_memory_protocol import Actor, Memory, Workspace
from agent_memory_protocol.cli.main import amp as group
from agent_memory_protocol.mcp import tier_tools
from agent_memory_protocol.mcp.tool import Answer, Door
from tests.cli.test_terminal import AGENT, SHARED, names_of
from tests.folder import Kept

DRAWN = "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
KEY = "\n".join(["MIIEowIBAAKCAQEA0Z3VSqXg8Hk2PqLmNrTvWxYz01ABCDEFGHIJKLMNOPQRSTUV"] * 3)
VALUES = (
    DRAWN[:20],
    "Wq7#zT2xLm9",
    "Zk4!tR9pQw2",
    "hunter2x9",
    "Tr0ub4dor&3x",
    "velvet-lantern-copper",
    KEY[:30],
    "Vb8$nM3kPq5",
)
"""A part of each secret below that is in nothing else."""
ENTRIES = f"""# Knowledge

- [2025-01-02] The deploy token is ghp_{DRAWN} for CI.
- [2025-01-03] The deploy token is ghp_{DRAWN} for our CI.
- The staging password is Wq7#zT2xLm9 since the move, and nobody has written a word more about it than this sentence.
- postgresql://ada:hunter2x9@db.acme.io/app is the database.
- Das Passwort für den Router lautet Tr0ub4dor&3x.
- passphrase: velvet-lantern-copper-walrus-mosaic
- A long story of the old machine room, its doors, lamps, cables and two ladders: password Vb8$nM3kPq5 opens it.

## Logins

| user | password |
|---|---|
| bob | Zk4!tR9pQw2 |

## Keys

- The key of the box:

  ```
  -----BEGIN RSA PRIVATE KEY-----
{chr(10).join("  " + line for line in KEY.splitlines())}
  -----END RSA PRIVATE KEY-----
  ```
"""

VERBS = {  # `merge` and `convert` write whole files, true to the byte; `recall` and the hooks give agents these files
    "show": ["", "--agent dev", "--about", "--section Logins", "--left-out --max-lines 6", "{id}"],
    "list": ["", "--long"],
    "edit": ["{id} 'The deploy token is in the vault.'", "{id} --date 2025-03-03"],
    "forget": ["{id}"],
    "resolve": ["{id} {other}"],
    "dispute": ["{id} {other}"],
    "remember": ["'The deploy token is in the vault.'"],
    "status": [""],
    "route": ["'The staging password is Wq7#zT2xLm9'"],
    "note list": [""],
    "note show": ["cache"],
    "note merge": ["cache --into queue"],
    "note remove": ["cache"],
    "index": ["", "--check"],
    "watch": ["--once"],
    "check": ["", "--format github", "--format gitlab", "--format junit", "--format sarif"],
    "review": ["", "--all"],
    "prune": ["", "--keep-days 30", "--sections"],
    "restore": ["--list", "--last"],
    "sync": ["", "--apply"],
    "search": ["deploy", "password", "key --context 4", "passphrase", "story", "database --history"],
    "distill": [""],
    "learn": ["c1"],
    "close": ["c1", "--over"],
    "adopt": [".", "elsewhere"],
    "find-stores": [""],
    "diff": ["", "--format markdown"],
    "doctor": ["", "dev"],
    "where": [""],
    "export": ["--format jsonl", "--format markdown"],
    "import": ["CLAUDE.md --to shared"],
    "harvest": ["CLAUDE.md --reporter dev --conversation c1"],
    "consolidate": [""],
    "record list": [""],
    "record remember": ["'The deploy token is in the vault.'"],
    "ledger compact": [""],
    "view": ["--output -"],
}


@pytest.fixture
def leaky(amp):
    amp("remember", "A fact that is fine.")
    amp("note", "new", "project", "cache", "--description", "D", "--why", "W", "--how", "H")
    amp("note", "new", "project", "queue", "--description", "D", "--why", "W", "--how", "H")
    amp("remember", "What the conversation found.", "--conversation", "c1")
    for path in (f"{SHARED}/KNOWLEDGE.md", f"{AGENT}/MEMORY.md", "CLAUDE.md", "elsewhere/MEMORY.md"):
        amp.write(path, ENTRIES)
    for path in (f"{SHARED}/project_cache.md", ".scaffolding/conversations/c1/agent-memory/context.md"):
        file = amp.root / path
        file.write_text(f"{file.read_text()}\n{ENTRIES}")
    found = amp("list", "--json").json()["entries"]
    amp.ids = [one["id"] for one in found]
    return amp


def told(amp, verb, words, form=()):
    args = [one.format(id=amp.ids[1], other=amp.ids[2]) for one in shlex.split(words)]
    answer = amp(*verb.split(), *args, *form)
    return [value for value in VALUES if value in answer.out + answer.err or json.dumps(value)[1:-1] in answer.out]


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_no_answer_repeats_a_secret(leaky, verb):
    kept = Kept(leaky.home)
    has_json = dict(names_of(group))[verb]
    said = {}
    for words in VERBS[verb]:
        for form in ([], ["--json"]) if has_json else ([],):
            said[f"{words} {form}"] = told(leaky, verb, words, form)
            kept.put_back()
    assert {words: values for words, values in said.items() if values} == {}


@pytest.mark.slow
def test_mcp_repeats_no_secret(leaky):
    environ = {"HOME": str(leaky.home)}
    workspace = Workspace.open(leaky.root, environ=environ)
    door = Door(workspace, Actor("dev"), Memory(leaky.home / "records"))
    said = [tier_tools.read_resource(door, one.uri) for one in tier_tools.resources(door)]
    said.append(str(Answer({"texts": [ENTRIES], "one": {"text": ENTRIES}}, ENTRIES)))
    assert len(said) > 2
    assert [value for value in VALUES for text in said if value in text] == []
