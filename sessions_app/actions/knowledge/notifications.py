"""Life-cycle notifications to KB plugins, after the transaction that caused them."""

from functools import partial

from django.db import transaction

from mrpvm import registry
from mrpvm.contracts import BaseSnapshot, KBRetriever, LifecycleEvent, PluginError, RepositoryMeta
from sessions_app import events
from sessions_app.actions.settings.plugin_failures import record_failure
from sessions_app.models import KnowledgeBase, Session
from sessions_app.plugin_threads import Patience, call_in_time, unhurried

_REPLY_CHARS = 80


def notify_on_commit(event: LifecycleEvent, patience: Patience = unhurried) -> None:
    """Notify every KB plugin that handles events, in registry order, once the running transaction is committed.

    A plugin that fails, is late or has no time left is recorded and skipped. The change stays, and the other plugins
    are notified.
    """
    transaction.on_commit(lambda: notify(event, patience))


def notify(event: LifecycleEvent, patience: Patience = unhurried) -> None:
    """Notify every KB plugin that handles events now, for callers without a running transaction.

    Raises: whatever `patience` raises; the remaining plugins are then not notified.
    """
    for plugin in registry.installed.kb_retrievers():
        if not plugin.descriptor.heeds_events:
            continue
        failed: BaseException | str | None
        try:
            tell = partial(_tell, plugin, event)
            is_quick = plugin.descriptor.is_quick
            failed = tell() if is_quick else call_in_time(plugin.descriptor, tell, patience)
        except TimeoutError as late:
            failed = late
        if failed is not None:
            record_failure(
                plugin.descriptor.id,
                event.event_type,
                failed,
                session_id=event.session_id or "",
                kb_id=event.kb_id or "",
            )


def _tell(plugin: KBRetriever, event: LifecycleEvent) -> BaseException | str | None:
    """Return the failure of the plugin, None if there is none; its exceptions are returned, not raised."""
    try:
        reply = plugin.on_session_event(event)
    except (Exception, SystemExit) as error:
        return error
    if isinstance(reply, PluginError):
        return f"{reply.code}: {reply.message}"
    if reply in ("accepted", "skipped"):
        return None
    if reply == "error":
        return "it gave no reason"
    return f"it replied {str(reply)[:_REPLY_CHARS]!r}; it may reply 'accepted', 'skipped', 'error' or a PluginError"


def session_created(session: Session, base: KnowledgeBase) -> LifecycleEvent:
    """Return the event of a new session, sent before the event of its first mount; `base` is the requested base."""
    return LifecycleEvent(event_type="session-created", session_id=session.session_id, requested_kb_id=base.kb_id)


def kb_loaded(
    session: Session,
    base: KnowledgeBase,
    *,
    reason: str,
    previous: KnowledgeBase | None = None,
    requested_kb_id: str | None = None,
) -> LifecycleEvent:
    """Return the event of a mount, whatever caused it; `session.draft` is the draft on the mounted head."""
    return LifecycleEvent(
        event_type="kb-loaded",
        session_id=session.session_id,
        kb_id=base.kb_id,
        kb_name=base.name,
        requested_kb_id=requested_kb_id,
        previous_kb_id=previous.kb_id if previous else None,
        previous_kb_name=previous.name if previous else None,
        repository_meta=_repository_meta(base),
        workspace_stats=events.draft_facts(session),
        snapshot=_snapshot(base),
        reason=reason,
    )


def kb_saved(base: KnowledgeBase, *, session: Session | None, reason: str) -> LifecycleEvent:
    """Return the event of a change that was saved into an existing base."""
    return _changed("kb-saved", base, session, reason)


def kb_forked(base: KnowledgeBase, *, session: Session | None, reason: str) -> LifecycleEvent:
    """Return the event of a new base made from a session or, without one, from another base."""
    return _changed("kb-forked", base, session, reason)


def _changed(event_type: str, base: KnowledgeBase, session: Session | None, reason: str) -> LifecycleEvent:
    return LifecycleEvent(
        event_type=event_type,
        session_id=session.session_id if session else None,
        kb_id=base.kb_id,
        kb_name=base.name,
        repository_meta=_repository_meta(base),
        workspace_stats=events.draft_facts(session) if session else None,
        snapshot=_snapshot(base),
        reason=reason,
    )


def _repository_meta(base: KnowledgeBase) -> RepositoryMeta:
    return {
        "kb_id": base.kb_id,
        "name": base.name,
        "created_at": base.created_at.isoformat(),
        "updated_at": base.updated_at.isoformat(),
        "parent_kb_id": base.parent.kb_id if base.parent else None,
        "is_default": base.is_default,
        "revision": base.revision,
        "source_count": base.source_count,
        "unit_count": base.head.unit_count,
    }


def _snapshot(base: KnowledgeBase) -> BaseSnapshot:
    return {"layer_id": base.head_id, "revision": base.revision, "unit_count": base.head.unit_count}
