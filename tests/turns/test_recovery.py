"""Turns whose server ended or was killed, and turns that arrive while it shuts down."""

import threading
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from mrpvm.errors import Unavailable
from sessions_app import shutdown
from sessions_app.actions.sessions.context_units import Staging, stage_units
from sessions_app.background.sweeper import sweep
from sessions_app.models import ContextUnit, ExplainabilityTurn
from sessions_app.models.named_sql import write_all
from sessions_app.queries.turns.registry import graph
from sessions_app.turns import pipeline, recovery
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.turns.recovery import recover_abandoned, recover_all_running
from sessions_app.turns.slots import start_turn
from tests.kernel.scripted import plugin, solution, unit
from tests.turns.failure_scene import fail, memory

pytestmark = pytest.mark.django_db(transaction=True)


LOCK = 4711


def abandon(session, *, lease_seconds=-1):
    turn = start_turn(session, TurnCall(message="Why?"))
    write_all(stage_units(turn, [Staging("exec-0.1~1", (unit("Rex is a dog."),))]))
    lease = timezone.now() + timedelta(seconds=lease_seconds)
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(lease_until=lease)
    return turn


@pytest.mark.rule("DECISION-18", "TURN-37")
def test_an_abandoned_turn_is_recovered_once_as_interrupted(session, plugins):
    plugins()
    before = memory(session)
    turn = abandon(session)
    assert recover_abandoned() == 1
    assert recover_abandoned() == 0
    assert memory(session) == before
    turn.refresh_from_db()
    assert turn.status == "interrupted"
    assert turn.error["code"] == "TURN_INTERRUPTED"
    assert not ContextUnit.objects.exists()
    assert graph(turn).frames[0].status == "failed"


@pytest.mark.rule("TURN-36")
def test_a_slot_is_held_ten_seconds_past_the_time_limit(session, plugins, settings):
    plugins()
    settings.MRPVM_REQUEST_TIMEOUT_MS = 5_000
    earliest = timezone.now()
    lease = start_turn(session, TurnCall(message="Why?")).lease_until
    assert earliest <= lease - timedelta(seconds=15) <= timezone.now()


@pytest.mark.rule("TURN-38")
def test_the_sweep_recovers_an_abandoned_turn(session, plugins):
    plugins()
    turn = abandon(session)
    assert sweep()["recovered"] == 1
    turn.refresh_from_db()
    assert turn.status == "interrupted"


@contextmanager
def living_process():
    """Yield the key of a lock that another connection holds until the block ends."""
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        yield LOCK
        # A connection that is closed keeps its locks until its server process has noticed.
        cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one process")
@pytest.mark.rule("TURN-38")
def test_a_turn_of_an_ended_process_is_recovered_early(session, plugins, monkeypatch):
    monkeypatch.setattr(recovery, "RETAKEN_SECONDS", 0)
    plugins()
    turn = abandon(session, lease_seconds=60)
    assert recover_abandoned() == 0, "nothing tells of its process"
    with living_process() as key:
        ExplainabilityTurn.objects.filter(pk=turn.pk).update(process=key)
        assert recover_abandoned() == 0
    assert recover_abandoned(session) == 0, "a request does not wait to see it twice"
    assert recover_abandoned() == 1
    turn.refresh_from_db()
    assert turn.status == "interrupted"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one process")
def test_a_process_that_takes_its_lock_again_keeps_its_turns(session, plugins, monkeypatch):
    plugins()
    turn = abandon(session, lease_seconds=60)
    ExplainabilityTurn.objects.filter(pk=turn.pk).update(process=LOCK)
    waited = []
    with ExitStack() as stack:

        def wait(seconds):
            waited.append(seconds)
            stack.enter_context(living_process())

        monkeypatch.setattr(recovery.time, "sleep", wait)
        assert recover_abandoned() == 0
    assert waited == [recovery.RETAKEN_SECONDS]
    turn.refresh_from_db()
    assert turn.is_running


