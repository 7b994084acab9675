"""Facts in other words: what is found without a model, told over a table, and that nothing of it is wrong."""

from collections import Counter
from pathlib import Path

import pytest

from agent_memory_protocol.consolidation.pipeline import consolidate
from agent_memory_protocol.records.record import State
from agent_memory_protocol.text.alike import denials, groups, same
from tests.each_row import each_row

TABLE = Path(__file__).parents[1] / "data" / "claims.tsv"
PAIRS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
SAME, DENIED, NEAR = "same", "denied", "near"


def ways(one: str, other: str) -> list[str]:
    """Return in which ways two texts meet, whichever comes first."""
    alike, opposed = (bool([*ask([one, other])]) and bool([*ask([other, one])]) for ask in (groups, denials))
    return [SAME] * alike + [DENIED] * opposed


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "share"), [(SAME, 0.75), (DENIED, 0.9), (NEAR, 1)])
def test_most_is_found_and_nothing_wrong(kind, share):
    told = [ways(*pair) for of, *pair in PAIRS if of == kind]
    right = [] if kind == NEAR else [kind]
    assert [way for way in told if way not in ([], right)] == []
    assert told.count(right) >= share * len(told)


def test_a_pass_merges_and_disputes_what_was_found(make, now):
    some = {SAME: slice(11, 15), DENIED: slice(13, 17), NEAR: slice(10, 14)}
    texts = {kind: [pair for of, *pair in PAIRS if of == kind][some[kind]] for kind in some}
    records = {text: make(text) for pairs in texts.values() for pair in pairs for text in pair}
    newest = {**{one.id: one for one in records.values()}, **consolidate(records.values(), now=now).changed}
    states = {text: newest[record.id].state for text, record in records.items()}
    assert {states[text] for pair in texts[SAME] for text in pair} == {State.SUPERSEDED}
    assert {states[text] for pair in texts[DENIED] for text in pair} == {State.TRANSITIONAL}
    assert {states[text] for pair in texts[NEAR] for text in pair} == {State.ACTIVE}
    assert consolidate(newest.values(), now=now).writes == ()


@each_row(
    "narrow, wide",
    [
        ("Bucket policies are reviewed.", "Policies are reviewed."),
        ("System tests run nightly.", "Tests run nightly."),
        ("Review bucket policies monthly.", "Review policies monthly."),
        ("Test accounts are deleted nightly.", "Tests are deleted nightly."),
        ("The project record is public.", "The project is public."),
        ("Release branches are protected.", "Releases are protected."),
        ("Cache files in memory.", "Cache memory files."),
    ],
)
def test_a_noun_that_says_which_ones_are_meant_is_never_left_out(make, now, narrow, wide):
    assert acts(make, now, narrow, wide) == acts(make, now, wide, narrow) == []


@each_row(
    "one, other",
    [
        ("The staging environment is in Oslo.", "Staging is in Oslo."),
        ("Python code is indented with four spaces.", "Use 4 spaces for indentation in Python."),
        ("We deploy staging from the develop branch.", "Staging is deployed from develop."),
    ],
)
def test_a_noun_that_only_says_what_a_name_is_of_adds_nothing(make, now, one, other):
    assert acts(make, now, one, other) == acts(make, now, other, one) == ["supersede"]


FACTS = [TABLE.with_name(f"facts-{number}.tsv") for number in (1, 2, 3, 4)]
"""Facts as teams note them: 30 pairs say the same, 24 deny each other, and 24 only look alike."""


@pytest.mark.slow
@pytest.mark.parametrize("table", FACTS, ids=lambda path: path.stem)
def test_of_realistic_facts_at_least_half_of_the_same_and_most_denials_are_found_and_nothing_wrong(table, make, now):
    pairs = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    assert Counter(kind for kind, *_ in pairs) == {"same": 30, "denied": 24, "apart": 24}
    texts = dict.fromkeys(text for _, *pair in pairs for text in pair)
    records = [make(text) for text in texts]
    said = {record.id: record.body for record in records}
    done = consolidate(records, now=now).report.done
    found = {
        kind: [frozenset(said[one] for one in action.ids if one in said) for action in done if action.kind == act]
        for kind, act in {"same": "supersede", "denied": "dispute"}.items()
    }
    for kind, share in {"same": 0.6, "denied": 0.8}.items():
        right = {frozenset(pair) for of, *pair in pairs if of == kind}
        assert set(found[kind]) <= right
        assert len(found[kind]) >= share * len(right)


