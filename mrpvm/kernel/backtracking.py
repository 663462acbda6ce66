"""The candidates of a stage, and the attempts that must not be repeated."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from mrpvm.values import Evidence

DEFAULT_PLANNERS = ("planner-default", "planner-depth")
DEFAULT_SEED_DETECTORS = ("sd-symbolic", "sd-llm-fast", "sd-llm-deep")
"""The default order of stages that have no planner."""


def candidates(
    pin: str | None, preference: str | None, defaults: Sequence[str], registered: Sequence[str], limit: int
) -> tuple[str, ...]:
    """Return the ids to try, in order: only the pin if there is one, else the preference, the defaults and the rest.

    At most `limit` ids are returned, and only registered ones.
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
    """The failed attempts of a frame: a solver is tried once on the same evidence, and not after it ran out of time."""

    _failed: set[tuple[str, str]] = field(default_factory=set)
    _late: set[str] = field(default_factory=set)

    def add(self, plugin_id: str, evidence_hash: str) -> None:
        """Add a failed attempt."""
        self._failed.add((plugin_id, evidence_hash))

    def rule_out(self, plugin_id: str) -> None:
        """Forbid a plugin for the rest of the frame, whatever the evidence: it exceeded its time limit."""
        self._late.add(plugin_id)

    def forbids(self, plugin_id: str, evidence_hash: str) -> bool:
        """Return whether this attempt failed before, or the plugin is ruled out."""
        return plugin_id in self._late or (plugin_id, evidence_hash) in self._failed
