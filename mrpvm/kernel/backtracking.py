"""Which candidates a stage has, and what must not be tried again."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from mrpvm.values import Evidence

DEFAULT_PLANNERS = ("planner-default", "planner-depth")
DEFAULT_SEED_DETECTORS = ("sd-symbolic", "sd-llm-fast", "sd-llm-deep")
"""Default plans of the stages that no planner orders."""


def candidates(
    pin: str | None, preference: str | None, defaults: Sequence[str], registered: Sequence[str], limit: int
) -> tuple[str, ...]:
    """Return the ids to try, in order: a pin alone; else the preference, the defaults, the rest.

    Only registered ids come through, at most `limit` of them.
    """
    if pin is not None:
        return (pin,) if pin in registered else ()
    wanted = [*([preference] if preference else []), *defaults, *registered]
    return tuple(dict.fromkeys(item for item in wanted if item in registered))[:limit]


def evidence_profile_hash(evidence: Sequence[Evidence]) -> str:
    """Return the SHA-256 over the sorted hashes of all evidence and guidance units."""
    hashes = {entry.unit.hash for item in evidence for entry in item.entries}
    for item in evidence:
        guidance = item.guidance
        for bucket in (guidance.goal_solver, guidance.planner, guidance.decomposition, guidance.validation):
            hashes.update(entry.unit.hash for entry in bucket)
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


@dataclass(slots=True)
class FailureMemory:
    """Attempts of a frame that failed: the same solver on the same evidence is never tried twice."""

    _failed: set[tuple[str, str]] = field(default_factory=set)

    def add(self, plugin_id: str, evidence_hash: str) -> None:
        """Remember a failed attempt."""
        self._failed.add((plugin_id, evidence_hash))

    def forbids(self, plugin_id: str, evidence_hash: str) -> bool:
        """Return whether this attempt failed before."""
        return (plugin_id, evidence_hash) in self._failed
