"""Payloads of a turn's nodes: compressed when written, removed when old if the operator wants that [O-5, O-22]."""

import json
import zlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from sessions_app.actions.sessions import TURNS_A_TRANSACTION
from sessions_app.models import ExplainabilityTurn, TurnDetail

_COMPRESSION_LEVEL, _COMPRESSION_MEMORY = 1, 5
"""zlib's; of its memory a payload of some kilobytes needs little, and to prepare the rest took longer than the work."""


def detail_row(turn: ExplainabilityTurn, ref: str, parts: Mapping[str, Any]) -> TurnDetail:
    """Give the unsaved row of one payload `{input, output, error, meta}` [G-13].

    Beyond the setting's size the text is cut, and the row says by how many bytes [O-22].
    """
    payload = {key: parts.get(key) for key in ("input", "output", "error", "meta")}
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    kept = text[: settings.MRPVM_MAX_DETAIL_BYTES]
    return TurnDetail(
        turn=turn,
        ref=ref,
        size=len(text),
        cut_bytes=len(text) - len(kept),
        body=_compressed(kept),
    )


def _compressed(data: bytes) -> bytes:
    window_bits = max(9, min(15, len(data).bit_length()))
    packer = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, window_bits, _COMPRESSION_MEMORY)
    return packer.compress(data) + packer.flush()


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
    TurnDetail.objects.filter(turn__in=turns).update(body=b"")
    return ExplainabilityTurn.objects.filter(pk__in=turns).update(payloads_removed_at=now)
