"""Rules of every stage: candidates and their order, the input of plugins and planners, limits."""

from copy import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrpvm.contracts import Detection, LifecycleEvent
from mrpvm.kernel.stages.retrieve import evidence_profile_hash
from mrpvm.testing.conformance import intent_of, retrieve_input
from mrpvm.values import Evidence, EvidenceEntry, GuidanceUnits, Limits, Plan, Selection
from tests.kernel.scripted import ACCEPT, detection, graph_of, plan, plugin, retrieval, run, solution, unit


def detector(*replies):
    return plugin("sd-plugin", "sd-a", *replies)


def kb(plugin_id="kb-a", *claims, sufficient=True):
    return plugin("kb-plugin", plugin_id, retrieval(*(claims or ("fact",)), sufficient=sufficient))


def solver(*replies, plugin_id="gs-a", **changes):
    return plugin("gs-plugin", plugin_id, *(replies or (solution("Because."),)), **changes)


def planner(plugin_id, *replies):
    return plugin("mrp-plan-plugin", plugin_id, *(replies or (plan(),)))


def stages_of(ran, stage):
    return [data["pluginId"] for data in ran.named("plugin.started") if data["stage"] == stage]


# --- Candidates ----------------------------------------------------------------------------------------------


@pytest.mark.rule("SESSION-19", "SESSION-20", "SESSION-21", "BUILTIN-3", "KERNEL-11")
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, ["planner-default", "planner-depth", "planner-a", "planner-b"]),
        (
            {"preferences": Selection(planner="planner-c")},
            ["planner-c", "planner-default", "planner-depth", "planner-a"],
        ),
        ({"pins": Selection(planner="planner-b")}, ["planner-b"]),
    ],
)
def test_planners_are_tried_in_order_and_four_at_most(chosen, expected):
    names = ("planner-a", "planner-b", "planner-c", "planner-default", "planner-depth")
    refusing = [planner(name, RuntimeError("boom")) for name in names]
    ran = run(detector(detection("why")), kb(), solver(), *refusing, **chosen)
    assert ran.named("turn.started")[0]["plannerCandidates"] == expected
    assert stages_of(ran, "planner") == expected


@pytest.mark.rule("SESSION-19", "SESSION-20", "SESSION-21", "SESSION-23")
@pytest.mark.parametrize(
    ("stage", "part", "names"),
    [
        ("seed-detector", "seed_detector", ("sd-symbolic", "sd-llm-fast", "sd-z")),
        ("kb", "kb", ("kb-a", "kb-b", "kb-z")),
        ("goal-solver", "goal_solver", ("gs-a", "gs-b", "gs-z")),
    ],
)
@pytest.mark.parametrize("chosen", ["nobody", "preferred", "pinned"])
def test_a_pin_stands_alone_and_a_preference_goes_first(chosen, stage, part, names):
    """This holds for any order of the planner or the defaults; after a preference, the fallbacks follow."""
    last = names[-1]
    expected = {"nobody": [*names], "preferred": [last, *names[:-1]], "pinned": [last]}
    choice = {"preferred": {"preferences": Selection(**{part: last})}, "pinned": {"pins": Selection(**{part: last})}}
    family = {"seed-detector": "sd-plugin", "kb": "kb-plugin", "goal-solver": "gs-plugin"}[stage]
    others = {"seed-detector": detector(detection("why")), "kb": kb(), "goal-solver": solver()}
    ran = run(
        *(item for name, item in others.items() if name != stage),
        *(plugin(family, name, RuntimeError("boom")) for name in names),
        planner("planner-a", plan(kbs=("kb-a", "kb-b", "kb-z"), solvers=("gs-a", "gs-b", "gs-z"))),
        **choice.get(chosen, {}),
    )
    assert stages_of(ran, stage) == expected[chosen]


