"""Experiments of a project, their trials and findings."""

from copy import replace
from typing import Any

from django.db.models import Count, QuerySet

from mrpvm.errors import NotFound
from sessions_app.models import Experiment, ExplainabilityTurn, Project, Trial
from sessions_app.queries.paging import Page, cursor_number, page


def experiment(project: Project, experiment_id: str) -> Experiment:
    """Return one experiment with its session and turn.

    Raises:
        NotFound: EXPERIMENT_NOT_FOUND, also for an experiment of a deleted session.
    """
    row = _of_project(project).filter(experiment_id=experiment_id).first()
    if row is None:
        raise NotFound(f"There is no experiment '{experiment_id}'.", code="EXPERIMENT_NOT_FOUND")
    return _within(project, row)


def experiment_over(turn: ExplainabilityTurn, experiment_id: str) -> Experiment:
    """Return one experiment over the turn.

    Raises:
        NotFound: EXPERIMENT_NOT_FOUND, also for an experiment over another turn.
    """
    found = experiment(turn.session.project, experiment_id)
    if found.turn_id != turn.pk:
        raise NotFound(f"The turn has no experiment '{experiment_id}'.", code="EXPERIMENT_NOT_FOUND")
    return found


def _of_project(project: Project) -> QuerySet[Experiment]:
    rows = Experiment.objects.filter(project=project, session__deleted_at__isnull=True)
    return rows.select_related("session", "turn").annotate(trial_count=Count("trials"))


def _within(project: Project, experiment: Experiment) -> Experiment:
    experiment.session.project = experiment.project = project
    if experiment.turn is not None:
        experiment.turn.session = experiment.session
    return experiment


def experiment_page(project: Project, limit: int, cursor: str | None = None, kind: str = "") -> Page[Experiment]:
    """Return a page of the project's experiments, the newest first, of one kind if `kind` is given.

    Raises:
        InvalidInput: the cursor is not one of ours.
    """
    rows = _of_project(project)
    shown = page(rows.filter(kind=kind) if kind else rows, [("-id", cursor_number)], limit, cursor)
    return replace(shown, rows=[_within(project, row) for row in shown.rows])


def experiments_of(turn: ExplainabilityTurn, limit: int, kind: str = "") -> list[Experiment]:
    """Return the newest experiments over a turn, of one kind if `kind` is given."""
    rows = turn.experiments.annotate(trial_count=Count("trials")).order_by("-id")
    return list((rows.filter(kind=kind) if kind else rows)[:limit])


def trials(experiment: Experiment) -> list[Trial]:
    """Return the experiment's trials in order, each with its trace and the trace's session."""
    return list(experiment.trials.select_related("trace__session", "turn").order_by("position"))


def ranked_findings(experiment: Experiment) -> list[tuple[Trial, dict[str, Any]]]:
    """Return each finding of a search with the trial that proves it.

    First those that meet the expectation, then by how likely and how small the change is.
    """
    findings = [(trial, finding) for trial in trials(experiment) for finding in trial.findings]
    return sorted(findings, key=lambda pair: (not pair[1]["meets"], pair[1]["weight"], pair[0].position))
