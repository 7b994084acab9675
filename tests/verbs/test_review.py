"""The monthly list: one screen, groups instead of pairs, each row with a command that works."""

import os
import random
import shlex
import shutil
import subprocess
from datetime import date

import pytest
from click.testing import CliRunner

from agent_memory_protocol import Actor, Workspace
from agent_memory_protocol.cli.main import amp
from agent_memory_protocol.cli.review import screen
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.verbs.review import KINDS, Item, Text
from tests.each_row import each_row

LONG = "word " * 40
SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md"


def run(workspace, *args):
    return CliRunner().invoke(amp, [*args, "--root", str(workspace.path)], env={"AMP_AGENT": None}).output


def write(workspace, text, target=None):
    path = workspace.path / (target or Target(Tier.SHARED)).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.slow
def test_nine_notes_that_say_the_same_are_one_group(workspace):
    for number in range(9):
        described = f"Redis loses its queue on restart without AOF, {'abcdefghi'[number]}."
        workspace.new_note("feedback", f"redis-{number}", description=described, why="w", how="h", actor=Actor("dev"))
    (group,) = [one for one in workspace.review() if one.kind == "merge"]
    assert (len(group.texts), group.message) == (9, "9 say much the same")
    assert run(workspace, "review").count("amp note merge") == 1


UNDER_ONE_LABEL = """# S

You have two modes of operation:

- You start in plan mode and will not move to act mode until the plan is approved.
- You will move back to plan mode after every response and when the user types it.
"""


def test_texts_are_not_alike_by_the_label_that_both_are_under(workspace):
    write(workspace, UNDER_ONE_LABEL)
    assert [one.kind for one in workspace.review() if one.kind != "undated"] == []


def test_what_is_to_be_settled_is_not_also_to_be_confirmed(workspace):
    write(
        workspace,
        "# S\n\n- The API is on port 8410.\n- [2026-01-01] The API is on port 8500.\n"
        "- [2026-01-01] Mail is sent at noon.\n- Logs are kept in Loki for every team.\n",
    )
    found = [(one.kind, one.text[2:16]) for one in workspace.review(today=date(2026, 6, 1))]
    assert found[1:] == [("stale", "[2026-01-01] M"), ("undated", "Logs are kept ")]
    assert found[0][0] == "changed"


def test_what_only_says_more_does_not_deny_what_it_repeats(workspace):
    write(workspace, "# S\n\n- Use pnpm for all installs.\n- Use pnpm for all installs, not npm.\n")
    (item,) = [one for one in workspace.review() if one.kind != "undated"]
    assert (item.kind, item.command.count("amp forget"), item.texts[0].text) == (
        "merge",
        1,
        "- Use pnpm for all installs, not npm.",
    )


def test_what_was_before_is_no_other_value(workspace):
    for number, before in enumerate(("~15+", "~400+")):
        described = f"Types of module {number}"
        body = f"- **Before**: {before} `any` types"
        workspace.new_note("project", f"types-{number}", description=described, body=body, why="w", how="h")
    assert [one.kind for one in workspace.review() if one.kind not in ("undated", "merge")] == []


def test_the_parts_of_one_long_note_are_never_to_be_merged(workspace):
    folder = write(workspace, "# S\n").parent
    for stem, count in [("reference_deploy", 60), *((f"reference_{name}", 1) for name in ("redis", "kafka"))]:
        for number in range(1, count + 1):
            part = "" if number == 1 else f".{number}"
            described = f"Deployment and operations of {stem} ({number} of {count})"
            (folder / f"{stem}{part}.md").write_text(
                f"---\nname: {stem}{part}\ndescription: {described}\ntype: reference\n---\n\nA fact.\n"
            )
    (item,) = [one for one in workspace.review() if one.kind == "crowded"]
    assert item.message.startswith("62 notes, 50 fit a screen")
    assert {text.name for text in item.texts} == {"reference_redis.md", "reference_kafka.md"}


