"""Reruns of a recorded turn: replays, experiments of trials with changes, searches for causes and through time.

They read the conversation and never change it, so viewers may run them. Experiments are stored with their author, who
may delete them; so may editors.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.http import HttpResponseBase
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import InvalidInput, NotFound
from sessions_app.actions.experiments.experiments import cancel_experiment, delete_experiment
from sessions_app.api.experiments.progress import experiment_stream
from sessions_app.api.experiments.records import (
    bisect_record,
    diagnosis_record,
    estimate_record,
    experiment_record,
    listed_experiment,
    replay_record,
)
from sessions_app.api.experiments.requests import (
    BisectRequest,
    DiagnosisRequest,
    ExperimentListQuery,
    ExperimentRequest,
    TrialsRequest,
    expectation_of,
)
from sessions_app.api.experiments.responses import ExperimentObject
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import StreamQuery
from sessions_app.api.shell.views import ApiView
from sessions_app.experiments.diagnosis.search import Bounds
from sessions_app.experiments.replays.replay import replay_turn
from sessions_app.experiments.running.experiments import (
    estimate_rest,
    estimate_trials,
    start_bisect,
    start_diagnosis,
    start_more_trials,
    start_trials,
)
from sessions_app.experiments.trials.documents import changes_of
from sessions_app.models import Experiment, ExplainabilityTurn, Session
from sessions_app.queries.experiments import experiments
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.sessions.lookups import session as session_of
from sessions_app.queries.settings.projects import is_at_least
from sessions_app.queries.turns import registry as turns

SPARE_MS = 5_000
"""Time beyond the search itself that a request waits for a free place and for the replay."""


class ExperimentView(ApiView):
    """What endpoints of experiments share."""

    write_role = "viewer"

    def check_may_ask(self, body: Mapping[str, Any]) -> None:
        """Refuse a viewer who would have a model asked.

        Raises:
            PermissionDenied: FORBIDDEN.
        """
        if body["allow_model"] and not is_at_least(self.access.role, "editor"):
            raise PermissionDenied("Only an editor may have a model asked.")

    def varied(self, body: Mapping[str, Any]) -> tuple[Session, ExplainabilityTurn | None, str]:
        """Return what trials vary: a session's turn, or a message that was never sent to it.

        Raises:
            InvalidInput: both are named.
            NotFound: SESSION_NOT_FOUND, TURN_NOT_FOUND.
        """
        self.session_id, message = body["session_id"], body.get("message") or ""
        if not body.get("request_id"):
            return session_of(self.project, body["session_id"]), None, message
        if message:
            raise InvalidInput("An experiment is over a turn or over a message, not both.")
        turn = turns.turn(self.project, body["session_id"], body["request_id"])
        return turn.session, turn, ""

    def check_may_change(self, experiment: Experiment) -> None:
        """Refuse who neither ran the experiment nor is an editor.

        Raises:
            PermissionDenied: FORBIDDEN.
        """
        author = self.author
        is_own = experiment.created_by_id == (author.user.pk if author.user else None)
        if not (is_own and experiment.created_by_name == author.name) and not is_at_least(self.access.role, "editor"):
            raise PermissionDenied("Only an editor may change an experiment of somebody else.")


class Replay(ApiView):
    """An ended turn run again with nothing changed."""

    write_role = "viewer"

    @schemas.turn_replay
    def post(self, request: Request, session_id: str, request_id: str) -> Response:
        """Run the turn again and say whether it comes out as it is recorded."""
        turn = turns.turn(self.project, session_id, request_id)
        return Response(replay_record(replay_turn(turn)))


class Diagnoses(ExperimentView):
    """What a turn's answer depends on."""

    @schemas.turn_diagnose
    def post(self, request: Request, session_id: str, request_id: str) -> Response:
        """Search for causes by trials, within bounds."""
        turn = turns.turn(self.project, session_id, request_id)
        body = self.body(DiagnosisRequest)
        self.check_may_ask(body)
        bounds = Bounds(max_trials=body["max_trials"], max_ms=body["max_ms"], exhaustive=body["exhaustive"])
        wait_ms = body.get("wait_ms")
        experiment = start_diagnosis(
            turn,
            expectation_of(body),
            bounds,
            self.author,
            allow_model=body["allow_model"],
            wait_ms=bounds.max_ms + SPARE_MS if wait_ms is None else wait_ms,
        )
        return Response(diagnosis_record(experiment, estimate_rest(experiment)))


