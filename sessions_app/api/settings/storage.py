"""How large the database is, for admins."""

from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.api.shell import schemas
from sessions_app.api.shell.responses import StorageObject
from sessions_app.api.shell.views import ApiView
from sessions_app.queries.settings.storage import storage


class Storage(ApiView):
    """The size of the database by kind; the figures are of all projects."""

    read_role = "admin"

    @schemas.storage_read
    def get(self, request: Request) -> Response:
        """Return the newest sample, without a day before the first."""
        return Response(_answer())


def _answer() -> StorageObject:
    sample = storage()
    if sample is None:
        return {"day": None, "growth_days": 0, "byte_count": None, "growth_bytes_a_day": None, "kinds": []}
    return {
        "day": sample.day,
        "growth_days": sample.days,
        "byte_count": sample.total.byte_count,
        "growth_bytes_a_day": sample.total.growth_a_day,
        "kinds": [
            {
                "kind": item.kind.value,
                "name": item.kind.label,
                "byte_count": item.byte_count,
                "is_estimate": item.is_estimate,
                "growth_bytes_a_day": item.growth_a_day,
            }
            for item in sample.kinds
        ],
    }
