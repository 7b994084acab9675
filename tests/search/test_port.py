import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_memory_protocol.search.port import LEAST_FIT, Hit, Passage, SearchIndex, Source, fits, source_of
from agent_memory_protocol.search.words import places
from tests.each_row import each_row


def one(key: str, text: str, context: str = "") -> Source:
    return source_of(key, Passage(key, text, context))


def found(index: SearchIndex, query: str, **options: object) -> list[str]:
    return [hit.key for hit in index.search(query, **options)]  # type: ignore[arg-type]


FACTS = {
    "staging": "The staging database is Postgres.",
    "redis": "Redis needs AOF on, or the queue is lost at every restart.",
    "ports": "Service s7 listens on port 1007.",
    "other-port": "Service s17 listens on port 1017.",
    "code": "Call recall_for_agent() before `Workspace.open`; see src/tiers/document.py.",
    "accents": "Die Größe des Puffers wird beim Café-Dienst in Zürich geprüft.",
    "chinese": "重启之后队列会丢失,除非打开持久化",
    "japanese": "設定ファイルは毎回読み直される",
    "korean": "설정 파일은 저장소 루트에서만 찾는다",
    "version": "Python 3.11.2 is the oldest that works.",
    "migrations": "Run the migrations before the tests.",
}


@pytest.fixture
def filled(index):
    index.refresh([one(key, text) for key, text in FACTS.items()])
    return index


@pytest.mark.requirement("S1-16")
@each_row(
    "query, key",
    [
        ("staging database", "staging"),
        ("what is the STAGING database?", "staging"),
        ("databases", "staging"),
        ("migrating", "migrations"),
        ("data base", "staging"),
        ("post gres", "staging"),
        ("re start", "redis"),
        ("stagingdatabase", "staging"),
        ("recallForAgent", "code"),
        ("recall-for-agent", "code"),
        ("workspace open", "code"),
        ("tiers/document.py", "code"),
        ("document", "code"),
        ("grösse", "accents"),
        ("GROSSE", "accents"),
        ("cafe", "accents"),
        ("zurich", "accents"),
        ("队列", "chinese"),
        ("持久化", "chinese"),
        ("丢", "chinese"),
        ("ファイル", "japanese"),
        ("\uff8c\uff67\uff72\uff99", "japanese"),
        ("저장소", "korean"),
        ("s7", "ports"),
        ("port 1017", "other-port"),
        ("python 3.11", "version"),
        ("python3.11.2", "version"),
    ],
)
def test_a_query_finds_the_fact_it_means_first(filled, query, key):
    assert found(filled, query)[0] == key


@each_row("query", ["1008", "s71", "kubernetes", "11", "库", "", " ", "***", "\0", "\ud800"])
def test_what_stands_nowhere_is_not_found(filled, query):
    assert filled.search(query) == []


@each_row("query", ["databse", "databasee", "datebase", "dtaabase", "satging"])
def test_one_slip_in_a_word_is_mended_and_said(filled, query):
    (hit,) = filled.search(query)
    assert hit.key == "staging"
    assert f"(for {query})" in hit.reasons[0]


@each_row("query", ["dtabse", "databank", "1006", "s8", "aofs1"])
def test_more_than_a_slip_is_another_word(filled, query):
    assert found(filled, query) == []


def test_a_word_that_stands_somewhere_is_no_slip(index):
    index.refresh([one("a", "The port is open."), one("b", "The part is sold.")])
    assert found(index, "port") == ["a"]


def test_every_hit_says_why(index):
    index.refresh([one("a", "It is Postgres.", "Staging database"), one("b", "Staging is down.", "Staging")])
    assert {hit.key: hit.reasons for hit in index.search("staging Postgres")} == {
        "a": ("words: Postgres", "context: staging"),
        "b": ("words: staging",),
    }


def test_a_word_in_the_text_counts_more_than_around_it(index):
    index.refresh([one("a", "Something else entirely.", "redis"), one("b", "redis something else.", "entirely")])
    assert found(index, "redis") == ["b", "a"]


@pytest.mark.requirement("S1-68")
def test_equal_hits_come_in_order_of_source_and_key(index):
    both = [Passage("2", "same"), Passage("1", "same")]
    index.refresh([source_of("b", *both), source_of("a", *both)])
    assert [(hit.source, hit.key, hit.score) for hit in index.search("same")] == [
        ("a", "1", 1.0),
        ("a", "2", 1.0),
        ("b", "1", 1.0),
        ("b", "2", 1.0),
    ]


