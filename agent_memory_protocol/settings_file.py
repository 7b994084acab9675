"""Read the two settings files, and say in one line each what is wrong in them."""

import os
import tomllib

from .disk_errors import shown
from .errors import InvalidName, StorageError
from .layout import check_agent_name, check_conversation_id
from .settings import KEYS, PROJECT_FILE, Key, Settings

_MOST_PROBLEMS = 20
_DAYS = {"": 1, "d": 1, "w": 7, "y": 365}
_EXPECTED = {
    "switch": "true or false",
    "count": "a whole number, 1 or more",
    "days": 'a number of days, like 90, "90d", "12w" or "1y"',
    "agents": 'a list of agent names, like ["architect"]',
    "texts": 'a list of texts, like ["a", "b"]',
    "conversation": "a conversation id",
    "files": 'a list of files below the project root, like ["STATE.md", "data/ledger.json"]',
    "folders": 'a list of absolute folders, like ["/srv/project", "~/project"]',
}


class _File:
    """One settings file as it was read: the values it sets, and what is wrong in it."""

    def __init__(self, path: str, home: str, personal_path: str = "") -> None:
        self.path = path
        self.home = home
        self.personal_path = personal_path
        """Where the keys belong that do not count here; "" for the person's own file itself."""
        self.values: dict[str, object] = {}
        self.problems: list[str] = []
        self.damaged = False

    def report(self, problem: str) -> None:
        self.problems.append(f"{self.path}: {problem}")


def apply(
    settings: Settings,
    project: bytes | StorageError | None,
    personal: bytes | StorageError | None,
    *,
    personal_path: str,
    home: str,
) -> None:
    """Put what the files say into the settings; an error in place of a file's content is reported as it is."""
    files = _File("/".join(PROJECT_FILE), home, shown(personal_path)), _File(shown(personal_path), home)
    for file, content in zip(files, (project, personal), strict=True):
        _read_file(file, content)
        settings.problems += file.problems[:_MOST_PROBLEMS]
        if len(file.problems) > _MOST_PROBLEMS:
            settings.problems.append(f"{file.path}: {len(file.problems) - _MOST_PROBLEMS} more problems like these")
        settings.damaged = settings.damaged or file.damaged
    for key in KEYS:
        _merge(settings, key, *files)


def parse_days(text: str) -> int | None:
    """Return how many days `90`, `90d`, `12w` or `1y` are; None where that is no such length."""
    text = text.strip().lower()
    digits = text.rstrip("dwy")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 6:
        return None
    days = int(digits) * _DAYS.get(text[len(digits) :], 0)
    return days if 0 < days < 1_000_000 else None


def _merge(settings: Settings, key: Key, project: _File, personal: _File) -> None:
    having = [file for file in (project, personal) if key.name in file.values]
    if key.merge in ("off", "on"):
        having = [file for file in having if file.values[key.name] is (key.merge == "on")] or having
    if not having:
        return
    value = having[0].values[key.name]
    if key.merge == "both":
        lists = [file.values[key.name] for file in having]
        value = tuple(dict.fromkeys(item for items in lists if isinstance(items, tuple) for item in items))
    setattr(settings, key.attribute, value)
    settings.origin[key.name] = " and ".join(file.path for file in (having if key.merge == "both" else having[:1]))


def _read_file(file: _File, content: bytes | StorageError | None) -> None:
    if content is None:
        return
    if isinstance(content, StorageError):
        file.damaged = True
        message = str(content)
        # It names the file, or the folder above it that is wrong.
        named = file.path.startswith(message.partition(":")[0])
        file.problems.append(message if named else f"{file.path}: {message}")
        return
    try:
        table = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        _give_up(file, line, "is not UTF-8 text; save it as UTF-8")
    except (ValueError, RecursionError) as error:
        line, reason = _explain(error, content)
        _give_up(file, line, f"is not valid TOML: {reason}; mend the line or remove the file")
    else:
        _read_table(file, table)


