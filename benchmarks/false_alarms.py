"""How often each rule fires on real memory files, and how many pairs of facts are told right.

`python -m benchmarks.false_alarms` prints hits per rule, with a rule's name samples to judge, and with `--pairs` how
many of the pairs in `tests/data/meetings.tsv` are told as the same, as the opposite, as changed, and as neither.

A rule that cries wolf is switched off by whoever it annoys, and then finds nothing. What a sample's findings are worth
only a person can say; the judged figures stand in `benchmarks/false_alarms.md`. The files lie as one store: a folder
with notes is an agent's, a page of its own too, and daily logs are conversations. What the files do not come with can
not be measured: the repositories they speak of (`tier-missing-path`) and, of some folders, part of the notes
(`index-orphan`, `index-dangling`; the collection says which folders are whole).
"""

import random
import re
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_memory_protocol import Workspace
from agent_memory_protocol.layout import Target, Tier
from agent_memory_protocol.lint.finding import RULES, Finding, in_order
from agent_memory_protocol.lint.repeats import DISAGREEMENTS
from agent_memory_protocol.tiers import document
from agent_memory_protocol.tiers.meet import Placed, first_meeting
from benchmarks.speed.measure import add_quick

REPOSITORY = Path(__file__).parents[1]
PAIRS = REPOSITORY / "tests" / "data" / "meetings.tsv"
TODAY = date(2026, 9, 1)
"""The day the files are checked on: after all of their dates."""

_DAILY_LOG = re.compile(r"\d{4}-\d\d-\d\d\.md")
_NOTE_NAME = re.compile(r"(user|feedback|project|reference)_")
_PREVIEW_LINES = 3
_PREVIEW_WIDTH = 400


def corpus_folder() -> Path:
    """Return the large collection beside the repository where there is one, else the selection in it."""
    large = REPOSITORY.parent / "shared" / "corpus"
    return large if large.is_dir() else REPOSITORY / "tests" / "data" / "corpus"


def place(corpus: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """Lay a collection of memory files out as one store below `root`. Yields each path there and where it is from."""
    by_folder: dict[Path, list[Path]] = {}
    for path in sorted(corpus.rglob("*.md")):
        if path.parent != corpus:
            by_folder.setdefault(path.parent, []).append(path)
    for folder, paths in by_folder.items():
        name = "".join(part if part.isalnum() else "-" for part in folder.relative_to(corpus).as_posix()).strip("-")
        owner = re.sub("-+", "-", name)[-60:].strip("-")
        has_notes = any(path.name == "MEMORY.md" for path in paths) or all(_NOTE_NAME.match(one.name) for one in paths)
        for number, path in enumerate(paths):
            agents = root / ".scaffolding" / "agent-memory" / "agents"
            if _DAILY_LOG.fullmatch(path.name):
                there = root / f".scaffolding/conversations/{owner}-{number}/agent-memory/context.md"
            elif has_notes:
                there = agents / owner / path.name
            else:
                there = agents / f"{owner}-{number}" / "MEMORY.md"
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())
            yield there.relative_to(root).as_posix(), path


def main() -> None:
    """Check the collection and print hits per rule, or samples of what some rules find."""
    parser = ArgumentParser(prog="python -m benchmarks.false_alarms", description=__doc__.partition("\n")[0])
    parser.add_argument("rules", nargs="*", metavar="RULE", help="print a sample of what these find")
    parser.add_argument("--corpus", type=Path, default=corpus_folder(), metavar="DIR", help="the memory files")
    parser.add_argument("--sample", type=int, default=30, metavar="N", help="so many findings of each rule (30)")
    parser.add_argument("--seed", type=int, default=4, metavar="N", help="which ones (4)")
    parser.add_argument("--pairs", action="store_true", help="print how pairs that meet are told, and nothing else")
    add_quick(parser)
    arguments = parser.parse_args()
    if arguments.pairs:
        _print_pairs()
        return
    with TemporaryDirectory(prefix="amp-false-alarms-") as name:
        root = Path(name)
        sources = dict(islice(place(arguments.corpus, root), 20 if arguments.quick else None))
        workspace = Workspace.open(root)
        found = workspace.check(select=list(RULES), today=TODAY)
        if not arguments.rules:
            _print_table(found, entries=len(workspace.entries()), files=len(sources))
        for rule in arguments.rules:
            hits = [one for one in found if one.rule == rule]
            chosen = random.Random(arguments.seed).sample(hits, min(arguments.sample, len(hits)))
            print(f"== {rule}: {len(hits)} findings, {len(chosen)} of them")
            for one in chosen:
                _print_finding(one, sources)


def _print_pairs() -> None:
    """Print precision and recall of each way in which a new entry meets the one that is there."""
    told: Counter[tuple[str, str]] = Counter()
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        expected, one, other = line.split("\t")
        page = document.parse(f"# S\n\n- {one}\n- {other}\n".encode(), Target(Tier.SHARED))
        standing, new = (Placed(page, entry) for entry in page.outline.entries)
        met = first_meeting(new, [standing])
        told[expected, "neither" if met is None else met.way] += 1
    print(f"{'':<10}{'pairs':>6}{'told so':>9}{'rightly':>9}{'precision':>11}{'recall':>8}")
    for way in ("same", "opposite", "changed", "neither"):
        pairs = sum(count for (expected, _), count in told.items() if expected == way)
        said = sum(count for (_, found), count in told.items() if found == way)
        right = told[way, way]
        print(f"{way:<10}{pairs:>6}{said:>9}{right:>9}{right / said:>11.0%}{right / pairs:>8.0%}")


def _print_table(found: Sequence[Finding], *, entries: int, files: int) -> None:
    hits = Counter(one.rule for one in found)
    print(f"{files} files, {entries} entries\n")
    print(f"{'rule':<28}{'severity':<10}{'default':<9}{'findings':>8}")
    for rule in in_order():
        print(f"{rule.id:<28}{rule.severity:<10}{'on' if rule.on else 'off':<9}{hits[rule.id]:>8}")
    disagreeing = sum(hits[rule] for rule in DISAGREEMENTS)
    print(f"\nopposite or changed: {disagreeing} findings, {1000 * disagreeing / max(entries, 1):.2f} in 1,000 entries")


def _print_finding(one: Finding, sources: dict[str, Path]) -> None:
    source = sources.get(one.path)
    print(f"\n{'/'.join(source.parts[-4:]) if source else one.path}:{one.line or ''} {one.message}")
    if source is not None and one.line is not None:
        lines = source.read_text("utf-8", "replace").split("\n")[one.line - 1 :][:_PREVIEW_LINES]
        for line in lines:
            print(f"    {line[:_PREVIEW_WIDTH]!r}")


if __name__ == "__main__":
    main()
