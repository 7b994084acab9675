"""The tools over records: remember, recall and status, as the record format's own server names them."""

from ..retrieval import BUDGET_TOKENS
from .tool import A_NUMBER, A_TEXT, Answer, Door, Json, Tool, list_of, shape_of, shown
from .tool_arguments import FLAG, TEXT, TEXTS, WHOLE, Arguments, Parameter

_COUNTS: Json = {"type": "object", "additionalProperties": A_NUMBER}


def _remember(door: Door, arguments: Arguments) -> Answer:
    kept = door.records.remember(
        arguments.text("text") or "", tags=arguments.texts("tags"), source=arguments.text("source")
    )
    return Answer({"record_id": kept.record_id, "new": kept.new})


def _recall(door: Door, arguments: Arguments) -> Answer:
    found = door.records.recall(
        arguments.text("query") or "",
        budget_tokens=arguments.whole("budget_tokens") or BUDGET_TOKENS,
        include_history=arguments.flag("include_history"),
    )
    hits = [
        {
            "record_id": hit.record.id,
            "body": shown(hit.record.body),
            "state": hit.record.state.value,
            "score": hit.score,
            "reasons": [shown(reason) for reason in hit.reasons],
        }
        for hit in found
    ]
    block = found.as_prompt_block()
    values: Json = {"text": block, "hits": hits, "left_out": found.left_out, "problems": list(found.problems)}
    return Answer(values, block or "No record matches.")


def _status(door: Door, _: Arguments) -> Answer:
    found = door.records.status()
    return Answer(
        {
            "path": door.records.path,
            "records": found.records,
            "by_state": found.by_state,
            "by_type": found.by_type,
            "disputes": found.disputes,
            "problems": list(found.problems),
        }
    )


RECORD_TOOLS = (
    Tool(
        "remember",
        "Remember a record",
        "Keep a fact as a record. One that says so already is counted as used once more.",
        (
            Parameter("text", TEXT, "The fact.", required=True),
            Parameter("tags", TEXTS, "Words to find it by."),
            Parameter("source", TEXT, "Where it comes from."),
        ),
        shape_of(record_id=A_TEXT, new={"type": "boolean"}),
        _remember,
        writes=True,
    ),
    Tool(
        "recall",
        "Recall records",
        "Give the records that answer a query, best first, whole, as many as fit into the budget. What is disputed or "
        "replaced says so.",
        (
            Parameter("query", TEXT, "What to look for; any text.", required=True),
            Parameter("budget_tokens", WHOLE, f"The most tokens of the answer ({BUDGET_TOKENS}).", minimum=1),
            Parameter("include_history", FLAG, "Show what was replaced or archived, too."),
        ),
        shape_of(
            text=A_TEXT,
            hits=list_of(
                shape_of(record_id=A_TEXT, body=A_TEXT, state=A_TEXT, score={"type": "number"}, reasons=list_of(A_TEXT))
            ),
            left_out=A_NUMBER,
            problems=list_of(A_TEXT),
        ),
        _recall,
    ),
    Tool(
        "status",
        "Count records",
        "Say how many records there are, by state and type, and how many disputes wait for a decision.",
        (),
        shape_of(
            path={"type": ["string", "null"]},
            records=A_NUMBER,
            by_state=_COUNTS,
            by_type=_COUNTS,
            disputes=A_NUMBER,
            problems=list_of(A_TEXT),
        ),
        _status,
    ),
)
