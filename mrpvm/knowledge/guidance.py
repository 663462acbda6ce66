"""Guidance of an intent: the units that tell a phase how to work, sorted by phase."""

from collections.abc import Iterable, Sequence

from mrpvm.english.words.text import collapse, overlap, terms
from mrpvm.values import EvidenceEntry, GuidanceUnits, Intent, KnowledgeUnit

GUIDANCE_LIMIT = 440
"""Guidance units examined: 40 of the session and 400 of the mounted base."""
_SAME_TASK = 0.6
"""Overlap of terms from which a condition names the intent's own task."""


def applies_to(unit: KnowledgeUnit, intent: Intent) -> bool:
    """Return whether a guidance unit holds for an intent: it has no condition, or the condition names this task."""
    if unit.condition is None:
        return True
    if collapse(unit.condition) == collapse(intent.target):
        return True
    return overlap(terms(unit.condition), terms(intent.target)) >= _SAME_TASK


def sort_guidance(entries: Iterable[EvidenceEntry]) -> GuidanceUnits:
    """Return the entries by the phase they speak to; a unit with several scopes is in several buckets."""
    unique = list({entry.unit.id: entry for entry in entries}.values())

    def speaking_to(scope: str) -> tuple[EvidenceEntry, ...]:
        return tuple(entry for entry in unique if scope in entry.unit.phase_scopes)

    return GuidanceUnits(
        seed_detector=speaking_to("sd-plugin"),
        planner=speaking_to("mrp-plan-plugin"),
        goal_solver=speaking_to("gs-plugin"),
        decomposition=speaking_to("frame"),
        validation=speaking_to("val-plugin"),
    )


def guidance_for(intent: Intent, turn_units: Iterable[KnowledgeUnit], stored: Sequence[EvidenceEntry]) -> GuidanceUnits:
    """Return an intent's guidance, that of the running turn first; evidence filters never drop any.

    Args:
        stored: guidance of session and knowledge base, in the order of the port.
    """
    of_turn = [
        EvidenceEntry(unit=unit, score=0.0, store="current-turn", notes=("guidance of this turn",))
        for unit in turn_units
        if unit.is_guidance
    ]
    return sort_guidance(entry for entry in (*of_turn, *stored) if applies_to(entry.unit, intent))