def test_what_is_opposite_is_never_called_the_same(workspace):
    write(workspace, "# S\n\n- The mail worker needs Redis.\n- The mail worker does not need Redis.\n")
    (item,) = [one for one in workspace.review() if one.kind != "undated"]
    assert (item.kind, {one.text for one in item.texts}) == (
        "opposite",
        {"The mail worker needs Redis.", "The mail worker does not need Redis."},
    )


def test_what_follows_without_something_is_no_denial_of_that_it_is_needed(workspace):
    texts = (
        "Retries need an idempotency key or customers pay twice.",
        "Without an idempotency key customers pay twice.",
    )
    write(workspace, "# S\n\n" + "".join(f"- {text}\n" for text in texts))
    (item,) = [one for one in workspace.review() if one.kind != "undated"]
    assert (item.kind, {one.text.removeprefix("- ") for one in item.texts}) == ("merge", set(texts))
    assert "compare them" in item.message


def test_what_may_be_out_of_date_is_listed_with_the_older_first_and_a_list_of_like_things_is_not(workspace):
    write(
        workspace,
        "# S\n\n- [2026-03-01] Backups now run at 4 am every night.\n- [2025-11-01] The nightly backup runs at 2 am.\n"
        + "".join(
            f"- The {name} job takes {minutes} minutes.\n" for name, minutes in (("tax", 5), ("mail", 7), ("map", 9))
        ),
    )
    (item,) = [one for one in workspace.review(today=date(2026, 3, 2)) if one.kind == "renewed"]
    assert [one.text for one in item.texts] == [
        "The nightly backup runs at 2 am.",
        "Backups now run at 4 am every night.",
    ]
    run(workspace, *shlex.split(item.command)[1:])
    assert not [one for one in workspace.review() if one.kind == "renewed"]


@each_row(
    "lines, count",
    [
        ("- The port is 8080.\n- The port is 9090.\n", 1),
        ("- Timeout is 30 s.\n- Timeout is 60 s.\n", 1),
        ("- Retries: 3\n- Retries: 5\n", 1),
        ("- Database: MySQL\n- Database: PostgreSQL\n", 1),
        ("- The owner of billing is Ana.\n- The owner of billing is Ben.\n", 0),
        ("- Port: 8080\n- Port: 9090\n- Port: 7070\n", 0),
        ("API:\n\n- Port: 8080\n\nWorker:\n\n- Port: 9090\n", 0),
        ("- Note: the API is slow\n- Note: the tests are slow\n", 0),
    ],
)
def test_short_facts_that_differ_in_their_value_are_listed_as_what_may_be_out_of_date(workspace, lines, count):
    write(workspace, f"# S\n\n{lines}")
    assert len([one for one in workspace.review() if one.kind == "renewed"]) == count


@each_row(
    "lines",
    [
        ["Sessions last 24 hours.", "Sessions last 8 hours.", "Sessions last 12 hours."],
        ["Mails are sent through Mailgun.", "Mails are sent through Postmark."],
        ["The loader needs 1,500 rows.", "The loader needs 900 rows.", "The loader needs 800 rows."],
        ["Port: 8080", "Port: 9090", "Port: 7070"],
    ],
)
def test_what_was_learned_on_different_days_is_no_list_and_each_older_one_meets_the_newest(workspace, lines):
    def git(*args, day="2026-01-01"):
        stamps = {f"GIT_{who}_DATE": f"{day}T10:00:00Z" for who in ("AUTHOR", "COMMITTER")}
        as_dev = ["-c", "user.name=dev", "-c", "user.email=dev@example.com"]
        subprocess.run(["git", *as_dev, *args], cwd=workspace.path, env={**os.environ, **stamps}, check=True)

    shutil.rmtree(workspace.path / ".git", ignore_errors=True)
    git("init", "-q")
    for days in (["2026-02-01"] * len(lines), ["2026-02-01", "2026-04-01", "2026-03-01"][: len(lines)]):
        page = "# S\n\n"
        for day, line in sorted(zip(days, lines, strict=True)):
            page += f"- {line}\n"
            write(workspace, page)
            git("add", "-A")
            git("commit", "-qm", "more", "--allow-empty", day=day)
        found = [one.texts for one in workspace.review() if one.kind == "renewed"]
        if len({*days}) == 1:
            assert len(lines) == 2 or found == []
            git("rm", "-rq", "--cached", ".")
            git("commit", "-qm", "gone", "--allow-empty")
        else:
            newest = lines[days.index(max(days))]
            assert {(one.text, other.text) for one, other in found} == {(one, newest) for one in lines if one != newest}


