"""`Language` and `ENGLISH` under the name by which programs import them."""

from ..text.language import ENGLISH, Language

__all__ = ["ENGLISH", "Language"]
