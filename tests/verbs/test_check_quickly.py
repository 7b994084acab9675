"""However a check saves time, it finds the same in the same order: with two processes as with one."""

import random
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.verbs import check as checking

DATA = Path(__file__).parents[1] / "data"
MEMORY = ".scaffolding/agent-memory"
HIDDEN = ["a\u200bb", "x\u202ey", "tag \U000e0041", "ok ❤️", "soft\u00adhyphen", "bell \x07", "pw\u200bd: hunter2Xy9!"]
HEADS = [
    "---\nname: n-{number}\ndescription: {one}\nmetadata:\n  type: feedback\n---\n\n",
    '---\nname: "n {number}" # why\ndescription: >\n  {one}\n  {other}\ntype: user\ntags: [a, b]\n---\n',
    "---\n{one}\n{other}\n---\n",
    "",
]
ENDS = [
    "\n\n**Why:** {one}\n\n**How to apply:** {other}\n",
    "\n**How to apply:** {one}\n**Why:**\n",
    "\n## Why\n{one}\n# After\n",
    "",
]

_CHECK = """
import sys
from datetime import date
from agent_memory_protocol import Workspace
from agent_memory_protocol.disk import divided
from agent_memory_protocol.verbs import check as checking
checking._WORTH_DIVIDING = 1
begun = []
begin = divided._Copy.begin
divided._Copy.begin = lambda self: begun.append(1) or begin(self)
for one in Workspace.open(sys.argv[1]).check(today=date(2026, 6, 1)):
    print(repr(one))
assert begun
"""


def project(folder, corpus, seed, count):
    """Fill a folder with notes and documents that mix what real ones say with secrets and with what disagrees."""
    chance = random.Random(seed)
    real = [line for path in corpus for line in path.read_text("utf-8", "replace").split("\n") if line.strip()]
    facts = [
        text
        for name in ("meetings", "claims", "facts-1", "unmerged", "nearly", "routing")
        for line in (DATA / f"{name}.tsv").read_text().split("\n")
        for text in line.split("\t")[1:]
    ]
    families = tomllib.loads((DATA / "secrets.toml").read_text("utf-8"))["family"]
    secrets = [text.replace("·", "") for one in families for text in (*one["found"], *one.get("passed", ()))]
    kinds = [real] * 8 + [facts] * 6 + [secrets, HIDDEN]
    for number in range(count):
        texts = [chance.choice(chance.choice(kinds)) for _ in range(chance.randint(1, 5))]
        end = chance.choice(["\n"] * 9 + ["\r\n"])
        body = "\n".join(chance.choice(["- ", "", "- [2026-03-05] ", "> ", "## ", "1. "]) + text for text in texts)
        said = {"number": number, "one": chance.choice(facts), "other": chance.choice(real)}
        head, last = (chance.choice(kind).format_map(said) for kind in (HEADS, ENDS))
        title = f"# {number}\n\n## H {number % 4}\n\n"
        place, text = chance.choice(
            [
                (f"shared/feedback_n-{number}.md", head + body + last),
                (f"agents/a-{number}/MEMORY.md", title + body),
                (f"shared/user_n-{number}.md", body + last),
                (f"../conversations/c-{number}/agent-memory/context.md", title + body),
            ]
        )
        path = folder / MEMORY / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("\n", end).encode("utf-8", "surrogatepass"))
    (folder / MEMORY / "agents" / "a-bad").mkdir()
    (folder / MEMORY / "agents" / "a-bad" / "MEMORY.md").write_bytes(b"# x\n\n- \xff\n")
    return folder


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="work is divided on Linux")
def test_two_processes_find_what_one_finds(tmp_path, corpus, monkeypatch):
    monkeypatch.setattr(checking, "_WORTH_DIVIDING", 1 << 30)
    for seed in range(3):
        root = project(tmp_path / str(seed), corpus, seed, 300)
        expected = [repr(one) for one in Workspace.open(root).check(today=date(2026, 6, 1))]
        assert {one.partition("'")[2].partition("'")[0] for one in expected} >= {"secret", "unreadable"}
        done = subprocess.run([sys.executable, "-c", _CHECK, root], capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert done.stdout.splitlines() == expected
