"""The settings: one table of the keys there are, and the values that hold for a project.

The repository's file travels with the repository, so anyone who can open a pull request can write it: keys that
loosen safety count only in the person's own file, and no key runs a program (decision 6). Mostly neither file
exists; only where one does is anything loaded that can read it.
"""

import os

from .access import READERS_OF_ALL
from .errors import Disabled, StorageError
from .files import Root
from .layout import SCAFFOLDING, Tier
from .limits import MAX_BYTES, MAX_LINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT_FILE = (SCAFFOLDING, "amp.toml")
LARGEST_FILE = 65_536
_OFF = ("", "0", "false", "no", "off")
_PREFIXES = {"tiers.": "tier_", "secrets.": "secrets_", "hooks.": "hook_"}


class Key:
    """One setting.

    Attributes:
        name: as it is written, the table before a dot: `limits.max_lines`.
        attribute: what it is called on `Settings`.
        kind: `switch`, `count`, `days`, `conversation`, `agents`, `texts`, `folders`, `files`, or the words that may be
            chosen: `a|b`.
        default: its value where no file sets it.
        merge: which of two values holds: `project` (the repository's before the person's own), `off` and `on`
            (either file can switch it off, or on), `both` (lists are joined), `personal` (the repository's is ignored).
        about: one line for the documentation and `amp where`.
    """

    __slots__ = ("about", "attribute", "default", "kind", "merge", "name")

    def __init__(self, name: str, kind: str, default: object, about: str, *, merge: str = "project") -> None:
        self.name = name
        for table, start in _PREFIXES.items():
            name = name.replace(table, start)
        self.attribute = name.rpartition(".")[2]
        self.kind = kind
        self.default = default
        self.merge = merge
        self.about = about


_BY_DEFAULT_READ_ONLY = ("architect", "reviewer")

KEYS = (
    Key("enabled", "switch", True, "false switches memory off: nothing is read or written", merge="off"),
    Key("worktree", "shared|own", "shared", "whether a git worktree uses the main checkout's memory or its own"),
    Key("strict_conversation_ids", "switch", False, "accept only UUIDs as conversation ids"),
    Key("limits.max_lines", "count", MAX_LINES, "the most lines a tier file may have"),
    Key("limits.max_bytes", "count", MAX_BYTES, "the most bytes a tier file may have"),
    Key("recall.overflow", "entries|head", "entries", "what recall keeps of a long file: chosen entries, or its head"),
    Key("recall.datamark", "switch", False, "put `| ` before every recalled line", merge="on"),
    Key("recall.max_chars", "count", None, "the most characters of the whole recalled block"),
    Key("access.readers_of_all", "agents", READERS_OF_ALL, "the agents that read every agent's memory"),
    Key(
        "access.read_only", "agents", _BY_DEFAULT_READ_ONLY, "agents that are read-only unless their definition differs"
    ),
    Key(
        "hooks.conversation", "conversation", None, "the conversation of every session, where AMP_CONVERSATION is unset"
    ),
    Key(
        "hooks.reminder", "off|advise|block", "advise", "what a session hears that learned something and saved nothing"
    ),
    Key("hooks.harvest", "switch", True, "put reported findings into the conversation's memory", merge="off"),
    Key("hooks.state_files", "files", (), "files that say what is true right now, named as a session starts"),
    Key("prune.older_than", "days", 90, "the age from which dated entries are pruned"),
    Key("distill.min_conversations", "count", 2, "so many conversations must confirm what becomes shared"),
    Key("tiers.shared", "switch", True, "false switches the shared tier off", merge="off"),
    Key("tiers.agent", "switch", True, "false switches the agent tier off", merge="off"),
    Key("tiers.conversation", "switch", True, "false switches the conversation tier off", merge="off"),
    Key("secrets.allow", "texts", (), "fingerprints of findings that are no secrets", merge="both"),
    Key("external_links", "switch", False, "follow links that lead out of the project", merge="personal"),
    Key("trusted_roots", "folders", (), "folders of other users whose memory may be used", merge="personal"),
)


