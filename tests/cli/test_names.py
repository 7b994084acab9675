"""Names that people and programs give: each is refused at every door, with the rule, or stays its owner's own."""

import pytest

from tests.each_row import each_row

AGENT = ".scaffolding/agent-memory/agents/{}/MEMORY.md"
WORDS = "kept-apart"

BAD = [
    ("", "is empty"),
    (".", "must not begin or end with a dot"),
    ("..", "must not begin or end with a dot"),
    ("../../outside", "a path separator"),
    ("a/../../b", "a path separator"),
    ("a\\..\\..\\b", "a path separator"),
    ("/etc", "a path separator"),
    ("a/b", "a path separator"),
    ("%2e%2e", "a percent sign"),
    ("C:x", "drive letter"),
    ("x" * 300, "has 300 characters"),
    ("x" * 4096, "has 4096 characters"),
    ("a\nb", "U+000A"),
    ("a\0b", "U+0000"),
    ("a\x1b[31m", "U+001B"),
    ("zero\u200bwidth", "U+200B"),
    ("bidi\u202e", "U+202E"),
    ("CON", "Windows reserves this name"),
    ("nul.txt", "Windows reserves this name"),
    ("x.", "must not begin or end with a dot"),
    (".x", "must not begin or end with a dot"),
    ("-rf", "must not begin or end with a dot, a dash"),
    ("x-", "must not begin or end with a dot, a dash"),
    (" x", "or a space"),
    ("team dev", "letters, digits, '-', '_' and '.' are allowed"),
    ("a*b", "letters, digits, '-', '_' and '.' are allowed"),
    ("$(id)", "letters, digits, '-', '_' and '.' are allowed"),
    ("\U0001f600", "U+1F600, which is not a letter or digit"),
    ("devel\u043eper", "mixes Cyrillic and Latin letters"),
    ("\uff44ev", "look-alike characters"),
    ("caf\udce9", "U+DCE9"),
]

DOORS = [
    ("recall", "{}"),
    ("recall", "--as", "{}"),
    ("recall", "--conversation", "{}"),
    ("doctor", "{}"),
    ("doctor", "--conversation", "{}"),
    ("remember", "x", "--agent", "{}"),
    ("remember", "x", "--conversation", "{}"),
    ("remember", "x", "--as", "{}"),
    ("remember", "x", "--tier", "shared", "--agent", "{}"),
    ("remember", "x", "--tier", "shared", "--conversation", "{}"),
    ("show", "--agent", "{}"),
    ("show", "--conversation", "{}"),
    ("show", "--as", "{}"),
    ("show", "--left-out", "--agent", "{}"),
    ("list", "--as", "{}"),
    ("status", "--as", "{}"),
    ("where", "--as", "{}"),
    ("init", "--agent", "{}"),
    ("init", "--conversation", "{}"),
    ("init", "--as", "{}"),
    ("forget", "0" * 12, "--as", "{}"),
    ("sync", "--as", "{}"),
    ("prune", "--as", "{}"),
    ("restore", "--as", "{}"),
    ("route", "x", "--as", "{}"),
    ("check", "--as", "{}"),
    ("review", "--as", "{}"),
    ("index", "--agent", "{}"),
    ("note", "list", "--agent", "{}"),
    ("note", "show", "x", "--agent", "{}"),
    ("note", "remove", "x", "--agent", "{}"),
    ("note", "new", "user", "x", "--description", "d", "--why", "w", "--how", "h", "--agent", "{}"),
]


@pytest.mark.slow
@pytest.mark.requirement("S4-11")
@each_row("name, rule", BAD, ids=[ascii(name[:20]) for name, _ in BAD], fresh=True)
def test_a_bad_name_is_refused_at_every_door_with_the_rule(amp, name, rule):
    """B40: agent id such as `..` escapes the workspace."""
    amp.write(".scaffolding/agent-memory/shared/KNOWLEDGE.md", "# S\n\n- a\n")
    (amp.home / "outside").mkdir()
    before = amp.tree(amp.home)
    for door in DOORS:
        # A conversation has no plugin before its colon, and a longer name.
        if (name, door[-2]) == ("C:x", "--conversation"):
            continue
        args = [arg.format(name) for arg in door]
        if name.startswith("-") and door[-1] == "{}" and not door[-2].startswith("-"):
            args.insert(1, "--")
        amp(*args).refuses(2, rule)
    assert amp.tree(amp.home) == before


@pytest.mark.slow
@each_row("variable", ["AMP_AGENT", "AMP_CONVERSATION"])
@each_row(
    "name, rule",
    [bad for bad in BAD if bad[0] not in ("", "C:x", "caf\udce9", "a\0b")],
    ids=lambda bad: ascii(bad[:20]),
)
def test_a_bad_name_in_the_environment_is_refused_too(amp, variable, name, rule):
    for args in (["recall"], ["remember", "x"], ["show"], ["list"], ["status"], ["init"]):
        amp(*args, environ={variable: name}).refuses(2, rule)
    assert amp.tree() == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rule"), [("a\udcffb", "U+DCFF"), ("-rf", "a dash"), ("\x1b", "U+001B")], ids=ascii)
def test_a_bad_name_ends_a_real_process_the_same_way(amp, name, rule):
    amp.process("recall", "--", name).refuses(2, rule)
    amp.process("remember", "x", "--agent", name).refuses(2, rule)


