"""Which model answers in which role: the project's table, and a session's own."""

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.sessions.slots import waiting_for_slot
from sessions_app.actions.settings.model_roles import change_model_config, set_model_roles
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import WaitFields
from sessions_app.api.shell.responses import ModelConfigObject
from sessions_app.api.shell.views import ApiView
from sessions_app.language_model import model_names
from sessions_app.models import Session
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.settings.model_roles import session_config, shared_config


class ModelRolesSettings(ApiView):
    """The project's role table; new sessions take it over."""

    write_role = "admin"

    @schemas.model_roles_read
    def get(self, request: Request) -> Response:
        """Return the table and the models there are."""
        config, updated_at = shared_config(self.project)
        return Response({**config, "updatedAt": updated_at, "availableModels": list(model_names())})

    @schemas.model_roles_write
    def put(self, request: Request) -> Response:
        """Replace the table as a whole: what is left out falls back to the defaults."""
        set_model_roles(self.project, request.data)
        return self.get(request)


class SessionModelConfig(ApiView):
    """A session's own table, taken over when it was made."""

    @schemas.model_config_read
    def get(self, request: Request, session_id: str) -> Response:
        """Return the table; an expired session's stays readable."""
        return Response(_config(sessions.session(self.project, session_id)))

    @schemas.model_config_write
    def patch(self, request: Request, session_id: str) -> Response:
        """Replace the maps that are named, or take over the project's table."""
        session, wait_ms = sessions.session(self.project, session_id), self.body(WaitFields)["wait_ms"]
        return Response(_config(waiting_for_slot(wait_ms, lambda: change_model_config(session, request.data))))


def _config(session: Session) -> ModelConfigObject:
    return {"session_id": session.session_id, **session_config(session)}
