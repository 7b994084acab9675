"""Duplicates: one record stands for those that say the same, and what differs in anything stays two."""

import pytest

from agent_memory_protocol.consolidation.duplicates import Echoes, SameWords, find_echoes
from agent_memory_protocol.consolidation.promotion import promote
from agent_memory_protocol.consolidation.proposals import Question, Stage, Supersede
from agent_memory_protocol.records.lifecycle import redact
from agent_memory_protocol.records.record import RecordType
from tests.each_row import each_row

SAME = [
    ("The build is green.", "The build is green."),
    ("The build is green.", "the build is green"),
    ("The build is green.", "  The build\nis green  "),
    ("The build is green.", "The build is green!"),
    ("The build is green.", "“The build is green.”"),
    ("The build is green.", "This build is green."),
    ("Sandro prefers small focused files.", "Sandro prefers small, focused files!"),
    ("Sandro prefers small files.", "Sandro prefers the small files"),
    ("Use pnpm.", "use pnpm"),
    ("Use pnpm.", "Always use `pnpm`!"),
    ("Use pnpm.", "Please use pnpm."),
    ("Use pnpm.", "- Use pnpm"),
    ("Use pnpm.", "* Use pnpm."),
    ("Use pnpm.", "**Use pnpm.**"),
    ("Use pnpm.", "Use **pnpm**."),
    ("Use pnpm.", "Note: use pnpm."),
    ("Use pnpm.", "Remember that you use pnpm."),
    ("We use pnpm.", "You use pnpm."),
    ("The user prefers tabs.", "I prefer tabs"),
    ("Run the tests before every commit.", "Run all tests before each commit"),
    ("Do not use npm.", "Never use npm"),
    ("Do not use npm.", "Don't use npm"),
    ("Do not use npm.", "Don’t use npm."),
    ("Avoid using npm", "Don't use npm"),
    ("It isn't slow", "It is not slow"),
    ("The cache can't be shared.", "The cache can not be shared."),
    ("The cache can't be shared.", "The cache cannot be shared."),
    ("The API won't be removed.", "The API will not be removed."),
    ("The build didn't fail.", "The build did not fail."),
    ("The database wouldn't start.", "The database would not start."),
    ("It's slow.", "It is slow."),
    ("The API listens on port 8080.", "API listens at port 8080"),
    ("Secrets are in `.env`.", "Secrets are in .env"),
    ("Docs live in docs/guide.md.", "Documentation lives in docs/guide.md"),
    ("Document the config in the repo.", "Document the configuration in the repository."),
    ("The prod DB is Postgres.", "The production database is Postgres."),
    ("Tests & linters run in CI.", "Tests and linters run in CI."),
    ("The harbor site blocks requests.", "Harbor sites block requests"),
    ("Redis needs AOF.", "Redis really needs AOF."),
    ("Redis no longer needs AOF.", "Redis no more needs AOF."),
    ("Café opens", "Cafe\u0301 opens"),
    ("データベースはPostgresです。", "データベースはPostgresです"),
    ("Staging runs v1.2.3 (since March).", "Staging runs v1.2.3, since March"),
]

