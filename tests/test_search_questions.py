"""The questions search is measured with: many, each with its evidence; and public sets are read rightly."""

import json
from collections import Counter
from pathlib import Path

import pytest

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.search.keyword import KeywordIndex
from benchmarks.search import own
from benchmarks.search.public import perltqa, realtalk
from benchmarks.search.sets import NONE, Memory, ask, rows, silence

needs_corpus = pytest.mark.skipif(not own.LARGE.is_dir(), reason="the corpus is not beside this checkout")


@pytest.fixture(scope="module")
def memory() -> Memory:
    (found,) = own.load()
    return found


@needs_corpus
@pytest.mark.slow
def test_there_are_over_600_questions_of_every_class_and_each_has_its_evidence(memory):
    kinds = Counter(question.kind for question in memory.questions)
    assert kinds.total() >= 600
    assert set(kinds) == {"words", "changed", "when", "negation", "two", NONE}
    assert min(kinds.values()) >= 30
    assert all(bool(question.evidence) is (question.kind != NONE) for question in memory.questions)
    assert all(len(question.evidence) == 2 for question in memory.questions if question.kind == "two")


@needs_corpus
@pytest.mark.slow
def test_no_question_is_asked_twice_and_no_file_is_in_both_halves(memory):
    texts = Counter(question.text for question in memory.questions)
    assert max(texts.values()) == 1
    halves: dict[str, set[str]] = {}
    for question in memory.questions:
        for source in {source for piece in question.evidence for source, _ in piece}:
            halves.setdefault(source, set()).add(question.half)
    shared = [source for source, both in halves.items() if len(both) == 2]
    assert not shared


def test_our_dialogues_have_over_150_questions_in_both_halves_and_each_names_one_turn():
    memories = own.dialogues()
    questions = [question for memory in memories for question in memory.questions]
    assert len(questions) >= 150
    assert Counter(question.half for question in questions).keys() == {"development", "held-out"}
    assert min(Counter(question.kind for question in questions).values()) >= 5
    assert max(Counter(question.text for question in questions).values()) == 1
    assert not [one.text for one in questions if not one.evidence or any(len(piece) > 1 for piece in one.evidence)]


def test_a_folder_without_the_corpus_is_named(tmp_path):
    with pytest.raises(InvalidArgument, match="no corpus is there"):
        own.load(tmp_path / "missing")


def test_a_question_whose_evidence_is_nowhere_is_refused_with_its_place(tmp_path, monkeypatch):
    (tmp_path / "corpus" / "one").mkdir(parents=True)
    (tmp_path / "corpus" / "one" / "MEMORY.md").write_text("# Memory\n\n- Redis needs AOF.\n")
    (tmp_path / "some.txt").write_text("@ one/MEMORY.md\nwords | What does the cache need? | needs AOF\n")
    monkeypatch.setattr(own, "QUESTIONS", tmp_path)
    (memory,) = own.load(tmp_path / "corpus")
    assert [len(question.evidence) for question in memory.questions] == [1]
    (tmp_path / "some.txt").write_text("@ one/MEMORY.md\nwords | What does the cache need? | needs RDB\n")
    with pytest.raises(InvalidArgument, match=r"some\.txt:2: no entry of one/MEMORY\.md has the words 'needs RDB'"):
        own.load(tmp_path / "corpus")


CHAT = {
    "name": {"speaker_1": "Ada", "speaker_2": "Bo"},
    "session_1": [
        {"clean_text": "Hello!\nHow are you?", "speaker": "Ada", "dia_id": "D1:1"},
        {"clean_text": "I bought a red kayak.", "speaker": "Bo", "dia_id": "D1:2"},
    ],
    "session_1_date_time": "29.12.2023, 22:42:04",
    "qa": [
        {"question": "What did Bo buy?", "answer": "a kayak", "evidence": ["D1:2"], "category": 2},
        {"question": "Who sings?", "answer": "nobody", "evidence": ["D9:9"], "category": 1},
    ],
}


def test_turns_of_a_chat_are_entries_under_their_day_and_the_evidence_is_found(tmp_path):
    (tmp_path / "Chat_1_Ada_Bo.json").write_text(json.dumps(CHAT))
    (memory,) = realtalk(tmp_path)
    assert [one.text for one in memory.sources[0].read("")] == [
        "- Ada: Hello! How are you?",
        "- Bo: I bought a red kayak.",
    ]
    (answer,) = ask([memory], KeywordIndex, None, 10)  # what has no evidence is not asked
    assert answer.places[0] is not None


LIFE = {
    "profile": {"Protagonist": "Ada", "Hobbies": "kayaking"},
    "social_relationship": {"1_0": {"Supporting Characters": "Bo", "Relationship": "brother"}},
    "events": {"1_0_0": {"summary": "A trip", "content": "They went to the canyon.", "Creation Time": "2022"}},
    "dialogues": {"1_0_0#0": {"contents": {"2022-05-12": ["Ada: The canyon was wide."]}}},
}
ASKED = [
    {
        "Ada": {
            "profile": [{"Question": "What does Ada like?", "Reference Memory": "Hobbies"}],
            "social_relationship": [{"1_0": [{"Question": "Who is Bo?", "Reference Memory": "['1_0']"}]}],
            "events": [{"1_0_0": [{"Question": "Where did they go?", "Reference Memory": "['1_0_0']"}]}],
        }
    }
]


@pytest.mark.parametrize("facts", [{"Ada": LIFE}, [LIFE]], ids=["by name", "in a list"])
def test_the_lives_of_perltqa_are_read_in_both_forms_in_which_they_are_published(tmp_path, facts):
    (tmp_path / "perltmem_en_v2.json").write_text(json.dumps(facts))
    (tmp_path / "perltqa_en_v2.json").write_text(json.dumps(ASKED))
    (memory,) = perltqa(tmp_path)
    assert [question.kind for question in memory.questions] == ["profile", "social_relationship", "events"]
    assert {source.key for source in memory.sources} >= {"Ada/Hobbies", "Ada/1_0", "Ada/1_0_0", "Ada/1_0_0#0"}


@pytest.mark.parametrize("read", [realtalk, perltqa])
def test_a_folder_without_the_set_is_named(tmp_path: Path, read):
    with pytest.raises(InvalidArgument, match=str(tmp_path)):
        read(tmp_path)


def test_what_is_found_late_or_not_counts_less(tmp_path):
    (tmp_path / "Chat_1_Ada_Bo.json").write_text(json.dumps(CHAT))
    answers = ask(realtalk(tmp_path), KeywordIndex, None, 10)
    (row,) = rows(answers)
    assert (row.recall_5, row.recall_10) == (1, 1)
    assert silence(answers, lambda _: True).lost == 1
    assert silence(answers, lambda _: False).lost == 0
