"""A turn as one JSON document: its entry with trace and payloads, and its ledger."""

from typing import Any

from mrpvm.trace.record import execution_trace
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns import registry as turns
from sessions_app.queries.turns.entries import details_of, entry, whole_detail
from sessions_app.queries.turns.verdicts import verdict


def turn_document(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return everything stored of a turn: the entry, the payloads as far as they were stored, the ledger."""
    events, judged = turns.events_and_judgements(turn)
    trace = execution_trace(events, details_of([turn], whole_detail)[turn.pk])
    ledger = [
        {
            "unitId": event.unit_id,
            "step": event.step,
            "store": event.store,
            "executionId": event.execution_id,
            "rank": event.rank,
            "score": event.score,
            "parts": dict(event.score_parts),
            "reason": event.reason,
            "text": event.text,
        }
        for event in (*turns.own_unit_events(turn), *judged)
    ]
    return {"sessionId": turn.session.session_id, **entry(turn, trace, verdict(turn, events)), "ledger": ledger}
