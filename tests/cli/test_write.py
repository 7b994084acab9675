"""`amp init` and `amp remember`: what is made, what is added, what is told, and what is refused."""

import subprocess
from datetime import date

import pytest

from agent_memory_protocol.guard.own import writes
from tests.cli.test_terminal import VERBS
from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/{}/agent-memory/context.md"
HEADER = "# Shared Knowledge\n<!-- Cross-agent project knowledge. Max 200 lines. -->\n"


def text_of(amp, path=SHARED):
    return (amp.root / path).read_bytes().decode()


def lines_of(number, first="# S"):
    """A document of that many lines, each bullet an entry of its own."""
    return f"{first}\n\n" + "".join(f"- fact {line}\n" for line in range(3, number + 1))


# -- init --------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-05", "S4-06", "S4-10", "S4-15", "S4-65", "S4-66", "S4-67", "S4-68")
def test_init_creates_each_tier_file_with_its_header(amp):
    answer = amp("init", "--agent", "backend-developer", "--agent", "josé", "--conversation", "c1")
    made = [SHARED, AGENT.format("backend-developer"), AGENT.format("josé"), CONVERSATION.format("c1")]
    assert answer == (0, "".join(f"created  {path}\n" for path in made), "")
    assert text_of(amp) == HEADER
    assert text_of(amp, AGENT.format("backend-developer")) == (
        "# Backend Developer Memory\n<!-- Agent-specific patterns and lessons. Max 200 lines. -->\n"
    )
    assert text_of(amp, CONVERSATION.format("c1")) == (
        "# Conversation c1 Context\n<!-- Decisions and findings for this conversation chain. -->\n"
    )


def test_init_says_where_the_files_lie_when_that_is_not_here(amp):
    subprocess.run(["git", "init", "-q"], cwd=amp.root, check=True)
    (amp.root / "src").mkdir()
    assert amp("init", cwd=amp.root / "src") == (
        0,
        f"created  {SHARED}\n",
        f"amp: they are in {amp.root} (the git top level)\n",
    )
    assert text_of(amp) == HEADER
    assert amp("init").err == ""


def test_init_says_once_that_there_are_rules_to_import(amp):
    (amp.root / "CLAUDE.md").write_text("- Use tabs.\n")
    assert amp("init").err == "amp: `amp adopt .` shows what it would import from CLAUDE.md\n"
    assert amp("init").err == ""
    (amp.root / "AGENTS.md").write_text("- Use tabs.\n")
    assert amp("init", "--agent", "dev").err.endswith("from CLAUDE.md and 1 more\n")


@pytest.mark.requirement("S4-65")
def test_init_never_touches_a_file_that_is_there(amp):
    """B08."""
    amp.write(SHARED, b"\xff\xfe no text at all")
    amp.write(AGENT.format("Dev"), "")
    before = amp.tree()
    for _ in range(2):
        answer = amp("init", "--agent", "dev")
        assert answer == (0, f"kept     {SHARED}\nkept     {AGENT.format('Dev')}\n", "")
    after = amp.tree()
    assert {name: after[name] for name in before} == before
    assert [name for name in after if name not in before] == [".scaffolding/.gitattributes"]


def test_init_as_json_lists_what_it_made(amp):
    amp("init")
    assert amp("init", "--agent", "dev", "--json").json() == {
        "version": 1,
        "root": str(amp.root),
        "files": [
            {"target": "shared", "tier": "shared", "path": SHARED, "created": False},
            {"target": "agent:dev", "tier": "agent", "agent": "dev", "path": AGENT.format("dev"), "created": True},
        ],
        "notes": [],
    }


def test_init_with_one_bad_name_makes_nothing(amp):
    amp("init", "--agent", "dev", "--agent", "a/b").refuses(2, "agent name 'a/b' is not allowed")
    amp("init", "--agent", "dev", "--conversation", "").refuses(2, "the conversation id is empty")
    assert amp.tree() == {}


