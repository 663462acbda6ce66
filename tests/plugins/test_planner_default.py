"""planner-default: the order of candidates, omissions, decomposition, and notes."""

from copy import replace
from typing import Any

import pytest

from mrpvm.contracts import Descriptor, PlanInput, PlannerHints, RetrievalSummary
from mrpvm.learning import untried, utility
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.plugins.planners.default import DefaultPlanner
from mrpvm.testing import call_context, unit
from mrpvm.testing.conformance import intent_of, plan_input
from mrpvm.values import EvidenceEntry, GuidanceUnits, HistoryMessage, Plan, Selection

ALL_ACTS = ("compare", "define", "describe", "explain", "identify", "recommend", "evaluate", "verify", "diagnose")
FAST, SYMBOLIC = FastKBRetriever.descriptor, SymbolicGoalSolver.descriptor


def candidate(model: Descriptor, plugin_id: str, **hints: Any) -> Descriptor:
    assert model.planner_hints is not None
    changed: PlannerHints = replace(model.planner_hints, **hints)
    return replace(model, id=plugin_id, description="Something else.", planner_hints=changed)


BALANCED = candidate(FAST, "kb-balanced", fallback_role="default", evidence_style=("hybrid",), supported_acts=ALL_ACTS)
DEEP = candidate(
    SYMBOLIC, "gs-llm-deep", fallback_role="heavy-recovery", preferred_depth="deep", expected_llm_calls=1,
    relative_cost=0.78, expected_latency_ms=2200, supported_acts=ALL_ACTS, topic_tags=("general",),
)  # fmt: skip


def plan(message: str, phase: str = "post-seed", **fields: Any) -> Plan:
    context = call_context()
    request = replace(
        plan_input(message, phase, context),
        kb_descriptors=(FAST, BALANCED),
        goal_solver_descriptors=(DEEP, SYMBOLIC),
    )
    found = DefaultPlanner().plan(replace(request, **fields), context)
    assert found is not None
    return found


def guidance(bucket: str, text: str) -> GuidanceUnits:
    entry = EvidenceEntry(unit=unit("rule", text, phase_scopes=("mrp-plan-plugin",)), score=0.0, store="session")
    return GuidanceUnits(**{bucket: (entry,)})


@pytest.mark.rule("BUILTIN-48", "BUILTIN-53")
def test_cheap_candidates_come_first() -> None:
    found = plan("What is rust?")
    assert found.kb_plugin_order == ("kb-fast", "kb-balanced")
    assert found.goal_solver_order == ("gs-symbolic", "gs-llm-deep")
    assert found.planner_plugin_id == "planner-default"
    assert "base plan: default" in found.notes


@pytest.mark.rule("BUILTIN-50")
def test_depth_and_speed_wishes() -> None:
    assert plan("Think deeply and careful: what is rust?").goal_solver_order[0] == "gs-llm-deep"
    assert plan("Give me a quick answer: what is rust?").goal_solver_order[0] == "gs-symbolic"


@pytest.mark.rule("BUILTIN-50")
def test_history_words_do_not_count() -> None:
    told = (HistoryMessage(role="assistant", content="deep careful evidence compare relationship"),)
    assert plan("What is rust?", history=told) == plan("What is rust?")


@pytest.mark.rule("BUILTIN-51")
def test_retrieval_heavy_questions_prefer_hybrid_search() -> None:
    assert plan("Compare the relationship of rust and salt").kb_plugin_order[0] == "kb-balanced"


@pytest.mark.rule("BUILTIN-48")
def test_learned_utility_moves_a_candidate_up() -> None:
    learned = {("gs-plugin", "gs-llm-deep"): 1.1, ("gs-plugin", "gs-symbolic"): 0.2}
    assert plan("What is rust?", utilities=learned).goal_solver_order[0] == "gs-llm-deep"


def test_experience_with_one_type_says_nothing_about_another() -> None:
    learned = {("kb-plugin", "gs-llm-deep"): 9.0, ("kb-plugin", "kb-fast"): 1.0}
    found = plan("What is rust?", utilities=learned)
    assert found.goal_solver_order[0] == "gs-symbolic"
    assert next(item.parts["history"] for item in found.scores if item.plugin_id == "kb-fast") == 1.0


@pytest.mark.rule("KERNEL-55")
def test_an_untried_plugin_counts_as_the_cold_start_says() -> None:
    """The utility is 0.7 + 0.15 x 0.7 - 250/5000."""
    cold = utility("kb-plugin", untried("kb-plugin"))
    assert cold == pytest.approx(0.755)
    assert plan("What is rust?") == plan("What is rust?", utilities={("kb-plugin", "kb-balanced"): cold})


