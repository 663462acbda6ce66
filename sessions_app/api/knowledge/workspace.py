"""What a session works on and has not saved: its draft over the mounted base."""

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.knowledge.drafts import remove_source
from sessions_app.api.knowledge.responses import SourceStaged, WorkspaceObject
from sessions_app.api.knowledge.source_stream import source_answer
from sessions_app.api.sessions.content_payloads import source_payload
from sessions_app.api.shell import schemas
from sessions_app.api.shell.parsers import JSONObjectParser, UploadParser
from sessions_app.api.shell.requests import (
    PAGE_LIMIT,
    PageQuery,
    SessionUploadRequest,
    StagedSourceRequest,
    StreamQuery,
    WaitQuery,
    sends_file,
    upload_of,
)
from sessions_app.api.shell.views import ApiView
from sessions_app.ingest.load import OnStage, stage_file
from sessions_app.models import KnowledgeSource, Session
from sessions_app.queries.knowledge.bases import stale_source_keys, workspace_sources
from sessions_app.queries.paging import Page, cursor_number, page
from sessions_app.queries.sessions import lookups as sessions


def workspace_page(session: Session, limit: int, cursor: str | None = None) -> Page[KnowledgeSource]:
    """Return a page of the workspace's sources, the newest first; journals are left out."""
    return page(workspace_sources(session), (("-id", cursor_number),), limit, cursor)


def workspace_payload(session: Session, shown: Page[KnowledgeSource]) -> WorkspaceObject:
    """Return the workspace with a page of its sources; journals are counted too."""
    stale = stale_source_keys(session.draft)
    return {
        "session_id": session.session_id,
        "kb_id": session.mounted_kb.kb_id,
        "kb_name": session.mounted_kb.name,
        "workspace": {
            "mountedKbId": session.mounted_kb.kb_id,
            "mountedKbName": session.mounted_kb.name,
            "dirty": session.is_dirty,
            "sourceCount": session.draft.source_count,
            "unitCount": session.draft.unit_count,
            "lastSavedAt": sessions.last_saved_at(session),
            "sources": [source_payload(row, stale) for row in shown.rows],
        },
        "next_cursor": shown.next_cursor,
    }


class Workspace(ApiView):
    @schemas.workspace_read
    def get(self, request: Request, session_id: str) -> Response:
        """Read what the draft shows: the mounted base with what is not saved."""
        query, session = self.parameters(PageQuery), sessions.session(self.project, session_id)
        shown = workspace_page(session, query["limit"], query.get("cursor"))
        return self.linked(workspace_payload(session, shown), next=shown.next_cursor, prev=shown.previous_cursor)


class WorkspaceSources(ApiView):
    """Sources staged in the draft."""

    parser_classes = (JSONObjectParser, UploadParser)

    @schemas.workspace_stage
    def post(self, request: Request, session_id: str) -> HttpResponseBase:
        """Stage a text or file; no base changes before a save or a fork."""
        session, streams = sessions.session(self.project, session_id), self.parameters(StreamQuery)["stream"]
        self.session_id = session.session_id
        body = self.body(SessionUploadRequest if sends_file(request.data) else StagedSourceRequest)
        upload = upload_of(body)

        def work(on_stage: OnStage) -> SourceStaged:
            staged = stage_file(session, upload, on_stage, wait_ms=body["wait_ms"])
            return {
                **source_payload(staged.source),
                "unchanged": staged.is_unchanged,
                "kb_id": staged.session.mounted_kb.kb_id,
                "workspace_dirty": staged.session.is_dirty,
                "seed_detector_plugin": staged.seed_detector,
            }

        return source_answer(self, work, status=200, streams=streams)


class OneWorkspaceSource(ApiView):
    """One source that the draft shows."""

    @schemas.workspace_remove
    def delete(self, request: Request, session_id: str, source_id: str) -> Response:
        """Remove the source from the draft; the mounted base keeps its own until a save."""
        wait_ms = self.parameters(WaitQuery)["wait_ms"]
        remove_source(sessions.session(self.project, session_id), source_id, wait_ms=wait_ms)
        changed = sessions.session(self.project, session_id)
        return Response(workspace_payload(changed, workspace_page(changed, PAGE_LIMIT)))
