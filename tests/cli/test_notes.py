"""`amp note`, `amp index` and `amp review`: what they print, their exit codes, and their answers for programs."""

import re

import pytest

FOLDER = ".scaffolding/agent-memory/shared"
SHARED = f"{FOLDER}/KNOWLEDGE.md"
PARTS = ("--description", "Ask first", "--why", "A week was lost.", "--how", "Name one user.")
NOTE = "---\nname: {0}\ndescription: About {0}\n---\nThe body of {0}.\n"


@pytest.fixture
def written(amp):
    """A project with one note."""
    assert amp("note", "new", "feedback", "ask-first", *PARTS).code == 0
    return amp


def test_a_new_note_says_where_it_is_and_lies_beside_the_document_that_is_named(amp):
    answer = amp("note", "new", "feedback", "ask-first", *PARTS)
    assert (answer.code, answer.out) == (0, f"written: {FOLDER}/feedback_ask-first.md\n")
    answer = amp("note", "new", "user", "coffee", *PARTS, "--agent", "dev", "--json").json()
    assert answer["path"] == str(amp.root / ".scaffolding/agent-memory/agents/dev/user_coffee.md")
    assert [path for path in amp.tree() if path.endswith("_ask-first.md")] == [f"{FOLDER}/feedback_ask-first.md"]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("idea", "x", *PARTS), 2, "'idea' is not one of"),
        (("feedback", "old/x", *PARTS), 2, "'old/x' cannot be a note's name"),
        (("feedback", "x", *PARTS[:4]), 2, "--how"),
        (("feedback", "x", *PARTS[:4], "--how", " "), 3, "the How to apply is empty"),
        (("feedback", "x", *PARTS, "--as", "reviewer"), 3, "read-only"),
    ],
)
def test_a_note_that_breaks_a_rule_is_refused_and_nothing_is_written(amp, args, code, words):
    amp("note", "new", *args).refuses(code, words)
    assert amp.tree() == {}


def test_a_note_is_never_written_over(written):
    before = written.tree()
    written("note", "new", "feedback", "ask-first", *PARTS).refuses(2, "exists already")
    assert written.tree() == before


def test_notes_are_listed_and_those_without_a_line_are_marked(written):
    written.write(f"{FOLDER}/user_coffee.md", NOTE.format("user_coffee"))
    assert written("note", "list").out.splitlines() == [
        "shared",
        "    feedback   feedback_ask-first.md  Ask first",
        "  ! -          user_coffee.md  About user_coffee",
    ]
    rows = written("note", "list", "--json").json()["notes"]
    assert [(row["file"], row["listed"]) for row in rows] == [
        ("feedback_ask-first.md", True),
        ("user_coffee.md", False),
    ]


@pytest.mark.requirement("S2-25")
def test_an_agent_finds_the_shared_notes_too_and_its_own_before_them(written):
    assert "Ask first" in written("note", "show", "ask-first", "--as", "dev").out
    assert written("note", "new", "feedback", "ask-first", "--description", "Mine", *PARTS[2:], "--as", "dev").code == 0
    assert "Mine" in written("note", "show", "ask-first", environ={"AMP_AGENT": "dev"}).out
    assert "Mine" not in written("note", "show", "ask-first", "--tier", "shared", "--as", "dev").out
    for acts in ({"environ": {"AMP_AGENT": "dev"}}, {}):
        args = () if acts else ("--as", "dev")
        assert [row["target"] for row in written("note", "list", "--json", *args, **acts).json()["notes"]] == [
            "shared",
            "agent:dev",
        ]


def test_an_agent_writes_shared_notes_when_it_says_so(amp):
    answer = amp("note", "new", "feedback", "ask-first", *PARTS, "--as", "dev", "--tier", "shared")
    assert answer.out == f"written: {FOLDER}/feedback_ask-first.md\n"
    assert amp("note", "new", "user", "tea", *PARTS, "--as", "dev", "--tier", "shared").code == 0
    assert amp("note", "merge", "tea", "--into", "ask-first", "--as", "dev", "--tier", "shared").code == 0
    assert amp("note", "remove", "ask-first", "--as", "dev", "--tier", "shared").code == 0
    amp("note", "new", "user", "x", *PARTS, "--tier", "shared", "--agent", "dev").refuses(2, "give one of them")
    amp("note", "new", "user", "x", *PARTS, "--tier", "agent").refuses(2, "which agent? name it with --agent")


