"""Which settings hold, where they come from, and what is said about a file that is wrong."""

import os
import tomllib
from pathlib import Path

import jsonschema
import pytest

from agent_memory_protocol.disk.files import Root
from agent_memory_protocol.layout import Tier
from agent_memory_protocol.project.settings import KEYS, Settings, is_disabled, load_settings, parse_days
from agent_memory_protocol.project.settings_schema import settings_schema
from tests.each_row import each_row

PROJECT = ".scaffolding/amp.toml"
DAYS = 'prune.older_than must be a number of days, like 90, "90d", "12w" or "1y"; it is ignored'
AGENTS = 'access.read_only must be a list of agent names, like ["architect"]; it is ignored'


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write the two files and load them: `load(project=…, personal=…)`, text or bytes."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("AMP_DISABLE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def load(project: str | bytes | None = None, personal: str | bytes | None = None) -> Settings:
        root = tmp_path / "project"
        root.mkdir(exist_ok=True)
        for content, path in ((project, root / PROJECT), (personal, personal_path(tmp_path))):
            if content is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.encode() if isinstance(content, str) else content)
        with Root.open(str(root)) as opened:
            return load_settings(opened)

    return load


def personal_path(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".config" / "amp" / "config.toml"


ALL_DEFAULTS = {key.attribute: key.default for key in KEYS}


def values(settings: Settings) -> dict[str, object]:
    return {key.attribute: getattr(settings, key.attribute) for key in KEYS}


def test_without_files_the_defaults_hold(load):
    settings = load()
    assert values(settings) == ALL_DEFAULTS
    assert (settings.problems, settings.damaged, settings.origin) == ([], False, {})
    assert (settings.max_lines, settings.max_bytes, settings.older_than) == (200, 25_600, 90)
    assert settings.readers_of_all == ("architect",)
    assert settings.read_only == ("architect", "reviewer")


def test_the_table_and_the_settings_name_the_same_keys():
    assert {key.attribute for key in KEYS} == set(Settings.__annotations__)
    assert len({key.name for key in KEYS}) == len(KEYS)


def test_every_key_can_be_set(load):
    settings = load(
        project="""
            enabled = false
            worktree = "own"
            strict_conversation_ids = true
            [limits]
            max_lines = 100
            max_bytes = 10_000
            [recall]
            overflow = "head"
            datamark = true
            max_chars = 9000
            count = true
            [access]
            readers_of_all = ["lead", "plugin:auditor"]
            read_only = []
            [hooks]
            conversation = "c1"
            reminder = "block"
            harvest = false
            state_files = ["STATE.md", "data/ledger.json"]
            prompt_chars = 0
            [prune]
            older_than = "12w"
            [distill]
            min_conversations = 3
            [tiers]
            shared = false
            agent = false
            conversation = false
            [secrets]
            allow = ["abc123"]
        """,
        personal='external_links = true\ntrusted_roots = ["/srv/x", "~/y"]',
    )
    assert settings.problems == []
    home = os.environ["HOME"]
    assert list(values(settings).values()) == [
        False, "own", True, 100, 10_000, "head", True, 9000, True, ("lead", "auditor"), (),
            "c1", "block", False, ("STATE.md", "data/ledger.json"), 0, 84, 3,
        False, False, False, ("abc123",), True, ("/srv/x", f"{home}/y"),
    ]  # fmt: skip
    assert all(origin != "default" for _, _, origin in settings.rows())
    assert settings.origin["limits.max_lines"] == PROJECT
    assert settings.origin["external_links"] == f"{home}/.config/amp/config.toml"


def test_the_repositorys_value_goes_before_the_persons_own(load, tmp_path):
    settings = load("[limits]\nmax_lines = 50", "[limits]\nmax_lines = 70\nmax_bytes = 7000")
    assert (settings.max_lines, settings.max_bytes) == (50, 7000)
    assert settings.origin == {"limits.max_lines": PROJECT, "limits.max_bytes": str(personal_path(tmp_path))}


@pytest.mark.parametrize("key", ["external_links = true", 'trusted_roots = ["/srv"]'])
def test_what_loosens_safety_counts_only_in_the_persons_own_file(load, tmp_path, key):
    name = key.partition(" ")[0]
    settings = load(project=key)
    assert values(settings) == ALL_DEFAULTS
    assert settings.problems == [
        f"{PROJECT}: {name} counts only in your own settings, {personal_path(tmp_path)}; it is ignored here"
    ]
    settings = load(project="", personal=key)
    assert getattr(settings, name)
    assert settings.problems == []


@pytest.mark.parametrize("home", [None, "", ".", "relative"])
def test_what_loosens_safety_counts_nowhere_where_no_home_folder_is_named(load, monkeypatch, home):
    load(project='external_links = true\ntrusted_roots = ["/srv"]')
    monkeypatch.delenv("USERPROFILE", raising=False)
    monkeypatch.delenv("HOME") if home is None else monkeypatch.setenv("HOME", home)
    settings = load()
    assert values(settings) == ALL_DEFAULTS
    for key, problem in zip(("external_links", "trusted_roots"), settings.problems, strict=True):
        told = f"{PROJECT}: {key} counts only in your own settings, for which HOME names no folder; it is ignored here"
        assert problem == told


@pytest.mark.parametrize(("project", "personal"), [("false", "true"), ("true", "false"), ("false", "false")])
def test_either_file_can_switch_memory_or_a_tier_off(load, project, personal):
    template = "enabled = {0}\n[tiers]\nagent = {0}"
    settings = load(template.format(project), template.format(personal))
    assert (settings.enabled, settings.tier_agent, settings.tier_shared) == (False, False, True)
    assert settings.origin["enabled"] == (
        PROJECT if project == "false" else os.environ["HOME"] + "/.config/amp/config.toml"
    )
    assert not any(settings.has_tier(tier) for tier in (Tier.SHARED, Tier.AGENT, Tier.CONVERSATION))


def test_each_tier_can_be_switched_off_alone(load):
    settings = load("[tiers]\nconversation = false")
    assert [settings.has_tier(tier) for tier in (Tier.SHARED, Tier.AGENT, Tier.CONVERSATION)] == [True, True, False]


def test_a_repository_cannot_take_back_the_persons_mark_on_recalled_lines(load):
    assert load("[recall]\ndatamark = false", "[recall]\ndatamark = true").datamark is True
    assert load("[recall]\ndatamark = true", "[recall]\ndatamark = false").datamark is True
    assert load("[recall]\ndatamark = false", "").datamark is False


LOOSER = {
    "enabled": ("false", "true"),
    "strict_conversation_ids": ("true", "false"),
    "limits.max_lines": ("100", "300"),
    "limits.max_bytes": ("9_000", "90_000"),
    "recall.datamark": ("true", "false"),
    "recall.max_chars": ("500", "50_000"),
    "recall.count": ("false", "true"),
    "access.readers_of_all": ('["architect"]', '["architect", "intern"]'),
    "access.read_only": ('["reviewer", "intern"]', "[]"),
    "hooks.conversation": ('"mine"', '"theirs"'),
    "hooks.harvest": ("false", "true"),
    "hooks.prompt_chars": ("0", "9_000"),
    "prune.older_than": ("90", "1"),
    "distill.min_conversations": ("5", "1"),
    "tiers.shared": ("false", "true"),
    "tiers.agent": ("false", "true"),
    "tiers.conversation": ("false", "true"),
    "external_links": ("false", "true"),
    "trusted_roots": ("[]", '["/srv"]'),
}
"""What a person has set, and what would loosen it."""
NEITHER = {"worktree", "recall.overflow", "hooks.reminder", "hooks.state_files", "secrets.allow"}
"""No value of these lets more in or out than another; `secrets.allow` names fingerprints, which a review sees."""


def test_every_key_that_can_loosen_something_is_tried():
    assert {key.name for key in KEYS} == LOOSER.keys() | NEITHER


@pytest.mark.parametrize("name", LOOSER)
def test_a_repository_loosens_nothing_that_the_person_has_set(load, tmp_path, name):
    personal, project = LOOSER[name]
    attribute = next(key.attribute for key in KEYS if key.name == name)
    wanted = getattr(load(personal=f"{name} = {personal}"), attribute)
    settings = load(f"{name} = {project}", f"{name} = {personal}")
    assert getattr(settings, attribute) == wanted
    assert str(personal_path(tmp_path)) in settings.origin[name]


@pytest.mark.parametrize("name", [name for name in LOOSER if name not in ("external_links", "trusted_roots")])
def test_a_repository_tightens_what_the_person_has_set(load, name):
    tighter, looser = LOOSER[name]
    attribute = next(key.attribute for key in KEYS if key.name == name)
    wanted = getattr(load(personal=f"{name} = {looser if name == 'hooks.conversation' else tighter}"), attribute)
    assert getattr(load(f"{name} = {tighter}", f"{name} = {looser}"), attribute) == wanted


def test_fingerprints_of_both_files_are_allowed(load, tmp_path):
    settings = load('[secrets]\nallow = ["a", "b"]', '[secrets]\nallow = ["b", "c"]')
    assert settings.secrets_allow == ("a", "b", "c")
    assert settings.origin["secrets.allow"] == f"{PROJECT} and {personal_path(tmp_path)}"


NOT_A_SETTING = "'{}' is not a setting; did you mean limits.max_lines? It is ignored"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("enabeld = true", "'enabeld' is not a setting; did you mean enabled? It is ignored"),
        ("max_lines = 10", "'max_lines' is not a setting; did you mean limits.max_lines? It is ignored"),
        ("[access]\nmax-lines = 10", NOT_A_SETTING.format("access.max-lines")),
        ("[limit]\nmax_lines = 10", "'limit' is not a setting; did you mean [limits]? It is ignored"),
        ("[zzz]\na = 1\nb = 2", "'zzz' is not a setting; remove it; it is ignored"),
        ('"limits.max_lines" = 10', NOT_A_SETTING.format("limits.max_lines")),
        ('"a\\u202eb" = 1', "'a\\u202eb' is not a setting; remove it; it is ignored"),
        ("limits = 5", "limits must be a table, written [limits] above its keys; it is ignored"),
        ("enabled = 1", "enabled must be true or false; it is ignored"),
        ('enabled = "false"', "enabled must be true or false; it is ignored"),
        ("[enabled]\nx = 1", "enabled must be true or false; it is ignored"),
        ("limits.max_lines = 0", "limits.max_lines must be a whole number, 1 or more; it is ignored"),
        ("limits.max_lines = true", "limits.max_lines must be a whole number, 1 or more; it is ignored"),
        ("limits.max_lines = 2.5", "limits.max_lines must be a whole number, 1 or more; it is ignored"),
        ("hooks.conversation = 7", "hooks.conversation must be a conversation id; it is ignored"),
        ('hooks.conversation = "a/b"', "hooks.conversation must be a conversation id; it is ignored"),
        ('hooks.reminder = "loud"', 'hooks.reminder must be "off" or "advise" or "block"; it is ignored'),
        ('recall.overflow = "tail"', 'recall.overflow must be "entries" or "head"; it is ignored'),
        ('prune.older_than = "soon"', DAYS),
        ("prune.older_than = -1", DAYS),
        ("prune.older_than = 2026-01-01", DAYS),
        ('access.read_only = "reviewer"', AGENTS),
        ("access.read_only = [1]", AGENTS),
        ('secrets.allow = [" "]', "secrets.allow must be a list of texts, like [\"a\", \"b\"]; ' ' is ignored"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_is_one_line_and_the_default_holds(load, line, problem):
    settings = load(line)
    assert settings.problems == [f"{PROJECT}: {problem}"]
    assert values(settings) == ALL_DEFAULTS
    assert settings.damaged is False


def test_a_wrong_value_leaves_the_others_and_the_persons_own_in_force(load):
    settings = load("worktree = 1\n[limits]\nmax_lines = 50", 'worktree = "own"')
    assert (settings.worktree, settings.max_lines, len(settings.problems)) == ("own", 50, 1)


def test_one_bad_name_does_not_free_the_others_from_the_ban(load):
    settings = load('[access]\nread_only = ["../x", "auditor"]')
    assert settings.read_only == ("auditor",)
    assert len(settings.problems) == 1
    assert "access.read_only: agent name '../x' is not allowed" in settings.problems[0]


def test_a_relative_trusted_root_is_reported(load, tmp_path):
    settings = load(personal='trusted_roots = ["here", "/there"]')
    assert settings.trusted_roots == ("/there",)
    assert settings.problems[0].startswith(
        f"{personal_path(tmp_path)}: trusted_roots must be a list of absolute folders"
    )


def test_many_problems_are_summed_up(load):
    settings = load("\n".join(f"key{number} = 1" for number in range(3000)))
    assert len(settings.problems) == 21
    assert settings.problems[-1] == f"{PROJECT}: 2980 more problems like these"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param(b"enabled = false\nlimits\n", ":2: is not valid TOML", id="no-value"),
        pytest.param(b"a = 1\na = 2\n", ":2: is not valid TOML", id="twice"),
        pytest.param(b'a = """\nopen', ":2: is not valid TOML", id="never-closed"),
        pytest.param(b"a = 1\nb = '\xff'\n", ":2: is not UTF-8", id="not-utf-8"),
        pytest.param(b"a = " + b"[" * 5000, ":1: is not valid TOML", id="nested"),
        pytest.param(b"a = " + b"1" * 5000, ":1: is not valid TOML", id="long-number"),
        pytest.param(
            b"#" * 70_000,
            ": has 70000 bytes, more than the 65536 that are read; make it smaller, or move it away",
            id="too-large",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_reported_with_its_place_and_the_defaults_hold(load, content, place):
    settings = load(content)
    assert settings.damaged is True
    assert len(settings.problems) == 1
    assert settings.problems[0].startswith(PROJECT + place)
    assert "\n" not in settings.problems[0]
    assert values(settings) == ALL_DEFAULTS


def test_a_damaged_personal_file_is_named_and_the_repositorys_holds(load, tmp_path):
    settings = load("[limits]\nmax_lines = 50", "oops")
    assert (settings.damaged, settings.max_lines) == (True, 50)
    assert settings.problems[0].startswith(f"{personal_path(tmp_path)}:1: ")


def test_a_byte_order_mark_is_read_over(load):
    assert load(b"\xef\xbb\xbfworktree = 'own'\r\n").worktree == "own"


@pytest.mark.parametrize("kind", ["folder", "pipe", "outside", "dangling", "file-above"])
def test_what_is_no_file_of_the_project_is_reported_and_never_followed(load, tmp_path, kind):
    load()
    path = tmp_path / "project" / PROJECT
    if kind != "file-above":
        path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "outside":
        (tmp_path / "other.toml").write_text("enabled = false")
        path.symlink_to(tmp_path / "other.toml")
    elif kind == "dangling":
        path.symlink_to("nowhere")
    else:
        path.parent.write_text("a file")
    settings = load()
    assert (settings.damaged, settings.enabled, len(settings.problems)) == (True, True, 1)
    assert settings.problems[0].startswith(PROJECT.partition("/")[0])


def test_the_persons_own_file_may_be_a_link(load, tmp_path):
    (tmp_path / "dotfiles.toml").write_text("external_links = true")
    path = personal_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "dotfiles.toml")
    assert load().external_links is True


def test_the_persons_own_file_follows_the_xdg_variable_when_it_is_absolute(load, tmp_path, monkeypatch):
    for folder, value in ((tmp_path / "config", 5), (tmp_path / "home" / ".config", 7)):
        (folder / "amp").mkdir(parents=True)
        (folder / "amp" / "config.toml").write_text(f"limits.max_lines = {value}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert load().max_lines == 5
    for ignored in ("config", ""):
        monkeypatch.setenv("XDG_CONFIG_HOME", ignored)
        assert load().max_lines == 7
    monkeypatch.delenv("HOME")
    assert load().max_lines == 200


@pytest.mark.parametrize("value", ["1", "true", "yes", "on", "anything", " 1 "])
def test_amp_disable_switches_everything_off_and_reads_nothing(load, monkeypatch, value):
    monkeypatch.setenv("AMP_DISABLE", value)
    settings = load("not toml")
    assert (settings.enabled, settings.problems, settings.origin) == (False, [], {"enabled": "AMP_DISABLE"})
    assert is_disabled()


@pytest.mark.parametrize("value", ["", "0", "false", "No", "OFF", " off "])
def test_an_amp_disable_that_says_no_changes_nothing(load, monkeypatch, value):
    monkeypatch.setenv("AMP_DISABLE", value)
    assert load().enabled is True
    assert not is_disabled()


@each_row("text, days", [("90", 90), ("90d", 90), (" 12W ", 84), ("1y", 365)])
def test_a_length_of_time_is_read(text, days):
    assert parse_days(text) == days


@each_row("text", ["", "d", "0", "0d", "-1", "1.5d", "3m", "9dd", "٣d", "1" * 5000, "1000000", "2740y"])
def test_what_is_no_length_of_time_is_none(text):
    assert parse_days(text) is None


def test_the_rows_show_each_key_with_its_value_and_origin(load):
    rows = load("[limits]\nmax_lines = 50").rows()
    assert [name for name, _, _ in rows] == [key.name for key in KEYS]
    assert ("limits.max_lines", 50, PROJECT) in rows
    assert ("limits.max_bytes", 25_600, "default") in rows


def test_the_schema_of_settings_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(settings_schema())


@pytest.mark.parametrize(
    "text",
    [
        "",
        'enabled = false\nworktree = "own"\nstrict_conversation_ids = true\n',
        "[limits]\nmax_lines = 1\nmax_bytes = 9999\n",
        '[prune]\nolder_than = "12w"\n',
        "[prune]\nolder_than = 90\n",
        '[hooks]\nconversation = "c1"\nstate_files = ["a/b.md"]\nprompt_chars = 0\nreminder = "off"\n',
        '[access]\nread_only = ["reviewer"]\nreaders_of_all = []\n[secrets]\nallow = ["1f"]\n',
        "enabled = 1\n",
        'worktree = "mine"\n',
        "unknown = 1\n",
        "limits = 3\n",
        "[limits]\nmax_lins = 3\n",
        "[limits]\nmax_lines = 0\n",
        "[limits]\nmax_lines = true\n",
        "[limits]\nmax_lines = 1.5\n",
        '[prune]\nolder_than = "0d"\n',
        '[prune]\nolder_than = "9 weeks"\n',
        "[hooks]\nprompt_chars = -1\n",
        '[hooks]\nconversation = ""\n',
        '[hooks]\nstate_files = ["/etc/passwd"]\n',
        '[access]\nread_only = "reviewer"\n',
        "[access]\nread_only = [1]\n",
    ],
)
def test_the_schema_of_settings_allows_what_is_read_without_a_word(load, text):
    validator = jsonschema.Draft202012Validator(settings_schema())
    assert validator.is_valid(tomllib.loads(text)) == (not load(project=text).problems)


def test_the_schema_of_settings_has_every_key_with_a_title_and_its_default():
    properties = settings_schema()["properties"]
    for key in KEYS:
        table, _, name = key.name.rpartition(".")
        found = properties[table]["properties"][name] if table else properties[name]
        assert found["title"]
        assert found["description"].startswith(key.about)
        assert found.get("default") == (list(key.default) if isinstance(key.default, tuple) else key.default)
