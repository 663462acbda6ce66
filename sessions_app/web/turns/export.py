"""A turn to keep: its entry with trace and payloads, and its ledger, as one JSON document."""

from typing import TYPE_CHECKING, Any

from sessions_app.queries.turns import registry as turns
from sessions_app.queries.turns.entries import entry, whole_detail, with_details

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn


def turn_document(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Return everything stored of a turn: the entry [T-25], payloads whole as far as they were stored, the ledger."""
    trace = turns.trace(turn)
    with_details([(turn, trace)], whole_detail)
    ledger = [
        {
            "unitId": event.unit_id,
            "step": event.step,
            "store": event.store,
            "executionId": event.execution_id,
            "rank": event.rank,
            "score": event.score,
            "reason": event.reason,
            "text": event.text,
        }
        for event in turns.unit_events(turn)
    ]
    return {"sessionId": turn.session.session_id, **entry(turn, trace), "ledger": ledger}
