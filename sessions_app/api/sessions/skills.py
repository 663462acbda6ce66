"""A session's skills: the snapshot, what a reload would change, and the reload."""

from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.assistants.skills import SkillSnapshot, difference
from sessions_app.actions.sessions.frozen_content import reload_skills
from sessions_app.actions.sessions.slots import waiting_for_slot
from sessions_app.api.sessions.skill_payloads import difference_payload, skill_payload, snapshot_payload
from sessions_app.api.sessions.skill_responses import SnapshotStanding
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import WaitFields
from sessions_app.api.shell.views import ApiView
from sessions_app.models import Session
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.sessions.frozen_content import skills_of
from sessions_app.queries.sessions.skill_files import current_skills


class OneSessionSkills(ApiView):
    """What the session has frozen of skills."""

    @schemas.skills_read
    def get(self, request: Request, session_id: str) -> Response:
        """Return the snapshot with every skill's instructions; no file is read."""
        session = sessions.session(self.project, session_id)
        skills = [{**skill_payload(item), "instructions": item.instructions} for item in skills_of(session).skills]
        return Response({"session_id": session.session_id, **snapshot_payload(session), "skills": skills})


class SkillsDifference(ApiView):
    """What a reload would change."""

    @schemas.skills_difference
    def get(self, request: Request, session_id: str) -> Response:
        """Hold the snapshot against what the files say now; nothing changes."""
        session = sessions.session(self.project, session_id)
        held, current = skills_of(session), current_skills(self.project)
        return Response({**_standing(session, held, current), "current_hash": current.content_hash})


class ReloadSkills(ApiView):
    @schemas.skills_reload
    def post(self, request: Request, session_id: str) -> Response:
        """Replace the session's snapshot by what the files say now; other sessions keep theirs."""
        session, wait_ms = sessions.session(self.project, session_id), self.body(WaitFields)["wait_ms"]
        before = skills_of(session)
        reloaded = waiting_for_slot(wait_ms, lambda: reload_skills(session))
        after = skills_of(reloaded)
        return Response({**_standing(reloaded, before, after), "count": len(after.skills)})


def _standing(session: Session, before: SkillSnapshot, after: SkillSnapshot) -> SnapshotStanding:
    """Return the session's snapshot as it is, and what leads from one to another."""
    return {
        "session_id": session.session_id,
        "version": session.snapshot_version,
        "hash": skills_of(session).content_hash,
        "difference": difference_payload(difference(before, after)),
    }
