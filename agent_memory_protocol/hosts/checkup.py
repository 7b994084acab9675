"""What `amp doctor` says of hosts: what each agent would be given at its start, or why not and what mends it.

A host is looked at as it would look: the settings that it reads where it is started, with its own reader's rules; then
its hooks are run.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence

from ..disk.errors import shown
from ..project.templates import shipped_file
from ..text.phrases import counted
from ..values import dataclass
from ..verbs.doctor import Diagnosis
from . import settings_text
from .json_text import NotJson
from .receipt import LARGEST
from .rehearsal import rehearse
from .table import FOR_PERSON, HOSTS, Host

_MOST_AGENTS = 12


@dataclass(frozen=True, slots=True)
class Started:
    """Where hosts are started, and for whom."""

    root: str
    folder: str
    home: str  # the person's home folder; "" for none
    environ: Mapping[str, str]
    agents: Sequence[str]  # the agents to say it of; "" is a session without a name
    installed: Mapping[bool, frozenset[str]]  # the hosts that a receipt names: for the project, and for the person

    def name(self, path: str) -> str:
        """Return a path as a person knows it: from the folder it is about, or from the home folder."""
        for above, sign in ((self.root, ""), (self.home, "~/")):
            if above and path.startswith(os.path.join(above, "")):
                return sign + shown(os.path.relpath(path, above))
        return shown(path)


@dataclass(frozen=True, slots=True)
class _Read:
    """A settings file: its path, whether it is the person's own, what it says, and its hooks: event and command."""

    path: str
    for_person: bool
    values: object
    hooks: tuple[tuple[str, str], ...]


def examine(started: Started) -> list[Diagnosis]:
    """Say of each host that is used here what it gives."""
    return [found for host in HOSTS.values() for found in _examine(host, started)]


def switched_off(host: Host, started: Started) -> str:
    """Say what switches all hooks of a host off; "" if nothing does."""
    return _off(host, started, _settings(host, started)[0], ())


def _examine(host: Host, started: Started) -> Iterator[Diagnosis]:
    files, broken = _settings(host, started)
    yield from (Diagnosis(f"{host.title}: {problem}", is_problem=True) for problem in broken)
    calls = [
        (file, native, command, call)
        for file in files
        for native, command in file.hooks
        if (call := settings_text.called(command))
    ]
    ours = [
        (file, event, command)
        for file, native, command, (event, name) in calls
        if name == host.name and host.events.get(event, ("", ""))[0] == native
    ]
    if not ours:
        if not broken and (why := _why_absent(host, started, has_calls=bool(calls))):
            yield Diagnosis(f"{host.title}: {why}", is_problem=True)
        return
    off = _off(host, started, files, [command for _, _, command in ours])
    if off:
        yield Diagnosis(f"{host.title}: its hooks are off: {off}; take that out", is_problem=True)
        return
    for for_person in sorted({file.for_person for file, _, _ in ours}):
        there = [event for file, event, _ in ours if file.for_person is for_person]
        path = next(file.path for file, _, _ in ours if file.for_person is for_person)
        mend = f"`{_install(host, for_person=for_person)}` puts it back"
        if lacking := [native for event, (native, _) in host.events.items() if event not in there]:
            yield Diagnosis(
                f"{host.title}: {started.name(path)} lacks the hook for {', '.join(lacking)}; {mend}", is_problem=True
            )
    for file in {file.path: file for file, _, _ in ours}.values():
        mend = f"`{_install(host, for_person=file.for_person)}` puts it right"
        for why in settings_text.idle(file.values, host).values():
            yield Diagnosis(f"{host.title}: in {started.name(file.path)}, {why}; {mend}", is_problem=True)
    yield from _rehearsed(host, started, ours)


def _rehearsed(host: Host, started: Started, ours: "Sequence[tuple[_Read, str, str]]") -> Iterator[Diagnosis]:
    told = set()
    for agent in started.agents[:_MOST_AGENTS]:
        at = "subagent-start" if agent and "subagent-start" in host.events else "session-start"
        answers = []
        for file, event, command in ours:
            if event == at:
                done = rehearse(host, event, command, started.folder, started.environ, agent=agent)
                answers.append((file, done))
                if done.problem and (file.path, done.problem) not in told:
                    told.add((file.path, done.problem))
                    mend = _install(host, for_person=file.for_person)
                    what = f"{host.title}: `{command}` in {started.name(file.path)} {done.problem}"
                    mend = f"`{mend}` names the program that is installed; a line that you changed, take out first"
                    yield Diagnosis(f"{what}; {mend}", is_problem=True)
        given = [(file, done) for file, done in answers if done.context]
        who = agent or "a session"
        if len(given) > 1:
            paths = " and ".join({started.name(file.path): None for file, _ in given})
            mend = f"`{_install(host, for_person=True)}` keeps one of them silent"
            mend = mend if " and " in paths else "take one of its two hooks out"
            yield Diagnosis(f"{host.title}: {who} would be given memory twice, by {paths}; {mend}", is_problem=True)
        elif given:
            text = given[0][1].context
            lines, size = counted(text.count("\n") + 1, "line"), len(text.encode()) / 1000
            yield Diagnosis(f"{host.title}: {who} would be given {lines} ({size:.1f} kB) at its start")
        elif answers and not any(done.problem for _, done in answers):
            said = next((done.said for _, done in answers if done.said), "")
            why = said or "there is no entry that it may read yet"
            yield Diagnosis(f"{host.title}: {who} would be given nothing at its start: {why}", is_problem=bool(said))


