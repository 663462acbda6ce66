"""Life-cycle notifications to KB plugins, after the transaction that caused them [PL-42, PL-43, T-41]."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from django.db import transaction

from mrpvm import registry
from mrpvm.contracts import Descriptor, LifecycleEvent, PluginError
from sessions_app.actions.plugin_failures import record_failure


class PluginCall(Protocol):
    """Gives what a plugin's call returns; raises what it raises, TimeoutError when it takes too long [K-19]."""

    def __call__[Reply](self, descriptor: Descriptor, call: Callable[[], Reply]) -> Reply: ...


def _here[Reply](descriptor: Descriptor, call: Callable[[], Reply]) -> Reply:
    return call()


_call: PluginCall = _here


def call_plugins_by(call: PluginCall) -> None:
    """Have plugins called in another way than on the caller's own thread; the composition root says how."""
    global _call
    _call = call


def notify_on_commit(event: LifecycleEvent) -> None:
    """Tell every registered KB plugin, in registry order, once the running transaction is committed.

    A plugin that fails or is late is recorded and skipped: it neither undoes the change nor stops the others.
    """
    transaction.on_commit(lambda: notify(event))


def notify(event: LifecycleEvent) -> None:
    """Tell every registered KB plugin now; for callers whose transaction is over."""
    for plugin in registry.installed.kb_retrievers():
        failed: Exception | str | None = None
        try:
            reply = _call(plugin.descriptor, partial(plugin.on_session_event, event))
            if isinstance(reply, PluginError):
                failed = f"{reply.code}: {reply.message}"
            elif reply == "error":
                failed = "it gave no reason"
        except Exception as error:
            failed = error
        if failed is not None:
            told = {"session_id": event.session_id or "", "kb_id": event.kb_id or ""}
            record_failure(plugin.descriptor.id, event.event_type, failed, **told)
