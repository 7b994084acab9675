from agent_memory_protocol.search.wordpiece import pieces
from tests.each_row import each_row

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "un",
    "##want",
    "##ed",
    "want",
    "runn",
    "##ing",
    ",",
    "low",
    "##est",
    "数",
    "e",
]
VOCABULARY = {word: number for number, word in enumerate(WORDS)}


@each_row(
    "text, found",
    [
        ("", ""),
        ("UNwanted,running", "un ##want ##ed , runn ##ing"),
        ("  want\tlow\u00a0lowest ", "want low low ##est"),
        ("Únwánted", "un ##want ##ed"),
        ("wa\u200bnt", "want"),
        ("数want", "数 want"),
        ("unwantedx low", "[UNK] low"),
        ("low数数", "low 数 数"),
        ("e\u0301", "e"),
        ("e" * 101, "[UNK]"),
        ("[SEP]", "[UNK] [UNK] [UNK]"),
    ],
)
def test_a_text_is_taken_apart_as_the_model_was_taught(text, found):
    numbers = pieces(text, VOCABULARY, 256)
    assert [WORDS[number] for number in numbers] == ["[CLS]", *found.split(), "[SEP]"]


def test_a_long_text_is_cut():
    assert [WORDS[number] for number in pieces("low " * 100, VOCABULARY, 5)] == ["[CLS]", "low", "low", "low", "[SEP]"]
