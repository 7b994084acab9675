"""What verbs share: the options that all take, who acts, in which project, and how an answer is printed."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import AgentMemoryError
from ..project.access import Actor, check, why_not_read
from ..project.root import OF_ENVIRONMENT, begins_with
from ..secrets.mask import masked, masked_values
from .begun import check_begun
from .cells import cells, cut

if TYPE_CHECKING:
    from datetime import date

    from ..workspace import Workspace

Function = TypeVar("Function", bound=Callable[..., Any])
Verb = Callable[..., None]

NOT_APPLIED = "nothing was changed; add --apply to do it"  # What follows a plan

_NARROWEST = 20  # Cells of a text that are shown however narrow the terminal is
_FEW = 20  # Work on so few documents is done before anybody wonders


class TextCommand(click.Command):
    """A command that takes a text. It may begin with a dash: an argument with a blank in it is not an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put such arguments after `--`, where they cannot be taken for options."""
        options = [option for option in self.params if isinstance(option, click.Option) and not option.is_flag]
        with_value = {name for option in options for name in option.opts}
        rest: list[str] = []
        texts: list[str] = []
        left = iter(args)
        for arg in left:
            if arg == "--":
                texts += left
            elif arg in with_value:
                rest += [arg, *islice(left, 1)]
            elif arg.startswith("-") and any(map(str.isspace, arg.partition("=")[0])):
                texts.append(arg)
            else:
                rest.append(arg)
        try:
            return super().parse_args(ctx, [*rest, "--", *texts] if texts else rest)
        except click.UsageError as error:
            if error.message.startswith("Got unexpected extra argument"):
                raise click.UsageError("quote a text of more than one word", ctx) from error
            raise


root_option = click.option("--root", metavar="DIR", help="Project root. Default: found from the current folder.")
as_option = click.option(
    "--as", "as_agent", metavar="AGENT", help="Act as this agent. Default: AMP_AGENT, else a person."
)
conversation_option = click.option(
    "--conversation", metavar="ID", help="The current conversation. Default: AMP_CONVERSATION."
)
_QUIET = "agent_memory_protocol.quiet"  # The key in a context by which remarks are not said


def _be_quiet(context: click.Context, _option: click.Parameter, chosen: bool) -> None:
    context.meta[_QUIET] = chosen


_quiet_option = click.option(
    *("-q", "--quiet"), is_flag=True, expose_value=False, callback=_be_quiet, help="No remarks on stderr, only errors."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")
tier_names = click.Choice(["shared", "agent", "conversation"])


def document_options(function: Function) -> Function:
    """Add `--agent` and `--conversation`, which say whose document is meant."""
    function = click.option("--conversation", metavar="ID", help="The document of this conversation.")(function)
    return click.option("--agent", metavar="NAME", help="The document of this agent.")(function)


def _day(_context: click.Context, _option: click.Parameter, text: str | None) -> "date | None":
    if text is None:
        return None
    from datetime import date

    from ..text.dates import parse_day

    return date.fromordinal(parse_day(text))


since_option = click.option(
    "--since", metavar="YYYY-MM-DD", callback=_day, help="Find only what is dated that day or later."
)
today_option = click.option(
    "--today", metavar="YYYY-MM-DD", callback=_day, help="Use this day to decide what has expired; default: today."
)


def budget_options(function: Function) -> Function:
    """Add the bounds of a recalled block."""
    for name, bound in (
        ("--max-tokens", "At most N tokens in the block, at 4 bytes each."),
        ("--max-chars", "At most N characters in the whole block."),
        ("--max-lines", "At most N lines of each document (200)."),
    ):
        function = click.option(name, type=click.IntRange(min=1), metavar="N", help=bound)(function)
    return function


class Call:
    """One call of a verb: in which project, who acts, and whether it is answered in JSON."""

    __slots__ = ("_agent", "as_json", "root")

    def __init__(self, root: str | None, agent: str | None = None, *, as_json: bool = False) -> None:
        self.root = root
        self._agent = agent
        self.as_json = as_json

    def actor(self, conversation: str | None = None) -> Actor:
        """Return who acts: `--as`, else AMP_AGENT, else a person.

        An agent stays in the conversation that AMP_CONVERSATION names. A person, and an agent in none, is in the one
        that is given.
        """
        # An empty --as is a script's mistake, and must not make its agent a person who may do everything.
        agent = (os.environ.get("AMP_AGENT") or None) if self._agent is None else self._agent
        own = os.environ.get("AMP_CONVERSATION") or None
        is_given = conversation is not None and (own is None or agent is None)
        READER[:] = [agent, conversation if is_given and conversation else ""] if agent else []
        return Actor(agent, conversation if is_given else own)

    def reader(self, agent: str | None, conversation: str | None) -> Actor:
        """Return for whom memory is recalled: the agent in the conversation, if who acts may read what those may.

        Raises:
            AccessDenied: an agent acts, and asks for another's memory or for a conversation that it is not in.
        """
        who = self.actor(conversation)
        wanted = Actor(
            who.agent if agent is None else agent, who.conversation if conversation is None else conversation
        )
        if who.agent is not None and wanted != who:
            from ..layout import Target, Tier

            if wanted.conversation is not None:
                meant = Target(Tier.CONVERSATION, wanted.conversation)
                check(why_not_read(who, meant), meant)
            if wanted.agent is not None:
                readers_of_all = self.workspace().settings.readers_of_all
                meant = Target(Tier.AGENT, wanted.agent)
                check(why_not_read(who, meant, readers_of_all), meant)
        return wanted

    def workspace(self, *, tells_settings: bool = False, begins: bool = False) -> "Workspace":
        """Open the project. What is wrong in its settings, or switched off, is told after the answer.

        Args:
            tells_settings: whether the answer tells that itself.
            begins: whether a write may begin a memory at a root that --root or AMP_ROOT names.
        """
        from ..workspace import Workspace

        opened = Workspace.open(self.root)
        opened.begins = begins
        context = click.get_current_context()
        told: set[str] = context.meta.setdefault("problems in settings", set())

        def say_notices() -> None:
            for notice in opened.notices:
                note(notice)
            # An error is the whole answer; an exit code is not.
            if not tells_settings and isinstance(sys.exc_info()[1], SystemExit | None):
                missing = [] if opened.path.is_dir() else [nothing_yet(opened)]
                for problem in (*missing, *problems_in_settings(opened)):
                    if problem not in told:  # a verb may open it twice
                        note(problem)
                        told.add(problem)

        context.call_on_close(say_notices)
        return opened

    def answer(self, values: Mapping[str, object], said: Iterable[str]) -> None:
        """Print one JSON object where that is asked for, else lines. These are made only when they are printed."""
        if self.as_json:
            print_json(values)
            return
        for line in said:
            say(line)


def call_with(*options: Callable[..., Any]) -> Callable[[Verb], Verb]:
    """Add some of `--json`, `--root` and `--as` to a verb, which gets them as one `Call`; and `--quiet`."""

    def decorate(function: Verb) -> Verb:
        @wraps(function)
        def verb(root: str | None, as_agent: str | None = None, as_json: bool = False, **others: object) -> None:
            if (root or os.environ.get(OF_ENVIRONMENT)) and not (others.get("store") or others.get("user")):
                check_begun(root)
            function(Call(root, as_agent, as_json=as_json), **others)

        for option in (_quiet_option, *reversed(options)):
            verb = option(verb)
        return verb

    return decorate


call_options = call_with(json_option, root_option, as_option)


def nothing_yet(here: "Workspace", hint: str = "") -> str:
    """Say that a project has no memory yet, or that its folder does not exist."""
    with suppress(AgentMemoryError):
        if here.restorable():
            return f"no memory is left in {here.path}; `amp restore --list` names what it held"
    if here.path.is_dir():
        return f"no memory yet in {here.path}; {hint or '`amp init` creates it'}"
    return f"{here.path} does not exist; `{begins_with(str(here.path), here.how)}` creates it"


def typed(text: str) -> str:
    """Return a text from the command line as it was typed, in UTF-8, even where the locale says otherwise."""
    try:
        return os.fsencode(text).decode()
    except UnicodeError:
        return text


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
    if context is not None and context.meta.get(_QUIET):
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


def problems_in_settings(here: "Workspace") -> list[str]:
    """Return what is wrong in the settings, or switched off by them; nothing where they cannot be read at all."""
    from ..verbs.doctor import of_settings

    try:
        return [problem.message for problem in of_settings(here.settings)]
    except AgentMemoryError:
        return []


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