@pytest.mark.rule("PLUGIN-21")
def test_no_more_candidates_of_a_stage_are_tried_than_the_limit():
    names = [f"gs-{letter}" for letter in "abcdef"]
    failing = [solver(RuntimeError("boom"), plugin_id=name) for name in names]
    ran = run(detector(detection("why")), kb(), *failing, planner("planner-a", plan(solvers=names)))
    assert stages_of(ran, "goal-solver") == names[:4]


@pytest.mark.rule("PLUGIN-20")
def test_a_plan_is_fitted_to_what_is_registered_for_the_stage():
    """Plugins of another stage, and unknown ones, are removed from a planner's order."""
    orders = plan(kbs=("gs-a", "kb-z", "kb-a"), solvers=("kb-a", "gs-z", "gs-a"))
    ran = run(detector(detection("why")), kb(), solver(), planner("planner-a", orders))
    made = ran.named("plan.made")[0]["plan"]
    assert (made["kbPluginOrder"], made["goalSolverOrder"]) == (["kb-a"], ["gs-a"])


@pytest.mark.rule("BUILTIN-47")
def test_validators_run_cheap_first_until_a_rejection():
    validators = [plugin("val-plugin", name, ACCEPT) for name in ("val-z", "val-b", "val-a")]
    for item, cost in zip(validators, ("cheap", "moderate", "moderate"), strict=True):
        item.descriptor = replace(item.descriptor, cost_class=cost)
    ran = run(detector(detection("why")), kb(), solver(), *validators)
    assert stages_of(ran, "validation") == ["val-z", "val-a", "val-b"]


# --- Input of plugins ----------------------------------------------------------------------------------------


@pytest.mark.rule("TURN-2", "PLUGIN-1", "PLUGIN-5")
def test_every_call_gets_a_context():
    seen = {}

    def noting(kind, reply):
        def note(request, context):
            seen[kind] = context
            return reply(request, context) if callable(reply) else reply

        return note

    run(
        detector(noting("sd", detection("why"))),
        plugin("kb-plugin", "kb-a", noting("kb", retrieval("fact"))),
        solver(noting("gs", solution("Because.")), timeout_ms=700),
        plugin("val-plugin", "val-a", noting("val", ACCEPT)),
        planner("planner-a", noting("plan", plan())),
    )
    assert seen.keys() == {"sd", "kb", "gs", "val", "plan"}
    assert {context.request_id for context in seen.values()} == {"req-1"}
    assert {context.session.session_id for context in seen.values()} == {"sess-1"}
    assert {(context.frame_id, context.frame_depth) for context in seen.values()} == {("frame-0", 0)}
    assert {context.remaining_llm_calls for context in seen.values()} == {5}
    assert seen["gs"].remaining_ms == 700
    assert not any(context.stopped() for context in seen.values())
    assert not seen["kb"].model.available


@pytest.mark.rule("TURN-13", "TURN-14", "PLUGIN-18", "KERNEL-52")
def test_a_planner_plans_before_and_after_retrieval():
    deciding = planner("planner-a", plan(kbs=("kb-a", "kb-b")))
    run(
        detector(detection("why", claims=["a"])), kb("kb-a", sufficient=False), kb("kb-b", "fact", "another"), solver(),
        deciding, pins=Selection(seed_detector="sd-a"), preferences=Selection(kb="kb-b"),
    )  # fmt: skip
    before, after = deciding.asked[:2]
    assert (before.phase, before.retrievals, before.prior_plan) == ("post-seed", (), None)
    assert (after.phase, after.prior_plan.kb_plugin_order) == ("post-kb", ("kb-b", "kb-a"))
    assert [(item.plugin_id, item.sufficient, item.evidence_count) for item in after.retrievals] == [("kb-b", True, 2)]
    assert before.pins.seed_detector == "sd-a"
    assert before.preferences.kb == "kb-b"
    assert [unit.claim for unit in before.current_turn_units] == ["a"]
    assert [item.target for item in before.intents] == ["why"]
    assert before.profiles[0].query_terms == ()


