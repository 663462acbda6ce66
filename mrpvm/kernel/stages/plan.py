"""Plan: a planner orders the KB and goal-solver candidates of a frame, before and after retrieval."""

from copy import replace
from functools import partial

from msgspec import Struct

from mrpvm.contracts import PlanInput, PlanPhase, PluginError, RetrievalSummary
from mrpvm.kernel.backtracking import DEFAULT_PLANNERS, candidates, exhausted
from mrpvm.kernel.calls import Call, Execution, Program, call_plugin
from mrpvm.kernel.frame import Frame
from mrpvm.kernel.run import TurnRun
from mrpvm.trace.events import Cause, PlanMade
from mrpvm.values import GuidanceUnits, Plan

STAGE = "planner"


class Planned(Struct, frozen=True, kw_only=True):
    """The current plan and the execution that returned it."""

    plan: Plan
    execution: Execution


def planner_candidates(run: TurnRun) -> tuple[str, ...]:
    """Return the planners to try: only the pinned one if there is one, else the preferred one, defaults and others."""
    return candidates(
        run.request.pins.planner,
        run.request.preferences.planner,
        DEFAULT_PLANNERS,
        [item.id for item in run.usable("mrp-plan-plugin", run.request.pins.planner)],
        run.request.limits.max_plugins_per_stage,
    )


def plan_first(run: TurnRun, frame: Frame, planner_id: str, cause: Cause | None) -> Program[Planned]:
    """Return the plan before retrieval.

    Raises:
        StageExhausted: the planner returned none.
    """
    request = _plan_input(run, frame, "post-seed", (), None, GuidanceUnits())
    execution: Execution = yield from _call(run, frame, planner_id, cause, request)
    if execution.value is None:
        raise exhausted(STAGE, [execution])
    return _adopt(run, frame, execution, execution.value, request.phase)


def plan_again(
    run: TurnRun,
    frame: Frame,
    planned: Planned,
    after: Execution,
    retrievals: tuple[RetrievalSummary, ...],
    guidance: GuidanceUnits,
    phase: PlanPhase = "post-kb",
) -> Program[Planned]:
    """Return the plan after retrieval or solving; if the planner returns no new one, the earlier plan stays."""
    request = _plan_input(run, frame, phase, retrievals, planned.plan, guidance)
    execution: Execution = yield from _call(run, frame, planned.plan.planner_plugin_id, after.then("flow"), request)
    return _adopt(run, frame, execution, execution.value or planned.plan, phase)


def _call(run: TurnRun, frame: Frame, planner_id: str, cause: Cause | None, request: PlanInput) -> Program[Execution]:
    planner = run.registry.planner(planner_id)

    def judge(plan: object) -> PluginError | None:
        if plan is not None or request.prior_plan is not None:
            return None
        return PluginError(code="PLUGIN_CONTRACT_VIOLATION", message="A planner must return a plan.")

    shown = {
        "phase": request.phase,
        "message": request.current_message,
        "intents": request.intents,
        "retrievals": request.retrievals,
    }
    return (
        yield from call_plugin(
            run,
            frame,
            Call(
                stage=STAGE, plugin=planner, slot=frame.next_slot(), attempt=1, given=shown,
                invoke=partial(planner.plan, request), cause=cause, judge=judge,
            ),
        )
    )  # fmt: skip


def _plan_input(
    run: TurnRun,
    frame: Frame,
    phase: PlanPhase,
    retrievals: tuple[RetrievalSummary, ...],
    prior: Plan | None,
    guidance: GuidanceUnits,
) -> PlanInput:
    return PlanInput(
        phase=phase,
        current_message=run.request.message,
        history=run.request.history,
        intents=frame.intents,
        decomposed=frame.decomposed,
        profiles=frame.profiles,
        current_turn_units=frame.units,
        guidance=guidance,
        retrievals=retrievals,
        prior_plan=prior,
        pins=run.request.pins,
        preferences=run.request.preferences,
        session=run.request.session,
        kb_descriptors=tuple(run.usable("kb-plugin", run.request.pins.kb)),
        goal_solver_descriptors=tuple(run.usable("gs-plugin", run.request.pins.goal_solver)),
        utilities=run.request.utilities,
        covered_families=frame.covered_families,
        suspended_branch_ids=frame.suspended_branch_ids,
    )


def _adopt(run: TurnRun, frame: Frame, execution: Execution, plan: Plan, phase: str) -> Planned:
    """Return the plan restricted to registered plugins and pins, with preferences first."""
    limit = run.request.limits.max_plugins_per_stage

    def fitted(pin: str | None, preference: str | None, order: tuple[str, ...], family: str) -> tuple[str, ...]:
        usable = {item.id for item in run.usable(family, pin)}
        registered = [plugin_id for plugin_id in order if plugin_id in usable]
        for wanted in (pin, preference):
            if wanted in usable and wanted not in registered:
                registered.append(wanted)
        return candidates(pin, preference, (), registered, limit)

    pins, preferences = run.request.pins, run.request.preferences
    plan = replace(
        plan,
        planner_plugin_id=execution.plugin_id,
        kb_plugin_order=fitted(pins.kb, preferences.kb, plan.kb_plugin_order, "kb-plugin"),
        goal_solver_order=fitted(pins.goal_solver, preferences.goal_solver, plan.goal_solver_order, "gs-plugin"),
    )
    run.emit(PlanMade(frame_id=frame.id, execution_id=execution.id, phase=phase, plan=plan))
    return Planned(plan=plan, execution=execution)
