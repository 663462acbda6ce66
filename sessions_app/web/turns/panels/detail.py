"""The detail panel: one node of the graph with its input and output."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mrpvm.preview import size_words
from mrpvm.trace.graph import ControlNode, Graph, GraphExecution, GraphFrame
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import Detail, graph
from sessions_app.web.shell.json_tree import ShownJson, shown_json, shown_text
from sessions_app.web.shell.words import why
from sessions_app.web.turns.graph import GraphStructure
from sessions_app.web.turns.graph.parts import seen
from sessions_app.web.turns.graph.status import Tone, duration_badge, tone_of
from sessions_app.web.turns.structure import whole_structure_of

_PARTS = ("input", "output", "meta", "error")
_REFUSALS = (Tone.ERROR, Tone.WARN, Tone.WEAK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One tab of the panel; `cut` is a sentence that says how much is not shown."""

    name: str
    title: str
    shown: ShownJson
    cut: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The node that the panel shows."""

    id: str
    kind: str
    title: str
    status: str
    tone: Tone
    duration: str
    facts: tuple[tuple[str, str], ...]
    children: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Siblings:
    """The previous and next node in the same frame as `(id, name)`, and the node's place among `count` nodes."""

    previous: tuple[str, str] | None = None
    next: tuple[str, str] | None = None
    place: int = 0
    count: int = 0


def detail_context(turn: ExplainabilityTurn, detail: Detail) -> dict[str, Any]:
    """Return the node's head and its tabs; long parts are cut and marked as cut."""
    structure, tabs = whole_structure_of(turn), _tabs(detail)
    node = _node(graph(turn), structure, detail.ref)
    return {
        "turn": turn,
        "session": turn.session,
        "ref": detail.ref,
        "node": node,
        "siblings": _siblings(structure, detail.ref),
        "tried_instead": _tried_instead(structure, detail.ref),
        "tabs": tabs,
        "first_tab": _first_tab(tabs, is_error=node.tone == Tone.ERROR),
        "size": size_words(detail.size),
        "is_pruned": detail.is_pruned,
        "cut_bytes": size_words(detail.cut_bytes) if detail.cut_bytes else "",
        "node_error": _error(detail),
    }


def _siblings(structure: GraphStructure, ref: str) -> Siblings:
    for frame_id, items in structure.items.items():
        marks = {mark.id: mark.label for mark in structure.marks.get(frame_id, ())}
        row = list(marks if ref in marks else items if ref in items else ())
        if not row:
            continue
        names = marks | {item: _label(structure, item) for item in items}
        place = row.index(ref)
        before, after = row[place - 1 : place], row[place + 1 : place + 2]
        return Siblings(
            previous=(before[0], names[before[0]]) if place and before else None,
            next=(after[0], names[after[0]]) if after else None,
            place=place + 1,
            count=len(row),
        )
    return Siblings()


def _tried_instead(structure: GraphStructure, ref: str) -> tuple[str, str] | None:
    """Return the retry that follows a refused execution as `(id, name)`, or None."""
    run = structure.executions.get(ref)
    if run is None or tone_of(run.status) not in _REFUSALS:
        return None
    items = structure.items[run.frame_id]
    after = items[items.index(ref) + 1 :][:1]
    retried = {edge.target for edge in structure.edges if edge.kind == "retry"}
    return (after[0], _label(structure, after[0])) if after and after[0] in retried else None


def _error(detail: Detail) -> dict[str, str]:
    error = (detail.payload or {}).get("error")
    if not isinstance(error, Mapping):
        return {}
    code = str(error.get("code", ""))
    return {"code": code, "words": why(code), "message": str(error.get("message", ""))}


def _tabs(detail: Detail) -> list[Tab]:
    limit = settings.MRPVM_INLINE_DETAIL_BYTES
    if detail.is_pruned:
        return []
    if detail.payload is None:
        return [_tab("stored", shown_text(detail.text, limit))]
    return [_tab(part, shown_json(detail.payload.get(part), limit)) for part in _PARTS]


def _first_tab(tabs: list[Tab], *, is_error: bool) -> str:
    """Return the name of the tab to open first: the error of a failed node, else the first tab that is not empty."""
    filled = [tab.name for tab in tabs if not tab.shown.is_empty]
    return "error" if is_error and "error" in filled else next(iter(filled), tabs[0].name if tabs else "")


def _tab(name: str, shown: ShownJson) -> Tab:
    cut = f"{size_words(shown.left_out_bytes)} more are not shown here" if shown.left_out_bytes else ""
    return Tab(name=name, title=name.capitalize(), shown=shown, cut=cut)


def _node(graph: Graph, structure: GraphStructure, ref: str) -> Node:
    for run in structure.executions.values():
        if run.detail_ref == ref:
            facts = {"Plugin": run.plugin_id, "Type": run.plugin_type, "Stage": run.stage, "Phase": run.phase}
            return _of(run, "Execution", run.plugin_name, facts)
    for frame in graph.frames:
        if frame.detail_ref == ref:
            facts = {
                "Question": frame.intent,
                "Purpose": structure.frames[frame.id].purpose,
                "Closed because": frame.closure_reason,
            }
            return _of(frame, "Frame", structure.frames[frame.id].label, facts, _inside(structure, frame.id))
    for node in graph.control_nodes:
        if node.detail_ref == ref:
            return _of(node, node.type.capitalize(), node.label, {"Frame": node.frame_id})
    return Node(id=ref, kind="Node", title=ref, status="", tone=Tone.IDLE, duration="", facts=())


def _inside(structure: GraphStructure, frame_id: str) -> tuple[tuple[str, str], ...]:
    return tuple((item, _label(structure, item)) for item in structure.items[frame_id])


def _label(structure: GraphStructure, item_id: str) -> str:
    """Return the name of a frame, or the name and phase of an execution."""
    run = structure.executions.get(item_id)
    return seen(run.plugin_name, run.phase or "") if run else structure.frames[item_id].label


def _of(
    node: GraphExecution | GraphFrame | ControlNode,
    kind: str,
    title: str,
    facts: Mapping[str, str | None],
    children: tuple[tuple[str, str], ...] = (),
) -> Node:
    return Node(
        id=node.id,
        kind=kind,
        title=title or node.id,
        status=node.status,
        tone=tone_of(node.status),
        duration="" if isinstance(node, ControlNode) else duration_badge(node.duration_ms),
        facts=(("Id", node.id), *((name, text) for name, text in facts.items() if text)),
        children=children,
    )