CONTRARIES = [line.split("\t") for line in TABLE.with_name("contraries.tsv").read_text(encoding="utf-8").splitlines()]
"""Facts that cannot both hold without a “not” in either, and facts that only look so."""


def acts(make, now, *texts: str) -> list[str]:
    """Return what a pass does about some texts."""
    return [action.kind for action in consolidate([make(text) for text in texts], now=now).report.done]


@pytest.mark.slow
def test_most_of_what_cannot_both_hold_is_disputed_and_nothing_wrong(make, now):
    told = {kind: [acts(make, now, *pair) for of, *pair in CONTRARIES if of == kind] for kind in ("opposed", "apart")}
    assert [acts for acts in told["apart"] if acts] == []
    assert [acts for acts in told["opposed"] if acts not in ([], ["dispute"])] == []
    assert told["opposed"].count(["dispute"]) >= 0.8 * len(told["opposed"])


@each_row(
    "one, other, kinds",
    [
        ("The admin port is open.", "The admin port is closed.", ["dispute"]),
        ("Open issues are triaged.", "Closed issues are triaged.", []),
        ("Tests run in parallel.", "Tests run one after another.", ["dispute"]),
        ("Tests may run in parallel.", "Tests may run one after another.", []),
        ("Timestamps are stored in UTC.", "We store timestamps in local time.", ["dispute"]),
        ("The limit is 10 MB.", "The limit is 20 MB.", ["dispute"]),
        ("The API listens on port 80.", "The API listens on port 443.", []),
        ("The primary region is Frankfurt.", "The primary region is Dublin.", ["dispute"]),
        ("The region is Frankfurt.", "The region is Dublin.", []),
        ("Lint runs before the tests.", "Lint runs after the tests.", ["dispute"]),
        ("The cache is empty before a deploy.", "The cache is empty after a deploy.", []),
        ("With a token, the sync drops duplicates.", "Without a token, the sync drops duplicates.", []),
        ("The sync runs with a token.", "The sync runs without a token.", ["dispute"]),
        ("Builds use pnpm.", "Builds use yarn.", ["dispute"]),
        ("Builds use pnpm.", "Builds use Docker.", []),
        ("Packages are installed with npm.", "Packages are installed with pip.", []),
        ("The exporter supports npm.", "The exporter supports yarn.", []),
        ("The job can use yarn.", "The job can use npm.", []),
        ("The SDK is licensed under Apache-2.0.", "The SDK is licensed under GPL-3.0.", ["dispute"]),
        ("The SDK is licensed under Apache-2.0.", "The SDK is licensed under Apache.", []),
        ("The shop is maintained by Priya.", "The shop is maintained by Tomas.", ["dispute"]),
        ("The shop is maintained by Priya.", "The shop is maintained by the web team.", []),
        ("The shop is owned by Meta.", "The shop is owned by Ben.", []),
        ("Ana leads the data team.", "Ben leads the data team.", ["dispute"]),
        ("Ana reviews the schema.", "Ben reviews the schema.", []),
        ("We get SIM cards from Telekom.", "We get SIM cards from Vodafone.", ["dispute"]),
        ("Mails are sent by Postmark.", "Mails are sent by Mailgun.", ["dispute"]),
        ("Mails are sent by Postmark.", "Newsletters are sent by Mailgun.", []),
        ("Keys are rotated daily.", "Keys are rotated hourly.", ["dispute"]),
        ("The retro is every third week.", "The retro is every second week.", ["dispute"]),
        ("The sync runs weekly.", "The sync runs every 7 days.", []),
        ("Commits must be signed.", "Commits need not be signed.", ["dispute"]),
        ("Commits must be signed.", "Commits need not be short.", []),
        ("Sign commits.", "Commits need not be signed.", ["dispute"]),
        ("Always sign the commits.", "You do not need to sign the commits.", ["dispute"]),
        ("Run the tests before each merge.", "Tests need not be run before each merge.", ["dispute"]),
        ("Sign commits on main.", "Commits need not be signed.", []),
        ("Log errors as JSON.", "Log errors in JSON files.", []),
        ("Commits are signed.", "Commits need not be signed.", []),
        ("Log files rotate daily.", "Log files need not rotate daily.", []),
        ("Test data is in S3.", "Test data need not be in S3.", []),
        ("Flaky tests are quarantined with a marker.", "Do not quarantine flaky tests.", ["dispute"]),
        ("Flaky tests are quarantined by CI.", "Do not quarantine flaky tests.", []),
        ("An API is hosted in Oslo.", "The API is hosted in Oslo.", []),
        ("The shop is also hosted in Dublin.", "The shop is hosted in Dublin.", []),
        ("The shop is hosted in Dublin too.", "The shop is hosted in Dublin.", []),
        ("The shop is also hosted in Dublin.", "The shop is hosted in Oslo.", []),
        ("The office closes on Friday.", "The office also closes on Saturday.", []),
    ],
)
def test_only_where_one_thing_is_said_to_be_two_is_it_disputed(make, now, one, other, kinds):
    assert acts(make, now, one, other) == acts(make, now, other, one) == kinds


