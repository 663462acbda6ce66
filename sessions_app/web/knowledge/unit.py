"""The page of one unit: its text, its origin, and its steps in every turn."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sessions_app.layers import EffectiveView
from sessions_app.models import ExplainabilityTurn, KnowledgeLayer, Session, UnitEvent
from sessions_app.queries.knowledge.pages import shows_unit
from sessions_app.queries.knowledge.provenance import Provenance, life_of, provenance
from sessions_app.web.knowledge.place import find_place
from sessions_app.web.shell.words import STORES, why
from sessions_app.web.turns.graph.status import Tone

STEPS: dict[str, tuple[str, Tone]] = {
    "staged": ("stated", Tone.ACTIVE),
    "committed": ("kept", Tone.OK),
    "deduplicated": ("known already", Tone.IDLE),
    "discarded": ("discarded", Tone.ERROR),
    "removed": ("removed", Tone.WARN),
    "offered": ("offered", Tone.IDLE),
    "selected": ("chosen", Tone.ACTIVE),
    "pruned": ("cut", Tone.IDLE),
    "cited": ("cited", Tone.OK),
}
"""A step of a unit's life: its name on screen, and its colour."""
_FACTS = (
    ("role", "Role"), ("topic", "Topic"), ("subject", "Subject"), ("relation", "Relation"), ("object", "Object"),
    ("condition", "Condition"), ("confidence", "Confidence"), ("section_title", "Section"), ("author", "Author"),
)  # fmt: skip
_MOMENTS = (("created_at", "Created"), ("knowledge_date", "True as of"))


@dataclass(slots=True, kw_only=True)
class Chapter:
    """What one turn did with the unit; `turn` is None for what happened between turns."""

    turn: ExplainabilityTurn | None
    at: Any
    steps: list[dict[str, Any]] = field(default_factory=list)


def unit_context(session: Session, unit_id: str, before: int | None) -> dict[str, Any]:
    """Return the unit with its source's place and its life, newest turn first."""
    origin = provenance(session, unit_id)
    steps, older = life_of(session, unit_id, before)
    value = origin.value
    return {
        "session": session,
        "unit": origin,
        "facts": [(title, getattr(value, name)) for name, title in _FACTS if value and getattr(value, name)],
        "moments": [
            (title, *_moment(getattr(value, name))) for name, title in _MOMENTS if value and getattr(value, name)
        ],
        "corrections": [
            *(("Corrects", other) for other in origin.corrects),
            *(("Corrected by", other) for other in origin.corrected_by),
        ],
        "place": _place(origin),
        "is_in_base": _is_in_base(origin),
        "is_in_draft": _is_in_draft(session, origin),
        "place_of": _place_words(origin),
        "chapters": _chapters(steps),
        "older_before": older,
        "is_lost": value is None,
    }


def _is_in_base(provenance: Provenance) -> bool:
    """Return whether the base shows the unit now: it may have been replaced since the session mounted the base."""
    if provenance.base is None:
        return False
    return shows_unit(provenance.base, provenance.unit_id, EffectiveView.of_layer(provenance.base.head).hidden)


def _is_in_draft(session: Session, provenance: Provenance) -> bool:
    """Return whether the unit is of a source of the present draft: a draft may have been saved or discarded since."""
    layer = provenance.layer
    return layer is not None and layer.kind == KnowledgeLayer.Kind.DRAFT and layer.pk in session.draft.chain


def _moment(text: str) -> tuple[datetime | None, str]:
    """Return a time as a datetime; a day or another text unchanged."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None, text
    return (at if at.tzinfo else at.replace(tzinfo=UTC), "") if len(text) > len("2026-11-22") else (None, text)


def _place(provenance: Provenance) -> Any:
    if provenance.source is not None:
        value = provenance.value
        start, end = (value.char_start, value.char_end) if value else (None, None)
        return find_place(provenance.source.content, provenance.text, start, end)
    if provenance.turn is not None:
        return find_place(provenance.turn.user_message, provenance.text)
    if provenance.message is not None:
        return find_place(provenance.message.content, provenance.text)
    return None


def _place_words(provenance: Provenance) -> str:
    if provenance.source is not None:
        return f"In the source {provenance.source.name}"
    if provenance.message is not None:
        return f"In message {provenance.message.sequence}, which the client brought along"
    return f"In the message of turn {provenance.turn.turn_index}" if provenance.turn is not None else ""


def _chapters(steps: Iterable[UnitEvent]) -> list[Chapter]:
    chapters: list[Chapter] = []
    for event in steps:
        if not chapters or chapters[-1].turn != event.turn:
            chapters.append(Chapter(turn=event.turn, at=event.created_at))
        words, tone = STEPS[event.step]
        chapters[-1].steps.append(
            {
                "words": words,
                "tone": tone,
                "store": STORES.get(event.store, event.store),
                "execution_id": event.execution_id,
                "rank": event.rank,
                "score": event.score,
                "reason": why(event.reason),
            }
        )
    for chapter in chapters:
        chapter.steps.reverse()
    return chapters
