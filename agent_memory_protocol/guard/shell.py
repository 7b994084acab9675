"""A shell command as far as its text tells: which programs it calls with which words, in which folder, and as whom.

No shell runs and nothing is expanded but braces and the variables that the text itself or the environment sets. What
only a shell could know, such as the output of `$(…)`, stays in the words as it was written. Text that no shell would
take is read as far as it goes.
"""

from .code import plain
from .programs import SHELLS, Command, assigned, given_to_a_shell, joined, stdin, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEPEST = 12
_MOST_ROUNDS = 20
_MOST_REREAD = 1 << 20
_LONGEST = 1 << 12  # of a value and of a path
_LONGEST_NAME = 1 << 8
_BLANK = " \t\r"
_OPERATORS = ";|&()\n"
_ENDS = _BLANK + _OPERATORS + "<>"
_QUOTES = "'\""
_REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "&>>", "&>|", "&>", ">>", ">|", ">&", "<", ">")
_BEFORE_A_COMMAND = frozenset(["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "coproc"])
_SETTERS = frozenset(["export", "declare", "local", "readonly", "typeset"])
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a"}
# While a word is read, these stand for braces that a shell expands, and for a blank that parts words. No text of a
# shell has them: they cannot be encoded.
_OPEN, _COMMA, _CLOSE, _PART = "\ud801\ud802\ud803\ud804"
_MARKS = {"{": _OPEN, ",": _COMMA, "}": _CLOSE}
_UNMARKED = str.maketrans(_OPEN + _COMMA + _CLOSE, "{,}")


def read_commands(text: str, environ: "Mapping[str, str] | None" = None, folder: str = "") -> list[Command]:
    """Return the commands of a text in their order.

    Those inside `$(…)`, backticks and subshells are included, and those that it gives to another shell, to `xargs` or
    to `find`. What is nested very deep in it, or would be read again very often, is passed over.
    """
    variables = {**(environ or {}), "PWD": folder, "OLDPWD": folder}
    return _Reader(text, variables, 0, [len(text) + _MOST_REREAD]).read()


class _Reader:
    """Reads a text from its left to its right, up to its end or that of the `$(…)` that it begins in.

    `variables` are what its shell knows, with the folder it is in. `left` is how much may still be read, by all readers
    together: loops inside loops multiply it.
    """

    def __init__(self, text: str, variables: dict[str, str], depth: int, left: list[int], start: int = 0) -> None:
        self.text = text
        self.variables = variables
        self.outside: list[dict[str, str]] = []
        self.depth = depth
        self.left = left
        self.start = self.position = start
        self.in_loop: dict[str, str] = {}
        self.loops: dict[str, list[str]] = {}
        self.last_read = ""
        self.inner: list[Command] = []
        self.awaiting: list[tuple[Command, str]] = []

    def read(self) -> list[Command]:
        """Return the commands. What a loop does, it does for each value: the text is read again for each of them."""
        before = dict(self.variables)
        found = list(self._commands())
        size = self.position - self.start
        self.left[0] -= size
        for name, values in self.loops.items():
            for value in values[1:_MOST_ROUNDS]:
                self.left[0] -= size
                if self.left[0] >= 0:
                    again = _Reader(self.text, dict(before), self.depth, self.left, self.start)
                    again.in_loop = {name: value}
                    found += again._commands()
        return found

    def _commands(self) -> "Iterator[Command]":
        command = Command()
        while (character := self._at()) and not (character == ")" and self.start and not self.outside):
            two = self._at(2)
            if character in _BLANK or two == "\\\n":
                self.position += 1 if character in _BLANK else 2
            elif character == "#":
                self._up_to("\n")
            elif self._redirect(command):
                pass
            elif character in _OPERATORS:
                self.position += 2 if two in ("||", "&&") else 1
                if character == "\n":
                    self._here_documents()
                yield from self._finished(command)
                if character == "(":
                    self.outside.append(self.variables)
                    self.variables = self._forked()
                elif character == ")" and self.outside:
                    self.variables = self.outside.pop()
                command = Command(command if character == "|" and two != "||" else None)
            else:
                self._take(command)
        self._here_documents()
        yield from self._finished(command)

    def _nested(self, text: str, variables: dict[str, str], start: int = 0) -> "_Reader | None":
        """Return a reader of a text in this one; None where it is too deep, or too much was read."""
        may = self.depth < _DEEPEST and self.left[0] >= 0
        return _Reader(text, variables, self.depth + 1, self.left, start) if may else None

    def _forked(self) -> dict[str, str]:
        """Return the variables for a subshell, whose changes are forgotten outside of it."""
        self.left[0] -= len(self.variables)
        return dict(self.variables) if self.left[0] >= 0 else self.variables

    def _subshell(self) -> list[Command]:
        """Read what is in the parenthesis here, and go behind it; where it is too deep, it is read as a command."""
        reader = self._nested(self.text, self._forked(), self.position + 1)
        found = reader.read() if reader else []
        self.position = reader.position + 1 if reader else self.position
        return found

    def _at(self, length: int = 1) -> str:
        return self.text[self.position : self.position + length]

    def _up_to(self, end: str) -> str:
        """Return the text up to an end, or all that is left, and go there."""
        start, found = self.position, self.text.find(end, self.position)
        self.position = len(self.text) if found < 0 else found
        return self.text[start : self.position]

    def _take(self, command: Command) -> None:
        """Read a word and add it to a command."""
        words = self._words()
        name, equals, value = words[0].partition("=") if words else ("", "", "")
        if not command.words and equals and name.isidentifier() and name.isascii():
            if not value and self._at() == "(":
                value = _PART.join(word for one in self._subshell() for word in one.words)
            command.sets[name] = " ".join([value, *words[1:]])
        elif words == ["{"] and command.words[:1] == ["function"]:
            command.words.clear()
        elif command.words or len(words) != 1 or words[0] not in _BEFORE_A_COMMAND:
            command.words += words

    def _finished(self, command: Command) -> "Iterator[Command]":
        """Yield a command, and those in it and that it starts, and learn what it tells the shell."""
        yield from self.inner
        self.inner = []
        command.folder = self.variables["PWD"]
        if not command.words:
            self.variables.update(command.sets)
            if command.writes:
                yield command
            return
        unwrap(command)
        command.agent = command.sets.get("AMP_AGENT", self.variables.get("AMP_AGENT")) or None
        yield command
        text, arguments = given_to_a_shell(command)
        if text:
            variables = self.variables
            if command.name in SHELLS:
                variables = {**variables, **command.sets, **_positions(arguments), "PWD": command.folder}
            reader = self._nested(text, variables)
            yield from reader.read() if reader else ()
        self._learn(command)

    def _learn(self, command: Command) -> None:
        """Do what a command does to its shell: variables, loops, folders."""
        name, words = command.name, command.words[1:]
        if name in _SETTERS:
            self.variables.update(assigned(words))
        elif name == "unset":
            self.variables.update(dict.fromkeys(words, ""))
        elif name == "set" and "--" in words:
            self.variables.update(_positions(words[words.index("--") + 1 :]))
        elif name == "for" and words[1:2] == ["in"] and words[2:]:
            self._loop(words[0], words[2:])
        elif name in ("read", "mapfile", "readarray"):
            self.last_read = "".join(plain(words)[-1:]) or "REPLY"
            self._loop(self.last_read, stdin(command).split() or [f"${self.last_read}"])
        elif name == "done" and self.last_read:
            self.loops[self.last_read] = ["", *stdin(command).split()]
        elif name in ("cd", "pushd", "popd"):
            self._move(name, words)

    def _loop(self, name: str, values: list[str]) -> None:
        self.loops.setdefault(name, values)
        self.variables[name] = self.in_loop.get(name, values[0])

    def _move(self, name: str, words: list[str]) -> None:
        """Go where `cd`, `pushd` or `popd` goes."""
        here, kept = self.variables["PWD"], self.variables.get("DIRSTACK", "")
        to = next((word for word in words if word == "-" or not word.startswith("-")), "~")
        if name == "pushd":
            kept = f"{here}\n{kept}"
        elif name == "popd":
            to, _, kept = kept.partition("\n")
        to = self.variables["OLDPWD"] if to == "-" else joined(here, to)
        if len(to) < _LONGEST and len(kept) < _LONGEST:
            self.variables.update({"PWD": to, "OLDPWD": here, "DIRSTACK": kept})

    def _redirect(self, command: Command) -> bool:
        """Read a redirection that begins here; False where there is none."""
        start = self.position
        while self._at().isdigit():
            self.position += 1
        operator = next((one for one in _REDIRECTIONS if self.text.startswith(one, self.position)), "")
        self.position += len(operator)
        if not operator or (operator in "<>" and self._at() == "("):
            self.position = start
            return False
        while self._at() and self._at() in _BLANK:
            self.position += 1
        is_from_command = operator == "<" and self._at(2) == "<("
        targets = self._words()
        if is_from_command:
            command.piped = self.inner[-1] if self.inner else None
        elif operator in ("<<", "<<-"):
            self.awaiting.append((command, " ".join(targets)))
        elif operator == "<<<":
            command.feed += " ".join(targets) + "\n"
        elif ">" in operator and (operator != ">&" or "".join(targets).strip("0123456789-")):
            command.writes += [(target, operator.endswith(">>")) for target in targets]
        return True

    def _here_documents(self) -> None:
        """Take the here-documents that were announced on the line just read."""
        for command, end in self.awaiting:
            lines = []
            while self._at():
                line = self._up_to("\n")
                self.position += 1
                if line.lstrip("\t") == end:
                    break
                lines.append(line + "\n")
            command.feed += "".join(lines)
        self.awaiting = []

    def _words(self) -> list[str]:
        """Read the word that begins here, without its quotes: several where a variable or braces make them so."""
        pieces: list[str] = []
        quote, escapes, splits = "", False, False
        while character := self._at():
            two = self._at(2)
            is_command = two == "$(" or (not quote and two in ("<(", ">("))
            if not quote and character in _ENDS and not is_command:
                break
            self.position += 1
            if character == quote:
                quote = ""
            elif not quote and (character in _QUOTES or two == "$'"):
                quote, escapes = two[-1] if character == "$" else character, character == "$"
                self.position += character == "$"
            elif character == "\\" and (quote != "'" or escapes):
                self.position += 1
                pieces.append(_escaped(two, quote))
            elif quote == "'":
                pieces.append(character)
            elif character in "$`" or is_command:
                value = self._expansion(character)
                if not quote and character == "$" and not is_command:
                    splits = True
                    value = _PART.join(value.split())
                splits = splits or _PART in value
                pieces.append(value)
            else:
                pieces.append(character if quote else _MARKS.get(character, character))
        words = _alternatives("".join(pieces))
        return [one for word in words for one in word.split(_PART) if one] if splits else words

    def _expansion(self, character: str) -> str:
        """Read a variable, or a command whose output would come here; that command is noted as one of the text."""
        start = self.position - 1
        value = None
        if character == "`":
            reader = self._nested(self._up_to("`").replace("\\`", "`"), self._forked())
            self.inner += reader.read() if reader else []
            self.position += 1
        elif self._at() == "(":
            self.inner += self._subshell()
        elif self._at() == "{":
            said = self._up_to("}")[1:].lstrip("!")
            self.position += 1
            name = _name(said)
            rest = said[len(name) :]
            rest = (rest.partition("]")[2] if rest.startswith("[") else rest).removeprefix(":")
            value = self.variables.get(name)
            value = rest[1:] if not value and rest[:1] in ("-", "=") else value
        else:
            name = _name(self._at(_LONGEST_NAME))
            self.position += len(name)
            value = self.variables.get(name)
        return value if value is not None and len(value) <= _LONGEST else self.text[start : self.position]


def _escaped(two: str, quote: str) -> str:
    """Return what a backslash and the character after it say."""
    if quote == "'":
        return _ESCAPED.get(two[1:], two[1:])
    return two if quote and two[1:] not in ("$", "`", '"', "\\", "\n") else two[1:].strip("\n")


def _alternatives(word: str) -> list[str]:
    """Return what a word with braces says: `{a,b}.md` is `a.md` and `b.md`."""
    words = [word]
    while len(word) <= _LONGEST and len(words) < _MOST_ROUNDS and _CLOSE in words[0]:
        before, _, after = words.pop(0).partition(_CLOSE)
        before, opened, inside = before.rpartition(_OPEN)
        ones = inside.split(_COMMA) if opened and _COMMA in inside else [(opened and "{") + inside + "}"]
        words += [before + one + after for one in ones]
    return [one.translate(_UNMARKED) for one in words]


def _name(text: str) -> str:
    """Return the name of a variable that a text begins with, which may be one digit, `@` or `*`."""
    if text[:1].isdigit() or text[:1] in ("@", "*"):
        return text[0]
    return text[: next((index for index, one in enumerate(text) if not (one.isalnum() or one == "_")), len(text))]


def _positions(words: list[str]) -> dict[str, str]:
    """Return the variables `$1`, `$2`, `$@` that a shell has for its arguments."""
    return {**{str(number): word for number, word in enumerate(words[:9], 1)}, **dict.fromkeys("@*", _PART.join(words))}
