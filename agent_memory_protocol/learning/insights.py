"""What conversations have taught: which of it deserves a longer life, where, and why; and what has outlived itself.

An insight that several conversations came to on their own is knowledge of the project. What one of them decided
or stumbled over belongs to the agent whose work it is about. Values in, values out: nothing is read or written here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from .. import limits
from ..layout import Target, Tier
from ..secrets.mask import beginning
from ..text import alike, labels, marks, nearly
from ..text.digest import blake2b
from ..text.gist import gist
from ..text.ids import id_of_proposal
from ..text.labels import BELOW
from ..text.opposites import exclude_each_other
from ..text.placeholders import is_placeholder
from ..text.topics import is_topic
from ..tiers.document import Document, find_sections, identity_text, section_key
from ..tiers.entries import Entry
from ..tiers.named import named
from ..values import HasJson, dataclass, json_of
from .route import route
from .route_words import LESSON, STATE

ADD, REMOVE, MOVE = "add", "remove", "move"
REPEATED, DECIDED, LEARNED, STALE, DOUBLE, OVERFLOW = "repeated", "decided", "learned", "stale", "double", "overflow"

_DECISION = 0.7
_KEYWORD = 0.5
_STALE = 0.9
_UNKNOWN = 0.5
_STAYS = 0.7  # From this confidence on, an entry is not moved out of a full shared document

_KEYWORDS = ("gotcha", "bug", "pattern", "lesson", "pitfall", "workaround", "root cause")
_LABELS = frozenset([*_KEYWORDS, "note", "decision", "decided", "insight", "finding", "learned", "tip", "warning"])
_FEWEST_WORDS = 2
_SHOWN = 60
_LONGEST_DECISION = 500  # Characters; of a decision in a design that says more, the first paragraph is taken


@dataclass(frozen=True, slots=True)
class Sighting(HasJson):
    """Where an insight is: a conversation, and the line, from 1, of its document or, with `in_design`, its design."""

    JSON = "conversation line in_design"

    conversation: str
    line: int
    in_design: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that is worth making."""

    action: str  # ADD, REMOVE or MOVE
    kind: str  # REPEATED, DECIDED, LEARNED, STALE, DOUBLE or OVERFLOW
    text: str
    target: Target  # the document it goes to; for REMOVE, the one it leaves
    confidence: float
    reason: str
    entry_id: str = ""  # the entry that leaves; "" for ADD
    sightings: tuple[Sighting, ...] = ()  # the conversations it was seen in
    section: str = ""
    day: int = 0  # for MOVE, the day of the entry's own date, as an ordinal, which goes with it; 0 if it has none
    is_repeat: bool = False  # for REMOVE, whether the other entry says it word for word
    # whether it would be everybody's, though only one conversation says it, or others in other words
    is_unconfirmed: bool = False
    wordings: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    # for ADD, the entries that say it where it was seen: what is known of them goes with it
    origins: tuple[tuple[Target, str], ...] = ()

    @property
    def id(self) -> str:
        """Names the proposal; the same whenever it is made."""
        return id_of_proposal(self.action, self.kind, str(self.target), self.entry_id or key_of(self.text))

    @property
    def is_safe(self) -> bool:
        """Whether nothing leaves a document by it, except for an exact repeat, and nothing comes on one word alone."""
        return self.is_repeat or (self.action == ADD and not self.is_unconfirmed)

    @property
    def summary(self) -> str:
        """What it is about, for people."""
        return self.text

    def to_json(self) -> dict[str, object]:
        """Return it as it is in a JSON answer."""
        where = "text target section entry_id confidence reason wordings sightings"
        return json_of(self, f"id safe=is_safe action kind {where}") | {"target": str(self.target)}


