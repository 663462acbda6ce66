"""The policies of a session: read, each with who chose it, and chosen."""

from dataclasses import asdict
from typing import cast

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.sessions.session import choose_policies
from sessions_app.actions.sessions.slots import waiting_for_slot
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import PoliciesRequest
from sessions_app.api.shell.responses import PolicyList, PolicyObject
from sessions_app.api.shell.views import ApiView
from sessions_app.models import Session
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.sessions.flags import policies_of


def _payload(session: Session) -> PolicyList:
    return {
        "session_id": session.session_id,
        "policies": [cast("PolicyObject", asdict(policy)) for policy in policies_of(session)],
    }


class SessionPolicies(ApiView):
    @schemas.policies_read
    def get(self, request: Request, session_id: str) -> Response:
        return Response(_payload(sessions.session(self.project, session_id)))

    @schemas.policies_patch
    def patch(self, request: Request, session_id: str) -> Response:
        """Choose some, or take choices back."""
        session = sessions.session(self.project, session_id)
        body = self.body(PoliciesRequest)
        named = {name: value for name, value in dict(request.data).items() if name != "wait_ms"}
        return Response(_payload(waiting_for_slot(body["wait_ms"], lambda: choose_policies(session, named))))
