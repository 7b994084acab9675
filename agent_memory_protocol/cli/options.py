"""What verbs share: the options that all take, who acts, and in which project."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import AgentMemoryError
from ..project.access import Actor, check, why_not_read
from ..project.root import OF_ENVIRONMENT, begins_with
from .begun import check_begun
from .printing import QUIET, READER, note, print_json, say

if TYPE_CHECKING:
    from datetime import date

    from ..workspace import Workspace

Function = TypeVar("Function", bound=Callable[..., Any])
Verb = Callable[..., None]

NOT_APPLIED = "nothing was changed; add --apply to do it"  # What follows a plan


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


def _be_quiet(context: click.Context, _option: click.Parameter, chosen: bool) -> None:
    context.meta[QUIET] = chosen


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


def problems_in_settings(here: "Workspace") -> list[str]:
    """Return what is wrong in the settings, or switched off by them; nothing where they cannot be read at all."""
    from ..verbs.doctor import of_settings

    try:
        return [problem.message for problem in of_settings(here.settings)]
    except AgentMemoryError:
        return []
