"""Single sign-on: a reverse proxy names the user in a header. Off unless settings name the proxy and the header."""

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import RemoteUserMiddleware
from django.http import HttpRequest

PEER = "mrpvm.peer"
"""The key of a request's scope that holds the address of the peer."""
NAME_CHARS = 150

type Scope = MutableMapping[str, Any]
type App = Callable[[Any, Any, Any], Awaitable[None]]


class KnownPeer:
    """ASGI middleware: note the peer's address before `X-Forwarded-For` is applied."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        await self._app({**scope, PEER: (scope.get("client") or ("",))[0]}, receive, send)


class ProxyLogin(RemoteUserMiddleware):
    """Logs in the user whom a trusted proxy names; from anybody else the header counts as absent.

    A login that a proxy made ends with the first request without the header.
    """

    def get_username(self, request: HttpRequest) -> str:
        """Return the name.

        Raises:
            KeyError: no trusted proxy names a user.
        """
        name = str(request.META["HTTP_" + settings.MRPVM_PROXY_USER_HEADER.upper().replace("-", "_")])
        with suppress(UnicodeError):  # headers are read as Latin-1; proxies send UTF-8
            name = name.encode("latin-1").decode()
        # Of two headers, one of which a client may have sent, the values are joined by a comma.
        is_one = bool(name) and "," not in name and len(name) <= NAME_CHARS and name.isprintable()
        if not is_one or not is_trusted(peer_of(request)):
            raise KeyError(settings.MRPVM_PROXY_USER_HEADER)
        return name


def peer_of(request: HttpRequest) -> str:
    """Return the address of the peer, empty where the server did not note it."""
    return str(getattr(request, "scope", {}).get(PEER, ""))


def is_trusted(address: str) -> bool:
    """Return whether an address is a trusted proxy."""
    try:
        peer = ip_address(address)
    except ValueError:
        return False
    if isinstance(peer, IPv6Address) and peer.ipv4_mapped:  # as a socket for both families shows IPv4
        peer = peer.ipv4_mapped
    return any(peer in ip_network(trusted) for trusted in settings.MRPVM_PROXY_ADDRESSES)
