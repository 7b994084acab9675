"""Merging files by what they hold: documents by entry, ledgers by line, and what a person is told."""

from agent_memory_protocol.change.merge import merge_file

HEADER = b'{"format":"agent-memory/0.1","created_at":"2026-01-01T00:00:00Z"}'
BASE = "# Shared Knowledge\n\n- Old fact.\n"


def merge(base, ours, theirs, path="KNOWLEDGE.md", max_lines=200, max_bytes=25_600):
    old, mine, other = (text.encode() if isinstance(text, str) else text for text in (base, ours, theirs))
    return merge_file(old, mine, other, path, max_lines=max_lines, max_bytes=max_bytes)


def test_two_new_files_become_one_with_the_entries_of_both():
    merged = merge("", BASE + "- One.\n", BASE + "- Two.\n")
    assert merged is not None
    assert merged.data.decode() == BASE + "- One.\n- Two.\n"
    assert merged.notes == ()


def test_a_limit_that_is_passed_is_said_and_nothing_is_lost():
    merged = merge(BASE, BASE + "- One.\n", BASE + "- Two.\n", max_lines=4)
    assert merged is not None
    assert merged.data.decode() == BASE + "- One.\n- Two.\n"
    assert merged.notes == ("the file has 5 of 4 lines now; `amp prune` says what may go",)


def test_an_entry_that_both_edited_is_named_with_both_its_forms():
    merged = merge(BASE, BASE.replace("Old fact.", "Old fact, new."), BASE.replace("Old fact.", "Old fact, newer."))
    assert merged is not None
    assert merged.notes == ("both sides edited one entry; both forms are kept: - Old fact, new. / - Old fact, newer.",)


def test_what_is_no_text_is_not_merged():
    assert merge(BASE, BASE.encode() + b"\xff", BASE) is None


def test_ledgers_keep_the_lines_of_both_sides_and_one_header():
    one, two = b'{"id":"a","kind":"fact","text":"x"}', b'{"id":"b","kind":"fact","text":"y"}'
    other_header = HEADER.replace(b"01-01", b"02-02")
    merged = merge(b"", b"\n".join([HEADER, one, b""]), b"\n".join([other_header, two, b""]), "a/ledger.jsonl")
    assert merged is not None
    assert merged.data == b"\n".join([HEADER, one, two, b""])


def test_a_line_that_was_redacted_on_one_side_does_not_come_back():
    lines = [HEADER, b'{"id":"a","kind":"fact","text":"gone"}', b'{"id":"b","kind":"fact","text":"stays"}', b""]
    full = b"\n".join(lines)
    redacted = b"\n".join([lines[0], lines[2], b""])
    more = full + b'{"id":"c","kind":"fact","text":"new"}\n'
    for ours, theirs in ((redacted, more), (more, redacted)):
        merged = merge(full, ours, theirs, "ledger.jsonl")
        assert merged is not None
        assert merged.data == redacted + b'{"id":"c","kind":"fact","text":"new"}\n'


def test_a_line_that_comes_again_after_a_tombstone_is_merged_from_either_side():
    entry, gone, new = b'{"id":"a","kind":"fact","text":"x"}', b'{"id":"a","deleted":true}', b'{"id":"b","kind":"fact"}'
    base = b"\n".join([HEADER, entry, b""])
    returned = b"\n".join([HEADER, entry, gone, entry, b""])
    assert merge(base, returned, base, "ledger.jsonl").data == returned
    assert merge(base, base, returned, "ledger.jsonl").data == returned
    assert merge(base, returned, base + new + b"\n", "ledger.jsonl").data == returned + new + b"\n"
    assert merge(base, returned, returned, "ledger.jsonl").data == returned
