"""Requests on threads that stay, each with its database connection: one change of threads a request.

Django's own handler runs the middleware on the event loop and changes to a thread and back for each synchronous part,
and connections belong to threads. Here a request is served on one thread as under WSGI, signals and clean-up included.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import IO, Any

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import connections
from django.http import HttpResponse
from django.urls import set_script_prefix


class WarmThread(ThreadPoolExecutor):
    """One thread and the connections that it has opened."""

    def __init__(self, name: str) -> None:
        super().__init__(max_workers=1, thread_name_prefix=name)

    def end(self) -> None:
        """Close the thread's database connections, then let it end; waits for nothing."""
        self.submit(connections.close_all)
        self.shutdown(wait=False)


class WarmThreads:
    """Threads that are lent to one piece of work each; when all are lent, a thread is made for the work alone."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._idle: deque[WarmThread] = deque()
        self._warm_count = 0

    async def run[Result](self, work: Callable[[], Result]) -> Result:
        """Return the result of the work, run on a thread; it is finished even if the caller has gone."""
        thread, give_back = self._lend()
        done = thread.submit(work)
        done.add_done_callback(give_back)
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """End the idle threads and close their connections; the next work starts warm ones again."""
        while self._idle:
            self._warm_count -= 1
            self._idle.pop().end()

    def _lend(self) -> tuple[WarmThread, Callable[[Future[Any]], None]]:
        if self._idle:
            thread = self._idle.pop()  # the thread that was used last, because its caches are still in use
        elif self._warm_count < self.size:
            self._warm_count += 1
            thread = WarmThread(f"request-{self._warm_count}")
        else:
            extra = WarmThread("request-extra")
            return extra, lambda _: extra.end()
        return thread, lambda _: self._idle.append(thread)


class ThreadHandler(ASGIHandler):
    """Django's ASGI handler with the middleware and the view on one warm thread.

    A response with an asynchronous iterator is streamed from the event loop, and its thread is free meanwhile.
    """

    def __init__(self, threads: WarmThreads) -> None:
        self._threads = threads
        super().__init__()

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the middleware for synchronous use, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with closing(body):
            response = await self._threads.run(partial(self._respond, scope, body))
            if response.streaming:
                await self._stream(response, receive, send)
            else:
                await self.send_response(response, send)

    def _respond(self, scope: dict[str, Any], body: IO[bytes]) -> Any:
        """Return the response to a request; it is closed unless it is still to be streamed."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refused = self.create_request(scope, body)
        response: Any = refused if request is None else self.get_response(request)
        response._handler_class = self.__class__
        if response.streaming:
            if response.is_async:
                return response
            response = _whole(response)
        response.close()
        return response

    async def _stream(self, response: Any, receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        """Send the response piece by piece until it ends or the client goes away, then close it."""
        try:
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(self.listen_for_disconnect(receive))
                await self.send_response(response, send)
                listening.cancel()
        except* RequestAborted:
            pass
        finally:
            await self._threads.run(response.close)


def _whole(response: Any) -> Any:
    """Return the response with what its synchronous iterator, a small file's, gives."""
    whole: Any = HttpResponse(b"".join(response), status=response.status_code, headers=response.headers)
    whole.cookies = response.cookies
    whole._resource_closers = response._resource_closers
    whole._handler_class = response._handler_class
    return whole
