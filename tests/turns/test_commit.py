"""The rows that a successful turn stores."""

from contextlib import suppress
from copy import replace
from unittest.mock import Mock

import pytest

from mrpvm import registry
from mrpvm.conversation.conversation_hash import empty_hash
from sessions_app.actions.sessions.session import Choices
from sessions_app.commands.messages import answer_message
from sessions_app.models import ConversationPoint, ExplainabilityTurn, LayerUnit, SessionEvent
from sessions_app.queries.turns.registry import unit_events
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnError
from tests.actions.transactions import recorded
from tests.kernel.scripted import detection, plugin, retrieval, solution
from tests.layers.test_index import waits_for_the_disk
from tests.payloads import stored_payloads

pytestmark = pytest.mark.django_db(transaction=True)


def say(session, message="Why is Rex here?", **choices):
    return answer_message(session, TurnCall(message=message, choices=Choices(**choices)))


@pytest.mark.rule("TURN-20")
def test_messages_come_in_pairs_in_order(session, plugins):
    plugins()
    say(session, "First?")
    say(session, "Second?")
    rows = list(session.messages.values_list("sequence", "role", "content"))
    assert [row[:2] for row in rows] == [(1, "user"), (2, "assistant"), (3, "user"), (4, "assistant")]
    assert rows[0][2] == "First?"
    assert rows[1][2].startswith("Because.")


@pytest.mark.rule("DECISION-20")
@pytest.mark.usefixtures("lasting")
def test_the_end_of_a_turn_waits_for_the_disk_with_its_start(session, plugins, settings, monkeypatch):
    settings.MRPVM_LEARN = False
    for solve, status in ((solution("Because."), "succeeded"), (Mock(side_effect=ValueError), "failed")):
        plugins(plugin("gs-plugin", "gs-a", solve))
        waited = []
        with recorded(monkeypatch, lambda waited=waited: waited.append(waits_for_the_disk())), suppress(TurnError):
            say(session)
        assert ExplainabilityTurn.objects.latest("pk").status == status
        assert waited == [False, True]


@pytest.mark.rule("TURN-20")
def test_messages_of_tools_and_turns_are_numbered_without_gaps(session, plugins):
    plugins()
    for text in ("First?", "/calc 6*7", "Second?"):
        say(session, text)
    rows = list(session.messages.order_by("sequence").values_list("sequence", "role"))
    assert rows == list(enumerate(["user", "assistant", "tool", "user", "assistant"], start=1))


@pytest.mark.rule("DECISION-34", "TURN-20", "TURN-21")
def test_told_units_are_committed_once_and_indexed(session, plugins):
    """The second turn tells the same fact and adds nothing."""
    plugins()
    first = say(session)
    second = say(session)
    session.refresh_from_db()
    assert session.unit_count == 1
    assert session.context_units.get().state == "committed"
    assert first.turn.unit_changes["added"]
    assert second.turn.unit_changes["deduplicated"]
    assert LayerUnit.objects.filter(layer=session.journal).count() == 1


@pytest.mark.rule("SESSION-1", "SESSION-24", "TURN-20")
def test_the_plugins_that_answered_become_the_preferences(session, plugins):
    plugins()
    say(session, deliberation_level=2, model="named")
    session.refresh_from_db()
    assert session.preferred_planner_plugin == "planner-default"
    assert session.preferred_model == "named"
    assert session.preferred_seed_detector_plugin == "sd-a"
    assert session.preferred_kb_plugin == "kb-a"
    assert session.preferred_goal_solver_plugin == "gs-a"
    assert session.preferred_deliberation_level == 2


@pytest.mark.parametrize(("pin", "preferred"), [(None, None), ("kb-a", "kb-a")])
def test_without_an_answer_only_a_pin_is_preferred(session, plugins, pin, preferred):
    plugins(plugin("gs-plugin", "gs-a", solution(None)))
    assert say(session, kb=pin).turn.answer_status == "no-context"
    session.refresh_from_db()
    assert (session.preferred_kb_plugin, session.preferred_goal_solver_plugin) == (preferred, None)


@pytest.mark.rule("TURN-17", "TURN-25")
def test_the_entry_tells_everything_of_the_turn(session, plugins, settings):
    settings.MRPVM_TRACE_FLUSH_MS = 60_000
    plugins()
    turn = ExplainabilityTurn.objects.get(pk=say(session).turn.pk)
    assert turn.status == "succeeded"
    assert turn.answer_status == "answered"
    assert turn.assistant_preview.startswith("Because.")
    assert turn.response_document["groups"][0]["status"] == "answered"
    assert turn.lease_until is None
    assert turn.duration_ms is not None
    assert turn.event_batches.count() == 1
    assert stored_payloads(turn).keys() >= {"frame-0", "exec-0.1~1"}


