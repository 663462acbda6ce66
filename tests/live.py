"""A live server in a thread of the test process: HTTP, streams and WebSockets on a free port."""

import asyncio
import socket
import threading
import time
from typing import Any

import uvicorn

from sessions_app.api.turns.stream_threads import StreamThreads
from sessions_app.web.shell.warm_threads import WarmThreads

START_SECONDS = 10
STOP_SECONDS = 10
LOOK_SECONDS = 0.005


class LiveServer(threading.Thread):
    """Serves an ASGI application on `url` from `start_serving()` to `stop_serving()`."""

    def __init__(self, application: Any) -> None:
        super().__init__(daemon=True)
        # asyncio switches Nagle's algorithm off for connections of this protocol alone; a body would wait 40 ms.
        self._socket = socket.socket(proto=socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"http://{self.address}"
        self._listens = threading.Event()
        config = uvicorn.Config(application, lifespan="off", log_config=None, timeout_graceful_shutdown=1)
        self._server = _AnnouncingServer(config, self._listens)

    def run(self) -> None:
        """Serve on the current thread."""
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def start_serving(self) -> None:
        """Start the server and wait until it accepts requests."""
        self.start()
        assert self._listens.wait(START_SECONDS), "the live server did not start"

    def stop_serving(self) -> None:
        """Stop the server and wait for its end."""
        self._server.should_exit = True
        self.join(STOP_SECONDS)
        assert not self.is_alive(), "the live server did not stop"


def wait_for_requests(threads: WarmThreads) -> None:
    """Wait until the threads of requests have ended their work, which outlives the client and the server."""
    deadline = time.monotonic() + STOP_SECONDS
    while len(threads._idle) < threads._warm_count:
        assert time.monotonic() < deadline, "the work of a request did not end"
        time.sleep(LOOK_SECONDS)


def wait_for_streams(*kinds: StreamThreads) -> None:
    """Wait until the threads of streams have ended their work, which outlives the client and the server."""
    for threads in kinds:
        places = range(threads._most)
        assert all(threads._free.acquire(timeout=STOP_SECONDS) for _ in places), "the work of a stream did not end"
        for _ in places:
            threads._free.release()


class _AnnouncingServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, listens: threading.Event) -> None:
        super().__init__(config)
        self._listens = listens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listens.set()

    # Like uvicorn's methods, but without their polling every 0.1 s: nearly two hundred tests stop a server.

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            await asyncio.sleep(LOOK_SECONDS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for sock in sockets or ():
            sock.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                while self.server_state.connections or self.server_state.tasks:
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError:
            for task in self.server_state.tasks:
                task.cancel()
