"""Experiments of a project, with what their pages show."""

from dataclasses import replace
from typing import Any

from django.db.models import Count, QuerySet

from mrpvm.errors import NotFound
from sessions_app.models import Experiment, ExplainabilityTurn, Project, Trial
from sessions_app.queries.paging import Page, number, page


def experiment(project: Project, experiment_id: str) -> Experiment:
    """Return one experiment with its session and turn.

    Raises:
        NotFound: EXPERIMENT_NOT_FOUND; an experiment of a deleted session is not there either.
    """
    found = _of_project(project).filter(experiment_id=experiment_id).first()
    if found is None:
        raise NotFound(f"There is no experiment '{experiment_id}'.", code="EXPERIMENT_NOT_FOUND")
    return _within(project, found)


def _of_project(project: Project) -> QuerySet[Experiment]:
    found = Experiment.objects.filter(project=project, session__deleted_at__isnull=True)
    return found.select_related("session", "turn").annotate(trial_count=Count("trials"))


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
    found = _of_project(project)
    shown = page(found.filter(kind=kind) if kind else found, [("-id", number)], limit, cursor)
    return replace(shown, rows=[_within(project, row) for row in shown.rows])


def experiments_of(turn: ExplainabilityTurn, limit: int, kind: str = "") -> list[Experiment]:
    """Return the newest experiments over a turn, of one kind if `kind` is given."""
    found = turn.experiments.annotate(trial_count=Count("trials")).order_by("-id")
    return list((found.filter(kind=kind) if kind else found)[:limit])


def trials(experiment: Experiment) -> list[Trial]:
    """Return the experiment's trials in order, each with its trace and the trace's session."""
    return list(experiment.trials.select_related("trace__session", "turn").order_by("position"))


def ranked_findings(experiment: Experiment) -> list[tuple[Trial, dict[str, Any]]]:
    """Return each finding of a search with the trial that proves it.

    First those that meet the expectation, then by how likely and how small the change is.
    """
    found = [(trial, finding) for trial in trials(experiment) for finding in trial.findings]
    return sorted(found, key=lambda pair: (not pair[1]["meets"], pair[1]["weight"], pair[0].position))
