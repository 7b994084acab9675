"""JSON settings are edited as text: what is added is valid where it stands, and everything else stays as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.hosts.json_text import (
    NotJson,
    apply,
    insert,
    parse,
    remove,
    take_out,
)
from tests.each_row import each_row

VALUE = {"hooks": [{"type": "command", "command": "x"}]}

OBJECTS = [
    "{}",
    "{ }",
    "{\n}\n",
    '{"a": 1}',
    '{"a": 1,}',
    '{\n  "a": 1\n}\n',
    '{\n\t"a": [1, 2], // note, with a } and a "\n}\n',
    '{\n    "a": 1 // last\n    // and this\n}',
    '{\n  "a": {"b": {}} /* in\n  two lines */\n}\n',
    '{\r\n  "a": "\\"}, {\\u00e9"\r\n}\r\n',
    "{\n  // nothing yet\n}\n",
    '  {"a":{"b":2}}  ',
    '{"a": null, "b": -1.5e3, "c": true, "d": [[], {}]}',
]


@each_row("text", OBJECTS)
def test_a_member_is_added_and_taken_out_again_byte_for_byte(text):
    before = parse(text).value
    assert isinstance(before, dict)
    insertions = insert(text, parse(text), VALUE, "new")
    after = apply(text, insertions)
    assert parse(after).value == {**before, "new": VALUE}
    assert take_out(after, insertions) == text
    rest = iter(after)
    assert all(character in rest for character in text), "the old text is still there, in its order"


@each_row("text", OBJECTS)
def test_a_member_is_removed_wherever_it_came_from(text):
    after = apply(text, insert(text, parse(text), VALUE, "new"))
    top = parse(after)
    member = top.member("new")
    assert member is not None
    bare = remove(after, top, member)
    assert parse(bare).value == parse(text).value
    for line in ("// note", "// last", "// and this", "two lines */", "// nothing yet"):
        assert (line in bare) == (line in text)


LISTS = ["[]", "[\n]", "[1]", "[1, 2]", "[\n  1,\n  2\n]", "[\n  1, // one\n]", '[\n  {"a": 1}\n]', "[[], [1]]"]


@each_row("text", LISTS)
def test_an_item_is_added_at_the_end_of_a_list(text):
    insertions = insert(text, parse(text), VALUE)
    after = apply(text, insertions)
    before = parse(text).value
    assert isinstance(before, list)
    assert parse(after).value == [*before, VALUE]
    assert take_out(after, insertions) == text


@each_row("text", ["[1, 2, 3]", "[\n  1,\n  2,\n  3\n]\n", "[\n  1, // one\n  2, // two\n  3 // three\n]"])
@each_row("index", [0, 1, 2])
def test_any_item_of_a_list_can_be_removed(text, index):
    node = parse(text)
    assert parse(remove(text, node, node.inside[index])).value == [one for one in (1, 2, 3) if one != index + 1]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), _JSON, max_size=4), st.sampled_from([None, 1, 2, "\t"]), st.booleans())
def test_what_json_writes_is_read_and_added_to(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse(text).value == value
    insertions = insert(text, parse(text), VALUE, "a new one")
    assert json.loads(apply(text, insertions)) == {**value, "a new one": VALUE}
    assert take_out(apply(text, insertions), insertions) == text


WRONG = [
    ("", "it ends too early", 1),
    ("{", "a name in double quotes is missing", 1),
    ("{\n a: 1}", "a name in double quotes is missing", 2),
    ('{"a" 1}', "a colon is missing after a name", 1),
    ('{"a": 1 "b": 2}', "a comma or } is missing", 1),
    ("[1 2]", "a comma or ] is missing", 1),
    ("{\"a\": 'x'}", "cannot begin a value", 1),
    ('{"a": "x\n"}', "a text is not closed", 1),
    ('{"a": "\\x"}', "has a wrong escape", 1),
    ("{} {}", "something follows the end", 1),
    ("{\n\n/* x", "a comment is not closed", 3),
    ("[" * 200, "nested too deep", 1),
    ("nope", "cannot begin a value", 1),
]


@each_row("text, words, line", WRONG, ids=[words for _, words, _ in WRONG])
def test_what_is_no_json_is_refused_with_its_line(text, words, line):
    with pytest.raises(NotJson, match=words.replace("}", "\\}").replace("]", "\\]")) as caught:
        parse(text)
    assert caught.value.line == line


def test_a_text_that_was_changed_since_does_not_give_back_what_was_before():
    insertions = insert("{}", parse("{}"), 1, "a")
    assert take_out(apply("{}", insertions).replace("a", "b"), insertions) is None
    assert take_out("", insertions) is None


def test_of_two_members_with_one_name_the_last_counts():
    assert parse('{"a": 1, "a": 2}').value == {"a": 2}
