"""What a query matched is found in the text itself, whatever that is written in."""

from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.search.excerpt import best_line, excerpt
from agent_memory_protocol.search.words import places, terms
from tests.each_row import each_row


def tokens(query: str) -> set[str]:
    return {token for term in terms(query) for token in term.tokens}


MATCHES = {
    "another-ending": ("Restarts lose queues.", "queue restart", ["Restarts", "queues"]),
    "part-of-a-code-word": ("call `recall_for_agent` and `forAgent`", "agent", ["agent", "Agent"]),
    "whole-code-word": ("call `recall_for_agent`", "recallForAgent", ["recall", "agent"]),
    "joined-alike": ("the readme.md file", "read-me", ["readme"]),
    "file-name": ("see src/tiers/document.py there", "document.py", ["document", "py"]),
    "accents": ("Le CAFÉ, und größer", "cafe grosser", ["CAFÉ", "größer"]),
    "accents-that-join": ("Le cafe\u0301 noir", "cafe", ["cafe\u0301"]),
    "full-width": ("ＡＢＣ and ﬁle", "abc file", ["ＡＢＣ", "ﬁle"]),
    "Chinese": ("测试数据库在每次运行前重建", "数据库", ["数据库"]),
    "Korean": ("한국어 테스트 문장", "테스트", ["테스트"]),
    "version": ("needs 3.11.2 now", "3.11", ["3.11.2"]),
    "nothing": ("no such word", "zebra", []),
}


@each_row("text, query, found", MATCHES.values(), ids=MATCHES)
def test_what_matched_is_found_where_it_is(text, query, found):
    assert [text[start:end] for start, end in places(text, tokens(query))] == found


@given(st.text(st.sampled_from("ab é\u0301界ｗé-_.A1ﬁ한"), max_size=40), st.text(max_size=5))
def test_places_are_in_order_and_inside_the_text(text, query):
    found = places(text, tokens(query) | tokens(text[:5]))
    flat = [place for pair in found for place in pair]
    assert flat == sorted(flat)
    assert all(0 <= start < end <= len(text) for start, end in found)


def test_a_short_text_is_given_whole_and_of_a_long_one_the_part_that_matched():
    assert excerpt("One  line\n and another", {"line"}, 40) == "One line and another"
    text = f"{'word ' * 100}the Redis queue is lost {'tail ' * 100}"
    part = excerpt(text, tokens("redis queue"), 120)
    assert "the Redis queue is lost" in part
    assert part.startswith("…")
    assert part.endswith("tail…")
    assert len(part) <= 120
    assert excerpt(text, (), 40).startswith("word word")


@given(st.text(max_size=300), st.integers(60, 120))
def test_an_excerpt_is_never_longer_than_asked(text, most):
    part = excerpt(text, tokens(text[50:70]), most)
    assert len(part) <= most
    assert part.strip("…").strip() in " ".join(text.split())


def test_the_best_line_has_most_of_the_words_and_one_of_a_header_only_if_it_has_more():
    lines = ["title: redis", "", "redis", "the redis queue"]
    assert best_line(lines, tokens("redis queue")) == 3
    assert best_line(lines, tokens("redis")) == 0
    assert best_line(lines, tokens("redis"), start=1) == 2
    assert best_line(lines, tokens("title redis"), start=1) == 0
    assert best_line(lines, tokens("zebra")) is None
    assert best_line(lines, ()) is None
