"""Sameness of sentences: what is left out must truly be said elsewhere, so every doubt counts as a difference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.text.claims import denials
from agent_memory_protocol.text.gist import same
from agent_memory_protocol.text.nearly import is_near
from tests.each_row import each_row

SAME, OPPOSITE, DIFFERENT = "same", "opposite", "different"


def compare(one: str, other: str) -> str:
    return SAME if same(one, other) else OPPOSITE if any(denials([one, other])) else DIFFERENT


@pytest.mark.requirement("S0-29")
@each_row(
    "one, other",
    [
        ("Use pnpm.", "use pnpm"),
        ("Use pnpm.", "Always use `pnpm`!"),
        ("Run the tests before every commit.", "Run all tests before each commit"),
        ("The user prefers tabs.", "I prefer tabs"),
        ("The harbor site blocks requests.", "Harbor sites block requests"),
        ("Document the config in the repo.", "Document the configuration in the repository."),
        ("Do not use npm.", "Never use npm"),
        ("Avoid using npm", "Don't use npm"),
        ("It isn't slow", "It is not slow"),
        ("The API listens on port 8080.", "API listens at port 8080"),
        ("Café opens", "Cafe\u0301 opens"),
        ("Never run it without tests", "never run it without the tests"),
    ],
)
def test_the_same_said_in_other_words_that_carry_nothing_is_the_same(one, other):
    assert compare(one, other) == compare(other, one) == SAME


@pytest.mark.requirement("S0-29")
@each_row(
    "one, other",
    [
        ("Use pnpm.", "Do not use pnpm."),
        ("Use pnpm.", "Never use pnpm"),
        ("Use pnpm.", "Avoid using pnpm"),
        ("Deploy with CI", "Deploy without CI"),
        ("Redis needs AOF", "Redis no longer needs AOF"),
        ("The cache is shared", "The cache isn’t shared"),
        ("It can be pushed", "It can not be pushed"),
        ("Tests must touch the network", "Tests must not touch the network"),
        ("Use tabs, not spaces", "Use spaces, not tabs"),
        ("The worker retried failed jobs.", "The worker did not retry failed jobs."),
    ],
)
def test_the_same_words_with_and_without_a_negation_are_opposite(one, other):
    assert compare(one, other) == compare(other, one) == OPPOSITE


@pytest.mark.requirement("S0-29")
@each_row(
    "one, other",
    [
        ("The API listens on port 8080.", "The API listens on port 8081."),
        ("Use Python 3.11", "Use Python 3.12"),
        ("Use node:20", "Use node:22"),
        ("Secrets are in .env", "Secrets are in env"),
        ("Edit src/app.py", "Edit src/api.py"),
        ("Edit *.py", "Edit .py"),
        ("Edit README.md", "Edit readme.md"),
        ("Pass -v", "Pass -V"),
        ("Pass -v", "Pass v"),
        ("Wait 5 s", "Wait -5 s"),
        ("Needs >=5", "Needs <=5"),
        ("Cache 50%", "Cache 50"),
        ("Written in C", "Written in C++"),
        ("Written in C", "Written in C#"),
        ("Alice owns the deploy", "Bob owns the deploy"),
        ("Use redis for sessions in the cluster", "Use memcached for sessions in the cluster"),
        ("Use redis for sessions in the cluster", "Use redis sentinel for sessions in the cluster"),
        ("Copy from staging to production", "Copy from production to staging"),
        ("A depends on B", "B depends on A"),
        ("You must push to main", "You may push to main"),
        ("We used npm", "We use npm"),
        ("Run tests before the build", "Run tests after the build"),
        ("Use tabs and spaces", "Use tabs or spaces"),
        ("Deploy on Friday", "Deploy on Monday"),
        ("The product is slow", "The production is slow"),
        ("", ""),
        ("...", "!!!"),
        ("The", "a"),
        ("Use https://a.example/x", "Use https://a.example/y"),
        ("Use @scope/a", "Use @scope/b"),
        ("Set $HOME", "Set HOME"),
    ],
)
def test_another_number_path_version_name_or_order_is_different(one, other):
    assert compare(one, other) == DIFFERENT


@given(st.text(), st.text())
def test_comparing_is_symmetric_and_never_fails(one, other):
    assert compare(one, other) == compare(other, one)
    assert compare(one, one) in (SAME, DIFFERENT)


@given(
    st.lists(st.sampled_from(["Use", "not", "never", "8080", "8081", "pnpm", "without", "no"]), min_size=1, max_size=6)
)
def test_a_number_that_differs_never_makes_two_texts_the_same(words):
    other = ["8081" if word == "8080" else "8080" if word == "8081" else word for word in words]
    if words != other:
        assert compare(" ".join(words), " ".join(other)) == DIFFERENT


@each_row(
    "said, denied",
    [
        ("Der Cache ist 4 GB groß.", "Der Cache ist nicht mehr 4 GB groß."),
        ("Der Worker braucht Redis.", "Der Worker braucht kein Redis."),
        ("Nous utilisons Redis pour les sessions.", "Nous n’utilisons plus Redis pour les sessions."),
        ("Le serveur accepte les requêtes HTTP.", "Le serveur ne accepte pas les requêtes HTTP."),
        ("Usamos Jenkins para desplegar.", "Ya no usamos Jenkins para desplegar."),
        ("Usiamo Redis per le code.", "Non usiamo più Redis per le code."),
        ("Usamos Kafka no pagamento.", "Não usamos mais Kafka no pagamento."),
        ("Мы используем Redis для очередей.", "Мы больше не используем Redis для очередей."),
        ("We gebruiken Redis voor de wachtrij.", "We gebruiken Redis niet meer voor de wachtrij."),
        ("Vi använder Redis för köer.", "Vi använder inte längre Redis för köer."),
        ("Kita memakai Redis untuk antrean.", "Kita tidak lagi memakai Redis untuk antrean."),
        ("कतार के लिए Redis का उपयोग करते हैं।", "कतार के लिए Redis का उपयोग नहीं करते हैं।"),
    ],
)
def test_a_denial_in_another_language_denies_and_is_no_other_wording(said, denied):
    assert compare(said, denied) == compare(denied, said) == OPPOSITE
    assert not is_near(said, denied)


@each_row(
    "one, other",
    [
        ("Die Frist endet im Mai.", "Die Frist endet nicht im Juni."),
        ("Use Redis plus Postgres in staging.", "Use Redis and Postgres in staging."),
        ("Deploys sind erlaubt.", "Deploys sind freitags nicht erlaubt."),
        ("Die Tests waren langsam.", "Die Tests sind nicht mehr langsam."),
        ("The non blocking reader is slow.", "The blocking writer is slow."),
    ],
)
def test_what_only_looks_like_a_denial_in_another_language_denies_nothing(one, other):
    assert compare(one, other) == compare(other, one) == DIFFERENT
