"""Where a memory directory is, and what its project says: who may write, which secrets are allowed, what is off."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..disk.files import Root
from ..disk.lock import hold
from ..disk.writing import LOCAL, make_local_folder
from ..errors import InvalidArgument, RefusedText, SecretFound, StorageError
from ..layout import MEMORY, RECORDS, Target, Tier
from ..limits import MAX_BYTES
from ..project import agents, local_state
from ..project.access import Actor, acting, check, why_not_write
from ..project.root import find_root
from ..project.settings import Settings, load_settings
from ..text.visible import refuse_invisible

_NAME = RECORDS[-1]
_LOCAL_ELSEWHERE = (".amp",)
_LARGEST_SIDE_FILE = 64 << 20


class Home:
    """One memory directory. Naming it reads and creates nothing.

    Attributes:
        path: the memory directory.
        root: the folder that its records do not leave: the project's root, else the directory itself.
        parts: the way from there to the records.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        actor: Actor | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._actor = acting(actor)
        self._environ = os.environ if environ is None else environ
        if path is None:
            project = find_root(environ=self._environ).path
            self.path = os.path.join(project, *MEMORY)
        else:
            name = os.fspath(path)
            if not isinstance(name, str) or not name or "\0" in name:
                raise InvalidArgument(f"{name!a} cannot be the path of a memory directory")
            self.path = os.path.abspath(name)
        above, name = os.path.split(self.path)
        project, scaffolding = os.path.split(above)
        is_project = (scaffolding, name) == MEMORY
        self.root: str = project if is_project else self.path
        self.parts: tuple[str, ...] = RECORDS if is_project else RECORDS[-1:]
        self._local: tuple[str, ...] = LOCAL if is_project else _LOCAL_ELSEWHERE

    def project(self) -> tuple[str, Mapping[str, str], Actor] | None:
        """Return the root of the project that the records are of, the environment, and who acts; None without one."""
        return (self.root, self._environ, self._actor) if self.parts == RECORDS and self.is_on() else None

    def has_records(self) -> bool:
        """Say whether there is a folder of records. The first record makes it."""
        return os.path.lexists(os.path.join(self.root, *self.parts))

    def local_file(self, name: str) -> str | None:
        """Return the path of a file that may be deleted at any time; None if none can be written and believed."""
        try:
            with Root.open(self.root) as root:
                if not local_state.has_own_tables(root, self._local):
                    return None
                return os.path.join(self.root, *make_local_folder(root, _NAME, local=self._local), name)
        except StorageError:
            return None

    def read(self, name: str) -> bytes:
        """Return what is in a file of the memory directory; nothing where it cannot be read."""
        try:
            with Root.open(self.root) as root:
                content = root.read((*self.parts[:-1], name), limit=_LARGEST_SIDE_FILE)
        except StorageError:
            return b""
        return b"" if content is None else content.data

    @contextmanager
    def alone(self, wait: float) -> Iterator[None]:
        """Keep other processes out of a `with` block that takes the same lock; LockBusy after `wait` seconds."""
        with Root.open(self.root) as root, hold(root, _NAME, wait=wait, local=self._local):
            yield

    # -- what the project says ---------------------------------------------------------------------------------------

    def check_may_change(self) -> tuple[str, ...]:
        """Refuse a change while memory is off, or by a read-only agent (decisions 6, 9).

        Return allowed fingerprints.
        """
        allow = self.check_is_on()
        if not self._actor.is_person:
            with self._project() as root:
                settings = load_settings(root, self._environ)
                reason = agents.read_only_reason(root, self._actor.agent or "", settings, environ=self._environ)
            check(why_not_write(self._actor, Target(Tier.SHARED), read_only_reason=reason), Target(Tier.SHARED))
        return allow

    def check_is_on(self) -> tuple[str, ...]:
        """Refuse to work while memory is switched off (decision 6). Returns the allowed fingerprints."""
        settings = self._settings()
        settings.check_enabled()
        return settings.secrets_allow

    def is_on(self) -> bool:
        """Say whether memory is switched on (decision 6)."""
        return self._settings().enabled

    def check_texts(self, *said: tuple[str, str | None]) -> None:
        """Check each of these texts that is given, with what it is; see `check_text`."""
        for what, text in said:
            if text is not None:
                self.check_text(text, what)

    def check_text(self, text: str, what: str = "text") -> None:
        """Refuse what no memory may hold: nothing, too much, what nobody sees, or a secret."""
        from ..secrets.find import check_text

        if not text or text.isspace():
            raise RefusedText(f"the {what} is empty")
        if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
            raise RefusedText(
                f"the {what} has more than {MAX_BYTES:,} bytes; remember what matters of it",
                limit=MAX_BYTES,
                unit="bytes",
            )
        try:
            check_text(text, what=what)
        except SecretFound:
            check_text(text, allow=self._settings().secrets_allow, what=what)
        refuse_invisible(text, what)

    def _settings(self) -> Settings:
        try:
            with self._project() as root:
                return load_settings(root, self._environ)
        except StorageError:  # where nothing can be read, nothing is set
            return load_settings(None, self._environ)

    def _project(self) -> Root:
        """Open the project around the memory directory."""
        folder = self.path
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        return Root.open(find_root(folder, environ={**self._environ, "AMP_ROOT": ""}).path)