NOT_THE_SAME = [
    ("Service s1 listens on port 1001.", "Service s2 listens on port 1002."),
    ("The API listens on port 8080.", "The API listens on port 8081."),
    ("The API listens on port 8080.", "The API does not listen on port 8080."),
    ("Use Python 3.11", "Use Python 3.12"),
    ("Use node:20", "Use node:22"),
    ("Release v1.2.3", "Release v1.2.30"),
    ("Wait 5 s", "Wait -5 s"),
    ("Wait 5 s", "Wait 5 ms"),
    ("Needs >=5", "Needs <=5"),
    ("Retries < 5", "Retries > 5"),
    ("Retries = 5", "Retries != 5"),
    ("Tests ✅", "Tests ❌"),
    ("Cache 50%", "Cache 50"),
    ("Secrets are in .env", "Secrets are in env"),
    ("Edit src/app.py", "Edit src/api.py"),
    ("Edit src/app.py", "Edit src/App.py"),
    ("Edit *.py", "Edit .py"),
    ("Edit **/*.py", "Edit /*.py"),
    ("Pass -v", "Pass -V"),
    ("Pass -v", "Pass --v"),
    ("Set $HOME", "Set HOME"),
    ("Written in C", "Written in C++"),
    ("Call get_user", "Call getUser"),
    ("The repository is my-app", "The repository is my app"),
    ("Alice owns the deploy", "Bob owns the deploy"),
    ("The staging database is Postgres.", "The production database is Postgres."),
    ("The staging database is Postgres.", "The staging database is MySQL."),
    ("The staging database is Postgres.", "The staging database is not Postgres."),
    ("Copy from staging to production", "Copy from production to staging"),
    ("A depends on B", "B depends on A"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("You must push to main", "You may push to main"),
    ("The API listens on port 8080.", "The API should listen on port 8080"),
    ("The API must listen on port 8080.", "The API should listen on port 8080"),
    ("The API requires a token.", "Does the API require a token?"),
    ("The API requires a token.", "Does the API require a token"),
    ("The API requires a token.", "Perhaps the API requires a token."),
    ("Is Zed the editor?", "Is the editor Zed?"),
    ("Maybe use pnpm.", "Maybe use the pnpm"),
    ("We used npm", "We use npm"),
    ("The API will be removed.", "The API is removed."),
    ("The cache can be shared.", "The cache is shared."),
    ("Run tests before the build", "Run tests after the build"),
    ("Use tabs and spaces", "Use tabs or spaces"),
    ("Deploy on Friday", "Deploy on Monday"),
    ("Deploy on Friday", "Deploy by Friday"),
    ("Logs are written by nginx.", "Logs are written for nginx."),
    ("Deploy with the cache.", "Deploy without the cache."),
    ("The product is slow", "The production is slow"),
    ("The flag is on by default.", "The flag is off by default."),
    ("Use https://a.example/x", "Use https://a.example/y"),
    ("Use @scope/a", "Use @scope/b"),
    ("Deploys take 10 minutes.", "Deploys take 10 minutes on ARM."),
    ("データベースはPostgresです", "データベースはMySQLです"),
    ("...", "!!!"),
]


@pytest.mark.requirement("S1-77")
@each_row("one, other", SAME)
def test_the_same_in_other_words_that_carry_nothing_is_merged(make, now, one, other):
    records = [make(one), make(other)]
    (merge,) = SameWords().propose(Question(stage=Stage.DEDUP, now=now, records=records))
    assert isinstance(merge, Supersede)
    assert set(merge.replaced) == {record.id for record in records}


@pytest.mark.requirement("S1-77")
@each_row("one, other", NOT_THE_SAME)
def test_with_another_number_port_path_version_name_negation_or_order_both_stay(make, now, one, other):
    assert not SameWords().propose(Question(stage=Stage.DEDUP, now=now, records=[make(one), make(other)]))


@pytest.mark.requirement("S1-83")
def test_a_text_echoes_where_its_words_stand_again_and_where_it_is_evidence(make, now):
    record = make("Deploy 7 failed: Jane Doe was on call.", type=RecordType.EPISODE)
    copy = make("Deploy 7 failed: Jane Doe was on call.")
    denied = make("Deploy 7 never failed, Jane Doe was on call")
    quoting = make("Happened 3 times (deploy), most recently: Deploy 7 failed: Jane Doe was on call.")
    resting = make("Deploys need somebody on call.", type=RecordType.RULE, evidence=(record.id,))
    others = [record, copy, denied, quoting, resting, make("Deploy 8 failed: Jane Doe was on call."), make("Deploy 7")]
    echoes = find_echoes(record, others)
    assert (echoes.saying, echoes.resting) == ((copy, denied, quoting), (resting,))
    gone = redact(quoting, reason="privacy", now=now)
    assert find_echoes(record, [record, gone]) == Echoes()


@pytest.mark.requirement("S1-83")
def test_the_rule_that_quotes_an_episode_echoes_it(make, now):
    episodes = [make(f"Deploy {number} failed.", type=RecordType.EPISODE, tags=("deploy",)) for number in range(3)]
    rule = promote(episodes, signature=("deploy",), now=now).record
    assert find_echoes(episodes[2], [rule]) == Echoes(saying=(rule,))
    assert find_echoes(episodes[0], [rule]) == Echoes(resting=(rule,))
