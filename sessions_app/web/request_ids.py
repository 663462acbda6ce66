"""Middleware that assigns each request an id for the log, or the client's own, and continues the client's trace."""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from mrpvm.llm.trace_context import TraceContext, current_trace
from sessions_app.identifiers import new_request_id
from sessions_app.logs import logging_with

HEADER = "X-Request-Id"
_USABLE = re.compile(r"[!-~]{1,128}")


class RequestIds:
    """Middleware that returns the client's `X-Request-Id` in the response and adds it and the trace to log lines."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get(HEADER, "")
        usable = sent if _USABLE.fullmatch(sent) else None
        trace = TraceContext.of_header(request.headers.get("traceparent", ""))
        token = current_trace.set(trace)
        try:
            with logging_with(request_id=usable or new_request_id(), trace_id=trace.trace_id if trace else None):
                response = self._get_response(request)
        finally:
            current_trace.reset(token)
        if usable:
            response.headers[HEADER] = usable
        return response
