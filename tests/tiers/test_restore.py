"""Putting entries back: where they were, as near as can be told, and nothing else is another."""

import pytest

from agent_memory_protocol.errors import Refused
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.remove import leaving
from agent_memory_protocol.tiers.remove import remove as take_out
from agent_memory_protocol.tiers.restore import put_back, put_back_all
from agent_memory_protocol.tiers.taken import Place, Taken, take
from tests.each_row import each_row

from .conftest import ids_with, parse, remove_and_return


def texts(doc: Document) -> list[str]:
    return [doc.text(entry) for entry in doc.outline.entries]


def headings(doc: Document) -> list[str]:
    return [heading.text for heading in doc.outline.headings]


LIST = "# T\n\n- a\n- b\n- c\n- d\n- e\n- f\n\n## Z\n\n- z\n"


@each_row("order", [1, -1], ids=["in file order", "against it"])
@each_row("words", ["ab", "bc", "ef", "bde", "abcdef", "fz", "abcdefz"])
def test_entries_come_back_in_any_order(words, order):
    assert remove_and_return(LIST, *(f"- {word}" for word in words), order=order) == LIST


@each_row("wanted", "abcdef")
def test_one_of_many_that_went_finds_its_place_by_the_others_that_went(wanted):
    doc = parse(LIST)
    taken = {one: take(doc, one) for one in ids_with(doc, "- b", "- c", "- d", "- e", f"- {wanted}")}
    left = take_out(doc, list(taken))
    back = put_back(left, taken[ids_with(doc, f"- {wanted}")[0]], taken)
    stayed = [f"- {word}" for word in "abcdef" if word == wanted or f"- {word}" in left.data.decode().split("\n")]
    assert texts(back) == [*stayed, "- z"]


def test_a_heading_comes_back_once_with_the_first_entry_that_comes_back():
    text = "# T\n\n- x\n\n## A\n\n- a\n- b\n- c\n\n## B\n\n- y\n"
    doc = parse(text)
    left = take_out(doc, ids_with(doc, "- a", "- b", "- c"))
    assert headings(left) == ["T", "B"]
    for word in "bca":
        left = put_back(left, take(doc, ids_with(doc, f"- {word}")[0]))
        assert headings(left) == ["T", "A", "B"]
    assert left.data.decode() == text


def test_several_headings_come_back_where_they_were_nested():
    text = "# T\n\n## A\n\n### A.1\n\n#### A.1.a\n\n- deep\n\n## B\n\n- b\n"
    doc = parse(text)
    assert take_out(doc, ids_with(doc, "deep")).data.decode() == "# T\n\n## B\n\n- b\n"
    assert remove_and_return(text, "deep") == text


def test_a_label_comes_back_once_with_its_first_item():
    text = "# T\n\n**One:**\n\n- a\n- b\n\n**Two:**\n\n- c\n"
    assert remove_and_return(text, "- a", "- b") == text
    assert remove_and_return(text, "- a", "- b", "- c") == text
    assert remove_and_return(text, "- a", "- b", "- c", order=-1) == text


@each_row("above", ["A sentence. **Never:**", "<details>\n<summary>Never</summary>"])
def test_an_item_comes_back_under_its_label_and_no_other(above):
    text = f"# T\n\n**Always:**\n\n- open a PR\n\n{above}\n\n- push\n"
    doc = parse(text)
    item = take(doc, ids_with(doc, "- push")[0])
    left = take_out(doc, [item.id])
    left = take_out(left, [one for one, entry in left.by_id if "sentence" in left.text(entry)])
    back = put_back(left, item)
    assert {back.text(one): back.label(one) for one in back.outline.entries}["- push"] == "**Never:**"


def test_what_closes_an_element_goes_and_comes_with_its_last_item():
    text = "# T\n\n<details>\n<summary>Never</summary>\n\n- push\n- squash\n\n</details>\n\n- x\n"
    doc = parse(text)
    assert take_out(doc, ids_with(doc, "- push", "- squash")).data.decode() == "# T\n\n- x\n"


def test_sections_of_one_name_are_told_apart():
    text = "# T\n\n## Log\n\n- one\n\n## Other\n\n- x\n\n## Log\n\n- two\n\n## End\n\n- y\n"
    for words in (["one"], ["two"], ["one", "two"], ["two", "x"], ["one", "x"], ["one", "two", "x", "y"]):
        assert remove_and_return(text, *words) == text, words


