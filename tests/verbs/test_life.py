"""An entry's life is told from the ledger and git, and only to those who may read it."""

import subprocess

import pytest

from agent_memory_protocol import Actor, Tier, Workspace
from agent_memory_protocol.answers import About
from agent_memory_protocol.errors import InvalidArgument


@pytest.fixture
def here(tmp_path) -> Workspace:
    made = Workspace.open(tmp_path, environ={"HOME": str(tmp_path)})
    made.init(agents=["dev"])
    return made


def remember(here: Workspace, text: str, **about: str) -> str:
    return here.remember(text, tier=Tier.SHARED, about=About(**about) if about else None).entry.id  # type: ignore[arg-type]


def test_every_step_is_told_in_its_order_with_who_why_and_what_came_instead(here):
    port = remember(here, "The port is 8080.", writer="dev")
    other = remember(here, "The port is 9090.")
    here.dispute(port, other, reason="both cannot be")
    newer = here.edit(port, "The port is 8081.").entry.id
    here.resolve(newer, other, reason="it is 9090")

    lived = here.life(newer)

    assert [(one.what, one.id, one.other, one.by) for one in lived.events] == [
        ("written", port, "", "dev"),
        ("disputed", port, other, ""),
        ("edited", port, newer, ""),
        ("retired", newer, other, ""),
    ]
    assert lived.events[1].reason == "both cannot be"
    assert "it is 9090" in lived.events[3].reason
    assert "8080" in lived.events[2].text
    assert lived.entry is None
    still = here.life(other)
    assert still.entry is not None
    assert still.entry.text == "- The port is 9090."


def test_the_commit_that_brought_it_is_its_beginning(here):
    entry = remember(here, "The queue is Redis.")
    assert here.life(entry).events == ()
    author = ("-c", "user.name=Ada", "-c", "user.email=a@b")
    for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=here.path, check=True)
    (born,) = here.life(entry[:8]).events
    assert (born.what, born.by) == ("committed", "Ada")
    here.remember("Something else.", tier=Tier.SHARED)
    assert here.life(entry).events == (born,)


def test_nobody_is_told_of_what_they_may_not_read(here):
    entry = here.remember("Only dev knows.", tier=Tier.AGENT, agent="dev").entry.id
    gone = here.remember("Gone.", tier=Tier.AGENT, agent="dev").entry.id
    here.forget([gone])
    for one in (entry, gone):
        assert here.life(one, Actor("dev")).id == one
        for actor in (Actor("tester"), Actor("tester", "c1")):
            with pytest.raises(InvalidArgument):
                here.life(one, actor)
    with pytest.raises(InvalidArgument):
        here.life("ffffffffffff")
