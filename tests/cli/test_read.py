"""`amp show` and `amp list`: what is on disk now, for whoever may see it."""

import pytest

from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
CONVERSATION = ".scaffolding/conversations/{}/agent-memory/context.md"

DOCUMENT = """\
# Developer Memory
<!-- Agent-specific patterns and lessons. Max 200 lines. -->

- [2026-01-02] first
  more of it

## Tests #ci

- run them
### Slow
1. the slow ones
## 2026-02-15

Some prose
"""


@pytest.fixture
def told(amp):
    amp.write(AGENT.format("dev"), DOCUMENT)
    amp.write(SHARED, "# S\n\n- in-shared\n")
    amp.write(CONVERSATION.format("c1"), "# C\n\n- said\n")
    return amp


@pytest.mark.requirement("S4-27")
def test_show_numbers_the_lines_as_they_are(told):
    answer = told("show", "--agent", "dev")
    numbered = [f"{number:>2}  {line}" for number, line in enumerate(DOCUMENT.splitlines(), start=1)]
    assert answer == (0, "\n".join(numbered) + "\n", "")
    told.write(AGENT.format("dev"), "# now\n")
    assert told("show", "--agent", "dev") == (0, "1  # now\n", "")


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("agent:dev", ["--agent", "dev"]),
        ("conversation:c1", ["--conversation", "c1"]),
        ("agent:dev", ["agent", "--agent", "dev"]),
    ],
    ids=str,
)
def test_show_takes_a_document_as_list_names_it(told, target, named):
    assert told("show", target) == told("show", *named)
    assert told("show", target).out


def test_show_refuses_what_names_no_one_document(told):
    told("show", "team:dev").refuses(2, "'team:dev' is not a document; write shared, agent:NAME or conversation:ID")
    told("show", "agent:dev", "--agent", "dev").refuses(2, "'agent:dev' names the document already")
    told("show", "agent:dev", "--as", "tester").refuses(3, "agent tester may not read agent:dev")


def test_show_as_json_has_the_same_lines(told):
    assert told("show", "conversation", "--conversation", "c1", "--json").json() == {
        "version": 1,
        "target": "conversation:c1",
        "tier": "conversation",
        "conversation": "c1",
        "path": CONVERSATION.format("c1"),
        "exists": True,
        "lines": [{"line": 1, "text": "# C"}, {"line": 2, "text": ""}, {"line": 3, "text": "- said"}],
    }


WHICH = [
    ([], {}, "in-shared"),
    (["shared"], {}, "in-shared"),
    (["shared", "--as", "dev"], {}, "in-shared"),
    (["--as", "dev"], {}, "first"),
    ([], {"AMP_AGENT": "dev"}, "first"),
    (["--agent", "DEV"], {}, "first"),
    (["agent", "--agent", "dev"], {}, "first"),
    (["--conversation", "c1"], {}, "said"),
    (["conversation"], {"AMP_CONVERSATION": "c1"}, "said"),
    (["--agent", "dev", "--as", "architect"], {}, "first"),
    (["--conversation", "c1", "--as", "tester"], {}, "said"),
    (["--agent", "dev", "--as", "tester"], {}, None),
    (["--agent", "dev"], {"AMP_AGENT": "tester"}, None),
    (["--conversation", "c1"], {"AMP_AGENT": "dev", "AMP_CONVERSATION": "c2"}, None),
]


@pytest.mark.requirement("S4-13", "S4-18", "S4P-01")
@each_row("args, environ, word", WHICH, ids=[f"{args} {environ}" for args, environ, _ in WHICH])
def test_show_gives_the_document_that_is_named_to_who_may_read_it(told, args, environ, word):
    """B74."""
    for more in ([], ["--left-out"], ["--json"]):
        answer = told("show", *args, *more, environ=environ)
        if word is None:
            answer.refuses(3, "may not read")
        else:
            assert answer.code == 0
            assert more == ["--left-out"] or word in answer.out


SECTIONS = [
    ("Tests", (7, 11)),
    ("tests", (7, 11)),
    ("## Tests #ci", (7, 11)),
    ("slow", (10, 11)),
    ("2026-02-15", (12, 14)),
    ("Developer Memory", (1, 14)),
]


