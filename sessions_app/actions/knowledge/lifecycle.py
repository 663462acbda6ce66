"""Notifications of KB plugins about mounts, saves and forks, as envelopes."""

from collections.abc import Mapping
from typing import Any

from mrpvm.contracts import LifecycleEvent
from sessions_app.models import KnowledgeBase, Session


def session_created(session: Session, base: KnowledgeBase) -> LifecycleEvent:
    """Return the event of a new session, which goes before the one of its first mount; `base` is what was asked for."""
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
        workspace_stats=_workspace_stats(session),
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
        workspace_stats=_workspace_stats(session) if session else None,
        snapshot=_snapshot(base),
        reason=reason,
    )


def _repository_meta(base: KnowledgeBase) -> Mapping[str, Any]:
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


def _workspace_stats(session: Session) -> Mapping[str, Any]:
    draft = session.draft
    return {"source_count": draft.source_count, "unit_count": draft.unit_count, "dirty": session.is_dirty}


def _snapshot(base: KnowledgeBase) -> Mapping[str, Any]:
    """Return what identifies the content: a sealed layer never changes, so its id is its version."""
    return {"layer_id": base.head_id, "revision": base.revision, "unit_count": base.head.unit_count}