def test_who_names_a_note_of_another_folder_is_told_how_to_name_it(written):
    assert written("note", "new", "user", "tea", *PARTS, "--agent", "dev").code == 0
    for verb in (("show", "tea"), ("remove", "tea"), ("merge", "tea", "--into", "ask-first")):
        written("note", *verb).refuses(2, f"no note 'tea' beside {SHARED}; there is one with --agent dev")
    written("note", "remove", "ask-first", "--as", "dev").refuses(2, "there is one with --tier shared")
    # Of what may not be read, nothing is told.
    written("note", "show", "tea", "--as", "other").refuses(2, "`amp note list --as other` names them")


def test_who_misspells_a_note_is_told_its_name_unless_it_may_not_be_read(amp):
    for place in ((), ("--agent", "dev")):
        assert amp("note", "new", "user", "small-commits", *PARTS, *place).code == 0
        for verb in (("show", "user_smal-commits"), ("remove", "user_small-comits.md")):
            amp("note", *verb, *place).refuses(2, "did you mean user_small-commits?")
        amp("note", "show", "tea", *place).refuses(2, "`amp note list` names them")
    answer = amp("note", "show", "user_smal-commits", "--agent", "dev", "--as", "other")
    assert (answer.code, "user_small-commits" in answer.out + answer.err) == (3, False)


@pytest.mark.parametrize("agent", ["", "dev"])
def test_the_command_that_a_search_tells_shows_the_note(written, agent):
    assert written("note", "new", "user", "tea", *PARTS, "--agent", "dev").code == 0
    environ = {"AMP_AGENT": agent}
    told = [line.split("`")[1] for line in written("search", "ask", environ=environ).out.splitlines() if "`" in line]
    assert len(told) == 2
    for command in told:
        assert "Ask first" in written(*command.split()[1:], environ=environ).out


def test_a_note_is_shown_as_it_is_but_plays_no_tricks_with_the_terminal(written):
    text = (written.root / FOLDER / "feedback_ask-first.md").read_text()
    assert written("note", "show", "ask-first").out == text
    written.write(f"{FOLDER}/user_x.md", "red\x1b[31m\u202e\n")
    assert written("note", "show", "x").out == "red\\x1b[31m\\u202e\n"
    written("note", "show", "nothing").refuses(2, "there is no note 'nothing'", "`amp note list`")


def test_a_removed_note_comes_back_by_the_command_that_is_told(written):
    before = (written.root / FOLDER / "feedback_ask-first.md").read_bytes()
    answer = written("note", "remove", "ask-first", "--reason", "no longer so")
    assert answer.out == "removed: feedback_ask-first.md; `amp restore --last --apply` brings it back\n"
    assert written("restore").out.splitlines()[0].endswith("  shared  feedback_ask-first.md (a note)")
    assert written("restore", "--json").json()["entries"][0]["note"] == "feedback_ask-first.md"
    assert written("restore", "--last", "--apply").out == f"restored: {FOLDER}/feedback_ask-first.md\n"
    assert (written.root / FOLDER / "feedback_ask-first.md").read_bytes() == before


def test_a_person_s_line_of_a_removed_note_is_reported_and_stays(written):
    written.write(SHARED, "# Shared Knowledge\n\n- [Ask first](feedback_ask-first.md) - my own words\n")
    answer = written("note", "remove", "ask-first")
    assert f"{SHARED}:3 links to feedback_ask-first.md, which does not exist" in answer.err
    assert "my own words" in (written.root / SHARED).read_text()


def test_merged_notes_are_one(written):
    assert written("note", "new", "feedback", "name-a-user", *PARTS[:2], "--why", "Nobody came.", *PARTS[4:]).code == 0
    answer = written("note", "merge", "name-a-user", "--into", "ask-first")
    assert answer.out.startswith("merged: name-a-user into feedback_ask-first.md; ")
    assert "Nobody came." in written("note", "show", "ask-first").out
    written("note", "merge", "ask-first", "--into", "ask-first").refuses(2, "at least one that is not")


def test_the_note_that_takes_up_the_others_may_be_named_among_them(written):
    for slug in ("name-a-user", "say-why"):
        written("note", "new", "feedback", slug, "--description", slug, *PARTS[2:])
    answer = written("note", "merge", "ask-first", "name-a-user", "say-why", "--into", "ask-first")
    assert answer.out.startswith("merged: name-a-user, say-why into feedback_ask-first.md; ")
    assert [one["file"] for one in written("note", "list", "--json").json()["notes"]] == ["feedback_ask-first.md"]


@pytest.mark.parametrize(("description", "told"), [("Ask first, please", True), ("Ask last.", False)])
def test_a_note_that_is_described_like_another_names_it_and_what_makes_one_of_them(amp, description, told):
    for tier in (["--tier", "shared"], ["--agent", "dev"]):
        amp("note", "new", "feedback", "ask-first", "--description", "Ask first.", *PARTS[2:], *tier)
        answer = amp("note", "new", "feedback", "asking", "--description", description, *PARTS[2:], *tier)
        assert ("feedback_ask-first.md says the same: " in answer.err) is told
        for command in re.findall("`amp ([^`]+)`", answer.err):
            assert amp(*command.split()).code == 0