@each_row("section, span", SECTIONS, fresh=True)
def test_show_gives_one_section_with_all_below_it(told, section, span):
    answer = told("show", "--agent", "dev", "--section", section)
    assert answer.code == 0
    assert [int(line.split()[0]) for line in answer.out.splitlines()] == list(range(span[0], span[1] + 1))


def test_show_names_the_sections_there_are(told):
    told("show", "--agent", "dev", "--section", "Redis").refuses(
        2, "has no section 'Redis'; it has 'Developer Memory', 'Tests #ci', 'Slow', '2026-02-15'"
    )


@pytest.mark.requirement("S4-29")
@each_row(
    "args", [[], ["--agent", "dev"], ["--conversation", "c1"], ["--section", "X"], ["--left-out"]], ids=str, fresh=True
)
def test_show_of_what_is_not_there_is_no_error(amp, args):
    answer = amp("show", *args)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.count("\n") == 1
    found = amp("show", *args, "--json").json()
    assert (found["exists"], found["lines"]) == (False, [])
    assert amp.tree() == {}


def test_show_of_an_empty_file_says_so(amp):
    amp.write(SHARED, "")
    assert amp("show") == (0, "", f"amp: {SHARED} is empty\n")


def test_show_lists_what_recall_leaves_out(amp):
    amp.write(SHARED, "# S\n\n" + "".join(f"- [2026-01-{day:02}] fact {day}\n" for day in range(1, 29)))
    assert amp("show", "--left-out") == (0, "", f"amp: recall leaves nothing out of {SHARED}\n")
    block = amp("recall", "--max-lines", "10").out
    command = block.partition("`amp ")[2].partition("`")[0]
    assert command == "show shared --max-lines 10 --left-out"
    shown = amp(*command.split()).out.splitlines()
    kept = [line for line in block.splitlines() if line.startswith("- ")]
    assert [line.split(None, 1)[1] for line in shown] + kept == [
        f"- [2026-01-{day:02}] fact {day}" for day in range(1, 29)
    ]


def test_the_command_that_the_block_names_shows_what_is_missing_in_it(amp):
    for path in (SHARED, AGENT.format("dev"), CONVERSATION.format("c1")):
        amp.write(path, "# S\n\n" + "".join(f"- [2026-01-{day:02}] fact {day}\n" for day in range(1, 29)))
    block = amp("recall", "dev", "--conversation", "c1", "--max-chars", "1500").out
    commands = [piece.partition("`")[0] for piece in block.split("`amp ")[1:]]
    assert len(commands) == 3
    kept = [line for line in block.splitlines() if line.startswith("- ")]
    shown = [line.split(None, 1)[1] for command in commands for line in amp(*command.split()).out.splitlines()]
    assert sorted(kept + shown) == sorted(f"- [2026-01-{day:02}] fact {day}" for day in range(1, 29) for _ in range(3))


def test_list_names_every_entry_with_what_it_needs(told):
    answer = told("list", "--json")
    assert answer.err == ""
    found = answer.json()
    assert found["problems"] == []
    entries = found["entries"]
    assert [
        (entry["target"], entry["line"], entry["last_line"], entry["date"], entry["section"]) for entry in entries
    ] == [
        ("shared", 3, 3, None, "S"),
        ("agent:dev", 4, 5, "2026-01-02", "Developer Memory"),
        ("agent:dev", 9, 9, None, "Tests #ci"),
        ("agent:dev", 11, 11, None, "Slow"),
        ("agent:dev", 14, 14, "2026-02-15", "2026-02-15"),
        ("conversation:c1", 3, 3, None, "C"),
    ]
    assert [entry["date_source"] for entry in entries] == [None, "own mark", None, None, "heading", None]
    assert entries[1]["text"] == "- [2026-01-02] first\n  more of it"
    assert all(len(entry["id"]) == 12 and int(entry["id"], 16) >= 0 for entry in entries)
    lines = told("list").out.splitlines()
    assert lines[0] == f"shared  {SHARED}"
    assert lines[2] == f"agent:dev  {AGENT.format('dev')}"
    assert lines[3] == f"  {entries[1]['id']:<14}  2026-01-02     4  - [2026-01-02] first more of it"
    assert lines[4] == f"  {entries[2]['id']:<14}  ----------     9  - run them"


