"""Install and uninstall: a host's files with our hooks, skill or block in them, as a plan first, and a receipt after.

A plan says which files become what; it is what is shown, and what is done. The receipt says what was inserted, so that
uninstalling gives back the very bytes there were, as long as nobody has changed the file; else what is ours goes.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from hashlib import sha256
from typing import Any

from .. import __version__
from ..disk.files import Content, decode, split_bom
from ..disk.writing import create, make_folders, remove, remove_empty_folder, replace
from ..errors import AccessDenied, AgentMemoryError, DamagedFile, InvalidArgument
from ..project.access import Actor
from ..project.templates import shipped_file
from ..verbs.doctor import Diagnosis
from . import agents_md, settings_text
from .json_text import Insertion, NotJson, take_out
from .receipt import LARGEST, InstallPlace, Receipt
from .table import HOSTS

AGENTS_MD = "agents-md"
TARGETS = (*HOSTS, AGENTS_MD)
_SKILL = ("agent-memory", "SKILL.md")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that becomes something else: its bytes before and after; None where there is no file."""

    base: str
    parts: tuple[str, ...]
    before: Content | None
    after: bytes | None

    @property
    def path(self) -> str:
        """Its whole path."""
        return os.path.join(self.base, *self.parts)

    @property
    def what(self) -> str:
        """What happens to it, in one word."""
        return in_a_word(self.before, self.after)

    def diff(self, shown_as: str) -> str:
        """Return the change as a unified diff."""
        return diff_of(None if self.before is None else self.before.data, self.after, shown_as)


@dataclass(slots=True)
class InstallPlan:
    """What installing or uninstalling does.

    Attributes:
        place: where.
        changes: the files, the receipt last.
        folders: folders that go where they are left empty, deepest first: installing had made them.
        notes: what a person should know.
    """

    place: InstallPlace
    changes: list[FileChange] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def in_a_word(before: object, after: object) -> str:
    """Say what becomes of something, given what it was and will be; None where there is nothing."""
    if before is None:
        return "create"
    return "remove" if after is None else "change"


