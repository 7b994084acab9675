"""How well entries fit a task: by the words that they share with it, each weighed by how rare it is in this memory.

Words that `related.txt` lists in one line are related: `login` says what a text about `session` and `token` is about.
A prompt waits for this, so it does without `re`, which takes longer to load than a memory to weigh.
"""

from math import log
from os.path import dirname, join

from ..text.little_words import LITTLE_WORDS
from ..text.stem import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ASKING = """
    add ask change check continue explain find fix give go good help just let like look lets make need new now ok okay
    open please put read run see set show take tell thank thanks try use want way well work write yes
"""
_LITTLE_WORDS = LITTLE_WORDS.union(_ASKING.split(), "abcdefghijklmnopqrstuvwxyz")
"""Little words, those with which a task is asked for, and letters, as of `it's`: none says what it is about."""

LEAST_FIT = 0.16
"""Where no text fits as well as this, a memory has nothing on a task: one rare word of six is enough, of seven not.

Lower, more prompts about something else bring something.
"""

_LEAST_IN_MANY, _MANY = 0.3, 450
"""In so many texts the same, and in between the line to it: among many, one shares a rare word by chance."""

_LEAST_OF_MORE = 0.03
"""A task that a memory knows of may need further texts, with which it shares less: those still fit as well as this."""

_RELATED = 0.5  # What a related word counts: half of the same word
_WEIGHTIEST = 8  # So many words of a task say what it is about
_DENSE = "\u0e00"  # From Thai on, most scripts put no spaces between words

_TABLE = {code: " " for code in range(128) if not chr(code).isalnum()}


def scores(task: str, texts: "Sequence[str]") -> list[float]:
    """Return for each text of a memory how well it fits a task: 0 where they share no word that others lack."""
    return [score for score, _ in _weighed(task, texts)]


def fitting(task: str, texts: "Sequence[str]") -> list[float]:
    """Return the same, with 0 for a text that shares too little of what the task says: see `LEAST_FIT`."""
    found = _weighed(task, texts)
    enough = min(max(LEAST_FIT, _LEAST_IN_MANY * len(texts) / _MANY), _LEAST_IN_MANY)
    least = _LEAST_OF_MORE if any(fit >= enough for _, fit in found) else enough
    return [score if fit >= least else 0.0 for score, fit in found]


def _weighed(task: str, texts: "Sequence[str]") -> list[tuple[float, float]]:
    """Return for each text the weight of the words that it shares with a task, and how well it fits.

    That is the share of what the task's words weigh, as often as there are such words; a word that no text has weighs
    most. Of a long task only the weightiest words count: nobody says a whole page twice. A word that a text lacks may
    be there by a related one, which counts a part.
    """
    asked = {word: stem(word) for word in _words(task) if word not in _LITTLE_WORDS}
    counts = dict.fromkeys(asked.values(), 0)
    starts = {word[:2] for word in counts}  # no ending is longer than what a word has after that
    others = _related(asked)
    heads: dict[str, list[str]] = {}
    for other in others:
        heads.setdefault(other[:3], []).append(other)
    also = dict.fromkeys(others, 0)
    shared = []
    for text in texts:
        said = _words(text)
        words = {found for word in said if word[:2] in starts and (found := stem(word)) in counts}
        near = {other for word in said for other in heads.get(word[:3], ()) if _is_form(word, other)}
        for word in words:
            counts[word] += 1
        for word in near:
            also[word] += 1
        shared.append((words, near))
    weights = {word: weight(len(texts) / max(count, 1)) for word, count in counts.items()}
    parts = {word: _RELATED * weight(len(texts) / max(count, 1)) for word, count in also.items()}
    for word, count in counts.items():
        near_to = [parts[other] for other, stems in others.items() if word in stems and also[other]]
        weights[word] = max(near_to) if not count and near_to else weights[word]
    whole = sum(sorted(weights.values())[-_WEIGHTIEST:])
    weighed = []
    for words, near in shared:
        best: dict[str, float] = {}
        for other in near:
            for word in others[other] - words:
                best[word] = max(best.get(word, 0.0), min(parts[other], weights[word]))
        score = sum([weights[word] for word in words]) + sum(best.values())
        weighed.append((score, score / whole * (len(words) + _RELATED * len(best)) if whole > 0 else 0.0))
    return weighed


def _related(asked: "Mapping[str, str]") -> dict[str, set[str]]:
    """Return the words that are related to those of a task, each with the stems of those."""
    found: dict[str, set[str]] = {}
    starts: dict[str, set[tuple[str, str]]] = {}
    for word, form in asked.items():
        for start in (word[:2], form[:2]):
            starts.setdefault(start, set()).add((word, form))
    with open(join(dirname(__file__), "related.txt"), encoding="utf-8") as file:
        for line in file:
            group = line.split()
            near = [(one, word, form) for one in group for word, form in starts.get(one[:2], ())]
            stems = {form for one, word, form in near if form == one or _is_form(word, one)}
            for word in group if stems else ():
                found.setdefault(word, set()).update(stems)
    for word, form in asked.items():
        found.setdefault(word, set()).add(form)
    return found


def _is_form(word: str, base: str) -> bool:
    """Say whether a word is a form of another: `deploys` and `deployment` of `deploy`, `expiry` of `expire`."""
    if len(base) < 5:
        return word in (base, f"{base}s")
    return word.startswith(base[:-1]) and len(word) < len(base) + 5


def weight(rarity: float) -> float:
    """Return what a word weighs that one in so many texts has; one that all have weighs nothing."""
    return log((1 + rarity) / 2)


def _words(text: str) -> set[str]:
    """Return the words of a text in small letters; of `parseDate` and `parse_date` also the parts."""
    found = set(text.lower().translate(_TABLE).split())
    for word in text.split():
        if not (word.islower() or word[1:].islower() or word.isupper()):
            parts = "".join([f" {letter}" if letter.isupper() else letter for letter in word])
            found.update(parts.lower().translate(_TABLE).split())
    if not text.isascii():
        # Scripts without spaces between words are cut into pairs of neighbours.
        for word in [word for word in found if not word.isascii()]:
            found.update(word[start : start + 2] for start in range(len(word) - 1) if word[start] >= _DENSE)
    return found
