"""What a footnote says of an entry goes with it through every door, however the text names and spells the footnote."""

from dataclasses import dataclass

import pytest

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.errors import Refused
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.text import footnotes
from agent_memory_protocol.text.footnotes import apart, definitions, folded, spelled_out
from agent_memory_protocol.tiers import document

from .each_row import each_row
from .test_labels_at_doors import DOORS, SHARED, Case, Page, said

CONDITION = "staging alone"
WORD = "quokka"
TEXTS = {
    "a footnote of words": f"- {said(WORD)} [^s]\n- {said('ibex')}\n\n[^s]: Staging alone.\n",
    "a footnote of one word": f"- {said(WORD)}[^1].\n- {said('ibex')}\n\n[^1]: staging\u00a0alone\n",
    "a footnote under a heading": f"- {said('ibex')}\n- {said(WORD)}[^e]\n\n## Notes\n\n[^e]: On\n    staging alone\n",
    "a footnote right below the list": f"- {said('ibex')}\n- {said(WORD)}[^s]\n[^s]: staging alone\n",
    "a footnote of a label": f"Rules[^s]:\n\n- {said(WORD)}\n\nOther.\n\n[^s]: staging alone\n",
}
LABELLED = {"amp restore", "amp sync", "MCP memory_remember"}
"""Doors of which the trial writes under a label."""


@dataclass(frozen=True)
class Noted(Page):
    """A document whose entry has a footnote."""

    whole: str = ""

    @property
    def text(self) -> str:
        return f"# S\n\n{self.whole}"


@pytest.mark.slow
@each_row("name, kind", [(name, kind) for name in DOORS if name not in LABELLED for kind in TEXTS])
def test_an_entry_goes_through_no_door_without_its_footnote(name, kind, tmp_path):
    folder = tmp_path / f"{name} {kind}".replace(" ", "-")
    folder.mkdir()
    at = Case(folder, Noted((("", "", (WORD, "ibex")),), whole=TEXTS[kind]), WORD)
    told = 0
    for output in DOORS[name](at):
        flat = " ".join(output.replace("\u00a0", " ").replace("\\u00a0", " ").replace("\\n", " ").split()).casefold()
        if f"the {WORD} worker" in flat:
            told += 1
            assert CONDITION in flat, output
    assert told


@each_row(
    "text, alone",
    [
        ("- a [^1]\n\n[^1]: Staging only.\n", "a (Staging only)"),
        ("- a[^1], b\n\n[^1]: EU and\n    the US\n", "a (EU and the US), b"),
        ("- a [^1]\n\n[^1]: See [^2]\n\n[^2]: Mondays\n", "a (See (Mondays))"),
        ("- a ([^1])\n\n[^1]: Staging\n", "a ((Staging))"),
        ("- `x[^1]` and [^1]\n\n[^1]: EU\n", "`x[^1]` and (EU)"),
        ("- see [the guide][g]\n\n[g]: https://x.example/g\n", "see [the guide](https://x.example/g)"),
        ("- see [g] and [G][]\n\n[g]: <https://x.example>\n", "see [g](https://x.example) and [G](https://x.example)"),
        ("- [x] done [^none]\n\n[^1]: EU\n", "[x] done [^none]"),
        ("- a [^1]\n\n```\n[^1]: EU\n```\n", "a [^1]"),
        (
            "- \u4e2d\u6587[^\u6ce8]\n\n[^\u6ce8]: \u4ec5\u9650\u6d4b\u8bd5\u3002\n",
            "\u4e2d\u6587 (\u4ec5\u9650\u6d4b\u8bd5)",
        ),
        ("- a [^1]\n\n[^1]: over [^1]\n", "a (over [^1])"),
    ],
)
def test_what_an_entry_refers_to_is_in_the_place_of_the_reference(text, alone):
    page = document.parse(f"# S\n\n{text}".encode(), SHARED)
    assert page.alone(page.outline.entries[0]) == alone


def test_footnotes_of_one_name_keep_what_they_say_when_two_documents_become_one():
    ours = ["- Retries are on [^1]", "", "[^1]: Staging", "[g]: https://a.example"]
    theirs = ["- Batches are large[^1], see [g]", "", "[^1]: Production", "[g]: https://b.example"]
    made = apart(theirs, ours)
    assert made == ["- Batches are large[^1-2], see [g](https://b.example)", "", "[^1-2]: Production"]
    assert apart(made, [*ours, *made]) == made
    assert apart(theirs, theirs) == theirs
    assert apart(theirs, ours, before=theirs) == theirs, "a footnote that was edited keeps its name"


def test_what_is_remembered_with_its_own_footnote_is_one_text():
    assert folded(["Locks are held [^1]", "", "[^1]: Tuesdays."]) == ["Locks are held (Tuesdays)"]
    assert folded(["a", "", "[^1]: nobody refers to it"]) == ["a", "", "[^1]: nobody refers to it"]
    assert definitions(["[^1]: a", "", "    b", "", "c"]) == {"^1": "a b"}
    assert spelled_out("`[^1]`", {"^1": "a"}) == "`[^1]`"


def test_a_footnote_is_recalled_with_what_refers_to_it_and_is_not_forgotten_before_it(tmp_path):
    path = tmp_path / SHARED.path
    path.parent.mkdir(parents=True)
    others = "".join(f"- fact {number} of many\n" for number in range(30))
    path.write_text(f"# S\n\n- Retries are on [^s]\n\n## More\n\n{others}\n[^s]: Staging\n")
    here = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    for lines in range(6, 20):
        text = here.recall(Actor(), max_lines=lines).text
        assert ("Retries" in text) == ("[^s]: Staging" in text)
    assert "Retries" in here.recall(Actor(), task="are retries on?", max_lines=8).text
    retries, note = (next(one.id for one in here.entries() if word in one.text) for word in ("Retries", "[^s]:"))
    with pytest.raises(Refused, match="refer to the footnote"):
        here.forget([note])
    before = path.read_text()
    assert here.forget([retries])[0].text == "- Retries are on (Staging)"
    assert "Staging" in here.restorable()[0].archived.taken.alone
    here.restore(here.restorable())
    assert path.read_text() == before
    here.forget([retries, note])
    assert "[^s]" not in path.read_text()


def test_a_document_is_looked_through_for_footnotes_once(monkeypatch):
    """Each of 4,000 footnotes looked through all lines for what refers to it: a search took two minutes."""
    looks = []

    def counted(name, look):
        def looked(lines):
            looks.append(name)
            return look(lines)

        return looked

    for name in ("definitions", "places_of"):
        monkeypatch.setattr(footnotes, name, counted(name, getattr(footnotes, name)))
    lines = [f"- Fact {number} holds[^n{number}]" for number in range(50)]
    page = "\n".join(["# S", "", *lines, "", *(f"[^n{number}]: on staging {number}\n" for number in range(50))])
    found = document.parse(page.encode(), Target(Tier.SHARED))
    assert sum(map(found.is_footnote, found.outline.entries)) == 50
    assert [found.alone(one) for one in found.outline.entries][7] == "Fact 7 holds (on staging 7)"
    assert sorted(looks) == ["definitions", "places_of"]
