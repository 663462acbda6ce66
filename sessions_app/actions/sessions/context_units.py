"""The session's units: staged by a running turn, kept or dropped when it ends."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.conf import settings
from django.utils import timezone

from mrpvm.contracts import LifecycleEvent
from mrpvm.english.context.corrections import FORGET, taken_back, takes_back
from mrpvm.knowledge.units import promotable
from mrpvm.values import KnowledgeUnit
from sessions_app.actions.knowledge.notifications import notify, notify_on_commit
from sessions_app.layers import index_units, take_out_units
from sessions_app.models import ContextUnit, ExplainabilityTurn, Session, UnitEvent
from sessions_app.models.named_sql import Write, insertions, look_up, pending_commitment
from sessions_app.plugin_threads import Patience, unhurried

Step = UnitEvent.Step
State = ContextUnit.State


@dataclass(frozen=True, slots=True)
class Staging:
    """Units that one call of a seed detector staged in a running turn."""

    execution_id: str
    units: tuple[KnowledgeUnit, ...]


def notify_staged(turn: ExplainabilityTurn, units: Sequence[KnowledgeUnit], patience: Patience = unhurried) -> None:
    """Notify KB plugins of staged units, `session-kus-added` with scope current-turn, within the turn's time."""
    notify(added_event(turn.session, units, "current-turn", "seed-detection"), patience)


def stage_units(turn: ExplainabilityTurn, stagings: Sequence[Staging]) -> list[Write]:
    """Return the writes that add units to the session's pending ones, with a ledger row each.

    Only this turn's units are pending, because those of earlier turns are removed when a turn takes its slot.
    """
    pending = [ContextUnit.from_value(unit, session=turn.session, turn=turn) for unit in _units(stagings)]
    return [*insertions(pending), *insertions(_staged_steps(turn, stagings))]


def unstage_units(turn: ExplainabilityTurn, stagings: Iterable[Staging]) -> None:
    """Delete the rows that `stage_units` may have written for these units."""
    ids = [unit.id for unit in _units(stagings)]
    turn.unit_events.filter(unit_id__in=ids).delete()
    turn.context_units.filter(unit_id__in=ids, state=State.PENDING).delete()


def _units(stagings: Iterable[Staging]) -> list[KnowledgeUnit]:
    return [unit for staging in stagings for unit in staging.units]


