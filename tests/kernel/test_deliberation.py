"""The four levels of deliberation differ, and each frame records why it closed."""

from copy import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.contracts import CallMetadata, Validation
from mrpvm.kernel.comparison import dominates, select, undominated
from mrpvm.kernel.deliberation import OBJECTIVE, POLICIES, AnswerCandidate, criteria_of, strength_of
from mrpvm.testing import ScriptedModel
from mrpvm.testing.conformance import intent_of, retrieve_input
from mrpvm.values import Answer, AnswerGroup, Evidence, EvidenceEntry, Limits
from mrpvm.wire import to_wire
from tests.kernel.scripted import ACCEPT, REJECT, detection, graph_of, plan, plugin, retrieval, run, solution, unit


def solver(plugin_id, *replies, llm_calls=0):
    return plugin("gs-plugin", plugin_id, *replies, uses_llm=llm_calls > 0, max_llm_calls=llm_calls)


def turn(level, *plugins, solvers=("gs-a", "gs-b"), kbs=("kb-a",), sufficient=True, **changes):
    chosen = {(item.descriptor.type, item.descriptor.id): item for item in plugins}
    defaults = [
        plugin("sd-plugin", "sd-a", detection("why")),
        plugin("mrp-plan-plugin", "planner-a", plan(kbs, solvers)),
        plugin("kb-plugin", "kb-a", retrieval("fact", sufficient=sufficient)),
    ]
    for item in defaults:
        if not any(kind == item.descriptor.type for kind, _ in chosen):
            chosen[item.descriptor.type, item.descriptor.id] = item
    return run(*chosen.values(), level=level, model=ScriptedModel(), **changes)


def closed(ran):
    return next(frame for frame in graph_of(ran.records)["frames"] if frame["id"] == "frame-0")["closureReason"]


def state(ran):
    ends = [event for event in ran.events if event.name == "frame.closed"]
    return to_wire(next(event for event in ends if event.frame_id == "frame-0").detail["meta"])


TWO = (solver("gs-a", solution("First.")), solver("gs-b", solution("Second."), llm_calls=1))


def fresh(*solvers):
    """Return new plugins with the same descriptors and replies, since scripted plugins have state."""
    return [plugin("gs-plugin", item.descriptor.id, item.replies[0], uses_llm=item.descriptor.uses_llm,
                   max_llm_calls=item.descriptor.max_llm_calls) for item in solvers]  # fmt: skip


@pytest.mark.rule("TURN-6")
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_turns_level_is_its_root_frames_policy(level):
    [policy] = turn(level, *fresh(*TWO)).named("policy.set")
    assert (policy["frameId"], policy["closureMode"]) == ("frame-0", POLICIES[level].closure_mode)


@pytest.mark.rule("KERNEL-30", "KERNEL-31", "KERNEL-33")
@pytest.mark.parametrize(("level", "asked"), [(0, [1, 0]), (1, [1, 0]), (2, [1, 1]), (3, [1, 1])])
def test_how_far_a_level_goes_on_after_the_first_success(level, asked):
    """Level 1 does not try the alternative, which costs a model call."""
    one, two = fresh(*TWO)
    ran = turn(level, one, two)
    assert [len(one.asked), len(two.asked)] == asked
    assert ran.outcome.answer_text.startswith("First.")


@pytest.mark.rule("KERNEL-31")
def test_level_one_takes_one_cheap_alternative_of_another_family():
    """The alternative uses another evidence role, which makes it another family, and needs no model call."""
    cheap = plugin("kb-plugin", "kb-b", retrieval("other"))
    evidence = plugin("kb-plugin", "kb-a", retrieval("fact"))
    ran = turn(1, solver("gs-a", solution("First.")), evidence, cheap, kbs=("kb-a", "kb-b"), solvers=("gs-a",))
    assert ran.outcome.status == "succeeded"
    assert closed(ran) == "policy_satisfied"


@pytest.mark.rule("KERNEL-34", "KERNEL-47")
def test_the_same_family_is_no_alternative():
    one, twin = solver("gs-a", solution("First.")), solver("gs-b", solution("Second."))
    turn(3, one, twin)
    assert twin.asked == []


