import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.exchange.chart import chart, size_text, time_text
from agent_memory_protocol.exchange.measure import COMPARED, STEPS, measure
from agent_memory_protocol.exchange.sample import TAG, sample
from agent_memory_protocol.formats.entry import check
from agent_memory_protocol.formats.table import Format
from tests.each_row import each_row

ENTRIES = sample(60, 8)


@pytest.mark.slow
@pytest.mark.requirement("S3-03", "S3-05", "S3-06", "S3-07", "S3-08")
def test_every_step_of_every_format_is_timed_and_nothing_is_left_behind(tmp_path):
    told: list[tuple[int, int]] = []
    found = measure(ENTRIES, TAG, str(tmp_path), rounds=2, progress=lambda *done: told.append(done))
    assert [one.format.name for one in found] == list(COMPARED)
    for one in found:
        assert {step: len(times) for step, times in one.seconds.items()} == dict.fromkeys(STEPS, 2)
        assert all(second > 0 for times in one.seconds.values() for second in times)
    assert told[-1] == (2 * len(COMPARED) * len(STEPS),) * 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("S3-07")
def test_the_size_is_that_of_the_file_on_disk(tmp_path):
    (one,) = measure(ENTRIES, TAG, str(tmp_path), names=["ndjson"], rounds=1)
    path = tmp_path / "again.ndjson"
    one.format.write(str(path), map(one.format.encode, ENTRIES))
    assert one.size == path.stat().st_size


@pytest.mark.slow
def test_what_keeps_a_later_field_and_what_only_reads_it(tmp_path):
    found = measure(ENTRIES, TAG, str(tmp_path), rounds=1)
    kept = {one.format.name: one.keeps_unknown for one in found}
    assert kept == {"ndjson": True, "json": True, "protobuf": True, "sqlite": False, "parquet": False}


@pytest.mark.requirement("S3-08")
@pytest.mark.parametrize(
    ("name", "broken"),
    [("newest", lambda *_: []), ("read", lambda *_: iter(ENTRIES[1:]))],
    ids=["another answer", "an entry lost"],
)
def test_a_format_that_gives_another_answer_is_found_out(tmp_path, monkeypatch, name, broken):
    right = getattr(Format, name)
    monkeypatch.setattr(Format, name, lambda self, *rest: (broken if self.name == "sqlite" else right)(self, *rest))
    with pytest.raises(DamagedFile, match="sqlite"):
        measure(ENTRIES, TAG, str(tmp_path), names=["ndjson", "sqlite"], rounds=1)


@pytest.mark.requirement("S3-04")
def test_a_sample_is_the_same_each_time_and_keeps_the_rules():
    assert sample(60, 8) == ENTRIES
    assert len({check(entry).id for entry in ENTRIES}) == 60
    assert 1 <= sum(TAG in entry.tags for entry in ENTRIES) < 60
    assert {len(entry.embedding) for entry in ENTRIES} == {32}
    assert sample(0, 1) == []


def test_the_chart_is_a_picture_with_a_bar_for_each_figure(tmp_path):
    found = measure(ENTRIES, TAG, str(tmp_path), names=["ndjson", "sqlite"], rounds=1)
    picture = chart(found, "60 entries <of mine>")
    root = ET.fromstring(picture)
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert len(root.findall(f"{space}rect")) == 1 + 2 * (len(STEPS) + 1)
    texts = [text.text or "" for text in root.iter(f"{space}text")]
    assert "60 entries <of mine>" in texts
    assert size_text(found[0].size) in texts
    assert not re.search(r"(href|src|script|url\()", picture)


@each_row(
    "seconds, text",
    [((1.234,), "1.23 s"), ((0.0456,), "45.6 ms"), ((0.00000078,), "0.78 µs"), ((0.02, 0.01, 1.5), "20 (10–1,500) ms")],
)
def test_times_are_spelled_as_people_say_them(seconds, text):
    assert time_text(*seconds) == text


@each_row("size, text", [(12, "12 B"), (1500, "1.5 kB"), (231_000_000, "231 MB"), (2e9, "2 GB")])
def test_sizes_are_spelled_in_thousands(size, text):
    assert size_text(size) == text


@pytest.mark.slow
def test_nothing_of_a_comparison_is_written_elsewhere(tmp_path):
    measure(ENTRIES, TAG, str(tmp_path), rounds=1)
    assert list(Path(tmp_path).iterdir()) == []
