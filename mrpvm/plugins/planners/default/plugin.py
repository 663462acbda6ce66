"""The planner: a base plan by the turn's signals, then candidates by score, with the reasons in its notes."""

from collections.abc import Mapping, Sequence

from mrpvm.contracts import CallContext, Descriptor, PlanInput
from mrpvm.plugins.planners.default.ranking import Ranked, rank
from mrpvm.plugins.planners.default.signals import Signals, signals_of
from mrpvm.values import Plan

DISPATCH_CONFIDENCE = 0.7
"""Confidence from which metadata alone justify direct dispatch [K-51]."""

ABOUT = """\
@k1 ku atomic "plugin::planner-default::unit-000"
@a1 set $k1 sourceId "plugin::planner-default"
@a2 set $k1 chunkId "plugin::planner-default"
@a3 set $k1 role Description
@a4 set $k1 topic "planner-default"
@a5 set $k1 claim "planner-default orders retrieval and solver plugins by fit and cost, cheap ones first."
@a6 set $k1 utilityNote "The right planner for most turns; hard tasks may need a planner that starts heavy."
@a7 set $k1 phaseScopes [mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document [PL-3]."""

_KB = ("kb-fast", "kb-balanced", "kb-thinkingdb")
_SOLVERS = ("gs-symbolic", "gs-llm-fast", "gs-llm-deep")


class DefaultPlanner:
    """Orders candidates by BP-48; explores cheap first [BP-53].

    Args:
        history: learned utility of a plugin by its id [K-54]; a plugin without one counts as untried.
    """

    descriptor = Descriptor(
        id="planner-default",
        type="mrp-plan-plugin",
        name="Default Planner",
        version="1.0.0",
        description="Orders retrieval and solver plugins by fit, cost and experience; tries cheap ones first.",
        cost_class="cheap",
        tags=("deterministic",),
        provides=("plan",),
    )
    about = ABOUT

    def __init__(self, history: Mapping[str, float] | None = None) -> None:
        self._history = dict(history or {})

    def plan(self, request: PlanInput, context: CallContext) -> Plan | None:
        """Give the order of candidates, what was dropped, and why [BP-48 to BP-52]."""
        signals = signals_of(request)
        kb_plan, solver_plan, reason = base_plan(signals)
        kb_order, kb_notes = self._order(request.kb_descriptors, kb_plan, signals)
        solver_order, solver_notes = self._order(request.goal_solver_descriptors, solver_plan, signals)
        decompose, purpose, why = _decomposition(request, signals)
        return Plan(
            planner_plugin_id=self.descriptor.id,
            kb_plugin_order=kb_order,
            goal_solver_order=solver_order,
            decompose=decompose,
            frame_purpose=purpose,
            notes=(
                f"base plan: {reason}",
                *kb_notes,
                *solver_notes,
                *why,
                *_dispatch(request, solver_order),
            ),
        )

    def _order(
        self, descriptors: Sequence[Descriptor], plan: Sequence[str], signals: Signals
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        ranked = rank(descriptors, plan, signals, self._history)
        kept = [item for item in ranked if not _is_irrelevant(item, signals)] or ranked[:1]
        dropped = [item.descriptor.id for item in ranked if item not in kept]
        notes = [item.note for item in kept]
        if dropped:
            notes.append(f"left out as irrelevant: {', '.join(dropped)}")
        return tuple(item.descriptor.id for item in kept), tuple(notes)


def base_plan(signals: Signals) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Give the KB order, the solver order and the reason [BP-51]."""
    fast, balanced, thinking = _KB
    symbolic, llm_fast, llm_deep = _SOLVERS
    if signals.wants_depth or signals.has_evaluation_guidance:
        return (thinking, balanced, fast), (llm_deep, llm_fast, symbolic), "depth is wanted"
    if signals.is_symbolic or signals.has_constraint_guidance:
        kb = (thinking, fast, balanced) if signals.is_retrieval_heavy else _KB
        return kb, _SOLVERS, "symbolic cue"
    if signals.has_solver_guidance:
        return _KB, (llm_fast, llm_deep, symbolic), "solver guidance"
    if signals.has_procedure_guidance:
        return (balanced, fast, thinking), _SOLVERS, "procedure guidance"
    if signals.is_retrieval_heavy and not signals.wants_speed:
        return (balanced, fast, thinking), (llm_fast, symbolic, llm_deep), "retrieval-heavy"
    return _KB, _SOLVERS, "default"


def _is_irrelevant(item: Ranked, signals: Signals) -> bool:
    """Tell whether a candidate declares other acts, and neither topic nor description speaks for it [BP-49]."""
    hints = item.descriptor.planner_hints
    if hints is None or not hints.supported_acts or signals.acts & set(hints.supported_acts):
        return False
    if hints.fallback_role == "cheap-probe":
        return False
    parts = dict(item.parts)
    return parts.get("topics", 0.0) <= 0 and parts.get("description", 0.0) <= 0


def _decomposition(request: PlanInput, signals: Signals) -> tuple[bool, str | None, tuple[str, ...]]:
    """Give whether to decompose, the child frame's purpose, and the reason [BP-52]."""
    if request.phase == "post-seed":
        return False, None, ()
    if request.pins.goal_solver:
        return False, None, ("not decomposed: the solver is pinned",)
    if signals.forbids_split:
        return False, None, ("not decomposed: guidance forbids it",)
    if signals.asks_split:
        return True, "subtask-decomposition", ("decomposed: guidance asks for it",)
    return False, None, ()


def _dispatch(request: PlanInput, solver_order: Sequence[str]) -> tuple[str, ...]:
    """Give the basis on which the first solver may be dispatched directly [K-51]."""
    if not solver_order:
        return ()
    first = solver_order[0]
    if request.pins.goal_solver:
        return (f"direct dispatch of {request.pins.goal_solver}: pinned",)
    hints = next((item.planner_hints for item in request.goal_solver_descriptors if item.id == first), None)
    acts = {intent.act for intent in request.intents}
    if hints and acts <= set(hints.supported_acts) and hints.confidence_when_matched >= DISPATCH_CONFIDENCE:
        return (
            f"direct dispatch of {first}: supports {', '.join(sorted(acts))} with {hints.confidence_when_matched:.2f}",
        )
    if request.guidance.planner or request.guidance.goal_solver:
        return (f"direct dispatch of {first}: guidance prescribes the method",)
    return (f"{first} first, for want of a solver whose metadata match strongly",)
