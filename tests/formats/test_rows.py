"""Rows that other tools write come in as entries, and what is missing is made."""

import gzip
import json
import re
from datetime import time
from decimal import Decimal
from typing import Any

import pytest

from agent_memory_protocol.errors import DamagedFile, InvalidArgument
from agent_memory_protocol.exchange.convert import Conversion
from agent_memory_protocol.exchange.foreign import reader_of
from agent_memory_protocol.formats.entry import BadEntry, MemoryEntry, Problem
from agent_memory_protocol.formats.rows import Columns, entry, tags_of
from agent_memory_protocol.formats.table import AUTO, by_name, detect
from agent_memory_protocol.search.embedding import HashEmbedder
from tests.each_row import each_row

APRIL = 1_775_001_600_000


def read(path, columns: Columns | None = None) -> list[Any]:
    _, reading = reader_of(str(path), path.name, AUTO, columns or Columns())
    return [*reading()]


def test_what_pandas_writes_comes_in(tmp_path):
    rows = [
        {"id": None, "text": "Redis needs AOF.", "timestamp": APRIL, "tags": None, "source": None, "score": 1.5},
        {"id": 7, "text": "Use tabs.", "timestamp": "2026-04-01T00:00:00.000", "tags": ["style", "py"], "score": None},
    ]
    for name, text in {
        "a.ndjson": "".join(f"{json.dumps(row)}\n" for row in rows),
        "a.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows),
        "a.json": json.dumps(rows),
    }.items():
        path = tmp_path / name
        path.write_text(text)
        one, other = read(path)
        assert (one.text, one.timestamp_ms, one.tags, one.source, one.extra) == (
            "Redis needs AOF.",
            APRIL,
            (),
            "",
            {"score": "1.5"},
        )
        assert (other.id, other.timestamp_ms, other.tags, other.embedding) == ("7", APRIL, ("style", "py"), b"")
        assert read(path)[0].id == one.id