@pytest.mark.requirement("S4P-05")
def test_init_keeps_memory_out_of_git_and_lets_it_in_again(amp):
    subprocess.run(["git", "init", "-q"], cwd=amp.root, check=True)
    ignored = ["git", "check-ignore", "-q", SHARED]
    amp.write(".gitignore", "*.pyc")
    assert amp("init").err == ""
    assert subprocess.run(ignored, cwd=amp.root, check=False).returncode == 1
    assert amp("init", "--ignore").err == "amp: `.scaffolding/` added to .gitignore\n"
    assert text_of(amp, ".gitignore") == "*.pyc\n.scaffolding/\n"
    assert subprocess.run(ignored, cwd=amp.root, check=False).returncode == 0
    assert amp("init", "--ignore").err == ""
    assert amp("init").err == (
        "amp: git ignores the memory, so it stays on this machine; `amp init --track` changes that\n"
    )
    assert amp("init", "--track", "--json").json()["notes"] == ["`.scaffolding/` taken out of .gitignore"]
    assert text_of(amp, ".gitignore") == "*.pyc\n"
    assert subprocess.run(ignored, cwd=amp.root, check=False).returncode == 1


def test_init_says_when_another_line_still_keeps_the_memory_out(amp):
    subprocess.run(["git", "init", "-q"], cwd=amp.root, check=True)
    amp.write(".gitignore", ".scaffolding/\n.s*\n")
    assert "git still ignores the memory; `git check-ignore -v" in amp("init", "--track").err


# -- remember ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-19", "S4-65")
def test_the_first_memory_makes_its_file_and_says_where_it_stands(amp):
    (amp.root / ".git").mkdir()
    answer = amp("remember", "Redis needs AOF on.")
    assert answer.code == 0
    assert answer.err == ""
    first, second = answer.out.splitlines()
    assert first.startswith(f"remembered: {SHARED}:4  [")
    room = 25_600 - len(HEADER) - len("\n- Redis needs AOF on.\n")
    assert second == f"196 of 200 lines and {room:,} of 25,600 bytes left"
    assert text_of(amp) == HEADER + "\n- Redis needs AOF on.\n"
    assert "- Redis needs AOF on." in amp("recall").out


def test_a_memory_that_begins_where_no_project_is_says_in_which_folder_once(amp):
    said = f"this is not a project yet: creating memory in {amp.root}; use --root DIR for another place"
    assert amp("remember", "One.").err == f"amp: {said}\n"
    assert amp("remember", "Two.").err == ""
    assert amp("init", "--root", "elsewhere").code == 0
    assert amp("remember", "Three.", "--root", "elsewhere").err == ""


def test_remember_as_json_names_the_entry_and_the_headroom(amp):
    (amp.root / ".scaffolding").mkdir()
    answer = amp("remember", "[2026-01-01] Postgres keeps the jobs", "--agent", "dev", "--section", "Storage", "--json")
    found = answer.json()
    assert found.pop("id") == amp("list", "--json").json()["entries"][0]["id"]
    assert found == {
        "version": 1,
        "status": "added",
        "target": "agent:dev",
        "tier": "agent",
        "agent": "dev",
        "path": AGENT.format("dev"),
        "line": 6,
        "date": "2026-01-01",
        "headroom": {"lines": 194, "bytes": 25_600 - len(text_of(amp, AGENT.format("dev")))},
        "notes": ["added the missing section '## Storage' at the end"],
        "replaced": None,
    }
    assert answer.err == "amp: added the missing section '## Storage' at the end\n"


WHOSE = [
    ([], {}, SHARED),
    (["--tier", "shared", "--agent", "dev"], {}, SHARED),
    (["--agent", "dev"], {}, AGENT.format("dev")),
    (["--agent", "scaffolding:dev"], {}, AGENT.format("dev")),
    (["--as", "dev"], {}, AGENT.format("dev")),
    (["--as", "dev", "--tier", "shared"], {}, SHARED),
    (["--tier", "agent"], {"AMP_AGENT": "dev"}, AGENT.format("dev")),
    (["--conversation", "c1"], {}, CONVERSATION.format("c1")),
    (["--conversation", "c1", "--as", "dev"], {}, CONVERSATION.format("c1")),
    (["--tier", "conversation"], {"AMP_CONVERSATION": "c1"}, CONVERSATION.format("c1")),
    (["--conversation", "c1", "--agent", "dev"], {}, AGENT.format("dev")),
    ([], {"AMP_CONVERSATION": "c1"}, SHARED),
    ([], {"AMP_AGENT": "dev", "AMP_CONVERSATION": "c1"}, AGENT.format("dev")),
    ([], {"AMP_AGENT": "", "AMP_CONVERSATION": ""}, SHARED),
]


