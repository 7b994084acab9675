"""One look at the bytes of a tool call: can it concern memory at all? It loads nothing and understands nothing.

Hosts write ASCII letters in JSON as they are, so what is not in the bytes is not in the call.
"""

_NAMES = (b"scaffolding", b"agent-memory", b"agent_memory", b"knowledge.md", b"memory.md", b"context.md")
_PROGRAM = b"amp"


def may_concern_memory(data: bytes) -> bool:
    """Say whether a tool call may name a memory file or run `amp`; False only when it surely does not."""
    lowered = data.lower()
    if any(name in lowered for name in _NAMES):
        return True
    position = lowered.find(_PROGRAM)
    while position >= 0:
        end = position + len(_PROGRAM)
        if not (_is_letter(lowered, position - 1) and not _is_escape(lowered, position)) and not _is_letter(
            lowered, end
        ):
            return True
        position = lowered.find(_PROGRAM, end)
    return False


def _is_letter(data: bytes, position: int) -> bool:
    """Say whether a byte belongs to a word, so that `stamp`, `example` and `amp-clamp` are not `amp`."""
    return 0 <= position < len(data) and (data[position : position + 1].isalnum() or data[position] in b"_-")


def _is_escape(data: bytes, position: int) -> bool:
    r"""Say whether the letter before is that of `\n` or `\t`, and `amp` begins a line."""
    return position >= 2 and data[position - 2 : position] in (b"\\n", b"\\t", b"\\r")
