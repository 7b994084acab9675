"""A shell command as far as its text tells: which programs it calls with which words, in which folder, and as whom.

No shell runs. Braces, loops, variables, arrays and what `echo`, `find` or a filter (`base64 -d`, `tr`) would print
become words, as far as the text tells them. What only a run could tell (an argument, what `read` brings, a variable
that is set elsewhere in the text) is `ANY` path into memory that the text names. Broken text is read as far as it goes.

The library for it would be tree-sitter or bashlex. To load one takes three or twelve times as long as Python itself.
"""

import posixpath

from .programs import SHELLS, Command, given_to_a_shell, is_search, printed, unwrap
from .texts import effort, expanded, formatted, unescaped
from .words import ANY, guarded, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DEEPEST = 12
_MOST_NESTED = 1 << 20
_LONGEST = 1 << 12  # of a value and of a path
_MOST_OF_FILE = 1 << 16
_MOST_VALUES = 100  # of an array
_BLANK = " \t\r"
_OPERATORS = ";|&()\n"
_ENDS = _BLANK + _OPERATORS + "<>"
_REDIRECTIONS = ("<<<", "<<-", "<<", "<>", "<&", "&>>", "&>|", "&>", ">>", ">|", ">&", "<", ">")
_BEFORE_A_COMMAND = frozenset(
    ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "time", "coproc", "function"]
)
_SETTERS = frozenset(["export", "declare", "local", "readonly", "typeset"])
_BRINGERS = frozenset(["for", "select", "read", "mapfile", "readarray"])
_SPLIT = "\ud801"  # where a value that is not quoted becomes another word; no text has it, as with `ANY`


def read_commands(text: str, environ: "Mapping[str, str] | None" = None, folder: str = "") -> list[Command]:
    """Return the commands of a text in their order.

    Those inside `$(…)`, backticks and subshells are included, and those that it gives to another shell, to `xargs` or
    to `find`. What is nested very deep in it, or would be read again very often, is passed over.
    """
    text = text.replace(" *", " .*") if "dotglob" in text else text
    return list(_Reader(text, {**(environ or {}), "PWD": folder, "OLDPWD": folder}).read())


