"""Texts that a person is asked to compare: those that may say the same, not those that speak of others."""

from agent_memory_protocol.text import nearly
from agent_memory_protocol.text.nearly import is_near, may_deny

from ..each_row import each_row

OF_OTHERS = [
    (
        "In the EU, invoices are kept for ten years by billing.",
        "Billing keeps invoices for ten years in the US.",
    ),
    ("When Postgres restarts, the mail worker loses its jobs.", "The mail worker loses its jobs when Redis restarts."),
    ("In Berlin the backup is copied to tape by operators.", "The backup is copied to tape by operators in Munich."),
    ("From Kafka, the loader reads orders in batches.", "The loader reads orders in batches from RabbitMQ."),
    ("Lena owns the deploy script of the data pipeline.", "The deploy script of the data pipeline is owned by Omar."),
    ("Errors of the payment service go to the inbox.", "To the inbox go errors of the shipping service."),
    ("Before a release, Anna checks the licence list.", "The licence list is checked by Boris before a release."),
    ("On the worker hosts, port 8080 is open for checks.", "Port 9090 is open for checks on the worker hosts."),
]
"""What differs in a name or a number, in whatever order."""

MAYBE_SAME = [
    (
        "In the EU, invoices are kept for ten years by billing.",
        "Billing keeps invoices for ten years in the EU.",
    ),
    ("From Kafka, the loader reads orders in batches.", "The loader reads orders from Kafka in batches."),
    ("Lena owns the deploy script of the data pipeline.", "The deploy script of the data pipeline is owned by Lena."),
    ("Before a release, Anna checks the licence list.", "The licence list is checked by Anna before each release."),
    ("Customers in Spain see prices with tax first.", "Prices with tax are what customers in Spain see first."),
]


@each_row("pair", OF_OTHERS)
def test_texts_that_differ_in_a_name_or_number_are_not_compared(pair):
    assert not is_near(*pair)
    assert not is_near(*reversed(pair))


@each_row("pair", MAYBE_SAME)
def test_texts_that_name_the_same_in_another_order_are_compared(pair):
    assert is_near(*pair)
    assert is_near(*reversed(pair))


@each_row(
    "text, more, denies",
    [
        ("Use pnpm for all installs", "Use pnpm for all installs, not npm", False),
        ("Retry uploads three times.", "Retry uploads three times; never retry payments", False),
        ("Deploy from main only", "Deploy from main only (never from a branch)", False),
        ("Wait for the index", "Wait for the index -- do not read before", False),
        ("We deploy the shop by hand", "We deploy the shop by hand (no longer)", True),
        ("Deploys go through Jenkins", "Deploys go through Jenkins. No longer true.", True),
        ("The cache is warm after a deploy", "The cache is not warm after a deploy -- run the warmup", True),
    ],
)
def test_what_only_says_more_denies_nothing(text, more, denies):
    assert (may_deny(text, more), may_deny(more, text)) == (denies, denies)


LESSONS = [
    "Drain a node before you patch it, else open sockets are lost.",
    "Before patching a node, drain it; otherwise sockets drop.",
    "Sort sweeps by their scan time before merging; files arrive out of order.",
    "Never merge sweeps in arrival order; sort them by scan time.",
    "The archive refuses bursts of downloads; retry with backoff.",
    "Downloads need retries with backoff, since the archive refuses bursts.",
]
OTHERS = [
    "Static files are served from the edge; the purge takes a minute.",
    "After a release purge the edge by tag.",
    "The login worker caches names for ten minutes.",
    "The cart worker caches names for ten minutes.",
    "Full exploration is done, see the pagination page.",
    "Full exploration is done, see the analytics page.",
    "Figures are saved as PDF and PNG.",
    "Posters use the template of the institute.",
]


def test_one_lesson_in_other_words_is_found_by_its_rare_words_and_nothing_else():
    texts = [*LESSONS, *OTHERS]
    assert nearly.on_one_lesson(texts) == [(0, 1), (2, 3), (4, 5)]
    assert nearly.on_one_lesson(texts[::-1]) == [(8, 9), (10, 11), (12, 13)]
    assert nearly.on_one_lesson(LESSONS[:1]) == nearly.on_one_lesson([]) == []