def test_a_third_value_says_that_there_is_a_list_of_like_things(make, now):
    texts = [f"Reports are kept for {days} days." for days in (7, 30, 90)]
    assert acts(make, now, *texts[:2]) == ["dispute"]
    assert acts(make, now, *texts) == []


@each_row(
    "one, other",
    [
        ("The client encrypts the payload for the server.", "The server encrypts the payload for the client."),
        ("Alice reports to Bob.", "Bob reports to Alice."),
        ("Run the linter before the tests.", "Run the linter after the tests."),
        ("Before the tests, run the linter.", "Before the linter, run the tests."),
        ("Copy the logs from staging to S3.", "Copy the logs from S3 to staging."),
        ("Releases are tagged by CI.", "Releases are tagged for CI."),
        ("The build fails without a license key.", "The build fails with a license key."),
        ("The API must listen on port 8080.", "The API listens on port 8080."),
        ("The API will be removed in May.", "The API is removed in May."),
        ("The log server runs Debian.", "The log service runs Debian."),
        ("A depends on B.", "B depends on A."),
        ("The job takes 5 minutes.", "The job takes 5 hours."),
        ("The worker needs node>=18.", "The worker needs node<=18."),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
        ("Replace Redis with Kafka.", "Replace Kafka with Redis."),
        ("Store the index in the cache.", "Store the cache in the index."),
        ("Merge main into the branch.", "Merge the branch into main."),
        ("Prefer composition over inheritance.", "Prefer inheritance over composition."),
        ("Treat warnings as errors.", "Treat errors as warnings."),
        ("Store users per region.", "Store regions per user."),
        ("The API is above the proxy.", "The proxy is above the API."),
        ("Ana is Ben's manager.", "Ben is Ana's manager."),
        ("Never commit to main.", "Commits to main may be dropped."),
        ("Do not log passwords.", "Passwords should not be logged."),
        ("We removed the queue.", "The queue is removed."),
        ("The file is underlined.", "The file is lined."),
    ],
)
def test_what_changed_places_or_parts_is_not_the_same(one, other):
    assert not same(one, other)
    assert not same(other, one)


@each_row(
    "one, other",
    [
        ("The lexer calls the parser.", "The parser is called by the lexer."),
        ("Before the tests, run the linter.", "The linter is run before the tests."),
        ("Run the linter, then the tests.", "Run the tests after the linter."),
        ("Emails are parsed with libmime.", "We use libmime for emails."),
        ("Sessions are kept in Redis.", "Redis keeps the sessions."),
        ("The retention of backups is 2 weeks.", "Backups are retained for 14 days."),
        ("Ana is Ben's manager.", "The manager of Ben is Ana."),
        ("Images are built for ARM and x86.", "We build images for x86 and ARM."),
        ("In staging, sessions are kept in Redis.", "Sessions are kept in Redis in staging."),
        ("Never commit to main.", "Commits to main are forbidden."),
        ("Do not log passwords.", "Passwords must not be logged."),
        ("The queue was removed in May.", "In May we removed the queue."),
        ("It is possible for users to export a report.", "Users can export a report."),
        ("Redis is where the sessions are stored.", "The sessions are stored in Redis."),
    ],
)
def test_a_passive_another_order_or_unit_is_the_same(one, other):
    assert same(one, other)
    assert same(other, one)


