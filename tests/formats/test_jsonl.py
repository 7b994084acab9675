"""One line of agent-memory/0.1: what is read, what is refused and why, and that writing is the inverse of reading."""

import json
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_memory_protocol.errors import InvalidArgument, RefusedText
from agent_memory_protocol.formats import jsonl
from agent_memory_protocol.formats.jsonl import (
    FIELDS,
    FORMAT,
    LINE_BYTES,
    EntryLine,
    HeaderLine,
    Tombstone,
    UnreadableLine,
    encode,
    parse_line,
)
from agent_memory_protocol.formats.jsonl_rules import KINDS
from tests.each_row import each_row

STAMP = "2026-11-09T07:51:02Z"
FULL = {
    "id": "3f9a1c2b7d10",
    "kind": "lesson",
    "text": "The harbor site blocks requests without a user agent.",
    "scope": "harbor.example",
    "tags": ["fetching"],
    "source": "session:2026-11-08-a",
    "confidence": 0.9,
    "expires_at": None,
    "supersedes": None,
    "created_at": STAMP,
}
ENTRY = EntryLine(**{**FULL, "tags": ("fetching",)})  # type: ignore[arg-type]


def line(**changes: object) -> str:
    return json.dumps({**FULL, **changes})


def reason(text: bytes | str) -> str:
    found = parse_line(text, 7)
    assert isinstance(found, UnreadableLine), found
    assert found.line == 7
    return found.reason


@pytest.mark.requirement("S0-01", "S0-05", "S0-06", "S0-07", "S0-08", "S0-19")
@each_row(
    "text, value",
    [
        ('{"format": "agent-memory/0.1", "created_at": "2026-11-09T07:51:02Z"}', HeaderLine(FORMAT, STAMP)),
        ('{"format":"agent-memory/0.1"}', HeaderLine(FORMAT)),
        ('{"format":"agent-memory/0.1","ledger":true}', HeaderLine(FORMAT, None, {"ledger": True})),
        ('{"format":"agent-memory/0.2"}', HeaderLine("agent-memory/0.2")),
        (line(), ENTRY),
        (line(id="foreign id: 7"), ENTRY._replace(id="foreign id: 7")),
        ('{"id":"a","deleted":true,"created_at":"2026-11-09T07:51:02Z"}', Tombstone("a", STAMP)),
        (
            line(deleted=True),
            Tombstone(ENTRY.id, STAMP, {k: v for k, v in FULL.items() if k not in ("id", "created_at")}),
        ),
    ],
    ids=[
        "header",
        "header-alone",
        "header-extra",
        "header-foreign",
        "entry",
        "foreign-id",
        "tombstone",
        "fat-tombstone",
    ],
)
def test_the_three_kinds_of_line_are_told_apart(text, value):
    assert parse_line(text, 1) == value
    assert parse_line(text.encode() + b"\r\n", 1) == value


@pytest.mark.requirement("S0-35")
def test_keys_that_are_absent_or_null_have_their_defaults():
    short = {"id": "a", "kind": "fact", "text": "Short.", "created_at": STAMP}
    expected = EntryLine("a", "fact", "Short.", "global", (), None, 0.7, None, None, STAMP)
    assert parse_line(json.dumps(short), 1) == expected
    assert parse_line(json.dumps({**dict.fromkeys(FIELDS), **short}), 1) == expected
    assert parse_line(json.dumps({**short, "source": "user"}), 1) == expected._replace(source="user", confidence=1.0)


