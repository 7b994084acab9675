"""The library's way in: documents are found, read and written for whoever may, whole or not at all."""

import os
import pickle
import re
import subprocess
import sys
import textwrap
import threading
import time
from datetime import date
from pathlib import Path

import pytest

from agent_memory_protocol import Actor, AgentMemoryError, Memory, Tier, Workspace, recall_for_agent
from agent_memory_protocol.answers import Headroom, Status
from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.errors import (
    AccessDenied,
    DamagedFile,
    Disabled,
    InvalidArgument,
    InvalidName,
    LimitExceeded,
    LockBusy,
    RefusedText,
    StorageError,
)
from agent_memory_protocol.layout import Target
from tests.each_row import each_row

SHARED = Target(Tier.SHARED)
DEV = Target(Tier.AGENT, "dev")
DEVELOPER = Actor("dev")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which nothing is set."""
    return {"HOME": str(tmp_path)}


@pytest.fixture
def workspace(tmp_path: Path, environ: dict[str, str]) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace.open(tmp_path / "project", environ=environ)


def file_of(workspace: Workspace, target: Target = SHARED) -> Path:
    return workspace.path.joinpath(*target.parts)


def write(workspace: Workspace, text: str | bytes, target: Target = SHARED) -> None:
    file = file_of(workspace, target)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in folder.rglob("*")
        if ".amp" not in path.parts
    }


# -- which document ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("actor", "named", "expected"),
    [
        (Actor(), {}, "shared"),
        (Actor("dev"), {}, "agent:dev"),
        (Actor("dev", "c1"), {}, "agent:dev"),
        (Actor(None, "c1"), {}, "shared"),
        (Actor("dev"), {"tier": Tier.SHARED}, "shared"),
        (Actor("dev"), {"agent": "tester"}, "agent:tester"),
        (Actor("dev"), {"conversation": "c2"}, "conversation:c2"),
        (Actor("dev", "c1"), {"tier": Tier.CONVERSATION}, "conversation:c1"),
        (Actor("dev", "c1"), {"tier": Tier.CONVERSATION, "conversation": "c2"}, "conversation:c2"),
        (Actor("dev"), {"tier": Tier.AGENT, "agent": "plugin:x"}, "agent:x"),
        (Actor(), {"agent": "x", "conversation": "c"}, "agent:x"),
        (Actor(), {"tier": Tier.CONVERSATION, "agent": "x", "conversation": "c"}, "conversation:c"),
    ],
    ids=str,
)
def test_the_document_meant_is_named_or_the_actors(workspace, actor, named, expected):
    assert str(workspace.target(actor, **named)) == expected


@each_row("tier", [None, Tier.SHARED, Tier.AGENT, Tier.CONVERSATION], ids=str)
@each_row("named", [{"agent": ""}, {"agent": ".."}, {"conversation": ""}, {"conversation": "a/b"}], ids=str)
def test_a_bad_name_is_refused_even_where_it_is_not_needed(workspace, tier, named):
    with pytest.raises(InvalidName) as refused:
        workspace.target(Actor("dev", "c1"), tier=tier, **named)
    assert isinstance(refused.value, ValueError)
    assert isinstance(refused.value, AgentMemoryError)


def test_a_tier_without_a_name_asks_for_it(workspace):
    for tier in (Tier.AGENT, Tier.CONVERSATION):
        with pytest.raises(InvalidArgument, match=f"which {tier}\\? name it with --{tier}"):
            workspace.target(Actor(), tier=tier)


def test_a_tier_and_an_actor_that_are_bare_texts_are_refused_in_words(workspace):
    with pytest.raises(InvalidArgument, match=r"one of Tier\.SHARED, Tier\.AGENT, Tier\.CONVERSATION, not 'shared'"):
        workspace.remember("a fact", tier="shared")
    for call in (workspace.recall, lambda name: workspace.remember("a fact", actor=name), workspace.entries):
        with pytest.raises(InvalidArgument, match=r"must be an Actor, such as Actor\('developer'\), not 'dev'"):
            call("dev")


def test_one_text_is_not_taken_for_a_list_of_its_letters(workspace):
    workspace.remember("a fact")
    before = tree(workspace.path)
    calls = [lambda one: workspace.init(agents=one), workspace.forget, workspace.redact, workspace.restorable]
    for call in calls:
        with pytest.raises(InvalidArgument, match=r"is a list of texts, not one text; write \['dev'\]"):
            call("dev")
    assert tree(workspace.path) == before


@pytest.mark.parametrize("given", [None, b"a fact", 3])
def test_what_is_no_text_is_refused_in_words(workspace, tmp_path, given):
    one = workspace.remember("a fact").entry.id
    before = tree(workspace.path)
    memory = Memory(tmp_path / "memory")
    for call in (workspace.remember, lambda text: workspace.edit(one, text), workspace.search, memory.remember):
        with pytest.raises(InvalidArgument, match=f"must be text, not {type(given).__name__}"):
            call(given)
    assert tree(workspace.path) == before


@pytest.mark.parametrize("age", [90, "90d", 0])
def test_an_age_that_is_no_timedelta_is_refused_in_words(workspace, age):
    with pytest.raises(InvalidArgument, match=r"older_than is a timedelta, such as timedelta\(days=90\), not "):
        workspace.plan_pruning(older_than=age)


@pytest.mark.parametrize("dated", ["2026-01-01", 1, 0, ""])
def test_a_date_in_another_form_is_refused_rather_than_dropped(workspace, dated):
    with pytest.raises(InvalidArgument, match="dated is a date, True, False or None, not "):
        workspace.remember("a fact", dated=dated)
    assert tree(workspace.path) == {}


# -- opening -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-29")
def test_opening_and_reading_create_nothing(workspace, tmp_path, environ):
    missing = Workspace.open(tmp_path / "not" / "there", environ=environ)
    for one in (workspace, missing):
        assert one.targets() == []
        assert one.entries() == []
        assert one.status() == []
        assert one.show(SHARED) is None
        assert one.left_out(SHARED) is None
        assert one.recall(DEVELOPER).text == ""
        assert one.settings.max_lines == 200
        assert not any(exists for path, exists in one.where().paths)
        assert one.diagnose(DEVELOPER)
    assert os.listdir(tmp_path) == ["project"]
    assert os.listdir(workspace.path) == []


def test_a_root_that_was_named_is_made_by_the_first_write_only(tmp_path, environ):
    workspace = Workspace.open(tmp_path / "new" / "deep", environ=environ)
    for refused, error in (
        (lambda: workspace.remember(""), RefusedText),
        (lambda: workspace.remember("x", section="\n"), RefusedText),
        (lambda: workspace.remember("x", actor=Actor("reviewer")), AccessDenied),
        (lambda: workspace.init(agents=["dev"], actor=Actor("tester")), AccessDenied),
        (lambda: workspace.init(agents=["a/b"]), InvalidName),
    ):
        with pytest.raises(error):
            refused()
        assert os.listdir(tmp_path) == []
    done = workspace.remember("x")
    assert done.path.read_text().endswith("- x\n")
    assert workspace.entries()[0].text == "- x"


def test_a_root_that_stood_there_before_a_refused_write_stays(tmp_path, environ):
    (tmp_path / "new").mkdir()
    with pytest.raises(RefusedText):
        Workspace.open(tmp_path / "new" / "deep", environ=environ).remember("")
    assert os.listdir(tmp_path) == ["new"]
    assert os.listdir(tmp_path / "new") == []


def test_a_root_that_cannot_be_made_is_an_error_of_ours(tmp_path, environ, monkeypatch):
    workspace = Workspace.open(tmp_path / "new" / "deep", environ=environ)
    mkdir = os.mkdir

    def full(path, *args, **kwargs):
        if str(path).endswith("deep"):
            raise OSError(28, "No space left on device")
        mkdir(path, *args, **kwargs)

    monkeypatch.setattr(os, "mkdir", full)
    with pytest.raises(StorageError, match="the project root was not created: the disk is full"):
        workspace.remember("x")
    assert os.listdir(tmp_path) == []


# -- remembering -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4-20")
def test_a_reply_has_the_entry_its_place_and_the_headroom(workspace):
    done = workspace.remember("Redis needs AOF on.", actor=DEVELOPER, tier=Tier.SHARED, section="Infrastructure")
    assert done.status == "added"
    assert done.path == file_of(workspace)
    assert done.line == done.entry.line == 6
    assert done.entry.text == "- Redis needs AOF on."
    assert done.entry.section == "Infrastructure"
    assert done.entry.date is None
    assert done.headroom == Headroom(194, 25_600 - file_of(workspace).stat().st_size, 200, 25_600)
    assert done.notes == ("added the missing section '## Infrastructure' at the end",)
    assert workspace.entries() == [done.entry]
    assert "Redis needs AOF on." in recall_for_agent("dev", root=str(workspace.path), environ={})


DATED = [
    ({}, "x", None),
    ({"dated": True}, "x", date(2026, 6, 15)),
    ({"dated": date(2026, 1, 2)}, "x", date(2026, 1, 2)),
    ({"dated": False}, "x", None),
    ({"conversation": "c1"}, "x", date(2026, 6, 15)),
    ({"conversation": "c1", "dated": False}, "x", None),
    ({}, "[2026-03-04] x", date(2026, 3, 4)),
    ({"dated": True}, "[2026-03-04] x", date(2026, 3, 4)),
    ({"dated": False}, "2026-03-04: x", date(2026, 3, 4)),
    ({"dated": date(2026, 1, 2)}, "[2026-03-04] x", date(2026, 1, 2)),
    ({"conversation": "c1"}, "[2026-03-04] x", date(2026, 3, 4)),
]


@pytest.mark.requirement("S4-62")
@pytest.mark.parametrize(("how", "text", "day"), DATED, ids=str)
def test_an_entry_has_the_date_decision_20_gives_it(workspace, how, text, day):
    done = workspace.remember(text, today=date(2026, 6, 15), **how)
    assert done.entry.date == day
    assert done.entry.text == (f"- [{day}] x" if day else "- x")


def test_today_is_the_local_date(workspace, monkeypatch):
    """B64: entries written after local midnight carry yesterday's date."""
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        assert workspace.remember(f"in {zone}", dated=True).entry.date == date(*time.localtime()[:3])
    monkeypatch.undo()
    time.tzset()