@pytest.mark.requirement("S1-68")
def test_what_has_more_of_the_words_comes_first_and_what_has_none_not_at_all(filled):
    hits = filled.search("service port 1007")
    assert [hit.key for hit in hits] == ["ports", "other-port"]
    assert hits[0].score == 1.0 > hits[1].score > 0


def test_stop_words_are_searched_for_where_a_query_has_no_others(index):
    index.refresh([one("a", "To be or not to be."), one("b", "Redis.")])
    assert found(index, "to be or not to be") == ["a"]
    assert found(index, "to be redis") == ["b"]


def test_no_more_hits_than_wanted(filled):
    assert len(filled.search("service port", limit=1)) == 1
    assert filled.search("service port", limit=0) == []
    assert filled.search("service port", limit=-1) == []


def test_only_sources_that_may_be_read_are_answered_from(filled):
    assert found(filled, "service port", within=["ports", "unknown"]) == ["ports"]
    assert found(filled, "service port", within=[]) == []


def test_a_slip_is_not_taken_for_a_word_of_a_source_that_may_not_be_read(index):
    index.refresh([one("mine", "The database."), one("theirs", "The databose databse.")])
    assert found(index, "databse", within=["mine"]) == ["mine"]


HIDDEN = "The worktree, worktrees, databose, databse, authentication, timeoutx, Lens and Datenbankverbindung of others."


@each_row("query", ["worktree", "databse", "athentcation", "timeout", "Lena", "Datenbank", "daatbase", "Verbindung"])
def test_what_may_not_be_read_changes_nothing_in_an_answer(index, query):
    mine = [one("tree", "A work tree is removed."), one("data", "The database has no time out."), one("c", "Leno.")]
    index.refresh(mine)
    alone = [(hit.key, hit.reasons, hit.meant) for hit in index.search(query)]
    index.refresh([one("theirs", HIDDEN)], gone=())
    within = index.search(query, within=["tree", "data", "c"])
    assert [(hit.key, hit.reasons, hit.meant) for hit in within] == alone


def test_what_is_gone_changes_nothing_in_an_answer(index):
    mine = one("tree", "A work tree is removed.")
    index.refresh([mine, one("gone", HIDDEN)])
    index.refresh([mine])
    assert found(index, "worktree") == ["tree"]


@each_row("query, fit", [("Marta", False), ("Maira", True)])
def test_a_word_that_few_mistype_so_is_found_and_said_but_does_not_fit(index, query, fit):
    index.refresh([one("a", "Maria lives in Bern."), one("b", "The tea is green.")])
    (hit,) = index.search(query)
    assert hit.meant
    assert fits([hit]) is fit


@each_row("query, keys", [("worktree", "abc"), ("work tree", "abcd"), ("work-tree", "abcd"), ("worktrees", "abc")])
def test_two_words_are_found_as_one_and_one_as_two_where_they_follow_each_other(index, query, keys):
    texts = {
        "a": "Each agent has a worktree.",
        "b": "Each has a work tree of its own.",
        "c": "The work-tree goes.",
        "d": "A tree at work.",
    }
    index.refresh([one(key, text) for key, text in texts.items()])
    hits = index.search(query)
    assert "".join(sorted(hit.key for hit in hits)) == keys
    assert all(places(texts[hit.key], hit.tokens) for hit in hits)


def test_a_word_is_not_cut_into_two_that_are_nowhere_together(index):
    index.refresh([one("a", "A pass for the port."), one("b", "Com is plain.")])
    assert index.search("passport") == index.search("complain") == []


def test_after_a_refresh_nothing_stale_is_found(filled):
    changed = {"staging": "The staging store is SQLite.", "new": "A new database."}
    assert filled.refresh([one(key, text) for key, text in changed.items()]) == len(FACTS) + 1
    assert found(filled, "database") == ["new"]
    assert found(filled, "redis") == []
    assert filled.refresh([one(key, text) for key, text in changed.items()]) == 0


def test_an_update_leaves_other_sources_alone(filled):
    assert filled.refresh([one("staging", "Moved to SQLite.")], gone=["redis", "unknown"]) == 2
    assert found(filled, "sqlite") == ["staging"]
    assert found(filled, "postgres") == found(filled, "redis") == []
    assert found(filled, "s17") == ["other-port"]


def test_only_what_has_another_fingerprint_is_read(index):
    def unread(_: str) -> list[Passage]:
        raise AssertionError

    index.refresh([Source("a", "1", lambda _: [Passage("x", "one word")])])
    assert index.refresh([Source("a", "1", unread)]) == 0
    assert index.refresh([Source("a", "2", lambda _: [Passage("y", "another word")])]) == 1
    assert index.search("word") == [Hit("a", "y", 1.0, ("words: word",), ("word",))]


