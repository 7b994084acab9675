"""Remember: an entry goes under the label that was named and under no other, and what is there comes in once."""

from datetime import date
from pathlib import Path

import pytest

from agent_memory_protocol import Actor, Tier, Workspace
from agent_memory_protocol.errors import InvalidArgument, RefusedText, SecretFound
from agent_memory_protocol.verbs.upkeep_answers import Removed

PATH = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
NEVER = "# S\n\n**Never:**\n\n- push to main\n"


@pytest.fixture
def page(tmp_path):
    path = tmp_path / PATH
    path.parent.mkdir(parents=True)
    return path


def remember(page: Path, text: str, **how: object) -> str:
    """Remember a text in a project whose shared memory is this page; return how it went."""
    workspace = Workspace.open(page.parents[3], environ={})
    done = workspace.remember(text, **how)  # type: ignore[arg-type]
    assert done.entry.text in page.read_text()
    return done.status


PLACES = {
    "without one, under none": (NEVER, "b", {}, "# S\n\n- b\n\n**Never:**\n\n- push to main\n"),
    "without one, after what has none": (
        "# S\n\n- a\n\nNever:\n\n- b\n",
        "c",
        {},
        "# S\n\n- a\n- c\n\nNever:\n\n- b\n",
    ),
    "in a section, under none": (
        "# S\n\n## Git\n\nNever:\n\n- a\n",
        "b",
        {"section": "Git"},
        "# S\n\n## Git\n\n- b\n\nNever:\n\n- a\n",
    ),
    "one that is there, however it is spelled": (
        NEVER,
        "force",
        {"under": "never"},
        "# S\n\n**Never:**\n\n- push to main\n- force\n",
    ),
    "one that is missing": (
        "# S\n\n- a\n\n## Git\n\n- b\n",
        "c",
        {"under": "Never"},
        "# S\n\n- a\n\nNever:\n\n- c\n\n## Git\n\n- b\n",
    ),
    "one in bold that is missing": ("# S\n", "c", {"under": "**Never**"}, "# S\n\n**Never**\n\n- c\n"),
    "one of another section": (
        "# S\n\n## A\n\nNever:\n\n- a\n\n## B\n\n- b\n",
        "c",
        {"section": "B", "under": "Never"},
        "# S\n\n## A\n\nNever:\n\n- a\n\n## B\n\n- b\n\nNever:\n\n- c\n",
    ),
    "one further down": (
        "# S\n\n- a\n\n## A\n\nNever:\n\n- b\n",
        "c",
        {"under": "Never"},
        "# S\n\n- a\n\n## A\n\nNever:\n\n- b\n- c\n",
    ),
    "one in a section that is missing": (
        "# S\n",
        "c",
        {"section": "Git", "under": "Never"},
        "# S\n\n## Git\n\nNever:\n\n- c\n",
    ),
}


@pytest.mark.parametrize("case", PLACES.values(), ids=PLACES)
def test_an_entry_goes_under_the_label_that_is_named(page, case):
    before, text, how, after = case
    page.write_text(before)
    assert remember(page, text, **how) == "added"
    assert page.read_text() == after
    assert remember(page, text, **how) == "kept"
    assert page.read_text() == after


def test_the_same_text_under_another_label_is_another_fact(page):
    page.write_text(NEVER)
    assert remember(page, "push to main") == "added"
    assert remember(page, "push to main", under="Always") == "added"
    assert remember(page, "push to main", under="NEVER") == "kept"
    assert page.read_text().count("push to main") == 3


@pytest.mark.parametrize(
    "label",
    [
        "",
        "  ",
        ":",
        "**",
        "a\nb",
        "***",
        "a\u200bb",
        "- a",
        "# a",
        "> a",
        "It is red. Never:",
        "<!-- a -->",
        "x" * 1_001,
    ],
)
def test_what_is_no_label_is_refused(page, label):
    page.write_text(NEVER)
    with pytest.raises(RefusedText, match="cannot be a label"):
        Workspace.open(page.parents[3], environ={}).remember("a", under=label)
    assert page.read_text() == NEVER


def test_a_label_that_holds_a_secret_is_refused(page):
    token = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
    page.write_text(NEVER)
    with pytest.raises(SecretFound, match="label"):
        Workspace.open(page.parents[3], environ={}).remember("a", under=token)
    assert page.read_text() == NEVER


GONE = {
    "alone under both": ("# S\n\n## Git\n\nNever:\n\n- GONE\n", ("## Git", "Never:")),
    "alone under its label": ("# S\n\n## Git\n\nNever:\n\n- GONE\n\nAlways:\n\n- a\n", ("Never:",)),
    "with another": ("# S\n\n## Git\n\nNever:\n\n- GONE\n- a\n", ()),
    "under the title": ("# S\n\n- GONE\n", ()),
}


@pytest.mark.parametrize("case", GONE.values(), ids=GONE)
def test_forgetting_says_what_goes_along(page, case):
    before, along = case
    page.write_text(before)
    workspace = Workspace.open(page.parents[3], environ={})
    (gone,) = workspace.forget([one.id for one in workspace.entries() if one.text == "- GONE"])
    assert isinstance(gone, Removed)
    assert gone.went_along == along
    assert gone.alone == ("Never: GONE" if "Never" in before else "- GONE")
    assert workspace.restore(workspace.restorable()).entries
    assert page.read_text() == before


