"""The audit log as a file."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.conf import settings
from django.http import StreamingHttpResponse

from sessions_app.actions.settings.audit import record
from sessions_app.field_notes import OneOf
from sessions_app.interchange.row_files import Piece, file_response
from sessions_app.models import AuditEntry, AuditKind, Project
from sessions_app.queries.settings.audit import AuditFilter, entries_after, newest_key

COLUMNS = ("id", "at", "kind", "actor_kind", "actor", "address", "request_id", "subject", "facts")


class AuditEntryObject(TypedDict):
    """Who changed what."""

    id: int
    at: datetime
    kind: Annotated[str, "The noun that was changed, a point, and what was done to it."]
    actor_kind: Annotated[str, OneOf(("user", "key", "stranger", "server"))]
    actor: Annotated[str, "The user's name, or the key's with its beginning."]
    address: Annotated[str, "The caller's IP address; empty for the server."]
    request_id: Annotated[str, "As the log names the request."]
    subject: str
    facts: Annotated[Mapping[str, Any], "What else is known; secrets are redacted."]


def entry_record(entry: AuditEntry) -> AuditEntryObject:
    """Return an entry as the API and files give it."""
    return {
        "id": entry.pk,
        "at": entry.at,
        "kind": entry.kind,
        "actor_kind": entry.actor_kind,
        "actor": entry.actor,
        "address": entry.address,
        "request_id": entry.request_id,
        "subject": entry.subject,
        "facts": entry.facts,
    }


def audit_response(project: Project, wanted: AuditFilter, form: str) -> StreamingHttpResponse:
    """Return the entries that fit as a download, the oldest first, and record that it was made."""
    through = newest_key(project)  # what comes in while the file is sent is not in it
    record(AuditKind.EXPORTED, project.pk, "audit log", form=form)

    def read(key: int | None) -> Piece:
        rows = entries_after(project, wanted, key or 0, settings.MRPVM_ROWS_A_PIECE)
        kept = [entry for entry in rows if entry.pk <= through]
        is_last = len(kept) < settings.MRPVM_ROWS_A_PIECE
        return Piece([entry_record(entry) for entry in kept], None if is_last else kept[-1].pk)

    return file_response(f"audit-{project.slug}", form, COLUMNS, read)
