"""From conversation to shared knowledge: what several found, what one decided, what has outlived itself."""

import json
import random
import subprocess
import sys
import sysconfig
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Actor, Tier, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.consolidation.command_operator import CommandOperator
from agent_memory_protocol.errors import AccessDenied, AgentMemoryError, DamagedFile, InvalidArgument
from agent_memory_protocol.layout import Target
from agent_memory_protocol.learning.insights import key_of
from tests.each_row import each_row

SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"
TOKEN = "ghp" + "_" + "Kq7Zt2Xw9Lm4Rb6Yc1Vn8Hd3Js5Pf0Ga7Ue2"
DAY = date(2026, 3, 1)


def said(workspace, conversation, *texts, section=None):
    for text in texts:
        workspace.remember(text, conversation=conversation, section=section, dated=DAY)


def texts(workspace, target):
    return [one.text for one in workspace.entries() if str(one.target) == target]


def apply_all(workspace, plan=None, actor=None):
    """Make every change of a plan, those that take something out too."""
    plan = plan or workspace.plan_distillation()
    return workspace.apply_distillation(plan, only=[one.id for one in plan.candidates], actor=actor, today=DAY)


def proposed(workspace):
    return [(one.action, one.kind, str(one.target), one.text) for one in workspace.plan_distillation().candidates]


DESIGN = """# Design

## Context

The old store is slow.

## Decision

We use event sourcing for orders.

More about it: {}

## Decisions

- Prices are kept in cents.
"""


@pytest.mark.requirement("S4P-07")
@pytest.mark.parametrize("has_memory", [True, False], ids=["with-memory", "design-alone"])
def test_what_a_design_decided_is_proposed_as_a_decision(workspace, tmp_path, has_memory):
    workspace.remember("The store of orders and prices is slow.", agent="developer")
    if has_memory:
        said(workspace, "c1", "Nothing of note was seen.")
    path = tmp_path / ".scaffolding/conversations/c1/specs/design.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DESIGN.format("long " * 200))
    decided = [
        ("add", "decided", "agent:developer", "Prices are kept in cents."),
        ("add", "decided", "agent:developer", "We use event sourcing for orders."),
    ]
    assert proposed(workspace) == decided
    assert [one.confidence for one in workspace.plan_learning("c1").candidates] == [0.7, 0.7]
    said(workspace, "c2", "We use event sourcing for orders.")
    assert ("add", "decided", "shared", "We use event sourcing for orders.") in proposed(workspace)
    before = path.read_bytes()
    apply_all(workspace)
    assert (proposed(workspace), path.read_bytes()) == ([], before)


@pytest.mark.requirement("S4-18", "S4P-07")
def test_a_design_is_read_by_those_of_its_conversation_and_a_damaged_one_costs_no_other(workspace, tmp_path):
    workspace.remember("The store of orders is slow.", agent="developer")
    for name, data in (("c1", DESIGN.encode()), ("c2", b"# D\n\n## Decision\n\n- caf\xe9 orders\n")):
        path = tmp_path / f".scaffolding/conversations/{name}/specs/design.md"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    assert len(workspace.plan_distillation().candidates) == 1
    assert "c2/specs/design.md:5" in "".join(workspace.plan_distillation().problems)
    assert not workspace.plan_distillation(actor=Actor("developer", "c3")).candidates


# -- what is proposed -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-32", "S4P-07")
def test_what_two_conversations_came_to_is_proposed_for_the_shared_memory(workspace):
    said(workspace, "c1", "Redis loses its queue without AOF.")
    said(workspace, "c2", "Gotcha: redis loses its queue without AOF")
    assert proposed(workspace) == [("add", "learned", "shared", "Gotcha: redis loses its queue without AOF")]
    done = apply_all(workspace)
    assert texts(workspace, "shared") == ["- Gotcha: redis loses its queue without AOF"]
    assert done.backup
    assert proposed(workspace) == []


@pytest.mark.requirement("S4-32")
def test_what_one_conversation_found_is_proposed_for_nobody_unless_it_is_a_lesson(workspace):
    workspace.remember("The parser is slow on tables.", agent="developer")
    said(workspace, "c1", "The parser is fed by the crawler.")
    assert proposed(workspace) == []
    assert workspace.plan_distillation().waiting == 1


@pytest.mark.requirement("S4-39", "S4-40", "S4-46")
@pytest.mark.parametrize(
    ("text", "section", "kind"),
    [
        ("Gotcha: the parser drops empty tables.", None, "learned"),
        ("The parser keeps comments.", "Decisions", "decided"),
    ],
)
def test_a_lesson_or_decision_of_one_conversation_goes_to_the_agent_it_is_about(workspace, text, section, kind):
    workspace.remember("The parser is slow on tables.", agent="developer")
    workspace.remember("The deploy needs a token.", agent="operator")
    said(workspace, "c1", text, section=section)
    assert proposed(workspace) == [("add", kind, "agent:developer", text)]