def test_a_repeat_keeps_its_place_and_text(workspace):
    first = workspace.remember("x", section="A")
    again = workspace.remember("  - x ", section="B", dated=False)
    assert (again.status, again.entry) == ("kept", first.entry)
    assert again.notes == ("it stays under 'A'; if 'B' needs it too, say so in the text",)
    workspace.remember("y", dated=date(2026, 1, 1))
    assert workspace.remember("y", dated=date(2026, 1, 2)).status == "redated"
    assert workspace.remember("y", dated=date(2025, 1, 2)).status == "kept"
    assert workspace.remember("y").status == "kept"
    assert file_of(workspace).read_text().endswith("- [2026-01-02] y\n\n## A\n\n- x\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("Redis loses its queue on a restart unless AOF is on", "{old} says the same: “Redis loses its queue"),
        ("**Redis** loses the queue on restart unless AOF is on.", "{old} says the same: “Redis loses its queue"),
        (
            "Redis does not lose its queue on restart unless AOF is on.",
            "{old} says the opposite: “Redis loses its queue",
        ),
        ("Redis loses its cache on restart unless AOF is on.", ""),
        ("Redis loses its queue on restart.", "{old} uses much the same words: “Redis loses its queue"),
        ("Redis loses its log on restart unless AOF is on.", ""),
        ("Redis 7 loses its queue on restart unless AOF is on.", ""),
    ],
)
def test_who_says_the_same_or_the_opposite_in_other_words_is_told_by_whom(workspace, text, remark):
    old = workspace.remember("Redis loses its queue on restart unless AOF is on.", section="Infrastructure").entry.id
    workspace.remember("Deploys go out on Tuesdays.")
    done = workspace.remember(text)
    assert len(done.notes) == bool(remark)
    assert "".join(done.notes).startswith(remark.format(old=old, new=done.entry.id))
    (again,) = workspace.remember(text, tier=Tier.AGENT, agent="developer").notes
    assert again.startswith(f"{done.entry.id} in {done.path.relative_to(workspace.path)} says the same")


