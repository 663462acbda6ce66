"""Responses to writes with an `Idempotency-Key`: each is carried out once and its response repeated."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput
from sessions_app.models import KeptAnswer, Project

KEY_CHARS = 255
KEPT_HOURS = 24
"""How long the answer to a key is kept."""
_SWEPT_AT_ONCE = 500


@transaction.atomic
def claim_key(project: Project, caller: str, key: str, fingerprint: str) -> tuple[KeptAnswer, bool]:
    """Return the row of a caller's key, and whether it is new and so has no response yet.

    Raises:
        InvalidInput: IDEMPOTENCY_KEY_REUSED, the key was sent with another request.
        Conflict: IDEMPOTENCY_KEY_IN_USE, the first request is still running; IDEMPOTENCY_KEY_UNFINISHED, it never got a
            response, so it is not known whether it was carried out.
    """
    owner = {"project": project, "caller": caller, "key": key}
    KeptAnswer.objects.filter(**owner, created_at__lt=_kept_since()).delete()
    kept, is_new = KeptAnswer.objects.get_or_create(**owner, defaults={"fingerprint": fingerprint})
    if is_new:
        return kept, True
    if kept.fingerprint != fingerprint:
        raise InvalidInput(
            "This Idempotency-Key was sent with another request. Use a new key for a new request.",
            code="IDEMPOTENCY_KEY_REUSED",
        )
    if kept.status is None:
        raise _unanswered(kept)
    return kept, False


def keep_answer(kept: KeptAnswer, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Store the answer of a claimed key."""
    KeptAnswer.objects.filter(pk=kept.pk).update(status=status, headers=dict(headers), body=body)


def release_key(kept: KeptAnswer) -> None:
    """Delete the row of a request that was refused before it did anything, so that it can be sent again."""
    KeptAnswer.objects.filter(pk=kept.pk).delete()


def sweep_kept_answers() -> int:
    """Remove answers that are older than a day, some at once; return how many."""
    outdated = KeptAnswer.objects.filter(created_at__lt=_kept_since()).order_by("created_at")
    keys = list(outdated.values_list("pk", flat=True)[:_SWEPT_AT_ONCE])
    return KeptAnswer.objects.filter(pk__in=keys).delete()[0] if keys else 0


def _kept_since() -> datetime:
    return timezone.now() - timedelta(hours=KEPT_HOURS)


def _unanswered(kept: KeptAnswer) -> Conflict:
    longest_ms = (
        settings.MRPVM_MAX_WAIT_MS
        + max(settings.MRPVM_REQUEST_TIMEOUT_MS, settings.MRPVM_INGEST_TIMEOUT_MS)
        + settings.MRPVM_LEASE_EXTRA_MS
    )
    if timezone.now() - kept.created_at < timedelta(milliseconds=longest_ms):
        return Conflict(
            "The first request under this Idempotency-Key is still being worked on. Send it again for its answer.",
            code="IDEMPOTENCY_KEY_IN_USE",
        )
    return Conflict(
        "The first request under this Idempotency-Key got no answer: the server was stopped under it, or could not"
        " store the answer. Look whether it was carried out, then use a new key.",
        code="IDEMPOTENCY_KEY_UNFINISHED",
    )