@pytest.mark.requirement("S4P-08")
def test_where_no_agent_is_known_a_lesson_of_one_conversation_stays_in_it(workspace):
    said(workspace, "c1", "Gotcha: the parser drops empty tables.")
    assert proposed(workspace) == []


PAIRS_OF_TWO = [
    ("The API listens on port 8080.", "The API listens on port 8081."),
    ("Pin numpy to 1.26.", "Pin numpy to 2.1."),
    ("The cache lives in /var/cache/app.", "The cache lives in /var/cache/api."),
    ("Ada reviews the billing code.", "Bob reviews the billing code."),
    ("The queue is durable.", "The queue is not durable."),
]


@pytest.mark.parametrize(("one", "other"), PAIRS_OF_TWO)
def test_what_differs_in_a_number_path_name_or_negation_is_not_the_same_insight(workspace, one, other):
    said(workspace, "c1", one)
    said(workspace, "c2", other)
    assert proposed(workspace) == []
    assert key_of(one) != key_of(other)


@pytest.mark.slow
@pytest.mark.requirement("S4P-07", "S4-32")
def test_in_three_hundred_conversations_every_planted_repeat_is_found_and_no_near_miss_joined(tmp_path):
    chance = random.Random(7)
    home = tmp_path / ".scaffolding" / "conversations"
    pages = {f"c{number:03d}": [f"Task {number} touched module m{number}."] for number in range(300)}
    forms = ["{}", "Gotcha: {}", "**{}**", "[2026-02-0{day}] {}"]
    repeats = {}
    for number in range(40):
        fact = f"service s{number} needs flag --x{number} before step {number * 3}"
        repeats[key_of(fact)] = fact
        for conversation in chance.sample(sorted(pages), chance.randint(2, 7)):
            form = chance.choice(forms)
            pages[conversation].append(form.format(fact, day=chance.randint(1, 9)))
    for number in range(40):
        for variant, conversation in enumerate(chance.sample(sorted(pages), 4)):
            pages[conversation].append(f"worker w{number} retries {variant + 2} times on port {4000 + variant}")
    for conversation, lines in pages.items():
        file = home / conversation / "agent-memory" / "context.md"
        file.parent.mkdir(parents=True)
        file.write_text("# Context\n\n" + "".join(f"- {line}\n" for line in lines))
    workspace = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    found = [one for one in workspace.plan_distillation().candidates if one.action == "add"]
    assert {key_of(one.text) for one in found} == set(repeats)
    assert len(found) == len(repeats)
    assert all(one.target.tier is Tier.SHARED for one in found)


# -- what should go ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4P-09")
def test_memory_that_names_a_file_which_is_gone_is_proposed_to_go_and_kept_in_the_ledger(workspace, tmp_path):
    (tmp_path / "src").mkdir()
    git = ["git", "-C", tmp_path, "-c", "user.name=t", "-c", "user.email=t@t"]
    for step in (
        ["init", "-q"],
        ["add", "src"],
        ["commit", "-qm", "x"],
        ["rm", "-q", "src/gone.py"],
        ["commit", "-qm", "y"],
    ):
        for name in ("there", "gone") if step[0] == "init" else ():
            (tmp_path / "src" / f"{name}.py").write_text(name)
        subprocess.run([*git, *step], check=True)
    workspace.remember("`src/there.py` parses tables.")
    workspace.remember("`src/gone.py` parses lists.")
    assert proposed(workspace) == [("remove", "stale", "shared", "`src/gone.py` parses lists.")]
    apply_all(workspace)
    assert texts(workspace, "shared") == ["- `src/there.py` parses tables."]
    assert [one.archived.taken.markdown for one in workspace.restorable()] == ["- `src/gone.py` parses lists."]


@pytest.mark.requirement("S4P-10")
def test_the_same_bullet_in_two_tiers_leaves_the_agents(workspace):
    workspace.remember("Coffee!", agent="developer")
    workspace.remember("Coffee.")
    assert proposed(workspace) == []  # one word says too little to be sure of
    workspace.remember("Use uv for every install.", agent="developer")
    workspace.remember("Use uv for every install!")
    assert proposed(workspace) == [("remove", "double", "agent:developer", "Use uv for every install.")]


