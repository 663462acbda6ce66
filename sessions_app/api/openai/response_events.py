"""The numbered events of one streamed response."""

from collections.abc import Iterator
from typing import Any

from mrpvm.trace.events import AnswerDelta, Event
from sessions_app.api.openai.response_object import output_item, output_text, response_of
from sessions_app.api.shell.responses import ErrorResponse
from sessions_app.api.turns.completion import unsent
from sessions_app.api.turns.live_answer import voided
from sessions_app.api.turns.sse import Feed, StreamEvent
from sessions_app.models import ExplainabilityTurn
from sessions_app.turns.pipeline import TurnResult

_PLACE = {"output_index": 0, "content_index": 0}


class ResponseEvents:
    """The events of one turn, numbered from 0."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._count = 0
        self._sent = ""
        self._begun: ExplainabilityTurn | None = None

    def listen(self, turn: ExplainabilityTurn, event: Event) -> None:
        """Open the stream as soon as the turn has started."""
        if self._begun is None:
            for first in self._first(turn):
                self._feed.put(*first)

    def read(self, turn: ExplainabilityTurn, piece: AnswerDelta) -> None:
        self._sent += piece.delta
        self._feed.put(*self._delta(turn.request_id, piece.delta))

    def rest(self, result: TurnResult) -> Iterator[StreamEvent]:
        """Return what was not sent yet and the ends of part, item and response."""
        turn, text = result.turn, result.outcome.answer_text
        if self._begun is None:  # a command, which describes nothing on its way
            yield from self._first(turn)
        for piece in unsent(text, self._sent):
            yield self._delta(turn.request_id, piece)
        response = response_of(turn, text, list(result.events))
        item = response["output"][0]
        here = {**_PLACE, "item_id": item["id"]}
        yield self._event("response.output_text.done", **here, text=text, logprobs=[])
        yield self._event("response.content_part.done", **here, part=output_text(text))
        yield self._event("response.output_item.done", output_index=0, item=item)
        yield self._event(f"response.{response['status']}", response=response)

    def failed(self, error: ErrorResponse) -> Iterator[StreamEvent]:
        """Return the end of a turn that failed, as the failed response where there is one."""
        said = voided(error, self._sent)["error"]
        if self._begun is None:
            yield self._event("error", code=said["code"], message=said["message"], param=None)
            return
        failure = {"code": "server_error", "message": f"{said['code']}: {said['message']}"}
        response = response_of(self._begun, None) | {"status": "failed", "error": failure}
        yield self._event("response.failed", response=response)

    def _delta(self, request_id: str, text: str) -> StreamEvent:
        item_id = output_item(request_id, "")["id"]
        return self._event("response.output_text.delta", **_PLACE, item_id=item_id, delta=text, logprobs=[])

    def _first(self, turn: ExplainabilityTurn) -> Iterator[StreamEvent]:
        self._begun = turn
        response = response_of(turn, None) | {"status": "in_progress"}
        item = output_item(turn.request_id, "", "in_progress")
        yield self._event("response.created", response=response)
        yield self._event("response.in_progress", response=response)
        yield self._event("response.output_item.added", output_index=0, item=item)
        yield self._event("response.content_part.added", **_PLACE, item_id=item["id"], part=output_text(""))

    def _event(self, name: str, **data: Any) -> StreamEvent:
        event = {"type": name, "sequence_number": self._count, **data}
        self._count += 1
        return name, event
