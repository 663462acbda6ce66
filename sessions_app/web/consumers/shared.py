"""Shared by the sockets of one process: one subscription per session, and batched reads of the database.

If each socket subscribed and read by itself, an event would cost a thread switch and three queries per socket, and two
hundred sockets would be seconds late.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings

from sessions_app import events
from sessions_app.models import SessionEvent
from sessions_app.queries.sessions.lookups import SeenSession, SessionReader, events_since, visible_sessions

REJOIN_SECONDS = 3_600
"""The interval of joining groups again, because the in-memory layer drops members after a day."""
LONGEST_PAUSE_SECONDS = 30


logger = logging.getLogger(__name__)


class Outgoing(NamedTuple):
    """One message as it is sent. `sequence` is its event's number; for progress, that of the event before it."""

    sequence: int
    is_progress: bool
    text: str


class SocketQuery(NamedTuple):
    """A query for the reader's access to the session and for the events after `since`, if there is a `session_pk`."""

    reader: SessionReader
    session_pk: int | None
    since: int


class SocketNews(NamedTuple):
    """The session that the reader may see, and its events, shared by equal queries."""

    session: SeenSession
    news: Sequence[Outgoing]


class SharedReads:
    """Runs queries in batches. A query waits for the next batch, so its result is never older than the query."""

    def __init__(self) -> None:
        self._waiting: dict[SocketQuery, asyncio.Future[SocketNews | None]] = {}
        self._batches: asyncio.Task[None] | None = None

    async def read(self, query: SocketQuery) -> SocketNews | None:
        """Return the result; None if the reader may not see the session (any more).

        Raises:
            Exception: the database failed; every query of the batch gets the same exception.
        """
        if query not in self._waiting:
            self._waiting[query] = asyncio.get_running_loop().create_future()
        result = self._waiting[query]
        if self._batches is None:
            self._batches = asyncio.create_task(self._run_batches())
        return await asyncio.shield(result)  # a cancelled socket must not cancel the batch of the others

    async def _run_batches(self) -> None:
        batch: dict[SocketQuery, asyncio.Future[SocketNews | None]] = {}
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, {}
                try:
                    results = await _results(list(batch))
                except Exception as error:
                    for waiting in batch.values():
                        waiting.set_exception(error)
                else:
                    for query, waiting in batch.items():
                        waiting.set_result(results.get(query))
        finally:
            self._batches = None
            for waiting in (*batch.values(), *self._waiting.values()):
                waiting.cancel()
            self._waiting = {}


@database_sync_to_async
def _results(queries: Sequence[SocketQuery]) -> Mapping[SocketQuery, SocketNews]:
    # Events first, then access, so that a reader who lost access before an event was stored does not get it.
    places = {(query.session_pk, query.since) for query in queries}
    news = {(pk, since): [] if pk is None else _news(pk, since) for pk, since in places}
    visible = visible_sessions({query.reader for query in queries})
    return {
        query: SocketNews(visible[query.reader], news[query.session_pk, query.since])
        for query in queries
        if query.reader in visible
    }


def _news(session_pk: int, since: int) -> Sequence[Outgoing]:
    """Return the events after `since`, or only the request to reload if some of them were compacted."""
    stored = list(events_since(session_pk, since))
    if stored and stored[-1].sequence - since > len(stored):
        return [Outgoing(stored[-1].sequence, False, json.dumps(events.compacted(stored[-1].sequence)))]
    return [_outgoing(event) for event in stored]


def _outgoing(event: SessionEvent) -> Outgoing:
    return Outgoing(event.sequence, False, json.dumps(events.browser_message_of(event)))