@pytest.mark.slow
@pytest.mark.requirement("S4P-11")
def test_a_full_shared_file_hands_what_is_least_certain_to_the_agents_it_is_about(workspace, tmp_path):
    workspace.remember("The parser is slow on tables.", agent="developer")
    lines = "".join(f"- The parser has quirk number {number}.\n" for number in range(205))
    (tmp_path / SHARED).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / SHARED).write_text(f"# Shared Knowledge\n\n- [keep] The parser is old.\n- Coffee at ten.\n{lines}")
    plan = workspace.plan_distillation()
    assert {(one.action, str(one.target)) for one in plan.candidates} == {("move", "agent:developer")}
    done = apply_all(workspace, plan)
    assert done.refused == ()
    shared, agent = texts(workspace, "shared"), texts(workspace, "agent:developer")
    assert len(shared) + len(agent) == 208
    assert "- [keep] The parser is old." in shared
    assert "- Coffee at ten." in shared
    assert len((tmp_path / SHARED).read_text().splitlines()) <= 200


@pytest.mark.slow
def test_room_is_made_for_all_that_comes_its_new_headings_too(workspace, tmp_path):
    workspace.remember("The parser is slow on tables.", agent="developer")
    lines = "".join(f"- The parser has quirk number {number}.\n" for number in range(198))
    (tmp_path / SHARED).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / SHARED).write_text(f"# Shared Knowledge\n\n{lines}")
    for name in ("c1", "c2"):
        said(workspace, name, *(f"Module {number} needs a lock\nand a test." for number in range(10)))
        said(workspace, name, "Use uv for every install.", section="Decisions")
    done = apply_all(workspace)
    assert done.refused == ()
    assert len((tmp_path / SHARED).read_text().splitlines()) <= 200
    assert workspace.plan_distillation().candidates == ()


@pytest.mark.slow
@pytest.mark.parametrize("dated", ["[2026-01-05] The parser is slow.", "2026-01-05: The parser is slow."])
def test_what_is_handed_on_takes_its_date_along(workspace, tmp_path, dated):
    workspace.remember("The parser is slow on tables.", agent="developer")
    (tmp_path / SHARED).parent.mkdir(parents=True, exist_ok=True)
    others = "".join(f"- [2026-03-01] The parser has quirk number {number}.\n" for number in range(200))
    (tmp_path / SHARED).write_text(f"# Shared Knowledge\n\n- {dated}\n{others}")
    apply_all(workspace)
    assert "- [2026-01-05] The parser is slow." in texts(workspace, "agent:developer")


# -- doing it, and going back ------------------------------------------------------------------------------------------


def test_a_plan_changes_nothing(workspace, tmp_path):
    said(workspace, "c1", "Redis loses its queue without AOF.")
    said(workspace, "c2", "Redis loses its queue without AOF.")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    workspace.plan_distillation()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_going_back_gives_every_document_its_text_and_loses_nothing(workspace, tmp_path):
    workspace.remember("Coffee at ten.")
    before = (tmp_path / SHARED).read_bytes()
    for name in ("c1", "c2"):
        said(workspace, name, "Redis loses its queue without AOF.")
    done = apply_all(workspace)
    workspace.remember("Said since then.")
    assert workspace.restore_distillation() == (done.backup, [one.target for one in done.done])
    assert (tmp_path / SHARED).read_bytes() == before
    gone = {one.archived.taken.markdown for one in workspace.restorable()}
    assert gone == {"- Redis loses its queue without AOF.", "- Said since then."}


def test_what_others_have_carried_out_meanwhile_is_not_called_done(workspace):
    for name in ("c1", "c2"):
        said(workspace, name, "Redis loses its queue without AOF.")
    workspace.remember("Deploy on Fridays.")
    workspace.remember("Deploy on Fridays.", agent="dev")
    planned = workspace.plan_distillation()
    assert len(planned.candidates) == 2
    assert len(apply_all(workspace, planned).done) == 2
    again = apply_all(workspace, planned)
    assert ([*again.done], again.backup) == ([], "")
    assert texts(workspace, "agent:dev") + texts(workspace, "shared") == [
        "- Deploy on Fridays.",
        "- Redis loses its queue without AOF.",
    ]


def test_of_backups_made_one_right_after_the_other_the_last_is_the_last(workspace):
    made = []
    for fact in ("Redis loses its queue without AOF.", "The parser is slow on wide tables.", "Use uv for installs."):
        for name in ("c1", "c2"):
            said(workspace, name, fact)
        made.append(apply_all(workspace).backup)
    assert workspace.restore_distillation()[0] == made[-1]
    assert sorted(made) == made


