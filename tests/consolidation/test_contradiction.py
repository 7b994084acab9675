"""Contradictions: what one side says and the other denies, told by the negation and the words alone."""

from datetime import UTC, datetime
from itertools import combinations
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.consolidation.contradiction import Contradictions
from agent_memory_protocol.consolidation.proposals import Dispute, Question, Stage, ids_of
from agent_memory_protocol.records.record import Provenance, RecordType, new_record
from agent_memory_protocol.text.claims import denials
from agent_memory_protocol.text.language import ENGLISH, Language
from tests.each_row import each_row

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)

CONTRADICT = [
    ("The staging database is Postgres.", "The staging database is not Postgres."),
    ("The staging database is Postgres.", "The staging database isn't Postgres any more."),
    ("The staging database is Postgres.", "The staging database is no longer Postgres since March."),
    ("The staging database uses Postgres.", "The staging database does not use Postgres."),
    ("The staging database is Postgres.", "The staging database is MySQL, not Postgres."),
    ("Staging runs on Postgres.", "Staging does not run on Postgres, because the licence changed."),
    ("The deploy needs approval.", "The deploy needs no approval."),
    ("The deploy requires approval.", "No approval is needed for the deploy."),
    ("The deploy requires approval.", "Approval is not required for the deploy."),
    ("The deploy requires approval.", "Approval is unnecessary for the deploy."),
    ("The deploy needs approval.", "The deploy does not need approval."),
    ("The API requires a token.", "The API doesn't require tokens."),
    ("The API requires a token for writes.", "The API requires no token."),
    ("The operator backend requires a restart after edits.", "The operator backend hot-reloads; no restart needed."),
    ("The backend requires a restart after edits.", "The backend does not require a restart after edits."),
    ("The backend requires a restart after edits.", "The backend does not require restarts."),
    ("A restart is required.", "No restart required."),
    ("The deploy pipeline is green.", "The deploy pipeline is not green."),
    ("The linter is strict.", "The linter is not strict."),
    ("Use pnpm.", "Never use pnpm."),
    ("Use pnpm.", "Do not use pnpm."),
    ("Always use pnpm for installs.", "Avoid pnpm for installs."),
    ("Use tabs.", "Use spaces, not tabs."),
    ("Use tabs, not spaces.", "Use spaces, not tabs."),
    ("Use spaces.", "Use tabs instead of spaces."),
    ("Deploy with tests.", "Deploy without tests."),
    ("Deploys run with the cache.", "Deploys run without the cache."),
    ("Tests touch the network.", "Tests must not touch the network."),
    ("Tests must touch the network.", "Tests don’t touch the network."),
    ("Commits to main are allowed.", "Commits to main are not allowed."),
    ("You may push to main.", "You may not push to main."),
    ("Migrations can be rolled back.", "Migrations cannot be rolled back."),
    ("Migrations are rolled back.", "Migrations can't be rolled back."),
    ("The cache is shared between workers.", "The cache is not shared."),
    ("Port 8080 is open.", "Port 8080 is not open."),
    ("The service listens on port 8080.", "The service does not listen on port 8080."),
    ("Logs go to /var/log/app.", "Logs do not go to /var/log/app."),
    ("`src/api.py` is generated.", "`src/api.py` is not generated."),
    ("Python 3.11 is supported.", "Python 3.11 is not supported."),
    ("The API supports XML.", "The API supports neither XML nor SOAP."),
    ("The API supports SOAP.", "The API supports neither XML nor SOAP."),
    ("The API supports SOAP.", "The API does not support XML or SOAP."),
    ("The API supports XML and SOAP.", "The API does not support XML."),
    ("Alice reviews the deploys.", "Alice never reviews deploys."),
    ("Retry when the queue is full.", "Do not retry when the queue is full."),
    ("Sandro likes coffee.", "Sandro does not like coffee."),
    ("The tests were flaky.", "The tests were not flaky."),
    ("The migration is done.", "The migration is not done yet."),
    ("Builds use a cache. They take ten minutes.", "Builds do not use a cache."),
    ("Postgres is the staging database.", "The staging database is not Postgres."),
    ("Anyone uses the old endpoint.", "Nobody uses the old endpoint."),
    ("The naïve café cache is on", "The naïve cafe\u0301 cache is not on"),
    ("The frontend talks to the API over gRPC.", "The frontend doesn't talk to the API over gRPC."),
    ("Feature flags live in LaunchDarkly.", "Feature flags no longer live in LaunchDarkly."),
    ("CI caches node_modules.", "CI never caches node_modules."),
    ("We squash commits on merge.", "We don't squash commits on merge."),
    ("The worker needs Redis.", "The worker doesn't need Redis anymore."),
    ("Docker is required to run the tests.", "Docker is not required to run the tests."),
    ("Docker is required to run the tests.", "No Docker needed to run the tests."),
    ("Running the tests requires Docker.", "You do not need Docker for running the tests."),
    ("Branch protection is enabled on main.", "Branch protection is not enabled on main."),
    ("The user wants emojis in commits.", "The user doesn't want emojis in commits."),
    ("Always add type hints.", "Never add type hints."),
    ("Add type hints.", "Don't add type hints."),
    ("The release is automated.", "The release isn't automated, it is done by hand."),
    ("The cron job runs nightly at 02:00.", "The cron job does not run nightly at 02:00."),
    ("Secrets come from Vault.", "Secrets don't come from Vault but from SOPS."),
    ("Kubernetes probes are configured.", "Kubernetes probes aren't configured."),
    ("Anna has access to prod.", "Anna has no access to prod."),
    ("The search index includes archived records.", "The search index does not include archived records."),
    ("Retries are idempotent.", "Retries are NOT idempotent."),
    ("The web process needs a cache.", "The web process needs no queue and no cache."),
]

