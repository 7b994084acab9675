"""A shell command as far as its text tells: which programs it calls with which words, in which folder, and as whom.

No shell runs. Braces, loops, variables and what `echo` or `find` would print become words, as far as the text tells
them. What it does not tell (an argument, what `read` brings, a variable that is set elsewhere) may be any path into
memory that it names; what only a shell could know stays as it was written. Broken text is read as far as it goes.

The library for it would be tree-sitter or bashlex. To load one takes three or twelve times as long as Python itself.
"""

import posixpath

from .programs import SHELLS, Command, given_to_a_shell, printed, unwrap
from .words import guarded, is_guarded, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_DEEPEST = 12
_MOST_VALUES = 20
_MOST_NESTED = 1 << 20
_LONGEST = 1 << 12  # of a value and of a path
_MOST_OF_FILE = 1 << 16
_BLANK = " \t\r"
_OPERATORS = ";|&()\n"
_BEFORE_A_NAME = dict.fromkeys(map(ord, ";|&(){}"), " ")
_ENDS = _BLANK + _OPERATORS + "<>"
_REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "&>>", "&>|", "&>", ">>", ">|", ">&", "<", ">")
_BEFORE_A_COMMAND = frozenset(["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "coproc"])
_SETTERS = frozenset(["export", "declare", "local", "readonly", "typeset"])
_BRINGERS = frozenset(["for", "select", "read", "mapfile", "readarray"])
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
    text = text.replace(" *", " .*") if "dotglob" in text else text
    reader = _Reader(text, {**(environ or {}), "PWD": folder, "OLDPWD": folder})
    found = list(reader.read())
    if reader.told_later:  # a loop's `done < …` comes behind what it does
        again = _Reader(text, reader.variables)
        again.anything = _either([*guarded(again.anything), *reader.told_later])
        found += again.read()
    return found


class _Reader:
    """Reads a text from its left to its right.

    Attributes:
        variables: what its shell knows, with the folder it is in.
        whole: the reader of the text that this one is a part of. It knows how much may still be read, which files
            the text has written, `anything`: every path that it names and that may be guarded, and which variables
            are `set_somewhere` in such a text.
    """

    def __init__(self, text: str, variables: dict[str, str], whole: "_Reader | None" = None, depth: int = 0) -> None:
        self.text = text
        self.variables = variables
        self.whole = whole or self
        self.depth = depth
        self.position = 0
        self.inner: list[Command] = []
        self.behind = 0  # where the here-documents of this line end
        if not whole:
            self.left = len(text) + _MOST_NESTED
            self.files: dict[str, str] = {}
            self.told_later: list[str] = []
            self.anything = _either(guarded(_without_passed_over(text))[-_MOST_VALUES:])
            pieces = text.translate(_BEFORE_A_NAME).split("=") if self.anything else []
            self.set_somewhere = {piece.split()[-1] for piece in pieces if piece.strip()}

    def read(self, end: str = "", piped: str | None = None) -> "Iterator[Command]":
        """Yield the commands up to the parenthesis that ends them, or to the end of the text."""
        command, told = Command(piped), piped
        while (character := self._at()) and character != end:
            two = self._at(2)
            if character in _BLANK or two == "\\\n":
                self.position += len(two) if character == "\\" else 1
            elif character == "#":
                self._up_to("\n")
            elif self._redirect(command):
                pass
            elif character in _OPERATORS:
                self.position += 2 if two in ("||", "&&") else 1
                if character == "\n" and self.behind:
                    self.position, self.behind = self.behind, 0
                yield from self._finished(command)
                if character == "(":
                    yield from self._inside(self.position, command.piped)
                command = Command(printed(command) if character == "|" != two[1:] else told)
            else:
                self._take(command)
        yield from self._finished(command)

    def _inside(self, start: int, piped: str | None = None) -> list[Command]:
        """Read what is in a parenthesis, whose variables are forgotten outside of it. What is too deep is left."""
        self.whole.left -= len(self.variables)
        if self.depth >= _DEEPEST or self.whole.left < 0:
            return []
        kept = self.variables, self.inner, self.depth
        self.variables, self.inner, self.depth, self.position = dict(self.variables), [], self.depth + 1, start
        found = list(self.read(")", piped))
        self.variables, self.inner, self.depth = kept
        self.position += 1
        return found

    def _nested(self, text: str, variables: dict[str, str]) -> list[Command]:
        """Read a text in this one. What is too deep or too much is left."""
        self.whole.left -= len(text) + len(variables)
        if self.depth >= _DEEPEST or self.whole.left < 0:
            return []
        return list(_Reader(text, dict(variables), self.whole, self.depth + 1).read())

    def _at(self, length: int = 1) -> str:
        return self.text[self.position : self.position + length]

    def _up_to(self, end: str) -> str:
        """Return the text up to an end, or all that is left, and go there."""
        start, found = self.position, self.text.find(end, self.position)
        self.position = len(self.text) if found < 0 else found
        return self.text[start : self.position]

    def _take(self, command: Command) -> None:
        """Read a word and add it to a command."""
        words = self._words(command)
        name, equals, value = words[0].partition("=") if words else ("", "", "")
        before = self.variables.get(name[:-1], "") if name.endswith("+") else ""
        name = name.removesuffix("+")
        if (not command.words or command.name in _SETTERS) and equals and name.isidentifier() and name.isascii():
            ones = [before + value, *(word.removeprefix(f"{name}=") for word in words[1:])]
            if not value and self._at() == "(":
                listed = self._inside(self.position + 1)
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
        self._use_files(command)
        unwrap(command)
        command.agent = command.sets.get("AMP_AGENT", self.variables.get("AMP_AGENT")) or None
        yield command
        text = given_to_a_shell(command)
        if text:
            variables = self.variables
            if command.name in SHELLS:
                variables = {**variables, **command.sets, **self._arguments(command), "PWD": command.folder}
            yield from self._nested(text, variables)
        self._learn(command)

    def _use_files(self, command: Command) -> None:
        """Feed a command the files of this text that it names, or `make` its makefile, and note what it writes."""
        files = self.whole.files
        for word in {posixpath.basename(word).lower(): None for word in command.words} if files else ():
            own = "package.json" if word in ("npm", "pnpm", "yarn", "bun") else f"{word}file"
            command.feed += (files.get(word, "") + files.get(own, ""))[:_MOST_OF_FILE]
        for path, appends in command.writes:
            file = posixpath.basename(path).lower()
            files[file] = ((files.get(file, "") if appends else "") + printed(command))[:_MOST_OF_FILE]

    def _anything(self, more: "Iterable[str]") -> str:
        """Return every path into memory that the text names, or else that is among more words."""
        return self.whole.anything or _either([path for word in more for path in guarded(word)])

    def _arguments(self, command: Command) -> dict[str, str]:
        """Return `$0`, `$1`, `$@` and so on, each of which may be any path that the text names."""
        value = self._anything(command.words)
        return dict.fromkeys("0123456789@*", value) if value else {}

    def _learn(self, command: Command) -> None:
        """Do what a command does to its shell: variables, loops, folders."""
        name, words = command.name, command.words[1:]
        if name in _SETTERS:
            self.variables.update(command.sets)
        elif name == "unset":
            self.variables.update(dict.fromkeys(words, ""))
        elif name == "set" and "--" in words:
            self.variables.update(self._arguments(command))
        elif name in ("for", "select") and words[2:]:
            self.variables[words[0]] = _either(words[2:])
        elif name in _BRINGERS or (name == "printf" and words[:1] == ["-v"]):
            told = (
                _either(guarded(command.feed)) if command.feed else self.whole.anything or self.variables.get("@", "")
            )
            self.variables.update({one: told or f"${one}" for one in plain(words) or ["REPLY"]})
        elif name == "done":
            self.whole.told_later += guarded(command.feed)
        elif name in ("cd", "pushd", "popd"):
            here, to = self.variables["PWD"], next((one for one in words if one == "-" or one[:1] != "-"), "~")
            to = self.variables["OLDPWD"] if to == "-" or name == "popd" else to
            places = {**self.variables, **command.sets}.get("CDPATH", "").split(":")
            to = posixpath.join(next(filter(is_guarded, places), ""), to) if to[:1] not in "./" else to
            to = to if to.startswith("~") else posixpath.normpath(posixpath.join(here, to))
            self.variables.update({"PWD": to, "OLDPWD": here} if len(to) < _LONGEST else {})

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
        targets = self._words(command)
        if operator in ("<<", "<<-"):
            command.feed += "".join(self._here_document(" ".join(targets)))
        elif operator == "<<<":
            command.feed += " ".join(targets) + "\n"
        elif operator == "<":
            command.feed += "".join(self.whole.files.get(posixpath.basename(target).lower(), "") for target in targets)
        elif ">" in operator and (operator != ">&" or "".join(targets).strip("0123456789-")):
            command.writes += [(target, operator.endswith(">>")) for target in targets]
        return True

    def _here_document(self, end: str) -> "Iterator[str]":
        """Yield the lines of the here-document that a line announces, which is behind that line."""
        here = self.position
        self.position = self.behind or here + len(self._up_to("\n"))
        while self._at():
            self.position += 1
            line = self._up_to("\n")
            if line.lstrip("\t") == end:
                break
            yield line + "\n"
        self.position, self.behind = here, self.position

    def _words(self, command: Command) -> list[str]:
        """Read the word that begins here, without its quotes: several where a variable or braces make them so."""
        pieces: list[str] = []
        quote, may_vanish, is_escaped = "", False, False
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
                is_escaped = True
            elif not quote and character in "'\"":
                quote = character
            elif character == "\\":
                self.position += 1
                pieces.append(two if quote and two[1:] not in ("$", "`", '"', "\\", "\n") else two[1:].strip("\n"))
            elif character in "$`" or is_command:
                pieces.append(self._expansion(character, command, splits=not quote))
                may_vanish = may_vanish or not quote
            else:
                pieces.append(character if quote else _MARKS.get(character, character))
        words = [_unescaped(one) if is_escaped else one for one in _alternatives("".join(pieces))]
        return [word for word in words if word] if may_vanish else words

    def _expansion(self, character: str, command: Command, *, splits: bool) -> str:
        """Read a variable, or a command whose output comes here, as far as it is known; else its text stays."""
        start = self.position - 1
        value = None
        if character == "`" or self._at() == "(":
            if character == "`":
                found = self._nested(self._up_to("`").replace("\\`", "`"), self.variables)
                self.position += 1
            else:
                found = self._inside(self.position + 1)
            self.inner += found
            said = printed(found[-1]) if found else ""
            if character in "<>":
                command.feed += said if character == "<" else ""
            elif is_guarded(said):
                value = _either(said.split()) if splits else " ".join(said.split())
        else:
            inside = ""
            if self._at() == "{":
                inside = self._up_to("}")[1:].lstrip("#")
                self.position += 1
            name = _name(inside or self._at(_LONGEST))
            self.position += 0 if inside else len(name)
            value, default = self.variables.get(name), inside[len(name) :].removeprefix(":")
            if value and default[:1] == "/":
                old, _, new = default.strip("/").partition("/")
                value = value.replace(old, new)
            if inside.startswith("!") or (value is None and name in self.whole.set_somewhere):
                value = self.whole.anything or None
            elif not value and default[:1] in ("-", "="):
                value = default[1:]
                self.variables.update({name: value} if default[0] == "=" else {})
        if value is None or len(value) > _LONGEST:
            return self.text[start : self.position]
        return _either(value.split()) if splits and _OPEN not in value else value


def _without_passed_over(text: str) -> str:
    """Return a text without the paths that a search is told to pass over."""
    if "-path" not in text and "--exclude" not in text:
        return text
    import re

    return re.sub(r"(?:-not|!) +-i?path +\S+|-path +\S+ +-prune|--exclude\S*[ =]\S+", "", text)


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


def _unescaped(word: str) -> str:
    """Return a word with what a backslash says in `$'…'`, which is what it says in Python."""
    try:
        return word.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except (ValueError, Warning):  # `\e`, which Python does not know
        return word


def _name(text: str) -> str:
    """Return the name of a variable that a text begins with, which may be one digit, `@` or `*`."""
    if text[:1].isdigit() or text[:1] in ("@", "*"):
        return text[0]
    return text[: next((index for index, one in enumerate(text) if not (one.isalnum() or one == "_")), len(text))]
