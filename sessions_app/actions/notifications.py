"""Life-cycle notifications to KB plugins, after the transaction that caused them [PL-42, PL-43, T-41]."""

import math
from collections.abc import Callable
from functools import partial
from typing import Protocol

from django.db import transaction

from mrpvm import registry
from mrpvm.contracts import Descriptor, KBRetriever, LifecycleEvent, PluginError
from sessions_app.actions.plugin_failures import record_failure

type Patience = Callable[[], float]
"""Gives how many milliseconds are left for all plugins together; asked while they work, and ends that by raising."""


def unhurried() -> float:
    """Leave every plugin all of its own time."""
    return math.inf


class PluginCall(Protocol):
    """Gives what a plugin's call returns; raises what it raises, TimeoutError when it takes too long [K-19]."""

    def __call__[Reply](self, descriptor: Descriptor, call: Callable[[], Reply], patience: Patience) -> Reply: ...


def _here[Reply](descriptor: Descriptor, call: Callable[[], Reply], patience: Patience) -> Reply:
    return call()


_call: PluginCall = _here


def call_plugins_by(call: PluginCall) -> None:
    """Have plugins called in another way than on the caller's own thread; the composition root says how."""
    global _call
    _call = call


def notify_on_commit(event: LifecycleEvent, patience: Patience = unhurried) -> None:
    """Tell every registered KB plugin, in registry order, once the running transaction is committed.

    A plugin that fails, is late or has no time left is recorded and skipped: it neither undoes the change nor stops
    the others.
    """
    transaction.on_commit(lambda: notify(event, patience))


def notify(event: LifecycleEvent, patience: Patience = unhurried) -> None:
    """Tell every registered KB plugin now; for callers whose transaction is over.

    Raises: what `patience` raises; the plugins that are left do not hear of it then.
    """
    for plugin in registry.installed.kb_retrievers():
        failed: Exception | str | None
        try:
            call = _here if plugin.descriptor.is_quick else _call
            failed = call(plugin.descriptor, partial(_tell, plugin, event), patience)
        except TimeoutError as late:
            failed = late
        if failed is not None:
            told = {"session_id": event.session_id or "", "kb_id": event.kb_id or ""}
            record_failure(plugin.descriptor.id, event.event_type, failed, **told)


def _tell(plugin: KBRetriever, event: LifecycleEvent) -> Exception | str | None:
    """Give what went wrong, None if nothing did; an exception is given too, so that only a caller's own are raised."""
    try:
        reply = plugin.on_session_event(event)
    except Exception as error:
        return error
    if isinstance(reply, PluginError):
        return f"{reply.code}: {reply.message}"
    return "it gave no reason" if reply == "error" else None