def test_a_csv_with_a_header_comes_in_by_the_columns_that_are_named(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(
        'summary,created,owner,labels,prio\n"Logs go to S3,\nnot to disk.",2026-04-01,ana,"infra, logs",2\n,,,,\n'
    )
    columns = Columns.of({"owner": "source", "labels": "tags"}.items(), text="summary", time="created")
    one, empty = read(path, columns)
    assert (one.text, one.timestamp_ms) == ("Logs go to S3,\nnot to disk.", APRIL)
    assert (one.source, one.tags, one.extra) == ("ana", ("infra", "logs"), {"prio": "2"})
    assert isinstance(empty, Problem)
    with pytest.raises(DamagedFile, match="name its column with --text \\(columns: summary, created"):
        read(path)
    path.write_text("text;source\nUse tabs.;style guide\n", encoding="utf-8-sig")
    assert [(one.text, one.source) for one in read(path)] == [("Use tabs.", "style guide")]


def test_foreign_json_lines_come_in_by_a_map(tmp_path):
    path = tmp_path / "notes.jsonl"
    path.write_text('{"body": "Use tabs.", "when": 1775001600, "by": "ana", "nested": {"a": 1}}\n{"body": 3}\nx\n')
    one, *bad = read(path, Columns.of({"body": "text", "when": "time", "by": "source"}.items()))
    assert (one.text, one.timestamp_ms, one.source, one.extra) == ("Use tabs.", APRIL, "ana", {"nested": '{"a": 1}'})
    assert [problem.place for problem in bad] == ["line 2", "line 3"]


def test_columns_are_known_by_their_usual_names_in_any_case(tmp_path):
    path = tmp_path / "facts.csv"
    path.write_text("Content,Timestamp,Labels,Source\nUse tabs.,2026/04/01,style,wiki\n,2026/04/01,,\n")
    one, empty = read(path)
    assert (one.text, one.timestamp_ms, one.tags, one.source) == ("Use tabs.", APRIL, ("style",), "wiki")
    assert empty.reason == "its Content is empty, or no text"
    path.write_text(
        '{"note": "The longer name wins.", "content": "Use tabs.", "Time": "Wed, 01 Apr 2026 00:00:00 GMT"}\n'
    )
    (one,) = read(path.rename(tmp_path / "facts.jsonl"))
    assert (one.text, one.timestamp_ms, one.extra) == ("Use tabs.", APRIL, {"note": "The longer name wins."})


def test_keys_inside_objects_are_named_with_dots_and_the_rest_of_the_object_is_kept(tmp_path):
    path = tmp_path / "points.jsonl"
    payload = {"data": "Use tabs.", "meta": {"at": 1775001600, "tags": ["style"]}, "by": "ana"}
    path.write_text(json.dumps({"id": "a", "payload": payload}) + "\n")
    pairs = {"payload.data": "text", "payload.meta.at": "time", "payload.meta.tags": "tags"}
    (one,) = read(path, Columns.of(pairs.items()))
    assert (one.text, one.timestamp_ms, one.tags) == ("Use tabs.", APRIL, ("style",))
    assert one.extra == {"payload": '{"by": "ana"}'}
    (problem,) = read(path)
    assert "(columns: id, payload.data, payload.meta.at, payload.meta.tags, payload.by)" in problem.reason


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ({"results": [{"memory": "One."}, {"memory": "Two."}], "next": None}, ["One.", "Two."]),
        ([{"memory": "One.", "links": [{"a": 1}]}], ["One."]),
        ({"memory": "One.", "links": [{"text": "No fact."}]}, ["One."]),
        ({"text": {"0": "One.", "1": "Two."}, "time": {"0": APRIL, "1": APRIL}}, ["One.", "Two."]),
        ({"columns": ["text", "time"], "index": [0, 1], "data": [["One.", APRIL], ["Two.", APRIL]]}, ["One.", "Two."]),
    ],
    ids=["a list in an object", "a list", "a row with a list", "columns of pandas", "a split table of pandas"],
)
@pytest.mark.parametrize("indent", [None, 2], ids=["on one line", "on many lines"])
def test_a_json_file_of_another_tool_is_read_row_by_row(tmp_path, value, texts, indent):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(value, indent=indent))
    assert [one.text for one in read(path)] == texts


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"], ids=["CRLF", "CR", "LF"])
def test_line_ends_inside_a_cell_are_line_feeds(tmp_path, ends):
    path = tmp_path / "facts.csv"
    path.write_bytes(f'text{ends}"Two{ends}lines."{ends}'.encode())
    assert [one.text for one in read(path)] == ["Two\nlines."]
    path.write_text("text,tags\nA thin\u2028line.,a\n", encoding="utf-8")  # what Python, and no table, ends a line at
    assert [getattr(one, "tags", one) for one in read(path)] == [("a",)]


@pytest.mark.parametrize("power", [0, 3, 6, 9], ids=["seconds", "milliseconds", "microseconds", "nanoseconds"])
def test_a_number_is_a_moment_in_the_unit_that_fits_it(tmp_path, power):
    path = tmp_path / "facts.ndjson"
    path.write_text(json.dumps({"text": "Use tabs.", "time": 1775001600 * 10**power}) + "\n")
    assert [one.timestamp_ms for one in read(path)] == [APRIL]


@each_row(
    "written",
    ["20260401", 20260401, "2026-04-01 00:00:00 UTC", "2026-04-01T00:00:00 GMT", "2026/04/01 00:00:00", APRIL * 10**6],
)
def test_a_day_and_a_moment_are_understood_as_tools_write_them(written):
    assert entry({"text": "Use tabs.", "time": written}, Columns()).timestamp_ms == APRIL


@each_row("written", [46024, "46024", 2026, "2026", 20261340, 1, 0.5, 10**23, 10**400, "1e400", float("inf")])
def test_a_number_that_nobody_can_tell_the_time_by_is_refused(written):
    with pytest.raises(BadEntry, match="give ISO 8601"):
        entry({"text": "Use tabs.", "time": written}, Columns())


