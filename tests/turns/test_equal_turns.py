"""Equal turns store equal rows with fixed statistics, clock and ids, whichever parallel frame is quicker."""

import json
from itertools import count

import pytest

from mrpvm.trace.events import record_of
from mrpvm.trace.record import execution_trace
from mrpvm.wire import to_wire
from sessions_app import identifiers
from sessions_app.actions.sessions.session import create_session
from sessions_app.models import ExplainabilityTurn, Session
from sessions_app.queries.turns.registry import all_details, all_events, graph, unit_events
from sessions_app.turns import machine
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from tests.kernel.recorded_turns import StillClock, by_question, late
from tests.kernel.scripted import detection, plugin, retrieval

pytestmark = pytest.mark.django_db(transaction=True)


def played(project, monkeypatch, plugins):
    """Return every row of two turns of four questions, as text; then remove them."""
    numbers = count()
    monkeypatch.setattr(machine.machine(), "clock", StillClock())
    monkeypatch.setattr(identifiers, "new_id", lambda prefix: f"{prefix}-{next(numbers):032x}")
    detector = plugin("sd-plugin", "sd-a", detection("one", "two", "three", "four", claims=["Rex is a dog."]))
    solver = plugin("gs-plugin", "gs-a", by_question(two=RuntimeError("boom")))
    plugins(*(late(item) for item in (detector, plugin("kb-plugin", "kb-a", retrieval("Rex is a dog.")), solver)))
    session = create_session(project)
    for message in ("Why?", "And why?"):
        run_turn(session, TurnCall(message=message))
    turns = list(ExplainabilityTurn.objects.order_by("turn_index"))
    left = [
        [[record_of(event) for event in found] for found in all_events(turns).values()],
        [sorted((item.ref, item.text) for _, item in all_details([turn])) for turn in turns],
        [to_wire(graph(turn)) for turn in turns],
        [to_wire(execution_trace(found)) for found in all_events(turns).values()],
        [(step.execution_id, step.unit_id, step.step, step.reason) for turn in turns for step in unit_events(turn)],
        [(turn.response_document, turn.unit_changes) for turn in turns],
    ]
    Session.objects.all().delete()
    return json.dumps(left, ensure_ascii=False)


@pytest.mark.rule("KERNEL-17", "EVAL-6")
@pytest.mark.parametrize("flush_ms", [60_000, 0], ids=["written at the end", "written while it runs"])
def test_equal_turns_leave_equal_rows(project, plugins, monkeypatch, settings, flush_ms):
    settings.MRPVM_LEARN = False
    settings.MRPVM_TRACE_FLUSH_MS = flush_ms
    assert played(project, monkeypatch, plugins) == played(project, monkeypatch, plugins)
