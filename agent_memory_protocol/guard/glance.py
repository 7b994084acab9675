"""One look at the bytes of a tool call: can it concern memory at all? It loads nothing and understands nothing.

Hosts write ASCII letters in JSON as they are, so what is not in the bytes is not in the call.
"""

_NAMES = (
    *(b"agent-memory", b"agent_memory", b"knowledge.", b"memory.md", b"context.md", b"memory_"),
    # agent definitions and the settings of hosts
    *(b".claude", b".codex", b".gemini", b".qwen", b".github", b".cursor", b".copilot", b"opencode", b"mcp.json"),
    # patterns and searches that find hidden folders or documents by chance
    *(b".s*", b".[", b".?", b"/*/", b"*.md", b"grep -r", b"grep -l", b"-exec", b"-delete", b"xargs"),
    *(b"\\\\x", b"\\\\0", b"\\\\1", b"\\\\5", b"\\\\u", b"\\\\n{"),  # escapes, which may spell a name
    # parts of the name, also backwards and in ROT13, and what decodes it
    *(b"scaf", b"ffol", b"olding", b"ffacs", b"nidlo", b"fpns", b"base64", b"base32", b"basenc", b"b64", b"b32"),
    *(b"atob", b"xxd", b"fromhex", b"unhexlify", b"hex'", b'hex\\"', b"h*'", b'h*\\"', b"bytes([", b"bytes(("),
    *(b"chr(", b"(chr", b"charcode", b"codepoint"),
    *(b"clean -", b"stash -"),  # git takes more than it names
    *(b"ls-files", b"ls-tree", b"dotglob"),
)
_BLANKS = bytes(byte if bytes([byte]).isalnum() or byte in b"_-" else 32 for byte in range(256))


def may_concern_memory(data: bytes) -> bool:
    """Say whether a tool call may name a memory file or run `amp`; False only when it surely does not."""
    lowered = _without_record(data.lower())
    if any(name in lowered for name in _NAMES):
        return True
    if b"amp" not in lowered:
        return False
    for escape in (b"\\n", b"\\t", b"\\r"):
        lowered = lowered.replace(escape, b"  ")
    # `stamp`, `example` and `amp-clamp` are not `amp`.
    return b" amp " in b" %b " % lowered.translate(_BLANKS)


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
