"""Picking: which words of a query pick the passages to weigh, where so many have a frequent one that it takes too long.

What has a rare word, or all of the frequent ones, comes first in any case.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

MANY = 20_000
"""Of so many passages all that fit are weighed. Of more, frequent words pick less."""

LOOKED_AT = 2_000  # So many passages are weighed for their rarest words, and again for having all the others


class Pick(NamedTuple):
    """What picks passages: any of some tokens, or all of them. Of those that have all, the shortest are the best."""

    tokens: list[str]
    all: bool


def picks(held: Mapping[str, int], looked_at: int) -> list[Pick]:
    """Return what picks passages, one after the other until there are enough; `held` counts those with each token."""
    rising = sorted((token for token, passages in held.items() if passages), key=held.__getitem__)
    count = sum(total <= looked_at for total in accumulate(held[token] for token in rising))
    rare, frequent = rising[:count], rising[count:]
    if rare:
        return [Pick(rare, all=False), *([Pick(frequent, all=True)] if frequent else [])]
    return [Pick(rising, all=True), Pick(rising[:1], all=True)] if rising else []
