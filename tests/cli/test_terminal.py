"""What a checkout holds never plays with the terminal, the log or the report that an answer is printed to."""

import json
import os
import pty
import re
import shlex
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.cli import printing, status
from agent_memory_protocol.cli.cells import cells, cut, padded
from agent_memory_protocol.cli.main import amp as group
from agent_memory_protocol.text.visible import first_invisible
from tests.folder import Kept
from tests.raw import EVIL, raw_in

SHARED = ".scaffolding/agent-memory/shared"
AGENT = ".scaffolding/agent-memory/agents/dev"

VERBS = {
    "init": ["", "--agent {evil}"],
    "recall": ["", "dev --explain", "dev --conversation c1", "{evil}"],
    "remember": ["x{evil}", "'A plain fact about {id}.'", "x --tag {evil}", "x --section {evil}"],
    "route": ["'The {evil} queue is slow.'"],
    "show": ["", "--agent dev", "{id}", "--about", "{evil}"],
    "list": ["", "--long", "--agent {evil}"],
    "forget": ["{evil}", "{id}"],
    "edit": ["{id} x{evil}", "{evil} x"],
    "resolve": ["{id} {evil}"],
    "dispute": ["{id} {evil}"],
    "status": [""],
    "note list": ["", "--tier shared"],
    "note merge": ["{evil} --into x"],
    "note new": ["{evil} x --description d --why w --how h", "user x --description {evil} --why w --how h"],
    "note remove": ["{evil}"],
    "note show": ["odd", "feedback_{evil}", "{evil}"],
    "index": ["", "--check"],
    "watch": ["--once"],
    "install": ["claude --dry-run", "{evil}"],
    "uninstall": ["claude --dry-run"],
    "agent rename": ["dev {evil}", "{evil} x"],
    "ledger compact": ["", "agent:{evil}"],
    "harvest": ["{evil}", "evil.md --reporter {evil} --conversation c1"],
    "hook": ["session-start"],
    "conformance": ["--level reader --command {evil}"],
    "check": ["", "--format github", "--format sarif", "--rules", "{evil}", "--select {evil}"],
    "review": ["", "--all"],
    "prune": ["", "{evil}", "--sections"],
    "restore": ["--list", "--last", "{evil}"],
    "sync": ["", "--apply"],
    "search": ["evil", "evil --history", "evil --context 2", "{evil}", "evil --agent {evil}", "evil --since {evil}"],
    "record history": ["{evil}"],
    "record init-store": ["postgresql://u:p@127.0.0.1:1/{evil}"],
    "record list": ["", "--store {evil}"],
    "record remember": ["{evil} --store evil.sqlite", "x --replaces {evil}"],
    "record dispute": ["{evil} x --reason {evil}"],
    "record archive": ["{evil} --reason {evil}"],
    "record reactivate": ["{evil} --reason {evil}"],
    "record redact": ["{evil} --reason {evil}"],
    "record resolve": ["{evil} x --reason {evil}"],
    "record show": ["{evil}"],
    "record sign": ["{evil} --identity {evil}"],
    "record verify": ["", "--store evil.sqlite"],
    "consolidate": [""],
    "decay": [""],
    "merge": ["evil.md evil.md {evil}"],
    "distill": [""],
    "learn": ["c1", "{evil}"],
    "close": ["c1", "{evil}"],
    "adopt": [".", "elsewhere", "{evil}"],
    "find-stores": [""],
    "export": ["--format jsonl", "{evil} --format jsonl", "--format {evil}"],
    "import": ["evil.jsonl", "evil.md --to shared", "{evil}"],
    "convert": ["evil.jsonl {evil}.json", "{evil} x.json"],
    "schema": ["{evil}"],
    "bench formats": ["--from {evil}"],
    "where": [""],
    "diff": ["{evil}", "HEAD --format markdown"],
    "help": ["", "{evil}"],
    "version": [""],
    "completion": ["bash", "{evil}"],
    "doctor": ["", "dev", "--protocol {evil}"],
    "view": ["--port {evil}", "--output -", "--output {evil}/x.html", "--output view.html --as {evil}"],
    "mcp": ["--config", "--config --agent {evil}"],
}
"""Each verb with inputs of its own; `{evil}` is text that plays with a terminal, `{id}` the id of an entry."""


