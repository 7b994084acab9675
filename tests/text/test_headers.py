"""What front matter is, and what is read from it."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.limits import split_lines
from agent_memory_protocol.text.headers import Header, _scalar, front_matter_end, split_header
from tests.each_row import each_row


def header_of(*lines: str) -> Header:
    header = split_header("\n".join(["---", *lines, "---", "", "# Body", ""]))
    assert header is not None
    return header


@each_row(
    "lines, end",
    [
        pytest.param(["---", "name: a", "---", "text"], 3, id="one-key"),
        pytest.param(["---", "", "# about", "name: a", "---"], 5, id="comment-and-blank-first"),
        pytest.param(["---", "---"], 2, id="empty"),
        pytest.param(["--- ", "name: a", "---\t"], 3, id="blanks-after-the-dashes"),
        pytest.param(["---", "name: a", "no key at all", "---"], 4, id="odd-line-after-a-key"),
        pytest.param(["---", "name:", "---"], 3, id="key-without-value"),
    ],
)
def test_front_matter_is_recognised(lines, end):
    assert front_matter_end(lines) == end
    assert split_header("\n".join(lines)) is not None


@each_row(
    "lines",
    [
        pytest.param([], id="nothing"),
        pytest.param(["# Title", "---", "name: a", "---"], id="not-on-the-first-line"),
        pytest.param(["---", "name: a"], id="never-closed"),
        pytest.param(["----", "name: a", "---"], id="four-dashes"),
        pytest.param([" ---", "name: a", "---"], id="indented"),
        pytest.param(["---", "- [2026-01-01] a fact: kept", "---"], id="rules-around-a-list"),
        pytest.param(["---", "# Shared Knowledge", "", "A sentence.", "---"], id="rules-around-a-document"),
        pytest.param(["---", "# Shared Knowledge", "---"], id="rules-around-a-title"),
        pytest.param(["---", "name: a", "...", "text"], id="closed-by-dots"),
    ],
)
def test_what_is_no_front_matter_stays_text(lines):
    assert front_matter_end(lines) == 0
    assert split_header("\n".join(lines)) is None


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_every_line_ending_gives_the_same_header(ending):
    header = split_header(ending.join(["---", "name: a", "metadata:", "  type: user", "---", "text"]))
    assert header is not None
    assert (header.get("name"), header.get("metadata", "type"), header.lines) == ("a", "user", 5)


@each_row(
    "written, value",
    [
        ("plain", "plain"),
        ("2026-03-15", "2026-03-15"),
        ("no", "no"),
        ("0x10", "0x10"),
        ("a: b", "a: b"),
        ("http://example.org/x", "http://example.org/x"),
        ("text # a comment", "text"),
        ("C# and F#", "C# and F#"),
        ("# only a comment", ""),
        ("", ""),
        ('"in: quotes # too"', "in: quotes # too"),
        ('"a \\"b\\" \\\\ \\n \\u00e9 \\x41"', 'a "b" \\ \n é A'),
        ('"\\ud800 \\q"', "\ufffd q"),
        ("'it''s'  # a comment", "it's"),
        ('"fla" is short for "fiat"', '"fla" is short for "fiat"'),
        ('"never closed', '"never closed'),
        ("`_ = pkg.Fn` is fine", "`_ = pkg.Fn` is fine"),
        ("don't", "don't"),
        ("[a, b] and more", "[a, b] and more"),
        ("no\u00a0break\u00a0", "no\u00a0break\u00a0"),
    ],
)
def test_a_value_is_the_text_that_was_written(written, value):
    assert header_of(f"key: {written}").get("key") == value


@each_row(
    "lines, items",
    [
        pytest.param(["tools: [Read, Write]"], ["Read", "Write"], id="in-line"),
        pytest.param(["tools: []"], [], id="empty"),
        pytest.param(["tools: [a, 'b, c', \"d ] e\", it's]  # why"], ["a", "b, c", "d ] e", "it's"], id="quotes"),
        pytest.param(["tools: [", "  Read,", "  Write  # both", "]"], ["Read", "Write"], id="over-lines"),
        pytest.param(["tools:", "  - Read", "  - 'Write'  # why"], ["Read", "Write"], id="indented"),
        pytest.param(["tools:  # these", "- Read", "", "# and", "- Write"], ["Read", "Write"], id="unindented"),
        pytest.param(["tools:", "  - Read and", "    more"], ["Read and more"], id="item-over-lines"),
        pytest.param(["tools: Read, Write"], ["Read, Write"], id="a-single-text"),
        pytest.param(["tools:"], [], id="no-value"),
    ],
)
def test_a_list_is_read_in_each_spelling(lines, items):
    header = header_of(*lines, "name: a")
    assert header.texts("tools") == items
    assert (header.get("name"), header.unreadable) == ("a", [])


def test_a_key_that_is_missing_is_told_from_an_empty_one():
    header = header_of("tools:")
    assert (header.texts("tools"), header.texts("other")) == ([], None)
    assert (header.get("tools"), header.get("other"), header.get("tools", "below")) == ("", None, None)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["metadata:", "  type: user", "  origin: x"], id="indented"),
        pytest.param(["metadata:", "", "    # which", "    type: user", "    origin: x"], id="comment-and-blank"),
        pytest.param(["metadata: {type: user, 'origin': x}"], id="in-line"),
    ],
)
def test_what_stands_under_metadata_is_found(lines):
    header = header_of(*lines, "name: a")
    assert [header.get("metadata", key) for key in ("type", "origin", "none")] == ["user", "x", None]
    assert (header.get("metadata"), header.get("type"), header.get("name")) == (None, None, "a")


def test_text_in_a_block_is_never_taken_for_keys():
    header = header_of("description: |", "  tools: Write", "", "  name: other", "name: a", "why: >-", "  one", "  two")
    assert header.get("description") == "tools: Write\n\nname: other"
    assert (header.get("name"), header.get("tools"), header.get("why")) == ("a", None, "one two")


def test_a_text_over_several_lines_is_joined():
    header = header_of("description: one", "  two  # dropped", 'quoted: "three', '  four"', "below:", "  five", "  six")
    assert [header.get(key) for key in ("description", "quoted", "below")] == ["one two", "three four", "five six"]


def test_of_two_equal_keys_the_last_counts():
    assert header_of("name: a", "name: b").get("name") == "b"


def test_each_field_knows_its_lines():
    header = header_of("name: a", "", "metadata:", "  type: user", "  # why", "  origin: x", "", "tags:", "- t")
    assert [(field.key, field.line, field.end) for field in header.fields] == [
        ("name", 2, 2),
        ("metadata", 4, 7),
        ("tags", 9, 10),
    ]
    assert [(field.key, field.line) for field in header.fields[1].children] == [("type", 5), ("origin", 7)]


def test_lines_that_are_no_key_are_listed_and_the_rest_is_read():
    header = header_of("name: a", "no key", "- stray", "type: user")
    assert (header.unreadable, header.get("name"), header.get("type")) == ([3, 4], "a", "user")


@given(st.lists(st.text("ab:-#[]{},|>\"'\\ \t&*!%@`…é\u2028\x0b"), max_size=12))
def test_odd_text_never_raises_and_the_two_readers_agree(lines):
    text = "\n".join(["---", "key: value", *lines, "---", "end"])
    header = split_header(text)
    assert (header.lines if header else 0) == front_matter_end(split_lines(text))
    if header:
        assert all(2 <= field.line <= field.end < header.lines for field in header.fields)


@pytest.mark.slow
@pytest.mark.parametrize("line", ["- x", "k: [a", '  "]', "k: '" + "a''" * 500, "k: [" + '"a",' * 500, "  k: {[[[["])
def test_a_hostile_header_takes_no_time_worth_mentioning(line, sized):
    assert header_of("first: 1", *[line] * sized(200, 1_000, 2_000)).get("first", "none") is None


yaml = pytest.importorskip("yaml")


def readings_of(text: str) -> tuple[Header, dict[str, object]] | None:
    """Return our reading and PyYAML's, where there is a header that both can read."""
    header = split_header(text)
    if header is None:
        return None
    try:
        read = yaml.safe_load("\n".join(split_lines(text)[1 : header.lines - 1]))
    except (yaml.YAMLError, ValueError):
        return None
    return (header, read) if isinstance(read, dict) else None


