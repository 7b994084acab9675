"""A quarter of a project's memory, with the upkeep of each month: `python -m benchmarks.quarter [--json] [--quick]`.

Three agents write in forty conversations, about 300 entries and 80 notes, seeded, so that each run is the same. At each
month end the memory is reviewed, pruned and distilled, and the conversations that are over are closed. Then each agent
is given 10,000 characters for each of the tasks whose facts are known by now, and again without any task.
"""

import json
from argparse import ArgumentParser
from contextlib import redirect_stderr
from datetime import date, timedelta
from io import StringIO
from random import Random
from tempfile import TemporaryDirectory

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.cli.review import SCREEN, screen
from agent_memory_protocol.errors import AgentMemoryError
from agent_memory_protocol.layout import Tier

from .tasks import TASKS

AGENTS = ("backend", "frontend", "tester")
PARTS = (
    *("cart", "search", "login", "invoice", "refund", "stock", "coupon", "mail", "webhook"),
    *("import", "export", "report", "price", "image", "queue", "cache"),
)
LESSONS = (
    "The {0} job must not run while the {1} table is locked.",
    "A {0} test needs the {1} fixture, or it passes for the wrong reason.",
    "The {0} page reads the {1} settings once, at its start.",
    "Gotcha: the {0} worker drops what the {1} service sends twice.",
    "Ask before the {0} module is changed for the {1} team.",
)
BEGINNING = date(2026, 1, 5)


def play(folder: str, months: int, seed: int) -> list[dict[str, object]]:
    """Play so many months of thirty days, and return the figures of each month end."""
    chance = Random(seed)
    here = Workspace.open(folder, environ={"HOME": folder})
    here.init(agents=AGENTS)
    facts = [fact for pair in TASKS.values() for fact in pair]
    acknowledged: list[str] = []
    figures = []
    for month in range(months):
        first = BEGINNING + timedelta(days=30 * month)
        for number in range(40 // 3 + (month == 0)):
            _converse(here, chance, f"{month + 1}-{number + 1}", first + timedelta(days=2 * number), acknowledged)
        for fact in facts[month::3]:
            acknowledged += _said(here, fact, first)  # shared, so each agent needs it
        for number in range(80 // 3):
            about, other = chance.sample(PARTS, 2)
            here.new_note(
                chance.choice(("feedback", "project")),
                f"{about}-{other}-{month}-{number}",
                description=f"What the {about} part needs from the {other} part, case {month}.{number}.",
                why="It cost a day.",
                how="Look before you change either.",
                actor=Actor(chance.choice(AGENTS)),
            )
        told = [fact for earlier in range(month + 1) for fact in facts[earlier::3]]
        figures.append(_month_end(here, first + timedelta(days=30), acknowledged, told))
    return figures


def _converse(here: Workspace, chance: Random, conversation: str, day: date, acknowledged: list[str]) -> None:
    agent = chance.choice(AGENTS)
    for _ in range(5):
        text = chance.choice(LESSONS).format(*chance.sample(PARTS, 2))
        acknowledged += _said(here, text, day, conversation=conversation)
    own = chance.choice(LESSONS).format(*chance.sample(PARTS, 2))
    acknowledged += _said(here, own, day, agent=agent, dated=day if chance.random() < 0.5 else None)


def _said(here: Workspace, text: str, day: date, **where: object) -> list[str]:
    """Remember a text; return it where that was acknowledged."""
    try:
        here.remember(text, today=day, **where)  # type: ignore[arg-type]
    except AgentMemoryError:
        return []
    return [text]


def _month_end(here: Workspace, today: date, acknowledged: list[str], facts: list[str]) -> dict[str, object]:
    with redirect_stderr(StringIO()):
        lines = len(list(screen(here.review(today=today), SCREEN)))
    commands = 1
    plan = here.plan_distillation()
    here.apply_distillation(plan, today=today)
    here.apply_pruning(here.plan_pruning(today=today))
    commands += 2
    over = [one for one in here.targets() if one.tier is Tier.CONVERSATION and int(one.owner.partition("-")[2]) < 8]
    for target in over:
        here.close(here.plan_closing(target.owner), today=today)
    commands += len(over)
    here.index()
    here.record_review(today=today)
    kept = "\n".join(
        [*(one.text for one in here.entries()), *(one.archived.taken.markdown for one in here.restorable())]
    )
    return {
        "review_lines": lines,
        "commands": commands + 2,
        "acknowledged": len(acknowledged),
        "lost": sum(text not in kept for text in acknowledged),
        "facts_for_tasks": round(_share_for_tasks(here, facts), 2),
        "facts_without_a_task": round(_share_given(here, facts), 2),
    }


def _share_for_tasks(here: Workspace, facts: list[str]) -> float:
    """Return which share of the facts that a task needs an agent is given for it in 10,000 characters."""
    given = [
        fact in here.recall(Actor(agent), max_chars=10_000, task=task).text
        for task, needed in TASKS.items()
        if set(needed) & set(facts)
        for agent in AGENTS
        for fact in needed
        if fact in facts
    ]
    return sum(given) / len(given)


def _share_given(here: Workspace, facts: list[str]) -> float:
    """Return which share of all facts an agent is given in 10,000 characters that says no task."""
    blocks = [here.recall(Actor(agent), max_chars=10_000).text for agent in AGENTS]
    return sum(fact in block for block in blocks for fact in facts) / len(blocks) / len(facts)


def main() -> None:
    """Play the quarter and print the figures of each month end."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quick", action="store_true", help="play one month")
    parser.add_argument("--seed", type=int, default=17, help="another quarter (default: 17)")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        figures = play(folder, 1 if options.quick else 3, options.seed)
    if options.json:
        print(json.dumps(figures))
        return
    for number, row in enumerate(figures, 1):
        print(f"month {number}: " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
