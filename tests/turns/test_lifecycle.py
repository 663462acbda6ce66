"""Rules of the life cycle of sessions and turns that no other test covers."""

from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from mrpvm.errors import Conflict, Expired
from sessions_app import events
from sessions_app.actions.knowledge.bases import create_base
from sessions_app.actions.knowledge.forks import fork_session_kb, save_session_kb
from sessions_app.actions.sessions.session import Choices, create_session, rename_session
from sessions_app.background.sweeper import sweep
from sessions_app.ingest.load import Upload, load_context
from sessions_app.layers import SessionKnowledge
from sessions_app.models import ContextUnit, ExplainabilityTurn, Session
from sessions_app.queries.sessions.lookups import filtered_sessions, session_status
from sessions_app.queries.sessions.lookups import session as visible
from sessions_app.queries.turns.registry import graph
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import TurnError, run_turn
from sessions_app.turns.slots import start_turn
from tests.actions.knowledge_scene import stage
from tests.kernel.scripted import detection, plan, plugin, retrieval, solution

pytestmark = pytest.mark.django_db(transaction=True)


def ask(session, message="Why?", **choices):
    return run_turn(session, TurnCall(message=message, choices=Choices(**choices)))


def overdue(session, seconds=1):
    Session.objects.filter(pk=session.pk).update(expires_at=timezone.now() - timedelta(seconds=seconds))


@pytest.mark.rule("SESSION-12")
def test_a_session_expires_just_after_its_expiry(session, monkeypatch):
    now = timezone.now()
    session.expires_at = now
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert not session.is_expired
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(microseconds=1))
    assert session.is_expired


@pytest.mark.rule("SESSION-13", "SESSION-14")
def test_a_session_does_not_expire_under_its_turn(session, plugins, settings):
    """The answer of a turn that takes longer than the time to live is kept and counts as activity."""
    settings.MRPVM_SESSION_IDLE_TTL_MINUTES = 1
    seen = []

    def slow(request, context):
        overdue(session)
        listed = filtered_sessions(session.project, status="running").get()
        seen.append((session_status(listed), filtered_sessions(session.project, status="expired").count()))
        return solution("Because.")(request, context)

    plugins(plugin("gs-plugin", "gs-a", slow))
    assert ask(session).turn.status == "succeeded"
    assert seen == [("running", 0)]
    session.refresh_from_db()
    assert session.expires_at > timezone.now()


@pytest.mark.rule("SESSION-13", "TURN-28")
def test_what_is_activity_and_what_is_not(session, plugins, settings):
    """The start of a turn and its failure both count as activity."""
    settings.MRPVM_SESSION_IDLE_TTL_MINUTES = 30
    long_ago = timezone.now() - timedelta(minutes=20)

    def idle(request, context):
        Session.objects.filter(pk=session.pk).update(last_activity_at=long_ago)
        raise RuntimeError("boom")

    plugins(plugin("gs-plugin", "gs-a", idle))

    def moves(step):
        Session.objects.filter(pk=session.pk).update(last_activity_at=long_ago)
        step()
        session.refresh_from_db()
        return session.last_activity_at > long_ago

    def fail():
        with pytest.raises(TurnError):
            ask(session)

    assert moves(fail)
    assert session.expires_at == session.last_activity_at + timedelta(minutes=30)
    assert moves(lambda: load_context(session, Upload(name="notes.txt", data=b"The pump is blue.")))
    assert moves(lambda: save_session_kb(session, name="Pumps"))
    assert moves(lambda: fork_session_kb(session))
    assert session.expires_at == session.last_activity_at + timedelta(minutes=30)
    assert not moves(lambda: visible(session.project, session.session_id))
    assert not moves(lambda: rename_session(session, "A name"))


@pytest.mark.rule("SESSION-15", "TURN-2")
def test_an_expired_session_is_refused_before_any_turn_exists(session, plugins):
    """This holds before the sweep too."""
    plugins()
    overdue(session)
    with pytest.raises(Expired):
        ask(session)
    assert not session.turns.exists()


@pytest.mark.rule("SESSION-15")
def test_the_sweep_marks_what_has_expired(session):
    """It marks them once, and not too early."""
    assert sweep()["expired"] == 0
    overdue(session)
    assert [sweep()["expired"], sweep()["expired"]] == [1, 0]
    session.refresh_from_db()
    assert session.expired_at is not None