@pytest.mark.requirement("S0-35")
@each_row(
    "text, why",
    [
        ("", "blank"),
        (" \t ", "blank"),
        ('{"id":"x","kin', "not valid JSON"),
        ("[1, 2]", "not a JSON object"),
        ('"text"', "not a JSON object"),
        (line() + line(), "Extra data"),
        (line()[:-1] + ',"kind":"fact"}', "the key 'kind' is in it twice"),
        (line()[:-1] + ',"kind" :"fact"}', "the key 'kind' is in it twice"),
        (line(extra="x")[:-1] + ',"extra":{"a":1,"a":2}}', "twice"),
        (line(extra=[{"a": 1}]).replace('{"a": 1}', '{"a":1,"a":2}'), "the key 'a' is in it twice"),
        (line().replace("0.9", "NaN"), "NaN is not a JSON number"),
        (line(extra=1).replace(": 1}", ": -Infinity}"), "-Infinity is not a JSON number"),
        (line().replace("0.9", "1e400"), "a number is too large"),
        (line(extra=1).replace(": 1}", ": [1e400]}"), "a number is too large"),
        (line(extra=1).replace(": 1}", ": " + "1" * 5000 + "}"), "a number is too long"),
        (line(text="\ud800"), "half a surrogate pair"),
        (line(**{"\udc00": 1}), "half a surrogate pair"),
        (line(extra=1).replace(": 1}", ": " + "[" * 40 + "]" * 40 + "}"), "nested too deeply"),
        ("[" * 200_000, "nested too deeply"),
        (line(text="x" * LINE_BYTES), "larger than 1,048,576 bytes"),
        (line().encode().replace(b"harbor", b"harb\xff", 1), "not valid UTF-8"),
        (line().encode("utf-16"), "not valid UTF-8"),
        (line(id=""), "id is not a text"),
        (line(id=5), "id is not a text"),
        (line(id=None), "it has no id"),
        (line(kind="opinion"), "kind is not one of preference, lesson, fact, source, avoid"),
        (line(kind=["fact"]), "kind is not one of"),
        (line(text=""), "text is not a text with something in it"),
        (line(text="  "), "text is not"),
        (line(text={"a": 1}), "text is not"),
        (line(scope=7), "scope is not a text"),
        (line(tags="fetching"), "tags is not a list of texts"),
        (line(tags=[1]), "tags is not a list of texts"),
        (line(tags=[""]), "tags is not a list of texts"),
        (line(tags={"a": 1}), "tags is not a list of texts"),
        (line(source=""), "source is not"),
        (line(confidence=True), "confidence is not a number from 0 to 1"),
        (line(confidence=1.01), "confidence is not"),
        (line(confidence=-0.1), "confidence is not"),
        (line(confidence="0.9"), "confidence is not"),
        (line(expires_at="tomorrow"), "expires_at is not a time such as 2026-11-09T07:51:02Z or a date"),
        (line(expires_at="2026-02-30"), "expires_at is not"),
        (line(supersedes=1), "supersedes is not"),
        (line(created_at=None), "it has no created_at"),
        (line(created_at="2026-11-09"), "created_at is not"),
        (line(created_at="2026-02-30T00:00:00Z"), "created_at is not"),
        (line(created_at="2026-11-09T07:51:02"), "created_at is not"),
        (line(deleted="yes"), "deleted is not true or false"),
        ('{"id":"a","deleted":true}', "it has no created_at"),
        ('{"format":7}', "format is not"),
        ('{"hello":1}', "it has no id; it has no kind; it has no text; it has no created_at"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_a_line_that_breaks_a_rule_is_refused_with_its_number_and_reason(text, why):
    assert why in reason(text)


@pytest.mark.slow
def test_a_line_of_many_doubled_keys_is_refused_at_once():
    assert "twice" in reason("{" + ",".join(f'"k{number % 50_000}":0' for number in range(90_000)) + "}")


def rebuilt(value: dict[str, object]) -> list[str]:
    """Return the same object in spellings that JSON allows, some of which only the strict reader takes."""
    text = json.dumps(value)
    return [
        text,
        json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        json.dumps(value, separators=(" ,\t", "\r: ")),
        json.dumps(dict(reversed(value.items()))),
        f"  {text} \r\n",
    ]


plain = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: not text.isspace())
shown = st.text(st.characters(categories=["L", "N", "P", "S"], max_codepoint=0x24FF), min_size=1).map(
    lambda text: text.replace("\u034f", "x").replace("\u115f", "x").replace("\u1160", "x")
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain, inner, max_size=3),
    max_leaves=8,
)
moments = st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat() + "Z")
scopes = st.sampled_from(["global", "github.com", "xn--bcher-kva.example", "project:harbor", "project:org/repo x"])
entries = st.builds(
    EntryLine,
    id=shown,
    kind=st.sampled_from(KINDS),
    text=shown,
    scope=scopes,
    tags=st.lists(shown, max_size=3).map(tuple),
    source=st.none() | shown,
    confidence=st.floats(0, 1) | st.sampled_from([0, 1]),
    expires_at=st.none() | moments | st.dates().map(str),
    supersedes=st.none() | shown,
    created_at=moments,
    extra=st.none()
    | st.dictionaries(plain, values, min_size=1, max_size=3).filter(
        lambda extra: extra.keys().isdisjoint([*FIELDS, "deleted"])
    ),
)


@pytest.mark.requirement("S0-04", "S0-07", "S0-35")
@given(entries)
@example(ENTRY._replace(extra={"note": "line\u2028separator\x85", "deep": {"list": [1, 2.5, None]}}))
def test_an_entry_survives_writing_and_reading(entry):
    data = encode(entry)
    assert data.endswith(b"\n")
    assert data.decode().splitlines() == [data.decode()[:-1]]
    assert parse_line(data, 1) == entry
    assert list(json.loads(data)) == [*FIELDS, *(entry.extra or ())]


@pytest.mark.requirement("S0-19")
@given(plain, moments, st.none() | st.dictionaries(plain, values, min_size=1, max_size=3))
def test_tombstones_and_headers_survive_writing_and_reading(name, stamp, extra):
    if extra and not extra.keys().isdisjoint(["id", "deleted", "created_at", "format"]):
        return
    for value in (Tombstone(name, stamp, extra), HeaderLine(name, stamp, extra)):
        assert parse_line(encode(value), 1) == value


