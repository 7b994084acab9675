"""The words by which a text is routed: under each kind and weight, one pattern a line.

They are matched with the text in lower case, those with a capital letter in them with the text as it is. `<name>`
is a fragment. Each line counts once: a text that says two of them speaks louder.
"""

import re
from functools import cache

from ..layout import Tier
from ..text.holding import ways

STATE, LESSON, SECRET, REPOSITORY = "state", "lesson", "secret", "repository"
SHARED, AGENT, CONVERSATION = Tier.SHARED.value, Tier.AGENT.value, Tier.CONVERSATION.value
USER, FEEDBACK, PROJECT, REFERENCE = "user", "feedback", "project", "reference"
GUESS = "guess"  # A text says of itself that nobody has verified it
RULE = "rule"  # A text tells how to do things, or why: that speaks against state and against the repository

_FRAGMENTS = {
    "day": (
        r"(?:the \d{1,2}(?:st|nd|rd|th)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|<month>\.? \d{1,2}"
        r"|\d{1,2}\. ?[a-z]{3,9}|\d{4}-\d\d-\d\d|\d{1,2}:\d\d)"
    ),
    "month": r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}",
    "near": r"(?:[^.;()\n]|\.(?=\S)){0,60}",
    "happened": (
        r"(?:sent|called|paid|met|e?mailed|posted|published|deployed|shipped|released|submitted|delivered|received"
        r"|signed|booked|ordered|refunded|invoiced|transferred|uploaded|merged|closed|opened|started|finished"
        r"|completed|ran|rejected|approved|arrived|replied|scheduled|cancell?ed|renewed|launched|spoke|talked|visited)"
    ),
    "just": r"(?:today|yesterday|last night|this morning)",
    "status": (
        r"(?:open|pending|waiting|awaiting|blocked|down|red|green|failing|broken|stuck|unanswered|unpaid|overdue"
        r"|in review|under review|on hold|offline|out of stock|running|due)"
    ),
    "stopped": r"(?:paused|frozen|on hold|down|blocked|broken|red|closed|disabled|offline|read-only|suspended|stopped)",
    "things": r"(?:users|customers|trials|subscribers|orders|leads|requests|tickets|issues|bugs|sign-?ups)",
    "undertaking": (
        r"(?:run|build|crawl(?:er)?|job|import|migration|deployment|pipeline|backup|invoice|payment|order"
        r"|hypothesis|experiment|ticket)"
    ),
    "ended": r"(?:(?:has |was |is )?(?:finished|completed|succeeded|paid|rejected|confirmed)|is running)",
    "condition": r"(?:when|if|by|before|after|until|unless|once)",
    "changed": (
        r"(?:fixed|refactored|renamed|added|removed|moved|extracted|implemented|replaced|bumped|upgraded|reverted"
        r"|deleted|introduced|merged|rewrote|changed|switched)"
    ),
    "part": (
        r"(?:functions?|class(?:es)?|methods?|enums?|structs?|interfaces?|modules?|components?|controllers?|traits?"
        r"|hooks?|endpoints?|constants?|packages?|helpers?|routes?|tables?|models?|directory|folder|file)"
    ),
    "holds": r"(?:has|have|takes?|returns?|extends|implements|exports?|contains?)",
    "members": (
        r"(?:fields?|values?|methods?|members?|columns?|propert(?:y|ies)|arguments?|parameters?|functions?|variants?)"
    ),
    "consists": r"(?:has|consists of|contains|is (?:split|organi[sz]ed|structured) in(?:to)?)",
    "pieces": r"(?:packages?|modules?|folders?|crates?|parts?|layers?|apps?)",
    "path": (
        r"`?(?:[\w.-]+/[\w./-]+|[\w-]+\.(?:py|ts|tsx|js|rs|go|java|rb|cs|cpp|c|h|php|swift|kt|json|toml|ya?ml))\b`?"
    ),
    "manifest": (
        r"(?:package\.json|pyproject\.toml|cargo\.toml|go\.mod|pom\.xml|gemfile|requirements\.txt|makefile|dockerfile"
        r"|(?:the )?readme(?:\.md)?|(?:the )?changelog(?:\.md)?)"
    ),
    "lists": r"(?:lists?|says|contains|declares|defines|has|shows|pins|describes)",
    "act": r"(?:must|should|need|use|share|call|talk|go|read|write|run|that|has to|have to)",
    "role": r"(?:engineer|reviewer|developer|tester|debugger|architect|writer|designer)",
    "person": r"(?:the (?:owner|user)|s?he|they)",
    "likes": r"(?:strongly |always |really )?(?:prefers?|likes?|loves|hates|dislikes|appreciates)",
    "profession": (
        r"(?:developer|engineer|founder|designer|manager|scientist|student|researcher|beginner|expert|analyst|teacher"
        r"|writer|consultant)"
    ),
    "bidding": (
        r"(?:don'?t|do not|never|always|stop|talk|ask|write|keep|use|show|start|test|check|run|put|make|read|name|say)"
    ),
    "incident": (
        r"(?:last (?:year|month|week|time|quarter)|on day \w+|back then|cost us|we lost|wasted|broke|burned|twice)"
    ),
    "business": (
        r"(?:legal(?:ly)?|law|compliance|regulat\w+|gdpr|contracts?|auditors?|stakeholders?|management|marketing|sales"
        r"|budget|deadline|trade fair|brochures?|code freeze|launch date|investors?|licen[cs]ing|partners?)"
    ),
    "kept": r"(?:tracked|kept|documented|stored|collected|posted|recorded|filed|managed)",
    "keeper": r"(?:`?env/|`?\.env|the (?:env file|vault|wiki|password manager|key ?chain)|`?https?://)",
    "tool": (
        r"(?:linear|jira|figma|grafana|notion|slack|confluence|trello|asana|datadog|sentry|pagerduty|sharepoint|miro)"
    ),
    "value": r"(?!\S*/)(?=\S*[A-Za-z])(?=\S*\d)\S{8,}",
}