def _staged_steps(turn: ExplainabilityTurn, stagings: Iterable[Staging]) -> list[UnitEvent]:
    return [
        step
        for staging in stagings
        for step in _steps(turn, Step.STAGED, staging.units, execution_id=staging.execution_id)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The outcome of a turn's units when it commits."""

    added: tuple[KnowledgeUnit, ...] = ()
    deduplicated: tuple[KnowledgeUnit, ...] = ()
    discarded: tuple[KnowledgeUnit, ...] = ()
    evicted: tuple[str, ...] = ()

    def as_record(self) -> dict[str, list[str]]:
        """Return the change as the explainability entry stores it."""
        return {
            "added": [unit.id for unit in self.added],
            "deduplicated": [unit.id for unit in self.deduplicated],
            "discarded": [unit.id for unit in self.discarded],
            "evicted": list(self.evicted),
        }


NO_PROMOTION = Promotion()


def judge_units(session: Session, staged: Sequence[KnowledgeUnit], message: str) -> Promotion:
    """Return the outcome of the units that the turn staged; must run inside the commit's transaction.

    A unit with a known hash is not added again, unless the session was asked to forget it since. Turn-local guidance is
    dropped unless everything is to be kept. At the cap the oldest chat units are evicted.
    Effects: `unit_count` on the unsaved session; units that are stated again or evicted are removed from the locked
    session.
    """
    known = known_hashes(session, staged)
    replaced = _taken_back(session, known) if known else []
    kept, dropped = promotable(
        staged,
        message,
        known_hashes=known - {row.hash for row in replaced},
        keep_all_guidance=settings.MRPVM_GUIDANCE_PROMOTION == "all",
    )
    evicted = (*_evict(session, replaced, "told again"), *_make_room(session, len(kept)))
    session.unit_count += len(kept)
    return Promotion(
        added=tuple(kept),
        deduplicated=tuple(item.unit for item in dropped if item.reason == "duplicate"),
        discarded=tuple(item.unit for item in dropped if item.reason != "duplicate"),
        evicted=evicted,
    )


def promote_units(
    turn: ExplainabilityTurn, session: Session, promotion: Promotion, staged_count: int, unwritten: Sequence[Staging]
) -> list[Write]:
    """Drop or index the turn's units; return the writes that commit the kept ones and add the ledger rows.

    Both this and the writes must run in the transaction that locked the session.

    Args:
        staged_count: how many units the turn staged.
        unwritten: staged units that were not written as pending, because the turn was quick.

    Effects: unit rows, journal index.
    """
    new = _units(unwritten)
    has_pending = len(new) < staged_count
    dropped = (*promotion.deduplicated, *promotion.discarded)
    if dropped and has_pending:
        pending = ContextUnit.objects.filter(turn=turn, state=State.PENDING)
        pending.filter(unit_id__in=[unit.id for unit in dropped]).delete()
    if promotion.added:
        index_units(session.journal, promotion.added)
    steps = [
        *_staged_steps(turn, unwritten),
        *_steps(turn, Step.COMMITTED, promotion.added),
        *_steps(turn, Step.DEDUPLICATED, promotion.deduplicated, reason="the session knows it already"),
        *_steps(turn, Step.DISCARDED, promotion.discarded, reason="guidance for this turn only"),
    ]
    now, kept = timezone.now(), {unit.id for unit in promotion.added}
    committed = [
        ContextUnit.from_value(unit, session=session, turn=turn, state=State.COMMITTED, committed_at=now)
        for unit in new
        if unit.id in kept
    ]
    commitment = [pending_commitment(turn.pk, now)] if kept and has_pending else []
    return [*commitment, *insertions(committed), *insertions(steps)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldUnits:
    """Facts of a message that no turn answered; `sequence` and `told_at` are the message's."""

    sequence: int
    told_at: datetime
    units: Sequence[KnowledgeUnit]


def commit_told(session: Session, told: Sequence[ToldUnits]) -> None:
    """Commit facts of messages that no turn answered; must run inside the transaction that locked the session.

    A unit with a known hash is not added again. At the cap the oldest chat units are evicted.
    Effects: unit rows, journal index, ledger; `unit_count` on the unsaved session; afterwards one notification.
    """
    known = known_hashes(session, [unit for item in told for unit in item.units]) if told else set()
    by_hash: dict[str, tuple[KnowledgeUnit, ToldUnits]] = {}
    for item in told:
        for unit in item.units:
            if unit.hash not in known:
                by_hash.setdefault(unit.hash, (unit, item))
    fresh = list(by_hash.values())[-settings.MRPVM_MAX_SESSION_UNITS :]
    if not fresh:
        return
    _make_room(session, len(fresh))
    ContextUnit.objects.bulk_create(
        ContextUnit.from_value(unit, session=session, state=State.COMMITTED, committed_at=item.told_at)
        for unit, item in fresh
    )
    units = [unit for unit, _ in fresh]
    index_units(session.journal, units)
    UnitEvent.objects.bulk_create(
        UnitEvent(
            session=session,
            unit_id=unit.id,
            step=Step.COMMITTED,
            reason=f"told in message {item.sequence}, which the client brought along",
        )
        for unit, item in fresh
    )
    session.unit_count += len(units)
    notify_on_commit(added_event(session, units, "committed-session", "session-context-api"))


def announce_promotion(session: Session, promotion: Promotion) -> None:
    """Notify KB plugins of committed units once the running transaction is over."""
    if promotion.added:
        notify_on_commit(added_event(session, promotion.added, "committed-session", "turn-commit"))


def discard_pending(turn: ExplainabilityTurn, session: Session, reason: str) -> list[str]:
    """Drop the turn's pending units, keeping their ledger rows; must run inside a transaction."""
    pending = session.context_units.filter(state=State.PENDING)
    unit_ids = list(pending.order_by("id").values_list("unit_id", flat=True))
    if unit_ids:
        UnitEvent.objects.bulk_create(
            UnitEvent(session=session, turn=turn, unit_id=unit_id, step=Step.DISCARDED, reason=reason)
            for unit_id in unit_ids
        )
        pending.delete()
    return unit_ids


def known_hashes(session: Session, units: Sequence[KnowledgeUnit]) -> set[str]:
    """Return the hashes of these units that the session has already committed."""
    hashes = dict.fromkeys(unit.hash for unit in units)
    rows = look_up(ContextUnit, ["hash"], {"hash": hashes}, condition="state = 'committed'", session_id=[session.pk])
    return {known for (known,) in rows}


def _make_room(session: Session, wanted: int) -> tuple[str, ...]:
    """Evict the oldest chat units, then the oldest others, until `wanted` units fit under the cap."""
    surplus = session.unit_count + wanted - settings.MRPVM_MAX_SESSION_UNITS
    if surplus <= 0:
        return ()
    committed = session.context_units.filter(state=State.COMMITTED)
    chosen = list(committed.filter(turn__isnull=False).order_by("id")[:surplus])
    if len(chosen) < surplus:
        chosen += committed.filter(turn__isnull=True).order_by("id")[: surplus - len(chosen)]
    return _evict(session, chosen, "the session is full")


def _taken_back(session: Session, hashes: Iterable[str]) -> list[ContextUnit]:
    """Return the committed units with these hashes that a later message asked to forget."""
    committed = session.context_units.filter(state=State.COMMITTED)
    requests = [row for row in committed.filter(claim__icontains=FORGET) if taken_back(row.text)]
    if not requests:
        return []
    return [
        row
        for row in committed.filter(hash__in=hashes)
        if any(row.pk < request.pk and takes_back(request.text, row.text) for request in requests)
    ]


def _evict(session: Session, rows: Sequence[ContextUnit], reason: str) -> tuple[str, ...]:
    """Remove committed units of the session; return their ids.

    Effects: if there are any, the session is locked; the units and their index go, and each gets a ledger row.
    """
    if not rows:
        return ()
    Session.objects.select_for_update().only("pk").get(pk=session.pk)
    unit_ids = tuple(row.unit_id for row in rows)
    UnitEvent.objects.bulk_create(
        UnitEvent(session=session, turn=None, unit_id=unit_id, step=Step.REMOVED, reason=reason) for unit_id in unit_ids
    )
    take_out_units(session, unit_ids)
    session.context_units.filter(pk__in=[row.pk for row in rows]).delete()
    session.unit_count -= len(unit_ids)
    return unit_ids


def _steps(
    turn: ExplainabilityTurn, step: str, units: Sequence[KnowledgeUnit], *, execution_id: str = "", reason: str = ""
) -> list[UnitEvent]:
    return [
        UnitEvent(
            session=turn.session,
            turn=turn,
            unit_id=unit.id,
            step=step,
            execution_id=execution_id,
            reason=reason,
            text=unit.text if step == Step.STAGED else "",
        )
        for unit in units
    ]


def added_event(
    session: Session,
    units: Sequence[KnowledgeUnit],
    scope: Literal["current-turn", "committed-session"],
    reason: str,
) -> LifecycleEvent:
    """Return the notification that units came into the session."""
    return LifecycleEvent(
        event_type="session-kus-added",
        session_id=session.session_id,
        kb_id=session.mounted_kb.kb_id,
        kb_name=session.mounted_kb.name,
        units=tuple(units),
        scope=scope,
        reason=reason,
    )
