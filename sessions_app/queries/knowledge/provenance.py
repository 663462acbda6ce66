"""Where a unit came from, and every turn that saw, used or lost it."""

from collections.abc import Sequence
from dataclasses import dataclass

from mrpvm.errors import NotFound
from mrpvm.values import KnowledgeUnit
from sessions_app.models import (
    ContextUnit,
    ExplainabilityTurn,
    KBMount,
    KnowledgeBase,
    KnowledgeLayer,
    KnowledgeSource,
    LayerUnit,
    Session,
    UnitEvent,
)
from sessions_app.queries.turns.registry import unit_life

STEPS_SHOWN = 200
MOUNTS_LOOKED_AT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """One unit as a session knows it.

    `value` is None for a unit that is no longer stored; `text` then is what the ledger kept. Of `turn`, `source` and
    `layer` those are set that brought it in; `base` is the mounted base through which the session sees the layer.
    """

    unit_id: str
    text: str
    value: KnowledgeUnit | None = None
    state: str = ""
    turn: ExplainabilityTurn | None = None
    source: KnowledgeSource | None = None
    layer: KnowledgeLayer | None = None
    base: KnowledgeBase | None = None


def provenance(session: Session, unit_id: str) -> Provenance:
    """Return where a unit of the session, or of a base it has mounted, came from.

    Raises:
        NotFound: UNIT_NOT_FOUND, the session never saw such a unit.
    """
    own = session.context_units.filter(unit_id=unit_id).select_related("turn").first()
    if own is not None:
        return _own(own)
    found = _in_layers(session, unit_id) or _in_ledger(session, unit_id)
    if found is None:
        raise NotFound(f"The session never saw a unit '{unit_id}'.", code="UNIT_NOT_FOUND")
    return found


def _own(unit: ContextUnit) -> Provenance:
    return Provenance(
        unit_id=unit.unit_id, text=unit.text, value=unit.to_value(), state=unit.get_state_display(), turn=unit.turn
    )


def _in_layers(session: Session, unit_id: str) -> Provenance | None:
    """Look into the draft and into what each mount showed, the newest first."""
    mounts = list(
        KBMount.objects.filter(session=session)
        .select_related("layer", "knowledge_base")
        .order_by("-id")[:MOUNTS_LOOKED_AT]
    )
    chains = {layer_id for mount in mounts for layer_id in mount.layer.chain} | set(session.draft.chain)
    unit = (
        LayerUnit.objects.filter(layer_id__in=chains, unit_id=unit_id)
        .select_related("layer", "origin")
        .order_by("-layer_id")
        .first()
    )
    if unit is None:
        return None
    through = next((mount.knowledge_base for mount in mounts if unit.layer_id in mount.layer.chain), None)
    return Provenance(
        unit_id=unit_id,
        text=unit.text,
        value=unit.to_value(),
        state="in the knowledge base" if through or unit.layer.sealed_at else "in the draft",
        source=unit.origin,
        layer=unit.layer,
        base=through,
    )


def _in_ledger(session: Session, unit_id: str) -> Provenance | None:
    steps = unit_life(session, unit_id)
    if not steps:
        return None
    first = next((step for step in steps if step.step == UnitEvent.Step.STAGED), steps[0])
    return Provenance(unit_id=unit_id, text=first.text, state="no longer stored", turn=first.turn)


def life_of(session: Session, unit_id: str, before: int | None = None) -> tuple[Sequence[UnitEvent], int | None]:
    """Return what happened to the unit, newest first, each step with its turn; and the step before which to go on.

    Steps are counted from the oldest.
    """
    steps = unit_life(session, unit_id)[:before]
    start = max(0, len(steps) - STEPS_SHOWN)
    return steps[start:][::-1], start or None
