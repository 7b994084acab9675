"""Opposites: the one table of words that exclude each other, and in which part of a sentence they contradict.

Two texts with one of them each do not say the same. They contradict each other only where a word says something of a
thing, as “open” does in “The port is open” and not in “Open issues are triaged”; see `contrary`.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from .language import english

_ROWS = {
    "": """
        able | unable; above over | below under beneath; active | inactive; add append insert | remove delete drop
        erase; all each every always | no none never some few many most; always | usually normally generally mostly
        often frequently regularly | sometimes occasionally | rarely seldom hardly; archive | restore; attach | detach;
        authentic | fake; author | reviewer; available | unavailable; back backend | front frontend; back backward |
        forward; before previously formerly | currently now presently; begin start launch | end stop finish halt; buy |
        sell; buyer | seller; cached | uncached; caller | callee; client | server; commit | rollback revert; compress |
        decompress; connect | disconnect; create | destroy delete remove; credit | debit; day | night; development dev |
        staging | production prod; download | upload; east | west | north | south; employee | employer; enable |
        disable; encode | decode; encrypt | decrypt plaintext unencrypted; everybody everyone | nobody | somebody
        someone; everything | nothing | something; everywhere | nowhere | somewhere; failure | success; first | last
        second third; freeze | thaw unfreeze; grant | revoke; hard | soft; head | tail; import | export; in | out;
        inbound incoming ingress | outbound outgoing egress; input | output; inside | outside; install | uninstall; ios
        | android; january | february | march | april | may | june | july | august | september | october | november |
        december; join | leave; latest newest | oldest; leader | follower; left | right; load | unload; lock | unlock;
        lower | upper; major | minor; master | slave; maximum max most | minimum min least; merge | split; morning |
        evening afternoon; mount | unmount; multiple many several | single one; mutable | immutable; on | off; once |
        twice thrice; optional | required mandatory; parent | child; pause suspend | resume continue; predecessor |
        successor; prefer | avoid; previous prior last past | current present | next upcoming; primary | secondary
        replica; producer | consumer; promote | demote; publisher | subscriber; push | pull; read | write; reader |
        writer; receive | send; recipient receiver | sender; register | unregister; request | response; safe | unsafe;
        secure | insecure; signed | unsigned; single | double; source origin | target destination; stable | unstable;
        stateful | stateless; subscribe | unsubscribe; tighten | loosen; top | bottom; true | false; upgrade |
        downgrade; valid | invalid; weekday | weekend; whitelist allowlist | blacklist denylist blocklist; wide |
        narrow; windows win32 | linux ubuntu | macos mac osx darwin; with | without; yes | no; yesterday | today |
        tomorrow
    """,
    "is": """
        absolute | relative; accurate correct right | inaccurate incorrect wrong; alive | dead; better | worse; blocking
        | nonblocking; busy | idle; cheap | expensive; cheaper | pricier; complete finished done | incomplete unfinished
        pending; dark | light; distinct different | identical same equal; durable persistent | ephemeral transient;
        dynamic | static; eager | lazy; earlier sooner | later; early | late; easy simple | hard difficult complex;
        empty | full; even | odd; faster quicker | slower; fixed constant | variable; flat | nested; free | paid; fresh
        current | stale outdated obsolete; global | local; green | red; healthy | broken unhealthy; high | low; higher |
        lower; hot warm | cold; inclusive | exclusive; large big | small tiny; larger bigger | smaller; linear |
        exponential; long | short; longer | shorter; more | less fewer; new | old; newer | older; open opened | close
        closed shut; ordered | random; permanent | temporary; positive | negative; proprietary | opensource; readonly |
        writable readwrite; shared common | separate dedicated individual isolated; singlethreaded | multithreaded;
        singular | plural; sparse | dense; stronger | weaker; up running | down; upstream | downstream;
        visible shown | hidden invisible; wider | narrower
    """,
    "is how": """
        ascending asc | descending desc; automatic automated automatically | manual manually; external externally |
        internal internally; horizontal horizontally | vertical vertically; local locally onpremise onpremises onprem |
        remote remotely incloud; private internal privately | public publicly; strict strictly | lenient loose
        permissive loosely
    """,
    "is in": """
        lowercase | uppercase
    """,
    "how": """
        alphabetically | chronologically; buildtime | runtime; centrally | locally; eagerly | lazily; explicit
        explicitly | implicit implicitly; fast quick quickly | slow slowly; frequently often | rarely seldom;
        immediately instantly | later; incrementally | fromscratch; numerically | lexicographically alphabetically;
        online | offline; optimistically | pessimistically; permanently indefinitely forever | temporarily; separately |
        together jointly; serial serially sequential sequentially | parallel concurrent concurrently simultaneously;
        sync synchronous synchronously | async asynchronous asynchronously inbackground
    """,
    "does": """
        accept approve | reject refuse decline deny; allow permit let | deny forbid prohibit ban block disallow prevent;
        encourage | discourage; exclude omit | include; expand grow increase raise | collapse shrink decrease lower
        reduce; fail | pass succeed; follow honor honour obey respect heed | ignore; improve | worsen degrade; keep
        retain preserve | drop discard remove delete erase forget lose lost purge strip; require demand | forbid; show
        | hide; trust | distrust mistrust
    """,
    "bound": """
        atleast morethan | atmost lessthan; behind | infrontof
    """,
    "turn": """
        before | after
    """,
    "in": """
        bytes byte | kilobytes kb kib | megabytes mb mib | bits bit; camelcase | snake_case snakecase | kebab-case |
        pascalcase; celsius | fahrenheit | kelvin; cents cent | euros euro eur | dollars dollar usd; littleendian
        little-endian | bigendian big-endian; meters metres | kilometers kilometres km | miles | feet; milliseconds ms |
        seconds second | minutes | hours | days | microseconds | nanoseconds; pixels px | percent | em | rem; spaces
        space | tabs tab; text string strings | number numbers integer integers int float floats; utc gmt | localtime |
        cet | est | pst
    """,
    "often": """
        daily nightly | weekly | biweekly fortnightly | monthly | quarterly | hourly | yearly annually
    """,
    "on": """
        monday | tuesday | wednesday | thursday | friday | saturday | sunday
    """,
}
"""Rows of words, with a stroke between two sides, by the parts of a sentence in which they contradict.