@pytest.mark.slow
@pytest.mark.requirement("S4P-01")
@each_row("args, environ, path", WHOSE, ids=[f"{args} {environ}" for args, environ, _ in WHOSE], fresh=True)
def test_the_document_is_the_one_that_is_named_or_of_who_acts(amp, args, environ, path):
    assert amp("remember", "a fact", *args, environ=environ).code == 0
    assert [name for name in amp.tree() if name.endswith(".md")] == [path]


@pytest.mark.requirement("S4-61")
def test_a_memory_goes_under_its_heading_or_under_the_first(amp):
    amp.write(SHARED, "# Shared\n\n- first\n\n## Redis #infra\n\n- a\n\n## Tests\n\n- t\n")
    for args in (
        ["b", "--section", "redis"],
        ["c", "--section", "  REDIS "],
        ["d", "--section", "## Redis #infra"],
        ["e"],
    ):
        answer = amp("remember", *args)
        assert (answer.code, answer.err) == (0, ""), answer
    assert text_of(amp) == ("# Shared\n\n- first\n- e\n\n## Redis #infra\n\n- a\n- b\n- c\n- d\n\n## Tests\n\n- t\n")


def test_a_missing_section_is_made_at_the_end_once(amp):
    """B61: writing to a section whose heading does not match exactly adds a second one and reports success."""
    amp.write(SHARED, "# Shared\n\n- first\n")
    for number in range(3):
        answer = amp("remember", f"note {number}", "--section", "### Notes")
        assert ("added the missing section" in answer.err) == (number == 0)
    assert text_of(amp) == "# Shared\n\n- first\n\n## Notes\n\n- note 0\n- note 1\n- note 2\n"


def test_of_two_sections_with_one_name_the_last_is_used_and_said(amp):
    amp.write(SHARED, "# S\n\n## Notes\n\n- a\n\n## Notes\n\n- b\n")
    answer = amp("remember", "c", "--section", "Notes")
    assert answer.err == "amp: 2 sections are called 'Notes'; the last one, line 7, is used\n"
    assert text_of(amp) == "# S\n\n## Notes\n\n- a\n\n## Notes\n\n- b\n- c\n"


def test_a_text_that_brings_its_own_heading_makes_none(amp):
    """B59, B61."""
    amp.write(SHARED, "# S\n\n## Redis\n\n- a\n")
    assert amp("remember", "## Redis\n- [2020-01-02] tag\n\n---\n```\nopen", "--section", "Redis").code == 0
    entries = amp("list", "--json").json()["entries"]
    assert [entry["section"] for entry in entries] == ["Redis", "Redis"]
    assert entries[1]["date"] is None
    assert amp("remember", "after the fence", "--section", "Redis").code == 0
    assert len(amp("list", "--json").json()["entries"]) == 3


@each_row("section", ["", " ", "##", "a\nb", "x" * 121, "\x1b[31m", "z\u200bz"], ids=ascii, fresh=True)
def test_a_section_name_that_is_no_heading_is_refused(amp, section):
    amp.write(SHARED, "# S\n\n- a\n")
    before = amp.tree()
    amp("remember", "x", "--section", section).refuses(3, "cannot be a section's name; give one line of plain text")
    assert amp.tree() == before


TODAY = date.today()
DATES = [
    ([], None),
    (["--dated"], TODAY),
    (["--date", "2026-01-31"], date(2026, 1, 31)),
    (["--undated"], None),
    (["--conversation", "c1"], TODAY),
    (["--conversation", "c1", "--undated"], None),
    (["--conversation", "c1", "--date", "2026-01-31"], date(2026, 1, 31)),
]


@pytest.mark.requirement("S4-62")
@each_row("args, day", DATES, ids=[" ".join(args) or "nothing said" for args, _ in DATES], fresh=True)
def test_an_entry_is_dated_where_that_is_asked_and_in_conversations(amp, args, day):
    found = amp("remember", "we chose Postgres", *args, "--json").json()
    assert found["date"] == (day and day.isoformat())
    written = text_of(amp, found["path"]).splitlines()[-1]
    assert written == (f"- [{day}] we chose Postgres" if day else "- we chose Postgres")


