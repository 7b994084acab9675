"""Search on the server: its full-text index picks the records that may fit, and `ranking` puts them in order.

So the answer is that of an index on this machine, and nothing has to be read before the first question. Among many
thousand records numbers are estimates, and a word that most of them have picks none alone; see `picking`.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..records.record import State
from ..search import words
from ..search.names import besides
from ..search.picking import LOOKED_AT, MANY, picks
from ..search.port import Hit, Source
from ..search.ranking import APART, CONTEXT_WEIGHT, Postings, Stock, rank
from ..search.slips import LONG, halves, mend, thirds, untouched
from ..values import dataclass
from .server import Connection, Server

CANDIDATES = 200  # Records that the server picks for `ranking` to order, at least

SIZE = "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = '$ns.heads'::regclass"
"""About how many records there are."""

_TOTALS = "SELECT count(*), coalesce(sum(size), 0)::bigint FROM $ns.heads {} WHERE tokens IS NOT NULL"
_HELD = """
    SELECT asked, (SELECT count(*) FROM $ns.heads WHERE tokens @@ quote_literal(asked)::tsquery)
    FROM unnest(%s::text[]) AS asked"""
_FITTING = "SELECT count(*) FROM $ns.heads WHERE tokens @@ %s::tsquery AND state = ANY(%s)"
_FREQUENT = """
    SELECT lexeme, part FROM pg_stats, unnest(most_common_elems::text::text[], most_common_elem_freqs)
        AS common (lexeme, part)
    WHERE schemaname = %s AND tablename = 'heads' AND attname = 'tokens' AND lexeme = ANY(%s)"""
_LIKE = """
    SELECT word FROM $ns.spellings WHERE word >= %s AND word < %s AND length(word) BETWEEN %s AND %s
    UNION SELECT word FROM $ns.spellings WHERE backwards >= %s AND backwards < %s AND length(word) BETWEEN %s AND %s
    UNION SELECT word FROM $ns.spellings WHERE word >= %s AND word < %s
    UNION SELECT word FROM $ns.spellings WHERE backwards >= %s AND backwards < %s"""
_LIKE_TWICE = """
    SELECT word FROM $ns.spellings WHERE word >= %s AND word < %s AND length(word) BETWEEN %s AND %s
        AND (strpos(word, %s) > 0 OR strpos(word, %s) > 0 OR strpos(word, %s) > 0)"""
_LAST = "\U0010ffff"
_ONCE = 0.6079271  # What `ts_rank` gives a word that is in the text once
_LENGTH = "0.9 * (0.6 + 0.4 * size / %s)"
"""What the length of a record takes from the worth of a word in it; see `ranking`."""

_MATCHES = """
    SELECT record_id, state, size, ARRAY(
        SELECT lexeme || ' ' || array_to_string(weights, '') FROM unnest(tokens) WHERE lexeme = ANY(%s))
    FROM (SELECT * FROM (SELECT * FROM $ns.heads WHERE tokens @@ %s::tsquery LIMIT %s) AS picked
        ORDER BY {} DESC, record_id LIMIT %s) AS best"""


@dataclass(frozen=True, slots=True)
class _Counted:
    """A record that may fit: its state, how often each word is in its text and its tags, and its size in words."""

    key: str
    text: Mapping[str, int]
    context: Mapping[str, int]
    size: int


class ServerIndex:
    """A search index that the server keeps; see `SearchIndex`. It is always in line, so nothing has to refresh it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._last: _Question | None = None

    def look(self) -> None:
        """Count again from now on: what was counted for the last query may have changed."""
        self._last = None

    def refresh(self, sources: Iterable[Source], gone: Collection[str] | None = None) -> int:
        """Do nothing; see `SearchIndex`."""
        return 0

    def close(self) -> None:
        """Do nothing; see `SearchIndex`."""

    def delete(self) -> None:
        """Forget what was counted; see `SearchIndex`."""
        self.look()

    def search(self, query: str, *, limit: int = 10, within: Collection[str] | None = None) -> list[Hit]:
        """Return the records that fit best; see `SearchIndex`."""
        asked = words.terms(query)
        if not asked or limit < 1:
            return []
        return self._server.do(lambda connection: self._ask(connection, asked, query).answer(limit, within))

    def count(self, query: str, *, keys: Collection[str] | None = None) -> int:
        """Return how many records fit at all, of these states or of all; among very many, about how many."""
        asked = words.terms(query)
        return self._server.do(lambda connection: self._ask(connection, asked, query).count(keys)) if asked else 0

    def _ask(self, connection: Connection, asked: tuple[words.Term, ...], query: str) -> "_Question":
        """Return what is known for a query; a recall asks the same one with higher and higher limits."""
        last, more = self._last, besides(query)
        if last is None or (last.asked, last.more) != (asked, more) or last.connection is not connection:
            self._last = last = _Question(self._server, connection, asked, more)
        return last