@dataclass(frozen=True, slots=True)
class Insight:
    """One insight and all the places it was seen in."""

    # those of the wordings in which conversations say it, then those in which lasting memory does
    keys: tuple[str, ...]
    text: str
    sightings: tuple[Sighting, ...]
    conversations: frozenset[str]  # all that ever had it, those remembered from earlier included
    decided: str  # the heading of the decision it is; "" if it is not one
    keyword: str  # the word by which it says that it is a lesson; "" if it does not
    wordings: int = 1  # in how many wordings conversations say it
    told: str = ""  # why a program says that these wordings say the same; "" if it was not needed


@dataclass(frozen=True, slots=True)
class Material:
    """What there is to distill."""

    conversations: Mapping[str, Document]
    designs: Mapping[str, Document]  # the designs next to them, `specs/design.md`, by the conversation's id
    shared: Document | None
    agents: Mapping[str, Document]
    earlier: Mapping[str, frozenset[str]]  # for each insight by its key, the conversations it was seen in before
    confidences: Mapping[str, float]  # what is known of the confidence of shared entries, by id
    gone: Mapping[str, str]  # the paths that entries name and that git knew once, each with its name today, "" for none
    min_conversations: int  # so many have to come to an insight before it is proposed for the shared document
    max_lines: int  # with `max_bytes`: the limits of a document
    max_bytes: int
    # the keys of texts that a program says are the same, and its reason
    told_same: Sequence[tuple[frozenset[str], str]] = ()


def find_insights(material: Material) -> list[Insight]:
    """Group what conversations say, and what their designs decide, by what it says, most often seen first.

    Two texts say the same if they have one gist, or if `alike` finds that they claim the same in other words.
    """
    groups: dict[str, list[tuple[Sighting, str, str]]] = {}
    for sighting, text, decided in _sightings(material):
        key = key_of(text)
        if key:
            groups.setdefault(key, []).append((sighting, text, decided))
    insights = []
    for said, there in _across_wordings(material, groups):
        sightings, texts, decisions = zip(*(one for key in said for one in groups[key]), strict=True)
        conversations = {one.conversation for one in sightings}.union(*(material.earlier.get(key, ()) for key in said))
        keyword = next(filter(None, map(_keyword, texts)), "")
        decided = next(filter(None, decisions), "")
        fullest = max(texts, key=len)
        told = next((why for keys, why in material.told_same if len(keys.intersection([*said, *there])) > 1), "")
        keys = (*said, *there)
        insights.append(Insight(keys, fullest, sightings, frozenset(conversations), decided, keyword, len(said), told))
    return sorted(insights, key=lambda one: (-len(one.conversations), one.text))


def texts_of(material: Material) -> dict[str, str]:
    """Return what conversations and lasting memory say, in the fullest form of each wording, by its key."""
    said = [text for _, text, _ in _sightings(material)]
    said += [text for document in _lasting(material) for _, _, text in _entries(document)]
    found: dict[str, str] = {}
    for text in said:
        key = key_of(text)
        if key and len(text) > len(found.get(key, "")):
            found[key] = text
    return found


