"""The fallback planner: thorough candidates first, regardless of the turn's signals and the statistics."""

from collections.abc import Mapping, Sequence

from mrpvm.contracts import CallContext, Descriptor, PlanInput
from mrpvm.plugins.planners.planning import KB_PLUGINS, SOLVERS, BasePlan, make_plan
from mrpvm.plugins.planners.ranking import RankedCandidate
from mrpvm.plugins.planners.signals import Signals, signals_of
from mrpvm.values import Plan

BASE_PLAN = BasePlan(kb=KB_PLUGINS[::-1], solvers=SOLVERS[::-1], reason="this planner always starts heavy")
WEIGHT_BY_ROLE: Mapping[str, int] = {"heavy-recovery": 0, "default": 1, "cheap-probe": 2}
"""Place of a candidate by the role it declares, the heaviest first."""

ABOUT = """\
@k1 ku atomic "plugin::planner-depth::unit-000"
@a1 set $k1 sourceId "plugin::planner-depth"
@a2 set $k1 chunkId "plugin::planner-depth"
@a3 set $k1 role Description
@a4 set $k1 topic "planner-depth"
@a5 set $k1 claim "planner-depth orders retrieval and solver plugins by thoroughness, heavy ones first."
@a6 set $k1 utilityNote "For hard tasks, and for what a cheap start left unanswered; dearer than planner-default."
@a7 set $k1 phaseScopes [mrp-plan-plugin]
"""
"""What planners may know of this plugin, as a control document."""


class DepthPlanner:
    """Orders candidates heavy first and leaves none out."""

    descriptor = Descriptor(
        id="planner-depth",
        type="mrp-plan-plugin",
        name="Depth Planner",
        version="1.0.0",
        description="Orders retrieval and solver plugins by thoroughness, heavy ones first; the fallback for what a"
        " cheap start left unanswered.",
        cost_class="cheap",
        is_quick=True,
        tags=("deterministic",),
        provides=("plan",),
    )
    about = ABOUT

    def plan(self, request: PlanInput, context: CallContext) -> Plan | None:
        """Return all candidates with the reasons, heavy ones first and by score among equals."""
        return make_plan(self.descriptor.id, request, signals_of(request), BASE_PLAN, _heavy_first)


def _heavy_first(ranked: Sequence[RankedCandidate], signals: Signals) -> Sequence[RankedCandidate]:
    """Return the candidates by declared role; the sort is stable, so the score decides among equals."""
    return sorted(ranked, key=_weight)


def _weight(item: RankedCandidate) -> int:
    hints = item.descriptor.planner_hints
    return WEIGHT_BY_ROLE.get(hints.fallback_role if hints else "default", WEIGHT_BY_ROLE["default"])
