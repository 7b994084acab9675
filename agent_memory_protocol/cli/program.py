"""The option by which a person names a program that is asked: `--operator`, which no agent may give."""

import shlex
import shutil
from collections.abc import Callable

import click

from ..consolidation.command_operator import CommandOperator
from ..errors import AccessDenied, InvalidArgument
from ..project.access import Actor
from .options import Verb

seconds_option = click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="Time limit for one answer of the program (120).",
)


def asking_options(function: Verb) -> Verb:
    """Add the options of verbs that ask a program whether texts say the same."""
    what = "Also ask this program which texts say the same: JSON in, JSON out. No shell runs it."
    decorated: Callable[[Verb], Verb] = click.option("--operator", metavar="COMMAND", help=what)
    return decorated(seconds_option(function))


def asked(command: str | None, who: Actor, seconds: float | None) -> CommandOperator | None:
    """Return the program that is to be asked; None if nothing is named. Raises as `as_operator`."""
    if command is None and seconds is not None:
        raise InvalidArgument("--seconds is for a program; name it with --operator")
    return None if command is None else as_operator(command, who, seconds)


def as_operator(command: str, who: Actor, seconds: float | None) -> CommandOperator:
    """Return the program that a person names as one that proposes.

    Raises:
        AccessDenied: an agent names it. What a guard lets an agent start is for its host to say.
        InvalidArgument: it is not a command, or the program does not exist.
    """
    if not who.is_person:
        raise AccessDenied(f"{who} may not have amp start a program; the person who owns the project may")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidArgument(f"--operator {command!a}: {error}; close what is quoted") from None
    if not words or shutil.which(words[0]) is None:
        name = words[0] if words else ""
        raise InvalidArgument(f"--operator: there is no program {name!a}; name one that is installed, or its path")
    return CommandOperator(words) if seconds is None else CommandOperator(words, seconds=seconds)
