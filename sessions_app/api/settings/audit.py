"""The audit log of the project: who changed what, for its admins."""

from typing import Any

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import AuditExportQuery, AuditListQuery
from sessions_app.api.shell.views import ApiView
from sessions_app.interchange.audit_files import audit_response, entry_record
from sessions_app.queries.settings.audit import AuditFilter, entry_page


class Audit(ApiView):
    """The entries, a page at a time."""

    read_role = "admin"

    @schemas.audit_list
    def get(self, request: Request) -> Response:
        """List entries, the newest first."""
        query = self.parameters(AuditListQuery)
        listed = entry_page(self.project, _filter(query), query["limit"], query.get("cursor"))
        return self.listed("entries", listed, entry_record)


class AuditExport(ApiView):
    """The entries as a file."""

    read_role = "admin"

    @schemas.audit_export
    def get(self, request: Request) -> StreamingHttpResponse:
        """Send the entries that fit, the oldest first."""
        query = self.parameters(AuditExportQuery)
        return audit_response(self.project, _filter(query), query["format"])


def _filter(query: dict[str, Any]) -> AuditFilter:
    return AuditFilter(
        area=query.get("area", ""),
        actor=query.get("actor", ""),
        subject=query.get("subject", ""),
        since=query.get("since"),
        until=query.get("until"),
    )