@pytest.mark.rule("KERNEL-32", "KERNEL-42")
def test_a_comparison_names_the_deciding_criterion():
    """The answers differ only in the cost of a model call."""
    second = solution("Second.")

    def costly(request, context):
        return replace(second(request, context), metadata=CallMetadata(llm_calls=1, model="m"))

    ran = turn(2, solver("gs-a", solution("First.")), solver("gs-b", costly, llm_calls=1))
    (comparison,) = ran.named("comparison.made")
    assert (comparison["status"], comparison["criterion"]) == ("resolved", "cost")
    assert closed(ran) == "dominance_clear"
    assert state(ran)["openQuestions"] == []


@pytest.mark.rule("KERNEL-41", "KERNEL-42", "KERNEL-44")
def test_equals_stay_an_open_comparison_and_an_open_question():
    ran = turn(3, *fresh(*TWO))
    assert ran.named("comparison.made")[0]["status"] == "open"
    assert closed(ran) == "frontier_exhausted"
    assert "as good on every criterion" in state(ran)["openQuestions"][0]


@pytest.mark.rule("KERNEL-32", "KERNEL-49")
def test_level_two_says_when_it_found_only_one_way():
    """Partial closure is never reported as satisfied."""
    ran = turn(2, solver("gs-a", solution("First.")), solvers=("gs-a",))
    assert closed(ran) == "frontier_exhausted"
    assert state(ran)["openQuestions"] == ["Only 1 of 2 independent ways to an answer could be tried."]


@pytest.mark.rule("KERNEL-49")
def test_a_family_that_cannot_be_afforded_is_budget():
    ran = turn(2, *fresh(*TWO), limits=Limits(max_llm_calls=0))
    assert closed(ran) == "budget_exhausted"


@pytest.mark.rule("KERNEL-35", "KERNEL-46")
def test_a_rejected_leader_leaves_the_place_to_the_next():
    one, two = fresh(*TWO)
    validator = plugin("val-plugin", "val-a", REJECT, ACCEPT)
    ran = turn(0, one, two, validator)
    assert ran.outcome.answer_text.startswith("Second.")
    assert closed(ran) == "validation_fallback"
    assert any("rejected" in question for question in state(ran)["openQuestions"])


@pytest.mark.rule("KERNEL-33", "KERNEL-37")
def test_an_unjudged_answer_stays_below_the_floor_of_level_three():
    unsure = plugin("val-plugin", "val-a", Validation(status="error"))
    ran = turn(3, *fresh(*TWO), unsure)
    assert ran.outcome.status == "succeeded"
    assert closed(ran) == "frontier_exhausted"
    assert any("asks for strong" in question for question in state(ran)["openQuestions"])


@pytest.mark.rule("KERNEL-4", "KERNEL-43")
def test_a_weak_leader_is_challenged_with_other_evidence():
    """The frame of the challenge retrieves it, and the answer becomes strong."""
    first = plugin("kb-plugin", "kb-a", retrieval("fact", sufficient=False))
    second = plugin("kb-plugin", "kb-b", retrieval("more"))
    third = plugin("kb-plugin", "kb-c", retrieval("still more"))
    unsure_then_sure = plugin("val-plugin", "val-a", Validation(status="error"), ACCEPT)
    ran = turn(
        3, solver("gs-a", solution("First.")), first, second, third, unsure_then_sure,
        kbs=("kb-a", "kb-b", "kb-c"), solvers=("gs-a",),
    )  # fmt: skip
    (challenge,) = ran.named("challenge.made")
    assert challenge["status"] == "resolved"
    frames = {frame["id"]: frame["purpose"] for frame in graph_of(ran.records)["frames"]}
    assert frames["frame-0.1"] == "challenge"
    assert second.asked or third.asked


@pytest.mark.rule("KERNEL-43")
def test_without_anything_left_to_ask_a_challenge_stays_open():
    unsure = plugin("val-plugin", "val-a", Validation(status="error"))
    ran = turn(3, solver("gs-a", solution("First.")), unsure, solvers=("gs-a",))
    assert [item["status"] for item in ran.named("challenge.made")] == ["open"]


@pytest.mark.rule("KERNEL-46")
def test_a_challenge_that_refutes_everything_fails_the_turn():
    verdicts = plugin("val-plugin", "val-a", Validation(status="error"), REJECT)
    kbs = [plugin("kb-plugin", name, retrieval(name)) for name in ("kb-a", "kb-b")]
    ran = turn(3, solver("gs-a", solution("First.")), *kbs, verdicts, kbs=("kb-a", "kb-b"), solvers=("gs-a",))
    assert ran.outcome.error["code"] == "VALIDATION_REJECTED"


