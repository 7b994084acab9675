"""A shell command as far as its text tells: which programs it calls with which words, in which folder, and as whom.

No shell runs and nothing is expanded but braces and the variables that the text itself or the environment sets. What
only a shell could know, such as the output of `$(…)`, stays in the words as it was written. Text that no shell would
take is read as far as it goes.
"""

import re

from .command import Command, joined
from .starters import SHELLS, given_to_a_shell, names_in_output, positions, started_by, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEPEST = 12
_MOST_ROUNDS = 20
_MOST_REREAD = 1 << 20
_LONGEST_VALUE = 1 << 12
_COST_OF_A_WORD = 100
_BLANK = " \t\r"
_OPERATORS = ";|&()\n"
_BEFORE_A_COMMAND = frozenset(["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "coproc"])
_SETTERS = frozenset(["export", "declare", "local", "readonly", "typeset"])
_READERS = frozenset(["read", "mapfile", "readarray"])
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_REDIRECTION = re.compile(r"(?:\d*|&)(<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())")
_PIECE = re.compile(
    r"""\\(?P<escaped>.?) | '(?P<single>[^']*)'? | \$'(?P<ansi>(?:\\.|[^'\\])*)'?
    | (?P<plain>[^ \t\r\n;|&()<>\\'"$`]+)""",
    re.DOTALL | re.VERBOSE,
)
_IN_DOUBLE_QUOTES = re.compile(r'\\([$`"\\\n])|[^"$`\\]+|\\')
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>[^}]*)\}?|(?P<name>[A-Za-z_]\w*|[0-9@*])?)", re.ASCII)
_BRACED = re.compile(r"!?(\w+|[@*])(?:\[[^]]*\])?(?::?[-=](.*))?", re.ASCII | re.DOTALL)
_ALL_AS_WORDS = re.compile(r'"\$(?:@|\{@\}|\{\w+\[@\]\})"')
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\\.|\$\{", re.DOTALL)
_BRACES = re.compile(r"\{([^{},]*,[^{}]*)\}")


class _Shell:
    """What a shell knows: its variables, the folder it is in, the one before, and those `popd` goes back to."""

    __slots__ = ("before", "folder", "kept", "variables")

    def __init__(self, variables: dict[str, str], folder: str, before: str = "", kept: tuple[str, ...] = ()) -> None:
        self.variables = variables
        self.folder = folder
        self.before = before or folder
        self.kept = kept

    def forked(self, sets: "Mapping[str, str]") -> "_Shell":
        """Return the same for a subshell, whose changes are forgotten outside of it."""
        return _Shell({**self.variables, **sets}, self.folder, self.before, self.kept)

    def move(self, name: str, words: list[str]) -> None:
        """Go where `cd`, `pushd` or `popd` goes."""
        to = next((word for word in words if word == "-" or not word.startswith("-")), "~")
        if name == "popd":
            if not self.kept:
                return
            to, self.kept = self.kept[-1], self.kept[:-1]
        elif name == "pushd":
            self.kept = (*self.kept, self.folder)
        self.folder, self.before = self.before if to == "-" else joined(self.folder, to), self.folder


class _Work:
    """How much text may still be read: loops inside loops multiply how often it is read again."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def allows(self, size: int) -> bool:
        self.left -= size
        return self.left >= 0


def read_commands(text: str, environ: "Mapping[str, str] | None" = None, folder: str = "") -> list[Command]:
    """Return the commands of a text in their order.

    Those inside `$(…)`, backticks and subshells are included, and those that it gives to another shell, to `xargs` or
    to `find`. What is nested very deep in it, or would be read again very often, is passed over.
    """
    return _read(text, _Shell(dict(environ or {}), folder), 0, _Work(len(text) + _MOST_REREAD))


def _read(text: str, shell: _Shell, depth: int, work: _Work) -> list[Command]:
    if depth > _DEEPEST or not work.allows(len(text)):
        return []
    before = shell.forked({})
    reader = _Reader(text, shell, depth, work, {})
    found = list(reader.commands())
    # What a loop does, it does for each of its values: the text is read once more for each of them.
    for name, values in reader.loops.items():
        for value in values[1:_MOST_ROUNDS]:
            if work.allows(len(text)):
                found += _Reader(text, before.forked({}), depth, work, {name: value}).commands()
    return found


class _Reader:
    """Reads a text from its left to its right, once. `shell` is what is known; what the text sets is added."""

    def __init__(self, text: str, shell: _Shell, depth: int, work: _Work, in_loop: dict[str, str]) -> None:
        self.text = text
        self.shell = shell
        self.outside: list[_Shell] = []
        self.depth = depth
        self.work = work
        self.in_loop = in_loop
        self.loops: dict[str, list[str]] = {}
        self.last_read = ""
        self.position = 0
        self.inner: list[Command] = []
        self.awaiting: list[tuple[Command, str]] = []

    def commands(self) -> "Iterator[Command]":
        command = Command()
        while self.position < len(self.text):
            character = self.text[self.position]
            if character in _BLANK or self.text.startswith("\\\n", self.position):
                self.position += 1 if character in _BLANK else 2
            elif character == "#":
                end = self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end
            elif self._redirect(command):
                pass
            elif character in _OPERATORS:
                is_pipe = character == "|" and not self._repeats()
                self.position += 1
                if character == "\n":
                    self._here_documents()
                yield from self._finished(command)
                if character == "(":
                    self.outside.append(self.shell)
                    self.shell = self.shell.forked({})
                elif character == ")" and self.outside:
                    self.shell = self.outside.pop()
                command = Command(command if is_pipe else None)
            else:
                self._take(command)
        self._here_documents()
        yield from self._finished(command)

    def _take(self, command: Command) -> None:
        """Read a word and add it to a command."""
        words = self._words()
        name, equals, value = words[0].partition("=") if words else ("", "", "")
        if not command.words and equals and name.isidentifier() and name.isascii():
            if not value and self.text.startswith("(", self.position):
                end = _closing(self.text, self.position)
                inside, self.position = self.text[self.position + 1 : end], end + 1
                value = " ".join(word for one in self._inside(inside, notes=False) for word in one.words)
            command.sets[name] = " ".join([value, *words[1:]])
        elif words == ["{"] and command.words[:1] == ["function"]:
            command.words.clear()
        elif command.words or len(words) != 1 or words[0] not in _BEFORE_A_COMMAND:
            command.words += words

    def _finished(self, command: Command) -> "Iterator[Command]":
        yield from self.inner
        self.inner = []
        if command.words:
            yield from self._run(command)
        else:
            self.shell.variables.update(command.sets)
            if command.writes:
                command.folder = self.shell.folder
                yield command

    def _run(self, command: Command, depth: int = 0) -> "Iterator[Command]":
        """Yield a command, or those that it starts, and learn what it tells the shell."""
        folder = unwrap(command)
        command.folder = joined(self.shell.folder, folder)
        command.agent = command.sets.get("AMP_AGENT", self.shell.variables.get("AMP_AGENT")) or None
        yield command
        for words in started_by(command):
            if depth < _DEEPEST and self.work.allows(_COST_OF_A_WORD * len(words)):
                yield from self._run(command.with_words(words), depth + 1)
        inner, arguments = given_to_a_shell(command)
        if inner:
            shell = self.shell
            if command.name in SHELLS:
                shell = shell.forked({**command.sets, **arguments})
                shell.folder = command.folder
            yield from _read(inner, shell, self.depth + 1, self.work)
        self._learn(command)

    def _learn(self, command: Command) -> None:
        """Do what a command does to its shell: variables, loops, folders."""
        name, words = command.name, command.words[1:]
        variables = self.shell.variables
        if name in _SETTERS:
            variables.update({name: value for name, equals, value in (word.partition("=") for word in words) if equals})
        elif name == "unset":
            variables.update(dict.fromkeys(words, ""))
        elif name == "set" and "--" in words:
            variables.update(positions(words[words.index("--") + 1 :]))
        elif name == "for" and words[1:2] == ["in"] and words[2:]:
            self._loop(words[0], words[2:])
        elif name in _READERS:
            self.last_read = next((word for word in reversed(words) if not word.startswith("-")), "REPLY")
            self._loop(self.last_read, names_in_output(command) or [f"${self.last_read}"])
        elif name == "done" and self.last_read:
            self.loops[self.last_read] = ["", *names_in_output(command)]
        elif name in ("cd", "pushd", "popd"):
            self.shell.move(name, words)

    def _loop(self, name: str, values: list[str]) -> None:
        self.loops.setdefault(name, values)
        self.shell.variables[name] = self.in_loop.get(name, values[0])

    def _redirect(self, command: Command) -> bool:
        """Read a redirection that begins here; False where there is none."""
        found = _REDIRECTION.match(self.text, self.position)
        if found is None:
            return False
        operator = found[1]
        self.position = found.end()
        while self.position < len(self.text) and self.text[self.position] in _BLANK:
            self.position += 1
        if operator == "<" and self.text.startswith("<(", self.position):
            self._words()
            command.piped = self.inner[-1] if self.inner else None
            return True
        targets = self._words()
        if operator in ("<<", "<<-"):
            self.awaiting.append((command, " ".join(targets)))
        elif operator == "<<<":
            command.feed += " ".join(targets) + "\n"
        elif operator in (">", ">>", ">|", "<>") or (operator == ">&" and "".join(targets).strip("0123456789-")):
            command.writes += [(target, operator == ">>") for target in targets]
        return True

    def _here_documents(self) -> None:
        """Take the here-documents that were announced on the line just read."""
        for command, end in self.awaiting:
            while self.position < len(self.text):
                stop = self.text.find("\n", self.position)
                stop = len(self.text) if stop < 0 else stop
                line = self.text[self.position : stop]
                self.position = stop + 1
                if line.lstrip("\t") == end:
                    break
                command.feed += line + "\n"
        self.awaiting = []

    def _words(self) -> list[str]:
        """Read the word that begins here, without its quotes: several where a variable or braces make them so."""
        start = self.position
        pieces: list[str] = []
        splits = False
        while self.position < len(self.text):
            character = self.text[self.position]
            piece = _PIECE.match(self.text, self.position)
            if piece:
                self.position = piece.end()
                said = piece[piece.lastgroup or 0]
                pieces.append(_unescaped(said) if piece.lastgroup == "ansi" else "" if said == "\n" else said)
            elif character == '"':
                splits = splits or _ALL_AS_WORDS.match(self.text, self.position) is not None
                pieces.append(self._double_quoted())
            elif character in "$`" or self.text.startswith(("<(", ">("), self.position):
                splits = splits or not self.text.startswith(("$(", "`", "<", ">"), self.position)
                pieces.append(self._expansion())
            else:
                break
        word = "".join(pieces)
        if splits and "$(" not in word and "`" not in word:
            return word.split()
        if _BRACES.search(_QUOTED.sub("", self.text[start : self.position])):
            return _expanded(word)
        return [word]

    def _repeats(self) -> bool:
        """Say whether the operator here is one half of `||` or `&&`."""
        character = self.text[self.position]
        return character in (
            self.text[self.position + 1 : self.position + 2],
            self.text[self.position - 1 : self.position],
        )

    def _double_quoted(self) -> str:
        pieces: list[str] = []
        self.position += 1
        while self.position < len(self.text) and self.text[self.position] != '"':
            plain = _IN_DOUBLE_QUOTES.match(self.text, self.position)
            if plain:
                self.position = plain.end()
                pieces.append(plain[0] if plain[1] is None else plain[1].strip("\n"))
            else:
                pieces.append(self._expansion())
        self.position += 1
        return "".join(pieces)

    def _expansion(self) -> str:
        """Read a variable, or a command whose output would come here; that command is noted as one of the text."""
        start = self.position
        if self.text[start] == "`":
            end = self.text.find("`", start + 1)
            end = len(self.text) if end < 0 else end
            self._inside(self.text[start + 1 : end].replace("\\`", "`"))
            self.position = end + 1
        elif self.text[start + 1 : start + 2] == "(":
            end = _closing(self.text, start + 1)
            self._inside(self.text[start + 2 : end])
            self.position = end + 1
        elif found := _VARIABLE.match(self.text, start):
            self.position = found.end()
            braced = _BRACED.match(found["braced"] or "")
            name, default = braced.groups() if braced else (found["name"], None)
            value = self.shell.variables.get(name or "")
            value = default if default is not None and not value else value
            if value is not None and len(value) <= _LONGEST_VALUE:
                return value
        return self.text[start : self.position]

    def _inside(self, text: str, *, notes: bool = True) -> list[Command]:
        """Read a text as a subshell; its commands are noted, unless they are no commands but values."""
        found = _read(text, self.shell.forked({}), self.depth + 1, self.work)
        if notes:
            self.inner += found
        return found


def _expanded(word: str) -> list[str]:
    """Return what a word with braces says: `{a,b}.md` is `a.md` and `b.md`."""
    words = [word]
    while len(words) < _MOST_ROUNDS and (found := _BRACES.search(words[0])):
        start, end = found.span()
        first, *rest = words
        words = rest + [first[:start] + one + first[end:] for one in found[1].split(",")]
    return words


def _closing(text: str, start: int) -> int:
    """Return where the parenthesis at `start` is closed; the end of the text where it is not."""
    depth = 0
    position = start
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif character in "'\"":
            end = position + 1
            while end < len(text) and text[end] != character:
                end += 2 if text[end] == "\\" and character == '"' else 1
            position = end
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if not depth:
                return position
        position += 1
    return len(text)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text)
