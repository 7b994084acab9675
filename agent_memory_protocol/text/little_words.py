"""English words that say nothing of what a text is about."""

_LITTLE_WORDS = """
    a about after again all also am an and any are as at be because been before being between both but by can cannot
    cant could did didnt do does doesnt doing dont down during each else few for from further get gets had has have
    having he her here hers him his how i if in into is isnt it its itself just lets me more most my no nor not of
    off on once only or other our ours out over own please same she should shouldnt so some such than that the their
    theirs them then there these they this those through to too under until up us very was wasnt we were what when
    where which while who whom why will with wont would you your yours
"""
LITTLE_WORDS = frozenset(_LITTLE_WORDS.split())

_ASKING = """
    anybody anyone anything everybody everyone everything herself himself hows may might must myself ourselves shall
    somebody someone something thats themselves theres whats wheres whos whose whys yourself
"""
ASKING = frozenset(_ASKING.split())  # Further words that say nothing in a question, though they may in a text

_AFTER_HOW = "far long many much often"
AFTER_HOW = frozenset(_AFTER_HOW.split())  # Words that say nothing after *how*