_WORDS = {
    (STATE, 3): r"""
        (?<!\()\b<happened>\b<near>\b(?:on|at|since) <day>
        \b<just>\b[^.;\n]{0,20}\b<happened>\b
        \b<happened>\b<near>\b<just>\b
        \b\d+ ?% (?:done|complete|completed|finished|through|migrated)\b|\bhalf ?way (?:through|done)\b
        \bnext up\b|^\W{0,2}(?:next|next steps?|todo|status|progress|wip|blocked)\b\W{0,2}:
        \b(?:is|are) still (?:open|pending|waiting|blocked|unanswered|unpaid|missing|failing|running)\b
        \ball \d[\d,]* (?:\w+ )?tests? (?:pass|passed|passing|are green)\b|\b\d+ of \d+ tests? pass
        \bbalance\b[^.;\n]{0,30}\d
        \b<undertaking>\b[^.;:\n]{0,25}\b<ended>\b(?! <condition>)
        (?<!not )(?<!even )\b(?:temporarily|for now|for the time being|for the moment|until further notice)\b(?! and )
        ^(?:just |only )?<just>\b(?!'s)|\b<just>(?=[.,;:!)]|$)
        ^(?:for (?:now|the time being|the moment)|until further notice|temporarily|right now|at the moment)\b(?! and )
        (?:^this|\bnext) (?:week|month|sprint|quarter),? (?:we|i|the)\b
        ^interim:|\bas (?:a |an )?(?:stop-?gap|interim)\b
        ^(?:still )?(?:waiting|awaiting) <near>\b(?:review|approval|reply|answer|feedback|decision|response|sign-?off)\b
        \b(?:is|are|stays?) (?:\w+ )?<stopped> (?:until|till|since) (?:<day>|(?:this|next|last) \w+|<near>\b<happened>)
        \bi(?:'m| am) (?:\w+ )?working on\b
        \bwill be (?:\w+ )?<changed> (?:soon|shortly|<day>|next \w+|this \w+)(?=[.,;!]|$)
    """,
    (STATE, 2): r"""
        \bstill to (?:do|be done)\b|\bwork in progress\b|\bin progress\b|\bnot (?:yet )?(?:started|finished)\b
        \bright now\b|\bas of (?:today|now|this|\d)|\bat the moment\b|\bso far this (?:week|month|year)\b
        \b(?:is|are|remains?) (?:still |currently |now )?<status>\b(?! (?:to|by default|when|if|unless|source))
        \b(?:waiting|awaiting) (?:for|on)? ?(?:\w+ ){0,2}(?:review|approval|reply|answer|feedback)\b
        \b\d[\d,]* (?:\w+ )?tests? (?:pass|fail)(?:ed|ing)?\b|\b(?:coverage|test count)\W{1,4}(?:is |at )?\d
        \b(?:we|there) (?:have|are|is) \d[\d,.]* (?:\w+ ){0,2}<things>\b
        \b\d[\d,.]* (?:pages|rows|records|files|items|messages) (?:fetched|processed|imported|sent|left)\b
    """,
    (STATE, 1): r"""
        \bcurrently\b|\bstill\b|\btoday\b|\byesterday\b|\bthis (?:week|month|sprint|morning)\b
    """,
    (REPOSITORY, 3): r"""
        \b<changed> (?:in|by|with|via) (?:commit|pr|pull request|mr|#)
        \bcommit `?[0-9a-f]{6,40}\b`?[^.;\n]{0,20}\b<changed>\b
        \b<manifest> (?:file )?<lists>\b
        \b<part> (?:`?[\w.]+`? )?<holds> (?:the )?<members>\b
        \b(?:is|are) (?:defined|declared|located|implemented|found) in (?:the )?<path>
        \bthe (?:project|repo(?:sitory)?|codebase|code base|solution|monorepo) <consists> (?:\w+ ){0,2}<pieces>\b
    """,
    (REPOSITORY, 2): r"""
        \bcommit `?[0-9a-f]{6,40}\b|\b(?:last|recent|latest) (?:\w+'?s? )?commits?\b|\bweek'?s commits\b
        ^<changed>\b
        \b<part> (?:`?[\w.]+`? )?(?:extends|implements|returns|exports|inherits from)\b
        \b[A-Z][a-z]+[A-Z]\w+`? (?:extends|implements|inherits from) `?[A-Z]
        \bhas (?:the )?<members> `?\w+`?(?:, `?\w+|:| and)
        \b(?:lives?|sits?) in (?:the )?<path>
    """,
    (RULE, 2): r"""
        \b(?:must|never|always|do not|don'?t|avoid|instead of|rather than|make sure|beware|gotcha)\b
        \b(?:otherwise|because|unless|so that|or else|which is why|that is why|has to|have to|needs? to)\b
    """,
    (RULE, 1): r"""
        \b(?:should|cannot|can'?t|only works?|requires?|needs|silently|prefer|before|when|if|without)\b
    """,
    (SHARED, 3): r"""
        \ball (?:agents|services|teams) <act>\b|\bevery (?:agent|team) <act>\b
        \bcross-cutting\b|\baffects (?:all|every|several)\b
        ^(?:the|this|our) (?:project|repo(?:sitory)?|codebase|monorepo) (?:uses|runs|is (?:built|written))\b
    """,
    (SHARED, 1): r"""
        \bknown (?:bug|limitation|issue)\b|\b(?:deploy|cluster|container|server|database|queue)\w*\b
    """,
    (AGENT, 3): r"""
        \bas (?:the|a|an) (?:\w+[ -]){0,2}<role>\b,? i\b
        \bi (?:always |often |usually |first |keep |kept |start|look|check|forget|forgot|learned|need|get|try|tend)
        \bmy (?:(?:own|last|usual|recurring|most) )?(?:mistakes?|work|reviews?|domain|habit|pattern)\b
    """,
    (AGENT, 2): r"""
        \b(?:when|while|before) i \w+|\bfor debugging\b|\bi changed\b
    """,
    (CONVERSATION, 3): r"""
        \b(?:in|for|during|of) this (?:conversation|session|task|thread|chat|issue|run)\b
        \b(?:original|initial) (?:request|intent|requirement|ask|goal)\b
        \b(?:finding|hand-?off|handed) (?:over )?(?:for|to) (?:the )?(?:\w+ )?(?:<role>|agent)\b
        \bclarified (?:with|by|that)\b|^clarif(?:ied|ication)\b|^requirements?:\s
        \b(?:in|for|during|of) (?:the current|this) (?:request|pull request|pr|assignment)\b
    """,
    (CONVERSATION, 2): r"""
        \bout of scope\b
        \bwe (?:have )?(?:decided|agreed|settled|chose)\b|\bgoing with (?:option|the)\b
        \bthe user (?:wants|asked|asks|requested|needs)\b|\broot cause\b
    """,
    (GUESS, 3): r"""
        (?:^|\(|\b(?:is|still) )(?:unverified|unconfirmed|speculative)\b
        (?<!have )(?<!has )(?<!had )\bnot (?:yet )?(?:verified|confirmed)\b|\bstill to be (?:verified|confirmed)\b
        \b(?:i (?:suspect|guess|assume|think|believe)|my (?:guess|suspicion|hunch)|hypothesis:)
        ^(?:maybe|perhaps|possibly|probably|presumably|apparently)\b
        \b(?:might|may|could) be (?:caused by|due to|because|related to|the (?:cause|reason|culprit))
        \b(?:maybe|perhaps|possibly|probably|presumably) (?:caused by|due to|because|related to)\b
    """,
    (USER, 3): r"""
        \b<person> <likes>\b
        ^[A-Z][a-z]+ <likes>\b
        \b<person> (?:is|was) an? (?:\w+[ -]){0,3}<profession>\b
        ^[A-Z][a-z]+ is an? (?:\w+[ -]){0,3}<profession>\b
        ^s?he (?:works|reads|writes|lives|speaks|thinks|uses|knows|comes|has)\b
    """,
    (USER, 2): r"""
        \b(?:background|years of experience|experience) (?:in|with)\b|\bnew to\b
    """,
    (FEEDBACK, 3): r"""
        \b(?:corrected|reminded|scolded) (?:me|us)\b|\b(?:i was|we were) told (?:to|not|that)\b
        \b(?:pointed out|complained|pushed back|asked (?:me|us) (?:not )?to)\b|\b(?:owner|user) said\b
        ^<bidding>\b[^\n]{10,}\b<incident>\b
    """,
    (PROJECT, 2): r"""
        \b<business>\b
        \b(?:customers?|clients?|users) (?:\w+ )?(?:depend|rely|need|expect|complain)
    """,
    (PROJECT, 1): r"""
        \bbecause\b|\bwhich is why\b|\bthat is why\b|\bdriven by\b|\brequire(?:s|d|ment)\b|\bpromised\b
    """,
    (REFERENCE, 3): r"""
        \b(?:is|are) <kept> (?:in|at|on|under)\b
        \b(?:is|are|lives?|found) (?:in|at|under|on|behind) <keeper>
    """,
    (REFERENCE, 2): r"""
        https?://|\b<tool>\b
        \b(?:dashboard|wiki|ticket|board|bug tracker|spreadsheet|runbook|mock-?ups?)\b
    """,
    (REFERENCE, 1): r"""
        ^(?:for [^\n]{0,60}, ?)?see\b|\bsee the\b|\bask \w+ for access\b
    """,
}

