"""The statistics that planners learn from finished turns: the counting table, moving averages, utilities."""

from copy import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.learning import Attempt, Experience, attempts_of, learn, learn_turn, untried, utility
from mrpvm.values import STAGES, StageRecord
from tests.kernel.scripted import REJECT, detection, plan, plugin, retrieval, run, solution

KB, SOLVER, VALIDATOR = ("kb-plugin", "kb-a"), ("gs-plugin", "gs-a"), ("val-plugin", "val-a")
DETECTOR, PLANNER = ("sd-plugin", "sd-a"), ("mrp-plan-plugin", "planner-a")
IDS = {"seed-detector": "sd-a", "planner": "planner-a", "kb": "kb-a", "goal-solver": "gs-a", "validation": "val-a"}


def called(stage: str, status: str, frame: str = "frame-0", plugin_id: str | None = None, ms: int = 10) -> StageRecord:
    return StageRecord(
        stage=stage, plugin_id=plugin_id or IDS[stage], status=status, duration_ms=ms, llm_calls=0, frame_id=frame
    )


def after(*stages: StageRecord, turn_failed: bool = False) -> dict[tuple[str, str], Experience]:
    return learn_turn(stages, lambda key: untried(key[0]), turn_failed=turn_failed)


def counts(seen: Experience) -> tuple[int, int, int, int]:
    return seen.attempt_count, seen.success_count, seen.failure_count, seen.refusal_count


@pytest.mark.rule("KERNEL-56")
@pytest.mark.parametrize(
    ("stage", "status", "plugin_key", "counted", "success", "sufficiency"),
    [
        ("seed-detector", "success", DETECTOR, (1, 1, 0, 0), 0.775, 0.7),
        ("seed-detector", "unsupported", DETECTOR, (1, 0, 1, 0), 0.525, 0.7),
        ("kb", "success", KB, (1, 1, 0, 0), 0.775, 0.775),
        ("kb", "insufficient", KB, (1, 0, 0, 1), 0.7, 0.525),
        ("kb", "error", KB, (1, 0, 1, 0), 0.525, 0.7),
        ("goal-solver", "success", SOLVER, (1, 1, 0, 0), 0.775, 0.775),
        ("goal-solver", "no-context", SOLVER, (1, 0, 0, 1), 0.7, 0.525),
        ("goal-solver", "needs-decomposition", SOLVER, (1, 0, 0, 1), 0.7, 0.525),
        ("goal-solver", "error", SOLVER, (1, 0, 1, 0), 0.525, 0.7),
        ("validation", "accepted", VALIDATOR, (1, 1, 0, 0), 0.775, 0.7),
        ("validation", "rejected", VALIDATOR, (1, 1, 0, 0), 0.775, 0.7),
        ("validation", "error", VALIDATOR, (1, 0, 1, 0), 0.525, 0.7),
    ],
)
def test_the_counting_table(
    stage: str,
    status: str,
    plugin_key: tuple[str, str],
    counted: tuple[int, ...],
    success: float,
    sufficiency: float,
) -> None:
    """An honest refusal does not change the success rate; a rejection is a success of the validator."""
    found = after(called(stage, status))[plugin_key]
    assert counts(found) == counted
    assert (found.success, found.sufficiency) == (pytest.approx(success), pytest.approx(sufficiency))


@pytest.mark.rule("KERNEL-56")
def test_a_call_skipped_for_want_of_budget_is_no_attempt() -> None:
    assert after(called("goal-solver", "skipped-budget")) == {}


@pytest.mark.rule("KERNEL-56")
def test_a_rejection_is_a_failure_of_the_solver_in_its_own_frame() -> None:
    stages = [
        called("goal-solver", "success", "frame-0.1", "gs-a"),
        called("goal-solver", "success", "frame-0.2", "gs-b"),
        called("validation", "accepted", "frame-0.2"),
        called("validation", "rejected", "frame-0.1"),
    ]
    found = after(*stages)
    assert counts(found[SOLVER]) == (1, 0, 1, 0)
    assert counts(found["gs-plugin", "gs-b"]) == (1, 1, 0, 0)


def test_only_the_solver_that_was_judged_fails() -> None:
    found = after(
        called("goal-solver", "success", plugin_id="gs-a"),
        called("validation", "rejected"),
        called("goal-solver", "success", plugin_id="gs-b"),
        called("validation", "accepted"),
    )
    assert counts(found[SOLVER]) == (1, 0, 1, 0)
    assert counts(found["gs-plugin", "gs-b"]) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("stages", "turn_failed", "counted", "sufficiency"),
    [
        ([("kb", "success"), ("goal-solver", "success"), ("validation", "accepted")], False, (1, 1, 0, 0), 0.925),
        ([("kb", "insufficient"), ("goal-solver", "no-context")], False, (1, 0, 0, 1), 0.675),
        ([("kb", "insufficient")], False, (1, 0, 0, 1), 0.675),
        ([], False, (1, 0, 0, 1), 0.675),
        ([("kb", "error")], True, (1, 0, 1, 0), 0.925),
        ([("kb", "success"), ("goal-solver", "success"), ("validation", "rejected")], True, (1, 0, 1, 0), 0.925),
        ([("kb", "success"), ("goal-solver", "error"), ("goal-solver", "success")], False, (1, 1, 0, 0), 0.925),
        ([("kb", "success"), ("goal-solver", "success")], True, (1, 0, 1, 0), 0.925),
    ],
)
def test_a_planner_is_judged_by_what_it_led_to(
    stages: list[tuple[str, str]], turn_failed: bool, counted: tuple[int, ...], sufficiency: float
) -> None:
    """A failed turn is a failure of its planner; only no-context lowers the planner's sufficiency."""
    records = [called("planner", "success"), *(called(*item) for item in stages)]
    found = after(*records, turn_failed=turn_failed)[PLANNER]
    assert counts(found) == counted
    assert found.sufficiency == pytest.approx(sufficiency)
    assert found.latency_ms == pytest.approx(0.75 * 400 + 0.25 * 10 * len(records)), "the sum of its stages"


