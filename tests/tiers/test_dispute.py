"""The mark of a dispute goes in front of any entry and off again, and changes nothing else."""

from pathlib import Path

import pytest

from agent_memory_protocol.errors import Refused
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.dispute import marked, unmarked
from tests.each_row import each_row

CORPUS = Path(__file__).parents[1] / "data" / "corpus"
SHARED = Target(Tier.SHARED)
PLACES = {
    "item": ("- Redis.\n", "- [disputed] Redis.\n"),
    "check box": ("- [x] Redis.\n", "- [x] [disputed] Redis.\n"),
    "date": ("- [2026-01-01] Redis.\n", "- [disputed] [2026-01-01] Redis.\n"),
    "other marks": ("- [keep] Redis.\n", "- [disputed] [keep] Redis.\n"),
    "steps": ("1. tag\n2. build\n", "1. [disputed] tag\n2. build\n"),
    "prose": ("Redis is\non.\n", "[disputed] Redis is\non.\n"),
    "windows": ("- Redis.\r\n", "- [disputed] Redis.\r\n"),
}


@each_row("text, expected", PLACES.values(), ids=PLACES)
def test_the_mark_goes_in_front_and_comes_off_again(text, expected):
    page = document.parse(f"# S\n\n{text}".encode(), SHARED)
    there = marked(page, page.ids[0])
    assert there.data.decode() == f"# S\n\n{expected}"
    assert marked(there, page.ids[0]) is there
    assert unmarked(there, page.ids[0]).data == page.data


@pytest.mark.parametrize(
    "text", ["- ```\n  code\n  ```\n", "| a | b |\n|---|---|\n| 1 | 2 |\n"], ids=["fence", "table"]
)
def test_no_mark_is_put_in_front_of_what_it_would_change(text):
    page = document.parse(f"# S\n\n{text}".encode(), SHARED)
    with pytest.raises(Refused):
        marked(page, page.ids[0])


@pytest.mark.slow
def test_on_real_pages_a_mark_leaves_no_trace():
    """Each entry is marked, found disputed under its id, and is byte for byte what it was without the mark."""
    done = 0
    for path in sorted(CORPUS.rglob("*.md")):
        page = document.parse(path.read_bytes(), SHARED)
        for entry_id in page.ids[:40]:
            try:
                there = marked(page, entry_id)
            except Refused:
                continue
            entry = there.entry(entry_id)
            assert entry is not None
            assert entry.marks.disputed
            assert unmarked(there, entry_id).data == page.data
            done += 1
    assert done > 50
