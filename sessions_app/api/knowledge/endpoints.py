"""Knowledge bases: made, listed, read, restored, compacted."""

from contextlib import suppress

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from mrpvm.errors import NotFound
from sessions_app.actions.knowledge.bases import create_base, delete_base, remove_source, restore_base
from sessions_app.actions.knowledge.revisions import ask_for_compaction, restore_revision
from sessions_app.api.knowledge.responses import Repository, RepositoryCreated, RevisionObject, SourceAdded
from sessions_app.api.knowledge.source_stream import source_answer
from sessions_app.api.sessions.content_payloads import quarantined_payload, source_payload
from sessions_app.api.shell import schemas
from sessions_app.api.shell.parsers import JSONObjectParser, UploadParser
from sessions_app.api.shell.requests import (
    KBCreateRequest,
    PageQuery,
    RestoreRequest,
    SourceRequest,
    StreamQuery,
    UploadRequest,
    sends_file,
    upload_of,
)
from sessions_app.api.shell.views import ApiView
from sessions_app.ingest.load import OnStage, load_source
from sessions_app.models import KBRevision, KnowledgeBase
from sessions_app.queries.knowledge.bases import (
    knowledge_base,
    knowledge_bases,
    quarantined_of_base,
    revisions,
    sources,
    stale_source_keys,
)
from sessions_app.queries.paging import cursor_number, page, text

_DEFAULT_FIRST = (("-is_default", cursor_number), ("name", text), ("id", cursor_number))


def repository(base: KnowledgeBase) -> Repository:
    return {
        "id": base.kb_id,
        "kbId": base.kb_id,
        "name": base.name,
        "createdAt": base.created_at,
        "updatedAt": base.updated_at,
        "parentKbId": base.parent.kb_id if base.parent else None,
        "isDefault": base.is_default,
        "sourceCount": base.source_count,
        "unitCount": base.head.unit_count,
        "revision": base.revision,
    }


class KnowledgeBases(ApiView):
    """The project's knowledge bases."""

    @schemas.kb_list
    def get(self, request: Request) -> Response:
        """List bases, the default one first, then by name."""
        query = self.parameters(PageQuery)
        bases = knowledge_bases(self.project)
        return self.listed("kbs", page(bases, _DEFAULT_FIRST, query["limit"], query.get("cursor")), repository)

    @schemas.kb_create
    def post(self, request: Request) -> Response:
        """Make an empty base; names need not be unique."""
        base = create_base(self.project, self.body(KBCreateRequest).get("name") or "")
        created: RepositoryCreated = {
            "id": base.kb_id,
            "kb_id": base.kb_id,
            "kb_name": base.name,
            "created_at": base.created_at,
            "updated_at": base.updated_at,
            "parent_kb_id": None,
            "is_default": base.is_default,
        }
        return Response(created, status=201)


class OneKnowledgeBase(ApiView):
    @schemas.kb_read
    def get(self, request: Request, kb_id: str) -> Response:
        """Read the base; `default` is an alias for the project's default one."""
        return Response(repository(knowledge_base(self.project, kb_id)))

    @schemas.kb_delete
    def delete(self, request: Request, kb_id: str) -> Response:
        """Delete the base; one that is gone already, or was never there, is fine too."""
        with suppress(NotFound):
            delete_base(knowledge_base(self.project, kb_id))
        return Response(status=204)


class Undelete(ApiView):
    """A deleted base, back again."""

    @schemas.kb_undelete
    def post(self, request: Request, kb_id: str) -> Response:
        """Restore the base; idempotent."""
        try:
            base = knowledge_base(self.project, kb_id)
        except NotFound:
            base = restore_base(self.project, kb_id)
        return Response(repository(base))


class Revisions(ApiView):
    """What a base was."""

    @schemas.kb_revisions
    def get(self, request: Request, kb_id: str) -> Response:
        """List its revisions, the newest first."""
        query, base = self.parameters(PageQuery), knowledge_base(self.project, kb_id)
        listed = page(revisions(base), (("-revision", cursor_number),), query["limit"], query.get("cursor"))

        def payload(row: KBRevision) -> RevisionObject:
            return {
                "revision": row.revision,
                "reason": row.reason,
                "createdAt": row.created_at,
                "unitCount": row.layer.unit_count,
                "isCurrent": row.revision == base.revision,
            }

        return self.listed("revisions", listed, payload)


class Restore(ApiView):
    """Going back to an earlier revision."""

    @schemas.kb_restore
    def post(self, request: Request, kb_id: str) -> Response:
        """Make a new revision that shows what an earlier one showed."""
        base, body = knowledge_base(self.project, kb_id), self.body(RestoreRequest)
        expected = body.get("expected_revision")
        restored = restore_revision(base, body["revision"], actor=self.access.actor, expected=expected)
        return Response(repository(restored))


class Compaction(ApiView):
    """A shorter chain of layers."""

    @schemas.kb_compact
    def post(self, request: Request, kb_id: str) -> Response:
        """Ask for it; it is done in the background."""
        return Response(repository(ask_for_compaction(knowledge_base(self.project, kb_id))), status=202)


class Sources(ApiView):
    """The texts that a base's units were made from."""

    parser_classes = (JSONObjectParser, UploadParser)

    @schemas.source_list
    def get(self, request: Request, kb_id: str) -> Response:
        """List sources, the newest first, without their texts."""
        query = self.parameters(PageQuery)
        base = knowledge_base(self.project, kb_id)
        listed = page(sources(base), (("-id", cursor_number),), query["limit"], query.get("cursor"))
        stale = stale_source_keys(base.head)
        return self.listed("sources", listed, lambda row: source_payload(row, stale), base.source_count)

    @schemas.source_add
    def post(self, request: Request, kb_id: str) -> HttpResponseBase:
        """Add a text or file; the same `source_id` again replaces that source, for sessions that mount from now on."""
        base, streams = knowledge_base(self.project, kb_id), self.parameters(StreamQuery)["stream"]
        upload = upload_of(self.body(UploadRequest if sends_file(request.data) else SourceRequest))

        def work(on_stage: OnStage) -> SourceAdded:
            loaded = load_source(base, upload, on_stage)
            return {"kb_id": base.kb_id, **source_payload(loaded.source), "unchanged": loaded.is_unchanged}

        return source_answer(self, work, status=201, streams=streams)


class OneSource(ApiView):
    """One source that a base shows."""

    @schemas.source_remove
    def delete(self, request: Request, kb_id: str, source_id: str) -> Response:
        """Remove the source; one that is gone already, or was never there, is fine too."""
        with suppress(NotFound):
            remove_source(knowledge_base(self.project, kb_id), source_id)
        return Response(status=204)


class BaseQuarantine(ApiView):
    """Parts of the base's sources that did not become units."""

    @schemas.kb_quarantine
    def get(self, request: Request, kb_id: str) -> Response:
        """List them, the newest first, with the reasons."""
        query = self.parameters(PageQuery)
        chunks = quarantined_of_base(knowledge_base(self.project, kb_id))
        return self.listed(
            "chunks", page(chunks, (("-id", cursor_number),), query["limit"], query.get("cursor")), quarantined_payload
        )