@pytest.mark.rule("TURN-38")
def test_the_next_turn_recovers_the_abandoned_one_itself(session, plugins):
    plugins()
    turn = abandon(session)
    run_turn(session, TurnCall(message="Again?"))
    turn.refresh_from_db()
    assert turn.status == "interrupted"


def test_a_slot_that_is_left_meanwhile_is_taken(session, plugins, monkeypatch):
    plugins()
    abandon(session)

    def recovered_by_another(of_session):
        assert of_session is not None
        recover_abandoned()
        return 0

    monkeypatch.setattr("sessions_app.turns.slots.recover_abandoned", recovered_by_another)
    assert start_turn(session, TurnCall(message="Why not?")).is_running


@pytest.mark.rule("TURN-36")
def test_a_lone_server_recovers_turns_with_a_valid_lease(session, plugins):
    plugins()
    abandon(session, lease_seconds=60)
    assert recover_abandoned() == 0
    assert recover_all_running() == 1


@pytest.mark.rule("TURN-33")
def test_a_turn_that_was_recovered_meanwhile_cannot_commit(session, plugins, monkeypatch):
    plugins()
    commit = pipeline.commit_turn

    def late(turn, *args):
        recover_all_running()
        commit(turn, *args)

    monkeypatch.setattr(pipeline, "commit_turn", late)
    turn, _ = fail(session)
    assert turn.status == "interrupted"
    assert not session.messages.exists()


def test_a_turn_recovered_while_it_runs_ends_as_interrupted(session, plugins, settings):
    settings.MRPVM_TRACE_FLUSH_MS = 1

    def recovered(request, context):
        until(session.turns.get(request_id=context.request_id).event_batches.exists)
        recover_all_running()
        threading.Event().wait(0.05)  # until the next part of the trace is due
        return solution("Because.")(request, context)

    plugins(plugin("gs-plugin", "gs-a", recovered))
    turn, error = fail(session)
    assert (turn.status, error.code) == ("interrupted", "TURN_INTERRUPTED")


@pytest.mark.rule("DECISION-19")
def test_no_turn_starts_while_the_server_stops(session, plugins):
    plugins()
    shutdown.begin()
    with pytest.raises(Unavailable):
        run_turn(session, TurnCall(message="Why?"))
    assert not session.turns.exists()


def test_a_waiting_turn_does_not_start_at_shutdown(session, plugins):
    plugins()
    running = start_turn(session, TurnCall(message="Why?"))
    threading.Timer(0.2, shutdown.begin).start()
    with pytest.raises(Unavailable):
        run_turn(session, TurnCall(message="And?"), wait_ms=10_000)
    assert session.turns.get() == running


@pytest.mark.rule("DECISION-20")
def test_what_a_running_turn_did_so_far_can_be_read(session, plugins, settings):
    """Its rows can be read while it runs."""
    settings.MRPVM_TRACE_FLUSH_MS = 1
    seen = []

    def look(request, context):
        turn = session.turns.get(request_id=context.request_id)
        until(lambda: "exec-0.1~1" in {node.id for node in graph(turn).plugin_executions})
        seen.append((turn.status, graph(turn).frames[0].status))
        return solution("Because.")(request, context)

    plugins(plugin("gs-plugin", "gs-a", look))
    assert run_turn(session, TurnCall(message="Why?")).turn.status == "succeeded"
    assert seen == [("running", "active")]


def until(holds):
    """Wait until the condition holds; fail if it never does."""
    for _ in range(1_000):
        if holds():
            return
        threading.Event().wait(0.01)
    pytest.fail("it never came to hold")


def test_a_recovered_turn_ends_as_any_failed_turn_does(session, plugins):
    """It has a duration, events of its units, and counts as activity."""
    plugins()
    turn = abandon(session)
    before = session.last_activity_at
    recover_abandoned()
    turn.refresh_from_db()
    session.refresh_from_db()
    assert turn.duration_ms is not None
    assert session.last_activity_at > before
    kinds = list(session.events.order_by("sequence").values_list("kind", flat=True))
    assert kinds[-2:] == ["turn.interrupted", "units.discarded"]
