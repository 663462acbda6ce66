"""The model calls that prepared a turn, as executions before its own."""

from collections.abc import Sequence
from copy import replace

from mrpvm.llm.recorder import ModelExchange
from mrpvm.trace.graph import Edge, GraphExecution
from sessions_app.web.turns.graph.structure import GraphStructure

STAGE = "preparation"
_NAMES = {
    "conversation-rewriting": "Query rewriting",
    "conversation-summary": "Conversation summary",
    "skill-choice": "Skill choice",
}


def with_preparation(structure: GraphStructure, exchanges: Sequence[ModelExchange]) -> GraphStructure:
    """Return the graph with these calls before the items of its root frame; everything else begins after them."""
    if not exchanges or not structure.root_id:
        return structure
    calls: list[GraphExecution] = []
    passed = 0
    for number, exchange in enumerate(exchanges, start=1):
        calls.append(_call(structure.root_id, number, passed, exchange))
        passed += calls[-1].duration_ms or 0
    ids = [call.id for call in calls]
    first = structure.items[structure.root_id][:1]
    chain = tuple(Edge(before, after, "flow") for before, after in zip(ids, (*ids[1:], *first), strict=False))
    return replace(
        structure,
        frames={
            key: replace(frame, started_at_ms=frame.started_at_ms + passed) if frame.parent_frame_id else frame
            for key, frame in structure.frames.items()
        },
        executions={call.id: call for call in calls}
        | {key: replace(run, started_at_ms=run.started_at_ms + passed) for key, run in structure.executions.items()},
        items={**structure.items, structure.root_id: (*ids, *structure.items[structure.root_id])},
        edges=(*chain, *structure.edges),
    )


def _call(frame_id: str, number: int, started_at_ms: int, exchange: ModelExchange) -> GraphExecution:
    response = exchange.get("response")
    status = "timeout" if response is None else "error" if response.get("error") else "success"
    purpose = exchange.get("purpose", "")
    return GraphExecution(
        id=f"prepare-{number}",
        frame_id=frame_id,
        plugin_id=purpose or STAGE,
        plugin_name=_NAMES.get(purpose, "Preparing call"),
        plugin_type=STAGE,
        stage=STAGE,
        ordinal=0,
        status=status,
        started_at_ms=started_at_ms,
        duration_ms=exchange.get("durationMs"),
        detail_ref=f"prepare-{number}",
    )
