"""The files of rules that people write for coding agents: where they lie in a project, and what is in them.

A file becomes a page of entries under its headings, and each long section a page of its own. What a header says of the
files that the rules are for goes into their heading.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from ..layout import MEMORY
from ..text import headers, labels, markdown
from ..text.footnotes import with_addresses
from ..text.paths import CODE_SPAN
from ..text.topics import subject, topic_of
from ..values import dataclass

_SHARED = "/".join((*MEMORY, "shared", "KNOWLEDGE.md"))

FILES = {
    ".claude/CLAUDE.md": "rules of Claude Code",
    "CLAUDE.md": "rules of Claude Code",
    "CLAUDE.local.md": "rules of Claude Code, local",
    "AGENTS.md": "rules for agents",
    "AGENTS.override.md": "rules of Codex",
    "AGENT.md": "rules for agents",
    "GEMINI.md": "rules of Gemini CLI",
    "QWEN.md": "rules of Qwen Code",
    "CRUSH.md": "rules of Crush",
    "WARP.md": "rules of Warp",
    "replit.md": "rules of Replit",
    ".cursorrules": "rules of Cursor",
    ".clinerules": "rules of Cline",
    ".windsurfrules": "rules of Windsurf",
    ".roorules": "rules of Roo Code",
    ".goosehints": "hints of goose",
    ".rules": "rules of Zed",
    ".junie/guidelines.md": "guidelines of Junie",
    ".augment-guidelines": "guidelines of Augment",
    ".idx/airules.md": "rules of Firebase Studio",
    ".github/copilot-instructions.md": "instructions of GitHub Copilot",
}
"""Files by their path from a folder of the project, and whose they are. A longer path comes before its ending."""

FOLDERS = {
    ".cursor/rules": "rules of Cursor",
    ".clinerules": "rules of Cline",
    ".windsurf/rules": "rules of Windsurf",
    ".claude/rules": "rules of Claude Code",
    ".github/instructions": "instructions of GitHub Copilot",
    ".roo/rules": "rules of Roo Code",
    ".kilocode/rules": "rules of Kilo Code",
    ".kiro/steering": "steering of Kiro",
    ".amazonq/rules": "rules of Amazon Q",
    ".augment/rules": "rules of Augment",
    ".trae/rules": "rules of Trae",
    ".continue/rules": "rules of Continue",
    ".aiassistant/rules": "rules of JetBrains AI Assistant",
    ".openhands/microagents": "microagents of OpenHands",
    ".agent/rules": "rules of Antigravity",
}
"""Folders of such files."""

LINE = f"What was here is in the memory of this repository now: `{_SHARED}`. `amp recall` prints it.\n"
"""What is left of a file whose rules were moved into memory."""

_SUFFIXES = (".md", ".mdc", ".markdown", ".txt")
NEVER_ENTERED = frozenset(["node_modules", "vendor", "target", "build", "dist", "venv", "__pycache__"])
"""The folders of a project, beside hidden ones, that hold no one's own work."""

_DEEPEST = 4
_MOST_FOLDERS = 2_000
_LONG_SECTION = 40  # Lines from which on a section is a note, not entries on a page that every task reads

_LONG_PAGE = 120
"""Lines that the entries of one file may take; above this, its longest sections become notes, too."""

_IMPORT = re.compile(r"(?m)^[ \t]*(?:[-*+][ \t]+)?@(\S+?\.\w+)[ \t]*$")
_MENTION = re.compile(r"(?<![\w@/`.~-])@((?:\.{1,2}/)*[\w-][\w.-]*(?:/[\w.-]+)*\.(?:md|mdc|markdown|txt))(?![\w/-])")
_MOST_IMPORTS = 20
_SENTENCE = 4  # A description of fewer words says no more than a title

_BRIEF = 5  # Words of a description that can be a title
_UNDERLINE = re.compile(r"={2,}[ \t]*|-{2,}[ \t]*")
_TITLE = re.compile(r" {0,3}[^\s#>|<`~+*-]")  # what is underlined may begin with: no item, quote, table or code
_GUIDANCE = re.compile(r"This file provides guidance to .{1,80} when working with .{1,60}\.")
"""What several tools begin such a file with. It says something of the file, and nothing of the project."""

_RULES_AROUND = re.compile(
    r"\A\s*(?:(?:-{3,}|\*{3,}|_{3,})[ \t]*(?:\n\s*|\Z))+|(?:\n[ \t]*\n(?:-{3,}|\*{3,}|_{3,})[ \t]*)+\s*\Z"
)
"""The lines that set a section off from the next."""

_STATUS = re.compile(r"(?mi)^[ \t]*(?:[-*+][ \t]+)?\**status\**[ \t]*:\**[ \t]*(\S.*)$")
_STATUS_AMONG = 3  # A decision says its status in one of its first sections
_LONGEST_STATUS = 60

_GLOBS = ("globs", "paths", "applyto", "glob")


