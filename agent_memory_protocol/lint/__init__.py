"""What is wrong with a memory: one rule, one function, each with a sentence that says what to do.

To import this is to know every rule.
"""

from . import belonging, dates, index, ledgers, notes, repeats, store, tiers

__all__ = ["belonging", "dates", "index", "ledgers", "notes", "repeats", "store", "tiers"]
