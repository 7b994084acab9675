"""Who is served, who is refused, and what a refusal says."""

import pytest

from agent_memory_protocol.errors import AccessDenied, AgentMemoryError, InvalidArgument, InvalidName
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.project.access import Actor, acting, check, why_not_read, why_not_write

SHARED = Target(Tier.SHARED)


def agent(name: str) -> Target:
    return Target(Tier.AGENT, name)


def conversation(name: str) -> Target:
    return Target(Tier.CONVERSATION, name)


PERSON = Actor()
READ_ONLY = ".claude/agents/reviewer.md gives it neither Write nor Edit"

MAY_READ = [
    pytest.param(PERSON, SHARED, id="person-shared"),
    pytest.param(PERSON, agent("developer"), id="person-agent"),
    pytest.param(PERSON, conversation("c1"), id="person-conversation"),
    pytest.param(Actor(conversation="c1"), conversation("c2"), id="person-in-another-conversation"),
    pytest.param(Actor("developer"), SHARED, id="agent-shared", marks=pytest.mark.requirement("S4-09")),
    pytest.param(Actor("developer"), agent("developer"), id="own", marks=pytest.mark.requirement("S4-13")),
    pytest.param(Actor("Developer"), agent("developer"), id="own-in-other-case"),
    pytest.param(Actor("jose\u0301"), agent("josé"), id="own-in-other-unicode-form"),
    pytest.param(Actor("scaffolding:developer"), agent("developer"), id="own-with-plugin"),
    pytest.param(Actor("architect"), agent("developer"), id="architect", marks=pytest.mark.requirement("S4-13")),
    pytest.param(Actor("Architect"), agent("developer"), id="architect-in-other-case"),
    pytest.param(
        Actor("tester", "c1"), conversation("c1"), id="in-conversation", marks=pytest.mark.requirement("S4-18")
    ),
    pytest.param(Actor("tester", "C1"), conversation("c1"), id="conversation-in-other-case"),
]

MAY_NOT_READ = [
    pytest.param(
        Actor("tester"), agent("developer"), id="third-agent", marks=pytest.mark.requirement("S4-13", "S4-11")
    ),
    pytest.param(Actor("architect-2"), agent("developer"), id="name-that-begins-like-the-architect"),
    pytest.param(Actor("1"), agent("10"), id="1-is-not-10"),
    pytest.param(Actor("10"), agent("1"), id="10-is-not-1"),
    pytest.param(Actor("developer"), conversation("c1"), id="no-conversation", marks=pytest.mark.requirement("S4-18")),
    pytest.param(Actor("tester", "c2"), conversation("c1"), id="outsider", marks=pytest.mark.requirement("S4-18")),
    pytest.param(
        Actor("architect", "c2"), conversation("c1"), id="architect-outside", marks=pytest.mark.requirement("S4-16")
    ),
    pytest.param(Actor("c1"), conversation("c1"), id="agent-named-like-the-conversation"),
    pytest.param(Actor("tester", "c1"), conversation("c10"), id="c1-is-not-c10"),
]

MAY_WRITE = [
    pytest.param(PERSON, SHARED, id="person-shared"),
    pytest.param(PERSON, agent("developer"), id="person-agent"),
    pytest.param(PERSON, conversation("c1"), id="person-conversation"),
    pytest.param(Actor("developer"), SHARED, id="any-agent-shared", marks=pytest.mark.requirement("S4-08")),
    pytest.param(Actor("developer"), agent("Developer"), id="own", marks=pytest.mark.requirement("S4-12")),
    pytest.param(Actor("architect"), agent("architect"), id="architect-own"),
    pytest.param(Actor("x", "c1"), conversation("c1"), id="in-conversation", marks=pytest.mark.requirement("S4-17")),
]

MAY_NOT_WRITE = [
    pytest.param(Actor("tester"), agent("developer"), id="third-agent", marks=pytest.mark.requirement("S4-12")),
    pytest.param(Actor("architect"), agent("developer"), id="architect", marks=pytest.mark.requirement("S4-14")),
    pytest.param(Actor("1"), agent("10"), id="1-is-not-10"),
    pytest.param(Actor("x"), conversation("c1"), id="no-conversation", marks=pytest.mark.requirement("S4-17")),
    pytest.param(Actor("x", "c2"), conversation("c1"), id="outsider", marks=pytest.mark.requirement("S4-17")),
]


@pytest.mark.parametrize(("actor", "target"), MAY_READ)
def test_a_reader_of_the_tier_is_served(actor, target):
    check(why_not_read(actor, target))
    assert why_not_read(actor, target) is None


