"""Why plugins were tried in this order: pins, preferences, defaults, statistics, scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mrpvm import registry
from mrpvm.contracts import PluginType
from mrpvm.trace.events import CommandResolved, Event, PlanMade, SkillConsidered, SkillInvoked, TurnStarted, said
from mrpvm.trace.graph import Graph, GraphExecution, fold_graph
from mrpvm.values import Plan, Selection
from sessions_app.language_model import is_configured
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import events
from sessions_app.web.turns.graph.status import Tone, tone_of
from sessions_app.web.turns.graph.structure import id_path
from sessions_app.web.turns.panels.choice_scores import PluginScore, scored

PLANS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Choice:
    """A stage whose plugin can be chosen; `name` is its field in a `Selection`, `parameter` its field in the form."""

    stage: str
    family: PluginType
    name: str
    parameter: str
    title: str


_DETECTOR = _Choice("seed-detector", "sd-plugin", "seed_detector", "seedDetector", "Seed detector")
_PLANNER = _Choice("planner", "mrp-plan-plugin", "planner", "planner", "Planner")
_KB = _Choice("kb", "kb-plugin", "kb", "kb", "KB plugins")
_SOLVER = _Choice("goal-solver", "gs-plugin", "goal_solver", "goalSolver", "Goal solvers")


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginCandidate:
    """One plugin of a stage: its place, the reason and the outcome; `place` is None when it was skipped."""

    place: int | None
    plugin_id: str
    why: str
    scored: PluginScore | None
    outcome: str
    tone: Tone
    execution_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageChoice:
    """The candidates of one stage of one frame in their planned order, then those that were skipped."""

    title: str
    frame: str
    candidates: tuple[PluginCandidate, ...]
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A candidate in one column, None where the plugin was no candidate; `why` is empty where the row has it."""

    candidate: PluginCandidate | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceRow:
    """One plugin with its cell in each column; `why` is the reason that all cells share, empty if they differ."""

    plugin_id: str
    why: str
    is_skipped: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixGroup:
    """The plugins of one stage, and the planner's notes on it."""

    title: str
    rows: tuple[ChoiceRow, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceMatrix:
    """A table of candidates by stage (rows) and frames (columns); each further plan of a frame has a column."""

    columns: tuple[tuple[str, int], ...]
    groups: tuple[MatrixGroup, ...]


def matrix_of(stages: Sequence[StageChoice]) -> ChoiceMatrix:
    """Return the stages as one table.

    The first column holds what was chosen for the whole turn. The key of a column is the frame's id and the number
    of the plan among those plans of the frame that differ in their candidates.
    """
    placed: dict[str, dict[tuple[str, int], StageChoice]] = {}
    for stage in stages:
        seen = placed.setdefault(stage.title, {})
        own = [each for (frame, _), each in seen.items() if frame == stage.frame]
        if all(each.candidates != stage.candidates for each in own):
            seen[stage.frame, len(own) + 1] = stage
    columns = list(dict.fromkeys(key for seen in placed.values() for key in seen if key[0])) or [("", 1)]
    whole = {title: {columns[0]: seen["", 1]} if ("", 1) in seen else seen for title, seen in placed.items()}
    said = {
        title: dict.fromkeys(sentence for stage in stages if stage.title == title for sentence in stage.sentences)
        for title in whole
    }
    return ChoiceMatrix(
        columns=tuple(columns),
        groups=tuple(_group(title, [seen.get(key) for key in columns], said[title]) for title, seen in whole.items()),
    )


def _group(title: str, stages: Sequence[StageChoice | None], sentences: Iterable[str]) -> MatrixGroup:
    by_plugin = [{item.plugin_id: item for item in stage.candidates} if stage else {} for stage in stages]
    plugins = dict.fromkeys(plugin_id for candidates in by_plugin for plugin_id in candidates)
    rows = [_row(plugin_id, [candidates.get(plugin_id) for candidates in by_plugin]) for plugin_id in plugins]
    return MatrixGroup(title=title, rows=tuple(rows), sentences=tuple(sentences))


def _row(plugin_id: str, candidates: Sequence[PluginCandidate | None]) -> ChoiceRow:
    reasons = {item.why for item in candidates if item}
    shared = reasons.pop() if len(reasons) == 1 else ""
    return ChoiceRow(
        plugin_id=plugin_id,
        why=shared,
        is_skipped=all(item is None or item.place is None for item in candidates),
        cells=tuple(Cell(candidate=item, why="" if shared or item is None else item.why) for item in candidates),
    )


def choice_context(turn: ExplainabilityTurn) -> dict[str, Any]:
    """Return the ranking of plugins by stage and frame, and the initial values of the form for other inputs."""
    recorded = events(turn)
    command = _first(CommandResolved, recorded)
    stages, left_out = ([], 0) if command else stages_of(recorded)
    begun = _first(TurnStarted, recorded)
    return {
        "turn": turn,
        "session": turn.session,
        "skill": _first(SkillInvoked, recorded),
        "skill_choice": _first(SkillConsidered, recorded),
        "command": command,
        "matrix": matrix_of(stages) if stages else None,
        "plans_left_out": left_out,
        "selectors": plugin_selectors((begun and begun.pins) or Selection()),
        "message": turn.user_message,
    }


def _first[Data](kind: type[Data], recorded: Sequence[Event]) -> Data | None:
    return next(iter(said(kind, recorded)), None)


def stages_of(recorded: Sequence[Event]) -> tuple[list[StageChoice], int]:
    """Return the stages of a turn's record, and the number of plans that were left out."""
    begun, graph = _first(TurnStarted, recorded), fold_graph(recorded)
    if begun is None:
        return [], 0
    # The sort is stable: the plans of a frame keep their order.
    plans = sorted(said(PlanMade, recorded), key=lambda made: id_path(made.frame_id))
    shown = plans[: 2 * PLANS_SHOWN]
    stages = [
        _stage(begun, graph, _DETECTOR, begun.seed_detector_candidates),
        _stage(begun, graph, _PLANNER, begun.planner_candidates),
    ]
    for made in shown:
        # The first plan of a frame orders the retrievers, later plans order the solvers.
        if made.phase == "post-seed":
            stages.append(_stage(begun, graph, _KB, made.plan.kb_plugin_order, made))
        else:
            stages.append(_stage(begun, graph, _SOLVER, made.plan.goal_solver_order, made))
    return stages, len(plans) - len(shown)


def _stage(
    begun: TurnStarted, graph: Graph, choice: _Choice, order: Sequence[str], made: PlanMade | None = None
) -> StageChoice:
    pin, preference = (getattr(chosen or Selection(), choice.name) for chosen in (begun.pins, begun.preferences))
    frame_id = made.frame_id if made else ""
    plan = made.plan if made else None
    scores = {item.plugin_id: scored(item) for item in plan.scores} if plan else {}
    ran = _ran(graph, choice.stage, frame_id)
    reasons = _Reasons(pin, preference, plan)
    placed = [
        _candidate(place, plugin_id, reasons.of(plugin_id, place), scores, ran)
        for place, plugin_id in enumerate(order, start=1)
    ]
    skipped = [
        _candidate(None, item.id, reasons.of_skipped(item.id, item.uses_llm), scores, ran)
        for item in registry.installed.descriptors(choice.family)
        if item.id not in order
    ]
    ids = {item.plugin_id for item in (*placed, *skipped)}
    return StageChoice(
        title=choice.title,
        frame=frame_id,
        candidates=(*placed, *skipped),
        sentences=tuple(note for note in (plan.notes if plan else ()) if not _is_of_others(note, scores, ids)),
    )


def _is_of_others(sentence: str, scores: Mapping[str, PluginScore], ids: set[str]) -> bool:
    """Return whether a note is only about plugins of another stage of the plan."""
    named = [plugin_id for plugin_id in scores if plugin_id in sentence]
    return bool(named) and not ids.intersection(named)


@dataclass(frozen=True, slots=True)
class _Reasons:
    pin: str | None
    preference: str | None
    plan: Plan | None

    def of(self, plugin_id: str, place: int) -> str:
        if plugin_id == self.pin:
            return "pinned for this turn: it alone may run"
        if plugin_id == self.preference and place == 1:
            return "the session's preference goes first"
        if self.plan is None:
            return "in the default order"
        is_scored = any(item.plugin_id == plugin_id for item in self.plan.scores)
        return "by the planner's score" if is_scored else "in the planner's order"

    def of_skipped(self, plugin_id: str, uses_llm: bool) -> str:
        if self.pin:
            return f"skipped: {self.pin} is pinned"
        if self.plan and plugin_id in self.plan.left_out:
            return "skipped: the planner found it irrelevant for what is asked"
        if uses_llm and not is_configured():
            return "skipped: it needs a language model, and none is configured"
        return "skipped: beyond the number of candidates that a stage may try, or not there when the turn ran"


def _ran(graph: Graph, stage: str, frame_id: str) -> dict[str, GraphExecution]:
    """Return the last execution of each plugin in a stage of a frame, or of the whole turn if no frame is given."""
    return {
        run.plugin_id: run
        for run in graph.plugin_executions
        if run.stage == stage and (not frame_id or run.frame_id == frame_id)
    }


def _candidate(
    place: int | None, plugin_id: str, why: str, scores: Mapping[str, PluginScore], ran: Mapping[str, GraphExecution]
) -> PluginCandidate:
    run = ran.get(plugin_id)
    outcome = run.status if run else "not reached" if place else ""
    return PluginCandidate(
        place=place,
        plugin_id=plugin_id,
        why=why,
        scored=scores.get(plugin_id),
        outcome=outcome,
        tone=tone_of(outcome),
        execution_id=run.id if run else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSelector:
    """A form field that pins a stage's plugin; `choices` are pairs of id and name, an empty value pins nothing."""

    name: str
    label: str
    value: str
    choices: list[tuple[str, str]]


def plugin_selectors(pins: Selection) -> list[PluginSelector]:
    """Return a selector for each stage: nothing pinned, or one of the registered plugins."""
    return [
        PluginSelector(
            name=choice.parameter,
            label=choice.title.removesuffix("s"),
            value=getattr(pins, choice.name) or "",
            choices=[(item.id, item.name or item.id) for item in registry.installed.descriptors(choice.family)],
        )
        for choice in (_DETECTOR, _PLANNER, _KB, _SOLVER)
    ]