Behind “is”; how something is done; what it does; what binds a word to a verb; when what happens once is done; in what,
or as what, something is kept or measured; how often, and on which day. Elsewhere they only tell two texts apart.
"""

_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-", "de", "a", "mis")
_SHORTEST = 3
_WORD = re.compile(r"\w+")


def rows(part: str = "") -> list[list[list[str]]]:
    """Return the sides of each row that contradict in one part of a sentence; all rows without one."""
    found = (text for parts, text in _ROWS.items() if not part or part in parts.split())
    return [[side.split() for side in row.split("|")] for text in found for row in text.split(";")]


def _read() -> dict[str, list[tuple[int, int]]]:
    sides: dict[str, list[tuple[int, int]]] = {}
    for number, row in enumerate(rows()):
        for side, words in enumerate(row):
            for word in words:
                for form in {word, english(word), english(word, past=False)}:
                    sides.setdefault(form, []).append((number, side))
    return sides


_SIDES = _read()


def opposed(one: Collection[str], other: Collection[str]) -> str:
    """Return a word that only the first has, with the word of the second that excludes it; "" without one."""
    first, second = set(one).difference(other), set(other).difference(one)
    for row, side, word in sorted(_placed(first)):
        for other_row, other_side, against in sorted(_placed(second)):
            if row == other_row and side != other_side:
                return f"{word} and {against}"
    for short, long in ((first, second), (second, first)):
        for word in sorted(short):
            if len(word) >= _SHORTEST and (found := next((f for f in _PREFIXES if f + word in long), None)):
                return f"{word} and {found}{word}"
    return ""


def exclude_each_other(headings: Iterable[str], others: Iterable[str]) -> bool:
    """Say whether what is under these headings holds elsewhere than what is under the others: staging, production."""
    first, second = _forms(headings), _forms(others)
    return bool(first and second) and opposed(first, second) != ""


def scope(headings: Iterable[str]) -> frozenset[str]:
    """Return the words of headings that exclude what other headings may say: “Staging database” holds in staging."""
    return frozenset(filter(_SIDES.__contains__, _forms(headings)))


def _forms(headings: Iterable[str]) -> frozenset[str]:
    return frozenset(
        form for one in headings for word in _WORD.findall(one.casefold()) for form in (word, english(word))
    )


def _placed(words: Collection[str]) -> Iterator[tuple[int, int, str]]:
    for word in words:
        for row, side in _SIDES.get(word, ()):
            yield row, side, word
