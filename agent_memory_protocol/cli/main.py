"""The `amp` program: its verbs, each loaded only when it is called, and how it ends."""

import atexit
import errno
import gc
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise, takewhile
from typing import Any

import click

from .. import PROTOCOL, __version__
from ..disk.errors import explain
from ..errors import AgentMemoryError
from . import IS_PROGRAM, ignore_interrupts, raise_interrupts
from .printing import READER, draw, note, own_words, print_json

_VERBS = {
    "Start": {
        "init": ("write", "Create missing memory files with their headers."),
        "adopt": ("adopt", "Import memory and rules from other tools."),
        "find-stores": ("adopt", "List other places that hold memory of this project."),
        "install": ("install", "Set up a coding agent's host to use this memory."),
        "uninstall": ("install", "Remove what `amp install` added."),
        "doctor": ("doctor", "Show what an agent would get, and report problems."),
        "where": ("status", "Show the project root, each path in use, and the settings."),
    },
    "Write": {
        "remember": ("write", "Save TEXT as one entry in a memory file."),
        "edit": ("upkeep", "Replace the text of an entry, or change its date."),
        "forget": ("upkeep", "Remove entries by id; the ledger keeps them."),
        "resolve": ("settle", "Retire LOSER: WINNER replaces it."),
        "dispute": ("settle", "Mark two facts as disputed with each other."),
        "route": ("route", "Show where TEXT belongs, and which command saves it there."),
        "note": ("notes", "Write, read, remove and merge notes: one fact, one file."),
    },
    "Read": {
        "recall": ("recall", "Print the memory that AGENT gets when a task starts."),
        "list": ("read", "List every entry: its id, document, date and first words."),
        "show": ("read", "Show a memory file as it is on disk now, with line numbers."),
        "search": ("search", "Find entries, notes and records by their words."),
        "status": ("status", "Show how full each memory file is, and how old it is."),
        "view": ("view", "Show memory as a page in the browser."),
    },
    "Keep current": {
        "review": ("review", "List conflicts, entries to merge and old entries."),
        "prune": ("prune", "Remove old dated entries from memory files."),
        "restore": ("upkeep", "Restore entries from the ledger."),
        "check": ("check", "Check memory files, notes, indexes, ledgers and the settings."),
        "diff": ("diff", "Show what changed in memory between two commits."),
        "distill": ("distill", "Copy lessons from conversations into lasting memory."),
        "learn": ("distill", "Copy lessons from one conversation into lasting memory."),
        "close": ("distill", "End conversations: keep what they taught, archive the rest."),
        "agent": ("agent", "Give an agent another name, with all its memory."),
        "ledger": ("ledger", "Make old ledgers smaller."),
        "sync": ("upkeep", "Put back remembered entries that another program overwrote."),
        "index": ("notes", "Add every note to the index of its folder."),
        "watch": ("watch", "Keep indexes up to date and repair files while it runs."),
        "merge": ("merge", "Merge two versions of a memory file, entry by entry."),
    },
    "Records": {
        "record": ("records", "Remember, list, show, decide, redact, verify and sign records."),
        "consolidate": ("consolidate", "Merge records that say the same, and mark contradictions."),
        "decay": ("consolidate", "Archive records that nobody has used for a long time."),
    },
    "Hosts": {
        "mcp": ("mcp", "Serve memory to an MCP host over stdin and stdout."),
        "hook": ("hook", "Answer an event of an agent's host."),
        "harvest": ("harvest", "Save the findings that a read-only agent reported."),
    },
    "Formats": {
        "export": ("exchange", "Write memory into a record file."),
        "import": ("exchange", "Import the entries of a record file into memory."),
        "convert": ("formats", "Convert a record file to another format."),
        "schema": ("formats", "Print the schema of record files, answers or settings."),
        "conformance": ("conformance", "Say which rules of the protocol a program keeps, case by case."),
        "bench": ("bench", "Benchmark the record formats on this machine."),
    },
    "Help": {
        "help": ("help", "Show this list, or what one command does."),
        "completion": ("help", "Print the script that completes commands in a shell."),
        "version": ("help", "Print the version."),
    },
}
"""Each verb by the heading that it is listed under: the module of this package that has it, and the first line of its
help."""

_FIRST = {
    *("init", "adopt", "install", "doctor", "remember", "edit", "forget"),
    *("recall", "list", "search", "status", "review", "prune", "check"),
}
"""The verbs of the first screen; `amp help --all` lists every one."""

_MODULES = {verb: row for group in _VERBS.values() for verb, row in group.items()}

_LEAST_BESIDE = 20  # Columns for what an option means
_CLICKS_LEAST = 52  # Columns that click lays help out for at least


class Formatter(click.HelpFormatter):
    """Lays help out for terminals that are narrower than click thinks there are, too."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        from shutil import get_terminal_size

        columns = get_terminal_size().columns
        narrow = columns - 2 if 20 < columns < _CLICKS_LEAST else None
        super().__init__(indent_increment, width or narrow, max_width)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write each term with what it means beside it; where that leaves no room for words, below it."""
        rows = [*rows]
        widest = min(max((len(term) for term, _ in rows), default=0), col_max) + col_spacing
        if self.width - self.current_indent - widest >= _LEAST_BESIDE:
            super().write_dl(rows, col_max, col_spacing)
            return
        for term, meaning in rows:
            self.write(f"{'':>{self.current_indent}}{term}\n")
            with self.indentation():
                self.write_text(meaning)


click.Context.formatter_class = Formatter