def test_the_same_text_is_another_entry_in_another_document(workspace):
    ids = {
        workspace.remember("x", **where).entry.id
        for where in ({}, {"agent": "a"}, {"agent": "b"}, {"conversation": "a"})
    }
    assert len(ids) == 4


REFUSED = [
    ({}, "", RefusedText),
    ({}, "a\0", RefusedText),
    ({"section": " # "}, "x", RefusedText),
    ({"actor": Actor("reviewer")}, "x", AccessDenied),
    ({"actor": Actor("tester"), "agent": "dev"}, "x", AccessDenied),
    ({"actor": Actor("dev", "c2"), "conversation": "c1"}, "x", AccessDenied),
    ({"agent": "a/b"}, "x", InvalidName),
    ({"tier": Tier.AGENT}, "x", InvalidArgument),
    ({}, "y" * 25_600, LimitExceeded),
    ({"agent": "bad"}, "x", DamagedFile),
]


@pytest.mark.requirement("S4-12", "S4-17", "S4-54", "S4-59")
@pytest.mark.parametrize(
    ("how", "text", "error"), REFUSED, ids=[f"{how} {error.__name__}" for how, _, error in REFUSED]
)
def test_what_is_refused_changes_nothing(workspace, how, text, error):
    write(workspace, "# S\n\n- a\n")
    write(workspace, b"\xff", Target(Tier.AGENT, "bad"))
    before = tree(workspace.path)
    with pytest.raises(error) as refused:
        workspace.remember(text, **how)
    assert "\n" not in str(refused.value)
    assert tree(workspace.path) == before


