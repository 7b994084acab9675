"""What the tests of documents share: read one, name its entries, take some out and put them back."""

from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.document import Document
from agent_memory_protocol.tiers.remove import remove as take_out
from agent_memory_protocol.tiers.restore import put_back
from agent_memory_protocol.tiers.taken import take

SHARED = Target(Tier.SHARED)


def parse(text: str | bytes) -> Document:
    """Read a document of the shared tier."""
    return document.parse(text.encode() if isinstance(text, str) else text, SHARED)


def ids_with(doc: Document, *words: str) -> list[str]:
    """Return the ids of the entries that hold one of these words, in file order."""
    found = [
        entry_id
        for entry_id, entry in zip(doc.ids, doc.outline.entries, strict=True)
        if any(word in doc.text(entry) for word in words)
    ]
    assert found
    return found


def remove_and_return(text: str, *words: str, order: int = 1) -> str:
    """Take out entries, and put them back one by one, in file order or with -1 against it."""
    doc = parse(text)
    taken = [take(doc, one) for one in ids_with(doc, *words)]
    left = take_out(doc, [one.id for one in taken])
    for one in taken[::order]:
        left = put_back(left, one)
    return left.data.decode()
