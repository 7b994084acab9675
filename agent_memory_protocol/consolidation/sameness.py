"""Ask an operator which of several texts say the same, as it is asked about records in the stage of duplicates."""

from collections.abc import Sequence
from datetime import datetime

from ..records.record import Provenance, RecordType, new_record
from ..text import alike
from ..values import dataclass
from .one_pass import ask
from .proposals import Operator, Question, Stage, Supersede, Unreadable

_FROM = Provenance("memory")


@dataclass(frozen=True, slots=True)
class Sameness:
    """What an operator has said: the places of texts that say the same, each with its reason, and what it got wrong."""

    groups: tuple[tuple[tuple[int, ...], str], ...]
    problems: tuple[str, ...]


def which_are_the_same(operator: Operator, texts: Sequence[str], now: datetime) -> Sameness:
    """Ask which of these texts say the same. A text and what denies it never do, whatever the answer."""
    places = {}
    records = []
    for place, text in enumerate(texts):
        record = new_record(RecordType.FACT, text, provenance=_FROM, now=now)
        if record.id not in places:
            places[record.id] = place
            records.append(record)
    groups, problems = [], []
    for proposal in ask(operator, Question(stage=Stage.DEDUP, now=now, records=records)):
        if isinstance(proposal, Unreadable):
            problems.append(proposal.reason)
        elif isinstance(proposal, Supersede):
            group = tuple(sorted(places[one] for one in proposal.replaced if one in places))
            if any(alike.denials([texts[place] for place in group])):
                problems.append("it takes a text and what denies it for the same")
            elif len(group) > 1:
                groups.append((group, proposal.reason))
    return Sameness(tuple(groups), tuple(problems))