def diff_of(before: bytes | None, after: bytes | None, shown_as: str) -> str:
    """Return the step from one text to another as a unified diff; None where there is no text."""
    lines = unified_diff(
        (before or b"").decode("utf-8", "replace").splitlines(keepends=True),
        (after or b"").decode("utf-8", "replace").splitlines(keepends=True),
        "/dev/null" if before is None else f"a/{shown_as}",
        "/dev/null" if after is None else f"b/{shown_as}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def check_may_install(actor: Actor) -> None:
    """Refuse an agent: what guards agents is for their owner to put in place and to take away.

    Raises:
        AccessDenied: an agent acts.
    """
    if not actor.is_person:
        raise AccessDenied(f"{actor} may not change what its host runs; the person who owns the project may")


def plan_install(place: InstallPlace, target: str, program: str) -> InstallPlan:
    """Say what becomes of each file. Changes nothing.

    Args:
        place: where.
        target: a host, or `agents-md`.
        program: how a shell calls `amp-hook`; see `program_for`.

    Raises:
        DamagedFile: a file cannot be read as what it should be.
        InvalidArgument: the target has no such place.
    """
    plan = InstallPlan(place)
    receipt = Receipt.read(place)
    had = receipt.entry(target)
    record: dict[str, Any] = {"amp": __version__, "files": {}}
    folders = receipt.folders
    for file in _files(place, target, program):
        before = _read(place, file)
        old = had.get("files", {}).get(file.name, {})
        inserted: list[Insertion] = []
        if file.part is None:
            after, created = file.whole, True
            if before is not None and before.data != after and _digest(before.data) != old.get("digest"):
                plan.notes.append(f"{file.name} is there already and is not what amp put there; it stays")
                continue
        else:
            bare = None if before is None else _stripped(file, file.part, before, old)
            try:
                text, inserted = file.part.add(bare or "")
            except NotJson as error:
                raise _no_json(file, error) from error
            after, created = text.encode(), bare is None
        record["files"][file.name] = {"created": created, "inserted": inserted, "digest": _digest(after)}
        folders = folders | _missing_folders(file.base, file.parts)
        _add(plan, file.base, file.parts, before, after)
    folders = folders | _missing_folders(place.base, place.receipt)
    _add(plan, place.base, place.receipt, receipt.content, receipt.with_entry(target, record, folders))
    if target in HOSTS and HOSTS[target].next and plan.changes:
        plan.notes.append(HOSTS[target].next)
    return plan


def plan_uninstall(place: InstallPlace, target: str) -> InstallPlan:
    """Say what becomes of each file when what was installed goes. Changes nothing. Raises as `plan_install` does."""
    plan = InstallPlan(place)
    receipt = Receipt.read(place)
    had = receipt.entry(target)
    for file in _files(place, target, "amp-hook"):
        before = _read(place, file)
        old = had.get("files", {}).get(file.name, {})
        if before is None:
            continue
        if file.part is None:
            if _digest(before.data) == old.get("digest"):
                _add(plan, file.base, file.parts, before, None)
            elif old:
                plan.notes.append(f"{file.name} was changed since; it stays")
            continue
        bare = _stripped(file, file.part, before, old)
        _add(plan, file.base, file.parts, before, None if bare is None else bare.encode())
    if target in receipt.hosts:
        _add(plan, place.base, place.receipt, receipt.content, receipt.with_entry(target, None, receipt.folders))
        plan.folders = sorted(receipt.folders, key=lambda path: (-path.count(os.sep), path))
    return plan


def diagnose(place: InstallPlace) -> list[Diagnosis]:
    """Say of each target in the receipt whether what was installed is still there."""
    try:
        receipt = Receipt.read(place)
        return [_diagnosis(place, target, receipt) for target in receipt.hosts if target in TARGETS]
    except AgentMemoryError as error:
        return [Diagnosis(str(error), is_problem=True, is_damage=True)]


def _diagnosis(place: InstallPlace, target: str, receipt: Receipt) -> Diagnosis:
    for file in _files(place, target, "amp-hook"):
        content = _read(place, file)
        old = receipt.entry(target).get("files", {}).get(file.name, {})
        if content is None:
            return Diagnosis(f"{target} lacks {file.name}; `amp install {target}` puts it back", is_problem=True)
        if file.part is not None and _digest(content.data) != old.get("digest"):
            text = content.data.decode("utf-8", "replace")
            if _stripped(file, file.part, content, {}) == text:
                message = f"{file.name} has lost what was installed; `amp install {target}` puts it back"
                return Diagnosis(message, is_problem=True)
    return Diagnosis(f"{target} has what `amp install` put there")


def carry_out(plan: InstallPlan) -> None:
    """Do what a plan says.

    Raises:
        StorageError: a file cannot be written, or is not the one that was planned from; run it again.
    """
    for change in plan.changes:
        with plan.place.open(change.base) as root:
            if change.after is None:
                remove(root, change.parts)
            elif change.before is None:
                make_folders(root, change.parts[:-1])
                create(root, change.parts, change.after)
            else:
                replace(root, change.parts, change.after, expected=change.before)
    for path in plan.folders:
        above, name = os.path.split(path)
        if os.path.isdir(path):
            with plan.place.open(above) as root:
                remove_empty_folder(root, (name,))


def program_for(target: str, place: InstallPlace, found: str | None, installed: str) -> str:
    """Return how a shell calls `amp-hook`: by name where it is found by that, else from the project, else by its path.

    Args:
        target: the host.
        place: where is installed.
        found: where a shell finds a program of that name; None where it finds none.
        installed: where this installation has it.
    """
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
    strip: Callable[[str], str]
    is_bare: Callable[[str], bool]


_BLOCK = _Part(agents_md.with_block, agents_md.without_block, lambda text: not text.strip())


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a target: one that has a part of ours in it, or one that is ours as a whole."""

    name: str
    base: str
    parts: tuple[str, ...]
    part: _Part | None = None
    whole: bytes = b""


def _files(place: InstallPlace, target: str, program: str) -> list[_File]:
    if target == AGENTS_MD:
        if not place.is_project:
            raise InvalidArgument("AGENTS.md belongs to a project; leave out --user")
        return [_File("AGENTS.md", place.base, ("AGENTS.md",), _BLOCK)]
    host = HOSTS.get(target)
    if host is None:
        raise InvalidArgument(f"{target!a} is no host; there are {', '.join(TARGETS)}")
    add = partial(settings_text.with_hooks, wanted=host.hooks(program))
    hooks = _Part(add, settings_text.without_hooks, settings_text.is_bare)
    if host.name in place.moved:
        base, name = place.moved[host.name], host.settings[-1]
        settings = _File(os.path.join(base, name), base, (name,), hooks)
    else:
        settings = _File("/".join(host.settings), place.base, host.settings, hooks)
    skill = (*host.skills, *_SKILL)
    return [settings, _File("/".join(skill), place.base, skill, whole=shipped_file("skill", *_SKILL))]


def _stripped(file: _File, part: _Part, content: Content, old: Mapping[str, Any]) -> str | None:
    """Return a file's text without what is ours; None where there was no file before."""
    bom, data = split_bom(content.data)
    text = bom.decode() + decode(data, file.name)
    created = old.get("created") is True
    if _digest(content.data) == old.get("digest"):
        taken = take_out(text, old.get("inserted", []))
        if taken is not None:
            return None if created else taken
    try:
        bare = part.strip(text)
        return None if created and part.is_bare(bare) else bare
    except NotJson as error:
        raise _no_json(file, error) from error


def _no_json(file: _File, error: NotJson) -> DamagedFile:
    return DamagedFile(f"is not JSON: {error}; nothing was changed, mend it first", path=file.name, line=error.line)


def _add(plan: InstallPlan, base: str, parts: tuple[str, ...], before: Content | None, after: bytes | None) -> None:
    if (None if before is None else before.data) != after:
        plan.changes.append(FileChange(base, parts, before, after))


def _read(place: InstallPlace, file: _File) -> Content | None:
    with place.open(file.base) as root:
        return root.read(file.parts, limit=LARGEST)


def _missing_folders(base: str, parts: tuple[str, ...]) -> frozenset[str]:
    """Return the folders above a file that are not there yet."""
    folders = (os.path.join(base, *parts[:depth]) for depth in range(1, len(parts)))
    return frozenset(folder for folder in folders if not os.path.isdir(folder))


def _digest(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hexdigest()