@pytest.mark.requirement("S4-11")
def test_names_that_others_would_clean_to_one_folder_stay_apart(amp):
    """B41: two different names are cleaned to the same folder and share memory."""
    names = ["team-dev", "team_dev", "team.dev", "teamdev", "team-dev2"]
    for name in names:
        assert amp("remember", f"only for {name}.", "--agent", name).code == 0
    for name in names:
        recalled = amp("recall", name).out
        assert [other for other in names if f"only for {other}." in recalled] == [name]


@pytest.mark.requirement("S4P-01")
def test_a_plugins_agent_is_the_agent(amp):
    """B43: the same role called with and without its prefix gets two folders."""
    assert amp("remember", "seen", "--agent", "PACT:pact-architect").code == 0
    assert amp("remember", "seen too", "--as", "pact-architect").code == 0
    for name in ("pact-architect", "PACT:pact-architect", "other:pact-architect", "a1:b2:pact-architect"):
        assert "- seen\n- seen too" in amp("recall", name).out
    assert amp("recall", "architect") == (0, "", "")
    assert [name for name in amp.tree() if name.endswith("MEMORY.md")] == [AGENT.format("pact-architect")]


@pytest.mark.requirement("S4-11")
def test_case_and_unicode_form_make_no_second_agent(amp):
    """B44, B46: one writer lowercases agent names, another does not, and memory splits."""
    for written, read in (
        ("Developer", "developer"),
        ("Jose\u0301", "jos\u00e9"),
        ("\u0438\u0432\u0430\u043d", "\u0418\u0432\u0430\u043d"),
    ):
        assert amp("remember", WORDS, "--agent", written).code == 0
        assert amp("remember", "more", "--as", read).code == 0
        answer = amp("recall", read)
        assert answer.out.count(WORDS) == 1
        assert answer.out.count("- more") == 1
        assert amp("show", "--agent", read.upper(), "--as", written).code == 0
    assert len([name for name in amp.tree() if name.endswith("MEMORY.md")]) == 3


def test_an_existing_folders_spelling_wins(amp):
    amp.write(AGENT.format("BackEnd"), "# B\n\n- a\n")
    assert AGENT.format("BackEnd") in amp("remember", "b", "--agent", "backend").out
    assert 'agent="BackEnd"' in amp("recall", "BACKEND").out
    assert amp("init", "--agent", "backend").out.splitlines()[-1] == f"kept     {AGENT.format('BackEnd')}"


def test_twins_on_disk_are_told_by_doctor_and_never_read_as_one(amp):
    """B44."""
    amp.write(AGENT.format("Dev"), "# D\n\n- of-upper\n")
    amp.write(AGENT.format("dev"), "# D\n\n- of-lower\n")
    amp.write(AGENT.format("dev").replace("MEMORY", "memory"), "# D\n\n- of-other-file\n")
    for name, word in (("dev", "of-lower"), ("Dev", "of-upper")):
        recalled = amp("recall", name).out
        assert [word for word in ("of-upper", "of-lower", "of-other-file") if word in recalled] == [word]
    assert "the agent folders 'Dev' and 'dev' differ only by case or Unicode form; merge them" in amp("doctor").out
    lines = [line for line in amp("list").out.splitlines() if "of-" in line or not line.startswith(" ")]
    files = {line.split()[1]: below.split()[-1] for line, below in zip(lines[::2], lines[1::2], strict=True)}
    assert files == {AGENT.format("Dev"): "of-upper", AGENT.format("dev"): "of-lower"}


ODD_FOLDERS = ["my agent", "a:b", "\x1b[31mred", "a\nb", "-x", "CON", "devel\u043eper", "x" * 100]


@pytest.mark.slow
@each_row("name", ODD_FOLDERS, ids=ascii, fresh=True)
def test_a_folder_that_no_agent_can_have_is_told_and_hides_nothing(amp, name):
    amp.write(AGENT.format("dev"), "# D\n\n- seen\n")
    amp.write(AGENT.format(name), "# O\n\n- never recalled\n")
    for verb in ("list", "status"):
        answer = amp(verb)
        assert answer.code == 4
        assert "agent:dev" in answer.out
        assert "nobody can recall this: " in answer.out + answer.err
        assert "rename its folder" in answer.out + answer.err
        assert amp(verb, "--json").code == 4
    doctor = amp("doctor", "dev")
    assert doctor.code == 4
    assert "rename its folder" in doctor.out
    assert "seen" in amp("recall", "dev").out
    identity = amp("list", "--json").json(4)["entries"][0]["id"]
    assert amp("edit", identity, "seen again").code == 0
    # What is asked for may stand in the file that nobody can recall.
    assert amp("forget", "0" * 12).code == 4
    for args in (["prune"], ["sync"], ["restore"], ["remember", "new", "--agent", "dev"]):
        assert "Traceback" not in amp(*args).err


@pytest.mark.slow
def test_a_folder_whose_name_is_no_text_is_told_and_hides_nothing(amp):
    amp.write(AGENT.format("dev"), "# D\n\n- seen\n")
    amp.write(AGENT.format("caf\udce9"), "# O\n\n- never recalled\n")
    for verb in ("list", "status", "doctor"):
        answer = amp.process(verb)
        assert answer.code == 4
        assert "agent:dev" in answer.out
        assert "caf\\udce9" in answer.out + answer.err
        amp.process(verb, "--json").json(4)
