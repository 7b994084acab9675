"""A huge document: both ends are read, and what a comment between them hides stays hidden."""

import pytest

from agent_memory_protocol.files import Root
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import store

FILLER = b"- x\n" * 20_000
END = b"- the last\n"


@pytest.fixture
def text_of(tmp_path):
    """Write a shared document larger than what is read whole, and read it."""

    def read(*pieces: bytes) -> str:
        path = tmp_path.joinpath(*Target(Tier.SHARED).parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(pieces))
        assert path.stat().st_size > store.WHOLE_BYTES
        with Root.open(str(tmp_path)) as root:
            source = store.read(root, Target(Tier.SHARED))
        assert source is not None
        assert source.gap is not None
        return source.text

    return read


@pytest.mark.parametrize(
    "before",
    [
        b"# S\n<!-- opened\n" + FILLER * 4,
        b"# S\n" + FILLER + b"  <!-- opened\n" + FILLER * 3,
        b"# S\n- seen\n<!-- opened\n" + FILLER + b"<!-- again\n" + FILLER * 3,
        b"# S\n" + FILLER + b"<!-- a -->\n\n- <!-- opened\n" + FILLER * 3,
        b"# S\n" + FILLER + b"<? opened\n" + FILLER * 3,
        b"# S\r" + FILLER.replace(b"\n", b"\r") + b"<!-- opened\r" + FILLER * 3,
    ],
    ids=["in the head", "in the middle", "twice", "after another", "instruction", "lone cr"],
)
def test_a_comment_left_open_hides_the_end(text_of, before):
    assert "the last" not in text_of(before, END)
    closing = b"?>" if b"<?" in before else b"-->"
    text = text_of(before, b"- hidden\n" + closing + b"\n", END)
    assert "hidden" not in text
    assert text.endswith("- the last\n")


@pytest.mark.parametrize(
    "before",
    [
        b"# S\n<!-- a -->\n" + FILLER * 4,
        b"# S\n<!-- a\n" + FILLER + b"-->\n" + FILLER * 3,
        b"# S\n" + FILLER + b"- text <!-- opened\n" + FILLER * 3,
        b"# S\n" + FILLER + b"<!-- a -->\n" + FILLER * 3,
    ],
    ids=["closed at once", "closed in the middle", "within a line", "in the middle"],
)
def test_any_other_comment_does_not(text_of, before):
    assert text_of(before, END).endswith("- x\n- the last\n")


@pytest.mark.parametrize("line", [b"<!-- a -->\n", b"x <!-- y ", b"- <!--\n", b"<?", b"<!--"])
def test_a_huge_file_of_comments_is_read_in_one_pass(text_of, line):
    """B83: time that grows with the square of the size would be minutes for each of these."""
    text_of(b"# S\n", line * (4_000_000 // len(line)))