@dataclass(frozen=True, slots=True)
class Rules:
    """What one file of rules holds."""

    title: str
    text: str  # the entries, as Markdown under headings of level 2 and deeper
    sections: tuple[tuple[str, str], ...]  # its long sections: the title of each, and its Markdown
    topic: str  # what goes in front of the titles of its sections, "" for nothing
    imports: tuple[str, ...]  # the paths that it includes, as written, each on a line of its own
    mentions: tuple[str, ...]  # the paths that it includes in a sentence, such as “For releases see @docs/releases.md”


def find(project: str) -> Iterator[tuple[str, str]]:
    """Yield the files of rules in a project and its folders, with whose they are. Links are left out."""
    for folder, folders, _ in islice(os.walk(project), _MOST_FOLDERS):
        depth = os.path.relpath(folder, project).count(os.sep) + (folder != project)
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in NEVER_ENTERED)
        if depth >= _DEEPEST:
            folders.clear()
        for name, kind in FILES.items():
            path = os.path.join(folder, *name.split("/"))
            if os.path.isfile(path) and not os.path.islink(path):
                yield path, kind
        for name, kind in FOLDERS.items():
            yield from ((path, kind) for path in inside(os.path.join(folder, *name.split("/"))))


def inside(folder: str) -> Iterator[str]:
    """Yield the rules files in a folder and below it."""
    for here, folders, files in os.walk(folder):
        folders.sort()
        yield from (os.path.join(here, name) for name in sorted(files) if name.lower().endswith(_SUFFIXES))


def kind_of(path: str) -> str:
    """Return whose rules a file holds, going by its path; "" if it is not one of these files."""
    plain = path.replace(os.sep, "/")
    for name, kind in FILES.items():
        if plain == name or plain.endswith(f"/{name}"):
            return kind
    for name, kind in FOLDERS.items():
        if f"/{name}/" in f"/{plain}" and plain.lower().endswith(_SUFFIXES):
            return kind
    return ""


def stem_of(path: str) -> str:
    """Return what notes from a rules file are called: its path as one word, without the suffix."""
    return os.path.splitext(path.replace(os.sep, "-").strip("."))[0]


def base_of(path: str) -> str:
    """Return the folder that a rules file is for, going by its path: what is before its usual name."""
    plain = path.replace(os.sep, "/")
    for name in (*FILES, *FOLDERS):
        before, found, after = plain.rpartition(f"/{name}")
        if found and (not after or after[0] == "/"):
            return before or os.sep
    return os.path.dirname(path)


def read(text: str, path: str) -> Rules:
    """Read a file of rules, at this path of the project."""
    header = headers.split_header(text)
    lines = with_addresses(text.split("\n")[header.lines if header else 0 :])
    lines = _with_marked_headings(lines)
    globs = next((value for key in _GLOBS if header and (value := _listed(header, key))), "")
    globs = globs or _folder_of(path)
    described = (header.get("description") or "").strip() if header else ""
    prose = "\n".join(_without_code(lines))
    imports = tuple(_IMPORT.findall(prose))[:_MOST_IMPORTS]
    mentions = tuple(_MENTION.findall(CODE_SPAN.sub("", _IMPORT.sub("", prose))))[: _MOST_IMPORTS - len(imports)]
    lines = [line for line in _without_imports(lines, imports) if not _GUIDANCE.fullmatch(line.strip())]
    title, sections = _sections(lines)
    if title and len(described.split()) >= _SENTENCE and described != title:
        before = sections[0][1] if sections and not sections[0][0] else ""
        sections = [("", f"{described}\n\n{before}".strip()), *sections[bool(before) :]]
    named = title or (header and (header.get("title") or header.get("name"))) or ""
    is_whole = path.replace(os.sep, "/") in FILES
    topic = "" if is_whole else topic_of(named or _brief(described) or _words_of(path))
    said, known = subject([title]), subject(line for one in sections for line in one)
    if is_whole and len(said) > 1 and not said <= known and not (sections and sections[0][0] == ""):
        sections = [("Project", title), *sections]
    title = named or described or path.replace(os.sep, "/")
    status = "" if is_whole else _status(header, sections)
    title, topic = (f"{one} ({status})" if one and status else one for one in (title, topic))
    if globs:
        title = f"{title} ({globs})"
    short, long = _apart(sections)
    topic = title if globs else topic
    text = "\n\n".join(f"## {under(topic, name) or title}\n\n{body}" for name, body in short)
    return Rules(
        title,
        f"# {title}\n\n{text}\n" if text else "",
        tuple((name or title, body) for name, body in long),
        topic,
        imports,
        mentions,
    )


def _status(header: headers.Header | None, sections: Sequence[tuple[str, str]]) -> str:
    """Return the status of a decision, such as “Superseded by ADR-0005”; "" if the page states none."""
    bodies = [body for name, body in sections[:_STATUS_AMONG] if name.strip(" :").casefold() == "status"]
    lines = [body.strip().split("\n")[0] for body in bodies]
    stated = _STATUS.search(sections[0][1]) if sections and not sections[0][0] else None
    said = (header and header.get("status")) or (stated and stated[1]) or "".join(lines[:1])
    said = labels.plain(said).rstrip(" .")
    return said if len(said) <= _LONGEST_STATUS else ""