COMPLETES = "_AMP_COMPLETE"  # What a shell sets when it asks what could come next
SHOWS_ALL = "agent_memory_protocol.shows_all"  # The key in a context by which all verbs are listed


class Verbs(click.Group):
    """The group of verbs. Importing one module a call keeps `amp recall` as quick as a task start needs."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Begin a call; who read the last answer in this process is forgotten."""
        READER.clear()
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb. An option without its value is said to be of that verb, so that its help is named."""
        try:
            return super().invoke(ctx)
        except click.BadOptionUsage as error:
            verb = self.get_command(ctx, ctx.invoked_subcommand or "")
            if error.ctx is None and verb is not None:
                error.ctx = click.Context(verb, ctx, ctx.invoked_subcommand)
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the verbs in the order a newcomer meets them."""
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a verb."""
        if cmd_name not in _MODULES:
            return None
        module = import_module(f"agent_memory_protocol.cli.{_MODULES[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        if COMPLETES in os.environ:
            from .completion import with_values

            with_values(command)
        raise_interrupts()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs as the table has them: to load them all takes several times as long as to start."""
        shows_all = ctx.meta.get(SHOWS_ALL, False)
        width = max(map(len, _MODULES if shows_all else _FIRST))
        for title, group in _VERBS.items():
            rows = [(verb.ljust(width), line) for verb, (_, line) in group.items() if shows_all or verb in _FIRST]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        if not shows_all:
            formatter.write_paragraph()
            formatter.write_text(f"These are {len(_FIRST)} of {len(_MODULES)}; `amp help --all` lists every one.")


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 check found problems, 2 usage, 3 refused by a rule, 4 damaged or unreadable.",
)
@click.version_option(__version__, "-V", "--version", message=f"%(version)s, protocol {PROTOCOL}")
def amp() -> None:
    """Keep the memory of a repository's agents: readable, bounded, safe."""


def main() -> None:
    """Run `amp` and end with the exit code of decision 36."""
    for stream in (sys.stdout, sys.stderr):
        # A code page that lacks a character must not end the program; the escape can still be read.
        if hasattr(stream, "reconfigure"):
            with suppress(OSError):
                stream.reconfigure(errors="backslashreplace")
    if IS_PROGRAM:
        gc.set_threshold(_MADE_BEFORE_A_COLLECTION)
    try:
        code = _run()
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # The package names the file in each of its errors; what has no name is the terminal, pipe or file we print to.
        if error.filename is not None:
            raise
        code = _stop_printing(error)
    finally:
        ignore_interrupts()
    if IS_PROGRAM:
        _end(code)
    sys.exit(code)


_MADE_BEFORE_A_COLLECTION = 100_000
"""Values that a verb may make before Python looks for rings among them: most verbs make fewer, and no rings."""


def _end(code: int) -> None:
    """End the process at once, where nothing else runs in it: to take every module apart takes a tenth of a verb."""
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(code)


def mcp() -> None:
    """Run `amp-mcp`, which is `amp mcp`."""
    sys.argv.insert(1, "mcp")
    main()


def _run() -> int:
    out = sys.stdout
    try:
        # What click returns is the exit code where a verb ended itself, as --help does.
        code = amp.main(
            prog_name="amp",
            complete_var=COMPLETES,
            standalone_mode=False,
            color=False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None,
        )
    except SystemExit as ended:
        if sys.stdout is out:
            if isinstance(ended.code, int):
                return ended.code
            raise
        # click has put something else there: the reader of the pipe has gone, and it would end with 1.
        sys.stdout = out
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
    except click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
        else:
            from .slips import message_of

            _complain(message_of(error), "usage", error.exit_code)
        return error.exit_code
    except click.Abort:
        _complain("stopped", "stopped", 130)
        return 130
    except OverflowError as error:
        # Python counts time in nanoseconds, and has no number for one after the year 2261.
        if "timestamp" not in str(error):
            raise
        _complain("this machine's clock is set to a year after 2261; set it to the present", "storage-error", 4)
        return 4
    except AgentMemoryError as error:
        facts = {name: getattr(error, name, None) for name in ("target", "path", "line", "limit", "size", "unit")}
        _complain(str(error), error.kind, error.exit_code, facts)
        return error.exit_code
    finally:
        with suppress(OSError):
            draw("")
    return code if isinstance(code, int) else 0


def _complain(message: str, kind: str, code: int, facts: Mapping[str, object] = {}) -> None:
    """Say in one line what is wrong, and with --json also as JSON. Where nothing can be printed, the exit code says it.

    `facts` are those keys of the JSON object that an error has; what is None or "" is left out.
    """
    message = " ".join(message.split())
    with suppress(OSError):
        note(message)
    if _wants_json(sys.argv[1:]):
        known = {name: fact for name, fact in facts.items() if fact not in (None, "")}
        with suppress(OSError):
            print_json({"error": {"kind": kind, "message": own_words(message), "exit": code, **known}}, indent=None)


def _wants_json(args: Sequence[str]) -> bool:
    """Say whether a command line asks for JSON, even if there is a mistake in it."""
    options = list(takewhile(lambda arg: arg != "--", args))
    answers = options[:1] in (["check"], ["diff"])  # to others --format names the format of a file
    return "--json" in options or (
        answers and ("--format=json" in options or ("--format", "json") in pairwise(options))
    )


def _stop_printing(error: OSError) -> int:
    """Return the exit code for an answer that could not be printed; 0 when its reader has seen enough, like `head`."""
    # What is still waiting to be printed must not make Python complain at its end.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return 0
    with suppress(OSError):
        note(f"the answer cannot be printed: {explain(error)}")
    return 4
