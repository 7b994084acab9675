"""What a search for secrets costs: linear time on whatever is made to be slow, and next to nothing on clean text."""

import re
import time
from collections.abc import Callable
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from agent_memory_protocol.secrets.find import expression, find_secrets
from agent_memory_protocol.secrets.table import FAMILIES

CLEAN = "- [2026-01-31] The queue is drained before a deploy; see docs/deploy.md#drain, tests/test_queue.py and #412.\n"


def seconds(text: str, tries: int = 1, search: Callable[[str], object] = find_secrets) -> float:
    best = 1e9
    for _ in range(tries):
        start = time.process_time()
        search(text)
        best = min(best, time.process_time() - start)
    return best


def grows_linearly(pump: str, size: int, search: Callable[[str], object] = find_secrets) -> bool:
    """Compare a text with one four times as long: linear work takes four times as long, quadratic work sixteen."""
    short, long = ((pump * (length // len(pump) + 1))[:length] for length in (size, 4 * size))
    # Another process may take the processor's caches away, so a failure must repeat itself.
    return any(seconds(long, search=search) < 8 * max(seconds(short, search=search), 0.000_5) for _ in range(20))


def test_a_search_that_is_quadratic_is_recognised():
    slow = re.compile("a[^b]*b")
    assert not grows_linearly("a", 1_500, slow.search)
    assert grows_linearly("ab", 1_500, slow.search)


PUMPS = {
    "letters": "a",
    "capitals": "A",
    "digits": "1",
    "hexadecimal": "0123456789abcdef",
    "mixed": "aB3-_",
    "base64": "aB3+/=",
    "blanks": " ",
    "lines": "\n",
    "one letter a line": "a\n",
    "halves of words": "aaaaaaaaaaaaaaaaaaaa\n",
    "bullets": "- a\n",
    "assignments": "password=",
    "spaced assignments": "password = ",
    "named again": "password password ",
    "said": "the password is the password is ",
    "whose": "password for a b c d e f ",
    "whose long": "password for " + "x" * 39 + " ",
    "keys": "api_key: ",
    "tokens": 'token: "',
    "secrets": "secret secret_key secret-key-id ",
    "quotes": "'\"`",
    "quoted names": '"password": \'',
    "nested quotes": "password='\"`",
    "addresses": "a@",
    "URLs": "a://b:c@",
    "open URLs": "a://b:",
    "headers": "-----BEGIN ",
    "key headers": "-----BEGIN RSA PRIVATE KEY-----",
    "key headers and a body": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n",
    "dashes": "-",
    "web tokens": "eyJaaaaaaaa.",
    "dots": "a.",
    "bearers": "Authorization: Bearer ",
    "connections": "Server=a;Password=",
    "machines": "machine a login b password ",
    "seeds": "seed phrase: abandon ability able about ",
    "words": "abandon ability able about above ",
    "cards": "card 4539 1488 0343 ",
    "accounts": "account DE89 3704 0044 0532 0130 ",
    "backslashes": "\\",
    "continued lines": "a\\\n",
    "escapes": "\\_",
    "zero width": "a\u200b",
    "full width": "ｐａｓｓｗｏｒｄ＝",
    "ellipses": "…",
    "Han characters": "密码是",
    "logins": "login: a / ",
    "command lines": "mysql -u a -pb curl -u c:d ",
    "vendors": "datadog heroku cloudflare key twilio paypal ",
    "signatures": "&sig=",
    "webhooks": "https://hooks.slack.com/services/",
}


@pytest.mark.parametrize("pump", PUMPS.values(), ids=PUMPS)
def test_four_times_the_text_takes_about_four_times_as_long(pump):
    assert grows_linearly(pump, 6_000)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.id)
def test_no_family_can_be_made_slow_by_its_own_keywords(family):
    for keyword in family.keywords:
        for filling in ("", " ", "a", "=", "0123456789abcdef" * 4, "aB3_" * 2_000, ' = "'):
            assert grows_linearly(keyword + filling, 1_500), (keyword, filling)


def most_steps(pattern: object) -> float:
    """Bound the ways to try a pattern from one place: repetitions in a row add up, nested ones multiply."""
    steps = 1.0
    for code, argument in pattern:  # type: ignore[attr-defined]
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            assert argument[1] is not codes.MAXREPEAT, "an unbounded repetition"
            steps += argument[1] * most_steps(argument[2])
        elif code is codes.SUBPATTERN:
            steps += most_steps(argument[3])
        elif code is codes.BRANCH:
            steps += sum(map(most_steps, argument[1]))
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            steps += most_steps(argument[1])
    return steps


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.id)
def test_every_repetition_of_a_pattern_has_an_end(family):
    # Keys and web tokens are long, and nothing in them overlaps what may follow.
    assert most_steps(parser.parse(expression(family).pattern)) < (
        40_000 if family.id in ("private-key", "jwt") else 5_000
    )


def test_a_clean_page_of_memory_is_searched_in_about_a_millisecond():
    page = (CLEAN * 250)[:25_600]
    find_secrets(page)
    took = seconds(page, tries=50)
    print(f"{took * 1000:.2f} ms for {len(page):,} characters")
    assert took < 0.01  # a slow machine, and others at work on it


def test_a_sentence_is_searched_in_no_time():
    find_secrets(CLEAN)
    took = seconds(CLEAN, tries=50)
    print(f"{took * 1000:.3f} ms for {len(CLEAN)} characters")
    assert took < 0.002


def test_every_pattern_compiles_without_a_warning():
    for family in FAMILIES:
        assert isinstance(expression(family), re.Pattern)
