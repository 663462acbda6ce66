"""Every shipped plugin passes the conformance suite, and faulty plugins fail it."""

import time
from copy import replace
from typing import Any

import pytest

from mrpvm.contracts import CallContext, DetectInput, Plugin, Solution, SolveInput, ValidateInput
from mrpvm.errors import ModelTimeout, RegistryError
from mrpvm.lang import admit
from mrpvm.plugins.builtin import BUILTIN_PLUGINS
from mrpvm.plugins.goal_solvers.symbolic import SymbolicGoalSolver
from mrpvm.testing import ScriptedModel, call_context, check_plugin, unit
from mrpvm.testing.conformance import QUICK_SECONDS, NotConforming, solve_input
from mrpvm.values import PHASE_SCOPES, Answer

IDS = [plugin.descriptor.id for plugin in BUILTIN_PLUGINS]
FIGURES = {
    # id: cost, latency ms, relative cost, acts, topics, confidence
    "sd-symbolic": ("cheap", 30, 0.05, "verify define identify describe explain", "symbolic technical", 0.82),
    "kb-fast": ("cheap", 50, 0.08, "define identify describe explain", "technical procedural", 0.70),
    "kb-balanced": (
        "moderate",
        120,
        0.22,
        "compare define describe explain identify recommend",
        "technical legal literature procedural",
        0.76,
    ),
    "kb-thinkingdb": (
        "expensive",
        220,
        0.35,
        "compare diagnose explain recommend verify",
        "symbolic technical legal",
        0.84,
    ),
    "gs-symbolic": (
        "cheap",
        25,
        0.05,
        "verify define identify describe explain",
        "symbolic technical procedural",
        0.78,
    ),
    "sd-llm-fast": (
        "moderate", 800, 0.35, "compare define explain identify recommend verify", "general technical literature", 0.72
    ),
    "sd-llm-deep": (
        "expensive", 1800, 0.75, "compare diagnose explain recommend verify", "general technical legal literature", 0.80
    ),
    "gs-llm-fast": (
        "moderate", 900, 0.40, "compare define describe diagnose explain identify recommend",
        "general technical literature legal", 0.74,
    ),
    "gs-llm-deep": (
        "expensive", 2200, 0.78, "compare diagnose explain recommend verify",
        "general technical literature legal symbolic", 0.82,
    ),
    "val-llm": ("moderate", 800, 0.35, "", "", 0.80),
}  # fmt: skip


@pytest.mark.rule("DECISION-10", "PLUGIN-7", "PLUGIN-9", "PLUGIN-13", "PLUGIN-15", "PLUGIN-27", "PLUGIN-28")
@pytest.mark.parametrize("plugin", BUILTIN_PLUGINS, ids=IDS)
def test_shipped_plugins_conform(plugin: Plugin) -> None:
    check_plugin(plugin)


WILD_REPLIES = (
    "It is so. [1]",
    "It is [9] so [1][2], see [1](https://example.org).\nCITED: 2, 9",
    "UNANSWERABLE",
    "=== GROUP 1 ===\nYes. [2]\n=== GROUP 7 ===\nNo.",
    '{"verdict": "accepted", "reason": ""}',
    '{"verdict": "rejected"}',
    '{"verdict": ["no"]} {',
    "--- intents ---\n--- context ---\n",
    "\u0000\u202e [",
)
"""What a model may say to a plugin, fitting or not."""


@pytest.mark.rule("BUILTIN-16")
@pytest.mark.parametrize("reply", [*WILD_REPLIES, ModelTimeout("too slow")], ids=lambda reply: repr(reply)[:24])
@pytest.mark.parametrize(
    "plugin",
    [plugin for plugin in BUILTIN_PLUGINS if plugin.descriptor.uses_llm],
    ids=lambda plugin: plugin.descriptor.id,
)
def test_plugins_with_a_model_conform_whatever_it_says(plugin: Plugin, reply: str | Exception) -> None:
    check_plugin(plugin, ScriptedModel(reply))


@pytest.mark.rule("ROLE-8")
@pytest.mark.parametrize(
    "plugin",
    [plugin for plugin in BUILTIN_PLUGINS if plugin.descriptor.uses_llm],
    ids=lambda plugin: plugin.descriptor.id,
)
def test_without_a_model_they_say_so_at_no_cost(plugin: Any) -> None:
    request = solve_input("Who is Rex?", [unit("u-1", "Rex is a dog.")])
    asked: dict[str, Any] = {
        "sd-plugin": lambda: plugin.detect(DetectInput(message="Who is Rex?"), call_context()),
        "gs-plugin": lambda: plugin.solve(request, call_context()),
        "val-plugin": lambda: plugin.validate(
            ValidateInput(message="Who is Rex?", answer=Answer(groups=()), evidence=request.evidence), call_context()
        ),
    }
    result = asked[plugin.descriptor.type]()
    assert (result.status, result.error.code) == ("error", "LLM_NOT_AVAILABLE")
    assert (result.metadata.llm_calls, result.metadata.model) == (0, None)