@each_row(
    "one, other, is_denied",
    [
        ("Release branches are protected.", "Release branches are unprotected.", True),
        ("The API is stateful.", "The API is stateless.", True),
        ("The app works online.", "The app works offline.", True),
        ("The exporter preserves comments.", "The exporter drops comments.", True),
        ("The service is compatible with Python 3.9.", "The service does not work with Python 3.9.", True),
        ("The image has curl.", "The image lacks curl.", True),
        ("The team is united.", "The team is ited.", False),
        ("The exporter preserves comments.", "The importer drops comments.", False),
        ("Release branches are protected.", "Feature branches are unprotected.", False),
        ("Prefer tabs in Makefiles.", "Avoid tabs in Makefiles.", True),
        ("Prefer mocking the database.", "Never mock the database.", True),
        ("Always mock the database.", "Avoid mocking the database.", True),
        ("Avoid mocking the database.", "Never mock the database.", False),
        ("Prefer tabs in Makefiles.", "Always use tabs in Makefiles.", False),
        ("The build succeeds on warnings.", "The build fails on warnings.", True),
        ("Repos are private.", "Repos are public.", True),
        ("Private repos are mirrored.", "Public repos are mirrored.", False),
        ("We log all disabled accounts.", "We log all enabled accounts.", False),
        ("The list of unavailable hosts is in Consul.", "The list of available hosts is in Consul.", False),
        ("Manual deploys need an approval.", "Automatic deploys need an approval.", False),
    ],
)
def test_what_undoes_a_word_denies_it(one, other, is_denied):
    assert bool([*denials([one, other])]) is is_denied
    assert bool([*denials([other, one])]) is is_denied


@each_row(
    "one, other",
    [
        ("Run the formatter before you commit.", "Before committing, run the formatter."),
        ("Our CI uses GitHub Actions.", "We use GitHub Actions for CI."),
        ("The API is served on port 8443.", "Port 8443 serves the API."),
        ("Secrets live in Vault.", "Vault holds our secrets."),
        ("Dashboards are in Grafana.", "We keep the dashboards in Grafana."),
        ("Releases are tagged by the release bot.", "The release bot tags releases."),
        ("Ana owns the billing service.", "The owner of the billing service is Ana."),
        ("The nightly job deletes old sessions.", "Old sessions are deleted by the nightly job."),
        ("Python 3.12 is required.", "We require Python 3.12."),
        ("Write commit messages in English.", "Commit messages are written in English."),
        ("Staging is redeployed every night.", "Each night staging is redeployed."),
        ("Use snake_case for column names.", "Column names are in snake_case."),
        ("Feature flags are managed with Unleash.", "We manage feature flags in Unleash."),
        ("The database is backed up daily at 02:00.", "Every day at 2am the database is backed up."),
        ("Two approvals are needed to merge.", "A merge needs two approvals."),
        ("The frontend is written in Svelte.", "Svelte is what the frontend is written in."),
        ("Do not log personal data.", "Personal data must not be logged."),
        ("Log files are rotated weekly.", "Every week log files are rotated."),
        ("Errors are reported to Sentry.", "We report errors to Sentry."),
        ("The docs are built with MkDocs.", "MkDocs builds the docs."),
        ("Search is powered by Meilisearch.", "Meilisearch powers our search."),
        ("Alembic handles the migrations.", "Migrations are handled by Alembic."),
        ("Our logo is in the assets folder.", "The assets folder contains our logo."),
        ("Lea runs the data team.", "The data team is run by Lea."),
        ("Each pull request needs a changelog line.", "A changelog line is required in every pull request."),
        ("Do not deploy on Fridays.", "Never deploy on Fridays."),
        ("Deployments on Fridays are forbidden.", "Do not deploy on Fridays."),
        ("We store attachments in S3.", "Attachments are stored in S3."),
        ("Set the log level with LOG_LEVEL.", "LOG_LEVEL sets the log level."),
        ("The timeout is 30 seconds.", "Timeout: 30s"),
        ("Playwright runs the end-to-end tests.", "The e2e tests run on Playwright."),
        ("Vite bundles the frontend.", "The frontend is bundled with Vite."),
        ("Session cookies expire after 24 hours.", "After one day session cookies expire."),
        ("Customers are billed monthly.", "We bill customers every month."),
        ("Config lives in settings.toml.", "settings.toml holds the config."),
        ("Squash commits before merging.", "Before merging, squash the commits."),
        ("The CDN is Fastly.", "We use Fastly as CDN."),
        ("Ben is responsible for the search index.", "Ben owns the search index."),
    ],
)
def test_what_is_said_in_other_words_is_found_whichever_comes_first(one, other):
    assert ways(one, other) == [SAME]


