"""How verbs print: lines, texts, JSON and progress. Nothing plays with the terminal, and no secret is shown."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence

import click

from ..secrets.mask import masked, masked_values
from .cells import cells, cut

_NARROWEST = 20  # Cells of a text that are shown however narrow the terminal is
_FEW = 20  # Work on so few documents is done before anybody wonders
QUIET = "agent_memory_protocol.quiet"  # The key in a context by which remarks are not said


def say(line: str, *, err: bool = False) -> None:
    """Print one line. All that verbs print goes out here or by `print_json`, and none of it plays with the terminal.

    Names, types, ledgers and settings come with a checkout: what they hold may be meant for the reader's terminal.
    """
    draw("")
    parts = re.split(_COLOURS, line) if _COLOUR in line else [line]
    click.echo("".join(f"\x1b[{part}" if number % 2 else plain(part) for number, part in enumerate(parts)), err=err)


def say_text(text: str, *, as_it_is: bool = False) -> None:
    """Print a text of several lines in one piece, as `say` prints one; `as_it_is` does not look for secrets in it."""
    from ..text.visible import show_text

    draw("")
    text = text.removesuffix("\n")
    click.echo(show_text(text if as_it_is else masked(text)))


def say_data(data: bytes) -> None:
    """Print a file's bytes as they are, for a pipe or a file; on a terminal as text, as `say` does."""
    if sys.stdout.isatty():
        say_text(data.decode(errors="replace"))
    else:
        click.echo(data, nl=False)


def colour(text: str, name: str | None) -> str:
    """Return a text that `say` prints in a colour, where stdout shows colours."""
    return f"{_COLOUR}{_CODES[name]}{text}{_COLOUR}0m" if name and not _has_no_colours() else text


def uncoloured(line: str) -> str:
    """Return a line without what `colour` has put in, to be measured."""
    return re.sub(_COLOURS, "", line) if _COLOUR in line else line


def _has_no_colours() -> bool:
    context = click.get_current_context(silent=True)
    chosen = context.color if context else None
    return sys.stdout is None or not sys.stdout.isatty() if chosen is None else not chosen


_COLOUR = f"\x1b{os.urandom(6).hex()}"
"""What `colour` puts in: no text of a checkout can hold it, so what that holds is never taken for a colour of ours."""
_CODES = {"red": "31m", "green": "32m", "yellow": "33m", "match": "1;31m"}
"""What a match looks like is what `grep` made known."""
_COLOURS = rf"{_COLOUR}((?:1;)?3[0-7]m|0m)"


def print_json(
    answer: Mapping[str, object] | Sequence[object],
    *,
    version: int | None = 1,
    indent: int | None = 2,
    as_it_is: bool = False,
) -> None:
    """Print one JSON object that carries the version of its shape; a list, or what others define, carries none.

    `as_it_is` does not look for secrets in it.
    """
    import json

    if version is not None and isinstance(answer, Mapping):
        answer = {"version": version, **answer}
    draw("")
    if not as_it_is:
        answer = masked_values(answer)
    text = json.dumps(answer, ensure_ascii=False, indent=indent)
    if not can_print(text):
        text = json.dumps(answer, indent=indent)  # the stream's own escapes would not be JSON
    from ..text.visible import show_in_json

    click.echo(show_in_json(text))


def can_print(text: str) -> bool:
    """Say whether stdout can take every character of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


READER: list[str] = []  # The agent that has called, and the conversation that it named: a command it is told has both


def note(message: str) -> None:
    """Say something on stderr, in one line; stdout has the answer alone. With --quiet it is not said."""
    context = click.get_current_context(silent=True)
    if context is not None and context.meta.get(QUIET):
        return
    say(f"amp: {own_words(message)}", err=True)


def own_words(message: str) -> str:
    """Return a message with its commands in the name of the agent that reads it, and in its conversation."""
    if READER and "`amp " in message:
        from ..text.commands import in_own_name

        return in_own_name(message, *READER)
    return message


def own_command(command: str) -> str:
    """Return one command, or several with `; ` between them, in the name of the agent that reads them."""
    return "; ".join(own_words(f"`{one}`")[1:-1] for one in command.split("; ")) if READER else command


def plain(line: str) -> str:
    """Return a line without secrets, its control and invisible characters escaped: it cannot play with a terminal."""
    line = masked(line)
    if line.isascii() and line.isprintable():
        return line
    from ..text.visible import show_invisible

    return show_invisible(line)


def columns() -> int:
    """Return how many characters fit on a line of stdout; only a terminal has a limit."""
    if sys.stdout is None or not sys.stdout.isatty():  # it is None if it was closed
        return sys.maxsize
    from shutil import get_terminal_size  # loads every compression there is

    return get_terminal_size().columns


def room(behind: int = 0) -> int:
    """Return how many cells a line of stdout has behind those that are taken, but always some."""
    return max(_NARROWEST, columns() - behind)


def first_words(text: str, width: int = 90, *, behind: int = 0) -> str:
    """Return the beginning of a text on one line of at most so many cells, safe for a terminal.

    Args:
        text: what is cut.
        width: at most so many cells; fewer, where the terminal has no room for them.
        behind: how many cells of the line are taken already.
    """
    return cut(plain(" ".join(text.split())), min(width, room(behind)))


def progress(doing: str) -> Callable[[int, int], None] | None:
    """Return a function that shows on stderr how far long work has come; None if stderr is not a terminal."""
    if not shows_progress():
        return None

    def show(done: int, total: int) -> None:
        if total > _FEW:
            draw(f"{doing}: {done} of {total}" if done < total else "")

    return show


def shows_progress() -> bool:
    """Say whether stderr is a terminal that can go back to the start of a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


_DRAWN = [""]  # The line of progress that is on the terminal; "" if none is


def draw(line: str) -> None:
    """Show a line on stderr in the place of the one before; "" clears it, as does whatever is printed next."""
    if line or _DRAWN[0]:
        blanks = " " * (cells(_DRAWN[0]) - cells(line))
        _DRAWN[0] = line
        click.echo(f"\r{line}{blanks}" if line else f"\r{blanks}\r", nl=False, err=True)