def test_what_went_under_its_label_comes_back_beside_the_same_text_without_one(page):
    before = "# S\n\n- a\n- push\n\nNever:\n\n- push\n- force\n"
    page.write_text(before)
    workspace = Workspace.open(page.parents[3], environ={})
    workspace.forget([one.id for one in workspace.entries() if one.label and one.text == "- push"])
    assert page.read_text() == before.replace("\n- push\n- force", "\n- force")
    (chosen,) = workspace.restorable()
    assert chosen.archived.taken.alone == "Never: push"
    (back,) = workspace.restore([chosen]).entries
    assert back.alone == "Never: push"
    assert page.read_text() == before


def test_of_two_with_one_text_the_one_that_was_overwritten_goes_back(page):
    """The text is there still, but what its label says of it is not."""
    page.write_text("# S\n\n- push to main\n- a\n- b\n")
    workspace = Workspace.open(page.parents[3], environ={})
    before = page.read_text()
    workspace.remember("push to main", under="Never")
    page.write_text(before + "- by an editor\n")
    (healed,) = workspace.sync(apply=True)
    assert healed.put_back == ("Never: push to main",)
    assert page.read_text().endswith("- by an editor\n\nNever:\n\n- push to main\n")


def test_of_two_with_one_text_the_one_without_a_label_goes_back(page):
    page.write_text("# S\n\n- a\n- b\n\nNever:\n\n- push to main\n")
    workspace = Workspace.open(page.parents[3], environ={})
    before = page.read_text()
    workspace.remember("push to main")
    page.write_text(before + "- by an editor\n")
    (healed,) = workspace.sync(apply=True)
    assert healed.put_back == ("- push to main",)
    assert page.read_text().startswith("# S\n\n- a\n- b\n- push to main\n\nNever:\n\n- push to main\n")


@pytest.mark.parametrize("text", ["Never: push", "[2026-01-05] Never: push", "- Never: push"])
def test_what_stands_under_a_label_is_repeated_by_its_text_with_the_label_in_front(page, text):
    workspace = Workspace.open(page.parents[3], environ={})
    workspace.remember("push", under="Never")
    before = page.read_text()
    assert workspace.remember(text).status == "kept"
    assert page.read_text() == before
    for other in ("Always: push", "push", "Never: push it"):
        assert workspace.remember(other).status == "added"


def test_what_is_said_in_full_is_repeated_under_its_label(page):
    workspace = Workspace.open(page.parents[3], environ={})
    workspace.remember("Never: push")
    assert workspace.remember("push", under="**Never:**").status == "kept"
    assert workspace.remember("push", under="Always").status == "added"


def test_a_last_day_is_a_mark_and_may_be_moved(page):
    workspace = Workspace.open(page.parents[3])
    done = workspace.remember("No deploys on Fridays.", until=date(2027, 1, 1))
    assert done.entry.text == "- [until 2027-01-01] No deploys on Fridays."
    again = workspace.remember("No deploys on Fridays.", until=date(2027, 2, 1))
    assert (again.status, again.entry.id, again.notes) == ("kept", done.entry.id, ("it is now true until 2027-02-01",))
    assert again.entry.until == date(2027, 2, 1)
    with pytest.raises(InvalidArgument, match="give one of the two"):
        workspace.remember("[until 2027-01-01] Another fact.", until=date(2027, 2, 1))
    edited = workspace.edit(done.entry.id, "No deploys on Saturdays.")
    assert edited.entry.text == "- [until 2027-02-01] No deploys on Saturdays."


@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        ("[until 2020-01-01] It holds.", "It holds.", "It holds."),
        ("[until 2020-01-01] It holds.", "[until 2999-02-02] It holds.", "[until 2999-02-02] It holds."),
        ("[keep] [until 2020-01-01] It holds.", "It holds.", "[keep] It holds."),
        ("[until 2999-01-01] It holds.", "It holds.", "[until 2999-01-01] It holds."),
        ("[until 2999-01-01] It holds.", "[until 2999-02-02] It holds.", "[until 2999-02-02] It holds."),
        ("It holds.", "It holds.", "It holds."),
    ],
)
def test_what_has_expired_is_true_again_when_somebody_says_it_again(page, before, said, after):
    page.write_text(f"# Shared Knowledge\n\n- {before}\n")
    done = Workspace.open(page.parents[3], environ={}).remember(said)
    assert page.read_text() == f"# Shared Knowledge\n\n- {after}\n"
    assert (done.status, any("is now true" in note for note in done.notes)) == ("kept", before != after)


@pytest.mark.parametrize(
    ("tier", "name"), [(Tier.SHARED, "n" * 30), (Tier.AGENT, "n" * 64), (Tier.AGENT, "開発者" * 20)], ids=str
)
def test_a_plain_write_of_an_agent_says_who_in_a_short_line_and_one_of_a_person_nothing(page, tier, name):
    workspace = Workspace.open(page.parents[3])
    person = workspace.remember("What a person says.", tier=Tier.SHARED)
    ledger = person.path.with_name("ledger.jsonl")
    assert (person.entry.about.writer, ledger.exists()) == (None, False)
    done = workspace.remember("What an agent says.", tier=tier, actor=Actor(name))
    assert workspace.entry(done.entry.id).about.writer == name == done.entry.about.writer
    _, line = done.path.with_name("ledger.jsonl").read_bytes().splitlines(keepends=True)
    assert len(line) <= 121


def test_a_file_with_another_name_is_written_and_that_is_said(page):
    page.write_text("# S\n")
    other = page.with_name("other.txt")
    other.hardlink_to(page)
    workspace = Workspace.open(page.parents[3], environ={})
    done = workspace.remember("the first")
    assert [one for one in done.notes if "hard links" in one]
    assert other.read_text() == "# S\n"
    assert not [one for one in workspace.remember("the second").notes if "hard links" in one]