def test_an_id_survives_moving_and_dating_and_tells_doubles_apart(amp):
    amp.write(SHARED, "# S\n\n- same\n- same\n")
    first, second = (entry["id"] for entry in amp("list", "--json").json()["entries"])
    assert second == f"{first}-2"
    amp.write(SHARED, "# S\n\n- other\n\n## T\n\n* [2026-01-01]   same\n")
    assert amp("list", "--json").json()["entries"][1]["id"] == first


@pytest.mark.requirement("S4-13", "S4-18")
@each_row(
    "args, environ, targets",
    [
        ([], {}, {"shared", "agent:dev", "conversation:c1"}),
        (["--as", "dev"], {}, {"shared", "agent:dev"}),
        (["--as", "architect"], {}, {"shared", "agent:dev"}),
        (["--as", "tester"], {}, {"shared"}),
        ([], {"AMP_AGENT": "tester", "AMP_CONVERSATION": "c1"}, {"shared", "conversation:c1"}),
        ([], {"AMP_AGENT": "dev", "AMP_CONVERSATION": "c"}, {"shared", "agent:dev"}),
    ],
    ids=lambda given: " ".join(sorted(given)) if isinstance(given, set) else str(given),
    fresh=True,
)
def test_list_holds_only_what_who_asks_may_read(told, args, environ, targets):
    """B74."""
    answer = told("list", *args, "--json", environ=environ)
    assert {entry["target"] for entry in answer.json()["entries"]} == targets


def test_list_of_nothing_says_what_to_do(amp):
    told = "amp: there are no entries yet; `amp remember TEXT` writes the first\n"
    assert amp("list") == (0, "", told)
    answer = amp("list", "--root", "not/there")
    assert (answer.code, answer.out, answer.err.startswith(told)) == (0, "", True)
    assert "not/there does not exist; `amp init --root " in answer.err
    for args in ([], ["--root", "not/there"]):
        assert amp("list", *args, "--json").json() == {"version": 1, "entries": [], "problems": []}
    assert amp.tree() == {}


@pytest.mark.parametrize(
    ("settings", "environ", "words"),
    [
        ("", {"AMP_DISABLE": "1"}, "memory is switched off by AMP_DISABLE"),
        ("enabled = false\n", {}, "memory is switched off by"),
        ("[tiers]\nshared = false\nagent = false\nconversation = false\n", {}, "tiers.shared = false"),
    ],
)
def test_what_is_switched_off_is_neither_shown_nor_called_empty(told, settings, environ, words):
    """Decision 6."""
    told.write(".scaffolding/amp.toml", settings)
    told("show", environ=environ).refuses(3, words, "to use it")
    told("show", "--left-out", environ=environ).refuses(3, words)
    told("remember", "x", environ=environ).refuses(3, words)
    for verb in ("list", "status"):
        answer = told(verb, environ=environ)
        assert (answer.code, answer.out) == (0, "")
        assert words in answer.err
        assert "no entries" not in answer.err
        assert "no memory" not in answer.err


@each_row(
    "verb",
    [
        *("search x", "prune", "restore", "review", "check", "sync", "distill", "note list", "index --check"),
        *("record list", "export --format ndjson", "recall --explain", "find-stores"),
    ],
    fresh=True,
)
def test_every_verb_that_finds_nothing_says_once_that_memory_is_switched_off(told, verb):
    told.write(".scaffolding/amp.toml", "enabled = false\n")
    answer = told(*verb.split())
    assert (answer.code, answer.err.count("memory is switched off by .scaffolding/amp.toml")) == (0, 1)


@each_row("verb", ["remember x", "list", "search x", "check", "recall", "where"], fresh=True)
def test_a_setting_that_is_none_is_told_once_by_every_verb(told, verb):
    told.write(".scaffolding/amp.toml", "[limits]\nmax_line = 5\n")
    answer = told(*verb.split())
    assert f"{answer.out}{answer.err}".count("'limits.max_line' is not a setting; did you mean limits.max_lines?") == 1


