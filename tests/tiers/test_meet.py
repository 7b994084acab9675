"""How two entries meet: told over a table of pairs, and with the label and headings that govern them."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.text import alike, nearly, renewed
from agent_memory_protocol.text.alike import denials, same
from agent_memory_protocol.text.changed import Stated, changes, suspected
from agent_memory_protocol.text.essence import essence
from agent_memory_protocol.text.gist import Near, gist
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.meet import (
    ALIKE,
    CHANGED,
    MOST,
    NOTE,
    OPPOSITE,
    RECORD,
    RENEWED,
    SAME,
    Fact,
    Meeting,
    Outside,
    Placed,
    first_meeting,
    meetings,
    nearest,
)
from tests.each_row import each_row

NEITHER = "neither"
TABLE = Path(__file__).parents[1] / "data" / "meetings.tsv"
PAIRS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
CORPUS = Path(__file__).parents[1] / "data" / "corpus"


def parse(text: str, target: Target = Target(Tier.SHARED)) -> Document:  # noqa: B008
    return document.parse(text.encode(), target)


def ways(*texts: str) -> list[str]:
    """Say how entries under one title meet, as a check sees it."""
    return [one.way for one in meetings([parse("# S\n\n" + "".join(f"- {text}\n" for text in texts))])]


def met(one: str, other: str) -> str:
    """Say how a new entry meets the one that is there, as a writer is told."""
    there = parse(f"# S\n\n- {one}\n- {other}\n")
    found = meeting_of(there, there.ids[1])
    return NEITHER if found is None else found.way


def meeting_of(page: Document, entry_id: str, others: Sequence[Fact] = ()) -> Meeting | None:
    """Return what an entry of a page meets first, in the page and then among other facts."""
    placed = [Placed(page, entry) for entry in page.outline.entries]
    own = placed.pop(page.ids.index(entry_id))
    return first_meeting(own, [*placed, *others])


def figures(way: str) -> tuple[float, float]:
    """Return precision and recall of one way over the table."""
    told = [expected for expected, one, other in PAIRS if met(one, other) == way]
    right = told.count(way)
    return right / len(told), right / sum(expected == way for expected, *_ in PAIRS)


def test_the_table_has_pairs_of_each_kind():
    assert Counter(expected for expected, *_ in PAIRS) == {SAME: 50, CHANGED: 50, NEITHER: 50, OPPOSITE: 10}


@pytest.mark.parametrize(("way", "recall"), [(SAME, 0.75), (OPPOSITE, 0.8), (CHANGED, 0.9)])
def test_what_is_told_of_a_pair_is_right_and_most_is_told(way, recall):
    precision, found = figures(way)
    assert precision == 1
    assert found >= recall


@each_row("pair", [pair for pair in PAIRS if pair[0] == NEITHER], ids=lambda pair: pair[1][:40])
def test_pairs_that_only_look_alike_are_told_apart(pair):
    assert met(*pair[1:]) == met(*reversed(pair[1:])) == NEITHER


AT_THE_END = [
    (CHANGED, "The retry limit of the queue is 3.", "The retry limit of the queue is now 5."),
    (CHANGED, "The quorum of the cluster is three.", "The quorum of the cluster is five."),
    (CHANGED, "The pool of workers is limited to 4.", "The pool of workers is limited to 12."),
    (SAME, "The retry limit of the queue is 3.", "The retry limit of the queue is three."),
    (NEITHER, "The id of the staging project is 1182.", "The id of the production project is 2231."),
    (NEITHER, "The outage belongs to issue 12.", "The outage belongs to issue 14."),
    (NEITHER, "The limit is 3.", "The limit of the queue is 5."),
]


@each_row("way, one, other", AT_THE_END)
def test_a_number_that_ends_a_sentence_is_a_value(way, one, other):
    assert met(one, other) == met(other, one) == way


def test_a_numbered_list_means_the_same_under_its_label_behind_a_bullet():
    one = parse("# S\n\nNever:\n\n1. push to main\n2. squash it\n")
    other = parse("# S\n\nNever:\n\n- 1. push to main\n  2. squash it\n", Target(Tier.AGENT, "dev"))
    assert meetings([one, other]) == []


def told_by_all(own: Placed, others: list[Placed]) -> tuple[str, str] | None:
    """Say what a fact meets where it is compared with all others, and they with each other."""
    texts = [one.text for one in (*others, own)]
    last = len(others)
    opposed = {one.denying + one.said - last for one in denials(texts) if last in (one.denying, one.said)}
    for place, text in enumerate(texts[:-1]):
        if place in opposed or same(own.text, text):
            return OPPOSITE if place in opposed else SAME, text
    for pairs in (changes, suspected):
        for one, other in pairs([*map(Stated, texts)]):
            if last in (one, other):
                return CHANGED, texts[one + other - last]
    for text in texts[:-1]:
        if renewed.may_renew(own.text, text):
            return RENEWED, text
    closest = max(texts[:-1], key=lambda text: nearly.share(own.text, text))
    return (ALIKE, closest) if nearly.is_near(own.text, closest) else None


def test_what_is_left_out_of_the_comparison_changes_nothing_of_what_a_new_fact_meets():
    texts = [text for _, *pair in PAIRS for text in pair if "\n" not in text]
    renewed_one = ["The nightly backup runs at 2 am", "Backups now run at 4 am"]
    lists = [renewed_one, *(texts[place : place + 40] for place in range(0, len(texts), 29))]
    found = []
    for some in lists:
        there = parse("# S\n\n" + "".join(f"- {text}\n" for text in some))
        facts = [Placed(there, entry) for entry in there.outline.entries]
        for place in range(1, len(facts), 5):
            own, others = facts[place], [*facts[:place], *facts[place + 1 :]]
            told = first_meeting(own, others)
            found.append(told and told.way)
            assert told_by_all(own, others) == (told and (told.way, told.first.text)), own.text
    assert {SAME, OPPOSITE, CHANGED, RENEWED, ALIKE, None} == {*found}


@pytest.mark.slow
def test_among_very_many_that_share_words_a_fact_still_meets_what_it_meets_alone():
    lost = []
    for _, one, other in PAIRS:
        way = met(one, other)
        words = [*gist(other).words][:2]
        if way in (SAME, OPPOSITE, CHANGED) and len(words) == 2:
            crowd = [f"Crate {number} of shelf {number % 7}: {' beside '.join(words)}." for number in range(3 * MOST)]
            page = parse("# S\n\n" + "".join(f"- {text}\n" for text in (*crowd, one, other)))
            found = meeting_of(page, page.ids[-1])
            if (found and (found.way, found.first.text)) != (way, one):
                lost.append((one, other, found and (found.way, found.first.text)))
    assert not lost


# -- what governs an entry ---------------------------------------------------------------------------------------------

OLD = "The staging database is Postgres 14."
NEW = "The staging database is Postgres 16."


def document_ways(text: str) -> list[str]:
    return [one.way for one in meetings([parse(text)])]


@each_row(
    "text, found",
    [
        ("# S\n\n- push to main\n\nNever:\n\n- push to main\n", [OPPOSITE]),
        ("# S\n\n- push to main\n\n**Never**\n\n- push to main\n", [OPPOSITE]),
        ("# S\n\n- Never push to main\n\nNever:\n\n- push to main\n", []),
        ("# S\n\nStaging:\n\n- Uses Redis 6 here\n\nProduction:\n\n- Does not use Redis 6 here\n", []),
        ("# S\n\n## Staging\n\n- The database is Redis.\n\n## Production\n\n- The database is not Redis.\n", []),
        ("# S\n\n## A\n\n- The mail worker needs Redis.\n\n## B\n\n- The mail worker needs no Redis.\n", [OPPOSITE]),
        ("# S\n\n## 2026-01-05\n\n- The cache is shared.\n\n## 2026-02-05\n\n- The cache is not shared.\n", [OPPOSITE]),
        (f"# S\n\n## A\n\n- {OLD}\n\n## B\n\n- {NEW}\n", []),
        (f"# S\n\n## A\n\n- {OLD}\n- {NEW}\n", [CHANGED]),
        (f"# S\n\nLast year:\n\n- {OLD}\n\nThis year:\n\n- {NEW}\n", []),
        (f"# S\n\nNow:\n\n- {OLD}\n- Redis.\n- {NEW}\n", [CHANGED]),
        (f"# S\n\n- Billing. {OLD}\n- Search. {NEW}\n", []),
        ("# S\n\n- Retries are capped at three.\n- Retries are capped at 5.\n", [CHANGED]),
        ("# S\n\n- Il server usa la porta 8080.\n- Il server usa la porta 9090.\n", [CHANGED]),
        (f"# S\n\n- Billing. {OLD} It is small.\n- Billing. {NEW}\n", [CHANGED]),
        (f"# S\n\n- [2026-01-01] {OLD}\n- [disputed] {NEW}\n", [CHANGED]),
    ],
)
def test_entries_meet_with_what_governs_them(text, found):
    assert document_ways(text) == found


@each_row(
    "one, other",
    [
        ("The network has two dozen stations.", "The network has 26 stations."),
        ("Weekly means need at least 1,500 sweeps.", "Weekly means need at least 900 sweeps."),
        ("Four workers process the sweeps.", "Six workers process the sweeps."),
        ("The seed creates 3 ports and forty sailings.", "The seed creates 5 ports and forty sailings."),
        ("Client state lives in Redux.", "Client state lives in Zustand."),
        ("Mails are sent through Mailgun.", "Mails are sent through Postmark."),
        ("Alerts go to the #web-ops channel.", "Alerts go to the #web-alerts channel."),
        ("Raw files land in the bucket raw-1.", "Raw files land in the bucket raw-2."),
        ("Run the tests with `cargo test`.", "Run the tests with `cargo nextest run`."),
        ("Sample files are in `testdata/old`.", "Sample files are in `testdata/new`."),
        ("Releases go out on Tuesdays.", "Releases go out on Thursdays now."),
    ],
)
def test_a_writer_is_asked_about_another_count_or_place(one, other):
    assert met(one, other) == met(other, one) == CHANGED
    assert ways(one, other) == []  # it is a guess


@each_row(
    "one, other",
    [
        ("Server 1 hosts the build queue.", "Server 2 hosts the build queue."),
        ("The login page lives in auth/login.tsx.", "The login page lives in auth/index.tsx."),
        ("Mails are sent in the morning.", "Mails are sent in the evening."),
        ("The plan of step 3 lists risks.", "The plan of step 4 lists risks."),
        ("Redux holds the client state.", "Zustand holds the client state."),
    ],
)
def test_another_name_of_what_there_may_be_several_of_is_not_asked_about(one, other):
    assert met(one, other) == NEITHER


@each_row(
    "one, other, found",
    [
        ("Calibration is checked weekly.", "Calibration is checked daily.", [CHANGED]),
        ("Backups run nightly.", "Backups run every hour.", [CHANGED]),
        ("Logs rotate weekly, on the node.", "Logs rotate monthly, on the node.", [CHANGED]),
        (
            "Passwords of the database are rotated quarterly.",
            "Passwords of the database are rotated yearly.",
            [CHANGED],
        ),
        ("The target runs twice a week.", "The target runs three times a week.", [CHANGED]),
        ("Each job is tried once.", "Each job is tried three times.", [CHANGED]),
        ("The client retries a request twice.", "The client retries a request 5 times.", [CHANGED]),
        ("A run takes two dozen workers.", "A run takes 20 workers.", [CHANGED]),
        (
            "A plane has a dozen rows of seats and a dozen users.",
            "A plane has a dozen rows of seats and 9 users.",
            [CHANGED],
        ),
        ("The index is rebuilt nightly.", "The index is rebuilt every night.", []),
        ("The key is rotated thrice a year.", "The key is rotated three times a year.", []),
        ("A run takes two dozen workers.", "A run takes 24 workers.", []),
        ("Send the daily report to ops.", "Send the weekly report to ops.", []),
        ("Warm the cache once the service starts.", "Warm the cache twice the service starts.", []),
    ],
)
def test_how_often_and_how_many_in_words_are_values(one, other, found):
    assert ways(one, other) == ways(other, one) == found


def test_of_a_value_that_changed_more_than_once_each_older_one_meets_the_newest():
    page = parse(f"# S\n\n- {OLD}\n- The staging database is Postgres 15.\n- {NEW}\n")
    assert [(one.first.text, one.second.text) for one in meetings([page])] == [
        (OLD, NEW),
        ("The staging database is Postgres 15.", NEW),
    ]
    days = ("2026-03-05", "2026-05-05", "2026-01-05")
    page = parse(
        "# S\n\n"
        + "".join(f"- [{day}] Coverage of the unit tests is {number} %.\n" for number, day in enumerate(days, 80))
    )
    assert {one.in_order_of_age().second.text for one in meetings([page])} == {"Coverage of the unit tests is 81 %."}


@each_row(
    "texts",
    [
        [
            "Postgres 14 is in the test matrix.",
            "Postgres 15 is in the test matrix.",
            "Postgres 16 is in the test matrix.",
        ],
        [
            "The client is supported on Node 18.",
            "The client is supported on Node 20.",
            "The client is supported on Node 22.",
        ],
        ["Added tests in 3 files.", "Added tests in 5 files.", "Added tests in 7 files."],
        [
            "[2026-01-05] Fixed the timeout of 3 s.",
            "[2026-02-05] Fixed the timeout of 5 s.",
            "[2026-03-05] Fixed the timeout of 9 s.",
        ],
        ["The job runs at 02:00.", "The job runs at 08:00.", "The job runs at 14:00."],
        ["The driver has a bug in 3.1.", "The driver has a bug in 3.2.", "The driver has a bug in 3.3."],
        ["A worker listens on port 7001.", "A worker listens on port 7002.", "A worker listens on port 7003."],
        [f"The staging database is Postgres {number}." for number in range(10, 17)],
    ],
)
def test_many_of_one_shape_are_a_list_where_they_do_not_tell_what_one_thing_is(texts):
    assert ways(*texts) == []


@each_row(
    "one, other",
    [
        ("Tokens live for 60 minutes in the browser.", "Tokens live for 1 hour in the browser."),
        ("The image is at version v2.10 in CI.", "The image is at version 2.10 in CI."),
        ("Jobs start at 9am on the runner.", "Jobs start at 09:00 on the runner."),
        ("The build needs 1,000 MB on disk.", "The build needs 1000MB on disk."),
    ],
)
def test_one_value_in_two_spellings_has_not_changed(one, other):
    assert ways(one, other) == []


def test_a_changed_name_is_told_to_a_writer_and_never_found_in_a_check():
    pair = ("The staging database is Postgres.", "The staging database is MySQL.")
    assert met(*pair) == CHANGED
    assert ways(*pair) == []


@each_row(
    "one, other",
    [
        ("DB on 5433", "DB on 5432"),
        ("DB on 5433 (2023-05-01)", "DB on 5432"),
        ("Node 18", "Node 20"),
        ("Timeout 30s", "Timeout 60s"),
        ("Port: 5433", "Port: 5432"),
        ("Default branch: main", "Default branch: develop"),
        ("**Package manager:** npm", "**Package manager:** pnpm"),
        ("Owner: Ada Lovelace", "Owner: Grace Hopper"),
        ("CI runs on GitHub Actions", "CI runs on GitLab"),
    ],
)
def test_a_writer_is_asked_about_another_value_of_one_key_or_in_a_few_words(one, other):
    assert met(one, other) == met(other, one) == CHANGED


@each_row(
    "one, other",
    [
        ("Retries need an idempotency key or customers pay twice.", "Without an idempotency key customers pay twice."),
        (
            "Two migrations at once deadlock the lock table.",
            "The lock table deadlocks on two migrations at once.",
        ),
        (
            "Excel breaks umlauts in a CSV unless it has a BOM.",
            "A CSV without BOM breaks umlauts in Excel.",
        ),
        (
            "The API key rotates each Monday: ask the vault.",
            "On Mondays the API key rotates and is in the vault.",
        ),
    ],
)
def test_a_writer_is_asked_whether_much_the_same_words_say_the_same(one, other):
    assert met(one, other) == met(other, one) == ALIKE


@each_row(
    "one, other",
    [
        (
            "Uploads over 10 MB are allowed for customers.",
            "For customers, uploads over 10 MB are denied.",
        ),
        ("Run the linter before you commit to main.", "Run the linter after you commit to main, in CI."),
        (
            "Staging deploys need approval of the lead.",
            "Production deploys need approval of lead and QA.",
        ),
        (
            "Logs older than a week are deleted there at night.",
            "Backups older than a week are deleted there at night.",
        ),
        ("The export takes 20 minutes in the shop.", "In the shop, the export takes 20 seconds."),
        ("We decided against Kafka for the order queue.", "We decided to use Kafka for the order queue."),
        ("Deploy the API only if the tests pass on main.", "The API is deployed even if the tests pass on main."),
        ("Always squash commits when merging feature branches.", "Feature branches never squash commits when merging."),
    ],
)
def test_much_the_same_words_that_cannot_say_the_same_are_not_asked_about(one, other):
    assert met(one, other) != ALIKE
    assert met(other, one) != ALIKE


@each_row(
    "standing, new",
    [
        ("The nightly backup runs at 2 am.", "Backups now run at 4 am every night."),
        ("Uploads are limited to 10 MB.", "The upload limit was raised to 25 MB."),
        ("The API listens on port 8080.", "Since the move to Traefik the API is reached on port 9000."),
        ("Sessions expire after 30 minutes.", "A session now lives for 60 minutes before it expires."),
        ("CI takes 12 minutes.", "CI takes 25 minutes since we added the browser tests."),
        ("Kim owns the billing service.", "The billing service is now owned by Lee."),
        ("The linter is flake8.", "We switched the linter from flake8 to ruff."),
        ("Logs are kept for 14 days.", "We keep logs for 30 days."),
        ("The main branch is master.", "The main branch was renamed to main."),
        ("Use yarn for the web app.", "The web app uses pnpm now, not yarn."),
        ("The feature flag service is LaunchDarkly.", "Feature flags are now in Unleash; LaunchDarkly is gone."),
        ("The rate limit is 100 requests per minute.", "Rate limiting allows 300 requests a minute."),
        ("The cache TTL is 5 minutes.", "Cache entries live 1 hour (TTL)."),
    ],
)
def test_a_writer_is_asked_whether_what_is_put_in_other_words_is_out_of_date(standing, new):
    assert met(standing, new) == RENEWED


@each_row(
    "one, other",
    [
        ("Service billing listens on port 8080.", "Service mail listens on port 9090."),
        ("The staging API answers in 200 ms.", "The production API answers in 50 ms."),
        ("Node 18 runs the web app.", "Node 20 runs the CI jobs."),
        ("Unit tests take 2 minutes.", "Browser tests take 20 minutes."),
        ("Backups run on Mondays.", "Reports run on Tuesdays."),
        ("Retry webhooks three times.", "Retry emails five times."),
        ("We use Postgres for orders.", "We now use Redis for sessions."),
        ("Kim owns billing.", "Lee now owns search."),
        ("Use tabs in Go files.", "Go files are now formatted in CI."),
        ("The nightly job starts at 2 am.", "The weekly job starts at 4 am."),
        ("Timeout of the API is 30 s.", "Timeout of the crawler is 60 s."),
        ("CI caches expire after 7 days.", "CI takes 12 minutes."),
        ("Release 2.1 fixed the login bug.", "Release 2.3 fixed the export bug."),
    ],
)
def test_a_writer_is_not_asked_whether_what_is_said_of_another_thing_is_out_of_date(one, other):
    assert RENEWED not in (met(one, other), met(other, one))


def test_what_is_under_another_heading_is_not_out_of_date():
    text = "# S\n\n## Staging\n\n- Logs are kept for 14 days.\n\n## Production\n\n- We keep logs for 30 days.\n"
    there = parse(text)
    assert meeting_of(there, there.ids[1]) is None


@each_row(
    "one, other",
    [
        ("Note: run make lint", "Note: run make test"),
        ("Step 1", "Step 2"),
        ("Default branch: main", "Default branch: main (protected)"),
        ("Never: push to main", "Never: delete tags"),
        ("Node 18", "Redis 20"),
        ("Build: make", "Test: pytest"),
    ],
)
def test_a_writer_is_not_asked_about_two_keys_remarks_or_one_value_said_more_closely(one, other):
    assert met(one, other) == met(other, one) == NEITHER


def test_three_values_of_one_key_are_a_list():
    there = parse("# S\n\n- Env: dev\n- Env: staging\n- Env: prod\n\nNever:\n\n- push\n- pull\n")
    assert [meeting_of(there, one) for one in there.ids] == [None] * 5


@pytest.mark.parametrize(
    ("first", "second", "older"),
    [
        (OLD, NEW, OLD),
        (f"[2026-06-01] {OLD}", f"[2026-01-01] {NEW}", NEW),
        (f"[2026-06-01] {OLD}", NEW, OLD),
    ],
    ids=["file-order", "own-dates", "one-date"],
)
def test_the_older_is_told_by_its_own_date_and_else_by_its_place(first, second, older):
    (found,) = meetings([parse(f"# S\n\n- {first}\n- {second}\n")])
    assert found.in_order_of_age().first.text == older


def test_what_the_ledger_has_heard_of_first_is_older_than_its_place_says():
    (found,) = meetings([parse(f"# S\n\n- {OLD}\n- {NEW}\n")])
    heard = {OLD: "2026-02-01", NEW: "2026-01-01"}
    assert found.in_order_of_age(lambda one: heard[one.text]).first.text == NEW
    assert found.in_order_of_age(lambda one: heard[one.text] if one.text == OLD else "").first.text == OLD


@pytest.mark.slow
def test_hardly_an_entry_of_real_files_is_told_wrongly():
    """Of the real files here, nothing is known to say the opposite or to have changed."""
    documents = [parse(path.read_text(encoding="utf-8")) for path in sorted(CORPUS.rglob("*.md"))]
    entries = sum(len(one.ids) for one in documents)
    found = [(one.first.text, one.second.text) for document in documents for one in meetings([document])]
    assert entries > 0
    assert len(found) <= entries / 1000, found


# -- between documents, notes and records ------------------------------------------------------------------------------

AGENT = Target(Tier.AGENT, "dev")
OTHER_AGENT = Target(Tier.AGENT, "qa")


def record(text: str, name: str = "mem:1") -> Outside:
    return Outside(RECORD, name, Target(Tier.SHARED), f"records/{name}", text, f"amp record archive {name}")


def note(text: str, name: str = "project_a.md") -> Outside:
    return Outside(NOTE, name, Target(Tier.SHARED), f"shared/{name}", text, f"amp note remove {name}")


def between(one: str, other: str, *outside: Outside, target: Target = AGENT) -> list[str]:
    return [found.way for found in meetings([parse(one), parse(other, target)], outside)]


def page(text: str, *above: str) -> str:
    return "\n\n".join(["# S", *above, f"- {text}"]) + "\n"


@each_row(
    "one, other, found",
    [
        (page(OLD), page(NEW), [CHANGED]),
        (page(OLD, "## Databases"), page(NEW, "## Databases"), [CHANGED]),
        (page(OLD, "## Databases"), page(NEW), [CHANGED]),
        (page(OLD, "## Old stack"), page(NEW, "## New stack"), []),
        (page("The limit is 14 MB.", "## Uploads"), page("The limit is 16 MB."), []),
        (page(OLD, "Last year:"), page(NEW), []),
        (page(OLD, "Never:"), page(NEW, "Never:"), [CHANGED]),
        (page(OLD) + f"- {NEW}\n", page(NEW), [CHANGED]),
        (page(OLD), page("The staging database is Postgres 14."), []),
    ],
    ids=[
        "no-headings",
        "same-heading",
        "one-heading",
        "two-headings",
        "few-words",
        "label-on-one",
        "label-on-both",
        "two-in-one",
        "one-value",
    ],
)
def test_a_changed_value_is_seen_between_shared_and_agent_memory(one, other, found):
    assert between(one, other) == found


def test_three_values_in_three_documents_are_a_list():
    third = parse(page("The staging database is Postgres 15."), OTHER_AGENT)
    assert [one.way for one in meetings([parse(page(OLD)), parse(page(NEW), AGENT), third])] == []


def test_three_documents_with_two_values_disagree_with_the_first_that_says_otherwise():
    documents = [parse(page(OLD)), parse(page(OLD), AGENT), parse(page(NEW), OTHER_AGENT)]
    assert [(one.first.path, one.second.path) for one in meetings(documents)] == [
        (documents[0].target.path, documents[2].target.path)
    ]


def test_two_conversations_are_not_compared():
    both = [parse(page(text), Target(Tier.CONVERSATION, name)) for text, name in ((OLD, "c1"), (NEW, "c2"))]
    assert meetings(both) == []


@each_row("make", [record, note], ids=["record", "note"])
@each_row("above", [(), ("## Databases",)], ids=["no-heading", "heading"])
def test_a_note_and_a_record_meet_entries(make, above):
    ways = {
        NEW: CHANGED,
        "The staging database is not Postgres 14.": OPPOSITE,
        "The production queue is RabbitMQ 3.": None,
        OLD: None,
    }
    for text, way in ways.items():
        found = meetings([parse(page(OLD, *above))], [make(text)])
        assert [one.way for one in found] == ([] if way is None else [way]), text
        assert all(one.dispute == "" and make(text).retire in one.advice for one in found)


def test_a_note_meets_no_part_of_itself_and_a_record_no_record():
    assert meetings([], [note(OLD), note(NEW)]) == []
    assert meetings([], [record(OLD), record(NEW, "mem:2")]) == []
    assert [one.way for one in meetings([], [note(OLD), note(NEW, "project_b.md")])] == [CHANGED]
    assert [one.way for one in meetings([], [note(OLD), note(OLD), record(NEW)])] == [CHANGED]


def test_a_labelled_entry_meets_the_record_that_has_its_label_in_front():
    documents = [parse("# S\n\nNever:\n\n- push to the main branch\n")]
    assert [one.way for one in meetings(documents, [record("Push to the main branch.")])] == [OPPOSITE]
    assert meetings(documents, [record("Never: push to the main branch")]) == []


@pytest.mark.parametrize(("text", "way"), [(NEW, CHANGED), (OLD, SAME), ("The staging database is MySQL.", None)])
def test_a_writer_is_told_of_other_documents_notes_and_records(text, way):
    new = parse(page(text), AGENT)
    shared = parse(page(OLD))
    others = [Placed(shared, shared.outline.entries[0])], [note(OLD)], [record(OLD)]
    for other in others:
        found = meeting_of(new, new.ids[0], other)
        assert (None if found is None else found.way) == way
        assert found is None or found.first is other[0]


def test_a_writer_is_told_of_a_changed_name_in_another_document():
    new, shared = parse(page("The staging database is MySQL."), AGENT), parse(page("The staging database is Postgres."))
    found = meeting_of(new, new.ids[0], [Placed(shared, shared.outline.entries[0])])
    assert found is not None
    assert found.way == CHANGED


@each_row("text", ["**Owner:** Owner A", "Owner A is Owner.", "Stop.", "It is so.", "用户是", "5"])
def test_an_entry_of_hardly_any_words_meets_nothing(text):
    assert met("The mail worker needs Redis.", text) == NEITHER


def test_texts_that_are_the_same_but_for_their_numbers_never_claim_the_same(sized):
    dice = Random(1)
    lines = {line for page in CORPUS.rglob("*.md") for line in page.read_text(errors="replace").split("\n")}
    texts = [" ".join(line.strip(" -*#").split()) for line in sorted(lines) if 10 < len(line) < 150]
    looked = 0
    for text in dice.sample(texts, min(len(texts), sized(300, 2_000, 100_000))):
        words = text.split(" ")
        for _ in range(2):
            words[dice.randrange(len(words))] = str(dice.randrange(dice.choice([12, 100, 99_999])))
        one = " ".join(words)
        other = alike._NUMBER.sub(lambda found: dice.choice([found[0], str(dice.randrange(12)), "98765"]), one)
        if alike._count_others(one, other):
            looked += 1
            first, second = essence(one), essence(other)
            assert gist(one) != gist(other), (one, other)
            is_one = first is not None and second is not None and first.denied == second.denied
            assert not (is_one and first and second and alike._same(first, second)), (one, other)
    assert looked > 100
    assert same("Keep 3 backups", "Keep three backups")
    assert same("Wait 60 seconds", "Wait 1 minute")
    assert not same("Keep 3 backups", "Keep 4 backups")


def test_what_is_kept_of_entries_that_are_read_again_changes_nothing_of_what_is_near(sized):
    dice = Random(2)
    parts = ["- The API uses port {n}.\n", "- see [the port][p] of writer {n}\n", "- note[^a] of writer {n}\n"]
    parts += [
        "\nOn staging:\n\n",
        "\n## Step {n}\n\n",
        "1. The API waits {n} seconds.\n",
        "- Writers use 登录服务 {n}.\n",
    ]
    parts += ["\n[p]: https://x.example/{n}\n", "\n[^a]: only {n} times\n", "- [2026-01-01] The API uses TLS {n}.\n"]
    lines = ["# S\n\n"]
    for _ in range(sized(12, 150, 600)):
        if dice.random() < 0.8 or len(lines) < 4:
            lines.append(dice.choice(parts).format(n=dice.randrange(5)))
        else:
            del lines[dice.randrange(2, len(lines))]
        text = "".join(lines)
        page, fresh = parse(text), document.read_whole(text.encode(), Target(Tier.SHARED))
        for said in ("The API uses port 2.", "登录服务", "See the port of writer 3 only 3 times"):
            near = Near(said)
            found, again, new = ([one.text for one in nearest(at, [near])] for at in (page, page, fresh))
            assert found == again == new
            assert {*new} == {
                one.text
                for entry in fresh.outline.entries
                if len(near.words & gist((one := Placed(fresh, entry)).text).bag) >= near.enough
            }


def test_of_many_entries_those_that_share_most_are_near():
    page = parse(
        "# S\n\n" + "".join(f"- Worker {n} writes logs{' to the attic' * (n % 3 == 0)}.\n" for n in range(400))
    )
    found = nearest(page, [Near("The worker writes logs to the attic.")])
    assert len(found) == MOST + 1
    assert all("attic" in one.text for one in found)
    assert [one.entry.start for one in found] == sorted(one.entry.start for one in found)
    assert len(nearest(page, [Near("The worker writes logs to the attic."), Near("Worker 7 writes logs.")])) > MOST + 1