def _across_wordings(
    material: Material, groups: Mapping[str, Sequence[tuple[Sighting, str, str]]]
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the keys of each insight: those under which conversations have it, and further ones of lasting memory."""
    texts = {key: max((text for _, text, _ in seen), key=len) for key, seen in groups.items()}
    lasting = {key_of(text): text for document in _lasting(material) for _, _, text in _entries(document)}
    texts = {**{key: text for key, text in lasting.items() if key}, **texts}
    keys = list(texts)
    same = [
        [keys[place] for place in members] for members in alike.groups([_without_label(one) for one in texts.values()])
    ]
    left = dict.fromkeys(groups)
    for members in _joined([*same, *([key for key in keys if key in told] for told, _ in material.told_same)]):
        said = [key for key in members if key in left]
        if said:
            yield said, [key for key in members if key not in groups]
        for key in said:
            del left[key]
    for key in left:
        yield [key], []


def _joined(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return groups of which no two share a member: those that did are one."""
    found: list[dict[str, None]] = []
    for group in groups:
        new = dict.fromkeys(group)
        for other in [one for one in found if not one.keys().isdisjoint(new)]:
            found.remove(other)
            new = {**other, **new}
        found.append(new)
    return [list(one) for one in found]


def _sightings(material: Material) -> Iterator[tuple[Sighting, str, str]]:
    """Yield what conversations say and their designs decide, with the heading of the decision, "" without one."""
    for conversation, document in material.conversations.items():
        for entry, _, text in _entries(document):
            yield Sighting(conversation, entry.start + 1), text, _decision(document, entry)
    for conversation, design in material.designs.items():
        for entry, _, said in _entries(design):
            decided = _decision(design, entry)
            text = said if len(said) <= _LONGEST_DECISION else labels.in_front(design.label(entry), entry.paragraph)
            if decided and len(text) <= _LONGEST_DECISION:
                yield Sighting(conversation, entry.start + 1, in_design=True), text, decided


def distill(material: Material) -> list[Suggestion]:
    """Say what all conversations together suggest, and what shared and agent memory should lose."""
    insights = find_insights(material)
    found = list(_promotions(material, insights))
    found = _with_what_is_full(material, [*found, *_nearly_confirmed(material, insights, found)])
    cleanups = [*_stale(material), *_doubles(material)]
    return [*found, *cleanups, *_overflow(material, found, {one.entry_id for one in cleanups})]


def learn(material: Material, conversation: str, agent: str | None) -> list[Suggestion]:
    """Say what one conversation has taught: its decisions, its lessons, and what others have confirmed."""
    insights = find_insights(material)
    own = [one for one in insights if any(seen.conversation == conversation for seen in one.sightings)]
    found = list(_promotions(material, own, agent=agent, is_asked=True))
    near = _nearly_confirmed(material, insights, found)
    found += [one for one in near if any(seen.conversation == conversation for seen in one.sightings)]
    return _with_what_is_full(material, found)


def _with_what_is_full(material: Material, found: Sequence[Suggestion]) -> list[Suggestion]:
    """Say of each promotion to an agent whether its document has room. What a shared one lacks, it hands on."""
    lines: dict[Target, int] = {}
    told = []
    for one in found:
        document = material.agents.get(one.target.owner) if one.target.tier is Tier.AGENT else None
        if document is not None:
            needed = len(limits.split_lines(one.text))
            lines[one.target] = lines.get(one.target, document.line_count) + needed
            if lines[one.target] > material.max_lines:
                reason = (
                    f"{one.reason}; {one.target} is full: make room first, as with `amp prune {one.target} --to-limit`"
                )
                told.append(replace(one, reason=reason))
                continue
        told.append(one)
    return told


def key_of(text: str) -> str:
    """Return what texts that say the same have in common; "" if a text says too little to be an insight."""
    told = gist(_without_label(text))
    if len(told.words) < _FEWEST_WORDS:
        return ""
    return blake2b(repr((told.words, sorted(told.negations))).encode(), digest_size=8).hexdigest()


def _promotions(
    material: Material, insights: Sequence[Insight], *, agent: str | None = None, is_asked: bool = False
) -> Iterator[Suggestion]:
    """Yield where insights go: each that does not stay in its conversation, and is not known there already."""
    known = known_insights(material)
    for insight in insights:
        count = len(insight.conversations)
        names = ", ".join(sorted(insight.conversations)[:5]) + (", …" if count > 5 else "")
        if insight.decided:
            kind, least, section, why = DECIDED, _DECISION, "Decisions", f"a decision of {names}"
        elif insight.keyword:
            kind, least, section, why = LEARNED, _KEYWORD, "Lessons", f'{names} calls it "{insight.keyword}"'
        else:
            kind, least, section, why = REPEATED, 0.0, "Lessons", f"{names} learned it"
        there = set[Target]().union(*(known.get(key, ()) for key in insight.keys))
        target, lone = Target(Tier.SHARED), False
        others = f", in {insight.wordings} wordings" if insight.wordings > 1 else ""
        asked = f"; {insight.told}" if insight.told else ""
        reason = f"{count} conversations came to it{others}: {names}{asked}"
        if count >= material.min_conversations and _is_craft(insight.text):
            owner = agent or _most_relevant(material.agents, insight.text)
            target = Target(Tier.AGENT, owner) if owner else target
            reason += f"; it tells how {owner} works" if owner else ""
        elif count < material.min_conversations:
            is_own = kind != REPEATED or (is_asked and _is_lesson(insight.text))
            # What tells of the project, and is only one conversation's, is not an agent's craft.
            lone = is_own and kind == REPEATED and agent is None and not _is_craft(insight.text)
            owner = (agent or _most_relevant(material.agents, insight.text)) if is_own and not there else None
            if owner is None:
                continue
            few = f"{why}; fewer than {material.min_conversations} conversations confirm it"
            target = target if lone else Target(Tier.AGENT, owner)
            reason = few if lone else f"{few}, so it is {owner}'s"
        if target not in there and (insight.decided or route(insight.text).place != STATE):
            sure, seen = max(min(1.0, count / 10), least), insight.sightings
            origins, words = _origins(material, seen)
            section = _section(material, section, seen)
            if apart := _apart(_topics(material, seen)):
                reason += f"; it was said under {apart}: say for which it holds"
            found = Suggestion(ADD, kind, insight.text, target, sure, reason, sightings=seen, section=section)
            yield replace(found, marks=words, origins=origins, is_unconfirmed=lone or apart != "")


def _nearly_confirmed(
    material: Material, insights: Sequence[Insight], promoted: Sequence[Suggestion]
) -> Iterator[Suggestion]:
    """Yield what enough conversations say in similar words, for a person to compare: words prove nothing."""
    settled = {key_of(one.text) for one in promoted}.union(known_insights(material))
    texts = [_without_label(one.text) for one in insights]
    lasting = [_without_label(text) for document in _lasting(material) for _, _, text in _entries(document)]
    everything = [*texts, *lasting]
    near = [
        [str(one), str(other)]
        for one, other in nearly.pairs(everything)
        if not nearly.may_deny(everything[one], everything[other])
    ]
    for group in _joined(near):
        places = sorted(map(int, group))
        members = [insights[place] for place in places if place < len(insights)]
        names = set[str]().union(*(one.conversations for one in members))
        is_known = len(members) < len(places) or not settled.isdisjoint(key for one in members for key in one.keys)
        if is_known or len(members) < 2 or len(names) < material.min_conversations:
            continue
        first, *others = sorted(members, key=lambda one: (-len(one.conversations), -len(one.text)))
        if route(first.text).place != STATE:
            seen = tuple(one for member in members for one in member.sightings)
            origins, words = _origins(material, seen)
            told = ", ".join(sorted(names)[:5]) + (", …" if len(names) > 5 else "")
            reason = f"{len(names)} conversations use much the same words: {told}; compare what they say"
            yield Suggestion(
                ADD,
                REPEATED,
                first.text,
                Target(Tier.SHARED),
                min(1.0, len(names) / 10),
                reason,
                sightings=seen,
                section=_section(material, "Lessons", seen),
                is_unconfirmed=True,
                wordings=tuple(one.text for one in others),
                marks=words,
                origins=origins,
            )


def _topics(material: Material, seen: Sequence[Sighting]) -> set[tuple[str, ...]]:
    """Return what the headings say, where it was seen, that it is about."""
    pages = [(None if one.in_design else material.conversations.get(one.conversation), one.line) for one in seen]
    return {() if page is None else _topics_at(page, line) for page, line in pages}


def _topics_at(page: Document, line: int) -> tuple[str, ...]:
    """Return the topics of the entry that begins at a line, counted from 1."""
    entry = next((one for one in page.outline.entries if one.start == line - 1), None)
    return () if entry is None else tuple(filter(is_topic, page.sections(entry)))


def _section(material: Material, kind: str, seen: Sequence[Sighting]) -> str:
    """Return where something goes: below its kind, under the headings that said everywhere what it is about."""
    found = _topics(material, seen)
    return BELOW.join([kind, *(found.pop() if len(found) == 1 else ())])


def _apart(topics: set[tuple[str, ...]]) -> str:
    """Return two topics that exclude each other, such as staging and production; "" without any."""
    names = [BELOW.join(topic) for topic in sorted(topics)]
    apart = ((one, other) for one, other in combinations(names, 2) if exclude_each_other([one], [other]))
    return " and ".join(f"“{name}”" for name in next(apart, ()))


def _origins(material: Material, seen: Sequence[Sighting]) -> tuple[tuple[tuple[Target, str], ...], tuple[str, ...]]:
    """Return the entries that were sighted, and their marks: an end only if each has one, and then the last."""
    lines = {(one.conversation, one.line) for one in seen if not one.in_design}
    found = [
        (document.target, entry_id, entry)
        for conversation, document in material.conversations.items()
        for entry_id, entry in document.by_id
        if (conversation, entry.start + 1) in lines
    ]
    ends = [entry.marks.until for _, _, entry in found if entry.marks.until is not None]
    until = max(ends) if ends and len(ends) == len(seen) else None
    keep = any(entry.is_marked_keep for _, _, entry in found)
    return tuple((target, one) for target, one, _ in found), tuple(marks.words_of(keep=keep, until=until))


def known_insights(material: Material) -> dict[str, set[Target]]:
    """Return for each insight, by its key, the shared and agent documents that have it."""
    known: dict[str, set[Target]] = {}
    for document in _lasting(material):
        for _, _, text in _entries(document):
            known.setdefault(key_of(text), set()).add(document.target)
    return known


def _lasting(material: Material) -> list[Document]:
    return [document for document in (material.shared, *material.agents.values()) if document is not None]


def _entries(document: Document) -> Iterator[tuple[Entry, str, str]]:
    for entry, entry_id in zip(document.outline.entries, document.ids, strict=True):
        yield entry, entry_id, _said(document, entry)


def _stale(material: Material) -> Iterator[Suggestion]:
    """Yield the entries that name a file which git knew once. One that was renamed is for `amp check --fix`."""
    for document in _lasting(material):
        for entry, entry_id, text in _entries(document):
            path = next((one.path for one in named(document, entry) if material.gone.get(one.path) == ""), "")
            if path and not entry.kept:
                reason = f"`{path}`, which it names, is gone"
                yield Suggestion(REMOVE, STALE, text, document.target, _STALE, reason, entry_id)


def _doubles(material: Material) -> Iterator[Suggestion]:
    """Yield the entries of agents that the shared document has too, in the same words or in others."""
    if material.shared is None:
        return
    shared = [(entry.start + 1, text) for entry, _, text in _entries(material.shared)]
    own = [(document, *one) for document in material.agents.values() for one in _entries(document)]
    texts = [text for _, text in shared] + [text for *_, text in own]
    keys = [key_of(text) for text in texts]
    by_key: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        if key:
            by_key.setdefault(key, []).append(place)
    groups = [
        [str(place) for place in one] for one in (*by_key.values(), *alike.groups(list(map(_without_label, texts))))
    ]
    groups += [[str(place) for place, key in enumerate(keys) if key in told] for told, _ in material.told_same]
    doubles: dict[int, int] = {}
    for group in _joined([one for one in groups if len(one) > 1]):
        places = sorted(map(int, group))
        if places[0] < len(shared):
            doubles |= {place: places[0] for place in places if place >= len(shared)}
    for place, (document, entry, entry_id, text) in enumerate(own, len(shared)):
        if place in doubles and not entry.kept:
            line, said = shared[doubles[place]]
            if exclude_each_other(_topics_at(document, entry.start + 1), _topics_at(material.shared, line)):
                continue
            is_repeat = said.split() == text.split()
            reason = f"line {line} of the shared document says the same"
            reason += "" if keys[place] == keys[doubles[place]] else f" in other words: {beginning(said, _SHOWN)}"
            yield Suggestion(REMOVE, DOUBLE, text, document.target, 1.0, reason, entry_id, is_repeat=is_repeat)


def _overflow(material: Material, added: Sequence[Suggestion], leaving: set[str]) -> Iterator[Suggestion]:
    """Yield what a full shared document hands to the agents it is about, least certain and oldest first."""
    shared = material.shared
    if shared is None:
        return
    coming = [one for one in added if one.target.tier is Tier.SHARED]
    new = {one.section for one in coming if not find_sections(shared, one.section)}
    frames = [f"\n## {section}\n\n" for section in new]
    texts = [*frames, *("".join(f"  {line}\n" for line in limits.split_lines(one.text)) for one in coming)]
    lines = shared.line_count + sum(len(limits.split_lines(text)) for text in texts)
    size = len(shared.data) + sum(len(text.encode()) for text in texts)
    rows = [
        (material.confidences.get(entry_id, _UNKNOWN), entry.day or 0, entry_id, entry, text)
        for entry, entry_id, text in _entries(shared)
        if entry.is_item and not entry.kept
    ]
    for confidence, _, entry_id, entry, text in sorted(rows, key=lambda row: row[:3]):
        if lines <= material.max_lines and size <= material.max_bytes:
            return
        if entry_id not in leaving:
            owner = _most_relevant(material.agents, text)
            if confidence >= _STAYS or owner is None:
                continue
            reason = f"the shared document is full, and {owner} works on this"
            target = Target(Tier.AGENT, owner)
            day = 0 if entry.mark is None else entry.mark.day
            section = BELOW.join(shared.sections(entry))
            moved = Suggestion(MOVE, OVERFLOW, text, target, confidence, reason, entry_id, section=section, day=day)
            yield replace(moved, marks=tuple(marks.words_of(until=entry.marks.until)))
        lines, size = lines - (entry.end - entry.start), size - len(shared.text(entry).encode()) - 1


def _most_relevant(agents: Mapping[str, Document], text: str) -> str | None:
    """Return the agent whose memory shares most words with a text; None if none shares any."""
    words = set(gist(text).words)
    scores: dict[str, float] = {}
    for name, document in agents.items():
        own = {word for _, _, said in _entries(document) for word in gist(said).words}
        own |= set(gist(name.replace("-", " ")).words)
        if own & words:
            scores[name] = len(own & words) / (len(own) ** 0.5)
    return max(sorted(scores), key=lambda name: scores[name], default=None)


def _is_lesson(text: str) -> bool:
    found = route(text)
    return found.place == LESSON and found.tier in (Tier.SHARED, Tier.AGENT)


def _is_craft(text: str) -> bool:
    """Say whether a text tells how somebody works and says nothing about the project."""
    found = route(text)
    return found.place == LESSON and found.tier is Tier.AGENT


def _decision(document: Document, entry: Entry) -> str:
    """Return the heading that makes an entry a decision; "" without one."""
    for index in reversed(entry.headings):
        text = document.outline.headings[index].text
        if {"decision", "decisions", "decided"} & set(section_key(text).replace(":", " ").split()):
            return text
    return ""


def _keyword(text: str) -> str:
    lowered = f" {' '.join(''.join(c if c.isalnum() else ' ' for c in text.lower()).split())} "
    return next((word for word in _KEYWORDS if f" {word} " in lowered or f" {word}s " in lowered), "")


def _said(document: Document, entry: Entry) -> str:
    """Return what an entry says alone, its label in front; "" if it only holds a place."""
    if document.is_footnote(entry) or is_placeholder(identity_text(document.lines, entry)):
        return ""
    return document.alone(entry).strip()


def _without_label(text: str) -> str:
    """Return a text without a label before it such as `Gotcha:`, which says nothing of what it says."""
    label, colon, rest = text.partition(":")
    return rest if colon and label.strip("*_ ").lower() in _LABELS and rest.strip() else text
