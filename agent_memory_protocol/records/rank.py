"""Which records answer a query: scored, whole, both sides of a dispute or none, within a budget of tokens.

An index finds what looks like the query; here the state, the age, the use and the confidence of each record say what
it is worth. Nothing is shortened or rewritten: a record is in the answer as it is, or is left out of it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..limits import estimate_tokens
from ..search.excerpt import PASSAGE, excerpt
from ..text.bullets import bullet
from ..values import dataclass
from .proof import FOREIGN, FORGED
from .record import LIVE, Record, State, by_birth, came_disputed, has_expired, headings_of, until_of

BUDGET_TOKENS = 2_000  # What an answer may have where the caller names no other budget
HALF_LIFE_DAYS = 30.0  # A record that has not changed for so long is worth half
LEAST_RECENCY = 0.1  # Age alone never makes a record worth less than this share

_STATE_WEIGHTS = {State.ACTIVE: 1.0, State.TRANSITIONAL: 0.8, State.SUPERSEDED: 0.3, State.ARCHIVED: 0.1}
LEAST_FIT = 0.2  # Where the best match fits less, an answer for a prompt has nothing

_HALF_USE = 5.0
_DAY = 86_400.0

_LONGEST_LABEL = 40
_KEEP = "keep"  # A tag that says how long a record stays, and not what it is about

_GATHERED = frozenset(["import", "consolidation"])
_POINTING = frozenset(
    ["do", "don't", "never", "always", "it", "its", "they", "this", "that", "these", "those", "there"]
)

_MARK = re.compile(
    r"[\[\uff3b](?=\s*(?:disputed|superseded|archived|changed|flagged|signature|set\s+back|not\s+signed)\b)",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Match:
    """A record that looks like the query."""

    record: Record
    relevance: float  # how much it looks like it, from 0 to 1; the best of an answer has 1
    reasons: tuple[str, ...]  # why it was found
    uses: int = 0  # how often it was remembered again or recalled
    # with `meant`: what matched, and which slips of the query were taken for what; see `Hit`
    tokens: tuple[str, ...] = ()
    meant: tuple[tuple[str, str], ...] = ()
    fit: float = 1.0  # from 0 to 1, what it has of what was asked for; this compares answers to different queries


@dataclass(frozen=True, slots=True)
class RecalledRecord:
    """A record in an answer."""

    record: Record
    score: float  # what it is worth as an answer; what ranked it
    tokens: int  # the tokens of its line in the prompt block
    reasons: tuple[str, ...]  # why it is here
    doubt: str = ""  # what has to be said of who wrote it, such as that its signature does not verify
    # the tokens of the query that are in it, as `search.words.places` finds them in a text
    matched: tuple[str, ...] = ()
    # each word of the query that was taken for a slip, with the word that was looked for instead
    meant: tuple[tuple[str, str], ...] = ()
    fit: float = 1.0  # from 0 to 1, what it has of what was asked for; see `Match`

    @property
    def line(self) -> str:
        """The record as one line of a prompt."""
        return render(self.record, doubt=self.doubt)

    @property
    def label(self) -> str:
        """What it is about, where its text does not say so; see `label_of`."""
        return label_of(self.record)

    @property
    def marks(self) -> str:
        """What the end of that line says of the record's state, end and signature; "" if nothing is to be said."""
        return _marks(self.record, self.doubt)

    @property
    def passage(self) -> str:
        """The part of its text that matched, on one line."""
        return excerpt(self.record.body, self.matched, PASSAGE)

    def to_json(self) -> dict[str, object]:
        """Return it as it is among the hits of a JSON answer."""
        return {
            "kind": "record",
            "id": self.record.id,
            "state": self.record.state.value,
            **({"label": self.label} if self.label else {}),
            "text": self.record.body,
            "score": round(self.score, 4),
            "fit": round(self.fit, 4),
            "reasons": [*self.reasons],
        }

    def to_hit(self) -> dict[str, object]:
        """Return it as it is among the hits of a search: with the part that matched."""
        return {**self.to_json(), "passage": {"line": 0, "text": self.passage}}


