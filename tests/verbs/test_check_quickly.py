"""However a check saves time, it finds the same in the same order: with two processes as with one."""

import random
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest

from agent_memory_protocol import Workspace
from agent_memory_protocol.cli import reports
from agent_memory_protocol.lint import finding
from agent_memory_protocol.verbs import check as checking
from agent_memory_protocol.verbs import known

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
from agent_memory_protocol.cli import reports
from agent_memory_protocol.lint import finding
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


EXTRA = {
    "shared/KNOWLEDGE.md": "# S\n\n- The queue keeps jobs for nine days.\n- [until 2026-06-20] Old fact.\n"
    "- [2026-07-01] A day to come.\n- See `src/gone.py:12` for how it works.\n- The limit is 20 in all.\n"
    "- The mail worker needs Redis.\n\n## T\n\n## T\n",
    "agents/twin/MEMORY.md": "no title\n\n- The queue keeps jobs for nine days.\n"
    "- The mail worker does not need Redis.\n"
    "- [A](none.md) - hook\n- 2026-02-15: spelled\n- [2026-02-30] impossible\n",
    "shared/project_link.md": "---\nname: link\ndescription: Links\nmetadata:\n  type: project\n---\n\n"
    "See [[n-3]], [[nobody]].\n",
}


@pytest.mark.slow
def test_what_was_kept_changes_no_answer(tmp_path, corpus, monkeypatch):
    """With what an earlier check kept, a check says what it says without, byte for byte, whatever has changed."""
    monkeypatch.setattr(known, "_WORTH_IT", 1)
    root = project(tmp_path / "p", corpus, 7, 120)
    for name, text in EXTRA.items():
        path = root / MEMORY / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    workspace = Workspace.open(root, environ={"HOME": str(tmp_path)})
    workspace.remember("Deploys go through the pipeline.")
    kept = root / ".scaffolding" / ".amp" / "checked.json"
    settings = root / ".scaffolding" / "amp.toml"
    shared, twin = (root / MEMORY / name for name in [*EXTRA][:2])
    rules = set[str]()

    def said(**how):
        again = Workspace.open(root, environ={"HOME": str(tmp_path)})
        found = again.check(**{"today": date(2026, 6, 1), **how})
        rules.update(one.rule for one in found)
        return [(repr(one), reports.as_line(one), reports.github(one, "")) for one in found]

    def compare(what, **how):
        with_kept = [said(**how), said(**how)]
        kept.unlink()
        fresh = said(**how)
        assert with_kept == [fresh, fresh], what
        assert kept.exists()

    compare("nothing")
    for day in (date(2026, 6, 20), date(2026, 6, 21), date(2026, 7, 1), date(2026, 7, 2)):
        compare(day, today=day)
    compare("one rule", select=["secret"])
    compare("every rule", select=sorted(finding.RULES))
    shared.write_text(shared.read_text().replace("limit is 20", "limit is 30"))
    compare("an edit")
    twin.rename(twin.with_name("MEMORY.md.old"))
    compare("a file gone")
    twin.with_name("MEMORY.md.old").rename(twin)
    (root / MEMORY / "agents" / "twin").rename(root / MEMORY / "agents" / "other")
    compare("a folder renamed")
    note = next((root / MEMORY / "shared").glob("user_*.md"))
    note.rename(note.with_name("feedback_n-1000.md"))
    compare("a note renamed")
    (root / "docs").mkdir()
    (root / "docs" / "queue.md").write_text("# Q\n\n- The queue keeps jobs for nine days.\n")
    compare("the documentation says it")
    settings.write_text("max_lines = 9\n")
    compare("a limit")
    settings.write_text("")
    compare("no setting")
    assert rules >= {"tier-restates", "tier-header", "date-expired", "date-future", "index-dangling", "note-link"}
    assert rules >= {"date-impossible", "date-spelling", "tier-contradiction", "tier-double-heading", "secret"}
