"""Picking: which words of a query pick the passages to weigh, where so many have a frequent one that it takes too long.

What has a rare word, or all of the frequent ones, comes first in any case.
"""

from collections.abc import Mapping
from itertools import accumulate

MANY = 20_000
"""Of so many passages all that fit are weighed. Of more, frequent words pick less."""

LOOKED_AT = 2_000
"""So many passages are weighed for their rarest words, and again for having all the others."""


def divided(held: Mapping[str, int], looked_at: int) -> tuple[list[str], list[str]]:
    """Return the rarest tokens, which so many passages have at most, and the others.

    The rarest one of all is always among the first. `held` says how many passages have each.
    """
    rising = sorted((token for token, passages in held.items() if passages), key=held.__getitem__)
    count = sum(total <= looked_at for total in accumulate(held[token] for token in rising))
    return rising[: max(count, 1)], rising[max(count, 1) :]
