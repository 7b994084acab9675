"""The words of a sentence, and which of them deny something or say nothing, in one language.

Another language is another `Language`, given to `Contradictions(languages=…)`; no code knows any of these words.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias
from unicodedata import normalize

from ..values import dataclass
from .stem import base

Words: TypeAlias = frozenset[str]

_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\w)([^*]+)\1(?![\w*/])")
_QUOTES = "\"'`“”‘’„«»"
_OPENING = _QUOTES + "([{"
_CLOSING = _QUOTES + ")]}.,;:!?…。、，！？；："
_SEPARATORS = "-–—*•·|/"
_BESIDE = 3  # So many words after a negator, what belongs to it is said
_MIXED_CASE = re.compile(r"[^\W\d_]*[a-zß-ÿ][A-Z]")
_FOREIGN_NEGATORS = """
    nicht kein keine keinem keinen keiner keines nie niemals ohne geen niet nooit inte ikke aldri aldrig
    ne pas jamais aucun aucune non não nunca jamás senza не нет никогда tidak jangan không değil नहीं मत לא אין אסור ليس
"""
"""What says “not” in another language, and nothing in an English sentence."""
SHORT_FORMS = {
    "app": "application",
    "config": "configuration",
    "db": "database",
    "deps": "dependency",
    "dir": "directory",
    "docs": "documentation",
    "env": "environment",
    "prod": "production",
    "repo": "repository",
}
"""How words are often cut short, and what they are compared as."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """The words by which contradictions are found in one language, in lower case."""

    stem: Callable[[str], str]  # Turns a word into what its forms have in common
    negators: Words  # Deny the clause they are in; two in one clause cancel out
    partial: Words = frozenset()  # Right after a negator, leave open how much is denied: "not all"
    negated_ending: tuple[str, str, Mapping[str, str]] = ("", "", MappingProxyType({}))
    """The ending that negates a verb, the negator it means, and the verbs that lose more than the ending."""
    foreign: Mapping[str, str] = field(default_factory=dict)
    """Words of other languages that mean a word of this one whatever they are read in: "nicht" is not."""
    clitics: Mapping[str, str] = field(default_factory=dict)  # The same for what a word begins with: "n'utilise"
    fillers: Words = frozenset()  # Beside a negator, up to two words away, say nothing more: "nicht mehr", "ya no"
    further: Words = frozenset()  # In a denial, begin what is denied as well: "neither … nor", "not … or"
    joins: Words = frozenset()
    """In a denial and before a negator, begin what is denied as well: "no cache and no queue"."""
    contrasts: Words = frozenset()
    """After a comma, begin what is not so, in place of what was just said: "tabs, not spaces"."""
    instead: Words = frozenset()  # The same without a comma: "instead of"
    absences: Words = frozenset()  # After a comma, or first, begin what is missing as well: "…; no restart needed"
    reversals: Words = frozenset()  # Begin what is so, in place of what is not: "but"
    empty: Words = frozenset()  # Say nothing about what a sentence is about
    light: Words = frozenset()  # Verbs that may be exchanged for any other: "is Postgres", "uses Postgres"
    needs: Words = frozenset()  # Say that something is needed, whatever the sentence is about then
    needless: Words = frozenset()  # Say that something is not needed
    possible: Words = frozenset()  # Say what can be or may be, which is not what is
    past: Words = frozenset()  # Say what was, which is not what is
    hedges: Words = frozenset()  # Leave open whether it is so at all
    copulas: Words = frozenset()  # Equate two things, which may then change places
    prepositions: Words = frozenset()  # Tie the words after them to their place
    directions: Words = frozenset()  # The prepositions that another one turns round: "before", "after"
    conditions: Words = frozenset()  # Begin the condition on which something holds
    lacking: Words = frozenset()  # The same, unless they say how something is done: "runs without"
    cuts: Words = frozenset()  # Begin a reason, a date or an exception, which is left out
    pronouns: Words = frozenset()  # First in a sentence, refer to what the sentence before was about
    opposites: Mapping[str, str] = field(default_factory=dict)
    """Words that deny another one, and the stem of that: "disabled" is not enabled."""
    question_words: Words = frozenset()  # Begin a question, if one of `inverted` follows soon
    inverted: Words = frozenset()  # Verbs that begin a question where they are first
    imperative_too: Words = frozenset()
    """Verbs that begin a question only where one of `subjects` follows: "Do we …", but "Do run …"."""
    subjects: Words = frozenset()  # What a sentence may be about, in front of its verb
    guesses: Words = frozenset()  # Say that nobody knows yet
    guessing_phrases: tuple[str, ...] = ()  # The same, in several words
    imperatives: Words = frozenset()  # Verbs that a sentence begins with which tells somebody what to do
    advice: Words = frozenset()  # Say what should be
    duty: Words = frozenset()  # Say what must be
    duty_phrases: tuple[str, ...] = ()  # The same, in several words
    preferring: Words = frozenset()  # First in a sentence, say what is better and not what must be
    plan_phrases: tuple[str, ...] = ()  # Say what somebody means to do, which is not what is done
    adding: Words = frozenset()  # Say that something is so beside other things
    adding_ends: tuple[str, ...] = ()  # The same, at the end of a sentence
    picking: Words = frozenset()  # First in a sentence, name one of several


def english(word: str, *, past: bool = True) -> str:
    """Return what the forms of an English word have in common, short forms included; see `stem.base`."""
    return base(SHORT_FORMS.get(word, word), past=past)


def word_set(text: str) -> Words:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """Return the phrases of a text that has a stroke between two."""
    return tuple(text.split(" | "))


ENGLISH = Language(
    stem=english,
    negators=word_set("not no never none nothing nobody nowhere neither nor without avoid cannot"),
    partial=word_set("all always both completely each entirely every everyone everything exactly just merely only"),
    negated_ending=("n't", "not", MappingProxyType({"ca": "can", "wo": "will", "sha": "shall"})),
    foreign=MappingProxyType(dict.fromkeys(_FOREIGN_NEGATORS.split(), "not")),
    clitics=MappingProxyType({"n'": "not"}),
    fillers=word_set(
        "aucun jamais længere längre langer lenger mai mais mehr meer más pas plus più rien ya Ya lagi больше Больше अब"
    ),
    further=word_set("nor or"),
    joins=word_set("and"),
    contrasts=word_set("not never"),
    instead=word_set("instead rather"),
    absences=word_set("no without"),
    reversals=word_set("but"),
    empty=word_set(
        "a all also always an and any anybody anymore anyone anything are as at be been being both by currently did do"
        " does each every everybody everyone everything for has he her here him his i in into is it its just longer"
        " more my now of on our please really shall she should must so still such than that the their them there these"
        " they this those to today too us very was we were which who will with would yet you your"
    ),
    light=word_set("had has have use used uses using"),
    needs=word_set("need require necessary mandatory"),
    needless=word_set("unnecessary unneeded needless"),
    possible=word_set("able can cannot could may might possible possibly"),
    past=word_set("formerly had previously was were"),
    hedges=word_set(
        "few likely many maybe most mostly often partly perhaps planned probably proposal proposals proposed rarely"
        " several some sometimes usually"
    ),
    copulas=word_set("are is was were"),
    prepositions=word_set("after at before below between by for from in into of off on over than to under with"),
    directions=word_set("above after before below from inside outside over under"),
    conditions=word_set("if once unless until when whenever while"),
    lacking=word_set("without"),
    cuts=word_set("because due except since thanks"),
    pronouns=word_set("it that these they this those"),
    opposites=MappingProxyType(
        {
            base(word): base(positive)
            for positive, words in {
                "accept": "decline refuse reject",
                "active": "inactive",
                "allow": "deny forbid forbidden prohibit ban disallow",
                "automatic": "manual",
                "automatically": "manually",
                "available": "unavailable",
                "enable": "disable",
                "encrypted": "unencrypted plaintext",
                "fast": "slow",
                "include": "exclude",
                "increase": "decrease reduce",
                "mandatory": "optional",
                "mutable": "immutable",
                "online": "offline",
                "pin": "unpin",
                "public": "private",
                "retain": "drop discard",
                "safe": "unsafe",
                "show": "hide",
                "secure": "insecure",
                "stable": "unstable",
                "stateful": "stateless",
                "succeed": "fail",
                "support": "unsupported",
                "synchronous": "asynchronous",
                "true": "false",
                "valid": "invalid",
            }.items()
            for word in words.split()
        }
    ),
    question_words=word_set("how what when where which who whom whose why"),
    inverted=word_set(
        "am are can could did does has is may might must shall should was were will would isn't aren't doesn't"
    ),
    imperative_too=word_set("do"),
    subjects=word_set(
        "a all an any anybody anyone both each every everybody everyone he i it my our people she somebody someone"
        " that the there these they this those we you your"
    ),
    guesses=word_set(
        "afaict afaik allegedly apparently assume assumed assuming assumption guess guessing hypothesis hypothetical"
        " hypothetically hypothesise hypothesize likely maybe might perhaps possibly presumably probably rumour rumor"
        " seem seems seemingly seemed speculation speculative suppose supposed supposedly suspect suspected tbc tbd"
        " theoretically theory unclear unconfirmed unsure untested unverified whether wonder iirc"
    ),
    guessing_phrases=phrases(
        "appears to | as far as i know | if i am not mistaken | if i recall | if i remember | believe that | could be"
        " | could have | do not know | i believe | i think | i would say | it appears | it is possible that | looks"
        " like | may be | may have | not certain | not clear | not known | not sure | one idea | should probably | to"
        " be checked | to be confirmed | to be decided | to be tested | to be validated | to be verified | we believe"
        " | we think | what if | who knows | would be | would have"
    ),
    imperatives=word_set(
        "add adopt allow always append apply archive ask assign assume attach avoid back backup be begin block"
        " book bring build bump cache call cancel change check choose clean clear clone close collect commit"
        " compare compile confirm connect consult contact convert copy cover create cut declare define delete"
        " deploy describe disable do document don't download drop dump edit enable encrypt ensure exclude execute"
        " export extract fetch file find fix follow forbid format generate get give group handle hash hide hold"
        " ignore implement import include increase index install invoke keep leave let limit link lint list load"
        " lock log look make mark measure merge migrate mock mount move name never note notify open order pass"
        " pick pin place plan please point post prefer prepare preserve print profile protect provide publish pull"
        " purge push put raise read rebase rebuild record redact reduce refer reject release reload remember"
        " remove rename render reopen replace report request require rerun reset resolve respect restart restore"
        " retain retry return reuse revert review revoke roll rotate route run save schedule scale see seed send"
        " separate serve set share ship show sign skip sort specify split squash stage start stop store submit"
        " switch sync tag take target tell test throw trace trigger trim truncate try turn type unlock update"
        " upgrade upload use validate verify wait warn watch wrap write"
    ),
    advice=word_set(
        "advisable advised better consider ideally ought preferably recommend recommended should suggest suggested"
    ),
    duty=word_set("must shall mandatory obligatory compulsory"),
    duty_phrases=phrases(
        "has to | have to | is to be | are to be | needs to | need to | is required to | are required to"
    ),
    preferring=word_set("favor favour prefer"),
    adding=word_set("also additionally"),
    adding_ends=phrases("too . | as well ."),
    picking=word_set("a an another one some"),
    plan_phrases=phrases(
        "about to | aim to | aims to | going to | hope to | hopes to | intend to | intends to | plan to | planned to"
        " | planning to | plans to | tries to | try to | want to | wants to"
    ),
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a sentence: as written, in lower case, and the last character before the blank in front of it."""

    written: str
    lowered: str
    after: str = ""
    is_plain: bool = field(init=False, compare=False)
    """Whether its case and ending do not matter: it is not a name that code is called by, and no number or path."""

    def __post_init__(self) -> None:
        is_plain = self.written.isalpha() and not _MIXED_CASE.match(self.written)
        object.__setattr__(self, "is_plain", is_plain)