def test_a_file_that_distilling_made_is_gone_again_after_going_back(workspace, tmp_path):
    for name in ("c1", "c2"):
        said(workspace, name, "Redis loses its queue without AOF.")
    apply_all(workspace)
    assert (tmp_path / SHARED).exists()
    workspace.restore_distillation()
    assert not (tmp_path / SHARED).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"shared": "# S',
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"shared": 5}',
        b'{"shared": ["a"]}',
        b'{"shared": "# T\\n", "nobody": "x"}',
        b'{"shared": "# T\\n", "agent:../x": "x"}',
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b"1" * 10_000, id="long-number"),
    ],
)
def test_a_damaged_backup_is_named_in_one_line_and_changes_nothing(workspace, tmp_path, data):
    said(workspace, "c1", "Redis loses its queue without AOF.")
    said(workspace, "c2", "Redis loses its queue without AOF.")
    done = apply_all(workspace)
    (tmp_path / f".scaffolding/.amp/backups/{done.backup}.json").write_bytes(data)
    before = (tmp_path / SHARED).read_bytes()
    with pytest.raises(DamagedFile, match=rf"{done.backup}\.json: .*nothing was changed") as raised:
        workspace.restore_distillation()
    assert "\n" not in str(raised.value)
    assert (tmp_path / SHARED).read_bytes() == before


def test_an_agent_goes_back_with_all_documents_or_none(workspace, tmp_path):
    workspace.remember("The parser is slow on tables.", agent="developer")
    said(workspace, "c1", "Redis loses its queue without AOF.", "Gotcha: the parser drops empty tables.")
    said(workspace, "c2", "Redis loses its queue without AOF.")
    done = apply_all(workspace)
    assert {str(one.target) for one in done.done} == {"shared", "agent:developer"}
    before = (tmp_path / SHARED).read_bytes()
    with pytest.raises(AccessDenied, match="agent:developer"):
        workspace.restore_distillation(actor=Actor("operator"))
    assert (tmp_path / SHARED).read_bytes() == before


@pytest.mark.parametrize("line", [b"\xff", b"[" * 100_000, b"1" * 10_000, b"[1]", b'{"insight": 1}', b'{"insight":'])
def test_a_damaged_line_of_sightings_counts_for_nothing(workspace, tmp_path, line):
    said(workspace, "c1", "Redis loses its queue without AOF.")
    said(workspace, "c2", "Redis loses its queue without AOF.")
    (tmp_path / ".scaffolding/agent-memory/sightings.jsonl").parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".scaffolding/agent-memory/sightings.jsonl").write_bytes(line + b"\n")
    assert [one[2] for one in proposed(workspace)] == ["shared"]


def test_where_there_is_no_backup_it_says_so(workspace):
    workspace.remember("Coffee at ten.")
    with pytest.raises(InvalidArgument, match="there are: none"):
        workspace.restore_distillation()


def test_a_conversation_that_is_deleted_still_counts(workspace, tmp_path):
    workspace.remember("The parser is slow.", agent="developer")
    said(workspace, "c1", "Gotcha: redis loses its queue without AOF.", "Gotcha: the parser is slow on tables.")
    apply_all(workspace)
    (tmp_path / ".scaffolding/conversations/c1/agent-memory/context.md").unlink()
    said(workspace, "c2", "Redis loses its queue without AOF.")
    assert ("add", "repeated", "shared", "Redis loses its queue without AOF.") in proposed(workspace)


def test_the_number_of_conversations_is_a_setting(workspace, tmp_path):
    for name in ("c1", "c2"):
        said(workspace, name, "Redis loses its queue without AOF.")
    (tmp_path / ".scaffolding" / "amp.toml").write_text("[distill]\nmin_conversations = 3\n")
    assert proposed(workspace) == []
    said(workspace, "c3", "Redis loses its queue without AOF.")
    assert [one[2] for one in proposed(workspace)] == ["shared"]


def test_an_entry_that_holds_a_secret_is_never_proposed(workspace, tmp_path):
    for name in ("c1", "c2"):
        file = tmp_path / f".scaffolding/conversations/{name}/agent-memory/context.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"# Context\n\n- The deploy token is {TOKEN}\n")
    assert proposed(workspace) == []
    assert workspace.plan_distillation().waiting == 0  # nobody need confirm it


def test_an_agent_distills_only_what_it_may_write(workspace):
    for name in ("c1", "c2"):
        said(workspace, name, "Redis loses its queue without AOF.")
    actor = Actor("reviewer", "c1")
    done = apply_all(workspace, actor=actor)
    assert done.done == ()
    assert "read-only" in str(done.refused[0][1])


def test_what_was_refused_as_a_whole_leaves_the_backup_before_it_the_last(workspace, tmp_path):
    for name in ("c1", "c2"):
        said(workspace, name, "Redis loses its queue without AOF.")
    first = apply_all(workspace)
    for name in ("c1", "c2"):
        said(workspace, name, "The parser is slow on wide tables.")
    refused = apply_all(workspace, actor=Actor("reviewer", "c1"))
    assert (refused.done, refused.backup) == ((), "")
    assert workspace.restore_distillation() == (first.backup, [Target(Tier.SHARED)])


