"""Turns whose process went away: closed once, as interrupted, by whoever comes next [T-36 to T-38]."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from mrpvm.trace.graph import Record, fold_graph
from sessions_app import events
from sessions_app.actions.context_units import discard_pending
from sessions_app.models import ExplainabilityTurn, Session, TurnEvents
from sessions_app.queries.turns import records as stored_records

Status = ExplainabilityTurn.Status
INTERRUPTED: dict[str, Any] = {
    "code": "TURN_INTERRUPTED",
    "message": "The server process ended while this turn was running; nothing of it was kept.",
    "details": {},
}


def recover_abandoned(session: Session | None = None) -> int:
    """Close running turns whose lease has run out, all or one session's; gives how many."""
    abandoned = ExplainabilityTurn.objects.filter(status=Status.RUNNING, lease_until__lt=timezone.now())
    if session is not None:
        abandoned = abandoned.filter(session=session)
    return sum(_recover(turn_pk) for turn_pk in list(abandoned.values_list("pk", flat=True)))


def recover_all_running() -> int:
    """Close every running turn, leased or not: for the start of a server that is alone on its database [T-38]."""
    running = ExplainabilityTurn.objects.filter(status=Status.RUNNING)
    return sum(_recover(turn_pk) for turn_pk in list(running.values_list("pk", flat=True)))


@transaction.atomic
def _recover(turn_pk: int) -> bool:
    turn = ExplainabilityTurn.objects.filter(pk=turn_pk).only("session_id").first()
    if turn is None:
        return False
    session = Session.objects.select_for_update().get(pk=turn.session_id)
    turn = ExplainabilityTurn.objects.select_for_update().filter(pk=turn_pk, status=Status.RUNNING).first()
    if turn is None:
        return False
    turn.session = session
    close_trace(turn, INTERRUPTED)
    discarded = discard_pending(turn, session, INTERRUPTED["code"])
    turn.status, turn.answer_status, turn.error = Status.INTERRUPTED, "failed", INTERRUPTED
    turn.finished_at, turn.lease_until = timezone.now(), None
    turn.unit_changes = {"added": [], "deduplicated": [], "discarded": discarded, "evicted": []}
    turn.save()
    session.failed_turn_count += 1
    session.save(update_fields=["failed_turn_count"])
    events.append(session, "turn.interrupted", {"request_id": turn.request_id, "turn_index": turn.turn_index})
    return True


def close_trace(turn: ExplainabilityTurn, error: dict[str, Any]) -> None:
    """End the stored trace of a turn that could not do so itself: open nodes fail, a root frame always exists [G-4]."""
    records = stored_records(turn)
    graph = fold_graph(records)
    at_ms = max((record[1] for record in records), default=0)
    closing: list[Record] = []
    if graph["rootFrameId"] is None:
        closing.append(["turn.started", 0, _head(turn)])
        closing.append(["frame.opened", 0, _ROOT_FRAME])
        closing.append(["frame.closed", at_ms, _closed("frame-0")])
    for execution in graph["pluginExecutions"]:
        if execution["status"] == "running":
            ended = {
                "executionId": execution["id"], "frameId": execution["frameId"], "status": "error",
                "durationMs": max(0, at_ms - execution["startedAtMs"]), "llmCalls": 0, "sufficient": None,
                "model": None, "modelRole": None, "error": error, "outputSnippet": "",
            }  # fmt: skip
            closing.append(["plugin.finished", at_ms, ended])
    for frame in reversed(graph["frames"]):
        if frame["status"] == "active":
            closing.append(["frame.closed", at_ms, _closed(frame["id"])])
    closing.append(["turn.finished", at_ms, {"status": "failed", "answerStatus": "failed", "error": error}])
    TurnEvents.objects.create(turn=turn, first_sequence=len(records), events=closing)


_ROOT_FRAME: dict[str, Any] = {
    "frameId": "frame-0", "parentFrameId": None, "purpose": "chat-turn", "label": "chat-turn", "depth": 0,
    "openedBy": None, "intentRefs": [],
}  # fmt: skip


def _closed(frame_id: str) -> dict[str, str]:
    return {"frameId": frame_id, "status": "failed", "closureReason": "budget_exhausted"}


def _head(turn: ExplainabilityTurn) -> dict[str, Any]:
    return {
        "requestId": turn.request_id,
        "sessionId": turn.session.session_id,
        "inputMessage": turn.user_message[:500],
        "deliberationLevel": turn.deliberation_level,
        "effectiveLevel": 0,
        "plannerCandidates": [],
        "seedDetectorCandidates": [],
    }
