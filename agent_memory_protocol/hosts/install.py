"""Install and uninstall: a host's files with our hooks, skill or block in them, as a plan first, and a receipt after.

A plan says which files become what; it is shown, and then done. The receipt says what was inserted. So uninstalling
gives back the very bytes there were; if somebody has changed the file since, only what is ours goes.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from dataclasses import replace as replace_fields
from difflib import unified_diff
from functools import partial
from hashlib import sha256
from typing import Any

from .. import __version__
from ..disk.errors import shown
from ..disk.files import Content, decode, split_bom
from ..disk.writing import create, make_folders, remove, remove_empty_folder, replace
from ..errors import AccessDenied, DamagedFile, InvalidArgument, StorageError
from ..project.access import Actor
from ..project.templates import shipped_file
from ..values import dataclass
from ..verbs.doctor import Diagnosis
from . import agents_md, settings_text
from .json_text import Insertion, NotJson, take_out
from .receipt import LARGEST, InstallPlace, Receipt
from .rehearsal import rehearse
from .table import FAILS_OPEN, FOR_PERSON, HOSTS, Host

AGENTS_MD = "agents-md"
TARGETS = (*HOSTS, AGENTS_MD)
_SKILL = ("agent-memory", "SKILL.md")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file, or a key of git's configuration, that becomes something else."""

    name: str
    before: bytes | None  # with `after`: its bytes now and then; None if there is nothing
    after: bytes | None
    do: Callable[[], object]

    @property
    def what(self) -> str:
        """What happens to it, in one word."""
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "change"

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        lines = unified_diff(
            (self.before or b"").decode("utf-8", "replace").splitlines(keepends=True),
            (self.after or b"").decode("utf-8", "replace").splitlines(keepends=True),
            "/dev/null" if self.before is None else f"a/{self.name}",
            "/dev/null" if self.after is None else f"b/{self.name}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@dataclass(slots=True)
class InstallPlan:
    """What installing or uninstalling does."""

    changes: list[FileChange] = field(default_factory=list)  # the files, the receipt last
    # what is done after them: folders that installing had made go if they are empty
    last: list[Callable[[], object]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what a person should know

    def carry_out(self) -> None:
        """Do what the plan says; StorageError if something is not what was planned from."""
        for change in self.changes:
            change.do()
        for step in self.last:
            step()


def check_may_install(actor: Actor) -> None:
    """Refuse an agent: what guards agents is for their owner to put in place and to take away."""
    if not actor.is_person:
        raise AccessDenied(f"{actor} may not change what its host runs; the person who owns the project may")


def plan_install(place: InstallPlace, target: str, program: str) -> InstallPlan:
    """Say what becomes of each file for a target: a host, or `agents-md`. `program` is what `program_for` returns."""
    plan = InstallPlan()
    receipt = Receipt.read(place)
    files: dict[str, Any] = {}
    folders = receipt.folders
    for file in _files(place, target, program):
        before = _read(place, file)
        old = receipt.file(target, file.name)
        now = _as_left(before, old)
        bare = _bare(file, now, old)
        inserted: list[Insertion] = []
        if file.part is None:
            if bare not in (None, file.whole):
                plan.notes.append(f"{file.name} is there already and is not what amp put there; it stays")
                continue
            after = file.whole
        else:
            with _naming(file, "install again"):
                text = (bare or b"").decode()
                file.part.check(text)
                plan.notes += [
                    f"{file.name} {left}; it stays, and nothing is added to it" for left in file.part.left(text)
                ]
                text, inserted = file.part.add(text)
            after = text.encode()
        created = bare is None or file.part is None
        files[file.name] = {"created": created, "inserted": inserted, "digest": _digest(after)}
        if before is not None and (before.data != now or b"\r\n" in before.data) and b"\r\n" not in after:
            after = after.replace(b"\n", b"\r\n")
        elif before is not None and before.data != now:
            after = after.replace(b"\r\n", b"\n")
        folders = folders | _missing_folders(file)
        _add(plan, place, file, before, after)
    kept = _receipt_file(place)
    folders = folders | _missing_folders(kept)
    record = {"amp": __version__, "files": files}
    _add(plan, place, kept, receipt.content, receipt.with_entry(target, record, folders))
    if target in HOSTS and HOSTS[target].next and plan.changes:
        plan.notes.append(HOSTS[target].next)
    return plan


def check_runs(place: InstallPlace, target: str, program: str, environ: Mapping[str, str]) -> None:
    """Run the hook of a session's start once, as the host would. Raises StorageError if it does not work."""
    host = HOSTS.get(target)
    if host is not None:
        command = f"{program} {host.call('session-start', for_person=not place.is_project)}"
        problem = rehearse(host, "session-start", command, place.base, environ).problem
        if problem:
            raise StorageError(
                f"`{command}` {problem}; nothing was installed: mend the program that is found, then again"
            )


def plan_uninstall(place: InstallPlace, target: str) -> InstallPlan:
    """Say what becomes of each file when what was installed goes. Changes nothing. Raises as `plan_install` does."""
    plan = InstallPlan()
    receipt = Receipt.read(place)
    for file in _files(place, target, "amp-hook"):
        before = _read(place, file)
        old = receipt.file(target, file.name)
        now = _as_left(before, old)
        bare = _bare(file, now, old)
        if bare is not None:
            if old and bare == now:
                plan.notes.append(f"{file.name} was changed since; what is left of amp's part in it stays")
            elif file.part is not None:
                with _naming(file, "uninstall again"):
                    plan.notes += [f"{file.name} {left}; it stays" for left in file.part.left(bare.decode())]
            if before is not None and before.data != now:
                bare = bare.replace(b"\r\n", b"\n") if b"\r\n" in (now or b"") else bare.replace(b"\n", b"\r\n")
        _add(plan, place, file, before, bare)
    if target in receipt.hosts:
        after = receipt.with_entry(target, None, receipt.folders)
        _add(plan, place, _receipt_file(place), receipt.content, after)
        deepest_first = sorted(receipt.folders, key=lambda path: (-path.count(os.sep), path))
        plan.last = [partial(_remove_if_empty, place, path) for path in deepest_first]
    return plan


def diagnose(place: InstallPlace, receipt: Receipt) -> Iterator[Diagnosis]:
    """Say which skills and blocks that were installed are there no more. Hooks are run, not looked at: `checkup`."""
    user = "" if place.is_project else FOR_PERSON
    for target in [one for one in receipt.hosts if one in TARGETS]:
        for file in _files(place, target, "amp-hook"):
            if target in HOSTS and file.part is not None:
                continue
            content = _read(place, file)
            if content is None or (
                file.part and _bare(file, content.data, receipt.file(target, file.name)) == content.data
            ):
                problem = f"{shown(file.name)} has gone, or has lost what was installed"
                yield Diagnosis(f"{target}: {problem}; `amp install {target}{user}` puts it back", is_problem=True)
            elif file.part:
                yield Diagnosis(f"{shown(file.name)} tells agents of memory, in the block that was installed")


def program_for(target: str, place: InstallPlace, found: str | None, installed: str) -> str:
    """Return how a shell calls `amp-hook`: by name if it is `found`, else from the project, else by its path."""
    if found or target not in HOSTS:
        return "amp-hook"
    inside = os.path.relpath(installed, place.base)
    if place.is_project and not inside.startswith(os.pardir):
        return f"{HOSTS[target].root}/{inside.replace(os.sep, '/')}"
    return "'" + installed.replace("'", "'\\''") + "'"


@dataclass(frozen=True, slots=True)
class _Part:
    """What is ours in a text file: how it comes in, how it goes out, and whether anything else is there."""

    add: Callable[[str], tuple[str, list[Insertion]]]
    strip: Callable[[str, Sequence[str]], str]
    is_bare: Callable[[str], bool]
    left: Callable[[str], list[str]] = lambda _: []
    check: Callable[[str], None] = lambda _: None


_BLOCK = _Part(agents_md.with_block, agents_md.without_block, lambda text: not text.strip("\ufeff \t\r\n"))


def _hooks_of(host: Host, program: str, *, for_person: bool) -> _Part:
    """Return what is ours in a host's settings. Where the same call is there and does its work, none is added."""
    wanted = host.hooks(program, for_person=for_person)
    same = {
        (native, f"{one} {host.call(event, for_person=for_person)}{ending}")
        for event, (native, _) in host.events.items()
        for one in (program, "amp-hook")
        for ending in (FAILS_OPEN, "")
    }

    def there(text: str) -> list[str]:
        idle = settings_text.idle(settings_text.values(text), host)
        return [native for native, _ in sorted(same & {*settings_text.commands(text)}) if native not in idle]

    def add(text: str) -> tuple[str, list[Insertion]]:
        found = there(text)
        added = {name: group for name, group in wanted.items() if name not in found}
        return settings_text.with_hooks(text, added, host.begins)

    return _Part(
        add,
        settings_text.without_hooks,
        settings_text.is_bare,
        lambda text: [f"runs amp-hook at {native}, which amp did not write" for native in there(text)],
        lambda text: settings_text.check(text, host),
    )


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a target: one that has a part of ours in it, or one that is ours as a whole."""

    name: str
    base: str
    parts: tuple[str, ...]
    part: _Part | None = None
    whole: bytes = b""
    reader: str = "amp"


def _files(place: InstallPlace, target: str, program: str) -> list[_File]:
    if target == AGENTS_MD:
        if not place.is_project:
            raise InvalidArgument("AGENTS.md belongs to a project; leave out --user")
        return [_File(agents_md.NAME, place.base, (agents_md.NAME,), _BLOCK)]
    host = HOSTS.get(target)
    if host is None:
        raise InvalidArgument(f"{target!a} is not a host; the hosts are {', '.join(TARGETS)}")
    for_person = not place.is_project
    if host.settings[-1].endswith(".json"):
        ours = _File("", place.base, host.settings, _hooks_of(host, program, for_person=for_person), reader=host.title)
    else:
        ours = _File("", place.base, host.settings, whole=_plugin_of(host, program, for_person=for_person))
    skill = _File("", place.base, (*host.skills, *_SKILL), whole=shipped_file("skill", *_SKILL))
    files = []
    for file in (ours, skill):
        moved = place.moved.get(host.name) if file.parts[0] == host.settings[0] else None
        parts = host.parts(file.parts, for_person=for_person) if moved is None else file.parts[1:]
        name = "/".join(parts) if moved is None else os.path.join(moved, *parts)
        files.append(replace_fields(file, name=name, base=moved or place.base, parts=parts))
    return files


def _plugin_of(host: Host, program: str, *, for_person: bool) -> bytes:
    """Return the plugin of a host that has no settings for hooks, with the command line of each event in it."""
    commands = {event: f"{program} {host.call(event, for_person=for_person)}{FAILS_OPEN}" for event in host.events}
    text = shipped_file("templates", f"{host.name}.js").decode()
    return text.replace("HOOKS = {}", f"HOOKS = {json.dumps(commands, indent=2)}", 1).encode()


def _receipt_file(place: InstallPlace) -> _File:
    return _File("/".join(place.receipt), place.base, place.receipt)


def _as_left(content: Content | None, old: Mapping[str, Any]) -> bytes | None:
    """Return a file's bytes with the line ends that it was left with, where a checkout has only changed these."""
    if content is None:
        return None
    unix = content.data.replace(b"\r\n", b"\n")
    for one in (unix, unix.replace(b"\n", b"\r\n")):
        if _digest(one) == old.get("digest"):
            return one
    return content.data


def _bare(file: _File, data: bytes | None, old: Mapping[str, Any]) -> bytes | None:
    """Return a file without what is ours; None if there was no file before. `old` is what the receipt says of it."""
    if data is None:
        return None
    is_as_left = _digest(data) == old.get("digest")
    if file.part is None:
        return None if is_as_left else data
    bom, rest = split_bom(data)
    text = bom.decode() + decode(rest, file.name)
    created = old.get("created") is True
    inserted = old.get("inserted", [])
    taken = take_out(text, inserted) if is_as_left else None
    if taken is not None:
        return None if created else taken.encode()
    with _naming(file, "mend it first"):
        bare = file.part.strip(text, [piece for _, piece in inserted])
        return None if created and file.part.is_bare(bare) else bare.encode()


@contextmanager
def _naming(file: _File, advice: str) -> Iterator[None]:
    try:
        yield
    except NotJson as error:
        reason = f"{file.reader} cannot read this: {error}; nothing was changed, mend the line and {advice}"
        raise DamagedFile(reason, path=file.name, line=error.line) from error


def _add(plan: InstallPlan, place: InstallPlace, file: _File, before: Content | None, after: bytes | None) -> None:
    data = None if before is None else before.data
    if data != after:
        plan.changes.append(FileChange(shown(file.name), data, after, partial(_write, place, file, before, after)))


def _write(place: InstallPlace, file: _File, before: Content | None, after: bytes | None) -> None:
    with place.open(file.base) as root:
        if after is None:
            remove(root, file.parts)
        elif before is None:
            make_folders(root, file.parts[:-1])
            create(root, file.parts, after)
        else:
            replace(root, file.parts, after, expected=before)


def _remove_if_empty(place: InstallPlace, path: str) -> None:
    above, name = os.path.split(path)
    if os.path.isdir(path):
        with place.open(above) as root:
            remove_empty_folder(root, (name,))


def _read(place: InstallPlace, file: _File) -> Content | None:
    with place.open(file.base) as root:
        return root.read(file.parts, limit=LARGEST)


def _missing_folders(file: _File) -> frozenset[str]:
    folders = (os.path.join(file.base, *file.parts[:depth]) for depth in range(1, len(file.parts)))
    return frozenset(folder for folder in folders if not os.path.isdir(folder))


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