@pytest.mark.rule("PLUGIN-2", "BUILTIN-1")
@pytest.mark.parametrize("plugin_id", FIGURES)
def test_priors_are_those_of_the_catalogue(plugin_id: str) -> None:
    descriptor = next(plugin.descriptor for plugin in BUILTIN_PLUGINS if plugin.descriptor.id == plugin_id)
    hints = descriptor.planner_hints
    assert hints is not None
    cost, latency, relative, acts, topics, confidence = FIGURES[plugin_id]
    calls = {"sd-plugin": 2}.get(descriptor.type, 1) if "llm" in plugin_id else 0
    assert (descriptor.cost_class, descriptor.max_llm_calls) == (cost, calls)
    assert (hints.expected_latency_ms, hints.relative_cost) == (latency, relative)
    assert hints.expected_llm_calls == min(calls, 1)
    assert set(hints.supported_acts) == set(acts.split())
    assert set(hints.topic_tags) == set(topics.split())
    assert hints.confidence_when_matched == confidence


@pytest.mark.rule("BUILTIN-1", "BUILTIN-2")
@pytest.mark.parametrize(
    ("plugin_id", "depth", "role", "styles"),
    [
        ("kb-fast", "shallow", "cheap-probe", ("lexical",)),
        ("kb-balanced", "medium", "default", ("lexical", "hybrid")),
        ("kb-thinkingdb", "deep", "heavy-recovery", ("hybrid", "symbolic-facts")),
    ],
)
def test_kb_plugins_are_told_apart(plugin_id: str, depth: str, role: str, styles: tuple[str, ...]) -> None:
    hints = next(plugin.descriptor for plugin in BUILTIN_PLUGINS if plugin.descriptor.id == plugin_id).planner_hints
    assert hints is not None
    assert (hints.preferred_depth, hints.fallback_role, hints.evidence_style) == (depth, role, styles)


@pytest.mark.rule("PLUGIN-3")
def test_every_plugin_describes_itself_to_planners() -> None:
    for plugin in BUILTIN_PLUGINS:
        units = admit(plugin.about, "context").kus.values()
        assert units
        for about in units:
            assert "mrp-plan-plugin" in about.phase_scopes
            assert plugin.descriptor.type in about.phase_scopes
            assert set(about.phase_scopes) <= set(PHASE_SCOPES)


class UncitingSolver(SymbolicGoalSolver):
    """A solver that answers without citations."""

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        solution = super().solve(request, context)
        if solution.answer is None:
            return solution
        groups = tuple(
            replace(group, status="answered", answer_markdown="So it is.", cited_unit_ids=())
            for group in solution.answer.groups
        )
        return replace(solution, status="success", answer=replace(solution.answer, groups=groups))


class ForgetfulSolver(SymbolicGoalSolver):
    """A solver that gives a different answer each time."""

    def __init__(self) -> None:
        self.calls = 0

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        self.calls += 1
        solution = super().solve(request, context)
        return replace(solution, metadata=replace(solution.metadata, warnings=(str(self.calls),)))


class OddStatusSolver(SymbolicGoalSolver):
    """A solver that returns a status of another family."""

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        return replace(super().solve(request, context), status="accepted")  # type: ignore[arg-type]


class SlowSolver(SymbolicGoalSolver):
    """A slow solver that is declared as quick."""

    def solve(self, request: SolveInput, context: CallContext) -> Solution:
        time.sleep(QUICK_SECONDS)
        return super().solve(request, context)


@pytest.mark.rule("PLUGIN-14", "PLUGIN-22", "PLUGIN-28", "ANSWER-9")
@pytest.mark.parametrize(
    ("solver", "promise"),
    [
        (UncitingSolver(), "cites"),
        (ForgetfulSolver(), "equal output"),
        (OddStatusSolver(), "accepted"),
        (SlowSolver(), "quick"),
    ],
)
def test_broken_promises_are_named(solver: SymbolicGoalSolver, promise: str) -> None:
    with pytest.raises(NotConforming, match=promise):
        check_plugin(solver)


@pytest.mark.rule("PLUGIN-4")
def test_a_plugin_without_its_verb_is_refused() -> None:
    class Mute:
        descriptor = SymbolicGoalSolver.descriptor

    with pytest.raises(RegistryError):
        check_plugin(Mute())  # type: ignore[arg-type]