@pytest.fixture
def evil(amp):
    """A checkout in which names, headers, texts, ledgers and settings hold what plays with a terminal."""
    done = amp("remember", "A fact that is fine.", "--json").json()
    amp("remember", "A fact that has left.")
    amp("forget", amp("list", "--json").json()["entries"][1]["id"])
    amp("remember", "What the conversation found.", "--conversation", "c1")
    note = f"---\nname: {EVIL}\ndescription: {json.dumps(EVIL)}\ntype: {EVIL}\n---\n\n{EVIL}\n\n**Why:** {EVIL}\n"
    for name in ("odd", f"feedback_{EVIL}", "feedback_line\nfeed", "user_%0A,x:y"):
        amp.write(f"{SHARED}/{name}.md", note)
    amp.write(f"{AGENT}/MEMORY.md", f"# {EVIL}\n\n## {EVIL}\n\n{EVIL}:\n\n- {EVIL} x\n- [2026-01-01] {EVIL}\n")
    for folder in (f"{AGENT}{EVIL}", f"{AGENT}\nx"):
        amp.write(f"{folder}/MEMORY.md", f"# M\n\n- {EVIL}\n")
    amp.write(f".scaffolding/conversations/c{EVIL}/agent-memory/context.md", f"# C\n\n- {EVIL}\n")
    amp.write(
        ".scaffolding/amp.toml", f"[{json.dumps('x' + EVIL)}]\nx = 1\n\n[access]\nread_only = [{json.dumps(EVIL)}]\n"
    )
    ledger = amp.root / SHARED / "ledger.jsonl"
    lines = ledger.read_text().splitlines()
    forged = {**json.loads(lines[-1]), "id": "0123456789ab", "reason": EVIL, "run": EVIL, "markdown": f"- {EVIL}"}
    ledger.write_text("\n".join([*lines, json.dumps(forged), "{" + EVIL, ""]))
    for path in ("CLAUDE.md", f".claude/agents/{EVIL}.md", "evil.md", f"elsewhere/agent-memory/{EVIL}/MEMORY.md"):
        amp.write(path, f"---\nname: {EVIL}\ntools: {EVIL}\n---\n# {EVIL}\n\n- {EVIL} x\n")
    amp.write(
        "evil.jsonl", json.dumps({"amp": "agent-memory/0.1"}) + "\n" + json.dumps({"op": "add", "text": EVIL}) + "\n"
    )
    amp.write("evil.sqlite", EVIL)
    amp.evil_id = done["entry"]["id"] if "entry" in done else done["id"]
    return amp


def names_of(command, name=""):
    if isinstance(command, click.Group):
        for verb in command.list_commands(click.Context(command)):
            yield from names_of(command.get_command(click.Context(command), verb), f"{name} {verb}".strip())
    else:
        yield name, any("--json" in one.opts for one in command.params)


JSON = dict(names_of(group))


def test_every_verb_is_tried():
    assert VERBS.keys() == JSON.keys()


@pytest.mark.slow
def test_no_answer_plays_with_the_terminal(evil):
    kept = Kept(evil.home)
    for verb in VERBS:
        kept.put_back()
        check_verb(evil, verb)


def check_verb(evil, verb):
    for words in VERBS[verb]:
        for form in ([], ["--json"]) if JSON[verb] else ([],):
            args = [one.format(evil=EVIL, id=evil.evil_id) for one in shlex.split(words)]
            answer = evil(*verb.split(), *args, *form)
            # Our own cases of the protocol hold what emoji and scripts need.
            assert raw_in([answer.out if verb != "conformance" else "", answer.err]) == "", args
            assert first_invisible("".join(answer.out.split("\t"))) is None, args
            assert answer.code in (0, 1, 2, 3, 4), (args, answer)
            if form and "--rules" not in args:
                for one in answer.out.splitlines() if verb == "watch" else filter(None, [answer.out]):
                    json.loads(one)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json", "github", "gitlab", "junit", "sarif"])
def test_no_report_of_a_check_hides_a_part_of_a_name(evil, form):
    assert raw_in(evil("check", "--format", form).out) == ""


ENVIRON = ("AMP_AGENT", "AMP_CONVERSATION", "AMP_ROOT", "AMP_DISABLE", "XDG_CONFIG_HOME", "HOME")


@pytest.mark.slow
def test_nothing_of_the_environment_plays_with_the_terminal(evil):
    kept = Kept(evil.home)
    for name in ENVIRON:
        for words in ("recall", "remember x", "where", "check", "doctor", "record list", "search fact", "mcp --config"):
            answer = evil(*words.split(), environ={name: f"/{EVIL}" if name.endswith("HOME") else EVIL})
            assert raw_in([answer.out, answer.err]) == "", (name, words)
            assert answer.code in (0, 1, 2, 3, 4), (name, words, answer)
            kept.put_back()


