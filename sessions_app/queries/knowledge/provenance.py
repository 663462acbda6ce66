"""The origin of a unit, and the turns that saw, used or lost it."""

from collections.abc import Collection, Sequence
from copy import replace
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet, TextChoices

from mrpvm.errors import NotFound
from mrpvm.knowledge.units import told_in
from mrpvm.values import CHAT_TURN, KnowledgeUnit
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    HiddenUnit,
    KBMount,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Message,
    Session,
    UnitEvent,
)
from sessions_app.queries.knowledge.bases import own_layer_keys
from sessions_app.queries.turns.registry import unit_life

STEPS_SHOWN = 200
MOUNTS_LOOKED_AT = 50


class UnitState(TextChoices):
    """Where a unit stands for a session."""

    PENDING = "pending"
    COMMITTED = "committed"
    IN_BASE = "base", "in the knowledge base"
    IN_DRAFT = "draft", "in the draft"
    HIDDEN = "hidden", "hidden from this session"
    RETRACTED = "retracted", "retracted"
    LOST = "lost", "no longer stored"


@dataclass(frozen=True, slots=True)
class LedgerUnit:
    """A unit by its id, with its text in the ledger."""

    unit_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """One unit as a session knows it.

    `value` is None for a unit that is no longer stored; `text` then comes from the ledger. `turn`, `message`, `source`
    and `layer` are set if the unit came from one; `message` is one that a client brought along. `base` is the mounted
    base through which the session sees the layer. A unit that `is_retracted` can be restored. `corrects` and
    `corrected_by` are the units that it replaced and that replaced it in this session.
    """

    unit_id: str
    text: str
    state: UnitState
    created_at: datetime
    committed_at: datetime | None = None
    value: KnowledgeUnit | None = None
    turn: ExplainabilityTurn | None = None
    message: Message | None = None
    source: KnowledgeSource | None = None
    layer: KnowledgeLayer | None = None
    base: KnowledgeBase | None = None
    is_retracted: bool = False
    corrects: Sequence[LedgerUnit] = ()
    corrected_by: Sequence[LedgerUnit] = ()


def provenance(session: Session, unit_id: str) -> Provenance:
    """Return the origin of a unit of the session or of a base that it has mounted.

    Raises:
        NotFound: UNIT_NOT_FOUND, the session never saw such a unit.
    """
    own = session.context_units.filter(unit_id=unit_id).select_related("turn__session").first()
    origin = _own(own) if own is not None else _in_layers(session, unit_id) or _in_ledger(session, unit_id)
    if origin is None:
        raise NotFound(f"The session never saw a unit '{unit_id}'.", code="UNIT_NOT_FOUND")
    return _with_corrections(session, origin)


def _with_corrections(session: Session, origin: Provenance) -> Provenance:
    steps = session.unit_events.exclude(corrects="").order_by("pk")
    pairs = steps.filter(Q(unit_id=origin.unit_id) | Q(corrects=origin.unit_id)).values_list("unit_id", "corrects")
    corrects = dict.fromkeys(corrected for unit_id, corrected in pairs if unit_id == origin.unit_id)
    corrected_by = dict.fromkeys(unit_id for unit_id, corrected in pairs if corrected == origin.unit_id)
    if not corrects and not corrected_by:
        return origin
    told = session.unit_events.filter(unit_id__in=[*corrects, *corrected_by]).exclude(text="").order_by("pk")
    texts = dict(told.values_list("unit_id", "text"))
    return replace(
        origin,
        corrects=[LedgerUnit(unit_id, texts.get(unit_id, "")) for unit_id in corrects],
        corrected_by=[LedgerUnit(unit_id, texts.get(unit_id, "")) for unit_id in corrected_by],
    )


def _own(unit: ContextUnit) -> Provenance:
    value = unit.to_value()
    turn = unit.turn or _turn_before_fork(unit, value)
    return Provenance(
        unit_id=unit.unit_id,
        text=unit.text,
        state=UnitState(unit.state),
        created_at=unit.created_at,
        committed_at=unit.committed_at,
        value=value,
        turn=turn,
        message=_message_told_in(unit, value) if turn is None else None,
    )


def _turn_before_fork(unit: ContextUnit, value: KnowledgeUnit) -> ExplainabilityTurn | None:
    """Return the turn of the session from which this one was forked, if the unit was copied from there."""
    if value.source_type != CHAT_TURN:
        return None
    turns = ExplainabilityTurn.objects.filter(session__project=unit.session.project_id, session__deleted_at=None)
    return turns.filter(request_id=told_in(value)).select_related("session").first()