def test_what_has_expired_disagrees_with_nothing(workspace):
    write(
        workspace,
        "# S\n\n- [until 2026-03-01] Uploads are scanned for viruses.\n- Uploads are not scanned for viruses.\n",
    )
    for day, count in ((date(2026, 3, 1), 1), (date(2026, 3, 2), 0)):
        assert sum(one.kind == "opposite" for one in workspace.review(today=day)) == count
        assert sum(one.rule == "tier-contradiction" for one in workspace.check(today=day)) == count


def test_one_lesson_in_other_words_is_a_group_and_what_conversations_repeat_is_not(workspace):
    """What conversations repeat is what `amp distill` goes by."""
    words = ("cart", "till", "stock", "mail", "map", "tax", "login")
    more = [f"The {word} of the shop has a page of its own." for word in words]
    lessons = ["Mask missing gates before averaging, NaN spread through a whole week of means."]
    lessons.append("A mean over missing gates is NaN; mask them first.")
    for text in more:
        workspace.remember(text)
    for agent, text in zip(("dev", "ops"), lessons, strict=True):
        workspace.remember(text, tier=Tier.CONVERSATION, actor=Actor(agent, agent))
    assert not [one for one in workspace.review() if "one lesson" in one.message]
    for agent, text in zip(("dev", "ops"), lessons, strict=True):
        workspace.remember(text, tier=Tier.AGENT, actor=Actor(agent))
    (group,) = [one for one in workspace.review() if "one lesson" in one.message]
    assert {one.text.removeprefix("- ") for one in group.texts} == {*lessons}
    assert group.command.startswith("amp remember TEXT --tier shared; amp forget ")
    assert group.message == "2 may be one lesson; it belongs in shared, said once"


def test_of_two_without_a_date_the_one_that_says_now_is_the_newer(workspace):
    write(workspace, "# S\n\n- Backups now run at 4 am every night.\n\n## Jobs\n\n- The nightly backup runs at 2 am.\n")
    (item,) = [one for one in workspace.review() if one.kind == "renewed"]
    assert item.texts[0].text == "The nightly backup runs at 2 am."
    assert item.command == f"amp resolve {item.texts[0].name} {item.texts[1].name}"


def test_two_edits_of_one_entry_that_a_merge_has_kept_are_listed_until_one_is_retired(workspace, tmp_path):
    """Their words may tell nothing; the ledger knows. What was edited twice on one branch is not two."""
    there = tmp_path / "there"
    one, other = (workspace.remember(text).entry.id for text in ("The colour is green.", "Ask Ana first."))
    shutil.copytree(workspace.path / ".scaffolding", there / ".scaffolding")
    theirs = Workspace.open(there, environ={"HOME": str(there)})
    theirs.edit(theirs.edit(one, "Let us call it blue.").entry.id, "Blue it shall be.")
    workspace.edit(one, "We went with red.")
    workspace.edit(workspace.edit(other, "Ask Bo first.").entry.id, "Ask Cy first.")
    page, ledger = workspace.path / SHARED, (workspace.path / SHARED).with_name("ledger.jsonl")
    page.write_text(page.read_text() + "- Blue it shall be.\n")
    ledger.write_text(ledger.read_text() + (there / SHARED).with_name("ledger.jsonl").read_text())
    listed = [item for item in workspace.review() if len(item.texts) == 2]
    assert [{text.text for text in item.texts} for item in listed] == [{"We went with red.", "Blue it shall be."}]
    run(workspace, *shlex.split(listed[0].command)[1:])
    assert not [item for item in workspace.review() if len(item.texts) == 2]


