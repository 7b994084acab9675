"""Opposites: words that exclude each other, so that two texts with one of them each do not say the same."""

import re
from collections.abc import Collection, Iterable, Iterator

from .language import english

_ROWS = """
able | unable
above over | below under beneath
absolute | relative
accept approve | reject refuse decline deny
active | inactive
add append insert | remove delete drop erase
all each every always | no none never some few many most
allow permit | deny forbid prohibit ban block disallow
always | usually normally generally mostly often frequently regularly | sometimes occasionally | rarely seldom hardly
ascending asc | descending desc
archive | restore
attach | detach
authentic | fake
author | reviewer
automatic automated automatically | manual manually
available | unavailable
back backward | forward
back backend | front frontend
before | after
begin start launch | end stop finish halt
before previously formerly | currently now presently
blocking | nonblocking
buy | sell
buyer | seller
cached | uncached
caller | callee
client | server
commit | rollback revert
compress | decompress
connect | disconnect
create | destroy delete remove
credit | debit
daily | weekly | monthly | hourly | nightly | yearly | quarterly | annually
dark | light
day | night
development dev | staging | production prod
download | upload
dynamic | static
eager | lazy
early | late
east | west | north | south
empty | full
enable | disable
employee | employer
encode | decode
encrypt | decrypt plaintext unencrypted
everybody everyone | nobody | somebody someone
everything | nothing | something
everywhere | nowhere | somewhere
even | odd
exclude | include
expand grow | collapse shrink
explicit explicitly | implicit implicitly
external | internal
fail | pass succeed
failure | success
fast quick | slow
first | last second third
forward | backward
freeze | thaw unfreeze
grant | revoke
hard | soft
head | tail
hidden hide | visible show
high | low
horizontal horizontally | vertical vertically
hot warm | cold
import | export
in | out
inbound incoming ingress | outbound outgoing egress
increase raise | decrease reduce lower
input | output
inside | outside
ios | android
install | uninstall
january | february | march | april | may | june | july | august | september | october | november | december
join | leave
keep retain | drop discard remove delete
large big | small tiny
latest newest | oldest
leader | follower
left | right
load | unload
local | remote
lock | unlock
long | short
lower | upper
lowercase | uppercase
major | minor
master | slave
maximum max most | minimum min least
merge | split
monday | tuesday | wednesday | thursday | friday | saturday | sunday
more | less fewer
morning | evening afternoon
mount | unmount
multiple many several | single one
mutable | immutable
new | old
on | off
once | twice thrice
online | offline
open | close closed
optional | required mandatory
parent | child
pause suspend | resume continue
permanent | temporary
positive | negative
prefer | avoid
predecessor | successor
previous prior last past | current present | next upcoming
primary | secondary replica
private | public
promote | demote
push | pull
producer | consumer
read | write
reader | writer
publisher | subscriber
receive | send
recipient receiver | sender
register | unregister
request | response
safe | unsafe
secure | insecure
serial serially sequential sequentially | parallel concurrent concurrently
shared common | separate dedicated individual
source origin | target destination
signed | unsigned
single | double
singular | plural
spaces space | tabs tab
sparse | dense
stable | unstable
stateful | stateless
strict | lenient loose
subscribe | unsubscribe
sync synchronous synchronously | async asynchronous asynchronously
tighten | loosen
top | bottom
true | false
up | down
upgrade | downgrade
upstream | downstream
valid | invalid
weekday | weekend
whitelist allowlist | blacklist denylist blocklist
wide | narrow
windows win32 | linux ubuntu | macos mac osx darwin
with | without
yesterday | today | tomorrow
yes | no
"""

_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "non-", "de", "a", "mis")
_SHORTEST = 3
_WORD = re.compile(r"\w+")


def _read() -> dict[str, list[tuple[int, int]]]:
    sides: dict[str, list[tuple[int, int]]] = {}
    for number, row in enumerate(_ROWS.strip().splitlines()):
        for side, words in enumerate(row.split("|")):
            for word in words.split():
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
    return _forms(headings).intersection(_SIDES)


def _forms(headings: Iterable[str]) -> frozenset[str]:
    return frozenset(
        form for one in headings for word in _WORD.findall(one.casefold()) for form in (word, english(word))
    )


def _placed(words: Collection[str]) -> Iterator[tuple[int, int, str]]:
    for word in words:
        for row, side in _SIDES.get(word, ()):
            yield row, side, word
