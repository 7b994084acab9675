"""One look at a text: can it hold a secret at all? Most that agents write cannot, which is soon said.

It loads no `re`: to load that takes as long as all else that the guard does before a tool call.
"""

from .languages import spelled
from .table import FAMILIES

SHORTEST = 15  # No secret that is known by its shape alone is shorter

READS_AS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("\u2010\u2011\u2212\u2013\u2014", "-"),
        **dict.fromkeys("→⟶➜➡", "->"),
        **dict.fromkeys("⇒⟹", "=>"),
    }
)


def may_hold_secret(text: str) -> bool:
    """Say whether a search of a text can find anything; False only when it surely cannot."""
    lowered = text.lower()
    if any(label in lowered for label in spelled(text.isascii())):
        return True
    text = text.translate(READS_AS)
    if not text.isascii() or "\\" in text or not text.replace("\n", "").isprintable():
        return True
    text += "\n" + "".join([line.strip(" >") for line in text.split("\n")])  # as a value goes on in the next line
    words = [word for word in text.split() if len(word) >= SHORTEST]
    lowered = text.lower()
    return any(
        keyword in (text if keyword != keyword.lower() else lowered)
        and (family.within != "word" or any(_begins(word, keyword, family.shortest) for word in words))
        and (not family.also or any(one in lowered for one in family.also))
        for family in FAMILIES
        for keyword in family.keywords
    )


def _begins(word: str, keyword: str, shortest: int) -> bool:
    return len(word) >= shortest and keyword in (word if keyword != keyword.lower() else word.lower())
