"""Rows of a turn's events and payloads; old payloads are removed if the operator wants that."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.utils import timezone

from mrpvm.llm.redaction import redacted_json
from mrpvm.trace.events import Record
from mrpvm.values import LedgerEntry
from mrpvm.wire import WireWriter
from sessions_app.models import ExplainabilityTurn, TurnEvents
from sessions_app.models.turns.payload_frames import Payload, framed, payload_texts, places

type Judged = list[Any]
"""`[unit id, step, store, execution id, rank, score, reason]`, followed by the parts of the score if there are any."""


def batch(
    turn: ExplainabilityTurn,
    first_sequence: int,
    records: Sequence[Record],
    payloads: Sequence[Payload],
    judged: Sequence[Judged] = (),
) -> TurnEvents:
    """Return the unsaved row of a batch of events and the payloads that they complete.

    Args:
        judged: ledger steps, which only the last batch of a committed turn has.
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

    A text above the limit is cut, and the payload says how long it was.

    Args:
        writer: the turn's writer, which has already read what the turn's payloads have in common.
    """
    text = (writer or WireWriter()).json({key: parts.get(key) for key in ("input", "output", "error", "meta")})
    text = redacted_json(text)
    return Payload(ref, text[: settings.MRPVM_MAX_DETAIL_BYTES], len(text))


def remove_payloads(turns: Sequence[int]) -> None:
    """Remove the payloads of these turns, in the caller's transaction; their structure stays."""
    TurnEvents.objects.filter(turn__in=turns).update(payloads=b"")
    ExplainabilityTurn.objects.filter(pk__in=turns).update(payloads_removed_at=timezone.now())


def remove_exchanges(turns: Sequence[int]) -> None:
    """Remove the model requests and responses of these turns, in the caller's transaction; other payloads stay."""
    for batch in TurnEvents.objects.filter(turn__in=turns).defer("events", "judged"):
        payload_places = places(batch.payload_index)
        texts = payload_texts(batch.payloads, payload_places)
        kept = [_without_exchanges(Payload(place.ref, texts[place.ref], place.size)) for place in payload_places]
        if any(item.text != texts[item.ref] for item in kept):
            batch.payload_index, batch.payloads = framed(kept)
            batch.save(update_fields=["payload_index", "payloads"])
    now = timezone.now()
    for turn in ExplainabilityTurn.objects.filter(pk__in=turns).only("context_report"):
        if turn.context_report and turn.context_report.get("requests"):
            turn.context_report = {**turn.context_report, "requests": []}
            turn.save(update_fields=["context_report"])
    ExplainabilityTurn.objects.filter(pk__in=turns).update(exchanges_removed_at=now)


def _without_exchanges(payload: Payload) -> Payload:
    """Return a payload without its requests; an empty one if it was cut and may hold requests."""
    if b'"requests"' not in payload.text:
        return payload
    if len(payload.text) < payload.size:
        return Payload(payload.ref, b"", payload.size)
    value = json.loads(payload.text)
    if not (value.get("meta") or {}).pop("requests", None):
        return payload
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    return Payload(payload.ref, text, len(text))
