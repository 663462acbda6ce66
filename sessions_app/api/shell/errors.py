"""The one error shape and the one table from code to status."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import DisallowedHost, PermissionDenied
from django.http import Http404, HttpRequest
from django.utils import timezone
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from mrpvm.errors import MRPError
from mrpvm.wire import JSONObject, wire_time
from sessions_app.api.shell.responses import ErrorResponse
from sessions_app.database import as_unavailable
from sessions_app.turns.close import TurnError

logger = logging.getLogger(__name__)

STATUS_BY_CODE: Mapping[str, int] = {
    code: status
    for status, codes in {
        400: (
            "INVALID_JSON", "INVALID_CONTENT", "INVALID_DELIBERATION_LEVEL", "INVALID_ROLE", "NO_USER_MESSAGE",
            "INVALID_INPUT", "INVALID_PLANNER_PLUGIN", "INVALID_SEED_DETECTOR_PLUGIN", "INVALID_KB_PLUGIN",
            "INVALID_GOAL_SOLVER_PLUGIN", "INVALID_SOURCE_ID", "INVALID_SETTINGS", "KB_VALIDATION_MISSING_NAME",
            "KB_VALIDATION_MISSING_ID", "KB_IS_DEFAULT", "LOGIN_LINK_INVALID", "POLICY_DENIED",
            "BUNDLE_REFUSED", "BUNDLE_VERSION",
        ),
        401: ("UNAUTHENTICATED",),
        403: ("FORBIDDEN",),
        404: (
            "NOT_FOUND", "SESSION_NOT_FOUND", "KB_NOT_FOUND", "KB_REVISION_NOT_FOUND", "TURN_NOT_FOUND",
            "EXPERIMENT_NOT_FOUND", "FORGETTING_NOT_FOUND", "SUITE_NOT_FOUND", "TEST_NOT_FOUND", "RUN_NOT_FOUND",
            "FILTER_NOT_FOUND", "ALERT_NOT_FOUND", "MEMBER_NOT_FOUND", "INVITATION_NOT_FOUND",
            "SOURCE_NOT_FOUND", "DETAIL_NOT_FOUND", "UNIT_NOT_FOUND", "RESPONSE_NOT_FOUND",
        ),
        405: ("METHOD_NOT_ALLOWED",),
        408: ("BODY_TOO_SLOW",),
        409: (
            "CONFLICT", "WORKSPACE_DIRTY", "TURN_IN_PROGRESS", "KB_REVISION_CONFLICT", "KB_MOUNTED", "TURN_CANCELLED",
            "TURN_NOT_RUNNING", "EXPERIMENT_NOT_RUNNING", "EXPERIMENT_RUNNING",
            "SUITE_EXISTS", "TEST_EXISTS", "TESTS_REQUIRED", "FILTER_EXISTS", "TRIAL_BUDGET",
            "SOURCE_EXISTS", "NOT_REPLAYABLE", "MODEL_NOT_RECORDED", "SESSION_READ_ONLY", "IDEMPOTENCY_KEY_IN_USE",
            "IDEMPOTENCY_KEY_UNFINISHED",
            "FORGETTING_NOT_PLANNED", "FORGETTING_NOT_RUNNING",
        ),
        410: ("SESSION_EXPIRED",),
        413: ("BODY_TOO_LARGE", "NORMALIZER_INPUT_TOO_LARGE", "KB_VALIDATION_TOO_LARGE", "BUNDLE_TOO_LARGE"),
        415: ("UNSUPPORTED_MEDIA_TYPE",),
        422: (
            "TURN_FAILED", "PLUGIN_STAGE_EXHAUSTED", "PLAN_STAGE_EXHAUSTED", "DECOMPOSER_EMPTY_RESULT",
            "VALIDATION_REJECTED", "ANSWER_DENIED", "FRAME_DEPTH_EXCEEDED", "ENGINE_BUDGET_EXCEEDED",
            "NORMALIZER_VALIDATION_FAILED",
            "KB_INGEST_TOO_MANY_CHUNKS", "KB_VALIDATION_MAX_UNITS_PER_SOURCE", "KB_VALIDATION_MAX_TOTAL_UNITS",
            "KB_VALIDATION_MAX_SOURCES", "SOURCE_UNREADABLE", "IDEMPOTENCY_KEY_REUSED",
        ),
        429: ("RATE_LIMITED", "QUOTA_REACHED"),
        500: ("SERVER_INTERNAL_ERROR",),
        502: ("LLM_PROVIDER_ERROR",),
        503: (
            "UNAVAILABLE", "SESSION_LIMIT", "LLM_NOT_AVAILABLE", "TURN_INTERRUPTED", "SERVER_SHUTTING_DOWN",
            "SERVER_BUSY", "SKILLS_ROOT_UNREADABLE", "STORED_VALUE_DAMAGED",
        ),
        504: ("ENGINE_TIMEOUT", "LLM_TIMEOUT", "KB_INGEST_TIMEOUT"),
        507: ("INSUFFICIENT_STORAGE", "QUOTA_FULL"),
    }.items()
    for code in codes
}  # fmt: skip
"""A code that is not listed here is a defect of ours, and answered as one: 500."""

PROBLEM_TYPE = "application/problem+json"
"""The media type of problem details (RFC 9457)."""

_RETRY_AFTER_SECONDS = {
    "TURN_IN_PROGRESS": 1, "SERVER_BUSY": 1, "SERVER_SHUTTING_DOWN": 5, "TURN_INTERRUPTED": 1,
    "IDEMPOTENCY_KEY_IN_USE": 1,
}  # fmt: skip
_DEFECT = "The server has a defect; the request was not carried out. Its log says more under this request id."


def http_status_of(code: str) -> int:
    """Return the HTTP status of a code."""
    return STATUS_BY_CODE.get(code, 500)


def error_type(status: int) -> str:
    """Return the type of an error: of the request, of the work, or of the server."""
    if status == 500:
        return "server_error"
    return "processing_error" if status == 422 or status > 500 else "invalid_request"


def error_body(
    code: str,
    message: str,
    *,
    module: str = "api",
    details: Mapping[str, Any] | None = None,
    request_id: str | None = None,
    session_id: str | None = None,
) -> ErrorResponse:
    """Return the error object of every answer and of the stream's last event."""
    return {
        "error": {
            "code": code,
            "module": module,
            "message": message,
            "details": dict(details or {}),
            "requestId": request_id,
            "sessionId": session_id,
            "frameId": None,
            "timestamp": wire_time(timezone.now()),
            "type": error_type(http_status_of(code)),
        }
    }