def differences(header: Header, read: dict[str, Any], *above: str) -> list[object]:
    found: list[object] = []
    for key, value in read.items():
        if isinstance(value, dict):
            found += differences(header, value, *above, key)
        elif isinstance(value, list):
            if all(isinstance(item, str) for item in value) and header.texts(*above, key) != value:
                found.append((key, value, header.texts(*above, key)))
        elif isinstance(value, (date, datetime)) or value is None:
            assert header.get(*above, str(key)) is not None
        elif header.get(*above, str(key)) != str(value).rstrip("\n"):
            found.append((key, value, header.get(*above, str(key))))
    return found


def test_real_headers_are_read_as_pyyaml_reads_them(corpus: list[Path]):
    compared = 0
    for path in corpus:
        readings = readings_of(path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff"))
        if readings:
            compared += 1
            assert differences(*readings) == [], path
            assert readings[0].unreadable == [], path
    assert compared > 0


def leaves_no_quote_open(text: str) -> bool:
    # PyYAML lets an open quote swallow the lines after it; ours ends a value where the next key or item begins.
    return text[:1] not in ("'", '"') or text.count(text[0]) % 2 == 0


PLAIN = st.text("abc é:#-,'\"[]{}", max_size=12).map(str.strip).filter(bool).filter(leaves_no_quote_open)


@given(
    st.lists(
        st.one_of(
            PLAIN.map(lambda text: [f"k: {text}"]),
            st.lists(PLAIN, min_size=1, max_size=3).map(lambda items: ["k:", *[f"  - {item}" for item in items]]),
            st.lists(PLAIN, min_size=1, max_size=3).map(lambda items: [f"k: [{', '.join(items)}]"]),
            st.lists(PLAIN, min_size=1, max_size=3).map(lambda items: ["k:", *[f"  {item}" for item in items]]),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_made_up_headers_are_read_as_pyyaml_reads_them(fields):
    lines = [line.replace("k:", f"k{number}:", 1) for number, field in enumerate(fields) for line in field]
    readings = readings_of("\n".join(["---", *lines, "---", ""]))
    if readings and len(readings[1]) == len(fields):
        assert differences(*readings) == []


def test_a_value_that_is_taken_as_it_is_reads_as_the_close_look_has_it(corpus: list[Path]):
    lines = [line for path in corpus for line in split_lines(path.read_text("utf-8", "replace"))]
    values = {line.partition(": ")[2].strip() for line in lines} | {line.strip() for line in lines}
    for value in values:
        header = split_header(f"---\nkey: {value}\n---\n") if value and value[0].isalnum() else None
        if header is not None:
            assert header.get("key") == _scalar(value, []), value
