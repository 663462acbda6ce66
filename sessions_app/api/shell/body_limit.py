"""An ASGI wrapper that refuses a request body over its limits of size and time before anything is kept of it.

A body for which the disk has no room is refused too: it is read before Django sees the request.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings

from mrpvm.errors import InvalidInput, MRPError, StorageFull, TooLarge
from mrpvm.preview import size_words
from sessions_app.api.openai.errors import openai_error
from sessions_app.api.shell.errors import PROBLEM_TYPE, error_body, http_status_of, problem_of
from sessions_app.database import as_unavailable
from sessions_app.identifiers import new_request_id

ASGIApplication = Callable[[dict[str, Any], Callable[..., Any], Callable[..., Any]], Any]

# A client that is still sending would see a broken connection instead of the answer, so its body is read to the
# end and thrown away; a client that sends many times the limit is cut off.
DISCARDED_BODIES_MAX = 16


class BodyRefused(Exception):
    """The body passed a limit while it was read."""

    def __init__(self, error: MRPError) -> None:
        super().__init__(error.message)
        self.error = error


class BodyLimit:
    """Answers 413 to a body over `max_bytes`, or over `max_upload_bytes` for a multipart upload.

    Answers 408 to one that takes longer than `timeout_ms`, and a second for each `CLIENT_LOWEST_RATE` bytes that came.
    """

    def __init__(self, application: ASGIApplication, *, max_bytes: int, max_upload_bytes: int, timeout_ms: int) -> None:
        self.application = application
        self.max_bytes = max_bytes
        self.max_upload_bytes = max_upload_bytes
        self.timeout_ms = timeout_ms

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        limit, stated = self._limit_and_length(scope)
        until = asyncio.get_running_loop().time() + self.timeout_ms / 1000
        seen, has_more = 0, True

        async def timed_receive() -> Any:
            nonlocal seen, has_more
            if not has_more:  # what comes now is that the client leaves
                return await receive()
            try:
                async with asyncio.timeout_at(until + seen / settings.CLIENT_LOWEST_RATE):
                    message = await receive()
            except TimeoutError:
                raise BodyRefused(
                    InvalidInput(f"The request body took too long; {seen} bytes came.", code="BODY_TOO_SLOW")
                ) from None
            seen += len(message.get("body", b""))
            has_more = message.get("more_body", False)
            return message

        async def limited_receive() -> Any:
            message = await timed_receive()
            if seen > limit:
                await discard_rest()
                raise BodyRefused(_too_large(limit))
            return message

        async def discard_rest() -> None:
            allowed = seen + limit * DISCARDED_BODIES_MAX
            while has_more and seen < allowed:
                await timed_receive()

        try:
            if stated > limit:
                await discard_rest()
                raise BodyRefused(_too_large(limit))
            await self.application(scope, limited_receive, send)
        except BodyRefused as refused:
            await _refuse(scope, send, refused.error)
        except OSError as error:
            unavailable = as_unavailable(error)
            if not isinstance(unavailable, StorageFull):
                raise
            await _refuse(scope, send, unavailable)

    def _limit_and_length(self, scope: dict[str, Any]) -> tuple[int, int]:
        headers = {name: value for name, value in scope["headers"] if name in {b"content-type", b"content-length"}}
        upload = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        stated = headers.get(b"content-length", b"").lstrip(b"0")  # any number of them may come before
        return self.max_upload_bytes if upload else self.max_bytes, int(stated) if stated.isdigit() else 0


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {size_words(limit)}.", details={"max_bytes": limit})


async def _refuse(scope: dict[str, Any], send: Callable[..., Any], error: MRPError) -> None:
    request_id = new_request_id()
    body = error_body(error.code, error.message, details=error.details, request_id=request_id)
    answer: Mapping[str, Any] = openai_error(body) if scope["path"].startswith("/v1/") else body
    media_type, status = "application/json", http_status_of(error.code)
    if any(name == b"accept" and PROBLEM_TYPE.encode() in value for name, value in scope["headers"]):
        media_type, answer = PROBLEM_TYPE, problem_of(answer, status)
    content = json.dumps(answer).encode()
    headers = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(content)).encode()),
        (b"connection", b"close"),
        (b"x-request-id", request_id.encode()),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