def test_two_conversations_deny_each_other_nothing_since_nobody_reads_both(workspace):
    for name, text in (
        ("c1", "Deploys to staging run on Fridays."),
        ("c2", "Deploys to staging never run on Fridays."),
    ):
        write(workspace, f"# C\n\n- {text}\n", Target(Tier.CONVERSATION, name))
    assert {one.kind for one in workspace.review()} <= {"undated"}


def test_every_row_of_one_kind_has_a_command_that_settles_it(workspace, tmp_path):
    write(workspace, "# S\n\n- The queue is on port 8080.\n- The queue is on port 9090.\n- [2025-01-01] Old.\n")
    for agent in ("dev", "ops"):
        workspace.remember("Run the migrations before the slow tests.", agent=agent)
    path = write(workspace, "# C\n\n- [2025-01-01] Said.\n", Target(Tier.CONVERSATION, "c1"))
    os.utime(path, (1_735_700_000, 1_735_700_000))
    found = workspace.review()
    assert [one.kind for one in found if one.kind != "undated"] == ["changed", "merge", "stale", "stale", "close"]
    for item in found:
        if item.kind in ("changed", "stale"):
            run(workspace, *shlex.split(item.command)[1:])
    run(workspace, "close", "c1", "--apply")
    assert [one.kind for one in workspace.review() if one.kind != "undated"] == ["merge"]
    assert "belongs in shared" in found[1].message


def test_what_was_refused_is_not_listed_again(workspace):
    write(workspace, "# S\n\n- The queue is on port 8080.\n- The queue is on port 9090.\n")
    (item,) = [one for one in workspace.review() if one.kind == "changed"]
    run(workspace, "review", "--refuse", item.id)
    assert not [one for one in workspace.review() if one.kind == "changed"]
    run(workspace, "review", "--forget-refusals")
    assert [one.id for one in workspace.review() if one.kind == "changed"] == [item.id]


@pytest.mark.slow
@each_row("seed", range(20))
def test_any_list_fits_a_screen_and_shows_something_of_every_kind(seed):
    chance = random.Random(seed)
    found = [
        Item(kind, "why", "amp forget x", tuple(Text("a/b.md", f"{number:012x}", LONG) for number in range(size)))
        for kind in KINDS
        for size in [chance.choice([1, 2, 3, 9])] * chance.choice([0, 1, 2, 50])
    ]
    lines = list(screen(found, 36))
    assert len(lines) <= 40
    for item in found:
        assert any(item.id in line for line in lines) or any("more" in line for line in lines)
    kinds = {item.kind for item in found}
    assert sum(not line.startswith(" ") and line.endswith(":") for line in lines) == len(kinds)
    whole = list(screen(found, 10**9))
    assert all(any(item.id in line for line in whole) for item in found)


def test_the_list_is_as_long_as_what_is_asked_for(workspace):
    lines = "".join(f"- [2025-01-{number % 28 + 1:02}] Fact {number} of old.\n" for number in range(150))
    write(workspace, f"# S\n\n{lines}")
    assert len(run(workspace, "review").splitlines()) <= 40
    assert len(run(workspace, "review", "--all").splitlines()) > 150
    assert len(workspace.review(today=date(2026, 6, 1))) >= 150


@pytest.mark.parametrize("kind", KINDS)
def test_no_command_is_wider_than_a_screen_however_long_the_place_is(kind, monkeypatch):
    monkeypatch.setattr("agent_memory_protocol.cli.review.columns", lambda: 80)
    place = f".scaffolding/agent-memory/agents/{'long-' * 8}name/MEMORY.md:4"
    said = "keeps the newer; `amp dispute ff0316f106fd c0fdd274b96d` marks both"
    item = Item(kind, said, "amp resolve ff0316f106fd c0fdd274b96d", (Text(place, "0" * 12, LONG),) * 2)
    commands = [line for line in screen([item], 10**9) if "amp resolve" in line or said == line.strip()]
    assert commands
    assert max(map(len, commands)) <= 80


def test_texts_of_one_form_about_other_things_are_not_said_to_say_the_same(workspace):
    for part in ("cart", "login", "price"):
        workspace.remember(f"The {part} worker must be restarted after a schema change, it caches column names.")
    assert [one.kind for one in workspace.review() if one.kind != "undated"] == []
