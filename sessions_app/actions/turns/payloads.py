"""Rows of a turn's events and payloads; old payloads are removed if the operator wants that."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from mrpvm.llm.redaction import redacted_json
from mrpvm.trace.events import Record
from mrpvm.values import LedgerEntry
from mrpvm.wire import WireWriter
from sessions_app.actions.sessions.session import TURNS_A_TRANSACTION
from sessions_app.models import ExplainabilityTurn, TurnEvents
from sessions_app.models.turns.payload_frames import Payload, framed

type Judged = list[Any]
"""`[unit id, step, store, execution id, rank, score, reason]`, and the parts of the score where there are any."""


def batch(
    turn: ExplainabilityTurn,
    first_sequence: int,
    records: Sequence[Record],
    payloads: Sequence[Payload],
    judged: Sequence[Judged] = (),
) -> TurnEvents:
    """Return the unsaved row of a batch of events and the payloads that became whole with them.

    Args:
        judged: the steps of the ledger that a committed turn's last batch holds.
    """
    index, column = framed(payloads)
    return TurnEvents(
        turn=turn,
        first_sequence=first_sequence,
        events=list(records),
        payload_index=index,
        payloads=column,
        judged=list(judged) or None,
    )


def judged_step(execution_id: str, row: LedgerEntry) -> Judged:
    """Return a step of the ledger as it is stored."""
    step: Judged = [row.unit_id, row.step, row.store, execution_id, row.rank, row.score, row.reason]
    return [*step, dict(row.parts)] if row.parts else step


def payload(ref: str, parts: Mapping[str, Any], writer: WireWriter | None = None) -> Payload:
    """Return a node's payload `{input, output, error, meta}` without secrets.

    Beyond the setting's size the text is cut, and the payload says how long it was.

    Args:
        writer: that of the turn, which has read already what its payloads have in common.
    """
    text = (writer or WireWriter()).json({key: parts.get(key) for key in ("input", "output", "error", "meta")})
    text = redacted_json(text)
    return Payload(ref, text[: settings.MRPVM_MAX_DETAIL_BYTES], len(text))


def remove_old_payloads(pause: Callable[[], None] = lambda: None) -> int:
    """Remove the payloads of turns that began more than `MRPVM_KEEP_PAYLOADS_DAYS` ago; gives of how many turns.

    Args:
        pause: called between two transactions; lets running turns go first.
    """
    days = settings.MRPVM_KEEP_PAYLOADS_DAYS
    removed = 0
    while days and (count := _remove_some(days)):
        removed += count
        pause()
    return removed


@transaction.atomic
def _remove_some(days: int) -> int:
    now = timezone.now()
    old = ExplainabilityTurn.objects.filter(payloads_removed_at__isnull=True, created_at__lt=now - timedelta(days=days))
    ended = old.exclude(status=ExplainabilityTurn.Status.RUNNING).order_by("created_at")
    turns = list(ended.select_for_update().values_list("pk", flat=True)[:TURNS_A_TRANSACTION])
    TurnEvents.objects.filter(turn__in=turns).update(payloads=b"")
    return ExplainabilityTurn.objects.filter(pk__in=turns).update(payloads_removed_at=now)
