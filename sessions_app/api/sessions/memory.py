"""What a session remembers of its earlier turns: read and cleared."""

from contextlib import suppress

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.sessions.memory import clear_memory
from sessions_app.actions.sessions.slots import waiting_for_slot
from sessions_app.api.sessions.content_payloads import memory_payload
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import WaitQuery
from sessions_app.api.shell.views import ApiView
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.sessions.memory import remembered_by


class OneSessionMemory(ApiView):
    @schemas.memory_read
    def get(self, request: Request, session_id: str) -> Response:
        """Read it; reading keeps nothing alive."""
        session = sessions.session(self.project, session_id)
        return Response({"session_id": session.session_id, **memory_payload(*remembered_by(session))})

    @schemas.memory_clear
    def delete(self, request: Request, session_id: str) -> Response:
        """Clear it; an empty one, and that of a session that is not there, is fine too."""
        wait_ms = self.parameters(WaitQuery)["wait_ms"]
        with suppress(NotFound):
            session = sessions.session(self.project, session_id)
            waiting_for_slot(wait_ms, lambda: clear_memory(session))
        return Response(status=204)