@pytest.mark.rule("KERNEL-52")
def test_a_planner_that_has_nothing_to_add_keeps_its_plan():
    ran = run(detector(detection("why")), kb(), solver(), planner("planner-a", plan()(None, None), None))
    first, second = (data["plan"] for data in ran.named("plan.made"))
    assert first == second
    assert ran.outcome.answer_status == "answered"


@pytest.mark.rule("PLUGIN-18", "KERNEL-45", "KERNEL-47")
def test_a_planner_hears_which_families_were_tried():
    """This is so at a level that requires another family."""
    deciding = planner("planner-a", plan(kbs=("kb-a", "kb-b")))
    ran = run(detector(detection("why")), kb("kb-a"), kb("kb-b", "another"), solver(), deciding, level=3)
    assert deciding.asked[1].covered_families == ()
    assert deciding.asked[2].covered_families == (ran.named("branch.started")[0]["familySignature"],)
    assert deciding.asked[2].suspended_branch_ids == ("branch-0.1",)


@pytest.mark.rule("PLUGIN-42")
def test_a_lifecycle_event_has_every_part_of_its_envelope():
    assert set(LifecycleEvent.__struct_fields__) == {
        "event_type", "session_id", "kb_id", "kb_name", "requested_kb_id", "previous_kb_id", "previous_kb_name",
        "repository_meta", "workspace_stats", "snapshot", "units", "scope", "reason",
    }  # fmt: skip


# --- Seeds, limits, evidence ---------------------------------------------------------------------------------


def deactivating(*places):
    """Return a detection of three questions; the seeds of some are deactivated."""
    found = detection("one", "two", "three")
    lines = [f'@z{place} deactivate $s{place} "covered elsewhere"' for place in places]
    return replace(found, intent_document="\n".join([found.intent_document, *lines]))


@pytest.mark.rule("LANG-21", "LANG-29", "KERNEL-14")
def test_an_intent_without_a_seed_keeps_its_group():
    solving = solver()
    ran = run(detector(deactivating(2)), kb(), solving)
    assert sorted(request.evidence[0].intent.target for request in solving.asked) == ["one", "three"]
    groups = ran.outcome.answer.groups
    assert [(group.intent_ref, group.status) for group in groups] == [
        (1, "answered"), (2, "no-context"), (3, "answered"),
    ]  # fmt: skip
    assert groups[1].warnings


@pytest.mark.rule("KERNEL-14")
def test_a_message_without_runnable_seeds_goes_to_the_next():
    second = plugin("sd-plugin", "sd-b", detection("why"))
    ran = run(detector(deactivating(1, 2, 3)), second, kb(), solver())
    assert ran.outcome.used.seed_detector == "sd-b"


@pytest.mark.rule("KERNEL-15")
def test_dependent_questions_stay_in_one_frame():
    """The dependence is in the admitted seeds; the text is not read."""
    found = detection("one", "two")
    dependent = replace(found, intent_document=f"{found.intent_document}\n@r1 split_from $s2 $s1")
    ran = run(detector(dependent), kb(), solver())
    assert [frame["id"] for frame in graph_of(ran.records)["frames"]] == ["frame-0"]
    assert [group.intent for group in ran.outcome.answer.groups] == ["one", "two"]


@pytest.mark.rule("KERNEL-20")
def test_the_limits_are_those_of_the_specification():
    assert Limits() == Limits(
        max_llm_calls=5, request_timeout_ms=60_000, max_plugins_per_stage=4, max_frame_depth=3, max_parallel_seeds=4,
        plugin_timeout_ms=30_000,
    )  # fmt: skip