@dataclass(frozen=True, slots=True)
class Recalled:
    """The answer to a query, best first.

    Attributes:
        query: what was asked.
        hits: the records.
        left_out: how many more matched and did not fit into the budget.
        problems: what could not be read, one line each.
    """

    query: str
    hits: tuple[RecalledRecord, ...] = ()
    left_out: int = 0
    problems: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the records."""
        return tuple(hit.record.id for hit in self.hits)

    @property
    def tokens(self) -> int:
        """The tokens of the prompt block."""
        return estimate_tokens(len(self.as_prompt_block().encode()))

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[RecalledRecord]:
        return iter(self.hits)

    def __str__(self) -> str:
        return self.as_prompt_block()

    def as_prompt_block(self) -> str:
        """Return the records for a prompt, one line each; "" when there are none."""
        return "\n".join(hit.line for hit in self.hits)


def choose(
    query: str,
    matches: Sequence[Match],
    others: Mapping[str, Record],
    *,
    budget_tokens: int,
    include_history: bool,
    now: datetime,
    doubt: Callable[[Record], str] = lambda _: "",
) -> Recalled:
    """Return the best of the matches that fit into a prompt block of so many tokens.

    `others` are further records by id: the other sides of disputes, and with `include_history` what was replaced.
    Ages are counted to `now`.
    """
    known = {**others, **{match.record.id: match.record for match in matches}}
    found = {match.record.id: match for match in matches}
    ranked = sorted(
        (match for match in matches if _is_shown(match.record, include_history, now)),
        key=lambda match: (-score(match, now), match.record.id),
    )
    chosen: dict[str, RecalledRecord] = {}
    skipped: set[str] = set()
    room = 4 * budget_tokens + 1  # the last line has no ending
    for first in ranked:
        if first.record.id in chosen:
            continue
        unit = [one for one in _unit(first, known, found, include_history, now) if one.record.id not in chosen]
        sized = [_recalled(one, now, doubt(one.record)) for one in unit]
        size = sum(length + 1 for _, length in sized)
        if size > room:
            skipped.update(one.record.id for one in unit)
            continue
        room -= size
        chosen.update((one.record.id, one) for one, _ in sized)
    return Recalled(query, tuple(chosen.values()), len(skipped.difference(chosen)))


def score(match: Match, now: datetime) -> float:
    """Return what a match is worth: relevance × state × recency × use × confidence."""
    record = match.record
    days = max(0.0, (now - record.updated_at).total_seconds() / _DAY)
    recency: float = max(LEAST_RECENCY, 0.5 ** (days / HALF_LIFE_DAYS))
    use = 1 + match.uses / (match.uses + _HALF_USE)
    return match.relevance * _STATE_WEIGHTS[record.state] * recency * use * record.confidence


def render(record: Record, *, doubt: str = "") -> str:
    """Return a record as one line of a prompt, with what it is about, and the marks of its state and signature."""
    marks, label = _marks(record, doubt), label_of(record)
    said = f"{label}: {record.body.lstrip()}" if label else record.body
    return bullet(_one_line(said)) + (f" {marks}" if marks else "")


def label_of(record: Record) -> str:
    """Return what a record is about, where its text does not say so: its first tag, and the day of an event.

    What came from elsewhere had a page around it. Its first tag is the title of that, and further ones may be the
    headings that it was under, as “Never do this”. Of what somebody wrote as a record, only a text that begins with a
    verb or “it” needs its tag: “Use port 5433.”
    """
    said = record.body.casefold()
    tags = [" ".join(one.split()) for one in record.tags if one != _KEEP]
    if headings := headings_of(record):
        tags = [" ".join(one.split()) for one in headings]
    elif record.provenance.kind in _GATHERED:
        tags = [one for place, one in enumerate(tags) if not place or _may_be_heading(one)]
    else:
        tags = tags[:1] if _names_nothing(said) else []
    told = [one for one in tags if one and one.casefold() not in said]
    told = [one if len(one) <= _LONGEST_LABEL else f"{one[: _LONGEST_LABEL - 1]}…" for one in told]
    while len(told) > 2 and len(", ".join(told)) > 2 * _LONGEST_LABEL:
        del told[1]  # the title and the nearest heading say most
    day = "" if record.occurred_at is None else f"{record.occurred_at:%Y-%m-%d}"
    return ", ".join(dict.fromkeys([*told, *([day] if day and day not in said else [])]))


def _may_be_heading(tag: str) -> bool:
    """Say whether a tag is written as a heading is: a topic is mostly one word in small letters."""
    return " " in tag or not tag[:1].islower()


def _names_nothing(said: str) -> bool:
    """Say whether a text does not begin with what it is about."""
    from ..text.language import english
    from ..text.tense import is_known_verb

    word = said.split(maxsplit=1)[0].strip('*_`"“.,:;!?()') if said.strip() else ""
    return word in _POINTING or is_known_verb(english(word))


def _marks(record: Record, doubt: str) -> str:
    marks = []
    if record.transition is not None:
        marks.append(f"[disputed: {_said(record.transition.reason)}]")
    elif record.state is State.SUPERSEDED:
        marks.append("[superseded — kept for history]")
    elif record.state is State.ARCHIVED:
        marks.append("[archived]")
    elif came_disputed(record):
        marks.append("[disputed]")
    if until := until_of(record):
        marks.append(f"[until {until}]")
    if record.flagged:
        marks.append(f"[flagged: {_said(record.flag_reason or 'its evidence is gone')}]")
    if doubt:
        marks.append(f"[{doubt}]")
    return " ".join(marks)


def partner_of(record: Record) -> str | None:
    """Return the id of the other side of a record's dispute; None if it is in none."""
    if record.transition is None:
        return None
    one, other = record.transition.sides
    return other if one == record.id else one


