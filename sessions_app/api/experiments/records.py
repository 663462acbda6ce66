"""Replays and experiments as JSON data."""

from collections.abc import Sequence

from sessions_app.api.experiments.responses import (
    BisectObject,
    DiagnosisObject,
    EstimateObject,
    ExperimentObject,
    ListedExperiment,
    ReplayObject,
    TrialObject,
)
from sessions_app.experiments.replays.replay import ReplayResult
from sessions_app.experiments.trials.live import Estimate
from sessions_app.experiments.trials.results import divergence_record
from sessions_app.models import Experiment, Trial
from sessions_app.queries.experiments.experiments import ranked_findings


def replay_record(result: ReplayResult) -> ReplayObject:
    return {
        "request_id": result.request_id,
        "result": result.result,
        "divergence": divergence_record(result.divergence) if result.divergence else None,
        "duration_ms": result.duration_ms,
    }


def estimate_record(estimate: Estimate) -> EstimateObject:
    return {
        "calls": estimate.call_count,
        "tokens": estimate.token_count,
        "cost": None if estimate.cost is None else float(estimate.cost),
        "budget": estimate.budget,
        "allowed": estimate.is_allowed,
    }


def listed_experiment(experiment: Experiment) -> ListedExperiment:
    """Return an experiment without its trials."""
    return {
        "experiment_id": experiment.experiment_id,
        "kind": experiment.kind,
        "status": experiment.status,
        "session_id": experiment.session.session_id,
        "request_id": experiment.turn.request_id if experiment.turn else None,
        "message": experiment.turn.user_message if experiment.turn else experiment.message,
        "created_by": experiment.created_by_name,
        "created_at": experiment.created_at,
        "finished_at": experiment.finished_at,
        "tried": experiment.tried_count,
        "error": experiment.error,
    }


def experiment_record(experiment: Experiment, trials: Sequence[Trial]) -> ExperimentObject:
    """Return an experiment with its trials in order."""
    return {
        **listed_experiment(experiment),
        "question": experiment.question,
        "result": experiment.result,
        "trials": [trial_record(trial) for trial in trials],
    }


def trial_record(trial: Trial) -> TrialObject:
    """Return a trial; `request_id` names its trace, which is read like a turn's."""
    return {
        "trial_id": trial.position,
        "request_id": trial.trace.request_id if trial.trace else None,
        "changes": trial.changes,
        "status": trial.status,
        "answer": trial.answer,
        "answer_status": trial.answer_status or None,
        "basis": trial.basis,
        "cited_unit_ids": trial.cited_unit_ids,
        "plugins": trial.plugins,
        "tokens": trial.token_count,
        "cost": float(trial.cost) if trial.cost is not None else None,
        "has_effect": trial.has_effect,
        "error": trial.error,
        "missing_request": trial.missing_request,
        "duration_ms": trial.duration_ms,
    }


def diagnosis_record(experiment: Experiment, rest: Estimate | None) -> DiagnosisObject:
    """Return a diagnosis; `result` is null while it runs, or where it was stopped.

    Args:
        rest: what the trials that needed a model would take from one, None where none did.
    """
    result = experiment.result or {}
    return {
        "experiment_id": experiment.experiment_id,
        "status": experiment.status,
        "result": result.get("result"),
        "findings": [
            {
                "kind": finding["kind"],
                "text": finding["text"],
                "advice": finding["advice"],
                "effect": {"before": finding["before"], "after": trial.answer, "meets": finding["meets"]},
                "trial_id": trial.position,
                "trial": trial_record(trial),
                "links": finding["links"],
            }
            for trial, finding in ranked_findings(experiment)
        ],
        "known": result.get("known"),
        "tried": experiment.tried_count,
        "not_tried": result.get("not_tried", []),
        "needs_model": {**estimate_record(rest), "trials": result["needing_model_count"]} if rest else None,
        "divergence": result.get("divergence"),
        "error": experiment.error,
        "duration_ms": result.get("duration_ms"),
    }


def bisect_record(experiment: Experiment) -> BisectObject:
    """Return a search through time; what it found is null while it runs, or where it was stopped."""
    return {
        "experiment_id": experiment.experiment_id,
        "status": experiment.status,
        "found": experiment.result,
        "tried": experiment.tried_count,
        "error": experiment.error,
    }
