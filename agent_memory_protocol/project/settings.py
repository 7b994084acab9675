"""The settings: one table of the keys there are, and the values that hold for a project.

The repository's file travels with the repository, so anyone who can open a pull request can write it: keys that
loosen safety count only in the person's own file, and no key runs a program (docs/protocol.md, decision 6). Mostly
neither file exists, so what reads TOML is loaded only if one does.
"""

import os

from ..disk.errors import shown
from ..disk.files import Root
from ..errors import Disabled, InvalidName, StorageError
from ..layout import SCAFFOLDING, TIERS, Tier, check_agent_name, check_conversation_id
from ..limits import MAX_BYTES, MAX_LINES
from .access import READERS_OF_ALL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

PROJECT_FILE = (SCAFFOLDING, "amp.toml")
LARGEST_FILE = 65_536
_OFF = ("", "0", "false", "no", "off")
_PREFIXES = {"tiers.": "tier_", "secrets.": "secrets_", "hooks.": "hook_"}

_MOST_PROBLEMS = 20
_LISTS = ("agents", "texts", "files", "folders")
_DAYS = {"": 1, "d": 1, "w": 7, "y": 365}
_EXPECTED = {
    "switch": "true or false",
    "count": "a whole number, 1 or more",
    "size": "a whole number, 0 or more",
    "days": 'a number of days, like 90, "90d", "12w" or "1y"',
    "agents": 'a list of agent names, like ["architect"]',
    "texts": 'a list of texts, like ["a", "b"]',
    "conversation": "a conversation id",
    "files": 'a list of files below the project root, like ["STATE.md", "data/ledger.json"]',
    "folders": 'a list of absolute folders, like ["/srv/project", "~/project"]',
}


class Key:
    """One setting.

    Attributes:
        name: as it is written, the table before a dot: `limits.max_lines`.
        attribute: what it is called on `Settings`.
        kind: `switch`, `count`, `days`, `conversation`, `agents`, `texts`, `folders`, `files`, or the words that may be
            chosen: `a|b`.
        merge: which of two values holds: `project` (the repository's before the person's own), `person` (the other way
            round), `off` and `on` (either file can switch it off, or on), `least` and `most` (of two numbers), `both`
            (lists are joined), `common` (only what both have), `personal` (the repository's is ignored).
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
    Key("strict_conversation_ids", "switch", False, "accept only UUIDs as conversation ids", merge="on"),
    Key("limits.max_lines", "count", MAX_LINES, "the most lines a tier file may have", merge="least"),
    Key("limits.max_bytes", "count", MAX_BYTES, "the most bytes a tier file may have", merge="least"),
    Key("recall.overflow", "entries|head", "entries", "what recall keeps of a long file: chosen entries, or its head"),
    Key("recall.datamark", "switch", False, "put `| ` before every recalled line", merge="on"),
    Key("recall.max_chars", "count", None, "the most characters of the whole recalled block", merge="least"),
    Key("recall.count", "switch", False, "count here which entries are recalled, found and opened", merge="off"),
    Key("access.readers_of_all", "agents", READERS_OF_ALL, "the agents that read every agent's memory", merge="common"),
    Key(
        "access.read_only",
        "agents",
        _BY_DEFAULT_READ_ONLY,
        "agents that are read-only unless their definition differs",
        merge="both",
    ),
    Key(
        "hooks.conversation",
        "conversation",
        None,
        "the conversation of every session, where AMP_CONVERSATION is unset",
        merge="person",
    ),
    Key(
        "hooks.reminder", "off|advise|block", "advise", "what a session hears that learned something and saved nothing"
    ),
    Key("hooks.harvest", "switch", True, "put reported findings into the conversation's memory", merge="off"),
    Key("hooks.state_files", "files", (), "files that say what is true right now, named as a session starts"),
    Key(
        "hooks.prompt_chars",
        "size",
        2_000,
        "the most characters that a session's first prompt brings along; 0 for none",
        merge="least",
    ),
    Key("prune.older_than", "days", 90, "the age from which dated entries are pruned", merge="most"),
    Key(
        "distill.min_conversations", "count", 2, "so many conversations must confirm what becomes shared", merge="most"
    ),
    *(Key(f"tiers.{tier}", "switch", True, f"false switches the {tier} tier off", merge="off") for tier in TIERS),
    Key("secrets.allow", "texts", (), "fingerprints of findings that are not secrets", merge="both"),
    Key("external_links", "switch", False, "follow links that lead out of the project", merge="personal"),
    Key("trusted_roots", "folders", (), "folders of other users whose memory may be used", merge="personal"),
)


class Settings:
    """The settings that hold for a project; without any file, the defaults.

    Attributes:
        problems: what is wrong in the files, one line each with what to do.
        damaged: a file could not be read at all. Writes must be refused then, since it may hold a limit or a ban.
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
    count: bool
    readers_of_all: tuple[str, ...]
    read_only: tuple[str, ...]
    hook_conversation: str | None
    hook_reminder: str
    hook_harvest: bool
    hook_state_files: tuple[str, ...]
    hook_prompt_chars: int
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
        return self.enabled and bool(getattr(self, f"tier_{tier.value}"))

    def check_enabled(self) -> None:
        """Refuse to work where memory is switched off (decision 6); Disabled says by what, and how to use it."""
        if not self.enabled:
            origin = self.origin["enabled"]
            where = "AMP_DISABLE; unset it" if origin == "AMP_DISABLE" else f"enabled = false in {origin}; change that"
            raise Disabled(f"memory is switched off by {where} to use it")

    def check_tier(self, tier: Tier) -> None:
        """Refuse to read or write a tier that is switched off, alone or with all memory (decision 6)."""
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
    """Read the project's settings and the person's own, or without `root` those alone.

    What is wrong is in the answer.
    """
    environ = os.environ if environ is None else environ
    settings = Settings()
    if is_disabled(environ):
        settings.enabled = False
        settings.origin["enabled"] = "AMP_DISABLE"
        return settings
    path, home = personal_file(environ), home_folder(environ)
    project = _File("/".join(PROJECT_FILE), home, shown(path) or "for which HOME names no folder")
    personal = _File(shown(path), home)
    if root is not None:
        project.read(root, PROJECT_FILE)
    if path and os.path.exists(path):
        folder, name = os.path.split(path)
        try:
            # People keep their settings elsewhere and link them here, so links are followed.
            with Root.open(folder, external_links=True) as opened:
                personal.read(opened, (name,))
        except StorageError as error:
            personal.cannot_be_read(error)
    for file in (project, personal):
        settings.problems += file.problems[:_MOST_PROBLEMS]
        if len(file.problems) > _MOST_PROBLEMS:
            settings.problems.append(f"{file.path}: {len(file.problems) - _MOST_PROBLEMS} more problems like these")
        settings.damaged = settings.damaged or file.damaged
    if project.values or personal.values:
        for key in KEYS:
            _merge(settings, key, project, personal)
    from ..secrets.mask import allow

    allow(settings.secrets_allow)
    return settings


