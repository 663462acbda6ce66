"""What a session holds: messages, units, mounts; material loaded into it; and the whole as a file."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.settings.audit import record_export
from sessions_app.api.sessions.content_payloads import (
    message_payload,
    mount_payload,
    quarantined_payload,
    unit_life_payload,
    unit_payload,
)
from sessions_app.api.sessions.export import exported_file
from sessions_app.api.shell import schemas
from sessions_app.api.shell.parsers import JSONObjectParser, UploadParser
from sessions_app.api.shell.requests import (
    ContextRequest,
    ExportQuery,
    PageQuery,
    SessionUploadRequest,
    UnitListQuery,
    sends_file,
    upload_of,
)
from sessions_app.api.shell.views import ApiView
from sessions_app.ingest.load import load_context
from sessions_app.queries.knowledge.bases import quarantined_of_session
from sessions_app.queries.knowledge.provenance import provenance
from sessions_app.queries.paging import cursor_number, page
from sessions_app.queries.sessions import lookups as sessions
from sessions_app.queries.turns.registry import unit_life

LEDGER_STEPS_MAX = 200
CONTEXT_NAME = "session-context.txt"


class Messages(ApiView):
    @schemas.message_list
    def get(self, request: Request, session_id: str) -> Response:
        """List messages, the first first."""
        query = self.parameters(PageQuery)
        owner = sessions.session(self.project, session_id)
        listed = page(sessions.messages(owner), (("sequence", cursor_number),), query["limit"], query.get("cursor"))
        return self.listed("messages", listed, message_payload, owner.message_count)


class Units(ApiView):
    """What the conversation and context loads taught the session."""

    @schemas.unit_list
    def get(self, request: Request, session_id: str) -> Response:
        """List units, the oldest first."""
        query = self.parameters(UnitListQuery)
        rows = sessions.units(sessions.session(self.project, session_id), query.get("state"))
        return self.listed(
            "units", page(rows, (("id", cursor_number),), query["limit"], query.get("cursor")), unit_payload
        )


class OneUnit(ApiView):
    """One unit that the session sees or saw, of its own, its base or its draft, and its ledger."""

    @schemas.unit_read
    def get(self, request: Request, session_id: str, unit_id: str) -> Response:
        """Read the unit with the newest steps of its life and how many there are."""
        owner = sessions.session(self.project, session_id)
        known, steps = provenance(owner, unit_id), unit_life(owner, unit_id)
        return Response(unit_life_payload(owner, known, steps[-LEDGER_STEPS_MAX:], len(steps)))


class Mounts(ApiView):
    """Which bases the session could see, and when."""

    @schemas.mount_list
    def get(self, request: Request, session_id: str) -> Response:
        """List mounts, the newest first."""
        query = self.parameters(PageQuery)
        rows = sessions.mounts(sessions.session(self.project, session_id))
        return self.listed(
            "mounts", page(rows, (("-id", cursor_number),), query["limit"], query.get("cursor")), mount_payload
        )


class SessionContext(ApiView):
    """Material the session should know."""

    parser_classes = (JSONObjectParser, UploadParser)

    @schemas.context_load
    def post(self, request: Request, session_id: str) -> Response:
        """Load material straight into the session's units; no message, and the draft stays clean."""
        body = self.body(SessionUploadRequest if sends_file(request.data) else ContextRequest)
        upload = upload_of(body, CONTEXT_NAME)
        loaded = load_context(sessions.session(self.project, session_id), upload, wait_ms=body["wait_ms"])
        owner = loaded.load.session
        return Response(
            {
                "session_id": owner.session_id,
                "sourceId": loaded.source_id,
                "name": upload.name,
                "unitCount": loaded.load.unit_count,
                "addedUnitCount": loaded.load.added_count,
                "droppedUnitCount": loaded.load.dropped_count,
                "quarantinedChunkCount": loaded.quarantined_count,
                "session_context_unit_count": owner.unit_count,
                "kb_id": owner.mounted_kb.kb_id,
                "kb_name": owner.mounted_kb.name,
                "workspace_dirty": owner.is_dirty,
                "seed_detector_plugin": loaded.seed_detector,
            }
        )


class SessionQuarantine(ApiView):
    """Parts of loaded material that did not become units."""

    @schemas.session_quarantine
    def get(self, request: Request, session_id: str) -> Response:
        """List them, the newest first, with the reasons."""
        query = self.parameters(PageQuery)
        chunks = quarantined_of_session(sessions.session(self.project, session_id))
        return self.listed(
            "chunks", page(chunks, (("-id", cursor_number),), query["limit"], query.get("cursor")), quarantined_payload
        )


class Export(ApiView):
    """The session as a file to keep or send."""

    @schemas.session_export
    def get(self, request: Request, session_id: str) -> HttpResponse:
        """Return the conversation as Markdown, or what the session holds as JSON, without the traces of its turns."""
        form = self.parameters(ExportQuery)["format"]
        exported = sessions.session(self.project, session_id)
        file = exported_file(exported, form)
        record_export(exported, form)
        return file
