"""Life-cycle notifications to KB plugins, after the transaction that caused them."""

from functools import partial

from django.db import transaction

from mrpvm import registry
from mrpvm.contracts import KBRetriever, LifecycleEvent, PluginError
from sessions_app.actions.settings.plugin_failures import record_failure
from sessions_app.plugin_threads import Patience, call_in_time, unhurried


def notify_on_commit(event: LifecycleEvent, patience: Patience = unhurried) -> None:
    """Notify every KB plugin that heeds events, in registry order, once the running transaction is committed.

    A plugin that fails, is late or has no time left is recorded and skipped: it neither undoes the change nor stops
    the others.
    """
    transaction.on_commit(lambda: notify(event, patience))


def notify(event: LifecycleEvent, patience: Patience = unhurried) -> None:
    """Notify every KB plugin that heeds events now; for callers whose transaction is over.

    Raises: what `patience` raises; the plugins that are left do not hear of it then.
    """
    for plugin in registry.installed.kb_retrievers():
        if not plugin.descriptor.heeds_events:
            continue
        failed: Exception | str | None
        try:
            tell = partial(_tell, plugin, event)
            is_quick = plugin.descriptor.is_quick
            failed = tell() if is_quick else call_in_time(plugin.descriptor, tell, patience)
        except TimeoutError as late:
            failed = late
        if failed is not None:
            payload = {"session_id": event.session_id or "", "kb_id": event.kb_id or ""}
            record_failure(plugin.descriptor.id, event.event_type, failed, **payload)


def _tell(plugin: KBRetriever, event: LifecycleEvent) -> Exception | str | None:
    """Return what went wrong, None if nothing did; an exception is given too, so that only a caller's own are
    raised.
    """
    try:
        reply = plugin.on_session_event(event)
    except Exception as error:
        return error
    if isinstance(reply, PluginError):
        return f"{reply.code}: {reply.message}"
    return "it gave no reason" if reply == "error" else None
