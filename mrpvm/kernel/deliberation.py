"""Deliberation policy of a level, and how strong a result is [K-28 to K-36].

Comparison is not switched on yet: every level closes on the first valid result, and the trace reports the effective
level 0, as the gate of [K-50] prescribes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mrpvm.values import Answer, Evidence

COMPARISON_ENABLED = False
"""The gate of [K-50]."""

Strength = Literal["weak", "sufficient", "strong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What must be true before a frame may close [K-28]."""

    level: int
    closure_mode: str
    max_frontier: int
    min_families: int
    max_comparisons: int
    validation_floor: Strength


POLICIES: Mapping[int, Policy] = {
    policy.level: policy
    for policy in (
        Policy(
            level=0, closure_mode="first_valid", max_frontier=1, min_families=1, max_comparisons=0,
            validation_floor="sufficient",
        ),
        Policy(
            level=1, closure_mode="best_effort", max_frontier=2, min_families=1, max_comparisons=1,
            validation_floor="sufficient",
        ),
        Policy(
            level=2, closure_mode="comparative", max_frontier=4, min_families=2, max_comparisons=2,
            validation_floor="sufficient",
        ),
        Policy(
            level=3, closure_mode="scientific", max_frontier=6, min_families=2, max_comparisons=4,
            validation_floor="strong",
        ),
    )
}  # fmt: skip


def effective_level(level: int) -> int:
    """Give the level that acts, which is 0 while comparison is off [K-50]."""
    return level if COMPARISON_ENABLED else 0


def strength_of(answer: Answer, evidence: tuple[Evidence, ...], accepted_by_all: bool) -> Strength:
    """Give the strength of a result that no validator rejected [K-36].

    Args:
        accepted_by_all: at least one validator judged, and every one accepted.
    """
    sufficient = all(item.sufficient for item in evidence)
    answered = [group.status == "answered" for group in answer.groups]
    if accepted_by_all and sufficient and all(answered):
        return "strong"
    return "sufficient" if sufficient or any(answered) else "weak"


def criteria_of(answer: Answer, evidence: tuple[Evidence, ...], strength: Strength, llm_calls: int) -> dict[str, Any]:
    """Give the comparison criteria of a result [K-39]; length of text is none of them."""
    sources = {entry.unit.source_id for item in evidence for entry in item.entries}
    return {
        "validation_strength": ("weak", "sufficient", "strong").index(strength),
        "robustness": sum(
            (
                all(item.sufficient for item in evidence),
                len(sources) >= 2,
                all(group.status == "answered" for group in answer.groups),
            )
        ),
        "cost": -llm_calls,
    }
