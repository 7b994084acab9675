"""What a command line that `amp` does not understand was meant to be."""

import re
from collections.abc import Iterable

import click

_ADD = ("add", "append", "create", "learned", "memorize", "new", "put", "save", "store", "write")
_REMOVE = ("del", "delete", "discard", "drop", "erase", "forget", "remove", "rm")

_OTHER_WORDS = {
    "remember": _ADD,
    "new": _ADD,
    "edit": ("amend", "change", "correct", "modify", "replace", "set", "update"),
    "forget": _REMOVE,
    "remove": _REMOVE,
    "redact": (*_REMOVE, "destroy", "scrub", "wipe"),
    "forget --redact": ("destroy", "redact", "scrub", "wipe"),
    "resolve": ("choose", "decide", "settle", "supersede"),
    "dispute": ("conflict", "contradict"),
    "agent rename": ("move", "mv", "rename"),
    "rename": ("move", "mv"),
    "recall": ("context", "inject", "load", "prompt", "start"),
    "list": ("all", "entries", "facts", "ids", "ls", "memories"),
    "show": ("cat", "get", "open", "print", "read"),
    "show --left-out": ("leftout", "omitted"),
    "search": ("ask", "find", "grep", "lookup", "query"),
    "status": ("count", "info", "limits", "metrics", "size", "stat", "state", "stats", "tokens", "usage"),
    "status --use": ("used",),
    "view": ("browse", "dashboard", "gui", "html", "serve", "tui", "ui", "web"),
    "review": (
        *("combine", "conflicts", "contradictions", "dedup", "dedupe", "duplicates", "old", "outdated"),
        *("proposals", "refresh", "stale", "suggest", "suggestions", "todo"),
    ),
    "prune": ("archive", "clean", "cleanup", "clean-up", "expire", "gc", "purge", "shrink", "tidy", "trim"),
    "restore": ("recover", "revert", "rollback", "unarchive", "undelete", "undo", "unforget", "unprune"),
    "reactivate": ("restore", "unarchive", "undo"),
    "restore --list": ("deleted", "forgotten", "removed", "trash"),
    "check": ("audit", "ci", "lint", "scan", "secrets", "validate", "verify"),
    "verify": ("audit", "check", "validate"),
    "check --fix": ("fix", "mend", "repair"),
    "sync": ("heal",),
    "diff": ("blame", "changelog", "changes", "history", "log"),
    "history": ("log", "versions"),
    "distill": ("compress", "extract", "promote", "summarise", "summarize", "summary"),
    "close": ("end", "finish"),
    "ledger compact": ("compact", "vacuum"),
    "index": ("rebuild",),
    "watch": ("daemon", "service"),
    "init": ("bootstrap", "setup", "set-up"),
    "adopt": ("migrate", "onboard"),
    "find-stores": ("discover", "stores"),
    "install": ("activate", "connect", "enable", "host", "integrate"),
    "uninstall": ("deactivate", "disable"),
    "doctor": ("debug", "diagnose", "test", "troubleshoot", "why"),
    "where": ("config", "configuration", "env", "path", "paths", "root", "settings", "which"),
    "note new": ("page",),
    "record remember": ("fact",),
    "record sign": ("sign",),
    "mcp": ("server", "stdio"),
    "export": ("backup", "dump", "save-to"),
    "help": ("commands", "docs", "examples", "man", "manual"),
}
"""What others call a command, of `amp` or of one of its groups."""

_OTHER_OPTIONS = {
    **dict.fromkeys(("-y", "--yes", "--confirm", "--force", "--write", "--fix", "--no-dry-run"), "--apply"),
    **dict.fromkeys(("-s", "--heading", "--header"), "--section"),
    **dict.fromkeys(("-a", "--name", "--for"), "--agent"),
    **dict.fromkeys(("-C", "--dir", "--path", "--cwd", "--project"), "--root"),
    **dict.fromkeys(("-t", "--tags", "--label"), "--tag"),
    **dict.fromkeys(("-o", "--out", "--file"), "--output"),
    **dict.fromkeys(("-f", "--type"), "--format"),
    **dict.fromkeys(("-c", "--session"), "--conversation"),
    **dict.fromkeys(("--expires", "--ttl"), "--until"),
}
"""What others call an option."""
_TEXT_OPTIONS = ("-m", "--message", "--text", "--content", "--body", "--note")
_PLANS = ("-n", "--dry-run", "--plan", "--preview", "--check")
_OTHER_HOSTS = "; for another host, `amp install agents-md` or `amp mcp --config`"

_ALIKE = 0.78  # Less alike than this, a word is another word, and to name it would mislead
_LEAST = 3  # So many letters may begin a verb or be a slip; fewer say too little