@pytest.mark.rule("BUILTIN-49")
def test_irrelevant_candidates_are_dropped_and_named() -> None:
    picky = candidate(DEEP, "gs-picky", supported_acts=("compare",), topic_tags=("legal",))
    found = plan("What is rust?", goal_solver_descriptors=(SYMBOLIC, picky))
    assert found.goal_solver_order == ("gs-symbolic",)
    assert found.left_out == ("gs-picky",)


@pytest.mark.rule("BUILTIN-49")
def test_one_candidate_always_remains() -> None:
    picky = candidate(DEEP, "gs-picky", supported_acts=("compare",), topic_tags=("legal",))
    assert plan("What is rust?", goal_solver_descriptors=(picky,)).goal_solver_order == ("gs-picky",)


def test_unknown_candidates_are_ranked_too() -> None:
    stranger = candidate(SYMBOLIC, "gs-stranger")
    assert set(plan("What is rust?", goal_solver_descriptors=(stranger, SYMBOLIC)).goal_solver_order) == {
        "gs-stranger",
        "gs-symbolic",
    }


def test_order_does_not_depend_on_the_order_of_registration() -> None:
    one = plan("What is rust?", kb_descriptors=(FAST, BALANCED), goal_solver_descriptors=(SYMBOLIC, DEEP))
    other = plan("What is rust?", kb_descriptors=(BALANCED, FAST), goal_solver_descriptors=(DEEP, SYMBOLIC))
    assert one == other


@pytest.mark.rule("BUILTIN-52")
@pytest.mark.parametrize(
    ("phase", "text", "decomposed"),
    [
        ("post-seed", "Decompose the task.", False),
        ("post-kb", "Decompose the task.", True),
        ("post-solve", "Split it into subtasks.", True),
        ("post-kb", "Do not split the task.", False),
        ("post-kb", "Prefer metres.", False),
    ],
)
def test_decomposition_follows_guidance(phase: str, text: str, decomposed: bool) -> None:
    found = plan("What is rust?", phase, guidance=guidance("decomposition", text))
    assert found.decompose is decomposed
    assert (found.frame_purpose == "subtask-decomposition") is decomposed


@pytest.mark.rule("BUILTIN-52")
def test_a_pinned_solver_is_never_decomposed_around() -> None:
    found = plan(
        "What is rust?",
        "post-kb",
        guidance=guidance("decomposition", "Decompose the task."),
        pins=Selection(goal_solver="gs-symbolic"),
    )
    assert not found.decompose
    assert any("pinned" in note for note in found.notes)


@pytest.mark.rule("BUILTIN-52")
@pytest.mark.parametrize(
    ("phase", "found", "decomposed"),
    [
        ("post-solve", [(False, 2), (False, 1)], True),
        ("post-kb", [(False, 2), (False, 1)], False),
        ("post-solve", [(False, 2), (False, 0)], False),
        ("post-solve", [(False, 2), (True, 1)], False),
        ("post-solve", [], False),
    ],
)
def test_a_task_is_too_broad_when_no_view_suffices(phase: str, found: list[tuple[bool, int]], decomposed: bool) -> None:
    """There is no guidance for the task, so the purpose of the frame is to obtain it."""
    views = tuple(RetrievalSummary(plugin_id="kb", sufficient=is_enough, evidence_count=n) for is_enough, n in found)
    made = plan("What is rust?", phase, retrievals=views, intents=(intent_of("rust"),))
    assert (made.decompose, made.frame_purpose) == (decomposed, "strategy-guidance" if decomposed else None)


@pytest.mark.rule("KERNEL-51")
def test_the_basis_of_direct_dispatch_is_written_down() -> None:
    assert any(
        note.startswith("direct dispatch of gs-symbolic")
        for note in plan("What is rust?", intents=(intent_of("rust"),)).notes
    )


@pytest.mark.rule("BUILTIN-48")
def test_every_candidates_score_is_explained() -> None:
    found = plan("What is rust?")
    assert [item.plugin_id for item in found.scores] == [*found.kb_plugin_order, *found.goal_solver_order]
    for item in found.scores:
        assert "history" in item.parts
        assert item.score == pytest.approx(sum(item.parts.values()), abs=0.001)


@pytest.mark.rule("KERNEL-57")
def test_planning_is_pure() -> None:
    request: PlanInput = replace(plan_input("What is rust?", "post-kb", call_context()), kb_descriptors=(FAST,))
    planner = DefaultPlanner()
    assert planner.plan(request, call_context()) == planner.plan(request, call_context())
