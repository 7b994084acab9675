"""Memory to measure on: projects filled with ordinary lines, the same ones in every run."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import count, cycle, islice
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
AGENT, CONVERSATION = "developer", "7f3a"

SHARED = Path(".scaffolding/agent-memory/shared/KNOWLEDGE.md")
_TITLES = ("Architecture", "Build and release", "Testing", "Infrastructure", "Conventions", "Pitfalls")
_SECTION = 20
_FIRST_DAY = date(2026, 3, 1)

_CJK = (
    "重启之后队列会丢失,除非打开持久化",
    "先运行迁移,再运行测试",
    "設定ファイルは毎回読み直される",
    "テストは一時フォルダーの中だけで書く",
    "설정 파일은 저장소 루트에서만 찾는다",
    "不要在热路径里导入大型模块",
)
_EMOJI = ("⚠️", "✔️", "❤️", "1️⃣", "🛠️", "👩‍⚕️")

KINDS: dict[str, Callable[[int, str], str]] = {
    "ASCII": lambda _, text: text,
    "umlauts and arrows": lambda _, text: f"Prüfen: {text} → für später",
    "CJK": lambda number, _: f"{_CJK[number % 6]}({number}),{_CJK[(number + 1) % 6]}",
    "emoji with selectors": lambda number, text: f"{_EMOJI[number % 6]} {text}",
}
"""How each kind of file writes an entry, from its number and an ordinary ASCII text."""


def agent_file(agent: str) -> Path:
    """Return the path of an agent's document."""
    return Path(f".scaffolding/agent-memory/agents/{agent}/MEMORY.md")


def three_files(root: Path, *, lines: int, kind: str = "ASCII") -> Path:
    """Fill a project with one document of each tier, all of that many lines."""
    texts = enumerate(cycle(ordinary_texts()))
    for title, path in (
        ("Shared Knowledge", SHARED),
        ("Developer Memory", agent_file(AGENT)),
        ("Conversation Context", Path(f".scaffolding/conversations/{CONVERSATION}/agent-memory/context.md")),
    ):
        _write(root / path, document(title, (KINDS[kind](number, text) for number, text in texts), lines))
    return root


def many_agents(root: Path, *, agents: int, lines: int) -> Path:
    """Fill a project with a shared document and that many agents, `developer` being the first."""
    texts = cycle(ordinary_texts())
    _write(root / SHARED, document("Shared Knowledge", texts, lines))
    for number in range(agents):
        name = f"agent-{number:04d}" if number else AGENT
        _write(root / agent_file(name), document(f"{name} Memory", texts, lines))
    return root


def huge_file(root: Path, *, size: int) -> Path:
    """Fill a project with one agent's document of that many bytes."""
    path = root / agent_file(AGENT)
    _write(path, document("Developer Memory", cycle(ordinary_texts()), 200))
    with path.open("a", encoding="utf-8") as file:
        written = path.stat().st_size
        for number, text in enumerate(cycle(ordinary_texts())):
            written += file.write(f"- Note {number}: {text}\n")
            if written >= size:
                return root
    raise AssertionError


def many_notes(root: Path, *, notes: int) -> Path:
    """Fill a project with that many notes beside its shared document."""
    texts = cycle(ordinary_texts())
    for number in range(notes):
        name = note_file(number)
        header = f"---\nname: {name[:-3]}\ndescription: About {number}\nmetadata:\n  type: feedback\n---\n"
        body = f"{next(texts)}\n\n**Why:** {next(texts)}\n\n**How to apply:** {next(texts)}\n"
        _write((root / SHARED).with_name(name), f"{header}\n{body}")
    return root


def note_file(number: int) -> str:
    """Return the file name of one of them."""
    return f"feedback_note-{number:05d}.md"


def document(title: str, texts: Iterator[str], lines: int) -> str:
    """Return a document of that many lines: sections of bullets, every third one dated, some on two lines."""
    return "\n".join(islice(_lines(title, texts), lines)) + "\n"


def _lines(title: str, texts: Iterator[str]) -> Iterator[str]:
    yield f"# {title}"
    for number in count():
        if number % _SECTION == 0:
            section = number // _SECTION
            yield from ("", f"## {_TITLES[section % len(_TITLES)]} {section // len(_TITLES) + 1}", "")
        day = f"[{_FIRST_DAY + timedelta(days=number % 60)}] " if number % 3 == 0 else ""
        yield f"- {day}{next(texts)}"
        if number % 10 == 9:
            yield f"  {next(texts)}"


def ordinary_texts() -> Iterator[str]:
    """Yield what real memory files say in their bullets, in ASCII and at most 100 characters, each once.

    From the large corpus beside the repository where there is one, else from the selection in it.
    """
    large = REPOSITORY.parent / "shared" / "corpus"
    folder = large if large.is_dir() else REPOSITORY / "tests" / "data" / "corpus"
    seen: set[str] = set()
    for path in sorted(folder.rglob("*.md")):
        for line in path.read_text("utf-8", "replace").split("\n"):
            text = line.removeprefix("- ")
            if text != line and 20 <= len(text) <= 100 and text.isascii() and text.isprintable() and text not in seen:
                seen.add(text)
                yield text


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