@pytest.mark.requirement("S4-59")
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("# S\n" + "- x\n" * 196 + "<!--\nc\n-->\n", 200),
        ("# S\n" + "- x\n" * 199, 200),
        ("# S\n" + "- x\n" * 198 + "- y", 200),
        ("# S\r\n" + "- x\r\n" * 199, 200),
        ("# S\r" + "- x\r" * 199, 200),
        ("---\nname: x\n---\n# S\n<!-- c -->\n" + "- x\n" * 195, 200),
    ],
    ids=["comment-at-the-end", "final-newline", "no-final-newline", "crlf", "cr", "front-matter"],
)
def test_every_line_of_the_file_counts_in_every_answer(workspace, content, lines):
    """B05: the checker counts raw lines, the loader counts after stripping."""
    write(workspace, content)
    assert workspace.status()[0].lines == lines
    shown = workspace.show(SHARED)
    assert shown is not None
    assert len(shown.lines) == lines
    with pytest.raises(LimitExceeded, match=f"would have {lines + 1} lines, 200 are allowed") as told:
        workspace.remember("one more")
    error = told.value
    assert (error.target, error.path, error.limit, error.size, error.unit) == (
        "shared",
        SHARED.path,
        200,
        lines + 1,
        "lines",
    )
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), vars(copied)) == (str(error), vars(error))


NEAR = [
    (200, 21, False),
    (200, 20, True),
    (10, 2, False),
    (10, 1, True),
    (70, 7, True),
    (70, 8, False),
    (3, 1, False),
    (3, 0, True),
]