class _Question:
    """What is asked for one query, over one connection."""

    def __init__(
        self, server: Server, connection: Connection, asked: tuple[words.Term, ...], more: tuple[str, ...]
    ) -> None:
        self._server = server
        self.connection = connection
        self.asked, self.more = asked, more
        self._held: dict[str, int] = {}
        ((self._estimate,),) = self._rows(SIZE)
        is_large = self._estimate > MANY
        part = f"TABLESAMPLE SYSTEM ({100 * LOOKED_AT / self._estimate:.4f})" if is_large else ""
        ((self._passages, self._size),) = self._rows(_TOTALS.format(part))
        self._is_large = is_large or self._passages > MANY
        if is_large:
            self._size = self._size * self._estimate // max(self._passages, 1)
            self._passages = self._estimate
        self._terms, self._tokens = self._understand()

    def count(self, keys: Collection[str] | None) -> int:
        if self._is_large:
            without = math.prod(1 - min(self._held[token] / self._passages, 1) for token in self._tokens)
            return int(self._passages * (1 - without))
        states = [str(key) for key in (State if keys is None else keys)]
        return int(self._rows(_FITTING, [" | ".join(f"'{token}'" for token in self._tokens), states])[0][0])

    def _understand(self) -> tuple[tuple[words.Term, ...], list[str]]:
        """Return the words that are meant, and those of their tokens that any record holds."""
        self._hold({token for term in self.asked for token in (*term.tokens, *term.forms)})
        unknown = [term for term in self.asked if not any(self._held[one] for one in (*term.tokens, *term.forms))]
        self._hold(
            {half for term in unknown for both in halves(term.spelling) for half in both.split(" ")} - self._held.keys()
        )
        terms = tuple(one for term in mend(self.asked, self._is_known, self._like) for one in self._apart(term))
        self._hold({token for term in terms for token in (*term.tokens, *term.forms)} - self._held.keys())
        tokens = (token for term in terms for token in (*term.tokens, *term.forms))
        return terms, [token for token in dict.fromkeys(tokens) if self._held[token]]

    def answer(self, limit: int, within: Collection[str] | None) -> list[Hit]:
        self._hold(set(self.more) - self._held.keys())
        more = [token for token in self.more if self._held[token]]
        candidates = self._matches([*dict.fromkeys([*self._tokens, *more])], limit)
        if within is not None:
            candidates = {name: one for name, one in candidates.items() if name in within}
        # Records have no neighbours, so their numbers are apart.
        numbered = {place * APART: (name, one) for place, (name, one) in enumerate(candidates.items(), start=1)}
        postings: dict[str, Postings] = {}
        for number, (_, one) in numbered.items():
            for token, times in one.text.items():
                postings.setdefault(token, Postings({}, {})).text[number] = times
            for token, times in one.context.items():
                postings.setdefault(token, Postings({}, {})).context[number] = times
        sizes = {number: one.size for number, (_, one) in numbered.items()}
        stock = Stock(sizes, self._passages, self._size / max(self._passages, 1))
        names = {number: (name, one.key) for number, (name, one) in numbered.items()}
        return rank(self._terms, postings, self._held, stock, limit, lambda _: names, besides=more)

    def _hold(self, tokens: Collection[str]) -> None:
        """Find out how many records hold each of these tokens."""
        if self._is_large and tokens:
            # What the planner knows of the commonest words; to count them would take longer than the search.
            for token, part in self._rows(_FREQUENT, [self._server.address.namespace, list(tokens)]):
                self._held[token] = max(1, int(part * self._passages))
        if rest := [token for token in tokens if token not in self._held]:
            self._held |= self._rows(_HELD, [rest])

    def _is_known(self, token: str) -> bool:
        """Say whether any record holds a token. Of two that follow each other it is not known, but of each."""
        if " " in token:
            return True
        if token not in self._held:
            self._hold([token])
        return self._held[token] > 0

    def _apart(self, term: words.Term) -> list[words.Term]:
        """Return two words in place of one that no record has: the server does not know which follow each other."""
        both = [form for form in term.forms if " " in form]
        if both and not any(map(self._is_known, term.tokens)):
            return [replace(term, tokens=(half,), forms=()) for half in both[len(both) // 2].split(" ")]
        return [replace(term, forms=tuple(form for form in term.forms if form not in both))] if both else [term]

    def _like(self, spelling: str) -> set[str]:
        start, end = untouched(spelling)
        sizes = (len(spelling) - 1, len(spelling) + 1)
        back = spelling[::-1]
        asked = [start, start + _LAST, *sizes, end[::-1], end[::-1] + _LAST, *sizes]
        asked += [spelling, spelling + _LAST, back, back + _LAST]
        found = self._rows(_LIKE, asked)
        if len(spelling) >= LONG:
            sizes = (len(spelling) - 2, len(spelling) + 2)
            found += self._rows(_LIKE_TWICE, [spelling[0], spelling[0] + _LAST, *sizes, *thirds(spelling)])
        return {word for (word,) in found}

    def _matches(self, tokens: Sequence[str], hits: int) -> dict[str, _Counted]:
        """Return the records that may fit best, by id."""
        if not (tokens and self._is_large):
            return self._pick(tokens, " | ", tokens, hits) if tokens else {}
        found: dict[str, _Counted] = {}
        for picking, is_all in picks({token: self._held[token] for token in tokens}, LOOKED_AT):
            if len(found) < hits:
                found = self._pick(picking, " & " if is_all else " | ", tokens, hits) | found
        return found

    def _pick(self, picking: Sequence[str], joint: str, tokens: Sequence[str], hits: int) -> dict[str, _Counted]:
        # What has all of some frequent words is worth the more the shorter it is; to score thousands takes long.
        score, values = ("-size", []) if joint == " & " else self._score(tokens)
        query = joint.join(f"'{token}'" for token in picking)
        most = LOOKED_AT if self._is_large else None
        found = self._rows(_MATCHES.format(score), [list(tokens), query, most, *values, max(CANDIDATES, 2 * hits)])
        return {
            name: _Counted(state, _counts(counts, "A"), _counts(counts, "D"), size)
            for name, state, size, counts in found
        }

    def _score(self, tokens: Iterable[str]) -> tuple[str, list[object]]:
        """Return what orders candidates, close to BM25, and the values in it."""
        parts, values = [], []
        average = max(self._size / max(self._passages, 1), 1)
        times = f"ts_rank('{{{CONTEXT_WEIGHT}, 0, 0, 1}}', tokens, %s::tsquery) / {_ONCE}"
        for token in tokens:
            held = self._held[token]
            rarity = math.log(1 + (self._passages - held + 0.5) / (held + 0.5))
            parts.append(f"%s * (1 - {_LENGTH} / ({times} + {_LENGTH}))")
            values += [rarity, average, f"'{token}'", average]
        return " + ".join(parts), values

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._server.rows(self.connection, query, values)


def _counts(found: Iterable[str], weight: str) -> dict[str, int]:
    pairs = (one.split(" ") for one in found)
    return {token: count for token, weights in pairs if (count := weights.count(weight))}
