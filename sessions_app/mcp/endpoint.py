"""The ASGI application at /mcp: checks host, origin and key, then hands the request to the protocol's SDK.

Requests are independent of each other (stateless streamable HTTP), so any server process may answer any of them.
"""

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from sessions_app.mcp.caller import caller_of, current_caller
from sessions_app.mcp.threads import Threads, with_database

PATH = "/mcp"


class MCPEndpoint:
    """Serves the protocol over HTTP to callers with an API key."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if not _is_our_host(headers.get("host", "")) or not _may_call_from(headers):
            return await _refuse(send, 403, "This address or origin may not call the server.")
        authorization = headers.get("authorization", "")
        address = (scope.get("client") or ("", 0))[0]
        caller = await with_database(self._threads, lambda: caller_of(authorization, address))
        if caller is None:
            return await _refuse(send, 401, "Send an API key that is in force: Authorization: Bearer mrp_...")
        if scope["method"] != "POST":  # there is no stream of notifications to follow, and no session to end
            return await _refuse(send, 405, "This endpoint answers POST.")
        body = await _body(receive)
        if body is not None and _is_too_deep(body):
            return await _refuse(send, 400, "The body is nested too deeply.")
        # Imported with the first request: the SDK takes a second and 20 MB.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from sessions_app.mcp.server import protocol_server

        token = current_caller.set(caller)
        try:
            manager = StreamableHTTPSessionManager(
                app=protocol_server(self._threads),
                json_response=True,
                stateless=True,
                max_request_body_size=settings.MRPVM_MAX_BODY_BYTES,
            )
            async with manager.run():
                await manager.handle_request(scope, _once_more(body, receive), send)
        finally:
            current_caller.reset(token)


def _is_our_host(host: str) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _may_call_from(headers: dict[str, str]) -> bool:
    """Return whether no page of another origin sends the request; other clients name no origin."""
    origin = headers.get("origin")
    if origin is None or origin in settings.CORS_ALLOWED_ORIGINS:
        return True
    return origin.partition("://")[2] == headers.get("host")


async def _body(receive: Callable[..., Any]) -> bytes | None:
    """Return the whole body, which the server has bounded; None if the client has gone."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _is_too_deep(body: bytes) -> bool:
    """Return whether JSON is nested so deeply that the SDK would fail on it."""
    try:
        json.loads(body)
    except RecursionError:
        return True
    except ValueError:  # the SDK says what is wrong
        return False
    return False


def _once_more(body: bytes | None, receive: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `receive` that begins with the body that was read already."""
    waiting = [] if body is None else [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        if waiting:
            return waiting.pop()
        return {"type": "http.disconnect"} if body is None else await receive()

    return receive_again


async def _refuse(send: Callable[..., Any], status: int, message: str) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        *([(b"www-authenticate", b'Bearer realm="mrpvm"')] if status == 401 else []),
        *([(b"allow", b"POST")] if status == 405 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