class Settings:
    """The settings that hold for a project; without any file, the defaults.

    Attributes:
        problems: what is wrong in the files, one line each with what to do.
        damaged: a file could not be read at all; who writes must refuse, since a limit or a ban may stand in it.
        origin: for each key that is set somewhere, where.
    """

    __slots__ = ("damaged", "origin", "problems", *(key.attribute for key in KEYS))

    enabled: bool
    worktree: str
    strict_conversation_ids: bool
    max_lines: int
    max_bytes: int
    overflow: str
    datamark: bool
    max_chars: int | None
    readers_of_all: tuple[str, ...]
    read_only: tuple[str, ...]
    hook_conversation: str | None
    hook_reminder: str
    hook_harvest: bool
    hook_state_files: tuple[str, ...]
    older_than: int
    min_conversations: int
    tier_shared: bool
    tier_agent: bool
    tier_conversation: bool
    secrets_allow: tuple[str, ...]
    external_links: bool
    trusted_roots: tuple[str, ...]

    def __init__(self) -> None:
        for key in KEYS:
            setattr(self, key.attribute, key.default)
        self.problems: list[str] = []
        self.damaged = False
        self.origin: dict[str, str] = {}

    def has_tier(self, tier: Tier) -> bool:
        """Say whether memory, and this tier of it, is switched on."""
        on = {Tier.SHARED: self.tier_shared, Tier.AGENT: self.tier_agent, Tier.CONVERSATION: self.tier_conversation}
        return self.enabled and on[tier]

    def check_enabled(self) -> None:
        """Refuse to work where memory is switched off (decision 6).

        Raises:
            Disabled: the message says by what, and how to use it.
        """
        if not self.enabled:
            origin = self.origin["enabled"]
            where = "AMP_DISABLE; unset it" if origin == "AMP_DISABLE" else f"enabled = false in {origin}; change that"
            raise Disabled(f"memory is switched off by {where} to use it")

    def check_tier(self, tier: Tier) -> None:
        """Refuse to read or write a tier that is switched off, or that is of a memory that is (decision 6).

        Raises:
            Disabled: the message says by what, and how to use it.
        """
        self.check_enabled()
        if not self.has_tier(tier):
            origin = self.origin[f"tiers.{tier}"]
            raise Disabled(
                f"the {tier} tier is switched off by tiers.{tier} = false in {origin}; change that to use it"
            )

    def rows(self) -> list[tuple[str, object, str]]:
        """Return each key with its value and where that comes from, `default` included, in the order of the table."""
        return [(key.name, getattr(self, key.attribute), self.origin.get(key.name, "default")) for key in KEYS]


def is_disabled(environ: "Mapping[str, str] | None" = None) -> bool:
    """Say whether AMP_DISABLE switches everything off. Ask before looking for the root: then nothing is read."""
    environ = os.environ if environ is None else environ
    return environ.get("AMP_DISABLE", "").strip().lower() not in _OFF


def load_settings(root: Root | None, environ: "Mapping[str, str] | None" = None) -> Settings:
    """Read the project's settings and the person's own. Never raises on what is in them, or in their place.

    Args:
        root: the opened project; None for the person's own settings alone.
        environ: the environment; that of the process where it is left out.
    """
    environ = os.environ if environ is None else environ
    settings = Settings()
    if is_disabled(environ):
        settings.enabled = False
        settings.origin["enabled"] = "AMP_DISABLE"
        return settings
    project = None if root is None else _read(root, PROJECT_FILE)
    path = personal_file(environ)
    personal = _read_personal(path) if path and os.path.exists(path) else None
    if project is not None or personal is not None:
        from .settings_file import apply

        apply(settings, project, personal, personal_path=path, home=home_folder(environ))
    return settings


def personal_file(environ: "Mapping[str, str]") -> str:
    """Return the path of the person's own settings; "" where there is no home folder."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # what the XDG specification says about relative ones: ignore them
        home = home_folder(environ)
        base = os.path.join(home, ".config") if home else ""
    return os.path.join(base, "amp", "config.toml") if base else ""


def home_folder(environ: "Mapping[str, str]") -> str:
    """Return the home folder as the environment names it; "" where it names none."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return home if os.path.isabs(home) else ""


def _read(root: Root, parts: tuple[str, ...]) -> "bytes | StorageError | None":
    try:
        content = root.read(parts, limit=LARGEST_FILE)
    except StorageError as error:
        return error
    return None if content is None else content.data


def _read_personal(path: str) -> "bytes | StorageError | None":
    # People keep their settings elsewhere and link them here, so links are followed.
    folder, name = os.path.split(path)
    try:
        with Root.open(folder, external_links=True) as opened:
            return _read(opened, (name,))
    except StorageError as error:
        return error
