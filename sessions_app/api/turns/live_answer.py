"""Sends an answer while a model writes it, and the rest when it is complete."""

from collections.abc import Collection, Iterator

from mrpvm.trace.events import AnswerDelta, Event
from sessions_app.api.shell.responses import ErrorResponse
from sessions_app.api.turns.completion import answer_events, head
from sessions_app.api.turns.progress import progress_of
from sessions_app.api.turns.sse import Ending, Feed, StreamEvent
from sessions_app.models import ExplainabilityTurn
from sessions_app.turns.pipeline import TurnResult

VOID = "What was sent of the answer is void; nothing of the turn was kept."


class LiveAnswer:
    """What one stream has sent so far of its answer."""

    def __init__(self, feed: Feed, include: Collection[str]) -> None:
        self._feed = feed
        self._include = include
        self.sent = ""

    def listen(self, turn: ExplainabilityTurn, event: Event) -> None:
        """Send what the turn is doing, until its answer has started."""
        if not self.sent and (payload := progress_of(turn, event)) is not None:
            self._feed.put("progress", payload)

    def read(self, turn: ExplainabilityTurn, piece: AnswerDelta) -> None:
        """Send a piece; the first one brings along who answers."""
        if not self.sent:
            self._feed.put("response.meta", head(turn, piece.used))
        self.sent += piece.delta
        self._feed.put("response.delta", {"delta": piece.delta})

    def rest(self, result: TurnResult) -> Iterator[StreamEvent]:
        """Return the events that follow the commit: all of them, or what was not sent yet."""
        return answer_events(result, self._include, self.sent)

    def failed(self, error: ErrorResponse) -> Iterator[StreamEvent]:
        """Return the error of a turn that failed, which says so if a part of an answer had been sent."""
        yield "error", voided(error, self.sent)


def voided(body: ErrorResponse, sent: str) -> ErrorResponse:
    """Return the error object, which says so if a part of an answer had been sent.

    A reader who lost access is not told so: the turn goes on, and its answer may be kept.
    """
    error = body["error"]
    if not sent or error["code"] == Ending.ACCESS.value:
        return body
    details = {**error["details"], "void_answer_chars": len(sent)}
    return {"error": {**error, "message": f"{error['message']} {VOID}", "details": details}}