def _command_meant(word: str, group: click.Group, context: click.Context) -> list[str]:
    """Return the command of a group that an unknown word was meant to be; [] if nothing comes near it."""
    known = group.list_commands(context)
    others = {other: verb for verb, words in _OTHER_WORDS.items() if verb.split()[0] in known for other in words}
    if word in others:
        return [others[word]]
    begun = [verb for verb in known if verb.startswith(word) or word.startswith(f"{verb}-")]
    if len(word) < _LEAST:
        return []
    if len(begun) == 1:
        return begun
    return _near(word, known) or [others[one] for one in _near(word, others)]


def message_of(error: click.ClickException) -> str:
    """Say in one line what is wrong with a command line, what was meant, and where its help is."""
    context = getattr(error, "ctx", None)
    parameter = getattr(error, "param", None)
    if isinstance(error, click.NoSuchOption) and context is not None:
        return f"no such option '{error.option_name}'{_option_meant(error.option_name, context)}"
    message = error.format_message().rstrip(".?")
    unknown = re.match(r"No such command '(.*?)'(?:\.|$)", message)
    if unknown and context is not None and isinstance(context.command, click.Group):
        message = f"{unknown[0].rstrip('.')}{_asked(_command_meant(unknown[1].lower(), context.command, context))}"
    if isinstance(parameter, click.Argument):
        message = _about_argument(message, parameter)
    message = message[:1].lower() + message[1:]
    if isinstance(parameter, click.Parameter) and isinstance(parameter.type, click.Choice):
        choices = [str(one) for one in parameter.type.choices]
        given = re.search(r"'([^']*)' is not one of", message)
        meant = _asked(_near(given[1], choices)) if given else ""
        message += meant or (_OTHER_HOSTS if given and "agents-md" in choices else "")
    if context is None:
        return message
    if isinstance(error, click.MissingParameter):
        message += _as_in(context.command)
    extra = re.fullmatch(r"got unexpected extra argument \(([\w-]+)\)", message)
    if extra and any("--agent" in parameter.opts for parameter in context.command.params):
        message += _asked([f"--agent {extra[1]}"])
    return f"{message}; see `{context.command_path} --help`"


def _about_argument(message: str, argument: click.Argument) -> str:
    """Say what is wrong with an argument, without the words that it takes where a list of them follows."""
    name = argument.make_metavar(click.Context(click.Command(None))).strip("[].{}")
    said = "" if "|" in name else f" '{name}'"
    message = re.sub(r"^Missing argument '.*?'\. Choose from:\s+", f"missing argument{said}; write one of: ", message)
    message = re.sub(r"\s+", " ", message)
    return re.sub(r"^Invalid value for '.*?': (?='.*' is not one of)", "", message)


def _as_in(command: click.Command) -> str:
    """Quote the first example of a command's help, for who left something out; "" if it has none."""
    example = re.search(r"Examples?:\n +(amp .*)", re.sub(r"\\\n +", "", command.help or ""))
    return f", as in `{example[1].strip()}`" if example else ""


def _near(word: str, others: Iterable[str]) -> list[str]:
    """Return the other word that this one was probably meant to be: almost the same letters, or the same ones."""
    from difflib import get_close_matches

    others = [*others]
    return get_close_matches(word, others, 1, _ALIKE) or [one for one in others if sorted(one) == sorted(word)][:1]


def _asked(meant: list[str]) -> str:
    return f" (did you mean '{meant[0]}'?)" if meant else ""


def _option_meant(given: str, context: click.Context) -> str:
    """Say which option or argument was meant by one that a verb does not have, and where its help is."""
    parameters = context.command.params
    options = [one for parameter in parameters for one in parameter.opts if one.startswith("-")]
    arguments = {name for one in parameters for name in one.human_readable_name.strip("[].").split("|")}
    other = _OTHER_OPTIONS.get(given, "")
    near = [other] if other in options else []
    if not near and given[:2] == "--":
        begun = [one for one in options if one.startswith(given)]
        near = begun if len(begun) == 1 else _near(given, options)
    said = f"{_asked(near)}; see `{context.command_path} --help`"
    if near:
        return said
    if arguments & {"TEXT", "QUERY"}:
        if given in _TEXT_OPTIONS:
            return f'{said}, and write the text without an option: `{context.command_path} "Redis needs AOF."`'
        return f"{said}, and write -- before a text that begins with a dash"
    if isinstance(context.command, click.Group):
        return f"{said}, and write options after the command, as in `amp list --as developer`"
    if given in _PLANS and "--apply" in options:
        return f"{said}; without --apply it only shows what it would do"
    # What some verbs take as an option, these take as an argument.
    shown = {"AGENT": "developer", "TARGET": "shared` or `agent:developer"}
    for name in arguments & shown.keys() if given in ("--agent", "--tier") else ():
        said += f", and write the {name} after the command, as in `{context.command_path} {shown[name]}`"
    return said
