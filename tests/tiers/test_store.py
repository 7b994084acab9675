"""Finding and reading tier documents: one agent one folder, each line ending alike, of a huge file only its ends."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import DamagedFile
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.limits import count_lines
from agent_memory_protocol.text.visible import without_hidden
from agent_memory_protocol.tiers import store
from tests.each_row import each_row

SHARED = Target(Tier.SHARED)
FILLER = "- an entry of ordinary length about something that was learned once\n"


def agent(name: str) -> Target:
    return Target(Tier.AGENT, name)


def conversation(name: str) -> Target:
    return Target(Tier.CONVERSATION, name)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(str(tmp_path)) as opened:
        yield opened


def write(root: Root, target: Target, data: str | bytes) -> Path:
    file = Path(root.path, *target.parts)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return file


def read(root: Root, target: Target = SHARED) -> store.TierText:
    source = store.read(root, target)
    assert source is not None
    return source


@pytest.mark.requirement("S4-11")
@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("Developer", "developer"),
        ("developer", "DEVELOPER"),
        ("jose\u0301", "josé"),
        ("JOSÉ", "josé"),
        ("strasse", "strasse"),
    ],
)
def test_a_name_finds_the_folder_that_differs_only_by_case_or_unicode_form(root, folder, name):
    """B44, B46."""
    write(root, agent(folder), "- a\n")
    found = store.locate(root, agent(name))
    assert found.owner == folder
    assert read(root, agent(name)).target.path == agent(folder).path


@pytest.mark.requirement("S4-11")
def test_the_name_as_it_is_given_wins_where_both_folders_exist(root):
    write(root, agent("dev"), "- lower\n")
    if Path(root.path, *agent("DEV").parts).exists():
        pytest.skip("this file system does not tell them apart")
    write(root, agent("DEV"), "- upper\n")
    assert (read(root, agent("dev")).text, read(root, agent("DEV")).text) == ("- lower\n", "- upper\n")


@pytest.mark.requirement("S4-11", "S4-16")
def test_a_name_finds_no_other_folder(root):
    """B74: conversation 1 does not match 10."""
    write(root, agent("dev-2"), "- other\n")
    write(root, conversation("10"), "- ten\n")
    assert store.read(root, agent("dev")) is None
    assert store.read(root, conversation("1")) is None
    assert store.locate(root, conversation("1")).owner == "1"


@pytest.mark.requirement("S4-29")
def test_what_does_not_exist_is_nothing_and_nothing_is_created(root):
    for target in (SHARED, agent("dev"), conversation("c1")):
        assert store.read(root, target) is None
    assert store.list_targets(root) == []
    assert os.listdir(root.path) == []


@pytest.mark.requirement("S4-05", "S4-06", "S4-10", "S4-15")
def test_documents_are_listed_shared_then_agents_then_conversations(root):
    for target in (conversation("c2"), agent("b"), SHARED, agent("a"), conversation("c1")):
        write(root, target, "- a\n")
    Path(root.path, *agent("empty").parts[:-1]).mkdir()
    Path(root.path, *agent("x").parts[:-2], "loose.md").write_text("- no agent\n")
    assert [str(target) for target in store.list_targets(root)] == [
        "shared",
        "agent:a",
        "agent:b",
        "conversation:c1",
        "conversation:c2",
    ]


def test_a_document_of_which_only_the_ledger_is_left_is_listed_when_asked_for(root):
    write(root, agent("a"), "- a\n")
    ledger = Path(root.path, *agent("gone").parts[:-1], "ledger.jsonl")
    ledger.parent.mkdir()
    ledger.write_text("{}\n")
    assert [str(target) for target in store.list_targets(root)] == ["agent:a"]
    assert [str(target) for target in store.list_targets(root, beside="ledger.jsonl")] == ["agent:a", "agent:gone"]


@each_row("name", ["a b", "-x", "x.", "devel\u043eper", "a\u200bb"])
def test_a_folder_that_nobody_can_be_called_is_damage(name):
    assert "nobody can recall this" in store.why_nobodys(agent(name))
    with pytest.raises(DamagedFile, match="rename its folder") as refused:
        store.check_name(agent(name))
    assert str(refused.value).isprintable()


@each_row("target", [SHARED, agent("dev"), agent("josé"), conversation("c1")], ids=str)
def test_one_that_somebody_can_is_none(target):
    assert store.why_nobodys(target) == ""
    store.check_name(target)


@pytest.mark.parametrize(
    "data", ["# S\n\n- a\n", "# S\r\n\r\n- a\r\n", "# S\r\r- a\r", "\ufeff# S\n\n- a\n", "# S\n\r\n- a\r"], ids=ascii
)
def test_text_has_one_line_ending_and_no_byte_order_mark(root, data):
    """B50."""
    write(root, SHARED, data)
    source = read(root)
    assert source.text == "# S\n\n- a\n"
    assert (source.lines, source.gap) == (3, None)


@pytest.mark.parametrize("data", ["", "\n", "a", "a\n", "a\fb\n", "a\u2028b\r\nc"], ids=ascii)
def test_lines_are_counted_as_everywhere(root, data):
    """B05."""
    write(root, SHARED, data)
    assert read(root).lines == count_lines(data.encode())


@pytest.mark.requirement("S4-27")
def test_each_read_gives_what_is_on_disk_now(root):
    file = write(root, SHARED, "- old\n")
    assert read(root).text == "- old\n"
    file.write_text("- new\n")
    assert read(root).text == "- new\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"- a\n- caf\xe9\n", r"KNOWLEDGE\.md:2: byte 0xE9 is not UTF-8"),
        ("- a\n".encode("utf-16"), "is UTF-16"),
        ("- a\n".encode("utf-32"), "is UTF-32"),
    ],
    ids=["latin-1", "utf-16", "utf-32"],
)
def test_what_is_not_utf_8_is_damage(root, data, reason):
    write(root, SHARED, data)
    with pytest.raises(DamagedFile, match=reason):
        store.read(root, SHARED)


def huge(root: Root, head: str, tail: str, middle: str = "") -> store.TierText:
    """Read a file of which `head` and `tail` are near its ends and `middle` is not read."""
    fill = FILLER * (300_000 // len(FILLER))
    write(root, SHARED, f"# S\n\n{head}{fill}{middle}{fill}{tail}")
    source = read(root)
    assert source.gap is not None
    return source


def test_of_a_huge_file_both_ends_are_read_and_all_lines_counted(root):
    """B83."""
    source = huge(root, "- first\n", "- last\n", "- in the middle\n")
    assert source.text.startswith("# S\n\n- first\n")
    assert source.text.endswith("- last\n")
    assert "in the middle" not in source.text
    assert len(source.text) < 256 * 1024
    assert source.lines == Path(root.path, *SHARED.parts).read_bytes().count(b"\n")
    assert source.text.split("\n")[(source.gap or 0) - 1].endswith("once")


def long(text: str) -> str:
    """Fill up a head, so that what begins in it is open where it ends."""
    return text + "x\n" * 40_000


OPEN = [
    pytest.param("<!--\nhidden\n", "-->\n", id="comment-closed-in-the-middle"),
    pytest.param(long("<!--\nhidden\n"), "-->\n", id="comment-open-at-the-end-of-the-head"),
    pytest.param("", "<!--\n" + "hidden\n" * 3, id="comment-opened-in-the-middle"),
    pytest.param(long("<?php\nhidden\n"), "?>\n", id="processing-instruction"),
]


@pytest.mark.requirement("S4-60")
@pytest.mark.parametrize(("head", "middle"), OPEN)
def test_a_comment_that_reaches_over_a_border_stays_hidden(root, head, middle):
    tail = "hidden\n-->\n- last\n" if "<!--" in middle else "- last\n"
    shown = without_hidden(huge(root, head, tail, middle).text)[0]
    assert "hidden" not in shown
    assert shown.endswith("- last\n")


HIDDEN = "\n<!--\nhidden\n-->\n\n[//]: # (hidden)\n\n- a <!-- hidden --> b <?x hidden ?>\n- last\n"


@pytest.mark.requirement("S4-60")
@pytest.mark.parametrize(
    ("head", "middle", "tail"),
    [
        pytest.param(long("```\ncode\n"), "```\n", HIDDEN, id="a-fence-open-at-the-end-of-the-head"),
        pytest.param("", "```\n", "```\n" + HIDDEN, id="a-fence-that-ends-in-the-tail"),
        pytest.param("", "- a\n\n", HIDDEN.replace("\n", "\n      "), id="an-item-that-looks-like-code-in-the-tail"),
    ],
)
def test_code_that_reaches_over_a_border_makes_nothing_hidden_visible(root, head, middle, tail):
    source = huge(root, head, tail, middle)
    shown = without_hidden(source.text)[0]
    assert "hidden" not in shown
    assert "- last" in shown


def test_a_comment_that_is_only_spoken_of_hides_nothing_after_it(root):
    source = huge(root, "", "- write `<!--` to open one\n- last\n")
    assert source.text.endswith("- write `<!--` to open one\n- last\n")


def test_a_huge_file_that_is_not_text_is_damage(root):
    write(root, SHARED, b"\xff" * 600_000)
    with pytest.raises(DamagedFile, match="not UTF-8"):
        store.read(root, SHARED)
    write(root, SHARED, FILLER.encode() * 10_000 + b"\xff\n")
    with pytest.raises(DamagedFile, match="not UTF-8 near its end"):
        store.read(root, SHARED)