# -- index -------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S2-23")
def test_what_differs_ends_a_check_with_1_and_indexing_with_0(written):
    written.write(f"{FOLDER}/user_coffee.md", NOTE.format("user_coffee"))
    answer = written("index", "--check")
    assert (answer.code, answer.out.splitlines()[1]) == (1, "  + user_coffee.md has no line")
    assert "user_coffee" not in (written.root / SHARED).read_text()
    assert written("index").code == 0
    assert written("index", "--check").code == 0
    assert written("index", "--json").json()["clean"] is True


def test_a_note_that_cannot_be_read_ends_with_4_and_the_others_are_indexed(written):
    written.write(f"{FOLDER}/user_coffee.md", NOTE.format("user_coffee"))
    (written.root / FOLDER / "user_bad.md").write_bytes(b"\xff\n")
    answer = written("index")
    assert (answer.code, "user_bad.md" in answer.err) == (4, True)
    assert "user_coffee.md" in (written.root / SHARED).read_text()


def test_status_tells_how_many_notes_there_are_and_how_many_of_them_are_listed(written):
    """B13: status says clean while fewer files are indexed than exist."""
    assert written("status").out.splitlines()[1].endswith("  1")
    for name in ("user_a", "user_b", "user_c"):
        written.write(f"{FOLDER}/{name}.md", NOTE.format(name))
    assert written("status").out.splitlines()[1].endswith("  1 of 4")
    (document,) = written("status", "--json").json()["documents"]
    assert (document["notes"], document["notes_unlisted"], document["notes_indexed"]) == (4, 3, 1)
    assert written("watch", "--once").out == "shared: 4 notes, 3 lines added\n"
    written.write(f"{FOLDER}/user_b.md", NOTE.format("user_bee"))
    assert written("watch", "--once").out == "shared: 4 notes, lines brought up to date\n"
    assert written("status").out.splitlines()[1].endswith("  4")


@pytest.mark.requirement("S2-22", "S2-25")
def test_a_session_starts_with_the_index_and_opens_the_notes_it_wants(written):
    written.write(f"{FOLDER}/user_coffee.md", NOTE.format("user_coffee"))
    assert written("index").code == 0
    # What recall does not read cannot trouble it either.
    (written.root / FOLDER / "feedback_ask-first.md").write_bytes(b"\xff no text\n")
    block = written("recall", "dev").out
    assert "- [Coffee](user_coffee.md) - About user\\_coffee\n" in block
    assert "The body of" not in block
    assert "The body of user_coffee." in written("note", "show", "coffee").out


@pytest.mark.slow
@pytest.mark.requirement("S2-01")
def test_a_new_process_knows_all_that_the_last_one_knew_from_the_disk_alone(written):
    assert written.process("remember", "Redis needs AOF on.", "--agent", "dev").code == 0
    block = written.process("recall", "dev").out
    assert "- Redis needs AOF on.\n" in block
    assert "(feedback_ask-first.md)" in block
    for path in [path for path in (written.root / ".scaffolding" / ".amp").rglob("*") if path.is_file()]:
        path.unlink()
    assert written.process("recall", "dev").out == block


# -- review ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.requirement("S2-26", "S2-27")
@pytest.mark.parametrize(("count", "is_crowded"), [(50, False), (51, True)])
def test_whom_check_sends_to_review_for_too_many_notes_finds_there_what_to_merge(amp, count, is_crowded):
    subjects = [
        "The queue drops jobs",
        "The queue drops old jobs",
        *(f"Subject{one} matters" for one in range(count - 2)),
    ]
    for number, subject in enumerate(subjects):
        head = f"name: project_{number}\ndescription: {subject}\nmetadata:\n  type: project"
        amp.write(f"{FOLDER}/project_{number}.md", f"---\n{head}\n---\nf\n\n**Why:** w\n\n**How to apply:** h\n")
    amp("index")
    found = amp("check", "--ignore", "review").out
    items = [one for one in amp("review", "--json").json()["items"] if one["kind"] == "crowded"]
    assert ("[index-over-screen]" in found) is is_crowded
    told = [(one["message"].partition(";")[0], one["command"]) for one in items]
    assert told == [("51 notes, 50 fit a screen", "amp note merge project_1.md --into project_0.md")] * is_crowded
    if is_crowded:
        assert amp("note", "merge", "project_0", "--into", "project_1").code == 0
        assert amp("review").out == "nothing to look at\n"


