"""What a session does with knowledge bases: mount one, save what it learned, fork."""

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.knowledge.forks import fork_session_kb, save_session_kb
from sessions_app.actions.knowledge.mounts import mount_base
from sessions_app.api.sessions.endpoints import read_metadata
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import KBForkRequest, KBMountRequest, KBSaveRequest
from sessions_app.api.shell.views import ApiView
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.sessions import lookups as sessions


class LoadKB(ApiView):
    reason = "load-api"

    @schemas.kb_load
    def post(self, request: Request, session_id: str) -> Response:
        """Mount the base as it is now; units, messages and preferences of the session stay."""
        body = self.body(KBMountRequest)
        session, base = sessions.session(self.project, session_id), knowledge_base(self.project, body["kb_id"])
        mount_base(
            session, base, reason=self.reason, discard_draft=body["discard_draft"], wait_ms=body["wait_ms"],
            actor=self.access.actor,
        )  # fmt: skip
        return Response(read_metadata(self.project, session_id))


class MountKB(LoadKB):
    """The same under its other name, which is the reason that plugins hear."""

    reason = "mount-api"

    @schemas.kb_mount
    def post(self, request: Request, session_id: str) -> Response:
        """Mount the base as it is now."""
        return super().post(request, session_id)


class SaveKB(ApiView):
    """Saving what the session has."""

    @schemas.kb_save
    def post(self, request: Request, session_id: str) -> Response:
        """Save draft and journal into the mounted base, another one, or a new one."""
        body = self.body(KBSaveRequest)
        session, target_id = sessions.session(self.project, session_id), body.get("target_kb_id")
        save_session_kb(
            session,
            target=knowledge_base(self.project, target_id) if target_id else None,
            name=body.get("name"),
            fork=body["fork"],
            include_conversation_units=body["include_conversation_units"],
            conversation_unit_ids=body.get("conversation_unit_ids"),
            expected_revision=body.get("expected_revision"),
            wait_ms=body["wait_ms"],
            actor=self.access.actor,
        )
        return Response(read_metadata(self.project, session_id))


class ForkKB(ApiView):
    """A base of the session's own."""

    @schemas.kb_fork
    def post(self, request: Request, session_id: str) -> Response:
        """Make a base of what the session sees and mount it."""
        body = self.body(KBForkRequest)
        fork_session_kb(
            sessions.session(self.project, session_id), body.get("name"), wait_ms=body["wait_ms"],
            include_conversation_units=body["include_conversation_units"],
            conversation_unit_ids=body.get("conversation_unit_ids"), actor=self.access.actor,
        )  # fmt: skip
        return Response(read_metadata(self.project, session_id))