def personal_file(environ: "Mapping[str, str]") -> str:
    """Return the path of the person's own settings; "" if there is no home folder."""
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # what the XDG specification says about relative ones: ignore them
        home = home_folder(environ)
        base = os.path.join(home, ".config") if home else ""
    return os.path.join(base, "amp", "config.toml") if base else ""


def fixed_conversation(settings: Settings, environ: "Mapping[str, str]") -> str | None:
    """Return the conversation that the environment or the settings name; None if they leave that to the host."""
    return environ.get("AMP_CONVERSATION") or settings.hook_conversation


def home_folder(environ: "Mapping[str, str]") -> str:
    """Return the home folder as the environment names it; "" if it does not."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    return home if os.path.isabs(home) else ""


def parse_days(text: str) -> int | None:
    """Return how many days `90`, `90d`, `12w` or `1y` are; None if it is not such a length."""
    text = text.strip().lower()
    digits = text.rstrip("dwy")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 6:
        return None
    days = int(digits) * _DAYS.get(text[len(digits) :], 0)
    return days if 0 < days < 1_000_000 else None


class _File:
    """One settings file: its values, and what is wrong in it.

    Attributes:
        personal: in the repository's file, what it calls the person's own; None in the person's own.
    """

    def __init__(self, path: str, home: str, personal: str | None = None) -> None:
        self.path = path
        self.home = home
        self.personal = personal
        self.values: dict[str, object] = {}
        self.problems: list[str] = []
        self.damaged = False

    def read(self, root: Root, parts: tuple[str, ...]) -> None:
        try:
            content = root.read(parts, limit=LARGEST_FILE)
        except StorageError as error:
            self.cannot_be_read(error)
        else:
            if content is not None:
                self._parse(content.data)

    def cannot_be_read(self, error: StorageError) -> None:
        self.damaged = True
        message = str(error)
        # It names the file, or the folder above it that is wrong.
        named = self.path.startswith(message.partition(":")[0])
        self.problems.append(message if named else f"{self.path}: {message}")

    def _parse(self, content: bytes) -> None:
        import tomllib

        try:
            table = tomllib.loads(content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            self._give_up(content.count(b"\n", 0, error.start) + 1, "is not UTF-8 text; save it as UTF-8")
        except (ValueError, RecursionError) as error:
            line, reason = _explain(error, content)
            self._give_up(line, f"is not valid TOML: {reason}; mend the line or remove the file")
        else:
            self._take_all(table)

    def _give_up(self, line: int, problem: str) -> None:
        self.damaged = True
        self.problems.append(f"{self.path}:{line}: {problem}; until then the defaults hold and nothing is written")

    def _report(self, problem: str) -> None:
        self.problems.append(f"{self.path}: {problem}")

    def _take_all(self, table: dict[str, object]) -> None:
        keys = {key.name: key for key in KEYS}
        tables = {name.partition(".")[0] for name in keys if "." in name}
        found: list[tuple[str, str, object]] = []
        for name, value in table.items():
            if name not in tables:
                found.append(("", name, value))
            elif isinstance(value, dict):
                found += [(f"{name}.", below, nested) for below, nested in value.items()]
            else:
                self._report(f"{name} must be a table, written [{name}] above its keys; it is ignored")
        for prefix, name, value in found:
            key = None if "." in name else keys.get(prefix + name)
            if key is None:
                nearest = "" if len(self.problems) >= _MOST_PROBLEMS else _nearest(prefix + name)
                advice = f"did you mean {nearest}? It is ignored" if nearest else "remove it; it is ignored"
                self._report(f"{_quoted(prefix + name)} is not a setting; {advice}")
            elif key.merge == "personal" and self.personal is not None:
                self._report(f"{key.name} counts only in your own settings, {self.personal}; it is ignored here")
            else:
                self._take(key, value)

    def _take(self, key: Key, value: object) -> None:
        expected = _EXPECTED.get(key.kind) or " or ".join(f'"{word}"' for word in key.kind.split("|"))
        wrong = f"{key.name} must be {expected}; it is ignored"
        if key.kind not in _LISTS:
            try:
                self.values[key.name] = _checked(key.kind, value, self.home)
            except (InvalidName, ValueError):
                self._report(wrong)
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            self.values[key.name] = tuple(self._good_items(key, value, expected))
        else:
            self._report(wrong)

    def _good_items(self, key: Key, items: list[str], expected: str) -> "Iterator[object]":
        """Yield the items that are right: one bad name must not free the others from a ban."""
        for item in items:
            try:
                yield _checked(key.kind, item, self.home)
            except InvalidName as error:
                self._report(f"{key.name}: {error}; it is ignored")
            except ValueError:
                self._report(f"{key.name} must be {expected}; {_quoted(item)} is ignored")


def _merge(settings: Settings, key: Key, project: _File, personal: _File) -> None:
    """Take the value that holds. Whatever the repository says, it loosens nothing that the person has set."""
    files = (personal, project) if key.merge == "person" else (project, personal)
    having = [file for file in files if key.name in file.values]
    found: list[Any] = [file.values[key.name] for file in having]
    if not having:
        return
    if key.merge in ("both", "common"):
        value = tuple(dict.fromkeys(item for items in found for item in items))
        if key.merge == "common":
            value = tuple(item for item in value if all(item in items for items in found))
        settings.origin[key.name] = " and ".join(file.path for file in having)
    else:
        best = {"off": min, "on": max, "least": min, "most": max}.get(key.merge, lambda several: several[0])
        value = best(found)
        settings.origin[key.name] = having[found.index(value)].path
    setattr(settings, key.attribute, value)


def _explain(error: Exception, content: bytes) -> tuple[int, str]:
    """Return the line that a TOML error names, and what it says; older versions give the line only in the text."""
    if isinstance(error, RecursionError):
        return 1, "its lists or tables are nested too deep"
    reason, _, place = str(error).partition(" (at ")
    number = place.removeprefix("line ").partition(",")[0]
    if number.isdigit():
        return int(number), shown(reason)
    return max(content.count(b"\n") + (not content.endswith(b"\n")), 1), shown(reason)


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    # A key put into the wrong table, or into none, is found by its last part.
    full = {key.name.rpartition(".")[0]: f"[{key.name.rpartition('.')[0]}]" for key in KEYS if "." in key.name}
    full |= {key.name.rpartition(".")[2]: key.name for key in KEYS} | {key.name: key.name for key in KEYS}
    for wanted in (name[:60], name[:60].rpartition(".")[2]):
        matches = get_close_matches(wanted.lower().replace("-", "_"), full, 1)
        if matches:
            return full[matches[0]]
    return ""


def _checked(kind: str, value: object, home: str) -> object:
    """Return a value, or an item of a list, as it counts; InvalidName or ValueError if it is wrong."""
    if kind == "switch" and isinstance(value, bool):
        return value
    if kind in ("count", "size", "days") and isinstance(value, (int, str)) and not isinstance(value, bool):
        number = parse_days(str(value)) if kind == "days" else value
        if isinstance(number, int) and number >= (kind != "size"):
            return number
    elif isinstance(value, str) and value.strip():
        if kind == "agents":
            return check_agent_name(value)
        if kind == "conversation":
            return check_conversation_id(value)
        if kind == "folders" and home and (value == "~" or value.startswith("~/")):
            return os.path.normpath(home + value[1:])
        if (
            kind == "texts"
            or (kind == "folders" and os.path.isabs(value))
            or (kind == "files" and _is_below_root(value))
            or ("|" in kind and value in kind.split("|"))
        ):
            return value
    raise ValueError(value)


def _is_below_root(path: str) -> bool:
    parts = path.split("/")
    return path.isprintable() and "\\" not in path and {"", ".", ".."}.isdisjoint(parts)


def _quoted(name: str) -> str:
    return ascii(name if len(name) <= 60 else name[:57] + "...")
