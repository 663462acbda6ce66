"""What came out of each call, in a few words: units found, an answer, a refusal with its reason."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mrpvm.preview import counted
from mrpvm.trace.events import (
    BranchFailed,
    BranchFinished,
    BranchStarted,
    Event,
    PlanMade,
    PluginFinished,
    PluginStarted,
    SeedAdmitted,
    UnitsStaged,
    said,
)

NO_SCORES: Mapping[str, Sequence[float]] = {}
_BRANCH_REASONS = {"no-context": "no answer found", "insufficient": "not enough found", "unsupported": "not its kind"}


def outputs_of(events: Sequence[Event], scores: Mapping[str, Sequence[float]] = NO_SCORES) -> dict[str, str]:
    """Return what came out of each execution that has ended, by its id.

    Args:
        scores: those of the units that each retrieval selected, by execution.
    """
    return dict(
        (
            *_read(events),
            *_planned(events),
            *((execution_id, _units(unit_scores)) for execution_id, unit_scores in scores.items()),
            *_solved(events),
            *_refused(events),
        )
    )


def _read(events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    """Yield what the first detector of each frame found in the message."""
    staged = {staging.frame_id: len(staging.unit_ids) for staging in said(UnitsStaged, events)}
    seeds = [seed.frame_id for seed in said(SeedAdmitted, events)]
    read: set[str] = set()
    for run in said(PluginStarted, events):
        if run.stage == "seed-detector" and run.frame_id not in read:
            read.add(run.frame_id)
            counts = ((staged.get(run.frame_id, 0), "statement"), (seeds.count(run.frame_id), "intent"))
            yield run.execution_id, ", ".join(counted(count, noun) for count, noun in counts if count)


def _planned(events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    for plan_made in said(PlanMade, events):
        order = plan_made.plan.kb_plugin_order if plan_made.phase == "post-seed" else plan_made.plan.goal_solver_order
        yield (
            plan_made.execution_id,
            "splits the question" if plan_made.plan.decompose else f"{order[0]} first" if order else "",
        )


def _units(scores: Sequence[float]) -> str:
    return f"{counted(len(scores), 'unit')}, best {max(scores):.2f}" if scores else "no unit"


def _solved(events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    executions = {branch.branch_id: branch.execution_id for branch in said(BranchStarted, events)}
    for branch in said(BranchFinished, events):
        yield executions[branch.branch_id], " ".join(branch.output_preview.split())
    for failed in said(BranchFailed, events):
        if failed.branch_id in executions:
            yield executions[failed.branch_id], failed.error or _BRANCH_REASONS.get(failed.reason, failed.reason)


def _refused(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    for run in said(PluginFinished, events):
        if run.error:
            yield run.execution_id, " ".join(str(run.error.get("message") or run.error.get("code", "")).split())