def plain(text: str) -> str:
    """Return a text as its words are compared: composed, without emphasis, with straight apostrophes."""
    if not text.isascii():
        text = normalize("NFC", text).replace("’", "'")
    return (_EMPHASIS.sub(r"\2", text) if "*" in text else text).replace(" & ", " and ")


def tokenise(text: str, language: Language) -> list[Token]:
    """Return the words of a `plain` text without quotes and punctuation; "isn't" is two words."""
    found: list[Token] = []
    after = ""
    written = text.split()
    for raw in written:
        found += _tokens_of(raw, after, language)
        after = raw[-1]
    return found if language.fillers.isdisjoint(written) else _without_fillers(found, language)


def _without_fillers(tokens: Sequence[Token], language: Language) -> list[Token]:
    """Return tokens without what belongs to a negator beside it, so that "nicht mehr" and "ne … pas" say it once."""
    kept: list[Token] = []
    denied = -_BESIDE
    for token in tokens:
        is_filler = token.written.casefold() in language.fillers
        if is_filler and len(kept) - denied < _BESIDE:
            continue
        if token.lowered in language.negators:
            if kept and not is_filler and kept[-1].lowered in language.fillers:
                kept.pop()
            denied = len(kept)
        kept.append(token)
    return kept


@lru_cache(maxsize=1 << 16)
def _tokens_of(raw: str, after: str, language: Language) -> tuple[Token, ...]:
    """Return the words in what is between two blanks: one, two of "isn't", none of a dash."""
    ending, negator, verbs = language.negated_ending
    written = raw.lstrip(_OPENING).rstrip(_CLOSING)
    if written[-2:] in ("'s", "'S"):
        written = written[:-2]
    lowered = written.casefold()
    if ending and lowered.endswith(ending):
        verb = verbs.get(lowered.removesuffix(ending), lowered.removesuffix(ending))
        return Token(verb, verb, after), Token(negator, negator)
    if lowered[:2] in language.clitics:
        negator = language.clitics[lowered[:2]]
        return Token(negator, negator, after), Token(written[2:], lowered[2:])
    lowered = language.foreign.get(lowered, lowered)
    return (Token(written, lowered, after),) if written.strip(_SEPARATORS) else ()
