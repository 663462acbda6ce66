"""What a turn's answer looks like to the client who asked: the chat completion and the events of a stream."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from mrpvm.conversation.answers import response_markdown
from mrpvm.trace.record import execution_trace
from sessions_app.api.entries import structure, with_details
from sessions_app.api.errors import wire_time
from sessions_app.turns.pipeline import TurnResult

DELTA_CHARS = 160


def completion(result: TurnResult, include: Collection[str]) -> dict[str, Any]:
    """Give the chat response [API-11]; plugins and level are those that this turn used."""
    turn, outcome = result.turn, result.outcome
    session = turn.session
    trace = structure(execution_trace(result.records))
    if "details" in include:
        with_details([(turn, trace)])
    response = {
        "id": f"mrp-{turn.request_id}",
        "object": "chat.completion",
        "created": int(turn.created_at.timestamp()),
        **_head(result),
        "expires_at": session.expires_at,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": outcome.answer_text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        "response_document": turn.response_document,
        "execution_trace": trace,
        "workspace_dirty": session.draft.is_dirty,
    }
    if "response_markdown" in include and outcome.answer is not None:
        response["response_markdown"] = response_markdown(outcome.answer, session.session_id)
    return response


def answer_events(result: TurnResult, include: Collection[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give the events that follow a commit: meta, the text in pieces, the whole [API-14, API-16, O-1]."""
    yield "response.meta", _head(result)
    text = result.outcome.answer_text
    for start in range(0, max(1, len(text)), DELTA_CHARS):
        yield "response.delta", {"delta": text[start : start + DELTA_CHARS]}
    whole = completion(result, include)
    if whole["expires_at"] is not None:
        whole["expires_at"] = wire_time(whole["expires_at"])
    yield "response.completed", whole


def _head(result: TurnResult) -> dict[str, Any]:
    turn, used = result.turn, result.outcome.used
    return {
        "request_id": turn.request_id,
        "session_id": turn.session.session_id,
        "planner_plugin": used.planner,
        "seed_detector_plugin": used.seed_detector,
        "kb_plugin": used.kb,
        "goal_solver_plugin": used.goal_solver,
        "deliberation_level": turn.deliberation_level,
        "kb_id": turn.session.mounted_kb.kb_id,
        "kb_name": turn.session.mounted_kb.name,
    }
