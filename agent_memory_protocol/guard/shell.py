"""A shell command as far as its text tells: which programs it calls with which words, in which folder, and as whom.

No shell runs. Braces, loops, variables and what `echo` or `find` would print become words, as far as the text tells
them; what a loop or an argument brings may be any path into memory that the text names; what only a shell could know
stays as it was written. Text that no shell would take is read as far as it goes.

The library for it would be tree-sitter or bashlex. To load one takes three or twelve times as long as Python itself.
"""

from .programs import SHELLS, Command, given_to_a_shell, interpreter, joined, output, printed, stdin, unwrap
from .words import is_guarded, named, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEPEST = 12
_MOST_VALUES = 20
_MOST_NESTED = 1 << 20
_LONGEST = 1 << 12  # of a value and of a path
_MOST_OF_FILE = 1 << 16
_BLANK = " \t\r"
_OPERATORS = ";|&()\n"
_ENDS = _BLANK + _OPERATORS + "<>"
_REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "&>>", "&>|", "&>", ">>", ">|", ">&", "<", ">")
_BEFORE_A_COMMAND = frozenset(["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "coproc"])
_SETTERS = frozenset(["export", "declare", "local", "readonly", "typeset"])
# While a word is read, these mean braces that a shell expands: a value that may be one of several is written
# so, too. No text of a shell has them: they cannot be encoded.
_OPEN, _COMMA, _CLOSE = "\ud801\ud802\ud803"
_MARKS = {"{": _OPEN, ",": _COMMA, "}": _CLOSE}
_UNMARKED = str.maketrans(_OPEN + _COMMA + _CLOSE, "{,}")


def read_commands(text: str, environ: "Mapping[str, str] | None" = None, folder: str = "") -> list[Command]:
    """Return the commands of a text in their order.

    Those inside `$(…)`, backticks and subshells are included, and those that it gives to another shell, to `xargs` or
    to `find`. What is nested very deep in it, or would be read again very often, is passed over.
    """
    return _Reader(text, {**(environ or {}), "PWD": folder, "OLDPWD": folder}, _Call(text), 0).read()


class _Call:
    """What is common to all readers of a call: how much they may still read, and the files that its text has written.

    `anything` is every path that the text names and that may be guarded.
    """

    def __init__(self, text: str) -> None:
        self.left = len(text) + _MOST_NESTED
        self.files: dict[str, str] = {}
        self.anything = _either(list(filter(is_guarded, named([text])))[-_MOST_VALUES:])


class _Reader:
    """Reads a text from its left to its right, up to its end or that of the `$(…)` that it begins in.

    `variables` are what its shell knows, with the folder it is in.
    """

    def __init__(self, text: str, variables: dict[str, str], call: _Call, depth: int, start: int = 0) -> None:
        self.text = text
        self.variables = variables
        self.call = call
        self.outside: list[dict[str, str]] = []
        self.depth = depth
        self.start = self.position = start
        self.inner: list[Command] = []
        self.awaiting: list[tuple[Command, str]] = []

    def read(self) -> list[Command]:
        """Return the commands."""
        found = list(self._commands())
        self.call.left -= self.position - self.start
        return found

    def _commands(self) -> "Iterator[Command]":
        command = Command()
        while (character := self._at()) and not (character == ")" and self.start and not self.outside):
            two = self._at(2)
            if character in _BLANK or two == "\\\n":
                self.position += len(two) if character == "\\" else 1
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

    def _nested(self, text: str, variables: dict[str, str], start: int = 0) -> list[Command]:
        """Read a text in this one, or go on behind a parenthesis of this one. What is too deep or too much is left."""
        if self.depth >= _DEEPEST or self.call.left < 0:
            return []
        reader = _Reader(text, variables, self.call, self.depth + 1, start)
        found = reader.read()
        self.position = reader.position + 1 if start else self.position
        return found

    def _forked(self) -> dict[str, str]:
        """Return the variables for a subshell, whose changes are forgotten outside of it."""
        self.call.left -= len(self.variables)
        return dict(self.variables) if self.call.left >= 0 else self.variables

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
        before = self.variables.get(name[:-1], "") if name.endswith("+") else ""
        name = name.removesuffix("+")
        if (not command.words or command.name in _SETTERS) and equals and name.isidentifier() and name.isascii():
            ones = [before + value, *(word.removeprefix(f"{name}=") for word in words[1:])]
            if not value and self._at() == "(":
                listed = self._nested(self.text, self._forked(), self.position + 1)
                ones = [word.rpartition("]=")[2] for one in listed for word in one.words]
            command.sets[name] = _either(ones)
            command.words += [f"{name}={command.sets[name].translate(_UNMARKED)}"] if command.words else []
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
        self._use_files(command)
        yield command
        text = given_to_a_shell(command)
        if text:
            variables = self.variables
            if command.name in SHELLS:
                variables = {**variables, **command.sets, **self._arguments(), "PWD": command.folder}
            yield from self._nested(text, variables)
        self._learn(command)

    def _use_files(self, command: Command) -> None:
        """Feed a command the files that it runs and this text has written, and note those that it writes."""
        files = self.call.files
        if files:
            runs = command.name in (*SHELLS, "make", "cat") or interpreter(command.name) is not None
            named_here = [*command.reads, command.words[0], *(plain(command.words[1:]) if runs else ())]
            paths = {joined(command.folder, path): None for path in (*named_here, "Makefile"[: 8 * runs])}
            command.feed += "".join(files.get(path, "") for path in paths)[:_MOST_OF_FILE]
        for path, appends in command.writes if printed(command) else []:
            file = joined(command.folder, path)
            files[file] = ((files.get(file, "") if appends else "") + printed(command))[:_MOST_OF_FILE]

    def _arguments(self) -> dict[str, str]:
        """Return `$0`, `$1`, `$@` and so on, each of which may be any path that the text names."""
        return dict.fromkeys("0123456789@*", self.call.anything) if self.call.anything else {}

    def _learn(self, command: Command) -> None:
        """Do what a command does to its shell: variables, loops, folders."""
        name, words = command.name, command.words[1:]
        if name in _SETTERS:
            self.variables.update(command.sets)
        elif name == "unset":
            self.variables.update(dict.fromkeys(words, ""))
        elif name == "set" and "--" in words:
            self.variables.update(self._arguments())
        elif name in ("for", "select") and words[2:]:
            self.variables[words[0]] = _either(words[2:])
        elif name in ("for", "read", "mapfile", "readarray") or (name == "printf" and words[:1] == ["-v"]):
            told = self.call.anything or _either(list(filter(is_guarded, stdin(command).split())))
            self.variables.update({one: told or f"${one}" for one in plain(words) or ["REPLY"]})
        elif name in ("cd", "pushd", "popd"):
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
        elif operator == "<":
            command.reads += targets
        elif ">" in operator and (operator != ">&" or "".join(targets).strip("0123456789-")):
            command.writes += [(target, operator.endswith(">>")) for target in targets]
        return True

    def _here_documents(self) -> None:
        """Take the here-documents that were announced on the line just read."""
        for command, end in self.awaiting:
            while self._at():
                line = self._up_to("\n")
                self.position += 1
                if line.lstrip("\t") == end:
                    break
                command.feed += line + "\n"
        self.awaiting = []

    def _words(self) -> list[str]:
        """Read the word that begins here, without its quotes: several where a variable or braces make them so."""
        pieces: list[str] = []
        quote, may_vanish = "", False
        while character := self._at():
            two = self._at(2)
            is_command = two == "$(" or (not quote and two in ("<(", ">("))
            if not quote and character in _ENDS and not is_command:
                break
            self.position += 1
            if character == quote:
                quote = ""
            elif quote == "'":
                pieces.append(character)
            elif not quote and two == "$'":
                pieces.append(self._escapes())
            elif not quote and character in "'\"":
                quote = character
            elif character == "\\":
                self.position += 1
                pieces.append(two if quote and two[1:] not in ("$", "`", '"', "\\", "\n") else two[1:].strip("\n"))
            elif character in "$`" or is_command:
                pieces.append(self._expansion(character, splits=not quote))
                may_vanish = may_vanish or not quote
            else:
                pieces.append(character if quote else _MARKS.get(character, character))
        words = _alternatives("".join(pieces))
        return [word for word in words if word] if may_vanish else words

    def _escapes(self) -> str:
        """Read the rest of `$'…'`, in which a backslash says what it says in Python."""
        start = self.position = self.position + 1
        while self._at() not in ("", "'"):
            self.position += 2 if self._at() == "\\" else 1
        text = self.text[start : self.position]
        self.position += 1
        try:
            return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
        except (ValueError, Warning):  # `\e`, which Python does not know
            return text

    def _expansion(self, character: str, *, splits: bool) -> str:
        """Read a variable, or a command whose output comes here, as far as it is known; else its text stays."""
        start = self.position - 1
        value = None
        if character == "`" or self._at() == "(":
            if character == "`":
                found = self._nested(self._up_to("`").replace("\\`", "`"), self._forked())
                self.position += 1
            else:
                found = self._nested(self.text, self._forked(), self.position + 1)
            self.inner += found
            said = output(found[-1]).split() if found and character not in "<>" else []
            value = (_either(said) if splits else " ".join(said)) if any(map(is_guarded, said)) else None
        elif self._at() == "{":
            inside = self._up_to("}")[1:].lstrip("#")
            self.position += 1
            name = _name(inside)
            value, default = self.variables.get(name), inside[len(name) :].removeprefix(":")
            if inside.startswith("!"):
                value = self.call.anything or None
            elif not value and default[:1] in ("-", "="):
                value = default[1:]
        else:
            name = _name(self._at(_LONGEST))
            self.position += len(name)
            value = self.variables.get(name)
        if value is None or len(value) > _LONGEST:
            return self.text[start : self.position]
        return _either(value.split()) if splits and _OPEN not in value else value


def _either(values: list[str]) -> str:
    """Return one value that may be any of these: a word with it becomes several, as with braces."""
    if len(values) > _MOST_VALUES:
        values = [*filter(is_guarded, values), *values][:_MOST_VALUES]
    return _OPEN + _COMMA.join(values) + _CLOSE if values[1:] else "".join(values)


def _alternatives(word: str) -> list[str]:
    """Return what a word with braces says: `{a,b}.md` is `a.md` and `b.md`."""
    words = [word]
    while len(word) <= _LONGEST and len(words) < _MOST_VALUES and _CLOSE in words[0]:
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