class Bisects(ExperimentView):
    """Since when a turn is answered as it is."""

    @schemas.turn_bisect
    def post(self, request: Request, session_id: str, request_id: str) -> Response:
        """Search the session's turns, or a base's revisions, for the first that leads to the present answer."""
        turn = turns.turn(self.project, session_id, request_id)
        body = self.body(BisectRequest)
        base = knowledge_base(self.project, body["kb_id"]) if body.get("kb_id") else None
        experiment = start_bisect(turn, expectation_of(body), self.author, base, wait_ms=body["wait_ms"])
        return Response(bisect_record(experiment))


class Experiments(ExperimentView):
    @schemas.experiment_list
    def get(self, request: Request) -> Response:
        """List experiments, the newest first."""
        query = self.parameters(ExperimentListQuery)
        listed = experiments.experiment_page(
            self.project, query["limit"], query.get("cursor"), kind=query.get("kind", "")
        )
        return self.listed("experiments", listed, listed_experiment)

    @schemas.experiment_create
    def post(self, request: Request) -> Response:
        """Begin trials of a turn, or of a message that was never sent."""
        body = self.body(ExperimentRequest)
        session, turn, message = self.varied(body)
        self.check_may_ask(body)
        changes = [changes_of(item) for item in body["trials"]]
        experiment = start_trials(
            session,
            turn,
            changes,
            self.author,
            message=message,
            allow_model=body["allow_model"],
            wait_ms=body["wait_ms"],
        )
        return Response(self._record(experiment.experiment_id), status=201)

    def _record(self, experiment_id: str) -> ExperimentObject:
        experiment = experiments.experiment(self.project, experiment_id)
        return experiment_record(experiment, experiments.trials(experiment))


class ExperimentEstimate(ExperimentView):
    """What an experiment would take from a model."""

    @schemas.experiment_estimate
    def post(self, request: Request) -> Response:
        """Estimate it; nothing is run."""
        body = self.body(ExperimentRequest)
        session, turn, message = self.varied(body)
        return Response(estimate_record(estimate_trials(session, turn, message, len(body["trials"]))))


class OneExperiment(ExperimentView):
    @schemas.experiment_read
    def get(self, request: Request, experiment_id: str) -> HttpResponseBase:
        """Read it with its trials; with `stream` as server-sent events while it runs."""
        query = self.parameters(StreamQuery)
        experiment = experiments.experiment(self.project, experiment_id)
        if query["stream"]:
            return experiment_stream(self, experiment)
        return Response(experiment_record(experiment, experiments.trials(experiment)))

    @schemas.experiment_delete
    def delete(self, request: Request, experiment_id: str) -> Response:
        """Stop the experiment and delete it with its trials and their traces; idempotent."""
        with suppress(NotFound):
            experiment = experiments.experiment(self.project, experiment_id)
            self.check_may_change(experiment)
            delete_experiment(experiment)
        return Response(status=204)


class ExperimentTrials(ExperimentView):
    """Further trials of an experiment."""

    @schemas.experiment_add
    def post(self, request: Request, experiment_id: str) -> Response:
        """Run further trials beside those that it has."""
        body = self.body(TrialsRequest)
        experiment = experiments.experiment(self.project, experiment_id)
        self.check_may_change(experiment)
        self.check_may_ask({"allow_model": experiment.asks_models})
        start_more_trials(experiment, [changes_of(item) for item in body["trials"]], wait_ms=body["wait_ms"])
        again = experiments.experiment(self.project, experiment_id)
        return Response(experiment_record(again, experiments.trials(again)), status=201)


class CancelExperiment(ExperimentView):
    @schemas.experiment_cancel
    def post(self, request: Request, experiment_id: str) -> Response:
        """Ask a running experiment to end; what it has tried is kept."""
        experiment = experiments.experiment(self.project, experiment_id)
        self.check_may_change(experiment)
        cancel_experiment(experiment)
        return Response({"experiment_id": experiment_id, "status": "cancelling"}, status=202)
