"""What a page answers when its request failed in a way that no view expects."""

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from mrpvm.errors import Unavailable
from sessions_app.actions.busy import as_busy


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 503 where others kept the database for too long, as the API does; a defect is 500 and tells nothing."""
    error = sys.exc_info()[1]
    told = as_busy(error) if isinstance(error, Exception) else None
    if not isinstance(told, Unavailable):
        return defaults.server_error(request)
    answer = render(request, "503.html", {"message": told.message}, status=503)
    answer.headers["Retry-After"] = str(told.details["retry_after_seconds"])
    return answer