class Wakeup:
    """An event that wakes one socket, with its progress messages, which are not stored in rows."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._progress: list[Outgoing] = []

    def set(self, progress: Outgoing | None) -> None:
        """Wake the socket, which then reads the events' rows; only progress messages are passed on."""
        if progress is not None:
            self._progress.append(progress)
        self._event.set()

    async def wait(self, seconds: float) -> Sequence[Outgoing]:
        """Wait until `set` is called or the time is over; return the progress since the last wait."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass
        self._event.clear()
        progress, self._progress = self._progress, []
        return progress


class AccessWatch:
    """Wakes the sockets of readers who have lost access to their session, with or without an event.

    It reads the tables, so it works without Redis and whichever process removed the access.
    """

    def __init__(self) -> None:
        self._sockets: dict[Wakeup, SessionReader] = {}
        self._looking: asyncio.Task[None] | None = None

    def add(self, wakeup: Wakeup, reader: SessionReader) -> None:
        self._sockets[wakeup] = reader
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())

    def remove(self, wakeup: Wakeup) -> None:
        """Remove a socket; without any, nothing is read."""
        self._sockets.pop(wakeup, None)
        if not self._sockets and self._looking is not None:
            self._looking.cancel()
            self._looking = None

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(settings.MRPVM_ACCESS_SECONDS)
            try:
                visible = await _visible(set(self._sockets.values()))
            except Exception as error:
                logger.warning("it could not be read who may still see what: %s", error)
                continue
            for wakeup, reader in self._sockets.items():
                if reader not in visible:
                    wakeup.set(None)  # the socket reads for itself, and closes


@database_sync_to_async
def _visible(readers: Collection[SessionReader]) -> Collection[SessionReader]:
    return visible_sessions(readers).keys()


class Subscription:
    """Subscribes to the groups of one session and its base for all sockets of this process that follow the session.

    After joining the groups it wakes every socket, because messages may have been missed.
    """

    def __init__(self, session: SeenSession) -> None:
        self._session = session
        self._wakeups: set[Wakeup] = set()
        self._listening: asyncio.Task[None] | None = None

    def join(self, wakeup: Wakeup) -> None:
        """Set `wakeup` for each message from now on."""
        self._wakeups.add(wakeup)
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())

    def follow_base(self, session: SeenSession) -> None:
        """Listen to the group of the base that the session has mounted now."""
        if session.base_pk == self._session.base_pk:
            return
        self._session = session
        if self._listening is not None:
            self._listening.cancel()
            self._listening = asyncio.create_task(self._listen())

    @property
    def _groups(self) -> tuple[str, str]:
        return events.channel_group_of(self._session.pk), events.group_of_base(self._session.base_pk)

    def leave(self, wakeup: Wakeup) -> bool:
        """Remove `wakeup`; return whether none is left, and then the subscription has ended."""
        self._wakeups.discard(wakeup)
        if not self._wakeups and self._listening is not None:
            self._listening.cancel()
        return not self._wakeups

    async def _listen(self) -> None:
        """Listen until cancelled; a layer that is away is joined again when it is back."""
        pause = settings.MRPVM_REJOIN_PAUSE_SECONDS
        while True:
            try:
                async with self._joined() as channel:
                    pause = settings.MRPVM_REJOIN_PAUSE_SECONDS
                    for wakeup in self._wakeups:
                        wakeup.set(None)
                    async with asyncio.timeout(REJOIN_SECONDS):
                        await self._pass_on(channel)
            except TimeoutError:
                pass
            except Exception as error:
                logger.warning("%s hears nothing for %s s: %s", self._groups[0], pause, error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    @asynccontextmanager
    async def _joined(self) -> AsyncIterator[str]:
        layer, groups = get_channel_layer(), self._groups
        channel = await layer.new_channel()
        try:
            for group in groups:
                await layer.group_add(group, channel)
            yield channel
        finally:
            for group in groups:
                await layer.group_discard(group, channel)

    async def _pass_on(self, channel: str) -> None:
        layer, latest = get_channel_layer(), 0
        while True:
            message: events.EventMessage = (await layer.receive(channel))["message"]
            sequence = message["sequence"]
            latest = latest if sequence is None else sequence
            is_progress = sequence is None and message["kind"] != "kb.revised"  # which is read with the rows
            progress = Outgoing(latest, True, json.dumps(message)) if is_progress else None
            for wakeup in self._wakeups:
                wakeup.set(progress)
