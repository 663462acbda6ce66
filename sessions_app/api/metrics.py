"""/metrics: this process's counters in Prometheus' text format, where the settings allow it."""

from django.conf import settings
from django.http import HttpResponse
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from mrpvm.errors import NotFound
from sessions_app.api.shell.permissions import RolePermission
from sessions_app.api.shell.views import ApiView
from sessions_app.metrics import Meters, meters


class MayScrape(RolePermission):
    """Lets anybody in where `MRPVM_METRICS` is `open`, else admins: the figures are of all projects."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the request may continue."""
        return settings.MRPVM_METRICS == "open" or super().has_permission(request, view)

    def needed_role(self, request: Request, view: APIView) -> str:
        """Return the role of admins."""
        return "admin"


class Metrics(ApiView):
    """The counters of the process that answers."""

    permission_classes: tuple[type[BasePermission], ...] = (MayScrape,)
    schema = None

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Answer 404 where metrics are off, before authentication."""
        _counted()
        super().initial(request, *args, **kwargs)

    def get(self, request: Request) -> HttpResponse:
        """Return what was counted since the process started."""
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0, generate_latest

        return HttpResponse(generate_latest(_counted().registry), content_type=CONTENT_TYPE_PLAIN_1_0_0)


def _counted() -> Meters:
    """Return this process's counters.

    Raises:
        NotFound: metrics are off, and nobody is told that there could be some.
    """
    counted = meters()
    if counted is None:
        raise NotFound("There is nothing at this address.")
    return counted


metrics = Metrics.as_view()