@pytest.mark.rule("SESSION-19", "SESSION-23", "SESSION-26", "TURN-2")
def test_request_precedes_session_precedes_default(session, plugins):
    planner = plugin("mrp-plan-plugin", "planner-default", plan())
    plugins(planner)
    assert session.preferred_goal_solver_plugin is None
    ask(session)
    ask(session, goal_solver="gs-a", deliberation_level=1)
    ask(session)
    session.refresh_from_db()
    assert session.preferred_deliberation_level == 1
    levels = list(session.turns.order_by("turn_index").values_list("deliberation_level", flat=True))
    assert levels == [0, 1, 1]


@pytest.mark.rule("DECISION-16")
def test_a_session_is_named_after_its_first_message(session, plugins):
    ask(session, "Where do the\n vehicles board, and when does the last of them have to be there?")
    ask(session, "Why?")
    session.refresh_from_db()
    assert str(session) == "Where do the vehicles board, and when does the last of them…"


@pytest.mark.rule("SESSION-22", "SESSION-24")
def test_planners_can_tell_pins_from_preferences(session, plugins):
    planner = plugin("mrp-plan-plugin", "planner-default", plan())
    plugins(planner)
    ask(session)
    ask(session, goal_solver="gs-a")
    first, second = planner.asked[0], planner.asked[-1]
    assert (first.pins.goal_solver, first.preferences.goal_solver) == (None, None)
    assert (second.pins.goal_solver, second.pins.kb) == ("gs-a", None)
    assert (second.preferences.goal_solver, second.preferences.kb) == ("gs-a", "kb-a")


@pytest.mark.rule("SESSION-30")
def test_a_failed_turn_leaves_no_trace_in_the_history(session, plugins):
    solver = plugin("gs-plugin", "gs-a", RuntimeError("boom"), solution("Because."))
    plugins(solver)
    with pytest.raises(TurnError):
        ask(session, "First?")
    ask(session, "Second?")
    assert [list(request.history) for request in solver.asked] == [[], []]


@pytest.mark.rule("TURN-4", "TURN-10")
def test_leftovers_are_discarded_before_anything_else_runs(session, plugins):
    """Units that another turn staged are never visible to this one."""
    plugins()
    told = ask(session).turn
    left = ContextUnit.objects.get()
    left.pk, left.unit_id, left.hash, left.state = None, "session::gone::unit-000", "0" * 64, "pending"
    left.save()
    start_turn(session, TurnCall(message="Why?"))
    assert list(ContextUnit.objects.values_list("turn_id", "state")) == [(told.pk, "committed")]


@pytest.mark.rule("SESSION-5", "TURN-10", "TURN-11", "TURN-12")
@pytest.mark.parametrize(("flush_ms", "pending"), [(0, ["Rex is a dog."]), (60_000, [])])
def test_what_a_turn_is_told_is_its_own_until_the_commit(session, plugins, settings, flush_ms, pending):
    """Units are announced before retrieval, and stored as pending if the turn is slow. No other turn sees them."""
    settings.MRPVM_TRACE_FLUSH_MS = flush_ms
    seen, steps = {}, []

    def look(request, context):
        steps.append("retrieve")
        owner = Session.objects.select_related("draft", "journal", "mounted_kb").get(pk=session.pk)
        seen["pending"] = list(session.context_units.filter(state="pending").values_list("claim", flat=True))
        seen["counted"] = owner.unit_count
        seen["saved"] = owner.journal.unit_count
        seen["others"] = [item.unit for item in SessionKnowledge.of(owner).search({"rex": 1.0}, 5)]
        return retrieval("Rex is a dog.")(request, context)

    kb = plugin("kb-plugin", "kb-a", look)
    kb.on_session_event = lambda event: steps.append(event.scope)
    plugins(kb)
    ask(session)
    assert seen == {"pending": pending, "counted": 0, "saved": 0, "others": []}
    assert steps == ["current-turn", "retrieve", "committed-session"]


@pytest.mark.rule("TURN-21", "TURN-28")
@pytest.mark.parametrize("answer", [solution("Because."), RuntimeError("boom")], ids=["succeeds", "fails"])
def test_a_quick_turn_leaves_the_units_of_a_slow_one(project, plugins, settings, answer):
    """Units that are written once at the end, or as pending first, are the same; so is the ledger."""

    def left_after(flush_ms):
        settings.MRPVM_TRACE_FLUSH_MS = flush_ms
        plugins(
            plugin("sd-plugin", "sd-a", detection("why", claims=["Rex is a dog.", "Rex is a dog.", "Tom is a cat."])),
            plugin("gs-plugin", "gs-a", answer),
        )
        session = create_session(project)
        for _ in range(2):
            with suppress(TurnError):
                ask(session)
        units = session.context_units.order_by("id")
        return [
            [(row.unit_id.rpartition("::")[2], row.claim, row.state, bool(row.committed_at)) for row in units],
            [
                (row.unit_id.rpartition("::")[2], row.step, row.execution_id, row.reason, row.text)
                for row in session.unit_events.order_by("id")
            ],
        ]

    units, ledger = left_after(0)
    assert left_after(60_000) == [units, ledger]
    assert ledger


