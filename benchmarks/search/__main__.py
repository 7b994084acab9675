"""Measure what search finds and how long it takes: `python -m benchmarks.search [NAME ...] [--quick] [--json]`.

With `--set own`, `typed`, `dialogues`, `realtalk` or `perltqa` it asks a set of questions and says what share of their
evidence is found.
"""

import json
import os
import random
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shutil import which
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import get_args

from agent_memory_protocol import Workspace
from agent_memory_protocol.errors import InvalidArgument, MissingExtra
from agent_memory_protocol.search import words
from agent_memory_protocol.search.embedding import HashEmbedder
from agent_memory_protocol.search.joined import JoinedIndex
from agent_memory_protocol.search.keyword import KeywordIndex
from agent_memory_protocol.search.minilm import MiniLM
from agent_memory_protocol.search.models import installed_model
from agent_memory_protocol.search.opening import open_index
from agent_memory_protocol.search.port import Embedder, Passage, SearchIndex, Source, fits, source_of
from agent_memory_protocol.search.scan import ScanIndex
from agent_memory_protocol.search.vectors import VectorIndex
from benchmarks.search import own, typed
from benchmarks.search.paraphrases import PARAPHRASES
from benchmarks.search.public import SETS
from benchmarks.search.sets import NONE, Half, ask, silence
from benchmarks.search.sets import rows as set_rows
from benchmarks.speed import material
from benchmarks.speed.material import ordinary_texts
from benchmarks.speed.measure import Effort, Figure, add_quick, aligned, figure, in_turn, ratio, run, table

ENTRIES, PLANTED = 10_000, 1_000
DOCUMENT = 100
"""Entries of one document, which are one source."""

SETTLING = 2.5
"""Seconds to wait after files are written: until then their times do not tell, and each is read for every query."""


