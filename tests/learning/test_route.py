from collections import Counter
from pathlib import Path

import pytest

from agent_memory_protocol import Actor, Tier, Workspace
from agent_memory_protocol.layout import Target
from agent_memory_protocol.learning import route as routing
from agent_memory_protocol.lint.finding import RULES
from agent_memory_protocol.text import marks
from agent_memory_protocol.tiers import document
from tests.each_row import each_row

TABLE = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "data" / "routing.tsv").read_text(encoding="utf-8").splitlines()[1:]
]
TARGET = 0.9


def kind(route):
    """Return what the second column of the table says: a note's type, else a tier."""
    return route.note_type or (route.tier.value if route.tier else "-")


def is_right(place, wanted, sentence):
    found = routing.route(sentence)
    return (found.place, kind(found)) == (place, wanted)


def test_the_table_has_eighty_sentences_of_every_kind():
    assert len(TABLE) == 80
    assert Counter(half for *_, half in TABLE) == {"dev": 40, "held": 40}
    assert {place for place, *_ in TABLE} == {"state", "lesson", "secret", "repository"}


@pytest.mark.requirement(
    *("S2-02", "S2-03", "S2-04", "S2-05", "S2-06", "S2-07", "S2-08", "S2-18", "S2-19", "S2-20", "S2-21"),
    *("S4-33", "S4-34", "S4-35", "S4-39", "S4-40", "S4-41", "S4-42", "S4-46", "S4-47", "S4-48", "S4-49"),
)
@pytest.mark.parametrize("half", ["dev", "held"])
def test_nine_in_ten_labelled_sentences_go_where_they_belong(half):
    """The rules were written with the dev half in view (40 of 40); the held half was run once, at the end: 39 of 40.

    Both halves have one author, who also wrote the rules, so texts of others will do worse.
    """
    wrong = [row for *row, part in TABLE if part == half and not is_right(*row)]
    assert len(wrong) <= (1 - TARGET) * 40, wrong


