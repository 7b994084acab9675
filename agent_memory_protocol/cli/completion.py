"""What a shell is offered for each argument and option: the agents, ids, sections and rules that there are.

A shell waits for it and shows no error, so what cannot be read offers nothing.
"""

from collections.abc import Callable, Iterator

import click
from click.shell_completion import CompletionItem

from ..errors import AgentMemoryError
from ..layout import Tier
from ..secrets.mask import beginning
from ..workspace import Workspace

_Values = Iterator[tuple[str, str]]
_WORDS = 40


def with_values(command: click.Command) -> None:
    """Give the parameters of a command the values that they complete to."""
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            inner = command.get_command(click.Context(command), name)
            if inner is not None:
                with_values(inner)
    for parameter in command.params:
        values = next((_VALUES[name] for name in (*parameter.opts, parameter.name or "") if name in _VALUES), None)
        if parameter.name == "verb":
            parameter._custom_shell_complete = _complete_verbs
        elif values is not None and not isinstance(parameter.type, click.Choice):
            parameter._custom_shell_complete = _completing(values)


def _completing(
    values: Callable[[Workspace], _Values],
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        root = ctx.params.get("root")
        try:
            found = dict(values(Workspace.open(root if isinstance(root, str) else None)))
        except (AgentMemoryError, OSError, ValueError):
            return []
        # A comma ends what fish shows of a description.
        return [
            CompletionItem(value, help=beginning(told, _WORDS).replace(",", ";"))
            for value, told in found.items()
            if value.startswith(incomplete)
        ]

    return complete


def _owners(tier: Tier) -> Callable[[Workspace], _Values]:
    def values(here: Workspace) -> _Values:
        yield from ((target.owner, target.path) for target in here.targets() if target.tier is tier)

    return values


def _targets(here: Workspace) -> _Values:
    yield from ((str(target), target.path) for target in here.targets())


def _ids(here: Workspace) -> _Values:
    yield from ((one.id, one.alone) for one in here.entries(on_problem=lambda *_: None))


def _archived(here: Workspace) -> _Values:
    yield from ((one.archived.taken.id, one.archived.taken.alone) for one in here.restorable())


def _sections(here: Workspace) -> _Values:
    yield from ((one.section, str(one.target)) for one in here.entries(on_problem=lambda *_: None) if one.section)


def _notes(here: Workspace) -> _Values:
    yield from ((row.file.removesuffix(".md"), row.description) for row in here.notes() if row.file)


def _rules(_: Workspace) -> _Values:
    from ..lint.finding import in_order

    yield from ((rule.id, rule.about) for rule in in_order())


def _complete_verbs(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    program = ctx.find_root().command
    names = program.list_commands(ctx.find_root()) if isinstance(program, click.Group) else []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


_AGENTS, _CONVERSATIONS = _owners(Tier.AGENT), _owners(Tier.CONVERSATION)
_VALUES: dict[str, Callable[[Workspace], _Values]] = {
    **dict.fromkeys(("--agent", "--as", "agent", "old"), _AGENTS),
    **dict.fromkeys(("--conversation", "conversation", "conversations"), _CONVERSATIONS),
    **dict.fromkeys(("entry_id", "entry_ids", "ids", "loser", "winner", "one", "other", "--replaces"), _ids),
    "archived_ids": _archived,
    "--section": _sections,
    **dict.fromkeys(("--select", "--ignore"), _rules),
    **dict.fromkeys(("target", "targets", "--to"), _targets),
    **dict.fromkeys(("name", "names", "--into"), _notes),
}
"""For each option, and each argument by its name, where its values come from."""
