"""The model requests and tool calls of a session's latest turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mrpvm.llm.recorder import ModelExchange
from mrpvm.trace.events import Event, PluginFinished, PluginStarted, said
from sessions_app.models import ExplainabilityTurn, Message, Session
from sessions_app.queries.turns.registry import details, events


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One captured request with its response; `stage` is empty for one that prepared the context."""

    stage: str
    exchange: ModelExchange

    @property
    def body(self) -> Mapping[str, Any]:
        """Return the request's body as it left, redacted."""
        return self.exchange.get("body") or {}

    @property
    def follows(self) -> bool:
        """Return whether the request named a previous response."""
        return self.body.get("previous_response_id") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestTurn:
    """The latest turn with its requests in the order of their executions' ends, those that prepared it first."""

    turn: ExplainabilityTurn | None = None
    requests: Sequence[Sent] = ()
    tool_messages: Sequence[Message] = ()

    @property
    def outbound(self) -> Sent | None:
        """Return the request for the turn's answer, or None if nothing was sent."""
        return outbound_of(self.requests)


def latest_turn(session: Session) -> LatestTurn:
    """Return the requests and tool calls of the latest turn; a fixed number of queries."""
    turn = session.turns.order_by("-turn_index").first()
    if turn is None:
        return LatestTurn()
    return LatestTurn(turn=turn, requests=sent_requests(turn, events(turn)), tool_messages=tool_messages(turn))


def outbound_of(requests: Sequence[Sent]) -> Sent | None:
    """Return the first request for the answer, else the first of all."""
    answering = (sent for sent in requests if sent.stage == "goal-solver")
    return next(answering, next(iter(requests), None))


def tool_messages(turn: ExplainabilityTurn) -> list[Message]:
    """Return the messages of the turn's tools, in order."""
    return list(turn.messages.filter(role=Message.Speaker.TOOL).order_by("sequence"))


def sent_requests(turn: ExplainabilityTurn, recorded: Sequence[Event]) -> tuple[Sent, ...]:
    """Return the turn's model requests, preparing ones first; one query if a plugin sent one, else none."""
    stages = {started.execution_id: started.stage for started in said(PluginStarted, recorded)}
    calling = [ended.execution_id for ended in said(PluginFinished, recorded) if ended.llm_calls]
    details_by_id = details(turn, calling) if calling else {}
    prepared = [Sent(stage="", exchange=item) for item in (turn.context_report or {}).get("requests", ())]
    answered = [
        Sent(stage=stages.get(ref, ""), exchange=item)
        for ref in calling
        if ref in details_by_id
        for item in details_by_id[ref].requests
    ]
    return (*prepared, *answered)
