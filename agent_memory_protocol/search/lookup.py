"""What is asked of the tables of a keyword index: which passages hold a word, how often, and what they are called."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from . import picking
from .languages import inflect
from .ranking import CANDIDATES, CONTEXT_WEIGHT, REACH, Postings, Stock
from .slips import LONG, mend, thirds, untouched
from .words import Term

if TYPE_CHECKING:
    from sqlite3 import Connection

COUNTED_TABLES = (
    """CREATE VIRTUAL TABLE tokens USING fts5(text, context, tokenize = "ascii tokenchars '.+#'")""",
    "CREATE VIRTUAL TABLE standing USING fts5vocab(tokens, row)",
    "CREATE VIRTUAL TABLE places USING fts5vocab(tokens, instance)",
)

_SUMS = "SELECT COALESCE(SUM(passages), 0), COALESCE(SUM(size), 0) FROM sums"
_BEST = "SELECT rowid FROM tokens WHERE tokens MATCH :match ORDER BY bm25(tokens, 1.0, :context_weight) LIMIT :limit"
_ALL = "SELECT rowid FROM tokens WHERE tokens MATCH :match LIMIT :limit"
_BEST_WITH_ALL = """
    SELECT id FROM (
        SELECT passages.id AS id, size FROM tokens CROSS JOIN passages ON passages.id = tokens.rowid
        WHERE tokens MATCH :match ORDER BY tokens.rowid DESC LIMIT :most)
    ORDER BY size, id LIMIT :limit"""
"""Of those that have the same words the shortest are the best, which SQLite says sooner than their rank."""
_COUNTED = """
    SELECT id, size, talk, text, context FROM passages JOIN tokens ON tokens.rowid = id
    WHERE id IN (SELECT value FROM json_each(?))"""
_TURNS = "SELECT id FROM passages WHERE talk AND id IN (SELECT value FROM json_each(?))"
_NAMES = """
    SELECT passages.id, sources.key, passages.key FROM passages JOIN sources ON sources.id = passages.source
    WHERE passages.id IN (SELECT value FROM json_each(?))"""
_WITHIN = """
    SELECT passages.id FROM passages JOIN sources ON sources.id = passages.source
    WHERE sources.key IN (SELECT value FROM json_each(?))"""
_STANDING = "SELECT doc FROM standing WHERE term = ?"
_FOLLOWING = "SELECT rowid, text, context FROM tokens WHERE tokens MATCH ?"
_COUNT = "SELECT COUNT(*) FROM tokens WHERE tokens MATCH ?"
_COUNT_WITH = """
    SELECT COUNT(*) FROM tokens WHERE tokens MATCH ? AND rowid IN
        (SELECT id FROM passages WHERE key IN (SELECT value FROM json_each(?)))"""
_LIKE = """
    SELECT word FROM spellings WHERE word BETWEEN :start AND :start || :last
        AND length(word) BETWEEN :length - 1 AND :length + 1
    UNION SELECT word FROM spellings WHERE backwards BETWEEN :end AND :end || :last
        AND length(word) BETWEEN :length - 1 AND :length + 1
    UNION SELECT word FROM spellings WHERE word BETWEEN :whole AND :whole || :last
    UNION SELECT word FROM spellings WHERE backwards BETWEEN :backwards AND :backwards || :last"""
_LIKE_TWICE = """
    SELECT word FROM spellings WHERE word BETWEEN :first AND :first || :last
        AND length(word) BETWEEN :length - 2 AND :length + 2
        AND (instr(word, :one) OR instr(word, :two) OR instr(word, :three))"""
_BEGINNING_WITH = "SELECT word FROM spellings WHERE word BETWEEN :start AND :start || :last LIMIT :most"
_LAST = "\U0010ffff"
_MOST = 2**63 - 1  # The largest number that SQLite knows
_REMEMBERED = 2_000  # Words whose passages a process keeps at most; then it forgets them all


class Lookup:
    """What is asked for one query."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection

    def like(self, spelling: str) -> set[str]:
        """Return spellings that this one may mean; see `slips.mend`. Some of them may be in what may not be read."""
        start, end = untouched(spelling)
        asked = {"start": start, "end": end[::-1], "whole": spelling, "backwards": spelling[::-1]}
        asked |= dict(zip(("one", "two", "three"), thirds(spelling), strict=True))
        sizes = {"last": _LAST, "length": len(spelling), "first": spelling[0]}
        queries = [_LIKE, _LIKE_TWICE] if len(spelling) >= LONG else [_LIKE]
        return {word for query in queries for (word,) in self._connection.execute(query, asked | sizes)}

    def beginning_with(self, start: str, most: int) -> list[str]:
        """Return spellings that begin with some letters, at most so many of them."""
        asked = {"start": start, "last": _LAST, "most": most}
        return [word for (word,) in self._connection.execute(_BEGINNING_WITH, asked)]

    def count(self, holding: Mapping[str, int]) -> int:
        """Return how many passages have any of these tokens; `holding` counts those with each.

        Only those that lack the most frequent one are looked at.
        """
        if not holding:
            return 0
        most = max(holding, key=holding.__getitem__)
        others = _any_of(holding.keys() - {most})
        if not others:
            return holding[most]
        (more,) = self._connection.execute(_COUNT, (f'({others}) NOT "{most}"',)).fetchone()
        return holding[most] + int(more)

    def count_with(self, tokens: Iterable[str], keys: Collection[str]) -> int:
        """Return how many passages with one of these keys have any of these tokens."""
        asked = (_any_of(tokens), json.dumps([*keys]))
        return int(self._connection.execute(_COUNT_WITH, asked).fetchone()[0])

    def picked(self, holding: Mapping[str, int], limit: int) -> set[int]:
        """Return the passages that SQLite ranks highest among those that rare tokens of these, or all others, pick."""
        found: set[int] = set()
        for pick in picking.picks(holding, picking.LOOKED_AT):
            if len(found) >= limit:
                break
            most = max(CANDIDATES, 2 * limit)
            if pick.all:
                found |= self._best(_BEST_WITH_ALL, _all_of(pick.tokens), 2 * limit)
            elif sum(holding[token] for token in pick.tokens) <= most:
                # All of them are taken. To rank them, SQLite would go through all that have any other token.
                found |= self._best(_ALL, _any_of(pick.tokens), most)
            else:
                # What has any of them is ranked by the other tokens, too.
                found |= self._best(_BEST, f"({_any_of(pick.tokens)}) AND ({_any_of(holding)})", most)
        return found

    def counted(
        self, numbers: Collection[int], tokens: Collection[str]
    ) -> tuple[dict[str, Postings], dict[int, int], set[int]]:
        """Return which of these passages and their neighbours hold which tokens, their sizes, and which are talk."""
        near = {number + step for number in numbers for step in range(-2, 3)}
        for (number,) in self._connection.execute(_TURNS, (json.dumps([*numbers]),)):
            near.update(range(number - REACH, number + REACH + 1))
        postings: dict[str, Postings] = {}
        sizes, talk = {}, set()
        for number, size, is_turn, text, context in self._connection.execute(_COUNTED, (json.dumps([*near]),)):
            sizes[number] = size
            if is_turn:
                talk.add(number)
            for token in tokens:
                if token in text and (times := often(token, text)):
                    postings.setdefault(token, Postings({}, {})).text[number] = times
                if token in context and (times := often(token, context)):
                    postings.setdefault(token, Postings({}, {})).context[number] = times
        return postings, sizes, talk

    def within(self, sources: Collection[str]) -> set[int]:
        """Return the numbers of the passages of some sources."""
        return {number for (number,) in self._connection.execute(_WITHIN, (json.dumps([*sources]),))}

    def names(self, numbers: Collection[int]) -> dict[int, tuple[str, str]]:
        """Return for the numbers of passages the keys of their sources and their own."""
        rows = self._connection.execute(_NAMES, (json.dumps([*numbers]),))
        return {number: (source, key) for number, source, key in rows}

    def _best(self, query: str, match: str, limit: int) -> set[int]:
        asked = {
            "match": match,
            "context_weight": CONTEXT_WEIGHT,
            "most": picking.LOOKED_AT,
            "limit": min(limit, _MOST),
        }
        return {number for (number,) in self._connection.execute(query, asked)}


