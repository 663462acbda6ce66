"""An ASGI wrapper around sockets for the time in which the database cannot be reached."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from sessions_app.database import as_unavailable

TRY_AGAIN_LATER = 1013


class OutagesTold:
    """Closes a socket of which the reader cannot be looked up now; a defect is raised as it is."""

    def __init__(self, application: Callable[[Any, Any, Any], Awaitable[Any]]) -> None:
        self._application = application

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Callable[..., Any]) -> None:
        """Serve one socket."""
        try:
            await self._application(scope, receive, send)
        except Exception as error:
            if as_unavailable(error) is error:
                raise
            await send({"type": "websocket.close", "code": TRY_AGAIN_LATER})