def test_nothing_that_is_printed_plays_with_the_terminal(amp):
    """B71: terminal output carries no escapes."""
    hostile = "\x1b[31mred \x9b31m \u202e bidi \u200b \x07"
    amp.write(SHARED, f"# {hostile}\n\n- [2026-01-01] {hostile}\n")
    amp.write(AGENT.format("\x1b[31mevil"), "# A\n\n- x\n")
    amp.write(AGENT.format("a\nb"), "# A\n\n- x\n")
    for args in (
        ["show"],
        ["show", "--left-out", "--max-lines", "1"],
        ["show", "--section", "nope"],
        ["list"],
        ["status"],
        ["doctor"],
        ["where"],
        ["recall"],
        ["remember", "again"],
    ):
        for more in ([], ["--json"]):
            answer = amp(*args, *more)
            for said in (answer.out, answer.err):
                unseen = {character for character in said if not character.isprintable()}
                # In JSON what a reader cannot see is data, save what a terminal would obey.
                assert unseen <= ({"\n", "\u200b"} if more else {"\n"}), (args, said)


def test_a_list_of_some_documents_has_their_entries_alone(amp):
    for owner in ((), ("--agent", "dev"), ("--agent", "ops"), ("--conversation", "c1")):
        amp("remember", f"A fact {' '.join(owner)}", *owner)
    for targets in (["shared"], ["agent:dev", "conversation:c1"]):
        assert [one["target"] for one in amp("list", *targets, "--json").json()["entries"]] == targets
    assert [one["target"] for one in amp("list", "conversation:c1", "--as", "dev", "--json").json()["entries"]] == [
        "conversation:c1"
    ]
    assert amp("list", "agent:nobody") == (
        0,
        "",
        "amp: there are no entries yet in agent:nobody; `amp remember TEXT --agent nobody` writes the first\n",
    )
    amp("list", "agent:ops", "--as", "dev").refuses(3, "agent dev may not read agent:ops")
    for verb in ("list", "show"):
        amp(verb, "dev").refuses(2, "'dev' is not a document; write shared, agent:NAME or conversation:ID")


def test_an_entry_is_shown_by_its_id_with_what_is_known_of_it_also_when_it_has_left(amp):
    amp("remember", "Never squash.", "--kind", "avoid", "--tag", "git", "--as", "dev", "--tier", "shared")
    (entry,) = amp("list", "--json").json()["entries"]
    known = "    (kind avoid; tags git; written by dev)"
    assert amp("show", entry["id"][:5]).out.splitlines()[1:] == ["- Never squash.", known]
    assert amp("show", "--about").out.splitlines()[-1] == known.replace("    ", "     ", 1)
    assert known.strip() not in amp("show").out
    amp("forget", entry["id"], "--reason", "we may")
    gone = amp("show", entry["id"])
    assert gone.out.splitlines()[1:] == ["- Never squash.", known]
    assert (gone.code, "we may" in gone.out, "amp restore" in gone.err) == (0, True, True)
    amp("show", "0000").refuses(2, "there is no entry 0000")


def test_what_only_holds_a_place_is_no_entry_that_is_listed_found_or_exported(amp):
    amp.write(
        ".scaffolding/agent-memory/shared/KNOWLEDGE.md",
        "# S\n\n- fact\n\n## A\n\n(none yet)\n\n## B\n\n- (none yet)\n\nOpen questions:\n\n- none\n",
    )
    listed = amp("list", "--json").json()["entries"]
    assert [(one["label"], one["text"]) for one in listed] == [("", "- fact"), ("Open questions:", "- none")]
    assert "none yet" not in amp("search", "yet none").out
    assert "none yet" not in amp("export", "shared", "--format", "jsonl").out
    assert amp("status", "--json").json()["documents"][0]["entries"] == 2


def test_the_day_of_a_claim_is_listed_and_is_no_date(amp):
    amp("remember", "Staging has 12 routes, as of 2026-03-06.")
    amp("remember", "As of now it has 13.")
    one, other = amp("list", "--json").json()["entries"]
    assert (one["date"], one["as_of"], other["as_of"]) == (None, "2026-03-06", None)
    assert "as of 2026-03-06" in amp("list", "--long").out.splitlines()[2]
    assert amp("check", "--select", "date").out.count("date-missing") == 1
