"""What is planned to go does not leave its older value as all that is told, wherever that is."""

from datetime import date, timedelta
from itertools import product

import pytest

from agent_memory_protocol import Actor, Tier
from agent_memory_protocol.layout import Target

OLD, NEW = "The staging database is Postgres 14.", "The staging database is Postgres 16."
TODAY = date(2026, 9, 1)
DEV, OPS, SHARED = Target(Tier.AGENT, "dev"), Target(Tier.AGENT, "ops"), Target(Tier.SHARED)
CONVERSATION = Target(Tier.CONVERSATION, "c1")


def keep(workspace, target, text, day=None):
    who = Actor(target.owner) if target.tier is Tier.AGENT else Actor(None, target.owner or None)
    done = workspace.remember(text, tier=target.tier, actor=who, dated=day or False)
    return done.entry.id


def filled(workspace, target):
    """Add what stays, so that less than half would go."""
    for word in ("alpha", "beta", "gamma", "delta"):
        keep(workspace, target, f"The {word} service restarts itself after a crash.")


def taken(workspace, targets=None, **how):
    plans = workspace.plan_pruning(targets, today=TODAY, **how)
    return {one.text.rpartition("] ")[2].removeprefix("- ") for plan in plans for one in plan.removals}, plans


@pytest.mark.parametrize(
    ("there", "here"), [one for one in product((SHARED, DEV, OPS), (SHARED, DEV, CONVERSATION)) if one[0] != one[1]]
)
def test_a_newer_value_stays_while_its_older_value_stays_in_another_document(workspace, there, here):
    filled(workspace, there)
    filled(workspace, here)
    older = keep(workspace, there, OLD)
    newer = keep(workspace, here, NEW, date(2026, 2, 1))
    keep(workspace, here, "The loader hung for an hour.", date(2026, 2, 1))
    gone, plans = taken(workspace)
    assert gone == {"The loader hung for an hour."}
    (spared,) = [one for plan in plans for one in plan.kept if one.cause == "newer"]
    command = f"amp resolve {older} {newer}" if here == SHARED else f"amp edit {older} TEXT"
    assert spared.id == newer
    assert f"`{command}`" in spared.reason
    workspace.apply_pruning(plans)
    assert taken(workspace)[0] == set()


@pytest.mark.parametrize(
    ("older", "goes"),
    [
        (date(2026, 1, 5), True),  # it goes as well
        (date(2026, 8, 30), True),  # it is the newer one
        (date(2026, 2, 1), True),
        (None, False),
    ],
)
def test_what_else_is_planned_away_or_newer_holds_nothing_back(workspace, older, goes):
    for target in (SHARED, DEV):
        filled(workspace, target)
    keep(workspace, SHARED, OLD, older)
    keep(workspace, DEV, NEW, date(2026, 2, 1))
    assert (NEW in taken(workspace)[0]) == goes
    is_newer = older is not None and older > date(2026, 2, 1)
    assert (NEW in taken(workspace, [DEV])[0]) == is_newer  # then the other one stays


def test_of_several_newer_values_the_newest_stays(workspace):
    filled(workspace, DEV)
    keep(workspace, SHARED, OLD)
    keep(workspace, DEV, "The staging database is Postgres 15.", date(2026, 1, 20))
    keep(workspace, DEV, NEW, date(2026, 2, 1))
    assert taken(workspace)[0] == {"The staging database is Postgres 15."}
    assert taken(workspace, older_than=timedelta(days=30))[0] == {"The staging database is Postgres 15."}


def test_a_note_or_an_expired_entry_elsewhere(workspace):
    filled(workspace, DEV)
    newer = "Uploads are not scanned for viruses."
    keep(workspace, DEV, newer, date(2026, 2, 1))
    workspace.remember("Uploads are scanned for viruses.", until=date(2026, 3, 1))
    assert newer in taken(workspace)[0]
    workspace.new_note("project", "scan", description="Uploads are scanned for viruses.", why="Law.", how="Scan.")
    assert newer not in taken(workspace)[0]
