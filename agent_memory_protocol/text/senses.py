"""Senses: which English words and phrases mean the same, so that a fact is known again in other words.

A word is here only where it may take the place of the others in any fact about software and the people who make it.
"""

import re
from functools import cache

from .holding import any_of
from .language import ENGLISH, Token, english
from .stem import WHOLE, stem

_SENSES = """
allow permit
approve approval signoff
ask query
authentication authenticate auth authn login
automatic automatically automated auto
backup backups
branch branches
change modify alter edit
check verify validate
choose pick select
commit check-in
communicate talk speak
config configuration configure
contain include comprise
create generate produce
customer client-user
deploy deployment deploys rollout ship
developer dev-user engineer programmer
directory folder
documentation docs doc documented document
email mail e-mail
encrypt encryption encrypted
error exception
expire expiry expiration
fail failure failed break
fast quick rapid
fetch retrieve obtain
finish complete end
folder directory
github gh
indent indentation
javascript js
job task
keep retain retention preserve
kubernetes k8s
large big huge
library package
limit cap
link url
main primary principal
manage manages management
manual manually
merge merging merged
migrate migration
monitor monitoring observe
need require requirement necessary mandatory
notify inform alert
own owner maintain maintainer
permission right
postgres postgresql psql
pr pull-request
prefer like favour favor favourite favorite
production prod
purge delete remove erase cleanup
read reading
release releases
reply respond response answer
report reports
restart reboot
review reviewer reviewed
rollback revert
schedule scheduled
secret secrets
rebuild rebuilt
send deliver dispatch sent
show display
slow sluggish
small little tiny
split divide
start begin launch
staging stage-env
stop halt
support supported
terraform tf
test tests testing tested
typescript ts
wait pause
write writes written
"""

_LIGHT = """
accomplish achieve appear appears based be become build built carry come configure configured contain do done
exist find found get gets give go goes got guarantee guaranteed handle happen happens have hold holds host
hosted implement implemented install installed keep kept listen listens live lives locate located lie lies made
make makes occur occurs perform performed persist persisted place placed power powered provide provided put
receive receives reside resides run runs running ran save saved serve served set shown sit sits stand stands
store stored storing take takes use used uses using utilise utilize work works written
"""
"""Verbs that say little beside what they join."""

_GENERIC = """
account application branch bucket channel code codebase day directory entry environment file folder host instance item
language machine process project record script server service setting software system team time tool value way word work
"""
"""Nouns that one text may add without saying another thing."""

