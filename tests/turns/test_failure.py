"""A failed, stopped or interrupted turn stores only its entry and its trace."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from mrpvm.errors import Conflict, Expired, InvalidInput, MRPError, NotFound, TooLarge, TurnInterrupted
from mrpvm.values import Selection
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.sessions.session import Choices, delete_session
from sessions_app.actions.turns.running import request_cancel
from sessions_app.models import ExplainabilityTurn, Session, UnitEvent
from sessions_app.queries.turns.registry import graph
from sessions_app.turns import pipeline
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import close_turn
from sessions_app.turns.pipeline import TurnError, run_turn
from sessions_app.turns.slots import start_turn
from tests.kernel.scripted import REJECT, plugin, solution
from tests.payloads import stored_payloads
from tests.turns.failure_scene import fail, memory
from tests.web.page_scene import member_client

pytestmark = pytest.mark.django_db(transaction=True)


BREAKS = {
    "solver error": plugin("gs-plugin", "gs-a", RuntimeError("boom")),
    "answer with a NUL": plugin("gs-plugin", "gs-a", solution("Rex\0")),
    "answer with half of a surrogate pair": plugin("gs-plugin", "gs-a", solution("Rex \ud800")),
    "rejection": plugin("val-plugin", "val-a", REJECT),
    "no intent": plugin("sd-plugin", "sd-a", RuntimeError("boom")),
    "retrieval": plugin("kb-plugin", "kb-a", RuntimeError("boom")),
    "planner": plugin("mrp-plan-plugin", "planner-default", RuntimeError("boom")),
}


@pytest.mark.rule("SESSION-1", "TURN-28", "TURN-29", "TURN-30", "TURN-32", "GRAPH-4")
@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS.keys())
def test_a_failed_turn_leaves_its_entry_and_nothing_else(session, plugins, broken):
    plugins()
    run_turn(session, TurnCall(message="First?"))
    before = memory(session)
    plugins(broken)
    turn, error = fail(session, deliberation_level=3, model="other")
    assert memory(session) == before
    assert turn.status == "failed"
    assert turn.error["code"] == error.code
    assert turn.response_document is None
    assert not session.context_units.filter(state="pending").exists()
    frames = graph(turn).frames
    assert frames[0].id == "frame-0"
    assert {frame.status for frame in frames} == {"failed"}


@pytest.mark.parametrize("name", ["turn", "turn-export", "turn-replay", "turn-timeline", "turn-context"])
def test_a_turn_with_an_answer_that_has_no_utf_8_is_shown(session, plugins, name):
    plugins(BREAKS["answer with half of a surrogate pair"])
    turn, error = fail(session)
    assert error.code == "PLUGIN_STAGE_EXHAUSTED"
    page = member_client(session.project).get(reverse(name, args=[session.session_id, turn.request_id]))
    assert page.status_code == 200
    if name == "turn-export":
        assert "Rex \N{REPLACEMENT CHARACTER}" in page.content.decode()


@pytest.mark.rule("SESSION-20", "TURN-30")
def test_a_failing_pin_fails_the_turn_and_is_no_preference(session, plugins):
    """Another solver is registered and not tried."""
    ready = plugin("gs-plugin", "gs-b", solution("Because."))
    plugins(BREAKS["solver error"], ready)
    before = memory(session)
    turn, _ = fail(session, goal_solver="gs-a")
    assert memory(session) == before
    assert turn.goal_solver_plugin == "gs-a"
    assert ready.asked == []


@pytest.mark.rule("TURN-29")
def test_a_failed_turn_leaves_the_base_that_it_mounted(session, plugins):
    """The mount is a separate change, which is kept."""
    plugins(BREAKS["solver error"])
    base = create_base(session.project, "Handbook")
    with pytest.raises(TurnError):
        run_turn(session, TurnCall(message="Why?", base=base))
    session.refresh_from_db()
    assert session.mounted_kb == base
    assert not session.messages.exists()


@pytest.mark.rule("TURN-33")
def test_a_timed_out_turn_leaves_only_its_entry(session, plugins, settings):
    """The late plugin is told to stop, and its result cannot be committed."""
    settings.MRPVM_REQUEST_TIMEOUT_MS = 1_000  # long enough to reach the solver on a busy machine
    release, returned = threading.Event(), threading.Event()
    told = []

    def late(request, context):
        release.wait(20)
        told.append(context.stopped())
        returned.set()
        return solution("late")(request, context)

    plugins(plugin("gs-plugin", "gs-a", late))
    before = memory(session)
    turn, error = fail(session)
    release.set()
    assert returned.wait(20)
    assert told == [True]
    assert error.code == "ENGINE_TIMEOUT"
    assert memory(session) == before
    assert turn.status == "failed"
    assert {frame.status for frame in graph(turn).frames} == {"failed"}


@pytest.mark.rule("TURN-28")
def test_discarded_units_are_recorded_with_their_text(session, plugins):
    plugins(BREAKS["solver error"])
    turn, _ = fail(session)
    events = list(UnitEvent.objects.filter(turn=turn).order_by("id").values_list("step", "text"))
    assert events == [("staged", "Rex is a dog."), ("discarded", "")]
    assert len(turn.unit_changes["discarded"]) == 1


@pytest.mark.rule("TURN-32", "TURN-39")
def test_a_failing_commit_ends_as_a_failed_turn(session, plugins, monkeypatch):
    """No part of the commit is stored; the trace is."""
    plugins()
    before = memory(session)

    def explode(*args, **kwargs):
        raise RuntimeError("disk full")

    monkeypatch.setattr("sessions_app.turns.commit.announce_promotion", explode)
    turn, error = fail(session)
    assert memory(session) == before
    assert error.code == "SERVER_INTERNAL_ERROR"
    assert "disk full" not in error.message
    assert graph(turn).frames[0].id == "frame-0"
    assert stored_payloads(turn)
    assert turn.response_document is None


@pytest.mark.rule("TURN-1")
@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (TurnCall(message="   "), InvalidInput, "INVALID_CONTENT"),
        (TurnCall(message="x" * 8001), TooLarge, "NORMALIZER_INPUT_TOO_LARGE"),
        (TurnCall(message="Why?", choices=Choices(kb="kb-none")), InvalidInput, "INVALID_KB_PLUGIN"),
        (TurnCall(message="Why?", choices=Choices(deliberation_level=4)), InvalidInput, "INVALID_DELIBERATION_LEVEL"),
    ],
)
def test_what_can_be_refused_first_leaves_no_entry(session, plugins, call, kind, code):
    plugins()
    with pytest.raises(kind) as caught:
        run_turn(session, call)
    assert caught.value.code == code
    assert not session.turns.exists()


@pytest.mark.rule("TURN-3")
def test_a_busy_session_names_the_running_turn(session, plugins):
    plugins()
    running = start_turn(session, TurnCall(message="Why?"))
    with pytest.raises(Conflict) as caught:
        run_turn(session, TurnCall(message="And?"))
    assert caught.value.code == "TURN_IN_PROGRESS"
    assert caught.value.details["running_request_id"] == running.request_id


def test_waiting_takes_the_slot_when_it_becomes_free(session, plugins):
    plugins()
    running = start_turn(session, TurnCall(message="Why?"))
    ExplainabilityTurn.objects.filter(pk=running.pk).update(lease_until=timezone.now() + timedelta(seconds=0.2))
    result = run_turn(session, TurnCall(message="And?"), wait_ms=10_000)
    assert result.turn.turn_index == 2


def test_a_turn_that_waited_too_long_runs_in_a_fork(session, plugins):
    """Another turn ended meanwhile, and the client does not continue from that one."""
    plugins()
    run_turn(session, TurnCall(message="First?"))
    session.refresh_from_db()
    call = TurnCall(message="Third?", continues_at=session.message_sequence)
    run_turn(session, TurnCall(message="Second?"))
    result = run_turn(session, call, wait_ms=1_000)
    fork = result.turn.session
    assert fork.forked_from == session
    assert list(fork.messages.order_by("sequence").values_list("content", flat=True))[::2] == ["First?", "Third?"]
    assert session.messages.count() == 4
    fork.refresh_from_db()
    again = run_turn(fork, TurnCall(message="Fourth?", continues_at=fork.message_sequence))
    assert again.turn.session == fork


@pytest.mark.rule("TURN-3")
def test_ten_simultaneous_turns_leave_whole_exchanges(session, plugins):
    """The turns that get the slot commit completely; the others get an error."""
    plugins()
    codes = []

    def talk():
        from django.db import connection

        try:
            run_turn(session, TurnCall(message="Why?"))
            codes.append("ok")
        except MRPError as error:
            codes.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=talk) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(codes) <= {"ok", "TURN_IN_PROGRESS"}
    assert session.messages.count() == 2 * codes.count("ok") >= 2
    assert session.turns.count() == codes.count("ok")


@pytest.mark.rule("SESSION-11", "SESSION-17")
def test_expired_and_deleted_sessions_take_no_turn(session, plugins):
    plugins()
    session.expires_at = timezone.now() - timedelta(seconds=1)
    session.save()
    with pytest.raises(Expired):
        run_turn(session, TurnCall(message="Why?"))
    delete_session(session)
    with pytest.raises(NotFound):
        run_turn(session, TurnCall(message="Why?"))


@pytest.mark.rule("DECISION-19")
def test_a_turn_is_cancelled_from_elsewhere(session, plugins):
    """The request updates a row, which the running process reads."""
    working, release = threading.Event(), threading.Event()

    def slow(request, context):
        working.set()
        release.wait(20)
        return solution("late")(request, context)

    plugins(plugin("gs-plugin", "gs-a", slow))

    def stop():
        from django.db import connection

        working.wait(20)
        request_cancel(session.turns.get())
        connection.close()

    stopper = threading.Thread(target=stop)
    stopper.start()
    turn, error = fail(session)
    release.set()
    stopper.join()
    assert turn.status == "cancelled"
    assert error.code == "TURN_CANCELLED"
    assert not session.messages.exists()
    with pytest.raises(Conflict):
        request_cancel(turn)


def test_a_cancel_that_arrives_just_before_the_commit_still_wins(session, plugins, monkeypatch):
    plugins()
    commit = pipeline.commit_turn

    def late(prepared, *args):
        request_cancel(prepared.turn)
        commit(prepared, *args)

    monkeypatch.setattr(pipeline, "commit_turn", late)
    turn, _ = fail(session)
    assert turn.status == "cancelled"
    assert not session.messages.exists()


def test_a_turn_that_is_closed_while_its_commit_waits_is_refused(session, plugins, settings):
    """The commit waits for the session's row, which is locked by the process that closes the turn."""
    settings.MRPVM_TRACE_FLUSH_MS = 60_000
    working, closing = threading.Event(), threading.Event()

    def answer(request, context):
        working.set()
        closing.wait(20)
        return solution("Because.")(request, context)

    plugins(plugin("gs-plugin", "gs-a", answer))

    def close():
        working.wait(20)
        try:
            with transaction.atomic():
                close_turn(session.turns.get().pk, TurnInterrupted("Closed.").as_record())
                closing.set()
                time.sleep(0.3)  # the commit reaches the lock
        finally:
            connection.close()

    closer = threading.Thread(target=close)
    closer.start()
    turn, error = fail(session)
    closer.join()
    assert (turn.status, error.code) == ("interrupted", "TURN_INTERRUPTED")
    assert not session.messages.exists()


