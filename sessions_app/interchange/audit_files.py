"""The audit log as a file, sent while it is read: CSV for tables, JSON lines for programs."""

import csv
import io
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from mrpvm.wire import json_bytes
from sessions_app.actions.settings.audit import record
from sessions_app.database import living_connection
from sessions_app.models import AuditEntry, AuditKind, Project
from sessions_app.queries.settings.audit import AuditFilter, entries_after, newest_key

_ENTRIES_A_PIECE = 500
_FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")


def entry_record(entry: AuditEntry) -> dict[str, Any]:
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


_COLUMNS = ("id", "at", "kind", "actor_kind", "actor", "address", "request_id", "subject", "facts")


def csv_of(entries: Sequence[AuditEntry]) -> bytes:
    """Return rows of CSV; what a spreadsheet would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text)
    for entry in entries:
        record = entry_record(entry) | {"at": entry.at.isoformat(), "facts": json_bytes(entry.facts).decode()}
        writer.writerow([_plain(str(record[column])) for column in _COLUMNS])
    return text.getvalue().encode()


def _plain(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA_BEGINNINGS) else cell


def json_lines_of(entries: Sequence[AuditEntry]) -> bytes:
    """Return one JSON object a line."""
    return b"".join(orjson.dumps(entry_record(entry)) + b"\n" for entry in entries)


FORMS: Mapping[str, tuple[str, bytes, Callable[[Sequence[AuditEntry]], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", (",".join(_COLUMNS) + "\r\n").encode(), csv_of),
    "jsonl": ("application/jsonl", b"", json_lines_of),
}
"""The media type, what the file begins with, and how entries are written, by the ending of the file's name."""


def audit_response(project: Project, wanted: AuditFilter, form: str) -> StreamingHttpResponse:
    """Return the entries that fit as a download, and record that it was made."""
    through = newest_key(project)
    record(AuditKind.EXPORTED, project.pk, "audit log", form=form)
    headers = {"Content-Disposition": f'attachment; filename="audit-{project.slug}.{form}"'}
    return StreamingHttpResponse(_pieces(project, wanted, form, through), content_type=FORMS[form][0], headers=headers)


async def _pieces(project: Project, wanted: AuditFilter, form: str, through: int) -> AsyncIterator[bytes]:
    """Yield the entries that fit, the oldest first, up to the key `through`: what came in since is not in the file."""
    _, beginning, written = FORMS[form]
    yield beginning
    key = 0
    while piece := await sync_to_async(_read)(project, wanted, key):
        kept = [entry for entry in piece if entry.pk <= through]
        yield written(kept)
        if len(kept) < len(piece) or len(piece) < _ENTRIES_A_PIECE:
            return
        key = piece[-1].pk


def _read(project: Project, wanted: AuditFilter, key: int) -> Sequence[AuditEntry]:
    with living_connection():
        return entries_after(project, wanted, key, _ENTRIES_A_PIECE)
