"""Counts turns for /metrics."""

from collections.abc import Callable, Sequence
from typing import Any

from mrpvm.trace.events import Event, PluginFinished, said
from sessions_app.metrics import Meters, meters
from sessions_app.models import ExplainabilityTurn
from sessions_app.running_turns import running_turns
from sessions_app.turns.pipeline import turn_ended


def count_turns(sweep_lag: Callable[[], float]) -> None:
    """Count from now on what this process does; nothing where metrics are not allowed.

    Args:
        sweep_lag: returns by how many seconds the next sweep is late.
    """
    counted = meters()
    if counted is None:
        return
    counted.read_at_scrape(lambda: running_turns.count, sweep_lag)
    turn_ended.connect(_count, dispatch_uid="count-turns")


def _count(*, turn: ExplainabilityTurn, events: Sequence[Event], **_: Any) -> None:
    counted = meters()
    if counted is None:
        return
    counted.turns.labels(turn.status, turn.answer_status or "none").inc()
    if turn.duration_ms is not None:
        counted.turn_seconds.labels(turn.status).observe(turn.duration_ms / 1000)
    _count_models(counted, events)


def _count_models(counted: Meters, events: Sequence[Event]) -> None:
    tokens: dict[str, list[int]] = {}
    for ended in said(PluginFinished, events):
        model = ended.model or "unknown"
        if ended.llm_calls:
            counted.model_calls.labels(model).inc(ended.llm_calls)
        if ended.error is not None and ended.error["code"].startswith("LLM_"):
            counted.model_errors.labels(ended.error["code"]).inc()
        if ended.usage is not None:
            used = tokens.setdefault(model, [0, 0])
            used[0] += ended.usage.input_tokens
            used[1] += ended.usage.output_tokens
    for model, (received, written) in tokens.items():
        counted.turn_tokens.labels(model, "input").observe(received)
        counted.turn_tokens.labels(model, "output").observe(written)