def test_an_entry_comes_back_between_a_comment_and_a_rule():
    text = "# T\n\n- a\n\n<!-- here -->\n\n- b\n\n---\n\n[x]: /url\n\n- c\n"
    assert remove_and_return(text, "- b") == text
    assert remove_and_return(text, "- a", "- b", "- c") == text


def test_an_entry_comes_back_after_the_note_lines_it_stood_after():
    text = "# T\n\n- [A](a.md) - hook\n- b\n- [C](c.md) - hook\n- d\n"
    assert remove_and_return(text, "- b", "- d") == text


def test_sections_that_rules_kept_apart_come_back_in_their_order():
    text = "# T\n\n## A\n\n- a\n\n---\n\n## B\n\n- b\n\n---\n\n## C\n\n- c\n\n---\n\n## D\n\n- d\n"
    for words in (["- b"], ["- b", "- c"], ["- a", "- b"], ["- a", "- b", "- c", "- d"]):
        after = remove_and_return(text, *words)
        assert texts(parse(after)) == ["- a", "- b", "- c", "- d"]
        assert headings(parse(after)) == ["T", "A", "B", "C", "D"]


def test_the_place_survives_a_reworded_title_and_a_changed_heading_mark():
    doc = parse("# Title\n\n## Redis #infra\n\n- a\n- b\n")
    taken = take(doc, ids_with(doc, "- b")[0])
    changed = parse("# A better title\n\n## redis\n\n- a\n")
    assert put_back(changed, taken).data.decode() == "# A better title\n\n## redis\n\n- a\n- b\n"


def test_the_place_survives_a_section_that_was_moved():
    doc = parse("# T\n\n## A\n\n- a\n- b\n\n## B\n\n- c\n")
    taken = take(doc, ids_with(doc, "- b")[0])
    changed = parse("# T\n\n## B\n\n- c\n\n## A\n\n- a\n")
    assert put_back(changed, taken).data.decode() == "# T\n\n## B\n\n- c\n\n## A\n\n- a\n- b\n"


def test_the_place_survives_neighbours_that_are_others_now():
    doc = parse("# T\n\n## A\n\n- a\n- b\n- c\n")
    taken = take(doc, ids_with(doc, "- b")[0])
    changed = parse("# T\n\n## A\n\n- new\n- other\n")
    assert "- b" in texts(put_back(changed, taken))
    assert headings(put_back(changed, taken)) == ["T", "A"]


def test_an_entry_comes_back_into_a_file_that_was_made_anew():
    doc = parse("# Old\n\n## A\n\n- a\n")
    taken = take(doc, doc.ids[0])
    assert put_back(parse("# New\n<!-- c -->\n"), taken).data.decode() == "# New\n<!-- c -->\n\n## A\n\n- a\n"
    assert texts(put_back(parse(""), taken)) == ["- a"]


def test_an_entry_whose_place_is_unknown_comes_back_somewhere():
    for text in ("", "# T\n", "# T\n\n- a\n", "# T\n\n## A\n\n- a\n"):
        back = put_back(parse(text), Taken("0" * 12, "- lost", Place()))
        assert "- lost" in texts(back)
        assert headings(back) == headings(parse(text))


def test_prose_that_something_kept_apart_comes_back_as_a_part_of_other_prose_and_only_once():
    doc = parse("# T\n\nfirst\n\n- between\n\nlast\n")
    taken = [take(doc, one) for one in doc.ids]
    left = take_out(doc, doc.ids[:2])
    joined = put_back(left, taken[0])
    assert texts(joined) == ["first\n\nlast"]
    assert put_back(joined, taken[0]) is joined
    assert put_back(joined, taken[1]).data == doc.data


def test_an_entry_does_not_come_back_into_a_fence_that_never_closes():
    doc = parse("# T\n\n- a\n\n## B\n\n- b\n")
    taken = take(doc, ids_with(doc, "- b")[0])
    with pytest.raises(Refused, match=f"the entry {taken.id} cannot be restored to its old place; add it by hand"):
        put_back(parse("```\n# T\n\n- a\n"), taken)


@each_row(
    "sample",
    [
        "```sh\n- Run make.\n```",
        "    - Run make.\n    - Run more.",
        "<div>\n- Run make.\n</div>",
        "```\n- Run make.\nno end",
    ],
    ids=["fence", "indented", "html", "open-fence"],
)
def test_a_sample_that_holds_the_same_line_keeps_no_entry_from_coming_back(sample):
    doc = parse(f"# T\n\n- Run make.\n\nAs here:\n\n{sample}\n")
    taken = take(doc, doc.ids[0])
    back = put_back(take_out(doc, [taken.id]), taken)
    assert back.data == doc.data


