"""One turn as a compact explained text."""

from collections.abc import Iterator
from itertools import groupby

from mrpvm.trace.graph import Graph, GraphExecution, GraphFrame
from mrpvm.trace.response import looked_at_units
from sessions_app.mcp.texts import line, milliseconds, moment
from sessions_app.models import ExplainabilityTurn, UnitEvent
from sessions_app.queries.turns import registry as turns
from sessions_app.queries.turns.outcomes import outcome

TEXT_CHARS = 2_000
STEPS_A_KIND = 30
"""Most steps of each kind in the ledger; a line says how many more there are."""


def outcome_words(turn: ExplainabilityTurn) -> str:
    """Return the turn's status, the outcome of its question and the basis of the answer."""
    words = [turn.status, outcome(turn), f"basis={turn.answer_basis}" if turn.answer_basis else None]
    return " ".join(word for word in words if word)


def turn_text(turn: ExplainabilityTurn) -> str:
    """Return the turn's explanation: a line a fact, frames and executions indented as they are nested."""
    return "\n".join(_lines(turn))


def _lines(turn: ExplainabilityTurn) -> Iterator[str]:
    yield f"Turn {turn.request_id}, number {turn.turn_index} of session {turn.session.session_id}"
    yield f"{outcome_words(turn)}; {milliseconds(turn.duration_ms)}; {moment(turn.created_at)}"
    yield f"Asked: {line(turn.user_message, TEXT_CHARS)}"
    rewriting = (turn.context_report or {}).get("rewriting") or {}
    if rewriting.get("was_rewritten"):
        yield f"Searched for: {line(rewriting['rewritten_query'], TEXT_CHARS)}"
    yield f"Answered: {line(turns.answer_of(turn), TEXT_CHARS) or 'nothing'}"
    for reason in turns.deciding_reasons(turn.response_document):
        yield f"Decided by: {line(reason)}"
    if turn.error:
        yield f"Error: {turn.error['code']}: {turn.error['message']}"
    for warning in (turn.client_request or {}).get("warnings", ()):
        yield f"Warning: {warning}"
    yield (
        f"Chosen: planner={turn.planner_plugin} seed-detector={turn.seed_detector_plugin} kb={turn.kb_plugin}"
        f" solver={turn.goal_solver_plugin} level={turn.deliberation_level} model={turn.model}"
    )
    yield "Ran (frames and executions in order; read_execution shows input and output of each):"
    yield from _structure(turns.graph(turn))
    yield from _ledger(turn)
    changes = turn.unit_changes or {}
    for name in ("added", "evicted"):
        if changes.get(name):
            yield f"Units {name}: {', '.join(map(str, changes[name]))}"


def _structure(graph: Graph) -> Iterator[str]:
    if graph.root_frame_id is None:
        yield "  nothing"
        return
    opened_by = {edge.target: edge.source for edge in graph.edges if edge.kind == "child-frame"}
    frames = {frame.id: frame for frame in graph.frames}
    yield from _frame(graph, frames, opened_by, frames[graph.root_frame_id], 1)


def _frame(
    graph: Graph, frames: dict[str, GraphFrame], opened_by: dict[str, str], frame: GraphFrame, depth: int
) -> Iterator[str]:
    indent = "  " * depth
    about = f" about {line(frame.intent, 80)!r}" if frame.intent else ""
    closed = f", {frame.closure_reason}" if frame.closure_reason else ""
    yield f"{indent}{frame.id} {frame.label}{about}: {frame.status}{closed} ({milliseconds(frame.duration_ms)})"
    children = [child for child in frames.values() if child.parent_frame_id == frame.id]
    for execution in sorted(_executions_of(graph, frame), key=lambda item: item.ordinal):
        yield (
            f"{indent}  {execution.id} {execution.stage} {execution.plugin_id}: {execution.status}"
            f" ({milliseconds(execution.duration_ms)})"
        )
        for child in children:
            if opened_by.get(child.id) == execution.id:
                yield from _frame(graph, frames, opened_by, child, depth + 2)
    for child in children:
        if opened_by.get(child.id) is None:
            yield from _frame(graph, frames, opened_by, child, depth + 1)


def _executions_of(graph: Graph, frame: GraphFrame) -> list[GraphExecution]:
    return [execution for execution in graph.plugin_executions if execution.frame_id == frame.id]


def _ledger(turn: ExplainabilityTurn) -> Iterator[str]:
    """Write the units by kind of step, with the text of those that the turn cites."""
    steps = turns.unit_events(turn)
    cited = set(turns.cited_unit_ids(turn))
    texts = {
        unit["id"]: unit["claim"] or unit.get("procedure") or ""
        for group in (turn.response_document or {}).get("groups", ())
        for unit in looked_at_units(group)
    }
    for unit_id in sorted(cited):
        yield f"Cites {unit_id}: {line(texts.get(unit_id, ''))}"
    order = ("staged", "committed", "deduplicated", "discarded", "removed", "offered", "selected", "pruned", "cited")
    ranked = sorted(steps, key=lambda step: order.index(step.step))
    for kind, group in groupby(ranked, key=lambda step: step.step):
        of_kind = list(group)
        yield f"Units {kind} ({len(of_kind)}):"
        yield from (f"  {_step(step)}" for step in of_kind[:STEPS_A_KIND])
        if len(of_kind) > STEPS_A_KIND:
            yield f"  and {len(of_kind) - STEPS_A_KIND} more"


def _step(step: UnitEvent) -> str:
    parts = [
        step.unit_id,
        f"rank={step.rank}" if step.rank is not None else "",
        f"score={step.score:.3f}" if step.score is not None else "",
        " + ".join(f"{name} {value:.2f}" for name, value in step.score_parts.items()),
        step.reason,
        line(step.text, 120),
    ]
    return "  ".join(part for part in parts if part)