@each_row("limit, left, near", NEAR)
def test_ninety_percent_is_near(limit, left, near):
    """0.1 has no exact value in a computer; 20 of 200 lines left are near all the same."""
    assert Headroom(left, 25_600, limit, 25_600).is_near == near
    assert Headroom(200, left, 200, limit).is_near == near


@each_row("share, percent", [(0.0, 0), (0.29, 29), (0.999, 99), (1.0, 100), (1.001, 101), (2.34, 234)])
def test_only_what_is_just_full_is_full(share, percent):
    assert Status(SHARED, Path("x"), share=share).percent == percent


# -- many documents ----------------------------------------------------------------------------------------------------


def test_one_unreadable_document_hides_no_other(workspace):
    write(workspace, b"caf\xe9")
    write(workspace, "# D\n\n- seen\n", DEV)
    with pytest.raises(DamagedFile):
        workspace.entries()
    problems: list[tuple[Target, str]] = []
    found = workspace.entries(on_problem=lambda target, problem: problems.append((target, problem)))
    assert [entry.text for entry in found] == ["- seen"]
    assert [target for target, _ in problems] == [SHARED]
    assert [bool(row.problem) for row in workspace.status()] == [True, False]
    workspace.forget([found[0].id])
    with pytest.raises(StorageError, match=r"000000000000 may be in what cannot be read: .*KNOWLEDGE"):
        workspace.forget(["0" * 12])


@pytest.mark.requirement("S4-13", "S4-18")
def test_entries_and_status_hold_only_what_the_actor_may_read(workspace):
    for target in (
        SHARED,
        DEV,
        Target(Tier.AGENT, "tester"),
        Target(Tier.CONVERSATION, "1"),
        Target(Tier.CONVERSATION, "10"),
    ):
        write(workspace, "# D\n\n- x\n", target)
    for actor, expected in (
        (Actor(), ["shared", "agent:dev", "agent:tester", "conversation:1", "conversation:10"]),
        (DEVELOPER, ["shared", "agent:dev"]),
        (Actor("architect"), ["shared", "agent:dev", "agent:tester"]),
        (Actor("dev", "1"), ["shared", "agent:dev", "conversation:1"]),
        (Actor("stranger", "2"), ["shared"]),
    ):
        for found in (workspace.targets(actor), workspace.entries(actor), workspace.status(actor)):
            assert [str(getattr(one, "target", one)) for one in found] == expected
    for target in (Target(Tier.AGENT, "tester"), Target(Tier.CONVERSATION, "10")):
        for read in (workspace.show, workspace.left_out, lambda one, actor: workspace.entries(actor, [one])):
            with pytest.raises(AccessDenied):
                read(target, Actor("dev", "1"))


@pytest.mark.parametrize(
    ("settings", "environ", "tiers"),
    [
        ("", {"AMP_DISABLE": "1"}, []),
        ("enabled = false\n", {}, []),
        ("[tiers]\nagent = false\n", {}, ["shared", "conversation:c1"]),
        ("[tiers]\nshared = false\nconversation = false\n", {}, ["agent:dev"]),
    ],
)
def test_a_tier_that_is_switched_off_is_neither_read_nor_written(workspace, environ, settings, tiers):
    """Decision 6."""
    targets = [SHARED, DEV, Target(Tier.CONVERSATION, "c1")]
    for target in targets:
        write(workspace, "# D\n\n- x\n", target)
    (workspace.path / ".scaffolding/amp.toml").write_text(settings)
    before = tree(workspace.path)
    off = Workspace.open(workspace.path, environ=environ)
    assert [str(target) for target in off.targets()] == tiers
    assert [str(entry.target) for entry in off.entries()] == tiers
    for target in targets:
        if str(target) not in tiers:
            with pytest.raises(Disabled, match="is switched off by"):
                off.show(target)
            with pytest.raises(Disabled, match="is switched off by"):
                off.remember("x", tier=target.tier, agent="dev", conversation="c1")
    assert tree(workspace.path) == before


