"""A sample of entries for measuring: as long, as tagged and as wide as those of an agent at work, always the same."""

import random
import uuid
from array import array

from ..formats.entry import MemoryEntry

TAG = "task"  # The tag that is asked for; one entry in ten has it

_TAGS = ("infrastructure", "release", "style", "review", "bug", "customer")
_SOURCES = ("shell", "browser", "editor", "user", "https://example.org/api")
_WORDS = """
the a of to in is on for with that was deploy test build queue cache server database index user page error log branch
merge review release config token file path line format schema needs fails runs after before because never
""".split()  # noqa: SIM905 - a text is read more easily than a list
_BEGIN = 1_767_225_600_000


def sample(records: int, dimensions: int) -> list[MemoryEntry]:
    """Return so many entries, each with a vector of so many numbers."""
    draw = random.Random(records)  # noqa: S311 - a sample is not a secret
    return [_entry(draw, number, dimensions) for number in range(records)]


def _entry(draw: random.Random, number: int, dimensions: int) -> MemoryEntry:
    tags = draw.sample(_TAGS, draw.choice((0, 1, 1, 2)))
    # Numbers of few bits would be written shorter than real ones.
    vector = array("f", [draw.random() - 0.5 for _ in range(dimensions)])
    if array("H", [1]).tobytes() != b"\1\0":
        vector.byteswap()
    return MemoryEntry(
        id=str(uuid.UUID(int=draw.getrandbits(128), version=4)),
        timestamp_ms=_BEGIN + number * 1000 + draw.randrange(60_000),
        text=" ".join(draw.choices(_WORDS, k=draw.randrange(4, 60))).capitalize() + ".",
        tags=(TAG, *tags) if draw.random() < 0.1 else tuple(tags),
        source=draw.choice(_SOURCES),
        embedding=vector.tobytes(),
        relevance=round(draw.random(), 3),
        extra={"session": f"s-{number // 50}"} if draw.random() < 0.5 else {},
    )