def _give_up(file: _File, line: int, problem: str) -> None:
    file.damaged = True
    file.problems.append(f"{file.path}:{line}: {problem}; until then the defaults hold and nothing is written")


def _explain(error: Exception, content: bytes) -> tuple[int, str]:
    """Return the line a TOML error names, and what it says; older versions give the line only in the text."""
    if isinstance(error, RecursionError):
        return 1, "its lists or tables are nested too deep"
    reason, _, place = str(error).partition(" (at ")
    number = place.removeprefix("line ").partition(",")[0]
    if number.isdigit():
        return int(number), shown(reason)
    return max(content.count(b"\n") + (not content.endswith(b"\n")), 1), shown(reason)


def _read_table(file: _File, table: dict[str, object]) -> None:
    keys = {key.name: key for key in KEYS}
    tables = {name.partition(".")[0] for name in keys if "." in name}
    found: list[tuple[str, str, object]] = []
    for name, value in table.items():
        if name not in tables:
            found.append(("", name, value))
        elif isinstance(value, dict):
            found += [(f"{name}.", below, nested) for below, nested in value.items()]
        else:
            file.report(f"{name} must be a table, written [{name}] above its keys; it is ignored")
    for prefix, name, value in found:
        key = None if "." in name else keys.get(prefix + name)
        if key is None:
            _report_unknown(file, prefix + name)
        elif key.merge == "personal" and file.personal_path:
            file.report(f"{key.name} counts only in your own settings, {file.personal_path}; it is ignored here")
        else:
            _read_value(file, key, value)


def _report_unknown(file: _File, name: str) -> None:
    nearest = "" if len(file.problems) >= _MOST_PROBLEMS else _nearest(name)
    advice = f"did you mean {nearest}? It is ignored" if nearest else "remove it; it is ignored"
    file.report(f"{_quoted(name)} is no setting; {advice}")


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


def _read_value(file: _File, key: Key, value: object) -> None:
    if key.kind in ("agents", "texts", "files", "folders"):
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            file.values[key.name] = tuple(_good_items(file, key, value))
            return
    else:
        read = _read_single(key.kind, value)
        if read is not None:
            file.values[key.name] = read
            return
    expected = _EXPECTED.get(key.kind) or " or ".join(f'"{word}"' for word in key.kind.split("|"))
    file.report(f"{key.name} must be {expected}; it is ignored")


def _read_single(kind: str, value: object) -> object:
    """Return the value, checked; None where it is wrong."""
    if kind == "switch":
        return value if isinstance(value, bool) else None
    if kind == "days":
        return None if isinstance(value, bool) or not isinstance(value, (int, str)) else parse_days(str(value))
    if kind == "conversation":
        return _conversation(value)
    if kind == "count":
        return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
    return value if isinstance(value, str) and value in kind.split("|") else None


def _conversation(value: object) -> str | None:
    try:
        return check_conversation_id(value) if isinstance(value, str) else None
    except InvalidName:
        return None


def _good_items(file: _File, key: Key, items: list[str]) -> list[str]:
    """Keep the items that are right: one bad name must not free the others from a ban."""
    good = []
    for item in items:
        try:
            good.append(_read_item(key.kind, item, file.home))
        except InvalidName as error:
            file.report(f"{key.name}: {error}; it is ignored")
        except ValueError:
            file.report(f"{key.name} must be {_EXPECTED[key.kind]}; {_quoted(item)} is ignored")
    return good


def _read_item(kind: str, item: str, home: str) -> str:
    if kind == "agents":
        return check_agent_name(item)
    if kind == "files" and not all(
        part.isprintable() and part not in ("", ".", "..") and "\\" not in part for part in item.split("/")
    ):
        raise ValueError(item)
    if kind == "folders" and home and (item == "~" or item.startswith("~/")):
        item = os.path.normpath(home + item[1:])
    if not item.strip() or (kind == "folders" and not os.path.isabs(item)):
        raise ValueError(item)
    return item


def _quoted(name: str) -> str:
    return ascii(name if len(name) <= 60 else name[:57] + "...")
