"""Route a text: state, lesson, secret or repository; of a lesson, which tier or type of note; and by which words.

A memory that is outdated in a week, or that one can look up, costs every session that reads it. No program can judge
meaning, so this goes by the words people use for such things, says which ones, and claims to be sure only where
nothing speaks against it. The writer decides.
"""

from collections import Counter
from functools import lru_cache
from shlex import quote

from ..layout import TIERS, Tier
from ..values import dataclass
from .route_words import (
    AGENT,
    CONVERSATION,
    FEEDBACK,
    GUESS,
    LESSON,
    PROJECT,
    REFERENCE,
    REPOSITORY,
    RULE,
    SECRET,
    SHARED,
    STATE,
    USER,
    compiled,
    cues,
    looks_secret,
    may_speak,
)

_ASK_HOW_LONG = "Will this still be true in a month?"
_ASK_WHERE = "Where is it kept? Save that instead."
_ASK_WHAT_ELSE = "What was non-obvious about it? Save that instead."

_LONGEST = 2_000  # So much of a text is looked at: its beginning says what it is about
_LONGEST_SURE = 400  # A longer text says more than one thing, and nobody can be sure of it by a few words
_ENOUGH = 2
_SURE = 3
_WORDS_NAMED = 3
_LONGEST_WORDS = 50
_LONGEST_ARGUMENT = 120

_TIERS = {**{tier.value: tier for tier in TIERS}, GUESS: Tier.CONVERSATION}

