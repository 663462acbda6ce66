"""Rows written and read by hand are those that the ORM would write and read."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from mrpvm.values import KnowledgeUnit
from sessions_app.layers.index import index_units
from sessions_app.layers.lifecycle import create_layer
from sessions_app.models import (
    ContextUnit,
    KnowledgeLayer,
    LayerUnit,
    Message,
    PackedPart,
    Posting,
    Session,
    SessionEvent,
    TurnEvents,
    UnitEvent,
)
from sessions_app.models.look_up import look_up_rows
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
from tests.layers.units import make_unit

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


def test_every_kind_of_column_arrives_as_bulk_create_would_write_it(session, plugins):
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


def test_selected_rows_hold_one_of_the_wanted_values_in_each_column(session):
    insert_rows([SessionEvent(session=session, sequence=number, kind=f"k{number % 3}") for number in range(50, 59)])
    found = select_rows(SessionEvent, ("sequence", "kind"), session_id=[session.pk, -1], kind=("k0", "k2", TEXT))
    assert sorted(found) == [(50, "k2"), (51, "k0"), (53, "k2"), (54, "k0"), (56, "k2"), (57, "k0")]
    assert select_rows(SessionEvent, ["sequence"], session_id=[session.pk], kind=[]) == []


def test_numbers_are_added_to_what_the_row_holds_not_to_what_was_read(session):
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


def test_keys_are_filled_in_in_order_and_a_broken_constraint_is_djangos_error(session):
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


def test_only_the_named_columns_are_saved_and_only_the_meant_rows_deleted(session):
    session.title, session.first_message = "saved", "not saved"
    save_columns(session, "title")
    session.refresh_from_db()
    assert (session.title, session.first_message) == ("saved", "")
    insert_rows([SessionEvent(session=session, sequence=number, kind="x") for number in (50, 51, 52)])
    assert delete_rows(SessionEvent, session_id=session.pk, sequence=[50, 52]) == 2
    assert delete_rows(SessionEvent, sequence=[]) == 0
    assert session.events.get(kind="x").sequence == 51


def test_rows_are_looked_up_by_values_that_go_together(session, plugins):
    plugins()
    turn = start_turn(session, TurnCall(message="hello"))
    body = bytes(range(256)) * 3
    insert_rows([TurnEvents(turn=turn, first_sequence=size, events=[], payloads=body) for size in (3, 4, 5)])
    each = {"first_sequence": [3, 5, 9], "turn_id": [turn.pk, turn.pk, turn.pk]}
    for binary in (False, True):
        with CaptureQueriesContext(connection) as queries:
            found = look_up_rows(TurnEvents, ("first_sequence", "payloads"), each, binary=binary, turn_id=[turn.pk, -1])
        assert len(queries) == 1
        assert sorted((size, bytes(value)) for size, value in found) == [(3, body), (5, body)]
    assert look_up_rows(TurnEvents, ("id",), {"first_sequence": []}, turn_id=turn.pk) == []
    assert look_up_rows(TurnEvents, ("id",), {"first_sequence": [5]}, turn_id=[]) == []


@pytest.mark.parametrize("text", ["", "NULL", "{}", "a,b", " a ", '"', "\\", '\\"', "{\\", "\n\t", "%s", TEXT])
def test_any_text_is_looked_up_as_it_is(session, text):
    ContextUnit.from_value(replace(UNIT, source_id=text), session=session, state="committed").save()
    for wanted, found in (([text, "other"], [(text,)]), (["other"], [])):
        assert look_up_rows(ContextUnit, ("source_id",), {"source_id": wanted}, session_id=session.pk) == found


def test_what_is_asked_often_is_prepared(db):
    if connection.vendor != "postgresql":
        pytest.skip("Only PostgreSQL has them.")
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"
    asked = {
        "%asked(wanted_id)%": lambda: look_up_rows(LayerUnit, ("claim",), {"id": range(-3, 0)}),
        '%"first_message"%': lambda: get_row(Session, pk=-1),
    }
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
        for statement, ask in asked.items():
            for _ in range(7):
                ask()
            cursor.execute(prepared, [statement])
            assert cursor.fetchone() == (1,)


def test_a_lookup_gives_values_as_fields_know_them(session):
    ContextUnit.from_value(UNIT, session=session, created_at=MOMENT, state="committed").save()
    rows = look_up_rows(
        ContextUnit, ("utility_acts", "created_at", "claim"), {"hash": [UNIT.hash]}, session_id=session.pk
    )
    assert rows == [(["explain"], MOMENT, TEXT)]


def test_what_a_new_layer_holds_is_looked_up_by_the_whole_index(db):
    known = create_layer(KnowledgeLayer.Kind.BASE, None)
    index_units(known, [make_unit(f"u{number}", f"pump {number}") for number in range(300)])
    layers = [known.pk + 1, known.pk + 2]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # which has seen the one layer only
            # A table that was counted while it was small is read from end to end, rightly.
            cursor.execute("SET LOCAL enable_seqscan = off")
    with CaptureQueriesContext(connection) as queries:
        look_up_rows(Posting, ("unit_id",), {"term": [1, 2]}, layer_id=layers)
        look_up_rows(PackedPart, ("content",), {"kind": ["term", "units"], "key": [1, 2]}, packed_id=[7, 8])
        look_up_rows(LayerUnit, ("id",), {"hash": ["a", "b"]}, layer_id=layers)
    indexes = (("layer_id", "term"), ("packed_id", "kind", "key"), ("layer_id", "hash"))
    for query, columns in zip(queries, indexes, strict=True):
        with connection.cursor() as cursor:
            cursor.execute(f"{EXPLAIN[connection.vendor]} {query['sql']}")
            plan = " ".join(str(found) for row in cursor.fetchall() for found in row)
        condition = (
            plan.partition("Index Cond:")[2].partition("Filter:")[0] if connection.vendor == "postgresql" else plan
        )
        assert all(re.search(rf"\b{column}\b\S* ?=", condition) for column in columns), plan