@pytest.mark.slow
@pytest.mark.requirement("S2-27", "S2-28")
def test_a_review_names_each_thing_by_its_place_its_id_and_its_words(amp):
    amp.write(SHARED, "# Shared Knowledge\n\n- Redis loses its queue on restart.\n- [2020-01-02] The audit is on.\n")
    ids = [entry["id"] for entry in amp("list", "--json").json()["entries"]]
    names = [item["id"] for item in amp("review", "--json").json()["items"]]
    answer = amp("review")
    assert answer.out.splitlines() == [
        "past their age; the command says that they are still true, `amp forget ID` removes them:",
        f"  {names[0]}  amp edit {ids[1]} --dated  2020-01-02  shared/KNOWLEDGE.md:4  - [2020-01-02] The audit is on.",
        "undated, from the top of each file; the command says that they are still true:",
        f"  {names[1]}  amp edit {ids[0]} --dated  shared/KNOWLEDGE.md:3  - Redis loses its queue on restart.",
        "`amp review --all` shows every row; `--refuse ID` never shows one again",
    ]
    assert answer.err == "amp: when you have finished, `amp review --done` records it\n"
    assert amp("edit", ids[1], "--dated").code == 0
    assert "past their age" not in amp("review").out
    amp.write(SHARED, "# Shared Knowledge\n\n- Redis loses its queue on restart.\n- [2020-01-02] The audit is on.\n")
    kinds = [(item["kind"], item["text"]) for item in amp("review", "--json").json()["items"]]
    assert kinds == [("stale", "- [2020-01-02] The audit is on."), ("undated", "- Redis loses its queue on restart.")]
    assert amp("check", "--select", "review").code == 1
    assert amp("review", "--done").code == 0
    assert amp("check", "--select", "review").code == 0


def test_a_review_says_to_a_program_too_what_cannot_be_read(amp):
    amp.write(SHARED, "# Shared Knowledge\n\n- Redis loses its queue on restart.\n")
    amp.write(".scaffolding/agent-memory/agents/dev/MEMORY.md", b"# Dev Memory\n\n- \xff\n")
    answer = amp("review", "--json")
    assert [item["kind"] for item in answer.json(4)["items"]] == ["undated"]
    assert answer.json(4)["problems"] == [answer.err.removeprefix("amp: ").strip()]


# -- an index that has no room ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("facts", [2, 6, 7, 8, 9])
def test_a_new_note_in_a_full_file_is_told_of_and_recalled_and_found(amp, facts):
    amp.write(".scaffolding/amp.toml", "[limits]\nmax_lines = 12\n")
    for number in range(facts):
        amp("remember", f"Fact {number}.")
    for slug in ("tea", "milk"):
        answer = amp("note", "new", "feedback", slug, "--description", f"{slug} first.", "--why", "w", "--how", "h")
        place = [line for line in answer.err.splitlines() if f"it is in {FOLDER}/INDEX.md" in line]
        assert answer.code == 0
        listed = f"feedback_{slug}.md" in (amp.root / SHARED).read_text("utf-8")
        assert listed == (not place), answer
    block = amp("recall").out.casefold()
    assert "tea" in block
    assert "milk" in block
    assert amp("recall").out.count("Fact") == facts
    assert "feedback_milk.md" in amp("search", "milk").out
    assert amp("check", "--select", "index").code == 0
    assert amp("index", "--check").code == 0
    amp("note", "remove", "tea")
    amp("note", "remove", "milk")
    assert amp("recall").out.count("Fact") == facts
    assert "INDEX.md" not in " ".join(amp.tree())


def test_of_two_hundred_notes_none_is_invisible(amp):
    names = [f"project_topic-{number:03}.md" for number in range(200)]
    for name in names:
        amp.write(f"{FOLDER}/{name}", NOTE.format(name[:-3]) + "\n**Why:** w\n\n**How to apply:** h\n")
    assert amp("index").code == 0
    texts = [(amp.root / FOLDER / name).read_text("utf-8") for name in ("KNOWLEDGE.md", "INDEX.md")]
    assert all(sum(f"({name})" in text for text in texts) == 1 for name in names)
    assert all(len(text.splitlines()) <= 200 for text in texts)
    assert "(INDEX.md)" in amp("recall").out
    assert amp("check", "--select", "index", "--ignore", "index-over-screen").code == 0
    assert all(row["listed"] for row in amp("note", "list", "--json").json()["notes"])


def test_an_index_that_is_refused_for_its_markers_gives_no_count(written):
    written.write(SHARED, "# S\n\n<!-- amp:index -->\n\n- x\n\n<!-- amp:index -->\n")
    answer = written("index")
    assert answer.code == 4
    assert "listed" not in answer.out
    assert "amp:index" in answer.err