def test_each_planner_answers_for_its_own_part_of_a_frame() -> None:
    found = after(
        called("planner", "success", plugin_id="planner-a"),
        called("kb", "insufficient"),
        called("planner", "success", plugin_id="planner-a"),
        called("goal-solver", "no-context"),
        called("planner", "success", plugin_id="planner-b"),
        called("kb", "success"),
        called("planner", "success", plugin_id="planner-b"),
        called("goal-solver", "success"),
    )
    assert counts(found[PLANNER]) == (1, 0, 0, 1)
    assert counts(found["mrp-plan-plugin", "planner-b"]) == (1, 1, 0, 0)


@pytest.mark.rule("KERNEL-54")
def test_utility_of_a_plugin_and_of_a_planner() -> None:
    """The values include the cold start of KERNEL-55."""
    assert utility("kb-plugin", untried("kb-plugin")) == pytest.approx(0.7 + 0.15 * 0.7 - 0.05)
    assert utility("mrp-plan-plugin", untried("mrp-plan-plugin")) == pytest.approx(0.7 - 0.05 - 0.25 * 0.1)
    worst = Experience(success=0, sufficiency=0, latency_ms=1e9, llm_calls=1e9)
    assert utility("gs-plugin", worst) == pytest.approx(-0.8)
    assert utility("mrp-plan-plugin", worst) == pytest.approx(-0.65)


@pytest.mark.rule("KERNEL-55")
def test_averages_move_by_a_quarter() -> None:
    found = learn(Experience(), Attempt(plugin=SOLVER, duration_ms=1000, llm_calls=2, succeeded=True))
    assert found.latency_ms == pytest.approx(0.75 * 250 + 0.25 * 1000)
    assert found.llm_calls == pytest.approx(0.5)


STAGE_STATUSES = (
    "success", "insufficient", "no-context", "unsupported", "error", "needs-decomposition", "accepted", "rejected",
    "skipped-budget",
)  # fmt: skip
"""Every status an execution may end with."""
RECORDS = st.builds(
    called,
    st.sampled_from(STAGES),
    st.sampled_from(STAGE_STATUSES),
    st.sampled_from(("frame-0", "frame-0.1", "frame-0.2")),
    st.sampled_from(("a", "b")),
    st.integers(0, 100_000),
)


@given(st.lists(RECORDS, max_size=30), st.booleans())
def test_counts_add_up_and_averages_stay_in_range(stages: list[StageRecord], turn_failed: bool) -> None:
    for key, found in after(*stages, turn_failed=turn_failed).items():
        took = [untried(key[0]).latency_ms, *(item.duration_ms for item in attempts_of(stages) if item.plugin == key)]
        assert found.attempt_count == found.success_count + found.failure_count + found.refusal_count > 0
        assert 0 <= found.success <= 1
        assert 0 <= found.sufficiency <= 1
        assert min(took) - 1e-6 <= found.latency_ms <= max(took) + 1e-6
    called_count = sum(
        record.stage not in ("planner", "helper") and record.status != "skipped-budget" for record in stages
    )
    own = [item for item in attempts_of(stages) if item.plugin[0] != "mrp-plan-plugin"]
    assert len(own) == called_count


@given(st.lists(RECORDS, max_size=20))
def test_learning_is_a_pure_function(stages: list[StageRecord]) -> None:
    assert after(*stages) == after(*[replace(record) for record in stages])


@pytest.mark.rule("PLUGIN-19")
def test_the_machine_tells_enough_to_learn_from() -> None:
    """In the turn, the first solver is rejected and the second one accepted."""
    planner = plugin("mrp-plan-plugin", "planner-a", plan(solvers=("gs-a", "gs-b")))
    validator = plugin("val-plugin", "val-a", REJECT, lambda request, context: replace(REJECT, status="accepted"))
    ran = run(
        plugin("sd-plugin", "sd-a", detection("why")),
        plugin("kb-plugin", "kb-a", retrieval("fact")),
        plugin("gs-plugin", "gs-a", solution("No.")),
        plugin("gs-plugin", "gs-b", solution("Because.")),
        planner,
        validator,
    )
    found = after(*ran.outcome.stages)
    assert counts(found[SOLVER]) == (1, 0, 1, 0)
    assert counts(found["gs-plugin", "gs-b"]) == (1, 1, 0, 0)
    assert counts(found[VALIDATOR]) == (2, 2, 0, 0)
    assert counts(found[PLANNER]) == (1, 1, 0, 0)
    assert all(record.frame_id == "frame-0" for record in ran.outcome.stages)
