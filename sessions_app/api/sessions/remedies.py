"""What can be done about a unit of a session that is wrong: retract or hide it, take that back, correct it."""

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.sessions.retractions import restore_unit, retract_unit
from sessions_app.actions.sessions.slots import waiting_for_slot
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import CorrectionRequest, UnitChangeRequest
from sessions_app.api.shell.responses import UnitChange
from sessions_app.api.shell.views import ApiView
from sessions_app.ingest.load import correct_unit
from sessions_app.queries.sessions import lookups as sessions


class RetractUnit(ApiView):
    """Taking a unit out of what a session knows."""

    @schemas.unit_retract
    def post(self, request: Request, session_id: str, unit_id: str) -> Response:
        """Retract a unit of the session's own, or hide one of its base or draft from it."""
        body, session = self.body(UnitChangeRequest), sessions.session(self.project, session_id)
        changed = waiting_for_slot(body["wait_ms"], lambda: retract_unit(session, unit_id, self.access.actor))
        return Response(_change(changed.session_id, unit_id, "retracted", changed.unit_count))


class RestoreUnit(ApiView):
    """Taking a retraction back."""

    @schemas.unit_restore
    def post(self, request: Request, session_id: str, unit_id: str) -> Response:
        """Undo the retraction of the unit."""
        body, session = self.body(UnitChangeRequest), sessions.session(self.project, session_id)
        changed = waiting_for_slot(body["wait_ms"], lambda: restore_unit(session, unit_id, self.access.actor))
        return Response(_change(changed.session_id, unit_id, "restored", changed.unit_count))


class CorrectUnit(ApiView):
    """Putting other words in a unit's place."""

    @schemas.unit_correct
    def post(self, request: Request, session_id: str, unit_id: str) -> Response:
        """Read the text as material of the session, in the unit's place."""
        body, session = self.body(CorrectionRequest), sessions.session(self.project, session_id)
        changed = waiting_for_slot(
            body["wait_ms"], lambda: correct_unit(session, unit_id, body["text"], self.access.actor)
        )
        return Response(_change(changed.session_id, unit_id, "corrected", changed.unit_count))


def _change(session_id: str, unit_id: str, change: str, unit_count: int) -> UnitChange:
    return {"session_id": session_id, "unit_id": unit_id, "change": change, "session_context_unit_count": unit_count}
