"""Sessions: made, listed, read, named, ended."""

from contextlib import suppress

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.conversation.flags import ALIASES, flags_in
from mrpvm.conversation.flags import NAMES as FLAGS
from mrpvm.errors import NotFound
from sessions_app.actions.sessions.session import change_session, create_session, delete_session
from sessions_app.actions.sessions.slots import waiting_for_slot
from sessions_app.api.sessions.skill_payloads import identity_payload, snapshot_payload
from sessions_app.api.sessions.skill_responses import FrozenState, NewSession, SessionRecord
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import (
    SessionCreateRequest,
    SessionListQuery,
    SessionPatchRequest,
    choices_of,
)
from sessions_app.api.shell.responses import ChoicesReported, SessionMetadata
from sessions_app.api.shell.views import ApiView
from sessions_app.models import Project, Session
from sessions_app.queries.knowledge.bases import knowledge_base
from sessions_app.queries.paging import cursor_number, page, when
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.settings.model_roles import session_config

_LATEST_FIRST = (("-last_activity_at", when), ("-id", cursor_number))


def metadata(session: Session) -> SessionMetadata:
    """Return what a session that has its counts reports of itself."""
    return {
        "session_id": session.session_id,
        "title": session.title,
        "label": session.label,
        "status": sessions.session_status(session),
        "created_at": session.created_at,
        "last_activity_at": session.last_activity_at,
        "expires_at": session.expires_at,
        "message_count": session.message_count,
        "session_context_unit_count": session.unit_count,
        "pending_turn_context_unit_count": session.pending_unit_count,  # type: ignore[attr-defined]
        **_choices(session),
        "flags": session.flags,
        "workspace_source_count": session.draft.source_count,
        "workspace_unit_count": session.draft.unit_count,
        "workspace_last_saved_at": session.saved_at,  # type: ignore[attr-defined]
        "explainability_turn_count": session.turn_count,  # type: ignore[attr-defined]
        "failed_turn_count": session.failed_turn_count,
    }


def _choices(session: Session) -> ChoicesReported:
    return {
        "planner_plugin": session.preferred_planner_plugin,
        "seed_detector_plugin": session.preferred_seed_detector_plugin,
        "kb_plugin": session.preferred_kb_plugin,
        "goal_solver_plugin": session.preferred_goal_solver_plugin,
        "deliberation_level": session.preferred_deliberation_level,
        "model": session.preferred_model,
        "kb_id": session.mounted_kb.kb_id,
        "kb_name": session.mounted_kb.name,
        "workspace_dirty": session.is_dirty,
    }


def read_metadata(project: Project, session_id: str) -> SessionRecord:
    """Return a session's metadata as it is now; SESSION_NOT_FOUND if the project has none of this id."""
    session = sessions.counted_session(project, session_id)
    return {**metadata(session), **_frozen(session)}


def _frozen(session: Session) -> FrozenState:
    """Return what the session keeps until it is told otherwise."""
    return {
        **identity_payload(session),
        "skill_snapshot": snapshot_payload(session),
        "model_config": session_config(session),
        "planner_statistics_frozen": session.planner_statistics is not None,
    }


class Sessions(ApiView):
    @schemas.session_list
    def get(self, request: Request) -> Response:
        """List sessions, the latest activity first."""
        query = self.parameters(SessionListQuery)
        matching = sessions.filtered_sessions(
            self.project, words=query.get("q"), status=query.get("status"), kb_id=query.get("kb_id")
        )
        return self.listed("sessions", page(matching, _LATEST_FIRST, query["limit"], query.get("cursor")), metadata)

    @schemas.session_create
    def post(self, request: Request) -> Response:
        """Make a session and mount its base, or nothing at all."""
        body = self.body(SessionCreateRequest)
        kb_id = body.get("kb_id")
        base = None if kb_id is None else knowledge_base(self.project, kb_id)
        flags = flags_in(dict(request.data))
        session = create_session(
            self.project, choices_of(body), base=base, title=body.get("title"), flags=flags,
            freeze_planner_statistics=body["freeze_planner_statistics"],
        )  # fmt: skip
        new: NewSession = {
            "session_id": session.session_id,
            "title": session.title,
            "created_at": session.created_at,
            "expires_at": session.expires_at,
            **_choices(session),
            **_frozen(session),
        }
        return Response(new, status=201)


class OneSession(ApiView):
    @schemas.session_read
    def get(self, request: Request, session_id: str) -> Response:
        """Read the metadata; reading is no activity, and an expired session stays readable."""
        return Response(read_metadata(self.project, session_id))

    @schemas.session_patch
    def patch(self, request: Request, session_id: str) -> Response:
        """Name the session or take its name away, and choose its policies; what is not named stays."""
        body, session = self.body(SessionPatchRequest), sessions.session(self.project, session_id)
        named = {name: value for name, value in dict(request.data).items() if ALIASES.get(name, name) in FLAGS}
        waiting_for_slot(body["wait_ms"], lambda: change_session(session, {"flags": named, **body}))
        return Response(read_metadata(self.project, session_id))

    @schemas.session_delete
    def delete(self, request: Request, session_id: str) -> Response:
        """End the session; one that is gone already, or was never there, is fine too."""
        with suppress(NotFound):
            delete_session(sessions.session(self.project, session_id))
        return Response(status=204)