@pytest.mark.slow
def test_no_name_that_git_keeps_plays_with_the_terminal(evil):
    def git(*words):
        who = {f"GIT_{role}_{field}": f"a{EVIL}" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
        subprocess.run(["git", *words], cwd=evil.root, env=evil.environ(who), check=True, capture_output=True)

    branch = "b\u200b\u202e\U000e0041\u3164"
    for words in (["init", "-q"], ["checkout", "-qb", branch], ["add", "-A"], ["commit", "-qm", EVIL]):
        git(*words)
    evil("forget", evil.evil_id)
    git("mv", f"{SHARED}/odd.md", f"{SHARED}/odd2.md")
    git("commit", "-qam", EVIL)
    verbs = (
        "diff HEAD~1",
        f"diff {branch}",
        "review",
        "where",
        "status",
        "check",
        "search fact --history",
        "list --long",
    )
    for verb in verbs:
        for form in ([], ["--json"]):
            answer = evil(*verb.split(), *form)
            assert raw_in([answer.out, answer.err]) == "", verb
            assert answer.code in (0, 1, 4), (verb, answer)


RECORD = {"id": "r1", "timestamp_ms": 1_700_000_000_000, "text": "The queue is slow.", "embedding": "AACAPwAAAEA="}
FIELDS = ("id", "text", "source", "tags", "extra", "timestamp_ms", "embedding", "relevance", EVIL)


@pytest.mark.slow
def test_no_field_of_a_record_file_plays_with_the_terminal(evil, tmp_path):
    rows = [{**RECORD, name: value} for name in FIELDS for value in (EVIL, [EVIL], {EVIL: EVIL})]
    lines = [json.dumps(row) for row in rows]
    graph = [{"type": "entity", "name": EVIL, "entityType": EVIL, "observations": [EVIL]}]
    graph += [{"type": "relation", "from": EVIL, "to": EVIL, "relationType": EVIL}]
    ours = [{"op": op, "id": EVIL, "text": EVIL, "author": EVIL, "sig": EVIL} for op in ("add", "supersede", EVIL)]
    files = {
        "rows.ndjson": lines,
        "rows.json": [f"[{', '.join(lines)}]"],
        "rows.csv": [f'id,text,"{EVIL}"', f'1,"{EVIL}",x', f'2,fact,"{EVIL}"'],
        "graph.json": map(json.dumps, graph),
        "ours.jsonl": map(json.dumps, [{"amp": "agent-memory/0.1", EVIL: EVIL}, *ours]),
        "ours.md": [f"---\nname: {EVIL}\n{EVIL}: {EVIL}\n---\n# {EVIL}\n\n- {EVIL}\n"],
    }
    for name, each in files.items():
        evil.write(name, "\n".join(each) + "\n")
    evil("convert", "rows.ndjson", "rows.pb")
    with closing(sqlite3.connect(evil.root / "rows.sqlite")) as rows_of:
        rows_of.execute(f'CREATE TABLE "{EVIL}" ("{EVIL}" TEXT, text TEXT)')
        rows_of.execute(f'INSERT INTO "{EVIL}" VALUES (?, ?)', [EVIL, EVIL])
        rows_of.commit()
    for name in (*files, "rows.pb", "rows.sqlite"):
        for words in (
            "import {}",
            "import {} --apply",
            "import {} --to shared --apply",
            "convert {} {}.md",
            "adopt {}",
        ):
            for form in ([], ["--json"]):
                answer = evil(*words.format(name, name).split(), *form)
                assert raw_in([answer.out, answer.err]) == "", (words, name)
                assert answer.code in (0, 1, 2, 3, 4), (words, name, answer)


def test_an_annotation_names_the_file_and_nothing_more(evil):
    lines = evil("check", "--format", "github").out.splitlines()
    assert all(
        re.fullmatch(r"::(error|warning|notice) file=[^,:]*(,line=\d+)?,title=[a-z-]+::.*", line) for line in lines
    )
    assert any(r"line\x0afeed" in line for line in lines)


@pytest.mark.parametrize(("shows", "word"), [(True, "\x1b[31mbad\x1b[0m"), (False, "bad")])
def test_a_colour_is_ours_and_never_that_of_a_text(capsys, shows, word):
    line = "\x1b[31m\u200be\x1b[0m"
    command = click.Command("x", callback=lambda: printing.say(f"{printing.colour('bad', 'red')} {line}"))
    command.main([], standalone_mode=False, color=shows)
    assert capsys.readouterr().out == f"{word} \\x1b[31m\\u200be\\x1b[0m\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environ", "shows"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)],
)
def test_a_terminal_that_knows_no_colour_gets_none(amp, environ, shows):
    amp.write(f"{SHARED}/KNOWLEDGE.md", "# S\n- [2026-02-30] b\n")
    ours, theirs = pty.openpty()
    subprocess.run(
        [amp.script, "check", "--select", "date"], cwd=amp.root, env=amp.environ(environ), stdout=theirs, check=False
    )
    os.close(theirs)
    shown = os.read(ours, 65_536)
    os.close(ours)
    assert b"date-impossible" in shown
    assert (b"\x1b[" in shown) is shows


