"""The database fails during a turn: the turn ends with 503 in any case, and is closed as soon as possible."""

from collections.abc import Callable, Iterator

import pytest
from django.db import OperationalError, connection, transaction

from mrpvm.trace.events import Event, PluginStarted, UnitsStaged
from mrpvm.trace.head import trace_head
from sessions_app.actions.sessions.context_units import stage_units
from sessions_app.layers import SessionKnowledge
from sessions_app.models import ExplainabilityTurn
from sessions_app.models.named_sql import write_all
from sessions_app.queries.turns.registry import events as stored_events
from sessions_app.turns import close, pipeline
from sessions_app.turns.call import TurnCall
from sessions_app.turns.close import TurnEnd, TurnError, unclosed
from sessions_app.turns.pipeline import run_turn
from sessions_app.turns.recovery import INTERRUPTED, recover_abandoned
from sessions_app.turns.slots import start_turn
from sessions_app.turns.trace_writer import TraceWriter
from tests.kernel.scripted import detection, plugin, retrieval, unit

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = TurnCall(message="Why?")


class _ConnectionLost(Exception):
    sqlstate = None


class _DiskFull(Exception):
    sqlstate = "53100"


def lose_connection(*args: object, **kwargs: object) -> None:
    """Raise Django's error of a lost connection."""
    raise OperationalError("server closed the connection unexpectedly at /var/lib") from _ConnectionLost()


def fill_disk(*args: object, **kwargs: object) -> None:
    """Raise Django's error of a full disk."""
    raise OperationalError("could not extend file at /var/lib") from _DiskFull()


@pytest.fixture(autouse=True)
def _nothing_unclosed() -> Iterator[None]:
    unclosed.forget(unclosed.ends())
    yield
    assert not unclosed.ends()


def ended(session, call: TurnCall = ASKED) -> TurnError:
    with pytest.raises(TurnError) as caught:
        run_turn(session, call)
    assert "/var/lib" not in caught.value.message
    return caught.value


def reading_kb(**changes):
    """Return a KB plugin that searches the stored units, on its own thread unless it is quick."""
    return plugin("kb-plugin", "kb-a", lambda request, context: context.knowledge.search({"rex": 1.0}, 3), **changes)


@pytest.mark.parametrize("is_quick", [False, True])
def test_a_plugin_that_cannot_read_ends_the_turn(session, plugins, monkeypatch, is_quick: bool):
    other = plugin("kb-plugin", "kb-b", retrieval("Rex is a dog."))
    plugins(reading_kb(is_quick=is_quick), other)
    with monkeypatch.context() as patch:
        patch.setattr(SessionKnowledge, "search", lose_connection)
        error = ended(session)
    assert (error.code, error.details["retry_after_seconds"]) == ("UNAVAILABLE", 1)
    assert error.turn.status == "failed"
    assert other.asked == []


def test_an_outage_in_one_of_several_frames_ends_the_turn(session, plugins, monkeypatch):
    plugins(plugin("sd-plugin", "sd-a", detection("why", "how")))
    add = TraceWriter.add

    def lose_in_a_child(self, event):
        if isinstance(event.data, PluginStarted) and event.frame_id.count("."):
            lose_connection()
        add(self, event)

    with monkeypatch.context() as patch:
        patch.setattr(TraceWriter, "add", lose_in_a_child)
        assert ended(session).code == "UNAVAILABLE"
    assert run_turn(session, ASKED).turn.status == "succeeded"


@pytest.mark.parametrize(("fail", "code"), [(lose_connection, "UNAVAILABLE"), (fill_disk, "INSUFFICIENT_STORAGE")])
def test_a_turn_whose_end_cannot_be_stored_is_closed_later(
    session, plugins, monkeypatch, fail: Callable[..., None], code: str
):
    plugins()
    with monkeypatch.context() as patch:
        for place, name in ((pipeline, "commit_turn"), (pipeline, "fail_turn"), (close, "close_turn")):
            patch.setattr(place, name, fail)
        turn = ended(session).turn
    assert ExplainabilityTurn.objects.get(pk=turn.pk).status == "running"
    assert recover_abandoned() == 1
    turn.refresh_from_db()
    assert (turn.status, turn.error["code"]) == ("failed", code)


def test_the_next_turn_closes_the_one_whose_end_was_not_stored(session, plugins, monkeypatch):
    plugins()
    with monkeypatch.context() as patch:
        for place, name in ((pipeline, "commit_turn"), (pipeline, "fail_turn"), (close, "close_turn")):
            patch.setattr(place, name, lose_connection)
        turn = ended(session).turn
    assert run_turn(session, ASKED).turn.status == "succeeded"
    turn.refresh_from_db()
    assert turn.status == "failed"


def test_a_turn_whose_begin_was_stored_unheard_is_closed(session, plugins, monkeypatch):
    """The commit succeeded, and the connection was lost before its result arrived."""
    plugins()
    commit_transaction = connection.commit

    def commit_and_lose() -> None:
        commit_transaction()
        monkeypatch.undo()
        lose_connection()

    monkeypatch.setattr(connection, "commit", commit_and_lose)
    with pytest.raises(OperationalError):
        run_turn(session, ASKED)
    turn = ExplainabilityTurn.objects.get()
    assert turn.status == "running"
    plugins()
    assert run_turn(session, ASKED).turn.status == "succeeded"
    turn.refresh_from_db()
    assert turn.status == "interrupted"


def test_events_whose_commit_was_not_answered_are_stored_once(session, monkeypatch, settings):
    settings.MRPVM_TRACE_FLUSH_MS = 0
    turn = start_turn(session, ASKED)
    writer = TraceWriter(turn)
    first, *later = trace_head(
        request_id=turn.request_id, session_id=session.session_id, message="Why?", deliberation_level=0,
        purpose="chat-turn", label="chat-turn",
    )  # fmt: skip
    writer.add(first)
    told = unit("Rex is a dog.")
    staged = UnitsStaged(frame_id="frame-0", execution_id="exec-0.1~1", unit_ids=(told.id,))
    writer.add(Event(at_ms=0, data=staged, units=(told,)))
    commit_transaction = connection.commit

    def commit_and_lose() -> None:
        commit_transaction()
        lose_connection()

    with monkeypatch.context() as patch:
        patch.setattr(connection, "commit", commit_and_lose)
        with pytest.raises(OperationalError):
            writer.flush_if_due()
    for event in later:
        writer.add(event)
    with transaction.atomic():
        write_all([*writer.finish(), *stage_units(turn, writer.stagings)])
    names = [event.name for event in stored_events(turn)]
    assert names == [first.name, "units.staged", *(event.name for event in later)]
    assert list(session.context_units.values_list("claim", flat=True)) == ["Rex is a dog."]
    assert session.unit_events.count() == 1
    close.close_turn(turn.pk, INTERRUPTED)


def test_turns_that_the_database_never_heard_of_are_forgotten(session):
    unclosed.note("req-unheard", TurnEnd({"code": "UNAVAILABLE", "message": "", "details": {}}))
    assert recover_abandoned(session) == 0
    assert set(unclosed.ends()) == {"req-unheard"}
    assert recover_abandoned() == 0
    assert unclosed.ends() == {}