class Snapshot:
    """What a process has read of the tables in one state of them."""

    def __init__(self, connection: "Connection", state: object) -> None:
        self.state = state
        self.passages, size = connection.execute(_SUMS).fetchone()
        self.average = size / max(self.passages, 1)
        self._connection = connection
        self._postings: dict[str, Postings] = {}
        self._held: dict[str, int] = {}
        self._meant: tuple[object, tuple[Term, ...]] | None = None

    @cached_property
    def stock(self) -> Stock:
        """All passages; where there are very many, this takes a while."""
        talk = [number for (number,) in self._connection.execute("SELECT id FROM passages WHERE talk")]
        return Stock(dict(self._connection.execute("SELECT id, size FROM passages")), talk=talk)

    def meant(self, asked: tuple[Term, ...], allowed: Collection[int] | None = None) -> tuple[Term, ...]:
        """Return the words of a query with their forms, and what slips mean among these passages, or among all."""

        def is_known(token: str) -> bool:
            if allowed is None:
                return self._holds(token) > 0
            found = self._look_up(token)
            return any(number in allowed for numbers in (found.text, found.context) for number in numbers)

        if allowed is not None or self._meant is None or self._meant[0] != asked:
            lookup = Lookup(self._connection)
            inflected = inflect(asked, lambda token: self._holds(token) / max(self.passages, 1), lookup.beginning_with)
            self._meant = (asked if allowed is None else None, mend(inflected, is_known, lookup.like))
        return self._meant[1]

    def holding(self, tokens: Iterable[str]) -> dict[str, int]:
        """Return how many passages each token is in, without those that none holds."""
        return {token: held for token in tokens if (held := self._holds(token))}

    def _holds(self, token: str) -> int:
        if token not in self._held:
            if len(self._held) >= _REMEMBERED:
                self._held.clear()
            query, asked = (_COUNT, _any_of([token])) if " " in token else (_STANDING, token)
            row = self._connection.execute(query, (asked,)).fetchone()
            self._held[token] = row[0] if row else 0
        return self._held[token]

    def postings_of(self, tokens: Iterable[str]) -> dict[str, Postings]:
        """Return which passages hold these tokens, without those that none holds."""
        found = {token: self._look_up(token) for token in dict.fromkeys(tokens)}
        return {token: one for token, one in found.items() if one.text or one.context}

    def _look_up(self, token: str) -> Postings:
        found = self._postings.get(token)
        if found is None:
            found = self._look_up_both(token) if " " in token else self._look_up_one(token)
            if len(self._postings) >= _REMEMBERED:
                self._postings.clear()
            self._postings[token] = found
        return found

    def _look_up_one(self, token: str) -> Postings:
        rows = self._connection.execute("SELECT doc, col FROM places WHERE term = ?", (token,)).fetchall()
        inside = Counter([number for number, column in rows if column == "text"])
        around = Counter([number for number, column in rows if column != "text"])
        return Postings(inside, around)

    def _look_up_both(self, tokens: str) -> Postings:
        rows = self._connection.execute(_FOLLOWING, (_any_of([tokens]),)).fetchall()
        inside = {number: times for number, text, _ in rows if (times := often(tokens, text))}
        around = {number: times for number, _, context in rows if (times := often(tokens, context))}
        return Postings(inside, around)


def often(token: str, text: str) -> int:
    """Return how often a token, or two that follow each other, is in tokens that are joined by blanks."""
    if " " not in token:
        return text.split(" ").count(token)
    return f" {text.replace(' ', '  ')} ".count(f" {token.replace(' ', '  ')} ")


def _any_of(tokens: Iterable[str]) -> str:
    # Tokens hold no quotation marks, so nothing in them is syntax.
    return " OR ".join(f'"{token}"' for token in tokens)


def _all_of(tokens: Iterable[str]) -> str:
    return " AND ".join(f'"{token}"' for token in tokens)
