"""Responses to requests for pages that failed with an exception."""

import sys

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from mrpvm.errors import StorageFull, Unavailable
from sessions_app.database import as_unavailable


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400; by a name that is not allowed, say which setting allows it."""
    unknown_name = request.META.get("HTTP_HOST", "") if isinstance(exception, DisallowedHost) else ""
    return HttpResponse(render_to_string("400.html", {"unknown_name": unknown_name}), status=400)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 503 or 507 for what the database cannot do now, as the API does; a defect is 500 and tells nothing."""
    error = sys.exc_info()[1]
    unavailable = as_unavailable(error) if isinstance(error, Exception) else None
    if isinstance(unavailable, StorageFull):
        return _page_of(unavailable, 507)
    if not isinstance(unavailable, Unavailable):
        return defaults.server_error(request)
    answer = _page_of(unavailable, 503)
    answer.headers["Retry-After"] = str(unavailable.details.get("retry_after_seconds", 1))
    return answer


def _page_of(error: Unavailable, status: int) -> HttpResponse:
    # Render without the request, because data about its user would need the database.
    return HttpResponse(render_to_string(f"{status}.html", {"message": error.message}), status=status)
