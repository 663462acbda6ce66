"""Planner calls shown as badges, calls of the preparation as executions, and the result of each call."""

from mrpvm.trace.events import Event
from mrpvm.trace.graph import Edge, fold_graph
from mrpvm.trace.outputs import outputs_of
from sessions_app.web.turns.graph import render_outline, render_shown, render_timeline, show_structure
from sessions_app.web.turns.graph.folding import fold_planners
from sessions_app.web.turns.graph.preparation import with_preparation
from sessions_app.web.turns.graph.structure import GraphStructure, read_structure
from tests.kernel.scripted import Scripted, detection, plan, plugin, retrieval, run, solution
from tests.web.page_scene import attributes_of, text_at, texts_of

EXCHANGES = [
    {"purpose": "conversation-summary", "body": {}, "response": {"text": "x"}, "durationMs": 40},
    {"purpose": "conversation-rewriting", "body": {}, "response": {"error": {"code": "X"}}, "durationMs": 60},
    {"purpose": "other", "body": {}, "response": None, "durationMs": None},
]


def answered(*others: Scripted) -> list[Event]:
    """Return the events of a turn that answers, with additional plugins."""
    return run(
        plugin("sd-plugin", "sd-a", detection("why", claims=["Rex is a dog.", "Tom is a cat."])),
        plugin("kb-plugin", "kb-a", retrieval("Rex is a dog.")),
        plugin("gs-plugin", "gs-a", solution("Because of Rex.")),
        *others,
    ).events


def structure_of(*others: Scripted) -> GraphStructure:
    return read_structure(fold_graph(answered(*others)))


def ids(markup: str) -> set[str]:
    return set(attributes_of(markup, '[data-id^="exec-"]', "data-id"))


def test_a_planner_that_worked_is_a_badge_on_its_edge() -> None:
    whole = structure_of()
    planners = {key for key, each in whole.executions.items() if each.stage == "planner"}
    folded = fold_planners(whole)
    assert planners
    assert not planners & folded.structure.executions.keys()
    assert {each.id for runs in (*folded.badges.values(), *folded.ends.values()) for each in runs} == planners
    assert set(folded.badges) <= set(folded.structure.edges)


def test_every_execution_can_still_be_chosen_in_the_graph() -> None:
    whole = structure_of()
    assert ids(render_shown(show_structure(whole))) == set(whole.executions)


def test_a_planner_that_is_kept_or_failed_stays_a_box() -> None:
    whole = structure_of()
    planners = [key for key, each in whole.executions.items() if each.stage == "planner"]
    kept = fold_planners(whole, kept=planners).structure
    assert kept == whole
    failed = structure_of(
        plugin("mrp-plan-plugin", "plan-a", RuntimeError("no")), plugin("mrp-plan-plugin", "plan-b", plan())
    )
    boxes = fold_planners(failed).structure.executions.values()
    assert [each.status for each in boxes if each.stage == "planner"][:1] == ["error"]


def test_calls_that_prepared_the_turn_come_first_everywhere() -> None:
    whole = with_preparation(structure_of(), EXCHANGES)
    first = whole.items[whole.root_id]
    assert first[:3] == ("prepare-1", "prepare-2", "prepare-3")
    assert [whole.executions[key].status for key in first[:3]] == ["success", "error", "timeout"]
    assert Edge("prepare-3", first[3], "flow") in whole.edges
    assert whole.executions["prepare-2"].started_at_ms == 40
    assert whole.executions[first[3]].started_at_ms >= 100
    shown = show_structure(whole)
    for markup in (render_shown(shown), render_timeline(shown), render_outline(shown).rows):
        order = attributes_of(markup, "[data-id]", "data-id")
        assert order.index("prepare-1") < order.index(first[3])
        assert "Query rewriting" in text_at(markup, '[data-id="prepare-2"]')


def test_a_turn_without_preparing_calls_is_drawn_as_recorded() -> None:
    whole = structure_of()
    assert with_preparation(whole, []) is whole


def test_each_call_says_what_came_out_of_it() -> None:
    events = answered()
    whole = structure_of()
    kb, solver = (
        next(key for key, each in whole.executions.items() if each.stage == stage) for stage in ("kb", "goal-solver")
    )
    outputs = outputs_of(events, {kb: [0.4, 1.0]})
    assert outputs[kb] == "2 units, best 1.00"
    assert outputs[solver].startswith("Because of Rex.")
    assert outputs["exec-0.1~1"] == "2 statements, 1 intent"
    assert outputs_of(events, {kb: []})[kb] == "no unit"
    markup = render_shown(show_structure(whole), outputs=outputs)
    assert "2 units, best 1.00" in texts_of(markup, "text")
