import base64
import json
import math
import tracemalloc
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.formats import json_document, json_schema, schemas
from agent_memory_protocol.formats.entry import BadEntry, MemoryEntry, Problem, Unknown, embedding_of
from tests.each_row import each_row

from .conftest import ENTRIES

JUDGE = jsonschema.Draft202012Validator(
    json.loads(schemas.text(schemas.JSON)), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)
VECTOR = base64.b64encode(embedding_of([1.0, 2.0])).decode()
PLAIN = {"id": "0f8fad5b-d9cb-469f-a165-70867728950e", "timestamp_ms": 1, "text": "x", "embedding": VECTOR}


def carried(entry: MemoryEntry) -> MemoryEntry:
    for loss in json_schema.LOSSES:
        entry = loss.without(entry) if loss.found(entry) else entry
    return entry


@pytest.mark.requirement("S3-17", "S3-23")
@settings(max_examples=min(settings().max_examples, 60))
@given(ENTRIES)
def test_a_line_is_valid_and_comes_back(entry):
    entry = carried(entry)
    if not entry.embedding:
        with pytest.raises(BadEntry, match="no embedding"):
            json_schema.encode(entry)
        return
    line = json_schema.encode(entry)
    JUDGE.validate(json.loads(line))
    assert len(line.decode().splitlines()) == 1
    assert json_schema.decode(line) == entry


VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        1,
        1.0,
        1.5,
        -1,
        1e300,
        "",
        "x",
        PLAIN["id"],
        VECTOR,
        [],
        ["a"],
        [1],
        {},
        {"a": "b"},
        {"a": 1},
        [["a"]],
    ]
)


@pytest.mark.requirement("S3-10", "S3-17")
@settings(max_examples=min(settings().max_examples, 300))
@given(
    st.dictionaries(st.sampled_from([*PLAIN, "tags", "source", "relevance", "extra", "later"]), VALUES, max_size=3),
    st.data(),
)
def test_what_is_read_is_what_the_judge_finds_valid(changes, data):
    fields = {**PLAIN, **changes}
    if data.draw(st.booleans()):
        fields.pop(data.draw(st.sampled_from(list(fields))))
    valid = JUDGE.is_valid(fields)
    text = fields.get("embedding")
    is_vector = isinstance(text, str) and (text in ("", VECTOR))
    ours = valid and is_vector and fields["timestamp_ms"] < 2**64
    name = fields.get("id")
    if isinstance(name, str) and name and not valid:
        ours = JUDGE.is_valid({**fields, "id": PLAIN["id"]}) and is_vector  # any text is an id; a UUID is preferred
    for line in (json.dumps(fields), json.dumps(fields, separators=(",", ":"))):
        try:
            json_schema.decode(line.encode())
        except BadEntry:
            assert not ours or fields["id"] == ""
        else:
            assert ours


