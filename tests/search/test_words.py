from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.search.words import LONGEST, MOST_TERMS, read, terms
from tests.each_row import each_row


def tokens(text: str) -> list[str]:
    return [token for _, token in read(text)]


@each_row(
    "text, found",
    [
        ("recall_for_agent", "recal for agent recallforag"),
        ("recallForAgent", "recal for agent recallforag"),
        ("RECALL-FOR-AGENT", "recal for agent recallforag"),
        ("HTTPServer", "http server httpserver"),
        ("S3Bucket", "s3 bucket s3bucket"),
        ("OAuth2", "o auth2 oauth2"),
        ("src/tiers/document.py", "src tier document py documentpi"),
        ("x86_64", "x86 64 x8664"),
        ("utf8", "utf8"),
        ("2026-02-15", "2026 februari 15 20260215"),
        ("15.2.2026, Feb 15th", "2026 februari 15 20260215 februari 15"),
        ("2026-02-15T10:00", "2026 februari 15 20260215 10 0"),
        ("2026-02", "2026 februari"),
        ("2026-13-45", "2026 13 45 20261345"),
        ("4.13.2026", "4.13 4.13.2026"),
        ("v1.2.3", "1.2 1.2.3"),
        ("python3.11", "python 3.11"),
        ("sqlite-3.40.1", "sqlite 3.40 3.40.1 sqlite3401"),
        ("10.0.0.5", "10.0 10.0.0 10.0.0.5"),
        ("port:8080", "port 8080"),
        ("C++, C# and c", "c++ c# and c"),
        ("--dry-run", "dry run dryrun"),
        ("don't, the user's", "dont the user"),
        ("don’t", "dont"),
        ("Größe ÆRØ Łódź İzmir straße", "gross aero lodz izmir strass"),
        ("\ufb01le \uff21\uff22\uff11", "file ab1"),
        ("Cafe\u0301", "cafe"),
        ("数据库", "数 据 库 数据 据库"),
        ("用Redis存", "用 redi 存"),
        ("हिन्दी", "हिन्दी"),
        ("كِتَاب", "كتاب"),
        ("___ -- '' \0 \ud800", ""),
    ],
)
def test_what_a_text_is_found_by(text, found):
    assert tokens(text) == found.split()


@each_row(
    "query, asked",
    [
        ("How does recall_for_agent work?", "recal agent recallforag work"),
        ("数据库", "数据 据库"),
        ("库", "库"),
        ("3.11.2", "3.11.2"),
        ("Python3.11", "python 3.11"),
        ("test tests testing", "test"),
        ("what is it", "what is it"),
        ("How many people must go on the 8th of May?", "peopl go 8 mai"),
        ("May I push?", "push"),
        ("how much", "how much"),
        ("much work", "much work"),
        ("?!", ""),
    ],
)
def test_what_a_query_asks_for(query, asked):
    assert [token for term in terms(query) for token in term.tokens] == asked.split()


def test_a_term_shows_what_was_written():
    assert [(term.shown, term.spelling) for term in terms("Databases in recall_v2")] == [
        ("Databases", "databases"),
        ("recall_v2", "recall"),
        ("recall_v2", ""),
        ("recall_v2", ""),
    ]


def test_slips_are_expected_in_words_only():
    text = "The s7 GitHub recall_v2, 数据库, 3.11 Größe"
    assert [spelling for spelling, _ in read(text) if spelling] == ["the", "git", "hub", "github", "recall", "grosse"]


def test_a_page_is_a_query_of_its_first_words_and_a_blob_is_its_beginning():
    assert len(terms(" ".join(f"word{number}" for number in range(1000)))) == MOST_TERMS
    assert tokens("a" * 1000) == ["a" * LONGEST]
    assert tokens("x" * 100 + "-" + "z" * 100) == ["x" * LONGEST, "z" * LONGEST, "x" * LONGEST]


@given(st.text(st.characters(max_codepoint=127)))
def test_words_in_ascii_are_the_same_in_a_text_that_is_not(text):
    assert tokens(f"{text} 库") == [*tokens(text), "库"]


@given(st.text())
def test_tokens_are_lower_case_and_need_no_quotes(text):
    for token in tokens(text):
        assert token
        assert len(token) <= LONGEST
        assert not set(token) & set(" \t\n\"'*()-:^")
        assert token == token.casefold()
        token.encode()


@given(st.text())
def test_a_text_is_found_by_all_that_it_asks_for(text):
    assert {token for term in terms(text) for token in term.tokens} <= set(tokens(text))