LEADING = [
    "[2026-01-02] x",
    "2026-01-02: x",
    "**2026-01-02** x",
    "2026-01-02 - x",
    "- [2026-01-02] x",
    "* 2026-01-02: x",
]


@pytest.mark.slow
@each_row("text", LEADING, fresh=True)
@each_row("args", [[], ["--dated"], ["--conversation", "c1"]], ids=str, fresh=True)
def test_a_date_that_begins_the_text_is_its_date(amp, text, args):
    found = amp("remember", text, *args, "--json").json()
    assert found["date"] == "2026-01-02"
    assert text_of(amp, found["path"]).endswith("\n\n- [2026-01-02] x\n")


def test_a_date_of_no_calendar_is_refused(amp):
    amp("remember", "[2026-02-30] x").refuses(3, "[2026-02-30] is not in the calendar")
    amp("remember", "[2026-02-03]").refuses(3, "the text is only a date")
    assert amp.tree() == {}


REPEATS = ["Redis needs AOF on.", "- Redis needs AOF on.", "  Redis   needs AOF\ton. ", "Redis\nneeds AOF on."]


@each_row("text", REPEATS, ids=ascii, fresh=True)
@each_row("args", [[], ["--section", "Other"], ["--undated"]], ids=str, fresh=True)
def test_a_repeat_changes_nothing_and_says_so(amp, text, args):
    """B69: a second save repeats what is already there."""
    amp.write(SHARED, "# S\n\n* Redis needs AOF on.\n")
    before = amp.tree()
    answer = amp("remember", text, *args)
    assert answer.code == 0
    kept = "already there" if args[:1] == ["--section"] else "already there; nothing changed"
    assert answer.out.startswith(f"{kept}: {SHARED}:3  [")
    assert ("it stays above all sections; if 'Other' needs it too, say so in the text" in answer.err) == (
        args[:1] == ["--section"]
    )
    assert "197 of 200 lines" in answer.out
    assert amp.tree() == before


def test_a_repeat_in_another_unicode_form_is_a_repeat(amp):
    amp("remember", "the caf\u00e9 is open")
    assert amp("remember", "the cafe\u0301 is open").out.startswith("already there")


def test_a_repeat_with_a_newer_date_moves_the_date_forward_only(amp):
    amp.write(SHARED, "# S\n\n- one\n- [2026-01-05] two  \n  more\n- three\n")
    for day, status in (
        ("2026-01-04", "kept"),
        ("2026-01-05", "kept"),
        ("2026-02-01", "redated"),
        ("2026-01-31", "kept"),
    ):
        assert amp("remember", "two\nmore", "--date", day, "--json").json()["status"] == status
    assert text_of(amp) == "# S\n\n- one\n- [2026-02-01] two  \n  more\n- three\n"
    assert amp("remember", "two\nmore", "--date", "2026-02-02").out.startswith("already there; its date is updated: ")


def test_the_text_may_come_from_stdin(amp):
    assert amp("remember", "-", stdin="line one\nline two\r\n\r\n").code == 0
    assert text_of(amp) == HEADER + "\n- line one\n  line two\n"


STDIN = [
    (b"", 3, "the text is empty"),
    (b"\n \r\n\t\n", 3, "the text is empty"),
    (b"caf\xe9", 2, "the text on stdin is not UTF-8 (byte 3); convert it first"),
    (b"\xff\xfea\0", 2, "is not UTF-8 (byte 0)"),
    (b"x" * 2_000_000, 3, "the text on stdin has more than 1,048,576 bytes"),
    (b"x" * 100_000, 3, "the text has 100,000 bytes, a whole memory file may have 25,600"),
    (b"a\0b", 3, "\\x00"),
]


@each_row("stdin, code, words", STDIN, ids=[ascii(data[:10]) for data, _, _ in STDIN], fresh=True)
def test_a_stdin_that_holds_no_memory_is_refused(amp, stdin, code, words):
    amp("remember", "-", stdin=stdin).refuses(code, words)
    assert amp.tree() == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "stdin", ["</dev/zero", *(pytest.param(one, marks=pytest.mark.slow) for one in ("<&-", "</dev/null"))]
)
def test_an_odd_stdin_is_told_in_one_line(amp, stdin):
    done = subprocess.run(
        ["bash", "-c", f'"$@" {stdin}', "bash", amp.script, "remember", "-"],
        capture_output=True,
        cwd=amp.root,
        env=amp.environ(),
        timeout=30,
        check=False,
    )
    assert done.returncode in (2, 3)
    assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)
    assert amp.tree() == {}


