"""What a text leaves open, a fence or a comment, takes in nothing that was or will be behind it, whatever the door."""

from agent_memory_protocol import Actor
from agent_memory_protocol.errors import RefusedText
from agent_memory_protocol.layout import Target, Tier

from .each_row import each_row
from .test_labels_at_doors import Case, Page

OPEN = {
    "a fence": "```sh\nmake x",
    "a longer fence": "~~~~\nmake x\n~~~",
    "a comment": "<!-- see\n\nmake x",
    "preformatted text": "<pre>\nmake x",
    "a fence in an item": "- so:\n\n  ```\n  make x",
}
DOORS = (
    "amp remember",
    "amp edit",
    "amp harvest",
    "amp import",
    "amp adopt",
    "MCP memory_remember",
)
BEFORE, AFTER = "the ibex fact", "the okapi fact"


@each_row("door, kind", [(door, kind) for door in DOORS for kind in OPEN])
def test_what_is_left_open_takes_in_no_other_entry(door, kind, tmp_path):
    folder = tmp_path / f"{door} {kind}".replace(" ", "-")
    folder.mkdir()
    at = Case(folder, Page((("", "", ("ibex",)),)), "ibex")
    at.write(f"# S\n\n- {BEFORE}\n- {AFTER}\n\n## Rules\n\n- a rule\n")
    text, page = f"Run it so:\n\n{OPEN[kind]}", folder / "page.md"
    page.write_text(f"# T\n\n- one\n\n{OPEN[kind]}\n")
    try:
        if door == "amp remember":
            at.amp("remember", text)
        elif door == "amp edit":
            at.amp("edit", next(one.id for one in at.workspace.entries() if BEFORE in one.text), f"{BEFORE}\n\n{text}")
        elif door == "amp harvest":
            at.amp(
                "harvest",
                "--reporter",
                "r",
                "--conversation",
                "c1",
                stdin=f"```memory-findings\n- one\n{OPEN[kind]}\n```\n",
            )
        elif door == "amp import":
            at.amp("import", str(page), "--to", "shared", "--apply")
        elif door == "amp adopt":
            at.amp("adopt", str(page), "--apply")
        else:
            at.call("memory_remember", text=text)
    except (AssertionError, RefusedText):
        pass  # It is refused, which is said.
    at.workspace.remember("the tapir fact")
    at.workspace.remember("the wombat fact", section="New")
    alone = [one.text for one in at.workspace.entries(Actor(), [Target(Tier.SHARED)])]
    for fact in ("the ibex fact", "the okapi fact", "a rule", "the tapir fact", "the wombat fact"):
        assert any(one.startswith(f"- {fact}") for one in alone), (fact, alone)