@pytest.mark.parametrize("command", ["distill", "learn c1 --agent developer"])
def test_the_command_ends_with_the_code_of_what_was_refused(workspace, tmp_path, command):
    for name in ("c1", "c2"):
        said(workspace, name, "Redis loses its queue without AOF.")
    options = ["--apply", "--root", str(tmp_path)]
    settings = tmp_path / ".scaffolding/amp.toml"
    settings.write_text("[limits]\nmax_lines = 3\n")
    assert CliRunner().invoke(amp, [*command.split(), *options]).exit_code == 3
    settings.unlink()
    assert CliRunner().invoke(amp, [*command.split(), *options]).exit_code == 0


WORDINGS = ["Sessions are stored in Redis.", "Redis stores the sessions.", "The sessions are kept in Redis."]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_one_lesson_in_other_words_counts_for_each_conversation_and_is_proposed_once(workspace, tmp_path, order):
    for number, place in enumerate(order):
        said(workspace, f"c{number}", WORDINGS[place])
    (found,) = workspace.plan_distillation().candidates
    assert (str(found.target), found.confidence) == ("shared", 0.3)
    assert found.reason == "3 conversations came to it, in 3 wordings: c0, c1, c2"
    assert {one.conversation for one in found.sightings} == {"c0", "c1", "c2"}
    apply_all(workspace)
    said(workspace, "c9", WORDINGS[order[0]])
    assert workspace.plan_distillation().candidates == ()


def test_a_deleted_conversation_counts_for_what_others_say_in_other_words(workspace, tmp_path):
    said(workspace, "c1", WORDINGS[0])
    apply_all(workspace)
    (tmp_path / ".scaffolding/conversations/c1/agent-memory/context.md").unlink()
    said(workspace, "c2", WORDINGS[0])
    said(workspace, "c3", WORDINGS[1])
    (found,) = workspace.plan_distillation().candidates
    assert "c1, c2, c3" in found.reason


def test_what_lasting_memory_says_in_other_words_is_not_proposed(workspace):
    workspace.remember(WORDINGS[2])
    said(workspace, "c1", WORDINGS[0])
    said(workspace, "c2", WORDINGS[1])
    assert workspace.plan_distillation().candidates == ()


@pytest.mark.parametrize(
    "other", ["Sessions are not stored in Redis.", "Redis stores the carts.", "Sessions are stored in Redis 7."]
)
def test_what_only_looks_alike_is_confirmed_by_nobody(workspace, other):
    said(workspace, "c1", WORDINGS[0])
    said(workspace, "c2", other)
    assert workspace.plan_distillation().candidates == ()


FIVE_WORDINGS = (
    "The webhook retries need an idempotency key, or customers are charged twice.",
    "Without an idempotency key webhook retries charge customers twice.",
    "Customers got charged twice because a webhook retry carried no idempotency key.",
    "Always send an idempotency key with webhook retries; otherwise double charges.",
    "The billing page is slow in Firefox.",
)


def test_one_lesson_in_much_the_same_words_is_proposed_once_for_a_person_to_compare(workspace):
    for number, text in enumerate(FIVE_WORDINGS):
        said(workspace, f"c{number}", text)
    plan = workspace.plan_distillation()
    (one,) = plan.candidates
    assert (one.is_safe, {one.text, *one.wordings}) == (False, set(FIVE_WORDINGS[:4]))
    assert "4 conversations use much the same words: c0, c1, c2, c3; compare" in one.reason
    assert plan.waiting == 1
    assert not workspace.apply_distillation(plan, today=DAY).done
    assert not workspace.plan_learning("c4").candidates
    assert [learned.text for learned in workspace.plan_learning("c1").candidates] == [one.text]
    apply_all(workspace)
    assert texts(workspace, "shared") == [f"- {one.text}"]
    assert not workspace.plan_distillation().candidates


@each_row(
    "one, other",
    [
        ("The retry limit of the mail worker is 3 at most.", "The retry limit of the mail worker is at most 5."),
        ("Deploys to staging run on Fridays after lunch.", "Deploys to staging never run on Fridays after lunch."),
        ("The cart worker caches product names.", "The login worker caches product names."),
        ("Edit `src/app.py` to add a new route.", "Edit `src/api.py` for adding new routes."),
    ],
    fresh=True,
)
def test_what_uses_much_the_same_words_and_says_something_else_is_proposed_for_nobody(workspace, one, other):
    said(workspace, "c1", one)
    said(workspace, "c2", other)
    assert not workspace.plan_distillation().candidates