def _settings(host: Host, started: Started) -> tuple[list[_Read], list[str]]:
    """Return the settings that a host reads where it is started, and what is wrong with those it cannot read."""
    own = host.folder_of(started.home, started.environ)
    folders = [(os.path.join(folder, *host.settings[:-1]), False) for folder in _folders(host, started)]
    files: dict[str, _Read] = {}
    problems: dict[str, None] = {}
    for folder, for_person in [*folders, *([(own, True)] if own else [])]:
        for name in (host.settings[-1], *host.beside):
            path = os.path.join(folder, name)
            try:
                text = _text(path)
                if text is None:
                    continue
                if name.endswith(".json"):
                    settings_text.check(text, host)
                elif not _is_plugin(host, text):
                    mend = f"remove it, and `{_install(host, for_person=for_person)}` puts it back"
                    problems[f"{started.name(path)} is not the plugin that this amp puts there; {mend}"] = None
                hooks = tuple(settings_text.commands(text))
                files[os.path.realpath(path)] = _Read(path, for_person, settings_text.values(text), hooks)
            except NotJson as error:
                line = f"{started.name(path)}:{error.line}"
                problems[f"it cannot read {line}: {error}, so it passes over the file; mend that line"] = None
            except NotADirectoryError:
                problems[f"it cannot look into {started.name(folder)}: that is not a folder; move it away"] = None
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else error
                problems[f"it cannot read {started.name(path)}: {why or error}"] = None
    return list(files.values()), [*problems]


def _is_plugin(host: Host, text: str) -> bool:
    """Say whether a text is what amp installs for a host whose hooks are a plugin, whatever commands are in it."""
    start, _, end = shipped_file("templates", f"{host.name}.js").decode().partition("HOOKS = {}")
    text = text.replace("\r\n", "\n")
    return text.startswith(start) and text.endswith(end)


def _text(path: str) -> str | None:
    """Return a file's text; None if there is no file. Raises ValueError if what is there cannot be read as text."""
    if os.path.lexists(path) and not os.path.isfile(path):  # a pipe would be waited for
        if os.path.islink(path) and not os.path.exists(path):
            raise ValueError("that is a link that leads nowhere; mend it or remove it")
        raise ValueError("that is not a file; move it away")
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    if len(data) > LARGEST:
        raise ValueError(f"amp reads at most {LARGEST:,} bytes; make it smaller")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError("that is not UTF-8; save it as UTF-8") from None


def _folders(host: Host, started: Started) -> list[str]:
    """Return the folders whose settings a host reads, but for the person's."""
    folder, found = started.folder, [started.folder]
    while host.climbs and not os.path.exists(os.path.join(folder, ".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        found.append(folder)
    return found


def _why_absent(host: Host, started: Started, *, has_calls: bool) -> str:
    """Say why a host that should have a hook of ours has none where it is started; "" if it needs none."""
    in_root = os.path.join(started.root, *host.settings)
    if has_calls:
        return f"its hooks call amp-hook, but at no event that fits; `{_install(host)}` adds what is missing"
    if host.name in started.installed.get(True, ()):
        return f"your own settings have lost what was installed; `{_install(host, for_person=True)}` puts it back"
    if host.name in started.installed[False]:
        if started.root not in _folders(host, started):
            where, mend = started.name(started.root), _install(host, for_person=True)
            return (
                f"started in {started.name(started.folder)}, it does not read {started.name(in_root)}, so there is no "
                f"memory and no guard; start it in {where}, or `{mend}` for every folder"
            )
        return f"{started.name(in_root)} has lost what was installed; `{_install(host)}` puts it back"
    if os.path.isdir(os.path.dirname(in_root)):
        where = "/".join(host.settings[:-1])
        return f"{where} is here, and amp is not installed for this host; `{_install(host)}` does it"
    return ""


def _install(host: Host, *, for_person: bool = False) -> str:
    return f"amp install {host.name}{FOR_PERSON if for_person else ''}"


def _off(host: Host, started: Started, files: Sequence[_Read], commands: Sequence[str]) -> str:
    found = (where for file in files if (where := _switch(host, started, file, commands)))
    return next(found, "") or _switched_off_in_toml(host, started)


def _switch(host: Host, started: Started, file: _Read, commands: Sequence[str]) -> str:
    """Say what in a settings file switches hooks off; "" if nothing does."""
    for names, value in host.off:
        if _value(file.values, names) is value:
            return f"{started.name(file.path)} says {'.'.join(names)} = {str(value).lower()}"
    disabled = _value(file.values, host.off_list) if host.off_list else None
    if isinstance(disabled, list) and (named := [one for one in commands if one in disabled]):
        return f"{started.name(file.path)} names `{named[0]}` in {'.'.join(host.off_list)}"
    return ""


def _switched_off_in_toml(host: Host, started: Started) -> str:
    """Say the same of the TOML file that some hosts have beside their hooks."""
    if not host.toml:
        return ""
    own = host.folder_of(started.home, started.environ)
    for folder in (*(os.path.join(one, host.settings[0]) for one in _folders(host, started)), own):
        path = os.path.join(folder, host.toml[0])
        try:
            values = tomllib.loads(_text(path) or "")
        except (OSError, ValueError):
            continue
        if _value(values, host.toml[1:]) is False:
            return f"{started.name(path)} says {'.'.join(host.toml[1:])} = false"
    return ""


def _value(values: object, names: Sequence[str]) -> object:
    for name in names:
        values = values.get(name) if isinstance(values, dict) else None
    return values