@pytest.mark.rule("SESSION-11")
def test_a_deleted_sessions_turn_does_not_commit(session, plugins):

    def deleting(request, context):
        from django.db import connection

        delete_session(session)
        connection.close()
        return solution("late")(request, context)

    plugins(plugin("gs-plugin", "gs-a", deleting))
    turn, _ = fail(session)
    assert turn.status in ("cancelled", "failed")
    assert not session.messages.exists()


def test_only_a_taken_slot_makes_a_session_busy(session, plugins):
    """A violation of another constraint is a defect, which waiting for the slot would not solve."""
    plugins()
    run_turn(session, TurnCall(message="First?"))
    Session.objects.update(turn_sequence=0)
    with pytest.raises(IntegrityError):
        run_turn(session, TurnCall(message="Second?"), wait_ms=10_000)


@pytest.mark.rule("TURN-30")
def test_a_failed_turn_names_pinned_and_tried_plugins(session, plugins):
    plugins(BREAKS["solver error"])
    turn, _ = fail(session)
    named = Selection(
        planner=turn.planner_plugin, seed_detector=turn.seed_detector_plugin, kb=turn.kb_plugin,
        goal_solver=turn.goal_solver_plugin,
    )  # fmt: skip
    assert named == Selection(planner="planner-default", seed_detector="sd-a", kb="kb-a", goal_solver="gs-a")
