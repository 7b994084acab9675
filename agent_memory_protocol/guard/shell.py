"""A shell command as far as its text tells: which programs it calls with which words, what it writes to, what it feeds.

No shell is run and nothing is expanded but variables that the text itself sets. What only a shell could know, such as
the output of `$(…)`, stands in the words as it was written. Text that no shell would take is read as far as it goes.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Scope = tuple[object, ...]

_DEEPEST = 12
_MOST_ROUNDS = 20
_MOST_REREAD = 1 << 20
_LONGEST_VALUE = 1 << 12
_BLANK = " \t\r"
_OPERATORS = ";|&()\n"
_BEFORE_A_COMMAND = frozenset(["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "coproc"])
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a"}


class Command:
    """One command of a text.

    Attributes:
        words: the program and its arguments, without quotes.
        sets: the variables set for it alone, `NAME=value` in front of it.
        writes: the files that its output is redirected to, each with whether it is appended.
        feed: what it is given on stdin by the text itself, in here-documents and here-strings.
        piped: the command whose output it is given on stdin.
        scope: the subshells it runs in, the outermost first: what it changes is forgotten outside of the last.
    """

    __slots__ = ("feed", "piped", "scope", "sets", "words", "writes")

    def __init__(self, scope: "Scope" = (), piped: "Command | None" = None) -> None:
        self.scope = scope
        self.piped = piped
        self.words: list[str] = []
        self.sets: dict[str, str] = {}
        self.writes: list[tuple[str, bool]] = []
        self.feed = ""

    def __repr__(self) -> str:
        return f"Command({self.words}, sets={self.sets}, writes={self.writes}, feed={self.feed!r})"


class Scoped:
    """A value that a subshell begins with as it is outside, and changes for itself alone."""

    __slots__ = ("_values",)

    def __init__(self, value: object) -> None:
        self._values: dict[Scope, object] = {(): value}

    def at(self, scope: "Scope") -> "Any":
        """Return what it is there now."""
        return next(self._values[scope[:size]] for size in range(len(scope), -1, -1) if scope[:size] in self._values)

    def put(self, scope: "Scope", value: object) -> None:
        """Change it there."""
        self._values[scope] = value


class _Work:
    """How much text may still be read: loops inside of loops have it read as often as the product of their values."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left

    def allows(self, text: str) -> bool:
        self.left -= len(text)
        return self.left >= 0


def read_commands(text: str, scope: "Scope" = ()) -> list[Command]:
    """Return the commands of a text in their order, those inside `$(…)`, backticks and subshells included.

    Args:
        text: what a shell would be given. What is nested very deep in it, or would be read again very often, is passed
            over.
        scope: the subshells that this shell itself runs in.
    """
    return _read(text, {}, scope, 0, _Work(len(text) + _MOST_REREAD))


def _read(text: str, variables: dict[str, str], scope: "Scope", depth: int, work: _Work) -> list[Command]:
    if depth > _DEEPEST or not work.allows(text):
        return []
    reader = _Reader(text, variables, scope, depth, work)
    found = list(reader.commands())
    # What a loop does, it does for each of its values: the text is read once more for each of them.
    for name, values in reader.loops.items():
        for value in values[1:_MOST_ROUNDS]:
            if work.allows(text):
                found += _Reader(text, dict(variables), scope, depth, work, {name: value}).commands()
    return found


