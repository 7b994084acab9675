"""Install and uninstall: a host's files with our hooks, skill or block in them, as a plan first, and a receipt after.

A plan says which files become what; it is shown, and then done. The receipt says what was inserted. So uninstalling
gives back the very bytes there were; if somebody has changed the file since, only what is ours goes.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from hashlib import sha256
from typing import Any

from .. import __version__
from ..disk.errors import shown
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
    """A file, or a key of git's configuration, that becomes something else.

    Attributes:
        name: how a person knows it.
        before, after: its bytes now and then; None if there is nothing.
        do: makes the change.
    """

    name: str
    before: bytes | None
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
    """What installing or uninstalling does.

    Attributes:
        changes: the files, the receipt last.
        last: what is done after them: folders that installing had made go if they are empty.
        notes: what a person should know.
    """

    changes: list[FileChange] = field(default_factory=list)
    last: list[Callable[[], object]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def carry_out(self) -> None:
        """Do what the plan says.

        Raises:
            StorageError: something cannot be changed, or is not what was planned from; plan again.
        """
        for change in self.changes:
            change.do()
        for step in self.last:
            step()


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
    plan = InstallPlan()
    receipt = Receipt.read(place)
    files: dict[str, Any] = {}
    folders = receipt.folders
    for file in _files(place, target, program):
        before = _read(place, file)
        bare = _bare(file, before, receipt.file(target, file.name))
        inserted: list[Insertion] = []
        if file.part is None:
            if bare not in (None, file.whole):
                plan.notes.append(f"{file.name} is there already and is not what amp put there; it stays")
                continue
            after = file.whole
        else:
            with _naming(file):
                text, inserted = file.part.add((bare or b"").decode())
            after = text.encode()
        created = bare is None or file.part is None
        files[file.name] = {"created": created, "inserted": inserted, "digest": _digest(after)}
        folders = folders | _missing_folders(file)
        _add(plan, place, file, before, after)
    kept = _receipt_file(place)
    folders = folders | _missing_folders(kept)
    record = {"amp": __version__, "files": files}
    _add(plan, place, kept, receipt.content, receipt.with_entry(target, record, folders))
    if target in HOSTS and HOSTS[target].next and plan.changes:
        plan.notes.append(HOSTS[target].next)
    return plan


def plan_uninstall(place: InstallPlace, target: str) -> InstallPlan:
    """Say what becomes of each file when what was installed goes. Changes nothing. Raises as `plan_install` does."""
    plan = InstallPlan()
    receipt = Receipt.read(place)
    for file in _files(place, target, "amp-hook"):
        before = _read(place, file)
        old = receipt.file(target, file.name)
        bare = _bare(file, before, old)
        if old and before is not None and bare == before.data:
            plan.notes.append(f"{file.name} was changed since; what is left of amp's part in it stays")
        _add(plan, place, file, before, bare)
    if target in receipt.hosts:
        after = receipt.with_entry(target, None, receipt.folders)
        _add(plan, place, _receipt_file(place), receipt.content, after)
        deepest_first = sorted(receipt.folders, key=lambda path: (-path.count(os.sep), path))
        plan.last = [partial(_remove_if_empty, place, path) for path in deepest_first]
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
        if content is None:
            return Diagnosis(f"{target} lacks {file.name}; `amp install {target}` puts it back", is_problem=True)
        is_as_left = file.part is None or _digest(content.data) == receipt.file(target, file.name).get("digest")
        if not is_as_left and _bare(file, content, {}) == content.data:
            message = f"{file.name} has lost what was installed; `amp install {target}` puts it back"
            return Diagnosis(message, is_problem=True)
    return Diagnosis(f"{target} has what `amp install` put there")


def program_for(target: str, place: InstallPlace, found: str | None, installed: str) -> str:
    """Return how a shell calls `amp-hook`: by name if a shell finds it, else from the project, else by its path.

    Args:
        target: the host.
        place: where something is installed.
        found: where a shell finds a program of that name; None if there is no such program.
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
    strip: Callable[[str, Sequence[str]], str]
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
        return [_File(agents_md.NAME, place.base, (agents_md.NAME,), _BLOCK)]
    host = HOSTS.get(target)
    if host is None:
        raise InvalidArgument(f"{target!a} is not a host; the hosts are {', '.join(TARGETS)}")
    wanted = host.hooks(program)
    add = partial(settings_text.with_hooks, wanted=wanted)
    hooks = _Part(add, partial(settings_text.without_hooks, wanted=wanted), settings_text.is_bare)
    if host.name in place.moved:
        base, name = place.moved[host.name], host.settings[-1]
        settings = _File(os.path.join(base, name), base, (name,), hooks)
    else:
        settings = _File("/".join(host.settings), place.base, host.settings, hooks)
    skill = (*host.skills, *_SKILL)
    return [settings, _File("/".join(skill), place.base, skill, whole=shipped_file("skill", *_SKILL))]


def _receipt_file(place: InstallPlace) -> _File:
    return _File("/".join(place.receipt), place.base, place.receipt)


def _bare(file: _File, content: Content | None, old: Mapping[str, Any]) -> bytes | None:
    """Return a file without what is ours; None if there was no file before. `old` is what the receipt says of it."""
    if content is None:
        return None
    is_as_left = _digest(content.data) == old.get("digest")
    if file.part is None:
        return None if is_as_left else content.data
    bom, data = split_bom(content.data)
    text = bom.decode() + decode(data, file.name)
    created = old.get("created") is True
    taken = take_out(text, old.get("inserted", [])) if is_as_left else None
    if taken is not None:
        return None if created else taken.encode()
    with _naming(file):
        bare = file.part.strip(text, [piece for _, piece in old.get("inserted", [])])
        return None if created and file.part.is_bare(bare) else bare.encode()


@contextmanager
def _naming(file: _File) -> Iterator[None]:
    """Name the file whose text is not JSON."""
    try:
        yield
    except NotJson as error:
        reason = f"is not JSON: {error}; nothing was changed, mend it first"
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
    """Return the folders above a file that are not there yet."""
    folders = (os.path.join(file.base, *file.parts[:depth]) for depth in range(1, len(file.parts)))
    return frozenset(folder for folder in folders if not os.path.isdir(folder))


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