@pytest.mark.rule("KERNEL-45")
def test_only_the_selected_candidate_counts_as_cited():
    ran = turn(3, *fresh(*TWO))
    cited = [row["unitId"] for data in ran.named("units.judged") for row in data["rows"] if row["step"] == "cited"]
    assert cited == ["u:fact"]
    assert len(ran.named("candidate.selected")) == 1
    assert ran.named("candidate.selected")[0]["suspendedBranchIds"] == ["branch-0.2"]


@pytest.mark.rule("TURN-6", "KERNEL-28", "KERNEL-29")
@pytest.mark.parametrize(
    ("level", "row"),
    list(
        enumerate(
            [
                ("first_valid", 1, 1, 0, "sufficient"),
                ("best_effort", 2, 1, 1, "sufficient"),
                ("comparative", 4, 2, 2, "sufficient"),
                ("scientific", 6, 2, 4, "strong"),
            ]
        )
    ),
)
def test_every_policy_is_the_table_of_the_specification(level, row):
    policy = POLICIES[level]
    assert (
        policy.closure_mode, policy.max_frontier, policy.min_families, policy.max_comparisons, policy.validation_floor,
    ) == row  # fmt: skip
    assert policy.min_families <= policy.max_frontier
    assert policy.max_comparisons <= max(0, policy.max_frontier - 1)


def judged(sufficient, answered, sources=("s1",)):
    """Return an answer with one group for each of `answered`, and evidence from these sources."""
    request = retrieve_input(["why"])
    units = [replace(unit(source), source_id=source) for source in sources]
    evidence = Evidence(
        intent=intent_of("why"), decomposed=request.decomposed[0], profile=request.profiles[0], sufficient=sufficient,
        session_units=tuple(EvidenceEntry(unit=item, score=1.0, store="session") for item in units),
    )  # fmt: skip
    groups = tuple(
        AnswerGroup(intent_ref=place, act="explain", intent="why", status=status, answer_markdown="x" * 500 * place)
        for place, status in enumerate(answered, start=1)
    )
    return Answer(groups=groups), (evidence,)


@pytest.mark.rule("KERNEL-36", "KERNEL-37")
@pytest.mark.parametrize(
    ("sufficient", "answered", "accepted", "strength"),
    [
        (True, ["answered"], True, "strong"),
        (True, ["answered"], False, "sufficient"),
        (False, ["answered"], True, "sufficient"),
        (True, ["answered", "no-context"], True, "sufficient"),
        (True, ["no-context"], True, "sufficient"),
        (False, ["no-context"], True, "weak"),
    ],
)
def test_strength(sufficient, answered, accepted, strength):
    assert strength_of(*judged(sufficient, answered), accepted) == strength


@pytest.mark.rule("KERNEL-39")
def test_criteria():
    """The length of an answer is no criterion."""
    assert criteria_of(*judged(True, ["answered"], ("s1", "s2")), "strong", 2) == {
        "validation_strength": 2, "robustness": 3, "cost": -2, "diversity": 1,
    }  # fmt: skip
    assert criteria_of(*judged(False, ["answered", "no-context"]), "weak", 0) == {
        "validation_strength": 0, "robustness": 0, "cost": 0, "diversity": 1,
    }  # fmt: skip


CRITERIA = st.fixed_dictionaries({name: st.integers(-2, 2) for name in OBJECTIVE})


def candidate(place, criteria):
    return AnswerCandidate(
        id=f"cand-0.{place}", branch=None, answer=Answer(groups=()), planner_id="p", family="f",
        validation_id=None, strength="strong", criteria=criteria,
    )  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.rule("KERNEL-40", "KERNEL-41")
@given(st.lists(CRITERIA, min_size=1, max_size=6))
def test_the_selected_candidate_is_never_dominated(criteria):
    candidates = [candidate(place, item) for place, item in enumerate(criteria)]
    chosen = select(candidates)
    assert chosen in undominated(candidates)
    assert not any(dominates(other, chosen) for other in candidates)


@pytest.mark.rule("KERNEL-40")
@given(CRITERIA, CRITERIA, CRITERIA)
def test_dominance_is_a_strict_partial_order(one, two, three):
    a, b, c = (candidate(place, item) for place, item in enumerate((one, two, three)))
    assert not dominates(a, a)
    assert not (dominates(a, b) and dominates(b, a))
    if dominates(a, b) and dominates(b, c):
        assert dominates(a, c)
