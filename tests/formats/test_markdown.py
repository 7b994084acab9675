from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_memory_protocol.errors import DamagedFile, RefusedText
from agent_memory_protocol.formats import markdown
from agent_memory_protocol.formats.entry import MemoryEntry, Problem, named, original_id
from agent_memory_protocol.formats.markdown import DAY
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import document
from tests.each_row import each_row

from .conftest import ENTRIES

DOCUMENT = """\
# Shared Knowledge
<!-- Cross-agent. -->

- A lasting fact.

## Infrastructure

- [2026-01-02] Redis needs AOF on:
  - or a restart loses the queue

  ```sh
  redis-cli config get appendonly
  ```

### Caches

1. One of many.

Prose under a heading.

## 2026-02-03

- Said that day.
"""


def read(path: Path, text: str) -> list[MemoryEntry]:
    path.write_text(text, encoding="utf-8")
    found = list(markdown.read(str(path)))
    assert not [one for one in found if isinstance(one, Problem)]
    return [one for one in found if isinstance(one, MemoryEntry)]


def carried(entry: MemoryEntry) -> MemoryEntry:
    for loss in markdown.LOSSES:
        entry = loss.without(entry) if loss.found(entry) else entry
    return entry


def test_headings_become_tags_and_dates_times(tmp_path):
    found = read(tmp_path / "KNOWLEDGE.md", DOCUMENT)
    assert [(entry.text.split("\n")[0], entry.tags, entry.timestamp_ms // DAY) for entry in found] == [
        ("A lasting fact.", (), 0),
        ("Redis needs AOF on:", ("Infrastructure",), 20_455),
        ("One of many.", ("Infrastructure", "Caches"), 0),
        ("Prose under a heading.", ("Infrastructure", "Caches"), 0),
        ("Said that day.", ("2026-02-03",), 20_487),
    ]
    assert found[1].text == (
        "Redis needs AOF on:\n- or a restart loses the queue\n\n```sh\nredis-cli config get appendonly\n```"
    )


def test_an_entry_keeps_the_id_that_amp_list_shows(tmp_path):
    folder = tmp_path / "agents" / "developer"
    folder.mkdir(parents=True)
    (entry,) = read(folder / "MEMORY.md", "# Memory\n\n- A fact.\n")
    (expected,) = document.parse(b"# Memory\n\n- A fact.\n", Target(Tier.AGENT, "developer")).ids
    assert original_id(entry) == expected
    assert entry.id == named(expected)[0]


@each_row(
    "file, title, tags",
    [
        ("redis.md", "Redis", ("Redis", "Rules")),
        ("notes.md", "**Deploy guide**", ("Deploy guide", "Rules")),
        ("KNOWLEDGE.md", "Redis", ("Rules",)),
        ("memory.md", "Redis", ("Rules",)),
        ("x.md", "Memory", ("Rules",)),
        ("x.md", "Shared Knowledge", ("Rules",)),
        ("x.md", "Reviewer Agent Memory", ("Rules",)),
        ("x.md", "Project rules", ("Rules",)),
    ],
)
def test_the_title_of_a_page_is_a_tag_where_it_says_what_the_page_is_about(tmp_path, file, title, tags):
    (entry,) = read(tmp_path / file, f"# {title}\n\n## Rules\n\n- Use port 6380.\n")
    assert entry.tags == tags
    back = str(tmp_path / "back.md")
    markdown.write(back, [markdown.encode(entry)])
    assert [one.tags for one in markdown.read(back) if isinstance(one, MemoryEntry)] == [tags]


@each_row(
    "path, target",
    [
        (".scaffolding/agent-memory/shared/KNOWLEDGE.md", Target(Tier.SHARED)),
        (".scaffolding/agent-memory/agents/developer/MEMORY.md", Target(Tier.AGENT, "developer")),
        (".scaffolding/conversations/c1/agent-memory/context.md", Target(Tier.CONVERSATION, "c1")),
        ("notes.md", Target(Tier.SHARED)),
        ("MEMORY.md", Target(Tier.SHARED)),
        ("/x/CON/MEMORY.md", Target(Tier.SHARED)),
    ],
)
def test_a_path_says_which_document_it_is(path, target):
    assert markdown.target_of(path) == target


@pytest.mark.slow
@settings(max_examples=min(settings().max_examples, 150))
@given(st.lists(ENTRIES, max_size=4))
def test_entries_come_back_as_the_format_carries_them(found):
    kept, pieces = [], []
    for entry in map(carried, found):
        try:
            pieces.append(markdown.encode(entry))
        except RefusedText:
            continue  # empty, or nobody would see what it holds: an error, never a loss
        kept.append(entry)
    data = markdown.render(pieces).encode()
    back = [
        one for one in markdown.entries_of(document.parse(data, Target(Tier.SHARED))) if isinstance(one, MemoryEntry)
    ]

    def without_number(entries: list[MemoryEntry]) -> list[tuple[object, ...]]:
        # Of equal entries in one document the later ones have a number behind their id.
        return sorted(entry[1:7] for entry in entries)

    assert without_number(back) == without_number(kept)


def test_what_is_written_stands_under_its_headings(tmp_path):
    entries = [
        MemoryEntry("1", 0, "deep", ("A", "B")),
        MemoryEntry("2", 20_455 * DAY, "dated"),
        MemoryEntry("3", 0, "under A", ("A",)),
        MemoryEntry("4", 0, "two\nlines", ("C",)),
        MemoryEntry("5", 0, "deep too", ("A", "B")),
    ]
    path = tmp_path / "out.md"
    markdown.write(str(path), map(markdown.encode, entries))
    assert path.read_text() == (
        "# Memory\n\n- [2026-01-02] dated\n\n"
        "## A\n\n- under A\n\n### B\n\n- deep\n- deep too\n\n## C\n\n- two\n  lines\n"
    )


KNOWN = "kind, source, confidence, scope, writer, what it replaced or is disputed with"


@each_row(
    "change, lost",
    [
        ({"embedding": b"\0\0\0\0"}, "embeddings"),
        ({"relevance": 0.5}, "relevance scores"),
        ({"source": "shell"}, "what is known of an entry: " + KNOWN),
        ({"extra": {"kind": "avoid"}}, "what is known of an entry: " + KNOWN),
        ({"extra": {"expires_at": "2027-01-01T10:00:00Z"}}, "the moment of an expiry"),
        ({"timestamp_ms": DAY + 1}, "times of day"),
        ({"tags": ("a\nb",)}, "tags that cannot be headings, and more than five"),
        ({"tags": tuple("abcdef")}, "tags that cannot be headings, and more than five"),
        ({"tags": ("2026-02-01",)}, "tags that cannot be headings, and more than five"),
        (
            {"text": "x  \n\n\n"},
            "spacing in texts, dates and marks in front, and what would be structure in Markdown",
        ),
        ({"text": "# x"}, "spacing in texts, dates and marks in front, and what would be structure in Markdown"),
        ({"extra": {"a": "b"}}, "extra"),
    ],
)
def test_what_a_document_cannot_carry_is_told(change, lost):
    plain = carried(MemoryEntry("1", 0, "x"))
    assert [loss.what for loss in markdown.LOSSES if loss.found(plain)] == []
    changed = plain._replace(**change)
    assert lost in [loss.what for loss in markdown.LOSSES if loss.found(changed)]


@pytest.mark.parametrize(
    ("data", "why"), [(b"# a\n\n- \xff\n", "UTF-8"), (b"- a fact\n" * 2_000_000, "has more than 16,777,216 bytes")]
)
def test_a_document_that_is_no_text_or_too_large_is_damaged(tmp_path, data, why):
    (tmp_path / "a.md").write_bytes(data)
    with pytest.raises(DamagedFile, match=why):
        list(markdown.read(str(tmp_path / "a.md")))


@pytest.mark.slow
def test_of_every_entry_of_the_real_documents_nothing_is_lost_but_what_is_told(some_files, tmp_path):
    out = tmp_path / "out.md"
    seen = 0
    for path in some_files:
        if path.suffix != ".md":
            continue
        try:
            found = [one for one in markdown.read(str(path)) if isinstance(one, MemoryEntry)]
        except DamagedFile:
            continue
        kept, pieces = [], []
        for entry in map(carried, found):
            try:
                pieces.append(markdown.encode(entry))
            except RefusedText:
                continue
            kept.append(entry)
        markdown.write(str(out), pieces)
        back = [one for one in markdown.read(str(out)) if isinstance(one, MemoryEntry)]
        assert sorted(one[1:7] for one in back) == sorted(one[1:7] for one in kept), path
        seen += len(kept)
    assert seen > 100