DO_NOT_CONTRADICT = [
    ("The staging database is Postgres.", "The production database is not Postgres."),
    ("The staging database is Postgres.", "The staging database is not MySQL."),
    ("The staging database is Postgres.", "The staging database is MySQL."),
    ("The staging database is Postgres.", "The staging cache is not Postgres."),
    ("The staging database is Postgres.", "The staging database is Postgres, not MySQL."),
    ("The staging database was Postgres.", "The staging database is not Postgres."),
    ("The tests were flaky.", "The tests are not flaky any more."),
    ("The service listens on port 8080.", "The service does not listen on port 8081."),
    ("Service s1 listens on port 1001.", "Service s2 does not listen on port 1001."),
    ("Python 3.11 is supported.", "Python 3.9 is not supported."),
    ("Logs go to /var/log/app.", "Logs do not go to /var/log/api."),
    ("`src/api.py` is generated.", "`src/app.py` is not generated."),
    ("Alice owns the deploys.", "Bob does not own the deploys."),
    ("Use pnpm.", "Never use npm."),
    ("Use pnpm.", "Use pnpm, never npm."),
    ("Use tabs.", "Use tabs, not spaces."),
    ("Use tabs.", "Use tabs instead of spaces."),
    ("The script runs.", "The script runs without arguments."),
    ("Deploys are allowed.", "Deploys are not allowed on Friday."),
    ("Never deploy without tests.", "Deploy with tests."),
    ("Do not deploy without tests.", "Deploy with tests and a review."),
    ("The cache can be shared.", "The cache is not shared."),
    ("The deploy needs no approval.", "The deploy does not need approval."),
    ("Staging needs a VPN.", "Staging has no VPN."),
    ("Never push to main.", "Do not push to main."),
    ("Copy data from staging.", "Do not copy data to staging."),
    ("Run the linter before the build.", "Do not run the linter after the build."),
    ("Service billing depends on service ledger.", "Service ledger does not depend on service billing."),
    ("Billing calls ledger.", "Ledger does not call billing."),
    ("If the cache is not warm, requests are slow.", "If the cache is warm, requests are slow."),
    ("Requests are slow if the cache is not warm.", "The cache is warm."),
    ("Restart when the queue is full.", "Do not restart when a job is running."),
    ("Deploy when the tests pass.", "Do not deploy when the tests fail."),
    ("Some tests need the network.", "Not all tests need the network."),
    ("The build sometimes fails.", "The build does not fail on macOS."),
    ("Is the database Postgres?", "The database is not Postgres."),
    ("All endpoints need auth except /health.", "/health needs no auth."),
    ("The billing API is public.", "The API is not public."),
    ("Sandro likes coffee.", "Sandro likes tea."),
    ("Sandro likes coffee.", "Sandro does not like tea."),
    ("The deploy target is us-east-1.", "The staging password does not rotate weekly."),
    ("The feature flag is on.", "The feature flag is off."),
    ("Tests run in parallel.", "Tests do not run in CI."),
    ("Timeouts are 30 seconds.", "Timeouts are not 60 seconds."),
    ("The release notes mention no author.", "The author is Sandro."),
    ("It is not only fast but also small.", "It is fast."),
    ("Not every service has an owner.", "Some service has an owner."),
    ("There is nothing to see.", "There is a dashboard."),
    ("No.", "Yes."),
    ("", "Not."),
    ("データベースはPostgresです", "データベースはMySQLではない"),
    ("The staging database is Postgres.", "We did not find out why the staging database is Postgres."),
    ("The frontend talks to the API over gRPC.", "The frontend doesn't talk to the API over REST."),
    ("Feature flags live in LaunchDarkly.", "Secrets no longer live in LaunchDarkly."),
    ("CI caches node_modules.", "CI never caches target/."),
    ("The worker needs Redis.", "The web process doesn't need Redis."),
    ("Docker is required to run the e2e tests.", "Docker is not required to run the unit tests."),
    ("Branch protection is enabled on main.", "Branch protection is not enabled on develop."),
    ("The user wants short commit messages.", "The user doesn't want emojis in commit messages."),
    ("Never commit .env.", "Commit .env.example."),
    ("Do not edit generated files.", "Edit the generator instead."),
    ("The module has no allow rules.", "The module has no allow rules and no actor domains."),
    ("Don't use print; use logging.", "Use logging."),
    ("Use print for debugging scripts only.", "Do not use print in library code."),
    ("The release is not automated.", "The changelog is automated."),
    ("Anna has access to prod.", "Anna has no access to billing."),
    ("Mocks are fine in unit tests.", "No mocks in integration tests."),
    ("If a migration fails, do not retry it.", "Retry failed downloads."),
    ("The old endpoint is not removed.", "The new endpoint is removed."),
    ("Deploys on Monday are fine.", "No deploys on Friday."),
    ("Run make lint before pushing.", "Do not run make deploy before pushing."),
    ("The token does not expire.", "The session expires."),
    ("Timeouts do not apply to websockets.", "Timeouts apply to HTTP."),
    ("Use Postgres, not MySQL, for billing.", "Use MySQL for analytics."),
    ("X does not depend on Y.", "Y depends on X."),
    ("Node 18 is no longer supported.", "Node 20 is supported."),
    ("The build is not slow on Linux.", "The build is slow on Windows."),
    ("The release is not automated.", "The release isn't automated, it is done by hand."),
    ("The release is not automated.", "The release isn't automated. It is done by hand."),
]