def _brief(described: str) -> str:
    return described if len(described.split()) <= _BRIEF else ""


def _words_of(path: str) -> str:
    return os.path.basename(path).partition(".")[0].replace("-", " ").replace("_", " ")


def _with_marked_headings(lines: Sequence[str]) -> list[str]:
    """Return the lines with `#` in front of headings that are underlined."""
    marked: list[str] = []
    for line, outside in zip(lines, _without_code(lines), strict=True):
        above = marked[-1] if marked else ""
        is_alone = len(marked) < 2 or not marked[-2].strip()
        underline = (
            "" if outside != line or not (_UNDERLINE.fullmatch(line) and is_alone and _TITLE.match(above)) else line[0]
        )
        if underline:
            marked[-1] = f"{'#' if underline == '=' else '##'} {above.strip()}"
        else:
            marked.append(line)
    return marked


def under(topic: str, section: str) -> str:
    """Return the title of a section that says what its page is about; "" if the section has no title."""
    return section if not section or section.casefold().startswith(topic.casefold()) else f"{topic}: {section}"


def _without_imports(lines: Sequence[str], imports: Sequence[str]) -> list[str]:
    """Return the lines without those that only include a file, each with the blank line behind it."""
    kept: list[str] = []
    is_after = False
    for line in lines:
        if (found := _IMPORT.match(line)) and found[1] in imports:
            is_after = not kept or not kept[-1].strip()
            continue
        if line.strip() or not is_after:
            kept.append(line)
        is_after = is_after and not line.strip()
    return kept


def _folder_of(path: str) -> str:
    """Return the files that rules in a subfolder are for: those in it."""
    plain = path.replace(os.sep, "/")
    for name in (*FILES, *FOLDERS):
        before, found, _ = f"/{plain}".partition(f"/{name}")
        if found:
            return f"{before.strip('/')}/**" if before.strip("/") else ""
    return ""


def _listed(header: headers.Header, wanted: str) -> str:
    for field in header.fields:
        if field.key.lower() == wanted:
            return ", ".join(field.items) if field.items else field.text
    return ""


def _sections(lines: Sequence[str]) -> tuple[str, list[tuple[str, str]]]:
    """Return the title of a page, and its sections: the heading of each, "" before the first, and its Markdown.

    The title is the only heading of level 1. Those of the highest level below it begin sections.
    """
    levels = [markdown.heading_level(line) if line.startswith("#") else 0 for line in _without_code(lines)]
    used = sorted({level for level in levels if level})
    title = ""
    if used[:1] == [1] and levels.count(1) == 1 and not "".join(lines[: levels.index(used[0])]).strip():
        at = levels.index(used[0])
        title = markdown.heading_text(lines[at])
        lines, levels = lines[at + 1 :], levels[at + 1 :]
        used = used[1:]
    top = used[0] if used else 0
    found: list[tuple[str, list[str]]] = [("", [])]
    for line, level in zip(lines, levels, strict=True):
        if level and level == top:
            found.append((markdown.heading_text(line), []))
        elif level:
            found[-1][1].append(f"{'#' * min(6, max(3, level - top + 2))} {markdown.heading_text(line)}")
        else:
            found[-1][1].append(line)
    bodies = [(name, _RULES_AROUND.sub("", "\n".join(body)).strip("\n")) for name, body in found]
    # A sentence that is marked as a heading, with nothing below it, is said before all sections.
    said = [name for name, body in bodies if not body.strip() and len(name.split()) >= _SENTENCE]
    bodies[0] = ("", "\n\n".join(filter(None, [bodies[0][1], *said])))
    return title, [(name, body) for name, body in bodies if body.strip()]


def _without_code(lines: Sequence[str]) -> list[str]:
    """Return the lines with those in code blank."""
    inside, kept = "", []
    for line in lines:
        bare = line.strip()
        if inside:
            inside = "" if markdown.closes_fence(bare, inside[0], len(inside)) else inside
            kept.append("")
            continue
        length = markdown.fence_length(bare) if bare else 0
        inside = bare[:length] if length else ""
        kept.append("" if length else line)
    return kept


def _apart(sections: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the sections that come in as entries, and those that become notes."""
    sizes = [body.count("\n") + 3 for _, body in sections]
    long = {number for number, size in enumerate(sizes) if size > _LONG_SECTION}
    rest = sum(size for number, size in enumerate(sizes) if number not in long)
    for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        if rest <= _LONG_PAGE:
            break
        if number not in long:
            long.add(number)
            rest -= sizes[number]
    return (
        [one for number, one in enumerate(sections) if number not in long],
        [one for number, one in enumerate(sections) if number in long],
    )