# -- one conversation --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4P-08")
def test_learning_proposes_what_one_conversation_decided_and_says_who_learns_it(workspace):
    said(workspace, "c1", "Keep comments in the output.", section="Decisions")
    said(workspace, "c2", "Gotcha: not of this conversation.")
    planned = workspace.plan_learning("c1", agent="developer")
    assert [(str(one.target), one.text) for one in planned.candidates] == [
        ("agent:developer", "Keep comments in the output.")
    ]


def test_nobody_is_taught_under_a_name_that_no_agent_has(workspace, tmp_path):
    said(workspace, "c1", "Gotcha: the parser drops empty tables.")
    workspace.remember("Coffee at ten.", agent="developer")
    with pytest.raises(InvalidArgument, match="'neverseen' has a memory or a definition; there are: developer"):
        workspace.plan_learning("c1", agent="neverseen")
    assert len(workspace.plan_learning("c1", agent="developer").candidates) == 1
    definition = tmp_path / ".claude/agents/tester.md"
    definition.parent.mkdir(parents=True)
    definition.write_text("---\nname: tester\n---\n")
    assert len(workspace.plan_learning("c1", agent="tester").candidates) == 1
    assert len(workspace.plan_learning("c1", actor=Actor("newcomer", "c1")).candidates) == 1