@pytest.mark.parametrize(("actor", "target"), MAY_NOT_READ)
def test_anyone_else_is_refused_to_read(actor, target):
    with pytest.raises(AccessDenied) as refused:
        check(why_not_read(actor, target))
    assert str(refused.value).startswith(f"agent {actor.agent} may not read {target}: ")
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 3


@pytest.mark.parametrize(("actor", "target"), MAY_WRITE)
def test_a_writer_of_the_tier_is_served(actor, target):
    check(why_not_write(actor, target))
    assert why_not_write(actor, target) is None


@pytest.mark.parametrize(("actor", "target"), MAY_NOT_WRITE)
def test_anyone_else_is_refused_to_write(actor, target):
    with pytest.raises(AccessDenied) as refused:
        check(why_not_write(actor, target))
    assert str(refused.value).startswith(f"agent {actor.agent} may not write {target}: ")
    assert "\n" not in str(refused.value)


@pytest.mark.requirement("S4-54", "S4-55", "S4-56")
@pytest.mark.parametrize("target", [SHARED, agent("reviewer"), conversation("c1")], ids=str)
def test_a_read_only_agent_writes_nowhere_and_is_told_to_report(target):
    actor = Actor("reviewer", "c1")
    check(why_not_write(actor, target))
    with pytest.raises(AccessDenied, match="```memory-findings") as refused:
        check(why_not_write(actor, target, read_only_reason=READ_ONLY))
    assert READ_ONLY in str(refused.value)


@pytest.mark.requirement("S4-58")
@pytest.mark.parametrize("target", [SHARED, agent("reviewer"), conversation("c1")], ids=str)
def test_a_read_only_agent_still_reads(target):
    check(why_not_read(Actor("reviewer", "c1"), target))


def test_a_person_is_never_read_only():
    check(why_not_write(Actor(), SHARED, read_only_reason=READ_ONLY))


def test_the_settings_name_other_readers_of_all():
    check(why_not_read(Actor("Auditor"), agent("developer"), ("lead", "auditor")))
    with pytest.raises(AccessDenied, match="only agent developer and lead and auditor may"):
        check(why_not_read(Actor("architect"), agent("developer"), ("lead", "auditor")))
    check(why_not_read(Actor("developer"), agent("developer"), ()))


@pytest.mark.parametrize(
    ("actor", "target", "advice"),
    [
        (Actor("tester"), agent("developer"), "write to shared, or to your own with --agent tester"),
        (Actor("tester"), conversation("c1"), "set AMP_CONVERSATION=c1; else write to shared or agent:tester instead"),
        (
            Actor("tester", "c2"),
            conversation("c1"),
            "write to your own conversation c2, shared or agent:tester instead",
        ),
    ],
)
def test_a_refusal_says_what_to_do_instead(actor, target, advice):
    assert str(why_not_write(actor, target)).endswith(advice)


def test_an_actor_that_breaks_the_name_rule_cannot_be_made():
    for wrong in ({"agent": "../x"}, {"agent": ""}, {"conversation": "a/b"}, {"agent": "x", "conversation": "\u202e"}):
        with pytest.raises(InvalidName) as refused:
            Actor(wrong.get("agent"), wrong.get("conversation"))
        assert isinstance(refused.value, (AgentMemoryError, ValueError))
    assert (Actor("PACT:dev").agent, Actor("dev", "c1").conversation) == ("dev", "c1")


def test_who_acts_is_an_actor_or_else_a_person():
    assert acting(None) == Actor()
    assert acting(Actor("dev")) == Actor("dev")


@pytest.mark.parametrize("name", ["dev", "", "architect"])
def test_a_bare_name_is_no_actor_and_never_passes_for_a_person(name):
    with pytest.raises(InvalidArgument, match="must be an Actor, such as Actor"):
        acting(name)


def test_actors_are_equal_when_their_names_mean_the_same():
    assert Actor("Developer", "C1") == Actor("PACT:developer", "c1")
    assert hash(Actor("Developer", "C1")) == hash(Actor("developer", "c1"))
    assert len({Actor(), Actor("a"), Actor("a", "c"), Actor(None, "c"), Actor("b"), Actor("a")}) == 5
    assert Actor("a") != "a"


def test_an_actor_shows_what_it_is():
    assert repr(Actor("dev", "c1")) == "Actor(agent='dev', conversation='c1')"
    assert (str(Actor("dev")), str(Actor()), Actor().is_person, Actor("dev").is_person) == (
        "agent dev",
        "a person",
        True,
        False,
    )