def access_ended(request_id: str, session_id: str | None) -> ErrorResponse:
    """Return the error object of a stream whose caller may not call any more."""
    message = "The key was revoked, or you are no member of this project any more. What was begun goes on without you."
    return error_body("UNAUTHENTICATED", message, request_id=request_id, session_id=session_id)


def problem_of(body: Mapping[str, Any], status: int) -> JSONObject:
    """Return an error object, of either dialect, as problem details; its other fields are extension members."""
    others = dict(body["error"])
    code, message, _ = others.pop("code"), others.pop("message"), others.pop("type")
    return {
        "type": f"urn:mrpvm:error:{code.lower()}",
        "title": code.replace("_", " ").capitalize(),
        "status": status,
        "detail": message,
        "code": code,
        **others,
    }


def body_of(error: Exception, request_id: str | None, session_id: str | None = None) -> ErrorResponse:
    """Return the error object of any exception; one that nobody raised on purpose is logged and shows nothing."""
    error = as_unavailable(error)
    if isinstance(error, TurnError):
        request_id, session_id = error.turn.request_id, error.turn.session.session_id
    if isinstance(error, MRPError):
        if error.code in STATUS_BY_CODE:
            return error_body(
                error.code,
                error.message,
                module=error.module,
                details={**error.details, **(error.as_fields() if isinstance(error, TurnError) else {})},
                request_id=request_id,
                session_id=session_id,
            )
        logger.error("request %s: code %s has no status", request_id, error.code)
    elif isinstance(error, exceptions.APIException | Http404 | PermissionDenied):
        code, message, details = _framework_error(error)
        return error_body(code, message, details=details, request_id=request_id, session_id=session_id)
    logger.error("request %s failed", request_id, exc_info=error)
    return error_body("SERVER_INTERNAL_ERROR", _DEFECT, module="mrpvm", request_id=request_id, session_id=session_id)


