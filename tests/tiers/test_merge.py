"""Merging two versions of a document: both sides' entries, none twice, none lost, or no answer at all."""

import random
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile, Refused
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.merge import merge
from agent_memory_protocol.tiers.remove import remove
from tests.each_row import each_row

from .conftest import parse

HEAD = "# Shared Knowledge\n<!-- Cross-agent. -->\n"


def merged(base: str, ours: str, theirs: str) -> str | None:
    result = merge(parse(base), parse(ours), parse(theirs))
    return None if result is None else result.document.data.decode()


BASE = HEAD + "\n## Tools\n\n- Use make.\n- Use uv.\n\n## Tests\n\n- Run them all.\n"

CLEAN = [
    pytest.param(
        BASE.replace("- Use uv.\n", "- Use uv.\n- Use ruff.\n"),
        BASE.replace("- Use uv.\n", "- Use uv.\n- Use mypy.\n"),
        BASE.replace("- Use uv.\n", "- Use uv.\n- Use ruff.\n- Use mypy.\n"),
        id="both-add-at-the-same-place",
    ),
    pytest.param(
        BASE.replace("- Use uv.\n", "- Use uv.\n- Use ruff.\n"),
        BASE + "- Use ruff.\n",
        BASE.replace("- Use uv.\n", "- Use uv.\n- Use ruff.\n"),
        id="both-add-the-same-fact-in-two-places",
    ),
    pytest.param(
        BASE.replace("- Use make.\n", ""),
        BASE.replace("- Use make.\n- Use uv.\n", "- Use make.\n- Use uv.\n- Use mypy.\n"),
        BASE.replace("- Use make.\n- Use uv.\n", "- Use uv.\n- Use mypy.\n"),
        id="one-takes-out-what-stands-beside-what-the-other-adds",
    ),
    pytest.param(
        BASE.replace("\n## Tests\n\n- Run them all.\n", ""),
        BASE + "- Run them twice.\n",
        BASE.replace("- Run them all.\n", "- Run them twice.\n"),
        id="a-heading-stays-for-an-entry-that-was-added-under-it",
    ),
    pytest.param(
        BASE + "\n## One\n\n- First.\n",
        BASE + "\n## Two\n\n- Second.\n",
        BASE + "\n## Two\n\n- Second.\n\n## One\n\n- First.\n",
        id="both-add-a-section-at-the-end",
    ),
    pytest.param(
        BASE.replace("- Use uv.", "- [2026-01-05] Use uv."),
        BASE.replace("- Use uv.", "- [2026-02-05] Use uv."),
        BASE.replace("- Use uv.", "- [2026-02-05] Use uv."),
        id="of-two-new-dates-the-newer-counts",
    ),
    pytest.param(
        BASE.replace("- Use uv.\n", ""),
        BASE.replace("- Use uv.", "- [2026-02-05] Use uv."),
        BASE.replace("- Use uv.", "- [2026-02-05] Use uv."),
        id="what-one-side-confirmed-stays",
    ),
    pytest.param(
        BASE.replace("- Run them all.\n", "- Run them all.\n- And lint.\n"),
        BASE.replace("- Use uv.\n", "").replace("- Run them all.\n", "- Run them all.\n- Use uv.\n"),
        BASE.replace("- Use uv.\n", "").replace("- Run them all.\n", "- Run them all.\n- And lint.\n- Use uv.\n"),
        id="what-one-side-moved-is-moved",
    ),
    pytest.param(
        BASE.replace("# Shared Knowledge", "# What we know"),
        BASE + "- And lint.\n",
        BASE.replace("# Shared Knowledge", "# What we know") + "- And lint.\n",
        id="a-new-title-and-a-new-entry",
    ),
    pytest.param(
        BASE + "\n## Notes\n\n<!-- amp:index -->\n\n- [A](user_a.md) - one\n\n<!-- /amp:index -->\n",
        BASE + "\n## Notes\n\n<!-- amp:index -->\n\n- [B](user_b.md) - two\n\n<!-- /amp:index -->\n",
        BASE
        + "\n## Notes\n\n<!-- amp:index -->\n\n- [A](user_a.md) - one\n- [B](user_b.md) - two\n\n<!-- /amp:index -->\n",
        id="both-add-a-note-to-the-index",
    ),
    pytest.param(
        BASE.replace("\n", "\r\n").replace("- Use uv.\r\n", "- Use uv.\r\n- Use ruff.\r\n"),
        BASE.replace("- Use uv.\n", "- Use uv.\n- Use mypy.\n"),
        BASE.replace("- Use uv.\n", "- Use uv.\n- Use ruff.\n- Use mypy.\n").replace("\n", "\r\n"),
        id="the-line-ending-is-ours",
    ),
]


@each_row("ours, theirs, wanted", CLEAN)
def test_what_both_sides_did_is_in_the_result(ours, theirs, wanted):
    assert merged(BASE, ours, theirs) == wanted