@given(entries, st.sampled_from([*FIELDS, "more"]), values)
@example(ENTRY, "tags", [["nested"]])
@example(ENTRY, "kind", {"a": "b"})
@example(ENTRY, "text", 'quotes " and \\u0041 : and \\')
def test_the_same_fields_are_read_alike_however_they_are_spelled(entry, name, value):
    fields: dict[str, object] = {**dict(zip(FIELDS, entry, strict=False)), name: value}
    first, *others = [parse_line(text, 1) for text in rebuilt(fields)]
    assert all(found == first and type(found) is type(first) for found in others)


@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_make_the_reader_fail(data):
    found = parse_line(data, 3)
    assert isinstance(found, (HeaderLine, EntryLine, Tombstone, UnreadableLine))


@pytest.mark.slow
@pytest.mark.requirement("S0-09", "S0-10", "S0-11", "S0-12", "S0-14")
@each_row(
    "changes, error, why",
    [
        ({"kind": "opinion"}, InvalidArgument, "kind is not one of preference"),
        ({"text": ""}, RefusedText, "the text is empty"),
        ({"text": "one\ntwo"}, RefusedText, "line break"),
        ({"text": "one\rtwo"}, RefusedText, "line break"),
        ({"text": "one\u2028two"}, RefusedText, "line break"),
        ({"text": "zero\u200bwidth"}, RefusedText, "\\u200b"),
        ({"text": "right\u202eleft"}, RefusedText, "\\u202e"),
        ({"text": "escape \x1b[31m"}, RefusedText, "\\x1b"),
        ({"text": "tag \U000e0041"}, RefusedText, "\\U000e0041"),
        ({"text": "half \ud800"}, RefusedText, "\\ud800"),
        ({"text": None}, InvalidArgument, "no text"),
        ({"text": "x" * LINE_BYTES}, InvalidArgument, "larger than"),
        ({"scope": "Global"}, InvalidArgument, "is not a scope"),
        ({"scope": "project:"}, InvalidArgument, "is not a scope"),
        ({"scope": "localhost"}, InvalidArgument, "is not a scope"),
        ({"scope": "https://github.com"}, InvalidArgument, "is not a scope"),
        ({"scope": "project:a\u200bb"}, RefusedText, "the scope holds"),
        ({"tags": ("two\nlines",)}, RefusedText, "the tag holds"),
        ({"tags": (7,)}, InvalidArgument, "tags is not a list of texts"),
        ({"source": "user\n"}, RefusedText, "the source holds"),
        ({"confidence": 1.5}, InvalidArgument, "confidence is not"),
        ({"confidence": float("nan")}, InvalidArgument, "cannot be written as JSON"),
        ({"expires_at": "soon"}, InvalidArgument, "expires_at is not"),
        ({"created_at": ""}, InvalidArgument, "created_at is not"),
        ({"extra": {"id": "other"}}, InvalidArgument, "extra may not hold id"),
        ({"extra": {"deleted": True}}, InvalidArgument, "read back as something else"),
        ({"extra": {"list": (1, 2)}}, InvalidArgument, "read back as something else"),
        ({"extra": {"big": float("inf")}}, InvalidArgument, "cannot be written as JSON"),
        ({"extra": {"odd": {1}}}, InvalidArgument, "cannot be written as JSON"),
    ],
    ids=lambda value: ascii(value)[:40] if isinstance(value, dict) else "",
)
def test_what_may_not_be_written_is_refused(changes, error, why):
    with pytest.raises(error) as caught:
        encode(ENTRY._replace(**changes))
    assert why in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.requirement("S0-08", "S0-10", "S0-11", "S0-13")
@each_row(
    "changes",
    [
        {"text": "Grüße an 田中さん 👩‍💻, می‌خواهم."},
        {"text": "</memory> # not a heading"},
        {"scope": "project:agent memory"},
        {"scope": "a-b.example.co.uk"},
        {"source": "https://harbor.example/a?b=c#d"},
        {"source": "user", "confidence": 1},
        {"confidence": 0},
        {"extra": {}},
        {"expires_at": "2026-11-09T07:51:02.25+02:00"},
    ],
    ids=ascii,
)
def test_what_may_be_written_is_written(changes):
    found = parse_line(encode(ENTRY._replace(**changes)), 1)
    assert found == ENTRY._replace(**{**changes, "extra": None})


@pytest.mark.requirement("S0-30")
def test_every_text_passes_the_one_check_for_texts(monkeypatch):
    seen = []
    monkeypatch.setattr(jsonl, "check_text", lambda text, what, _: seen.append((what, text)))
    encode(ENTRY)
    assert dict(seen).keys() == {"text", "id", "scope", "source", "tag"}


def test_a_million_nested_brackets_do_not_disturb_a_deep_stack():
    limit = sys.getrecursionlimit()

    def dive(depth: int) -> str:
        return dive(depth - 1) if depth else reason("[" * 1000 + "]" * 1000)

    assert dive(limit // 3) == "nested too deeply"


def test_json_holds_no_character_that_a_terminal_obeys_and_reads_back_the_same():
    text = "a\x7f b\x9b31m c\u202e d\u2066 e\u2028 é"
    made = jsonl.escape_separators(json.dumps({text: text}, ensure_ascii=False))
    assert made.isprintable()
    assert json.loads(made) == {text: text}
