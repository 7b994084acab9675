"""Words with a number behind them or a sign in front, each as one token: `Node 20` is `node20`, too.

By their parts alone, `Node 20` would fit what has 20 nodes as well, and `.env` each text about an env.
"""

import re

from .words import CALENDAR, LEADING_ZEROS, LONGEST, fold, plain

_MAY_BE_NUMBERED = re.compile(r"\d|\.[a-zA-Z]")
_NUMBERED = re.compile(
    r"(?<![\w&#])#([0-9]{1,12})(?!\w)|(?<![\w.])\.([a-zA-Z][\w.]*\b)"
    r"|([^\W\d_]{2,40})(?:[ \u00a0](?:#|[vV](?=\d))?)?(\d{1,12}(?:\.\d{1,6}){0,4})(?![\w.]*\w)"
)
_ISSUES = frozenset(["bug", "issue", "mr", "pr", "request", "ticket"])


def numbered(text: str) -> list[str]:
    """Return one token for each word with a number behind it, number of an issue, and name with a dot in front."""
    found = []
    for issue, dotted, word, number in _NUMBERED.findall(plain(text)) if _MAY_BE_NUMBERED.search(text) else ():
        if issue:
            found.append(f"{issue}#")
        elif dotted:
            found.append(f".{dotted.casefold()}"[:LONGEST])
        elif (name := fold(word)) not in CALENDAR:
            parts = number.split(".")
            sizes = range(min(len(parts), 2), len(parts) + 1)
            found += [LEADING_ZEROS.sub("", f"{name}{'.'.join(parts[:size])}")[:LONGEST] for size in sizes]
            found += [f"{number}#"] if name in _ISSUES else []
    return found
