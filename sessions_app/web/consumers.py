"""Live state: one socket a session page, fed from the session's numbered events.

The socket joins the group first and then reads the rows after the number the page has seen, so nothing is missed in
between; an event that arrives out of turn sends it back to the rows, so nothing is doubled. A heartbeat looks once
more, for the case that the very last message was lost.
"""

import asyncio
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from sessions_app import events
from sessions_app.queries.sessions import events_since, visible_session

UNAUTHENTICATED, FORBIDDEN = 4401, 4403
HEARTBEAT_SECONDS = 10


class SessionConsumer(AsyncJsonWebsocketConsumer):
    """Sends a session's events to a reader who may see it; closes with 4403 as soon as he may not [O-8]."""

    async def connect(self) -> None:
        """Join the group, then send what the page has not seen (`?since=<number>`)."""
        events.use_server_loop(asyncio.get_running_loop())
        self._heartbeat: asyncio.Task[None] | None = None
        self._group: str | None = None
        self._lock = asyncio.Lock()
        await self.accept()
        if not self.scope["user"].is_authenticated:
            await self.close(UNAUTHENTICATED)
            return
        self._since = _number(parse_qs(self.scope["query_string"].decode()).get("since", ["0"])[0])
        session_pk = await self._allowed()
        if session_pk is None:
            await self.close(FORBIDDEN)
            return
        self._session_pk = session_pk
        self._group = events.group_of(session_pk)
        await self.channel_layer.group_add(self._group, self.channel_name)
        await self._replay()
        if await self._allowed() is None:  # it ended while the socket was joining
            await self.close(FORBIDDEN)
            return
        self._heartbeat = asyncio.create_task(self._beat())

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        if self._group is not None:
            await self.channel_layer.group_discard(self._group, self.channel_name)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        """Ignore what browsers send: everything they do goes over HTTP."""

    async def session_event(self, envelope: dict[str, Any]) -> None:
        """Send one event on, if its reader may still see the session and its number is the next."""
        if await self._allowed() is None:
            await self.close(FORBIDDEN)
            return
        message: events.EventMessage = envelope["message"]
        sequence = message["sequence"]
        if sequence is None:
            await self.send_json(message)
            return
        async with self._lock:
            if sequence == self._since + 1:
                self._since = sequence
                await self.send_json(message)
                return
        if sequence > self._since:
            await self._replay()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            if await self._allowed() is None:
                await self.close(FORBIDDEN)
                return
            await self._replay()

    async def _replay(self) -> None:
        async with self._lock:
            for message in await _messages_since(self._session_pk, self._since):
                self._since = message["sequence"] or self._since
                await self.send_json(message)

    async def _allowed(self) -> int | None:
        session_id = self.scope["url_route"]["kwargs"]["session_id"]
        return await _visible(self.scope["user"].pk, self.scope["session"].session_key, session_id)


@database_sync_to_async
def _visible(user_pk: int, login_key: str | None, session_id: str) -> int | None:
    session = visible_session(user_pk, login_key, session_id)
    return session.pk if session else None


@database_sync_to_async
def _messages_since(session_pk: int, sequence: int) -> Sequence[events.EventMessage]:
    return [events.message_of(event) for event in events_since(session_pk, sequence)]


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