def test_what_recall_leaves_out_is_told_with_its_lines(workspace):
    write(
        workspace,
        "---\nname: x\n---\n# S\n<!-- c -->\n\n"
        + "".join(f"- [2026-01-{day:02}] fact\n  more\n" for day in range(1, 29)),
    )
    left = workspace.left_out(SHARED, max_lines=21)
    assert left is not None
    shown = workspace.show(SHARED)
    assert shown is not None
    lines = dict(shown.lines)
    assert all(lines[number] == line for number, line in left)
    block = workspace.recall(Actor(), max_lines=21).text
    kept = [line for line in block.splitlines() if line.startswith("- ")]
    gone = [line for _, line in left if line.startswith("- ")]
    assert gone + kept == [f"- [2026-01-{day:02}] fact" for day in range(1, 29)]


# -- several at once ---------------------------------------------------------------------------------------------------

HOLD = """
    import sys
    from agent_memory_protocol.disk.files import Root
    from agent_memory_protocol.disk.lock import hold

    with Root.open(sys.argv[1]) as root, hold(root, "shared"):
        print("held", flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def holder(workspace):
    """Another process that holds the lock of the shared document until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(workspace.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.fixture
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where anything waits."""

    def rest(seconds: float) -> None:
        pytest.fail(f"waits {seconds} s")

    monkeypatch.setattr(time, "sleep", rest)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock by which we wait for locks run thirty times as fast."""
    monotonic = time.monotonic
    start = monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: start + 30 * (monotonic() - start))


def test_two_spellings_of_a_name_make_one_memory(workspace):
    made = workspace.init(agents=["dev", "Dev", "tester"])
    assert [str(one.target) for one in made] == ["shared", "agent:dev", "agent:tester"]
    assert workspace.check() == []


@pytest.mark.requirement("S4-29")
def test_readers_never_wait_for_a_writer(workspace, holder, no_rest):
    """B81: session start blocked while a busy worker holds the lock."""
    write(workspace, "# S\n\n- x\n")
    assert "- x" in workspace.recall(DEVELOPER).text
    assert len(workspace.entries()) == 1
    assert len(workspace.status()) == 1
    assert workspace.show(SHARED) is not None
    assert workspace.init()[0].created is False


@pytest.mark.slow
def test_a_writer_waits_and_then_names_the_holder(workspace, holder, hurry):
    """B19, B81."""
    write(workspace, "# S\n\n- x\n")
    before = tree(workspace.path)
    with pytest.raises(LockBusy) as busy:
        workspace.remember("y")
    message = str(busy.value)
    assert f"another process is writing, probably process {holder.pid} (" in message
    assert "try again, or end that process if it hangs" in message
    assert "\n" not in message
    assert tree(workspace.path) == before


