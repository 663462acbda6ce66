"""Connections whose clients have to send, and to read, within limits of time."""

import asyncio
import socket
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEAD_BYTES = 65_536


class LimitedConnection(HttpToolsProtocol):
    """Ends a connection of which the head of a request does not come in time, or grows past `HEAD_BYTES`.

    The body has limits of its own, see `BodyLimit`; between two requests uvicorn waits a few seconds.
    """

    _head_end: asyncio.TimerHandle | None = None
    """Ends the connection; None unless a head is awaited."""
    _head_bytes = 0
    _answered: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        was_waiting = self._head_end is not None
        super().data_received(data)
        if was_waiting and self._head_end is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        # uvicorn tells the last request that came; of pipelined ones an earlier one would be answered into nothing.
        if self._answered is not None:
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _await_head(self) -> None:
        if self._head_end is None:
            self._head_bytes = 0
            self._head_end = self.loop.call_later(settings.MRPVM_CLIENT_TIMEOUT_MS / 1000, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._head_end is not None:
            self._head_end.cancel()
            self._head_end = None


def limit_reading(bound: socket.socket) -> None:
    """Let the kernel end connections to the socket whose client reads nothing of what was sent, where it can."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, settings.MRPVM_CLIENT_TIMEOUT_MS)
