from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.secrets import keywords
from agent_memory_protocol.secrets.keywords import Keywords

WORDS = ("ghp_", "gho_", "sk-", "sk-ant-", "token", "--", "a.b", "x")


@given(st.lists(st.text("ghpo_sk-antex.b ", max_size=20), max_size=20))
def test_the_pattern_of_all_keywords_and_each_keyword_alone_say_the_same(texts):
    expected = [{word for word in WORDS if word in text} for text in texts]
    for rare in (False, True):
        asked = Keywords(WORDS, rare=rare)
        asked.present("z" * (keywords._PAYS + 1))  # from here on the pattern is used where they are rare
        assert [set(asked.present(text)) for text in texts] == expected


def test_a_few_short_texts_compile_no_pattern():
    asked = Keywords(WORDS, rare=True)
    assert asked.present("a token of thanks -- and more") == ["--", "token"]
    assert asked._any is None