def with_partners(hits: Iterable[Any]) -> list[Any]:
    """Return hits; a record in a dispute of which the other side is not among them names that among its reasons."""
    found = [*hits]
    ids = {hit.record.id for hit in found if isinstance(hit, RecalledRecord)}
    for number, hit in enumerate(found):
        partner = partner_of(hit.record) if isinstance(hit, RecalledRecord) else None
        if partner is not None and partner not in ids and not any(partner in reason for reason in hit.reasons):
            found[number] = replace(hit, reasons=(*hit.reasons, f"disputed with {partner}"))
    return found


def _one_line(text: str) -> str:
    """Return a text with its line ends as escapes, and with what looks like a mark of ours broken."""
    return _MARK.sub("&#91;", _LINE_END.sub(r"\\n", text.strip()))


def _said(reason: str) -> str:
    return bullet(_one_line(reason)).removeprefix("- ")


def _is_shown(record: Record, include_history: bool, now: datetime) -> bool:
    return not record.redacted and (include_history or (record.state in LIVE and not has_expired(record, now)))


def _unit(
    first: Match, known: Mapping[str, Record], found: Mapping[str, Match], include_history: bool, now: datetime
) -> list[Match]:
    """Return a match with the records that may only come together with it, in the order they are shown."""
    unit = {first.record.id: first}

    def add(id: str | None, reason: str) -> Record | None:
        record = known.get(id or "")
        if record is None or record.id in unit or not _is_shown(record, include_history, now):
            return None
        uses = found[record.id].uses if record.id in found else 0
        unit[record.id] = found.get(record.id) or Match(record, first.relevance, (reason,), uses, fit=first.fit)
        return record

    other = add(partner_of(first.record), f"the other side of the dispute with {first.record.id}")
    if other is not None:
        # The older claim first, whichever of the two looks more like the query.
        return sorted(unit.values(), key=lambda one: by_birth(one.record))
    if include_history:
        newer = first.record
        while (older := add(newer.supersedes, f"replaced by {newer.id}")) is not None:
            newer = older
    return list(unit.values())


def _recalled(match: Match, now: datetime, doubt: str) -> tuple[RecalledRecord, int]:
    """Return a record in an answer, and the bytes of its line."""
    reasons = match.reasons
    if match.uses:
        times = "once" if match.uses == 1 else f"{match.uses} times"
        reasons = (*reasons, f"used {times} before")
    if until := until_of(match.record):
        reasons = (*reasons, f"holds until {until}")
    if came_disputed(match.record):
        reasons = (*reasons, "disputed where it came from")
    if doubt:
        signer = match.record.signed_by
        foreign = f"signed by {signer}" if signer else "not signed"
        reasons = (*reasons, {FORGED: f"its {FORGED}", FOREIGN: foreign}.get(doubt, doubt))
    size = len(render(match.record, doubt=doubt).encode())
    more = (doubt, match.tokens, match.meant, match.fit)
    return RecalledRecord(match.record, score(match, now), estimate_tokens(size), reasons, *more), size
