"""English words without their endings, by Porter's algorithm of 1980.

Search takes every ending away: `migrations` and `migrate` both become `migrat`. Claims are compared by its first steps
alone, which take a word's form away and never its sense: `product` and `production` stay two words.

It is our own so that an index and a scan agree to the letter. SQLite has the same algorithm, and a test compares them.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CACHED = 1 << 16
_stems: dict[str, str] = {}
_bases: dict[tuple[str, bool], str] = {}

_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti"),
    *("ous", "ive", "ize"),
)

WHOLE = frozenset(["amqps", "ftps", "https", "imaps", "ldaps", "mqtts", "news", "smtps"])
"""Words that are another one without their last letter, and no plural of it."""

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


def stem(word: str) -> str:
    """Return a word without its English endings. It is in lower case; what is not all ASCII letters stays as it is."""
    found = _stems.get(word)
    if found is None:
        if len(_stems) >= _CACHED:
            _stems.clear()
        found = _cut(word, _plural, _past, _final_y, _long_endings, _last_ending, _final_e, _final_l)
        _stems[word] = found
    return found


def base(word: str, *, past: bool = True) -> str:
    """Return a word without its plural, third-person, past and -ing endings; without `past`, `used` is not `use`."""
    if word in WHOLE:
        return word
    found = _bases.get((word, past))
    if found is None:
        if len(_bases) >= _CACHED:
            _bases.clear()
        whole = _IRREGULAR.get(word, word) if past else word
        endings = (_plural, _past) if past or not word.endswith("ed") else (_plural,)
        found = _bases[word, past] = _cut(whole, *endings, _final_y, _final_e)
    return found


def _cut(word: str, *steps: "Callable[[str], str]") -> str:
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    # A y at the start is a consonant; a capital keeps it from being taken for a vowel.
    word = f"Y{word[1:]}" if word[0] == "y" else word
    for step in steps:
        word = step(word)
    return word.lower()


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    base = word.removesuffix("ed") if word.endswith("ed") else word.removesuffix("ing")
    if base == word or "v" not in _form(base):
        return word
    if base.endswith(("at", "bl", "iz")) or _is_short(base):
        return f"{base}e"
    return base[:-1] if base[-1:] == base[-2:-1] and base[-1] not in "aeiouylsz" else base


def _final_y(word: str) -> str:
    return f"{word[:-1]}i" if word.endswith("y") and "v" in _form(word[:-1]) else word


def _long_endings(word: str) -> str:
    for step in (_STEP_2, _STEP_3):
        ending = _longest(word, tuple(step))
        if ending and _measure(word.removesuffix(ending)):
            word = word.removesuffix(ending) + step[ending]
    return word


def _last_ending(word: str) -> str:
    ending = _longest(word, _STEP_4)
    if ending:
        rest = word.removesuffix(ending)
        return rest if _measure(rest) > 1 else word
    base = word.removesuffix("ion")
    return base if base != word and base.endswith(("s", "t")) and _measure(base) > 1 else word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _is_short(rest)) else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _longest(word: str, endings: tuple[str, ...]) -> str:
    """Return the longest of these endings that the word has with something before it; "" for none."""
    if not word.endswith(endings):
        return ""
    return max((one for one in endings if word.endswith(one) and word != one), key=len, default="")


def _form(word: str) -> str:
    """Return the word with `v` for each vowel and `c` for each consonant. A `y` behind a consonant is a vowel."""
    form = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and form[-1:] == "c")
        form += "v" if is_vowel else "c"
    return form


def _measure(word: str) -> int:
    """Return how often consonants follow vowels."""
    return _form(word).count("vc")


def _is_short(word: str) -> bool:
    """Say whether a word is consonants, one vowel, and one consonant other than w, x and y."""
    form = _form(word)
    return form.endswith("cvc") and form.count("v") == 1 and word[-1] not in "wxy"
