"""ASGI middleware that refuses sockets before a consumer is called."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier

from sessions_app.database import as_unavailable

TRY_AGAIN_LATER = 1013

type Application = Callable[[Any, Any, Any], Awaitable[Any]]


class ReadableOrigins:
    """Refuses a socket whose Origin header is not a URL, with which the validator of Channels fails."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Callable[..., Any]) -> None:
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        application = self._application if all(map(_is_address, origins)) else WebsocketDenier()
        await application(scope, receive, send)


def _is_address(origin: str) -> bool:
    try:
        urlsplit(origin).port  # noqa: B018 (raises for what is no number of a port)
    except ValueError:
        return False
    return True


def bearer_token(scope: MutableMapping[str, Any]) -> str | None:
    """Return what a socket's `Authorization: Bearer` header holds, or None without one."""
    for name, value in scope["headers"]:
        scheme, _, token = value.partition(b" ")
        if name == b"authorization" and scheme.lower() == b"bearer":
            return token.strip().decode("latin-1")
    return None


class OwnOriginOrKey:
    """Refuses a socket of another site's page; one with an API key may come without an origin, or from any.

    A page cannot send that header, so a key is never sent without its holder's knowledge, as a cookie is.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._own_origin = AllowedHostsOriginValidator(application)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Callable[..., Any]) -> None:
        application = self._own_origin if bearer_token(scope) is None else self._application
        await application(scope, receive, send)


class OutagesTold:
    """Closes a socket if a database outage prevents the lookup of its reader; other errors are raised."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Callable[..., Any]) -> None:
        try:
            await self._application(scope, receive, send)
        except Exception as error:
            if as_unavailable(error) is error:
                raise
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
