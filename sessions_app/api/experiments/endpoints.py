"""A recorded turn run again: replay, trials with changes, and the search for what its answer depends on.

Nothing of these is stored, so a viewer may ask for them.
"""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.values import Selection
from sessions_app.api.experiments.records import diagnosis_record, replay_record, trial_record
from sessions_app.api.experiments.requests import DiagnosisRequest, TrialRequest
from sessions_app.api.shell import schemas
from sessions_app.api.shell.views import ApiView
from sessions_app.experiments.changes import Changes
from sessions_app.experiments.diagnosis import diagnose, replay_turn, try_turn
from sessions_app.experiments.search import Bounds, Expectation
from sessions_app.queries.turns import registry as turns


class Replay(ApiView):
    """An ended turn run again with nothing changed."""

    write_role = "viewer"

    @schemas.turn_replay
    def post(self, request: Request, session_id: str, request_id: str) -> Response:
        """Run the turn again and say whether it comes out as it is recorded."""
        found = turns.turn(self.project, session_id, request_id)
        return Response(replay_record(replay_turn(found)))


class Trials(ApiView):
    """An ended turn run again with changes."""

    write_role = "viewer"

    @schemas.turn_try
    def post(self, request: Request, session_id: str, request_id: str) -> Response:
        """Run the turn again with what the body changes, and give what it answers."""
        found = turns.turn(self.project, session_id, request_id)
        return Response(trial_record(try_turn(found, _changes(self.body(TrialRequest)))))


class Diagnoses(ApiView):
    """What a turn's answer depends on."""

    write_role = "viewer"

    @schemas.turn_diagnose
    def post(self, request: Request, session_id: str, request_id: str) -> Response:
        """Search for causes by trials, within bounds."""
        found = turns.turn(self.project, session_id, request_id)
        body = self.body(DiagnosisRequest)
        expected = Expectation(
            should_contain=body.get("should_contain") or "", should_not_contain=body.get("should_not_contain") or ""
        )
        bounds = Bounds(max_trials=body["max_trials"], max_ms=body["max_ms"], exhaustive=body["exhaustive"])
        return Response(diagnosis_record(diagnose(found, expected, bounds)))


def _changes(body: dict[str, Any]) -> Changes:
    """Return the changes of a validated body."""
    return Changes(
        message=body.get("message"),
        history_through=body.get("history_through"),
        without_units=tuple(body.get("without_units") or ()),
        without_sources=tuple(body.get("without_sources") or ()),
        base=body.get("base"),
        revision=body.get("revision"),
        pins=Selection(
            planner=body.get("planner_plugin"),
            seed_detector=body.get("seed_detector_plugin"),
            kb=body.get("kb_plugin"),
            goal_solver=body.get("goal_solver_plugin"),
        ),
        without_preferences=bool(body.get("without_preferences")),
        deliberation_level=body.get("deliberation_level"),
        grounding=body.get("grounding"),
        flags=body.get("flags") or {},
        limits=body.get("limits") or {},
        without_plugins=tuple(body.get("without_plugins") or ()),
        system_prompt=body.get("system_prompt"),
        model=body.get("model"),
    )
