"""planner-depth, the heavy fallback: thorough candidates are first, whatever the signals and statistics."""

from copy import replace
from typing import Any

import pytest

from mrpvm.plugins.kb_retrievers.balanced import BalancedKBRetriever
from mrpvm.plugins.kb_retrievers.fast import FastKBRetriever
from mrpvm.plugins.kb_retrievers.thinkingdb import ThinkingDBKBRetriever
from mrpvm.plugins.planners.default import DefaultPlanner
from mrpvm.plugins.planners.depth import DepthPlanner
from mrpvm.testing import call_context
from mrpvm.testing.conformance import intent_of, plan_input
from mrpvm.values import Plan, Selection
from tests.plugins.test_planner_default import DEEP, SYMBOLIC

KBS = (FastKBRetriever.descriptor, BalancedKBRetriever.descriptor, ThinkingDBKBRetriever.descriptor)
HEAVY_FIRST = ("kb-thinkingdb", "kb-balanced", "kb-fast")
MESSAGES = (
    "What is rust?",
    "Give me a quick answer: what is rust?",
    "Compare rust and salt.",
    "Verify the rule of the contract.",
)


def plan(message: str, planner: Any = None, phase: str = "post-seed", act: str = "identify", **fields: Any) -> Plan:
    context = call_context()
    request = replace(
        plan_input(message, phase, context),
        intents=(intent_of(message, act=act),),
        kb_descriptors=KBS,
        goal_solver_descriptors=(SYMBOLIC, DEEP),
    )
    found = (planner or DepthPlanner()).plan(replace(request, **fields), context)
    assert found is not None
    return found


@pytest.mark.rule("BUILTIN-51", "BUILTIN-53")
@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("act", ["identify", "compare", "verify", "define"])
def test_it_always_starts_heavy(message: str, act: str) -> None:
    found = plan(message, act=act)
    assert found.kb_plugin_order == HEAVY_FIRST
    assert found.goal_solver_order == ("gs-llm-deep", "gs-symbolic")
    assert found.planner_plugin_id == "planner-depth"
    assert found.notes[0] == "base plan: this planner always starts heavy"


@pytest.mark.rule("BUILTIN-53")
def test_statistics_do_not_turn_it_round_but_decide_among_equals() -> None:
    rival = replace(DEEP, id="gs-deeper")
    learned = {("kb-plugin", "kb-fast"): 5.0, ("gs-plugin", "gs-deeper"): 5.0}
    found = plan("What is rust?", utilities=learned, goal_solver_descriptors=(SYMBOLIC, DEEP, rival))
    assert found.kb_plugin_order == HEAVY_FIRST
    assert found.goal_solver_order == ("gs-deeper", "gs-llm-deep", "gs-symbolic")


def test_a_candidate_without_a_role_stands_in_the_middle() -> None:
    bare = replace(SYMBOLIC, id="gs-bare", planner_hints=None)
    found = plan("What is rust?", goal_solver_descriptors=(SYMBOLIC, bare, DEEP))
    assert found.goal_solver_order == ("gs-llm-deep", "gs-bare", "gs-symbolic")


@pytest.mark.rule("KERNEL-51")
@pytest.mark.parametrize("planner", [DefaultPlanner(), DepthPlanner()])
def test_the_basis_of_dispatch_is_always_written_down(planner: Any) -> None:
    assert any("direct dispatch of gs-symbolic: pinned" in note
               for note in plan("What is rust?", planner, pins=Selection(goal_solver="gs-symbolic")).notes)  # fmt: skip
    strong = plan("What is rust?", planner, goal_solver_descriptors=(SYMBOLIC,)).notes
    assert "direct dispatch of gs-symbolic: supports identify with 0.78" in strong
    weak = plan("What is rust?", planner, act="recommend", goal_solver_descriptors=(SYMBOLIC,)).notes
    assert "gs-symbolic first, for want of a solver whose metadata match strongly" in weak


@pytest.mark.rule("BUILTIN-3")
@pytest.mark.parametrize(
    ("message", "act", "first"),
    [
        ("What is my dog called?", "identify", "kb-fast"),
        ("Where does Ana work?", "identify", "kb-fast"),
        ("Describe the harbour.", "describe", "kb-fast"),
        ("What is rust?", "define", "kb-fast"),
        ("Rust or salt, which is heavier?", "compare", "kb-balanced"),
        ("Compare the relationship of rust and salt.", "compare", "kb-thinkingdb"),
        ("Why does the pump leak?", "diagnose", "kb-thinkingdb"),
    ],
)
def test_the_default_planner_starts_cheap_by_act(message: str, act: str, first: str) -> None:
    assert plan(message, DefaultPlanner(), act=act).kb_plugin_order[0] == first
