"""Findings: what a read-only agent reports in its output, in a fenced block whose info string is `memory-findings`.

One bullet, or one numbered list, is one finding. `shared:`, `agent:` or `conversation:` before its text says where it
belongs (decision 11).
A heading in the block names the section of the bullets below it, and a label above them is their label.
"""

from dataclasses import dataclass

from ..layout import TIERS, Tier
from ..limits import split_lines
from ..text.headers import split_header
from ..text.markdown import closes_fence, fence_length, heading_level, heading_text, marker_width
from ..text.reported import signed
from ..tiers.entries import is_label, label_in

INFO = "memory-findings"
_BULLETS = ("- ", "* ", "+ ")


@dataclass(frozen=True, slots=True)
class Reported:
    """One finding.

    Attributes:
        tier: the tier that its reporter names; None for no tier.
        section: the heading above it in the block, "" for no heading.
        label: the label above its bullets, "" for no label.
    """

    text: str
    tier: Tier | None = None
    section: str = ""
    label: str = ""


def read_findings(output: str) -> list[Reported]:
    """Return the findings in an agent's output, in their order. A block inside another fence is only a sample."""
    found: list[Reported] = []
    for block in _blocks(split_lines(output.removeprefix("\ufeff"))):
        found += [_finding(*bullet) for bullet in _bullets(block)]
    return [finding for finding in found if finding.text]


def reporter_named_in(output: str) -> str | None:
    """Return the agent that an output names in its front matter (`agent: reviewer`); None if it has no such line."""
    header = split_header(output.lstrip("\ufeff\n"))
    return (header.get("agent") or None) if header else None


def entry_text(finding: Reported, reporter: str, *, writer: str | None = None, meant_for: Tier | None = None) -> str:
    """Return what is remembered of a finding: its text, who reported it, who saved it, and where it was meant to go."""
    said = []
    if writer is not None and writer != reporter:
        said.append(f"saved by {writer}")
    if meant_for is not None:
        said.append(f"meant for {meant_for}")
    return signed(finding.text, reporter, said)


def tells(text: str, finding: Reported, reporter: str) -> bool:
    """Say whether an entry, without marker and date, is this finding of this reporter, no matter who saved it."""
    said, _, rest = text.rpartition(f" (reported by {reporter}")
    return said == finding.text and rest[:1] in (")", ",")


def _blocks(lines: list[str]) -> list[list[str]]:
    blocks: list[list[str]] = []
    fence, inside = "", False
    for line in lines:
        text = line.strip(" \t")
        if fence:
            if text and closes_fence(text, fence[0], len(fence)):
                fence = ""
            elif inside:
                blocks[-1].append(line)
        elif text and len(line) - len(line.lstrip(" ")) <= 3 and (length := fence_length(text)):
            fence = text[:length]
            inside = text[length:].split()[:1] == [INFO]
            if inside:
                blocks.append([])
    return blocks


def _bullets(lines: list[str]) -> list[tuple[str, str, str]]:
    """Return the text of each bullet, its further lines joined on, with the heading and the label above it."""
    bullets: list[tuple[list[str], str, str]] = []
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    section = label = ""
    is_apart = True
    is_open = False  # nothing is under the label yet
    is_numbered = False  # the last finding is a numbered list that may go on
    for line in lines:
        text = line[margin:].rstrip()
        if text.startswith(_BULLETS) or text in ("-", "*", "+"):
            bullets.append(([text[2:].strip()], section, label))
            is_numbered = False
        elif text[:1].isdigit() and marker_width(text):
            if is_numbered:
                bullets[-1][0].append(text)
            else:
                bullets.append(([text], section, label))
            is_numbered = True
        elif text[:1] == "#" and heading_level(text):
            section, label, is_numbered = heading_text(text), "", False
        elif text.startswith("<!--") and text.endswith("-->") and text.strip("<!- >"):
            continue  # nobody sees it
        elif is_apart and text[:1].strip() and is_label(label_in([text])):
            label = label_in([label, "", text] if is_open else [text])
            is_open = True
            is_apart = is_numbered = False
            continue
        elif text.strip():
            if bullets:
                bullets[-1][0].append(text.strip())
            if is_apart and text[:1].strip():
                label = ""
        is_open = is_open and not text.strip()
        is_apart = not text.strip() or text[:1] == "#"
    return [(" ".join(parts), section, label) for parts, section, label in bullets]


def _finding(text: str, section: str, label: str) -> Reported:
    head, colon, rest = text.partition(":")
    name = head.strip("* ").lower()
    for tier in TIERS:
        if colon and name == tier.value:
            return Reported(rest.lstrip("* ").strip(), tier, section, label)
    return Reported(text, None, section, label)