def test_where_a_source_cannot_be_read_the_index_stays_as_it_was(filled):
    def broken(_: str) -> list[Passage]:
        raise OSError("unreadable")

    before = filled.search("service port")
    with pytest.raises(OSError, match="unreadable"):
        filled.refresh([one("new", "service port"), Source("broken", "1", broken)])
    assert filled.search("service port") == before


def test_the_fingerprint_of_passages_tells_texts_from_context_and_neighbours():
    sources = [
        source_of("a", Passage("k", "ab", "c")),
        source_of("a", Passage("k", "a", "bc")),
        source_of("a", Passage("ka", "b", "c")),
        source_of("a", Passage("k", "ab"), Passage("c", "")),
        source_of("a"),
    ]
    assert len({source.fingerprint for source in sources}) == len(sources)


anything = st.text(st.characters(), max_size=30)
SYNTAX = [
    '"',
    '""',
    'a" OR b',
    "text:a",
    "a*",
    "^a",
    "-a",
    "NEAR(a b)",
    "a AND",
    "(",
    "%",
    "_",
    "'; DROP TABLE x",
    "\\",
]


@pytest.mark.requirement("S1-67")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=anything | st.sampled_from(SYNTAX))
def test_any_text_is_a_query_and_finds_itself(index, text):
    index.refresh([one("itself", text), one("other", "something else")])
    hits = index.search(text)
    assert hits == [] or "itself" in {hit.key for hit in hits}
    assert bool(hits) >= any(character.isascii() and character.isalnum() for character in text)


def test_of_two_alike_the_one_that_stands_beside_more_of_the_words_comes_first(index):
    index.refresh(
        [
            source_of("a", Passage("1", "Lunch is at noon."), Passage("2", "The queue is long.")),
            source_of("b", Passage("1", "Redis needs AOF."), Passage("2", "The queue is long.")),
            source_of(
                "c", Passage("1", "Redis needs AOF."), Passage("x", "Lunch."), Passage("2", "The queue is long.")
            ),
        ]
    )
    assert [(hit.source, hit.key) for hit in index.search("redis queue") if hit.key == "2"] == [
        ("b", "2"),
        ("c", "2"),
        ("a", "2"),
    ]


def test_what_stands_beside_a_word_and_has_none_itself_is_no_hit(index):
    index.refresh([source_of("a", Passage("1", "Redis needs AOF."), Passage("2", "The tea is green."))])
    assert found(index, "redis") == ["1"]


def test_no_passage_of_another_source_is_a_neighbour(index):
    index.refresh([one("a", "Redis needs AOF."), one("b", "The queue is long."), one("c", "The queue is long.")])
    scores = {hit.source: hit.score for hit in index.search("redis queue")}
    assert scores["b"] == scores["c"]


@pytest.mark.slow
@each_row("query", ["8 March 2026", "Mar 8th, 2026", "2026-03-08", "8.3.2026", "on the 8th of March"])
@each_row("text", ["2026-03-08: shipped.", "Shipped on 8.3.2026.", "Shipped on March 8, 2026."])
def test_a_date_is_found_in_any_spelling_and_another_one_is_not(index, query, text):
    index.refresh([one("a", text), one("b", "Shipped on 2025-04-09.")])
    assert found(index, query) == ["a"]


@each_row("query", ["staging database", "where is the queue lost", "s7", "数据", "队列会丢失"])
def test_what_has_the_words_of_a_query_fits_it(filled, query):
    assert all(hit.fit >= LEAST_FIT for hit in filled.search(query, limit=1))


@each_row(
    "query",
    ["which hotel in Lisbon has a restart button", "the oldest horse that grandmother rode in Vienna"],
)
def test_what_shares_one_word_of_many_does_not_fit(filled, query):
    hits = filled.search(query)
    assert hits
    assert all(0 < hit.fit < LEAST_FIT for hit in hits)


def test_how_well_a_hit_fits_does_not_depend_on_what_else_is_found(index):
    index.refresh([one("a", "The staging database is Postgres."), one("b", "The tea is green.")])
    (alone,) = index.search("staging cluster")
    index.refresh([one("c", "The staging cluster is small."), one("d", "The cluster is big.")], gone=())
    (first, *_, last) = index.search("staging cluster")
    assert (first.source, first.score) == ("c", 1.0)
    assert last.score < 1.0 == alone.score
    assert first.fit > last.fit
    assert abs(alone.fit - last.fit) < 0.4