@pytest.mark.rule("TURN-26")
def test_the_stored_trace_is_a_snapshot(session, plugins):
    plugins()
    turn = ask(session).turn
    before = (ExplainabilityTurn.objects.values("response_document").get(pk=turn.pk), graph(turn))
    ContextUnit.objects.update(claim="something else")
    session.mounted_kb.name = "Another name"
    session.mounted_kb.save()
    plugins(plugin("gs-plugin", "gs-a", solution("Otherwise.")))
    ask(session)
    assert (ExplainabilityTurn.objects.values("response_document").get(pk=turn.pk), graph(turn)) == before


@pytest.mark.rule("SESSION-25")
@pytest.mark.parametrize(
    ("questions", "expected"),
    [(("why one", "two", "why three"), "gs-z"), (("one", "why two", "three"), "gs-a"), (("why one", "two"), "gs-a")],
)
def test_several_questions_prefer_the_plugin_most_used(session, plugins, questions, expected):
    """The first solver answers "why", the second one the rest; ties are resolved alphabetically."""
    answered = solution("Because.")

    def only_why(request, context):
        return (answered if "why" in request.evidence[0].intent.target else solution(None))(request, context)

    plugins(
        plugin("sd-plugin", "sd-a", detection(*questions)),
        plugin("mrp-plan-plugin", "planner-default", plan(solvers=("gs-z", "gs-a"))),
        plugin("gs-plugin", "gs-z", only_why),
        plugin("gs-plugin", "gs-a", answered),
    )
    ask(session)
    session.refresh_from_db()
    assert session.preferred_goal_solver_plugin == expected


@pytest.mark.rule("TURN-42")
def test_events_are_sent_after_the_commit_only(session, monkeypatch):
    sent = []
    monkeypatch.setattr(events, "send", lambda pk, message: sent.append(message["kind"]))
    with transaction.atomic():
        rename_session(session, "First")
        assert sent == []
    assert sent == ["session.renamed"]
    with transaction.atomic():
        rename_session(session, "Second")
        transaction.set_rollback(True)
    assert sent == ["session.renamed"]
    session.refresh_from_db()
    assert session.title == "First"


def test_several_events_are_one_message(session, monkeypatch):
    """Who gets it reads the rows of all."""
    sent = []
    monkeypatch.setattr(events, "send", lambda pk, message: sent.append((message["sequence"], message["kind"])))
    with transaction.atomic():
        events.append_all(session, [("session.renamed", {"title": "First"}), ("memory.cleared", {})])
    assert sent == [(session.event_sequence, "memory.cleared")]


@pytest.mark.rule("TURN-5")
def test_a_mount_over_a_dirty_draft_is_refused_first(session, plugins):
    plugins()
    other = create_base(session.project, "Handbook")
    stage(session, "notes", "The motor smells")
    with pytest.raises(Conflict) as caught:
        run_turn(session, TurnCall(message="Why?", base=other))
    assert caught.value.code == "WORKSPACE_DIRTY"
    assert not session.turns.exists()
    clean = create_session(session.project)
    assert run_turn(clean, TurnCall(message="Why?", base=other)).turn.session.mounted_kb_id == other.pk


@pytest.mark.rule("SESSION-31", "TURN-1")
def test_a_refused_turn_touches_nothing(project, plugins):
    """There is no entry, no activity and no event."""
    plugins()
    session = create_session(project)
    session.refresh_from_db()
    before = Session.objects.filter(pk=session.pk).values().get()
    with pytest.raises(Exception, match="8001 characters"):
        ask(session, "x" * 8_001)
    assert Session.objects.filter(pk=session.pk).values().get() == before
    assert not session.turns.exists()


@pytest.mark.rule("SESSION-33")
def test_a_context_load_makes_no_messages_and_no_dirty_draft(session, plugins):
    before = session.message_sequence
    loaded = load_context(session, Upload(name="notes.txt", data=b"The pump is blue."))
    session.refresh_from_db()
    assert loaded.load.unit_count == session.unit_count == 1
    assert session.message_sequence == before
    assert not session.is_dirty
