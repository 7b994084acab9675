"""English words whose forms no ending tells: who asks when something was bought finds “I buy it tomorrow”, too."""

from .stem import stem

_GROUPS = """
    1 one, 2 two, 3 three, 4 four, 5 five, 6 six, 7 seven, 8 eight, 9 nine, 10 ten, 11 eleven, 12 twelve
    bad worse worst, begin began begun, bite bit bitten, blow blew blown, break broke broken, bring brought
    build built, buy bought, catch caught, child children, choose chose chosen, come came, deal dealt
    draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt
    fight fought, find found, fly flew flown, foot feet, forget forgot forgotten, freeze froze frozen
    give gave given, go went gone, grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept
    know knew known, lead led, learn learnt, leave left, lend lent, lose lost, make made, man men, mean meant
    meet met, mouse mice, pay paid, ride rode ridden, ring rang rung, rise rose risen, run ran, say said
    see saw seen, seek sought, sell sold, send sent, shake shook shaken, shine shone, shoot shot, show shown
    shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke spoken, spend spent
    steal stole stolen, stick stuck, strike struck, swear swore sworn, swim swam swum
    take took taken, teach taught, tear tore torn, tell told, think thought, throw threw thrown, tooth teeth
    understand understood, wake woke woken, wear wore worn, win won, woman women, write wrote written
"""
_ALIKE = frozenset(("at", "on"))  # Stems of `ate` and `one` that little words have, too


def _forms() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for group in _GROUPS.replace("\n", ",").split(","):
        stems = dict.fromkeys(stem(word) for word in group.split())
        known = [one for one in stems if one not in _ALIKE]
        found |= {one: tuple(other for other in known if other != one) for one in known}
    return {one: others for one, others in found.items() if others}


FORMS = _forms()  # For the stem of a word those of its other forms