_NUMBER = r"(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty)\b)"
_SAID = (
    (r"(?!it|that|there|here|what|who|he|she|let)(\w+)'s (?=\w)(\w+)", r"\2 of \1"),
    (r"p\.\s?m\.?", "pm"),
    (r"a\.\s?m\.?", "am"),
    (r"(?<=\d) (?=[ap]m\b)", ""),
    (r"(?:pull|merge) requests?|prs?|mrs?", "pr"),
    (r"continuous integration", "CI"),
    (
        r"once (?:a|per|every|each) (day|week|month|hour|year)|(?:every|each|per) (day|week|month|hour|year)",
        r"\1\2ly",
    ),
    (r"dayly", "daily"),
    (r"(every|each) (?:other|second) (day|week|month|hour|year)", r"\1 2 \2s"),
    (r"(every|each) third (day|week|month|hour|year)", r"\1 3 \2s"),
    (r"(every|each) fourth (day|week|month|hour|year)", r"\1 4 \2s"),
    (r"(?:every|each|at|by) night", "nightly"),
    (r"on an? (daily|weekly|monthly|hourly|nightly) basis", r"\1"),
    (r"back(?:s|ed|ing)? up", "backup"),
    (r"roll(?:s|ed|ing)? back", "rollback"),
    (r"set(?:s|ting)? up", "setup"),
    (r"check(?:s|ed|ing)? in(?:to)?", "commit"),
    (r"(?:turn|switch)(?:s|es|ed|ing)? on|(?:turn|switch)ed on", "enabled"),
    (r"(?:turn|switch)(?:s|es|ed|ing)? off|(?:turn|switch)ed off", "disabled"),
    (r"(?:turn|switch) (\w+) on(?= for\b|[.!]?$)", r"enable \1"),
    (r"(?:turn|switch) (\w+) off(?= for\b|[.!]?$)", r"disable \1"),
    (r"(is|are|be|stays?) on(?= by default|[.!]?$)", r"\1 enabled"),
    (r"(is|are|be|stays?) off(?= by default|[.!]?$)", r"\1 disabled"),
    (r"log(?:ged|ging)? in(?:to)?", "login"),
    (r"clean(?:s|ed|ing)? up", "cleanup"),
    (r"time(?:s|d)? out", "timeout"),
    (r"takes? place", "happens"),
    (r"by hand", "manually"),
    (r"back(?:s|ed|ing)? off", "backoff"),
    (r"(?:two|2)[- ]factor authentication|mfa|2fa", "2fa"),
    (r"half an hour", "30 minutes"),
    (r"it is possible for ((?:\w+ ){1,3})to", r"\1can"),
    (r"(?:is|are) compatible with", "works with"),
    (r"(?:is|are) incompatible with", "does not work with"),
    (r"without (?:an? |the )?(?:network|internet)(?: connection| access)?", "offline"),
    (r"lacks?", "has no"),
    (r"lasts? for|(?:is|are) (?:valid|good) for", "expires after"),
    (r"(?:and|or) (?:newer|later|higher|above|up)", "newer"),
    (r"ports? (\d+)", r"\1"),
    (r"in order to", "to"),
    (r"(?:is|are) (?:responsible for|in charge of)|takes? care of|looks? after", "owns"),
    (r"belongs? to", "is owned by"),
    (rf"(?:every|each)(?= {_NUMBER})", "repeatedly"),
    (rf"(?:below|under)(?= {_NUMBER})", "lessthan"),
    (rf"(?:above|over|beyond)(?= {_NUMBER})", "morethan"),
    (r"at least|no (?:fewer|less) than|an? minimum of", "atleast"),
    (r"at most|no more than|up to|an? maximum of", "atmost"),
    (r"(?:is|are) able to", "can"),
    (r"end[- ]to[- ]end", "e2e"),
    (r"front[- ]end", "frontend"),
    (r"back[- ]end", "backend"),
    (r"signs? off|signed off", "approved"),
    (r"not any ?more|no longer|no more", "not"),
    (r"any ?more|any longer", ""),
    (r"(?<=\w )just (at|for|from|if|in(?! case)|on|when|with)", r"only \1"),
    (r"prior to", "before"),
    (r"as soon as", "once"),
    (r"instead of|rather than", "instead"),
    (r"(is|are) (?:what|where)", r"\1"),
    (r"(?:is|are) un(?!able|der)(\w{3,})[ai]ble", r"can not be \1ed"),
    (
        r"(?:is|are) (not )?(?!possible|responsible|durable|(?:in)?visible|variable|writable)(\w{3,})[ai]ble",
        r"can \1be \2ed",
    ),
)
"""Phrases in words, the first of them whose something is."""


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]:
    """Compile the phrases, which most texts have none of: for lower case, where they are sooner found, and for any."""
    found = [(rf"\b(?:{pattern})(?!\w)", by) for pattern, by in _SAID]
    return tuple((re.compile(one), re.compile(one, re.IGNORECASE), by) for one, by in found)


_OWNS = "'s "
_ANY_OTHER = re.compile(rf"\b{any_of(pattern for pattern, _ in _SAID[1:])}(?!\w)")
"""Looked for in lower case: what minds no case takes several times as long."""

_ADVERB = 6
_KEPT_WHOLE = WHOLE.union(
    """
    apply assembly daily early family hourly monthly nightly only product production reply supply valid weekly yearly
    """.split()  # noqa: SIM905 a list of one word a line is hard to read
)
"""Words that lose their sense with their ending."""


def _forms(words: str) -> set[str]:
    kept = _KEPT_WHOLE.intersection(words.split())
    return {form for word in words.split() for form in (word, english(word), word if word in kept else stem(word))}


_REPRESENTED = {form: row.split()[0] for row in reversed(_SENSES.strip().splitlines()) for form in (*_forms(row),)}
LIGHT, GENERIC = frozenset(_forms(_LIGHT)), frozenset(_forms(_GENERIC))


def rephrase(text: str) -> str:
    """Return a `plain` text with each known phrase as one word."""
    lowered = text.lower()
    if _OWNS in lowered or _ANY_OTHER.search(lowered):
        for in_lower_case, pattern, by in _phrases():
            if in_lower_case.search(lowered):
                text = pattern.sub(by, text)
                lowered = text.lower()
    return text


def sense(token: Token) -> str:
    """Return what a word is compared by: the first of the words that may take its place, or its stem.

    A name, number or path is compared letter by letter; of a name in letters alone the case makes no difference.
    """
    lowered = token.lowered
    if lowered in _REPRESENTED:
        return _REPRESENTED[lowered]
    if not token.is_plain and not token.written.isalpha():
        return token.written
    word = english(lowered)
    if word in _KEPT_WHOLE or lowered in _KEPT_WHOLE:
        return _REPRESENTED.get(word, word)
    cut = stem(lowered.removesuffix("ly")) if len(word) > _ADVERB and lowered.endswith("ly") else stem(word)
    return _REPRESENTED.get(word) or _REPRESENTED.get(cut) or cut


def is_light(token: Token) -> bool:
    """Say whether a word is a verb that says little beside what it joins."""
    return token.lowered in LIGHT or ENGLISH.stem(token.lowered) in LIGHT


def is_generic(token: Token) -> bool:
    """Say whether a word is a noun that adds nothing."""
    return token.lowered in GENERIC or ENGLISH.stem(token.lowered) in GENERIC
