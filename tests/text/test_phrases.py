import pytest

from agent_memory_protocol.text.phrases import beginning, counted
from tests.each_row import each_row


@each_row(
    "number, noun, said",
    [
        (0, "note", "0 notes"),
        (1, "note", "1 note"),
        (2, "note", "2 notes"),
        (1, "remembered entry", "1 remembered entry"),
        (1_000, "remembered entry", "1,000 remembered entries"),
    ],
)
def test_a_number_is_said_with_its_noun(number, noun, said):
    assert counted(number, noun) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("12345678", "12345678"),
        ("123\n  4567", "123 4567"),
        ("123456789", "1234567…"),
    ],
)
def test_the_beginning_of_a_text_is_one_line_that_keeps_to_its_width(text, said):
    assert beginning(text, 8) == said