def _framework_error(error: Exception) -> tuple[str, str, Mapping[str, Any]]:
    """Return code, message and details of what Django or the REST framework raised."""
    match error:
        case exceptions.ParseError():
            return "INVALID_JSON", str(error.detail), {}
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return "UNAUTHENTICATED", str(error.detail), {}
        case exceptions.PermissionDenied():
            return "FORBIDDEN", str(error.detail), {}
        case PermissionDenied():
            return "FORBIDDEN", "This is not allowed.", {}
        case exceptions.MethodNotAllowed():
            return "METHOD_NOT_ALLOWED", str(error.detail), {}
        case exceptions.UnsupportedMediaType():
            return "UNSUPPORTED_MEDIA_TYPE", "Send the body as application/json; a file as multipart/form-data.", {}
        case exceptions.Throttled():
            wait = max(1, round(getattr(error, "wait", None) or 1))
            return "RATE_LIMITED", f"Too many requests. Try again in {wait} s.", {"retry_after_seconds": wait}
        case exceptions.ValidationError():
            return "INVALID_INPUT", *_field_errors(error.detail)
    return "NOT_FOUND", "There is nothing at this address.", {}


def _field_errors(detail: Any) -> tuple[str, Mapping[str, Any]]:
    """Return one sentence and, per field, all that is wrong with it."""
    fields = detail if isinstance(detail, dict) else {"body": detail}
    path, first = next(_errors_by_path(fields))
    return f"{'.'.join(path)}: {first}" if path else first, {"fields": fields}


def _errors_by_path(detail: Any, *path: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each error with its path: names of fields, keys, and positions in a list of objects."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _errors_by_path(
                inner, *path, *([] if name == api_settings.NON_FIELD_ERRORS_KEY else [str(name)])
            )
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            yield from _errors_by_path(inner, *path, *([str(position)] if isinstance(inner, dict) else []))
    else:
        yield path, str(detail)


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """Answer an exception of any view of the API."""
    request_id = getattr(context.get("view"), "request_id", None)
    session_id = getattr(context.get("view"), "session_id", None)
    set_rollback()
    return error_response(body_of(error, request_id, session_id), error)


def error_response(body: Mapping[str, Any], error: Exception | None = None) -> Response:
    """Return the plain HTTP answer of an error object, with the headers that belong to its status."""
    code = body["error"]["code"]
    headers = {}
    retry_after = body["error"]["details"].get("retry_after_seconds") or _RETRY_AFTER_SECONDS.get(code)
    if retry_after:
        headers["Retry-After"] = str(retry_after)
    if code == "UNAUTHENTICATED":
        headers["WWW-Authenticate"] = getattr(error, "auth_header", None) or 'Bearer realm="mrpvm"'
    return Response(body, status=http_status_of(code), headers=headers)


def bad_request_body(request: HttpRequest, error: Exception) -> ErrorResponse:
    """Return the error object of a request that Django refused before any view."""
    message = "The server could not understand this request."
    if isinstance(error, DisallowedHost):
        name = request.META.get("HTTP_HOST", "")
        message = f"The server is not reached by the name {name}. Its operator allows a name by ALLOWED_HOSTS."
    return error_body("INVALID_INPUT", message)
