"""Scripted plugins: each gives its replies in order and records its requests."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mrpvm.contracts import (
    Descriptor,
    Detection,
    LifecycleEvent,
    Normalisation,
    PlannerHints,
    Retrieval,
    Solution,
    Validation,
)
from mrpvm.kernel.calls import Replies, unknown_reply
from mrpvm.kernel.machine import Machine
from mrpvm.kernel.workers import Workers
from mrpvm.lang import ControlWriter
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.port import ModelSource
from mrpvm.registry import Registry
from mrpvm.testing import InMemoryKnowledge
from mrpvm.trace.events import Event, Record, event_of, record_of
from mrpvm.trace.graph import fold_graph
from mrpvm.trace.record import execution_trace
from mrpvm.values import (
    Answer,
    AnswerGroup,
    Evidence,
    EvidenceEntry,
    KnowledgeUnit,
    Limits,
    Plan,
    Selection,
    SessionState,
    TurnOutcome,
    TurnRequest,
)
from mrpvm.wire import to_wire

HINTS = PlannerHints(
    expected_latency_ms=1,
    expected_llm_calls=0,
    relative_cost=0.1,
    supported_acts=("explain",),
    topic_tags=("general",),
    preferred_depth="shallow",
    fallback_role="default",
    confidence_when_matched=0.8,
)


@dataclass
class Scripted:
    """A plugin of any family; a reply is a value, an exception to raise, or a function of the request."""

    descriptor: Descriptor
    replies: deque[Any]
    asked: list[Any] = field(default_factory=list)

    def _reply(self, request: Any, context: Any) -> Any:
        self.asked.append(request)
        reply = self.replies.popleft() if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise copy(reply)  # one that is raised again keeps the traceback of each time before
        return reply(request, context) if callable(reply) else reply

    detect = retrieve = solve = validate = plan = _reply

    def normalise(self, chunk: Any, context: Any) -> Any:
        """Return the units of the next reply, or the reply itself if it is no detection."""
        reply = self._reply(chunk, context)
        if not isinstance(reply, Detection):
            return reply
        return Normalisation(status=reply.status, context_document=reply.context_document, error=reply.error)

    def on_session_event(self, event: LifecycleEvent) -> str:
        return "accepted"


def plugin(plugin_type: str, plugin_id: str, *replies: Any, **changes: Any) -> Scripted:
    descriptor = Descriptor(
        id=plugin_id,
        type=plugin_type,  # type: ignore[arg-type]
        name=plugin_id.title(),
        version="1.0.0",
        description="Scripted.",
        cost_class="cheap",
        planner_hints=HINTS,
        **changes,
    )
    return Scripted(descriptor, deque(replies))


def detection(*questions: str, claims: Sequence[str] = (), goals: Sequence[str] = ()) -> Detection:
    """Return a detection of questions, each with a seed, of claims, and of subproblems of the first question."""
    intents = ControlWriter()
    for question in questions:
        intent = intents.intent("explain", question, output="answer")
        intents.seed(intent, "direct", "explain", question)
    context = ControlWriter()
    for index, claim in enumerate(claims):
        context.ku(
            "atomic",
            f"session::turn::unit-{index:03}",
            source_id="session",
            chunk_id="session::turn",
            role="Description",
            topic=claim,
            claim=claim,
        )
    return Detection(
        status="success",
        intent_document="\n".join(
            [intents.text(), *(f'@g{number} subproblem $i1 "{goal}"' for number, goal in enumerate(goals, start=1))]
        ),
        context_document=context.text() if claims else None,
    )


def plan(kbs: Sequence[str] = ("kb-a",), solvers: Sequence[str] = ("gs-a",)) -> Callable[..., Plan]:
    def reply(request: Any, context: Any) -> Plan:
        return Plan(planner_plugin_id="planner-a", kb_plugin_order=tuple(kbs), goal_solver_order=tuple(solvers))

    return reply


def unit(claim: str) -> KnowledgeUnit:
    return KnowledgeUnit(id=f"u:{claim}", role="Description", topic=claim, claim=claim, hash=claim)


def retrieval(*claims: str, sufficient: bool = True) -> Callable[..., Retrieval]:
    def reply(request: Any, context: Any) -> Retrieval:
        entries = tuple(EvidenceEntry(unit=unit(claim), score=1.0, store="session") for claim in claims)
        evidence = tuple(
            Evidence(
                intent=intent,
                decomposed=decomposed,
                profile=profile,
                session_units=entries,
                sufficient=sufficient,
            )
            for intent, decomposed, profile in zip(request.intents, request.decomposed, request.profiles, strict=True)
        )
        return Retrieval(status="success" if sufficient else "insufficient", evidence=evidence)

    return reply


def solution(text: str | None) -> Callable[..., Solution]:
    """Return an answer with the text to every intent, or no-context if `text` is None."""

    def reply(request: Any, context: Any) -> Solution:
        groups = tuple(
            AnswerGroup(
                intent_ref=item.intent.group_number,
                act=item.intent.act,
                intent=item.intent.target,
                status="answered" if text else "no-context",
                answer_markdown=text or "nothing known",
                evidence=item.entries,
                cited_unit_ids=tuple(entry.unit.id for entry in item.entries) if text else (),
            )
            for item in request.evidence
        )
        return Solution(status="success" if text else "no-context", answer=Answer(groups=groups))

    return reply


ACCEPT = Validation(status="accepted")
REJECT = Validation(status="rejected", reason="it is wrong")


class StepClock:
    """A clock that advances one millisecond per reading, so that two runs have the same times."""

    def __init__(self) -> None:
        self._ms = 0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic_ms(self) -> float:
        self._ms += 1
        return float(self._ms)


class SystemClock(StepClock):
    """The real clock, for tests of time limits."""

    def monotonic_ms(self) -> float:
        import time

        return time.monotonic() * 1000


@dataclass
class Ran:
    outcome: TurnOutcome
    events: list[Event]

    @property
    def records(self) -> list[Record]:
        return [record_of(event) for event in self.events]

    def named(self, name: str) -> list[Any]:
        """Return the data of the stored records with this name."""
        return [data for kind, _, data in self.records if kind == name]


def graph_of(records: Iterable[Record]) -> dict[str, Any]:
    """Return the JSON form of the graph that is read from stored records."""
    graph: dict[str, Any] = to_wire(fold_graph(map(event_of, records)))
    return graph


def trace_of(records: Iterable[Record]) -> dict[str, Any]:
    """Return the JSON form of the execution trace that is read from stored records."""
    trace: dict[str, Any] = to_wire(execution_trace([event_of(record) for record in records]))
    return trace


def run(
    *plugins: Scripted,
    message: str = "Why?",
    pins: Selection | None = None,
    preferences: Selection | None = None,
    limits: Limits | None = None,
    clock: StepClock | None = None,
    tick: Callable[[], None] = lambda: None,
    level: int = 0,
    model: ModelSource | None = None,
    is_validated: bool = True,
    is_streamed: bool = False,
    replies: Replies = unknown_reply,
) -> Ran:
    """Run one turn with scripted plugins; a planner and an accepting validator are added unless given."""
    registry = Registry(plugins)
    if not registry.descriptors("mrp-plan-plugin"):
        registry.register(plugin("mrp-plan-plugin", "planner-a", plan()))
    if is_validated and not registry.descriptors("val-plugin"):
        registry.register(plugin("val-plugin", "val-a", ACCEPT))
    events: list[Event] = []
    workers = Workers()
    try:
        machine = Machine(registry, workers, clock or StepClock(), model or AbsentModel())
        request = TurnRequest(
            request_id="req-1",
            message=message,
            session=SessionState(
                session_id="sess-1",
                mounted_kb_id="kb-1",
                mounted_kb_name="Base",
                message_count=0,
                session_context_unit_count=0,
                deliberation_level=0,
            ),
            pins=pins or Selection(),
            preferences=preferences or Selection(),
            limits=limits or Limits(),
            deliberation_level=level,
            is_streamed=is_streamed,
        )
        return Ran(machine.run_turn(request, InMemoryKnowledge(), events.append, tick, replies=replies), events)
    finally:
        workers.close()
