"""The stored payloads of a turn's nodes."""

from sessions_app.models import ExplainabilityTurn
from sessions_app.models.turns.payload_frames import PayloadPlace, places


def stored_payloads(turn: ExplainabilityTurn) -> dict[str, PayloadPlace]:
    """Return the places of the payloads by their refs, in stored order."""
    rows = turn.event_batches.order_by("first_sequence")
    return {place.ref: place for row in rows for place in places(row.payload_index)}


def stored_executions(turn: ExplainabilityTurn) -> list[str]:
    """Return the refs of the executions that have a payload."""
    return [ref for ref in stored_payloads(turn) if ref.startswith("exec-")]


def judge(turn: ExplainabilityTurn, *steps: tuple[str, str]) -> None:
    """Store ledger entries of the turn, each given by a unit's id and the step."""
    judged = [[unit_id, step, "session", "", None, None, ""] for unit_id, step in steps]
    turn.event_batches.create(first_sequence=turn.event_batches.count() + 5_000, events=[], judged=judged)
