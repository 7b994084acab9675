"""What each host needs to have memory: which of its files say which hooks it runs, and where it looks for skills.

`docs/` has a page for each host, with the sources of what stands here.
"""

from dataclasses import dataclass

SECONDS = 10
"""How long a host waits for a hook. One that comes to its end takes a fraction of a second."""


@dataclass(frozen=True, slots=True)
class HostFiles:
    """The files of a host, below the project or below the person's home folder.

    Attributes:
        name: the host.
        title: what it is called.
        settings: the file that names hooks.
        skills: the folder it looks for skills in.
        home: the environment variable that moves `settings` out of the home folder; "" where there is none.
        root: what a shell makes the project's folder of in a hook's command.
        events: for each event of ours, the host's name, and the tools it is for; "" for all there are.
        timeout: how the host is told how long to wait.
        next: what a person has to do before it works; "" for nothing.
    """

    name: str
    title: str
    settings: tuple[str, ...]
    skills: tuple[str, ...]
    root: str
    events: tuple[tuple[str, str, str], ...]
    timeout: int = SECONDS
    home: str = ""
    next: str = ""

    def hooks(self, program: str) -> dict[str, list[dict[str, object]]]:
        """Return, for each of the host's events, what is added to its list."""
        wanted: dict[str, list[dict[str, object]]] = {}
        for event, native, matcher in self.events:
            command = f"{program} {event} --host {self.name}"
            group: dict[str, object] = {"matcher": matcher} if matcher else {}
            group["hooks"] = [{"type": "command", "command": command, "timeout": self.timeout}]
            wanted[native] = [group]
        return wanted


CLAUDE = HostFiles(
    "claude",
    "Claude Code",
    (".claude", "settings.json"),
    (".claude", "skills"),
    '"$CLAUDE_PROJECT_DIR"',
    (
        ("session-start", "SessionStart", ""),
        ("subagent-start", "SubagentStart", ""),
        ("pre-tool-use", "PreToolUse", "Bash|Write|Edit|MultiEdit|NotebookEdit|mcp__.*"),
        ("stop", "Stop", ""),
        ("subagent-stop", "SubagentStop", ""),
    ),
    next="Claude Code gives memory from its next start on; /hooks there lists what was added",
)
CODEX = HostFiles(
    "codex",
    "Codex",
    (".codex", "hooks.json"),
    (".agents", "skills"),
    '"$(git rev-parse --show-toplevel)"',
    (
        ("session-start", "SessionStart", ""),
        ("subagent-start", "SubagentStart", ""),
        ("pre-tool-use", "PreToolUse", "Bash|apply_patch|Edit|Write|mcp__.*"),
        ("stop", "Stop", ""),
        ("subagent-stop", "SubagentStop", ""),
    ),
    home="CODEX_HOME",
    next="Codex runs hooks only once they are trusted: start it here and look at /hooks",
)
GEMINI = HostFiles(
    "gemini",
    "Gemini CLI",
    (".gemini", "settings.json"),
    (".gemini", "skills"),
    '"$GEMINI_PROJECT_DIR"',
    (
        ("session-start", "SessionStart", ""),
        ("pre-tool-use", "BeforeTool", "run_shell_command|write_file|replace|mcp_.*"),
        ("stop", "AfterAgent", ""),
    ),
    timeout=SECONDS * 1000,
    next="Gemini CLI runs the hooks of a project only in a folder it trusts",
)
FILES = {host.name: host for host in (CLAUDE, CODEX, GEMINI)}
