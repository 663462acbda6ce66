"""Turns of many kinds under a fixed clock, and all of their records as bytes.

`python -m tests.kernel.recorded_turns` prints a digest of the turns of the shipped plugins.
"""

import hashlib
import random
import time
from collections import deque
from collections.abc import Callable, Iterable
from copy import replace
from typing import Any

from mrpvm.contracts import Solution
from mrpvm.kernel.machine import Machine
from mrpvm.kernel.workers import Workers
from mrpvm.llm.absent import AbsentModel
from mrpvm.llm.port import Prompt
from mrpvm.plugins.builtin import BUILTIN_PLUGINS
from mrpvm.registry import Registry
from mrpvm.testing import InMemoryKnowledge, ScriptedModel, unit
from mrpvm.trace.events import Event, record_of
from mrpvm.trace.order import in_frame_order
from mrpvm.values import HistoryMessage, KnowledgeUnit, Limits, SessionState, TurnRequest
from mrpvm.wire import WireWriter
from tests.kernel.scripted import (
    REJECT,
    Ran,
    Scripted,
    StepClock,
    detection,
    graph_of,
    plan,
    plugin,
    retrieval,
    run,
    solution,
    trace_of,
)

QUESTIONS = ("one", "two", "three", "four")


class StillClock(StepClock):
    """A clock at which no time passes."""

    def monotonic_ms(self) -> float:
        return 0.0


def late(item: Scripted) -> Scripted:
    """Return the plugin after adding a short random delay to each of its replies."""

    def delayed(reply: Any) -> Callable[..., Any]:
        def wait_and_reply(request: Any, context: Any) -> Any:
            time.sleep(random.random() * 0.002)
            if isinstance(reply, Exception):
                raise reply
            return reply(request, context) if callable(reply) else reply

        return wait_and_reply

    item.replies = deque(delayed(reply) for reply in item.replies)
    return item


def by_question(**replies: Any) -> Callable[..., Any]:
    """Return a solver's reply that depends on the question; `Because.` where none is given."""

    def reply(request: Any, context: Any) -> Any:
        told = replies.get(request.evidence[0].intent.target, solution("Because."))
        if isinstance(told, Exception):
            raise told
        return told(request, context) if callable(told) else told

    return reply


def asking_a_model(request: Any, context: Any) -> Solution:
    said = (HistoryMessage(role="user", content=request.evidence[0].intent.target),)
    prompt = Prompt(plugin_id="gs-a", role="goal-fast", system="", messages=said)
    return solution(context.model.call(prompt, context.write).text)(request, context)


def _turn(*plugins: Scripted, **options: Any) -> Ran:
    return run(*(late(item) for item in plugins), clock=StillClock(), **options)


def _detector(*questions: str, **changes: Any) -> Any:
    return plugin("sd-plugin", "sd-a", detection(*questions, **changes))


def _retriever(plugin_id: str = "kb-a", *claims: str, sufficient: bool = True) -> Any:
    return plugin("kb-plugin", plugin_id, retrieval(*(claims or ("fact",)), sufficient=sufficient))


def at_level(level: int, **options: Any) -> Ran:
    """Return a turn with two retrievers and three solvers, of which one fails and one refuses."""
    solvers = [RuntimeError("boom"), solution(None), solution("Because.")]
    names = [f"gs-{place}" for place in range(3)]
    return _turn(
        _detector("one", claims=["Rex is a dog."]),
        _retriever("kb-a", sufficient=False),
        _retriever("kb-b", "fact", "another"),
        *(plugin("gs-plugin", name, reply) for name, reply in zip(names, solvers, strict=True)),
        plugin("mrp-plan-plugin", "planner-a", plan(("kb-a", "kb-b"), names)),
        level=level,
        **options,
    )


def fan_out(**options: Any) -> Ran:
    """Return a turn of four parallel questions: one fails, one is refused, one is rejected once."""
    replies = by_question(two=RuntimeError("boom"), three=solution(None))
    return _turn(
        _detector(*QUESTIONS, claims=["Rex is a dog."]), _retriever(), plugin("gs-plugin", "gs-a", replies), **options
    )