class _Reader:
    """Reads a text from its left to its right, once. `variables` is what is known; what the text sets is added."""

    def __init__(
        self,
        text: str,
        variables: dict[str, str],
        scope: "Scope",
        depth: int,
        work: _Work,
        in_loop: "dict[str, str] | None" = None,
    ) -> None:
        self.text = text
        self.variables = variables
        self.scope = scope
        self.outside: list[Scope] = []
        self.depth = depth
        self.work = work
        self.in_loop = in_loop or {}
        self.loops: dict[str, list[str]] = {}
        self.position = 0
        self.inner: list[Command] = []
        self.awaiting: list[tuple[Command, str]] = []

    def commands(self) -> "Iterator[Command]":
        command = Command(self.scope)
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
                    self.outside.append(self.scope)
                    self.scope = (*self.scope, object())
                elif character == ")" and self.outside:
                    self.scope = self.outside.pop()
                command = Command(self.scope, command if is_pipe else None)
            else:
                self._take(command, self._word())
        self._here_documents()
        yield from self._finished(command)

    def _take(self, command: Command, word: str) -> None:
        name, equals, value = word.partition("=")
        if not command.words and equals and name.isidentifier() and name.isascii():
            command.sets[name] = value
        elif word == "{" and command.words[:1] == ["function"]:
            command.words.clear()
        elif command.words or word not in _BEFORE_A_COMMAND:
            command.words.append(word)

    def _finished(self, command: Command) -> "Iterator[Command]":
        yield from self.inner
        self.inner = []
        if command.words[:1] in (["export"], ["declare"], ["local"], ["readonly"], ["typeset"]):
            for word in command.words[1:]:
                name, equals, value = word.partition("=")
                if equals:
                    self.variables[name] = value
        elif command.words[:1] == ["for"] and command.words[2:3] == ["in"] and command.words[3:]:
            name, values = command.words[1], command.words[3:]
            self.loops[name] = values
            self.variables[name] = self.in_loop.get(name, values[0])
        elif not command.words:
            self.variables.update(command.sets)
        if command.words or command.writes:
            yield command

    def _redirect(self, command: Command) -> bool:
        """Read a redirection that stands here; False where there is none."""
        start = self.position
        end = start
        while end < len(self.text) and self.text[end].isdigit():
            end += 1
        if end == start and self.text[start] == "&":
            end += 1
        rest = self.text[end : end + 3]
        if rest[:1] not in ("<", ">") or rest[:2] in ("<(", ">("):
            return False
        operator = next(
            one for one in ("<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">") if rest.startswith(one)
        )
        self.position = end + len(operator)
        self._skip_blanks()
        if operator in ("<<", "<<-"):
            self.awaiting.append((command, self._word()))
            return True
        target = self._word()
        if operator == "<<<":
            command.feed += target + "\n"
        elif operator in (">", ">>", ">|", "<>") or (operator == ">&" and target.strip("0123456789-")):
            command.writes.append((target, operator == ">>"))
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

    def _skip_blanks(self) -> None:
        while self.position < len(self.text) and self.text[self.position] in _BLANK:
            self.position += 1

    def _word(self) -> str:
        """Read the word that begins here, without its quotes."""
        pieces: list[str] = []
        while self.position < len(self.text):
            character = self.text[self.position]
            if character in _BLANK or character in _OPERATORS or (character in "<>" and not self._is_process()):
                break
            if character == "\\":
                escaped = self.text[self.position + 1 : self.position + 2]
                pieces.append("" if escaped == "\n" else escaped)
                self.position += 2
            elif character == "'":
                pieces.append(self._until("'"))
            elif character == '"':
                pieces.append(self._double_quoted())
            elif character == "$" and self.text[self.position + 1 : self.position + 2] == "'":
                self.position += 1
                pieces.append(_unescaped(self._until("'")))
            elif character in "$`<>":
                pieces.append(self._expansion())
            else:
                pieces.append(character)
                self.position += 1
        return "".join(pieces)

    def _repeats(self) -> bool:
        """Say whether the operator here is one half of `||` or `&&`."""
        character = self.text[self.position]
        return character in (
            self.text[self.position + 1 : self.position + 2],
            self.text[self.position - 1 : self.position],
        )

    def _is_process(self) -> bool:
        return self.text[self.position + 1 : self.position + 2] == "("

    def _until(self, quote: str) -> str:
        """Read what stands between two equal quotes, the first of which stands here."""
        end = self.text.find(quote, self.position + 1)
        end = len(self.text) if end < 0 else end
        inside = self.text[self.position + 1 : end]
        self.position = end + 1
        return inside

    def _double_quoted(self) -> str:
        pieces: list[str] = []
        self.position += 1
        while self.position < len(self.text) and self.text[self.position] != '"':
            character = self.text[self.position]
            following = self.text[self.position + 1 : self.position + 2]
            if character == "\\" and following in ("$", "`", '"', "\\", "\n"):
                pieces.append("" if following == "\n" else following)
                self.position += 2
            elif character in "$`":
                pieces.append(self._expansion())
            else:
                pieces.append(character)
                self.position += 1
        self.position += 1
        return "".join(pieces)

    def _expansion(self) -> str:
        """Read a variable, or a command whose output would stand here; that command is noted as one of the text."""
        start = self.position
        if self.text[start] == "`":
            inside = self._until("`").replace("\\`", "`")
            self._read_inside(inside)
            return self.text[start : self.position]
        if self.text[start + 1 : start + 2] == "(":
            end = _closing(self.text, start + 1)
            self._read_inside(self.text[start + 2 : end])
            self.position = end + 1
            return self.text[start : self.position]
        self.position += 1
        if self.text[start + 1 : start + 2] == "{":
            end = self.text.find("}", start)
            end = len(self.text) if end < 0 else end
            self.position = end + 1
            name = self.text[start + 2 : end]
        else:
            end = self.position
            while end < len(self.text) and (self.text[end].isalnum() or self.text[end] == "_"):
                end += 1
            name = self.text[self.position : end]
            self.position = end
        value = self.variables.get(name)
        return self.text[start : self.position] if value is None or len(value) > _LONGEST_VALUE else value

    def _read_inside(self, text: str) -> None:
        self.inner += _read(text, self.variables, (*self.scope, object()), self.depth + 1, self.work)


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
    pieces = []
    position = 0
    while position < len(text):
        if text[position] == "\\" and position + 1 < len(text):
            position += 1
            pieces.append(_ESCAPED.get(text[position], text[position]))
        else:
            pieces.append(text[position])
        position += 1
    return "".join(pieces)
