"""Placeholders hold the place of entries to come. What says something is an entry."""

from agent_memory_protocol.text.placeholders import is_placeholder, may_hold_places
from agent_memory_protocol.text.visible import rare_bytes
from tests.each_row import each_row


@each_row(
    "line",
    [
        *("(none yet)", "- None", "N/A", "- —", "*TBD*", "_Nothing here yet._"),
        *("*None yet — add as found*", "- *None yet: see inbox.*", "_None yet – x_", "(None yet, but soon.)"),
        *("No decisions recorded yet.", "- _No entries so far_", "No lessons yet", "*No patterns captured so far.*"),
    ],
)
def test_a_line_that_only_says_that_nothing_is_there_is_a_placeholder(line):
    text = f"# S\n\n{line}\n"
    assert is_placeholder(line)
    assert may_hold_places(text, rare_bytes(text.encode()))


@each_row(
    "line",
    [
        *("None yet — we ship without auth", "**None** — policy is declarations only.", "No tests yet", "- none of it"),
        *("No users added yet", "No decisions recorded", "* none yet — x", "No one has recorded it; not yet", "No yet"),
        *("", "---", "*None yet*x", "No customer data stored yet", f"*None yet — {'x' * 160}*"),
    ],
)
def test_a_line_that_says_something_is_no_placeholder(line):
    assert not is_placeholder(line)
