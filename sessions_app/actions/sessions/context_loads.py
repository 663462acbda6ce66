"""Context loads: sources added to a session without messages and without a change of the draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.knowledge.indexing import IndexEntry
from mrpvm.sources.source import Rejection
from mrpvm.values import KnowledgeUnit
from sessions_app import events
from sessions_app.actions.knowledge.notifications import notify_on_commit
from sessions_app.actions.knowledge.quarantine import replace_rejections
from sessions_app.actions.knowledge.source_rows import check_source_name
from sessions_app.actions.sessions.context_units import added_event, known_hashes
from sessions_app.actions.sessions.slots import change_idle_session
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.layers import (
    OnBatch,
    fill,
    index_units,
    journal_source,
    lock_staged_on,
    put_under_journal,
    remove_units,
    staging,
    take_out_loads,
    take_out_units,
    unwatched,
)
from sessions_app.models import ContextUnit, KnowledgeLayer, LayerUnit, Session, UnitEvent
from sessions_app.models.knowledge.unit_fields import UNIT_COLUMNS
from sessions_app.models.named_sql import insert_copies

State = ContextUnit.State
Step = UnitEvent.Step


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLoad:
    """The result of a context load; `added` are the stored units."""

    session: Session
    added: tuple[KnowledgeUnit, ...]
    unit_count: int
    dropped_count: int

    @property
    def added_count(self) -> int:
        """Return how many were stored."""
        return len(self.added)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A source to load: its units, and its rejected chunks; `entries` as in `NewSource`.

    With `replaces`, the units of an earlier load of the source id are removed first.
    """

    units: Sequence[KnowledgeUnit]
    name: str
    source_id: str
    replaces: bool = True
    entries: Mapping[str, IndexEntry] = field(default_factory=dict)
    rejections: Sequence[Rejection] = ()


def add_context(session: Session, material: Material, *, watch: OnBatch = unwatched, wait_ms: int = 0) -> ContextLoad:
    """Commit units to the session without a turn: all of them, or none.

    Units beyond the cap are refused and counted. A large load becomes a layer of its own below the journal.

    Args:
        watch: called between transactions; what it raises ends the load, and nothing is stored.
        wait_ms: how long to wait for a running turn before the last of them.

    Raises:
        InvalidInput: as for `check_source_name`.
        Conflict, Expired, NotFound: the session is busy or over; nothing is stored.

    Effects: rows, index, ledger, `context.loaded`, activity; afterwards one notification.
    """
    check_source_name(material.name)
    by_hash: dict[str, KnowledgeUnit] = {}
    for unit in material.units:
        by_hash.setdefault(unit.hash, unit)
    fresh = list(by_hash.values())
    if len(fresh) <= settings.MRPVM_UNITS_AT_ONCE:
        return change_idle_session(session.pk, partial(_add_at_once, material=material, fresh=fresh), wait_ms)
    top = KnowledgeLayer.objects.get(children=session.journal_id)
    with staging(top) as layer:
        kept = fresh[: settings.MRPVM_MAX_SESSION_UNITS]
        fill(layer, kept, journal_source(session, layer), watch, material.entries)
        publish = partial(_publish, material=material, layer_pk=layer.pk, fresh_count=len(fresh))
        return change_idle_session(session.pk, publish, wait_ms)


def _add_at_once(locked: Session, material: Material, fresh: Sequence[KnowledgeUnit]) -> ContextLoad:
    with within_quotas(locked.project):
        _remove_replaced(locked, material)
        known = known_hashes(locked, fresh)
        unknown = [unit for unit in fresh if unit.hash not in known]
        kept = unknown[: _room(locked)]
        now = timezone.now()
        ContextUnit.objects.bulk_create(
            ContextUnit.from_value(unit, session=locked, state=State.COMMITTED, committed_at=now) for unit in kept
        )
        index_units(locked.journal, kept)
        _record(locked, Step.COMMITTED.value, _loaded(locked, material.source_id), material.name)
        return _finish(locked, material, kept, len(unknown) - len(kept))


