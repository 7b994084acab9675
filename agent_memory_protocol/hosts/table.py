"""The hosts, one row each: what they say to a hook and expect to hear, and which of their files name hooks and skills.

`docs/` has a page for each host, with the sources of what is said here. The hook loads this before a session's start.
"""

SECONDS = 10
"""How long a host waits for a hook. One that comes to its end takes a fraction of a second."""


class Host:
    """A host. A row below is a class of its own, which says what holds for that host.

    Attributes:
        name: what the command line calls it.
        events: for each event of ours, the host's name, and the tools that its settings ask for; "" for all there are.
        settings: the file that names hooks, below the project or below the person's home folder.
        skills: the folder it looks for skills in, below the same.
        root: how a shell names the project's folder in a hook's command.
        next: what a person has to do before it works.
        home: the environment variable that moves `settings` out of the home folder; "" if there is none.
        timeout: how the host is told how long to wait.
        max_chars, max_tokens: how much it takes in one text before it cuts it, or moves it to a file.
        plain_answers: whether a decision is an answer's own key; else it is inside `hookSpecificOutput`.
        hears_as_it_stops: whether a stopping agent can be told something without being held up.
    """

    name: str
    events: dict[str, tuple[str, str]]
    settings: tuple[str, ...]
    skills: tuple[str, ...]
    root: str
    next: str
    home = ""
    timeout = SECONDS
    max_chars: int | None = None
    max_tokens: int | None = None
    plain_answers = False
    hears_as_it_stops = False

    def hooks(self, program: str) -> dict[str, dict[str, object]]:
        """Return, for each of the host's events, what is added to its list."""
        wanted: dict[str, dict[str, object]] = {}
        for event, (native, tools) in self.events.items():
            command = f"{program} {event} --host {self.name}"
            group: dict[str, object] = {"matcher": tools} if tools else {}
            group["hooks"] = [{"type": "command", "command": command, "timeout": self.timeout}]
            wanted[native] = group
        return wanted


def _events(tools: str) -> dict[str, tuple[str, str]]:
    return {
        "session-start": ("SessionStart", ""),
        "subagent-start": ("SubagentStart", ""),
        "pre-tool-use": ("PreToolUse", tools),
        "stop": ("Stop", ""),
        "subagent-stop": ("SubagentStop", ""),
    }


class _Claude(Host):
    name = "claude"
    events = _events("Bash|Write|Edit|MultiEdit|NotebookEdit|mcp__.*")
    settings = (".claude", "settings.json")
    skills = (".claude", "skills")
    root = '"$CLAUDE_PROJECT_DIR"'
    next = "Claude Code gives memory from its next start on; /hooks there lists what was added"
    max_chars = 10_000
    hears_as_it_stops = True


class _Codex(Host):
    name = "codex"
    events = _events("Bash|apply_patch|Edit|Write|mcp__.*")
    settings = (".codex", "hooks.json")
    skills = (".agents", "skills")
    root = '"$(git rev-parse --show-toplevel)"'
    next = "Codex runs hooks only once they are trusted: start it here and look at /hooks"
    home = "CODEX_HOME"
    max_tokens = 2_500


class _Gemini(Host):
    name = "gemini"
    events = {  # noqa: RUF012  (a table; nobody changes it)
        "session-start": ("SessionStart", ""),
        "pre-tool-use": ("BeforeTool", "run_shell_command|write_file|replace|mcp_.*"),
        "stop": ("AfterAgent", ""),
    }
    settings = (".gemini", "settings.json")
    skills = (".gemini", "skills")
    root = '"$GEMINI_PROJECT_DIR"'
    next = "Gemini CLI runs the hooks of a project only in a folder it trusts"
    timeout = SECONDS * 1000
    max_chars = 10_000
    plain_answers = True


HOSTS: dict[str, Host] = {host.name: host for host in (_Claude(), _Codex(), _Gemini())}
