"""The `amp` program: its verbs, each loaded only when it is called, and how it ends."""

import errno
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from .. import PROTOCOL, __version__
from ..disk.errors import explain
from ..errors import AgentMemoryError
from .options import READER, note

_VERBS = {
    "init": ("write", "Create the memory files that are missing, with headers."),
    "recall": ("recall", "Print the memory that AGENT starts its task with."),
    "remember": ("write", "Write TEXT into one memory file as one entry."),
    "route": ("route", "Say where TEXT belongs, and which command saves it there."),
    "show": ("read", "Show a memory file as it is on disk now, with line numbers."),
    "list": ("read", "List every entry: its id, document, date and first words."),
    "forget": ("upkeep", "Remove entries by id."),
    "edit": ("upkeep", "Put TEXT in the place of an entry, or date it anew."),
    "resolve": ("settle", "Retire LOSER, since WINNER holds in its place."),
    "dispute": ("settle", "Mark two facts as disputed with each other."),
    "status": ("status", "Show how full each memory file is, and how old it is."),
    "note": ("notes", "Write, read, remove and merge notes: one fact, one file."),
    "index": ("notes", "Give every note its line in the index of its folder."),
    "watch": ("watch", "Keep indexes fresh and heal files for as long as it runs."),
    "install": ("install", "Make a host of agents use this memory."),
    "uninstall": ("install", "Take out what `amp install` put in."),
    "harvest": ("harvest", "Save the findings that a read-only agent has reported."),
    "hook": ("hook", "Answer an event of an agent's host."),
    "check": ("check", "Check memory files, notes, indexes, ledgers and the settings."),
    "review": ("review", "List what disagrees, what to merge, and what is old."),
    "diff": ("diff", "Show what changed in memory between two commits."),
    "prune": ("prune", "Take outdated dated entries out of memory files."),
    "restore": ("upkeep", "Bring entries back from the ledger."),
    "sync": ("upkeep", "Put back remembered entries that another program overwrote."),
    "search": ("search", "Find entries, notes and records by their words."),
    "record": ("records", "List, show, decide, redact, verify and sign records."),
    "consolidate": ("consolidate", "Merge records that say the same, and mark what contradicts."),
    "decay": ("consolidate", "Archive records that nobody has needed for long."),
    "merge": ("merge", "Merge two versions of a memory file, entry by entry."),
    "distill": ("distill", "Carry what conversations found to the memory that lasts."),
    "learn": ("distill", "Carry what one conversation found to the memory that lasts."),
    "agent": ("agent", "Give an agent another name, with all its memory."),
    "close": ("distill", "End a conversation: keep what it has taught, archive the rest."),
    "adopt": ("adopt", "Bring in memory that other tools keep, without doubles."),
    "find-stores": ("adopt", "List where else memory of this project lies."),
    "export": ("travel", "Write memory into a record file."),
    "import": ("travel", "Take the entries of a record file into memory."),
    "convert": ("formats", "Write what one record file holds as another one."),
    "schema": ("formats", "Print the schema of protobuf or JSON record files."),
    "bench": ("bench", "Measure what you would otherwise have to believe."),
    "where": ("status", "Show the project root, each path in use, and the settings."),
    "doctor": ("doctor", "Say where memory lies, what AGENT recalls, what is wrong."),
    "mcp": ("mcp", "Serve memory to an MCP host over stdin and stdout."),
}
"""Each verb, the module of this package that has it, and the first line of its help, in the order of `amp --help`."""

_OTHER_WORDS = {
    "remember": ("add", "append", "save", "store", "write"),
    "forget": ("delete", "drop", "remove", "rm"),
    "edit": ("change", "correct", "replace", "update"),
    "show": ("cat", "get", "open", "read", "view"),
    "list": ("ls", "entries"),
    "search": ("find", "grep", "query"),
    "recall": ("context", "load", "start"),
    "restore": ("undo", "undelete"),
    "status": ("info", "size", "stats"),
    "check": ("lint", "validate", "verify"),
    "prune": ("archive", "clean", "gc"),
}
"""What others call a verb."""


