"""Life-cycle notifications to KB plugins, after the transaction that caused them [PL-42, PL-43, T-41]."""

import logging

from django.db import transaction

from mrpvm import registry
from mrpvm.contracts import LifecycleEvent

logger = logging.getLogger(__name__)


def notify_on_commit(event: LifecycleEvent) -> None:
    """Tell every registered KB plugin, in registry order, once the running transaction is committed.

    A plugin that fails is recorded in the log and skipped: it neither undoes the change nor stops the others.
    """
    transaction.on_commit(lambda: notify(event))


def notify(event: LifecycleEvent) -> None:
    """Tell every registered KB plugin now; for callers whose transaction is over."""
    for plugin in registry.installed.kb_retrievers():
        try:
            plugin.on_session_event(event)
        except Exception:
            logger.exception("plugin %s failed on %s", plugin.descriptor.id, event.event_type)