def contradict(one, other):
    return any(denials([one, other]))


@pytest.mark.requirement("S1-34", "S1-35")
@each_row("one, other", CONTRADICT)
def test_what_one_says_and_the_other_denies_is_a_contradiction(one, other):
    assert contradict(one, other)
    assert contradict(other, one)


@pytest.mark.requirement("S1-34", "S1-35")
@each_row("one, other", DO_NOT_CONTRADICT)
def test_what_can_both_be_true_is_none(one, other):
    assert not contradict(one, other)
    assert not contradict(other, one)


def found(bodies: list[str], *languages: Language) -> set[tuple[str, str]]:
    """Return the texts of the pairs that the operator finds."""
    records = [
        new_record(RecordType.FACT, body, provenance=Provenance("test", str(number)), now=NOW)
        for number, body in enumerate(bodies)
    ]
    said = {record.id: record.body for record in records}
    question = Question(stage=Stage.CONTRADICTION, now=NOW, records=records)
    proposals = Contradictions(languages or (ENGLISH,)).propose(question)
    assert all(isinstance(proposal, Dispute) for proposal in proposals)
    return {(said[one], said[other]) for one, other in map(ids_of, proposals)}


TEXTS = sorted({normalize("NFC", text) for pair in (*CONTRADICT, *DO_NOT_CONTRADICT) for text in pair})


@pytest.mark.slow
@given(st.lists(st.sampled_from(TEXTS), max_size=12, unique=True))
def test_among_many_records_the_same_pairs_are_found_as_one_by_one(bodies):
    assert found(bodies) == {pair for pair in combinations(bodies, 2) if contradict(*pair)}


@pytest.mark.slow
def test_texts_of_the_tables_at_once_are_no_other_than_one_by_one():
    texts = TEXTS[::3]
    assert found(texts) == {pair for pair in combinations(texts, 2) if contradict(*pair)}


WORDS = ["not", "no", "never", "or", "nor", "but", "instead", "it", "if", "needs", "can", "was", "all", "a", "b"]


@given(st.text() | st.lists(st.sampled_from([*WORDS, ",", ".", ";", "isn't"])).map(" ".join), st.sampled_from(TEXTS))
def test_any_text_can_be_asked_about_and_the_order_makes_no_difference(one, other):
    assert contradict(one, other) == contradict(other, one)


def test_another_language_is_a_table():
    hungarian = Language(
        stem=lambda word: word.removesuffix("ban").removesuffix("ok"),
        negators=frozenset({"nem", "sem", "nincs"}),
        empty=frozenset({"az", "a", "van", "egy"}),
        hedges=frozenset({"néha"}),
    )
    bodies = ["Az adat Postgres.", "Az adat nem Postgres.", "A gyorstár nem Postgres."]
    assert not found(bodies)
    assert found(bodies, hungarian) == {(bodies[0], bodies[1])}
    both = [*bodies, "The cache is shared.", "The cache is not shared.", "Az adat néha Postgres."]
    assert found(both, ENGLISH, hungarian) == {(bodies[0], bodies[1]), (both[3], both[4])}