def test_milliseconds_that_are_called_so_are_taken_as_they_are():
    for written in (7, "7", 7.0):
        assert entry({"text": "Use tabs.", "timestamp_ms": written}, Columns()).timestamp_ms == 7
    assert entry({"text": "Use tabs.", "timestamp_ms": APRIL // 1000}, Columns()).timestamp_ms == APRIL


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ({"a": "body"}, "there is no field body; write COLUMN=FIELD"),
        ({"tags": "body"}, "there is no field body; is it body=tags?"),
        ({"a": "text", "b": "text"}, "two columns"),
    ],
)
def test_a_map_to_no_field_or_to_one_twice_is_refused(pairs, why):
    with pytest.raises(InvalidArgument, match=re.escape(why)):
        Columns.of(pairs.items())


def test_a_column_for_two_fields_is_refused_since_only_one_would_get_it():
    for given in ([("a", "source"), ("a", "tags")], [("a", "source")]):
        with pytest.raises(InvalidArgument, match="a can be one field only"):
            Columns.of(given, text="a" if len(given) == 1 else None)


@each_row(
    "name, content",
    [
        ("facts.csv", b"text,when\nUse tabs.,2026-04-01\n"),
        ("facts.jsonl", b'{"text": "Use tabs."}\nbroken\n{"text": "Use uv.", "when": "2026-04-01"}\n'),
        ("facts.json", b'[{"text": "Use tabs."}, {"text": "Use uv.", "when": {"at": "2026-04-01"}}]'),
    ],
)
def test_a_column_that_no_row_has_is_refused_before_anything_comes_in(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    for given in (Columns.of(time="wehn"), Columns.of([("when.too", "source")]), Columns.of(text="body")):
        with pytest.raises(DamagedFile, match=r"has no column .* \(columns: text"):
            read(path, given)
    assert isinstance(read(path, Columns.of([("when", "source")]))[0], MemoryEntry)


@pytest.mark.slow
def test_a_parquet_column_that_is_not_there_is_refused(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "a.parquet"
    duckdb.sql("SELECT 'Use tabs.' AS text, {'at': '2026-04-01'} AS meta").write_parquet(str(path))
    assert [one.timestamp_ms for one in read(path, Columns.of(time="meta.at"))] == [APRIL]
    with pytest.raises(DamagedFile, match=r"has no column meta.when \(columns: text, meta.at\)"):
        read(path, Columns.of(time="meta.when"))


def test_json_goes_out_without_embeddings_and_comes_back(tmp_path):
    embedded = MemoryEntry("00000000-0000-4000-8000-000000000001", APRIL, "Use tabs.", embedding=b"\0\0\0\0")
    for name in ("ndjson", "json"):
        conversion = Conversion(by_name(name), HashEmbedder(), embeds=False)
        path = tmp_path / f"a.{name}"
        conversion.target.write(str(path), conversion.carry([embedded]))
        assert b'"embedding":""' in path.read_bytes()
        assert [one.text for one in read(path)] == ["Use tabs."]
    with pytest.raises(InvalidArgument, match="no way to leave embeddings out"):
        Conversion(by_name("protobuf"), HashEmbedder(), embeds=False)


@each_row(
    "written, tags",
    [
        ("infra", ("infra",)),
        ("infra, logs", ("infra", "logs")),
        ("infra; logs;", ("infra", "logs")),
        ('["infra", "logs"]', ("infra", "logs")),
        ("['infra', 'logs']", ("infra", "logs")),
        ("[infra, logs", ("[infra", "logs")),
        (["infra", "logs"], ("infra", "logs")),
        ("", ()),
        (None, ()),
        (float("nan"), ()),
    ],
)
def test_tags_are_a_list_or_a_text_and_never_letters(written, tags):
    assert tags_of(written) == tags


@pytest.mark.slow
@pytest.mark.parametrize("tags", ["'infra, logs'", "['infra', 'logs']"])
@pytest.mark.parametrize("with_ids", [True, False])
def test_parquet_with_tags_as_text_or_list_comes_in(tmp_path, tags, with_ids):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "a.parquet"
    own = f"'k' AS id, {APRIL}::UBIGINT AS timestamp_ms" if with_ids else "TIMESTAMP '2026-04-01' AS created_at"
    duckdb.sql(f"SELECT {own}, 'Logs go to S3.' AS text, {tags} AS tags, 2 AS prio").write_parquet(str(path))
    (one,) = read(path)
    assert (one.text, one.tags, one.timestamp_ms) == ("Logs go to S3.", ("infra", "logs"), APRIL)


def test_our_own_derived_columns_come_back_as_the_fields_they_were_made_of(tmp_path):
    extra = {"target": "shared", "headings": '["CI"]'}
    row = {"id": "1", "timestamp_ms": APRIL, "text": "Retry once.", "tags": ["CI"], "extra": extra}
    spelled: list[dict[str, Any]] = [
        {"created_at": "2026-04-01 00:00:00.000", "date": "2026-04-01"},
        {"created_at": "2026-04-01T00:00:00.000Z", "date": APRIL},
        {"created_at": APRIL, "date": "2026-04-01T00:00:00.000"},
        {"created_at": None, "date": None},
    ]
    path = tmp_path / "a.ndjson"
    path.write_text("".join(f"{json.dumps(row | one | {'tier': 'shared', 'section': 'CI'})}\n" for one in spelled))
    assert {(one.timestamp_ms, *one.extra.items()) for one in read(path)} == {(APRIL, *extra.items())}


def test_a_time_that_is_not_known_is_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,time\nUse tabs.,NaT\nUse uv.,\nUse npm.,soon\n")
    one, other, wrong = read(path)
    assert (one.timestamp_ms, other.timestamp_ms) == (0, 0)
    assert isinstance(wrong, Problem)


def test_a_relevance_that_is_not_known_is_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,relevance\nUse tabs.,NaN\nUse uv.,NA\nUse npm.,0.5\nUse pip.,much\n")
    *read_well, wrong = read(path)
    assert [one.relevance for one in read_well] == [0, 0, 0.5]
    assert isinstance(wrong, Problem)


def test_columns_of_that_name_that_say_something_else_are_kept(tmp_path):
    path = tmp_path / "a.ndjson"
    row = {"timestamp_ms": APRIL, "text": "Retry once.", "created_at": "soon", "tier": "gold", "date": "2026-05-01"}
    path.write_text(json.dumps(row))
    assert read(path)[0].extra == {"created_at": "soon", "tier": "gold", "date": "2026-05-01"}


@each_row("indent", [None, 1, 4])
def test_a_json_document_of_another_tool_comes_in_however_many_lines_it_has(tmp_path, indent):
    rows = [{"text": f"Host h{number} is in rack {number}.", "time": "2026-04-01"} for number in range(600)]
    for name, value in {"array.json": rows, "envelope.json": {"items": rows}}.items():
        path = tmp_path / name
        path.write_text(json.dumps(value, indent=indent))
        assert [one.timestamp_ms for one in read(path)] == [APRIL] * 600


@each_row(
    "name, text, says",
    [
        ("cut.json", '[{"text": "Use tabs."},', "cut.json: is not JSON: Expecting value"),
        ("twice.csv", "text,text,time\nUse tabs.,Use spaces.,2026-04-01\n", "several columns called text; rename"),
        ("open.csv", 'text,tags\n"Use tabs.,style\nUse uv.,tools\n', "a quotation mark is never closed"),
        ("more.csv", "text,tags\nUse tabs, not spaces.,style\n", "3 cells, and the header 2; put quotes"),
        ("before.ndjson", '{"text": "Use tabs.", "time": -147016800000}', "-147016800000 is before 1970"),
        ("double.ndjson", '{"text": "Use tabs.", "text": "Use uv."}', "the key 'text' is in it twice"),
        ("empty.csv", "\n", "empty.csv: is empty; the first line of CSV names"),
        ("bare.csv", "Use tabs.,2026-04-01\n", "its first line names no column text; add a line"),
        ("never.ndjson", '{"text": "Use tabs.", "time": true}', "'True' is not a moment; give ISO 8601"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line_that_names_it(tmp_path, name, text, says):
    path = tmp_path / name
    path.write_text(text)
    try:
        (problem,) = read(path)
        told = problem.reason
    except DamagedFile as error:
        told = str(error)
    assert says in told
    assert "\n" not in told


def test_a_csv_of_any_program_comes_in(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        '\ufeff Text ; Tags ;notes\r\n"Deploy:\n1. build; 2. push ""it""";a,b;\r\n\r\nA 5" disk.\r\n'
        f"Long.;;{'x' * 200_000}"
    )
    one, other, long = read(path)
    assert (one.text, one.tags) == ('Deploy:\n1. build; 2. push "it"', ("a", "b"))
    assert (other.text, long.text, len(long.extra["notes"])) == ('A 5" disk.', "Long.", 200_000)


@each_row(
    "content",
    [
        "sep=;\ntext;tags\nUse tabs, not blanks.;style\n",
        "text|tags\nUse tabs, not blanks.|style\n",
        'text,"tags"\n"Use tabs, not blanks.","style"\n',
        'text,tags,"a;b;c;d"\n"Use tabs, not blanks.",style,\n',
        "text\ttags\nUse tabs, not blanks.\tstyle\n",
    ],
)
def test_what_is_between_cells_is_seen_by_the_header(tmp_path, content):
    path = tmp_path / "a.csv"
    path.write_text(content)
    assert [(one.text, one.tags) for one in read(path)] == [("Use tabs, not blanks.", ("style",))]


def test_one_long_or_broken_line_does_not_stop_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    long = json.dumps({"text": "x" * (2 << 20)})
    for first in (long, '{"text": "Cut o', '{"text": ' + "[" * 5000 + "]" * 5000 + "}", "no JSON"):
        path.write_text(f'{first}\n{{"text": "Use tabs."}}\n')
        problem, one = read(path)
        assert (problem.place, one.text) == ("line 1", "Use tabs.")


def test_bytes_are_kept_as_text_or_as_hexadecimal():
    one = entry({"text": b"Use tabs.", "name": b"caf\xc3\xa9", "key": b"\x00\xff"}, Columns())
    assert (one.text, one.extra) == ("Use tabs.", {"name": "café", "key": "\\x00ff"})


def test_a_column_and_a_pair_of_extra_of_the_same_name_are_both_kept():
    one = entry({"text": "Use tabs.", "owner": "ana", "extra": {"owner": "ben", "prio": "2"}}, Columns())
    assert one.extra == {"owner": "ana", "extra.owner": "ben", "prio": "2"}


def test_rows_under_their_names_are_rows_with_ids(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"tabs": {"text": "Use tabs."}, "uv": {"text": "Use uv.", "id": "b"}}))
    assert [(one.text, one.id) for one in read(path)] == [("Use tabs.", "tabs"), ("Use uv.", "b")]


def test_a_table_by_its_index_is_read_as_rows(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"0": {"text": "Use tabs."}, "7": {"text": "Use uv."}}))
    assert [one.text for one in read(path)] == ["Use tabs.", "Use uv."]


@each_row("packed, by", [(gzip.compress(b"text"), "gzip"), (b"PK\x03\x04more", "zip"), (b"BZh91AY", "bzip2")])
def test_a_packed_file_is_called_so(tmp_path, packed, by):
    path = tmp_path / "facts.ndjson.packed"
    path.write_bytes(packed)
    with pytest.raises(DamagedFile, match=f"packed with {by}; unpack it first"):
        detect(str(path))


def test_what_is_no_json_is_kept_as_it_is_said():
    row = {"text": "Use tabs.", "price": Decimal("1.10"), "at": time(1, 2), "sizes": [1, 2]}
    assert entry(row, Columns()).extra == {"price": "1.10", "at": "01:02:00", "sizes": "[1, 2]"}


def test_an_amount_of_seconds_is_a_time_and_null_is_no_tag(tmp_path):
    row = {"text": "Use tabs.", "time": Decimal("1775001600.5"), "tags": ["style", 3, None]}
    one = entry(row, Columns())
    assert (one.timestamp_ms, one.tags) == (APRIL + 500, ("style", "3"))


def test_a_text_with_half_a_surrogate_pair_is_left_out_and_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"text": "a \\ud800 b", "timestamp": "2026-04-01"}\n{"text": "Use tabs.", "timestamp": "2026-04-01"}\n'
    )
    problem, entry = read(path)
    assert ("surrogate" in str(problem), entry.text) == (True, "Use tabs.")
