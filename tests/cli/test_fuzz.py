"""Whatever is typed and whatever stands on disk, `amp` answers with an exit code and in lines, never a traceback."""

import json
import shutil
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CODES = (0, 1, 2, 3, 4)
SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
MEMORY = (
    SHARED,
    ".scaffolding/agent-memory/agents/dev/MEMORY.md",
    ".scaffolding/conversations/c1/agent-memory/context.md",
)
BESIDE = (
    ".scaffolding/agent-memory/shared/feedback_a-note.md",
    ".scaffolding/agent-memory/shared/ledger.jsonl",
    ".scaffolding/.amp/journal/shared.jsonl",
    ".scaffolding/.gitattributes",
    ".scaffolding/amp.toml",
    ".claude/agents/dev.md",
)

# A command takes milliseconds, not microseconds: some dozen examples by default, some thousand with --long.
FEW = settings(
    max_examples=min(settings().max_examples * 2 // 3, 3_000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

NASTY = [
    "",
    " ",
    "-",
    "--",
    "-1",
    "a\nb",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "\udcff",
    "../..",
    "%2e",
    "CON",
    "0",
    "\U0001f600",
    "x" * 5000,
]
PIECES = [
    *("# T\n", "## Notes\n", "===\n", "---\n", "- a\n", "* b\n", "1. c\n", "  d\n", "\t- e\n", "\n", "\r\n", "\r"),
    *(
        "```\n",
        "~~~~\n",
        "    code\n",
        "> q\n",
        "<!-- ",
        " -->\n",
        "<div>\n",
        "[a]: b\n",
        "[x](y.md) - hook\n",
        "| a | b |\n",
    ),
    *(
        "[2026-01-01] ",
        "[2026-02-30] ",
        "2026-01-01: ",
        "[keep] ",
        "**Date**: 2026-01-01\n",
        "<<<<<<< a\n",
        "=======\n",
    ),
    *(
        ">>>>>>> b\n",
        "</agent-memory>\n",
        "<|im_start|>\n",
        "\u200b",
        "\u202e",
        "\x00",
        "\x1b",
        "\ufeff",
        "é",
        "\u2028",
        "text ",
    ),
]

text = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.sampled_from(NASTY),
)
name = st.one_of(st.sampled_from(["dev", "Dev", "reviewer", "architect", "c1", "p:dev", *NASTY]), st.text(max_size=8))
number = st.one_of(st.integers(-5, 3000).map(str), st.sampled_from(NASTY))
day = st.one_of(st.dates().map(str), st.sampled_from(["2026-02-30", "90d", "1w", "0d", *NASTY]))
entry = st.one_of(st.sampled_from(["@0", "@1", "@2", "0" * 12, "0" * 12 + "-2", *NASTY]), st.text(max_size=14))
"""The id of an entry; `@1` stands for that of the second one there is."""


FLAG = None
VERBS: dict[str, tuple[list[st.SearchStrategy[str]], dict[str, st.SearchStrategy[str] | None]]] = {
    "init": ([], {"--agent": name, "--conversation": name, "--track": FLAG, "--ignore": FLAG}),
    "recall": (
        [name],
        {
            "--conversation": name,
            "--max-lines": number,
            "--max-chars": number,
            "--max-tokens": number,
            "--explain": FLAG,
        },
    ),
    "remember": (
        [text],
        {
            "--tier": st.sampled_from(["shared", "agent", "conversation", "x"]),
            "--agent": name,
            "--conversation": name,
            "--section": text,
            "--dated": FLAG,
            "--undated": FLAG,
            "--date": day,
            "--make-room": FLAG,
        },
    ),
    "show": (
        [st.sampled_from(["shared", "agent", "conversation"])],
        {"--agent": name, "--conversation": name, "--section": text, "--left-out": FLAG, "--max-chars": number},
    ),
    "list": ([name], {"--conversation": name}),
    "status": ([], {}),
    "where": ([], {}),
    "doctor": ([name], {"--conversation": name}),
    "forget": ([entry], {"--reason": text, "--redact": FLAG}),
    "edit": ([entry, text], {"--conversation": name}),
    "prune": ([name], {"--older-than": day, "--sections": FLAG, "--to-limit": FLAG, "--today": day, "--apply": FLAG}),
    "restore": ([entry], {"--last": FLAG, "--since": day, "--list": FLAG, "--apply": FLAG}),
    "sync": ([], {"--apply": FLAG}),
    "route": ([text], {}),
    "review": ([], {"--done": FLAG}),
    "check": (
        [name],
        {"--fix": FLAG, "--select": name, "--ignore": name, "--format": st.sampled_from(["text", "json", "x"])},
    ),
    "index": ([], {"--agent": name, "--check": FLAG}),
    "note new": (
        [st.sampled_from(["user", "feedback", "project", "x"]), name],
        {"--description": text, "--why": text, "--how": text, "--body": text, "--agent": name},
    ),
    "note list": ([], {"--agent": name}),
    "note show": ([name], {"--agent": name}),
    "note remove": ([name], {"--agent": name, "--reason": text}),
    "note merge": ([name, name], {"--into": name, "--agent": name}),
}
"""The arguments each verb may be given, and its options with what follows them."""

COMMON = {
    "--json": FLAG,
    "--as": name,
    "--root": st.sampled_from(["", ".", "src", "nope/deep", "file", "\x1b", "x" * 300]),
}


def _is_no_flag(value: str) -> bool:
    # So that `check` can tell from the command whether its answer is to be JSON.
    return value != "--json"


@st.composite
def commands(draw):
    verb = draw(st.sampled_from(sorted(VERBS)))
    arguments, options = VERBS[verb]
    args = [*verb.split(), *(draw(argument.filter(_is_no_flag)) for argument in arguments if draw(st.integers(0, 5)))]
    for option, value in {**options, **COMMON}.items():
        if draw(st.integers(0, 3)) == 0 or (verb == "note new" and value is text and draw(st.booleans())):
            args += [option] if value is FLAG else [option, draw(value.filter(_is_no_flag))]
    # A NUL ends an argument of a real process, so none can hold one.
    return [arg.replace("\0", "") for arg in args]


document = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map(lambda pieces: "".join(pieces).encode()),
    st.text(max_size=300).map(lambda content: content.encode("utf-8", "surrogatepass")),
    st.binary(max_size=200),
)


BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plays_with_terminals(said):
    """The characters that a terminal obeys: controls, line breaks of other kinds, changes of direction."""
    return {one for one in said if one in BIDIRECTIONAL or category(one) in ("Cc", "Cs", "Zl", "Zp")}


def check(amp, args, **more):
    answer = amp(*args, **more)
    assert answer.code in CODES, (args, answer)
    for line in answer.err.splitlines():
        assert line.startswith("amp: "), (args, answer)
        assert plays_with_terminals(line) == set(), (args, answer)
    if answer.code in (2, 3):
        assert answer.err.count("\n") == 1, (args, answer)
    options = args[: args.index("--")] if "--" in args else args
    if answer.out and "--json" in options and answer.code in (0, 1, 4):
        assert json.loads(answer.out)["version"] == 1
    assert plays_with_terminals(answer.out) <= {"\n", "\t"}, (args, answer)
    return answer


def filled(amp, args):
    """Put ids that there are in the place of `@0`, `@1` and `@2`."""
    if not any(arg.startswith("@") for arg in args):
        return args
    ids = [one["id"] for one in json.loads(amp("list", "--json").out or '{"entries": []}')["entries"]]
    return [ids[int(arg[1:])] if arg in ("@0", "@1", "@2")[: len(ids)] else arg for arg in args]


def fresh(amp, files):
    for path in amp.root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (amp.root / "src").mkdir()
    (amp.root / "file").write_text("x")
    for path, data in files.items():
        amp.write(path, data)


@pytest.mark.slow
@FEW
@given(
    command=commands(), files=st.dictionaries(st.sampled_from(MEMORY + BESIDE), document, max_size=4), stdin=document
)
def test_no_command_ends_with_a_traceback(amp, command, files, stdin):
    fresh(amp, files)
    check(amp, command, stdin=stdin)


@FEW
@given(files=st.dictionaries(st.sampled_from(MEMORY), document, min_size=1, max_size=3), command=commands())
def test_a_refused_command_changes_nothing_but_what_it_may(amp, files, command):
    """A command that is refused leaves every byte as it was; one that is not keeps every other document as it was."""
    fresh(amp, files)
    before = amp.tree()
    answer = check(amp, command)
    after = amp.tree()
    if answer.code in (2, 3):
        assert after == before, (command, answer)
    if command[0] in ("recall", "show", "list", "status", "where", "doctor"):
        assert after == before, (command, answer)


@FEW
@given(first=text, second=text, data=document)
def test_what_was_remembered_is_there_whole_and_what_was_there_stays(amp, first, second, data):
    fresh(amp, {SHARED: data})
    before = (amp.root / SHARED).read_bytes()
    ids = []
    for words in (first, second):
        answer = check(amp, ["remember", "--json", "--", words.replace("\0", "")])
        if answer.code == 0:
            ids.append(json.loads(answer.out)["id"])
    listed = amp("list", "--json")
    if ids:
        assert set(ids) <= {entry["id"] for entry in json.loads(listed.out)["entries"]}
    else:
        assert (amp.root / SHARED).read_bytes() == before
    check(amp, ["recall"])


@pytest.mark.slow
@FEW
@given(
    row=st.lists(commands(), min_size=3, max_size=8),
    files=st.dictionaries(
        st.sampled_from(MEMORY), st.lists(st.sampled_from(PIECES), max_size=20).map("".join), max_size=3
    ),
)
def test_a_row_of_commands_leaves_every_document_readable(amp, row, files):
    """One after the other in one project, so that ledgers and journals fill up and entries leave and come back."""
    fresh(amp, {path: content.encode() for path, content in files.items()})
    readable = {path for path in MEMORY if amp("show", *shows(path)).code == 0}
    for command in row:
        check(amp, filled(amp, command))
    assert readable == {path for path in MEMORY if amp("show", *shows(path)).code == 0}


def shows(path):
    tier, name = ("agent", "dev") if "agents/" in path else ("conversation", "c1")
    return ["shared"] if path == SHARED else [tier, f"--{tier}", name]


@pytest.fixture(scope="module")
def real(corpus):
    """Some of the real memory files, spread over the collection."""
    return corpus[:: max(1, len(corpus) // 40)]


@pytest.mark.slow
def test_real_files_take_a_memory_and_give_it_back(amp, real):
    for number, path in enumerate(real):
        fresh(amp, {SHARED: path.read_bytes()})
        before = (amp.root / SHARED).read_bytes()
        answer = check(amp, ["remember", f"zanzibar {number}", "--section", "Zanzibar"])
        after = (amp.root / SHARED).read_bytes()
        if answer.code:
            assert answer.code in (3, 4)
            assert after == before
        else:
            assert f"- zanzibar {number}" in after.decode()
            assert before.rstrip() in after
        for verb in ("recall", "list", "status", "doctor", "show"):
            check(amp, [verb])
        assert Path(path).name
