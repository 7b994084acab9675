"""Our own questions: over 298 real memory files of other projects, in `questions/`, and over two long dialogues.

What a file of questions holds, line by line:

    @ PATH                        the file, below the corpus, that the next questions are about
    CLASS | QUESTION | EVIDENCE   words of the entry that answers it; `-` where the whole note is the evidence

Two entries that answer it together have `&&` between their words. Classes are `words` (asked in other words than the
text has), `changed` (about a value that changed), `when`, `negation`, `two` (it takes two entries) and `none`.

All files are one memory, so an answer has to be found among all of them. The questions were written after the files
were read, by somebody who then asked as a person who has forgotten the wording. Half of the files are held out: nothing
in the search was chosen by their questions.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.notes import note
from agent_memory_protocol.search.port import Passage, Source, source_of
from agent_memory_protocol.verbs.search import passage_of_note
from benchmarks.search.sets import NONE, Found, Memory, Question, half_of, passages_in, source_of_document

REPOSITORY = Path(__file__).parents[2]
QUESTIONS = Path(__file__).parent / "questions"
DIALOGUES = Path(__file__).parent / "dialogues"
LARGE = REPOSITORY.parent / "shared" / "corpus"
_WHOLE = "-"


def load(folder: Path | None = None) -> list[Memory]:
    """Return the corpus in a folder, by default the one beside the checkout, as one memory with our questions.

    Raises:
        InvalidArgument: it is not there, or a question names evidence that it does not have.
    """
    folder = folder or LARGE
    if not folder.is_dir():
        raise InvalidArgument(f"{folder}: no corpus is there; give its folder with --path")
    sources = {str(path.relative_to(folder).as_posix()): path for path in sorted(folder.rglob("*.md"))}
    read = {key: source_at(key, path) for key, path in sources.items() if "/" in key}
    passages = {key: passages_in(source) for key, source in read.items()}
    questions = [one for path in sorted(QUESTIONS.glob("*.txt")) for one in _questions(path, passages)]
    return [Memory(list(read.values()), questions)]


def dialogues(folder: Path | None = None) -> list[Memory]:
    """Return our own long dialogues, each a memory: a heading for each day, an entry for each turn, and questions.

    They are invented, and so are their people. One of the two is held out.
    """
    folder = folder or DIALOGUES
    read = {path.name: source_of_document(path.name, path.read_text("utf-8")) for path in sorted(folder.glob("*.md"))}
    questions = list(_questions(folder / "questions.txt", {key: passages_in(one) for key, one in read.items()}))
    return [
        Memory([source], [one for one in questions if (key, next(iter(one.evidence[0]))[1]) in one.evidence[0]])
        for key, source in read.items()
    ]


def source_at(key: str, path: Path) -> Source:
    """Return a file as it is searched in a project: a note where it has a header, else a document of entries."""
    text = path.read_text("utf-8", errors="replace")
    read = note.parse(text, path.name)
    return source_of(key, passage_of_note(read)) if read.header else source_of_document(key, text)


def _questions(path: Path, passages: dict[str, list[Passage]]) -> Iterator[Question]:
    file = ""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        place = f"{path.name}:{number}"
        if line.startswith("@ "):
            file = line[2:]
            if file not in passages:
                raise InvalidArgument(f"{place}: the corpus has no file {file}")
        elif line and not line.startswith("#"):
            kind, text, *rest = line.split(" | ")
            if kind == NONE:
                yield Question(text, kind, (), half_of(text))
            else:
                evidence = tuple(_holding(words, file, passages[file], place) for words in rest[0].split(" && "))
                yield Question(text, kind, evidence, half_of(file))


def _holding(words: str, file: str, passages: list[Passage], place: str) -> frozenset[Found]:
    """Return the passages of a file that hold these words, and the notes that index lines among them lead to."""
    wanted = plain(words)
    keys = [one.key for one in passages if words == _WHOLE or wanted in plain(one.text)]
    if not keys:
        raise InvalidArgument(f"{place}: no entry of {file} has the words {words!r}")
    folder = file.rpartition("/")[0]
    return frozenset({(file, key) for key in keys} | {(f"{folder}/{key}", key) for key in keys if key.endswith(".md")})


def plain(text: str) -> str:
    """Return a text as it is compared: without its case and its own blanks."""
    return " ".join(text.split()).casefold()


OURS: dict[str, Callable[[Path | None], list[Memory]]] = {"own": load, "dialogues": dialogues}
"""The sets that are found without a path."""
