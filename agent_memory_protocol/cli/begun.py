"""No verb begins a project by accident: one that writes is refused at a root that may be a mistyped name."""

import click
from click.core import ParameterSource

from ..errors import AgentMemoryError, Refused
from ..project.root import find_root, why_not_begun

_NOT_AT_THE_ROOT = (["init"], ["merge"])  # What begins a memory, and what git gives its files to


def check_begun(root: str | None) -> None:
    """Refuse to write at a root that may be a mistyped name, whatever the verb is and wherever it would notice."""
    try:
        problem = why_not_begun(find_root(explicit=root))
    except AgentMemoryError:
        return  # The verb says what is wrong with the root.
    if not problem:
        return
    from ..guard.own import writes

    context = click.get_current_context()
    verb = context.command_path.split()[1:]
    given = [
        one.opts[0]
        for one in context.command.params
        if isinstance(one, click.Option) and context.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE
    ]
    if verb not in _NOT_AT_THE_ROOT and writes(["amp", *verb, *given]):
        raise Refused(problem)
