"""Rows written and read by hand are those that the ORM would write and read."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from mrpvm.values import KnowledgeUnit
from sessions_app.models import (
    ContextUnit,
    Message,
    Session,
    SessionEvent,
    TurnEvents,
    UnitEvent,
)
from sessions_app.models.plain_sql import (
    add_to_row,
    delete_rows,
    get_row,
    insert_keyed_rows,
    insert_rows,
    save_columns,
    select_rows,
    update_rows,
)
from sessions_app.turns.call import TurnCall
from sessions_app.turns.slots import start_turn

EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN", "postgresql": "EXPLAIN"}
MOMENT = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
TEXT = "Ünïcödé \u2028 'quoted' \"twice\" %s \U0001f600"
UNIT = KnowledgeUnit(
    id="u1", role="Narrative", topic=TEXT, claim=TEXT, confidence=0.5, utility_acts=("explain",), hash="1" * 64,
    char_start=3, parent_unit_ids=("u0",),
)  # fmt: skip


def values(row: Model) -> dict[str, Any]:
    """Return the row's columns as they are stored, without its key."""
    stored = type(row)._default_manager.values().latest("pk")
    return {
        name: bytes(value) if isinstance(value, memoryview) else value for name, value in stored.items() if name != "id"
    }


def test_columns_are_written_as_by_bulk_create(session, plugins):
    plugins()
    turn = start_turn(session, TurnCall(message="hello"))
    rows = [
        SessionEvent(session=session, sequence=90, kind="x", payload={"a": [1, None, TEXT]}, created_at=MOMENT),
        UnitEvent(session=session, turn=turn, unit_id="u", step="cited", score=0.25, rank=None, reason=TEXT),
        UnitEvent(session=session, turn=None, unit_id="u", step="removed"),
        TurnEvents(turn=turn, first_sequence=7, events=[["a", 1, {"b": TEXT}]]),
        Message(session=session, turn=turn, sequence=91, role="user", content=TEXT),
        Message(session=session, turn=turn, sequence=92, role="tool", content=TEXT, payload={"n": 1.5}),
        ContextUnit.from_value(UNIT, session=session, turn=turn, created_at=MOMENT),
    ]
    for row in rows:
        insert_rows([row])
        written = values(row)
        type(row)._default_manager.latest("pk").delete()
        type(row)._default_manager.bulk_create([row])
        assert written == values(row)


def test_many_rows_come_in_order_and_by_one_statement(session):
    with CaptureQueriesContext(connection) as queries:
        insert_rows([SessionEvent(session=session, sequence=number, kind="x") for number in range(50, 60)])
        insert_rows([])
    assert len(queries) == 1
    stored = session.events.filter(kind="x").order_by("pk").values_list("sequence", flat=True)
    assert list(stored) == list(range(50, 60))


def test_selected_rows_match_in_each_column(session):
    insert_rows([SessionEvent(session=session, sequence=number, kind=f"k{number % 3}") for number in range(50, 59)])
    found = select_rows(SessionEvent, ("sequence", "kind"), session_id=[session.pk, -1], kind=("k0", "k2", TEXT))
    assert sorted(found) == [(50, "k2"), (51, "k0"), (53, "k2"), (54, "k0"), (56, "k2"), (57, "k0")]
    assert select_rows(SessionEvent, ["sequence"], session_id=[session.pk], kind=[]) == []


def test_numbers_are_added_to_the_stored_value(session):
    stale = type(session).objects.get(pk=session.pk)
    add_to_row(session, unit_count=3, turn_sequence=1)
    add_to_row(stale, unit_count=-1)
    assert stale.unit_count == 2
    session.refresh_from_db()
    assert (session.unit_count, session.turn_sequence) == (2, 1)


def test_a_whole_row_is_the_one_that_the_orm_reads(session, plugins):
    plugins()
    turn = start_turn(session, TurnCall(message=TEXT))
    insert_rows([ContextUnit.from_value(UNIT, session=session, turn=turn, created_at=MOMENT)])
    for stored in (turn, session, session.journal, session.mounted_kb, ContextUnit.objects.get()):
        by_orm, by_hand = type(stored).objects.get(pk=stored.pk), get_row(type(stored), pk=stored.pk)
        assert by_hand is not None
        names = [field.attname for field in type(stored)._meta.concrete_fields]
        assert [(name, getattr(by_hand, name)) for name in names] == [(name, getattr(by_orm, name)) for name in names]
        assert [type(getattr(by_hand, name)) for name in names] == [type(getattr(by_orm, name)) for name in names]
    assert get_row(ContextUnit, pk=-1) is None


def test_keys_are_set_in_order_and_errors_are_djangos(session):
    rows = [SessionEvent(session=session, sequence=number, kind="x") for number in range(50, 60)]
    insert_keyed_rows(rows)
    assert {row.pk: row.sequence for row in rows} == dict(session.events.filter(kind="x").values_list("pk", "sequence"))
    rows[0].kind = "y"
    rows[0].save()
    assert session.events.get(kind="y").sequence == 50
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_keyed_rows([SessionEvent(session=session, sequence=50, kind="x")])


def test_the_highest_rows_come_in_falling_order(session):
    insert_rows([SessionEvent(session=session, sequence=number, kind="x") for number in (52, 50, 51)])
    found = select_rows(SessionEvent, ["sequence"], highest="sequence", limit=2, session_id=session.pk, kind="x")
    assert found == [(52,), (51,)]


def test_conditions_on_truth_and_absence(session):
    found = {"pk": session.pk, "deleted_at": None}
    assert get_row(Session, **found, is_client_named=False) == session
    assert get_row(Session, **found, is_client_named=True) is None
    assert update_rows(Session, {"deleted_at": MOMENT, "title": TEXT}, pk=session.pk, deleted_at=None) == 1
    assert update_rows(Session, {"title": "late"}, pk=session.pk, deleted_at=None) == 0
    assert update_rows(Session, {"title": "nobody"}, pk=[]) == 0
    session.refresh_from_db()
    assert (session.deleted_at, session.title) == (MOMENT, TEXT)


def test_only_named_columns_and_meant_rows_change(session):
    session.title, session.first_message = "saved", "not saved"
    save_columns(session, "title")
    session.refresh_from_db()
    assert (session.title, session.first_message) == ("saved", "")
    insert_rows([SessionEvent(session=session, sequence=number, kind="x") for number in (50, 51, 52)])
    assert delete_rows(SessionEvent, session_id=session.pk, sequence=[50, 52]) == 2
    assert delete_rows(SessionEvent, sequence=[]) == 0
    assert session.events.get(kind="x").sequence == 51
