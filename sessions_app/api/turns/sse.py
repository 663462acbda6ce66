"""A turn as a stream of server-sent events."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from enum import Enum
from threading import Event, Lock
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import StreamingHttpResponse

from mrpvm.errors import StorageUnavailable
from mrpvm.wire import json_bytes
from sessions_app import shutdown
from sessions_app.database import living_connection

_LAST_WORDS_SECONDS = 0.05


class Ending(Enum):
    """Why a stream ends before its work does; the last event has an error for it."""

    SHUTDOWN = "SERVER_SHUTTING_DOWN"
    ACCESS = "UNAUTHENTICATED"


StreamEvent = tuple[str, Mapping[str, Any]]
LastWords = Callable[[Ending], Iterable[StreamEvent]]
Encode = Callable[[str, Mapping[str, Any]], bytes]


def frame(name: str, data: Mapping[str, Any]) -> bytes:
    """Return one event as it goes over the wire: a name, one line of JSON, a blank line."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), json_bytes(data))


class Feed:
    """Carries events from the thread that runs a turn to the event loop that streams them.

    Filled by any thread without waiting; when the reader is gone, what comes is dropped and the turn continues.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[StreamEvent] = deque()
        self._events: list[StreamEvent] = []
        self._is_complete = False
        self._at_end: Callable[[Sequence[StreamEvent]], None] | None = None
        self._filled = Event()
        self._ended = False
        self._dropped = False
        self._reader: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    def put(self, name: str, data: Mapping[str, Any]) -> None:
        with self._lock:
            self._events.append((name, data))
            if self._dropped:
                return
            self._waiting.append((name, data))
        self._wake()

    def end(self) -> None:
        """Close the stream: nothing follows."""
        with self._lock:
            self._is_complete, at_end = True, self._at_end
        try:
            if at_end is not None:
                at_end(self._events)
        finally:
            self._ended = True
            self._wake()

    def when_ended(self, at_end: Callable[[Sequence[StreamEvent]], None]) -> None:
        """Hand over all events once nothing follows, on the thread that ends the stream and before its reader sees it.

        From now on the work counts as read, whether anybody does or not.
        """
        with self._lock:
            self._at_end, is_complete = at_end, self._is_complete
        if is_complete:
            at_end(self._events)

    @property
    def is_dropped(self) -> bool:
        """Return whether nobody reads any more, now or later."""
        return self._dropped and self._at_end is None

    def drop(self) -> None:
        """Mark the stream as unread."""
        with self._lock:
            self._dropped = True
            self._waiting.clear()

    def first(self) -> StreamEvent | None:
        """Return the first event without taking it, waiting for it; None when the feed ended without any."""
        self._filled.wait()
        with self._lock:
            return self._waiting[0] if self._waiting else None

    def attach(self, loop: asyncio.AbstractEventLoop, wake: asyncio.Event) -> None:
        """Wake this reader from now on, at once if something waits."""
        self._reader = (loop, wake)
        if self._filled.is_set():
            wake.set()

    def take(self) -> list[StreamEvent]:
        """Return what waits."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
        return taken

    @property
    def has_begun(self) -> bool:
        """Return whether anything was ever put in."""
        return self._filled.is_set()

    @property
    def is_over(self) -> bool:
        """Return whether nothing waits and nothing follows."""
        return self._ended and not self._waiting

    def _wake(self) -> None:
        self._filled.set()
        if self._reader is not None:
            loop, wake = self._reader
            try:
                loop.call_soon_threadsafe(wake.set)
            except RuntimeError:  # the loop has been closed: the server ends
                self.drop()


class EventStream(StreamingHttpResponse):
    """The response that streams a feed.

    Args:
        may_read: tells, from the database, whether the caller still has access; once not, nothing more is sent, and
            the work continues as when a client leaves.
        last_words: gives the events that end the stream, of an error that says why.
        encode: how an event goes over the wire.
    """

    def __init__(
        self,
        feed: Feed,
        may_read: Callable[[], bool],
        last_words: LastWords,
        headers: Mapping[str, str],
        encode: Encode = frame,
    ) -> None:
        unbuffered = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
        super().__init__(
            _frames(feed, may_read, last_words, encode),
            content_type="text/event-stream; charset=utf-8",
            headers={**unbuffered, **headers},
        )
        self._feed, self._encode = feed, encode

    def when_ended(self, at_end: Callable[[bytes], None]) -> None:
        """Hand over the whole stream as it goes over the wire, as `Feed.when_ended` does; comments are left out."""
        self._feed.when_ended(lambda events: at_end(b"".join(self._encode(name, data) for name, data in events)))


async def _frames(
    feed: Feed, may_read: Callable[[], bool], last_words: LastWords, encode: Encode
) -> AsyncIterator[bytes]:
    wake = asyncio.Event()
    loop = asyncio.get_running_loop()
    feed.attach(loop, wake)
    quiet_since = allowed_since = loop.time()
    try:
        while not feed.is_over:
            if loop.time() - allowed_since >= settings.MRPVM_ACCESS_SECONDS:
                if not await sync_to_async(_still)(may_read):
                    for name, data in last_words(Ending.ACCESS):
                        yield encode(name, data)
                    return
                allowed_since = loop.time()
            try:
                await asyncio.wait_for(wake.wait(), _patience_seconds())
            except TimeoutError:
                if _is_stopped():
                    for name, data in last_words(Ending.SHUTDOWN):
                        yield encode(name, data)
                    return
                if loop.time() - quiet_since >= settings.MRPVM_PING_SECONDS:
                    quiet_since = loop.time()
                    yield b": ping\n\n"
                continue
            wake.clear()
            for name, data in feed.take():
                yield encode(name, data)
            quiet_since = loop.time()
    finally:
        feed.drop()


def _still(may_read: Callable[[], bool]) -> bool:
    """Return whether the caller may read on; True while the database cannot tell, which is asked again."""
    try:
        with living_connection():
            return may_read()
    except StorageUnavailable:
        return True


def _patience_seconds() -> float:
    """Return how long to wait for an event before looking whether the server stops."""
    remaining = shutdown.remaining_seconds()
    if remaining is None:
        return settings.MRPVM_STREAM_POLL_SECONDS
    return max(0.0, min(settings.MRPVM_STREAM_POLL_SECONDS, remaining + _LAST_WORDS_SECONDS))


def _is_stopped() -> bool:
    """Return whether running turns had their time: each ends itself then, and this does not wait for it."""
    remaining = shutdown.remaining_seconds()
    return remaining is not None and remaining + _LAST_WORDS_SECONDS <= 0
