"""Proposals are all that an operator can say, and a report is plain data."""

import json

import pytest

from agent_memory_protocol.consolidation.proposals import MAY_PROPOSE, Action, Report, Stage


@pytest.mark.requirement("S1-14", "S1-15")
def test_every_stage_has_one_kind_of_proposal_and_none_rewrites_a_record():
    assert list(MAY_PROPOSE) == list(Stage)
    kinds = [kind.__name__ for kind in MAY_PROPOSE.values()]
    assert kinds == ["Create", "Supersede", "Dispute", "Resolve", "Promote", "Flag", "Archive"]


def test_a_report_is_plain_data():
    action = Action(Stage.DEDUP, "supersede", ("mem:a", "mem:b"), "a copy", "same words", ("active",), ("superseded",))
    plain = Report(done=(action,)).to_json()
    assert json.loads(json.dumps(plain)) == plain  # lists, since a schema takes no tuple for an array
    assert plain == {
        "done": [
            {
                "stage": "dedup",
                "kind": "supersede",
                "ids": ["mem:a", "mem:b"],
                "reason": "a copy",
                "by": "same words",
                "before": ["active"],
                "after": ["superseded"],
                "id": "",
            }
        ],
        "refused": [],
        "deferred": [],
        "protected": [],
        "left": [],
    }