class _Reader:
    """Reads a text from its left to its right.

    Attributes:
        variables: what its shell knows, with the folder it is in.
        whole: the reader of the text that this one is a part of. It knows how much may still be read, which files
            the text has written, its functions, and `around`: every path that it names and that may be guarded.
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
            self.functions: set[str] = set()
            self.around: list[str] = []

    def read(self, end: str = "", piped: str | None = None) -> "Iterator[Command]":
        """Yield the commands up to the parenthesis that ends them, or to the end of the text."""
        command = Command(piped, self.whole.around)
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
                self.whole.functions.update(command.words[-1:] if two == "()" else ())
                if character == "\n" and self.behind:
                    self.position, self.behind = self.behind, 0
                yield from self._finished(command)
                if character == "(":
                    yield from self._nested(self.text, self.variables, command.piped)
                command = Command(printed(command) if character == "|" != two[1:] else None, self.whole.around)
            else:
                self._take(command)
        yield from self._finished(command)

    def _nested(self, text: str, variables: dict[str, str], piped: str | None = None) -> list[Command]:
        """Read a text in this one, or what is in a parenthesis here; what either sets is forgotten outside of it.

        What is too deep or too much is left.
        """
        is_here = text is self.text
        self.whole.left -= len(variables) + (0 if is_here else len(text))
        if self.depth >= _DEEPEST or self.whole.left < 0:
            return []
        reader = _Reader(text, dict(variables), self.whole, self.depth + 1)
        reader.position = self.position if is_here else 0
        found = list(reader.read(")" if is_here else "", piped))
        self.position = reader.position + 1 if is_here else self.position
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
        words = self._words(command)
        name, equals, value = words[0].partition("=") if words else ("", "", "")
        before = self.variables.get(f"{name[:-1]}[@]", self.variables.get(name[:-1], "")) if name[-1:] == "+" else ""
        name = name.removesuffix("+")
        whole, bracket, _ = name.partition("[")
        is_name = whole.isidentifier() and name.isascii() and (not bracket or name[-1] == "]")
        if (not command.words or command.name in _SETTERS) and equals and is_name:
            command.sets[name] = before + " ".join([value, *words[1:]])
            if not value and self._at() == "(":
                listed = [*before.split(_SPLIT), *self._listed(command)] if before else self._listed(command)
                command.sets.update(_array(name, listed))
            command.words += [f"{name}={command.sets[name]}"] if command.words else []
        elif command.words or len(words) != 1 or words[0] not in _BEFORE_A_COMMAND:
            command.words += words

    def _listed(self, command: Command) -> list[str]:
        """Read the values of an array, up to the parenthesis behind them."""
        found = list[str]()
        while (character := self._at()) and character != ")":
            start = self.position
            words = self._words(command) if character != "(" else []
            found += words if self.position > start else []
            self.position += self.position == start
        self.position += 1
        return found

    def _finished(self, command: Command) -> "Iterator[Command]":
        """Yield a command, and those in it and that it starts, and learn what it tells the shell."""
        yield from self.inner
        self.inner = []
        command.folder = self.variables["PWD"]
        if command.words:
            self._use_files(command)
            unwrap(command)
            # What a function does to `ANY` of its arguments, its body tells.
            command.words[:0] = ["function"] if command.words and command.words[0] in self.whole.functions else []
        else:
            self.variables.update(command.sets)
        told = [printed(command)] if is_search(command) else [*command.words, *command.sets.values()]
        self.whole.around += [path for text in (*told, command.feed) for path in guarded(text) if path != ANY]
        if not command.words and not command.writes:
            return
        command.agent = command.sets.get("AMP_AGENT", self.variables.get("AMP_AGENT")) or None
        yield command
        text = given_to_a_shell(command)
        if text:
            inside = {**command.sets, "PWD": command.folder} if command.name in SHELLS else {}
            yield from self._nested(text, {**self.variables, **inside})
        self._learn(command)

    def _use_files(self, command: Command) -> None:
        """Feed a command the files of this text that it names, or `make` its makefile, and note what it writes."""
        files = self.whole.files
        for word in {posixpath.basename(word).lower(): None for word in command.words} if files else ():
            command.feed += (files.get(word, "") + files.get(f"{word}file", ""))[:_MOST_OF_FILE]
        for path, appends in command.writes:
            file = posixpath.basename(path).lower()
            files[file] = ((files.get(file, "") if appends else "") + printed(command))[:_MOST_OF_FILE]

    def _learn(self, command: Command) -> None:
        """Do what a command does to its shell: variables, loops, folders."""
        name, words = command.name, command.words[1:]
        if name in _SETTERS:
            self.variables.update(command.sets)
        elif name == "unset":
            self.variables.update(dict.fromkeys(words, ""))
        elif name in ("for", "select") and "in" in words:
            self.variables[words[0]] = _either(words[2:])
        elif name == "printf" and words[:1] == ["-v"]:
            self.variables["".join(words[1:2])] = formatted(words[2:])
        elif name == "set" and "--" in words:
            given = words[words.index("--") + 1 :]
            self.variables.update({str(index + 1): word for index, word in enumerate(given[:9])})
            self.variables.update(dict.fromkeys("@*", _SPLIT.join(given)))
        elif name == "read" and command.piped is None and command.feed.count("\n") == 1:
            names = plain(words) or ["REPLY"]
            given = command.feed.rstrip().split(maxsplit=len(names) - 1)
            self.variables.update(zip(names, [*given, *[""] * len(names)], strict=False))
        elif name in _BRINGERS:
            self.variables.update(dict.fromkeys(plain(words) or ["REPLY"], ANY))
        elif name in ("cd", "pushd", "popd"):
            here, to = self.variables["PWD"], next((one for one in words if one == "-" or one[:1] != "-"), "~")
            to = self.variables["OLDPWD"] if to == "-" or name == "popd" else to
            to = f"{ANY}/{to}" if "CDPATH=" in self.whole.text and to[:1] not in "./" else to
            to = to if to.startswith("~") else posixpath.normpath(posixpath.join(here, to))
            self.variables.update({"PWD": to, "OLDPWD": here} if len(to) < _LONGEST else {})

    def _redirect(self, command: Command) -> bool:
        """Read a redirection that begins here; False if nothing begins."""
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
        """Read the word that begins here, without its quotes: several where a variable makes them so."""
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
            elif not quote and character in "'\"":
                quote = character
            elif character == "\\":
                self.position += 1
                pieces.append(two if quote and two[1:] not in ("$", "`", '"', "\\", "\n") else two[1:].strip("\n"))
            elif two == "$'" and not quote:
                pieces.append(self._escaped())
            elif character in "$`" or is_command:
                pieces.append(self._expansion(character, command, " " if quote else _SPLIT))
                may_vanish = may_vanish or not quote
            else:
                pieces.append(character)
        words = "".join(pieces).split(_SPLIT)
        return [word for word in words if word] if may_vanish else words

    def _escaped(self) -> str:
        """Read what is quoted behind a dollar sign, as its escapes mean it."""
        start = self.position = self.position + 1
        while (character := self._at()) and character != "'":
            self.position += 2 if character == "\\" else 1
        self.position += 1
        return unescaped(self.text[start : self.position - 1])

    def _expansion(self, character: str, command: Command, blank: str) -> str:
        """Read a variable, or a command whose output comes here, as far as it is known; else its text stays."""
        start, value = self.position - 1, None
        if character == "`" or self._at() == "(":
            text = self._up_to("`").replace("\\`", "`") if character == "`" else self.text
            self.position += 1
            found = self._nested(text, self.variables)
            self.inner += found
            said = "".join(map(printed, found)) if all(one.name in ("echo", "printf") for one in found) else ""
            said = said or (printed(found[-1]) if found else "")
            command.feed += said if character == "<" else ""
            value = said.rstrip("\n") or None if character in "$`" else None
        elif self._at() == "{":
            value = self._parameter(self._braced())
        else:
            name = _name(self._at(_LONGEST))
            self.position += len(name)
            value = self._value(name)
        if value is None or len(value) > _LONGEST:
            return self.text[start : self.position]
        return value if blank == " " else blank.join(value.split())

    def _braced(self) -> str:
        """Read what is in the braces that begin here, with those in it."""
        start, depth = self.position + 1, 0
        while character := self._at():
            depth += (character == "{") - (character == "}")
            self.position += 2 if character == "\\" else 1
            if not depth:
                break
        return self.text[start : self.position - 1]

    def _value(self, name: str) -> str | None:
        """Return the value of a variable: `ANY` where the text sets it elsewhere, None where nothing is known."""
        if name and (name in "0123456789@*" or f"{name}=" in self.whole.text):
            self.variables.setdefault(name, ANY)
        return self.variables.get(name)

    def _parameter(self, inside: str) -> str | None:
        """Return what `${…}` yields, None where nothing is known."""
        start = 1 if inside[:1] in ("#", "!") and inside[1:] else 0
        name = _name(inside[start:])
        rest = inside[start + len(name) :]
        value = self._value(name)
        if rest[:1] == "[":
            key, _, rest = rest[1:].partition("]")
            value = self.variables.get(f"{name}[{self._plain(key)}]", value)
            if key == "*" and value and _SPLIT in value:
                value = self.variables.get("IFS", " ")[:1].join(value.split(_SPLIT))
        if start:
            value = str(len(value or "")) if inside[0] == "#" else self._value(value or "") or ANY
        test = rest.removeprefix(":")[:1]
        if test and test in "-=+?":
            other = self._plain(rest.removeprefix(":")[1:])
            if test == "=" and not value:
                self.variables[name] = other
            return other if test == "+" else value or other
        if not rest or value is None or ANY in value:
            return value
        mark = rest[: 2 if rest[1:2] == rest[0] or rest[:2] in ("/#", "/%") else 1]
        operands = [self._plain(one) for one in _operands(mark[0], rest[len(mark) :])]
        if (steps := effort(value, operands)) > self.whole.left:
            return value
        self.whole.left -= steps
        return expanded(value, mark, operands)

    def _plain(self, text: str) -> str:
        """Return a text in this one without its quotes, its variables filled in."""
        self.whole.left -= len(text)
        if self.depth >= _DEEPEST or self.whole.left < 0:
            return text
        reader, found = _Reader(text, self.variables, self.whole, self.depth + 1), list[str]()
        while character := reader._at():
            start = reader.position
            found += reader._words(Command(None, self.whole.around))
            if reader.position == start:
                found.append(character)
                reader.position += 1
        self.inner += reader.inner
        return "".join(found)


def _either(values: list[str]) -> str:
    """Return one value that may be any of these, as braces say it."""
    return "{" + ",".join(values) + "}" if values[1:] else "".join(values)


def _array(name: str, values: list[str]) -> dict[str, str]:
    """Return the variables of an array: the whole, which may be any of its values, all of them, and each by its key."""
    found = {name: _either([value.rpartition("]=")[2] for value in values])}
    for index, value in enumerate(values[:_MOST_VALUES]):
        key, equals, said = value.rpartition("]=")
        found[f"{name}[{key.removeprefix('[') if equals else index}]"] = said
    return found | dict.fromkeys((f"{name}[@]", f"{name}[*]"), _SPLIT.join(values))


def _operands(mark: str, text: str) -> list[str]:
    """Return the words behind the mark of an expansion, of which `/` and `:` take two."""
    at = text.find(mark) if mark in "/:" else -1
    while at > 0 and text[at - 1] == "\\":
        at = text.find(mark, at + 1)
    return [text] if at < 0 else [text[:at], text[at + 1 :]]


def _name(text: str) -> str:
    """Return the name of a variable that a text begins with, which may be one digit, `@` or `*`."""
    if text[:1].isdigit() or text[:1] in ("@", "*"):
        return text[0]
    return text[: next((index for index, one in enumerate(text) if not (one.isalnum() or one == "_")), len(text))]
