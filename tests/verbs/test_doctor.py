"""What doctor says, as a rule over what was found out."""

import pytest

from agent_memory_protocol import Actor, Tier, Workspace
from agent_memory_protocol.layout import Target
from agent_memory_protocol.project.settings import Settings
from agent_memory_protocol.recall.block import LeftOut, Part, Recall
from agent_memory_protocol.verbs.doctor import PROTOCOL_ID, Diagnosis, of_names, of_protocol, of_recall, of_settings
from tests.each_row import each_row

SHARED = Target(Tier.SHARED)
DEV = Target(Tier.AGENT, "dev")
C1 = Target(Tier.CONVERSATION, "c1")

DEV_MAKER = "`amp remember TEXT --agent dev`"


def part(target: Target, *, left_out: int = 0, problem: str = "") -> Part:
    made = Part(target, "# S", lines=5, lines_in_file=6, problem=problem)
    gone = [LeftOut(3, 3, "", "- x")] * left_out
    made.shorten("# S", 5, cut=False, left_out=lambda: gone)
    return made


def test_each_document_that_recall_looks_for_is_named_with_what_became_of_it():
    recall = Recall("text", [part(SHARED, left_out=2), part(C1, problem="is a folder")], ["a warning"])
    assert of_recall(recall, [SHARED, DEV, C1], [SHARED, C1]) == [
        Diagnosis("a warning", is_problem=True),
        Diagnosis("shared is recalled: 5 of 6 lines, 2 entries left out"),
        Diagnosis(f"agent:dev is not recalled: {DEV.path} does not exist yet; {DEV_MAKER} makes it"),
        Diagnosis("conversation:c1 cannot be recalled: is a folder", is_problem=True, is_damage=True),
    ]


@each_row(
    "name, others, meant",
    [
        ("developr", ["developer", "tester"], "developer"),
        ("develop", ["developer"], "developer"),
        ("dev", ["developer"], None),
        ("developer2", ["developer1", "developer"], None),
        ("ops", ["developer"], None),
        ("developr", [], None),
    ],
)
def test_a_name_that_is_nearly_that_of_another_agent_asks_whether_that_is_meant(name, others, meant):
    existing = [SHARED, Target(Tier.CONVERSATION, name), *(Target(Tier.AGENT, other) for other in others)]
    (found,) = of_recall(Recall("", [], []), [Target(Tier.AGENT, name)], existing)
    assert (f", or is {meant} meant?" in found.message) is (meant is not None)


@pytest.mark.parametrize(
    ("count", "words"), [(0, "lines, every entry"), (1, "lines, 1 entry left out"), (3, "lines, 3 entries left out")]
)
def test_what_was_left_out_is_counted(count, words):
    (found,) = of_recall(Recall("text", [part(SHARED, left_out=count)], []), [SHARED], [SHARED])
    assert found == Diagnosis(f"shared is recalled: 5 of 6 {words}")


def test_a_document_without_entries_and_a_block_without_room_are_told_apart():
    assert of_recall(Recall("", [], []), [SHARED], [SHARED]) == [
        Diagnosis(f"shared is not recalled: {SHARED.path} has no entries yet")
    ]
    warning = "the budget is too small for the block's frame and its notes; make it larger"
    assert of_recall(Recall("", [], [warning]), [SHARED], [SHARED]) == [
        Diagnosis(warning, is_problem=True),
        Diagnosis("shared is not recalled: the block has no room for it"),
    ]


def test_settings_that_keep_memory_away_are_problems():
    settings = Settings()
    assert of_settings(settings) == []
    settings.problems.append("x is not a setting")
    settings.tier_agent = False
    assert of_settings(settings) == [
        Diagnosis("x is not a setting", is_problem=True),
        Diagnosis("the agent tier is off: tiers.agent = false", is_problem=True),
    ]
    settings.damaged = True
    assert of_settings(settings)[0].is_damage
    settings.enabled = False
    settings.origin["enabled"] = "AMP_DISABLE"
    assert of_settings(settings)[1:] == [
        Diagnosis("memory is switched off by AMP_DISABLE; nothing is recalled or written", is_problem=True)
    ]


@each_row(
    "names, twins",
    [
        ([], []),
        (["dev", "dev2", "de", "développeur"], []),
        (["Dev", "dev"], ["'Dev' and 'dev'"]),
        (["DEV", "Dev", "dev", "x"], ["'DEV' and 'Dev' and 'dev'"]),
        (["jose\u0301", "jos\u00e9"], ["'jose\\u0301' and 'jos\\xe9'"]),
    ],
    ids=ascii,
)
def test_folders_that_are_one_agent_to_us_are_twins(names, twins):
    """B44, B46."""
    assert of_names(names, "agent") == [
        Diagnosis(f"the agent folders {twin} differ only by case or Unicode form; merge them", is_problem=True)
        for twin in twins
    ]


@pytest.mark.requirement("S4-02")
@each_row("data", [b"", b"---", b"---\nname: x\n---\n", b"\xff" * 100], ids=ascii)
def test_another_text_has_another_id(data):
    found = of_protocol(data, "SKILL.md")
    assert found.is_problem
    assert found.message.endswith(f"; the text that is implemented is {PROTOCOL_ID}")


@pytest.mark.requirement("S4-02")
def test_the_id_does_not_depend_on_what_surrounds_the_text():
    text = b"---\nname: x\n---\nbody\n"
    ids = {
        of_protocol(data, "x").message for data in (text, b"# from somewhere\n" + text, text.rstrip(), text + b"\n\n")
    }
    assert len(ids) == 1


def test_a_tier_file_that_was_deleted_is_noticed_before_the_next_write(tmp_path):
    workspace = Workspace.open(tmp_path, environ={})
    told = workspace.remember("kept in the journal")
    told.path.unlink()
    (found,) = [one for one in workspace.diagnose(Actor()) if "was deleted" in one.message]
    assert found.is_problem
    assert "`amp restore --list`" in found.message
    workspace.restore(workspace.restorable())
    assert not [one for one in workspace.diagnose(Actor()) if "was deleted" in one.message]
