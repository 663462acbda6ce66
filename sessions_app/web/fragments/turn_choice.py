"""Why plugins were tried in their order: pins, preferences, defaults, statistics, scores [K-51, BP-48]."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mrpvm import registry
from mrpvm.trace.graph import Graph, Record, fold_graph
from sessions_app.language_model import is_configured
from sessions_app.queries.turns import records
from sessions_app.web.fragments.choice_notes import Notes, Scored, read_notes
from sessions_app.web.graph.status import Tone, tone_of
from sessions_app.web.graph.structure import id_path

if TYPE_CHECKING:
    from sessions_app.models import ExplainabilityTurn

PLANS_SHOWN = 12
_STAGES = (
    ("seed-detector", "sd-plugin", "seedDetector", "Seed detector"),
    ("planner", "mrp-plan-plugin", "planner", "Planner"),
    ("kb", "kb-plugin", "kb", "KB plugins"),
    ("goal-solver", "gs-plugin", "goalSolver", "Goal solvers"),
)
PHASES = {"post-seed": "before retrieval", "post-kb": "after retrieval", "post-solve": "after solving"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One plugin of a stage: its place, why it has it, and what came of it; `place` is None for who was skipped."""

    place: int | None
    plugin_id: str
    why: str
    scored: Scored | None
    outcome: str
    tone: Tone
    execution_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The candidates of one stage of one frame, in the order in which they were to be tried, then who was skipped."""

    title: str
    frame: str
    phase: str
    candidates: tuple[Candidate, ...]
    sentences: tuple[str, ...] = ()


def choice_context(turn: "ExplainabilityTurn") -> dict[str, Any]:
    """Give what led to the order of each stage, frame by frame, and what the form for other inputs begins with."""
    found = records(turn)
    command = _first(found, "command.resolved")
    stages, left_out = ([], 0) if command else stages_of(found)
    begun = _started(found)
    return {
        "turn": turn,
        "session": turn.session,
        "skill": _first(found, "skill.invoked"),
        "skill_choice": _first(found, "skill.considered"),
        "command": command,
        "stages": stages,
        "plans_left_out": left_out,
        "selectors": _selectors(begun.get("pins") or {}),
        "message": turn.user_message,
    }


def _first(found: Sequence[Record], name: str) -> Mapping[str, Any] | None:
    return next((data for kind, _, data in found if kind == name), None)


def stages_of(found: Sequence[Record]) -> tuple[list[Stage], int]:
    """Give the stages of a turn's record, and how many plans are not among them."""
    begun, graph = _started(found), fold_graph(found)
    if not begun:
        return [], 0
    made = [data for name, _, data in found if name == "plan.made"]
    plans = sorted(made, key=lambda plan: id_path(plan["frameId"]))  # stable: within a frame as they were made
    shown = plans[: 2 * PLANS_SHOWN]
    stages = [
        _stage(begun, graph, _STAGES[0], begun.get("seedDetectorCandidates", ())),
        _stage(begun, graph, _STAGES[1], begun.get("plannerCandidates", ())),
    ]
    for plan in shown:
        # The first plan of a frame orders the retrievers, the later one the solvers.
        spec, key = (_STAGES[2], "kbPluginOrder") if plan["phase"] == "post-seed" else (_STAGES[3], "goalSolverOrder")
        stages.append(_stage(begun, graph, spec, plan["plan"][key], plan))
    return stages, len(plans) - len(shown)


def _started(found: Iterable[Record]) -> Mapping[str, Any]:
    return next((data for name, _, data in found if name == "turn.started"), {})


def _stage(
    begun: Mapping[str, Any],
    graph: Graph,
    spec: tuple[str, str, str, str],
    order: Sequence[str],
    plan: Mapping[str, Any] | None = None,
) -> Stage:
    stage, family, choice, title = spec
    pin, preference = ((begun.get(kind) or {}).get(choice) for kind in ("pins", "preferences"))
    frame_id = plan["frameId"] if plan else ""
    notes = read_notes(plan["plan"].get("notes", ()) if plan else ())
    ran = _ran(graph, stage, frame_id)
    reasons = _Reasons(pin, preference, notes, has_planner=plan is not None)
    placed = [
        _candidate(place, plugin_id, reasons.of(plugin_id, place), notes, ran)
        for place, plugin_id in enumerate(order, start=1)
    ]
    skipped = [
        _candidate(None, item.id, reasons.of_skipped(item.id, item.uses_llm), notes, ran)
        for item in registry.installed.descriptors(family)
        if item.id not in order
    ]
    ids = {item.plugin_id for item in (*placed, *skipped)}
    return Stage(
        title=title,
        frame=frame_id,
        phase=PHASES.get(plan["phase"], plan["phase"]) if plan else "",
        candidates=(*placed, *skipped),
        sentences=tuple(item for item in notes.sentences if not _is_of_others(item, notes, ids)),
    )


def _is_of_others(sentence: str, notes: Notes, ids: set[str]) -> bool:
    """Tell whether a note speaks of a plugin of the plan's other stage alone."""
    named = [plugin_id for plugin_id in notes.scores if plugin_id in sentence]
    return bool(named) and not ids.intersection(named)


@dataclass(frozen=True, slots=True)
class _Reasons:
    pin: str | None
    preference: str | None
    notes: Notes
    has_planner: bool

    def of(self, plugin_id: str, place: int) -> str:
        if plugin_id == self.pin:
            return "pinned for this turn: it alone may run"
        if plugin_id == self.preference and place == 1:
            return "the session's preference goes first"
        if self.has_planner:
            return "by the planner's score" if plugin_id in self.notes.scores else "in the planner's order"
        return "in the default order"

    def of_skipped(self, plugin_id: str, uses_llm: bool) -> str:
        if self.pin:
            return f"skipped: {self.pin} is pinned"
        if plugin_id in self.notes.left_out:
            return "skipped: the planner found it irrelevant for what is asked"
        if uses_llm and not is_configured():
            return "skipped: it needs a language model, and none is configured"
        return "skipped: beyond the number of candidates that a stage may try, or not there when the turn ran"


def _ran(graph: Graph, stage: str, frame_id: str) -> dict[str, Mapping[str, Any]]:
    """Give the last execution of each plugin in a stage of a frame; of the whole turn without a frame."""
    return {
        run["pluginId"]: run
        for run in graph["pluginExecutions"]
        if run["stage"] == stage and (not frame_id or run["frameId"] == frame_id)
    }


def _candidate(
    place: int | None, plugin_id: str, why: str, notes: Notes, ran: Mapping[str, Mapping[str, Any]]
) -> Candidate:
    run = ran.get(plugin_id)
    outcome = run["status"] if run else "not reached" if place else ""
    return Candidate(
        place=place,
        plugin_id=plugin_id,
        why=why,
        scored=notes.scores.get(plugin_id),
        outcome=outcome,
        tone=tone_of(outcome),
        execution_id=run["id"] if run else "",
    )


def _selectors(pins: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a selector for each stage: nothing pinned, or one of the registered plugins."""
    return [
        {
            "name": choice,
            "label": title.removesuffix("s"),
            "value": pins.get(choice) or "",
            "choices": [(item.id, item.name or item.id) for item in registry.installed.descriptors(family)],
        }
        for _, family, choice, title in _STAGES
    ]