def _publish(locked: Session, material: Material, layer_pk: int, fresh_count: int) -> ContextLoad:
    """Put a staged layer under the locked session's journal, and add its units to the session."""
    with within_quotas(locked.project):
        _remove_replaced(locked, material)
        below = locked.journal.parent
        assert below is not None  # noqa: S101  (a journal lies on its draft)
        layer = lock_staged_on(layer_pk, below)
        known = locked.context_units.filter(state=State.COMMITTED, hash__in=layer.units.values("hash"))
        staged = LayerUnit.objects.filter(layer=layer).order_by("pk")
        known_count = remove_units(layer, _ids(staged.filter(hash__in=known.values("hash"))))
        remove_units(layer, _ids(staged)[_room(locked) :])
        _copy_units(locked, layer)
        put_under_journal(locked, layer)
        kept_ids = set(_ids(LayerUnit.objects.filter(layer=layer)))
        _record(locked, Step.COMMITTED.value, _loaded(locked, material.source_id), material.name)
        kept = [unit for unit in material.units if unit.id in kept_ids]
        return _finish(locked, material, kept, fresh_count - known_count - len(kept))


def _remove_replaced(locked: Session, material: Material) -> None:
    if material.replaces:
        _remove_loaded(locked, material.source_id)


def _finish(locked: Session, material: Material, kept: Sequence[KnowledgeUnit], dropped_count: int) -> ContextLoad:
    replace_rejections(material.rejections, locked, material.source_id, material.name)
    locked.unit_count += len(kept)
    locked.touch()
    locked.save(update_fields=["unit_count", *Session.ACTIVITY_FIELDS])
    events.append(locked, ("context.loaded", events.ContextLoaded(source_name=material.name, unit_count=len(kept))))
    if kept:
        notify_on_commit(added_event(locked, kept, "committed-session", "session-context-api"))
    return ContextLoad(session=locked, added=tuple(kept), unit_count=len(material.units), dropped_count=dropped_count)


def _room(session: Session) -> int:
    return max(0, settings.MRPVM_MAX_SESSION_UNITS - session.unit_count)


def _remove_loaded(session: Session, source_id: str) -> None:
    """Remove the units of an earlier load of this source id; the caller saves the session's row.

    The layer of a large load is removed from the stack as a whole. A layer written by a mount or a fork also holds
    other units of the session.
    """
    loaded = _loaded(session, source_id)
    unit_ids = _ids(loaded)
    if not unit_ids:
        return
    take_out_loads(session, source_id)
    take_out_units(session, unit_ids)
    _record(session, Step.REMOVED.value, loaded, "loaded again")
    loaded.delete()
    session.unit_count -= len(unit_ids)


def _loaded(session: Session, source_id: str) -> QuerySet[ContextUnit]:
    """Return the session's units from context loads of this source id."""
    return ContextUnit.objects.filter(session=session, state=State.COMMITTED, turn__isnull=True, source_id=source_id)


def _ids(units: QuerySet[Any]) -> list[str]:
    return list(units.values_list("unit_id", flat=True))


def _copy_units(session: Session, layer: KnowledgeLayer) -> None:
    """Copy the layer's units to the session."""
    now = _now()
    own = {"session_id": session.pk, "state": State.COMMITTED.value, "created_at": now, "committed_at": now}
    insert_copies(ContextUnit, LayerUnit.objects.filter(layer=layer).order_by("pk"), UNIT_COLUMNS, own)


def _record(session: Session, step: str, units: QuerySet[ContextUnit], reason: str) -> None:
    """Write a ledger row for each unit."""
    own = {
        "session_id": session.pk,
        "step": step,
        "store": "session",
        "execution_id": "",
        "reason": reason,
        "text": "",
        "corrects": "",
        "created_at": _now(),
    }
    insert_copies(UnitEvent, units.order_by("pk"), ["unit_id"], own)


def _now() -> Any:
    return connection.ops.adapt_datetimefield_value(timezone.now())
