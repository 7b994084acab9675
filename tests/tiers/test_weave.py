"""Two branches that edit one entry in different places make one entry of it, in which both edits are."""

import random
from collections.abc import Callable

import pytest

from agent_memory_protocol.tiers.merge import merge
from tests.each_row import each_row

from .conftest import parse
from .test_merge import HEAD, merged

TABLE = "| Service | Port | Owner |\n|---|---|---|\n| api | 8080 | Ann |\n| web | 3000 | Ben |\n| db | 5432 | Cas |\n"
LIST = "- Hosts:\n  - alpha builds\n  - beta holds backups\n    of the day\n  - gamma runs tests\n"
CODE = "- To release:\n\n  ```sh\n  make tag\n  make build\n  make test\n  make push\n  ```\n"
PROSE = "The API is behind a proxy.\n\nIts logs go to a bucket.\n\nOld logs are packed at night.\n"
STEPS = "- Each week:\n  1. read the log\n  2. clear the queue\n  3. tell the team\n"

Edit = Callable[[str], str]


def put(old: str, new: str) -> Edit:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return edit


ONE = [
    ("rows of a table", TABLE, put("8080", "8081"), put("5432", "5433")),
    ("rows beside each other", TABLE, put("8080", "8081"), put("3000", "3001")),
    ("an edited and a new row", TABLE, put("8080", "8081"), put("Cas |\n", "Cas |\n| mq | 5672 | Dan |\n")),
    ("an edited row and one taken out", TABLE, put("8080", "8081"), put("| web | 3000 | Ben |\n", "")),
    ("a table that one side has aligned", TABLE, put("| db | 5432 |", "| db  | 5432 |"), put("3000", "3001")),
    ("items of a nested list", LIST, put("alpha builds", "alpha builds fast"), put("gamma runs", "gamma ran")),
    ("an item and a new one", LIST, put("of the day", "of the week"), put("tests\n", "tests\n  - delta is new\n")),
    ("steps", STEPS, put("the log", "all logs"), put("tell the team", "tell the whole team")),
    ("lines of code", CODE, put("make tag", "make tag V=1"), put("make push", "make push ALL=1")),
    ("paragraphs", PROSE, put("a proxy", "two proxies"), put("at night", "at noon")),
    (
        "a mark and a row",
        "- [2026-01-01] Ports:\n  - 1 is a\n",
        put("2026-01-01", "2026-02-02"),
        put("1 is a", "1 is b"),
    ),
    ("a paragraph below a table and a row", f"{TABLE}\nAsk Ann.\n", put("Ask Ann", "Ask Ben"), put("8080", "8081")),
]


@each_row("base, ours, theirs", [row[1:] for row in ONE], ids=lambda _: "")
def test_edits_of_two_sides_in_different_places_of_one_entry_are_in_one_entry(base, ours, theirs):
    for first, second in ((ours, theirs), (theirs, ours)):
        result = merge(*(parse(f"{HEAD}\n{text}") for text in (base, first(base), second(base))))
        assert result is not None
        assert result.twice == ()
        assert result.document.data.decode() == f"{HEAD}\n{second(first(base))}"


BOTH = [
    (
        TABLE,
        put("8080", "8081"),
        put("8080", "9090"),
        TABLE.replace("| api | 8080", "| api | 8081 | Ann |\n| api | 9090"),
    ),
    (
        TABLE,
        put("Cas |\n", "Cas |\n| mq | 1 | Dan |\n"),
        put("Cas |\n", "Cas |\n| mq | 2 | Dan |\n"),
        TABLE + "| mq | 1 | Dan |\n| mq | 2 | Dan |\n",
    ),
    (LIST, put("alpha builds", "alpha builds all"), put("alpha builds", "alpha builds none"), None),
]


@each_row("base, ours, theirs, wanted", BOTH, ids=lambda _: "")
def test_a_row_that_both_sides_changed_is_there_in_both_forms_and_named(base, ours, theirs, wanted):
    result = merge(*(parse(f"{HEAD}\n{text}") for text in (base, ours(base), theirs(base))))
    assert result is not None
    text = result.document.data.decode()
    assert len(result.twice) == 1
    assert len(result.document.outline.entries) == 1
    assert wanted is None or text == f"{HEAD}\n{wanted}"
    for form in result.twice[0]:
        assert form in text


APART = [
    ("the head of the table", TABLE, put("| Port |", "| Old port |"), put("8080", "8081")),
    ("the text over the list", LIST, put("Hosts:", "Hosts that are gone:"), put("gamma runs", "gamma ran")),
    ("the text over a table", f"In use:\n\n{TABLE}", put("In use", "Not in use"), put("8080", "8081")),
    ("neighbours in code", CODE, put("make tag", "make tag V=1"), put("make build", "make build V=2")),
    ("what a list is under", "- A:\n  - b:\n    - c is on\n  - d\n", put("b:", "not b:"), put("c is on", "c is off")),
    ("a fact that was confirmed", "- [2026-01-01] A is on.\n", put("is on", "is off"), put("2026-01-01", "2026-03-01")),
]


@each_row("base, ours, theirs", [row[1:] for row in APART], ids=lambda _: "")
def test_what_governs_an_entry_is_not_joined_with_an_edit_below_it(base, ours, theirs):
    for first, second in ((ours, theirs), (theirs, ours)):
        sides = [text(base) for text in (first, second)]
        result = merge(*(parse(f"{HEAD}\n{text}") for text in (base, *sides)))
        assert result is not None
        assert len(result.twice) == 1
        for side in sides:
            assert side.strip() in result.document.data.decode()


def rows(chance: random.Random, kind: str, names: list[str]) -> str:
    if kind == "table":
        return "| Name | Is |\n|---|---|\n" + "".join(f"| {name} | {chance.randrange(9)} |\n" for name in names)
    return "- Names:\n" + "".join(f"  - {name} is one of {chance.randrange(9)} things\n" for name in names)


@pytest.mark.parametrize("kind", ["table", "list"])
def test_of_generated_rows_each_edit_is_there_once(kind):
    chance = random.Random(kind)
    for _ in range(60):
        names = [f"n{number}" for number in range(chance.randint(2, 9))]
        base = rows(chance, kind, names).splitlines()
        head = len(base) - len(names)
        edits = {number: chance.choice("oot-T") for number in range(len(names))}
        ours, theirs, wanted = list(base[:head]), list(base[:head]), list(base[:head])
        for number, line in enumerate(base[head:]):
            new = (
                line.replace(f"n{number} ", f"n{number} ", 1)
                .replace("one of", "now of")
                .replace(f"n{number} |", f"n{number} | x")
            )
            edit = edits[number]
            ours += [new] if edit == "o" else [line]
            theirs += [] if edit == "T" else [new] if edit == "t" else [line]
            wanted += [] if edit == "T" else [new] if edit in "ot" else [line]
        if len(wanted) == head:
            continue
        texts = [HEAD + "\n" + "\n".join(text) + "\n" for text in (base, ours, theirs, wanted)]
        assert merged(*texts[:3]) == texts[3], edits
