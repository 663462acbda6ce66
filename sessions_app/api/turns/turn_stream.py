"""Runs a turn on a separate thread while its answer is streamed."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from django.conf import settings
from django.http import StreamingHttpResponse

from mrpvm.trace.events import AnswerDelta, Event
from sessions_app.api.shell.errors import access_ended, body_of, error_body
from sessions_app.api.shell.responses import ErrorResponse
from sessions_app.api.shell.views import ApiView
from sessions_app.api.turns.sse import Encode, Ending, EventStream, Feed, StreamEvent, frame
from sessions_app.api.turns.stream_threads import StreamThreads
from sessions_app.commands.messages import answer_message
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnResult

_threads = StreamThreads("turn", 4 * settings.MRPVM_MAX_RUNNING_TURNS)
"""More than may run, because some wait for their session."""


class AnswerDialect(Protocol):
    """How one dialect describes a turn; it puts events into the stream's feed."""

    def listen(self, turn: ExplainabilityTurn, event: Event) -> None:
        """Take a machine event of the running turn."""

    def read(self, turn: ExplainabilityTurn, piece: AnswerDelta) -> None:
        """Take a piece of the answer."""

    def rest(self, result: TurnResult) -> Iterator[StreamEvent]:
        """Return the events that follow the commit."""

    def failed(self, error: ErrorResponse) -> Iterator[StreamEvent]:
        """Return the last events of a turn that failed after its stream had started."""


class TurnStream:
    """A started turn: `feed` holds its events. A refusal before it started is raised."""

    def __init__(self, view: ApiView, feed: Feed, answer: AnswerDialect) -> None:
        self.feed = feed
        self._view = view
        self._answer = answer
        self._refusal: Exception | None = None

    def begin(self, session: Session, call: TurnCall, wait_ms: int) -> StreamEvent:
        """Start the turn and return its first event, which stays in the feed.

        Raises:
            Exception: whatever refused the turn before its first event.
        """
        _threads.start(lambda: self._run(session, call, wait_ms))
        first = self.feed.first()
        if self._refusal is not None:
            raise self._refusal
        assert first is not None  # noqa: S101  (a turn that nothing refused has events)
        return first

    def response(self, headers: Mapping[str, str], encode: Encode = frame) -> StreamingHttpResponse:
        """Return the response that streams the feed."""
        named = {"X-Request-Id": self._view.request_id, **headers}
        return EventStream(self.feed, self._view.access.lasts, self._last_words, named, encode)

    def _run(self, session: Session, call: TurnCall, wait_ms: int) -> None:
        """Put the turn's events into the feed, on the turn's thread; an error is the last of them."""
        try:
            result = answer_message(session, call, wait_ms=wait_ms, listen=self._answer.listen, read=self._answer.read)
            for event in self._answer.rest(result):
                self.feed.put(*event)
        except Exception as error:
            if self.feed.has_begun:
                for event in self._answer.failed(body_of(error, self._view.request_id, self._view.session_id)):
                    self.feed.put(*event)
            else:
                self._refusal = error
        finally:
            self.feed.end()

    def _last_words(self, ending: Ending) -> Iterator[StreamEvent]:
        if ending is Ending.ACCESS:
            return self._answer.failed(access_ended(self._view.request_id, self._view.session_id))
        return self._answer.failed(self._interrupted())

    def _interrupted(self) -> ErrorResponse:
        return error_body(
            "TURN_INTERRUPTED",
            "The server was stopped while this turn was running.",
            module="kernel",
            request_id=self._view.request_id,
            session_id=self._view.session_id,
        )
