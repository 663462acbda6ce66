"""A turn as the root of what is traced below it."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from mrpvm.llm.trace_context import TraceContext, current_trace
from mrpvm.trace.events import ROOT_FRAME_ID
from sessions_app.models import ExplainabilityTurn


def trace_id_of(request_id: str) -> str:
    """Return the trace id of a new turn: its request's, else one of its own if traces are exported, else empty."""
    caller = current_trace.get()
    if caller is not None:
        return caller.trace_id
    return hashlib.sha256(request_id.encode()).hexdigest()[:32] if settings.MRPVM_TRACES_OUT else ""


def span_id_of(request_id: str, node_id: str) -> str:
    """Return the span id of a node of a turn's graph: the same whenever it is asked for."""
    return hashlib.sha256(f"{request_id} {node_id}".encode()).hexdigest()[:16]


@contextmanager
def traced_turn(turn: ExplainabilityTurn) -> Iterator[None]:
    """Run a turn as a span of its trace, if it has one: what it asks of models belongs below it."""
    if not turn.trace_id:
        yield
        return
    root, caller = span_id_of(turn.request_id, ROOT_FRAME_ID), current_trace.get()
    own = TraceContext(trace_id=turn.trace_id, span_id=root) if caller is None else caller.child(root)
    token = current_trace.set(own)
    try:
        yield
    finally:
        current_trace.reset(token)
