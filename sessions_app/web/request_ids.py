"""Names each request in the log, by the client's own id if it sends one."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from sessions_app.identifiers import new_request_id
from sessions_app.logs import logging_with

HEADER = "X-Request-Id"
_USABLE = re.compile(r"[!-~]{1,128}")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


class RequestIds:
    """Middleware: an `X-Request-Id` of the client is the answer's too; lines of the log name it and the trace."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the answer."""
        sent = request.headers.get(HEADER, "")
        usable = sent if _USABLE.fullmatch(sent) else None
        traced = _TRACEPARENT.match(request.headers.get("traceparent", ""))
        with logging_with(request_id=usable or new_request_id(), trace_id=traced[1] if traced else None):
            response = self._get_response(request)
        if usable:
            response.headers[HEADER] = usable
        return response
