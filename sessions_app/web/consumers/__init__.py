"""Live state: one socket a session page, fed from the session's numbered events.

A socket joins its groups first and then reads the rows after the number that the page has seen. A message only wakes it
to read again, so no event is lost or sent twice. A periodic read covers a lost last message. The revision of the
mounted base is read with the rows, because a base does not write to all its sessions.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings

from sessions_app import events
from sessions_app.actions.settings.api_keys import find_key
from sessions_app.queries.sessions.lookups import SeenSession, SessionReader, is_deleted
from sessions_app.queries.settings.logins import BrowserLogin, KeyLogin, login_of
from sessions_app.queries.settings.projects import is_at_least
from sessions_app.web.consumers.refusals import token_of
from sessions_app.web.consumers.shared import (
    AccessWatch,
    Outgoing,
    SharedReads,
    SocketNews,
    SocketQuery,
    Subscription,
    Wakeup,
)
from sessions_app.web.shell.second_factor import is_asked_for

logger = logging.getLogger(__name__)

UNAUTHENTICATED, FORBIDDEN, DELETED, FAILED = 4401, 4403, 4404, 1011


class Shared:
    """What the sockets of one event loop share."""

    def __init__(self) -> None:
        self.reads = SharedReads()
        self.subscriptions: dict[int, Subscription] = {}
        self.access = AccessWatch()


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, Shared] = WeakKeyDictionary()


class SessionConsumer(AsyncJsonWebsocketConsumer):
    """Sends a session's events to a reader who may see it.

    It closes with 4403 when the reader loses access, and with 4404 when the session is deleted.
    """

    channel_layer_alias = "none"
    """No layer has this name: one subscription serves all sockets, and a Redis that is away refuses none."""

    async def connect(self) -> None:
        """Listen, then send what the page has not seen (`?since=<number>&revision=<of the mounted base>`)."""
        loop = asyncio.get_running_loop()
        events.use_server_loop(loop)
        self._shared = _shared.setdefault(loop, Shared())
        self._following: asyncio.Task[None] | None = None
        self._session_pk: int | None = None
        self._wakeup = Wakeup()
        await self.accept()
        login = await self._login()
        if login is None:
            await self.close(UNAUTHENTICATED)
            return
        parameters = parse_qs(self.scope["query_string"].decode())
        self._since = _number(parameters.get("since", ["0"])[0])
        self._reader = SessionReader(login, self.scope["url_route"]["kwargs"]["session_id"])
        result = await self._read()
        if result is None:
            await self._refuse()
            return
        self._session_pk = result.session.pk
        # The revision that the page shows; a later one is sent.
        self._base = (result.session.base_pk, _number(parameters.get("revision", [""])[0]) or result.session.revision)
        self._shared.subscriptions.setdefault(result.session.pk, Subscription(result.session)).join(self._wakeup)
        self._shared.access.add(self._wakeup, self._reader)
        self._wakeup.set(None)
        self._following = asyncio.create_task(self._follow())

    async def disconnect(self, code: int) -> None:
        if self._following is not None:
            self._following.cancel()
        if self._session_pk is None:
            return
        self._shared.access.remove(self._wakeup)
        subscription = self._shared.subscriptions.get(self._session_pk)
        if subscription is not None and subscription.leave(self._wakeup):
            self._shared.subscriptions.pop(self._session_pk, None)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Ignore messages of the client, because pages send all requests over HTTP."""

    async def _login(self) -> BrowserLogin | KeyLogin | None:
        """Return who opens the socket: the holder of an API key, or a user whose login is complete."""
        token = token_of(self.scope)
        if token is not None:
            key = await database_sync_to_async(find_key)(token)
            return KeyLogin(key.pk) if key and is_at_least(key.role, "viewer") else None
        user, session = self.scope["user"], self.scope["session"]
        if not user.is_authenticated or is_asked_for(user, session):
            return None
        return login_of(user, session)

    async def _follow(self) -> None:
        try:
            while await self._send_news(await self._wakeup.wait(settings.MRPVM_HEARTBEAT_MS / 1000)):
                pass
            await self._refuse()
        except OSError:  # the page has gone; its disconnect comes
            return
        except Exception:
            logger.exception("could not follow session %s", self._reader.session_id)
            await self.close(FAILED)  # the page connects again with the number it has seen

    async def _refuse(self) -> None:
        """Close the socket of a reader who may not see the session (any more)."""
        await self.close(DELETED if await database_sync_to_async(is_deleted)(self._reader) else FORBIDDEN)

    async def _send_news(self, progress: Sequence[Outgoing]) -> bool:
        """Send new events if the reader may still see the session; return whether that is so."""
        result = await self._read()
        if result is None or result.session.pk != self._session_pk:
            return False
        self._shared.subscriptions[self._session_pk].follow_base(result.session)
        for message in sorted((*result.news, *progress)):
            await self.send(message.text)
            if not message.is_progress:
                self._since = message.sequence
        await self._send_revision(result.session)
        return True

    async def _send_revision(self, session: SeenSession) -> None:
        """Send a revision of the mounted base that the page does not know yet."""
        base = (session.base_pk, session.revision)
        if base != self._base:
            self._base = base
            await self.send_json(events.base_revised(session.kb_id, session.revision))

    async def _read(self) -> SocketNews | None:
        return await self._shared.reads.read(SocketQuery(self._reader, self._session_pk, self._since))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
