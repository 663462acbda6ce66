"""The ASGI application: HTTP with a body limit, on warm threads; WebSockets for users of this origin and for keys."""

import os
from collections.abc import Callable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mrpvm.settings")
django.setup(set_prefix=False)

# What follows may only be imported once Django is set up.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import WebsocketDenier  # noqa: E402
from django.conf import settings  # noqa: E402
from django.core.exceptions import ImproperlyConfigured  # noqa: E402
from django.urls import re_path  # noqa: E402
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware  # noqa: E402

from sessions_app.api.shell.body_limit import BodyLimit  # noqa: E402
from sessions_app.mcp.endpoint import PATH as MCP_PATH  # noqa: E402
from sessions_app.mcp.endpoint import MCPEndpoint  # noqa: E402
from sessions_app.web.consumers.refusals import OutagesTold, OwnOriginOrKey, ReadableOrigins  # noqa: E402
from sessions_app.web.routing import websocket_urlpatterns  # noqa: E402
from sessions_app.web.shell.proxy_login import KnownPeer  # noqa: E402
from sessions_app.web.shell.warm_threads import ThreadHandler, WarmThreads  # noqa: E402

if settings.ENVIRONMENT_PROBLEMS:  # a server that does not start by `manage.py serve` skips the system checks
    raise ImproperlyConfigured(" ".join(map(str, settings.ENVIRONMENT_PROBLEMS)))

warm_threads = WarmThreads(settings.MRPVM_MAX_RUNNING_TURNS)
pages, mcp = ThreadHandler(warm_threads), MCPEndpoint(warm_threads)


async def serve_http(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
    """Serve one HTTP request: the Model Context Protocol by its SDK, everything else by Django."""
    await (mcp if scope["path"] == MCP_PATH else pages)(scope, receive, send)


# Without the last route a socket to an unknown address would be a defect of the server.
sockets = URLRouter([*websocket_urlpatterns, re_path("", WebsocketDenier.as_asgi())])
application = ProtocolTypeRouter(
    {
        "http": BodyLimit(
            serve_http,
            max_bytes=settings.MRPVM_MAX_BODY_BYTES,
            max_upload_bytes=settings.MRPVM_MAX_UPLOAD_BYTES,
            timeout_ms=settings.MRPVM_CLIENT_TIMEOUT_MS,
        ),
        "websocket": ReadableOrigins(OwnOriginOrKey(OutagesTold(AuthMiddlewareStack(sockets)))),
    }
)
# For `manage.py serve`: notes the peer's address, then applies the proxy's `X-Forwarded-For`.
served = KnownPeer(ProxyHeadersMiddleware(application, os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")))
