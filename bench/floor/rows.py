"""The rows of real turns, read from the database and written again under new keys."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, Self

from django.db import models, transaction
from django.db.models import F
from django.utils import timezone

from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KnowledgeLayer,
    LayerUnit,
    Message,
    Posting,
    Session,
    SessionEvent,
    SessionMemory,
    TurnEvents,
    UnitEvent,
)

type Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """Every row that one turn stored. `postings` holds those of each layer unit, in the order of the units."""

    turn: Row
    messages: Sequence[Row]
    context_units: Sequence[Row]
    unit_events: Sequence[Row]
    trace: Sequence[Row]
    session_events: Sequence[Row]
    layer_units: Sequence[Row]
    postings: Sequence[Sequence[Row]]

    @classmethod
    def of(cls, turn: ExplainabilityTurn) -> Self:
        """Read the rows of a finished turn."""
        unit_ids = list(turn.context_units.values_list("unit_id", flat=True))
        layer_units = LayerUnit.objects.filter(layer_id=turn.session.journal_id, unit_id__in=unit_ids)
        return cls(
            turn=_rows(ExplainabilityTurn.objects.filter(pk=turn.pk), "request_id", "turn_index")[0],
            messages=_rows(turn.messages, "turn_id", "sequence"),
            context_units=_rows(turn.context_units, "turn_id"),
            unit_events=_rows(turn.unit_events, "turn_id"),
            trace=_rows(turn.event_batches, "turn_id"),
            session_events=_rows(turn.session.events.filter(payload__request_id=turn.request_id), "sequence"),
            layer_units=_rows(layer_units),
            postings=[_rows(unit.postings, "unit_id") for unit in layer_units.order_by("pk")],
        )

    @property
    def row_count(self) -> int:
        """Return the number of rows."""
        listed = (
            self.messages, self.context_units, self.unit_events, self.trace, self.session_events,
            self.layer_units, *self.postings,
        )  # fmt: skip
        return 1 + sum(len(rows) for rows in listed)


def _rows(queryset: "models.QuerySet[Any] | models.Manager[Any]", *replaced: str) -> list[Row]:
    """Return the column values of the rows, without the primary key and the columns that get new values."""
    left_out = {"id", "pk", *replaced}
    return [
        {name: value for name, value in row.items() if name not in left_out} for row in queryset.order_by("pk").values()
    ]


class RecordedConversation:
    """The turns of one session, written again and again in their order."""

    def __init__(self, session: Session) -> None:
        self._session_pk = session.pk
        self.turns = [RecordedTurn.of(turn) for turn in session.turns.order_by("turn_index")]
        self._next = cycle(self.turns)

    @classmethod
    def newest(cls) -> Self:
        """Return the conversation of the newest session."""
        return cls(Session.objects.latest("pk"))

    @transaction.atomic
    def write_next_turn(self) -> ExplainabilityTurn:
        """Write one turn's rows with plain ORM calls, and update the session and its journal."""
        recorded = next(self._next)
        session = Session.objects.get(pk=self._session_pk)
        session.turn_sequence += 1
        turn = ExplainabilityTurn.objects.create(turn_index=session.turn_sequence, **recorded.turn)
        first = session.message_sequence + 1
        Message.objects.bulk_create(
            Message(turn=turn, sequence=first + place, **row) for place, row in enumerate(recorded.messages)
        )
        first = session.event_sequence + 1
        SessionEvent.objects.bulk_create(
            SessionEvent(sequence=first + place, **row) for place, row in enumerate(recorded.session_events)
        )
        ContextUnit.objects.bulk_create(ContextUnit(turn=turn, **_renamed(row)) for row in recorded.context_units)
        UnitEvent.objects.bulk_create(UnitEvent(turn=turn, **row) for row in recorded.unit_events)
        TurnEvents.objects.bulk_create(TurnEvents(turn=turn, **row) for row in recorded.trace)
        units = LayerUnit.objects.bulk_create(LayerUnit(**_renamed(row)) for row in recorded.layer_units)
        Posting.objects.bulk_create(
            Posting(unit=unit, **row) for unit, rows in zip(units, recorded.postings, strict=True) for row in rows
        )
        if units:
            KnowledgeLayer.objects.filter(pk=session.journal_id).update(unit_count=F("unit_count") + len(units))
        memory = SessionMemory.objects.get(project_id=session.project_id, owner=session.session_id)
        memory.turn_count += 1
        memory.save()
        session.message_sequence += len(recorded.messages)
        session.event_sequence += len(recorded.session_events)
        session.unit_count += len(recorded.context_units)
        session.last_activity_at = timezone.now()
        session.save()
        return turn


def _renamed(row: Row) -> Row:
    """Return a unit's columns with a new unique id and hash of the same lengths."""
    length = len(row["unit_id"])
    return row | {"unit_id": (secrets.token_hex(16) + row["unit_id"])[:length], "hash": secrets.token_hex(32)}
