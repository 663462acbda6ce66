"""Store the rows that pages show for any number of sessions of any length, without running a turn."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import batched
from typing import Any

from django.utils import timezone

from sessions_app.actions.sessions.session import create_session
from sessions_app.identifiers import new_session_id
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KnowledgeLayer,
    Message,
    Project,
    Session,
    SessionEvent,
    UnitEvent,
)

BATCH = 2_000
FAILED_EVERY = 20


def store_sessions(project: Project, count: int) -> Session:
    """Store this many sessions of one turn each, the newest first, and return the session that they copy."""
    pattern = create_session(project, title="The pattern")
    now = timezone.now()
    for numbers in batched(range(count), BATCH, strict=False):
        layers = _copies(KnowledgeLayer, (pattern.draft, pattern.journal), len(numbers))
        sessions = Session.objects.bulk_create(
            _copy(
                pattern,
                session_id=new_session_id(),
                title=f"Conversation {number}",
                last_activity_at=now - timedelta(seconds=number),
                draft=draft,
                journal=journal,
                turn_sequence=1,
                failed_turn_count=int(number % FAILED_EVERY == 0),
            )
            for number, (draft, journal) in zip(numbers, batched(layers, 2, strict=True), strict=True)
        )
        ExplainabilityTurn.objects.bulk_create(
            _turn(session, 1, failed=number % FAILED_EVERY == 0)
            for number, session in zip(numbers, sessions, strict=True)
        )
    return pattern


def store_long_session(project: Project, turn_count: int) -> Session:
    """Store a session of this many turns, each with two messages, a unit, its ledger and its events."""
    session = create_session(project, title=f"{turn_count} turns")
    session.turn_sequence, session.message_sequence = turn_count, 2 * turn_count
    session.unit_count, session.event_sequence = turn_count, session.event_sequence + 2 * turn_count
    session.failed_turn_count = turn_count // FAILED_EVERY
    session.save()
    for numbers in batched(range(1, turn_count + 1), BATCH, strict=False):
        turns = ExplainabilityTurn.objects.bulk_create(
            _turn(session, number, failed=number % FAILED_EVERY == 0) for number in numbers
        )
        Message.objects.bulk_create(message for turn in turns for message in _messages(turn))
        ContextUnit.objects.bulk_create(_unit(turn) for turn in turns)
        UnitEvent.objects.bulk_create(step for turn in turns for step in _ledger(turn))
        SessionEvent.objects.bulk_create(event for turn in turns for event in _events(turn))
    return session


def _copies(model: Any, patterns: tuple[Any, ...], count: int) -> list[Any]:
    return list(model.objects.bulk_create(_copy(each) for _ in range(count) for each in patterns))


def _copy(pattern: Any, **changes: Any) -> Any:
    fields = [field for field in pattern._meta.concrete_fields if not field.primary_key]
    columns = {field.attname: getattr(pattern, field.attname) for field in fields}
    for name in changes:
        columns.pop(f"{name}_id", None)
    return type(pattern)(**columns | changes)


def _turn(session: Session, number: int, *, failed: bool) -> ExplainabilityTurn:
    return ExplainabilityTurn(
        session=session,
        turn_index=number,
        status="failed" if failed else "succeeded",
        answer_status="failed" if failed else "answered",
        user_message=f"What is the colour of thing {number}?",
        assistant_preview="" if failed else f"Thing {number} is red. [1]",
        duration_ms=number % 400,
        finished_at=timezone.now(),
        unit_changes={"added": [f"unit-{session.pk}-{number}"]},
        error={"code": "VALIDATION_REJECTED", "message": "Refused.", "details": {}} if failed else None,
    )


def _messages(turn: ExplainabilityTurn) -> Iterator[Message]:
    said = (("user", turn.user_message), ("assistant", turn.assistant_preview or "Nothing."))
    for place, (role, content) in enumerate(said, start=2 * turn.turn_index - 1):
        yield Message(session_id=turn.session_id, turn=turn, sequence=place, role=role, content=content)


def _unit(turn: ExplainabilityTurn) -> ContextUnit:
    number = turn.turn_index
    name = f"unit-{turn.session_id}-{number}"
    return ContextUnit(
        session_id=turn.session_id, turn=turn, unit_id=name, state="committed", claim=f"Thing {number} is red.",
        topic=f"Thing {number}", hash=f"{turn.session_id:032x}{number:032x}", source_id="session",
        chunk_id=f"session::{number}",
    )  # fmt: skip


def _ledger(turn: ExplainabilityTurn) -> Iterator[UnitEvent]:
    name = f"unit-{turn.session_id}-{turn.turn_index}"
    for step in ("staged", "offered", "selected", "cited", "committed"):
        yield UnitEvent(
            session_id=turn.session_id,
            turn=turn,
            unit_id=name,
            step=step,
            rank=1,
            score=0.5,
            store="session",
            text=f"Thing {turn.turn_index} is red." if step == "staged" else "",
        )


def _events(turn: ExplainabilityTurn) -> Iterator[SessionEvent]:
    for place, kind in enumerate(("turn.started", "turn.committed")):
        yield SessionEvent(
            session_id=turn.session_id, sequence=2 * turn.turn_index + 1 + place, kind=kind,
            payload={"request_id": turn.request_id, "turn_index": turn.turn_index},
        )  # fmt: skip
