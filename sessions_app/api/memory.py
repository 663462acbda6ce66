"""What a session remembers of its earlier turns: read and cleared [K30]."""

from contextlib import suppress

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.memory import clear_memory
from sessions_app.actions.slots import waiting_for_slot
from sessions_app.api import schemas
from sessions_app.api.content_payloads import memory_payload
from sessions_app.api.requests import WaitQuery
from sessions_app.api.views import ApiView
from sessions_app.queries.memory import remembered_by
from sessions_app.queries.sessions import session


class SessionMemory(ApiView):
    """The session's memory."""

    @schemas.memory_read
    def get(self, request: Request, session_id: str) -> Response:
        """Read it; reading keeps nothing alive."""
        found = session(self.project, session_id)
        return Response({"session_id": found.session_id, **memory_payload(*remembered_by(found))})

    @schemas.memory_clear
    def delete(self, request: Request, session_id: str) -> Response:
        """Clear it; an empty one, and that of a session that is not there, is fine too [S-18]."""
        wait_ms = self.parameters(WaitQuery)["wait_ms"]
        with suppress(NotFound):
            found = session(self.project, session_id)
            waiting_for_slot(wait_ms, lambda: clear_memory(found))
        return Response(status=204)