@pytest.mark.rule("KERNEL-15")
def test_no_more_children_run_at_once_than_the_limit():
    running, most = 0, 0

    def busy(request, context):
        nonlocal running, most
        running += 1
        most = max(most, running)
        found = solution("Because.")(request, context)
        running -= 1
        return found

    questions = [f"question {place}" for place in range(5)]
    ran = run(detector(detection(*questions)), kb(), solver(busy), limits=Limits(max_parallel_seeds=2))
    assert most <= 2
    assert [group.intent for group in ran.outcome.answer.groups] == questions


@pytest.mark.rule("KERNEL-7", "GRAPH-10")
def test_every_stage_of_a_child_frame_is_recorded():
    ran = run(detector(detection("one", "two")), kb(), solver())
    for child in ("frame-0.1", "frame-0.2"):
        found = [data["stage"] for data in ran.named("plugin.started") if data["frameId"] == child]
        assert found == ["planner", "kb", "planner", "goal-solver", "validation"]


@pytest.mark.rule("KERNEL-10", "KERNEL-21")
@pytest.mark.parametrize(
    ("plugins", "code"),
    [
        ([kb(), solver(RuntimeError("boom"))], "PLUGIN_STAGE_EXHAUSTED"),
        ([plugin("kb-plugin", "kb-a", RuntimeError("boom")), solver()], "PLUGIN_STAGE_EXHAUSTED"),
        ([kb(), solver(), plugin("val-plugin", "val-a", replace(ACCEPT, status="rejected"))], "VALIDATION_REJECTED"),
    ],
)
def test_what_fails_under_one_planner_is_tried_under_the_next(plugins, code):
    ran = run(detector(detection("why")), *plugins, planner("planner-a"), planner("planner-b"))
    first = next(step for step in ran.named("backtrack.taken") if step["step"] == "planner")
    assert (first["from"], first["reason"]) == ("planner-a", code)
    assert stages_of(ran, "planner")[-1] == "planner-b"
    assert ran.outcome.error["code"] == code


CLAIMS = st.lists(st.text("abc", min_size=1, max_size=2), unique=True, max_size=5)


def evidence(claims, guiding=()):
    request = retrieve_input(["why"])
    entries = tuple(EvidenceEntry(unit=unit(claim), score=1.0, store="session") for claim in claims)
    told = tuple(EvidenceEntry(unit=unit(claim), score=0.0, store="session") for claim in guiding)
    return Evidence(
        intent=intent_of("why"), decomposed=request.decomposed[0], profile=request.profiles[0], session_units=entries,
        guidance=GuidanceUnits(goal_solver=told),
    )  # fmt: skip


@pytest.mark.rule("KERNEL-24")
@given(CLAIMS, CLAIMS)
def test_a_profile_does_not_depend_on_the_order_of_units(claims, guiding):
    """The profile includes guidance."""
    found = evidence_profile_hash([evidence(claims, guiding)])
    assert found == evidence_profile_hash([evidence(claims[::-1], guiding[::-1])])
    assert (found == evidence_profile_hash([evidence(claims)])) is (set(guiding) <= set(claims))


@pytest.mark.rule("GRAPH-4")
def test_a_detection_that_fails_still_leaves_a_root_frame():
    ran = run(detector(Detection(status="unsupported")), kb(), solver())
    [frame] = graph_of(ran.records)["frames"]
    assert (frame["id"], frame["status"]) == ("frame-0", "failed")


@pytest.mark.rule("PLUGIN-17")
def test_a_plan_says_who_made_it():
    named = Plan(planner_plugin_id="somebody", kb_plugin_order=("kb-a",), goal_solver_order=("gs-a",), notes=("so",))
    ran = run(detector(detection("why")), kb(), solver(), planner("planner-a", named))
    assert ran.named("plan.made")[0]["plan"] == {
        "plannerPluginId": "planner-a", "kbPluginOrder": ["kb-a"], "goalSolverOrder": ["gs-a"], "decompose": False,
        "framePurpose": None, "scores": [], "leftOut": [], "notes": ["so"],
    }  # fmt: skip
