"""Store failures of KB plugins outside of turns, for the operator."""

import logging

from django.conf import settings
from django.db import DatabaseError, transaction

from mrpvm.llm.redaction import without_secrets
from sessions_app.models import PluginFailure

_ERROR_CHARS = 4_000

logger = logging.getLogger(__name__)


def record_failure(
    plugin_id: str,
    event: str,
    error: BaseException | str,
    *,
    session_id: str = "",
    kb_id: str = "",
    source_id: str = "",
) -> None:
    """Store and log a plugin's failure; never raises, because no caller depends on it.

    Effects: one row; an error longer than 4,000 characters is cut, and says so.
    """
    raised = error if isinstance(error, BaseException) else None
    said = f"{type(raised).__name__}: {raised}" if raised else str(error)
    logger.error(
        "plugin %s failed on %s: %s", plugin_id, " ".join(filter(None, (event, source_id))), said, exc_info=raised
    )
    said = without_secrets(said).replace("\0", " ")
    if len(said) > _ERROR_CHARS:
        said = f"{said[:_ERROR_CHARS]}… (cut; it has {len(said)} characters)"
    try:
        with transaction.atomic():
            PluginFailure.objects.create(
                plugin_id=plugin_id, event=event, error=said, session_id=session_id, kb_id=kb_id, source_id=source_id
            )
    except DatabaseError:
        logger.exception("the failure of plugin %s could not be kept", plugin_id)


def sweep_failures() -> int:
    """Remove all but the newest failures; return how many."""
    limit = settings.MRPVM_MAX_PLUGIN_FAILURES
    oldest_kept = PluginFailure.objects.values_list("pk", flat=True)[limit - 1 : limit].first()
    return 0 if oldest_kept is None else PluginFailure.objects.filter(pk__lt=oldest_kept).delete()[0]