class Verbs(click.Group):
    """The group of verbs. Importing one module a call keeps `amp recall` as quick as a task start needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs in the order a newcomer meets them."""
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb."""
        if cmd_name not in _VERBS:
            return None
        module = import_module(f"agent_memory_protocol.cli.{_VERBS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs as the table has them: to load them all takes several times as long as to start."""
        limit = formatter.width - 6 - max(map(len, _VERBS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(verb, click.Command(verb, help=line).get_short_help_str(limit)) for verb, (_, line) in _VERBS.items()]
            )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is called; for another word, or a misspelt one, say which is meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            meant = [verb for verb, words in _OTHER_WORDS.items() if args[0] in words]
            for verb in meant or get_close_matches(args[0], _VERBS, 1):
                message = f"{error.message.rstrip('.')} (did you mean '{verb}'?)"
                raise click.UsageError(message, ctx) from error
            raise


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 check found problems, 2 usage, 3 refused by a rule, 4 damaged or unreadable.",
)
@click.version_option(__version__, message=f"%(version)s, protocol {PROTOCOL}")
def amp() -> None:
    """Keep the memory of a repository's agents: readable, bounded, safe."""


def main() -> None:
    """Run `amp` and end with the exit code of decision 36."""
    for stream in (sys.stdout, sys.stderr):
        # A code page that lacks a character must not end the program; the escape can still be read.
        if hasattr(stream, "reconfigure"):
            with suppress(OSError):
                stream.reconfigure(errors="backslashreplace")
    try:
        code = _run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # The package names the file in each of its errors; what has no name is the terminal, pipe or file we print to.
        if error.filename is not None:
            raise
        code = _stop_printing(error)
    sys.exit(code)


def mcp() -> None:
    """Run `amp-mcp`, which is `amp mcp`."""
    sys.argv.insert(1, "mcp")
    main()


def _run() -> int:
    out = sys.stdout
    READER.clear()
    try:
        # What click returns is the exit code where a verb ended itself, as --help does.
        code = amp.main(prog_name="amp", standalone_mode=False, color=False if os.environ.get("NO_COLOR") else None)
    except SystemExit:
        if sys.stdout is out:
            raise
        # click has put something else there: the reader of the pipe has gone, and it would end with 1.
        sys.stdout = out
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
    except click.ClickException as error:
        _complain_about_usage(error)
        return error.exit_code
    except click.Abort:
        _complain("stopped")
        return 130
    except AgentMemoryError as error:
        _complain(str(error))
        return error.exit_code
    return code if isinstance(code, int) else 0


def _complain_about_usage(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    message = error.format_message().rstrip(".?")
    message = message[:1].lower() + message[1:]
    if context is not None:
        message += f"; `{context.command_path} --help` lists what there is"
        takes_text = any(parameter.human_readable_name == "TEXT" for parameter in context.command.params)
        if isinstance(error, click.NoSuchOption) and takes_text:
            message += ", and a text that begins with a dash goes after --"
        elif isinstance(error, click.NoSuchOption) and isinstance(context.command, click.Group):
            message += ", and options go behind the command, as in `amp list --as developer`"
        elif isinstance(error, click.NoSuchOption) and error.option_name in ("--agent", "--tier"):
            # What some verbs take as an option, these take as an argument.
            shown = {"AGENT": "developer", "TARGET": "shared` or `agent:developer"}
            names = {
                parameter.human_readable_name.strip("[].").rpartition("|")[2] for parameter in context.command.params
            }
            for name in names & shown.keys():
                message += f", and the {name} goes behind the command, as in `{context.command_path} {shown[name]}`"
    _complain(message)


def _complain(message: str) -> None:
    """Say in one line what is wrong. Where even that cannot be printed, the exit code says it."""
    with suppress(OSError):
        note(" ".join(message.split()))


def _stop_printing(error: OSError) -> int:
    """Return the exit code for an answer that could not be printed; 0 when its reader has seen enough, like `head`."""
    # What is still waiting to be printed must not make Python complain at its end.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return 0
    _complain(f"the answer cannot be printed: {explain(error)}")
    return 4