def test_a_rule_stays_with_the_section_that_it_sets_off():
    base = "# S\n\n- a\n"
    ours, theirs = (f"{base}\n---\n\n## {name}\n\n- {name.lower()}\n" for name in "XY")
    merged = merge(*map(parse, (base, ours, theirs)))
    assert merged is not None
    assert merged.document.data.decode() == f"{base}\n---\n\n## Y\n\n- y\n\n---\n\n## X\n\n- x\n"
    again = merge(*map(parse, (base, merged.document.data.decode(), theirs)))
    assert again is not None
    assert again.document.data == merged.document.data


def test_what_comes_in_stands_below_the_comment_under_a_heading():
    ours, theirs = "# Memory\n<!-- What it is for. -->\n", "# Other\n\n- One.\n\n## More\n\n- Two.\n"
    assert merged("", ours, theirs) == ours + "\n- One.\n\n## More\n\n- Two.\n"


UNDECIDED = [
    pytest.param(BASE.replace("# Shared", "# Our"), BASE.replace("# Shared", "# Their"), id="two-titles"),
    pytest.param(BASE + "- [A](a.md) - one\n", BASE + "- [A](a.md) - two\n", id="two-hooks-for-one-note"),
    pytest.param(BASE + "\n```\nopen\n", BASE + "- More.\n", id="a-fence-that-never-closes"),
    pytest.param(
        BASE + "\nProse.\n\n```\nopen\n", BASE + "\nTheir prose.\n", id="prose-below-a-fence-that-never-closes"
    ),
    pytest.param(BASE + "<<<<<<< a\n- x\n=======\n>>>>>>> b\n", BASE + "- More.\n", id="conflict-markers"),
    pytest.param("---\na: 1\n---\n" + BASE, "---\na: 2\n---\n" + BASE, id="two-kinds-of-front-matter"),
]


@each_row("ours, theirs", UNDECIDED)
def test_where_it_is_not_certain_it_says_nothing(ours, theirs):
    assert merged(BASE, ours, theirs) is None


def test_changes_beside_each_other_need_nobody():
    ours, theirs = BASE.replace("# Shared", "# Our"), BASE.replace("Cross-agent", "For all")
    assert merged(BASE, ours, theirs) == ours.replace("Cross-agent", "For all")


def test_an_entry_edited_on_both_sides_is_there_twice_and_named():
    ours, theirs = BASE.replace("Use uv.", "Use uv 0.9."), BASE.replace("Use uv.", "Use uv, not pip.")
    result = merge(parse(BASE), parse(ours), parse(theirs))
    assert result is not None
    assert result.document.data.decode() == BASE.replace("- Use uv.\n", "- Use uv 0.9.\n- Use uv, not pip.\n")
    assert result.twice == (("- Use uv 0.9.", "- Use uv, not pip."),)


@each_row(
    "ours, theirs, twice",
    [
        ("- A.\n- Redis: AOF is on since June.\n- C.\n", "- A.\n- Nothing is queued in it now.\n- C.\n", True),
        ("- A.\n- AOF is on.\n- More.\n- C.\n", "- A.\n- Less.\n- Nothing is queued.\n- C.\n- D.\n", True),
        ("- A, too.\n- AOF is on.\n- C.\n", "- A, again.\n- Nothing is queued.\n- C.\n", True),
        ("- A.\n- C.\n- AOF is on.\n", "- A.\n- Nothing is queued.\n- C.\n", False),
        ("- A.\n- C.\n", "- A.\n- Nothing is queued.\n- C.\n", False),
    ],
    ids=["in its place", "beside what is new", "beside another edit", "one elsewhere", "one taken out"],
)
def test_an_entry_that_both_sides_put_in_other_words_is_named_by_its_place(ours, theirs, twice):
    head = "# Shared\n\n## Queue\n\n"
    base = f"{head}- A.\n- Redis loses its queue on restart unless that is configured.\n- C.\n"
    result = merge(parse(base), parse(head + ours), parse(head + theirs))
    assert result is not None
    assert bool(result.twice) == twice


def test_an_entry_edited_on_one_side_is_there_once():
    ours = BASE.replace("Use uv.", "Use uv 0.9.")
    for mine, other in ((ours, BASE), (BASE, ours), (ours, ours)):
        result = merge(parse(BASE), parse(mine), parse(other))
        assert result is not None
        assert (result.document.data.decode(), result.twice) == (ours, ())