def _message_told_in(unit: ContextUnit, value: KnowledgeUnit) -> Message | None:
    """Return the message that a client brought along and that told the unit."""
    _, _, sequence = told_in(value).rpartition("-")
    if value.source_type != CHAT_TURN or not sequence.isdecimal():
        return None
    return unit.session.messages.filter(sequence=int(sequence), turn=None).first()


def _in_layers(session: Session, unit_id: str) -> Provenance | None:
    """Search the draft, then the layers of each mount, the newest first."""
    mounts = _mounts(session)
    unit = (
        LayerUnit.objects.filter(layer_id__in=_layers_seen(session, mounts), unit_id=unit_id)
        .select_related("layer", "origin")
        .order_by("-layer_id")
        .first()
    )
    if unit is None:
        return None
    through = next((mount.knowledge_base for mount in mounts if unit.layer_id in mount.layer.chain), None)
    is_hidden = HiddenUnit.objects.filter(
        unit=unit, layer__in=own_layer_keys(session), change=HiddenUnit.Change.REMOVED
    ).exists()
    state = UnitState.IN_BASE if through or unit.layer.sealed_at else UnitState.IN_DRAFT
    return Provenance(
        unit_id=unit_id,
        text=unit.text,
        state=UnitState.HIDDEN if is_hidden else state,
        created_at=unit.origin.added_at if unit.origin else unit.layer.created_at,
        value=unit.to_value(),
        source=unit.origin,
        layer=unit.layer,
        base=through,
        is_retracted=is_hidden,
    )


def _mounts(session: Session) -> list[KBMount]:
    rows = KBMount.objects.filter(session=session).select_related("layer", "knowledge_base")
    return list(rows.order_by("-id")[:MOUNTS_LOOKED_AT])


def _layers_seen(session: Session, mounts: Sequence[KBMount]) -> set[int]:
    return {layer_id for mount in mounts for layer_id in mount.layer.chain} | set(session.draft.chain)


def seen_below(session: Session, unit_id: str) -> QuerySet[LayerUnit]:
    """Return the rows of the mounted base and the draft with the same statement as a unit, including hidden ones."""
    below = LayerUnit.objects.filter(layer_id__in=session.journal.ancestry).order_by("-layer_id", "-pk")
    return below.filter(hash__in=below.filter(unit_id=unit_id).order_by().values("hash"))


def retracted_own(session: Session, unit_id: str) -> LayerUnit | None:
    """Return the stored row of a unit of the session's own that was retracted, or None."""
    if session.context_units.filter(unit_id=unit_id).exists():
        return None
    was_own = session.unit_events.filter(unit_id=unit_id, step=UnitEvent.Step.COMMITTED).exclude(store="kb")
    if not was_own.exists():
        return None
    removed = KnowledgeLayer.objects.filter(removed_from__in=own_layer_keys(session)).values_list("pk", flat=True)
    seen = _layers_seen(session, _mounts(session))
    rows = LayerUnit.objects.filter(layer_id__in={*removed, *seen}, unit_id=unit_id)
    own = Q(layer_id__in=list(removed)) | Q(origin__source_id=session.journal_source_id)
    return rows.filter(own).order_by("-pk").first()


def retracted_since(session: Session, unit_ids: Collection[str]) -> set[str]:
    """Return the ids of the units that were retracted from the session and not restored; one query."""
    changes = session.unit_events.filter(unit_id__in=unit_ids, turn=None).order_by("pk")
    last = dict(changes.values_list("unit_id", "step"))
    return {unit_id for unit_id, step in last.items() if step == UnitEvent.Step.REMOVED}


def _in_ledger(session: Session, unit_id: str) -> Provenance | None:
    steps = unit_life(session, unit_id)
    if not steps:
        return None
    first = next((step for step in steps if step.step == UnitEvent.Step.STAGED), steps[0])
    retracted = retracted_own(session, unit_id)
    return Provenance(
        unit_id=unit_id,
        text=next((step.text for step in steps if step.text), ""),
        state=UnitState.LOST if retracted is None else UnitState.RETRACTED,
        created_at=steps[0].created_at,
        turn=first.turn,
        is_retracted=retracted is not None,
    )


def life_of(session: Session, unit_id: str, before: int | None = None) -> tuple[Sequence[UnitEvent], int | None]:
    """Return the steps of the unit's life with their turns, newest first, and the step before which to continue.

    Steps are counted from the oldest.
    """
    steps = unit_life(session, unit_id)[:before]
    start = max(0, len(steps) - STEPS_SHOWN)
    return steps[start:][::-1], start or None