DASHES = [
    (["-", "x"], "x"),
    (["- a bullet"], "a bullet"),
    (["-h is the flag for help"], "-h is the flag for help"),
    (["--section is a flag"], "--section is a flag"),
    (["-x with = in it"], "-x with = in it"),
    (["- a\n- b"], "a\n  - b"),
    (["--", "-text"], "-text"),
    (["--", "--tier"], "--tier"),
    (["--tier", "shared", "- a bullet"], "a bullet"),
    (["- a bullet", "--tier", "shared"], "a bullet"),
    (["--section=- S", "- a bullet"], "a bullet"),
]


@each_row("args, written", DASHES, ids=[" ".join(args) for args, _ in DASHES], fresh=True)
def test_a_text_may_begin_with_a_dash(amp, args, written):
    """B53."""
    stdin = args.pop() if args[0] == "-" else ""
    answer = amp("remember", *args, stdin=stdin)
    assert answer.code == 0, answer
    assert text_of(amp).endswith(f"- {written}\n")


REFUSED = [
    ("", "the text is empty"),
    (" \t\n", "the text is empty"),
    ("a\x1b[31mb", "the invisible or control character \\x1b"),
    ("a\x07b", "\\x07"),
    ("one\ntwo\u202e", "\\u202e in line 2"),
    ("zero\u200bwidth", "\\u200b"),
    ("\ufeffbom", "\\ufeff"),
    ("a\x0bb", "\\x0b"),
    ("a\u2028b", "\\u2028"),
    ("\ud800", "\\ud800"),
    ("x" * 100_000, "the text has 100,000 bytes, a whole memory file may have 25,600; shorten it"),
    ("[Title](file.md) - hook", "begins with a link to a note"),
    ("- **[Title](./file.md)**", "begins with a link to a note"),
    ("<!-- hidden -->", "a comment or link definition that a reader would not see"),
    ("seen <!-- hidden --> seen", "would not see"),
]


@each_row("text, words", REFUSED, ids=[ascii(text[:20]) for text, _ in REFUSED], fresh=True)
def test_a_text_that_is_no_memory_is_refused_with_the_reason(amp, text, words):
    amp.write(SHARED, "# S\n\n- a\n")
    before = amp.tree()
    amp("remember", text).refuses(3, words)
    assert amp.tree() == before


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-59")
def test_a_write_past_the_lines_is_refused_with_the_ways_out(amp):
    amp.write(SHARED, lines_of(200))
    before = amp.tree()
    amp("remember", "one more").refuses(
        3, f"{SHARED} would have 201 lines, 200 are allowed; nothing was changed: it has no dated entry", "`amp review`"
    )
    amp("remember", "one more", "--section", "New").refuses(3, "would have 204 lines, 200 are allowed")
    amp("edit", amp("list", "--json").json()["entries"][0]["id"], "two\nlines").refuses(3, "it has no dated entry")
    assert amp.tree() == before
    amp.write(SHARED, lines_of(199) + "- [2026-01-01] dated\n")
    amp("remember", "one more").refuses(
        3, ": add --make-room to archive its oldest dated entries, or run `amp prune shared`"
    )
    amp("remember", "one more\n" * 201, "--agent", "dev").refuses(3, "would have 204 lines, 200 are allowed", "shorter")


@pytest.mark.requirement("S4-59")
def test_a_write_past_the_bytes_is_refused_with_the_ways_out(amp):
    document = "# S\n\n" + f"- {'x' * 997}\n" * 25
    amp.write(AGENT.format("dev"), document)
    before = amp.tree()
    amp("remember", "y" * 600, "--agent", "dev").refuses(
        3, f"would have {len(document) + 603:,} bytes, 25,600 are allowed", "`amp prune agent:dev`"
    )
    assert amp.tree() == before
    assert amp("remember", "y" * 590, "--agent", "dev").code == 0


