"""Statistics of plugins per project: updated once per turn, exact under concurrency, without delaying turns."""

import threading

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from mrpvm import registry
from mrpvm.learning import untried, utility
from mrpvm.values import StageRecord
from sessions_app.actions.sessions.forks import fork_session
from sessions_app.actions.sessions.session import create_session
from sessions_app.actions.settings import statistics_buffer as buffer_module
from sessions_app.actions.settings.plugin_statistics import record_turns
from sessions_app.actions.settings.statistics_buffer import statistics_buffer
from sessions_app.actions.turns.running import request_cancel
from sessions_app.models import PluginStatistics, Project
from sessions_app.queries.settings.plugin_statistics import utilities
from sessions_app.turns import pipeline
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnError, run_turn
from tests.kernel.scripted import plugin, solution

pytestmark = pytest.mark.django_db(transaction=True)


def say(session, message="Why?"):
    return run_turn(session, TurnCall(message=message))


def counts(project):
    rows = PluginStatistics.objects.filter(project=project)
    return {row.plugin_id: (row.attempt_count, row.success_count, row.failure_count, row.refusal_count) for row in rows}


@pytest.mark.rule("PLUGIN-19")
def test_a_turn_counts_once_for_every_plugin_it_tried(session, plugins):
    plugins()
    say(session)
    assert counts(session.project) == dict.fromkeys(("planner-default", "sd-a", "kb-a", "gs-a", "val-a"), (1, 1, 0, 0))
    say(session)
    assert counts(session.project)["kb-a"] == (2, 2, 0, 0)


@pytest.mark.rule("TURN-35")
def test_a_failed_turn_is_learned_from_too(session, plugins):
    plugins(plugin("gs-plugin", "gs-a", RuntimeError("boom")))
    with pytest.raises(TurnError):
        say(session)
    found = counts(session.project)
    assert found["gs-a"] == found["planner-default"] == (1, 0, 1, 0)
    assert found["kb-a"] == (1, 1, 0, 0)


@pytest.mark.rule("TURN-35")
def test_a_failed_commit_is_a_failure_of_the_planner_alone(session, plugins, monkeypatch):
    plugins()

    def fail(*arguments):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(pipeline, "commit_turn", fail)
    with pytest.raises(TurnError):
        say(session)
    assert counts(session.project)["planner-default"] == (1, 0, 1, 0)
    assert counts(session.project)["gs-a"] == (1, 1, 0, 0)


def test_an_honest_no_context_is_no_failure(session, plugins):
    plugins(plugin("gs-plugin", "gs-a", solution(None)))
    say(session)
    assert counts(session.project)["gs-a"] == counts(session.project)["planner-default"] == (1, 0, 0, 1)


def test_a_turn_that_somebody_stopped_teaches_nothing(session, plugins, settings):
    settings.MRPVM_TRACE_FLUSH_MS = 1
    stopped = threading.Event()

    def wait_until_stopped(request, context):
        request_cancel(session.turns.get(request_id=context.request_id))
        while not context.stopped():
            stopped.wait(0.01)
        return solution("Because.")(request, context)

    plugins(plugin("gs-plugin", "gs-a", wait_until_stopped))
    with pytest.raises(TurnError) as caught:
        say(session)
    assert caught.value.code == "TURN_CANCELLED"
    assert counts(session.project) == {}


def test_planners_are_told_what_the_project_has_learned(session, plugins):
    plugins()
    say(session)
    planner = registry.installed.planner("planner-default")
    assert planner.asked[0].utilities == {}
    say(session)
    told = planner.asked[-1].utilities
    assert set(told) == {
        ("mrp-plan-plugin", "planner-default"), ("sd-plugin", "sd-a"), ("kb-plugin", "kb-a"), ("gs-plugin", "gs-a"),
        ("val-plugin", "val-a"),
    }  # fmt: skip
    assert told["kb-plugin", "kb-a"] > utility("kb-plugin", untried("kb-plugin"))


@pytest.mark.rule("DECISION-46")
def test_projects_learn_apart(session, plugins):
    plugins()
    other = Project.objects.create(name="Other", slug="other")
    say(session)
    assert counts(other) == {}
    assert utilities(other.pk) == {}
    say(create_session(other))
    assert counts(other) == counts(session.project)


@pytest.mark.rule("KERNEL-57", "EVAL-6")
def test_frozen_statistics_are_used_and_stay_as_they_are(session, plugins, settings):
    plugins()
    say(session)
    before = list(PluginStatistics.objects.values())
    settings.MRPVM_LEARN = False
    say(session)
    assert list(PluginStatistics.objects.values()) == before
    assert registry.installed.planner("planner-default").asked[-1].utilities