def test_the_ledger_follows_a_unit_from_staging_to_citation(session, plugins):
    plugins()
    turn = say(session).turn
    steps = [event.step for event in unit_events(turn)]
    assert steps[:2] == ["staged", "committed"]
    assert "cited" in steps


@pytest.mark.rule("DECISION-37")
def test_events_are_numbered_without_gaps(session, plugins):
    plugins()
    say(session)
    say(session)
    numbers = list(SessionEvent.objects.filter(session=session).order_by("sequence").values_list("sequence", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    kinds = list(SessionEvent.objects.filter(session=session).order_by("sequence").values_list("kind", flat=True))
    assert kinds[2:5] == ["turn.started", "turn.committed", "units.promoted"]


@pytest.mark.rule("TURN-27", "PLUGIN-43")
def test_kb_plugins_hear_of_staged_and_of_committed_units(session, plugins):
    heard = []
    kb = plugin("kb-plugin", "kb-a", retrieval("fact"))
    kb.on_session_event = lambda event: heard.append((event.event_type, event.scope, len(event.units)))
    plugins(kb)
    say(session)
    assert heard == [("session-kus-added", "current-turn", 1), ("session-kus-added", "committed-session", 1)]


@pytest.mark.rule("TURN-41")
def test_a_plugin_that_fails_on_a_notification_changes_nothing(session, plugins):
    kb = plugin("kb-plugin", "kb-a", retrieval("fact"))

    def fail(event):
        raise RuntimeError("deaf")

    kb.on_session_event = fail
    plugins(kb)
    assert say(session).turn.status == "succeeded"
    assert session.messages.count() == 2


@pytest.mark.rule("DECISION-49", "TURN-22", "TURN-24")
def test_turn_local_guidance_is_dropped_and_named(session, plugins):
    plugins(_guided())
    turn = say(session).turn
    session.refresh_from_db()
    assert session.unit_count == 0
    assert turn.unit_changes["discarded"]


@pytest.mark.rule("DECISION-49")
def test_all_guidance_is_kept_where_that_is_set(session, plugins, settings):
    settings.MRPVM_GUIDANCE_PROMOTION = "all"
    plugins(_guided())
    turn = say(session).turn
    session.refresh_from_db()
    assert session.unit_count == 1
    assert not turn.unit_changes["discarded"]


def _guided():
    """Return a detector that finds one instruction for the turn."""
    told = detection("why", claims=["Answer in one word."])
    scopes = f"\n@g9 set {_first_ku(told)} phaseScopes [gs-plugin]"
    return plugin("sd-plugin", "sd-a", replace(told, context_document=told.context_document + scopes))


def _first_ku(told):
    line = next(line for line in told.context_document.splitlines() if " ku " in line)
    return "$" + line.split()[0].lstrip("@")


@pytest.mark.rule("DECISION-18", "TURN-19", "ANSWER-8")
def test_a_no_context_answer_is_committed(session, plugins):
    plugins(plugin("gs-plugin", "gs-a", solution(None)))
    result = say(session)
    assert result.turn.answer_status == "no-context"
    assert session.messages.count() == 2


def test_turn_indexes_grow_by_one(session, plugins):
    plugins()
    assert [say(session).turn.turn_index for _ in range(3)] == [1, 2, 3]


@pytest.mark.rule("SESSION-29", "TURN-2")
def test_history_excludes_the_current_message(session, plugins):
    solver = plugin("gs-plugin", "gs-a", solution("Because."))
    plugins(solver)
    say(session, "First?")
    say(session, "Second?")
    history = [(item.role, item.content.split(" [")[0]) for item in solver.asked[1].history]
    assert history == [("user", "First?"), ("assistant", "Because.")]
    assert registry.installed.has("gs-plugin", "gs-a")


def test_a_command_is_a_point_of_recognition(session, monkeypatch):
    """Either both are stored or neither, wherever the server stops."""
    call = TurnCall(message="/style focus", conversation_hash=empty_hash("project", "key", ""))
    monkeypatch.setattr(ConversationPoint, "__init__", Mock(side_effect=RuntimeError("the server stops here")))
    with pytest.raises(RuntimeError, match="stops here"):
        answer_message(session, call)
    assert not session.turns.exists()
    monkeypatch.undo()
    answer_message(session, call)
    assert session.conversation_points.get().sequence == 0