TALK = [
    "Ada: How was your summer?",
    "Ben: Fine. Ada has a new boat, I hear, and sails it well.",
    "Ada: I sail it every weekend, and my brother helps.",
    "Ben: Lovely weather for it.",
    "Ada: The boat needs paint.",
    "Ben: I paint boats for a living, I sail little.",
]


@pytest.mark.parametrize("shape", ["{}: ", "- {}: ", "- **{}:** ", "- [2026-03-08] {}: "])
def test_what_a_named_speaker_says_comes_before_what_others_say_of_it(index, shape):
    said = [shape.format(who) + what for who, _, what in (turn.partition(": ") for turn in TALK)]
    index.refresh([source_of("talk", *(Passage(str(number), turn) for number, turn in enumerate(said)))])
    assert found(index, "how often does Ada sail?", limit=1) == ["2"]
    assert found(index, "does Ben sail?", limit=1) == ["5"]


WAITING = [
    "Ada: Which city did the choir sing in?",
    "Ben: Wait, the kettle.",
    "Ada: Take your time.",
    "Ben: Bern.",
    *(f"{who}: {what}" for _ in range(3) for who, what in (("Ada", "Green tea is best."), ("Ben", "Yes, it is."))),
]


@each_row("query, reach", [("which city", 6), ("choir", 6)])
def test_in_talk_an_answer_some_turns_after_its_question_is_found_though_it_has_no_word_of_it(index, query, reach):
    index.refresh([source_of("talk", *(Passage(f"{place:02}", turn) for place, turn in enumerate(WAITING)))])
    hits = index.search(query)
    assert [hit.key for hit in hits] == [f"{place:02}" for place in range(reach + 1)]
    assert fits(hits)
    assert all(hit.reasons[0].startswith("beside it: ") and not hit.tokens for hit in hits[1:])


@each_row(
    "texts",
    [
        [turn.partition(": ")[2] for turn in WAITING],
        [turn.replace("Ada:", "Ben:") for turn in WAITING],
        [*WAITING, *(f"Fact {number} is long." for number in range(12))],
    ],
)
def test_what_is_no_dialogue_of_several_is_found_by_its_own_words_alone(index, texts):
    index.refresh([source_of("list", *(Passage(str(number), text) for number, text in enumerate(texts)))])
    assert found(index, "choir") == ["0"]


def test_talk_that_may_not_be_read_is_not_found_by_what_stands_beside_it(index):
    talk = [Passage(f"{place:02}", turn) for place, turn in enumerate(WAITING)]
    index.refresh([source_of("mine", *talk), source_of("theirs", *talk)])
    assert {hit.source for hit in index.search("choir", within=["mine"])} == {"mine"}


@pytest.mark.parametrize("query", ["Datenbank", "Verbindung zur Datenbank", "die Verbindung"])
def test_a_word_that_is_nowhere_alone_is_found_inside_longer_ones(index, query):
    texts = ("The cache is warm.", "Die Datenbankverbindung bleibt offen.", "Bind to all.")
    index.refresh([source_of("a", *(Passage(str(place), text) for place, text in enumerate(texts)))])
    (hit,) = [hit for hit in index.search(query) if hit.tokens]
    assert (hit.key, hit.meant) == ("1", ())


def test_a_word_before_a_colon_that_few_entries_begin_with_is_no_speaker(index):
    notes = ["Queue: the broker drops it.", "The queue of the broker is durable.", "Tea: green."]
    index.refresh([source_of("notes", *(Passage(str(number), text) for number, text in enumerate(notes)))])
    first, second = index.search("queue broker")
    assert abs(first.score - second.score) < 0.1


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("who bought the licence?", "We buy the licence in May."),
        ("buy licence", "Ada bought the licence."),
        ("2 replicas", "It runs on two replicas."),
        ("which child process", "All children are stopped."),
    ],
)
def test_a_form_that_no_ending_tells_is_found_and_shown(index, query, text):
    index.refresh([one("a", text), one("b", "The tea is green.")])
    (hit,) = index.search(query)
    assert hit.key == "a"
    assert any(places(text, [token]) for token in hit.tokens)


def test_a_word_itself_comes_before_another_form_of_it(index):
    index.refresh([one("a", "They bought seven."), one("b", "They buy seven.")])
    assert found(index, "buy") == ["b", "a"]
    assert found(index, "bought") == ["a", "b"]


def test_a_little_word_is_no_form_of_a_verb(index):
    index.refresh([one("a", "It is at noon, on Monday."), one("b", "They eat."), one("c", "Number 1.")])
    assert found(index, "eaten") == ["b"]
    assert found(index, "1") == ["c"]
