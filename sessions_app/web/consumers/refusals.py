"""ASGI middleware that refuses sockets before a consumer is called."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier

from sessions_app.actions.settings.api_keys import bearer_token
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


def token_of(scope: MutableMapping[str, Any]) -> str | None:
    """Return the API key that a socket's client sends, or None without one."""
    return bearer_token(dict(scope["headers"]).get(b"authorization", b"").decode("latin-1"))


class OwnOriginOrKey:
    """Refuses a socket that another site's page opens; one with an API key needs no origin.

    A browser adds its cookie to any page's socket, and no page can add the header of a key.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._own_origin = AllowedHostsOriginValidator(application)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Callable[..., Any]) -> None:
        application = self._own_origin if token_of(scope) is None else self._application
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
