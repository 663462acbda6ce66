"""Retrieve: calls KB plugins in plan order until the evidence suffices."""

import hashlib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from msgspec import Struct

from mrpvm.contracts import PluginError, Retrieval, RetrievalSummary, RetrieveInput
from mrpvm.kernel.calls import Call, Execution, Program, call_plugin
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.trace.events import Cause, UnitsJudged
from mrpvm.values import Evidence, GuidanceUnits, LedgerEntry

STAGE = "kb"


def evidence_profile_hash(evidence: Sequence[Evidence]) -> str:
    """Return the SHA-256 over the sorted hashes of all evidence and guidance units."""
    hashes = {entry.unit.hash for item in evidence for entry in item.entries}
    for item in evidence:
        guidance = item.guidance
        for bucket in (guidance.goal_solver, guidance.planner, guidance.decomposition, guidance.validation):
            hashes.update(entry.unit.hash for entry in bucket)
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


class EvidenceView(Struct, frozen=True, kw_only=True, dict=True):
    """The evidence that one KB plugin found, as a view for solvers."""

    execution: Execution
    evidence: tuple[Evidence, ...]
    sufficient: bool

    @cached_property
    def hash(self) -> str:
        """Return the evidence profile hash."""
        return evidence_profile_hash(self.evidence)

    @property
    def guidance(self) -> GuidanceUnits:
        """Return the guidance of the view's first intent; a frame plans once for all its intents."""
        return self.evidence[0].guidance if self.evidence else GuidanceUnits()

    @property
    def entry_count(self) -> int:
        """Return the number of evidence entries in the view."""
        return sum(len(item.entries) for item in self.evidence)


@dataclass(slots=True, kw_only=True)
class Retrievals:
    """The frame's retrieval so far: plugins still to call, views found, and failures.

    `views` holds the view of each plugin, under any planner: a second call would find the same.
    """

    remaining: deque[str]
    slot: int
    views: dict[str, EvidenceView] = field(default_factory=dict)
    attempt: int = 0
    last: Execution | None = None
    failed: list[Execution] = field(default_factory=list)
    summaries: list[RetrievalSummary] = field(default_factory=list)


def next_view(run: TurnRun, frame: Frame, retrievals: Retrievals, cause: Cause | None) -> Program[EvidenceView | None]:
    """Return the next sufficient view, or, if no plugin is left, the insufficient view with the most entries.

    Return None if every plugin called here failed.
    """
    fullest: EvidenceView | None = None
    while retrievals.remaining:
        view = yield from _retrieve(run, frame, retrievals, cause)
        if view is None:
            continue
        if fullest is None or view.sufficient or view.entry_count > fullest.entry_count:
            fullest = view
        if view.sufficient:
            break
    return fullest


def _retrieve(run: TurnRun, frame: Frame, retrievals: Retrievals, cause: Cause | None) -> Program[EvidenceView | None]:
    plugin = run.registry.kb_retriever(retrievals.remaining.popleft())
    known = retrievals.views.get(plugin.descriptor.id)
    if known is not None:
        retrievals.summaries.append(_summary(known))
        return known
    request = RetrieveInput(
        intents=frame.intents,
        decomposed=frame.decomposed,
        profiles=frame.profiles,
        current_turn_units=frame.units,
        recall=run.request.recall,
    )

    def judge(retrieval: Retrieval) -> PluginError | None:
        refs = [evidence.intent.group_number for evidence in retrieval.evidence]
        expected = [intent.group_number for intent in frame.intents]
        if refs == expected:
            return None
        return PluginError(
            code="PLUGIN_CONTRACT_VIOLATION",
            message=f"The evidence is of the intents {refs} where {expected} were asked for.",
        )

    retrievals.attempt += 1
    execution: Execution = yield from call_plugin(
        run,
        frame,
        Call(
            stage=STAGE, plugin=plugin, slot=retrievals.slot, attempt=retrievals.attempt, given=request,
            invoke=partial(plugin.retrieve, request), judge=judge,
            cause=cause if retrievals.last is None else retrievals.last.then("retry"),
        ),
    )  # fmt: skip
    retrievals.last = execution
    if execution.value is None:
        retrievals.failed.append(execution)
        return None
    retrieval: Retrieval = execution.value
    view = EvidenceView(execution=execution, evidence=retrieval.evidence, sufficient=retrieval.status == "success")
    retrievals.views[execution.plugin_id] = view
    retrievals.summaries.append(_summary(view))
    run.emit(UnitsJudged(frame_id=frame.id, execution_id=execution.id, rows=_fates(retrieval.ledger)))
    return view


def _summary(view: EvidenceView) -> RetrievalSummary:
    return RetrievalSummary(
        plugin_id=view.execution.plugin_id,
        sufficient=view.sufficient,
        evidence_count=view.entry_count,
        strategy_unit_count=sum(len(item.guidance.strategy) for item in view.evidence),
    )


def _fates(ledger: tuple[LedgerEntry, ...]) -> tuple[LedgerEntry, ...]:
    """Return the rows without the offered row of a unit that has a later one; the execution's output has all rows."""
    decided = {row.unit_id for row in ledger if row.step != "offered"}
    return tuple(row for row in ledger if row.step != "offered" or row.unit_id not in decided)
