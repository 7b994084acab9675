"""One command of a shell's text: a program, its words, and what the text says of its surroundings."""

import posixpath


class Command:
    """One command of a text.

    Attributes:
        words: the program and its arguments, without quotes, and without what only starts the program (`sudo`, `env`).
        sets: the variables set for it alone, by `NAME=value` in front of it or by `env`.
        writes: the files that its output is redirected to, each with whether it is appended.
        feed: what it is given on stdin by the text itself, in here-documents and here-strings.
        piped: the command whose output it is given on stdin.
        folder: the folder it runs in.
        agent: who acts in it, by `AMP_AGENT`; None for a person.
    """

    __slots__ = ("agent", "feed", "folder", "piped", "sets", "words", "writes")

    def __init__(self, piped: "Command | None" = None) -> None:
        self.words: list[str] = []
        self.sets: dict[str, str] = {}
        self.writes: list[tuple[str, bool]] = []
        self.feed = ""
        self.piped = piped
        self.folder = ""
        self.agent: str | None = None

    @property
    def name(self) -> str:
        """The program's name, in lower case and without its folder; "" where there is none."""
        return posixpath.basename(self.words[0]).lower().removesuffix(".exe") if self.words else ""

    def with_words(self, words: list[str]) -> "Command":
        """Return the same command with other words."""
        other = Command(self.piped)
        other.words, other.sets, other.feed = words, dict(self.sets), self.feed
        return other

    def __repr__(self) -> str:
        return f"Command({self.words}, sets={self.sets}, writes={self.writes}, feed={self.feed!r})"


def joined(folder: str, path: str) -> str:
    """Return a path as it is from a folder; one below a home folder stays as it is."""
    return path if path.startswith("~") else posixpath.join(folder, path)
