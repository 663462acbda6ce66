"""Machine events: everything a turn's record is made of [PL-46, G-6].

An event carries its structure in `data` (small, JSON-ready, camelCase) and, where a node of the graph has a payload,
a piece of that payload in `detail`; pieces for the same `detail_ref` are merged. Structure and payload are stored
apart, so that a turn of a thousand executions can be drawn without reading what they said.

| event | data |
|---|---|
| turn.started | requestId, sessionId, inputMessage, deliberationLevel, effectiveLevel, grounding, pins, ... |
| frame.opened | frameId, parentFrameId, purpose, label, depth, openedBy (execution id or null), intentRefs, intents |
| frame.closed | frameId, status, closureReason |
| command.resolved | frameId, name, route, reason, snapshotVersion, snapshotHash |
| skill.considered | frameId, offered, leftOutCount, skill (name or null), reason, problem |
| skill.invoked | frameId, name, source, mode, reason; for a tool also provider, tool, status |
| policy.set | policyId, frameId, level, closureMode, maxFrontier, minFamilies, maxComparisons, validationFloor |
| seed.admitted | seedId, frameId, intentRef, act, mode, action, focus, implicit |
| units.staged | frameId, executionId, unitIds |
| plugin.started | executionId, frameId, stage, pluginId, pluginName, pluginType, cause {kind, from}, attempt, ... |
| plugin.finished | executionId, frameId, status, durationMs, llmCalls, sufficient, model, modelRole, usage, ... |
| plan.made | frameId, executionId, phase, plan |
| units.judged | frameId, executionId, rows of the ledger |
| branch.started | branchId, frameId, intentRefs, seedIds, pluginId, kbPluginId, plannerPluginId, familySignature, ... |
| branch.finished | branchId, frameId, status, resultId, validationId, outputPreview |
| branch.failed | branchId, frameId, failureId, reason, error, pluginId, evidenceProfileHash |
| result.recorded | resultId, frameId, branchId, kind, validationStatus, grounded, supportIds |
| candidate.promoted | candidateId, frameId, branchIds, resultId, label, familySignature, strength, criteria, ... |
| candidate.selected | candidateId, frameId, suspendedBranchIds |
| comparison.made | comparisonId, frameId, label, status, candidateIds, criterion, summary |
| challenge.made | challengeId, frameId, targetId, label, kind, severity, prompt, status |
| backtrack.taken | frameId, step (evidence, planner, frame), from, reason |
| answer.delta | frameId, executionId, pluginId, delta, isDraft, used; goes to who reads along, is not stored |
| turn.finished | status, answerStatus, error |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mrpvm.values import KnowledgeUnit

EventName = Literal[
    "turn.started", "frame.opened", "frame.closed", "command.resolved", "skill.considered",
    "skill.invoked", "policy.set", "seed.admitted", "units.staged", "plugin.started",
    "plugin.finished", "plan.made", "units.judged", "branch.started", "branch.finished", "branch.failed",
    "result.recorded", "candidate.promoted", "candidate.selected", "comparison.made", "challenge.made",
    "backtrack.taken", "answer.delta", "turn.finished",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One machine event; `at_ms` counts from the start of the turn.

    `units` is filled by `units.staged` alone: the units themselves, for whoever stores them.
    """

    name: EventName
    at_ms: int
    data: Mapping[str, Any]
    detail_ref: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    units: tuple[KnowledgeUnit, ...] = ()

    def as_record(self) -> list[Any]:
        """Give the stored form without the payload: `[name, atMs, data]`."""
        return [self.name, self.at_ms, self.data]


Emit = Callable[[Event], None]
"""Takes an event; called only on the thread that runs the turn."""