@pytest.mark.requirement("S4-59")
def test_making_room_archives_the_oldest_dated_entries_and_no_undated_one(amp):
    dated = "".join(f"- [2026-01-{day:02}] dated {day}\n" for day in range(1, 11))
    amp.write(SHARED, lines_of(190) + dated)
    answer = amp("remember", "one more", "--make-room")
    assert answer.code == 0
    assert "archived 1 of the oldest dated entries to make room; `amp restore --last` shows them" in answer.err
    written = text_of(amp)
    assert written.count("\n") == 200
    assert "dated 1\n" not in written
    assert "dated 2\n" in written
    assert written.count("- fact ") == 188


def test_without_dated_entries_there_is_no_room_to_make(amp):
    amp.write(SHARED, lines_of(200))
    before = text_of(amp)
    answer = amp("remember", "one more", "--make-room")
    answer.refuses(3, "would have 201 lines, 200 are allowed", "`amp review` lists, or remove some with `amp forget`")
    assert "--make-room" not in answer.err
    assert text_of(amp) == before


@pytest.mark.requirement("S4-59")
def test_nothing_is_archived_for_an_entry_that_does_not_fit_even_then(amp):
    amp.write(SHARED, lines_of(215) + "- [2026-01-01] dated\n")
    before = amp.tree()
    amp("remember", "one more", "--make-room").refuses(3, "would have 217 lines, 200 are allowed; nothing was changed")
    assert amp.tree() == before


@pytest.mark.requirement("S4-59")
def test_a_full_document_takes_what_makes_it_no_larger(amp):
    amp.write(SHARED, lines_of(199) + "- [2026-01-01] dated\n" + "- over\n" * 30)
    answer = amp("remember", "dated", "--date", "2026-02-01")
    assert answer.code == 0
    assert "0 of 200 lines" in answer.out
    assert "shared is over its limit; `amp prune shared` shows what is outdated" in answer.err
    assert "- [2026-02-01] dated\n" in text_of(amp)


@each_row("lines, warned", [(178, False), (179, True), (180, True), (199, True)], fresh=True)
def test_from_ninety_percent_on_each_reply_warns(amp, lines, warned):
    """Decision 13. 180 of 200 lines are 90 %."""
    amp.write(SHARED, lines_of(lines))
    answer = amp("remember", "one more")
    assert f"{199 - lines} of 200 lines" in answer.out
    assert ("shared is nearly full" in answer.err) == warned
    assert ("shared is nearly full" in amp("remember", "one more").err) == warned


def test_ninety_percent_of_the_bytes_warn_too(amp):
    amp.write(SHARED, "# S\n\n" + f"- {'x' * 997}\n" * 23)
    assert "nearly full" in amp("remember", "y" * 40).err


def test_the_settings_set_the_limits(amp):
    amp.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 10\nmax_bytes = 100\n")
    assert "6 of 10 lines and 22 of 100 bytes left" in amp("remember", "x").out
    amp("remember", "y" * 40).refuses(3, "bytes, 100 are allowed")


# -- the file ----------------------------------------------------------------------------------------------------------

ENDS = [
    (b"- last fact", b"- last fact\n- new\n"),
    (b"# S\n\n- last fact", b"# S\n\n- last fact\n- new\n"),
    (b"# S", b"# S\n\n- new\n"),
    (b"# S\n", b"# S\n\n- new\n"),
    (b"# S\r\n\r\n- a\r\n", b"# S\r\n\r\n- a\r\n- new\r\n"),
    (b"# S\r\n\r\n- a", b"# S\r\n\r\n- a\r\n- new\r\n"),
    (b"# S\r\r- a\r", b"# S\r\r- a\r- new\r"),
    (b"# S\n\n- a\n\n\n\n", b"# S\n\n- a\n- new\n\n\n\n"),
    (b"\xef\xbb\xbf# S\r\n\r\n- a\r\n", b"\xef\xbb\xbf# S\r\n\r\n- a\r\n- new\r\n"),
    (b"# S\n\n* a\n", b"# S\n\n* a\n* new\n"),
    (b"# S\n\n- a\r\n- b\n- c\r", b"# S\n\n- a\r\n- b\n- c\r- new\r"),
    (b"", HEADER.encode() + b"\n- new\n"),
    (b" \n\n", HEADER.encode() + b"\n- new\n"),
]


@each_row("before, after", ENDS, ids=[ascii(before) for before, _ in ENDS], fresh=True)
def test_a_new_entry_stands_on_its_own_line_in_the_files_ending(amp, before, after):
    """B22: appending to a file with no final newline glues the new entry to the last one. B50: a mark, CRLF."""
    amp.write(SHARED, before)
    assert amp("remember", "new").code == 0
    assert (amp.root / SHARED).read_bytes() == after