def entries(count: int, dice: random.Random) -> list[str]:
    """Return real entries, and as many more as are wanted, each of half the words of two real ones."""
    real = list(ordinary_texts())
    found = dice.sample(real, min(count, len(real)))
    while len(found) < count:
        mixed = f"{dice.choice(real)} {dice.choice(real)}".split()
        dice.shuffle(mixed)
        found.append(" ".join(mixed[: len(mixed) // 2]))
    return found


def documents(texts: Sequence[str]) -> list[Source]:
    """Return them as documents; around each entry stand a heading and its neighbours."""
    found = []
    for start in range(0, len(texts), DOCUMENT):
        inside = texts[start : start + DOCUMENT]
        passages = []
        for place, text in enumerate(inside):
            around = [f"Section {place // 20}", *inside[max(place - 1, 0) : place], *inside[place + 1 : place + 2]]
            passages.append(Passage(str(start + place), text, "\n".join(around)))
        found.append(source_of(f"document-{start}", *passages))
    return found


def three_words(text: str, dice: random.Random) -> list[str]:
    """Return three different words of a text that are not stop words; fewer where it has fewer."""
    found = list(dict.fromkeys(term.shown for term in words.terms(text)))
    return dice.sample(found, min(3, len(found)))


def with_a_slip(asked: list[str], dice: random.Random) -> list[str]:
    """Return the words with one letter missing in the longest plain one."""
    longest = max((word for word in asked if word.isalpha()), key=len, default="")
    if len(longest) < 5:
        return asked
    place = dice.randrange(1, len(longest))
    return [word[:place] + word[place + 1 :] if word == longest else word for word in asked]


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    begin = process_time()
    work()
    return process_time() - begin


def passed(work: Callable[[], object]) -> float:
    """Return the seconds that pass while some work is done."""
    begin = perf_counter()
    work()
    return perf_counter() - begin


def missed(index: SearchIndex, asked: Sequence[tuple[str, str]]) -> float:
    """Return what share of queries does not find what it means among the first ten, in per cent."""
    return 100 * sum(key not in [hit.key for hit in index.search(query)] for query, key in asked) / len(asked)


def share(what: str, value: float, target: float | None = None) -> Figure:
    """Return a figure that is one number."""
    return Figure(what, value, " %", target, value, value)


def planted(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Find 1,000 entries among 10,000 by three of their words."""
    dice = random.Random(1)
    count = effort.size(ENTRIES)
    texts = entries(count, dice)
    sources = documents(texts)
    may_be_asked = [number for number, text in enumerate(texts[:3_000]) if len(three_words(text, dice)) == 3]
    chosen = may_be_asked[: effort.size(PLANTED)]
    asked = [(three_words(texts[number], dice), str(number)) for number in chosen]
    times = []
    for turn in range(effort.rounds(5)):
        with_file = KeywordIndex(folder / f"planted-{turn}.sqlite")
        times.append(seconds(lambda index=with_file: (index.refresh(sources), index.search("redis database"))))  # type: ignore[misc]
        with_file.close()
    yield figure(f"first query on {count:,} entries", times, " s", 1.5, "everything is read and indexed")
    index = KeywordIndex(folder / "planted-0.sqlite")
    index.refresh(sources)
    exact = [(" ".join(query), key) for query, key in asked]
    slips = [(" ".join(with_a_slip(query, dice)), key) for query, key in asked]
    yield share(f"not found among ten: three words of {len(asked):,} entries", missed(index, exact), 2)
    yield share("not found among ten: the same, one letter missing", missed(index, slips))
    for what, queries in (("query", exact), ("query with a slip", slips)):
        took = [seconds(lambda query=query: index.search(query)) * 1000 for query, _ in queries]  # type: ignore[misc]
        yield Figure(
            f"{what} on {count:,} entries, 95th percentile", quantiles(took, n=20)[-1], " ms", 30, min(took), max(took)
        )
    scan = ScanIndex()
    scan.refresh(sources)
    pairs = in_turn(
        lambda: seconds(lambda: [index.search(query) for query, _ in exact[:20]]),
        lambda: seconds(lambda: [scan.search(query) for query, _ in exact[:20]]),
        effort.rounds(5),
    )
    yield ratio("20 queries, index : scan", pairs)
    index.close()


def project(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Find entries of 100 documents as `amp search` does, and search 3,000 notes beside a program that reads them."""
    dice = random.Random(4)
    texts = [" ".join(text.split()) for text in entries(effort.size(ENTRIES), dice)]
    for start in range(0, len(texts), DOCUMENT):
        path = folder / "documents" / material.agent_file(f"agent-{start // DOCUMENT:02}")
        path.parent.mkdir(parents=True)
        lines = "".join(f"- {text}\n" for text in texts[start : start + DOCUMENT])
        path.write_text(f"# Agent Memory\n\n## Facts\n\n{lines}", "utf-8")
    many = effort.size(3_000)
    material.many_notes(folder / "notes", notes=many)
    if not effort.quick:
        sleep(SETTLING)
    facts, notes = Workspace.open(folder / "documents"), Workspace.open(folder / "notes")
    first = seconds(lambda: facts.search("redis"))
    yield Figure(f"first query on {len(texts):,} entries of {DOCUMENT} a document", first, " s", 1.5, first, first)
    asked = [(query, text) for text in texts[:3_000] if len(query := three_words(text, dice)) == 3]
    asked = asked[: effort.size(PLANTED)]
    took, lost = [], 0
    for query, text in asked:
        begin = process_time()
        found = facts.search(" ".join(query))
        took.append((process_time() - begin) * 1000)
        lost += text not in {one.text.removeprefix("- ") for one in found}
    yield Figure("query on them, 95th percentile", quantiles(took, n=20)[-1], " ms", 30, min(took), max(took))
    yield share(f"not found among ten: three words of {len(asked):,} entries", 100 * lost / len(asked), 2)
    through_files = [which("rg"), "-iF", "--hidden"] if which("rg") else [which("grep"), "-riF"]
    command = [*through_files, "redis", folder / "notes" / ".scaffolding"]
    pairs = in_turn(
        lambda: passed(lambda: notes.search("redis")),
        lambda: run(command, folder, dict(os.environ), folder / "found", codes=(0, 1)).elapsed,
        effort.rounds(30),
    )
    yield ratio(f"query on {many:,} notes : {Path(str(command[0])).name} over the same files", pairs, target=1)


def large(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Ten times as many passages should take about ten times as long."""
    dice = random.Random(2)
    many, few = effort.size(100_000), effort.size(10_000)
    texts = entries(many, dice)
    building, asking = [], []
    for turn in range(effort.rounds(3)):
        built, asked = [], []
        for size in (many, few):
            index = KeywordIndex(folder / f"large-{size}-{turn}.sqlite")
            sources = documents(texts[:size])
            built.append(seconds(lambda: index.refresh(sources)))  # noqa: B023
            queries = [" ".join(three_words(text, dice)) for text in texts[:200]]
            asked.append(seconds(lambda: [index.search(query) for query in queries]))  # noqa: B023
            index.delete()
        building.append((built[0], built[1]))
        asking.append((asked[0], asked[1]))
    yield ratio(f"building, {many:,} : {few:,} passages", building, target=12)
    yield ratio(f"200 queries, {many:,} : {few:,} passages", asking, target=12)


def meaning(folder: Path, effort: Effort) -> Iterator[Figure]:
    """Find 20 facts among 820 by other words than theirs, and 200 of them by three of their own."""
    dice = random.Random(3)
    texts = [fact for fact, _ in PARAPHRASES] + entries(200 if effort.quick else 800, dice)
    sources = documents(texts)
    other = [(query, str(number)) for number, (_, query) in enumerate(PARAPHRASES)]
    own = [(" ".join(three_words(texts[number], dice)), str(number)) for number in range(20, 220)]
    keyword = KeywordIndex()
    indexes: dict[str, SearchIndex] = {"words alone": keyword}
    embedders: list[Embedder] = [HashEmbedder()]
    try:
        embedders.append(MiniLM())
    except MissingExtra as error:
        print(f"without the sentence model: {error}", file=sys.stderr)
    for embedder in embedders:
        vectors = VectorIndex(folder / f"{embedder.name}.sqlite", embedder)
        indexes[f"{embedder.name} alone"] = vectors
        indexes[f"words and {embedder.name}"] = JoinedIndex(keyword, vectors)
    for name, index in indexes.items():
        index.refresh(sources)
        yield share(f"not found among ten, {name}: asked in other words", missed(index, other))
        yield share(f"not found among ten, {name}: three words of it", missed(index, own))
    for index in indexes.values():
        index.close()


SETS_HERE = {**own.OURS, "typed": typed.load}
"""The sets that are found without a path."""

BENCHMARKS: dict[str, Callable[[Path, Effort], Iterator[Figure]]] = {
    "planted": planted,
    "project": project,
    "large": large,
    "meaning": meaning,
}


def ask_set(name: str, path: Path | None, half: Half | None, effort: Effort, *, vectors: bool, as_json: bool) -> str:
    """Ask the questions of one half of a set, or of both, and return a table of what was found of each class."""
    if name not in SETS_HERE and path is None:
        raise InvalidArgument(f"the set {name} is not part of this repository; give the folder it is in with --path")
    memories = SETS_HERE[name](path) if name in SETS_HERE else SETS[name](path)
    model = installed_model() if vectors else None
    answers = ask(memories[:1] if effort.quick else memories, lambda: open_index(embedder=model), half, 20)
    rows = set_rows(answers)
    silent = silence(answers, lambda one: not fits(one.hits))
    if as_json:
        return json.dumps({"rows": [asdict(row) for row in rows], "silence": asdict(silent)}, indent=2)
    head = ["class", "questions", "first", "recall@3", "recall@5", "recall@10", "MRR", "p50 ms", "p95 ms"]
    lines = aligned([head, *(row.cells() for row in rows)])
    if any(row.kind == NONE for row in rows):
        lines += (
            f"\n\nsays that nothing fits: right {silent.precision:.1%},"
            f" of those without an answer {silent.recall:.1%}, of the others {silent.lost:.1%}"
        )
    return lines


def main() -> None:
    """Run the benchmarks that are named, or all, and print one table."""
    parser = ArgumentParser(prog="python -m benchmarks.search", description="Measure what search finds, and how fast.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--json", action="store_true", help="print JSON in place of the table")
    add_quick(parser)
    parser.add_argument("--set", choices=[*SETS_HERE, *SETS], help="ask a set of questions with known evidence instead")
    parser.add_argument("--path", type=Path, metavar="FOLDER", help="where that set is; the corpus of `own` by default")
    parser.add_argument(
        "--half", choices=[*get_args(Half), "both"], default="development", help="which half of it to ask"
    )
    parser.add_argument("--vectors", action="store_true", help="with the sentence model that is installed")
    arguments = parser.parse_args()
    effort = Effort(arguments.quick)
    if arguments.set:
        try:
            options = {"vectors": arguments.vectors, "as_json": arguments.json}
            half = None if arguments.half == "both" else arguments.half
            print(ask_set(arguments.set, arguments.path, half, effort, **options))
        except (InvalidArgument, MissingExtra) as error:
            parser.error(str(error))
        return
    if unknown := [name for name in arguments.names if name not in BENCHMARKS]:
        parser.error(f"no benchmark is called {unknown[0]}")
    figures: list[Figure] = []
    with TemporaryDirectory(prefix="amp-benchmarks-") as folder:
        for name in arguments.names or BENCHMARKS:
            print(f"measuring {name} …", file=sys.stderr)
            figures += BENCHMARKS[name](Path(folder), effort)
    print(
        json.dumps([one.as_json() for one in figures], ensure_ascii=False, indent=2)
        if arguments.json
        else table(figures)
    )


if __name__ == "__main__":
    main()