@each_row(
    "forbidden, allowed",
    [
        ("Never edit migrations.", "Migrations may be edited."),
        ("Do not edit migrations.", "Migrations may be edited."),
        ("Migrations must not be edited.", "Migrations may be edited."),
        ("Editing migrations is forbidden.", "Migrations may be edited."),
        ("Editing migrations is not allowed.", "Migrations may be edited."),
        ("Migrations must never be edited.", "Migrations may be edited."),
        ("Never commit generated files.", "Generated files may be committed."),
        ("Never push to main.", "You may push to main."),
        ("Never rebase release branches.", "Release branches may be rebased."),
        ("Do not share API keys.", "API keys may be shared."),
        ("Never skip flaky tests.", "Flaky tests may be skipped."),
        ("Don't mock the database in tests.", "The database may be mocked in tests."),
        ("Never store sessions in Redis.", "Sessions may be stored in Redis."),
        ("Screenshots must not be sent to customers.", "Screenshots may be sent to customers."),
        ("Never deploy on Fridays.", "Deploying on Fridays is allowed."),
        ("Never log passwords.", "Passwords may be logged."),
        ("Never merge without review.", "Merging without review is allowed."),
        ("Feature flags must not be removed.", "Feature flags may be removed."),
        ("Backups must not be kept on laptops.", "Backups may be kept on laptops."),
        ("Never vendor dependencies.", "Dependencies may be vendored."),
    ],
)
def test_what_is_forbidden_and_what_may_be_done_exclude_each_other(forbidden, allowed):
    assert ways(forbidden, allowed) == ways(allowed, forbidden) == [DENIED]


@each_row(
    "one, other",
    [
        ("Never edit migrations after they are merged.", "Migrations may be edited before merging."),
        ("Never edit migrations.", "Migrations may be edited before merging."),
        ("Never edit merged migrations.", "Migrations may be edited."),
        ("Never edit migrations.", "Migrations may be read."),
        ("Never edit migrations.", "Seeds may be edited."),
        ("Never edit migrations.", "Migrations may be slow."),
        ("Never edit migrations by hand.", "Migrations may be edited by the tool."),
        ("Migrations are not edited.", "Migrations may be edited."),
        ("Migrations should not be edited.", "Migrations may be edited."),
        ("Never edit migrations.", "Migrations may be edited, I think."),
        ("Never edit migrations.", "Migrations may be edited if the lead agrees."),
        ("Never edit migrations.", "Perhaps migrations may be edited."),
        ("Never edit migrations.", "May migrations be edited?"),
        ("Never edit migrations in production.", "Migrations may be edited in staging."),
        ("Never edit migrations alone.", "Migrations may be edited in pairs."),
        ("Never push to main.", "Feature branches may be pushed."),
        ("Never commit generated files.", "Generated files may be ignored."),
        ("Do not share API keys.", "API keys may be rotated."),
        ("Never deploy on Fridays.", "The app may be deployed on Mondays."),
        ("The token is not expired.", "The token may be expired."),
        ("The port is not blocked.", "The port may be blocked."),
        ("Migrations may be edited.", "Migrations may be edited by the lead."),
        ("Never log passwords.", "Passwords may be changed."),
        ("Never edit migrations older than a release.", "Migrations may be edited until the release."),
        ("Never store sessions in Redis.", "Redis may be used for sessions of tests."),
    ],
)
def test_what_may_be_done_at_another_time_to_another_thing_or_perhaps_denies_nothing(one, other):
    assert ways(one, other) == ways(other, one) == []
    assert not same(one, other)


@each_row(
    "one, other",
    [
        ("The token may be expired.", "Tokens may be expired."),
        ("The disk may be damaged.", "It may be that the disk is damaged."),
        ("Migrations may be edited.", "The migrations may be edited."),
    ],
)
def test_what_may_be_a_guess_is_never_merged(make, now, one, other):
    assert acts(make, now, one, other) == acts(make, now, other, one) == []