_LOOKS_SECRET = {
    "what looks like a password or a key": (
        r"(?i)\b(?:password|passphrase|passcode|token|secret|api key)\b(?: \w+)?(?: is|:|=) <value>"
    ),
    "what looks like a login": r"(?i)\b(?:log ?in|sign in)\b.{0,40}\bwith \S+ ?/ ?<value>",
    "what looks like an account number": r"(?i)\b(?:iban|account)\b[^\n]{0,20}\b[A-Z]{0,2}\d[\d ]{9,}\d",
}


_BEHIND = re.compile(r"^(?:\(\?<!(?:\\.|[^()\\])*\))+(?=\\b)")  # What may not be in front of a word
_CAPITAL = re.compile(r"(?<!\\)[A-Z]")


def _spelled(line: str) -> str:
    """Return a line with its fragments in their places."""
    while "<" in line and (wanted := [name for name in _FRAGMENTS if f"<{name}>" in line]):
        for name in wanted:
            line = line.replace(f"<{name}>", _FRAGMENTS[name])
    return line


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when a text is first asked by it: all of them take as long as a quarter of the package."""
    return re.compile(pattern, re.ASCII)


Cue = tuple[str, int, str, bool]
"""The kind it speaks for, how loudly, the pattern, and whether that minds capitals."""


@cache
def cues(*kinds: str) -> tuple[Cue, ...]:
    """Return the cues of these kinds, or all."""
    return tuple(
        (kind, weight, _spelled(line.strip()), _CAPITAL.search(line) is not None)
        for (kind, weight), lines in _WORDS.items()
        if not kinds or kind in kinds
        for line in lines.split("\n")
        if line.strip()
    )


@cache
def may_speak(*kinds: str) -> re.Pattern[str]:
    """Return a quick test: what is in every text, in lower case, that says a word of these kinds in any case."""
    lines = [pattern for _, _, pattern, minds_capitals in cues(*kinds) if not minds_capitals]
    every = [_BEHIND.sub("", way) for line in lines for way in ways(line)]
    words = [way.removeprefix(r"\b") for way in every if way.startswith(r"\b")]
    others = [way for way in every if not way.startswith(r"\b")]
    return re.compile("|".join([rf"\b(?:{'|'.join(words)})", *others]), re.ASCII)


@cache
def looks_secret() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return what `find_secrets` lets through, since it refuses a text outright; in a route it is advice only."""
    return tuple((what, compiled(_spelled(line))) for what, line in _LOOKS_SECRET.items())