_WHAT = {
    STATE: "it tells what is true right now or what happened on a day",
    REPOSITORY: "it tells what the code or its history shows",
    SHARED: "it concerns the whole project",
    AGENT: "it is one agent's own pattern",
    CONVERSATION: "it belongs to one conversation",
    GUESS: "it is a guess, and belongs to one conversation until it is verified",
    USER: "it tells who the owner is and how they like to work",
    FEEDBACK: "it is a correction with its reason",
    PROJECT: "it is a fact about the work that no code shows",
    REFERENCE: "it says where something is to be found",
}
_LESSONS = [kind for kind in _WHAT if kind not in (STATE, REPOSITORY)]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a text belongs."""

    place: str  # `state`, `lesson`, `secret` or `repository`
    tier: Tier | None  # of a lesson, the tier that takes it
    note_type: str | None  # of a lesson, the type of note it makes; None if an entry of the tier is enough
    reason: str
    question: str = ""  # what to ask oneself before saving it all the same; empty for a lesson
    is_sure: bool = False  # whether nothing in the text speaks for another place

    def to_json(self) -> dict[str, object]:
        """Return the JSON answer, the command aside."""
        return {
            "place": self.place,
            "tier": self.tier.value if self.tier else None,
            "note_type": self.note_type,
            "reason": self.reason,
            "question": self.question or None,
            "sure": self.is_sure,
        }


def route(text: str) -> Route:
    """Say where a text belongs, by its words alone."""
    from ..secrets.find import find_secrets

    secrets = find_secrets(text)
    if secrets:
        return Route(SECRET, None, None, f"It holds {secrets[0].description}.", _ASK_WHERE, is_sure=True)
    return loosely_secret(text) or _route_words(" ".join(text[:_LONGEST].split()))


@lru_cache(maxsize=256)
def outside(text: str) -> Route | None:
    """Return where a text belongs that is surely state, or in the repository; None in any doubt, and for secrets."""
    found = _surely(text, STATE, REPOSITORY)
    return None if found is None or found.place == LESSON else found


def loosely_secret(text: str) -> Route | None:
    """Return what a text holds that is written as secrets are, though too loosely to refuse it; None for most texts."""
    what = next((what for what, pattern in looks_secret() if pattern.search(text)), "")
    return Route(SECRET, None, None, f"It holds {what}.", _ASK_WHERE, is_sure=True) if what else None


def misplaced(text: str, tier: Tier, *, is_dated: bool = False) -> Route | None:
    """Return where a text belongs, if surely not in this tier; None in any doubt.

    A date says that the writer knows an entry to be time-sensitive; a conversation may need what is state, or in the
    code.
    """
    found = _surely(text, STATE, REPOSITORY, *_TIERS)
    if found is None:
        return None
    if found.place == LESSON:
        return found if found.note_type is None and found.tier is not tier else None
    if not tier.lasts or (is_dated and found.place == STATE):
        return None
    return found


def _surely(text: str, *kinds: str) -> Route | None:
    """Return where a text belongs, if it speaks loudly for one of these kinds and nothing in it speaks against."""
    if len(text) > _LONGEST_SURE:
        return None
    text = " ".join(text.split())
    if not may_speak(*kinds).search(text.lower()):
        return None
    scores, _ = _scores(text, *kinds)  # to ask for all kinds takes longer
    found = _route_words(text) if max(scores.values(), default=0) >= _SURE else None
    return found if found is not None and found.is_sure else None


def _scores(text: str, *kinds: str) -> tuple[Counter[str], dict[str, list[str]]]:
    """Return how loudly a text speaks for these kinds, or for all, and the words by which it does."""
    scores: Counter[str] = Counter()
    words: dict[str, list[str]] = {}
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters have no lower case of one character; they are in no cue
        text = lowered
    for kind, weight, pattern, minds_capitals in cues(*kinds):
        match = compiled(pattern).search(text if minds_capitals else lowered)
        if match is not None:
            scores[kind] += weight
            words.setdefault(kind, []).append(text[match.start() : match.end()].strip(" ,:;*"))
    return scores, words


def _route_words(text: str) -> Route:
    scores, words = _scores(text)
    rule = scores[RULE]
    kind = max(_LESSONS, key=lambda one: scores[one])  # of equals, the one that is described first
    best = scores[kind]
    is_short = len(text) <= _LONGEST_SURE
    for place, question in ((STATE, _ASK_HOW_LONG), (REPOSITORY, _ASK_WHAT_ELSE)):
        score = scores[place]
        if score >= _ENOUGH and score > max(rule, best) and score >= scores[REPOSITORY]:
            is_sure = is_short and score >= _SURE + 2 * rule
            return Route(place, None, None, _reason(place, words), question, is_sure)
    if best < _ENOUGH:
        rules = words.get(RULE, [])
        reason = f"It tells how things are done here{_quoted(rules)}." if rules else "Nothing in it says otherwise."
        return Route(LESSON, Tier.SHARED, None, reason)
    others = [score for name, score in scores.items() if name not in (kind, RULE)]
    is_sure = is_short and best >= _SURE and max(others, default=0) < _ENOUGH
    note_type = None if kind in _TIERS else kind
    return Route(LESSON, _TIERS.get(kind, Tier.SHARED), note_type, _reason(kind, words), is_sure=is_sure)


def command(found: Route, text: str) -> str:
    """Return the command that saves a text where it belongs. It never repeats a secret."""
    text = " ".join(text.split())
    argument = quote(text) if len(text) <= _LONGEST_ARGUMENT and text.isprintable() and "`" not in text else "TEXT"
    if found.place == STATE:
        return f"echo {argument} >> journal.md"
    if found.place == SECRET:
        return "amp remember 'The … is in env/….txt.'"
    if found.place == REPOSITORY:
        return "amp remember 'WHAT WAS NON-OBVIOUS'"
    if found.note_type is not None:
        return f"amp note new {found.note_type} SLUG --tier shared --description {argument} --why WHY --how HOW"
    if text.startswith("-") and argument != "TEXT":
        argument = f"-- {argument}"
    return f"amp remember {(found.tier or Tier.SHARED).option()} {argument}"


def advice(found: Route, text: str) -> str:
    """Say in one line why a text belongs elsewhere, and the command that saves it there."""
    return f"{doubt(found)}: `{command(found, text)}`"


def doubt(found: Route) -> str:
    """Say in one line why a text belongs elsewhere."""
    reason = _lower(found.reason.rstrip("."))
    if found.place == STATE:
        return f"{reason}; {_lower(found.question)} If not, it goes to a state file or a journal"
    return f"{reason}; {_lower(found.question.rstrip('.'))}" if found.question else reason


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _reason(kind: str, words: dict[str, list[str]]) -> str:
    what = _WHAT[kind]
    return f"{what[:1].upper()}{what[1:]}{_quoted(words[kind])}."


def _quoted(said: list[str]) -> str:
    shown = [one if len(one) <= _LONGEST_WORDS else f"{one[:_LONGEST_WORDS]}…" for one in dict.fromkeys(said)]
    return f" ({', '.join(f'“{one}”' for one in shown[:_WORDS_NAMED])})" if shown else ""
