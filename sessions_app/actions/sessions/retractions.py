"""Retract a unit from a session, restore it, or replace it by a correction.

A session's own unit is removed from the session. A unit of the mounted base or the draft is hidden in the session's
journal, so that other sessions still see it. Turns that saw it can still be run again.
"""

from collections.abc import Sequence
from typing import Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from mrpvm.errors import Conflict, InvalidInput, NotFound
from mrpvm.values import KnowledgeUnit
from sessions_app import events
from sessions_app.actions.knowledge.notifications import notify_on_commit
from sessions_app.actions.sessions.context_units import added_event, known_hashes
from sessions_app.actions.sessions.slots import lock_idle_session
from sessions_app.actions.settings.audit import record_of_session
from sessions_app.actions.settings.quotas import within_quotas
from sessions_app.layers import hide_units, index_units, not_removed, show_units, take_out_units
from sessions_app.models import AuditKind, ContextUnit, LayerUnit, Session, UnitEvent
from sessions_app.models.knowledge.unit_fields import UnitFields
from sessions_app.queries.knowledge.provenance import retracted_own, seen_below

Step, State = UnitEvent.Step, ContextUnit.State
_QUOTED_CHARS = 120


@transaction.atomic
def retract_unit(session: Session, unit_id: str, actor: User | None = None) -> Session:
    """Retract a unit from the session; return the session as it now is.

    Raises:
        NotFound: UNIT_NOT_FOUND, the session does not see such a unit now.
        Conflict: TURN_IN_PROGRESS.
        NotFound, Expired: the session is over.

    Effects: the unit's row with its index, or a hiding in the journal; a ledger row; `units.changed`, activity.
    """
    locked = lock_idle_session(session.pk)
    _take_out(locked, unit_id, _by("retracted", actor), _by("hidden from this session", actor))
    return _finish(locked, unit_id, "retracted")


@transaction.atomic
def restore_unit(session: Session, unit_id: str, actor: User | None = None) -> Session:
    """Undo a retraction; return the session as it now is.

    Units of other sources that were derived from a hidden unit stay hidden until their source is stored again.

    Raises:
        Conflict: the session knows the unit, or another that says the same, or its text is no
            longer stored; TURN_IN_PROGRESS.
        NotFound, Expired: the session is over.

    Effects: as for `retract_unit`.
    """
    locked = lock_idle_session(session.pk)
    with within_quotas(locked.project):
        own = retracted_own(locked, unit_id)
        if own is not None:
            _add(locked, [own.to_value()], _by("restored", actor))
        elif not show_units(locked.journal, seen_below(locked, unit_id)):
            raise _not_retracted(unit_id)
        else:
            _note(locked, unit_id, Step.COMMITTED, "kb", _by("shown again", actor))
        return _finish(locked, unit_id, "restored")


@transaction.atomic
def replace_unit(session: Session, unit_id: str, units: Sequence[KnowledgeUnit], actor: User | None = None) -> Session:
    """Retract a unit and add the units of its correction; return the session as it now is.

    Raises:
        InvalidInput: the session knows all of it already.
        Conflict: the session has no room for them.
        Unavailable: QUOTA_FULL, the project has none.
        NotFound, Conflict, Expired: as for `retract_unit`; nothing is changed.

    Effects: as for `retract_unit`, and unit rows with their index, a ledger row each; afterwards `session-kus-added`.
    """
    locked = lock_idle_session(session.pk)
    with within_quotas(locked.project):
        known = known_hashes(locked, units)
        fresh = list({unit.hash: unit for unit in units if unit.hash not in known}.values())
        if not fresh:
            raise InvalidInput("The session knows that already; nothing was changed.")
        said = _take_out(locked, unit_id, _by("corrected", actor), _by("corrected for this session", actor))
        _add(locked, fresh, f"{_by('correction', actor)} of “{said[:_QUOTED_CHARS]}”", corrects=unit_id)
        notify_on_commit(added_event(locked, fresh, "committed-session", "correction"))
        return _finish(locked, unit_id, "corrected")


def _by(what: str, actor: User | None) -> str:
    return f"{what} by {actor.get_username()}" if actor else what


def _take_out(session: Session, unit_id: str, own_reason: str, hidden_reason: str) -> str:
    """Remove the locked session's own unit, or hide one of a layer below; return its text."""
    own = session.context_units.filter(unit_id=unit_id, state=State.COMMITTED).first()
    if own is not None:
        take_out_units(session, [unit_id])
        own.delete()
        session.unit_count -= 1
        _note(session, unit_id, Step.REMOVED, "session", own_reason, own.text)
        return own.text
    seen = not_removed(session.journal, seen_below(session, unit_id)).first()
    if seen is None:
        raise NotFound(f"The session does not see a unit '{unit_id}' now.", code="UNIT_NOT_FOUND")
    # Another unit with the same words would be shown in its place.
    hide_units(session.journal, _alike(session, seen))
    _note(session, unit_id, Step.REMOVED, "kb", hidden_reason, seen.text)
    return seen.text


def _alike(session: Session, unit: UnitFields) -> QuerySet[LayerUnit]:
    return LayerUnit.objects.filter(layer_id__in=session.journal.ancestry, hash=unit.hash)


def _add(session: Session, units: Sequence[KnowledgeUnit], reason: str, corrects: str = "") -> None:
    if known_hashes(session, units):
        raise Conflict("The session knows a unit that says the same.")
    limit = settings.MRPVM_MAX_SESSION_UNITS
    if session.unit_count + len(units) > limit:
        raise Conflict(f"A session holds {limit} units at most.", details={"limit": limit})
    now = timezone.now()
    ContextUnit.objects.bulk_create(
        ContextUnit.from_value(unit, session=session, state=State.COMMITTED, committed_at=now, turn_id=turn_id)
        for unit, turn_id in _with_turns(session, units)
    )
    index_units(session.journal, units)
    session.unit_count += len(units)
    for unit in units:
        _note(session, unit.id, Step.COMMITTED, "session", reason, unit.text, corrects)


def _with_turns(session: Session, units: Sequence[KnowledgeUnit]) -> list[tuple[KnowledgeUnit, int | None]]:
    """Return each unit with the key of the turn that staged it, or None."""
    staged = session.unit_events.filter(unit_id__in=[unit.id for unit in units], step=Step.STAGED)
    turns = dict(staged.order_by("pk").values_list("unit_id", "turn_id"))
    return [(unit, turns.get(unit.id)) for unit in units]


def _note(
    session: Session, unit_id: str, step: str, store: str, reason: str, text: str = "", corrects: str = ""
) -> None:
    UnitEvent.objects.create(
        session=session, turn=None, unit_id=unit_id, step=step, store=store, reason=reason, text=text, corrects=corrects
    )


def _finish(session: Session, unit_id: str, change: Literal["retracted", "restored", "corrected"]) -> Session:
    session.touch()
    session.save(update_fields=["unit_count", *Session.ACTIVITY_FIELDS])
    events.append(session, ("units.changed", events.UnitChanged(unit_id=unit_id, change=change)))
    record_of_session(AuditKind(f"unit.{change}"), session, unit_id=unit_id)
    return session


def _not_retracted(unit_id: str) -> Conflict:
    return Conflict(f"The unit '{unit_id}' is not retracted, or no longer stored.")
