"""Makes a plan from a base plan: scores and arranges the candidates and records the reasons."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from mrpvm.contracts import Descriptor, PlanInput
from mrpvm.plugins.planners.ranking import RankedCandidate, rank
from mrpvm.plugins.planners.signals import Signals
from mrpvm.values import CandidateScore, Plan

KB_PLUGINS = ("kb-fast", "kb-balanced", "kb-thinkingdb")
SOLVERS = ("gs-symbolic", "gs-llm-fast", "gs-llm-deep")
"""Default plans."""
DISPATCH_CONFIDENCE = 0.7
"""The confidence from which metadata alone justify direct dispatch."""


class BasePlan(Struct, frozen=True, kw_only=True):
    """The order of a planner before scoring, with the reason."""

    kb: tuple[str, ...]
    solvers: tuple[str, ...]
    reason: str


type Arrange = Callable[[Sequence[RankedCandidate], Signals], Sequence[RankedCandidate]]
"""Returns the ranked candidates to try, in order."""


def make_plan(planner_id: str, request: PlanInput, signals: Signals, base: BasePlan, arrange: Arrange) -> Plan:
    """Return the order of candidates, the candidates left out, and the reasons."""
    kbs, left_kbs = _order(request, request.kb_descriptors, base.kb, signals, arrange)
    solvers, left_solvers = _order(request, request.goal_solver_descriptors, base.solvers, signals, arrange)
    solver_order = tuple(item.plugin_id for item in solvers)
    decompose, purpose, why = _decomposition(request, signals)
    return Plan(
        planner_plugin_id=planner_id,
        kb_plugin_order=tuple(item.plugin_id for item in kbs),
        goal_solver_order=solver_order,
        decompose=decompose,
        frame_purpose=purpose,
        scores=(*kbs, *solvers),
        left_out=(*left_kbs, *left_solvers),
        notes=(f"base plan: {base.reason}", *why, *_dispatch(request, solver_order)),
    )


def _order(
    request: PlanInput, descriptors: Sequence[Descriptor], plan: Sequence[str], signals: Signals, arrange: Arrange
) -> tuple[tuple[CandidateScore, ...], tuple[str, ...]]:
    """Return the scores of the candidates to try, in order, and the ids of those that are left out."""
    ranked = rank(descriptors, plan, signals, request.utilities)
    kept = arrange(ranked, signals)
    return tuple(item.as_score for item in kept), tuple(item.descriptor.id for item in ranked if item not in kept)


def _decomposition(request: PlanInput, signals: Signals) -> tuple[bool, str | None, tuple[str, ...]]:
    """Return whether to decompose, the child frame's purpose, and the reason."""
    if request.phase == "post-seed":
        return False, None, ()
    if request.pins.goal_solver:
        return False, None, ("not decomposed: the solver is pinned",)
    if signals.forbids_split:
        return False, None, ("not decomposed: guidance forbids it",)
    if signals.asks_split:
        return True, "subtask-decomposition", ("decomposed: guidance asks for it",)
    if request.phase == "post-solve" and _is_broad(request):
        return True, "strategy-guidance", ("decomposed: every view holds something, and none enough",)
    return False, None, ()


def _is_broad(request: PlanInput) -> bool:
    """Return whether the frame's only task is too broad: the evidence of every view is weak."""
    weak = [item.evidence_count > 0 and not item.sufficient for item in request.retrievals]
    return len(request.intents) == 1 and bool(weak) and all(weak)


def _dispatch(request: PlanInput, solver_order: Sequence[str]) -> tuple[str, ...]:
    """Return the basis for dispatching the first solver directly."""
    if request.pins.goal_solver:
        return (f"direct dispatch of {request.pins.goal_solver}: pinned",)
    if not solver_order:
        return ()
    first = solver_order[0]
    hints = next((item.planner_hints for item in request.goal_solver_descriptors if item.id == first), None)
    acts = {intent.act for intent in request.intents}
    if hints and acts <= set(hints.supported_acts) and hints.confidence_when_matched >= DISPATCH_CONFIDENCE:
        return (
            f"direct dispatch of {first}: supports {', '.join(sorted(acts))} with {hints.confidence_when_matched:.2f}",
        )
    if request.guidance.planner or request.guidance.goal_solver:
        return (f"direct dispatch of {first}: guidance prescribes the method",)
    return (f"{first} first, for want of a solver whose metadata match strongly",)
