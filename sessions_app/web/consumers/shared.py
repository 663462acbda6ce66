"""What the sockets of one process share: one ear at the layer a session, and one read for all who ask at once.

A socket that subscribed and asked for itself would cost a thread hop and three queries for each event; two hundred of
them fell seconds behind.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from sessions_app import events
from sessions_app.queries.sessions.lookups import SeenSession, SessionReader, events_since, visible_sessions

if TYPE_CHECKING:
    from sessions_app.models import SessionEvent

REJOIN_SECONDS = 3_600
"""The in-memory layer forgets after a day who is in a group."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1, 30

logger = logging.getLogger(__name__)


class Told(NamedTuple):
    """One message as it is sent: its event's number, or, if it only tells of progress, that of the event before it."""

    sequence: int
    is_progress: bool
    text: str


class Question(NamedTuple):
    """What a reader asks: may he see the session, and what came after `since`; no events without `session_pk`."""

    reader: SessionReader
    session_pk: int | None
    since: int


class Answer(NamedTuple):
    """The session that the reader may see, and its events, which all who asked the same share."""

    session: SeenSession
    news: Sequence[Told]


class SharedReads:
    """Answers questions in rounds: who asks while a round is read waits for the next, so no answer is older than its
    question.
    """

    def __init__(self) -> None:
        self._waiting: dict[Question, asyncio.Future[Answer | None]] = {}
        self._rounds: asyncio.Task[None] | None = None

    async def ask(self, question: Question) -> Answer | None:
        """Return the answer; None if the reader may not see the session (any more).

        Raises:
            Exception: whatever kept the database from answering; everybody of the round gets it.
        """
        if question not in self._waiting:
            self._waiting[question] = asyncio.get_running_loop().create_future()
        answer = self._waiting[question]
        if self._rounds is None:
            self._rounds = asyncio.create_task(self._read())
        return await asyncio.shield(answer)  # one socket that goes away takes no answer from the others

    async def _read(self) -> None:
        asked: dict[Question, asyncio.Future[Answer | None]] = {}
        try:
            while self._waiting:
                asked, self._waiting = self._waiting, {}
                try:
                    answers = await _answers(list(asked))
                except Exception as error:
                    for waiting in asked.values():
                        waiting.set_exception(error)
                else:
                    for question, waiting in asked.items():
                        waiting.set_result(answers.get(question))
        finally:
            self._rounds = None
            for waiting in (*asked.values(), *self._waiting.values()):
                waiting.cancel()
            self._waiting = {}


@database_sync_to_async
def _answers(questions: Sequence[Question]) -> Mapping[Question, Answer]:
    # Events first, permission after: whoever lost it before an event was stored does not get the event.
    places = {(asked.session_pk, asked.since) for asked in questions}
    news = {
        (pk, since): [] if pk is None else [_told(event) for event in events_since(pk, since)] for pk, since in places
    }
    visible = visible_sessions({asked.reader for asked in questions})
    return {
        asked: Answer(visible[asked.reader], news[asked.session_pk, asked.since])
        for asked in questions
        if asked.reader in visible
    }


def _told(event: "SessionEvent") -> Told:
    return Told(event.sequence, False, json.dumps(events.message_of(event)))


class Bell:
    """Wakes one socket, and keeps for it what only tells of progress, which is not in the rows."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self._progress: list[Told] = []

    def ring(self, progress: Told | None) -> None:
        """Wake the socket; an event's row is read then, so only progress is handed over."""
        if progress is not None:
            self._progress.append(progress)
        self._rung.set()

    async def wait(self, seconds: float) -> Sequence[Told]:
        """Wait until somebody rings, at most so long; gives the progress that was told meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            pass
        self._rung.clear()
        progress, self._progress = self._progress, []
        return progress


class Ear:
    """Listens to the groups of one session and its base for all sockets of this process that follow the session.

    Whoever may have missed something is woken to read the rows: after each time that the ear joined the groups.
    """

    def __init__(self, session: SeenSession) -> None:
        self._session = session
        self._bells: set[Bell] = set()
        self._listening: asyncio.Task[None] | None = None

    def join(self, bell: Bell) -> None:
        """Ring the bell for each message from now on."""
        self._bells.add(bell)
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
        return events.group_of(self._session.pk), events.group_of_base(self._session.base_pk)

    def leave(self, bell: Bell) -> bool:
        """Ring it no more; tells whether nobody is left, and then the ear has stopped listening."""
        self._bells.discard(bell)
        if not self._bells and self._listening is not None:
            self._listening.cancel()
        return not self._bells

    async def _listen(self) -> None:
        """Listen until cancelled; a layer that is away is joined again when it is back."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                async with self._joined() as channel:
                    pause = FIRST_PAUSE_SECONDS
                    for bell in self._bells:
                        bell.ring(None)
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
            progress = Told(latest, True, json.dumps(message)) if is_progress else None
            for bell in self._bells:
                bell.ring(progress)