class Project:
    """A document as a table of sections, and what one side may do to it."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.sections = {
            f"Section {letter}": [self.entry(f"{letter}{number}") for number in range(chance.randint(1, 4))]
            for letter in "ABCD"[: chance.randint(1, 4)]
        }

    def entry(self, name: str) -> tuple[str, str]:
        day = self.chance.choice(["", "", f"[2026-01-{self.chance.randint(1, 28):02d}] "])
        return day, f"Fact {name} says {self.chance.choice(['this', 'that'])}."

    def copy(self) -> "Project":
        other = Project.__new__(Project)
        other.chance = self.chance
        other.sections = {name: list(entries) for name, entries in self.sections.items()}
        return other

    def change(self, side: str) -> None:
        for number in range(self.chance.randint(0, 6)):
            name = self.chance.choice(list(self.sections))
            entries = self.sections[name]
            position = self.chance.randrange(len(entries) + 1)
            act = self.chance.choice(["add", "add", "section", "take", "edit", "confirm"])
            if act == "add":
                entries.insert(position, self.entry(f"{side}{number}"))
            elif act == "section":
                self.sections[f"New {side} {number}"] = [self.entry(f"{side}{number}")]
            elif entries:
                position = min(position, len(entries) - 1)
                if act == "take":
                    del entries[position]
                elif act == "edit":
                    entries[position] = (entries[position][0], entries[position][1] + f" Or {side}{number}.")
                else:
                    entries[position] = (f"[2026-0{self.chance.randint(2, 5)}-01] ", entries[position][1])

    def text(self) -> str:
        parts = [HEAD]
        for name, entries in self.sections.items():
            if entries:
                parts.append(f"\n## {name}\n\n" + "".join(f"- {day}{fact}\n" for day, fact in entries))
        return "".join(parts)

    def facts(self) -> dict[str, tuple[str, str]]:
        """Return each fact's section and day."""
        return {fact: (name, day) for name, entries in self.sections.items() for day, fact in entries}


def expected(base: Project, ours: Project, theirs: Project) -> dict[str, tuple[str, str]]:
    old, mine, other = base.facts(), ours.facts(), theirs.facts()
    wanted = {}
    for fact in {**mine, **other}:
        one, two, before = mine.get(fact), other.get(fact), old.get(fact)
        if one and two:
            wanted[fact] = two if one == before else one if two == before else max(one, two, key=lambda pair: pair[1])
        elif before is None or (one or two) != before:
            wanted[fact] = one or other[fact]
    return wanted


def found(result: Document) -> dict[str, tuple[str, str]]:
    facts = {}
    for entry in result.outline.entries:
        text = result.text(entry).removeprefix("- ")
        day = date.fromordinal(entry.day).isoformat() if entry.day else ""
        fact = text.removeprefix(f"[{day}] ")
        assert fact not in facts
        facts[fact] = (result.section(entry), f"[{day}] " if day else "")
    return facts


@pytest.mark.slow
def test_generated_merges_lose_nothing_and_double_nothing(sized):
    for seed in range(sized(100, 500, 500)):
        base = Project(random.Random(seed))
        ours, theirs = base.copy(), base.copy()
        ours.change("o")
        theirs.change("t")
        result = merge(*(parse(project.text()) for project in (base, ours, theirs)))
        assert result is not None, seed
        assert found(result.document) == expected(base, ours, theirs), seed
        other_way = merge(*(parse(project.text()) for project in (base, theirs, ours)))
        assert other_way is not None, seed
        assert found(other_way.document) == found(result.document), seed


@given(st.integers(0, 1 << 32))
def test_a_side_that_did_nothing_changes_nothing(seed):
    base = Project(random.Random(seed))
    changed = base.copy()
    changed.change("x")
    assert merged(base.text(), changed.text(), base.text()) == changed.text()
    assert merged(base.text(), changed.text(), changed.text()) == changed.text()
    assert merged(base.text(), base.text(), changed.text()) is not None


def real_documents(corpus):
    for path in corpus:
        try:
            doc = parse(path.read_bytes())
        except DamagedFile:
            continue
        if doc.ids and len(doc.data) < 20_000 and not doc.begin:
            yield doc


@pytest.mark.slow
def test_real_files_come_whole_from_either_side(some_files):
    empty, tried, certain = parse(""), 0, 0
    for doc in real_documents(some_files):
        tried += 1
        for sides in ((doc, doc, doc), (empty, doc, empty), (empty, empty, doc)):
            result = merge(*sides)
            if result is not None:
                certain += 1
                assert result.document.lines == doc.lines
    assert certain >= 0.97 * 3 * tried > 0


@pytest.mark.slow
def test_of_real_files_each_side_takes_out_its_own_and_adds_its_own(some_files):
    tried, certain = 0, 0
    for doc in real_documents(some_files):
        chance = random.Random(len(doc.data))
        kept = [one for one in doc.ids if chance.random() < 0.6]
        one, two = [{one for one in doc.ids if one not in kept and chance.random() < 0.5} for _ in "ab"]
        try:
            without = {name: remove(doc, gone) for name, gone in (("one", one), ("two", two), ("both", one | two))}
        except Refused:
            continue
        tried += 2
        taken_out = merge(doc, without["one"], without["two"])
        added = merge(without["both"], without["two"], without["one"])
        for result, wanted in ((taken_out, set(doc.ids) - one - two), (added, set(doc.ids) - (one & two))):
            if result is not None:
                certain += 1
                assert items(result.document) == items(doc, wanted)
    assert certain >= 0.9 * tried > 0


def items(doc, wanted=None):
    """Return the texts of a document's list items; prose may come together, so it is looked at line by line."""
    return sorted(
        line
        for one, entry in zip(doc.ids, doc.outline.entries, strict=True)
        if wanted is None or one in wanted
        for line in doc.text(entry).split("\n")
        if line.strip()
    )