def test_a_linked_file_stays_a_link_and_keeps_its_mode(amp):
    """B20: atomic replace turns a symlinked memory file into a plain file."""
    source = amp.write("docs/memory.md", "# M\n\n- a\n")
    source.chmod(0o640)
    link = amp.root / AGENT.format("dev")
    link.parent.mkdir(parents=True)
    link.symlink_to("../../../../docs/memory.md")
    assert amp("remember", "b", "--agent", "dev").code == 0
    assert link.is_symlink()
    assert source.read_text() == "# M\n\n- a\n- b\n"
    assert source.stat().st_mode & 0o777 == 0o640


def test_a_hand_written_document_keeps_every_byte(amp):
    """B08: adding one memory replaced most of the existing file."""
    document = "Notes of ours\n=====\n\n" + "".join(f"* fact {number}  \n\n   more\t\n" for number in range(48))
    amp.write(SHARED, document)
    amp("init")
    amp("init")
    assert amp("remember", "new").code == 0
    assert text_of(amp).startswith(document)
    assert text_of(amp).removeprefix(document).strip() == "* new"


def test_nothing_but_the_document_the_day_and_the_local_folder_is_made(amp):
    amp("remember", "x", "--agent", "dev")
    kept = [name for name in amp.tree() if not (amp.root / name).is_dir()]
    day = ".scaffolding/agent-memory/reviewed"
    assert [name for name in kept if not name.endswith(".gitattributes")] == [AGENT.format("dev"), day]
    assert (amp.root / ".scaffolding/.amp/.gitignore").read_text() == "*\n"
    assert not list(amp.root.rglob("*.amp-tmp"))


def test_a_refused_write_makes_no_root(amp):
    amp("init", "--agent", "x", "--as", "reviewer", "--root", "new/deep").refuses(3)
    assert not (amp.root / "new").exists()
    assert amp("init", "--root", "new/deep").code == 0
    assert (amp.root / "new/deep" / SHARED).exists()


WRITES = [
    ("remember", "x"),
    ("note", "new", "feedback", "x", "--description", "d", "--why", "w", "--how", "h"),
    ("install", "claude"),
    ("install", "agents-md"),
    ("prune", "--apply"),
    ("import", "{home}/m.jsonl", "--apply"),
    ("import", "{home}/m.md", "--to", "shared", "--apply"),
    ("adopt", "{home}/m", "--apply"),
    ("harvest", "--reporter", "reviewer", "--conversation", "c1"),
    ("review", "--done"),
    ("sync", "--apply"),
    ("watch", "--once"),
    ("record", "remember", "A record."),
    *(("record", verb, "mem:x", "--reason", "r") for verb in ("archive", "reactivate", "redact")),
    *(("record", verb, "mem:x", "mem:y", "--reason", "r") for verb in ("dispute", "resolve")),
    ("record", "sign", "mem:x", "--identity", "y"),
    ("consolidate", "--apply"),
    ("decay", "--apply"),
    ("index",),
    ("check", "--fix"),
    ("agent", "rename", "dev", "ops", "--apply"),
    ("close", "c1", "--apply"),
    ("ledger", "compact", "--apply"),
    ("note", "remove", "tidy"),
    ("note", "merge", "tidy", "--into", "clean"),
    ("prune", "--apply"),
    ("restore", "--last", "--apply"),
    ("distill", "--refuse", "abc"),
    ("distill", "--apply"),
    ("learn", "c1", "--apply"),
    ("resolve", "3f9a1c2b7d10", "1f9a1c2b7d10"),
    ("dispute", "3f9a1c2b7d10", "1f9a1c2b7d10"),
    ("forget", "3f9a1c2b7d10"),
    ("edit", "3f9a1c2b7d10", "x"),
    *((verb, host) for verb in ("install", "uninstall") for host in ("claude", "git", "agents-md")),
]
READS = [
    *(
        (verb,)
        for verb in ("show", "list", "status", "check", "review", "doctor", "recall", "prune", "sync", "distill")
    ),
    ("search", "x"),
    ("restore", "--list"),
    ("note", "list"),
    ("record", "list"),
    ("index", "--check"),
    ("export", "--format", "jsonl"),
]
NOT_AT_A_ROOT = {"init", "merge", "view", "hook", "convert", "conformance", "record init-store"}


