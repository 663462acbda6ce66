"""What a page answers when its request failed in a way that no view expects."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from mrpvm.errors import StorageFull, Unavailable
from sessions_app.database import as_unavailable


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 503 or 507 for what the database cannot do now, as the API does; a defect is 500 and tells nothing."""
    error = sys.exc_info()[1]
    unavailable = as_unavailable(error) if isinstance(error, Exception) else None
    if isinstance(unavailable, StorageFull):
        return render(request, "507.html", {"message": unavailable.message}, status=507)
    if not isinstance(unavailable, Unavailable):
        return defaults.server_error(request)
    answer = render(request, "503.html", {"message": unavailable.message}, status=503)
    answer.headers["Retry-After"] = str(unavailable.details.get("retry_after_seconds", 1))
    return answer