@pytest.mark.slow
def test_a_writer_goes_on_as_soon_as_the_holder_ends(workspace, holder):
    """B19: a lock goes with its holder, however that ends."""
    with subprocess.Popen(
        [sys.executable, "-m", "agent_memory_protocol", "remember", "y", "--root", str(workspace.path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as writer:
        time.sleep(0.5)
        assert writer.poll() is None
        holder.kill()
        out, err = writer.communicate(timeout=30)
    assert (writer.returncode, err) == (0, b"")
    assert out.startswith(b"remembered: ")


@pytest.mark.slow
def test_the_command_waits_its_ten_seconds_and_exits_with_four(workspace, holder):
    done = subprocess.run(
        [sys.executable, "-m", "agent_memory_protocol", "remember", "y", "--root", str(workspace.path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert f"probably process {holder.pid} (" in done.stderr
    waited = re.search(r"; waited (\d+\.\d) s;", done.stderr)
    assert waited is not None
    assert float(waited[1]) >= 10
    assert done.stderr.count("\n") == 1


def test_other_documents_are_written_meanwhile(workspace, holder):
    assert workspace.remember("x", agent="dev").status == "added"


@pytest.mark.parametrize("leftover", [b"", b"\0" + b"999999\namp\nhost\nlong ago", b"rubbish" * 1000])
def test_what_a_killed_writer_left_blocks_nobody(workspace, leftover, no_rest):
    """B19: a process killed while locking leaves a lock that blocks writes for ever."""
    locks = workspace.path / ".scaffolding/.amp/locks"
    locks.mkdir(parents=True)
    (locks / "shared.lock").write_bytes(leftover)
    assert workspace.remember("x").status == "added"


MANY = """
    import sys
    from agent_memory_protocol import Workspace

    workspace = Workspace.open(sys.argv[1])
    for number in range(int(sys.argv[3])):
        workspace.remember(f"fact {number} of writer {sys.argv[2]}" + "\\nwith a second line" * (number % 5 == 0))
"""


@pytest.mark.slow
def test_eight_writers_lose_nothing(workspace, sized):
    """B14: two processes write one memory file; both report success, one entry is gone."""
    writers, each = 8, sized(5, 15, 50)
    (workspace.path / ".scaffolding").mkdir()
    (workspace.path / ".scaffolding/amp.toml").write_text("[limits]\nmax_lines = 2000\nmax_bytes = 100_000\n")
    processes = [
        subprocess.Popen([sys.executable, "-c", textwrap.dedent(MANY), str(workspace.path), str(writer), str(each)])
        for writer in range(writers)
    ]
    assert [process.wait(300) for process in processes] == [0] * writers
    texts = [entry.text for entry in workspace.entries()]
    assert sorted(texts) == sorted(
        f"- fact {number} of writer {writer}" + "\n  with a second line" * (number % 5 == 0)
        for writer in range(writers)
        for number in range(each)
    )
    document = file_of(workspace).read_text()
    assert document.startswith("# Shared Knowledge\n<!-- ")
    assert document.count("# Shared Knowledge") == 1
    assert {path.name for path in file_of(workspace).parent.iterdir()} <= {"KNOWLEDGE.md"}
    assert {path.name for path in (workspace.path / ".scaffolding").iterdir()} <= {
        *(".amp", ".gitattributes", "agent-memory", "amp.toml")
    }
    assert not list(workspace.path.rglob("*.amp-tmp"))


@pytest.mark.slow
def test_threads_of_one_process_lose_nothing_either(workspace):
    """B14: as servers write."""
    failed = []

    def write_some(writer):
        for number in range(8):
            try:
                workspace.remember(f"fact {number} of thread {writer}")
            except AgentMemoryError as error:
                failed.append(error)

    threads = [threading.Thread(target=write_some, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(workspace.entries()) == 32


def test_an_edit_made_meanwhile_is_not_overwritten(workspace, monkeypatch):
    """An editor saves between our reading and our writing: the write starts again from what it saved."""
    write(workspace, "# S\n\n- a\n")
    read = Root.read
    saves = iter(["# S\n\n- a\n- by an editor\n"])

    def read_then_edited(root, parts, **limits):
        content = read(root, parts, **limits)
        if parts == SHARED.parts and (text := next(saves, "")):
            file_of(workspace).write_text(text)
        return content

    monkeypatch.setattr(Root, "read", read_then_edited)
    workspace.remember("b")
    assert file_of(workspace).read_text() == "# S\n\n- a\n- by an editor\n- b\n"


def test_a_document_that_appears_meanwhile_is_not_overwritten(workspace, monkeypatch):
    read = Root.read
    saves = iter(["# Mine\n\n- by an editor\n"])

    def read_then_created(root, parts, **limits):
        content = read(root, parts, **limits)
        if parts == SHARED.parts and (text := next(saves, "")):
            write(workspace, text)
        return content

    monkeypatch.setattr(Root, "read", read_then_created)
    workspace.remember("b")
    assert file_of(workspace).read_text() == "# Mine\n\n- by an editor\n- b\n"


@pytest.mark.slow
def test_something_that_writes_all_the_time_ends_in_an_error(workspace, monkeypatch, hurry):
    write(workspace, "# S\n\n- a\n")
    read = Root.read
    count = 0

    def read_then_edited(root, parts, **limits):
        nonlocal count
        content = read(root, parts, **limits)
        if parts == SHARED.parts:
            count += 1
            file_of(workspace).write_text(f"# S\n\n- a\n- edit {count}\n")
        return content

    monkeypatch.setattr(Root, "read", read_then_edited)
    with pytest.raises(StorageError, match="something else writes this file all the time; nothing was changed"):
        workspace.remember("b")
    assert "- b" not in file_of(workspace).read_text()


# -- the disk ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["write", "fsync", "replace"])
@pytest.mark.parametrize("existing", ["# S\n\n- a\n", None], ids=["existing", "new"])
def test_a_disk_that_is_full_leaves_the_document_as_it_was(workspace, monkeypatch, name, existing):
    """B17: a write fails half way and the memory file is left cut off."""
    if existing is not None:
        write(workspace, existing)
    workspace.remember("before", agent="dev")
    before = tree(workspace.path)
    real = getattr(os, name)

    def full(*args, **kwargs):
        if name == "write" and b"zanzibar" not in bytes(args[1]):
            return real(*args, **kwargs)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, name, full)
    if name == "replace" and existing is None:
        monkeypatch.setattr(os, "link", full)
    with pytest.raises(StorageError, match="the disk is full; free some space and try again"):
        workspace.remember("zanzibar")
    monkeypatch.undo()
    after = tree(workspace.path)
    assert {name: data for name, data in after.items() if data} == {name: data for name, data in before.items() if data}
    assert workspace.remember("zanzibar").status == "added"


def test_a_linked_document_stays_a_link(workspace):
    """B20."""
    source = workspace.path / "memory.md"
    source.write_text("# M\n\n- a\n")
    source.chmod(0o640)
    link = file_of(workspace, DEV)
    link.parent.mkdir(parents=True)
    link.symlink_to(os.path.relpath(source, link.parent))
    workspace.remember("b", agent="dev")
    assert link.is_symlink()
    assert source.read_text() == "# M\n\n- a\n- b\n"
    assert source.stat().st_mode & 0o777 == 0o640


def test_a_link_that_leads_out_is_neither_read_nor_written(workspace, tmp_path):
    outside = tmp_path / "outside.md"
    outside.write_text("# O\n\n- secret\n")
    link = file_of(workspace)
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    assert "secret" not in workspace.recall(Actor()).text
    with pytest.raises(DamagedFile, match="leads outside the project"):
        workspace.remember("x")
    assert outside.read_text() == "# O\n\n- secret\n"


@each_row(
    "ask",
    [
        lambda here: here.show("shared"),
        lambda here: here.read_file("shared"),
        lambda here: here.rewrite("shared", "x"),
        lambda here: here.check_write(Actor(), "shared"),
        *(
            lambda here, name=name: getattr(here, name)(targets=["shared"])
            for name in ("documents", "entries", "status", "notes", "index", "plan_pruning", "compact_ledgers")
        ),
        lambda here: here.search("x", targets=["shared"]),
        lambda here: here.search("x", tier="shared"),
        lambda here: here.search_archived("x", tier="bogus"),
        lambda here: here.remember("x", tier="shared"),
    ],
)
def test_the_name_of_a_document_or_a_tier_is_refused_with_what_to_write(tmp_path, ask):
    here = Workspace.open(tmp_path)
    here.remember("a fact")
    with pytest.raises(InvalidArgument, match=r"Tier\.SHARED"):
        ask(here)
