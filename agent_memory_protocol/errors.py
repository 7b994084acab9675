"""Every error raised on purpose, under one root.

A message says what is wrong, where, and what to do. `exit_code` is what the command line ends
with (decision 36): 2 usage, 3 refused by a rule, 4 something on disk is damaged or unreadable.
"""


class AgentMemoryError(Exception):
    """The root of all errors this package raises on purpose.

    Attributes:
        exit_code: what `amp` ends with.
        kind: a stable word for programs, the name of the public class: `limit-exceeded`.
    """

    exit_code = 2
    kind = "error"

    def __init_subclass__(cls) -> None:
        """Give each public class its word. A class of another module is a kind of one of these."""
        if cls.__module__ == __name__:
            cls.kind = "".join(f"-{one.lower()}" if one.isupper() else one for one in cls.__name__).lstrip("-")


class InvalidName(AgentMemoryError, ValueError):
    """An agent name or conversation id breaks the name rule (decisions 2 and 3)."""


class InvalidArgument(AgentMemoryError, ValueError):
    """An argument is missing, contradicts another one, or has an impossible value."""


class Refused(AgentMemoryError):
    """A rule of the protocol forbids what was asked; nothing was changed.

    Attributes:
        target: the document that it is about, such as `agent:developer`; "" for none.
        path: the file, relative to the project root; "" for none.
        limit: the most that is allowed; None if no limit is the reason.
        size: what there would be; None if no limit is the reason.
        unit: what both count, `lines` or `bytes`; "" if no limit is the reason.
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        target: object = "",
        path: str = "",
        limit: int | None = None,
        size: int | None = None,
        unit: str = "",
    ) -> None:
        super().__init__(message)
        self.target = str(target)
        self.path = path
        self.limit = limit
        self.size = size
        self.unit = unit


class AccessDenied(Refused):
    """This actor may not read or write this document (decisions 8 to 10)."""


class LimitExceeded(Refused):
    """The write would pass the line or byte limit of a tier file (decision 13): `limit`, `size`, `unit` and `path`."""


class RefusedText(Refused):
    """The text itself cannot be remembered: empty, invisible characters, too large."""


class SecretFound(Refused):
    """The text holds what looks like a secret; the message says which kind and where, never the value (decision 26)."""


class LinkRefused(Refused):
    """A file is reached by a link, where only files in their own places are read or written (decision 5)."""


class Disabled(Refused):
    """Memory, or this tier of it, is switched off by a setting (decision 6)."""


class InvalidRecord(AgentMemoryError, ValueError):
    """A record, or a file of records, is not what the record format allows; the message says every reason."""


class InvalidVector(AgentMemoryError, ValueError):
    """A vector holds what is not a number, is not as wide as the others, or was made by something else."""


class UnknownRecord(AgentMemoryError, LookupError):
    """A store holds no record with this id."""


class IllegalMove(Refused):
    """The lifecycle of records does not allow this change; nothing was changed."""


class OperatorFailed(AgentMemoryError):
    """An operator, such as a model's program, gave no answer that can be used; nothing was changed because of it."""


class BadSignature(AgentMemoryError):
    """A signature is missing where one is required, is spelled wrongly, or is not over these bytes by this key."""

    exit_code = 4


class MissingExtra(AgentMemoryError):
    """A part of the package that is installed on request is not installed; the message says how to get it."""


class StorageError(AgentMemoryError):
    """Something on disk is missing, unreadable, unwritable or in the way."""

    exit_code = 4


class DamagedFile(StorageError):
    """A file cannot be read as what it should be.

    Attributes:
        path: the file, relative to the project root, or as the caller named it.
        line: the first line that is wrong, counted from 1; None when no single line is.
    """

    def __init__(self, message: str, *, path: str = "", line: int | None = None) -> None:
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {message}" if place else message)
        self.path = path
        self.line = line


class LockBusy(StorageError):
    """Another process held the lock for the whole waiting time."""
