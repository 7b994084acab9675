"""The hosts, one row each: what they say to a hook and expect to hear, and which of their files name hooks and skills.

`docs/` has a page for each host, with the sources of what is said here. The hook loads this before a session's start.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Answer = dict[str, object]

FAILS_OPEN = " || true"  # How a command line ends with 0 whatever becomes of its program

FOR_PERSON = " --user"
"""What tells the hooks of a person's own settings from those of a project: where both are, the project's are silent."""

SECONDS = 10
"""How long a host waits for a hook. One that comes to its end takes a fraction of a second."""

MISSHAPEN = frozenset(
    [
        "a group of hooks that is not an object",
        "a group without hooks",
        "a matcher that is not a text",
        "a hook that is not an object",
        "a hook without a type",
        "a hook without a command",
        "a timeout that is not a number above 0",
    ]
)
"""What some hosts pass over where hooks are listed, and others pass over the whole file for."""


class Host:
    """A host. A row below is a class of its own, which says what holds for that host."""

    name: str  # what the command line calls it
    title: str  # what people call it
    # for each event of ours, the host's name, and the tools that its settings ask for; "" for all there are
    events: dict[str, tuple[str, str]]
    settings: tuple[str, ...]  # the file that names hooks, below the project or below the person's home folder
    skills: tuple[str, ...]  # the folder it looks for skills in, below the same
    root: str  # how a shell names the project's folder in a hook's command
    next: str  # what a person has to do before it works
    # what its folder is called in a person's home folder, where that is not the first of `settings`
    own: tuple[str, ...] = ()
    # the environment variable that moves its folder out of the home folder, and what is below that
    home: tuple[str, ...] = ()
    begins = "{\n}\n"  # what a new file of settings holds
    is_flat = False  # whether its settings list hooks themselves, and no groups of them
    # further files in the folder of `settings` that it reads hooks from; people write them, amp does not
    beside: tuple[str, ...] = ()
    climbs = False  # whether it reads `settings` of the folders above the one it is started in
    # what its reader of settings takes that other readers do not: of `json_text.Oddity` and `MISSHAPEN`
    forgives: frozenset[str] = frozenset()
    knows: tuple[str, ...] = ()  # the names that its settings may have; empty for any
    # the keys of its settings that switch hooks off, each with the value that does
    off: tuple[tuple[tuple[str, ...], bool], ...] = ()
    off_list: tuple[str, ...] = ()  # the key that lists the command lines of hooks that are off
    # a TOML file beside `settings`, and the key in it that switches hooks off where it is false
    toml: tuple[str, ...] = ()
    names_agent_in_id = False  # whether a tool's call names its agent only in the agent's id, `NAME-…`
    forgets: tuple[str, ...] = ()  # the sources of a session's start at which it has lost what hooks gave before
    timeout = SECONDS  # how the host is told how long to wait
    # with `max_tokens`: how much it takes in one text before it cuts it, or moves it to a file
    max_chars: int | None = None
    max_tokens: int | None = None
    hears_as_it_stops = False  # whether a stopping agent can be told something without being held up

    def call(self, event: str, *, for_person: bool = False) -> str:
        """Return what follows the program's name in the command line of an event's hook."""
        return f"{event} --host {self.name}{FOR_PERSON if for_person else ''}"

    def hooks(self, program: str, *, for_person: bool = False) -> dict[str, dict[str, object]]:
        """Return, for each of the host's events, what is added to its list.

        The command line fails open by itself: to Gemini CLI, any exit code but 0 and 1 is a denial.
        """
        wanted: dict[str, dict[str, object]] = {}
        for event, (native, tools) in self.events.items():
            command = f"{program} {self.call(event, for_person=for_person)}{FAILS_OPEN}"
            group: dict[str, object] = {"matcher": tools} if tools else {}
            hook = {"type": "command", "command": command, "timeout": self.timeout}
            wanted[native] = {**hook, **group} if self.is_flat else {**group, "hooks": [hook]}
        return wanted

    def parts(self, path: tuple[str, ...], *, for_person: bool) -> tuple[str, ...]:
        """Return where a file of a project lies, or the same in a person's home folder."""
        return (*self.own, *path[1:]) if for_person and self.own and path[0] == self.settings[0] else path

    def base_of(self, home: str, environ: "Mapping[str, str]") -> str:
        """Return the host's folder for a person, in which what it reads lies; "" if nothing names one."""
        moved = environ.get(self.home[0], "") if self.home else ""
        if moved:
            return "/".join([moved, *self.home[1:]])
        return "/".join([home, *(self.own or self.settings[:1])]) if home else ""

    def folder_of(self, home: str, environ: "Mapping[str, str]") -> str:
        """Return the folder that a person's own settings of this host lie in; "" if nothing names one."""
        base = self.base_of(home, environ)
        return "/".join([base, *self.settings[1:-1]]) if base else ""

    def context(self, event: str, text: str) -> "Answer":
        """Give the agent a text to know."""
        return self._inside(event, additionalContext=text)

    def denial(self, event: str, reason: str) -> "Answer":
        """Deny a tool call; the agent is told the reason."""
        return self._inside(event, permissionDecision="deny", permissionDecisionReason=reason)

    def block(self, reason: str) -> "Answer":
        """Have the agent go on instead of stopping, for this reason."""
        return {"decision": "block", "reason": reason}

    def _inside(self, event: str, **said: str) -> "Answer":
        return {"hookSpecificOutput": {"hookEventName": self.events[event][0], **said}}


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
    next = "restart Claude Code to load memory; /hooks there lists what was added"
    home = ("CLAUDE_CONFIG_DIR",)
    beside = ("settings.local.json",)
    forgives = frozenset(["a byte-order mark", "a doubled name", "half a character"])
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
    forgives = frozenset(["a group without hooks"])
    knows = ("hooks", "description")
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
    forgives = MISSHAPEN | {"a comment", "a doubled name", "half a character"}
    off = ((("hooksConfig", "enabled"), False),)
    off_list = ("hooksConfig", "disabled")
    forgets = ("resume",)
    timeout = SECONDS * 1000
    max_chars = 10_000

    def denial(self, _event: str, reason: str) -> "Answer":
        return {"decision": "deny", "reason": reason}

    def block(self, reason: str) -> "Answer":
        return {"decision": "deny", "reason": reason}


