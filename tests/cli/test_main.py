"""How `amp` ends: its exit codes, its streams, and what a mistake on the command line is told."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import jsonschema
import pytest

from agent_memory_protocol import errors
from agent_memory_protocol.cli import slips
from agent_memory_protocol.cli.main import amp as program
from agent_memory_protocol.cli.main import main
from agent_memory_protocol.disk.writing import ChangedMeanwhile
from agent_memory_protocol.formats import schemas
from tests.each_row import each_row

VERBS = ("init", "recall", "remember", "show", "list", "status", "where", "doctor")
EMOJI = "the build is 😀 → café"


def summaries(said):
    """Return what a list of verbs says of each; it is below the options."""
    rows = re.findall(r"^  ([a-z][\w-]*)  +(\S[^\n]*(?:\n {6,}[^\n]+)*)$", said.partition("--help")[2], re.MULTILINE)
    return {verb: " ".join(told.split()) for verb, told in rows}


def test_the_help_of_every_command_has_an_example():
    def without(command, words):
        within = click.Context(command)
        for name in command.list_commands(within) if isinstance(command, click.Group) else []:
            yield from without(command.get_command(within, name), f"{words} {name}")
        if words != "amp" and not re.search(rf"Examples?:\n +.*{words} ?", command.help):
            yield words

    assert list(without(program, "amp")) == []


def test_an_option_without_its_value_names_the_help_of_its_verb(capsys, monkeypatch):
    within = click.Context(program)
    for verb in program.list_commands(within):
        command = program.get_command(within, verb)
        options = (one for one in command.params if isinstance(one, click.Option)) if command else ()
        option = next((one.opts[0] for one in options if not one.is_flag and not one.count and one.nargs == 1), None)
        if option is None:
            continue
        monkeypatch.setattr(sys, "argv", ["amp", verb, option])
        with pytest.raises(SystemExit, match="2"):
            main()
        told = capsys.readouterr().err
        assert told == f"amp: option '{option}' requires an argument; see `amp {verb} --help`\n"


def test_help_names_every_verb_and_exit_code(amp):
    answer = amp("help", "--all")
    assert (answer.code, answer.err) == (0, "")
    for verb in program.list_commands(click.Context(program)):
        assert f"\n  {verb} " in answer.out
    assert "Exit codes: 0 done" in answer.out


@pytest.mark.parametrize("width", ["40", "80"])
def test_the_first_screen_has_at_most_fourteen_verbs_in_groups_and_fits(amp, width):
    answer = amp("--help", environ={"COLUMNS": width}).out
    assert len(summaries(answer)) == 14
    assert "`amp help --all`" in answer
    assert max(map(len, answer.splitlines())) <= int(width)


@pytest.mark.parametrize("verb", ["remember", "search", "import"])
def test_help_breaks_no_word_on_a_narrow_screen(amp, verb):
    wide, narrow = (amp(verb, "--help", environ={"COLUMNS": width}).out for width in ("200", "40"))
    assert {*narrow.split()} == {*wide.split()}


def test_help_tells_of_one_command_what_its_own_help_does(amp):
    assert amp("help", "note", "new").out == amp("note", "new", "--help").out
    amp("help", "rember").refuses(2, "no such command 'rember' (did you mean 'remember'?)")
    assert amp("-V") == amp("version") == amp("--version")


@pytest.mark.parametrize("group", [(), ("note",), ("record",)])
def test_help_says_of_each_verb_in_a_whole_sentence_what_it_does(amp, group):
    answer = amp(*group, "--help", environ={"COLUMNS": "80"})
    told = summaries(answer.out).values()
    assert len(told) >= 5
    assert [line for line in told if not line.endswith(".") or line.endswith("...")] == []


def test_the_list_of_verbs_says_of_each_what_its_own_help_begins_with(amp):
    listed = summaries(amp("help", "--all", environ={"COLUMNS": "80"}).out)
    own = {verb: amp(verb, "--help", environ={"COLUMNS": "80"}).out for verb in listed}
    assert [verb for verb, summary in listed.items() if f"\n\n  {summary}" not in own[verb]] == []


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself_and_takes_a_root_and_an_actor(amp, verb):
    answer = amp(verb, "--help")
    assert (answer.code, answer.err) == (0, "")
    for option in ("--root DIR", "--as AGENT"):
        assert option in answer.out
    assert amp(verb, "-h") == answer


@pytest.mark.requirement("S4-01")
def test_the_version_names_the_protocol(amp):
    answer = amp("--version")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith(", protocol agent-memory git:20260409.25dc3caA\n")


def test_without_a_verb_the_help_is_shown(amp):
    answer = amp()
    assert answer.code in (0, 2)  # 2 since click 8.2, on stderr
    assert "\n  remember " in answer.out + answer.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [("amp",), ("agent-memory",), ("python", "-m", "agent_memory_protocol")], ids=" ".join
)
def test_the_program_has_three_names(amp, command):
    amp("remember", "the queue is Redis")
    name, *rest = command
    program = [sys.executable] if name == "python" else [amp.script.with_name(name)]
    done = subprocess.run([*program, *rest, "show"], capture_output=True, cwd=amp.root, env=amp.environ(), check=False)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, amp("show").out, b"")


MISTAKES = [
    (("frobnicate",), "no such command 'frobnicate'; see `amp --help`"),
    (("red\x1b[31m",), "no such command 'red\\x1b[31m'; see `amp --help`"),
    (("rember",), "no such command 'rember' (did you mean 'remember'?); see `amp --help`"),
    (("delete", "x"), "no such command 'delete' (did you mean 'forget'?); see `amp --help`"),
    (("get", "x"), "no such command 'get' (did you mean 'show'?)"),
    (("--verison",), "no such option '--verison' (did you mean '--version'?); see `amp --help`"),
    (("prune", "--yes"), "(did you mean '--apply'?)"),
    (("prune", "--dry-run"), "without --apply it only shows what it would do"),
    (("remember", "-m", "x"), 'write the text without an option: `amp remember "Redis needs AOF."`'),
    (("remember", "x", "-s", "A"), "(did you mean '--section'?); see `amp remember --help`"),
    (("list", "-C", "."), "(did you mean '--root'?)"),
    (("check", "--strict"), "no such option '--strict'; see `amp check --help`"),
    (("init", "developer"), "(did you mean '--agent developer'?)"),
    (("install",), "missing argument; write one of: claude, codex, "),
    (("recall", "--agent", "dev"), "write the AGENT after the command, as in `amp recall developer`"),
    (("show", "--tier", "shared"), "write the TARGET after the command, as in `amp show shared` or `agent:developer`"),
    (("prune", "--agent", "dev"), "as in `amp prune shared` or `agent:developer`"),
    (("--as", "dev", "list"), "write options after the command, as in `amp list --as developer`"),
    (("--nope",), "see `amp --help`"),
    (("remember",), "missing argument 'TEXT', as in `amp remember \"Redis loses its queue without AOF.\" --section"),
    (("adopt",), "missing argument 'SOURCE...', as in `amp adopt .`; see `amp adopt --help`"),
    (("note", "new"), "missing argument 'TYPE'; write one of: user, feedback, project, reference, as in `amp note new"),
    (("schema", "jsn"), "amp: 'jsn' is not one of 'proto', 'json', 'answers', 'settings' (did you mean 'json'?)"),
    (("install", "emacs"), "for another host, `amp install agents-md` or `amp mcp --config`; see `amp install --help`"),
    (("recall", "--conv", "c1"), "(did you mean '--conversation'?)"),
    (("remember", "a", "b"), "quote a text of more than one word; see `amp remember --help`"),
    (
        ("remember", "--flaky"),
        "see `amp remember --help`, and write -- before a text that begins with a dash",
    ),
    (("search", "-push"), "see `amp search --help`, and write -- before a text that begins with a dash"),
    (("list", "--nope"), "see `amp list --help`"),
    (("remember", "x", "--tier", "global"), "'global' is not one of 'shared', 'agent', 'conversation'"),
    (("show", "global"), "'global' is not a document; write shared, agent:NAME or conversation:ID"),
    (("recall", "--max-lines", "many"), "'many' is not a valid integer"),
    (("recall", "--max-lines", "0"), "0 is not in the range x>=1"),
    (("recall", "--max-chars", "-5"), "-5 is not in the range x>=1"),
    (("recall", "--max-tokens", "1.5"), "'1.5' is not a valid integer"),
    (("doctor", "--protocol", "missing.md"), "'missing.md' does not exist"),
    (("remember", "x", "--dated", "--undated"), "--dated, --date and --undated exclude each other; give one of them"),
    (("remember", "x", "--dated", "--date", "2026-01-01"), "exclude each other"),
    (("remember", "x", "--date", "2026-13-01"), "'2026-13-01' is not a date; write it as YYYY-MM-DD"),
    (("remember", "x", "--date", "2026-02-30"), "'2026-02-30' is not a date"),
    (("remember", "x", "--date", "2026-W05-1"), "'2026-W05-1' is not a date"),
    (("remember", "x", "--date", ""), "'' is not a date"),
    (("remember", "x", "--date", "tomorrow"), "'tomorrow' is not a date"),
    (("show", "--section", "A", "--left-out"), "--section and --left-out exclude each other"),
    (("show", "conversation"), "which conversation? name it with --conversation"),
    (("show", "agent"), "which agent? name it with --agent"),
    (("remember", "x", "--tier", "agent"), "which agent? name it with --agent"),
    (("remember", "x", "--tier", "conversation"), "which conversation? name it with --conversation"),
]


@each_row("args, words", MISTAKES, ids=[" ".join(args) for args, _ in MISTAKES])
def test_a_mistake_is_told_in_one_line_and_changes_nothing(amp, args, words):
    amp(*args).refuses(2, words)
    assert amp.tree() == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", EMOJI), ("utf-8", EMOJI), ("cp1252", "the build is \\U0001f600 \\u2192 café")],
)
def test_a_code_page_that_lacks_a_character_shows_its_escape(amp, encoding, shown):
    """B53: output with emoji crashes under a non-UTF-8 code page. Instead of ASCII, click uses UTF-8."""
    amp("remember", EMOJI)
    environ = {"PYTHONIOENCODING": encoding}
    for verb in ("recall", "list"):
        done = subprocess.run(
            [amp.script, verb], capture_output=True, cwd=amp.root, env=amp.environ(environ), check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert shown in done.stdout.decode("utf-8" if encoding == "ascii" else encoding)
    for args in (["--help"], ["status"]):
        assert amp.process(*args, environ=environ).code == 0
    amp.process("recall", "😀", environ=environ).refuses(2, "agent name '\\U0001f600' is not allowed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "encoding", ["cp1252", *(pytest.param(one, marks=pytest.mark.slow) for one in ("ascii", "utf-8"))]
)
def test_json_stays_json_whatever_the_code_page(amp, encoding):
    amp("remember", EMOJI)
    done = subprocess.run(
        [amp.script, "recall", "--json"],
        capture_output=True,
        cwd=amp.root,
        env=amp.environ({"PYTHONIOENCODING": encoding}),
        check=False,
    )
    assert done.returncode == 0
    answer = json.loads(done.stdout.decode("utf-8" if encoding == "ascii" else encoding))
    assert answer["version"] == 1
    assert EMOJI in str(answer)


@pytest.mark.slow
@pytest.mark.parametrize(
    "environ",
    [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "LANG": ""}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
def test_the_locale_does_not_change_what_is_written(amp, environ):
    """B52: the locale's codec is used instead of UTF-8."""
    assert amp.process("remember", EMOJI, environ=environ).code == 0
    assert amp.process("remember", "-", stdin=f"piped {EMOJI}", environ=environ).code == 0
    assert [entry["text"] for entry in amp("list", "--json").json()["entries"]] == [f"- {EMOJI}", f"- piped {EMOJI}"]
    assert "the build is" in amp.process("recall", environ=environ).out


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [("recall",), *(pytest.param(args, marks=pytest.mark.slow) for args in (("list", "--json"), ("--help",)))],
    ids=" ".join,
)
def test_a_reader_that_stops_early_is_no_error(amp, args):
    """`amp recall | head -1` (B53)."""
    amp("remember", "one fact")
    with subprocess.Popen(
        [amp.script, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=amp.root, env=amp.environ()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


@pytest.mark.slow
def test_head_gets_its_line_of_a_long_answer(amp):
    for number in range(150):
        amp.write(
            f".scaffolding/agent-memory/agents/a{number}/MEMORY.md",
            "# A\n\n"
            + "- a line of a hundred and more characters, so that the answer does not fit into a pipe at once\n" * 100,
        )
    line = f"set -o pipefail; '{amp.script}' list | head -n 1"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, cwd=amp.root, env=amp.environ(), timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"agent:a0 ")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "args",
    [("list",), *(pytest.param(args, marks=pytest.mark.slow) for args in (("where", "--json"), ("--help",)))],
    ids=" ".join,
)
def test_an_answer_that_cannot_be_printed_says_so(amp, args):
    amp("remember", "one fact")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [amp.script, *args], stdout=full, stderr=subprocess.PIPE, cwd=amp.root, env=amp.environ(), check=False
        )
    assert done.returncode == 4
    assert done.stderr == b"amp: the answer cannot be printed: the disk is full; free some space and try again\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "args", [("list",), ("status",), ("recall", "--json"), ("remember", "second fact")], ids=" ".join
)
def test_a_closed_stdout_is_no_error(amp, args):
    amp("remember", "one fact")
    done = subprocess.run(
        ["bash", "-c", '"$@" >&-', "bash", amp.script, *args],
        stderr=subprocess.PIPE,
        cwd=amp.root,
        env=amp.environ(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("remember", ""), 3),
        pytest.param(("frobnicate",), 2, marks=pytest.mark.slow),
        pytest.param(("recall", ".."), 2, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_exit_code_stands_even_where_the_message_cannot(amp, closed, args, code):
    done = subprocess.run(
        ["bash", "-c", f'"$@" {closed}', "bash", amp.script, *args],
        capture_output=True,
        cwd=amp.root,
        env=amp.environ(),
        check=False,
    )
    assert done.returncode == code


@pytest.mark.slow
def test_an_interrupt_ends_in_one_line(amp):
    with subprocess.Popen(
        [amp.script, "remember", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=amp.root,
        env=amp.environ(),
        # Who runs the tests in the background may have had them ignore interrupts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        deadline = time.monotonic() + 20
        # It waits for its text as soon as it has loaded what it needs; earlier the interrupt would be Python's.
        while "pipe_read" not in _waits_in(process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"")
    assert err.strip() == b"amp: stopped"
    assert amp.tree() == {}


def _waits_in(pid):
    try:
        with open(f"/proc/{pid}/wchan") as file:
            return file.read()
    except OSError:
        pytest.skip("the system does not say what a process waits for")


@pytest.mark.slow
def test_colours_are_for_terminals(amp):
    amp.write(".scaffolding/agent-memory/shared/KNOWLEDGE.md", "# S\n\n" + "- fact\n" * 190)
    assert "\x1b[" in _on_a_terminal(amp, "status")
    assert "\x1b[" not in _on_a_terminal(amp, "status", NO_COLOR="1")
    assert "\x1b[" not in amp.process("status").out


def _on_a_terminal(amp, *args, **environ):
    """Run a command whose stdout is a terminal, and return what it shows there."""
    ours, theirs = pty.openpty()
    environ = amp.environ({"TERM": "xterm", "COLUMNS": "200", **environ})
    process = subprocess.Popen(
        [amp.script, *args], stdin=theirs, stdout=theirs, stderr=theirs, cwd=amp.root, env=environ
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert process.wait(30) == 0
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_what_there_is(amp, shell):
    amp("remember", "Redis, the queue, needs AOF.", "--agent", "developer", "--section", "Queue")
    amp("remember", "We looked.", "--conversation", "c1")
    amp("remember", "All know it.")
    entry = next(one["id"] for one in amp("list", "--json").json()["entries"] if "Redis" in one["text"])
    assert "_AMP_COMPLETE" in amp("completion", shell).out
    for words, wanted in {
        "amp rem": "remember",
        "amp recall ": "developer",
        "amp forget ": entry,
        "amp remember x --section ": "Queue",
        "amp check --select tier-over": "tier-over-limit",
        "amp prune ": "shared",
        "amp close ": "c1",
        "amp help com": "completion",
        "amp install cl": "claude",
    }.items():
        *_, last = words.split(" ")
        asked = {"COMP_WORDS": words, "COMP_CWORD": last if shell == "fish" else str(words.count(" "))}
        answer = amp.process(environ={"_AMP_COMPLETE": f"{shell}_complete", **asked})
        assert wanted in answer.out, (words, answer)
    assert (
        "Redis; the queue; needs AOF."
        in amp.process(environ={"_AMP_COMPLETE": "fish_complete", "COMP_WORDS": "amp forget ", "COMP_CWORD": ""}).out
    )


@each_row(
    "words, meant",
    [
        ("log", "diff"),
        ("historu", "diff"),
        ("CONFIG", "where"),
        ("redact", "forget --redact"),
        ("fix", "check --fix"),
        ("mv", "agent rename"),
        ("unforget", "restore"),
        ("lsit", "list"),
        ("consol", "consolidate"),
        ("note-new", "note"),
        ("note add", "new"),
        ("note rm", "remove"),
        ("record add", "remember"),
        ("record delete", "redact"),
        ("record reslove", "resolve"),
        ("bench format", "formats"),
        *((words, None) for words in ("cp", "run", "plan", "lost", "upgrade", "n", "record revoke")),
    ],
)
def test_another_word_for_a_command_is_told_the_right_one_and_one_like_none_is_told_nothing(amp, words, meant):
    answer = amp(*words.split())
    assert re.findall(r"\(did you mean '(.*)'\?\)", answer.err) == ([meant] if meant else []), answer
    answer.refuses(2, "no such command")


def test_each_command_that_a_slip_may_mean_exists():
    verbs = {*program.list_commands(click.Context(program))}
    known = {*verbs, "new", "remove", "rename", "redact", "reactivate", "verify", "history"}
    assert {verb.split()[0] for verb in slips._OTHER_WORDS} <= known
    assert not verbs & {other for verb, words in slips._OTHER_WORDS.items() if " " in verb for other in words}


@pytest.mark.parametrize(
    ("args", "meant"),
    [(("install", "cluade"), "claude"), (("check", "--format", "sarfi"), "sarif"), (("completion", "zhs"), "zsh")],
)
def test_a_misspelt_word_of_a_known_set_is_told_what_was_meant(amp, args, meant):
    amp(*args).refuses(2, f"(did you mean '{meant}'?)")


@pytest.mark.parametrize(
    ("args", "code", "kind", "facts"),
    [
        (("list", "--nonsense"), 2, "usage", {}),
        (("lisst",), 2, "usage", {}),
        (("forget", "zzzz9999"), 2, "invalid-argument", {}),
        (("show", "--agent", ".."), 2, "invalid-name", {}),
        (("remember", "fact", "--agent", "other", "--as", "developer"), 3, "access-denied", {"target": "agent:other"}),
        (("remember", "The token is ghp_" + "aB3dE6gH9j" * 4), 3, "secret-found", {}),
        (
            ("remember", "a\nb\nc\nd\ne\nf"),
            3,
            "limit-exceeded",
            {"target": "shared", "limit": 4, "unit": "lines"},
        ),
        (("list", "--root", "file"), 4, "storage-error", {}),
    ],
)
def test_a_refusal_is_json_where_that_is_asked_for(amp, args, code, kind, facts):
    amp.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 4\n")
    amp.write("file", "")
    said = amp(*args, "--json")
    described = json.loads(schemas.text(schemas.ANSWERS))["$defs"]["error"]
    jsonschema.validate(said.json(code), described)
    error = said.json(code)["error"]
    assert error.keys() <= described["properties"]["error"]["properties"].keys()
    assert (error["kind"], error["exit"]) == (kind, code)
    assert said.err == f"amp: {error['message']}\n"
    assert facts.items() <= error.items()
    assert not {"", None}.intersection(error.values())
    assert (kind == "limit-exceeded") == (error.get("size", 0) > error.get("limit", 0))
    assert amp(*args) == (code, "", said.err)


@pytest.mark.parametrize(
    ("args", "is_json"),
    [
        (("check", "--format", "json"), True),
        (("check", "--format=json"), True),
        (("check", "--format", "sarif"), False),
        (("export", "--format", "json", "--output", "x.json"), False),  # what is written there is a record file
        (("remember", "--", "--json"), False),
    ],
)
def test_json_is_where_the_answer_would_have_been_json(amp, args, is_json):
    said = amp(*args[:1], "--nonsense", *args[1:])
    assert (said.code, said.out.startswith('{"version": 1, "error": ')) == (2, is_json)


def test_every_kind_of_error_is_documented():
    page = (Path(__file__).parents[2] / "docs/protocol.md").read_text()
    for one in vars(errors).values():
        if isinstance(one, type) and issubclass(one, errors.AgentMemoryError):
            rows = [line for line in page.splitlines() if line.startswith(f"| {one.exit_code} |")]
            assert any(f"`{one.kind}`" in row for row in rows), one
    assert ChangedMeanwhile.kind == "storage-error"


def test_a_clock_that_python_cannot_compute_with_is_told_in_one_line(monkeypatch, capsys):
    def overflow(**_: object) -> None:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr(program, "main", overflow)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    assert capsys.readouterr() == ("", "amp: this machine's clock is set to a year after 2261; set it to the present\n")