@pytest.mark.rule("DECISION-46")
def test_frozen_statistics_stay_and_learn_nothing(session, plugins):
    """The same holds for its forks."""
    plugins()
    planner = registry.installed.planner("planner-default")
    say(session)
    frozen = create_session(session.project, freeze_planner_statistics=True)
    known = utilities(session.project_id)
    say(session)
    before = list(PluginStatistics.objects.values())
    assert utilities(session.project_id) != known
    say(frozen)
    say(fork_session(frozen, 2, "edited"))
    assert [dict(request.utilities) for request in planner.asked[-2:]] == [known, known]
    assert list(PluginStatistics.objects.values()) == before


def test_nothing_learned_yet_can_be_frozen_too(session, plugins):
    plugins()
    frozen = create_session(session.project, freeze_planner_statistics=True)
    say(session)
    say(frozen)
    assert registry.installed.planner("planner-default").asked[-1].utilities == {}


@pytest.mark.rule("TURN-35")
@pytest.mark.parametrize("failure", [DatabaseError("locked"), RuntimeError("a defect")])
def test_a_turn_survives_statistics_that_cannot_be_stored(session, plugins, monkeypatch, caplog, failure):
    plugins()

    def fail(*arguments, **named):
        raise failure

    monkeypatch.setattr(buffer_module, "record_turns", fail)
    assert say(session).turn.status == "succeeded"
    assert session.messages.count() == 2
    assert "could not be stored" in caplog.text


def test_what_waits_is_stored_in_one_go_and_in_order(session, plugins, settings):
    plugins()
    settings.MRPVM_LEARN_DELAY_MS = 3_600_000
    for _ in range(3):
        say(session)
    assert counts(session.project) == {}
    statistics_buffer.flush()
    assert counts(session.project)["kb-a"] == (3, 3, 0, 0)
    statistics_buffer.flush()
    assert counts(session.project)["kb-a"] == (3, 3, 0, 0)


def test_it_does_not_wait_for_ever(session, plugins, settings, monkeypatch):
    plugins()
    settings.MRPVM_LEARN_DELAY_MS = 1
    stored = threading.Event()
    record = buffer_module.record_turns
    monkeypatch.setattr(buffer_module, "record_turns", lambda *given: (record(*given), stored.set()))
    say(session)
    assert stored.wait(20)
    assert counts(session.project)["kb-a"] == (1, 1, 0, 0)


def test_turns_learned_together_teach_what_they_teach_one_by_one(project):
    other = Project.objects.create(name="Other", slug="other")
    turns = [([stage()], False), ([stage("error"), stage(plugin_id="kb-b")], True), ([stage("no-context")], False)]
    record_turns(project.pk, turns)
    for turn in turns:
        record_turns(other.pk, [turn])
    columns = [field.name for field in PluginStatistics._meta.fields if field.name not in ("id", "project")]
    together, singly = (list(PluginStatistics.objects.filter(project=one).values(*columns)) for one in (project, other))
    assert together == singly


def stage(status="success", plugin_id="kb-a"):
    return StageRecord(stage="kb", plugin_id=plugin_id, status=status, duration_ms=10, frame_id="frame-0")


@pytest.mark.rule("KERNEL-57")
def test_turns_that_end_at_once_all_count(project):
    """No insert or update is lost."""
    workers, turns_each = 6, 8
    start = threading.Barrier(workers)
    errors = []

    def record(number):
        start.wait(20)
        try:
            for _ in range(turns_each):
                ids = [f"kb-{letter}" for letter in "abc"]
                stages = [stage(plugin_id=item) for item in (ids if number % 2 else reversed(ids))]
                record_turns(project.pk, [(stages, False)])
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=record, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    total = workers * turns_each
    assert counts(project) == dict.fromkeys(("kb-a", "kb-b", "kb-c"), (total, total, 0, 0))


def test_sessions_of_a_project_learn_side_by_side(project, plugins):
    plugins()
    sessions = [create_session(project) for _ in range(4)]
    failures = []

    def talk(session):
        try:
            say(session)
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=talk, args=(session,)) for session in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert counts(project)["kb-a"] == (4, 4, 0, 0)


def test_learning_costs_the_same_for_any_number_of_plugins(project, django_assert_num_queries):
    many = [stage(plugin_id=f"kb-{number}") for number in range(30)]
    record_turns(project.pk, [(many, False)])
    with CaptureQueriesContext(connection) as few:
        record_turns(project.pk, [(many[:2], False)])
    with django_assert_num_queries(len(few)):
        record_turns(project.pk, [(many, False)])
