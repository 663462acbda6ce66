"""The planner: a base plan by the turn's signals, then candidates by score; the notes have the reasons."""

from collections.abc import Sequence

from mrpvm.contracts import CallContext, Descriptor, PlanInput
from mrpvm.plugins.planners.planning import KB_PLUGINS, SOLVERS, BasePlan, make_plan
from mrpvm.plugins.planners.ranking import RankedCandidate
from mrpvm.plugins.planners.signals import Signals, signals_of
from mrpvm.values import Plan

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
"""What planners may know of this plugin, as a control document."""


class DefaultPlanner:
    """Orders candidates by their scores, cheap ones first."""

    descriptor = Descriptor(
        id="planner-default",
        type="mrp-plan-plugin",
        name="Default Planner",
        version="1.0.0",
        description="Orders retrieval and solver plugins by fit, cost and experience; tries cheap ones first.",
        cost_class="cheap",
        is_quick=True,
        tags=("deterministic",),
        provides=("plan",),
    )
    about = ABOUT

    def plan(self, request: PlanInput, context: CallContext) -> Plan | None:
        """Return the order of candidates, what was dropped, and why."""
        signals = signals_of(request)
        return make_plan(self.descriptor.id, request, signals, base_plan(signals), _relevant)


def base_plan(signals: Signals) -> BasePlan:
    """Return the plan that the turn's signals ask for, and the reason."""
    fast, balanced, thinking = KB_PLUGINS
    symbolic, llm_fast, llm_deep = SOLVERS
    if signals.wants_depth or signals.has_evaluation_guidance:
        return BasePlan(kb=KB_PLUGINS[::-1], solvers=SOLVERS[::-1], reason="depth is wanted")
    if signals.is_symbolic or signals.has_constraint_guidance:
        kb = (thinking, fast, balanced) if signals.is_retrieval_heavy else KB_PLUGINS
        return BasePlan(kb=kb, solvers=SOLVERS, reason="symbolic cue")
    if signals.has_solver_guidance:
        return BasePlan(kb=KB_PLUGINS, solvers=(llm_fast, llm_deep, symbolic), reason="solver guidance")
    if signals.has_procedure_guidance:
        return BasePlan(kb=(balanced, fast, thinking), solvers=SOLVERS, reason="procedure guidance")
    if signals.is_retrieval_heavy and not signals.wants_speed:
        return BasePlan(kb=(balanced, fast, thinking), solvers=(llm_fast, symbolic, llm_deep), reason="retrieval-heavy")
    return BasePlan(kb=KB_PLUGINS, solvers=SOLVERS, reason="default")


def _relevant(ranked: Sequence[RankedCandidate], signals: Signals) -> Sequence[RankedCandidate]:
    """Return the candidates by score without the clearly irrelevant ones; one always remains."""
    return [item for item in ranked if not _is_irrelevant(item, signals)] or ranked[:1]


def _is_irrelevant(item: RankedCandidate, signals: Signals) -> bool:
    """Return whether a candidate declares other acts, and neither its topic nor its description matches."""
    hints = item.descriptor.planner_hints
    if hints is None or not hints.supported_acts or signals.acts & set(hints.supported_acts):
        return False
    if hints.fallback_role == "cheap-probe":
        return False
    parts = dict(item.parts)
    return parts.get("topics", 0.0) <= 0 and parts.get("description", 0.0) <= 0
