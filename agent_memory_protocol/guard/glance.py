"""One look at the bytes of a tool call: can it concern memory at all? It loads nothing and understands nothing.

Hosts write ASCII letters in JSON as they are, so what is not in the bytes is not in the call.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOVING = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "QWEN_HOME", "XDG_CONFIG_HOME")
"""Variables that name the folder of a host in place of `.claude` and the like."""
_NAMES = (
    *(b"agent-memory", b"agent_memory", b"knowledge.", b"memory.md", b"context.md", b"memory_"),
    # agent definitions and the settings of hosts
    *(b".claude", b".codex", b".gemini", b".qwen", b".github", b".cursor", b".copilot", b"opencode", b"mcp.json"),
    *(b".codeium", b".zed", b".config/zed", b".vscode", b"claude_desktop"),
    # patterns and searches that find hidden folders or documents by chance
    *(b".s*", b".s?", b".s[", b".s{", b".sc*", b".sc?", b".sc[", b".sc{", b".sca", b".[", b".?", b".{"),
    *(b" .*", b"/.*"),
    *(b"/*/", b"*.md", b"grep -r", b"grep -l", b"-exec", b"-delete", b"xargs", b"rglob", b"fd -", b"walk("),
    *(b"\\\\x", b"\\\\0", b"\\\\1", b"\\\\5", b"\\\\u", b"\\\\n{"),  # escapes, which may spell a name
    # parts of the name, also backwards and in ROT13, and what decodes it
    *(b"scaf", b"ffol", b"olding", b"ffacs", b"nidlo", b"fpns", b"base64", b"base32", b"basenc", b"b64", b"b32"),
    *(b"atob", b"xxd", b"fromhex", b"unhexlify", b"hex'", b'hex\\"', b"h*'", b'h*\\"', b"bytes([", b"bytes(("),
    *(b"chr(", b"(chr", b"charcode", b"codepoint"),
    *(b"clean -", b"stash -"),  # git takes more than it names
    *(b"ls-files", b"ls-tree", b"dotglob"),
)
_QUOTES = b"'\"\\"
_PARTED = b"+, "  # What is between the parts of a name that code puts together, quotes aside
_WORD = bytes(byte for byte in range(128) if chr(byte).isalnum() or chr(byte) in "_{}")
_BLANKS = bytes(byte if bytes([byte]).isalnum() or byte in b"_-" else 32 for byte in range(256))


def may_concern_memory(data: bytes, environ: "Mapping[str, str]") -> bool:
    """Say whether a tool call may name a memory file or run `amp`; False only when it surely does not."""
    lowered = _without_record(data.lower())
    for moving in filter(environ.get, MOVING):
        moved = environ[moving].removeprefix(environ.get("HOME", "")).rstrip("/")  # which may be written as ~
        if any(one.encode("utf-8", "surrogateescape").lower() in lowered for one in (moving, moved)):
            return True
    if any(name in lowered for name in _NAMES) or _puts_together(lowered.translate(None, _QUOTES)):
        return True
    if b"amp" not in lowered:
        return False
    for escape in (b"\\n", b"\\t", b"\\r"):
        lowered = lowered.replace(escape, b"  ")
    # `stamp`, `example` and `amp-clamp` are not `amp`.
    return b" amp " in b" %b " % lowered.translate(_BLANKS)


def _puts_together(data: bytes) -> bool:
    """Say whether a name may be put together here: `.sca''ff`, `'.sca' + 'ff'`, `$a$b`, `a+=ff`."""
    joined = data.translate(None, _PARTED)
    if b".scaf" in joined or b"folding" in joined:
        return True
    variables = data.split(b"$")
    adjacent = any(part and not part.translate(None, _WORD) for part in variables[1:-1])
    return adjacent or (len(variables) > 1 and b"+=" in data)


def _without_record(data: bytes) -> bytes:
    """Take out where the host keeps its record of the session, which lies in the host's own folder in every call.

    Only before the tool's input: what a tool is given is looked at as a whole.
    """
    key = b'"transcript_path"'
    start = data.find(key, 0, max(data.find(b'"tool_input"'), 0))
    if start < 0:
        return data
    opening = data.find(b'"', start + len(key))
    closing = data.find(b'"', opening + 1)
    return data if opening < 0 or closing < 0 else data[:opening] + data[closing:]
