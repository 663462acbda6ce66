"""What the project may use and what it uses, for its admins."""

from collections.abc import Mapping

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.actions.settings.quotas import choose_quotas
from sessions_app.api.shell import schemas
from sessions_app.api.shell.requests import QuotasRequest
from sessions_app.api.shell.responses import QuotaObject
from sessions_app.api.shell.views import ApiView
from sessions_app.models import Project
from sessions_app.queries.settings.quotas import Use, uses


class Quotas(ApiView):
    """Each quota with what is used of it."""

    read_role = write_role = "admin"

    @schemas.quotas_read
    def get(self, request: Request) -> Response:
        """Return the use and the limits."""
        return Response(_quotas(self.project))

    @schemas.quotas_change
    def patch(self, request: Request) -> Response:
        """Change the limits that are named."""
        return Response(_quotas(choose_quotas(self.project, self.body(QuotasRequest)["limits"])))


def _quotas(project: Project) -> Mapping[str, list[QuotaObject]]:
    return {"quotas": [_quota(use) for use in uses(project)]}


def _quota(use: Use) -> QuotaObject:
    return {"kind": use.kind.value, "name": str(use.kind.label), "used": use.used, "limit": use.limit}
