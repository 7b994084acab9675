"""Public sets of questions about long dialogues and lives, read from where somebody has fetched them.

None of them is part of this repository, and nothing of them is copied into it. How to fetch one, and under which terms
it may be used, its own page says; `--path` names the folder it was put in.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agent_memory_protocol.errors import InvalidArgument
from agent_memory_protocol.search.port import Source
from benchmarks.search.sets import Half, Memory, Question, half_of, passages_in, source_of_document

_ABOUT = {1: "several turns", 2: "when", 3: "common sense", 4: "one turn"}
"""What the categories of questions about dialogues mean."""


def realtalk(folder: Path) -> list[Memory]:
    """Return REALTALK (Lee and others, 2025): ten chats of two people, and what they were asked about afterwards.

    `folder` is the `data` folder of github.com/danny911kr/REALTALK. Each chat is a memory: one document, a heading for
    each day, an entry for each turn. Chats with an odd number are for development.
    """
    paths = sorted(folder.glob("Chat_*.json"))
    if not paths:
        raise InvalidArgument(f"{folder}: has no Chat_*.json of REALTALK")
    return [_chat(path.stem, json.loads(path.read_text("utf-8"))) for path in paths]


def _chat(name: str, data: dict[str, Any]) -> Memory:
    lines, turns = [f"# {name}", ""], []
    for number in range(1, len(data)):
        said = data.get(f"session_{number}")
        if isinstance(said, list):
            day, month, year = data[f"session_{number}_date_time"].split(",")[0].split(".")
            lines += ["", f"## {year}-{month}-{day}", ""]
            for turn in said:
                lines.append(f"- {turn['speaker']}: {' '.join(turn['clean_text'].split())}")
                turns.append(turn["dia_id"])
    half: Half = "development" if int(name.split("_")[1]) % 2 else "held-out"
    asked = [
        (one["question"], _ABOUT[one["category"]], [{turn} for turn in one["evidence"]], half) for one in data["qa"]
    ]
    return _dialogue(name, lines, turns, asked)


def friendsqa(folder: Path) -> list[Memory]:
    """Return FriendsQA (Yang and Choi, 2019; Apache-2.0): scenes of a television series, and questions about them.

    `folder` is the folder `dat` of github.com/emorynlp/FriendsQA. The scenes of a season are one memory, a heading for
    each scene and an entry for each turn. Those that its authors call `dev` are for development, and `tst` is held out.
    """
    halves: dict[Half, str] = {"development": "friendsqa_dev.json", "held-out": "friendsqa_tst.json"}
    return [
        _season(season, scenes, half)
        for half, name in halves.items()
        for season, scenes in _seasons(json.loads((folder / name).read_text("utf-8"))["data"]).items()
    ]


def _seasons(scenes: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found = defaultdict(list)
    for scene in sorted(scenes, key=lambda scene: scene["title"]):
        found[scene["title"].partition("_")[0]].append(scene)
    return found


def _season(name: str, scenes: list[dict[str, Any]], half: Half) -> Memory:
    lines, turns, asked = [f"# {name}", ""], [], []
    for scene in scenes:
        lines += ["", f"## {scene['title']}", ""]
        for paragraph in scene["paragraphs"]:
            for turn in paragraph["utterances:"]:
                lines.append(f"- {', '.join(turn['speakers'])}: {_untokenized(turn['utterance'])}")
                turns.append((scene["title"], turn["uid"]))
            asked += [(scene["title"], question) for question in paragraph["qas"]]
    return _dialogue(
        name,
        lines,
        turns,
        [
            (_untokenized(one["question"]), one["id"].split("_")[3].casefold(), [answers], half)
            for title, one in asked
            if (answers := {(title, answer["utterance_id"]) for answer in one["answers"]})
        ],
    )


def _untokenized(text: str) -> str:
    joined = re.sub(r" (n't|'\w+)|(?<=\b[Gg]on|[Ww]an|[Gg]ot) (?=[nt]a\b)", r"\1", text)
    return " ".join(re.sub(r" ([.,?!;:])", r"\1", joined).split())


def beam(folder: Path) -> list[Memory]:
    """Return BEAM (Tavakoli and others, 2025): long chats of a person with an assistant, and questions about them.

    `folder` is one of the folders of `chats` in github.com/mohammadtavakoli78/BEAM, such as `chats/100K`. Each chat is
    a memory, a heading for each day and an entry for each message. Chats with an odd number are for development.
    """
    paths = sorted(folder.glob("*/chat.json"))
    if not paths:
        raise InvalidArgument(f"{folder}: has no N/chat.json of BEAM")
    return [_beam_chat(path) for path in paths]


_BEAM_ASKED = ("information_extraction", "knowledge_update", "multi_session_reasoning", "temporal_reasoning")
"""The classes that name the messages with the answer."""


def _beam_chat(path: Path) -> Memory:
    name = path.parent.name
    lines, turns = [f"# {name}", ""], []
    for batch in json.loads(path.read_text("utf-8")):
        for message in (one for turn in batch["turns"] for one in turn):
            if message.get("time_anchor"):
                lines += ["", f"## {message['time_anchor']}", ""]
            lines.append(f"- {message['role']}: {_flat(message['content'])}")
            turns.append(message["id"])
    half: Half = "development" if int(name) % 2 else "held-out"
    asked = json.loads((path.parent / "probing_questions" / "probing_questions.json").read_text("utf-8"))
    questions = [
        (one["question"], kind.replace("_", " "), [{number} for number in _numbers(one["source_chat_ids"])], half)
        for kind in _BEAM_ASKED
        for one in asked[kind]
    ]
    return _dialogue(name, lines, turns, questions)


def _flat(text: str) -> str:
    return " ".join(re.sub(r" ->-> [0-9,]+$", "", text).split())


def _numbers(ids: Any) -> list[int]:
    if isinstance(ids, dict):
        return [number for one in ids.values() for number in _numbers(one)]
    return [number for one in ids for number in _numbers(one)] if isinstance(ids, list) else [ids]


def _dialogue(
    name: str, lines: list[str], turns: list[Any], asked: list[tuple[str, str, list[set[Any]], Half]]
) -> Memory:
    """Return a dialogue, of whose entries each is a turn, with questions that name turns."""
    source = source_of_document(name, "\n".join(lines) + "\n")
    places = dict(zip(turns, ((name, one.key) for one in passages_in(source)), strict=True))
    questions = []
    for text, kind, evidence, half in asked:
        pieces = [frozenset(places[turn] for turn in piece if turn in places) for piece in evidence]
        if kept := tuple(piece for piece in pieces if piece):
            questions.append(Question(text, kind, kept, half))
    return Memory([source], questions)


def perltqa(folder: Path) -> list[Memory]:
    """Return PerLTQA (Du and others, 2024; CC BY-NC 4.0): lives of invented people, and questions about them.

    `folder` is `Dataset/en_v2` of github.com/Elvin-Yiming-Du/PerLTQA, or `Dataset/zh`. Each person is a memory: a note
    for each relation, event and dialogue, and an entry for each line of the profile. Half of the people are held out.
    """
    facts = _only(folder, "perltmem*.json")
    asked = _only(folder, "perltqa*.json")
    people = facts if isinstance(facts, dict) else {one["profile"]["Protagonist"]: one for one in facts}
    return [_person(name, people[name], about) for one in asked for name, about in one.items() if name in people]


def _only(folder: Path, pattern: str) -> Any:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise InvalidArgument(f"{folder}: needs exactly one {pattern} of PerLTQA, and has {len(found)}")
    return json.loads(found[0].read_text("utf-8"))


def _person(name: str, life: dict[str, Any], about: dict[str, Any]) -> Memory:
    texts: dict[str, str] = {}
    for what, said in life["profile"].items():
        texts[what] = f"{what}: {said}"
    for one, relation in life.get("social_relationship", {}).items():
        texts[one] = "\n".join(str(value) for value in relation.values())
    for one, event in life.get("events", {}).items():
        texts[one] = "\n".join(str(event.get(key, "")) for key in ("summary", "Creation Time", "content"))
    for one, dialogue in life.get("dialogues", {}).items():
        texts[one] = "\n".join(_strings(dialogue))
    sources = [_one_entry(f"{name}/{key}", text) for key, text in texts.items()]
    keys = {source.key: [(source.key, one.key) for one in passages_in(source)] for source in sources}
    questions = [
        Question(question, kind, evidence, half_of(name))
        for kind, question, references in _asked(about)
        if (evidence := tuple(frozenset(keys[f"{name}/{one}"]) for one in references if f"{name}/{one}" in keys))
    ]
    return Memory(sources, questions)


def _one_entry(key: str, text: str) -> Source:
    return source_of_document(key, f"# {key}\n\n- " + " ".join(text.split()) + "\n")


def _strings(value: Any) -> Iterator[str]:
    """Yield every text that is somewhere inside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.items() if isinstance(value, dict) else value:
            yield from _strings(list(one) if isinstance(one, tuple) else one)


def _asked(about: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield of each question its class, its text, and which memories hold its answer."""
    for kind, listed in about.items():
        for one in listed:
            for asked in [one] if "Question" in one else [each for group in one.values() for each in group]:
                references = asked["Reference Memory"].strip("[]").replace("'", "").split(",")
                yield kind, asked["Question"], [each.strip() for each in references]


SETS: dict[str, Callable[[Path], list[Memory]]] = {
    "realtalk": realtalk,
    "friendsqa": friendsqa,
    "beam": beam,
    "perltqa": perltqa,
}
