"""English words whose forms no rule takes back: `bought` is `buy`, `children` is `child`."""

_FORMS = """
    be been|begin began begun|bite bitten|blow blew blown|break broke broken|bring brought|build built|buy bought
    catch caught|choose chose chosen|come came|deal dealt|draw drew drawn|drink drank drunk|drive drove driven
    eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown|forget forgot forgotten
    freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hear heard|hide hid hidden
    hold held|keep kept|know knew known|lay laid|lead led|learn learnt|leave left|lend lent|lose lost|make made
    mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise risen|run ran|say said|see saw seen|seek sought
    sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung
    sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood|steal stole stolen|stick stuck
    strike struck|swear swore sworn|swim swam swum|take took taken|teach taught|tear tore torn|tell told|think thought
    throw threw thrown|understand understood|wake woke woken|wear wore worn|win won|write wrote written
    child children|foot feet|man men|mouse mice|person people|tooth teeth|woman women
"""
BASES = {
    form: base
    for group in _FORMS.replace("\n", "|").split("|")
    for base, *forms in [group.split() or [""]]
    for form in forms
}
"""The word that each form belongs to."""
