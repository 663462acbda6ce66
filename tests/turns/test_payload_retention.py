"""Payloads of old turns are removed if the operator sets a period; the structure of the turns is kept."""

from datetime import timedelta

import pytest
from django.utils import timezone

from sessions_app.actions.upkeep.retention import carry_out_retention
from sessions_app.models import ExplainabilityTurn
from sessions_app.queries.turns.registry import details, graph
from sessions_app.turns.call import TurnCall
from sessions_app.turns.pipeline import run_turn
from sessions_app.turns.slots import start_turn
from tests.actions.transactions import recorded
from tests.payloads import stored_payloads
from tests.retention import age_payloads

pytestmark = pytest.mark.django_db(transaction=True)


def stored_bytes(turn):
    return sum(len(row.payloads) for row in turn.event_batches.all())


def test_they_are_kept_for_ever_unless_a_time_is_set(session, plugins):
    plugins()
    turn = run_turn(session, TurnCall(message="Why?")).turn
    ExplainabilityTurn.objects.update(created_at=timezone.now() - timedelta(days=10_000))
    assert carry_out_retention(rest=timedelta(0)) == 0
    assert stored_bytes(turn)


@pytest.mark.rule("DECISION-5")
def test_of_an_old_turn_they_go_and_all_else_stays(session, plugins, settings):
    plugins()
    old = run_turn(session, TurnCall(message="Why?")).turn
    before, sizes = graph(old), {ref: place.size for ref, place in stored_payloads(old).items()}
    assert age_payloads(settings) == 1
    new = run_turn(session, TurnCall(message="Why?")).turn
    assert carry_out_retention(rest=timedelta(0)) == 0
    assert (stored_bytes(old), bool(stored_bytes(new))) == (0, True)
    old.refresh_from_db()
    assert graph(old) == before
    found = details(old, sizes)
    assert {ref: item.size for ref, item in found.items()} == sizes
    assert all(item.is_pruned and item.payload is None for item in found.values())
    assert old.response_document["groups"][0]["status"] == "answered"
    assert session.messages.count() == 4


def test_a_turn_that_still_runs_keeps_them(session, plugins, settings):
    plugins()
    turn = start_turn(session, TurnCall(message="Why?"))
    assert age_payloads(settings) == 0
    turn.refresh_from_db()
    assert turn.payloads_removed_at is None


def test_many_turns_are_done_a_few_a_transaction(session, plugins, settings, monkeypatch):
    plugins()
    run_turn(session, TurnCall(message="Why?"))
    ExplainabilityTurn.objects.bulk_create(
        ExplainabilityTurn(session=session, turn_index=index, status="succeeded") for index in range(2, 26)
    )
    with recorded(monkeypatch) as transactions:
        assert age_payloads(settings) == 25
    assert len(transactions) >= 3
