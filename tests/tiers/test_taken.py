"""An entry outside its document: what the ledger and the journal keep of it, and what that tells."""

import pytest

from agent_memory_protocol.tiers.taken import Place, Taken, as_json, from_json, take
from tests.each_row import each_row

from .conftest import ids_with, parse


@each_row(
    "place",
    [{}, {"place": None}, {"place": []}, {"place": {"headings": 3}}, {"place": {"headings": [["# T"]], "blank": 0}}],
    ids=str,
)
def test_a_place_that_is_none_of_ours_counts_as_unknown(place):
    assert from_json("x", {"markdown": "- a", **place}) == Taken("x", "- a", Place())


def test_what_has_no_markdown_is_no_entry():
    with pytest.raises(ValueError, match="no Markdown"):
        from_json("x", {"place": {}})


def test_a_place_tells_nothing_of_what_stood_around():
    # Else a neighbour's line in the ledger would keep a text that was redacted.
    doc = parse("# T\n\n- secret before\n- x\n- secret after\n\nsecret prose\n\n## Next\n\n- y\n")
    said = str(as_json(take(doc, ids_with(doc, "- x")[0])))
    assert "secret" not in said
