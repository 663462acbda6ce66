"""A generated turn as rows of a new session."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.turns.payloads import batch, payload
from sessions_app.models import ExplainabilityTurn, Project


def store_turn(project: Project, batches: Iterable[tuple[int, list[Any]]]) -> ExplainabilityTurn:
    """Store a finished turn with these events and a small payload each."""
    session = create_session(project, title="A large turn")
    turn = ExplainabilityTurn.objects.create(
        session=session, turn_index=1, status="succeeded", answer_status="answered", user_message="Everything at once?",
        duration_ms=1, finished_at=timezone.now(),
    )  # fmt: skip
    session.turn_sequence = 1
    session.save(update_fields=["turn_sequence"])
    parts = {"input": {"message": "Everything at once?"}, "output": {"status": "success"}}
    for first, events in batches:
        names = [data["executionId"] for name, _, data in events if name == "plugin.finished"]
        batch(turn, first, events, [payload(ref, parts) for ref in names]).save()
    return turn
