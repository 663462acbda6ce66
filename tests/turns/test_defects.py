"""Failures outside of the machine: the turn ends as failed, and the session can be used further."""

from collections.abc import Callable

import pytest
from django.db import OperationalError

from mrpvm.trace.graph import fold_graph
from sessions_app.models import ContextUnit, ExplainabilityTurn
from sessions_app.queries.turns.registry import events
from sessions_app.turns import commit, pipeline, prepare
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import TurnError
from sessions_app.turns.pipeline import run_turn
from sessions_app.turns.trace_writer import TraceWriter
from tests.busy import wait_in_vain
from tests.kernel.scripted import plugin
from tests.turns.test_failure import memory

pytestmark = pytest.mark.django_db(transaction=True)


def explode(*args, **kwargs):
    raise OperationalError("disk full at /var/lib")


def unreadable_session(patch):
    patch.setattr(prepare, "read_state", explode)


def unwritable_trace(patch):
    patch.setattr(TraceWriter, "flush_if_due", explode)


def unwritable_units(patch):
    patch.setattr(commit, "promote_units", explode)


def unwritable_end(patch):
    patch.setattr(TraceWriter, "finish", explode)


def unreadable_finish(patch):
    patch.setattr(pipeline, "final_report", explode)


BROKEN = [unreadable_session, unwritable_trace, unwritable_units, unwritable_end, unreadable_finish]


@pytest.mark.rule("TURN-32")
@pytest.mark.parametrize("broken", BROKEN)
def test_the_turn_is_undone_and_the_slot_is_free(session, plugins, broken: Callable[..., None]):
    plugins()
    run_turn(session, TurnCall(message="First?"))
    before = memory(session)
    with pytest.MonkeyPatch.context() as patch:
        broken(patch)
        with pytest.raises(TurnError) as caught:
            run_turn(session, TurnCall(message="Second?", system_prompt="Be brief."))
    turn = ExplainabilityTurn.objects.get(pk=caught.value.turn.pk)
    assert caught.value.code == "SERVER_INTERNAL_ERROR"
    assert "/var/lib" not in caught.value.message
    assert (turn.status, turn.answer_status, turn.error["code"]) == ("failed", "failed", "SERVER_INTERNAL_ERROR")
    graph = fold_graph(events(turn))
    assert graph.root_frame_id == "frame-0"
    if broken not in (unwritable_units, unreadable_finish):  # in that case the machine had closed its frames
        assert {frame.status for frame in graph.frames} == {"failed"}
    assert turn.duration_ms is not None
    assert memory(session) == before
    assert session.failed_turn_count == 1
    assert not ContextUnit.objects.filter(state="pending").exists()
    assert run_turn(session, TurnCall(message="Third?")).turn.turn_index == 3


@pytest.mark.parametrize(
    ("place", "name"),
    [(prepare, "read_state"), (TraceWriter, "add"), (TraceWriter, "flush_if_due"), (pipeline, "commit_turn")],
)
def test_a_turn_that_others_kept_from_the_database_says_so(session, plugins, monkeypatch, place, name):
    plugins()
    with monkeypatch.context() as patch:
        patch.setattr(place, name, wait_in_vain)
        with pytest.raises(TurnError) as caught:
            run_turn(session, TurnCall(message="Why?"))
    assert caught.value.code == "UNAVAILABLE"
    assert caught.value.message.startswith("The database was busy")
    assert run_turn(session, TurnCall(message="Why?")).turn.status == "succeeded"


def test_a_plugin_that_gives_what_cannot_be_stored_fails_alone(session, plugins):
    """A payload that is not valid JSON is an error of its plugin, not of the server."""
    reply = lambda request, context: {"not": "a solution"}  # noqa: E731
    plugins(plugin("gs-plugin", "gs-a", reply))
    with pytest.raises(TurnError) as caught:
        run_turn(session, TurnCall(message="Why?"))
    assert caught.value.code == "PLUGIN_STAGE_EXHAUSTED"
