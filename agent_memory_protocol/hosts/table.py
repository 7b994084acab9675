"""The hosts, one row each: what they say to a hook and expect to hear, and which of their files name hooks and skills.

`docs/` has a page for each host, with the sources of what is said here. The hook loads this before a session's start.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FAILS_OPEN = " || true"
"""How a command line ends with 0 whatever becomes of its program."""

FOR_PERSON = " --user"
"""What tells the hooks of a person's own settings from those of a project: where both are, the project's are silent."""

SECONDS = 10
"""How long a host waits for a hook. One that comes to its end takes a fraction of a second."""


class Host:
    """A host. A row below is a class of its own, which says what holds for that host.

    Attributes:
        name: what the command line calls it.
        title: what people call it.
        events: for each event of ours, the host's name, and the tools that its settings ask for; "" for all there are.
        settings: the file that names hooks, below the project or below the person's home folder.
        skills: the folder it looks for skills in, below the same.
        root: how a shell names the project's folder in a hook's command.
        next: what a person has to do before it works.
        home: the environment variable that moves its folder out of the home folder, and what is below that.
        beside: further files in the folder of `settings` that it reads hooks from; people write them, amp does not.
        climbs: whether it reads `settings` of the folders above the one it is started in.
        forgives: what its reader of settings takes that is not JSON: see `json_text.Oddity`.
        off: the keys of its settings that switch hooks off, each with the value that does.
        off_list: the key that lists the command lines of hooks that are off.
        toml: a TOML file beside `settings`, and the key in it that switches hooks off where it is false.
        forgets: the sources of a session's start at which it has lost what hooks gave before.
        timeout: how the host is told how long to wait.
        max_chars, max_tokens: how much it takes in one text before it cuts it, or moves it to a file.
        plain_answers: whether a decision is an answer's own key; else it is inside `hookSpecificOutput`.
        hears_as_it_stops: whether a stopping agent can be told something without being held up.
    """

    name: str
    title: str
    events: dict[str, tuple[str, str]]
    settings: tuple[str, ...]
    skills: tuple[str, ...]
    root: str
    next: str
    home: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    climbs = False
    forgives: frozenset[str] = frozenset()
    off: tuple[tuple[tuple[str, ...], bool], ...] = ()
    off_list: tuple[str, ...] = ()
    toml: tuple[str, ...] = ()
    forgets: tuple[str, ...] = ()
    timeout = SECONDS
    max_chars: int | None = None
    max_tokens: int | None = None
    plain_answers = False
    hears_as_it_stops = False

    def call(self, event: str, *, for_person: bool = False) -> str:
        """Return what follows the program's name in the command line of an event's hook."""
        return f"{event} --host {self.name}{FOR_PERSON if for_person else ''}"

    def hooks(self, program: str, *, for_person: bool = False) -> dict[str, dict[str, object]]:
        """Return, for each of the host's events, what is added to its list.

        The command line fails open by itself: without the program, memory is lost and never the host. To Gemini CLI,
        any exit code but 0 and 1 is a denial.
        """
        wanted: dict[str, dict[str, object]] = {}
        for event, (native, tools) in self.events.items():
            command = f"{program} {self.call(event, for_person=for_person)}{FAILS_OPEN}"
            group: dict[str, object] = {"matcher": tools} if tools else {}
            group["hooks"] = [{"type": "command", "command": command, "timeout": self.timeout}]
            wanted[native] = group
        return wanted

    def folder_of(self, home: str, environ: "Mapping[str, str]") -> str:
        """Return the folder that a person's own settings of this host lie in; "" if nothing names one."""
        moved = environ.get(self.home[0], "") if self.home else ""
        if moved:
            return "/".join([moved, *self.home[1:]])
        return "/".join([home, *self.settings[:-1]]) if home else ""


def _events(tools: str) -> dict[str, tuple[str, str]]:
    return {
        "session-start": ("SessionStart", ""),
        "prompt": ("UserPromptSubmit", ""),
        "subagent-start": ("SubagentStart", ""),
        "pre-tool-use": ("PreToolUse", tools),
        "stop": ("Stop", ""),
        "subagent-stop": ("SubagentStop", ""),
    }


class _Claude(Host):
    name = "claude"
    title = "Claude Code"
    events = _events("Bash|Write|Edit|MultiEdit|NotebookEdit|mcp__.*")
    settings = (".claude", "settings.json")
    skills = (".claude", "skills")
    root = '"$CLAUDE_PROJECT_DIR"'
    next = "Claude Code gives memory from its next start on; /hooks there lists what was added"
    home = ("CLAUDE_CONFIG_DIR",)
    beside = ("settings.local.json",)
    forgives = frozenset(["a byte-order mark", "a doubled name"])
    off = ((("disableAllHooks",), True),)
    max_chars = 10_000
    hears_as_it_stops = True


class _Codex(Host):
    name = "codex"
    title = "Codex"
    events = _events("Bash|apply_patch|Edit|Write|mcp__.*")
    settings = (".codex", "hooks.json")
    skills = (".agents", "skills")
    root = '"$(git rev-parse --show-toplevel)"'
    next = "Codex runs hooks only once they are trusted: start it here and look at /hooks"
    home = ("CODEX_HOME",)
    climbs = True
    toml = ("config.toml", "features", "hooks")
    max_tokens = 2_500


class _Gemini(Host):
    name = "gemini"
    title = "Gemini CLI"
    events = {  # noqa: RUF012  (a table; nobody changes it)
        "session-start": ("SessionStart", ""),
        "prompt": ("BeforeAgent", ""),
        "pre-tool-use": ("BeforeTool", "run_shell_command|write_file|replace|mcp_.*"),
        "stop": ("AfterAgent", ""),
    }
    settings = (".gemini", "settings.json")
    skills = (".gemini", "skills")
    root = '"$GEMINI_PROJECT_DIR"'
    next = "Gemini CLI runs the hooks of a project only in a folder it trusts"
    home = ("GEMINI_CLI_HOME", ".gemini")
    forgives = frozenset(["a comment", "a doubled name"])
    off = ((("hooksConfig", "enabled"), False),)
    off_list = ("hooksConfig", "disabled")
    forgets = ("resume",)
    timeout = SECONDS * 1000
    max_chars = 10_000
    plain_answers = True


HOSTS: dict[str, Host] = {host.name: host for host in (_Claude(), _Codex(), _Gemini())}