KEPT_APART = [
    pytest.param(
        "# T\n<!-- c -->\n\n- x\n- BACK\n\n## A\n\n- a\n",
        "# T\n<!-- c -->\n\n## A\n\n- a\n",
        "# T\n<!-- c -->\n\n- BACK\n\n## A\n\n- a\n",
        id="below the header's blank line",
    ),
    pytest.param(
        "# T\n\n## A\n- x\n- BACK\n\n## B\n- b\n",
        "# T\n\n## A\n\n- new\n\n## B\n\n- b\n",
        "# T\n\n## A\n\n- new\n- BACK\n\n## B\n\n- b\n",
        id="where the section has come to be spaced",
    ),
    pytest.param(
        "# T\n\n## A\n- BACK\n- x\n\n## B\n- b\n",
        "# T\n\n## A\n\n- new\n\n## B\n\n- b\n",
        "# T\n\n## A\n\n- BACK\n- new\n\n## B\n\n- b\n",
        id="first in such a section",
    ),
    pytest.param(
        "# T\n\n- x\n\n## A\n- BACK\n- y\n\n## B\n- b\n",
        "# T\n\n- x\n\n## B\n- b\n",
        "# T\n\n- x\n\n## A\n- BACK\n\n## B\n- b\n",
        id="apart from the next heading",
    ),
]


@each_row("before, now, after", KEPT_APART)
def test_an_entry_whose_neighbours_are_gone_leaves_headings_and_their_blank_lines_together(before, now, after):
    doc = parse(before)
    taken = take(doc, ids_with(doc, "BACK")[0])
    assert put_back(parse(now), taken).data.decode() == after


def test_between_its_own_neighbours_an_entry_has_the_blank_lines_it_had():
    doc = parse("# T\n- BACK\n\n## B\n- b\n")
    taken = take(doc, doc.ids[0])
    left = take_out(doc, [taken.id])
    assert left.data == b"# T\n\n## B\n- b\n"
    assert put_back(left, taken).data == doc.data


def test_what_stood_together_goes_back_with_few_readings_of_the_document(monkeypatch):
    page = "# T\n\n" + "".join(f"- fact {number}\n" for number in range(400)) + "\n## U\n\n- last\n"
    whole = parse(page)
    gone = [one for one in whole.ids[:399] if one != whole.ids[200]]
    left = take_out(whole, gone)
    taken = [take(whole, one) for one in reversed(gone)]
    readings = []
    read = document._read_after

    def counted(*args):
        readings.append(args)
        return read(*args)

    monkeypatch.setattr(document, "_read_after", counted)
    back, refused = put_back_all(left, taken)
    assert (back.data, refused) == (page.encode(), {})
    assert len(readings) < 20


def test_of_a_group_that_cannot_all_go_back_the_others_do():
    whole = parse("# T\n\n- a\n- b\n- c\n- d\n- e\n")

    def check(_old, new):
        if b"- c\n" in new.data:
            raise Refused("no c")

    back, refused = put_back_all(
        take_out(whole, whole.ids[1:4]), [take(whole, one) for one in whole.ids[1:4]], check=check
    )
    assert back.data == b"# T\n\n- a\n- b\n- d\n- e\n"
    assert [*refused] == [whole.ids[2]]


@each_row("digits", [1, 2])
def test_entries_whose_ids_begin_alike_come_back_once_each(digits, monkeypatch):
    """Of ten thousand ids some begin with the same six digits; with one or two, nearly all of sixty do."""
    monkeypatch.setattr("agent_memory_protocol.tiers.taken._NEAR", digits)
    text = "# T\n\n" + "".join(f"- Service {number} keeps its log in folder {number * 7}.\n" for number in range(60))
    doc = parse(text)
    taken = [take(doc, one) for one in doc.ids]
    back, refused = put_back_all(take_out(doc, doc.ids), taken)
    assert not refused
    assert back.data.decode() == text


def test_equal_entries_among_others_leave_with_their_ranks():
    text = "# T\n\n- same\n- same\n" + "".join(f"- fact {number}\n" for number in range(50))
    doc = parse(text)
    left = take_out(doc, doc.ids[:2])
    assert [one.rank for _, one in leaving(doc, left)] == [1, 2]
