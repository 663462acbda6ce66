"""Errors as clients of OpenAI's API read them: the same codes and statuses in that API's shape."""

from collections.abc import Mapping
from typing import Any

from rest_framework.response import Response
from rest_framework.views import set_rollback

from mrpvm.errors import InvalidInput, NotFound
from sessions_app.api.openai.objects import OpenAIErrorResponse
from sessions_app.api.shell.errors import body_of, error_response, http_status_of
from sessions_app.api.shell.responses import ErrorResponse

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_CODES = {
    "UNAUTHENTICATED": "invalid_api_key",
    "RATE_LIMITED": "rate_limit_exceeded",
    "QUOTA_REACHED": "insufficient_quota",
    "NORMALIZER_INPUT_TOO_LARGE": "context_length_exceeded",
}
_STATUSES = {"NORMALIZER_INPUT_TOO_LARGE": 400}
"""Where OpenAI's API answers another status: the class of the SDK's exception depends on it."""
_OF_MESSAGES = {"NO_USER_MESSAGE", "INVALID_CONTENT", "NORMALIZER_INPUT_TOO_LARGE", "POLICY_DENIED"}
NOT_RETRIED = "x-should-retry"


def unsupported(name: str, why: str) -> InvalidInput:
    """Return the refusal of something that this server cannot do for a client."""
    return InvalidInput(
        f"{name} is not supported here: {why}", details={"param": name, "code": "unsupported_parameter"}
    )


def invalid(name: str, what: str) -> InvalidInput:
    """Return the refusal of a value."""
    return InvalidInput(f"{name} {what}", details={"param": name, "code": "invalid_value"})


def missing(param: str | None, code: str, message: str) -> NotFound:
    """Return the refusal of a name that names nothing."""
    return NotFound(message, details={"param": param, "code": code})


def openai_error(body: ErrorResponse, messages_param: str | None = None) -> OpenAIErrorResponse:
    """Return the error object in OpenAI's shape; what it has no place for is beside.

    Args:
        messages_param: the parameter in which the address takes messages, if it does.
    """
    error = body["error"]
    details = dict(error["details"])
    fields = details.get("fields")
    param = details.pop("param", None) or (next(iter(fields)) if isinstance(fields, dict) and fields else None)
    if param is None and error["code"] in _OF_MESSAGES:
        param = messages_param
    code = details.pop("code", None) or _CODES.get(error["code"], error["code"])
    status = http_status_of(error["code"])
    return {
        "error": {
            "message": error["message"],
            "type": _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error"),
            "param": param,
            "code": code,
            "details": details,
            "request_id": error["requestId"],
            "session_id": error["sessionId"],
        }
    }


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """Answer an exception of any view below `/v1`."""
    view = context.get("view")
    set_rollback()
    body = body_of(error, getattr(view, "request_id", None), getattr(view, "session_id", None))
    response = error_response(body, error)
    response.status_code = _STATUSES.get(body["error"]["code"], response.status_code)
    response.data = openai_error(body, getattr(view, "messages_param", None))
    if response.status_code == 409 and body["error"]["code"] != "IDEMPOTENCY_KEY_IN_USE":
        # The client would try again by itself, and a busy session is its user's to see.
        response.headers[NOT_RETRIED] = "false"
    return response