def rejections(**options: Any) -> Ran:
    """Return a turn of two questions whose answers a validator rejects; another solver and planner are tried."""
    return _turn(
        _detector("one", "two"), _retriever(),
        plugin("gs-plugin", "gs-a", solution("Because.")), plugin("gs-plugin", "gs-b", solution("Since.")),
        plugin("val-plugin", "val-a", REJECT),
        plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b"))),
        plugin("mrp-plan-plugin", "planner-b", plan(solvers=("gs-b", "gs-a"))), **options,
    )  # fmt: skip


def few_calls(**options: Any) -> Ran:
    """Return a turn of four questions and a solver that calls a model, with three calls allowed."""
    limits = replace(options.pop("limits", Limits()), max_llm_calls=3)
    return _turn(
        _detector(*QUESTIONS), _retriever(),
        plugin("gs-plugin", "gs-a", asking_a_model, uses_llm=True, model_roles=("goal-fast",), max_llm_calls=1),
        model=ScriptedModel(lambda prompt: f"About {prompt.messages[0].content}."), limits=limits, **options,
    )  # fmt: skip


def subtasks(**options: Any) -> Ran:
    """Return a turn of two questions that are answered by subtasks, which find facts."""

    def detect(request: Any, context: Any) -> Any:
        if request.message == "Why?":
            return detection("one", "two")
        return detection(f"{request.message} left", f"{request.message} right", claims=[f"{request.message} is known."])

    split = Solution(status="needs-decomposition")
    return _turn(
        plugin("sd-plugin", "sd-a", detect), _retriever(),
        plugin("gs-plugin", "gs-a", by_question(one=split, two=split)), **options,
    )  # fmt: skip


SCRIPTED: dict[str, Callable[..., Ran]] = {
    **{f"level {level}": lambda level=level, **options: at_level(level, **options) for level in range(4)},
    **{f"fan-out at level {level}": lambda level=level, **options: fan_out(level=level, **options) for level in (0, 3)},
    "rejections": rejections,
    "few calls": few_calls,
    "subtasks": subtasks,
}

MESSAGES = (
    "Anna Berg leads the harbour project. The crane belongs to the harbour project.",
    "Who leads the harbour project? Does the crane belong to the harbour project? Why does the pump fail?",
    "Explain the pump. Answer in a list.",
    "1. What does the pump use? 2. What depends on the filter? 3. Compare the pump and the crane.",
    "What is the weather like on the moon?",
)
FACTS = (
    "The pump uses a filter.", "The filter depends on the valve.", "The pump fails because the filter is blocked.",
    "The crane lifts ten tons.", "The pump moves water to the upper basin.", "The crane uses a diesel engine.",
)  # fmt: skip


def shipped_turns() -> Iterable[Ran]:
    """Return turns of the shipped plugins at every level, with a few facts."""
    knowledge = InMemoryKnowledge([unit(f"src-1::chunk-000::unit-{n:03d}", fact) for n, fact in enumerate(FACTS)])
    workers = Workers()
    machine = Machine(Registry(BUILTIN_PLUGINS), workers, StillClock(), AbsentModel())
    for level in range(4):
        for number, message in enumerate(MESSAGES):
            events: list[Event] = []
            request = TurnRequest(
                request_id=f"req-{level}-{number}",
                message=message,
                session=SessionState(
                    session_id="sess-1", mounted_kb_id="kb-1", mounted_kb_name="Base", message_count=0,
                    session_context_unit_count=0, deliberation_level=level,
                ),
                deliberation_level=level,
            )  # fmt: skip
            yield Ran(machine.run_turn(request, knowledge, events.append), events)
    workers.close()


def as_bytes(ran: Ran) -> bytes:
    """Return all records of a turn: events, payloads, graph, trace, planner statistics and the outcome."""
    records = [record_of(event) for event in in_frame_order(ran.events, lambda event: event.frame_id)]
    payloads: dict[str, dict[str, Any]] = {}
    for event in ran.events:
        if event.detail_ref is not None:
            payloads.setdefault(event.detail_ref, {}).update(event.detail)
    left = [records, sorted(payloads.items()), graph_of(records), trace_of(records), ran.outcome]
    return WireWriter(brief=KnowledgeUnit).json(left)


if __name__ == "__main__":
    digest = hashlib.sha256()
    for ran in shipped_turns():
        digest.update(as_bytes(ran))
    print(digest.hexdigest())