@pytest.mark.slow
def test_an_empty_recall_says_so_to_who_sees_it_and_nothing_to_a_pipe(amp):
    command = [amp.script, "recall"]
    piped = subprocess.run(command, cwd=amp.root, env=amp.environ({}), capture_output=True, check=True)
    assert (piped.stdout, piped.stderr) == (b"", b"")
    ours, theirs = pty.openpty()
    seen = subprocess.run(command, cwd=amp.root, env=amp.environ({}), stdout=theirs, stderr=subprocess.PIPE, check=True)
    os.close(theirs)
    os.close(ours)
    assert seen.stderr == b"amp: there is nothing to recall; `amp doctor` says why\n"


@pytest.mark.slow
def test_a_format_of_bytes_goes_to_a_pipe_and_to_no_terminal(amp):
    amp("remember", "A fact.")
    command = [amp.script, "export", "--format", "sqlite"]
    piped = subprocess.run(command, cwd=amp.root, env=amp.environ({}), capture_output=True, check=True)
    assert piped.stdout.startswith(b"SQLite format 3")
    ours, theirs = pty.openpty()
    seen = subprocess.run(
        command, cwd=amp.root, env=amp.environ({}), stdout=theirs, stderr=subprocess.PIPE, check=False
    )
    os.close(theirs)
    os.close(ours)
    assert seen.returncode == 2
    assert b"a terminal cannot show" in seen.stderr


def test_only_one_module_prints():
    """Whoever prints past it can print what plays with the terminal."""
    folder = Path(printing.__file__).parent
    past = [path.name for path in sorted(folder.glob("*.py")) if "click.echo(" in path.read_text(encoding="utf-8")]
    assert past == ["formats.py", "hook.py", "printing.py"]


WIDE = st.text(st.sampled_from("ab 界ｗé\u0301😀👨\u200d👩⚠\ufe0f한"), max_size=60)


@given(st.text(st.characters(max_codepoint=0x2FF, exclude_categories=["Cc", "Cf"]) | st.sampled_from("█░…–—‘’“”→界")))
def test_what_is_counted_without_the_library_is_as_it_counts(text):
    import wcwidth

    assert cells(text) == wcwidth.width(text)


@given(WIDE, st.integers(2, 40))
def test_a_cut_text_never_takes_more_cells_than_there_are(text, most):
    shown = cut(text, most)
    assert cells(shown) <= most
    assert shown == text or (shown.endswith("…") and cells(text) > most)


@given(st.lists(st.text(st.sampled_from("ab 界ｗé😀한"), max_size=20), min_size=1, max_size=5))
def test_a_column_is_as_wide_in_every_row(texts):
    width = max(map(cells, texts))
    for right in (False, True):
        assert {cells(padded(text, width, right=right)) for text in texts} == {width}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["本番のデータベースは" * 12, "😀" * 70, "a" * 200, "é" * 200], ids=["han", "emoji", "ascii", "accents"]
)
@pytest.mark.parametrize("args", [("list",), ("status",), ("search", "a 本番のデータベースは 😀 é", "--limit", "1")])
def test_what_is_wide_fits_eighty_columns(amp, monkeypatch, text, args):
    amp("init", "--agent", "開発者")
    amp("remember", f"{text} a 本番のデータベースは 😀 é", "--agent", "開発者")
    for module in (printing, status):
        monkeypatch.setattr(module, "columns", lambda: 80)
    out = amp(*args).out
    assert out
    assert max(cells(line) for line in out.splitlines()) <= 80


def test_every_line_of_help_fits_80_columns():
    def long(command, words):
        context = click.Context(command, info_name=" ".join(words), terminal_width=80)
        yield from ((words, line) for line in command.get_help(context).splitlines() if len(line) > 80)
        for name in command.list_commands(context) if isinstance(command, click.Group) else ():
            yield from long(command.get_command(context, name), [*words, name])

    assert list(long(group, ["amp"])) == []