@each_row(
    "line, reason",
    [
        ("", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('"x"', "is not a JSON object"),
        ("{}", "it has no id; it has no timestamp_ms; it has no text; it has no embedding"),
        (json.dumps({**PLAIN, "timestamp_ms": "1"}), "timestamp_ms is not a number of milliseconds"),
        (json.dumps({**PLAIN, "embedding": "ab*="}), "embedding is not base64"),
        (json.dumps({**PLAIN, "embedding": "YWJj"}), "3 bytes, which is not a whole number"),
        (json.dumps({**PLAIN, "embedding": base64.b64encode(b"\0\0\xc0\x7f").decode()}), "not finite"),
        (json.dumps({**PLAIN, "relevance": math.inf}), "is not JSON: it holds Infinity"),
        (json.dumps(PLAIN).replace("1,", "1e999,"), "timestamp_ms is no"),
        (json.dumps({**PLAIN, "text": "\ud800"}), "surrogate"),
        (json.dumps({**PLAIN, "later": "\ud800"}), "cannot be written again"),
        (json.dumps({**PLAIN, "tags": ["x"] * 1001}), "1,001 tags"),
        (json.dumps({**PLAIN, "tags": "x", "source": 1}), "tags is not a list of texts; source is not a text"),
        (json.dumps(PLAIN)[:-1], "is not JSON"),
        (json.dumps(PLAIN) + "}", "is not JSON"),
        ('{"a":' * 100_000, "is not JSON"),
        ('{"timestamp_ms":' + "9" * 5000 + "}", "a number is too long"),
        (json.dumps({**PLAIN, "timestamp_ms": 10**400}), "timestamp_ms"),
        (json.dumps({**PLAIN, "relevance": 10**400}), "cannot be written again"),
    ],
)
def test_a_line_that_is_no_entry_is_refused_with_the_reason(line, reason):
    with pytest.raises(BadEntry) as caught:
        json_schema.decode(line.encode())
    assert reason in str(caught.value)


@each_row(
    "line",
    [
        '{"id":"a","timestamp_ms":1,"text":"x","extra":{"a":"b","embedding":"AAAA"},"embedding":"AACAPw=="}',
        '{"embedding":"AACAPw==","id":"a","timestamp_ms":1,"text":"x","extra":{"a":"b","embedding":"AAAA"}}',
        '{"embedding":"AACAPw==","id":"a","timestamp_ms":1,"text":",\\"embedding\\":\\"AAAA\\"","extra":{"embedding":"AAAA"}}',
        '{"id":"a","timestamp_ms":1,"text":"x","embedding":"AACAPw=="  }  ',
        '{"id":"a","timestamp_ms":1,"text":"x","embedding":"\\u0041ACAPw=="}',
        '{"id":"é","timestamp_ms":1.0,"text":"日本語","embedding":"AACAPw=="}',
    ],
)
def test_the_embedding_is_found_wherever_it_stands(line):
    assert json_schema.decode(line.encode()).embedding == b"\x00\x00\x80\x3f"


@pytest.mark.requirement("S3-18")
def test_keys_of_a_later_schema_are_kept_when_the_line_is_written_again():
    line = json.dumps({**PLAIN, "later": {"a": [1, None, 2.5]}, "more": "x"}).encode()
    found = json_schema.decode(line)
    assert found.unknown == Unknown("json", b'{"later":{"a":[1,null,2.5]},"more":"x"}')
    assert json.loads(json_schema.encode(found)) == json.loads(line)


def test_one_bad_line_costs_no_other_and_is_named(tmp_path, some):
    path = tmp_path / "memory.ndjson"
    good = [json_schema.encode(entry) for entry in some]
    path.write_bytes(b"\xef\xbb\xbf" + good[0] + b"\n\n{\n" + good[1] + b"\r\n\xff\n" + good[2])
    found = list(json_schema.read(str(path)))
    assert [one for one in found if isinstance(one, MemoryEntry)] == some
    assert [one.place for one in found if isinstance(one, Problem)] == ["line 3", "line 5"]


def test_whoever_asks_for_no_vectors_gets_the_rest(tmp_path, some):
    path = tmp_path / "memory.ndjson"
    mixed = json.dumps({"embedding": VECTOR, **PLAIN, "id": "b"}).encode()
    path.write_bytes(b"\n".join([*map(json_schema.encode, some), mixed, b"{"]))
    found = list(json_schema.read(str(path), vectors=False))
    assert found[:3] == [entry._replace(embedding=b"") for entry in some]
    assert isinstance(found[3], MemoryEntry)
    assert found[3].embedding == b""
    assert isinstance(found[4], Problem)


@pytest.mark.requirement("S3-08")
def test_the_newest_with_a_tag_are_those_of_the_whole_file(tmp_path, some):
    path = tmp_path / "memory.ndjson"
    bad = json_schema.encode(some[0]._replace(timestamp_ms=2**60)).replace(b'"AAAAPw', b'"AADAfw')
    path.write_bytes(b"\n".join([*map(json_schema.encode, some), bad, b"{"]))
    assert json_schema.newest(str(path), "task") == [some[2], some[0]]
    assert json_schema.newest(str(path), "task", 1) == [some[2]]
    assert json_schema.newest(str(path), "unheard of") == []


@pytest.mark.requirement("S3-20")
def test_a_line_is_added_behind_one_without_its_end(tmp_path, some):
    path = tmp_path / "memory.ndjson"
    path.write_bytes(json_schema.encode(some[0]))
    for entry in some[1:]:
        json_schema.append(str(path), json_schema.encode(entry))
    assert list(json_schema.read(str(path))) == some
    assert path.read_bytes().count(b"\n") == 3


@pytest.mark.slow
def test_a_line_without_end_is_not_held_in_memory(tmp_path, some):
    path = tmp_path / "memory.ndjson"
    path.write_bytes(b'{"id":"' + b"x" * (20 << 20) + b'"}\n' + json_schema.encode(some[0]) + b"\n")
    tracemalloc.start()
    try:
        found = list(json_schema.read(str(path)))
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert found == [Problem("line 1", "is longer than 2,097,152 bytes"), some[0]]


def test_an_entry_whose_line_nobody_would_read_is_not_written():
    entry = MemoryEntry("a", 1, "\0" * 500_000, embedding=b"\0\0\0\0")
    with pytest.raises(BadEntry, match="makes a line of 3,0"):
        json_schema.encode(entry)


# One document


def read_document(path: Path, text: str) -> list[MemoryEntry | Problem]:
    path.write_text(text, encoding="utf-8")
    return list(json_document.read(str(path)))


def test_a_document_is_an_array_of_valid_entries(tmp_path, some):
    path = tmp_path / "memory.json"
    json_document.write(str(path), map(json_schema.encode, some))
    for item in json.loads(path.read_bytes()):
        JUDGE.validate(item)
    assert list(json_document.read(str(path))) == some
    json_document.write(str(path), [])
    assert path.read_bytes() == b"[]\n"
    assert list(json_document.read(str(path))) == []


def test_a_document_is_read_however_it_is_spaced(tmp_path, some, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.formats.record_files.CHUNK", 7)
    values = [json.loads(json_schema.encode(entry)) for entry in some]
    for text in (json.dumps(values), json.dumps(values, indent=4), "\ufeff\n" + json.dumps(values, ensure_ascii=False)):
        assert read_document(tmp_path / "memory.json", text) == some
    assert read_document(tmp_path / "memory.json", json.dumps(values[0], indent=2)) == some[:1]


def test_what_is_no_entry_in_a_document_is_named_by_its_line(tmp_path):
    text = f"[\n{json.dumps(PLAIN)},\n1,\n{{}},\n{json.dumps(PLAIN)}\n]"
    found = read_document(tmp_path / "memory.json", text)
    assert [one.place for one in found if isinstance(one, Problem)] == ["line 3", "line 4"]
    assert len(found) == 4


@pytest.mark.parametrize(
    "text", ["", "[", "[1", "[1,", "[1 2]", "[] x", "{", "[{]", "[\n\n\x00]", '["\\', "nonsense", "[NaN]"]
)
def test_from_where_it_is_no_json_a_document_is_damaged(tmp_path, text):
    with pytest.raises(DamagedFile, match=r"memory\.json: from line \d+ on"):
        read_document(tmp_path / "memory.json", text)


@pytest.mark.slow
def test_of_a_long_document_little_is_in_memory(tmp_path, some):
    path = tmp_path / "memory.json"
    json_document.write(str(path), (json_schema.encode(some[0]._replace(text="x" * 10_000)) for _ in range(2000)))
    tracemalloc.start()
    try:
        assert sum(1 for _ in json_document.read(str(path))) == 2000
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