class _Qwen(Host):
    name = "qwen"
    title = "Qwen Code"
    # Its subagents start with a hook, too, but what that says did not reach their model (0.24.4).
    events = {  # noqa: RUF012
        event: native
        for event, native in _events("run_shell_command|write_file|edit|notebook_edit|mcp__.*").items()
        if event != "subagent-start"
    }
    settings = (".qwen", "settings.json")
    skills = (".qwen", "skills")
    root = '"$QWEN_PROJECT_DIR"'
    next = "Qwen Code runs the hooks of a project only in a folder it trusts; /hooks there lists them"
    home = ("QWEN_HOME",)
    forgives = MISSHAPEN | {
        "a byte-order mark",
        "a comment",
        "a comma after the last one",
        "a doubled name",
        "half a character",
    }
    off = ((("disableAllHooks",), True),)
    names_agent_in_id = True
    forgets = ("resume",)
    timeout = SECONDS * 1000
    max_chars = 10_000


class _Copilot(Host):
    name = "copilot"
    title = "GitHub Copilot CLI"
    events = {  # noqa: RUF012
        "session-start": ("sessionStart", ""),
        "prompt": ("userPromptSubmitted", ""),
        "subagent-start": ("subagentStart", ""),
        "pre-tool-use": (
            "preToolUse",
            "bash|powershell|write_bash|write_powershell|create|edit|str_replace_editor|apply_patch|.*-.*",
        ),
        "stop": ("agentStop", ""),
        "subagent-stop": ("subagentStop", ""),
    }
    settings = (".github", "hooks", "agent-memory.json")
    skills = (".github", "skills")
    own = (".copilot",)
    root = '"$(git rev-parse --show-toplevel)"'
    next = "Copilot CLI runs the hooks of a project only in a folder it trusts"
    home = ("COPILOT_HOME",)
    forgives = MISSHAPEN | {"a doubled name"}
    begins = '{\n  "version": 1\n}\n'
    is_flat = True
    off = ((("disableAllHooks",), True),)
    max_chars = 10_000

    def context(self, _event: str, text: str) -> "Answer":
        return {"additionalContext": text}

    def denial(self, _event: str, reason: str) -> "Answer":
        return {"permissionDecision": "deny", "permissionDecisionReason": reason}


class _Cursor(Host):
    name = "cursor"
    title = "Cursor"
    events = {  # noqa: RUF012
        "session-start": ("sessionStart", ""),
        "pre-tool-use": ("preToolUse", "Shell|Write|Edit|StrReplace|Delete|ApplyPatch|MCP.*"),
        "stop": ("stop", ""),
        "subagent-stop": ("subagentStop", ""),
    }
    settings = (".cursor", "hooks.json")
    skills = (".cursor", "skills")
    root = '"$CURSOR_PROJECT_DIR"'
    next = "Cursor reads its hooks as it starts; its settings list them under Hooks"
    forgives = MISSHAPEN
    begins = '{\n  "version": 1\n}\n'
    is_flat = True
    max_chars = 10_000

    def context(self, _event: str, text: str) -> "Answer":
        return {"additional_context": text}

    def denial(self, _event: str, reason: str) -> "Answer":
        return {"permission": "deny", "user_message": reason, "agent_message": reason}

    def block(self, reason: str) -> "Answer":
        return {"followup_message": reason}


class _Opencode(Host):
    name = "opencode"
    title = "opencode"
    events = {  # noqa: RUF012  (the plugin's own names)
        event: (event, "") for event in ("session-start", "subagent-start", "pre-tool-use", "stop", "subagent-stop")
    }
    settings = (".opencode", "plugins", "agent-memory.js")
    skills = (".opencode", "skills")
    own = (".config", "opencode")
    root = '"$AMP_PROJECT_DIR"'
    next = "opencode loads the plugin at its next start"
    home = ("XDG_CONFIG_HOME", "opencode")
    max_chars = 10_000


HOSTS: dict[str, Host] = {
    host.name: host for host in (_Claude(), _Codex(), _Gemini(), _Qwen(), _Copilot(), _Cursor(), _Opencode())
}