@each_row("named", ["--root", "AMP_ROOT"], fresh=True)
@each_row("args", WRITES, ids=lambda args: " ".join(args[:2]).replace("{home}/", ""), fresh=True)
def test_a_write_begins_no_project_by_accident(amp, args, named):
    """A mistyped folder is refused with the command that would begin a memory there."""
    (amp.home / "m").mkdir()
    (amp.home / "m" / "MEMORY.md").write_text("# M\n\n- A fact.\n")
    (amp.home / "m.md").write_text("# M\n\n- A fact.\n")
    (amp.home / "m.jsonl").write_text('{"amp":"agent-memory/0.1"}\n')
    (amp.root / "a folder").mkdir()
    before = amp.tree(amp.home)
    args = tuple(one.format(home=amp.home) for one in args)
    findings = "```memory-findings\n- A finding.\n```\n"
    for folder in ("typo", "a folder"):
        environ, words = ({"AMP_ROOT": folder}, ()) if named == "AMP_ROOT" else ({}, (named, folder))
        amp(*args, *words, environ=environ, stdin=findings).refuses(3, f"{named} names ", "`amp init --root ")
        assert amp.tree(amp.home) == before


def test_every_verb_that_writes_is_tried_at_a_mistyped_root():
    tried = {" ".join(args[:length]) for args in WRITES for length in (1, 2)}
    writing = {verb for verb in VERBS if writes(["amp", *verb.split(), "--apply"])}
    assert writing - tried <= NOT_AT_A_ROOT


@pytest.mark.slow
@each_row("args", READS, ids=" ".join, fresh=True)
def test_a_read_at_a_root_that_does_not_exist_says_so(amp, args):
    said = amp(*args, "--root", "ty po").out + amp(*args, "--root", "ty po").err
    assert f"{amp.root}/ty po does not exist; " in said
    assert "recall" in args or f"`amp init --root '{amp.root}/ty po'`" in said
    assert amp.tree() == {}


@pytest.mark.parametrize("args", WRITES[:2], ids=lambda args: args[0])
def test_a_write_goes_to_a_named_folder_that_is_a_project(amp, args):
    for name, mark in (("begun", ".scaffolding"), ("checkout", ".git"), ("worktree", None)):
        (amp.root / name).mkdir()
        if mark:
            (amp.root / name / mark).mkdir()
        else:
            (amp.root / name / ".git").write_text("gitdir: elsewhere\n")
        assert amp(*args, "--root", name).code == 0
        assert (amp.root / name / SHARED).exists()


@each_row("verb", [("remember",), ("search",), ("route",), ("edit", "3f9a1c2b7d10")], fresh=True)
def test_a_text_without_quotes_is_told_to_have_them(amp, verb):
    amp(*verb, "Redis", "needs", "AOF").refuses(2, "quote a text of more than one word")
    assert amp.tree() == {}


@pytest.mark.slow
@each_row(
    "name, told",
    [("develper", True), ("developers", True), ("ops", False), ("backend-developer", False), ("developer2", False)],
    fresh=True,
)
def test_a_memory_that_begins_under_a_name_like_another_asks_whether_that_was_meant(amp, name, told):
    amp("remember", "One.", "--agent", "developer")
    answer = amp("remember", "Two.", "--agent", name)
    said = f"amp: this is the first entry of agent {name}; if you meant developer, `amp forget "
    assert (answer.code, said in answer.err) == (0, told)
    assert amp("remember", "Three.", "--agent", name).err == ""
    # Of whom it may not read, an agent is not told.
    assert amp("remember", "Four.", "--as", "develop").err == ""


@each_row(
    "defined, told",
    [(["developer"], True), (["developer", "develper"], False), (["ops"], False), ([], False)],
    fresh=True,
)
def test_an_agent_that_nothing_defines_is_asked_whether_a_name_like_its_own_was_meant(amp, defined, told):
    for name in defined:
        amp.write(f".claude/agents/{name}.md", f"---\nname: {name}\ntools: Write\n---\n")
    answer = amp("remember", "Two.", "--as", "develper")
    assert answer.code == 0
    assert ("this is the first entry of agent develper; if you meant developer, `amp forget " in answer.err) == told
