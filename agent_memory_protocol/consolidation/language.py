"""What a language negates with, and which of its words say nothing about what a sentence is about: one table each.

Another language is another `Language`, given to `Contradictions(languages=…)`; no code knows any of these words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """The words by which contradictions are told in one language, in lower case.

    Attributes:
        stem: turns a word into what its forms have in common.
        negators: deny the clause they stand in; two in one clause cancel out.
        partial: right after a negator, leave open how much is denied: "not all".
        negated_ending: the ending that negates a verb, the negator it is, and the verbs of which more is gone.
        further: in a denial, begin what is denied as well: "neither … nor", "not … or".
        contrasts: after a comma, begin what is not so, in place of what was just said: "tabs, not spaces".
        instead: the same without a comma: "instead of".
        absences: after a comma, or first, begin what is not there either: "…; no restart needed".
        reversals: begin what is so, in place of what is not: "but".
        empty: say nothing about what a sentence is about.
        light: verbs that any other may stand for: "is Postgres", "uses Postgres".
        needs: say that something is needed, whatever the sentence is about then.
        needless: say that something is not needed.
        possible: say what can be or may be, which is not what is.
        past: say what was, which is not what is.
        hedges: leave open whether it is so at all.
        copulas: equate two things, which may then change places.
        prepositions: tie what they stand before to its place.
        directions: the prepositions that another one turns round: "before", "after".
        conditions: begin on what condition something holds.
        cuts: begin a reason, a date or an exception, which is left out.
        pronouns: first in a sentence, stand for what the one before was about.
    """

    stem: Callable[[str], str]
    negators: frozenset[str]
    partial: frozenset[str] = frozenset()
    negated_ending: tuple[str, str, Mapping[str, str]] = ("", "", MappingProxyType({}))
    further: frozenset[str] = frozenset()
    contrasts: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    absences: frozenset[str] = frozenset()
    reversals: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    light: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    needless: frozenset[str] = frozenset()
    possible: frozenset[str] = frozenset()
    past: frozenset[str] = frozenset()
    hedges: frozenset[str] = frozenset()
    copulas: frozenset[str] = frozenset()
    prepositions: frozenset[str] = frozenset()
    directions: frozenset[str] = frozenset()
    conditions: frozenset[str] = frozenset()
    cuts: frozenset[str] = frozenset()
    pronouns: frozenset[str] = frozenset()


_IRREGULAR = {
    "built": "build",
    "chosen": "choose",
    "found": "find",
    "kept": "keep",
    "made": "make",
    "ran": "run",
    "sent": "send",
    "written": "write",
    "wrote": "write",
}


@lru_cache(maxsize=20_000)
def english_stem(word: str) -> str:
    """Return an English word without its plural, third-person, past and -ing endings, and without a last -e."""
    word = _IRREGULAR.get(word, word)
    if not word.isascii():
        return word
    for ending, instead in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        base = word[: len(word) - len(ending)]
        if word.endswith(ending) and len(base) > 1 and any(vowel in base for vowel in "aeiouy"):
            if word.endswith(("ss", "us", "is", "eed")):
                break
            if ending in ("ing", "ed") and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            word = base + instead
            break
    return word[:-1] if word.endswith("e") and len(word) > 2 else word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = Language(
    stem=english_stem,
    negators=_set("not no never none nothing nobody nowhere neither nor without avoid cannot"),
    partial=_set("all always both completely each entirely every everyone everything exactly just merely only"),
    negated_ending=("n't", "not", MappingProxyType({"ca": "can", "wo": "will", "sha": "shall"})),
    further=_set("nor or"),
    contrasts=_set("not never"),
    instead=_set("instead rather"),
    absences=_set("no without"),
    reversals=_set("but"),
    empty=_set(
        "a all also always an and any anybody anymore anyone anything are as at be been being both by currently did do"
        " does each every everybody everyone everything for has he her here him his i in into is it its just longer"
        " more my now of on our please really shall she should must so still such than that the their them there these"
        " they this those to today too us very was we were which who will with would yet you your"
    ),
    light=_set("had has have use used uses using"),
    needs=_set("need require necessary mandatory"),
    needless=_set("unnecessary unneeded needless"),
    possible=_set("able can cannot could may might possible possibly"),
    past=_set("formerly had previously was were"),
    hedges=_set(
        "few likely many maybe most mostly often partly perhaps probably rarely several some sometimes usually"
    ),
    copulas=_set("are is was were"),
    prepositions=_set("after at before below between by for from in into of off on over than to under with"),
    directions=_set("above after before below from inside outside over under"),
    conditions=_set("if once unless until when whenever while"),
    cuts=_set("because due except since thanks"),
    pronouns=_set("it that these they this those"),
)
