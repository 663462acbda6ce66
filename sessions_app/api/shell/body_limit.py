"""An ASGI wrapper that refuses a request body over the limit before anything is kept of it.

A body for which the disk has no room is refused too: it is read before Django sees the request.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from mrpvm.errors import MRPError, StorageFull, TooLarge
from sessions_app.api.shell.errors import PROBLEM_TYPE, error_body, problem_of, status_of
from sessions_app.database import as_unavailable
from sessions_app.identifiers import new_request_id

ASGIApplication = Callable[[dict[str, Any], Callable[..., Any], Callable[..., Any]], Any]

# A client that is still sending would see a broken connection instead of the answer, so its body is read to the
# end and thrown away; a client that sends many times the limit is cut off.
DISCARDED_BODIES_MAX = 16


class BodyTooLarge(Exception):
    """The body passed the limit while it was read."""


class BodyLimit:
    """Answers 413 to a body over `max_bytes`, or over `max_upload_bytes` for a multipart upload."""

    def __init__(self, application: ASGIApplication, *, max_bytes: int, max_upload_bytes: int) -> None:
        self.application = application
        self.max_bytes = max_bytes
        self.max_upload_bytes = max_upload_bytes

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        """Serve one request."""
        limit, stated = self._limit_and_length(scope)
        seen = 0

        async def limited_receive() -> Any:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                if message.get("more_body"):
                    await _discard_rest(receive, limit * DISCARDED_BODIES_MAX)
                raise BodyTooLarge
            return message

        if stated > limit:
            await _discard_rest(receive, limit * DISCARDED_BODIES_MAX)
            await _refuse(scope, send, _too_large(limit))
            return
        try:
            await self.application(scope, limited_receive, send)
        except BodyTooLarge:
            await _refuse(scope, send, _too_large(limit))
        except OSError as error:
            unavailable = as_unavailable(error)
            if not isinstance(unavailable, StorageFull):
                raise
            await _refuse(scope, send, unavailable)

    def _limit_and_length(self, scope: dict[str, Any]) -> tuple[int, int]:
        headers = {name: value for name, value in scope["headers"] if name in {b"content-type", b"content-length"}}
        upload = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        stated = headers.get(b"content-length", b"0")
        return self.max_upload_bytes if upload else self.max_bytes, int(stated) if stated.isdigit() else 0


async def _discard_rest(receive: Callable[..., Any], allowance: int) -> None:
    while allowance > 0:
        message = await receive()
        allowance -= len(message.get("body", b""))
        if not message.get("more_body"):
            return


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {limit} bytes.", details={"max_bytes": limit})


async def _refuse(scope: dict[str, Any], send: Callable[..., Any], error: MRPError) -> None:
    request_id = new_request_id()
    answer: Mapping[str, Any] = error_body(error.code, error.message, details=error.details, request_id=request_id)
    media_type, status = "application/json", status_of(error.code)
    if any(name == b"accept" and PROBLEM_TYPE.encode() in value for name, value in scope["headers"]):
        media_type, answer = PROBLEM_TYPE, problem_of(answer, status)
    body = json.dumps(answer).encode()
    headers = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (b"x-request-id", request_id.encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
