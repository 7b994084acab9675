"""What a short query is the name of comes before what only mentions it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.search.keyword import KeywordIndex
from agent_memory_protocol.search.names import besides, called
from agent_memory_protocol.search.numbered import numbered
from agent_memory_protocol.search.port import Passage, source_of
from agent_memory_protocol.search.scan import ScanIndex
from tests.each_row import each_row

ENTRIES = {
    "phase": "- Phase 2: basket and payment, with two people.",
    "phase mentioned": "- Phase 3 starts when phase 2 is done; phase 2 must not be changed, see phase 2.",
    "people": "- 2 people left before the next phase.",
    "issue": "- #1234: totals were rounded twice.",
    "issue mentioned": "- #1240 is like #1234, but for vouchers; #1234 came first.",
    "article": "- Article 1234 is sold out, and 1234 letters were sent.",
    "post": "- `POST /login` takes mail and password and answers with a cookie.",
    "get": "- `GET /login` shows the form; the post of the login is another page, login by post.",
    "decision": "- ADR-007: we keep money as integers.",
    "decision mentioned": "- See ADR-007 before totals, and ADR-012; ADR-007 is short.",
    "auth": "- User auth: a session for people, a token for machines.",
    "user": "- A user wrote; auth was not touched.",
    "node": "- Node 20 runs the web tier.",
    "nodes": "- 20 nodes of the cluster are for the load test.",
    "pull": "- PR #88 split the importer.",
    "pictures": "- 88 articles have no picture, 88 others have two.",
    "settings": "- `.env` holds the local settings.",
    "environment": "- Settings of an env are read once, each env by itself.",
    "database": "- Postgres 16 holds the orders.",
    "memory": "- The old Postgres server had 16 GB.",
    "version": "- v2.3 brought the basket.",
    "version mentioned": "- The release before v2.3 had a fault, see v2.3.",
}

NOTES = {"rate-limits": "100 a minute for people.", "user_guide": "How to sign in."}


@pytest.mark.parametrize("index", [KeywordIndex, ScanIndex])
@each_row(
    "query, first",
    [
        *((query, "phase") for query in ("phase 2", "Phase2", "phase_2.md", "PHASE-2", "phase 02")),
        *((query, "issue") for query in ("#1234", "issue 1234", "bug #1234")),
        *((query, "post") for query in ("POST /login", "post login", "/POST/login")),
        *((query, "decision") for query in ("adr7", "ADR-007", "adr 7", "Adr007")),
        *((query, "auth") for query in ("user auth", "UserAuth", "user_auth", "userauth")),
        *((query, "node") for query in ("node 20", "node20", "Node-20")),
        *((query, "pull") for query in ("#88", "PR 88", "pr #88")),
        *((query, "settings") for query in (".env",)),
        *((query, "database") for query in ("postgres16", "Postgres 16")),
        *((query, "version") for query in ("v2.3", "2.3")),
        ("rate limits", "rate-limits"),
        ("ratelimits", "rate-limits"),
        ("user guide", "user_guide"),
        ("load test", "nodes"),
    ],
)
def test_what_is_called_so_comes_first(index, query, first):
    made = index()
    notes = (source_of(name, Passage(name, text, name)) for name, text in NOTES.items())
    made.refresh([source_of("all", *(Passage(name, text) for name, text in ENTRIES.items())), *notes])
    assert made.search(query)[0].key == first


@each_row(
    "one, other, is_same",
    [
        ("ADR-007", "adr7", True),
        ("Größe", "GROSSE", True),
        ("#88", "88", False),
        ("PR #88", "pr-88", True),
        ("v2.3", "2.3", True),
        ("C++", "C", False),
        ("C#", "C", False),
        ("phase 2", "phase 20", False),
        ("phase 2", "phase 3", False),
        ("2.03", "2.3", False),
    ],
)
def test_names_are_the_same_however_they_are_joined(one, other, is_same):
    assert (besides(one)[-1] == besides(other)[-1]) is is_same


@each_row(
    "text, found",
    [
        ("Node 20 and Python 3.11.2", ["node20", "python3.11", "python3.11.2"]),
        ("PR #88, #1234", ["pr88", "88#", "1234#"]),
        ("on March 8 and May 2026", []),
        ("a `.env` beside x.env and ../src", [".env"]),
        ("color #fff, &#39; and a#1", []),
        ("port\n80", []),
    ],
)
def test_a_number_belongs_to_the_word_before_it(text, found):
    assert numbered(text) == found


def test_a_long_query_is_no_name():
    assert besides("which of the two people is it who wrote the basket") == ()


@given(st.text(), st.text())
def test_any_text_is_read_and_its_marks_are_tokens(text, context):
    for token in [*called(text, context), *numbered(text), *besides(text)]:
        assert token
        assert not set(token) & set(" \t\n\"'")