def test_six_in_ten_sentences_of_somebody_else_go_where_they_belong():
    """These 100 were written without a look at the words that the rules go by, and measured once: 62 of 100."""
    lines = (Path(__file__).parents[1] / "data" / "routing_more.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    wrong = [row for row in rows if not is_right(*row)]
    assert (len(rows), len(wrong) <= 38) == (100, True)
    # It says that it is not sure of each of these; it is sure of 30, and right in all of them.
    assert [sentence for *_, sentence in wrong if routing.route(sentence).is_sure] == []


@each_row(
    "text, words",
    [
        ("Sent the report on the 8th.", ["Sent the report on the 8th"]),
        ("Commit 4f2a91c fixed the date picker.", ["Commit 4f2a91c"]),
        ("We decided to keep the old endpoint.", ["We decided"]),
        ("Redis must run with AOF on.", ["must"]),
    ],
)
def test_the_reason_names_the_words_it_goes_by(text, words):
    reason = routing.route(text).reason
    assert reason.endswith(".")
    for word in words:
        assert f"“{word}" in reason


def test_a_text_without_any_cue_is_a_lesson_for_everybody_and_unsure():
    found = routing.route("Bananas are yellow")
    assert (found.place, found.tier, found.note_type, found.is_sure) == ("lesson", Tier.SHARED, None, False)


@pytest.mark.requirement("S2-33")
def test_what_the_repository_shows_gets_the_question_what_was_not_obvious():
    found = routing.route("The OrderStatus enum has the values pending and paid.")
    assert (found.place, found.question) == ("repository", "What was non-obvious about it? Save that instead.")


@pytest.mark.requirement("S2-30")
@each_row(
    "pointer",
    [
        "PayPal link is in env/paypal.txt",
        "The password is kept in the vault under staging.",
        "The API token lives in .env, never print it.",
        "Account numbers are in the env file.",
    ],
)
def test_a_pointer_to_a_secret_is_no_secret(pointer):
    assert routing.route(pointer).place == "lesson"


@each_row(
    "text",
    [
        "The admin password is Rj7%kk20Lq, ask before you change it.",
        "Log in to the shop with owner / 88gLs0pQ!x",
        "Refunds go to account 00123 45678 90123",
        "token = Zq81LwPe93mBvT06sYhXnR42",
    ],
)
def test_neither_reason_nor_command_repeats_a_secret(text):
    found = routing.route(text)
    assert found.place == "secret"
    for word in text.split():
        if any(map(str.isdigit, word)):
            assert word not in found.reason + routing.command(found, text) + routing.advice(found, text)


@each_row(
    "text, command",
    [
        ("Sent it's report on the 8th.", """echo 'Sent it'"'"'s report on the 8th.' >> journal.md"""),
        ("We decided on Postgres.", "amp remember --conversation ID 'We decided on Postgres.'"),
        ("I always forget the key.", "amp remember --agent NAME 'I always forget the key.'"),
        ("Redis must run with AOF on.", "amp remember --tier shared 'Redis must run with AOF on.'"),
        ("-x must stand first.", "amp remember --tier shared -- '-x must stand first.'"),
        ("`x` must stand first.", "amp remember --tier shared TEXT"),
        ("Redis must " + "run " * 40, "amp remember --tier shared TEXT"),
        (
            "She prefers tea.",
            "amp note new user SLUG --tier shared --description 'She prefers tea.' --why WHY --how HOW",
        ),
    ],
)
def test_the_command_can_be_pasted(text, command):
    assert routing.command(routing.route(text), text) == command


@pytest.mark.requirement("S4-36", "S4-37", "S4-43", "S4-44", "S4-45", "S4-50", "S2-31", "S2-32")
@each_row(
    "text, tier, belongs",
    [
        ("Sent the report on the 8th.", Tier.SHARED, "state"),
        ("Sent the report on the 8th.", Tier.AGENT, "state"),
        ("The bug was introduced in PR #311 and fixed in #318.", Tier.SHARED, "repository"),
        ("As the test engineer, I freeze time in a fixture.", Tier.SHARED, "agent"),
        ("In this session we use the staging data.", Tier.AGENT, "conversation"),
        ("Original request: make the start page load faster.", Tier.SHARED, "conversation"),
        ("All agents must fold names before they compare them.", Tier.AGENT, "shared"),
        ("All agents must fold names before they compare them.", Tier.CONVERSATION, "shared"),
        ("The project uses PostgreSQL 14 and Redis.", Tier.AGENT, "shared"),
        ("This repository is written in Rust.", Tier.AGENT, "shared"),
        ("For this request the export has only CSV.", Tier.AGENT, "conversation"),
        ("In this pull request the parser keeps comments.", Tier.SHARED, "conversation"),
        ("Maybe the cache causes the flaky test.", Tier.AGENT, "conversation"),
        ("I think it is the DNS.", Tier.AGENT, "conversation"),
        ("The time-out might be caused by the proxy.", Tier.AGENT, "conversation"),
        ("Unverified: the proxy drops idle connections.", Tier.SHARED, "conversation"),
        ("The proxy drops idle connections (not yet verified).", Tier.AGENT, "conversation"),
        ("Deployed v1.2.3 to staging yesterday.", Tier.SHARED, "state"),
        ("The staging database is temporarily on port 5433.", Tier.SHARED, "state"),
        ("Use the old endpoint for now.", Tier.AGENT, "state"),
        ("We pin numpy to 1.26 for the time being.", Tier.SHARED, "state"),
        ("Today the mirror is slow.", Tier.SHARED, "state"),
        ("The nightly job is off today.", Tier.AGENT, "state"),
        ("For now the queue runs without retries.", Tier.SHARED, "state"),
        ("Right now CI is on the slow pool until the new runners arrive.", Tier.SHARED, "state"),
        ("At the moment the staging DB is down.", Tier.SHARED, "state"),
        ("Next week we switch to Node 22.", Tier.SHARED, "state"),
        ("Deploys are paused until Friday.", Tier.SHARED, "state"),
        ("Waiting for Anna's review.", Tier.SHARED, "state"),
        ("As a stopgap, retries are off.", Tier.SHARED, "state"),
        ("Interim: use the old key.", Tier.SHARED, "state"),
        ("This sprint we freeze the API.", Tier.SHARED, "state"),
        ("I am working on the parser.", Tier.SHARED, "state"),
        ("The old endpoint will be removed soon.", Tier.SHARED, "state"),
    ],
)
def test_what_surely_belongs_elsewhere_is_doubted(text, tier, belongs):
    found = routing.misplaced(text, tier)
    assert found is not None
    assert belongs in (found.place, kind(found))


@each_row(
    "text, tier",
    [
        ("Redis must run with AOF on, or a restart loses the queue.", Tier.SHARED),
        ("Never deploy while a migration is running.", Tier.SHARED),
        ("Temporary files go to build/tmp.", Tier.SHARED),
        ("As a temporary directory, use $TMPDIR.", Tier.SHARED),
        ("Waiting for a lock longer than 5 s is an error.", Tier.SHARED),
        ("Next week's calendar is computed in UTC.", Tier.SHARED),
        ("This month is computed from the invoice date.", Tier.SHARED),
        ("The flag is disabled until the user confirms.", Tier.SHARED),
        ("The cache is closed until the first read opens it.", Tier.SHARED),
        ("Awaiting inside a lock deadlocks the loop.", Tier.SHARED),
        ("For now and ever, use UTC.", Tier.SHARED),
        ("The tests are failing when the clock is not frozen.", Tier.AGENT),
        ("When the build is red, the cache is stale: delete node_modules first.", Tier.AGENT),
        ("Reports sent on the 8th must carry the old letterhead.", Tier.SHARED),
        ("Key files: `src/theme/tokens.css`, `src/layout.scss`.", Tier.AGENT),
        ("We chose Postgres.", Tier.SHARED),
        ("Sent the report on the 8th.", Tier.CONVERSATION),
        ("The bug was introduced in PR #311 and fixed in #318.", Tier.CONVERSATION),
        ("We decided to keep the old endpoint.", Tier.CONVERSATION),
        ("Maybe the cache causes the flaky test.", Tier.CONVERSATION),
        ("The project uses PostgreSQL 14 and Redis.", Tier.SHARED),
        ("Findings of the scanner are flagged as unverified.", Tier.AGENT),
        ("A missing index may be the cheapest thing to look for.", Tier.AGENT),
        ("Users who have not confirmed their address get no mail.", Tier.SHARED),
        ("Deploys go to staging v1.2.3 or later.", Tier.SHARED),
        ("I always look for a missing index first.", Tier.AGENT),
        ("The import writes temporary files to /tmp.", Tier.SHARED),
        ("The cache is not temporarily off, it is gone.", Tier.SHARED),
        ("Systems of today keep time in nanoseconds.", Tier.SHARED),
        ("The report's default range is today's orders.", Tier.AGENT),
        ("Never use the mirror temporarily; it caches errors.", Tier.SHARED),
        ("Sent the report on the 8th. " + "It is long. " * 50, Tier.SHARED),
        ("", Tier.SHARED),
    ],
)
def test_what_may_well_belong_is_not_doubted(text, tier):
    assert routing.misplaced(text, tier) is None


@pytest.mark.parametrize(
    "text", ["Use the old endpoint for now.", "Never use the mirror temporarily.", "CI is red today."]
)
def test_remember_doubts_what_route_is_sure_of_and_nothing_else(text):
    found = routing.route(text)
    assert (routing.misplaced(text, Tier.SHARED) is not None) == found.is_sure == ("ever" not in text)


def test_a_dated_event_is_not_doubted():
    assert routing.misplaced("Use the old endpoint for now.", Tier.SHARED, is_dated=True) is None
    assert routing.misplaced("Sent the report on the 8th.", Tier.SHARED, is_dated=True) is None
    assert routing.misplaced("Commit 4f2a91c fixed the picker.", Tier.SHARED, is_dated=True) is not None


def test_real_entries_are_hardly_ever_doubted(corpus):
    """Of 5,372 real entries 15 are doubted (0.3 %).

    All 15 were judged by hand and are right to be doubted; so were 130 others drawn at random, where one could have
    been doubted with good reason and was not. A number far above that means that a cue has come to cry wolf.
    """
    entries = doubted = 0
    for path in corpus:
        if path.suffix == ".md":
            found = document.parse(path.read_bytes(), Target(Tier.AGENT, "x"))
            for entry in found.outline.entries:
                entries += 1
                is_dated = entry.day is not None or marks.read(entry.paragraph).date is not None
                doubted += routing.misplaced(entry.paragraph, Tier.AGENT, is_dated=is_dated) is not None
                doubted += routing.loosely_secret(entry.paragraph) is not None
    assert entries > 100
    assert doubted <= 0.01 * entries


@pytest.mark.slow
def test_long_and_hostile_texts_take_no_time(sized):
    some = sized(2_000, 10_000, 10_000)
    for text in ("sent " * 20 * some, "a" * 100 * some, "the token is " * 5 * some, "https://" * 10 * some, "İ" * some):
        assert routing.route(text).place in ("lesson", "state")


def test_a_letter_whose_lower_case_is_longer_does_not_shift_the_words():
    assert "“must”" in routing.route("İstanbul must be spelled with the dot.").reason


# -- the verbs that ask ------------------------------------------------------------------------------------------------


def test_remember_saves_and_says_where_it_belongs(tmp_path):
    done = Workspace.open(tmp_path, environ={}).remember("Sent the report on the 8th.")
    (note,) = done.notes
    assert done.status == "added"
    assert "“Sent the report on the 8th”" in note
    assert "`echo 'Sent the report on the 8th.' >> journal.md`" in note
    assert f"`amp forget {done.entry.id}`" in note
    assert "\n" not in note


@pytest.mark.requirement("S4-38")
@each_row("tier, is_told", [(Tier.SHARED, True), (Tier.AGENT, False)], fresh=True)
@each_row("path", ["CLAUDE.md", "AGENTS.md", "docs/deep/a.md"], fresh=True)
def test_who_shares_what_the_documentation_says_is_told_where_it_stands(tmp_path, path, tier, is_told):
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("# Tests\n\n1. **Run** the migrations before `the` tests\n")
    workspace = Workspace.open(tmp_path, environ={})
    actor = Actor("developer")
    done = workspace.remember("[2026-05-01] Run the migrations before the tests.", tier=tier, actor=actor)
    said = f"{path}:3 already says the same (`amp forget {done.entry.id}` takes it out here)"
    assert done.notes == ((said,) if is_told else ())
    assert workspace.remember("Run the migrations in one transaction.", tier=tier, actor=actor).notes == ()


LOG = "\n".join(f"2026-01-01 10:00:{number:02} GET /orders took {number} ms" for number in range(30))
POINTS = "\n".join(["The order of the steps:", *(f"- step {number}" for number in range(30))])


@pytest.mark.requirement("S4-51")
@each_row(
    "text, lines",
    [(f"The log:\n{LOG}", 31), (f"```\n{LOG}\n```", 30), (POINTS, 0), ("One.\n\nTwo.", 0)],
    ids=["pasted", "fenced", "bullets", "short"],
    fresh=True,
)
def test_who_gives_a_conversation_raw_data_is_told_at_once(tmp_path, text, lines):
    workspace = Workspace.open(tmp_path, environ={})
    done = workspace.remember(text, conversation="c1", dated=False)
    said = f"{lines} lines of code or data; keep the finding and say where the data is"
    assert [one.partition(" (`amp forget")[0] for one in done.notes] == [said] * bool(lines)
    assert len(workspace.check(select=["conversation-raw-data"])) == bool(lines)


@pytest.mark.requirement("S2-05")
@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("Refunds go to account 00123 45678 90123", True),
        ("The account number is in env/bank.txt.", False),
    ],
)
def test_what_is_written_as_secrets_are_is_saved_and_doubted_without_being_repeated(tmp_path, text, is_told):
    done = Workspace.open(tmp_path, environ={}).remember(text)
    assert len(done.notes) == is_told
    for note in done.notes:
        assert f"`amp forget {done.entry.id} --redact`" in note
        assert not any(word in note for word in text.split() if any(map(str.isdigit, word)))


def test_remember_says_it_once(tmp_path):
    workspace = Workspace.open(tmp_path, environ={})
    workspace.remember("Sent the report on the 8th.")
    assert workspace.remember("Sent the report on the 8th.").notes == ()


def test_remember_says_nothing_about_a_lesson(tmp_path):
    done = Workspace.open(tmp_path, environ={}).remember("Redis must run with AOF on.", actor=Actor("developer"))
    assert done.notes == ()


@pytest.mark.parametrize(
    ("description", "is_doubted"), [("Invoice 12 was paid on March 3.", True), ("Ask before you build.", False)]
)
def test_a_new_note_is_written_and_doubted_only_where_it_is_state(tmp_path, description, is_doubted):
    workspace = Workspace.open(tmp_path, environ={})
    path = workspace.new_note("project", "it", description=description, why="w", how="h")
    assert path.exists()
    assert any("`amp note remove project_it`" in notice for notice in workspace.notices) is is_doubted


def test_the_checks_on_what_belongs_are_on():
    assert [RULES[one].on for one in ("secret", "belongs-state", "belongs-repository")] == [True, True, True]
