"""Connections whose clients have to send, and to read, within limits of time."""

import asyncio
import socket
import struct
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEAD_BYTES = 65_536
_ACKNOWLEDGED_AT = 120
"""Where Linux's `tcp_info` holds how many bytes the other end has acknowledged."""


class LimitedConnection(HttpToolsProtocol):
    """Ends a connection whose request head does not come in time, or is larger than `HEAD_BYTES`.

    The body has limits of its own, see `BodyLimit`; between two requests uvicorn waits a few seconds. Ends also one
    whose client reads an answer too slowly: it is waited for `MRPVM_CLIENT_TIMEOUT_MS` in all, and a second more for
    each `CLIENT_LOWEST_RATE` bytes that it has taken since it was first waited for.
    """

    _head_end: asyncio.TimerHandle | None = None
    """Ends the connection; None unless a head is awaited."""
    _head_bytes = 0
    _answered: RequestResponseCycle | None = None
    _reading_end: asyncio.TimerHandle | None = None
    """Looks whether the client reads too slowly; None unless it is waited for."""
    _waiting_since = _waited_seconds = 0.0
    _taken_before: int | None = None
    """The bytes that the client had taken when this answer was first waited for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that `pause_writing` tells of all that the kernel does not take
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

    def pause_writing(self) -> None:
        super().pause_writing()
        self._waiting_since = self.loop.time()
        self._await_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading_end is not None:
            self._waited_seconds += self.loop.time() - self._waiting_since
            self._reading_end.cancel()
            self._reading_end = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._reading_end is not None:
            self._reading_end.cancel()
        # uvicorn tells the last request that came; of pipelined ones an earlier one would be answered into nothing.
        if self._answered is not None:
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answered = cycle
        self._waited_seconds, self._taken_before = 0.0, None
        super()._start_asgi_task(cycle, app)

    def _await_head(self) -> None:
        if self._head_end is None:
            self._head_bytes = 0
            self._head_end = self.loop.call_later(settings.MRPVM_CLIENT_TIMEOUT_MS / 1000, self.transport.abort)

    def _await_reading(self) -> None:
        taken = self._taken_bytes()
        if taken is None:  # the kernel does not say
            return
        if self._taken_before is None:
            self._taken_before = taken
        of_reading = (taken - self._taken_before) / settings.CLIENT_LOWEST_RATE
        allowed_seconds = settings.MRPVM_CLIENT_TIMEOUT_MS / 1000 + of_reading
        until = self._waiting_since + allowed_seconds - self._waited_seconds
        if until <= self.loop.time():
            # Drop what the kernel still holds: the client could go on reading that for hours.
            connection: socket.socket = self.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        else:
            self._reading_end = self.loop.call_at(until, self._await_reading)

    def _taken_bytes(self) -> int | None:
        """Return how many bytes the client's machine has acknowledged, None where the kernel does not say."""
        if not hasattr(socket, "TCP_INFO"):
            return None
        connection: socket.socket = self.transport.get_extra_info("socket")
        info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKNOWLEDGED_AT + 8)
        taken: int = struct.unpack_from("Q", info, _ACKNOWLEDGED_AT)[0]
        return taken

    def _stop_waiting(self) -> None:
        if self._head_end is not None:
            self._head_end.cancel()
            self._head_end = None


def limit_reading(bound: socket.socket) -> None:
    """Let the kernel end connections to the socket whose client reads nothing of what was sent, where it can."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, settings.MRPVM_CLIENT_TIMEOUT_MS)
