"""One look at the bytes of a tool call: can it concern memory at all? It loads nothing and understands nothing.

Hosts write ASCII letters in JSON as they are, so what is not in the bytes is not in the call.
"""

_NAMES = (
    *(b"scaff", b"agent-memory", b"agent_memory", b"knowledge.", b"memory.md", b"context.md", b"memory_"),
    # agent definitions and the settings of hosts
    *(b".claude", b".codex", b".gemini", b".qwen", b".github", b".cursor", b"opencode/", b".mcp.json"),
    # patterns and searches that find hidden folders or documents by chance
    *(b".s*", b".[", b".?", b"/*/", b"*.md", b"grep -r", b"-exec", b"-delete", b"xargs", b"\\\\x"),
)
_BLANKS = bytes(byte if bytes([byte]).isalnum() or byte in b"_-" else 32 for byte in range(256))


def may_concern_memory(data: bytes) -> bool:
    """Say whether a tool call may name a memory file or run `amp`; False only when it surely does not."""
    lowered = data.lower()
    if any(name in lowered for name in _NAMES):
        return True
    if b"amp" not in lowered:
        return False
    for escape in (b"\\n", b"\\t", b"\\r"):
        lowered = lowered.replace(escape, b"  ")
    # `stamp`, `example` and `amp-clamp` are not `amp`.
    return b" amp " in b" %b " % lowered.translate(_BLANKS)