@pytest.mark.slow
@pytest.mark.requirement("S4P-08")
@pytest.mark.parametrize("conversation", ["c1", "never-heard-of"])
def test_nothing_to_learn_is_success(workspace, tmp_path, conversation):
    said(workspace, "c1", "We looked at the logs today.")
    script = Path(sysconfig.get_path("scripts"), "amp")
    done = subprocess.run(
        [script, "learn", conversation, "--root", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "nothing to distill" in done.stdout
    unknown = ".scaffolding/conversations/never-heard-of/agent-memory/context.md does not exist"
    assert (unknown in done.stderr) == (conversation == "never-heard-of")


# -- choosing ----------------------------------------------------------------------------------------------------------


def run(workspace, *args):
    done = CliRunner().invoke(amp, [*args, "--root", str(workspace.path)], env={"AMP_AGENT": None})
    if isinstance(done.exception, AgentMemoryError):
        return done.exception.exit_code, str(done.exception)
    return done.exit_code, done.output


@pytest.fixture
def three_kinds(workspace):
    """A workspace with an insight to come, an exact repeat to go, and a look-alike that is none."""
    workspace.remember("The mail worker needs Redis.")
    workspace.remember("The mail worker needs Redis.", agent="developer")
    workspace.remember("The mail workers need the Redis.", agent="developer")
    said(workspace, "c1", "Tables are parsed twice.")
    said(workspace, "c2", "Tables are parsed twice.")
    return workspace


def test_only_what_takes_no_text_out_is_done_unless_it_is_chosen(three_kinds):
    plan = three_kinds.plan_distillation()
    kinds = {(one.action, one.is_safe) for one in plan.candidates}
    assert kinds == {("add", True), ("remove", True), ("remove", False)}
    assert [one.id for one in three_kinds.plan_distillation().candidates] == [one.id for one in plan.candidates]
    code, said_ = run(three_kinds, "distill", "--apply")
    (unsafe,) = [one for one in plan.candidates if not one.is_safe]
    assert code == 0
    assert f"`amp distill --only {unsafe.id} --apply`" in said_
    assert texts(three_kinds, "agent:developer") == ["- The mail workers need the Redis."]
    assert run(three_kinds, "distill", "--only", unsafe.id[:5], "--apply")[0] == 0
    assert texts(three_kinds, "agent:developer") == []


def test_what_is_excepted_stays_open_and_what_is_refused_does_not_come_back(three_kinds):
    first, second, third = three_kinds.plan_distillation().candidates
    done = three_kinds.apply_distillation(three_kinds.plan_distillation(), without=[first.id], today=DAY)
    assert first not in done.done
    assert first in three_kinds.plan_distillation().candidates
    code, answer = run(three_kinds, "distill", "--refuse", first.id)
    assert (code, "--forget-refusals" in answer) == (0, True)
    assert first not in three_kinds.plan_distillation().candidates
    line = (three_kinds.path / ".scaffolding/agent-memory/refused").read_text()
    assert first.text.split(".")[0] in line
    run(three_kinds, "distill", "--forget-refusals")
    assert first in three_kinds.plan_distillation().candidates
    assert {second, third} - set(three_kinds.plan_distillation().candidates) == set(done.done)


@pytest.mark.parametrize("option", ["--only", "--except"])
def test_an_unknown_proposal_is_named_and_changes_nothing(three_kinds, option):
    before = three_kinds.entries()
    code, answer = run(three_kinds, "distill", option, "ffff0000", "--apply")
    assert (code, "no proposal is ffff0000" in answer) == (2, True)
    assert three_kinds.entries() == before


# -- closing -----------------------------------------------------------------------------------------------------------


def test_a_closed_conversation_is_kept_in_its_ledger_and_still_teaches(workspace):
    workspace.remember("The parser is slow on tables.", agent="developer")
    said(workspace, "c1", "Gotcha: the parser drops empty tables.", "We looked at the logs.")
    assert run(workspace, "close", "c1")[0] == 0
    assert len(texts(workspace, "conversation:c1")) == 2
    code, answer = run(workspace, "close", "c1", "--apply", "--json")
    assert code == 0
    assert [one["text"] for one in json.loads(answer)["archived"]] == [
        "- [2026-03-01] Gotcha: the parser drops empty tables.",
        "- [2026-03-01] We looked at the logs.",
    ]
    assert "conversation:c1" not in {str(one.target) for one in workspace.status()}
    assert "- Gotcha: the parser drops empty tables." in texts(workspace, "agent:developer")
    assert [one.archived.taken.markdown for one in workspace.restorable(last=True)] == [
        "- [2026-03-01] Gotcha: the parser drops empty tables.",
        "- [2026-03-01] We looked at the logs.",
    ]
    assert workspace.search_archived("looked at the logs")
    (id_,) = [one.id for one in workspace.entries() if "Gotcha" in one.text]
    workspace.forget([id_])
    assert [one.text for one in workspace.plan_learning("c1").candidates] == ["Gotcha: the parser drops empty tables."]
    assert "c1 is closed already" in run(workspace, "close", "c1")[1]
    workspace.restore(workspace.restorable([], since=DAY))
    assert len(texts(workspace, "conversation:c1")) == 2


def test_what_cannot_be_kept_leaves_its_conversation_open(workspace, tmp_path):
    (tmp_path / ".scaffolding").mkdir()
    (tmp_path / ".scaffolding/amp.toml").write_text("[limits]\nmax_lines = 5\n")
    for number in range(2):
        workspace.remember(f"The parser is slow on table {number}.", agent="developer")
    said(workspace, "c1", "Gotcha: the parser drops empty tables.")
    code, answer = run(workspace, "close", "c1", "--apply")
    assert (code, "c1 stays open" in answer) == (3, True)
    assert texts(workspace, "conversation:c1") == ["- [2026-03-01] Gotcha: the parser drops empty tables."]


def test_a_conversation_that_nobody_had_is_named(workspace):
    said(workspace, "c1", "We looked at the logs.")
    code, answer = run(workspace, "close", "c2", "--apply")
    assert (code, "no conversation 'c2'; there are: c1" in answer) == (2, True)


# -- what a program is asked ------------------------------------------------------------------------------------------

IN_THEIR_WORDS = (
    "The payment service retries three times, so handlers must be idempotent.",
    "Since payments are sent up to three times, every handler has to be safe to run again.",
    "Make webhook handlers safe against a second delivery.",
)


def judging(tmp_path, *words):
    """Return a program that says of the texts with one of these words that they say the same."""
    made = tmp_path / "judge.py"
    made.write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        f"ids = [one['id'] for one in asked['records'] if any(word in one['body'] for word in {words!r})]\n"
        "print(json.dumps({'proposals': [{'kind': 'supersede', 'ids': ids, 'reason': 'all speak of handlers'}]}))\n"
    )
    return CommandOperator([sys.executable, str(made)], name="judge")


@pytest.mark.slow
def test_a_program_joins_what_conversations_say_in_wordings_that_no_rule_joins(workspace, tmp_path):
    for number, text in enumerate(IN_THEIR_WORDS):
        said(workspace, f"c{number}", text)
    assert proposed(workspace) == []
    planned = workspace.plan_distillation(operator=judging(tmp_path, "andler"))
    (one,) = planned.candidates
    assert (str(one.target), one.text) == ("shared", IN_THEIR_WORDS[1])
    assert one.reason == "3 conversations came to it, in 3 wordings: c0, c1, c2; judge: all speak of handlers"
    assert {seen.conversation for seen in one.sightings} == {"c0", "c1", "c2"}
    assert workspace.plan_distillation(operator=judging(tmp_path, "andler")).candidates[0].id == one.id
    apply_all(workspace, planned)
    assert texts(workspace, "shared") == [f"- {IN_THEIR_WORDS[1]}"]
    assert workspace.plan_distillation(operator=judging(tmp_path, "andler")).candidates == ()
    assert proposed(workspace) == []  # what a program said is not remembered: another may say otherwise


@pytest.mark.slow
def test_a_program_joins_no_text_with_what_denies_it_and_its_failure_costs_no_rule(workspace, tmp_path):
    for number, text in enumerate(["Use tabs in Makefiles.", "Never use tabs in Makefiles.", "Deploy on Mondays."]):
        said(workspace, f"c{number}", text)
    said(workspace, "c3", "Deploy on Mondays!")
    planned = workspace.plan_distillation(operator=judging(tmp_path, "tabs"))
    assert [one.text for one in planned.candidates] == ["Deploy on Mondays."]
    assert planned.failures == ("judge: it takes a text and what denies it for the same",)
    failed = workspace.plan_distillation(operator=CommandOperator(["false"]))
    assert [one.text for one in failed.candidates] == ["Deploy on Mondays."]
    assert failed.failures == ("false: it ended with exit code 1",)


def test_what_an_agent_knows_in_other_words_than_shared_memory_is_proposed_to_leave_it_and_is_not_safe(workspace):
    workspace.remember("Redis stores the sessions.")
    workspace.remember("Sessions are stored in Redis.", agent="developer")
    (one,) = workspace.plan_distillation().candidates
    assert (one.action, one.kind, one.is_safe) == ("remove", "double", False)
    assert one.reason.endswith("says the same in other words: Redis stores the sessions.")


def test_a_promotion_to_a_full_document_says_so_before_it_is_refused(workspace, tmp_path):
    lines = "".join(f"- The parser has quirk number {number}.\n" for number in range(198))
    workspace.remember("The parser is slow.", agent="developer")
    path = tmp_path / ".scaffolding/agent-memory/agents/developer/MEMORY.md"
    path.write_text(f"# Developer Memory\n\n{lines}")
    said(workspace, "c1", "Gotcha: the parser drops comments in tables.")
    (one,) = workspace.plan_distillation().candidates
    assert one.reason.endswith(
        "agent:developer is full: make room first, as with `amp prune agent:developer --to-limit`"
    )
    done = workspace.apply_distillation(workspace.plan_distillation())
    assert (done.done, len(done.refused)) == ((), 1)


def test_what_was_so_on_a_day_is_proposed_for_nobody_however_many_say_it(workspace):
    for conversation in ("c1", "c2", "c3"):
        said(
            workspace, conversation, "Today the cart job failed twice on CI.", "Waiting for review of the cart change."
        )
    assert proposed(workspace) == []


def test_what_one_conversation_says_of_the_project_goes_to_no_agent_and_to_shared_memory_only_if_chosen(workspace):
    workspace.remember("Redis is slow.", agent="developer")
    said(workspace, "c1", "Redis exports run nightly at 02:45 UTC.")
    (one,) = workspace.plan_learning("c1").candidates
    assert (str(one.target), one.is_safe) == ("shared", False)
    workspace.close(workspace.plan_closing("c1"))
    assert texts(workspace, "shared") == []
    said(workspace, "c2", "Redis exports run nightly at 02:45 UTC.")  # the closed conversation still counts
    (one,) = workspace.plan_distillation().candidates
    assert (str(one.target), one.is_safe) == ("shared", True)


@pytest.mark.slow
def test_all_conversations_that_are_over_are_closed_by_one_command(workspace):
    for number in range(5):
        said(
            workspace,
            f"c{number}",
            f"The queue number {number} is slow.",
            f"Redis number {number % 2} drops its queue.",
        )
    assert run(workspace, "close", "--over")[1].strip() == "no conversation is over"
    assert run(workspace, "close")[0] == 2
    code, answer = run(workspace, "close", "c0", "c1", "c2", "--json")
    assert (code, len(json.loads(answer)["archived"])) == (0, 6)
    code, answer = run(workspace, "close", "c0", "c1", "c2", "c3", "--apply")
    assert code == 0
    assert answer.count("archived") == 4
    assert "`amp restore --since" in answer
    assert [one.owner for one in workspace.targets() if one.tier is Tier.CONVERSATION] == ["c4"]
    assert len(texts(workspace, "shared")) == 2


def test_what_conversations_learned_of_one_thing_goes_below_its_heading(workspace):
    for name in ("c1", "c2"):
        said(workspace, name, "The pool size is 10.", section="Staging > Database")
        said(workspace, name, "The pool size is 40.", section="Production > Key findings")
        said(workspace, name, "The importer needs a lock file.", section="Findings")
        said(workspace, name, "Drain the queue before a restart.", section=f"Task {name} of today")
    workspace.close(workspace.plan_closing("c1"))  # what it said still counts, with its headings
    apply_all(workspace)
    assert {one.text: one.headings for one in workspace.entries() if str(one.target) == "shared"} == {
        "- The pool size is 10.": ("Lessons", "Staging", "Database"),
        "- The pool size is 40.": ("Lessons", "Production"),
        "- The importer needs a lock file.": ("Lessons",),
        "- Drain the queue before a restart.": ("Lessons",),
    }
    assert proposed(workspace) == []
